//! A schema from the first documents, where none was given: strings are text, lists of strings are
//! keywords. What would need a type that does not exist yet is an error that names the field, so
//! that no index has to be built again when it does.

use std::path::Path;

use serde_json::Value;
use treepie::{Error, ErrorKind, Field, FieldKind, Schema};

use super::{
    FailureSlot, Input, RECORD_BYTES_MAX,
    csv::{Csv, Separator},
    format::InputFormat,
    json,
    lines::{LineText, Lines},
    text,
};

/// Text that is looked at, as long as it has a whole document in it.
const SAMPLE_BYTES: usize = 1 << 20;

/// The schema of an input in this format.
pub(crate) fn infer(input: &mut Input, format: InputFormat) -> Result<Schema, Error> {
    let name = input.name.clone();
    let mut n_bytes = SAMPLE_BYTES;
    loop {
        let sample = input.peek(n_bytes)?;
        let newline = sample.iter().rposition(|byte| *byte == b'\n');
        let n_whole = newline.map_or(0, |at| at + 1);
        let sample = sample.to_vec();
        let whole = if input.peeked_at_all() { &sample[..] } else { &sample[..n_whole] };
        if whole.is_empty() && !input.peeked_at_all() && n_bytes <= RECORD_BYTES_MAX {
            n_bytes *= 4;
            continue;
        }
        let schema = match format.separator() {
            Some(separator) => of_table(whole, separator),
            None if format == InputFormat::Lines => Schema::builder().text("text").build(),
            None => of_objects(whole, &name),
        };
        return schema.map_err(|error| error.in_file(&name));
    }
}

/// What has been seen in a field so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// Only null, empty lists, empty cells.
    Nothing,
    Strings,
    Lists,
}

/// Fields in the order they were first met.
#[derive(Default)]
struct Fields(Vec<(String, Seen)>);

impl Fields {
    fn meet(&mut self, name: &str, seen: Seen) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) if *known == Seen::Nothing || seen == Seen::Lists => *known = seen,
            Some(_) => {}
            None => self.0.push((name.to_owned(), seen)),
        }
    }

    fn into_schema(self) -> Result<Schema, Error> {
        if self.0.is_empty() {
            return Err(Error::new(ErrorKind::Schema, "inferring a schema")
                .expected("a document with fields")
                .found("none")
                .hint("--schema FILE says what the fields are"));
        }
        let mut builder = Schema::builder();
        for (name, seen) in self.0 {
            builder = builder.field(match seen {
                Seen::Lists => Field::new(name, FieldKind::Keyword).many(true),
                Seen::Strings | Seen::Nothing => Field::new(name, FieldKind::Text),
            });
        }
        builder.build()
    }
}

/// A field that needs a type which does not exist yet.
fn no_type_yet(name: &str, found: &str, line: u64) -> Error {
    Error::new(ErrorKind::Schema, format!("inferring the type of the field '{name}'"))
        .expected("strings or lists of strings")
        .found(found)
        .at_line(line)
        .hint("--schema FILE with `type = \"keyword\"` takes integers and booleans as text")
}

fn of_objects(whole: &[u8], name: &Path) -> Result<Schema, Error> {
    let mut fields = Fields::default();
    let mut lines = Lines::new(whole, RECORD_BYTES_MAX);
    while let Ok(Some(line)) = lines.next() {
        let number = line.number;
        let LineText::Bytes(bytes) = line.text else {
            return Err(json::too_long(number));
        };
        if bytes.trim_ascii().is_empty() {
            continue;
        }
        // A line that cannot be read is told, or skipped, when its turn comes.
        let Ok(object) = text(bytes, true, number, line.offset)
            .and_then(|text| json::object(&text, number, true))
        else {
            continue;
        };
        for (field, value) in object {
            match &value {
                Value::Null => fields.meet(&field, Seen::Nothing),
                Value::String(_) => fields.meet(&field, Seen::Strings),
                Value::Array(values) if values.is_empty() => fields.meet(&field, Seen::Nothing),
                Value::Array(values) => match values.iter().find(|value| !value.is_string()) {
                    None => fields.meet(&field, Seen::Lists),
                    Some(other) => {
                        let found = format!("{} in a list", json::described(other));
                        return Err(no_type_yet(&field, &found, number));
                    }
                },
                other => return Err(no_type_yet(&field, json::described(other), number)),
            }
        }
    }
    fields.into_schema().map_err(|error| error.in_file(name))
}

fn of_table(whole: &[u8], separator: Separator) -> Result<Schema, Error> {
    let mut csv = Csv::new(whole, separator, FailureSlot::default(), true)?;
    let columns = csv.columns().to_vec();
    let mut fields = Fields::default();
    for (at, name) in columns.iter().enumerate() {
        let repeated = columns[..at].contains(name);
        fields.meet(name, if repeated { Seen::Lists } else { Seen::Nothing });
    }
    // A column is numbers only if every cell is one that has anything in it.
    let mut first_number = vec![None; columns.len()];
    let mut strings = vec![false; columns.len()];
    while let Ok(Some((line, cells))) = csv.next_cells() {
        for (at, cell) in cells.iter().take(columns.len()).enumerate() {
            let cell = String::from_utf8_lossy(cell);
            match cell.trim() {
                "" => {}
                number if number.parse::<f64>().is_ok_and(f64::is_finite) => {
                    first_number[at].get_or_insert(line);
                }
                _ => strings[at] = true,
            }
        }
    }
    for (at, name) in columns.iter().enumerate() {
        if let (Some(line), false) = (first_number[at], strings[at]) {
            return Err(no_type_yet(name, "numbers", line));
        }
    }
    fields.into_schema()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::schema_file;

    fn objects(text: &str) -> Result<String, String> {
        let schema = of_objects(text.as_bytes(), Path::new("a.jsonl"));
        schema.map(|schema| schema_file::print(&schema)).map_err(|error| error.to_string())
    }

    fn table(text: &str) -> Result<String, String> {
        let schema = of_table(text.as_bytes(), Separator::Comma);
        schema.map(|schema| schema_file::print(&schema)).map_err(|error| error.to_string())
    }

    #[test]
    fn strings_are_text_and_lists_of_strings_are_keywords() {
        let schema = objects(
            "{\"b\":null,\"tags\":[]}\n{\"a\":\"x\",\"b\":\"y\",\"tags\":[\"t\"]}\n{\"c\":null}\n",
        );
        let expected = "[fields.b]\ntype = \"text\"\n[fields.tags]\ntype = \"keyword\"\nmany = true\n\
                        [fields.a]\ntype = \"text\"\n[fields.c]\ntype = \"text\"\n";
        assert_eq!(schema.unwrap(), expected);
    }

    #[test]
    fn what_needs_a_type_that_is_not_there_names_the_field() {
        for (text, words) in [
            (
                "{\"price\":1}",
                "field 'price': expected strings or lists of strings, found a number",
            ),
            ("{\"on\":true}", "'on'"),
            ("{\"a\":{}}", "found an object"),
            ("{\"a\":[1]}", "found a number in a list"),
            ("", "found none"),
        ] {
            let message = objects(text).unwrap_err();
            assert!(message.contains(words), "{message}");
        }
    }

    #[test]
    fn columns_are_text_and_repeated_ones_keywords() {
        let schema = table("title,tag,tag\na,b,c\n");
        let expected =
            "[fields.title]\ntype = \"text\"\n[fields.tag]\ntype = \"keyword\"\nmany = true\n";
        assert_eq!(schema.unwrap(), expected);
        assert!(table("title,year\na,1999\nb,\n").unwrap_err().contains("field 'year'"));
        assert!(table("title,year\na,1999\nb,unknown\n").is_ok());
    }
}
