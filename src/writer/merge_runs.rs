//! Runs to postings: the k-way merge of one field, by ranges of terms, in parallel.
//!
//! Runs hold consecutive documents, so the postings of a term are those of its runs one behind the
//! other. A short list is put together from the runs' bytes with only each piece's first gap
//! rewritten; a long one is decoded and written as a bitmap. What comes out depends on the terms and
//! documents alone, never on how they were divided into runs or ranges.

use crate::bytes::{ByteReader, common_prefix_len, write_varint};
use crate::error::{Error, Result};
use crate::format::postings;
use crate::format::terms::{INLINE_DOCS_MAX, NewTerm};
use crate::writer::run::{Run, RunCursor};

/// Terms of one range, merged: bytes for POSTINGS, and what the dictionary needs to know.
#[derive(Debug, Default)]
pub(crate) struct MergedRange {
    pub(crate) postings: Vec<u8>,
    /// For each term: varint shared bytes, varint bytes of the rest, the rest, varint document
    /// frequency, then inline gaps or the varint length in `postings`.
    terms: Vec<u8>,
}

impl MergedRange {
    /// Calls `visit` with every term in order.
    pub(crate) fn for_each(
        &self,
        mut visit: impl FnMut(&[u8], NewTerm<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut reader = ByteReader::new(&self.terms);
        let (mut term, mut docs) = (vec![], vec![]);
        while !reader.remaining().is_empty() {
            let merged = read_term(&mut reader, &mut term, &mut docs)
                .ok_or_else(|| Error::corrupt("reading merged terms back from memory"))?;
            match merged {
                Some((df, len)) => visit(&term, NewTerm::Stored { df, len })?,
                None => visit(&term, NewTerm::Inline(&docs))?,
            }
        }
        Ok(())
    }

    fn push_term(&mut self, last: &[u8], term: &[u8], df: u32) {
        let shared = common_prefix_len(last, term);
        write_varint(&mut self.terms, shared as u64);
        write_varint(&mut self.terms, (term.len() - shared) as u64);
        self.terms.extend_from_slice(&term[shared..]);
        write_varint(&mut self.terms, u64::from(df));
    }
}

/// `Some(None)` for a term whose documents are inline and now in `docs`.
fn read_term(
    reader: &mut ByteReader<'_>,
    term: &mut Vec<u8>,
    docs: &mut Vec<u32>,
) -> Option<Option<(u32, u32)>> {
    let shared = reader.varint_u32()? as usize;
    let rest = reader.varint_u32()? as usize;
    term.truncate(shared);
    term.extend_from_slice(reader.take(rest)?);
    let df = reader.varint_u32()?;
    if df > INLINE_DOCS_MAX {
        return Some(Some((df, reader.varint_u32()?)));
    }
    docs.clear();
    postings::decode_gaps(reader, df as usize, docs)?;
    Some(None)
}

/// Terms that cut the runs into about `n` ranges of equal bytes; fewer where there are not enough terms.
pub(crate) fn range_bounds(runs: &[Run], n: usize) -> Vec<Box<[u8]>> {
    let mut intervals: Vec<(&[u8], u64)> = runs.iter().flat_map(Run::intervals).collect();
    intervals.sort_unstable();
    let total: u64 = intervals.iter().map(|interval| interval.1).sum();
    let mut bounds: Vec<Box<[u8]>> = vec![];
    let mut before = 0;
    for (term, len) in intervals {
        let wanted = (bounds.len() as u64 + 1) * total / n as u64;
        if before >= wanted
            && bounds.len() + 1 < n
            && bounds.last().is_none_or(|last| **last < *term)
        {
            bounds.push(term.into());
        }
        before += len;
    }
    bounds
}

/// Merges the terms in `from..to` of all runs, which are in the order of their documents.
pub(crate) fn merge_range(
    runs: &[Run],
    from: Option<&[u8]>,
    to: Option<&[u8]>,
) -> Result<MergedRange> {
    let slices = runs.iter().map(|run| run.read(from, to)).collect::<Result<Vec<_>>>()?;
    let mut cursors = slices.iter().map(|slice| slice.cursor(from)).collect::<Result<Vec<_>>>()?;
    let mut heap = Heap::new(&cursors);
    let mut merged = MergedRange::default();
    let mut term = TermMerger::default();
    let mut last_term = vec![];
    while let Some(first) = heap.first() {
        if to.is_some_and(|to| *cursors[first].term >= *to) {
            break;
        }
        term.begin(&cursors[first].term);
        while let Some(nth) = heap.first().filter(|&nth| *cursors[nth].term == *term.term) {
            let cursor = &mut cursors[nth];
            term.pieces.push(Piece {
                payload: cursor.payload,
                df: cursor.df,
                last_doc: cursor.last_doc,
            });
            cursor.advance()?;
            heap.restore(&cursors);
        }
        term.write(&last_term, &mut merged)?;
        std::mem::swap(&mut last_term, &mut term.term);
    }
    Ok(merged)
}

/// The postings of one term in one run.
struct Piece<'r> {
    payload: &'r [u8],
    df: u32,
    last_doc: u32,
}

/// Puts the pieces of one term together.
#[derive(Default)]
struct TermMerger<'r> {
    term: Vec<u8>,
    pieces: Vec<Piece<'r>>,
    docs: Vec<u32>,
}

impl<'r> TermMerger<'r> {
    fn begin(&mut self, term: &[u8]) {
        self.term.clear();
        self.term.extend_from_slice(term);
        self.pieces.clear();
    }

    fn write(&mut self, last_term: &[u8], merged: &mut MergedRange) -> Result<()> {
        let df = self.pieces.iter().map(|piece| piece.df).sum::<u32>();
        merged.push_term(last_term, &self.term, df);
        let damaged = || {
            Error::corrupt("merging runs")
                .expected("documents as they were written")
                .found("other bytes")
        };
        if df <= INLINE_DOCS_MAX {
            return self.join(&mut merged.terms).ok_or_else(damaged);
        }
        let start = merged.postings.len();
        if df as usize <= postings::SHORT_DOCS_MAX {
            self.join(&mut merged.postings).ok_or_else(damaged)?;
        } else {
            self.decode().ok_or_else(damaged)?;
            postings::encode(&self.docs, &mut merged.postings);
        }
        write_varint(&mut merged.terms, (merged.postings.len() - start) as u64);
        Ok(())
    }

    /// Appends the pieces as one list of gaps.
    fn join(&self, out: &mut Vec<u8>) -> Option<()> {
        let mut next = 0;
        for piece in &self.pieces {
            let mut reader = ByteReader::new(piece.payload);
            let first = reader.varint_u32()?;
            write_varint(out, u64::from(first.checked_sub(next)?));
            out.extend_from_slice(reader.remaining());
            next = piece.last_doc.checked_add(1)?;
        }
        Some(())
    }

    fn decode(&mut self) -> Option<()> {
        self.docs.clear();
        for piece in &self.pieces {
            postings::decode_gaps(
                &mut ByteReader::new(piece.payload),
                piece.df as usize,
                &mut self.docs,
            )?;
        }
        Some(())
    }
}

/// A binary heap of cursors by term, then by run, so that the pieces of a term come in document order.
struct Heap(Vec<u32>);

impl Heap {
    fn new(cursors: &[RunCursor<'_>]) -> Self {
        let mut order: Vec<u32> =
            (0..cursors.len() as u32).filter(|&nth| !cursors[nth as usize].done).collect();
        order.sort_by(|&a, &b| {
            cursors[a as usize].term.cmp(&cursors[b as usize].term).then(a.cmp(&b))
        });
        Heap(order)
    }

    fn first(&self) -> Option<usize> {
        self.0.first().map(|&nth| nth as usize)
    }

    /// Puts the first cursor, which has moved on, in its place.
    fn restore(&mut self, cursors: &[RunCursor<'_>]) {
        if cursors[self.0[0] as usize].done {
            self.0.swap_remove(0);
        }
        let mut at = 0;
        loop {
            let mut child = 2 * at + 1;
            if child >= self.0.len() {
                return;
            }
            if child + 1 < self.0.len() && is_before(cursors, self.0[child + 1], self.0[child]) {
                child += 1;
            }
            if !is_before(cursors, self.0[child], self.0[at]) {
                return;
            }
            self.0.swap(at, child);
            at = child;
        }
    }
}

#[inline]
fn is_before(cursors: &[RunCursor<'_>], a: u32, b: u32) -> bool {
    let (x, y) = (&cursors[a as usize], &cursors[b as usize]);
    match x.prefix.cmp(&y.prefix) {
        std::cmp::Ordering::Equal => x.term.cmp(&y.term).then(a.cmp(&b)).is_lt(),
        different => different.is_lt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::run::RunWriter;
    use std::collections::BTreeMap;

    /// Runs of consecutive documents over the same terms, and what they hold together.
    fn runs() -> (Vec<Run>, BTreeMap<Vec<u8>, Vec<u32>>) {
        let mut random = 1u64;
        let mut all: BTreeMap<Vec<u8>, Vec<u32>> = BTreeMap::new();
        let mut runs = vec![];
        for nth in 0..5u32 {
            let mut of_run: BTreeMap<Vec<u8>, Vec<u32>> = BTreeMap::new();
            for doc in nth * 1000..(nth + 1) * 1000 {
                for _ in 0..6 {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let rank = (random >> 40) as u32 % (1 << ((random >> 20) % 14));
                    let docs = of_run.entry(format!("term {rank}").into_bytes()).or_default();
                    if docs.last() != Some(&doc) {
                        docs.push(doc);
                    }
                }
            }
            let mut writer = RunWriter::default();
            for (term, docs) in of_run {
                writer.add(&term, &docs);
                all.entry(term).or_default().extend(docs);
            }
            runs.push(writer.finish());
        }
        (runs, all)
    }

    fn check(bounds: &[Box<[u8]>], runs: &[Run], all: &BTreeMap<Vec<u8>, Vec<u32>>) -> Vec<u8> {
        let mut expected = all.iter();
        let mut bytes = vec![];
        for nth in 0..=bounds.len() {
            let from = nth.checked_sub(1).map(|before| &*bounds[before]);
            let range = merge_range(runs, from, bounds.get(nth).map(|bound| &**bound)).unwrap();
            let mut at = 0;
            range
                .for_each(|term, merged| {
                    let (expected_term, docs) = expected.next().unwrap();
                    assert_eq!(term, expected_term);
                    match merged {
                        NewTerm::Inline(inline) => assert_eq!(inline, docs),
                        NewTerm::Stored { df, len } => {
                            let mut wanted = vec![];
                            postings::encode(docs, &mut wanted);
                            assert_eq!((df as usize, len as usize), (docs.len(), wanted.len()));
                            assert_eq!(range.postings[at..at + len as usize], wanted);
                            at += len as usize;
                        }
                    }
                    Ok(())
                })
                .unwrap();
            assert_eq!(at, range.postings.len());
            bytes.extend(range.postings);
        }
        assert!(expected.next().is_none());
        bytes
    }

    #[test]
    fn every_division_into_ranges_gives_the_same_postings() {
        let (runs, all) = runs();
        let sizes: Vec<usize> = all.values().map(Vec::len).collect();
        assert!(
            sizes.iter().any(|&n| n > 255) && sizes.iter().any(|&n| n < 5),
            "the sizes must be mixed"
        );
        let whole = check(&[], &runs, &all);
        for n in [2, 3, 8, 1000] {
            let bounds = range_bounds(&runs, n);
            assert!(!bounds.is_empty() && bounds.is_sorted());
            assert_eq!(check(&bounds, &runs, &all), whole);
        }
    }
}
