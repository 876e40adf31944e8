//! Place of one document among all that are compared with a vector.

use super::scan;
use super::target::Target;
use crate::budget::Held;
use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::query::NeighborsSpec;
use crate::segment::reader::SegmentReader;

/// Place of a document by how near it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Standing {
    pub(crate) similarity: f32,
    /// From 1, among all that are let through.
    pub(crate) rank: u64,
}

/// Finds the place of a document of a segment among those of a filter; none where it has no vector, or is not let through.
///
/// # Errors
///
/// Whatever [finding](super::find) says.
pub(crate) fn standing(
    spec: &NeighborsSpec,
    segments: &[(SegmentReader<'_>, u64)],
    filter: &[DocIdSet],
    of: (usize, u32),
) -> Result<Option<Standing>> {
    let Some((first, _)) = segments.first() else { return Ok(None) };
    let target = Target::of(spec, first.schema(), segments)?;
    let (mut before, mut behind, mut own) = (vec![], vec![], None);
    let mut held = Held::default();
    for (nth, ((segment, base), filter)) in segments.iter().zip(filter).enumerate() {
        let Some(vectors) = segment.field(spec.field).vectors()? else { continue };
        let left_out = target.left_out(*base);
        scan::each(&vectors, filter, &target, |neighbor| {
            held.more(size_of::<f32>() as u64)?;
            match (nth, neighbor.doc) {
                at if at == of => own = Some(neighbor.similarity),
                (_, doc) if Some(doc) == left_out => {}
                at if at < of => before.push(neighbor.similarity),
                _ => behind.push(neighbor.similarity),
            }
            Ok(())
        })?;
    }
    Ok(own.map(|similarity| {
        // The first in the index comes first of documents as near as each other.
        let nearer = before.iter().filter(|it| **it >= similarity).count()
            + behind.iter().filter(|it| **it > similarity).count();
        Standing { similarity, rank: nearer as u64 + 1 }
    }))
}
