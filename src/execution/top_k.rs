//! Pages of the best by score.

use super::outcome::Outcome;
use super::profile::WorkCounts;
use super::{SearchContext, SearchPlan};
use crate::error::Result;
use crate::hits::{Hit, Relation, Total};
use crate::plan::{CountStrategy, TopKStrategy};
use crate::ranking::pruned::Scratch;
use crate::ranking::search::{find_best, find_best_of_phrase, score_all};
use crate::ranking::top::{ScoredDoc, Top};
use crate::request::After;
use crate::weight::Weight;
use std::time::{Duration, Instant};

impl<'s> SearchContext<'_, 's> {
    /// The best documents by score.
    pub(super) fn top_k(
        &self,
        plan: &mut SearchPlan<'s>,
        strategy: TopKStrategy,
        mut hit: impl FnMut(Hit) -> Result<()>,
    ) -> Result<Outcome> {
        let mut found = Outcome::uncounted();
        // Only what is scored is planned to be found by scores.
        let Some(ranked) = self.scorings.and_then(|it| it.page.as_ref()) else { return Ok(found) };
        let mut scratch = self.scratch.take();
        let top = self.top(self.page_end().min(self.n_docs()), &mut scratch);
        let mut top = if self.is_traced { top.traced() } else { top };
        let done = self.look(plan, (ranked, strategy), &mut top, &mut scratch, &mut found);
        self.end(done, &mut found)?;
        found.trace = top.take_trace();
        let best = top.into_sorted()?;
        if found.stopped.is_some() && found.total.relation == Relation::AtLeast {
            found.total.value = found.total.value.max(best.len() as u64);
        }
        // Scoring all of a few finds their number, which is as unasked for as where bounds leave some out.
        let is_unasked = ranked.functions().is_empty() || strategy != TopKStrategy::Exhaustive;
        if plan.page.count == CountStrategy::Unasked && is_unasked {
            found.total = Total { value: best.len() as u64, relation: Relation::Unknown };
        }
        let start = usize::try_from(self.request.offset).unwrap_or(usize::MAX);
        let page = best.get(start..).unwrap_or_default();
        found.n_hits = page.len() as u64;
        page.iter().try_for_each(|it| hit(Hit::new(it.doc(), Some(it.score()))))?;
        // Memory of a stopped search is not used again.
        if found.stopped.is_none() {
            scratch.keep_top(best);
            self.scratch.give(scratch);
        }
        Ok(found)
    }

    /// Offers to `top` what can be among the best, and finds what else was asked for.
    fn look(
        &self,
        plan: &mut SearchPlan<'s>,
        (ranked, strategy): (&Weight<'_>, TopKStrategy),
        top: &mut Top,
        scratch: &mut Scratch,
        found: &mut Outcome,
    ) -> Result<()> {
        let SearchPlan { page, matching, lists, .. } = plan;
        let (lists, started) = (lists.as_deref_mut(), self.is_traced.then(Instant::now));
        let took = |started: Option<Instant>| started.map_or(Duration::ZERO, |it| it.elapsed());
        match strategy {
            TopKStrategy::BlockMax => {
                let count = page.count == CountStrategy::AfterPage;
                let done = find_best(ranked, None, lists, count, top, scratch);
                found.took = took(started);
                let pruning = done?;
                found.looked_at = WorkCounts::Blocks(pruning);
                match (page.count, pruning.matching) {
                    (CountStrategy::Unasked, _) => {}
                    (CountStrategy::WithPage, _) => {
                        self.with_matches(matching, found, |_, _, _| Ok(()))?;
                    }
                    (CountStrategy::AfterPage, Some(value)) => {
                        found.total = Total { value, relation: Relation::Exact };
                    }
                    (CountStrategy::AfterPage, None) => {
                        self.count(page.goal_of_count(), matching, found)?;
                    }
                }
            }
            TopKStrategy::Exhaustive => {
                self.with_matches(matching, found, |execution, matches, found| {
                    let started = self.is_traced.then(Instant::now);
                    let done = score_all(ranked, &execution.plan().segments, matches, top);
                    found.took = took(started);
                    found.looked_at = WorkCounts::All(done?);
                    Ok(())
                })?
            }
            TopKStrategy::PhraseBlockMax | TopKStrategy::Phrase => {
                let count = page.count != CountStrategy::Unasked;
                let done = find_best_of_phrase(ranked, lists, count, top, scratch);
                found.took = took(started);
                let pruning = done?;
                found.looked_at = WorkCounts::Phrase(pruning);
                found.total = Total { value: pruning.matching, relation: Relation::Exact };
            }
        }
        Ok(())
    }

    /// Room for the `k` best documents, as far as they come after an earlier page.
    fn top(&self, k: u64, scratch: &mut Scratch) -> Top {
        let top =
            Top::new(usize::try_from(k).unwrap_or(usize::MAX), std::mem::take(&mut scratch.top));
        match self.request.after {
            Some(After::Score { score, doc }) => top.after(ScoredDoc::new(score, doc)),
            _ => top,
        }
    }
}
