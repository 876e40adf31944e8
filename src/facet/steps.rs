//! Counts of matching documents by steps of equal width of a number, by a column.
//!
//! Steps begin at multiples of their width, of fractions of the decimal number that it is written as. If they are few
//! beside the documents that match, all are made, and numbers looked for among their beginnings. Otherwise the steps of
//! the numbers are tallied as codes are, so that one number far from all others costs nothing. A document with many
//! values counts once for each step that it has one in.
//!
//! Cost: for each document that matches two to four nanoseconds, or eight where steps are not made before; of fractions some
//! fifteen, because equal steps are not equally many codes. Memory: some 250 bytes a step, of which there may be 65,536.

use super::of_field::{FieldMatches, OfField};
use super::pieces::count_by_ends;
use super::scan::{MetCounts, Scan, Sink};
use super::statistics::statistics_of;
use super::tally::Tally;
use crate::budget::{self, ns};
use crate::error::{Error, ErrorKind, Result};
use crate::plan::RangesCosts;
use crate::plan::cost::StepsStrategy;
use crate::value::{DecimalWidth, code_of_f64, f64_of_code};

/// The most steps that may have any, and what one takes with its bucket.
const STEPS_MAX: u64 = 1 << 16;
const STEP_BYTES: u64 = 256;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Steps {
    /// Steps of numbers whose codes differ from them by `zero`.
    Whole {
        zero: u64,
        width: u64,
    },
    Fractions(DecimalWidth),
}

impl Steps {
    /// The number of the step that a value lies in.
    #[inline]
    fn number(self, code: u64) -> i128 {
        match self {
            Steps::Whole { zero, width } => {
                // In 64 bits, which divide in less time.
                match code.checked_sub(zero) {
                    Some(above) => i128::from(above / width),
                    None => -1 - i128::from((zero - code - 1) / width),
                }
            }
            Steps::Fractions(width) => width.step(f64_of_code(code)),
        }
    }

    /// The first code of a step; `None` where it lies beyond all.
    pub(crate) fn start(self, step: i128) -> Option<u64> {
        match self {
            Steps::Whole { zero, width } => {
                let number = step.checked_mul(width.into())?.checked_add(zero.into())?;
                u64::try_from(number).ok()
            }
            Steps::Fractions(width) => code_of_f64(width.start(step)),
        }
    }

    /// Number of steps from that of one code to that of another.
    pub(crate) fn n_between(self, (least, greatest): (u64, u64)) -> u128 {
        (self.number(greatest) - self.number(least)).unsigned_abs() + 1
    }

    /// Whether the steps of fractions between two codes can be told apart.
    pub(crate) fn tells_apart(self, (least, greatest): (u64, u64)) -> bool {
        let Steps::Fractions(width) = self else { return true };
        width.tells_apart(f64_of_code(least).abs().max(f64_of_code(greatest).abs()))
    }

    fn check(self, ends: (u64, u64)) -> Result<()> {
        match self {
            Steps::Fractions(width) if !self.tells_apart(ends) => {
                let furthest = f64_of_code(ends.0).abs().max(f64_of_code(ends.1).abs());
                Err(Error::new(ErrorKind::Usage, "counting by steps")
                    .expected("steps that numbers of 53 bits tell apart")
                    .found(format!("steps of {} of numbers up to {furthest}", width.width)))
            }
            _ => Ok(()),
        }
    }
}

/// Counts what matches by steps of a field of numbers: the number of each that has any, ascending, and its matching documents.
/// Step 0 begins at zero.
pub(crate) fn count_steps(
    of: FieldMatches<'_>,
    steps: Steps,
    costs: RangesCosts,
) -> Result<MetCounts<(i128, u64)>> {
    let of_field = OfField::new(of)?;
    let OfField { ref columns, n_matches, mut range, .. } = of_field;
    if let Some(of_all) = range
        && steps.check(of_all).is_err()
    {
        // Documents that do not match, or not any more, may be what is too far away.
        range = statistics_of(of, None)?.range;
    }
    let Some(of_all) = range else {
        return Ok(Scan::default().counts(vec![], n_matches));
    };
    steps.check(of_all)?;
    of_field.check_matches("counting by steps")?;
    let (first, last) = (steps.number(of_all.0), steps.number(of_all.1));
    let n_steps = u64::try_from(last - first).unwrap_or(u64::MAX).saturating_add(1);
    let (counts, scan) = match StepsStrategy::of_steps(n_steps, n_matches) {
        StepsStrategy::Made => {
            budget::hold(n_steps * STEP_BYTES)?;
            budget::work(n_steps * ns::STEP_MADE)?;
            // The first has none: it begins before all numbers.
            let ends = (first + 1..=last).filter_map(|step| steps.start(step)).collect();
            let counts = count_by_ends(columns, ends, range, costs)?;
            let by_step = (first..).zip(counts.by_ends).filter(|(_, count)| *count > 0);
            (by_step.collect(), counts.scan)
        }
        StepsStrategy::Met(strategy) => {
            let tally = Tally::new(0, n_steps, strategy)?;
            let (mut scan, mut met) = (Scan::default(), MetSteps { steps, first, tally });
            columns.iter().try_for_each(|part| scan.blocks(part, &mut met))?;
            met.tally.finish()?;
            let mut counts = vec![];
            met.tally.for_each(|(step, count)| {
                budget::hold(STEP_BYTES)?;
                if counts.len() as u64 == STEPS_MAX {
                    return Err(Error::new(ErrorKind::LimitExceeded, "counting by steps")
                        .expected(format!("at most {STEPS_MAX} steps that have any"))
                        .found("more")
                        .hint("wider steps are fewer"));
                }
                counts.push((first + i128::from(step), u64::from(count)));
                Ok(())
            })?;
            (counts, scan)
        }
    };
    Ok(scan.counts(counts, n_matches))
}

/// Steps that are made where they are met.
struct MetSteps {
    steps: Steps,
    first: i128,
    /// By how many steps one comes after the first.
    tally: Tally,
}

impl Sink for MetSteps {
    const VALUE_NS: u64 = ns::STEP_COUNTED;

    type Key = i128;

    #[inline]
    fn key(&self, code: u64) -> Result<i128> {
        Ok(self.steps.number(code))
    }

    #[inline]
    fn add(&mut self, step: i128, n_docs: u32) -> Result<()> {
        let step = u64::try_from(step.saturating_sub(self.first));
        self.tally.add(step.unwrap_or(u64::MAX), n_docs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::code_of_f64;

    #[test]
    fn a_value_lies_between_the_beginning_of_its_step_and_of_the_next() {
        const ZERO: u64 = 1 << 63;
        for width in [1, 7, 10, 1 << 40, u64::MAX] {
            for zero in [0, ZERO] {
                let steps = Steps::Whole { zero, width };
                let near = (0..40).flat_map(|n| [ZERO.wrapping_add(n), ZERO.wrapping_sub(n)]);
                for code in near.chain([0, 1, 6, 7, u64::MAX, u64::MAX - 1]) {
                    let step = steps.number(code);
                    let number = i128::from(code) - i128::from(zero);
                    assert_eq!(step, number.div_euclid(width.into()), "{number} by {width}");
                    assert!(steps.start(step).is_none_or(|start| start <= code));
                    assert!(steps.start(step + 1).is_none_or(|next| code < next));
                }
            }
        }
        assert_eq!(Steps::Whole { zero: 0, width: 10 }.start(-1), None);
        let [few, far] = [1.0, 1e15].map(|number| code_of_f64(number).unwrap());
        assert!(Steps::Fractions(DecimalWidth::new(0.1)).check((few, few)).is_ok());
        assert!(Steps::Fractions(DecimalWidth::new(0.01)).check((few, far)).is_err());
    }
}
