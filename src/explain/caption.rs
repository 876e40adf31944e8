//! Captions of a plan in drawings: the lines in the box of each node, and its share of the time. The texts are
//! shortened, and nothing invisible is in them; each drawing escapes them for its own syntax.

use super::lens::mark;
use super::text::{estimate, misjudged};
use super::tree::Branch;
use super::units::{duration, number_of, shown};
use super::{
    Alternative, Decision, ExplainDocument, ExplainFacet, ExplainNode, ExplainTree, Verdict,
};

/// Characters of a line: a box that is wider leaves no room for the others.
const LINE_CHARS_MAX: usize = 60;
/// Characters of the query above a drawing.
const TITLE_CHARS_MAX: usize = 120;
/// Characters of what is shown on request.
const TOOLTIP_CHARS_MAX: usize = 1_000;
/// An edge for any number of documents is at least one point wide and at most this.
const EDGE_WIDTH_MAX: f64 = 8.0;

/// Text in the box of a node.
pub(super) struct Caption {
    /// The name of the operator first.
    pub(super) lines: Vec<String>,
    /// The part of all measured time that was spent here, from 0 to 1; 0 where nothing was measured.
    pub(super) share: f64,
    /// Verdict on the document that was asked for.
    pub(super) verdict: Option<Verdict>,
}

impl Caption {
    /// Returns the caption of something that took `time_ns` of all time, where it was run.
    fn timed(mut lines: Vec<String>, time_ns: Option<u64>, all_ns: u64) -> Self {
        let ns = time_ns.unwrap_or(0);
        let share = if all_ns == 0 { 0.0 } else { ns as f64 / all_ns as f64 };
        lines.extend(time_ns.map(|ns| format!("{}, {:.0} %", duration(ns), share * 100.0)));
        Caption { lines, share, verdict: None }
    }
}

/// A box of a drawing, and what joins it to another: from the one to the other flow so many documents.
pub(super) struct Drawn<'t> {
    pub(super) name: String,
    pub(super) caption: Caption,
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
    /// Returns the title above a drawing.
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
            let (name, mut caption) = (format!("n{at}"), node.caption(all_ns));
            // A mark of what it says of the document that was asked for, where that is only one.
            if let ([document], [operator, ..]) = (&self.documents[..], &mut caption.lines[..]) {
                caption.verdict = document.verdicts.get(&node.id).copied();
                *operator = format!("{} {operator}", mark(caption.verdict).text);
            }
            let to = |parent| (name.clone(), format!("n{parent}"), node.documents_out());
            let edge = parent.map(to);
            // Which node it is, and all of what it answers.
            let text = shown(node.predicate.as_ref().unwrap_or(&node.label), TOOLTIP_CHARS_MAX);
            let tooltip = Some(format!("{} {text}", line(&node.id)));
            Drawn { name, caption, tooltip, edge, decisions: &node.decisions }
        })
    }

    /// The facets, level by level, which count what comes out of the node that is drawn in the place `from`.
    pub(super) fn drawn_facets(&self, from: usize) -> impl Iterator<Item = Drawn<'_>> {
        let (all_ns, matches) = (self.all_ns(), self.matches());
        let facets = by_level(&self.facets).into_iter().zip(0..);
        facets.map(move |((node, parent), at)| {
            let (name, caption) = (format!("f{at}"), node.caption(all_ns));
            let (from, documents) = match parent {
                None => (format!("n{from}"), matches.documents_out()),
                Some(parent) => {
                    // Documents of all buckets that it is counted in.
                    let within = node.actual.and_then(|actual| actual.within);
                    let documents = within.map(|within| within.documents);
                    let expected = || node.estimate.map_or(0, |estimate| estimate.documents);
                    (format!("f{parent}"), documents.unwrap_or_else(expected))
                }
            };
            let edge = Some((from, name.clone(), documents));
            Drawn { name, caption, tooltip: None, edge, decisions: &node.decisions }
        })
    }
}

impl ExplainNode {
    /// Documents that came out of it, or are expected to.
    pub(super) fn documents_out(&self) -> u64 {
        self.actual.as_ref().map_or(self.estimate.documents, |actual| actual.documents)
    }

    pub(super) fn caption(&self, all_ns: u64) -> Caption {
        let mut lines = vec![line(self.operator.name())];
        let texts = [self.short_label(), &self.algorithm];
        lines.extend(texts.into_iter().filter(|it| !it.is_empty()).map(line));
        lines.push(line(&estimate(&self.estimate)));
        if let Some(actual) = &self.actual {
            let ended = actual.ended().map(str::to_owned).or_else(|| misjudged(self));
            let found = number_of(actual.documents, "document");
            lines.push([Some(found), ended].into_iter().flatten().collect::<Vec<_>>().join(", "));
        }
        Caption::timed(lines, self.time_ns(), all_ns)
    }
}

impl ExplainFacet {
    pub(super) fn caption(&self, all_ns: u64) -> Caption {
        let ranges = self.ranges.clone().unwrap_or_else(|| format!("top {}", self.limit));
        let what = format!("{}, {ranges}", self.field);
        let options = self.options.as_deref().unwrap_or_default();
        let texts = [&*self.operator, &what, options, &self.algorithm];
        let lines = texts.into_iter().filter(|text| !text.is_empty()).map(line);
        Caption::timed(lines.collect(), self.time_ns(), all_ns)
    }
}

/// The ways that were not taken at a node or a facet, in a box each.
pub(super) fn not_taken(decisions: &[Decision]) -> impl Iterator<Item = Vec<String>> {
    let others = decisions.iter().flat_map(|it| it.alternative.iter().chain(&it.others));
    others.map(|Alternative { name, estimated_cost_ns, measured_ns }| {
        let cost = estimated_cost_ns.map(|ns| format!("about {}", duration(ns)));
        let measured = measured_ns.map(|ns| format!("measured {}", duration(ns)));
        let costs: Vec<_> = [cost, measured].into_iter().flatten().collect();
        let mut lines = vec!["not taken".to_owned(), line(name)];
        lines.extend((!costs.is_empty()).then(|| costs.join(", ")));
        lines
    })
}

/// The lines of a box, each escaped, as the inside of a quoted string.
pub(super) fn label(lines: &[String], escaped: fn(&str) -> String, line_end: &str) -> String {
    lines.iter().map(|line| escaped(line)).collect::<Vec<_>>().join(line_end)
}

/// Returns the width of an edge for this number of documents, in points: by the power of ten.
pub(super) fn edge_width(documents: u64) -> f64 {
    (1.0 + (documents as f64 + 1.0).log10()).min(EDGE_WIDTH_MAX)
}

fn line(text: &str) -> String {
    shown(text, LINE_CHARS_MAX)
}
