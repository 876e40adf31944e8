//! Ways to read inputs that an index remembers. They are its [settings](super::settings) and its [words for no
//! value](super::null_words), so that inputs that are added to it are read in the way of the first.
//!
//! It is the payload of each commit, and that is the caller's own: a text as in a schema file that has nothing of a schema, below a
//! line that says whose it is. A payload that begins in another way is of another program, says nothing here, and is left alone.
//!
//! ```toml
//! # treepie: how inputs of this index are read
//! [input]
//! delimiter = ";"
//! [fields.day]
//! from = "Tag"
//! [index]
//! null_words = ["k.A."]
//! ```

use std::{path::Path, str};

use treepie::{Error, ErrorKind, Index, Schema};

use super::{
    null_words::NullWords,
    schema_file::{File, MoreLines, in_order, quoted},
    settings::{FieldSettings, InputSettings},
    settings_file,
};

/// The first line of a payload that is this tool's.
const FIRST_LINE: &str = "# treepie: how inputs of this index are read";

/// Name of reading a payload, in messages.
const READING: &str = "reading how the index says that its inputs are read";

/// Bytes of a payload at the most.
const BYTES_MAX: usize = 65_536;

/// Settings of the inputs of an index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    pub(crate) settings: InputSettings,
    pub(crate) null_words: NullWords,
}

impl Kept {
    /// Payload of the newest commit of an index, and the fields that it is about.
    pub(crate) fn payload_of(path: &Path) -> Result<(Vec<u8>, Schema), Error> {
        let searcher = Index::open(path)?.searcher()?;
        Ok((searcher.payload().to_vec(), searcher.schema().clone()))
    }

    /// Settings in the payload of a commit of the index at `path`; nothing if that is empty or of another program.
    ///
    /// # Errors
    ///
    /// A payload that is this tool's and means nothing to it: read as if nothing were said, inputs would be read wrongly.
    pub(crate) fn of_payload(
        payload: &[u8],
        schema: &Schema,
        path: &Path,
    ) -> Result<Option<Self>, Error> {
        let Some(payload) = Self::own(payload) else { return Ok(None) };
        Self::parse(payload, schema).map(Some).map_err(|error| error.in_file(path))
    }

    /// A payload that is this tool's.
    pub(crate) fn own(payload: &[u8]) -> Option<&[u8]> {
        let first = payload.split(|byte| *byte == b'\n').next();
        (first == Some(FIRST_LINE.as_bytes())).then_some(payload)
    }

    fn parse(payload: &[u8], schema: &Schema) -> Result<Self, Error> {
        let text = str::from_utf8(payload).map_err(|error| {
            Error::new(ErrorKind::Schema, READING)
                .expected("a text in UTF-8")
                .found(format!("bytes that are none, at {}", error.valid_up_to()))
        })?;
        let file = File { text, what: READING };
        check(&file, schema)?;
        let settings = settings_file::parse(&file, schema)?;
        Ok(Kept { settings, null_words: NullWords::parse(&file)? })
    }

    /// The payload that says this: nothing where all of it is as it is anyway.
    ///
    /// # Errors
    ///
    /// Fails if that is more than a commit carries.
    pub(crate) fn payload(&self, schema: &Schema) -> Result<Vec<u8>, Error> {
        let lines = self.lines(schema);
        if lines.is_empty() {
            return Ok(vec![]);
        }
        let text = format!("{FIRST_LINE}\n{}", lines.print_alone(schema));
        match text.len() {
            0..=BYTES_MAX => Ok(text.into_bytes()),
            n_bytes => Err(Error::new(
                ErrorKind::LimitExceeded,
                "remembering in the index how its inputs are read",
            )
            .expected(format!("settings of at most {BYTES_MAX} bytes"))
            .found(n_bytes.to_string())
            .hint("shorter names in the inputs, fewer words for no value, or formats of all fields under [input] take less room")),
        }
    }

    /// Lines of a schema file that say this.
    pub(crate) fn lines(&self, schema: &Schema) -> MoreLines {
        let Kept { settings, null_words } = self;
        let mut lines = MoreLines::default();
        let input = &mut lines.of_input;
        if let Some(preset) = settings.preset {
            input.push(format!("preset = {}", quoted(&preset.name())));
        }
        input.extend(self.of_all());
        let of_all = &settings.of_all;
        if let Some(format) = &of_all.date_format {
            input.push(format!("date_format = {}", quoted(format.text())));
        }
        input.extend(commas(of_all));
        input.extend(unit(of_all));
        lines.of_index.extend(null_words.of_index().map(words));
        for field in schema.fields() {
            let mut own = vec![];
            if let Some(settings) = settings.fields().iter().find(|own| own.name == field.name) {
                own.extend(settings.from.as_ref().map(|from| format!("from = {}", quoted(from))));
                own.extend(
                    settings
                        .from_parts
                        .as_ref()
                        .map(|[lat, lon]| format!("from = [{}, {}]", quoted(lat), quoted(lon))),
                );
                if let Some(format) = &settings.date_format
                    && settings.date_format != of_all.date_format
                {
                    own.push(format!("date_format = {}", quoted(format.text())));
                }
                let said = commas(settings);
                if said != commas(of_all) {
                    own.extend(said);
                }
                if settings.unit != of_all.unit {
                    own.extend(unit(settings));
                }
                own.extend(settings.split.map(|it| format!("split = {}", quoted(&it.to_string()))));
            }
            own.extend(null_words.of_field(&field.name).map(words));
            if !own.is_empty() {
                lines.of_fields.insert(field.name.clone(), own);
            }
        }
        lines
    }

    /// Settings of the input as a whole, as keys of a schema file.
    fn of_all(&self) -> Vec<String> {
        let settings = &self.settings;
        let delimiter = settings.delimiter.map(|byte| quoted(&char::from(byte).to_string()));
        let encoding = settings.encoding.map(|it| quoted(&it.name().to_ascii_lowercase()));
        let is_true = |said: bool| said.then(|| "true".to_owned());
        [
            ("delimiter", delimiter),
            ("encoding", encoding),
            ("ignore_unknown", is_true(settings.ignore_unknown)),
            ("trim", is_true(settings.trim)),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some(format!("{key} = {}", value?)))
        .collect()
    }

    /// A sentence on what is not as it is anyway; nothing if there is none.
    pub(crate) fn described(&self, path: &Path) -> Option<String> {
        let mut said: Vec<String> = vec![];
        said.extend(self.settings.preset.map(|preset| format!("preset {}", preset.name())));
        said.extend(self.of_all());
        said.extend(self.null_words.of_index().map(words));
        let fields = self.settings.fields();
        let named = |has: &dyn Fn(&FieldSettings) -> bool| {
            fields.iter().filter(|field| has(field)).map(|field| field.name.clone()).collect()
        };
        let of_fields: [(&str, Vec<String>); 7] = [
            ("from", named(&|field| field.from.is_some() || field.from_parts.is_some())),
            ("date_format", named(&|field| field.date_format.is_some())),
            ("decimal_comma", named(&|field| field.decimal_comma == Some(true))),
            ("thousands_comma", named(&|field| field.thousands_comma == Some(true))),
            ("unit", named(&|field| field.unit.is_some())),
            ("split", named(&|field| field.split.is_some())),
            ("null_words", self.null_words.fields()),
        ];
        for (key, names) in of_fields.into_iter().filter(|(_, names)| !names.is_empty()) {
            said.push(format!("{key} of {}", shown(&names)));
        }
        let path = path.display();
        (!said.is_empty()).then(|| {
            format!(
                "read as {path} remembers: {}; `treepie inspect {path} schema` shows it",
                said.join(", ")
            )
        })
    }
}

/// Keys that say what a comma is in numbers.
fn commas(settings: &FieldSettings) -> Vec<String> {
    let said =
        [("decimal_comma", settings.decimal_comma), ("thousands_comma", settings.thousands_comma)];
    said.into_iter().filter_map(|(key, comma)| Some(format!("{key} = {}", comma?))).collect()
}

/// The unit beside numbers, as the key of a schema file.
fn unit(settings: &FieldSettings) -> Option<String> {
    settings.unit.as_ref().map(|unit| format!("unit = {}", quoted(unit)))
}

/// A few of many names.
fn shown(names: &[String]) -> String {
    const SHOWN_MAX: usize = 5;
    let first = names.iter().take(SHOWN_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN_MAX) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// Words for no value, as the key of a schema file.
fn words(words: &[String]) -> String {
    let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    format!("null_words = [{}]", words.join(", "))
}

/// Refuses what is not about inputs, and fields that the index does not have: of these nothing is known here, and what they were
/// meant to do would be left out without a word.
fn check(file: &File<'_>, schema: &Schema) -> Result<(), Error> {
    let table = file.parse()?;
    for (key, span, value) in in_order(table.get_ref()) {
        let entries = in_order(file.table(value, &span, key)?);
        match key {
            "input" => {}
            "index" => {
                let mut entries = entries.into_iter();
                if let Some((key, span, _)) = entries.find(|(key, ..)| *key != NULL_WORDS) {
                    return Err(file.unknown(span, key, NULL_WORDS));
                }
            }
            "fields" => {
                for (name, span, value) in entries {
                    if schema.field(name).is_none() {
                        return Err(file.unknown(span, name, "a field of the index"));
                    }
                    let is_known = |key: &str| {
                        settings_file::KEYS_OF_FIELDS.contains(&key) || key == NULL_WORDS
                    };
                    let keys = in_order(file.table(value, &span, name)?);
                    if let Some((key, span, _)) = keys.into_iter().find(|(key, ..)| !is_known(key))
                    {
                        let known = "from, date_format, decimal_comma, thousands_comma, unit, split or null_words";
                        return Err(file.unknown(span, key, known));
                    }
                }
            }
            _ => return Err(file.unknown(span, key, "input, fields or index")),
        }
    }
    Ok(())
}

const NULL_WORDS: &str = "null_words";
