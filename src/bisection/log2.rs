//! Logarithms in whole numbers. Logarithms of floating point may differ in their last bit from one machine to another, and
//! with them the bytes of an index.

/// Bits behind the point.
pub(super) const FRACTION_BITS: u32 = 12;
/// Bits of a number behind its first one that are looked at.
const MANTISSA_BITS: u32 = 8;
/// The logarithms of 1 to 2 in steps, without what is before the point: which is nothing.
const FRACTIONS: [u16; 1 << MANTISSA_BITS] = fractions();

/// About the logarithm of a number to the base 2, in steps of 1 / 2^[`FRACTION_BITS`]; 0 for 0, as for 1.
#[inline]
pub(super) fn log2(n: u32) -> i32 {
    if n == 0 {
        return 0;
    }
    let whole = n.ilog2();
    let mantissa = (u64::from(n) << MANTISSA_BITS >> whole) as usize % FRACTIONS.len();
    (whole << FRACTION_BITS) as i32 + i32::from(FRACTIONS[mantissa])
}

/// By squaring: where the square of a number of 1 to 2 is 2 or more, the next bit of its logarithm is set.
const fn fractions() -> [u16; 1 << MANTISSA_BITS] {
    const ONE: u64 = 1 << 30;
    let mut fractions = [0; 1 << MANTISSA_BITS];
    let mut at = 0;
    while at < fractions.len() {
        let mut n = ONE + ((at as u64) << (30 - MANTISSA_BITS));
        let mut bit = FRACTION_BITS;
        while bit > 0 {
            bit -= 1;
            n = n * n / ONE;
            if n >= 2 * ONE {
                fractions[at] |= 1 << bit;
                n /= 2;
            }
        }
        at += 1;
    }
    fractions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_floating_point_to_a_part_of_a_hundred() {
        let one = f64::from(1 << FRACTION_BITS);
        for n in (0..100_000).chain([u32::MAX / 2, u32::MAX]) {
            let expected = f64::from(n.max(1)).log2();
            let found = f64::from(log2(n)) / one;
            assert!((found - expected).abs() < 0.01, "{n}: {found}, {expected}");
        }
        assert!((0..100_000).is_sorted_by_key(log2));
    }
}
