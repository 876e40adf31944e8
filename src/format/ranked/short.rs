//! The same facts of a list of at most 255 documents, which is read whole.

use crate::bytes::Bytes;
use crate::format::occurrences::OccurrenceReader;
use crate::format::postings::{SHORT_DOCS_MAX, ShortList};
use crate::schema::Detail;

/// A short list with its frequencies, decoded in place; positions are decoded when asked for.
pub(crate) struct RankedShort<'s> {
    docs: ShortList,
    frequencies: [u32; SHORT_DOCS_MAX],
    /// Where the part of each document begins in `occurrences`.
    parts: [u32; SHORT_DOCS_MAX],
    occurrences: Bytes<'s>,
    detail: Detail,
}

impl<'s> RankedShort<'s> {
    /// Takes documents and the stream of their occurrences, which begins at `at` of `bytes` and
    /// goes on to the end; `None` where it does not.
    pub(crate) fn read(
        docs: ShortList,
        bytes: Bytes<'s>,
        at: usize,
        detail: Detail,
    ) -> Option<Self> {
        let mut list = RankedShort {
            docs,
            frequencies: [0; SHORT_DOCS_MAX],
            parts: [0; SHORT_DOCS_MAX],
            occurrences: bytes,
            detail,
        };
        let mut reader = OccurrenceReader::new(list.occurrences.get(at..)?, detail);
        let slots = list.frequencies.iter_mut().zip(&mut list.parts);
        for (frequency, part) in slots.take(list.docs.as_slice().len()) {
            reader.skip(0)?;
            *part = u32::try_from(at + reader.position_in_bytes()).ok()?;
            *frequency = reader.frequency()?;
        }
        reader.skip(0)?;
        reader.is_at_end().then_some(list)
    }

    /// The documents, ascending.
    #[inline]
    pub(crate) fn docs(&self) -> &[u32] {
        self.docs.as_slice()
    }

    /// How often the term is in each of [`docs`](Self::docs).
    #[inline]
    pub(crate) fn frequencies(&self) -> &[u32] {
        &self.frequencies[..self.docs.as_slice().len()]
    }

    /// The occurrences as they are written, see [`occurrences`](crate::format::occurrences).
    pub(crate) fn stream(&self) -> &[u8] {
        &self.occurrences[self.parts[0] as usize..]
    }

    /// Replaces `positions` by those of document number `nth`, ascending; `None` where they pass 32 bits, or
    /// the field keeps none.
    pub(crate) fn positions(&self, nth: usize, positions: &mut Vec<u32>) -> Option<()> {
        let at = *self.parts[..self.docs.as_slice().len()].get(nth)? as usize;
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
