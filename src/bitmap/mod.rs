//! Sets of 32-bit numbers in the portable roaring format, read in place.
//!
//! A posting list on disk is such a set, and so is every intermediate result of a query. The module
//! stands by itself: it knows bytes and nothing of indexes. [`RoaringView`] reads a list from any
//! `&[u8]`, [`RoaringBuf`] owns one, [`write_sorted`] makes one from ascending ids. Below them lies
//! the [`Container`], 65,536 neighbouring numbers: whoever plans a query container by container
//! uses [`and_count`], [`or`] and their kin on these directly, into a [`ContainerBuf`] that is
//! allocated once.
//!
//! A container is always its serialised bytes, on disk and in memory, so one set of kernels serves
//! both, and nothing is ever decoded.
//!
//! ```
//! use treepie::bitmap::{RoaringBuf, RoaringView, Scratch};
//!
//! let red = RoaringBuf::from_sorted([1, 4, 9, 100_000]);
//! let big = RoaringBuf::from_sorted((0..200_000).step_by(2));
//! assert_eq!(red.view().and_count(&big.view()), 2);
//!
//! let from_disk = big.as_bytes();
//! let big = RoaringView::new(from_disk)?;
//! assert_eq!(red.view().and_not(&big), RoaringBuf::from_sorted([1, 9]));
//! assert_eq!(RoaringView::or_count_all(&[big, red.view()], &mut Scratch::new()), 100_002);
//! # Ok::<(), treepie::Error>(())
//! ```
//!
//! # Layout
//!
//! Layout of the [portable specification](https://github.com/RoaringBitmap/RoaringFormatSpec),
//! which the C, Java, Go and Rust implementations read and write. Little-endian; offsets count from
//! the first byte of the list; `n` is the number of containers, `[a; b]` stands for `b` times `a`.
//!
//! ```text
//! without run containers
//! offset  size  field         meaning
//!      0     4  cookie        u32, 12346
//!      4     4  n             u32, 0 to 65,536
//!      8    4n  descriptions  [u16 key, u16 cardinality − 1; n], keys ascending
//!   8+4n    4n  offsets       [u32; n], where each container begins
//!   8+8n     *  containers
//!
//! with run containers
//! offset  size  field         meaning
//!      0     2  cookie        u16, 12347
//!      2     2  n             u16, number of containers − 1
//!      4     m  run marks     m = ⌈n / 8⌉; bit i % 8 of byte i / 8: container i is one of runs
//!    4+m    4n  descriptions  as above
//! 4+m+4n    4n  offsets       as above; only if n ≥ 4
//!      *     *  containers
//!
//! container   bytes           holds
//! array       2 × cardinality the values' lower 16 bits, u16, ascending; up to 4096 values
//! bitmap      8192            bit v % 8 of byte v / 8; more than 4096 values
//! runs        2 + 4r          u16 r, then [u16 start, u16 length − 1; r]; if marked
//! ```
//!
//! # Example
//!
//! The set {3, 5, 65,536 … 65,636}: an array and a container of one run.
//!
//! ```text
//! 0000  3B 30 01 00 02 00 00 01  00 01 00 64 00 03 00 05
//! 0010  00 01 00 00 00 64 00
//! ```
//!
//! # Invariants
//!
//! 1. Keys ascend strictly; a container is never empty.
//! 2. Containers lie in the order of their keys, from the end of the head to the end of the list,
//!    without gaps. (The specification would let them lie anywhere; nobody writes that.)
//! 3. Values of an array ascend strictly; runs ascend, neither overlap nor touch, and end by
//!    65,535; the cardinality in the head is the true one.
//! 4. A list that we write has an array of up to 4,096 values and a bitmap of more, and runs only
//!    where they take strictly fewer bytes, are at most 16 instead of a bitmap, and have 32 values
//!    each at the mean instead of an array. So equal sets are equal bytes.
//!
//! # Checks
//!
//! [`RoaringView::new`] refuses what breaks 1 or 2 and therefore every list that another access
//! could leave; [`RoaringView::verify`] refuses what breaks 3. 4 is not checked: other writers
//! choose otherwise. Values that lie, in a list never verified, make answers wrong and nothing
//! else: no panic, no overflow, no endless loop, no more than 65,536 values in a container.
//!
//! # Cost
//!
//! Opening: a few ns per container. Per pair of containers, hot, with AVX2: two bitmaps 50 to
//! 200 ns; array against bitmap 0.4 ns per value of the array; two arrays 0.2 to 0.5 ns per value
//! of both, or 2 ns per value of the shorter one if the other is much longer. Writing: 1 to 2 ns
//! per value. Counts of two lists allocate nothing; a [`ContainerBuf`] is 8 KiB. `cargo bench
//! --bench boolean` measures all of it beside the `roaring` crate.
//!
//! # Versions
//!
//! The format is frozen by its specification; the cookies tell its two forms apart.
//!
//! # Why
//!
//! Runs that are many are slow, however few bytes they take: 30,000 values meet a bitmap in 54 ns as
//! a bitmap and as 8 runs, as 128 runs in 450 and as 2,000 in 3,800, and 50 values of an array in 15 ns as a
//! bitmap, as 16 runs in 130 and as 128 in 290. Beside arrays, where 4,000 values meet 500 others in 800 ns, 64 runs take
//! 640 ns and 256 take 1,800. The bounds of invariant 4 are where runs become slower, by the sum over
//! bitmaps, runs, and arrays of 50, 500 and 4,000 values. Documents that are put in an order, in which
//! those of a term stand near each other, would otherwise turn the bitmaps of frequent words into
//! thousands of runs.
//!
//! Roaring, because dense and sparse sets are both small and both fast, and because other programs
//! read it. Views of our own, because the `roaring` crate decodes a list before it can answer, and
//! a query touches a few containers of many lists. (Lemire et al., *Roaring Bitmaps:
//! Implementation of an Optimized Software Library*, 2018, section 4 for the kernels.)

#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::todo,
    clippy::unreachable,
    clippy::unwrap_used
)]

mod buffer;
mod container;
mod container_ops;
mod header;
mod kernel;
mod many;
mod owned;
mod runs;
mod set_ops;
mod view;
mod without;
mod words;
mod write;

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod real_sets;

pub use buffer::ContainerBuf;
pub use container::{Container, ContainerIter, ContainerKind};
pub use container_ops::{and, and_count, and_not, and_not_count, or, or_count, xor, xor_count};
pub use many::{Scratch, and_all, and_count_all, or_all, or_count_all};
pub use owned::RoaringBuf;
pub use view::{Iter, RoaringView};
pub use write::{write_containers, write_sorted};

use crate::simd::windows;

pub(crate) use buffer::ARRAY_MAX;
pub(crate) use header::{RoaringHeader, container_from};
pub(crate) use kernel::{Kernel, and_by, and_count_by};
pub(crate) use without::{and_count_without, or_count_without};

/// Numbers that share their upper 16 bits, for which one container has room. Of documents, these are called a window.
pub(crate) const WINDOW: u32 = windows::DOCS as u32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_in_the_docs_is_what_we_write() {
        let source = include_str!("mod.rs");
        let dump = source.lines().skip_while(|line| !line.starts_with("//! 0000  "));
        let dump = dump.map_while(|line| line.strip_prefix("//! ")?.split_once("  "));
        let bytes: Vec<u8> = dump
            .flat_map(|(_, bytes)| bytes.split_whitespace())
            .map(|byte| u8::from_str_radix(byte, 16).unwrap())
            .collect();
        let list = RoaringBuf::from_sorted([3, 5].into_iter().chain(65_536..=65_636));
        assert_eq!(list.as_bytes(), bytes, "{:02X?}", list.as_bytes());
    }
}
