//! Fields as columns of CSV and TSV. One name has as many columns as a document has values of the field. A vector is the text of
//! its list of numbers.

use serde_json::{Map, Value};
use treepie::search::Fields;
use treepie::{Field, FieldKind};

/// The columns of some fields, once all documents have been seen.
pub(super) struct Columns<'f> {
    /// Each with its number of columns.
    fields: Vec<(&'f Field, usize)>,
    /// Whether any document has no value at all.
    has_empty: bool,
}

impl<'f> Columns<'f> {
    /// One column for each field.
    pub(super) fn new(fields: impl IntoIterator<Item = &'f Field>) -> Self {
        let fields = fields.into_iter().map(|field| (field, 1)).collect();
        Columns { fields, has_empty: false }
    }

    /// Makes room for all values of a document.
    pub(super) fn see(&mut self, stored: &Fields) {
        let mut is_empty = true;
        for (field, n_columns) in &mut self.fields {
            let n_values = stored.get(&field.name).map_or(0, |value| value.iter().count());
            *n_columns = n_values.max(*n_columns);
            is_empty &= n_values == 0;
        }
        self.has_empty |= is_empty;
    }

    /// Whether a row of these would be an empty line, which is no record.
    pub(super) fn has_empty_rows(&self) -> bool {
        self.has_empty && matches!(self.fields[..], [(_, 1)])
    }

    pub(super) fn names(&self) -> Vec<String> {
        let names = self.fields.iter().map(|(field, n)| std::iter::repeat_n(&field.name, *n));
        names.flatten().cloned().collect()
    }

    /// The cells of a document, as many as there are names.
    pub(super) fn cells(&self, values: &Map<String, Value>) -> Vec<Value> {
        let mut cells = vec![];
        for (field, n_columns) in &self.fields {
            let own = match values.get(&field.name) {
                Some(value) if field.kind.vector().is_some() => vectors(field, value),
                Some(value) if matches!(field.kind, FieldKind::Point { .. }) => points(value),
                Some(Value::Array(values)) => values.clone(),
                Some(value) => vec![value.clone()],
                None => vec![],
            };
            let missing = n_columns.saturating_sub(own.len());
            cells.extend(own);
            cells.extend(std::iter::repeat_n(Value::Null, missing));
        }
        cells
    }
}

/// The points of a field, as texts.
fn points(value: &Value) -> Vec<Value> {
    let text = |point: &Value| match (&point["lat"], &point["lon"]) {
        (Value::Number(lat), Value::Number(lon)) => format!("{lat},{lon}").into(),
        _ => point.clone(),
    };
    match value {
        Value::Array(points) => points.iter().map(text).collect(),
        point => vec![text(point)],
    }
}

/// The vectors of a field, as texts.
fn vectors(field: &Field, value: &Value) -> Vec<Value> {
    match value {
        Value::Array(vectors) if field.many => {
            vectors.iter().map(|vector| vector.to_string().into()).collect()
        }
        vector => vec![vector.to_string().into()],
    }
}
