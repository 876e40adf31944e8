//! Widths of steps of fractions. Their multiples are those of the decimal number that a width is written as.
//!
//! 0.1 is no number of 64 bits, and three times the nearest one is 0.30000000000000004: as the beginning of a step it leaves
//! the value 0.3 in the step before, and no query for what is printed finds what was counted. So a step begins at the number nearest
//! to so many times the decimal width, which is what a reader of numbers makes of the text of that multiple, too.

/// Beyond these whole numbers fractions have no neighbours that differ by one.
const WHOLE_MAX: f64 = (1u64 << 53) as f64;
/// Powers of ten up to which a fraction is exactly one.
const POWER_MAX: i32 = 22;
/// Below this width numbers have fewer digits than elsewhere, and multiples are those of the number itself.
const DECIMAL_MIN: f64 = 1e-290;
/// By what part of itself a quotient may be wrong: one division, and the rounding of a width and of the beginning of a step.
const SLACK: f64 = 1.0 / (1u64 << 50) as f64;

/// The width of steps of fractions, as a number and as its shortest decimal text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecimalWidth {
    pub(crate) width: f64,
    /// The width is `digits` times ten to the power of `exponent`.
    digits: i64,
    exponent: i32,
    /// Ten to the power of the exponent without its sign, where a fraction is exactly that.
    power: Option<f64>,
}

impl DecimalWidth {
    /// The width that is written as this number is.
    pub(crate) fn new(width: f64) -> Self {
        let text = format!("{width:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let n_behind = digits.split_once('.').map_or(0, |(_, behind)| behind.len() as i32);
        let exponent = exponent.parse::<i32>().unwrap_or(0) - n_behind;
        let is_exact = exponent.abs() <= POWER_MAX;
        DecimalWidth {
            width,
            digits: digits.replace('.', "").parse().unwrap_or(0),
            exponent,
            power: is_exact.then(|| 10f64.powi(exponent.abs())),
        }
    }

    /// Whether the steps up to this distance from zero can be told apart.
    pub(crate) fn tells_apart(self, furthest: f64) -> bool {
        furthest / self.width < WHOLE_MAX
    }

    /// The number that a step begins with, which may be infinite.
    pub(crate) fn start(self, step: i128) -> f64 {
        // Both are whole, and so is their product as long as it is that small: then rounding happens once.
        let product = step as f64 * self.digits as f64;
        match self.power.filter(|_| product.abs() < WHOLE_MAX) {
            Some(power) if self.exponent < 0 => product / power,
            Some(power) => product * power,
            None => self.start_by_text(step),
        }
    }

    #[cold]
    fn start_by_text(self, step: i128) -> f64 {
        let rounded = step as f64 * self.width;
        match step.checked_mul(self.digits.into()) {
            Some(digits) if self.width >= DECIMAL_MIN => {
                format!("{digits}e{}", self.exponent).parse().unwrap_or(rounded)
            }
            _ => rounded,
        }
    }

    /// The number of the step that a value lies in.
    #[inline]
    pub(crate) fn step(self, number: f64) -> i128 {
        let quotient = number / self.width;
        let step = quotient.floor();
        let behind = quotient - step;
        let slack = quotient.abs() * SLACK;
        // Most values lie far from both ends of their step, and far values have none that is told apart.
        match behind > slack && 1.0 - behind > slack || quotient.abs() >= WHOLE_MAX {
            true => step as i128,
            false => self.step_near(number, step as i128),
        }
    }

    /// The step of a value that lies in this one or near it.
    fn step_near(self, number: f64, mut step: i128) -> i128 {
        while self.start(step) > number {
            step -= 1;
        }
        while self.start(step + 1) <= number {
            step += 1;
        }
        step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiple of a width as a reader of numbers reads its text.
    fn multiple(digits: i64, exponent: i32, step: i64) -> f64 {
        format!("{}e{exponent}", i128::from(digits) * i128::from(step)).parse().unwrap()
    }

    #[test]
    fn steps_begin_at_multiples_of_the_decimal_width() {
        let widths = [
            (1, -1),
            (2, -1),
            (3, -1),
            (7, -1),
            (1, -2),
            (5, -2),
            (25, -2),
            (125, -3),
            (1, -3),
            (3, -7),
            (1, -22),
            (1, -23),
            (1, -30),
            (123_456, -3),
            (12_345_678_901_234_567, -16),
            (9_007_199_254_740_993, 3),
            (1, 0),
            (25, -1),
            (3, 5),
            (1, 22),
            (1, 23),
            (7, 300),
            (3, -280),
        ];
        for (digits, exponent) in widths {
            let width = DecimalWidth::new(multiple(digits, exponent, 1));
            let far = [1 << 31, 12_345_678_901, (1 << 52) - 3];
            for step in (-1_500..1_500).chain(far).chain(far.map(|step| -step)) {
                let start = multiple(digits, exponent, step);
                if start.is_infinite() {
                    continue;
                }
                assert_eq!(width.start(step.into()), start, "{step} of {width:?}");
                assert_eq!(width.step(start), step.into(), "{start} by {width:?}");
                let below = if start == 0.0 { -f64::MIN_POSITIVE } else { start.next_down() };
                assert_eq!(width.step(below), i128::from(step) - 1, "{below} by {width:?}");
                let middle = start + width.width / 2.0;
                if step.unsigned_abs() < 1 << 40 {
                    assert_eq!(width.step(middle), step.into(), "{middle} by {width:?}");
                }
            }
        }
    }

    #[test]
    fn a_value_is_not_below_its_step_and_below_the_next() {
        let widths = [0.1, 0.3, 1.0, 2.5, 1e-3, 1.0 / 3.0, 1e-300, 5e-324, 1e308, f64::MAX];
        for width in widths.map(DecimalWidth::new) {
            for nth in -1_000..1_000 {
                let nth = f64::from(nth);
                for number in [nth * width.width, nth / 10.0, nth * 0.7, nth * 1e-7, nth * 1e12] {
                    let is_known = number.is_finite() && width.tells_apart(number.abs());
                    if !is_known {
                        continue;
                    }
                    let step = width.step(number);
                    assert!(width.start(step) <= number, "{number} by {width:?}");
                    assert!(number < width.start(step + 1), "{number} by {width:?}");
                }
            }
        }
        // A number too far for any step has one nevertheless.
        assert!(DecimalWidth::new(0.01).step(1e300) > 1 << 53);
        assert!(DecimalWidth::new(0.01).step(-f64::MAX) < -(1 << 53));
    }
}
