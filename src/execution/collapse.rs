//! Hits of which each value of a field has a few at the most.
//!
//! The hits are those of the search, in their order, without all that come after enough of the same value. They are found a batch
//! at a time, each several times as large as the one before, until the page is full or there are no more: how deep that is nobody
//! knows before, but how many there are in all is counted once the first batch is not enough.

use super::outcome::Outcome;
use super::profile::WorkCounts;
use super::top_hits::TopHits;
use super::{SearchContext, SearchPlan};
use crate::budget::{self, Held, ns};
use crate::doc_id_set::{DocIdSet, Matches};
use crate::error::{Error, ErrorKind, Result};
use crate::facet::{self, DistinctCounts, FieldMatches};
use crate::format::column::BLOCK_DOCS;
use crate::hits::Hit;
use crate::ids::{DocId, FieldId, TermOrdinal};
use crate::plan::order::{batch_after, first_batch};
use crate::plan::{CollapseStrategy, SegmentPlan};
use crate::request::{After, Collapse};
use crate::value::{self, Value};
use std::collections::HashMap;
use std::time::Instant;

/// Documents whose values are looked up of a search that is stopped: in less than a millisecond.
const AFTER_STOP: u64 = 1_024;
/// Bytes of a group beside its term.
const GROUP_BYTES: u64 = 96;

impl<'s> SearchContext<'_, 's> {
    /// The first hits of each value of a field, in the order of the search.
    pub(super) fn collapse(
        &self,
        plan: &mut SearchPlan<'s>,
        strategy: CollapseStrategy,
        mut hit: impl FnMut(Hit) -> Result<()>,
    ) -> Result<Outcome> {
        let (mut found, mut page) = (Outcome::uncounted(), vec![]);
        let (Some(collapse), Some(field)) = (&self.request.collapse, self.group) else {
            return Ok(found);
        };
        let best = TopHits::new(self, plan.page.first);
        let done =
            self.with_matches(&mut plan.matching, &mut found, |execution, matches, found| {
                let started = Instant::now();
                let segments = &execution.plan().segments;
                let mut grouping = Grouping {
                    context: self,
                    best: &best,
                    collapse,
                    field,
                    segments,
                    strategy,
                    page: vec![],
                    counts: None,
                    looked_at: 0,
                    n_kept: 0,
                    is_behind: false,
                };
                let done =
                    grouping.find_page(matches).and_then(|()| grouping.count(matches).map(|_| ()));
                let n_groups =
                    |counts: DistinctCounts| counts.distinct + grouping.n_missing(&counts);
                found.groups = grouping.counts.map(n_groups);
                found.looked_at = WorkCounts::Groups(grouping.looked_at);
                (page, found.took) = (grouping.page, started.elapsed());
                done
            });
        self.end(done, &mut found)?;
        found.n_hits = page.len() as u64;
        page.into_iter().try_for_each(&mut hit)?;
        Ok(found)
    }
}

/// Finds the page of a search whose hits are grouped.
struct Grouping<'g, 's> {
    context: &'g SearchContext<'g, 's>,
    /// Finds the first of known documents.
    best: &'g TopHits<'g>,
    collapse: &'g Collapse,
    field: FieldId,
    segments: &'g [SegmentPlan<'g>],
    strategy: CollapseStrategy,
    /// Hits found so far.
    page: Vec<Hit>,
    /// Number of groups and of all their hits, once that is counted.
    counts: Option<DistinctCounts>,
    /// Documents of all batches that were looked at.
    looked_at: u64,
    /// Hits that the last batch has, on the page or not.
    n_kept: u64,
    /// Whether it went past the hit that the page comes after.
    is_behind: bool,
}

/// The value that documents of a group have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Group {
    Missing,
    /// Code of numbers and the like, the same in all segments.
    Code(u64),
    Term(Box<[u8]>),
}

impl Grouping<'_, '_> {
    /// Finds the page. If it is stopped, the page has the hits found until then: those of the last whole batch or, of
    /// the first, those it had looked at.
    fn find_page(&mut self, matches: &Matches) -> Result<()> {
        let n_matches = self.segments.iter().zip(matches);
        let n_matches: u64 = n_matches.map(|(it, matches)| matches.len(it.n_docs)).sum();
        if n_matches == 0 {
            return Ok(());
        }
        let page_end = self.context.page_end();
        let mut n = match self.strategy {
            CollapseStrategy::Batches(n) => n,
            CollapseStrategy::CountFirst => first_batch(page_end.min(self.count(matches)?)),
            CollapseStrategy::All => n_matches,
        };
        loop {
            n = n.min(n_matches);
            self.page = budget::giving_back(|| self.page_of_first(matches, n))?;
            if n == n_matches && !self.is_behind {
                let found = self.after().map_or_else(String::new, |doc| format!("document {doc}"));
                return Err(Error::new(ErrorKind::Usage, "going on after a hit")
                    .expected("a hit of this search")
                    .found(found));
            }
            let is_full = self.page.len() as u64 == self.context.request.limit || n == n_matches;
            if is_full || self.count(matches)? == self.n_kept && self.is_behind {
                return budget::hold(size_of_val(&self.page[..]) as u64);
            }
            n = batch_after(n);
        }
    }

    /// Number of all hits, counted once.
    fn count(&mut self, matches: &Matches) -> Result<u64> {
        let counts = match self.counts {
            Some(counts) => counts,
            None => {
                let keep = self.collapse.keep;
                let of = FieldMatches { segments: self.segments, matches, field: self.field };
                let count = || facet::count_distinct(of, keep);
                *self.counts.insert(budget::giving_back(count)?)
            }
        };
        let of_missing = match self.collapse.missing_alone {
            true => counts.missing,
            false => counts.missing.min(self.collapse.keep),
        };
        Ok(counts.kept + of_missing)
    }

    /// Number of groups that the hits without a value are.
    fn n_missing(&self, counts: &DistinctCounts) -> u64 {
        if self.collapse.missing_alone { counts.missing } else { counts.missing.min(1) }
    }

    /// The page, as far as the first `n` documents have it.
    fn page_of_first(&mut self, matches: &[DocIdSet], n: u64) -> Result<Vec<Hit>> {
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        let (mut page, mut skipped, mut n_after_stop) = (vec![], 0, 0);
        let (mut n_of_group, mut held) = (HashMap::<Group, u64>::new(), Held::default());
        (self.n_kept, self.is_behind) = (0, self.after().is_none());
        // Hits of an earlier batch are no worse than those of one that is stopped would be.
        let most_after_stop = if self.looked_at == 0 { AFTER_STOP } else { 0 };
        let done = self.best.each(self.segments, matches, n, |mut hit| {
            if let Err(stop) = budget::work(ns::GROUP_LOOKED_UP) {
                n_after_stop += 1;
                if n_after_stop > most_after_stop {
                    return Err(stop);
                }
            }
            self.looked_at += 1;
            let was_behind = self.is_behind;
            self.is_behind |= self.after() == Some(hit.doc);
            let group = self.group_of(hit.doc)?;
            if group != Group::Missing || !self.collapse.missing_alone {
                let n_before = n_of_group.get(&group).copied().unwrap_or(0);
                if n_before == self.collapse.keep {
                    return Ok(true);
                }
                if n_before == 0 {
                    let of_term = if let Group::Term(term) = &group { term.len() } else { 0 };
                    held.more(GROUP_BYTES + of_term as u64)?;
                }
                n_of_group.insert(group.clone(), n_before + 1);
            }
            self.n_kept += 1;
            if !was_behind {
                return Ok(true);
            }
            if skipped < self.context.request.offset {
                skipped += 1;
                return Ok(true);
            }
            hit.group = Some(self.value_of(group));
            budget::hold(size_of::<Hit>() as u64)?;
            page.push(hit);
            Ok((page.len() as u64) < self.context.request.limit)
        });
        match done {
            Err(stop) if budget::is_stop(&stop) && self.page.is_empty() => {
                self.page = page;
                Err(stop)
            }
            done => done.map(|()| page),
        }
    }

    /// The hit that the page comes after.
    fn after(&self) -> Option<DocId> {
        self.context.request.after.as_ref().map(After::doc)
    }

    fn group_of(&self, doc: DocId) -> Result<Group> {
        let at = self.segments.partition_point(|segment| segment.base <= doc.0);
        let Some(segment) = at.checked_sub(1).and_then(|at| self.segments.get(at)) else {
            return Ok(Group::Missing);
        };
        let field = segment.segment.field(self.field);
        // Whether there is one was looked up in the schema.
        let Some(column) = field.column()? else { return Ok(Group::Missing) };
        let doc = (doc.0 - segment.base) as u32;
        let nth = doc / BLOCK_DOCS;
        let block = column.block(nth, column.head(nth)?)?;
        let Some(code) = block.least(doc % BLOCK_DOCS) else { return Ok(Group::Missing) };
        if !segment.segment.schema().get(self.field).has_ordinals() {
            return Ok(Group::Code(code));
        }
        let (mut term, ordinal) = (vec![], u32::try_from(code).unwrap_or(u32::MAX));
        field.terms()?.term(TermOrdinal(ordinal), &mut term)?;
        Ok(Group::Term(term.into()))
    }

    fn value_of(&self, group: Group) -> Value {
        let kind = self.context.snapshot.manifest.schema.get(self.field).kind;
        match group {
            Group::Missing => Value::Null,
            Group::Code(code) => value::value(kind, code),
            Group::Term(term) => Value::of_term(kind, &term),
        }
    }
}
