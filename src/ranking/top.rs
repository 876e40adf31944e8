//! The k best documents seen so far.

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
    /// As they came; from k on a heap whose first is the worst.
    kept: Vec<Scored>,
    /// What a document must be better than: the k-th best, or nothing.
    floor: Scored,
    /// The same, but nothing where every offer is taken note of.
    gate: Scored,
    /// What a document must be worse than, on a later page.
    ceiling: Option<Scored>,
    /// How the threshold rose, where that is wanted.
    trace: Option<Box<Trace>>,
    /// What is not taken of the segment at hand.
    deleted: Option<Deleted>,
    /// Why it is not known whether a document is deleted.
    damage: Option<Error>,
    hope: Hope,
}

/// What is made of it that there are k documents with some score where some may be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hope {
    /// It is believed, if it is said of enough more than k.
    Some,
    /// It was, and whoever searched must see whether it came true.
    Raised,
    /// It did not.
    None,
}

/// The deleted documents of a segment.
#[derive(Debug)]
struct Deleted {
    /// The number of the segment's first document.
    base: u64,
    docs: Arc<DeletedDocs>,
    /// So many are asked for where k documents are wanted that are not deleted.
    k: usize,
}

/// How the threshold rose while documents were offered: for people, so that plain queries pay nothing for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Trace {
    /// Documents that were offered, whether or not they were good enough.
    pub(crate) offered: u64,
    /// Points at which the threshold rose, ascending in both numbers: documents offered up to then, and the
    /// threshold from then on. The first, the last, and evenly spread ones between.
    pub(crate) rises: Vec<(u64, f32)>,
    /// Of so many rises one was kept, less one.
    skipped: u32,
    /// Rises since one was kept.
    since: u32,
    /// The last rise, where it was not kept.
    last: Option<(u64, f32)>,
}

/// Rises of a threshold that are kept.
const RISES_MAX: usize = 32;

impl Trace {
    fn rise(&mut self, threshold: f32) {
        let rise = (self.offered, threshold);
        match self.rises.last_mut() {
            // Of several at the same document the last counts.
            Some(last) if last.0 == self.offered => *last = rise,
            Some(_) if self.since < self.skipped => {
                self.since += 1;
                self.last = Some(rise);
            }
            _ => self.keep(rise),
        }
    }

    fn keep(&mut self, rise: (u64, f32)) {
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

    /// All that was noted.
    fn finish(mut self) -> Self {
        if let Some(last) = self.last.take() {
            self.rises.push(last);
        }
        self
    }
}

/// A document and its score; greater is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Scored {
    /// The bits of a float that is not negative order as the float does.
    score_bits: u32,
    /// The number with all bits turned round, so that smaller ones are greater.
    reversed_doc: u64,
}

impl Scored {
    pub(crate) fn new(score: f32, doc: DocId) -> Self {
        Scored { score_bits: score.to_bits(), reversed_doc: !doc.0 }
    }

    pub(crate) fn score(self) -> f32 {
        f32::from_bits(self.score_bits)
    }

    pub(crate) fn doc(self) -> DocId {
        DocId(!self.reversed_doc)
    }
}

impl Top {
    /// Worse than every document with a score.
    const NONE: Scored = Scored { score_bits: 0, reversed_doc: 0 };

    /// For `k`, with the allocation of an earlier one.
    pub(crate) fn new(k: usize, mut kept: Vec<Scored>) -> Self {
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
            hope: Hope::Some,
        }
    }

    /// Takes note of every offer, and of how the threshold rises.
    pub(crate) fn traced(mut self) -> Self {
        self.trace = Some(Box::default());
        self
    }

    /// What was noted so far, if that was wanted.
    pub(crate) fn take_trace(&mut self) -> Option<Trace> {
        self.trace.take().map(|trace| trace.finish())
    }

    /// Only takes what is worse than this: the last hit of the page before.
    pub(crate) fn after(mut self, last: Scored) -> Self {
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

    /// Whether too few documents reached a threshold that was taken from k of which some were deleted. Then all must be
    /// offered once more, and this time such thresholds are left alone.
    pub(crate) fn begins_again(&mut self) -> bool {
        if self.hope != Hope::Raised || self.kept.len() == self.k {
            return false;
        }
        self.kept.clear();
        (self.floor, self.gate, self.hope) = (Self::NONE, Self::NONE, Hope::None);
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

    /// How many there must be to [raise](Self::raise) the threshold: those that are wanted, or more where some may be
    /// deleted.
    pub(crate) fn k(&self) -> usize {
        self.deleted.as_ref().map_or(self.k, |deleted| deleted.k)
    }

    /// The score below which nothing enters any more; one that is equal may, with a smaller number.
    #[inline]
    pub(crate) fn threshold(&self) -> f32 {
        self.floor.score()
    }

    /// Whether a document with this score could enter: it is not worse than all that are kept, whether or not
    /// it is on an earlier page.
    #[inline]
    pub(crate) fn would_take(&self, score: f32, doc: DocId) -> bool {
        Scored::new(score, doc) > self.floor
    }

    /// Says that there are k documents with at least this score, whether or not they were offered yet.
    /// Every document with that score may still enter.
    pub(crate) fn raise(&mut self, score: f32) {
        if self.ceiling.is_some() || self.deleted.is_some() && self.hope == Hope::None {
            // Those k documents may be on the pages before, or deleted.
            return;
        }
        let floor = Scored { score_bits: score.to_bits(), reversed_doc: 0 };
        if self.deleted.is_some() && floor > self.floor {
            self.hope = Hope::Raised;
        }
        self.raise_to(floor);
    }

    fn raise_to(&mut self, floor: Scored) {
        if floor <= self.floor {
            return;
        }
        let before = std::mem::replace(&mut self.floor, floor);
        match &mut self.trace {
            None => self.gate = floor,
            Some(trace) if floor.score_bits > before.score_bits => trace.rise(floor.score()),
            Some(_) => {}
        }
    }

    /// Offers a document that was not offered before.
    #[inline]
    pub(crate) fn push(&mut self, score: f32, doc: DocId) {
        debug_assert!(score >= 0.0);
        let scored = Scored::new(score, doc);
        if scored > self.gate && self.ceiling.is_none_or(|ceiling| scored < ceiling) {
            self.keep(scored);
        }
    }

    fn keep(&mut self, scored: Scored) {
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
            self.kept.push(scored);
            if self.kept.len() < self.k {
                return;
            }
            // Ascending order is that of a heap.
            self.kept.sort_unstable();
        } else {
            self.replace_worst(scored);
        }
        if let Some(worst) = self.kept.first() {
            self.raise_to(*worst);
        }
    }

    /// Puts a document in the place of the worst, and the next worse above it.
    fn replace_worst(&mut self, scored: Scored) {
        let (kept, mut at) = (&mut self.kept[..], 0);
        if kept.first().is_none_or(|worst| scored <= *worst) {
            return;
        }
        loop {
            let children = 2 * at + 1..(2 * at + 3).min(kept.len());
            let worse = children.min_by_key(|child| kept[*child]);
            match worse.filter(|child| kept[*child] < scored) {
                Some(child) => {
                    kept[at] = kept[child];
                    at = child;
                }
                None => break,
            }
        }
        kept[at] = scored;
    }

    /// The best, in order.
    ///
    /// # Errors
    ///
    /// Where it could not be read whether a document is deleted.
    pub(crate) fn into_sorted(mut self) -> Result<Vec<Scored>> {
        self.damage.map_or(Ok(()), Err)?;
        self.kept.sort_unstable_by(|a, b| b.cmp(a));
        Ok(self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_are_those_of_sorting_everything(
            scores in prop::collection::vec(0u8..20, 0..300),
            k in 0usize..40,
            raise in any::<bool>(),
            trace in any::<bool>(),
        ) {
            let scored = |n: usize| Scored::new(f32::from(scores[n]), DocId(n as u64));
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
                prop_assert!(noted.rises.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1));
                let kth = expected.get(k.wrapping_sub(1)).map(|kth| kth.score());
                let last = noted.rises.last().map(|rise| rise.1);
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
        assert_eq!((trace.offered, trace.rises), (6, vec![(2, 1.0), (4, 2.0), (6, 3.0)]));

        let mut top = Top::new(1, vec![]).traced();
        (0..1000u16).for_each(|doc| top.push(f32::from(doc), DocId(doc.into())));
        let rises = top.take_trace().unwrap().rises;
        assert!((RISES_MAX / 2..=RISES_MAX).contains(&rises.len()), "{rises:?}");
        // The first document scores nothing, which no threshold is.
        assert_eq!((rises[0], rises.last()), ((2, 1.0), Some(&(1000, 999.0))));
        assert!(rises.iter().all(|(offered, threshold)| *offered as f32 == threshold + 1.0));
    }
}
