//! Single documents in a text plan: marks in the tree, reasons and score below.

use super::units::joined;
use super::{ExplainDocument, ExplainNode, Verdict};
use crate::console::{Piece, Style, faint, piece, plain, strong};

/// Documents that have a column of marks.
const MARKED_MAX: usize = 8;
/// Numbers of a score that are listed.
const PARTS_MAX: usize = 1_000;

pub(super) fn mark(verdict: Option<Verdict>) -> Piece {
    match verdict {
        Some(Verdict::Matched) => piece(Style::Good, "✓"),
        Some(Verdict::Failed) => piece(Style::Bad, "✗"),
        Some(Verdict::NotReached) => piece(Style::Faint, "·"),
        None => piece(Style::Faint, "?"),
    }
}

pub(super) fn legend(documents: &[ExplainDocument]) -> Vec<Piece> {
    let verdict = |verdict: Verdict| {
        let Piece { style, text, .. } = mark(Some(verdict));
        piece(style, format!("{text} {},", verdict.name())).whole()
    };
    let mut pieces = Vec::from(Verdict::ALL.map(verdict));
    pieces.push(faint("? known when it runs"));
    let order = documents.iter().take(MARKED_MAX).map(|document| document.doc.to_string());
    let order = plain(format!("of {}", joined(order, ", ")));
    pieces.extend((documents.len() > 1).then_some(order));
    pieces
}

/// The marks of a node, one for each document.
pub(super) fn marks(documents: &[ExplainDocument], node: &ExplainNode) -> Vec<Piece> {
    let documents = documents.iter().take(MARKED_MAX);
    documents.map(|document| mark(document.verdicts.get(&node.id).copied())).collect()
}

/// Returns a remark on a node whose mark alone would mislead: it has the only document, which is what must not be.
pub(super) fn remark(documents: &[ExplainDocument], node: &ExplainNode) -> Option<Piece> {
    let [document] = documents else { return None };
    let has = document.verdicts.get(&node.id) == Some(&Verdict::Matched);
    let excludes = has && node.label.starts_with("NOT ");
    excludes.then(|| piece(Style::Bad, "matches this, which must not be"))
}

/// Lines on a document below the tree, each with the columns that it is further in.
pub(super) fn lines(document: &ExplainDocument) -> Vec<(usize, Vec<Piece>)> {
    let mut lines = vec![];
    let mut line = |indent, pieces| lines.push((indent, pieces));
    let mut title = vec![strong("Document"), strong(document.doc.to_string())];
    let words = &document.title;
    title.extend((!words.is_empty()).then(|| plain(format!("'{words}'"))));
    line(0, title);
    let is_found = document.failed_at.is_none();
    let verdict = Some(if is_found { Verdict::Matched } else { Verdict::Failed });
    line(3, vec![mark(verdict), plain(&*document.reason)]);
    let misses = document.misses.iter().filter(|_| document.misses.len() > 1);
    misses.for_each(|miss| line(5, vec![plain(&**miss)]));
    let mut todo: Vec<_> = document.score.iter().map(|score| (score, 0)).collect();
    if !todo.is_empty() {
        line(3, vec![strong("Score")]);
    }
    let mut n_left = PARTS_MAX;
    while let Some((part, depth)) = todo.pop() {
        if n_left == 0 {
            line(5, vec![faint(format!("and {} more", todo.len() + 1))]);
            break;
        }
        n_left -= 1;
        line(5 + 2 * depth, vec![plain(format!("{} {}", part.value, part.what))]);
        todo.extend(part.parts.iter().rev().map(|part| (part, depth + 1)));
    }
    lines
}
