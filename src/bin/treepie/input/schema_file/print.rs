//! The text of a schema file.

use std::{collections::HashMap, fmt::Write};

use treepie::schema::{
    Detail, EMPTY_FIELD, Metric, NULL_FIELD, PATH_SEPARATOR_DEFAULT, POSITION_GAP_DEFAULT,
    VectorParams, VectorValues,
};
use treepie::{Field, FieldKind, Schema};

/// Lines of a schema file beside those that say what a schema is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MoreLines {
    /// In the table `input`.
    pub(in crate::input) of_input: Vec<String>,
    /// In the table `index`.
    pub(in crate::input) of_index: Vec<String>,
    /// In tables of fields, by their names.
    pub(in crate::input) of_fields: HashMap<String, Vec<String>>,
}

impl MoreLines {
    pub(crate) fn is_empty(&self) -> bool {
        *self == MoreLines::default()
    }

    /// The lines as comments, also the head of their own table.
    fn printed(lines: &[String], as_comments: bool, text: &mut String) {
        for line in lines {
            let _ = writeln!(text, "{}{line}", if as_comments { "# " } else { "" });
        }
    }

    /// The text that has these lines and nothing of a schema but the names of fields.
    pub(in crate::input) fn print_alone(&self, schema: &Schema) -> String {
        let mut text = String::new();
        for (head, lines) in self.tables(schema) {
            let _ = writeln!(text, "{head}");
            Self::printed(lines, false, &mut text);
        }
        text
    }

    /// Heads of tables with anything in them, and what that is.
    fn tables<'m>(&'m self, schema: &'m Schema) -> impl Iterator<Item = (String, &'m [String])> {
        let fields = schema.fields().iter().filter_map(|field| {
            let lines = self.of_fields.get(&field.name)?;
            Some((format!("[fields.{}]", key(&field.name)), &lines[..]))
        });
        let input = [("[input]".to_owned(), &self.of_input[..])];
        let index = [("[index]".to_owned(), &self.of_index[..])];
        input.into_iter().chain(fields).chain(index).filter(|(_, lines)| !lines.is_empty())
    }
}

/// The text of a file that [`parse`] reads as this schema, or with `_null` and `_empty` behind fields that were added later.
#[cfg(test)]
pub(crate) fn print(schema: &Schema) -> String {
    print_with(schema, |_| None)
}

/// Prints a schema with a comment behind the type of each field that has one.
pub(crate) fn print_with<'w>(schema: &Schema, why: impl Fn(&Field) -> Option<&'w str>) -> String {
    print_all(schema, why, &MoreLines::default(), false)
}

/// Prints a schema with more lines, as keys or as comments.
pub(crate) fn print_more(schema: &Schema, more: &MoreLines, as_comments: bool) -> String {
    print_all(schema, |_| None, more, as_comments)
}

fn print_all<'w>(
    schema: &Schema,
    why: impl Fn(&Field) -> Option<&'w str>,
    more: &MoreLines,
    as_comments: bool,
) -> String {
    let mut text = String::new();
    if !more.of_input.is_empty() {
        MoreLines::printed(&["[input]".to_owned()], as_comments, &mut text);
        MoreLines::printed(&more.of_input, as_comments, &mut text);
    }
    let is_own =
        |field: &&Field| schema.keeps_nulls() && [NULL_FIELD, EMPTY_FIELD].contains(&&*field.name);
    for field in schema.fields().iter().filter(|field| !is_own(field)) {
        let comment = why(field).map_or_else(String::new, |why| format!(" # {why}"));
        let kind = field.kind.name();
        let _ = writeln!(text, "[fields.{}]\ntype = \"{kind}\"{comment}", key(&field.name));
        if let Some(source) = &field.copy_of {
            let _ = writeln!(text, "copy_of = {}", toml::Value::from(source.as_str()));
        }
        if let FieldKind::Decimal { scale } = field.kind {
            let _ = writeln!(text, "scale = {scale}");
        }
        if let FieldKind::Path { separator } = field.kind
            && separator != PATH_SEPARATOR_DEFAULT
        {
            let _ = writeln!(text, "separator = {}", toml::Value::from(String::from(separator)));
        }
        if let Some(params) = field.kind.vector() {
            let _ = writeln!(text, "dims = {}", params.dims);
            if params.metric != Metric::default() {
                let _ = writeln!(text, "metric = \"{}\"", params.metric.name());
            }
            if params.values != VectorValues::default() {
                let _ = writeln!(text, "values = \"{}\"", params.values.name());
            }
            let of_values = VectorParams::new(params.dims, params.metric).values(params.values);
            if params.codes != of_values.codes {
                let _ = writeln!(text, "codes = \"{}\"", params.codes.name());
            }
            if !params.graph {
                text.push_str("graph = \"none\"\n");
            }
        }
        if let FieldKind::Point { array: Some(array) } = field.kind {
            let _ = writeln!(text, "array = \"{}\"", array.name());
        }
        if let Some(zone) = &field.zone {
            let _ = writeln!(text, "zone = {}", toml::Value::from(zone.as_str()));
        }
        if !field.stored && field.copy_of.is_none() {
            text.push_str("stored = false\n");
        }
        if field.many {
            text.push_str("many = true\n");
        }
        match (field.kind, field.detail) {
            (FieldKind::Text, Detail::Documents) => text.push_str("frequencies = false\n"),
            (FieldKind::Text, Detail::Frequencies) => text.push_str("positions = false\n"),
            _ => {}
        }
        if field.offsets {
            text.push_str("offsets = true\n");
        }
        if field.column != field.kind.is_typed() {
            let _ = writeln!(text, "column = {}", field.column);
        }
        if field.position_gap != POSITION_GAP_DEFAULT {
            let _ = writeln!(text, "position_gap = {}", field.position_gap);
        }
        for (key, spec) in
            [("analyzer", &field.analyzer), ("query_analyzer", &field.query_analyzer)]
        {
            if let Some(filters) = field.normalizer_spec() {
                let _ = writeln!(text, "normalizer = {}", toml::Value::from(filters));
                break;
            }
            if let Some(spec) = spec {
                let _ = writeln!(text, "{key} = {}", toml::Value::from(spec.as_str()));
            }
        }
        if let Some(lines) = more.of_fields.get(&field.name) {
            MoreLines::printed(lines, as_comments, &mut text);
        }
    }
    let texts = schema.fields().iter().filter(|field| field.kind == FieldKind::Text);
    let has_own = !schema.default_fields().eq(texts);
    let order = printed_order(schema);
    if has_own || schema.key().is_some() || schema.keeps_nulls() || order.is_some() {
        text.push_str("[index]\n");
    } else if !more.of_index.is_empty() {
        MoreLines::printed(&["[index]".to_owned()], as_comments, &mut text);
    }
    MoreLines::printed(&more.of_index, as_comments, &mut text);
    if has_own {
        let names: Vec<_> = schema
            .default_fields()
            .map(|field| toml::Value::from(&*field.name).to_string())
            .collect();
        let _ = writeln!(text, "default_fields = [{}]", names.join(", "));
    }
    if let Some(key) = schema.key() {
        let _ = writeln!(text, "key = {}", toml::Value::from(&*key.name));
    }
    if schema.keeps_nulls() {
        text.push_str("nulls = true\n");
    }
    if let Some(order) = order {
        let _ = writeln!(text, "order = {order}");
    }
    text
}

/// The order of the documents of segments, if there is one.
fn printed_order(schema: &Schema) -> Option<String> {
    let list = |names: &mut dyn Iterator<Item = String>| {
        let names: Vec<_> = names.map(|name| toml::Value::from(name).to_string()).collect();
        (!names.is_empty()).then(|| format!("[{}]", names.join(", ")))
    };
    let similar = list(&mut schema.similarity_fields().map(|field| field.name.clone()));
    match (list(&mut schema.order()), similar) {
        (None, Some(_)) if schema.is_similarity_of_all() => Some(format!("\"{SIMILAR}\"")),
        (None, Some(fields)) => Some(format!("{{ {SIMILAR} = {fields} }}")),
        (order, _) => order,
    }
}

/// A name as a TOML key: quoted if it has more than ASCII letters, digits, `_` and `-`.
fn key(name: &str) -> String {
    match name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')) {
        true => name.to_owned(),
        false => quoted(name),
    }
}

/// A text in quotes, on one line whatever is in it: as keys have to be.
pub(crate) fn quoted(text: &str) -> String {
    // TOML has the escapes of JSON, and one more character that does not stand for itself.
    serde_json::Value::from(text).to_string().replace('\u{7F}', "\\u007F")
}

/// The order of similarity.
pub(super) const SIMILAR: &str = "similar";
