//! First 64 bytes of every file: its kind, its writer's version, and required features. Written by [`Header::encode`],
//! read by [`Header::decode`].
//!
//! # Layout
//!
//! All integers are little-endian. Offsets count from the first byte of the file.
//!
//! ```text
//! offset  size  field         meaning
//!      0     8  magic         89 54 50 49 0D 0A 1A 0A, so that a text-mode copy is noticed
//!      8     2  kind          u16: 1 segment, 2 manifest, 3 image, 4 deletes of a segment
//!     10     2  major         u16, FORMAT_VERSION of the writer
//!     12     2  minor         u16
//!     14     2  zero_1        reserved, zero, ignored
//!     16     4  compatible    u32, feature bits: unknown ones are ignored
//!     20     4  read_only     u32, feature bits: unknown ones forbid writing
//!     24     4  incompatible  u32, feature bits: unknown ones forbid reading
//!     28    16  id            the random id: of the segment, also in its deletes, or of the index in manifests and images
//!     44    16  zero_2        reserved, zero, ignored
//!     60     4  header_crc    u32, CRC32C of the 60 bytes before
//! ```
//!
//! # Example
//!
//! The header of segment `0102…10`:
//!
//! ```text
//! 0000  89 54 50 49 0D 0A 1A 0A  01 00 03 00 00 00 00 00
//! 0010  00 00 00 00 00 00 00 00  00 00 00 00 01 02 03 04
//! 0020  05 06 07 08 09 0A 0B 0C  0D 0E 0F 10 00 00 00 00
//! 0030  00 00 00 00 00 00 00 00  00 00 00 00 2D 3E B2 74
//! ```
//!
//! # Checks
//!
//! [`Header::decode`] refuses, in this order: other magic bytes, a checksum that differs, another major
//! version, an unknown incompatible feature, another kind of file.
//!
//! # Versions
//!
//! 1.0: the first. These 64 bytes stay as they are in every later version, so that every build can
//! tell a newer file from a damaged one.

use crate::bytes::{array_at, put_at};
use crate::checksum::crc32c;
use crate::error::{Error, ErrorKind, Result};
use crate::format::FORMAT_VERSION;
use crate::ids::SegmentId;

const MAGIC: [u8; 8] = [0x89, b'T', b'P', b'I', 0x0D, 0x0A, 0x1A, 0x0A];
const KIND_AT: usize = MAGIC.len();
const MAJOR_AT: usize = KIND_AT + size_of::<u16>();
const MINOR_AT: usize = MAJOR_AT + size_of::<u16>();
const COMPATIBLE_AT: usize = MINOR_AT + 2 * size_of::<u16>();
const READ_ONLY_AT: usize = COMPATIBLE_AT + size_of::<u32>();
const INCOMPATIBLE_AT: usize = READ_ONLY_AT + size_of::<u32>();
/// Offset of the id.
pub(super) const ID_AT: usize = INCOMPATIBLE_AT + size_of::<u32>();
const CRC_AT: usize = ID_AT + size_of::<SegmentId>() + 16;
/// Length of the header of every file.
pub(crate) const HEADER_LEN: usize = CRC_AT + size_of::<u32>();
const _: () = assert!(HEADER_LEN == 64, "the header's size is part of the format");

/// The incompatible feature bit of segments whose ranked lists say from which code on codes tell parts apart.
pub(crate) const TOLD_FROM: u32 = 1;
/// That of segments whose ranked lists are packed tighter, see `format::ranked`.
pub(crate) const TIGHT: u32 = 2;
/// The incompatible feature bit of manifests with a field that keeps offsets.
pub(super) const OFFSETS: u32 = 1;
/// That of manifests with a segment some of whose documents are deleted.
pub(super) const DELETES: u32 = 2;
/// That of manifests of a schema with a key.
pub(super) const KEY: u32 = 4;
/// That of manifests of a schema with a typed field.
pub(super) const TYPED: u32 = 8;
/// That of manifests of a schema with a field that keeps a column; 16 was that of columns of another form.
pub(super) const COLUMNS: u32 = 32;
/// That of manifests of a schema with a field of addresses.
pub(super) const ADDRESSES: u32 = 64;
/// That of manifests of a schema with a field of paths.
pub(super) const PATHS: u32 = 128;
/// That of manifests of a schema that keeps nulls.
pub(super) const NULLS: u32 = 256;
/// That of manifests of a schema with dates of a time zone.
pub(super) const ZONES: u32 = 512;
/// That of manifests with a segment that was made before a field was added to the schema.
pub(super) const ADDED_FIELDS: u32 = 1024;
/// That of manifests of a schema that says in what order the documents of a segment lie.
pub(super) const ORDER: u32 = 2048;
/// That of manifests of a schema with a field that is a copy of another.
pub(super) const COPIES: u32 = 8192;
/// That of manifests of a schema that says to lay similar documents near each other.
pub(super) const SIMILARITY: u32 = 16_384;
/// That of manifests of a schema with a field of vectors.
pub(super) const VECTORS: u32 = 32_768;
/// That of manifests of a schema with a field of points.
pub(super) const POINTS: u32 = 65_536;
/// That of images with names of more than 48 bytes.
pub(super) const LONG_NAMES: u32 = 1;

/// Kind of a file, according to its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Segment = 1,
    Manifest = 2,
    Image = 3,
    Deletes = 4,
}

impl FileKind {
    /// The incompatible feature bits that this build knows.
    fn incompatible(self) -> u32 {
        match self {
            FileKind::Manifest => {
                let of_schema = OFFSETS | KEY | TYPED | COLUMNS | ADDRESSES | PATHS | NULLS | ZONES;
                let of_fields = VECTORS | POINTS;
                of_schema | of_fields | DELETES | ADDED_FIELDS | ORDER | COPIES | SIMILARITY
            }
            FileKind::Image => LONG_NAMES,
            FileKind::Segment => TOLD_FROM | TIGHT,
            FileKind::Deletes => 0,
        }
    }

    /// Feature bits of all files of this kind that are written now.
    pub(super) fn written(self) -> u32 {
        match self {
            FileKind::Segment => TOLD_FROM | TIGHT,
            FileKind::Manifest | FileKind::Image | FileKind::Deletes => 0,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            FileKind::Segment => "a segment",
            FileKind::Manifest => "a manifest",
            FileKind::Image => "an image of an index",
            FileKind::Deletes => "the deletes of a segment",
        }
    }
}

/// The first 64 bytes of every file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) id: SegmentId,
    pub(crate) version: (u16, u16),
    /// Feature bits without which the file cannot be read; this build knows them all.
    pub(crate) incompatible: u32,
    /// Whether a file with these features may be replaced by a newer one of this build.
    pub(crate) writable: bool,
}

impl Header {
    /// The header that this build writes, with these incompatible feature bits.
    pub(crate) fn encode(kind: FileKind, id: SegmentId, incompatible: u32) -> [u8; HEADER_LEN] {
        let mut header = [0; HEADER_LEN];
        put_at(&mut header, 0, MAGIC);
        put_at(&mut header, KIND_AT, (kind as u16).to_le_bytes());
        put_at(&mut header, MAJOR_AT, FORMAT_VERSION.0.to_le_bytes());
        put_at(&mut header, MINOR_AT, FORMAT_VERSION.1.to_le_bytes());
        put_at(&mut header, INCOMPATIBLE_AT, incompatible.to_le_bytes());
        put_at(&mut header, ID_AT, id.0);
        let crc = crc32c(&header[..CRC_AT]);
        put_at(&mut header, CRC_AT, crc.to_le_bytes());
        header
    }

    /// Reads the header from the start of a file of `kind`, of which `bytes` is at least the header.
    pub(crate) fn decode(bytes: &[u8], kind: FileKind) -> Result<Header> {
        let what = || format!("reading the header of {}", kind.name());
        let Fields { kind: kind_found, version, read_only, incompatible, id } = whole(bytes, what)?;
        let unsupported = |expected: String, found: String| {
            Err(Error::new(ErrorKind::UnsupportedVersion, what())
                .expected(expected)
                .found(found)
                .hint(match version.0 < FORMAT_VERSION.0 {
                    true => "an older treepie wrote this index; index again with --overwrite, from the input or what `export` of that version prints",
                    false => "a newer treepie wrote this index; use that version",
                }))
        };
        if version.0 != FORMAT_VERSION.0 {
            let expected = format!("format version {}", FORMAT_VERSION.0);
            return unsupported(expected, format!("{}.{}", version.0, version.1));
        }
        let unknown = incompatible & !kind.incompatible();
        if unknown != 0 {
            return unsupported("no unknown features".into(), format!("bits {unknown:#x}"));
        }
        if kind_found != kind as u16 {
            return Err(Error::corrupt(what())
                .expected(format!("kind {}", kind as u16))
                .found(kind_found.to_string())
                .at_offset(KIND_AT as u64));
        }
        Ok(Header { id, version, incompatible, writable: read_only == 0 })
    }
}

/// Fields of a header of whatever version.
struct Fields {
    kind: u16,
    version: (u16, u16),
    read_only: u32,
    incompatible: u32,
    id: SegmentId,
}

impl Fields {
    fn read(header: &[u8]) -> Option<Fields> {
        let u16_at = |at| array_at(header, at).map(u16::from_le_bytes);
        let u32_at = |at| array_at(header, at).map(u32::from_le_bytes);
        Some(Fields {
            kind: u16_at(KIND_AT)?,
            version: (u16_at(MAJOR_AT)?, u16_at(MINOR_AT)?),
            read_only: u32_at(READ_ONLY_AT)?,
            incompatible: u32_at(INCOMPATIBLE_AT)?,
            id: SegmentId(array_at(header, ID_AT)?),
        })
    }
}

/// Whether these bytes begin with the whole header of a file of `kind` that an older version wrote, whose format this
/// one does not read.
pub(crate) fn is_of_older_format(bytes: &[u8], kind: FileKind) -> bool {
    whole(bytes, String::new)
        .is_ok_and(|found| found.kind == kind as u16 && found.version.0 < FORMAT_VERSION.0)
}

/// The fields of a header that is one, of whatever version.
fn whole(bytes: &[u8], what: impl Fn() -> String) -> Result<Fields> {
    let too_short = || {
        Error::corrupt(what())
            .expected(format!("at least {HEADER_LEN} bytes"))
            .found(bytes.len().to_string())
            .at_offset(0)
    };
    let header = array_at::<HEADER_LEN>(bytes, 0).ok_or_else(too_short)?;
    if !header.starts_with(&MAGIC) {
        return Err(Error::corrupt(what())
            .expected(format!("magic bytes {:02x?}", MAGIC))
            .found(format!("{:02x?}", &header[..KIND_AT]))
            .at_offset(0));
    }
    expect_crc(&header, CRC_AT, &what)?;
    Fields::read(&header).ok_or_else(too_short)
}

/// Compares the CRC at `at`, inside `bytes`, with that of the bytes before it; both are the same then.
pub(super) fn expect_crc(bytes: &[u8], at: usize, what: impl FnOnce() -> String) -> Result<u32> {
    let (summed, sum) = bytes.split_at_checked(at).unwrap_or((bytes, &[]));
    let found = crc32c(summed);
    match array_at(sum, 0).map(u32::from_le_bytes) {
        Some(expected) if expected == found => Ok(found),
        expected => Err(checksum_differs(what(), expected.unwrap_or(0), found)),
    }
}

/// The error for bytes whose checksum is not the one written down for them.
#[cold]
pub(crate) fn checksum_differs(what: impl Into<String>, expected: u32, found: u32) -> Error {
    Error::corrupt(what)
        .expected(format!("checksum {expected:#010x}"))
        .found(format!("{found:#010x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;
    use crate::test_sizes::each_unless_miri;

    const ID: SegmentId = SegmentId([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);

    #[test]
    fn only_a_whole_header_of_the_kind_is_one_of_an_older_format() {
        let aged = |major: u16, kind: FileKind| {
            let mut header = Header::encode(kind, SegmentId([1; 16]), 0);
            header[MAJOR_AT..MINOR_AT].copy_from_slice(&major.to_le_bytes());
            let crc = crc32c(&header[..CRC_AT]);
            header[CRC_AT..].copy_from_slice(&crc.to_le_bytes());
            header
        };
        let is_older = |bytes: &[u8]| is_of_older_format(bytes, FileKind::Manifest);
        let older = aged(FORMAT_VERSION.0 - 1, FileKind::Manifest);
        assert!(is_older(&older) && is_older(&[&older[..], b"more"].concat()));
        for major in [FORMAT_VERSION.0, FORMAT_VERSION.0 + 1] {
            assert!(!is_older(&aged(major, FileKind::Manifest)), "{major}");
        }
        assert!(!is_older(&aged(FORMAT_VERSION.0 - 1, FileKind::Segment)));
        assert!(!is_older(&older[..HEADER_LEN - 1]));
        for at in 0..HEADER_LEN {
            let mut damaged = older;
            damaged[at] ^= 4;
            assert!(!is_older(&damaged), "{at}");
        }
    }

    #[test]
    fn the_example_in_the_docs_is_what_we_write() {
        let header = Header::encode(FileKind::Segment, ID, 0);
        let documented = doc_check::hex_dump(include_str!("header.rs"));
        assert_eq!(documented, header, "\n{}", doc_check::render(&header));
    }

    #[test]
    fn the_layout_table_in_the_docs_matches_the_constants() {
        let fields = doc_check::layout(include_str!("header.rs"));
        let constants = [
            ("kind", KIND_AT),
            ("major", MAJOR_AT),
            ("minor", MINOR_AT),
            ("compatible", COMPATIBLE_AT),
            ("read_only", READ_ONLY_AT),
            ("incompatible", INCOMPATIBLE_AT),
            ("id", ID_AT),
            ("header_crc", CRC_AT),
        ];
        for (field, at) in constants {
            assert_eq!(fields[field], at, "{field}");
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_refused() {
        let header = Header::encode(FileKind::Manifest, ID, 0);
        for bit in each_unless_miri(0..HEADER_LEN * 8, 7) {
            let mut bad = header;
            bad[bit / 8] ^= 1 << (bit % 8);
            let error = Header::decode(&bad, FileKind::Manifest).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "bit {bit}");
        }
        for len in 0..HEADER_LEN {
            assert!(Header::decode(&header[..len], FileKind::Manifest).is_err(), "cut to {len}");
        }
    }

    #[test]
    fn newer_versions_and_unknown_features_are_refused_by_name() {
        let with = |at: usize, value: u8| {
            let mut header = Header::encode(FileKind::Segment, ID, 0);
            header[at] = value;
            let crc = crc32c(&header[..CRC_AT]);
            header[CRC_AT..].copy_from_slice(&crc.to_le_bytes());
            Header::decode(&header, FileKind::Segment)
        };
        let refused = |at, value| with(at, value).unwrap_err().kind();
        assert_eq!(refused(MAJOR_AT, FORMAT_VERSION.0 as u8 + 1), ErrorKind::UnsupportedVersion);
        assert_eq!(refused(INCOMPATIBLE_AT + 3, 0x80), ErrorKind::UnsupportedVersion);
        assert_eq!(refused(INCOMPATIBLE_AT, KEY as u8), ErrorKind::UnsupportedVersion);
        assert_eq!(with(INCOMPATIBLE_AT, TOLD_FROM as u8).unwrap().incompatible, TOLD_FROM);
        assert_eq!(refused(KIND_AT, 2), ErrorKind::Corrupt);
        let known = Header::encode(FileKind::Manifest, ID, OFFSETS);
        assert_eq!(Header::decode(&known, FileKind::Manifest).unwrap().incompatible, OFFSETS);
        assert_eq!(with(MINOR_AT, 7).unwrap().version, (FORMAT_VERSION.0, 7));
        assert!(with(MINOR_AT, 7).unwrap().writable);
        assert!(with(COMPATIBLE_AT, 1).unwrap().writable);
        assert!(!with(READ_ONLY_AT, 1).unwrap().writable);
    }
}
