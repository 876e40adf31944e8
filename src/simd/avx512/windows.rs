//! Twins of [`windows`](crate::simd::windows): the places of a word are brought together as bytes.

use super::{PLACES, load_bytes};
use crate::simd::windows::DOCS;
use std::arch::x86_64::*;

/// Places of a word.
const PLACES_OF_WORD: usize = 64;

/// Works like [`places`](crate::simd::windows::places), behind what there is.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn places(words: &[[u8; 8]; DOCS / 64], to: &mut Vec<[u8; 2]>) {
    let mut first = 0u16;
    for word in words {
        let word = u64::from_le_bytes(*word);
        to.reserve(PLACES_OF_WORD);
        let found = _mm512_maskz_compress_epi8(word, load_bytes(&PLACES));
        let base = _mm512_set1_epi16(first.cast_signed());
        let low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(found));
        let high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64::<1>(found));
        let len = to.len() + word.count_ones() as usize;
        #[expect(unsafe_code, reason = "writes to an address, and says how many numbers are there")]
        // SAFETY: there is room for 64 numbers, all of which are written behind what there was.
        unsafe {
            let at: *mut __m512i = to.spare_capacity_mut().as_mut_ptr().cast();
            _mm512_storeu_si512(at, _mm512_add_epi16(low, base));
            _mm512_storeu_si512(at.add(1), _mm512_add_epi16(high, base));
            to.set_len(len);
        }
        first = first.wrapping_add(PLACES_OF_WORD as u16);
    }
}
