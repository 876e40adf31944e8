//! Plans of pages, and their details for people.

use super::search::Search;
use crate::error::Result;
use crate::execution::{Scorings, first_in_order};
use crate::matching::Execution;
use crate::plan::{
    CollapseDetails, OrderShape, PageDetails, PageOperator, PagePlan, PageWanted, Phase, Plan,
    PlanOptions, Scoring, Shape, SortDetails, StatisticsOf, TopHitsStrategy, TopKDetails,
};
use crate::query::Normal;
use crate::request::{IdfScope, Order};
use crate::sort::SortKey;

impl<'a> Search<'a> {
    /// Plans the whole search, and its page by the sets that scores depend on: found or, if nothing is run, expected.
    pub(super) fn plan_with_sets(
        &self,
        sets: Vec<Normal>,
        (scorings, page): (&mut Scorings<'a>, &mut PagePlan),
        explain: bool,
        is_run: bool,
    ) -> Result<Execution<'a>> {
        let options = self.options(page.goal(), explain, Some(scorings))?;
        let normal = &self.rewritten()?.normal;
        let beside = scorings.neighbors_beside(normal);
        let sets = sets.into_iter().chain(beside).collect();
        let mut options = PlanOptions { sets, ..options };
        let clock = self.meaning.clock.get().map(|clock| &**clock);
        let look_ups = self.look_ups_after(Some(scorings));
        let clocks = (clock, explain && is_run);
        let plan = self.searcher.execution_of_matching(normal, &options, look_ups, clocks);
        let mut execution = plan?;
        if !options.sets.is_empty() || scorings.has_neighbors() {
            if is_run {
                let found = self.meaning.time(Phase::Sets, || execution.find_sets())?;
                scorings.give_sets(&options.sets, &found);
                scorings.give_neighbors(&|spec| execution.plan().found_neighbors(spec))?;
            } else {
                scorings.expect_sets(&options.sets, &execution.plan().expected_sets());
            }
            *page = self.page_plan(scorings);
            options.goal = page.goal();
        }
        execution.plan_mut().aim(&options, clock)?;
        Ok(execution)
    }

    /// Plans the page.
    pub(super) fn page_plan(&self, scorings: &Scorings<'_>) -> PagePlan {
        let request = &self.request;
        let wanted = PageWanted {
            offset: request.offset,
            limit: request.limit,
            total: request.total.into(),
            count_only: request.count_only,
            has_facets: !request.facets.is_empty(),
            order: (!request.sort.is_empty()).then(|| self.order_shape()),
            is_collapsed: request.collapse.is_some(),
            is_fused: request.fusion.is_some(),
            is_after: request.after.is_some(),
            stays_open: self.stays_open,
            forced: self.forced,
        };
        let first = self.top_hits(Some(scorings));
        PagePlan::choose(wanted, scorings.page.as_ref(), first, self.searcher.costs())
    }

    /// The way to find the best of known documents, by these scores where any are wanted.
    pub(super) fn top_hits(&self, scorings: Option<&Scorings<'_>>) -> TopHitsStrategy {
        let order = (!self.request.sort.is_empty()).then(|| self.order_shape());
        TopHitsStrategy::choose(order, scorings.and_then(Scorings::known))
    }

    /// Facts of the order; one that cannot be is refused where its keys are looked up.
    fn order_shape(&self) -> OrderShape {
        self.sort_order().map(|order| order.shape(self.searcher.schema())).unwrap_or_default()
    }

    /// Details of the page for people.
    pub(super) fn page_details(&self, page: &PagePlan, plan: &Plan<'_>) -> Result<PageDetails> {
        let request = &self.request;
        let ranked = self.scorings().and_then(|it| it.page.as_ref());
        let keys = || request.sort.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        Ok(match (page.operator, ranked) {
            (PageOperator::TopK(_), Some(ranked)) => {
                let (shape, costs) = (ranked.shape(), self.searcher.costs());
                let of_tree = || page.wanted.costs_of_tree(ranked, costs);
                PageDetails::TopK(TopKDetails {
                    shape,
                    bounded: ranked.what_has_bounds(),
                    is_exact_phrase: ranked.is_exact_phrase(),
                    lists: ranked.lists(),
                    of_tree: (shape == Shape::Tree).then(of_tree),
                    functions: ranked.functions().iter().map(ToString::to_string).collect(),
                    patterns: ranked.patterns().map(ToString::to_string).collect(),
                    statistics: match request.statistics {
                        IdfScope::Snapshot => StatisticsOf::Snapshot,
                        IdfScope::Segment => StatisticsOf::Segment,
                        IdfScope::Collection(_) => StatisticsOf::Collection,
                    },
                    segments_with_masks: ranked.segments_with_masks(),
                })
            }
            (PageOperator::Sort(strategy), _) => {
                let (order, first) = (self.sort_order()?, request.sort.first());
                let has_scores = order.needs_scores();
                let (n_docs, costs) = (self.searcher.n_docs(), self.searcher.costs());
                let mut wanted = first_in_order(request, (order, strategy), n_docs, costs)?;
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
            (PageOperator::Fuse, _) => PageDetails::Fuse(self.fuse_details()?),
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
