//! One search and its options.

use super::search::Search;
use super::{Explainer, Hits, PreparedSearch, Searcher};
use crate::budget::Budget;
use crate::error::Result;
use crate::explain::ExplainTree;
use crate::function::ScoreFunction;
use crate::request::{After, Collapse, Facet, Fusion, IdfScope, Order, SearchRequest, TotalMode};
use crate::sort::SortKey;
use crate::value::Value;
use crate::weight::bm25::Parameters;
use std::time::Duration;

/// A [`SearchRequest`] that is filled in for one searcher; from [`Searcher::search`].
#[derive(Clone, Debug)]
#[must_use = "nothing happens until `run`"]
pub struct SearchBuilder<'a> {
    pub(super) searcher: &'a Searcher,
    pub(super) request: SearchRequest<'a>,
    /// Limits beside those of the request.
    pub(super) budget: Budget,
}

impl<'a> SearchBuilder<'a> {
    pub(super) fn new(searcher: &'a Searcher, request: SearchRequest<'a>) -> Self {
        SearchBuilder { searcher, request, budget: Budget::new() }
    }

    /// Hits that are wanted at the most (default 10).
    pub fn limit(mut self, limit: u64) -> Self {
        self.request.limit = limit;
        self
    }

    /// Hits to leave out before the first (default 0).
    pub fn offset(mut self, offset: u64) -> Self {
        self.request.offset = offset;
        self
    }

    /// The number up to which matches are counted (default [`TotalMode::Exact`]).
    pub fn total(mut self, total: TotalMode) -> Self {
        self.request.total = total;
        self
    }

    /// The order of hits (default [`Order::Score`]).
    pub fn order(mut self, order: Order) -> Self {
        self.request.order = order;
        self
    }

    /// Sorts hits by fields that keep a [column](crate::Field::column), the first key first. It replaces
    /// [`order`](Self::order). If all keys are equal, the smaller number comes first, so that pages of one searcher
    /// never repeat a document nor leave one out. [`Hit::sort`](crate::Hit::sort) has the values. Only what
    /// [`SortKey::score`] asks for is scored.
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
    /// let cursor = first.cursor().expect("hits of a search by keys have one");
    /// let second = dearest().after(cursor).run()?.hits.remove(0);
    /// assert_eq!(second.fields["name"].to_string(), "jay");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn sort(mut self, keys: impl IntoIterator<Item = SortKey>) -> Self {
        self.request.sort = keys.into_iter().collect();
        self
    }

    /// Continues after the last hit of an earlier page. It is like [`offset`](Self::offset), without keeping the hits
    /// before. [`Hits::cursor`] gives it, whether hits are sorted or the best come first.
    ///
    /// # Errors
    ///
    /// Running gives a usage error for a place in another order than that of the search.
    pub fn after(mut self, after: After) -> Self {
        self.request.after = Some(after);
        self
    }

    /// Sets the parameters of BM25 for one field. `k1` says how soon more of the same word adds nothing (0 or more,
    /// default 1.2), and `b` how much the length of a document matters (0 to 1, default 0.75). The last call counts.
    pub fn bm25(mut self, field: impl Into<String>, k1: f32, b: f32) -> Self {
        self.request.parameters.push((field.into(), Parameters { k1, b }));
        self
    }

    /// Changes the score of every match by a function of columns and the score. Several functions apply one after the
    /// other, in this order. Everything that matches is scored then, as a function has no bounds.
    ///
    /// ```
    /// use treepie::function::{FieldValue, Modifier, ScoreFunction};
    /// use treepie::{Document, Field, FieldKind, Index, Schema};
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
    /// println!("{}", why.explainer().score(page.hits[0].doc)?.expect("it matches"));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn score_function(mut self, function: ScoreFunction) -> Self {
        self.request.score_functions.push(function);
        self
    }

    /// Scores patterns and fuzzy words by this many of their terms. The maximum is
    /// [`PATTERN_TERMS_MAX`](crate::query::PATTERN_TERMS_MAX); patterns are prefixes, wildcards and regular
    /// expressions. The default, 0, gives every document of such a pattern the same score.
    ///
    /// The matches stay the same. A document scores what BM25 gives it for those of the best terms that it has, and
    /// nothing for the others. The best terms are the most frequent ones of the snapshot. For a fuzzy word they are
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
    #[doc(alias = "top_terms")]
    pub fn pattern_terms(mut self, n: u32) -> Self {
        self.request.pattern_terms = n;
        self
    }

    /// Stops the search after this time, within 10 ms. It fails, or, with [`partial`](Self::partial), returns the hits
    /// so far.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// use std::time::Duration;
    /// use treepie::search::Stopped;
    /// use treepie::ErrorKind;
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

    /// Sets further limits of a search: a deadline, a cancelling token, memory. Timeout and memory go to the request.
    pub fn budget(mut self, budget: Budget) -> Self {
        let (budget, timeout, memory_bytes) = budget.apart_from_numbers();
        let limits = &mut self.request.limits;
        limits.timeout = timeout.or(limits.timeout);
        limits.memory_bytes = memory_bytes.or(limits.memory_bytes);
        self.budget = budget;
        self
    }

    /// Returns the hits found so far if the search is stopped, and no error. They are the best of the documents looked
    /// at, at most 10 of them fetched after that, with a total that is a lower bound, and facets that are [not
    /// exact](crate::facet::FacetCounts::exact). [`Hits::stopped`](crate::Hits::stopped) says that it was.
    pub fn partial(mut self) -> Self {
        self.request.limits.partial = true;
        self
    }

    /// Wants the number of matches and facets, and no hits.
    pub fn count_only(mut self) -> Self {
        self.request.count_only = true;
        self
    }

    /// Stored fields that come back with a hit (default: all).
    pub fn fields<S: Into<String>>(mut self, fields: impl IntoIterator<Item = S>) -> Self {
        self.request.fields = Some(fields.into_iter().map(Into::into).collect());
        self
    }

    /// Adds a facet of the `limit` most frequent values or text terms of a field. For more options use
    /// [`with_facet`](Self::with_facet).
    pub fn facet(self, field: impl Into<String>, limit: usize) -> Self {
        self.with_facet(Facet::values(field).limit(limit))
    }

    /// Adds a [`Facet`]. A search may have any number; the result has their counts in this order.
    ///
    /// # Errors
    ///
    /// Running gives a usage error for a field or option that does not go with it, a query error for a wrong regular
    /// expression.
    pub fn with_facet(mut self, facet: impl Into<Facet>) -> Self {
        self.request.facets.push(facet.into());
        self
    }

    /// Keeps only documents that have one of these values in a field. Several calls for one field select one of all
    /// their values. No values, of which [`Value::Null`] is none, select nothing, and change nothing. Hits, total and
    /// facets are those of what is left, but a facet of the same field, whatever it counts, leaves this selection out:
    /// it shows what else there is to choose.
    ///
    /// Costs one search more for each selected field that a facet is asked for, however many facets it has.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().keyword("brand").keyword("color").build()?);
    /// let mut writer = index.writer()?;
    /// for (brand, color) in [("acme", "red"), ("acme", "blue"), ("bolt", "red")] {
    ///     writer.add(Document::new().with("brand", brand).with("color", color))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("*")?;
    /// let page = searcher.search(&query).select("color", ["red"]).facet("brand", 9).facet("color", 9).run()?;
    /// assert_eq!(page.total.value, 2);
    /// let counts = |nth: usize| -> Vec<_> {
    ///     page.facets[nth].buckets.iter().map(|b| (b.value.to_string(), b.count)).collect()
    /// };
    /// assert_eq!(counts(0), [("acme".into(), 1), ("bolt".into(), 1)]); // of what is red
    /// assert_eq!(counts(1), [("red".into(), 2), ("blue".into(), 1)]); // of all
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Running gives a query error for a field that does not exist, or a value that it cannot have.
    pub fn select<V: Into<Value>>(
        mut self,
        field: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        self.request.select(field.into(), values.into_iter().map(Into::into));
        self
    }

    /// Keeps only the best hit, or few, of each value of a field. [`Hit::group`](crate::Hit::group) has the value,
    /// [`Hits::groups`](super::Hits::groups) the number of values. The total and the facets stay those of all documents
    /// that match. Pages follow each other as without: none has what another one has.
    ///
    /// Costs a look at everything that matches, and as many documents at once as come before the last hit of the page: by score
    /// 16 bytes each.
    ///
    /// ```
    /// use treepie::search::Collapse;
    /// use treepie::{Document, Field, FieldKind, Index, Schema};
    ///
    /// let brand = Field::new("brand", FieldKind::Keyword).column(true);
    /// let index = Index::in_memory(Schema::builder().text("name").field(brand).build()?);
    /// let mut writer = index.writer()?;
    /// for (name, brand) in [("red pan", "acme"), ("red pot", "acme"), ("big red lid", "bolt")] {
    ///     writer.add(Document::new().with("name", name).with("brand", brand))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("red")?;
    /// let page = searcher.search(&query).collapse(Collapse::by("brand")).run()?;
    /// let names: Vec<_> = page.hits.iter().map(|hit| hit.fields["name"].to_string()).collect();
    /// assert_eq!(names, ["red pan", "big red lid"]);
    /// assert_eq!((page.total.value, page.groups), (3, Some(2)));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Running gives a usage error for a field without a column, or of which documents may have many values.
    pub fn collapse(mut self, collapse: Collapse) -> Self {
        self.request.collapse = Some(Box::new(collapse));
        self
    }

    /// Fuses the hits with those of other queries and with lists from outside. See [`Fusion`].
    ///
    /// Whatever a branch finds matches: the total and facets are of all branches together, and
    /// [selected](Self::select) values filter each. Takes what its branches take, each for a page of the
    /// [window](Fusion::window). If it is stopped before all branches are ranked, a [partial](Self::partial) result has no hits.
    ///
    /// # Errors
    ///
    /// Running gives a usage error beside [`sort`](Self::sort), [`collapse`](Self::collapse), [`after`](Self::after),
    /// [`order`](Self::order), a [score function](Self::score_function) or best hits of buckets, which say otherwise what comes first;
    /// for a list from outside in a schema without a key, and for a key that no document has.
    pub fn fuse(mut self, fusion: Fusion) -> Self {
        self.request.fusion = Some(Box::new(fusion));
        self
    }

    /// The statistics that scores are computed of (default [`IdfScope::Snapshot`]). [`IdfScope::Segment`] looks words up once
    /// more for each segment.
    ///
    /// ```
    /// # use treepie::search::IdfScope;
    /// # use treepie::{Document, Index, Schema};
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
    /// assert_eq!(best(IdfScope::Snapshot)?, 0); // the shorter title
    /// assert_eq!(best(IdfScope::Segment)?, 1); // a word that not all of its segment have
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn statistics(mut self, statistics: IdfScope) -> Self {
        self.request.statistics = statistics;
        self
    }

    /// The request so far, as data.
    pub fn request(&self) -> &SearchRequest<'a> {
        &self.request
    }

    /// Answers the query.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`](crate::ErrorKind::Query) where it means nothing in this schema, [`ErrorKind::Usage`](crate::ErrorKind::Usage) for a field
    /// that does not exist, [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where what it reads is damaged, [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded)
    /// where it would take too much memory; [`ErrorKind::Timeout`](crate::ErrorKind::Timeout) and [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled).
    pub fn run(self) -> Result<Hits> {
        self.search().run()
    }

    /// Prepares the search, to be answered any number of times. A query that is asked again and again is analyzed,
    /// looked up and planned once, and the lists that it reads stay open.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// # let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new().with("title", "Paris"))?;
    /// # writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("paris OR london")?;
    /// let mut prepared = searcher.search(&query).limit(3).prepare()?;
    /// for _ in 0..2 {
    ///     let page = prepared.run()?; // the second time nothing is allocated
    ///     assert_eq!(page.total.value, 1);
    ///     let best = page.hits[0].doc;
    ///     assert_eq!(searcher.document(best)?["title"].to_string(), "Paris");
    /// }
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`run`](Self::run).
    pub fn prepare(self) -> Result<PreparedSearch<'a>> {
        self.search().prepare()
    }

    /// Plans the search and tells how it would be answered. It reads the dictionary and the headers of posting lists, and no postings but
    /// those of [documents](Explainer::documents) that are asked for, and a sample where that is
    /// [wanted](Explainer::estimate_from). The remedies of findings are those that need no more, see
    /// [`Searcher::findings`](super::Searcher::findings).
    ///
    /// # Errors
    ///
    /// Fails like [`run`](Self::run).
    pub fn explain(self) -> Result<ExplainTree> {
        self.search().explain()
    }

    /// Answers the query and shows how: the plan with what happened. Hits are found, not fetched. If the
    /// search is [stopped](Self::timeout) while it runs, the plan shows where.
    ///
    /// # Errors
    ///
    /// Fails like [`run`](Self::run).
    pub fn analyze(self) -> Result<ExplainTree> {
        self.search().analyze()
    }

    /// Kinds of the values that hits will have.
    #[cfg(feature = "arrow")]
    pub(crate) fn kinds_of_hits(&self) -> Result<super::search::HitKinds> {
        self.clone().search().kinds_of_hits()
    }

    /// Returns the explainer, for questions about the search. It says why a document matches and scores as it does, why
    /// there is none, and which plan would have been faster.
    pub fn explainer(self) -> Explainer<'a> {
        Explainer::of(self.search())
    }

    /// The search itself, which can begin.
    pub(super) fn search(self) -> Search<'a> {
        Search::new(self.searcher, self.request, self.budget)
    }
}
