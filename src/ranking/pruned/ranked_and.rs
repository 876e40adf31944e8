//! Documents that several lists have, found by one of them. Documents of all lists are found by the shortest, and those
//! of any list that filters let through, by each.

use super::batch::{Batch, Others};
use super::bounds::{CLAUSES_MAX, code_for};
use super::parts::{LongPart, Opened};
use super::query::Run;
use crate::bitmap::{self, Container, ContainerBuf};
use crate::error::Result;
use crate::plan::in_window::{COUNTED_BY_SCORING_MAX, LOOK_UP_STEPS};
use crate::ranking::top::Top;
use crate::recycle::heap_bytes;
use crate::simd::arrays;
use crate::simd::sums::{count_codes, units};

/// Codes that are compared at once.
const STEP: usize = 32;

/// The memory of what lists have in common.
#[derive(Debug, Default)]
pub(super) struct RankedAnd {
    values: Vec<[u8; 2]>,
    batch: Batch,
    /// What a list and a filter have in common.
    filtered: Option<ContainerBuf>,
}

heap_bytes!(RankedAnd { values, batch, filtered });

impl RankedAnd {
    /// Begins another query.
    pub(super) fn start(&mut self) {
        self.batch.forget();
    }

    /// Offers what can be among the best in a window, by its shortest list.
    pub(super) fn offer<'q, 's>(
        &mut self,
        run: &mut Run<'q, 's>,
        key: u32,
        opened: &[Opened<'q, 's>],
        top: &mut Top,
    ) -> Result<()> {
        let lead = (0..opened.len()).min_by_key(|nth| opened[*nth].n_postings());
        let Some(lead) = lead else { return Ok(()) };
        let mut others = [0; CLAUSES_MAX];
        let mut n_others = 0;
        for nth in (0..opened.len()).filter(|nth| *nth != lead) {
            others[n_others] = nth;
            n_others += 1;
        }
        let others = &mut others[..n_others];
        others.sort_unstable_by_key(|nth| opened[*nth].n_postings());
        let bound = others.iter().map(|nth| u32::from(opened[*nth].best)).sum();
        let RankedAnd { values, batch, .. } = self;
        batch.start(opened.len());
        let others = Others { required: others, ..Others::default() };
        let mut probe = Probe { run, key, opened, lead, others, batch, top };
        if let Some((postings, _)) = opened[lead].long() {
            probe.take_container(postings, bound, values)?;
        }
        probe.offer()
    }

    /// Offers what can be among the best in a window, of the documents of the first `n_scored` lists that all others have.
    pub(super) fn offer_filtered<'q, 's>(
        &mut self,
        run: &mut Run<'q, 's>,
        (key, n_scored): (u32, usize),
        opened: &[Opened<'q, 's>],
        top: &mut Top,
    ) -> Result<()> {
        let numbers: [usize; CLAUSES_MAX] = std::array::from_fn(|nth| nth);
        let mut filters = numbers;
        let filters = &mut filters[n_scored..opened.len()];
        filters.sort_unstable_by_key(|nth| opened[*nth].n_postings());
        let RankedAnd { batch, filtered, .. } = self;
        let filtered = filtered.get_or_insert_default();
        batch.start(opened.len());
        for lead in 0..n_scored {
            let (done, optional) = (&numbers[..lead], &numbers[lead + 1..n_scored]);
            let others = Others { required: filters, optional, done };
            let (run, batch, top) = (&mut *run, &mut *batch, &mut *top);
            let mut probe = Probe { run, key, opened, lead, others, batch, top };
            probe.take_filtered(filtered)?;
            probe.offer()?;
        }
        Ok(())
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

    /// Takes documents of the lead that can be among the best.
    fn take_container(
        &mut self,
        lead: &LongPart<'_>,
        bound: u32,
        common: &mut Vec<[u8; 2]>,
    ) -> Result<()> {
        let weight = self.opened[self.lead].weight;
        let codes = lead.codes.by_rank().unwrap_or_default();
        let mut cut = self.least_code(bound);
        let Container::Array(values) = lead.container() else {
            let mut code = 0;
            for (rank, (low, own)) in (0..).zip(lead.container().iter().zip(codes)) {
                code = if *own > 0 { *own } else { code };
                if u32::from(code) >= cut {
                    self.take(low, lead.first_rank + rank, units(code, weight))?;
                }
            }
            return Ok(());
        };
        let n_leads = match cut {
            0..=1 => values.len(),
            _ => u8::try_from(cut).map_or(0, |cut| count_codes(codes, cut)),
        };
        if let Some(second) = self.first_required()
            && let Container::Array(others) = second.container()
            && n_leads * LOOK_UP_STEPS > values.len() + others.len()
        {
            common.resize(common.len().max(values.len()), [0; 2]);
            let n = arrays::and(values, others, common);
            let best = self.opened[self.lead].best;
            for value in &common[..n] {
                let low = u16::from_le_bytes(*value);
                if let Some(rank) = lead.directory.find(lead.container(), low) {
                    self.take(low, lead.first_rank + rank, best)?;
                }
            }
            return Ok(());
        }
        let mut code = 0;
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

    /// Takes documents of the lead that the first of the required lists has, too.
    fn take_filtered(&mut self, both: &mut ContainerBuf) -> Result<()> {
        let others = self.others.optional.iter().chain(self.others.required);
        let bound = others.map(|nth| u32::from(self.opened[*nth].best)).sum();
        let (lead, opened) = (self.lead, self.opened);
        let lists = opened[lead].long().zip(self.first_required());
        let Some(((list, _), filter)) = lists else { return Ok(()) };
        bitmap::and(list.container(), filter.container(), both);
        let (cut, weight) = (self.least_code(bound), opened[lead].weight);
        for low in both.as_container().iter() {
            let best = match list.codes.dense() {
                Some(codes) if u32::from(codes[usize::from(low >> 6)]) < cut => continue,
                Some(codes) => units(codes[usize::from(low >> 6)], weight),
                None => opened[lead].best,
            };
            if let Some(rank) = list.directory.find(list.container(), low) {
                self.take(low, list.first_rank + rank, best)?;
            }
        }
        Ok(())
    }

    /// The first of the lists that must have a document, which is the shortest.
    fn first_required(&self) -> Option<&'a LongPart<'s>> {
        self.opened[*self.others.required.first()?].long().map(|(part, _)| part)
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
