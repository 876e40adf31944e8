//! Writer of JSON by hand. The shapes are contracts, so they are written in plain sight, and the library needs no
//! serialisation framework. [`Reader`] reads it back.

mod reader;
mod values;

pub use reader::JSON_BYTES_MAX;
pub(crate) use reader::Reader;
pub(crate) use values::{JsonValue, json_names, put_all, read_some};

use std::fmt::{Debug, Display, Write};

/// Appends values to a text. Each method writes one value; `field` writes the name and, but for the
/// first of an object, the comma before it.
#[derive(Default)]
pub(crate) struct Json {
    pub(crate) out: String,
}

impl Json {
    /// The text of one object.
    pub(crate) fn of_object(fields: impl FnOnce(&mut Json)) -> String {
        let mut json = Json::default();
        json.object(fields);
        json.out
    }

    pub(crate) fn object(&mut self, fields: impl FnOnce(&mut Json)) {
        self.out.push('{');
        fields(self);
        self.out.push('}');
    }

    pub(crate) fn array<T>(&mut self, items: &[T], item: impl Fn(&mut Json, &T)) {
        self.out.push('[');
        for (at, value) in items.iter().enumerate() {
            if at > 0 {
                self.out.push(',');
            }
            item(self, value);
        }
        self.out.push(']');
    }

    pub(crate) fn field(&mut self, name: &str) -> &mut Self {
        if !self.out.ends_with('{') {
            self.out.push(',');
        }
        self.string(name);
        self.out.push(':');
        self
    }

    pub(crate) fn number(&mut self, number: impl Display) {
        write!(self.out, "{number}").expect("a String takes every text");
    }

    /// A float, which reads back as it was; what is no number is a text.
    pub(crate) fn float(&mut self, number: impl Debug) {
        let text = format!("{number:?}");
        match text.ends_with(|c: char| c.is_ascii_digit()) {
            true => self.out.push_str(&text),
            false => self.string(&text),
        }
    }

    pub(crate) fn number_or_null(&mut self, number: Option<u64>) {
        match number {
            Some(number) => self.number(number),
            None => self.null(),
        }
    }

    pub(crate) fn boolean(&mut self, value: bool) {
        self.out.push_str(if value { "true" } else { "false" });
    }

    pub(crate) fn null(&mut self) {
        self.out.push_str("null");
    }

    /// JSON that is written already, or null.
    pub(crate) fn raw_or_null(&mut self, json: Option<&str>) {
        self.out.push_str(json.unwrap_or("null"));
    }

    pub(crate) fn string_or_null(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.string(text),
            None => self.null(),
        }
    }

    /// Escapes what JSON demands, and the two line ends that JavaScript sees in strings.
    pub(crate) fn string(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out.push_str("\\\""),
                '\\' => self.out.push_str("\\\\"),
                '\n' => self.out.push_str("\\n"),
                '\r' => self.out.push_str("\\r"),
                '\t' => self.out.push_str("\\t"),
                '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{2028}' | '\u{2029}' => {
                    write!(self.out, "\\u{:04x}", u32::from(c)).expect("a String takes every text");
                }
                _ => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}
