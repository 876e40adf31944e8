//! JSON Lines: one object a line, its keys the fields.
//!
//! A text field takes a string. A keyword field takes a string, and a number or a boolean as its
//! text. A typed field takes what can be its value, also as a string. Each takes a list of those where the schema says
//! `many`. `null` and an empty list say that the document has no value there. Empty lines mean nothing.

use std::{collections::HashMap, io::Read, path::Path};

use serde_json::{Map, Number, Value, value::RawValue};
use treepie::{Document, Error, Field, FieldKind, Schema};

use super::{
    FailureSlot, RECORD_BYTES_MAX, Record, bad,
    lines::{LineText, Lines},
    text,
};

/// Documents of a JSON Lines input.
pub(crate) struct JsonLines<R> {
    lines: Lines<R>,
    failure: FailureSlot,
    lossy: bool,
}

impl<R: Read> JsonLines<R> {
    pub(crate) fn new(from: R, failure: FailureSlot, lossy: bool) -> Self {
        JsonLines { lines: Lines::new(from, RECORD_BYTES_MAX), failure, lossy }
    }

    /// The next document, or what is wrong with the next line; `name` is the input's.
    pub(crate) fn next(&mut self, schema: &Schema, name: &Path) -> Result<Option<Record>, Error> {
        loop {
            let line = match self.lines.next() {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(None),
                Err(error) => return Err(self.failure.or(Error::io("reading the input", error))),
            };
            let number = line.number;
            let document = match line.text {
                LineText::TooLong => Err(too_long(number)),
                LineText::Bytes(bytes) if bytes.trim_ascii().is_empty() => continue,
                LineText::Bytes(bytes) => text(bytes, self.lossy, number, line.offset)
                    .and_then(|text| object(&text, number, self.lossy))
                    .and_then(|object| document(object, schema, number)),
            };
            return Ok(Some(match document {
                Ok(document) => Record::Document { line: number, document },
                Err(error) => Record::Bad(error.in_file(name)),
            }));
        }
    }
}

/// The error about a line that is longer than [`RECORD_BYTES_MAX`].
pub(crate) fn too_long(line: u64) -> Error {
    bad("reading a line", line)
        .expected(format!("at most {} MiB", RECORD_BYTES_MAX >> 20))
        .found("a longer one")
}

/// The fields of an object as they are written, in their order; of a name that comes twice the last one. Values are never read
/// by the recursive reader of any JSON, which takes objects with keys of its own for numbers and for texts to read anew: no
/// field takes an object, so that none has to be read.
fn fields_of(text: &str) -> serde_json::Result<Vec<(String, &RawValue)>> {
    let fields: HashMap<String, &RawValue> = serde_json::from_str(text)?;
    let mut fields: Vec<_> = fields.into_iter().collect();
    fields.sort_unstable_by_key(|(_, raw)| raw.get().as_ptr().addr());
    Ok(fields)
}

/// A value of a field; of an object, and of a list in a list, only what it is.
fn value_of(raw: &RawValue, is_in_list: bool) -> serde_json::Result<Value> {
    match raw.get().as_bytes() {
        [b'{', ..] => Ok(Value::Object(Map::new())),
        [b'[', ..] if is_in_list => Ok(Value::Array(vec![])),
        [b'[', ..] => {
            let values: Vec<&RawValue> = serde_json::from_str(raw.get())?;
            values.into_iter().map(|value| value_of(value, true)).collect()
        }
        [b'-' | b'0'..=b'9', ..] => serde_json::from_str(raw.get()).map(Value::Number),
        // A text, true, false or null.
        _ => serde_json::from_str(raw.get()),
    }
}

/// The object on one line. Where `lossy`, half of a surrogate pair becomes U+FFFD.
pub(crate) fn object(text: &str, line: u64, lossy: bool) -> Result<Map<String, Value>, Error> {
    let wrong =
        |found: String| bad("reading JSON", line).expected("one object a line").found(found);
    let is_object = text.trim_start().starts_with('{');
    let error = match fields_of(text) {
        Ok(fields) => {
            let values = fields.into_iter().map(|(name, raw)| Ok((name, value_of(raw, false)?)));
            match values.collect() {
                Ok(object) => return Ok(object),
                Err(error) => error,
            }
        }
        Err(error) if is_object => error,
        Err(_) => match serde_json::from_str::<&RawValue>(text) {
            Ok(other) => {
                let other = value_of(other, true).map_or("a string", |value| described(&value));
                return Err(wrong(other.into()));
            }
            Err(error) => error,
        },
    };
    if let Some(at) = lone_surrogate(text, 0) {
        if lossy {
            return object(&without_lone_surrogates(text, at), line, false);
        }
        return Err(bad("reading JSON", line)
            .expected("escapes of whole characters")
            .found(format!(
                "'{}', half of a surrogate pair, at column {}",
                &text[at..at + ESCAPE_LEN],
                at + 1
            ))
            .hint("--lossy puts U+FFFD in its place"));
    }
    // Its "line 1" would contradict ours.
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let wrong = wrong(format!("{message} at column {}", error.column()));
    Err(match text.trim_start().starts_with('[') {
        true => wrong.hint("`jq -c '.[]'` makes lines of a list"),
        false => wrong,
    })
}

/// Bytes of an escape by number, `\uD83D`.
const ESCAPE_LEN: usize = 6;

/// Where the first escape from `start` on stands that is half of a surrogate pair and has no other half.
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
            // What is escaped here is a character of one byte, or an error that others tell.
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

fn document(object: Map<String, Value>, schema: &Schema, line: u64) -> Result<Document, Error> {
    let mut document = Document::new();
    for (name, value) in object {
        let Some(field) = schema.field(&name) else {
            return Err(unknown_field(&name, schema, line));
        };
        match value {
            Value::Null => {}
            Value::Array(values) if field.many || values.is_empty() => {
                for value in values {
                    document.push(name.clone(), one_value(value, field, line)?);
                }
            }
            Value::Array(_) => {
                return Err(bad(format!("reading the field '{name}'"), line)
                    .expected("one value")
                    .found("a list")
                    .hint("`many = true` in the schema allows more"));
            }
            value => document.push(name, one_value(value, field, line)?),
        }
    }
    Ok(document)
}

/// A field that the schema does not have.
pub(crate) fn unknown_field(name: &str, schema: &Schema, line: u64) -> Error {
    let known: Vec<_> = schema.fields().iter().map(|field| &*field.name).collect();
    bad("reading a document", line)
        .expected(format!("the fields {}", known.join(", ")))
        .found(format!("'{name}'"))
}

fn one_value(value: Value, field: &Field, line: u64) -> Result<treepie::Value, Error> {
    match (field.kind, value) {
        (_, Value::String(text)) => Ok(text.into()),
        // In a list, where it says nothing.
        (_, Value::Null) => Ok(treepie::Value::Null),
        (FieldKind::Keyword, Value::Bool(value)) => Ok(value.to_string().into()),
        // With all digits that were written: 1.50 and 1.5 are two keywords.
        (FieldKind::Keyword, Value::Number(number)) => Ok(written(&number).into()),
        (kind, Value::Bool(value)) if kind.is_typed() => Ok(value.into()),
        (FieldKind::Bool | FieldKind::Date, Value::Number(number)) => Ok(number_of(&number)),
        // With all of its digits, which the field may keep or refuse.
        (kind, Value::Number(number)) if kind.is_typed() => Ok(digits_of(&number, kind).into()),
        (kind, other) => {
            let expected = match kind {
                FieldKind::Text => "a string",
                FieldKind::Keyword => "a string, a number or a boolean",
                _ => "a value",
            };
            Err(bad(format!("reading the {} field '{}'", kind.name(), field.name), line)
                .expected(expected)
                .found(described(&other)))
        }
    }
}

/// What a number was written as; 1e5 and 1E+5 are the same.
fn written(number: &Number) -> String {
    number.as_str().replace(['E', '+'], "e").replace("ee", "e")
}

/// What a number was written as; of a kind that has no exponents, without one.
fn digits_of(number: &Number, kind: FieldKind) -> String {
    let written = written(number);
    match written.split_once('e') {
        Some((digits, exponent)) if kind != FieldKind::F64 => {
            moved_point(digits, exponent).unwrap_or(written)
        }
        _ => written,
    }
}

/// The digits with the point so many places further right, or left; `None` where that is farther than any field has digits.
fn moved_point(digits: &str, exponent: &str) -> Option<String> {
    const PLACES_MAX: usize = 64;
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |digits| ("-", digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if !whole.bytes().chain(fraction.bytes()).any(|digit| digit != b'0') {
        return Some("0".to_owned());
    }
    let exponent: isize = exponent.parse().ok()?;
    let places = Some(exponent.unsigned_abs()).filter(|places| *places <= PLACES_MAX)?;
    let zeros = "0".repeat(places);
    Some(if exponent < 0 {
        let whole = format!("{zeros}{whole}");
        let (whole, moved) = whole.split_at(whole.len() - places);
        let whole = whole.trim_start_matches('0');
        let zero = if whole.is_empty() { "0" } else { "" };
        format!("{sign}{zero}{whole}.{moved}{fraction}")
    } else {
        let fraction = format!("{fraction}{zeros}");
        let (moved, fraction) = fraction.split_at(places);
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{sign}{whole}{moved}{point}{fraction}")
    })
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

/// What kind of JSON value it is, for messages.
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
        assert_eq!(found, [Ok((1, full)), Ok((3, Document::new()))]);
    }

    #[test]
    fn each_thing_that_does_not_fit_is_named_with_its_line() {
        for (line, words) in [
            (&b"{\"price\":1}"[..], "expected the fields title, brand, tag, found 'price'"),
            (b"{\"title\":1}", "the text field 'title': expected a string, found a number"),
            (b"{\"title\":[\"a\",\"b\"]}", "the field 'title': expected one value, found a list"),
            (b"{\"brand\":{}}", "a number or a boolean, found an object"),
            (b"{\"tag\":[{}]}", "found an object"),
            (b"{\"brand\":{\"$serde_json::private::Number\":\"12\"}}", "found an object"),
            (b"{\"brand\":{\"$serde_json\\u003a:private::Number\":\"12\"}}", "found an object"),
            (b"{\"tag\":[\"a\", {\"$serde_json::private::Number\":\"12\"}]}", "found an object"),
            (b"{\"tag\":{\"$serde_json::private::RawValue\":\"[1]\"}}", "found an object"),
            (
                b"{\"$serde_json::private::RawValue\":\"{}\"}",
                "found '$serde_json::private::RawValue'",
            ),
            (b"{\"$serde_json::private::Number\":\"1\"}", "found '$serde_json::private::Number'"),
            (b"{\"tag\":[[\"a\"]]}", "found a list"),
            (b" \"{}\"", "expected one object a line, found a string"),
            (b"{\"title\":\"a\tb\"}", "control character"),
            (b"{\"title\":\"a\"", "EOF while parsing an object at column 12"),
            (b"[1]", "expected one object a line, found a list"),
            (b"[", "makes lines of a list"),
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

    /// What a field gets of a number, as text.
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
        }
        for written in ["1E5", "1e+5", "1E+5", "1e5"] {
            assert_eq!(of_number(FieldKind::Keyword, written), "1e5");
        }
        let decimal = FieldKind::Decimal { scale: 2 };
        let cases = [
            (FieldKind::I64, "1000000000000000001.0", "1000000000000000001.0"),
            (FieldKind::I64, "12e3", "12000"),
            (FieldKind::U64, "1.5E+1", "15.0"),
            (decimal, "-125e-2", "-1.25"),
            (decimal, "0.5e-1", "0.05"),
            (decimal, "1e99", "1e99"),
            (FieldKind::I64, "0.0e-99", "0"),
            (FieldKind::I64, "15e-1", "1.5"),
            (decimal, "1e99999999999999999999", "1e99999999999999999999"),
            (FieldKind::Bool, "1", "1"),
            (FieldKind::Date, "1e400", "1e400"),
        ];
        for (kind, written, expected) in cases {
            assert_eq!(of_number(kind, written), expected, "{kind:?}");
        }
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
    fn the_last_of_two_values_counts() {
        let found = read(br#"{"title":"a","brand":"b","title":"c"}"#, false);
        let document = Document::new().with("brand", "b").with("title", "c");
        assert_eq!(found, [Ok((1, document))]);
    }
}
