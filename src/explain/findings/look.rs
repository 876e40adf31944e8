//! A tree that rules look at: their questions to it, and their findings.

use super::{Facts, Finding, Severity};
use crate::explain::ExplainOperator::{AtLeast, Difference, Intersect, Nothing, Union};
use crate::explain::tree::{Branch, with_parents};
use crate::explain::{ExplainNode, ExplainOperator, ExplainTree};
use crate::query::{ParseOptions, Query, parse};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Share of the time, in percent, below which a part is not worth a sentence: without it a search is about as slow.
const SHARE_MIN: u64 = 10;
/// From so much of the time on, in percent, it is what the search consists of.
const SHARE_OF_MOST: u64 = 50;
/// Findings of one rule in one tree, the weightiest: more of the same say nothing new.
const OF_ONE_RULE_MAX: usize = 3;

/// Remedy that an index knows, and whether it needs one that is built anew.
pub(super) type Advice = (String, bool);
/// Remedy of a finding, where that is a question to an index; asked once it is clear that the finding is told.
type Remedy<'t> = Box<dyn FnOnce(&dyn Facts) -> Option<Advice> + 't>;

pub(super) struct Look<'t> {
    pub(super) tree: &'t ExplainTree,
    facts: &'t dyn Facts,
    /// Documents of all segments, deleted ones included, as estimates count them.
    pub(super) documents: u64,
    /// All nodes, parents first, each with the place of its parent.
    pub(super) nodes: Vec<(&'t ExplainNode, Option<usize>)>,
    /// Own times of nodes and facets together, and of planning.
    time_ns: u64,
    /// By the place of a node, the words that are looked for right below it and that documents have.
    known_words: HashMap<usize, HashSet<String>>,
    /// Each with its share of the time.
    found: Vec<(u64, Finding, Option<Remedy<'t>>)>,
}

impl<'t> Look<'t> {
    pub(super) fn new(tree: &'t ExplainTree, facts: &'t dyn Facts) -> Self {
        let nodes = with_parents(&tree.plan).collect();
        let (time_ns, documents) = (tree.all_ns(), tree.of_segments(|segment| segment.documents));
        Look { tree, facts, documents, nodes, time_ns, known_words: HashMap::new(), found: vec![] }
    }

    /// Returns the share of the time that something took, in percent; `None` where no times are known.
    pub(super) fn share(&self, ns: u64) -> Option<u64> {
        (self.time_ns > 0).then(|| percent(ns, self.time_ns))
    }

    pub(super) fn matters(&self, ns: u64) -> bool {
        self.share(ns).is_none_or(|share| share >= SHARE_MIN)
    }

    pub(super) fn is_most(&self, ns: u64) -> bool {
        self.share(ns).is_none_or(|share| share >= SHARE_OF_MOST)
    }

    /// A hint, or a warning where most of the time is known to be spent so.
    pub(super) fn severity(&self, ns: u64) -> Severity {
        if self.share(ns) >= Some(SHARE_OF_MOST) { Severity::Warning } else { Severity::Hint }
    }

    /// `80 % of the time went into expanding`, or `expanding` where no times are known.
    pub(super) fn went_into(&self, ns: u64, what: &str) -> String {
        match self.share(ns) {
            Some(share) => format!("{share} % of the time went into {what}"),
            None => what.to_owned(),
        }
    }

    /// Own times of a node and of all that is below it.
    pub(super) fn ns_below(node: &ExplainNode) -> u64 {
        sum(node.iter().map(own_ns))
    }

    /// Whether a node is an input that excludes documents.
    pub(super) fn is_excluded(&self, at: usize) -> bool {
        let (node, parent) = self.nodes[at];
        let above = parent.map(|parent| &self.nodes[parent].0.operator);
        node.label.starts_with("NOT ") && matches!(above, Some(Intersect | Difference | Nothing))
    }

    /// Adds what a rule has found, with the time that it is about.
    pub(super) fn add(&mut self, ns: u64, finding: Finding) {
        self.found.push((self.share(ns).unwrap_or(0), finding, None));
    }

    /// Adds what a rule has found, with a remedy that an index is asked for.
    pub(super) fn add_asking(
        &mut self,
        ns: u64,
        finding: Finding,
        remedy: impl FnOnce(&dyn Facts) -> Option<Advice> + 't,
    ) {
        self.found.push((self.share(ns).unwrap_or(0), finding, Some(Box::new(remedy))));
    }

    /// Whether a word that no document has stands beside the same of another field that documents have: a word that is looked for
    /// in several fields need not be in all of them.
    pub(super) fn is_known_in_another_field(&mut self, at: usize) -> bool {
        let (node, parent) = self.nodes[at];
        let (Some(parent), Some(word)) = (parent, text_of(node)) else { return false };
        let above = self.nodes[parent].0;
        let known = self.known_words.entry(parent).or_insert_with(|| {
            let below = above.children.iter();
            below.filter(|it| is_leaf(it) && it.estimate.upper > 0).filter_map(text_of).collect()
        });
        matches!(above.operator, Union | AtLeast) && known.contains(&word)
    }

    /// All that was found, the weightiest first: by severity, then by time, then in the order of the rules.
    pub(super) fn finish(mut self) -> Vec<Finding> {
        self.found.sort_by_key(|(share, finding, _)| Reverse((finding.severity, *share)));
        let mut findings: Vec<Finding> = vec![];
        for (_, mut finding, remedy) in self.found {
            let of_rule = findings.iter().filter(|other| other.rule == finding.rule);
            if of_rule.count() >= OF_ONE_RULE_MAX {
                continue;
            }
            if let Some(remedy) = remedy {
                let (text, rebuild) = remedy(self.facts).unzip();
                (finding.remedy, finding.rebuild) = (text, rebuild == Some(true));
            }
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
        findings
    }
}

impl Finding {
    /// About a whole search.
    pub(super) fn new(rule: &str, severity: Severity, message: impl Into<String>) -> Self {
        let (rule, message) = (rule.to_owned(), message.into());
        Finding { rule, severity, message, ..Finding::default() }
    }

    pub(super) fn of_node(self, node: &ExplainNode) -> Self {
        Finding { node: Some(node.id.clone()), ..self }
    }

    pub(super) fn remedy(self, remedy: impl Into<String>) -> Self {
        Finding { remedy: Some(remedy.into()), ..self }
    }
}

/// Trees of any origin may say anything.
pub(super) fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

/// Returns `part` as a share of `whole`, in percent.
pub(super) fn percent(part: u64, whole: u64) -> u64 {
    let percent = (100 * u128::from(part)).checked_div(whole.into()).unwrap_or_default();
    u64::try_from(percent).unwrap_or(u64::MAX)
}

fn text_of(node: &ExplainNode) -> Option<String> {
    match &asked(node)? {
        Query::Word { text, .. }
        | Query::Phrase { text, .. }
        | Query::Prefix { text, .. }
        | Query::Fuzzy { text, .. } => Some(text.clone()),
        Query::Wildcard { pattern, .. } | Query::Regex { pattern, .. } => Some(pattern.clone()),
        _ => None,
    }
}

pub(super) fn own_ns<N: Branch>(node: &N) -> u64 {
    node.time_ns().unwrap_or(0)
}

/// Name of a node in a sentence: its label, without the words that say which part of the plan it is of.
pub(super) fn name_of(node: &ExplainNode) -> &str {
    node.label.strip_prefix("for scores: ").unwrap_or(&node.label)
}

/// Returns the query that a node answers; `None` where it is not known or too long to be told.
pub(super) fn asked(node: &ExplainNode) -> Option<Query> {
    parse(node.predicate.as_deref()?, &ParseOptions::default()).ok()
}

/// Whether a node reads documents and has no inputs.
pub(super) fn is_leaf(node: &ExplainNode) -> bool {
    ExplainOperator::LEAVES.contains(&node.operator)
}
