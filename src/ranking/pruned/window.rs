//! Windows and blocks in which lists are combined, and what looking at them takes.

/// Documents of a container, the range in which lists are combined.
pub(super) const WINDOW: u32 = 1 << 16;

/// Time that looking at the lists of a window takes about, and scoring a block, in nanoseconds; and after how many
/// blocks the clock may be asked.
pub(super) const WINDOW_NS: u64 = 2_000;
pub(super) const BLOCK_NS: u64 = 500;
pub(super) const BLOCKS_AT_ONCE: usize = 64;
