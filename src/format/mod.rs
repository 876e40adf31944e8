//! The bytes on disk: each module documents one structure, writes it and reads it.
//!
//! Nothing here does I/O: bytes in, bytes out. All integers are little-endian, and nothing is aligned
//! when it is read.
//!
//! # Files of an index
//!
//! An index is a directory, flat, with these files and no others of importance:
//!
//! | name | holds | written | durable | ever modified |
//! |---|---|---|---|---|
//! | `seg-<32 hex>.idx` | one segment: header, sections, footer (the module `envelope`) | front to back, once | before a manifest names it | no |
//! | `del-<32 hex>-<16 hex>.rbm` | the documents of one segment that are deleted (the module `deletes`) | front to back, once | before a manifest names it | no |
//! | `manifest-<16 hex>` | one commit: schema and segments (the module `manifest`) | as `.tmp-…`, then published under its number | before it is published | no |
//! | `write.lock` | the process id of the writer, for people; the kernel's lock on it is what counts | by each writer | never | yes |
//! | `.tmp-<32 hex>` | a manifest on its way | by a commit | – | litter after a crash |
//! | `.run-<32 hex>-<8 hex>` | terms, vectors and edges spilled while building | by a build | never | litter after a crash |
//!
//! The hex digits of a segment are its random id, so that no name is used twice, not even after a
//! crash; those of a manifest are its generation. Deletes have the id of their segment and one of their own, for the
//! same reason. The manifest of the highest generation is the
//! index. Files carry no paths, so a directory may be copied and moved. Only files with names of this
//! grammar are ever deleted.
//!
//! An image (the module `image`) is a whole index in one piece of memory.
//!
//! # Versions
//!
//! | [`FORMAT_VERSION`] | change |
//! |---|---|
//! | 1.0 | the first |
//! | 2.0 | manifest: analyzers of fields, versions of what makes terms; frequencies, lengths, positions and bounds of scores |
//! | 3.0 | directories of the containers of ranked lists have half as many entries |
//!
//! Every file says in its header which version wrote it. A newer major number is refused; a newer
//! minor number is read. In between stand three sets of 32 feature bits: an unknown *compatible* bit is
//! ignored, an unknown *read-only-compatible* one allows reading and not writing, an unknown
//! *incompatible* one is refused. Defined is:
//!
//! | bit | in | meaning |
//! |---|---|---|
//! | incompatible 1 | manifests | a field keeps offsets (the module `offsets`), which its flags say |
//! | incompatible 2 | manifests | documents of a segment are deleted (the module `deletes`) |
//! | incompatible 4 | manifests | the schema has a key |
//! | incompatible 8 | manifests | the schema has a typed field |
//! | incompatible 16 | manifests | never to be used: it stood for columns of another form before any release |
//! | incompatible 32 | manifests | a field keeps a column (the module `column`) |
//! | incompatible 32768 | manifests | the schema has a field of vectors (the module `vectors`) |
//! | incompatible 65536 | manifests | the schema has a field of points (the module `points`; its `pages` and `boxes` need no bit, as all they say is there, too) |
//! | incompatible 1 | images | names take up to 64 bytes |
//! | incompatible 1 | segments | ranked lists say from which code on codes tell parts apart (the module `ranked`) |
//! | incompatible 2 | segments | ranked lists take less: flags 4, 8 and 16 (the module `ranked`) |

#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::todo,
    clippy::unreachable,
    clippy::unwrap_used
)]

pub(crate) mod boxes;
pub(crate) mod changed;
pub(crate) mod column;
pub(crate) mod cumulative;
pub(crate) mod deletes;
#[cfg(test)]
mod doc_check;
pub(crate) mod envelope;
pub(crate) mod graph;
pub(crate) mod header;
pub(crate) mod image;
pub(crate) mod lengths;
pub(crate) mod manifest;
pub(crate) mod occurrences;
pub(crate) mod offsets;
pub(crate) mod pages;
pub(crate) mod points;
pub(crate) mod postings;
pub(crate) mod ranked;
pub(crate) mod statistics;
pub(crate) mod stored;
pub(crate) mod terms;
pub(crate) mod vectors;

use crate::ids::SegmentId;
use std::fmt;

/// Major and minor number of the format this build writes. It reads every minor number of this major.
pub const FORMAT_VERSION: (u16, u16) = (3, 0);

const WRITE_LOCK: &str = "write.lock";

/// A name of the grammar above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FileName {
    Segment(SegmentId),
    /// Documents of a segment that are deleted, with a number of its own.
    Deletes {
        segment: SegmentId,
        number: u64,
    },
    Manifest(u64),
    WriteLock,
    Temporary(SegmentId),
    Run {
        build: SegmentId,
        number: u32,
    },
}

impl FileName {
    /// The meaning of a name; `None` if it is none of ours, down to the case of its digits.
    pub(crate) fn parse(name: &str) -> Option<FileName> {
        let parsed = if let Some(rest) = name.strip_prefix("seg-") {
            FileName::Segment(parse_id(rest.strip_suffix(".idx")?)?)
        } else if let Some(rest) = name.strip_prefix("del-") {
            let (segment, number) = rest.strip_suffix(".rbm")?.split_once('-')?;
            FileName::Deletes { segment: parse_id(segment)?, number: parse_hex(number, 16)? }
        } else if let Some(rest) = name.strip_prefix("manifest-") {
            FileName::Manifest(parse_hex(rest, 16)?)
        } else if let Some(rest) = name.strip_prefix(".tmp-") {
            FileName::Temporary(parse_id(rest)?)
        } else if let Some(rest) = name.strip_prefix(".run-") {
            let (build, number) = rest.split_once('-')?;
            FileName::Run { build: parse_id(build)?, number: parse_hex(number, 8)? as u32 }
        } else if name == WRITE_LOCK {
            FileName::WriteLock
        } else {
            return None;
        };
        Some(parsed)
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileName::Segment(id) => write!(f, "seg-{id}.idx"),
            FileName::Deletes { segment, number } => write!(f, "del-{segment}-{number:016x}.rbm"),
            FileName::Manifest(generation) => write!(f, "manifest-{generation:016x}"),
            FileName::WriteLock => f.write_str(WRITE_LOCK),
            FileName::Temporary(id) => write!(f, ".tmp-{id}"),
            FileName::Run { build, number } => write!(f, ".run-{build}-{number:08x}"),
        }
    }
}

fn parse_id(hex: &str) -> Option<SegmentId> {
    let mut id = [0; 16];
    let (high, low) = (hex.get(..16)?, hex.get(16..)?);
    id[..8].copy_from_slice(&parse_hex(high, 16)?.swap_bytes().to_le_bytes());
    id[8..].copy_from_slice(&parse_hex(low, 16)?.swap_bytes().to_le_bytes());
    Some(SegmentId(id))
}

/// A number of exactly so many digits, at most 16, the letters of which are small.
fn parse_hex(digits: &str, n: usize) -> Option<u64> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let add = |sum, digit| Some(sum << 4 | u64::from(value(digit)?));
    if digits.len() == n { digits.bytes().try_fold(0, add) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_everything_else_is_a_stranger() {
        let id = SegmentId([0xAB; 16]);
        let names = [
            FileName::Segment(id),
            FileName::Deletes { segment: id, number: 7 },
            FileName::Manifest(0),
            FileName::Manifest(u64::MAX),
            FileName::WriteLock,
            FileName::Temporary(id),
            FileName::Run { build: id, number: 7 },
        ];
        for name in names {
            assert_eq!(FileName::parse(&name.to_string()), Some(name), "{name}");
        }
        assert_eq!(FileName::Manifest(255).to_string(), "manifest-00000000000000ff");
        let hex = "ab".repeat(16);
        let strangers = [
            "".to_owned(),
            "seg-.idx".into(),
            format!("seg-{hex}"),
            format!("seg-{}.idx", hex.to_uppercase()),
            format!("seg-{hex}0.idx"),
            format!("seg-+{}.idx", &hex[1..]),
            format!("SEG-{hex}.idx"),
            format!(" seg-{hex}.idx"),
            "manifest-1".into(),
            "manifest-+00000000000000f".into(),
            "manifest-00000000000000FF".into(),
            "manifest-00000000000000ff~".into(),
            "write.lock.old".into(),
            format!(".tmp-{hex}.bak"),
            format!(".run-{hex}"),
            format!(".run-{hex}-7"),
            format!("seg-{}é{}.idx", &hex[..15], &hex[..15]),
            format!("del-{hex}.rbm"),
            format!("del-{hex}-7.rbm"),
            format!("del-{hex}-{}.idx", &hex[..16]),
        ];
        for name in strangers {
            assert_eq!(FileName::parse(&name), None, "{name}");
        }
    }
}
