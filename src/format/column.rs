//! The values of a field in document order: for sorting, for counting, and for whatever begins with a document and asks
//! for its value.
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
//!               8  least      u64, the least code of all; 0 where there is none
//!               8  greatest   u64, the greatest
//!               4  n_with     u32, documents with a value
//!               4  n_docs     u32, documents of the segment
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
//! A number stands for the code `least + unit * number`. Numbers are packed one behind the other, lowest bit first. A block is,
//! by its encoding, and all but an empty one end with seven bytes of zeros:
//!
//! | encoding | name | bytes |
//! |---|---|---|
//! | 0 | empty | none: no document has a value |
//! | 1 | full | a number for each document: all have one |
//! | 2 | gaps | for each document 0, or one more than its number |
//! | 3 | sparse | for each document that has a value its place in the block, u16, ascending; then their numbers |
//! | 4 | many | for each document how many values it and those before have, packed with as many bits as `n_values` has; then, from a new byte on, the numbers, those of a document ascending |
//!
//! An empty block has zeros everywhere but in `start`.
//!
//! # Example
//!
//! Three documents, of which the second has no value and the others the codes 1,000 and 1,030:
//!
//! ```text
//! 0000  21 00 00 00 00 00 00 00  E8 03 00 00 00 00 00 00
//! 0010  06 04 00 00 00 00 00 00  1E 00 00 00 00 00 00 00
//! 0020  00 00 00 00 00 00 00 00  02 00 00 00 02 00 02 02
//! 0030  02 00 00 00 00 00 00 00  E8 03 00 00 00 00 00 00
//! 0040  06 04 00 00 00 00 00 00  02 00 00 00 03 00 00 00
//! ```
//!
//! # Invariants
//!
//! - C1: a document's codes ascend, and none is there twice.
//! - C2: they are those whose terms have the document in their posting lists.
//! - C3: least, greatest, unit and counts are what the values say, width the smallest that holds the numbers, and the
//!   encoding the one that [`ColumnWriter`] would take.
//!
//! # Checks
//!
//! Opening compares the length with the number of documents. Whoever opens a block compares encoding, width and counts with
//! its length; then no number leads outside of it. What is written otherwise than here (C1, C3), or contradicts the posting
//! lists (C2), `verify` finds.
//!
//! # Cost
//!
//! 40 bytes for 1,024 documents, and for each of these as many bits as the values of its block differ by. One code
//! takes two reads, all codes of a block one read more than that.
//!
//! # Versions
//!
//! 1: as above. A build that does not know of columns refuses the manifest of an index that has any, by its
//! incompatible feature bit 16; segments without them are what they were.
//!
//! # Why
//!
//! Frame of reference in small blocks, because the values of neighbours are often alike, and because whoever looks for the
//! least or the greatest passes over most blocks after a look at the directory. The unit is there for times to the second
//! kept in microseconds, and for prices that end in 99 or 00.

use crate::bytes::{Bytes, Source, array_at};
use crate::error::{Error, Result};
use std::cmp::Ordering;
use std::ops::Range;

/// Documents of a block.
pub(crate) const BLOCK_DOCS: u32 = 1_024;
const ENTRY_LEN: usize = 40;
const TAIL_LEN: usize = 32;
/// Zeros behind packed numbers: one is read with the eight bytes that it begins in.
const SLACK: usize = 7;
/// The most bits that eight bytes hold wherever in the first one they begin.
const WIDTH_MAX: u32 = u64::BITS - 7;
const PLACE_LEN: usize = size_of::<u16>();

/// How the values of a block are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Empty = 0,
    Full = 1,
    Gaps = 2,
    Sparse = 3,
    Many = 4,
}

impl Encoding {
    fn of_number(number: u8) -> Option<Self> {
        let all =
            [Encoding::Empty, Encoding::Full, Encoding::Gaps, Encoding::Sparse, Encoding::Many];
        all.get(usize::from(number)).copied()
    }
}

/// What the directory says of a block.
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

    /// Where the numbers begin, and where the block of `n_docs` documents ends.
    fn parts(&self, n_docs: u32) -> (usize, usize) {
        let (numbers_at, n_numbers) = match self.encoding {
            Encoding::Empty => (0, 0),
            Encoding::Full | Encoding::Gaps => (0, n_docs as usize),
            Encoding::Sparse => (usize::from(self.n_with) * PLACE_LEN, usize::from(self.n_with)),
            Encoding::Many => {
                let ends = (n_docs as usize * self.width_of_ends() as usize).div_ceil(8);
                (ends, self.n_values as usize)
            }
        };
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
            Encoding::Gaps | Encoding::Sparse => {
                0 < n_with && n_with <= n_docs && self.n_values == n_with
            }
            // Those of a document differ.
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
fn packed_len(n: usize, width: u32) -> usize {
    (n * width as usize).div_ceil(8)
}

/// The bits that numbers up to `greatest` are packed with.
fn width_of(greatest: u64) -> u32 {
    let width = u64::BITS - greatest.leading_zeros();
    if width > WIDTH_MAX { u64::BITS } else { width }
}

/// Appends numbers, packed.
fn pack(numbers: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
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
fn unpack(bytes: &[u8], at: usize, width: u32, nth: usize) -> u64 {
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

/// Puts the values of a segment's documents together.
#[derive(Debug, Default)]
pub(crate) struct ColumnWriter {
    /// Values of the block's documents, and how many there are up to each.
    values: Vec<u64>,
    ends: Vec<u32>,
    directory: Vec<u8>,
    /// Bytes of the blocks that were written.
    written: u64,
    n_values: u64,
    n_with: u32,
    n_docs: u32,
    range: Option<(u64, u64)>,
}

impl ColumnWriter {
    /// Adds the codes of the next document, ascending and each once; a block is written to `out` where one is complete.
    pub(crate) fn add(&mut self, codes: impl IntoIterator<Item = u64>, out: &mut Vec<u8>) {
        let before = self.values.len();
        self.values.extend(codes);
        self.ends.push(self.values.len() as u32);
        self.n_docs += 1;
        self.n_with += u32::from(self.values.len() > before);
        if self.ends.len() == BLOCK_DOCS as usize {
            self.end_block(out);
        }
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self, out: &mut Vec<u8>) {
        if !self.ends.is_empty() {
            self.end_block(out);
        }
        out.extend_from_slice(&self.directory);
        let (least, greatest) = self.range.unwrap_or_default();
        for number in [self.n_values, least, greatest] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.n_with.to_le_bytes());
        out.extend_from_slice(&self.n_docs.to_le_bytes());
    }

    fn end_block(&mut self, out: &mut Vec<u8>) {
        let before = out.len();
        let head = self.write_block(out);
        head.encode(&mut self.directory);
        self.written += (out.len() - before) as u64;
        self.n_values += self.values.len() as u64;
        if !self.values.is_empty() {
            let (least, greatest) = self.range.unwrap_or((head.least, head.greatest));
            self.range = Some((least.min(head.least), greatest.max(head.greatest)));
        }
        self.values.clear();
        self.ends.clear();
    }

    /// The documents of the block with how many values each has.
    fn counts(&self) -> impl Iterator<Item = u32> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| end - start)
    }

    fn write_block(&self, out: &mut Vec<u8>) -> BlockHead {
        let start = self.written;
        let Some((least, greatest)) = least_and_greatest(&self.values) else {
            return BlockHead {
                least: 0,
                greatest: 0,
                unit: 0,
                start,
                n_values: 0,
                n_with: 0,
                encoding: Encoding::Empty,
                width: 0,
            };
        };
        let mut unit = 0;
        for value in &self.values {
            let step = value - least;
            // Most often it is a multiple of the unit so far, and one division says so.
            if !step.is_multiple_of(unit) {
                unit = gcd(unit, step);
            }
            if unit == 1 {
                break;
            }
        }
        let unit = unit.max(1);
        let most = (greatest - least) / unit;
        let n_docs = self.ends.len();
        let n_with = self.counts().filter(|n| *n > 0).count();
        let n_values = self.values.len();
        let gaps = most.checked_add(1).map(|most| packed_len(n_docs, width_of(most)));
        let sparse = n_with * PLACE_LEN + packed_len(n_with, width_of(most));
        let encoding = match () {
            () if n_values > n_with => Encoding::Many,
            () if n_with == n_docs => Encoding::Full,
            () if gaps.is_some_and(|gaps| gaps <= sparse) => Encoding::Gaps,
            () => Encoding::Sparse,
        };
        let width = width_of(if encoding == Encoding::Gaps { most + 1 } else { most });
        let head = BlockHead {
            least,
            greatest,
            unit,
            start,
            n_values: n_values as u32,
            n_with: n_with as u16,
            encoding,
            width: width as u8,
        };
        let mut numbers = self.values.iter().map(|value| (value - least) / unit);
        match encoding {
            Encoding::Gaps => {
                let number = |n| if n == 0 { 0 } else { numbers.next().map_or(0, |n| n + 1) };
                pack(self.counts().map(number), width, out);
            }
            Encoding::Sparse => {
                let with = (0u16..).zip(self.counts()).filter(|(_, n)| *n > 0);
                with.for_each(|(place, _)| out.extend_from_slice(&place.to_le_bytes()));
                pack(numbers, width, out);
            }
            Encoding::Many => {
                let ends = self.ends.iter().map(|end| u64::from(*end));
                pack(ends, head.width_of_ends(), out);
                pack(numbers, width, out);
            }
            Encoding::Empty | Encoding::Full => pack(numbers, width, out),
        }
        out.extend_from_slice(&[0; SLACK]);
        head
    }
}

fn least_and_greatest(values: &[u64]) -> Option<(u64, u64)> {
    Some((values.iter().copied().min()?, values.iter().copied().max()?))
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
}

impl<'s, S: Source<'s>> Column<S> {
    /// Reads the tail.
    pub(crate) fn open(source: S) -> Result<Self> {
        let tail_at = source.len().saturating_sub(TAIL_LEN as u64);
        let tail = source.bytes(tail_at..source.len())?;
        let read = || {
            let u64_at = |at| array_at(&tail, at).map(u64::from_le_bytes);
            let u32_at = |at| array_at(&tail, at).map(u32::from_le_bytes);
            let n_docs = u32_at(28)?;
            let directory = u64::from(n_docs.div_ceil(BLOCK_DOCS)) * ENTRY_LEN as u64;
            Some(Column {
                source,
                directory_at: tail_at.checked_sub(directory)?,
                n_docs,
                n_with: u32_at(24)?,
                n_values: u64_at(0)?,
                least: u64_at(8)?,
                greatest: u64_at(16)?,
            })
        };
        read().filter(|column| column.least <= column.greatest).ok_or_else(|| {
            let error = Error::corrupt("reading the column of a field")
                .expected("a directory and a tail")
                .found(format!("something else in {} bytes", source.len()));
            source.locate(tail_at, error)
        })
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

    /// The least and the greatest code; `None` where no document has a value.
    pub(crate) fn range(&self) -> Option<(u64, u64)> {
        (self.n_values > 0).then_some((self.least, self.greatest))
    }

    pub(crate) fn n_blocks(&self) -> u32 {
        self.n_docs.div_ceil(BLOCK_DOCS)
    }

    /// What the directory says of block `nth`.
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
        let end = head.start.checked_add(len as u64).filter(|end| *end <= self.directory_at);
        let bytes = match end {
            Some(end) => self.source.bytes(head.start..end)?,
            None => {
                let error = Error::corrupt("reading a block of a column")
                    .expected(format!("bytes below {}", self.directory_at))
                    .found(format!("{len} from {} on", head.start));
                return Err(self.source.locate(self.directory_at, error));
            }
        };
        Ok(Block { head, bytes, numbers_at, n_docs: self.docs_of(nth) })
    }

    fn docs_of(&self, nth: u32) -> u32 {
        self.n_docs.saturating_sub(nth.saturating_mul(BLOCK_DOCS)).min(BLOCK_DOCS)
    }

    /// Calls `visit` with the codes of each document in turn.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(u32, &[u64]) -> Result<()>) -> Result<()> {
        let mut codes = vec![];
        for nth in 0..self.n_blocks() {
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
                visit(nth * BLOCK_DOCS + doc, &codes)?;
            }
        }
        Ok(())
    }

    /// Reads everything, and compares it with what would be written (C1, C3).
    pub(crate) fn verify(&self) -> Result<()> {
        let (mut writer, mut written, mut at) = (ColumnWriter::default(), vec![], 0);
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
        self.for_each(|_, codes| {
            writer.add(codes.iter().copied(), &mut written);
            if written.is_empty() { Ok(()) } else { compare(&mut written) }
        })?;
        writer.finish(&mut written);
        compare(&mut written)?;
        if at == self.source.len() { Ok(()) } else { Err(differs(at)) }
    }
}

/// Where a number lies, and what it stands for.
#[derive(Clone, Copy, Debug, Default)]
struct Spot {
    at: u64,
    shift: u64,
    width: u32,
    gap: u64,
    least: u64,
    unit: u64,
}

/// Codes of a few documents.
#[derive(Debug)]
pub(crate) struct Few {
    codes: [u64; Few::MAX],
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
        Few { codes: [0; Self::MAX], n: 0, n_docs: 0, n_blocks: 0, last: None }
    }

    pub(crate) fn codes(&self) -> &[u64] {
        self.codes.get(..self.n).unwrap_or_default()
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
    /// Entries that are read together: those of a window of 65,536 documents.
    const AT_ONCE: u32 = (1 << 16) / BLOCK_DOCS;

    pub(crate) fn of(column: Column<S>) -> Self {
        Heads { column, first: 0, bytes: Bytes::Mapped(&[]) }
    }

    pub(crate) fn column(&self) -> Column<S> {
        self.column
    }

    /// What the directory says of block `nth`, as [`Column::head`].
    #[inline]
    pub(crate) fn get(&mut self, nth: u32) -> Result<BlockHead> {
        match self.entry(nth) {
            Some(head) => Ok(head),
            None => self.read(nth),
        }
    }

    /// Puts the codes of a few documents into `out`, given by block and place, up to [`Few::MAX`] of them; `false` where a
    /// block has another kind of numbers than one for each document. Nothing is set up for a block, and all are asked for before
    /// the first is read, so that documents which lie each in its own are waited for together.
    pub(crate) fn few(
        &mut self,
        places: impl Iterator<Item = (u32, u32)>,
        out: &mut Few,
    ) -> Result<bool> {
        let source = self.column.source;
        if !source.is_mapped() {
            // Each would be read by itself.
            return Ok(false);
        }
        let (mut spots, mut n_spots) = ([Spot::default(); Few::MAX], 0);
        (out.n, out.n_blocks) = (0, 0);
        for ((nth, place), spot) in places.zip(&mut spots) {
            let head = match self.entry(nth) {
                Some(head) => head,
                None => self.read(nth)?,
            };
            let gap = match head.encoding {
                Encoding::Full => 0,
                Encoding::Gaps => 1,
                Encoding::Empty | Encoding::Sparse | Encoding::Many => return Ok(false),
            };
            let width = u32::from(head.width);
            let bit = u64::from(place) * u64::from(width);
            let at = head.start.saturating_add(bit / 8);
            source.prefetch(at..at.saturating_add(1));
            *spot = Spot { at, shift: bit % 8, width, gap, least: head.least, unit: head.unit };
            n_spots += 1;
            out.n_blocks += u64::from(out.last != Some(nth));
            out.last = Some(nth);
        }
        out.n_docs = n_spots as u64;
        for spot in spots.iter().take(n_spots) {
            let end = spot.at.checked_add(size_of::<u64>() as u64);
            let Some(end) = end.filter(|end| *end <= self.column.directory_at) else {
                return Ok(false);
            };
            let word = source.bytes(spot.at..end)?;
            let word = array_at(&word, 0).map_or(0, u64::from_le_bytes);
            let number = (word >> spot.shift & mask_of(spot.width)).checked_sub(spot.gap);
            if let (Some(number), Some(slot)) = (number, out.codes.get_mut(out.n)) {
                *slot = spot.least.wrapping_add(spot.unit.wrapping_mul(number));
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

/// The values of up to 1,024 documents.
#[derive(Debug)]
pub(crate) struct Block<'s> {
    head: BlockHead,
    bytes: Bytes<'s>,
    numbers_at: usize,
    n_docs: u32,
}

/// The numbers of a block in which a document has one value at the most, and each document has a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneEach<'b> {
    bytes: &'b [u8],
    width: u32,
    /// 1 where a number is one more than it stands for, and 0 says that there is none.
    gap: u64,
    least: u64,
    unit: u64,
}

impl OneEach<'_> {
    /// Whether each document has one, and all fit 32 bits.
    pub(crate) fn are_plain(&self) -> bool {
        self.gap == 0 && self.width < u32::BITS
    }

    /// The least number that stands for `code` or more, where they are [plain](Self::are_plain).
    pub(crate) fn first_number_of(&self, code: u64) -> u32 {
        let number = code.saturating_sub(self.least).div_ceil(self.unit.max(1));
        // Greater than all that have so many bits.
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// The number of the document in this place, where they are plain.
    #[inline]
    pub(crate) fn number(&self, place: u32) -> u32 {
        unpack(self.bytes, 0, self.width, place as usize) as u32
    }

    /// The code of the document in this place of the block.
    #[inline]
    pub(crate) fn code(&self, place: u32) -> Option<u64> {
        let number = unpack(self.bytes, 0, self.width, place as usize).checked_sub(self.gap)?;
        Some(self.least.wrapping_add(self.unit.wrapping_mul(number)))
    }
}

impl Block<'_> {
    /// Its numbers, where each document has a place for one; what reads them fastest.
    #[inline]
    pub(crate) fn one_each(&self) -> Option<OneEach<'_>> {
        let gap = match self.head.encoding {
            Encoding::Full => 0,
            Encoding::Gaps => 1,
            Encoding::Empty | Encoding::Sparse | Encoding::Many => return None,
        };
        let (width, least, unit) = (self.head.width.into(), self.head.least, self.head.unit);
        Some(OneEach { bytes: &self.bytes, width, gap, least, unit })
    }

    /// Which of the block's numbers are those of the document in this place of it.
    #[inline]
    fn numbers(&self, place: u32) -> Range<u32> {
        let none = 0..0;
        match self.head.encoding {
            Encoding::Full => place..place + 1,
            Encoding::Gaps => {
                let number = unpack(&self.bytes, 0, u32::from(self.head.width), place as usize);
                if number == 0 { none } else { place..place + 1 }
            }
            Encoding::Sparse => match self.place_among_few(place) {
                Ok(nth) => nth..nth + 1,
                Err(_) => none,
            },
            Encoding::Many => {
                let end = |nth: u32| {
                    let end = unpack(&self.bytes, 0, self.head.width_of_ends(), nth as usize);
                    (end as u32).min(self.head.n_values)
                };
                place.checked_sub(1).map_or(0, end)..end(place)
            }
            Encoding::Empty => none,
        }
    }

    /// Where a document stands among those of a sparse block that have a value.
    fn place_among_few(&self, place: u32) -> Result<u32, u32> {
        let places = self.bytes.as_chunks::<PLACE_LEN>().0;
        let places = places.get(..usize::from(self.head.n_with)).unwrap_or_default();
        let found = places.binary_search_by_key(&place, |at| u16::from_le_bytes(*at).into());
        found.map(|nth| nth as u32).map_err(|nth| nth as u32)
    }

    #[inline]
    fn code(&self, nth: u32) -> u64 {
        let number = unpack(&self.bytes, self.numbers_at, u32::from(self.head.width), nth as usize);
        let number = match self.head.encoding {
            Encoding::Gaps => number.wrapping_sub(1),
            _ => number,
        };
        self.head.least.wrapping_add(self.head.unit.wrapping_mul(number))
    }

    /// The codes of the document in this place of the block, ascending.
    #[inline]
    pub(crate) fn codes(&self, place: u32) -> impl Iterator<Item = u64> {
        self.numbers(place).map(|nth| self.code(nth))
    }

    /// Whether the document in this place of the block has this code.
    pub(crate) fn contains(&self, place: u32, code: u64) -> bool {
        let mut numbers = self.numbers(place);
        while !numbers.is_empty() {
            let middle = numbers.start + (numbers.end - numbers.start) / 2;
            match self.code(middle).cmp(&code) {
                Ordering::Less => numbers.start = middle + 1,
                Ordering::Equal => return true,
                Ordering::Greater => numbers.end = middle,
            }
        }
        false
    }

    /// The least code of the document in this place of the block.
    #[inline]
    pub(crate) fn least(&self, place: u32) -> Option<u64> {
        self.numbers(place).next().map(|nth| self.code(nth))
    }

    /// The greatest code of the document in this place of the block.
    #[inline]
    pub(crate) fn greatest(&self, place: u32) -> Option<u64> {
        self.numbers(place).next_back().map(|nth| self.code(nth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;
    use crate::test_sizes::each_unless_miri;

    fn section(docs: &[Vec<u64>]) -> Vec<u8> {
        let (mut writer, mut bytes) = (ColumnWriter::default(), vec![]);
        docs.iter().for_each(|codes| writer.add(codes.iter().copied(), &mut bytes));
        writer.finish(&mut bytes);
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Vec<Vec<u64>>> {
        let mut docs = vec![];
        Column::open(bytes)?.for_each(|doc, codes| {
            assert_eq!(doc as usize, docs.len());
            docs.push(codes.to_vec());
            Ok(())
        })?;
        Ok(docs)
    }

    fn encodings(bytes: &[u8]) -> Vec<Encoding> {
        let column = Column::open(bytes).unwrap();
        (0..column.n_blocks()).map(|nth| column.head(nth).unwrap().encoding).collect()
    }

    #[test]
    fn the_example_in_the_docs_is_what_we_write() {
        let bytes = section(&[vec![1_000], vec![], vec![1_030]]);
        let documented = doc_check::hex_dump(include_str!("column.rs"));
        assert_eq!(documented, bytes, "{}", doc_check::render(&bytes));
        let layout = doc_check::layout(include_str!("column.rs"));
        assert_eq!((layout["n_values"], layout["encoding"], layout["width"]), (32, 38, 39));
    }

    /// A thousand blocks of all encodings, widths and units, and what lies at their edges.
    fn blocks() -> Vec<(Encoding, Vec<Vec<u64>>)> {
        let n = u64::from(BLOCK_DOCS);
        let one = |code: &dyn Fn(u64) -> u64| (0..n).map(|nth| vec![code(nth)]).collect();
        let few = |step: usize, code: &dyn Fn(u64) -> u64| {
            let doc = |nth: u64| {
                if (nth as usize).is_multiple_of(step) { vec![code(nth)] } else { vec![] }
            };
            (0..n).map(doc).collect::<Vec<_>>()
        };
        let mut blocks = vec![
            (Encoding::Empty, vec![vec![]; n as usize]),
            (Encoding::Full, one(&|_| 7)),
            (Encoding::Full, one(&|_| u64::MAX)),
            (Encoding::Full, one(&|nth| nth * 1_000_000)),
            (Encoding::Full, one(&|nth| if nth == 0 { 0 } else { u64::MAX })),
            (Encoding::Full, one(&|nth| u64::MAX - nth % 2)),
            (Encoding::Gaps, few(2, &|nth| 500 + nth % 9)),
            (Encoding::Gaps, few(2, &|_| 9)),
            (Encoding::Sparse, few(100, &|nth| nth << 20)),
            (Encoding::Gaps, few(2, &|nth| if nth == 0 { 0 } else { u64::MAX })),
            (Encoding::Sparse, few(2, &|nth| nth.wrapping_sub(2).max(nth % 4))),
            (Encoding::Sparse, few(2_000, &|_| 3)),
            (Encoding::Many, (0..n).map(|nth| (0..nth % 5).map(|n| n * 10).collect()).collect()),
            (Encoding::Many, (0..n).map(|nth| (nth % 3..3).collect()).collect()),
        ];
        for width in each_unless_miri(0..=64, 8) {
            let most = if width == 64 { u64::MAX } else { (1 << width) - 1 };
            let spread = |nth: u64| nth.wrapping_mul(0x9E37_79B9_7F4A_7C15) & most;
            blocks.push((Encoding::Full, one(&|nth| if nth == 1 { most } else { spread(nth) })));
        }
        blocks
    }

    #[test]
    fn what_is_written_is_read_and_in_the_encoding_that_suits_it() {
        let mut all = vec![];
        for (encoding, block) in blocks() {
            let bytes = section(&block);
            assert_eq!(encodings(&bytes), [encoding]);
            assert_eq!(read(&bytes).unwrap(), block);
            Column::open(&bytes[..]).unwrap().verify().unwrap();
            all.extend(block);
        }
        all.truncate(all.len() - 700);
        let bytes = section(&all);
        let column = Column::open(&bytes[..]).unwrap();
        assert_eq!(read(&bytes).unwrap(), all);
        column.verify().unwrap();
        assert_eq!(column.n_docs() as usize, all.len());
        assert_eq!(column.n_values() as usize, all.iter().map(Vec::len).sum::<usize>());
        assert_eq!(column.n_with() as usize, all.iter().filter(|codes| !codes.is_empty()).count());
        assert_eq!(column.range(), Some((0, u64::MAX)));
        let mut heads = Heads::of(column);
        assert!(heads.get(column.n_blocks()).is_err());
        for nth in 0..column.n_blocks() {
            let head = column.head(nth).unwrap();
            assert_eq!(heads.get(nth).unwrap(), head);
            let block = column.block(nth, head).unwrap();
            let mut few = Few::new();
            let some = (0..column.docs_of(nth)).step_by(17).take(Few::MAX);
            let all_have_one = heads.few(some.clone().map(|place| (nth, place)), &mut few).unwrap();
            assert_eq!(all_have_one, block.one_each().is_some());
            if all_have_one {
                let expected = some.clone().filter_map(|place| block.least(place));
                assert!(expected.eq(few.codes().iter().copied()));
                assert_eq!((few.n_docs, few.n_blocks), (some.count() as u64, 1));
            }
            if let Some(numbers) = block.one_each() {
                let places = 0..column.docs_of(nth);
                assert!(places.into_iter().all(|place| numbers.code(place) == block.least(place)));
            }
            let docs = &all[(nth * BLOCK_DOCS) as usize..];
            for (place, codes) in (0..BLOCK_DOCS).zip(docs) {
                assert_eq!(block.least(place), codes.first().copied());
                assert_eq!(block.greatest(place), codes.last().copied());
                assert!(codes.iter().all(|code| block.contains(place, *code)));
                let others = codes.iter().map(|code| code ^ 1).filter(|code| !codes.contains(code));
                assert!(!others.into_iter().any(|code| block.contains(place, code)));
                assert!(codes.iter().all(|code| (head.least..=head.greatest).contains(code)));
            }
        }
    }

    #[test]
    fn a_segment_without_documents_or_values_has_a_column() {
        assert_eq!(read(&section(&[])).unwrap(), Vec::<Vec<u64>>::new());
        let bytes = section(&[vec![], vec![]]);
        assert_eq!(Column::open(&bytes[..]).unwrap().range(), None);
        assert_eq!(read(&bytes).unwrap(), vec![Vec::<u64>::new(); 2]);
    }

    #[test]
    fn times_to_the_second_take_the_bits_of_seconds() {
        let times = |unit: u64| -> Vec<Vec<u64>> {
            (0..1_024).map(|nth| vec![(1 << 63) + nth * nth % 977 * unit]).collect()
        };
        assert_eq!(section(&times(1)).len(), section(&times(1_000_000)).len());
    }

    #[test]
    fn other_bytes_are_refused_or_read_without_harm() {
        let mut docs = vec![];
        for nth in [0, 1, 6, 8, 12] {
            docs.extend_from_slice(&blocks()[nth].1);
        }
        docs.truncate(docs.len() - 900);
        let encodings_of_all = [0, 1, 2, 3, 4].map(|nth| Encoding::of_number(nth).unwrap());
        let sound = section(&docs);
        let column = |bytes: &[u8]| {
            let column = Column::open(bytes)?;
            // A tail that tells of millions of documents is found out by the length.
            assert!(u64::from(column.n_docs()) * 40 / 1_024 <= bytes.len() as u64);
            column.for_each(|_, _| Ok(())).and_then(|()| column.verify())
        };
        assert_eq!(encodings(&sound), encodings_of_all);
        column(&sound).unwrap();
        let (mut n_tried, mut n_found) = (0, 0);
        for at in each_unless_miri(0..sound.len(), sound.len() / 23) {
            for change in each_unless_miri([1, 0x80, 0xFF], 2) {
                n_tried += 1;
                let mut bytes = sound.clone();
                bytes[at] ^= change;
                match column(&bytes) {
                    // Values of other documents, which have checksums and postings; written as they would be.
                    Ok(()) => assert!(section(&read(&bytes).unwrap()) == bytes, "{at} ^ {change}"),
                    Err(_) => n_found += 1,
                }
            }
        }
        assert!(n_found > n_tried / 3, "{n_found} found of {n_tried}");
        // A document with four thousand million values of no bits.
        let mut crafted = section(&[vec![1, 2], vec![7]]);
        let head_at = Column::open(&crafted[..]).unwrap().directory_at as usize;
        crafted[head_at + 32..head_at + 36].fill(0xFF);
        for width in [0, 1, 57] {
            crafted[head_at + 39] = width;
            assert!(column(&crafted).is_err(), "{width}");
        }
        for len in each_unless_miri(0..sound.len(), 499) {
            assert!(column(&sound[..len]).is_err(), "cut to {len}");
        }
    }
}
