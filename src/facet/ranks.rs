//! Codes at some ranks, found without counting each. Codes are counted in some thousand equal parts of their range,
//! and those in the parts that ranks are in once more, until these have few codes, which are written down and sorted.
//!
//! Cost: two nanoseconds a code in each round, of which there are two in most cases, and never more than seven. Memory: 16 KiB for
//! each part that is divided, a megabyte for the codes at the end, and a bit a code where different ones are told apart.
//!
//! Source: Munro and Paterson, *Selection and sorting with limited storage*, 1980, with parts of equal width instead of equal ranks.

use super::of_field::OfSegment;
use super::profile::ColumnCounts;
use super::tally::{count_at, outside};
use crate::budget::{self, Held, ns};
use crate::error::{Error, Result};
use crate::format::cumulative::Cumulative;
use crate::format::terms::TermDictionary;
use crate::plan::in_window::{CODES_SORTED_MAX, RANGES_COMPARED_MAX};
use crate::segment::file::Section;
use crate::simd::numbers::count_from;
use crate::value::term_of_code;

/// Parts of a range: their counters leave half of the nearest cache to what is counted.
const PARTS: u64 = 1 << 12;
/// Words of bits that are gone through before the clock is asked.
const AT_ONCE: usize = 1 << 16;

/// Number of codes in each part of a range.
#[derive(Debug)]
pub(super) struct CodeHistogram {
    least: u64,
    greatest: u64,
    /// By how many bits a code above the least is shifted to get its part.
    shift: u32,
    counts: Vec<u32>,
    /// A bit for each code of the range, where different ones are told apart.
    met: Option<Vec<u64>>,
    _held: Held,
}

impl CodeHistogram {
    /// Histogram of codes from `least` to `greatest`; with a bit for each where different ones are `told_apart`.
    pub(super) fn new((least, greatest): (u64, u64), told_apart: bool) -> Result<Self> {
        let (span, mut held) = (greatest.saturating_sub(least), Held::default());
        let shift = (u64::BITS - span.leading_zeros()).saturating_sub(PARTS.ilog2());
        let n_parts = (span >> shift) as usize + 1;
        held.more((n_parts * size_of::<u32>()) as u64)?;
        let mut met = None;
        if told_apart {
            held.more(span / 8 + size_of::<u64>() as u64)?;
            let n_words = span / u64::from(u64::BITS) + 1;
            budget::work(n_words * ns::WORD_READ)?;
            met = Some(vec![0; n_words as usize]);
        }
        Ok(CodeHistogram { least, greatest, shift, counts: vec![0; n_parts], met, _held: held })
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
    pub(super) fn add_numbers(&mut self, numbers: &[u32], (base, unit): (u64, u64)) -> Result<()> {
        let (offset, shift) = (base.wrapping_sub(self.least), self.shift);
        let above = |number: u32| offset.wrapping_add(unit.wrapping_mul(number.into()));
        let mut wrong = None;
        if let Some(met) = &mut self.met {
            for &number in numbers {
                let above = above(number);
                match met.get_mut((above / 64) as usize) {
                    Some(word) => *word |= 1 << (above % 64),
                    None => wrong = Some(number),
                }
            }
        }
        let numbers = numbers.iter().copied();
        let behind = match (offset, unit) == (0, 1) && shift < u32::BITS {
            true => count_at(&mut self.counts, numbers, |number| (number >> shift).into()),
            false => count_at(&mut self.counts, numbers, |number| above(number) >> shift),
        };
        let code = |number| above(number).wrapping_add(self.least);
        wrong.or(behind).map_or(Ok(()), |number| Err(outside(code(number))))
    }

    /// Number of different codes, if they were told apart.
    pub(super) fn n_different(&self) -> Result<Option<u64>> {
        let Some(met) = &self.met else { return Ok(None) };
        let mut n = 0;
        for words in met.chunks(AT_ONCE) {
            budget::work(words.len() as u64 * ns::WORD_READ)?;
            n += words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        }
        Ok(Some(n))
    }

    /// The parts in which the codes at these ranks lie, counted from 1 and ascending, with what each rank is for.
    fn parts_of(&self, ranks: &[(usize, u64)]) -> Result<Vec<Part>> {
        let (mut before, mut parts) = (0, vec![]);
        let mut rest = ranks;
        for (part, &count) in (0u64..).zip(&self.counts).filter(|(_, count)| **count > 0) {
            let up_to = before + u64::from(count);
            let (here, later) = rest.split_at(rest.partition_point(|(_, rank)| *rank <= up_to));
            if !here.is_empty() {
                let first = self.least + (part << self.shift);
                let last = first.saturating_add((1u64 << self.shift) - 1).min(self.greatest);
                let ranks = here.iter().map(|(nth, rank)| (*nth, rank - before)).collect();
                parts.push(Part { first, last, n_codes: u64::from(count), ranks });
            }
            (rest, before) = (later, up_to);
        }
        match rest.first() {
            None => Ok(parts),
            Some((_, rank)) => Err(differs(*rank, before)),
        }
    }
}

/// Codes that lie from one to another, and the ranks among them that are looked for.
#[derive(Clone, Debug)]
struct Part {
    first: u64,
    last: u64,
    n_codes: u64,
    /// Purpose and rank of each, counted from 1; ascending.
    ranks: Vec<(usize, u64)>,
}

/// A search for what stands at some ranks, in rounds, each of which looks at all codes.
#[derive(Debug)]
pub(super) struct RankSearch {
    /// The codes at the ranks, in the order of asking.
    pub(super) found: Vec<u64>,
    /// CodeHistogram that hold ranks not found yet; ascending.
    parts: Vec<Part>,
}

impl RankSearch {
    /// For these ranks, counted from 1, after a first round.
    pub(super) fn new(ranks: &[u64], all: &CodeHistogram) -> Result<Self> {
        let mut wanted: Vec<_> = ranks.iter().copied().enumerate().collect();
        wanted.sort_unstable_by_key(|(_, rank)| *rank);
        let mut search = RankSearch { found: vec![0; ranks.len()], parts: vec![] };
        search.add(all, &wanted)?;
        Ok(search)
    }

    /// Goes on in the parts that have these ranks, but for those of one code, which is found.
    fn add(&mut self, all: &CodeHistogram, ranks: &[(usize, u64)]) -> Result<()> {
        for part in all.parts_of(ranks)? {
            match part.first == part.last {
                true => part.ranks.iter().for_each(|(nth, _)| self.found[*nth] = part.first),
                false => self.parts.push(part),
            }
        }
        Ok(())
    }

    /// Starts the next round; `None` if all is found.
    pub(super) fn round(&self) -> Result<Option<Round>> {
        if self.parts.is_empty() {
            return Ok(None);
        }
        let ends = self.parts.iter().map(|part| (part.first, part.last)).collect();
        let n_codes = self.parts.iter().map(|part| part.n_codes).sum();
        let mut round = Round { n_codes, ends, ..Round::default() };
        if n_codes <= CODES_SORTED_MAX {
            round.held.more(n_codes * size_of::<u64>() as u64)?;
            round.codes.reserve_exact(n_codes as usize);
        } else {
            let parts = round.ends.iter().map(|ends| CodeHistogram::new(*ends, false));
            round.divided = parts.collect::<Result<_>>()?;
        }
        Ok(Some(round))
    }

    pub(super) fn end(&mut self, mut round: Round) -> Result<()> {
        if round.n_met != round.n_codes {
            return Err(differs(round.n_codes, round.n_met));
        }
        let before = std::mem::take(&mut self.parts);
        if !round.divided.is_empty() {
            let mut parts = before.iter().zip(&round.divided);
            return parts.try_for_each(|(part, divided)| self.add(divided, &part.ranks));
        }
        budget::work(ns::CODE_SORTED * round.n_codes)?;
        round.codes.sort_unstable();
        let mut rest = &round.codes[..];
        for part in before {
            let n = rest.partition_point(|code| *code <= part.last);
            let (of_part, later) = rest.split_at(n);
            for (nth, rank) in part.ranks {
                let code = of_part.get((rank - 1) as usize);
                self.found[nth] = *code.ok_or_else(|| differs(part.n_codes, n as u64))?;
            }
            rest = later;
        }
        Ok(())
    }
}

/// The codes of some ranges: counted by parts of these, or written down where they are few.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// First and last codes, ascending.
    ends: Vec<(u64, u64)>,
    n_codes: u64,
    n_met: u64,
    /// Histograms of each range; none where codes are written down.
    divided: Vec<CodeHistogram>,
    codes: Vec<u64>,
    held: Held,
}

impl Round {
    /// Adds a code that comes so many times, if it lies in one of the ranges.
    #[inline]
    pub(super) fn add(&mut self, code: u64, times: u64) -> Result<()> {
        let nth = self.ends.partition_point(|(_, last)| *last < code);
        if self.ends.get(nth).is_none_or(|(first, _)| code < *first) {
            return Ok(());
        }
        self.n_met += times;
        if let Some(parts) = self.divided.get_mut(nth) {
            return parts.add(code, times);
        }
        if self.n_met > self.n_codes {
            // Memory was asked for as many as were counted.
            return Err(differs(self.n_codes, self.n_met));
        }
        self.codes.extend(std::iter::repeat_n(code, times as usize));
        Ok(())
    }

    /// Adds the codes that numbers stand for; of most stretches of them none lies so, which takes no look at each.
    pub(super) fn add_numbers(&mut self, numbers: &[u32], (base, unit): (u64, u64)) -> Result<()> {
        let code = |number: u32| base.wrapping_add(unit.wrapping_mul(number.into()));
        if self.ends.len() <= RANGES_COMPARED_MAX {
            // The first number whose code is not below another; none where all numbers are below.
            let first_of =
                |code: u64| u32::try_from(code.saturating_sub(base).div_ceil(unit.max(1))).ok();
            let n_from = |code| first_of(code).map_or(0, |first| count_from(numbers, first));
            let n_behind = |last: u64| last.checked_add(1).map_or(0, n_from);
            if self.ends.iter().all(|(first, last)| n_from(*first) == n_behind(*last)) {
                return Ok(());
            }
        } else {
            let n_steps = u64::from(self.ends.len().ilog2());
            budget::work(ns::RANGE_COMPARED * n_steps * numbers.len() as u64)?;
        }
        numbers.iter().try_for_each(|number| self.add(code(*number), 1))
    }
}

#[cold]
fn differs(expected: u64, found: u64) -> Error {
    Error::corrupt("reading the values of a column more than once")
        .expected(format!("{expected} of some ranges, as counted before"))
        .found(found.to_string())
}

/// The dictionaries of a field without documents of two values, where every document matches: sums of frequencies are ranks.
pub(super) struct RankedTerms<'s>(Vec<(TermDictionary<Section<'s>>, Cumulative<Section<'s>>)>);

impl<'s> RankedTerms<'s> {
    /// Opens the ranks of all segments, which keep the sums.
    pub(super) fn open(columns: &[OfSegment<'s>]) -> Result<Self> {
        let parts = columns.iter().map(|OfSegment { field, .. }| {
            let dictionary = field.terms()?;
            let sums = field.cumulative(dictionary.n_blocks())?.ok_or_else(|| {
                Error::corrupt("reading sums of document frequencies")
                    .expected("those of all segments, as planned")
                    .found("a segment without")
            })?;
            Ok((dictionary, sums))
        });
        parts.collect::<Result<_>>().map(RankedTerms)
    }

    pub(super) fn n_terms(&self) -> u64 {
        self.0.iter().map(|(dictionary, _)| u64::from(dictionary.n_terms())).sum()
    }

    /// The least code of those between two that so many are not above, counted from 1.
    pub(super) fn at(
        &self,
        rank: u64,
        (mut least, mut greatest): (u64, u64),
        profile: &mut ColumnCounts,
    ) -> Result<u64> {
        while least < greatest {
            let middle = least + (greatest - least) / 2;
            let mut up_to = 0;
            for (dictionary, cumulative) in &self.0 {
                budget::work(ns::RANGE_END)?;
                profile.ends_looked_up += 1;
                // Above the middle there is the greatest.
                let behind = term_of_code(middle + 1);
                up_to += u64::from(dictionary.documents_below(&behind, cumulative)?);
            }
            if up_to >= rank { greatest = middle } else { least = middle + 1 }
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

    /// Looks at `codes` as often as it takes; with how many rounds followed the first.
    fn search(
        codes: &[u64],
        ranks: &[u64],
        add: impl Fn(&mut Round) -> Result<()>,
    ) -> Result<(Vec<u64>, usize)> {
        let (least, greatest) = (codes.iter().min().unwrap(), codes.iter().max().unwrap());
        let mut parts = CodeHistogram::new((*least, *greatest), false)?;
        codes.iter().try_for_each(|code| parts.add(*code, 1))?;
        let (mut search, mut n_rounds) = (RankSearch::new(ranks, &parts)?, 0);
        while let Some(mut round) = search.round()? {
            add(&mut round)?;
            search.end(round)?;
            n_rounds += 1;
        }
        Ok((search.found, n_rounds))
    }

    #[test]
    fn what_is_found_stands_where_sorting_puts_it() {
        for codes in samples() {
            let mut sorted = codes.clone();
            sorted.sort_unstable();
            let n = codes.len() as u64;
            let ranks = [n, 1, n.div_ceil(2), n.div_ceil(2), n / 3 + 1, n.div_ceil(1_000)];
            let add_all = |round: &mut Round| codes.iter().try_for_each(|it| round.add(*it, 1));
            let expected = ranks.map(|rank| sorted[rank as usize - 1]);
            let (found, n_rounds) = search(&codes, &ranks, add_all).unwrap();
            assert_eq!(found, expected);
            if n_rounds > 0 {
                // One less than were counted before.
                let all_but = |round: &mut Round| {
                    let others = codes.iter().filter(|code| **code != sorted[0]);
                    others.copied().try_for_each(|code| round.add(code, 1))
                };
                assert!(search(&codes, &ranks, all_but).is_err());
            }
            assert!(search(&codes, &[n + 1], add_all).is_err());
        }
    }

    /// One far away leaves one part to all others, which are too many to be written down.
    #[test]
    fn parts_of_many_codes_are_divided_again() {
        let near = |nth: u64| 1_000 + nth.wrapping_mul(0x9E37_79B9) % 500_000;
        let mut codes: Vec<u64> = (0..2 * CODES_SORTED_MAX).map(near).collect();
        codes.push(1 << 62);
        let mut sorted = codes.clone();
        sorted.sort_unstable();
        let ranks: Vec<u64> = (1..=20).map(|nth| nth * 13_000).collect();
        let add_all = |round: &mut Round| codes.iter().try_for_each(|code| round.add(*code, 1));
        let (found, n_rounds) = search(&codes, &ranks, add_all).unwrap();
        let expected: Vec<u64> = ranks.iter().map(|rank| sorted[*rank as usize - 1]).collect();
        assert_eq!(found, expected);
        assert!((3..=6).contains(&n_rounds), "{n_rounds}");
    }

    #[test]
    fn numbers_are_what_their_codes_are() {
        for (base, unit) in [(0, 1), (1 << 40, 1_000), (u64::MAX - 3 * 99_999, 3)] {
            let numbers: Vec<u32> =
                (0..3_000u32).map(|nth| nth.wrapping_mul(40_503) % 100_000).collect();
            let code = |number: &u32| base + unit * u64::from(*number);
            let codes: Vec<u64> = numbers.iter().map(code).collect();
            let range = (base, base + unit * 99_999);
            let told_apart = unit < 1_000;
            let mut by_numbers = CodeHistogram::new(range, told_apart).unwrap();
            let mut by_codes = CodeHistogram::new(range, told_apart).unwrap();
            by_numbers.add_numbers(&numbers, (base, unit)).unwrap();
            codes.iter().for_each(|code| by_codes.add(*code, 1).unwrap());
            assert_eq!(by_numbers.counts, by_codes.counts);
            let n_different = by_codes.n_different().unwrap();
            assert_eq!(by_numbers.n_different().unwrap(), n_different);
            assert_eq!(n_different, told_apart.then_some(3_000));
            for n_ranks in [1, 3, 40] {
                let ranks: Vec<u64> = (1..=n_ranks).map(|nth| nth * 2_999 / n_ranks).collect();
                let by_numbers = search(&codes, &ranks, |round| {
                    let mut stretches = numbers.chunks(512);
                    stretches.try_for_each(|some| round.add_numbers(some, (base, unit)))
                });
                let by_codes = search(&codes, &ranks, |round| {
                    codes.iter().try_for_each(|code| round.add(*code, 1))
                });
                assert_eq!(by_numbers.unwrap(), by_codes.unwrap());
            }
            let behind = [100_000 + (1 << 20)];
            assert!(base > 1 << 50 || by_codes.add_numbers(&behind, (base, unit)).is_err());
        }
    }

    #[test]
    fn codes_outside_of_the_range_are_refused() {
        let mut parts = CodeHistogram::new((10, 20), true).unwrap();
        assert!(parts.add(9, 1).is_err() && parts.add(30 + (1 << 14), 1).is_err());
        parts.add(15, 5).unwrap();
        assert_eq!(parts.n_different().unwrap(), Some(1));
        // Each part is one code.
        let search = RankSearch::new(&[1, 5], &parts).unwrap();
        assert!(search.round().unwrap().is_none());
        assert_eq!(search.found, [15, 15]);
    }
}
