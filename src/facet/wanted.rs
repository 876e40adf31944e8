//! Numbers of terms that a filter wants: of one dictionary, and of counted terms.

use super::tally::Tally;
use crate::budget::{self, Held, ns};
use crate::error::Result;
use crate::expansion::{TermFilter, WantedTerms};
use crate::format::terms::{TermDictionary, TermInfo};
use crate::ids::TermOrdinal;
use crate::plan::FacetPlan;
use crate::segment::file::Section;
use std::ops::Range;

/// The terms of one dictionary that a filter wants, by their numbers.
pub(super) enum Wanted<'f, 's> {
    All,
    Between(Range<u32>),
    Bits {
        bits: Vec<u64>,
        _held: Held,
    },
    /// Terms between that match; with room for a term.
    Matching(Range<u32>, &'f TermFilter, TermDictionary<Section<'s>>, Vec<u8>),
}

impl<'f, 's> Wanted<'f, 's> {
    pub(super) fn of(
        plan: Option<&'f FacetPlan>,
        terms: TermDictionary<Section<'s>>,
        counted: &Tally,
    ) -> Result<Self> {
        let filtered = plan.and_then(|plan| Some((plan, plan.values.filter.as_ref()?)));
        let Some((plan, filter)) = filtered else { return Ok(Wanted::All) };
        let ordinals = filter.ordinals(&terms)?;
        if !filter.has_patterns() {
            return Ok(Wanted::Between(ordinals));
        }
        let mut n_met = 0;
        counted.for_each(|(ordinal, _)| {
            n_met += u64::from(u32::try_from(ordinal).is_ok_and(|it| ordinals.contains(&it)));
            Ok(())
        })?;
        if plan.tests_of_met_pay(n_met, ordinals.len() as u64) {
            return Ok(Wanted::Matching(ordinals, filter, terms, vec![]));
        }
        let (n_words, mut held) = (terms.n_terms().div_ceil(u64::BITS) as usize, Held::default());
        held.more((n_words * size_of::<u64>()) as u64)?;
        let mut bits = vec![0; n_words];
        let mut wanted = WantedTerms::open(&terms, Some(filter), false)?;
        while let Some((_, TermOrdinal(ordinal), _)) = wanted.next()? {
            if let Some(word) = bits.get_mut((ordinal / u64::BITS) as usize) {
                *word |= 1u64 << (ordinal % u64::BITS);
            }
        }
        Ok(Wanted::Bits { bits, _held: held })
    }

    /// Whether its number leaves open that a term is wanted.
    pub(super) fn may_have(&self, ordinal: u64) -> bool {
        match self {
            Wanted::Between(ordinals) | Wanted::Matching(ordinals, ..) => {
                u32::try_from(ordinal).is_ok_and(|ordinal| ordinals.contains(&ordinal))
            }
            Wanted::Bits { bits, .. } => {
                let word = bits.get((ordinal / u64::from(u64::BITS)) as usize);
                word.is_some_and(|word| word >> (ordinal % u64::from(u64::BITS)) & 1 != 0)
            }
            Wanted::All => true,
        }
    }

    pub(super) fn has(&mut self, ordinal: u64) -> Result<bool> {
        match (self.may_have(ordinal), self) {
            (true, Wanted::Matching(_, filter, terms, term)) => {
                term_of(terms, ordinal, term)?;
                Ok(filter.matches(term))
            }
            (may_have, _) => Ok(may_have),
        }
    }
}

pub(super) fn term_of(
    terms: &TermDictionary<Section<'_>>,
    ordinal: u64,
    term: &mut Vec<u8>,
) -> Result<TermInfo> {
    budget::work(ns::TERM_BY_ORDINAL)?;
    terms.term(TermOrdinal(u32::try_from(ordinal).unwrap_or(u32::MAX)), term)
}
