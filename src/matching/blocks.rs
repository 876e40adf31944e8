//! Documents that match, by blocks of a column.

use crate::bitmap::Container;
use crate::bytes::Source;
use crate::doc_id_set::{DocIdSet, check_inside};
use crate::error::Result;
use crate::format::column::{BLOCK_DOCS, Few, Heads, WINDOW_BLOCKS};
use crate::plan::in_window::FEW_OF_WINDOW;
use crate::simd::numbers::{self, AT_ONCE};
use std::convert::Infallible;
use std::ops::Range;

/// Words of a bitmap for the documents of a block.
const BLOCK_WORDS: usize = (BLOCK_DOCS / u64::BITS) as usize;

/// Documents of one block, by their places in it.
#[derive(Clone, Debug)]
pub(crate) enum Places<'m> {
    Range(Range<u32>),
    /// Documents by the low halves of their numbers in the segment.
    List(&'m [[u8; 2]]),
    Words(&'m [[u8; 8]]),
}

impl Places<'_> {
    /// Number of documents.
    pub(crate) fn len(&self) -> u32 {
        match self {
            Places::Range(places) => places.len() as u32,
            Places::List(lows) => lows.len() as u32,
            Places::Words(words) => {
                words.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum()
            }
        }
    }

    /// Writes them into `out`, ascending, instead of what was there.
    pub(crate) fn write_to(self, out: &mut Vec<u32>) {
        out.clear();
        match self {
            Places::Words(words) => {
                let mut places = [0; AT_ONCE + 64];
                for (nth, words) in (0..).zip(words.chunks(AT_ONCE / u64::BITS as usize)) {
                    let n = numbers::places(words, nth * AT_ONCE as u32, &mut places);
                    out.extend_from_slice(&places[..n]);
                }
            }
            few => few.for_each(|place| out.push(place)),
        }
    }

    /// Calls `visit` with each, ascending.
    #[inline]
    pub(crate) fn for_each(self, mut visit: impl FnMut(u32)) {
        let Ok(()) = self.try_for_each::<Infallible>(|place| {
            visit(place);
            Ok(())
        });
    }

    /// Calls `visit` with each, ascending, up to an error.
    #[inline]
    pub(crate) fn try_for_each<E>(
        self,
        mut visit: impl FnMut(u32) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Places::Range(mut places) => places.try_for_each(visit),
            Places::List(lows) => lows
                .iter()
                .try_for_each(|low| visit(u32::from(u16::from_le_bytes(*low)) % BLOCK_DOCS)),
            Places::Words(words) => {
                for (nth, word) in (0..).zip(words) {
                    let mut bits = u64::from_le_bytes(*word);
                    while bits != 0 {
                        visit(nth * u64::BITS + bits.trailing_zeros())?;
                        bits &= bits - 1;
                    }
                }
                Ok(())
            }
        }
    }
}

/// Calls `few` with the codes of documents where they match here and there and have one at the most, otherwise `visit` as
/// [`for_each_block`] does.
pub(crate) fn for_each_few_or_block<'m, 's, S: Source<'s>, T>(
    matches: &'m DocIdSet,
    heads: &mut Heads<'s, S>,
    state: &mut T,
    mut few: impl FnMut(&mut T, &Few) -> Result<()>,
    mut visit: impl FnMut(&mut T, &mut Heads<'s, S>, u32, Places<'m>) -> Result<()>,
) -> Result<()> {
    let (n_docs, mut codes) = (heads.column().n_docs(), Few::new());
    for_each_part(
        matches,
        n_docs,
        &mut (state, heads),
        |(state, heads), base, lows| {
            let doc = |low: &[u8; 2]| base * BLOCK_DOCS + u32::from(u16::from_le_bytes(*low));
            match heads.few(lows.iter().map(doc), &mut codes)? {
                true => few(state, &codes).map(|()| true),
                false => Ok(false),
            }
        },
        &mut |(state, heads), nth, places| visit(state, heads, nth, places),
    )
}

/// Calls `visit` with the blocks of a column in which something matches, ascending, and what it is; with one block several
/// times, where what matches in it comes in several runs.
pub(crate) fn for_each_block<'m, 's, S: Source<'s>>(
    matches: &'m DocIdSet,
    heads: &mut Heads<'s, S>,
    mut visit: impl FnMut(&mut Heads<'s, S>, u32, Places<'m>) -> Result<()>,
) -> Result<()> {
    for_each_block_of(matches, heads.column().n_docs(), |nth, places| visit(heads, nth, places))
}

/// Calls a function for the blocks that a column of `n_docs` documents would have.
pub(crate) fn for_each_block_of<'m>(
    matches: &'m DocIdSet,
    n_docs: u32,
    mut visit: impl FnMut(u32, Places<'m>) -> Result<()>,
) -> Result<()> {
    let look_up = |(): &mut (), _, _: &'m [[u8; 2]]| Ok(false);
    for_each_part(matches, n_docs, &mut (), look_up, &mut |(), nth, places| visit(nth, places))
}

/// Calls `look_up` with the first block of a window and some of the documents that match in it where they are few, and `visit`
/// where they are more or it says `false`.
fn for_each_part<'m, T>(
    matches: &'m DocIdSet,
    n_docs: u32,
    state: &mut T,
    mut look_up: impl FnMut(&mut T, u32, &'m [[u8; 2]]) -> Result<bool>,
    visit: &mut impl FnMut(&mut T, u32, Places<'m>) -> Result<()>,
) -> Result<()> {
    let windows = match matches {
        DocIdSet::Everything => {
            return for_each_in_range(0..n_docs, |nth, places| visit(state, nth, places));
        }
        DocIdSet::Some(windows) => windows,
    };
    for window in windows.windows() {
        let base = window.key * WINDOW_BLOCKS;
        let documents = windows.documents(window);
        check_inside(window.key, documents, n_docs)?;
        match documents {
            Container::Array(lows) => {
                let low = |low: &[u8; 2]| u32::from(u16::from_le_bytes(*low));
                let block = |at: &[u8; 2]| low(at) / BLOCK_DOCS;
                let at_once = match window.cardinality <= FEW_OF_WINDOW {
                    true => Few::MAX,
                    false => lows.len().max(1),
                };
                for lows in lows.chunks(at_once) {
                    if at_once == Few::MAX && look_up(state, base, lows)? {
                        continue;
                    }
                    for of_block in lows.chunk_by(|a, b| block(a) == block(b)) {
                        let nth = of_block.first().map_or(0, block);
                        visit(state, base + nth, Places::List(of_block))?;
                    }
                }
            }
            Container::Bitmap(words) => {
                for (nth, of_block) in (base..).zip(words.chunks_exact(BLOCK_WORDS)) {
                    if of_block.iter().any(|word| *word != [0; 8]) {
                        visit(state, nth, Places::Words(of_block))?;
                    }
                }
            }
            Container::Run(runs) => {
                for [a, b, c, d] in runs {
                    let start = window.key << 16 | u32::from(u16::from_le_bytes([*a, *b]));
                    let end = start + u32::from(u16::from_le_bytes([*c, *d]));
                    let docs = start..end.saturating_add(1).min(n_docs);
                    for_each_in_range(docs, |nth, places| visit(state, nth, places))?;
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
pub(super) mod tests {
    use super::*;
    use crate::format::column::{Column, ColumnWriter, Frame};

    /// Column of so many documents without a value.
    fn column(n_docs: u32) -> Vec<u8> {
        let (mut writer, mut bytes) = (ColumnWriter::new(Frame::default()), vec![]);
        (0..n_docs).for_each(|_| writer.add([], &mut bytes));
        writer.finish(&mut bytes);
        bytes
    }

    fn docs(matches: &DocIdSet, n_docs: u32) -> Vec<u32> {
        let mut docs = vec![];
        let column = column(n_docs);
        let mut heads = Heads::of(Column::open(&column[..]).unwrap());
        for_each_block(matches, &mut heads, |_, block, places| {
            let (before, len) = (docs.len(), places.len());
            let mut written = vec![7];
            places.clone().write_to(&mut written);
            places.for_each(|place| docs.push(block * BLOCK_DOCS + place));
            assert!(written.iter().copied().eq(docs[before..].iter().map(|doc| doc % BLOCK_DOCS)));
            assert_eq!(docs.len() - before, len as usize);
            Ok(())
        })
        .unwrap();
        docs
    }

    /// Documents in containers of each kind, of a segment of three windows.
    pub(in crate::matching) fn of_all_kinds() -> (DocIdSet, Vec<u32>) {
        let n_docs = 3 << 16;
        let DocIdSet::Some(mut windows) = DocIdSet::with_room(n_docs) else { unreachable!() };
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
        (DocIdSet::Some(windows), expected)
    }

    #[test]
    fn all_that_matches_is_visited_in_order_whatever_kind_its_container_is() {
        assert_eq!(docs(&DocIdSet::Everything, 2_500), (0..2_500).collect::<Vec<_>>());
        let (matches, expected) = of_all_kinds();
        assert_eq!(docs(&matches, 3 << 16), expected);
    }

    #[test]
    fn documents_past_the_end_are_damage() {
        let mut words = [[0; 8]; 1_024];
        words[7] = (1u64 << 63).to_le_bytes();
        let lows = [3u16, 511].map(u16::to_le_bytes);
        let run = [[0, 1, 255, 0]];
        for container in [Container::Array(&lows), Container::Bitmap(&words), Container::Run(&run)]
        {
            let DocIdSet::Some(mut windows) = DocIdSet::with_room(1 << 17) else { unreachable!() };
            windows.push(1, 1, container).unwrap();
            assert!(check_inside(1, container, (1 << 16) + 511).is_err());
            let matches = DocIdSet::Some(windows);
            let of = |n_docs| {
                let mut n = 0;
                let column = column(n_docs);
                let mut heads = Heads::of(Column::open(&column[..]).unwrap());
                for_each_block(&matches, &mut heads, |_, _, places| {
                    n += places.len();
                    Ok(())
                })
                .map(|()| n)
            };
            assert!(of((1 << 16) + 511).is_err());
            assert!(of((1 << 16) + 512).is_ok_and(|n| n > 0));
        }
    }
}
