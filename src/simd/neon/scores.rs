//! Twins of [`scores`](crate::simd::scores): bytes are moved together by eights, and scores compared by eights.

use crate::simd::arrays::PACKING;
use crate::simd::packed::word_at;
use crate::simd::scores::BLOCK;
use std::arch::aarch64::*;

/// As [`pick`](crate::simd::scores::pick).
#[target_feature(enable = "neon")]
pub(in crate::simd) fn pick(bytes: &[u8], wanted: u64) -> [u8; BLOCK] {
    let (mut picked, mut n) = ([0; BLOCK + 8], 0);
    for (nth, some) in wanted.to_le_bytes().into_iter().enumerate() {
        // Lanes of two bytes begin with twice the number of their value, and those without one with a number too great for any.
        let order = super::load_bytes(&PACKING[usize::from(some)]);
        let order = vshr_n_u8::<1>(vmovn_u16(vreinterpretq_u16_u8(order)));
        let together = vtbl1_u8(vcreate_u8(word_at(bytes, 8 * nth)), order);
        if let Some(to) = picked.get_mut(n..n + 8) {
            to.copy_from_slice(&vget_lane_u64::<0>(vreinterpret_u64_u8(together)).to_le_bytes());
        }
        n += some.count_ones() as usize;
    }
    picked.first_chunk().copied().unwrap_or([0; BLOCK])
}

/// As [`at_least`](crate::simd::scores::at_least).
#[target_feature(enable = "neon")]
pub(in crate::simd) fn at_least(n: usize, scores: &[f32; BLOCK], least: f32) -> u64 {
    let least = vdupq_n_f32(least);
    let mut good = 0;
    for (nth, scores) in scores.as_chunks::<8>().0.iter().take(n.div_ceil(8)).enumerate() {
        let [low, high] = scores.as_chunks::<4>().0 else { return 0 };
        let (low, high) = (vcgeq_f32(load(low), least), vcgeq_f32(load(high), least));
        let of_8 = vcombine_u16(vmovn_u32(low), vmovn_u32(high));
        good |= u64::from(super::bits(of_8)) << (8 * nth);
    }
    good & u64::MAX.checked_shl(n as u32).map_or(u64::MAX, |behind| !behind)
}

#[inline]
#[target_feature(enable = "neon")]
fn load(scores: &[f32; 4]) -> float32x4_t {
    #[expect(unsafe_code, reason = "a vector load")]
    // SAFETY: the reference is to exactly the 16 bytes that are read.
    unsafe {
        vld1q_f32(scores.as_ptr())
    }
}
