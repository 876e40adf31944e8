//! Choice of the kernel for plain words in one segment, by the number and the lengths of their lists.

/// Lists that there are bounds for.
pub(crate) const BOUNDED_LISTS_MAX: usize = 32;

/// Kernels that find the best documents of some lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListsKernel {
    /// Codes of one list, without sums.
    OneList,
    /// Documents of the shortest of lists that must all match, looked up in the others.
    ShortestList,
    /// Documents of short lists, each scored as a whole.
    ShortLists,
    /// Sums of bounds, or the score of every document where these cannot be computed with.
    Bounds,
    EveryPosting,
}

impl ListsKernel {
    /// The one for so many lists, so many of them short, of which all must match or any.
    pub(crate) fn of(is_all: bool, n_lists: usize, n_short: usize) -> Self {
        match n_lists {
            1 => ListsKernel::OneList,
            // Bounds would cost more than the scores that they spare.
            _ if is_all && n_short > 0 => ListsKernel::ShortestList,
            _ if n_short == n_lists => ListsKernel::ShortLists,
            ..=BOUNDED_LISTS_MAX => ListsKernel::Bounds,
            _ => ListsKernel::EveryPosting,
        }
    }
}
