//! Image: a whole index in one piece of memory. It is for embedding in a program or for handing over as one file.
//! Encoded by [`encode`], taken apart by [`decode`]; the files in it are those of a directory, byte for byte.
//!
//! # Layout
//!
//! All integers are little-endian. Offsets count from the first byte of the image.
//!
//! ```text
//! offset  size  field         meaning
//!      0    64  header        as of every file (module header), kind 3; its id is the index's
//!     64     8  image_len     u64, length of the whole image
//!     72     4  n_files       u32, at most 131,073: a manifest, its segments and their deletes
//!     76     4  zero          reserved, zero, ignored
//!     80     *  files         64 bytes each: 48 bytes name, filled up with zeros; u64 offset, u64 length;
//!                             with the incompatible feature 1 80 bytes each: 64 bytes name
//!      *     4  crc           u32, CRC32C of everything before
//!      *     *  contents      each at a multiple of 8, with zeros in between
//! ```
//!
//! # Example
//!
//! An image of index `0303…03` with the three bytes `abc` as its only file, `write.lock`:
//!
//! ```text
//! 0000  89 54 50 49 0D 0A 1A 0A  03 00 03 00 00 00 00 00
//! 0010  00 00 00 00 00 00 00 00  00 00 00 00 03 03 03 03
//! 0020  03 03 03 03 03 03 03 03  03 03 03 03 00 00 00 00
//! 0030  00 00 00 00 00 00 00 00  00 00 00 00 4B 84 66 A8
//! 0040  A0 00 00 00 00 00 00 00  01 00 00 00 00 00 00 00
//! 0050  77 72 69 74 65 2E 6C 6F  63 6B 00 00 00 00 00 00
//! 0060  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0070  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
//! 0080  98 00 00 00 00 00 00 00  03 00 00 00 00 00 00 00
//! 0090  92 A9 A2 91 00 00 00 00  61 62 63 00 00 00 00 00
//! ```
//!
//! # Checks
//!
//! [`decode`] checks the header, the length, the table against its CRC, every name against the grammar of
//! file names and every range against the image. The content of the files is checked as in a directory:
//! the manifest when it is opened, segments block by block when they are read.
//!
//! # Cost
//!
//! Taking an image apart is linear in the number of files and copies none of them.
//!
//! # Versions
//!
//! 1.0: the first.
//!
//! # Why
//!
//! One table before the files, because then nothing but the reader of directories has to know what is
//! in them; an archive format of others would bring its own parser and its own surprises.

use crate::bytes::ByteReader;
use crate::checksum::crc32c;
use crate::error::{Error, Result};
use crate::format::FileName;
use crate::format::header::{FileKind, HEADER_LEN, Header, LONG_NAMES, expect_crc};
use crate::format::manifest::SEGMENTS_MAX;
use crate::ids::SegmentId;
use std::ops::Range;

const FIXED_LEN: usize = HEADER_LEN + 16;
const PLACE_LEN: usize = 2 * size_of::<u64>();
const FILES_MAX: usize = 2 * SEGMENTS_MAX + 1;

/// Bytes of a name in an image with these features.
fn name_len(features: u32) -> usize {
    if features & LONG_NAMES == 0 { 48 } else { 64 }
}

/// The image of these files; names are at most 64 bytes, as all of the grammar are.
pub(crate) fn encode(index_id: SegmentId, files: &[(FileName, &[u8])]) -> Vec<u8> {
    let names: Vec<_> = files.iter().map(|(name, _)| name.to_string()).collect();
    let is_long = names.iter().any(|name| name.len() > name_len(0));
    let features = if is_long { LONG_NAMES } else { 0 };
    let entry_len = name_len(features) + PLACE_LEN;
    let contents_at = (FIXED_LEN + files.len() * entry_len + size_of::<u32>()).next_multiple_of(8);
    let image_len = files
        .iter()
        .fold(contents_at, |end, (_, content)| (end + content.len()).next_multiple_of(8));
    let mut out = Vec::with_capacity(image_len);
    out.extend(Header::encode(FileKind::Image, index_id, features));
    out.extend((image_len as u64).to_le_bytes());
    out.extend((files.len() as u32).to_le_bytes());
    out.extend([0; 4]);
    let mut offset = contents_at;
    for (name, (_, content)) in names.iter().zip(files) {
        let entry_at = out.len();
        out.extend(name.as_bytes());
        out.resize(entry_at + name_len(features), 0);
        out.extend((offset as u64).to_le_bytes());
        out.extend((content.len() as u64).to_le_bytes());
        offset = (offset + content.len()).next_multiple_of(8);
    }
    out.extend(crc32c(&out).to_le_bytes());
    for (_, content) in files {
        out.resize(out.len().next_multiple_of(8), 0);
        out.extend(*content);
    }
    out.resize(image_len, 0);
    out
}

/// The names of the files in an image and where each lies.
pub(crate) fn decode(image: &[u8]) -> Result<Vec<(FileName, Range<usize>)>> {
    let name_len = name_len(Header::decode(image, FileKind::Image)?.incompatible);
    let entry_len = name_len + PLACE_LEN;
    let damaged = |expected: String, found: String, at: usize| {
        Error::corrupt("reading the files of an image")
            .expected(expected)
            .found(found)
            .at_offset(at as u64)
    };
    let mut reader = ByteReader::new(image.get(HEADER_LEN..).unwrap_or_default());
    let (Some(image_len), Some(n_files)) = (reader.u64(), reader.u32()) else {
        return Err(damaged(format!("{FIXED_LEN} bytes"), image.len().to_string(), HEADER_LEN));
    };
    if image_len != image.len() as u64 {
        let expected = format!("an image of {image_len} bytes");
        return Err(damaged(expected, image.len().to_string(), HEADER_LEN));
    }
    let table_end = FIXED_LEN + (n_files as usize).min(FILES_MAX) * entry_len;
    let table = image.get(FIXED_LEN..table_end).filter(|_| n_files as usize <= FILES_MAX);
    let (Some(table), true) = (table, table_end + size_of::<u32>() <= image.len()) else {
        let found = format!("{n_files} in {image_len} bytes");
        return Err(damaged(
            format!("at most {FILES_MAX} files, all listed"),
            found,
            HEADER_LEN + 8,
        ));
    };
    expect_crc(image, table_end, || "reading the files of an image".into())
        .map_err(|error| error.at_offset(table_end as u64))?;
    let entry = |(n, bytes): (usize, &[u8])| {
        decode_entry(bytes, name_len, image.len()).ok_or_else(|| {
            let expected = "the name of a file, and its place in the image".to_owned();
            damaged(
                expected,
                format!("{:?}", bytes.escape_ascii().to_string()),
                FIXED_LEN + n * entry_len,
            )
        })
    };
    table.chunks_exact(entry_len).enumerate().map(entry).collect()
}

fn decode_entry(
    bytes: &[u8],
    name_len: usize,
    image_len: usize,
) -> Option<(FileName, Range<usize>)> {
    let (name, place) = bytes.split_at_checked(name_len)?;
    let name = str::from_utf8(name).ok()?.trim_end_matches('\0');
    let mut reader = ByteReader::new(place);
    let start = usize::try_from(reader.u64()?).ok()?;
    let end = start.checked_add(usize::try_from(reader.u64()?).ok()?)?;
    (end <= image_len).then_some((FileName::parse(name)?, start..end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::format::doc_check;
    use crate::test_sizes::each_unless_miri;

    const ID: SegmentId = SegmentId([3; 16]);
    const ENTRY_LEN: usize = 48 + PLACE_LEN;

    fn example() -> Vec<u8> {
        encode(ID, &[(FileName::WriteLock, b"abc")])
    }

    #[test]
    fn the_example_in_the_docs_is_what_we_write() {
        let documented = doc_check::hex_dump(include_str!("image.rs"));
        assert_eq!(documented, example(), "\n{}", doc_check::render(&example()));
    }

    #[test]
    fn the_layout_table_in_the_docs_matches_the_constants() {
        let fields = doc_check::layout(include_str!("image.rs"));
        assert_eq!((fields["image_len"], fields["files"]), (HEADER_LEN, FIXED_LEN));
    }

    #[test]
    fn files_come_out_as_they_went_in() {
        let segment = FileName::Segment(ID);
        let files: [(FileName, &[u8]); 3] =
            [(FileName::Manifest(7), b"seven bytes"), (segment, b""), (FileName::WriteLock, b"x")];
        let image = encode(ID, &files);
        let found = decode(&image).unwrap();
        assert_eq!(found.len(), 3);
        for ((name, range), (expected_name, content)) in found.into_iter().zip(files) {
            assert_eq!((name, &image[range.clone()]), (expected_name, content));
            assert!(range.start.is_multiple_of(8));
        }
        assert_eq!(decode(&encode(ID, &[])).unwrap(), []);
        let long = FileName::Deletes { segment: ID, number: u64::MAX };
        let image = encode(ID, &[(segment, b"one"), (long, b"two")]);
        let found = decode(&image).unwrap();
        assert_eq!((found[1].0, &image[found[1].1.clone()]), (long, &b"two"[..]));
    }

    #[test]
    fn every_flipped_bit_before_the_contents_and_every_cut_is_refused() {
        let image = example();
        let table_len = FIXED_LEN + ENTRY_LEN + 4;
        for bit in each_unless_miri(0..table_len * 8, 23) {
            let mut bad = image.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(decode(&bad).unwrap_err().kind(), ErrorKind::Corrupt, "bit {bit}");
        }
        for len in each_unless_miri(0..image.len(), 11) {
            assert_eq!(
                decode(&image[..len]).unwrap_err().kind(),
                ErrorKind::Corrupt,
                "cut to {len}"
            );
        }
    }

    #[test]
    fn crafted_tables_never_lead_outside() {
        let image = example();
        let crc_at = FIXED_LEN + ENTRY_LEN;
        for at in each_unless_miri(HEADER_LEN..crc_at, 7) {
            for value in each_unless_miri([0, 1, 0x2E, 0x7F, 0x80, 0xFF], 5) {
                let mut bad = image.clone();
                bad[at] = value;
                let crc = crc32c(&bad[..crc_at]);
                bad[crc_at..][..4].copy_from_slice(&crc.to_le_bytes());
                for (_, range) in decode(&bad).unwrap_or_default() {
                    assert!(bad.get(range).is_some(), "byte {at} = {value}");
                }
            }
        }
    }
}
