//! Links to nodes that no walk would come to.

use super::Links;
use super::space::Space;
use crate::graph::DEGREE_MAX;
use crate::graph::walk::key_of;
use std::collections::BTreeMap;

/// Links by vector, with those that are added and those that are come to.
struct Reach<'l> {
    links: &'l Links,
    added: BTreeMap<u32, Vec<u32>>,
    is_reached: Vec<bool>,
}

impl Reach<'_> {
    /// Marks what a vector leads to. Added links lead to what is marked.
    fn mark(&mut self, from: u32) {
        if std::mem::replace(&mut self.is_reached[from as usize], true) {
            return;
        }
        let mut left = vec![from];
        while let Some(at) = left.pop() {
            for to in self.links.of(at) {
                if !std::mem::replace(&mut self.is_reached[to as usize], true) {
                    left.push(to);
                }
            }
        }
    }

    fn n_links(&self, of: u32) -> usize {
        self.links.of(of).count() + self.added.get(&of).map_or(0, Vec::len)
    }

    /// The nearest of some vectors that is come to and has room for one more link.
    fn nearest(&self, space: &Space, to: u32, among: impl Iterator<Item = u32>) -> Option<u32> {
        let is_fit = |at: &u32| self.is_reached[*at as usize] && self.n_links(*at) < DEGREE_MAX;
        among.filter(is_fit).min_by_key(|at| key_of(space.distance(to, *at), *at))
    }

    fn add(&mut self, from: u32, to: u32) {
        self.added.entry(from).or_default().push(to);
        self.mark(to);
    }
}

/// Links to add, by the vector that they lead from, so that each vector is come to from the entries.
pub(super) fn connect(space: &Space, links: &Links, entries: &[u32]) -> BTreeMap<u32, Vec<u32>> {
    let n = space.len();
    let mut reach = Reach { is_reached: vec![false; n], added: BTreeMap::new(), links };
    entries.iter().for_each(|entry| reach.mark(*entry));
    let mut left: Vec<u32> = (0..n as u32).filter(|at| !reach.is_reached[*at as usize]).collect();
    while !left.is_empty() {
        let n_left = left.len();
        left.retain(|at| {
            if reach.is_reached[*at as usize] {
                return false;
            }
            let nearest = reach.nearest(space, *at, links.of(*at));
            let Some(nearest) = nearest else { return true };
            reach.add(nearest, *at);
            false
        });
        let Some(at) = left.first().copied().filter(|_| left.len() == n_left) else { continue };
        // Islands: none of them leads to what is come to.
        let among = reach.nearest(space, at, entries.iter().copied());
        let Some(nearest) = among.or_else(|| reach.nearest(space, at, 0..n as u32)) else { break };
        reach.add(nearest, at);
    }
    reach.added
}
