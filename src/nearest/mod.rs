//! Neighbours of vectors: those that an exact comparison with all vectors of a filter finds.
//!
//! Cost: a document takes some 20 ns and what reading its numbers takes, 4 bytes each, front to back. Memory: 16 bytes for each
//! neighbour that is kept.

mod best;
mod scan;
mod target;

use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::query::NeighborsSpec;
use crate::segment::reader::SegmentReader;
use best::Best;
use target::Target;

/// A document, and how near it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Neighbor {
    pub(crate) doc: u32,
    pub(crate) similarity: f32,
}

/// Neighbours by segment, each ascending by document.
#[derive(Debug, Default)]
pub(crate) struct FoundNeighbors {
    pub(crate) segments: Vec<Vec<Neighbor>>,
    pub(crate) counts: NeighborCounts,
}

/// Work of finding neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct NeighborCounts {
    /// Documents that the filter lets through.
    pub(crate) filtered: u64,
    /// Vectors that were compared.
    pub(crate) compared: u64,
    /// Similarity of the last neighbour; none where there is none.
    pub(crate) least: Option<f32>,
}

impl FoundNeighbors {
    /// How near a document of a segment is; none where it is no neighbour.
    pub(crate) fn similarity(&self, segment: usize, doc: u32) -> Option<f32> {
        let found = self.segments.get(segment)?;
        let at = found.binary_search_by_key(&doc, |neighbor| neighbor.doc).ok()?;
        found.get(at).map(|neighbor| neighbor.similarity)
    }

    /// Neighbours of one segment, as its only one.
    pub(crate) fn of_segment(&self, segment: usize) -> Self {
        let own = self.segments.get(segment).cloned().unwrap_or_default();
        FoundNeighbors { segments: vec![own], counts: self.counts }
    }

    /// Documents of all segments.
    pub(crate) fn n_docs(&self) -> u64 {
        self.segments.iter().map(|found| found.len() as u64).sum()
    }

    /// The greatest similarity in a segment.
    pub(crate) fn greatest_in(&self, segment: usize) -> Option<f32> {
        let found = self.segments.get(segment)?.iter();
        found.map(|neighbor| neighbor.similarity).max_by(f32::total_cmp)
    }
}

/// Finds neighbours among the documents of a filter, in segments with the number of the first document of each.
///
/// # Errors
///
/// [`Query`](crate::error::ErrorKind::Query) where a document whose neighbours are looked for is not there, is deleted or has no vector;
/// whatever reading says.
pub(crate) fn find(
    spec: &NeighborsSpec,
    segments: &[(SegmentReader<'_>, u64)],
    filter: &[DocIdSet],
) -> Result<FoundNeighbors> {
    let Some((first, _)) = segments.first() else { return Ok(FoundNeighbors::default()) };
    let target = Target::of(spec, first.schema(), segments)?;
    let (mut best, mut counts) = (Best::of(spec.wanted), NeighborCounts::default());
    for (nth, ((segment, base), filter)) in segments.iter().zip(filter).enumerate() {
        let Some(vectors) = segment.field(spec.field).vectors()? else { continue };
        counts.filtered += filter.len(segment.n_docs());
        let left_out = target.left_out(*base);
        counts.compared += scan::each(&vectors, filter, &target, |neighbor| {
            match Some(neighbor.doc) == left_out {
                true => Ok(()),
                false => best.offer(nth, neighbor),
            }
        })?;
    }
    let mut found = FoundNeighbors { segments: best.by_segment(segments.len()), counts };
    let all = found.segments.iter().flatten().map(|neighbor| neighbor.similarity);
    found.counts.least = all.min_by(f32::total_cmp);
    Ok(found)
}
