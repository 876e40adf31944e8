//! Findings about patterns that have too many terms, or look at too many. Patterns are prefixes, wildcards, regular
//! expressions and fuzzy words.

use super::look::{Advice, Look, asked, name_of, own_ns};
use super::{Facts, Finding, Severity};
use crate::explain::{Decision, ExplainNode, ExplainOperator, TermCounts};
use crate::plural::{grouped, number_of};
use crate::query::{PATTERN_TERMS_MAX, ParseOptions, Query, parse};

/// The lists of fewer terms are united within some hundred microseconds.
const TERMS_WIDE: u64 = 4_096;
/// Fewer terms are looked at within some hundred microseconds, at 10 to 40 ns each.
const VISITED_MANY: u64 = 10_000;
/// For less than that nobody waits, and a busy machine takes as much.
const PLANNING_LONG_NS: u64 = 10_000_000;
/// Characters that a prefix is made longer by, to find how many leave few terms.
const MORE_CHARS_MAX: usize = 3;
/// Remedies of words, of patterns without a fixed beginning, and of a range that is answered by its terms.
const AGAIN: &str = "run it again: what nobody has read before comes from the disk and is checked";
const OF_EXPRESSION: &str =
    "an expression that begins with some characters spares all terms that begin otherwise";
const OF_WILDCARD: &str = "characters before the first * or ? spare all terms that begin otherwise; or an analyzer that makes ngrams, as ngram:3,3|lower, so that parts of words are terms";
const COLUMN: &str = "a column (column = true in the schema), whose values are compared";
/// The decision of scoring patterns, and how it says that terms were left out.
const SCORED_BY_BEST: (&str, &str) = ("score patterns by their best terms", "add nothing");

pub(super) fn look_at(look: &mut Look<'_>) {
    planning(look);
    for at in 0..look.nodes.len() {
        let node = look.nodes[at].0;
        if node.operator == ExplainOperator::Expand && !looks_at_all(look, node) {
            wide(look, node);
        }
        let (rule, end) = SCORED_BY_BEST;
        let is_of_some = |it: &&Decision| it.rule == rule && it.reason.ends_with(end);
        for decision in node.decisions.iter().filter(is_of_some) {
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
    let mut todo = Vec::from_iter(parse(&look.tree.query, &ParseOptions::default()));
    let (mut pattern, mut has_others) = (None, false);
    while let (None, Some(query)) = (&pattern, todo.pop()) {
        has_others |= matches!(
            query,
            Query::Prefix { .. }
                | Query::Wildcard { .. }
                | Query::PhraseOf { .. }
                | Query::Range { .. }
                | Query::InSet { .. }
        );
        todo.extend(query.children().rev().cloned());
        pattern = Some(query).filter(begins_with_anything);
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
        None => (!has_others).then(|| (AGAIN.to_owned(), false)),
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

fn fixed_beginning(facts: &dyn Facts, pattern: Query) -> Option<Advice> {
    match pattern {
        Query::Fuzzy { .. } => Some((narrower_fuzzy(facts, pattern)?, false)),
        Query::Regex { .. } => Some((OF_EXPRESSION.to_owned(), false)),
        _ => Some((OF_WILDCARD.to_owned(), true)),
    }
}

fn wide<'t>(look: &mut Look<'t>, node: &'t ExplainNode) {
    let ns = own_ns(node);
    let terms = match &node.actual {
        Some(actual) => actual.terms.map_or(0, |terms| terms.expanded),
        // A pattern that is counted by a dictionary is not expanded.
        None if node.estimate.is_exact() => 0,
        None => node.terms.unwrap_or(0),
    };
    if terms < TERMS_WIDE || !look.matters(ns) {
        return;
    }
    let what = format!("expanding {} to {}", name_of(node), number_of(terms, "term"));
    let message = match node.actual {
        Some(_) => look.went_into(ns, &what),
        None => format!("{} stands for {} or more", name_of(node), number_of(terms, "term")),
    };
    let finding = Finding::new("wide expansion", look.severity(ns), message).of_node(node);
    look.add_asking(ns, finding, move |facts| {
        let (pattern, field) = (asked(node)?, node.field.as_deref().unwrap_or_default());
        match &pattern {
            Query::Prefix { text, .. } => Some((longer_prefix(facts, field, text, terms)?, false)),
            Query::Range { .. } if facts.has_column(field) == Some(false) => {
                Some((COLUMN.into(), true))
            }
            _ => Some((narrower_fuzzy(facts, pattern)?, false)),
        }
    });
}

/// Whether it pays to look at so many instead of `now`: a third is spared or more.
fn pays(then: u64, now: u64) -> bool {
    then.saturating_mul(3) <= now.saturating_mul(2)
}

/// Says what a prefix of some more characters has at the most, if that is clearly less than what this one has.
fn longer_prefix(facts: &dyn Facts, field: &str, text: &str, now: u64) -> Option<String> {
    let mut widest: Option<(String, u64)> = None;
    let mut longer = (1..=MORE_CHARS_MAX).map(|more| facts.widest_prefix(field, text, more));
    while widest.as_ref().is_none_or(|(_, n_terms)| *n_terms >= TERMS_WIDE)
        && let Some(Some(found)) = longer.next()
    {
        widest = Some(found);
    }
    let Some((widest, n_terms)) = widest else {
        return Some("a longer beginning has fewer terms and finds fewer documents".into());
    };
    let terms = number_of(n_terms, "term");
    pays(n_terms, now).then(|| {
        format!("a longer beginning, as {widest}*, has at most {terms} and finds fewer documents")
    })
}

/// A pattern without a fixed beginning, for which most terms of the field are looked at. Whether it is one.
fn looks_at_all<'t>(look: &mut Look<'t>, node: &'t ExplainNode) -> bool {
    let Some(terms) = searched(node) else { return false };
    let Some(pattern) = asked(node).filter(begins_with_anything) else { return false };
    let (field, name) = (node.field.as_deref().unwrap_or_default(), name_of(node));
    let (visited, expanded) = (number_of(terms.visited, "term"), grouped(terms.expanded));
    let message = format!("{visited} of {field} were looked at for {expanded} of {name}");
    let severity = look.severity(walking_ns(node));
    let finding = Finding::new("wide search for terms", severity, message).of_node(node);
    look.add_asking(own_ns(node), finding, move |facts| fixed_beginning(facts, pattern));
    true
}

/// Own time of a pattern that walks the dictionary when it runs. Next to that, uniting what it finds takes no time.
pub(super) fn walking_ns(node: &ExplainNode) -> u64 {
    let walked = searched(node).zip(node.terms).filter(|(terms, known)| *known < terms.expanded);
    walked.map_or(0, |_| own_ns(node))
}

/// Terms that a node looked at, if they are many. If most of them are meant, these are what takes the time.
fn searched(node: &ExplainNode) -> Option<TermCounts> {
    let terms = node.actual.as_ref()?.terms?;
    (terms.visited >= VISITED_MANY && terms.expanded <= terms.visited / 2).then_some(terms)
}

/// A fuzzy word with a first character that is as written, if that spares anything worth it.
fn narrower_fuzzy(facts: &dyn Facts, pattern: Query) -> Option<String> {
    let mut narrower = pattern.clone();
    let Query::Fuzzy { fuzziness, .. } = &mut narrower else { return None };
    fuzziness.prefix_len = fuzziness.prefix_len.saturating_add(1);
    let Some(TermCounts { visited, expanded, .. }) = facts.walked(&narrower) else {
        let spares = "spares all terms that begin otherwise";
        return Some(format!("a fixed beginning, as {narrower}, {spares}"));
    };
    let now = facts.walked(&pattern)?;
    let (terms, found) = (number_of(visited, "term"), grouped(expanded));
    pays(visited, now.visited)
        .then(|| format!("a fixed beginning, as {narrower}, looks at {terms} for {found}"))
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
    fn a_prefix_grows_until_it_has_few_terms_and_by_three_characters_at_the_most() {
        let remedy = |terms| longer_prefix(&Widest(terms), "title", "a", 10_500);
        let has = |terms: &str, of: &str| {
            Some(format!(
                "a longer beginning, as {of}*, has at most {terms} and finds fewer documents"
            ))
        };
        assert_eq!(remedy([4_095, 10, 1]), has("4,095 terms", "aa"));
        assert_eq!(remedy([4_096, 10, 1]), has("10 terms", "aaa"));
        assert_eq!(remedy([9_000, 8_000, 7_000]), has("7,000 terms", "aaaa"));
        assert_eq!(remedy([9_000, 8_000, 7_001]), None, "it spares less than a third");
    }

    /// Terms that a fuzzy word looks at, by the characters that are as written.
    struct Walked([u64; 3]);

    impl Facts for Walked {
        fn walked(&self, pattern: &Query) -> Option<TermCounts> {
            let Query::Fuzzy { fuzziness, .. } = pattern else { return None };
            let visited = *self.0.get(fuzziness.prefix_len as usize)?;
            Some(TermCounts { visited, expanded: 1, ..TermCounts::default() })
        }
    }

    #[test]
    fn a_fixed_beginning_is_told_where_it_spares_a_third() {
        let remedy = |visited, text: &str| {
            narrower_fuzzy(&Walked(visited), parse(text, &ParseOptions::default()).unwrap())
        };
        let told = "a fixed beginning, as lamp~2/1, looks at 2,000 terms for 1";
        assert_eq!(remedy([3_000, 2_000, 1], "lamp~2").as_deref(), Some(told));
        assert_eq!(remedy([3_000, 2_001, 1], "lamp~2"), None);
        assert_eq!(remedy([9_000, 3_000, 3_000], "lamp~2/1"), None);
    }
}
