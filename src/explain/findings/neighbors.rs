//! Findings about neighbours of vectors.
//!
//! They are about recall that is not as it was expected, and about codes that leave too much to be compared.

use super::look::{Look, own_ns};
use super::{Finding, Severity};
use crate::explain::ExplainNode;
use crate::plural::{grouped, number_of};

/// Recall that differs by no more from what was expected is as it was.
const RECALL_APART: f64 = 0.05;
/// Neighbours more or less that a single search may find by chance.
const BY_CHANCE: f64 = 1.0;
/// Vectors compared for each neighbour of a segment from which on codes tell too little apart.
const COMPARED_MANY: u64 = 20;

pub(super) fn look_at(look: &mut Look<'_>) {
    let nodes: Vec<&ExplainNode> = look.nodes.iter().map(|(node, _)| *node).collect();
    for node in nodes {
        recall(look, node);
        coarse(look, node);
    }
}

fn recall(look: &mut Look<'_>, node: &ExplainNode) {
    let counts = node.actual.as_ref().and_then(|actual| actual.vectors);
    let Some((expected, counts)) = node.neighbors.as_ref().zip(counts) else { return };
    let Some(found) = counts.recall() else { return };
    let (nearest, recalled) = (counts.nearest as f64, counts.recalled as f64);
    let apart = (expected.recall * nearest - recalled).abs();
    if apart <= RECALL_APART * nearest + BY_CHANCE {
        return;
    }
    let message = format!(
        "{} was expected to find {:.2} of the nearest and found {found:.2}, {} of {}",
        node.label,
        expected.recall,
        grouped(counts.recalled),
        grouped(counts.nearest)
    );
    let finding = Finding::new("recall off", Severity::Hint, message).of_node(node);
    look.add(
        own_ns(node),
        match found < expected.recall {
            true => {
                finding.remedy("recall=0.99 or a larger ef=, which a longer walk finds more by")
            }
            false => finding,
        },
    );
}

/// Vectors are compared in the end, for codes are not exact: few more than are wanted, unless codes are too coarse.
fn coarse(look: &mut Look<'_>, node: &ExplainNode) {
    let Some(counts) = node.actual.as_ref().and_then(|actual| actual.vectors) else { return };
    let n_segments = (look.tree.segments.len() as u64).max(1);
    let wanted = node.estimate.upper.saturating_mul(n_segments);
    let is_walk = counts.hops > 0 && counts.switched == 0;
    if !is_walk || wanted == 0 || counts.rescored <= wanted.saturating_mul(COMPARED_MANY) {
        return;
    }
    let message = format!(
        "{} compared {} for {}, since their codes do not tell them apart",
        node.label,
        number_of(counts.rescored, "vector"),
        number_of(node.estimate.upper, "neighbour")
    );
    let finding = Finding::new("coarse codes", Severity::Hint, message).of_node(node);
    let finding = finding.remedy("codes of more bits, which need an index that is built anew");
    look.add(own_ns(node), Finding { rebuild: true, ..finding });
}

#[cfg(test)]
mod tests {
    use crate::explain::{Actual, Estimate, ExplainTree, NeighborsEstimate, VectorCounts};
    use crate::explain::{ExplainNode, ExplainSegment};

    /// Rules that find something of a walk to so many neighbours, which was to find 0.97 of them.
    fn found(wanted: u64, change: impl FnOnce(&mut VectorCounts)) -> Vec<(String, bool)> {
        let mut node = ExplainNode::new("Nearest", "v:nearest([1, 2], 10)");
        node.estimate = Estimate { documents: wanted, upper: wanted, ..Estimate::default() };
        let (way, recall) = ("walk".to_owned(), 0.97);
        node.neighbors = Some(NeighborsEstimate { way, ef: 80, recall, distances: 900 });
        let mut counts = VectorCounts { hops: 90, rescored: wanted * 2, ..VectorCounts::default() };
        change(&mut counts);
        let complete = true;
        node.actual = Some(Actual { vectors: Some(counts), complete, ..Actual::default() });
        let mut tree = ExplainTree::new("v:nearest([1, 2], 10)", node);
        tree.segments = vec![ExplainSegment::default(); 2];
        let rules = ["recall off", "coarse codes"];
        let found = tree.find().into_iter().filter(|it| rules.contains(&&*it.rule));
        found.map(|it| (it.message, it.remedy.is_some())).collect()
    }

    #[test]
    fn recall_that_is_not_as_expected_is_told() {
        let recalled = |nearest, recalled| {
            found(nearest, |it| (it.nearest, it.recalled) = (nearest, recalled))
        };
        assert_eq!(found(10, |_| ()), [], "nobody has asked");
        for (nearest, as_expected) in [(10, 9), (10, 10), (1_000, 970), (1_000, 921), (100, 92)] {
            assert_eq!(recalled(nearest, as_expected), [], "{as_expected} of {nearest}");
        }
        let message = "v:nearest([1, 2], 10) was expected to find 0.97 of the nearest and found 0.80, 8 of 10";
        assert_eq!(recalled(10, 8), [(message.to_owned(), true)]);
        assert_eq!(recalled(1_000, 918).len(), 1);
    }

    #[test]
    fn codes_that_leave_much_to_be_compared_are_told() {
        // Each of two segments may compare twenty for each neighbour.
        assert_eq!(found(10, |it| it.rescored = 400), []);
        let message = "v:nearest([1, 2], 10) compared 401 vectors for 10 neighbours, since their codes do not tell them apart";
        assert_eq!(found(10, |it| it.rescored = 401), [(message.to_owned(), true)]);
        let given_up = |it: &mut VectorCounts| (it.rescored, it.switched) = (9_000, 1);
        assert_eq!(found(10, given_up), []);
        assert_eq!(found(10, |it| (it.rescored, it.hops) = (9_000, 0)), []);
    }
}
