//! Documents that several lists have, found by one of them. Documents of all lists are found by the shortest, and those
//! of any list that filters let through, by each.

use super::batch::{Batch, Others};
use super::bounds::{CLAUSES_MAX, code_for};
use super::parts::{LongPart, Opened};
use super::query::Run;
use crate::bitmap::{self, Container, ContainerBuf};
use crate::error::Result;
use crate::plan::in_window::{self, COUNTED_BY_SCORING_MAX};
use crate::ranking::top::Top;
use crate::recycle::heap_bytes;
use crate::simd::sums::{BLOCKS, count_codes, units};

/// Codes that are compared at once.
const STEP: usize = 32;
/// Postings of a list that are gone through in the time of one run.
const STEPS_OF_RUN: usize = 8;

/// The memory of what lists have in common.
#[derive(Debug, Default)]
pub(super) struct RankedAnd {
    pub(super) batch: Batch,
    common: Common,
}

heap_bytes!(RankedAnd { batch, common });

/// Documents that lists have in common in a window, and room for those that one list more has, too.
#[derive(Debug, Default)]
struct Common {
    all: Option<ContainerBuf>,
    next: Option<ContainerBuf>,
    values: Vec<[u8; 2]>,
}

heap_bytes!(Common { all, next, values });

impl Common {
    /// Documents that the first of some lists has and those after it, as long as going through these pays.
    fn intersect<'a>(&mut self, mut lists: impl Iterator<Item = Container<'a>>) -> &[[u8; 2]] {
        let Common { all, next, values } = self;
        let (all, next) = (all.get_or_insert_default(), next.get_or_insert_default());
        all.set(lists.next().unwrap_or(Container::Array(&[])));
        for list in lists {
            let n = all.cardinality() as usize;
            if !are_intersected(n, n, list) {
                break;
            }
            bitmap::and(all.as_container(), list, next);
            std::mem::swap(all, next);
        }
        all.as_container().values(values)
    }
}

/// Whether so many of the postings of a container are found in another by going through both for less than by looking each up.
fn are_intersected(n: usize, n_postings: usize, other: Container<'_>) -> bool {
    let n_others = match other {
        Container::Array(values) => values.len(),
        Container::Bitmap(_) => 0,
        Container::Run(runs) => STEPS_OF_RUN * runs.len(),
    };
    in_window::intersecting_pays(n, n_postings + n_others)
}

impl RankedAnd {
    /// Begins another query.
    pub(super) fn start(&mut self) {
        self.batch.forget();
    }

    /// Offers what can be among the best in a window, of the documents that all lists from `n_scored` on have: those of any list before,
    /// or where there is none after, those that all have. With `bounds` only of blocks whose bounds are not below the limit.
    pub(super) fn offer<'q, 's>(
        &mut self,
        run: &mut Run<'q, 's>,
        (key, n_scored, bounds): (u32, usize, Option<&[u16; BLOCKS]>),
        opened: &[Opened<'q, 's>],
        top: &mut Top,
    ) -> Result<()> {
        let numbers: [usize; CLAUSES_MAX] = std::array::from_fn(|nth| nth);
        let (mut order, n_lists) = (numbers, opened.len());
        let (n_leads, first) = if n_scored == n_lists { (1, 0) } else { (n_scored, n_scored) };
        order[first..n_lists].sort_unstable_by_key(|nth| opened[*nth].n_postings());
        for (nth, &lead) in order[..n_leads].iter().enumerate() {
            let others = Others {
                required: &order[n_leads..n_lists],
                optional: &numbers[nth + 1..n_leads],
                done: &numbers[..nth],
            };
            self.offer_lead(run, (key, bounds), opened, (lead, others), top)?;
        }
        Ok(())
    }

    /// Offers what can be among the best in a window, of the documents of one list that the others allow.
    pub(super) fn offer_lead<'q, 's>(
        &mut self,
        run: &mut Run<'q, 's>,
        (key, bounds): (u32, Option<&[u16; BLOCKS]>),
        opened: &[Opened<'q, 's>],
        (lead, others): (usize, Others<'_>),
        top: &mut Top,
    ) -> Result<()> {
        let RankedAnd { batch, common } = self;
        batch.start(opened.len());
        let mut probe = Probe { run, key, opened, lead, others, batch, top };
        probe.take_lead(common, bounds)?;
        probe.offer()
    }
}

/// Looks documents of one list up in the others.
struct Probe<'a, 'q, 's, 't> {
    run: &'t mut Run<'q, 's>,
    key: u32,
    opened: &'a [Opened<'q, 's>],
    lead: usize,
    others: Others<'a>,
    batch: &'t mut Batch,
    top: &'t mut Top,
}

impl<'a, 's> Probe<'a, '_, 's, '_> {
    /// The units below which a document is of no interest: none as long as all are counted.
    #[inline]
    fn limit(&self) -> u32 {
        match self.run.pruning.matching {
            Some(_) => 0,
            None => self.run.query.scale.limit(self.top.threshold()),
        }
    }

    /// Takes documents of the lead that can be among the best: where few of them can, those that say so by a code of their own, else
    /// what the lead and the lists that must have a document have in common.
    fn take_lead(&mut self, common: &mut Common, bounds: Option<&[u16; BLOCKS]>) -> Result<()> {
        let others = self.others.optional.iter().chain(self.others.required);
        let bound = others.map(|nth| u32::from(self.opened[*nth].best)).sum();
        let opened = &self.opened[self.lead];
        let Some((list, _)) = opened.long() else { return Ok(()) };
        // But for windows that are gone through whole, bounds leave out too much of the first two for a third to be worth it.
        let n_required = bounds.map_or(1, |_| self.others.required.len());
        let required = self.others.required.iter().take(n_required);
        let mut others = required
            .filter_map(|nth| self.opened[*nth].long())
            .map(|(list, _)| list.container())
            .peekable();
        let (cut, limit) = (self.least_code(bound), self.limit().max(1));
        if let (Container::Array(values), Some(codes)) = (list.container(), list.codes.by_rank()) {
            let n_leads = match cut {
                0..=1 => values.len(),
                _ => u8::try_from(cut).map_or(0, |cut| count_codes(codes, cut)),
            };
            if others.peek().is_none_or(|other| !are_intersected(n_leads, values.len(), *other)) {
                return self.take_by_rank(list, (values, codes), bound);
            }
        }
        let is_alone = others.peek().is_none();
        let found = common.intersect(std::iter::once(list.container()).chain(others));
        for (rank, low) in (0..).zip(found) {
            let low = u16::from_le_bytes(*low);
            let block = usize::from(low >> 6);
            let best = match list.codes.dense() {
                _ if bounds.is_some_and(|sums| u32::from(sums[block]) < limit) => continue,
                Some(codes) if u32::from(codes[block]) < cut => continue,
                Some(codes) => units(codes[block], opened.weight),
                None => opened.best,
            };
            let found = || list.directory.find(list.container(), low);
            if let Some(rank) = if is_alone { Some(rank) } else { found() } {
                self.take(low, list.first_rank + rank, best)?;
            }
        }
        Ok(())
    }

    /// Takes documents of a lead that has a code for each posting.
    fn take_by_rank(
        &mut self,
        lead: &LongPart<'_>,
        (values, codes): (&[[u8; 2]], &[u8]),
        bound: u32,
    ) -> Result<()> {
        let weight = self.opened[self.lead].weight;
        let (mut cut, mut code) = (self.least_code(bound), 0);
        for (nth, (values, codes)) in values.chunks(STEP).zip(codes.chunks(STEP)).enumerate() {
            let best = codes.iter().fold(code, |best, code| best.max(*code));
            if u32::from(best) < cut {
                code = codes.iter().rev().find(|code| **code > 0).copied().unwrap_or(code);
                continue;
            }
            for (at, (value, own)) in values.iter().zip(codes).enumerate() {
                code = if *own > 0 { *own } else { code };
                if u32::from(code) >= cut {
                    let rank = lead.first_rank + (nth * STEP + at) as u32;
                    self.take(u16::from_le_bytes(*value), rank, units(code, weight))?;
                }
            }
            cut = self.least_code(bound);
        }
        Ok(())
    }

    /// The smallest code of the lead with which a document can reach the limit, where the others add so many units.
    fn least_code(&self, bound: u32) -> u32 {
        match self.opened[self.lead].weight {
            // It only filters.
            0 => 0,
            weight => code_for(self.limit().saturating_sub(bound), weight),
        }
    }

    /// Takes a document of the lead.
    #[inline]
    fn take(&mut self, low: u16, rank: u32, units: u16) -> Result<()> {
        self.batch.push(low, (self.lead, rank), units);
        if self.batch.is_full() { self.offer() } else { Ok(()) }
    }

    /// Scores the documents that were taken and that all others have, if they can be among the best.
    fn offer(&mut self) -> Result<()> {
        let (limit, of_window) = (self.limit(), (self.key, self.opened));
        let Run { query, readers, pruning } = &mut *self.run;
        let found = self.batch.finish(query, of_window, self.others, limit, readers)?;
        let mut n = 0;
        for (doc, score) in found {
            n += 1;
            if score >= self.top.threshold() {
                query.push(score, doc, self.top);
            }
        }
        pruning.documents_scored += n;
        pruning.matching =
            pruning.matching.map(|all| all + n).filter(|n| *n <= COUNTED_BY_SCORING_MAX);
        Ok(())
    }
}
