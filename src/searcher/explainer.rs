//! Questions that people ask about a search: its plan, and why documents match or not.

use super::search::Search;
use super::{Explanation, Hits};
use crate::error::Result;
use crate::explain::{ExplainTree, WhyEmpty};
use crate::ids::DocId;
use crate::plan::EstimateFrom;

/// A search that is explained; from [`SearchBuilder::explainer`](super::SearchBuilder::explainer).
#[derive(Clone, Debug)]
#[must_use = "nothing happens until it is asked something"]
pub struct Explainer<'a>(Search<'a>);

impl<'a> Explainer<'a> {
    pub(super) fn of(search: Search<'a>) -> Self {
        Explainer(search)
    }

    /// Sets the sources that the estimates of a plan may read. By default [`explain`](Self::explain) reads no postings,
    /// and [`analyze`](Self::analyze), which reads them anyway, a sample before. It changes estimates, not work.
    ///
    /// ```
    /// use treepie::explain::EstimateFrom;
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// for title in ["new york", "new york city", "new deal", "york", "paris", "texas"] {
    ///     writer.add(Document::new().with("title", title))?;
    /// }
    /// writer.commit()?;
    ///
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("new AND york")?;
    /// let search = searcher.search(&query).count_only();
    /// let sampled = search.clone().explainer().estimate_from(EstimateFrom::Samples).explain()?.plan.estimate;
    /// assert_eq!((sampled.documents, &*sampled.source), (2, "counted in its only window"));
    /// let headers = search.explain()?.plan.estimate;
    /// assert_eq!((headers.lower, headers.upper, &*headers.source), (0, 3, "independence"));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn estimate_from(mut self, from: EstimateFrom) -> Self {
        self.0.estimate_from = Some(from);
        self
    }

    /// Compares neighbours that were found with the nearest of all vectors.
    ///
    /// A plan of [`analyze`](Self::analyze) then says how many of the nearest were found:
    /// [`VectorCounts::recall`](crate::explain::VectorCounts::recall). Neighbours as near as the last of these count, too.
    ///
    /// ```
    /// use treepie::query::Query;
    /// use treepie::schema::{Metric, VectorParams};
    /// use treepie::{Document, Index, Schema};
    ///
    /// let schema = Schema::builder().vector("v", VectorParams::new(2, Metric::L2)).build()?;
    /// let index = Index::in_memory(schema);
    /// let mut writer = index.writer()?;
    /// for nth in 0..9 {
    ///     writer.add(Document::new().with("v", vec![nth as f32, 1.0]))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = Query::nearest("v", [2.25, 1.0], 3);
    /// let tree = searcher.search(&query).explainer().recall().analyze()?;
    /// let vectors = tree.plan.iter().find_map(|node| node.actual.as_ref()?.vectors);
    /// assert_eq!(vectors.unwrap().recall(), Some(1.0)); // few vectors are all compared anyway
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// Takes what comparing all vectors takes that the conditions beside let through. It is none of the times of the plan.
    pub fn recall(mut self) -> Self {
        self.0.recall = true;
        self
    }

    /// Sets documents of which plans say why they match, or why not. [`ExplainTree::documents`] of
    /// [`explain`](Self::explain) and [`analyze`](Self::analyze) then has for each, once and in this order, the
    /// verdicts of the plan's nodes, the node at which it fails, and its score. Changes nothing else, and nothing of
    /// [`run`](Self::run).
    ///
    /// Each document is looked up in what the leaves of the plan read: costs about a microsecond a leaf, and for a pattern on a
    /// field without a column as much for each of its terms. Scores cost what preparing a search does, once for all
    /// documents; where a pattern or a filter is part of the query, its documents are found for that.
    /// `explain` does not know yet whether a document that matches is on the page, `analyze` does.
    ///
    /// ```
    /// use treepie::explain::Verdict;
    /// use treepie::{DocId, Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "A history of war"))?;
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("history -war")?;
    /// let tree = searcher.search(&query).count_only().explainer().documents([DocId(0)]).explain()?;
    /// let document = &tree.documents[0];
    /// assert_eq!(document.reason, "fails at NOT title:war: the document has it");
    /// // What the node says by itself: the document has the word, which must not be there.
    /// assert_eq!(document.verdicts["0.1"], Verdict::Matched);
    /// assert_eq!(document.verdicts["0"], Verdict::Failed);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Explaining gives [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) for a number that no document has.
    pub fn documents(mut self, docs: impl IntoIterator<Item = DocId>) -> Self {
        self.0.explained = docs.into_iter().collect();
        self
    }

    /// Plan of the search, as [`SearchBuilder::explain`](super::SearchBuilder::explain) gives it.
    ///
    /// # Errors
    ///
    /// Fails like [`SearchBuilder::run`](super::SearchBuilder::run).
    pub fn explain(self) -> Result<ExplainTree> {
        self.0.explain()
    }

    /// Plan of the search with what happened, as [`SearchBuilder::analyze`](super::SearchBuilder::analyze) gives it.
    ///
    /// # Errors
    ///
    /// Fails like [`SearchBuilder::run`](super::SearchBuilder::run).
    pub fn analyze(self) -> Result<ExplainTree> {
        self.0.analyze()
    }

    /// Analyzes the search several times, and returns the plan of the median run. Each run is one of
    /// [`analyze`](Self::analyze). Its [`repeated`](ExplainTree::repeated), and `times` of each node and facet, have
    /// the least, the median and the most of all runs.
    ///
    /// Keeps the plans of all runs until the last has ended. No number of runs means one.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// # let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// # let mut writer = index.writer()?;
    /// # writer.add(Document::new().with("title", "Paris"))?;
    /// # writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let tree = searcher.search(&searcher.parse("paris")?).explainer().repeat(5)?;
    /// let total = tree.repeated.unwrap().total;
    /// assert!(total.min_ns <= total.median_ns && total.median_ns <= total.max_ns);
    /// assert_eq!(tree.total_ns, Some(total.median_ns));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`SearchBuilder::run`](super::SearchBuilder::run).
    pub fn repeat(self, runs: u32) -> Result<ExplainTree> {
        let runs = (0..runs.max(1)).map(|_| self.0.clone().analyze());
        Ok(ExplainTree::of_runs(runs.collect::<Result<_>>()?))
    }

    /// Answers the query, and explains that very answer. It returns the hits of [`run`](super::SearchBuilder::run) and
    /// the plan of [`analyze`](Self::analyze), of one run. Kept answers are not asked for, as nothing would have run.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "Paris"))?;
    /// writer.commit()?;
    ///
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("paris")?;
    /// let (hits, tree) = searcher.search(&query).explainer().run()?;
    /// assert_eq!(hits.hits[0].fields["title"].to_string(), "Paris");
    /// assert_eq!(tree.total_ns, Some(hits.took.as_nanos() as u64));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`run`](super::SearchBuilder::run), also where it is stopped, unless it is [partial](super::SearchBuilder::partial).
    pub fn run(self) -> Result<(Hits, ExplainTree)> {
        self.0.run_and_explain()
    }

    /// Measures the alternatives of each decision, and analyzes the search as [`analyze`](Self::analyze) does. The
    /// search runs as it is planned and in each other way, in turn, and the least time of each is the `measured_ns` of
    /// the [decision](crate::explain::Decision) and of its alternatives. Times are those of the whole search on this
    /// thread, without fetching hits; decisions about what does not run, as the plan of a count that finding the best
    /// makes needless, have none.
    ///
    /// Takes at the most a second, or half the time that the search has until its [deadline](super::SearchBuilder::timeout) where it has one,
    /// then as long as analyzing it. Decisions that do not fit into that are not measured.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// # let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// # let mut writer = index.writer()?;
    /// for title in ["Paris, Texas", "Paris", "London"] {
    ///     writer.add(Document::new().with("title", title))?;
    /// }
    /// # writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("paris AND texas")?;
    /// let tree = searcher.search(&query).count_only().explainer().what_if()?;
    /// for decision in tree.plan.iter().flat_map(|node| &node.decisions) {
    ///     if let Some(confirmed) = decision.confirmed() {
    ///         println!("{}: {:?} ns, {confirmed}", decision.rule, decision.measured_ns);
    ///     }
    /// }
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`run`](super::SearchBuilder::run); [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) where two ways do not find the same, which sound files never lead to.
    pub fn what_if(self) -> Result<ExplainTree> {
        self.0.what_if()
    }

    /// Explains why the search finds nothing, and which condition to leave out. It has the smallest set of its
    /// conditions that no document meets together, and for each condition how many documents meet it alone and how many
    /// would match without it. Conditions are the parts of AND, clauses with `+` and with `-`, each phrase, range and
    /// the like among them, and selections; alternatives are one condition together.
    ///
    /// A search that does find something is told how much. Hits, order and facets are not looked at.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// # let index = Index::in_memory(Schema::builder().text("title").keyword("kind").build()?);
    /// let mut writer = index.writer()?;
    /// for (title, kind) in [("Paris, Texas", "film"), ("Paris", "city"), ("Texas", "state")] {
    ///     writer.add(Document::new().with("title", title).with("kind", kind))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let why = searcher.search(&searcher.parse("+paris +kind:state -kind:film")?).explainer().why_empty()?;
    /// assert_eq!(why.conflict, [0, 1]); // there are others without Paris
    /// assert_eq!(why.clauses[0].matches_without, 1);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// Cost: up to 4,096 searches that end at their first document, and two counts for each condition.
    ///
    /// # Errors
    ///
    /// Fails like [`run`](super::SearchBuilder::run). It stops at a [deadline](super::SearchBuilder::timeout) or a cancellation with an error, also where partial
    /// results are wanted.
    pub fn why_empty(self) -> Result<WhyEmpty> {
        self.0.why_empty()
    }

    /// Explains the score of a document as a tree; `None` if it does not match.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) for a number that no document has; as [`run`](super::SearchBuilder::run).
    pub fn score(&self, doc: DocId) -> Result<Option<Explanation>> {
        self.0.explain_score(doc)
    }
}
