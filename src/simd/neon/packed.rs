//! Twins of [`packed`](crate::simd::packed) in NEON. Eight numbers are cut out of 16 bytes, and added up in vectors.

use super::{Four, sixteen_bytes, store_four};
use crate::simd::packed::{FewSums, RECORD, RecordForm, STEP, Unpacked, running_sums_portable};
use std::arch::aarch64::*;

/// Eight numbers of up to 14 bits.
#[derive(Clone, Copy)]
struct Eight {
    low: Four,
    high: Four,
    mask: uint32x4_t,
}

impl Eight {
    #[inline]
    #[target_feature(enable = "neon")]
    fn of(first: u32, width: u32) -> Self {
        let (low, high) = (Four::of(first, width), Four::of(first + 4 * width, width));
        Eight { low, high, mask: vdupq_n_u32((1 << width) - 1) }
    }

    /// The first `n` numbers; zeros behind.
    #[inline]
    #[target_feature(enable = "neon")]
    fn cut(self, bytes: uint8x16_t, n: usize) -> [uint32x4_t; 2] {
        let nth = vmovl_u16(vcreate_u16(0x0003_0002_0001_0000));
        let n = vdupq_n_u32(n.min(STEP) as u32);
        let low = vandq_u32(self.mask, vcltq_u32(nth, n));
        let high = vandq_u32(self.mask, vcltq_u32(vaddq_u32(nth, vdupq_n_u32(4)), n));
        [vandq_u32(self.low.cut(bytes), low), vandq_u32(self.high.cut(bytes), high)]
    }
}

/// Running sums of eight numbers.
#[inline]
#[target_feature(enable = "neon")]
fn sums([low, high]: [uint32x4_t; 2]) -> [uint32x4_t; 2] {
    let (low, high) = (sums_of_four(low), sums_of_four(high));
    [low, vaddq_u32(high, vdupq_laneq_u32::<3>(low))]
}

#[inline]
#[target_feature(enable = "neon")]
fn sums_of_four(numbers: uint32x4_t) -> uint32x4_t {
    let none = vdupq_n_u32(0);
    let pairs = vaddq_u32(numbers, vextq_u32::<3>(none, numbers));
    vaddq_u32(pairs, vextq_u32::<2>(none, pairs))
}

/// Works like [`running_sums`](crate::simd::packed::running_sums), of numbers of at most 14 bits.
#[target_feature(enable = "neon")]
pub(in crate::simd) fn running_sums(
    bytes: &[u8],
    bit: usize,
    width: u32,
    n: usize,
    limit: u32,
    out: &mut Vec<u32>,
) -> bool {
    if n < STEP / 2 {
        return running_sums_portable(bytes, bit, width, n, limit, out);
    }
    out.resize(n.next_multiple_of(STEP), 0);
    // Eight numbers end with a byte, so that the next begin with the same bit of one.
    let eight = Eight::of((bit % 8) as u32, width);
    let (mut at, mut sum, mut n_done) = (bit / 8, 0u64, 0);
    for to in out.as_chunks_mut::<STEP>().0 {
        let [low, high] = sums(eight.cut(sixteen_bytes(bytes, at), n - n_done));
        let before = vdupq_n_u32(sum as u32);
        let [to_low, to_high] = to.as_chunks_mut().0 else { return false };
        store_four(vaddq_u32(low, before), to_low);
        store_four(vaddq_u32(high, before), to_high);
        sum += u64::from(vgetq_lane_u32::<3>(high));
        n_done += STEP;
        if sum > u64::from(limit) {
            break;
        }
        at += width as usize;
    }
    out.truncate(n.min(n_done));
    sum <= u64::from(u32::MAX)
}

/// Works like [`n_behind`](FewSums::n_behind).
#[target_feature(enable = "neon")]
pub(in crate::simd) fn n_behind(second: FewSums<'_>, first: FewSums<'_>, distance: u32) -> u32 {
    let [low, high] = eight_sums(second);
    let distance = vdupq_n_u32(distance);
    let [first_low, first_high] = eight_sums(first);
    let mut are_there = [vdupq_n_u32(0); 2];
    for wanted in [vaddq_u32(first_low, distance), vaddq_u32(first_high, distance)] {
        let each = [
            vdupq_laneq_u32::<0>(wanted),
            vdupq_laneq_u32::<1>(wanted),
            vdupq_laneq_u32::<2>(wanted),
            vdupq_laneq_u32::<3>(wanted),
        ];
        for wanted in each {
            are_there[0] = vorrq_u32(are_there[0], vceqq_u32(low, wanted));
            are_there[1] = vorrq_u32(are_there[1], vceqq_u32(high, wanted));
        }
    }
    let are_there = vcombine_u16(vmovn_u32(are_there[0]), vmovn_u32(are_there[1]));
    // The last sum is there again behind its place.
    let bits = u32::from(super::bits(are_there)) & ((1 << second.n.min(STEP)) - 1);
    bits.count_ones()
}

/// The sums; behind them, the last again.
#[inline]
#[target_feature(enable = "neon")]
fn eight_sums(FewSums { bytes, bit, width, n, .. }: FewSums<'_>) -> [uint32x4_t; 2] {
    sums(Eight::of((bit % 8) as u32, width).cut(sixteen_bytes(bytes, bit / 8), n))
}

/// Works like [`Unpacked::unpack`], of frequencies of at most 14 bits.
#[target_feature(enable = "neon")]
pub(in crate::simd) fn unpack(
    unpacked: &mut Unpacked,
    widths: &[u8; RECORD / 2],
    packed: &[u8],
    form: RecordForm,
) {
    let both = super::load_bytes(widths);
    let one = vdupq_n_u8(1);
    let low = vaddq_u8(vandq_u8(both, vdupq_n_u8(15)), one);
    let high = vaddq_u8(vshrq_n_u8::<4>(both), one);
    let of_eights = [
        vmovl_u8(vget_low_u8(low)),
        vmovl_high_u8(low),
        vmovl_u8(vget_low_u8(high)),
        vmovl_high_u8(high),
    ];
    let [first, second] = form.widths();
    let eights = [Eight::of(0, first), Eight::of(0, second)];
    let starts = [0, first, 2 * first, 2 * first + second];
    let shorter = vdupq_n_u16(form.only_is_shorter.into());
    let mut before = vdupq_n_u32(0);
    let lists = unpacked.widths.as_chunks_mut::<STEP>().0.iter_mut();
    let lists = lists.zip(unpacked.frequencies.as_chunks_mut::<STEP>().0);
    let lists = lists.zip(unpacked.before[1..].as_chunks_mut::<STEP>().0);
    for ((nth, widths), ((to_widths, to_frequencies), to_sums)) in
        of_eights.into_iter().enumerate().zip(lists)
    {
        let bytes = sixteen_bytes(packed, starts[nth] as usize);
        let [low, high] = eights[nth / 2].cut(bytes, STEP);
        let frequencies = vcombine_u16(vmovn_u32(low), vmovn_u32(high));
        let frequencies = vaddq_u16(frequencies, vdupq_n_u16(1));
        let are_one = vceqq_u16(frequencies, vdupq_n_u16(1));
        let widths = vsubq_u16(widths, vandq_u16(are_one, shorter));
        store_eight(widths, to_widths);
        store_eight(frequencies, to_frequencies);
        let low = vmull_u16(vget_low_u16(frequencies), vget_low_u16(widths));
        let [low, high] = sums([low, vmull_high_u16(frequencies, widths)]);
        let [to_low, to_high] = to_sums.as_chunks_mut().0 else { return };
        store_four(vaddq_u32(low, before), to_low);
        let high = vaddq_u32(high, before);
        store_four(high, to_high);
        before = vdupq_laneq_u32::<3>(high);
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn store_eight(numbers: uint16x8_t, to: &mut [u16; STEP]) {
    #[expect(unsafe_code, reason = "a vector store")]
    // SAFETY: the reference is to exactly the 16 bytes that are written.
    unsafe {
        vst1q_u16(to.as_mut_ptr(), numbers);
    }
}
