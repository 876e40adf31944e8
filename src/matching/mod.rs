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

mod blocks;
mod boolean;
mod column;
mod counter;
mod less_deleted;
mod lists;
mod lookup;
mod neighbors;
mod points;
mod numbers;
mod pair;
mod phrases;
mod profile;
mod counts;

use crate::bitmap::Container;
use crate::budget;
use crate::doc_id_set::{DocIdSet, MatchWindows, Matches};
use crate::error::{Error, Result};
use crate::expansion::DocSet;
use crate::ids::DocId;
use crate::phrase::PhraseWorkspace;
use crate::plan::estimate::Estimate;
use crate::plan::leaf::Postings;
use crate::plan::{CountWay, Goal, LeafId, LeafKey, Node, NodeId, Pair, Plan, PlanScratch, Total};
use crate::recycle::recycled;
pub(crate) use blocks::{Places, for_each_block, for_each_block_of, for_each_few_or_block};
use boolean::{Chunk, Evaluation, Want, Workspace};
pub(crate) use counts::count_term;
use lists::{Expanded, Lists};
pub(crate) use lookup::{leaf_has, phrase_has};
pub(crate) use numbers::for_each_number;
use phrases::{Phrases, PhrasesMemory};
use points::ReadArea;
pub use profile::ContainerCounts;
pub(crate) use profile::{NodeProfile, Profile};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// A plan with the memory to carry it out, any number of times.
#[derive(Debug)]
pub(crate) struct Execution<'s> {
    plan: Plan<'s>,
    lists: Vec<Lists<'s>>,
    phrases: Phrases<'s>,
    profile: Profile,
    /// Number of documents that the last run counted, also where it was stopped.
    counted: u64,
    memory: Box<ExecutionScratch>,
}

/// Memory of a plan and its execution, for the next when it has ended.
#[derive(Debug, Default)]
pub(crate) struct ExecutionScratch {
    pub(crate) plan: PlanScratch,
    workspace: Workspace,
    /// For the documents of patterns.
    doc_sets: Vec<DocSet>,
    smallest: Vec<u32>,
    /// For the documents of a page.
    docs: Vec<DocId>,
    /// For segments, the first one last.
    of_lists: Vec<Lists<'static>>,
    lists: Vec<Lists<'static>>,
    profile: Vec<NodeProfile>,
    phrases: PhrasesMemory,
    phrase: PhraseWorkspace,
}

/// Sets of documents of patterns that are kept from one execution to the next, and their size.
const DOC_SETS_KEPT: usize = 2;
const DOC_SET_BYTES_KEPT: usize = 2 << 20;
/// Segments whose memory is kept from one execution to the next.
const LISTS_KEPT: usize = 32;
/// Bytes of a container at the most.
const SLOT_BYTES: u64 = 8 << 10;

/// Number of matching documents, as far as they were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) documents: u64,
    /// Whether counting stopped before the end.
    pub(crate) more: bool,
}

impl<'s> Execution<'s> {
    /// Prepares to carry out `plan`, with `timed` by the clock, which costs some 50 ns for each container.
    pub(crate) fn new(plan: Plan<'s>, timed: bool, mut memory: Box<ExecutionScratch>) -> Self {
        memory.workspace.make_room(&plan);
        let mut lists = recycled(std::mem::take(&mut memory.lists));
        let (phrases, profile) =
            (std::mem::take(&mut memory.phrases), std::mem::take(&mut memory.profile));
        lists.extend(
            plan.segments.iter().map(|part| {
                Lists::new(part.leaves.len(), memory.of_lists.pop().unwrap_or_default())
            }),
        );
        Execution {
            lists,
            phrases: Phrases::of(&plan, phrases),
            profile: Profile::new(plan.segments.len(), plan.nodes.len(), timed, profile),
            counted: 0,
            plan,
            memory,
        }
    }

    /// Ends the execution and keeps its memory for the next.
    pub(crate) fn into_scratch(self) -> Box<ExecutionScratch> {
        let Execution { plan, mut lists, mut memory, profile, phrases, .. } = self;
        let ExecutionScratch { workspace, doc_sets, of_lists, .. } = &mut *memory;
        workspace.shrink();
        of_lists.extend(lists.drain(..).rev().map(|each| each.into_memory(doc_sets)));
        of_lists.drain(..of_lists.len().saturating_sub(LISTS_KEPT));
        doc_sets.retain(|docs| docs.bytes() <= DOC_SET_BYTES_KEPT);
        doc_sets.truncate(DOC_SETS_KEPT);
        (memory.lists, memory.profile) = (recycled(lists), profile.nodes);
        memory.phrases = phrases.into_memory();
        memory.plan = plan.into_scratch();
        memory
    }

    pub(crate) fn plan(&self) -> &Plan<'s> {
        &self.plan
    }

    /// The plan, to complete it, or to add what people are told.
    pub(crate) fn plan_mut(&mut self) -> &mut Plan<'s> {
        &mut self.plan
    }

    /// Empty memory for the documents of a page.
    pub(crate) fn take_docs(&mut self) -> Vec<DocId> {
        std::mem::take(&mut self.memory.docs)
    }

    /// Keeps memory that was [taken](Self::take_docs).
    pub(crate) fn keep_docs(&mut self, docs: Vec<DocId>) {
        self.memory.docs = recycled(docs);
    }

    /// Profile of the last run.
    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Counts the matching documents.
    pub(crate) fn count(&mut self) -> Result<u64> {
        self.counted = 0;
        self.profiled(|run| {
            let mut total = 0;
            let all =
                (0..run.plan.segments.len()).try_for_each(|at| run.count_segment(at, &mut total));
            run.counted = total;
            all.map(|()| total)
        })
    }

    /// Returns the number of documents that the last run counted, which is all that is known of one that was stopped.
    pub(crate) fn counted(&self) -> u64 {
        self.counted
    }

    /// Appends the documents of the page that the plan is for, in document order, if it is for one, and counts the
    /// matches as far as the plan wants them counted.
    pub(crate) fn run(&mut self, docs: &mut Vec<DocId>) -> Result<Counted> {
        match self.plan.goal {
            _ if self.plan.keeps_matches => self.page_and_matches(docs).map(|(counted, _)| counted),
            Goal::Count => self.count().map(|documents| Counted { documents, more: false }),
            Goal::Page { .. } => self.page_and(docs, None),
        }
    }

    /// Works like [`run`](Self::run), and keeps everything that matches in every segment for the facets.
    pub(crate) fn page_and_matches(&mut self, docs: &mut Vec<DocId>) -> Result<(Counted, Matches)> {
        let mut matches = Matches::new();
        let counted = self.page_and(docs, Some(&mut matches))?;
        Ok((counted, matches))
    }

    fn page_and(
        &mut self,
        docs: &mut Vec<DocId>,
        matches: Option<&mut Matches>,
    ) -> Result<Counted> {
        let (offset, limit, total) = match self.plan.goal {
            Goal::Count => (0, 0, Total::Exact),
            Goal::Page { offset, limit, total } => (offset, limit, total),
        };
        self.profiled(|run| {
            let mut page = Page { skip: offset, take: limit, total, counted: 0, stopped: false };
            let all = run.fill(&mut page, docs, matches);
            run.counted = page.counted;
            run.profile.stopped_early |= page.stopped;
            all.map(|()| Counted { documents: page.counted, more: page.stopped })
        })
    }

    /// Goes through the segments until the page is full and everything is counted and kept that is to be.
    fn fill(
        &mut self,
        page: &mut Page,
        docs: &mut Vec<DocId>,
        mut matches: Option<&mut Matches>,
    ) -> Result<()> {
        for at in 0..self.plan.segments.len() {
            if page.is_done() && matches.is_none() {
                page.stopped |= self.plan.segments[at..]
                    .iter()
                    .any(|part| part.estimates.last().is_some_and(|root| !root.is_empty()));
                break;
            }
            if matches.is_none() && self.page_of_smallest(at, page, docs)? {
                continue;
            }
            let set = self.page_segment(at, page, docs, matches.is_some())?;
            if let (Some(matches), Some(set)) = (matches.as_deref_mut(), set) {
                matches.push(set);
            }
        }
        Ok(())
    }

    /// Calls `found` with the documents of each window of the plan's one segment, and keeps nothing of them.
    pub(crate) fn each_window(&mut self, mut found: impl FnMut(u32, Container<'_>)) -> Result<()> {
        debug_assert!(self.plan.segments.len() <= 1, "windows of one segment");
        self.profiled(|run| {
            for at in 0..run.plan.segments.len() {
                let mut run = run.evaluation(at)?;
                while let Some(key) = run.next_root_window() {
                    let chunk = run.root(key, Want::Documents)?;
                    found(key, run.resolve(chunk)?);
                }
            }
            Ok(())
        })
    }

    /// Finds the documents of the sets that scores depend on, each by segment.
    pub(crate) fn find_sets(&mut self) -> Result<Vec<Vec<Arc<DocIdSet>>>> {
        budget::hold(slot_bytes(&self.plan))?;
        self.find_neighbors()?;
        (0..self.plan.n_score_sets())
            .map(|nth| self.find_set(nth, |found| Ok(Arc::new(found.to_test()?))))
            .collect()
    }

    /// Finds what matches without some selections: by their place among those that the plan finds.
    pub(crate) fn find_unselected(&mut self, nth: usize) -> Result<Matches> {
        self.find_set(self.plan.n_score_sets() + nth, Ok)
    }

    fn find_set<T>(&mut self, nth: usize, then: impl Fn(DocIdSet) -> Result<T>) -> Result<Vec<T>> {
        let root = self.plan.sets[nth];
        self.find_neighbors()?;
        self.profiled_of(root, |run| {
            (0..run.plan.segments.len()).map(|at| then(run.set_in(at, root)?)).collect()
        })
    }

    /// Finds what an operator has in one segment.
    fn set_in(&mut self, at: usize, root: NodeId) -> Result<DocIdSet> {
        let part = &self.plan.segments[at];
        let n_docs = part.n_docs;
        match part.estimate(root).known() {
            Some(known) if known == 0 || known == u64::from(n_docs) => {
                self.profile.segment_mut(at).answered(root, known);
                return Ok(if known == 0 { DocIdSet::nothing() } else { DocIdSet::Everything });
            }
            _ => {}
        }
        let mut found = MatchWindows::with_room(n_docs);
        let mut run = self.evaluation(at)?;
        while let Some(key) = run.next_window_of(root) {
            let chunk = run.documents(root, key)?;
            found.push(key, chunk.cardinality, run.resolve(chunk)?)?;
        }
        Ok(DocIdSet::Some(found))
    }

    /// Refuses to carry out a plan for which a query may not take the memory, beside what it finds.
    pub(crate) fn check_memory(plan: &Plan<'_>) -> Result<()> {
        let bytes = slot_bytes(plan);
        budget::hold(bytes)?;
        budget::release(bytes);
        Ok(())
    }

    /// Runs the plan with a profile of its own.
    fn profiled<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.profile.clear(self.plan.n_of_sets());
        budget::hold(slot_bytes(&self.plan))?;
        self.find_neighbors()?;
        self.profiled_of(self.plan.root(), run)
    }

    fn profiled_of<T>(
        &mut self,
        root: NodeId,
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let done = run(self);
        self.profile.stopped_early |= done.as_ref().is_err_and(budget::is_stop);
        if self.profile.timed {
            self.profile.finish(&self.plan, root);
        }
        done
    }

    fn root_estimate(&self, segment: usize) -> Estimate {
        *self.plan.segments[segment].estimate(self.plan.root())
    }

    /// Adds what matches in a segment to `total`.
    fn count_segment(&mut self, at: usize, total: &mut u64) -> Result<()> {
        let want = match self.plan.segments[at].count {
            CountWay::AtOnce => match self.count_at_once(at)? {
                Some(n) => {
                    *total += n;
                    return Ok(());
                }
                None => Want::Count,
            },
            CountWay::Pair(pair) => return self.count_pair(at, pair, total),
            CountWay::Phrase => return self.count_phrase(at, total),
            CountWay::Area(leaf) => return self.count_area(at, leaf, total),
            CountWay::ByWindow => Want::Count,
            CountWay::Written => Want::Documents,
        };
        let mut run = self.evaluation(at)?;
        while let Some(key) = run.next_root_window() {
            *total += u64::from(run.root(key, want)?.cardinality);
        }
        Ok(())
    }

    /// Adds the documents of one or two lists of a segment to `total`.
    fn count_pair(&mut self, at: usize, pair: Pair, total: &mut u64) -> Result<()> {
        let Plan { leaves, expansions, segments, .. } = &mut self.plan;
        let (lists, doc_sets) = (&mut self.lists[at], &mut self.memory.doc_sets);
        lists.open(leaves, expansions, &mut segments[at], doc_sets, false)?;
        let (plan, part) = (&self.plan, &self.plan.segments[at]);
        let slot = &mut self.memory.workspace.slots[0];
        let mut shared = slot.take().unwrap_or_default();
        let done = match self.profile.timed {
            false => pair.count(part, lists, &mut shared, |_| ()).map(|n| *total += n),
            true => {
                let notes = (&mut self.profile.segment_mut(at), total);
                pair.count_for_people(plan, part, lists, &mut shared, notes)
            }
        };
        *slot = Some(shared);
        done
    }

    /// Adds the documents of an area in a segment to `total`: pages that are in it are not read.
    fn count_area(&mut self, at: usize, leaf: LeafId, total: &mut u64) -> Result<()> {
        let started = self.profile.timed.then(Instant::now);
        let part = &self.plan.segments[at];
        let Postings::Points(scan) = &part.leaves[leaf.index()].postings else { return Ok(()) };
        let Some(covered) = scan.by_pages() else { return Ok(()) };
        let mut read = ReadArea::of(leaf);
        let n_found = points::count((scan, covered), part.n_docs, &mut read)
            .map_err(|error| error.in_file(part.segment.file().path()));
        let root = self.plan.root();
        let node = &mut self.profile.segment_mut(at).nodes[root.index()];
        node.geo = Some(read.counts);
        node.bytes_read += read.bytes_read;
        node.time_ns += started.map_or(0, |started| started.elapsed().as_nanos() as u64);
        node.stopped |= n_found.as_ref().is_err_and(budget::is_stop);
        let n_found = n_found?;
        self.profile.segment_mut(at).nodes[root.index()].documents_out += n_found;
        *total += n_found;
        Ok(())
    }

    /// Counts the matches of a segment, if that is known without opening a list.
    fn count_at_once(&mut self, at: usize) -> Result<Option<u64>> {
        if let Some(known) = self.root_estimate(at).known() {
            self.profile.segment_mut(at).answered(self.plan.root(), known);
            return Ok(Some(known));
        }
        let (plan, lows) = (&self.plan, &mut self.memory.workspace.lows);
        less_deleted::count(plan, &plan.segments[at], lows, &mut self.profile.segment_mut(at))
    }

    /// Reads one segment window by window until the page is full and the count is known; with
    /// `keep` until its end.
    fn page_segment(
        &mut self,
        at: usize,
        page: &mut Page,
        docs: &mut Vec<DocId>,
        keep: bool,
    ) -> Result<Option<DocIdSet>> {
        let root = self.plan.root();
        let known = self.root_estimate(at).known();
        let (base, n_docs) = (self.plan.segments[at].base, self.plan.segments[at].n_docs);
        if known == Some(0) {
            self.profile.segment_mut(at).answered(root, 0);
            return Ok(keep.then(DocIdSet::nothing));
        }
        if !keep
            && page.is_full()
            && let Some(n) = self.count_at_once(at)?
        {
            page.counted += n;
            return Ok(None);
        }
        let everything = known == Some(u64::from(n_docs));
        let mut set = match keep {
            true if everything => Some(DocIdSet::Everything),
            true => {
                let n_expected = self.root_estimate(at).documents;
                Some(DocIdSet::with_memory_for(n_docs, n_expected))
            }
            false => None,
        };
        let collect = matches!(set, Some(DocIdSet::Some(_)));
        let before = page.counted;
        let mut run = self.evaluation(at)?;
        loop {
            if !collect && page.is_full() {
                let known = match known {
                    None if page.total == Total::Exact => {
                        let lows = &mut run.workspace.lows;
                        less_deleted::count(run.plan, run.part, lows, &mut run.profile)?
                    }
                    known => known,
                };
                if let Some(known) = known {
                    page.counted = before + known;
                    run.profile.answered(root, known);
                    return Ok(set);
                }
                if page.is_done() {
                    // Whether more would have come is not looked up.
                    page.stopped = true;
                    return Ok(set);
                }
            }
            let Some(key) = run.next_root_window() else { return Ok(set) };
            let want = if collect || !page.is_full() { Want::Documents } else { Want::Count };
            let chunk = run.root(key, want)?;
            page.counted += u64::from(chunk.cardinality);
            if !page.is_full() {
                page.take(&run, chunk, base..base + u64::from(n_docs), key, docs)?;
            }
            if let Some(DocIdSet::Some(set)) = &mut set {
                set.push(key, chunk.cardinality, run.resolve(chunk)?)?;
            }
        }
    }

    /// Takes the smallest documents of a pattern if the plan looks for these alone, as many as the page wants, and
    /// leaves the rest of their lists alone. Returns whether that is so: not of a segment that has one of its terms.
    fn page_of_smallest(
        &mut self,
        at: usize,
        page: &mut Page,
        docs: &mut Vec<DocId>,
    ) -> Result<bool> {
        let Some(smallest) = self.plan.smallest else { return Ok(false) };
        // Segments before have found some of those that are wanted.
        let wanted = smallest.saturating_sub(page.counted);
        let (root, part) = (self.plan.root(), &self.plan.segments[at]);
        let Some((id, leaf)) = self.plan.whole_expansion() else { return Ok(false) };
        let Postings::Terms(terms) = &part.leaves[leaf.index()].postings else { return Ok(false) };
        let LeafKey::Expansion { field, nth } = self.plan.leaves[leaf.index()] else {
            return Ok(false);
        };
        let started = self.profile.timed.then(Instant::now);
        let (field, expansion) = (part.segment.field(field), &self.plan.expansions[nth as usize]);
        let known = (!terms.walked.cut).then_some(&terms.infos[..]);
        let (walked, bytes_read) =
            expansion.smallest(field, known, wanted as usize, &mut self.memory.smallest)?;
        let walked = if known.is_some() { terms.walked } else { walked };
        let found = self.memory.smallest.len() as u64;
        let skipped = page.skip.min(found);
        let taken = page.take.min(found - skipped);
        let page_docs = &self.memory.smallest[skipped as usize..(skipped + taken) as usize];
        docs.extend(page_docs.iter().map(|doc| DocId(part.base + u64::from(*doc))));
        page.skip -= skipped;
        page.take -= taken;
        page.counted += found;
        // All that were asked for: there may be more.
        page.stopped |= found == wanted;
        let profile = self.profile.segment_mut(at).nodes;
        profile[id.index()].documents_out += found;
        profile[id.index()].terms = Some(walked);
        profile[id.index()].bytes_read += bytes_read;
        if let Some(started) = started {
            profile[id.index()].time_ns += started.elapsed().as_nanos() as u64;
        }
        if id != root {
            profile[root.index()].documents_in += found;
            profile[root.index()].documents_out += found;
        }
        Ok(true)
    }

    /// Opens what the plan left unread in one segment, and begins to evaluate windows there.
    fn evaluation(&mut self, at: usize) -> Result<Evaluation<'_, 's>> {
        let timed = self.profile.timed;
        let profile = self.profile.segment_mut(at);
        let Plan { leaves, expansions, segments, nodes, .. } = &mut self.plan;
        let (lists, part) = (&mut self.lists[at], &mut segments[at]);
        if let Err(error) = lists.open(leaves, expansions, part, &mut self.memory.doc_sets, timed) {
            let is_at =
                |node: &Node| lists.opening.is_some() && node.operator.leaf() == lists.opening;
            if let Some(node) = nodes.iter().position(is_at).filter(|_| budget::is_stop(&error)) {
                profile.nodes[node].stopped = true;
            }
            return Err(error);
        }
        for Expanded { leaf, docs, walked, took } in &self.lists[at].expanded {
            let of_leaf = |node: &Node| node.operator.leaf() == Some(*leaf);
            if let Some(node) = nodes.iter().position(of_leaf) {
                profile.nodes[node].terms = *walked;
                profile.nodes[node].bytes_read += docs.bytes_read();
                profile.nodes[node].time_ns += took.as_nanos() as u64;
            }
        }
        for ReadArea { leaf, counts, bytes_read, took } in &self.lists[at].areas {
            let of_leaf = |node: &Node| node.operator.leaf() == Some(*leaf);
            if let Some(node) = nodes.iter().position(of_leaf) {
                profile.nodes[node].geo = Some(*counts);
                profile.nodes[node].bytes_read += bytes_read;
                profile.nodes[node].time_ns += took.as_nanos() as u64;
            }
        }
        self.phrases.open(&self.plan, at)?;
        let profile = self.profile.segment_mut(at);
        Ok(Evaluation::new(
            &self.plan,
            &self.plan.segments[at],
            &mut self.lists[at],
            self.phrases.of_segment(at),
            &mut self.memory.workspace,
            profile,
        ))
    }
}

/// Bytes that results of operators take at most.
fn slot_bytes(plan: &Plan<'_>) -> u64 {
    let n_operators = plan.nodes.iter().filter(|node| node.operator.leaf().is_none()).count();
    n_operators as u64 * 2 * SLOT_BYTES
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
        budget::hold((wanted.min(cardinality as usize) * size_of::<DocId>()) as u64)?;
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
