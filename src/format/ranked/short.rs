//! Data of a short list for ranking and phrases, read whole. A list is short up to 255 documents.

use crate::bytes::Bytes;
use crate::format::occurrences::{self, OccurrenceReader};
use crate::schema::Detail;

/// A short list with its frequencies; positions are decoded when asked for.
pub(crate) struct RankedShort<'s> {
    /// The documents, how often the term is in each, and where the part of each begins in `occurrences`:
    /// as many of each, in one piece of memory, because there are hardly ever as many as there may be.
    numbers: Vec<u32>,
    len: usize,
    occurrences: Bytes<'s>,
    detail: Detail,
}

impl<'s> RankedShort<'s> {
    /// Takes ascending documents and the stream of their occurrences, which begins at `at` of `bytes` and
    /// goes on to the end; `None` if it does not.
    pub(crate) fn read(
        docs: Vec<u32>,
        bytes: Bytes<'s>,
        at: usize,
        detail: Detail,
    ) -> Option<Self> {
        let (len, mut numbers) = (docs.len(), docs);
        numbers.resize(3 * len, 0);
        let (frequencies, parts) = numbers.get_mut(len..)?.split_at_mut_checked(len)?;
        occurrences::read_all(&bytes, at, detail, frequencies, parts)?;
        Some(RankedShort { numbers, len, occurrences: bytes, detail })
    }

    /// Its memory, for another.
    pub(crate) fn take_memory(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.numbers)
    }

    /// The documents, ascending.
    #[inline]
    pub(crate) fn docs(&self) -> &[u32] {
        self.numbers(0)
    }

    /// Frequencies of the term in each of [`docs`](Self::docs).
    #[inline]
    pub(crate) fn frequencies(&self) -> &[u32] {
        self.numbers(1)
    }

    fn parts(&self) -> &[u32] {
        self.numbers(2)
    }

    /// One of the three parts of `numbers`, all of which are there since [`read`](Self::read).
    #[inline]
    fn numbers(&self, nth: usize) -> &[u32] {
        self.numbers.get(nth * self.len..(nth + 1) * self.len).unwrap_or_default()
    }

    /// The occurrences as they are written, see [`occurrences`].
    pub(crate) fn stream(&self) -> &[u8] {
        let start = self.parts().first().map_or(0, |first| *first as usize);
        // `read` has walked them from there on.
        self.occurrences.get(start..).unwrap_or_default()
    }

    /// Replaces `positions` by those of document number `nth`, ascending; `None` if they pass 32 bits, or
    /// the field keeps none.
    pub(crate) fn positions(&self, nth: usize, positions: &mut Vec<u32>) -> Option<()> {
        let at = *self.parts().get(nth)? as usize;
        let mut reader = OccurrenceReader::new(self.occurrences.get(at..)?, self.detail);
        reader.frequency()?;
        self.detail.has_positions().then(|| reader.positions(positions))?
    }
}

impl std::fmt::Debug for RankedShort<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.docs().iter().zip(self.frequencies())).finish()
    }
}
