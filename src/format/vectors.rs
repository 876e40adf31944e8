//! Vectors of a field as they were given: rows, and the document of each.
//!
//! Written by [`VectorsWriter`], read by [`Vectors`]. A row is known by its ordinal.
//!
//! # Layout
//!
//! Two sections of a field of vectors. Integers and numbers are little-endian.
//!
//! The VECTORS section:
//!
//! ```text
//! offset  size  field      meaning
//!      0     4  n_docs     u32, documents of the segment
//!      4     4  n_vectors  u32
//!      8     2  dims       u16, numbers of a row, as the schema says
//!     10     1  encoding   u8: numbers are 1 f32, 2 f16, 3 i8, 4 bits, as the schema says
//!     11     5  zero       reserved, zero, ignored
//!     16     *  rows       n_vectors rows of dims numbers
//! ```
//!
//! A row of bits has eight numbers in a byte, the first in its highest bit, and begins with a byte; bits behind the last number
//! are zero.
//!
//! The VECTOR_DOCS section has a u32 for each row: its document.
//!
//! # Example
//!
//! Three documents, of which the first has the vector 1, −2 and the last 0.5, 0:
//!
//! ```text
//! 0000  03 00 00 00 02 00 00 00  02 00 01 00 00 00 00 00
//! 0010  00 00 80 3F 00 00 00 C0  00 00 00 3F 00 00 00 00
//! 0020  00 00 00 00 02 00 00 00
//! ```
//!
//! The last eight bytes are the other section.
//!
//! # Invariants
//!
//! - V1: documents of rows ascend; those of several rows stand as often.
//! - V2: the documents are those of the field's presence.
//! - V3: numbers are finite, and their squares add up to at most 2 to the 125th; under the cosine to at least 2 to the
//!   −100th, so that each row has a direction.
//! - V4: bits behind the last number of a row are zero.
//!
//! # Checks
//!
//! Opening compares dimensions and encoding with the schema, and both lengths with the numbers of rows. Reading refuses a document
//! beyond the segment. `verify` proves V1 to V4; until then a contradiction makes a wrong answer, and no other harm.
//!
//! # Cost
//!
//! The bytes of the numbers, and 4 a row. A row is one range of bytes; all rows are read front to back.
//!
//! # Versions
//!
//! 1: as above. A build that does not know of vectors refuses the manifest, by its incompatible feature bit 32,768.
//!
//! # Why
//!
//! Numbers are kept as they were given, as far as the field keeps their bits, so that what is found is compared exactly, and an
//! index is as good as its source.
//! Documents stand apart from rows because a document may have none or many.

use crate::bytes::{ByteReader, Bytes, Source, array_at, write_varint};
use crate::error::{Error, Result};
use crate::schema::{VectorParams, VectorValues};
use std::ops::Range;

const HEAD_LEN: u64 = 16;
const DOC_LEN: u64 = size_of::<u32>() as u64;
/// Bytes of rows that are read at once, at the most.
const READ_BYTES: u64 = 256 << 10;

fn encoding_of(values: VectorValues) -> u8 {
    match values {
        VectorValues::F32 => 1,
        VectorValues::F16 => 2,
        VectorValues::I8 => 3,
        VectorValues::Bits => 4,
    }
}

/// Writes rows one after the other.
#[derive(Debug)]
pub(crate) struct VectorsWriter {
    docs: RowDocs,
    last_doc: u32,
}

/// The documents of rows, kept as what each differs by from the one before: a byte a row, mostly.
#[derive(Debug, Default)]
pub(crate) struct RowDocs {
    gaps: Vec<u8>,
    /// Gaps that were given out.
    at: usize,
    doc: u32,
}

impl Iterator for RowDocs {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let mut reader = ByteReader::new(self.gaps.get(self.at..)?);
        self.doc += reader.varint_u32()?;
        self.at += reader.position();
        Some(self.doc)
    }
}

impl VectorsWriter {
    /// Starts a section of so many rows in all.
    pub(crate) fn start(
        n_docs: u32,
        n_vectors: u32,
        params: VectorParams,
        out: &mut Vec<u8>,
    ) -> Self {
        out.extend(n_docs.to_le_bytes());
        out.extend(n_vectors.to_le_bytes());
        out.extend(params.dims.to_le_bytes());
        out.extend([encoding_of(params.values), 0, 0, 0, 0, 0]);
        VectorsWriter { docs: RowDocs::default(), last_doc: 0 }
    }

    /// Adds a row of a document that is not before the one of the row before.
    pub(crate) fn add(&mut self, doc: u32, row: &[u8], out: &mut Vec<u8>) {
        out.extend(row);
        write_varint(&mut self.docs.gaps, u64::from(doc - self.last_doc));
        self.last_doc = doc;
    }

    /// Ends the rows; their documents, of which the other section has 4 bytes each.
    pub(crate) fn finish(self) -> RowDocs {
        self.docs
    }
}

/// The vectors of a field, read where they lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vectors<S> {
    rows: S,
    docs: S,
    n_docs: u32,
    n_vectors: u32,
    params: VectorParams,
    row_len: u64,
}

impl<'s, S: Source<'s>> Vectors<S> {
    /// Opens the two sections of a field.
    pub(crate) fn open(rows: S, docs: S, params: VectorParams) -> Result<Self> {
        let head = rows.bytes(0..HEAD_LEN.min(rows.len()))?;
        let mut reader = ByteReader::new(&head);
        let mut read = || Some((reader.u32()?, reader.u32()?, reader.u16()?, reader.u8()?));
        let error = || Error::corrupt("opening the vectors of a field");
        let Some((n_docs, n_vectors, own_dims, encoding)) = read() else {
            let error = error().expected(format!("at least {HEAD_LEN} bytes"));
            return Err(rows.locate(0, error.found(rows.len().to_string())));
        };
        let (dims, of_values) = (params.dims, encoding_of(params.values));
        if (own_dims, encoding) != (dims, of_values) {
            let error = error().expected(format!("{dims} dimensions, encoding {of_values}"));
            return Err(rows.locate(8, error.found(format!("{own_dims}, {encoding}"))));
        }
        let row_len = params.row_len() as u64;
        let expected = HEAD_LEN + u64::from(n_vectors) * row_len;
        if rows.len() != expected {
            let error = error().expected(format!("{expected} bytes of {n_vectors} rows"));
            return Err(rows.locate(4, error.found(rows.len().to_string())));
        }
        if docs.len() != u64::from(n_vectors) * DOC_LEN {
            let error = error().expected(format!("documents of {n_vectors} rows"));
            return Err(docs.locate(0, error.found(format!("{} bytes", docs.len()))));
        }
        Ok(Vectors { rows, docs, n_docs, n_vectors, params, row_len })
    }

    /// Documents of the segment.
    pub(crate) fn n_docs(&self) -> u32 {
        self.n_docs
    }

    pub(crate) fn n_vectors(&self) -> u32 {
        self.n_vectors
    }

    /// Description of the rows.
    pub(crate) fn params(&self) -> VectorParams {
        self.params
    }

    /// Bytes of a row.
    pub(crate) fn row_len(&self) -> usize {
        self.row_len as usize
    }

    /// Some rows back to back.
    pub(crate) fn rows(&self, ordinals: Range<u32>) -> Result<Bytes<'s>> {
        self.rows.bytes(self.range(ordinals))
    }

    /// Bytes of some rows.
    #[inline]
    pub(crate) fn range(&self, ordinals: Range<u32>) -> Range<u64> {
        let at = |ordinal: u32| HEAD_LEN + u64::from(ordinal) * self.row_len;
        at(ordinals.start)..at(ordinals.end)
    }

    /// Says that a row will be asked for soon.
    #[inline]
    pub(crate) fn prefetch(&self, ordinal: u32) {
        self.rows.prefetch(self.range(ordinal..ordinal + 1));
    }

    /// The documents of some rows, 4 bytes each.
    pub(crate) fn docs(&self, ordinals: Range<u32>) -> Result<Bytes<'s>> {
        let at = |ordinal: u32| u64::from(ordinal) * DOC_LEN;
        self.docs.bytes(at(ordinals.start)..at(ordinals.end))
    }

    /// The documents of all rows, 4 bytes each, if they are at hand and need no more checks.
    pub(crate) fn docs_at_hand(&self) -> Option<&'s [u8]> {
        self.docs.at_hand()
    }

    /// The document of a row, also by [all](Self::docs_at_hand).
    #[inline]
    pub(crate) fn doc_of(&self, at_hand: Option<&[u8]>, ordinal: u32) -> Result<u32> {
        let doc = at_hand.and_then(|docs| array_at(docs, ordinal as usize * DOC_LEN as usize));
        match doc.map(u32::from_le_bytes) {
            Some(doc) if doc < self.n_docs => Ok(doc),
            // Whatever is wrong is told by those of the section.
            _ => self.doc(ordinal),
        }
    }

    /// The document of a row.
    pub(crate) fn doc(&self, ordinal: u32) -> Result<u32> {
        let bytes = self.docs(ordinal..ordinal + 1)?;
        array_at(&bytes, 0)
            .map(u32::from_le_bytes)
            .filter(|doc| *doc < self.n_docs)
            .ok_or_else(|| self.damage(ordinal, "a document beyond the segment"))
    }

    /// The first row of a document that is not before `doc`, looked for from the row `from` on: a few reads where it is near.
    pub(crate) fn seek(&self, from: u32, doc: u32) -> Result<u32> {
        let (mut low, mut step) = (from, 1);
        // All rows before `low` are of documents before.
        while low < self.n_vectors {
            let at = low.saturating_add(step - 1).min(self.n_vectors - 1);
            if self.doc(at)? >= doc {
                return self.first_in(low..at, doc);
            }
            (low, step) = (at + 1, step.saturating_mul(2));
        }
        Ok(self.n_vectors)
    }

    /// The first of some rows whose document is not before `doc`, or the one behind them.
    fn first_in(
        &self,
        Range { start: mut low, end: mut high }: Range<u32>,
        doc: u32,
    ) -> Result<u32> {
        while low < high {
            let middle = low + (high - low) / 2;
            match self.doc(middle)? < doc {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Ok(low)
    }

    /// Rows of a document, looked for from the row `from` on.
    pub(crate) fn rows_of(&self, from: u32, doc: u32) -> Result<Range<u32>> {
        let start = self.seek(from, doc)?;
        Ok(start..self.seek(start, doc.saturating_add(1))?)
    }

    /// Rows by ranges that are read at once.
    fn steps(&self) -> impl Iterator<Item = Range<u32>> + use<S> {
        let (n_vectors, n) = (self.n_vectors, (READ_BYTES / self.row_len).max(1) as u32);
        let starts = (0..n_vectors).step_by(n as usize);
        starts.map(move |from| from..from.saturating_add(n).min(n_vectors))
    }

    /// The documents of some rows, which ascend from `last` on.
    fn docs_from(&self, last: u32, ordinals: Range<u32>) -> Result<Vec<u32>> {
        let bytes = self.docs(ordinals.clone())?;
        let (docs, _) = bytes.as_chunks();
        let docs: Vec<u32> = docs.iter().map(|doc| u32::from_le_bytes(*doc)).collect();
        let mut last = last;
        for (ordinal, doc) in ordinals.zip(&docs) {
            if !(last..self.n_docs).contains(doc) {
                return Err(self.damage(ordinal, format!("document {doc} behind {last}")));
            }
            last = *doc;
        }
        Ok(docs)
    }

    /// Calls `visit` with the document of each row, which ascend.
    pub(crate) fn for_each_doc(&self, mut visit: impl FnMut(u32) -> Result<()>) -> Result<()> {
        let mut last = 0;
        for ordinals in self.steps() {
            for doc in self.docs_from(last, ordinals)? {
                last = doc;
                visit(doc)?;
            }
        }
        Ok(())
    }

    /// Calls `visit` with each row and its document, from front to back.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(u32, &[u8]) -> Result<()>) -> Result<()> {
        let mut last = 0;
        for ordinals in self.steps() {
            let rows = self.rows(ordinals.clone())?;
            for (doc, row) in
                self.docs_from(last, ordinals)?.into_iter().zip(rows.chunks_exact(self.row_len()))
            {
                last = doc;
                visit(doc, row)?;
            }
        }
        Ok(())
    }

    /// An error about a row.
    #[cold]
    pub(crate) fn damage(&self, ordinal: u32, found: impl Into<String>) -> Error {
        let error = Error::corrupt("reading the documents of vectors");
        self.docs.locate(u64::from(ordinal) * DOC_LEN, error.found(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;
    use crate::schema::Metric;

    const TWO: VectorParams = VectorParams::new(2, Metric::L2);

    fn sections(n_docs: u32, rows: &[(u32, [f32; 2])]) -> (Vec<u8>, Vec<u8>) {
        let mut out = vec![];
        let mut writer = VectorsWriter::start(n_docs, rows.len() as u32, TWO, &mut out);
        for (doc, row) in rows {
            writer.add(*doc, &row.map(f32::to_le_bytes).concat(), &mut out);
        }
        (out, writer.finish().flat_map(u32::to_le_bytes).collect())
    }

    #[test]
    fn the_example_is_what_is_written_and_read() {
        let (rows, docs) = sections(3, &[(0, [1.0, -2.0]), (2, [0.5, 0.0])]);
        assert_eq!([&rows[..], &docs].concat(), doc_check::hex_dump(include_str!("vectors.rs")));
        let vectors = Vectors::open(&rows[..], &docs[..], TWO).unwrap();
        assert_eq!((vectors.n_docs(), vectors.n_vectors(), vectors.row_len()), (3, 2, 8));
        assert_eq!((vectors.doc(0).unwrap(), vectors.doc(1).unwrap()), (0, 2));
        assert_eq!(&*vectors.rows(1..2).unwrap(), [0.5f32, 0.0].map(f32::to_le_bytes).concat());
    }

    #[test]
    fn rows_are_as_long_as_the_numbers_that_are_kept() {
        for values in VectorValues::ALL {
            let params = VectorParams::new(12, Metric::L2).values(values);
            let (row, mut out) = (vec![7; params.row_len()], vec![]);
            let mut writer = VectorsWriter::start(2, 1, params, &mut out);
            writer.add(1, &row, &mut out);
            let docs: Vec<u8> = writer.finish().flat_map(u32::to_le_bytes).collect();
            let vectors = Vectors::open(&out[..], &docs[..], params).unwrap();
            assert_eq!(&*vectors.rows(0..1).unwrap(), row, "{values:?}");
            for other in VectorValues::ALL.into_iter().filter(|other| *other != values) {
                assert!(Vectors::open(&out[..], &docs[..], params.values(other)).is_err());
            }
        }
    }

    #[test]
    fn rows_of_each_document_are_found_from_wherever_one_looks() {
        let docs = [1, 1, 1, 4, 7, 7, 9];
        let (rows, of_rows) = sections(12, &docs.map(|doc| (doc, [doc as f32, 1.0])));
        let vectors = Vectors::open(&rows[..], &of_rows[..], TWO).unwrap();
        for doc in 0..12 {
            let expected = docs.partition_point(|it| *it < doc) as u32;
            let end = docs.partition_point(|it| *it <= doc) as u32;
            for from in 0..=expected {
                assert_eq!(vectors.rows_of(from, doc).unwrap(), expected..end, "{doc} from {from}");
            }
        }
    }

    #[test]
    fn other_lengths_dimensions_and_documents_are_refused() {
        let (rows, docs) = sections(3, &[(0, [1.0, -2.0]), (2, [0.5, 0.0])]);
        let open = |rows: &[u8], docs: &[u8], params| {
            Vectors::open(rows, docs, params).map(drop).unwrap_err().to_string()
        };
        for (found, words) in [
            (open(&rows[..7], &docs, TWO), "at least 16 bytes"),
            (open(&rows, &docs, VectorParams::new(3, Metric::L2)), "3 dimensions"),
            (open(&rows, &docs, TWO.values(VectorValues::Bits)), "encoding 4, found 2, 1"),
            (open(&rows[..rows.len() - 1], &docs, TWO), "32 bytes of 2 rows"),
            (open(&rows, &docs[1..], TWO), "documents of 2 rows"),
        ] {
            assert!(found.contains(words), "{found}");
        }
        let beyond = [&docs[..4], &[3, 0, 0, 0]].concat();
        let vectors = Vectors::open(&rows[..], &beyond[..], TWO).unwrap();
        assert!(vectors.doc(1).unwrap_err().to_string().contains("beyond the segment"));
        assert!(vectors.seek(0, 2).is_err() && vectors.rows(1..3).is_err());
    }
}
