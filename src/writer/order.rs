//! The numbers that documents get where segments become one, in the order of the schema if it has one.

use crate::budget;
use crate::error::Result;
use crate::ids::FieldId;
use crate::schema::{OrderField, Schema};
use crate::segment::order::{OrderRank, OrderRanks};
use crate::segment::ordinals::OrdinalMap;
use crate::segment::reader::SegmentReader;
use crate::segment::renumbering::Renumbering;
use crate::writer::merge_terms::MergedTerms;

/// What comparing two documents takes about, in nanoseconds.
const COMPARED_NS: u64 = 5;

/// New numbers for the documents of some segments.
#[derive(Debug)]
pub(super) struct Numbering {
    /// Of each segment.
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

/// Numbers the documents that are not deleted: those of the first segment, then those of the second and so on, and where the
/// schema has an order, in that. Documents of the same values stay as they are to each other.
///
/// Takes memory of up to 24 bytes for each document for the first field of an order and 16 for each other, of which 4 are kept;
/// where a field of keywords is among them a byte for each of its terms in each segment, too.
pub(super) fn number(segments: &[SegmentReader<'_>], schema: &Schema) -> Result<Numbering> {
    let (mut base, mut in_turn) = (0, Vec::with_capacity(segments.len()));
    for &segment in segments {
        let numbers = Renumbering::of(segment, base)?;
        base += numbers.n_live();
        in_turn.push(numbers);
    }
    let Some((first, others)) = schema.order_fields().split_first() else {
        return Ok(Numbering { of_segments: in_turn, reorders: false });
    };
    let mut entries = Vec::with_capacity(base as usize);
    for_each_rank(segments, &in_turn, *first, |OrderRank { is_missing, code }| {
        entries.push(Entry { is_missing, place: entries.len() as u32, code });
    })?;
    let mut ranks = vec![];
    for key in others {
        let mut of_key = Vec::with_capacity(entries.len());
        for_each_rank(segments, &in_turn, *key, |rank| of_key.push(rank))?;
        ranks.push(of_key);
    }
    let by_others = |a: &Entry, b: &Entry| {
        let pairs = ranks.iter().map(|of_key| (of_key[a.place as usize], of_key[b.place as usize]));
        pairs.map(|(a, b)| a.cmp(&b)).find(|order| order.is_ne())
    };
    let compare = |a: &Entry, b: &Entry| {
        let by_first = (a.is_missing, a.code).cmp(&(b.is_missing, b.code));
        by_first.then_with(|| by_others(a, b).unwrap_or(std::cmp::Ordering::Equal))
    };
    if entries.is_sorted_by(|a, b| compare(a, b).is_le()) {
        return Ok(Numbering { of_segments: in_turn, reorders: false });
    }
    budget::work(COMPARED_NS * u64::from(base) * u64::from(base.ilog2()))?;
    // One that keeps the order of what is equal, and is fast where segments that are in order stand behind each other.
    entries.sort_by(compare);
    drop(ranks);
    let mut numbers = vec![0; entries.len()];
    (0..).zip(&entries).for_each(|(number, entry)| numbers[entry.place as usize] = number);
    drop(entries);
    let mapped = |(numbering, segment): (&Renumbering, &SegmentReader<'_>)| {
        numbering.mapped(segment.n_docs(), |place| numbers[place as usize])
    };
    let of_segments = in_turn.iter().zip(segments).map(mapped).collect();
    Ok(Numbering { of_segments, reorders: true })
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
