//! How many of the documents that match have a date in each interval of the calendar, by a column.
//!
//! Only intervals that have any are kept, so that one date far from all others costs nothing. Of a block whose least and
//! greatest date lie in the same interval nothing is read where each of its documents has a value.
//!
//! Cost: a look at the directory for 1,024 documents, and some 50 ns for each that matches. Memory: some 50 bytes an interval.

use super::ranges::ColumnProfile;
use crate::budget;
use crate::error::{Error, Result};
use crate::execution::{MatchSet, Places, for_each_block};
use crate::format::column::{BLOCK_DOCS, Column};
use crate::ids::FieldId;
use crate::plan::SegmentPlan;
use crate::segment::file::Section;
use crate::value::{Interval, Timestamp};
use std::collections::BTreeMap;
use std::time::Instant;

/// What a look at the directory takes about, and at a document, in nanoseconds.
const HEAD_NS: u64 = 200;
const DOC_NS: u64 = 50;
/// What an interval takes about, in bytes.
const INTERVAL_BYTES: u64 = 64;

/// What intervals count, and what they leave out.
#[derive(Clone, Debug, Default)]
pub(crate) struct IntervalCounts {
    /// Where each interval that has any begins, where the next does, and its matching documents; in the order of time.
    pub(crate) counts: Vec<(i64, Option<i64>, u64)>,
    /// Matching documents without a date.
    pub(crate) missing: u64,
    pub(crate) profile: ColumnProfile,
}

/// Counts the documents of `matches` by intervals of a field of dates.
pub(crate) fn count_intervals(
    segments: &[SegmentPlan<'_>],
    field: FieldId,
    interval: Interval,
    matches: &[MatchSet],
) -> Result<IntervalCounts> {
    let started = Instant::now();
    let mut counting = Counting {
        interval,
        counts: BTreeMap::new(),
        n_with: 0,
        profile: <_>::default(),
        starts: vec![],
    };
    let mut n_matches = 0;
    for (segment, matches) in segments.iter().zip(matches) {
        n_matches += matches.len(segment.n_docs);
        // Whether there is one was looked up in the schema.
        let Some(column) = segment.segment.field(field).column()? else { continue };
        for_each_block(matches, segment.n_docs, |nth, places| {
            counting.add_block(&column, nth, places)
        })?;
    }
    let Counting { counts, n_with, profile, .. } = counting;
    Ok(IntervalCounts {
        counts: counts.into_iter().map(|(start, of)| (start, of.next, of.count)).collect(),
        missing: n_matches.saturating_sub(n_with),
        profile: ColumnProfile { time: started.elapsed(), ..profile },
    })
}

struct Counting {
    interval: Interval,
    /// By where they begin.
    counts: BTreeMap<i64, Counted>,
    n_with: u64,
    profile: ColumnProfile,
    /// Where the intervals of a document begin.
    starts: Vec<i64>,
}

/// What one interval has so far.
#[derive(Default)]
struct Counted {
    next: Option<i64>,
    count: u64,
}

impl Counting {
    fn add_block(
        &mut self,
        column: &Column<Section<'_>>,
        nth: u32,
        places: Places<'_>,
    ) -> Result<()> {
        budget::work(HEAD_NS)?;
        self.profile.blocks += 1;
        let head = column.head(nth)?;
        let n_docs = column.n_docs().saturating_sub(nth * BLOCK_DOCS).min(BLOCK_DOCS);
        if head.n_values == 0 {
            self.profile.blocks_skipped += 1;
            return Ok(());
        }
        let start = self.interval.start(micros(head.least)?);
        if start == self.interval.start(micros(head.greatest)?) && u32::from(head.n_with) == n_docs
        {
            let n_places = u64::from(places.len());
            self.n_with += n_places;
            self.profile.blocks_skipped += 1;
            return self.add(start, n_places);
        }
        let block = column.block(nth, head)?;
        let (mut n_read, mut done) = (0, Ok(()));
        places.for_each(|place| {
            n_read += 1;
            if done.is_ok() {
                done = self.add_document(block.codes(place));
            }
        });
        self.profile.documents += n_read;
        done
    }

    fn add_document(&mut self, codes: impl Iterator<Item = u64>) -> Result<()> {
        self.starts.clear();
        for code in codes {
            budget::work(DOC_NS)?;
            let start = self.start(micros(code)?);
            self.starts.push(start);
        }
        // Dates ascend, and so do these.
        self.starts.dedup();
        self.n_with += u64::from(!self.starts.is_empty());
        (0..self.starts.len()).try_for_each(|nth| self.add(self.starts[nth], 1))
    }

    /// Where the interval of a date begins: looked up where it is known.
    fn start(&self, micros: i64) -> i64 {
        match self.counts.range(..=micros).next_back() {
            Some((start, of)) if of.next.is_none_or(|next| micros < next) => *start,
            _ => self.interval.start(micros),
        }
    }

    fn add(&mut self, start: i64, n_docs: u64) -> Result<()> {
        if let Some(of) = self.counts.get_mut(&start) {
            of.count += n_docs;
            return Ok(());
        }
        budget::hold(INTERVAL_BYTES)?;
        self.counts.insert(start, Counted { next: self.interval.next(start), count: n_docs });
        Ok(())
    }
}

/// The microseconds that a code stands for.
fn micros(code: u64) -> Result<i64> {
    let date = Timestamp::from_code(code);
    date.map(Timestamp::as_micros).ok_or_else(|| {
        Error::corrupt("reading a column of dates")
            .expected("dates of the years -9999 to 9999")
            .found(format!("the code {code:#018x}"))
    })
}
