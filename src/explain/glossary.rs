//! Meanings of the words that plans use, from the glossary of the [guide](crate::guide::explain).
//!
//! The tables of the guide are the only source: text with [`TextOptions::explain_words`](super::TextOptions::explain_words)
//! and the pages for browsers read them.

use super::{Decision, ExplainTree, TextOptions};
use crate::named::named;

/// Page of the guide that ends in the glossary.
const PAGE: &str = include_str!("../docs/guide/explain.md");
const HEADING: &str = "\n# Glossary\n";
/// Characters of a name at the least that more may follow behind.
const PREFIX_LEN_MIN: usize = 6;

/// Meaning of a word that plans use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GlossaryEntry {
    /// Part of a plan that has the word.
    pub kind: WordKind,
    /// The word as plans have it; numbers in it stand for any.
    pub word: &'static str,
    /// Meaning in some words, without a full stop.
    pub meaning: String,
}

/// Part of a plan that a word of the glossary is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WordKind {
    /// Operator of a node.
    Operator,
    /// Algorithm of a node or a facet.
    Algorithm,
    /// Rule of a decision.
    Rule,
    /// Source of an estimate.
    Source,
    /// A word in any part.
    Word,
}

named! {
    /// Name of the kind, as the table of the guide is headed.
    pub WordKind {
        Operator: "operator", Algorithm: "algorithm", Rule: "rule", Source: "source", Word: "word"
    }
}

/// All words that plans use, in the order of the guide.
///
/// ```
/// use treepie::explain::{WordKind, glossary};
///
/// let entry = glossary().into_iter().find(|entry| entry.word == "TermScan").unwrap();
/// assert_eq!((entry.kind, &*entry.meaning), (WordKind::Operator, "documents with one term"));
/// ```
pub fn glossary() -> Vec<GlossaryEntry> {
    let (_, text) = PAGE.split_once(HEADING).unwrap_or_default();
    let mut kind = None;
    let mut entries = vec![];
    let rows = text.lines().filter(|line| line.starts_with("| "));
    for (words, meaning) in rows.filter_map(|it| it.trim_matches(['|', ' ']).split_once(" | ")) {
        if let Some(head) = WordKind::ALL.into_iter().find(|kind| kind.name() == words) {
            kind = Some(head);
            continue;
        }
        let Some(kind) = kind else { continue };
        let meaning = meaning.replace('`', "'").replace('*', "");
        let entry = |word| GlossaryEntry { kind, word, meaning: meaning.clone() };
        match kind {
            WordKind::Word => entries.extend(words.split(", ").map(entry)),
            _ => entries.extend(words.split('`').skip(1).step_by(2).map(entry)),
        }
    }
    entries
}

impl GlossaryEntry {
    /// Whether a part of a plan of this kind is called so, or begins so.
    fn names(&self, part: &str) -> bool {
        let (word, part) = (without_numbers(self.word), without_numbers(part));
        let begins = || word.len() >= PREFIX_LEN_MIN && part.starts_with(&word);
        part == word || self.kind != WordKind::Operator && begins()
    }

    /// Whether a text has the word, or its plural.
    fn is_in(&self, text: &str) -> bool {
        let is_letter = |c: char| c.is_alphanumeric() || c == '-';
        text.match_indices(self.word).any(|(at, word)| {
            let behind = &text[at + word.len()..];
            let behind = behind.strip_prefix('s').unwrap_or(behind);
            !text[..at].ends_with(is_letter) && !behind.starts_with(is_letter)
        })
    }
}

/// Text with a sign for each number, and with the plural behind it.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '0'..='9' | ',' if out.ends_with('#') => {}
            '0'..='9' if !out.ends_with(char::is_alphabetic) => out.push('#'),
            _ => out.push(char),
        }
    }
    for noun in ["term", "word", "window", "move", "set"] {
        out = out.replace(&format!("# {noun} "), &format!("# {noun}s "));
    }
    out
}

impl ExplainTree {
    /// Words of the [`glossary()`] that the plan uses, in its order.
    pub fn glossary(&self) -> Vec<GlossaryEntry> {
        let text = self.without_query().to_text(&TextOptions::default());
        let mut parts = vec![];
        for node in self.plan.iter() {
            parts.push((WordKind::Operator, node.operator.name()));
            parts.push((WordKind::Algorithm, &*node.algorithm));
            parts.push((WordKind::Source, &*node.estimate.source));
            parts.extend(node.decisions.iter().map(rule));
        }
        for facet in self.all_facets() {
            parts.push((WordKind::Operator, &*facet.operator));
            parts.push((WordKind::Algorithm, &*facet.algorithm));
            parts.extend(facet.decisions.iter().map(rule));
        }
        let is_used = |entry: &GlossaryEntry| match entry.kind {
            WordKind::Word => entry.is_in(&text),
            kind => parts.iter().any(|(of, part)| *of == kind && entry.names(part)),
        };
        let mut used: Vec<GlossaryEntry> = vec![];
        for entry in glossary().into_iter().filter(is_used) {
            // Names of algorithms may be words of their own, too.
            if used.iter().all(|other| other.word != entry.word) {
                used.push(entry);
            }
        }
        used
    }

    /// Plan without what the query says, whose words are no words of plans.
    fn without_query(&self) -> ExplainTree {
        let mut tree = self.clone();
        for text in [&mut tree.query, &mut tree.parsed, &mut tree.rewritten] {
            text.clear();
        }
        // Runs of the query are no runs of documents.
        tree.repeated = None;
        let mut nodes = vec![&mut tree.plan];
        while let Some(node) = nodes.pop() {
            node.label.clear();
            node.times = None;
            nodes.extend(&mut node.children);
        }
        tree.documents.clear();
        tree
    }
}

fn rule(decision: &Decision) -> (WordKind, &str) {
    (WordKind::Rule, &*decision.rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::sample;

    #[test]
    fn all_tables_of_the_guide_are_read() {
        let all = glossary();
        for (kind, at_least) in WordKind::ALL.into_iter().zip([18, 40, 25, 12, 50]) {
            let n = all.iter().filter(|entry| entry.kind == kind).count();
            assert!(n >= at_least, "{n} of {kind:?}");
        }
        for entry in &all {
            let is_plain =
                !entry.word.contains(['`', '|']) && !entry.meaning.contains(['`', '*', '|']);
            assert!(is_plain && !entry.word.is_empty() && entry.meaning.len() > 3, "{entry:?}");
        }
        let [rows, all] = [PAGE.lines().filter(|line| line.starts_with("| ")).count(), all.len()];
        assert!(all > rows, "rows may have several words: {all} of {rows}");
    }

    #[test]
    fn numbers_stand_for_any() {
        let entry = |word: &str| glossary().into_iter().find(|entry| entry.word == word).unwrap();
        let lists = entry("lists of 68 terms united in a bitmap");
        assert!(lists.names("lists of 1 term united in a bitmap"));
        assert!(lists.names("lists of 1,234 terms united in a bitmap"));
        assert!(!lists.names("lists of many terms"));
        assert!(entry("BM25 of every match").names("BM25 of every match, times log1p(n)"));
        assert!(entry("counted in 5 of 32 windows").names("counted in 1 of 2 windows"));
        assert!(!entry("Limit").names("Limited"));
        assert!(entry("container").is_in("roaring containers"));
        assert!(!entry("set").is_in("settings of a subset"));
        assert!(entry("set").is_in("a set,") && entry("set").is_in("two sets"));
    }

    #[test]
    fn a_plan_has_its_own_words_and_not_those_of_its_query() {
        let mut tree = sample::analyzed();
        let words = |tree: &ExplainTree| -> Vec<&str> {
            tree.glossary().into_iter().map(|entry| entry.word).collect()
        };
        let before = words(&tree);
        for word in ["Intersect", "document frequency", "container", "skipped"] {
            assert!(before.contains(&word), "{word}: {before:?}");
        }
        assert!(!before.contains(&"threshold") && !before.contains(&"Phrase"), "{before:?}");
        let mut each = before.clone();
        each.sort_unstable();
        each.dedup();
        assert_eq!(each.len(), before.len(), "each word once: {before:?}");
        tree.query = "threshold".into();
        tree.plan.label = "title:threshold".into();
        assert_eq!(words(&tree), before);
    }
}
