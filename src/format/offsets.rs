//! Offsets of words in texts: for each position the bytes of its word.
//!
//! Written by [`OffsetsWriter`] behind the dictionary of a field that keeps offsets, from the parts that
//! [`write_part`] makes of one document each; read by [`Offsets`] a document at a time, by position.
//!
//! # Layout
//!
//! The OFFSETS section of a field that keeps them. Integers are little-endian; offsets count from the
//! section's start. `g` is the number of groups, one for 64 documents.
//!
//! ```text
//! offset  size  field    meaning
//!      0     4  n_docs   u32, documents of the segment
//!      4     4  zero     reserved, zero, ignored
//!      8     *  groups   back to back
//!      *    8g  starts   u64, where each group begins, counted from the first
//! ```
//!
//! A group of up to 64 documents:
//!
//! ```text
//! group   size  field    meaning
//!     0      1  width    bits of a length, 0 to 32
//!     1      *  lengths  bytes of each document's part, packed with `width` bits each, lowest bit first
//!     *      *  parts    back to back
//! ```
//!
//! The part of a document without words is empty. One of a single byte, 0, says that nothing is kept of the
//! document, because its words are not as I1 wants them. Others are, with `b` blocks of 128 words each, of
//! which the last may have fewer:
//!
//! ```text
//! part    size  field    meaning
//!     0      *  n_words  varint
//!     *     2b  widths   u16 a block: bits of each of the three numbers below, 5 bits each; 32,768: from the beginning
//!     *  12b-12 heads    for each block but the first u32 position, u32 byte, u32 bytes of the blocks before
//!     *      *  blocks   back to back
//! ```
//!
//! A block has three columns of packed numbers, lowest bit first, one behind the other and the last byte filled
//! with zeros: for each word how many positions are left free before it, how many bytes lie between
//! it and the end of the word before (from its beginning, where the flag is set), and how many bytes it has.
//! A document begins with position 0 and byte 0; a head says which position the block's first word may have
//! at the least, and from which byte its distance counts.
//!
//! Bytes count over the values of the document as if they stood one behind the other with nothing between, so that
//! whoever knows the lengths of the values knows which one a word belongs to.
//!
//! # Example
//!
//! Two documents, `A bc` and one of the values `The d` and `ef`, without `the`: the words have positions 0 and 1, and
//! 1 and 102; the bytes 0 to 1 and 2 to 4, and 4 to 5 and 5 to 7.
//!
//! ```text
//! 0000  02 00 00 00 00 00 00 00  03 34 02 20 08 26 02 67
//! 0010  08 01 32 91 00 00 00 00  00 00 00 00
//! ```
//!
//! # Invariants
//!
//! - I1: the positions of a part ascend, its words do not begin before the one before, and have a byte at least;
//!   no number of a block has more than 31 bits, and no sum of them more than 32.
//! - I2: widths are the smallest that hold their numbers; the flag is set only where words overlap.
//! - I3: the positions of a part are those that the posting lists have for the document.
//! - I4: no byte is left over.
//!
//! # Checks
//!
//! Opening compares the length with the number of documents. A read refuses what leads outside of its group or
//! part and sums of more than 32 bits; it takes memory for one block whatever the bytes say. `verify` writes every
//! part again and compares (I1, I2, I4), and compares positions with those of the posting lists (I3).
//!
//! # Cost
//!
//! A document takes three small reads, a position in it one or two more, of a block that is unpacked as a
//! whole, 128 words. Positions that follow each other are in the block at hand.
//!
//! In bytes, as `treepie inspect INDEX storage` tells: 58,357,258 for the bodies of 144,245 Wikipedia articles, whose index
//! grows from 415.6 to 473.9 MB; 11,106,862 for 2,122,907 titles of Wikipedia, from 55.7 to 66.8 MB.
//!
//! # Versions
//!
//! 1: as above. A build that does not know of offsets refuses the manifest of an index that has any, by its
//! incompatible feature bit 1; segments without them are what they were.
//!
//! # Why
//!
//! By document and not by term, because whoever shows a document asks for many words of it and of no other: they
//! lie together, neighbouring words are hardly a blank apart where the occurrences of one term are far from each
//! other, positions that follow each other take no bit, and posting lists, which every query reads, stay as they are. Merging
//! copies parts.

use crate::bytes::{ByteReader, Bytes, Piece, Source, array_at, put_at, write_varint};
use crate::error::{Error, Result};
use crate::format::ranked::BitWriter;
use crate::plural::counted;
use crate::simd::packed::bits_at;
use std::ops::Range;

const GROUPS_AT: u64 = 8;
const START_LEN: u64 = 8;
/// Documents of a group.
const GROUP: usize = 64;
/// Words of a block.
const BLOCK: usize = 128;
const HEAD_LEN: u64 = 12;
const WIDTHS_LEN: u64 = 2;
const N_COLUMNS: usize = 3;
const WIDTH_BITS: u32 = 5;
const WIDTH_MAX: u32 = (1 << WIDTH_BITS) - 1;
const FROM_BEGINNING: u16 = 1 << 15;
/// Bytes of the longest number of words.
const N_WORDS_LEN_MAX: u64 = 5;
/// The part of a document of which nothing is kept.
const NOT_KEPT: &[u8] = &[0];

/// A word of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) position: u32,
    /// The first of its bytes, over all values of the document.
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl Word {
    /// The byte behind it.
    pub(crate) fn end(&self) -> Option<u32> {
        self.start.checked_add(self.len)
    }
}

/// Numbers that those of a word count from.
#[derive(Clone, Copy, Default)]
struct Before {
    /// The least position that the word may have.
    position: u32,
    /// Start of the word before …
    start: u32,
    /// … and ends.
    end: u32,
}

impl Before {
    /// The numbers that stand for a word, and what the next one counts from; `None` if they break I1.
    fn numbers(self, word: &Word, from_beginning: bool) -> Option<([u32; N_COLUMNS], Before)> {
        let free = word.position.checked_sub(self.position)?;
        let distance =
            word.start.checked_sub(if from_beginning { self.start } else { self.end })?;
        let position = word.position.checked_add(1)?;
        let next = Before { position, start: word.start, end: word.end()? };
        let numbers = [free, distance, word.len];
        let fit = numbers.iter().all(|number| number >> WIDTH_MAX == 0);
        (fit && word.len > 0).then_some((numbers, next))
    }
}

/// Appends the part of a document with these words; that of one of which nothing is kept if they are not as they
/// should be.
pub(crate) fn write_part(words: &[Word], out: &mut Vec<u8>) {
    let start = out.len();
    if !words.is_empty() && write_words(words, out).is_none() {
        out.truncate(start);
        out.extend_from_slice(NOT_KEPT);
    }
}

fn write_words(words: &[Word], out: &mut Vec<u8>) -> Option<()> {
    write_varint(out, words.len() as u64);
    let widths_at = out.len();
    let n_blocks = words.len().div_ceil(BLOCK);
    let heads_at = widths_at + n_blocks * WIDTHS_LEN as usize;
    let blocks_at = heads_at + (n_blocks - 1) * HEAD_LEN as usize;
    out.resize(blocks_at, 0);
    let mut before = Before::default();
    let mut columns = [[0; BLOCK]; N_COLUMNS];
    for (nth, block) in words.chunks(BLOCK).enumerate() {
        let first = before;
        // Words overlap in few fields, and then in nearly all blocks.
        let mut from_beginning = false;
        let mut read = |from_beginning: bool| {
            before = first;
            let [free, distances, lengths] = &mut columns;
            let slots = free.iter_mut().zip(distances).zip(lengths);
            for (word, ((free, distance), len)) in block.iter().zip(slots) {
                ([*free, *distance, *len], before) = before.numbers(word, from_beginning)?;
            }
            Some(())
        };
        if read(false).is_none() {
            from_beginning = true;
            read(true)?;
        }
        if nth > 0 {
            let byte = if from_beginning { first.start } else { first.end };
            let offset = u32::try_from(out.len() - blocks_at).ok()?;
            let head_at = heads_at + (nth - 1) * HEAD_LEN as usize;
            put_at(out, head_at, first.position.to_le_bytes());
            put_at(out, head_at + 4, byte.to_le_bytes());
            put_at(out, head_at + 8, offset.to_le_bytes());
        }
        let mut written = if from_beginning { FROM_BEGINNING } else { 0 };
        let mut bits = BitWriter::default();
        for (nth, column) in (0..).zip(&columns) {
            let column = column.iter().take(block.len());
            let width = u32::BITS - column.clone().fold(0, |all, n| all | n).leading_zeros();
            written |= (width as u16) << (nth * WIDTH_BITS);
            column.for_each(|number| bits.push(*number, width, out));
        }
        bits.finish(out);
        put_at(out, widths_at + nth * WIDTHS_LEN as usize, written.to_le_bytes());
    }
    Some(())
}

/// Puts the parts of a segment's documents together.
#[derive(Debug)]
pub(crate) struct OffsetsWriter {
    lengths: Vec<u32>,
    parts: Vec<u8>,
    starts: Vec<u8>,
    /// Bytes of the groups that were written.
    written: u64,
}

impl OffsetsWriter {
    /// Starts the section of a segment of `n_docs` documents.
    pub(crate) fn start(n_docs: u32, out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(&n_docs.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        OffsetsWriter { lengths: vec![], parts: vec![], starts: vec![], written: 0 }
    }

    /// Adds the part of the next document; a group is written to `out` if one is complete.
    pub(crate) fn add(&mut self, part: &[u8], out: &mut Vec<u8>) {
        self.lengths.push(part.len() as u32);
        self.parts.extend_from_slice(part);
        if self.lengths.len() == GROUP {
            self.end_group(out);
        }
    }

    fn end_group(&mut self, out: &mut Vec<u8>) {
        self.starts.extend_from_slice(&self.written.to_le_bytes());
        let before = out.len();
        let width = u32::BITS - self.lengths.iter().fold(0, |all, len| all | len).leading_zeros();
        out.push(width as u8);
        let mut bits = BitWriter::default();
        self.lengths.iter().for_each(|len| bits.push(*len, width, out));
        bits.finish(out);
        out.extend_from_slice(&self.parts);
        self.written += (out.len() - before) as u64;
        self.lengths.clear();
        self.parts.clear();
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self, out: &mut Vec<u8>) {
        if !self.lengths.is_empty() {
            self.end_group(out);
        }
        out.extend_from_slice(&self.starts);
    }
}

/// The offsets of a field's documents, read where they lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offsets<S> {
    source: S,
    n_docs: u32,
    starts_at: u64,
}

impl<'s, S: Source<'s>> Offsets<S> {
    /// Reads the head.
    pub(crate) fn open(source: S) -> Result<Self> {
        let head = source.bytes(0..source.len().min(GROUPS_AT))?;
        let n_docs = array_at(&head, 0).map_or(0, u32::from_le_bytes);
        let starts = (n_docs as usize).div_ceil(GROUP) as u64 * START_LEN;
        let starts_at = source.len().checked_sub(starts).filter(|at| *at >= GROUPS_AT);
        match starts_at {
            Some(starts_at) => Ok(Offsets { source, n_docs, starts_at }),
            None => Err(source.locate(
                0,
                Error::corrupt("reading the offsets of a field")
                    .expected(format!("those of {n_docs} documents"))
                    .found(counted(source.len(), "byte")),
            )),
        }
    }

    pub(crate) fn n_docs(&self) -> u32 {
        self.n_docs
    }

    /// Range of the part of a document.
    fn part_range(&self, doc: u32) -> Result<Range<u64>> {
        if doc >= self.n_docs {
            return Err(self.damage(0, format!("no document {doc} of {}", self.n_docs)));
        }
        let (group, nth) = (doc as usize / GROUP, doc as usize % GROUP);
        let at = self.starts_at + group as u64 * START_LEN;
        let start = self.source.bytes(at..at + START_LEN)?;
        let start = array_at(&start, 0).map_or(0, u64::from_le_bytes);
        let outside = || self.damage(at, format!("a group at byte {start}"));
        let end = self.starts_at;
        let at = GROUPS_AT.checked_add(start).filter(|at| *at < end).ok_or_else(outside)?;
        let width = self.source.bytes(at..at + 1)?.first().copied().ok_or_else(outside)?;
        let width = u32::from(width);
        if width > u32::BITS {
            return Err(self.damage(at, format!("lengths of {width} bits")));
        }
        let n_docs = (self.n_docs as usize - group * GROUP).min(GROUP);
        let parts_at = at + 1 + (n_docs * width as usize).div_ceil(8) as u64;
        if parts_at > end {
            return Err(outside());
        }
        let packed = self.source.bytes(at + 1..parts_at)?;
        let len = |nth: usize| u64::from(bits_at(&packed, nth * width as usize, width));
        let start = parts_at + (0..nth).map(len).sum::<u64>();
        let part = start..start + len(nth);
        if part.end > end { Err(outside()) } else { Ok(part) }
    }

    /// The part of a document as it is, for copying into another segment.
    pub(crate) fn part(&self, doc: u32) -> Result<Bytes<'s>> {
        self.source.bytes(self.part_range(doc)?)
    }

    /// The words of a document; `None` if nothing is kept of it.
    pub(crate) fn words(&self, doc: u32) -> Result<Option<Words<'s, S>>> {
        let part = self.part_range(doc)?;
        let mut piece = Piece::new(self.source, part.clone());
        let head = piece.get(part.start..part.end.min(part.start + N_WORDS_LEN_MAX))?;
        let mut reader = ByteReader::new(head);
        let n_words = if part.is_empty() { Some(0) } else { reader.varint_u32() };
        let widths_at = part.start + if part.is_empty() { 0 } else { reader.position() as u64 };
        let n_words = n_words.ok_or_else(|| self.damage(part.start, "a number that is none"))?;
        if n_words == 0 && !part.is_empty() {
            return match widths_at == part.end {
                true => Ok(None),
                false => Err(self.damage(part.start, "no words, and bytes behind them")),
            };
        }
        let n_blocks = n_words.div_ceil(BLOCK as u32);
        let heads_at = widths_at + u64::from(n_blocks) * WIDTHS_LEN;
        let blocks_at = heads_at + u64::from(n_blocks.saturating_sub(1)) * HEAD_LEN;
        if blocks_at > part.end {
            return Err(self.damage(part.start, counted(n_words, "word")));
        }
        Ok(Some(Words {
            offsets: *self,
            piece,
            n_words,
            n_blocks,
            widths_at,
            heads_at,
            blocks: blocks_at..part.end,
            block: u32::MAX,
            len: 0,
            words: [Word::default(); BLOCK],
        }))
    }

    /// Checks I1, I2 and I4 by writing every part once more, and calls `visit` with each document and its words,
    /// of which there are none if they are not kept.
    pub(crate) fn verify(
        &self,
        mut visit: impl FnMut(u32, Option<&[Word]>) -> Result<()>,
    ) -> Result<()> {
        let mut section = vec![];
        let mut writer = OffsetsWriter::start(self.n_docs, &mut section);
        // Groups are compared as they fill, so that memory is for one of them.
        let mut at = 0;
        let (mut all, mut part) = (vec![], vec![]);
        for doc in 0..self.n_docs {
            part.clear();
            match self.words(doc)? {
                Some(mut words) => {
                    all.clear();
                    words.for_each(|word| all.push(word))?;
                    write_part(&all, &mut part);
                    visit(doc, Some(&all))?;
                }
                None => {
                    part.extend_from_slice(NOT_KEPT);
                    visit(doc, None)?;
                }
            }
            writer.add(&part, &mut section);
            at = self.compare(at, &mut section)?;
        }
        writer.finish(&mut section);
        match self.compare(at, &mut section)? == self.source.len() {
            true => Ok(()),
            false => Err(self.damage(at, "bytes of no document")),
        }
    }

    /// Compares what was written with what is at `at`, and forgets it.
    fn compare(&self, at: u64, written: &mut Vec<u8>) -> Result<u64> {
        let end = at + written.len() as u64;
        if end > self.source.len() || *self.source.bytes(at..end)? != **written {
            return Err(self.damage(at, "other bytes than its words make"));
        }
        written.clear();
        Ok(end)
    }

    #[cold]
    fn damage(&self, at: u64, found: impl Into<String>) -> Error {
        self.source.locate(at, Error::corrupt("reading the offsets of a field").found(found))
    }
}

/// The words of one document, by position.
#[derive(Debug)]
pub(crate) struct Words<'s, S> {
    offsets: Offsets<S>,
    piece: Piece<'s, S>,
    n_words: u32,
    n_blocks: u32,
    widths_at: u64,
    heads_at: u64,
    blocks: Range<u64>,
    /// The block at hand, none at first, and its words.
    block: u32,
    len: usize,
    words: [Word; BLOCK],
}

impl<'s, S: Source<'s>> Words<'s, S> {
    /// The word at a position.
    pub(crate) fn find(&mut self, position: u32) -> Result<Option<Word>> {
        let is_at_hand = |words: &[Word]| {
            let (first, last) = (words.first(), words.last());
            first
                .zip(last)
                .is_some_and(|(first, last)| (first.position..=last.position).contains(&position))
        };
        if !is_at_hand(self.words_at_hand()) {
            let (mut low, mut high) = (0, self.n_blocks);
            if high == 0 {
                return Ok(None);
            }
            // The last block that may begin with the position, or the first.
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                let is_before = self.head(middle)?.0 <= position;
                (low, high) = if is_before { (middle, high) } else { (low, middle) };
            }
            self.load(low)?;
        }
        let words = self.words_at_hand();
        let at = words.binary_search_by_key(&position, |word| word.position);
        Ok(at.ok().and_then(|at| words.get(at)).copied())
    }

    /// The words of the block at hand.
    fn words_at_hand(&self) -> &[Word] {
        // `load` keeps `len` within the array.
        self.words.get(..self.len).unwrap_or_default()
    }

    /// Calls `visit` with every word.
    pub(crate) fn for_each(&mut self, mut visit: impl FnMut(Word)) -> Result<()> {
        for block in 0..self.n_blocks {
            self.load(block)?;
            self.words_at_hand().iter().copied().for_each(&mut visit);
        }
        Ok(())
    }

    /// The least position of a block's first word, from where its distance counts, and where the block begins.
    fn head(&mut self, block: u32) -> Result<(u32, u32, u32)> {
        let Some(nth) = block.checked_sub(1) else { return Ok((0, 0, 0)) };
        let at = self.heads_at + u64::from(nth) * HEAD_LEN;
        let mut reader = ByteReader::new(self.piece.get(at..at + HEAD_LEN)?);
        let mut number = || reader.u32().unwrap_or_default();
        Ok((number(), number(), number()))
    }

    /// Unpacks a block.
    fn load(&mut self, block: u32) -> Result<()> {
        if self.block == block {
            return Ok(());
        }
        // Nothing is at hand if this fails.
        (self.block, self.len) = (u32::MAX, 0);
        let at = self.widths_at + u64::from(block) * WIDTHS_LEN;
        let widths = array_at(self.piece.get(at..at + WIDTHS_LEN)?, 0).unwrap_or_default();
        let widths = u16::from_le_bytes(widths);
        let (position, byte, offset) = self.head(block)?;
        let from_beginning = widths & FROM_BEGINNING != 0;
        let width = |nth: u32| u32::from(widths) >> (nth * WIDTH_BITS) & WIDTH_MAX;
        let widths: [u32; N_COLUMNS] = std::array::from_fn(|nth| width(nth as u32));
        let n = (self.n_words - block * BLOCK as u32).min(BLOCK as u32) as usize;
        let start = self.blocks.start.saturating_add(offset.into());
        let len = (n * widths.iter().sum::<u32>() as usize).div_ceil(8) as u64;
        if start + len > self.blocks.end {
            return Err(self.offsets.damage(at, "a block that ends outside of its document"));
        }
        let bytes = self.piece.get(start..start + len)?;
        let mut column_at = 0;
        let [positions, distances, lengths] = widths.map(|width| {
            let first = column_at;
            column_at += n * width as usize;
            move |at: usize| bits_at(bytes, first + at * width as usize, width)
        });
        let (mut position, mut byte) = (Some(position), byte);
        for (at, word) in self.words.iter_mut().take(n).enumerate() {
            let found = position.and_then(|position| {
                let position = position.checked_add(positions(at))?;
                let start = byte.checked_add(distances(at))?;
                Some(Word { position, start, len: lengths(at) })
            });
            let (Some(found), Some(end)) = (found, found.as_ref().and_then(Word::end)) else {
                let outside = "positions or bytes above 4294967295";
                return Err(self.offsets.damage(self.widths_at, outside));
            };
            byte = if from_beginning { found.start } else { end };
            position = found.position.checked_add(1);
            *word = found;
        }
        (self.block, self.len) = (block, n);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::format::doc_check;
    use crate::test_sizes::{each_unless_miri, unless_miri};

    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u32) -> u32 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((self.0 >> 33) % u64::from(n)) as u32
        }
    }

    fn words(words: &[(u32, u32, u32)]) -> Vec<Word> {
        let word = |&(position, start, len)| Word { position, start, len };
        words.iter().map(word).collect()
    }

    /// Words at some distance; `overlap` lets them begin before the end of the one before.
    fn random_words(random: &mut Random, n: usize, overlap: bool) -> Vec<Word> {
        let (mut position, mut byte) = (0, 0);
        let mut next = |_| {
            position += if random.below(20) == 0 { random.below(300) } else { 0 };
            byte += if random.below(9) == 0 { random.below(70) } else { 1 };
            let word = Word { position, start: byte, len: 1 + random.below(12) };
            position += 1;
            byte += if overlap { random.below(3) } else { word.len };
            word
        };
        (0..n).map(&mut next).collect()
    }

    fn section(documents: &[Vec<Word>]) -> Vec<u8> {
        let (mut bytes, mut part) = (vec![], vec![]);
        let mut writer = OffsetsWriter::start(documents.len() as u32, &mut bytes);
        for words in documents {
            part.clear();
            write_part(words, &mut part);
            writer.add(&part, &mut bytes);
        }
        writer.finish(&mut bytes);
        bytes
    }

    fn documents() -> Vec<Vec<Word>> {
        let mut random = Random(3);
        let mut documents = vec![vec![]; 70];
        for &n in unless_miri(&[1, 2, 3, 127, 128, 129, 256, 257, 1000][..], &[1, 129]) {
            documents.push(random_words(&mut random, n, false));
            documents.push(random_words(&mut random, n, true));
        }
        // No word of one block overlaps, all of the next do, and then none again.
        let mut mixed = random_words(&mut random, 128, false);
        for (n, overlap) in [(128, true), (128, false)] {
            let last = *mixed.last().unwrap();
            let moved = |word: Word| Word {
                position: last.position + 1 + word.position,
                start: last.start + last.len + word.start,
                ..word
            };
            mixed.extend(random_words(&mut random, n, overlap).into_iter().map(moved));
        }
        documents.push(mixed);
        documents.push(words(&[(0, 0, (1 << 31) - 1), ((1 << 31) - 1, u32::MAX - 1, 1)]));
        documents.resize(150, vec![]);
        documents
    }

    /// All that can be asked of a section: each word by its position, and that there are no others.
    fn ask(bytes: &[u8], documents: &[Vec<Word>]) -> Result<()> {
        let offsets = Offsets::open(bytes)?;
        assert_eq!(offsets.n_docs() as usize, documents.len());
        for (doc, words) in (0..).zip(documents) {
            let mut read = offsets.words(doc)?.unwrap();
            let mut all = vec![];
            read.for_each(|word| all.push(word))?;
            assert_eq!(all, *words, "document {doc}");
            for word in each_unless_miri(words.iter().rev().chain(words), 7) {
                assert_eq!(read.find(word.position)?, Some(*word));
            }
            let mut free: Vec<u32> = each_unless_miri(0..400, 67).chain([u32::MAX]).collect();
            free.retain(|position| words.iter().all(|word| word.position != *position));
            for position in free {
                assert_eq!(read.find(position)?, None);
            }
        }
        assert!(offsets.words(documents.len() as u32).is_err());
        Ok(())
    }

    fn verify(bytes: &[u8]) -> Result<Vec<Option<Vec<Word>>>> {
        let mut all = vec![];
        Offsets::open(bytes)?.verify(|doc, words| {
            assert_eq!(all.len() as u32, doc);
            all.push(words.map(<[_]>::to_vec));
            Ok(())
        })?;
        Ok(all)
    }

    #[test]
    fn the_example_in_the_docs_is_what_we_write() {
        let documents = [words(&[(0, 0, 1), (1, 2, 2)]), words(&[(1, 4, 1), (102, 5, 2)])];
        let bytes = section(&documents);
        let documented = doc_check::hex_dump(include_str!("offsets.rs"));
        assert_eq!(documented, bytes, "{}", doc_check::render(&bytes));
        assert_eq!(doc_check::layout(include_str!("offsets.rs"))["groups"], GROUPS_AT as usize);
        ask(&bytes, &documents).unwrap();
    }

    #[test]
    fn words_come_back_by_position() {
        let documents = documents();
        let bytes = section(&documents);
        ask(&bytes, &documents).unwrap();
        let expected: Vec<_> = documents.iter().cloned().map(Some).collect();
        assert_eq!(verify(&bytes).unwrap(), expected);
        for &n in unless_miri(&[0, 1, 63, 64, 65, 128][..], &[1, 65]) {
            ask(&section(&documents[..n]), &documents[..n]).unwrap();
        }
    }

    #[test]
    fn nothing_is_kept_of_words_that_are_in_no_order() {
        let unkept = [
            words(&[(1, 0, 1), (1, 1, 1)]),
            words(&[(1, 0, 1), (0, 1, 1)]),
            words(&[(0, 1, 1), (1, 0, 2)]),
            words(&[(0, 0, 0)]),
            words(&[(u32::MAX, 0, 1)]),
            words(&[(1 << 31, 0, 1)]),
            words(&[(0, u32::MAX, 1)]),
        ];
        let bytes = section(&unkept);
        assert_eq!(verify(&bytes).unwrap(), vec![None; unkept.len()]);
        let offsets = Offsets::open(&bytes[..]).unwrap();
        assert_eq!(*offsets.part(3).unwrap(), *NOT_KEPT);
    }

    #[test]
    fn other_bytes_are_refused_or_read_without_harm() {
        let documents = documents();
        let bytes = section(&documents);
        let read = |bytes: &[u8]| -> Result<()> {
            let offsets = Offsets::open(bytes)?;
            for doc in 0..offsets.n_docs().min(200) {
                let Some(mut words) = offsets.words(doc)? else { continue };
                for position in [0, 7, 200, 1 << 20, u32::MAX] {
                    words.find(position)?;
                }
            }
            Ok(())
        };
        for at in each_unless_miri(0..bytes.len(), 397) {
            for flip in each_unless_miri([1, 0x80, 0xFF], 3) {
                let mut bad = bytes.clone();
                bad[at] ^= flip;
                for error in [read(&bad).err(), verify(&bad).err()].into_iter().flatten() {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "byte {at}");
                }
                // Another sound section, unless it is what the reserved bytes make.
                if let Ok(words) = verify(&bad) {
                    let same = documents.iter().cloned().map(Some).eq(words);
                    assert_eq!(same, (4..8).contains(&at), "byte {at}");
                }
            }
        }
        for cut in each_unless_miri(0..bytes.len(), 397) {
            assert!(verify(&bytes[..cut]).is_err(), "cut to {cut}");
        }
    }
}
