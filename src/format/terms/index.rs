//! INDEX section: finds the block of a term or an ordinal without other blocks.
//!
//! [`IndexBuilder`] makes it, [`Index`] reads it; the layout is told in the [dictionary's](super)
//! docs.

use super::block::BLOCK_TERMS;
use crate::bytes::{Bytes, Source, array_at};
use crate::error::{Error, Result};
use crate::schema::Detail;
use std::ops::Range;

pub(super) const N_TERMS_AT: usize = 0;
pub(super) const N_DOCS_AT: usize = N_TERMS_AT + size_of::<u32>();
pub(super) const N_BLOCKS_AT: usize = N_DOCS_AT + size_of::<u32>();
pub(super) const N_EARLY_AT: usize = N_BLOCKS_AT + size_of::<u32>();
pub(super) const BLOCKS_LEN_AT: usize = N_EARLY_AT + size_of::<u32>();
pub(super) const POSTINGS_LEN_AT: usize = BLOCKS_LEN_AT + size_of::<u64>();
pub(super) const KEY_BYTES_AT: usize = POSTINGS_LEN_AT + size_of::<u64>();
pub(super) const INFO_BYTES_AT: usize = KEY_BYTES_AT + size_of::<u64>();
pub(super) const OCCURRENCE_BYTES_AT: usize = INFO_BYTES_AT + size_of::<u64>();
pub(super) const DETAIL_AT: usize = OCCURRENCE_BYTES_AT + size_of::<u64>();
const ZERO_AT: usize = DETAIL_AT + size_of::<u32>();
pub(super) const TOPS_AT: usize = ZERO_AT + size_of::<u32>();
const _: () = assert!(TOPS_AT == 64, "the header's size is part of the format");

/// Blocks under one top entry: 3 KiB, so that a lookup stays in one page of them.
const GROUP_BLOCKS: u32 = 32;
const TOP_LEN: u64 = 16;
const PREFIX_LEN: u64 = 8;
const OFFSET_LEN: u64 = 4;
const EARLY_LEN: u64 = 8;

/// The first eight bytes of a term as a number that orders as they do, padded with zeros.
#[inline]
pub(super) fn prefix_of(term: &[u8]) -> u64 {
    if let Some(first) = array_at::<8>(term, 0) {
        return u64::from_le_bytes(first).swap_bytes();
    }
    // Byte by byte: what copies a few bytes takes more instructions than they have.
    let first = term.iter().fold(0, |prefix, byte| prefix << 8 | u64::from(*byte));
    first.checked_shl(64 - 8 * term.len() as u32).unwrap_or_default()
}

/// Collects 12 bytes a block.
#[derive(Debug, Default)]
pub(super) struct IndexBuilder {
    prefixes: Vec<u64>,
    /// Offset of each block from the first of its group.
    offsets: Vec<u32>,
    group_offsets: Vec<u64>,
    early: Vec<(u32, u32)>,
    last_n_terms: u32,
    header: Header,
}

impl IndexBuilder {
    pub(super) fn new(n_docs: u32, detail: Detail) -> Self {
        let header = Header { n_docs, detail: detail_number(detail), ..Header::default() };
        IndexBuilder { header, ..Self::default() }
    }

    pub(super) fn header_mut(&mut self) -> &mut Header {
        &mut self.header
    }

    /// Notes a finished block of `n_terms` whose first term begins with `prefix`.
    pub(super) fn add_block(&mut self, prefix: u64, n_terms: u32, len: usize) {
        let header = &mut self.header;
        if header.n_blocks > 0 && self.last_n_terms != BLOCK_TERMS {
            // The block before was not full, and now it is known not to be the last.
            self.early.push((header.n_blocks - 1, header.n_terms));
        }
        self.last_n_terms = n_terms;
        if header.n_blocks.is_multiple_of(GROUP_BLOCKS) {
            self.group_offsets.push(header.blocks_len);
        }
        let group_offset = self.group_offsets.last().copied().unwrap_or_default();
        self.prefixes.push(prefix);
        // A block has at most 34 KiB, a group of them far less than 4 GiB.
        self.offsets.push((header.blocks_len - group_offset) as u32);
        header.n_blocks += 1;
        header.n_terms += n_terms;
        header.blocks_len += len as u64;
    }

    pub(super) fn finish(self) -> Vec<u8> {
        let header = Header { n_early: self.early.len() as u32, ..self.header };
        let mut out = Vec::with_capacity(header.section_len() as usize);
        header.write(&mut out);
        let firsts = self.prefixes.iter().step_by(GROUP_BLOCKS as usize);
        for (prefix, offset) in firsts.zip(&self.group_offsets) {
            out.extend_from_slice(&prefix.to_le_bytes());
            out.extend_from_slice(&offset.to_le_bytes());
        }
        let groups = self.prefixes.chunks(GROUP_BLOCKS as usize);
        for (prefixes, offsets) in groups.zip(self.offsets.chunks(GROUP_BLOCKS as usize)) {
            out.extend(prefixes.iter().flat_map(|prefix| prefix.to_le_bytes()));
            out.extend(offsets.iter().flat_map(|offset| offset.to_le_bytes()));
        }
        for (block, ordinal) in self.early {
            out.extend_from_slice(&block.to_le_bytes());
            out.extend_from_slice(&ordinal.to_le_bytes());
        }
        out
    }
}

/// The fixed part of the section.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Header {
    pub(super) n_terms: u32,
    pub(super) n_docs: u32,
    pub(super) n_blocks: u32,
    n_early: u32,
    pub(super) blocks_len: u64,
    pub(super) postings_len: u64,
    pub(super) key_bytes: u64,
    pub(super) info_bytes: u64,
    pub(super) occurrence_bytes: u64,
    detail: u32,
}

fn detail_number(detail: Detail) -> u32 {
    match detail {
        Detail::Documents => 0,
        Detail::Frequencies => 1,
        Detail::Positions => 2,
    }
}

impl Header {
    fn write(&self, out: &mut Vec<u8>) {
        for field in [self.n_terms, self.n_docs, self.n_blocks, self.n_early] {
            out.extend_from_slice(&field.to_le_bytes());
        }
        let [blocks_len, postings_len] = [self.blocks_len, self.postings_len];
        for field in
            [blocks_len, postings_len, self.key_bytes, self.info_bytes, self.occurrence_bytes]
        {
            out.extend_from_slice(&field.to_le_bytes());
        }
        out.extend_from_slice(&self.detail.to_le_bytes());
        out.extend_from_slice(&0u32.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Option<Header> {
        let bytes = bytes.first_chunk::<TOPS_AT>()?;
        let u32_at = |at| array_at(bytes, at).map(u32::from_le_bytes);
        let u64_at = |at| array_at(bytes, at).map(u64::from_le_bytes);
        Some(Header {
            n_terms: u32_at(N_TERMS_AT)?,
            n_docs: u32_at(N_DOCS_AT)?,
            n_blocks: u32_at(N_BLOCKS_AT)?,
            n_early: u32_at(N_EARLY_AT)?,
            blocks_len: u64_at(BLOCKS_LEN_AT)?,
            postings_len: u64_at(POSTINGS_LEN_AT)?,
            key_bytes: u64_at(KEY_BYTES_AT)?,
            info_bytes: u64_at(INFO_BYTES_AT)?,
            occurrence_bytes: u64_at(OCCURRENCE_BYTES_AT)?,
            detail: u32_at(DETAIL_AT).filter(|_| bytes.len() == TOPS_AT)?,
        })
    }

    /// Detail that is kept of each occurrence.
    #[inline]
    pub(super) fn detail(&self) -> Option<Detail> {
        match self.detail {
            0 => Some(Detail::Documents),
            1 => Some(Detail::Frequencies),
            2 => Some(Detail::Positions),
            _ => None,
        }
    }

    fn n_groups(&self) -> u32 {
        self.n_blocks.div_ceil(GROUP_BLOCKS)
    }

    fn groups_at(&self) -> u64 {
        TOPS_AT as u64 + u64::from(self.n_groups()) * TOP_LEN
    }

    fn early_at(&self) -> u64 {
        self.groups_at() + u64::from(self.n_blocks) * (PREFIX_LEN + OFFSET_LEN)
    }

    fn section_len(&self) -> u64 {
        self.early_at() + u64::from(self.n_early) * EARLY_LEN
    }

    /// Contradiction in this header, if there is one.
    fn contradiction(&self) -> Option<&'static str> {
        let fewest_and_most = u64::from(self.n_blocks)..=u64::from(self.n_blocks) * 32;
        if !fewest_and_most.contains(&u64::from(self.n_terms)) {
            return Some("more or fewer terms than the blocks can hold");
        }
        if self.n_docs == 0 && self.n_terms > 0 {
            return Some("terms without documents");
        }
        let infos = self.key_bytes.checked_add(self.info_bytes);
        let parts = infos.and_then(|sum| sum.checked_add(self.occurrence_bytes));
        if parts.is_none_or(|sum| sum > self.blocks_len) {
            return Some("more bytes of keys and infos than there are bytes of blocks");
        }
        if self.detail().is_none() {
            return Some("a detail that is not 0, 1 or 2");
        }
        None
    }
}

/// Block in which a term must be, if it is anywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Floor {
    pub(super) block: u32,
    /// The first bytes of its first term.
    pub(super) prefix: u64,
    /// Range of its bytes in TERMS.
    pub(super) range: Range<u64>,
}

/// A top entry as it is written.
type Top = [u8; TOP_LEN as usize];

/// Place of a group of blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupAt {
    number: u32,
    n_blocks: u32,
    /// Start of its prefixes in the section.
    at: u64,
    /// Start of the first block, and end of the last one.
    start: u64,
    end: u64,
}

impl GroupAt {
    /// Range of its prefixes and offsets.
    #[inline]
    fn range(&self) -> Range<u64> {
        self.at..self.at + u64::from(self.n_blocks) * (PREFIX_LEN + OFFSET_LEN)
    }
}

/// A group of blocks as it is read.
#[derive(Debug)]
pub(super) struct Group<'s> {
    number: u32,
    n_blocks: u32,
    /// The prefixes, then the offsets.
    bytes: Bytes<'s>,
    /// Start of the first block, and end of the last one.
    start: u64,
    end: u64,
}

impl Group<'_> {
    fn halves(&self) -> (&[u8], &[u8]) {
        self.bytes
            .split_at_checked(self.n_blocks as usize * PREFIX_LEN as usize)
            .unwrap_or_default()
    }

    fn prefixes(&self) -> &[[u8; PREFIX_LEN as usize]] {
        self.halves().0.as_chunks().0
    }

    fn offsets(&self) -> &[[u8; OFFSET_LEN as usize]] {
        self.halves().1.as_chunks().0
    }
}

/// Eight bytes of an entry; every caller's entry has them.
#[inline]
fn u64_in(entry: &Top, at: usize) -> u64 {
    array_at(entry, at).map_or(0, u64::from_le_bytes)
}

/// The section as it is read: the header is in memory, everything else stays where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Index<S> {
    pub(super) source: S,
    pub(super) header: Header,
}

impl<'s, S: Source<'s>> Index<S> {
    pub(super) fn open(source: S) -> Result<Self> {
        let bytes = source.bytes(0..source.len().min(TOPS_AT as u64))?;
        let damage = || Error::corrupt("reading the header of a term index");
        let header = Header::read(&bytes).ok_or_else(|| {
            let error = damage().expected("64 bytes").found(format!("{}", bytes.len()));
            source.locate(0, error)
        })?;
        if let Some(found) = header.contradiction() {
            return Err(source.locate(0, damage().found(found)));
        }
        if header.section_len() != source.len() {
            let expected = format!("a section of {} bytes", header.section_len());
            let error = damage().expected(expected).found(format!("{}", source.len()));
            return Err(source.locate(0, error));
        }
        Ok(Index { source, header })
    }

    /// An error about byte `at` of this section.
    pub(super) fn damage(&self, at: u64, found: impl Into<String>) -> Error {
        self.source.locate(at, Error::corrupt("reading a term index").found(found))
    }

    /// The last block whose prefix is at most `prefix`.
    pub(super) fn floor(&self, prefix: u64) -> Result<Option<Floor>> {
        self.group_of(prefix)?.map(|group| self.floor_in(&group, prefix)).transpose()
    }

    /// The last block whose prefix is less than `prefix`, if that is `next`, which is of this group, or behind it, else `next`.
    /// `None` where there are blocks with this very prefix, of which their terms must tell.
    pub(super) fn last_below(
        &self,
        group: &Group<'s>,
        next: u32,
        prefix: u64,
    ) -> Result<Option<u32>> {
        let behind = group.prefixes().get((next % GROUP_BLOCKS) as usize + 1..).unwrap_or_default();
        let n_below = behind.iter().filter(|at| u64::from_le_bytes(**at) < prefix).count();
        if let Some(above) = behind.get(n_below) {
            let is_greater = u64::from_le_bytes(*above) > prefix;
            return Ok(is_greater.then_some(next + n_below as u32));
        }
        let floor = self.floor(prefix)?;
        Ok(floor.map_or(Some(next), |floor| {
            (floor.prefix < prefix || floor.block <= next).then_some(floor.block.max(next))
        }))
    }

    /// The group with that block, which is prefetched.
    #[inline]
    pub(super) fn group_of(&self, prefix: u64) -> Result<Option<GroupAt>> {
        let tops = self.source.bytes(TOPS_AT as u64..self.header.groups_at())?;
        let tops = tops.as_chunks().0;
        let n_groups = tops.partition_point(|top| u64_in(top, 0) <= prefix) as u32;
        let Some(number) = n_groups.checked_sub(1) else { return Ok(None) };
        let group = self.group_at(number, tops.get(number as usize..).unwrap_or_default());
        self.source.prefetch(group.range());
        Ok(Some(group))
    }

    /// The last block of a group whose prefix is at most `prefix`.
    #[inline]
    pub(super) fn floor_in(&self, group: &GroupAt, prefix: u64) -> Result<Floor> {
        let group = self.read(group)?;
        let prefixes = group.prefixes();
        let n_in_group = prefixes.partition_point(|this| u64::from_le_bytes(*this) <= prefix);
        let last = n_in_group.checked_sub(1).and_then(|last| Some((last, prefixes.get(last)?)));
        let Some((last, prefix)) = last else {
            let found = "a group whose first prefix is not that of its top entry";
            return Err(self.damage(self.group(group.number).0, found));
        };
        let block = group.number * GROUP_BLOCKS + last as u32;
        let range = self.range_in(&group, block)?;
        Ok(Floor { block, prefix: u64::from_le_bytes(*prefix), range })
    }

    /// The group that a block is in, if it is another than the one that was read before.
    pub(super) fn group_with(&self, block: u32, known: Option<Group<'s>>) -> Result<Group<'s>> {
        let number = block / GROUP_BLOCKS;
        match known.filter(|known| known.number == number) {
            Some(known) => Ok(known),
            None => self.read_group(number),
        }
    }

    fn read_group(&self, number: u32) -> Result<Group<'s>> {
        let top_at = TOPS_AT as u64 + u64::from(number) * TOP_LEN;
        let tops =
            self.source.bytes(top_at..(top_at + 2 * TOP_LEN).min(self.header.groups_at()))?;
        self.read(&self.group_at(number, tops.as_chunks().0))
    }

    /// The place of a group, whose top entry is the first of `tops`.
    #[inline]
    fn group_at(&self, number: u32, tops: &[Top]) -> GroupAt {
        let (at, n_blocks) = self.group(number);
        let [top, next] = [0, 1].map(|nth| tops.get(nth).map(|top| u64_in(top, 8)));
        let end = next.unwrap_or(self.header.blocks_len);
        GroupAt { number, n_blocks, at, start: top.unwrap_or_default(), end }
    }

    #[inline]
    fn read(&self, group: &GroupAt) -> Result<Group<'s>> {
        let GroupAt { number, n_blocks, start, end, .. } = *group;
        Ok(Group { number, n_blocks, bytes: self.source.bytes(group.range())?, start, end })
    }

    /// Range of the bytes of a block of a group.
    #[inline]
    pub(super) fn range_in(&self, group: &Group<'s>, block: u32) -> Result<Range<u64>> {
        let in_group = (block % GROUP_BLOCKS) as usize;
        let place = |at| {
            let offset: &[u8; OFFSET_LEN as usize] = group.offsets().get(at)?;
            group.start.checked_add(u64::from(u32::from_le_bytes(*offset)))
        };
        let is_last = in_group + 1 == group.n_blocks as usize;
        let end = if is_last { Some(group.end) } else { place(in_group + 1) };
        self.checked_range(block, place(in_group), end)
    }

    /// The range from `start` to `end`, if that can be a block.
    #[inline]
    fn checked_range(
        &self,
        block: u32,
        start: Option<u64>,
        end: Option<u64>,
    ) -> Result<Range<u64>> {
        match (start, end) {
            (Some(start), Some(end)) if start < end && end <= self.header.blocks_len => {
                Ok(start..end)
            }
            _ => {
                let at = self.group(block / GROUP_BLOCKS).0;
                Err(self.damage(at, format!("block {block} at {start:?}..{end:?}")))
            }
        }
    }

    /// Start of a group of blocks in the section, and how many blocks it has.
    #[inline]
    fn group(&self, group: u32) -> (u64, u32) {
        let before = u64::from(group) * u64::from(GROUP_BLOCKS);
        let n_blocks = (u64::from(self.header.n_blocks) - before).min(u64::from(GROUP_BLOCKS));
        (self.header.groups_at() + before * (PREFIX_LEN + OFFSET_LEN), n_blocks as u32)
    }

    /// The head prefix of a block that exists.
    pub(super) fn prefix(&self, block: u32) -> Result<u64> {
        let (at, _) = self.group(block / GROUP_BLOCKS);
        self.u64_at(at + u64::from(block % GROUP_BLOCKS) * PREFIX_LEN)
    }

    /// Prefix and offset of the top entry over the group that begins with `block`, if one does.
    pub(super) fn top_at(&self, block: u32) -> Result<Option<(u64, u64)>> {
        match block.is_multiple_of(GROUP_BLOCKS) {
            true => self.top(block / GROUP_BLOCKS).map(Some),
            false => Ok(None),
        }
    }

    /// Prefix and offset of the top entry over `group`.
    fn top(&self, group: u32) -> Result<(u64, u64)> {
        let at = TOPS_AT as u64 + u64::from(group) * TOP_LEN;
        Ok((self.u64_at(at)?, self.u64_at(at + 8)?))
    }

    /// Range of the bytes of a block that exists.
    pub(super) fn block_range(&self, block: u32) -> Result<Range<u64>> {
        self.range_in(&self.read_group(block / GROUP_BLOCKS)?, block)
    }

    /// The ordinals of the terms in a block that exists.
    pub(super) fn ordinals(&self, block: u32) -> Result<Range<u32>> {
        let start = self.first_ordinal(block)?;
        let end = if block + 1 < self.header.n_blocks {
            self.first_ordinal(block + 1)?
        } else {
            self.header.n_terms
        };
        if start >= end || end - start > BLOCK_TERMS || end > self.header.n_terms {
            let found = format!("terms {start}..{end} in block {block}");
            return Err(self.damage(self.header.early_at(), found));
        }
        Ok(start..end)
    }

    fn first_ordinal(&self, block: u32) -> Result<u32> {
        let (after, ordinal) = self.last_early(|early| early.0 < block)?;
        u32::try_from(u64::from(ordinal) + u64::from(block - after) * u64::from(BLOCK_TERMS))
            .map_err(|_| self.damage(self.header.early_at(), "an ordinal past 2^32"))
    }

    /// The block of a term that exists.
    pub(super) fn block_of(&self, ordinal: u32) -> Result<u32> {
        let (after, first) = self.last_early(|early| early.1 <= ordinal)?;
        let block = u64::from(after) + u64::from((ordinal - first) / BLOCK_TERMS);
        if block >= u64::from(self.header.n_blocks) {
            let found = format!("term {ordinal} in block {block} of {}", self.header.n_blocks);
            return Err(self.damage(self.header.early_at(), found));
        }
        Ok(block as u32)
    }

    /// From where on blocks are full: the block after the last entry that is `before`, and its
    /// first ordinal.
    fn last_early(&self, before: impl Fn((u32, u32)) -> bool) -> Result<(u32, u32)> {
        let (mut low, mut high) = (0, self.header.n_early);
        while low < high {
            let middle = low + (high - low) / 2;
            if before(self.early(middle)?) { low = middle + 1 } else { high = middle }
        }
        match low.checked_sub(1) {
            None => Ok((0, 0)),
            Some(last) => {
                let (block, ordinal) = self.early(last)?;
                let after = block.checked_add(1).filter(|after| *after < self.header.n_blocks);
                after.map(|after| (after, ordinal)).ok_or_else(|| {
                    self.damage(self.header.early_at(), format!("block {block} closed early"))
                })
            }
        }
    }

    pub(super) fn n_early(&self) -> u32 {
        self.header.n_early
    }

    /// A block that was closed early, and the first ordinal of the block after it.
    pub(super) fn early(&self, n: u32) -> Result<(u32, u32)> {
        let at = self.header.early_at() + u64::from(n) * EARLY_LEN;
        Ok((self.u32_at(at)?, self.u32_at(at + 4)?))
    }

    pub(super) fn section_len(&self) -> u64 {
        self.source.len()
    }

    fn u32_at(&self, at: u64) -> Result<u32> {
        let bytes = self.source.bytes(at..at + 4)?;
        array_at(&bytes, 0).map(u32::from_le_bytes).ok_or_else(|| self.damage(at, "too few bytes"))
    }

    fn u64_at(&self, at: u64) -> Result<u64> {
        let bytes = self.source.bytes(at..at + 8)?;
        array_at(&bytes, 0).map(u64::from_le_bytes).ok_or_else(|| self.damage(at, "too few bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_sizes::{each_unless_miri, unless_miri};

    #[test]
    fn prefixes_order_as_the_terms_do() {
        let terms: [&[u8]; 8] = [
            b"",
            b"\0\0\0\0\0\0\0\0",
            b"\0\0\0\0\0\0\0\x01",
            b"a",
            b"aaaaaaaa",
            b"ab",
            b"b",
            b"\xFF",
        ];
        assert!(terms.is_sorted_by_key(|term| prefix_of(term)));
        assert_eq!(prefix_of(b"abcdefgh"), 0x6162_6364_6566_6768);
        assert_eq!(prefix_of(b"abcdefghi"), prefix_of(b"abcdefgh"));
        assert_eq!(prefix_of(b"a"), 0x6100_0000_0000_0000);
    }

    /// Blocks of the given sizes; what the early list says about ordinals must be their sums.
    fn check_ordinals(sizes: &[u32], n_early: u32) {
        let mut builder = IndexBuilder::new(1, Detail::Documents);
        for (n, size) in sizes.iter().enumerate() {
            builder.add_block(n as u64, *size, 10);
        }
        let bytes = builder.finish();
        let index = Index::open(bytes.as_slice()).unwrap();
        assert_eq!(index.n_early(), n_early, "{sizes:?}");
        let mut ordinal = 0;
        for (block, size) in sizes.iter().enumerate() {
            let block = block as u32;
            assert_eq!(index.ordinals(block).unwrap(), ordinal..ordinal + size);
            for n in ordinal..ordinal + size {
                assert_eq!(index.block_of(n).unwrap(), block, "{sizes:?}");
            }
            let at = u64::from(block) * 10;
            assert_eq!(index.block_range(block).unwrap(), at..at + 10);
            assert_eq!(index.prefix(block).unwrap(), u64::from(block));
            let floor = Floor { block, prefix: u64::from(block), range: at..at + 10 };
            assert_eq!(index.floor(u64::from(block)).unwrap(), Some(floor));
            ordinal += size;
        }
    }

    #[test]
    fn ordinals_follow_from_the_blocks_that_closed_early() {
        check_ordinals(&[1], 0);
        check_ordinals(&[32, 32, 5], 0);
        check_ordinals(&[31, 32, 32], 1);
        check_ordinals(&[32, 1, 32, 32, 7, 32, 2], 2);
        check_ordinals(&[1, 1, 1, 1], 3);
        for &n_blocks in unless_miri(&[31, 32, 33, 64, 65][..], &[33]) {
            check_ordinals(&vec![32; n_blocks], 0);
            check_ordinals(&vec![31; n_blocks], n_blocks as u32 - 1);
        }
    }

    /// Whatever the list of blocks that closed early says, nobody is sent to a block or term that there is not.
    #[test]
    fn every_crafted_list_of_blocks_that_closed_early_leads_to_what_there_is() {
        let mut builder = IndexBuilder::new(1, Detail::Documents);
        [7, 5, 32, 20].into_iter().enumerate().for_each(|(n, size)| {
            builder.add_block(n as u64, size, 10);
        });
        let bytes = builder.finish();
        let numbers = [0, 1, 2, 3, 4, 31, 32, 33, 43, 63, 64, 65, u32::MAX - 31, u32::MAX];
        let (mut n_led, mut n_refused) = (0, 0);
        for entries in each_unless_miri(0..numbers.len().pow(4), 499) {
            let nth = |n: u32| numbers[entries / numbers.len().pow(n) % numbers.len()];
            let mut crafted = bytes.clone();
            let at = crafted.len() - 16;
            let entries = [nth(0), nth(1), nth(2), nth(3)];
            crafted[at..].copy_from_slice(&entries.map(u32::to_le_bytes).concat());
            let index = Index::open(crafted.as_slice()).unwrap();
            let n_terms = index.header.n_terms;
            for block in 0..4 {
                let Ok(ordinals) = index.ordinals(block) else {
                    n_refused += 1;
                    continue;
                };
                n_led += 1;
                let is_sound = (1..=BLOCK_TERMS as usize).contains(&ordinals.len());
                assert!(is_sound && ordinals.end <= n_terms, "{entries:?}: {ordinals:?}");
            }
            for ordinal in [0, 6, 7, 11, 12, 31, 32, n_terms - 1] {
                if let Ok(block) = index.block_of(ordinal) {
                    assert!(block < 4, "{entries:?}: term {ordinal} in block {block}");
                }
            }
        }
        assert!(n_led > 0 && n_refused > 0);
        // From here on numbers pass 2^32, and are no small ones.
        let mut crafted = bytes.clone();
        let at = crafted.len() - 16;
        crafted[at + 4..][..8].copy_from_slice(&[u32::MAX - 31, 9].map(u32::to_le_bytes).concat());
        let error = Index::open(crafted.as_slice()).unwrap().ordinals(3).unwrap_err().to_string();
        assert!(error.contains("an ordinal past 2^32"), "{error}");
    }

    #[test]
    fn places_that_no_block_has_are_refused() {
        let mut builder = IndexBuilder::new(1, Detail::Documents);
        (0..33).for_each(|n| builder.add_block(n, 32, 10));
        let bytes = builder.finish();
        // Offsets of the first group stand behind two tops and 32 prefixes; the last block is a group of its own.
        let offsets_at = TOPS_AT + 2 * TOP_LEN as usize + 32 * PREFIX_LEN as usize;
        let top_at = TOPS_AT + TOP_LEN as usize + 8;
        let found = |at: usize, place: u32, block: u32| {
            let mut crafted = bytes.clone();
            crafted[at..][..4].copy_from_slice(&place.to_le_bytes());
            let index = Index::open(crafted.as_slice()).unwrap();
            let (range, floor) = (index.block_range(block), index.floor(block.into()));
            assert_eq!(
                range.as_ref().ok(),
                floor.as_ref().ok().map(|of| &of.as_ref().unwrap().range)
            );
            range.map_err(|error| error.to_string())
        };
        let refused = |at, place, block| {
            let error = found(at, place, block).unwrap_err();
            assert!(error.contains(&format!("block {block} at")), "{error}");
        };
        let second = offsets_at + 4;
        assert_eq!(found(second, 10, 1), Ok(10..20));
        refused(second, 20, 1);
        refused(second, 21, 1);
        refused(second, 0, 0);
        assert_eq!(found(top_at, 329, 32), Ok(329..330));
        refused(top_at, 330, 32);
        assert_eq!(found(top_at, 330, 31), Ok(310..330));
        refused(top_at, 331, 31);
        refused(top_at, u32::MAX, 31);
    }

    #[test]
    fn a_header_that_contradicts_itself_is_refused_when_it_is_opened() {
        let mut builder = IndexBuilder::new(9, Detail::Positions);
        builder.add_block(0, 32, 10);
        builder.add_block(1, 3, 10);
        let bytes = builder.finish();
        let found = |fields: &[(usize, &[u8])]| {
            let mut changed = bytes.clone();
            for (at, value) in fields {
                changed[*at..][..value.len()].copy_from_slice(value);
            }
            Index::open(changed.as_slice()).map(|_| ()).map_err(|error| error.to_string())
        };
        let refused = |fields: &[(usize, &[u8])], why: &str| {
            let error = found(fields).unwrap_err();
            assert!(error.contains(why), "{error}");
        };
        let n_terms = "more or fewer terms than the blocks can hold";
        refused(&[(N_TERMS_AT, &[1])], n_terms);
        refused(&[(N_TERMS_AT, &[65])], n_terms);
        found(&[(N_TERMS_AT, &[2])]).unwrap();
        found(&[(N_TERMS_AT, &[64])]).unwrap();
        refused(&[(N_DOCS_AT, &[0])], "terms without documents");
        refused(&[(DETAIL_AT, &[3])], "a detail that is not 0, 1 or 2");

        // Two blocks of ten bytes; sums past 2^64 are no small sums.
        let too_many = "more bytes of keys and infos than there are bytes of blocks";
        let fields = [KEY_BYTES_AT, INFO_BYTES_AT, OCCURRENCE_BYTES_AT];
        found(&fields.map(|at| (at, &[6][..]))).unwrap();
        found(&[(fields[0], &[20])]).unwrap();
        for at in fields {
            refused(&[(at, &[21])], too_many);
            for other in fields.into_iter().filter(|other| *other != at) {
                refused(&[(at, &[0xFF; 8]), (other, &[1])], too_many);
            }
        }
        refused(&[(N_EARLY_AT, &[1])], "a section of");
    }

    #[test]
    fn a_dictionary_without_terms_needs_no_documents() {
        let bytes = IndexBuilder::new(0, Detail::Documents).finish();
        assert_eq!(Index::open(bytes.as_slice()).unwrap().header.n_terms, 0);
    }
}
