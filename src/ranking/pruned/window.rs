//! Windows and blocks in which lists are combined, and what looking at them takes.

/// Documents of a container, the range in which lists are combined.
pub(super) const WINDOW: u32 = 1 << 16;

/// Blocks that are scored before the clock may be asked.
pub(super) const BLOCKS_AT_ONCE: usize = 64;
