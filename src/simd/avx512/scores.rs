//! Twins of [`scores`](crate::simd::scores) in AVX-512. A block of 64 documents is a vector of bytes, or four of
//! scores.

use super::load_bytes;
use crate::simd::scores::{BLOCK, Packed};
use std::arch::x86_64::*;

/// Scores in a vector.
const LANES: usize = 16;
/// 0 to 7 as the bytes of a word.
const ASCENDING: u64 = 0x0706_0504_0302_0100;

/// Works like [`gather`](crate::simd::scores::gather) for numbers of at most 8 bits: those that are wanted are moved together and then
/// to where the documents are that have one.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(in crate::simd) fn gather(
    listed: u64,
    wanted: u64,
    nth: u32,
    groups: [Packed<'_>; 2],
    frequencies: &mut [f32; BLOCK],
) {
    let common = listed & wanted;
    // Postings that are wanted, by their numbers in both groups.
    let postings = u128::from(_pext_u64(common, listed)) << (nth as usize % BLOCK);
    let (in_first, in_second) = (postings as u64, (postings >> BLOCK) as u64);
    let mut bytes = _mm512_maskz_compress_epi8(in_first, unpack(groups[0]));
    if in_second != 0 {
        // Not all 64 are in the first, then.
        let behind = u64::MAX << (in_first.count_ones() % BLOCK as u32);
        let more = _mm512_maskz_compress_epi8(in_second, unpack(groups[1]));
        bytes = _mm512_mask_expand_epi8(bytes, behind, more);
    }
    let documents = _pext_u64(common, wanted);
    let bytes = _mm512_maskz_expand_epi8(documents, bytes);
    let quarters = [
        _mm512_castsi512_si128(bytes),
        _mm512_extracti32x4_epi32::<1>(bytes),
        _mm512_extracti32x4_epi32::<2>(bytes),
        _mm512_extracti32x4_epi32::<3>(bytes),
    ];
    let n_wanted = wanted.count_ones() as usize;
    let to = frequencies.as_chunks_mut::<LANES>().0.iter_mut().take(n_wanted.div_ceil(LANES));
    for ((quarter, to), nth) in quarters.into_iter().zip(to).zip(0..) {
        let less_one = _mm512_cvtepu8_epi32(quarter);
        let there = (documents >> (nth * LANES)) as u16;
        let numbers = _mm512_maskz_add_epi32(there, less_one, _mm512_set1_epi32(1));
        store(_mm512_cvtepi32_ps(numbers), to);
    }
}

/// 64 numbers of at most 8 bits as bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi2")]
fn unpack((packed, widths): Packed<'_>) -> __m512i {
    /// The second eight of each sixteen.
    const SECONDS: u64 = 0xFF00_FF00_FF00_FF00;
    let ascending = _mm512_set1_epi64(ASCENDING.cast_signed());
    // Byte n for sixteen n, which is a quarter of the vector.
    let of_sixteen = _mm512_set_epi64(
        0x0303_0303_0303_0303,
        0x0303_0303_0303_0303,
        0x0202_0202_0202_0202,
        0x0202_0202_0202_0202,
        0x0101_0101_0101_0101,
        0x0101_0101_0101_0101,
        0,
        0,
    );
    // Eight numbers take as many bytes as each has bits.
    let starts = _mm512_set1_epi32((widths.before() as u32).wrapping_mul(2).cast_signed());
    let starts = _mm512_shuffle_epi8(starts, of_sixteen);
    let widths = _mm512_set1_epi32(widths.bytes().cast_signed());
    let widths = _mm512_shuffle_epi8(widths, of_sixteen);
    let starts = _mm512_mask_add_epi8(starts, SECONDS, starts, widths);
    let words = _mm512_permutexvar_epi8(_mm512_add_epi8(starts, ascending), load_bytes(packed));
    // The bits of the eight begin with bits 0, width, 2 × width... of their bytes: products of two bytes at once, which pass none.
    let low_bytes = _mm512_and_si512(widths, _mm512_set1_epi16(0xFF));
    let multiples = _mm512_mullo_epi16(ascending, low_bytes);
    let numbers = _mm512_multishift_epi64_epi8(multiples, words);
    let masks =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 3, 7, 15, 31, 63, 127, -1, 0, 0, 0, 0, 0, 0, 0));
    _mm512_and_si512(numbers, _mm512_shuffle_epi8(masks, widths))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(scores: __m512, to: &mut [f32; LANES]) {
    #[expect(unsafe_code, reason = "an unaligned vector store")]
    // SAFETY: the reference is to exactly the 64 bytes that are written.
    unsafe {
        _mm512_storeu_ps(to.as_mut_ptr(), scores);
    }
}
