//! Blocks of a file that walks read.
//!
//! Cost: a pass over the bits of all nodes for each walk, so that only plans that are measured have them.

use crate::format::envelope::{BLOCK_SHIFT, SectionKind};
use std::collections::HashSet;
use std::ops::Range;

/// Blocks of sections, each once; of sections on their own, as if each began with a block.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    read: HashSet<(SectionKind, u64)>,
}

impl Blocks {
    /// Takes note of bytes of a section that were read.
    pub(super) fn note(&mut self, section: SectionKind, bytes: Range<u64>) {
        let last = bytes.end.max(bytes.start + 1) - 1;
        for block in bytes.start >> BLOCK_SHIFT..=last >> BLOCK_SHIFT {
            self.read.insert((section, block));
        }
    }

    /// Number of blocks of which anything was read.
    pub(super) fn count(&self) -> u64 {
        self.read.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_count_once() {
        let mut blocks = Blocks::default();
        let note = |blocks: &mut Blocks, bytes| blocks.note(SectionKind::CODES, bytes);
        note(&mut blocks, 0..1);
        note(&mut blocks, 16_383..16_384);
        assert_eq!(blocks.count(), 1);
        note(&mut blocks, 16_383..16_385);
        assert_eq!(blocks.count(), 2, "over the border");
        blocks.note(SectionKind::LINKS, 0..3 << BLOCK_SHIFT);
        assert_eq!(blocks.count(), 5, "of another section");
    }
}
