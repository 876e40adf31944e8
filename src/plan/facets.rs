//! Operators that count facets over the matches. They are beside those that find matches, each with those that look
//! into its buckets.
//!
//! | operator | finds | strategies |
//! |---|---|---|
//! | `Facet` | the documents of each bucket | of values a [`FacetMethod`], of ranges a [`RangesStrategy`](super::RangesStrategy), of cells a [`GridStrategy`] |
//! | `Statistics` | what the values say together | [`StatisticsStrategy`], of ranks a [`SpreadStrategy`](super::SpreadStrategy) |
//! | `TopHits` | the best documents of each bucket | [`TopHitsStrategy`] |

use super::adaptive::MatchBounds;
use super::cost::FacetSizes;
use super::estimate::Estimate;
use super::facet::{FacetMethod, FacetPlan, ValuesWanted};
use super::grid::{GridPlan, GridStrategy, points_ns};
use super::ranges::RangesPlan;
use super::spread::{SpreadOf, SpreadPlan};
use super::top_hits::TopHitsStrategy;
use super::{CostModel, Plan, PlanOptions, SegmentPlan};
use crate::error::Result;
use crate::geo::GridWanted;
use crate::ids::FieldId;

/// Buckets that a search may look into, at all depths together.
pub(crate) const BUCKETS_MAX: usize = 1 << 16;

/// Facet that is to be counted, with its names and options resolved.
#[derive(Clone, Debug)]
pub(crate) struct FacetWanted {
    pub(crate) field: FieldId,
    pub(crate) of: FacetOf,
    /// Method that counts values, where that is not left to the plan.
    pub(crate) method: Option<FacetMethod>,
    /// Whether values are told apart by a count of each, whatever else would cost less.
    pub(crate) is_tallied: bool,
    /// Whether it counts more than what matches: also what one of the conditions, of its own field, leaves out.
    pub(crate) is_selected: bool,
    pub(crate) within: Vec<FacetWanted>,
    /// Best documents of each bucket, and how they are found.
    pub(crate) hits: Option<(usize, TopHitsStrategy)>,
}

/// Part of a field that a facet is about.
#[derive(Clone, Debug)]
pub(crate) enum FacetOf {
    Values(ValuesWanted),
    Ranges,
    Quantiles,
    /// Cells of a grid, of a field of points.
    Grid(GridWanted),
    /// Distances from a point, of a field of points.
    Rings,
    /// All points together.
    Points,
    /// All values together, of a field with a column or without.
    Statistics {
        has_column: bool,
        spread: Option<SpreadOf>,
    },
}

/// Operator on what matches, or on each bucket of the one that it is within.
#[derive(Debug)]
pub(crate) struct FacetNode {
    pub(crate) operator: FacetOperator,
    pub(crate) field: FieldId,
    /// Details and estimates for people; none where that is nobody's business.
    pub(crate) details: Option<Box<FacetDetails>>,
    /// Operators on each of its buckets, in the order asked for.
    pub(crate) within: Vec<FacetNode>,
}

/// Kinds of operators, each with its strategy.
#[derive(Debug)]
pub(crate) enum FacetOperator {
    Facet(FacetStrategy),
    Statistics(StatisticsStrategy, Option<SpreadPlan>),
    TopHits(usize, TopHitsStrategy),
}

/// Ways to count the documents of buckets.
#[derive(Debug)]
pub(crate) enum FacetStrategy {
    Values(Box<FacetPlan>),
    /// Ranges of the codes of a column, which are cut first where they are to have as many values each.
    Ranges(RangesPlan),
    Grid(GridPlan),
    /// Distances of the points of each match.
    Rings,
}

/// Ways to look at the values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatisticsStrategy {
    BlockBounds,
    Dictionary,
    /// Points of each document that matches.
    Points,
}

/// Details of a facet that people are told.
#[derive(Clone, Debug, Default)]
pub(crate) struct FacetDetails {
    /// Values or ranges at the most; 0 where nobody says.
    pub(crate) limit: u64,
    /// Ranges and options in words.
    pub(crate) ranges: Option<String>,
    pub(crate) options: Option<String>,
    /// Documents that match without the selections that it leaves out, and what finding them is expected to cost.
    pub(crate) matches: Estimate,
    pub(crate) matching_ns: Option<f32>,
    /// Ranges that the values of its column may lie in; none where that is not known.
    pub(crate) n_ranges: Option<f64>,
    /// Whether a value may lie in several of them.
    pub(crate) may_overlap: bool,
    pub(crate) expected: Expected,
    /// Cost in all buckets, where it is not of values.
    pub(crate) cost_ns: u64,
}

/// Buckets that an operator is expected to work in; one of everything that matches, where it is within no other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected {
    pub(crate) buckets: f64,
    pub(crate) buckets_max: f64,
    pub(crate) documents: f64,
    /// Buckets that a document may be in at the most.
    pub(crate) overlap: f64,
}

impl FacetNode {
    pub(crate) fn values(&self) -> Option<&FacetPlan> {
        match &self.operator {
            FacetOperator::Facet(FacetStrategy::Values(plan)) => Some(plan),
            _ => None,
        }
    }

    /// Way to tell values apart, where it needs one.
    pub(crate) fn spread(&self) -> Option<&SpreadPlan> {
        match &self.operator {
            FacetOperator::Facet(FacetStrategy::Ranges(plan)) => plan.cut.as_ref(),
            FacetOperator::Statistics(_, spread) => spread.as_ref(),
            FacetOperator::Facet(
                FacetStrategy::Values(_) | FacetStrategy::Grid(_) | FacetStrategy::Rings,
            )
            | FacetOperator::TopHits(..) => None,
        }
    }

    pub(crate) fn grid(&self) -> Option<&GridPlan> {
        match &self.operator {
            FacetOperator::Facet(FacetStrategy::Grid(plan)) => Some(plan),
            _ => None,
        }
    }

    pub(crate) fn ranges(&self) -> Option<&RangesPlan> {
        match &self.operator {
            FacetOperator::Facet(FacetStrategy::Ranges(plan)) => Some(plan),
            _ => None,
        }
    }

    /// Whether its buckets are of points.
    pub(crate) fn counts_points(&self) -> bool {
        let strategy = match &self.operator {
            FacetOperator::Facet(strategy) => strategy,
            _ => return false,
        };
        matches!(strategy, FacetStrategy::Grid(_) | FacetStrategy::Rings)
    }

    fn new(
        wanted: &FacetWanted,
        segments: &[SegmentPlan<'_>],
        matches: &MatchBounds,
        is_within: bool,
        costs: &CostModel,
    ) -> Result<Self> {
        let FacetWanted { field, ref of, method, is_tallied, is_selected, hits, .. } = *wanted;
        // Buckets may have fewer, and what leaves selections out may have more.
        let mut matches = *matches;
        matches.lower = if is_within { 0 } else { matches.lower };
        matches.upper = if is_selected { matches.live } else { matches.upper };
        let spread =
            |wanted| SpreadPlan::new(segments, field, (wanted, is_tallied), &matches, costs);
        let operator = match of {
            FacetOf::Values(values) => {
                let all = matches.live + matches.deleted;
                let counted = if is_selected { all } else { matches.expected };
                let samples_of = (!is_within).then_some(counted as f64);
                let plan =
                    FacetPlan::new(segments, field, values, method, &matches, samples_of, costs)?;
                FacetOperator::Facet(FacetStrategy::Values(Box::new(plan)))
            }
            FacetOf::Ranges => {
                FacetOperator::Facet(FacetStrategy::Ranges(RangesPlan::new(None, costs)))
            }
            FacetOf::Grid(grid) => {
                let plan = GridPlan::new(segments, field, *grid, &matches, costs)?;
                FacetOperator::Facet(FacetStrategy::Grid(plan))
            }
            FacetOf::Rings => FacetOperator::Facet(FacetStrategy::Rings),
            FacetOf::Points => FacetOperator::Statistics(StatisticsStrategy::Points, None),
            FacetOf::Quantiles => {
                let cut = Some(spread(SpreadOf::EqualParts)?);
                FacetOperator::Facet(FacetStrategy::Ranges(RangesPlan::new(cut, costs)))
            }
            FacetOf::Statistics { has_column, spread: wanted } => {
                let strategy = match has_column {
                    true => StatisticsStrategy::BlockBounds,
                    false => StatisticsStrategy::Dictionary,
                };
                FacetOperator::Statistics(strategy, wanted.map(spread).transpose()?)
            }
        };
        let within = wanted.within.iter();
        let within = within.map(|inner| FacetNode::new(inner, segments, &matches, true, costs));
        let mut within = within.collect::<Result<Vec<_>>>()?;
        if let Some((n, strategy)) = hits {
            let operator = FacetOperator::TopHits(n, strategy);
            within.push(FacetNode { operator, field, details: None, within: vec![] });
        }
        Ok(FacetNode { operator, field, details: None, within })
    }

    /// Estimates buckets, documents and costs of what is told of, and of all within it.
    fn estimate(
        &mut self,
        segments: &[SegmentPlan<'_>],
        costs: &CostModel,
        around: Expected,
        is_within: bool,
    ) -> Result<()> {
        let Some(details) = &mut self.details else { return Ok(()) };
        details.expected = around;
        let in_all = |ns: f32| (f64::from(ns) * around.buckets).round() as u64;
        let sizes = match &mut self.operator {
            FacetOperator::Facet(FacetStrategy::Values(plan)) => {
                if is_within {
                    plan.choice = plan.choose(around.documents, None, costs);
                    plan.choice.cost_ns *= around.buckets as f32;
                    plan.choice.alternative_ns *= around.buckets as f32;
                }
                plan.sizes
            }
            FacetOperator::Facet(FacetStrategy::Grid(plan)) => {
                let sizes = FacetSizes::of_points(segments, self.field)?;
                let by_points = points_ns(&sizes, costs, around.documents);
                details.cost_ns = in_all(match plan.strategy {
                    GridStrategy::Pages => plan.pages_ns.unwrap_or(by_points),
                    GridStrategy::Points => by_points,
                });
                sizes
            }
            FacetOperator::Facet(FacetStrategy::Rings)
            | FacetOperator::Statistics(StatisticsStrategy::Points, _) => {
                let sizes = FacetSizes::of_points(segments, self.field)?;
                details.cost_ns = in_all(points_ns(&sizes, costs, around.documents));
                sizes
            }
            operator @ (FacetOperator::Facet(_) | FacetOperator::Statistics(..)) => {
                let sizes = FacetSizes::of(segments, self.field, None)?;
                let mut own_ns = match sizes.column_codes {
                    Some(_) => sizes.column_ns(costs, 0, around.documents),
                    None => costs.expand_ns(sizes.n_terms, sizes.n_with),
                };
                let n_live: u64 =
                    segments.iter().map(|part| u64::from(part.segment.n_live())).sum();
                if let FacetOperator::Facet(FacetStrategy::Ranges(plan)) = operator
                    && let Some(n_ranges) = details.n_ranges.filter(|_| !is_within)
                    && details.matches.lower == n_live
                {
                    own_ns = plan.expect(
                        segments,
                        self.field,
                        (n_ranges as u64).saturating_add(1),
                        own_ns,
                    )?;
                }
                details.cost_ns = in_all(own_ns);
                sizes
            }
            FacetOperator::TopHits(n, strategy) => {
                details.cost_ns = in_all(strategy.cost_ns(costs, *n, around.documents));
                return Ok(());
            }
        };
        let matches = details.matches;
        let expected = matches.documents.max(1) as f64;
        let of_buckets = self.buckets(&sizes, around);
        self.within.iter_mut().try_for_each(|inner| {
            if let FacetOperator::TopHits(n, _) = inner.operator {
                let limit = n as u64;
                inner.details =
                    Some(Box::new(FacetDetails { limit, matches, ..FacetDetails::default() }));
            }
            // Some leave out more selections than what they are within.
            let more =
                inner.details.as_ref().map_or(1.0, |it| it.matches.documents as f64 / expected);
            let documents = of_buckets.documents * more;
            inner.estimate(segments, costs, Expected { documents, ..of_buckets }, true)
        })
    }

    /// Expects buckets and their documents as if the value of rank r had 1/r of the most frequent one's, and ranges all as many.
    fn buckets(&self, sizes: &FacetSizes, around: Expected) -> Expected {
        let details = self.details.as_ref();
        let (n, most, share) = match self.values() {
            Some(plan) => {
                let (n_terms, limit) = (sizes.n_wanted.max(1) as f64, plan.values.limit as f64);
                let n = limit.min(n_terms);
                let share = (1.0 + n.max(1.0).ln()) / (1.0 + n_terms.ln());
                (n, limit.min(sizes.n_walked as f64), share)
            }
            None => {
                let n = details.and_then(|details| details.n_ranges);
                (n.unwrap_or(0.0), n.unwrap_or(BUCKETS_MAX as f64), 1.0)
            }
        };
        let with_value = sizes.n_with as f64 / f64::from(sizes.n_docs.max(1));
        // A bucket without documents is none, and missing values are one more.
        let shown = n.min((around.documents * with_value).ceil());
        let buckets = shown + f64::from(u8::from(with_value < 1.0));
        let documents = around.documents * (with_value * share + 1.0 - with_value);
        // A document is in no more cells than it has points.
        let most =
            if self.grid().is_some() { most.min(sizes.n_values.max(1) as f64) } else { most };
        let is_single = sizes.is_single && details.is_none_or(|details| !details.may_overlap);
        Expected {
            buckets: around.buckets * buckets,
            buckets_max: (around.buckets_max * (most + 1.0)).min(BUCKETS_MAX as f64),
            documents: documents / buckets.max(1.0),
            overlap: around.overlap * if is_single { 1.0 } else { most.max(1.0) },
        }
    }
}

impl Plan<'_> {
    pub(super) fn plan_facets(&mut self, options: &PlanOptions) -> Result<()> {
        let root = self.node(self.root()).estimate;
        for wanted in &options.facets {
            let Estimate { documents: expected, lower, upper, .. } = root;
            let live: u64 = self.segments.iter().map(|part| u64::from(part.segment.n_live())).sum();
            let deleted = self.n_docs() - live;
            let matches = MatchBounds { lower, expected, upper, live, deleted };
            let facet = FacetNode::new(wanted, &self.segments, &matches, false, self.costs)?;
            self.facets.push(facet);
        }
        Ok(())
    }

    /// Documents expected to match without some selections, and the expected cost of finding them.
    pub(crate) fn expected_unselected(&self) -> impl Iterator<Item = (Estimate, f32)> {
        let roots = self.sets[self.n_score_sets()..].iter();
        roots.map(|root| {
            let nodes = &self.nodes[self.nodes_of(*root)];
            (*self.display_estimate(*root), nodes.iter().map(|node| node.cost_ns).sum())
        })
    }

    /// Estimates what the facets that people are told of find, and what that costs.
    pub(crate) fn estimate_facets(&mut self) -> Result<()> {
        self.facets.iter_mut().try_for_each(|facet| {
            let matches = facet.details.as_ref().map_or(0, |details| details.matches.documents);
            let (buckets, documents) = (1.0, matches as f64);
            let around = Expected { buckets, buckets_max: 1.0, documents, overlap: 1.0 };
            facet.estimate(&self.segments, self.costs, around, false)
        })
    }
}
