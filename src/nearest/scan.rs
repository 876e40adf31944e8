//! Comparison of all vectors that a filter lets through.

use super::neighbor::Neighbor;
use super::target::Target;
use crate::budget::{self, ns};
use crate::bytes::Source;
use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::format::vectors::Vectors;
use crate::simd::prefetch::prefetch;

/// Rows whose documents are read together.
const ROWS: u32 = 256;
/// Rows between two that are read at once: to skip fewer takes longer than to check their bytes once.
const NEAR_ROWS: u32 = 4;
/// Rows of a filter that are compared together, more or less.
const AT_ONCE: usize = 32;
/// Distance in rows of the one that is asked for ahead. Processors do not foresee the next where a filter leaves rows out:
/// every second row of 384 numbers took five times as long as each row after the other, and takes twice as long with it.
const AHEAD: usize = 2;
/// Bytes of a row that are asked for; processors foresee the rest of a longer one.
const AHEAD_BYTES: usize = 4_096;

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
    let ns_of_row = ns::VECTOR_READ + u64::from(target.dims()) / ns::NUMBERS_COMPARED;
    each_of(vectors, filter, |wanted| {
        budget::work(ns_of_row * wanted.len() as u64)?;
        compared += wanted.len() as u64;
        each_row(vectors, wanted, |row, doc| {
            let similarity = target.similarity(row);
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
            Ok(())
        })
    })?;
    nearest.map_or(Ok(()), found)?;
    Ok(compared)
}

/// Gives rows of documents of a filter to `some`, up to a few hundred at once, each with its document.
fn each_of<'s, S: Source<'s>>(
    vectors: &Vectors<S>,
    filter: &DocIdSet,
    mut some: impl FnMut(&[(u32, u32)]) -> Result<()>,
) -> Result<()> {
    let (n, n_docs) = (vectors.n_vectors(), vectors.n_docs());
    let mut wanted = filter.documents_from(0, n_docs)?.peekable();
    let (mut at, mut of_rows) = (0, vec![]);
    while let Some(doc) = wanted.peek() {
        at = vectors.seek(at, *doc)?;
        let rows = at..at.saturating_add(ROWS).min(n);
        if rows.is_empty() {
            break;
        }
        let docs = vectors.docs(rows.clone())?;
        for (row, doc) in rows.clone().zip(docs.as_chunks().0) {
            let doc = u32::from_le_bytes(*doc);
            if doc >= n_docs {
                return Err(vectors.damage(row, "a document beyond the segment"));
            }
            while wanted.next_if(|before| *before < doc).is_some() {}
            if wanted.peek() == Some(&doc) {
                of_rows.push((row, doc));
            }
        }
        at = rows.end;
        if of_rows.len() >= AT_ONCE {
            some(&of_rows)?;
            of_rows.clear();
        }
    }
    some(&of_rows)
}

/// Gives the numbers of some rows to `each`. Rows that are near each other are read at once, with those between.
fn each_row<'s, S: Source<'s>>(
    vectors: &Vectors<S>,
    wanted: &[(u32, u32)],
    mut each: impl FnMut(&[u8], u32) -> Result<()>,
) -> Result<()> {
    let are_near = |a: &(u32, u32), b: &(u32, u32)| b.0 - a.0 <= NEAR_ROWS;
    let mut read = vec![];
    for near in wanted.chunk_by(are_near) {
        let Some(((first, _), (last, _))) = near.first().zip(near.last()) else { continue };
        read.push((near, *first, vectors.rows(*first..*last + 1)?));
    }
    let mut rows = Vec::with_capacity(wanted.len());
    for (near, first, bytes) in &read {
        for (row, doc) in *near {
            let start = (row - first) as usize * vectors.row_len();
            rows.push((bytes.get(start..start + vectors.row_len()).unwrap_or_default(), *doc));
        }
    }
    for (nth, (row, doc)) in rows.iter().enumerate() {
        if let Some((later, _)) = rows.get(nth + AHEAD) {
            prefetch(later.get(..AHEAD_BYTES).unwrap_or(later));
        }
        each(row, *doc)?;
    }
    Ok(())
}
