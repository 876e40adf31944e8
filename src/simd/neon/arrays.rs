//! Twins of [`arrays`]: eight values are compared with the eight of another block.

use super::{bits, load_bytes};
use crate::simd::arrays::{self, BLOCK, Le16, PACKING};
use std::arch::aarch64::*;

/// Works like [`and_count_side_by_side`](arrays::and_count_side_by_side).
#[target_feature(enable = "neon")]
pub(in crate::simd) fn and_count(a: &[Le16], b: &[Le16]) -> u32 {
    let (a_blocks, b_blocks) = (a.as_chunks::<BLOCK>().0, b.as_chunks::<BLOCK>().0);
    let (mut i, mut j, mut n) = (0, 0, vdupq_n_u16(0));
    while i < a_blocks.len() && j < b_blocks.len() {
        let (x, y) = (&a_blocks[i], &b_blocks[j]);
        // Lanes that are all ones are one less than nothing.
        n = vsubq_u16(n, equal_lanes(load(x), load(y)));
        let (x_last, y_last) = (u16::from_le_bytes(x[BLOCK - 1]), u16::from_le_bytes(y[BLOCK - 1]));
        i += usize::from(x_last <= y_last);
        j += usize::from(y_last <= x_last);
    }
    // One of these is less than a block.
    let n = vaddlvq_u16(n) + arrays::and_count(&a[i * BLOCK..], &b[j * BLOCK..]);
    // Unsorted lists can meet the same value twice.
    n.min(a.len().min(b.len()) as u32)
}

/// Works like [`and_side_by_side`](arrays::and_side_by_side).
#[target_feature(enable = "neon")]
pub(in crate::simd) fn and(a: &[Le16], b: &[Le16], out: &mut [Le16]) -> usize {
    let (a_blocks, b_blocks) = (a.as_chunks::<BLOCK>().0, b.as_chunks::<BLOCK>().0);
    let (mut i, mut j, mut n) = (0, 0, 0);
    while i < a_blocks.len() && j < b_blocks.len() {
        let (x, y) = (&a_blocks[i], &b_blocks[j]);
        let values = load(x);
        let matches = bits(equal_lanes(values, load(y)));
        // Ascending lists have written at most 8 values per block passed, so a block fits; the
        // others end here, or in the merge below.
        let Some(slot) = out.get_mut(n..).and_then(|rest| rest.first_chunk_mut::<BLOCK>()) else {
            break;
        };
        let order = load_bytes(&PACKING[usize::from(matches)]);
        store(vqtbl1q_u8(vreinterpretq_u8_u16(values), order), slot);
        n += matches.count_ones() as usize;
        let (x_last, y_last) = (u16::from_le_bytes(x[BLOCK - 1]), u16::from_le_bytes(y[BLOCK - 1]));
        i += usize::from(x_last <= y_last);
        j += usize::from(y_last <= x_last);
    }
    n + arrays::and_merging(&a[i * BLOCK..], &b[j * BLOCK..], out.get_mut(n..).unwrap_or_default())
}

/// The lanes of `a` that hold a value of `b`, as all ones.
#[inline]
#[target_feature(enable = "neon")]
fn equal_lanes(a: uint16x8_t, b: uint16x8_t) -> uint16x8_t {
    let by_0_1 = vorrq_u16(vceqq_u16(a, b), vceqq_u16(a, vextq_u16::<1>(b, b)));
    let by_2_3 = vorrq_u16(vceqq_u16(a, vextq_u16::<2>(b, b)), vceqq_u16(a, vextq_u16::<3>(b, b)));
    let by_4_5 = vorrq_u16(vceqq_u16(a, vextq_u16::<4>(b, b)), vceqq_u16(a, vextq_u16::<5>(b, b)));
    let by_6_7 = vorrq_u16(vceqq_u16(a, vextq_u16::<6>(b, b)), vceqq_u16(a, vextq_u16::<7>(b, b)));
    vorrq_u16(vorrq_u16(by_0_1, by_2_3), vorrq_u16(by_4_5, by_6_7))
}

#[inline]
#[target_feature(enable = "neon")]
fn load(values: &[Le16; BLOCK]) -> uint16x8_t {
    #[expect(unsafe_code, reason = "a vector load")]
    // SAFETY: the reference is to exactly the 16 bytes that are read.
    vreinterpretq_u16_u8(unsafe { vld1q_u8(values.as_flattened().as_ptr()) })
}

#[inline]
#[target_feature(enable = "neon")]
fn store(values: uint8x16_t, slot: &mut [Le16; BLOCK]) {
    #[expect(unsafe_code, reason = "a vector store")]
    // SAFETY: the reference is to exactly the 16 bytes that are written.
    unsafe {
        vst1q_u8(slot.as_flattened_mut().as_mut_ptr(), values);
    }
}
