//! Vectors on their way into a segment: from runs, or from segments that are merged.
//!
//! Rows are copied from front to back, and none is kept but where documents change places: then as many as there is
//! [room](super::reorder) for.

use crate::budget::{self, ns};
use crate::error::{Error, ErrorKind, Result};
use crate::format::vectors::Vectors;
use crate::ids::FieldId;
use crate::schema::{Field, VectorParams};
use crate::segment::builder::{SegmentBuilder, VectorsSection};
use crate::segment::file::Section;
use crate::segment::reader::SegmentReader;
use crate::segment::renumbering::Renumbering;
use crate::writer::graph::{GraphBuffer, GraphMeans};
use crate::writer::reorder::{ReorderBuffer, reorder};
use crate::writer::run::Run;

/// A field, which vectors it has, and the rest that the schema says of it.
type Of<'s> = (FieldId, VectorParams, &'s Field);

/// Segments that are merged, each with the numbers that its documents get, and how many documents that makes.
pub(super) struct Merge<'m> {
    pub(super) parts: Vec<(SegmentReader<'m>, &'m Renumbering)>,
    pub(super) n_docs: u32,
    /// Bytes of memory for what waits for its turn, where documents change places.
    pub(super) room: Option<usize>,
    pub(super) graphs: GraphMeans<'m>,
}

/// Writes the vectors of runs of consecutive documents.
pub(super) fn write(
    runs: &[Run],
    n_docs: u32,
    of: Of<'_>,
    graphs: GraphMeans<'_>,
    builder: &mut SegmentBuilder,
) -> Result<()> {
    let n_vectors = count(runs.iter().map(|run| run.n_vectors() as u64).sum())?;
    write_rows((n_docs, n_vectors), of, graphs, builder, |rows| {
        runs.iter().try_for_each(|run| run.for_each_vector(|doc, row| rows.add(doc, row)))
    })
}

fn count(n_vectors: u64) -> Result<u32> {
    u32::try_from(n_vectors).map_err(|_| {
        Error::new(ErrorKind::LimitExceeded, "writing the vectors of a segment")
            .expected(format!("at most {} of a field", u32::MAX))
            .found(n_vectors.to_string())
    })
}

/// Rows on their way into the segment, and into its graph if it will have one.
struct Rows<'b, 'm> {
    section: VectorsSection<'b>,
    graph: Option<GraphBuffer<'m>>,
}

impl Rows<'_, '_> {
    fn add(&mut self, doc: u32, row: &[u8]) -> Result<()> {
        if let Some(graph) = &mut self.graph {
            graph.add(row)?;
        }
        self.section.add(doc, row)
    }
}

/// Writes the rows that `add_all` adds, so many, and the graph over them.
fn write_rows(
    (n_docs, n_vectors): (u32, u32),
    (field, params, of_schema): Of<'_>,
    graphs: GraphMeans<'_>,
    builder: &mut SegmentBuilder,
    add_all: impl FnOnce(&mut Rows<'_, '_>) -> Result<()>,
) -> Result<()> {
    let section = builder.start_vectors(field, n_docs, n_vectors, params)?;
    let mut rows = Rows { section, graph: GraphBuffer::of(of_schema, params, n_vectors, graphs) };
    add_all(&mut rows)?;
    let Rows { section, graph } = rows;
    section.finish()?;
    match graph {
        Some(graph) => graph.write(field, builder),
        None => Ok(()),
    }
}

/// A part of a merge, and its vectors.
type WithVectors<'m> = (SegmentReader<'m>, &'m Renumbering, Vectors<Section<'m>>);

/// Copies the vectors of what is not deleted.
pub(super) fn copy(merge: &Merge<'_>, of: Of<'_>, builder: &mut SegmentBuilder) -> Result<()> {
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
    let n_rows = (merge.n_docs, count(n_vectors)?);
    write_rows(n_rows, of, merge.graphs.clone(), builder, |rows| {
        if let Some(room) = merge.room {
            return copy_in_order(&parts, (merge.n_docs, room), of.1, rows);
        }
        for (_, numbers, vectors) in &parts {
            vectors.for_each(|doc, row| {
                budget::work(ns::ROW_COPIED)?;
                numbers.get(doc).map_or(Ok(()), |number| rows.add(number, row))
            })?;
        }
        Ok(())
    })
}

/// Copies vectors of documents that change places. Each document is a part that waits for its turn, also one without any.
fn copy_in_order(
    parts: &[WithVectors<'_>],
    (n_docs, room): (u32, usize),
    params: VectorParams,
    to: &mut Rows<'_, '_>,
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
        rows.try_for_each(|row| to.add(number, row))?;
        number += 1;
        Ok(())
    })
}
