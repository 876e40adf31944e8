//! Operators that count facets over what matches: beside the matching ones, each with those that look into its buckets.
//!
//! | operator | finds | strategies |
//! |---|---|---|
//! | `Facet` | the documents of each bucket | of values a [`FacetMethod`], of ranges the column |
//! | `Statistics` | what the values say together | [`StatisticsStrategy`] |
//! | `TopHits` | the best documents of each bucket | |

use super::cost::FacetSizes;
use super::facet::{FacetMethod, FacetPlan, ValuesWanted};
use super::{CostModel, Plan, PlanOptions, SegmentPlan};
use crate::error::Result;
use crate::ids::FieldId;

/// Facet that is to be counted, with its names and options resolved.
#[derive(Clone, Debug)]
pub(crate) struct FacetWanted {
    pub(crate) field: FieldId,
    pub(crate) of: FacetOf,
    /// Method that counts values, where that is not left to the plan.
    pub(crate) method: Option<FacetMethod>,
    /// Whether it counts more than what matches: also what one of the conditions, of its own field, leaves out.
    pub(crate) is_selected: bool,
    pub(crate) within: Vec<FacetWanted>,
    /// Best documents of each bucket.
    pub(crate) hits: usize,
}

/// Part of a field that a facet is about.
#[derive(Clone, Debug)]
pub(crate) enum FacetOf {
    Values(ValuesWanted),
    Ranges,
    /// All values together, of a field with a column or without.
    Statistics {
        has_column: bool,
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
    Statistics(StatisticsStrategy),
    TopHits(usize),
}

/// Ways to count the documents of buckets.
#[derive(Debug)]
pub(crate) enum FacetStrategy {
    Values(Box<FacetPlan>),
    /// Ranges of the codes of a column.
    Column,
}

/// Ways to look at the values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatisticsStrategy {
    BlockBounds,
    Dictionary,
}

/// Details of a facet that people are told.
#[derive(Clone, Debug, Default)]
pub(crate) struct FacetDetails {
    /// Values or ranges at the most; 0 where nobody says.
    pub(crate) limit: u64,
    /// Ranges and options in words.
    pub(crate) ranges: Option<String>,
    pub(crate) options: Option<String>,
    /// Documents that are expected to match without the selections that it leaves out.
    pub(crate) matches: f64,
    /// Ranges that the values of its column may lie in.
    pub(crate) n_ranges: f64,
    /// Buckets that it is expected to be counted in, where it is within another.
    pub(crate) expected: Option<Expected>,
    /// Costs of the column and of the posting lists in all of these, where it is not of values.
    pub(crate) column_ns: u64,
    pub(crate) lists_ns: u64,
}

/// Buckets that a facet is expected to be counted in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    pub(crate) buckets: f64,
    /// In each of them.
    pub(crate) documents: f64,
}

impl FacetNode {
    /// The way to count values, where it does.
    pub(crate) fn values(&self) -> Option<&FacetPlan> {
        match &self.operator {
            FacetOperator::Facet(FacetStrategy::Values(plan)) => Some(plan),
            _ => None,
        }
    }

    fn new(wanted: &FacetWanted, segments: &[SegmentPlan<'_>], costs: &CostModel) -> Result<Self> {
        let FacetWanted { field, ref of, method, hits, .. } = *wanted;
        let operator = match of {
            FacetOf::Values(values) => {
                let plan = FacetPlan::new(segments, field, values, method, costs)?;
                FacetOperator::Facet(FacetStrategy::Values(Box::new(plan)))
            }
            FacetOf::Ranges => FacetOperator::Facet(FacetStrategy::Column),
            FacetOf::Statistics { has_column } => FacetOperator::Statistics(match has_column {
                true => StatisticsStrategy::BlockBounds,
                false => StatisticsStrategy::Dictionary,
            }),
        };
        let within = wanted.within.iter().map(|inner| FacetNode::new(inner, segments, costs));
        let mut within = within.collect::<Result<Vec<_>>>()?;
        if hits > 0 {
            let operator = FacetOperator::TopHits(hits);
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
        details.expected = is_within.then_some(around);
        let in_all = |ns: f32| (f64::from(ns) * around.buckets).round() as u64;
        let sizes = match &mut self.operator {
            FacetOperator::Facet(FacetStrategy::Values(plan)) => {
                if is_within {
                    plan.choice = plan.choose(around.documents, None);
                    plan.choice.cost_ns *= around.buckets as f32;
                    plan.choice.alternative_ns *= around.buckets as f32;
                }
                plan.sizes
            }
            FacetOperator::Facet(FacetStrategy::Column) | FacetOperator::Statistics(_) => {
                let sizes = FacetSizes::of(segments, self.field, None)?;
                if sizes.column_codes.is_some() {
                    details.column_ns = in_all(sizes.column_ns(costs, 0, around.documents));
                }
                details.lists_ns = in_all(costs.expand_ns(sizes.n_terms, sizes.n_with));
                sizes
            }
            FacetOperator::TopHits(_) => return Ok(()),
        };
        let matches = details.matches.max(1.0);
        let of_buckets = self.buckets(&sizes, around);
        self.within.iter_mut().try_for_each(|inner| {
            // Some leave out more selections than what they are within.
            let more = inner.details.as_ref().map_or(1.0, |details| details.matches / matches);
            let documents = of_buckets.documents * more;
            inner.estimate(segments, costs, Expected { documents, ..of_buckets }, true)
        })
    }

    /// Buckets that it is expected to have in all that it is counted in itself, and the documents of each of these: as if
    /// the value of rank r had 1/r of the most frequent one's documents, and ranges had the same.
    fn buckets(&self, sizes: &FacetSizes, around: Expected) -> Expected {
        let (n, share) = match self.values() {
            Some(plan) => {
                let n_terms = sizes.n_wanted.max(1) as f64;
                let n = (plan.values.limit as f64).min(n_terms);
                (n, (1.0 + n.max(1.0).ln()) / (1.0 + n_terms.ln()))
            }
            None => (self.details.as_ref().map_or(0.0, |details| details.n_ranges), 1.0),
        };
        let with_value = sizes.n_with as f64 / f64::from(sizes.n_docs.max(1));
        // What no document lies in is no bucket, and what has no value is one more.
        let shown = n.min((around.documents * with_value).ceil());
        let buckets = shown + f64::from(u8::from(with_value < 1.0));
        let documents = around.documents * (with_value * share + 1.0 - with_value);
        Expected { buckets: around.buckets * buckets, documents: documents / buckets.max(1.0) }
    }
}

impl Plan<'_> {
    /// Number of deleted documents of the snapshot, where it is certain that all others match.
    fn matches_all_but(&self) -> Option<u64> {
        let n_live: u64 = self.segments.iter().map(|part| u64::from(part.segment.n_live())).sum();
        let everything = self.node(self.root()).estimate.lower == n_live;
        everything.then(|| self.n_docs() - n_live)
    }

    pub(super) fn plan_facets(&mut self, options: &PlanOptions) -> Result<()> {
        let all_but = self.matches_all_but();
        let matches = self.node(self.root()).estimate.documents as f64;
        for wanted in &options.facets {
            let mut facet = FacetNode::new(wanted, &self.segments, self.costs)?;
            if let FacetOperator::Facet(FacetStrategy::Values(plan)) = &mut facet.operator {
                let n_docs = f64::from(plan.sizes.n_docs);
                let counted = if wanted.is_selected { n_docs } else { matches };
                plan.sizes.sample = plan.sample_of_terms(&self.segments, counted)?;
                plan.choice = plan.choose(matches, all_but);
            }
            self.facets.push(facet);
        }
        Ok(())
    }

    /// Estimates what the facets that people are told of find, and what that costs.
    pub(crate) fn estimate_facets(&mut self) -> Result<()> {
        self.facets.iter_mut().try_for_each(|facet| {
            let documents = facet.details.as_ref().map_or(0.0, |details| details.matches);
            facet.estimate(&self.segments, self.costs, Expected { buckets: 1.0, documents }, false)
        })
    }
}
