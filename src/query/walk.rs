//! Walks through a whole tree, without recursion. A tree built by hand may be deeper than the stack, and dropping,
//! copying, comparing or printing it must not be what finds out.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem::{discriminant, replace};
use std::ops::Bound;
use std::slice::from_ref;

use super::{Boost, PhrasePart, Place, Query};

impl Query {
    /// The queries that this one is made of, by the role they play in it.
    fn parts(&self) -> [&[Query]; 3] {
        match self {
            Query::And(queries) | Query::Or(queries) | Query::DisMax { any: queries, .. } => {
                [queries, &[], &[]]
            }
            Query::Not(query)
            | Query::Boost { query, .. }
            | Query::ConstantScore { query, .. }
            | Query::Fields { query, .. } => [from_ref(&**query), &[], &[]],
            Query::Group { must, should, must_not, .. } => [must, should, must_not],
            Query::All
            | Query::Nothing
            | Query::Word { .. }
            | Query::Phrase { .. }
            | Query::PhraseOf { .. }
            | Query::Prefix { .. }
            | Query::Wildcard { .. }
            | Query::Regex { .. }
            | Query::Fuzzy { .. }
            | Query::Range { .. }
            | Query::InSet { .. }
            | Query::Exists { .. }
            | Query::Nearest { .. }
            | Query::Area { .. } => [&[], &[], &[]],
        }
    }

    /// The queries that this one is made of, in the order they print.
    pub(crate) fn children(&self) -> impl DoubleEndedIterator<Item = &Query> {
        self.parts().into_iter().flatten()
    }

    /// Whether it is made of no others.
    pub(crate) fn is_leaf(&self) -> bool {
        self.parts().iter().all(|part| part.is_empty())
    }

    /// The field of a leaf that stands for terms, where it names one; `None` for all else.
    pub(crate) fn field_of_terms(&self) -> Option<&Option<String>> {
        match self {
            Query::Word { field, .. }
            | Query::Phrase { field, .. }
            | Query::PhraseOf { field, .. }
            | Query::Prefix { field, .. }
            | Query::Wildcard { field, .. }
            | Query::Regex { field, .. }
            | Query::Fuzzy { field, .. }
            | Query::Range { field, .. }
            | Query::InSet { field, .. } => Some(field),
            Query::All
            | Query::Nothing
            | Query::Exists { .. }
            | Query::Nearest { .. }
            | Query::Area { .. }
            | Query::And(_)
            | Query::Or(_)
            | Query::Not(_)
            | Query::Group { .. }
            | Query::DisMax { .. }
            | Query::Boost { .. }
            | Query::ConstantScore { .. }
            | Query::Fields { .. } => None,
        }
    }

    /// Field of a node's values, to be changed, and its place in the text.
    pub(super) fn field_of_terms_mut(&mut self) -> Option<(&mut Option<String>, &mut Place)> {
        match self {
            Query::Word { field, place, .. }
            | Query::Phrase { field, place, .. }
            | Query::PhraseOf { field, place, .. }
            | Query::Prefix { field, place, .. }
            | Query::Wildcard { field, place, .. }
            | Query::Regex { field, place, .. }
            | Query::Fuzzy { field, place, .. }
            | Query::Range { field, place, .. }
            | Query::InSet { field, place, .. }
            | Query::Nearest { field, place, .. }
            | Query::Area { field, place, .. } => Some((field, place)),
            _ => None,
        }
    }

    /// About how many bytes of memory the whole tree takes.
    pub(crate) fn heap_bytes(&self) -> usize {
        let (mut bytes, mut waiting) = (0, vec![self]);
        while let Some(query) = waiting.pop() {
            bytes += size_of::<Query>() + query.text_bytes();
            waiting.extend(query.children());
            if let Query::PhraseOf { parts, .. } = query {
                waiting.extend(parts.iter().map(PhrasePart::query));
            }
        }
        bytes
    }

    /// Bytes of the texts of a node, without its children.
    fn text_bytes(&self) -> usize {
        let of_text = |text: &String| size_of::<String>() + text.len();
        let of_bound = |bound: &Bound<String>| match bound {
            Bound::Included(text) | Bound::Excluded(text) => text.len(),
            Bound::Unbounded => 0,
        };
        let of_field = self.field_of_terms().and_then(Option::as_ref).map_or(0, String::len);
        of_field
            + match self {
                Query::Word { text, .. }
                | Query::Phrase { text, .. }
                | Query::Prefix { text, .. }
                | Query::Fuzzy { text, .. }
                | Query::Wildcard { pattern: text, .. }
                | Query::Regex { pattern: text, .. }
                | Query::Exists { field: text, .. } => text.len(),
                Query::Range { lower, upper, .. } => of_bound(lower) + of_bound(upper),
                Query::InSet { values, .. } => values.iter().map(of_text).sum(),
                Query::Nearest { vector, .. } => vector.heap_bytes(),
                Query::Fields { fields, .. } => {
                    fields.iter().map(|(name, _)| of_text(name) + size_of::<Boost>()).sum()
                }
                Query::Area { area, .. } => area.heap_bytes(),
                Query::All
                | Query::Nothing
                | Query::PhraseOf { .. }
                | Query::And(_)
                | Query::Or(_)
                | Query::Not(_)
                | Query::Group { .. }
                | Query::DisMax { .. }
                | Query::Boost { .. }
                | Query::ConstantScore { .. } => 0,
            }
    }

    /// Moves the children that have children themselves to `out`, which leaves this a shallow tree.
    fn take_deep_children(&mut self, out: &mut Vec<Query>) {
        match self {
            Query::And(queries) | Query::Or(queries) | Query::DisMax { any: queries, .. } => {
                out.append(queries);
            }
            Query::Group { must, should, must_not, .. } => {
                out.append(must);
                out.append(should);
                out.append(must_not);
            }
            Query::Not(query)
            | Query::Boost { query, .. }
            | Query::ConstantScore { query, .. }
            | Query::Fields { query, .. }
                if !query.is_leaf() =>
            {
                out.push(replace(query, Query::All));
            }
            _ => {}
        }
    }

    /// This node with other children, as many as it has.
    pub(super) fn with_children(&self, children: impl IntoIterator<Item = Query>) -> Query {
        let mut children = children.into_iter();
        let mut take = |part: &[Query]| children.by_ref().take(part.len()).collect::<Vec<_>>();
        match self {
            Query::And(all) => Query::And(take(all)),
            Query::Or(any) => Query::Or(take(any)),
            Query::DisMax { any, tie } => Query::DisMax { any: take(any), tie: *tie },
            Query::Group { must, should, must_not, minimum } => Query::Group {
                must: take(must),
                should: take(should),
                must_not: take(must_not),
                minimum: *minimum,
            },
            Query::Not(_) => Query::Not(one(children)),
            Query::Boost { boost, .. } => Query::Boost { query: one(children), boost: *boost },
            Query::ConstantScore { score, .. } => {
                Query::ConstantScore { query: one(children), score: *score }
            }
            Query::Fields { fields, combined, .. } => {
                let (fields, combined) = (fields.clone(), *combined);
                Query::Fields { fields, combined, query: one(children) }
            }
            leaf => leaf.clone_leaf(),
        }
    }

    /// A copy of a node without children.
    fn clone_leaf(&self) -> Query {
        match self {
            Query::Word { field, text, place } => {
                Query::Word { field: field.clone(), text: text.clone(), place: place.clone() }
            }
            Query::Phrase { field, text, prefix, proximity, place } => Query::Phrase {
                field: field.clone(),
                text: text.clone(),
                prefix: *prefix,
                proximity: *proximity,
                place: place.clone(),
            },
            Query::PhraseOf { field, parts, proximity, place } => Query::PhraseOf {
                field: field.clone(),
                parts: parts.clone(),
                proximity: *proximity,
                place: place.clone(),
            },
            Query::Prefix { field, text, place } => {
                Query::Prefix { field: field.clone(), text: text.clone(), place: place.clone() }
            }
            Query::Wildcard { field, pattern, place } => Query::Wildcard {
                field: field.clone(),
                pattern: pattern.clone(),
                place: place.clone(),
            },
            Query::Regex { field, pattern, place } => Query::Regex {
                field: field.clone(),
                pattern: pattern.clone(),
                place: place.clone(),
            },
            Query::Fuzzy { field, text, fuzziness, place } => Query::Fuzzy {
                field: field.clone(),
                text: text.clone(),
                fuzziness: *fuzziness,
                place: place.clone(),
            },
            Query::Range { field, lower, upper, place } => Query::Range {
                field: field.clone(),
                lower: lower.clone(),
                upper: upper.clone(),
                place: place.clone(),
            },
            Query::InSet { field, values, place } => {
                Query::InSet { field: field.clone(), values: values.clone(), place: place.clone() }
            }
            Query::Exists { field, place } => {
                Query::Exists { field: field.clone(), place: place.clone() }
            }
            Query::Nearest { field, vector, wanted, place } => Query::Nearest {
                field: field.clone(),
                vector: vector.clone(),
                wanted: *wanted,
                place: place.clone(),
            },
            Query::Area { field, relation, area, place } => Query::Area {
                field: field.clone(),
                relation: *relation,
                area: area.clone(),
                place: place.clone(),
            },
            Query::Nothing => Query::Nothing,
            _ => Query::All,
        }
    }

    /// Whether two nodes say the same, their children aside but for how many there are.
    fn is_same_node(&self, other: &Query) -> bool {
        use Query::*;
        let same = match (self, other) {
            (Word { field: f, text: t, .. }, Word { field, text, .. }) => f == field && t == text,
            (
                Phrase { field: f, text: t, prefix: p, proximity: n, .. },
                Phrase { field, text, prefix, proximity, .. },
            ) => f == field && t == text && p == prefix && n == proximity,
            (
                PhraseOf { field: f, parts: p, proximity: n, .. },
                PhraseOf { field, parts, proximity, .. },
            ) => f == field && p == parts && n == proximity,
            (Prefix { field: f, text: t, .. }, Prefix { field, text, .. }) => {
                f == field && t == text
            }
            (Wildcard { field: f, pattern: p, .. }, Wildcard { field, pattern, .. })
            | (Regex { field: f, pattern: p, .. }, Regex { field, pattern, .. }) => {
                f == field && p == pattern
            }
            (
                Fuzzy { field: f, text: t, fuzziness: z, .. },
                Fuzzy { field, text, fuzziness, .. },
            ) => f == field && t == text && z == fuzziness,
            (Range { field: f, lower: l, upper: u, .. }, Range { field, lower, upper, .. }) => {
                f == field && l == lower && u == upper
            }
            (InSet { field: f, values: v, .. }, InSet { field, values, .. }) => {
                f == field && v == values
            }
            (Exists { field: f, .. }, Exists { field, .. }) => f == field,
            (
                Nearest { field: f, vector: v, wanted: w, .. },
                Nearest { field, vector, wanted, .. },
            ) => f == field && v == vector && w == wanted,
            (Area { field: f, relation: r, area: a, .. }, Area { field, relation, area, .. }) => {
                f == field && r == relation && a == area
            }
            (DisMax { tie: t, .. }, DisMax { tie, .. }) => t == tie,
            (Group { minimum: m, .. }, Group { minimum, .. }) => m == minimum,
            (Boost { boost: b, .. }, Boost { boost, .. }) => b == boost,
            (ConstantScore { score: s, .. }, ConstantScore { score, .. }) => s == score,
            (Fields { fields: f, combined: c, .. }, Fields { fields, combined, .. }) => {
                f == fields && c == combined
            }
            _ => discriminant(self) == discriminant(other),
        };
        same && self.parts().map(<[_]>::len) == other.parts().map(<[_]>::len)
    }
}

fn one(mut children: impl Iterator<Item = Query>) -> Box<Query> {
    Box::new(children.next().unwrap_or(Query::All))
}

impl Drop for Query {
    fn drop(&mut self) {
        if self.children().all(Query::is_leaf) {
            return;
        }
        let mut todo = vec![];
        self.take_deep_children(&mut todo);
        while let Some(mut query) = todo.pop() {
            query.take_deep_children(&mut todo);
        }
    }
}

impl Clone for Query {
    fn clone(&self) -> Self {
        // From the root to the right is the reverse of children before their parent, left to right.
        let (mut order, mut todo) = (vec![], vec![self]);
        while let Some(query) = todo.pop() {
            order.push(query);
            todo.extend(query.children());
        }
        let mut built: Vec<Query> = vec![];
        for query in order.into_iter().rev() {
            let n_children: usize = query.parts().iter().map(|part| part.len()).sum();
            let children = built.split_off(built.len() - n_children);
            built.push(query.with_children(children));
        }
        built.pop().unwrap_or(Query::All)
    }
}

impl PartialEq for Query {
    fn eq(&self, other: &Self) -> bool {
        let mut todo = vec![(self, other)];
        while let Some((a, b)) = todo.pop() {
            if !a.is_same_node(b) {
                return false;
            }
            todo.extend(a.children().zip(b.children()));
        }
        true
    }
}

impl Eq for Query {}

impl Hash for Query {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut todo = vec![self];
        while let Some(query) = todo.pop() {
            discriminant(query).hash(state);
            query.parts().map(<[_]>::len).hash(state);
            match query {
                Query::Word { field, text, .. } | Query::Prefix { field, text, .. } => {
                    (field, text).hash(state);
                }
                Query::Phrase { field, text, prefix, proximity, .. } => {
                    (field, text, prefix, proximity).hash(state);
                }
                Query::PhraseOf { field, parts, proximity, .. } => {
                    (field, parts, proximity).hash(state);
                }
                Query::Wildcard { field, pattern, .. } | Query::Regex { field, pattern, .. } => {
                    (field, pattern).hash(state);
                }
                Query::Fuzzy { field, text, fuzziness, .. } => (field, text, fuzziness).hash(state),
                Query::Range { field, lower, upper, .. } => (field, lower, upper).hash(state),
                Query::InSet { field, values, .. } => (field, values).hash(state),
                Query::Exists { field, .. } => field.hash(state),
                Query::Nearest { field, vector, wanted, .. } => (field, vector, wanted).hash(state),
                Query::Area { field, relation, area, .. } => (field, relation, area).hash(state),
                Query::DisMax { tie, .. } => tie.hash(state),
                Query::Group { minimum, .. } => minimum.hash(state),
                Query::Boost { boost, .. } => boost.hash(state),
                Query::ConstantScore { score, .. } => score.hash(state),
                Query::Fields { fields, combined, .. } => (fields, combined).hash(state),
                Query::All | Query::Nothing | Query::And(_) | Query::Or(_) | Query::Not(_) => {}
            }
            todo.extend(query.children());
        }
    }
}

/// The tree with its types and without places, on one line.
impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        enum Piece<'q> {
            Query(&'q Query),
            Text(&'static str),
        }
        let mut todo = vec![Piece::Query(self)];
        while let Some(piece) = todo.pop() {
            let query = match piece {
                Piece::Text(text) => {
                    f.write_str(text)?;
                    continue;
                }
                Piece::Query(query) => query,
            };
            query.fmt_node(f)?;
            if query.is_leaf() {
                continue;
            }
            todo.push(Piece::Text("]"));
            for (at, part) in query.parts().iter().enumerate().rev() {
                for (nth, child) in part.iter().enumerate().rev() {
                    todo.push(Piece::Query(child));
                    todo.push(Piece::Text(if nth > 0 { ", " } else { "" }));
                }
                // Only a group has several parts; an empty one shows by what separates it.
                if at > 0 && matches!(query, Query::Group { .. }) {
                    todo.push(Piece::Text("; "));
                }
            }
            todo.push(Piece::Text("["));
        }
        Ok(())
    }
}

impl Query {
    fn fmt_node(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Query::All => f.write_str("All"),
            Query::Nothing => f.write_str("Nothing"),
            Query::Word { field, text, .. } => write!(f, "Word({field:?}, {text:?})"),
            Query::Phrase { field, text, prefix, proximity, .. } => {
                write!(f, "Phrase({field:?}, {text:?}, prefix: {prefix}, {proximity:?})")
            }
            Query::PhraseOf { field, parts, proximity, .. } => {
                write!(f, "PhraseOf({field:?}, {parts:?}, {proximity:?})")
            }
            Query::Prefix { field, text, .. } => write!(f, "Prefix({field:?}, {text:?})"),
            Query::Wildcard { field, pattern, .. } => write!(f, "Wildcard({field:?}, {pattern:?})"),
            Query::Regex { field, pattern, .. } => write!(f, "Regex({field:?}, {pattern:?})"),
            Query::Fuzzy { field, text, fuzziness, .. } => {
                write!(f, "Fuzzy({field:?}, {text:?}, {fuzziness:?})")
            }
            Query::Range { field, lower, upper, .. } => {
                write!(f, "Range({field:?}, {lower:?}, {upper:?})")
            }
            Query::InSet { field, values, .. } => write!(f, "InSet({field:?}, {values:?})"),
            Query::Exists { field, .. } => write!(f, "Exists({field:?})"),
            Query::Nearest { field, vector, wanted, .. } => {
                write!(f, "Nearest({field:?}, {vector:?}, {wanted:?})")
            }
            Query::Area { field, relation, area, .. } => {
                write!(f, "Area({field:?}, {relation:?}, {area})")
            }
            Query::And(_) => f.write_str("And"),
            Query::Or(_) => f.write_str("Or"),
            Query::Not(_) => f.write_str("Not"),
            Query::Group { minimum, .. } => match minimum {
                None => f.write_str("Group"),
                Some(minimum) => write!(f, "Group(minimum: {minimum})"),
            },
            Query::DisMax { tie, .. } => write!(f, "DisMax({tie})"),
            Query::Boost { boost, .. } => write!(f, "Boost({boost})"),
            Query::ConstantScore { score, .. } => write!(f, "ConstantScore({score})"),
            Query::Fields { fields, combined: false, .. } => write!(f, "Fields({fields:?})"),
            Query::Fields { fields, .. } => write!(f, "Fields({fields:?}, combined)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::analysis::Analyzers;
    use crate::error::ErrorKind;
    use crate::query::{Boost, Proximity, Tie, rewrite};
    use crate::schema::Schema;

    /// Far more than fit on the stack: a test's is 2 MiB.
    const LEVELS: usize = 200_000;

    fn deep() -> Query {
        let mut query = Query::word("a");
        for level in 0..LEVELS {
            let boxed = |query| Box::new(query);
            query = match level % 7 {
                0 => Query::Not(boxed(query)),
                1 => Query::And(vec![Query::word("b"), query]),
                2 => Query::Or(vec![query, Query::All]),
                3 => Query::Group {
                    must: vec![],
                    should: vec![query, Query::word("c")],
                    must_not: vec![Query::exists("t")],
                    minimum: Some(1),
                },
                4 => Query::Boost { query: boxed(query), boost: Boost::new(2.0).unwrap() },
                5 => Query::DisMax { any: vec![query], tie: Tie::ZERO },
                _ => query.in_fields([("t", Boost::ONE)]),
            };
        }
        query
    }

    #[test]
    fn trees_of_any_depth_are_copied_compared_printed_and_dropped() {
        let query = deep();
        let copy = query.clone();
        assert_eq!(query, copy);
        assert!(query.to_string().len() > LEVELS);
        assert!(format!("{query:?}").len() > LEVELS);
        let other = Query::Not(Box::new(copy));
        assert_ne!(query, other);
        let set: HashSet<Query> = [query.clone(), other, query.clone()].into();
        assert_eq!(set.len(), 2);
        let schema = Schema::builder().text("t").build().unwrap();
        let error = rewrite(&query, &schema, &Analyzers::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        let mut chain = Query::word("a");
        for _ in 0..LEVELS {
            chain = Query::And(vec![chain]);
        }
        assert_eq!(chain.to_string(), "a");
    }

    #[test]
    fn every_part_of_a_node_makes_a_difference() {
        let word = || Query::word("a");
        let group = |minimum| Query::Group {
            must: vec![word()],
            should: vec![],
            must_not: vec![],
            minimum,
        };
        let all = [
            Query::All,
            Query::Nothing,
            word(),
            Query::word("b"),
            Query::word_in("f", "a"),
            Query::phrase("a"),
            Query::phrase_prefix("a"),
            Query::near("a", Proximity::Slop(0)),
            Query::near("a", Proximity::Slop(1)),
            Query::phrase_of([word(), Query::prefix("b")], Proximity::Exact).unwrap(),
            Query::phrase_of([word(), Query::prefix("c")], Proximity::Exact).unwrap(),
            Query::phrase_of([word(), Query::prefix("b")], Proximity::Near(0)).unwrap(),
            Query::prefix("a"),
            Query::wildcard("a?"),
            Query::regex("a?"),
            Query::fuzzy("a", Default::default()).unwrap(),
            Query::fuzzy("a", super::super::Fuzziness::new(1)).unwrap(),
            Query::range("a".to_owned()..),
            Query::range(.."a".to_owned()),
            Query::range(..="a".to_owned()),
            Query::in_set(["a"]),
            Query::in_set(["a", "b"]),
            Query::exists("a"),
            Query::within_area("a", "1,2".parse().unwrap()),
            Query::within_area("a", "1,3".parse().unwrap()),
            Query::within_area("b", "1,2".parse().unwrap()),
            Query::area("a", crate::geo::GeoRelation::Disjoint, "1,2".parse().unwrap()),
            Query::And(vec![word(), Query::All]),
            Query::And(vec![Query::All, word()]),
            Query::Or(vec![word(), Query::All]),
            Query::Not(Box::new(word())),
            Query::Not(Box::new(Query::word("b"))),
            group(None),
            group(Some(1)),
            Query::Group { must: vec![], should: vec![word()], must_not: vec![], minimum: None },
            Query::DisMax { any: vec![word()], tie: Tie::ZERO },
            Query::DisMax { any: vec![word()], tie: Tie::new(0.5).unwrap() },
            word().boosted(2.0).unwrap(),
            word().boosted(3.0).unwrap(),
            word().constant_score(2.0).unwrap(),
            word().filter(),
            Query::And(vec![word(), word()]).in_field("a"),
            Query::And(vec![word(), word()]).in_field("b"),
            word().in_fields([("a", Boost::ONE), ("b", Boost::ONE)]),
            word().in_combined_fields([("a", Boost::ONE), ("b", Boost::ONE)]),
        ];
        for (at, query) in all.iter().enumerate() {
            assert_eq!(*query, query.clone(), "{query:?}");
            for other in &all[..at] {
                assert_ne!(query, other);
                assert_ne!(format!("{query:?}"), format!("{other:?}"));
            }
        }
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
    }
}
