//! Decisions on the matching operators in words.

use crate::plan::LeafId;
use crate::plan::decision::Rule;
use crate::plural::counted;

/// Returns the name of a rule, and of what would be done otherwise.
pub(super) fn named(rule: Rule) -> (&'static str, &'static str) {
    match rule {
        Rule::AbsentTerm(_) => ("prove empty", "intersect the rest"),
        Rule::NeverMeet => ("prove empty", "intersect them"),
        Rule::SmallestFirst { .. } => ("smallest first", "largest first"),
        Rule::Kernel { chosen } => ("kernel", chosen.alternative().name()),
        Rule::CountLastStep => ("count the last step", "write the result, then count it"),
        Rule::InclusionExclusion => ("inclusion and exclusion", "unite and count"),
        Rule::CountWhileUniting => ("count while uniting", "write the union, then count it"),
        Rule::Complement => ("count the complement", "write everything else, then count it"),
        Rule::CountIsKnown => ("count is known", "read the postings"),
        Rule::EveryDocument(_) => ("every document has it", "read it"),
        Rule::DropFromUnion(_) => ("no document has it", "unite with nothing"),
        Rule::UniteTerms { .. } => ("unite the terms", "an operator for each term"),
        Rule::ByColumn { .. } => ("compare by the column", "unite the lists of its terms"),
        Rule::PointsLast { beside_pages: false, .. } => {
            ("points last", "compare the points of all documents")
        }
        Rule::PointsLast { beside_pages: true, .. } => ("points last", "read pages of points"),
        Rule::ByPages { .. } => ("pages of points", "compare the points of documents"),
        Rule::UniteLists { .. } => ("unite the lists", "compare by the column"),
        Rule::LessDeleted { .. } => {
            let other = "find the documents of the range, without deleted ones";
            ("take deleted documents away", other)
        }
        Rule::SmallestOfTerms { .. } => ("smallest documents", "unite the lists"),
        Rule::PositionsLast { is_beside_others: true } => {
            ("positions last", "place the words before other conditions")
        }
        Rule::PositionsLast { is_beside_others: false } => {
            ("positions last", "place the words in every document of the rarest one")
        }
        Rule::StopAtPage { .. } => ("stop at the page", "collect every document"),
    }
}

/// Says why a rule holds; `leaf` is the query that a leaf answers.
pub(super) fn reason(rule: Rule, leaf: impl Fn(LeafId) -> String) -> String {
    match rule {
        Rule::AbsentTerm(absent) => format!("no document has {}", leaf(absent)),
        Rule::NeverMeet => {
            "the bounds leave no document: inputs that are never in the same container, \
             or exclude each other"
                .into()
        }
        Rule::SmallestFirst { moved } => {
            let order = match moved {
                true => "moved from the order of the query",
                false => "the query's order already",
            };
            format!("the smallest input decides what the others are asked for; {order}")
        }
        Rule::Kernel { chosen } => {
            let kernel = chosen.name();
            format!("{kernel} suits most containers of the two smallest inputs")
        }
        Rule::CountLastStep => "only the number is wanted, so the last step writes nothing".into(),
        Rule::InclusionExclusion => "|A| + |B| - |A AND B|: both sizes are known".into(),
        Rule::CountWhileUniting => {
            "the last input is only compared with what the others left".into()
        }
        Rule::Complement => "count what is excluded and subtract".into(),
        Rule::CountIsKnown => {
            "the dictionary, statistics and headers say it; no postings are read".into()
        }
        Rule::EveryDocument(all) => {
            format!("every document has {}, so it is no condition", leaf(all))
        }
        Rule::DropFromUnion(absent) => {
            format!("no document has {}, so it adds nothing", leaf(absent))
        }
        Rule::UniteTerms { terms } => {
            let each = "sets a bit for each document; nothing is planned for each of them";
            format!("one pass over {} or so {each}", counted(terms, "term"))
        }
        Rule::ByColumn { documents } => format!(
            "the values of the documents that all else leaves are compared, \
             of {documents} or so; no posting list is read"
        ),
        Rule::PointsLast { documents, .. } => format!(
            "the points of the documents that all else leaves are compared, of {documents} or so"
        ),
        Rule::ByPages { inside, border } => format!(
            "{} in the area, whose points are not looked at, and {} on its border",
            counted(inside, "page"),
            counted(border, "page")
        ),
        Rule::UniteLists { documents } => format!(
            "uniting the lists of its terms costs less than comparing the values \
                 of the documents that all else leaves, of {documents} or so"
        ),
        Rule::LessDeleted { documents } => format!(
            "the dictionary says how many documents lie in the range, and the values \
                 of {documents} deleted ones say how many of them do not count"
        ),
        Rule::SmallestOfTerms { documents } => format!(
            "only the {documents} smallest documents are wanted, \
                 so each list is left at the first that is too large"
        ),
        Rule::PositionsLast { .. } => {
            "only documents that every other condition leaves are opened for positions, \
             one word after the other"
                .into()
        }
        Rule::StopAtPage { documents } => {
            let rest = "further windows are only counted, or not visited";
            format!("the page is full after {}; {rest}", counted(documents, "document"))
        }
    }
}
