//! A manifest: one commit, that is the schema and the segments that make up the index from now on.
//! Encoded by the commit ([`Manifest::encode`]), decoded by whoever opens the index ([`Manifest::decode`]).
//!
//! # Layout
//!
//! All integers are little-endian. Offsets count from the first byte of the file.
//!
//! ```text
//! offset  size  field         meaning
//!      0    64  header        as of every file (module header), kind 2; its id is the index's
//!     64     8  file_len      u64, length of this file
//!     72     8  generation    u64, from 1; the one in the file's name
//!     80     8  previous      u64, generation it was made from; 0 for the first
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
//! What is added: how many fields at the end of the schema came to it after the segment was made, of which its file has nothing; fewer
//! than there are fields. At least one segment has some.
//!
//! The schema: u16 number of fields (1 to 1,024); for each u8 kind (1 text, 2 keyword; with feature
//! bit 8 also 3 i64, 4 u64, 5 f64, 6 bool, 7 date, 8 decimal, with bit 64
//! 9 ip, and with bit 128 10 path), u8 flags (1 stored,
//! 2 many values, 4 has an analyzer, 8 has one for queries, 16 frequencies, 32 positions, never without 16, 64 another
//! gap than 100 between the positions of two values, 128 offsets, never without 32 and feature bit 1), u8 length of its name, its name, for each analyzer u16 length of
//! its spec and its spec, and, if 64 is set, u16 the gap, of a decimal u8 its digits behind the point,
//! of a path u32 the character that separates names; u16 number of default fields, and u16 the position of
//! each; with feature bit 4, u16 the position of the key; with feature bit 32, u16 number of fields that keep a column (the
//! module `column`), at least 1, and u16 the position of each, ascending; with feature bit 512, u16 number of fields with a time
//! zone, at least 1, and of each u16 its position, ascending, u8 length of the zone's name, its name; with feature
//! bit 256, u16 the positions of the fields `_null` and `_empty`; with feature bit 2048, u8 number of fields that the documents of each
//! segment lie in the order of (1 to 4), and of each u16 its position, u8 1 where the greatest value comes first, else 0.
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
//! order of fields.
//!
//! # Why
//!
//! A new file for each commit, because a file that is never overwritten cannot be half old and half
//! new. Binary, because a schema and a list of segments need no parser that could be fooled, and
//! `treepie inspect` shows it to people.

use crate::analysis::TermVersions;
use crate::bytes::ByteReader;
use crate::checksum::crc32c;
use crate::error::{Error, ErrorKind, Result};
use crate::format::FileName;
use crate::format::envelope::Seal;
use crate::format::header::{
    ADDED_FIELDS, ADDRESSES, COLUMNS, DELETES, FileKind, HEADER_LEN, Header, KEY, NULLS, OFFSETS,
    ORDER, PATHS, TYPED, ZONES, checksum_differs,
};
use crate::ids::{FieldId, SegmentId};
use crate::schema::{
    Detail, EMPTY_FIELD, FIELDS_MAX, Field, FieldKind, NULL_FIELD, OrderField,
    PATH_SEPARATOR_DEFAULT, POSITION_GAP_DEFAULT, Schema, SchemaBuilder,
};
use std::collections::HashSet;

const FIXED_LEN: usize = HEADER_LEN + 64;
const SEGMENT_LEN: usize = 40;
const DELETES_LEN: usize = 16;
const CRC_LEN: usize = size_of::<u32>();
const STORED: u8 = 1;
const MANY: u8 = 2;
const ANALYZER: u8 = 4;
const QUERY_ANALYZER: u8 = 8;
const FREQUENCIES: u8 = 16;
const POSITIONS: u8 = 32;
const POSITION_GAP: u8 = 64;
const KEEPS_OFFSETS: u8 = 128;
/// The kind of a field whose scale follows.
const DECIMAL: u8 = 8;
/// The kind of a field whose separator follows.
const PATH: u8 = 10;

/// Bytes of a manifest at the most.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 16 << 20;
/// Segments of an index at the most.
pub(crate) const SEGMENTS_MAX: usize = 65_536;
/// Bytes of the caller's own that a commit may carry at the most.
pub(crate) const PAYLOAD_BYTES_MAX: usize = 65_536;

/// One commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// The same in all commits of an index.
    pub(crate) index_id: SegmentId,
    pub(crate) generation: u64,
    /// The generation it was made from; 0 for the first.
    pub(crate) previous: u64,
    /// Version of the treepie that wrote it.
    pub(crate) writer: [u16; 3],
    /// What made the terms.
    pub(crate) term_versions: TermVersions,
    pub(crate) schema: Schema,
    pub(crate) segments: Vec<SegmentMeta>,
    /// The caller's own, such as how far it has read its source.
    pub(crate) payload: Vec<u8>,
    /// Whether this build may make a commit from it; false where a newer one added what it does not know.
    pub(crate) writable: bool,
}

/// What a commit says of a segment.
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

/// What a commit says of the deletes of a segment.
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

    /// What must be known to read it, as feature bits.
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

/// The fields in order; `None` where the bytes end too soon or go on too long.
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
    // What follows lies inside the file, so its length bounds what is allocated.
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

fn encode_schema(schema: &Schema) -> Vec<u8> {
    let mut out = vec![];
    // The builder of schemas refuses more fields and longer names than these widths hold.
    out.extend((schema.fields().len() as u16).to_le_bytes());
    for field in schema.fields() {
        out.push(match field.kind {
            FieldKind::Text => 1,
            FieldKind::Keyword => 2,
            FieldKind::I64 => 3,
            FieldKind::U64 => 4,
            FieldKind::F64 => 5,
            FieldKind::Bool => 6,
            FieldKind::Date => 7,
            FieldKind::Decimal { .. } => DECIMAL,
            FieldKind::Ip => 9,
            FieldKind::Path { .. } => PATH,
        });
        let flags = [
            (field.stored, STORED),
            (field.many, MANY),
            (field.analyzer.is_some(), ANALYZER),
            (field.query_analyzer.is_some(), QUERY_ANALYZER),
            (field.detail.has_frequencies(), FREQUENCIES),
            (field.detail.has_positions(), POSITIONS),
            (field.position_gap != POSITION_GAP_DEFAULT, POSITION_GAP),
            (field.offsets, KEEPS_OFFSETS),
        ];
        out.push(flags.iter().map(|(set, flag)| u8::from(*set) * flag).sum());
        out.push(field.name.len() as u8);
        out.extend(field.name.as_bytes());
        for spec in [&field.analyzer, &field.query_analyzer].into_iter().flatten() {
            out.extend((spec.len() as u16).to_le_bytes());
            out.extend(spec.as_bytes());
        }
        if field.position_gap != POSITION_GAP_DEFAULT {
            out.extend(field.position_gap.to_le_bytes());
        }
        if let FieldKind::Decimal { scale } = field.kind {
            out.push(scale);
        }
        if let FieldKind::Path { separator } = field.kind {
            out.extend(u32::from(separator).to_le_bytes());
        }
    }
    let default_fields = schema.default_field_ids();
    out.extend((default_fields.len() as u16).to_le_bytes());
    out.extend(default_fields.iter().flat_map(|FieldId(at)| at.to_le_bytes()));
    if let Some(FieldId(key)) = schema.key_id() {
        out.extend(key.to_le_bytes());
    }
    let columns: Vec<FieldId> =
        schema.field_ids().filter(|field| schema.get(*field).column).collect();
    if !columns.is_empty() {
        out.extend((columns.len() as u16).to_le_bytes());
        out.extend(columns.iter().flat_map(|FieldId(at)| at.to_le_bytes()));
    }
    let zones = schema.field_ids().filter_map(|id| Some((id, schema.get(id).zone.as_ref()?)));
    let zones: Vec<_> = zones.collect();
    if !zones.is_empty() {
        out.extend((zones.len() as u16).to_le_bytes());
        for (FieldId(at), zone) in zones {
            out.extend(at.to_le_bytes());
            out.push(zone.len() as u8);
            out.extend(zone.as_bytes());
        }
    }
    if schema.keeps_nulls() {
        let positions = [NULL_FIELD, EMPTY_FIELD].map(|name| schema.field_id(name));
        out.extend(positions.into_iter().flatten().flat_map(|FieldId(at)| at.to_le_bytes()));
    }
    let order = schema.order_fields();
    if !order.is_empty() {
        out.push(order.len() as u8);
        for OrderField { field: FieldId(at), descending } in order {
            out.extend(at.to_le_bytes());
            out.push((*descending).into());
        }
    }
    out
}

fn decode_schema(bytes: &[u8], features: u32) -> Result<Schema> {
    let mut reader = ByteReader::new(bytes);
    let builder = decode_schema_parts(&mut reader, features);
    let Some(builder) = builder.filter(|_| reader.remaining().is_empty()) else {
        return Err(Error::corrupt("reading the schema of an index")
            .expected(
                "fields, default fields, a key, columns and an order, as far as there are any",
            )
            .found(format!("something else in byte {} of {}", reader.position(), bytes.len())));
    };
    builder.build().map_err(|error| {
        Error::corrupt("reading the schema of an index")
            .expected("a schema without contradictions")
            .found(error.to_string())
    })
}

/// What the bytes say, to be checked.
fn decode_schema_parts(reader: &mut ByteReader<'_>, features: u32) -> Option<SchemaBuilder> {
    let n_fields = usize::from(reader.u16()?);
    if n_fields > FIELDS_MAX {
        return None;
    }
    let mut fields = Vec::with_capacity(n_fields);
    for _ in 0..n_fields {
        let kind = match reader.u8()? {
            1 => FieldKind::Text,
            2 => FieldKind::Keyword,
            3 => FieldKind::I64,
            4 => FieldKind::U64,
            5 => FieldKind::F64,
            6 => FieldKind::Bool,
            7 => FieldKind::Date,
            DECIMAL => FieldKind::Decimal { scale: 0 },
            9 => FieldKind::Ip,
            PATH => FieldKind::Path { separator: PATH_SEPARATOR_DEFAULT },
            _ => return None,
        };
        let flags = reader.u8()?;
        let detail = match flags & (FREQUENCIES | POSITIONS) {
            0 => Detail::Documents,
            FREQUENCIES => Detail::Frequencies,
            both if both == FREQUENCIES | POSITIONS => Detail::Positions,
            _ => return None,
        };
        let name_len = usize::from(reader.u8()?);
        let name = str::from_utf8(reader.take(name_len)?).ok()?;
        let field = Field::new(name, kind).detail(detail).column(false);
        let mut field = field
            .stored(flags & STORED != 0)
            .many(flags & MANY != 0)
            .offsets(flags & KEEPS_OFFSETS != 0);
        for (flag, spec) in
            [(ANALYZER, &mut field.analyzer), (QUERY_ANALYZER, &mut field.query_analyzer)]
        {
            if flags & flag != 0 {
                let len = usize::from(reader.u16()?);
                *spec = Some(str::from_utf8(reader.take(len)?).ok()?.to_owned());
            }
        }
        if flags & POSITION_GAP != 0 {
            field.position_gap = reader.u16()?;
        }
        if let FieldKind::Decimal { scale } = &mut field.kind {
            *scale = reader.u8()?;
        }
        if let FieldKind::Path { separator } = &mut field.kind {
            *separator = char::from_u32(reader.u32()?)?;
        }
        fields.push(field);
    }
    let n_default = usize::from(reader.u16()?);
    if n_default > n_fields {
        return None;
    }
    let default_fields = (0..n_default)
        .map(|_| Some(fields.get(usize::from(reader.u16()?))?.name.clone()))
        .collect::<Option<Vec<_>>>()?;
    let key = match features & KEY {
        0 => None,
        _ => Some(fields.get(usize::from(reader.u16()?))?.name.clone()),
    };
    if features & COLUMNS != 0 {
        let mut next = 0;
        for _ in 0..reader.u16()? {
            let at = usize::from(reader.u16()?);
            fields.get_mut(at).filter(|_| at >= next)?.column = true;
            next = at + 1;
        }
    }
    if features & ZONES != 0 {
        let mut next = 0;
        for _ in 0..reader.u16()? {
            let at = usize::from(reader.u16()?);
            let len = usize::from(reader.u8()?);
            let zone = str::from_utf8(reader.take(len)?).ok()?.to_owned();
            fields.get_mut(at).filter(|_| at >= next)?.zone = Some(zone);
            next = at + 1;
        }
    }
    if features & NULLS != 0 {
        for name in [NULL_FIELD, EMPTY_FIELD] {
            fields.get(usize::from(reader.u16()?)).filter(|field| field.name == name)?;
        }
    }
    let mut order = vec![];
    if features & ORDER != 0 {
        let n_order = reader.u8().filter(|n| *n > 0)?;
        for _ in 0..n_order {
            let name = &fields.get(usize::from(reader.u16()?))?.name;
            order.push(match reader.u8()? {
                0 => name.clone(),
                1 => format!("-{name}"),
                _ => return None,
            });
        }
    }
    let builder = fields.into_iter().fold(Schema::builder(), SchemaBuilder::field);
    let builder = builder.default_fields(default_fields).order_by(order);
    let builder = key.into_iter().fold(builder, SchemaBuilder::key);
    Some(if features & NULLS != 0 { builder.nulls() } else { builder })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;
    use crate::test_sizes::{each_unless_miri, unless_miri};
    use std::ops::Range;

    fn example() -> Manifest {
        Manifest {
            index_id: SegmentId([7; 16]),
            generation: 2,
            previous: 1,
            writer: [0, 1, 0],
            term_versions: TermVersions {
                analysis: 1,
                unicode: [16, 0, 0],
                words: [15, 1, 0],
                folding: [15, 0, 0],
                stemmers: 20_261_016,
            },
            schema: Schema::builder()
                .field(Field::new("t", FieldKind::Text).analyzer("words"))
                .build()
                .unwrap(),
            segments: vec![SegmentMeta {
                id: SegmentId([5; 16]),
                seal: Seal { file_len: 300, footer_crc: 0x1234_5678 },
                n_docs: 9,
                deletes: None,
                n_added_fields: 0,
            }],
            payload: b"hi".to_vec(),
            writable: true,
        }
    }

    /// Puts a right checksum on changed bytes, as somebody who means harm would.
    fn with_right_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
        let at = bytes.len() - CRC_LEN;
        let crc = crc32c(&bytes[..at]);
        bytes[at..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    #[test]
    fn the_example_in_the_docs_is_what_we_write() {
        let bytes = example().encode().unwrap();
        let documented = doc_check::hex_dump(include_str!("manifest.rs"));
        assert_eq!(documented, bytes, "\n{}", doc_check::render(&bytes));
    }

    #[test]
    fn the_layout_table_in_the_docs_matches_what_is_written() {
        let fields = doc_check::layout(include_str!("manifest.rs"));
        let bytes = example().encode().unwrap();
        let u64_at =
            |field: &str| u64::from_le_bytes(*bytes[fields[field]..].first_chunk().unwrap());
        let u32_at =
            |field: &str| u32::from_le_bytes(*bytes[fields[field]..].first_chunk().unwrap());
        assert_eq!(u64_at("file_len"), bytes.len() as u64);
        assert_eq!((u64_at("generation"), u64_at("previous")), (2, 1));
        assert_eq!(bytes[fields["writer"] + 2], 1);
        assert_eq!(bytes[fields["unicode"]], 16);
        assert_eq!((bytes[fields["words"]], bytes[fields["folding"]]), (15, 15));
        assert_eq!((u32_at("analysis"), u32_at("stemmers")), (1, 20_261_016));
        assert_eq!(u32_at("n_segments"), 1);
        assert_eq!((u32_at("schema_len"), u32_at("payload_len")), (17, 2));
        assert_eq!(fields["segments"], FIXED_LEN);
    }

    #[test]
    fn manifests_round_trip() {
        let schema = Schema::builder().text("title").keyword("größe").default_fields(["größe"]);
        let only = Schema::builder().keyword("only").build().unwrap();
        let schemas = [Schema::wikipedia_titles(), schema.build().unwrap(), only, {
            let body = Field::new("body", FieldKind::Text).analyzer("words|lower");
            let both = body.clone().query_analyzer("größe").detail(Detail::Frequencies);
            let query = Field::new("q", FieldKind::Text).query_analyzer("english");
            let query = query.detail(Detail::Documents);
            let near = Field::new("near", FieldKind::Text).many(true).position_gap(0);
            let far = near.clone().analyzer("words").position_gap(u16::MAX);
            let far = Field { name: "far".into(), ..far };
            let near = near.offsets(true);
            let fields = [Field { name: "both".into(), ..both }, query, body, near, far];
            fields.into_iter().fold(Schema::builder(), |b, f| b.field(f)).build().unwrap()
        }];
        let keyed = Schema::builder().text("t").key("größe").build().unwrap();
        let brand = Field::new("brand", FieldKind::Keyword).column(true);
        let price = Field::new("price", FieldKind::Decimal { scale: 2 });
        let ordered = Schema::builder().text("t").field(brand).field(price);
        let ordered = ordered.order_by(["-price", "brand"]).build().unwrap();
        let schemas = schemas.into_iter().chain([keyed, ordered]);
        for schema in schemas {
            let deletes = DeletesMeta {
                number: 3,
                n_docs: 4,
                seal: Seal { file_len: 1 << 40, footer_crc: 0x8765_4321 },
            };
            let segment = |n: u8| SegmentMeta {
                id: SegmentId([n; 16]),
                deletes: n.is_multiple_of(3).then_some(deletes),
                n_added_fields: if n % 5 == 1 { schema.fields().len() as u16 - 1 } else { 0 },
                ..example().segments[0]
            };
            let n = unless_miri(100, 10);
            let segments = (0..n).map(segment).collect();
            let payload = vec![9; unless_miri(65_536, 300)];
            let manifest = Manifest { schema, segments, payload, ..example() };
            assert_eq!(Manifest::decode(&manifest.encode().unwrap(), 2).unwrap(), manifest);
            assert_eq!(manifest.n_docs(), u64::from(n) * 9 - u64::from(n.div_ceil(3)) * 4);
        }
    }

    #[test]
    fn a_segment_that_was_made_without_any_field_is_refused() {
        let mut manifest = example();
        manifest.schema = Schema::builder().text("a").text("b").build().unwrap();
        manifest.segments[0].n_added_fields = 1;
        assert_eq!(Manifest::decode(&manifest.encode().unwrap(), 2).unwrap(), manifest);
        for n in [2, 3, u16::MAX] {
            manifest.segments[0].n_added_fields = n;
            let error = Manifest::decode(&manifest.encode().unwrap(), 2).unwrap_err();
            assert!(error.to_string().contains(&format!("{n} fields that were added")), "{error}");
        }
        // The bit without any.
        manifest.segments[0].n_added_fields = 1;
        let mut bytes = manifest.encode().unwrap();
        let at = FIXED_LEN + SEGMENT_LEN;
        bytes[at..at + 2].fill(0);
        assert!(Manifest::decode(&with_right_checksum(bytes), 2).is_err());
    }

    #[test]
    fn every_flipped_bit_every_cut_and_every_extension_is_refused() {
        let bytes = example().encode().unwrap();
        for bit in each_unless_miri(0..bytes.len() * 8, 61) {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let error = Manifest::decode(&bad, 2).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "bit {bit}");
            assert!(error.offset().is_none_or(|at| at < bytes.len() as u64), "{error}");
        }
        for len in each_unless_miri(0..bytes.len(), 11) {
            assert!(Manifest::decode(&bytes[..len], 2).is_err(), "cut to {len}");
        }
        let longer = [&bytes[..], &[0; 4]].concat();
        assert!(Manifest::decode(&longer, 2).is_err());
        assert!(Manifest::decode(&with_right_checksum(longer), 2).is_err());
    }

    #[test]
    fn schemas_of_more_than_they_count_or_may_are_refused() {
        let refused = |bytes: &[u8], features| {
            let error = decode_schema(bytes, features).unwrap_err().to_string();
            assert!(error.contains("something else in byte"), "{error}");
        };
        let keyed = encode_schema(&Schema::builder().text("t").key("k").build().unwrap());
        let plain = encode_schema(&Schema::builder().keyword("t").build().unwrap());
        decode_schema(&keyed, KEY).unwrap();
        decode_schema(&plain, 0).unwrap();
        refused(&[&keyed[..], &[0]].concat(), KEY);
        refused(&[&keyed[..], &[0; 2]].concat(), KEY);
        refused(&[&plain[..], &[0; 3]].concat(), 0);
        // The same field with a column twice, one that there is not, and fewer than are told of.
        let number = Field::new("n", FieldKind::I64).column(true);
        let columns = encode_schema(&Schema::builder().field(number).build().unwrap());
        decode_schema(&columns, COLUMNS).unwrap();
        let others: [&[u8]; 3] = [&[2, 0, 0, 0, 0, 0], &[1, 0, 1, 0], &[2, 0, 0, 0]];
        for other in others {
            refused(&[&columns[..columns.len() - 4], other].concat(), COLUMNS);
        }
        // Another direction than there is, a field that there is not, the same twice, fewer than are told of, and none.
        let price = Field::new("price", FieldKind::I64);
        let ordered = Schema::builder().text("t").field(price).order_by(["-price"]);
        let ordered = encode_schema(&ordered.build().unwrap());
        decode_schema(&ordered, COLUMNS | ORDER).unwrap();
        let others: [&[u8]; 5] = [&[1, 1, 0, 2], &[1, 2, 0, 0], &[2, 1, 0, 0], &[1, 1, 0], &[0]];
        for other in others {
            refused(&[&ordered[..ordered.len() - 4], other].concat(), COLUMNS | ORDER);
        }
        let contradictions: [&[u8]; 2] = [&[1, 0, 0, 0], &[2, 1, 0, 0, 1, 0, 1]];
        for other in contradictions {
            let bytes = [&ordered[..ordered.len() - 4], other].concat();
            let error = decode_schema(&bytes, COLUMNS | ORDER).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        }
        // One field, named twice among the defaults; one field too many.
        let field = &plain[2..][..4];
        refused(&[&[1, 0], field, &[2, 0], &[0; 4]].concat(), 0);
        let n_fields = FIELDS_MAX + 1;
        let fields = field.repeat(n_fields);
        refused(&[&(n_fields as u16).to_le_bytes()[..], &fields, &[0; 2]].concat(), 0);
    }

    #[test]
    fn a_manifest_says_which_version_wrote_it() {
        assert_eq!(
            writer_version().map(|part| part.to_string()).join("."),
            env!("CARGO_PKG_VERSION")
        );
    }

    #[test]
    fn a_renamed_manifest_is_refused() {
        let error = Manifest::decode(&example().encode().unwrap(), 3).unwrap_err().to_string();
        assert!(error.contains("generation 3") && error.contains("found 2"), "{error}");
    }

    #[test]
    fn crafted_counts_never_panic_nor_allocate_beyond_the_file() {
        let bytes = example().encode().unwrap();
        for at in each_unless_miri(HEADER_LEN..bytes.len() - CRC_LEN, 13) {
            for value in each_unless_miri([0, 1, 2, 3, 0x7F, 0x80, 0xFF], 5) {
                let mut bad = bytes.clone();
                bad[at] = value;
                if let Ok(manifest) = Manifest::decode(&with_right_checksum(bad), 2) {
                    assert_eq!(manifest.segments.len(), 1);
                    assert_eq!(manifest.schema.fields().len(), 1);
                }
            }
        }
        let twice = Manifest { segments: vec![example().segments[0]; 2], ..example() };
        assert!(Manifest::decode(&twice.encode().unwrap(), 2).is_err());
    }

    /// The example with `bytes` in the place of a range, and with the length that makes.
    fn spliced(range: Range<usize>, bytes: &[u8]) -> Vec<u8> {
        let mut all = example().encode().unwrap();
        all.splice(range, bytes.iter().copied());
        let len = all.len() as u64;
        all[HEADER_LEN..HEADER_LEN + 8].copy_from_slice(&len.to_le_bytes());
        with_right_checksum(all)
    }

    #[test]
    fn what_no_writer_writes_is_refused_though_the_checksum_is_right() {
        let sound = example().encode().unwrap();
        let end = sound.len() - CRC_LEN;
        assert_eq!(Manifest::decode(&spliced(end..end, &[]), 2).unwrap(), example());
        assert!(Manifest::decode(&spliced(end..end, &[0; 4]), 2).is_err(), "bytes behind the last");
        for len in [sound.len() as u64 - 1, sound.len() as u64 + 1] {
            let mut bytes = sound.clone();
            bytes[HEADER_LEN..HEADER_LEN + 8].copy_from_slice(&len.to_le_bytes());
            assert!(Manifest::decode(&with_right_checksum(bytes), 2).is_err(), "a length of {len}");
        }

        // Positions without frequencies: the flags lie behind the number of fields and the kind.
        let flags = FIXED_LEN + SEGMENT_LEN + 3;
        let positions = [sound[flags] & !FREQUENCIES | POSITIONS];
        assert!(Manifest::decode(&spliced(flags..flags + 1, &positions), 2).is_err());
    }

    #[test]
    #[cfg_attr(miri, ignore = "65,536 segments are allowed")]
    fn more_segments_than_are_allowed_are_refused_though_the_checksum_is_right() {
        let sound = example().encode().unwrap();
        let fields = doc_check::layout(include_str!("manifest.rs"));
        let with_segments = |n: usize| {
            let entry = &sound[FIXED_LEN..][..SEGMENT_LEN];
            let entries = (0..n as u128).flat_map(|id| {
                let mut entry = entry.to_vec();
                entry[..16].copy_from_slice(&id.to_le_bytes());
                entry
            });
            let mut bytes =
                spliced(FIXED_LEN..FIXED_LEN + SEGMENT_LEN, &entries.collect::<Vec<_>>());
            bytes[fields["n_segments"]..][..4].copy_from_slice(&(n as u32).to_le_bytes());
            Manifest::decode(&with_right_checksum(bytes), 2)
        };
        assert_eq!(with_segments(SEGMENTS_MAX).unwrap().segments.len(), SEGMENTS_MAX);
        assert!(with_segments(SEGMENTS_MAX + 1).is_err(), "more segments than are allowed");
    }

    /// A build that did not know one of them would give wrong answers.
    #[test]
    fn what_a_reader_must_know_is_in_the_header_and_nothing_else() {
        let body = Field::new("body", FieldKind::Text).offsets(true);
        let offsets = Schema::builder().field(body).build().unwrap();
        let keyed = Schema::builder().text("t").key("id").build().unwrap();
        let kinds = [
            FieldKind::I64,
            FieldKind::U64,
            FieldKind::F64,
            FieldKind::Bool,
            FieldKind::Date,
            FieldKind::Decimal { scale: 18 },
        ];
        let with_columns = |columns: bool| {
            let fields = kinds.iter().map(|kind| Field::new(kind.name(), *kind).column(columns));
            fields.fold(Schema::builder(), |builder, field| builder.field(field)).build().unwrap()
        };
        let (typed, columns) = (with_columns(false), with_columns(true));
        let ip = Field::new("ip", FieldKind::Ip).column(false);
        let ip = Schema::builder().field(ip).build().unwrap();
        let zones = Field::new("d", FieldKind::Date).column(false).zone("Europe/Berlin");
        let zones = Schema::builder().keyword("k").field(zones).build().unwrap();
        let nulls = Schema::builder().keyword("k").nulls().build().unwrap();
        let path = Field::new("path", FieldKind::Path { separator: '›' });
        let path = Schema::builder().field(path).build().unwrap();
        let deletes = DeletesMeta { number: 3, n_docs: 4, seal: example().segments[0].seal };
        let segment = SegmentMeta { deletes: Some(deletes), ..example().segments[0] };
        let ordered = Schema::builder().field(Field::new("n", FieldKind::I64)).order_by(["n"]);
        let ordered = ordered.build().unwrap();
        let wider = Schema::builder().text("t").text("u").build().unwrap();
        let narrow = SegmentMeta { n_added_fields: 1, ..example().segments[0] };
        let cases = [
            (example(), 0),
            (Manifest { schema: offsets, ..example() }, OFFSETS),
            (Manifest { segments: vec![segment], ..example() }, DELETES),
            (Manifest { schema: keyed, ..example() }, KEY),
            (Manifest { schema: columns, ..example() }, TYPED | COLUMNS),
            (Manifest { schema: typed, ..example() }, TYPED),
            (Manifest { schema: ip, ..example() }, TYPED | ADDRESSES),
            (Manifest { schema: path, ..example() }, PATHS),
            (Manifest { schema: nulls, ..example() }, NULLS),
            (Manifest { schema: zones, ..example() }, TYPED | ZONES),
            (Manifest { schema: wider, segments: vec![narrow], ..example() }, ADDED_FIELDS),
            (Manifest { schema: ordered, ..example() }, TYPED | COLUMNS | ORDER),
        ];
        for (manifest, needed) in cases {
            let bytes = manifest.encode().unwrap();
            let stated =
                |bytes: &[u8]| Header::decode(bytes, FileKind::Manifest).unwrap().incompatible;
            assert_eq!(stated(&bytes), needed);
            assert_eq!(Manifest::decode(&bytes, manifest.generation).unwrap(), manifest);
            let bits = [OFFSETS, DELETES, KEY, TYPED, COLUMNS, ADDRESSES, PATHS, NULLS, ZONES];
            for others in bits.into_iter().chain([ADDED_FIELDS, ORDER]) {
                let mut other = bytes.clone();
                let header = Header::encode(FileKind::Manifest, manifest.index_id, needed ^ others);
                other[..HEADER_LEN].copy_from_slice(&header);
                assert_eq!(stated(&other), needed ^ others);
                let error = Manifest::decode(&with_right_checksum(other), 2).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{needed} and {others}");
            }
        }
    }

    #[test]
    fn as_many_documents_are_deleted_as_a_segment_has_and_at_least_one() {
        let with = |n_docs: u32| {
            let deletes = DeletesMeta { number: 3, n_docs, seal: example().segments[0].seal };
            let segment = SegmentMeta { deletes: Some(deletes), ..example().segments[0] };
            let manifest = Manifest { segments: vec![segment], ..example() };
            Manifest::decode(&manifest.encode().unwrap(), 2).map(|manifest| manifest.n_docs())
        };
        assert_eq!((with(1).unwrap(), with(9).unwrap()), (8, 0));
        assert!([0, 10, u32::MAX].into_iter().all(|n_docs| with(n_docs).is_err()));
    }

    #[test]
    fn a_schema_may_have_as_many_fields_as_are_allowed() {
        let fields = (0..unless_miri(FIELDS_MAX, 20))
            .map(|n| Field::new(format!("f{n}"), FieldKind::Keyword));
        let schema = fields.fold(Schema::builder(), |builder, field| builder.field(field));
        let manifest = Manifest { schema: schema.build().unwrap(), ..example() };
        assert_eq!(Manifest::decode(&manifest.encode().unwrap(), 2).unwrap(), manifest);
    }

    #[test]
    fn limits_are_told_before_anything_is_written() {
        let manifest = Manifest { payload: vec![0; PAYLOAD_BYTES_MAX + 1], ..example() };
        assert_eq!(manifest.encode().unwrap_err().kind(), ErrorKind::LimitExceeded);
        let segments = vec![example().segments[0]; SEGMENTS_MAX + 1];
        let manifest = Manifest { segments, ..example() };
        assert_eq!(manifest.encode().unwrap_err().kind(), ErrorKind::LimitExceeded);
    }
}
