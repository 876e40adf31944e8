//! How many documents an operator will find: a guess, and two bounds that always hold.
//!
//! The document frequency of a term is exact, and the header of a long posting list says how many
//! documents each block of 65,536 (a *window*) holds. The bounds follow from the sizes of the
//! inputs alone: two sets of a and b among w documents share at least a + b - w and at most
//! min(a, b). Taken window by window they are much tighter than over the whole segment: two words
//! that never meet in a window are known to have nothing in common. The guess treats inputs as
//! independent inside each window.

use std::ops::AddAssign;

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

/// Where an estimate comes from; ordered by how much is known, the best first.
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
    /// Independence of the terms that a pattern stands for, between bounds from all of their
    /// document frequencies.
    Terms,
    /// The same, from the first of the terms.
    FirstTerms,
    /// Some documents of a phrase's words, looked at.
    Sample,
    /// A guess of how many documents with the words have the phrase.
    ShareOfPhrases,
    /// Independence inside each container, between bounds from the containers' cardinalities.
    Containers,
    /// Independence over whole segments, between bounds from the sizes of the inputs.
    Independence,
}

impl EstimateSource {
    /// The name shown in a plan.
    pub(crate) fn name(self) -> &'static str {
        match self {
            EstimateSource::Segment => "segment size",
            EstimateSource::DocumentFrequency => "document frequency",
            EstimateSource::Frequencies => "sum of document frequencies",
            EstimateSource::FieldStatistics => "field statistics",
            EstimateSource::Bounds => "bounds meet",
            EstimateSource::Terms => "document frequencies of its terms",
            EstimateSource::FirstTerms => "its first terms",
            EstimateSource::Sample => "sample of documents with the words",
            EstimateSource::ShareOfPhrases => "share of documents with the words",
            EstimateSource::Containers => "independence per container",
            EstimateSource::Independence => "independence",
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
        self.source = self.source.max(other.source);
    }
}

/// What is known of one operator among `w` documents that stand next to each other.
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
            // Of w documents, at most w - lower lack each input.
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

    /// The same with another guess, as far as the bounds allow it.
    #[inline]
    pub(crate) fn times(self, factor: f64) -> Span {
        let documents =
            (self.documents * factor).clamp(f64::from(self.lower), f64::from(self.upper));
        Span { documents, ..self }
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

/// The sum of spans that cover a segment window by window.
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

    /// The segment as its only window.
    pub(crate) fn of(whole: Span) -> Self {
        let mut sum = SpanSum::default();
        sum.add(whole);
        sum
    }

    /// The estimate that follows from the windows and from the segment as a `whole`.
    pub(crate) fn estimate(self, whole: Span, source: EstimateSource) -> Estimate {
        let lower = self.lower.max(u64::from(whole.lower));
        // Both bounds hold, so they can only cross where a header lies; the dictionary wins then.
        let upper = self.upper.min(u64::from(whole.upper)).max(lower);
        let documents = (self.documents.round() as u64).clamp(lower, upper);
        let source = if lower == upper { source.min(EstimateSource::Bounds) } else { source };
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
            // What is computed from bounds must hold as well as what is computed from sets.
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
}
