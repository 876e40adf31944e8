//! One neighbour.

/// A document, and how near it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Neighbor {
    pub(crate) doc: u32,
    pub(crate) similarity: f32,
}
