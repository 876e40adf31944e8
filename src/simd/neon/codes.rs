//! Twins of [`codes`](crate::simd::codes) in NEON. Products of 8 bits have 16, which are added up in pairs.

use super::{BYTES, load_bytes};
use crate::simd::codes::{GROUP, GROUP_OF_STRIP, STRIP, TOGETHER, Tile, dot_portable};
use std::arch::aarch64::*;

/// Rows at once: as many as there are registers for.
const ROWS: usize = 2;
/// Vectors of a group of a strip, of four rows each.
const QUARTERS: usize = GROUP_OF_STRIP / BYTES;

/// Works like [`dot`](crate::simd::codes::dot).
#[target_feature(enable = "neon")]
pub(in crate::simd) fn dot(code: &[u8], sum: i32, other: &[u8]) -> i32 {
    let (steps, rest) = code.as_chunks::<BYTES>();
    let (others, others_rest) = other[..code.len().min(other.len())].as_chunks::<BYTES>();
    let mut dots = [vdupq_n_s32(0); 2];
    for (a, b) in steps.iter().zip(others) {
        let (a, b) = (vreinterpretq_s8_u8(load_bytes(a)), vreinterpretq_s8_u8(load_bytes(b)));
        dots = add_products(dots, a, b);
    }
    let [low, high] = dots;
    vaddvq_s32(vaddq_s32(low, high)).wrapping_add(dot_portable(rest, sum, others_rest))
}

/// Works like [`dots`](crate::simd::codes::dots).
#[target_feature(enable = "neon")]
pub(in crate::simd) fn dots(code: &[u8], sum: i32, others: [&[u8]; TOGETHER]) -> [i32; TOGETHER] {
    let [a, b, c, d] = others;
    [dot(code, sum, a), dot(code, sum, b), dot(code, sum, c), dot(code, sum, d)]
}

/// Adds products of two numbers next to each other to each sum.
#[inline]
#[target_feature(enable = "neon")]
fn add_products([low, high]: [int32x4_t; 2], a: int8x16_t, b: int8x16_t) -> [int32x4_t; 2] {
    let of_low = vmull_s8(vget_low_s8(a), vget_low_s8(b));
    [vpadalq_s16(low, of_low), vpadalq_s16(high, vmull_high_s8(a, b))]
}

/// Works like [`tile`](crate::simd::codes::tile).
#[target_feature(enable = "neon")]
pub(in crate::simd) fn tile(
    rows: &[[u8; GROUP_OF_STRIP]],
    _sums: &[i32; STRIP],
    others: &[[u8; GROUP_OF_STRIP]],
    to: &mut Tile,
) {
    for (first, to) in (0..STRIP).step_by(ROWS).zip(to.as_chunks_mut::<ROWS>().0) {
        let mut dots = [[[vdupq_n_s32(0); 2]; QUARTERS]; ROWS];
        for (rows, others) in rows.iter().zip(others) {
            let rows = &rows.as_chunks::<GROUP>().0[first..first + ROWS];
            let others = others.as_chunks::<BYTES>().0;
            for (row, dots) in rows.iter().zip(&mut dots) {
                let row = vreinterpretq_s8_s32(vdupq_n_s32(i32::from_le_bytes(*row)));
                for (other, dots) in others.iter().zip(dots) {
                    *dots = add_products(*dots, row, vreinterpretq_s8_u8(load_bytes(other)));
                }
            }
        }
        for (dots, to) in dots.iter().zip(to) {
            for ([low, high], to) in dots.iter().zip(to.as_chunks_mut::<4>().0) {
                // Both sums of a row next to each other.
                let sums = vpaddq_s32(*low, *high);
                *to = [
                    vgetq_lane_s32::<0>(sums),
                    vgetq_lane_s32::<1>(sums),
                    vgetq_lane_s32::<2>(sums),
                    vgetq_lane_s32::<3>(sums),
                ];
            }
        }
    }
}
