//! Windows: what looking at one takes, and documents that lie outside of their segment.

use crate::bitmap::Container;
use crate::error::{Error, Result};

/// Refuses documents of a window that a segment of `n_docs` does not have.
pub(super) fn check_inside(window: u32, documents: Container<'_>, n_docs: u32) -> Result<()> {
    let room = n_docs.saturating_sub(window << 16);
    if room <= u32::from(u16::MAX) && last_of(documents).is_some_and(|last| last >= room) {
        return Err(Error::corrupt("going through what matches with a column")
            .expected(format!("documents below {n_docs}"))
            .found("others in the last window"));
    }
    Ok(())
}

/// The last document of a container.
fn last_of(documents: Container<'_>) -> Option<u32> {
    match documents {
        Container::Array(lows) => lows.last().map(|low| u16::from_le_bytes(*low).into()),
        Container::Bitmap(words) => {
            let (nth, word) = words.iter().enumerate().rfind(|(_, word)| **word != [0; 8])?;
            let word = u64::from_le_bytes(*word);
            Some((nth as u32 + 1) * u64::BITS - 1 - word.leading_zeros())
        }
        Container::Run(runs) => runs.last().map(|[a, b, c, d]| {
            u32::from(u16::from_le_bytes([*a, *b])) + u32::from(u16::from_le_bytes([*c, *d]))
        }),
    }
}
