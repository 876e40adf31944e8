//! JSON: objects, one a line or in any other layout, whose keys are the fields.
//!
//! A text, keyword or path field takes a string, and a number or a boolean as its text. A typed field takes what can be its
//! value, also as a string. A field of vectors takes a list of numbers, or base64 as a string. Each takes a list of those where the schema says `many`. `null` and an empty list say that the
//! document has no value there, which an index may keep. An empty object says nothing. A name that comes twice in one object
//! is an error: nobody knows which of the values was meant.
//!
//! Members of an object below are fields of their own, named by all keys on the way with points between them:
//! `{"size": {"width": 3}}` has `size.width`, and so has `{"size.width": 3}`. Of a list of objects each adds its values
//! to the same fields.

mod leaves;
mod surrogates;

use std::{io::Read, path::Path};

use serde_json::{Number, Value};
use treepie::schema::EMPTY_FIELD;
use treepie::{Document, Error, Field, FieldKind, Schema};

pub(crate) use self::leaves::{Leaf, described, too_long};
use self::leaves::{Whole, object};
use super::{
    FailureSlot, RECORD_BYTES_MAX, Record, bad,
    objects::{Found, Objects},
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
    /// Paths at which a list of numbers is a vector, once the schema is known.
    vectors: Option<Vec<String>>,
    /// Paths at which an object or a list is a point, once the schema is known.
    points: Option<Vec<String>>,
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
            vectors: None,
            points: None,
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
        let settings = &self.settings;
        let vectors = self.vectors.get_or_insert_with(|| settings.sources_of_vectors(schema));
        let points = self.points.get_or_insert_with(|| settings.sources_of_points(schema));
        let found = leaves_of(&mut self.objects, self.lossy, Whole { vectors, points });
        let found = found.map_err(|error| self.failure.or(error))?;
        let Some((line, leaves)) = found else { return Ok(None) };
        let names = |leaves: &[Leaf]| leaves.iter().map(|leaf| leaf.path.clone()).collect();
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
        let found = leaves_of(&mut self.objects, self.lossy, Whole::default());
        found.map_err(|error| self.failure.or(error))
    }
}

/// The line of the next object with what is in it; values that are whole are texts.
fn leaves_of<R: Read>(
    objects: &mut Objects<R>,
    lossy: bool,
    whole: Whole<'_>,
) -> Result<Option<Found<Vec<Leaf>>>, Error> {
    let found = objects.next(|bytes, place| {
        let text = text(bytes, lossy, place.line, place.offset)?;
        object(&text, place, lossy, whole)
    });
    found.map_err(|error| Error::io("reading the input", error))
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
            let mut values = vec![];
            for value in leaf.values.clone() {
                match value {
                    Value::String(text) if has_formats => {
                        let read = settings.values(&field.name, text, line)?;
                        values.extend(read.into_iter().map(Value::String));
                    }
                    Value::Number(number) if has_formats => {
                        let text = number.to_string();
                        let converted = settings.converted(&field.name, &text, true, line)?;
                        values.push(converted.map_or(Value::Number(number), Value::String));
                    }
                    value => values.push(value),
                }
            }
            let is_list = leaf.is_list || values.len() != leaf.values.len();
            targeted.push(Leaf { path: field.name.clone(), values, is_list });
        }
        let parts = settings.parts_of_points(&leaf.path);
        for path in &parts {
            targeted.push(Leaf { path: path.clone(), ..leaf.clone() });
        }
        if !fields.is_empty() || !parts.is_empty() {
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

fn document(leaves: Vec<Leaf>, schema: &Schema, line: u64) -> Result<Document, Error> {
    let is_known = |leaf: &Leaf| {
        schema.field(&leaf.path).is_some()
            || has_fields_below(schema, &leaf.path)
            || point_of_part(schema, &leaf.path).is_some()
    };
    let mut document = Document::new();
    if !leaves.is_empty() && !leaves.iter().any(is_known) {
        return Err(no_known_field(leaves.iter().map(|leaf| &*leaf.path), schema, line));
    }
    for Leaf { path, values, is_list } in leaves {
        let Some(field) = schema.field(&path) else {
            if let (Some(field), [value], false) =
                (point_of_part(schema, &path), &values[..], is_list)
            {
                document.push(path, one_value(value.clone(), field, line)?);
                continue;
            }
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

/// The field of points whose latitude or longitude a path is.
fn point_of_part<'s>(schema: &'s Schema, path: &str) -> Option<&'s Field> {
    let (name, part) = path.rsplit_once('.')?;
    let field = schema.field(name).filter(|_| matches!(part, "lat" | "lon" | "lng"))?;
    matches!(field.kind, FieldKind::Point { .. }).then_some(field)
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
                .expected(match kind.vector() {
                    Some(_) => "a list of numbers, or base64",
                    None => "a string, a number or a boolean",
                })
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

#[cfg(test)]
mod tests {
    use super::leaves::LEVELS_MAX;
    use super::*;
    use crate::input::objects::Place;

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
            (b"\"a\xFFb\"", "expected UTF-8, found the byte 0xFF"),
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
        let leaves = object(&record, Place::of_line(1), false, Whole::default()).unwrap();
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
