//! Memory kept from one query for the next, although its contents borrowed from an index.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Memory of searches for later ones, at most one piece for each that ran at the same time.
#[derive(Debug)]
pub(crate) struct Pool<T>(Mutex<Vec<T>>);

/// Pieces that a pool keeps at the most, each some 150 KiB, and 400 KiB more where windows were scored whole.
const POOLED_MAX: usize = 16;

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool(Mutex::default())
    }
}

impl<T: Default> Pool<T> {
    /// Memory that an earlier search left, or none.
    pub(crate) fn take(&self) -> T {
        self.lock().pop().unwrap_or_default()
    }

    /// Keeps memory for the next search.
    pub(crate) fn give(&self, memory: T) {
        let mut kept = self.lock();
        if kept.len() < POOLED_MAX {
            kept.push(memory);
        }
    }

    /// The pieces at hand, which a panic left behind as empty vectors at the worst.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An empty vector of the same type but for lifetimes, with the memory of another.
///
/// Cost: a few instructions, no allocation.
pub(crate) fn recycled<A, B>(mut from: Vec<A>) -> Vec<B> {
    from.clear();
    // The standard library collects in place where sizes are equal; elsewhere it would allocate anew.
    from.into_iter().map(|_| -> B { unreachable!("the vector is empty") }).collect()
}

/// The memory of a vector.
pub(crate) fn emptied<T>(mut list: Vec<T>) -> Vec<T> {
    list.clear();
    list
}

/// Lists that were used before, for those to come: a search asks the allocator for none, once others like it have run.
#[derive(Debug)]
pub(crate) struct FreeLists<T>(Vec<Vec<T>>);

/// Lists that are kept at the most, and the bytes of each.
const LISTS_KEPT: usize = 32;
const LIST_BYTES_KEPT: usize = 4_096;

impl<T> Default for FreeLists<T> {
    fn default() -> Self {
        FreeLists(vec![])
    }
}

impl<T> FreeLists<T> {
    /// An empty list, with memory if there is any.
    pub(crate) fn take(&mut self) -> Vec<T> {
        self.0.pop().unwrap_or_default()
    }

    /// Keeps the memory of a list.
    pub(crate) fn give(&mut self, mut list: Vec<T>) {
        let bytes = list.capacity() * size_of::<T>();
        if bytes > 0 && bytes <= LIST_BYTES_KEPT && self.0.len() < LISTS_KEPT {
            list.clear();
            self.0.push(list);
        }
    }

    /// The last element of a list, whose memory is kept.
    pub(crate) fn last_of(&mut self, mut list: Vec<T>) -> Option<T> {
        let last = list.pop();
        self.give(list);
        last
    }
}

/// Memory that is kept from one search to the next.
pub(crate) trait HeapBytes {
    /// Bytes of the heap that it holds on to; of the elements of lists, only their own size.
    fn heap_bytes(&self) -> usize;
}

impl<T> HeapBytes for Vec<T> {
    fn heap_bytes(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

impl<T> HeapBytes for FreeLists<T> {
    fn heap_bytes(&self) -> usize {
        self.0.heap_bytes() + self.0.iter().map(Vec::heap_bytes).sum::<usize>()
    }
}

/// Adds up the [`HeapBytes`] of some fields of a structure.
macro_rules! heap_bytes {
    ($memory:ty { $($field:ident),+ $(,)? }) => {
        impl $crate::recycle::HeapBytes for $memory {
            fn heap_bytes(&self) -> usize {
                use $crate::recycle::HeapBytes;
                0 $(+ HeapBytes::heap_bytes(&self.$field))+
            }
        }
    };
}
pub(crate) use heap_bytes;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_used_again_unless_they_are_large_or_many() {
        let mut free = FreeLists::default();
        let mut list: Vec<u64> = free.take();
        list.extend([1, 2, 3]);
        let at = list.as_ptr();
        assert_eq!(free.last_of(list), Some(3));
        let again = free.take();
        assert!(again.is_empty());
        assert_eq!(again.as_ptr(), at);
        free.give(vec![]);
        free.give(Vec::with_capacity(LIST_BYTES_KEPT));
        assert_eq!(free.take().capacity(), 0);
        (0..2 * LISTS_KEPT).for_each(|_| free.give(vec![1]));
        assert_eq!(free.0.len(), LISTS_KEPT);
    }

    #[test]
    fn the_memory_stays_and_what_was_in_it_goes() {
        let text = String::from("raven");
        let mut kept: Vec<&'static str> = Vec::with_capacity(100);
        let at = kept.as_ptr();
        for _ in 0..3 {
            let mut words: Vec<&str> = recycled(kept);
            assert!(words.is_empty());
            words.push(&text);
            kept = recycled(words);
            assert_eq!((kept.as_ptr(), kept.len()), (at, 0));
            assert!(kept.capacity() >= 100);
        }
    }
}
