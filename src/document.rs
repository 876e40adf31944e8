//! Documents: lists of field names and values, the unit that is indexed.

use crate::ids::FieldId;
use crate::schema::{EMPTY_FIELD, NULL_FIELD, Schema};
use crate::value::Value;

/// A document on its way into an index: fields with their values, in any order.
///
/// Nothing is checked here; [`IndexWriter::add`](crate::IndexWriter::add) compares it with the schema.
///
/// ```
/// use treepie::Document;
///
/// let document = Document::new().with("title", "Paris (film)").with("year", 1922);
/// assert_eq!(document.values("title").collect::<Vec<_>>(), ["Paris (film)"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    values: Vec<(String, Value)>,
}

impl Document {
    /// A document without values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a value.
    ///
    /// A field may be given again if the schema allows it many values.
    #[must_use]
    pub fn with(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.push(field, value);
        self
    }

    /// Says that a field is an empty list.
    ///
    /// The schema must [keep that](crate::SchemaBuilder::nulls); else there is no field to say it in.
    #[must_use]
    pub fn with_empty(self, field: impl Into<String>) -> Self {
        self.with(EMPTY_FIELD, field.into())
    }

    /// Adds a value in place.
    pub fn push(&mut self, field: impl Into<String>, value: impl Into<Value>) {
        self.values.push((field.into(), value.into()));
    }

    /// Puts a value in the place of all that the field has.
    pub fn set(&mut self, field: impl Into<String>, value: impl Into<Value>) {
        let field = field.into();
        self.remove(&field);
        self.push(field, value);
    }

    /// Takes out all values of a field, and whether it is null or empty.
    pub fn remove(&mut self, field: &str) {
        let says_so = |name: &str, value: &Value| {
            (name == NULL_FIELD || name == EMPTY_FIELD) && value.as_str() == Some(field)
        };
        self.values.retain(|(name, value)| name != field && !says_so(name, value));
    }

    /// All (field, value) pairs in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(field, value)| (&**field, value))
    }

    /// The values for a field of a schema, by whichever spelling of its name.
    pub(crate) fn values_of<'d>(
        &'d self,
        schema: &'d Schema,
        id: FieldId,
    ) -> impl Iterator<Item = &'d Value> {
        self.iter().filter(move |(name, _)| schema.is_named(id, name)).map(|(_, value)| value)
    }

    /// The values of one field in the order they were added.
    pub fn values<'d>(&'d self, field: &'d str) -> impl Iterator<Item = &'d Value> {
        self.iter().filter_map(move |(name, value)| (name == field).then_some(value))
    }
}
