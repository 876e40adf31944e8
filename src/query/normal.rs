//! The normal form: what a query is for the planner.

use crate::expansion::Expansion;
use crate::geo::GeoArea;
use crate::ids::FieldId;
use crate::query::Query;
use crate::query::nearest::{Neighbors, QueryVector};
use crate::query::phrase_spec::PhraseSpec;
use crate::schema::Schema;
use crate::term::Term;
use std::fmt;
use std::sync::Arc;

/// A query of terms, with no more operators than it needs.
///
/// Nothing stands inside another node of its kind, twice beside itself, or where it decides alone:
/// `All` and `Nothing` are the whole query or not there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Normal {
    /// Every document.
    All,
    /// No document, and why.
    Nothing { reason: String },
    /// Documents with this term in this field.
    Term { field: FieldId, term: Term },
    /// Documents with one of the terms that a pattern stands for.
    Expand { field: FieldId, terms: Expansion },
    /// Documents with these words of this field, standing as they should.
    Phrase { field: FieldId, phrase: Arc<PhraseSpec> },
    /// Documents that have the field.
    Exists(FieldId),
    /// Documents with the vectors nearest to another, or near enough.
    Nearest(Arc<NeighborsSpec>),
    /// Documents with a point in an area.
    Area { field: FieldId, area: Arc<GeoArea> },
    /// Documents that match all of `all` and none of `none`.
    ///
    /// Neither holds an `And` in `all` or an `Or` in `none`. Only at the root may `all` be empty:
    /// every document but those of `none`.
    And { all: Vec<Normal>, none: Vec<Normal> },
    /// Documents that match one of these; at least two.
    Or(Vec<Normal>),
    /// Documents that match so many of these: at least two, and fewer than there are. Here `And`
    /// may be without `all`.
    AtLeast { minimum: u32, any: Vec<Normal> },
}

/// Neighbours in the terms of a schema.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NeighborsSpec {
    pub(crate) field: FieldId,
    pub(crate) vector: QueryVector,
    pub(crate) wanted: Neighbors,
    /// Documents among which they are looked for.
    pub(crate) filter: Normal,
}

impl NeighborsSpec {
    /// The query that was bound, without what it is filtered by.
    pub(crate) fn to_query(&self, schema: &Schema) -> Query {
        Query::neighbors(&*schema.get(self.field).name, self.vector.clone(), self.wanted)
    }
}

impl Normal {
    /// Whether no term is in two places, as far as it shows at the first look.
    pub(crate) fn has_each_term_once(&self) -> bool {
        let are_terms = |parts: &[Normal]| parts.iter().all(|it| matches!(it, Normal::Term { .. }));
        match self {
            Normal::And { all, none } => are_terms(all) && are_terms(none),
            // In each place another, see the laws of sets.
            Normal::Or(any) => are_terms(any),
            Normal::AtLeast { .. } => false,
            Normal::All
            | Normal::Nothing { .. }
            | Normal::Term { .. }
            | Normal::Expand { .. }
            | Normal::Phrase { .. }
            | Normal::Exists(_)
            | Normal::Nearest(_)
            | Normal::Area { .. } => true,
        }
    }

    /// Whether this is a part of it.
    pub(crate) fn asks_for(&self, part: &Normal) -> bool {
        let any = |parts: &[Normal]| parts.iter().any(|it| it.asks_for(part));
        match self {
            _ if self == part => true,
            Normal::And { all, none } => any(all) || any(none),
            Normal::Or(parts) | Normal::AtLeast { any: parts, .. } => any(parts),
            _ => false,
        }
    }

    /// Prints in query syntax; the names of fields are the schema's.
    pub(crate) fn display(&self, schema: &Schema) -> impl fmt::Display + use<> {
        self.to_query(schema)
    }

    /// Works like [`display`](Self::display), in one piece of memory as [`Query::to_text`].
    pub(crate) fn to_text(&self, schema: &Schema) -> String {
        self.to_query(schema).to_text()
    }

    /// A query that means the same.
    fn to_query(&self, schema: &Schema) -> Query {
        let queries = |normals: &[Normal]| -> Vec<Query> {
            normals.iter().map(|normal| normal.to_query(schema)).collect()
        };
        match self {
            Normal::All => Query::All,
            Normal::Nothing { .. } => Query::Nothing,
            Normal::Term { field, term } => Query::of_term(schema.get(*field), term),
            Normal::Phrase { field, phrase } => phrase.to_query(&schema.get(*field).name),
            Normal::Expand { field, terms } => Query::of_terms_in(schema.get(*field), terms),
            Normal::Exists(field) => Query::exists(&*schema.get(*field).name),
            Normal::Nearest(neighbors) => neighbors.to_query(schema),
            Normal::Area { field, area } => {
                Query::within_area(&*schema.get(*field).name, (**area).clone())
            }
            Normal::Or(any) => Query::any_of(queries(any)),
            Normal::AtLeast { minimum, any } => Query::Group {
                must: vec![],
                should: queries(any),
                must_not: vec![],
                minimum: Some(*minimum),
            },
            Normal::And { all, none } => {
                let all = queries(all);
                let should = if all.is_empty() { vec![] } else { vec![Query::all_of(all)] };
                Query::group(vec![], should, queries(none))
            }
        }
    }
}

pub(in crate::query) fn nothing(reason: impl Into<String>) -> Normal {
    Normal::Nothing { reason: reason.into() }
}
