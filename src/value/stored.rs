//! Values of documents that come back with a hit.

use super::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Stored fields by name.
pub type Fields = BTreeMap<String, Values>;

/// Stored values of a field of a document, in the order they were added.
///
/// ```
/// use treepie::search::Values;
/// use treepie::Value;
///
/// let values: Values = ["a", "b"].into_iter().map(Value::from).collect();
/// assert_eq!(values.iter().collect::<Vec<_>>(), ["a", "b"]);
/// assert_eq!(values.to_string(), "a, b");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values(Vec<Value>);

impl Values {
    /// Iterates over the values.
    pub fn iter(&self) -> impl Iterator<Item = &Value> {
        self.0.iter()
    }

    /// Iterates over the values that are texts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(Value::as_str)
    }

    /// Returns the first value.
    pub fn first(&self) -> Option<&Value> {
        self.0.first()
    }

    /// Returns the number of values; never 0 for a field that a hit has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the values as one slice.
    pub fn as_slice(&self) -> &[Value] {
        &self.0
    }

    pub(crate) fn push(&mut self, value: Value) {
        self.0.push(value);
    }
}

impl<'v> IntoIterator for &'v Values {
    type Item = &'v Value;
    type IntoIter = std::slice::Iter<'v, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl FromIterator<Value> for Values {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        Values(values.into_iter().collect())
    }
}

/// The value, or all of them with commas between.
impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, value) in self.iter().enumerate() {
            f.write_str(if at > 0 { ", " } else { "" })?;
            value.fmt(f)?;
        }
        Ok(())
    }
}
