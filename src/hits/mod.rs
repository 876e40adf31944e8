//! Results of a search: hits, their total, and counts of facets.

mod points;
mod statistics;
mod stored;

pub use points::PointStatistics;
pub use statistics::{Accuracy, FieldStatistics, Sum};

use crate::geo::{GeoCell, GeoGrid};
use crate::ids::DocId;
use crate::named::named;
use crate::request::{After, Facet, FacetKind, write_ends};
use crate::value::stored::{Fields, Values};
use crate::value::{Value, Zone};
use std::fmt;
use std::time::Duration;

/// Bytes of a hit or a facet beside its texts, of each value, and of a map of stored fields of one node.
const PART_BYTES: usize = 128;
const VALUE_BYTES: usize = 40;
const FIELDS_BYTES: usize = 640;

/// One page of a result.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Hits {
    /// Number of documents that match.
    pub total: Total,
    /// The documents of the page, in the order of the search.
    pub hits: Vec<Hit>,
    /// Number of groups over all documents that match, if hits are [grouped](crate::SearchBuilder::collapse) by a field.
    /// Documents without a value are one group more, or one each. `None` if hits are not grouped, none are wanted, or the
    /// search was stopped before.
    pub groups: Option<u64>,
    /// Counts of the facets, in the order they were asked for.
    pub facets: Vec<FacetCounts>,
    /// Time from the query to its answer.
    pub took: Duration,
    /// Whether the result was kept from an earlier search, by a [cache](crate::IndexOptions::result_cache_bytes).
    pub from_cache: bool,
    /// Reason for a [partial](crate::SearchBuilder::partial) result, if the search was stopped.
    pub stopped: Option<Stopped>,
}

impl Hits {
    /// Returns the [cursor](Hit::cursor) of the last hit, for [`SearchBuilder::after`](crate::SearchBuilder::after).
    /// The next page begins there. `None` if the page is empty, or hits are in document order.
    ///
    /// The last page has one, too, as nothing says that no hit follows. The end is a page without hits, or one with fewer hits
    /// than the [limit](crate::SearchBuilder::limit), which saves a search that finds nothing, unless it was [stopped](Self::stopped).
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// # let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// # let mut writer = index.writer()?;
    /// for nth in 0..5 {
    ///     writer.add(Document::new().with("title", format!("Paris {nth}")))?;
    /// }
    /// # writer.commit()?;
    /// let searcher = index.searcher()?; // one snapshot, so that pages follow each other
    /// let query = searcher.parse("paris")?;
    /// let mut page = searcher.search(&query).limit(2).run()?;
    /// let mut sizes = vec![page.hits.len()];
    /// while let Some(cursor) = page.cursor() {
    ///     page = searcher.search(&query).limit(2).after(cursor).run()?;
    ///     sizes.push(page.hits.len());
    /// }
    /// assert_eq!(sizes, [2, 2, 1, 0]);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn cursor(&self) -> Option<After> {
        self.hits.last()?.cursor()
    }
}

/// Reason why a search gave a partial result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stopped {
    /// Deadline passed.
    Timeout,
    /// Somebody cancelled it.
    Cancelled,
}

named! {
    /// The name used in JSON.
    pub Stopped { Timeout: "timeout", Cancelled: "cancelled" }
}

/// For people.
impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stopped::Timeout => "stopped at the deadline",
            Stopped::Cancelled => "cancelled",
        })
    }
}

/// A number of matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Total {
    /// Number of matches that were counted.
    pub value: u64,
    /// Whether the number is exact or a lower bound.
    pub relation: Relation,
}

/// Whether a total is exact or a lower bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relation {
    /// Exact number of matches.
    #[default]
    Exact,
    /// Lower bound: there may be more.
    AtLeast,
    /// Neither: counting was not asked for.
    Unknown,
}

named! {
    /// The name used in JSON.
    pub Relation { Exact: "exact", AtLeast: "at_least", Unknown: "unknown" }
}

/// One document that matches.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// Number in the snapshot.
    pub doc: DocId,
    /// Score of the document; `None` if nothing is scored.
    pub score: Option<f32>,
    /// Values that it is [sorted](crate::SearchBuilder::sort) by, one per key, null for none. The list is empty if hits
    /// are not sorted by fields.
    pub sort: Vec<Value>,
    /// Value of the field that hits are [grouped](crate::SearchBuilder::collapse) by, or null. `None` if not grouped.
    pub group: Option<Value>,
    /// Parts of a [fused](crate::SearchBuilder::fuse) score, in the order of the branches. The list is empty if nothing is
    /// fused.
    pub fused: Vec<FusedPart>,
    /// Similarities to the vectors whose neighbour it is. Empty in what a [`PreparedSearch`](crate::search::PreparedSearch)
    /// gives.
    pub similarities: Vec<FieldSimilarity>,
    /// Distances from the points that it is [sorted](crate::SortKey::near) by. Empty in what a
    /// [`PreparedSearch`](crate::search::PreparedSearch) gives.
    pub distances: Vec<FieldDistance>,
    /// Stored fields. Empty in what a [`PreparedSearch`](crate::search::PreparedSearch) gives.
    pub fields: Fields,
}

/// Similarity of a document to a vector that [neighbours](crate::query::Query::nearest) were looked for of.
///
/// ```
/// # use treepie::schema::{Metric, VectorParams};
/// # use treepie::query::Query;
/// # use treepie::{Document, Index, Schema};
/// # let index = Index::in_memory(Schema::builder().vector("v", VectorParams::new(2, Metric::L2)).build()?);
/// # let mut writer = index.writer()?;
/// writer.add(Document::new().with("v", vec![3.0, 4.0]))?;
/// # writer.commit()?;
/// # let searcher = index.searcher()?;
/// let found = searcher.search(&Query::nearest("v", [0.0, 0.0], 1)).run()?;
/// assert_eq!(found.hits[0].similarities[0].field, "v");
/// assert_eq!(found.hits[0].similarities[0].similarity, -25.0); // less the squared distance
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FieldSimilarity {
    /// Field of the vectors.
    pub field: String,
    /// Similarity by the [metric](crate::schema::Metric) of the field, of the document's most similar vector.
    pub similarity: f32,
}

/// Distance of a document from a point that hits are [sorted](crate::SortKey::near) by.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FieldDistance {
    /// Field of the points.
    pub field: String,
    /// Metres of the document's nearest point, whatever steps are sorted by.
    pub metres: f64,
    /// Place of that point among the values of the document, from 0.
    pub value: u32,
}

/// Part of a [fused](crate::SearchBuilder::fuse) score that one branch added.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FusedPart {
    /// Branch, from 0. The search's own query comes first, then other queries, then lists from outside.
    pub branch: u32,
    /// Rank there, from 1.
    pub rank: u64,
    /// Score there; `None` in a list without scores.
    pub score: Option<f32>,
    /// Addend of the score. Parts add up to the score exactly, in their order.
    pub part: f32,
}

impl Hit {
    /// Returns the first text of a stored field; `None` if it has none.
    ///
    /// Indexing [`fields`](Self::fields) panics where the document has no value of the field.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// # let index = Index::in_memory(Schema::builder().text("title").keyword("tags").u64("year").build()?);
    /// # let mut writer = index.writer()?;
    /// let document = Document::new().with("title", "Paris, Texas").with("year", 1984);
    /// writer.add(document.with("tags", "drama").with("tags", "road movie"))?;
    /// # writer.commit()?;
    /// # let searcher = index.searcher()?;
    /// let page = searcher.search(&searcher.parse("paris")?).run()?;
    /// let hit = &page.hits[0];
    /// assert_eq!(hit.text("title"), Some("Paris, Texas"));
    /// assert_eq!(hit.text("tags"), Some("drama")); // of many values the first
    /// assert_eq!(hit.text("year"), None); // a number: `hit.fields.get("year")`
    /// assert_eq!(hit.text("country"), None);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn text(&self, field: &str) -> Option<&str> {
        self.fields.get(field)?.texts().next()
    }

    /// Returns the hit's place in its order, for [another page](crate::SearchBuilder::after) behind it. It is by its
    /// sort values if it has any, else by its score. `None` in document order, and of a fused hit.
    pub fn cursor(&self) -> Option<After> {
        match (&self.sort[..], self.score) {
            _ if !self.fused.is_empty() => None,
            ([], score) => score.map(|score| After::score(score, self.doc)),
            (values, _) => Some(After::values(values, self.doc)),
        }
    }

    /// Before its fields are fetched.
    pub(crate) fn new(doc: DocId, score: Option<f32>) -> Self {
        Hit {
            doc,
            score,
            sort: vec![],
            group: None,
            fused: vec![],
            similarities: vec![],
            distances: vec![],
            fields: Fields::new(),
        }
    }

    /// About how many bytes of memory it takes.
    pub(crate) fn n_bytes(&self) -> usize {
        let of_field = |(name, values): (&String, &Values)| {
            VALUE_BYTES + name.len() + values.iter().map(value_bytes).sum::<usize>()
        };
        let map = if self.fields.is_empty() { 0 } else { FIELDS_BYTES };
        PART_BYTES
            + map
            + size_of_val(&self.fused[..])
            + self.similarities.iter().map(|it| size_of_val(it) + it.field.len()).sum::<usize>()
            + self.distances.iter().map(|it| size_of_val(it) + it.field.len()).sum::<usize>()
            + self.sort.iter().chain(&self.group).map(value_bytes).sum::<usize>()
            + self.fields.iter().map(of_field).sum::<usize>()
    }
}

/// About how many bytes of memory a value takes, wherever it is.
pub(crate) fn value_bytes(value: &Value) -> usize {
    VALUE_BYTES + value.n_bytes()
}

/// Counts of a facet: documents that match by value of a field, or by range.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FacetCounts {
    /// The field.
    pub field: String,
    /// Whether these are values, ranges or cells, or statistics.
    pub kind: FacetKind,
    /// Values in the [order](crate::facet::FacetOrder) that was asked for. By default it is descending by count, then
    /// ascending by the bytes of the value, which of a cell is its name; ranges come as they were asked for, intervals in the order
    /// of time.
    pub buckets: Vec<Bucket>,
    /// Matching documents with a value, but none in the buckets. Documents whose values a filter or a minimum leaves
    /// out are among them. `None` for the values of a field where a document may have many.
    pub other: Option<u64>,
    /// Matching documents without a value.
    pub missing: u64,
    /// Statistics of the values, if they were [asked for](crate::Facet::statistics).
    pub statistics: Option<FieldStatistics>,
    /// Statistics of a field of points, if they were [asked for](crate::Facet::statistics).
    pub points: Option<PointStatistics>,
    /// Whether all of this is exact. It is not if the search was [stopped](crate::SearchBuilder::partial) before all
    /// was counted, or if a sketch stands in for lack of memory: in statistics, and in the ends of quantiles.
    pub exact: bool,
    /// Documents without a value, with the facets [of each bucket](crate::Facet::with_facet). `None` if there were no
    /// such facets, or there are no such documents.
    pub missing_bucket: Option<Box<Bucket>>,
    /// Time zone of calendar intervals, whose clocks show their starts; `None` otherwise.
    pub zone: Option<Zone>,
    /// Grid of cells, given or [chosen](crate::Facet::auto_tiles) by what matches; `None` of all else.
    pub grid: Option<GeoGrid>,
}

impl FacetCounts {
    /// One that was not counted.
    pub(crate) fn unknown(request: &Facet) -> Self {
        let kind = request.what.kind();
        FacetCounts { field: request.field.clone(), kind, ..FacetCounts::default() }
    }

    /// About how many bytes of memory it takes.
    pub(crate) fn n_bytes(&self) -> usize {
        let percentiles = self.statistics.as_ref().map_or(0, |it| it.percentiles.len());
        let percentiles = percentiles * size_of::<(f64, Value)>();
        let buckets = self.buckets.iter().chain(self.missing_bucket.as_deref());
        let buckets = buckets.map(Bucket::n_bytes).sum::<usize>();
        let zone = self.zone.as_ref().map_or(0, |zone| zone.name().len());
        size_of::<Self>() + VALUE_BYTES + self.field.len() + percentiles + buckets + zone
    }
}

/// One value of a facet, or one range.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Bucket {
    /// Value, term of a text field, or name of a cell; null of a range. The bucket as a whole prints a range with its ends.
    pub value: Value,
    /// Least value of a range, if it has an end on that side.
    pub from: Option<Value>,
    /// Value that a range ends before, if it has an end on that side.
    pub to: Option<Value>,
    /// Cell of a [grid](crate::Facet::grid), with its corners.
    pub cell: Option<GeoCell>,
    /// Number of matching documents in the bucket.
    pub count: u64,
    /// Facets that were asked for [within](crate::Facet::with_facet) each bucket, in that order, over its documents alone.
    pub facets: Vec<FacetCounts>,
    /// [Best documents](crate::Facet::top_hits), in the order of the search.
    pub hits: Vec<Hit>,
}

/// The value, or the ends of a range, dates in UTC: `10..50`, `..10`, `50..`. Nothing of no value and of a range without ends.
impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.from, &self.to) {
            (None, None) => self.value.fmt(f),
            (from, to) => write_ends(f, from, to),
        }
    }
}

impl Bucket {
    /// About how many bytes of memory it takes, with the stored fields of its hits.
    pub(crate) fn n_bytes(&self) -> usize {
        let ends = [&self.from, &self.to].into_iter().flatten();
        let values = value_bytes(&self.value) + ends.map(value_bytes).sum::<usize>();
        let facets = self.facets.iter().map(FacetCounts::n_bytes).sum::<usize>();
        let hits = self.hits.iter().map(Hit::n_bytes).sum::<usize>();
        size_of::<Self>() + values + facets + hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_print_their_value_or_their_ends() {
        let bucket = |value: Value, from: Option<Value>, to: Option<Value>| {
            Bucket { value, from, to, ..Bucket::default() }.to_string()
        };
        assert_eq!(bucket("Acme".into(), None, None), "Acme");
        assert_eq!(bucket(Value::Null, None, None), "");
        assert_eq!(bucket(Value::Null, Some(10.into()), Some(50.into())), "10..50");
        assert_eq!(bucket(Value::Null, None, Some(10.into())), "..10");
        assert_eq!(bucket(Value::Null, Some((-5).into()), None), "-5..");
        let [from, to] = ["2025-01-01", "2025-02-01"].map(|day| {
            let moment: crate::value::Timestamp = day.parse().unwrap();
            Some(Value::from(moment))
        });
        assert_eq!(bucket(Value::Null, from, to), "2025-01-01T00:00:00Z..2025-02-01T00:00:00Z");
    }
}
