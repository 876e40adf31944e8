//! Carrying a plan out: counts, pages of documents, and whole results for facets.
//!
//! An [`Execution`] owns a plan and all the memory that carrying it out needs, so that doing it
//! again allocates nothing. It goes through each segment in *windows* of 65,536 documents, the
//! range of one roaring container: `boolean` combines the containers of one window, smallest
//! first; `lists` finds them. A container is fetched, and thereby checked, only when an operator
//! touches it, and the last operation of a count writes nothing.
//!
//! Cost: a window costs about 12 ns for each operator that has documents there, and what its
//! kernels cost (`plan::cost`). Memory: two containers (at most 16 KiB) for each operator that
//! needs them, whatever the size of the index.

mod boolean;
mod lists;
mod profile;
mod result;

use crate::bitmap::ContainerBuf;
use crate::error::{Error, Result};
use crate::ids::DocId;
use crate::plan::estimate::Estimate;
use crate::plan::{Goal, Plan, PlanScratch, Total};
use boolean::{Chunk, Evaluation, Step, Want};
use lists::Lists;
pub(crate) use profile::{NodeProfile, Profile};
pub(crate) use result::{MatchSet, MatchWindows, Matches};
use std::ops::Range;
use std::time::Instant;

/// A plan with the memory to carry it out, any number of times.
#[derive(Debug)]
pub(crate) struct Execution<'s> {
    plan: Plan<'s>,
    lists: Vec<Lists<'s>>,
    /// Two results for each operator, the one being read and the one being written; allocated when
    /// first written to.
    slots: Vec<Option<ContainerBuf>>,
    /// The inputs that operators under evaluation have still to visit.
    steps: Vec<Step>,
    profile: Profile,
}

/// The memory of an execution that has ended, for the next one.
#[derive(Debug, Default)]
pub(crate) struct ExecutionScratch {
    slots: Vec<Option<ContainerBuf>>,
    steps: Vec<Step>,
    profile: Vec<NodeProfile>,
}

/// Containers of 8 KiB that are kept from one execution to the next.
const SLOTS_KEPT: usize = 16;

/// How many documents match, as far as they were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) documents: u64,
    /// Whether counting stopped before the end.
    pub(crate) more: bool,
}

impl<'s> Execution<'s> {
    /// Prepares to carry out `plan`; with `timed` also takes the time of each operator, which costs
    /// some 50 ns for each container.
    pub(crate) fn new(plan: Plan<'s>, timed: bool, scratch: ExecutionScratch) -> Self {
        let ExecutionScratch { mut slots, mut steps, profile } = scratch;
        slots.resize_with(slots.len().max(2 * plan.nodes.len()), || None);
        steps.reserve(plan.inputs.len());
        Execution {
            lists: plan.segments.iter().map(|part| Lists::new(part.leaves.len())).collect(),
            slots,
            steps,
            profile: Profile::new(plan.segments.len(), plan.nodes.len(), timed, profile),
            plan,
        }
    }

    /// Ends the execution and keeps its memory for the next.
    pub(crate) fn into_scratch(self) -> (PlanScratch, ExecutionScratch) {
        let Execution { plan, mut slots, steps, profile, .. } = self;
        slots.truncate(SLOTS_KEPT);
        let scratch = ExecutionScratch { slots, steps, profile: profile.into_nodes() };
        (plan.into_scratch(), scratch)
    }

    pub(crate) fn plan(&self) -> &Plan<'s> {
        &self.plan
    }

    /// What the last run did.
    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// How many documents match.
    pub(crate) fn count(&mut self) -> Result<u64> {
        let started = self.start();
        let mut total = 0;
        for at in 0..self.plan.segments.len() {
            total += self.count_segment(at)?;
        }
        self.profile.finish(&self.plan, started);
        Ok(total)
    }

    /// Appends the documents of the page that the plan is for, in document order, and counts the
    /// matches as far as the plan wants them counted.
    pub(crate) fn page(&mut self, docs: &mut Vec<DocId>) -> Result<Counted> {
        self.page_and(docs, None)
    }

    /// As [`page`](Self::page), and keeps everything that matches in every segment for the facets.
    pub(crate) fn page_and_matches(&mut self, docs: &mut Vec<DocId>) -> Result<(Counted, Matches)> {
        let mut matches = Matches::new();
        let counted = self.page_and(docs, Some(&mut matches))?;
        Ok((counted, matches))
    }

    fn page_and(
        &mut self,
        docs: &mut Vec<DocId>,
        mut matches: Option<&mut Matches>,
    ) -> Result<Counted> {
        let started = self.start();
        let (offset, limit, total) = match self.plan.goal {
            Goal::Count => (0, 0, Total::Exact),
            Goal::Page { offset, limit, total } => (offset, limit, total),
        };
        let mut page = Page { skip: offset, take: limit, total, counted: 0, stopped: false };
        for at in 0..self.plan.segments.len() {
            if page.is_done() && matches.is_none() {
                page.stopped |= self.plan.segments[at..]
                    .iter()
                    .any(|part| part.estimates.last().is_some_and(|root| !root.is_empty()));
                break;
            }
            let set = self.page_segment(at, &mut page, docs, matches.is_some())?;
            if let (Some(matches), Some(set)) = (matches.as_deref_mut(), set) {
                matches.push(set);
            }
        }
        if page.stopped {
            self.profile.stopped_early();
        }
        self.profile.finish(&self.plan, started);
        Ok(Counted { documents: page.counted, more: page.stopped })
    }

    /// Clears the profile; the time is taken only where the profile will be looked at.
    fn start(&mut self) -> Option<Instant> {
        self.profile.clear();
        self.profile.timed().then(Instant::now)
    }

    fn root_estimate(&self, segment: usize) -> Estimate {
        *self.plan.segments[segment].estimate(self.plan.root())
    }

    fn count_segment(&mut self, at: usize) -> Result<u64> {
        let root = self.plan.root();
        if let Some(known) = self.root_estimate(at).known() {
            self.profile.answered(at, root, known);
            return Ok(known);
        }
        let mut run = self.evaluation(at)?;
        let (mut key, mut total) = (0, 0);
        while let Some(next) = run.next_root_window(key) {
            total += u64::from(run.root(next, Want::Count)?.cardinality);
            key = next + 1;
        }
        Ok(total)
    }

    /// Reads one segment window by window until the page is full and the count is known; with
    /// `keep` until its end.
    fn page_segment(
        &mut self,
        at: usize,
        page: &mut Page,
        docs: &mut Vec<DocId>,
        keep: bool,
    ) -> Result<Option<MatchSet>> {
        let root = self.plan.root();
        let known = self.root_estimate(at).known();
        let (base, n_docs) = (self.plan.segments[at].base, self.plan.segments[at].n_docs);
        if known == Some(0) {
            self.profile.answered(at, root, 0);
            return Ok(keep.then(MatchSet::nothing));
        }
        let everything = known == Some(u64::from(n_docs));
        let mut set = match keep {
            true if everything => Some(MatchSet::Everything),
            true => Some(MatchSet::with_room(n_docs)),
            false => None,
        };
        let collect = matches!(set, Some(MatchSet::Some(_)));
        let before = page.counted;
        let mut run = self.evaluation(at)?;
        let mut key = 0;
        loop {
            if !collect && page.is_full() {
                if let Some(known) = known {
                    page.counted = before + known;
                    run.answered(root, known);
                    return Ok(set);
                }
                if page.is_done() {
                    // Whether more would have come is not looked up.
                    page.stopped = true;
                    return Ok(set);
                }
            }
            let Some(next) = run.next_root_window(key) else { return Ok(set) };
            let want = if collect || !page.is_full() { Want::Documents } else { Want::Count };
            let chunk = run.root(next, want)?;
            key = next + 1;
            page.counted += u64::from(chunk.cardinality);
            if !page.is_full() {
                page.take(&run, chunk, base..base + u64::from(n_docs), next, docs)?;
            }
            if let Some(MatchSet::Some(set)) = &mut set {
                set.push(next, chunk.cardinality, run.resolve(chunk)?);
            }
        }
    }

    /// Opens what the plan left unread in one segment, and begins to evaluate windows there.
    fn evaluation(&mut self, at: usize) -> Result<Evaluation<'_, 's>> {
        let profile = self.profile.segment_mut(at);
        self.lists[at].open(&self.plan.leaves, &mut self.plan.segments[at])?;
        Ok(Evaluation::new(
            &self.plan,
            &self.plan.segments[at],
            &mut self.lists[at],
            &mut self.slots,
            &mut self.steps,
            profile,
        ))
    }
}

/// A page of documents while it fills, and how far matches have been counted.
struct Page {
    skip: u64,
    take: u64,
    total: Total,
    counted: u64,
    /// Whether something was left unread.
    stopped: bool,
}

impl Page {
    fn is_full(&self) -> bool {
        self.take == 0
    }

    /// Whether neither documents nor the count need anything more.
    fn is_done(&self) -> bool {
        self.is_full()
            && match self.total {
                Total::Exact => false,
                Total::UpTo(most) => self.counted > most,
                Total::Unknown => true,
            }
    }

    /// Takes the documents of one window that belong to the page.
    fn take<'s>(
        &mut self,
        run: &Evaluation<'_, 's>,
        chunk: Chunk<'s>,
        segment: Range<u64>,
        key: u32,
        docs: &mut Vec<DocId>,
    ) -> Result<()> {
        let cardinality = u64::from(chunk.cardinality);
        if self.skip >= cardinality {
            self.skip -= cardinality;
            return Ok(());
        }
        let first = segment.start + (u64::from(key) << 16);
        let wanted = usize::try_from(self.take).unwrap_or(usize::MAX);
        let from = docs.len();
        let container = run.resolve(chunk)?;
        docs.extend(
            container
                .iter()
                .skip(self.skip as usize)
                .take(wanted)
                .map(|low| DocId(first + u64::from(low))),
        );
        if docs.last().is_some_and(|last| last.0 >= segment.end) {
            return Err(Error::corrupt("reading a posting list")
                .expected(format!("documents of a segment of {}", segment.end - segment.start))
                .found("a document past its end"));
        }
        self.skip = 0;
        self.take -= (docs.len() - from) as u64;
        Ok(())
    }
}
