//! Reading documents in any order, most of them near the one before.

use super::{BLOCK_DOCS, Block, Column};
use crate::bytes::Source;
use crate::error::Result;

/// A column, and of its blocks the one that was last asked for.
#[derive(Debug)]
pub(crate) struct AtHand<'s, S> {
    column: Column<S>,
    block: Option<(u32, Block<'s>)>,
}

impl<'s, S: Source<'s>> AtHand<'s, S> {
    pub(crate) fn of(column: Column<S>) -> Self {
        AtHand { column, block: None }
    }

    /// The block that a document is in, and its place there.
    pub(crate) fn block_of(&mut self, doc: u32) -> Result<(&Block<'s>, u32)> {
        let nth = doc / BLOCK_DOCS;
        let block = match self.block.take().filter(|(at, _)| *at == nth) {
            Some((_, block)) => block,
            None => self.column.block(nth, self.column.head(nth)?)?,
        };
        Ok((&self.block.insert((nth, block)).1, doc % BLOCK_DOCS))
    }
}
