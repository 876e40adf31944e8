//! Sorted lists of 16-bit numbers: how many two have in common, and which.
//!
//! Three ways, chosen by the lengths alone: where one list is much longer, gallop through it;
//! otherwise compare eight against eight by AVX2 and NEON (all 64 pairs in four compares or eight, as in
//! Lemire, Boytsov and Kurz, *SIMD Compression and the Intersection of Sorted Integers*, section 4) or
//! sixteen against sixteen by AVX-512, or merge one by one. Input that is not sorted gives a wrong answer, never more values than the
//! shorter list holds, and never an endless loop: every step moves at least one list forward.

#[cfg(target_arch = "x86_64")]
use super::avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use super::neon;

/// A little-endian 16-bit number where it lies.
pub(super) type Le16 = [u8; 2];

/// Values that are compared at once.
pub(super) const BLOCK: usize = 8;

/// From which ratio of the lengths on galloping wins. By measured times of random lists of 1 to 150 and 4 to 4,000 values: a
/// value of the shorter one takes 6 ns where the other is four times as long, 15 ns if it is sixty times as long, a value of
/// both 0.3 ns eight against eight and 1.6 ns one by one, as steps in random directions cannot be foreseen. Of lists that are
/// intersected again and again they can, and galloping wins from 24 on, not 52: what stands here is between these.
pub(crate) const fn gallop_ratio(shorter: usize, by_blocks: bool) -> usize {
    match shorter {
        // Shorter ones leave much over that is compared one by one.
        n if n >= 2 * BLOCK && by_blocks => 36,
        n if n >= BLOCK && by_blocks => 16,
        _ => 4,
    }
}

/// Whether to gallop; `a` is not the longer one.
fn gallops(a: &[Le16], b: &[Le16]) -> bool {
    #[cfg(target_arch = "x86_64")]
    let by_blocks = super::has_avx2();
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    let by_blocks = super::has_neon();
    #[cfg(not(any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little")
    )))]
    let by_blocks = false;
    a.len().saturating_mul(gallop_ratio(a.len(), by_blocks)) < b.len()
}

/// Counts the values that two ascending lists have in common.
pub(crate) fn and_count(a: &[Le16], b: &[Le16]) -> u32 {
    let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    match gallops(a, b) {
        true => and_count_galloping(a, b),
        false => and_count_side_by_side(a, b),
    }
}

/// Counts by going through both lists, whatever their lengths; `a` is not the longer one.
#[inline]
pub(crate) fn and_count_side_by_side(a: &[Le16], b: &[Le16]) -> u32 {
    if a.len() > 1 {
        return_by_vectors!(avx512 avx512::arrays::and_count => (a, b));
    }
    if a.len() >= BLOCK {
        return_by_vectors!(avx2 avx2::and_count, neon neon::arrays::and_count => (a, b));
    }
    and_count_merging(a, b)
}

/// Writes the values that two ascending lists have in common to the front of `out`, ascending, and
/// returns how many there are; what does not fit is left out, so give it room for the shorter list.
pub(crate) fn and(a: &[Le16], b: &[Le16], out: &mut [Le16]) -> usize {
    let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    match gallops(a, b) {
        true => and_galloping(a, b, out),
        false => and_side_by_side(a, b, out),
    }
}

/// Intersects by going through both lists, whatever their lengths; `a` is not the longer one.
#[inline]
pub(crate) fn and_side_by_side(a: &[Le16], b: &[Le16], out: &mut [Le16]) -> usize {
    if a.len() > 1 {
        return_by_vectors!(avx512 avx512::arrays::and => (a, b, out));
    }
    if a.len() >= BLOCK {
        return_by_vectors!(avx2 avx2::and, neon neon::arrays::and => (a, b, out));
    }
    and_merging(a, b, out)
}

/// The first position from `from` on whose value is at least `value`, or the length: exponential
/// steps, then halving, so near values are found fast and far ones still in `O(log distance)`.
#[inline]
pub(crate) fn gallop(list: &[Le16], from: usize, value: u16) -> usize {
    let rest = list.get(from..).unwrap_or_default();
    let mut step = 1;
    while step <= rest.len() && u16::from_le_bytes(rest[step - 1]) < value {
        step *= 2;
    }
    // Everything before `step / 2` is smaller, as the probe there said.
    let window = &rest[step / 2..rest.len().min(step)];
    from + step / 2 + window.partition_point(|&at| u16::from_le_bytes(at) < value)
}

/// Counts by searching each value of a list in the other, whatever their lengths.
pub(crate) fn and_count_galloping(short: &[Le16], long: &[Le16]) -> u32 {
    return_by_vectors!(avx512 avx512::arrays::and_count_galloping => (short, long));
    let (mut at, mut n) = (0, 0);
    for &value in short {
        at = gallop(long, at, u16::from_le_bytes(value));
        match long.get(at) {
            Some(&found) => n += u32::from(found == value),
            None => break,
        }
    }
    n
}

/// Intersects by searching each value of a list in the other, whatever their lengths.
pub(crate) fn and_galloping(short: &[Le16], long: &[Le16], out: &mut [Le16]) -> usize {
    return_by_vectors!(avx512 avx512::arrays::and_galloping => (short, long, out));
    let (mut at, mut n) = (0, 0);
    for &value in short {
        at = gallop(long, at, u16::from_le_bytes(value));
        let (Some(&found), Some(slot)) = (long.get(at), out.get_mut(n)) else {
            break;
        };
        *slot = value;
        n += usize::from(found == value);
    }
    n
}

/// Without branches: which list moves on is arithmetic, because no predictor learns it.
fn and_count_merging(a: &[Le16], b: &[Le16]) -> u32 {
    let (mut i, mut j, mut n) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        let (x, y) = (u16::from_le_bytes(a[i]), u16::from_le_bytes(b[j]));
        n += u32::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    n
}

pub(super) fn and_merging(a: &[Le16], b: &[Le16], out: &mut [Le16]) -> usize {
    let (mut i, mut j, mut n) = (0, 0, 0);
    while i < a.len() && j < b.len() && n < out.len() {
        let (x, y) = (u16::from_le_bytes(a[i]), u16::from_le_bytes(b[j]));
        out[n] = a[i];
        n += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    n
}

/// For each set of lanes, the byte shuffle that packs them to the front.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
pub(super) static PACKING: [[u8; 16]; 256] = packing();

#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
const fn packing() -> [[u8; 16]; 256] {
    let mut table = [[0x80; 16]; 256];
    let mut lanes = 0;
    while lanes < 256 {
        let (mut lane, mut n) = (0, 0);
        while lane < BLOCK {
            if lanes >> lane & 1 == 1 {
                table[lanes][2 * n] = 2 * lane as u8;
                table[lanes][2 * n + 1] = 2 * lane as u8 + 1;
                n += 1;
            }
            lane += 1;
        }
        lanes += 1;
    }
    table
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{BLOCK, Le16, PACKING, and_merging, gallop};
    use std::arch::x86_64::*;

    /// Lists of this length together are worth splitting into two chains.
    const SPLIT_MIN: usize = 96;

    /// Splits long lists at one value into two independent chains: load, compare, advance is a
    /// chain of dependent steps, and two of them hide each other's waiting.
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn and_count(a: &[Le16], b: &[Le16]) -> u32 {
        let shorter = a.len().min(b.len());
        let n = if a.len() + b.len() < SPLIT_MIN {
            let mut chain = Chain::new(a, b);
            while chain.is_open() {
                chain.step();
            }
            chain.finish()
        } else {
            let middle = a.len() / 2;
            let cut = gallop(b, 0, u16::from_le_bytes(a[middle]));
            let mut low = Chain::new(&a[..middle], &b[..cut]);
            let mut high = Chain::new(&a[middle..], &b[cut..]);
            while low.is_open() && high.is_open() {
                low.step();
                high.step();
            }
            while low.is_open() {
                low.step();
            }
            while high.is_open() {
                high.step();
            }
            low.finish() + high.finish()
        };
        // Unsorted lists can meet the same value twice.
        n.min(shorter as u32)
    }

    /// Two lists in blocks of eight, and how far each has been walked.
    struct Chain<'a> {
        a: &'a [Le16],
        b: &'a [Le16],
        a_blocks: &'a [[Le16; BLOCK]],
        b_blocks: &'a [[Le16; BLOCK]],
        i: usize,
        j: usize,
        matching_bytes: u32,
    }

    impl<'a> Chain<'a> {
        #[inline(always)]
        fn new(a: &'a [Le16], b: &'a [Le16]) -> Self {
            let (a_blocks, b_blocks) = (a.as_chunks().0, b.as_chunks().0);
            Chain { a, b, a_blocks, b_blocks, i: 0, j: 0, matching_bytes: 0 }
        }

        #[inline(always)]
        fn is_open(&self) -> bool {
            self.i < self.a_blocks.len() && self.j < self.b_blocks.len()
        }

        /// Compares the two blocks ahead and moves past the one that ends first.
        #[inline]
        #[target_feature(enable = "avx2,popcnt")]
        fn step(&mut self) {
            let (a, b) = (&self.a_blocks[self.i], &self.b_blocks[self.j]);
            // The last values come first, from memory: where they are taken out of the vectors, as the
            // compiler would, every step waits longer for the one before.
            let (a_last, b_last) =
                (u16::from_le_bytes(a[BLOCK - 1]), u16::from_le_bytes(b[BLOCK - 1]));
            self.i += usize::from(a_last <= b_last);
            self.j += usize::from(b_last <= a_last);
            // A pair is equal in one of the two halves only, so the bits of both halves add up.
            self.matching_bytes +=
                (_mm256_movemask_epi8(all_pairs(load(a), load(b))) as u32).count_ones();
        }

        /// Counts what is left beside full blocks.
        #[inline]
        #[target_feature(enable = "avx2,popcnt")]
        fn finish(&self) -> u32 {
            let (a, b) = (&self.a[self.i * BLOCK..], &self.b[self.j * BLOCK..]);
            let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
            self.matching_bytes / 2 + count_few(short, long)
        }
    }

    /// Counts the values in both, if `short` is less than a block.
    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    fn count_few(short: &[Le16], long: &[Le16]) -> u32 {
        let (Some(&greatest), Some(&first)) = (short.last(), long.first()) else { return 0 };
        let mut padded = [greatest; BLOCK];
        padded[..short.len()].copy_from_slice(short);
        let lanes = (1_u32 << (2 * short.len())) - 1;
        let (few, greatest) = (load(&padded), u16::from_le_bytes(greatest));
        let (blocks, rest) = long.as_chunks::<BLOCK>();
        let mut matching = 0;
        for block in blocks {
            if u16::from_le_bytes(block[0]) > greatest {
                return (matching & lanes).count_ones() / 2;
            }
            matching |= matching_lanes(few, load(block));
        }
        let mut last = [*rest.last().unwrap_or(&first); BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        matching |= matching_lanes(few, load(&last));
        (matching & lanes).count_ones() / 2
    }

    /// The lanes of `a` that hold a value of `b`, two bits each.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn matching_lanes(a: __m128i, b: __m128i) -> u32 {
        let halves = all_pairs(a, b);
        let either =
            _mm_or_si128(_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
        _mm_movemask_epi8(either) as u32
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn and(a: &[Le16], b: &[Le16], out: &mut [Le16]) -> usize {
        let (a_blocks, b_blocks) = (a.as_chunks::<BLOCK>().0, b.as_chunks::<BLOCK>().0);
        let (mut i, mut j, mut n) = (0, 0, 0);
        while i < a_blocks.len() && j < b_blocks.len() {
            let (x, y) = (&a_blocks[i], &b_blocks[j]);
            let (x_last, y_last) =
                (u16::from_le_bytes(x[BLOCK - 1]), u16::from_le_bytes(y[BLOCK - 1]));
            let values = load(x);
            let halves = all_pairs(values, load(y));
            let equal =
                _mm_or_si128(_mm256_castsi256_si128(halves), _mm256_extracti128_si256::<1>(halves));
            let matches =
                _mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128())) as usize & 0xFF;
            // Ascending lists have written at most 8 values per block passed, so a block fits; the
            // others end here, or in the merge below.
            let Some(slot) = out.get_mut(n..).and_then(|rest| rest.first_chunk_mut::<BLOCK>())
            else {
                break;
            };
            store(slot, _mm_shuffle_epi8(values, load_bytes(&PACKING[matches])));
            n += matches.count_ones() as usize;
            i += usize::from(x_last <= y_last);
            j += usize::from(y_last <= x_last);
        }
        let rest = out.get_mut(n..).unwrap_or_default();
        n + and_merging(&a[i * BLOCK..], &b[j * BLOCK..], rest)
    }

    /// Compares eight values with all eight rotations of the others; lane `k` of either half is set
    /// where value `k` of `a` occurs in `b`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn all_pairs(a: __m128i, b: __m128i) -> __m256i {
        let a = _mm256_broadcastsi128_si256(a);
        let b = _mm256_broadcastsi128_si256(b);
        let by_0_1 = _mm256_setr_epi8(
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, //
            2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1,
        );
        let by_2_3 = _mm256_setr_epi8(
            4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, //
            6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5,
        );
        let by_4_5 = _mm256_setr_epi8(
            8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, //
            10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
        );
        let by_6_7 = _mm256_setr_epi8(
            12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, //
            14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
        );
        let low = _mm256_or_si256(
            _mm256_cmpeq_epi16(a, _mm256_shuffle_epi8(b, by_0_1)),
            _mm256_cmpeq_epi16(a, _mm256_shuffle_epi8(b, by_2_3)),
        );
        let high = _mm256_or_si256(
            _mm256_cmpeq_epi16(a, _mm256_shuffle_epi8(b, by_4_5)),
            _mm256_cmpeq_epi16(a, _mm256_shuffle_epi8(b, by_6_7)),
        );
        _mm256_or_si256(low, high)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(values: &[Le16; BLOCK]) -> __m128i {
        #[expect(unsafe_code, reason = "an unaligned vector load")]
        // SAFETY: the reference is to exactly the 16 bytes that are read.
        unsafe {
            _mm_loadu_si128(values.as_ptr().cast())
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load_bytes(bytes: &[u8; 16]) -> __m128i {
        #[expect(unsafe_code, reason = "an unaligned vector load")]
        // SAFETY: the reference is to exactly the 16 bytes that are read.
        unsafe {
            _mm_loadu_si128(bytes.as_ptr().cast())
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn store(slot: &mut [Le16; BLOCK], values: __m128i) {
        #[expect(unsafe_code, reason = "an unaligned vector store")]
        // SAFETY: the reference is to exactly the 16 bytes that are written.
        unsafe {
            _mm_storeu_si128(slot.as_mut_ptr().cast(), values)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::each_step;
    use crate::test_sizes::{each_unless_miri, unless_miri};
    use std::collections::BTreeSet;

    fn le(values: impl IntoIterator<Item = u16>) -> Vec<Le16> {
        values.into_iter().map(u16::to_le_bytes).collect()
    }

    /// A small generator, so that failures repeat.
    fn random(seed: &mut u64) -> u16 {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        (*seed >> 24) as u16
    }

    fn random_list(seed: &mut u64, len: usize, spread: u16) -> Vec<Le16> {
        le((0..len).map(|_| random(seed) % spread.max(1)).collect::<BTreeSet<_>>())
    }

    fn check(a: &[Le16], b: &[Le16]) {
        let expected: Vec<Le16> = a.iter().copied().filter(|x| b.contains(x)).collect();
        let (a, b) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        for () in each_step() {
            type Count = fn(&[Le16], &[Le16]) -> u32;
            for count in [and_count as Count, and_count_side_by_side, and_count_galloping] {
                assert_eq!(count(a, b) as usize, expected.len(), "{} and {}", a.len(), b.len());
                assert_eq!(and_count(b, a) as usize, expected.len());
            }
            type And = fn(&[Le16], &[Le16], &mut [Le16]) -> usize;
            for and in [and as And, and_side_by_side, and_galloping] {
                let mut out = vec![[0; 2]; a.len()];
                let n = and(a, b, &mut out);
                assert_eq!(&out[..n], expected, "{} and {}", a.len(), b.len());
            }
        }
    }

    #[test]
    fn every_way_to_intersect_gives_the_same() {
        let mut seed = 88_172_645_463_325_252;
        for len_a in
            each_unless_miri([0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 100, 500], 4)
        {
            for len_b in each_unless_miri([0, 1, 8, 16, 31, 32, 33, 64, 200, 1300, 9000], 3) {
                for spread in each_unless_miri([20, 300, 3000, 65_535], 2) {
                    let a = random_list(&mut seed, len_a, spread);
                    let b = random_list(&mut seed, len_b, spread);
                    check(&a, &b);
                }
            }
        }
    }

    #[test]
    fn edges_of_the_number_range_count() {
        check(&le([0, u16::MAX]), &le([0, 1, u16::MAX - 1, u16::MAX]));
        check(&le(0..64), &le(0..64));
        let long = unless_miri(0, 63_000)..=u16::MAX;
        check(&le(u16::MAX - 63..=u16::MAX), &le(long.step_by(3)));
        let end = unless_miri(8000, 300);
        check(&le((0..end).step_by(2)), &le((1..end).step_by(2)));
    }

    #[test]
    fn unsorted_lists_stay_within_bounds() {
        let mut seed = 42;
        for round in each_unless_miri(0..2000_u16, 201) {
            let spread = 1 + round % 50;
            let (len_a, len_b) = (random(&mut seed) % 200, random(&mut seed) % 2000);
            let a = le((0..len_a).map(|_| random(&mut seed) % spread));
            let b = le((0..len_b).map(|_| random(&mut seed) % spread));
            let shorter = a.len().min(b.len());
            for () in each_step() {
                assert!(and_count(&a, &b) as usize <= shorter);
                let mut out = vec![[0; 2]; shorter];
                assert!(and(&a, &b, &mut out) <= shorter);
                assert!(and_galloping(&a, &b, &mut out) <= shorter);
            }
        }
    }

    #[test]
    fn galloping_finds_the_first_value_at_least_as_large() {
        let list = le((0..1000).map(|i| i * 3));
        for from in [0, 1, 500, 999, 1000, 2000] {
            for value in [0, 1, 3, 1500, 1501, 2997, 2998, u16::MAX] {
                let expected = (from..list.len()).find(|&i| u16::from_le_bytes(list[i]) >= value);
                assert_eq!(gallop(&list, from, value), expected.unwrap_or(list.len().max(from)));
            }
        }
    }
}
