//! Comparison of all vectors that a filter lets through.

use super::neighbor::Neighbor;
use super::target::Target;
use crate::budget::{self, ns};
use crate::bytes::Source;
use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::format::vectors::Vectors;
use std::ops::Range;

/// Rows whose documents are read together.
const ROWS: u32 = 256;

/// Gives each document of a filter that has vectors to `found`, ascending, with the similarity of the nearest of these; how many
/// vectors were compared.
pub(super) fn each<'s, S: Source<'s>>(
    vectors: &Vectors<S>,
    filter: &DocIdSet,
    target: &Target,
    mut found: impl FnMut(Neighbor) -> Result<()>,
) -> Result<u64> {
    let mut compared = 0;
    let mut nearest: Option<Neighbor> = None;
    each_run(vectors, filter, |rows, docs| {
        let n_rows = u64::from(rows.end - rows.start);
        budget::work((ns::VECTOR_READ + u64::from(target.dims()) / ns::NUMBERS_COMPARED) * n_rows)?;
        compared += n_rows;
        let rows = vectors.rows(rows)?;
        for (row, doc) in rows.chunks_exact(vectors.row_len()).zip(docs) {
            let (doc, similarity) = (u32::from_le_bytes(*doc), target.similarity(row));
            match &mut nearest {
                // Rows of a document follow each other.
                Some(of_doc) if of_doc.doc == doc => {
                    of_doc.similarity = of_doc.similarity.max(similarity);
                }
                before => {
                    if let Some(complete) = before.replace(Neighbor { doc, similarity }) {
                        found(complete)?;
                    }
                }
            }
        }
        Ok(())
    })?;
    nearest.map_or(Ok(()), found)?;
    Ok(compared)
}

/// Gives rows of documents of a filter to `run`, as many at once as follow each other, with the documents of these.
fn each_run<'s, S: Source<'s>>(
    vectors: &Vectors<S>,
    filter: &DocIdSet,
    mut run: impl FnMut(Range<u32>, &[[u8; 4]]) -> Result<()>,
) -> Result<()> {
    let (n, n_docs) = (vectors.n_vectors(), vectors.n_docs());
    let mut wanted = filter.documents_from(0, n_docs)?.peekable();
    let mut at = 0;
    while let Some(doc) = wanted.peek() {
        at = vectors.seek(at, *doc)?;
        let rows = at..at.saturating_add(ROWS).min(n);
        if rows.is_empty() {
            break;
        }
        let docs = vectors.docs(rows.clone())?;
        let (docs, _) = docs.as_chunks();
        let mut start = None;
        for (nth, doc) in docs.iter().enumerate() {
            let (row, doc) = (at + nth as u32, u32::from_le_bytes(*doc));
            if doc >= n_docs {
                return Err(vectors.damage(row, "a document beyond the segment"));
            }
            while wanted.next_if(|before| *before < doc).is_some() {}
            match (wanted.peek() == Some(&doc), start) {
                (true, None) => start = Some(nth),
                (false, Some(first)) => {
                    run(at + first as u32..row, &docs[first..nth])?;
                    start = None;
                }
                _ => {}
            }
        }
        if let Some(first) = start {
            run(at + first as u32..rows.end, &docs[first..])?;
        }
        at = rows.end;
    }
    Ok(())
}
