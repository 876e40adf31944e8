//! What differs between two nodes, and between two plans as a whole.

use super::super::{Decision, ExplainFacet, ExplainNode, ExplainTree};
use super::matching::{Matching, Nodes};
use super::{Change, DiffValue};

/// Times that differ by less are the same: twice what two runs of one query differ by when nothing has changed but what
/// the caches hold and where the scheduler puts the thread.
const NOISE_NS: u64 = 20_000;
/// The same as a share of the longer one, in percent: clocks that are sampled, and a processor that changes its frequency.
const NOISE_PERCENT: u64 = 30;

/// Whether two times differ by more than what is noise.
pub(super) fn differ(left: u64, right: u64) -> bool {
    let difference = u128::from(left.abs_diff(right));
    let longer = u128::from(left.max(right));
    difference > u128::from(NOISE_NS) && 100 * difference > u128::from(NOISE_PERCENT) * longer
}

pub(super) fn title(node: &ExplainNode) -> String {
    format!("{} {}", node.operator, node.label).trim_end().to_owned()
}

/// Differences, as they are found.
#[derive(Default)]
struct Changes(Vec<Change>);

impl Changes {
    fn add(
        &mut self,
        what: impl Into<String>,
        left: Option<impl Into<DiffValue>>,
        right: Option<impl Into<DiffValue>>,
    ) {
        let (left, right) = (left.map(Into::into), right.map(Into::into));
        if left != right {
            self.0.push(Change { what: what.into(), left, right });
        }
    }

    /// Texts, of which an empty one is none.
    fn text(&mut self, what: impl Into<String>, left: &str, right: &str) {
        let some = |text| Some(text).filter(|text: &&str| !text.is_empty());
        self.add(what, some(left), some(right));
    }

    fn number(&mut self, what: impl Into<String>, left: u64, right: u64) {
        self.add(what, Some(left), Some(right));
    }

    /// What both know.
    fn known(&mut self, what: &str, left: Option<u64>, right: Option<u64>) {
        if let (Some(left), Some(right)) = (left, right) {
            self.number(what, left, right);
        }
    }

    fn time(&mut self, what: impl Into<String>, left: u64, right: u64) {
        if differ(left, right) {
            self.number(what, left, right);
        }
    }

    /// Rules that were taken or left.
    fn decisions(&mut self, before: &str, left: &[Decision], right: &[Decision]) {
        let word = |decision: &Decision| if decision.accepted { "taken" } else { "left" };
        let find = |all: &[Decision], rule: &str| {
            all.iter().find(|decision| decision.rule == rule).map(word)
        };
        for Decision { rule, .. } in left {
            self.add(format!("{before}decision {rule}"), find(left, rule), find(right, rule));
        }
        for Decision { rule, .. } in right {
            if find(left, rule).is_none() {
                self.add(format!("{before}decision {rule}"), None::<&str>, find(right, rule));
            }
        }
    }
}

/// What differs between two nodes that are each other.
pub(super) fn of_nodes(left: &ExplainNode, right: &ExplainNode) -> Vec<Change> {
    let mut changes = Changes::default();
    changes.text("operator", &left.operator, &right.operator);
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
        let terms = |visited: bool| {
            let of = move |it: super::super::TermCounts| {
                if visited { it.visited } else { it.expanded }
            };
            (l.terms.map(of), r.terms.map(of))
        };
        let ((l_visited, r_visited), (l_expanded, r_expanded)) = (terms(true), terms(false));
        changes.known("terms_visited", l_visited, r_visited);
        changes.known("terms_expanded", l_expanded, r_expanded);
        let positions = |actual: &super::super::Actual| actual.positions.map(|it| it.positions);
        changes.known("positions", positions(l), positions(r));
        let scored = |actual: &super::super::Actual| {
            actual.ranking.as_ref().map(|ranking| ranking.documents_scored)
        };
        changes.known("documents_scored", scored(l), scored(r));
    }
    changes.decisions("", &left.decisions, &right.decisions);
    changes.0
}

/// For each node before, how its place has changed, where it has: another node above it, or other ones before it of those
/// that both have.
pub(super) fn places(left: &Nodes<'_>, right: &Nodes<'_>, found: &Matching) -> Vec<Option<Change>> {
    let mut places: Vec<Option<Change>> = vec![None; left.list.len()];
    // How many of the inputs both have, in the order of each side.
    let mut ranks_left = vec![0_u64; left.list.len()];
    let mut ranks_right = vec![0_u64; right.list.len()];
    let stays = |at: usize| {
        let other = found.of_left[at]?;
        let above = left.list[at].parent.map(|parent| found.of_left[parent]);
        let other_above = right.list[other].parent.map(Some);
        // What stands above may have come or gone, which says nothing of the node.
        Some(match (above, other_above) {
            (Some(Some(above)), Some(other_above)) => Some(above) == other_above,
            _ => true,
        })
    };
    let mut seen = vec![0_u64; left.list.len()];
    for (at, entry) in left.list.iter().enumerate() {
        if let (Some(true), Some(parent)) = (stays(at), entry.parent) {
            ranks_left[at] = seen[parent];
            seen[parent] += 1;
        }
    }
    let mut seen = vec![0_u64; right.list.len()];
    for (at, entry) in right.list.iter().enumerate() {
        if let (Some(l), Some(parent)) = (found.of_right[at], entry.parent)
            && stays(l) == Some(true)
        {
            ranks_right[at] = seen[parent];
            seen[parent] += 1;
        }
    }
    for at in 0..left.list.len() {
        let (Some(other), Some(stays)) = (found.of_left[at], stays(at)) else { continue };
        let both_have_parents =
            left.list[at].parent.is_some_and(|parent| found.of_left[parent].is_some());
        let is_moved = !stays || both_have_parents && ranks_left[at] != ranks_right[other];
        if is_moved {
            let (one, other) = (&left.list[at].node.id, &right.list[other].node.id);
            places[at] = Some(Change {
                what: "position".into(),
                left: Some(DiffValue::Text(one.clone())),
                right: Some(DiffValue::Text(other.clone())),
            });
        }
    }
    places
}

/// What differs beside the nodes.
pub(super) fn of_trees(left: &ExplainTree, right: &ExplainTree) -> Vec<Change> {
    let mut changes = Changes::default();
    changes.text("query", &left.query, &right.query);
    if left.rewritten != right.rewritten {
        changes.text("rewritten", &left.rewritten, &right.rewritten);
    }
    let of_index = |tree: &ExplainTree| {
        let sum = |of: fn(&super::super::ExplainSegment) -> u64| {
            tree.segments.iter().map(of).fold(0, u64::saturating_add)
        };
        (tree.segments.len() as u64, sum(|it| it.documents), sum(|it| it.bytes))
    };
    let (l, r) = (of_index(left), of_index(right));
    changes.number("segments", l.0, r.0);
    changes.number("documents of the index", l.1, r.1);
    changes.number("bytes of the index", l.2, r.2);
    facets(&mut changes, "", &left.facets, &right.facets);
    findings(&mut changes, left, right);
    match (left.total_ns, right.total_ns) {
        (Some(l), Some(r)) => changes.time("total_ns", l, r),
        (l, r) => changes.add("total_ns", l, r),
    }
    changes.0
}

/// Facets of the same field, in the order they were asked for.
fn facets(changes: &mut Changes, above: &str, left: &[ExplainFacet], right: &[ExplainFacet]) {
    let mut free: Vec<&ExplainFacet> = right.iter().collect();
    for l in left {
        let what = format!("{above}facet {}", l.field);
        let same = free.iter().position(|r| r.field == l.field && r.ranges == l.ranges);
        let Some(nth) = same.or_else(|| free.iter().position(|r| r.field == l.field)) else {
            changes.add(what, Some(algorithm(l)), None::<&str>);
            continue;
        };
        let r = free.remove(nth);
        changes.text(format!("{what}: algorithm"), &l.algorithm, &r.algorithm);
        changes.number(format!("{what}: limit"), l.limit, r.limit);
        changes.number(format!("{what}: terms"), l.terms, r.terms);
        let texts = |facet: &ExplainFacet| {
            let parts = [facet.ranges.as_deref(), facet.options.as_deref()];
            parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
        };
        changes.text(format!("{what}: options"), &texts(l), &texts(r));
        if let (Some(l), Some(r)) = (&l.actual, &r.actual) {
            changes.time(format!("{what}: time_ns"), l.time_ns, r.time_ns);
            changes.number(format!("{what}: bytes_read"), l.bytes_read, r.bytes_read);
            let terms = (l.terms_intersected, r.terms_intersected);
            changes.number(format!("{what}: terms_intersected"), terms.0, terms.1);
        }
        changes.decisions(&format!("{what}: "), &l.decisions, &r.decisions);
        facets(changes, &format!("{what}: "), &l.within, &r.within);
    }
    for r in free {
        changes.add(format!("{above}facet {}", r.field), None::<&str>, Some(algorithm(r)));
    }
}

fn algorithm(facet: &ExplainFacet) -> &str {
    if facet.algorithm.is_empty() { "there" } else { &facet.algorithm }
}

/// Findings that are gone, and that are new.
fn findings(changes: &mut Changes, left: &ExplainTree, right: &ExplainTree) {
    for (of, other, is_left) in [(left, right, true), (right, left, false)] {
        for finding in &of.findings {
            if other.findings.iter().any(|it| it.rule == finding.rule && it.facet == finding.facet)
            {
                continue;
            }
            let message = Some(&*finding.message);
            let (l, r) = if is_left { (message, None) } else { (None, message) };
            changes.add(format!("finding {}", finding.rule), l, r);
        }
    }
}
