//! Words for no value, as databases, spreadsheets and statistics programs write them.
//!
//! ```toml
//! [fields.price]
//! type = "f64"
//! null_words = ["missing"]     # of this field, of whatever type
//! [index]
//! null_words = ["NA", "n.a."]  # of all other fields of numbers, dates, booleans and addresses; [] for none
//! ```
//!
//! By default, the [usual words](DEFAULT) count in these fields, in whatever case, and an empty text. Words of a schema
//! file, or of the command line, stand for the defaults and mean themselves as they are written. In fields of texts,
//! keywords and paths every text is a value, "NA" too, unless the field has words of its own: Namibia has that code.
//!
//! Words taken for no value are counted by field and word, and reported once, so that a word that was meant is not lost
//! unseen.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use toml::de::{DeTable, DeValue};
use treepie::{Document, Error, Schema, Value};

use super::{Record, schema_file::File};
use crate::{
    failure::{note, read_text},
    output::grouped,
};

/// Words that mean no value in a typed field, in whatever case.
const DEFAULT: [&str; 9] = ["NA", "N/A", "#N/A", "<NA>", "NULL", "NaN", "\\N", "-", ""];
/// Bytes of the longest of these.
const DEFAULT_BYTES_MAX: usize = 4;

/// Whether a text means no value in a typed field of which nothing is said.
fn is_default(text: &str) -> bool {
    text.len() <= DEFAULT_BYTES_MAX && DEFAULT.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Words of a schema file or of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NullWords {
    /// Words of typed fields; the defaults if there are none.
    typed: Option<Vec<String>>,
    by_field: HashMap<String, Vec<String>>,
}

impl NullWords {
    /// Reads the words of a schema file that is known to be one.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let text = read_text("reading the schema file", path)?;
        Self::parse(&File::of(&text)).map_err(|error| error.in_file(path))
    }

    pub(super) fn parse(file: &File<'_>) -> Result<Self, Error> {
        let mut words = NullWords::default();
        let Ok(table) = file.parse() else { return Ok(words) };
        let tables = |key: &str| table.get_ref().get(key).and_then(|it| it.get_ref().as_table());
        if let Some(of_index) = tables("index") {
            words.typed = words_in(of_index, file)?;
        }
        for (name, field) in tables("fields").into_iter().flatten() {
            if let Some(field) = field.get_ref().as_table()
                && let Some(own) = words_in(field, file)?
            {
                words.by_field.insert(name.get_ref().to_string(), own);
            }
        }
        Ok(words)
    }

    /// Whether a text means no value in a typed field that has no words of its own.
    pub(crate) fn mean_none(&self, text: &str) -> bool {
        match &self.typed {
            Some(words) => words.iter().any(|word| word == text),
            None => is_default(text),
        }
    }

    /// Words of typed fields without words of their own, if any were given.
    pub(super) fn of_index(&self) -> Option<&[String]> {
        self.typed.as_deref()
    }

    /// Words of one field.
    pub(super) fn of_field(&self, name: &str) -> Option<&[String]> {
        self.by_field.get(name).map(Vec::as_slice)
    }

    /// Fields with words of their own.
    pub(super) fn fields(&self) -> Vec<String> {
        let mut names: Vec<_> = self.by_field.keys().cloned().collect();
        names.sort();
        names
    }

    /// The words of fields alone.
    pub(crate) fn without_those_of_index(mut self) -> Self {
        self.typed = None;
        self
    }

    /// Puts words that were typed in the place of those of typed fields: none where the only one is empty.
    pub(crate) fn typed(mut self, words: Option<&[String]>) -> Self {
        if let Some(words) = words {
            let is_none = words.len() == 1 && words[0].is_empty();
            self.typed = Some(if is_none { vec![] } else { words.to_vec() });
        }
        self
    }
}

/// The list behind `null_words`, if there is one.
fn words_in(table: &DeTable<'_>, file: &File<'_>) -> Result<Option<Vec<String>>, Error> {
    let Some(value) = table.get("null_words") else { return Ok(None) };
    let wrong =
        |found: &DeValue<'_>| file.kind_of(value.span(), "null_words", "a list of texts", found);
    let DeValue::Array(words) = value.get_ref() else { return Err(wrong(value.get_ref())) };
    let word = |word: &DeValue<'_>| word.as_str().map(str::to_owned).ok_or_else(|| wrong(word));
    words.iter().map(|it| word(it.get_ref())).collect::<Result<_, _>>().map(Some)
}

/// Number of times that each word was taken for no value, by field.
#[derive(Clone, Debug, Default)]
pub(crate) struct NullsFound(Arc<Mutex<BTreeMap<String, BTreeMap<String, u64>>>>);

impl NullsFound {
    fn add(&self, field: &str, word: &str) {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_field = found.entry(field.to_owned()).or_default();
        *of_field.entry(word.to_owned()).or_default() += 1;
    }

    /// A sentence for each field.
    fn sentences(&self) -> Vec<String> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sentence = |(field, words): (&String, &BTreeMap<String, u64>)| {
            let sum = words.values().sum();
            let number = if sum == 1 { "1 text".into() } else { format!("{} texts", grouped(sum)) };
            let words: Vec<_> = words.keys().map(|word| format!("{word:?}")).collect();
            format!("'{field}': {number} taken for no value ({})", words.join(", "))
        };
        found.iter().map(sentence).collect()
    }

    /// Says on standard error what was taken for no value, if anything was.
    pub(crate) fn print(&self) {
        self.sentences().into_iter().for_each(note);
    }
}

/// Takes the words out of documents of a schema.
pub(crate) struct NullFilter {
    words: NullWords,
    schema: Arc<Schema>,
    found: NullsFound,
    /// Whether a word may begin with a byte, so that most values are passed over at once.
    begins: [bool; 256],
    bytes_max: usize,
}

impl NullFilter {
    pub(crate) fn new(words: NullWords, schema: Arc<Schema>, found: NullsFound) -> Self {
        let mut filter =
            NullFilter { words, schema, found, begins: [false; 256], bytes_max: DEFAULT_BYTES_MAX };
        let words = filter.words.typed.iter().chain(filter.words.by_field.values()).flatten();
        let words: Vec<_> = DEFAULT.into_iter().chain(words.map(String::as_str)).collect();
        for word in words {
            filter.bytes_max = filter.bytes_max.max(word.len());
            for first in word.bytes().take(1) {
                filter.begins[usize::from(first.to_ascii_lowercase())] = true;
                filter.begins[usize::from(first.to_ascii_uppercase())] = true;
            }
        }
        filter
    }

    /// Makes nulls of the words in a document.
    pub(crate) fn apply(&self, record: &mut Record) {
        let Record::Document { document, .. } = record else { return };
        if !document.iter().any(|(name, value)| self.word(name, value).is_some()) {
            return;
        }
        let mut filtered = Document::new();
        for (name, value) in document.iter() {
            match self.word(name, value) {
                Some(word) => {
                    self.found.add(name, word);
                    filtered.push(name, Value::Null);
                }
                None => filtered.push(name, value.clone()),
            }
        }
        *document = filtered;
    }

    /// The word, where a value is one that means none in its field.
    fn word<'v>(&self, name: &str, value: &'v Value) -> Option<&'v str> {
        let text = value.as_str()?;
        // Blanks around a word are none of it in typed fields, as of their values.
        let may_be = match text.bytes().next() {
            None => true,
            Some(first) => self.begins[usize::from(first)] || first.is_ascii_whitespace(),
        };
        let trimmed = if may_be { text.trim() } else { return None };
        if trimmed.len() > self.bytes_max {
            return None;
        }
        let is_typed = self.schema.field(name)?.kind.is_typed();
        let is_null = match (self.words.by_field.get(name), is_typed) {
            (Some(own), false) => own.iter().any(|word| word == text),
            (Some(own), _) => own.iter().any(|word| word == trimmed),
            (None, _) => is_typed && self.words.mean_none(trimmed),
        };
        is_null.then_some(if is_typed { trimmed } else { text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie::{Field, FieldKind};

    fn filtered(schema_file: &str, typed: Option<&[String]>, values: &[(&str, &str)]) -> String {
        let schema = Schema::builder()
            .text("title")
            .field(Field::new("code", FieldKind::Keyword))
            .field(Field::new("price", FieldKind::F64).many(true))
            .field(Field::new("day", FieldKind::Date))
            .field(Field::new("new", FieldKind::Bool))
            .build()
            .unwrap();
        let words = NullWords::parse(&File::of(schema_file)).unwrap().typed(typed);
        let found = NullsFound::default();
        let filter = NullFilter::new(words, Arc::new(schema), found.clone());
        let add = |document: Document, (name, value): &(&str, &str)| document.with(*name, *value);
        let document = values.iter().fold(Document::new(), add);
        let mut record = Record::Document { line: 1, document };
        filter.apply(&mut record);
        let Record::Document { document, .. } = record else { panic!() };
        let shown = document.iter().map(|(name, value)| match value.is_null() {
            true => name.to_uppercase(),
            false => name.to_owned(),
        });
        let shown = shown.collect::<Vec<_>>().join(" ");
        [vec![shown], found.sentences()].concat().join("; ")
    }

    #[test]
    fn words_for_no_value_count_in_fields_of_values_and_are_told() {
        for word in [
            "NA", "N/A", "n/a", "NULL", "null", "Null", "\\N", "NaN", "nan", "-", "#N/A", "<NA>",
            " NA ", "", "  ",
        ] {
            let values =
                [("title", word), ("code", word), ("price", word), ("day", word), ("new", word)];
            let found = filtered("", None, &values);
            assert!(found.starts_with("title code PRICE DAY NEW; "), "{word:?}: {found}");
            assert!(found.contains("'day': 1 text taken for no value (\""), "{found}");
        }
        for value in ["0", "-1", "no", "none", "Nah", "NAN ", "NULLL", "--", "+"] {
            let is_null = value.trim() == "NAN";
            let found = filtered("", None, &[("price", value), ("title", value)]);
            assert_eq!(found.starts_with("PRICE title"), is_null, "{value:?}: {found}");
        }
        let many = [("price", "1"), ("price", "NA"), ("price", "null"), ("price", "NA")];
        let found = filtered("", None, &many);
        assert_eq!(
            found,
            "price PRICE PRICE PRICE; 'price': 3 texts taken for no value (\"NA\", \"null\")"
        );
    }

    #[test]
    fn words_are_set_for_the_index_or_for_a_field() {
        let index = "[index]\nnull_words = [\"missing\", \"n.a.\"]\n";
        let none = "[index]\nnull_words = []\n";
        let field = "[fields.code]\nnull_words = [\"NA\"]\n[fields.price]\nnull_words = [\"?\"]\n";
        let both = format!("{field}{index}");
        let typed = ["x".to_owned()];
        let empty = [String::new()];
        for (file, typed, values, expected) in [
            (
                index,
                None,
                [("price", "missing"), ("day", " n.a. "), ("code", "missing")],
                "PRICE DAY code",
            ),
            (
                index,
                None,
                [("price", "NA"), ("day", "Missing"), ("title", "n.a.")],
                "price day title",
            ),
            (none, None, [("price", "NA"), ("day", ""), ("new", "-")], "price day new"),
            (field, None, [("code", "NA"), ("price", "?"), ("day", "NA")], "CODE PRICE DAY"),
            (field, None, [("code", "na"), ("price", "NA"), ("title", "NA")], "code price title"),
            (
                &both,
                None,
                [("code", "NA"), ("price", "missing"), ("day", "missing")],
                "CODE price DAY",
            ),
            (
                index,
                Some(&typed[..]),
                [("price", "x"), ("day", "missing"), ("code", "x")],
                "PRICE day code",
            ),
            (
                "",
                Some(&empty[..]),
                [("price", "NA"), ("day", ""), ("new", "NULL")],
                "price day new",
            ),
        ] {
            let found = filtered(file, typed, &values);
            assert_eq!(found.split("; ").next(), Some(expected), "{file} {values:?}");
        }
        for (file, words) in [
            (
                "[index]\nnull_words = \"NA\"",
                "a list of texts for 'null_words', found a value of type string (line 2)",
            ),
            ("[fields.a]\n\nnull_words = [1]", "found a value of type integer (line 3)"),
        ] {
            let error = NullWords::parse(&File::of(file)).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
