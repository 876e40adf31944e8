//! Neighbours of vectors: those that an exact comparison with all vectors of a filter finds.
//!
//! Cost: a document takes some 20 ns and what reading its numbers takes, mostly 4 bytes each, front to back. Memory: 16 bytes for each
//! neighbour that is kept.

mod best;
mod blocks;
mod neighbor;
mod graph;
mod scan;
mod standing;
mod target;
mod ways;

use crate::doc_id_set::DocIdSet;
use crate::error::Result;
use crate::graph::walk::Ended;
use crate::query::{Neighbors, NeighborsSpec, QueryVector};
use crate::segment::reader::SegmentReader;
use crate::sums::sums;
use best::Best;
use graph::{Among, Walked};
pub(crate) use neighbor::Neighbor;
pub(crate) use standing::{Standing, standing};
use target::Target;
pub(crate) use ways::{Choice, DEGREE, Figures, Way, choose};

/// Neighbours by segment, each ascending by document.
#[derive(Debug, Default)]
pub(crate) struct FoundNeighbors {
    pub(crate) segments: Vec<Vec<Neighbor>>,
    /// By segment.
    pub(crate) counts: Vec<VectorCounts>,
}

/// Work of finding neighbours of a vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VectorCounts {
    /// Documents among which they were looked for, with and without vectors.
    pub candidates: u64,
    /// Vectors of these that were compared.
    pub compared: u64,
    /// Vectors of these that a walk came to and codes did not prove too far.
    pub rescored: u64,
    /// Nodes that a walk came to and codes proved too far.
    ///
    /// Their vectors were not compared. Bounds of codes hold nearly always, not always: see
    /// [`VectorCodes`](crate::schema::VectorCodes).
    pub proved_out: u64,
    /// Nodes of a graph whose links were read.
    pub hops: u64,
    /// Codes of nodes that were compared.
    pub distances: u64,
    /// Blocks of 16 KiB that walks read; 0 unless the plan is measured.
    ///
    /// They are of links, codes and vectors; levels above the graph are left out.
    pub blocks: u64,
    /// Segments in which a walk was given up, and all vectors compared.
    pub switched: u64,
    /// Segments of these in which a walk came to too few.
    ///
    /// In the others it took too long, or too few around the vector were let through.
    pub exhausted: u64,
    /// Nearest that comparing all vectors finds; 0 unless [recall](crate::search::Explainer::recall) was asked for.
    pub nearest: u64,
    /// Neighbours that are as near as these.
    pub recalled: u64,
}

sums! {
    VectorCounts: candidates, compared, rescored, proved_out, hops, distances, blocks, switched, exhausted, nearest, recalled;
}

impl VectorCounts {
    /// Part of the nearest that was found; `None` unless [asked for](crate::search::Explainer::recall).
    pub fn recall(&self) -> Option<f64> {
        (self.nearest > 0).then(|| self.recalled as f64 / self.nearest as f64)
    }

    /// Returns the reason for the end of walks, `None` if there was none.
    ///
    /// It is `beam` if none that was left was near enough. Of walks that were given up it is `exhausted` if one came to too few,
    /// else `switched`: it took too long, or too few around the vector were let through.
    pub fn ended(&self) -> Option<String> {
        let ended = match (self.switched, self.exhausted) {
            (0, _) => "beam",
            (_, 0) => "switched",
            _ => "exhausted",
        };
        (self.hops > 0).then(|| ended.to_owned())
    }

    fn add_walk(&mut self, walked: &Walked) {
        self.compared += walked.compared;
        self.rescored += walked.compared;
        self.proved_out += walked.proved_out;
        self.hops += walked.counts.hops;
        self.distances += walked.counts.distances;
        self.blocks += walked.blocks.count();
        self.switched += u64::from(walked.found.is_none());
        self.exhausted += u64::from(walked.found.is_none() && walked.ended != Ended::Spent);
    }
}

impl FoundNeighbors {
    /// Similarity of a document of a segment; none where it is no neighbour.
    pub(crate) fn similarity(&self, segment: usize, doc: u32) -> Option<f32> {
        let found = self.segments.get(segment)?;
        let at = found.binary_search_by_key(&doc, |neighbor| neighbor.doc).ok()?;
        found.get(at).map(|neighbor| neighbor.similarity)
    }

    /// Neighbours of one segment, as its only one.
    pub(crate) fn of_segment(&self, segment: usize) -> Self {
        let own = self.segments.get(segment).cloned().unwrap_or_default();
        FoundNeighbors { segments: vec![own], counts: vec![] }
    }

    /// The least similarity of all.
    pub(crate) fn least(&self) -> Option<f32> {
        let all = self.segments.iter().flatten();
        all.map(|neighbor| neighbor.similarity).min_by(f32::total_cmp)
    }

    /// Number of the nearest, given by `exact`, and of neighbours here that are as near: those of equal similarity count.
    pub(crate) fn recalled_of(&self, exact: &Self) -> (u64, u64) {
        let least = exact.least().unwrap_or(f32::MAX);
        let own = self.segments.iter().flatten();
        let near = own.filter(|neighbor| neighbor.similarity >= least).count() as u64;
        (exact.n_docs(), near.min(exact.n_docs()))
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

/// Bounds of the number of neighbours where a filter lets at least so many documents through, and so many have no vector.
pub(crate) fn bounds(spec: &NeighborsSpec, filter: u64, n_without: u64) -> (u64, Option<u64>) {
    match (spec.wanted, &spec.vector) {
        // Only comparing tells how many are near enough.
        (Neighbors::Within(_), _) => (0, None),
        // Whether the document is there, and what it has, is found out later.
        (Neighbors::Nearest(k, _), QueryVector::Document(_)) => (0, Some(k.into())),
        (Neighbors::Nearest(k, _), _) => {
            (filter.saturating_sub(n_without).min(k.into()), Some(k.into()))
        }
    }
}

/// Finds neighbours among the documents of a filter, in segments with the number of the first document of each; whether blocks
/// are counted that walks read.
///
/// # Errors
///
/// [`Query`](crate::error::ErrorKind::Query) where a document whose neighbours are looked for is not there, is deleted or has no vector;
/// whatever reading says.
pub(crate) fn find(
    spec: &NeighborsSpec,
    segments: &[(SegmentReader<'_>, u64)],
    filter: &[DocIdSet],
    ways: &[Choice],
    counts_blocks: bool,
) -> Result<FoundNeighbors> {
    let Some((first, _)) = segments.first() else { return Ok(FoundNeighbors::default()) };
    let target = Target::of(spec, first.schema(), segments)?;
    let mut best = Best::of(spec.wanted);
    let mut counts = vec![VectorCounts::default(); segments.len()];
    for (nth, ((segment, base), filter)) in segments.iter().zip(filter).enumerate() {
        let Some(vectors) = segment.field(spec.field).vectors()? else { continue };
        let counts = &mut counts[nth];
        counts.candidates = filter.len(segment.n_docs());
        let left_out = target.left_out(*base);
        if let Some((k, choice)) = best.n_wanted().zip(ways.get(nth).filter(|it| it.is_walk()))
            && let Some(graph) = segment.field(spec.field).graph(vectors.n_vectors())?
        {
            let filter = filter.to_test()?;
            let among = Among::of((&graph, &vectors), &filter, left_out, counts_blocks);
            let walked = among.walk(&target, (k, best.least()), choice)?;
            counts.add_walk(&walked);
            if let Some(found) = walked.found {
                found.into_iter().try_for_each(|neighbor| best.offer(nth, neighbor))?;
                continue;
            }
        }
        counts.compared += scan::each(&vectors, filter, &target, |neighbor| {
            match Some(neighbor.doc) == left_out {
                true => Ok(()),
                false => best.offer(nth, neighbor),
            }
        })?;
    }
    Ok(FoundNeighbors { segments: best.by_segment(segments.len()), counts })
}
