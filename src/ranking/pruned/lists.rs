//! Documents that all lists have, found by the shortest of them.

use super::bounds::{CLAUSES_MAX, code_for};
use super::parts::{LongPart, Opened, Postings};
use super::pruning::Pruning;
use super::query::Query;
use super::sum::{Readers, Sum};
use super::window::WINDOW;
use crate::bitmap::Container;
use crate::error::Result;
use crate::ids::DocId;
use crate::ranking::top::Top;
use crate::simd::arrays;
use crate::simd::sums::{count_codes, units};

/// Codes that are compared at once.
const STEP: usize = 32;
/// What looking a document up costs, in documents of two lists that are intersected.
const LOOKUP: usize = 6;

/// Matches that are counted by scoring them: about what planning a count takes.
const COUNTED_MAX: u64 = 500;

/// The memory of what two lists have in common.
#[derive(Debug, Default)]
pub(super) struct Common {
    values: Vec<[u8; 2]>,
}

impl Common {
    pub(super) fn bytes(&self) -> usize {
        self.values.capacity() * size_of::<[u8; 2]>()
    }

    /// Offers what can be among the best in a window, by its shortest list.
    pub(super) fn offer<'s>(
        &mut self,
        query: &Query<'_, 's>,
        key: u32,
        opened: &[Opened<'_, 's>],
        readers: &mut Readers<'s>,
        top: &mut Top,
        pruning: &mut Pruning,
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
        let mut probe = Probe { query, key, opened, lead, others, readers, top, pruning };
        match &opened[lead].postings {
            Postings::Short { docs, units, .. } => {
                for (rank, (doc, units)) in (0..).zip(docs.iter().zip(*units)) {
                    if u32::from(*units) + bound >= probe.limit() {
                        probe.offer((doc % WINDOW) as u16, rank, *units)?;
                    }
                }
                Ok(())
            }
            Postings::Long(postings, _) => self.by_container(&mut probe, postings, bound),
        }
    }

    fn by_container(
        &mut self,
        probe: &mut Probe<'_, '_, '_, '_>,
        lead: &LongPart<'_>,
        bound: u32,
    ) -> Result<()> {
        let weight = probe.opened[probe.lead].weight;
        let codes = lead.codes.by_rank().unwrap_or_default();
        let least =
            |probe: &Probe<'_, '_, '_, '_>| code_for(probe.limit().saturating_sub(bound), weight);
        let mut cut = least(probe);
        let Container::Array(values) = lead.container() else {
            let mut code = 0;
            for (rank, (low, own)) in (0..).zip(lead.container().iter().zip(codes)) {
                code = if *own > 0 { *own } else { code };
                if u32::from(code) >= cut {
                    probe.offer(low, lead.first_rank + rank, units(code, weight))?;
                }
            }
            return Ok(());
        };
        let n_leads = match cut {
            0..=1 => values.len(),
            _ => u8::try_from(cut).map_or(0, |cut| count_codes(codes, cut)),
        };
        if let Some(Postings::Long(second, _)) =
            probe.others.first().map(|nth| &probe.opened[*nth].postings)
            && let Container::Array(others) = second.container()
            && n_leads * LOOKUP > values.len() + others.len()
        {
            self.values.resize(self.values.len().max(values.len()), [0; 2]);
            let n = arrays::and(values, others, &mut self.values);
            for value in &self.values[..n] {
                let low = u16::from_le_bytes(*value);
                if let Some(rank) = lead.directory.find(lead.container(), low) {
                    let best = probe.opened[probe.lead].best;
                    probe.offer(low, lead.first_rank + rank, best)?;
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
                    probe.offer(u16::from_le_bytes(*value), rank, units(code, weight))?;
                }
            }
            cut = least(probe);
        }
        Ok(())
    }
}

/// Looks documents of one list up in the others.
struct Probe<'a, 'q, 's, 't> {
    query: &'a Query<'q, 's>,
    key: u32,
    opened: &'a [Opened<'q, 's>],
    lead: usize,
    /// All but the lead, the shortest first.
    others: &'a [usize],
    readers: &'t mut Readers<'s>,
    top: &'t mut Top,
    pruning: &'t mut Pruning,
}

impl Probe<'_, '_, '_, '_> {
    /// The units below which a document is of no interest: none as long as all are counted.
    #[inline]
    fn limit(&self) -> u32 {
        match self.pruning.matching {
            Some(_) => 0,
            None => self.query.scale.limit(self.top.threshold()),
        }
    }

    /// Scores a document of the lead, if all others have it and it can be among the best.
    fn offer(&mut self, low: u16, rank: u32, lead_units: u16) -> Result<()> {
        // One byte a list tells of most documents that they are not there, or not good enough.
        let mut bound = u32::from(lead_units);
        for part in self.others.iter().map(|nth| &self.opened[*nth]) {
            match part.codes_by_block() {
                Some(codes) => {
                    let code = codes[usize::from(low >> 6)];
                    if code == 0 {
                        return Ok(());
                    }
                    bound += u32::from(units(code, part.weight));
                }
                None => bound += u32::from(part.best),
            }
        }
        if bound < self.limit() {
            return Ok(());
        }
        let mut ranks = [0; CLAUSES_MAX];
        ranks[self.lead] = rank;
        let doc = self.key * WINDOW + u32::from(low);
        for nth in self.others {
            let found = match &self.opened[*nth].postings {
                Postings::Short { docs, .. } => docs.binary_search(&doc).ok().map(|at| at as u32),
                Postings::Long(postings, _) => {
                    let found = postings.directory.find(postings.container(), low);
                    found.map(|rank| postings.first_rank + rank)
                }
            };
            match found {
                Some(rank) => ranks[*nth] = rank,
                None => return Ok(()),
            }
        }
        let mut sum = Sum::of(doc, self.readers);
        for (part, rank) in self.opened.iter().zip(ranks) {
            part.add_to(&mut sum, self.query.clauses, rank)?;
        }
        self.pruning.documents_scored += 1;
        self.pruning.matching = self.pruning.matching.map(|n| n + 1).filter(|n| *n <= COUNTED_MAX);
        self.top.push(sum.score(), DocId(self.query.base + u64::from(doc)));
        Ok(())
    }
}
