//! Pages in the order of fields, and the node of a plan that says so.

use super::answer::{Found, LookedAt};
use super::search::SearchBuilder;
use crate::error::Result;
use crate::execution::{Execution, Matches};
use crate::explain::{
    Actual, ColumnCounts, Decision, Estimate, ExplainNode, ExplainTree, StreamCounts,
};
use crate::ids::DocId;
use crate::plan::forced::Forced;
use crate::plural::counted;
use crate::ranking::prepared::Parts;
use crate::sort::{First, Place, SortKey, SortOrder, SortProfile};
use crate::value::Value;
use std::time::{Duration, Instant};

impl SearchBuilder<'_> {
    /// Whether hits come in the order of fields, and any are wanted.
    pub(super) fn is_sorted(&self) -> bool {
        !self.request.sort.is_empty() && !self.request.count_only && self.request.limit > 0
    }

    /// The order that is asked for; of no field where none is.
    pub(super) fn sort_order(&self) -> Result<SortOrder> {
        SortOrder::new(&self.request.sort, self.searcher.schema())
    }

    /// Gives the documents of the page to `hit` with their values, and finds what else was asked for: of what `planned`
    /// finds, or of what is planned for it.
    pub(super) fn sorted(
        &self,
        planned: Option<&mut Execution<'_>>,
        mut hit: impl FnMut(DocId, Option<f32>, Vec<Value>) -> Result<()>,
    ) -> Result<Found> {
        let order = self.sort_order()?;
        let ranked = match order.needs_scores().then(|| self.scoring(Parts::AsNeeded)).transpose() {
            Ok(ranked) => ranked,
            Err(error) => {
                let mut found = Found::uncounted();
                self.end(Err(error), &mut found)?;
                return Ok(found);
            }
        };
        let after = match &self.request.after_values {
            Some((values, doc)) => Some(Place::new(order.ranks_of(values)?, *doc)),
            None => None,
        };
        let wanted = match self.forced {
            Some(Forced::SortAll) => self.searcher.n_docs(),
            _ => self.request.offset.saturating_add(self.request.limit).min(self.searcher.n_docs()),
        };
        let (mut found, mut first) = (Found::uncounted(), First::new(&order, wanted, after));
        let mut took = Duration::ZERO;
        let look = |execution: &Execution<'_>, matches: &Matches, _: &mut Found| {
            let started = Instant::now();
            first.keep_to(execution.plan());
            if self.forced == Some(Forced::WithoutStreams) {
                first.read_no_lists();
            }
            let done = first.look_at(&execution.plan().segments, matches, ranked.as_ref());
            took = started.elapsed();
            done
        };
        let done = self.with_matches(planned, &mut found, look);
        self.end(done, &mut found)?;
        found.looked_at = LookedAt::Columns(SortProfile { time: took, ..first.profile() });
        let sorted = first.into_sorted();
        let start = usize::try_from(self.request.offset).unwrap_or(usize::MAX);
        let end = usize::try_from(self.request.offset.saturating_add(self.request.limit))
            .unwrap_or(usize::MAX);
        let page = sorted.get(start..end.min(sorted.len())).unwrap_or_default();
        found.n_hits = page.len() as u64;
        page.iter().try_for_each(|place| hit(place.doc, place.score(), order.values(place)))?;
        Ok(found)
    }

    /// The order as it is written.
    pub(super) fn keys(&self) -> String {
        self.request.sort.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    /// What functions make of scores, for people; nothing without any.
    pub(super) fn scores_in_words(&self) -> String {
        match &self.request.score_functions[..] {
            [] => String::new(),
            functions => {
                let functions = functions.iter().map(ToString::to_string);
                format!("; scores are BM25 {}", functions.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Puts what sorts on top of a plan, which finds the matches, and what happened.
    pub(super) fn put_sort(&self, tree: &mut ExplainTree, run: Option<&Found>) -> Result<()> {
        let order = self.sort_order()?;
        let mut root = std::mem::take(&mut tree.plan);
        if root.operator == "Limit" {
            // That of a plan which is asked for everything, and for no page.
            root = root.children.pop().unwrap_or_default();
        }
        let (offset, limit) = (self.request.offset, self.request.limit);
        let keys = SortKey::described(&self.request.sort);
        let label = match offset {
            0 => format!("first {limit} by {keys}"),
            _ => format!("{limit} after the first {offset} by {keys}"),
        };
        let page = |documents: u64| documents.saturating_sub(offset).min(limit);
        let e = &root.estimate;
        // Behind a hit of an earlier page there may be any number of others.
        let lower = if self.request.after_values.is_some() { 0 } else { page(e.lower) };
        let mut node = ExplainNode::new("Sort", label);
        node.estimate = Estimate::between(page(e.documents), lower, page(e.upper), "limit");
        node.field = self.request.sort.first().and_then(SortKey::field).map(str::to_owned);
        node.predicate = Some(self.keys());
        let scores = if order.needs_scores() { self.scores_in_words() } else { String::new() };
        node.algorithm = match order.has_bounds() {
            true => format!("columns, by bounds of blocks{scores}"),
            false => {
                let what = self.request.sort.first().map_or("", SortKey::what);
                format!("{what} of every match{scores}")
            }
        };
        let is_in_order = order.n_in_index_order(self.searcher.schema()) > 0;
        if is_in_order {
            node.algorithm = "what matches, in the order of the index".into();
        }
        let (way, other) = ("keep the first, sort nothing else", "sort every match");
        let reason = match order.has_bounds() {
            _ if is_in_order => {
                "documents of each segment lie in this order: none is read behind the first"
            }
            true => "a block of a column of which no value can be among the first is left out",
            false => {
                "only the first are kept; blocks have no bounds for the first key, so none is left out"
            }
        };
        node.decisions = vec![Decision::accepted(way, reason).instead_of(other, None)];
        if let Some(found) = run {
            let profile = match found.looked_at {
                LookedAt::Columns(profile) => profile,
                _ => Default::default(),
            };
            let streamed = profile.streamed;
            if streamed.segments > 0 {
                node.algorithm = "lists in the order of the field, then columns of these".into();
                let reason = format!(
                    "{} in the first lists {} expected to hold the hits, {} matched",
                    counted(streamed.documents, "document"),
                    if streamed.documents == 1 { "was" } else { "were" },
                    streamed.candidates
                );
                let way = Decision::accepted("read lists in their order", reason);
                node.decisions
                    .push(way.instead_of("bounds of all blocks where something matches", None));
            }
            node.actual = Some(Actual {
                documents: found.n_hits,
                documents_in: root.actual.as_ref().map(|actual| actual.documents),
                time_ns: u64::try_from(profile.time.as_nanos()).unwrap_or(u64::MAX),
                complete: found.stopped.is_none(),
                stopped: found.stopped.is_some(),
                streamed: (streamed.terms > 0).then_some(StreamCounts {
                    segments: streamed.segments,
                    given_up: streamed.given_up,
                    terms: streamed.terms,
                    documents: streamed.documents,
                    candidates: streamed.candidates,
                }),
                sort: Some(ColumnCounts {
                    documents: profile.documents,
                    blocks: profile.blocks,
                    blocks_skipped: profile.blocks_skipped,
                    ends_looked_up: 0,
                    deleted_taken_away: 0,
                }),
                ..Actual::default()
            });
        }
        node.children = vec![root];
        node.number();
        tree.plan = node;
        Ok(())
    }
}
