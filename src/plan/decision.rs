//! Typed decisions of the planner. Taking one costs no strings, and tests can match on it; `explain` has the names of
//! the rules and puts them into words.

use super::{LeafId, NodeId};
use crate::bitmap::Kernel;

/// One decision about one operator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Decision {
    pub(crate) node: NodeId,
    pub(crate) rule: Rule,
    /// Expected cost of the operator this way.
    pub(crate) cost_ns: f32,
    /// Expected cost of the best alternative.
    pub(crate) alternative_ns: f32,
}

/// The rules, each with what it needs to be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    /// An intersection with a term that no document has.
    AbsentTerm(LeafId),
    /// An intersection whose inputs never meet in a container.
    NeverMeet,
    /// Inputs of an intersection from the smallest to the largest; `moved` where the query named them in another order.
    SmallestFirst { moved: bool },
    /// The kernel that most containers of the two smallest inputs take.
    Kernel { chosen: Kernel },
    /// An intersection's last step counts and writes nothing.
    CountLastStep,
    /// |A ∪ B| = |A| + |B| - |A ∩ B|.
    InclusionExclusion,
    /// The union of several inputs is counted while the last one is added.
    CountWhileUniting,
    /// All documents but some: count those and subtract.
    Complement,
    /// The number is known from the dictionary, statistics and headers; nothing is read.
    CountIsKnown,
    /// A term that every document has is no condition.
    EveryDocument(LeafId),
    /// A term that no document has adds nothing to a union.
    DropFromUnion(LeafId),
    /// The documents of a pattern are united as its terms are met.
    UniteTerms { terms: u64 },
    /// The values of about so many documents are compared; no posting list is read.
    ByColumn { documents: u64 },
    /// The lists of its terms are united: to compare the values of about so many documents would cost more.
    UniteLists { documents: u64 },
    /// The dictionary counts a range, and the values of about so many deleted documents are looked up.
    LessDeleted { documents: u64 },
    /// Only the smallest documents of a pattern are looked for.
    SmallestOfTerms { documents: u64 },
    /// Positions are read only of documents that have every word.
    PositionsLast { is_beside_others: bool },
    /// Points are compared of documents that all other conditions leave, about so many; `beside_pages` where their pages could be read.
    PointsLast { documents: u64, beside_pages: bool },
    /// Pages of points are read, so many that are in an area and so many on its border.
    ByPages { inside: u64, border: u64 },
    /// Documents are read only until the page is full.
    StopAtPage { documents: u64 },
}

impl Rule {
    /// Whether it holds also where the page reads the lists itself: it says what is there, or when words are placed.
    pub(crate) fn is_of_lists(self) -> bool {
        use Rule::{AbsentTerm, DropFromUnion, EveryDocument, NeverMeet, PositionsLast};
        matches!(
            self,
            AbsentTerm(_) | NeverMeet | EveryDocument(_) | DropFromUnion(_) | PositionsLast { .. }
        )
    }
}
