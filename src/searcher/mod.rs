//! Asking an index: one immutable snapshot, and the read path told in order.
//!
//! ```text
//! text ── parse ─▶ Query ── with page, order, facets and limits ─▶ SearchRequest, which is data
//!
//! SearchRequest ── bind ─▶ Logical ── plan ─▶ Plan ── carry out ─▶ documents, facets ── fetch ─▶ Hits
//!                                              └── with a profile ─▶ ExplainTree
//! ```

mod answer;
mod bound;
mod budgeted;
mod builder;
mod cache;
mod distances;
mod etag;
mod explained;
mod explainer;
mod facets;
mod facts;
mod fused;
#[cfg(test)]
mod look_ups_tests;
mod meaning;
mod page;
#[cfg(test)]
mod pattern_tests;
mod prepared;
#[cfg(test)]
mod request_tests;
mod scored;
mod search;
mod select;
mod slow_log;
#[cfg(test)]
mod stopping_tests;
mod what_if;
#[cfg(test)]
mod what_if_tests;
mod why;
mod why_empty;

pub use builder::SearchBuilder;
pub(crate) use cache::ResultCache;
pub use cache::ResultCacheStats;
pub use etag::Etag;
pub use explainer::Explainer;
use meaning::SearchMemory;
pub use prepared::PreparedSearch;
pub use slow_log::SlowLog;
pub(crate) use slow_log::SlowSearches;

use crate::analysis::Analyzers;
use crate::budget::{self, Budget, ns};
use crate::error::{Error, ErrorKind, Result};
use crate::execution::Matching;
use crate::explain::ExplainTree;
use crate::highlight::Highlighter;
use crate::hits::{FacetCounts, Hit, Hits, Relation, Stopped};
use crate::ids::DocId;
use crate::limits::Limits;
use crate::look_ups::{LookUps, TermPool};
use crate::matching::{Execution, ExecutionScratch};
use crate::plan::{self, CostModel, Costs, PhaseClock, PlanOptions};
use crate::query::{self, LenientQuery, Logical, Normal, ParseOptions, Query};
use crate::ranking::pruned;
use crate::ranking::scorer::Explanation;
use crate::recycle::{HeapBytes, Pool};
use crate::request::{CollectionStatistics, IdfScope, OfCollection, SearchRequest};
use crate::schema::Schema;
use crate::segment::reader::SegmentReader;
use crate::segment::snapshot::{self, Snapshot};
use crate::storage::Storage;
use crate::term::Term;
use crate::value::stored::Fields;
use crate::weight::bm25::FieldScorings;
use crate::weight::statistics::{self as numbers, OfSegment, OfSnapshot, OwnParameters, Sources};
use crate::weight::{ScoreDetail, Weight, WeightScratch};
use std::sync::Arc;
use std::time::Instant;

/// Plans of more operators give their memory back.
const NODES_KEPT: usize = 64;

/// Answers queries from one snapshot of an index, which no later commit changes.
///
/// Cloning is cheap, and clones may be used from any number of threads. The files of a searcher stay
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
pub struct Searcher(Arc<Inner>, Option<Arc<Budget>>);

#[derive(Debug)]
struct Inner {
    storage: Arc<dyn Storage>,
    snapshot: Arc<Snapshot>,
    etag: Etag,
    setting: Setting,
    /// Options by which queries are read.
    parse: ParseOptions,
    /// Memory that earlier queries left for later ones.
    scratch: Pool<Box<ExecutionScratch>>,
    /// Memory of finding the best.
    pruned: Pool<Box<pruned::Scratch>>,
    /// Memory in which earlier searches were understood.
    memory: Pool<Box<SearchMemory>>,
    /// Memory of terms that were looked up.
    terms: Arc<TermPool>,
    scorings: FieldScorings,
}

/// Settings that all searchers of an index value have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Setting {
    pub(crate) analyzers: Arc<Analyzers>,
    /// Limits, if they are not the default.
    pub(crate) limits: Option<Box<Limits>>,
    /// Cache, if it is switched on.
    pub(crate) cache: Option<Arc<ResultCache>>,
    /// Log of slow searches, if there is one.
    pub(crate) slow: Option<SlowSearches>,
    /// Costs of this machine, if they were measured.
    pub(crate) costs: Option<Arc<Costs>>,
}

impl Searcher {
    /// Returns the default options for parsing queries. They have the limits of the index, and its schema for [lenient
    /// parsing](Query::parse_lenient).
    pub fn parse_options(&self) -> ParseOptions {
        let schema = Arc::new(self.schema().clone());
        self.0.parse.clone().vocabulary(schema, self.0.setting.analyzers.clone())
    }

    /// Returns a searcher of the newest commit; `None` if none is newer. A commit is newer than this one, or than the
    /// commit that flushed documents go beyond. Segments that both have stay open.
    ///
    /// If there is nothing new, this costs a listing of the directory. Another index that has come to lie at the same
    /// path is not looked for: open it anew. To rebuild an index in its place see [`Index::overwrite`](crate::Index::overwrite).
    ///
    /// # Errors
    ///
    /// Fails like opening the index.
    pub fn reload(&self) -> Result<Option<Searcher>> {
        let Inner { storage, snapshot, setting, .. } = &*self.0;
        let generation = snapshot.manifest.generation;
        match snapshot::newest(&**storage) {
            Ok(newest) if newest <= generation => return Ok(None),
            // Nothing is committed yet.
            Err(error) if error.kind() == ErrorKind::NotAnIndex && generation == 0 => {
                return Ok(None);
            }
            looked => looked?,
        };
        let newest = Arc::new(Snapshot::open_after(&**storage, Some(snapshot))?);
        let Searcher(newest, _) = Self::of(Arc::clone(storage), newest, setting.clone());
        Ok(Some(Searcher(newest, self.1.clone())))
    }

    /// Answers from `snapshot`.
    pub(crate) fn of(
        storage: Arc<dyn Storage>,
        snapshot: Arc<Snapshot>,
        mut setting: Setting,
    ) -> Self {
        let made_by = snapshot.manifest.term_versions.analysis;
        setting.analyzers = setting.analyzers.in_version(made_by);
        let (scratch, pruned, memory) = Default::default();
        let scorings = FieldScorings::new(snapshot.manifest.schema.fields().len());
        let etag = Etag::of(&snapshot);
        let terms = Arc::default();
        let inner = Arc::new(Inner {
            storage,
            snapshot,
            etag,
            parse: ParseOptions::default()
                .limits(setting.limits.as_deref().copied().unwrap_or_default()),
            setting,
            scratch,
            pruned,
            memory,
            terms,
            scorings,
        });
        Searcher(inner, None)
    }

    /// Storage of the index.
    pub(crate) fn storage(&self) -> &Arc<dyn Storage> {
        &self.0.storage
    }

    /// The fields of the index.
    pub fn schema(&self) -> &Schema {
        &self.0.snapshot.manifest.schema
    }

    /// Analyzers that queries go through, in the version that made the index's terms.
    pub fn analyzers(&self) -> &Analyzers {
        &self.0.setting.analyzers
    }

    /// Number of the commit that is being read; it grows with every commit. Flushed documents go beyond this commit. To
    /// tell snapshots from each other there is [`etag`](Self::etag).
    pub fn generation(&self) -> u64 {
        self.0.snapshot.manifest.generation
    }

    /// Returns the payload of the commit, as set by [its writer's caller](crate::IndexWriter::set_payload).
    pub fn payload(&self) -> &[u8] {
        &self.0.snapshot.manifest.payload
    }

    /// Returns the identifier of this snapshot. As long as it stays the same, so do all answers. For caches, and for
    /// the header of this name in HTTP.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// # let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// # let mut writer = index.writer()?;
    /// # writer.commit()?;
    /// let before = index.searcher()?;
    /// assert_eq!(before.etag(), index.searcher()?.etag());
    /// writer.add(Document::new().with("title", "Paris"))?;
    /// writer.commit()?;
    /// assert_ne!(before.etag(), index.searcher()?.etag());
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn etag(&self) -> Etag {
        self.0.etag
    }

    /// Snapshot that this answers from.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.0.snapshot
    }

    /// Whether this answers from `snapshot`.
    pub(crate) fn is_of(&self, snapshot: &Arc<Snapshot>) -> bool {
        Arc::ptr_eq(&self.0.snapshot, snapshot)
    }

    /// Returns the number of documents, without deleted ones.
    pub fn n_docs(&self) -> u64 {
        self.segments().map(|segment| u64::from(segment.n_live())).sum()
    }

    /// Returns the number of deleted documents that are not merged away yet. They still count for how rare a word is.
    pub fn n_deleted(&self) -> u64 {
        self.segments().map(|segment| u64::from(segment.n_docs() - segment.n_live())).sum()
    }

    /// Every document that is not deleted, in document order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Corrupt`] where what says which are deleted is damaged.
    pub fn documents(&self) -> impl Iterator<Item = Result<DocId>> {
        let numbered = self.segments().scan(0, |base, segment| {
            let first = *base;
            *base += u64::from(segment.n_docs());
            Some((first, segment))
        });
        numbered.flat_map(|(first, segment)| {
            (0..segment.n_docs()).filter_map(move |doc| match segment.is_deleted(doc) {
                Ok(true) => None,
                Ok(false) => Some(Ok(DocId(first + u64::from(doc)))),
                Err(error) => Some(Err(error)),
            })
        })
    }

    /// Bytes that finding the best keeps from one search to the next. They are for all searches that ran at the same
    /// time: for every 65,536 documents of the largest segment some KiB, and nothing that grows with hits.
    pub fn scratch_bytes(&self) -> usize {
        self.0.pruned.lock().iter().map(|it| size_of_val(&**it) + it.heap_bytes()).sum()
    }

    /// The segments of the snapshot, in the order of the documents.
    pub(crate) fn segments(&self) -> impl ExactSizeIterator<Item = SegmentReader<'_>> + Clone {
        self.0.snapshot.readers()
    }

    /// Reads a query in the [query language](crate::query).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`] with the place in the text.
    pub fn parse(&self, text: &str) -> Result<Query> {
        query::parse(text, &self.0.parse)?.in_copies(self.schema())
    }

    /// Reads the text of a search box, and never fails. Invalid syntax is read as words.
    ///
    /// See [`Query::parse_lenient`], to which this gives the schema and the limits of the index.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// # let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new().with("title", "Meeting at 10:30"))?;
    /// # writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let read = searcher.parse_lenient("10:30 (meeting");
    /// assert_eq!(searcher.count(&read.query)?, 1);
    /// for remark in &read.remarks {
    ///     eprintln!("{remark}");
    /// }
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn parse_lenient(&self, text: &str) -> LenientQuery {
        let mut read = Query::parse_lenient(text, &self.parse_options());
        // A lenient reading is within the limits, which are all that could be refused here.
        if let Ok(query) = read.query.clone().in_copies(self.schema()) {
            read.query = query;
        }
        read
    }

    /// Begins a search; nothing happens until [`run`](SearchBuilder::run).
    pub fn search<'a>(&'a self, query: &'a Query) -> SearchBuilder<'a> {
        SearchBuilder::new(self, SearchRequest::new(query))
    }

    /// Begins a search for a request, to which more can be added. Nothing happens until [`run`](SearchBuilder::run).
    pub fn search_for<'a>(&'a self, request: SearchRequest<'a>) -> SearchBuilder<'a> {
        SearchBuilder::new(self, request)
    }

    /// Returns numbers of this snapshot that the scores of a search depend on. A coordinator adds them up over all
    /// shards and hands them to each as [`IdfScope::Collection`]. Nothing is searched.
    ///
    /// Costs what looking up the words costs. Patterns scored by their [best terms](SearchBuilder::pattern_terms) have
    /// others in each shard.
    ///
    /// # Errors
    ///
    /// Fails like [`run`](Self::run).
    pub fn collection_statistics(
        &self,
        request: &SearchRequest<'_>,
    ) -> Result<CollectionStatistics> {
        self.search_for(request.clone()).search().collection_statistics()
    }

    /// Answers a request.
    ///
    /// # Errors
    ///
    /// Fails like [`SearchBuilder::run`].
    pub fn run(&self, request: &SearchRequest<'_>) -> Result<Hits> {
        self.search_for(request.clone()).run()
    }

    /// Answers a request, unless the caller has the answer. It is `None` if `known` is the [etag](Self::etag) of this
    /// snapshot ("304 Not Modified" of HTTP). Costs nothing then.
    ///
    /// ```
    /// use treepie::SearchRequest;
    /// # use treepie::{Document, Index, Schema};
    /// # let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new().with("title", "Paris"))?;
    /// # writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("paris")?;
    /// let request = SearchRequest::new(&query);
    /// let etag = searcher.etag().to_string(); // goes out with the answer, and comes back with the same question
    /// let known = etag.parse().ok();
    /// assert!(searcher.run_unless(known, &request)?.is_none());
    /// assert!(searcher.run_unless(None, &request)?.is_some());
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`SearchBuilder::run`].
    pub fn run_unless(
        &self,
        known: Option<Etag>,
        request: &SearchRequest<'_>,
    ) -> Result<Option<Hits>> {
        if known == Some(self.etag()) {
            return Ok(None);
        }
        self.run(request).map(Some)
    }

    /// Explains the score of a document as a tree; `None` if it does not match. The score is that of a search without
    /// options; see [`Explainer::score`] for others.
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
        self.search(query).explainer().score(doc)
    }

    /// Looks up what scoring needs.
    fn create_weight(
        &self,
        logical: &Logical,
        parameters: &OwnParameters,
        statistics: &IdfScope,
        detail: ScoreDetail,
        look_ups: &LookUps,
        memory: WeightScratch,
    ) -> Result<Weight<'_>> {
        let is_whole = *statistics != IdfScope::Segment || self.segments().len() == 1;
        // Else one segment may score all alike, and not another.
        let detail = if is_whole { detail } else { ScoreDetail::Each };
        let (snapshot, kept) = (self.snapshot(), &self.0.scorings);
        let of_snapshot = OfSnapshot { snapshot, parameters, kept };
        let of_collection;
        let statistics: &dyn numbers::Statistics = match statistics {
            IdfScope::Snapshot | IdfScope::Segment => &of_snapshot,
            IdfScope::Collection(given) => {
                of_collection = OfCollection { given, schema: self.schema(), parameters };
                &of_collection
            }
        };
        let sources = Sources { statistics, look_ups };
        let ranked = Weight::new(logical, self.segments(), &sources, detail, memory)?;
        if is_whole {
            return Ok(ranked);
        }
        let by_segment = self.segments().map(|segment| {
            let sources = Sources { statistics: &OfSegment { segment, parameters }, look_ups };
            let only = std::iter::once(segment);
            let memory = WeightScratch::default();
            Weight::new(logical, only, &sources, detail, memory)
        });
        Ok(ranked.with_own_statistics(by_segment.collect::<Result<_>>()?))
    }

    /// The documents that a query means.
    fn matching(&self, query: &Query) -> Result<Normal> {
        query::matching(query, self.schema(), &self.0.setting.analyzers)
    }

    /// Counts the documents that match.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`] where the query means nothing in this schema, [`ErrorKind::Corrupt`]
    /// where what it reads is damaged.
    pub fn count(&self, query: &Query) -> Result<u64> {
        let started = self.0.setting.slow.as_ref().map(|_| Instant::now());
        let mut total = 0;
        let counted = {
            let _scope = self.enter(&Budget::new());
            let mut memory = self.0.memory.take();
            let (schema, analyzers) = (self.schema(), &self.0.setting.analyzers);
            let normal = query::matching_in(query, schema, analyzers, &mut memory.bind);
            normal.and_then(|normal| {
                let (options, look_ups) = (PlanOptions::default(), LookUps::of(&normal));
                let counted = self.count_to(&normal, &options, &look_ups, &mut total);
                memory.bind.give_normal(normal);
                self.0.memory.give(memory);
                counted
            })
        };
        if started.is_some() {
            let search = self.search(query).count_only().search();
            search.log_if_slow(started, counted.as_ref().err());
        }
        counted.map(|_| total)
    }

    /// Adds to `total` how many documents match, as far as it comes.
    fn count_to(
        &self,
        normal: &Normal,
        options: &PlanOptions,
        look_ups: &LookUps,
        total: &mut u64,
    ) -> Result<()> {
        let mut matching = Matching::Unplanned;
        self.plan_matching(normal, options, look_ups, &mut matching)?;
        let counted = matching.count(self.snapshot(), look_ups, total);
        self.recycle(matching);
        counted.map(drop)
    }

    /// Plans to find what a query means: without operators, where the dictionary knows all that is wanted.
    fn plan_matching<'s>(
        &'s self,
        normal: &Normal,
        options: &PlanOptions,
        look_ups: &LookUps,
        matching: &mut Matching<'s>,
    ) -> Result<()> {
        *matching = match options.counted_term(normal) {
            Some((field, term)) => Matching::Term(field, Term::from_slice(term)),
            None => Matching::Planned(self.execution_of(normal, options, look_ups)?),
        };
        Ok(())
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

    /// Explains how a search for ten hits would be answered. Reads the dictionary, the headers of posting
    /// lists, and no postings; see [`SearchBuilder::analyze`] for what happens when it runs.
    ///
    /// # Errors
    ///
    /// Fails like [`count`](Self::count).
    pub fn explain(&self, query: &Query) -> Result<ExplainTree> {
        self.search(query).explain()
    }

    /// The stored fields of a document of this snapshot, with its vectors.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] for a number that no document has, or one that is deleted.
    pub fn document(&self, doc: DocId) -> Result<Fields> {
        let _scope = self.1.as_deref().map(Budget::enter);
        if self.1.is_some() {
            budget::work(ns::HIT_FETCHED)?;
        }
        self.snapshot().document(doc)
    }

    /// Returns a highlighter, which marks the words of a query in stored texts; see [`highlight`](crate::highlight).
    ///
    /// # Errors
    ///
    /// Fails like [`Highlighter::new`].
    pub fn highlighter(&self, query: &Query) -> Result<Highlighter> {
        let _scope = self.enter(&Budget::new());
        Highlighter::of_snapshot(query, &self.0.snapshot, &self.0.setting.analyzers)
    }

    /// Plans to find what a query means and gets ready to carry the plan out.
    fn execution_of(
        &self,
        normal: &Normal,
        options: &PlanOptions,
        look_ups: &LookUps,
    ) -> Result<Execution<'_>> {
        let mut execution = self.execution_of_matching(normal, options, look_ups, (None, false))?;
        execution.plan_mut().aim(options, None)?;
        Ok(execution)
    }

    /// Plans to find what a query means, and gets ready for all but what depends on the page; `clock` is that of a search that is
    /// explained, of which the operators may be timed, too.
    fn execution_of_matching(
        &self,
        normal: &Normal,
        options: &PlanOptions,
        look_ups: &LookUps,
        (clock, is_timed): (Option<&PhaseClock>, bool),
    ) -> Result<Execution<'_>> {
        let mut memory = self.0.scratch.take();
        let (segments, costs) = (self.segments(), self.costs());
        let of_plan = &mut memory.plan;
        let plan = plan::plan(normal, segments, options, costs, look_ups, of_plan, clock)?;
        Ok(Execution::new(plan, is_timed, memory))
    }

    /// Costs that planning reckons with.
    fn costs(&self) -> &CostModel {
        self.0.setting.costs.as_ref().map_or(&CostModel::BUILT_IN, |costs| &costs.model)
    }

    /// Keeps the memory of a plan that was carried out for the next query.
    fn recycle(&self, matching: Matching<'_>) {
        if let Matching::Planned(execution) = matching
            && execution.plan().nodes.len() <= NODES_KEPT
        {
            self.0.scratch.give(execution.into_scratch());
        }
    }
}
