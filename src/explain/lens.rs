//! What a page of text says of single documents: marks in the tree, and below it why, and the score.

use super::pieces::{Piece, Style, faint, piece, plain, strong};
use super::{ExplainDocument, ExplainNode, Verdict};

/// Documents that have a column of marks.
const MARKED_MAX: usize = 8;
/// Numbers of a score that are listed.
const PARTS_MAX: usize = 1_000;

/// What a mark is called in the text.
pub(super) fn mark(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Matched) => "✓",
        Some(Verdict::Failed) => "✗",
        Some(Verdict::NotReached) => "·",
        None => "?",
    }
}

/// What the marks mean.
pub(super) fn legend(documents: &[ExplainDocument]) -> Vec<Piece> {
    let verdict = |verdict: Verdict| {
        let text = format!("{} {},", mark(Some(verdict)), verdict.name());
        piece(style(Some(verdict)), text).whole()
    };
    let mut pieces = vec![verdict(Verdict::Matched), verdict(Verdict::Failed)];
    pieces.push(verdict(Verdict::NotReached));
    pieces.push(faint("? known when it runs"));
    let order = documents.iter().take(MARKED_MAX).map(|document| document.doc.to_string());
    let order: Vec<_> = order.collect();
    if order.len() > 1 {
        pieces.push(plain(format!("of {}", order.join(", "))));
    }
    pieces
}

/// The marks of a node, one for each document.
pub(super) fn marks(documents: &[ExplainDocument], node: &ExplainNode) -> Vec<Piece> {
    let verdicts = documents.iter().take(MARKED_MAX);
    let verdicts = verdicts.map(|document| document.verdicts.get(&node.id).copied());
    verdicts.map(|verdict| piece(style(verdict), mark(verdict))).collect()
}

/// What has to be said of a node where its mark alone would mislead: it has the only document, which is what must not be.
pub(super) fn remark(documents: &[ExplainDocument], node: &ExplainNode) -> Option<Piece> {
    let [document] = documents else { return None };
    let has = document.verdicts.get(&node.id) == Some(&Verdict::Matched);
    let excludes = has && node.label.starts_with("NOT ");
    excludes.then(|| piece(Style::Bad, "matches this, which must not be"))
}

/// What is said of a document below the tree: lines, each with the columns that it is further in.
pub(super) fn lines(document: &ExplainDocument) -> Vec<(usize, Vec<Piece>)> {
    let mut lines = vec![];
    let mut line = |indent, pieces| lines.push((indent, pieces));
    let mut title = vec![strong("Document"), strong(document.doc.to_string())];
    if !document.title.is_empty() {
        title.push(plain(format!("'{}'", document.title)));
    }
    line(0, title);
    let is_found = document.failed_at.is_none();
    let verdict = Some(if is_found { Verdict::Matched } else { Verdict::Failed });
    line(3, vec![piece(style(verdict), mark(verdict)), plain(&*document.reason)]);
    if document.misses.len() > 1 {
        for miss in &document.misses {
            line(5, vec![plain(&**miss)]);
        }
    }
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

fn style(verdict: Option<Verdict>) -> Style {
    match verdict {
        Some(Verdict::Matched) => Style::Good,
        Some(Verdict::Failed) => Style::Bad,
        Some(Verdict::NotReached) | None => Style::Faint,
    }
}
