//! Twins for AVX-512, in files of the same names as their kernels.

pub(super) mod arrays;
pub(super) mod codes;
pub(super) mod numbers;
pub(super) mod packed;
pub(super) mod places;
pub(super) mod scores;
pub(super) mod sums;
pub(super) mod windows;

use std::arch::x86_64::*;

/// Bytes of a vector.
const BYTES: usize = size_of::<__m512i>();
/// Numbers of 32 bits of a vector.
const LANES: usize = BYTES / size_of::<u32>();

/// The first 64 bytes; zeros if there are not as many.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn load_bytes(bytes: &[u8]) -> __m512i {
    let there = _bzhi_u64(u64::MAX, bytes.len().min(BYTES) as u32);
    #[expect(unsafe_code, reason = "a vector load of what is there")]
    // SAFETY: bytes of which the mask has no bit are not read, and it has as many as the slice has bytes.
    unsafe {
        _mm512_maskz_loadu_epi8(there, bytes.as_ptr().cast())
    }
}

/// The first 32 numbers, and which are there; zeros if there are not as many.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn load_numbers(numbers: &[[u8; 2]]) -> (__m512i, u32) {
    let there = _bzhi_u32(u32::MAX, numbers.len().min(BYTES / 2) as u32);
    #[expect(unsafe_code, reason = "a vector load of what is there")]
    // SAFETY: numbers of which the mask has no bit are not read, and it has as many as the slice has numbers.
    let loaded = unsafe { _mm512_maskz_loadu_epi16(there, numbers.as_ptr().cast()) };
    (loaded, there)
}

/// 0 to 63.
const PLACES: [u8; BYTES] = {
    let (mut places, mut nth) = ([0; BYTES], 0);
    while nth < BYTES {
        places[nth] = nth as u8;
        nth += 1;
    }
    places
};

/// Writes the places of the bits, counted from `base` on: one instruction brings them together. Sixteen are written without
/// asking whether there are as many, which words of one bit in ten hardly ever pass.
///
/// # Safety
///
/// There is room for 64 numbers at `to`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt,bmi2")]
#[expect(
    unsafe_code,
    reason = "writes to an address, for room that is initialised and room that is not"
)]
unsafe fn store_places(bits: u64, base: u32, to: *mut u32) {
    let (n, base) = (bits.count_ones() as usize, _mm512_set1_epi32(base.cast_signed()));
    let found = _mm512_maskz_compress_epi8(bits, load_bytes(&PLACES));
    let first = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(found));
    // SAFETY: four times sixteen numbers are written, or less; the caller promises room for 64.
    unsafe {
        _mm512_storeu_si512(to.cast(), _mm512_add_epi32(first, base));
        if n > LANES {
            let second = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<1>(found));
            _mm512_storeu_si512(to.add(LANES).cast(), _mm512_add_epi32(second, base));
        }
        if n > 2 * LANES {
            let third = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<2>(found));
            let fourth = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<3>(found));
            _mm512_storeu_si512(to.add(2 * LANES).cast(), _mm512_add_epi32(third, base));
            _mm512_storeu_si512(to.add(3 * LANES).cast(), _mm512_add_epi32(fourth, base));
        }
    }
}
