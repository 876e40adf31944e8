//! Bounds of 1024 blocks as 16-bit sums: codes multiplied and added up, and the largest picked.
//!
//! One body serves all instruction sets, as in [`bitmaps`](super::bitmaps), but for picking, which needs the
//! instruction that makes a number of comparisons.

/// Blocks of a window.
pub(crate) const BLOCKS: usize = 1024;

/// Codes that a byte can count.
const COUNTED: usize = 128;

/// What a code adds: ⌊code × 256 × weight / 65,536⌋, one instruction for several of them.
#[inline(always)]
pub(crate) fn units(code: u8, weight: u16) -> u16 {
    ((u32::from(u16::from(code) << 8) * u32::from(weight)) >> 16) as u16
}

/// Defines a kernel by its body: the function that chooses, the portable function, its twin.
macro_rules! kernel {
    ($(#[$doc:meta])* $name:ident($($arg:ident: $type:ty),*) $(-> $result:ty)? $body:block) => {
        $(#[$doc])*
        #[inline]
        pub(crate) fn $name($($arg: $type),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
                // SAFETY: the feature was found in the line above.
                return unsafe { $name::avx2($($arg),*) };
            }
            $name::portable($($arg),*)
        }

        mod $name {
            #[allow(unused_imports, reason = "some kernels call what is beside them")]
            use super::*;

            #[inline(always)]
            pub(super) fn portable($($arg: $type),*) $(-> $result)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            pub(super) fn avx2($($arg: $type),*) $(-> $result)? {
                portable($($arg),*)
            }
        }
    };
}

kernel! {
    /// Replaces the sums by the units of one list.
    set(sums: &mut [u16; BLOCKS], codes: &[u8; BLOCKS], weight: u16) {
        for (sum, code) in sums.iter_mut().zip(codes) {
            *sum = units(*code, weight);
        }
    }
}

kernel! {
    /// Adds the units of one more list.
    add(sums: &mut [u16; BLOCKS], codes: &[u8; BLOCKS], weight: u16) {
        for (sum, code) in sums.iter_mut().zip(codes) {
            *sum = sum.wrapping_add(units(*code, weight));
        }
    }
}

kernel! {
    /// Adds the units of one more list where neither they nor the sums are 0, and sets the others to 0.
    add_to_all(sums: &mut [u16; BLOCKS], codes: &[u8; BLOCKS], weight: u16) {
        for (sum, code) in sums.iter_mut().zip(codes) {
            let more = units(*code, weight);
            *sum = if *sum == 0 || more == 0 { 0 } else { sum.wrapping_add(more) };
        }
    }
}

kernel! {
    /// The largest sum.
    max(sums: &[u16; BLOCKS]) -> u16 {
        sums.iter().fold(0, |best, sum| best.max(*sum))
    }
}

kernel! {
    /// How many codes are at least `least`.
    count_codes(codes: &[u8], least: u8) -> usize {
        let mut n = 0;
        for codes in codes.chunks(COUNTED) {
            let mut of_chunk = 0u8;
            for code in codes {
                of_chunk += u8::from(*code >= least);
            }
            n += usize::from(of_chunk);
        }
        n
    }
}

/// Appends `first` and the number of each sum that is at least `level`.
#[inline]
pub(crate) fn select(sums: &[u16; BLOCKS], level: u16, first: u32, out: &mut Vec<u32>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
        // SAFETY: the feature was found in the line above.
        return unsafe { avx2::select(sums, level, first, out) };
    }
    select_portable(sums, level, first, out);
}

fn select_portable(sums: &[u16; BLOCKS], level: u16, first: u32, out: &mut Vec<u32>) {
    for (first, sums) in (first..).step_by(32).zip(sums.as_chunks::<32>().0) {
        if sums.iter().fold(0, |best, sum| best.max(*sum)) >= level {
            let selected = (first..).zip(sums).filter(|(_, sum)| **sum >= level);
            out.extend(selected.map(|(nth, _)| nth));
        }
    }
}

/// Appends the number of each code that is at least `least`.
#[inline]
pub(crate) fn select_codes(codes: &[u8], least: u8, out: &mut Vec<u32>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "calls a function that needs AVX2")]
        // SAFETY: the feature was found in the line above.
        return unsafe { avx2::select_codes(codes, least, out) };
    }
    select_codes_from(codes, least, 0, out);
}

fn select_codes_from(codes: &[u8], least: u8, first: u32, out: &mut Vec<u32>) {
    let selected = (first..).zip(codes).filter(|(_, code)| **code >= least);
    out.extend(selected.map(|(nth, _)| nth));
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{BLOCKS, select_codes_from};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2")]
    pub(super) fn select(sums: &[u16; BLOCKS], level: u16, first: u32, out: &mut Vec<u32>) {
        let least = _mm256_set1_epi16(level as i16);
        let mut first = first;
        for sums in sums.as_chunks::<32>().0 {
            let (low, high) = (load(&sums.as_chunks().0[0]), load(&sums.as_chunks().0[1]));
            let low = _mm256_cmpeq_epi16(_mm256_max_epu16(low, least), low);
            let high = _mm256_cmpeq_epi16(_mm256_max_epu16(high, least), high);
            // Packing works on halves; putting these in order makes bit i that of sum i.
            let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(low, high));
            push(_mm256_movemask_epi8(packed) as u32, first, out);
            first += 32;
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn select_codes(codes: &[u8], least: u8, out: &mut Vec<u32>) {
        let limit = _mm256_set1_epi8(least as i8);
        let (chunks, rest) = codes.as_chunks::<32>();
        let mut first = 0;
        for codes in chunks {
            let codes = load_bytes(codes);
            let selected = _mm256_cmpeq_epi8(_mm256_max_epu8(codes, limit), codes);
            push(_mm256_movemask_epi8(selected) as u32, first, out);
            first += 32;
        }
        select_codes_from(rest, least, first, out);
    }

    #[inline(always)]
    fn push(selected: u32, first: u32, out: &mut Vec<u32>) {
        let mut selected = selected;
        while selected != 0 {
            out.push(first + selected.trailing_zeros());
            selected &= selected - 1;
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(sums: &[u16; 16]) -> __m256i {
        #[expect(unsafe_code, reason = "an unaligned vector load")]
        // SAFETY: the reference is to exactly the 32 bytes that are read.
        unsafe {
            _mm256_loadu_si256(sums.as_ptr().cast())
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load_bytes(bytes: &[u8; 32]) -> __m256i {
        #[expect(unsafe_code, reason = "an unaligned vector load")]
        // SAFETY: the reference is to exactly the 32 bytes that are read.
        unsafe {
            _mm256_loadu_si256(bytes.as_ptr().cast())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_single_blocks_with_and_without_vectors() {
        let codes: [u8; BLOCKS] =
            std::array::from_fn(|nth| (nth * 7 % 256) as u8 * u8::from(nth % 3 > 0));
        let more: [u8; BLOCKS] =
            std::array::from_fn(|nth| (nth * 11 % 251) as u8 * u8::from(nth % 5 > 0));
        type Kernel = fn(&mut [u16; BLOCKS], &[u8; BLOCKS], u16);
        let ways: [[Kernel; 3]; 2] =
            [[set, add, add_to_all], [set::portable, add::portable, add_to_all::portable]];
        for [set, add, add_to_all] in ways {
            let (mut any, mut all) = ([9; BLOCKS], [9; BLOCKS]);
            set(&mut any, &codes, 300);
            set(&mut all, &codes, 300);
            add(&mut any, &more, 40_000);
            add_to_all(&mut all, &more, 40_000);
            for nth in 0..BLOCKS {
                let sum = units(codes[nth], 300) + units(more[nth], 40_000);
                assert_eq!(any[nth], sum);
                let is_in_both = codes[nth] > 0 && more[nth] > 0;
                assert_eq!(all[nth], if is_in_both { sum } else { 0 });
            }
            assert_eq!(max(&any), *any.iter().max().unwrap());
            assert_eq!(max::portable(&any), *any.iter().max().unwrap());
        }
    }

    #[test]
    fn what_is_at_least_a_level_is_selected_with_and_without_vectors() {
        let sums: [u16; BLOCKS] = std::array::from_fn(|nth| (nth * 64_037 % 65_536) as u16);
        let codes: Vec<u8> = (0..1023).map(|nth: u32| (nth * 97 % 256) as u8).collect();
        for level in [0, 1, 36, 37, 5000, 32_768, 65_535] {
            let at_least = |nth: &u32| sums[*nth as usize - 7] >= level;
            let expected: Vec<u32> = (7..7 + BLOCKS as u32).filter(at_least).collect();
            for select in [select, select_portable] {
                let mut found = vec![];
                select(&sums, level, 7, &mut found);
                assert_eq!(found, expected);
            }
            let least = (level >> 8) as u8;
            for len in [0, 1, 31, 32, 33, 1023] {
                let codes = &codes[..len];
                let at_least = |nth: &u32| codes[*nth as usize] >= least;
                let expected: Vec<u32> = (0..len as u32).filter(at_least).collect();
                let (mut found, mut portably) = (vec![], vec![]);
                select_codes(codes, least, &mut found);
                select_codes_from(codes, least, 0, &mut portably);
                assert_eq!((&found, &portably), (&expected, &expected));
                assert_eq!(count_codes(codes, least), expected.len());
                assert_eq!(count_codes::portable(codes, least), expected.len());
            }
        }
    }
}
