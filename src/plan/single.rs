//! Plans of one operator, of which nothing can be chosen.
//!
//! To count one word takes a look into the dictionary, and one phrase the kernel that places words: a [`Plan`](super::Plan)
//! with its estimates would take half as long again as the count.

use super::PlanOptions;
use crate::ids::FieldId;
use crate::query::{Normal, PhraseSpec};

/// The one operator that counts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SinglePlan<'q> {
    TermScan { field: FieldId, term: &'q [u8] },
    Phrase { field: FieldId, phrase: &'q PhraseSpec },
}

impl<'q> SinglePlan<'q> {
    /// Plans to count what matches; `None` where that takes more than one operator, or more than counting is wanted.
    #[inline]
    pub(crate) fn of(normal: &'q Normal, options: &PlanOptions) -> Option<Self> {
        match normal {
            _ if !options.only_counts() => None,
            Normal::Term { field, term } => Some(SinglePlan::TermScan { field: *field, term }),
            Normal::Phrase { field, phrase } => Some(SinglePlan::Phrase { field: *field, phrase }),
            _ => None,
        }
    }
}
