//! A search while it runs: its request, and the knowledge about it so far.

use super::Searcher;
use super::meaning::{Meaning, once};
use crate::budget::Budget;
use crate::error::{Error, ErrorKind, Result};
use crate::execution::Ranked;
use crate::ids::{DocId, FieldId};
use crate::plan::EstimateFrom;
use crate::plan::forced::Forced;
use crate::query::Query;
use crate::request::{RankedList, SearchRequest};
use crate::schema::{Field, FieldKind};
use crate::sort::SortOrder;
use std::cell::OnceCell;

/// A search that was asked for, with all that it finds out on its way.
#[derive(Clone, Debug)]
pub(super) struct Search<'a> {
    pub(super) searcher: &'a Searcher,
    pub(super) request: SearchRequest<'a>,
    /// Limits beside those of the request.
    pub(super) budget: Budget,
    /// Decision that is forced.
    pub(super) forced: Option<Forced>,
    /// Whether lists stay open between searches.
    pub(super) stays_open: bool,
    /// `None` where that is left to what is asked for.
    pub(super) estimate_from: Option<EstimateFrom>,
    pub(super) explained: Vec<DocId>,
    /// Whether neighbours that were found are compared with the nearest of all.
    pub(super) recall: bool,
    pub(super) meaning: Meaning<'a>,
    /// Ranked lists whose hits are fused, in their order; none where nothing is.
    pub(super) branches: Vec<FusedBranch<'a>>,
    /// The query of all of these together.
    pub(super) union: Option<Query>,
}

/// One of the ranked lists whose hits are fused.
#[derive(Clone, Debug)]
pub(super) enum FusedBranch<'a> {
    Query(Box<Search<'a>>),
    /// A vector, by the similarity to which the documents of the first are ordered.
    Similarity(Box<Search<'a>>),
    /// A list from outside, once its documents are looked up.
    List(RankedList, OnceCell<Vec<Ranked>>),
}

impl<'a> Search<'a> {
    /// A search that can begin.
    pub(super) fn new(searcher: &'a Searcher, request: SearchRequest<'a>, budget: Budget) -> Self {
        let mut search = Search {
            searcher,
            request,
            budget,
            forced: None,
            stays_open: false,
            estimate_from: None,
            explained: vec![],
            recall: false,
            meaning: Meaning::default(),
            branches: vec![],
            union: None,
        };
        search.branches = search.branches_of();
        search.union = search.union_of_branches();
        search
    }

    /// The query that tells what matches, without selections.
    pub(super) fn matched(&self) -> &Query {
        self.union.as_ref().unwrap_or(&self.request.query)
    }

    /// All that stops the search.
    pub(super) fn budget(&self) -> Budget {
        self.request.limits.within(self.budget.clone())
    }

    pub(super) fn field(&self, name: &str) -> Result<FieldId> {
        self.field_for(Error::new(ErrorKind::Usage, "choosing a field"), name)
    }

    /// Finds a field; another error says what it is for.
    pub(super) fn field_for(&self, wrong: Error, name: &str) -> Result<FieldId> {
        let schema = self.searcher.schema();
        schema.field_id(name).ok_or_else(|| schema.no_field(wrong, name))
    }

    /// Whether hits are grouped, and any are wanted.
    pub(super) fn is_collapsed(&self) -> bool {
        self.request.collapse.is_some() && !self.request.count_only && self.request.limit > 0
    }

    /// The field that hits are grouped by, where they are.
    pub(super) fn group_field(&self) -> Result<Option<FieldId>> {
        let Some(collapse) = &self.request.collapse else { return Ok(None) };
        let field = self.field(&collapse.field)?;
        let of_schema = self.searcher.schema().get(field);
        let wrong = |expected: &str| {
            Err(Error::new(ErrorKind::Usage, "grouping hits")
                .expected(expected.to_owned())
                .found(format!("the {} field '{}'", of_schema.kind.name(), of_schema.name)))
        };
        match of_schema {
            field if !field.column => wrong("a field that keeps a column"),
            Field { many: true, .. } | Field { kind: FieldKind::Path { .. }, .. } => {
                wrong("a field of which no document has two values")
            }
            _ => Ok(Some(field)),
        }
    }

    /// The order that is asked for; of no field where none is.
    pub(super) fn sort_order(&self) -> Result<&SortOrder> {
        once(&self.meaning.order, || SortOrder::new(&self.request.sort, self.searcher.schema()))
    }

    /// Kinds of the values that hits will have.
    #[cfg(feature = "arrow")]
    pub(super) fn kinds_of_hits(&self) -> Result<HitKinds> {
        let schema = self.searcher.schema();
        let fields = match self.known_fields()? {
            Some(names) => names.iter().filter_map(|name| schema.field(name)).cloned().collect(),
            None => schema.fields().iter().filter(|field| field.is_in_rows()).cloned().collect(),
        };
        let sort = self.sort_order()?.keys().iter().map(|key| key.kind).collect();
        let group = self.group_field()?.map(|field| schema.get(field).kind);
        Ok(HitKinds { sort, group, fields })
    }

    /// The fields that come with hits, as the schema has them, once each is known to be stored; `None` for all of these but vectors.
    pub(super) fn known_fields(&self) -> Result<Option<Vec<String>>> {
        let known = |name: &String| {
            let field = self.searcher.schema().get(self.field(name)?);
            match field.stored {
                true => Ok(field.name.clone()),
                false => Err(Error::new(ErrorKind::Usage, "choosing the fields of a hit")
                    .expected("a stored field")
                    .found(format!("'{name}', which is not stored"))),
            }
        };
        self.request.fields.as_ref().map(|names| names.iter().map(known).collect()).transpose()
    }
}

/// Kinds of values that hits have: those that they are sorted by, the one that they are grouped by, and stored fields.
#[cfg(feature = "arrow")]
pub(crate) struct HitKinds {
    pub(crate) sort: Vec<crate::schema::FieldKind>,
    pub(crate) group: Option<crate::schema::FieldKind>,
    pub(crate) fields: Vec<crate::schema::Field>,
}
