//! Container: up to 65,536 values with the same upper 16 bits. Its bytes are those of an array, a bitmap or runs.

use super::runs::{Runs, start_and_last};
use super::words::{self, Bits, FULL};
use crate::simd::bitmaps;
use crate::simd::windows::places;
use std::{fmt, ops::Range, slice};

/// Encoding of the values of a [`Container`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContainerKind {
    /// Up to 4096 ascending values of two bytes.
    Array,
    /// 65,536 bits.
    Bitmap,
    /// Ascending runs of consecutive values, four bytes each.
    Run,
}

/// The values of a container as they lie in a serialised list: little-endian, unaligned, borrowed.
///
/// The cardinality is not part of it; lists carry it beside, and [`cardinality`](Self::cardinality)
/// computes it. Values that break the order their kind promises (only bytes that were never
/// [verified](super::RoaringView::verify) can) make answers wrong, and nothing worse: no method
/// panics, and none yields more than 65,536 values.
///
/// ```
/// use treepie::bitmap::{Container, ContainerKind};
///
/// let array = Container::Array(&[[3, 0], [5, 0], [0, 1]]); // 3, 5, 256
/// let run = Container::Run(&[[4, 0, 9, 0]]); // 4..=13
/// assert_eq!(array.kind(), ContainerKind::Array);
/// assert_eq!(array.cardinality(), 3);
/// assert_eq!(run.cardinality(), 10);
/// assert!(run.contains(13) && !run.contains(14));
/// assert_eq!(array.iter_from(4).collect::<Vec<u16>>(), [5, 256]);
/// ```
#[derive(Clone, Copy)]
pub enum Container<'a> {
    /// Strictly ascending values.
    Array(&'a [[u8; 2]]),
    /// Value `v` is bit `v % 64` of word `v / 64`.
    Bitmap(&'a [[u8; 8]; 1024]),
    /// Start and length − 1 of each run, ascending, neither overlapping nor touching.
    Run(&'a [[u8; 4]]),
}

impl<'a> Container<'a> {
    /// Encoding of the values.
    ///
    /// ```
    /// # use treepie::bitmap::{Container, ContainerKind};
    /// assert_eq!(Container::Run(&[]).kind(), ContainerKind::Run);
    /// ```
    pub fn kind(self) -> ContainerKind {
        match self {
            Container::Array(_) => ContainerKind::Array,
            Container::Bitmap(_) => ContainerKind::Bitmap,
            Container::Run(_) => ContainerKind::Run,
        }
    }

    /// Values of a kind in their bytes, as far as these are whole.
    #[inline]
    pub(crate) fn of_bytes(kind: ContainerKind, bytes: &'a [u8]) -> Self {
        match kind {
            ContainerKind::Array => Container::Array(bytes.as_chunks().0),
            ContainerKind::Run => Container::Run(bytes.as_chunks().0),
            ContainerKind::Bitmap => match bytes.as_chunks().0.first_chunk() {
                Some(words) => Container::Bitmap(words),
                None => Container::Array(&[]),
            },
        }
    }

    /// Number of values.
    ///
    /// It takes constant time for an array; for runs lengths are added, and for a bitmap bits are counted (50 to 200
    /// ns).
    ///
    /// ```
    /// # use treepie::bitmap::Container;
    /// assert_eq!(Container::Bitmap(&[[0xFF; 8]; 1024]).cardinality(), 65_536);
    /// ```
    pub fn cardinality(self) -> u32 {
        match self {
            Container::Array(values) => values.len().min(FULL as usize) as u32,
            Container::Bitmap(words) => bitmaps::count(words),
            Container::Run(runs) => Runs::new(runs).map(|run| run.end - run.start).sum(),
        }
    }

    /// Whether `value` is one of them: by halving, or one look at a bitmap.
    ///
    /// ```
    /// # use treepie::bitmap::Container;
    /// assert!(Container::Array(&[[3, 0], [5, 0]]).contains(5));
    /// ```
    pub fn contains(self, value: u16) -> bool {
        match self {
            Container::Array(values) => {
                values.binary_search_by_key(&value, |&v| u16::from_le_bytes(v)).is_ok()
            }
            Container::Bitmap(words) => words::contains(words, value),
            Container::Run(runs) => {
                let behind = runs.partition_point(|&run| start_and_last(run).0 <= u32::from(value));
                let run = behind.checked_sub(1).and_then(|last| runs.get(last));
                run.is_some_and(|&run| u32::from(value) <= start_and_last(run).1)
            }
        }
    }

    /// Number of values that are at most `value`.
    ///
    /// ```
    /// # use treepie::bitmap::Container;
    /// assert_eq!(Container::Array(&[[3, 0], [5, 0]]).rank(4), 1);
    /// ```
    pub fn rank(self, value: u16) -> u32 {
        match self {
            Container::Array(values) => {
                let values = values.get(..FULL as usize).unwrap_or(values);
                values.partition_point(|&v| u16::from_le_bytes(v) <= value) as u32
            }
            Container::Bitmap(words) => {
                bitmaps::count_in(words, std::iter::once(0..u32::from(value) + 1))
            }
            Container::Run(runs) => {
                let end = u32::from(value) + 1;
                Runs::new(runs).map(|run| run.end.min(end).saturating_sub(run.start)).sum()
            }
        }
    }

    /// The value that has `n` values before it.
    ///
    /// ```
    /// # use treepie::bitmap::Container;
    /// let run = Container::Run(&[[4, 0, 9, 0]]);
    /// assert_eq!((run.select(0), run.select(9), run.select(10)), (Some(4), Some(13), None));
    /// ```
    pub fn select(self, n: u32) -> Option<u16> {
        let mut n = n;
        match self {
            Container::Array(values) => values.get(n as usize).map(|&v| u16::from_le_bytes(v)),
            Container::Bitmap(words) => {
                for (at, &word) in words.iter().enumerate() {
                    let word = u64::from_le_bytes(word);
                    if n < word.count_ones() {
                        let rest = (0..n).fold(word, |word, _| word & (word - 1));
                        return Some((at * 64) as u16 + rest.trailing_zeros() as u16);
                    }
                    n -= word.count_ones();
                }
                None
            }
            Container::Run(runs) => {
                for run in Runs::new(runs) {
                    let len = run.end - run.start;
                    if n < len {
                        return Some((run.start + n) as u16);
                    }
                    n -= len;
                }
                None
            }
        }
    }

    /// The smallest value.
    ///
    /// ```
    /// # use treepie::bitmap::Container;
    /// assert_eq!(Container::Run(&[[4, 0, 9, 0]]).min(), Some(4));
    /// ```
    pub fn min(self) -> Option<u16> {
        self.iter().next()
    }

    /// The largest value.
    ///
    /// ```
    /// # use treepie::bitmap::Container;
    /// assert_eq!(Container::Run(&[[4, 0, 9, 0]]).max(), Some(13));
    /// ```
    pub fn max(self) -> Option<u16> {
        match self {
            Container::Array(values) => values.last().map(|&v| u16::from_le_bytes(v)),
            Container::Bitmap(words) => {
                let (at, &word) = words.iter().enumerate().rfind(|&(_, &word)| word != [0; 8])?;
                Some((at * 64 + 63) as u16 - u64::from_le_bytes(word).leading_zeros() as u16)
            }
            Container::Run(runs) => runs.last().map(|&run| start_and_last(run).1 as u16),
        }
    }

    /// The values, ascending.
    ///
    /// ```
    /// # use treepie::bitmap::Container;
    /// assert_eq!(Container::Run(&[[4, 0, 2, 0]]).iter().collect::<Vec<u16>>(), [4, 5, 6]);
    /// ```
    pub fn iter(self) -> ContainerIter<'a> {
        self.iter_from(0)
    }

    /// The values as those of an array, in the given memory unless they lie so.
    pub(crate) fn values<'m>(self, memory: &'m mut Vec<[u8; 2]>) -> &'m [[u8; 2]]
    where
        'a: 'm,
    {
        match self {
            Container::Array(values) => return values.get(..FULL as usize).unwrap_or(values),
            Container::Bitmap(words) => places(words, memory),
            Container::Run(_) => {
                memory.clear();
                memory.extend(self.iter().map(u16::to_le_bytes));
            }
        }
        memory
    }

    /// The values from `value` on, ascending.
    ///
    /// ```
    /// # use treepie::bitmap::Container;
    /// assert_eq!(Container::Run(&[[4, 0, 2, 0]]).iter_from(6).collect::<Vec<u16>>(), [6]);
    /// ```
    pub fn iter_from(self, value: u16) -> ContainerIter<'a> {
        ContainerIter(match self {
            Container::Array(values) => {
                let values = values.get(..FULL as usize).unwrap_or(values);
                let skipped = values.partition_point(|&v| u16::from_le_bytes(v) < value);
                Walk::Array(values.get(skipped..).unwrap_or_default().iter())
            }
            Container::Bitmap(words) => Walk::Bitmap(Bits::new(words, value)),
            Container::Run(runs) => {
                let skipped = runs.partition_point(|&run| start_and_last(run).1 < u32::from(value));
                let runs = runs.get(skipped..).unwrap_or_default();
                Walk::Run { now: 0..0, runs: Runs::from(runs, value) }
            }
        })
    }
}

impl fmt::Debug for Container<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} container of {}", self.kind(), self.cardinality())
    }
}

/// The values of a [`Container`], ascending; from [`Container::iter`].
#[derive(Clone, Debug)]
pub struct ContainerIter<'a>(Walk<'a>);

#[derive(Clone, Debug)]
enum Walk<'a> {
    Array(slice::Iter<'a, [u8; 2]>),
    Bitmap(Bits<'a>),
    Run { now: Range<u32>, runs: Runs<'a> },
}

impl Iterator for ContainerIter<'_> {
    type Item = u16;

    #[inline]
    fn next(&mut self) -> Option<u16> {
        match &mut self.0 {
            Walk::Array(values) => values.next().map(|&value| u16::from_le_bytes(value)),
            Walk::Bitmap(bits) => bits.next(),
            Walk::Run { now, runs } => {
                if now.start >= now.end {
                    *now = runs.next()?;
                }
                now.next().map(|value| value as u16)
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.0 {
            Walk::Array(values) => values.size_hint(),
            Walk::Bitmap(bits) => bits.size_hint(),
            Walk::Run { now, .. } => (now.len(), Some(FULL as usize)),
        }
    }

    /// Asks for the kind once, not for every value.
    fn fold<B, F: FnMut(B, u16) -> B>(self, init: B, f: F) -> B {
        match self.0 {
            Walk::Array(values) => values.map(|&value| u16::from_le_bytes(value)).fold(init, f),
            Walk::Bitmap(bits) => bits.fold(init, f),
            Walk::Run { now, runs } => {
                std::iter::once(now).chain(runs).flatten().map(|value| value as u16).fold(init, f)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::run_bytes;
    use super::*;
    use crate::test_sizes::{each_unless_miri, unless_miri};
    use std::collections::BTreeSet;

    type Bytes = (Vec<[u8; 2]>, Box<[[u8; 8]; 1024]>, Vec<[u8; 4]>);

    fn bytes_of(values: &BTreeSet<u16>) -> Bytes {
        let mut bits = Box::new([[0; 8]; 1024]);
        let mut runs: Vec<Range<u32>> = vec![];
        for &value in values {
            let v = usize::from(value);
            bits[v / 64][v % 64 / 8] |= 1 << (v % 8);
            match runs.last_mut() {
                Some(run) if run.end == u32::from(value) => run.end += 1,
                _ => runs.push(u32::from(value)..u32::from(value) + 1),
            }
        }
        let array = values.iter().map(|value| value.to_le_bytes()).collect();
        (array, bits, runs.into_iter().map(run_bytes).collect())
    }

    #[test]
    fn every_kind_answers_like_the_set_it_holds() {
        let sets: [BTreeSet<u16>; 6] = [
            BTreeSet::new(),
            [0].into(),
            [u16::MAX].into(),
            [0, 63, 64, 65, 1000, 65_534, 65_535].into(),
            (0..=unless_miri(u16::MAX, 100)).collect(),
            (0..=unless_miri(u16::MAX, 300)).filter(|v| v % 7 < 3 || v / 100 % 5 == 0).collect(),
        ];
        for set in &sets {
            let (array, bits, runs) = bytes_of(set);
            for container in
                [Container::Array(&array), Container::Bitmap(&bits), Container::Run(&runs)]
            {
                assert_eq!(container.cardinality() as usize, set.len(), "{container:?}");
                assert!(container.iter().eq(set.iter().copied()), "{container:?}");
                let mut memory = vec![[7; 2]];
                let values = container.values(&mut memory).iter().map(|v| u16::from_le_bytes(*v));
                assert!(values.eq(set.iter().copied()), "{container:?}");
                let mut folded = vec![];
                container.iter().for_each(|value| folded.push(value));
                assert!(folded.iter().eq(set), "{container:?} folded");
                assert_eq!(container.min(), set.first().copied());
                assert_eq!(container.max(), set.last().copied());
                let probes = [0, 1, 62, 63, 64, 66, 999, 1000, 32_000, 65_534, 65_535];
                for probe in each_unless_miri(probes, 5) {
                    assert_eq!(
                        container.contains(probe),
                        set.contains(&probe),
                        "{container:?} {probe}"
                    );
                    let rank = set.range(..=probe).count() as u32;
                    assert_eq!(container.rank(probe), rank, "{container:?} {probe}");
                    assert_eq!(
                        container.select(u32::from(probe)),
                        set.iter().nth(probe.into()).copied()
                    );
                    let from: Vec<u16> = container.iter_from(probe).collect();
                    assert!(from.iter().eq(set.range(probe..)), "{container:?} from {probe}");
                }
                assert_eq!(container.select(FULL), None);
            }
        }
    }
}
