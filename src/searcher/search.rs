//! One search: its options, the page of the best, and its plan for people.

use super::collapse::{Collapse, CollapseRun};
use super::prepared::Kept;
use super::select::Selection;
use super::top_k::Way;
use super::within::Inner;
use super::{
    Explanation, Facet, FacetCounts, Fields, Hit, Hits, Relation, Searcher, Stopped, Total,
    TotalMode,
};
use crate::budget::{self, Budget, CancelToken};
use crate::error::{Error, ErrorKind, Result};
use crate::execution::{Counted, Execution, ExecutionScratch, MatchSet, Matches};
use crate::explain::{self, ExplainTree};
use crate::facet::{ColumnProfile, FacetProfile};
use crate::function::{BoundScoreFunction, ScoreFunction};
use crate::ids::{DocId, FieldId};
use crate::limits;
use crate::plan::{self, Goal, PlanOptions};
use crate::query::{self, Query, ScoringOptions};
use crate::ranking::bm25::Parameters;
use crate::ranking::prepared::{Parts, Ranked};
use crate::ranking::pruned::{PhrasePruning, Pruning, Scratch};
use crate::ranking::search::{after, find_best, find_best_of_phrase, score_all};
use crate::ranking::top::{Top, Trace};
use crate::sort::{SortKey, SortProfile};
use crate::value::Value;
use std::time::{Duration, Instant};

/// Hits on a page unless [`limit`](SearchBuilder::limit) says otherwise.
const LIMIT_DEFAULT: u64 = 10;
/// Room made for documents before any is found.
const HITS_ROOM_MAX: u64 = 1_024;
/// Room made for hits, which are larger.
const HITS_ROOM: u64 = 100;
/// Hits that are still fetched when the time is over and what was found is wanted nevertheless.
const HITS_AFTER_STOP: usize = 10;
/// What fetching a hit takes about, in nanoseconds: those of a page are far from each other.
const FETCHED_NS: u64 = 50_000;

/// A search with its options; from [`Searcher::search`].
#[derive(Clone, Debug)]
#[must_use = "nothing happens until `run`"]
pub struct SearchBuilder<'a> {
    pub(super) searcher: &'a Searcher,
    pub(super) query: &'a Query,
    pub(super) limit: u64,
    pub(super) offset: u64,
    pub(super) total: TotalMode,
    pub(super) count_only: bool,
    pub(super) fields: Option<Vec<String>>,
    pub(super) facets: Vec<Facet>,
    pub(super) selections: Vec<Selection>,
    pub(super) collapse: Option<Collapse>,
    pub(super) order: Order,
    pub(super) after: Option<(f32, DocId)>,
    pub(super) sort: Vec<SortKey>,
    pub(super) after_values: Option<(Vec<Value>, DocId)>,
    pub(super) parameters: Vec<(String, Parameters)>,
    pub(super) score_functions: Vec<ScoreFunction>,
    pub(super) pattern_terms: u32,
    pub(super) statistics: Statistics,
    pub(super) budget: Budget,
    pub(super) partial: bool,
}

/// What there is to say of a query whose matches all score the same.
fn constant_note(ranked: &Ranked<'_>) -> Option<String> {
    let score = ranked.constant()?;
    Some(format!("every match scores {score}, so hits come in document order"))
}

/// In what order hits come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Order {
    /// The best first, by BM25; where scores are equal, the smaller number.
    #[default]
    Score,
    /// As they were added. Nothing is scored, and reading stops when the page is full.
    Document,
}

/// What it is that says how rare a word is, and how long a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Statistics {
    /// All documents of the snapshot: scores do not depend on the segments that documents are in.
    #[default]
    Snapshot,
    /// The documents of the same segment: what each segment scores does not depend on the others, as if it were an
    /// index of its own.
    Segment,
}

impl<'a> SearchBuilder<'a> {
    /// A search for the first page, with everything as it is by default.
    pub(super) fn new(searcher: &'a Searcher, query: &'a Query) -> Self {
        SearchBuilder {
            searcher,
            query,
            limit: LIMIT_DEFAULT,
            offset: 0,
            total: TotalMode::Exact,
            count_only: false,
            fields: None,
            facets: vec![],
            selections: vec![],
            collapse: None,
            order: Order::default(),
            after: None,
            sort: vec![],
            after_values: None,
            parameters: vec![],
            score_functions: vec![],
            pattern_terms: 0,
            statistics: Statistics::default(),
            budget: Budget::new(),
            partial: false,
        }
    }
}

impl<'a> SearchBuilder<'a> {
    /// How many hits are wanted (default 10).
    pub fn limit(mut self, limit: u64) -> Self {
        self.limit = limit;
        self
    }

    /// How many hits to leave out before the first (default 0).
    pub fn offset(mut self, offset: u64) -> Self {
        self.offset = offset;
        self
    }

    /// How far matches are counted (default [`TotalMode::Exact`]).
    pub fn total(mut self, total: TotalMode) -> Self {
        self.total = total;
        self
    }

    /// In what order hits come (default [`Order::Score`]).
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Sorts hits by fields that keep a [column](crate::Field::column), by the first key first: in the place of
    /// [`order`](Self::order). Where all keys are equal, the smaller number comes first, so that pages of one searcher
    /// never repeat a document nor leave one out. [`Hit::sort`] has the values. Only what [`SortKey::score`] asks for is scored.
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
        self.sort = keys.into_iter().collect();
        self
    }

    /// Goes on after a hit of an earlier page, the last of it, by its [values](Hit::sort) and number: as
    /// [`offset`](Self::offset) and without keeping what comes before. With [`sort`](Self::sort) only.
    pub fn after_values(
        mut self,
        values: impl IntoIterator<Item = impl Into<Value>>,
        doc: DocId,
    ) -> Self {
        self.after_values = Some((values.into_iter().map(Into::into).collect(), doc));
        self
    }

    /// Goes on after a hit of an earlier page, the last of it, by its score and number: as
    /// [`offset`](Self::offset) and without keeping what comes before. By score only.
    pub fn after(mut self, score: f32, doc: DocId) -> Self {
        self.after = Some((score, doc));
        self
    }

    /// The parameters of BM25 for one field: how soon more of the same word adds nothing (`k1`, 0 or more, default
    /// 1.2), and how much the length of a document matters (`b`, 0 to 1, default 0.75). Asked for
    /// twice, the last counts.
    pub fn bm25(mut self, field: impl Into<String>, k1: f32, b: f32) -> Self {
        self.parameters.push((field.into(), Parameters { k1, b }));
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
        self.score_functions.push(function);
        self
    }

    /// Scores prefixes, wildcards, regular expressions and fuzzy words by so many of their terms, at most
    /// [`PATTERN_TERMS_MAX`](query::PATTERN_TERMS_MAX). The default, 0, gives every document of such a pattern the same score.
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
        self.pattern_terms = n;
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
        self.budget = self.budget.timeout(timeout);
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
        self.budget = self.budget.memory_bytes(bytes);
        self
    }

    /// Gives what was found so far where the search is stopped, and no error: the best of what was looked at, at most
    /// 10 of them fetched after that, a total that is a lower bound, and facets that are
    /// [not exact](FacetCounts::exact). [`Hits::stopped`] says that it was.
    pub fn partial(mut self) -> Self {
        self.partial = true;
        self
    }

    /// Wants the number of matches and facets, and no hits.
    pub fn count_only(mut self) -> Self {
        self.count_only = true;
        self
    }

    /// Which stored fields come back with a hit (default: all).
    pub fn fields<S: Into<String>>(mut self, fields: impl IntoIterator<Item = S>) -> Self {
        self.fields = Some(fields.into_iter().map(Into::into).collect());
        self
    }

    /// Also counts the `limit` most frequent values of a field, or terms of a text field; with options by
    /// [`with_facet`](Self::with_facet).
    pub fn facet(self, field: impl Into<String>, limit: usize) -> Self {
        self.with_facet(Facet::values(field).limit(limit))
    }

    /// Answers the query.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`] where it means nothing in this schema, [`ErrorKind::Usage`] for a field
    /// that does not exist, [`ErrorKind::Corrupt`] where what it reads is damaged, [`ErrorKind::LimitExceeded`]
    /// where it would take too much memory; [`ErrorKind::Timeout`] and [`ErrorKind::Cancelled`].
    pub fn run(self) -> Result<Hits> {
        let started = Instant::now();
        match &self.searcher.0.setting.cache {
            Some(cache) => cache.answer(self, started),
            None => self.answer(started),
        }
    }

    /// The same, by a search that has to run.
    pub(super) fn answer(self, started: Instant) -> Result<Hits> {
        let _scope = self.searcher.enter(&self.budget);
        let fields = self.fields.as_deref().map(|names| self.known_fields(names)).transpose()?;
        let ranked = match self.ranked() {
            Err(error) => {
                // What would have to be known before anything is found.
                let stopped = Some(self.stopped(error)?);
                let total = Total { value: 0, relation: Relation::AtLeast };
                let facets = self.facets.iter().map(FacetCounts::unknown);
                let (facets, took) = (facets.collect(), started.elapsed());
                return Ok(Hits {
                    total,
                    hits: vec![],
                    groups: None,
                    facets,
                    took,
                    from_cache: false,
                    stopped,
                });
            }
            Ok(ranked) => ranked,
        };
        let mut hits = Vec::with_capacity(self.limit.min(HITS_ROOM) as usize);
        let mut stopped = None;
        let mut add = |hit: Hit| {
            if let Err(error) = budget::work(FETCHED_NS) {
                stopped = Some(self.stopped(error)?);
                if hits.len() >= HITS_AFTER_STOP {
                    return Ok(());
                }
            }
            hits.push(Hit { fields: self.fetched(hit.doc, fields.as_deref())?, ..hit });
            Ok(())
        };
        let found = match &ranked {
            _ if self.is_collapsed() => self.collapsed(add)?,
            Some(ranked) if self.is_scored(ranked) => {
                self.best(ranked, false, None, |doc, score| add(Hit::new(doc, Some(score))))?
            }
            _ if self.is_sorted() => {
                self.sorted(None, |doc, score, sort| add(Hit { sort, ..Hit::new(doc, score) }))?
            }
            _ => {
                let found = self.planned()?;
                let score = ranked.as_ref().and_then(Ranked::constant);
                found.docs.iter().try_for_each(|doc| add(Hit::new(*doc, score)))?;
                found
            }
        };
        let stopped = found.stopped.or(stopped);
        Ok(Hits {
            total: found.total,
            hits,
            groups: found.groups,
            facets: found.facets,
            took: started.elapsed(),
            from_cache: false,
            stopped,
        })
    }

    /// The stored fields of a document, all of them or those with these names.
    pub(super) fn fetched(&self, doc: DocId, fields: Option<&[String]>) -> Result<Fields> {
        let mut stored = match fields {
            Some([]) => Fields::new(),
            _ => self.searcher.document(doc)?,
        };
        if let Some(fields) = fields {
            stored.retain(|name, _| fields.iter().any(|field| field == name));
        }
        Ok(stored)
    }

    /// What a plan finds, where nothing is scored.
    fn planned(&self) -> Result<Found> {
        let mut found = Found::uncounted();
        let done = self.options(false).and_then(|options| {
            let mut execution = self.searcher.execution(&self.query(), &options)?;
            self.execute(&mut execution, &mut found)?;
            self.searcher.recycle(execution);
            Ok(())
        });
        self.end(done, &mut found)?;
        Ok(found)
    }

    /// Why the search was stopped, where that is no reason to give nothing.
    ///
    /// # Errors
    ///
    /// Every other error.
    fn stopped(&self, error: Error) -> Result<Stopped> {
        match error.kind() {
            ErrorKind::Timeout if self.partial => Ok(Stopped::Timeout),
            ErrorKind::Cancelled if self.partial => Ok(Stopped::Cancelled),
            _ => Err(error),
        }
    }

    /// Ends a search that has found something, or everything.
    pub(super) fn end(&self, done: Result<()>, found: &mut Found) -> Result<()> {
        let Err(error) = done else { return Ok(()) };
        found.stopped = Some(self.stopped(error)?);
        let so_far = found.facets.len();
        let uncounted = self.facets.iter().skip(so_far);
        found.facets.extend(uncounted.map(FacetCounts::unknown));
        Ok(())
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
        self.statistics = statistics;
        self
    }

    /// How this search scores a document, as a tree of numbers; `None` where it does not match.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] for a number that no document has; as [`run`](Self::run).
    pub fn explain_score(&self, doc: DocId) -> Result<Option<Explanation>> {
        let _scope = self.searcher.enter(&self.budget);
        self.check_selections()?;
        let searcher = self.searcher;
        let mut base = 0;
        for (at, segment) in searcher.segments().enumerate() {
            let here = doc.0 - base;
            if here >= u64::from(segment.n_docs()) {
                base += u64::from(segment.n_docs());
                continue;
            }
            let analyzers = &searcher.0.setting.analyzers;
            let normal = query::rewrite(&self.query(), searcher.schema(), analyzers)?.normal;
            let is_in = match searcher.matches(&normal)?.get(at) {
                Some(MatchSet::Some(windows)) => windows.contains(here as u32),
                Some(MatchSet::Everything) => true,
                None => false,
            };
            return match is_in {
                true => {
                    let ranked = self.scoring(Parts::Each)?;
                    let (ranked, at) = ranked.of_segment(at);
                    ranked.segment(at)?.explain(here as u32)
                }
                false => Ok(None),
            };
        }
        Err(Error::new(ErrorKind::NotFound, "explaining the score of a document")
            .expected(format!("a number below {base}"))
            .found(doc.to_string()))
    }

    /// What scoring needs, where hits are wanted and their scores matter.
    pub(super) fn ranked(&self) -> Result<Option<Ranked<'a>>> {
        let is_without = match (&self.after, &self.after_values) {
            (Some(_), _) if !self.sort.is_empty() => Some(("values of a hit", "a score")),
            (_, Some(_)) if self.sort.is_empty() => Some(("keys to sort by", "values of a hit")),
            _ => None,
        };
        if let Some((expected, found)) = is_without {
            let error = Error::new(ErrorKind::Usage, "going on after a hit");
            return Err(error.expected(expected).found(found));
        }
        let order = self.sort_order()?;
        let is_scored = match self.sort.is_empty() {
            true => self.order == Order::Score,
            false => order.needs_scores(),
        };
        if !is_scored && !self.score_functions.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "changing scores by functions")
                .expected("an order by score")
                .found("another one, for which nothing is scored"));
        }
        self.functions()?;
        self.group_field()?;
        self.check_selections()?;
        if !self.sort.is_empty() {
            self.after_values.as_ref().map(|(values, _)| order.ranks_of(values)).transpose()?;
        }
        let is_elsewhere = !self.sort.is_empty() || self.is_collapsed();
        match (self.order, self.count_only || self.limit == 0 || is_elsewhere) {
            (Order::Score, false) => self.scoring(Parts::AsNeeded).map(Some),
            _ => self.parameters().map(|_| None),
        }
    }

    pub(super) fn scoring(&self, parts: Parts) -> Result<Ranked<'a>> {
        self.scoring_of(&self.query(), parts)
    }

    /// The same for another query, with the options of this search.
    pub(super) fn scoring_of(&self, query: &Query, parts: Parts) -> Result<Ranked<'a>> {
        let options = ScoringOptions { pattern_terms: self.pattern_terms };
        let (searcher, parameters) = (self.searcher, self.parameters()?);
        let ranked = searcher.ranked(query, &parameters, options, self.statistics, parts)?;
        Ok(ranked.with_functions(self.functions()?))
    }

    /// What changes scores, with names looked up.
    fn functions(&self) -> Result<Vec<BoundScoreFunction>> {
        let schema = self.searcher.schema();
        self.score_functions.iter().map(|function| function.bind(schema)).collect()
    }

    /// The options of scoring, checked.
    fn parameters(&self) -> Result<Vec<(FieldId, Parameters)>> {
        let most = limits::current().pattern_terms;
        if self.pattern_terms > most {
            let (what, name) = ("scoring patterns by their terms", "PATTERN_TERMS_MAX");
            let found = Some(self.pattern_terms as usize);
            return Err(Error::limit_reached(what, name, most, "terms", found));
        }
        let mut parameters = vec![];
        for (name, own) in &self.parameters {
            let is_sound = own.k1 >= 0.0 && own.k1.is_finite() && (0.0..=1.0).contains(&own.b);
            if !is_sound {
                return Err(Error::new(ErrorKind::Usage, format!("ranking by the field '{name}'"))
                    .expected("k1 of 0 or more and b of 0 to 1")
                    .found(format!("k1 {} and b {}", own.k1, own.b)));
            }
            parameters.push((self.field(name)?, *own));
        }
        Ok(parameters)
    }

    /// Gives the best documents of the page to `hit` with their scores, and finds what else was asked for; with
    /// `trace` also how the threshold rose. Lists that are `kept` open are not opened again.
    pub(super) fn best(
        &self,
        ranked: &Ranked<'_>,
        trace: bool,
        kept: Option<&mut Kept<'_>>,
        mut hit: impl FnMut(DocId, f32) -> Result<()>,
    ) -> Result<Found> {
        let mut found = Found::uncounted();
        let mut scratch = self.searcher.pruned_scratch();
        let way = self.way(ranked);
        let count = self.total != TotalMode::Unknown;
        let page_end = self.offset.saturating_add(self.limit);
        let mut top = self.top(page_end.min(self.searcher.n_docs()), &mut scratch);
        if trace {
            top = top.traced();
        }
        let done = self.look(ranked, way, kept, &mut top, &mut scratch, &mut found);
        self.end(done, &mut found)?;
        found.trace = top.take_trace();
        let best = top.into_sorted()?;
        if found.stopped.is_some() && found.total.relation == Relation::AtLeast {
            found.total.value = found.total.value.max(best.len() as u64);
        }
        if !self.needs_matches(way) && !count {
            found.total = Total { value: best.len() as u64, relation: Relation::Unknown };
        }
        let start = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let page = best.get(start..).unwrap_or_default();
        found.n_hits = page.len() as u64;
        page.iter().try_for_each(|scored| hit(scored.doc(), scored.score()))?;
        // What was stopped in the middle is not used again.
        if found.stopped.is_none() {
            scratch.keep_top(best);
            self.searcher.recycle_pruned(scratch);
        }
        Ok(found)
    }

    /// Offers to `top` what can be among the best, and finds what else was asked for.
    fn look(
        &self,
        ranked: &Ranked<'_>,
        way: Way,
        mut kept: Option<&mut Kept<'_>>,
        top: &mut Top,
        scratch: &mut Scratch,
        found: &mut Found,
    ) -> Result<()> {
        let count = self.total != TotalMode::Unknown;
        match way {
            Way::Bounds => {
                let has_facets = self.needs_matches(way);
                let count = count && !has_facets;
                let pruning = match &mut kept {
                    Some(kept) => kept.lists.find_best(ranked, count, top, scratch)?,
                    None => find_best(ranked, ranked.shape(), count, top, scratch)?,
                };
                found.looked_at = LookedAt::Blocks(pruning);
                if has_facets {
                    self.with_matches(found, |_, _, _| Ok(()))?;
                } else if count {
                    match pruning.matching {
                        Some(value) => found.total = Total { value, relation: Relation::Exact },
                        None => self.count(kept.and_then(|kept| kept.counting.as_mut()), found)?,
                    }
                }
            }
            Way::Everything => self.with_matches(found, |execution, matches, found| {
                let segments = &execution.plan().segments;
                found.looked_at = LookedAt::All(score_all(ranked, segments, matches, top)?);
                Ok(())
            })?,
            Way::Phrase | Way::PhraseCounted => {
                let pruning = match kept {
                    Some(kept) => kept.lists.find_best_of_phrase(count, top, scratch)?,
                    None => find_best_of_phrase(ranked, count, top, scratch)?,
                };
                found.looked_at = LookedAt::Phrase(pruning);
                found.total = Total { value: pruning.matching, relation: Relation::Exact };
            }
        }
        Ok(())
    }

    /// Finds everything that matches, does something with it, and counts the facets.
    pub(super) fn with_matches(
        &self,
        found: &mut Found,
        then: impl FnOnce(&Execution<'_>, &Matches, &mut Found) -> Result<()>,
    ) -> Result<()> {
        let goal = Goal::Page { offset: 0, limit: 0, total: plan::Total::Exact };
        let options = PlanOptions { goal, ..self.options(false)? };
        let mut execution = self.searcher.execution(&self.query(), &options)?;
        self.with_matches_of(&mut execution, found, then)?;
        self.searcher.recycle(execution);
        Ok(())
    }

    /// The same where it is planned already.
    pub(super) fn with_matches_of(
        &self,
        execution: &mut Execution<'_>,
        found: &mut Found,
        then: impl FnOnce(&Execution<'_>, &Matches, &mut Found) -> Result<()>,
    ) -> Result<()> {
        let done = execution.page_and_matches(&mut found.docs);
        found.total.value = execution.counted();
        let (counted, matches) = done?;
        found.total = self.total_of(counted);
        then(execution, &matches, found)?;
        self.count_facets(execution, &matches, found)
    }

    /// Counts what matches, as far as that is asked for: by `kept`, or else by what is planned for it.
    fn count(&self, kept: Option<&mut Execution<'_>>, found: &mut Found) -> Result<()> {
        let total = &mut found.total;
        match (self.total, kept) {
            (TotalMode::UpTo(_), Some(kept)) => return self.count_page(kept, total),
            (TotalMode::UpTo(most), None) => {
                let goal = Goal::Page { offset: 0, limit: 0, total: plan::Total::UpTo(most) };
                let options = PlanOptions { goal, ..PlanOptions::default() };
                let mut execution = self.searcher.execution(&self.query(), &options)?;
                self.count_page(&mut execution, total)?;
                self.searcher.recycle(execution);
                return Ok(());
            }
            (_, Some(kept)) => {
                let done = kept.count();
                total.value = kept.counted();
                done?;
            }
            (_, None) => self.searcher.count_to(&self.query(), &mut total.value)?,
        }
        total.relation = Relation::Exact;
        Ok(())
    }

    fn count_page(&self, execution: &mut Execution<'_>, total: &mut Total) -> Result<()> {
        let done = execution.page(&mut vec![]);
        total.value = execution.counted();
        *total = self.total_of(done?);
        Ok(())
    }

    /// Room for the `k` best documents, as far as they come after an earlier page.
    fn top(&self, k: u64, scratch: &mut Scratch) -> Top {
        let top = Top::new(usize::try_from(k).unwrap_or(usize::MAX), scratch.take_top());
        match self.after {
            Some((score, doc)) => top.after(after(score, doc)),
            None => top,
        }
    }

    /// How the search would be answered, without touching postings but a few of phrases.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn explain(self) -> Result<ExplainTree> {
        let _scope = self.searcher.enter(&self.budget);
        let ranked = self.ranked()?;
        let options = PlanOptions { goal: self.goal(ranked.as_ref()), ..self.options(true)? };
        let (plan, rewritten, mut notes) = self.searcher.plan(&self.query(), &options)?;
        let mut tree = explain::explain(&plan, self.searcher.schema(), None);
        match ranked.as_ref().filter(|ranked| self.is_scored(ranked)) {
            Some(ranked) => self.put_top(&mut tree, ranked, None),
            None if self.is_collapsed() => self.put_collapse(&mut tree, None),
            None if self.is_sorted() => self.put_sort(&mut tree, None)?,
            None => notes.extend(ranked.and_then(|ranked| constant_note(&ranked))),
        }
        self.put_facets(&mut tree, None)?;
        Ok(self.worded(tree, rewritten, notes))
    }

    /// Answers the query and shows how: the plan with what happened. Hits are found, not fetched. Where it is
    /// [stopped](Self::timeout) while it runs, that is what happened: the plan shows where.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn analyze(mut self) -> Result<ExplainTree> {
        let started = Instant::now();
        let _scope = self.searcher.enter(&self.budget);
        self.partial = true;
        let ranked = self.ranked()?;
        let options = PlanOptions { goal: self.goal(ranked.as_ref()), ..self.options(true)? };
        let (plan, rewritten, mut notes) = self.searcher.plan(&self.query(), &options)?;
        let mut execution = Execution::new(plan, true, ExecutionScratch::default());
        let mut found = Found::uncounted();
        let scored = ranked.as_ref().filter(|ranked| self.is_scored(ranked));
        let is_sorted = scored.is_none() && self.is_sorted() && !self.is_collapsed();
        let done = match options.goal {
            _ if is_sorted => Ok(()),
            Goal::Count if self.facets.is_empty() => execution.count().map(|_| ()),
            _ => self.execute(&mut execution, &mut found),
        };
        self.end(done, &mut found)?;
        let mut top = None;
        match scored {
            Some(ranked) => {
                let started = Instant::now();
                let found = self.best(ranked, true, None, |_, _| Ok(()))?;
                top = Some((found, started.elapsed()));
            }
            // Finds its matches by itself, once more.
            None if self.is_collapsed() => {
                let collapsed = self.collapsed(|_| Ok(()))?;
                (found.collapsed, found.n_hits) = (collapsed.collapsed, collapsed.n_hits);
                found.stopped = found.stopped.or(collapsed.stopped);
            }
            // Sorts what the nodes below it find, so that its time is its own.
            None if is_sorted => found = self.sorted(Some(&mut execution), |_, _, _| Ok(()))?,
            None => notes.extend(ranked.as_ref().and_then(constant_note)),
        }
        let pages = !self.count_only && matches!(options.goal, Goal::Page { limit: 1.., .. });
        let run = explain::Run {
            profile: execution.profile(),
            page_len: pages.then_some(found.docs.len() as u64),
            facets: &found.facet_profiles,
            total_ns: u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX),
        };
        let mut tree = explain::explain(execution.plan(), self.searcher.schema(), Some(run));
        let of_top = top.as_ref().and_then(|(found, _)| found.stopped);
        if let Some(stopped) = found.stopped.or(of_top) {
            notes.push(format!("{stopped}: this is what happened until then"));
        }
        if let Some(ranked) = scored {
            self.put_top(&mut tree, ranked, top.as_ref().map(|(found, took)| (found, *took)));
        } else if self.is_collapsed() {
            self.put_collapse(&mut tree, Some(&found));
        } else if is_sorted {
            self.put_sort(&mut tree, Some(&found))?;
        }
        self.put_facets(&mut tree, Some(&found))?;
        Ok(self.worded(tree, rewritten, notes))
    }

    /// Whether hits have scores that differ, or come after one that has the same.
    pub(super) fn is_scored(&self, ranked: &Ranked<'_>) -> bool {
        ranked.constant().is_none() || self.after.is_some()
    }

    /// What the plan is asked for: of a query that is ranked everything that matches, or only its number where
    /// the best are found otherwise.
    fn goal(&self, ranked: Option<&Ranked<'_>>) -> Goal {
        match ranked {
            Some(ranked) if self.is_scored(ranked) => match self.needs_matches(self.way(ranked)) {
                false => match (self.way(ranked), self.total) {
                    (Way::Bounds, TotalMode::UpTo(most)) => {
                        Goal::Page { offset: 0, limit: 0, total: plan::Total::UpTo(most) }
                    }
                    _ => Goal::Count,
                },
                true => Goal::Page { offset: 0, limit: 0, total: plan::Total::Exact },
            },
            _ if self.is_sorted() || self.is_collapsed() => {
                Goal::Page { offset: 0, limit: 0, total: plan::Total::Exact }
            }
            _ => self.own_goal(),
        }
    }

    fn worded(&self, mut tree: ExplainTree, rewritten: String, notes: Vec<String>) -> ExplainTree {
        tree.query = self.query().to_string();
        tree.parsed = tree.query.clone();
        tree.rewritten = rewritten;
        tree.notes = notes;
        tree
    }

    /// What the plan is asked for where nothing is ranked.
    fn own_goal(&self) -> Goal {
        match self.count_only {
            true => Goal::Count,
            false => Goal::Page {
                offset: self.offset,
                limit: self.limit,
                total: match self.total {
                    TotalMode::Exact => plan::Total::Exact,
                    TotalMode::UpTo(most) => plan::Total::UpTo(most),
                    TotalMode::Unknown => plan::Total::Unknown,
                },
            },
        }
    }

    pub(super) fn options(&self, for_people: bool) -> Result<PlanOptions> {
        let goal = self.own_goal();
        let facets = self.term_facets()?;
        Ok(PlanOptions { goal, facets, for_people })
    }

    pub(super) fn field(&self, name: &str) -> Result<FieldId> {
        self.field_for(Error::new(ErrorKind::Usage, "choosing a field"), name)
    }

    /// The same, where another error says what it is for.
    pub(super) fn field_for(&self, wrong: Error, name: &str) -> Result<FieldId> {
        let schema = self.searcher.schema();
        schema.field_id(name).ok_or_else(|| {
            let known: Vec<_> = schema.fields().iter().map(|field| &*field.name).collect();
            wrong.expected(format!("one of {}", known.join(", "))).found(format!("'{name}'"))
        })
    }

    /// What the hits of the search will have.
    #[cfg(feature = "arrow")]
    pub(crate) fn kinds_of_hits(&self) -> Result<HitKinds> {
        let schema = self.searcher.schema();
        let fields = match self.fields.as_deref() {
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

    /// The names, once each is known to be a stored field.
    pub(super) fn known_fields(&self, names: &[String]) -> Result<Vec<String>> {
        for name in names {
            if !self.searcher.schema().get(self.field(name)?).stored {
                return Err(Error::new(ErrorKind::Usage, "choosing the fields of a hit")
                    .expected("a stored field")
                    .found(format!("'{name}', which is not stored")));
            }
        }
        Ok(names.to_vec())
    }

    pub(super) fn execute(&self, execution: &mut Execution<'_>, found: &mut Found) -> Result<()> {
        if self.facets.is_empty() {
            return self.execute_page(execution, &mut found.docs, &mut found.total);
        }
        found.docs.reserve(self.limit.min(HITS_ROOM_MAX) as usize);
        let done = execution.page_and_matches(&mut found.docs);
        found.total.value = execution.counted();
        let (counted, matches) = done?;
        found.total = self.total_of(counted);
        self.count_facets(execution, &matches, found)
    }

    /// Appends the documents of the page to `docs`, where there are no facets, and counts the matches.
    pub(super) fn execute_page(
        &self,
        execution: &mut Execution<'_>,
        docs: &mut Vec<DocId>,
        total: &mut Total,
    ) -> Result<()> {
        let done = match self.count_only {
            true => execution.count().map(|documents| Counted { documents, more: false }),
            false => {
                docs.reserve(self.limit.min(HITS_ROOM_MAX) as usize);
                execution.page(docs)
            }
        };
        total.value = execution.counted();
        *total = self.total_of(done?);
        Ok(())
    }

    fn total_of(&self, counted: Counted) -> Total {
        let relation = match (counted.more, self.total) {
            (false, _) => Relation::Exact,
            (true, TotalMode::Unknown) => Relation::Unknown,
            (true, _) => Relation::AtLeast,
        };
        Total { value: counted.documents, relation }
    }
}

/// What hits have: values that they are sorted by, the one that they are grouped by, and stored fields.
#[cfg(feature = "arrow")]
pub(crate) struct HitKinds {
    pub(crate) sort: Vec<crate::schema::FieldKind>,
    pub(crate) group: Option<crate::schema::FieldKind>,
    pub(crate) fields: Vec<crate::schema::Field>,
}

/// What an execution found, before stored fields are fetched.
#[derive(Default)]
pub(super) struct Found {
    /// The documents of the page, where they are not the best.
    pub(super) docs: Vec<DocId>,
    /// How many of the best are on the page.
    pub(super) n_hits: u64,
    pub(super) total: Total,
    pub(super) facets: Vec<FacetCounts>,
    /// Of those that are counted by terms, and of those by columns.
    pub(super) facet_profiles: Vec<FacetProfile>,
    pub(super) column_profiles: Vec<ColumnProfile>,
    /// How many different values hits could have, where they are grouped, and what that took.
    pub(super) groups: Option<u64>,
    pub(super) collapsed: Option<CollapseRun>,
    /// By facet those within it.
    pub(super) inner: Vec<Vec<Inner>>,
    pub(super) looked_at: LookedAt,
    pub(super) trace: Option<Trace>,
    pub(super) stopped: Option<Stopped>,
}

impl Found {
    /// Nothing so far.
    pub(super) fn uncounted() -> Self {
        let total = Total { value: 0, relation: Relation::AtLeast };
        Found { total, ..Found::default() }
    }
}

/// What finding the best looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum LookedAt {
    #[default]
    Nothing,
    /// So many documents, all that match.
    All(u64),
    Blocks(Pruning),
    Phrase(PhrasePruning),
    Columns(SortProfile),
}
