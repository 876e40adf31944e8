//! Vectors in texts: a list of numbers as JSON has it, or base64.
//!
//! Base64 has the numbers that the field keeps, little-endian; those of 16 bits may also have 32. Numbers of a list are rounded
//! to the nearest of 32 bits.

use std::path::Path;

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use half::f16;
use treepie::schema::{VectorParams, VectorValues};
use treepie::{Document, Schema, Value};

use super::{Record, bad};

/// Base64 with or without the `=` at its end.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Makes vectors of texts in fields of these.
#[derive(Debug)]
pub(crate) struct VectorTexts {
    fields: Vec<(String, VectorParams)>,
}

impl VectorTexts {
    pub(crate) fn of(schema: &Schema) -> Self {
        let fields = schema.fields().iter();
        let of_vectors =
            fields.filter_map(|field| Some((field.name.clone(), field.kind.vector()?)));
        VectorTexts { fields: of_vectors.collect() }
    }

    /// Puts vectors in the place of texts, or what is wrong with one in the place of the record.
    pub(crate) fn apply(&self, record: &mut Record, name: &Path) {
        let Record::Document { line, document } = record else { return };
        for (field, params) in &self.fields {
            if !document.values(field).any(|value| value.as_str().is_some()) {
                continue;
            }
            match with_vectors(document, field, *params) {
                Ok(read) => *document = read,
                Err(Wrong { expected, found }) => {
                    let what = format!("reading the vector field '{field}'");
                    let error = bad(what, *line).expected(expected).found(found);
                    *record = Record::Bad(error.in_file(name));
                    return;
                }
            }
        }
    }
}

/// Description of a text that is no vector.
#[derive(Debug, PartialEq)]
struct Wrong {
    expected: String,
    found: String,
}

fn with_vectors(document: &Document, field: &str, params: VectorParams) -> Result<Document, Wrong> {
    let mut read = Document::new();
    for (name, value) in document.iter() {
        match value.as_str().filter(|_| name == field) {
            Some(text) => read.push(name, of_text(text, params)?),
            None => read.push(name, value.clone()),
        }
    }
    Ok(read)
}

fn of_text(text: &str, params: VectorParams) -> Result<Value, Wrong> {
    let text = text.trim();
    match text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(list) => of_list(list),
        None => of_base64(text, params),
    }
    .map(Value::Vector)
}

/// Numbers with commas between. Their number is for the schema to compare.
fn of_list(list: &str) -> Result<Vec<f32>, Wrong> {
    if list.trim().is_empty() {
        return Ok(vec![]);
    }
    let number = |(nth, text): (usize, &str)| {
        let text = text.trim();
        // Rust takes more for a number than JSON does, as `inf`.
        let begins = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        let number = text.parse().ok().filter(|_| begins && !text.contains(['i', 'n']));
        number.ok_or_else(|| Wrong {
            expected: "a list of numbers".into(),
            found: format!("{}, number {} of it", shown(text), nth + 1),
        })
    };
    list.split(',').enumerate().map(number).collect()
}

fn of_base64(text: &str, params: VectorParams) -> Result<Vec<f32>, Wrong> {
    let VectorParams { dims, values, .. } = params;
    let expected = || Wrong::expected_of(params);
    let bytes = BASE64
        .decode(text)
        .map_err(|error| Wrong { found: format!("{} ({error})", shown(text)), ..expected() })?;
    let as_kept = bytes.len() == values.row_len(dims);
    let of_byte = |byte: &u8| {
        let byte = *byte;
        (0..8).map(move |nth| f32::from(byte >> (7 - nth) & 1))
    };
    match values {
        VectorValues::F16 if as_kept => {
            Ok(bytes.as_chunks().0.iter().map(|it| f16::from_le_bytes(*it).to_f32()).collect())
        }
        VectorValues::I8 if as_kept => {
            Ok(bytes.iter().map(|it| f32::from(it.cast_signed())).collect())
        }
        VectorValues::Bits if as_kept => {
            Ok(bytes.iter().flat_map(of_byte).take(dims.into()).collect())
        }
        VectorValues::F32 | VectorValues::F16 if bytes.len() == VectorValues::F32.row_len(dims) => {
            Ok(bytes.as_chunks().0.iter().map(|it| f32::from_le_bytes(*it)).collect())
        }
        _ => Err(Wrong { found: format!("{} bytes", bytes.len()), ..expected() }),
    }
}

impl Wrong {
    /// The vectors that a field takes, before it is known what is found.
    fn expected_of(VectorParams { dims, values, .. }: VectorParams) -> Self {
        let n_bytes = values.row_len(dims);
        let of_each = match values {
            VectorValues::F16 => ", 2 for each, or 4",
            VectorValues::I8 => ", 1 for each",
            VectorValues::Bits => ", with 8 in each",
            _ => ", 4 for each",
        };
        let expected = format!("a list of {dims} numbers, or base64 of {n_bytes} bytes{of_each}");
        Wrong { expected, found: String::new() }
    }
}

/// The beginning of a text in quotes.
fn shown(text: &str) -> String {
    const CHARS_MAX: usize = 40;
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("'{}…'", &text[..end]),
        None => format!("'{text}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie::schema::Metric;

    fn read(text: &str) -> Result<Value, String> {
        of_text(text, VectorParams::new(2, Metric::Cosine))
            .map_err(|wrong| format!("expected {}, found {}", wrong.expected, wrong.found))
    }

    #[test]
    fn lists_and_base64_are_vectors() {
        for (text, numbers) in [
            ("[1, -2.5e-1]", [1.0, -0.25]),
            (" [0.1,1e-45]", [0.1, f32::from_bits(1)]),
            ("AACAPwAAAMA=", [1.0, -2.0]),
            ("AACAPwAAAMA", [1.0, -2.0]),
            ("[0,1e999]", [0.0, f32::INFINITY]), // which the index refuses
        ] {
            assert_eq!(read(text), Ok(numbers.into()), "{text}");
        }
        assert_eq!(read("[]"), Ok(Value::Vector(vec![])));
    }

    #[test]
    fn base64_has_the_numbers_that_a_field_keeps() {
        let read = |text: &str, dims, values| {
            of_text(text, VectorParams::new(dims, Metric::L2).values(values))
                .map_err(|wrong| format!("expected {}, found {}", wrong.expected, wrong.found))
        };
        for (text, dims, values, numbers) in [
            ("ADwAwA==", 2, VectorValues::F16, &[1.0, -2.0][..]),
            ("AACAPwAAAMA=", 2, VectorValues::F16, &[1.0, -2.0]),
            ("gH8=", 2, VectorValues::I8, &[-128.0, 127.0]),
            ("nkA=", 10, VectorValues::Bits, &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0]),
        ] {
            assert_eq!(read(text, dims, values), Ok(numbers.into()), "{text}");
        }
        for (text, values, words) in [
            ("nkA=", VectorValues::F16, "base64 of 4 bytes, 2 for each, or 4, found 2 bytes"),
            ("AACAPwAAAMA=", VectorValues::I8, "base64 of 2 bytes, 1 for each, found 8 bytes"),
            ("nkA=", VectorValues::Bits, "base64 of 1 bytes, with 8 in each, found 2 bytes"),
        ] {
            let error = read(text, 2, values).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn other_texts_are_told_by_what_is_wrong_with_them() {
        for (text, words) in [
            ("[1, \"2\"]", "found '\"2\"', number 2 of it"),
            ("[1, null]", "found 'null', number 2"),
            ("[NaN, 1]", "found 'NaN', number 1"),
            ("[-inf, 1]", "found '-inf', number 1"),
            ("[[1, 2]]", "found '[1', number 1"),
            ("[1,]", "found '', number 2"),
            ("[1, 2", "base64 of 8 bytes, 4 for each, found '[1, 2'"),
            ("AACAPw==", "or base64 of 8 bytes, 4 for each, found 4 bytes"),
            ("red pan", "found 'red pan'"),
            ("", "found 0 bytes"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
