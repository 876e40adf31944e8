//! Reasons why single documents match or not: verdicts of a plan's nodes, and scores.

use super::search::Search;
use crate::error::Result;
use crate::explain::{self, ExplainDocument, ExplainTree, Verdict};
use crate::ids::DocId;
use crate::plan::Plan;
use std::collections::HashSet;

/// Page that was filled, with the places of the documents that were asked for.
#[derive(Debug)]
pub(super) struct FilledPage<'a> {
    asked: &'a [DocId],
    n_hits: u64,
    /// By document its place, from 0.
    places: Vec<(DocId, u64)>,
    /// The score of the last hit, where hits are the best by score.
    last_score: Option<f32>,
}

impl<'a> FilledPage<'a> {
    /// A page without hits so far.
    pub(super) fn new(asked: &'a [DocId]) -> Self {
        FilledPage { asked, n_hits: 0, places: vec![], last_score: None }
    }

    /// Adds the next hit, with a score if those before have a higher one.
    pub(super) fn add(&mut self, doc: DocId, score: Option<f32>) {
        if self.asked.contains(&doc) {
            self.places.push((doc, self.n_hits));
        }
        (self.n_hits, self.last_score) = (self.n_hits + 1, score);
    }

    fn place(&self, doc: u64) -> Option<u64> {
        self.places.iter().find(|(on_page, _)| on_page.0 == doc).map(|(_, place)| *place)
    }
}

impl Search<'_> {
    /// Adds the questions about single documents to an otherwise complete tree. `page` is there if the plan was run to
    /// its end.
    pub(super) fn put_documents(
        &self,
        tree: &mut ExplainTree,
        plan: &Plan<'_>,
        page: Option<&FilledPage<'_>>,
    ) -> Result<()> {
        let (mut ranked, mut told) = (None, HashSet::new());
        for doc in self.explained.iter().filter(|doc| told.insert(**doc)) {
            let doing = "explaining what becomes of a document";
            let (at, _, doc_there) = self.searcher.snapshot().locate(*doc, doing)?;
            let mut document = explain::document(plan, tree, *doc, (at, doc_there))?;
            let count_only = self.request.count_only;
            if document.matches && !count_only && self.is_scored()? {
                let ranked = match &ranked {
                    Some(ranked) => ranked,
                    None => ranked.insert(self.scoring_by_part()?.0),
                };
                let (ranked, segment) = ranked.of_segment(at);
                document.score = ranked.segment(segment)?.explain(doc_there)?;
            }
            if document.matches && !count_only {
                document.score = document.score.or(self.fused_explanation(*doc)?);
            }
            self.put_on_page(tree, &mut document, page);
            tree.documents.push(document);
        }
        Ok(())
    }

    /// Adds the answer of the nodes that fill the page for a document.
    fn put_on_page(
        &self,
        tree: &ExplainTree,
        document: &mut ExplainDocument,
        page: Option<&FilledPage<'_>>,
    ) {
        let place = page.and_then(|page| page.place(document.doc));
        let verdict = match (document.matches, page) {
            (false, _) => Verdict::Failed,
            (true, None) => return,
            (true, Some(_)) if place.is_some() => Verdict::Matched,
            (true, Some(_)) => Verdict::Failed,
        };
        let nodes: Vec<_> = tree.above_matches().collect();
        document.verdicts.extend(nodes.iter().map(|node| (node.id.clone(), verdict)));
        let (Some(top), Some(page), true) = (nodes.first(), page, document.matches) else { return };
        document.reason = match place {
            Some(place) => {
                let nth = self.request.offset.saturating_add(place).saturating_add(1);
                format!("matches, and is number {nth} of the hits")
            }
            None => {
                document.failed_at = Some(top.id.clone());
                let score = document.score.as_ref().map(|score| score.value);
                let behind = score.zip(page.last_score).filter(|(score, last)| score <= last);
                let behind = behind.map(|(score, last)| {
                    format!(": its score is {score}, and that of the last hit {last}")
                });
                let (operator, label) = (&top.operator, &top.label);
                let behind = behind.unwrap_or_default();
                format!("matches, and is not on the page of {operator} {label}{behind}")
            }
        };
    }
}
