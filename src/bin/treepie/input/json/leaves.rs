//! Leaves of an object: values with the paths of keys that lead to them.

use std::collections::HashMap;

use memchr::memchr2;
use serde_json::{Map, Value, value::RawValue};
use treepie::Error;
use treepie::schema::FIELD_NAME_BYTES_MAX;

use super::surrogates::{ESCAPE_LEN, lone_surrogate, without_lone_surrogates};
use crate::input::{RECORD_BYTES_MAX, bad, objects::Place};

/// The error about an object that is longer than [`RECORD_BYTES_MAX`].
pub(crate) fn too_long(line: u64) -> Error {
    bad("reading JSON", line)
        .expected(format!("objects of at most {} MiB", RECORD_BYTES_MAX >> 20))
        .found("a longer one")
}

/// Objects within objects at the most.
pub(super) const LEVELS_MAX: usize = 32;

/// Values of a record at one path of keys.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leaf {
    /// Keys with points between them.
    pub(crate) path: String,
    /// Texts, numbers, booleans and nulls; an object without its fields, which have leaves of their own; a list in a list
    /// without its values, as nothing takes one.
    pub(crate) values: Vec<Value>,
    /// Whether a list stands at the path or on the way to it.
    pub(crate) is_list: bool,
}

/// Why a text has no leaves.
enum NoLeaves {
    Json(serde_json::Error),
    TooDeep,
    /// Path of so many bytes.
    LongPath(usize),
    /// A name that an object has twice, and the address of its second value.
    Twice(String, usize),
}

impl From<serde_json::Error> for NoLeaves {
    fn from(error: serde_json::Error) -> Self {
        NoLeaves::Json(error)
    }
}

/// The leaves of a record in the order that they are first met in.
#[derive(Default)]
struct Leaves<'v> {
    leaves: Vec<Leaf>,
    /// Positions of leaves by path, once there are so many that looking through them takes long.
    by_path: HashMap<String, usize>,
    whole: Whole<'v>,
}

/// Paths at which lists and objects are values as a whole.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Whole<'v> {
    /// Lists of numbers.
    pub(crate) vectors: &'v [String],
    /// Objects and lists of any kind.
    pub(crate) points: &'v [String],
}

impl Leaves<'_> {
    /// The leaf of a path; `is_list` where what comes is in a list.
    fn at(&mut self, path: &str, is_list: bool) -> &mut Leaf {
        const FEW: usize = 16;
        let known = match self.leaves.len() {
            ..FEW => self.leaves.iter().position(|leaf| leaf.path == path),
            _ => {
                for (at, leaf) in self.leaves.iter().enumerate().skip(self.by_path.len()) {
                    self.by_path.insert(leaf.path.clone(), at);
                }
                self.by_path.get(path).copied()
            }
        };
        let at = known.unwrap_or_else(|| {
            self.leaves.push(Leaf { path: path.to_owned(), values: vec![], is_list: false });
            self.leaves.len() - 1
        });
        let leaf = &mut self.leaves[at];
        leaf.is_list |= is_list;
        leaf
    }

    /// Adds the fields of an object, given with the path to it; whether there is any value. Values are never read by the recursive reader of any JSON, which
    /// takes objects with keys of its own for numbers and for texts to read anew.
    fn add_object(
        &mut self,
        text: &str,
        path: &str,
        is_list: bool,
        levels: usize,
    ) -> Result<bool, NoLeaves> {
        // A name that comes twice has its last value here.
        let fields: HashMap<String, &RawValue> = serde_json::from_str(text)?;
        let mut fields: Vec<_> = fields.into_iter().collect();
        fields.sort_unstable_by_key(|(_, raw)| raw.get().as_ptr().addr());
        if let Some(name) = name_twice(text, &fields) {
            let again = fields.iter().find(|(other, _)| *other == name);
            let address = again.map_or(text.as_ptr().addr(), |(_, raw)| raw.get().as_ptr().addr());
            return Err(NoLeaves::Twice(name, address));
        }
        let mut has_any = false;
        for (key, raw) in fields {
            // No field has such a name, and each field within would repeat it.
            if path.len() + key.len() >= FIELD_NAME_BYTES_MAX && !path.is_empty() {
                return Err(NoLeaves::LongPath(path.len() + 1 + key.len()));
            }
            let path = if path.is_empty() { key } else { format!("{path}.{key}") };
            match raw.get().as_bytes() {
                [b'[' | b'{', ..] if self.whole.points.contains(&path) => {
                    self.at(&path, is_list).values.push(raw.get().into());
                    has_any = true;
                }
                [b'[', ..] if self.is_vector(raw, &path) => {
                    self.at(&path, is_list).values.push(raw.get().into());
                    has_any = true;
                }
                [b'[', ..] => {
                    let values: Vec<&RawValue> = serde_json::from_str(raw.get())?;
                    self.at(&path, true);
                    has_any = true;
                    for value in values {
                        match self.is_vector(value, &path) {
                            true => self.at(&path, true).values.push(value.get().into()),
                            false => drop(self.add(value, &path, true, levels)?),
                        }
                    }
                }
                _ => has_any |= self.add(raw, &path, is_list, levels)?,
            }
        }
        Ok(has_any)
    }

    /// Whether a list is one of numbers, not of such lists or texts, at the path of vectors.
    fn is_vector(&self, raw: &RawValue, path: &str) -> bool {
        let list = raw.get().strip_prefix('[').map(str::trim_start);
        self.whole.vectors.iter().any(|vector| vector == path)
            && list.is_some_and(|list| !list.starts_with(['[', '"', '{', ']']))
    }

    /// Adds a value; whether it is one. An object is none if nothing is in it but such objects.
    fn add(
        &mut self,
        raw: &RawValue,
        path: &str,
        is_list: bool,
        levels: usize,
    ) -> Result<bool, NoLeaves> {
        let value = value_of(raw)?;
        let is_object = value.is_object();
        let n_leaves = self.leaves.len();
        self.at(path, is_list).values.push(value);
        if !is_object {
            return Ok(true);
        }
        if levels == 0 {
            return Err(NoLeaves::TooDeep);
        }
        let has_any = self.add_object(raw.get(), path, is_list, levels - 1)?;
        if !has_any {
            self.at(path, is_list).values.pop();
            if self.leaves.len() > n_leaves {
                self.leaves.truncate(n_leaves);
                self.by_path.remove(path);
            }
        }
        Ok(has_any)
    }
}

/// Reads the object at a place. If `lossy`, half of a surrogate pair becomes U+FFFD.
///
/// Values that are `whole` are texts.
pub(crate) fn object(
    text: &str,
    place: Place,
    lossy: bool,
    whole: Whole<'_>,
) -> Result<Vec<Leaf>, Error> {
    let line = place.line;
    let wrong = |found: String| bad("reading JSON", line).expected("an object").found(found);
    let at = |at: Place| match at.line == line {
        true => format!("at column {}", at.column),
        false => format!("in line {} at column {}", at.line, at.column),
    };
    let is_object = text.trim_start().starts_with('{');
    let mut leaves = Leaves { whole, ..Leaves::default() };
    let error = match leaves.add_object(text, "", false, LEVELS_MAX) {
        Ok(_) => return Ok(leaves.leaves),
        Err(NoLeaves::TooDeep) => {
            return Err(bad("reading JSON", line)
                .expected(format!("at most {LEVELS_MAX} objects within each other"))
                .found("more"));
        }
        Err(NoLeaves::LongPath(found)) => {
            return Err(bad("reading JSON", line)
                .expected(format!(
                    "keys of objects within each other of at most {FIELD_NAME_BYTES_MAX} bytes in all"
                ))
                .found(format!("{found} bytes")));
        }
        Err(NoLeaves::Twice(name, address)) => {
            let before = address.saturating_sub(text.as_ptr().addr()).min(text.len());
            let second = at(place.after(&text.as_bytes()[..before]));
            return Err(bad("reading JSON", line)
                .expected("each name once in an object")
                .found(format!("the name {name:?} twice in one object, {second} again")));
        }
        Err(NoLeaves::Json(error)) if is_object => error,
        Err(NoLeaves::Json(_)) => match serde_json::from_str::<&RawValue>(text) {
            Ok(other) => {
                let other = value_of(other).map_or("a string", |value| described(&value));
                return Err(wrong(other.into()));
            }
            Err(error) => error,
        },
    };
    if let Some(found) = lone_surrogate(text, 0) {
        if lossy {
            return object(&without_lone_surrogates(text, found), place, false, whole);
        }
        return Err(bad("reading JSON", line)
            .expected("escapes of whole characters")
            .found(format!(
                "'{}', half of a surrogate pair, {}",
                &text[found..found + ESCAPE_LEN],
                at(place.after(&text.as_bytes()[..found]))
            ))
            .hint("--lossy puts U+FFFD in its place"));
    }
    // Its lines and columns count from the beginning of the object.
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let column = error.column() as u64;
    Err(wrong(match error.line() {
        ..=1 => format!("{message} {}", at(Place { column: place.column + column - 1, ..place })),
        lines => {
            let line = line + lines as u64 - 1;
            format!("{message} {}", at(Place { line, column, ..place }))
        }
    }))
}

/// A name that an object has twice, by what stands between the values that were kept: one name, or more that others took the
/// place of.
fn name_twice(text: &str, fields: &[(String, &RawValue)]) -> Option<String> {
    let mut end = 0;
    for (_, raw) in fields {
        let start = raw.get().as_ptr().addr().checked_sub(text.as_ptr().addr())?;
        let between = text.get(end..start)?;
        let name = &between[between.find('"')?..];
        let (name, behind) = name.split_at(text_len(name));
        if behind.trim() != ":" {
            return serde_json::from_str(name).ok();
        }
        end = start + raw.get().len();
    }
    None
}

/// Bytes of the JSON text at the beginning, with its quotes.
fn text_len(text: &str) -> usize {
    let mut at = 1;
    while let Some(found) = text.as_bytes().get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        if text.as_bytes()[at - 1] == b'"' {
            return at;
        }
        // An escaped character ends nothing.
        at += 1;
    }
    text.len()
}

/// A value that no other is in; of an object and a list only what it is.
fn value_of(raw: &RawValue) -> serde_json::Result<Value> {
    match raw.get().as_bytes() {
        [b'{', ..] => Ok(Value::Object(Map::new())),
        [b'[', ..] => Ok(Value::Array(vec![])),
        [b'-' | b'0'..=b'9', ..] => serde_json::from_str(raw.get()).map(Value::Number),
        // A text, true, false or null.
        _ => serde_json::from_str(raw.get()),
    }
}

/// Kind of a JSON value, for messages.
pub(crate) fn described(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a number that is no 64-bit integer",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
