//! One walk over the column of a field for whatever is made of its values. It goes by the blocks in which something matches,
//! and reads nothing of a block whose bounds say enough.

use super::of_field::OfSegment;
use super::profile::ColumnCounts;
use crate::budget::{self, ns};
use crate::doc_id_set::DocIdSet;
use crate::error::{Error, Result};
use crate::format::column::{Block, BlockHead, Few, Heads, OneEach, Plain};
use crate::matching::{Places, for_each_block, for_each_few_or_block, for_each_number};
use crate::segment::file::Section;

/// Taker of the values of documents that match, as they are met: each document counts once for each of its keys.
pub(super) trait Sink {
    /// Nanoseconds of about a look at the directory, at a value, and at one of a few documents.
    const HEAD_NS: u64 = ns::COLUMN_HEAD;
    const VALUE_NS: u64;
    const FEW_NS: u64 = ns::VALUE_OF_FEW;

    /// Key that a code is counted by. Keys ascend with codes.
    type Key: Copy + PartialEq;

    fn key(&self, code: u64) -> Result<Self::Key>;

    fn add(&mut self, key: Self::Key, n_docs: u32) -> Result<()>;

    /// Takes the codes of documents here and there, of which each has one.
    fn take_few(&mut self, codes: &[u64]) -> Result<()> {
        codes.iter().try_for_each(|code| self.add(self.key(*code)?, 1))
    }

    /// Takes the values of what matches in a block; how many documents have any.
    fn take_block(&mut self, block: &Block<'_>, of: InBlock<'_>) -> Result<u64> {
        take_codes(self, block, of)
    }
}

/// Gives a sink each key of each document that matches in a block, once; how many documents have any.
pub(super) fn take_codes<S: Sink + ?Sized>(
    sink: &mut S,
    block: &Block<'_>,
    of: InBlock<'_>,
) -> Result<u64> {
    let (mut n_with, mut n_codes) = (0, 0);
    of.places.try_for_each(|place| {
        let mut last = None;
        block.codes(place).try_for_each(|code| {
            n_codes += 1;
            let key = sink.key(code)?;
            if last.replace(key) == Some(key) { Ok(()) } else { sink.add(key, 1) }
        })?;
        n_with += u64::from(last.is_some());
        // Runs of codes of a crafted block may overlap.
        if n_codes <= block.n_values() {
            return Ok(());
        }
        Err(Error::corrupt("reading the codes of a column")
            .expected(format!("at most {} in a block", block.n_values()))
            .found(format!("{n_codes} of some of its documents")))
    })?;
    budget::work(S::VALUE_NS * (u64::from(of.n) + n_codes - n_with))?;
    Ok(n_with)
}

pub(super) struct InBlock<'m> {
    pub(super) head: BlockHead,
    pub(super) places: Places<'m>,
    pub(super) n: u32,
}

/// Work of walks over columns.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scan {
    /// Matching documents that have a value.
    pub(super) n_with: u64,
    pub(super) profile: ColumnCounts,
}

impl Scan {
    pub(super) fn blocks(&mut self, part: &OfSegment<'_>, sink: &mut impl Sink) -> Result<()> {
        for_each_block(part.matches, &mut Heads::of(part.column), |heads, nth, places| {
            self.block(heads, nth, places, sink)
        })
    }

    /// Walks over documents one by one that match here and there and have one value at the most, over others by blocks.
    pub(super) fn few_or_blocks<S: Sink>(
        &mut self,
        part: &OfSegment<'_>,
        sink: &mut S,
    ) -> Result<()> {
        let few = |(scan, sink): &mut (&mut Self, &mut S), few: &Few| {
            budget::work(S::FEW_NS * few.n_docs)?;
            scan.profile.blocks += few.n_blocks;
            scan.profile.documents += few.n_docs;
            scan.n_with += few.codes().len() as u64;
            sink.take_few(few.codes())
        };
        let (matches, mut heads, mut state) = (part.matches, Heads::of(part.column), (self, sink));
        for_each_few_or_block(matches, &mut heads, &mut state, few, |state, heads, nth, places| {
            state.0.block(heads, nth, places, state.1)
        })
    }

    /// Walks over the numbers of a plain column, each of which takes so many nanoseconds; `take` says how many of some have a value.
    pub(super) fn numbers(
        &mut self,
        plain: &Plain<Section<'_>>,
        matches: &DocIdSet,
        each_ns: u64,
        mut take: impl FnMut(&[u32]) -> Result<u64>,
    ) -> Result<()> {
        for_each_number(matches, plain, |numbers| {
            budget::work(each_ns * numbers.len() as u64)?;
            self.profile.documents += numbers.len() as u64;
            self.n_with += take(numbers)?;
            Ok(())
        })
    }

    /// Counts with the work done for them, of so many documents that match.
    pub(super) fn counts<T>(self, counts: Vec<T>, n_matches: u64) -> MetCounts<T> {
        let missing = n_matches.saturating_sub(self.n_with);
        MetCounts { counts, other: 0, missing, profile: self.profile }
    }

    fn block<'s, S: Sink>(
        &mut self,
        heads: &mut Heads<'s, Section<'s>>,
        nth: u32,
        places: Places<'_>,
        sink: &mut S,
    ) -> Result<()> {
        budget::work(S::HEAD_NS)?;
        let (column, head, n) = (heads.column(), heads.get(nth)?, places.len());
        self.profile.blocks += 1;
        if head.n_values == 0 {
            self.profile.blocks_skipped += 1;
            return Ok(());
        }
        if u32::from(head.n_with) == column.docs_of(nth) {
            // The head also has documents that do not match, whose keys may be further away than any that is added.
            let key = sink.key(head.least)?;
            if key == sink.key(head.greatest)? {
                self.profile.blocks_skipped += 1;
                self.n_with += u64::from(n);
                return sink.add(key, n);
            }
        }
        self.profile.documents += u64::from(n);
        let of = InBlock { head, places, n };
        self.n_with += sink.take_block(&column.block(nth, head)?, of)?;
        Ok(())
    }
}

/// Matching documents by what their values lie in.
#[derive(Clone, Debug, Default)]
pub(crate) struct MetCounts<T> {
    /// In their order: of each range, or of each step or interval that has any.
    pub(crate) counts: Vec<T>,
    /// Matching documents that have a value, but in none of these.
    pub(crate) other: u64,
    pub(crate) missing: u64,
    pub(crate) profile: ColumnCounts,
}

/// Room for places in a block, and for the numbers that stand there.
#[derive(Debug, Default)]
pub(crate) struct NumbersAt {
    places: Vec<u32>,
    numbers: Vec<u32>,
}

impl NumbersAt {
    /// Reads the numbers at some places, which come with them.
    pub(crate) fn read(&mut self, block: &OneEach<'_>, places: Places<'_>) -> (&[u32], &[u32]) {
        // Fetching from places waits for each, and by then most are here.
        block.prefetch();
        places.write_to(&mut self.places);
        self.numbers.resize(self.places.len(), 0);
        block.numbers(&self.places, &mut self.numbers);
        (&self.places, &self.numbers)
    }
}
