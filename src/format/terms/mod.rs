//! Terms of one field of one segment, in order, with their ordinals and documents.
//!
//! Written by [`TermDictionaryWriter`] while a segment is built, read by [`TermDictionary`] where
//! the bytes lie. Three sections: TERMS holds blocks of front-coded terms, INDEX finds the block of
//! a term or an ordinal, HEADS finds the block where a range begins.
//!
//! # Layout
//!
//! All integers are little-endian; varints are unsigned LEB128. Offsets count from the start of
//! their section.
//!
//! INDEX:
//!
//! ```text
//! offset  size  field         meaning
//!      0     4  n_terms       u32
//!      4     4  n_docs        u32, documents of the segment
//!      8     4  n_blocks      u32
//!     12     4  n_early       u32, entries of `early`
//!     16     8  blocks_len    u64, length of TERMS
//!     24     8  postings_len  u64, length of all payloads in POSTINGS
//!     32     8  key_bytes     u64, sum over all blocks
//!     40     8  info_bytes    u64, sum over all blocks
//!     48     8  occurrence_bytes u64, sum over all blocks
//!     56     4  detail        u32, what is kept of occurrences: 0 nothing, 1 frequencies, 2 positions
//!     60     4  zero          reserved, zero, ignored
//!     64     *  tops          per group of 32 blocks: u64 prefix and u64 offset of its first
//!      *     *  groups        per group: u64 prefix of each block, u32 offset of each from the first
//!      *     *  early         per block closed early: u32 block, u32 first ordinal after it
//! ```
//!
//! A prefix is the first eight bytes of a block's first term, padded with zeros, as a number whose
//! highest byte comes first in the term; so numbers order as terms do. Blocks have 32 terms, but
//! for the last one and those in `early`, which ended because a further key would have taken the
//! block past 16,384 bytes of keys. An ordinal is thus found by dividing.
//!
//! TERMS, blocks one after another:
//!
//! ```text
//! u8      count, 1 to 32
//! bytes   bit set of count bits, lowest first: terms of one document; unused bits are 0
//! varint  bytes of keys
//! varint  where the block's payloads begin in POSTINGS
//! varint  bytes of occurrences; only if detail is not 0
//! bytes   keys
//!           first: varint length, bytes
//!           later: u8 (shared up to 15) << 4 | (added - 1 up to 15)
//!                  [varint shared - 15] [varint added - 16] added bytes
//! bytes   the documents of terms of one document, W bytes each
//! bytes   infos of the other terms
//!           varint df
//!           df 2 to 4: varint first document, then varints: difference to the one before, less one
//!           df >= 5:   varint length of the payload in POSTINGS
//!           df >= 256: varint length of what ranking needs, which follows it; only if detail is not 0
//!           0, varint df of 1 to 4, varint length: these documents are in POSTINGS all the same,
//!                      because their occurrences take more than 64 bytes; only if detail is not 0
//! bytes   occurrences of the terms whose documents stand here, in order, as `format::occurrences` says
//! ```
//!
//! `shared` bytes are those of the term before; nibbles of 15 ask for a varint. W is the least of
//! 1 to 4 bytes that holds `n_docs - 1`. Payloads lie in the order of their terms without gaps.
//!
//! HEADS is an FST from separator to block number, laid out as [`heads`] says. The separator of
//! the first block is the empty string; that of a later one is the shortest string that is greater
//! than the last term of the block before and not greater than the block's first term.
//!
//! # Example
//!
//! Nine documents; `paris` is in document 2, `part` in 0 and 3, `party` in five whose list takes
//! six bytes; the field keeps positions, 0 for all words of `paris` and `part`. TERMS (24 bytes),
//! INDEX (92) and HEADS (36) one after another:
//!
//! ```text
//! 0000  03 01 0A 00 03 05 70 61  72 69 73 30 74 40 79 02
//! 0010  02 00 02 05 06 00 00 00  03 00 00 00 09 00 00 00
//! 0020  01 00 00 00 00 00 00 00  18 00 00 00 00 00 00 00
//! 0030  06 00 00 00 00 00 00 00  0A 00 00 00 00 00 00 00
//! 0040  06 00 00 00 00 00 00 00  03 00 00 00 00 00 00 00
//! 0050  02 00 00 00 00 00 00 00  00 00 00 73 69 72 61 70
//! 0060  00 00 00 00 00 00 00 00  00 00 00 73 69 72 61 70
//! 0070  00 00 00 00 03 00 00 00  00 00 00 00 00 00 00 00
//! 0080  00 00 00 00 01 00 00 00  00 00 00 00 00 00 00 00
//! 0090  00 00 00 00 C4 67 95 36
//! ```
//!
//! # Invariants
//!
//! - I1: terms ascend strictly, as byte strings. The empty term and NULs are terms like others.
//! - I2: a term has at most 32,766 bytes; a block of several terms at most 16,384 bytes of keys.
//! - I3: blocks fill TERMS without gaps; infos end where their block ends.
//! - I4: documents ascend strictly and are less than `n_docs`; df is at most `n_docs`.
//! - I5: a block's payloads begin where those of the block before end, and none is empty.
//! - I6: every count, length, prefix, offset and ordinal of INDEX is that of the blocks.
//! - I7: HEADS has exactly the separators above, and the checksum of its own that `fst` gives it.
//!
//! # Checks
//!
//! [`open`](TermDictionary::open) reads the header of INDEX and refuses one that contradicts
//! itself or the lengths of INDEX and TERMS. A lookup or walk refuses, in the blocks it touches,
//! whatever would lead it outside: counts, lengths, offsets, documents past `n_docs`.
//! [`verify`](TermDictionary::verify) checks I1 to I7. Never checked: that varints are the shortest,
//! that a block in `early` had to be closed. Bytes that were changed and summed again thus give
//! wrong answers at worst, never a panic, an endless loop, or more memory than a block needs. No
//! byte of a file reaches the `fst` crate, which only builds HEADS.
//!
//! # Cost
//!
//! A lookup touches the tops (16 bytes per 8,192 terms), a group's prefixes (at most 2 KiB, two or
//! three lines of it), an offset, and one block; a range touches about a dozen small nodes of
//! HEADS at either end. Walking decodes every key once. The Wikipedia titles (1.3 M terms, 2.1 M
//! documents) take 11.4 bytes a term: keys 6.7, infos 3.7 with the lists of up to four documents,
//! the rest 1.0. `cargo bench --bench term_lookup` prints all that.
//!
//! # Versions
//!
//! 1: this layout. The codec of the sections in the section table tells it.
//!
//! # Why
//!
//! One FST from term to ordinal takes 15 bytes a term and ten times as long to build, because most
//! terms of real text occur once and share no suffix; blocks lose only for fuzzy search at distance
//! one. Lookups use prefixes because a binary search over them costs less than walking an FST. The
//! tops keep that search, and what a fresh process must read for it, in few pages. The FST stays
//! for ranges: keys that share their first eight bytes, as URLs do, would need a look at many
//! blocks.

mod block;
mod heads;
mod index;
mod stream;
#[cfg(all(test, miri))]
mod unshared;
mod verify;

pub(crate) use block::BLOCK_TERMS;
use block::{Block, BlockBuilder, Damage};
use heads::{Heads, HeadsBuilder};
use index::{Floor, GroupAt, Header, Index, IndexBuilder, prefix_of};
pub(crate) use stream::{ByBytes, TermAutomaton, TermInfos, TermSearch, TermStream};

use crate::bytes::{Bytes, Source, common_prefix_len};
use crate::error::{Error, ErrorKind, Result};
use crate::format::cumulative::Cumulative;
use crate::ids::TermOrdinal;
use crate::plural::counted;
use crate::schema::Detail;
use std::ops::{Bound, Range};

/// Lists of up to this many documents stand in the dictionary itself.
pub(crate) const INLINE_DOCS_MAX: u32 = 4;
/// Bytes of occurrences that the dictionary takes with such a list; with more it is stored as others are.
pub(crate) const INLINE_OCCURRENCES_MAX: usize = 64;
/// Lists of this many documents have what ranking needs behind them, shorter ones their occurrences.
pub(crate) const RANKED_DOCS_MIN: u32 = 256;
/// The longest term in bytes.
pub(crate) const MAX_TERM_LEN: usize = 32_766;

/// Dictionary entry of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TermInfo {
    /// In how many documents it is.
    pub(crate) df: u32,
    pub(crate) postings: PostingsAt,
}

/// Place of a term's list of documents; follows from their number alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PostingsAt {
    Inline(InlineDocs),
    /// In the POSTINGS section.
    Section {
        offset: u64,
        len: u32,
        /// Bytes behind the list that ranking needs.
        ranked_len: u64,
    },
}

/// One to four documents, ascending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InlineDocs {
    docs: [u32; INLINE_DOCS_MAX as usize],
    len: u8,
    /// Block of the term, and the place in it, to find its occurrences.
    block: u32,
    index: u8,
}

impl PartialEq for InlineDocs {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for InlineDocs {}

impl InlineDocs {
    #[inline]
    pub(crate) fn as_slice(&self) -> &[u32] {
        // `len` is 1 to 4, as many as there are.
        self.docs.get(..usize::from(self.len)).unwrap_or(&self.docs)
    }
}

/// The documents of a term that is being added.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NewTerm<'a> {
    /// One to [`INLINE_DOCS_MAX`] documents, ascending, with up to [`INLINE_OCCURRENCES_MAX`] bytes.
    Inline { docs: &'a [u32], occurrences: &'a [u8] },
    /// More; `len` bytes, and `ranked_len` of a long list, follow those of the stored term before in POSTINGS.
    Stored { df: u32, len: u32, ranked_len: u64 },
}

impl NewTerm<'_> {
    fn df(&self) -> u32 {
        match self {
            // No more than four.
            NewTerm::Inline { docs, .. } => docs.len() as u32,
            NewTerm::Stored { df, .. } => *df,
        }
    }
}

/// Makes the three sections from terms in ascending order.
///
/// Memory: 16 bytes a block, the head FST and its builder's registry of some MiB, and the finished
/// blocks that the caller has not [taken](Self::blocks_mut).
#[derive(Debug)]
pub(crate) struct TermDictionaryWriter {
    n_docs: u32,
    detail: Detail,
    doc_width: usize,
    n_terms: u64,
    last_term: Vec<u8>,
    block: BlockBuilder,
    block_prefix: u64,
    blocks: Vec<u8>,
    index: IndexBuilder,
    heads: HeadsBuilder,
    /// Document frequencies of all terms so far, and what they were before each block.
    n_postings: u64,
    before_blocks: Vec<u32>,
}

/// The sections of a finished dictionary.
#[derive(Debug)]
pub(crate) struct FinishedDictionary {
    /// Bytes of TERMS that have not been taken yet.
    pub(crate) blocks: Vec<u8>,
    pub(crate) index: Vec<u8>,
    pub(crate) heads: Vec<u8>,
    /// Document frequencies of all terms, and up to each block: these as far as they fit 32 bits.
    pub(crate) n_postings: u64,
    pub(crate) before_blocks: Vec<u32>,
}

impl TermDictionaryWriter {
    pub(crate) fn new(n_docs: u32, detail: Detail) -> Self {
        TermDictionaryWriter {
            n_docs,
            detail,
            doc_width: block::doc_width(n_docs),
            n_terms: 0,
            last_term: vec![],
            block: BlockBuilder::default(),
            block_prefix: 0,
            blocks: vec![],
            index: IndexBuilder::new(n_docs, detail),
            heads: HeadsBuilder::default(),
            n_postings: 0,
            before_blocks: vec![],
        }
    }

    /// Adds the next term, which must be greater than the one before.
    pub(crate) fn add(&mut self, term: &[u8], new: NewTerm<'_>) -> Result<()> {
        let shared = common_prefix_len(&self.last_term, term);
        self.check(shared, term, new)?;
        if !self.block.has_room(shared, term) {
            self.finish_block();
        }
        if self.block.count() == 0 {
            let separator = if self.n_terms == 0 { &[] } else { heads::separator(shared, term) };
            self.heads.add(separator, self.index.header_mut().n_blocks);
            self.block_prefix = prefix_of(term);
            self.before_blocks.push(u32::try_from(self.n_postings).unwrap_or(u32::MAX));
        }
        self.n_postings += u64::from(new.df());
        self.block.push(shared, term, new, self.doc_width, self.detail);
        self.n_terms += 1;
        self.last_term.clear();
        self.last_term.extend_from_slice(term);
        Ok(())
    }

    fn check(&self, shared: usize, term: &[u8], new: NewTerm<'_>) -> Result<()> {
        let refuse = |kind, found: String| Err(Error::new(kind, "adding a term").found(found));
        if self.n_terms > 0 && self.last_term.get(shared) >= term.get(shared) {
            let found = format!("{} after {}", term.escape_ascii(), self.last_term.escape_ascii());
            return refuse(ErrorKind::Usage, found);
        }
        if term.len() > MAX_TERM_LEN {
            let found = format!("{} bytes, the limit is {MAX_TERM_LEN}", term.len());
            return refuse(ErrorKind::LimitExceeded, found);
        }
        if self.n_terms == u64::from(u32::MAX) {
            return refuse(ErrorKind::LimitExceeded, "4294967295 terms already".to_owned());
        }
        let fits = match new {
            NewTerm::Inline { docs, occurrences } => {
                (1..=INLINE_DOCS_MAX as usize).contains(&docs.len())
                    && docs.is_sorted_by(|a, b| a < b)
                    && docs.last().is_some_and(|last| *last < self.n_docs)
                    && occurrences.len() <= INLINE_OCCURRENCES_MAX
                    && occurrences.is_empty() != self.detail.has_frequencies()
            }
            NewTerm::Stored { df, len, .. } => {
                let fewest = if self.detail.has_frequencies() { 1 } else { INLINE_DOCS_MAX + 1 };
                (fewest..=self.n_docs).contains(&df) && len > 0
            }
        };
        match fits {
            true => Ok(()),
            false => refuse(ErrorKind::Usage, format!("{new:?} among {} documents", self.n_docs)),
        }
    }

    fn finish_block(&mut self) {
        let header = self.index.header_mut();
        header.key_bytes += self.block.key_bytes() as u64;
        header.info_bytes += self.block.info_bytes() as u64;
        header.occurrence_bytes += self.block.occurrence_bytes() as u64;
        header.postings_len = self.block.postings_end();
        let (n_terms, start) = (self.block.count(), self.blocks.len());
        self.block.finish_into(self.detail, &mut self.blocks);
        self.index.add_block(self.block_prefix, n_terms, self.blocks.len() - start);
    }

    /// The finished blocks, to be drained into the TERMS section whenever it suits the caller.
    pub(crate) fn blocks_mut(&mut self) -> &mut Vec<u8> {
        &mut self.blocks
    }

    pub(crate) fn finish(mut self) -> FinishedDictionary {
        if self.block.count() > 0 {
            self.finish_block();
        }
        FinishedDictionary {
            blocks: self.blocks,
            index: self.index.finish(),
            heads: self.heads.finish(),
            n_postings: self.n_postings,
            before_blocks: self.before_blocks,
        }
    }
}

/// The dictionary of one field of one segment, read where its bytes lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TermDictionary<S> {
    blocks: S,
    index: Index<S>,
    heads: Heads<S>,
}

/// The header of an index, which was checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenIndex(Header);

/// Terms looked up together; queries rarely have more.
const LOOKUPS: usize = 4;

/// A term on its way through the index.
struct Lookup<'t> {
    term: &'t [u8],
    group: Option<GroupAt>,
    floor: Option<Floor>,
}

/// Bytes of a dictionary by their use, for `inspect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DictionaryBytes {
    pub(crate) keys: u64,
    pub(crate) infos: u64,
    pub(crate) occurrences: u64,
    pub(crate) block_headers: u64,
    pub(crate) index: u64,
    pub(crate) heads: u64,
}

impl<'s, S: Source<'s>> TermDictionary<S> {
    /// Checks the header of the index and reads nothing else.
    pub(crate) fn open(blocks: S, index: S, heads: S) -> Result<Self> {
        let index = Index::open(index)?;
        if blocks.len() != index.header.blocks_len {
            let error = Error::corrupt("opening the blocks of a term dictionary")
                .expected(counted(index.header.blocks_len, "byte"))
                .found(format!("{}", blocks.len()));
            return Err(blocks.locate(0, error));
        }
        Ok(TermDictionary { blocks, index, heads: Heads::new(heads) })
    }

    /// Opens sections of which [`open`](Self::open) found this before, without reading.
    #[inline]
    pub(crate) fn opened(blocks: S, index: S, heads: S, known: OpenIndex) -> Self {
        let index = Index { source: index, header: known.0 };
        TermDictionary { blocks, index, heads: Heads::new(heads) }
    }

    /// Knowledge by which it can be opened again without reading.
    pub(crate) fn open_index(&self) -> OpenIndex {
        OpenIndex(self.index.header)
    }

    pub(crate) fn n_terms(&self) -> u32 {
        self.index.header.n_terms
    }

    pub(crate) fn n_blocks(&self) -> u32 {
        self.index.header.n_blocks
    }

    /// The ordinal of the first term of a block that exists.
    pub(crate) fn first_of_block(&self, block: u32) -> Result<u32> {
        Ok(self.index.ordinals(block)?.start)
    }

    /// Number of documents of the terms less than `key`, by the sums of the field, if all have eight bytes, as those of
    /// numbers and dates do: then the index says the block, in fewer lines of memory than the FST would; and up to 31
    /// infos of it.
    pub(crate) fn documents_below(&self, key: &[u8; 8], cumulative: &Cumulative<S>) -> Result<u32> {
        let Some(floor) = self.index.floor(prefix_of(key))? else { return Ok(0) };
        let block = self.parse(floor.block, floor.range)?;
        let found = block.find(key).map_err(|damage| self.damage(&block, damage))?;
        self.documents_in(&block, found.index, cumulative)
    }

    /// Number of documents of the first `n` terms of a block, and of those of all blocks before.
    fn documents_in(&self, block: &Block<'s>, n: u32, cumulative: &Cumulative<S>) -> Result<u32> {
        let (mut sum, mut infos) = (cumulative.before(block.number)?, block.infos());
        for nth in 0..n {
            sum = sum.saturating_add(self.info(block, &mut infos, nth)?.df);
        }
        Ok(sum)
    }

    /// Number of documents of the terms before `ordinal`, or of all of them, by the sums of the field: one lookup of a
    /// block and up to 31 infos in it.
    pub(crate) fn documents_before(&self, ordinal: u32, cumulative: &Cumulative<S>) -> Result<u32> {
        if ordinal >= self.n_terms() {
            return cumulative.before(self.n_blocks());
        }
        let number = self.index.block_of(ordinal)?;
        if ordinal == self.index.ordinals(number)?.start {
            return cumulative.before(number);
        }
        let (block, first) = self.block(number)?;
        self.documents_in(&block, self.index_in(&block, first, ordinal)?, cumulative)
    }

    /// Documents of the segment, as the writer was told.
    pub(crate) fn n_docs(&self) -> u32 {
        self.index.header.n_docs
    }

    /// Detail that is kept of each occurrence.
    pub(crate) fn detail(&self) -> Detail {
        // Opening refused any other number.
        self.index.header.detail().unwrap_or(Detail::Documents)
    }

    /// The occurrences in documents that stand in the dictionary itself, as `format::occurrences` says.
    pub(crate) fn occurrences(&self, docs: &InlineDocs) -> Result<Bytes<'s>> {
        let block = self.parse(docs.block, self.index.block_range(docs.block)?)?;
        block.occurrences(u32::from(docs.index)).map_err(|damage| self.damage(&block, damage))
    }

    /// The length that the POSTINGS section must have.
    pub(crate) fn postings_len(&self) -> u64 {
        self.index.header.postings_len
    }

    pub(crate) fn bytes(&self) -> DictionaryBytes {
        let header = &self.index.header;
        DictionaryBytes {
            keys: header.key_bytes,
            infos: header.info_bytes,
            occurrences: header.occurrence_bytes,
            block_headers: header.blocks_len
                - header.key_bytes
                - header.info_bytes
                - header.occurrence_bytes,
            index: self.index.section_len(),
            heads: self.heads.section_len(),
        }
    }

    /// Looks a term up; reads two pages of the index and one block, rarely more.
    pub(crate) fn get(&self, term: &[u8]) -> Result<Option<TermInfo>> {
        match self.index.floor(prefix_of(term))? {
            Some(floor) => self.get_from(&floor, term),
            None => Ok(None),
        }
    }

    /// Looks several terms up and hands the results to `found` in the same order. The words of a
    /// query lie far apart, and nearly all of a lookup is waiting for memory: here all of them wait
    /// together, first for their groups in the index, then for their blocks.
    pub(crate) fn get_all<'t>(
        &self,
        mut terms: impl Iterator<Item = &'t [u8]>,
        mut found: impl FnMut(Option<TermInfo>) -> Result<()>,
    ) -> Result<()> {
        loop {
            let mut lookups: [_; LOOKUPS] = std::array::from_fn(|_| {
                terms.next().map(|term| Lookup { term, group: None, floor: None })
            });
            if lookups[0].is_none() {
                return Ok(());
            }
            for lookup in lookups.iter_mut().flatten() {
                lookup.group = self.index.group_of(prefix_of(lookup.term))?;
            }
            for lookup in lookups.iter_mut().flatten() {
                if let Some(group) = &lookup.group {
                    let floor = self.index.floor_in(group, prefix_of(lookup.term))?;
                    self.blocks.prefetch(floor.range.clone());
                    lookup.floor = Some(floor);
                }
            }
            for Lookup { term, floor, .. } in lookups.iter().flatten() {
                found(match floor {
                    Some(floor) => self.get_from(floor, term)?,
                    None => None,
                })?;
            }
        }
    }

    /// Looks a term up in the one block that can hold it: the last whose head is not greater, of which `floor` knows the prefix.
    #[inline]
    fn get_from(&self, floor: &Floor, term: &[u8]) -> Result<Option<TermInfo>> {
        let block = self.parse(floor.block, floor.range.clone())?;
        if floor.prefix == prefix_of(term) && self.is_after(&block, term)? {
            return match self.block_before(floor, term)? {
                Some(block) => self.get_in(&block, term),
                None => Ok(None),
            };
        }
        self.get_in(&block, term)
    }

    #[inline]
    fn get_in(&self, block: &Block<'s>, term: &[u8]) -> Result<Option<TermInfo>> {
        let found = block.find(term).map_err(|damage| self.damage(block, damage))?;
        match found.exact {
            true => self.info(block, &mut block.infos(), found.index).map(Some),
            false => Ok(None),
        }
    }

    /// The last block whose head is not greater than `term`, where that of `floor` is.
    #[cold]
    fn block_before(&self, floor: &Floor, term: &[u8]) -> Result<Option<Block<'s>>> {
        // Several heads may begin with the same eight bytes: look at the heads themselves.
        let below = match floor.prefix.checked_sub(1) {
            Some(smaller) => self.index.floor(smaller)?.map_or(0, |floor| floor.block + 1),
            None => 0,
        };
        let (mut low, mut high) = (below, floor.block);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.is_after(&self.block(middle)?.0, term)? {
                high = middle
            } else {
                low = middle + 1
            }
        }
        low.checked_sub(1).map(|block| Ok(self.block(block)?.0)).transpose()
    }

    /// Whether the first term of `block` is greater than `term`.
    fn is_after(&self, block: &Block<'s>, term: &[u8]) -> Result<bool> {
        let head = block.head().map_err(|damage| self.damage(block, damage))?;
        Ok(head > term)
    }

    /// Writes the term with this ordinal to `out`, replacing what was there, and says what is known of it.
    pub(crate) fn term(&self, ordinal: TermOrdinal, out: &mut Vec<u8>) -> Result<TermInfo> {
        let TermOrdinal(ordinal) = ordinal;
        if ordinal >= self.n_terms() {
            return Err(Error::new(ErrorKind::Usage, "reading a term")
                .expected(format!("an ordinal below {}", self.n_terms()))
                .found(format!("{ordinal}")));
        }
        let (block, first_ordinal) = self.block(self.index.block_of(ordinal)?)?;
        let index = self.index_in(&block, first_ordinal, ordinal)?;
        out.clear();
        let mut keys = block.keys();
        for _ in 0..=index {
            let (shared, suffix) =
                block.next_key(&mut keys).map_err(|damage| self.damage(&block, damage))?;
            out.truncate(shared);
            out.extend_from_slice(suffix);
        }
        self.info(&block, &mut block.infos(), index)
    }

    /// The place in `block` of a term that the index says is in it.
    fn index_in(&self, block: &Block<'s>, first_ordinal: u32, ordinal: u32) -> Result<u32> {
        ordinal.checked_sub(first_ordinal).filter(|index| *index < block.count).ok_or_else(|| {
            let found = "a term that the index says is in this block";
            self.damage(block, Damage { at: 0, found })
        })
    }

    /// The ordinal of the first term that is not less than `key`: how many terms are less.
    pub(crate) fn rank(&self, key: &[u8]) -> Result<u32> {
        if self.n_terms() == 0 {
            return Ok(0);
        }
        let (block, first_ordinal) = self.block(self.heads_floor(key)?)?;
        let found = block.find(key).map_err(|damage| self.damage(&block, damage))?;
        Ok(first_ordinal + found.index)
    }

    /// The block with the first term that is not less than `key`, or the block before that.
    fn heads_floor(&self, key: &[u8]) -> Result<u32> {
        let floor = self.heads.floor(key)?.unwrap_or(0);
        u32::try_from(floor).ok().filter(|block| *block < self.index.header.n_blocks).ok_or_else(
            || {
                let found = format!("block {floor} of {}", self.index.header.n_blocks);
                self.heads.damage(0, found)
            },
        )
    }

    /// All terms.
    pub(crate) fn iter(&self) -> TermStream<'s, S> {
        TermStream::new(*self, 0..self.n_terms())
    }

    /// The terms with these ordinals.
    pub(crate) fn terms(&self, ordinals: Range<u32>) -> TermStream<'s, S> {
        TermStream::new(*self, ordinals)
    }

    /// The terms between two bounds; two lookups find its ends, so its length is known at once.
    pub(crate) fn range(
        &self,
        lower: Bound<&[u8]>,
        upper: Bound<&[u8]>,
    ) -> Result<TermStream<'s, S>> {
        let after = |key: &[u8]| self.rank(&[key, &[0]].concat());
        let start = match lower {
            Bound::Included(key) => self.rank(key)?,
            Bound::Excluded(key) => after(key)?,
            Bound::Unbounded => 0,
        };
        let end = match upper {
            Bound::Included(key) => after(key)?,
            Bound::Excluded(key) => self.rank(key)?,
            Bound::Unbounded => self.n_terms(),
        };
        Ok(TermStream::new(*self, start..end.max(start)))
    }

    /// The terms that begin with `prefix`.
    pub(crate) fn prefix(&self, prefix: &[u8]) -> Result<TermStream<'s, S>> {
        let mut after = prefix.to_vec();
        while after.pop_if(|last| *last == 0xFF).is_some() {}
        match after.last_mut() {
            None => self.range(Bound::Included(prefix), Bound::Unbounded),
            Some(last) => {
                *last += 1;
                self.range(Bound::Included(prefix), Bound::Excluded(&after))
            }
        }
    }

    /// Entries of the terms with these ordinals.
    pub(crate) fn infos(&self, ordinals: Range<u32>) -> TermInfos<'s, S> {
        TermInfos::new(*self, ordinals)
    }

    /// The terms that `automaton` accepts, in order.
    pub(crate) fn search<A: fst::Automaton>(&self, automaton: A) -> TermSearch<'s, S, ByBytes<A>> {
        self.search_live(ByBytes(automaton))
    }

    /// Searches by an automaton that knows which bytes may follow.
    pub(crate) fn search_live<A: TermAutomaton>(&self, automaton: A) -> TermSearch<'s, S, A> {
        TermSearch::new(*self, automaton)
    }

    /// Reads a block that exists and checks its header; also the ordinal of its first term.
    fn block(&self, number: u32) -> Result<(Block<'s>, u32)> {
        self.block_at(number, self.index.block_range(number)?)
    }

    /// Reads a block whose range of bytes is known.
    fn block_at(&self, number: u32, range: Range<u64>) -> Result<(Block<'s>, u32)> {
        let ordinals = self.index.ordinals(number)?;
        let block = self.parse(number, range)?;
        if block.count != ordinals.end - ordinals.start {
            let found = "another number of terms than the index says";
            return Err(self.damage(&block, Damage { at: 0, found }));
        }
        Ok((block, ordinals.start))
    }

    /// Reads the block at `range` and checks its header.
    #[inline]
    fn parse(&self, number: u32, range: Range<u64>) -> Result<Block<'s>> {
        let at = range.start;
        let bytes = self.blocks.bytes(range)?;
        Block::parse(bytes, at, number, self.index.header.n_docs, self.detail())
            .map_err(|damage| self.block_damage(number, at, damage))
    }

    #[inline]
    fn info(
        &self,
        block: &Block<'s>,
        infos: &mut block::InfoCursor,
        index: u32,
    ) -> Result<TermInfo> {
        block.info(infos, index).map_err(|damage| self.damage(block, damage))
    }

    fn damage(&self, block: &Block<'s>, damage: Damage) -> Error {
        self.block_damage(block.number, block.at, damage)
    }

    #[cold]
    fn block_damage(&self, number: u32, at: u64, damage: Damage) -> Error {
        let error = Error::corrupt(format!("reading term block {number}")).found(damage.found);
        self.blocks.locate(at + damage.at as u64, error)
    }
}

#[cfg(test)]
mod tests;
