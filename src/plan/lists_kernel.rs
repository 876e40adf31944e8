//! Choice of the kernel that finds the best of one segment.

use crate::named::named;
use std::ops::AddAssign;

/// Lists that there are bounds for.
pub(crate) const BOUNDED_LISTS_MAX: usize = 32;

/// Kernels that find the best documents of some lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListsKernel {
    /// Codes of one list, without sums, or all of its documents if it is short.
    OneList,
    OneShortList,
    /// Documents of the shortest of lists that must all match, looked up in the others.
    ShortestList,
    /// Documents of short lists, each scored as a whole.
    ShortLists,
    /// Sums of bounds, or the score of every document where these cannot be computed with.
    Bounds,
    EveryPosting,
    /// One word that must be there as if it were the whole query, after what has others, too.
    RequiredWord,
    /// All of its documents, looked up in the other lists.
    RequiredEach,
    /// Bounds put together as in the query.
    Tree,
}

named! {
    /// Name for people.
    pub(crate) ListsKernel {
        OneList: "codes of one list",
        OneShortList: "documents of one short list",
        ShortestList: "documents of the shortest list",
        ShortLists: "documents of short lists",
        Bounds: "sums of bounds",
        EveryPosting: "every posting",
        RequiredWord: "the required word alone, and with others",
        RequiredEach: "documents of the required word, looked up in the others",
        Tree: "bounds put together"
    }
}

impl ListsKernel {
    /// The one for so many lists, so many of them short, of which all must match or any.
    pub(crate) fn of(is_all: bool, n_lists: usize, n_short: usize) -> Self {
        match n_lists {
            1 if n_short == 1 => ListsKernel::OneShortList,
            1 => ListsKernel::OneList,
            // Bounds would cost more than the scores that they spare.
            _ if is_all && n_short > 0 => ListsKernel::ShortestList,
            _ if n_short == n_lists => ListsKernel::ShortLists,
            ..=BOUNDED_LISTS_MAX => ListsKernel::Bounds,
            _ => ListsKernel::EveryPosting,
        }
    }

    /// The one for a sum of words, so many of which must match, so many of these in long lists, and `minimum` of the others.
    pub(crate) fn of_sum(n_required: usize, n_long: usize, minimum: u32) -> Self {
        match (n_required, n_long, minimum) {
            (1, 1, 0) => ListsKernel::RequiredWord,
            _ => ListsKernel::Tree,
        }
    }

    /// Whether it leaves out documents by what they can score at most.
    fn has_bounds(self) -> bool {
        use ListsKernel::{Bounds, OneList, RequiredEach, RequiredWord, Tree};
        matches!(self, OneList | Bounds | RequiredWord | RequiredEach | Tree)
    }
}

/// Segments by the kernel that found their best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KernelCounts([u32; ListsKernel::ALL.len()]);

impl KernelCounts {
    /// One segment.
    pub(crate) fn one(kernel: ListsKernel) -> Self {
        let mut counts = KernelCounts::default();
        counts.0[kernel as usize] = 1;
        counts
    }

    /// Kernels that were taken, with the number of segments.
    pub(crate) fn taken(&self) -> impl Iterator<Item = (ListsKernel, u32)> {
        ListsKernel::ALL.into_iter().zip(self.0).filter(|(_, n)| *n > 0)
    }

    /// Whether any of them left documents out by bounds.
    pub(crate) fn has_bounds(&self) -> bool {
        self.taken().any(|(kernel, _)| kernel.has_bounds())
    }
}

impl AddAssign for KernelCounts {
    fn add_assign(&mut self, other: KernelCounts) {
        self.0.iter_mut().zip(other.0).for_each(|(n, more)| *n += more);
    }
}
