//! Occurrences: frequencies and positions of a term in a list that is read whole.
//!
//! Written while a run is built ([`write()`]), joined by concatenation when runs are merged, read
//! as [`OccurrenceReader`] by whoever ranks or places the term. Lists of more than 255 documents
//! keep the same facts in another form, see `format::ranked`.
//!
//! # Layout
//!
//! A stream of varints without a length of its own, one part a document, in the order of the
//! documents. The form of a part follows from what the field keeps:
//!
//! ```text
//! keeps        part
//! documents    nothing
//! frequencies  varint (frequency - 1)
//! positions    varint (first position << 1 | (frequency > 1))
//!              if frequency > 1: varint (frequency - 2),
//!                                then (frequency - 1) varints: position less the one before
//! ```
//!
//! # Example
//!
//! With positions, a term at position 5 of the first document, at 0, 3 and 200 of the second:
//!
//! ```text
//! 0000  0A 01 01 03 C5 01
//! ```
//!
//! # Invariants
//!
//! - O1: a frequency is at least 1 and below 2^32; so is every position plus 1.
//! - O2: the positions of a document do not descend.
//!
//! # Checks
//!
//! Reading refuses bytes that end within a part and numbers that break O1; O2 cannot be broken. Positions that are passed
//! over are counted, not looked at.
//!
//! # Cost
//!
//! A part must be walked to find the next one: 1 to 2 ns a part, and for positions eight bytes at a time. A word of a title takes
//! one byte.
//!
//! # Versions
//!
//! 1: as above.
//!
//! # Why
//!
//! Most terms of most documents occur once, so frequency and position share a number. Parts follow
//! the documents instead of standing between them, so that counting never walks them.

use crate::bytes::{ByteReader, HIGHEST_BITS, array_at, varints_len, write_varint};
use crate::schema::Detail;

/// Appends the part of one document to `out`. `positions` ascend and are not empty; of them only
/// their number is kept where the field keeps no more.
#[inline]
pub(crate) fn write(
    detail: Detail,
    positions: impl ExactSizeIterator<Item = u32>,
    out: &mut Vec<u8>,
) {
    let frequency = positions.len() as u64;
    match detail {
        Detail::Documents => {}
        Detail::Frequencies => write_varint(out, frequency - 1),
        Detail::Positions if frequency == 1 => {
            positions.for_each(|position| write_varint(out, u64::from(position) << 1));
        }
        Detail::Positions => {
            let mut last = 0;
            let gaps = positions.map(|position| position - std::mem::replace(&mut last, position));
            write_gaps(frequency as u32, gaps, out);
        }
    }
}

/// Appends the part of one document with positions: the first, then each less the one before.
#[inline]
pub(crate) fn write_gaps(frequency: u32, mut gaps: impl Iterator<Item = u32>, out: &mut Vec<u8>) {
    let Some(first) = gaps.next() else { return };
    write_varint(out, u64::from(first) << 1 | u64::from(frequency > 1));
    if frequency > 1 {
        write_varint(out, u64::from(frequency - 2));
        gaps.for_each(|gap| write_varint(out, u64::from(gap)));
    }
}

/// Walks a stream that begins at `at` of some bytes and goes on to their end: how often the term is in each document, and where
/// the part of each begins. `None` if there are more or fewer parts, or bytes that break O1.
pub(crate) fn read_all(
    bytes: &[u8],
    mut at: usize,
    detail: Detail,
    frequencies: &mut [u32],
    parts: &mut [u32],
) -> Option<()> {
    // Then every place before the end does.
    u32::try_from(bytes.len()).ok()?;
    for (frequency, part) in frequencies.iter_mut().zip(parts) {
        *part = at as u32;
        let len;
        (*frequency, len) = read_part(bytes.get(at..)?, detail)?;
        at += len;
    }
    (at == bytes.len()).then_some(())
}

/// Bytes of the first `n` parts of a stream; `None` if there are not as many.
pub(crate) fn parts_len(bytes: &[u8], n: usize, detail: Detail) -> Option<usize> {
    let mut at = 0;
    for _ in 0..n {
        at += read_part(bytes.get(at..)?, detail)?.1;
    }
    Some(at)
}

/// The frequency of the document whose part some bytes begin with, and how many these are.
#[inline(always)] // or each part is a call
fn read_part(bytes: &[u8], detail: Detail) -> Option<(u32, usize)> {
    // Most parts: of a word that is there once, at a position of up to four bytes.
    if detail.has_positions()
        && let Some(word) = array_at(bytes, 0).map(u32::from_le_bytes)
        && word & 1 == 0
        && let ends @ 1.. = !word & HIGHEST_BITS as u32
    {
        return Some((1, (ends.trailing_zeros() / 8) as usize + 1));
    }
    read_other_part(bytes, detail)
}

#[inline(never)]
fn read_other_part(bytes: &[u8], detail: Detail) -> Option<(u32, usize)> {
    if detail.has_positions()
        && let Some(word) = array_at(bytes, 0).map(u64::from_le_bytes)
    {
        // A few times, near the beginning.
        let len = (!word & HIGHEST_BITS).trailing_zeros() as usize / 8 + 1;
        let more = (word >> (8 * len % 64)) & 0xFF;
        if len <= 4 && word & 1 == 1 && more < 0x80 {
            let len_of_gaps = varints_len(bytes.get(len + 1..)?, more as usize + 1)?;
            return Some((more as u32 + 2, len + 1 + len_of_gaps));
        }
    }
    read_any_part(bytes, detail)
}

fn read_any_part(bytes: &[u8], detail: Detail) -> Option<(u32, usize)> {
    let mut reader = OccurrenceReader::new(bytes, detail);
    let frequency = reader.frequency()?;
    reader.end_document()?;
    Some((frequency, reader.position_in_bytes()))
}

/// Walks a stream of parts.
#[derive(Clone, Debug)]
pub(crate) struct OccurrenceReader<'a> {
    reader: ByteReader<'a>,
    detail: Detail,
    /// Numbers of the current document that were not walked yet.
    n_left: u32,
    /// The first position of the current document, until it is walked.
    first: Option<u32>,
}

impl<'a> OccurrenceReader<'a> {
    pub(crate) fn new(bytes: &'a [u8], detail: Detail) -> Self {
        OccurrenceReader { reader: ByteReader::new(bytes), detail, n_left: 0, first: None }
    }

    /// Moves to the next document: how often the term is in it. `None` if the bytes end or break O1.
    ///
    /// Positions of the document before that were not asked for are passed over.
    #[inline]
    pub(crate) fn frequency(&mut self) -> Option<u32> {
        self.end_document()?;
        match self.detail {
            Detail::Documents => Some(1),
            Detail::Frequencies => self.reader.varint_u32()?.checked_add(1),
            Detail::Positions => {
                let first = self.reader.varint()?;
                let frequency = match first & 1 {
                    0 => 1,
                    _ => self.reader.varint_u32()?.checked_add(2)?,
                };
                self.first = Some(u32::try_from(first >> 1).ok()?);
                self.n_left = frequency;
                Some(frequency)
            }
        }
    }

    /// Passes over what is left of the current document.
    #[inline]
    pub(crate) fn end_document(&mut self) -> Option<()> {
        let n_left = std::mem::take(&mut self.n_left) as usize;
        // The first position was read with the frequency.
        self.reader.skip_varints(n_left.saturating_sub(self.first.take().is_some().into()))
    }

    /// The next number of the current document: its first position, then each position less the one
    /// before. `None` after the last, and where the bytes end.
    #[inline]
    pub(crate) fn gap(&mut self) -> Option<u32> {
        self.n_left = self.n_left.checked_sub(1)?;
        match self.first.take() {
            Some(first) => Some(first),
            None => self.reader.varint_u32(),
        }
    }

    /// Replaces `positions` by those of the current document, of which none may have been walked.
    pub(crate) fn positions(&mut self, positions: &mut Vec<u32>) -> Option<()> {
        positions.clear();
        let mut last = 0u32;
        while self.n_left > 0 {
            last = last.checked_add(self.gap()?)?;
            positions.push(last);
        }
        Some(())
    }

    /// Passes over `n` documents.
    pub(crate) fn skip(&mut self, n: usize) -> Option<()> {
        (0..n).try_for_each(|_| self.frequency().map(drop))?;
        self.end_document()
    }

    /// Bytes walked so far.
    pub(crate) fn position_in_bytes(&self) -> usize {
        self.reader.position()
    }

    /// Whether every byte was walked.
    pub(crate) fn is_at_end(&self) -> bool {
        self.n_left == 0 && self.reader.remaining().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::doc_check;
    use crate::test_sizes::unless_miri;

    const DETAILS: [Detail; 3] = [Detail::Documents, Detail::Frequencies, Detail::Positions];

    fn stream(detail: Detail, documents: &[Vec<u32>]) -> Vec<u8> {
        let mut bytes = vec![];
        for positions in documents {
            write(detail, positions.iter().copied(), &mut bytes);
        }
        bytes
    }

    fn documents() -> Vec<Vec<u32>> {
        vec![
            vec![0],
            vec![5],
            vec![63, 63],
            vec![64],
            vec![1, 2, 3, 70_000],
            vec![(1 << 31) - 1, u32::MAX - 1],
            (0..unless_miri(1000, 70)).collect(),
            vec![u32::MAX],
        ]
    }

    #[test]
    fn the_example_in_the_docs_is_what_we_write() {
        let bytes = stream(Detail::Positions, &[vec![5], vec![0, 3, 200]]);
        let documented = doc_check::hex_dump(include_str!("occurrences.rs"));
        assert_eq!(documented, bytes, "{}", doc_check::render(&bytes));
    }

    #[test]
    fn what_is_written_is_read() {
        for detail in DETAILS {
            let bytes = stream(detail, &documents());
            let mut reader = OccurrenceReader::new(&bytes, detail);
            let mut positions = vec![];
            for document in documents() {
                let frequency = if detail.has_frequencies() { document.len() } else { 1 };
                assert_eq!(reader.frequency(), Some(frequency as u32));
                reader.positions(&mut positions).unwrap();
                assert_eq!(positions, if detail.has_positions() { document } else { vec![] });
            }
            assert!(reader.is_at_end());
        }
    }

    #[test]
    fn documents_can_be_passed_over() {
        let bytes = stream(Detail::Positions, &documents());
        for n in 0..documents().len() {
            let mut reader = OccurrenceReader::new(&bytes, Detail::Positions);
            reader.skip(n).unwrap();
            let rest = stream(Detail::Positions, &documents()[n..]);
            assert_eq!(reader.position_in_bytes(), bytes.len() - rest.len());
            assert_eq!(reader.frequency(), Some(documents()[n].len() as u32));
            assert_eq!(reader.gap(), Some(documents()[n][0]));
        }
    }

    #[test]
    fn a_whole_stream_is_read_as_part_by_part() {
        for detail in DETAILS {
            // Something else before it.
            let bytes = [&[0xFF; 3][..], &stream(detail, &documents())].concat();
            let n = documents().len();
            let (mut frequencies, mut parts) = (vec![0; n], vec![0; n]);
            read_all(&bytes, 3, detail, &mut frequencies, &mut parts).unwrap();
            let mut reader = OccurrenceReader::new(&bytes[3..], detail);
            for nth in 0..n {
                reader.end_document().unwrap();
                assert_eq!(parts[nth] as usize, 3 + reader.position_in_bytes());
                assert_eq!(parts_len(&bytes[3..], nth, detail), Some(reader.position_in_bytes()));
                assert_eq!(Some(frequencies[nth]), reader.frequency());
            }
            assert_eq!(parts_len(&bytes[3..], n, detail), Some(bytes.len() - 3));
            if detail.has_frequencies() {
                let cut = &bytes[..bytes.len() - 1];
                assert_eq!(read_all(cut, 3, detail, &mut frequencies, &mut parts), None);
                assert_eq!(parts_len(&cut[3..], n, detail), None);
                let more = [&bytes[..], &[0]].concat();
                assert_eq!(read_all(&more, 3, detail, &mut frequencies, &mut parts), None);
            }
        }
    }

    #[test]
    fn first_positions_past_32_bits_are_refused_wherever_they_are_read() {
        let cases = [(0x1F, false), (0x3F, true)];
        for (first, (last, is_refused)) in
            [0xFE, 0xFF].into_iter().flat_map(|n| cases.map(|it| (n, it)))
        {
            let bytes = [first, 0xFF, 0xFF, 0xFF, last, 0, 0, 0, 0, 0];
            let read = OccurrenceReader::new(&bytes, Detail::Positions).frequency();
            assert_eq!(read.is_none(), is_refused);
            assert_eq!(parts_len(&bytes, 1, Detail::Positions).is_none(), is_refused);
        }
    }

    #[test]
    fn streams_that_end_early_or_overflow_are_refused() {
        for detail in [Detail::Frequencies, Detail::Positions] {
            let bytes = stream(detail, &documents());
            for len in 0..bytes.len() {
                let mut reader = OccurrenceReader::new(&bytes[..len], detail);
                assert_eq!(reader.skip(documents().len()), None, "cut to {len}");
            }
        }
        let too_often = [0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F];
        assert_eq!(OccurrenceReader::new(&too_often, Detail::Positions).frequency(), None);
        assert_eq!(OccurrenceReader::new(&too_often[1..], Detail::Frequencies).frequency(), None);
        let mut too_far = stream(Detail::Positions, &[vec![9, u32::MAX]]);
        let mut positions = vec![];
        let mut read = |bytes: &[u8]| {
            let mut reader = OccurrenceReader::new(bytes, Detail::Positions);
            reader.frequency()?;
            reader.positions(&mut positions)
        };
        assert_eq!(read(&too_far), Some(()));
        too_far[0] += 2;
        assert_eq!(read(&too_far), None);
    }
}
