//! Captions of a plan in drawings: lines of each node, and its share of time. The texts are shortened, and nothing
//! invisible is in them; each drawing escapes them for its own syntax.

use super::lens::mark;
use super::text::{estimate, misjudged};
use super::tree::Branch;
use super::units::{duration, joined, shown};
use super::{
    Alternative, Decision, ExplainDocument, ExplainFacet, ExplainNode, ExplainTree, Verdict,
};
use crate::plural::number_of;

/// Characters of a line: a box that is wider leaves no room for the others.
const LINE_CHARS_MAX: usize = 60;
/// Characters of the query above a drawing.
const TITLE_CHARS_MAX: usize = 120;
/// Characters of what is shown on request.
const TOOLTIP_CHARS_MAX: usize = 1_000;
/// An edge for any number of documents is at least one point wide and at most this.
const EDGE_WIDTH_MAX: f64 = 8.0;

/// A box of a drawing, and what joins it to another: from the one to the other flow so many documents.
pub(super) struct Drawn<'t> {
    pub(super) name: String,
    /// The name of the operator first.
    pub(super) lines: Vec<String>,
    /// The part of all measured time that was spent here, from 0 to 1; 0 where nothing was measured.
    pub(super) share: f64,
    /// Verdict on the document that was asked for.
    pub(super) verdict: Option<Verdict>,
    pub(super) tooltip: Option<String>,
    pub(super) edge: Option<(String, String, u64)>,
    pub(super) decisions: &'t [Decision],
}

/// Everything below and including `roots`, level by level, each with where in the list its parent stands.
pub(super) fn by_level<N: Branch>(roots: &[N]) -> Vec<(&N, Option<usize>)> {
    let mut placed: Vec<_> = roots.iter().map(|node| (node, None)).collect();
    let mut at = 0;
    while let Some((node, _)) = placed.get(at) {
        placed.extend(node.below().iter().map(|node| (node, Some(at))));
        at += 1;
    }
    placed
}

impl ExplainTree {
    pub(super) fn title(&self) -> String {
        let mut title = shown(&self.query, TITLE_CHARS_MAX);
        if let Some(total) = self.total_ns {
            title += &format!(", {}", duration(total));
        }
        if let [ExplainDocument { doc, reason, .. }] = &self.documents[..] {
            title += &format!("; document {doc} {}", shown(reason, TITLE_CHARS_MAX));
        }
        title
    }

    /// The nodes, level by level.
    pub(super) fn drawn_nodes(&self) -> impl Iterator<Item = Drawn<'_>> {
        let all_ns = self.all_ns();
        let nodes = by_level(std::slice::from_ref(&self.plan)).into_iter().zip(0..);
        nodes.map(move |((node, parent), at)| {
            let (name, mut lines, mut verdict) = (format!("n{at}"), node.caption(all_ns), None);
            // A mark of what it says of the document that was asked for, where that is only one.
            if let [document] = &self.documents[..] {
                verdict = document.verdicts.get(&node.id).copied();
                lines[0].insert_str(0, &format!("{} ", mark(verdict).text));
            }
            let to = |parent| (name.clone(), format!("n{parent}"), node.documents_out());
            let edge = parent.map(to);
            // Name of the node, and all of its predicate.
            let text = shown(node.predicate.as_ref().unwrap_or(&node.label), TOOLTIP_CHARS_MAX);
            let tooltip = Some(format!("{} {text}", line(&node.id)));
            let share = share(node, all_ns);
            Drawn { name, lines, share, verdict, tooltip, edge, decisions: &node.decisions }
        })
    }

    /// The facets, level by level, which count what comes out of the node that is drawn in the place `from`.
    pub(super) fn drawn_facets(&self, from: usize) -> impl Iterator<Item = Drawn<'_>> {
        let (all_ns, matches) = (self.all_ns(), self.matches());
        let facets = by_level(&self.facets).into_iter().zip(0..);
        facets.map(move |((node, parent), at)| {
            let (name, lines, share) =
                (format!("f{at}"), node.caption(all_ns), share(node, all_ns));
            // Within another, documents of all buckets that it is counted in.
            let within = node.actual.and_then(|actual| actual.within).map(|it| it.documents);
            let within = within.or(node.estimate.map(|estimate| estimate.documents));
            let (from, documents) = match parent {
                None => (format!("n{from}"), matches.documents_out()),
                Some(parent) => (format!("f{parent}"), within.unwrap_or(0)),
            };
            let edge = Some((from, name.clone(), documents));
            let (verdict, tooltip, decisions) = (None, None, &node.decisions[..]);
            Drawn { name, lines, share, verdict, tooltip, edge, decisions }
        })
    }
}

impl ExplainNode {
    /// Documents that came out of it, or are expected to.
    pub(super) fn documents_out(&self) -> u64 {
        self.actual.as_ref().map_or(self.estimate.documents, |actual| actual.documents)
    }

    pub(super) fn caption(&self, all_ns: u64) -> Vec<String> {
        let mut lines = vec![line(self.operator.name())];
        let texts = [self.short_label(), &self.algorithm];
        lines.extend(texts.into_iter().filter(|it| !it.is_empty()).map(line));
        lines.push(line(&estimate(&self.estimate)));
        if let Some(actual) = &self.actual {
            let ended = actual.ended().map(str::to_owned).or_else(|| misjudged(self));
            let found = number_of(actual.documents, "document");
            lines.push(joined([Some(found), ended].into_iter().flatten(), ", "));
        }
        lines.extend(time(self, all_ns));
        lines
    }
}

impl ExplainFacet {
    pub(super) fn caption(&self, all_ns: u64) -> Vec<String> {
        let top = format!("top {}", self.limit);
        let what = format!("{}, {}", self.field, self.ranges.as_ref().unwrap_or(&top));
        let options = self.options.as_deref().unwrap_or_default();
        let texts = [&*self.operator, &what, options, &self.algorithm];
        let lines = texts.into_iter().filter(|text| !text.is_empty()).map(line);
        lines.chain(time(self, all_ns)).collect()
    }
}

/// The part of all measured time that a node or a facet took by itself.
fn share(of: &impl Branch, all_ns: u64) -> f64 {
    of.time_ns().unwrap_or(0) as f64 / all_ns.max(1) as f64
}

/// Line with the time of what was run.
fn time(of: &impl Branch, all_ns: u64) -> Option<String> {
    Some(format!("{}, {:.0} %", duration(of.time_ns()?), share(of, all_ns) * 100.0))
}

/// The ways that were not taken at a node or a facet, in a box each.
pub(super) fn not_taken(decisions: &[Decision]) -> impl Iterator<Item = Vec<String>> {
    let others = decisions.iter().flat_map(|it| it.alternative.iter().chain(&it.others));
    others.map(|Alternative { name, estimated_cost_ns, measured_ns, recall }| {
        let cost = estimated_cost_ns.map(|ns| format!("about {}", duration(ns)));
        let measured = measured_ns.map(|ns| format!("measured {}", duration(ns)));
        let recall = recall.map(|recall| format!("recall {:.2}", recall.part()));
        let costs = joined([cost, measured, recall].into_iter().flatten(), ", ");
        let costs = Some(costs).filter(|costs| !costs.is_empty());
        ["not taken".to_owned(), line(name)].into_iter().chain(costs).collect()
    })
}

/// The lines of a box, each escaped, as the inside of a quoted string.
pub(super) fn label(lines: &[String], escaped: fn(&str) -> String, line_end: &str) -> String {
    joined(lines.iter().map(|line| escaped(line)), line_end)
}

/// Returns the width of an edge for this number of documents, in points: by the power of ten.
pub(super) fn edge_width(documents: u64) -> f64 {
    (1.0 + (documents as f64 + 1.0).log10()).min(EDGE_WIDTH_MAX)
}

fn line(text: &str) -> String {
    shown(text, LINE_CHARS_MAX)
}
