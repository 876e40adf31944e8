//! Reading the directory of a column, and few documents far apart.

use super::{
    BLOCK_DOCS, BlockHead, Column, ENTRY_LEN, Encoding, SLACK, WINDOW_BLOCKS, mask_of, packed_len,
};
use crate::bytes::{Bytes, Source};
use crate::error::Result;
use crate::simd::prefetch::prefetch;

/// Place of a number, and the value that it stands for.
#[derive(Clone, Copy, Debug, Default)]
struct Spot<'s> {
    /// From the byte on that it begins in.
    bytes: &'s [u8],
    shift: u32,
    width: u32,
    gap: u64,
    base: u64,
    unit: u64,
    doc: u32,
}

/// Codes of a few documents.
#[derive(Debug)]
pub(crate) struct Few {
    codes: [u64; Few::MAX],
    /// The documents that have them.
    docs: [u32; Few::MAX],
    n: usize,
    /// Documents, some of which may have no code, and the blocks that these are in.
    pub(crate) n_docs: u64,
    pub(crate) n_blocks: u64,
    /// The last of these, which may go on.
    last: Option<u32>,
}

impl Few {
    pub(crate) const MAX: usize = 64;

    pub(crate) fn new() -> Self {
        let (codes, docs) = ([0; Self::MAX], [0; Self::MAX]);
        Few { codes, docs, n: 0, n_docs: 0, n_blocks: 0, last: None }
    }

    pub(crate) fn codes(&self) -> &[u64] {
        self.codes.get(..self.n).unwrap_or_default()
    }

    /// Documents with their codes, ascending.
    pub(crate) fn docs_and_codes(&self) -> impl Iterator<Item = (u32, u64)> {
        self.docs.iter().copied().zip(self.codes().iter().copied())
    }

    /// Counts the block of the next document.
    #[inline]
    fn is_in(&mut self, nth: u32) {
        self.n_blocks += u64::from(self.last != Some(nth));
        self.last = Some(nth);
    }
}

/// Reads the directory of a column from its beginning towards its end, many entries at once.
#[derive(Debug)]
pub(crate) struct Heads<'s, S> {
    column: Column<S>,
    /// The first of the entries at hand.
    first: u32,
    bytes: Bytes<'s>,
}

impl<'s, S: Source<'s>> Heads<'s, S> {
    /// Entries that are read together: those of a window.
    const AT_ONCE: u32 = WINDOW_BLOCKS;

    pub(crate) fn of(column: Column<S>) -> Self {
        Heads { column, first: 0, bytes: Bytes::Mapped(&[]) }
    }

    pub(crate) fn column(&self) -> Column<S> {
        self.column
    }

    /// Head of block `nth` in the directory, as [`Column::head`].
    #[inline]
    pub(crate) fn get(&mut self, nth: u32) -> Result<BlockHead> {
        match self.entry(nth) {
            Some(head) => Ok(head),
            None => self.read(nth),
        }
    }

    /// Puts the codes of a few documents into `out`, up to [`Few::MAX`] of them, ascending; `false` if a block has another kind
    /// of numbers than one for each document. Nothing is set up for a block, and all are asked for before the first is read, so
    /// that documents which lie each in its own are waited for together.
    pub(crate) fn few(&mut self, docs: impl Iterator<Item = u32>, out: &mut Few) -> Result<bool> {
        if !self.column.source.is_mapped() {
            // Each would be read by itself.
            return Ok(false);
        }
        let source = self.column.source;
        let (mut spots, mut n_spots) = ([Spot::default(); Few::MAX], 0);
        (out.n, out.n_blocks) = (0, 0);
        // The block of the document before is often that of the next, too.
        let (mut at_hand, mut of_block) = (u32::MAX, Spot::default());
        for (doc, spot) in docs.zip(&mut spots) {
            let (nth, place) = (doc / BLOCK_DOCS, doc % BLOCK_DOCS);
            if nth != at_hand {
                let head = match self.entry(nth) {
                    Some(head) => head,
                    None => self.read(nth)?,
                };
                let (gap, base) = match head.encoding {
                    Encoding::Full => (0, head.least),
                    Encoding::Gaps => (1, head.least),
                    Encoding::Shared => (self.column.frame.gap.into(), self.column.frame.base),
                    Encoding::Empty | Encoding::Sparse | Encoding::Many => return Ok(false),
                };
                let (width, unit) = (head.width.into(), head.unit);
                // One is read with the eight bytes that it begins in, even one without bits.
                let len = packed_len(self.column.docs_of(nth) as usize, width) + size_of::<u64>();
                let most = self.column.directory_at + SLACK as u64;
                let end = head.start.saturating_add(len as u64).min(most);
                let Bytes::Mapped(bytes) = source.bytes(head.start.min(end)..end)? else {
                    return Ok(false);
                };
                let (shift, doc) = (0, 0);
                (at_hand, of_block) = (nth, Spot { bytes, shift, width, gap, base, unit, doc });
                out.is_in(nth);
            }
            let bit = place as usize * of_block.width as usize;
            let bytes = of_block.bytes.get(bit / 8..).unwrap_or_default();
            prefetch(bytes.get(..1).unwrap_or_default());
            *spot = Spot { bytes, shift: (bit % 8) as u32, doc, ..of_block };
            n_spots += 1;
        }
        out.n_docs = n_spots as u64;
        for spot in spots.iter().take(n_spots) {
            let Some(word) = spot.bytes.first_chunk() else { return Ok(false) };
            let word = u64::from_le_bytes(*word);
            let number = (word >> spot.shift & mask_of(spot.width)).checked_sub(spot.gap);
            if let (Some(number), Some(slot), Some(doc)) =
                (number, out.codes.get_mut(out.n), out.docs.get_mut(out.n))
            {
                *doc = spot.doc;
                *slot = spot.base.wrapping_add(spot.unit.wrapping_mul(number));
                out.n += 1;
            }
        }
        Ok(true)
    }

    #[inline(always)] // as `decode`
    fn entry(&self, nth: u32) -> Option<BlockHead> {
        let at = nth.checked_sub(self.first)? as usize;
        let entry = self.bytes.as_chunks::<ENTRY_LEN>().0.get(at)?;
        BlockHead::decode(entry).filter(|head| head.is_possible(self.column.docs_of(nth)))
    }

    #[inline(never)]
    fn read(&mut self, nth: u32) -> Result<BlockHead> {
        let first = nth - nth % Self::AT_ONCE;
        let end = first.saturating_add(Self::AT_ONCE).min(self.column.n_blocks()).max(first);
        let at = |nth: u32| self.column.directory_at + u64::from(nth) * ENTRY_LEN as u64;
        self.bytes = self.column.source.bytes(at(first)..at(end))?;
        self.first = first;
        // One that is wrong is told of as ever.
        self.entry(nth).map_or_else(|| self.column.head(nth), Ok)
    }
}
