//! [`PlanDiff`] → text for people and their terminals.

use super::super::text::TextOptions;
use super::super::units::{digits, duration, shortened, size, spaced};
use super::{Change, DiffKind, DiffValue, NodeDiff, PlanDiff};
use crate::console::{Console, Piece, Style, faint, piece, plain, strong};
use crate::plural::grouped;

/// Characters of one side of a change.
const VALUE_CHARS_MAX: usize = 200;
/// Indentation beyond so many levels says no more.
const DEPTH_SHOWN: usize = 12;
/// Nodes that are the same and shown before what differs; more of them in a row are counted.
const SAME_SHOWN: usize = 2;

impl PlanDiff {
    /// Returns the differences as text, every line ended by a line feed. The whole comes first, then the nodes: `≠`
    /// before those that differ, `+` before added and `-` before removed ones.
    pub fn to_text(&self, options: &TextOptions) -> String {
        let mut page = options.console();
        if self.is_same() {
            page.line("", 2, vec![plain("The plans are the same.")]);
            return page.out;
        }
        for change in &self.changes {
            print(&mut page, "", change);
        }
        if !self.changes.is_empty() {
            page.out.push('\n');
        }
        let is_same = |node: &NodeDiff| node.kind == DiffKind::Same;
        for row in self.nodes.chunk_by(|one, next| is_same(one) && is_same(next)) {
            // Many in a row that are the same are counted, but for the last ones, which stand right before what differs or at the end.
            let left_out = if row.len() > SAME_SHOWN + 1 { row.len() - SAME_SHOWN } else { 0 };
            if left_out > 0 {
                page.line("  ", 2, vec![faint(format!("… {left_out} nodes that are the same"))]);
            }
            row[left_out..].iter().for_each(|node| node_diff(&mut page, node));
        }
        page.out
    }
}

fn node_diff(page: &mut Console, node: &NodeDiff) {
    let (sign, style) = match node.kind {
        DiffKind::Same => (" ", Style::Faint),
        DiffKind::Changed => ("≠", Style::Strong),
        DiffKind::Added => ("+", Style::Good),
        DiffKind::Removed => ("-", Style::Bad),
    };
    let indent = "  ".repeat(node.depth.min(DEPTH_SHOWN));
    page.cut(&format!("{sign} {indent}"), vec![piece(style, &*node.title)]);
    for change in &node.changes {
        print(page, &format!("  {indent}    "), change);
    }
}

/// `algorithm: short list → roaring containers`
fn print(page: &mut Console, prefix: &str, change: &Change) {
    let what = change.what;
    let shown = |value: &DiffValue| plain(shown(what, value));
    let value = |value: &Option<DiffValue>| value.as_ref().map_or(faint("none"), shown);
    let (subject, arrow) = (strong(subject(change) + ":"), faint("→"));
    let mut pieces = vec![subject, value(&change.left), arrow, value(&change.right)];
    if let (Some(DiffValue::Number(left)), Some(DiffValue::Number(right))) =
        (&change.left, &change.right)
    {
        pieces.extend(times(what, *left, *right));
    }
    page.line(prefix, 2, pieces);
}

/// `facet brand: decision count by the column`: names of others stay as they are.
fn subject(change: &Change) -> String {
    let facets = change.facets.iter().map(|field| format!("facet {field}: "));
    let name = change.name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
    format!("{}{}{name}", facets.collect::<String>(), spaced(change.what))
}

pub(super) fn shown(what: &str, value: &DiffValue) -> String {
    match value {
        DiffValue::Text(text) => shortened(text, VALUE_CHARS_MAX).into_owned(),
        DiffValue::Number(ns) if what.ends_with("_ns") => duration(*ns),
        DiffValue::Number(n) if what.starts_with("bytes_") => size(*n),
        DiffValue::Number(n) => grouped(*n),
    }
}

/// Returns the factor between both sides, where that says more than the numbers.
fn times(what: &str, left: u64, right: u64) -> Option<Piece> {
    let (less, more) = (left.min(right), left.max(right));
    if less == 0 || more / 2 < less {
        return None;
    }
    let factor = digits(more as f64 / less as f64);
    let (style, word) = match (what.ends_with("_ns"), right < left) {
        (true, true) => (Style::Good, "faster"),
        (true, false) => (Style::Bad, "slower"),
        (false, true) => (Style::Plain, "less"),
        (false, false) => (Style::Plain, "more"),
    };
    Some(piece(style, format!("({factor} × {word})")))
}
