//! Numbers packed by the widest one's bits, lowest bit first. There are running sums of them, and the frequencies and
//! widths of a record.
//!
//! The vector forms spread packed numbers over bytes or halves of words with one instruction
//! (PDEP), which is slow on processors of AMD before Zen 3 and as right there.

#[cfg(target_arch = "x86_64")]
use super::avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use super::neon;

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
    if width <= SPREAD_WIDTH_MAX {
        return_by_vectors!(
            avx512 avx512::packed::running_sums,
            avx2 vector::running_sums,
            neon neon::packed::running_sums
            => (bytes, bit, width, n, limit, out)
        );
    }
    running_sums_portable(bytes, bit, width, n, limit, out)
}

pub(super) fn running_sums_portable(
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

/// Up to eight packed numbers whose running sums are positions, each less `base`.
///
/// They have `width` bits each, at most 14, and begin with `bit` of `bytes`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FewSums<'b> {
    pub(crate) bytes: &'b [u8],
    pub(crate) bit: usize,
    pub(crate) width: u32,
    pub(crate) n: usize,
    pub(crate) base: u32,
}

impl FewSums<'_> {
    /// Number of the positions that have one of `first`, which are not none, `distance` before them, modulo 2³².
    #[inline]
    pub(crate) fn n_behind(self, first: FewSums<'_>, distance: u32) -> u32 {
        // Twins compare sums.
        let distance = distance.wrapping_add(first.base).wrapping_sub(self.base);
        return_by_vectors!(
            avx512 avx512::packed::n_behind,
            avx2 vector::n_behind,
            neon neon::packed::n_behind
            => (self, first, distance)
        );
        self.n_behind_portable(first, distance)
    }

    fn n_behind_portable(self, first: FewSums<'_>, distance: u32) -> u32 {
        let (sums, firsts) = (self.sums(), first.sums());
        let is_behind =
            |sum: &&u32| firsts.iter().any(|first| first.wrapping_add(distance) == **sum);
        sums.iter().take(self.n).filter(is_behind).count() as u32
    }

    /// The sums; behind them, the last again.
    fn sums(self) -> [u32; STEP] {
        let mut sum = 0;
        std::array::from_fn(|nth| {
            if nth < self.n {
                sum += bits_at(self.bytes, self.bit + nth * self.width as usize, self.width);
            }
            sum
        })
    }
}

/// The postings of a record as they are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedRecord<'a> {
    /// Widths less one. Byte i has that of posting i in its lower half and of posting 16 + i in its upper.
    pub(crate) widths: &'a [u8; RECORD / 2],
    /// The frequencies less one, with which it begins.
    pub(crate) packed: &'a [u8],
    pub(crate) form: RecordForm,
}

/// Form of a record, small enough for a register: twins are called with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordForm {
    /// Bits of each frequency of the first sixteen and of the others, at most 32.
    pub(crate) frequency_widths: [u8; 2],
    /// Whether the only position of a document has one bit less.
    pub(crate) only_is_shorter: bool,
}

impl RecordForm {
    #[inline]
    pub(super) fn widths(self) -> [u32; 2] {
        let [first, second] = self.frequency_widths;
        [first.into(), second.into()]
    }
}

impl PackedRecord<'_> {
    /// The frequency of a posting.
    fn frequency(&self, nth: usize) -> u32 {
        let [first, second] = self.form.widths().map(|width| width as usize);
        let (bit, width) = match nth.checked_sub(RECORD / 2) {
            None => (nth * first, first),
            Some(nth) => (RECORD / 2 * first + nth * second, second),
        };
        bits_at(self.packed, bit, width as u32).saturating_add(1)
    }
}

/// The postings of a record, unpacked: frequencies, and the widths of their positions.
#[derive(Clone, Debug)]
pub(crate) struct Unpacked {
    /// Frequencies that have at most 14 bits.
    pub(super) frequencies: [u16; RECORD],
    pub(super) widths: [u16; RECORD],
    /// Bits of the positions of all postings before each: sums of frequencies times widths; unless some are greater.
    pub(super) before: [u32; RECORD + 1],
    /// All frequencies where some are greater.
    great: [u32; RECORD],
    are_great: bool,
}

impl Default for Unpacked {
    fn default() -> Self {
        let (frequencies, great) = ([0; RECORD], [0; RECORD]);
        let before = [0; RECORD + 1];
        Unpacked { frequencies, widths: frequencies, before, great, are_great: false }
    }
}

impl Unpacked {
    /// Unpacks a record.
    #[inline]
    pub(crate) fn unpack(&mut self, record: PackedRecord<'_>) {
        let [first, second] = record.form.widths();
        self.are_great = first.max(second) > SPREAD_WIDTH_MAX;
        if !self.are_great {
            return_by_vectors!(
                avx512 avx512::packed::unpack,
                neon neon::packed::unpack
                => (self, record.widths, record.packed, record.form)
            );
        }
        let (low, high) = self.widths.split_at_mut(RECORD / 2);
        for ((low, high), both) in low.iter_mut().zip(high).zip(record.widths) {
            (*low, *high) = (u16::from(both & 15) + 1, u16::from(both >> 4) + 1);
        }
        let shorter = u16::from(record.form.only_is_shorter);
        if self.are_great {
            let great = self.great.iter_mut().zip(&mut self.widths);
            for (nth, (frequency, width)) in great.enumerate() {
                *frequency = record.frequency(nth);
                *width -= shorter * u16::from(*frequency == 1);
            }
        } else {
            plus_one(record, &mut self.frequencies);
            if record.form.only_is_shorter {
                for (width, frequency) in self.widths.iter_mut().zip(&self.frequencies) {
                    *width -= u16::from(*frequency == 1);
                }
            }
            product_sums(&self.frequencies, &self.widths, &mut self.before);
        }
    }

    /// Number of times that the term is in the document of posting `nth`.
    #[inline]
    pub(crate) fn frequency(&self, nth: usize) -> u32 {
        match self.are_great {
            false => self.frequencies[nth].into(),
            true => self.great[nth],
        }
    }

    /// Number of bits of each of its positions.
    #[inline]
    pub(crate) fn width(&self, nth: usize) -> u32 {
        self.widths[nth].into()
    }

    /// The bits of the positions of all postings before `nth`.
    #[inline]
    pub(crate) fn bits_before(&self, nth: usize) -> u64 {
        if self.are_great {
            let bits = self.great.iter().zip(&self.widths);
            return bits.take(nth).map(|(n, width)| u64::from(*n) * u64::from(*width)).sum();
        }
        self.before[nth].into()
    }
}

/// Makes `sums` the sums of the first products, of none on: of numbers up to 2¹⁴ with numbers up to 2⁵.
#[inline]
fn product_sums(a: &[u16; RECORD], b: &[u16; RECORD], sums: &mut [u32; RECORD + 1]) {
    return_by_vectors!(avx2 vector::product_sums => (a, b, sums));
    product_sums_portable(a, b, sums);
}

fn product_sums_portable(a: &[u16; RECORD], b: &[u16; RECORD], sums: &mut [u32; RECORD + 1]) {
    let mut sum = 0;
    for ((a, b), to) in a.iter().zip(b).zip(sums[1..].iter_mut()) {
        sum += u32::from(*a) * u32::from(*b);
        *to = sum;
    }
}

/// Makes `numbers` the frequencies of a record, of at most 14 bits.
#[inline]
fn plus_one(record: PackedRecord<'_>, numbers: &mut [u16; RECORD]) {
    return_by_vectors!(avx2 vector::plus_one => (record.packed, record.form, numbers));
    plus_one_portable(record, numbers);
}

fn plus_one_portable(record: PackedRecord<'_>, numbers: &mut [u16; RECORD]) {
    for (nth, number) in numbers.iter_mut().enumerate() {
        *number = record.frequency(nth) as u16;
    }
}

#[cfg(target_arch = "x86_64")]
mod vector {
    use super::{FewSums, RECORD, RecordForm, STEP, word_at};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2")]
    pub(super) fn product_sums(a: &[u16; RECORD], b: &[u16; RECORD], sums: &mut [u32; RECORD + 1]) {
        let mut before = _mm256_setzero_si256();
        let halves = a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0);
        let Some((_, sums)) = sums.split_first_chunk_mut::<1>() else { return };
        for ((a, b), to) in halves.zip(sums.as_chunks_mut::<16>().0) {
            let (a, b) = (load_lanes(a), load_lanes(b));
            let (low, high) = (_mm256_mullo_epi16(a, b), _mm256_mulhi_epu16(a, b));
            // Products 0 to 3 and 8 to 11, and the others.
            let first = sums_in_halves(_mm256_unpacklo_epi16(low, high));
            let second = sums_in_halves(_mm256_unpackhi_epi16(low, high));
            let of_first = _mm256_shuffle_epi32::<0xFF>(first);
            let of_both = _mm256_add_epi32(of_first, _mm256_shuffle_epi32::<0xFF>(second));
            // To the upper halves, the sum of the lower ones.
            let more =
                _mm256_add_epi32(before, _mm256_permute2x128_si256::<0x08>(of_both, of_both));
            let first = _mm256_add_epi32(first, more);
            let second = _mm256_add_epi32(_mm256_add_epi32(second, of_first), more);
            let [low, high] = to.as_chunks_mut::<STEP>().0 else { return };
            store_eight(_mm256_permute2x128_si256::<0x20>(first, second), low);
            store_eight(_mm256_permute2x128_si256::<0x31>(first, second), high);
            let turned = _mm256_permute2x128_si256::<0x01>(of_both, of_both);
            before = _mm256_add_epi32(before, _mm256_add_epi32(of_both, turned));
        }
    }

    /// Running sums of the four numbers of each half.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn sums_in_halves(numbers: __m256i) -> __m256i {
        let pairs = _mm256_add_epi32(numbers, _mm256_slli_si256::<4>(numbers));
        _mm256_add_epi32(pairs, _mm256_slli_si256::<8>(pairs))
    }

    #[target_feature(enable = "avx2,bmi2")]
    pub(super) fn n_behind(second: FewSums<'_>, first: FewSums<'_>, distance: u32) -> u32 {
        let sums = eight_sums(second);
        let wanted = _mm256_set1_epi32(distance.cast_signed());
        let mut wanted = _mm256_add_epi32(eight_sums(first), wanted);
        let next = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
        let mut are_there = _mm256_cmpeq_epi32(sums, wanted);
        for _ in 1..STEP {
            wanted = _mm256_permutevar8x32_epi32(wanted, next);
            are_there = _mm256_or_si256(are_there, _mm256_cmpeq_epi32(sums, wanted));
        }
        let bits = _mm256_movemask_ps(_mm256_castsi256_ps(are_there)).cast_unsigned();
        // The last sum is there again behind its place.
        _bzhi_u32(bits, second.n as u32).count_ones()
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
            store_eight(_mm256_set_m128i(widened(high, middle), widened(low, sum)), to);
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

    /// The sums; behind them, the last again.
    #[inline]
    #[target_feature(enable = "avx2,bmi2")]
    fn eight_sums(FewSums { bytes, bit, width, n, .. }: FewSums<'_>) -> __m256i {
        let lanes = ((1u64 << width) - 1) * 0x0001_0001_0001_0001;
        let of_half = width as usize * STEP / 2;
        let end = bit + n * width as usize;
        let low = sums_of_four(bits_between(bytes, bit, end), lanes);
        let high = sums_of_four(bits_between(bytes, bit + of_half, end), lanes);
        _mm256_set_m128i(widened(high, low >> 48), widened(low, 0))
    }

    /// 57 bits or more from `bit` on.
    #[inline]
    #[target_feature(enable = "avx2,bmi2")]
    fn bits_from(bytes: &[u8], bit: usize) -> u64 {
        word_at(bytes, bit / 8) >> (bit % 8)
    }

    /// Reads bits, and zeros from `end` on.
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
    pub(super) fn plus_one(packed: &[u8], form: RecordForm, numbers: &mut [u16; RECORD]) {
        let mut bit = 0;
        for (to, width) in numbers.as_chunks_mut::<16>().0.iter_mut().zip(form.widths()) {
            let lanes = ((1u64 << width) - 1) * 0x0001_0001_0001_0001;
            let step = 4 * width as usize;
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
    fn load_lanes(from: &[u16; 16]) -> __m256i {
        #[expect(unsafe_code, reason = "an unaligned vector load")]
        // SAFETY: the reference is to exactly the 32 bytes that are read.
        unsafe {
            _mm256_loadu_si256(from.as_ptr().cast())
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn store_eight(numbers: __m256i, to: &mut [u32; STEP]) {
        #[expect(unsafe_code, reason = "an unaligned vector store")]
        // SAFETY: the reference is to exactly the 32 bytes that are written.
        unsafe {
            _mm256_storeu_si256(to.as_mut_ptr().cast(), numbers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::each_step;
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
            for () in each_step() {
                let mut sums = vec![7];
                let is_sound = running_sums(&bytes, bit, width, numbers.len(), limit, &mut sums);
                prop_assert_eq!(&sums, &expected);
                prop_assert_eq!(is_sound, sum <= u64::from(u32::MAX));
            }
        }

        #[test]
        fn sums_that_are_behind_others_are_counted(
            first in prop::collection::vec(1u32..1 << 14, 1..=STEP),
            second in prop::collection::vec(1u32..1 << 14, 0..=STEP),
            (width, bit) in (1u32..=14, 0usize..20),
            distance in prop_oneof![Just(1u32), 0u32..9, Just(u32::MAX)],
            bases in (0u32..3, prop_oneof![0u32..3, any::<u32>()]),
            more in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            // Numbers of few bits, so that many sums meet.
            let few = |numbers: &[u32]| -> Vec<u32> {
                numbers.iter().map(|n| (n & ((1 << width) - 1)).max(1)).collect()
            };
            let lists = [few(&first), few(&second)];
            let packed = lists.each_ref().map(|numbers| {
                let mut bytes = pack(numbers, bit, width);
                bytes.extend(&more);
                bytes
            });
            let bases = [bases.0, bases.1];
            let [first, second] = [0, 1].map(|list| FewSums {
                bytes: &packed[list], bit, width, n: lists[list].len(), base: bases[list],
            });
            let [sums, others] = [0, 1].map(|list| {
                let add = |sum: &mut u32, n: &u32| { *sum = sum.wrapping_add(*n); Some(*sum) };
                lists[list].iter().scan(bases[list], add).collect::<Vec<_>>()
            });
            let wanted = sums.iter().map(|sum| sum.wrapping_add(distance));
            let expected = wanted.filter(|sum| others.contains(sum)).count() as u32;
            for () in each_step() {
                prop_assert_eq!(second.n_behind(first, distance), expected);
            }
        }

        #[test]
        fn bits_of_postings_are_frequencies_times_widths(
            widths in any::<[u8; 16]>(),
            frequencies in prop::collection::vec(any::<u32>(), 32),
            (first, second) in prop_oneof![(0u32..4, 0u32..15), (0u32..33, 0u32..33)],
            only_is_shorter: bool,
            more in prop::collection::vec(any::<u8>(), 0..12),
        ) {
            let cut = |(nth, n): (usize, &u32)| {
                n.checked_shr(32 - if nth < 16 { first } else { second }).unwrap_or(0)
            };
            let less_one: Vec<u32> = frequencies.iter().enumerate().map(cut).collect();
            let mut bytes = pack(&less_one[..16], 0, first);
            bytes.extend(pack(&less_one[16..], 0, second));
            bytes.extend(more);
            let record = PackedRecord {
                widths: &widths,
                packed: &bytes,
                form: RecordForm { frequency_widths: [first as u8, second as u8], only_is_shorter },
            };
            for () in each_step() {
                let mut unpacked = Unpacked::default();
                unpacked.unpack(record);
                let mut expected = 0;
                for n in 0..32 {
                    prop_assert_eq!(unpacked.bits_before(n), expected);
                    let is_shorter = only_is_shorter && less_one[n] == 0;
                    let of_posting = u32::from(widths[n % 16] >> (n / 16 * 4) & 15) + 1;
                    let of_posting = of_posting - u32::from(is_shorter);
                    prop_assert_eq!(unpacked.width(n), of_posting);
                    prop_assert_eq!(unpacked.frequency(n), less_one[n].saturating_add(1));
                    expected += u64::from(less_one[n].saturating_add(1)) * u64::from(of_posting);
                }
            }
        }
    }

    #[test]
    fn what_lies_past_the_end_is_zeros() {
        let mut sums = vec![];
        for () in each_step() {
            assert!(running_sums(&[0xFF], 4, 4, 6, u32::MAX, &mut sums));
            assert_eq!(sums, [15; 6]);
            assert!(running_sums(&[], 100, 14, 2, u32::MAX, &mut sums));
            assert_eq!(sums, [0; 2]);
        }
        for () in each_step() {
            let mut unpacked = Unpacked::default();
            let mut record = PackedRecord {
                widths: &[0; 16],
                packed: &[],
                form: RecordForm { frequency_widths: [8, 3], only_is_shorter: false },
            };
            unpacked.unpack(record);
            assert_eq!(unpacked.bits_before(31), 31);
            record.form.only_is_shorter = true;
            unpacked.unpack(record);
            assert_eq!(unpacked.bits_before(31), 0);
        }
        assert_eq!(bits_at(&[], 9, 32), 0);
    }
}
