//! Values that are selected.

use crate::query::Query;
use crate::value::Value;

/// Values of one field, of which a document must have one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Selection {
    pub(crate) field: String,
    pub(crate) values: Vec<Value>,
    /// Query with dates read at a moment.
    pub(crate) read: Option<Query>,
}

impl Selection {
    pub(crate) fn query(&self) -> Query {
        self.read.clone().unwrap_or_else(|| self.as_given())
    }

    pub(crate) fn as_given(&self) -> Query {
        Query::in_set(self.values.iter().cloned()).in_field(&self.field)
    }

    /// About how many bytes it takes.
    pub(crate) fn n_bytes(&self) -> usize {
        let values = self.values.iter().map(|value| size_of::<Value>() + value.n_bytes());
        // The read query has as many values.
        self.field.len() + values.sum::<usize>() * if self.read.is_some() { 2 } else { 1 }
    }
}
