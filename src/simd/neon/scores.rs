//! Twin of [`scores`](crate::simd::scores): scores are compared by eights.

use crate::simd::scores::BLOCK;
use std::arch::aarch64::*;

/// Works like [`at_least`](crate::simd::scores::at_least).
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
