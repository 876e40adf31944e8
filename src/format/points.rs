//! Points of a field by document: 32 bits for the longitude, 32 for the latitude.
//!
//! Written by [`PointsWriter`], read by [`Points`]. The points of a document stand in the order in which they were given.
//!
//! # Layout
//!
//! The POINTS section of a field: blocks, one for each 1,024 documents, a directory of them, and a footer. Integers are
//! little-endian; packed numbers begin in the lowest bits of a byte.
//!
//! The footer, the last 40 bytes:
//!
//! ```text
//! offset  size  field      meaning
//!      0     8  n_points   u64
//!      8     4  n_with     u32, documents with points
//!     12     4  n_docs     u32, documents of the segment
//!     16     4  most       u32, points of one document at the most
//!     20     4  zero       reserved, zero
//!     24     4  west       u32, the least x; 0 without points, as are the next three
//!     28     4  south      u32, the least y
//!     32     4  east       u32, the greatest x
//!     36     4  north      u32, the greatest y
//! ```
//!
//! Before it the directory has 32 bytes for each block: where it starts as u64, its west, south, east and north as u32, its points as
//! u32, its documents with points as u16, its encoding and a zero as u8.
//!
//! | encoding | documents with points | before the points |
//! |---|---|---|
//! | 0 empty | none; the block has no bytes, and its box is 0 | – |
//! | 1 full | each has one | – |
//! | 2 gaps | some have one | a bit for each document, from the lowest of the first byte on |
//! | 3 sparse | few have one: their places take less than those bits | u16 for each: its place in the block |
//! | 4 many | some have several | for each document the points up to its end, packed |
//!
//! Then come x − west of all points, packed with as many bits as east − west has, then y − south with those of north − south, and seven
//! zeros. Ends have as many bits as the number of points.
//!
//! # Example
//!
//! Three documents, of which the first has a point on the equator and the last one that is three units east of it:
//!
//! ```text
//! 0000  05 0C 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0010  00 00 00 00 80 00 00 00  80 03 00 00 80 00 00 00
//! 0020  80 02 00 00 00 02 00 02  00 02 00 00 00 00 00 00
//! 0030  00 02 00 00 00 03 00 00  00 01 00 00 00 00 00 00
//! 0040  00 00 00 00 80 00 00 00  80 03 00 00 80 00 00 00
//! 0050  80
//! ```
//!
//! # Invariants
//!
//! - P1: bytes are those that the writer makes of the points.
//! - P2: documents with points are those of the field's presence.
//! - P3: a document has one point at the most, unless the field has many.
//!
//! # Checks
//!
//! Opening compares the length with the number of documents. Reading a block refuses one beyond the directory, and a box whose ends
//! are exchanged. `verify` proves P1 to P3; until then a contradiction makes a wrong answer, and no other harm.
//!
//! # Cost
//!
//! At most 8 bytes a point, and 32 for each 1,024 documents. Boxes are read without the points.
//!
//! # Versions
//!
//! 1: as above. A build that does not know of points refuses the manifest, by its incompatible feature bit 65,536.
//!
//! # Why
//!
//! Coordinates of 32 bits move a point by 5.3 mm at the most, less than anything that gives places. Documents are in their own order, so that
//! those which other conditions leave are looked up.

use super::column::{SLACK, pack, packed_len, unpack, width_of};
use crate::bytes::{ByteReader, Bytes, Source};
use crate::error::{Error, Result};
use crate::geo::{UnitBounds, UnitPoint};
use crate::schema::POINT_LEN;
use std::ops::Range;

const _: () = assert!(UnitPoint::LEN == POINT_LEN, "rows of points are as long as the schema says");

/// Documents of a block.
pub(crate) const BLOCK_DOCS: u32 = 1_024;
const ENTRY_LEN: usize = 32;
const FOOTER_LEN: usize = 40;
const PLACE_LEN: usize = size_of::<u16>();

/// Encoding of the documents of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Empty = 0,
    Full = 1,
    Gaps = 2,
    Sparse = 3,
    Many = 4,
}

impl Encoding {
    fn of(byte: u8) -> Option<Self> {
        let all = [Self::Empty, Self::Full, Self::Gaps, Self::Sparse, Self::Many];
        all.into_iter().find(|encoding| *encoding as u8 == byte)
    }
}

/// Entry of a block in the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockHead {
    start: u64,
    /// The box of its points.
    pub(crate) bounds: UnitBounds,
    pub(crate) n_points: u32,
    /// Documents with points.
    pub(crate) n_with: u16,
    encoding: Encoding,
}

impl BlockHead {
    fn x_width(&self) -> u32 {
        width_of(u64::from(self.bounds.greatest.x.saturating_sub(self.bounds.least.x)))
    }

    fn y_width(&self) -> u32 {
        width_of(u64::from(self.bounds.greatest.y.saturating_sub(self.bounds.least.y)))
    }

    fn width_of_ends(&self) -> u32 {
        width_of(u64::from(self.n_points))
    }

    /// Start of the x and of the y, and end of the block of `n_docs` documents.
    fn parts(&self, n_docs: u32) -> (usize, usize, usize) {
        let (n_docs, n_points) = (n_docs as usize, self.n_points as usize);
        let xs_at = match self.encoding {
            Encoding::Empty => return (0, 0, 0),
            Encoding::Full => 0,
            Encoding::Gaps => n_docs.div_ceil(8),
            Encoding::Sparse => n_points * PLACE_LEN,
            Encoding::Many => packed_len(n_docs, self.width_of_ends()),
        };
        let ys_at = xs_at + packed_len(n_points, self.x_width());
        (xs_at, ys_at, ys_at + packed_len(n_points, self.y_width()) + SLACK)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.start.to_le_bytes());
        encode_bounds(&self.bounds, out);
        out.extend(self.n_points.to_le_bytes());
        out.extend(self.n_with.to_le_bytes());
        out.extend([self.encoding as u8, 0]);
    }
}

fn encode_bounds(bounds: &UnitBounds, out: &mut Vec<u8>) {
    let UnitBounds { least, greatest } = match bounds.is_empty() {
        true => UnitBounds { least: UnitPoint::default(), greatest: UnitPoint::default() },
        false => *bounds,
    };
    for number in [least.x, least.y, greatest.x, greatest.y] {
        out.extend(number.to_le_bytes());
    }
}

/// Box as it is written; of no points if there are none.
fn decode_bounds(reader: &mut ByteReader<'_>, n_points: u64) -> Option<UnitBounds> {
    let mut point = || Some(UnitPoint { x: reader.u32()?, y: reader.u32()? });
    let bounds = UnitBounds { least: point()?, greatest: point()? };
    match n_points {
        0 => Some(UnitBounds::NONE),
        _ => Some(bounds).filter(|bounds| !bounds.is_empty()),
    }
}

/// Puts the points of a segment's documents together.
#[derive(Debug)]
pub(crate) struct PointsWriter {
    /// Points of the block's documents, and how many there are up to each.
    points: Vec<UnitPoint>,
    ends: Vec<u32>,
    directory: Vec<u8>,
    /// Bytes of the blocks that were written.
    written: u64,
    n_points: u64,
    n_with: u32,
    n_docs: u32,
    most: u32,
    bounds: UnitBounds,
}

impl PointsWriter {
    pub(crate) fn new() -> Self {
        PointsWriter {
            points: vec![],
            ends: vec![],
            directory: vec![],
            written: 0,
            n_points: 0,
            n_with: 0,
            n_docs: 0,
            most: 0,
            bounds: UnitBounds::NONE,
        }
    }

    /// Documents that were added.
    pub(crate) fn n_docs(&self) -> u32 {
        self.n_docs
    }

    /// Adds the points of the next document; a block is written to `out` if one is complete.
    pub(crate) fn add(&mut self, points: impl IntoIterator<Item = UnitPoint>, out: &mut Vec<u8>) {
        let before = self.points.len();
        self.points.extend(points);
        let n = (self.points.len() - before) as u32;
        self.ends.push(self.points.len() as u32);
        self.n_docs += 1;
        self.n_with += u32::from(n > 0);
        self.most = self.most.max(n);
        if self.ends.len() == BLOCK_DOCS as usize {
            self.end_block(out);
        }
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self, out: &mut Vec<u8>) {
        if !self.ends.is_empty() {
            self.end_block(out);
        }
        out.extend_from_slice(&self.directory);
        out.extend(self.n_points.to_le_bytes());
        for number in [self.n_with, self.n_docs, self.most, 0] {
            out.extend(number.to_le_bytes());
        }
        encode_bounds(&self.bounds, out);
    }

    fn end_block(&mut self, out: &mut Vec<u8>) {
        let before = out.len();
        let head = self.write_block(out);
        head.encode(&mut self.directory);
        self.written += (out.len() - before) as u64;
        self.n_points += self.points.len() as u64;
        self.bounds = self.points.iter().fold(self.bounds, |bounds, point| bounds.with(*point));
        self.points.clear();
        self.ends.clear();
    }

    /// Numbers of points of the documents of the block.
    fn counts(&self) -> impl Iterator<Item = u32> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| end - start)
    }

    fn write_block(&self, out: &mut Vec<u8>) -> BlockHead {
        let (n_docs, n_points) = (self.ends.len(), self.points.len());
        let n_with = self.counts().filter(|n| *n > 0).count();
        let encoding = match () {
            () if n_points == 0 => Encoding::Empty,
            () if n_points > n_with => Encoding::Many,
            () if n_with == n_docs => Encoding::Full,
            () if n_docs.div_ceil(8) <= n_with * PLACE_LEN => Encoding::Gaps,
            () => Encoding::Sparse,
        };
        let head = BlockHead {
            start: self.written,
            bounds: UnitBounds::of(self.points.iter().copied()),
            n_points: n_points as u32,
            n_with: n_with as u16,
            encoding,
        };
        match encoding {
            Encoding::Empty => return head,
            Encoding::Full => {}
            Encoding::Gaps => pack(self.counts().map(|n| u64::from(n > 0)), 1, out),
            Encoding::Sparse => {
                let with = (0u16..).zip(self.counts()).filter(|(_, n)| *n > 0);
                with.for_each(|(place, _)| out.extend(place.to_le_bytes()));
            }
            Encoding::Many => {
                pack(self.ends.iter().map(|end| u64::from(*end)), head.width_of_ends(), out);
            }
        }
        let UnitPoint { x: west, y: south } = head.bounds.least;
        pack(self.points.iter().map(|it| u64::from(it.x - west)), head.x_width(), out);
        pack(self.points.iter().map(|it| u64::from(it.y - south)), head.y_width(), out);
        out.extend([0; SLACK]);
        head
    }
}

/// The points of a field, read where they lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Points<S> {
    source: S,
    directory_at: u64,
    n_docs: u32,
    n_with: u32,
    n_points: u64,
    most: u32,
    bounds: UnitBounds,
}

impl<'s, S: Source<'s>> Points<S> {
    /// Opens the section of a field.
    pub(crate) fn open(source: S) -> Result<Self> {
        let error = || Error::corrupt("opening the points of a field");
        let Some(footer_at) = source.len().checked_sub(FOOTER_LEN as u64) else {
            let error = error().expected(format!("at least {FOOTER_LEN} bytes"));
            return Err(source.locate(0, error.found(source.len().to_string())));
        };
        let footer = source.bytes(footer_at..source.len())?;
        let mut reader = ByteReader::new(&footer);
        let mut read = || {
            let n_points = reader.u64()?;
            let (n_with, n_docs, most) = (reader.u32()?, reader.u32()?, reader.u32()?);
            reader.u32()?;
            Some((n_points, n_with, n_docs, most, decode_bounds(&mut reader, n_points)?))
        };
        let Some((n_points, n_with, n_docs, most, bounds)) = read() else {
            let error = error().expected("a box whose first corner is in the south-west");
            return Err(source.locate(footer_at, error.found("another one")));
        };
        let directory_len = u64::from(n_docs.div_ceil(BLOCK_DOCS)) * ENTRY_LEN as u64;
        let Some(directory_at) = footer_at.checked_sub(directory_len) else {
            let error = error().expected(format!("{directory_len} bytes of a directory"));
            return Err(source.locate(footer_at, error.found(footer_at.to_string())));
        };
        if n_with > n_docs || u64::from(n_with) > n_points {
            let error = error().expected("no more documents with points than documents and points");
            let found = format!("{n_with} of {n_docs}, {n_points} points");
            return Err(source.locate(footer_at, error.found(found)));
        }
        Ok(Points { source, directory_at, n_docs, n_with, n_points, most, bounds })
    }

    /// Documents of the segment.
    pub(crate) fn n_docs(&self) -> u32 {
        self.n_docs
    }

    /// Documents with points.
    pub(crate) fn n_with(&self) -> u32 {
        self.n_with
    }

    pub(crate) fn n_points(&self) -> u64 {
        self.n_points
    }

    /// Points of one document at the most.
    pub(crate) fn most(&self) -> u32 {
        self.most
    }

    /// The box of all points.
    pub(crate) fn bounds(&self) -> &UnitBounds {
        &self.bounds
    }

    pub(crate) fn n_blocks(&self) -> u32 {
        self.n_docs.div_ceil(BLOCK_DOCS)
    }

    /// Documents of a block.
    pub(crate) fn docs_of(&self, nth: u32) -> u32 {
        self.n_docs.saturating_sub(nth.saturating_mul(BLOCK_DOCS)).min(BLOCK_DOCS)
    }

    /// The entry of a block in the directory.
    pub(crate) fn head(&self, nth: u32) -> Result<BlockHead> {
        let at = self.directory_at + u64::from(nth) * ENTRY_LEN as u64;
        let bytes = self.source.bytes(at..at + ENTRY_LEN as u64)?;
        let n_docs = self.docs_of(nth);
        let mut reader = ByteReader::new(&bytes);
        let mut read = || {
            let start = reader.u64()?;
            let bounds = reader.take(4 * size_of::<u32>())?;
            let (n_points, n_with) = (reader.u32()?, reader.u16()?);
            let bounds = decode_bounds(&mut ByteReader::new(bounds), n_points.into())?;
            let encoding = Encoding::of(reader.u8()?)?;
            let head = BlockHead { start, bounds, n_points, n_with, encoding };
            let n_with = u32::from(n_with);
            let is_possible = match encoding {
                Encoding::Empty => n_points == 0 && n_with == 0,
                Encoding::Full => n_points == n_docs && n_with == n_docs,
                Encoding::Gaps | Encoding::Sparse => n_points == n_with && n_with < n_docs,
                Encoding::Many => n_points > n_with && n_with <= n_docs,
            };
            is_possible.then_some(head)
        };
        read().ok_or_else(|| {
            let error = Error::corrupt("reading the directory of points")
                .expected(format!("box, counts and encoding of {n_docs} documents"))
                .found("others");
            self.source.locate(at, error)
        })
    }

    /// The points of the documents of a block.
    pub(crate) fn block(&self, nth: u32, head: BlockHead) -> Result<PointsBlock<'s>> {
        let n_docs = self.docs_of(nth);
        let (xs_at, ys_at, len) = head.parts(n_docs);
        let end = head.start.checked_add(len as u64).filter(|end| *end <= self.directory_at);
        let Some(end) = end else {
            let error = Error::corrupt("reading a block of points")
                .expected(format!("bytes below {}", self.directory_at))
                .found(format!("{len} from {} on", head.start));
            return Err(self.source.locate(self.directory_at, error));
        };
        let bytes = self.source.bytes(head.start..end)?;
        Ok(PointsBlock { bytes, head, n_docs, xs_at, ys_at })
    }

    /// The points of a document.
    pub(crate) fn of_doc(&self, doc: u32) -> Result<Vec<UnitPoint>> {
        let nth = doc / BLOCK_DOCS;
        let block = self.block(nth, self.head(nth)?)?;
        Ok(block.numbers(doc % BLOCK_DOCS).map(|number| block.point(number)).collect())
    }

    /// Calls `visit` with each document and its points. Of blocks without a `wanted` document all may be left out.
    pub(crate) fn for_each(
        &self,
        mut wanted: impl FnMut(Range<u32>) -> bool,
        mut visit: impl FnMut(u32, &[UnitPoint]) -> Result<()>,
    ) -> Result<()> {
        let mut points = vec![];
        for nth in 0..self.n_blocks() {
            let first = nth * BLOCK_DOCS;
            let docs = first..first + self.docs_of(nth);
            if !wanted(docs.clone()) {
                continue;
            }
            let block = self.block(nth, self.head(nth)?)?;
            for doc in docs {
                points.clear();
                points.extend(block.numbers(doc - first).map(|number| block.point(number)));
                visit(doc, &points)?;
            }
        }
        Ok(())
    }

    /// Compares all bytes with those that the writer makes of the points.
    pub(crate) fn verify(&self) -> Result<()> {
        let (mut writer, mut written, mut at) = (PointsWriter::new(), vec![], 0);
        let mut compare = |written: &mut Vec<u8>| -> Result<()> {
            let end = (at + written.len() as u64).min(self.source.len());
            let own = self.source.bytes(at..end)?;
            if *own != written[..] {
                let same = own.iter().zip(&*written).take_while(|(a, b)| a == b).count();
                let error = Error::corrupt("checking points")
                    .expected("the bytes that the points are written as")
                    .found("others");
                return Err(self.source.locate(at + same as u64, error));
            }
            at = end;
            written.clear();
            Ok(())
        };
        self.for_each(
            |_| true,
            |_, points| {
                writer.add(points.iter().copied(), &mut written);
                if written.is_empty() { Ok(()) } else { compare(&mut written) }
            },
        )?;
        writer.finish(&mut written);
        compare(&mut written)?;
        match at == self.source.len() {
            true => Ok(()),
            false => {
                let error = Error::corrupt("checking points").expected(format!("{at} bytes"));
                Err(self.source.locate(at, error.found(self.source.len().to_string())))
            }
        }
    }
}

/// The points of up to 1,024 documents.
#[derive(Debug)]
pub(crate) struct PointsBlock<'s> {
    bytes: Bytes<'s>,
    head: BlockHead,
    n_docs: u32,
    xs_at: usize,
    ys_at: usize,
}

impl PointsBlock<'_> {
    pub(crate) fn n_docs(&self) -> u32 {
        self.n_docs
    }

    /// Bytes that say which documents have points.
    fn places(&self) -> &[u8] {
        self.bytes.get(..self.xs_at).unwrap_or_default()
    }

    /// Numbers of the points of the document in this place of the block.
    #[inline]
    pub(crate) fn numbers(&self, place: u32) -> Range<u32> {
        match self.head.encoding {
            Encoding::Full => place..place + 1,
            Encoding::Gaps => {
                let bits = self.places();
                let (byte, bit) = ((place / u8::BITS) as usize, place % u8::BITS);
                let own = bits.get(byte).copied().unwrap_or(0);
                if own >> bit & 1 == 0 {
                    return 0..0;
                }
                let (words, rest) = bits.get(..byte).unwrap_or_default().as_chunks();
                let words = words.iter().map(|word| u64::from_le_bytes(*word).count_ones());
                let rest = rest.iter().map(|byte| byte.count_ones());
                let below = (own & ((1 << bit) - 1)).count_ones();
                let nth = words.chain(rest).sum::<u32>() + below;
                nth..nth + 1
            }
            Encoding::Sparse => {
                let places = self.places().as_chunks::<PLACE_LEN>().0;
                let found =
                    places.binary_search_by_key(&place, |at| u16::from_le_bytes(*at).into());
                found.map_or(0..0, |nth| nth as u32..nth as u32 + 1)
            }
            Encoding::Many => {
                let width = self.head.width_of_ends();
                let end = |nth: u32| {
                    let end = unpack(&self.bytes, 0, width, nth as usize);
                    (end as u32).min(self.head.n_points)
                };
                place.checked_sub(1).map_or(0, end)..end(place)
            }
            Encoding::Empty => 0..0,
        }
    }

    /// A point by its number.
    #[inline]
    pub(crate) fn point(&self, number: u32) -> UnitPoint {
        let UnitPoint { x: west, y: south } = self.head.bounds.least;
        let (x_width, y_width) = (self.head.x_width(), self.head.y_width());
        let x = unpack(&self.bytes, self.xs_at, x_width, number as usize) as u32;
        let y = unpack(&self.bytes, self.ys_at, y_width, number as usize) as u32;
        // Beyond the box only where bytes are damaged.
        UnitPoint { x: west.wrapping_add(x), y: south.wrapping_add(y) }
    }

    /// The points of the document in this place of the block, in their order.
    #[inline]
    pub(crate) fn points(&self, place: u32) -> impl Iterator<Item = UnitPoint> {
        self.numbers(place).map(|number| self.point(number))
    }
}

/// Points, and of their blocks the one that was last asked for.
#[derive(Debug)]
pub(crate) struct PointsAtHand<'s, S> {
    points: Points<S>,
    block: Option<(u32, PointsBlock<'s>)>,
}

impl<'s, S: Source<'s>> PointsAtHand<'s, S> {
    pub(crate) fn of(points: Points<S>) -> Self {
        PointsAtHand { points, block: None }
    }

    /// The block that a document is in, and its place there.
    pub(crate) fn block_of(&mut self, doc: u32) -> Result<(&PointsBlock<'s>, u32)> {
        let nth = doc / BLOCK_DOCS;
        let block = match self.block.take().filter(|(at, _)| *at == nth) {
            Some((_, block)) => block,
            None => self.points.block(nth, self.points.head(nth)?)?,
        };
        Ok((&self.block.insert((nth, block)).1, doc % BLOCK_DOCS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;
    use proptest::prelude::*;

    const EQUATOR: UnitPoint = UnitPoint { x: 1 << 31, y: 1 << 31 };

    fn section(docs: &[Vec<UnitPoint>]) -> Vec<u8> {
        let (mut writer, mut out) = (PointsWriter::new(), vec![]);
        docs.iter().for_each(|points| writer.add(points.iter().copied(), &mut out));
        assert_eq!(writer.n_docs() as usize, docs.len());
        writer.finish(&mut out);
        out
    }

    fn read(bytes: &[u8]) -> Result<Vec<Vec<UnitPoint>>> {
        let (points, mut found) = (Points::open(bytes)?, vec![]);
        points.for_each(
            |_| true,
            |doc, points| {
                assert_eq!(doc as usize, found.len());
                found.push(points.to_vec());
                Ok(())
            },
        )?;
        Ok(found)
    }

    #[test]
    fn the_example_is_what_is_written_and_read() {
        let docs = [vec![EQUATOR], vec![], vec![UnitPoint { x: EQUATOR.x + 3, ..EQUATOR }]];
        let bytes = section(&docs);
        let expected = doc_check::hex_dump(include_str!("points.rs"));
        assert_eq!(bytes, expected, "{}", doc_check::render(&bytes));
        assert_eq!(doc_check::layout(include_str!("points.rs"))["north"], FOOTER_LEN - 4);
        assert_eq!(read(&bytes).unwrap(), docs);
        let points = Points::open(&bytes[..]).unwrap();
        points.verify().unwrap();
        assert_eq!((points.n_docs(), points.n_with(), points.n_points()), (3, 2, 2));
        assert_eq!((points.most(), points.n_blocks()), (1, 1));
        assert_eq!(*points.bounds(), UnitBounds::of([docs[0][0], docs[2][0]]));
        assert_eq!(points.of_doc(2).unwrap(), docs[2]);
    }

    /// Shapes of several hundred documents each, by their numbers of points.
    fn shapes() -> impl Strategy<Value = Vec<(u32, u32, usize)>> {
        // One in so many has some, so many at the most.
        prop::collection::vec((1..400u32, 0..4u32, 1..1_500usize), 0..4)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn points_come_back_as_they_were(shapes in shapes(), seed: u64, shift in 0..33u32) {
            let mut random = seed;
            let mut next = || {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 32) as u32
            };
            let mut docs = vec![];
            for (one_in, most, n) in shapes {
                for _ in 0..n {
                    let n_points = if next() % one_in == 0 { next() % (most + 1) } else { 0 };
                    let mut number = || next().checked_shr(shift).unwrap_or(0);
                    let point = |_| UnitPoint { x: number(), y: !number() };
                    docs.push((0..n_points).map(point).collect());
                }
            }
            let bytes = section(&docs);
            prop_assert_eq!(read(&bytes).unwrap(), docs.clone());
            let points = Points::open(&bytes[..]).unwrap();
            points.verify().unwrap();
            let all: Vec<_> = docs.concat();
            prop_assert_eq!(points.n_points(), all.len() as u64);
            prop_assert_eq!(*points.bounds(), UnitBounds::of(all));
            let mut at_hand = PointsAtHand::of(points);
            for doc in [0, docs.len() / 2, docs.len().saturating_sub(1)] {
                let Some(expected) = docs.get(doc) else { continue };
                prop_assert_eq!(&points.of_doc(doc as u32).unwrap(), expected);
                let (block, place) = at_hand.block_of(doc as u32).unwrap();
                prop_assert_eq!(&block.points(place).collect::<Vec<_>>(), expected);
                prop_assert!(block.n_docs() > place);
            }
        }
    }

    #[test]
    fn every_flipped_bit_is_found_by_verify_and_harms_no_reader() {
        let one = |n: u32| vec![UnitPoint { x: n * 7, y: n * n }];
        let samples: [Vec<Vec<UnitPoint>>; 4] = [
            (0..20).map(one).collect(),
            (0..40).map(|n| if n % 3 == 0 { one(n) } else { vec![] }).collect(),
            (0..90).map(|n| if n == 50 { one(n) } else { vec![] }).collect(),
            (0..20)
                .map(|n| if n % 2 == 0 { [one(n), one(n + 1)].concat() } else { vec![] })
                .collect(),
        ];
        for docs in samples {
            let bytes = section(&docs);
            for bit in 0..bytes.len() * 8 {
                let mut damaged = bytes.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                // Zeros behind the points, and reserved ones, are compared as well.
                let verified = Points::open(&damaged[..]).and_then(|points| points.verify());
                assert!(verified.is_err() || read(&damaged).unwrap() != docs, "bit {bit}");
            }
            for len in 0..bytes.len() {
                let cut = Points::open(&bytes[..len]).and_then(|points| points.verify());
                assert!(cut.is_err(), "{len}");
            }
        }
    }
}
