//! The curve of Hilbert: points that have near codes are near each other.
//!
//! From the highest bits on, x and y of a point each give a bit to two bits of the code: 3x ⊕ y. If y is 0, then all lower bits are
//! inverted where x is 1, and x and y change places.

use super::UnitPoint;

/// Bits of x and of y that are looked up at once.
const STEP_BITS: u32 = 4;
const STEPS: u32 = u32::BITS / STEP_BITS;
/// Turns of a square: bit 0 says that x and y change places, bit 1 that their bits are inverted.
const TURNS: usize = 4;
const CELLS: usize = 1 << (2 * STEP_BITS);

/// By turn and by bits of x and y: the turn below, and bits of the code.
static CODES: [[(u8, u8); CELLS]; TURNS] = tables().0;
/// By turn and by bits of the code: the turn below, and bits of x and y.
static CELLS_OF_CODES: [[(u8, u8); CELLS]; TURNS] = tables().1;

type Table = [[(u8, u8); CELLS]; TURNS];

const fn tables() -> (Table, Table) {
    let (mut codes, mut cells) = ([[(0, 0); CELLS]; TURNS], [[(0, 0); CELLS]; TURNS]);
    let mut turn = 0;
    while turn < TURNS {
        let mut cell = 0;
        while cell < CELLS {
            let (mut below, mut code, mut bit) = (turn, 0, STEP_BITS);
            while bit > 0 {
                bit -= 1;
                let inverted = below >> 1;
                let (a, b) =
                    ((cell >> (STEP_BITS + bit) & 1) ^ inverted, (cell >> bit & 1) ^ inverted);
                let (x, y) = if below & 1 == 1 { (b, a) } else { (a, b) };
                code = code << 2 | (3 * x) ^ y;
                if y == 0 {
                    below ^= 1 | x << 1;
                }
            }
            codes[turn][cell] = (below as u8, code as u8);
            cells[turn][code] = (below as u8, cell as u8);
            cell += 1;
        }
        turn += 1;
    }
    (codes, cells)
}

impl UnitPoint {
    /// Code of the point on the curve.
    #[inline]
    pub(crate) fn to_code(self) -> u64 {
        let (mut turn, mut code) = (0, 0);
        for step in (0..STEPS).rev() {
            let bits = |of: u32| (of >> (step * STEP_BITS)) as usize & ((1 << STEP_BITS) - 1);
            let (below, part) = CODES[turn % TURNS][bits(self.x) << STEP_BITS | bits(self.y)];
            code = code << (2 * STEP_BITS) | u64::from(part);
            turn = usize::from(below);
        }
        code
    }

    /// The point of a code.
    #[inline]
    pub(crate) fn of_code(code: u64) -> Self {
        let (mut turn, mut point) = (0, UnitPoint::default());
        for step in (0..STEPS).rev() {
            let part = (code >> (2 * step * STEP_BITS)) as u8;
            let (below, cell) = CELLS_OF_CODES[turn % TURNS][usize::from(part)];
            point.x = point.x << STEP_BITS | u32::from(cell >> STEP_BITS);
            point.y = point.y << STEP_BITS | u32::from(cell & ((1 << STEP_BITS) - 1));
            turn = usize::from(below);
        }
        point
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The curve bit by bit, as the module says.
    fn naive(UnitPoint { mut x, mut y }: UnitPoint) -> u64 {
        let mut code = 0;
        for bit in (0..u32::BITS).rev() {
            let (a, b) = (u64::from(x >> bit & 1), u64::from(y >> bit & 1));
            code = code << 2 | (3 * a) ^ b;
            if b == 0 {
                if a == 1 {
                    (x, y) = (!x, !y);
                }
                (x, y) = (y, x);
            }
        }
        code
    }

    proptest! {
        #[test]
        fn codes_are_those_of_the_curve_and_come_back(x: u32, y: u32, shift in 0..32u32) {
            let point = UnitPoint { x: x >> shift, y: y >> shift };
            prop_assert_eq!(point.to_code(), naive(point));
            prop_assert_eq!(UnitPoint::of_code(point.to_code()), point);
        }

        #[test]
        fn neighbours_on_the_curve_are_neighbours(code in 0..u64::MAX) {
            let (a, b) = (UnitPoint::of_code(code), UnitPoint::of_code(code + 1));
            prop_assert_eq!(a.x.abs_diff(b.x) + a.y.abs_diff(b.y), 1);
        }
    }
}
