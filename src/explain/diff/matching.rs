//! Matching of the nodes of one plan with those of another.
//!
//! From the top: what stands above the query (the page, the ranking) is matched with what stands there, the query
//! itself with the query itself, and then the inputs of two matched nodes with each other, the most alike first: whole
//! subtrees that are the same, the same part of the query, the same operator over some of the same leaves, and last the
//! same operator on the same field. Remaining operators may have moved to another place: each is matched with the same
//! part of the query anywhere.

use super::super::ExplainNode;
use super::super::tree::with_parents;
use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Inputs of one node that are compared with each other one by one; beyond that only what is found by a hash is matched.
const PAIRWISE_MAX: usize = 256;

pub(super) struct Entry<'t> {
    pub(super) node: &'t ExplainNode,
    pub(super) parent: Option<usize>,
    pub(super) depth: usize,
    children: Vec<usize>,
    /// Operators and parts of the query from here down.
    subtree: u64,
    /// Parts of the query at the leaves, sorted.
    leaves: Vec<u64>,
}

/// A node and all below it, parents first.
pub(super) fn nodes(root: &ExplainNode) -> Vec<Entry<'_>> {
    let mut list: Vec<Entry<'_>> = vec![];
    for (at, (node, parent)) in with_parents(root).enumerate() {
        let above = parent.map(|parent| &mut list[parent]);
        let depth = above.map_or(0, |above| {
            above.children.push(at);
            above.depth + 1
        });
        let (children, leaves) = (vec![], vec![]);
        list.push(Entry { node, parent, depth, children, subtree: 0, leaves });
    }
    // Children stand behind their parents, so they are done first.
    for at in (0..list.len()).rev() {
        let mut hasher = DefaultHasher::new();
        (&list[at].node.operator, part(list[at].node)).hash(&mut hasher);
        let mut leaves = vec![];
        for child in &list[at].children {
            list[*child].subtree.hash(&mut hasher);
            leaves.extend_from_slice(&list[*child].leaves);
        }
        if list[at].children.is_empty() {
            leaves.push(hash(part(list[at].node)));
        }
        leaves.sort_unstable();
        // The first ones of a wide plan tell enough.
        leaves.truncate(PAIRWISE_MAX);
        (list[at].subtree, list[at].leaves) = (hasher.finish(), leaves);
    }
    list
}

/// The nodes above the query, from the top, and the root of that.
fn spine(nodes: &[Entry<'_>]) -> Vec<usize> {
    let below = |at: &usize| nodes[*at].node.is_page().then(|| nodes[*at].children[0]);
    std::iter::successors(Some(0), below).collect()
}

/// The part of a query that a node answers, or else what it says of itself.
fn part(node: &ExplainNode) -> &str {
    node.predicate.as_deref().unwrap_or(&node.label)
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// For each node of both, the other's that it is.
pub(super) struct Matching {
    pub(super) of_left: Vec<Option<usize>>,
    pub(super) of_right: Vec<Option<usize>>,
}

pub(super) fn matching(left: &[Entry<'_>], right: &[Entry<'_>]) -> Matching {
    let found = Matching { of_left: vec![None; left.len()], of_right: vec![None; right.len()] };
    let mut matcher = Matcher { left, right, found };
    matcher.spines();
    matcher.moved();
    matcher.found
}

/// Marks by which nodes are known.
type Key = fn(&Entry<'_>) -> u64;

const SUBTREE: Key = |entry| entry.subtree;
const OPERATOR_AND_PART: Key = |entry| hash((&entry.node.operator, part(entry.node)));

struct Matcher<'m, 't> {
    left: &'m [Entry<'t>],
    right: &'m [Entry<'t>],
    found: Matching,
}

impl Matcher<'_, '_> {
    /// From the query upwards, as what is above that may be there or not.
    fn spines(&mut self) {
        let (mut l, mut r) = (spine(self.left), spine(self.right));
        if let (Some(l), Some(r)) = (l.pop(), r.pop()) {
            self.pair_below(l, r);
        }
        // Inputs of the same operator come first, and then those that are left in their order.
        let mut pairs = self.by_key(&mut l, &mut r, |entry| hash(&entry.node.operator));
        pairs.extend(l.into_iter().zip(r));
        for (l, r) in pairs {
            self.pair(l, r);
        }
    }

    fn pair(&mut self, l: usize, r: usize) {
        self.found.of_left[l] = Some(r);
        self.found.of_right[r] = Some(l);
    }

    /// Matches two nodes and, as far as they are alike, what is below them.
    fn pair_below(&mut self, l: usize, r: usize) {
        let mut todo = vec![(l, r)];
        while let Some((l, r)) = todo.pop() {
            self.pair(l, r);
            todo.extend(self.inputs(l, r));
        }
    }

    /// Pairs of inputs of two nodes, none of them in two pairs.
    fn inputs(&self, l: usize, r: usize) -> Vec<(usize, usize)> {
        let (mut l, mut r) = (self.left[l].children.clone(), self.right[r].children.clone());
        l.retain(|at| self.found.of_left[*at].is_none());
        r.retain(|at| self.found.of_right[*at].is_none());
        let mut pairs = vec![];
        for key in [SUBTREE, OPERATOR_AND_PART, |entry| hash(part(entry.node))] {
            pairs.extend(self.by_key(&mut l, &mut r, key));
        }
        if l.len() <= PAIRWISE_MAX && r.len() <= PAIRWISE_MAX {
            let mut alike = vec![];
            let has_inputs = |(l, r): &(usize, usize)| {
                !self.left[*l].children.is_empty() && !self.right[*r].children.is_empty()
            };
            let all = l.iter().flat_map(|l| r.iter().map(|r| (*l, *r)));
            for (l, r) in all.filter(has_inputs) {
                let (one, other) = (&self.left[l], &self.right[r]);
                let n = common(&one.leaves, &other.leaves);
                alike.extend((n > 0).then(|| (n, one.node.operator == other.node.operator, l, r)));
            }
            // The most leaves in common first, and of those that have as many the first in the plan.
            alike.sort_by_key(|(n, same, l, r)| (std::cmp::Reverse((*n, *same)), *l, *r));
            for (_, _, one, other) in alike {
                if l.contains(&one) && r.contains(&other) {
                    pairs.push((one, other));
                    l.retain(|at| *at != one);
                    r.retain(|at| *at != other);
                }
            }
        }
        // A word or pattern that was changed is the same leaf, asked for something else.
        pairs.extend(self.by_key(&mut l, &mut r, |entry| {
            hash((&entry.node.operator, &entry.node.field, entry.children.is_empty()))
        }));
        pairs
    }

    /// Pairs what has the same key, in order, and takes it away from both.
    fn by_key(&self, l: &mut Vec<usize>, r: &mut Vec<usize>, key: Key) -> Vec<(usize, usize)> {
        let keyed = |nodes: &[Entry<'_>], places: &[usize]| -> Vec<(u64, usize)> {
            places.iter().map(|at| (key(&nodes[*at]), *at)).collect()
        };
        let (of_left, of_right) = (keyed(self.left, l), keyed(self.right, r));
        let (pairs, added) = paired(&of_left, &of_right, |(key, _)| key);
        *l = pairs.iter().filter(|(_, r)| r.is_none()).map(|((_, l), _)| *l).collect();
        *r = added.into_iter().map(|(_, r)| *r).collect();
        pairs.into_iter().filter_map(|((_, l), r)| Some((*l, r?.1))).collect()
    }

    /// Matches what is left over with the same at another place, largest subtrees first.
    fn moved(&mut self) {
        for key in [SUBTREE, OPERATOR_AND_PART] {
            let free = |found: &[Option<usize>]| {
                (0..found.len()).filter(|at| found[*at].is_none()).collect::<Vec<_>>()
            };
            // Inputs matched below others may have been meant for further ones, which then take the next.
            loop {
                let (mut l, mut r) = (free(&self.found.of_left), free(&self.found.of_right));
                let pairs = self.by_key(&mut l, &mut r, key);
                if pairs.is_empty() {
                    break;
                }
                for (l, r) in pairs {
                    if self.found.of_left[l].is_none() && self.found.of_right[r].is_none() {
                        self.pair_below(l, r);
                    }
                }
            }
        }
    }
}

/// Each of `left` with the one of `right` that has the same key, the nth of a key with the nth; and what is left over of
/// `right`. Both in their order.
pub(super) fn paired<'t, T, K: Hash + Eq>(
    left: impl IntoIterator<Item = &'t T>,
    right: impl IntoIterator<Item = &'t T>,
    key: impl Fn(&'t T) -> K,
) -> (Vec<(&'t T, Option<&'t T>)>, Vec<&'t T>) {
    let mut free: Vec<Option<&T>> = right.into_iter().map(Some).collect();
    let mut places: HashMap<K, VecDeque<usize>> = HashMap::new();
    for (at, r) in free.iter().flatten().enumerate() {
        places.entry(key(r)).or_default().push_back(at);
    }
    let pairs = left.into_iter().map(|l| {
        let at = places.get_mut(&key(l)).and_then(VecDeque::pop_front);
        (l, at.and_then(|at| free[at].take()))
    });
    let pairs = pairs.collect();
    (pairs, free.into_iter().flatten().collect())
}

/// Counts the numbers that two sorted rows have in common.
fn common(left: &[u64], right: &[u64]) -> usize {
    let (mut l, mut r, mut n) = (0, 0, 0);
    while l < left.len() && r < right.len() {
        match left[l].cmp(&right[r]) {
            std::cmp::Ordering::Less => l += 1,
            std::cmp::Ordering::Greater => r += 1,
            std::cmp::Ordering::Equal => (l, r, n) = (l + 1, r + 1, n + 1),
        }
    }
    n
}
