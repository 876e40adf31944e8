//! Curve of a graph: recall and work of walks of several sizes.
//!
//! Written by [`encode`], read by [`read`].
//!
//! # Layout
//!
//! The CURVE section of a field. Integers are little-endian.
//!
//! ```text
//! offset  size  field      meaning
//!      0     4  n_samples  u32, vectors that were looked for
//!      4     4  n_points   u32, at most 64
//!      8     *  points     for each, ascending: u32, nodes that a walk keeps; u32, recall of the 10 nearest, in
//!                          ten-thousandths; u32, vectors compared; u32, nodes gone through
//! ```
//!
//! # Example
//!
//! By 128 samples: walks that keep 20 found 93.5 of 100, by 410 comparisons and 22 nodes.
//!
//! ```text
//! 0000  80 00 00 00 01 00 00 00  14 00 00 00 86 24 00 00
//! 0010  9A 01 00 00 16 00 00 00
//! ```
//!
//! # Invariants
//!
//! - C1: there is a point; what walks keep ascends, and recall is at most 10,000.
//!
//! # Checks
//!
//! Opening compares the length with the number of points and refuses what is against C1. Other numbers than were measured
//! make another choice between ways to the nearest, and another estimate.
//!
//! # Cost
//!
//! 16 bytes a point.
//!
//! # Versions
//!
//! 1: as above.
//!
//! # Why
//!
//! The size of a walk that a recall takes depends on the vectors: only measuring tells.

use super::{U32_LEN, expect_len, head};
use crate::bytes::Source;
use crate::error::{Error, Result};

const HEAD_LEN: u64 = 2 * U32_LEN;
const POINT_LEN: u64 = 4 * U32_LEN;
const POINTS_MAX: u32 = 64;
const DOING: &str = "reading the curve of a graph";

/// Recall of all.
pub(crate) const WHOLE: u32 = 10_000;

/// Measurements of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoredCurve {
    pub(crate) n_samples: u32,
    pub(crate) points: Vec<StoredPoint>,
}

/// Walks of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredPoint {
    /// Nodes that are kept.
    pub(crate) ef: u32,
    /// Parts of [`WHOLE`].
    pub(crate) recall: u32,
    pub(crate) distances: u32,
    pub(crate) hops: u32,
}

/// The section of a curve.
pub(crate) fn encode(curve: &StoredCurve) -> Vec<u8> {
    let points = curve.points.iter().flat_map(|it| [it.ef, it.recall, it.distances, it.hops]);
    let head = [curve.n_samples, curve.points.len() as u32];
    head.into_iter().chain(points).flat_map(u32::to_le_bytes).collect()
}

/// Reads a curve.
pub(crate) fn read<'s>(source: impl Source<'s>) -> Result<StoredCurve> {
    let numbers = |bytes: &[u8]| -> Vec<u32> {
        bytes.as_chunks().0.iter().map(|it| u32::from_le_bytes(*it)).collect()
    };
    let wrong = |found: String| {
        let error = Error::corrupt(DOING).expected("1 to 64 points that ascend, recall up to 1");
        Err(source.locate(0, error.found(found)))
    };
    let [n_samples, n_points] = numbers(&head(source, HEAD_LEN, DOING)?)[..] else {
        return wrong("no head".into());
    };
    if !(1..=POINTS_MAX).contains(&n_points) {
        return wrong(format!("{n_points} points"));
    }
    expect_len(source, HEAD_LEN + u64::from(n_points) * POINT_LEN, DOING)?;
    let all = numbers(&source.bytes(HEAD_LEN..source.len())?);
    let point = |it: &[u32; 4]| {
        let [ef, recall, distances, hops] = *it;
        StoredPoint { ef, recall, distances, hops }
    };
    let points: Vec<_> = all.as_chunks().0.iter().map(point).collect();
    let ascends = points.is_sorted_by(|a, b| a.ef < b.ef);
    match points.iter().find(|it| it.recall > WHOLE || it.ef == 0 || !ascends) {
        Some(point) => wrong(format!("{point:?}")),
        None => Ok(StoredCurve { n_samples, points }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;

    fn example() -> StoredCurve {
        let point = StoredPoint { ef: 20, recall: 9_350, distances: 410, hops: 22 };
        StoredCurve { n_samples: 128, points: vec![point] }
    }

    #[test]
    fn the_example_is_what_is_written_and_read() {
        let bytes = encode(&example());
        assert_eq!(
            bytes,
            doc_check::hex_dump(include_str!("curve.rs")),
            "\n{}",
            doc_check::render(&bytes)
        );
        assert_eq!(read(&bytes[..]).unwrap(), example());
    }

    #[test]
    fn damage_is_refused() {
        let with = |change: fn(&mut StoredCurve)| {
            let mut curve = example();
            change(&mut curve);
            read(&encode(&curve)[..]).unwrap_err().to_string()
        };
        assert!(with(|curve| curve.points.clear()).contains("0 points"));
        assert!(with(|curve| curve.points[0].recall = 10_001).contains("10001"));
        assert!(with(|curve| curve.points[0].ef = 0).contains("ef: 0"));
        assert!(with(|curve| curve.points.push(curve.points[0])).contains("ef: 20"));
        let bytes = encode(&example());
        assert!(read(&bytes[..7]).is_err() && read(&bytes[..bytes.len() - 1]).is_err());
    }
}
