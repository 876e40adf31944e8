//! Scores that a search needs, and how the score of one document comes about.

use super::Explanation;
use super::meaning::once;
use super::search::Search;
use crate::doc_id_set::DocIdSet;
use crate::error::{Error, ErrorKind, Result};
use crate::execution::{BoundFacet, Scorings};
use crate::function::BoundScoreFunction;
use crate::ids::{DocId, FieldId};
use crate::limits;
use crate::matching::Execution;
use crate::plan::{Goal, Phase, PlanOptions};
use crate::query::Logical;
use crate::request::{After, CollectionStatistics, Order, Recording};
use crate::sort::SortOrder;
use crate::weight::bm25::Parameters;
use crate::weight::statistics::{OfSnapshot, OwnParameters, Sources};
use crate::weight::{ScoreDetail, Weight, WeightScratch};

impl<'a> Search<'a> {
    /// Looks up all that scoring needs but for sets, if scores matter.
    pub(super) fn look_up_scorings(&self) -> Result<Scorings<'a>> {
        self.check_fusion()?;
        let is_sorted = !self.request.sort.is_empty();
        let is_without = match &self.request.after {
            Some(After::Score { .. }) if is_sorted => Some(("values of a hit", "a score")),
            Some(After::Values { .. }) if !is_sorted => {
                Some(("keys to sort by", "values of a hit"))
            }
            _ => None,
        };
        if let Some((expected, found)) = is_without {
            let error = Error::new(ErrorKind::Usage, "going on after a hit in its order");
            return Err(error.expected(expected).found(found));
        }
        let (order, is_scored) = (self.sort_order()?, self.is_scored()?);
        if !is_scored && !self.request.score_functions.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "changing scores by functions")
                .expected("an order by score")
                .found("another one, for which nothing is scored"));
        }
        self.functions()?;
        self.group_field()?;
        self.check_selections()?;
        if let Some(After::Values { values, doc }) = &self.request.after {
            order.place_of(values, *doc)?;
        }
        let has_hits = !self.request.count_only && self.request.limit > 0;
        let is_elsewhere = is_sorted || self.is_collapsed();
        let parameters = self.parameters()?;
        let mut scorings = Scorings::default();
        if is_scored && has_hits && !is_elsewhere {
            let logical = &self.bound()?.logical;
            scorings.page = Some(self.scoring_of(logical, &parameters, ScoreDetail::AsNeeded)?);
        }
        let has_facets = !self.request.facets.is_empty();
        let has_buckets = has_facets && self.bound_facets()?.iter().any(BoundFacet::wants_hits);
        if is_scored && (has_hits && is_elsewhere || has_buckets) {
            let detail = ScoreDetail::AsNeeded;
            let of =
                |logical| self.scoring_of(logical, &parameters, detail).map(Box::new).map(Some);
            if !self.request.selections.is_empty() {
                let all: Vec<_> = (0..self.request.selections.len()).collect();
                scorings.known = of(&self.bound_without(&all)?.logical)?;
            } else if scorings.page.is_none() {
                scorings.known = of(&self.bound()?.logical)?;
            }
        }
        Ok(scorings)
    }

    /// Scores that the search needs, once it is ready.
    pub(super) fn scorings(&self) -> Option<&Scorings<'a>> {
        self.meaning.scorings.get()
    }

    /// Whether hits come by score, or scores tell which of them comes first.
    pub(super) fn is_scored(&self) -> Result<bool> {
        match self.request.sort.is_empty() {
            // Each branch scores by itself.
            _ if self.request.fusion.is_some() => Ok(false),
            true => Ok(self.request.order == Order::Score),
            false => self.sort_order().map(SortOrder::needs_scores),
        }
    }

    /// Scores of single documents part by part, and what finds all that match.
    pub(super) fn scoring_by_part(&self) -> Result<(Weight<'a>, Execution<'a>)> {
        let parameters = self.parameters()?;
        let mut ranked = self.scoring_of(&self.bound()?.logical, &parameters, ScoreDetail::Each)?;
        let (goal, mut sets) = (Goal::MATCHES, ranked.wanted_sets());
        sets.extend(ranked.neighbors_beside(&self.rewritten()?.normal));
        let options = PlanOptions { goal, sets, ..PlanOptions::default() };
        let mut execution = self.execution(&options)?;
        ranked.give_sets(&options.sets, &execution.find_sets()?);
        ranked.give_neighbors(&|spec| execution.plan().found_neighbors(spec))?;
        Ok((ranked, execution))
    }

    /// Numbers of this snapshot that scores depend on.
    pub(super) fn collection_statistics(&self) -> Result<CollectionStatistics> {
        let _scope = self.searcher.enter(&self.budget());
        let parameters = self.parameters()?;
        let (snapshot, kept) = (self.searcher.snapshot(), &self.searcher.0.scorings);
        let own = OfSnapshot { snapshot, parameters: &parameters, kept };
        let recording = Recording::new(&own, self.searcher.schema());
        let sources = Sources { statistics: &recording, look_ups: self.look_ups() };
        let (segments, memory) = (self.searcher.segments(), WeightScratch::default());
        let logical = &self.bound()?.logical;
        Weight::new(logical, segments, &sources, ScoreDetail::AsNeeded, memory)?;
        Ok(recording.into_asked())
    }

    fn scoring_of(
        &self,
        logical: &Logical,
        parameters: &OwnParameters,
        detail: ScoreDetail,
    ) -> Result<Weight<'a>> {
        let (searcher, statistics) = (self.searcher, &self.request.statistics);
        let memory = self.with_memory(|memory| std::mem::take(&mut memory.ranked));
        let mut ranked = self.meaning.time(Phase::LookUp, || {
            searcher.create_weight(logical, parameters, statistics, detail, self.look_ups(), memory)
        });
        if let Ok(ranked) = &mut ranked {
            ranked.change_by(self.functions()?);
        }
        ranked
    }

    /// Score functions, with names looked up.
    fn functions(&self) -> Result<&Vec<BoundScoreFunction>> {
        let schema = self.searcher.schema();
        let bind = || self.request.score_functions.iter().map(|it| it.bind(schema)).collect();
        once(&self.meaning.functions, bind)
    }

    /// The options of scoring, checked.
    fn parameters(&self) -> Result<Vec<(FieldId, Parameters)>> {
        let most = limits::current().pattern_terms;
        if self.request.pattern_terms > most {
            let (what, name) = ("scoring patterns by their terms", "PATTERN_TERMS_MAX");
            let found = Some(self.request.pattern_terms as usize);
            return Err(Error::limit_reached(what, name, most, "terms", found));
        }
        let mut parameters = vec![];
        for (name, own) in &self.request.parameters {
            let is_sound = own.k1 >= 0.0 && own.k1.is_finite() && (0.0..=1.0).contains(&own.b);
            if !is_sound {
                return Err(Error::new(ErrorKind::Usage, format!("ranking by the field '{name}'"))
                    .expected("k1 of 0 or more and b of 0 to 1")
                    .found(format!("k1 {} and b {}", own.k1, own.b)));
            }
            parameters.push((self.field(name)?, *own));
        }
        Ok(parameters)
    }

    /// Explains the score of a document.
    pub(super) fn explain_score(&self, doc: DocId) -> Result<Option<Explanation>> {
        let _scope = self.searcher.enter(&self.budget());
        self.explanation(doc)
    }

    /// Explains the score of a document in a budget that is there.
    pub(super) fn explanation(&self, doc: DocId) -> Result<Option<Explanation>> {
        self.check_selections()?;
        let doing = "explaining the score of a document";
        let (at, _, of_segment) = self.searcher.snapshot().locate(doc, doing)?;
        if self.request.fusion.is_some() {
            return self.fused_explanation(doc);
        }
        let doc = of_segment;
        self.is_to_be_explained();
        let (ranked, mut execution) = self.scoring_by_part()?;
        let is_in = match execution.page_and_matches(&mut vec![])?.1.get(at) {
            Some(DocIdSet::Some(windows)) => windows.contains(doc),
            Some(DocIdSet::Everything) => true,
            None => false,
        };
        if !is_in {
            return Ok(None);
        }
        let (ranked, at) = ranked.of_segment(at);
        ranked.segment(at)?.explain(doc)
    }
}
