//! The k best documents of a segment by the sum of their score parts, found without scoring the rest.

mod exhaustive;
#[cfg(test)]
mod tests;

use crate::error::Result;
use crate::ranking::Clause;
use crate::ranking::top::Top;

/// Documents of a container, the range in which lists are combined.
const WINDOW: u32 = 1 << 16;

/// What was looked at and what was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pruning {
    /// Documents whose score was computed.
    pub(crate) documents_scored: u64,
}

/// The memory of finding the best, for the next time.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    exhaustive: exhaustive::Sums,
}

impl Scratch {
    /// Bytes that it holds on to.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.exhaustive.bytes()
    }
}

/// Offers to `top` every document that matches a clause and can be among its best. `base` is the number of
/// the segment's first document.
pub(crate) fn any_of(
    clauses: &[Clause<'_, '_>],
    base: u64,
    top: &mut Top,
    scratch: &mut Scratch,
) -> Result<Pruning> {
    exhaustive::any_of(clauses, base, top, &mut scratch.exhaustive)
}

/// Offers to `top` every document that matches all clauses and can be among its best.
pub(crate) fn all_of(
    clauses: &[Clause<'_, '_>],
    base: u64,
    top: &mut Top,
    scratch: &mut Scratch,
) -> Result<Pruning> {
    exhaustive::all_of(clauses, base, top, &mut scratch.exhaustive)
}
