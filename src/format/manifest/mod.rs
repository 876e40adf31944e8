//! Manifest: one commit, with the schema and the segments of the index from now on. Encoded by the commit
//! ([`Manifest::encode`]), decoded by whoever opens the index ([`Manifest::decode`]).
//!
//! # Layout
//!
//! All integers are little-endian. Offsets count from the first byte of the file.
//!
//! ```text
//! offset  size  field         meaning
//!      0    64  header        as of every file (module header), kind 2; its id is the index's
//!     64     8  file_len      u64, length of this file
//!     72     8  generation    u64, the one in the file's name; 0: without documents, as the index was created
//!     80     8  previous      u64, generation it was made from; 0 for the first two
//!     88     6  writer        u16 major, u16 minor, u16 patch of the treepie that wrote it
//!     94     2  zero_1        reserved, zero, ignored
//!     96     3  unicode       u8 major, u8 minor, u8 patch of the Unicode that says what is a letter and its case
//!     99     3  words         the same of the rules for words
//!    102     3  folding       the same of the decompositions that folding uses
//!    105     3  zero_2        reserved, zero, ignored
//!    108     4  analysis      u32, version of what the built-in analyzers do
//!    112     4  stemmers      u32, day of the stemmers' algorithms as in 20261016; 0: none in that build
//!    116     4  n_segments    u32, at most 65,536
//!    120     4  schema_len    u32, bytes
//!    124     4  payload_len   u32, bytes, at most 65,536
//!    128     *  segments      40 bytes each, in the order of their documents
//!      *     *  deletes       16 bytes for each segment that has any, in the same order
//!      *     *  added         with feature bit 1024: u16 for each segment, in the same order
//!      *     *  schema        schema_len bytes
//!      *     *  payload       payload_len bytes, the caller's own
//!      *     4  crc           u32, CRC32C of everything before
//! ```
//!
//! A segment:
//!
//! ```text
//! segment  size  field         meaning
//!       0    16  id            in its header, its footer, its file name
//!      16     8  file_len      u64
//!      24     4  footer_crc    u32, CRC32C of its footer, which stands for its whole content
//!      28     4  n_docs        u32
//!      32     8  deletes       u64, the number in the name of the file of its deletes (the module `deletes`); 0 for none
//! ```
//!
//! The deletes of a segment:
//!
//! ```text
//! deletes  size  field         meaning
//!       0     8  file_len      u64
//!       8     4  footer_crc    u32, CRC32C of its footer, which stands for its whole content
//!      12     4  n_docs        u32, documents that are deleted: at least 1, at most those of the segment
//! ```
//!
//! A manifest with deletes has feature bit 2.
//!
//! Added fields: how many fields at the end of the schema came to it after the segment was made, of which its file
//! has nothing; fewer than there are fields. At least one segment has some.
//!
//! The schema: u16 number of fields (1 to 1,024); for each u8 kind (1 text, 2 keyword; with feature bit 8 also 3 i64,
//! 4 u64, 5 f64, 6 bool, 7 date, 8 decimal, with bit 64 9 ip, with bit 128 10 path, with bit 32768 11 vector, and with bit
//! 65536 12 point), u8 flags (1 stored, 2 many
//! values, 4 has an analyzer, 8 has one for queries, 16 frequencies, 32 positions, never without 16, 64 another gap
//! than 100 between the positions of two values, 128 offsets, never without 32 and feature bit 1), u8 length of its
//! name, its name, for each analyzer u16 length of its spec and its spec, and, if 64 is set, u16 the gap, of a
//! decimal u8 its digits behind the point, of a path u32 the character that separates names, of points u8 the order of arrays (1
//! latitude first, 2 longitude first, 0 none), of vectors u16 their numbers
//! (1 to 8,192) and u8 the metric (1 cosine, 2 dot, 3 l2; 4 more where numbers are f16, 8 i8, 12 bits; 16 more where
//! f32 or f16 have no codes, 32 where these have codes of a bit a number; 128 more where they have no
//! graphs); u16 number of default
//! fields, and u16 the position of each; with feature bit 4, u16 the position of the key; with feature bit 32, u16
//! number of fields that keep a column (the module `column`), at least 1, and u16 the position of each, ascending;
//! with feature bit 512, u16 number of fields with a time zone, at least 1, and of each u16 its position, ascending,
//! u8 length of the zone's name, its name; with feature bit 256, u16 the positions of the fields `_null` and
//! `_empty`; with feature bit 2048, u8 number of fields that the documents of each segment lie in the order of (1 to
//! 4), and of each u16 its position, u8 1 where the greatest value comes first, else 0; with feature bit 8192, u16
//! number of fields that are copies of others, at least 1, and of each u16 its position, ascending, and u16 that of
//! its source; with feature bit 16384, never with 2048, u16 number of text fields by whose terms the documents of
//! large segments are laid near those that are like them, at least 1, and u16 the position of each. A reader need not
//! know where documents of a segment lie.
//!
//! The versions at 96 to 115 are those of the build that made the terms of the first segment; they stay while
//! there is one.
//!
//! # Example
//!
//! Generation 2 of index `0707…07`, made from 1 by version 0.1.0 under Unicode 16.0.0: the segment `0505…05` of 300
//! bytes and 9 documents, the stored text field `t` with positions and the analyzer `words`, which is the
//! default field, and the payload `hi`:
//!
//! ```text
//! 0000  89 54 50 49 0D 0A 1A 0A  02 00 03 00 00 00 00 00
//! 0010  00 00 00 00 00 00 00 00  00 00 00 00 07 07 07 07
//! 0020  07 07 07 07 07 07 07 07  07 07 07 07 00 00 00 00
//! 0030  00 00 00 00 00 00 00 00  00 00 00 00 55 D2 92 6E
//! 0040  BF 00 00 00 00 00 00 00  02 00 00 00 00 00 00 00
//! 0050  01 00 00 00 00 00 00 00  00 00 01 00 00 00 00 00
//! 0060  10 00 00 0F 01 00 0F 00  00 00 00 00 01 00 00 00
//! 0070  98 28 35 01 01 00 00 00  11 00 00 00 02 00 00 00
//! 0080  05 05 05 05 05 05 05 05  05 05 05 05 05 05 05 05
//! 0090  2C 01 00 00 00 00 00 00  78 56 34 12 09 00 00 00
//! 00A0  00 00 00 00 00 00 00 00  01 00 01 35 01 74 05 00
//! 00B0  77 6F 72 64 73 01 00 00  00 68 69 2A 0B 5A 1C
//! ```
//!
//! # Invariants
//!
//! 1. A manifest never changes. The one with the highest generation in its name is the index.
//! 2. Everything it names was durable before it got its name.
//! 3. No segment is named twice.
//!
//! # Checks
//!
//! [`Manifest::decode`] looks at every byte: header, length, CRC, counts against the length before anything is
//! allocated, schema, unique segments. A file of more than 16 MiB is refused unread.
//!
//! # Cost
//!
//! Decoding is linear in the size, 40 bytes a segment: under a microsecond for one segment.
//!
//! # Versions
//!
//! 1.0: the first. 2.0: versions of the tables that make terms, analyzers of fields. 3.0 and feature bit 2: deletes; 4: a key; 8: typed fields;
//! 32: columns; 64: addresses, which are typed, too; 128: paths; 256: the
//! fields `_null` and `_empty` say which fields of a document are so; 512: dates of time zones; 1024: fields added to an index; 2048: segments in the
//! order of fields; 8192: copies of fields; 16384: segments in the order of similarity; 32768: fields of vectors;
//! 65536: fields of points.
//!
//! # Why
//!
//! A new file for each commit, because a file that is never overwritten cannot be half old and half
//! new. Binary, because a schema and a list of segments need no parser that could be fooled, and
//! `treepie inspect` shows it to people.

mod schema;
#[cfg(test)]
mod tests;

use crate::analysis::TermVersions;
use crate::bytes::ByteReader;
use crate::checksum::crc32c;
use crate::error::{Error, ErrorKind, Result};
use crate::format::FileName;
use crate::format::envelope::Seal;
use crate::format::header::{
    ADDED_FIELDS, ADDRESSES, COLUMNS, COPIES, DELETES, FileKind, HEADER_LEN, Header, KEY, NULLS,
    OFFSETS, ORDER, PATHS, POINTS, SIMILARITY, TYPED, VECTORS, ZONES, checksum_differs,
};
use crate::ids::SegmentId;
use crate::schema::{FieldKind, Schema};
use schema::{decode_schema, encode_schema};
use std::collections::HashSet;

const FIXED_LEN: usize = HEADER_LEN + 64;
const SEGMENT_LEN: usize = 40;
const DELETES_LEN: usize = 16;
const CRC_LEN: usize = size_of::<u32>();

/// Bytes of a manifest at the most.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 16 << 20;
/// Segments of an index at the most.
pub(crate) const SEGMENTS_MAX: usize = 65_536;
/// Bytes of the caller's own that a commit may carry at the most.
pub(crate) const PAYLOAD_BYTES_MAX: usize = 65_536;

/// One commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// Id of the index, which all of its commits share.
    pub(crate) index_id: SegmentId,
    pub(crate) generation: u64,
    /// The generation it was made from; 0 for the first, and for that of creating.
    pub(crate) previous: u64,
    /// Version of the treepie that wrote it.
    pub(crate) writer: [u16; 3],
    /// Versions of the analyzers that made the terms.
    pub(crate) term_versions: TermVersions,
    pub(crate) schema: Schema,
    pub(crate) segments: Vec<SegmentMeta>,
    /// The caller's own, such as how far it has read its source.
    pub(crate) payload: Vec<u8>,
    /// Whether this build may make a commit from it; false where a newer one added what it does not know.
    pub(crate) writable: bool,
}

/// Record of a segment in a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentMeta {
    pub(crate) id: SegmentId,
    pub(crate) seal: Seal,
    /// Deleted ones included.
    pub(crate) n_docs: u32,
    pub(crate) deletes: Option<DeletesMeta>,
    /// Fields at the end of the schema that came to it later: its documents have none of them.
    pub(crate) n_added_fields: u16,
}

/// Record of the deletes of a segment in a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeletesMeta {
    /// In the name of the file; random and not 0, so that no name is used twice.
    pub(crate) number: u64,
    pub(crate) seal: Seal,
    /// Documents that are deleted.
    pub(crate) n_docs: u32,
}

impl SegmentMeta {
    /// Documents that are not deleted.
    pub(crate) fn n_live(&self) -> u32 {
        self.n_docs.saturating_sub(self.deletes.map_or(0, |deletes| deletes.n_docs))
    }

    /// The names of its files.
    pub(crate) fn files(&self) -> impl Iterator<Item = FileName> + use<> {
        let segment = self.id;
        let deletes =
            self.deletes.map(|deletes| FileName::Deletes { segment, number: deletes.number });
        std::iter::once(FileName::Segment(segment)).chain(deletes)
    }
}

/// This build's version, as manifests carry it.
pub(crate) fn writer_version() -> [u16; 3] {
    let part = |text: &str| text.parse().unwrap_or(u16::MAX);
    [
        part(env!("CARGO_PKG_VERSION_MAJOR")),
        part(env!("CARGO_PKG_VERSION_MINOR")),
        part(env!("CARGO_PKG_VERSION_PATCH")),
    ]
}

impl Manifest {
    /// The bytes of the file; an error of kind `LimitExceeded` where there are too many.
    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        check_limit("segments of an index", self.segments.len(), SEGMENTS_MAX)?;
        check_limit("bytes of a commit's payload", self.payload.len(), PAYLOAD_BYTES_MAX)?;
        let schema = encode_schema(&self.schema);
        let len = FIXED_LEN
            + self.segments.len() * SEGMENT_LEN
            + self.segments.iter().filter_map(|segment| segment.deletes).count() * DELETES_LEN
            + if self.has_added_fields() { self.segments.len() * size_of::<u16>() } else { 0 }
            + schema.len()
            + self.payload.len()
            + CRC_LEN;
        check_limit("bytes of a manifest", len, MANIFEST_BYTES_MAX as usize)?;

        let mut out = Vec::with_capacity(len);
        out.extend(Header::encode(FileKind::Manifest, self.index_id, self.features()));
        for number in [len as u64, self.generation, self.previous] {
            out.extend(number.to_le_bytes());
        }
        out.extend(self.writer.iter().flat_map(|part| part.to_le_bytes()));
        out.extend([0, 0]);
        let TermVersions { analysis, unicode, words, folding, stemmers } = self.term_versions;
        [unicode, words, folding, [0; 3]].iter().for_each(|version| out.extend(version));
        let [n_segments, schema_len, payload_len] =
            [self.segments.len(), schema.len(), self.payload.len()].map(|len| len as u32);
        for number in [analysis, stemmers, n_segments, schema_len, payload_len] {
            out.extend(number.to_le_bytes());
        }
        for segment in &self.segments {
            out.extend(segment.id.0);
            out.extend(segment.seal.file_len.to_le_bytes());
            out.extend(segment.seal.footer_crc.to_le_bytes());
            out.extend(segment.n_docs.to_le_bytes());
            out.extend(segment.deletes.map_or(0, |deletes| deletes.number).to_le_bytes());
        }
        for deletes in self.segments.iter().filter_map(|segment| segment.deletes) {
            out.extend(deletes.seal.file_len.to_le_bytes());
            out.extend(deletes.seal.footer_crc.to_le_bytes());
            out.extend(deletes.n_docs.to_le_bytes());
        }
        if self.has_added_fields() {
            out.extend(
                self.segments.iter().flat_map(|segment| segment.n_added_fields.to_le_bytes()),
            );
        }
        out.extend(schema);
        out.extend(&self.payload);
        out.extend(crc32c(&out).to_le_bytes());
        Ok(out)
    }

    /// Reads the manifest of this generation.
    pub(crate) fn decode(bytes: &[u8], generation: u64) -> Result<Manifest> {
        let header = Header::decode(bytes, FileKind::Manifest)?;
        let body = check_whole(bytes)?;
        let mut reader = ByteReader::new(body);
        let manifest = decode_fields(&mut reader, header).ok_or_else(|| {
            Error::corrupt("reading a manifest")
                .expected("counts that fit its length")
                .found(format!("{} bytes", bytes.len()))
                .at_offset(reader.position() as u64)
        })??;
        if manifest.generation != generation {
            return Err(Error::corrupt("reading a manifest")
                .expected(format!("generation {generation}"))
                .found(manifest.generation.to_string())
                .hint("a manifest was renamed"));
        }
        Ok(manifest)
    }

    /// Documents in all segments that are not deleted.
    pub(crate) fn n_docs(&self) -> u64 {
        self.segments.iter().map(|segment| u64::from(segment.n_live())).sum()
    }

    fn has_added_fields(&self) -> bool {
        self.segments.iter().any(|segment| segment.n_added_fields > 0)
    }

    /// Features that a reader must know, as bits.
    fn features(&self) -> u32 {
        let offsets = self.schema.fields().iter().any(|field| field.offsets);
        let deletes = self.segments.iter().any(|segment| segment.deletes.is_some());
        let typed = self.schema.fields().iter().any(|field| field.kind.is_typed());
        let columns = self.schema.fields().iter().any(|field| field.column);
        let key = self.schema.key_id().is_some();
        let addresses = self.schema.fields().iter().any(|field| field.kind == FieldKind::Ip);
        let paths = self.schema.fields().iter().any(|it| matches!(it.kind, FieldKind::Path { .. }));
        [
            (offsets, OFFSETS),
            (deletes, DELETES),
            (key, KEY),
            (typed, TYPED),
            (columns, COLUMNS),
            (addresses, ADDRESSES),
            (paths, PATHS),
            (self.schema.keeps_nulls(), NULLS),
            (self.schema.fields().iter().any(|it| it.zone.is_some()), ZONES),
            (self.has_added_fields(), ADDED_FIELDS),
            (!self.schema.order_fields().is_empty(), ORDER),
            (!self.schema.copies().is_empty(), COPIES),
            (!self.schema.similarity_field_ids().is_empty(), SIMILARITY),
            (self.schema.fields().iter().any(|it| it.kind.vector().is_some()), VECTORS),
            (self.schema.fields().iter().any(|it| it.kind.is_point()), POINTS),
        ]
        .into_iter()
        .fold(0, |bits, (is_there, bit)| if is_there { bits | bit } else { bits })
    }
}

fn check_limit(what: &str, found: usize, max: usize) -> Result<()> {
    if found <= max {
        return Ok(());
    }
    Err(Error::new(ErrorKind::LimitExceeded, format!("counting the {what}"))
        .expected(format!("at most {max}"))
        .found(found.to_string()))
}

/// The bytes before the CRC, if length and CRC are right.
fn check_whole(bytes: &[u8]) -> Result<&[u8]> {
    let len = bytes.len() as u64;
    let stated = bytes.get(HEADER_LEN..).and_then(|rest| ByteReader::new(rest).u64());
    if stated != Some(len) {
        let stated =
            stated.map_or("more than its header".into(), |stated| format!("{stated} bytes"));
        return Err(Error::corrupt("reading a manifest")
            .expected(stated)
            .found(format!("{len} bytes"))
            .at_offset(HEADER_LEN as u64));
    }
    let Some((body, crc)) = bytes.split_last_chunk::<CRC_LEN>() else {
        return Err(Error::corrupt("reading a manifest").expected("a checksum").found("nothing"));
    };
    let (expected, found) = (u32::from_le_bytes(*crc), crc32c(body));
    if expected != found {
        return Err(checksum_differs("reading a manifest", expected, found).at_offset(len - 4));
    }
    Ok(body)
}

/// The fields in order; `None` if the bytes end too soon or go on too long.
fn decode_fields(reader: &mut ByteReader<'_>, header: Header) -> Option<Result<Manifest>> {
    reader.take(HEADER_LEN)?;
    let (_len, generation, previous) = (reader.u64()?, reader.u64()?, reader.u64()?);
    let writer = [reader.u16()?, reader.u16()?, reader.u16()?];
    reader.take(2)?;
    let mut unicode_version = || reader.take(3)?.first_chunk().copied();
    let (unicode, words, folding) = (unicode_version()?, unicode_version()?, unicode_version()?);
    reader.take(3)?;
    let (analysis, stemmers) = (reader.u32()?, reader.u32()?);
    let term_versions = TermVersions { analysis, unicode, words, folding, stemmers };
    let n_segments = reader.u32()? as usize;
    let (schema_len, payload_len) = (reader.u32()? as usize, reader.u32()? as usize);
    if n_segments > SEGMENTS_MAX {
        return None;
    }
    // The rest is inside the file, so its length bounds what is allocated.
    let segments = reader.take(n_segments.checked_mul(SEGMENT_LEN)?)?;
    let mut segments: Vec<_> =
        segments.chunks_exact(SEGMENT_LEN).map(decode_segment).collect::<Option<_>>()?;
    for segment in &mut segments {
        if let Some(deletes) = &mut segment.deletes {
            deletes.seal = Seal { file_len: reader.u64()?, footer_crc: reader.u32()? };
            deletes.n_docs = reader.u32()?;
        }
    }
    if header.incompatible & ADDED_FIELDS != 0 {
        for segment in &mut segments {
            segment.n_added_fields = reader.u16()?;
        }
    }
    let schema = reader.take(schema_len)?;
    let payload = reader.take(payload_len)?.to_vec();
    if !reader.remaining().is_empty() {
        return None;
    }
    let mut seen = HashSet::with_capacity(segments.len());
    if let Some(twice) = segments.iter().find(|segment| !seen.insert(segment.id)) {
        return Some(Err(Error::corrupt("reading a manifest")
            .expected("each segment once")
            .found(format!("{} twice", twice.id))));
    }
    let is_sound = |segment: &&SegmentMeta| {
        segment.deletes.is_none_or(|deletes| (1..=segment.n_docs).contains(&deletes.n_docs))
    };
    if let Some(wrong) = segments.iter().find(|segment| !is_sound(segment)) {
        let deleted = wrong.deletes.map_or(0, |deletes| deletes.n_docs);
        return Some(Err(Error::corrupt("reading a manifest")
            .expected(format!("1 to {} deleted documents of segment {}", wrong.n_docs, wrong.id))
            .found(deleted.to_string())));
    }
    let manifest = |schema| Manifest {
        index_id: header.id,
        generation,
        previous,
        writer,
        term_versions,
        schema,
        segments,
        payload,
        writable: header.writable,
    };
    let all_were_added = |manifest: &Manifest| {
        let n_fields = manifest.schema.fields().len();
        manifest.segments.iter().find(|it| usize::from(it.n_added_fields) >= n_fields).copied()
    };
    let some_were_not = |manifest: Manifest| match all_were_added(&manifest) {
        None => Ok(manifest),
        Some(segment) => Err(Error::corrupt("reading a manifest")
            .expected(format!("a field that segment {} was made with", segment.id))
            .found(format!("{} fields that were added", segment.n_added_fields))),
    };
    let same_features = |manifest: Manifest| match manifest.features() == header.incompatible {
        true => Ok(manifest),
        false => Err(Error::corrupt("reading a manifest")
            .expected(format!("what needs the features {:#x}", header.incompatible))
            .found(format!("what needs {:#x}", manifest.features()))),
    };
    let schema = decode_schema(schema, header.incompatible);
    Some(schema.map(manifest).and_then(same_features).and_then(some_were_not))
}

fn decode_segment(bytes: &[u8]) -> Option<SegmentMeta> {
    let mut reader = ByteReader::new(bytes);
    let id = SegmentId(*reader.take(16)?.first_chunk()?);
    let seal = Seal { file_len: reader.u64()?, footer_crc: reader.u32()? };
    let (n_docs, number) = (reader.u32()?, reader.u64()?);
    // The rest of what is known of the deletes stands behind all segments.
    let unknown = Seal { file_len: 0, footer_crc: 0 };
    let deletes = (number != 0).then_some(DeletesMeta { number, seal: unknown, n_docs: 0 });
    Some(SegmentMeta { id, seal, n_docs, deletes, n_added_fields: 0 })
}
