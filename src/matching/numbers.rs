//! Documents that match, as their numbers in a plain column.

use crate::bitmap::Container;
use crate::bytes::Source;
use crate::doc_id_set::{DocIdSet, check_inside};
use crate::error::Result;
use crate::format::column::{Numbers, Plain};
use crate::plan::WINDOW;
use crate::plan::in_window::FAR_APART;
use crate::simd::numbers::{AT_ONCE, PlaceBuffer, places};
use crate::simd::prefetch::prefetch;
use std::ops::Range;

/// Alignment of the first of neighbours.
const NEIGHBOURS: u32 = 8;

/// By how many documents what is asked for lies ahead of what is read, where they are close together: fetching from places waits
/// for each, and the processor does not see the order in it.
const AHEAD: usize = 4 * AT_ONCE;

/// Calls `visit` with the numbers of the documents that match, in their order, up to [`AT_ONCE`] at a time.
pub(crate) fn for_each_number<'s, S: Source<'s>>(
    matches: &DocIdSet,
    plain: &Plain<S>,
    visit: impl FnMut(&[u32]) -> Result<()>,
) -> Result<()> {
    let n_docs = plain.column().n_docs();
    let mut reading = Reading { places: [0; AT_ONCE + 64], numbers: [0; AT_ONCE], visit };
    let windows = match matches {
        DocIdSet::Everything => {
            for start in (0..n_docs).step_by(WINDOW as usize) {
                let end = start.saturating_add(WINDOW).min(n_docs);
                reading.read_range(0..end - start, &plain.numbers(start..end)?)?;
            }
            return Ok(());
        }
        DocIdSet::Some(windows) => windows,
    };
    for window in windows.windows() {
        let documents = windows.documents(window);
        check_inside(window.key, documents, n_docs)?;
        let start = window.key * WINDOW;
        let numbers = plain.numbers(start..start.saturating_add(WINDOW).min(n_docs))?;
        match documents {
            Container::Array(lows) => {
                for lows in lows.chunks(AT_ONCE) {
                    let places = lows.iter().map(|low| u32::from(u16::from_le_bytes(*low)));
                    reading.places.iter_mut().zip(places).for_each(|(slot, place)| *slot = place);
                    if window.cardinality <= FAR_APART {
                        let places = reading.places.iter().take(lows.len());
                        places.for_each(|place| prefetch(numbers.first_byte(*place)));
                    }
                    reading.read(lows.len(), &numbers)?;
                }
            }
            Container::Bitmap(words) => {
                for (nth, words) in (0..).zip(words.chunks(AT_ONCE / u64::BITS as usize)) {
                    let ahead = nth as usize * AT_ONCE + AHEAD;
                    prefetch(numbers.bytes_of(ahead..ahead + AT_ONCE));
                    let n = places(words, nth * AT_ONCE as u32, &mut reading.places);
                    reading.read(n, &numbers)?;
                }
            }
            Container::Run(runs) => {
                for [a, b, c, d] in runs {
                    let first = u32::from(u16::from_le_bytes([*a, *b]));
                    let end = first + u32::from(u16::from_le_bytes([*c, *d])) + 1;
                    reading.read_range(first..end, &numbers)?;
                }
            }
        }
    }
    Ok(())
}

struct Reading<F> {
    places: PlaceBuffer,
    numbers: [u32; AT_ONCE],
    visit: F,
}

impl<F: FnMut(&[u32]) -> Result<()>> Reading<F> {
    /// Reads the numbers at the first `n` places.
    fn read(&mut self, n: usize, numbers: &Numbers<'_>) -> Result<()> {
        let (places, out) = (&self.places[..n], &mut self.numbers[..n]);
        numbers.get(places, out);
        if n > 0 { (self.visit)(out) } else { Ok(()) }
    }

    fn read_range(&mut self, range: Range<u32>, numbers: &Numbers<'_>) -> Result<()> {
        let mut start = range.start;
        while start < range.end {
            // Neighbours are read from a multiple of eight on.
            let before = start % NEIGHBOURS;
            let end = range.end.min(start - before + AT_ONCE as u32);
            let out = &mut self.numbers[..(end - start + before) as usize];
            numbers.get_neighbours(start - before, out);
            (self.visit)(&out[before as usize..])?;
            start = end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::of_all_kinds;
    use super::*;
    use crate::format::column::{Column, ColumnWriter, FrameFinder};

    /// Column of so many documents, whose codes lie in no order.
    fn column(n_docs: u32) -> Vec<u8> {
        let mut finder = FrameFinder::default();
        (0..n_docs).for_each(|doc| finder.add(code(doc)));
        let (mut writer, mut bytes) = (ColumnWriter::new(finder.frame(true)), vec![]);
        (0..n_docs).for_each(|doc| writer.add([code(doc)], &mut bytes));
        writer.finish(&mut bytes);
        bytes
    }

    fn code(doc: u32) -> u64 {
        5_000 + 3 * u64::from(doc.wrapping_mul(0x9E37_79B1) >> 13)
    }

    #[test]
    fn all_that_matches_is_visited_in_order_whatever_kind_its_container_is() {
        let codes = |matches: &DocIdSet, n_docs| {
            let column = column(n_docs);
            let plain = Column::open(&column[..]).unwrap().plain().unwrap();
            let (base, unit) = plain.base_and_unit();
            let (mut codes, mut n_parts) = (vec![], 0);
            for_each_number(matches, &plain, |numbers| {
                n_parts += 1;
                codes.extend(numbers.iter().map(|number| base + unit * u64::from(*number)));
                Ok(())
            })
            .unwrap();
            (codes, n_parts)
        };
        let all: Vec<u64> = (0..70_000).map(code).collect();
        assert_eq!(codes(&DocIdSet::Everything, 70_000), (all, 128 + 9));
        let (matches, expected) = of_all_kinds();
        let expected: Vec<u64> = expected.into_iter().map(code).collect();
        assert_eq!(codes(&matches, 3 << 16).0, expected);
        let column = column((1 << 16) + 511);
        let plain = Column::open(&column[..]).unwrap().plain().unwrap();
        assert!(for_each_number(&matches, &plain, |_| Ok(())).is_err(), "documents past the end");
        // More documents than are brought together at once.
        let lows: Vec<[u8; 2]> = (0..2_000u16).map(|nth| (nth * 30).to_le_bytes()).collect();
        let runs = [[5, 0, 0xFF, 0x0F], [0, 0x20, 3, 0]];
        for container in [Container::Array(&lows), Container::Run(&runs)] {
            let DocIdSet::Some(mut windows) = DocIdSet::with_room(1 << 17) else { unreachable!() };
            windows.push(1, 2_000, container).unwrap();
            let docs: Vec<u32> = match container {
                Container::Array(_) => (0..2_000).map(|nth| (1 << 16) + nth * 30).collect(),
                _ => (5..=5 + 0xFFF).chain(0x2000..=0x2003).map(|low| (1 << 16) + low).collect(),
            };
            let expected: Vec<u64> = docs.into_iter().map(code).collect();
            assert_eq!(codes(&DocIdSet::Some(windows), 1 << 17).0, expected);
        }
    }
}
