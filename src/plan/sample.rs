//! Estimates that are counted: in all windows of a segment, or in some of them.
//!
//! Words keep company: of two that are each in a hundredth of all documents, independence expects one document in ten
//! thousand to have both, and there are ten times as many, or none. So for people some windows of 65,536 documents are
//! looked at ([`WindowSets`]), all of them where that is little work. In the others the number is taken to lie as much nearer
//! to one of the bounds that the headers give, `lower` and `upper`, as it did in these:
//!
//! ```text
//! odds(n)   = (n − lower) / (upper − n)
//! odds(documents elsewhere) = odds(expected elsewhere) × odds(found) / odds(expected)
//! ```
//!
//! So two words that are always together in the sample are so elsewhere, and two that do not know each other are
//! expected as they were. A count is proof: it tightens the bounds, and where all windows are counted they meet.
//!
//! Work is counted in elements of containers, not by a clock, so that a plan is the same each time. It is no more than
//! [`WORK_MAX`], some 10 µs, and a little for each of some small segments, until that is as much again; and as much to place
//! the words of phrases.
//! Windows are drawn with a chance that grows with what they are expected to hold, at equal steps of the sum.
//! Nothing that runs depends on a sample.

use super::estimate::{Estimate, EstimateSource, Span, SpanSum};
use super::placed::{PLACED_MAX, Phrases, Picked};
use super::window::WindowSets;
use super::{Operator, Plan, SegmentPlan};
use crate::bitmap;
use crate::error::Result;
use std::ops::Range;

/// Elements of containers that are looked at, over all segments: a nanosecond each or less.
const WORK_MAX: u64 = 12_000;
/// Work in a segment that has few of all documents.
const WORK_MIN: u64 = 1_000;
/// Work over all segments if many have few.
pub(super) const WORK_OF_ALL: u64 = 2 * WORK_MAX;
/// Work of going from one container to the next.
const VISIT: u64 = 40;
/// Work of combining two bitmaps.
const BITMAPS: u64 = 250;
/// A list this many times as long as another is searched and not merged.
const SEARCHED: u64 = 24;
/// Documents above which a container is a bitmap.
const ARRAY_MAX: u64 = bitmap::ARRAY_MAX as u64;

/// A window in which the headers leave something open.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenWindow {
    key: u32,
    /// Documents that are expected there.
    documents: f64,
    work: u64,
}

impl<'s> Plan<'s> {
    /// Cost and expected documents of a window; `None` if the bounds leave nothing open.
    pub(super) fn open_window(&self, key: u32, spans: &[Span]) -> Option<OpenWindow> {
        let (mut documents, mut work, mut is_open) = (0.0, 0, false);
        for (node, span) in self.nodes.iter().zip(spans) {
            if node.operator.leaf().is_some() {
                continue;
            }
            is_open |= span.is_open();
            documents += span.documents;
            let sizes =
                |inputs: &Range<u32>| self.inputs(inputs).iter().map(|id| size(&spans[id.index()]));
            work += match &node.operator {
                Operator::Intersect { all, none } => {
                    work_of_intersection(sizes(all).chain(sizes(none)))
                }
                Operator::Union { any } => sizes(any).map(work_of_addition).sum(),
                _ => 0,
            };
        }
        is_open.then_some(OpenWindow { key, documents, work })
    }

    /// Corrects what the headers say of one segment, `by_window`, by what is found in some of the windows that they
    /// leave `open`; by operator. `share` is the part of all documents that the segment holds.
    pub(super) fn sample(
        &mut self,
        part: &SegmentPlan<'s>,
        open: &[OpenWindow],
        by_window: &[SpanSum],
        share: f64,
    ) -> Result<Option<Vec<Estimate>>> {
        let work_max = ((WORK_MAX as f64 * share) as u64).max(WORK_MIN).min(self.sample_work_left);
        let chosen = choose(open, work_max);
        if chosen.is_empty() {
            return Ok(None);
        }
        let work = chosen.iter().map(|window| window.work).sum();
        self.sample_work_left = self.sample_work_left.saturating_sub(work);
        let n_nodes = self.nodes.len();
        let mut sets = WindowSets::open(self, part)?;
        let mut phrases = Phrases::of(self);
        let mut cursors = vec![0; self.leaves.len()];
        let (n_counted, of) = (chosen.len() as u32, open.len() as u32);
        let windows = EstimateSource::Windows { counted: n_counted, of };
        let mut sources = vec![Some(windows); n_nodes];
        // By window and operator.
        let (mut expected, mut found) = (vec![], vec![]);
        for window in &chosen {
            let OpenWindow { key, .. } = *window;
            let w = part.window_len(key);
            let row = expected.len();
            self.add_window(part, key, &mut cursors, &mut expected);
            sets.look_at(key, &expected[row..])?;
            found.extend_from_slice(&sets.spans);
            for (at, source) in sources.iter_mut().enumerate() {
                *source = source.filter(|_| sets.is_counted(at));
            }
            for Phrases { base, windows, .. } in &mut phrases {
                let some = sets.some(*base, w, PLACED_MAX)?;
                windows.extend(some.map(|(n, lows)| Picked { key, n, lows }));
            }
        }
        let of_each = share / phrases.len().max(1) as f64;
        let mut is_placed = vec![false; n_nodes];
        let guessed = if phrases.is_empty() { vec![] } else { found.clone() };
        for phrases in phrases {
            if phrases.windows.len() < chosen.len() {
                continue;
            }
            let (source, each) = phrases.place(self, part, of_each)?;
            for (node, spans) in each {
                let at = node.index();
                for (nth, span) in spans.iter().enumerate() {
                    found[nth * n_nodes + at] = *span;
                }
                is_placed[at] = true;
                sources[at] = source.or(Some(windows));
            }
        }
        if is_placed.contains(&true) {
            self.pass_on(part, &chosen, &is_placed, &guessed, &mut found);
        }
        let rows = |spans: &[Span], at: usize| {
            let mut sum = SpanSum::default();
            spans.iter().skip(at).step_by(n_nodes).for_each(|span| sum.add(*span));
            sum
        };
        let mut estimates: Vec<Estimate> = vec![];
        for (at, node) in self.nodes.iter().enumerate() {
            let before = part.display_estimates[at];
            if before.known().is_some() || node.operator.leaf().is_some() {
                estimates.push(before);
                continue;
            }
            let mut sum = by_window[at];
            sum.correct(rows(&expected, at), rows(&found, at));
            let estimate = sum.within(&before, sources[at].unwrap_or(before.source));
            estimates.push(self.beside_inputs(&node.operator, estimate, &estimates));
        }
        Ok(Some(estimates))
    }

    /// Lets those above the phrases know what was found of these, beside what was `guessed` before: what was counted of
    /// others stays.
    fn pass_on(
        &self,
        part: &SegmentPlan<'s>,
        windows: &[OpenWindow],
        is_placed: &[bool],
        guessed: &[Span],
        found: &mut [Span],
    ) {
        let n_nodes = self.nodes.len();
        let rows = guessed.chunks(n_nodes).zip(found.chunks_mut(n_nodes));
        for (window, (before, row)) in windows.iter().zip(rows) {
            let mut changed = is_placed.to_vec();
            for (at, node) in self.nodes.iter().enumerate() {
                let inputs: &[&Range<u32>] = match &node.operator {
                    _ if is_placed[at] => &[],
                    Operator::Intersect { all, none } => &[all, none],
                    Operator::Union { any } | Operator::AtLeast { any, .. } => &[any],
                    Operator::Phrase { input, .. } => &[input],
                    _ => &[],
                };
                let mut inputs = inputs.iter().flat_map(|inputs| self.inputs(inputs));
                if !inputs.any(|input| changed[input.index()]) {
                    continue;
                }
                changed[at] = true;
                let w = part.window_len(window.key);
                let span = self.combine(&node.operator, row, w, |_| Span::NOTHING);
                // Inputs that were counted together say more of the bounds than each by itself.
                let lower = span.lower.max(row[at].lower);
                let upper = span.upper.min(row[at].upper).max(lower);
                // Inputs that changed have more or fewer documents now.
                let by = |inputs: &Range<u32>, of: fn(f64, f64) -> f64| -> f64 {
                    let inputs = self.inputs(inputs).iter().map(|id| id.index());
                    let ratio = |id: usize| match of(before[id].documents, w.into()) {
                        0.0 => 1.0,
                        was => of(row[id].documents, w.into()) / was,
                    };
                    inputs.filter(|id| changed[*id]).map(ratio).product()
                };
                let documents = match &node.operator {
                    Operator::Intersect { all, none } => {
                        row[at].documents * by(all, |n, _| n) * by(none, |n, w| w - n)
                    }
                    Operator::Phrase { input, .. } => row[at].documents * by(input, |n, _| n),
                    _ => span.documents,
                };
                let documents = documents.clamp(lower.into(), upper.into());
                row[at] = Span { lower, upper, documents };
            }
        }
    }

    /// An estimate that fits those of the operator's inputs: no more documents than each of them where all must match, and no
    /// fewer where any may.
    fn beside_inputs(
        &self,
        operator: &Operator,
        mut estimate: Estimate,
        estimates: &[Estimate],
    ) -> Estimate {
        let of = |inputs: &Range<u32>| self.inputs(inputs).iter().map(|id| &estimates[id.index()]);
        match operator {
            Operator::Intersect { all: input, .. } | Operator::Phrase { input, .. } => {
                for input in of(input) {
                    estimate.upper = estimate.upper.min(input.upper).max(estimate.lower);
                    estimate.documents = estimate.documents.min(input.documents);
                }
            }
            Operator::Union { any } => {
                for input in of(any) {
                    estimate.lower = estimate.lower.max(input.lower).min(estimate.upper);
                    estimate.documents = estimate.documents.max(input.documents);
                }
            }
            _ => {}
        }
        estimate.documents = estimate.documents.clamp(estimate.lower, estimate.upper);
        estimate
    }
}

/// The windows to look at, ascending: all of them if that is no more than `work_max`.
fn choose(open: &[OpenWindow], work_max: u64) -> Vec<OpenWindow> {
    let work: u64 = open.iter().map(|window| window.work).sum();
    if work <= work_max {
        return open.to_vec();
    }
    let wanted = (open.len() as u64 * work_max / work.max(1)).max(1);
    let total: f64 = open.iter().map(|window| window.documents).sum();
    let step = total / wanted as f64;
    let (mut chosen, mut left, mut before, mut next) = (vec![], work_max, 0.0, step / 2.0);
    for window in open {
        before += window.documents;
        if before < next {
            continue;
        }
        // Else the next one that fits.
        if window.work <= left {
            left -= window.work;
            chosen.push(*window);
            while next <= before && step > 0.0 {
                next += step;
            }
        }
    }
    chosen
}

/// Documents of an input in a window, as far as they are work.
fn size(span: &Span) -> u64 {
    span.documents.round() as u64
}

/// Work of counting the common documents of containers of so many, the smallest first.
fn work_of_intersection(sizes: impl Iterator<Item = u64> + Clone) -> u64 {
    let smallest = sizes.clone().min().unwrap_or(0);
    if smallest == 0 {
        return VISIT;
    }
    let pair = |size: u64| match size {
        _ if smallest > ARRAY_MAX => BITMAPS,
        _ if size > ARRAY_MAX => smallest / 2,
        _ if smallest * SEARCHED < size => 2 * smallest,
        _ => (smallest + size) / 2,
    };
    let all: u64 = sizes.clone().map(pair).sum();
    let with_itself = pair(smallest);
    let most = sizes.clone().map(pair).max().unwrap_or(0);
    // The first pair leaves fewer documents to look for in all others.
    VISIT * sizes.count() as u64 + most + all.saturating_sub(with_itself + most) / 2
}

/// Work of adding a container of so many to a bitmap.
fn work_of_addition(size: u64) -> u64 {
    VISIT + if size > ARRAY_MAX { BITMAPS } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn windows() -> impl Strategy<Value = Vec<OpenWindow>> {
        prop::collection::vec((0.0..5_000.0, 0u64..3_000), 1..40).prop_map(|windows| {
            let window = |(key, (documents, work))| OpenWindow { key, documents, work };
            (0..).zip(windows).map(window).collect()
        })
    }

    proptest! {
        #[test]
        fn chosen_windows_ascend_and_are_no_more_work_than_allowed(open in windows(), most in 0u64..40_000) {
            let chosen = choose(&open, most);
            prop_assert!(chosen.is_sorted_by(|a, b| a.key < b.key));
            let work = |windows: &[OpenWindow]| windows.iter().map(|it| it.work).sum::<u64>();
            prop_assert!(work(&chosen) <= most);
            prop_assert!(work(&open) > most || chosen.len() == open.len());
            let again: Vec<u32> = choose(&open, most).iter().map(|window| window.key).collect();
            prop_assert!(chosen.iter().map(|window| window.key).eq(again));
        }
    }

    #[test]
    fn windows_that_hold_more_are_chosen_sooner_and_empty_ones_never() {
        let window = |key, documents| OpenWindow { key, documents, work: 10 };
        let even: Vec<_> = (0..100).map(|key| window(key, 5.0)).collect();
        let keys = |open: &[OpenWindow]| {
            choose(open, 40).iter().map(|window| window.key).collect::<Vec<_>>()
        };
        assert_eq!(keys(&even), [12, 37, 62, 87]);
        let half = (0..100).map(|key| window(key, if key < 50 { 0.0 } else { 5.0 }));
        assert_eq!(keys(&half.collect::<Vec<_>>()), [56, 68, 81, 93]);
    }

    #[test]
    fn work_is_that_of_the_kernel_which_containers_of_such_sizes_take() {
        let work = |sizes: &[u64]| work_of_intersection(sizes.iter().copied());
        assert_eq!(work(&[60_000, 50_000]), 2 * VISIT + BITMAPS);
        assert_eq!(work(&[1_000, 50_000]), 2 * VISIT + 1_000);
        assert_eq!(work(&[10, 4_000]), 2 * VISIT + 20);
        assert_eq!(work(&[2_000, 4_000]), 2 * VISIT + 3_000);
        assert_eq!(work(&[4_000, 4_000, 0]), VISIT);
    }
}
