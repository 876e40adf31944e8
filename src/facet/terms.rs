//! Most frequent or first terms of a field among the matches, by term intersection.
//!
//! The count of a term is the size of what its posting list shares with the result. Most terms are never looked at:
//!
//! - If every document matches, the document frequency *is* the count; if all but deleted ones do, the document
//!   frequency less those of these that have the term.
//! - A term can never count more than its document frequency, nor more in a window of 65,536
//!   documents than the result has there. Once N counts are known, a term that cannot beat the
//!   N-th is skipped, at first by its dictionary entry, then by the header of its list.
//! - If no document has two values, each that is counted leaves less for the terms to come. Once too few are left for
//!   the N-th count, the rest of the dictionary is not even listed.
//!
//! The plan chooses between two orders by their cost. *Most frequent first* picks the terms with the
//! highest document frequencies in one pass, counts those, and takes a second pass over the others
//! only if some of them can still enter. *Dictionary order* is one pass that counts whatever may
//! enter: right where so few documents match that the document frequency excludes nothing.
//!
//! By value a single pass begins at the end of the dictionary that comes first, and ends with the last value that is wanted. A
//! filter leaves out terms before they are looked at. Counts are exact and ties go to the smaller term by bytes, over all
//! segments of a snapshot.
//!
//! Cost: 18 ns for each term that is listed, and for each that is intersected about 100 ns a window.
//! Memory: the N best, and where the most frequent come first as many as
//! [`cost::frequent_terms`] says.

use super::codes::count_by_term;
use super::deleted;
use super::intersection::{count_documents, count_list, count_present, most_in_common};
use super::merged::{MergedTerms, Occurrence};
use super::of_field::FieldMatches;
use super::profile::{FacetProfile, TermCounts};
use super::top::Top;
use crate::budget::{self, ns};
use crate::doc_id_set::{DocIdSet, MatchWindows};
use crate::error::Result;
use crate::format::postings::{LongList, PostingList};
use crate::format::terms::PostingsAt;
use crate::plan::{FacetMethod, FacetOrder, FacetPlan, SegmentPlan, ValuesWanted, cost};
use crate::segment::file::Section;
use crate::segment::reader::FieldReader;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::slice;

/// Counts the terms of a field by `method` among what matches.
pub(super) fn count_terms(
    of: FieldMatches<'_>,
    plan: &FacetPlan,
    method: FacetMethod,
) -> Result<TermCounts> {
    let mut counts = TermCounts { single_valued: true, ..TermCounts::default() };
    let mut counting = TermCounting {
        values: &plan.values,
        parts: vec![],
        left: 0,
        top: Top::new(&plan.values),
        long_lists: vec![],
        held: 0,
        profile: FacetProfile::default(),
    };
    for (segment, matches) in of.parts() {
        counting.add_segment(segment, plan, method, matches, &mut counts)?;
    }
    match method {
        _ if plan.values.limit == 0 || counting.left == 0 => {}
        FacetMethod::MostFrequentFirst => counting.count_most_frequent_first()?,
        _ => counting.count_in_order(None)?,
    }
    counting.parts.clear();
    budget::release(counting.held);
    counts.profile = counting.profile;
    let of_terms = &mut counts.profile.counts;
    let looked_at = of_terms.terms_intersected + of_terms.terms_from_document_frequency;
    of_terms.terms_skipped = plan.sizes.n_terms.saturating_sub(looked_at);
    counts.buckets = counting.top.into_sorted();
    Ok(counts)
}

struct TermCounting<'c, 's> {
    values: &'c ValuesWanted,
    /// The segments where a matching document has a value.
    parts: Vec<Part<'c, 's>>,
    /// Documents that the parts have left in all.
    left: u64,
    top: Top,
    /// Lists of the term being counted, whose headers have been read; kept for its room.
    long_lists: Vec<(usize, LongList<'s, Section<'s>>)>,
    /// Bytes that the deleted documents of the parts take, or their terms.
    held: u64,
    profile: FacetProfile,
}

struct Part<'c, 's> {
    field: FieldReader<'s>,
    matching: Matching<'c>,
    /// In how many matching documents a term that has not been counted can be.
    left: u64,
    /// Whether no document has two terms, so that each that is counted is one less.
    single_valued: bool,
}

/// Knowledge of the documents that match in a segment, and the test of a term.
enum Matching<'c> {
    Everything,
    Documents(&'c MatchWindows),
    /// All but these, which are deleted.
    AllBut(MatchWindows),
    /// All but deleted ones, of which so many have a term.
    AllButTerms(HashMap<Vec<u8>, u64>),
}

impl Matching<'_> {
    /// Windows that posting lists are intersected with; `None` if document frequencies say enough.
    fn tested(&self) -> Option<&MatchWindows> {
        match self {
            Matching::Everything | Matching::AllButTerms(_) => None,
            Matching::Documents(windows) => Some(windows),
            Matching::AllBut(windows) => Some(windows),
        }
    }

    /// Counts the documents of a term that match, of which so many are among those that it is tested with.
    fn count(&self, term: &[u8], frequency: u64, tested: u64) -> u64 {
        // Numbers in crafted lists may be anything.
        match self {
            Matching::Everything => frequency,
            Matching::Documents(_) => tested,
            Matching::AllBut(_) => frequency.saturating_sub(tested),
            Matching::AllButTerms(deleted) => {
                frequency.saturating_sub(deleted.get(term).copied().unwrap_or(0))
            }
        }
    }
}

/// Terms to be counted before others; greater ones are better: the more frequent, then the smaller.
type Candidates = BTreeMap<(u64, Reverse<Vec<u8>>), Vec<Occurrence>>;

impl<'c, 's> TermCounting<'c, 's> {
    fn add_segment(
        &mut self,
        segment: &SegmentPlan<'s>,
        plan: &FacetPlan,
        method: FacetMethod,
        matches: &'c DocIdSet,
        counts: &mut TermCounts,
    ) -> Result<()> {
        let (n_docs, n_matches) = (segment.n_docs, matches.len(segment.n_docs));
        let field = segment.segment.field(plan.field);
        let statistics = field.statistics()?;
        let present = statistics.n_docs_with_value;
        let n_deleted = deleted::n_of(segment.segment, matches);
        let (before, counts_of_work) = (budget::left(), &mut self.profile.counts);
        let mut matching = match (matches, n_deleted) {
            (DocIdSet::Everything, _) => Matching::Everything,
            (DocIdSet::Some(_), Some(n)) if method.takes_deleted_away(n, n_matches) => {
                counts_of_work.deleted_taken_away += n;
                Matching::AllBut(deleted::documents(segment.segment)?)
            }
            (DocIdSet::Some(windows), _) => Matching::Documents(windows),
        };
        let with_value = match matching.tested() {
            None => u64::from(present),
            Some(windows) => {
                let tested = count_present(field, n_docs, windows, &mut counts_of_work.bytes_read)?;
                matching.count(&[], present.into(), tested)
            }
        };
        if method == FacetMethod::DocumentFrequency
            && let Matching::AllBut(documents) = matching
        {
            let (segments, held) =
                (slice::from_ref(segment), before.saturating_sub(budget::left()));
            let of =
                FieldMatches { segments, matches: &[DocIdSet::Some(documents)], field: plan.field };
            matching = Matching::AllButTerms(count_by_term(of)?);
            budget::release(held);
        }
        self.held += before.saturating_sub(budget::left());
        let single_valued = statistics.n_tokens == u64::from(present);
        counts.single_valued &= single_valued;
        counts.with_value += with_value;
        counts.missing += n_matches.saturating_sub(with_value);
        if with_value > 0 {
            // A text may have no term at all, so that another may have two.
            let kind = segment.segment.schema().get(plan.field).kind;
            let single_valued = single_valued && !kind.is_text();
            self.parts.push(Part { field, matching, left: with_value, single_valued });
            self.left += with_value;
        }
        Ok(())
    }

    /// Counts the terms from the most frequent down as long as they can matter, some of them
    /// sorted and the others in the order of the dictionary.
    fn count_most_frequent_first(&mut self) -> Result<()> {
        let (candidates, are_all) = self.most_frequent(cost::frequent_terms(self.values.limit))?;
        for ((frequency, Reverse(term)), occurrences) in candidates.iter().rev() {
            // Later terms are in no more documents than this.
            if self.left.min(*frequency) < self.top.least() {
                return Ok(());
            }
            self.count_term(term, occurrences)?;
        }
        match candidates.first_key_value() {
            Some(((frequency, Reverse(term)), _)) if !are_all => {
                self.count_in_order(Some((*frequency, Reverse(term))))
            }
            _ => Ok(()),
        }
    }

    /// The `room` most frequent terms, and whether there are no others.
    fn most_frequent(&self, room: usize) -> Result<(Candidates, bool)> {
        let (mut best, mut least, mut are_all) = (Candidates::new(), 0, true);
        let mut terms = self.terms()?;
        while let Some((term, occurrences)) = terms.next()? {
            let (frequency, is_full) = (frequency(occurrences), best.len() == room);
            are_all &= !is_full;
            // Terms ascend, so that one of equal frequency is not better.
            if is_full && frequency <= least {
                continue;
            }
            if !is_full {
                let beside =
                    size_of::<(u64, Vec<u8>, Vec<Occurrence>)>() + size_of_val(occurrences);
                budget::hold((beside + term.len()) as u64)?;
            }
            let worst = if is_full { best.pop_first() } else { None };
            // For its room.
            let ((_, Reverse(mut kept)), mut kept_occurrences) = worst.unwrap_or_default();
            kept.clear();
            kept.extend_from_slice(term);
            kept_occurrences.clear();
            kept_occurrences.extend_from_slice(occurrences);
            best.insert((frequency, Reverse(kept)), kept_occurrences);
            least = best.first_key_value().map_or(0, |((least, _), _)| *least);
        }
        Ok((best, are_all))
    }

    /// Counts every term that may enter in the order of the dictionary, but for `counted` and what
    /// is better than that.
    fn count_in_order(&mut self, counted: Option<(u64, Reverse<&[u8]>)>) -> Result<()> {
        let mut terms = self.terms()?;
        while let Some((term, occurrences)) = terms.next()? {
            if !self.top.admits(self.left, term) {
                return Ok(());
            }
            if counted.is_some_and(|last| last <= (frequency(occurrences), Reverse(term))) {
                continue;
            }
            self.count_term(term, occurrences)?;
        }
        Ok(())
    }

    fn terms(&self) -> Result<MergedTerms<'c, 's>> {
        let ValuesWanted { ref filter, order, .. } = *self.values;
        let fields = self.parts.iter().map(|part| part.field);
        MergedTerms::of_fields(fields, filter.as_ref(), order == FacetOrder::ValueDescending)
    }

    /// Counts one term wherever it is, unless dictionary or headers say that it cannot matter.
    fn count_term(&mut self, term: &[u8], occurrences: &[Occurrence]) -> Result<()> {
        let bounds =
            occurrences.iter().map(|(at, info)| u64::from(info.df).min(self.parts[*at].left));
        if !self.top.admits(bounds.sum(), term) {
            return Ok(());
        }
        budget::work(ns::TERM_COUNTED * occurrences.len() as u64)?;
        let mut count = 0;
        for (at, info) in occurrences {
            let part = &self.parts[*at];
            let Some(windows) = part.matching.tested() else {
                let found = part.matching.count(term, info.df.into(), 0);
                self.profile.counts.terms_from_document_frequency += 1;
                count += self.take(*at, found);
                continue;
            };
            let found = match info.postings {
                _ if part.left == 0 => continue,
                PostingsAt::Inline(docs) => count_documents(docs.as_slice(), windows),
                PostingsAt::Section { .. } => match part.field.postings(info)? {
                    PostingList::Short(list) => count_documents(list.as_slice(), windows),
                    PostingList::Long(list) => {
                        self.profile.counts.bytes_read += list.header_len() as u64;
                        self.long_lists.push((*at, list));
                        continue;
                    }
                },
            };
            count += self.take_tested(*at, term, info.df.into(), found);
        }
        if let Some(more) = self.count_long_lists(term, count)? {
            self.top.offer(count + more, term)?;
        }
        Ok(())
    }

    /// Counts what matches in [`Self::long_lists`], which it empties; `None` where the headers say
    /// that a term of `count` documents elsewhere cannot enter.
    fn count_long_lists(&mut self, term: &[u8], count: u64) -> Result<Option<u64>> {
        let mut lists = std::mem::take(&mut self.long_lists);
        let (mut most, mut more) = (count, 0);
        if !lists.is_empty() && self.top.is_choosy() {
            for (at, list) in &lists {
                let part = &self.parts[*at];
                most += match part.matching {
                    Matching::Documents(windows) => most_in_common(list, windows)?,
                    _ => list.cardinality(),
                }
                .min(part.left);
            }
            if !self.top.admits(most, term) {
                lists.clear();
                self.long_lists = lists;
                return Ok(None);
            }
        }
        for (at, list) in lists.drain(..) {
            if let Some(windows) = self.parts[at].matching.tested() {
                let found = count_list(&list, windows, &mut self.profile.counts.bytes_read)?;
                more += self.take_tested(at, term, list.cardinality(), found);
            }
        }
        self.long_lists = lists;
        Ok(Some(more))
    }

    /// Notes that a term with so many documents is in so many of those that it was tested with; how many match.
    fn take_tested(&mut self, at: usize, term: &[u8], frequency: u64, tested: u64) -> u64 {
        self.profile.counts.terms_intersected += 1;
        self.take(at, self.parts[at].matching.count(term, frequency, tested))
    }

    /// Notes that a term is in `count` matching documents of a part.
    #[inline]
    fn take(&mut self, at: usize, count: u64) -> u64 {
        let part = &mut self.parts[at];
        if part.single_valued {
            let taken = count.min(part.left);
            part.left -= taken;
            self.left -= taken;
        }
        count
    }
}

#[inline]
fn frequency(occurrences: &[Occurrence]) -> u64 {
    occurrences.iter().map(|(_, info)| u64::from(info.df)).sum()
}
