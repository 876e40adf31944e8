//! Map for few keys, which are beside each other and compared one by one.

use smallvec::SmallVec;
use std::collections::HashMap;
use std::hash::Hash;

/// Keys up to which comparing all is quicker than a hash, and needs no allocation.
const FEW: usize = 8;

/// A map from keys to values.
///
/// Cost: a comparison for each key, or a hash once there are more than 8.
#[derive(Debug)]
pub(crate) struct FewMap<K, V> {
    few: SmallVec<[(K, V); FEW]>,
    /// All of them, if they are more.
    many: HashMap<K, V>,
}

impl<K: Eq + Hash, V: Copy> FewMap<K, V> {
    pub(crate) fn new() -> Self {
        FewMap { few: SmallVec::new(), many: HashMap::new() }
    }

    pub(crate) fn get(&self, key: &K) -> Option<V> {
        match self.many.is_empty() {
            true => self.few.iter().find(|(known, _)| known == key).map(|(_, value)| *value),
            false => self.many.get(key).copied(),
        }
    }

    /// Adds a key that is not there yet.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        if self.many.is_empty() && self.few.len() < FEW {
            self.few.push((key, value));
        } else {
            self.many.extend(self.few.drain(..));
            self.many.insert(key, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_keys_are_found_alike() {
        let mut map = FewMap::new();
        for n in 0..3 * FEW {
            assert_eq!(map.get(&n.to_string()), None);
            map.insert(n.to_string(), n);
            assert!((0..=n).all(|known| map.get(&known.to_string()) == Some(known)), "{n}");
        }
    }
}
