//! One block of terms: [`BlockBuilder`] makes it, [`Block`] reads it back field by field.
//!
//! The layout is told in the [dictionary's](super) docs. A block knows nothing of the other
//! blocks: its first ordinal and the width of a document are handed in.

mod keys;

use super::{
    INLINE_DOCS_MAX, InlineDocs, MAX_TERM_LEN, NewTerm, PostingsAt, RANKED_DOCS_MIN, TermInfo,
};
use crate::bytes::{ByteReader, Bytes, few_varints_len, uint, write_varint};
use crate::format::occurrences::{OccurrenceReader, parts_len};
use crate::schema::Detail;

/// Terms in a block that was not closed early.
pub(crate) const BLOCK_TERMS: u32 = 32;
/// A block of several terms holds at most this many bytes of keys.
pub(super) const BLOCK_KEY_BYTES: usize = 16 << 10;
/// The key of a block with one term: the longest term and its length.
const LONE_KEY_BYTES: usize = MAX_TERM_LEN + 3;
/// The fewest documents of a list that is not in the dictionary.
const STORED_DOCS_MIN: u8 = INLINE_DOCS_MAX as u8 + 1;
/// Least length that a nibble of a key's first byte cannot hold.
const NIBBLE_FULL: usize = 15;

/// Fault inside a block, and its place, counted from its first byte.
#[derive(Debug)]
pub(super) struct Damage {
    pub(super) at: usize,
    pub(super) found: &'static str,
}

/// The block being filled; its buffers are reused for the next.
#[derive(Debug, Default)]
pub(super) struct BlockBuilder {
    count: u32,
    singles: u32,
    keys: Vec<u8>,
    single_docs: Vec<u8>,
    other_infos: Vec<u8>,
    occurrences: Vec<u8>,
    postings_base: u64,
    postings_end: u64,
}

impl BlockBuilder {
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Length of all payloads so far, in this block and the ones before.
    pub(super) fn postings_end(&self) -> u64 {
        self.postings_end
    }

    pub(super) fn key_bytes(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn info_bytes(&self) -> usize {
        self.single_docs.len() + self.other_infos.len()
    }

    pub(super) fn occurrence_bytes(&self) -> usize {
        self.occurrences.len()
    }

    /// Whether a term that shares `shared` bytes with the last one still belongs into this block.
    pub(super) fn has_room(&self, shared: usize, term: &[u8]) -> bool {
        self.count == 0
            || self.count < BLOCK_TERMS
                && self.keys.len() + later_key_len(shared, term.len()) <= BLOCK_KEY_BYTES
    }

    /// Adds a term; `shared` is ignored for the first. The caller has checked term and info.
    pub(super) fn push(
        &mut self,
        shared: usize,
        term: &[u8],
        new: NewTerm<'_>,
        doc_width: usize,
        detail: Detail,
    ) {
        if self.count == 0 {
            write_varint(&mut self.keys, term.len() as u64);
            self.keys.extend_from_slice(term);
        } else {
            #[expect(clippy::indexing_slicing, reason = "the caller found `shared` bytes in it")]
            push_later_key(&mut self.keys, shared, &term[shared..]);
        }
        match new {
            NewTerm::Inline { docs: &[doc], occurrences } => {
                self.singles |= 1 << self.count;
                self.single_docs.extend(doc.to_le_bytes().iter().take(doc_width));
                self.occurrences.extend_from_slice(occurrences);
            }
            NewTerm::Inline { docs, occurrences } => {
                self.occurrences.extend_from_slice(occurrences);
                write_varint(&mut self.other_infos, docs.len() as u64);
                let mut next = 0;
                for doc in docs {
                    write_varint(&mut self.other_infos, u64::from(doc - next));
                    next = doc + 1;
                }
            }
            NewTerm::Stored { df, len, ranked_len } => {
                if df <= INLINE_DOCS_MAX {
                    write_varint(&mut self.other_infos, 0);
                }
                write_varint(&mut self.other_infos, u64::from(df));
                write_varint(&mut self.other_infos, u64::from(len));
                if has_ranked(df, detail) {
                    write_varint(&mut self.other_infos, ranked_len);
                }
                self.postings_end += u64::from(len) + ranked_len;
            }
        }
        self.count += 1;
    }

    /// Appends the block to `out` and starts the next one.
    pub(super) fn finish_into(&mut self, detail: Detail, out: &mut Vec<u8>) {
        out.push(self.count as u8);
        out.extend(self.singles.to_le_bytes().iter().take(singles_len(self.count)));
        write_varint(out, self.keys.len() as u64);
        write_varint(out, self.postings_base);
        if detail.has_frequencies() {
            write_varint(out, self.occurrences.len() as u64);
        }
        out.extend_from_slice(&self.keys);
        out.extend_from_slice(&self.single_docs);
        out.extend_from_slice(&self.other_infos);
        out.extend_from_slice(&self.occurrences);
        self.occurrences.clear();
        self.keys.clear();
        self.single_docs.clear();
        self.other_infos.clear();
        self.count = 0;
        self.singles = 0;
        self.postings_base = self.postings_end;
    }
}

/// Whether a list has its parts for ranking behind it.
fn has_ranked(df: u32, detail: Detail) -> bool {
    df >= RANKED_DOCS_MIN && detail.has_frequencies()
}

/// Reads the bit set that tells which of `count` terms have one document.
#[inline]
fn bit_set(reader: &mut ByteReader<'_>, count: u32) -> Option<u32> {
    match count == BLOCK_TERMS {
        // Nearly all blocks are full.
        true => reader.u32(),
        false => reader.take(singles_len(count)).map(|bytes| uint(bytes) as u32),
    }
}

/// Bytes of the bit set that tells which of `count` terms have one document.
fn singles_len(count: u32) -> usize {
    count.div_ceil(8) as usize
}

fn push_later_key(keys: &mut Vec<u8>, shared: usize, suffix: &[u8]) {
    // The suffix of a later term is never empty, so its length is written less one.
    let (shared_nibble, suffix_nibble) =
        (shared.min(NIBBLE_FULL), (suffix.len() - 1).min(NIBBLE_FULL));
    keys.push((shared_nibble << 4 | suffix_nibble) as u8);
    if shared_nibble == NIBBLE_FULL {
        write_varint(keys, (shared - NIBBLE_FULL) as u64);
    }
    if suffix_nibble == NIBBLE_FULL {
        write_varint(keys, (suffix.len() - 1 - NIBBLE_FULL) as u64);
    }
    keys.extend_from_slice(suffix);
}

/// The bytes that [`push_later_key`] will write.
fn later_key_len(shared: usize, term_len: usize) -> usize {
    let suffix = term_len - shared;
    let varint_len = |excess: Option<usize>| match excess {
        None => 0,
        Some(value) => (usize::BITS - (value | 1).leading_zeros()).div_ceil(7) as usize,
    };
    1 + varint_len(shared.checked_sub(NIBBLE_FULL))
        + varint_len((suffix - 1).checked_sub(NIBBLE_FULL))
        + suffix
}

/// A block whose header has been checked.
#[derive(Debug)]
pub(super) struct Block<'s> {
    bytes: Bytes<'s>,
    /// Start of the block in its section.
    pub(super) at: u64,
    pub(super) number: u32,
    pub(super) count: u32,
    pub(super) postings_base: u64,
    n_docs: u32,
    doc_width: usize,
    singles: u32,
    keys_at: usize,
    infos_at: usize,
    occurrences_at: usize,
    detail: Detail,
}

/// A place among the keys of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyCursor {
    at: usize,
    /// Length of the term before; `None` at the first.
    previous_len: Option<usize>,
}

/// A place among the infos of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct InfoCursor {
    /// The term that is next, counted in the block.
    next: u32,
    /// The next info of a term with several documents.
    at: usize,
    postings: u64,
}

/// The result of looking for a term in a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyPlace {
    /// The first term that is not less, counted in the block; `count` when all are less.
    pub(super) index: u32,
    pub(super) exact: bool,
}

impl<'s> Block<'s> {
    #[inline]
    pub(super) fn parse(
        bytes: Bytes<'s>,
        at: u64,
        number: u32,
        n_docs: u32,
        detail: Detail,
    ) -> Result<Self, Damage> {
        let mut reader = ByteReader::new(&bytes);
        let damage = |reader: &ByteReader<'_>, found| Damage { at: reader.position(), found };
        let cut = |reader: &ByteReader<'_>| damage(reader, "the end of the block in its header");

        let count = u32::from(reader.u8().ok_or_else(|| cut(&reader))?);
        if !(1..=BLOCK_TERMS).contains(&count) {
            return Err(Damage { at: 0, found: "a count of terms that is not 1 to 32" });
        }
        let singles = bit_set(&mut reader, count).ok_or_else(|| cut(&reader))?;
        if u64::from(singles) >> count != 0 {
            return Err(damage(&reader, "a bit for a term that is not there"));
        }
        let key_bytes = reader.varint().ok_or_else(|| cut(&reader))?;
        let key_bytes_max = if count == 1 { LONE_KEY_BYTES } else { BLOCK_KEY_BYTES };
        if key_bytes > key_bytes_max as u64 {
            return Err(damage(&reader, "more bytes of keys than a block may have"));
        }
        let postings_base = reader.varint().ok_or_else(|| cut(&reader))?;
        let occurrence_bytes = match detail {
            Detail::Documents => 0,
            _ => reader.varint().ok_or_else(|| cut(&reader))?,
        };
        let keys_at = reader.position();
        let infos_at = keys_at + key_bytes as usize;
        let doc_width = doc_width(n_docs);
        let occurrences_at = (bytes.len() as u64).saturating_sub(occurrence_bytes) as usize;
        if infos_at + singles.count_ones() as usize * doc_width > occurrences_at {
            return Err(damage(&reader, "keys and documents that reach past the end of the block"));
        }
        Ok(Block {
            bytes,
            at,
            number,
            count,
            postings_base,
            n_docs,
            doc_width,
            singles,
            keys_at,
            infos_at,
            occurrences_at,
            detail,
        })
    }

    pub(super) fn keys(&self) -> KeyCursor {
        KeyCursor { at: self.keys_at, previous_len: None }
    }

    pub(super) fn infos(&self) -> InfoCursor {
        let other_infos_at = self.infos_at + self.singles.count_ones() as usize * self.doc_width;
        InfoCursor { next: 0, at: other_infos_at, postings: self.postings_base }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn key_bytes(&self) -> usize {
        self.infos_at - self.keys_at
    }

    pub(super) fn info_bytes(&self) -> usize {
        self.occurrences_at - self.infos_at
    }

    pub(super) fn occurrence_bytes(&self) -> usize {
        self.bytes.len() - self.occurrences_at
    }

    /// Whether a cursor that has passed the last term used up exactly the bytes there are;
    /// `n_inline` documents of all terms stand in the block.
    pub(super) fn all_consumed(
        &self,
        keys: &KeyCursor,
        infos: &InfoCursor,
        n_inline: usize,
    ) -> bool {
        let mut occurrences = self.occurrence_reader();
        keys.at == self.infos_at
            && infos.at == self.occurrences_at
            && occurrences.skip(n_inline).is_some()
            && occurrences.is_at_end()
    }

    fn occurrence_reader(&self) -> OccurrenceReader<'_> {
        // `parse` has found their place inside the block.
        let occurrences = self.bytes.get(self.occurrences_at..).unwrap_or_default();
        OccurrenceReader::new(occurrences, self.detail)
    }

    /// The occurrences of term `index`, whose documents stand in the block. Walks those of the terms before.
    pub(super) fn occurrences(&self, index: u32) -> Result<Bytes<'s>, Damage> {
        let before_index = self.singles & ((1 << index) - 1);
        let (mut infos, n_singles) = (self.infos(), before_index.count_ones());
        let n_of_others = self.skip_other_infos(&mut infos, index - n_singles)?;
        let before = n_singles as usize + n_of_others;
        let own = match self.singles >> index & 1 {
            1 => 1,
            _ => self.skip_other_infos(&mut infos, 1)?,
        };
        let occurrences = self.bytes.get(self.occurrences_at..).unwrap_or_default();
        let walk =
            |from: usize, n| Some(from + parts_len(occurrences.get(from..)?, n, self.detail)?);
        let start = walk(0, before);
        let range = start.and_then(|start| Some(start..walk(start, own)?));
        let occurrences = range.and_then(|range| {
            self.bytes.part(self.occurrences_at + range.start..self.occurrences_at + range.end)
        });
        let found = "the end of the block inside the occurrences of a term";
        occurrences.ok_or(Damage { at: self.occurrences_at, found })
    }

    /// The info of term `index`; cheapest when asked in ascending order with the same cursor.
    #[inline]
    pub(super) fn info(&self, cursor: &mut InfoCursor, index: u32) -> Result<TermInfo, Damage> {
        if index < cursor.next {
            *cursor = self.infos();
        }
        let is_single = self.singles >> index & 1 == 1;
        if is_single {
            return self.single_info(index);
        }
        let before_index = !self.singles & ((1 << index) - 1);
        let to_skip = (before_index >> cursor.next).count_ones();
        self.skip_other_infos(cursor, to_skip)?;
        cursor.next = index + 1;
        if let [df @ STORED_DOCS_MIN..0x80, len @ ..0x80, ..] =
            *self.bytes.get(cursor.at..self.occurrences_at).unwrap_or_default()
            && u32::from(df) <= self.n_docs
            && let Some(end) = cursor.postings.checked_add(len.into())
        {
            // Nearly all lists.
            let (offset, len) = (cursor.postings, len.into());
            (cursor.postings, cursor.at) = (end, cursor.at + 2);
            let postings = PostingsAt::Section { offset, len, ranked_len: 0 };
            return Ok(TermInfo { df: df.into(), postings });
        }
        let mut info = self.next_other_info(cursor)?;
        if let PostingsAt::Inline(docs) = &mut info.postings {
            (docs.block, docs.index) = (self.number, index as u8);
        }
        Ok(info)
    }

    #[inline]
    fn single_info(&self, index: u32) -> Result<TermInfo, Damage> {
        let rank = (self.singles & ((1 << index) - 1)).count_ones() as usize;
        let at = self.infos_at + rank * self.doc_width;
        let Some(doc) = self.bytes.get(at..at + self.doc_width) else {
            return Err(Damage { at, found: "the end of the block inside a document" });
        };
        let doc = uint(doc) as u32;
        if doc >= self.n_docs {
            return Err(Damage { at, found: "a document that the segment does not have" });
        }
        let (docs, index) = ([doc, 0, 0, 0], index as u8);
        let docs = InlineDocs { docs, len: 1, block: self.number, index };
        Ok(TermInfo { df: 1, postings: PostingsAt::Inline(docs) })
    }

    /// Passes over infos of terms with several documents, and counts those of the documents that stand in the block. Nobody
    /// looks at them: whoever wants them reads them.
    #[inline]
    fn skip_other_infos(&self, cursor: &mut InfoCursor, n: u32) -> Result<usize, Damage> {
        let (bytes, mut n_inline): (&[u8], _) = (&self.bytes, 0);
        // In registers, unlike what a call may change.
        let InfoCursor { next, mut at, mut postings } = *cursor;
        for _ in 0..n {
            // One byte says how many documents there are, unless it is a list of 128 and more.
            match *bytes.get(at..).unwrap_or_default() {
                [STORED_DOCS_MIN..0x80, len @ ..0x80, ..] => {
                    postings = postings.saturating_add(u64::from(len));
                    at += 2;
                    continue;
                }
                [df @ 2..STORED_DOCS_MIN, ref docs @ ..] => {
                    if let Some(len) = few_varints_len(docs, df) {
                        at += 1 + len;
                        n_inline += usize::from(df);
                        continue;
                    }
                }
                _ => {}
            }
            let mut slow = InfoCursor { next, at, postings };
            if let PostingsAt::Inline(docs) = self.next_other_info(&mut slow)?.postings {
                n_inline += docs.as_slice().len();
            }
            InfoCursor { at, postings, .. } = slow;
        }
        *cursor = InfoCursor { next, at, postings };
        Ok(n_inline)
    }

    fn next_other_info(&self, cursor: &mut InfoCursor) -> Result<TermInfo, Damage> {
        let at = cursor.at;
        let damage = |found| Damage { at, found };
        let cut = || damage("the end of the block inside the info of a term");
        let infos = self.bytes.get(at..self.occurrences_at).ok_or_else(cut)?;
        let mut reader = ByteReader::new(infos);
        let mut df = reader.varint_u32().ok_or_else(cut)?;
        let is_few_stored = df == 0 && self.detail.has_frequencies();
        if is_few_stored {
            df = reader.varint_u32().ok_or_else(cut)?;
        }
        let possible = if is_few_stored { 1..=INLINE_DOCS_MAX } else { 2..=u32::MAX };
        if !possible.contains(&df) || df > self.n_docs {
            return Err(damage("a number of documents that the term cannot have"));
        }
        let postings = if df <= INLINE_DOCS_MAX && !is_few_stored {
            let mut inline =
                InlineDocs { docs: [0; 4], len: df as u8, block: self.number, index: 0 };
            let mut next_possible = 0u64;
            for doc in inline.docs.iter_mut().take(df as usize) {
                let gap = reader.varint_u32().ok_or_else(cut)?;
                let this = next_possible + u64::from(gap);
                if this >= u64::from(self.n_docs) {
                    return Err(damage("a document that the segment does not have"));
                }
                *doc = this as u32;
                next_possible = this + 1;
            }
            PostingsAt::Inline(inline)
        } else {
            let len = reader.varint_u32().ok_or_else(cut)?;
            let ranked_len = match has_ranked(df, self.detail) {
                true => reader.varint().ok_or_else(cut)?,
                false => 0,
            };
            let offset = cursor.postings;
            cursor.postings = offset
                .checked_add(u64::from(len))
                .and_then(|end| end.checked_add(ranked_len))
                .ok_or_else(|| damage("a posting list that ends past 2^64"))?;
            PostingsAt::Section { offset, len, ranked_len }
        };
        cursor.at += reader.position();
        Ok(TermInfo { df, postings })
    }
}

/// Shared length and suffix length of a key that is not the first of its block.
#[inline]
fn later_key_lens(reader: &mut ByteReader<'_>) -> Option<(u64, u64)> {
    let lens = reader.u8()?;
    let (mut shared, mut suffix) = (u64::from(lens >> 4), u64::from(lens & 15) + 1);
    if lens >> 4 == NIBBLE_FULL as u8 {
        shared = shared.saturating_add(reader.varint()?);
    }
    if lens & 15 == NIBBLE_FULL as u8 {
        suffix = suffix.saturating_add(reader.varint()?);
    }
    Some((shared, suffix))
}

/// Bytes of a document that stands alone: enough for the last one of `n_docs`.
pub(super) fn doc_width(n_docs: u32) -> usize {
    match n_docs.saturating_sub(1) {
        0..=0xFF => 1,
        0x100..=0xFFFF => 2,
        0x1_0000..=0xFF_FFFF => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::common_prefix_len;

    #[test]
    fn the_length_of_a_key_is_known_before_it_is_written() {
        for shared in [0, 1, 14, 15, 16, 142, 143, 16_398, 16_399] {
            for suffix in [1, 2, 15, 16, 17, 143, 144, 145, 16_399, 16_400] {
                let mut keys = vec![];
                push_later_key(&mut keys, shared, &vec![7; suffix]);
                assert_eq!(keys.len(), later_key_len(shared, shared + suffix), "{shared} {suffix}");
                let lens = later_key_lens(&mut ByteReader::new(&keys));
                assert_eq!(lens, Some((shared as u64, suffix as u64)));
            }
        }
        // Lengths past 2^64 are no small ones.
        let most = [&[0xFF; 9][..], &[1]].concat();
        for (lens, expected) in [(0xF0, (u64::MAX, 1)), (0x0F, (0, u64::MAX))] {
            let keys = [&[lens][..], &most].concat();
            assert_eq!(later_key_lens(&mut ByteReader::new(&keys)), Some(expected));
        }
    }

    #[test]
    fn a_lone_document_takes_the_bytes_that_the_last_one_needs() {
        let widths = [(0, 1), (1, 1), (256, 1), (257, 2), (65_536, 2), (65_537, 3)];
        for (n_docs, width) in widths {
            assert_eq!(doc_width(n_docs), width, "{n_docs}");
        }
        assert_eq!(doc_width(1 << 24), 3);
        assert_eq!(doc_width((1 << 24) + 1), 4);
        assert_eq!(doc_width(u32::MAX), 4);
    }

    /// A block of so many terms with these parts and no occurrences.
    fn block_of(
        count: u8,
        singles: &[u8],
        postings_base: u64,
        keys: &[u8],
        infos: &[u8],
    ) -> Vec<u8> {
        let mut bytes = vec![count];
        bytes.extend_from_slice(singles);
        write_varint(&mut bytes, keys.len() as u64);
        write_varint(&mut bytes, postings_base);
        bytes.push(0);
        [&bytes[..], keys, infos].concat()
    }

    fn parse(bytes: &[u8], n_docs: u32) -> Result<Block<'_>, &'static str> {
        Block::parse(Bytes::Mapped(bytes), 0, 0, n_docs, Detail::Positions)
            .map_err(|damage| damage.found)
    }

    #[test]
    fn a_header_that_no_block_has_is_refused() {
        let no_count = "a count of terms that is not 1 to 32";
        assert_eq!(parse(&block_of(0, &[], 0, &[], &[]), 9).unwrap_err(), no_count);
        assert_eq!(parse(&block_of(33, &[0; 5], 0, &[0], &[2; 99]), 9).unwrap_err(), no_count);
        parse(&block_of(32, &[0; 4], 0, &[0], &[2; 99]), 9).unwrap();

        let no_term = "a bit for a term that is not there";
        assert_eq!(parse(&block_of(7, &[0x80], 0, &[0], &[2; 99]), 9).unwrap_err(), no_term);
        parse(&block_of(7, &[0x7F], 0, &[0], &[2; 99]), 9).unwrap();

        // One term may be longer than several together.
        let too_many = "more bytes of keys than a block may have";
        for (count, most) in [(1, LONE_KEY_BYTES), (2, BLOCK_KEY_BYTES)] {
            parse(&block_of(count, &[0], 0, &vec![0; most], &[]), 9).unwrap();
            let more = block_of(count, &[0], 0, &vec![0; most + 1], &[]);
            assert_eq!(parse(&more, 9).unwrap_err(), too_many, "{count}");
        }

        // Two documents of two bytes each need four.
        let past_the_end = "keys and documents that reach past the end of the block";
        parse(&block_of(2, &[3], 0, &[0, 0, 7], &[0; 4]), 300).unwrap();
        let cut = block_of(2, &[3], 0, &[0, 0, 7], &[0; 3]);
        assert_eq!(parse(&cut, 300).unwrap_err(), past_the_end);
    }

    #[test]
    fn terms_of_every_length_are_found_and_what_is_between_them_is_not() {
        let long = |n: usize, end: &str| format!("ab{}{end}", "c".repeat(n)).into_bytes();
        let mut terms: Vec<Vec<u8>> =
            ["", "a", "ab", "abb", "abc", "abd", "abdz", "abe", "b", "b\0", "c\u{e9}"]
                .map(|term| term.as_bytes().to_vec())
                .to_vec();
        for n in [5, 11, 12, 13, 14, 15, 16, 20, 200] {
            terms.extend([long(n, "x"), long(n, "y")]);
        }
        terms.sort();
        let (mut builder, mut before) = (BlockBuilder::default(), vec![]);
        for term in &terms {
            let new = NewTerm::Inline { docs: &[0], occurrences: &[0] };
            builder.push(common_prefix_len(&before, term), term, new, 1, Detail::Positions);
            before.clone_from(term);
        }
        let mut bytes = vec![];
        builder.finish_into(Detail::Positions, &mut bytes);
        let block = parse(&bytes, 9).unwrap();
        for term in &terms {
            let (next, shorter) = ([term, &b"\0"[..]].concat(), &term[..term.len().max(1) - 1]);
            for probe in [&term[..], &next, shorter, &[term, &b"\xFF"[..]].concat()] {
                let expected = terms.partition_point(|term| &term[..] < probe);
                let found = block.find(probe).unwrap();
                assert_eq!(found.index as usize, expected, "{}", probe.escape_ascii());
                let is_there = terms.get(expected).is_some_and(|term| term == probe);
                assert_eq!(found.exact, is_there, "{}", probe.escape_ascii());
            }
        }
    }

    #[test]
    fn infos_are_passed_over_as_they_are_read() {
        // Every number of documents, near and far, in turns, and lists that are stored elsewhere.
        let docs: [&[u32]; 8] = [
            &[3, 4],
            &[7],
            &[0, 1, 2, 250],
            &[9, 200_000],
            &[1, 300, 301],
            &[5],
            &[1 << 20, 1 << 21],
            &[0, 70_000, 140_000, 210_000],
        ];
        let mut builder = BlockBuilder::default();
        for nth in 0..24u8 {
            let docs = docs[usize::from(nth) % 8];
            let occurrences = vec![nth << 1; docs.len()];
            let new = match nth % 5 {
                4 => NewTerm::Stored {
                    df: 6 + 30 * u32::from(nth),
                    len: 100 + u32::from(nth),
                    ranked_len: if nth > 5 { 9 } else { 0 },
                },
                _ => NewTerm::Inline { docs, occurrences: &occurrences },
            };
            builder.push(0, &[nth], new, 3, Detail::Positions);
        }
        let mut bytes = vec![];
        builder.finish_into(Detail::Positions, &mut bytes);
        let block = parse(&bytes, 1 << 22).unwrap();
        let mut in_order = block.infos();
        for nth in 0..24 {
            let info = block.info(&mut in_order, nth).unwrap();
            assert_eq!(block.info(&mut block.infos(), nth).unwrap(), info);
            let expected = match &info.postings {
                PostingsAt::Inline(inline) => {
                    assert_eq!(inline.as_slice(), docs[nth as usize % 8]);
                    vec![(nth as u8) << 1; inline.as_slice().len()]
                }
                PostingsAt::Section { .. } => vec![],
            };
            assert_eq!(*block.occurrences(nth).unwrap(), expected[..], "{nth}");
        }
    }

    #[test]
    fn a_term_that_shares_more_than_there_is_or_passes_the_keys_is_refused_by_walks_and_lookups() {
        let check = |keys: &[u8], found: &str| {
            let bytes = block_of(2, &[3], 0, keys, &[0, 0]);
            let block = parse(&bytes, 9).unwrap();
            let mut cursor = block.keys();
            assert_eq!(block.next_key(&mut cursor).unwrap(), (0, &b"a"[..]));
            assert_eq!(block.next_key(&mut cursor).unwrap_err().found, found);
            // A lookup may pass over the second term by its first byte.
            for term in [&b"a\0"[..], b"b"] {
                assert_eq!(block.find(term).unwrap_err().found, found);
            }
        };
        let too_many = "a term that shares more bytes than the one before has";
        check(&[1, b'a', 0x20, b'b'], too_many);
        check(&[1, b'a', 0xE0, b'b'], too_many);
        check(&[1, b'a', 0xF0, 0, b'b'], too_many);
        let cut = "the end of the keys inside a term";
        check(&[1, b'a', 0x11, b'b'], cut);
        check(&[1, b'a', 0x1E, b'b'], cut);
        // A key behind a term whose lengths are in its first byte.
        let bytes = block_of(3, &[7], 0, &[1, b'a', 0, b'b', 0x20, b'c'], &[0; 3]);
        let block = parse(&bytes, 9).unwrap();
        let mut cursor = block.keys();
        for term in [b"a", b"b"] {
            assert_eq!(block.next_key(&mut cursor).unwrap(), (0, &term[..]));
        }
        assert_eq!(block.next_key(&mut cursor).unwrap_err().found, too_many);
    }

    #[test]
    fn a_lookup_passes_no_more_keys_than_there_are_terms() {
        let bytes = block_of(2, &[3], 0, &[1, b'a', 0x10, b'b', 0x10, b'c'], &[0; 2]);
        let found = parse(&bytes, 9).unwrap().find(b"b").unwrap();
        assert_eq!((found.index, found.exact), (2, false));
    }

    #[test]
    fn bytes_that_no_term_uses_are_noticed_in_every_part_of_a_block() {
        // `a` in document 3, `b` in 0 and 1; each time it is the first word.
        let (keys, infos, occurrences) = ([1, b'a', 0, b'b'], [3, 2, 0, 0], [0; 3]);
        let is_all_used = |keys: &[u8], infos: &[u8], occurrences: &[u8]| {
            let mut bytes = block_of(2, &[1], 0, keys, &[infos, occurrences].concat());
            bytes[4] = occurrences.len() as u8;
            let block = parse(&bytes, 9).unwrap();
            let (mut keys, mut infos) = (block.keys(), block.infos());
            for n in 0..2 {
                block.next_key(&mut keys).unwrap();
                block.info(&mut infos, n).unwrap();
            }
            block.all_consumed(&keys, &infos, 3)
        };
        assert!(is_all_used(&keys, &infos, &occurrences));
        assert!(!is_all_used(&[&keys[..], &[7]].concat(), &infos, &occurrences));
        assert!(!is_all_used(&keys, &[&infos[..], &[7]].concat(), &occurrences));
        assert!(!is_all_used(&keys, &infos, &[0; 4]));
        assert!(!is_all_used(&keys, &infos, &[0; 2]));
    }

    #[test]
    fn infos_are_found_in_any_order_with_one_cursor() {
        // Terms 1 and 3 have one document each, 5 and 6; the others have several.
        let infos = [5, 6, 2, 0, 3, 7, 3, 0, 3, 9];
        let bytes = block_of(5, &[0b01010], 100, &[0, 0, 1, 0, 2, 0, 3, 0, 4], &infos);
        let block = parse(&bytes, 9).unwrap();
        let expected: Vec<_> = (0..5).map(|n| block.info(&mut block.infos(), n).unwrap()).collect();
        let mut cursor = block.infos();
        for index in [4, 0, 3, 2, 2, 1, 0, 0, 4, 4] {
            assert_eq!(
                block.info(&mut cursor, index).unwrap(),
                expected[index as usize],
                "{index}"
            );
        }
    }

    #[test]
    fn infos_that_no_term_has_are_refused() {
        let info_of = |n_docs, detail, infos: &[u8]| {
            let mut bytes = block_of(1, &[0], u64::MAX - 9, &[0], infos);
            if detail == Detail::Documents {
                bytes.remove(13);
            }
            let block = Block::parse(Bytes::Mapped(&bytes), 0, 0, n_docs, detail).unwrap();
            block.info(&mut block.infos(), 0).map_err(|damage| damage.found)
        };
        let no_df = Err("a number of documents that the term cannot have");
        let df = |found: Result<TermInfo, _>| found.map(|info| info.df);
        assert_eq!(df(info_of(9, Detail::Positions, &[1, 1])), no_df, "one stands elsewhere");
        assert_eq!(df(info_of(9, Detail::Positions, &[10, 1])), no_df, "more than there are");
        assert_eq!(df(info_of(9, Detail::Positions, &[9, 1])), Ok(9));
        assert_eq!(df(info_of(9, Detail::Positions, &[0, 0, 1])), no_df);
        assert_eq!(df(info_of(9, Detail::Positions, &[0, 5, 1])), no_df, "not few");
        assert_eq!(df(info_of(3, Detail::Positions, &[0, 4, 1])), no_df, "more than there are");
        assert_eq!(df(info_of(9, Detail::Positions, &[0, 4, 1])), Ok(4));
        assert_eq!(df(info_of(9, Detail::Documents, &[0, 4, 1])), no_df, "without occurrences");

        let no_doc = Err("a document that the segment does not have");
        assert_eq!(df(info_of(9, Detail::Positions, &[2, 0, 8])), no_doc);
        assert_eq!(df(info_of(9, Detail::Positions, &[2, 0, 7])), Ok(2));

        let too_far = Err("a posting list that ends past 2^64");
        assert_eq!(df(info_of(9, Detail::Positions, &[5, 10])), too_far);
        assert_eq!(df(info_of(9, Detail::Positions, &[5, 9])), Ok(5));
        assert_eq!(df(info_of(300, Detail::Positions, &[0x80, 2, 5, 5])), too_far);
        assert_eq!(df(info_of(300, Detail::Positions, &[0x80, 2, 5, 4])), Ok(256));
    }

    #[test]
    fn lists_that_are_passed_over_do_not_bring_later_ones_back_to_the_start() {
        let bytes = block_of(3, &[0], u64::MAX - 9, &[0, 0, 1, 0, 2], &[5, 20, 5, 1, 5, 1]);
        let block = parse(&bytes, 9).unwrap();
        assert!(block.info(&mut block.infos(), 2).is_err());
    }

    #[test]
    fn a_lone_document_that_the_segment_does_not_have_is_refused() {
        for (doc, is_one) in [(8, true), (9, false), (10, false)] {
            let bytes = block_of(1, &[1], 0, &[0], &[doc]);
            let found = parse(&bytes, 9).unwrap();
            assert_eq!(found.info(&mut found.infos(), 0).is_ok(), is_one, "{doc}");
        }
    }
}
