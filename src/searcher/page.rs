//! Pages of searches: the operator that makes one, and its details for people.

use super::search::Search;
use crate::error::Result;
use crate::execution::Execution;
use crate::plan::{
    CollapseDetails, OrderShape, PageDetails, PageOperator, PagePlan, PageWanted, Plan,
    PlanOptions, Scoring, SortDetails, StatisticsOf, TopKDetails,
};
use crate::query::Normal;
use crate::ranking::prepared::Ranked;
use crate::request::{IdfScope, Order};
use crate::sort::{SortKey, SortOrder};

/// A search that is ready to be carried out.
pub(super) struct Ready<'a> {
    pub(super) ranked: Option<Ranked<'a>>,
    pub(super) page: PagePlan,
    /// Finds what matches; only there where it has found sets that scores depend on.
    pub(super) planned: Option<Execution<'a>>,
}

impl<'a> Search<'a> {
    /// Looks up what scores depend on, finds the sets among that, and plans the page.
    pub(super) fn ready(&self) -> Result<Ready<'a>> {
        let mut ranked = self.ranked()?;
        let sets = ranked.as_ref().map(Ranked::wanted_sets).unwrap_or_default();
        let mut page = self.page_plan(ranked.as_ref());
        let mut planned = None;
        if let Some(ranked) = ranked.as_mut().filter(|_| !sets.is_empty()) {
            let options = PlanOptions { sets, ..self.options(page.goal(), false)? };
            let (normal, searcher) = (&self.rewritten()?.normal, self.searcher);
            let mut execution =
                searcher.execution_of_matching(normal, &options, self.look_ups())?;
            ranked.give_sets(&options.sets, execution.find_sets()?);
            page = self.page_plan(Some(ranked));
            execution.plan_mut().aim(&self.options(page.goal(), false)?, None)?;
            planned = Some(execution);
        }
        Ok(Ready { ranked, page, planned })
    }

    /// Finds the sets that scores depend on, where nothing else is planned.
    pub(super) fn find_sets(&self, ranked: &mut Ranked<'_>) -> Result<()> {
        let options = PlanOptions { sets: ranked.wanted_sets(), ..PlanOptions::default() };
        if !options.sets.is_empty() {
            let nothing = Normal::Nothing { reason: String::new() };
            let (searcher, look_ups) = (self.searcher, self.look_ups());
            let mut execution = searcher.execution_of_matching(&nothing, &options, look_ups)?;
            ranked.give_sets(&options.sets, execution.find_sets()?);
            searcher.recycle(execution);
        }
        Ok(())
    }

    /// Plans the page, of a query that is scored where that is `ranked`.
    pub(super) fn page_plan(&self, ranked: Option<&Ranked<'_>>) -> PagePlan {
        let request = &self.request;
        let wanted = PageWanted {
            offset: request.offset,
            limit: request.limit,
            total: request.total.into(),
            count_only: request.count_only,
            has_facets: !request.facets.is_empty(),
            order: (!request.sort.is_empty()).then(|| self.order_shape()),
            is_collapsed: request.collapse.is_some(),
            is_after: request.after.is_some(),
            stays_open: self.stays_open,
            forced: self.forced,
        };
        PagePlan::choose(wanted, ranked)
    }

    /// Facts of the order; one that cannot be is refused where its keys are looked up.
    fn order_shape(&self) -> OrderShape {
        let shape = |order: SortOrder| order.shape(self.searcher.schema());
        self.sort_order().map(shape).unwrap_or_default()
    }

    /// Details of the page for people.
    pub(super) fn page_details(
        &self,
        page: &PagePlan,
        ranked: Option<&Ranked<'_>>,
        plan: &Plan<'_>,
    ) -> Result<PageDetails> {
        let request = &self.request;
        let keys = || request.sort.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        Ok(match (page.operator, ranked) {
            (PageOperator::TopK(_), Some(ranked)) => {
                let (n_lists, postings) = ranked.lists();
                PageDetails::TopK(TopKDetails {
                    shape: ranked.shape(),
                    bounded: ranked.what_has_bounds(),
                    is_exact_phrase: ranked.is_exact_phrase(),
                    n_lists,
                    postings,
                    functions: ranked.functions().iter().map(ToString::to_string).collect(),
                    patterns: ranked.patterns().map(ToString::to_string).collect(),
                    statistics: match request.statistics {
                        IdfScope::Snapshot => StatisticsOf::Snapshot,
                        IdfScope::Segment => StatisticsOf::Segment,
                        IdfScope::Collection(_) => StatisticsOf::Collection,
                    },
                    segments_with_masks: ranked.segments_with_masks(),
                    n_docs: u32::try_from(self.searcher.n_docs()).unwrap_or(u32::MAX),
                })
            }
            (PageOperator::Sort(strategy), _) => {
                let (order, first) = (self.sort_order()?, request.sort.first());
                let has_scores = order.needs_scores();
                let mut wanted = self.first(&order, strategy)?;
                wanted.keep_to(plan);
                PageDetails::Sort(SortDetails {
                    keys: SortKey::described(&request.sort),
                    written: keys(),
                    field: first.and_then(SortKey::field).map(str::to_owned),
                    what: first.map_or("", SortKey::what).to_owned(),
                    scores: if has_scores { self.scores_in_words() } else { String::new() },
                    costs: wanted.expected(plan)?,
                })
            }
            (PageOperator::Collapse(_), _) => match &request.collapse {
                Some(collapse) => PageDetails::Collapse(CollapseDetails {
                    field: collapse.field.clone(),
                    what: collapse.described(),
                    order: match (&request.sort[..], request.order) {
                        ([], Order::Score) => "by score".to_owned(),
                        ([], Order::Document) => "in document order".to_owned(),
                        (keys, _) => format!("by {}", SortKey::described(keys)),
                    },
                    written: (!request.sort.is_empty()).then(keys),
                    scores: self.scores_in_words(),
                }),
                None => PageDetails::DocOrder,
            },
            (PageOperator::DocOrder { .. } | PageOperator::TopK(_), _) => PageDetails::DocOrder,
        })
    }

    /// Functions of scores in words; nothing without any.
    fn scores_in_words(&self) -> String {
        match &self.request.score_functions[..] {
            [] => String::new(),
            functions => {
                let functions = functions.iter().map(ToString::to_string);
                format!("; scores are BM25 {}", functions.collect::<Vec<_>>().join(", "))
            }
        }
    }
}
