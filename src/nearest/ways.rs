//! Ways to the nearest vectors in a segment, and what each takes.
//!
//! All vectors that are let through can be compared; a walk over the graph can go through all nodes and keep those that are let
//! through, or go through these alone and the neighbours of others. The cheapest depends on how many are let through, and on
//! what walks took when the graph was built.

use crate::error::Result;
use crate::format::graph::curve::{StoredCurve, StoredPoint, WHOLE};
use crate::graph::walk::{Counts, Through};
use crate::query::{Effort, Neighbors, NeighborsSpec};
use crate::segment::reader::SegmentReader;
use std::fmt;

/// Neighbours that curves were measured for.
const K_OF_CURVE: f32 = 10.0;
/// Part of what is missing to all that walks are to find beside what is wanted: vectors that are looked for are not those that the
/// curve was measured with.
const MARGIN: f32 = 0.4;
/// Documents for one that is wanted, up to which all that are let through are compared.
const FEW_TIMES: u64 = 4;
/// Documents let through up to which all are compared.
const FEW: u64 = 256;
/// Neighbours of a node, about.
pub(crate) const DEGREE: f32 = 24.0;
/// Growth of the distances of a walk that keeps one of so many nodes, as a power of these.
const GROWTH: f32 = 0.82;
/// Tests of a walk through all nodes for each hop.
const TESTS_OF_HOP: f32 = 2.5;
/// Neighbours of a node that are not let through which a walk in two hops has not passed before.
const PASSED: f32 = 0.85;
/// Neighbours of one that it has not tested before.
const TESTED: f32 = 0.6;
/// Part of all that is let through, below which a walk in two hops comes to too few.
const TWO_HOPS_FROM: f32 = 0.05;
/// Nodes that are expected to be let through of those tested, from which on it shows that there are fewer around a vector than
/// elsewhere.
const EXPECTED_MIN: f32 = 24.0;

/// Nanoseconds that things take, about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    /// Comparing a vector.
    pub(crate) vector: f32,
    /// Comparing a code somewhere in memory.
    pub(crate) code: f32,
    /// Reading the links of a node.
    pub(crate) links: f32,
    /// Finding out whether a node is let through.
    pub(crate) test: f32,
    /// Vectors compared in the end for one that is wanted: a number, no time.
    pub(crate) rescored: f32,
}

impl Figures {
    /// Time that a walk has taken.
    fn spent(&self, counts: Counts) -> f32 {
        counts.distances as f32 * self.code
            + counts.hops as f32 * self.links
            + counts.tests as f32 * self.test
    }
}

/// A way to the nearest vectors in a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Way {
    /// All that are let through are compared.
    #[default]
    Exact,
    /// A walk through nodes.
    Walk(Through),
}

/// The ways by a graph.
const WALKS: [Way; 2] = [Way::Walk(Through::All), Way::Walk(Through::Wanted)];

impl Way {
    /// The name that plans show.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Way::Exact => "exact",
            Way::Walk(Through::All) => "walk",
            Way::Walk(Through::Wanted) => "two hops",
        }
    }
}

/// The way that was chosen for a segment, with what is expected of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choice {
    pub(crate) way: Way,
    /// Nodes that a walk keeps.
    pub(crate) ef: u32,
    /// Part of the nearest that is expected to be found.
    pub(crate) recall: f32,
    /// Codes that are expected to be compared.
    pub(crate) distances: f32,
    pub(crate) cost_ns: f32,
    /// Expected cost of comparing all: a walk that has taken as much becomes that.
    pub(crate) exact_ns: f32,
    /// Other ways, and what each would cost.
    pub(crate) rejected: Vec<(Way, f32)>,
    figures: Option<Figures>,
    /// Part of all documents that is let through.
    share: f32,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.way {
            Way::Exact => f.write_str("all vectors compared"),
            Way::Walk(Through::All) => write!(f, "walk over the graph, ef {}", self.ef),
            Way::Walk(Through::Wanted) => write!(f, "walk in two hops, ef {}", self.ef),
        }
    }
}

impl Choice {
    pub(super) fn is_walk(&self) -> bool {
        self.way != Way::Exact
    }

    /// Reason for the way, in words.
    pub(crate) fn reason(&self) -> String {
        match self.way {
            Way::Exact => "comparing all that is let through takes less than a walk".into(),
            Way::Walk(_) => format!(
                "a walk that keeps {} compares about {:.0} codes and finds about {:.3} of the nearest",
                self.ef, self.distances, self.recall
            ),
        }
    }

    /// Whether a walk that did so much may go on: it has not taken too long, and around the vector not far less is let through than
    /// elsewhere. If it is, a walk in two hops ends at the border of what is let through, wherever the nearest are, and one
    /// through all comes to more that are about as far than codes can tell apart.
    pub(super) fn goes_on(&self, counts: Counts) -> bool {
        let expected = counts.tests as f32 * self.share;
        let least = expected * if self.way == Way::Walk(Through::Wanted) { 0.5 } else { 0.125 };
        let disagrees = expected >= EXPECTED_MIN && (counts.wanted as f32) < least;
        !disagrees && self.figures.is_none_or(|figures| figures.spent(counts) < self.exact_ns)
    }
}

/// Vectors of a field in a segment.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    n_docs: u32,
    n_vectors: u32,
}

/// Chooses the way to the nearest vectors of a segment, of which so many documents are let through; a forced one if there is a
/// graph that leads to as many as are wanted.
///
/// # Errors
///
/// Whatever reading says.
pub(crate) fn choose(
    segment: SegmentReader<'_>,
    spec: &NeighborsSpec,
    let_through: u64,
    figures: Figures,
    forced: Option<Way>,
) -> Result<Choice> {
    let reader = segment.field(spec.field);
    let Some(vectors) = reader.vectors()? else { return Ok(Choice::default()) };
    let sizes = Sizes { n_docs: segment.n_docs(), n_vectors: vectors.n_vectors() };
    let Neighbors::Nearest(k, effort) = spec.wanted else {
        return Ok(sizes.exact(let_through, figures));
    };
    match reader.curve()? {
        Some(curve) => Ok(sizes.cheapest(&curve, (k, effort), let_through, figures, forced)),
        None => Ok(sizes.exact(let_through, figures)),
    }
}

impl Sizes {
    /// Vectors of a document, about.
    fn of_document(self) -> f32 {
        (self.n_vectors as f32 / self.n_docs.max(1) as f32).max(1.0)
    }

    fn exact(self, let_through: u64, figures: Figures) -> Choice {
        let n = (let_through as f32 * self.of_document()).min(self.n_vectors as f32);
        let cost_ns = n * figures.vector;
        Choice { recall: 1.0, cost_ns, exact_ns: cost_ns, ..Choice::default() }
    }

    fn cheapest(
        self,
        curve: &StoredCurve,
        (k, effort): (u32, Effort),
        let_through: u64,
        figures: Figures,
        forced: Option<Way>,
    ) -> Choice {
        let exact = self.exact(let_through, figures);
        // Nodes have one vector each, and documents may have several.
        let wanted = k as f32 * self.of_document();
        // Documents with several vectors may be kept more than once; past those of a filter, walks come to fewer of the nearest
        // than the curve has.
        let is_filtered = let_through < u64::from(self.n_docs);
        let least = match is_filtered || self.n_vectors > self.n_docs {
            true => wanted * 1.5 + 8.0,
            false => wanted,
        };
        let ef = ef_for(curve, wanted, effort).map(|ef| ef.max(least).ceil());
        let Some(ef) = ef else { return exact };
        let at = point_at(curve, ef);
        let share = (let_through as f32 / self.n_docs.max(1) as f32).clamp(f32::MIN_POSITIVE, 1.0);
        let cost = |way| {
            let (distances, hops, tests) = self.expected(way, at, share);
            let ns = distances * figures.code + hops * figures.links + tests * figures.test;
            // In the end the nearest are compared by their vectors.
            (distances, ns + figures.rescored * wanted * figures.vector)
        };
        let recall = recall_at(curve, ef / (wanted / K_OF_CURVE).max(1.0));
        let walk = |way| {
            let (distances, cost_ns) = cost(way);
            let (ef, exact_ns) = (ef as u32, exact.cost_ns);
            Choice { way, ef, recall, distances, cost_ns, exact_ns, ..Choice::default() }
        };
        match forced {
            Some(Way::Exact) => return exact,
            // It goes on to its end, however long it takes.
            Some(way) => return walk(way),
            None => {}
        }
        let [all, some] = WALKS.map(|way| (way, cost(way)));
        let in_two_hops = (TWO_HOPS_FROM..1.0).contains(&share) && some.1.1 < all.1.1;
        let (best, other) = if in_two_hops { (some, all) } else { (all, some) };
        let (way, (_, cost_ns)) = best;
        let few = (u64::from(k) * FEW_TIMES).max(FEW);
        let mut rejected = vec![];
        if (TWO_HOPS_FROM..1.0).contains(&share) {
            rejected.push((other.0, other.1.1));
        }
        // Who says how large a walk is to be wants one, however long it takes.
        let is_asked_for = matches!(effort, Effort::Kept(_));
        if let_through <= few || exact.cost_ns <= cost_ns && !is_asked_for {
            rejected.insert(0, (way, cost_ns));
            return Choice { rejected, ..exact };
        }
        rejected.insert(0, (Way::Exact, exact.cost_ns));
        let figures = (!is_asked_for).then_some(figures);
        Choice { rejected, figures, share, ..walk(way) }
    }

    /// Distances, lists of links and tests of a walk, given those of one without a filter.
    fn expected(self, way: Way, at: StoredPoint, share: f32) -> (f32, f32, f32) {
        let n = self.n_vectors as f32;
        let (distances, hops) = ((at.distances as f32).min(n), (at.hops as f32).min(n));
        match way {
            Way::Walk(Through::Wanted) => {
                let hops = (hops * (1.0 + DEGREE * (1.0 - share) * PASSED)).min(n);
                let tests = (hops * DEGREE * TESTED).min(n);
                (tests * share, hops, tests)
            }
            _ if share >= 1.0 => (distances, hops, 0.0),
            _ => {
                let hops = (hops / share).min(n);
                let distances = (distances * share.powf(-GROWTH)).min(n);
                (distances, hops, (hops * TESTS_OF_HOP).min(n))
            }
        }
    }
}

/// Nodes that a walk keeps to find so many neighbours; none where only comparing all will do.
fn ef_for(curve: &StoredCurve, wanted: f32, effort: Effort) -> Option<f32> {
    let times = (wanted / K_OF_CURVE).max(1.0);
    let ef = match effort {
        Effort::Exact => return None,
        Effort::Kept(n) => n as f32,
        Effort::Recall(recall) => {
            let aimed = recall + (1.0 - recall) * MARGIN;
            let aimed = aimed * WHOLE as f32;
            let after = curve.points.iter().position(|it| it.recall as f32 >= aimed)?;
            let to = curve.points.get(after).filter(|_| recall < 1.0)?;
            let from = after.checked_sub(1).and_then(|before| curve.points.get(before));
            let ef = match from {
                None => to.ef as f32,
                Some(from) => between(
                    aimed,
                    (from.recall as f32, from.ef as f32),
                    (to.recall as f32, to.ef as f32),
                ),
            };
            ef * times
        }
    };
    Some(ef.max(wanted).ceil())
}

/// The number at `x` on the line through two points.
fn between(x: f32, (x0, y0): (f32, f32), (x1, y1): (f32, f32)) -> f32 {
    match x1 > x0 {
        true => y0 + (y1 - y0) * ((x - x0) / (x1 - x0)),
        false => y1,
    }
}

/// Points of a curve on both sides of walks that keep so many.
fn around(curve: &StoredCurve, ef: f32) -> Option<(StoredPoint, StoredPoint)> {
    let after = curve.points.partition_point(|it| (it.ef as f32) < ef);
    let last = curve.points.len().checked_sub(1)?;
    let (to, from) = (after.min(last), after.min(last).saturating_sub(1));
    curve.points.get(from).copied().zip(curve.points.get(to).copied())
}

/// Expected work of a walk that keeps so many: on the line through the points around, or on through the last two.
fn point_at(curve: &StoredCurve, ef: f32) -> StoredPoint {
    let Some((from, to)) = around(curve, ef) else {
        return StoredPoint { ef: 0, recall: 0, distances: 0, hops: 0 };
    };
    let on_line = |of: fn(&StoredPoint) -> u32| {
        let number = |it: &StoredPoint| (it.ef as f32, of(it) as f32);
        match from.ef == to.ef {
            true => of(&to) as f32 * (ef / to.ef as f32).max(1.0),
            false => between(ef, number(&from), number(&to)).max(0.0),
        }
    };
    StoredPoint {
        ef: ef as u32,
        recall: (recall_at(curve, ef) * WHOLE as f32) as u32,
        distances: on_line(|it| it.distances) as u32,
        hops: on_line(|it| it.hops) as u32,
    }
}

/// Recall that walks had that keep so many.
fn recall_at(curve: &StoredCurve, ef: f32) -> f32 {
    let Some((from, to)) = around(curve, ef) else { return 0.0 };
    let number = |it: StoredPoint| (it.ef as f32, it.recall as f32 / WHOLE as f32);
    between(ef.min(to.ef as f32), number(from), number(to)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURES: Figures =
        Figures { vector: 200.0, code: 60.0, links: 90.0, test: 20.0, rescored: 2.0 };

    fn curve() -> StoredCurve {
        let point = |ef, recall, distances| StoredPoint { ef, recall, distances, hops: ef + 5 };
        let points = vec![point(10, 7_000, 400), point(40, 9_000, 1_000), point(160, 9_800, 3_000)];
        StoredCurve { n_samples: 128, points }
    }

    fn cheapest(n: u32, let_through: u64, effort: Effort) -> Choice {
        let sizes = Sizes { n_docs: n, n_vectors: n };
        sizes.cheapest(&curve(), (10, effort), let_through, FIGURES, None)
    }

    #[test]
    fn walks_are_as_large_as_the_recall_that_is_wanted() {
        let ef = |recall| ef_for(&curve(), 10.0, Effort::Recall(recall));
        assert_eq!(ef(0.5), Some(10.0), "no fewer than are wanted");
        assert_eq!(
            ef(0.95),
            Some(145.0),
            "half of what is missing between 0.9 and 0.98, and the margin"
        );
        assert!(ef(0.9) < ef(0.95));
        assert_eq!([ef(0.98), ef(1.0)], [None, None], "more than any walk found");
        assert_eq!(ef_for(&curve(), 10.0, Effort::Kept(70)), Some(70.0));
        assert_eq!(ef_for(&curve(), 10.0, Effort::Exact), None);
        assert_eq!(ef_for(&curve(), 100.0, Effort::Recall(0.95)), Some(1_450.0));
    }

    #[test]
    fn work_is_read_off_the_curve() {
        let at = |ef| (point_at(&curve(), ef).distances, point_at(&curve(), ef).hops);
        assert_eq!(
            [at(10.0), at(25.0), at(160.0), at(280.0)],
            [(400, 15), (700, 30), (3_000, 165), (5_000, 285)]
        );
        let recalls = [5.0, 25.0, 160.0, 999.0].map(|ef| recall_at(&curve(), ef));
        assert_eq!(recalls.map(|it| (it * 1_000.0).round()), [700.0, 800.0, 980.0, 980.0]);
        let one = StoredCurve { points: vec![curve().points[1]], ..curve() };
        assert_eq!((point_at(&one, 80.0).distances, recall_at(&one, 80.0)), (2_000, 0.9));
    }

    #[test]
    fn few_are_compared_and_many_walked_through() {
        let way = |let_through| cheapest(1_000_000, let_through, Effort::default()).way;
        assert_eq!([way(0), way(256), way(1_000)], [Way::Exact; 3]);
        assert_eq!([way(1_000_000), way(700_000)], [Way::Walk(Through::All); 2]);
        // Small segments are compared whole.
        assert_eq!(cheapest(200, 200, Effort::default()).way, Way::Exact);
        assert_eq!(cheapest(200, 200, Effort::Kept(20)).way, Way::Exact);
        assert_eq!(cheapest(300, 300, Effort::Kept(20)).way, Way::Walk(Through::All));
        let chosen = cheapest(1_000_000, 1_000_000, Effort::default());
        assert_eq!((chosen.ef, chosen.rejected.len()), (145, 1));
        assert!((chosen.recall - 0.97).abs() < 0.001, "{chosen:?}");
        assert!(chosen.cost_ns < chosen.rejected[0].1);
        for way in [Effort::Exact, Effort::Recall(1.0)] {
            let exact = cheapest(1_000_000, 1_000_000, way);
            assert_eq!((exact.way, exact.recall), (Way::Exact, 1.0));
        }
    }

    #[test]
    fn a_forced_way_is_taken_whatever_it_costs() {
        let sizes = Sizes { n_docs: 1_000_000, n_vectors: 1_000_000 };
        let forced = |let_through, way| {
            let wanted = (10, Effort::default());
            sizes.cheapest(&curve(), wanted, let_through, FIGURES, Some(way))
        };
        for way in WALKS.into_iter().chain([Way::Exact]) {
            for let_through in [1, 10_000, 1_000_000] {
                assert_eq!(forced(let_through, way).way, way);
            }
        }
        let walk = forced(10_000, WALKS[1]);
        let counts = Counts { distances: 10_000_000, tests: 1_000_000, ..Counts::default() };
        assert!(walk.goes_on(counts) && walk.ef == 145 && walk.cost_ns > 0.0, "{walk:?}");
    }

    #[test]
    fn a_walk_may_not_take_longer_than_comparing_all() {
        let chosen = cheapest(1_000_000, 500_000, Effort::default());
        let counts = |distances| Counts { distances, ..Counts::default() };
        assert!(chosen.goes_on(counts(1_000)) && !chosen.goes_on(counts(10_000_000)));
        let tested = |tests, wanted| Counts { tests, wanted, ..Counts::default() };
        assert!(chosen.goes_on(tested(1_000, 100)) && !chosen.goes_on(tested(1_000, 50)));
        let two = Choice { way: Way::Walk(Through::Wanted), ..chosen.clone() };
        assert!(two.goes_on(tested(1_000, 300)) && !two.goes_on(tested(1_000, 200)));
        assert!(chosen.goes_on(tested(40, 0)), "too few to know");
    }
}
