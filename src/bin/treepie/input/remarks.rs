//! Remarks about values read in another way than written, each reported once, after the build. They are values that
//! become numbers and lose zeros or a sign, escapes of TSV that are undone, and quotes of TSV that stay.

use std::{
    collections::HashSet,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use treepie::Schema;

use super::{Record, settings::is_number};
use crate::failure::note;

/// Remarks of all inputs in the order they were made, shared by those who make them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remarks(Arc<Mutex<Vec<Remark>>>);

#[derive(Debug)]
struct Remark {
    /// The field or the input that nothing more is to be said of.
    about: String,
    text: String,
}

impl Remarks {
    /// Adds a remark, unless there is one about this already.
    pub(crate) fn add(&self, about: String, text: String) {
        let mut remarks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !remarks.iter().any(|remark| remark.about == about) {
            remarks.push(Remark { about, text });
        }
    }

    /// Says them on standard error.
    pub(crate) fn print(&self) {
        let remarks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        remarks.iter().map(|remark| &*remark.text).for_each(note);
    }
}

/// Looks for texts that lose leading zeros or a plus sign as numbers: a code or a telephone number may be among them, where
/// nobody said that the field has numbers.
pub(crate) struct NumberWatch {
    remarks: Remarks,
    /// Fields that are told already.
    told: HashSet<String>,
}

impl NumberWatch {
    pub(crate) fn new(remarks: Remarks) -> Self {
        NumberWatch { remarks, told: HashSet::new() }
    }

    /// Looks at a record of an input of this name.
    pub(crate) fn look(&mut self, record: &Record, schema: &Schema, name: &Path) {
        let Record::Document { line, document } = record else { return };
        for (field, value) in document.iter() {
            let Some(stored) = value.as_str().and_then(stored_otherwise) else { continue };
            let is_of_numbers = || schema.field(field).is_some_and(|it| is_number(it.kind));
            if self.told.contains(field) || !is_of_numbers() {
                continue;
            }
            self.told.insert(field.to_owned());
            let written = value.as_str().unwrap_or_default().trim();
            self.remarks.add(
                format!("the field {field}"),
                format!(
                    "'{field}': '{written}' ({} line {line}) is stored as {stored}; declare it keyword to keep it \
                     (`treepie schema infer` prints a schema to change)",
                    name.display()
                ),
            );
        }
    }
}

/// The number that a text is, where zeros or a plus sign before it are lost.
fn stored_otherwise(text: &str) -> Option<String> {
    let text = text.trim();
    let is_changed = match text.as_bytes() {
        [b'+', ..] => true,
        [b'0', next, ..] | [b'-', b'0', next, ..] => next.is_ascii_digit(),
        _ => false,
    };
    if !is_changed {
        return None;
    }
    match text.parse::<i128>() {
        Ok(number) => Some(number.to_string()),
        Err(_) => {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            number.map(|number| format!("{number:?}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use treepie::Document;

    use super::*;

    #[test]
    fn texts_that_lose_something_as_numbers_are_seen() {
        for (text, stored) in [
            ("01234", Some("1234")),
            (" 007 ", Some("7")),
            ("+49", Some("49")),
            ("-05", Some("-5")),
            ("00", Some("0")),
            ("+1.5", Some("1.5")),
            ("007.5", Some("7.5")),
            ("+", None),
            ("0", None),
            ("0.5", None),
            ("-0.5", None),
            ("10", None),
            ("0x10", None),
            ("00:15", None),
            ("", None),
        ] {
            assert_eq!(stored_otherwise(text).as_deref(), stored, "{text:?}");
        }
    }

    #[test]
    fn each_field_of_numbers_is_told_once() {
        let field = |name: &str, kind| treepie::Field::new(name, kind);
        let schema = Schema::builder()
            .field(field("zip", treepie::FieldKind::I64))
            .field(field("code", treepie::FieldKind::Keyword))
            .build()
            .unwrap();
        let remarks = Remarks::default();
        for name in ["a.csv", "b.csv"] {
            let mut watch = NumberWatch::new(remarks.clone());
            for (line, zip) in [(2, "1"), (3, "01"), (4, "002")] {
                let document = Document::new().with("code", "007").with("zip", zip);
                watch.look(&Record::Document { line, document }, &schema, Path::new(name));
            }
        }
        let remarks = remarks.0.lock().unwrap();
        assert_eq!(remarks.len(), 1, "{remarks:?}");
        let start = "'zip': '01' (a.csv line 3) is stored as 1; declare it keyword to keep it";
        assert!(remarks[0].text.starts_with(start), "{remarks:?}");
    }
}
