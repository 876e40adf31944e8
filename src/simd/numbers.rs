//! Numbers of a column: positions of bits, packed numbers at places, and counts by size.
//!
//! One body serves all instruction sets, as in [`bitmaps`](super::bitmaps), but for what has instructions of its own: fetching
//! numbers from places, spreading the bytes of neighbours, and bringing the places of bits together.

#[cfg(target_arch = "x86_64")]
use super::avx512;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use super::neon;

/// Documents that are looked at together: two kilobytes of numbers.
pub(crate) const AT_ONCE: usize = 512;
/// Words of a bitmap for so many.
pub(super) const WORDS: usize = AT_ONCE / u64::BITS as usize;
/// Places are written by eights.
pub(super) const STEP: usize = 8;
/// The most bits that a number can have to lie in the four bytes that it begins in.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
pub(super) const NARROW: u32 = 25;
/// Bytes of a word that a number is cut out of.
const WORD: usize = size_of::<u64>();

/// Room for places, with some behind that [`places`](fn@places) writes to without need.
pub(crate) type PlaceBuffer = [u32; AT_ONCE + 64];

/// Writes where bits are set, counted from `base` on; how many are. Of more than eight words the rest is passed over.
#[inline]
pub(crate) fn places(words: &[[u8; 8]], base: u32, places: &mut PlaceBuffer) -> usize {
    return_by_vectors!(avx512 avx512::numbers::places => (words, base, places));
    places_by_bits(words, base, places)
}

kernel! {
    /// Works like [`places`](fn@places), bit by bit.
    ///
    /// Eight of a word are written without asking whether there are as many: a loop that ends with the bits of a word is
    /// mispredicted once a word.
    places_by_bits(words: &[[u8; 8]], base: u32, places: &mut PlaceBuffer) -> usize {
        let mut n = 0;
        for (word, base) in words.iter().take(WORDS).zip((base..).step_by(u64::BITS as usize)) {
            let mut bits = u64::from_le_bytes(*word);
            let of_word = bits.count_ones() as usize;
            let slots = &mut places[n..n + u64::BITS as usize];
            for slots in slots.as_chunks_mut::<STEP>().0.iter_mut().take(of_word.div_ceil(STEP)) {
                for slot in slots {
                    // Numbers behind the last are written over.
                    *slot = base.wrapping_add(bits.trailing_zeros());
                    bits &= bits.wrapping_sub(1);
                }
            }
            n += of_word;
        }
        n
    }
}

kernel! {
    /// Counts the numbers that are at least `least`.
    count_from(numbers: &[u32], least: u32) -> u32 {
        numbers.iter().map(|number| u32::from(*number >= least)).sum()
    }
}

kernel! {
    /// Counts the codes that are at least `least`.
    count_codes_from(codes: &[u64], least: u64) -> u32 {
        codes.iter().map(|code| u32::from(*code >= least)).sum()
    }
}

/// Totals of some numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) sum: u64,
    pub(crate) squares: u128,
    /// The least and the greatest; [`u32::MAX`] and 0 of none.
    pub(crate) least: u32,
    pub(crate) greatest: u32,
}

/// Adds up numbers and their squares, of up to 2^32 numbers.
pub(crate) fn totals(numbers: &[u32]) -> Totals {
    let mut halves = [0; 3];
    let (mut least, mut greatest) = (u32::MAX, 0);
    add_totals(numbers, &mut halves, &mut least, &mut greatest);
    let [sum, low, high] = halves;
    Totals { sum, squares: u128::from(low) + (u128::from(high) << u32::BITS), least, greatest }
}

kernel! {
    /// Adds to sums of numbers, and of the lower and the upper halves of their squares.
    add_totals(numbers: &[u32], sums: &mut [u64; 3], least: &mut u32, greatest: &mut u32) {
        let [mut sum, mut low, mut high] = *sums;
        for &number in numbers {
            let square = u64::from(number) * u64::from(number);
            sum += u64::from(number);
            low += square & u64::from(u32::MAX);
            high += square >> u32::BITS;
            *least = number.min(*least);
            *greatest = number.max(*greatest);
        }
        *sums = [sum, low, high];
    }
}

/// Writes the numbers of `width` bits, less than 32, at `places`. A place outside of `bytes` has a number without meaning; and
/// so has one whose number begins in the last seven bytes.
#[inline]
pub(crate) fn unpack(bytes: &[u8], width: u32, places: &[u32], out: &mut [u32]) {
    return_by_vectors!(avx2 avx2::unpack => (bytes, width, places, out));
    unpack_portable(bytes, width, places, out);
}

fn unpack_portable(bytes: &[u8], width: u32, places: &[u32], out: &mut [u32]) {
    let mask = mask_of(width);
    for (place, out) in places.iter().zip(out) {
        let bit = place.wrapping_mul(width);
        let at = (bit / 8) as usize;
        let word = bytes.get(at..at + WORD).and_then(|word| word.first_chunk());
        *out = (word.map_or(0, |word| u64::from_le_bytes(*word)) >> (bit % 8)) as u32 & mask;
    }
}

/// Writes the numbers of `width` bits, less than 32, from place `first` on, a multiple of eight: as [`unpack`], but neighbours, whose
/// bytes are loaded together, in half the time or less.
#[inline]
pub(crate) fn unpack_neighbours(bytes: &[u8], width: u32, first: u32, out: &mut [u32]) {
    return_by_vectors!(
        avx512 avx512::numbers::unpack_neighbours,
        avx2 avx2::unpack_neighbours,
        neon neon::numbers::unpack_neighbours
        => (bytes, width, first, out)
    );
    unpack_neighbours_portable(bytes, width, first, out);
}

pub(super) fn unpack_neighbours_portable(bytes: &[u8], width: u32, first: u32, out: &mut [u32]) {
    for (place, out) in (first..).zip(out) {
        unpack_portable(bytes, width, &[place], std::slice::from_mut(out));
    }
}

/// Writes a bit for each number, lowest first: whether it is one of the `n` from `first` on. Numbers behind the last
/// eight are not looked at, and neither are those without a byte in `bits`.
#[inline]
pub(crate) fn are_among(numbers: &[u32], first: u32, n: u32, bits: &mut [u8]) {
    return_by_vectors!(
        avx512 avx512::numbers::are_among,
        avx2 avx2::are_among,
        neon neon::numbers::are_among
        => (numbers, first, n, bits)
    );
    are_among_portable(numbers, first, n, bits);
}

pub(super) fn are_among_portable(numbers: &[u32], first: u32, n: u32, bits: &mut [u8]) {
    for (numbers, bits) in numbers.as_chunks::<STEP>().0.iter().zip(bits) {
        let is_among = |number: &u32| u8::from(number.wrapping_sub(first) < n);
        *bits = (0..).zip(numbers).map(|(nth, number)| is_among(number) << nth).sum();
    }
}

pub(super) fn mask_of(width: u32) -> u32 {
    1u32.checked_shl(width).map_or(u32::MAX, |above| above - 1)
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{
        NARROW, STEP, WORD, are_among_portable, mask_of, unpack_neighbours_portable,
        unpack_portable,
    };
    use std::arch::x86_64::*;

    /// Works like [`unpack`](super::unpack), also of fewer bytes than a number is loaded with.
    #[target_feature(enable = "avx2")]
    pub(super) fn unpack(bytes: &[u8], width: u32, places: &[u32], out: &mut [u32]) {
        let last = bytes.len().checked_sub(WORD).and_then(|last| i32::try_from(last).ok());
        let Some(last) = last.map(|last| _mm256_set1_epi32(last)) else {
            return unpack_portable(bytes, width, places, out);
        };
        let (eights, rest) = places.as_chunks::<STEP>();
        let (out, out_rest) = out.split_at_mut((eights.len() * STEP).min(out.len()));
        let (widths, mask) =
            (_mm256_set1_epi32(width as i32), _mm256_set1_epi32(mask_of(width) as i32));
        for (places, out) in eights.iter().zip(out.as_chunks_mut::<STEP>().0) {
            let bits = _mm256_mullo_epi32(load(places), widths);
            // No place leads outside, whoever gave it.
            let at = _mm256_min_epu32(_mm256_srli_epi32::<3>(bits), last);
            let shifts = _mm256_and_si256(bits, _mm256_set1_epi32(7));
            let numbers = if width <= NARROW {
                #[expect(unsafe_code, reason = "fetches from places")]
                // SAFETY: each of `at` was just kept to `bytes.len() - 8` or less.
                let words = unsafe { gather(bytes, at) };
                _mm256_srlv_epi32(words, shifts)
            } else {
                let (low, high) = (_mm256_castsi256_si128(at), _mm256_extracti128_si256::<1>(at));
                #[expect(unsafe_code, reason = "fetches from places")]
                // SAFETY: as above.
                let (low, high) = unsafe { (gather_words(bytes, low), gather_words(bytes, high)) };
                let low_shifts = _mm256_cvtepu32_epi64(_mm256_castsi256_si128(shifts));
                let high_shifts = _mm256_cvtepu32_epi64(_mm256_extracti128_si256::<1>(shifts));
                let low = _mm256_srlv_epi64(low, low_shifts);
                let high = _mm256_srlv_epi64(high, high_shifts);
                // The low halves of both, in their order.
                let even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
                let low = _mm256_permutevar8x32_epi32(low, even);
                let high = _mm256_permutevar8x32_epi32(high, even);
                _mm256_blend_epi32::<0b1111_0000>(low, high)
            };
            store(_mm256_and_si256(numbers, mask), out);
        }
        unpack_portable(bytes, width, rest, out_rest);
    }

    /// Bytes of a vector of 128 bits.
    const HALF: usize = size_of::<__m128i>();

    /// Works like [`unpack_neighbours`](super::unpack_neighbours). Eight numbers begin and end with a byte, so that where each lies in the
    /// bytes of its eight follows from the width alone.
    #[target_feature(enable = "avx2")]
    pub(super) fn unpack_neighbours(bytes: &[u8], width: u32, first: u32, out: &mut [u32]) {
        let (w, start) = (width as usize, first as usize / STEP * width as usize);
        let eights = out.len() / STEP;
        let rest = bytes.get(start..).unwrap_or_default();
        // Eights whose loads do not lead outside: the last of them begins with the number before the last two.
        let fits = match rest.len().checked_sub(HALF + 6 * w / 8) {
            Some(room) if w > 0 => (room / w + 1).min(eights),
            _ => 0,
        };
        let (eights, others) = out.split_at_mut(fits * STEP);
        let eights = eights.as_chunks_mut::<STEP>().0.iter_mut().enumerate();
        let mask = _mm256_set1_epi32(mask_of(width) as i32);
        if width <= NARROW {
            // Four numbers from the first of 16 bytes, and four from the first byte of the fifth.
            let second = 4 * w / 8;
            let (low, low_shifts) = spread::<4>(0, w);
            let (high, high_shifts) = spread::<4>(4 * w % 8, w);
            let (order, shifts) = (pair(&low, &high), pair(&low_shifts, &high_shifts));
            for (nth, out) in eights {
                let words = load_halves(rest, nth * w, nth * w + second);
                let words = _mm256_shuffle_epi8(words, order);
                store(_mm256_and_si256(_mm256_srlv_epi32(words, shifts), mask), out);
            }
        } else {
            // Two numbers in each of four times 16 bytes.
            let at = |nth: usize| nth * w / 8;
            let of = |nth: usize| spread::<2>(nth * w % 8, w);
            let [(a, a_shifts), (b, b_shifts), (c, c_shifts), (d, d_shifts)] = [0, 2, 4, 6].map(of);
            let (ac_order, ac_shifts) = (pair(&a, &c), pair(&a_shifts, &c_shifts));
            let (bd_order, bd_shifts) = (pair(&b, &d), pair(&b_shifts, &d_shifts));
            for (nth, out) in eights {
                let from = nth * w;
                let ac = load_halves(rest, from, from + at(4));
                let bd = load_halves(rest, from + at(2), from + at(6));
                let ac = _mm256_srlv_epi64(_mm256_shuffle_epi8(ac, ac_order), ac_shifts);
                let bd = _mm256_srlv_epi64(_mm256_shuffle_epi8(bd, bd_order), bd_shifts);
                // The low halves of both, in their order.
                let (ac, bd) = (_mm256_castsi256_ps(ac), _mm256_castsi256_ps(bd));
                let numbers = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(ac, bd));
                store(_mm256_and_si256(numbers, mask), out);
            }
        }
        unpack_neighbours_portable(bytes, width, first + (fits * STEP) as u32, others);
    }

    /// Spreads `N` numbers of `width` bits in 16 bytes, the first of which begins with bit `from`: which bytes each has in its part of
    /// these, and by how many bits it is shifted there.
    fn spread<const N: usize>(from: usize, width: usize) -> ([u8; HALF], [u8; HALF]) {
        let (mut order, mut shifts) = ([0; HALF], [0; HALF]);
        let len = HALF / N;
        for nth in 0..N {
            let bit = from + nth * width;
            let part = nth * len..(nth + 1) * len;
            let bytes = (bit / 8..).map(|byte| byte as u8);
            order[part.clone()].iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = byte);
            shifts[part.start] = (bit % 8) as u8;
        }
        (order, shifts)
    }

    /// A vector of two halves.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn pair(low: &[u8; HALF], high: &[u8; HALF]) -> __m256i {
        _mm256_set_m128i(half(high), half(low))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn half(bytes: &[u8; HALF]) -> __m128i {
        #[expect(unsafe_code, reason = "an unaligned vector load")]
        // SAFETY: the reference is to exactly the 16 bytes that are read.
        unsafe {
            _mm_loadu_si128(bytes.as_ptr().cast())
        }
    }

    /// 16 bytes from each of two places; zeros if there are not as many.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load_halves(bytes: &[u8], low: usize, high: usize) -> __m256i {
        let at = |at: usize| bytes.get(at..at + HALF).and_then(|bytes| bytes.first_chunk());
        let zeros = [0; HALF];
        pair(at(low).unwrap_or(&zeros), at(high).unwrap_or(&zeros))
    }

    /// Works like [`are_among`](super::are_among).
    #[target_feature(enable = "avx2")]
    pub(super) fn are_among(numbers: &[u32], first: u32, n: u32, bits: &mut [u8]) {
        let Some(last) = n.checked_sub(1) else {
            return are_among_portable(numbers, first, n, bits);
        };
        let (first, last) = (_mm256_set1_epi32(first as i32), _mm256_set1_epi32(last as i32));
        for (numbers, bits) in numbers.as_chunks::<STEP>().0.iter().zip(bits) {
            let above = _mm256_sub_epi32(load(numbers), first);
            let is_among = _mm256_cmpeq_epi32(_mm256_min_epu32(above, last), above);
            *bits = _mm256_movemask_ps(_mm256_castsi256_ps(is_among)) as u8;
        }
    }

    /// Four bytes from each of eight places.
    ///
    /// # Safety
    ///
    /// Behind each place lie four bytes of `bytes`, of which there are at most `i32::MAX`.
    #[inline]
    #[target_feature(enable = "avx2")]
    #[expect(unsafe_code, reason = "fetches from places")]
    unsafe fn gather(bytes: &[u8], at: __m256i) -> __m256i {
        // SAFETY: what the caller promises.
        unsafe { _mm256_i32gather_epi32::<1>(bytes.as_ptr().cast(), at) }
    }

    /// Eight bytes from each of four places.
    ///
    /// # Safety
    ///
    /// Works like [`gather`], but of eight bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    #[expect(unsafe_code, reason = "fetches from places")]
    unsafe fn gather_words(bytes: &[u8], at: __m128i) -> __m256i {
        // SAFETY: what the caller promises.
        unsafe { _mm256_i32gather_epi64::<1>(bytes.as_ptr().cast(), at) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(places: &[u32; STEP]) -> __m256i {
        #[expect(unsafe_code, reason = "an unaligned vector load")]
        // SAFETY: the reference is to exactly the 32 bytes that are read.
        unsafe {
            _mm256_loadu_si256(places.as_ptr().cast())
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn store(numbers: __m256i, out: &mut [u32; STEP]) {
        #[expect(unsafe_code, reason = "an unaligned vector store")]
        // SAFETY: the reference is to exactly the 32 bytes that are written.
        unsafe {
            _mm256_storeu_si256(out.as_mut_ptr().cast(), numbers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::each_step;
    use crate::test_sizes::each_unless_miri;

    fn mixed(nth: u64) -> u64 {
        (nth + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    }

    #[test]
    fn places_are_those_of_the_bits_with_and_without_vectors() {
        let sets: [&dyn Fn(u64) -> u64; 6] = [
            &|_| 0,
            &|_| u64::MAX,
            &|nth| mixed(nth) & mixed(nth + 9) & mixed(nth + 20),
            &|nth| mixed(nth) | mixed(nth + 9),
            &|nth| 1 << (nth * 9) | 1 << 63,
            &|nth| if nth == 5 { u64::MAX } else { 0 },
        ];
        for set in sets {
            for n_words in [8, 3, 0] {
                let words: Vec<[u8; 8]> = (0..n_words).map(|nth| set(nth).to_le_bytes()).collect();
                let bit = |at: &u32| set(u64::from(at / 64)) >> (at % 64) & 1 == 1;
                let expected: Vec<u32> = (0..n_words as u32 * 64).filter(bit).collect();
                let expected: Vec<u32> = expected.iter().map(|at| 1_000 + at).collect();
                for () in each_step() {
                    for kernel in [places, places_by_bits] {
                        let mut buffer = [9; AT_ONCE + 64];
                        let n = kernel(&words, 1_000, &mut buffer);
                        assert_eq!(&buffer[..n], expected);
                    }
                }
            }
        }
        let mut buffer = [0; AT_ONCE + 64];
        for () in each_step() {
            assert_eq!(places(&[[1; 8]; 20], 0, &mut buffer), places(&[[1; 8]; 8], 0, &mut buffer));
        }
    }

    /// The twin checks by itself what it reads: it is a safe function.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn fewer_bytes_than_a_number_is_loaded_with_are_not_read_beyond() {
        if !crate::simd::has_avx2() {
            return;
        }
        let bytes = [0xFF; 16];
        for len in 0..=bytes.len() {
            for width in [0, 1, 7, 25, 26, 31] {
                for places in [&[0, 1, 2, 3, 4, 5, 6, 7][..], &[u32::MAX; 9], &[9], &[]] {
                    let (mut found, mut expected) = ([5; 9], [5; 9]);
                    #[expect(unsafe_code, reason = "tests the vector twin by itself")]
                    // SAFETY: the feature was found above.
                    unsafe {
                        avx2::unpack(&bytes[..len], width, places, &mut found[..places.len()]);
                    }
                    unpack_portable(&bytes[..len], width, places, &mut expected[..places.len()]);
                    if len < WORD {
                        assert_eq!(found, expected, "{len} bytes, {width} bits, at {places:?}");
                    }
                }
            }
        }
    }

    /// The numbers of `n` places, and seven bytes behind.
    fn packed(n: u32, width: u32, number: impl Fn(u32) -> u32) -> Vec<u8> {
        let mut bytes = vec![0u8; (n * width).div_ceil(8) as usize + 7];
        for place in 0..n {
            for bit in (0..width).filter(|bit| number(place) >> bit & 1 == 1) {
                let at = place * width + bit;
                bytes[at as usize / 8] |= 1 << (at % 8);
            }
        }
        bytes
    }

    #[test]
    fn numbers_are_those_packed_with_and_without_vectors() {
        for width in each_unless_miri(0..32, 6) {
            let n = 203u32;
            let number = |place: u32| mixed(place.into()) as u32 & mask_of(width);
            let bytes = packed(n, width, number);
            let all: Vec<u32> = (0..n).collect();
            let some: Vec<u32> =
                (0..n).filter(|place| mixed(u64::from(*place)).is_multiple_of(5)).collect();
            for places in [&all[..], &some, &some[..7], &[]] {
                let expected: Vec<u32> = places.iter().map(|place| number(*place)).collect();
                for () in each_step() {
                    let mut out = vec![77; places.len()];
                    unpack(&bytes, width, places, &mut out);
                    assert_eq!(out, expected, "of {width} bits");
                }
            }
            // Places that lead outside, and bytes that are not even a word.
            for () in each_step() {
                let mut out = [0; 16];
                unpack(&bytes, width, &[u32::MAX / width.max(1); 16], &mut out);
                unpack(&bytes[..7], width, &[0; 16], &mut out);
                unpack(&[], width, &[3; 9], &mut out);
            }
        }
    }

    #[test]
    fn neighbours_are_those_packed_with_and_without_vectors() {
        for width in each_unless_miri(0..32, 6) {
            let n = 203u32;
            let number = |place: u32| mixed(place.into()) as u32 & mask_of(width);
            let bytes = packed(n, width, number);
            for (first, n) in [(0, 203), (8, 195), (16, 40), (160, 43), (200, 3), (96, 0)] {
                let expected: Vec<u32> = (first..first + n).map(number).collect();
                for () in each_step() {
                    let mut out = vec![77; n as usize];
                    unpack_neighbours(&bytes, width, first, &mut out);
                    assert_eq!(out, expected, "{n} of {width} bits from {first} on");
                }
            }
            // Places that lead outside, and bytes that are not even a word.
            for () in each_step() {
                let mut out = [0; 24];
                unpack_neighbours(&bytes, width, 4_000, &mut out);
                unpack_neighbours(&bytes[..7], width, 0, &mut out);
                unpack_neighbours(&[], width, 8, &mut out);
            }
        }
    }

    #[test]
    fn numbers_of_a_range_are_told_with_and_without_vectors() {
        let numbers: Vec<u32> = (0..330).map(|nth| mixed(nth) as u32 >> (nth % 30)).collect();
        let ranges =
            [(0, 0), (5, 1), (7, 2_000), (1 << 20, u32::MAX), (0, u32::MAX), (u32::MAX, 1)];
        for (first, n) in ranges {
            let is_among = |number: &u32| number.wrapping_sub(first) < n;
            let expected: Vec<bool> = numbers.iter().take(328).map(is_among).collect();
            for () in each_step() {
                let mut bits = [0; 42];
                are_among(&numbers, first, n, &mut bits);
                let found = (0..328).map(|at| bits[at / 8] >> (at % 8) & 1 == 1);
                assert_eq!(found.collect::<Vec<_>>(), expected, "{n} from {first} on");
                assert_eq!(bits[41], 0, "what is behind the last eight");
            }
        }
    }

    #[test]
    fn numbers_are_added_up_with_and_without_vectors() {
        let numbers: Vec<u32> = (0..335).map(|nth| mixed(nth) as u32).collect();
        for numbers in [&numbers[..], &numbers[..3], &[u32::MAX; 20], &[0, 7], &[]] {
            let squares = numbers.iter().map(|number| u128::from(*number).pow(2));
            let expected = Totals {
                sum: numbers.iter().map(|number| u64::from(*number)).sum(),
                squares: squares.sum(),
                least: numbers.iter().copied().min().unwrap_or(u32::MAX),
                greatest: numbers.iter().copied().max().unwrap_or(0),
            };
            for () in each_step() {
                assert_eq!(totals(numbers), expected);
            }
        }
    }

    #[test]
    fn numbers_are_counted_with_and_without_vectors() {
        let numbers: Vec<u32> =
            (0..333).map(|nth| mixed(nth) as u32).chain([0, u32::MAX]).collect();
        for least in [0, 1, 1 << 31, (1 << 31) - 1, u32::MAX] {
            let expected = numbers.iter().filter(|number| **number >= least).count() as u32;
            let codes: Vec<u64> = numbers.iter().map(|number| u64::from(*number) << 32).collect();
            for () in each_step() {
                assert_eq!(count_from(&numbers, least), expected);
                assert_eq!(count_codes_from(&codes, u64::from(least) << 32), expected);
            }
        }
    }
}
