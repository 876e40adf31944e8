//! A container of our own, reused from one result to the next.

use super::container::{Container, ContainerKind};
use super::runs::{Runs, run_bytes};
use super::words::{self, Bits, EMPTY};
use crate::recycle::HeapBytes;
use crate::simd::bitmaps::{self, Or, WordOp, Words};
use std::{fmt, ops::Range, ops::RangeInclusive};

/// The most values an array holds; from here on a bitmap is smaller.
pub(crate) const ARRAY_MAX: usize = 4096;

/// The most runs that fit the buffer.
const RUNS_MAX: usize = 2048;

/// An owned [`Container`] in a buffer of 8 KiB that never grows.
///
/// So a query that keeps its buffers allocates nothing.
///
/// Its cardinality is always known and always right. The kind is what the last operation found
/// convenient; [`write_containers`](super::write_containers) chooses the one that suits it.
///
/// ```
/// use treepie::bitmap::{self, Container, ContainerBuf};
///
/// let mut evens = ContainerBuf::new();
/// evens.set_sorted((0..100).step_by(2));
/// let mut result = ContainerBuf::new();
/// bitmap::and(evens.as_container(), Container::Run(&[[10, 0, 5, 0]]), &mut result); // 10..=15
/// assert_eq!(result.as_container().iter().collect::<Vec<u16>>(), [10, 12, 14]);
/// assert_eq!(result.cardinality(), 3);
/// ```
#[derive(Clone)]
pub struct ContainerBuf {
    kind: ContainerKind,
    /// Bytes in use; always 8192 for a bitmap.
    len: usize,
    cardinality: u32,
    words: Box<Words>,
}

impl HeapBytes for Option<ContainerBuf> {
    fn heap_bytes(&self) -> usize {
        self.as_ref().map_or(0, |_| size_of::<Words>())
    }
}

impl Default for ContainerBuf {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ContainerBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_container().fmt(f)
    }
}

impl ContainerBuf {
    /// An empty one, with its 8 KiB allocated.
    ///
    /// ```
    /// assert!(treepie::bitmap::ContainerBuf::new().is_empty());
    /// ```
    pub fn new() -> Self {
        ContainerBuf { kind: ContainerKind::Array, len: 0, cardinality: 0, words: Box::new(EMPTY) }
    }

    /// One that holds all 65,536 values.
    ///
    /// ```
    /// assert_eq!(treepie::bitmap::ContainerBuf::full().cardinality(), 65_536);
    /// ```
    pub fn full() -> Self {
        let mut full = Self::new();
        full.set_range(0..=u16::MAX);
        full
    }

    /// The values, to read.
    ///
    /// ```
    /// # use treepie::bitmap::ContainerBuf;
    /// assert!(ContainerBuf::full().as_container().contains(7));
    /// ```
    #[inline]
    pub fn as_container(&self) -> Container<'_> {
        self.container_in(&self.words)
    }

    /// The values, in a copy of the buffer.
    #[inline]
    fn container_in<'w>(&self, words: &'w Words) -> Container<'w> {
        // Arrays and runs that do not fit are never taken, so `len` is at most that of the buffer.
        let in_use = words.as_flattened().get(..self.len).unwrap_or_default();
        match self.kind {
            ContainerKind::Array => Container::Array(in_use.as_chunks().0),
            ContainerKind::Bitmap => Container::Bitmap(words),
            ContainerKind::Run => Container::Run(in_use.as_chunks().0),
        }
    }

    /// Number of values, in constant time.
    ///
    /// ```
    /// # use treepie::bitmap::ContainerBuf;
    /// assert_eq!(ContainerBuf::new().cardinality(), 0);
    /// ```
    #[inline]
    pub fn cardinality(&self) -> u32 {
        self.cardinality
    }

    /// Whether there is no value.
    ///
    /// ```
    /// # use treepie::bitmap::ContainerBuf;
    /// assert!(!ContainerBuf::full().is_empty());
    /// ```
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.cardinality == 0
    }

    /// Current encoding of the values.
    ///
    /// ```
    /// # use treepie::bitmap::{ContainerBuf, ContainerKind};
    /// assert_eq!(ContainerBuf::full().kind(), ContainerKind::Run);
    /// ```
    pub fn kind(&self) -> ContainerKind {
        self.kind
    }

    /// Forgets the values, keeps the memory.
    ///
    /// ```
    /// # use treepie::bitmap::ContainerBuf;
    /// let mut buffer = ContainerBuf::full();
    /// buffer.clear();
    /// assert!(buffer.is_empty());
    /// ```
    pub fn clear(&mut self) {
        self.become_array(0);
    }

    /// Takes over the values of `container`.
    ///
    /// ```
    /// # use treepie::bitmap::{Container, ContainerBuf};
    /// let mut buffer = ContainerBuf::new();
    /// buffer.set(Container::Array(&[[3, 0], [5, 0]]));
    /// assert_eq!(buffer.as_container().iter().collect::<Vec<u16>>(), [3, 5]);
    /// ```
    pub fn set(&mut self, container: Container<'_>) {
        match container {
            Container::Array(values) if values.len() <= ARRAY_MAX => {
                self.fill_array(|slots| copy_values(values, slots));
            }
            Container::Run(runs) if runs.len() <= RUNS_MAX => {
                let fits = self.try_fill_runs(Runs::new(runs));
                debug_assert!(fits, "reading runs makes them fewer, not more");
            }
            _ => {
                self.set_words(container);
            }
        }
    }

    /// Replaces the values by ascending ones. A value that is not greater than the one before is left out.
    ///
    /// ```
    /// # use treepie::bitmap::ContainerBuf;
    /// let mut buffer = ContainerBuf::new();
    /// buffer.set_sorted([3, 5, 5, 4, 9]);
    /// assert_eq!(buffer.as_container().iter().collect::<Vec<u16>>(), [3, 5, 9]);
    /// ```
    pub fn set_sorted(&mut self, values: impl IntoIterator<Item = u16>) {
        let mut floor = 0;
        let mut values = values.into_iter().filter(|&value| {
            let fits = u32::from(value) >= floor;
            floor = if fits { u32::from(value) + 1 } else { floor };
            fits
        });
        let mut next = None;
        self.fill_array(|slots| {
            for (n, slot) in slots.iter_mut().enumerate() {
                match values.next() {
                    Some(value) => *slot = value.to_le_bytes(),
                    None => return n,
                }
            }
            next = values.next();
            slots.len()
        });
        if next.is_some() {
            self.make_bitmap();
            for value in next.into_iter().chain(values) {
                words::insert(&mut self.words, value);
                self.cardinality += 1;
            }
        }
    }

    /// Takes over a range of values.
    ///
    /// ```
    /// # use treepie::bitmap::ContainerBuf;
    /// let mut buffer = ContainerBuf::new();
    /// buffer.set_range(7..=9);
    /// assert_eq!(buffer.as_container().iter().collect::<Vec<u16>>(), [7, 8, 9]);
    /// ```
    pub fn set_range(&mut self, range: RangeInclusive<u16>) {
        let range = u32::from(*range.start())..u32::from(*range.end()) + 1;
        let fits = self.try_fill_runs(std::iter::once(range).filter(|range| !range.is_empty()));
        debug_assert!(fits, "one run fits");
    }

    /// Takes over what `fill` makes of 1,024 words without a bit, as a bitmap.
    pub(crate) fn fill_words<E>(
        &mut self,
        fill: impl FnOnce(&mut Words) -> Result<(), E>,
    ) -> Result<(), E> {
        self.become_array(0);
        *self.words = EMPTY;
        fill(&mut self.words)?;
        self.cardinality = bitmaps::count(&self.words);
        (self.kind, self.len) = (ContainerKind::Bitmap, size_of::<Words>());
        Ok(())
    }

    /// Adds the values of `container`. The buffer becomes a bitmap and stays one, which makes the
    /// next addition cheap: 1 ns per value of an array, 50 to 200 ns for a bitmap.
    ///
    /// ```
    /// # use treepie::bitmap::{Container, ContainerBuf};
    /// let mut buffer = ContainerBuf::new();
    /// buffer.or_with(Container::Array(&[[3, 0], [5, 0]]));
    /// buffer.or_with(Container::Run(&[[4, 0, 2, 0]]));
    /// assert_eq!(buffer.as_container().iter().collect::<Vec<u16>>(), [3, 4, 5, 6]);
    /// ```
    pub fn or_with(&mut self, container: Container<'_>) {
        if self.is_empty() {
            self.set_words(container);
        } else {
            self.make_bitmap();
            self.apply::<Or>(container);
        }
    }

    /// Lets `fill` write ascending values to the front of 4096 slots and say how many they are.
    pub(super) fn fill_array(&mut self, fill: impl FnOnce(&mut [[u8; 2]]) -> usize) {
        let n = fill(self.words.as_flattened_mut().as_chunks_mut().0).min(ARRAY_MAX);
        self.become_array(n);
    }

    fn become_array(&mut self, n: usize) {
        (self.kind, self.len, self.cardinality) = (ContainerKind::Array, 2 * n, n as u32);
    }

    /// Takes over ascending, disjoint, non-empty ranges, joining those that touch. False where
    /// they do not fit the buffer; what it holds then is of no use.
    #[must_use]
    pub(super) fn try_fill_runs(&mut self, ranges: impl Iterator<Item = Range<u32>>) -> bool {
        let slots: &mut [[u8; 4]] = self.words.as_flattened_mut().as_chunks_mut().0;
        let (mut n, mut cardinality) = (0, 0);
        let mut now = 0..0;
        for range in ranges {
            cardinality += range.end - range.start;
            if range.start == now.end && !now.is_empty() {
                now.end = range.end;
                continue;
            }
            if !now.is_empty() {
                let Some(slot) = slots.get_mut(n) else {
                    return self.give_up();
                };
                *slot = run_bytes(now);
                n += 1;
            }
            now = range;
        }
        if !now.is_empty() {
            let Some(slot) = slots.get_mut(n) else {
                return self.give_up();
            };
            *slot = run_bytes(now);
            n += 1;
        }
        (self.kind, self.len, self.cardinality) = (ContainerKind::Run, 4 * n, cardinality);
        true
    }

    fn give_up(&mut self) -> bool {
        self.become_array(0);
        false
    }

    /// Takes over the values of `container` as a bitmap.
    pub(super) fn set_words(&mut self, container: Container<'_>) {
        self.cardinality = match container {
            Container::Bitmap(words) => {
                *self.words = *words;
                bitmaps::count(words)
            }
            _ => {
                *self.words = EMPTY;
                words::apply::<Or>(&mut self.words, 0, container)
            }
        };
        (self.kind, self.len) = (ContainerKind::Bitmap, size_of::<Words>());
    }

    /// Turns what it holds into a bitmap.
    pub(super) fn make_bitmap(&mut self) {
        if self.kind != ContainerKind::Bitmap {
            // On the stack: a buffer allocates once.
            let words = *self.words;
            self.set_words(self.container_in(&words));
        }
    }

    /// Combines a bitmap with `other`, in place; for AND, `other` must be a bitmap too.
    pub(super) fn apply<O: WordOp>(&mut self, other: Container<'_>) {
        debug_assert_eq!(self.kind, ContainerKind::Bitmap);
        self.cardinality = words::apply::<O>(&mut self.words, self.cardinality, other);
    }

    /// Takes over the combination of two bitmaps.
    pub(super) fn combine<O: WordOp>(&mut self, a: &Words, b: &Words) {
        self.cardinality = bitmaps::combine::<O>(a, b, &mut self.words);
        (self.kind, self.len) = (ContainerKind::Bitmap, size_of::<Words>());
    }

    /// Turns a bitmap of at most 4096 values into an array, which the next operation reads faster.
    pub(super) fn shrink(&mut self) {
        if self.kind == ContainerKind::Bitmap && self.cardinality as usize <= ARRAY_MAX {
            let words = *self.words;
            self.fill_array(|slots| {
                let mut n = 0;
                for (slot, value) in slots.iter_mut().zip(Bits::new(&words, 0)) {
                    *slot = value.to_le_bytes();
                    n += 1;
                }
                n
            });
        }
    }
}

/// Copies as many values as there is room for; how many.
pub(super) fn copy_values(values: &[[u8; 2]], slots: &mut [[u8; 2]]) -> usize {
    for (slot, value) in slots.iter_mut().zip(values) {
        *slot = *value;
    }
    values.len().min(slots.len())
}

#[cfg(test)]
mod tests {
    use super::super::words::FULL;
    use super::*;
    use crate::test_sizes::unless_miri;

    #[test]
    fn sorted_values_become_a_bitmap_where_an_array_ends() {
        for &n in unless_miri(&[0, 1, 2, 4095, 4096, 4097, 30_000, FULL][..], &[0, 1, 4097]) {
            let mut buffer = ContainerBuf::full();
            buffer.set_sorted((0..n).map(|value| value as u16));
            assert_eq!(buffer.cardinality(), n);
            let kind = if n > 4096 { ContainerKind::Bitmap } else { ContainerKind::Array };
            assert_eq!(buffer.kind(), kind);
            assert!(buffer.as_container().iter().map(u32::from).eq(0..n));
            buffer.make_bitmap();
            assert_eq!(buffer.cardinality(), n);
            buffer.shrink();
            assert_eq!(buffer.kind(), kind);
            assert!(buffer.as_container().iter().map(u32::from).eq(0..n));
        }
    }

    #[test]
    fn runs_that_do_not_fit_are_refused() {
        let ranges = |n: u32| (0..n).map(|i| i * 3..i * 3 + 2);
        let mut buffer = ContainerBuf::new();
        assert!(buffer.try_fill_runs(ranges(2048)));
        assert_eq!(buffer.cardinality(), 4096);
        assert!(!buffer.try_fill_runs(ranges(2049)));
        assert!(buffer.is_empty());
        let all = unless_miri(FULL, 3_000);
        assert!(buffer.try_fill_runs((0..all).map(|value| value..value + 1)), "they touch");
        assert_eq!(buffer.as_container().cardinality(), all);
    }

    #[test]
    fn too_long_arrays_and_too_many_runs_are_still_taken() {
        const VALUES: u32 = unless_miri(5000, 4097);
        const RUNS: u32 = unless_miri(5000, 2049);
        let values: Vec<[u8; 2]> = (0..VALUES as u16).map(u16::to_le_bytes).collect();
        let runs: Vec<[u8; 4]> = (0..RUNS).map(|i| run_bytes(i * 4..i * 4 + 2)).collect();
        let mut buffer = ContainerBuf::new();
        buffer.set(Container::Array(&values));
        assert_eq!(buffer.cardinality(), VALUES);
        buffer.set(Container::Run(&runs));
        assert_eq!(buffer.cardinality(), 2 * RUNS);
    }
}
