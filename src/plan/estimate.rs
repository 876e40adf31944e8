//! Estimates of the documents an operator finds: a guess, and two bounds that always hold.
//!
//! The document frequency of a term is exact, and the header of a long posting list says how many
//! documents each block of 65,536 (a *window*) holds. The bounds follow from the sizes of the
//! inputs alone: two sets of a and b among w documents share at least a + b - w and at most
//! min(a, b). Taken window by window they are much tighter than over the whole segment: two words
//! that never meet in a window are known to have nothing in common. The guess treats inputs as
//! independent inside each window; for people, what was counted in some windows corrects it (`sample`).

use crate::plural::counted;
use std::borrow::Cow;
use std::ops::AddAssign;

/// Documents that a sample in which none was met is taken to have, where as many were expected.
const UNSEEN: f64 = 0.5;

/// Documents an operator is expected to find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Estimate {
    pub(crate) documents: u64,
    /// There are never fewer.
    pub(crate) lower: u64,
    /// There are never more.
    pub(crate) upper: u64,
    pub(crate) source: EstimateSource,
}

/// Sources that the estimates of an explained plan may read.
///
/// Bounds hold whichever it is. Execution does not depend on it: a plan that is only carried out never samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EstimateFrom {
    /// Document frequencies of terms, from the dictionary; several terms are taken to be independent.
    Dictionary,
    /// Headers of posting lists as well: document frequencies in each 65,536 of a segment. The default of plans that
    /// are not carried out: making them reads no postings.
    #[default]
    Headers,
    /// Postings as well: matches in some 65,536 documents, or in all if few, are counted. The words of phrases are
    /// placed in some documents that have them. Some 20 µs. The default if the plan is carried out as well.
    Samples,
}

/// Source of an estimate; ordered by how much is known, the best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EstimateSource {
    /// The number of documents in the segment.
    #[default]
    Segment,
    /// The dictionary says how many documents have the term.
    DocumentFrequency,
    /// The document frequencies of all terms that a pattern stands for, added up, where no document has two of them.
    Frequencies,
    /// The statistics of the field say how many documents have a value.
    FieldStatistics,
    /// The bounds of the inputs meet.
    Bounds,
    /// Independence of the terms that a pattern stands for, between bounds from all of their document frequencies.
    Terms,
    /// Independence of the terms, between bounds from the first of them.
    FirstTerms,
    /// Windows were counted, so many of those in which the number was not known.
    Windows { counted: u32, of: u32 },
    /// The words were placed in so many documents, of so many that have them.
    Placed { documents: u32, of: u32 },
    /// Documents that were compared with an area, of those in boxes that cross its border.
    PointSample { documents: u32, of: u32 },
    /// Shares of the boxes of points that an area covers.
    PointBoxes,
    /// Shares of the boxes of pages of points that an area covers.
    PageBoxes,
    /// Points of pages that cross the border of an area were compared with it.
    BorderPoints,
    /// The number of neighbours that are asked for, of those that the filter lets through.
    Neighbors,
    /// A guess of how many documents with the words have the phrase.
    ShareOfPhrases,
    /// Independence inside each container, between bounds from the containers' cardinalities.
    Containers,
    /// Independence over whole segments, between bounds from the sizes of the inputs.
    Independence,
    /// Hits of a page, of as many as match.
    Limit,
}

impl EstimateSource {
    /// The name shown in a plan.
    pub(crate) fn name(self) -> Cow<'static, str> {
        let text = match self {
            EstimateSource::Windows { counted: 1, of: 1 } => "counted in its only window",
            EstimateSource::Windows { counted, of } => {
                let counted = if counted == of { "all".into() } else { format!("{counted} of") };
                return format!("counted in {counted} {of} windows").into();
            }
            EstimateSource::Placed { documents, of } => {
                let in_all = documents == of;
                let of = counted(of, "document");
                return Cow::Owned(match in_all {
                    true => format!("placed in all {of} with the words"),
                    false => format!("sample of {documents} of {of} with the words"),
                });
            }
            EstimateSource::PointSample { documents, of } => {
                let of = counted(of, "document");
                return format!("sample of {documents} of {of} at the border").into();
            }
            EstimateSource::BorderPoints => "points at the border",
            EstimateSource::PointBoxes => "boxes of points",
            EstimateSource::PageBoxes => "page boxes",
            EstimateSource::Segment => "segment size",
            EstimateSource::DocumentFrequency => "document frequency",
            EstimateSource::Frequencies => "sum of document frequencies",
            EstimateSource::FieldStatistics => "field statistics",
            EstimateSource::Bounds => "bounds meet",
            EstimateSource::Terms => "document frequencies of its terms",
            EstimateSource::FirstTerms => "its first terms",
            EstimateSource::Neighbors => "neighbours of what is let through",
            EstimateSource::ShareOfPhrases => "share of documents with the words",
            EstimateSource::Containers => "independence per container",
            EstimateSource::Independence => "independence",
            EstimateSource::Limit => "limit",
        };
        text.into()
    }

    /// Combined source of two segments' estimates, added up.
    fn and(self, other: Self) -> Self {
        use EstimateSource::{Placed, Windows};
        match (self, other) {
            (Windows { counted, of }, Windows { counted: more, of: of_more }) => {
                Windows { counted: counted.saturating_add(more), of: of.saturating_add(of_more) }
            }
            (Placed { documents, of }, Placed { documents: more, of: of_more }) => {
                let documents = documents.saturating_add(more);
                Placed { documents, of: of.saturating_add(of_more) }
            }
            (one, other) => one.max(other),
        }
    }
}

impl Estimate {
    pub(crate) const NOTHING: Estimate =
        Estimate { documents: 0, lower: 0, upper: 0, source: EstimateSource::Bounds };

    /// The exact number, where the bounds leave no doubt.
    #[inline]
    pub(crate) fn known(&self) -> Option<u64> {
        (self.lower == self.upper).then_some(self.upper)
    }

    /// Whether it is certain that nothing will be found.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.upper == 0
    }
}

/// Adds what another segment is expected to find.
impl AddAssign for Estimate {
    fn add_assign(&mut self, other: Estimate) {
        self.documents += other.documents;
        self.lower += other.lower;
        self.upper += other.upper;
        self.source = self.source.and(other.source);
    }
}

/// Bounds of one operator among `w` documents that follow each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) lower: u32,
    pub(crate) upper: u32,
    pub(crate) documents: f64,
}

impl Span {
    pub(crate) const NOTHING: Span = Span { lower: 0, upper: 0, documents: 0.0 };

    #[inline]
    pub(crate) fn exact(documents: u32) -> Self {
        Span { lower: documents, upper: documents, documents: f64::from(documents) }
    }

    /// Everything in `all` and nothing of `none`, among `w` documents; an empty `all` is every one.
    #[inline]
    pub(crate) fn intersect(
        all: impl Iterator<Item = Span>,
        none: impl Iterator<Item = Span>,
        w: u32,
    ) -> Span {
        let width = f64::from(w.max(1));
        let mut result = Span::exact(w);
        for input in all {
            result.upper = result.upper.min(input.upper);
            // At most w - lower of w documents lack each input.
            result.lower = result.lower.saturating_sub(w - input.lower);
            result.documents *= input.documents / width;
        }
        for input in none {
            result.upper = result.upper.min(w - input.lower);
            result.lower = result.lower.saturating_sub(input.upper);
            result.documents *= 1.0 - input.documents / width;
        }
        result
    }

    /// Everything in `minimum` of `any`, 2 or more, among `w` documents.
    pub(crate) fn at_least(minimum: u32, any: impl Iterator<Item = Span>, w: u32) -> Span {
        let width = f64::from(w.max(1));
        // The part of documents in exactly so many inputs; the last entry is in as many or more.
        let mut parts = vec![0.0; minimum as usize + 1];
        parts[0] = 1.0;
        let (mut lower, mut upper, mut n) = (0u64, 0u64, 0u64);
        for input in any {
            lower += u64::from(input.lower);
            upper += u64::from(input.upper);
            n += 1;
            let p = input.documents / width;
            for at in (1..parts.len()).rev() {
                let stays = if at + 1 == parts.len() { 1.0 } else { 1.0 - p };
                parts[at] = parts[at] * stays + parts[at - 1] * p;
            }
            parts[0] *= 1.0 - p;
        }
        let (minimum, w) = (u64::from(minimum), u64::from(w));
        // Documents in fewer inputs are in at most minimum - 1, the others in at most all.
        let surplus = lower.saturating_sub((minimum - 1) * w);
        let lower = surplus.div_ceil((n + 1).saturating_sub(minimum).max(1)).min(w) as u32;
        let upper = (upper / minimum).min(w) as u32;
        let documents = parts.last().map_or(0.0, |part| part * width);
        Span { lower: lower.min(upper), upper, documents }
    }

    /// An unknown part of this, expected to be a `share` of it.
    #[inline]
    pub(crate) fn share(self, share: f64) -> Span {
        Span { lower: 0, upper: self.upper, documents: self.documents * share }
    }

    /// Whether the bounds leave something open.
    #[inline]
    pub(crate) fn is_open(self) -> bool {
        self.lower < self.upper
    }

    /// Everything in any of `any`, among `w` documents.
    #[inline]
    pub(crate) fn unite(any: impl Iterator<Item = Span>, w: u32) -> Span {
        let width = f64::from(w.max(1));
        let (mut lower, mut upper, mut missing) = (0, 0u32, 1.0);
        for input in any {
            lower = input.lower.max(lower);
            upper = upper.saturating_add(input.upper);
            missing *= 1.0 - input.documents / width;
        }
        Span { lower, upper: upper.min(w), documents: width * (1.0 - missing) }
    }
}

/// The sum of spans that cover a segment window by window, or some of its windows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SpanSum {
    lower: u64,
    upper: u64,
    documents: f64,
}

impl SpanSum {
    #[inline]
    pub(crate) fn add(&mut self, span: Span) {
        self.lower += u64::from(span.lower);
        self.upper += u64::from(span.upper);
        self.documents += span.documents;
    }

    /// Puts what was `found` in some windows in place of what was `expected` there. In the others, the number is taken to lie as
    /// much nearer to one of the bounds as it did in these: the odds of `documents − lower` to `upper − documents` change by the
    /// same factor. So words that are always together, or never, are so elsewhere, and words that do not know each other are not
    /// taken for acquainted where there are fewer of them.
    pub(crate) fn correct(&mut self, expected: SpanSum, found: SpanSum) {
        let (lower, upper) = (self.lower - expected.lower, self.upper - expected.upper);
        let documents = self.documents - expected.documents;
        // Documents that were not met, or always met, need not be so elsewhere.
        let (below, above) = (
            (expected.documents - expected.lower as f64).clamp(0.0, UNSEEN),
            (expected.upper as f64 - expected.documents).clamp(0.0, UNSEEN),
        );
        let met = found.documents.clamp(
            expected.lower as f64 + below,
            f64::max(expected.upper as f64 - above, expected.lower as f64 + below),
        );
        let odds = |documents: f64, lower: u64, upper: u64| {
            (documents - lower as f64) / (upper as f64 - documents)
        };
        let factor = odds(met, expected.lower, expected.upper)
            / odds(expected.documents, expected.lower, expected.upper);
        let others = match factor * odds(documents, lower, upper) {
            // If something is certain, there is nothing to correct.
            odds if odds.is_finite() => (lower as f64 + upper as f64 * odds) / (1.0 + odds),
            _ => documents,
        };
        self.lower = lower + found.lower;
        self.upper = upper + found.upper;
        self.documents = found.documents + others;
    }

    /// The segment as its only window.
    pub(crate) fn of(whole: Span) -> Self {
        let mut sum = SpanSum::default();
        sum.add(whole);
        sum
    }

    /// The estimate that follows from the windows and from the segment as a `whole`.
    pub(crate) fn estimate(self, whole: Span, source: EstimateSource) -> Estimate {
        let whole =
            Estimate { lower: whole.lower.into(), upper: whole.upper.into(), ..Estimate::NOTHING };
        let estimate = self.within(&whole, source);
        match estimate.known() {
            Some(_) => Estimate { source: source.min(EstimateSource::Bounds), ..estimate },
            None => estimate,
        }
    }

    /// The estimate that follows from the windows, between bounds that hold as well.
    pub(crate) fn within(self, bounds: &Estimate, source: EstimateSource) -> Estimate {
        let lower = self.lower.max(bounds.lower);
        // Both bounds hold, so they can only cross where a header lies; the dictionary wins then.
        let upper = self.upper.min(bounds.upper).max(lower);
        let documents = (self.documents.round() as u64).clamp(lower, upper);
        Estimate { documents, lower, upper, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(w: usize) -> impl Strategy<Value = Vec<bool>> {
        prop::collection::vec(any::<bool>(), w)
    }

    fn span(set: &[bool]) -> Span {
        Span::exact(set.iter().filter(|x| **x).count() as u32)
    }

    fn holds(bounds: Span, set: impl Iterator<Item = bool>) -> bool {
        let actual = set.filter(|x| *x).count() as u32;
        bounds.lower <= actual && actual <= bounds.upper
    }

    proptest! {
        #[test]
        fn bounds_hold_for_any_sets(a in set(40), b in set(40), c in set(40)) {
            let w = 40;
            let (x, y, z) = (span(&a), span(&b), span(&c));
            let and = Span::intersect([x, y].into_iter(), [z].into_iter(), w);
            prop_assert!(holds(and, (0..40).map(|i| a[i] && b[i] && !c[i])));
            let or = Span::unite([x, y, z].into_iter(), w);
            prop_assert!(holds(or, (0..40).map(|i| a[i] || b[i] || c[i])));
            // Results computed from bounds must hold as well as those from sets.
            let nested = Span::intersect([or].into_iter(), [and].into_iter(), w);
            prop_assert!(holds(
                nested,
                (0..40).map(|i| [a[i], b[i], c[i]].contains(&true) && (!a[i] || !b[i] || c[i]))
            ));
            let two = Span::at_least(2, [x, y, z].into_iter(), w);
            let n = |i: usize| [a[i], b[i], c[i]].iter().filter(|has| **has).count();
            prop_assert!(holds(two, (0..40).map(|i| n(i) >= 2)));
            prop_assert!((0.0..=40.0).contains(&two.documents));
            let outside = Span::intersect(std::iter::empty(), [or].into_iter(), w);
            prop_assert!(holds(outside, (0..40).map(|i| !(a[i] || b[i] || c[i]))));
        }
    }

    #[test]
    fn sets_that_fill_the_window_have_a_known_intersection() {
        let all = Span::exact(100);
        let some = Span::exact(30);
        let both = Span::intersect([all, some].into_iter(), std::iter::empty(), 100);
        assert_eq!((both.lower, both.upper), (30, 30));
    }

    #[test]
    fn a_sum_never_leaves_the_bounds_of_the_whole() {
        let mut sum = SpanSum::default();
        sum.add(Span { lower: 0, upper: 10, documents: 9.0 });
        sum.add(Span { lower: 0, upper: 10, documents: 9.0 });
        let whole = Span { lower: 2, upper: 12, documents: 5.0 };
        let estimate = sum.estimate(whole, EstimateSource::Containers);
        assert_eq!((estimate.documents, estimate.lower, estimate.upper), (12, 2, 12));
    }

    #[test]
    fn what_was_found_replaces_what_was_expected_and_corrects_the_rest() {
        let open = |documents| Span { lower: 0, upper: 100, documents };
        let mut sum = SpanSum::default();
        // Two windows that are looked at, two that are not, and one of which everything is known.
        let windows = [open(10.0), open(20.0), open(10.0), open(30.0), Span::exact(7)];
        windows.into_iter().for_each(|it| sum.add(it));
        let (mut expected, mut found) = (SpanSum::default(), SpanSum::default());
        [open(10.0), open(20.0)].into_iter().for_each(|it| expected.add(it));
        [Span::exact(41), Span::exact(50)].into_iter().for_each(|it| found.add(it));
        sum.correct(expected, found);
        // Odds of 91 to 109 where 30 to 170 were expected: of 40 to 160 they make 1.18, which is 108 to 92.
        let bounds = Estimate { upper: 1_000, ..Estimate::NOTHING };
        let windows = EstimateSource::Windows { counted: 2, of: 4 };
        let estimate = sum.within(&bounds, windows);
        assert_eq!((estimate.documents, estimate.lower, estimate.upper), (91 + 7 + 108, 98, 298));
        assert_eq!(estimate.source.name(), "counted in 2 of 4 windows");
        // If nothing was found of the little that was expected, that says nothing of elsewhere.
        let (mut sum, mut found) = (SpanSum::of(open(8.0)), SpanSum::default());
        sum.add(open(0.4));
        found.add(Span::exact(0));
        sum.correct(SpanSum::of(open(0.4)), found);
        assert!((sum.documents - 8.0).abs() < 1e-9, "{sum:?}");
        // Certainty there says nothing of the others.
        let mut sum = SpanSum::of(open(8.0));
        sum.add(Span::exact(5));
        sum.correct(SpanSum::of(Span::exact(5)), SpanSum::of(Span::exact(5)));
        assert!((sum.documents - 13.0).abs() < 1e-9, "{sum:?}");
    }

    #[test]
    fn what_a_dense_window_has_is_no_measure_for_sparse_ones() {
        let w = 65_536;
        let pair = |n: u32| {
            Span::intersect([Span::exact(n), Span::exact(n)].into_iter(), std::iter::empty(), w)
        };
        let (dense, sparse) = (pair(30_000), pair(300));
        let elsewhere = |found: u32| {
            let mut sum = SpanSum::of(dense);
            (0..20).for_each(|_| sum.add(sparse));
            sum.correct(SpanSum::of(dense), SpanSum::of(Span::exact(found)));
            sum.documents - f64::from(found)
        };
        let as_expected = 20.0 * sparse.documents;
        // Words that do not know each other, words that are together half again as often, and words that always are.
        assert!((elsewhere(dense.documents as u32) - as_expected).abs() < 1.0);
        let more = elsewhere(20_600) / as_expected;
        assert!((1.5..4.0).contains(&more), "{more}");
        assert!(elsewhere(30_000) > 0.9 * 20.0 * 300.0);
        assert!(elsewhere(0) < 1.0);
    }

    #[test]
    fn sources_of_segments_add_up() {
        let windows = |counted, of| EstimateSource::Windows { counted, of };
        assert_eq!(windows(1, 1).and(windows(2, 5)), windows(3, 6));
        let placed = |documents, of| EstimateSource::Placed { documents, of };
        assert_eq!(
            placed(3, 3).and(placed(60, 700)).name(),
            "sample of 63 of 703 documents with the words"
        );
        assert_eq!(EstimateSource::Bounds.and(windows(2, 2)).name(), "counted in all 2 windows");
        assert_eq!(windows(2, 2).and(EstimateSource::Containers), EstimateSource::Containers);
    }
}
