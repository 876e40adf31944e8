//! Facets of a search: names and options resolved, and details for people.

use super::meaning::once;
use super::search::Search;
use crate::error::Result;
use crate::execution::{BoundFacet, BoundWhat, ExcludedFilters, excluded_filters};
use crate::plan::estimate::Estimate;
use crate::plan::{FacetDetails, FacetNode, Plan, SegmentPlan};
use crate::request::{Facet, FacetWhat};

impl Search<'_> {
    /// The facets, checked, with their names and options resolved.
    pub(super) fn bound_facets(&self) -> Result<&[BoundFacet]> {
        if self.request.facets.is_empty() {
            return Ok(&[]);
        }
        let bound = once(&self.meaning.facets, || {
            self.request.facets.iter().try_for_each(Facet::check_within)?;
            self.bind_facets(&self.request.facets, &mut vec![])
        });
        bound.map(|facets| &facets[..])
    }

    /// Binds facets within those of the fields in `path`.
    fn bind_facets<'f>(
        &self,
        facets: &'f [Facet],
        path: &mut Vec<&'f str>,
    ) -> Result<Vec<BoundFacet>> {
        let bind = |facet: &'f Facet| {
            path.push(&facet.field);
            let (left_out, within) =
                (self.left_out(path), self.bind_facets(&facet.within.facets, path)?);
            path.pop();
            let (field, hits) = (self.field(&facet.field)?, facet.within.hits);
            let of_schema = self.searcher.schema().get(field);
            let what = BoundWhat::of(facet, of_schema, &self.searcher.0.setting.analyzers)?;
            Ok(BoundFacet { field, what, left_out, within, hits })
        };
        facets.iter().map(bind).collect()
    }

    /// Adds to the facets of a plan what people are told. That is done before a search runs: one that is stopped has no time
    /// left to look anything up.
    ///
    /// # Errors
    ///
    /// Errors of reading dictionaries, and of a search that is stopped.
    pub(super) fn add_facet_details(&self, plan: &mut Plan<'_>) -> Result<()> {
        let unselected =
            excluded_filters(self.bound_facets()?).into_iter().zip(plan.expected_unselected());
        let expected: Vec<_> = unselected.collect();
        let around = (&[][..], *plan.display_estimate(plan.root()));
        let facets = (&self.request.facets[..], self.bound_facets()?);
        self.add_details(&plan.segments, &expected, facets, &mut plan.facets, around, false)?;
        plan.estimate_facets()
    }

    /// Adds details to facets that are within one that leaves these selections out, without which so many documents match.
    fn add_details(
        &self,
        segments: &[SegmentPlan<'_>],
        unselected: &[(&ExcludedFilters, (Estimate, f32))],
        (requests, facets): (&[Facet], &[BoundFacet]),
        nodes: &mut [FacetNode],
        around: (&[usize], Estimate),
        is_within: bool,
    ) -> Result<()> {
        for ((request, facet), node) in requests.iter().zip(facets).zip(nodes) {
            let (left_out, within) = (&facet.left_out[..], &request.within.facets[..]);
            let own = unselected.iter().find(|(of, _)| left_out != around.0 && **of == left_out);
            let (matches, matching_ns) = match own {
                Some((_, (matches, ns))) => (*matches, Some(*ns)),
                None => (around.1, None),
            };
            let without = match is_within {
                _ if left_out.is_empty() => None,
                false => Some("without its own selection".to_owned()),
                true => Some("without the selections of it and what it lies within".to_owned()),
            };
            let options = match &request.what {
                FacetWhat::Values(options) => options.described(),
                _ => None,
            };
            let words: Vec<_> = options.into_iter().chain(without).collect();
            let limit = request.what.n_ranges();
            node.details = Some(Box::new(FacetDetails {
                limit: limit as u64,
                ranges: request.what.ranges(),
                options: (!words.is_empty()).then(|| words.join(", ")),
                n_ranges: facet.n_ranges(segments)?.or((limit > 0).then_some(limit as f64)),
                may_overlap: matches!(request.what, FacetWhat::Ranges(_) | FacetWhat::Rings(..)),
                matches,
                matching_ns,
                ..FacetDetails::default()
            }));
            let (inner, around) = ((within, &facet.within[..]), (left_out, matches));
            self.add_details(segments, unselected, inner, &mut node.within, around, true)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::plan::{FacetOperator, FacetStrategy, Goal, StatisticsStrategy};
    use crate::schema::{Field, FieldKind, Schema};
    use crate::searcher::stopping_tests::filled;

    /// Operators as people would write them, those within another in brackets.
    fn written(nodes: &[FacetNode]) -> String {
        let nodes = nodes.iter().map(|node| {
            let own = match &node.operator {
                FacetOperator::Facet(FacetStrategy::Values(plan)) => {
                    format!("values of {} terms", plan.sizes.n_terms)
                }
                FacetOperator::Facet(FacetStrategy::Ranges(_)) => "ranges by column".to_owned(),
                FacetOperator::Facet(FacetStrategy::Rings) => "rings by points".to_owned(),
                FacetOperator::Facet(FacetStrategy::Grid(plan)) => plan.strategy.name().to_owned(),
                FacetOperator::Statistics(StatisticsStrategy::BlockBounds, _) => "by bounds".into(),
                FacetOperator::Statistics(StatisticsStrategy::Dictionary, _) => "by terms".into(),
                FacetOperator::Statistics(StatisticsStrategy::Points, _) => "by points".into(),
                FacetOperator::TopHits(n, strategy) => format!("{n} best: {}", strategy.name()),
            };
            assert!(node.details.is_none(), "{own} is told to nobody");
            match &node.within[..] {
                [] => own,
                within => format!("{own} ({})", written(within)),
            }
        });
        nodes.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_plan_has_all_facets_in_the_order_asked_for() {
        let schema = Schema::builder()
            .field(Field::new("brand", FieldKind::Keyword).column(true))
            .field(Field::new("price", FieldKind::I64))
            .field(Field::new("age", FieldKind::I64).column(false))
            .build()
            .unwrap();
        let searcher = filled(schema, |writer| {
            for nth in 0..60_i64 {
                let document = Document::new().with("brand", format!("b{}", nth % 7));
                writer.add(document.with("price", nth).with("age", nth % 9)).unwrap();
            }
        });
        let query = searcher.parse("*").unwrap();
        let steps = Facet::histogram("price", 10).with_facet(Facet::values("age").by_value());
        let brands = Facet::values("brand").with_facet(steps).with_facet(Facet::statistics("age"));
        let search = searcher
            .search(&query)
            .with_facet(Facet::ranges("price", [(..5).into()]).top_hits(1))
            .with_facet(brands.top_hits(3))
            .with_facet(Facet::statistics("price"))
            .search();
        let execution =
            search.execution(&search.options(Goal::Count, false, None).unwrap()).unwrap();
        let plan = execution.plan();
        assert_eq!(
            written(&plan.facets),
            "ranges by column (1 best: the first in document order), \
             values of 7 terms (ranges by column (values of 9 terms), by terms, 3 best: the first in document order), by bounds"
        );
    }
}
