//! Posting lists: the documents that hold a term, ascending.
//!
//! Written by the writer's merge ([`encode`]), found through
//! [`TermInfo`](crate::format::terms::TermInfo), read by execution as [`PostingList`].
//!
//! # Layout
//!
//! The POSTINGS section is the lists of one field in term order, back to back, unaligned. The form
//! of a list follows from its document frequency alone:
//!
//! ```text
//! documents  where                    encoding
//! 1..=4      in the dictionary        inline, see `format::terms`
//! 5..=255    here, "short"            varint first document, then varint (document - previous - 1)
//! 256..      here, "long"             a portable roaring bitmap, see `bitmap`
//! ```
//!
//! A short list is followed by its `format::occurrences` and a long one by its `format::ranked`, if the field
//! keeps frequencies. A list of up to four documents whose occurrences are too long for the dictionary stands
//! here as a short one.
//!
//! # Example
//!
//! The short list of the documents 3, 4, 200, 201 and 1000:
//!
//! ```text
//! 0000  03 00 C3 01 00 9E 06
//! ```
//!
//! # Invariants
//!
//! - P1: documents ascend strictly. Gaps are stored less one, so short bytes cannot say otherwise.
//! - P2: every document is below the segment's document count.
//! - P3: a list with its occurrences is exactly as long as its dictionary entry says.
//!
//! # Checks
//!
//! Reading a short list checks P1 and P2, and P3 if it has no occurrences or they are read too. Opening a long list checks the roaring header against
//! P3 and the cardinality against the document frequency; containers are checked when touched, and
//! wholly by `verify`. Neither panics, whatever the bytes.
//!
//! # Cost
//!
//! Opening a short list decodes it, about 2 ns a document, into a fixed array. Opening a long list
//! reads its header (8 bytes a container) and no container.
//!
//! # Versions
//!
//! 1: as above.
//!
//! # Why
//!
//! Below 256 documents a roaring header costs more than it saves, and 256 varints are the most that
//! a reader must walk to find one. From there on a list is a standard bitmap, so that whole
//! containers are combined, skipped or counted from their cardinality without decoding.

use crate::bitmap;
use crate::bitmap::Container;
use crate::bitmap::ContainerKind;
use crate::bitmap::RoaringHeader;
use crate::bytes::{ByteReader, Bytes, HIGHEST_BITS, Source, array_at, varint_in, write_varint};
use crate::error::{Error, ErrorKind, Result};
use crate::format::terms::RANKED_DOCS_MIN;
use crate::plural::counted;
use crate::schema::Detail;

/// The longest list stored as varint gaps; longer ones are roaring bitmaps.
pub(crate) const SHORT_DOCS_MAX: usize = 255;
const _: () = assert!(SHORT_DOCS_MAX as u32 + 1 == RANKED_DOCS_MIN, "only bitmaps have ranks");
/// Bytes of a document in a short list, at the most.
const GAP_BYTES_MAX: u64 = 5;
/// Appends the bytes of a list of more documents than the dictionary keeps inline.
pub(crate) fn encode(docs: &[u32], out: &mut Vec<u8>) {
    if docs.len() <= SHORT_DOCS_MAX {
        encode_gaps(docs, out);
    } else {
        bitmap::write_sorted(docs, out);
    }
}

/// The length of a list as the dictionary keeps it.
pub(crate) fn checked_len(len: usize) -> Result<u32> {
    u32::try_from(len).map_err(|_| {
        Error::new(ErrorKind::LimitExceeded, "writing the posting list of a term")
            .expected(format!("at most {} bytes", u32::MAX))
            .found(len.to_string())
    })
}

/// Appends the varint gaps of ascending documents: the encoding of short lists and of runs.
pub(crate) fn encode_gaps(docs: &[u32], out: &mut Vec<u8>) {
    let mut next = 0;
    for &doc in docs {
        write_varint(out, u64::from(doc - next));
        next = doc + 1;
    }
}

/// Reads `count` documents written by [`encode_gaps`] and appends them; `None` if the bytes end
/// early or a document passes 32 bits.
pub(crate) fn decode_gaps(
    reader: &mut ByteReader<'_>,
    count: usize,
    docs: &mut Vec<u32>,
) -> Option<()> {
    let mut next = 0u32;
    for nth in 0..count {
        let doc = next.checked_add(reader.varint_u32()?)?;
        docs.push(doc);
        next = match doc.checked_add(1) {
            Some(next) => next,
            None if nth + 1 == count => 0,
            None => return None,
        };
    }
    Some(())
}

/// The documents of one term in one segment.
#[expect(
    clippy::large_enum_variant,
    reason = "a short list is decoded in place, so that opening one allocates nothing"
)]
#[derive(Debug)]
pub(crate) enum PostingList<'s, S> {
    /// At most [`SHORT_DOCS_MAX`] documents, decoded.
    Short(ShortList),
    /// A roaring bitmap whose containers are fetched when they are touched.
    Long(LongList<'s, S>),
}

impl<'s, S: Source<'s>> PostingList<'s, S> {
    /// Reads the list of `df` documents that lies at `offset` in the POSTINGS section. Occurrences,
    /// which follow in a field that keeps them, are left alone.
    pub(crate) fn open(
        postings: S,
        offset: u64,
        len: u32,
        df: u32,
        n_docs: u32,
        detail: Detail,
    ) -> Result<Self> {
        if df as usize <= SHORT_DOCS_MAX {
            let mut list = ShortList { docs: [0; SHORT_DOCS_MAX], len: df as u8 };
            let docs = list.docs.get_mut(..df as usize).unwrap_or_default();
            read_short(postings, (offset, len), n_docs, detail, docs)?;
            return Ok(PostingList::Short(list));
        }
        LongList::open_counted(postings, offset, len, df).map(PostingList::Long)
    }

    /// The number of documents.
    pub(crate) fn len(&self) -> u64 {
        match self {
            PostingList::Short(list) => list.as_slice().len() as u64,
            PostingList::Long(list) => list.cardinality(),
        }
    }

    /// Appends all documents, ascending.
    pub(crate) fn decode_into(&self, n_docs: u32, docs: &mut Vec<u32>) -> Result<()> {
        match self {
            PostingList::Short(list) => docs.extend_from_slice(list.as_slice()),
            PostingList::Long(list) => list.decode_into(n_docs, docs)?,
        }
        Ok(())
    }
}

/// Reads as many documents of a short list as it has. Occurrences, which follow in a field that keeps them, are left alone.
pub(crate) fn read_short<'s, S: Source<'s>>(
    postings: S,
    (offset, len): (u64, u32),
    n_docs: u32,
    detail: Detail,
    docs: &mut [u32],
) -> Result<()> {
    let docs_len = match detail {
        Detail::Documents => u64::from(len),
        // No more is read than the documents can take, however long the occurrences are.
        _ => u64::from(len).min(docs.len() as u64 * GAP_BYTES_MAX),
    };
    let bytes = postings.bytes(offset..offset.saturating_add(docs_len))?;
    let end = read_docs(&bytes, n_docs, docs);
    if end.is_some_and(|end| detail != Detail::Documents || end == bytes.len()) {
        return Ok(());
    }
    let error = Error::corrupt("reading a short posting list")
        .expected(format!("{} documents below {n_docs} in {len} bytes", docs.len()))
        .found("other bytes");
    Err(postings.locate(offset, error))
}

/// Calls a function for each document of bytes that begin with them; returns their end.
#[inline]
pub(crate) fn each_short(
    bytes: &[u8],
    df: u32,
    n_docs: u32,
    mut take: impl FnMut(u32),
) -> Option<usize> {
    let mut docs = [0; SHORT_DOCS_MAX];
    let docs = docs.get_mut(..df as usize)?;
    let end = read_docs(bytes, n_docs, docs)?;
    docs.iter().for_each(|doc| take(*doc));
    Some(end)
}

/// Reads as many documents as there is room for of bytes that begin with them; returns their end.
pub(crate) fn read_docs(bytes: &[u8], n_docs: u32, docs: &mut [u32]) -> Option<usize> {
    let (mut at, mut next, mut room) = (0, 0u64, docs);
    while !room.is_empty() {
        let word = array_at(bytes, at).map_or(u64::MAX, u64::from_le_bytes);
        if word & HIGHEST_BITS == 0 && room.len() >= 8 {
            let (eight, others) = room.split_at_mut(8);
            for (doc, gap) in eight.iter_mut().zip(word.to_le_bytes()) {
                next = after(doc, next, gap.into());
            }
            (at, room) = (at + 8, others);
            continue;
        }
        let (gap, len) = match word {
            _ if word & 0x80 == 0 => (word & 0x7F, 1),
            _ if word & 0x8000 == 0 => (word & 0x7F | (word & 0x7F00) >> 1, 2),
            _ => {
                let (gap, len) = varint_in(word).or_else(|| last_gap(bytes.get(at..)?))?;
                // No document has so great a number.
                (u32::try_from(gap).ok()?.into(), len)
            }
        };
        let (doc, others) = room.split_first_mut()?;
        next = after(doc, next, gap);
        (at, room) = (at + len, others);
    }
    // They ascend, and none has passed 64 bits.
    (next <= u64::from(n_docs)).then_some(at)
}

/// A gap behind which there are less than eight bytes.
#[inline(never)]
fn last_gap(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut reader = ByteReader::new(bytes);
    Some((reader.varint()?, reader.position()))
}

/// Sets a document that follows `next` by a gap; the least that may follow it.
#[inline]
fn after(doc: &mut u32, next: u64, gap: u64) -> u64 {
    *doc = (next + gap) as u32;
    next + gap + 1
}

/// Documents in a fixed array, so that opening a short list allocates nothing.
#[derive(Clone)]
pub(crate) struct ShortList {
    docs: [u32; SHORT_DOCS_MAX],
    len: u8,
}

impl ShortList {
    /// The list of documents that the dictionary keeps inline.
    ///
    /// # Panics
    ///
    /// If there are more than [`SHORT_DOCS_MAX`].
    pub(crate) fn from_slice(docs: &[u32]) -> Self {
        assert!(docs.len() <= SHORT_DOCS_MAX, "{} documents are no short list", docs.len());
        let mut list = ShortList { docs: [0; SHORT_DOCS_MAX], len: docs.len() as u8 };
        for (slot, doc) in list.docs.iter_mut().zip(docs) {
            *slot = *doc;
        }
        list
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[u32] {
        // There are as many slots as `len` can count.
        self.docs.get(..usize::from(self.len)).unwrap_or(&self.docs)
    }
}

impl std::fmt::Debug for ShortList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_slice().fmt(f)
    }
}

/// Containers of a list that are asked for early.
const PREFETCH_CONTAINERS: usize = 4;
/// Bytes of a container that is asked for as a whole, and how much of a larger one.
const PREFETCH_WHOLE: usize = 8192;
const PREFETCH_PART: usize = 2048;
/// Bytes of the header of a bitmap of seven containers: nearly half a million documents.
const HEADER_GUESS: u64 = 64;

/// A roaring bitmap in a section: its header is read, its containers are not.
/// A list without containers, as PRESENCE and EMPTY may be, has none to fetch.
#[derive(Debug)]
pub(crate) struct LongList<'s, S> {
    source: S,
    offset: u64,
    header_bytes: Bytes<'s>,
    header: RoaringHeader,
}

impl<'s, S: Source<'s>> LongList<'s, S> {
    /// Reads the header of the bitmap of `len` bytes at `offset`.
    pub(crate) fn open(source: S, offset: u64, len: u64) -> Result<Self> {
        let locate = |error: Error| source.locate(offset, error);
        let end = offset.checked_add(len).filter(|&end| end <= source.len()).ok_or_else(|| {
            locate(
                Error::corrupt("reading a posting list")
                    .expected(format!("a list inside its section of {} bytes", source.len()))
                    .found(format!("{len} bytes at {offset}")),
            )
        })?;
        let total = usize::try_from(len)
            .map_err(|_| locate(Error::corrupt("a list too long for this machine")))?;
        // Most headers fit into this; a longer one is asked for again.
        let mut header_bytes = source.bytes(offset..end.min(offset + HEADER_GUESS))?;
        let header_len = RoaringHeader::header_len(&header_bytes, total).map_err(locate)?;
        if !header_bytes.truncate(header_len) {
            header_bytes = source.bytes(offset..offset + header_len as u64)?;
        }
        let header = RoaringHeader::parse(&header_bytes, total).map_err(locate)?;
        Ok(LongList { source, offset, header_bytes, header })
    }

    /// The bitmap that a section consists of, whose header has been read.
    pub(crate) fn with_header(source: S, header_bytes: Bytes<'s>, header: RoaringHeader) -> Self {
        LongList { source, offset: 0, header_bytes, header }
    }

    /// The header and its bytes.
    pub(crate) fn into_header(self) -> (RoaringHeader, Bytes<'s>) {
        (self.header, self.header_bytes)
    }

    /// Opens the list of a term of `df` documents.
    pub(crate) fn open_counted(source: S, offset: u64, len: u32, df: u32) -> Result<Self> {
        let list = LongList::open(source, offset, u64::from(len))?;
        if list.cardinality() == u64::from(df) {
            return Ok(list);
        }
        let error = Error::corrupt("reading a long posting list")
            .expected(counted(df, "document"))
            .found(format!("a bitmap of {}", list.cardinality()));
        Err(source.locate(offset, error))
    }

    #[inline]
    pub(crate) fn cardinality(&self) -> u64 {
        self.header.total_cardinality()
    }

    #[inline]
    pub(crate) fn n_containers(&self) -> usize {
        self.header.n_containers()
    }

    /// The upper 16 bits that all documents of container `nth` share.
    #[inline]
    pub(crate) fn key(&self, nth: usize) -> u16 {
        self.header.key(&self.header_bytes, nth)
    }

    #[inline]
    pub(crate) fn container_cardinality(&self, nth: usize) -> u32 {
        self.header.cardinality(&self.header_bytes, nth)
    }

    #[inline]
    pub(crate) fn container_kind(&self, nth: usize) -> ContainerKind {
        self.header.kind(&self.header_bytes, nth)
    }

    /// The first container whose key is at least `key`.
    #[inline]
    pub(crate) fn seek(&self, key: u16) -> usize {
        self.header.find(&self.header_bytes, key).unwrap_or_else(|behind| behind)
    }

    /// The bytes of container `nth`, checked now if they were not before.
    #[inline]
    pub(crate) fn payload(&self, nth: usize) -> Result<Bytes<'s>> {
        let range = self.header.payload_range(&self.header_bytes, nth);
        self.source.bytes(self.offset + range.start as u64..self.offset + range.end as u64)
    }

    /// Says that the containers will be asked for soon: small ones whole, of others a few lines,
    /// behind which the processor guesses the rest.
    pub(crate) fn prefetch(&self) {
        for nth in 0..self.n_containers().min(PREFETCH_CONTAINERS) {
            let range = self.header.payload_range(&self.header_bytes, nth);
            let len = match range.len() {
                len if len <= PREFETCH_WHOLE => len,
                _ => PREFETCH_PART,
            };
            let start = self.offset + range.start as u64;
            self.source.prefetch(start..start + len as u64);
        }
    }

    /// Bytes of container `nth`.
    pub(crate) fn payload_len(&self, nth: usize) -> usize {
        self.header.payload_range(&self.header_bytes, nth).len()
    }

    /// Bytes of the header, which opening the list has read.
    pub(crate) fn header_len(&self) -> usize {
        self.header_bytes.len()
    }

    /// The container in the bytes that [`payload`](Self::payload) gave.
    #[inline]
    pub(crate) fn container<'b>(&self, nth: usize, payload: &'b [u8]) -> Result<Container<'b>> {
        bitmap::container_from(self.container_kind(nth), self.container_cardinality(nth), payload)
            .map_err(|error| self.source.locate(self.offset, error))
    }

    /// Appends all documents, ascending; an error if one is not below `n_docs`.
    pub(crate) fn decode_into(&self, n_docs: u32, docs: &mut Vec<u32>) -> Result<()> {
        let before = docs.len();
        for nth in 0..self.n_containers() {
            let high = u32::from(self.key(nth)) << 16;
            let bytes = self.payload(nth)?;
            docs.extend(self.container(nth, &bytes)?.iter().map(|low| high | u32::from(low)));
        }
        // Containers are trusted to ascend only as far as it does no harm: see P1 and P2.
        let added = docs.get(before..);
        let sound = added.is_some_and(|added| added.is_sorted_by(|a, b| a < b))
            && docs.last().is_none_or(|&last| last < n_docs);
        if sound {
            Ok(())
        } else {
            Err(self.damaged("documents out of order, or past the segment's end"))
        }
    }

    #[cold]
    fn damaged(&self, found: &str) -> Error {
        let error = Error::corrupt("reading a long posting list").found(found);
        self.source.locate(self.offset, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;
    use crate::test_sizes::{each_unless_miri, unless_miri};

    const N_DOCS: u32 = 1 << 20;

    fn open(docs: &[u32], bytes: &[u8]) -> Result<Vec<u32>> {
        let mut found = vec![];
        let (len, df) = (bytes.len() as u32, docs.len() as u32);
        PostingList::open(bytes, 0, len, df, N_DOCS, Detail::Documents)?
            .decode_into(N_DOCS, &mut found)?;
        Ok(found)
    }

    #[test]
    fn the_example_in_the_docs_is_what_we_write() {
        let mut bytes = vec![];
        encode(&[3, 4, 200, 201, 1000], &mut bytes);
        let documented = doc_check::hex_dump(include_str!("postings.rs"));
        assert_eq!(documented, bytes, "{}", doc_check::render(&bytes));
    }

    #[test]
    fn lists_of_every_size_come_back() {
        let sizes = [5, 127, 128, 254, 255, 256, 257, 4095, 4096, 4097, 65_535, 65_536, 70_000];
        for &n in unless_miri(&sizes[..], &[5, 255, 256, 4097]) {
            for step in each_unless_miri([1, 2, 7, 13], 2) {
                let docs: Vec<u32> = (0..n).map(|i| i * step).filter(|&d| d < N_DOCS).collect();
                let mut bytes = vec![];
                encode(&docs, &mut bytes);
                assert_eq!(open(&docs, &bytes).unwrap(), docs, "{n} by {step}");
            }
        }
    }

    #[test]
    fn gaps_of_every_width_are_read_side_by_side() {
        for every in each_unless_miri(1..20, 7) {
            for wide in [127, 128, 16_383, 16_384, 1 << 21] {
                let gap = |nth: u32| if nth.is_multiple_of(every) { wide } else { nth };
                let ends = (0..60).scan(0, |next, nth| {
                    *next += gap(nth) + 1;
                    Some(*next)
                });
                let docs: Vec<u32> = ends.map(|end| end - 1).collect();
                let mut bytes = vec![];
                encode_gaps(&docs, &mut bytes);
                for n in 0..=docs.len() {
                    let (mut found, mut first) = (vec![0; n], vec![]);
                    encode_gaps(&docs[..n], &mut first);
                    assert_eq!(read_docs(&bytes, u32::MAX, &mut found), Some(first.len()));
                    assert_eq!(read_docs(&first, u32::MAX, &mut found), Some(first.len()));
                    assert_eq!(found, docs[..n], "{wide} at every {every}th");
                    let end = docs[..n].last().map_or(0, |last| last + 1);
                    assert_eq!(read_docs(&bytes, end, &mut found), Some(first.len()));
                    assert_eq!(read_docs(&bytes, end.max(1) - 1, &mut found).is_none(), n > 0);
                    let cut = &first[..first.len().saturating_sub(1)];
                    assert_eq!(read_docs(cut, u32::MAX, &mut found).is_none(), n > 0);
                }
            }
        }
    }

    #[test]
    fn gaps_past_32_bits_are_refused() {
        for gap in [1 << 32, u64::MAX >> 8, u64::MAX] {
            for behind in [0, 9] {
                let mut bytes = vec![5];
                write_varint(&mut bytes, gap);
                bytes.resize(bytes.len() + behind, 0);
                assert_eq!(read_docs(&bytes, u32::MAX, &mut [0; 2]), None, "{gap}");
            }
        }
    }

    #[test]
    fn damaged_lists_are_refused_or_give_documents_of_the_segment() {
        for n in [5u32, 300, 5000] {
            let docs: Vec<u32> = (0..n).map(|i| i * 3).collect();
            let mut bytes = vec![];
            encode(&docs, &mut bytes);
            for len in each_unless_miri(0..bytes.len().min(600), 149) {
                assert!(open(&docs, &bytes[..len]).is_err(), "{n} cut to {len}");
            }
            for at in each_unless_miri(0..bytes.len().min(600), 149) {
                for flip in each_unless_miri([1, 0x80, 0xFF], 2) {
                    let mut bad = bytes.clone();
                    bad[at] ^= flip;
                    if let Ok(found) = open(&docs, &bad) {
                        assert!(found.iter().all(|&doc| doc < N_DOCS), "{n} at {at}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_list_that_passes_the_last_document_of_its_segment_is_refused() {
        for n in [5u32, 300, 5000] {
            let docs: Vec<u32> = (0..n).map(|i| i * 3).collect();
            let last = docs[docs.len() - 1];
            let mut bytes = vec![];
            encode(&docs, &mut bytes);
            let open = |n_docs| {
                let (len, mut found) = (bytes.len() as u32, vec![]);
                let list = PostingList::open(&bytes[..], 0, len, n, n_docs, Detail::Documents)?;
                list.decode_into(n_docs, &mut found).map(|()| found)
            };
            assert_eq!(open(last + 1).unwrap(), docs);
            assert_eq!(open(last).unwrap_err().kind(), ErrorKind::Corrupt, "{n}");
            if n == 5 {
                let mut found = vec![];
                let end = each_short(&bytes, n, last + 1, |doc| found.push(doc));
                assert_eq!((end, found), (Some(bytes.len()), docs));
                assert_eq!(each_short(&bytes, n, last, |_| ()), None);
            }
        }
    }

    #[test]
    fn occurrences_behind_a_short_list_are_not_read() {
        let docs = [3, 4, 200, 201, 1000];
        let mut bytes = vec![];
        encode(&docs, &mut bytes);
        bytes.extend([0xFF; 1000]);
        let open = |detail| PostingList::open(&bytes[..], 0, bytes.len() as u32, 5, N_DOCS, detail);
        let mut found = vec![];
        open(Detail::Positions).unwrap().decode_into(N_DOCS, &mut found).unwrap();
        assert_eq!(found, docs);
        assert!(open(Detail::Documents).is_err());
    }

    #[test]
    fn gaps_reach_the_last_document_and_not_past_it() {
        let docs = [0, u32::MAX - 1, u32::MAX];
        let mut bytes = vec![];
        for (nth, &doc) in docs.iter().enumerate() {
            write_varint(
                &mut bytes,
                u64::from(if nth == 0 { doc } else { doc - docs[nth - 1] - 1 }),
            );
        }
        let mut found = vec![];
        assert_eq!(decode_gaps(&mut ByteReader::new(&bytes), 3, &mut found), Some(()));
        assert_eq!(found, docs);
        bytes.push(0);
        assert_eq!(decode_gaps(&mut ByteReader::new(&bytes), 4, &mut vec![]), None);
    }
}
