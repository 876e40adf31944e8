//! Sets of 32-bit numbers in the portable roaring format, read where they lie.

mod buffer;
mod container;
mod container_ops;
mod header;
mod owned;
mod set_ops;
mod view;
mod words;
mod write;

#[cfg(test)]
mod laws;

pub use buffer::ContainerBuf;
pub use container::{Container, ContainerIter, ContainerKind};
pub use container_ops::{
    Scratch, and, and_all, and_count, and_count_all, and_not, and_not_count, or, or_all, or_count,
    or_count_all, xor, xor_count,
};
pub use owned::RoaringBuf;
pub use view::{Iter, RoaringView};
pub use write::{write_containers, write_sorted};

pub(crate) use header::{RoaringHeader, container_from};
