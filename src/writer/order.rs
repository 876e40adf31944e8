//! Numbers of documents when segments become one. They are in the order of the schema if it has one, or in that of
//! similarity.

use crate::budget::{self, ns};
use crate::compared::ordered;
use crate::error::Result;
use crate::ids::FieldId;
use crate::schema::{OrderField, Schema};
use crate::segment::order::{OrderRank, OrderRanks};
use crate::segment::ordinals::OrdinalMap;
use crate::segment::reader::SegmentReader;
use crate::segment::renumbering::Renumbering;
use crate::writer::merged_terms::MergedTerms;
use crate::writer::similar::{self, Similarity};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Documents that are sorted in one step, between which the budget is asked.
const SORTED_AT_ONCE: usize = 1 << 20;

/// New numbers for the documents of some segments.
#[derive(Debug)]
pub(super) struct Numbering {
    /// Renumbering of each segment.
    pub(super) of_segments: Vec<Renumbering>,
    /// Whether documents stand otherwise to each other than before.
    pub(super) reorders: bool,
}

/// A document, by where it stands among all as they are: its rank by the first field.
#[derive(Clone, Copy)]
struct Entry {
    is_missing: bool,
    place: u32,
    code: u64,
}

impl Entry {
    /// Compares two documents, given the ranks of all by the other fields. Documents of the same values stay as they
    /// are to each other.
    fn compare(&self, other: &Self, ranks: &[Vec<OrderRank>]) -> Ordering {
        let by_first = (self.is_missing, self.code).cmp(&(other.is_missing, other.code));
        let (a, b) = (self.place, other.place);
        by_first.then_with(|| {
            let mut by_others = ranks.iter().map(|of| of[a as usize].cmp(&of[b as usize]));
            by_others.find(|order| order.is_ne()).unwrap_or(a.cmp(&b))
        })
    }
}

/// Numbers the documents that are not deleted: those of the first segment, then those of the second and so on, and where the
/// schema has an order, in that, or in that of similarity if it is asked for. Documents of the same values stay as they are to each other.
///
/// Takes memory of up to 20 bytes for each document for the first field of an order and 16 for each other, of which 4 are kept;
/// where a field of keywords is among them a byte for each of its terms in each segment, too.
pub(super) fn number(
    segments: &[SegmentReader<'_>],
    schema: &Schema,
    similarity: Option<&Similarity<'_>>,
    on_progress: impl FnMut(u64, u64),
) -> Result<Numbering> {
    // Before any memory is taken for as many documents as a manifest says: columns have bytes for each of theirs.
    for segment in segments {
        for key in schema.order_fields() {
            OrderRanks::open(*segment, *key)?;
        }
    }
    let (mut base, mut in_turn) = (0, Vec::with_capacity(segments.len()));
    for &segment in segments {
        let numbers = Renumbering::of(segment, base)?;
        base += numbers.n_live();
        in_turn.push(numbers);
    }
    let numbers = match (schema.order_fields().split_first(), similarity) {
        (Some((first, others)), _) => by_fields(segments, &in_turn, *first, others)?,
        (None, Some(similarity)) => similar::number((segments, &in_turn), similarity, on_progress)?,
        (None, None) => None,
    };
    let Some(numbers) = numbers else {
        return Ok(Numbering { of_segments: in_turn, reorders: false });
    };
    let mapped = |(numbering, segment): (&Renumbering, &SegmentReader<'_>)| {
        numbering.mapped(segment.n_docs(), |place| numbers[place as usize])
    };
    let of_segments = in_turn.iter().zip(segments).map(mapped).collect();
    Ok(Numbering { of_segments, reorders: true })
}

/// The numbers of documents in the order of fields, by those that they have in turn; `None` if they stand in it.
fn by_fields(
    segments: &[SegmentReader<'_>],
    in_turn: &[Renumbering],
    first: OrderField,
    others: &[OrderField],
) -> Result<Option<Vec<u32>>> {
    let n_docs: u32 = in_turn.iter().map(Renumbering::n_live).sum();
    let mut entries = Vec::with_capacity(n_docs as usize);
    for_each_rank(segments, in_turn, first, |OrderRank { is_missing, code }| {
        entries.push(Entry { is_missing, place: entries.len() as u32, code });
    })?;
    let mut ranks = vec![];
    for key in others {
        let mut of_key = Vec::with_capacity(entries.len());
        for_each_rank(segments, in_turn, *key, |rank| of_key.push(rank))?;
        ranks.push(of_key);
    }
    sorted(&mut entries, &ranks, SORTED_AT_ONCE)
}

/// The numbers of documents by their places, if they are not those; `None` if they stand in order. At most `at_once`
/// entries are sorted in one step.
fn sorted(
    entries: &mut [Entry],
    ranks: &[Vec<OrderRank>],
    at_once: usize,
) -> Result<Option<Vec<u32>>> {
    let mut are_sorted = true;
    for some in entries.chunks_mut(at_once) {
        let n = some.len() as u64;
        budget::work(ns::DOCS_COMPARED * n)?;
        if !some.is_sorted_by(|a, b| a.compare(b, ranks).is_le()) {
            are_sorted = false;
            budget::work(ns::DOCS_COMPARED * n * u64::from(n.ilog2()))?;
            // One that is fast where segments that are in order stand behind each other.
            some.sort_by(|a, b| a.compare(b, ranks));
        }
    }
    // For the same reason there may be few runs of many steps each.
    let steps = (at_once..entries.len()).step_by(at_once);
    let ends = steps.filter(|end| entries[end - 1].compare(&entries[*end], ranks).is_gt());
    let (mut runs, mut start) = (BinaryHeap::new(), 0);
    for end in ends.chain([entries.len()]) {
        let Some((first, rest)) = entries[start..end].split_first() else { break };
        runs.push(SortedRun { first: *first, rest, ranks });
        start = end;
    }
    if are_sorted && runs.len() <= 1 {
        return Ok(None);
    }
    let (mut numbers, mut number) = (vec![0; entries.len()], 0);
    let merged_ns = ns::DOCS_COMPARED * u64::from(1 + runs.len().ilog2());
    while let Some(mut run) = runs.peek_mut() {
        budget::work(merged_ns)?;
        numbers[run.first.place as usize] = number;
        number += 1;
        match run.rest.split_first() {
            Some((first, rest)) => (run.first, run.rest) = (*first, rest),
            None => drop(PeekMut::pop(run)),
        }
    }
    Ok(Some(numbers))
}

/// Documents in order, to be merged with others: that is the greatest whose first one comes first.
struct SortedRun<'e> {
    first: Entry,
    rest: &'e [Entry],
    ranks: &'e [Vec<OrderRank>],
}

impl SortedRun<'_> {
    fn compare(&self, other: &Self) -> Ordering {
        other.first.compare(&self.first, self.ranks)
    }
}

ordered! {
    SortedRun<'_>;
}

/// Calls `visit` with the rank of each document that is not deleted, as they stand behind each other.
fn for_each_rank(
    segments: &[SegmentReader<'_>],
    numbers: &[Renumbering],
    key: OrderField,
    mut visit: impl FnMut(OrderRank),
) -> Result<()> {
    let ordinals = merged_ordinals(segments, key.field)?;
    for (nth, (segment, numbers)) in segments.iter().zip(numbers).enumerate() {
        let mut ranks = OrderRanks::open(*segment, key)?;
        for doc in (0..segment.n_docs()).filter(|doc| numbers.get(*doc).is_some()) {
            visit(ranks.rank(doc, ordinals.get(nth))?);
        }
    }
    Ok(())
}

/// For each of several segments the numbers of its terms among those of all, where their columns have numbers of terms.
fn merged_ordinals(segments: &[SegmentReader<'_>], field: FieldId) -> Result<Vec<OrdinalMap>> {
    let has_ordinals = |segment: &SegmentReader<'_>| segment.schema().get(field).has_ordinals();
    if segments.len() < 2 || !segments.iter().any(has_ordinals) {
        return Ok(vec![]);
    }
    let mut ordinals = vec![OrdinalMap::default(); segments.len()];
    let mut terms = MergedTerms::open(segments.iter().map(|segment| segment.field(field)))?;
    let mut number = 0;
    while let Some(_term) = terms.next(|nth, _| {
        ordinals[nth].push(number);
        Ok(())
    })? {
        number += 1;
    }
    Ok(ordinals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::error::ErrorKind;
    use crate::schema::{Field, FieldKind};
    use crate::segment::order::first_out_of_order;
    use crate::segment::snapshot::Snapshot;
    use crate::segment::verify;
    use crate::storage::{MemoryStorage, Storage};
    use crate::writer::{Existing, IndexWriter, WriterOptions};
    use std::sync::Arc;

    /// Segments of documents with these numbers and words, as they are.
    fn segments(of: &[&[(Option<i64>, &str)]]) -> (Snapshot, Schema) {
        let number = Field::new("number", FieldKind::I64);
        let word = Field::new("word", FieldKind::Keyword).column(true);
        let schema = Schema::builder().field(number).field(word).build().unwrap();
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        let (analyzers, published) = (Arc::default(), Arc::default());
        let (existing, options) = (Existing::Refuse, WriterOptions::new().threads(1));
        let store = Arc::clone(&storage);
        let mut writer =
            IndexWriter::open(store, schema, analyzers, existing, published, options).unwrap();
        for documents in of {
            for (number, word) in *documents {
                writer.add(Document::new().with("number", *number).with("word", *word)).unwrap();
            }
            writer.commit().unwrap();
        }
        let snapshot = Snapshot::open(&*storage).unwrap();
        let schema = snapshot.manifest.schema.clone();
        (snapshot, schema)
    }

    #[test]
    fn documents_get_the_numbers_of_their_order_across_segments() {
        // The terms of the two have other numbers there.
        let first = [(Some(5), "b"), (None, "a"), (Some(-3), "x")];
        let second = [(Some(5), "a"), (Some(-3), "x"), (Some(7), "k"), (None, "c")];
        let (snapshot, schema) = segments(&[&first, &second]);
        let numbers = |order: &[&str]| -> (Vec<Vec<u32>>, bool) {
            let schema = schema.ordered_by(order.iter().copied()).unwrap();
            let of =
                |nth: usize, n_docs| SegmentReader::new(&snapshot.segments[nth], &schema, n_docs);
            let numbering = number(&[of(0, 3), of(1, 4)], &schema, None, |_, _| ()).unwrap();
            let of_segment = |numbers: &Renumbering| {
                let n_docs = numbers.n_live();
                (0..n_docs).map(|doc| numbers.get(doc).unwrap()).collect()
            };
            (numbering.of_segments.iter().map(of_segment).collect(), numbering.reorders)
        };
        assert_eq!(numbers(&[]), (vec![vec![0, 1, 2], vec![3, 4, 5, 6]], false));
        assert_eq!(numbers(&["number"]), (vec![vec![2, 5, 0], vec![3, 1, 4, 6]], true));
        assert_eq!(numbers(&["number", "word"]), (vec![vec![3, 5, 0], vec![2, 1, 4, 6]], true));
        assert_eq!(numbers(&["-number", "-word"]), (vec![vec![1, 6, 3], vec![2, 4, 0, 5]], true));
        assert_eq!(numbers(&["word"]), (vec![vec![2, 0, 5], vec![1, 6, 4, 3]], true));
    }

    #[test]
    fn documents_are_sorted_a_few_at_a_time_as_they_are_all_at_once() {
        let rank = |code: u32| OrderRank { is_missing: code == 3, code: code.into() };
        let orders: [&dyn Fn(u32) -> u32; 4] =
            [&|place| place * 7_919 % 11, &|place| place % 50, &|place| 100 - place, &|_| 2];
        for (nth, of) in orders.iter().enumerate() {
            for n in [0, 1, 99, 100, 101] {
                let entries: Vec<_> = (0..n)
                    .map(|place| {
                        let OrderRank { is_missing, code } = rank(of(place));
                        Entry { is_missing, place, code }
                    })
                    .collect();
                let ranks = [(0..n).map(|place| rank(place / 7 % 4)).collect::<Vec<_>>()];
                let mut places: Vec<u32> = (0..n).collect();
                places.sort_by_key(|place| (rank(of(*place)), ranks[0][*place as usize]));
                let stands = places.is_sorted();
                let mut expected = vec![0; n as usize];
                (0..).zip(places).for_each(|(number, place)| expected[place as usize] = number);
                for at_once in [1, 2, 10, 100, 1_000] {
                    let numbers = sorted(&mut entries.clone(), &ranks, at_once).unwrap();
                    let case = format!("order {nth} of {n}, {at_once} at once");
                    assert_eq!(numbers, (!stands).then(|| expected.clone()), "{case}");
                }
            }
        }
    }

    /// Memory is taken for as many documents as there are, which a manifest may say wrongly.
    #[test]
    fn segments_of_other_numbers_of_documents_than_their_columns_are_refused() {
        let documents = [(Some(1), "b"), (Some(0), "a")];
        let (snapshot, schema) = segments(&[&documents, &documents]);
        let schema = schema.ordered_by(["number"]).unwrap();
        let of = |nth: usize, n_docs| SegmentReader::new(&snapshot.segments[nth], &schema, n_docs);
        let number = |segments: &[_]| number(segments, &schema, None, |_, _| ());
        number(&[of(0, 2), of(1, 2)]).unwrap();
        for (first, second) in [(2, u32::MAX - 2), (u32::MAX, 2), (1, 2), (2, 3)] {
            let error = number(&[of(0, first), of(1, second)]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
        }
    }

    #[test]
    fn a_segment_in_another_order_is_told_by_its_first_document_out_of_order() {
        let documents = [(Some(1), "b"), (Some(1), "b"), (Some(2), "a"), (None, "d"), (None, "c")];
        let (snapshot, schema) = segments(&[&documents]);
        let found = |order: &[&str]| {
            let schema = schema.ordered_by(order.iter().copied()).unwrap();
            let segment = SegmentReader::new(&snapshot.segments[0], &schema, 5);
            let mut errors = vec![];
            let n_damaged = verify::verify(segment, |error| errors.push(error));
            assert_eq!(n_damaged, errors.len() as u64);
            let reorders = number(&[segment], &schema, None, |_, _| ()).unwrap().reorders;
            assert_eq!(first_out_of_order(segment).unwrap().is_some(), reorders);
            errors.pop().inspect(|error| assert_eq!(error.kind(), ErrorKind::Corrupt))
        };
        assert!(found(&[]).is_none());
        assert!(found(&["number"]).is_none());
        let cases: [(&[&str], &str); 4] = [
            (&["-number"], "that of -number, found document 2 behind one"),
            (&["number", "word"], "that of number, word, found document 4 behind"),
            (&["word"], "found document 2 behind"),
            (&["-word"], "found document 3 behind"),
        ];
        for (order, words) in cases {
            let error = found(order).unwrap().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
