//! Identifier of a snapshot, to tell it from others.

use crate::error::{Error, ErrorKind, Result};
use crate::segment::snapshot::Snapshot;
use std::fmt;
use std::str::FromStr;

/// Stands for everything that a snapshot may answer; see [`Searcher::etag`](crate::Searcher::etag). Compare it, or keep
/// its text; another version of treepie may give the same snapshot another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Etag {
    generation: u64,
    content: u64,
}

impl Etag {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        Etag { generation: snapshot.manifest.generation, content: snapshot.content() }
    }
}

/// Letters and digits.
impl fmt::Display for Etag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{:016x}", self.generation, self.content)
    }
}

/// Reads what was printed.
///
/// # Errors
///
/// [`ErrorKind::Usage`] for anything else.
impl FromStr for Etag {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = |digits: &str| u64::from_str_radix(digits, 16).ok();
        let read = text.split_once('-').and_then(|(generation, content)| {
            Some(Etag { generation: number(generation)?, content: number(content)? })
        });
        read.filter(|etag| etag.to_string() == text).ok_or_else(|| {
            Error::new(ErrorKind::Usage, "reading an etag")
                .expected("letters and digits as they were printed")
                .found(format!("{text:?}"))
        })
    }
}
