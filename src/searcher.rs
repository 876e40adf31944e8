//! Asking an index: one immutable snapshot, and the read path told in order.
//!
//! ```text
//! text ── parse ─▶ Query ── rewrite ─▶ Normal ── plan ─▶ Plan ── execute ─▶ documents ── fetch ─▶ Hits
//!                                                  └── explain ─▶ ExplainTree      └── facets
//! ```

use crate::analysis::Analyzers;
use crate::error::{Error, ErrorKind, Result};
use crate::execution::{Counted, Execution, ExecutionScratch, MatchSet, Matches};
use crate::explain::{self, ExplainTree};
use crate::facet::{self, FacetProfile};
use crate::highlight::Highlighter;
use crate::ids::{DocId, FieldId};
use crate::plan::{self, Goal, Plan, PlanOptions, PlanScratch};
use crate::query::{self, Normal, ParseOptions, Query};
use crate::ranking;
use crate::ranking::bm25::{FieldScorings, Parameters};
use crate::ranking::prepared::{Ranked, Shape};
use crate::ranking::pruned::{self, PhrasePruning, Pruning};
pub use crate::ranking::scorer::Explanation;
use crate::ranking::top::Top;
use crate::schema::{FieldKind, Schema};
use crate::segment::reader::SegmentReader;
use crate::segment::snapshot::Snapshot;
use crate::storage::Storage;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Hits on a page unless [`limit`](SearchBuilder::limit) says otherwise.
const LIMIT_DEFAULT: u64 = 10;
/// Searches at the same time whose memory is kept for later ones, each at most some 150 KiB.
const SCRATCH_KEPT: usize = 16;
/// Plans of more operators give their memory back.
const NODES_KEPT: usize = 64;
/// Room made for hits before any is found.
const HITS_ROOM_MAX: u64 = 1_024;

/// Answers queries from one snapshot of an index, which no later commit changes.
///
/// Cloning is cheap, and clones may be used from any number of threads. What a searcher reads stays
/// on disk for as long as it lives; [`reload`](Self::reload) gives the newest commit.
///
/// ```
/// use treepie::{Document, Index, Schema};
///
/// let index = Index::in_memory(Schema::builder().text("title").keyword("kind").build()?);
/// let mut writer = index.writer()?;
/// for (title, kind) in [("Paris, Texas", "film"), ("Paris", "city"), ("Texas", "state")] {
///     writer.add(Document::new().with("title", title).with("kind", kind))?;
/// }
/// writer.commit()?;
///
/// let searcher = index.searcher()?;
/// let query = searcher.parse("paris OR texas")?;
/// let page = searcher.search(&query).limit(2).facet("kind", 3).run()?;
/// assert_eq!(page.total.value, 3);
/// assert_eq!(page.hits[0].fields["title"].to_string(), "Paris, Texas");
/// assert_eq!(page.facets[0].buckets[0].value, "city");
/// assert_eq!(searcher.count(&searcher.parse("paris -texas")?)?, 1);
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Searcher(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    storage: Arc<dyn Storage>,
    snapshot: Snapshot,
    analyzers: Arc<Analyzers>,
    /// What earlier queries left for later ones, at most one for each that ran at the same time.
    scratch: Mutex<Vec<Scratch>>,
    /// The same for finding the best.
    pruned: Mutex<Vec<pruned::Scratch>>,
    scorings: FieldScorings,
}

type Scratch = (PlanScratch, ExecutionScratch);

impl Searcher {
    /// Opens the newest commit of `storage`.
    pub(crate) fn open(storage: Arc<dyn Storage>, analyzers: Arc<Analyzers>) -> Result<Self> {
        let snapshot = Snapshot::open(&*storage)?;
        Ok(Self::of(storage, snapshot, analyzers))
    }

    /// A searcher of the newest commit; `None` where this is it. Segments that both have stay open.
    ///
    /// # Errors
    ///
    /// As opening the index.
    pub fn reload(&self) -> Result<Option<Searcher>> {
        let Inner { storage, snapshot, analyzers, .. } = &*self.0;
        let newest = Snapshot::open_after(&**storage, Some(snapshot))?;
        if newest.manifest.generation == snapshot.manifest.generation {
            return Ok(None);
        }
        let (storage, analyzers) = (Arc::clone(storage), Arc::clone(analyzers));
        Ok(Some(Self::of(storage, newest, analyzers)))
    }

    fn of(storage: Arc<dyn Storage>, snapshot: Snapshot, analyzers: Arc<Analyzers>) -> Self {
        let (scratch, pruned) = Default::default();
        let scorings = FieldScorings::new(snapshot.manifest.schema.fields().len());
        Searcher(Arc::new(Inner { storage, snapshot, analyzers, scratch, pruned, scorings }))
    }

    /// The fields of the index.
    pub fn schema(&self) -> &Schema {
        &self.0.snapshot.manifest.schema
    }

    /// The number of the commit that is being read; it grows with every commit.
    pub fn generation(&self) -> u64 {
        self.0.snapshot.manifest.generation
    }

    /// How many documents there are.
    pub fn n_docs(&self) -> u64 {
        self.segments().map(|segment| u64::from(segment.n_docs())).sum()
    }

    /// Bytes that finding the best keeps from one search to the next, over all searches that ran at the same
    /// time: for every 65,536 documents of the largest segment some KiB, and nothing that grows with hits.
    pub fn scratch_bytes(&self) -> usize {
        lock(&self.0.pruned).iter().map(pruned::Scratch::bytes).sum()
    }

    /// The segments of the snapshot, in the order of the documents.
    fn segments(&self) -> impl ExactSizeIterator<Item = SegmentReader<'_>> {
        let Snapshot { manifest, segments, .. } = &self.0.snapshot;
        let files = segments.iter().zip(&manifest.segments);
        files.map(|(file, meta)| SegmentReader::new(file, &manifest.schema, meta.n_docs))
    }

    /// Reads a query in the [query language](crate::query).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`] with the place in the text.
    pub fn parse(&self, text: &str) -> Result<Query> {
        query::parse(text, &ParseOptions::default())
    }

    /// Begins a search; nothing happens until [`run`](SearchBuilder::run).
    pub fn search<'a>(&'a self, query: &'a Query) -> SearchBuilder<'a> {
        SearchBuilder {
            searcher: self,
            query,
            limit: LIMIT_DEFAULT,
            offset: 0,
            total: TotalMode::Exact,
            count_only: false,
            fields: None,
            facets: vec![],
            order: Order::default(),
            after: None,
            parameters: vec![],
        }
    }

    /// How the score of a document comes about, as a tree of numbers; `None` where it does not match.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// # let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new().with("title", "Paris"))?;
    /// # writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("paris")?;
    /// let hit = &searcher.search(&query).run()?.hits[0];
    /// let explanation = searcher.explain_score(&query, hit.doc)?.expect("a hit matches");
    /// assert_eq!(Some(explanation.value), hit.score);
    /// println!("{explanation}");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] for a number that no document has; as [`count`](Self::count).
    pub fn explain_score(&self, query: &Query, doc: DocId) -> Result<Option<Explanation>> {
        let mut base = 0;
        for (at, segment) in self.segments().enumerate() {
            let here = doc.0 - base;
            if here < u64::from(segment.n_docs()) {
                let normal = query::rewrite(query, self.schema(), &self.0.analyzers)?.normal;
                let is_in = match self.matches(&normal)?.get(at) {
                    Some(MatchSet::Some(windows)) => windows.contains(here as u32),
                    Some(MatchSet::Everything) => true,
                    None => false,
                };
                let ranked = self.ranked(query, &[])?;
                return match is_in {
                    true => ranked.segment(at)?.explain(here as u32),
                    false => Ok(None),
                };
            }
            base += u64::from(segment.n_docs());
        }
        Err(Error::new(ErrorKind::NotFound, "explaining the score of a document")
            .expected(format!("a number below {base}"))
            .found(doc.to_string()))
    }

    /// Looks up what scoring a query needs.
    fn ranked(&self, query: &Query, parameters: &[(FieldId, Parameters)]) -> Result<Ranked<'_>> {
        let scored = query::scoring(query, self.schema(), &self.0.analyzers)?;
        let of_field = |field| {
            let own = parameters.iter().find(|(other, _)| *other == field);
            let own = own.map_or_else(Parameters::default, |(_, parameters)| *parameters);
            self.0.scorings.get(field, self.segments(), own)
        };
        Ranked::new(&scored, self.segments().collect(), of_field, |normal| self.matches(normal))
    }

    /// Offers to `top` what can be among the best, by bounds.
    fn find_best(&self, ranked: &Ranked<'_>, count: bool, top: &mut Top) -> Result<Pruning> {
        let mut scratch = lock(&self.0.pruned).pop().unwrap_or_default();
        let pruning = ranking::search::find_best(ranked, ranked.shape(), count, top, &mut scratch)?;
        self.recycle_pruned(scratch);
        Ok(pruning)
    }

    /// The same for a phrase; with `count` finds all that have it.
    fn find_best_of_phrase(
        &self,
        ranked: &Ranked<'_>,
        count: bool,
        top: &mut Top,
    ) -> Result<PhrasePruning> {
        let mut scratch = lock(&self.0.pruned).pop().unwrap_or_default();
        let pruning = ranking::search::find_best_of_phrase(ranked, count, top, &mut scratch)?;
        self.recycle_pruned(scratch);
        Ok(pruning)
    }

    /// Everything that matches, by segment.
    fn matches(&self, normal: &Normal) -> Result<Matches> {
        let mut execution = self.collecting(normal)?;
        let matches = execution.page_and_matches(&mut vec![])?.1;
        self.recycle(execution);
        Ok(matches)
    }

    /// Plans to find everything that matches.
    fn collecting(&self, normal: &Normal) -> Result<Execution<'_>> {
        let goal = Goal::Page { offset: 0, limit: 0, total: plan::Total::Exact };
        let options = PlanOptions { goal, ..PlanOptions::default() };
        let (scratch, execution) = self.scratch();
        let plan = plan::plan(normal, self.segments(), &options, scratch)?;
        Ok(Execution::new(plan, false, execution))
    }

    /// How many documents match.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`] where the query means nothing in this schema, [`ErrorKind::Corrupt`]
    /// where what it reads is damaged.
    pub fn count(&self, query: &Query) -> Result<u64> {
        let normal = query::rewrite(query, self.schema(), &self.0.analyzers)?.normal;
        if let Normal::Term { field, term } = &normal {
            // What the plan would say, without one.
            return self.segments().try_fold(0, |sum, segment| {
                let info = segment.field(*field).terms()?.get(term)?;
                match segment.live() {
                    None => Ok(sum + info.map_or(0, |info| u64::from(info.df))),
                    Some(live) => match *live {},
                }
            });
        }
        let (plan, execution) = self.scratch();
        let plan = plan::plan(&normal, self.segments(), &PlanOptions::default(), plan)?;
        let mut execution = Execution::new(plan, false, execution);
        let count = execution.count();
        self.recycle(execution);
        count
    }

    /// Plans a count, to be taken any number of times.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// # let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new().with("title", "Paris"))?;
    /// # writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let mut prepared = searcher.prepare(&searcher.parse("paris")?)?;
    /// assert_eq!(prepared.count()?, 1);
    /// assert_eq!(prepared.count()?, 1); // allocates nothing
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count).
    pub fn prepare(&self, query: &Query) -> Result<PreparedCount<'_>> {
        Ok(PreparedCount { execution: self.execution(query, &PlanOptions::default())? })
    }

    /// The most frequent terms of a field among the documents that match.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`] for a field that does not exist; as [`count`](Self::count).
    pub fn facets(&self, query: &Query, field: &str, limit: usize) -> Result<FacetCounts> {
        let mut found = self.search(query).count_only().facet(field, limit).run()?;
        found.facets.pop().ok_or_else(|| Error::new(ErrorKind::Usage, "counting a facet"))
    }

    /// How a search for ten hits would be answered. Reads the dictionary and the headers of posting
    /// lists, no postings; see [`SearchBuilder::analyze`] for what happens when it runs.
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count).
    pub fn explain(&self, query: &Query) -> Result<ExplainTree> {
        self.search(query).explain()
    }

    /// The stored fields of a document of this snapshot.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] for a number that no document has.
    pub fn document(&self, doc: DocId) -> Result<Fields> {
        let mut base = 0;
        for segment in self.segments() {
            let here = doc.0 - base;
            if here < u64::from(segment.n_docs()) {
                let mut fields = Fields::new();
                for (field, value) in segment.stored(here as u32)? {
                    let name = &self.schema().get(field).name;
                    match fields.get_mut(name) {
                        Some(values) => values.push(value),
                        None => drop(fields.insert(name.clone(), Value::One(value))),
                    }
                }
                return Ok(fields);
            }
            base += u64::from(segment.n_docs());
        }
        Err(Error::new(ErrorKind::NotFound, "fetching a document")
            .expected(format!("a number below {base}"))
            .found(doc.to_string()))
    }

    /// What marks the words of a query in stored texts; see [`highlight`](crate::highlight).
    ///
    /// # Errors
    ///
    /// As [`Highlighter::new`].
    pub fn highlighter(&self, query: &Query) -> Result<Highlighter> {
        Highlighter::new(query, self.schema(), &self.0.analyzers)
    }

    /// Plans a query and gets ready to carry the plan out.
    fn execution(&self, query: &Query, options: &PlanOptions) -> Result<Execution<'_>> {
        let rewritten = query::rewrite(query, self.schema(), &self.0.analyzers)?;
        let (plan, execution) = self.scratch();
        let plan = plan::plan(&rewritten.normal, self.segments(), options, plan)?;
        Ok(Execution::new(plan, false, execution))
    }

    /// Plans a query for people; also gives what it was rewritten to, and why.
    fn plan(
        &self,
        query: &Query,
        options: &PlanOptions,
    ) -> Result<(Plan<'_>, String, Vec<String>)> {
        let rewritten = query::rewrite(query, self.schema(), &self.0.analyzers)?;
        let scratch = PlanScratch::default();
        let plan = plan::plan(&rewritten.normal, self.segments(), options, scratch)?;
        let text = rewritten.normal.display(self.schema()).to_string();
        Ok((plan, text, rewritten.notes))
    }

    /// Memory that an earlier query left, or none.
    fn scratch(&self) -> Scratch {
        lock(&self.0.scratch).pop().unwrap_or_default()
    }

    /// Keeps the memory of finding the best for the next query.
    fn recycle_pruned(&self, scratch: pruned::Scratch) {
        let mut kept = lock(&self.0.pruned);
        if kept.len() < SCRATCH_KEPT {
            kept.push(scratch);
        }
    }

    /// Keeps the memory of an execution for the next query.
    fn recycle(&self, execution: Execution<'_>) {
        if execution.plan().nodes.len() <= NODES_KEPT {
            let scratch = execution.into_scratch();
            let mut kept = lock(&self.0.scratch);
            if kept.len() < SCRATCH_KEPT {
                kept.push(scratch);
            }
        }
    }
}

/// What a panic left behind in a pool is empty vectors at the worst.
fn lock<T>(pool: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A search with its options; from [`Searcher::search`].
#[derive(Clone, Debug)]
#[must_use = "nothing happens until `run`"]
pub struct SearchBuilder<'a> {
    searcher: &'a Searcher,
    query: &'a Query,
    limit: u64,
    offset: u64,
    total: TotalMode,
    count_only: bool,
    fields: Option<Vec<String>>,
    facets: Vec<(String, usize)>,
    order: Order,
    after: Option<(f32, DocId)>,
    parameters: Vec<(String, Parameters)>,
}

/// What there is to say of a query whose matches all score the same.
fn constant_note(ranked: &Ranked<'_>) -> Option<String> {
    let score = ranked.constant()?;
    Some(format!("every match scores {score}, so hits come in document order"))
}

/// In what order hits come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// The best first, by BM25; where scores are equal, the smaller number.
    #[default]
    Score,
    /// As they were added. Nothing is scored, and reading stops when the page is full.
    Document,
}

impl SearchBuilder<'_> {
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

    /// Goes on after a hit of an earlier page, the last of it, by its score and number: as
    /// [`offset`](Self::offset) and without keeping what comes before. By score only.
    pub fn after(mut self, score: f32, doc: DocId) -> Self {
        self.after = Some((score, doc));
        self
    }

    /// The parameters of BM25 for one field: how soon more of the same word adds nothing (`k1`, 0 or more, default
    /// 1.2), and how much the length of a document matters (`b`, 0 to 1, default 0.75).
    pub fn bm25(mut self, field: impl Into<String>, k1: f32, b: f32) -> Self {
        self.parameters.push((field.into(), Parameters { k1, b }));
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

    /// Also counts the `limit` most frequent values of a keyword field, or terms of a text field.
    pub fn facet(mut self, field: impl Into<String>, limit: usize) -> Self {
        self.facets.push((field.into(), limit));
        self
    }

    /// Answers the query.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`] where it means nothing in this schema, [`ErrorKind::Usage`] for a field
    /// that does not exist, [`ErrorKind::Corrupt`] where what it reads is damaged.
    pub fn run(self) -> Result<Hits> {
        let started = Instant::now();
        let fields = self.fields.as_deref().map(|names| self.known_fields(names)).transpose()?;
        let ranked = self.ranked()?;
        let (found, scores) = match &ranked {
            Some(ranked) if self.is_scored(ranked) => self.best(ranked)?,
            _ => {
                let mut execution = self.searcher.execution(self.query, &self.options(false)?)?;
                let found = self.execute(&mut execution)?;
                self.searcher.recycle(execution);
                let score = ranked.as_ref().and_then(Ranked::constant);
                let scores = vec![score; found.docs.len()];
                (found, scores)
            }
        };
        let mut hits = Vec::with_capacity(found.docs.len());
        for (doc, score) in found.docs.into_iter().zip(scores) {
            let mut stored = match &fields {
                Some(fields) if fields.is_empty() => Fields::new(),
                _ => self.searcher.document(doc)?,
            };
            if let Some(fields) = &fields {
                stored.retain(|name, _| fields.iter().any(|field| field == name));
            }
            hits.push(Hit { doc, score, fields: stored });
        }
        Ok(Hits { total: found.total, hits, facets: found.facets, took: started.elapsed() })
    }

    /// What scoring needs, where hits are wanted and their scores matter.
    fn ranked(&self) -> Result<Option<Ranked<'_>>> {
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
        match (self.order, self.count_only || self.limit == 0) {
            (Order::Score, false) => self.searcher.ranked(self.query, &parameters).map(Some),
            _ => Ok(None),
        }
    }

    /// The best documents of the page with their scores, and what else was asked for.
    fn best(&self, ranked: &Ranked<'_>) -> Result<(Found, Vec<Option<f32>>)> {
        let mut found = Found::default();
        let page_end = self.offset.saturating_add(self.limit);
        let is_pruned = self.is_pruned(ranked);
        let top = if is_pruned && self.facets.is_empty() {
            let mut top = self.top(page_end.min(self.searcher.n_docs()));
            let count = self.total != TotalMode::Unknown;
            let pruning = self.searcher.find_best(ranked, count, &mut top)?;
            found.pruning = Some(pruning);
            if count {
                // Where it is not known by now: counting everything costs less than knowing where to stop.
                let value = match pruning.matching {
                    Some(matching) => matching,
                    None => self.searcher.count(self.query)?,
                };
                found.total = Total { value, relation: Relation::Exact };
            }
            top
        } else if self.is_phrase(ranked) {
            let mut top = self.top(page_end.min(self.searcher.n_docs()));
            let count = self.total != TotalMode::Unknown;
            let pruning = self.searcher.find_best_of_phrase(ranked, count, &mut top)?;
            found.total = Total { value: pruning.matching, relation: Relation::Exact };
            found.phrase_pruning = Some(pruning);
            top
        } else {
            let goal = Goal::Page { offset: 0, limit: 0, total: plan::Total::Exact };
            let options = PlanOptions { goal, ..self.options(false)? };
            let mut execution = self.searcher.execution(self.query, &options)?;
            let (counted, matches) = execution.page_and_matches(&mut found.docs)?;
            found.total = self.total_of(counted);
            let mut top = self.top(page_end.min(counted.documents));
            if is_pruned {
                found.pruning = Some(self.searcher.find_best(ranked, false, &mut top)?);
            } else {
                let segments = &execution.plan().segments;
                ranking::search::score_all(ranked, segments, &matches, &mut top)?;
            }
            self.count_facets(&execution, &matches, &mut found)?;
            self.searcher.recycle(execution);
            top
        };
        let best = top.into_sorted();
        let is_best_only = self.is_phrase(ranked) || is_pruned && self.facets.is_empty();
        if is_best_only && self.total == TotalMode::Unknown {
            found.total = Total { value: best.len() as u64, relation: Relation::Unknown };
        }
        let start = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let page = best.get(start..).unwrap_or_default();
        found.docs.extend(page.iter().map(|scored| scored.doc()));
        Ok((found, page.iter().map(|scored| Some(scored.score())).collect()))
    }

    /// Room for the `k` best documents, as far as they come after an earlier page.
    fn top(&self, k: u64) -> Top {
        let top = Top::new(usize::try_from(k).unwrap_or(usize::MAX), vec![]);
        match self.after {
            Some((score, doc)) => top.after(ranking::search::after(score, doc)),
            None => top,
        }
    }

    /// How the search would be answered, without touching postings.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn explain(self) -> Result<ExplainTree> {
        let ranked = self.ranked()?;
        let options = PlanOptions { goal: self.goal(ranked.as_ref()), ..self.options(true)? };
        let (plan, rewritten, mut notes) = self.searcher.plan(self.query, &options)?;
        let mut tree = explain::explain(&plan, self.searcher.schema(), None);
        match ranked.as_ref().filter(|ranked| self.is_scored(ranked)) {
            Some(ranked) => self.put_top(&mut tree, ranked, None),
            None => notes.extend(ranked.and_then(|ranked| constant_note(&ranked))),
        }
        Ok(self.worded(tree, rewritten, notes))
    }

    /// Answers the query and shows how: the plan with what happened. Hits are found, not fetched.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn analyze(self) -> Result<ExplainTree> {
        let started = Instant::now();
        let ranked = self.ranked()?;
        let options = PlanOptions { goal: self.goal(ranked.as_ref()), ..self.options(true)? };
        let (plan, rewritten, mut notes) = self.searcher.plan(self.query, &options)?;
        let mut execution = Execution::new(plan, true, ExecutionScratch::default());
        let found = match options.goal {
            Goal::Count if self.facets.is_empty() => {
                execution.count()?;
                Found::default()
            }
            _ => self.execute(&mut execution)?,
        };
        let scored = ranked.as_ref().filter(|ranked| self.is_scored(ranked));
        let mut top = None;
        match scored {
            Some(ranked) => {
                let started = Instant::now();
                top = Some((self.best(ranked)?.0, started.elapsed()));
            }
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
        if let Some(ranked) = scored {
            self.put_top(&mut tree, ranked, top.as_ref().map(|(found, took)| (found, *took)));
        }
        Ok(self.worded(tree, rewritten, notes))
    }

    /// Puts what finds the best on top of a plan, which counts the matches, and what happened.
    fn put_top(
        &self,
        tree: &mut ExplainTree,
        ranked: &Ranked<'_>,
        run: Option<(&Found, Duration)>,
    ) {
        let mut root = std::mem::take(&mut tree.plan);
        if root.operator == "Limit" {
            // That of a plan which is asked for everything, and for no page.
            root = root.children.pop().unwrap_or_default();
        }
        let (offset, limit) = (self.offset, self.limit);
        let label = match offset {
            0 => format!("best {limit} by score"),
            _ => format!("{limit} from the {}th by score", offset.saturating_add(1)),
        };
        let page = |documents: u64| documents.saturating_sub(offset).min(limit);
        let e = &root.estimate;
        // Behind a hit of an earlier page there may be any number of others.
        let lower = if self.after.is_some() { 0 } else { page(e.lower) };
        let mut node = explain::ExplainNode::new("TopK", label);
        node.estimate =
            explain::Estimate::between(page(e.documents), lower, page(e.upper), "limit");
        let by_bounds = self.is_pruned(ranked) || self.is_phrase(ranked);
        node.algorithm = match by_bounds {
            true => format!("BM25, by bounds of {}", ranked.what_has_bounds()),
            false => "BM25 of every match".into(),
        };
        let mut reason = "a block whose best possible score is too low is left out".to_owned();
        if let Some((found, took)) = run {
            node.actual = Some(explain::Actual {
                documents: found.docs.len() as u64,
                documents_in: root.actual.as_ref().map(|actual| actual.documents),
                time_ns: u64::try_from(took.as_nanos()).unwrap_or(u64::MAX),
                ..explain::Actual::default()
            });
            let pruning = found.pruning.map(|pruning| pruning.to_string());
            let did = pruning.or(found.phrase_pruning.map(|pruning| pruning.to_string()));
            did.inspect(|did| reason = format!("{reason}: {did}"));
        }
        if by_bounds {
            let decision = explain::Decision::accepted("top-k by bounds", reason);
            node.decisions = vec![decision.instead_of("score every match", None)];
        }
        node.children = vec![root];
        node.number();
        tree.plan = node;
    }

    /// Whether hits have scores that differ, or come after one that has the same.
    fn is_scored(&self, ranked: &Ranked<'_>) -> bool {
        ranked.constant().is_none() || self.after.is_some()
    }

    /// What the plan is asked for: of a query that is ranked everything that matches, or only its number where
    /// the best are found otherwise.
    fn goal(&self, ranked: Option<&Ranked<'_>>) -> Goal {
        match ranked {
            Some(ranked) if self.is_scored(ranked) => {
                match self.is_phrase(ranked) || self.is_pruned(ranked) && self.facets.is_empty() {
                    true => Goal::Count,
                    false => Goal::Page { offset: 0, limit: 0, total: plan::Total::Exact },
                }
            }
            _ => self.own_goal(),
        }
    }

    /// Whether the best are found without looking at everything that matches.
    fn is_pruned(&self, ranked: &Ranked<'_>) -> bool {
        matches!(ranked.shape(), Shape::AnyOf | Shape::AllOf | Shape::Tree)
    }

    /// Whether the best are found by bounds of a phrase.
    fn is_phrase(&self, ranked: &Ranked<'_>) -> bool {
        ranked.shape() == Shape::Phrase && self.facets.is_empty()
    }

    fn worded(&self, mut tree: ExplainTree, rewritten: String, notes: Vec<String>) -> ExplainTree {
        tree.query = self.query.to_string();
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

    fn options(&self, for_people: bool) -> Result<PlanOptions> {
        let goal = self.own_goal();
        let facets = self
            .facets
            .iter()
            .map(|(name, limit)| Ok((self.field(name)?, *limit)))
            .collect::<Result<_>>()?;
        Ok(PlanOptions { goal, facets, for_people })
    }

    fn field(&self, name: &str) -> Result<FieldId> {
        self.searcher.schema().field_id(name).ok_or_else(|| {
            let known: Vec<_> =
                self.searcher.schema().fields().iter().map(|field| &*field.name).collect();
            Error::new(ErrorKind::Usage, "choosing a field")
                .expected(format!("one of {}", known.join(", ")))
                .found(format!("'{name}'"))
        })
    }

    /// The names, once each is known to be a stored field.
    fn known_fields(&self, names: &[String]) -> Result<Vec<String>> {
        for name in names {
            if !self.searcher.schema().get(self.field(name)?).stored {
                return Err(Error::new(ErrorKind::Usage, "choosing the fields of a hit")
                    .expected("a stored field")
                    .found(format!("'{name}', which is not stored")));
            }
        }
        Ok(names.to_vec())
    }

    fn execute(&self, execution: &mut Execution<'_>) -> Result<Found> {
        let mut found = Found::default();
        if execution.plan().facets.is_empty() && self.count_only {
            found.total = Total { value: execution.count()?, relation: Relation::Exact };
            return Ok(found);
        }
        found.docs.reserve(self.limit.min(HITS_ROOM_MAX) as usize);
        if execution.plan().facets.is_empty() {
            let counted = execution.page(&mut found.docs)?;
            found.total = self.total_of(counted);
            return Ok(found);
        }
        let (counted, matches) = execution.page_and_matches(&mut found.docs)?;
        found.total = self.total_of(counted);
        self.count_facets(execution, &matches, &mut found)?;
        Ok(found)
    }

    fn count_facets(
        &self,
        execution: &Execution<'_>,
        matches: &Matches,
        found: &mut Found,
    ) -> Result<()> {
        for facet in &execution.plan().facets {
            let field = self.searcher.schema().get(facet.field);
            let counts = facet::count_terms(&execution.plan().segments, facet, matches)?;
            found.facet_profiles.push(counts.profile);
            let shown: u64 = counts.buckets.iter().map(|(_, count)| count).sum();
            let other = match field.kind {
                FieldKind::Keyword if !field.many || counts.single_valued => {
                    Some(counts.with_value.saturating_sub(shown))
                }
                _ => None,
            };
            let buckets = counts.buckets.into_iter().map(|(term, count)| Bucket {
                value: String::from_utf8_lossy(&term).into_owned(),
                count,
            });
            found.facets.push(FacetCounts {
                field: field.name.clone(),
                buckets: buckets.collect(),
                other,
                missing: counts.missing,
            });
        }
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

/// What an execution found, before stored fields are fetched.
#[derive(Default)]
struct Found {
    docs: Vec<DocId>,
    total: Total,
    facets: Vec<FacetCounts>,
    facet_profiles: Vec<FacetProfile>,
    /// What finding the best looked at, where it did not have to score everything.
    pruning: Option<Pruning>,
    phrase_pruning: Option<PhrasePruning>,
}

/// A planned count with the memory to take it; from [`Searcher::prepare`].
#[derive(Debug)]
pub struct PreparedCount<'s> {
    execution: Execution<'s>,
}

impl PreparedCount<'_> {
    /// How many documents match. From the second time on nothing is allocated, where the index is
    /// mapped or in memory.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Corrupt`] where what it reads is damaged.
    pub fn count(&mut self) -> Result<u64> {
        self.execution.count()
    }
}

/// How far a search counts its matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// One page of a result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hits {
    /// How many documents match.
    pub total: Total,
    /// The documents of the page, in document order.
    pub hits: Vec<Hit>,
    /// In the order they were asked for.
    pub facets: Vec<FacetCounts>,
    /// From the query to its answer.
    pub took: Duration,
}

/// A number of matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Total {
    /// How many were counted.
    pub value: u64,
    /// What that says about how many there are.
    pub relation: Relation,
}

/// What a counted number says about how many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Relation {
    /// It is the number.
    #[default]
    Exact,
    /// There may be more.
    AtLeast,
    /// Nothing: counting was not asked for.
    Unknown,
}

impl Relation {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Relation::Exact => "exact",
            Relation::AtLeast => "at_least",
            Relation::Unknown => "unknown",
        }
    }
}

/// One document that matches.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// Its number in the snapshot.
    pub doc: DocId,
    /// How well it matches, where anything is scored.
    pub score: Option<f32>,
    /// Its stored fields.
    pub fields: Fields,
}

/// Stored fields by name.
pub type Fields = BTreeMap<String, Value>;

/// What is stored of one field of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A single value.
    One(String),
    /// Several values, in the order they were added.
    Many(Vec<String>),
}

impl Value {
    /// The values, one or several.
    ///
    /// ```
    /// use treepie::Value;
    ///
    /// let value = Value::Many(vec!["a".into(), "b".into()]);
    /// assert_eq!(value.iter().collect::<Vec<_>>(), ["a", "b"]);
    /// assert_eq!(value.to_string(), "a, b");
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let values = match self {
            Value::One(value) => std::slice::from_ref(value),
            Value::Many(values) => values,
        };
        values.iter().map(|value| &**value)
    }

    fn push(&mut self, value: String) {
        match self {
            Value::One(first) => *self = Value::Many(vec![std::mem::take(first), value]),
            Value::Many(values) => values.push(value),
        }
    }
}

/// The value, or all of them with commas between.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, value) in self.iter().enumerate() {
            f.write_str(if at > 0 { ", " } else { "" })?;
            f.write_str(value)?;
        }
        Ok(())
    }
}

/// The most frequent values of a field among the documents that match. All numbers are exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FacetCounts {
    /// The field.
    pub field: String,
    /// Descending by count, then ascending by the bytes of the value.
    pub buckets: Vec<Bucket>,
    /// Matching documents whose value is not among the buckets; `None` for a field where a document
    /// may have many.
    pub other: Option<u64>,
    /// Matching documents without a value.
    pub missing: u64,
}

/// One value of a facet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bucket {
    /// The value, or the term of a text field.
    pub value: String,
    /// How many matching documents have it.
    pub count: u64,
}
