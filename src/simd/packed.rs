//! Numbers packed with as many bits as the widest of them needs, lowest bit first: running sums of
//! them, and the frequencies and widths of a record.
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
pub(super) fn word_at(bytes: &[u8], at: usize) -> u64 {
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

/// The postings of a record, unpacked: frequencies, and the widths of their positions.
#[derive(Clone, Debug)]
pub(crate) struct Unpacked {
    /// As far as they are of 14 bits.
    frequencies: [u16; RECORD],
    widths: [u16; RECORD],
    /// All frequencies where some are greater.
    great: [u32; RECORD],
    are_great: bool,
}

impl Default for Unpacked {
    fn default() -> Self {
        let (frequencies, great) = ([0; RECORD], [0; RECORD]);
        Unpacked { frequencies, widths: frequencies, great, are_great: false }
    }
}

impl Unpacked {
    /// Unpacks a record. Byte i of `widths` has the width less one of posting i in its lower and of posting
    /// 16 + i in its upper half; `packed` begins with the frequencies, less one, of `width` bits each, at
    /// most 32.
    #[inline]
    pub(crate) fn unpack(&mut self, widths: &[u8; RECORD / 2], packed: &[u8], width: u32) {
        let (low, high) = self.widths.split_at_mut(RECORD / 2);
        for ((low, high), both) in low.iter_mut().zip(high).zip(widths) {
            (*low, *high) = (u16::from(both & 15) + 1, u16::from(both >> 4) + 1);
        }
        self.are_great = width > SPREAD_WIDTH_MAX;
        if self.are_great {
            for (nth, frequency) in self.great.iter_mut().enumerate() {
                *frequency = bits_at(packed, nth * width as usize, width).saturating_add(1);
            }
        } else {
            plus_one(packed, width, &mut self.frequencies);
        }
    }

    /// How often the term is in the document of posting `nth`.
    #[inline]
    pub(crate) fn frequency(&self, nth: usize) -> u32 {
        match self.are_great {
            false => self.frequencies[nth].into(),
            true => self.great[nth],
        }
    }

    /// How many bits each of its positions has.
    #[inline]
    pub(crate) fn width(&self, nth: usize) -> u32 {
        self.widths[nth].into()
    }

    /// The bits of the positions of all postings before `nth`: the sum of frequencies times widths.
    #[inline]
    pub(crate) fn bits_before(&self, nth: usize) -> u64 {
        if self.are_great {
            let bits = self.great.iter().zip(&self.widths);
            return bits.take(nth).map(|(n, width)| u64::from(*n) * u64::from(*width)).sum();
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
            // SAFETY: the feature was found in the line above.
            return unsafe { vector::products_before(&self.frequencies, &self.widths, nth) };
        }
        products_before(&self.frequencies, &self.widths, nth)
    }
}

/// The sum of the first `nth` products.
fn products_before(a: &[u16; RECORD], b: &[u16; RECORD], nth: usize) -> u64 {
    let mut sum = 0;
    for at in 0..RECORD.min(nth) {
        sum += u64::from(a[at]) * u64::from(b[at]);
    }
    sum
}

/// Makes `numbers` those of `width` bits, at most 14, that `packed` begins with, each and one.
#[inline]
fn plus_one(packed: &[u8], width: u32, numbers: &mut [u16; RECORD]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi2") {
        #[expect(unsafe_code, reason = "calls a function that needs AVX2 and BMI2")]
        // SAFETY: the features were found in the line above.
        return unsafe { vector::plus_one(packed, width, numbers) };
    }
    plus_one_portable(packed, width, numbers);
}

fn plus_one_portable(packed: &[u8], width: u32, numbers: &mut [u16; RECORD]) {
    for (nth, number) in numbers.iter_mut().enumerate() {
        *number = bits_at(packed, nth * width as usize, width) as u16 + 1;
    }
}

#[cfg(target_arch = "x86_64")]
mod vector {
    use super::{RECORD, STEP, word_at};
    use std::arch::x86_64::*;

    /// As [`super::products_before`], of numbers below 2¹⁵: all products, those behind of numbers that are set to 0.
    #[target_feature(enable = "avx2")]
    pub(super) fn products_before(a: &[u16; RECORD], b: &[u16; RECORD], nth: usize) -> u64 {
        let nth = _mm256_set1_epi16(nth.min(RECORD) as i16);
        let places = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let mut sums = _mm256_setzero_si256();
        let halves = a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0);
        for (half, (a, b)) in [0, 16].into_iter().zip(halves) {
            #[expect(unsafe_code, reason = "loads through references")]
            // SAFETY: each reference is to 32 bytes.
            let (a, b) = unsafe {
                (
                    _mm256_loadu_si256(a.as_ptr().cast::<__m256i>()),
                    _mm256_loadu_si256(b.as_ptr().cast::<__m256i>()),
                )
            };
            let places = _mm256_add_epi16(places, _mm256_set1_epi16(half));
            let before = _mm256_and_si256(b, _mm256_cmpgt_epi16(nth, places));
            sums = _mm256_add_epi32(sums, _mm256_madd_epi16(a, before));
        }
        let four = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
        let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
        let one = _mm_add_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two));
        u64::from(_mm_cvtsi128_si32(one).cast_unsigned())
    }

    #[target_feature(enable = "avx2,bmi2")]
    pub(super) fn running_sums(
        bytes: &[u8],
        bit: usize,
        width: u32,
        n: usize,
        limit: u32,
        out: &mut Vec<u32>,
    ) -> bool {
        out.resize(n.next_multiple_of(STEP), 0);
        let lanes = ((1u64 << width) - 1) * 0x0001_0001_0001_0001;
        let of_half = width as usize * STEP / 2;
        let (mut sum, mut bit) = (0u64, bit);
        let end = bit + n * width as usize;
        let mut n_done = 0;
        for to in out.as_chunks_mut::<STEP>().0 {
            let (low, high) = if bit + 2 * of_half <= end {
                (bits_from(bytes, bit), bits_from(bytes, bit + of_half))
            } else {
                (bits_between(bytes, bit, end), bits_between(bytes, bit + of_half, end))
            };
            let (low, high) = (sums_of_four(low, lanes), sums_of_four(high, lanes));
            let middle = sum + (low >> 48);
            store(widened(low, sum), widened(high, middle), to);
            sum = middle + (high >> 48);
            bit += 2 * of_half;
            n_done += STEP;
            if sum > u64::from(limit) {
                break;
            }
        }
        out.truncate(n.min(n_done));
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

    /// 57 bits or more from `bit` on.
    #[inline]
    #[target_feature(enable = "avx2,bmi2")]
    fn bits_from(bytes: &[u8], bit: usize) -> u64 {
        word_at(bytes, bit / 8) >> (bit % 8)
    }

    /// The same, and zeros from `end` on.
    #[inline]
    #[target_feature(enable = "avx2,bmi2")]
    fn bits_between(bytes: &[u8], bit: usize, end: usize) -> u64 {
        let n = end.saturating_sub(bit).min(64);
        _bzhi_u64(bits_from(bytes, bit), n as u32)
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
    pub(super) fn plus_one(packed: &[u8], width: u32, numbers: &mut [u16; RECORD]) {
        let lanes = ((1u64 << width) - 1) * 0x0001_0001_0001_0001;
        let step = 4 * width as usize;
        let mut bit = 0;
        for to in numbers.as_chunks_mut::<16>().0 {
            // Stored as a whole: it is read as a whole soon.
            let sixteen = _mm256_set_epi64x(
                _pdep_u64(bits_from(packed, bit + 3 * step), lanes).cast_signed(),
                _pdep_u64(bits_from(packed, bit + 2 * step), lanes).cast_signed(),
                _pdep_u64(bits_from(packed, bit + step), lanes).cast_signed(),
                _pdep_u64(bits_from(packed, bit), lanes).cast_signed(),
            );
            store_lanes(_mm256_add_epi16(sixteen, _mm256_set1_epi16(1)), to);
            bit += 4 * step;
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn store_lanes(lanes: __m256i, to: &mut [u16; 16]) {
        #[expect(unsafe_code, reason = "an unaligned vector store")]
        // SAFETY: the reference is to exactly the 32 bytes that are written.
        unsafe {
            _mm256_storeu_si256(to.as_mut_ptr().cast(), lanes);
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
    use crate::test_sizes::unless_miri;
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

    fn config() -> ProptestConfig {
        let config = ProptestConfig::default();
        ProptestConfig { cases: unless_miri(config.cases, 4), ..config }
    }

    proptest! {
        #![proptest_config(config())]

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
            let mut unpacked = Unpacked::default();
            unpacked.unpack(&widths, &bytes, width);
            let mut expected = 0;
            for n in 0..32 {
                prop_assert_eq!(unpacked.bits_before(n), expected);
                let of_posting = u32::from(widths[n % 16] >> (n / 16 * 4) & 15) + 1;
                prop_assert_eq!(unpacked.width(n), of_posting);
                prop_assert_eq!(unpacked.frequency(n), less_one[n].saturating_add(1));
                expected += u64::from(less_one[n].saturating_add(1)) * u64::from(of_posting);
            }
            if width <= SPREAD_WIDTH_MAX {
                let (mut numbers, mut portable) = ([7; RECORD], [8; RECORD]);
                plus_one(&bytes, width, &mut numbers);
                plus_one_portable(&bytes, width, &mut portable);
                prop_assert_eq!(numbers, portable);
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
        let mut unpacked = Unpacked::default();
        unpacked.unpack(&[0; 16], &[], 8);
        assert_eq!(unpacked.bits_before(31), 31);
        assert_eq!(bits_at(&[], 9, 32), 0);
    }
}
