//! Twins of [`numbers`](crate::simd::numbers): four numbers are cut out of their bytes at once.

use super::{Four, bits, load_four, sixteen_bytes, store_four};
use crate::simd::numbers::{NARROW, STEP, mask_of, unpack_neighbours_portable};
use std::arch::aarch64::*;

/// Works like [`unpack_neighbours`](crate::simd::numbers::unpack_neighbours), of numbers that lie in the four bytes they begin in. Eight
/// begin and end with a byte, so that where each lies in the bytes of its eight follows from the width alone.
#[target_feature(enable = "neon")]
pub(in crate::simd) fn unpack_neighbours(bytes: &[u8], width: u32, first: u32, out: &mut [u32]) {
    if width > NARROW {
        return unpack_neighbours_portable(bytes, width, first, out);
    }
    let (w, start) = (width as usize, first as usize / STEP * width as usize);
    let (low, high) = (Four::of(0, width), Four::of(4 * width % 8, width));
    let mask = vdupq_n_u32(mask_of(width));
    let n_eights = out.len() / STEP;
    let (eights, rest) = out.split_at_mut(n_eights * STEP);
    for (nth, out) in eights.as_chunks_mut::<STEP>().0.iter_mut().enumerate() {
        let at = start + nth * w;
        let [out_low, out_high] = out.as_chunks_mut::<4>().0 else { return };
        store_four(vandq_u32(low.cut(sixteen_bytes(bytes, at)), mask), out_low);
        store_four(vandq_u32(high.cut(sixteen_bytes(bytes, at + 4 * w / 8)), mask), out_high);
    }
    unpack_neighbours_portable(bytes, width, first + (n_eights * STEP) as u32, rest);
}

/// Works like [`are_among`](crate::simd::numbers::are_among).
#[target_feature(enable = "neon")]
pub(in crate::simd) fn are_among(numbers: &[u32], first: u32, n: u32, to: &mut [u8]) {
    let (first, n) = (vdupq_n_u32(first), vdupq_n_u32(n));
    for (numbers, to) in numbers.as_chunks::<STEP>().0.iter().zip(to) {
        let [low, high] = numbers.as_chunks::<4>().0 else { return };
        let low = vcltq_u32(vsubq_u32(load_four(low), first), n);
        let high = vcltq_u32(vsubq_u32(load_four(high), first), n);
        *to = bits(vcombine_u16(vmovn_u32(low), vmovn_u32(high)));
    }
}
