//! Twins of [`numbers`](crate::simd::numbers): sixteen numbers are cut out of their bytes at once.

use super::{LANES, load_bytes, store_places};
use crate::simd::numbers::{PlaceBuffer, WORDS, are_among_portable};
use std::arch::x86_64::*;

/// Works like [`places`](fn@crate::simd::numbers::places).
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn places(words: &[[u8; 8]], base: u32, places: &mut PlaceBuffer) -> usize {
    let mut n = 0;
    for (word, base) in words.iter().take(WORDS).zip((base..).step_by(u64::BITS as usize)) {
        let bits = u64::from_le_bytes(*word);
        let room: &mut [u32] = &mut places[n..n + u64::BITS as usize];
        #[expect(unsafe_code, reason = "writes to an address")]
        // SAFETY: there is room for 64 numbers.
        unsafe {
            store_places(bits, base, room.as_mut_ptr());
        }
        n += bits.count_ones() as usize;
    }
    n
}

/// Works like [`unpack_neighbours`](crate::simd::numbers::unpack_neighbours). Sixteen numbers begin and end with a byte and take 62 at most,
/// so that where each lies in the bytes of its sixteen follows from the width alone.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2")]
pub(in crate::simd) fn unpack_neighbours(bytes: &[u8], width: u32, first: u32, out: &mut [u32]) {
    let nth = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let bits = _mm512_madd_epi16(nth, _mm512_set1_epi32(width.cast_signed()));
    // The four bytes from that on with the first bit, and the four behind these.
    let of_each = _mm512_srli_epi32::<3>(bits);
    let twice = _mm512_or_si512(of_each, _mm512_slli_epi32::<8>(of_each));
    let four = _mm512_or_si512(twice, _mm512_slli_epi32::<16>(twice));
    let low = _mm512_add_epi8(four, _mm512_set1_epi32(0x0302_0100));
    let high = _mm512_add_epi8(low, _mm512_set1_epi32(0x0404_0404));
    let shifts = _mm512_and_si512(bits, _mm512_set1_epi32(7));
    let mask = _mm512_set1_epi32(_bzhi_u32(u32::MAX, width).cast_signed());
    let mut at = first as usize / 8 * width as usize;
    for out in out.chunks_mut(LANES) {
        let packed = load_bytes(bytes.get(at..).unwrap_or_default());
        let words = _mm512_permutexvar_epi8(low, packed);
        let behind = _mm512_permutexvar_epi8(high, packed);
        let numbers = _mm512_and_si512(_mm512_shrdv_epi32(words, behind, shifts), mask);
        let there = _bzhi_u32(u32::MAX, out.len() as u32) as u16;
        #[expect(unsafe_code, reason = "a vector store of what there is room for")]
        // SAFETY: numbers of which the mask has no bit are not written, and it has as many as there is room for.
        unsafe {
            _mm512_mask_storeu_epi32(out.as_mut_ptr().cast(), there, numbers);
        }
        at += 2 * width as usize;
    }
}

/// Works like [`are_among`](crate::simd::numbers::are_among).
#[target_feature(enable = "avx512f")]
pub(in crate::simd) fn are_among(numbers: &[u32], first: u32, n: u32, bits: &mut [u8]) {
    let (from, len) = (_mm512_set1_epi32(first.cast_signed()), _mm512_set1_epi32(n.cast_signed()));
    let n_whole = (numbers.len() / LANES).min(bits.len() / 2);
    let (whole, rest) = numbers.split_at(n_whole * LANES);
    let (of_whole, of_rest) = bits.split_at_mut(n_whole * 2);
    for (numbers, bits) in whole.as_chunks().0.iter().zip(of_whole.as_chunks_mut().0) {
        let above = _mm512_sub_epi32(load(numbers), from);
        *bits = _mm512_cmplt_epu32_mask(above, len).to_le_bytes();
    }
    are_among_portable(rest, first, n, of_rest);
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(numbers: &[u32; LANES]) -> __m512i {
    #[expect(unsafe_code, reason = "an unaligned vector load")]
    // SAFETY: the reference is to exactly the 64 bytes that are read.
    unsafe {
        _mm512_loadu_si512(numbers.as_ptr().cast())
    }
}
