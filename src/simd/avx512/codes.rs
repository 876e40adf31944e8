//! Twins of [`codes`](crate::simd::codes) in AVX-512.
//!
//! One instruction multiplies four unsigned numbers of 8 bits with signed ones and adds them up.

use super::{BYTES, load_bytes};
use crate::simd::codes::{GROUP, GROUP_OF_STRIP, STRIP, TOGETHER, Tile};
use std::arch::x86_64::*;

/// Number that is added to signed numbers to make them unsigned.
const OFFSET: i32 = 128;

/// Works like [`dot`](crate::simd::codes::dot).
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,bmi2")]
pub(in crate::simd) fn dot(code: &[u8], sum: i32, other: &[u8]) -> i32 {
    let (steps, rest) = code.as_chunks::<BYTES>();
    let (others, others_rest) = other[..code.len().min(other.len())].as_chunks::<BYTES>();
    let (mut dots, mut more) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    let (pairs, odd) = steps.as_chunks::<2>();
    let (others_pairs, others_odd) = others.as_chunks::<2>();
    for ([a, b], [c, d]) in pairs.iter().zip(others_pairs) {
        dots = _mm512_dpbusd_epi32(dots, unsigned(load(c)), load(a));
        more = _mm512_dpbusd_epi32(more, unsigned(load(d)), load(b));
    }
    if let ([a, ..], [b, ..]) = (odd, others_odd) {
        dots = _mm512_dpbusd_epi32(dots, unsigned(load(b)), load(a));
    }
    if !rest.is_empty() {
        more = _mm512_dpbusd_epi32(more, unsigned(load_bytes(others_rest)), load_bytes(rest));
    }
    _mm512_reduce_add_epi32(_mm512_add_epi32(dots, more)).wrapping_sub(sum.wrapping_mul(OFFSET))
}

/// Works like [`dots`](crate::simd::codes::dots).
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,bmi2")]
pub(in crate::simd) fn dots(code: &[u8], sum: i32, others: [&[u8]; TOGETHER]) -> [i32; TOGETHER] {
    let [a, b, c, d] = others;
    [dot(code, sum, a), dot(code, sum, b), dot(code, sum, c), dot(code, sum, d)]
}

/// Works like [`tile`](crate::simd::codes::tile).
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(in crate::simd) fn tile(
    rows: &[[u8; GROUP_OF_STRIP]],
    sums: &[i32; STRIP],
    others: &[[u8; GROUP_OF_STRIP]],
    to: &mut Tile,
) {
    let mut dots = [_mm512_setzero_si512(); STRIP];
    for (rows, others) in rows.iter().zip(others) {
        let others = unsigned(load(others));
        for (dots, row) in dots.iter_mut().zip(rows.as_chunks::<GROUP>().0) {
            *dots = _mm512_dpbusd_epi32(*dots, others, _mm512_set1_epi32(i32::from_le_bytes(*row)));
        }
    }
    for ((dots, sum), to) in dots.iter().zip(sums).zip(to) {
        let offset = _mm512_set1_epi32(sum.wrapping_mul(OFFSET));
        store(_mm512_sub_epi32(*dots, offset), to);
    }
}

/// Numbers with 128 added to each.
#[inline]
#[target_feature(enable = "avx512f")]
fn unsigned(numbers: __m512i) -> __m512i {
    _mm512_xor_si512(numbers, _mm512_set1_epi32(0x8080_8080_u32.cast_signed()))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8; BYTES]) -> __m512i {
    #[expect(unsafe_code, reason = "a vector load through a reference of its size")]
    // SAFETY: the reference is valid for 64 bytes, and the load needs no alignment.
    unsafe {
        _mm512_loadu_si512(bytes.as_ptr().cast())
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(numbers: __m512i, to: &mut [i32; STRIP]) {
    #[expect(unsafe_code, reason = "a vector store through a reference of its size")]
    // SAFETY: the reference is valid for 16 numbers of 32 bits, and the store needs no alignment.
    unsafe {
        _mm512_storeu_si512(to.as_mut_ptr().cast(), numbers);
    }
}
