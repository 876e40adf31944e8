//! Numbers of a column: where bits are set, packed numbers at places, and how many are not below another.
//!
//! One body serves all instruction sets, as in [`bitmaps`](super::bitmaps), but for fetching numbers from places, which has an
//! instruction of its own.

/// Documents that are looked at together: two kilobytes of numbers.
pub(crate) const AT_ONCE: usize = 512;
/// Words of a bitmap for so many.
const WORDS: usize = AT_ONCE / u64::BITS as usize;
/// Places are written by eights.
const STEP: usize = 8;
/// Bytes of a word that a number is cut out of.
const WORD: usize = size_of::<u64>();

/// Room for places, with some behind that [`places`](fn@places) writes to without need.
pub(crate) type PlaceBuffer = [u32; AT_ONCE + 64];

/// Defines a kernel by its body: the function that chooses, the portable function, its twin.
macro_rules! kernel {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)? $body:block) => {
        $(#[$doc])*
        #[inline]
        pub(crate) fn $name($($arg: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            if has_avx2() {
                #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
                // SAFETY: the features were found in the line above.
                return unsafe { $name::avx2($($arg),*) };
            }
            $name::portable($($arg),*)
        }

        mod $name {
            #[allow(unused_imports, reason = "some kernels use what is beside them")]
            use super::*;

            #[inline(always)]
            pub(super) fn portable($($arg: $type),*) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,popcnt")]
            pub(super) fn avx2($($arg: $type),*) $(-> $result)? {
                portable($($arg),*)
            }
        }
    };
}

/// Whether there is AVX2, and what every processor has that has it.
#[cfg(target_arch = "x86_64")]
#[inline]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("popcnt")
}

kernel! {
    /// Writes where bits are set, counted from `base` on; how many are. Of more than eight words the rest is passed over.
    ///
    /// Eight of a word are written without asking whether there are as many: a loop that ends with the bits of a word is
    /// mispredicted once a word.
    places(words: &[[u8; 8]], base: u32, places: &mut PlaceBuffer) -> usize {
        let mut n = 0;
        for (word, base) in words.iter().take(WORDS).zip((base..).step_by(u64::BITS as usize)) {
            let mut bits = u64::from_le_bytes(*word);
            let of_word = bits.count_ones() as usize;
            let slots = &mut places[n..n + u64::BITS as usize];
            for slots in slots.as_chunks_mut::<STEP>().0.iter_mut().take(of_word.div_ceil(STEP)) {
                for slot in slots {
                    // What stands behind the last is written over.
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
    /// How many numbers are at least `least`.
    count_from(numbers: &[u32], least: u32) -> u32 {
        numbers.iter().map(|number| u32::from(*number >= least)).sum()
    }
}

/// Writes the numbers of `width` bits, less than 32, at `places`. A place outside of `bytes` has a number without meaning; and
/// so has one whose number begins in the last seven bytes.
#[inline]
pub(crate) fn unpack(bytes: &[u8], width: u32, places: &[u32], out: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() && (WORD..=i32::MAX as usize).contains(&bytes.len()) {
        #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
        // SAFETY: the feature was found in the line above.
        return unsafe { avx2::unpack(bytes, width, places, out) };
    }
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

fn mask_of(width: u32) -> u32 {
    1u32.checked_shl(width).map_or(u32::MAX, |above| above - 1)
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{STEP, WORD, mask_of, unpack_portable};
    use std::arch::x86_64::*;

    /// The most bits that a number can have to lie in the four bytes that it begins in.
    const NARROW: u32 = 25;

    /// As [`unpack`](super::unpack), of at least eight bytes.
    #[target_feature(enable = "avx2")]
    pub(super) fn unpack(bytes: &[u8], width: u32, places: &[u32], out: &mut [u32]) {
        let (eights, rest) = places.as_chunks::<STEP>();
        let (out, out_rest) = out.split_at_mut((eights.len() * STEP).min(out.len()));
        let last = _mm256_set1_epi32((bytes.len() - WORD) as i32);
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
    /// As [`gather`], but of eight bytes.
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
                for kernel in [places, places::portable] {
                    let mut buffer = [9; AT_ONCE + 64];
                    let n = kernel(&words, 1_000, &mut buffer);
                    assert!(
                        buffer[..n].iter().eq(expected
                            .iter()
                            .map(|at| 1_000 + at)
                            .collect::<Vec<_>>()
                            .iter())
                    );
                }
            }
        }
        let mut buffer = [0; AT_ONCE + 64];
        assert_eq!(places(&[[1; 8]; 20], 0, &mut buffer), places(&[[1; 8]; 8], 0, &mut buffer));
    }

    #[test]
    fn numbers_are_those_packed_with_and_without_vectors() {
        for width in each_unless_miri(0..32, 6) {
            let n = 203u32;
            let number = |place: u32| mixed(place.into()) as u32 & mask_of(width);
            let mut bytes = vec![0u8; (n * width).div_ceil(8) as usize + 7];
            for place in 0..n {
                for bit in (0..width).filter(|bit| number(place) >> bit & 1 == 1) {
                    let at = place * width + bit;
                    bytes[at as usize / 8] |= 1 << (at % 8);
                }
            }
            let all: Vec<u32> = (0..n).collect();
            let some: Vec<u32> =
                (0..n).filter(|place| mixed(u64::from(*place)).is_multiple_of(5)).collect();
            for places in [&all[..], &some, &some[..7], &[]] {
                let expected: Vec<u32> = places.iter().map(|place| number(*place)).collect();
                for kernel in [unpack, unpack_portable] {
                    let mut out = vec![77; places.len()];
                    kernel(&bytes, width, places, &mut out);
                    assert_eq!(out, expected, "of {width} bits");
                }
            }
            // Places that lead outside, and bytes that are not even a word.
            for kernel in [unpack, unpack_portable] {
                let mut out = [0; 16];
                kernel(&bytes, width, &[u32::MAX / width.max(1); 16], &mut out);
                kernel(&bytes[..7], width, &[0; 16], &mut out);
                kernel(&[], width, &[3; 9], &mut out);
            }
        }
    }

    #[test]
    fn numbers_are_counted_with_and_without_vectors() {
        let numbers: Vec<u32> =
            (0..333).map(|nth| mixed(nth) as u32).chain([0, u32::MAX]).collect();
        for least in [0, 1, 1 << 31, (1 << 31) - 1, u32::MAX] {
            let expected = numbers.iter().filter(|number| **number >= least).count() as u32;
            assert_eq!(count_from(&numbers, least), expected);
            assert_eq!(count_from::portable(&numbers, least), expected);
        }
    }
}
