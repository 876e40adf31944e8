//! The k best documents seen so far.

use crate::budget;
use crate::error::{Error, Result};
use crate::ids::DocId;
use crate::segment::deletes::DeletedDocs;
use crate::segment::reader::SegmentReader;
use std::sync::Arc;

/// Keeps the k best of all documents that are offered: the higher score first, the smaller number
/// first where scores are equal. The order in which they are offered does not matter.
///
/// Documents are numbers in the snapshot; scores are not negative and not NaN. Offering costs a comparison
/// where the document is not good enough, and log k of them where it is: the worst that is kept is always
/// known, because whoever prunes lives by it.
#[derive(Debug)]
pub(crate) struct Top {
    k: usize,
    /// Documents in the order they came; from k on a heap whose first is the worst.
    kept: Vec<ScoredDoc>,
    /// Bound that a document must be better than: the k-th best, or nothing.
    floor: ScoredDoc,
    /// Bound at the gate: the floor, but nothing if every offer is taken note of.
    gate: ScoredDoc,
    /// Bound that a document must be worse than, on a later page.
    ceiling: Option<ScoredDoc>,
    /// Rise of the threshold, if that is wanted.
    trace: Option<Box<Trace>>,
    /// Documents that are not taken of the segment at hand.
    deleted: Option<Deleted>,
    /// Why the best are not known: it cannot be read whether a document is deleted, or there is no room for them.
    damage: Option<Error>,
    /// Whether it is believed that k documents reach a score where some of those that do may be deleted, if there
    /// are enough more than k.
    is_optimistic: bool,
    /// The highest threshold that was believed. It has left out documents rightly if k were kept above it.
    optimistic: ScoredDoc,
}

/// The deleted documents of a segment.
#[derive(Debug)]
struct Deleted {
    /// The number of the segment's first document.
    base: u64,
    docs: Arc<DeletedDocs>,
    /// Number that is asked for if k documents are wanted that are not deleted.
    k: usize,
}

/// Rise of the threshold while documents were offered: for people, so that plain queries pay nothing for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Trace {
    /// Documents that were offered, whether or not they were good enough.
    pub(crate) offered: u64,
    /// Points at which the threshold rose, ascending in both numbers: the first, the last, and evenly spread ones between.
    pub(crate) rises: Vec<Threshold>,
    /// Number of rises of which one was kept, less one.
    skipped: u32,
    /// Rises since one was kept.
    since: u32,
    /// The last rise, where it was not kept.
    last: Option<Threshold>,
}

/// A moment in a search for the best.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Threshold {
    /// Documents that were scored by then.
    pub documents: u64,
    /// The score that a document must reach from then on.
    pub score: f32,
}

/// Documents for which room is asked for at a time, but for the first.
const ROOM: usize = 4_096;

/// Rises of a threshold that are kept.
const RISES_MAX: usize = 32;

impl Trace {
    fn rise(&mut self, threshold: f32) {
        let rise = Threshold { documents: self.offered, score: threshold };
        match self.rises.last_mut() {
            // The last of several at one document counts.
            Some(last) if last.documents == self.offered => *last = rise,
            Some(_) if self.since < self.skipped => {
                self.since += 1;
                self.last = Some(rise);
            }
            _ => self.keep(rise),
        }
    }

    fn keep(&mut self, rise: Threshold) {
        (self.since, self.last) = (0, None);
        self.rises.push(rise);
        if self.rises.len() == RISES_MAX {
            let mut nth = 0;
            self.rises.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            self.skipped = 2 * self.skipped + 1;
        }
    }
}

/// A document and its score; greater is better. One number, which is compared without a branch: the bits of the score, which of a float
/// that is not negative order as it does, and below them the document with all bits turned round, so that smaller ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ScoredDoc(u128);

impl ScoredDoc {
    pub(crate) fn new(score: f32, doc: DocId) -> Self {
        ScoredDoc(u128::from(score.to_bits()) << 64 | u128::from(!doc.0))
    }

    pub(crate) fn score(self) -> f32 {
        f32::from_bits((self.0 >> 64) as u32)
    }

    pub(crate) fn doc(self) -> DocId {
        DocId(!(self.0 as u64))
    }
}

impl Top {
    /// Worse than every document with a score.
    const NONE: ScoredDoc = ScoredDoc(0);

    /// For `k`, with the allocation of an earlier one.
    pub(crate) fn new(k: usize, mut kept: Vec<ScoredDoc>) -> Self {
        kept.clear();
        Top {
            k,
            kept,
            floor: Self::NONE,
            gate: Self::NONE,
            ceiling: None,
            trace: None,
            deleted: None,
            damage: None,
            is_optimistic: true,
            optimistic: Self::NONE,
        }
    }

    /// Takes note of every offer, and of how the threshold rises.
    pub(crate) fn traced(mut self) -> Self {
        self.trace = Some(Box::default());
        self
    }

    /// Trace so far, if that was wanted.
    pub(crate) fn take_trace(&mut self) -> Option<Trace> {
        let mut trace = self.trace.take()?;
        trace.rises.extend(trace.last.take());
        Some(*trace)
    }

    /// Only takes what is worse than this: the last hit of the page before.
    pub(crate) fn after(mut self, last: ScoredDoc) -> Self {
        self.ceiling = Some(last);
        self
    }

    /// Goes on with a segment, whose first document has the number `base`: what is deleted of it is not taken.
    pub(crate) fn enter(&mut self, segment: SegmentReader<'_>, base: u64) {
        self.deleted = segment.deleted().map(|docs| {
            // Half as many again as it takes if deleted ones are spread evenly.
            let (n_docs, n_live) = (f64::from(segment.n_docs()), f64::from(segment.n_live()));
            let k = (self.k as f64 * n_docs / n_live.max(1.0) * 1.5) as usize;
            Deleted { base, docs: Arc::clone(docs), k: k.saturating_add(8) }
        });
    }

    /// Whether fewer than k documents reached a threshold that was taken from some of which too many are deleted. Then all
    /// must be offered once more, and this time such thresholds are left alone. That k documents are kept says nothing: those of a segment before may be worse than the threshold, and
    /// what was left out since better than they are.
    pub(crate) fn begins_again(&mut self) -> bool {
        let optimistic = std::mem::replace(&mut self.optimistic, Self::NONE);
        let has_reached = |scored: &ScoredDoc| *scored > optimistic;
        let came_true = self.kept.len() == self.k && self.kept.iter().all(has_reached);
        if optimistic == Self::NONE || came_true {
            return false;
        }
        // All rooms but the first, for which nothing was held.
        let rooms = self.kept.len().div_ceil(ROOM).saturating_sub(1);
        budget::release((rooms * ROOM * size_of::<ScoredDoc>()) as u64);
        self.kept.clear();
        (self.floor, self.gate, self.is_optimistic) = (Self::NONE, Self::NONE, false);
        if let Some(trace) = &mut self.trace {
            **trace = Trace::default();
        }
        true
    }

    /// Whether there are deleted documents in the segment at hand.
    pub(crate) fn leaves_out(&self) -> bool {
        self.deleted.is_some()
    }

    /// Takes what is deleted out of ascending documents of a window of the segment at hand, given their upper half.
    pub(crate) fn leave_out_deleted(&self, key: u32, lows: &mut Vec<u16>) -> Result<()> {
        self.deleted.as_ref().map_or(Ok(()), |deleted| deleted.docs.leave_out(key, lows))
    }

    /// Whether a document of the segment at hand is deleted.
    #[inline]
    pub(crate) fn is_deleted(&mut self, doc: DocId) -> bool {
        self.deleted.is_some() && self.look_up(doc)
    }

    fn look_up(&mut self, doc: DocId) -> bool {
        let Some(deleted) = &self.deleted else { return false };
        let here = u32::try_from(doc.0.wrapping_sub(deleted.base)).unwrap_or(u32::MAX);
        deleted.docs.contains(here).unwrap_or_else(|error| {
            self.damage.get_or_insert(error);
            true
        })
    }

    /// Number of documents needed to [raise](Self::raise) the threshold: more than are wanted if some may be deleted.
    pub(crate) fn k(&self) -> usize {
        self.deleted.as_ref().map_or(self.k, |deleted| deleted.k)
    }

    /// The score below which nothing enters any more; one that is equal may, with a smaller number.
    #[inline]
    pub(crate) fn threshold(&self) -> f32 {
        self.floor.score()
    }

    /// Whether a document with this score is better than the worst that is kept, also where it is on an earlier page.
    #[inline]
    pub(crate) fn would_take(&self, score: f32, doc: DocId) -> bool {
        ScoredDoc::new(score, doc) > self.floor
    }

    /// Says that there are k documents with at least this score, offered or not; every one with that score may still enter.
    pub(crate) fn raise(&mut self, score: f32) {
        if self.ceiling.is_some() || self.deleted.is_some() && !self.is_optimistic {
            // All k documents may be on the pages before, or deleted.
            return;
        }
        let floor = ScoredDoc::new(score, DocId(u64::MAX));
        if self.deleted.is_some() && floor > self.floor {
            self.optimistic = floor;
        }
        self.raise_to(floor);
    }

    fn raise_to(&mut self, floor: ScoredDoc) {
        if floor <= self.floor {
            return;
        }
        let before = std::mem::replace(&mut self.floor, floor);
        match &mut self.trace {
            None => self.gate = floor,
            Some(trace) if floor.score() > before.score() => trace.rise(floor.score()),
            Some(_) => {}
        }
    }

    /// Offers a document that was not offered before.
    #[inline]
    pub(crate) fn push(&mut self, score: f32, doc: DocId) {
        debug_assert!(score >= 0.0);
        let scored = ScoredDoc::new(score, doc);
        if scored > self.gate && self.ceiling.is_none_or(|ceiling| scored < ceiling) {
            self.keep(scored);
        }
    }

    fn keep(&mut self, scored: ScoredDoc) {
        if self.is_deleted(scored.doc()) {
            return;
        }
        if let Some(trace) = &mut self.trace {
            trace.offered += 1;
            if scored <= self.floor {
                return;
            }
        }
        if self.kept.len() < self.k {
            if !self.has_room() {
                return;
            }
            self.kept.push(scored);
            if self.kept.len() < self.k {
                return;
            }
            for at in (0..self.k / 2).rev() {
                let scored = self.kept[at];
                sink(&mut self.kept, at, scored);
            }
        } else if self.kept.first().is_some_and(|worst| scored > *worst) {
            sink(&mut self.kept, 0, scored);
        }
        if let Some(worst) = self.kept.first() {
            self.raise_to(*worst);
        }
    }

    /// Whether there is memory for one more; else the error is kept for the end.
    #[inline]
    fn has_room(&mut self) -> bool {
        let n = self.kept.len();
        n == 0 || !n.is_multiple_of(ROOM) || self.make_room()
    }

    #[cold]
    fn make_room(&mut self) -> bool {
        match budget::hold((ROOM * size_of::<ScoredDoc>()) as u64) {
            Ok(()) => true,
            Err(error) => {
                self.damage.get_or_insert(error);
                false
            }
        }
    }

    /// The best, in order; an error where one was met on the way.
    pub(crate) fn into_sorted(mut self) -> Result<Vec<ScoredDoc>> {
        self.damage.map_or(Ok(()), Err)?;
        self.kept.sort_unstable_by(|a, b| b.cmp(a));
        Ok(self.kept)
    }
}

/// Puts a document at a place of a heap, and in its turn whatever is worse below it above it.
fn sink(heap: &mut [ScoredDoc], mut at: usize, scored: ScoredDoc) {
    while let Some(left) = heap.get(2 * at + 1) {
        let right = heap.get(2 * at + 2).is_some_and(|right| right < left);
        let child = 2 * at + 1 + usize::from(right);
        if heap[child] >= scored {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = scored;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::schema::Schema;
    use crate::segment::snapshot::Snapshot;
    use crate::storage::{MemoryStorage, Storage};
    use crate::writer::{Existing, IndexWriter, WriterOptions};
    use proptest::prelude::*;
    use std::sync::LazyLock;

    fn rise(documents: u64, score: f32) -> Threshold {
        Threshold { documents, score }
    }

    fn rises(a: &Threshold, b: &Threshold) -> bool {
        a.documents < b.documents && a.score < b.score
    }

    /// Segments in whose second and last a third of the documents is deleted.
    static WITH_DELETES: LazyLock<Snapshot> = LazyLock::new(|| {
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        let schema = Schema::builder().keyword("number").build().unwrap();
        let (store, analyzers, published) = (Arc::clone(&storage), Arc::default(), Arc::default());
        let (existing, options) = (Existing::Refuse, WriterOptions::new().threads(1));
        let mut writer =
            IndexWriter::open(store, schema, analyzers, existing, published, options).unwrap();
        let mut n_docs = 0;
        for n in [20, 200, 10, 100] {
            for doc in n_docs..n_docs + n {
                writer.add(Document::new().with("number", doc.to_string())).unwrap();
            }
            n_docs += n;
            writer.commit().unwrap();
        }
        for doc in (0..n_docs).filter(|doc| is_deleted(*doc)) {
            writer.delete_value("number", doc.to_string()).unwrap();
        }
        writer.commit().unwrap();
        Snapshot::open(&*storage).unwrap()
    });

    fn is_deleted(doc: u64) -> bool {
        doc % 3 == 1 && (20..220).contains(&doc) || doc > 230 && doc.is_multiple_of(3)
    }

    /// Offers everything, by segments, and first tells of each what as many as are asked for score at least.
    fn offer(top: &mut Top, scores: &[f32]) {
        let mut base = 0;
        for segment in WITH_DELETES.readers() {
            top.enter(segment, base);
            let docs = base..base + u64::from(segment.n_docs());
            let mut best: Vec<f32> = docs.clone().map(|doc| scores[doc as usize]).collect();
            best.sort_by(|a, b| b.total_cmp(a));
            if let Some(kth) = best.get(top.k().wrapping_sub(1)) {
                top.raise(*kth);
            }
            docs.for_each(|doc| top.push(scores[doc as usize], DocId(doc)));
            base += u64::from(segment.n_docs());
        }
    }

    #[test]
    fn there_is_a_second_search_only_where_too_few_reach_what_was_believed() {
        let n_twice = |bonus: f32| {
            let twice = |k: &usize| {
                let scores: Vec<f32> =
                    (0..330).map(|n| 1.0 + if is_deleted(n) { bonus } else { 0.0 }).collect();
                let mut top = Top::new(*k, vec![]);
                offer(&mut top, &scores);
                top.begins_again()
            };
            (0..30).filter(twice).count()
        };
        assert_eq!((n_twice(0.0), n_twice(-0.5)), (0, 0));
        assert!(n_twice(1.0) > 20, "{}", n_twice(1.0));
    }

    proptest! {
        #[test]
        fn what_is_deleted_costs_no_other_its_place(
            scores in prop::collection::vec(0u8..20, 330..331),
            bonus in prop::sample::select(vec![0u8, 3, 20]),
            k in 0usize..60,
            trace in any::<bool>(),
        ) {
            let score = |n: u64| {
                let bonus = if is_deleted(n) { bonus } else { 0 };
                f32::from(scores[n as usize] + bonus)
            };
            let all: Vec<f32> = (0..330).map(score).collect();
            let live = (0..330).filter(|n| !is_deleted(*n));
            let mut expected: Vec<ScoredDoc> = live.map(|n| ScoredDoc::new(score(n), DocId(n))).collect();
            expected.sort_by(|a, b| b.cmp(a));
            expected.truncate(k);
            let mut top = Top::new(k, vec![]);
            if trace {
                top = top.traced();
            }
            offer(&mut top, &all);
            if top.begins_again() {
                offer(&mut top, &all);
                prop_assert!(!top.begins_again(), "a third time");
            }
            if let Some(noted) = top.take_trace() {
                prop_assert!(noted.rises.is_sorted_by(rises));
            }
            prop_assert_eq!(top.into_sorted().unwrap(), expected);
        }

        #[test]
        fn the_best_are_those_of_sorting_everything(
            scores in prop::collection::vec(0u8..20, 0..300),
            k in 0usize..40,
            raise in any::<bool>(),
            trace in any::<bool>(),
        ) {
            let scored = |n: usize| ScoredDoc::new(f32::from(scores[n]), DocId(n as u64));
            let mut expected: Vec<_> = (0..scores.len()).map(scored).collect();
            expected.sort_by(|a, b| {
                b.score().total_cmp(&a.score()).then(a.doc().0.cmp(&b.doc().0))
            });
            expected.truncate(k);
            let mut top = Top::new(k, vec![]);
            if trace {
                top = top.traced();
            }
            if let Some(kth) = expected.get(k.wrapping_sub(1)).filter(|_| raise) {
                top.raise(kth.score());
            }
            // Any order will do: from the end, then from the start.
            let (odd, even): (Vec<_>, Vec<_>) = (0..scores.len()).partition(|n| n % 2 == 1);
            for n in odd.into_iter().rev().chain(even) {
                let would = top.would_take(scored(n).score(), scored(n).doc());
                prop_assert!(would || k == 0 || !expected.contains(&scored(n)));
                top.push(scored(n).score(), scored(n).doc());
            }
            let noted = top.take_trace();
            prop_assert_eq!(noted.is_some(), trace);
            if let Some(noted) = noted {
                prop_assert_eq!(noted.offered, scores.len() as u64);
                prop_assert!(noted.rises.len() <= RISES_MAX);
                prop_assert!(noted.rises.is_sorted_by(rises));
                let kth = expected.get(k.wrapping_sub(1)).map(|kth| kth.score());
                let last = noted.rises.last().map(|rise| rise.score);
                prop_assert_eq!(last, kth.filter(|kth| *kth > 0.0));
            }
            prop_assert_eq!(top.into_sorted().unwrap(), expected);
        }
    }

    #[test]
    fn each_rise_of_the_threshold_is_that_of_the_documents_before() {
        let mut top = Top::new(2, vec![]).traced();
        for (doc, score) in [3.0, 1.0, 0.5, 2.0, 2.0, 9.0].into_iter().enumerate() {
            top.push(score, DocId(doc as u64));
        }
        let trace = top.take_trace().unwrap();
        assert_eq!(
            (trace.offered, trace.rises),
            (6, vec![rise(2, 1.0), rise(4, 2.0), rise(6, 3.0)])
        );

        let mut top = Top::new(1, vec![]).traced();
        (0..1000u16).for_each(|doc| top.push(f32::from(doc), DocId(doc.into())));
        let rises = top.take_trace().unwrap().rises;
        assert!((RISES_MAX / 2..=RISES_MAX).contains(&rises.len()), "{rises:?}");
        // The first document scores nothing, which no threshold is.
        assert_eq!((rises[0], rises.last()), (rise(2, 1.0), Some(&rise(1000, 999.0))));
        assert!(rises.iter().all(|rise| rise.documents as f32 == rise.score + 1.0));
    }
}
