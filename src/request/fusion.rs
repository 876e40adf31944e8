//! Fusion of ranked lists: several queries, and lists from outside, that make one page.

use crate::error::{Error, ErrorKind, Result};
use crate::query::{Boost, Query, QueryVector};
use crate::request::Selection;
use crate::value::Value;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};

/// Constant of reciprocal rank fusion, unless said.
pub(super) const RANK_CONSTANT: u32 = 60;
/// Hits of each list that are fused for each hit that is wanted, unless said; and how many at the least.
const WINDOW_TIMES: u64 = 10;
const WINDOW_MIN: u64 = 100;

/// Fusion of ranked lists into one page; for [`fuse`](crate::SearchBuilder::fuse).
///
/// Each query is a branch of its own: the query of the search first, then all that are added here, then lists. A branch ranks its
/// best hits, as many as the [window](Self::window). Hits of the search are the documents of all windows, by the sum of what each
/// branch adds; of equal sums the first in the index comes first.
///
/// | by | a branch of weight w adds to a document |
/// |---|---|
/// | [`rrf`](Self::rrf) | w ÷ (60 + rank), ranks from 1 |
/// | [`sum`](Self::sum) | w × score ÷ best score of the branch |
/// | [`rerank`](Self::rerank) | nothing if it is the first, and the score of the similarity if it is the other |
///
/// Branches in whose window a document is not add nothing to it.
///
/// ```
/// use treepie::query::Query;
/// use treepie::schema::{Metric, VectorParams};
/// use treepie::search::Fusion;
/// use treepie::{Document, Index, Schema};
///
/// let schema = Schema::builder().text("title").vector("v", VectorParams::new(2, Metric::Cosine));
/// let index = Index::in_memory(schema.build()?);
/// let mut writer = index.writer()?;
/// for (title, vector) in [("crow", [1.0, 0.0]), ("raven", [0.9, 0.1]), ("a crow's nest", [0.0, 1.0])] {
///     writer.add(Document::new().with("title", title).with("v", vector.to_vec()))?;
/// }
/// writer.commit()?;
/// let searcher = index.searcher()?;
/// let words = searcher.parse("nest crow")?;
/// let near = Query::nearest("v", [1.0, 0.05], 2);
/// let page = searcher.search(&words).fuse(Fusion::rrf().with(near)).run()?;
/// let found: Vec<_> = page.hits.iter().map(|hit| hit.doc.0).collect();
/// assert_eq!(found, [0, 2, 1]);
/// let crow = &page.hits[0]; // second by words, first or second by vectors
/// assert_eq!(crow.fused.iter().map(|part| part.branch).collect::<Vec<_>>(), [0, 1]);
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Fusion {
    pub(crate) method: FusionMethod,
    /// Weight of the query of the search.
    pub(crate) own_weight: Boost,
    pub(crate) queries: Vec<(Query, Boost)>,
    pub(crate) lists: Vec<RankedList>,
    pub(crate) window: Option<u64>,
}

/// Sources of the parts of a fused score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FusionMethod {
    /// Ranks: 1 ÷ (k + rank).
    Rrf {
        /// The constant.
        k: u32,
    },
    /// Scores, as parts of the best.
    Sum,
    /// Similarity to a vector, of the best of the search's own query.
    Rerank,
}

/// List of documents that another engine has ranked, the best first; for [`Fusion::list`].
///
/// Documents are known by the schema's [key](crate::SchemaBuilder::key). They match the search whether other branches find them or not.
#[derive(Clone, Debug)]
pub struct RankedList {
    /// Keys, with scores where these are known.
    pub(crate) entries: Vec<(Value, Option<f32>)>,
    pub(crate) weight: Boost,
    /// Whether keys that no document has are passed over.
    pub(crate) allows_missing: bool,
}

impl Fusion {
    /// Reciprocal rank fusion: only ranks count, so that scores of any kind go together.
    ///
    /// From Cormack, Clarke and Büttcher, 2009, with their constant of 60.
    pub fn rrf() -> Self {
        Fusion::rrf_with(RANK_CONSTANT)
    }

    /// Reciprocal rank fusion with another constant. The smaller it is, the more the first ranks count.
    pub fn rrf_with(k: u32) -> Self {
        Fusion::by(FusionMethod::Rrf { k })
    }

    /// Sum of scores, each as a part of the best of its branch.
    ///
    /// It ranks better than ranks alone if there are judgements to choose the weights by (Bruch, Gai and Ingber, 2022, whose
    /// theoretical minimum is 0 for BM25 and for the scores of vectors here).
    pub fn sum() -> Self {
        Fusion::by(FusionMethod::Sum)
    }

    /// Orders the best `n` hits of the search by their similarity to a vector.
    ///
    /// Nothing else is found: the total and facets are those of the search's own query, and a page may not end behind the hit `n`.
    /// The vectors of these hits alone are compared, each exactly. Of documents as similar as each other the one comes first that
    /// came first; those without a vector come last, in their order, with a score of 0.
    ///
    /// ```
    /// use treepie::schema::{Metric, VectorParams};
    /// use treepie::search::Fusion;
    /// use treepie::{Document, Index, Schema};
    ///
    /// let schema = Schema::builder().text("title").vector("v", VectorParams::new(2, Metric::Cosine));
    /// let index = Index::in_memory(schema.build()?);
    /// let mut writer = index.writer()?;
    /// for (title, vector) in [("crow", [0.0, 1.0]), ("a crow's nest", [1.0, 0.0]), ("raven", [1.0, 0.1])] {
    ///     writer.add(Document::new().with("title", title).with("v", vector.to_vec()))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let words = searcher.parse("crow")?;
    /// let page = searcher.search(&words).fuse(Fusion::rerank("v", [1.0, 0.05], 100)).run()?;
    /// let found: Vec<_> = page.hits.iter().map(|hit| hit.doc.0).collect();
    /// assert_eq!((found, page.total.value), (vec![1, 0], 2)); // the raven is no crow
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn rerank(field: impl Into<String>, vector: impl Into<QueryVector>, n: u32) -> Self {
        let query = Query::nearest(field, vector, n).exact();
        Fusion { window: Some(n.into()), ..Fusion::by(FusionMethod::Rerank).with(query) }
    }

    fn by(method: FusionMethod) -> Self {
        let (queries, lists) = (vec![], vec![]);
        Fusion { method, own_weight: Boost::ONE, queries, lists, window: None }
    }

    /// Sets the weight of the search's own query (default 1).
    #[must_use]
    pub fn own_weight(self, own_weight: Boost) -> Self {
        Fusion { own_weight, ..self }
    }

    /// Adds a query.
    #[must_use]
    pub fn with(self, query: Query) -> Self {
        self.with_weighted(query, Boost::ONE)
    }

    /// Adds a query with a weight.
    #[must_use]
    pub fn with_weighted(mut self, query: Query, weight: Boost) -> Self {
        self.queries.push((query, weight));
        self
    }

    /// Adds a list from outside.
    #[must_use]
    pub fn list(mut self, list: RankedList) -> Self {
        self.lists.push(list);
        self
    }

    /// Sets how many of its best hits each branch ranks.
    ///
    /// By default ten for each hit up to the end of the page, and at least 100. Fewer than those make a usage error.
    #[must_use]
    pub fn window(self, hits: u64) -> Self {
        Fusion { window: Some(hits), ..self }
    }

    /// Replaces each query, as for [dates](Query::at) or [copies](Query::in_copies).
    ///
    /// # Errors
    ///
    /// Errors of `change`.
    pub fn map_queries(mut self, mut change: impl FnMut(Query) -> Result<Query>) -> Result<Self> {
        for (query, _) in &mut self.queries {
            *query = change(std::mem::replace(query, Query::Nothing))?;
        }
        Ok(self)
    }

    /// Number of branches, with the search's own query.
    pub(crate) fn n_branches(&self) -> usize {
        1 + self.queries.len() + self.lists.len()
    }

    /// Weights of all branches, in their order.
    pub(crate) fn weights(&self) -> impl Iterator<Item = Boost> {
        let queries = self.queries.iter().map(|(_, weight)| *weight);
        let lists = self.lists.iter().map(|list| list.weight);
        std::iter::once(self.own_weight).chain(queries).chain(lists)
    }

    /// Hits of each branch, for a page that ends with the hit at this place.
    pub(crate) fn window_of(&self, page_end: u64) -> u64 {
        let usual = || page_end.saturating_mul(WINDOW_TIMES).max(WINDOW_MIN);
        self.window.unwrap_or_else(usual)
    }

    /// Refuses what cannot be fused, or not for a page that ends with the hit at this place.
    pub(crate) fn check(&self, page_end: u64) -> Result<()> {
        let doing = || Error::new(ErrorKind::Usage, "fusing ranked lists");
        if self.method == FusionMethod::Rerank {
            return self.check_rerank(page_end);
        }
        if self.n_branches() < 2 {
            let expected = "another query or a list beside the search's own query";
            return Err(doing().expected(expected).found("none"));
        }
        if self.window.is_some_and(|window| window < page_end) {
            let expected = format!("a window of at least {page_end} hits, as the page ends there");
            return Err(doing().expected(expected).found(self.window_of(page_end).to_string()));
        }
        self.lists.iter().try_for_each(|list| list.check(self.method))
    }

    fn check_rerank(&self, page_end: u64) -> Result<()> {
        let doing = || Error::new(ErrorKind::Usage, "ordering the best hits by similarity");
        let n = self.window_of(page_end);
        if !matches!(&self.queries[..], [(Query::Nearest { .. }, _)]) || !self.lists.is_empty() {
            let (queries, lists) = (self.queries.len(), self.lists.len());
            let expected = "one vector beside the search's own query, and nothing else";
            return Err(doing()
                .expected(expected)
                .found(format!("{queries} queries, {lists} lists")));
        }
        if n < page_end {
            let expected = format!("{page_end} hits or more, as the page ends there");
            return Err(doing().expected(expected).found(n.to_string()));
        }
        Ok(())
    }

    /// For people: the method, and its constant.
    pub(crate) fn described(&self) -> String {
        match self.method {
            FusionMethod::Rrf { k } => format!("ranks (1 / ({k} + rank))"),
            FusionMethod::Sum => "scores (parts of the best)".to_owned(),
            FusionMethod::Rerank => "similarity".to_owned(),
        }
    }

    /// About how many bytes it takes.
    pub(crate) fn n_bytes(&self) -> usize {
        let queries = self.queries.iter().map(|(query, _)| size_of::<Query>() + query.heap_bytes());
        let lists = self.lists.iter().map(RankedList::n_bytes);
        size_of::<Self>() + queries.sum::<usize>() + lists.sum::<usize>()
    }
}

impl RankedList {
    /// A list of keys, the best first.
    pub fn of_keys<V: Into<Value>>(keys: impl IntoIterator<Item = V>) -> Self {
        RankedList::of(keys.into_iter().map(|key| (key.into(), None)).collect())
    }

    /// A list of keys with scores, in any order.
    ///
    /// The greatest score is the best, and of equal scores the one that stands first. Scores count from 0, or from the least of the list where that is below 0.
    pub fn scored<V: Into<Value>>(keys: impl IntoIterator<Item = (V, f32)>) -> Self {
        let with_score = |(key, score): (V, f32)| (key.into(), Some(score));
        let mut entries: Vec<_> = keys.into_iter().map(with_score).collect();
        entries.sort_by(|(_, a), (_, b)| b.unwrap_or(0.0).total_cmp(&a.unwrap_or(0.0)));
        RankedList::of(entries)
    }

    pub(crate) fn of(entries: Vec<(Value, Option<f32>)>) -> Self {
        RankedList { entries, weight: Boost::ONE, allows_missing: false }
    }

    /// Sets its weight (default 1).
    #[must_use]
    pub fn weight(self, weight: Boost) -> Self {
        RankedList { weight, ..self }
    }

    /// Passes over keys that no document has. Their ranks stay empty, and a plan says how many there are.
    ///
    /// Without, such a key is an error: the list may be one of another index.
    #[must_use]
    pub fn allow_missing(self) -> Self {
        RankedList { allows_missing: true, ..self }
    }

    /// Whether all entries have scores.
    pub(crate) fn is_scored(&self) -> bool {
        self.entries.iter().all(|(_, score)| score.is_some())
    }

    fn check(&self, method: FusionMethod) -> Result<()> {
        let doing = || Error::new(ErrorKind::Usage, "fusing a list from outside");
        if method == FusionMethod::Sum && !self.is_scored() {
            return Err(doing()
                .expected("a score of each key, to add it up")
                .found("a list without"));
        }
        let mut known = HashSet::new();
        for (nth, (key, score)) in self.entries.iter().enumerate() {
            let at = || format!("entry {}, {}", nth + 1, key.to_text());
            if key.is_null() {
                return Err(doing().expected("a key").found(format!("null at entry {}", nth + 1)));
            }
            if score.is_some_and(|score| !score.is_finite()) {
                let found = score.unwrap_or_default();
                return Err(doing()
                    .expected("finite scores")
                    .found(format!("{found} at {}", at())));
            }
            if !known.insert(key) {
                return Err(doing().expected("each key once").found(format!("another {}", at())));
            }
        }
        Ok(())
    }

    /// Documents with one of the keys, as a condition.
    pub(crate) fn query(&self, key: &str) -> Query {
        let values = self.entries.iter().map(|(key, _)| key.clone()).collect();
        Selection { field: key.to_owned(), values, read: None }.query()
    }

    fn n_bytes(&self) -> usize {
        let of_entry =
            |(key, _): &(Value, Option<f32>)| size_of::<(Value, Option<f32>)>() + key.n_bytes();
        size_of::<Self>() + self.entries.iter().map(of_entry).sum::<usize>()
    }

    /// Entries with the bits of their scores, by which lists are equal.
    fn bits(&self) -> impl Iterator<Item = (&Value, Option<u32>)> {
        self.entries.iter().map(|(key, score)| (key, score.map(f32::to_bits)))
    }
}

impl PartialEq for RankedList {
    fn eq(&self, other: &Self) -> bool {
        let options = |list: &Self| (list.weight, list.allows_missing);
        options(self) == options(other) && self.bits().eq(other.bits())
    }
}

impl Eq for RankedList {}

impl Hash for RankedList {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.weight.hash(state);
        self.allows_missing.hash(state);
        self.entries.len().hash(state);
        self.bits().for_each(|it| it.hash(state));
    }
}

impl Eq for Fusion {}

impl Hash for Fusion {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.method.hash(state);
        self.weights().for_each(|weight| weight.hash(state));
        self.queries.iter().for_each(|(query, _)| query.hash(state));
        self.lists.hash(state);
        self.window.hash(state);
    }
}
