//! Matches of a phrase in one document: their number, from the positions of each word.
//!
//! Exact phrases are an intersection: each position of a word, less the word's offset, is where the
//! phrase would begin, and what is left after all words are the beginnings. The others are found as
//! *minimal windows*: stretches that hold every word where it is allowed, and of which no smaller part
//! does. Each word is taken at its first place that is possible; the window from the least to the
//! greatest of these is minimal if leaving its least place behind makes it end later. Windows that
//! are not too wide are the matches.
//!
//! Cost: exact, a pass over the positions of each word, eight at a time; otherwise a step over all words
//! for each place that begins a window.

use crate::query::Proximity;
use smallvec::{SmallVec, smallvec};

/// A word that stands in a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Its position less that of the first word, in a phrase as it is written.
    pub(super) offset: u32,
    /// List of its positions.
    pub(super) list: usize,
}

/// Makes `starts` the places where a phrase could begin, given those of a word that stands `offset`
/// behind its beginning.
pub(super) fn starts_of(positions: &[u32], offset: u32, starts: &mut Vec<u32>) {
    starts.clear();
    starts.extend(positions.iter().filter_map(|position| position.checked_sub(offset)));
    starts.dedup();
}

/// Keeps those of `starts` that have one of `positions` `offset` behind them; all ascend. Positions are
/// compared eight at a time, because few words stand more often in a document.
pub(super) fn keep_starts(starts: &mut Vec<u32>, positions: &[u32], offset: u32) {
    let mut few;
    let positions = match positions {
        [] => return starts.clear(),
        [first, ..] if positions.len() < COMPARED => {
            // The first stands in for what there is not.
            few = [*first; COMPARED];
            few[..positions.len()].copy_from_slice(positions);
            &few
        }
        _ => positions,
    };
    let mut rest = positions;
    let mut n_kept = 0;
    for at in 0..starts.len() {
        let start = starts[at];
        let Some(wanted) = start.checked_add(offset) else { break };
        while let Some((eight, behind)) = rest.split_first_chunk::<COMPARED>()
            && eight[COMPARED - 1] < wanted
        {
            rest = behind;
        }
        // The last eight, where fewer are left.
        let eight = rest.first_chunk::<COMPARED>().or(positions.last_chunk());
        let is_there = eight.is_some_and(|eight| has(eight, wanted));
        starts[n_kept] = start;
        n_kept += usize::from(is_there);
    }
    starts.truncate(n_kept);
}

/// Positions that are compared at once.
const COMPARED: usize = 8;

/// Whether a number is among eight, without a branch.
#[inline]
fn has(numbers: &[u32; COMPARED], wanted: u32) -> bool {
    numbers.iter().map(|number| u32::from(*number == wanted)).sum::<u32>() > 0
}

/// State of finding windows, from document to document.
#[derive(Debug)]
pub(super) struct Windows {
    /// By offset.
    words: SmallVec<[Word; 4]>,
    /// The last word before each that has the same list: the two must not share a place.
    twins: SmallVec<[Option<usize>; 4]>,
    /// Addends to the positions of each word.
    shifts: SmallVec<[u32; 4]>,
    is_ordered: bool,
    width_max: u64,
    /// The place of each word among its positions.
    cursors: SmallVec<[usize; 4]>,
}

impl Windows {
    /// For words by offset; `None` if the words must stand next to each other.
    pub(super) fn new(words: &[Word], proximity: Proximity) -> Option<Self> {
        let own = words.last().map_or(0, |last| last.offset);
        let (width_max, is_ordered, is_shifted) = match proximity {
            Proximity::Exact => return None,
            Proximity::Slop(slop) => (u64::from(slop), false, true),
            Proximity::Ordered(slop) => (u64::from(slop) + u64::from(own), true, false),
            Proximity::Near(slop) => (u64::from(slop) + u64::from(own), false, false),
        };
        let shift = |word: &Word| if is_shifted { own - word.offset } else { 0 };
        let twin = |at: usize| words[..at].iter().rposition(|word| word.list == words[at].list);
        Some(Windows {
            words: words.into(),
            twins: (0..words.len()).map(twin).collect(),
            shifts: words.iter().map(shift).collect(),
            is_ordered,
            width_max,
            cursors: smallvec![0; words.len()],
        })
    }

    /// Counts the windows of the document whose words are at `lists`; not more than `most` are counted.
    pub(super) fn count(&mut self, lists: &[Vec<u32>], most: u32) -> u32 {
        self.cursors.fill(0);
        let mut n = 0;
        let mut window = self.place(lists, 0);
        while let Some((least, greatest)) = window {
            window = self.place(lists, least + 1);
            let is_minimal = window.is_none_or(|(_, later)| later > greatest);
            if is_minimal && greatest - least <= self.width_max {
                n += 1;
                if n == most {
                    break;
                }
            }
        }
        n
    }

    /// The least and the greatest place of the words where each takes the first one possible from
    /// `from` on, which never falls.
    fn place(&mut self, lists: &[Vec<u32>], from: u64) -> Option<(u64, u64)> {
        let (mut least, mut greatest) = (u64::MAX, 0);
        let mut floor = from;
        for (at, word) in self.words.iter().enumerate() {
            if self.is_ordered && at > 0 {
                floor = greatest + u64::from(word.offset > self.words[at - 1].offset);
            }
            let positions = &lists[word.list];
            let shift = u64::from(self.shifts[at]);
            let mut cursor = self.cursors[at];
            if let Some(twin) = self.twins[at] {
                cursor = cursor.max(self.cursors[twin] + 1);
            }
            let place = loop {
                let place = u64::from(*positions.get(cursor)?) + shift;
                if place >= floor {
                    break place;
                }
                cursor += 1;
            };
            self.cursors[at] = cursor;
            least = least.min(place);
            greatest = greatest.max(place);
        }
        Some((least, greatest))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Every way to give each word one of its positions.
    fn assignments(words: &[Word], lists: &[Vec<u32>]) -> Vec<Vec<u32>> {
        let mut all = vec![vec![]];
        for word in words {
            let longer = all.iter().flat_map(|places: &Vec<u32>| {
                lists[word.list].iter().map(|place| [&places[..], &[*place]].concat())
            });
            all = longer.collect();
        }
        all
    }

    /// The windows as the documentation of [`Proximity`] says it, by trying everything.
    fn naive(words: &[Word], lists: &[Vec<u32>], proximity: Proximity) -> u32 {
        let own = i64::from(words.last().unwrap().offset);
        let mut windows = vec![];
        for places in assignments(words, lists) {
            let shared = (0..words.len())
                .any(|a| (0..a).any(|b| words[a].list == words[b].list && places[a] == places[b]));
            let ascend = places.is_sorted_by(|a, b| a < b);
            let shifted = |at: usize| match proximity {
                Proximity::Slop(_) | Proximity::Exact => {
                    i64::from(places[at]) - i64::from(words[at].offset)
                }
                _ => i64::from(places[at]),
            };
            let least = (0..words.len()).map(shifted).min().unwrap();
            let greatest = (0..words.len()).map(shifted).max().unwrap();
            let (width_max, is_allowed) = match proximity {
                Proximity::Exact => (0, true),
                Proximity::Slop(slop) => (i64::from(slop), !shared),
                Proximity::Ordered(slop) => (own + i64::from(slop), ascend),
                Proximity::Near(slop) => (own + i64::from(slop), !shared),
            };
            if is_allowed {
                windows.push((least, greatest, width_max));
            }
        }
        windows.sort_unstable();
        windows.dedup();
        let holds = |a: &(i64, i64, i64), b: &(i64, i64, i64)| a != b && a.0 <= b.0 && b.1 <= a.1;
        let minimal = windows.iter().filter(|a| !windows.iter().any(|b| holds(a, b)));
        minimal.filter(|(least, greatest, max)| greatest - least <= *max).count() as u32
    }

    fn positions() -> impl Strategy<Value = Vec<u32>> {
        prop::collection::btree_set(0u32..14, 0..6).prop_map(|set| set.into_iter().collect())
    }

    fn phrase() -> impl Strategy<Value = Vec<Word>> {
        prop::collection::vec((1u32..3, 0usize..3), 1..5).prop_map(|words| {
            let mut offset = 0;
            let word = |(at, (gap, list)): (usize, (u32, usize))| {
                offset += if at == 0 { 0 } else { gap };
                Word { offset, list }
            };
            words.into_iter().enumerate().map(word).collect()
        })
    }

    fn proximity() -> impl Strategy<Value = Proximity> {
        (0u32..4, 0..4).prop_map(|(slop, kind)| match kind {
            0 => Proximity::Exact,
            1 => Proximity::Slop(slop),
            2 => Proximity::Ordered(slop),
            _ => Proximity::Near(slop),
        })
    }

    fn count(words: &[Word], lists: &[Vec<u32>], proximity: Proximity, most: u32) -> u32 {
        let Some(mut windows) = Windows::new(words, proximity) else {
            let mut starts = vec![];
            starts_of(&lists[words[0].list], words[0].offset, &mut starts);
            for word in &words[1..] {
                keep_starts(&mut starts, &lists[word.list], word.offset);
            }
            return starts.len() as u32;
        };
        windows.count(lists, 1);
        windows.count(lists, most)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn windows_are_those_that_trying_everything_finds(
            words in phrase(),
            lists in prop::collection::vec(positions(), 3),
            proximity in proximity(),
        ) {
            let expected = naive(&words, &lists, proximity);
            prop_assert_eq!(count(&words, &lists, proximity, u32::MAX), expected);
            if proximity != Proximity::Exact {
                prop_assert_eq!(count(&words, &lists, proximity, 1), expected.min(1));
            }
        }

        #[test]
        fn merging_and_galloping_keep_the_same_starts(
            starts in prop::collection::btree_set(0u32..3_000, 0..40),
            positions in prop::collection::btree_set(0u32..3_000, 0..1_500),
            offset in 0u32..5,
        ) {
            let expected: Vec<u32> =
                starts.iter().copied().filter(|start| positions.contains(&(start + offset))).collect();
            let mut kept: Vec<u32> = starts.into_iter().collect();
            let positions: Vec<u32> = positions.into_iter().collect();
            keep_starts(&mut kept, &positions, offset);
            prop_assert_eq!(kept, expected);
        }
    }

    #[test]
    fn words_that_repeat_take_different_places() {
        // to be or not to be
        let lists = [0, 1, 2, 3, 0, 1].into_iter().zip(0..);
        let phrase: Vec<Word> = lists.map(|(list, offset)| Word { offset, list }).collect();
        let twice = [vec![3, 7], vec![4, 8], vec![5], vec![6]];
        assert_eq!(count(&phrase, &twice, Proximity::Exact, 9), 1);
        assert_eq!(count(&phrase, &twice, Proximity::Near(0), 9), 1);
        let once = [vec![3], vec![4], vec![5], vec![6]];
        for proximity in [Proximity::Slop(99), Proximity::Near(99), Proximity::Ordered(99)] {
            assert_eq!(count(&phrase, &once, proximity, 9), 0, "{proximity:?}");
        }
    }

    #[test]
    fn positions_at_the_end_of_their_range_do_not_wrap() {
        let words = [Word { offset: 0, list: 0 }, Word { offset: 5, list: 1 }];
        let lists = [vec![u32::MAX - 5, u32::MAX], vec![0, u32::MAX]];
        let most = u32::MAX;
        for proximity in [
            Proximity::Exact,
            Proximity::Slop(most),
            Proximity::Near(most),
            Proximity::Ordered(most),
        ] {
            assert!(count(&words, &lists, proximity, 9) > 0, "{proximity:?}");
        }
        assert_eq!(count(&words, &[vec![u32::MAX], vec![4]], Proximity::Exact, 9), 0);
    }
}
