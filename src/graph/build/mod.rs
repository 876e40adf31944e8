//! Building of a graph, by partitions.

mod candidates;
mod crew;
mod hash;
mod leaves;
mod partition;
mod prune;
mod space;

use super::code::Codes;
use super::{Adjacency, Graph, Level};
use crate::error::Result;
use candidates::Candidates;
use partition::Partition;
use rayon::ThreadPool;
use space::Space;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct Tuning {
    pub(crate) leaf: usize,
    pub(crate) leaders_a_leaf: usize,
    pub(crate) leaders_max: usize,
    pub(crate) fan: Vec<usize>,
    pub(crate) nearest: usize,
    pub(crate) capacity: usize,
    pub(crate) alpha: f32,
    pub(crate) degree: usize,
    pub(crate) reverse: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning {
            leaf: 512,
            leaders_a_leaf: 2,
            leaders_max: 256,
            fan: vec![6, 2],
            nearest: 4,
            capacity: 64,
            alpha: 1.2,
            degree: 32,
            reverse: 0,
        }
    }
}

/// Nodes of a level for one of the next.
const LEVEL_SHRINKS: usize = 64;

/// Graph of some vectors.
///
/// # Errors
///
/// Those of the [budget](crate::budget) of this thread.
pub(crate) fn build(
    codes: &Arc<Codes>,
    tuning: &Tuning,
    pool: Option<&ThreadPool>,
) -> Result<Graph> {
    let space = Arc::new(Space::new(codes));
    let hashes: Vec<u64> = (0..codes.len() as u32)
        .map(|at| hash::of_code(codes.code(at), codes.measures(at).scale))
        .collect();
    let hashes = Arc::new(hashes);
    let (order, links) = neighbours(&space, &hashes, tuning, pool)?;
    let mut node_of = vec![0; order.len()];
    (0..).zip(&order).for_each(|(node, at)| node_of[*at as usize] = node);
    let renumbered: Vec<Vec<u32>> = order
        .iter()
        .map(|at| {
            let mut links: Vec<u32> =
                links[*at as usize].iter().map(|at| node_of[*at as usize]).collect();
            links.sort_unstable();
            links
        })
        .collect();
    let mut upper: Vec<Level> = vec![];
    let mut by_hash: Vec<u32> = order.clone();
    by_hash.sort_unstable_by_key(|at| (hashes[*at as usize], *at));
    let mut n = order.len();
    while n > super::TOP_NODES {
        n = n.div_ceil(LEVEL_SHRINKS).max(super::TOP_NODES / 2);
        let mut nodes: Vec<u32> = by_hash[..n].iter().map(|at| node_of[*at as usize]).collect();
        nodes.sort_unstable();
        let vectors: Vec<u32> = nodes.iter().map(|node| order[*node as usize]).collect();
        let some = Arc::new(codes.some(&vectors));
        let some_hashes = Arc::new(vectors.iter().map(|at| hashes[*at as usize]).collect());
        let (_, mut links) = neighbours(&Arc::new(Space::new(&some)), &some_hashes, tuning, pool)?;
        links.iter_mut().for_each(|links| links.sort_unstable());
        upper.push(Level { nodes, links: Adjacency::of(links.iter().map(|links| &links[..])) });
    }
    Ok(Graph { order, links: Adjacency::of(renumbered.iter().map(|links| &links[..])), upper })
}

/// Order of vectors that are near each other, and the neighbours of each.
fn neighbours(
    space: &Arc<Space>,
    hashes: &Arc<Vec<u64>>,
    tuning: &Tuning,
    pool: Option<&ThreadPool>,
) -> Result<(Vec<u32>, Vec<Vec<u32>>)> {
    let t = std::time::Instant::now();
    let candidates = Arc::new(Candidates::new(space, tuning, pool)?);
    let partition = Partition {
        space: Arc::clone(space),
        hashes: Arc::clone(hashes),
        candidates: Arc::clone(&candidates),
        tuning: tuning.clone(),
    };
    let order = partition.run(pool)?;
    if space.len() > 4000 {
        eprintln!("partition {:.2}", t.elapsed().as_secs_f64());
    }
    let kept = {
        let (space, candidates, tuning) =
            (Arc::clone(space), Arc::clone(&candidates), tuning.clone());
        crew::map(pool, candidates.n_shards(), move |shard| {
            let all = candidates.take(shard);
            all.iter()
                .map(|keys| prune::prune(&space, keys, tuning.alpha, tuning.degree))
                .collect::<Vec<_>>()
        })?
        .concat()
    };
    if space.len() > 4000 {
        eprintln!("prune {:.2}", t.elapsed().as_secs_f64());
    }
    let kept = if tuning.reverse == 0 {
        kept
    } else {
        let mut all: Vec<Vec<u64>> = kept.clone();
        for (at, kept) in (0..).zip(&kept) {
            for key in kept {
                all[*key as u32 as usize].push(*key & (!0 << 32) | at);
            }
        }
        let (space, tuning, all) = (Arc::clone(space), tuning.clone(), Arc::new(all));
        crew::map(pool, all.len().div_ceil(256), move |nth| {
            all[nth * 256..all.len().min(nth * 256 + 256)]
                .iter()
                .map(|keys| {
                    let mut keys = keys.clone();
                    keys.sort_unstable();
                    keys.dedup();
                    if keys.len() <= tuning.degree {
                        return keys;
                    }
                    if tuning.reverse == 2 {
                        keys.truncate(64);
                        return keys;
                    }
                    prune::prune(&space, &keys, tuning.alpha, tuning.degree)
                })
                .collect::<Vec<_>>()
        })?
        .concat()
    };
    if space.len() > 4000 {
        eprintln!("reverse {:.2}", t.elapsed().as_secs_f64());
    }
    Ok((order, kept.iter().map(|keys| keys.iter().map(|key| *key as u32).collect()).collect()))
}
