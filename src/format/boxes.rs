//! Boxes of the pages of points, and a tree over them.
//!
//! Written by [`BoxesWriter`], read by [`Boxes`]. Pages themselves are those of [`pages`](super::pages).
//!
//! # Layout
//!
//! The BOXES section of a field: an entry for each page, then levels of boxes up to one that is around all, and a footer. Integers are
//! little-endian.
//!
//! An entry, 32 bytes:
//!
//! ```text
//! offset  size  field      meaning
//!      0     4  west       u32, the least x of its points
//!      4     4  south      u32, the least y
//!      8     4  east       u32, the greatest x
//!     12     4  north      u32, the greatest y
//!     16     8  start      u64, where the page starts in PAGES
//!     24     4  first_doc  u32, the document of its first point
//!     28     2  n_points   u16, its points: 512, or fewer on the last one
//!     30     1  low_width  u8, bits of the low parts of its documents
//!     31     1  high_len   u8, bytes of the high parts
//! ```
//!
//! A box of a level is west, south, east and north of up to 64 neighbours of the level below, 16 bytes; the last box of a level may
//! have fewer. The last level has one box. The footer is the number of points as u64.
//!
//! # Example
//!
//! The page of the example of [`pages`](super::pages): its entry, no level above, as the page is one, and the footer.
//!
//! ```text
//! 0000  00 00 00 80 00 00 00 80  03 00 00 80 02 00 00 80
//! 0010  00 00 00 00 00 00 00 00  05 00 00 00 03 00 00 01
//! 0020  03 00 00 00 00 00 00 00
//! ```
//!
//! # Invariants
//!
//! - T1: a box is the least around the points below.
//! - T2: starts, documents and widths are those of the pages.
//!
//! # Checks
//!
//! Opening compares the length with the number of points. Reading refuses a box whose ends are exchanged, another number of points than
//! a page of this place has, and documents of more than 32 bits. `verify` proves T1 and T2.
//!
//! # Cost
//!
//! 32 bytes for each page, and a 128th more. A walk reads the root and what crosses the border of an area.
//!
//! # Versions
//!
//! 1: as above; there is one where there are [`pages`](super::pages).
//!
//! # Why
//!
//! Children of a box are found by its place, so that there are no references that could be wrong.

use crate::bytes::{ByteReader, Source, array_at};
use crate::error::{Error, Result};
use crate::geo::{UnitBounds, UnitPoint};
use smallvec::SmallVec;
use std::ops::Range;

/// Points of a page.
pub(crate) const PAGE_POINTS: u32 = 512;
/// Boxes below a box.
pub(crate) const FAN_OUT: u32 = 64;
const ENTRY_LEN: u64 = 32;
const BOX_LEN: u64 = 16;
const FOOTER_LEN: u64 = size_of::<u64>() as u64;

/// Entry of a page, which says what is known without reading that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageEntry {
    pub(crate) bounds: UnitBounds,
    pub(super) start: u64,
    pub(crate) first_doc: u32,
    pub(crate) n_points: u16,
    pub(super) low_width: u8,
    pub(super) high_len: u8,
}

impl PageEntry {
    fn encode(&self, out: &mut Vec<u8>) {
        encode_box(&self.bounds, out);
        out.extend(self.start.to_le_bytes());
        out.extend(self.first_doc.to_le_bytes());
        out.extend(self.n_points.to_le_bytes());
        out.extend([self.low_width, self.high_len]);
    }
}

fn encode_box(UnitBounds { least, greatest }: &UnitBounds, out: &mut Vec<u8>) {
    for number in [least.x, least.y, greatest.x, greatest.y] {
        out.extend(number.to_le_bytes());
    }
}

fn decode_box(reader: &mut ByteReader<'_>) -> Option<UnitBounds> {
    let mut point = || Some(UnitPoint { x: reader.u32()?, y: reader.u32()? });
    let bounds = UnitBounds { least: point()?, greatest: point()? };
    Some(bounds).filter(|bounds| !bounds.is_empty())
}

/// Boxes on each level, from pages up.
fn level_lens(n_pages: u32) -> SmallVec<[u32; 6]> {
    let mut lens = SmallVec::from_slice(&[n_pages]);
    let mut n = n_pages;
    while n > 1 {
        n = n.div_ceil(FAN_OUT);
        lens.push(n);
    }
    lens
}

/// Puts the tree over pages together.
#[derive(Debug, Default)]
pub(crate) struct BoxesWriter {
    entries: Vec<u8>,
    bounds: Vec<UnitBounds>,
    n_points: u64,
}

impl BoxesWriter {
    /// Adds the next page.
    pub(super) fn add(&mut self, entry: PageEntry) {
        entry.encode(&mut self.entries);
        self.bounds.push(entry.bounds);
        self.n_points += u64::from(entry.n_points);
    }

    /// Writes all levels.
    pub(crate) fn finish(self, out: &mut Vec<u8>) {
        out.extend(self.entries);
        let mut level = self.bounds;
        while level.len() > 1 {
            let around = |boxes: &[UnitBounds]| {
                UnitBounds::of(boxes.iter().flat_map(|it| [it.least, it.greatest]))
            };
            level = level.chunks(FAN_OUT as usize).map(around).collect();
            level.iter().for_each(|bounds| encode_box(bounds, out));
        }
        out.extend(self.n_points.to_le_bytes());
    }
}

/// Place of a box: level 0 has the pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BoxPlace {
    pub(crate) level: u32,
    pub(crate) nth: u32,
}

/// The tree over pages, read where it lies.
#[derive(Clone, Debug)]
pub(crate) struct Boxes<S> {
    source: S,
    n_points: u64,
    /// Boxes of each level, and where they start.
    levels: SmallVec<[(u32, u64); 6]>,
}

impl<'s, S: Source<'s>> Boxes<S> {
    pub(crate) fn open(source: S) -> Result<Self> {
        let error = || Error::corrupt("opening the boxes of points");
        let Some(footer_at) = source.len().checked_sub(FOOTER_LEN) else {
            let error = error().expected(format!("at least {FOOTER_LEN} bytes"));
            return Err(source.locate(0, error.found(source.len().to_string())));
        };
        let footer = source.bytes(footer_at..source.len())?;
        let n_points = ByteReader::new(&footer).u64().unwrap_or(0);
        let n_pages = u32::try_from(n_points.div_ceil(PAGE_POINTS.into())).unwrap_or(u32::MAX);
        let (mut levels, mut at) = (SmallVec::new(), 0);
        for (level, n) in level_lens(n_pages).into_iter().enumerate() {
            levels.push((n, at));
            at += u64::from(n) * if level == 0 { ENTRY_LEN } else { BOX_LEN };
        }
        match n_points > 0 && at == footer_at {
            true => Ok(Boxes { source, n_points, levels }),
            false => {
                let error = error().expected(format!("{at} bytes of boxes for {n_points} points"));
                Err(source.locate(footer_at, error.found(footer_at.to_string())))
            }
        }
    }

    pub(crate) fn n_points(&self) -> u64 {
        self.n_points
    }

    pub(crate) fn n_pages(&self) -> u32 {
        self.levels.first().map_or(0, |(n, _)| *n)
    }

    /// The box around all.
    pub(crate) fn root(&self) -> BoxPlace {
        BoxPlace { level: self.levels.len().saturating_sub(1) as u32, nth: 0 }
    }

    /// Places of the boxes below a box that is no page.
    pub(crate) fn below(
        &self,
        BoxPlace { level, nth }: BoxPlace,
    ) -> impl Iterator<Item = BoxPlace> + use<S> {
        let level = level.saturating_sub(1);
        let n = self.levels.get(level as usize).map_or(0, |(n, _)| *n);
        let first = nth.saturating_mul(FAN_OUT).min(n);
        (first..first.saturating_add(FAN_OUT).min(n)).map(move |nth| BoxPlace { level, nth })
    }

    /// Pages below a box.
    pub(crate) fn pages_of(&self, BoxPlace { level, nth }: BoxPlace) -> Range<u32> {
        let width = u64::from(FAN_OUT).pow(level);
        let at = |nth: u64| (nth * width).min(self.n_pages().into()) as u32;
        at(nth.into())..at(u64::from(nth) + 1)
    }

    /// Points on consecutive pages.
    pub(crate) fn points_of(&self, pages: &Range<u32>) -> u64 {
        let before = |page: u32| (u64::from(page) * u64::from(PAGE_POINTS)).min(self.n_points);
        before(pages.end).saturating_sub(before(pages.start))
    }

    /// A box.
    #[inline]
    pub(crate) fn bounds(&self, place: BoxPlace) -> Result<UnitBounds> {
        let (n, start) = self.levels.get(place.level as usize).copied().unwrap_or_default();
        let len = if place.level == 0 { ENTRY_LEN } else { BOX_LEN };
        let at = start + u64::from(place.nth.min(n)) * len;
        let bytes = self.source.bytes(at..at + BOX_LEN)?;
        decode_box(&mut ByteReader::new(&bytes)).ok_or_else(|| self.wrong(at))
    }

    /// Calls `visit` with each of the boxes below one that is no page. They are next to each other, and read at once.
    #[inline]
    pub(crate) fn for_each_below(
        &self,
        place: BoxPlace,
        mut visit: impl FnMut(BoxPlace, &UnitBounds) -> Result<()>,
    ) -> Result<()> {
        let mut below = self.below(place);
        let Some(first) = below.next() else { return Ok(()) };
        let n = 1 + below.count() as u64;
        let (_, start) = self.levels.get(first.level as usize).copied().unwrap_or_default();
        let len = if first.level == 0 { ENTRY_LEN } else { BOX_LEN };
        let at = start + u64::from(first.nth) * len;
        let bytes = self.source.bytes(at..at + n * len)?;
        let corner = |at: usize| {
            let both = u64::from_le_bytes(array_at(&bytes, at)?);
            Some(UnitPoint { x: both as u32, y: (both >> u32::BITS) as u32 })
        };
        for (nth, at_box) in (0..n as u32).zip((0..).step_by(len as usize)) {
            let bounds = corner(at_box).zip(corner(at_box + UnitPoint::LEN));
            let bounds = bounds.map(|(least, greatest)| UnitBounds { least, greatest });
            let Some(bounds) = bounds.filter(|bounds| !bounds.is_empty()) else {
                return Err(self.wrong(at + u64::from(nth) * len));
            };
            visit(BoxPlace { level: first.level, nth: first.nth + nth }, &bounds)?;
        }
        Ok(())
    }

    /// The entry of a page.
    pub(crate) fn page(&self, nth: u32) -> Result<PageEntry> {
        let at = u64::from(nth.min(self.n_pages())) * ENTRY_LEN;
        let bytes = self.source.bytes(at..at + ENTRY_LEN)?;
        let n_wanted = self.points_of(&(nth..nth.saturating_add(1)));
        let mut reader = ByteReader::new(&bytes);
        let mut read = || {
            let bounds = decode_box(&mut reader)?;
            let (start, first_doc) = (reader.u64()?, reader.u32()?);
            let (n_points, low_width, high_len) = (reader.u16()?, reader.u8()?, reader.u8()?);
            let is_possible = u64::from(n_points) == n_wanted && u32::from(low_width) <= u32::BITS;
            is_possible.then_some(PageEntry {
                bounds,
                start,
                first_doc,
                n_points,
                low_width,
                high_len,
            })
        };
        read().ok_or_else(|| self.wrong(at))
    }

    #[cold]
    fn wrong(&self, at: u64) -> Error {
        let error = Error::corrupt("reading the boxes of points");
        self.source.locate(at, error.expected("a box of points").found("something else"))
    }

    /// Compares all with what pages say.
    pub(super) fn compare(&self, expected: BoxesWriter) -> Result<()> {
        let mut bytes = vec![];
        expected.finish(&mut bytes);
        let own = self.source.bytes(0..self.source.len())?;
        if *own == bytes[..] {
            return Ok(());
        }
        let same = own.iter().zip(&bytes).take_while(|(a, b)| a == b).count();
        let error = Error::corrupt("checking the boxes of points");
        let error = error.expected("the least boxes around the points of pages").found("others");
        Err(self.source.locate(same as u64, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;

    fn tree(n_pages: u32) -> Vec<u8> {
        let (mut writer, mut bytes) = (BoxesWriter::default(), vec![]);
        for nth in 0..n_pages {
            let corner = |d: u32| UnitPoint { x: nth * 10 + d, y: 1_000 - nth % 7 + d };
            let bounds = UnitBounds::of([corner(0), corner(3)]);
            let n_points = if nth + 1 == n_pages { 7 } else { PAGE_POINTS as u16 };
            writer.add(PageEntry {
                bounds,
                start: nth.into(),
                first_doc: nth,
                n_points,
                low_width: 32,
                high_len: 64,
            });
        }
        writer.finish(&mut bytes);
        bytes
    }

    #[test]
    fn the_example_is_what_is_written_and_read() {
        let corner = |x, y| UnitPoint { x: (1u32 << 31) + x, y: (1u32 << 31) + y };
        let bounds = UnitBounds::of([corner(0, 0), corner(3, 2)]);
        let entry =
            PageEntry { bounds, start: 0, first_doc: 5, n_points: 3, low_width: 0, high_len: 1 };
        let (mut writer, mut bytes) = (BoxesWriter::default(), vec![]);
        writer.add(entry);
        writer.finish(&mut bytes);
        let expected = doc_check::hex_dump(include_str!("boxes.rs"));
        assert_eq!(bytes, expected, "{}", doc_check::render(&bytes));
        let fields = doc_check::layout(include_str!("boxes.rs"));
        assert_eq!(fields["high_len"] as u64, ENTRY_LEN - 1);
        let boxes = Boxes::open(&bytes[..]).unwrap();
        assert_eq!((boxes.n_pages(), boxes.n_points(), boxes.page(0).unwrap()), (1, 3, entry));
        assert_eq!(boxes.bounds(boxes.root()).unwrap(), bounds);
    }

    #[test]
    fn boxes_are_around_those_below_on_all_levels() {
        for n_pages in [1, 2, 64, 65, 4_096, 4_097] {
            let bytes = tree(n_pages);
            let boxes = Boxes::open(&bytes[..]).unwrap();
            assert_eq!(boxes.n_pages(), n_pages);
            let mut places = vec![boxes.root()];
            let mut pages = 0..0;
            while let Some(place) = places.pop() {
                let around = boxes.bounds(place).unwrap();
                if place.level == 0 {
                    assert_eq!(boxes.page(place.nth).unwrap().bounds, around);
                    assert_eq!(boxes.pages_of(place), place.nth..place.nth + 1);
                    assert_eq!(pages.end, place.nth, "in order");
                    pages.end += 1;
                    continue;
                }
                let below: Vec<_> = boxes.below(place).collect();
                let mut at_once = vec![];
                let seen = boxes.for_each_below(place, |place, bounds| {
                    assert_eq!(boxes.bounds(place).unwrap(), *bounds);
                    at_once.push(place);
                    Ok(())
                });
                assert_eq!((seen.is_ok(), &at_once), (true, &below));
                let all = below.iter().map(|it| boxes.bounds(*it).unwrap());
                assert_eq!(UnitBounds::of(all.flat_map(|it| [it.least, it.greatest])), around);
                let (first, last) =
                    (boxes.pages_of(below[0]), boxes.pages_of(below[below.len() - 1]));
                assert_eq!(boxes.pages_of(place), first.start..last.end);
                places.extend(below.into_iter().rev());
            }
            assert_eq!(pages, 0..n_pages);
            let n_points = u64::from(n_pages - 1) * u64::from(PAGE_POINTS) + 7;
            assert_eq!(boxes.points_of(&pages), n_points);
            for len in 0..bytes.len().min(100) {
                assert!(Boxes::open(&bytes[..len]).is_err(), "{len}");
            }
        }
    }
}
