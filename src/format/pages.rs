//! Points of a field by place: pages of points that lie near each other.
//!
//! Written by [`PagesWriter`], read by [`Pages`]. The tree over the boxes of pages is in [`boxes`](super::boxes).
//!
//! # Layout
//!
//! The PAGES section of a field: all points of the segment in the order of their codes on the curve of
//! [Hilbert](crate::geo::UnitPoint::to_code), points of one code by document, 512 on a page. A page has its points by document, those
//! of one document by code. Packed numbers begin in the lowest bits of a byte, as in [`points`](super::points):
//!
//! | of a page | packed with |
//! |---|---|
//! | a bit for each point: that of its place on the page plus the high part of its document less the first one | bits up to the last of them |
//! | for each point, the low part of that | `low_width` of BOXES, the fewest bits with which the greatest high part is at most 3/2 of the points |
//! | for each point, x − west of the page's box | as many bits as east − west has |
//! | for each point, y − south of it | as many bits as north − south has |
//!
//! Each of the four begins with a byte. Pages have no bytes between them; behind the last one are seven zeros.
//!
//! # Example
//!
//! A page of three points: document 5 has one on the equator and one that is 3 units east of it, document 7 one that is 2 units north:
//!
//! ```text
//! 0000  13 0C 20 00 00 00 00 00  00 00
//! ```
//!
//! # Invariants
//!
//! - G1: bytes are those that the writer makes of the points.
//! - G2: points and their documents are those of the field's POINTS.
//!
//! # Checks
//!
//! Reading a page refuses one that is not in the section, or has bits for another number of documents. `verify` proves G1 and G2; until then a contradiction makes a wrong answer,
//! and no other harm.
//!
//! # Cost
//!
//! About 7.8 bytes a point: 2.0 for the document and 5.7 for the coordinates of 10 million points around cities.
//!
//! # Versions
//!
//! 1: as above. Segments of fewer than 1,024 points have none, nor have those of an older build, which does not look for it; their points
//! are compared by document.
//!
//! # Why
//!
//! A circle has whole pages inside, whose points are not looked at, and some on its border. Along the curve these are few, and two
//! segments are merged by sorting, which no tree that splits by median allows. Documents are a page of Elias and Fano: they lie anywhere, and
//! take less than a bit more than any code needs.

use super::boxes::{Boxes, BoxesWriter, PAGE_POINTS, PageEntry};
use super::column::{SLACK, pack, packed_len, unpack, width_of};
use crate::bytes::{Bytes, Source};
use crate::error::{Error, Result};
use crate::geo::{UnitBounds, UnitPoint};
use crate::simd::numbers::{self, AT_ONCE, PlaceBuffer};

const PAGE_LEN: usize = PAGE_POINTS as usize;

/// Points from which on a segment has pages.
pub(crate) const POINTS_MIN: u64 = 1_024;

/// A point and its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Placed {
    pub(crate) doc: u32,
    pub(crate) point: UnitPoint,
}

impl Placed {
    /// A number that tells sets of points apart when it is added up over all of them.
    pub(crate) fn scattered(self) -> u64 {
        let mixed = self.point.to_code() ^ u64::from(self.doc).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
    }
}

/// Puts pages together from points in their order.
#[derive(Debug)]
pub(crate) struct PagesWriter {
    /// Documents and codes of the points of the page.
    page: Vec<(u32, u64)>,
    points: Vec<UnitPoint>,
    boxes: BoxesWriter,
    /// Bytes of the pages that were written.
    written: u64,
}

impl PagesWriter {
    pub(crate) fn new() -> Self {
        let (page, points) = (vec![], vec![]);
        PagesWriter { page, points, boxes: BoxesWriter::default(), written: 0 }
    }

    /// Adds a point by its code; a page is written to `out` if one is complete.
    pub(crate) fn add(&mut self, code: u64, doc: u32, out: &mut Vec<u8>) {
        self.page.push((doc, code));
        if self.page.len() == PAGE_POINTS as usize {
            self.end_page(out);
        }
    }

    /// Writes what is left; the boxes of all pages.
    pub(crate) fn finish(mut self, out: &mut Vec<u8>) -> BoxesWriter {
        if !self.page.is_empty() {
            self.end_page(out);
        }
        out.extend([0; SLACK]);
        self.boxes
    }

    fn end_page(&mut self, out: &mut Vec<u8>) {
        let before = out.len();
        self.page.sort_unstable();
        self.points.clear();
        self.points.extend(self.page.iter().map(|(_, code)| UnitPoint::of_code(*code)));
        let first_doc = self.page.first().map_or(0, |(doc, _)| *doc);
        let docs = || self.page.iter().map(|(doc, _)| doc - first_doc);
        let low_width = low_width(docs().next_back().unwrap_or(0), self.page.len());
        let high_at = |(nth, doc): (u32, u32)| nth + doc.checked_shr(low_width).unwrap_or(0);
        let mut high = vec![];
        for at in (0..).zip(docs()).map(high_at) {
            let (byte, bit) = ((at / u8::BITS) as usize, at % u8::BITS);
            high.resize(byte + 1, 0u8);
            if let Some(byte) = high.last_mut() {
                *byte |= 1 << bit;
            }
        }
        let entry = PageEntry {
            bounds: UnitBounds::of(self.points.iter().copied()),
            start: self.written,
            first_doc,
            n_points: self.page.len() as u16,
            low_width: low_width as u8,
            high_len: high.len() as u8,
        };
        let UnitPoint { x: west, y: south } = entry.bounds.least;
        out.extend(high);
        pack(docs().map(|doc| u64::from(doc) & ((1 << low_width) - 1)), low_width, out);
        pack(self.points.iter().map(|it| u64::from(it.x - west)), x_width(&entry.bounds), out);
        pack(self.points.iter().map(|it| u64::from(it.y - south)), y_width(&entry.bounds), out);
        self.boxes.add(entry);
        self.written += (out.len() - before) as u64;
        self.page.clear();
    }
}

/// Bits of the low part of documents, of which so many are up to `last`.
fn low_width(last: u32, n: usize) -> u32 {
    let most = n as u64 * 3 / 2;
    let is_enough = |width: &u32| u64::from(last) >> width <= most;
    (0..u32::BITS).find(is_enough).unwrap_or(u32::BITS)
}

fn x_width(bounds: &UnitBounds) -> u32 {
    width_of(u64::from(bounds.greatest.x.saturating_sub(bounds.least.x)))
}

fn y_width(bounds: &UnitBounds) -> u32 {
    width_of(u64::from(bounds.greatest.y.saturating_sub(bounds.least.y)))
}

/// The pages of a field, read where they lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pages<S> {
    source: S,
}

impl<'s, S: Source<'s>> Pages<S> {
    pub(crate) fn open(source: S) -> Self {
        Pages { source }
    }

    /// The points of a page.
    pub(crate) fn page(&self, entry: PageEntry) -> Result<Page<'s>> {
        let n = usize::from(entry.n_points);
        let lows_at = usize::from(entry.high_len);
        let xs_at = lows_at + packed_len(n, entry.low_width.into());
        let ys_at = xs_at + packed_len(n, x_width(&entry.bounds));
        let len = ys_at + packed_len(n, y_width(&entry.bounds)) + SLACK;
        let end = entry.start.checked_add(len as u64).filter(|end| *end <= self.source.len());
        let Some(end) = end else {
            let error = Error::corrupt("reading a page of points")
                .expected(format!("bytes below {}", self.source.len()))
                .found(format!("{len} from {} on", entry.start));
            return Err(self.source.locate(entry.start.min(self.source.len()), error));
        };
        let page =
            Page { bytes: self.source.bytes(entry.start..end)?, entry, lows_at, xs_at, ys_at };
        let (words, rest) = page.high_words();
        let of_words = words.iter().map(|word| u64::from_le_bytes(*word).count_ones());
        let n_found: u32 = of_words.chain(rest.iter().map(|byte| byte.count_ones())).sum();
        match n_found == u32::from(entry.n_points) {
            true => Ok(page),
            false => {
                let error = Error::corrupt("reading a page of points");
                let error = error.expected(format!("bits for {n} documents"));
                Err(self.source.locate(entry.start, error.found(n_found.to_string())))
            }
        }
    }

    /// Compares bytes from an offset on with those that should be there.
    fn compare(&self, at: u64, expected: &[u8]) -> Result<()> {
        let end = at.saturating_add(expected.len() as u64).min(self.source.len());
        let own = self.source.bytes(at.min(end)..end)?;
        if *own == *expected {
            return Ok(());
        }
        let same = own.iter().zip(expected).take_while(|(a, b)| a == b).count();
        let error = Error::corrupt("checking pages of points")
            .expected("the bytes that the points are written as")
            .found("others");
        Err(self.source.locate(at + same as u64, error))
    }
}

/// Compares all bytes of both sections with those that the writer makes of the points; all of these as a sum of
/// [scattered](Placed::scattered) numbers.
pub(crate) fn verify<'s, S: Source<'s>>(pages: &Pages<S>, boxes: &Boxes<S>) -> Result<u64> {
    let (mut writer, mut written, mut at, mut sum) = (PagesWriter::new(), vec![], 0, 0u64);
    let (mut of_page, mut last, mut numbers) = (vec![], None, PageNumbers::default());
    for nth in 0..boxes.n_pages() {
        of_page.clear();
        for placed in pages.page(boxes.page(nth)?)?.points(&mut numbers) {
            sum = sum.wrapping_add(placed.scattered());
            of_page.push((placed.point.to_code(), placed.doc));
        }
        of_page.sort_unstable();
        if of_page.first().copied() < last {
            let error = Error::corrupt("checking pages of points");
            let error = error
                .expected("pages in the order of codes")
                .found(format!("page {nth} before others"));
            return Err(pages.source.locate(at, error));
        }
        last = of_page.last().copied();
        of_page.iter().for_each(|(code, doc)| writer.add(*code, *doc, &mut written));
        pages.compare(at, &written)?;
        at += written.len() as u64;
        written.clear();
    }
    let expected = writer.finish(&mut written);
    pages.compare(at, &written)?;
    at += written.len() as u64;
    if at != pages.source.len() {
        let error = Error::corrupt("checking pages of points").expected(format!("{at} bytes"));
        return Err(pages.source.locate(at, error.found(pages.source.len().to_string())));
    }
    boxes.compare(expected)?;
    Ok(sum)
}

/// Up to 512 points.
#[derive(Debug)]
pub(crate) struct Page<'s> {
    bytes: Bytes<'s>,
    entry: PageEntry,
    lows_at: usize,
    xs_at: usize,
    ys_at: usize,
}

impl Page<'_> {
    /// Bytes of the page.
    pub(crate) fn n_bytes(&self) -> u64 {
        (self.bytes.len() - SLACK) as u64
    }

    /// Bytes that say the documents.
    pub(crate) fn bytes_of_docs(&self) -> u64 {
        self.xs_at as u64
    }

    /// Bits of the high parts of documents: words, and the bytes behind the last.
    #[inline]
    fn high_words(&self) -> (&[[u8; 8]], &[u8]) {
        self.bytes.get(..self.lows_at).unwrap_or_default().as_chunks()
    }

    fn n_points(&self) -> usize {
        usize::from(self.entry.n_points).min(PAGE_LEN)
    }

    /// Unpacks the documents of all points, ascending.
    pub(crate) fn docs<'n>(&self, numbers: &'n mut PageNumbers) -> &'n [u32] {
        let PageEntry { first_doc, low_width, .. } = self.entry;
        let low_width = u32::from(low_width);
        let PageNumbers { docs, places, .. } = numbers;
        let docs = docs.get_mut(..self.n_points()).unwrap_or_default();
        unpack_all(&self.bytes, self.lows_at, low_width, docs);
        let (words, rest) = self.high_words();
        let mut last = [[0; size_of::<u64>()]];
        last.as_flattened_mut().iter_mut().zip(rest).for_each(|(to, byte)| *to = *byte);
        // Low parts of 32 bits leave nothing for the high ones, whatever their bits are.
        let (shift, mask) = if low_width < u32::BITS { (low_width, u32::MAX) } else { (0, 0) };
        let mut nth = 0;
        let parts = words.chunks(AT_ONCE / u64::BITS as usize).chain([last.as_slice()]);
        let mut base = 0;
        for words in parts {
            let n_found = numbers::places(words, base, places);
            let of_part = docs.get_mut(nth..).unwrap_or_default();
            let places = places.get(..n_found).unwrap_or_default();
            for (at, (doc, place)) in of_part.iter_mut().zip(places).enumerate() {
                // Beyond all documents only if bytes are damaged.
                let high = place.wrapping_sub((nth + at) as u32) << shift & mask;
                *doc = first_doc.wrapping_add(high | *doc);
            }
            nth += n_found;
            base += words.len() as u32 * u64::BITS;
        }
        docs
    }

    /// Unpacks all points, ascending by document.
    pub(crate) fn points<'n>(
        &self,
        numbers: &'n mut PageNumbers,
    ) -> impl Iterator<Item = Placed> + use<'n> {
        let bounds = self.entry.bounds;
        let UnitPoint { x: west, y: south } = bounds.least;
        let n = self.n_points();
        self.docs(numbers);
        let PageNumbers { docs, xs, ys, .. } = numbers;
        unpack_all(&self.bytes, self.xs_at, x_width(&bounds), xs.get_mut(..n).unwrap_or_default());
        unpack_all(&self.bytes, self.ys_at, y_width(&bounds), ys.get_mut(..n).unwrap_or_default());
        docs.iter().zip(&*xs).zip(&*ys).take(n).map(move |((doc, x), y)| {
            let point = UnitPoint { x: west.wrapping_add(*x), y: south.wrapping_add(*y) };
            Placed { doc: *doc, point }
        })
    }

    /// Unpacks the coordinates of one point.
    #[inline]
    pub(crate) fn point(&self, nth: usize) -> UnitPoint {
        let bounds = self.entry.bounds;
        let number = |at: usize, width: u32| unpack(&self.bytes, at, width, nth) as u32;
        UnitPoint {
            x: bounds.least.x.wrapping_add(number(self.xs_at, x_width(&bounds))),
            y: bounds.least.y.wrapping_add(number(self.ys_at, y_width(&bounds))),
        }
    }
}

/// Writes the numbers packed from `at` on.
fn unpack_all(bytes: &[u8], at: usize, width: u32, out: &mut [u32]) {
    match width {
        0 => out.fill(0),
        u32::BITS.. => {
            let all = out.iter_mut().enumerate();
            all.for_each(|(nth, out)| *out = unpack(bytes, at, width, nth) as u32);
        }
        _ => numbers::unpack_neighbours(bytes.get(at..).unwrap_or_default(), width, 0, out),
    }
}

/// Room for the numbers of a page.
#[derive(Debug)]
pub(crate) struct PageNumbers {
    docs: [u32; PAGE_LEN],
    xs: [u32; PAGE_LEN],
    ys: [u32; PAGE_LEN],
    places: PlaceBuffer,
}

impl Default for PageNumbers {
    fn default() -> Self {
        let none = [0; PAGE_LEN];
        PageNumbers { docs: none, xs: none, ys: none, places: [0; AT_ONCE + 64] }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::format::doc_check;
    use crate::test_sizes::each_unless_miri;
    use proptest::prelude::*;

    /// Both sections of points of documents.
    pub(crate) fn sections(points: &[Placed]) -> (Vec<u8>, Vec<u8>) {
        let mut sorted: Vec<_> = points.iter().map(|it| (it.point.to_code(), it.doc)).collect();
        sorted.sort_unstable();
        let (mut writer, mut pages, mut boxes) = (PagesWriter::new(), vec![], vec![]);
        sorted.into_iter().for_each(|(code, doc)| writer.add(code, doc, &mut pages));
        writer.finish(&mut pages).finish(&mut boxes);
        (pages, boxes)
    }

    #[test]
    fn the_example_is_what_is_written_and_read() {
        let at = |doc, x, y| Placed {
            doc,
            point: UnitPoint { x: (1u32 << 31) + x, y: (1u32 << 31) + y },
        };
        let points = [at(5, 0, 0), at(5, 3, 0), at(7, 0, 2)];
        let (pages, boxes) = sections(&points);
        let expected = doc_check::hex_dump(include_str!("pages.rs"));
        assert_eq!(pages, expected, "{}", doc_check::render(&pages));
        let (pages, boxes) = (Pages::open(&pages[..]), Boxes::open(&boxes[..]).unwrap());
        let page = pages.page(boxes.page(0).unwrap()).unwrap();
        let mut numbers = PageNumbers::default();
        let found: Vec<_> = page.points(&mut numbers).collect();
        assert_eq!((&found[..], page.docs(&mut numbers)), (&points[..], &[5, 5, 7][..]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn points_come_back_by_place(
            n in 0..3_000u32, seed: u64, shift in 0..33u32, docs in 1..5_000u32,
        ) {
            let mut random = seed;
            let mut next = || {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 32) as u32
            };
            let point = |_| {
                let doc = next() % docs;
                let mut number = || next().checked_shr(shift).unwrap_or(0);
                Placed { doc, point: UnitPoint { x: number(), y: !number() } }
            };
            let mut points: Vec<_> = (0..=n).map(point).collect();
            let (pages, boxes) = sections(&points);
            let (pages, boxes) = (Pages::open(&pages[..]), Boxes::open(&boxes[..]).unwrap());
            let expected = points.iter().fold(0u64, |sum, it| sum.wrapping_add(it.scattered()));
            prop_assert_eq!(verify(&pages, &boxes).unwrap(), expected);
            let (mut found, mut numbers) = (vec![], PageNumbers::default());
            for nth in 0..boxes.n_pages() {
                let entry = boxes.page(nth).unwrap();
                let before = found.len();
                let page = pages.page(entry).unwrap();
                found.extend(page.points(&mut numbers));
                let each = found[before..].iter().map(|it| it.point);
                prop_assert!(each.enumerate().all(|(nth, point)| page.point(nth) == point));
                let bounds = UnitBounds::of(found[before..].iter().map(|it| it.point));
                prop_assert_eq!(bounds, entry.bounds);
                let docs = page.docs(&mut numbers);
                prop_assert!(docs.is_sorted());
                prop_assert!(docs.iter().copied().eq(found[before..].iter().map(|it| it.doc)));
            }
            points.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, points);
        }
    }

    #[test]
    fn every_flipped_bit_is_found_by_verify_and_harms_no_reader() {
        let point = |n: u32| Placed { doc: n / 2, point: UnitPoint { x: n * n * 7, y: n << 20 } };
        let points: Vec<_> = (0..700).map(point).collect();
        let sum = points.iter().fold(0u64, |sum, it| sum.wrapping_add(it.scattered()));
        let (pages, boxes) = sections(&points);
        let is_sound = |pages: &[u8], boxes: &[u8]| {
            let boxes = Boxes::open(boxes)?;
            verify(&Pages::open(pages), &boxes).map(|found| found == sum)
        };
        assert!(is_sound(&pages, &boxes).unwrap());
        for bit in each_unless_miri(0..pages.len() * 8, 97).step_by(11) {
            let mut damaged = pages.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_sound(&damaged, &boxes).unwrap_or(false), "bit {bit} of pages");
        }
        for bit in each_unless_miri(0..boxes.len() * 8, 7) {
            let mut damaged = boxes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_sound(&pages, &damaged).unwrap_or(false), "bit {bit} of boxes");
        }
        for len in each_unless_miri(0..pages.len(), 99).step_by(7) {
            assert!(!is_sound(&pages[..len], &boxes).unwrap_or(false), "{len}");
        }
        for len in 0..boxes.len() {
            assert!(!is_sound(&pages, &boxes[..len]).unwrap_or(false), "{len}");
        }
    }
}
