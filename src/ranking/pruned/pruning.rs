//! Windows, blocks and documents that finding the best looked at.

use crate::plan::{KernelCounts, ListsKernel};

/// Counts of what was looked at and what was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pruning {
    /// Windows of 65,536 documents in which enough of the lists have postings.
    pub(crate) windows_considered: u64,
    /// Windows among these that were left out because of their best codes.
    pub(crate) windows_skipped: u64,
    /// Blocks of 64 documents whose bounds were added up.
    pub(crate) blocks_considered: u64,
    /// Blocks among these that were looked into.
    pub(crate) blocks_scored: u64,
    /// Windows of which everything was scored, or what their essential lists have, as bounds would have left out too little, and these
    /// of them; time that this takes by estimate, and that looking into their blocks takes.
    pub(crate) windows_whole: u64,
    pub(crate) windows_essential: u64,
    pub(crate) whole_ns: u64,
    pub(crate) by_blocks_ns: u64,
    /// Documents whose score was computed.
    pub(crate) documents_scored: u64,
    /// Postings whose part of a score was computed.
    pub(crate) postings: u64,
    /// Number of matching documents, if it came to light on the way.
    pub(crate) matching: Option<u64>,
    /// Whether it was done once more, because a threshold was taken from documents that are deleted.
    pub(crate) searched_twice: bool,
    pub(crate) kernels: KernelCounts,
}

impl Pruning {
    /// Nothing had to be looked at.
    pub(crate) fn nothing() -> Self {
        Pruning { matching: Some(0), ..Pruning::default() }
    }

    /// Names the kernel that did it in one segment, and adds postings that it read.
    pub(super) fn by(self, kernel: ListsKernel, more_postings: u64) -> Self {
        let postings = self.postings + more_postings;
        Pruning { kernels: KernelCounts::one(kernel), postings, ..self }
    }
}

/// Adds what was done in another segment.
impl std::ops::AddAssign for Pruning {
    fn add_assign(&mut self, other: Pruning) {
        self.windows_considered += other.windows_considered;
        self.windows_skipped += other.windows_skipped;
        self.blocks_considered += other.blocks_considered;
        self.blocks_scored += other.blocks_scored;
        self.windows_whole += other.windows_whole;
        self.windows_essential += other.windows_essential;
        self.whole_ns += other.whole_ns;
        self.by_blocks_ns += other.by_blocks_ns;
        self.documents_scored += other.documents_scored;
        self.postings += other.postings;
        self.matching = self.matching.zip(other.matching).map(|(a, b)| a + b);
        self.searched_twice |= other.searched_twice;
        self.kernels += other.kernels;
    }
}
