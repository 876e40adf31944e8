//! Twins of [`packed`](crate::simd::packed) in AVX-512. Sixteen numbers are cut out of their bytes at once, and added
//! up in a vector.

use super::{LANES, load_bytes};
use crate::simd::packed::{FewSums, RECORD, RecordForm, STEP, Unpacked};
use std::arch::x86_64::*;

/// Works like [`n_behind`](FewSums::n_behind): the sums of both lists are halves of a vector.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,popcnt")]
pub(in crate::simd) fn n_behind(second: FewSums<'_>, first: FewSums<'_>, distance: u32) -> u32 {
    let sums = sums_of_two(first, second);
    let distance = _mm512_set1_epi32(distance.cast_signed());
    let wanted = _mm512_add_epi32(sums, distance);
    let sums = _mm512_shuffle_i64x2::<0b11_10_11_10>(sums, sums);
    // Each of the second with each of the first, two of these at once.
    let mut turns = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 0);
    let mut are_there = 0;
    for _ in 0..STEP / 2 {
        are_there |= _mm512_cmpeq_epi32_mask(sums, _mm512_permutexvar_epi32(turns, wanted));
        turns = _mm512_and_si512(
            _mm512_add_epi32(turns, _mm512_set1_epi32(2)),
            _mm512_set1_epi32(STEP as i32 - 1),
        );
    }
    // The last sum is there again behind its place.
    _bzhi_u32(u32::from(are_there | are_there >> STEP), second.n as u32).count_ones()
}

/// The sums of two lists; behind those of each, the last again.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
fn sums_of_two(low: FewSums<'_>, high: FewSums<'_>) -> __m512i {
    let bytes = _mm512_castsi128_si512(sixteen_bytes(low.bytes, low.bit / 8));
    let bytes = _mm512_inserti32x4::<1>(bytes, sixteen_bytes(high.bytes, high.bit / 8));
    let nth = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
    let widths = halves(low.width, high.width);
    // The second list begins behind 128 bits.
    let first = halves(low.bit as u32 % 8, high.bit as u32 % 8 + 128);
    let bits = _mm512_add_epi32(_mm512_madd_epi16(nth, widths), first);
    let there = _bzhi_u32(0xFF, low.n as u32) | _bzhi_u32(0xFF, high.n as u32) << STEP;
    let masks = halves(_bzhi_u32(u32::MAX, low.width), _bzhi_u32(u32::MAX, high.width));
    let sums = sums_in_quarters(cut(bytes, bits, masks, there as u16));
    let totals = _mm512_shuffle_epi32::<0xFF>(sums);
    _mm512_add_epi32(sums, _mm512_maskz_shuffle_i32x4::<0b10_10_00_00>(0xF0F0, totals, totals))
}

/// One number in the lower eight lanes and another in the upper ones.
#[inline]
#[target_feature(enable = "avx512f")]
fn halves(low: u32, high: u32) -> __m512i {
    _mm512_mask_set1_epi32(_mm512_set1_epi32(low.cast_signed()), 0xFF00, high.cast_signed())
}

/// Sixteen bytes from `at` on; zeros past the end.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn sixteen_bytes(bytes: &[u8], at: usize) -> __m128i {
    let bytes = bytes.get(at..).unwrap_or_default();
    let there = _bzhi_u32(0xFFFF, bytes.len().min(16) as u32) as u16;
    #[expect(unsafe_code, reason = "a vector load of what is there")]
    // SAFETY: bytes of which the mask has no bit are not read, and it has as many as the slice has bytes.
    unsafe {
        _mm_maskz_loadu_epi8(there, bytes.as_ptr().cast())
    }
}

/// The numbers that begin with some bits of the bytes, of at most 25 bits each; 0 in the other lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512vbmi")]
fn cut(bytes: __m512i, bits: __m512i, masks: __m512i, there: u16) -> __m512i {
    // The four bytes from that on with the first bit.
    let first = _mm512_shuffle_epi8(_mm512_srli_epi32::<3>(bits), first_bytes());
    let at = _mm512_add_epi8(first, _mm512_set1_epi32(0x0302_0100));
    let words = _mm512_permutexvar_epi8(at, bytes);
    let shifts = _mm512_and_si512(bits, _mm512_set1_epi32(7));
    _mm512_and_si512(_mm512_maskz_srlv_epi32(there, words, shifts), masks)
}

/// The first byte of each four, four times.
#[inline]
#[target_feature(enable = "avx512f")]
fn first_bytes() -> __m512i {
    _mm512_broadcast_i32x4(_mm_setr_epi32(0, 0x0404_0404, 0x0808_0808, 0x0C0C_0C0C))
}

/// Running sums of the four numbers of each quarter.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn sums_in_quarters(numbers: __m512i) -> __m512i {
    let pairs = _mm512_add_epi32(numbers, _mm512_bslli_epi128::<4>(numbers));
    _mm512_add_epi32(pairs, _mm512_bslli_epi128::<8>(pairs))
}

/// Running sums of sixteen numbers.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn sums_of(numbers: __m512i) -> __m512i {
    let sums = sums_in_quarters(numbers);
    let totals = _mm512_shuffle_epi32::<0xFF>(sums);
    let one = _mm512_maskz_shuffle_i32x4::<0b10_01_00_00>(0xFFF0, totals, totals);
    let two = _mm512_maskz_shuffle_i32x4::<0b01_00_00_00>(0xFF00, totals, totals);
    let three = _mm512_maskz_shuffle_i32x4::<0>(0xF000, totals, totals);
    _mm512_add_epi32(_mm512_add_epi32(sums, one), _mm512_add_epi32(two, three))
}

/// Works like [`running_sums`](crate::simd::packed::running_sums), of numbers of at most 14 bits.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(in crate::simd) fn running_sums(
    bytes: &[u8],
    bit: usize,
    width: u32,
    n: usize,
    limit: u32,
    out: &mut Vec<u32>,
) -> bool {
    out.clear();
    out.reserve(n.next_multiple_of(LANES));
    // Sixteen numbers end with a byte, so that the next begin with the same bit of one.
    let bits = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let bits = _mm512_madd_epi16(bits, _mm512_set1_epi32(width.cast_signed()));
    let bits = _mm512_add_epi32(bits, _mm512_set1_epi32((bit % 8) as i32));
    let mask = _mm512_set1_epi32(_bzhi_u32(u32::MAX, width).cast_signed());
    let (mut at, mut sum) = (bit / 8, 0u64);
    let mut n_done = 0;
    while n_done < n {
        let there = _bzhi_u32(u32::MAX, (n - n_done).min(LANES) as u32) as u16;
        let packed = load_bytes(bytes.get(at..).unwrap_or_default());
        let sums = sums_of(cut(packed, bits, mask, there));
        let before = _mm512_set1_epi32((sum as u32).cast_signed());
        #[expect(unsafe_code, reason = "an unaligned vector store")]
        // SAFETY: there is room for as many sixteens as `n` numbers begin.
        unsafe {
            let to = out.spare_capacity_mut().as_mut_ptr().add(n_done);
            _mm512_storeu_si512(to.cast(), _mm512_add_epi32(sums, before));
        }
        let of_eight = _mm256_extract_epi32::<7>(_mm512_castsi512_si256(sums)).cast_unsigned();
        if sum + u64::from(of_eight) > u64::from(limit) {
            sum += u64::from(of_eight);
            n_done += STEP;
            break;
        }
        sum += u64::from(
            _mm256_extract_epi32::<7>(_mm512_extracti64x4_epi64::<1>(sums)).cast_unsigned(),
        );
        n_done += LANES;
        if sum > u64::from(limit) {
            break;
        }
        at += 2 * width as usize;
    }
    #[expect(unsafe_code, reason = "says how many numbers were written")]
    // SAFETY: as many were written, and there is room for them.
    unsafe {
        out.set_len(n.min(n_done));
    }
    sum <= u64::from(u32::MAX)
}

/// Works like [`Unpacked::unpack`], of frequencies of at most 14 bits; nothing is read that was just written.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi2")]
pub(in crate::simd) fn unpack(
    unpacked: &mut Unpacked,
    widths: &[u8; RECORD / 2],
    packed: &[u8],
    form: RecordForm,
) {
    let frequencies = plus_one(packed, form.widths());
    let one = _mm512_set1_epi16(1);
    let shorter = _bzhi_u32(u32::MAX, 32 * u32::from(form.only_is_shorter));
    let shorter = _mm512_mask_cmpeq_epi16_mask(shorter, frequencies, one);
    let widths = unpack_widths(widths);
    let widths = _mm512_mask_sub_epi16(widths, shorter, widths, one);
    store_lanes(widths, &mut unpacked.widths);
    store_lanes(frequencies, &mut unpacked.frequencies);
    let Some((_, sums)) = unpacked.before.split_first_chunk_mut::<1>() else { return };
    let [low, high] = sums.as_chunks_mut::<LANES>().0 else { return };
    let first = products(_mm512_castsi512_si256(frequencies), _mm512_castsi512_si256(widths));
    let second = products(
        _mm512_extracti64x4_epi64::<1>(frequencies),
        _mm512_extracti64x4_epi64::<1>(widths),
    );
    let (first, second) = (sums_of(first), sums_of(second));
    let last = _mm512_permutexvar_epi32(_mm512_set1_epi32(15), first);
    store(first, low);
    store(_mm512_add_epi32(second, last), high);
}

/// The lower halves of some bytes and the upper ones, each and one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn unpack_widths(widths: &[u8; RECORD / 2]) -> __m512i {
    let both = sixteen_bytes(widths, 0);
    let halves = _mm256_set_m128i(_mm_srli_epi16::<4>(both), both);
    let less_one = _mm256_and_si256(halves, _mm256_set1_epi8(15));
    _mm512_add_epi16(_mm512_cvtepu8_epi16(less_one), _mm512_set1_epi16(1))
}

/// The first 32 numbers, each and one: sixteen of one width, at most 14, and sixteen of another.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2")]
fn plus_one(packed: &[u8], [width, other]: [u32; 2]) -> __m512i {
    const OTHERS: u32 = 0xFFFF_0000;
    const NTH: [u16; RECORD] = {
        let (mut numbers, mut nth) = ([0; RECORD], 0);
        while nth < RECORD {
            numbers[nth] = nth as u16 % (RECORD as u16 / 2);
            nth += 1;
        }
        numbers
    };
    let widths = _mm512_mask_set1_epi16(_mm512_set1_epi16(width as i16), OTHERS, other as i16);
    let bits = _mm512_mullo_epi16(load_lanes(&NTH), widths);
    let behind = _mm512_maskz_set1_epi16(OTHERS, (RECORD as u32 / 2 * width) as i16);
    let bits = _mm512_add_epi16(bits, behind);
    let first = _mm512_srli_epi16::<3>(bits);
    // The byte with the first bit and the next, and the two behind these.
    let low = _mm512_or_si512(first, _mm512_slli_epi16::<8>(first));
    let low = _mm512_add_epi8(low, _mm512_set1_epi16(0x0100));
    let high = _mm512_add_epi8(low, _mm512_set1_epi16(0x0202));
    let bytes = load_bytes(packed);
    let (low, high) = (_mm512_permutexvar_epi8(low, bytes), _mm512_permutexvar_epi8(high, bytes));
    let shifts = _mm512_and_si512(bits, _mm512_set1_epi16(7));
    let mask = _bzhi_u32(u32::MAX, width) as i16;
    let mask_of_others = _bzhi_u32(u32::MAX, other) as i16;
    let mask = _mm512_mask_set1_epi16(_mm512_set1_epi16(mask), OTHERS, mask_of_others);
    let less_one = _mm512_and_si512(_mm512_shrdv_epi16(low, high, shifts), mask);
    _mm512_add_epi16(less_one, _mm512_set1_epi16(1))
}

/// Products of numbers that are positive as signed ones.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn products(a: __m256i, b: __m256i) -> __m512i {
    _mm512_madd_epi16(_mm512_cvtepu16_epi32(a), _mm512_cvtepu16_epi32(b))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_lanes(from: &[u16; RECORD]) -> __m512i {
    #[expect(unsafe_code, reason = "an unaligned vector load")]
    // SAFETY: the reference is to exactly the 64 bytes that are read.
    unsafe {
        _mm512_loadu_si512(from.as_ptr().cast())
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_lanes(lanes: __m512i, to: &mut [u16; RECORD]) {
    #[expect(unsafe_code, reason = "an unaligned vector store")]
    // SAFETY: the reference is to exactly the 64 bytes that are written.
    unsafe {
        _mm512_storeu_si512(to.as_mut_ptr().cast(), lanes);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(numbers: __m512i, to: &mut [u32; LANES]) {
    #[expect(unsafe_code, reason = "an unaligned vector store")]
    // SAFETY: the reference is to exactly the 64 bytes that are written.
    unsafe {
        _mm512_storeu_si512(to.as_mut_ptr().cast(), numbers);
    }
}
