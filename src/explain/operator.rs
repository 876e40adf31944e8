//! Operators of plans by their names.

use crate::named::named_or_other;

/// Operator of a node. Its name is that of the variant, in JSON and wherever plans are printed.
///
/// ```
/// use treepie::explain::ExplainOperator;
///
/// assert_eq!(ExplainOperator::from("TermScan"), ExplainOperator::TermScan);
/// assert_eq!(ExplainOperator::AtLeast.to_string(), "AtLeast");
/// // A plan of a later version is read, too.
/// assert_eq!(ExplainOperator::from("Teleport").name(), "Teleport");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExplainOperator {
    /// Best documents by score.
    TopK,
    /// First documents in the order of their numbers.
    Limit,
    /// First documents in the order of fields or expressions.
    Sort,
    /// Best of each value of a field.
    Collapse,
    /// Best of several ranked lists, by what each adds. They are its inputs, behind the first, which is what matches.
    Fuse,
    /// List of documents that came from outside, with their ranks.
    RankedList,
    /// Number of documents that match, if a page does not meet them all.
    Count,
    /// Values or ranges of a field with their documents, or statistics of the field.
    Facet,
    /// Best documents of each bucket of a facet.
    TopHits,
    /// Documents that all inputs have, and none that is marked `NOT`.
    Intersect,
    /// Documents that the first input has and the others do not.
    Difference,
    /// Documents that some input has.
    Union,
    /// Documents that a minimum of inputs has.
    AtLeast,
    /// Documents of the input with the words in the right places.
    Phrase,
    /// Documents with one term.
    TermScan,
    /// Documents with any value of a field.
    Exists,
    /// Documents with one of the terms of a pattern or a range.
    Expand,
    /// Documents whose value is in a range, by looking at values of a column.
    ColumnScan,
    /// Documents with a point in an area, by looking at points.
    GeoScan,
    /// Documents with the vectors nearest to another, of those that the input has.
    Nearest,
    /// Deleted documents.
    Deleted,
    /// All documents.
    All,
    /// No documents.
    #[default]
    Nothing,
    /// Operator that this version does not have, by its name. It is of a later version, or of a plan made by hand.
    Other(String),
}

named_or_other! {
    /// Name of the operator.
    pub ExplainOperator {
        TopK, Limit, Sort, Collapse, Fuse, RankedList, Count, Facet, TopHits, Intersect, Difference, Union, AtLeast, Phrase, TermScan, Exists,
        Expand, ColumnScan, GeoScan, Nearest, Deleted, All, Nothing
    }
}

impl ExplainOperator {
    /// Operators that make a page of what their input finds, or count it.
    pub(super) const PAGES: [Self; 6] =
        [Self::Limit, Self::TopK, Self::Sort, Self::Collapse, Self::Fuse, Self::Count];
    /// Operators that read documents and have no inputs.
    pub(super) const LEAVES: [Self; 5] =
        [Self::TermScan, Self::Exists, Self::Expand, Self::ColumnScan, Self::GeoScan];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::{ExplainNode, ExplainTree, WordKind, glossary};
    use std::collections::HashSet;

    #[test]
    fn the_glossary_has_every_operator_and_no_other() {
        let words = glossary().into_iter().filter(|entry| entry.kind == WordKind::Operator);
        let words: Vec<_> = words.map(|entry| entry.word).collect();
        let operators: HashSet<_> = words.iter().map(|word| ExplainOperator::from(*word)).collect();
        assert_eq!((words.len(), operators.len()), (23, 23), "{operators:?}");
        for (operator, word) in words.iter().map(|word| (ExplainOperator::from(*word), word)) {
            assert!(!matches!(operator, ExplainOperator::Other(_)), "{operator}");
            assert_eq!(operator.name(), *word);
        }
    }

    #[test]
    fn operators_of_other_versions_are_read_and_written_by_their_names() {
        for name in ["TermScan", "termscan", "Teleport", "", "a \"b\"\n"] {
            let tree = ExplainTree::new("rust", ExplainNode::new(name, "title:rust"));
            let json = tree.to_json();
            let read = ExplainTree::from_json(&json).unwrap();
            assert_eq!((&read, read.plan.operator.name()), (&tree, name));
            assert_eq!(read.to_json(), json);
        }
        assert!(matches!(ExplainOperator::from("termscan"), ExplainOperator::Other(_)));
    }
}
