//! Grouping of hits by the values of a field.

/// Grouping of hits by a field, with their number; for [`collapse`](crate::SearchBuilder::collapse).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Collapse {
    pub(crate) field: String,
    pub(crate) keep: u64,
    pub(crate) missing_alone: bool,
}

impl Collapse {
    /// Groups hits by the values of a field, with the best hit of each.
    ///
    /// The field keeps a [column](crate::Field::column), and no document has more than one value.
    pub fn by(field: impl Into<String>) -> Self {
        Collapse { field: field.into(), keep: 1, missing_alone: false }
    }

    /// Sets the number of hits of each value (default 1, the minimum).
    #[must_use]
    pub fn keep(mut self, hits: u64) -> Self {
        self.keep = hits.max(1);
        self
    }

    /// Makes each document without a value its own group. Otherwise all of them are one.
    #[must_use]
    pub fn missing_alone(mut self) -> Self {
        self.missing_alone = true;
        self
    }

    /// For people.
    pub(crate) fn described(&self) -> String {
        let Collapse { field, keep, missing_alone } = self;
        let of_each = match keep {
            1 => format!("one of each {field}"),
            keep => format!("{keep} of each {field}"),
        };
        let alone = if *missing_alone { ", all that have none" } else { "" };
        format!("{of_each}{alone}")
    }

    /// About how many bytes it takes.
    pub(crate) fn n_bytes(&self) -> usize {
        size_of::<Self>() + self.field.len()
    }
}
