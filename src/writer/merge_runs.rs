//! Runs to postings: the k-way merge of one field, by ranges of terms, in parallel.
//!
//! Runs hold consecutive documents, so the postings of a term are those of its runs one behind the other, and so are
//! their occurrences. A short list is put together from the runs' bytes with only each piece's first gap rewritten; a
//! long one is decoded and written as a bitmap, with what ranking needs behind it. The result depends on the terms and
//! documents alone, never on how they were divided into runs or ranges.

use crate::bytes::{ByteReader, common_prefix_len, write_varint};
use crate::error::{Error, Result};
use crate::format::postings;
use crate::format::ranked::{RankedWriter, Ranking};
use crate::format::terms::{INLINE_DOCS_MAX, INLINE_OCCURRENCES_MAX, NewTerm};
use crate::writer::run::{Piece, Run, RunCursor, TermKey};

/// Terms of one range, merged: bytes for POSTINGS, and what the dictionary needs to know.
#[derive(Debug, Default)]
pub(crate) struct MergedRange {
    pub(crate) postings: Vec<u8>,
    /// For each term: varint shared bytes, varint bytes of the rest, the rest, varint document
    /// frequency, varint length in `postings`; then, if that is 0, gaps and occurrences with their varint
    /// length, else the varint length of what ranking needs.
    terms: Vec<u8>,
    /// For each run the numbers that its terms have among these; of fields that keep a column of them.
    pub(crate) ordinals: Vec<Vec<u32>>,
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
            let new = read_term(&mut reader, &mut term, &mut docs)
                .ok_or_else(|| Error::corrupt("reading merged terms back from memory"))?;
            visit(&term, new)?;
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

fn read_term<'t, 'm: 't>(
    reader: &mut ByteReader<'m>,
    term: &mut Vec<u8>,
    docs: &'t mut Vec<u32>,
) -> Option<NewTerm<'t>> {
    let shared = reader.varint_u32()? as usize;
    let rest = reader.varint_u32()? as usize;
    term.truncate(shared);
    term.extend_from_slice(reader.take(rest)?);
    let df = reader.varint_u32()?;
    let len = reader.varint_u32()?;
    if len > 0 {
        return Some(NewTerm::Stored { df, len, ranked_len: reader.varint()? });
    }
    docs.clear();
    postings::decode_gaps(reader, df as usize, docs)?;
    let len = reader.varint_u32()? as usize;
    Some(NewTerm::Inline { docs, occurrences: reader.take(len)? })
}

/// Terms that cut the runs into about `n` ranges of equal bytes; fewer if there are not enough terms.
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

/// Merges the terms in `from..to` of all runs, which are in the order of their documents; with the numbers of terms where
/// these are asked for.
pub(crate) fn merge_range(
    runs: &[Run],
    ranking: &Ranking,
    from: Option<&[u8]>,
    to: Option<&[u8]>,
    with_ordinals: bool,
) -> Result<MergedRange> {
    let slices = runs.iter().map(|run| run.read(from, to)).collect::<Result<Vec<_>>>()?;
    let mut cursors = slices.iter().map(|slice| slice.cursor(from)).collect::<Result<Vec<_>>>()?;
    let mut tree = LoserTree::new(&cursors);
    let to_key = to.map(TermKey::of);
    let mut merged = MergedRange::default();
    if with_ordinals {
        merged.ordinals.resize(runs.len(), vec![]);
    }
    let mut term = TermMerger::new(ranking);
    let (mut last_term, mut n_terms) = (vec![], 0);
    while let Some(first) = tree.first() {
        let (key, nth) = (first.key, first.run as usize);
        if to_key.is_some_and(|to| key >= to) && to.is_some_and(|to| *cursors[nth].term >= *to) {
            break;
        }
        term.begin(&cursors[nth].term);
        while let Some(next) = tree.first().filter(|next| next.key == key) {
            let nth = next.run as usize;
            let cursor = &mut cursors[nth];
            if !key.is_whole() && *cursor.term != *term.term {
                break;
            }
            term.pieces.push(cursor.piece);
            if let Some(of_run) = merged.ordinals.get_mut(nth) {
                of_run.push(n_terms);
            }
            cursor.advance()?;
            tree.replace_first(&cursors);
        }
        term.write(&last_term, &mut merged)?;
        std::mem::swap(&mut last_term, &mut term.term);
        n_terms += 1;
    }
    Ok(merged)
}

/// Puts the pieces of one term together.
struct TermMerger<'r> {
    ranking: &'r Ranking,
    term: Vec<u8>,
    pieces: Vec<Piece<'r>>,
    docs: Vec<u32>,
    ranked: RankedWriter,
}

impl<'r> TermMerger<'r> {
    fn new(ranking: &'r Ranking) -> Self {
        TermMerger {
            ranking,
            term: vec![],
            pieces: vec![],
            docs: vec![],
            ranked: RankedWriter::default(),
        }
    }

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
        let occurrences_len: usize = self.pieces.iter().map(|piece| piece.occurrences.len()).sum();
        if df <= INLINE_DOCS_MAX && occurrences_len <= INLINE_OCCURRENCES_MAX {
            merged.terms.push(0);
            self.join(&mut merged.terms).ok_or_else(damaged)?;
            write_varint(&mut merged.terms, occurrences_len as u64);
            self.append_occurrences(&mut merged.terms);
            return Ok(());
        }
        let start = merged.postings.len();
        let mut ranked_at = None;
        if df as usize <= postings::SHORT_DOCS_MAX {
            self.join(&mut merged.postings).ok_or_else(damaged)?;
            self.append_occurrences(&mut merged.postings);
        } else {
            self.decode().ok_or_else(damaged)?;
            postings::encode(&self.docs, &mut merged.postings);
            if self.ranking.detail.has_frequencies() {
                ranked_at = Some(merged.postings.len());
                let pieces = self.pieces.iter().map(|piece| (piece.occurrences, piece.df));
                self.ranked.write(&self.docs, pieces, self.ranking, &mut merged.postings)?;
            }
        }
        let ranked_at = ranked_at.unwrap_or(merged.postings.len());
        let len = postings::checked_len(ranked_at - start)?;
        write_varint(&mut merged.terms, u64::from(len));
        write_varint(&mut merged.terms, (merged.postings.len() - ranked_at) as u64);
        Ok(())
    }

    fn append_occurrences(&self, out: &mut Vec<u8>) {
        self.pieces.iter().for_each(|piece| out.extend_from_slice(piece.occurrences));
    }

    /// Appends the pieces as one list of gaps.
    fn join(&self, out: &mut Vec<u8>) -> Option<()> {
        self.pieces.iter().try_fold(0, |next, piece| piece.append_gaps(next, out)).map(drop)
    }

    fn decode(&mut self) -> Option<()> {
        self.docs.clear();
        self.pieces.iter().try_for_each(|piece| piece.append_docs(&mut self.docs))
    }
}

/// Place of a run: its next term, and its number. Keys lie here and not with the cursors, so that nearly all comparisons
/// read two of these and nothing else.
#[derive(Clone, Copy)]
struct Place {
    key: TermKey,
    run: u32,
}

impl Place {
    /// Place of the run `nth`, unless it is at its end.
    fn of(cursors: &[RunCursor<'_>], nth: usize) -> Option<Place> {
        let cursor = cursors.get(nth).filter(|cursor| !cursor.done)?;
        Some(Place { key: cursor.key, run: nth as u32 })
    }

    /// Behind all others.
    const END: Place = Place { key: TermKey::LAST, run: u32::MAX };

    /// By term, then by run, so that the pieces of a term come in document order.
    #[inline]
    fn is_before(&self, other: &Place, cursors: &[RunCursor<'_>]) -> bool {
        if self.key == other.key && !self.key.is_whole() {
            let term = |place: &Place| cursors.get(place.run as usize).map(|cursor| &*cursor.term);
            // An end has no term, and comes behind.
            if let (Some(own), Some(others)) = (term(self), term(other))
                && own != others
            {
                return own < others;
            }
        }
        (self.key, self.run) < (other.key, other.run)
    }
}

/// A tree of the runs that lost against another one on the way of the first to the root: a run that moves on meets one run a
/// level, where a heap has two (Knuth, The Art of Computer Programming 3, 5.4.1).
struct LoserTree {
    /// The first of all, then the loser at each inner node, whose children are twice its number and one more.
    places: Vec<Place>,
}

impl LoserTree {
    fn new(cursors: &[RunCursor<'_>]) -> Self {
        let n = cursors.len();
        // Winners from the leaves up: leaf `nth` is node `n + nth`.
        let mut winners: Vec<Place> = vec![Place::END; n];
        winners.extend((0..n).map(|nth| Place::of(cursors, nth).unwrap_or(Place::END)));
        let mut places = vec![Place::END; n.max(1)];
        for node in (1..n).rev() {
            let (a, b) = (winners[2 * node], winners[2 * node + 1]);
            (winners[node], places[node]) = if b.is_before(&a, cursors) { (b, a) } else { (a, b) };
        }
        if let Some(first) = winners.get(1) {
            places[0] = *first;
        }
        LoserTree { places }
    }

    /// The run that stands first, if any has not ended.
    #[inline]
    fn first(&self) -> Option<Place> {
        self.places.first().copied().filter(|place| place.run != Place::END.run)
    }

    /// Puts the first run, which has moved on, in its place.
    #[inline]
    fn replace_first(&mut self, cursors: &[RunCursor<'_>]) {
        let nth = self.places[0].run as usize;
        let mut winner = Place::of(cursors, nth).unwrap_or(Place::END);
        let mut node = (cursors.len() + nth) / 2;
        while node > 0 {
            let loser = &mut self.places[node];
            if loser.is_before(&winner, cursors) {
                std::mem::swap(loser, &mut winner);
            }
            node /= 2;
        }
        self.places[0] = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::lengths::Bm25;
    use crate::format::occurrences;
    use crate::schema::Detail;
    use crate::writer::run::RunWriter;
    use std::collections::BTreeMap;

    /// By term, then by document: positions.
    type Postings = BTreeMap<Vec<u8>, BTreeMap<u32, Vec<u32>>>;

    /// Runs of consecutive documents over the same terms, and what they hold together.
    fn runs(detail: Detail) -> (Vec<Run>, Postings) {
        let mut random = 1u64;
        let mut all = Postings::new();
        let mut runs = vec![];
        for nth in 0..5u32 {
            let mut of_run = Postings::new();
            for doc in nth * 1000..(nth + 1) * 1000 {
                for position in 0..6 {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let rank = (random >> 40) as u32 % (1 << ((random >> 20) % 14));
                    // Some share more first bytes than a key has room for.
                    let term = match rank % 3 {
                        0 => format!("terms that are long {rank}"),
                        _ => format!("term {rank}"),
                    };
                    let by_doc = of_run.entry(term.into_bytes()).or_default();
                    by_doc.entry(doc).or_default().push(position * position * (rank % 50));
                }
            }
            let mut writer = RunWriter::default();
            writer.set_lengths(vec![6; 1000]);
            for (term, by_doc) in of_run {
                let docs: Vec<u32> = by_doc.keys().copied().collect();
                writer.add(&term, &docs, &stream(detail, &by_doc));
                all.entry(term).or_default().extend(by_doc);
            }
            runs.push(writer.finish());
        }
        (runs, all)
    }

    fn stream(detail: Detail, by_doc: &BTreeMap<u32, Vec<u32>>) -> Vec<u8> {
        let mut stream = vec![];
        for positions in by_doc.values() {
            occurrences::write(detail, positions.iter().copied(), &mut stream);
        }
        stream
    }

    /// Expected bytes of a term's list, and its bytes for ranking.
    fn expected(ranking: &Ranking, by_doc: &BTreeMap<u32, Vec<u32>>) -> (Vec<u8>, Vec<u8>) {
        let docs: Vec<u32> = by_doc.keys().copied().collect();
        let stream = stream(ranking.detail, by_doc);
        let (mut list, mut ranked) = (vec![], vec![]);
        postings::encode(&docs, &mut list);
        if docs.len() <= postings::SHORT_DOCS_MAX {
            list.extend(stream);
        } else if ranking.detail.has_frequencies() {
            let piece = std::iter::once((&stream[..], docs.len() as u32));
            RankedWriter::default().write(&docs, piece, ranking, &mut ranked).unwrap();
        }
        (list, ranked)
    }

    fn check(bounds: &[Box<[u8]>], runs: &[Run], ranking: &Ranking, all: &Postings) -> Vec<u8> {
        let mut terms = all.iter();
        let mut bytes = vec![];
        for nth in 0..=bounds.len() {
            let from = nth.checked_sub(1).map(|before| &*bounds[before]);
            let to = bounds.get(nth).map(|bound| &**bound);
            let range = merge_range(runs, ranking, from, to, true).unwrap();
            let mut at = 0;
            let mut of_range = vec![];
            range
                .for_each(|term, _| {
                    of_range.push(term.to_vec());
                    Ok(())
                })
                .unwrap();
            for (run, ordinals) in runs.iter().zip(&range.ordinals) {
                let slice = run.read(from, to).unwrap();
                let mut cursor = slice.cursor(from).unwrap();
                for ordinal in ordinals {
                    assert_eq!(cursor.term, of_range[*ordinal as usize]);
                    cursor.advance().unwrap();
                }
                assert!(cursor.done || to.is_some_and(|to| *cursor.term >= *to));
            }
            range
                .for_each(|term, merged| {
                    let (expected_term, by_doc) = terms.next().unwrap();
                    assert_eq!(term, expected_term);
                    match merged {
                        NewTerm::Inline { docs, occurrences } => {
                            assert!(docs.iter().eq(by_doc.keys()));
                            assert_eq!(occurrences, stream(ranking.detail, by_doc));
                        }
                        NewTerm::Stored { df, len, ranked_len } => {
                            assert_eq!(df as usize, by_doc.len());
                            let (list, ranked) = expected(ranking, by_doc);
                            assert_eq!(range.postings[at..][..len as usize], list);
                            at += len as usize;
                            assert_eq!(range.postings[at..][..ranked_len as usize], ranked);
                            at += ranked_len as usize;
                        }
                    }
                    Ok(())
                })
                .unwrap();
            assert_eq!(at, range.postings.len());
            bytes.extend(range.postings);
        }
        assert!(terms.next().is_none());
        bytes
    }

    #[test]
    fn every_division_into_ranges_gives_the_same_postings() {
        for detail in [Detail::Documents, Detail::Frequencies, Detail::Positions] {
            let (runs, all) = runs(detail);
            let mut lengths = vec![];
            runs.iter().for_each(|run| run.append_lengths(&mut lengths).unwrap());
            assert_eq!(lengths, [6; 5000]);
            let ranking = Ranking::new(detail, Bm25::of_segment(30_000, 5000), lengths);
            let sizes: Vec<usize> = all.values().map(BTreeMap::len).collect();
            assert!(
                sizes.iter().any(|&n| n > 255) && sizes.iter().any(|&n| n < 5),
                "the sizes must be mixed"
            );
            let whole = check(&[], &runs, &ranking, &all);
            for n in [2, 3, 8, 1000] {
                let bounds = range_bounds(&runs, n);
                assert!(!bounds.is_empty() && bounds.is_sorted());
                assert_eq!(check(&bounds, &runs, &ranking, &all), whole);
            }
        }
    }
}
