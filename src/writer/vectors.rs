//! Vectors on their way into a segment: from runs, or from segments that are merged.
//!
//! Rows are copied from front to back, and none is kept but where documents change places: then as many as there is
//! [room](super::reorder) for.

use crate::budget::{self, ns};
use crate::error::{Error, ErrorKind, Result};
use crate::format::vectors::Vectors;
use crate::ids::FieldId;
use crate::schema::VectorParams;
use crate::segment::builder::{SegmentBuilder, VectorsSection};
use crate::segment::file::Section;
use crate::segment::reader::SegmentReader;
use crate::segment::renumbering::Renumbering;
use crate::writer::reorder::{ReorderBuffer, reorder};
use crate::writer::run::Run;

/// A field, and which vectors it has.
type Of = (FieldId, VectorParams);

/// Segments that are merged, each with the numbers that its documents get, and how many documents that makes.
pub(super) struct Merge<'m> {
    pub(super) parts: Vec<(SegmentReader<'m>, &'m Renumbering)>,
    pub(super) n_docs: u32,
    /// Bytes of memory for what waits for its turn, where documents change places.
    pub(super) room: Option<usize>,
}

/// Writes the vectors of runs of consecutive documents.
pub(super) fn write(runs: &[Run], n_docs: u32, of: Of, builder: &mut SegmentBuilder) -> Result<()> {
    let n_vectors = runs.iter().map(|run| run.n_vectors() as u64).sum();
    let mut section = start(n_docs, n_vectors, of, builder)?;
    for run in runs {
        run.for_each_vector(|doc, row| section.add(doc, row))?;
    }
    section.finish()
}

fn start(
    n_docs: u32,
    n_vectors: u64,
    (field, params): Of,
    builder: &mut SegmentBuilder,
) -> Result<VectorsSection<'_>> {
    let n_vectors = u32::try_from(n_vectors).map_err(|_| {
        Error::new(ErrorKind::LimitExceeded, "writing the vectors of a segment")
            .expected(format!("at most {} of a field", u32::MAX))
            .found(n_vectors.to_string())
    })?;
    builder.start_vectors(field, n_docs, n_vectors, params.dims)
}

/// A part of a merge, and its vectors.
type WithVectors<'m> = (SegmentReader<'m>, &'m Renumbering, Vectors<Section<'m>>);

/// Copies the vectors of what is not deleted.
pub(super) fn copy(merge: &Merge<'_>, of: Of, builder: &mut SegmentBuilder) -> Result<()> {
    let mut parts: Vec<WithVectors<'_>> = vec![];
    let mut n_vectors = 0;
    for &(reader, numbers) in &merge.parts {
        let Some(vectors) = reader.field(of.0).vectors()? else { continue };
        vectors.for_each_doc(|doc| {
            n_vectors += u64::from(numbers.get(doc).is_some());
            Ok(())
        })?;
        parts.push((reader, numbers, vectors));
    }
    let mut section = start(merge.n_docs, n_vectors, of, builder)?;
    if let Some(room) = merge.room {
        return copy_in_order(&parts, (merge.n_docs, room), of.1, section);
    }
    for (_, numbers, vectors) in parts {
        vectors.for_each(|doc, row| {
            budget::work(ns::ROW_COPIED)?;
            numbers.get(doc).map_or(Ok(()), |number| section.add(number, row))
        })?;
    }
    section.finish()
}

/// Copies vectors of documents that change places. Each document is a part that waits for its turn, also one without any.
fn copy_in_order(
    parts: &[WithVectors<'_>],
    (n_docs, room): (u32, usize),
    params: VectorParams,
    mut section: VectorsSection<'_>,
) -> Result<()> {
    let gather = |buffer: &mut ReorderBuffer| {
        for (reader, numbers, vectors) in parts {
            let docs = (0..reader.n_docs()).filter_map(|doc| Some((doc, numbers.get(doc)?)));
            let mut next = 0;
            for (doc, number) in docs {
                budget::work(ns::ROW_COPIED)?;
                if !buffer.wants(number) {
                    continue;
                }
                let ordinals = vectors.rows_of(next, doc)?;
                next = ordinals.end;
                match ordinals.is_empty() {
                    true => buffer.add(number, None),
                    false => buffer.add(number, Some(&vectors.rows(ordinals)?)),
                }
            }
        }
        Ok(())
    };
    let mut number = 0;
    reorder(n_docs, room, gather, |rows| {
        let mut rows = rows.unwrap_or_default().chunks_exact(params.row_len());
        rows.try_for_each(|row| section.add(number, row))?;
        number += 1;
        Ok(())
    })?;
    section.finish()
}
