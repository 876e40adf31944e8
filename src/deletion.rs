//! Deletion of a query's matches: the one place that writes by reading.

use crate::budget::Budget;
use crate::error::{Error, ErrorKind, Result};
use crate::look_ups::LookUps;
use crate::matching::Execution;
use crate::plan::{self, CostModel, Goal, Plan, PlanOptions, PlanScratch, Total};
use crate::query::{self, Neighbors, Normal, Query, QueryVector};
use crate::segment::reader::SegmentReader;
use crate::writer::{DeleteCollector, IndexWriter};

impl IndexWriter {
    /// Deletes every document that matches a query now. They are those of the index and those that were
    /// [added](Self::add) before. They are gone for whoever opens the index after the next [`commit`](Self::commit),
    /// which says how many there were.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    /// # use treepie::query::{ParseOptions, parse};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// for title in ["Paris", "Paris, Texas", "London"] {
    ///     writer.add(Document::new().with("title", title))?;
    /// }
    /// writer.delete(&parse("paris -texas", &ParseOptions::default())?)?;
    /// writer.add(Document::new().with("title", "Paris, again"))?;
    /// let commit = writer.commit()?;
    /// assert_eq!((commit.documents, commit.deleted), (3, 1));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`] where the query means nothing in this schema,
    /// [`ErrorKind::LimitExceeded`] if it is too much for the segments that there are, or takes
    /// more [memory](crate::Limits::query_memory_bytes) than a search may; the writer goes on without it.
    pub fn delete(&mut self, query: &Query) -> Result<()> {
        let _limits = self.limits().enter();
        check_neighbors(query)?;
        let normal = query::matching(query, self.schema(), self.analyzers())?;
        // A query that takes too much memory is refused now, and not when it takes along everything that was added.
        let segments = self.segments_so_far()?;
        for segment in segments.readers() {
            Budget::new().run(|| Execution::check_memory(&planned(&normal, segment)?))?;
        }
        self.delete_matching(Box::new(move |segment, doomed| find(&normal, segment, doomed)))
    }
}

/// Refuses what matches a document or not by what others there are: each segment is searched by itself.
fn check_neighbors(query: &Query) -> Result<()> {
    let depends = |part: &Query| match part {
        Query::Nearest { vector: QueryVector::Document(_), .. } => true,
        Query::Nearest { wanted, .. } => matches!(wanted, Neighbors::Nearest(..)),
        _ => false,
    };
    match query.find(depends) {
        Some(part) => Err(Error::new(ErrorKind::Query, "deleting what matches a query")
            .expected("one that each document matches by itself")
            .found(format!("'{part}', which depends on other documents"))
            .hint("search for them, and delete them by their keys")),
        None => Ok(()),
    }
}

/// Plans to find everything.
fn planned<'s>(normal: &Normal, segment: SegmentReader<'s>) -> Result<Plan<'s>> {
    let goal = Goal::Page { offset: 0, limit: 0, total: Total::Exact };
    let options = PlanOptions { goal, ..PlanOptions::default() };
    let (segments, costs) = (std::iter::once(segment), &CostModel::BUILT_IN);
    let look_ups = LookUps::of(normal);
    let memory = &mut PlanScratch::default();
    let mut plan = plan::plan(normal, segments, &options, costs, &look_ups, memory, None)?;
    plan.aim(&options, None)?;
    Ok(plan)
}

/// Adds what matches in a segment.
fn find(
    normal: &Normal,
    segment: SegmentReader<'_>,
    doomed: &mut DeleteCollector<'_>,
) -> Result<()> {
    // Each query and segment by itself, as nothing of it is left but the documents.
    Budget::new().run(|| {
        let plan = planned(normal, segment)?;
        let mut execution = Execution::new(plan, false, Box::default());
        execution.each_window(|key, documents| doomed.add_window(key, documents))
    })
}
