//! Differences between two nodes, and between two plans as a whole.

use super::super::units::joined;
use super::super::{Actual, Decision, ExplainFacet, ExplainNode, ExplainTree, PlanningTimes};
use super::matching::{Entry, Matching, paired};
use super::{Change, DiffValue};
use std::collections::HashMap;

/// Times that differ by less are the same: twice what two runs of one query differ by when nothing has changed but what
/// the caches hold and where the scheduler puts the thread.
const NOISE_NS: u64 = 20_000;
/// Noise as a share of the longer time, in percent: clocks that are sampled, and a processor that changes its
/// frequency.
const NOISE_PERCENT: u64 = 30;

/// Whether two times differ by more than what is noise.
pub(super) fn differ(left: u64, right: u64) -> bool {
    let difference = u128::from(left.abs_diff(right));
    let longer = u128::from(left.max(right));
    difference > u128::from(NOISE_NS) && 100 * difference > u128::from(NOISE_PERCENT) * longer
}

/// Differences, as they are found.
#[derive(Default)]
struct Changes {
    found: Vec<Change>,
    /// The facet that they are of, and those around it, the outermost first.
    facets: Vec<String>,
}

impl Changes {
    /// Adds a change, of something that has a name or of a name of the plan's JSON.
    fn push<V: Into<DiffValue> + PartialEq>(
        &mut self,
        what: &'static str,
        name: Option<&str>,
        left: Option<V>,
        right: Option<V>,
    ) {
        if left != right {
            let (facets, name) = (self.facets.clone(), name.map(str::to_owned));
            let (left, right) = (left.map(Into::into), right.map(Into::into));
            self.found.push(Change { facets, what, name, left, right });
        }
    }

    /// Texts, of which an empty one is none.
    fn text(&mut self, what: &'static str, left: &str, right: &str) {
        let some = |text| Some(text).filter(|text: &&str| !text.is_empty());
        self.push(what, None, some(left), some(right));
    }

    fn number(&mut self, what: &'static str, left: u64, right: u64) {
        self.push(what, None, Some(left), Some(right));
    }

    /// Adds a change of a number that both plans know.
    fn known(&mut self, what: &'static str, left: Option<u64>, right: Option<u64>) {
        self.push(what, None, left.and(right).and(left), left.and(right));
    }

    fn time(&mut self, what: &'static str, left: u64, right: u64) {
        if differ(left, right) {
            self.number(what, left, right);
        }
    }

    /// Rules that were taken or left. One may have been considered several times.
    fn decisions(&mut self, left: &[Decision], right: &[Decision]) {
        let word = |decision: &Decision| if decision.accepted { "taken" } else { "left" };
        let (pairs, added) = paired(left, right, |decision| &*decision.rule);
        let pairs = pairs.into_iter().map(|(l, r)| (Some(l), r));
        for (l, r) in pairs.chain(added.into_iter().map(|r| (None, Some(r)))) {
            let rule = l.or(r).map(|decision| &*decision.rule);
            self.push("decision", rule, l.map(word), r.map(word));
        }
    }
}

pub(super) fn of_nodes(left: &ExplainNode, right: &ExplainNode) -> Vec<Change> {
    let mut changes = Changes::default();
    changes.text("operator", left.operator.name(), right.operator.name());
    changes.text("label", &left.label, &right.label);
    changes.text("algorithm", &left.algorithm, &right.algorithm);
    changes.number("estimate", left.estimate.documents, right.estimate.documents);
    changes.number("lower", left.estimate.lower, right.estimate.lower);
    changes.number("upper", left.estimate.upper, right.estimate.upper);
    changes.text("source", &left.estimate.source, &right.estimate.source);
    if let (Some(l), Some(r)) = (&left.actual, &right.actual) {
        changes.number("documents", l.documents, r.documents);
        changes.known("documents_in", l.documents_in, r.documents_in);
        changes.time("time_ns", l.time_ns, r.time_ns);
        changes.number("bytes_read", l.bytes_read, r.bytes_read);
        let ended = |complete, stopped| match (complete, stopped) {
            (true, false) => "at its end",
            (false, false) => "early",
            (_, true) => "out of time",
        };
        changes.text("ended", ended(l.complete, l.stopped), ended(r.complete, r.stopped));
        type Known = fn(&Actual) -> Option<u64>;
        let counts: [(_, Known); 9] = [
            ("terms_visited", |it| Some(it.terms?.visited)),
            ("terms_expanded", |it| Some(it.terms?.expanded)),
            ("vectors_compared", |it| Some(it.vectors?.compared)),
            ("vectors_rescored", |it| Some(it.vectors?.rescored)),
            ("vectors_proved_out", |it| Some(it.vectors?.proved_out)),
            ("vectors_blocks", |it| Some(it.vectors?.blocks)),
            ("points_tested", |it| Some(it.geo?.points_tested)),
            ("positions", |it| Some(it.positions?.positions)),
            ("documents_scored", |it| Some(it.ranking.as_ref()?.documents_scored)),
        ];
        for (what, of) in counts {
            changes.known(what, of(l), of(r));
        }
    }
    changes.decisions(&left.decisions, &right.decisions);
    changes.found
}

/// For each node before, how its place has changed, where it has: another node above it, or other ones before it of those
/// that both have.
pub(super) fn places(
    left: &[Entry<'_>],
    right: &[Entry<'_>],
    found: &Matching,
) -> Vec<Option<Change>> {
    let mut places: Vec<Option<Change>> = vec![None; left.len()];
    let stays = |at: usize| {
        let other_above = right[found.of_left[at]?].parent;
        let above = left[at].parent.and_then(|parent| found.of_left[parent]);
        // Operators above may have come or gone, which says nothing of the node.
        Some(above.is_none() || other_above.is_none() || above == other_above)
    };
    // Inputs that both have, in the order of one side.
    let ranks = |nodes: &[Entry<'_>], of_left: &dyn Fn(usize) -> Option<usize>| {
        let (mut seen, mut ranks) = (vec![0_u64; nodes.len()], vec![0; nodes.len()]);
        for (at, entry) in nodes.iter().enumerate() {
            if let (Some(true), Some(parent)) = (of_left(at).and_then(stays), entry.parent) {
                ranks[at] = seen[parent];
                seen[parent] += 1;
            }
        }
        ranks
    };
    let (ranks_left, ranks_right) = (ranks(left, &Some), ranks(right, &|at| found.of_right[at]));
    for at in 0..left.len() {
        let (Some(other), Some(stays)) = (found.of_left[at], stays(at)) else { continue };
        let both_have_parents =
            left[at].parent.is_some_and(|parent| found.of_left[parent].is_some());
        let is_moved = !stays || both_have_parents && ranks_left[at] != ranks_right[other];
        let position = |node: &ExplainNode| Some(DiffValue::Text(node.id.clone()));
        places[at] = is_moved.then(|| Change {
            what: "position",
            left: position(left[at].node),
            right: position(right[other].node),
            ..Change::default()
        });
    }
    places
}

/// Returns the differences beside the nodes.
pub(super) fn of_trees(
    (left, left_nodes): (&ExplainTree, &[Entry<'_>]),
    (right, right_nodes): (&ExplainTree, &[Entry<'_>]),
    found: &Matching,
) -> Vec<Change> {
    let mut changes = Changes::default();
    changes.text("query", &left.query, &right.query);
    changes.text("rewritten", &left.rewritten, &right.rewritten);
    let documents = |tree: &ExplainTree| tree.of_segments(|segment| segment.documents);
    let bytes = |tree: &ExplainTree| tree.of_segments(|segment| segment.bytes);
    changes.number("segments", left.segments.len() as u64, right.segments.len() as u64);
    changes.number("documents_of_the_index", documents(left), documents(right));
    changes.number("bytes_of_the_index", bytes(left), bytes(right));
    facets(&mut changes, &left.facets, &right.facets);
    // A finding is about a node, which has another id on the other side, if it is there.
    let id_of = |at: usize| &*right_nodes[at].node.id;
    let ids = left_nodes.iter().zip(&found.of_left);
    let ids = ids.map(|(entry, other)| (&*entry.node.id, other.map(id_of)));
    findings(&mut changes, left, right, &ids.collect());
    changes.known("term_lookups", left.term_lookups, right.term_lookups);
    let phases = left.planning.into_iter().flat_map(PlanningTimes::by_name);
    for (what, ns) in phases {
        let mut others = right.planning.into_iter().flat_map(PlanningTimes::by_name);
        if let Some((_, other)) = others.find(|(name, _)| *name == what) {
            changes.time(what, ns, other);
        }
    }
    for (what, l, r) in [
        ("planning_ns", left.planning_ns, right.planning_ns),
        ("rest_ns", left.rest_ns(), right.rest_ns()),
        ("total_ns", left.total_ns, right.total_ns),
    ] {
        match (l, r) {
            (Some(l), Some(r)) => changes.time(what, l, r),
            (l, r) => changes.push(what, None, l, r),
        }
    }
    changes.found
}

/// Facets of the same field, first those by the same ranges, in the order they were asked for.
fn facets(changes: &mut Changes, left: &[ExplainFacet], right: &[ExplainFacet]) {
    let (same, right) = paired(left, right, |facet| (&facet.field, &facet.ranges));
    let alone = same.iter().filter(|(_, r)| r.is_none()).map(|(l, _)| *l);
    let (others, added) = paired(alone, right, |facet| &facet.field);
    let mut others = others.into_iter();
    for (l, r) in same {
        match r.or_else(|| others.next()?.1) {
            Some(r) => {
                changes.facets.push(l.field.clone());
                facet(changes, l, r);
                changes.facets.pop();
            }
            None => changes.push("facet", Some(&l.field), Some(algorithm(l)), None),
        }
    }
    for r in added {
        changes.push("facet", Some(&r.field), None, Some(algorithm(r)));
    }
}

fn facet(changes: &mut Changes, left: &ExplainFacet, right: &ExplainFacet) {
    changes.text("algorithm", &left.algorithm, &right.algorithm);
    changes.number("limit", left.limit, right.limit);
    changes.number("terms", left.terms, right.terms);
    let texts = |facet: &ExplainFacet| {
        joined([facet.ranges.as_deref(), facet.options.as_deref()].into_iter().flatten(), ", ")
    };
    changes.text("options", &texts(left), &texts(right));
    if let (Some(l), Some(r)) = (&left.actual, &right.actual) {
        changes.time("time_ns", l.time_ns, r.time_ns);
        changes.number("bytes_read", l.bytes_read, r.bytes_read);
        changes.number("terms_intersected", l.terms_intersected, r.terms_intersected);
    }
    changes.decisions(&left.decisions, &right.decisions);
    facets(changes, &left.within, &right.within);
}

fn algorithm(facet: &ExplainFacet) -> &str {
    if facet.algorithm.is_empty() { "there" } else { &facet.algorithm }
}

/// Findings that are gone, and that are new; `ids` has for each node of the left side the one of the right that it is.
fn findings(
    changes: &mut Changes,
    left: &ExplainTree,
    right: &ExplainTree,
    ids: &HashMap<&str, Option<&str>>,
) {
    // Known by the node that it is about, by its id on the right side unless only the left one has it; none of the whole.
    let of_left = left.findings.iter().map(|finding| {
        let about = finding.node.as_deref().map(|id| match ids.get(id) {
            Some(Some(other)) => (*other, false),
            // One of no node at all is known by what it says.
            other => (id, other.is_some()),
        });
        (about, finding)
    });
    let of_right = right.findings.iter();
    let of_right = of_right.map(|finding| (finding.node.as_deref().map(|id| (id, false)), finding));
    let (of_left, of_right): (Vec<_>, Vec<_>) = (of_left.collect(), of_right.collect());
    let (pairs, added) =
        paired(&of_left, &of_right, |(about, finding)| (about, &finding.rule, &finding.facet));
    for ((_, finding), _) in pairs.into_iter().filter(|(_, other)| other.is_none()) {
        changes.push("finding", Some(&finding.rule), Some(&*finding.message), None);
    }
    for (_, finding) in added {
        changes.push("finding", Some(&finding.rule), None, Some(&*finding.message));
    }
}
