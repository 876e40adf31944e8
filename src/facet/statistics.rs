//! Statistics of a field's numbers or dates among the matches. They are sum, extremes, mean and variance, the number of
//! distinct ones, and the values at some ranks.
//!
//! By the column where the field keeps one, otherwise by the dictionary, where each value is a term, times the documents of its
//! posting list that match. [Ranks](super::ranks) take two looks at each value, and where all documents match a few in the
//! dictionary. Different values take a bit for each that may be, where these lie close enough; else a count of each, or
//! [sketches](super::sketch) where that would take too much memory.
//!
//! Cost: by the column one to six nanoseconds for each document that matches, some fifteen where few do; with ranks two more,
//! or 35 with different values that lie far apart, as fractions do. By the dictionary what intersecting all of its posting lists
//! takes. Memory: 8 KiB, with ranks 16 KiB and eight bytes for each value near one, with different values a bit for each that
//! may be, or 32 bytes for each that is, up to a quarter of what a query has left.

use super::intersection::{count_documents, count_list, count_present};
use super::moments::Moments;
use super::of_field::{FieldMatches, OfField, OfSegment, wider};
use super::profile::ColumnCounts;
use super::ranks::{CodeHistogram, RankSearch, RankedTerms, Round};
use super::scan::{InBlock, NumbersAt, Scan, Sink};
use super::sketch::Sketch;
use super::tally::Tally;
use crate::budget::{self, ns};
use crate::doc_id_set::DocIdSet;
use crate::error::{Error, Result};
use crate::format::column::Block;
use crate::format::postings::PostingList;
use crate::format::terms::PostingsAt;
use crate::plan::{SpreadPlan, SpreadStrategy};
use crate::plural::counted;
use crate::segment::reader::FieldReader;
use crate::simd::numbers::totals;
use crate::value;

/// Statistics of numbers together.
#[derive(Clone, Debug)]
pub(crate) struct NumberStatistics {
    pub(crate) moments: Moments,
    pub(crate) range: Option<(u64, u64)>,
    pub(crate) with_value: u64,
    /// Matching documents that have none.
    pub(crate) missing: u64,
    pub(crate) spread: Option<Spread>,
    pub(crate) profile: ColumnCounts,
}

/// Percentiles and number of distinct values.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    /// Whether each was counted; otherwise these are what sketches say.
    pub(crate) is_exact: bool,
    /// Different ones, where they were asked for.
    pub(crate) distinct: Option<u64>,
    /// By the percentages that were asked for the least code that so many are not above.
    pub(crate) percentiles: Vec<u64>,
}

/// Statistics that are wanted of values beside their moments and ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpreadWanted<'w> {
    pub(crate) plan: &'w SpreadPlan,
    pub(crate) distinct: bool,
    pub(crate) percentiles: &'w [f64],
}

/// Looks at the values of a field of numbers or dates among what matches.
pub(crate) fn statistics_of(
    of: FieldMatches<'_>,
    wanted: Option<SpreadWanted<'_>>,
) -> Result<NumberStatistics> {
    let of_field = OfField::new(of)?;
    let (looking, spread) = match wanted {
        None => (StatsScan::over(&of_field, Values::Passed)?, None),
        Some(wanted) => {
            let strategy = wanted.plan.strategies.of(of_field.n_matches);
            let (spread, looking) = of_field.spread(&wanted, strategy)?;
            (looking, Some(spread))
        }
    };
    Ok(NumberStatistics {
        moments: looking.moments,
        range: looking.range,
        with_value: looking.scan.n_with,
        missing: of_field.n_matches.saturating_sub(looking.scan.n_with),
        spread,
        profile: looking.scan.profile,
    })
}

/// Bounds of parts with about as many values in each.
#[derive(Clone, Debug, Default)]
pub(crate) struct EqualParts {
    /// Starts of all but the first, which begins before all; ascending.
    pub(crate) starts: Vec<u64>,
    pub(crate) n_values: u64,
    /// Whether each value was counted; otherwise a sketch says where parts begin.
    pub(crate) is_exact: bool,
    /// Matching documents that have none.
    pub(crate) missing: u64,
    pub(crate) profile: ColumnCounts,
}

/// Cuts the values of a field of numbers or dates among what matches into at most `n` parts.
pub(crate) fn equal_parts(of: FieldMatches<'_>, n: usize, plan: &SpreadPlan) -> Result<EqualParts> {
    let of_field = OfField::new(of)?;
    let strategy = plan.strategies.of(of_field.n_matches);
    let looking = match of_field.count(plan, strategy) {
        // Matches have more values than others: once more, with a sketch.
        Err(error) if budget::is_memory(&error) => of_field.count(plan, SpreadStrategy::Sketch)?,
        done => done?,
    };
    let n_values = looking.moments.n();
    let mut starts = match &looking.values {
        Values::Counted(tally) => starts_of_parts(tally, n_values, n as u64)?,
        Values::Sketched(sketch) => sketch.starts_of_parts(n),
        Values::Passed | Values::Parted(_) | Values::InRound(_) => vec![],
    };
    starts.dedup();
    // Before the least there is nothing.
    starts.retain(|start| looking.range.is_some_and(|(least, _)| least < *start));
    Ok(EqualParts {
        starts,
        n_values,
        is_exact: !matches!(looking.values, Values::Sketched(_)),
        missing: of_field.n_matches.saturating_sub(looking.scan.n_with),
        profile: looking.scan.profile,
    })
}

/// The values that the `n` parts but the first begin with, each so that as near as may be to its share of values come before.
fn starts_of_parts(tally: &Tally, n_values: u64, n: u64) -> Result<Vec<u64>> {
    let share = |nth: u64| u128::from(nth) * u128::from(n_values);
    let (mut starts, mut nth, mut before, mut is_due) = (vec![], 1, 0u128, false);
    tally.for_each(|(code, count)| {
        // In parts of a value, so that shares are whole.
        let after = before + u128::from(count) * u128::from(n);
        if is_due {
            starts.push(code);
            is_due = false;
        }
        while nth < n && share(nth) <= after {
            match share(nth) - before <= after - share(nth) {
                true => starts.push(code),
                false => is_due = true,
            }
            nth += 1;
        }
        before = after;
        Ok(())
    })?;
    Ok(starts)
}

/// Values that are kept beside their moments.
enum Values {
    Passed,
    Counted(Tally),
    /// Number of values in each part of their range.
    Parted(CodeHistogram),
    /// Values of some parts, in a further round.
    InRound(Round),
    Sketched(Box<Sketch>),
}

impl Values {
    #[inline]
    fn add(&mut self, code: u64, times: u64) -> Result<()> {
        match self {
            Values::Passed => Ok(()),
            // One segment.
            Values::Counted(tally) => tally.add(code, u32::try_from(times).unwrap_or(u32::MAX)),
            Values::Parted(parts) => parts.add(code, times),
            Values::InRound(round) => round.add(code, times),
            Values::Sketched(sketch) => sketch.add(code, times),
        }
    }
}

/// Spread as counting each value gives it.
fn spread(tally: &Tally, n: u64, wanted: &SpreadWanted<'_>) -> Result<Spread> {
    let mut ranks: Vec<_> = ranks(wanted.percentiles, n).enumerate().collect();
    ranks.sort_unstable_by_key(|(_, rank)| *rank);
    let mut percentiles = vec![0; ranks.len()];
    let (mut distinct, mut so_far, mut next) = (0, 0, ranks.iter().peekable());
    tally.for_each(|(code, count)| {
        distinct += 1;
        so_far += u64::from(count);
        while let Some((at, _)) = next.next_if(|(_, rank)| *rank <= so_far) {
            if let Some(slot) = percentiles.get_mut(*at) {
                *slot = code;
            }
        }
        Ok(())
    })?;
    Ok(Spread { is_exact: true, distinct: wanted.distinct.then_some(distinct), percentiles })
}

/// By how many of `n` values those at these percentages are not exceeded: at least one, and no more than there are.
fn ranks(percentiles: &[f64], n: u64) -> impl Iterator<Item = u64> {
    percentiles.iter().map(move |percent| rank(*percent, n).clamp(1, n.max(1)))
}

/// Rank of a percentage of `n`, rounded up, by its digits: 99.9 is a little more than itself in binary.
fn rank(percent: f64, n: u64) -> u64 {
    let text = percent.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let exact = || {
        let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
        let unit = 10u128.checked_pow(fraction.len() as u32 + 2)?;
        u64::try_from(digits.checked_mul(n.into())?.div_ceil(unit)).ok()
    };
    exact().unwrap_or_else(|| (percent * n as f64 / 100.0).ceil() as u64)
}

impl OfField<'_> {
    /// Looks at all values, and finds what is wanted of them; with less memory where there is too little.
    fn spread(
        &self,
        wanted: &SpreadWanted<'_>,
        strategy: SpreadStrategy,
    ) -> Result<(Spread, StatsScan)> {
        let done = match strategy {
            SpreadStrategy::Frequencies => self.spread_by_dictionaries(wanted),
            SpreadStrategy::Rounds => self.spread_by_parts(wanted),
            SpreadStrategy::Tally | SpreadStrategy::Sketch => {
                let counted = self.count(wanted.plan, strategy);
                counted.and_then(|looking| Ok((looking.spread(wanted)?, looking)))
            }
        };
        match (done, strategy.with_less_memory()) {
            (Err(error), Some(other)) if budget::is_memory(&error) => self.spread(wanted, other),
            (done, _) => done,
        }
    }

    /// By the sums of the dictionaries, of which every document matches.
    fn spread_by_dictionaries(&self, wanted: &SpreadWanted<'_>) -> Result<(Spread, StatsScan)> {
        let ranked = RankedTerms::open(&self.columns)?;
        let mut looking = StatsScan::over(self, Values::Passed)?;
        let n = looking.moments.n();
        let mut at = |range, rank| ranked.at(rank, range, &mut looking.scan.profile);
        let percentiles = match looking.range {
            Some(range) => ranks(wanted.percentiles, n).map(|rank| at(range, rank)).collect(),
            None => Ok(vec![]),
        };
        let percentiles = percentiles?;
        let distinct = wanted.distinct.then(|| ranked.n_terms());
        Ok((Spread { is_exact: true, distinct, percentiles }, looking))
    }

    /// By how many values lie in each part of their range.
    fn spread_by_parts(&self, wanted: &SpreadWanted<'_>) -> Result<(Spread, StatsScan)> {
        let parts = CodeHistogram::new(self.range.unwrap_or_default(), wanted.distinct)?;
        let mut looking = StatsScan::over(self, Values::Parted(parts))?;
        let (mut distinct, mut percentiles, n) = (None, vec![], looking.moments.n());
        if let Values::Parted(parts) = std::mem::replace(&mut looking.values, Values::Passed) {
            distinct = parts.n_different()?;
            let ranks: Vec<_> = ranks(wanted.percentiles, n).filter(|_| n > 0).collect();
            let mut search = RankSearch::new(&ranks, &parts)?;
            drop(parts);
            while let Some(round) = search.round()? {
                let again = StatsScan::over(self, Values::InRound(round))?;
                looking.scan.profile += again.scan.profile;
                if let Values::InRound(round) = again.values {
                    search.end(round)?;
                }
            }
            percentiles = search.found;
        }
        Ok((Spread { is_exact: true, distinct, percentiles }, looking))
    }

    fn count(&self, plan: &SpreadPlan, strategy: SpreadStrategy) -> Result<StatsScan> {
        let values = match strategy {
            SpreadStrategy::Sketch => Values::Sketched(Box::new(Sketch::new()?)),
            _ => {
                let (least, n_codes) = match self.others.is_empty() {
                    true => (self.range.unwrap_or_default().0, self.n_codes()),
                    // Each term is written down.
                    false => (0, u64::MAX),
                };
                Values::Counted(Tally::new(least, n_codes, plan.tally.of(self.n_matches))?)
            }
        };
        StatsScan::over(self, values)
    }
}

struct StatsScan {
    moments: Moments,
    range: Option<(u64, u64)>,
    values: Values,
    /// Codes of a block.
    codes: Vec<u64>,
    numbers: NumbersAt,
    scan: Scan,
}

impl StatsScan {
    /// Result of counting each value, or of a sketch of them.
    fn spread(&self, wanted: &SpreadWanted<'_>) -> Result<Spread> {
        match &self.values {
            Values::Sketched(sketch) => {
                let shares: Vec<_> = wanted.percentiles.iter().map(|it| it / 100.0).collect();
                let distinct = wanted.distinct.then(|| sketch.n_distinct());
                Ok(Spread { is_exact: false, distinct, percentiles: sketch.at_shares(&shares) })
            }
            Values::Counted(tally) => spread(tally, self.moments.n(), wanted),
            _ => Ok(Spread { is_exact: true, distinct: None, percentiles: vec![] }),
        }
    }

    /// Looks at all values once, and keeps `values` of them.
    fn over(of_field: &OfField<'_>, values: Values) -> Result<Self> {
        let mut looking = StatsScan {
            moments: Moments::of(of_field.kind),
            range: None,
            values,
            codes: vec![],
            numbers: NumbersAt::default(),
            scan: Scan::default(),
        };
        let mut scan = Scan::default();
        for part in &of_field.columns {
            looking.add_column(part, &mut scan)?;
        }
        for (reader, matches, n_docs) in &of_field.others {
            scan.n_with += looking.add_terms(*reader, matches, *n_docs)?;
        }
        looking.scan = scan;
        if let Values::Counted(tally) = &mut looking.values {
            tally.finish()?;
        }
        Ok(looking)
    }

    fn add_column(&mut self, part: &OfSegment<'_>, scan: &mut Scan) -> Result<()> {
        let Some(plain) = part.column.plain().filter(|_| self.takes_numbers()) else {
            return scan.few_or_blocks(part, self);
        };
        let (first, unit) = (plain.first(), plain.base_and_unit());
        let mut present = vec![];
        scan.numbers(&plain, part.matches, ns::NUMBER_COUNTED, |numbers| {
            // Below the first are documents without a value.
            if first == 0 {
                return self.add_numbers(numbers, unit);
            }
            present.clear();
            present.extend(numbers.iter().filter_map(|number| number.checked_sub(first)));
            self.add_numbers(&present, unit)
        })
    }

    /// Whether numbers need not become codes first.
    fn takes_numbers(&self) -> bool {
        self.moments.are_whole() && !matches!(self.values, Values::Sketched(_))
    }

    /// Adds documents with one number each, as these stand for whole numbers; how many there are.
    fn add_numbers(&mut self, numbers: &[u32], (base, unit): (u64, u64)) -> Result<u64> {
        let n = numbers.len() as u64;
        if let Values::InRound(round) = &mut self.values {
            // Looked at once more, for nothing else.
            return round.add_numbers(numbers, (base, unit)).map(|()| n);
        }
        if n == 0 {
            return Ok(0);
        }
        let totals = totals(numbers);
        let code = |number: u32| base.wrapping_add(unit.wrapping_mul(number.into()));
        self.range = wider(self.range, Some((code(totals.least), code(totals.greatest))));
        self.moments.add_totals(n, &totals, (base, unit));
        match &mut self.values {
            Values::Passed => {}
            Values::Parted(parts) => parts.add_numbers(numbers, (base, unit))?,
            Values::Counted(tally) => tally.add_numbers(0, numbers, (base, unit))?,
            others => numbers.iter().try_for_each(|number| others.add(code(*number), 1))?,
        }
        Ok(n)
    }

    fn add_codes(&mut self, codes: &[u64]) -> Result<()> {
        if !matches!(self.values, Values::InRound(_)) {
            let ends = codes.iter().min().zip(codes.iter().max());
            self.range = wider(self.range, ends.map(|(least, greatest)| (*least, *greatest)));
            self.moments.add(codes);
        }
        if matches!(self.values, Values::Passed) {
            return Ok(());
        }
        budget::work(Self::VALUE_NS * codes.len() as u64)?;
        codes.iter().try_for_each(|code| self.values.add(*code, 1))
    }

    fn add_repeated(&mut self, code: u64, times: u64) -> Result<()> {
        if times == 0 {
            return Ok(());
        }
        self.range = wider(self.range, Some((code, code)));
        self.moments.add_repeated(code, times);
        self.values.add(code, times)
    }

    /// Adds the terms of a segment, each as often as a document matches that has it; how many documents have any.
    fn add_terms(
        &mut self,
        field: FieldReader<'_>,
        matches: &DocIdSet,
        n_docs: u32,
    ) -> Result<u64> {
        let statistics = field.statistics()?;
        let present = statistics.n_docs_with_value;
        let mut bytes_read = 0;
        let tested = matches.to_test()?;
        let with_value = match &tested {
            DocIdSet::Everything => u64::from(present),
            DocIdSet::Some(windows) => count_present(field, n_docs, windows, &mut bytes_read)?,
        };
        // Each that is counted is one less where no document has two.
        let is_single = statistics.n_tokens == u64::from(present);
        let (mut terms, mut left) = (field.terms()?.iter(), with_value);
        while left > 0
            && let Some((term, _, info)) = terms.next()?
        {
            budget::work(ns::TERM_COUNTED)?;
            let code = value::code_of_term(term).ok_or_else(|| {
                Error::corrupt("reading the terms of a field of numbers")
                    .expected("eight bytes")
                    .found(counted(term.len(), "byte"))
            })?;
            let times = match &tested {
                DocIdSet::Everything => u64::from(info.df),
                DocIdSet::Some(windows) => match info.postings {
                    PostingsAt::Inline(docs) => count_documents(docs.as_slice(), windows),
                    PostingsAt::Section { .. } => match field.postings(&info)? {
                        PostingList::Short(list) => count_documents(list.as_slice(), windows),
                        PostingList::Long(list) => count_list(&list, windows, &mut bytes_read)?,
                    },
                },
            };
            left = if is_single { left.saturating_sub(times) } else { left };
            self.add_repeated(code, times)?;
        }
        Ok(with_value)
    }
}

impl Sink for StatsScan {
    const VALUE_NS: u64 = ns::VALUE_ADDED;
    const FEW_NS: u64 = ns::VALUE_OF_FEW_ADDED;

    type Key = u64;

    fn key(&self, code: u64) -> Result<u64> {
        Ok(code)
    }

    fn add(&mut self, code: u64, n_docs: u32) -> Result<()> {
        self.add_repeated(code, n_docs.into())
    }

    fn take_few(&mut self, codes: &[u64]) -> Result<()> {
        self.add_codes(codes)
    }

    fn take_block(&mut self, block: &Block<'_>, of: InBlock<'_>) -> Result<u64> {
        let n = u64::from(of.n);
        let (one_each, takes_numbers) = (block.one_each(), self.takes_numbers());
        if let Some(of_block) = one_each.as_ref().filter(|it| it.are_plain() && takes_numbers) {
            budget::work(ns::NUMBER_COUNTED * n)?;
            let mut room = std::mem::take(&mut self.numbers);
            let added =
                self.add_numbers(room.read(of_block, of.places).1, of_block.base_and_unit());
            self.numbers = room;
            return added;
        }
        budget::work(Self::VALUE_NS * n)?;
        let mut codes = std::mem::take(&mut self.codes);
        codes.clear();
        let mut n_with = 0;
        match one_each {
            Some(numbers) => {
                of.places.for_each(|place| codes.extend(numbers.code(place)));
                n_with = codes.len() as u64;
            }
            None => of.places.for_each(|place| {
                let before = codes.len();
                codes.extend(block.codes(place));
                n_with += u64::from(codes.len() > before);
            }),
        }
        budget::work(Self::VALUE_NS * (codes.len() as u64).saturating_sub(n))?;
        let done = self.add_codes(&codes);
        self.codes = codes;
        done.map(|()| n_with)
    }
}

#[cfg(test)]
mod tests {
    use super::rank;

    #[test]
    fn ranks_are_those_of_the_digits_of_a_percentage() {
        for (percent, n, expected) in [
            (99.9, 41_000, 40_959),
            (99.9, 82_000, 81_918),
            (12.3, 21_000, 2_583),
            (50.0, 3, 2),
            (0.0, 10, 0),
            (100.0, u64::MAX, u64::MAX),
            (0.1, 1_001, 2),
            (33.333_333_333_333_336, 3, 2),
            (1e-300, 10, 1),
        ] {
            assert_eq!(rank(percent, n), expected, "{percent} of {n}");
        }
    }
}
