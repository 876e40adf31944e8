//! Twins of [`sums`](crate::simd::sums) in AVX-512. A number is made of 64 comparisons, and its bits are brought
//! together as places.

use super::{load_bytes, store_places};
use crate::simd::sums::BLOCKS;
use std::arch::x86_64::*;

/// Works like [`select`](crate::simd::sums::select).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn select(sums: &[u16; BLOCKS], level: u16, first: u32, out: &mut Vec<u32>) {
    let level = _mm512_set1_epi16(level.cast_signed());
    for (sums, first) in sums.as_chunks::<64>().0.iter().zip((first..).step_by(64)) {
        let [low, high] = sums.as_chunks::<32>().0 else { return };
        let low = _mm512_cmpge_epu16_mask(load(low), level);
        let high = _mm512_cmpge_epu16_mask(load(high), level);
        push(u64::from(high) << 32 | u64::from(low), first, out);
    }
}

/// Works like [`select_codes`](crate::simd::sums::select_codes).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn select_codes(codes: &[u8], least: u8, out: &mut Vec<u32>) {
    let (chunks, rest) = codes.as_chunks::<64>();
    for (codes, first) in chunks.iter().zip((0..).step_by(64)) {
        push(at_least(codes, least), first, out);
    }
    push(at_least(rest, least), (codes.len() - rest.len()) as u32, out);
}

/// Works like [`count_codes`](crate::simd::sums::count_codes).
#[target_feature(enable = "avx512f,avx512bw,bmi2,popcnt")]
pub(in crate::simd) fn count_codes(codes: &[u8], least: u8) -> usize {
    let (chunks, rest) = codes.as_chunks::<64>();
    let mut n = at_least(rest, least).count_ones() as usize;
    for codes in chunks {
        n += at_least(codes, least).count_ones() as usize;
    }
    n
}

/// Selects those of up to 64 codes that are at least `least`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn at_least(codes: &[u8], least: u8) -> u64 {
    let there = _bzhi_u64(u64::MAX, codes.len() as u32);
    let least = _mm512_set1_epi8(least.cast_signed());
    _mm512_mask_cmpge_epu8_mask(there, load_bytes(codes), least)
}

/// Appends `first` and the place of each bit.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi2,popcnt")]
fn push(selected: u64, first: u32, out: &mut Vec<u32>) {
    if selected == 0 {
        return;
    }
    out.reserve(64);
    let len = out.len() + selected.count_ones() as usize;
    #[expect(unsafe_code, reason = "writes to an address, and says how many numbers are there")]
    // SAFETY: there is room for 64 numbers, and as many places as bits are written behind what there was.
    unsafe {
        store_places(selected, first, out.spare_capacity_mut().as_mut_ptr().cast());
        out.set_len(len);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(sums: &[u16; 32]) -> __m512i {
    #[expect(unsafe_code, reason = "an unaligned vector load")]
    // SAFETY: the reference is to exactly the 64 bytes that are read.
    unsafe {
        _mm512_loadu_si512(sums.as_ptr().cast())
    }
}
