//! Nodes that a walk has seen.

/// Nodes of a word.
const WORD_NODES: usize = u64::BITS as usize;

/// A set of nodes that is emptied without touching it: a word counts if it is of the current walk.
#[derive(Debug, Default)]
pub(super) struct Seen {
    words: Vec<Word>,
    walk: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Word {
    nodes: u64,
    walk: u32,
}

impl Seen {
    /// Begins a walk over so many nodes, of which none was seen.
    pub(super) fn begin(&mut self, n_nodes: usize) {
        let n_words = n_nodes.div_ceil(WORD_NODES);
        if self.words.len() < n_words {
            self.words.resize(n_words, Word::default());
        }
        self.walk = self.walk.wrapping_add(1);
        if self.walk == 0 {
            self.words.fill(Word::default());
            self.walk = 1;
        }
    }

    /// Whether a node is seen for the first time. One that is not there counts as seen.
    #[inline]
    pub(super) fn insert(&mut self, node: u32) -> bool {
        let Some(word) = self.words.get_mut(node as usize / WORD_NODES) else { return false };
        if word.walk != self.walk {
            *word = Word { nodes: 0, walk: self.walk };
        }
        let bit = 1 << (node as usize % WORD_NODES);
        let is_new = word.nodes & bit == 0;
        word.nodes |= bit;
        is_new
    }
}

impl Seen {
    /// Bytes of a set of so many nodes.
    pub(super) fn bytes(n_nodes: usize) -> u64 {
        (n_nodes.div_ceil(WORD_NODES) * size_of::<Word>()) as u64
    }

    /// Nodes that were seen, ascending.
    pub(super) fn nodes(&self) -> impl Iterator<Item = u32> {
        let of_walk = (0..).zip(&self.words).filter(|(_, word)| word.walk == self.walk);
        of_walk.flat_map(|(nth, word)| {
            let bits = (0..WORD_NODES as u32).filter(|bit| word.nodes & 1 << bit != 0);
            bits.map(move |bit| nth * WORD_NODES as u32 + bit)
        })
    }

    /// Whether a node was seen.
    #[inline]
    pub(super) fn contains(&self, node: u32) -> bool {
        let word = self.words.get(node as usize / WORD_NODES);
        word.is_some_and(|word| {
            word.walk == self.walk && word.nodes & 1 << (node as usize % WORD_NODES) != 0
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_sees_each_node_once() {
        let mut seen = Seen::default();
        for n_nodes in [1, 64, 65, 1_000, 3] {
            seen.begin(n_nodes);
            for node in 0..n_nodes as u32 {
                assert!(seen.insert(node) && !seen.insert(node), "{node} of {n_nodes}");
            }
        }
        assert_eq!(seen.nodes().collect::<Vec<_>>(), [0, 1, 2]);
        assert!(!seen.insert(u32::MAX));
        seen.walk = u32::MAX;
        seen.begin(1_000);
        assert!(seen.insert(999) && !seen.insert(999));
    }
}
