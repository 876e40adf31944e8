//! From a document to its rank in a container.

use crate::bitmap::Container;
use crate::bytes::Bytes;
use crate::simd::places;

/// Granularity of the entries beside a container; follows from its cardinality alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Granularity {
    cardinality: u32,
    /// Documents of a directory's entry as a power of two; 16 if there is no directory.
    shift: u32,
}

/// Documents of a container.
const WINDOW_BITS: u32 = 16;
/// Blocks of 64 documents in a container.
pub(crate) const BLOCKS: usize = 1024;

impl Granularity {
    #[inline]
    pub(super) fn of(cardinality: u32) -> Self {
        let shift = match cardinality {
            0..=128 => WINDOW_BITS,
            129..=511 => 12,
            512..=1023 => 11,
            1024..=4096 => 10,
            _ => 7,
        };
        Granularity { cardinality, shift }
    }

    /// Whether there is a code for each block of 64 documents, not for each posting.
    #[inline]
    pub(super) fn is_dense(self) -> bool {
        self.cardinality as usize >= BLOCKS
    }

    #[inline]
    pub(super) fn codes_len(self) -> usize {
        if self.is_dense() { BLOCKS } else { self.cardinality as usize }
    }

    #[inline]
    pub(super) fn directory_len(self) -> usize {
        match self.shift {
            WINDOW_BITS => 0,
            shift => size_of::<u16>() << (WINDOW_BITS - shift),
        }
    }
}

/// Appends the directories of all containers of a list.
pub(super) fn write(docs: &[u32], out: &mut Vec<u8>) {
    for of_container in docs.chunk_by(|a, b| a >> WINDOW_BITS == b >> WINDOW_BITS) {
        let shift = Granularity::of(of_container.len() as u32).shift;
        let mut rank = 0;
        for entry in 0..(1u32 << (WINDOW_BITS - shift)) * u32::from(shift < WINDOW_BITS) {
            let first = entry << shift;
            while of_container.get(rank).is_some_and(|doc| doc & 0xFFFF < first) {
                rank += 1;
            }
            // At most 65,408: the last entry leaves at least 128 documents behind it.
            out.extend_from_slice(&(rank as u16).to_le_bytes());
        }
    }
}

/// The directory of a container, or the lack of one.
#[derive(Debug)]
pub(crate) struct Directory<'s> {
    entries: Bytes<'s>,
    granularity: Granularity,
}

impl<'s> Directory<'s> {
    pub(super) fn new(granularity: Granularity, entries: Bytes<'s>) -> Self {
        Directory { entries, granularity }
    }

    /// Postings before those of entry `nth`; all if there is no such entry.
    #[inline]
    fn rank_at(&self, nth: usize) -> usize {
        match self.entries.as_chunks().0.get(nth) {
            Some(rank) => usize::from(u16::from_le_bytes(*rank)),
            None if nth == 0 => 0,
            None => self.granularity.cardinality as usize,
        }
    }

    /// Number of values before those of the entry that `low` belongs to.
    #[inline]
    pub(super) fn entry_of(&self, low: u16) -> usize {
        self.rank_at(usize::from(low) >> self.granularity.shift)
    }

    /// The number of values before `low` in its container, if it is one of them: 2 ns in a bitmap, a
    /// search among 8 to 64 values in an array or among the runs of as many documents.
    #[inline]
    pub(crate) fn find(&self, container: Container<'_>, low: u16) -> Option<u32> {
        match container {
            Container::Bitmap(words) => self.find_in_bitmap(words, low),
            Container::Array(values) => self.find_in_array(values, low),
            Container::Run(runs) => self.find_in_runs(runs, low),
        }
    }

    /// Calls `found` with the number of each of some values that the container has, and the number of values before it.
    #[inline]
    pub(crate) fn find_each(
        &self,
        container: Container<'_>,
        lows: &[u16],
        mut found: impl FnMut(usize, u32),
    ) {
        let mut tell = |nth: usize, rank: Option<u32>| {
            if let Some(rank) = rank {
                found(nth, rank);
            }
        };
        let lows = lows.iter().copied().enumerate();
        match container {
            Container::Bitmap(words) => {
                lows.for_each(|(nth, low)| tell(nth, self.find_in_bitmap(words, low)));
            }
            Container::Array(values) => {
                lows.for_each(|(nth, low)| tell(nth, self.find_in_array(values, low)));
            }
            Container::Run(runs) => {
                lows.for_each(|(nth, low)| tell(nth, self.find_in_runs(runs, low)));
            }
        }
    }

    #[inline]
    fn find_in_bitmap(&self, words: &[[u8; 8]; BLOCKS], low: u16) -> Option<u32> {
        let entry = usize::from(low) >> self.granularity.shift;
        let first_word = entry << self.granularity.shift >> 6;
        let before = places::rank_of_bit(words, first_word, low)?;
        self.inside(self.rank_at(entry) as u32 + before)
    }

    #[inline]
    fn find_in_array(&self, values: &[[u8; 2]], low: u16) -> Option<u32> {
        let entry = usize::from(low) >> self.granularity.shift;
        let (start, end) = (self.rank_at(entry), self.rank_at(entry + 1).min(values.len()));
        let at = start.checked_add(places::n_below(values, start..end, low))?;
        if at >= end || values.get(at).is_none_or(|v| u16::from_le_bytes(*v) != low) {
            return None;
        }
        self.inside(at as u32)
    }

    fn find_in_runs(&self, runs: &[[u8; 4]], low: u16) -> Option<u32> {
        let entry = usize::from(low) >> self.granularity.shift;
        let first = (entry << self.granularity.shift) as u32;
        self.inside(self.rank_at(entry) as u32 + rank_in_runs(runs, first, u32::from(low))?)
    }

    /// A rank that the container has.
    #[inline]
    fn inside(&self, rank: u32) -> Option<u32> {
        (rank < self.granularity.cardinality).then_some(rank)
    }

    /// The postings of the 64 documents of block `nth`, below 1,024, as bits, and how many the container has
    /// before them. No more bits than the container has postings from there on.
    #[inline]
    pub(crate) fn block(&self, container: Container<'_>, nth: usize) -> (u64, u32) {
        match container {
            Container::Array(values) => {
                let entry = nth << 6 >> self.granularity.shift;
                let (start, end) = (self.rank_at(entry), self.rank_at(entry + 1));
                let end = end.min(values.len()).min(self.granularity.cardinality as usize);
                let (word, before) = places::block(values, start..end, nth as u16);
                (word, (start + before) as u32)
            }
            other => self.block_of_many(other, nth),
        }
    }

    /// Works like [`block`](Self::block), in a bitmap or among runs.
    fn block_of_many(&self, container: Container<'_>, nth: usize) -> (u64, u32) {
        let low = (nth << 6) as u32;
        let entry = low as usize >> self.granularity.shift;
        let first = (entry << self.granularity.shift) as u32;
        let start = self.rank_at(entry) as u32;
        let (word, before, n) = match container {
            Container::Array(_) => return (0, start),
            Container::Bitmap(words) => places::block_of_bits(words, first as usize >> 6, nth),
            Container::Run(runs) => {
                let (word, before) = word_in_runs(runs, first, low);
                (word, before, word.count_ones())
            }
        };
        let rank = start + before;
        let sound = rank.saturating_add(n) <= self.granularity.cardinality;
        if sound { (word, rank) } else { (0, rank) }
    }
}

/// First and last value of a run.
fn start_and_last(&[s0, s1, l0, l1]: &[u8; 4]) -> (u32, u32) {
    let start = u32::from(u16::from_le_bytes([s0, s1]));
    (start, start + u32::from(u16::from_le_bytes([l0, l1])))
}

/// Number of values of `first..low` that the runs have, if `low` is one of theirs.
fn rank_in_runs(runs: &[[u8; 4]], first: u32, low: u32) -> Option<u32> {
    let behind = runs.partition_point(|run| start_and_last(run).0 <= low);
    let (run, before) = runs.get(..behind)?.split_last()?;
    let (start, last) = start_and_last(run);
    if low > last {
        return None;
    }
    let before = before.iter().rev().map(start_and_last);
    let mut rank = low - start.max(first);
    for (start, last) in before.take_while(|run| run.1 >= first) {
        rank += (last + 1).saturating_sub(start.max(first));
    }
    Some(rank)
}

/// The values of the 64 from `low` on that the runs have as bits, and how many they have in `first..low`.
fn word_in_runs(runs: &[[u8; 4]], first: u32, low: u32) -> (u64, u32) {
    let (mut word, mut before) = (0, 0);
    let behind = runs.partition_point(|run| start_and_last(run).0 < low + 64);
    let runs = runs.get(..behind).unwrap_or_default().iter().rev().map(start_and_last);
    for (start, last) in runs.take_while(|run| run.1 >= first) {
        before += (last + 1).min(low).saturating_sub(start.max(first));
        if last >= low {
            let from = start.saturating_sub(low);
            word |= u64::MAX << from & u64::MAX >> (63 - (last - low).min(63));
        }
    }
    (word, before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitmap::ContainerBuf;
    use crate::test_sizes::{each_unless_miri, unless_miri};

    /// Directory and containers of each kind that can hold these values.
    fn check(values: &[u16]) {
        let docs: Vec<u32> = values.iter().map(|low| 7 << 16 | u32::from(*low)).collect();
        let mut entries = vec![];
        write(&docs, &mut entries);
        let granularity = Granularity::of(values.len() as u32);
        assert_eq!(entries.len(), granularity.directory_len());
        let directory = Directory::new(granularity, Bytes::Mapped(&entries));
        let mut buffer = ContainerBuf::new();
        buffer.set_sorted(values.iter().copied());
        let mut bitmap = ContainerBuf::new();
        bitmap.set_sorted(values.iter().copied());
        bitmap.or_with(buffer.as_container());
        let runs: Vec<[u8; 4]> = values
            .chunk_by(|a, b| a + 1 == *b)
            .map(|run| {
                let ([a, b], [c, d]) =
                    (run[0].to_le_bytes(), ((run.len() - 1) as u16).to_le_bytes());
                [a, b, c, d]
            })
            .collect();
        let containers = [buffer.as_container(), bitmap.as_container(), Container::Run(&runs)];
        let few = each_unless_miri(0..=u16::MAX, 997);
        let more = values.iter().copied().step_by(97).take(unless_miri(0, 9));
        for low in few.chain(more) {
            let rank = values.binary_search(&low).ok().map(|rank| rank as u32);
            for container in containers {
                assert_eq!(directory.find(container, low), rank, "{low} in {:?}", container.kind());
            }
        }
        for nth in each_unless_miri(0..BLOCKS, 67) {
            let before = values.partition_point(|value| usize::from(*value) < nth * 64);
            let of_block =
                values[before..].iter().take_while(|value| usize::from(**value) / 64 == nth);
            let word = of_block.fold(0u64, |word, value| word | 1 << (value % 64));
            for container in containers {
                let found = directory.block(container, nth);
                assert_eq!(found, (word, before as u32), "{nth} in {:?}", container.kind());
            }
        }
    }

    #[test]
    fn every_document_of_every_kind_of_container_has_its_rank() {
        let sizes = [1, 128, 129, 1023, 1024, 4096, 4097, 30_000, 65_536];
        for &n in unless_miri(&sizes[..], &[1, 129, 512, 1024]) {
            let step = 65_536 / n;
            check(&(0..n).map(|nth| (nth * step) as u16).collect::<Vec<_>>());
            check(&(0..n).map(|nth| (65_536 - n + nth) as u16).collect::<Vec<_>>());
            if step > 2 {
                // Pairs, shifted against all boundaries.
                check(&(0..n).map(|nth| (nth / 2 * 2 * step + nth % 2) as u16).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn wrong_directories_find_nothing_beyond_the_container() {
        let array: Vec<_> = (0..2_000u16).map(|nth| (nth * 30).to_le_bytes()).collect();
        let words = [0x5555_5555_5555_5555u64.to_le_bytes(); 1_024];
        let run = |nth: u16| {
            let [[s0, s1], [l0, l1]] = [nth * 64, nth * 64 + 39].map(u16::to_le_bytes);
            [s0, s1, l0, l1]
        };
        let runs: Vec<_> = (0..1_024).map(run).collect();
        let containers = [
            (Container::Array(&array), 2_000),
            (Container::Bitmap(&words), 32_768),
            (Container::Run(&runs), 40_960),
        ];
        for (container, cardinality) in containers {
            for entries in [vec![], vec![0xFF; 1_024], vec![7; 1_023], vec![0x7F; 1_024]] {
                let granularity = Granularity::of(cardinality);
                let directory = Directory::new(granularity, Bytes::Mapped(&entries));
                for low in each_unless_miri(0..=u16::MAX, 1_999) {
                    let rank = directory.find(container, low);
                    assert!(rank.is_none_or(|rank| rank < cardinality));
                    let (word, rank) = directory.block(container, usize::from(low >> 6));
                    assert!(word == 0 || rank + word.count_ones() <= cardinality);
                }
            }
        }
    }
}
