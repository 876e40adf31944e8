//! Forced alternatives to a plan's decisions, one at a time. They measure the worth of a decision.
//!
//! A plan that is forced finds the same as any other. A forced way replaces a strategy while the plan is made; whoever carries the
//! plan out reads its strategies and cannot tell whether one was forced.

use super::decision::{Decision, Rule};
use super::{FacetMethod, NodeId, Operator, Plan};
use crate::bitmap::Kernel;
use crate::nearest::{FoundNeighbors, Way};

/// One decision, taken otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forced {
    /// Inputs of an intersection in another order, in every window.
    Order(NodeId, InputOrder),
    /// Another kernel for the containers of an intersection, where it suits their kinds.
    Kernel(NodeId, Kernel),
    /// The root writes its documents where only their number is wanted.
    WriteThenCount,
    /// Postings are read although the number of documents is known.
    ReadPostings,
    /// Lists are united where the values of documents would be compared.
    UniteLists(NodeId),
    /// Values are compared where lists would be united.
    ByColumn(NodeId),
    /// Points of documents are compared where pages of them would be read.
    PointsByColumn(NodeId),
    /// Pages of points are read where points of documents would be compared.
    PointsByPages(NodeId),
    /// The documents of a range are found where the dictionary would be believed but for deleted ones.
    FindRange,
    /// The lists of a pattern are united where only its smallest documents would be looked for.
    UniteTerms,
    /// Words of phrases are placed before other conditions are looked at.
    PhrasesFirst,
    /// Everything that matches is collected where the page would be enough.
    CollectAll,
    /// Everything that matches is scored.
    ScoreAll,
    /// The best are found by bounds where everything would be scored.
    ByBounds,
    /// The words of a phrase are placed in all documents that have them.
    PlaceAll,
    /// Everything that matches is sorted.
    SortAll,
    /// A sorted page is found by the column, and not by lists in their order.
    WithoutStreams,
    /// A sorted page is found by lists in their order, whatever they cost.
    WithStreams,
    /// A sorted page is found by a key of every match, and not by boxes of points.
    EveryMatch,
    /// Groups are looked for in everything that matches at once.
    GroupAll,
    /// Neighbours of a vector, by their place in the plan, are found so.
    Neighbors { nth: u32, way: Way },
    /// Values of a facet, by its place in the search, are counted so.
    Facet { nth: u32, method: FacetMethod },
    /// Values of a facet, by its place in the search, are told apart by a count of each.
    Tally { nth: u32 },
}

/// Order of the inputs of an intersection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputOrder {
    LargestFirst,
    AsWritten,
}

impl Forced {
    /// Name for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Forced::Order(_, InputOrder::LargestFirst) => "largest first",
            Forced::Order(_, InputOrder::AsWritten) => "in the order of the query",
            Forced::Kernel(_, kernel) => kernel.name(),
            Forced::WriteThenCount => "write the result, then count it",
            Forced::ReadPostings => "read the postings",
            Forced::UniteLists(_) => "unite the lists of its terms",
            Forced::ByColumn(_) => "compare by the column",
            Forced::PointsByColumn(_) => "compare the points of documents",
            Forced::PointsByPages(_) => "read pages of points",
            Forced::FindRange => "find the documents of the range",
            Forced::UniteTerms => "unite the lists",
            Forced::PhrasesFirst => "place the words before other conditions",
            Forced::CollectAll => "collect every document",
            Forced::ScoreAll => "score every match",
            Forced::ByBounds => "top-k by bounds",
            Forced::PlaceAll => "place the words in every candidate",
            Forced::SortAll => "sort every match",
            Forced::EveryMatch => "the distance of every match",
            Forced::GroupAll => "group every match",
            Forced::WithoutStreams => "bounds of all blocks where something matches",
            Forced::WithStreams => "lists in the order of the field",
            Forced::Neighbors { way, .. } => way.name(),
            Forced::Tally { .. } => "a count of each value",
            Forced::Facet { method, .. } => method.name(),
        }
    }
}

/// Times of a search as it was planned and otherwise: of each alternative the least of several runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) chosen_ns: u64,
    pub(crate) others: Vec<(Forced, u64)>,
    pub(crate) recalls: Vec<MeasuredRecall>,
}

/// The nearest that a way found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MeasuredRecall {
    /// Place of the neighbours in the plan.
    pub(crate) nth: u32,
    /// None for what was chosen.
    pub(crate) way: Option<Way>,
    pub(crate) nearest: u64,
    pub(crate) recalled: u64,
}

impl MeasuredRecall {
    /// Compares what a way found with what comparing all vectors found.
    pub(crate) fn of(
        (nth, way): (u32, Option<Way>),
        found: &FoundNeighbors,
        exact: &FoundNeighbors,
    ) -> Self {
        let (nearest, recalled) = found.recalled_of(exact);
        MeasuredRecall { nth, way, nearest, recalled }
    }
}

impl Measured {
    /// Time of that alternative, if it was measured.
    pub(crate) fn of(&self, forced: Forced) -> Option<u64> {
        self.others.iter().find(|(other, _)| *other == forced).map(|(_, ns)| *ns)
    }

    /// Part of the nearest that a way found, or what was chosen.
    pub(crate) fn recall_of(&self, nth: u32, way: Option<Way>) -> Option<MeasuredRecall> {
        self.recalls.iter().find(|it| (it.nth, it.way) == (nth, way)).copied()
    }
}

impl Plan<'_> {
    /// Ways that can be taken instead of what was decided, first that to which the decision names the cost.
    pub(crate) fn otherwise(&self, decision: &Decision) -> Vec<Forced> {
        let id = decision.node;
        let counts = self.counts(id);
        let way = match decision.rule {
            Rule::AbsentTerm(_) | Rule::NeverMeet | Rule::CountIsKnown => {
                counts.then_some(Forced::ReadPostings)
            }
            Rule::SmallestFirst { moved } => {
                let is_long = matches!(&self.node(id).operator, Operator::Intersect { all, .. } if all.len() > 2);
                let as_written = (moved && is_long).then_some(InputOrder::AsWritten);
                let orders = [InputOrder::LargestFirst].into_iter().chain(as_written);
                return orders.map(|order| Forced::Order(id, order)).collect();
            }
            Rule::Kernel { chosen } => match &self.node(id).operator {
                // Two lists that are counted without deleted documents have more than two containers that meet at once.
                Operator::Intersect { all, none }
                    if all.len() > 2 || all.len() == 2 && (!counts || none.is_empty()) =>
                {
                    Some(Forced::Kernel(id, chosen.alternative()))
                }
                _ => None,
            },
            Rule::CountLastStep
            | Rule::InclusionExclusion
            | Rule::CountWhileUniting
            | Rule::Complement => counts.then_some(Forced::WriteThenCount),
            Rule::ByColumn { .. } => Some(Forced::UniteLists(id)),
            Rule::UniteLists { .. } => Some(Forced::ByColumn(id)),
            Rule::LessDeleted { .. } => Some(Forced::FindRange),
            Rule::SmallestOfTerms { .. } => Some(Forced::UniteTerms),
            Rule::PositionsLast { is_beside_others } => {
                is_beside_others.then_some(Forced::PhrasesFirst)
            }
            Rule::StopAtPage { .. } => Some(Forced::CollectAll),
            Rule::EveryDocument(_) | Rule::DropFromUnion(_) | Rule::UniteTerms { .. } => None,
            Rule::PointsLast { beside_pages, .. } => {
                beside_pages.then_some(Forced::PointsByPages(id))
            }
            Rule::ByPages { .. } => Some(Forced::PointsByColumn(id)),
        };
        way.into_iter().collect()
    }

    /// Overrides what operators do in every window.
    pub(super) fn override_steps(&mut self) {
        let Some(Forced::Order(id, _) | Forced::Kernel(id, _)) = self.forced else { return };
        let Some(node) = self.nodes.get_mut(id.index()) else { return };
        match self.forced {
            Some(Forced::Kernel(_, kernel)) => node.kernel = Some(kernel),
            _ => node.keeps_order = true,
        }
    }
}
