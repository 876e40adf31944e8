//! First documents of an order by its first field's dictionary. Its lists come in the order of the values.
//!
//! If many documents match, the lists of the first few values hold as many of them as are wanted: these are candidates, and
//! the column is looked at for them alone. Whether they do is not known before they are read; after as much work as the
//! column takes it is given up.
//!
//! Cost: some 10 to 40 ns for each document in these lists, which are about as many as are wanted times all documents over those
//! that match. Memory: 4 bytes a candidate.

use super::first::{AFTER_STOP, First};
use super::order::SortField;
use super::place::Place;
use crate::budget::{self, Held, ns};
use crate::doc_id_set::{DocIdSet, MatchWindows};
use crate::error::{Error, Result};
use crate::ids::DocId;
use crate::plan::SegmentPlan;
use crate::plan::order::ListCosts;
use crate::segment::reader::FieldReader;
use crate::sums::sums;
use crate::value::term_of_code;
use std::ops::{Bound, Range};

/// Lists of a dictionary read in the order of their terms, or in reverse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamCounts {
    /// Segments whose first documents were found so.
    pub segments: u64,
    /// Segments in which this was given up, as the matches' values are too far.
    pub given_up: u64,
    /// Terms whose lists were read.
    pub terms: u64,
    /// Documents in these lists.
    pub documents: u64,
    /// Documents of the lists that match.
    pub candidates: u64,
}

sums! {
    StreamCounts: segments, given_up, terms, documents, candidates;
}

/// Documents that have the first of all that match among them.
pub(super) struct Streamed {
    pub(super) documents: DocIdSet,
    /// A few of them, in the order of the lists: what is looked at where there is no time for the others.
    pub(super) first: Vec<u32>,
    /// Why these are not as many as wanted, where there was no time to find more.
    pub(super) stopped: Option<Error>,
}

/// Lists of a dictionary that have the first of what matches.
pub(super) struct FirstLists {
    field: SortField,
    pub(super) ordinals: Range<u32>,
    pub(super) n_docs: u64,
    /// Term and document that all must come behind.
    after: Option<(Vec<u8>, DocId)>,
    /// Whether documents without a value may match.
    has_missing: bool,
}

impl First<'_> {
    /// Lists with the first of what matches; `None` where they cannot or may not be read, or what has no value comes before.
    pub(super) fn lists(&self, segment: &SegmentPlan<'_>) -> Result<Option<FirstLists>> {
        let first_field = self.order.first_field().filter(|_| self.strategy.may_read_lists());
        let Some(field) = first_field else { return Ok(None) };
        let reader = segment.segment.field(field.field);
        let Some(column) = reader.column()? else { return Ok(None) };
        // One with several values would be in several lists.
        if column.n_values() != u64::from(column.n_with()) {
            return Ok(None);
        }
        // Without ranges documents that have no value may match as well.
        let has_missing = column.n_with() < column.n_docs() && self.within.is_empty();
        let after = self.after.as_ref().map(|after| Some((term_of(field, after)?, after.doc)));
        let after = match after {
            None if has_missing && field.direction.missing_first => return Ok(None),
            Some(None) => return Ok(None),
            after => after.flatten(),
        };
        let ordinals = self.ordinals(field, reader, after.as_ref())?;
        let n_docs = reader.documents_between(ordinals.clone())?.map(u64::from);
        let n_docs = n_docs.unwrap_or(column.n_values());
        Ok(Some(FirstLists { field, ordinals, n_docs, after, has_missing }))
    }

    /// Documents that have the first of all that match among them; `None` where the lists do not, before they cost too much.
    pub(super) fn candidates(
        &mut self,
        lists: FirstLists,
        (segment, matches): (&SegmentPlan<'_>, &DocIdSet),
        costs: ListCosts,
    ) -> Result<Option<Streamed>> {
        let (has_missing, mut found, mut stopped) =
            (lists.has_missing, Candidates::default(), None);
        let is_affordable = match self.read_lists(lists, (segment, matches), costs, &mut found) {
            // Hits found until then are shown.
            Err(error) if budget::is_stop(&error) => {
                stopped = Some(error);
                true
            }
            done => done?,
        };
        // If there are too few, those without a value come next.
        let is_enough = found.n_counted >= self.n || !has_missing || stopped.is_some();
        if !is_affordable || !is_enough {
            self.profile.streamed.given_up += 1;
            return Ok(None);
        }
        self.profile.streamed.segments += 1;
        let first = found.docs.iter().take(AFTER_STOP).copied().collect();
        found.docs.sort_unstable();
        let documents = DocIdSet::Some(MatchWindows::of_documents(segment.n_docs, &found.docs)?);
        Ok(Some(Streamed { documents, first, stopped }))
    }

    /// The terms that documents which are wanted may have.
    fn ordinals(
        &self,
        field: SortField,
        reader: FieldReader<'_>,
        after: Option<&(Vec<u8>, DocId)>,
    ) -> Result<Range<u32>> {
        let dictionary = reader.terms()?;
        let from = after.map_or(Bound::Unbounded, |(term, _)| Bound::Included(&term[..]));
        let terms = match field.direction.descending {
            false => dictionary.range(from, Bound::Unbounded)?,
            true => dictionary.range(Bound::Unbounded, from)?,
        };
        let mut ordinals = terms.ordinals();
        for range in &self.within {
            if let Some(range) = range.ordinals(&dictionary)? {
                ordinals = ordinals.start.max(range.start)..ordinals.end.min(range.end);
            }
        }
        Ok(ordinals.start..ordinals.end.max(ordinals.start))
    }

    /// Adds the matches of the first of these lists to `found`, until there are as many as wanted; whether that is not too much.
    fn read_lists(
        &mut self,
        FirstLists { field, ordinals, after, .. }: FirstLists,
        (segment, matches): (&SegmentPlan<'_>, &DocIdSet),
        costs: ListCosts,
        found: &mut Candidates,
    ) -> Result<bool> {
        let (reader, profile) = (segment.segment.field(field.field), &mut self.profile.streamed);
        let (n_wanted, by_number) = (self.n, self.is_told_by_first);
        let dictionary = reader.terms()?;
        // The list of what all must come behind has documents that come before, where it is the first.
        let mut of_after = None;
        if let Some((term, doc)) = &after {
            let first = dictionary.rank(term)?;
            let is_first = match field.direction.descending {
                false => ordinals.start == first,
                true => ordinals.end == first.saturating_add(1),
            };
            of_after = (is_first && dictionary.get(term)?.is_some()).then_some(*doc);
        }
        let mut infos = dictionary.infos(ordinals.clone());
        let mut backwards = field.direction.descending.then(|| dictionary.terms(ordinals));
        let (mut docs, mut spent_ns) = (vec![], 0.0);
        while found.n_counted < n_wanted {
            let next = match &mut backwards {
                Some(terms) => terms.next_back()?.map(|(_, _, info)| info),
                None => infos.next()?,
            };
            let Some(info) = next else { break };
            spent_ns += costs.list + costs.doc * info.df as f32;
            profile.terms += 1;
            profile.documents += u64::from(info.df);
            if spent_ns > costs.most {
                return Ok(false);
            }
            budget::work(ns::LIST_STREAMED + ns::DOC_OF_SHORT_LIST * u64::from(info.df))?;
            docs.clear();
            reader.postings(&info)?.decode_into(segment.n_docs, &mut docs)?;
            let (behind, before) = (of_after.take(), found.docs.len());
            for doc in &docs {
                let id = DocId(segment.base + u64::from(*doc));
                let is_behind = behind.is_none_or(|after| by_number && id > after);
                let is_match = match matches {
                    DocIdSet::Everything => true,
                    DocIdSet::Some(windows) => windows.contains(*doc),
                };
                if !is_match || by_number && !is_behind {
                    continue;
                }
                found.docs.push(*doc);
                found.n_counted += usize::from(is_behind);
                if by_number && found.n_counted == n_wanted {
                    break;
                }
            }
            let n_added = (found.docs.len() - before) as u64;
            profile.candidates += n_added;
            found.held.more(n_added * size_of::<u32>() as u64)?;
        }
        Ok(true)
    }
}

/// The term that a place of another page has; `None` where it has no value.
fn term_of(field: SortField, after: &Place) -> Option<Vec<u8>> {
    match field.has_ordinals {
        true => after.terms.first()?.as_deref().map(<[u8]>::to_vec),
        false => Some(term_of_code(field.direction.code(after.first)?).to_vec()),
    }
}

/// Documents that match, with the first of all among them.
#[derive(Default)]
struct Candidates {
    docs: Vec<u32>,
    /// Number of documents known to come behind the place that all must.
    n_counted: usize,
    held: Held,
}
