//! Search requests as data: to be run, as keys of cached answers, and as JSON.

mod after;
mod collapse;
mod collection;
mod facet;
mod fusion;
mod fusion_json;
mod json;
mod places;
mod ranges;
mod rings;
mod selection;
mod value_options;
mod values;

pub use after::After;
pub use collapse::Collapse;
pub use collection::{CollectionStatistics, FieldCounts};
pub(crate) use collection::{OfCollection, Recording};
pub use facet::{FACET_DEPTH_MAX, Facet, FacetKind, StatisticsFacet};
pub(crate) use facet::{FacetWhat, StatisticsOptions};
pub use fusion::{Fusion, FusionMethod, RankedList};
pub use json::{REQUEST_JSON_SCHEMA, REQUEST_SCHEMA_VERSION};
pub use ranges::FacetRange;
#[cfg(feature = "arrow")]
pub(crate) use ranges::first_value;
pub(crate) use ranges::{
    AddressRanges, BEHIND, RANGES_MAX, Ranges, Suitable, calendar, n_intervals, steps_of,
    write_ends,
};
pub(crate) use rings::Rings;
pub(crate) use selection::Selection;
pub use values::ValueFacet;

use crate::budget::Budget;
use crate::function::ScoreFunction;
use crate::plan;
use crate::query::Query;
use crate::sort::SortKey;
use crate::weight::bm25::Parameters;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// Hits on a page unless a [limit](super::SearchBuilder::limit) is given.
const LIMIT_DEFAULT: u64 = 10;

/// Request of a search, independent of an index: its query, page, order, facets and limits.
///
/// A [`SearchBuilder`](super::SearchBuilder) fills one in, [`SearchBuilder::request`](super::SearchBuilder::request) shows it,
/// and [`Searcher::run`](super::Searcher::run) runs one of any snapshot. Two requests that are equal have the same answer of
/// the same snapshot, so a request is the key of the cache of results.
///
/// ```
/// use treepie::{Document, Index, Schema};
///
/// let index = Index::in_memory(Schema::builder().text("title").build()?);
/// let mut writer = index.writer()?;
/// writer.add(Document::new().with("title", "Paris, Texas"))?;
/// writer.commit()?;
/// let searcher = index.searcher()?;
/// let query = searcher.parse("paris")?;
/// let search = searcher.search(&query).limit(3);
/// let request = search.request().clone();
/// assert_eq!(searcher.run(&request)?.hits, search.run()?.hits);
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SearchRequest<'q> {
    pub(crate) query: Cow<'q, Query>,
    pub(crate) limit: u64,
    pub(crate) offset: u64,
    pub(crate) total: TotalMode,
    pub(crate) count_only: bool,
    pub(crate) fields: Option<Vec<String>>,
    pub(crate) facets: Vec<Facet>,
    pub(crate) selections: Vec<Selection>,
    /// In a box, as it is seldom there.
    pub(crate) collapse: Option<Box<Collapse>>,
    /// In a box, too.
    pub(crate) fusion: Option<Box<Fusion>>,
    pub(crate) order: Order,
    pub(crate) after: Option<After>,
    pub(crate) sort: Vec<SortKey>,
    pub(crate) parameters: Vec<(String, Parameters)>,
    pub(crate) score_functions: Vec<ScoreFunction>,
    pub(crate) pattern_terms: u32,
    pub(crate) statistics: IdfScope,
    pub(crate) limits: RequestLimits,
}

/// Order of the hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// Best first, by BM25; if scores are equal, by document number.
    #[default]
    Score,
    /// Order in which the documents were added. Nothing is scored, and reading stops when the page is full.
    Document,
}

/// Scope of BM25's idf and average length: the documents they are computed from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IdfScope {
    /// All documents of the snapshot. Scores do not depend on the segments that documents are in.
    #[default]
    Snapshot,
    /// The documents of the same segment.
    ///
    /// Scores of each segment do not depend on the others, as if it were an index of its own.
    Segment,
    /// A collection that the snapshot is a part of.
    ///
    /// It is the same for all parts, so that their scores can be compared. A usage error where the numbers of a field
    /// or a term are missing that the query needs.
    Collection(Arc<CollectionStatistics>),
}

/// Limits of a search; none of them changes an answer that there is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct RequestLimits {
    pub(crate) timeout: Option<Duration>,
    pub(crate) memory_bytes: Option<u64>,
    /// Whether what was found until then is wanted.
    pub(crate) partial: bool,
}

impl<'q> SearchRequest<'q> {
    /// The first ten hits of a query, with everything as it is by default.
    pub fn new(query: &'q Query) -> Self {
        SearchRequest::of(Cow::Borrowed(query))
    }

    pub(crate) fn of(query: Cow<'q, Query>) -> Self {
        SearchRequest {
            query,
            limit: LIMIT_DEFAULT,
            offset: 0,
            total: TotalMode::Exact,
            count_only: false,
            fields: None,
            facets: vec![],
            selections: vec![],
            collapse: None,
            fusion: None,
            order: Order::default(),
            after: None,
            sort: vec![],
            parameters: vec![],
            score_functions: vec![],
            pattern_terms: 0,
            statistics: IdfScope::default(),
            limits: RequestLimits::default(),
        }
    }

    /// Query, without the [selected](super::SearchBuilder::select) values.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Replaces the query.
    #[must_use]
    pub fn with_query(self, query: Query) -> Self {
        SearchRequest { query: Cow::Owned(query), ..self }
    }

    /// Hits that are wanted at the most.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Stored fields that come back with a hit; `None` for all.
    pub fn fields(&self) -> Option<&[String]> {
        self.fields.as_deref()
    }

    /// Keys that hits are sorted by; none if they come by [`Order`].
    pub fn sort(&self) -> &[SortKey] {
        &self.sort
    }

    /// Facets that are counted.
    pub fn facets(&self) -> &[Facet] {
        &self.facets
    }

    /// Whether hits are grouped by the values of a field.
    pub fn is_collapsed(&self) -> bool {
        self.collapse.is_some()
    }

    /// Fusion of its hits with other ranked lists; `None` if its own hits are all.
    pub fn fusion(&self) -> Option<&Fusion> {
        self.fusion.as_deref()
    }

    /// Fuses the hits with those of other queries, and with lists from outside.
    #[must_use]
    pub fn fuse(self, fusion: Fusion) -> Self {
        SearchRequest { fusion: Some(Box::new(fusion)), ..self }
    }

    /// Whether no hits are wanted, but the number of matches and facets.
    pub fn is_count(&self) -> bool {
        self.count_only
    }

    /// Returns a request with its own query, which outlives the one it borrowed.
    pub fn into_owned(self) -> SearchRequest<'static> {
        SearchRequest { query: Cow::Owned(self.query.into_owned()), ..self }
    }
}

impl RequestLimits {
    /// A budget that also stops where these do.
    pub(crate) fn within(&self, budget: Budget) -> Budget {
        let budget = match self.timeout {
            Some(timeout) => budget.timeout(timeout),
            None => budget,
        };
        match self.memory_bytes {
            Some(bytes) => budget.memory_bytes(bytes),
            None => budget,
        }
    }
}

/// Extent to which a search counts its matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TotalMode {
    /// All of them.
    #[default]
    Exact,
    /// At least this many; what is beyond may be left uncounted.
    UpTo(u64),
    /// No further than the page needs.
    Unknown,
}

impl From<TotalMode> for plan::Total {
    fn from(total: TotalMode) -> Self {
        match total {
            TotalMode::Exact => plan::Total::Exact,
            TotalMode::UpTo(most) => plan::Total::UpTo(most),
            TotalMode::Unknown => plan::Total::Unknown,
        }
    }
}
