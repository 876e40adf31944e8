//! Documents that lie outside of their segment.

use crate::bitmap::Container;
use crate::error::{Error, Result};

/// Refuses documents of a window that a segment of `n_docs` does not have.
pub(super) fn check_inside(window: u32, documents: Container<'_>, n_docs: u32) -> Result<()> {
    let room = n_docs.saturating_sub(window << 16);
    if room <= u32::from(u16::MAX) && documents.max().is_some_and(|last| u32::from(last) >= room) {
        return Err(Error::corrupt("going through what matches with a column")
            .expected(format!("documents below {n_docs}"))
            .found("others in the last window"));
    }
    Ok(())
}
