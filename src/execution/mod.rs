//! Carrying out the plan of a search: one function for each operator.
//!
//! | operator | carried out in |
//! |---|---|
//! | matching operators, and their number | [`matching`](crate::matching) |
//! | `DocOrder`, and `Count` beside a page | this module |
//! | `TopK` | `top_k` |
//! | `Sort` | `sort` |
//! | `Collapse` | `collapse` |
//! | `Fuse` | `fuse` |
//! | `Facet`, `Statistics` | `facets`, and within their buckets `buckets` |
//! | `TopHits` | `top_hits` |
//!
//! A [`SearchPlan`] is carried out any number of times, by [`SearchContext::run`]. Searches that are prepared, explained or
//! neither take this one way. The page comes first, then the number of what matches, unless making the page has found it, then
//! facets.

mod bound_facet;
mod buckets;
mod collapse;
mod counted;
mod facets;
mod filter_scope;
mod fuse;
mod outcome;
mod profile;
mod scorings;
mod sort;
mod top_hits;
mod top_k;

pub(crate) use bound_facet::{BoundFacet, BoundWhat, ExcludedFilters, excluded_filters};
pub(crate) use fuse::{Branch, Fused, Ranked};
pub(crate) use outcome::Outcome;
pub(crate) use profile::{FacetRun, WorkCounts};
pub(crate) use scorings::Scorings;
pub(crate) use sort::first_in_order;

use crate::doc_id_set::Matches;
use crate::error::{Error, ErrorKind, Result};
use crate::hits::{FacetCounts, Hit, Relation, Stopped, Total};
use crate::ids::FieldId;
use crate::look_ups::LookUps;
use crate::matching::{Counted, Execution, count_term};
use crate::plan::{CostModel, Goal, PageDescription, PageOperator, PagePlan, Plan};
use crate::ranking::pruned::Scratch;
use crate::ranking::search::OpenLists;
use crate::recycle::Pool;
use crate::request::{SearchRequest, TotalMode};
use crate::segment::snapshot::Snapshot;
use crate::sort::SortOrder;
use crate::term::Term;

/// Room made for documents before any is found.
const DOCS_ROOM_MAX: u64 = 1_024;

/// Plan of a search: the operator that makes its page, above those that find what matches.
#[derive(Debug, Default)]
pub(crate) struct SearchPlan<'s> {
    pub(crate) page: PagePlan,
    /// Description of the page; none if nobody asks.
    pub(crate) described: Option<Box<PageDescription>>,
    pub(crate) matching: Matching<'s>,
    /// Lists that stay open between searches, where the best are looked for by lists.
    pub(crate) lists: Option<Box<OpenLists<'s>>>,
    /// Plans of the queries whose hits are fused, in their order.
    pub(crate) branches: Vec<SearchPlan<'s>>,
}

impl SearchPlan<'_> {
    /// Compares neighbours that were found with the nearest of all.
    pub(crate) fn measure_recall(&mut self) -> Result<()> {
        if let Some(execution) = self.matching.execution() {
            execution.measure_recall()?;
        }
        self.branches.iter_mut().try_for_each(SearchPlan::measure_recall)
    }

    /// Calls `visit` with the plan of what each branch matches, then with that of what matches in all, if it is planned.
    pub(crate) fn each_plan<'p>(&'p self, visit: &mut impl FnMut(&'p Plan<'_>)) {
        self.branches.iter().for_each(|branch| branch.each_plan(visit));
        if let Matching::Planned(execution) = &self.matching {
            visit(execution.plan());
        }
    }
}

/// Plan of what matches.
#[derive(Debug, Default)]
#[expect(clippy::large_enum_variant, reason = "one for each search; a box would be an allocation")]
pub(crate) enum Matching<'s> {
    /// None so far. Making the page reads lists itself, and may find the number of what matches on its way.
    #[default]
    Unplanned,
    /// Number of documents that have a term, which the dictionary knows.
    Term(FieldId, Term),
    Planned(Execution<'s>),
}

impl<'s> Matching<'s> {
    /// Operators that find what matches, if these are planned.
    pub(crate) fn execution(&mut self) -> Option<&mut Execution<'s>> {
        match self {
            Matching::Planned(execution) => Some(execution),
            Matching::Unplanned | Matching::Term(..) => None,
        }
    }

    /// Operators that find what matches, of a search for which these are planned.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`] where none are.
    pub(crate) fn planned(&self) -> Result<&Execution<'s>> {
        match self {
            Matching::Planned(execution) => Ok(execution),
            Matching::Unplanned | Matching::Term(..) => {
                Err(Error::new(ErrorKind::Usage, "explaining a search")
                    .expected("one whose matches are planned")
                    .found("one that is planned without"))
            }
        }
    }

    /// The plan of [these](Self::planned).
    pub(crate) fn plan(&self) -> Result<&Plan<'s>> {
        self.planned().map(Execution::plan)
    }

    fn or_plan(&mut self, goal: Goal, planner: &dyn MatchPlanner<'s>) -> Result<&mut Self> {
        if matches!(self, Matching::Unplanned) {
            planner.plan_matching(goal, self)?;
        }
        Ok(self)
    }

    /// Adds to `total` how many documents match, as far as it comes. Whether that took operators.
    pub(crate) fn count(
        &mut self,
        snapshot: &Snapshot,
        look_ups: &LookUps,
        total: &mut u64,
    ) -> Result<bool> {
        match self {
            Matching::Unplanned => Ok(false),
            Matching::Term(field, term) => {
                count_term(snapshot.readers(), (*field, term), look_ups, total)?;
                Ok(false)
            }
            Matching::Planned(execution) => {
                let count = execution.count();
                *total += execution.counted();
                count.map(|_| true)
            }
        }
    }
}

/// Planner of what matches, for a page that has not found its number.
pub(crate) trait MatchPlanner<'s> {
    /// Puts the plan into `matching`: it is large, so that it is not handed on.
    fn plan_matching(&self, goal: Goal, matching: &mut Matching<'s>) -> Result<()>;
}

/// A search with all that its operators read: names are resolved, and terms looked up.
pub(crate) struct SearchContext<'a, 's> {
    pub(crate) request: &'a SearchRequest<'a>,
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) costs: &'s CostModel,
    /// Scores, where any are wanted.
    pub(crate) scorings: Option<&'a Scorings<'s>>,
    pub(crate) order: &'a SortOrder,
    /// The field that hits are grouped by.
    pub(crate) group: Option<FieldId>,
    pub(crate) facets: &'a [BoundFacet],
    /// Stored fields of the best documents of buckets; all of them, if none are named.
    pub(crate) fields: Option<Vec<String>>,
    pub(crate) look_ups: &'a LookUps,
    /// Memory of finding the best.
    pub(crate) scratch: &'s Pool<Box<Scratch>>,
    pub(crate) planner: &'a dyn MatchPlanner<'s>,
    /// Whether anybody will look at how the best were found, and at what that took.
    pub(crate) is_traced: bool,
    /// Ranked lists whose hits are fused; none where nothing is. In a box, as it is seldom there.
    pub(crate) fused: Option<Box<Fused<'a, 's>>>,
}

impl<'s> SearchContext<'_, 's> {
    /// Carries out a plan. Gives the hits of its page to `hit` without their fields, and finds what else was asked for.
    pub(crate) fn run(
        &self,
        plan: &mut SearchPlan<'s>,
        mut hit: impl FnMut(Hit) -> Result<()>,
    ) -> Result<Outcome> {
        match plan.page.operator {
            PageOperator::DocOrder { score } => self.doc_order(plan, score, hit),
            PageOperator::TopK(strategy) => self.top_k(plan, strategy, hit),
            PageOperator::Sort(strategy) => self.sort(plan, strategy, hit),
            PageOperator::Collapse(strategy) => self.collapse(plan, strategy, hit),
            PageOperator::Fuse => self.fuse(plan, &mut hit),
        }
    }

    /// The first documents in their order, or only how many there are.
    fn doc_order(
        &self,
        plan: &mut SearchPlan<'s>,
        score: Option<f32>,
        mut hit: impl FnMut(Hit) -> Result<()>,
    ) -> Result<Outcome> {
        let mut found = Outcome::uncounted();
        if let Some(execution) = plan.matching.execution() {
            found.docs = execution.take_docs();
            if !self.request.count_only {
                found.docs.reserve(self.request.limit.min(DOCS_ROOM_MAX) as usize);
            }
        }
        let done = self.count(plan.page.goal(), &mut plan.matching, &mut found);
        self.end(done, &mut found)?;
        found.n_hits = found.docs.len() as u64;
        found.docs.iter().try_for_each(|doc| hit(Hit::new(*doc, score)))?;
        if let Some(execution) = plan.matching.execution() {
            execution.keep_docs(std::mem::take(&mut found.docs));
        }
        Ok(found)
    }

    /// Counts what matches, as far as `goal` says. Finds the documents of a page and counts facets, if it is planned for these.
    fn count(&self, goal: Goal, matching: &mut Matching<'s>, found: &mut Outcome) -> Result<()> {
        match matching.or_plan(goal, self.planner)? {
            Matching::Planned(execution) if self.facets.is_empty() => {
                found.is_planned = true;
                let done = execution.run(&mut found.docs);
                found.total.value = execution.counted();
                found.total = self.total_of(done?);
            }
            Matching::Planned(_) => self.with_matches(matching, found, |_, _, _| Ok(()))?,
            matching => {
                matching.count(self.snapshot, self.look_ups, &mut found.total.value)?;
                found.total.relation = Relation::Exact;
            }
        }
        Ok(())
    }

    /// Finds all matches, does something with them, and counts facets.
    fn with_matches(
        &self,
        matching: &mut Matching<'s>,
        found: &mut Outcome,
        then: impl FnOnce(&Execution<'s>, &Matches, &mut Outcome) -> Result<()>,
    ) -> Result<()> {
        let Some(execution) = matching.or_plan(Goal::MATCHES, self.planner)?.execution() else {
            return Ok(());
        };
        found.is_planned = true;
        let done = execution.page_and_matches(&mut found.docs);
        found.total.value = execution.counted();
        let (counted, matches) = done?;
        found.total = self.total_of(counted);
        then(execution, &matches, found)?;
        self.count_facets(execution, &matches, found)
    }

    fn total_of(&self, counted: Counted) -> Total {
        let relation = match (counted.more, self.request.total) {
            (false, _) => Relation::Exact,
            (true, TotalMode::Unknown) => Relation::Unknown,
            (true, _) => Relation::AtLeast,
        };
        Total { value: counted.documents, relation }
    }

    /// Ends a search that has found something, or everything.
    fn end(&self, done: Result<()>, found: &mut Outcome) -> Result<()> {
        let Err(error) = done else { return Ok(()) };
        found.stop(error, self.request)
    }

    /// The place of the last hit that is wanted, counted from 1.
    fn page_end(&self) -> u64 {
        self.request.offset.saturating_add(self.request.limit)
    }

    /// Documents that are not deleted.
    fn n_docs(&self) -> u64 {
        self.snapshot.readers().map(|segment| u64::from(segment.n_live())).sum()
    }
}

impl SearchRequest<'_> {
    /// Why a search was stopped, where that is no reason to give nothing.
    ///
    /// # Errors
    ///
    /// Every other error.
    pub(crate) fn stopped(&self, error: Error) -> Result<Stopped> {
        match error.kind() {
            ErrorKind::Timeout if self.limits.partial => Ok(Stopped::Timeout),
            ErrorKind::Cancelled if self.limits.partial => Ok(Stopped::Cancelled),
            _ => Err(error),
        }
    }
}

impl Outcome {
    /// Takes note of why a search was stopped: facets that it did not come to are unknown.
    ///
    /// # Errors
    ///
    /// Errors that stop no search, and every other if partial results are not wanted.
    pub(crate) fn stop(&mut self, error: Error, request: &SearchRequest<'_>) -> Result<()> {
        self.give_up(request.stopped(error)?, request);
        Ok(())
    }

    /// Ends here for this reason.
    fn give_up(&mut self, stopped: Stopped, request: &SearchRequest<'_>) {
        self.stopped = Some(stopped);
        let uncounted = request.facets.iter().skip(self.facets.len());
        self.facets.extend(uncounted.map(FacetCounts::unknown));
    }
}
