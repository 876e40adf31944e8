//! Neighbours out of candidates.
//!
//! A candidate that is nearer to a neighbour than to the vector itself is reached by way of that neighbour, and is left out: robust pruning
//! of Subramanya, Devvrit, Kadekodi, Krishnaswamy and Simhadri, "DiskANN" (NeurIPS 2019).

use super::space::Space;

/// Neighbours of a vector out of its candidates, the nearest first.
pub(super) fn prune(space: &Space, candidates: &[u64], alpha: f32, degree: usize) -> Vec<u64> {
    let mut kept: Vec<u64> = Vec::with_capacity(degree);
    for key in candidates {
        if kept.len() == degree {
            break;
        }
        let (node, distance) = (*key as u32, crate::graph::walk::distance_of(*key));
        let is_reached =
            kept.iter().any(|other| alpha * space.distance(*other as u32, node) < distance);
        if !is_reached {
            kept.push(*key);
        }
    }
    kept
}
