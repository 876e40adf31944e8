//! One search and its options.

use super::meaning::Meaning;
use super::request::{AfterScore, Order, SearchRequest, Statistics};
use super::{Facet, Searcher, TotalMode};
use crate::budget::{Budget, CancelToken};
use crate::error::{Error, ErrorKind, Result};
use crate::function::ScoreFunction;
use crate::ids::{DocId, FieldId};
use crate::plan::EstimateFrom;
use crate::plan::forced::Forced;
use crate::ranking::bm25::Parameters;
use crate::sort::SortKey;
use crate::value::Value;
use std::time::{Duration, Instant};

/// A search with its options; from [`Searcher::search`].
#[derive(Clone, Debug)]
#[must_use = "nothing happens until `run`"]
pub struct SearchBuilder<'a> {
    pub(super) searcher: &'a Searcher,
    pub(super) request: SearchRequest<'a>,
    /// When to stop beside what the request says.
    pub(super) budget: Budget,
    /// What is done otherwise than it would be.
    pub(super) forced: Option<Forced>,
    /// Whether lists stay open between searches.
    pub(super) stays_open: bool,
    /// `None` where that is left to what is asked for.
    pub(super) estimate_from: Option<EstimateFrom>,
    pub(super) explained: Vec<DocId>,
    pub(super) meaning: Meaning,
}

impl<'a> SearchBuilder<'a> {
    /// A search for what is asked.
    pub(super) fn new(searcher: &'a Searcher, request: SearchRequest<'a>) -> Self {
        SearchBuilder {
            searcher,
            request,
            budget: Budget::new(),
            forced: None,
            stays_open: false,
            estimate_from: None,
            explained: vec![],
            meaning: Meaning::default(),
        }
    }
}

impl<'a> SearchBuilder<'a> {
    /// How many hits are wanted (default 10).
    pub fn limit(mut self, limit: u64) -> Self {
        self.request.limit = limit;
        self
    }

    /// How many hits to leave out before the first (default 0).
    pub fn offset(mut self, offset: u64) -> Self {
        self.request.offset = offset;
        self
    }

    /// How far matches are counted (default [`TotalMode::Exact`]).
    pub fn total(mut self, total: TotalMode) -> Self {
        self.request.total = total;
        self
    }

    /// In what order hits come (default [`Order::Score`]).
    pub fn order(mut self, order: Order) -> Self {
        self.request.order = order;
        self
    }

    /// Sorts hits by fields that keep a [column](crate::Field::column), by the first key first: in the place of
    /// [`order`](Self::order). Where all keys are equal, the smaller number comes first, so that pages of one searcher
    /// never repeat a document nor leave one out. [`Hit::sort`](crate::Hit::sort) has the values. Only what [`SortKey::score`] asks for is scored.
    ///
    /// By a field costs a look at every 1,024 documents, and at the values of those blocks that can have one of the first; by
    /// anything else a look at every document that matches. Takes memory for as many documents as offset and limit make.
    ///
    /// ```
    /// use treepie::{Document, Field, FieldKind, Index, Schema, SortKey};
    ///
    /// let price = Field::new("price", FieldKind::Decimal { scale: 2 });
    /// let index = Index::in_memory(Schema::builder().text("name").field(price).build()?);
    /// let mut writer = index.writer()?;
    /// for (name, price) in [("jay", "3.50"), ("magpie", "2.20"), ("rook", "12.00")] {
    ///     writer.add(Document::new().with("name", name).with("price", price))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("*")?;
    /// let dearest = || searcher.search(&query).sort([SortKey::descending("price")]).limit(1);
    /// let first = dearest().run()?.hits.remove(0);
    /// assert_eq!(first.fields["name"].to_string(), "rook");
    /// let second = dearest().after_values(first.sort, first.doc).run()?.hits.remove(0);
    /// assert_eq!(second.fields["name"].to_string(), "jay");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn sort(mut self, keys: impl IntoIterator<Item = SortKey>) -> Self {
        self.request.sort = keys.into_iter().collect();
        self
    }

    /// Goes on after a hit of an earlier page, the last of it, by its [values](crate::Hit::sort) and number: as
    /// [`offset`](Self::offset) and without keeping what comes before. With [`sort`](Self::sort) only.
    pub fn after_values(
        mut self,
        values: impl IntoIterator<Item = impl Into<Value>>,
        doc: DocId,
    ) -> Self {
        self.request.after_values = Some((values.into_iter().map(Into::into).collect(), doc));
        self
    }

    /// Goes on after a hit of an earlier page, the last of it, by its score and number: as
    /// [`offset`](Self::offset) and without keeping what comes before. By score only.
    pub fn after(mut self, score: f32, doc: DocId) -> Self {
        self.request.after = Some(AfterScore { score, doc });
        self
    }

    /// The parameters of BM25 for one field: how soon more of the same word adds nothing (`k1`, 0 or more, default
    /// 1.2), and how much the length of a document matters (`b`, 0 to 1, default 0.75). Asked for
    /// twice, the last counts.
    pub fn bm25(mut self, field: impl Into<String>, k1: f32, b: f32) -> Self {
        self.request.parameters.push((field.into(), Parameters { k1, b }));
        self
    }

    /// Changes the score of every document that matches by a function of its columns and of the score: asked for several times,
    /// one after the other, in this order. Everything that matches is scored then, as a function has no bounds.
    ///
    /// ```
    /// use treepie::{Document, Field, FieldKind, FieldValue, Index, Modifier, Schema, ScoreFunction};
    ///
    /// let sales = Field::new("sales", FieldKind::U64);
    /// let index = Index::in_memory(Schema::builder().text("name").field(sales).build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("name", "Red lamp").with("sales", 3))?;
    /// writer.add(Document::new().with("name", "Red lamp for the desk").with("sales", 900))?;
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("lamp")?;
    /// let sold = FieldValue::new("sales").modifier(Modifier::Log1p);
    /// let page = searcher.search(&query).score_function(ScoreFunction::multiply(sold)).run()?;
    /// assert_eq!(page.hits[0].fields["name"].to_string(), "Red lamp for the desk");
    /// let why = searcher.search(&query).score_function(ScoreFunction::multiply(
    ///     FieldValue::new("sales").modifier(Modifier::Log1p),
    /// ));
    /// println!("{}", why.explain_score(page.hits[0].doc)?.expect("it matches"));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn score_function(mut self, function: ScoreFunction) -> Self {
        self.request.score_functions.push(function);
        self
    }

    /// Scores prefixes, wildcards, regular expressions and fuzzy words by so many of their terms, at most
    /// [`PATTERN_TERMS_MAX`](crate::query::PATTERN_TERMS_MAX). The default, 0, gives every document of such a pattern the same score.
    ///
    /// What matches stays the same. A document scores what BM25 gives it for those of the best terms that it has, and
    /// nothing for the others. The best terms are the most frequent ones of the snapshot. Of a fuzzy word they are
    /// the nearest, then the most frequent; each is weighted by 1 less its distance divided by the characters of
    /// the shorter word, and all count as rare as the most frequent of them, so that a misspelling is not worth
    /// more than the word. In a keyword field, where a value is there or not, only its rarity counts.
    ///
    /// Costs a walk over all terms of the pattern, and up to 31 terms of the query are searched by bounds; with more
    /// everything that matches is scored.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// # let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// # let mut writer = index.writer()?;
    /// for title in ["Parish records of Devon", "Paris, Paris", "London"] {
    ///     writer.add(Document::new().with("title", title))?;
    /// }
    /// # writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("par*")?;
    /// let first = |terms| -> treepie::Result<_> {
    ///     let page = searcher.search(&query).pattern_terms(terms).run()?;
    ///     Ok(page.hits[0].fields["title"].to_string())
    /// };
    /// assert_eq!(first(0)?, "Parish records of Devon"); // equally good, so the first
    /// assert_eq!(first(20)?, "Paris, Paris");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn pattern_terms(mut self, n: u32) -> Self {
        self.request.pattern_terms = n;
        self
    }

    /// Stops when the search has taken so long, within 10 ms: with an error, or, as [`partial`](Self::partial), with
    /// what was found until then.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// use std::time::Duration;
    /// use treepie::{ErrorKind, Stopped};
    /// # let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new().with("title", "Paris"))?;
    /// # writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("pari* OR texas")?;
    /// let search = searcher.search(&query).timeout(Duration::ZERO);
    /// assert_eq!(search.clone().run().unwrap_err().kind(), ErrorKind::Timeout);
    ///
    /// let page = search.partial().run()?;
    /// assert_eq!(page.stopped, Some(Stopped::Timeout)); // its total is a lower bound
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.request.limits.timeout = Some(timeout);
        self
    }

    /// As [`timeout`](Self::timeout), at a point in time.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.budget = self.budget.deadline(deadline);
        self
    }

    /// Stops when the token is cancelled, as at a [deadline](Self::timeout).
    pub fn cancel(mut self, token: &CancelToken) -> Self {
        self.budget = self.budget.cancel(token);
        self
    }

    /// The memory that the search may take, in bytes; see [`Budget::memory_bytes`].
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.request.limits.memory_bytes = Some(bytes);
        self
    }

    /// Gives what was found so far where the search is stopped, and no error: the best of what was looked at, at most
    /// 10 of them fetched after that, a total that is a lower bound, and facets that are
    /// [not exact](crate::FacetCounts::exact). [`Hits::stopped`](crate::Hits::stopped) says that it was.
    pub fn partial(mut self) -> Self {
        self.request.limits.partial = true;
        self
    }

    /// Wants the number of matches and facets, and no hits.
    pub fn count_only(mut self) -> Self {
        self.request.count_only = true;
        self
    }

    /// Which stored fields come back with a hit (default: all).
    pub fn fields<S: Into<String>>(mut self, fields: impl IntoIterator<Item = S>) -> Self {
        self.request.fields = Some(fields.into_iter().map(Into::into).collect());
        self
    }

    /// Also counts the `limit` most frequent values of a field, or terms of a text field; with options by
    /// [`with_facet`](Self::with_facet).
    pub fn facet(self, field: impl Into<String>, limit: usize) -> Self {
        self.with_facet(Facet::values(field).limit(limit))
    }

    /// What scores are computed of (default [`Statistics::Snapshot`]). [`Statistics::Segment`] looks words up once
    /// more for each segment.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema, Statistics};
    /// # let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "Paris"))?;
    /// writer.commit()?;
    /// writer.add(Document::new().with("title", "Paris, Texas"))?;
    /// writer.add(Document::new().with("title", "London"))?;
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("paris")?;
    /// let best = |statistics| -> treepie::Result<_> {
    ///     Ok(searcher.search(&query).statistics(statistics).run()?.hits[0].doc.0)
    /// };
    /// assert_eq!(best(Statistics::Snapshot)?, 0); // the shorter title
    /// assert_eq!(best(Statistics::Segment)?, 1); // a word that not all of its segment have
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn statistics(mut self, statistics: Statistics) -> Self {
        self.request.statistics = statistics;
        self
    }

    /// What is asked for so far, as data.
    pub fn request(&self) -> &SearchRequest<'a> {
        &self.request
    }

    /// All that stops the search.
    pub(super) fn budget(&self) -> Budget {
        self.request.limits.within(self.budget.clone())
    }

    pub(super) fn field(&self, name: &str) -> Result<FieldId> {
        self.field_for(Error::new(ErrorKind::Usage, "choosing a field"), name)
    }

    /// The same, where another error says what it is for.
    pub(super) fn field_for(&self, wrong: Error, name: &str) -> Result<FieldId> {
        let schema = self.searcher.schema();
        schema.field_id(name).ok_or_else(|| schema.no_field(wrong, name))
    }

    /// What the hits of the search will have.
    #[cfg(feature = "arrow")]
    pub(crate) fn kinds_of_hits(&self) -> Result<HitKinds> {
        let schema = self.searcher.schema();
        let fields = match self.request.fields.as_deref() {
            Some(names) => {
                let names = self.known_fields(names)?;
                names.iter().filter_map(|name| schema.field(name)).cloned().collect()
            }
            None => schema.fields().iter().filter(|field| field.stored).cloned().collect(),
        };
        let sort = self.sort_order()?.keys().iter().map(|key| key.kind()).collect();
        let group = self.group_field()?.map(|field| schema.get(field).kind);
        Ok(HitKinds { sort, group, fields })
    }

    /// The names as the schema has them, once each is known to be that of a stored field.
    pub(super) fn known_fields(&self, names: &[String]) -> Result<Vec<String>> {
        let known = |name: &String| {
            let field = self.searcher.schema().get(self.field(name)?);
            match field.stored {
                true => Ok(field.name.clone()),
                false => Err(Error::new(ErrorKind::Usage, "choosing the fields of a hit")
                    .expected("a stored field")
                    .found(format!("'{name}', which is not stored"))),
            }
        };
        names.iter().map(known).collect()
    }
}

/// What hits have: values that they are sorted by, the one that they are grouped by, and stored fields.
#[cfg(feature = "arrow")]
pub(crate) struct HitKinds {
    pub(crate) sort: Vec<crate::schema::FieldKind>,
    pub(crate) group: Option<crate::schema::FieldKind>,
    pub(crate) fields: Vec<crate::schema::Field>,
}
