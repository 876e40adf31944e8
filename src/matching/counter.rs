//! Counts of the sets that hold each document of a window. Operators with a minimum number of inputs use them.

use crate::bitmap::Container;
use crate::plan::WINDOW;
use std::collections::HashMap;

/// Numbers of sets that hold each document of a window.
#[derive(Debug, Default)]
pub(super) struct Counter {
    counts: Vec<u16>,
    /// Counts that do not fit into these, as limits may allow more inputs; mostly empty.
    beyond: HashMap<u16, u32>,
    /// The documents that any set holds, then those that enough do.
    seen: Vec<u16>,
}

impl Counter {
    pub(super) fn begin(&mut self) {
        // Also what an earlier run left when it ended in an error.
        self.counts.clear();
        self.counts.resize(WINDOW as usize, 0);
        self.beyond.clear();
        self.seen.clear();
    }

    pub(super) fn add(&mut self, documents: Container<'_>) {
        for low in documents.iter() {
            let count = &mut self.counts[usize::from(low)];
            if *count == 0 {
                self.seen.push(low);
            }
            match count.checked_add(1) {
                Some(more) => *count = more,
                None => *self.beyond.entry(low).or_default() += 1,
            }
        }
    }

    /// The documents in `minimum` sets or more, ascending.
    pub(super) fn finish(&mut self, minimum: u32) -> &[u16] {
        let (counts, beyond) = (&self.counts, &self.beyond);
        self.seen.retain(|low| {
            let count = u32::from(counts[usize::from(*low)]);
            let rest = || beyond.get(low).copied().unwrap_or_default();
            count >= minimum || (minimum > u32::from(u16::MAX) && count + rest() >= minimum)
        });
        self.seen.sort_unstable();
        &self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Limits may allow more inputs than 16 bits count.
    #[test]
    fn more_sets_are_counted_than_a_number_of_16_bits_holds() {
        const N: u32 = 70_000;
        let mut counter = Counter::default();
        for round in ["the first", "again"] {
            let count_of = |low: u16| match low {
                3 => N,
                5 => N - 1,
                6 => u32::from(u16::MAX) + 1,
                7 => u32::from(u16::MAX),
                _ => 2,
            };
            for minimum in [1, 2, 3, 65_535, 65_536, 65_537, N - 1, N, N + 1] {
                counter.begin();
                for nth in 0..N {
                    let lows: Vec<_> = [3, 5, 6, 7, 9]
                        .into_iter()
                        .filter(|low| nth < count_of(*low))
                        .map(u16::to_le_bytes)
                        .collect();
                    counter.add(Container::Array(&lows));
                }
                let expected: Vec<_> =
                    [3, 5, 6, 7, 9].into_iter().filter(|low| count_of(*low) >= minimum).collect();
                assert_eq!(counter.finish(minimum), expected, "{round}, of {minimum}");
            }
        }
    }
}
