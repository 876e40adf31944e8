//! Sum, mean and variance of numbers. Neither many nor large ones lose the digits of the small ones.
//!
//! Whole numbers, and what is one under another name (decimals, dates), are summed exactly in 128 bits. Fractions are summed
//! with what each addition loses (Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974).
//! The squares of distances are taken from the mean of each block, and blocks brought together by the distance of their
//! means (Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979), which
//! is exact before it is rounded where numbers are whole.

use crate::schema::FieldKind;
use crate::simd::numbers::Totals;
use crate::value::f64_of_code;

/// Moments of numbers of one kind, by their codes.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    n: u64,
    /// The squares of their distances from the mean.
    squares: f64,
    sums: Sums,
}

#[derive(Clone, Copy, Debug)]
enum Sums {
    /// Sum of all codes, which are as far apart as their numbers.
    Whole(u128),
    Fractions(FractionSums),
}

#[derive(Clone, Copy, Debug, Default)]
struct FractionSums {
    sum: CompensatedSum,
    /// Sum of the numbers times [`SCALE`], for a sum that is beyond all numbers, if only on the way.
    scaled: CompensatedSum,
    /// The first of them, from which all are taken as distances: numbers that lie close and far from zero lose nothing, and where
    /// it is far from the others, what these lose is little beside the distance.
    first: f64,
    /// From the first.
    mean: f64,
}

/// Less than one by the number of numbers that there can be, so that no sum of them is beyond all numbers.
const SCALE: f64 = 1.0 / (1u128 << 64) as f64;

/// A sum, and what additions to it lost.
#[derive(Clone, Copy, Debug, Default)]
struct CompensatedSum {
    sum: f64,
    lost: f64,
}

impl CompensatedSum {
    #[inline]
    fn add(&mut self, number: f64) {
        let sum = self.sum + number;
        self.lost += match self.sum.abs() >= number.abs() {
            true => (self.sum - sum) + number,
            false => (number - sum) + self.sum,
        };
        self.sum = sum;
    }

    fn value(self) -> f64 {
        // A sum beyond all numbers lost nothing that matters.
        if self.sum.is_finite() { self.sum + self.lost } else { self.sum }
    }
}

impl Moments {
    pub(super) fn of(kind: FieldKind) -> Self {
        let sums = match kind {
            FieldKind::F64 => Sums::Fractions(FractionSums::default()),
            _ => Sums::Whole(0),
        };
        Moments { n: 0, squares: 0.0, sums }
    }

    pub(super) fn are_whole(&self) -> bool {
        matches!(self.sums, Sums::Whole(_))
    }

    /// Adds the values that some codes stand for.
    pub(super) fn add(&mut self, codes: &[u64]) {
        if codes.is_empty() {
            return;
        }
        let n = codes.len() as u64;
        if let Sums::Fractions(sums) = &mut self.sums {
            let (mean, squares) = sums.add(codes, self.n == 0);
            return self.merge_fractions(n, mean, squares);
        }
        let total: u128 = codes.iter().map(|code| u128::from(*code)).sum();
        // Distances from the whole number next to the mean are exact; what it is beside the mean is taken off.
        let center = (total / u128::from(n)) as u64;
        let beside = (total % u128::from(n)) as f64;
        let square = |code: &u64| {
            let distance = code.abs_diff(center) as f64;
            distance * distance
        };
        let squares = codes.iter().map(square).sum::<f64>() - beside * beside / n as f64;
        self.merge_whole(n, total, squares);
    }

    /// Adds the whole numbers that `n` numbers stand for, given what these have together, the code of 0, and by how much that of
    /// each number lies above that of the one before.
    pub(super) fn add_totals(&mut self, n: u64, of: &Totals, (base, unit): (u64, u64)) {
        if n > 0 {
            // Both are whole, and far from the end of 128 bits: squares are of 64 bits.
            let apart = u128::from(n) * of.squares - u128::from(of.sum).pow(2);
            let unit_of_squares = unit as f64 * unit as f64;
            let total = u128::from(base) * u128::from(n) + u128::from(unit) * u128::from(of.sum);
            self.merge_whole(n, total, apart as f64 / n as f64 * unit_of_squares);
        }
    }

    pub(super) fn add_repeated(&mut self, code: u64, times: u64) {
        match &mut self.sums {
            _ if times == 0 => {}
            Sums::Whole(_) => self.merge_whole(times, u128::from(code) * u128::from(times), 0.0),
            Sums::Fractions(sums) => {
                let mean = sums.add_repeated(f64_of_code(code), times, self.n == 0);
                self.merge_fractions(times, mean, 0.0);
            }
        }
    }

    pub(crate) fn n(&self) -> u64 {
        self.n
    }

    /// The sum of whole numbers, where the codes begin with so much less than they stand for.
    pub(crate) fn whole_sum(&self, zero: u64) -> Option<i128> {
        let Sums::Whole(total) = self.sums else { return None };
        // 2^64 numbers of 64 bits at the most.
        (total as i128).checked_sub(i128::from(self.n) * i128::from(zero))
    }

    /// The sum of fractions, which may be beyond all numbers.
    pub(crate) fn sum(&self) -> Option<f64> {
        self.sum_over(1.0)
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        self.sum_over(self.n as f64).filter(|_| self.n > 0)
    }

    fn sum_over(&self, n: f64) -> Option<f64> {
        let Sums::Fractions(FractionSums { sum, scaled, .. }) = self.sums else { return None };
        let by_sum = sum.value() / n;
        Some(if by_sum.is_finite() { by_sum } else { scaled.value() / n / SCALE })
    }

    /// The mean of the squares of the distances from the mean: of all that there is, and not of a sample. In steps of the kind.
    pub(crate) fn variance(&self) -> Option<f64> {
        // Rounded sums may come out below zero, and distances beyond all numbers as no number.
        (self.n > 0).then_some(match self.squares {
            squares if squares.is_nan() => f64::INFINITY,
            squares if squares < 0.0 => 0.0,
            squares => squares / self.n as f64,
        })
    }

    fn merge_whole(&mut self, times: u64, of_these: u128, squares: f64) {
        let Sums::Whole(total) = &mut self.sums else { return };
        let (n, m) = (self.n as f64, times as f64);
        let product = |total: u128, n: u64| (total as i128).checked_mul(n.into());
        let apart = product(*total, times)
            .zip(product(of_these, self.n))
            .and_then(|(a, b)| a.checked_sub(b));
        let apart = match apart {
            Some(apart) => apart as f64 / n / m,
            None => *total as f64 / n - of_these as f64 / m,
        };
        *total += of_these;
        self.merge(times, apart, squares);
    }

    fn merge_fractions(&mut self, times: u64, mean: f64, squares: f64) {
        let Sums::Fractions(FractionSums { mean: own, .. }) = &mut self.sums else { return };
        let (apart, n, m) = (mean - *own, self.n as f64, times as f64);
        *own += apart * (m / (n + m));
        self.merge(times, apart, squares);
    }

    /// Adds so many whose mean is so far apart.
    fn merge(&mut self, times: u64, apart: f64, squares: f64) {
        if self.n > 0 {
            let (n, m) = (self.n as f64, times as f64);
            self.squares += apart * apart * (n / (n + m)) * m;
        }
        self.squares += squares;
        self.n += times;
    }
}

impl FractionSums {
    /// Adds numbers; with their mean as a distance from the first of all, and the squares of their distances from it.
    fn add(&mut self, codes: &[u64], are_first: bool) -> (f64, f64) {
        let n = codes.len() as f64;
        if are_first {
            self.first = codes.first().map_or(0.0, |code| f64_of_code(*code));
        }
        let (mut apart, mut of_codes) = (0.0, CompensatedSum::default());
        for code in codes {
            let number = f64_of_code(*code);
            self.sum.add(number);
            of_codes.add(number);
            apart += number - self.first;
        }
        match of_codes.value() {
            sum if sum.is_finite() => self.scaled.add(sum * SCALE),
            _ => codes.iter().for_each(|code| self.scaled.add(f64_of_code(*code) * SCALE)),
        }
        let mean = apart / n;
        let (mut beside, mut squares) = (0.0, 0.0);
        for code in codes {
            let distance = f64_of_code(*code) - self.first - mean;
            beside += distance;
            squares += distance * distance;
        }
        (mean, squares - beside * beside / n)
    }

    /// Adds one number so many times; with its distance from the first of all.
    fn add_repeated(&mut self, number: f64, times: u64, are_first: bool) -> f64 {
        if are_first {
            self.first = number;
        }
        let product = number * times as f64;
        self.sum.add(product);
        self.scaled.add(number * SCALE * times as f64);
        // Rounding error of the product.
        let lost = number.mul_add(times as f64, -product);
        if lost.is_finite() {
            self.sum.add(lost);
        }
        number - self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{self, Value};

    const SIGN: u64 = 1 << 63;

    #[test]
    fn sums_that_are_beyond_all_numbers_on_the_way_come_back() {
        let large = [[1e306; 1_024], [-1e306; 1_024]].concat();
        for at_once in [1, 1_024, 2_048] {
            let moments = of_fractions(&large, at_once);
            assert_eq!((moments.sum(), moments.mean()), (Some(0.0), Some(0.0)), "{at_once}");
            let most = of_fractions(&[f64::MAX, f64::MAX, -f64::MAX], at_once);
            assert_eq!(most.sum(), Some(f64::MAX));
            assert_eq!(most.variance(), Some(f64::INFINITY));
            let beyond = of_fractions(&[f64::MAX, f64::MAX], at_once);
            assert_eq!((beyond.sum(), beyond.mean()), (Some(f64::INFINITY), Some(f64::MAX)));
        }
        let mut repeated = Moments::of(FieldKind::F64);
        for number in [1e306, -1e306] {
            let code = value::code(FieldKind::F64, &Value::F64(number)).unwrap();
            repeated.add_repeated(code, 1_024);
        }
        assert_eq!((repeated.sum(), repeated.mean()), (Some(0.0), Some(0.0)));
    }

    fn of_fractions(numbers: &[f64], at_once: usize) -> Moments {
        let code = |number: &f64| value::code(FieldKind::F64, &Value::F64(*number)).unwrap();
        let codes: Vec<u64> = numbers.iter().map(code).collect();
        let mut moments = Moments::of(FieldKind::F64);
        codes.chunks(at_once).for_each(|codes| moments.add(codes));
        moments
    }

    #[test]
    fn whole_numbers_far_from_zero_lose_nothing() {
        // In microseconds since 1970 a variance of 2/3; with the sum of squares there would be none left.
        for zero in [SIGN, SIGN + 1_700_000_000_000_000, u64::MAX - 3] {
            for at_once in [1, 2, 3, 6_000] {
                let codes: Vec<u64> = (0..6_000).map(|nth| zero + nth % 3).collect();
                let mut moments = Moments::of(FieldKind::Date);
                codes.chunks(at_once).for_each(|codes| moments.add(codes));
                assert_eq!(moments.n(), 6_000);
                assert_eq!(moments.whole_sum(zero), Some(6_000));
                let variance = moments.variance().unwrap();
                assert!((variance - 2.0 / 3.0).abs() < 1e-12, "{variance} by {at_once}");
                let mut repeated = Moments::of(FieldKind::Date);
                (0..3).for_each(|nth| repeated.add_repeated(zero + nth, 2_000));
                assert_eq!(repeated.whole_sum(zero), Some(6_000));
                assert!((repeated.variance().unwrap() - 2.0 / 3.0).abs() < 1e-12);
            }
        }
        let mut ends = Moments::of(FieldKind::I64);
        ends.add(&[0, u64::MAX]);
        ends.add_repeated(u64::MAX, 1 << 40);
        assert_eq!(ends.whole_sum(SIGN), Some((1 << 40) * i128::from(i64::MAX) - 1));
    }

    #[test]
    fn fractions_are_summed_with_what_is_lost() {
        let numbers = [1e100, 1.0, -1e100, 1.0];
        for at_once in 1..=4 {
            assert_eq!(of_fractions(&numbers, at_once).sum(), Some(2.0), "{at_once}");
        }
        let tenths = vec![0.1; 1_000_000];
        let moments = of_fractions(&tenths, 1_000);
        assert_eq!(moments.sum(), Some(100_000.0));
        assert_eq!(moments.mean(), Some(0.1));
        assert!(moments.variance().unwrap() < 1e-30);
        let mut repeated = of_fractions(&[], 1);
        assert_eq!((repeated.mean(), repeated.variance()), (None, None));
        repeated.add_repeated(value::code(FieldKind::F64, &Value::F64(0.1)).unwrap(), 1_000_000);
        assert_eq!(repeated.sum(), Some(100_000.0));

        let shifted: Vec<f64> = (0..3_000).map(|nth| 1e9 + f64::from(nth % 3)).collect();
        for at_once in [1, 7, 3_000] {
            let variance = of_fractions(&shifted, at_once).variance().unwrap();
            assert!((variance - 2.0 / 3.0).abs() < 1e-12, "{variance} by {at_once}");
        }
        let beyond = of_fractions(&[f64::MAX, f64::MAX, 1.0], 2);
        assert_eq!(beyond.sum(), Some(f64::INFINITY));
        assert!((beyond.mean().unwrap() / f64::MAX - 2.0 / 3.0).abs() < 1e-9);
        assert!(!beyond.variance().unwrap().is_finite());
    }
}
