//! How the best by score are found, and the node of a plan that says so.

use super::answer::{Found, LookedAt};
use super::search::SearchBuilder;
use super::{Statistics, TotalMode};
use crate::explain::{
    Actual, CandidateCounts, Decision, Estimate, ExplainNode, ExplainTree, PositionCounts,
    RankingCounts, Threshold,
};
use crate::plan::cost;
use crate::ranking::prepared::{Ranked, Shape};
use crate::ranking::pruned::{PhrasePruning, Pruning};

/// How the best documents are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By the best that blocks of documents can score.
    Bounds,
    /// By the same for a phrase, before its words are placed.
    Phrase,
    /// By placing the words of a phrase wherever all are, to count its documents.
    PhraseCounted,
    /// By scoring everything that matches.
    Everything,
}

impl SearchBuilder<'_> {
    /// How the best of a query are found, whose scores differ.
    pub(super) fn way(&self, ranked: &Ranked<'_>) -> Way {
        if let Some(way) = self.forced_way(ranked) {
            return way;
        }
        match ranked.shape() {
            _ if !ranked.functions().is_empty() => Way::Everything,
            // Lists that are open already are what bounds take most time for.
            Shape::Tree if self.stays_open && self.request.facets.is_empty() => Way::Bounds,
            Shape::Tree if !self.bounds_pay(ranked) => Way::Everything,
            Shape::AnyOf | Shape::AllOf | Shape::Tree => Way::Bounds,
            Shape::Constant => Way::Everything,
            Shape::Phrase if !self.request.facets.is_empty() => Way::Everything,
            Shape::Phrase
                if self.request.total == TotalMode::Unknown && ranked.is_exact_phrase() =>
            {
                Way::Phrase
            }
            Shape::Phrase => Way::PhraseCounted,
        }
    }

    /// Whether so many match that bounds leave out enough of a query that is neither one phrase nor a plain list of words.
    fn bounds_pay(&self, ranked: &Ranked<'_>) -> bool {
        if matches!(self.request.total, TotalMode::UpTo(_)) && self.request.facets.is_empty() {
            // Counting ends where scoring would go on.
            return true;
        }
        let is_found = self.request.total != TotalMode::Unknown || !self.request.facets.is_empty();
        let best = self.request.offset.saturating_add(self.request.limit) as f64;
        cost::bounds_pay(ranked.expected_matches(), best, is_found, ranked.matches_by_phrases())
    }

    /// Whether everything that matches has to be found beside the best.
    pub(super) fn needs_matches(&self, way: Way) -> bool {
        match way {
            Way::Bounds => !self.request.facets.is_empty(),
            Way::Phrase | Way::PhraseCounted => false,
            Way::Everything => true,
        }
    }

    /// Puts what finds the best on top of a plan, which counts the matches, and what happened.
    pub(super) fn put_top(&self, tree: &mut ExplainTree, ranked: &Ranked<'_>, run: Option<&Found>) {
        let mut root = std::mem::take(&mut tree.plan);
        if root.operator == "Limit" {
            // That of a plan which is asked for everything, and for no page.
            root = root.children.pop().unwrap_or_default();
        }
        let (offset, limit) = (self.request.offset, self.request.limit);
        let label = match offset {
            0 => format!("best {limit} by score"),
            _ => format!("{limit} after the first {offset} by score"),
        };
        let page = |documents: u64| documents.saturating_sub(offset).min(limit);
        let e = &root.estimate;
        // Behind a hit of an earlier page there may be any number of others.
        let lower = if self.request.after.is_some() { 0 } else { page(e.lower) };
        let mut node = ExplainNode::new("TopK", label);
        node.estimate = Estimate::between(page(e.documents), lower, page(e.upper), "limit");
        let way = self.way(ranked);
        node.algorithm = match way {
            Way::Bounds | Way::Phrase => {
                format!("BM25, by bounds of {}", ranked.what_has_bounds())
            }
            Way::PhraseCounted => "BM25, wherever the words stand so".into(),
            Way::Everything => {
                let functions = ranked.functions().iter().map(|it| format!(", {it}"));
                format!("BM25 of every match{}", functions.collect::<String>())
            }
        };
        node.decisions = self.decision(ranked, way, &root).into_iter().collect();
        let own = match self.request.statistics {
            Statistics::Snapshot => None,
            Statistics::Segment => Some((
                "statistics of each segment",
                "each segment is ranked by how rare words are and how long texts are there",
            )),
            Statistics::Collection(_) => Some((
                "statistics of a collection",
                "words are as rare, and texts as long, as in the collection that this is a part of",
            )),
        };
        node.decisions.extend(own.map(|(rule, reason)| {
            Decision::accepted(rule, reason).instead_of("statistics of the snapshot", None)
        }));
        node.decisions.extend(ranked.patterns().map(|pattern| {
            Decision::accepted("score patterns by their best terms", pattern.to_string())
                .instead_of("the same score for every match", None)
        }));
        if let Some(found) = run {
            node.actual = Some(Actual {
                documents: found.n_hits,
                documents_in: root.actual.as_ref().map(|actual| actual.documents),
                time_ns: u64::try_from(found.took.as_nanos()).unwrap_or(u64::MAX),
                positions: found.looked_at.positions(),
                complete: found.stopped.is_none(),
                stopped: found.stopped.is_some(),
                ranking: found.looked_at.ranking(found),
                ..Actual::default()
            });
        }
        node.children = vec![root];
        node.number();
        tree.plan = node;
    }

    /// Why it is this way, and what the other would cost; `matching` finds what matches.
    fn decision(&self, ranked: &Ranked<'_>, way: Way, matching: &ExplainNode) -> Option<Decision> {
        if matching.estimate.upper == 0 {
            // Nothing is looked at whichever way.
            return None;
        }
        let n_docs = u32::try_from(self.searcher.n_docs()).unwrap_or(u32::MAX);
        let costs = self.searcher.costs();
        let matches = matching.estimate.documents as f64;
        let (n_lists, postings) = ranked.lists();
        let best = self.request.offset.saturating_add(self.request.limit) as f64;
        let of_phrase = || {
            // Those that have the words, if nothing else is below the phrase.
            let with_words = matching.children.iter().map(|input| input.estimate.documents);
            let candidates = with_words.min().unwrap_or(matching.estimate.upper) as f64;
            cost::BestCosts::of_phrase(costs, candidates, matches, n_lists, best)
        };
        let ns = |cost: f32| cost.round() as u64;
        match way {
            Way::Bounds => {
                let costs = match ranked.shape() {
                    Shape::Tree => cost::BestCosts::of_tree(costs, matches, n_lists, n_docs, best),
                    _ => cost::BestCosts::of_terms(costs, matches, postings, n_lists, n_docs, best),
                };
                let reason = "a block whose best possible score is too low is left out";
                let decision = Decision::accepted("top-k by bounds", reason);
                Some(
                    decision
                        .costing(ns(costs.by_bounds))
                        .instead_of("score every match", Some(ns(costs.of_everything))),
                )
            }
            Way::Phrase => {
                let reason = "words are placed only where block, frequencies and length allow a score that is good enough";
                let decision = Decision::accepted("top-k by bounds", reason);
                let costs = of_phrase();
                Some(decision.costing(ns(costs.by_bounds)).instead_of(
                    "place the words in every candidate",
                    Some(ns(costs.of_everything)),
                ))
            }
            Way::PhraseCounted => {
                let reason = match ranked.is_exact_phrase() {
                    true => "the words are placed in every candidate anyway, to count the matches",
                    false => "words that may stand otherwise than written have no bounds",
                };
                let costs = of_phrase();
                let decision = Decision::rejected("top-k by bounds", reason);
                let decision = decision.costing(ns(costs.of_everything));
                Some(decision.instead_of("stop counting, --total none", Some(ns(costs.by_bounds))))
            }
            Way::Everything if !ranked.functions().is_empty() => {
                let reason = "what a function makes of a score has no bound in a block";
                let decision = Decision::rejected("top-k by bounds", reason);
                Some(decision.instead_of("no function of the score", None))
            }
            Way::Everything if ranked.shape() == Shape::Phrase => {
                let costs = of_phrase();
                let reason = "facets count every match anyway";
                let decision = Decision::rejected("top-k by bounds", reason);
                let decision = decision.costing(ns(costs.of_everything));
                Some(decision.instead_of("no facets", Some(ns(costs.by_bounds))))
            }
            Way::Everything if ranked.shape() == Shape::Tree => {
                let reason =
                    "so few are expected to match that bounds would leave out little of them";
                let decision = Decision::accepted("score every match", reason);
                Some(decision.instead_of("top-k by bounds", None))
            }
            Way::Everything => None,
        }
    }
}

impl LookedAt {
    /// Where words of a phrase were placed.
    fn positions(self) -> Option<PositionCounts> {
        match self {
            LookedAt::Phrase(PhrasePruning { placed: candidates, positions, .. }) => {
                Some(PositionCounts { candidates, positions })
            }
            LookedAt::Nothing | LookedAt::All(_) | LookedAt::Blocks(_) | LookedAt::Columns(_) => {
                None
            }
        }
    }

    fn ranking(self, found: &Found) -> Option<RankingCounts> {
        let trace = found.trace.as_ref();
        let rises = trace.map_or(&[][..], |trace| &trace.rises).iter();
        let thresholds = rises
            .map(|(documents, score)| Threshold { documents: *documents, score: *score })
            .collect();
        let scored = trace.map_or(0, |trace| trace.offered);
        let counts = RankingCounts { documents_scored: scored, thresholds, ..Default::default() };
        Some(match self {
            LookedAt::Nothing | LookedAt::Columns(_) => return None,
            LookedAt::All(documents_scored) => RankingCounts { documents_scored, ..counts },
            LookedAt::Blocks(pruning) => {
                let Pruning { windows_considered, blocks_considered, blocks_scored, .. } = pruning;
                RankingCounts {
                    documents_scored: pruning.documents_scored,
                    postings: Some(pruning.postings),
                    blocks: blocks_considered,
                    blocks_skipped: blocks_considered.saturating_sub(blocks_scored),
                    windows: windows_considered,
                    windows_skipped: pruning.windows_skipped,
                    searched_twice: pruning.searched_twice,
                    ..counts
                }
            }
            LookedAt::Phrase(pruning) => RankingCounts {
                windows: pruning.windows,
                windows_skipped: pruning.windows_skipped,
                candidates: Some(CandidateCounts {
                    looked_up: pruning.looked_up,
                    found: pruning.candidates,
                    skipped_by_blocks: pruning.skipped_by_codes,
                    skipped_by_frequencies: pruning.skipped_by_frequencies,
                }),
                ..counts
            },
        })
    }
}
