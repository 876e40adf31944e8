//! Conditions that say nothing or too much. Examples are words of no document or of every one, and queries that only
//! exclude.

use super::look::{Look, asked, is_leaf};
use super::{Finding, Severity};
use crate::explain::ExplainNode;
use crate::explain::ExplainOperator::{Deleted, Difference, Intersect, Nothing};
use crate::explain::units::joined;
use crate::explain::why_empty::of_term;
use crate::query::Query;

/// In an index of fewer documents a word may well be in all of them.
const DOCUMENTS_MIN: u64 = 100;
/// Ends of the notes on texts that no term is made of.
const NOTES_OF_NOTHING: [&str; 2] = [", so it matches nothing", ", so it is left out"];
/// Words that are proposed for one that there is not.
const SIMILAR_SHOWN: usize = 3;

pub(super) fn look_at(look: &mut Look<'_>) {
    let matches = &look.tree.matches().id;
    for at in 0..look.nodes.len() {
        let node = look.nodes[at].0;
        match node.operator {
            // Sets that scores depend on: what matches has these words, too.
            _ if !node.id.starts_with(&**matches) => {}
            Nothing if node.children.is_empty() => impossible(look, node),
            _ if !is_leaf(node) => {}
            _ if node.estimate.upper == 0 => unknown(look, at),
            _ if node.estimate.lower >= look.documents.max(DOCUMENTS_MIN) => of_every(look, at),
            _ => {}
        }
    }
    dropped(look);
    only_excluded(look);
}

/// Adds a finding on a node that no document can match, whatever there is in the index.
fn impossible(look: &mut Look<'_>, node: &ExplainNode) {
    let (severity, effect) = match is_all_empty(look) {
        true => (Severity::Warning, "so nothing matches"),
        false => (Severity::Hint, "so this part matches nothing"),
    };
    let message = format!("{}, {effect}", node.label);
    look.add(0, Finding::new("nothing can match", severity, message).of_node(node));
}

fn unknown(look: &mut Look<'_>, at: usize) {
    let node = look.nodes[at].0;
    if look.is_known_in_another_field(at) {
        return;
    }
    let is_excluded = look.is_excluded(at);
    let what = node.label.strip_prefix("NOT ").filter(|_| is_excluded).unwrap_or(&node.label);
    let (severity, effect) = match is_all_empty(look) {
        _ if is_excluded => (Severity::Note, "it excludes nothing"),
        true => (Severity::Warning, "nothing matches"),
        false => (Severity::Hint, "it adds nothing"),
    };
    let message = format!("no document has {what}, so {effect}");
    let finding = Finding::new("unknown word", severity, message).of_node(node);
    look.add_asking(0, finding, move |facts| {
        let (asked, field) = (asked(node)?, node.field.as_ref()?);
        let (Query::Word { text, .. } | Query::Phrase { text, .. }) = &asked else { return None };
        let similar = facts.similar_words(field, text).into_iter().take(SIMILAR_SHOWN);
        let similar = joined(similar.map(|(word, n)| of_term(&word, n)), ", ");
        (!similar.is_empty()).then(|| (format!("like it are {similar}"), false))
    });
}

/// Whether it is known that nothing matches the whole query.
fn is_all_empty(look: &Look<'_>) -> bool {
    look.tree.matches().estimate.upper == 0
}

fn of_every(look: &mut Look<'_>, at: usize) {
    let (node, parent) = look.nodes[at];
    let is_condition = parent.is_some_and(|parent| look.nodes[parent].0.operator == Intersect);
    if is_condition && !look.is_excluded(at) {
        let message = format!("every document has {}, so it is no condition", node.label);
        let finding = Finding::new("no condition", Severity::Note, message).of_node(node);
        look.add(0, finding.remedy("leave it out"));
    }
}

/// Texts that the analyzer of a field makes no term of, as the rewriter noted.
fn dropped(look: &mut Look<'_>) {
    let severity = if is_all_empty(look) { Severity::Warning } else { Severity::Hint };
    let remedy = "leave it out, or look for it in a field that keeps it";
    let is_dropped = |note: &&String| NOTES_OF_NOTHING.iter().any(|end| note.ends_with(end));
    for note in look.tree.notes.iter().filter(is_dropped) {
        look.add(0, Finding::new("no term", severity, &**note).remedy(remedy));
    }
}

/// A query that only says what is not wanted, and so means nearly everything.
fn only_excluded(look: &mut Look<'_>) {
    let root = look.tree.matches();
    let is_excluded = |child: &ExplainNode| child.label.starts_with("NOT ");
    let is_asked = |child: &ExplainNode| child.operator != Deleted;
    if root.operator != Difference
        || !root.children.iter().all(is_excluded)
        || !root.children.iter().any(is_asked)
        || look.documents < DOCUMENTS_MIN
        || root.estimate.documents.saturating_mul(2) < look.documents
    {
        return;
    }
    let message = "the query only excludes, so everything else matches";
    let finding = Finding::new("only exclusions", Severity::Note, message).of_node(root);
    look.add(0, finding.remedy("add what is wanted"));
}
