//! Prefixes, wildcards, regular expressions and fuzzy words that stand for too many terms, or look at too many.

use super::look::{Look, asked, own_ns};
use super::{Facts, Finding, Severity};
use crate::explain::units::{Count, Grouped};
use crate::explain::{ExplainNode, TermCounts};
use crate::query::{PATTERN_TERMS_MAX, ParseOptions, Query, parse};

/// The lists of fewer terms are united within some hundred microseconds.
const TERMS_WIDE: u64 = 4_096;
/// Fewer terms are looked at within some hundred microseconds, at 10 to 40 ns each.
const VISITED_MANY: u64 = 10_000;
/// For less than that nobody waits, and a busy machine takes as much.
const PLANNING_LONG_NS: u64 = 10_000_000;
/// Characters that a prefix is made longer by, to find how many leave few terms.
const MORE_CHARS_MAX: usize = 3;
/// The decision of scoring patterns, and how it says that terms were left out.
const SCORED_BY_BEST: (&str, &str) = ("score patterns by their best terms", "add nothing");

pub(super) fn look_at(look: &mut Look<'_>) {
    planning(look);
    for at in 0..look.nodes.len() {
        let node = look.nodes[at].0;
        if node.operator == "Expand" && !looks_at_all(look, node) {
            wide(look, node);
        }
        let of_scores = node.decisions.iter().filter(|decision| decision.rule == SCORED_BY_BEST.0);
        for decision in of_scores.filter(|decision| decision.reason.ends_with(SCORED_BY_BEST.1)) {
            let remedy = format!(
                "pattern_terms may be {PATTERN_TERMS_MAX} at most; 0 scores all matches of a pattern alike"
            );
            let finding = Finding::new("scores of some terms", Severity::Note, &*decision.reason);
            look.add(0, finding.of_node(node).remedy(remedy));
        }
    }
}

/// Most of the time before anything ran: the terms of patterns are looked for there, as far as plans and scores need them.
fn planning(look: &mut Look<'_>) {
    let ns = look.tree.planning_ns.unwrap_or(0);
    if ns < PLANNING_LONG_NS || !look.is_most(ns) {
        return;
    }
    let mut todo: Vec<Query> =
        parse(&look.tree.query, &ParseOptions::default()).into_iter().collect();
    let (mut pattern, mut has_others) = (None, false);
    while let Some(query) = todo.pop() {
        if begins_with_anything(&query) {
            pattern = Some(query);
            break;
        }
        has_others |= matches!(
            query,
            Query::Prefix { .. }
                | Query::Wildcard { .. }
                | Query::PhraseOf { .. }
                | Query::Range { .. }
                | Query::InSet { .. }
        );
        todo.extend(query.children().rev().cloned());
    }
    let what = match &pattern {
        Some(pattern) => format!("looks for the terms of {pattern}"),
        None if has_others => "looks for the terms of patterns and ranges".to_owned(),
        None => "looks words up".to_owned(),
    };
    let message = look.went_into(ns, &format!("planning, which {what}"));
    let finding = Finding::new("long planning", look.severity(ns), message);
    look.add_asking(ns, finding, move |facts| match pattern {
        Some(pattern) => fixed_beginning(facts, pattern),
        None if has_others => None,
        None => Some(
            "run it again: what nobody has read before comes from the disk and is checked".into(),
        ),
    });
}

/// Whether a pattern has no fixed beginning, so that terms with any are looked at.
fn begins_with_anything(query: &Query) -> bool {
    match query {
        Query::Wildcard { pattern, .. } => pattern.starts_with(['*', '?']),
        Query::Regex { .. } | Query::Fuzzy { .. } => true,
        _ => false,
    }
}

/// Advises on what spares most terms.
fn fixed_beginning(facts: &dyn Facts, pattern: Query) -> Option<String> {
    match pattern {
        Query::Fuzzy { .. } => narrower_fuzzy(facts, pattern),
        Query::Regex { .. } => Some(
            "an expression that begins with some characters spares all terms that begin otherwise".to_owned(),
        ),
        _ => Some(
            "characters before the first * or ? spare all terms that begin otherwise; parts of words are terms in a field whose analyzer makes ngrams".to_owned(),
        ),
    }
}

/// A pattern that stands for many terms.
fn wide<'t>(look: &mut Look<'t>, node: &'t ExplainNode) {
    let ns = own_ns(node);
    let terms = match &node.actual {
        Some(actual) => actual.terms.map_or(0, |terms| terms.expanded),
        // What is counted by a dictionary is not expanded.
        None if node.estimate.is_exact() => 0,
        None => node.terms.unwrap_or(0),
    };
    if terms < TERMS_WIDE || !look.matters(ns) {
        return;
    }
    let what = format!("expanding {} to {}", node.label, Count(terms, "term"));
    let message = match node.actual {
        Some(_) => look.went_into(ns, &what),
        None => format!("{} stands for {} or more", node.label, Count(terms, "term")),
    };
    let finding = Finding::new("wide expansion", look.severity(ns), message).of_node(node);
    look.add_asking(ns, finding, move |facts| match &asked(node) {
        Some(Query::Prefix { text, .. }) => Some(longer_prefix(facts, node, text)),
        Some(Query::Fuzzy { .. }) => narrower_fuzzy(facts, asked(node)?),
        _ => None,
    });
}

/// Says what a prefix of some more characters would leave, at the most.
fn longer_prefix(facts: &dyn Facts, node: &ExplainNode, text: &str) -> String {
    let n_chars = text.chars().count();
    let field = node.field.as_deref().unwrap_or_default();
    let mut widest = None;
    for more in 1..=MORE_CHARS_MAX {
        let Some(found) = facts.widest_prefix(field, text, more) else { break };
        let is_few = found.1 < TERMS_WIDE;
        widest = Some((n_chars + more, found));
        if is_few {
            break;
        }
    }
    match widest {
        None => format!("a minimum prefix of more than {}", Count(n_chars as u64, "character")),
        Some((n_chars, (widest, n_terms))) => {
            let terms = Count(n_terms, "term");
            format!("a minimum prefix of {n_chars} would leave at most {terms}, of {widest}*")
        }
    }
}

/// A pattern without a fixed beginning, for which most terms of the field are looked at. Whether it is one.
fn looks_at_all<'t>(look: &mut Look<'t>, node: &'t ExplainNode) -> bool {
    let Some(terms) = node.actual.as_ref().and_then(|actual| actual.terms) else { return false };
    // Where most of them are meant, they are what takes the time.
    if terms.visited < VISITED_MANY || terms.expanded > terms.visited / 2 {
        return false;
    }
    let Some(pattern) = asked(node).filter(begins_with_anything) else { return false };
    let field = node.field.as_deref().unwrap_or_default();
    let (visited, expanded) = (Count(terms.visited, "term"), Grouped(terms.expanded));
    let message = format!("{visited} of {field} were looked at for {expanded} of {}", node.label);
    let finding = Finding::new("wide search for terms", Severity::Hint, message).of_node(node);
    look.add_asking(own_ns(node), finding, move |facts| fixed_beginning(facts, pattern));
    true
}

/// A fuzzy word with a first character that is as written, if that spares anything.
fn narrower_fuzzy(facts: &dyn Facts, mut narrower: Query) -> Option<String> {
    let Query::Fuzzy { fuzziness, .. } = &mut narrower else { return None };
    fuzziness.prefix_len = fuzziness.prefix_len.saturating_add(1);
    Some(match facts.walked(&narrower) {
        None => format!("a fixed beginning, as {narrower}, spares all terms that begin otherwise"),
        Some(TermCounts { visited, expanded, .. }) => {
            let (visited, expanded) = (Count(visited, "term"), Grouped(expanded));
            format!("a fixed beginning, as {narrower}, looks at {visited} for {expanded}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Terms of the widest beginning that is one, two, three characters longer.
    struct Widest([u64; 3]);

    impl Facts for Widest {
        fn widest_prefix(&self, _: &str, _: &str, more: usize) -> Option<(String, u64)> {
            let terms = *self.0.get(more - 1)?;
            Some(("a".repeat(1 + more), terms))
        }
    }

    #[test]
    fn a_prefix_grows_until_it_leaves_few_terms_and_by_three_characters_at_the_most() {
        let node = ExplainNode::new("Expand", "title:a*");
        let remedy = |terms| longer_prefix(&Widest(terms), &node, "a");
        let leaves = |n: usize, terms: &str, of: &str| {
            format!("a minimum prefix of {n} would leave at most {terms}, of {of}*")
        };
        assert_eq!(remedy([4_095, 10, 1]), leaves(2, "4,095 terms", "aa"));
        assert_eq!(remedy([4_096, 10, 1]), leaves(3, "10 terms", "aaa"));
        assert_eq!(remedy([9_000, 8_000, 7_000]), leaves(4, "7,000 terms", "aaaa"));
    }
}
