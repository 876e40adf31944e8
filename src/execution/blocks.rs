//! Documents that match, by blocks of a column.

use super::result::MatchSet;
use crate::bitmap::Container;
use crate::error::Result;
use crate::format::column::BLOCK_DOCS;
use std::ops::Range;

/// Words of a bitmap for the documents of a block.
const BLOCK_WORDS: usize = (BLOCK_DOCS / u64::BITS) as usize;
/// Blocks of a window of 65,536 documents.
const WINDOW_BLOCKS: u32 = (1 << 16) / BLOCK_DOCS;

/// Documents of one block, by their places in it.
#[derive(Clone, Debug)]
pub(crate) enum Places<'m> {
    Range(Range<u32>),
    /// As the low halves of their numbers in the segment.
    List(&'m [[u8; 2]]),
    Words(&'m [[u8; 8]]),
}

impl Places<'_> {
    /// How many there are.
    pub(crate) fn len(&self) -> u32 {
        match self {
            Places::Range(places) => places.len() as u32,
            Places::List(lows) => lows.len() as u32,
            Places::Words(words) => {
                words.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum()
            }
        }
    }

    /// Calls `visit` with each, ascending.
    #[inline]
    pub(crate) fn for_each(self, mut visit: impl FnMut(u32)) {
        match self {
            Places::Range(places) => places.for_each(visit),
            Places::List(lows) => {
                lows.iter().for_each(|low| visit(u32::from(u16::from_le_bytes(*low)) % BLOCK_DOCS));
            }
            Places::Words(words) => {
                for (nth, word) in (0..).zip(words) {
                    let mut bits = u64::from_le_bytes(*word);
                    while bits != 0 {
                        visit(nth * u64::BITS + bits.trailing_zeros());
                        bits &= bits - 1;
                    }
                }
            }
        }
    }
}

/// Calls `visit` with the blocks in which something matches, ascending, and what it is; with one block several times, where
/// what matches in it comes in several runs.
pub(crate) fn for_each_block<'m>(
    matches: &'m MatchSet,
    n_docs: u32,
    mut visit: impl FnMut(u32, Places<'m>) -> Result<()>,
) -> Result<()> {
    let windows = match matches {
        MatchSet::Everything => return for_each_in_range(0..n_docs, visit),
        MatchSet::Some(windows) => windows,
    };
    for window in windows.windows() {
        let base = window.key * WINDOW_BLOCKS;
        match windows.documents(window) {
            Container::Array(lows) => {
                let block = |low: &[u8; 2]| u32::from(u16::from_le_bytes(*low)) / BLOCK_DOCS;
                for of_block in lows.chunk_by(|a, b| block(a) == block(b)) {
                    let nth = of_block.first().map_or(0, block);
                    visit(base + nth, Places::List(of_block))?;
                }
            }
            Container::Bitmap(words) => {
                for (nth, of_block) in (base..).zip(words.chunks_exact(BLOCK_WORDS)) {
                    if of_block.iter().any(|word| *word != [0; 8]) {
                        visit(nth, Places::Words(of_block))?;
                    }
                }
            }
            Container::Run(runs) => {
                for [a, b, c, d] in runs {
                    let start = window.key << 16 | u32::from(u16::from_le_bytes([*a, *b]));
                    let end = start + u32::from(u16::from_le_bytes([*c, *d]));
                    for_each_in_range(start..end.saturating_add(1).min(n_docs), &mut visit)?;
                }
            }
        }
    }
    Ok(())
}

fn for_each_in_range<'m>(
    docs: Range<u32>,
    mut visit: impl FnMut(u32, Places<'m>) -> Result<()>,
) -> Result<()> {
    let mut at = docs.start;
    while at < docs.end {
        let block = at / BLOCK_DOCS;
        let end = (block + 1).saturating_mul(BLOCK_DOCS).min(docs.end);
        visit(block, Places::Range(at % BLOCK_DOCS..end - block * BLOCK_DOCS))?;
        at = end;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn docs(matches: &MatchSet, n_docs: u32) -> Vec<u32> {
        let mut docs = vec![];
        for_each_block(matches, n_docs, |block, places| {
            let (before, len) = (docs.len(), places.len());
            places.for_each(|place| docs.push(block * BLOCK_DOCS + place));
            assert_eq!(docs.len() - before, len as usize);
            Ok(())
        })
        .unwrap();
        docs
    }

    #[test]
    fn all_that_matches_is_visited_in_order_whatever_kind_its_container_is() {
        let n_docs = 3 << 16;
        assert_eq!(docs(&MatchSet::Everything, 2_500), (0..2_500).collect::<Vec<_>>());
        let MatchSet::Some(mut windows) = MatchSet::with_room(n_docs) else { unreachable!() };
        let lows = [3u16, 1_023, 1_024, 65_535].map(u16::to_le_bytes);
        windows.push(0, 4, Container::Array(&lows)).unwrap();
        let mut words = [[0; 8]; 1_024];
        words[15] = (1u64 << 63).to_le_bytes();
        words[16] = 5u64.to_le_bytes();
        words[1_023] = [0xFF; 8];
        windows.push(1, 67, Container::Bitmap(&words)).unwrap();
        let run = |start: u16, len: u16| {
            let ([a, b], [c, d]) = (start.to_le_bytes(), (len - 1).to_le_bytes());
            [a, b, c, d]
        };
        windows.push(2, 10, Container::Run(&[run(1_020, 8), run(2_000, 2)])).unwrap();
        let mut expected = vec![3, 1_023, 1_024, 65_535];
        let second = 1 << 16;
        expected.extend([second + 1_023, second + 1_024, second + 1_026]);
        expected.extend(second + 65_472..second + 65_536);
        let third = 2 << 16;
        expected.extend((third + 1_020..third + 1_028).chain(third + 2_000..third + 2_002));
        assert_eq!(docs(&MatchSet::Some(windows), n_docs), expected);
    }
}
