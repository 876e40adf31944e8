//! JSON: objects, one a line or in any other layout, whose keys are the fields.
//!
//! A text, keyword or path field takes a string, and a number or a boolean as its text. A typed field takes what can be its
//! value, also as a string. Each takes a list of those where the schema says `many`. `null` and an empty list say that the
//! document has no value there, which an index may keep. An empty object says nothing. A name that comes twice in one object
//! is an error: nobody knows which of the values was meant.
//!
//! Members of an object below are fields of their own, named by all keys on the way with points between them:
//! `{"size": {"width": 3}}` has `size.width`, and so has `{"size.width": 3}`. Of a list of objects each adds its values
//! to the same fields.

use std::{collections::HashMap, io::Read, path::Path};

use memchr::memchr2;
use serde_json::{Map, Number, Value, value::RawValue};
use treepie::schema::{EMPTY_FIELD, FIELD_NAME_BYTES_MAX};
use treepie::{Document, Error, Field, FieldKind, Schema};

use super::{
    FailureSlot, RECORD_BYTES_MAX, Record, bad,
    objects::{Found, Objects, Place},
    settings::InputSettings,
    text,
};

/// Documents of a JSON input.
pub(crate) struct JsonLines<R> {
    objects: Objects<R>,
    failure: FailureSlot,
    lossy: bool,
    settings: InputSettings,
    /// Names of the first object of which everything was left out, and its line, as long as there is no other.
    left_out: Option<(u64, Vec<String>)>,
    has_known: bool,
}

impl<R: Read> JsonLines<R> {
    pub(crate) fn new(from: R, failure: FailureSlot, lossy: bool) -> Self {
        let objects = Objects::new(from, RECORD_BYTES_MAX);
        JsonLines {
            objects,
            failure,
            lossy,
            settings: InputSettings::default(),
            left_out: None,
            has_known: false,
        }
    }

    /// Reads keys and values as these say.
    pub(crate) fn with_settings(mut self, settings: InputSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Takes the end of the text for the end of a sample, where an object may be cut.
    pub(crate) fn of_part(mut self) -> Self {
        self.objects = self.objects.of_part();
        self
    }

    /// The next document, or what is wrong with the next object; `name` is the input's.
    pub(crate) fn next(&mut self, schema: &Schema, name: &Path) -> Result<Option<Record>, Error> {
        let Some((line, leaves)) = self.next_leaves()? else { return Ok(None) };
        let names = |leaves: &[Leaf]| leaves.iter().map(|leaf| leaf.path.clone()).collect();
        let settings = &self.settings;
        let is_first = !self.has_known && self.left_out.is_none() && settings.ignores_unknown();
        let document = leaves.and_then(|leaves| {
            let of_first = if is_first { names(&leaves) } else { vec![] };
            let leaves = targeted(leaves, settings, schema, line)?;
            if leaves.is_empty() && !of_first.is_empty() {
                self.left_out = Some((line, of_first));
            }
            self.has_known |= !leaves.is_empty();
            document(leaves, schema, line)
        });
        Ok(Some(match document {
            Ok(document) => Record::Document { line, document },
            Err(error) => Record::Bad(error.in_file(name)),
        }))
    }

    /// Refuses an input that ends without any field of the schema, though fields may be left out: all documents would be empty.
    pub(crate) fn check(&self, schema: &Schema) -> Result<(), Error> {
        match &self.left_out {
            Some((line, names)) if !self.has_known => {
                Err(no_known_field(names.iter().map(String::as_str), schema, *line))
            }
            _ => Ok(()),
        }
    }

    /// The line of the next object with what is in it, or what is wrong with it.
    pub(crate) fn next_leaves(&mut self) -> Result<Option<Found<Vec<Leaf>>>, Error> {
        let lossy = self.lossy;
        let found = self.objects.next(|bytes, place| {
            text(bytes, lossy, place.line, place.offset)
                .and_then(|text| object(&text, place, lossy))
        });
        found.map_err(|error| self.failure.or(Error::io("reading the input", error)))
    }
}

/// The leaves under the names of the fields that get them, without those that are to be left out.
fn targeted(
    leaves: Vec<Leaf>,
    settings: &InputSettings,
    schema: &Schema,
    line: u64,
) -> Result<Vec<Leaf>, Error> {
    let has_formats = settings.has_formats();
    if !settings.maps_names() && !has_formats {
        return Ok(leaves);
    }
    let mut targeted = vec![];
    let mut left_out: Vec<String> = vec![];
    let is_below =
        |path: &str, of: &str| path.strip_prefix(of).is_some_and(|rest| rest.starts_with('.'));
    let sources = settings.sources(schema);
    for leaf in leaves {
        let fields = settings.targets(&leaf.path, schema);
        for field in &fields {
            let (mut values, is_list) = (leaf.values.clone(), leaf.is_list);
            for value in values.iter_mut().filter(|_| has_formats) {
                let (text, is_number) = match &*value {
                    Value::String(text) => (text.clone(), false),
                    Value::Number(number) => (number.to_string(), true),
                    _ => continue,
                };
                if let Some(converted) = settings.converted(&field.name, &text, is_number, line)? {
                    *value = Value::String(converted);
                }
            }
            targeted.push(Leaf { path: field.name.clone(), values, is_list });
        }
        if !fields.is_empty() {
            continue;
        }
        let is_on_the_way = sources.iter().any(|source| is_below(source, &leaf.path));
        let is_object = leaf.values.iter().all(|value| value.is_object() || value.is_null());
        if is_on_the_way && is_object {
            // The fields in it come by themselves.
            continue;
        }
        if !settings.ignores_unknown() || is_on_the_way {
            targeted.push(leaf);
        } else if !left_out.iter().any(|above| is_below(&leaf.path, above)) {
            settings.leave_out(&leaf.path);
            left_out.push(leaf.path);
        }
    }
    Ok(targeted)
}

/// The error about an object that is longer than [`RECORD_BYTES_MAX`].
pub(crate) fn too_long(line: u64) -> Error {
    bad("reading JSON", line)
        .expected(format!("objects of at most {} MiB", RECORD_BYTES_MAX >> 20))
        .found("a longer one")
}

/// Objects within objects at the most.
const LEVELS_MAX: usize = 32;

/// Values of a record at one path of keys.
#[derive(Debug, PartialEq)]
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
    /// So many bytes.
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
struct Leaves {
    leaves: Vec<Leaf>,
    /// Positions of leaves by path, once there are so many that looking through them takes long.
    by_path: HashMap<String, usize>,
}

impl Leaves {
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
        // Of a name that comes twice this has the last value.
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
                [b'[', ..] => {
                    let values: Vec<&RawValue> = serde_json::from_str(raw.get())?;
                    self.at(&path, true);
                    has_any = true;
                    for value in values {
                        self.add(value, &path, true, levels)?;
                    }
                }
                _ => has_any |= self.add(raw, &path, is_list, levels)?,
            }
        }
        Ok(has_any)
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

/// Reads the object at a place. If `lossy`, half of a surrogate pair becomes U+FFFD.
pub(crate) fn object(text: &str, place: Place, lossy: bool) -> Result<Vec<Leaf>, Error> {
    let line = place.line;
    let wrong = |found: String| bad("reading JSON", line).expected("an object").found(found);
    let at = |at: Place| match at.line == line {
        true => format!("at column {}", at.column),
        false => format!("in line {} at column {}", at.line, at.column),
    };
    let is_object = text.trim_start().starts_with('{');
    let mut leaves = Leaves::default();
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
            return object(&without_lone_surrogates(text, found), place, false);
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

/// Bytes of an escape by number, `\uD83D`.
const ESCAPE_LEN: usize = 6;

/// Finds the first escape from `start` on that is half of a surrogate pair and has no other half.
fn lone_surrogate(text: &str, start: usize) -> Option<usize> {
    let unit = |at: usize| {
        let digits = text.get(at..at + ESCAPE_LEN)?.strip_prefix("\\u")?;
        u32::from_str_radix(digits, 16).ok()
    };
    let mut at = start;
    while let Some(found) = text.get(at..)?.find('\\') {
        at += found;
        match unit(at) {
            Some(0xD800..0xDC00) => match unit(at + ESCAPE_LEN) {
                Some(0xDC00..0xE000) => at += 2 * ESCAPE_LEN,
                _ => return Some(at),
            },
            Some(0xDC00..0xE000) => return Some(at),
            Some(_) => at += ESCAPE_LEN,
            // An escape here is a character of one byte, or an error that others report.
            None => at += 2,
        }
    }
    None
}

/// The text with an escape of U+FFFD in the place of each lone surrogate, the first of which is at `at`.
fn without_lone_surrogates(text: &str, at: usize) -> String {
    let mut mended = text.to_owned();
    let mut lone = Some(at);
    while let Some(at) = lone {
        mended.replace_range(at..at + ESCAPE_LEN, "\\uFFFD");
        lone = lone_surrogate(&mended, at + ESCAPE_LEN);
    }
    mended
}

fn document(leaves: Vec<Leaf>, schema: &Schema, line: u64) -> Result<Document, Error> {
    let is_known =
        |leaf: &Leaf| schema.field(&leaf.path).is_some() || has_fields_below(schema, &leaf.path);
    let mut document = Document::new();
    if !leaves.is_empty() && !leaves.iter().any(is_known) {
        return Err(no_known_field(leaves.iter().map(|leaf| &*leaf.path), schema, line));
    }
    for Leaf { path, values, is_list } in leaves {
        let Some(field) = schema.field(&path) else {
            no_field(&path, &values, is_list, schema, line)?;
            continue;
        };
        if is_list && !field.many && !values.is_empty() {
            return Err(bad(format!("reading the field '{path}'"), line)
                .expected("one value")
                .found("a list")
                .hint("`many = true` in the schema allows more"));
        }
        if schema.keeps_nulls() && is_list && values.is_empty() {
            document.push(EMPTY_FIELD, &*path);
        }
        let has_below = has_fields_below(schema, &path);
        for value in values {
            if !(has_below && value.is_object()) {
                document.push(path.clone(), one_value(value, field, line)?);
            }
        }
    }
    Ok(document)
}

/// Whether the schema has fields within an object at this path.
fn has_fields_below(schema: &Schema, path: &str) -> bool {
    let is_below = |name: &str| name.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
    schema.fields().iter().any(|field| is_below(&field.name))
}

/// Refuses what stands at a path that the schema does not have, unless it is an object that the schema has fields of; where there
/// is nothing, that says nothing of these.
fn no_field(
    path: &str,
    values: &[Value],
    is_list: bool,
    schema: &Schema,
    line: u64,
) -> Result<(), Error> {
    if !has_fields_below(schema, path) {
        return Err(unknown_field(path, schema, line));
    }
    match values.iter().find(|value| !value.is_object() && !value.is_null()) {
        None => Ok(()),
        Some(value) => Err(bad(format!("reading the object '{path}'"), line)
            .expected(format!("an object, as the schema has fields of '{path}'"))
            .found(match is_list {
                true => format!("{} in a list", described(value)),
                false => described(value).to_owned(),
            })),
    }
}

/// The error about an input, or a record, that has no field of the schema: all that is in it would be left out.
pub(crate) fn no_known_field<'n>(
    names: impl Iterator<Item = &'n str>,
    schema: &Schema,
    line: u64,
) -> Error {
    const SHOWN_MAX: usize = 10;
    let known: Vec<_> = schema.fields().iter().map(|field| &*field.name).collect();
    let names: Vec<_> = names.collect();
    let shown: Vec<_> = names.iter().take(SHOWN_MAX).map(|name| format!("'{name}'")).collect();
    let more = match names.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    bad("reading a document", line)
        .expected(format!("any of the fields {}", known.join(", ")))
        .found(format!("none of them, but {}{more}", shown.join(", ")))
}

/// A field that the schema does not have.
pub(crate) fn unknown_field(name: &str, schema: &Schema, line: u64) -> Error {
    let known: Vec<_> = schema.fields().iter().map(|field| &*field.name).collect();
    bad("reading a document", line)
        .expected(format!("the fields {}", known.join(", ")))
        .found(format!("'{name}', which --ignore-unknown leaves out"))
}

fn one_value(value: Value, field: &Field, line: u64) -> Result<treepie::Value, Error> {
    match (field.kind, value) {
        (_, Value::String(text)) => Ok(text.into()),
        // In a list, where it says nothing.
        (_, Value::Null) => Ok(treepie::Value::Null),
        (kind, Value::Bool(value)) if kind.is_typed() => Ok(value.into()),
        (_, Value::Bool(value)) => Ok(value.to_string().into()),
        (FieldKind::Bool | FieldKind::Date, Value::Number(number)) => Ok(number_of(&number)),
        // With all digits that were written, which a field of numbers may keep or refuse: 1.50 and 1.5 are two keywords.
        (_, Value::Number(number)) => Ok(written(&number).into()),
        (kind, other @ (Value::Array(_) | Value::Object(_))) => {
            Err(bad(format!("reading the {} field '{}'", kind.name(), field.name), line)
                .expected("a string, a number or a boolean")
                .found(described(&other)))
        }
    }
}

/// Text of a number in one form: 1e5 and 1E+5 are the same.
fn written(number: &Number) -> String {
    number.as_str().replace(['E', '+'], "e").replace("ee", "e")
}

fn number_of(number: &Number) -> treepie::Value {
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(number), _, _) => number.into(),
        (None, Some(number), _) => number.into(),
        (None, None, Some(number)) => number.into(),
        // Beyond all numbers.
        (None, None, None) => written(number).into(),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        Schema::builder()
            .text("title")
            .field(Field::new("brand", FieldKind::Keyword))
            .keyword("tag")
            .build()
            .unwrap()
    }

    fn read(text: &[u8], lossy: bool) -> Vec<Result<(u64, Document), String>> {
        let mut lines = JsonLines::new(text, FailureSlot::default(), lossy);
        let mut found = vec![];
        while let Some(record) = lines.next(&schema(), Path::new("a.jsonl")).unwrap() {
            found.push(match record {
                Record::Document { line, document } => Ok((line, document)),
                Record::Bad(error) => Err(error.to_string()),
            });
        }
        found
    }

    #[test]
    fn documents_keep_their_line_numbers() {
        let found = read(
            b"{\"title\":\"a\",\"brand\":7,\"tag\":[\"x\",true]}\n\n{\"title\":null,\"tag\":[]}\n",
            false,
        );
        let full = Document::new()
            .with("title", "a")
            .with("brand", "7")
            .with("tag", "x")
            .with("tag", "true");
        let none = Document::new().with("title", None::<&str>);
        assert_eq!(found, [Ok((1, full)), Ok((3, none))]);
    }

    #[test]
    fn each_thing_that_does_not_fit_is_named_with_its_line() {
        for (line, words) in [
            (
                &b"{\"price\":1}"[..],
                "expected any of the fields title, brand, tag, found none of them, but 'price'",
            ),
            (
                b"{\"price\":1,\"tag\":\"x\"}",
                "expected the fields title, brand, tag, found 'price', which --ignore-unknown",
            ),
            (
                b"{\"title\":{\"a\":1}}",
                "the text field 'title': expected a string, a number or a boolean, found an object",
            ),
            (b"{\"title\":[\"a\",\"b\"]}", "the field 'title': expected one value, found a list"),
            (b"{\"brand\":{\"a\":1}}", "a number or a boolean, found an object"),
            (b"{\"tag\":[{\"a\":1}]}", "found an object"),
            (b"{\"brand\":{\"$serde_json::private::Number\":\"12\"}}", "found an object"),
            (b"{\"brand\":{\"$serde_json\\u003a:private::Number\":\"12\"}}", "found an object"),
            (b"{\"tag\":[\"a\", {\"$serde_json::private::Number\":\"12\"}]}", "found an object"),
            (b"{\"tag\":{\"$serde_json::private::RawValue\":\"[1]\"}}", "found an object"),
            (b"{\"$serde_json::private::RawValue\":\"{}\"}", "'$serde_json::private::RawValue'"),
            (b"{\"$serde_json::private::Number\":\"1\"}", "'$serde_json::private::Number'"),
            (b"{\"tag\":[[\"a\"]]}", "found a list"),
            (b"{\"tag\":{\"a\":1}}", "found an object"),
            (b"{\"new\":{\"a\":1}}", "found none of them, but 'new', 'new.a'"),
            (b" \"{}\"", "expected an object, found a string"),
            (b"{\"title\":\"a\tb\"}", "control character"),
            (b"{\"title\":\"a\"", "EOF while parsing an object at column 12"),
            (b"[1]", "expected objects in the list, found a number"),
            (b"[", "']' at the end of the list that begins here, found the end of the input"),
            (b"\"a\xFFb\"", "expected UTF-8, found the byte 0xff"),
        ] {
            let text = [b"{}\n", line].concat();
            let found = read(&text, false);
            let message = found[1].as_ref().unwrap_err();
            assert!(message.contains(words), "{message}");
            assert!(message.contains("a.jsonl") && message.contains("line 2"), "{message}");
        }
        let message = read(b"{}\n\"a\xFFb\"", false)[1].clone().unwrap_err();
        assert!(message.contains("at offset 5"), "{message}");
    }

    #[test]
    fn braces_in_texts_are_texts() {
        let text = r#"{"title":"a {b} $serde_json::private::Number {","tag":["{","[{]"]}"#;
        let document = Document::new().with("title", "a {b} $serde_json::private::Number {");
        let document = document.with("tag", "{").with("tag", "[{]");
        assert_eq!(read(text.as_bytes(), false), [Ok((1, document))]);
    }

    #[test]
    fn lossy_replaces_what_is_not_utf8() {
        let found = read(b"{\"title\":\"a\xFFb\"}", true);
        assert_eq!(found, [Ok((1, Document::new().with("title", "a\u{FFFD}b")))]);
    }

    #[test]
    fn half_a_surrogate_pair_is_told_or_replaced() {
        let cases = [
            (r"\ud83d", "\u{FFFD}"),
            (r"a\uDC00b", "a\u{FFFD}b"),
            (r"\ud83d\ud83e\udd8a\udd8a", "\u{FFFD}\u{1F98A}\u{FFFD}"),
            (r"\\\ud83d\n\\\\ud83d", "\\\u{FFFD}\n\\\\ud83d"),
            (r"\ud83d\u0041é", "\u{FFFD}Aé"),
        ];
        for (escaped, expected) in cases {
            let line = format!(r#"{{"title":"{escaped}"}}"#);
            let found = read(line.as_bytes(), true);
            assert_eq!(found, [Ok((1, Document::new().with("title", expected)))], "{line}");
            let message = read(line.as_bytes(), false)[0].clone().unwrap_err();
            assert!(message.contains("half of a surrogate pair"), "{message}");
            assert!(message.contains("--lossy"), "{message}");
        }
        // Whole pairs, and what only looks like half of one.
        for whole in [r"\ud83e\udd8a", r"\\ud83d", r"\u00e9"] {
            let line = format!(r#"{{"title":"{whole}"}}"#);
            assert!(read(line.as_bytes(), false)[0].is_ok(), "{line}");
        }
        // Other mistakes are told as they are, lossy or not.
        for wrong in [r#"{"title":"\uD8"#, r#"{"title":"\x"}"#, r#"{"title":"\"#] {
            for lossy in [false, true] {
                let message = read(wrong.as_bytes(), lossy)[0].clone().unwrap_err();
                assert!(!message.contains("surrogate"), "{message}");
            }
        }
    }

    /// The fields of a record with their values, or what is wrong with it.
    fn flat(text: &str) -> Result<String, String> {
        let field = |name: &str| Field::new(name, FieldKind::Keyword);
        let schema = Schema::builder()
            .keyword("a")
            .keyword("a.b")
            .field(field("size.width"))
            .field(field("size.unit.name"))
            .keyword("part.no")
            .build()
            .unwrap();
        let mut lines = JsonLines::new(text.as_bytes(), FailureSlot::default(), false);
        match lines.next(&schema, Path::new("a.jsonl")).unwrap() {
            Some(Record::Document { document, .. }) => {
                let fields = document.iter().filter(|(_, value)| !value.is_null());
                let fields: Vec<_> = fields.map(|(name, it)| format!("{name}={it}")).collect();
                Ok(fields.join(" "))
            }
            Some(Record::Bad(error)) => Err(error.to_string()),
            None => panic!("no record"),
        }
    }

    #[test]
    fn objects_are_fields_named_by_the_way_to_them() {
        for (text, expected) in [
            (r#"{"size":{"width":3,"unit":{"name":"mm"}}}"#, "size.width=3 size.unit.name=mm"),
            (r#"{"size.width":3,"size":{"unit.name":"mm"}}"#, "size.width=3 size.unit.name=mm"),
            (r#"{"part":[{"no":1},{"no":[2,3]},{},null]}"#, "part.no=1 part.no=2 part.no=3"),
            (r#"{"part":{"no":[]},"size":null}"#, ""),
            (r#"{"part":[],"size":{"unit":{}}}"#, ""),
            (r#"{"a":1,"new":{"b":{},"c":{ }},"size":{},"a.b":[{}]}"#, "a=1"),
            (r#"{"a":[1,{"b":2}]}"#, "a=1 a.b=2"),
            (r#"{"a.b":1,"a":{"b":2}}"#, "a.b=1 a.b=2"),
        ] {
            assert_eq!(flat(text).as_deref(), Ok(expected), "{text}");
        }
        let deep = |n: usize| format!("{{\"size\":{}1{}", "{\"x\":".repeat(n), "}".repeat(n + 1));
        for (text, words) in [
            (r#"{"size":{"depth":3}}"#, "found 'size.depth'"),
            (
                r#"{"a":1,"size":{"width":3,"width":4}}"#,
                "the name \"width\" twice in one object, at column 34 again",
            ),
            (r#"{"size":3}"#, "an object, as the schema has fields of 'size', found a number"),
            (r#"{"part":[{"no":1},"x"]}"#, "found a string in a list"),
            (
                r#"{"size":[{"width":1},{"width":2}]}"#,
                "'size.width': expected one value, found a list",
            ),
            (
                r#"{"size":{"width":{"x":1}}}"#,
                "'size.width': expected a string, a number or a boolean, found an object",
            ),
            (r#"{"part":{"no":[[1]]}}"#, "found a list"),
            (&deep(LEVELS_MAX + 1), "at most 32 objects within each other"),
            (&deep(LEVELS_MAX), "found 'size.x"),
            (&deep(100_000), "at most 32 objects within each other"),
        ] {
            let message = flat(text).unwrap_err();
            assert!(message.contains(words) && message.contains("line 1"), "{message}");
        }
        // Many fields, of which none is lost or comes twice.
        let wide: Vec<_> = (0..100).map(|n| format!("{{\"no\":{n}}}")).collect();
        let text = format!("{{\"part\":[{}]}}", wide.join(","));
        assert_eq!(flat(&text).unwrap().split(' ').count(), 100);
        let keys: Vec<_> = (0..50).map(|n| format!("\"k{n}\":1")).collect();
        let record = format!("{{{0},\"o\":{{{0}}}}}", keys.join(","));
        let leaves = object(&record, Place::of_line(1), false).unwrap();
        let paths: std::collections::HashSet<_> = leaves.iter().map(|leaf| &leaf.path).collect();
        assert_eq!((leaves.len(), paths.len()), (101, 101));
    }

    /// Text of a number for a field of this kind.
    fn of_number(kind: FieldKind, written: &str) -> String {
        let schema = Schema::builder().field(Field::new("n", kind)).build().unwrap();
        let line = format!("{{\"n\":{written}}}");
        let mut lines = JsonLines::new(line.as_bytes(), FailureSlot::default(), false);
        match lines.next(&schema, Path::new("a.jsonl")).unwrap() {
            Some(Record::Document { document, .. }) => {
                document.iter().map(|(_, value)| value.to_text().into_owned()).collect()
            }
            other => panic!("{written}: {other:?}"),
        }
    }

    #[test]
    fn numbers_keep_all_of_their_digits() {
        let long = "12.100000000000001";
        for written in ["7", "-0", "1.50", long, "5e-8", "1e400", "123456789012345678901"] {
            assert_eq!(of_number(FieldKind::Keyword, written), written);
            assert_eq!(of_number(FieldKind::F64, written), written);
            assert_eq!(of_number(FieldKind::Text, written), written);
            assert_eq!(of_number(FieldKind::Path { separator: '/' }, written), written);
        }
        for written in ["1E5", "1e+5", "1E+5", "1e5"] {
            assert_eq!(of_number(FieldKind::Keyword, written), "1e5");
            assert_eq!(of_number(FieldKind::Text, written), "1e5");
            assert_eq!(of_number(FieldKind::I64, written), "1e5");
        }
        let decimal = FieldKind::Decimal { scale: 2 };
        let cases = [
            (FieldKind::I64, "1000000000000000001.0", "1000000000000000001.0"),
            (FieldKind::U64, "1.5E+1", "1.5e1"),
            (decimal, "-125e-2", "-125e-2"),
            (decimal, "1e99", "1e99"),
            (decimal, "1e99999999999999999999", "1e99999999999999999999"),
            (FieldKind::Bool, "1", "1"),
            (FieldKind::Date, "1e400", "1e400"),
        ];
        for (kind, written, expected) in cases {
            assert_eq!(of_number(kind, written), expected, "{kind:?}");
        }
    }

    #[test]
    fn numbers_and_booleans_are_texts_where_texts_are() {
        let found = read(
            br#"{"title":300,"brand":1.50,"tag":["x",1e3,true,null,-0.5]}
{"title":false,"tag":[]}"#,
            false,
        );
        let first = Document::new().with("title", "300").with("brand", "1.50").with("tag", "x");
        let first = first.with("tag", "1e3").with("tag", "true").with("tag", None::<&str>);
        let second = Document::new().with("title", "false");
        assert_eq!(found, [Ok((1, first.with("tag", "-0.5"))), Ok((2, second))]);
    }

    #[test]
    fn deep_nesting_is_refused() {
        let text = "[".repeat(1_000_000);
        assert!(read(text.as_bytes(), false)[0].is_err());
        let text = format!("{{\"tag\":{text}{}}}", "]".repeat(1_000_000));
        let message = read(text.as_bytes(), false)[0].clone().unwrap_err();
        assert!(message.contains("found a list"), "{message}");
    }

    #[test]
    fn a_name_comes_once_in_an_object() {
        for (text, words) in [
            (r#"{"title":"a","title":"b"}"#, "\"title\" twice in one object, at column 22 again"),
            (r#"{"title":"a","title":"a"}"#, "\"title\" twice"),
            (r#"{"title":"a","brand":"b","\u0074itle":"c"}"#, "\"title\" twice"),
            (r#"{"tag":"a", "tag" : "b","title":"c"}"#, "\"tag\" twice"),
            (r#"{"title":"a","brand":{},"brand":{}}"#, "\"brand\" twice"),
            (r#"{"title":"a","a\"":1,"b":2,"a\"":3}"#, "\"a\\\"\" twice"),
            (r#"{"title":"a","tag":[{"x":1,"x":2}]}"#, "\"x\" twice"),
            (
                "{\"title\":\"a\",\n \"title\":\"b\"}",
                "twice in one object, in line 3 at column 10 again",
            ),
        ] {
            let found = read(format!("{{}}\n{text}\n{{\"tag\":\"x\"}}").as_bytes(), false);
            let message = found[1].as_ref().unwrap_err();
            assert!(message.contains(words) && message.contains("line 2"), "{message}");
            assert_eq!(found[2].as_ref().map(|(_, document)| document.iter().count()), Ok(1));
        }
        let found = read(br#"{ "title" : "\"a:\"" , "tag":[1,"}{",2] , "brand": "b" }"#, false);
        assert!(found[0].is_ok(), "{found:?}");
        let found = read(br#"{"tag":[{"title":1},{"title":2}],"brand":{}}"#, false);
        assert!(found[0].as_ref().is_err_and(|message| !message.contains("twice")), "{found:?}");
    }
}
