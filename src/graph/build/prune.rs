//! Neighbours out of candidates.
//!
//! A candidate that is nearer to a neighbour than to the vector itself is reached by way of that neighbour, and is left out: robust
//! pruning, of Subramanya, Devvrit, Kadekodi, Krishnaswamy and Simhadri, "DiskANN" (NeurIPS 2019). Room that is left goes to those
//! that are not much nearer to it, which makes walks shorter.

use super::space::Space;
use crate::graph::walk::distance_of;

/// Neighbours of a vector, at most `degree`, out of its candidates, the nearest first. A candidate that is `slack` times nearer to a
/// neighbour is none in any case.
pub(super) fn prune(space: &Space, candidates: &[u64], slack: f32, degree: usize) -> Vec<u64> {
    let (mut kept, mut spare): (Vec<u64>, Vec<u64>) = (Vec::with_capacity(degree), vec![]);
    for key in candidates {
        if kept.len() == degree {
            break;
        }
        match nearness(space, *key, &kept, slack) {
            nearness if nearness <= 1.0 => kept.push(*key),
            nearness if nearness <= slack => spare.push(*key),
            _ => {}
        }
    }
    let n_kept = kept.len();
    for key in spare {
        if kept.len() == degree {
            break;
        }
        if nearness(space, key, &kept[n_kept..], slack) <= slack {
            kept.push(key);
        }
    }
    kept
}

/// Factor by which a candidate is nearer to one of those kept than to the vector; enough if it is over `slack`.
fn nearness(space: &Space, key: u64, kept: &[u64], slack: f32) -> f32 {
    let (node, distance) = (key as u32, distance_of(key));
    let mut nearness = 0.0;
    for other in kept {
        let between = space.distance(*other as u32, node);
        if slack * between <= distance {
            return f32::INFINITY;
        }
        if between < distance {
            nearness = f32::max(nearness, if between > 0.0 { distance / between } else { slack });
        }
    }
    nearness
}
