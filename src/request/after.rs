//! Hits that pages go on after.

use crate::ids::DocId;
use crate::value::Value;
use std::hash::{Hash, Hasher};

/// Cursor: the last hit of an earlier page, which [another](super::super::SearchBuilder::after) goes on after.
///
/// [`Hits::cursor`](crate::Hits::cursor) gives it; the constructors are for those that come from elsewhere, as from the address of a
/// page.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum After {
    /// Place of a hit among the best.
    Score {
        /// [Score](crate::Hit::score) of the hit.
        score: f32,
        /// Number of the hit.
        doc: DocId,
    },
    /// Place of a hit among sorted ones.
    Values {
        /// [Values](crate::Hit::sort) of the hit.
        values: Vec<Value>,
        /// Number of the hit.
        doc: DocId,
    },
}

impl After {
    /// A hit by its score.
    pub fn score(score: f32, doc: DocId) -> Self {
        After::Score { score, doc }
    }

    /// A hit by the [values](crate::Hit::sort) that it is sorted by.
    pub fn values(values: impl IntoIterator<Item = impl Into<Value>>, doc: DocId) -> Self {
        After::Values { values: values.into_iter().map(Into::into).collect(), doc }
    }

    /// Number of the hit.
    pub fn doc(&self) -> DocId {
        match self {
            After::Score { doc, .. } | After::Values { doc, .. } => *doc,
        }
    }

    /// Values of the hit, if it is known by them.
    pub(crate) fn sort_values(&self) -> Option<&[Value]> {
        match self {
            After::Values { values, .. } => Some(values),
            After::Score { .. } => None,
        }
    }

    /// Bits of the score, where the hit is known by it.
    fn bits(&self) -> Option<u32> {
        match self {
            After::Score { score, .. } => Some(score.to_bits()),
            After::Values { .. } => None,
        }
    }
}

/// Requests are compared by the bits of their scores.
impl PartialEq for After {
    fn eq(&self, other: &Self) -> bool {
        (self.bits(), self.sort_values(), self.doc())
            == (other.bits(), other.sort_values(), other.doc())
    }
}

impl Eq for After {}

impl Hash for After {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.bits(), self.sort_values(), self.doc()).hash(state);
    }
}
