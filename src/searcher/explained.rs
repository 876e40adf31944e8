//! Plans of searches for people: how one would be answered, and how it was.

use super::search::Search;
use super::why::FilledPage;
use super::{Hit, Hits};
use crate::error::Result;
use crate::execution::{Matching, Outcome, SearchPlan};
use crate::explain::{self, ExplainPage, ExplainTree, Facts};
use crate::plan::forced::Measured;
use crate::plan::{EstimateFrom, PagePlan, Phase, PhaseTimes};
use crate::query::Rewritten;
use crate::request::TotalMode;
use std::time::{Duration, Instant};

/// A search that is planned for people, with what matches.
pub(super) struct ForPeople<'a> {
    pub(super) plan: SearchPlan<'a>,
    /// Times before what matches was planned.
    before_plan: PhaseTimes,
}

impl<'a> Search<'a> {
    /// Plans the search for people.
    pub(super) fn explain(self) -> Result<ExplainTree> {
        let _scope = self.searcher.enter(&self.budget());
        self.is_to_be_explained();
        self.meaning.is_kept.set(self.is_kept());
        let ForPeople { plan, .. } = self.plan_for_people(false)?;
        let mut tree = explain::explain(&plan, self.searcher.schema(), None)?;
        tree.notes.extend(constant_note(&plan.page));
        self.put_documents(&mut tree, plan.matching.plan()?, None)?;
        self.recycle(plan);
        self.worded(tree, &())
    }

    /// Answers the query and shows how.
    pub(super) fn analyze(self) -> Result<ExplainTree> {
        self.meaning.is_kept.set(self.is_kept());
        self.analyzed(None)
    }

    /// Answers the query, and shows how that very answer came about.
    pub(super) fn run_and_explain(self) -> Result<(Hits, ExplainTree)> {
        let started = Instant::now();
        let log = self.clone();
        let answer = self.answer_and_explain();
        log.log_if_slow(Some(started), answer.as_ref().err());
        answer
    }

    fn answer_and_explain(self) -> Result<(Hits, ExplainTree)> {
        let _scope = self.searcher.enter(&self.budget());
        let search = self.clone();
        let (names, mut hits) = (search.known_fields()?, vec![]);
        let (tree, mut found) = self.analyzed_with(None, |hit| hits.push(hit))?;
        let mut fetched = Vec::with_capacity(hits.len());
        for hit in hits {
            search.fetch(hit, names.as_deref(), &mut fetched, &mut found.stopped)?;
        }
        let took = Duration::from_nanos(tree.total_ns.unwrap_or_default());
        Ok((found.into_hits(fetched, took), tree))
    }

    /// Explains a run, also one that is stopped, with times of other ways that were measured before.
    pub(super) fn analyzed(mut self, measured: Option<&Measured>) -> Result<ExplainTree> {
        self.request.limits.partial = true;
        self.each_branch(&mut |branch| branch.request.limits.partial = true);
        self.analyzed_with(measured, |_| ()).map(|(tree, _)| tree)
    }

    /// Explains a run, and returns what it found: each hit of the page is told, without its fields.
    fn analyzed_with(
        mut self,
        measured: Option<&Measured>,
        tell: impl FnMut(Hit),
    ) -> Result<(ExplainTree, Outcome)> {
        let from = *self.estimate_from.get_or_insert(EstimateFrom::Samples);
        self.each_branch(&mut |branch| branch.estimate_from = Some(from));
        let started = Instant::now();
        let clock = self.is_to_be_explained();
        let _scope = self.searcher.enter(&self.budget());
        let ForPeople { mut plan, before_plan } = self.plan_for_people(true)?;
        let with_plan = clock.stop();
        let mut page = FilledPage::new(&self.explained);
        let mut hits = vec![];
        let found = self.context(true)?.run(&mut plan, |hit| {
            page.add(hit.doc, hit.score);
            hits.push(hit);
            Ok(())
        })?;
        self.add_similarities(&plan, &mut hits);
        self.add_distances(&mut hits)?;
        hits.into_iter().for_each(tell);
        let all = started.elapsed();
        if self.recall && found.stopped.is_none() {
            plan.measure_recall()?;
        }
        if let (Some(execution), None) = (plan.matching.execution(), found.stopped) {
            for doc in &self.explained {
                let doing = "explaining what becomes of a document";
                let (at, _, doc) = self.searcher.snapshot().locate(*doc, doing)?;
                execution.place_among_neighbors((at, doc))?;
            }
        }
        let execution = plan.matching.planned()?;
        // A plan that is not carried out is only for people, and its time none of the search.
        let is_of_search = found.is_planned || execution.plan().n_score_sets() > 0;
        let planning = if is_of_search { with_plan } else { before_plan };
        let for_people = with_plan.planning() - planning.planning() + with_plan[Phase::Display];
        let run = explain::Run {
            found: &found,
            matching: execution.profile(),
            planning,
            took: all.saturating_sub(for_people),
            measured,
        };
        let mut tree = explain::explain(&plan, self.searcher.schema(), Some(run))?;
        if let Some(stopped) = found.stopped {
            tree.notes.push(format!("{stopped}: this is what happened until then"));
        }
        tree.notes.extend(constant_note(&plan.page));
        let page = found.stopped.is_none().then_some(&page);
        if let Err(error) = self.put_documents(&mut tree, execution.plan(), page) {
            // Time and memory may be used up.
            let stopped = self.request.stopped(error)?;
            tree.notes
                .push(format!("{stopped}: not every document was looked up that was asked for"));
        }
        if found.stopped.is_none() {
            self.recycle(plan);
        }
        Ok((self.worded(tree, self.searcher)?, found))
    }

    /// Plans the search and its page with all that people are told.
    pub(super) fn plan_for_people(&self, is_run: bool) -> Result<ForPeople<'a>> {
        self.meaning.time(Phase::Choose, || {
            let mut scorings = self.look_up_scorings()?;
            let sets = scorings.wanted_sets();
            let mut plan = SearchPlan { page: self.page_plan(&scorings), ..SearchPlan::default() };
            plan.branches = self.plan_branches(|branch| self.plan_branch(branch, is_run))?;
            let before_plan = self.meaning.clock.get().map(|clock| clock.times());
            let of_page = (&mut scorings, &mut plan.page);
            let mut execution = self.plan_with_sets(sets, of_page, true, is_run)?;
            self.meaning.scorings.get_or_init(|| scorings);
            self.meaning.time(Phase::Display, || {
                let details = self.page_details(&plan.page, execution.plan())?;
                let is_kept = self.meaning.is_kept.get();
                let described = execution.plan().describe_page(&plan.page, details, is_kept);
                plan.described = Some(Box::new(described));
                self.add_facet_details(execution.plan_mut())
            })?;
            plan.matching = Matching::Planned(execution);
            Ok(ForPeople { plan, before_plan: before_plan.unwrap_or_default() })
        })
    }

    /// Plans a branch by a clock of its own: what it finds on its way is no planning of this search.
    fn plan_branch(&self, branch: &Search<'a>, is_run: bool) -> Result<SearchPlan<'a>> {
        self.meaning.time(Phase::Sets, || {
            let own = branch.is_to_be_explained();
            let planned = branch.plan_for_people(is_run)?;
            if let Some(clock) = self.meaning.clock.get() {
                clock.add_planning(own.stop());
            }
            Ok(planned.plan)
        })
    }

    /// Adds the texts of the query, behind which its notes come.
    fn worded(&self, mut tree: ExplainTree, facts: &dyn Facts) -> Result<ExplainTree> {
        let Rewritten { normal, notes } = self.rewritten()?;
        tree.query = self.query().to_text();
        tree.parsed = tree.query.clone();
        tree.rewritten = normal.to_text(self.searcher.schema());
        tree.notes.splice(0..0, notes.iter().cloned());
        if let Some(costs) = &self.searcher.0.setting.costs {
            tree.notes.push(match costs.machine() {
                Some(machine) => format!("costs are those measured on {machine}"),
                None => "costs are those of a calibration".into(),
            });
        }
        tree.page = self.page();
        tree.term_lookups = Some(self.look_ups().n_asked());
        tree.findings = tree.find_with(facts);
        Ok(tree)
    }

    /// The hits that are wanted.
    fn page(&self) -> Option<ExplainPage> {
        if self.request.count_only {
            return None;
        }
        let total = match self.request.total {
            TotalMode::Exact => "exact".to_owned(),
            TotalMode::UpTo(most) => most.to_string(),
            TotalMode::Unknown => "none".to_owned(),
        };
        Some(ExplainPage { offset: self.request.offset, limit: self.request.limit, total })
    }
}

/// Note on a query whose matches all score the same.
fn constant_note(page: &PagePlan) -> Option<String> {
    let score = page.score()?;
    Some(format!("every match scores {score}, so hits come in document order"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::plan::NodeId;
    use crate::schema::Schema;
    use crate::searcher::Searcher;
    use crate::searcher::stopping_tests::filled;

    fn searcher() -> Searcher {
        let schema = Schema::builder().text("title").keyword("kind").build().unwrap();
        filled(schema, |writer| {
            for nth in 0..3_000 {
                let title = format!("w{} {}", nth % 50, ["history", "war"][nth % 2]);
                let kind = ["a", "b", "c"][nth % 3];
                writer.add(Document::new().with("title", title).with("kind", kind)).unwrap();
            }
            writer.commit().unwrap();
        })
    }

    #[test]
    fn a_search_that_is_explained_and_not_run_finds_no_sets() {
        let searcher = searcher();
        for text in ["+w?* +history", "history kind:a", "/w[1-3].*/ OR war", "+history -w4*"] {
            let query = searcher.parse(text).unwrap();
            let search = searcher.search(&query).search();
            search.is_to_be_explained();
            let matching = search.plan_for_people(false).unwrap().plan.matching;
            let execution = matching.planned().unwrap();
            let plan = execution.plan();
            assert!(plan.n_score_sets() > 0, "{text}");
            for node in (0..plan.nodes.len() as u32).map(NodeId) {
                let done = execution.profile().node(0, node);
                assert!(!done.complete && !done.answered, "{text}: {node:?}, {done:?}");
                assert_eq!((done.documents_out, done.bytes_read), (0, 0), "{text}: {node:?}");
            }
            assert!(searcher.search(&query).explain().unwrap().total_ns.is_none());
            // One that is run has found them before its page is planned.
            let search = searcher.search(&query).search();
            let matching = search.plan_for_people(true).unwrap().plan.matching;
            let execution = matching.planned().unwrap();
            let of_sets = (0..execution.plan().n_of_sets() as u32).map(NodeId);
            let found = of_sets.map(|node| execution.profile().node(0, node).documents_out);
            assert!(found.sum::<u64>() > 0, "{text}");
        }
    }

    #[test]
    fn the_total_of_a_run_is_that_of_one_clock() {
        let searcher = searcher();
        let query = searcher.parse("history").unwrap();
        let search = searcher.search(&query).search();
        let clock = search.is_to_be_explained();
        let plan = search.plan_for_people(true).unwrap().plan;
        let run = explain::Run {
            found: &Outcome::uncounted(),
            matching: plan.matching.planned().unwrap().profile(),
            planning: clock.stop(),
            took: Duration::from_secs(1),
            measured: None,
        };
        let tree = explain::explain(&plan, searcher.schema(), Some(run)).unwrap();
        assert_eq!(tree.total_ns, Some(1_000_000_000));
        let rest = tree.rest_ns().unwrap() + tree.planning_ns.unwrap();
        assert_eq!(rest, 1_000_000_000, "lost time is of the rest");
    }
}
