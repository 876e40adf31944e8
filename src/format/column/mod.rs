//! Values of a field in document order, for sorting, counting and look-ups by document.
//!
//! Written by [`ColumnWriter`], a document after the other; read by [`Column`], a block at a time.
//!
//! # Layout
//!
//! The COLUMN section of a field that keeps one. Integers are little-endian; offsets count from the section's start.
//! `b` is the number of blocks, one for 1,024 documents.
//!
//! ```text
//! part       size  field      meaning
//! blocks        *  blocks     back to back
//! directory   40b  directory  where each block begins and what it holds
//! tail          8  n_values   u64, values of all documents
//!               8  least      u64, the least code of all; 0 if there is none
//!               8  greatest   u64, the greatest
//!               8  base       u64, of the frame: the code of the least number
//!               8  step       u64, its unit
//!               4  n_with     u32, documents with a value
//!               4  n_docs     u32, documents of the segment
//!               4  n_shared   u32, blocks in the frame
//!               1  bits       u8, its width
//!               1  gap        u8, 1 where number 0 says that there is no value, else 0: then all documents have one
//!               2  zero
//! ```
//!
//! A value is a code, a u64 that compares as the value does: of a typed field as the module `value` tells, of keywords
//! the number of the term in the dictionary. An entry of the directory:
//!
//! ```text
//! offset  size  field     meaning
//!      0     8  least     u64, the least code of the block
//!      8     8  greatest  u64, the greatest
//!     16     8  unit      u64, what all codes differ by multiples of; 1 where they do not differ
//!     24     8  start     u64, where its bytes begin
//!     32     4  n_values  u32, its values
//!     36     2  n_with    u16, its documents with a value
//!     38     1  encoding  u8, as below
//!     39     1  width     u8, bits of a number: 0 to 57, or 64
//! ```
//!
//! A number stands for the code `least + unit * number`, in a block that shares the frame for `base + step * (number - gap)`.
//! Numbers are packed one behind the other, lowest bit first. A block is, by its encoding, and all but an empty and a shared
//! one end with seven bytes of zeros:
//!
//! | encoding | name | bytes |
//! |---|---|---|
//! | 0 | empty | none: no document has a value |
//! | 1 | full | a number for each document: all have one |
//! | 2 | gaps | for each document 0, or one more than its number |
//! | 3 | sparse | for each document that has a value its place in the block, u16, ascending; then their numbers |
//! | 4 | many | for each document how many values it and those before have, packed with as many bits as `n_values` has; then, from a new byte on, the numbers, those of a document ascending |
//! | 5 | shared | for each document its number in the frame: unit and width of the block are those of the frame |
//!
//! An empty block has zeros everywhere but in `start`.
//!
//! # Example
//!
//! Three documents, of which the second has no value and the others the codes 1,000 and 1,030. They share the frame:
//!
//! ```text
//! 0000  21 E8 03 00 00 00 00 00  00 06 04 00 00 00 00 00
//! 0010  00 1E 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0020  00 02 00 00 00 02 00 05  02 02 00 00 00 00 00 00
//! 0030  00 E8 03 00 00 00 00 00  00 06 04 00 00 00 00 00
//! 0040  00 E8 03 00 00 00 00 00  00 1E 00 00 00 00 00 00
//! 0050  00 02 00 00 00 03 00 00  00 01 00 00 00 02 01 00
//! 0060  00
//! ```
//!
//! # Invariants
//!
//! - C1: a document's codes ascend, and none is there twice.
//! - C2: they are those whose terms have the document in their posting lists.
//! - C3: least, greatest, unit and counts are what the values say, width the smallest that holds the numbers, and the
//!   encoding the one that [`ColumnWriter`] would take.
//! - C4: the frame is that of all codes: its base is the least, its unit what all differ by multiples of, its width the
//!   smallest for these, and one more if it has a gap.
//!
//! # Checks
//!
//! Opening compares the length with the number of documents. Whoever opens a block compares encoding, width and
//! counts with its length; then no number leads outside of it. Data that is written otherwise than here (C1, C3, C4),
//! or contradicts the posting lists (C2), is found by `verify`.
//!
//! # Cost
//!
//! 40 bytes for 1,024 documents, and for each of these as many bits as the values of its block differ by. One code
//! takes two reads, all codes of a block one read more than that; where all blocks share the frame, a code takes one.
//!
//! # Versions
//!
//! 1: as above. A build that does not know of columns refuses the manifest of an index that has any, by its
//! incompatible feature bit 32; segments without them are what they were. Bit 16, which no release wrote, stood for columns without
//! a frame and is refused.
//!
//! # Why
//!
//! Frame of reference in small blocks, because the values of neighbours are often alike, and because whoever looks for the
//! least or the greatest passes over most blocks after a look at the directory. The unit is there for times to the second
//! kept in microseconds, and for prices that end in 99 or 00.
//!
//! Values in no order at all need as many bits in each block as in all. Then a frame for all blocks costs next to nothing, and
//! saves whoever asks for few documents the directory: half the time at one document of a thousand.

mod at_hand;
mod block;
mod frame;
mod heads;
mod plain;
#[cfg(test)]
mod tests;
mod writer;

pub(crate) use at_hand::AtHand;
pub(crate) use block::{Block, OneEach};
pub(crate) use frame::{Frame, FrameFinder};
pub(crate) use heads::{Few, Heads};
pub(crate) use plain::{Numbers, Plain};
pub(crate) use writer::ColumnWriter;

use crate::bitmap::WINDOW;
use crate::budget::{self, ns};
use crate::bytes::{Source, array_at};
use crate::error::{Error, Result};
use std::ops::Range;

/// Documents of a block.
pub(crate) const BLOCK_DOCS: u32 = 1_024;
/// Blocks of a window of documents.
pub(crate) const WINDOW_BLOCKS: u32 = WINDOW / BLOCK_DOCS;
const ENTRY_LEN: usize = 40;
const TAIL_LEN: usize = 56;
/// Zeros behind packed numbers: one is read with the eight bytes that it begins in.
pub(in crate::format) const SLACK: usize = 7;
/// The most bits that eight bytes hold wherever in the first one they begin.
const WIDTH_MAX: u32 = u64::BITS - 7;
const PLACE_LEN: usize = size_of::<u16>();

/// Encoding of the values of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Empty = 0,
    Full = 1,
    Gaps = 2,
    Sparse = 3,
    Many = 4,
    Shared = 5,
}

impl Encoding {
    fn of_number(number: u8) -> Option<Self> {
        use Encoding::{Empty, Full, Gaps, Many, Shared, Sparse};
        [Empty, Full, Gaps, Sparse, Many, Shared].get(usize::from(number)).copied()
    }
}

/// Entry of a block in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockHead {
    pub(crate) least: u64,
    pub(crate) greatest: u64,
    unit: u64,
    start: u64,
    pub(crate) n_values: u32,
    pub(crate) n_with: u16,
    encoding: Encoding,
    width: u8,
}

impl BlockHead {
    fn encode(&self, out: &mut Vec<u8>) {
        for number in [self.least, self.greatest, self.unit, self.start] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.n_values.to_le_bytes());
        out.extend_from_slice(&self.n_with.to_le_bytes());
        out.extend_from_slice(&[self.encoding as u8, self.width]);
    }

    #[inline(always)] // or it goes through memory, which takes longer than all else
    fn decode(entry: &[u8; ENTRY_LEN]) -> Option<Self> {
        let u64_at = |at| array_at(entry, at).map(u64::from_le_bytes);
        let [encoding, width] = array_at(entry, 38)?;
        Some(BlockHead {
            least: u64_at(0)?,
            greatest: u64_at(8)?,
            unit: u64_at(16)?,
            start: u64_at(24)?,
            n_values: array_at(entry, 32).map(u32::from_le_bytes)?,
            n_with: array_at(entry, 36).map(u16::from_le_bytes)?,
            encoding: Encoding::of_number(encoding)?,
            width,
        })
    }

    /// Bits of one of the numbers that say how many values there are up to a document.
    fn width_of_ends(&self) -> u32 {
        u32::BITS - self.n_values.leading_zeros()
    }

    /// Start of the numbers, and end of the block of `n_docs` documents.
    fn parts(&self, n_docs: u32) -> (usize, usize) {
        let (numbers_at, n_numbers) = match self.encoding {
            Encoding::Empty => (0, 0),
            Encoding::Full | Encoding::Gaps | Encoding::Shared => (0, n_docs as usize),
            Encoding::Sparse => (usize::from(self.n_with) * PLACE_LEN, usize::from(self.n_with)),
            Encoding::Many => {
                let ends = (n_docs as usize * self.width_of_ends() as usize).div_ceil(8);
                (ends, self.n_values as usize)
            }
        };
        // Behind one that is shared lies the next, or the directory.
        let slack = if self.encoding == Encoding::Empty { 0 } else { SLACK };
        (numbers_at, numbers_at + packed_len(n_numbers, u32::from(self.width)) + slack)
    }

    /// Whether a block of `n_docs` documents can be like this.
    #[inline(always)] // as above
    fn is_possible(&self, n_docs: u32) -> bool {
        let (n_with, width) = (u32::from(self.n_with), u32::from(self.width));
        let counts = match self.encoding {
            Encoding::Empty => n_with == 0 && self.n_values == 0,
            Encoding::Full => n_with == n_docs && self.n_values == n_docs,
            Encoding::Gaps | Encoding::Sparse | Encoding::Shared => {
                0 < n_with && n_with <= n_docs && self.n_values == n_with
            }
            // Values of a document differ.
            Encoding::Many => {
                let most = u64::from(n_with) << width.min(u32::BITS);
                0 < n_with
                    && n_with <= n_docs
                    && self.n_values > n_with
                    && u64::from(self.n_values) <= most
            }
        };
        counts && self.least <= self.greatest && (width <= WIDTH_MAX || width == u64::BITS)
    }
}

/// Bytes of so many packed numbers.
pub(in crate::format) fn packed_len(n: usize, width: u32) -> usize {
    (n * width as usize).div_ceil(8)
}

/// The bits that numbers up to `greatest` are packed with.
pub(in crate::format) fn width_of(greatest: u64) -> u32 {
    let width = u64::BITS - greatest.leading_zeros();
    if width > WIDTH_MAX { u64::BITS } else { width }
}

/// Appends numbers, packed.
pub(in crate::format) fn pack(numbers: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let (mut bits, mut n_bits) = (0u128, 0);
    for number in numbers {
        bits |= u128::from(number) << n_bits;
        n_bits += width;
        while n_bits >= 8 {
            out.push(bits as u8);
            bits >>= 8;
            n_bits -= 8;
        }
    }
    if n_bits > 0 {
        out.push(bits as u8);
    }
}

/// One of the numbers packed from `at` on; 0 where that lies outside.
#[inline]
pub(in crate::format) fn unpack(bytes: &[u8], at: usize, width: u32, nth: usize) -> u64 {
    let bit = nth * width as usize;
    let word = array_at(bytes, at + bit / 8).map_or(0, u64::from_le_bytes);
    word >> (bit % 8) & mask_of(width)
}

/// The lowest `width` bits.
#[inline]
fn mask_of(width: u32) -> u64 {
    if width >= u64::BITS { u64::MAX } else { (1 << width) - 1 }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The column of a field, read where it lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column<S> {
    source: S,
    directory_at: u64,
    n_docs: u32,
    n_with: u32,
    n_values: u64,
    least: u64,
    greatest: u64,
    frame: Frame,
    n_shared: u32,
}

impl<'s, S: Source<'s>> Column<S> {
    /// Reads the tail.
    pub(crate) fn open(source: S) -> Result<Self> {
        let tail_at = source.len().saturating_sub(TAIL_LEN as u64);
        let tail = source.bytes(tail_at..source.len())?;
        let read = || {
            let u64_at = |at| array_at(&tail, at).map(u64::from_le_bytes);
            let u32_at = |at| array_at(&tail, at).map(u32::from_le_bytes);
            let n_docs = u32_at(44)?;
            let [width, gap] = array_at(&tail, 52)?;
            let directory = u64::from(n_docs.div_ceil(BLOCK_DOCS)) * ENTRY_LEN as u64;
            Some(Column {
                source,
                directory_at: tail_at.checked_sub(directory)?,
                n_docs,
                n_with: u32_at(40)?,
                n_values: u64_at(0)?,
                least: u64_at(8)?,
                greatest: u64_at(16)?,
                frame: Frame { base: u64_at(24)?, unit: u64_at(32)?, width, gap },
                n_shared: u32_at(48)?,
            })
        };
        read().filter(Column::is_possible).ok_or_else(|| {
            let error = Error::corrupt("reading the column of a field")
                .expected("a directory and a tail")
                .found(format!("something else in {} bytes", source.len()));
            source.locate(tail_at, error)
        })
    }

    fn is_possible(&self) -> bool {
        let width = u32::from(self.frame.width);
        self.least <= self.greatest
            && (width <= WIDTH_MAX || width == u64::BITS)
            && self.frame.gap <= 1
            && self.n_shared <= self.n_blocks()
    }

    /// Documents of the segment.
    pub(crate) fn n_docs(&self) -> u32 {
        self.n_docs
    }

    /// Documents with a value.
    pub(crate) fn n_with(&self) -> u32 {
        self.n_with
    }

    /// Values of all documents.
    pub(crate) fn n_values(&self) -> u64 {
        self.n_values
    }

    /// The least and the greatest code; `None` if no document has a value.
    pub(crate) fn range(&self) -> Option<(u64, u64)> {
        (self.n_values > 0).then_some((self.least, self.greatest))
    }

    /// Whether most blocks have a number for each document, so that neighbours are read together: no document has two values, and
    /// at least half of them have one.
    pub(crate) fn has_neighbours(&self) -> bool {
        self.n_values == u64::from(self.n_with) && self.n_with >= self.n_docs / 2
    }

    pub(crate) fn n_blocks(&self) -> u32 {
        self.n_docs.div_ceil(BLOCK_DOCS)
    }

    /// Head of block `nth` in the directory.
    pub(crate) fn head(&self, nth: u32) -> Result<BlockHead> {
        let at = self.directory_at + u64::from(nth) * ENTRY_LEN as u64;
        let entry = self.source.bytes(at..at + ENTRY_LEN as u64)?;
        let head = entry.first_chunk().and_then(BlockHead::decode);
        let n_docs = self.docs_of(nth);
        head.filter(|head| nth < self.n_blocks() && head.is_possible(n_docs)).ok_or_else(|| {
            let error = Error::corrupt("reading the directory of a column")
                .expected(format!("an entry of a block of {n_docs} documents"))
                .found("another one");
            self.source.locate(at, error)
        })
    }

    /// The values of block `nth`, of which the directory says this.
    pub(crate) fn block(&self, nth: u32, head: BlockHead) -> Result<Block<'s>> {
        let (numbers_at, len) = head.parts(self.docs_of(nth));
        let is_shared = head.encoding == Encoding::Shared;
        // A number is read with all eight bytes that it begins in, and there is always an entry behind.
        let end_max = self.directory_at + if is_shared { SLACK as u64 } else { 0 };
        let end = head.start.checked_add(len as u64).filter(|end| *end <= end_max);
        let bytes = match end {
            Some(end) => self.source.bytes(head.start..end)?,
            None => {
                let error = Error::corrupt("reading a block of a column")
                    .expected(format!("bytes below {}", self.directory_at))
                    .found(format!("{len} from {} on", head.start));
                return Err(self.source.locate(self.directory_at, error));
            }
        };
        let base = if is_shared { self.frame.base } else { head.least };
        let gap = match head.encoding {
            Encoding::Gaps => 1,
            Encoding::Shared => self.frame.gap.into(),
            Encoding::Empty | Encoding::Full | Encoding::Sparse | Encoding::Many => 0,
        };
        Ok(Block { head, bytes, numbers_at, n_docs: self.docs_of(nth), base, gap })
    }

    /// Documents of block `nth`.
    pub(crate) fn docs_of(&self, nth: u32) -> u32 {
        self.n_docs.saturating_sub(nth.saturating_mul(BLOCK_DOCS)).min(BLOCK_DOCS)
    }

    /// Calls `visit` with the codes of each document in turn, but for blocks of which no document is `wanted`: these are not
    /// read.
    pub(crate) fn for_each(
        &self,
        mut wanted: impl FnMut(Range<u32>) -> bool,
        mut visit: impl FnMut(u32, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let mut codes = vec![];
        for nth in 0..self.n_blocks() {
            budget::work(ns::BLOCK_ASKED)?;
            let first = nth * BLOCK_DOCS;
            if !wanted(first..first + self.docs_of(nth)) {
                continue;
            }
            let block = self.block(nth, self.head(nth)?)?;
            for doc in 0..block.n_docs {
                codes.clear();
                for code in block.codes(doc) {
                    // Nobody takes memory for more than there are.
                    if codes.last().is_some_and(|last| *last >= code) {
                        let error = Error::corrupt("reading a block of a column")
                            .expected("the codes of a document ascending")
                            .found(format!("others in block {nth}"));
                        return Err(self.source.locate(self.directory_at, error));
                    }
                    codes.push(code);
                }
                visit(first + doc, &codes)?;
            }
        }
        Ok(())
    }

    /// Reads everything, and compares it with what would be written (C1, C3, C4).
    pub(crate) fn verify(&self) -> Result<()> {
        let (mut writer, mut written, mut at) = (ColumnWriter::new(self.frame), vec![], 0);
        let mut finder = FrameFinder::default();
        let differs = |at| {
            let error = Error::corrupt("verifying the column of a field")
                .expected("what the values of its documents are written as")
                .found("other bytes");
            self.source.locate(at, error)
        };
        let mut compare = |written: &mut Vec<u8>| {
            let end = at + written.len() as u64;
            if end > self.source.len() || *self.source.bytes(at..end)? != **written {
                return Err(differs(at));
            }
            at = end;
            written.clear();
            Ok(())
        };
        let all = |_| true;
        self.for_each(all, |_, codes| {
            codes.iter().for_each(|code| finder.add(*code));
            writer.add(codes.iter().copied(), &mut written);
            if written.is_empty() { Ok(()) } else { compare(&mut written) }
        })?;
        writer.finish(&mut written);
        compare(&mut written)?;
        let frame = finder.frame(self.n_with == self.n_docs);
        if at == self.source.len() && frame == self.frame { Ok(()) } else { Err(differs(at)) }
    }
}
