//! Twins of [`places`](crate::simd::places) in AVX-512. A vector has 32 numbers, of which those in the range are
//! loaded.

use super::load_numbers;
use crate::simd::places::Le16;
use std::arch::x86_64::*;

/// Numbers that are compared at once.
const STEP: usize = 32;
/// Numbers that become bits of a word at once.
const LANES: usize = 8;

/// Works like [`n_below`](crate::simd::places::n_below), in all numbers of a slice.
#[target_feature(enable = "avx512f,avx512bw,bmi2,popcnt")]
pub(in crate::simd) fn n_below(numbers: &[Le16], low: u16) -> usize {
    let low = _mm512_set1_epi16(low.cast_signed());
    let mut n = 0;
    for numbers in numbers.chunks(STEP) {
        let (numbers, there) = load_numbers(numbers);
        n += _mm512_mask_cmplt_epu16_mask(there, numbers, low).count_ones() as usize;
    }
    n
}

/// Works like [`block`](crate::simd::places::block), in all numbers of a slice.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn block(numbers: &[Le16], nth: u16) -> (u64, usize) {
    let low = _mm512_set1_epi16((nth << 6).cast_signed());
    let (mut word, mut before) = (_mm512_setzero_si512(), 0);
    for numbers in numbers.chunks(STEP) {
        let (numbers, there) = load_numbers(numbers);
        before += _mm512_mask_cmplt_epu16_mask(there, numbers, low).count_ones() as usize;
        // Numbers below wrap around to great ones.
        let bits = _mm512_sub_epi16(numbers, low);
        let of_block = _mm512_mask_cmplt_epu16_mask(there, bits, _mm512_set1_epi16(64));
        let bits = _mm512_maskz_compress_epi16(of_block, bits);
        word = _mm512_or_si512(word, words_of(bits, of_block.count_ones()));
    }
    (_mm512_reduce_or_epi64(word).cast_unsigned(), before)
}

/// The first `n` of these numbers below 64 as bits of words that are parts of one.
#[inline]
#[target_feature(enable = "avx512f,bmi2")]
fn words_of(mut numbers: __m512i, n: u32) -> __m512i {
    let (mut words, mut left) = (_mm512_setzero_si512(), n);
    loop {
        let there = _bzhi_u32(u32::MAX, left) as u8;
        let bits = _mm512_cvtepu16_epi64(_mm512_castsi512_si128(numbers));
        let bits = _mm512_maskz_sllv_epi64(there, _mm512_set1_epi64(1), bits);
        words = _mm512_or_si512(words, bits);
        if left <= LANES as u32 {
            return words;
        }
        left -= LANES as u32;
        numbers = _mm512_alignr_epi64::<2>(_mm512_setzero_si512(), numbers);
    }
}
