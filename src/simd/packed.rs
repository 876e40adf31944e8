//! Numbers packed with as many bits as the widest of them needs, lowest bit first: running sums of
//! them, and the bits that postings of a record take.
//!
//! The vector forms spread packed numbers over bytes or halves of words with one instruction
//! (PDEP), which is slow on processors of AMD before Zen 3 and as right there.

/// The widest numbers whose sums of four stay within 16 bits each.
pub(crate) const SPREAD_WIDTH_MAX: u32 = 14;

/// Postings of a record.
pub(crate) const RECORD: usize = 32;

/// Numbers that are unpacked at once: as many as most postings have.
pub(crate) const STEP: usize = 8;

/// The number of `width` bits, at most 32, that begins with `bit`; what lies past the end reads as zeros.
#[inline]
pub(crate) fn bits_at(bytes: &[u8], bit: usize, width: u32) -> u32 {
    (word_at(bytes, bit / 8) >> (bit % 8) & ((1 << width) - 1)) as u32
}

/// Eight bytes from `at` on; zeros past the end.
#[inline(always)]
fn word_at(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => last_word(rest),
    }
}

#[cold]
fn last_word(rest: &[u8]) -> u64 {
    let mut word = [0; 8];
    for (to, byte) in word.iter_mut().zip(rest) {
        *to = *byte;
    }
    u64::from_le_bytes(word)
}

/// Replaces `out` by the running sums of `n` numbers of `width` bits, 1 to 32, that begin with `bit` of
/// `bytes`; false where one passes 32 bits. In steps of eight, and none after a step that passes `limit`.
#[inline]
pub(crate) fn running_sums(
    bytes: &[u8],
    bit: usize,
    width: u32,
    n: usize,
    limit: u32,
    out: &mut Vec<u32>,
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if width <= SPREAD_WIDTH_MAX
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi2")
    {
        #[expect(unsafe_code, reason = "calls a function that needs AVX2 and BMI2")]
        // SAFETY: the features were found in the lines above.
        return unsafe { vector::running_sums(bytes, bit, width, n, limit, out) };
    }
    running_sums_portable(bytes, bit, width, n, limit, out)
}

fn running_sums_portable(
    bytes: &[u8],
    bit: usize,
    width: u32,
    n: usize,
    limit: u32,
    out: &mut Vec<u32>,
) -> bool {
    out.clear();
    let (mut sum, mut bit) = (0u64, bit);
    for start in (0..n).step_by(STEP) {
        for _ in start..n.min(start + STEP) {
            sum += u64::from(bits_at(bytes, bit, width));
            out.push(sum as u32);
            bit += width as usize;
        }
        if sum > u64::from(limit) {
            break;
        }
    }
    sum <= u64::from(u32::MAX)
}

/// Makes `sums` the running sums of up to eight numbers of `width` bits, 1 to 14, that begin with `bit` of
/// `bytes`; behind the `n`th, the last sum again.
#[inline]
pub(crate) fn eight_sums(bytes: &[u8], bit: usize, width: u32, n: usize, sums: &mut [u32; STEP]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
        #[expect(unsafe_code, reason = "calls a function that needs AVX2 and BMI2")]
        // SAFETY: the features were found in the line above.
        return unsafe { vector::eight_sums(bytes, bit, width, n, sums) };
    }
    eight_sums_portable(bytes, bit, width, n, sums);
}

fn eight_sums_portable(bytes: &[u8], bit: usize, width: u32, n: usize, sums: &mut [u32; STEP]) {
    let mut sum = 0;
    for (nth, to) in sums.iter_mut().enumerate() {
        sum += match nth < n {
            true => bits_at(bytes, bit + nth * width as usize, width),
            false => 0,
        };
        *to = sum;
    }
}

/// How many numbers the first `n` postings of a record, below 32, have in their widths' bits: the sum of
/// frequency times width. Byte i of `widths` has the width less one of posting i in its lower and of posting
/// 16 + i in its upper half; `frequencies` begins with those of the record, less one, of `width` bits each, at
/// most 32.
#[inline]
pub(crate) fn bits_before(
    widths: &[u8; RECORD / 2],
    frequencies: &[u8],
    width: u32,
    n: u32,
) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if width <= u8::BITS && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
        #[expect(unsafe_code, reason = "calls a function that needs AVX2 and BMI2")]
        // SAFETY: the features were found in the line above.
        return unsafe { vector::bits_before(widths, frequencies, width, n) }.into();
    }
    bits_before_portable(widths, frequencies, width, n)
}

fn bits_before_portable(widths: &[u8; RECORD / 2], frequencies: &[u8], width: u32, n: u32) -> u64 {
    let bits = |nth: u32| {
        let of_posting = width_of(widths, nth);
        let less_one = bits_at(frequencies, (nth * width) as usize, width);
        (u64::from(less_one) + 1) * u64::from(of_posting)
    };
    (0..n).map(bits).sum()
}

/// The width of posting `nth`, below 32, of a record.
#[inline]
pub(crate) fn width_of(widths: &[u8; RECORD / 2], nth: u32) -> u32 {
    let nth = nth as usize % RECORD;
    u32::from(widths[nth % 16] >> (nth / 16 * 4) & 15) + 1
}

#[cfg(target_arch = "x86_64")]
mod vector {
    use super::{RECORD, STEP, word_at};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2,bmi2")]
    pub(super) fn running_sums(
        bytes: &[u8],
        bit: usize,
        width: u32,
        n: usize,
        limit: u32,
        out: &mut Vec<u32>,
    ) -> bool {
        out.clear();
        out.reserve(n + STEP);
        let lanes = ((1u64 << width) - 1) * 0x0001_0001_0001_0001;
        let of_half = width as usize * STEP / 2;
        let (mut sum, mut bit) = (0u64, bit);
        let end = bit + n * width as usize;
        while bit < end {
            let low = sums_of_four(bits_between(bytes, bit, end), lanes);
            let high = sums_of_four(bits_between(bytes, bit + of_half, end), lanes);
            let middle = sum + (low >> 48);
            let mut eight = [0; STEP];
            store(widened(low, sum), widened(high, middle), &mut eight);
            out.extend_from_slice(&eight);
            sum = middle + (high >> 48);
            bit += 2 * of_half;
            if sum > u64::from(limit) {
                break;
            }
        }
        out.truncate(n);
        sum <= u64::from(u32::MAX)
    }

    #[target_feature(enable = "avx2,bmi2")]
    pub(super) fn eight_sums(
        bytes: &[u8],
        bit: usize,
        width: u32,
        n: usize,
        sums: &mut [u32; STEP],
    ) {
        let lanes = ((1u64 << width) - 1) * 0x0001_0001_0001_0001;
        let of_half = width as usize * STEP / 2;
        let end = bit + n * width as usize;
        let low = sums_of_four(bits_between(bytes, bit, end), lanes);
        let high = sums_of_four(bits_between(bytes, bit + of_half, end), lanes);
        store(widened(low, 0), widened(high, low >> 48), sums);
    }

    /// 57 bits or more from `bit` on; zeros from `end` on.
    #[inline]
    #[target_feature(enable = "avx2,bmi2")]
    fn bits_between(bytes: &[u8], bit: usize, end: usize) -> u64 {
        let n = end.saturating_sub(bit).min(64);
        _bzhi_u64(word_at(bytes, bit / 8) >> (bit % 8), n as u32)
    }

    /// Running sums of the four numbers that a mask for lanes of 16 bits spreads: of at most 14 bits each, so
    /// that no lane overflows into the next.
    #[inline]
    #[target_feature(enable = "avx2,bmi2")]
    fn sums_of_four(packed: u64, lanes: u64) -> u64 {
        let numbers = _pdep_u64(packed, lanes);
        let pairs = numbers.wrapping_add(numbers << 16);
        pairs.wrapping_add(pairs << 32)
    }

    /// Lanes of 16 bits as lanes of 32, each with `more` added.
    #[inline]
    #[target_feature(enable = "avx2,bmi2")]
    fn widened(lanes: u64, more: u64) -> __m128i {
        let lanes = _mm_cvtepu16_epi32(_mm_cvtsi64_si128(lanes.cast_signed()));
        _mm_add_epi32(lanes, _mm_set1_epi32((more as u32).cast_signed()))
    }

    #[target_feature(enable = "avx2,bmi2")]
    pub(super) fn bits_before(
        widths: &[u8; RECORD / 2],
        frequencies: &[u8],
        width: u32,
        n: u32,
    ) -> u32 {
        let lanes = ((1u64 << width) - 1) * 0x0101_0101_0101_0101;
        // Eight frequencies take as many bytes as each has bits.
        let step = width as usize;
        let less_one = _mm256_set_epi64x(
            _pdep_u64(word_at(frequencies, 3 * step), lanes) as i64,
            _pdep_u64(word_at(frequencies, 2 * step), lanes) as i64,
            _pdep_u64(word_at(frequencies, step), lanes) as i64,
            _pdep_u64(word_at(frequencies, 0), lanes) as i64,
        );
        let both = load(widths);
        let half = _mm_set1_epi8(15);
        let upper = _mm_and_si128(_mm_srli_epi16::<4>(both), half);
        let widths = _mm256_set_m128i(upper, _mm_and_si128(both, half));
        let ones = _mm256_set1_epi8(1);
        let is_before = _mm256_cmpgt_epi8(_mm256_set1_epi8(n as i8), numbers());
        let widths = _mm256_and_si256(_mm256_add_epi8(widths, ones), is_before);
        // Pairs of products of at most 255 and 16, and of 1 and 16.
        let bits = _mm256_add_epi16(
            _mm256_maddubs_epi16(less_one, widths),
            _mm256_maddubs_epi16(ones, widths),
        );
        let bits = _mm256_madd_epi16(bits, _mm256_set1_epi16(1));
        let bits = _mm_add_epi32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256::<1>(bits));
        let bits = _mm_add_epi32(bits, _mm_shuffle_epi32::<0b01_00_11_10>(bits));
        let bits = _mm_cvtsi128_si64(bits).cast_unsigned();
        bits as u32 + (bits >> 32) as u32
    }

    /// 0 to 31.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn numbers() -> __m256i {
        _mm256_setr_epi8(
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
            24, 25, 26, 27, 28, 29, 30, 31,
        )
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(bytes: &[u8; 16]) -> __m128i {
        #[expect(unsafe_code, reason = "an unaligned vector load")]
        // SAFETY: the reference is to exactly the 16 bytes that are read.
        unsafe {
            _mm_loadu_si128(bytes.as_ptr().cast())
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn store(low: __m128i, high: __m128i, to: &mut [u32; STEP]) {
        #[expect(unsafe_code, reason = "an unaligned vector store")]
        // SAFETY: the reference is to exactly the 32 bytes that are written.
        unsafe {
            _mm256_storeu_si256(to.as_mut_ptr().cast(), _mm256_set_m128i(high, low));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers of `width` bits one after the other, from `bit` on.
    fn pack(numbers: &[u32], bit: usize, width: u32) -> Vec<u8> {
        let mut bytes = vec![0; (bit + numbers.len() * width as usize).div_ceil(8)];
        for (nth, number) in numbers.iter().enumerate() {
            for of_number in 0..width as usize {
                let at = bit + nth * width as usize + of_number;
                bytes[at / 8] |= ((number >> of_number & 1) as u8) << (at % 8);
            }
        }
        bytes
    }

    proptest! {
        #[test]
        fn sums_run_over_numbers_of_every_width(
            numbers in prop::collection::vec(any::<u32>(), 0..70),
            (width, bit) in (1u32..33, 0usize..20),
            limit in prop_oneof![Just(u32::MAX), 0u32..200_000],
            more in prop::collection::vec(any::<u8>(), 0..12),
        ) {
            let numbers: Vec<u32> = numbers.iter().map(|n| n >> (32 - width)).collect();
            let mut bytes = pack(&numbers, bit, width);
            bytes.extend(more);
            let mut expected = vec![];
            let mut sum = 0u64;
            for step in numbers.chunks(STEP) {
                for number in step {
                    sum += u64::from(*number);
                    expected.push(sum as u32);
                }
                if sum > u64::from(limit) {
                    break;
                }
            }
            for kernel in [running_sums, running_sums_portable] {
                let mut sums = vec![7];
                let is_sound = kernel(&bytes, bit, width, numbers.len(), limit, &mut sums);
                prop_assert_eq!(&sums, &expected);
                prop_assert_eq!(is_sound, sum <= u64::from(u32::MAX));
            }
        }

        #[test]
        fn eight_sums_end_in_the_last_one(
            numbers in prop::collection::vec(0u32..1 << 14, 0..=STEP),
            (width, bit) in (1u32..=14, 0usize..20),
            more in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let numbers: Vec<u32> = numbers.iter().map(|n| n >> (14 - width)).collect();
            let mut bytes = pack(&numbers, bit, width);
            bytes.extend(more);
            let expected: [u32; STEP] =
                std::array::from_fn(|nth| numbers.iter().take(nth + 1).sum());
            for kernel in [eight_sums, eight_sums_portable] {
                let mut sums = [7; STEP];
                kernel(&bytes, bit, width, numbers.len(), &mut sums);
                prop_assert_eq!(sums, expected);
            }
        }

        #[test]
        fn bits_of_postings_are_frequencies_times_widths(
            widths in any::<[u8; 16]>(),
            frequencies in prop::collection::vec(any::<u32>(), 32),
            width in 0u32..33,
            more in prop::collection::vec(any::<u8>(), 0..12),
        ) {
            let less_one: Vec<u32> =
                frequencies.iter().map(|n| n.checked_shr(32 - width).unwrap_or(0)).collect();
            let mut bytes = pack(&less_one, 0, width);
            bytes.extend(more);
            let mut expected = 0;
            for n in 0..32 {
                prop_assert_eq!(bits_before(&widths, &bytes, width, n), expected);
                prop_assert_eq!(bits_before_portable(&widths, &bytes, width, n), expected);
                let of_posting = u64::from(widths[n as usize % 16] >> (n / 16 * 4) & 15) + 1;
                expected += (u64::from(less_one[n as usize]) + 1) * of_posting;
            }
        }
    }

    #[test]
    fn what_lies_past_the_end_is_zeros() {
        let mut sums = vec![];
        for kernel in [running_sums, running_sums_portable] {
            assert!(kernel(&[0xFF], 4, 4, 6, u32::MAX, &mut sums));
            assert_eq!(sums, [15; 6]);
            assert!(kernel(&[], 100, 14, 2, u32::MAX, &mut sums));
            assert_eq!(sums, [0; 2]);
        }
        assert_eq!(bits_before(&[0; 16], &[], 8, 31), 31);
        assert_eq!(bits_at(&[], 9, 32), 0);
    }
}
