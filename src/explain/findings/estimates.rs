//! Estimates that were far off.

use super::look::Look;
use super::{Finding, Severity};
use crate::explain::ExplainNode;
use crate::explain::units::digits;
use crate::plural::{grouped, number_of};

/// An estimate that is off by less, as a factor, changes no decision that matters; as it is coloured in a text.
const Q_ERROR_FAR: f64 = 10.0;
/// Number of documents, expected or found, below which it is no matter which way they are read.
const DOCUMENTS_MANY: u64 = 1_000;
/// Bounds that leave more than this out on neither side, in percent of all documents, say nothing.
const BOUNDS_PERCENT: u64 = 1;

pub(super) fn look_at(look: &mut Look<'_>) {
    let is_off = |node: &ExplainNode| {
        let found = node.actual.as_ref().map_or(0, |actual| actual.documents);
        let is_far = node.q_error().is_some_and(|q_error| q_error >= Q_ERROR_FAR);
        is_far && !node.estimate.is_exact() && found.max(node.estimate.documents) >= DOCUMENTS_MANY
    };
    // If an input was misjudged, so is the operator above it: the deepest is the cause.
    let off = look.nodes.iter().map(|(node, _)| *node).filter(|node| {
        is_off(node) && !node.iter().skip(1).any(is_off) && look.matters(Look::ns_below(node))
    });
    let q_error = |node: &&ExplainNode| node.q_error().unwrap_or(1.0);
    let Some(node) = off.max_by(|a, b| q_error(a).total_cmp(&q_error(b))) else { return };
    let Some(actual) = &node.actual else { return };
    let (expected, found) = (node.estimate.documents, actual.documents);
    let direction = if found > expected { "more" } else { "fewer" };
    let (expected, found) = (number_of(expected, "document"), grouped(found));
    let (label, factor, source) = (&node.label, digits(q_error(&node)), &node.estimate.source);
    let mut message = format!(
        "{label} was expected to find {expected} and found {found}, {factor} times {direction} ({source})"
    );
    let few = look.documents / 100 * BOUNDS_PERCENT;
    if node.estimate.lower <= few && node.estimate.upper >= look.documents.saturating_sub(few) {
        message += "; its bounds say nothing";
    }
    let finding = Finding::new("estimate far off", Severity::Hint, message);
    look.add(Look::ns_below(node), finding.of_node(node));
}
