//! [`ExplainTree`] → text: a tree with box drawing for people and their terminals.
//!
//! Labels and queries are cut at the width, everything else is wrapped at blanks. Texts from outside, queries and
//! terms, cannot drive the terminal: see [`terminal`].

use crate::plural::{grouped, number_of};
use std::fmt;

use super::lens;
use super::pieces::{
    at_points, between, in_buckets, in_column, in_order, less_deleted, looked_at, thresholds,
};
use super::units::{behind, duration, joined, size};
use super::{
    Actual, Decision, Estimate, ExplainDocument, ExplainFacet, ExplainNode, ExplainTree,
    FacetActual, Finding, NodeSegment, PlanningTimes, RunTimes, Severity,
};
use crate::console::{Console, Piece, Style, faint, listed, piece, plain, strong};
use crate::terminal;

/// Columns a line may take, if the tree is not too deep for them.
const WIDTH_DEFAULT: usize = 100;
/// Segments listed with a node at the most.
const SEGMENTS_SHOWN: usize = 8;

/// Options of [`ExplainTree::to_text`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TextOptions {
    /// Columns of the terminal (default: 100). A deep tree may need more.
    pub width: usize,
    /// Whether to print nothing but ASCII; other characters become `\u{…}` (default: false).
    pub ascii: bool,
    /// Whether to print ANSI colours (default: false).
    pub color: bool,
    /// Whether to print the meanings of the plan's words below it (default: false).
    pub explain_words: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        TextOptions { width: WIDTH_DEFAULT, ascii: false, color: false, explain_words: false }
    }
}

impl TextOptions {
    /// Sets the columns of the terminal.
    #[must_use]
    pub fn width(mut self, width: usize) -> Self {
        self.width = width;
        self
    }

    /// Sets whether to print nothing but ASCII.
    #[must_use]
    pub fn ascii(mut self, ascii: bool) -> Self {
        self.ascii = ascii;
        self
    }

    /// Sets whether to print ANSI colours.
    #[must_use]
    pub fn color(mut self, color: bool) -> Self {
        self.color = color;
        self
    }

    /// Sets whether to print the meanings of the words that the plan uses below it.
    #[must_use]
    pub fn explain_words(mut self, explain_words: bool) -> Self {
        self.explain_words = explain_words;
        self
    }

    pub(super) fn console(&self) -> Console {
        Console { width: self.width, ascii: self.ascii, color: self.color, ..Console::default() }
    }
}

impl ExplainTree {
    /// The tree as text, every line ended by a line feed.
    pub fn to_text(&self, options: &TextOptions) -> String {
        let (all_ns, percents) = (self.all_ns(), self.percents().into_iter());
        let documents = &self.documents;
        let mut page = Page { console: options.console(), documents, all_ns, percents };
        page.heading(self);
        page.node(&self.plan, "", "");
        for facet in &self.facets {
            page.console.out.push('\n');
            page.facet("", facet);
        }
        page.times(self);
        for document in &self.documents {
            page.console.out.push('\n');
            for (indent, pieces) in lens::lines(document) {
                page.console.line(&" ".repeat(indent), 2, pieces);
            }
        }
        if options.explain_words {
            page.words(self);
        }
        page.console.out
    }
}

/// [`ExplainTree::to_text`] with the default options.
impl fmt::Display for ExplainTree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text(&TextOptions::default()))
    }
}

struct Page<'a> {
    console: Console,
    documents: &'a [ExplainDocument],
    /// Time that all shares are of.
    all_ns: u64,
    /// Shares in percent of what adds up to it, in the order in which it is printed.
    percents: std::vec::IntoIter<u64>,
}

/// A time with its share of the whole, where there is one.
fn timed(ns: u64, percent: Option<impl fmt::Display>) -> String {
    match percent {
        Some(percent) => format!("{} ({percent} %)", duration(ns)),
        None => duration(ns),
    }
}

impl Page<'_> {
    fn heading(&mut self, tree: &ExplainTree) {
        self.console.cut("", vec![faint("query    "), plain(&*tree.query)]);
        for (at, finding) in tree.findings.iter().enumerate() {
            // One remedy of several in a row is below the last of them.
            let next = tree.findings.get(at + 1).and_then(|next| next.remedy.as_ref());
            self.finding(finding, finding.remedy.as_ref().filter(|own| Some(*own) != next));
        }
        let later = [("parsed   ", &tree.parsed), ("rewritten", &tree.rewritten)];
        for ((name, text), before) in later.into_iter().zip([&tree.query, &tree.parsed]) {
            if text != before {
                self.console.cut("", vec![faint(name), plain(&**text)]);
            }
        }
        tree.notes.iter().for_each(|note| self.detail("", "note     ", vec![plain(&**note)]));
        if !tree.segments.is_empty() {
            let n = number_of(tree.segments.len() as u64, "segment");
            let documents = number_of(tree.of_segments(|segment| segment.documents), "document");
            let bytes = size(tree.of_segments(|segment| segment.bytes));
            self.detail("", "index    ", vec![plain(format!("{n}, {documents}, {bytes}"))]);
        }
        if !tree.documents.is_empty() {
            self.detail("", "marks    ", lens::legend(&tree.documents));
        }
        self.console.out.push('\n');
    }

    fn finding(&mut self, finding: &Finding, remedy: Option<&String>) {
        let (name, style) = match finding.severity {
            Severity::Note => ("note     ", Style::Faint),
            Severity::Hint => ("hint     ", Style::Strong),
            Severity::Warning => ("warning  ", Style::Bad),
        };
        let indent = terminal::width(name) + 1;
        self.console.line("", indent, vec![piece(style, name).whole(), plain(&*finding.message)]);
        if let Some(remedy) = remedy {
            let mut pieces = vec![piece(Style::Good, "        →").whole(), plain(&**remedy)];
            pieces.extend(finding.rebuild.then(|| faint("(needs a rebuild)").whole()));
            self.console.line("", indent, pieces);
        }
    }

    /// A node, its details and what is below it; `first` stands before its line, `rest` before all others.
    fn node(&mut self, node: &ExplainNode, first: &str, rest: &str) {
        let mut pieces = lens::marks(self.documents, node);
        pieces.extend([strong(node.operator.name()), plain(node.short_label())]);
        self.console.cut(first, pieces);
        let bar = if node.children.is_empty() { "   " } else { "│  " };
        let details = format!("{rest}{bar}");
        let actual = node.actual.as_ref();
        let did = actual.map(|actual| {
            let time = self.time(actual.time_ns);
            let mut pieces = self.actual(actual, time);
            pieces.splice(1..1, q_error(node));
            pieces
        });
        let ranking = actual.and_then(|actual| actual.ranking.as_ref());
        let rises = ranking.map(|ranking| &*ranking.thresholds).filter(|rises| !rises.is_empty());
        let remark = lens::remark(self.documents, node);
        self.detail(&details, "document ", remark.map(|remark| vec![remark]));
        self.detail(&details, "algorithm", full(&node.algorithm));
        self.detail(&details, "estimate ", full(&estimate(&node.estimate)));
        self.detail(&details, "actual   ", did);
        self.detail(&details, "runs     ", actual.and(node.times).map(in_runs));
        self.detail(&details, "looked at", ranking.map(looked_at));
        self.detail(&details, "threshold", rises.map(thresholds));
        let streamed = actual.and_then(|actual| actual.streamed.as_ref());
        self.detail(&details, "in order ", streamed.map(in_order));
        let column = actual.and_then(|actual| actual.sort.as_ref());
        self.detail(&details, "looked at", column.map(in_column));
        node.decisions.iter().for_each(|decision| self.decision(&details, decision));
        self.spread(&details, node);
        self.segments(&details, &node.segments);
        for (at, child) in node.children.iter().enumerate() {
            let (first, below) = match at + 1 == node.children.len() {
                true => ("└─ ", "   "),
                false => ("├─ ", "│  "),
            };
            self.node(child, &format!("{rest}{first}"), &format!("{rest}{below}"));
        }
    }

    /// Returns what one node did, in pieces that end in commas.
    fn actual(&self, actual: &Actual, time: String) -> Vec<Piece> {
        let from = actual.documents_in.map(|n| format!(" from {}", grouped(n)));
        let found = number_of(actual.documents, "document") + &from.unwrap_or_default();
        let mut parts = vec![plain(found)];
        parts.extend(actual.ended().map(|ended| piece(Style::Bad, ended)));
        parts.push(plain(time));
        // Finding the best is told in documents and blocks read.
        if actual.ranking.is_none() && actual.sort.is_none() {
            parts.push(plain(format!("{} read", size(actual.bytes_read))));
        }
        if let Some(terms) = &actual.terms {
            let cut = if terms.cut { ", then cut" } else { "" };
            let (expanded, visited) = (number_of(terms.expanded, "term"), grouped(terms.visited));
            parts.push(plain(format!("{expanded} of {visited} visited{cut}")));
        }
        if let Some(counts) = &actual.vectors {
            let candidates = number_of(counts.candidates, "candidate");
            parts.push(plain(number_of(counts.compared, "vector") + " of " + &candidates));
            if counts.hops > 0 {
                let hops = number_of(counts.hops, "hop");
                parts.push(plain(number_of(counts.distances, "code") + " in " + &hops));
                parts.extend((counts.blocks > 0).then(|| plain(number_of(counts.blocks, "block"))));
                let (rescored, out) = (grouped(counts.rescored), grouped(counts.proved_out));
                parts.push(plain(format!("{rescored} rescored, {out} proved out")));
            }
            let given_up = || number_of(counts.switched, "walk") + " given up";
            if let Some(recall) = counts.recall() {
                parts.push(plain(format!(
                    "recall {recall:.2}, {} of {}",
                    counts.recalled, counts.nearest
                )));
            }
            parts.extend((counts.switched > 0).then(|| piece(Style::Bad, given_up())));
        }
        if let Some(counts) = &actual.geo {
            parts.extend(at_points(counts));
        }
        if let Some(counts) = &actual.positions {
            let candidates = number_of(counts.candidates, "candidate");
            parts.push(plain(number_of(counts.positions, "position") + " of " + &candidates));
        }
        let containers = &actual.containers;
        let kinds = [
            (containers.array, "array"),
            (containers.bitmap, "bitmap"),
            (containers.run, "run"),
            (containers.skipped, "skipped"),
        ];
        let kinds = kinds.into_iter().filter(|(n, _)| *n > 0);
        let kinds = joined(kinds.map(|(n, kind)| format!("{} {kind}", grouped(n))), ", ");
        parts.extend((!kinds.is_empty()).then(|| plain(format!("containers: {kinds}"))));
        listed(parts)
    }

    /// Times of planning, of what is no part of the plan, and of the whole search.
    fn times(&mut self, tree: &ExplainTree) {
        let Some(total) = tree.total_ns else { return };
        self.console.out.push('\n');
        if let Some(ns) = tree.planning_ns {
            let phases = tree.planning.into_iter().flat_map(PlanningTimes::in_words);
            let phases = phases.map(|(name, ns)| plain(format!("{name} {}", duration(ns))));
            let phases = listed(phases.collect());
            let colon = if phases.is_empty() { "" } else { ":" };
            let time = plain(self.time(ns) + colon);
            self.console.line(
                "",
                2,
                [strong("Planning"), time].into_iter().chain(phases).collect(),
            );
        }
        if let Some(ns) = tree.rest_ns().filter(|rest| *rest > 0) {
            let time = self.time(ns);
            self.console.line("", 2, vec![strong("Other"), plain(time)]);
        }
        self.console.line("", 2, vec![strong("Total"), plain(duration(total))]);
        if let Some(repeated) = &tree.repeated {
            let mut pieces = vec![plain(number_of(repeated.runs, "run") + ":")];
            pieces.extend(in_runs(repeated.total));
            pieces.push(faint("(least / median / most; all else is of the median)"));
            self.console.line("", 2, pieces);
        }
    }

    /// Meanings of the words that the plan uses; words of one meaning are on one line.
    fn words(&mut self, tree: &ExplainTree) {
        let entries = tree.glossary();
        if !entries.is_empty() {
            self.console.out.push('\n');
            self.console.line("", 2, vec![strong("Words, in which numbers stand for any")]);
        }
        for of_meaning in entries.chunk_by(|one, next| one.meaning == next.meaning) {
            let words = joined(of_meaning.iter().map(|entry| entry.word), ", ") + ":";
            self.console.line("  ", 2, vec![strong(words), plain(&*of_meaning[0].meaning)]);
        }
    }

    /// The next of the times that add up, and the part of the whole that it is.
    fn time(&mut self, ns: u64) -> String {
        timed(ns, self.percents.next())
    }

    /// The time of one segment, which is a part of that of its node.
    fn time_of_segment(&self, ns: u64) -> String {
        let (ns_of_all, all) = (100 * u128::from(ns), u128::from(self.all_ns));
        // To the nearest, as shares of segments add up to nothing that is shown.
        timed(ns, (ns_of_all + all / 2).checked_div(all))
    }

    fn decision(&mut self, prefix: &str, decision: &Decision) {
        let cost = decision.estimated_cost_ns.map(|ns| format!("about {}", duration(ns)));
        let other = decision.alternative.as_ref().map(|alternative| {
            let cost = alternative.estimated_cost_ns.map(|ns| format!(" for {}", duration(ns)));
            format!("instead of '{}'{}", alternative.name, cost.unwrap_or_default())
        });
        let costs = behind("(", &joined(cost.into_iter().chain(other), ", "), ")");
        let text = format!("{}: {}{costs}", decision.rule, decision.reason);
        let sign = |is_good, otherwise| match is_good {
            true => piece(Style::Good, "✓"),
            false => piece(otherwise, "✗"),
        };
        self.console.line(prefix, 2, vec![sign(decision.accepted, Style::Faint), plain(text)]);
        if let Some(measured) = decision.measured_in_words() {
            let is_good = decision.confirmed() != Some(false);
            self.console.line(prefix, 4, vec![sign(is_good, Style::Bad), plain(measured)]);
        }
        if let Some(recall) = decision.recall_in_words() {
            self.console.line(prefix, 4, vec![plain(recall)]);
        }
    }

    /// Prints how even the segments are, where there are several.
    fn spread(&mut self, prefix: &str, node: &ExplainNode) {
        let documents = node.spread(|of| of.documents).filter(|_| node.segments.len() > 1);
        let time = node.spread(|of| of.time_ns);
        let (Some(documents), Some(time)) = (documents, time) else { return };
        let [least, mean] = [documents.min, documents.mean.round() as u64].map(grouped);
        let mut text = format!("{least} / {mean} / {}", number_of(documents.max, "document"));
        if time.max > 0 {
            let [least, mean, most] = [time.min, time.mean.round() as u64, time.max].map(duration);
            text += &format!(", {least} / {mean} / {most}");
        }
        text += " (least / mean / most of a segment)";
        self.detail(prefix, "spread   ", vec![plain(text)]);
    }

    /// Prints the details of a node by segment, where there are several.
    fn segments(&mut self, prefix: &str, segments: &[NodeSegment]) {
        if segments.len() < 2 {
            return;
        }
        for segment in segments.iter().take(SEGMENTS_SHOWN) {
            let short: String = segment.id.chars().take(8).collect();
            let mut pieces = vec![faint(format!("segment {short}"))];
            if !segment.algorithm.is_empty() {
                pieces.push(plain(format!("{},", segment.algorithm)).whole());
            }
            match &segment.actual {
                Some(actual) => {
                    let time = self.time_of_segment(actual.time_ns);
                    pieces.extend(self.actual(actual, time));
                }
                None => pieces.push(plain(estimate(&segment.estimate))),
            }
            self.console.line(prefix, 2, pieces);
        }
        if segments.len() > SEGMENTS_SHOWN {
            let more = (segments.len() - SEGMENTS_SHOWN) as u64;
            self.console.line(
                prefix,
                2,
                vec![faint(format!("and {} more", number_of(more, "segment")))],
            );
        }
    }

    fn facet(&mut self, prefix: &str, facet: &ExplainFacet) {
        let top = format!("top {} of {}", grouped(facet.limit), number_of(facet.terms, "term"));
        let inner = format!("{prefix}   ");
        self.console.cut(prefix, vec![strong(&*facet.operator), plain(facet.values(&top))]);
        let actual = facet.actual.as_ref();
        let expected = facet.estimate.map(|it| it.in_words());
        let counted = actual.and_then(|actual| actual.within).map(in_buckets);
        let column = actual.and_then(|actual| actual.column.as_ref());
        let points = actual.and_then(|actual| actual.geo.as_ref());
        let did = actual.map(|actual| self.facet_actual(actual));
        self.detail(&inner, "algorithm", full(&facet.algorithm));
        self.detail(&inner, "estimate ", expected.as_deref().and_then(full));
        self.detail(&inner, "counted  ", counted.as_deref().and_then(full));
        self.detail(&inner, "looked at", column.map(in_column));
        self.detail(&inner, "looked at", points.map(|counts| listed(at_points(counts).collect())));
        self.detail(&inner, "actual   ", did.as_deref().and_then(full));
        self.detail(&inner, "runs     ", actual.and(facet.times).map(in_runs));
        facet.decisions.iter().for_each(|decision| self.decision(&inner, decision));
        facet.within.iter().for_each(|facet| self.facet(&inner, facet));
    }

    /// Says what became of terms, where any were looked at, and how long it took.
    fn facet_actual(&mut self, actual: &FacetActual) -> String {
        let time = self.time(actual.time_ns);
        if !actual.is_by_terms() {
            return time;
        }
        format!(
            "{} intersected, {} skipped, {} from document frequency{}, {time}, {} read",
            number_of(actual.terms_intersected, "term"),
            grouped(actual.terms_skipped),
            grouped(actual.terms_from_document_frequency),
            less_deleted("", actual.deleted_taken_away),
            size(actual.bytes_read),
        )
    }

    /// A line that starts with a name of nine columns, if there is anything to tell.
    fn detail(&mut self, prefix: &str, name: &str, pieces: impl Into<Option<Vec<Piece>>>) {
        if let Some(pieces) = pieces.into() {
            let indent = terminal::width(name) + 1;
            self.console.line(prefix, indent, [faint(name)].into_iter().chain(pieces).collect());
        }
    }
}

/// Least, median and most of some times.
fn in_runs(times: RunTimes) -> Vec<Piece> {
    let [least, median, most] = [times.min_ns, times.median_ns, times.max_ns].map(duration);
    vec![plain(format!("{least} / {median} / {most}"))]
}

fn full(text: &str) -> Option<Vec<Piece>> {
    (!text.is_empty()).then(|| vec![plain(text)])
}

/// `= 42 documents (document frequency)` or `≈ 120 documents, 0 to 4,312 (independence)`.
pub(super) fn estimate(estimate: &Estimate) -> String {
    let Estimate { documents, lower, upper, source } = estimate;
    let (sign, documents) = between(*documents, *lower, *upper);
    format!("{sign} {documents}{}", behind("(", source, ")"))
}

/// Returns how far off an estimate was as a piece of a line, in an alarming colour where that is far.
fn q_error(node: &ExplainNode) -> Option<Piece> {
    const ALARMING: f64 = 10.0;
    let style = if node.q_error()? >= ALARMING { Style::Bad } else { Style::Plain };
    Some(piece(style, format!("{},", misjudged(node)?)).whole())
}

/// Says how far off an estimate that was a guess turned out to be, and in which direction.
pub(super) fn misjudged(node: &ExplainNode) -> Option<String> {
    let q_error = node.q_error().filter(|_| !node.estimate.is_exact())?;
    let actual = node.actual.as_ref()?.documents;
    let direction = match node.estimate.documents.cmp(&actual) {
        std::cmp::Ordering::Less => " too low",
        std::cmp::Ordering::Equal => "",
        std::cmp::Ordering::Greater => " too high",
    };
    Some(format!("q-error {q_error:.2}{direction}"))
}

#[cfg(test)]
mod tests;
