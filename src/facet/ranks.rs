//! What stands at some ranks of codes, without counting each: first how many lie in each of some thousand equal parts of their
//! range, then the codes of the parts that ranks lie in, of which the ones at the ranks are selected.
//!
//! Beside that a bit for each code says how many different ones there are, where that is asked for.
//!
//! Cost: a nanosecond a code in the first round, half of one in the second where they are numbers of a column. Memory: 16 KiB, the
//! bits, and eight bytes for each code of the parts in question, which are all codes where one far away leaves one part to the others.
//!
//! Source: Munro and Paterson, *Selection and sorting with limited storage*, 1980, with parts of equal width instead of equal ranks.

use super::ranges::{ColumnProfile, OfSegment};
use crate::budget::{self, Held};
use crate::error::{Error, ErrorKind, Result};
use crate::format::cumulative::Cumulative;
use crate::format::terms::TermDictionary;
use crate::segment::file::Section;
use crate::simd::numbers::count_from;
use crate::value::term_of_code;

/// Parts of a range: their counters leave half of the nearest cache to what is counted.
const PARTS: u64 = 1 << 12;
/// What selecting one code takes about for each that it is selected from, in nanoseconds.
const SELECT_NS: u64 = 6;
/// And looking a code up in a dictionary.
const LOOKUP_NS: u64 = 1_000;

/// How many codes lie in each part of a range.
#[derive(Debug)]
pub(super) struct Parts {
    least: u64,
    greatest: u64,
    /// By how many bits a code above the least is shifted to get its part.
    shift: u32,
    counts: Vec<u32>,
    /// A bit for each code of the range, where different ones are told apart.
    met: Option<Vec<u64>>,
    _held: Held,
}

impl Parts {
    /// Of codes that lie from `least` to `greatest`; with a bit for each where different ones are `told_apart`.
    pub(super) fn new((least, greatest): (u64, u64), told_apart: bool) -> Result<Self> {
        let (span, mut held) = (greatest.saturating_sub(least), Held::default());
        let shift = (u64::BITS - span.leading_zeros()).saturating_sub(PARTS.ilog2());
        let n_parts = (span >> shift) as usize + 1;
        held.more((n_parts * size_of::<u32>()) as u64)?;
        let met = match told_apart {
            true => {
                held.more(Self::bytes_of_bits((least, greatest)))?;
                Some(vec![0; (span / u64::from(u64::BITS)) as usize + 1])
            }
            false => None,
        };
        Ok(Parts { least, greatest, shift, counts: vec![0; n_parts], met, _held: held })
    }

    /// What telling apart the codes of a range takes.
    pub(super) fn bytes_of_bits((least, greatest): (u64, u64)) -> u64 {
        greatest.saturating_sub(least) / 8 + size_of::<u64>() as u64
    }

    /// Adds one code so many times.
    #[inline]
    pub(super) fn add(&mut self, code: u64, times: u64) -> Result<()> {
        let above = code.wrapping_sub(self.least);
        let Some(count) = self.counts.get_mut((above >> self.shift) as usize) else {
            return Err(outside(code));
        };
        *count = count.saturating_add(u32::try_from(times).unwrap_or(u32::MAX));
        if let Some(met) = &mut self.met {
            // Its part is there, and the word may be behind the last only in the last part.
            let word = met.get_mut((above / 64) as usize).ok_or_else(|| outside(code))?;
            *word |= 1 << (above % 64);
        }
        Ok(())
    }

    /// Adds the codes that numbers stand for: so much for 0, and so much more for each.
    pub(super) fn add_numbers(&mut self, numbers: &[u32], unit: (u64, u64)) -> Result<()> {
        if let Some(met) = &mut self.met {
            let offset = unit.0.wrapping_sub(self.least);
            let mut wrong = None;
            for &number in numbers {
                let above = offset.wrapping_add(unit.1.wrapping_mul(number.into()));
                match met.get_mut((above / 64) as usize) {
                    Some(word) => *word |= 1 << (above % 64),
                    None => wrong = Some(above.wrapping_add(self.least)),
                }
            }
            if let Some(code) = wrong {
                return Err(outside(code));
            }
        }
        let (offset, shift) = (unit.0.wrapping_sub(self.least), self.shift);
        let (counts, mut wrong) = (&mut self.counts[..], None);
        if (offset, unit.1) == (0, 1) && shift < u32::BITS {
            for &number in numbers {
                match counts.get_mut((number >> shift) as usize) {
                    Some(count) => *count += 1,
                    None => wrong = Some(u64::from(number)),
                }
            }
            return wrong.map_or(Ok(()), |above| Err(outside(above.wrapping_add(self.least))));
        }
        for &number in numbers {
            let above = offset.wrapping_add(unit.1.wrapping_mul(number.into()));
            match counts.get_mut((above >> shift) as usize) {
                Some(count) => *count += 1,
                None => wrong = Some(above),
            }
        }
        wrong.map_or(Ok(()), |above| Err(outside(above.wrapping_add(self.least))))
    }

    /// How many different codes there were, where they were told apart.
    pub(super) fn n_different(&self) -> Option<u64> {
        let met = self.met.as_ref()?;
        Some(met.iter().map(|word| u64::from(word.count_ones())).sum())
    }

    /// Those in which the codes at these ranks lie, counted from 1; refused where they have more than `n_max` codes.
    pub(super) fn choose(&self, ranks: &[u64], n_max: u64) -> Result<Chosen> {
        let mut wanted: Vec<_> = ranks.iter().copied().enumerate().collect();
        wanted.sort_unstable_by_key(|(_, rank)| *rank);
        let (mut before, mut of_chosen) = (0, 0u64);
        let (mut ranges, mut targets) = (vec![], vec![]);
        let mut next = wanted.into_iter().peekable();
        for (part, &count) in (0u64..).zip(&self.counts) {
            let up_to = before + u64::from(count);
            let is_here = |(_, rank): &(usize, u64)| *rank <= up_to;
            if count > 0 && next.peek().is_some_and(is_here) {
                let first = self.least + (part << self.shift);
                let last = first.saturating_add((1u64 << self.shift) - 1).min(self.greatest);
                while let Some((nth, rank)) = next.next_if(is_here) {
                    // Ranks begin with 1, and are above those of the parts before.
                    targets.push((nth, of_chosen + rank.max(before + 1) - before - 1));
                }
                ranges.push((first, last));
                of_chosen += u64::from(count);
            }
            before = up_to;
        }
        let mut held = Held::default();
        if of_chosen > n_max {
            return Err(Error::new(ErrorKind::LimitExceeded, "looking for what stands at a rank")
                .expected(format!("at most {n_max} values near it"))
                .found(of_chosen.to_string()));
        }
        held.more(of_chosen * size_of::<u64>() as u64)?;
        let codes = Vec::with_capacity(of_chosen as usize);
        Ok(Chosen { ranges, targets, n_expected: of_chosen, codes, _held: held })
    }
}

/// The codes of some parts, and the ranks among them that are wanted.
#[derive(Debug)]
pub(super) struct Chosen {
    /// First and last codes, ascending.
    ranges: Vec<(u64, u64)>,
    /// Which rank of those that were asked for, and how many of these codes come before it; ascending by the latter.
    targets: Vec<(usize, u64)>,
    n_expected: u64,
    codes: Vec<u64>,
    _held: Held,
}

impl Chosen {
    /// Keeps a code that comes so many times, if it lies in one of the parts.
    #[inline]
    pub(super) fn add(&mut self, code: u64, times: u64) -> Result<()> {
        let nth = self.ranges.partition_point(|(_, last)| *last < code);
        if self.ranges.get(nth).is_some_and(|(first, _)| *first <= code) {
            self.check(times)?;
            self.codes.extend(std::iter::repeat_n(code, times as usize));
        }
        Ok(())
    }

    /// The same of the codes that numbers stand for; of most stretches of them none does, which takes no look at each.
    pub(super) fn add_numbers(&mut self, numbers: &[u32], (base, unit): (u64, u64)) -> Result<()> {
        for nth in 0..self.ranges.len() {
            let (first, last) = self.ranges[nth];
            // The first number whose code is not below another; none where all numbers are below.
            let first_of =
                |code: u64| u32::try_from(code.saturating_sub(base).div_ceil(unit.max(1))).ok();
            let Some(from) = first_of(first) else { continue };
            let behind = last.checked_add(1).and_then(first_of);
            let n_behind = behind.map_or(0, |behind| count_from(numbers, behind));
            let n = count_from(numbers, from) - n_behind;
            if n == 0 {
                continue;
            }
            self.check(n.into())?;
            let is_inside =
                |number: &&u32| **number >= from && behind.is_none_or(|behind| **number < behind);
            let code = |number: &u32| base.wrapping_add(unit.wrapping_mul((*number).into()));
            self.codes.extend(numbers.iter().filter(is_inside).map(code));
        }
        Ok(())
    }

    /// Memory was asked for as many as were counted.
    #[inline]
    fn check(&self, n: u64) -> Result<()> {
        let n_codes = self.codes.len() as u64 + n;
        if n_codes <= self.n_expected { Ok(()) } else { Err(self.differs(n_codes)) }
    }

    #[cold]
    fn differs(&self, n_codes: u64) -> Error {
        Error::corrupt("reading the values of a column twice")
            .expected(format!("{} of some ranges, as counted before", self.n_expected))
            .found(n_codes.to_string())
    }

    /// The codes at the ranks that were asked for, in the order of asking.
    pub(super) fn finish(mut self) -> Result<Vec<u64>> {
        if self.codes.len() as u64 != self.n_expected {
            return Err(self.differs(self.codes.len() as u64));
        }
        let mut found = vec![0; self.targets.len()];
        let (mut rest, mut before, mut last) = (&mut self.codes[..], 0, None);
        for &(nth, target) in &self.targets {
            // Those before are out of the question; the same again needs no selection.
            if last.is_none_or(|(at, _)| at < target) {
                budget::work(SELECT_NS * rest.len() as u64)?;
                let (_, code, behind) = rest.select_nth_unstable((target - before) as usize);
                last = Some((target, *code));
                (rest, before) = (behind, target + 1);
            }
            if let (Some(slot), Some((_, code))) = (found.get_mut(nth), last) {
                *slot = code;
            }
        }
        Ok(found)
    }
}

#[cold]
fn outside(code: u64) -> Error {
    Error::corrupt("counting the codes of a column")
        .expected("one between the least and the greatest of the column")
        .found(code.to_string())
}

/// The dictionaries of a field of which no document has two values, where every document matches: sums of document frequencies say
/// what stands at a rank.
pub(super) struct RankedTerms<'s> {
    parts: Vec<(TermDictionary<Section<'s>>, Cumulative<Section<'s>>)>,
}

impl<'s> RankedTerms<'s> {
    /// Of all segments; `None` where one does not keep the sums.
    pub(super) fn open(columns: &[OfSegment<'_, 's>]) -> Result<Option<Self>> {
        let mut parts = vec![];
        for OfSegment { field, .. } in columns {
            let dictionary = field.terms()?;
            let cumulative = match field.has_codes() {
                true => field.cumulative(dictionary.n_blocks())?,
                false => None,
            };
            let Some(cumulative) = cumulative else { return Ok(None) };
            parts.push((dictionary, cumulative));
        }
        Ok(Some(RankedTerms { parts }))
    }

    /// How many terms there are, of all segments together.
    pub(super) fn n_terms(&self) -> u64 {
        self.parts.iter().map(|(dictionary, _)| u64::from(dictionary.n_terms())).sum()
    }

    /// What finding one takes at the most.
    pub(super) fn rank_ns(&self) -> u64 {
        u64::from(u64::BITS) * self.parts.len() as u64 * LOOKUP_NS
    }

    /// The least code of those between two that so many are not above, counted from 1.
    pub(super) fn at(
        &self,
        rank: u64,
        (mut least, mut greatest): (u64, u64),
        profile: &mut ColumnProfile,
    ) -> Result<u64> {
        while least < greatest {
            let middle = least + (greatest - least) / 2;
            let mut up_to = 0;
            for (dictionary, cumulative) in &self.parts {
                budget::work(LOOKUP_NS)?;
                profile.ends_looked_up += 1;
                // Above the middle there is the greatest.
                let behind = term_of_code(middle + 1);
                up_to += u64::from(dictionary.documents_below(&behind, cumulative)?);
            }
            match up_to >= rank {
                true => greatest = middle,
                false => least = middle + 1,
            }
        }
        Ok(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes of many kinds: spread, far from each other, the same, up to the last there is, and one far away from all others.
    fn samples() -> Vec<Vec<u64>> {
        let mixed = |nth: u64| nth.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ nth << 13;
        let of = |code: &dyn Fn(u64) -> u64| (0..5_000).map(code).collect();
        vec![
            of(&|nth| 1_000 + mixed(nth) % 100_000),
            of(&mixed),
            of(&|_| 77),
            of(&|nth| u64::MAX - nth % 9_000),
            of(&|nth| if nth == 4_000 { 1 << 60 } else { 5 + nth / 3 }),
            vec![u64::MAX],
            vec![0, u64::MAX],
        ]
    }

    #[test]
    fn what_is_selected_stands_where_sorting_puts_it() {
        for codes in samples() {
            let mut sorted = codes.clone();
            sorted.sort_unstable();
            let n = codes.len() as u64;
            let range = (sorted[0], sorted[sorted.len() - 1]);
            let mut parts = Parts::new(range, false).unwrap();
            codes.iter().for_each(|code| parts.add(*code, 1).unwrap());
            let ranks = [n, 1, n.div_ceil(2), n.div_ceil(2), n / 3 + 1, n.div_ceil(1_000)];
            let mut chosen = parts.choose(&ranks, n).unwrap();
            codes.iter().for_each(|code| chosen.add(*code, 1).unwrap());
            let expected = ranks.map(|rank| sorted[rank as usize - 1]);
            assert_eq!(chosen.finish().unwrap(), expected, "{range:?}");
            // One less than there are near the ranks: then they were not the same as before.
            let mut chosen = parts.choose(&ranks, n).unwrap();
            let all_but = |code: &&u64| **code != expected[1];
            codes.iter().filter(all_but).for_each(|code| chosen.add(*code, 1).unwrap());
            assert!(chosen.finish().is_err(), "{range:?}");
        }
    }

    #[test]
    fn numbers_are_what_their_codes_are() {
        for (base, unit) in [(0, 1), (1 << 40, 1_000), (u64::MAX - 3 * 99_999, 3)] {
            let numbers: Vec<u32> =
                (0..3_000u32).map(|nth| nth.wrapping_mul(40_503) % 100_000).collect();
            let code = |number: &u32| base + unit * u64::from(*number);
            let range = (base, base + unit * 99_999);
            let told_apart = unit < 1_000;
            let mut by_numbers = Parts::new(range, told_apart).unwrap();
            let mut by_codes = Parts::new(range, told_apart).unwrap();
            by_numbers.add_numbers(&numbers, (base, unit)).unwrap();
            numbers.iter().for_each(|number| by_codes.add(code(number), 1).unwrap());
            assert_eq!(by_numbers.counts, by_codes.counts);
            assert_eq!(by_numbers.n_different(), by_codes.n_different());
            assert_eq!(by_codes.n_different(), told_apart.then_some(3_000));
            let ranks = [1, 1_500, 2_999];
            let mut chosen = by_codes.choose(&ranks, 3_000).unwrap();
            let mut of_codes = by_codes.choose(&ranks, 3_000).unwrap();
            numbers.chunks(512).for_each(|some| chosen.add_numbers(some, (base, unit)).unwrap());
            numbers.iter().for_each(|number| of_codes.add(code(number), 1).unwrap());
            assert_eq!(chosen.finish().unwrap(), of_codes.finish().unwrap());
            let behind = [100_000 + (1 << 20)];
            assert!(base > 1 << 50 || by_codes.add_numbers(&behind, (base, unit)).is_err());
        }
    }

    #[test]
    fn codes_outside_of_the_range_and_too_many_near_a_rank_are_refused() {
        let mut parts = Parts::new((10, 20), true).unwrap();
        assert!(parts.add(9, 1).is_err() && parts.add(30 + (1 << 14), 1).is_err());
        parts.add(15, 5).unwrap();
        assert_eq!(parts.n_different(), Some(1));
        assert_eq!(parts.choose(&[1], 4).unwrap_err().kind(), ErrorKind::LimitExceeded);
        let mut chosen = parts.choose(&[1, 5], 5).unwrap();
        assert!(chosen.add(15, 6).is_err());
        chosen.add(15, 5).unwrap();
        chosen.add(16, 5).unwrap();
        assert_eq!(chosen.finish().unwrap(), [15, 15]);
    }
}
