//! Widths of 64 packed numbers.
//!
//! The numbers lie one after the other, and each sixteen of them have as many bits as the widest needs.

/// Numbers that have one width.
pub(crate) const SIXTEEN: u32 = 16;

/// The widths of four sixteens, at most 32 bits each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Widths {
    /// A byte each, that of the first in the lowest.
    bytes: u32,
}

impl Widths {
    /// One width, at most 32, for all.
    #[inline]
    pub(crate) fn all(width: u32) -> Self {
        Widths { bytes: width.wrapping_mul(0x0101_0101) }
    }

    /// One in each half of a byte, the first in the lowest.
    #[inline]
    pub(crate) fn of_nibbles(nibbles: u16) -> Self {
        let nibbles = u32::from(nibbles);
        let pairs = (nibbles | nibbles << 8) & 0x00FF_00FF;
        Widths { bytes: (pairs | pairs << 4) & 0x0F0F_0F0F }
    }

    /// A byte each, that of the first in the lowest.
    #[cfg(any(test, target_arch = "x86_64"))]
    #[inline]
    pub(crate) fn bytes(self) -> u32 {
        self.bytes
    }

    /// Whether no number has a bit.
    #[inline]
    pub(crate) fn are_none(self) -> bool {
        self.bytes == 0
    }

    /// Whether all numbers fit bytes.
    #[inline]
    pub(crate) fn fit_bytes(self) -> bool {
        // A byte passes 127 where a width passes 8, and none passes 255.
        self.bytes.wrapping_add(0x7777_7777) & 0x8080_8080 == 0
    }

    /// Bits of the sixteens before each, in sixteens: a byte each, and a fifth of all.
    #[inline]
    pub(crate) fn before(self) -> u64 {
        (u64::from(self.bytes) * 0x0101_0101) << 8
    }

    /// First bit of a number, and its width; the end of all for number 64.
    #[inline]
    pub(crate) fn place(self, nth: u32) -> (u32, u32) {
        let shift = nth / SIXTEEN * 8;
        let width = self.width(nth / SIXTEEN);
        let before = (self.before() >> shift) as u32 & 0xFF;
        (before * SIXTEEN + nth % SIXTEEN * width, width)
    }

    /// The width of a sixteen; of none behind the fourth.
    #[inline]
    pub(crate) fn width(self, sixteen: u32) -> u32 {
        (u64::from(self.bytes) >> (sixteen * 8)) as u32 & 0xFF
    }

    /// First bit of the 32 numbers from this one on, which is 0 or 32, and the widths of both sixteens.
    #[inline]
    pub(crate) fn half(self, nth: u32) -> (u32, [u8; 2]) {
        let [a, b, c, d] = self.bytes.to_le_bytes();
        if nth == 0 { (0, [a, b]) } else { ((u32::from(a) + u32::from(b)) * SIXTEEN, [c, d]) }
    }

    /// Number of those from this one on, below 64, that have the same width.
    #[inline]
    pub(crate) fn run(self, nth: u32) -> u32 {
        let width = self.width(nth / SIXTEEN);
        let mut end = nth / SIXTEEN + 1;
        while end < 4 && self.width(end) == width {
            end += 1;
        }
        end * SIXTEEN - nth
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_lie_behind_those_before(widths in any::<[u8; 4]>(), same in 0u32..=32) {
            let nibbles = widths.map(|width| width % 16);
            let of_nibbles = nibbles.iter().rev().fold(0, |all, width| all << 4 | u16::from(*width));
            let of_bytes = widths.map(|width| width % 33);
            for (found, widths) in [
                (Widths::of_nibbles(of_nibbles), nibbles),
                (Widths::all(same), [same as u8; 4]),
                (Widths { bytes: u32::from_le_bytes(of_bytes) }, of_bytes),
            ] {
                prop_assert_eq!(found.bytes().to_le_bytes(), widths);
                prop_assert_eq!(found.are_none(), widths == [0; 4]);
                prop_assert_eq!(found.fit_bytes(), widths.iter().all(|width| *width <= 8));
                let mut bit = 0;
                for nth in 0..64 {
                    let width = u32::from(widths[nth as usize / 16]);
                    prop_assert_eq!(found.place(nth), (bit, width));
                    let differs = |other: &u32| widths[*other as usize / 16] != width as u8;
                    let run = (nth..64).find(differs).unwrap_or(64) - nth;
                    prop_assert_eq!(found.run(nth), run);
                    bit += width;
                }
                prop_assert_eq!(found.place(64), (bit, 0));
                prop_assert_eq!(found.half(0), (0, [widths[0], widths[1]]));
                prop_assert_eq!(found.half(32), (found.place(32).0, [widths[2], widths[3]]));
            }
        }
    }
}
