//! Bounds of 1024 blocks as 16-bit sums. Codes are multiplied and added up, and the largest picked.
//!
//! One body serves all instruction sets, as in [`bitmaps`](super::bitmaps), but for picking, which needs the
//! instruction that makes a number of comparisons.

#[cfg(target_arch = "x86_64")]
use super::avx512;

/// Blocks of a window.
pub(crate) const BLOCKS: usize = 1024;

/// Codes that a byte can count.
const COUNTED: usize = 128;

/// Units that a code adds: ⌊code × 256 × weight / 65,536⌋, one instruction for several of them.
#[inline(always)]
pub(crate) fn units(code: u8, weight: u16) -> u16 {
    ((u32::from(u16::from(code) << 8) * u32::from(weight)) >> 16) as u16
}

/// Code of what score parts with a code become, by the numbers of a [`CodeChange`](crate::format::changed::CodeChange).
#[inline(always)]
pub(crate) fn changed_code(code: u8, [of_code, shortest, longest, rest, codes]: [f32; 5]) -> u8 {
    let part = (f32::from(code) * of_code).min(1.0);
    let left = 1.0 - part;
    let x = (longest * left + rest * part).max(shortest * left);
    // Damaged numbers may make anything of it, also what is no number: a bound that leaves out nothing.
    let changed = (part / (part + x) * codes).min(255.0);
    // Rounded up, without a call.
    let below = changed as i32;
    let above = below + i32::from((below as f32) < changed);
    if code == 0 { 0 } else { above as u8 }
}

kernel! {
    /// The codes of what score parts become.
    change_codes(codes: &[u8], changed: &mut [u8], by: [f32; 5]) {
        for (to, code) in changed.iter_mut().zip(codes) {
            *to = changed_code(*code, by);
        }
    }
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
    /// Sets the sums of blocks to 0 where a list that only filters has no documents.
    keep(sums: &mut [u16; BLOCKS], codes: &[u8; BLOCKS]) {
        for (sum, code) in sums.iter_mut().zip(codes) {
            *sum = if *code == 0 { 0 } else { *sum };
        }
    }
}

kernel! {
    /// Adds up what are sums themselves.
    plus(sums: &mut [u16; BLOCKS], more: &[u16; BLOCKS]) {
        for (sum, more) in sums.iter_mut().zip(more) {
            *sum = sum.saturating_add(*more);
        }
    }
}

kernel! {
    /// Adds up if neither is 0; 0 elsewhere.
    plus_all(sums: &mut [u16; BLOCKS], more: &[u16; BLOCKS]) {
        for (sum, more) in sums.iter_mut().zip(more) {
            *sum = if *sum == 0 || *more == 0 { 0 } else { sum.saturating_add(*more) };
        }
    }
}

kernel! {
    /// Adds up if the sums are not 0.
    plus_some(sums: &mut [u16; BLOCKS], more: &[u16; BLOCKS]) {
        for (sum, more) in sums.iter_mut().zip(more) {
            *sum = if *sum == 0 { 0 } else { sum.saturating_add(*more) };
        }
    }
}

kernel! {
    /// Keeps the least of each two.
    least(sums: &mut [u16; BLOCKS], more: &[u16; BLOCKS]) {
        for (sum, more) in sums.iter_mut().zip(more) {
            *sum = (*sum).min(*more);
        }
    }
}

kernel! {
    /// Keeps the best of each two, and adds the other to `others`.
    best(best: &mut [u16; BLOCKS], others: &mut [u16; BLOCKS], more: &[u16; BLOCKS]) {
        for ((best, others), more) in best.iter_mut().zip(others).zip(more) {
            *others = others.saturating_add((*best).min(*more));
            *best = (*best).max(*more);
        }
    }
}

kernel! {
    /// Adds ⌈more × share / 65,536⌉ or one more than that; what is 0 stays so.
    plus_share(sums: &mut [u16; BLOCKS], more: &[u16; BLOCKS], share: u16) {
        for (sum, more) in sums.iter_mut().zip(more) {
            let part = ((u32::from(*more) * u32::from(share)) >> 16) as u16;
            *sum = sum.saturating_add(part + u16::from(*more > 0));
        }
    }
}

kernel! {
    /// The largest sum.
    max(sums: &[u16; BLOCKS]) -> u16 {
        sums.iter().fold(0, |best, sum| best.max(*sum))
    }
}

/// Counts the codes that are at least `least`.
#[inline]
pub(crate) fn count_codes(codes: &[u8], least: u8) -> usize {
    return_by_vectors!(avx512 avx512::sums::count_codes => (codes, least));
    count_codes_in_bytes(codes, least)
}

kernel! {
    /// Works like [`count_codes`], in bytes that count.
    count_codes_in_bytes(codes: &[u8], least: u8) -> usize {
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
    return_by_vectors!(avx512 avx512::sums::select, avx2 avx2::select => (sums, level, first, out));
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
    return_by_vectors!(avx512 avx512::sums::select_codes, avx2 avx2::select_codes => (codes, least, out));
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
    use crate::simd::each_step;

    #[test]
    fn sums_are_those_of_single_blocks_with_and_without_vectors() {
        let codes: [u8; BLOCKS] =
            std::array::from_fn(|nth| (nth * 7 % 256) as u8 * u8::from(nth % 3 > 0));
        let more: [u8; BLOCKS] =
            std::array::from_fn(|nth| (nth * 11 % 251) as u8 * u8::from(nth % 5 > 0));
        for () in each_step() {
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
            let mut kept = any;
            keep(&mut kept, &more);
            let is_kept = |nth: usize| if more[nth] > 0 { any[nth] } else { 0 };
            assert_eq!(kept, std::array::from_fn(is_kept));
        }
    }

    #[test]
    fn changed_codes_are_bounds_whatever_they_are_made_of() {
        let codes: [u8; 256] = std::array::from_fn(|nth| nth as u8);
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        let damaged = [[inf; 5], [nan; 5], [1.0, 0.0, 0.0, 0.0, inf], [1e30, -1.0, 0.5, 0.0, 1e30]];
        for by in damaged.into_iter().chain([[0.004, 0.9, 1.1, 0.01, 255.0]]) {
            let single: [u8; 256] = std::array::from_fn(|nth| changed_code(nth as u8, by));
            assert_eq!(single[0], 0, "{by:?}");
            for () in each_step() {
                let mut changed = [9; 256];
                change_codes(&codes, &mut changed, by);
                assert_eq!(changed, single, "{by:?}");
            }
        }
        assert_eq!(changed_code(7, [nan; 5]), 255, "a bound that leaves out nothing");
    }

    #[test]
    fn sums_of_sums_are_those_of_single_blocks_with_and_without_vectors() {
        let a: [u16; BLOCKS] = std::array::from_fn(|nth| (nth * 40_503 % 65_536) as u16 & !7);
        let b: [u16; BLOCKS] =
            std::array::from_fn(|nth| (nth * 9_973 % 50_000) as u16 * u16::from(nth % 5 > 0));
        type Kernel = fn(&mut [u16; BLOCKS], &[u16; BLOCKS]);
        type Single = fn(u16, u16) -> u16;
        let kernels: [(Kernel, Single); 4] = [
            (plus, |a, b| a.saturating_add(b)),
            (plus_all, |a, b| match (a, b) {
                (0, _) | (_, 0) => 0,
                _ => a.saturating_add(b),
            }),
            (plus_some, |a, b| if a == 0 { 0 } else { a.saturating_add(b) }),
            (least, |a, b| a.min(b)),
        ];
        for (kernel, single) in kernels {
            for () in each_step() {
                let mut sums = a;
                kernel(&mut sums, &b);
                for nth in 0..BLOCKS {
                    assert_eq!(sums[nth], single(a[nth], b[nth]));
                }
            }
        }
        for () in each_step() {
            let (mut sums, mut others) = (a, [3; BLOCKS]);
            best(&mut sums, &mut others, &b);
            for nth in 0..BLOCKS {
                assert_eq!(sums[nth], a[nth].max(b[nth]));
                assert_eq!(others[nth], 3u16.saturating_add(a[nth].min(b[nth])));
            }
            let before = sums;
            plus_share(&mut sums, &others, 20_000);
            for nth in 0..BLOCKS {
                let share = f64::from(others[nth]) * 20_000.0 / 65_536.0;
                let added = f64::from(sums[nth]) - f64::from(before[nth]);
                assert!(sums[nth] == u16::MAX || added >= share && added <= share + 1.0);
            }
            let mut nothing = [0; BLOCKS];
            plus_share(&mut nothing, &[0; BLOCKS], u16::MAX);
            assert_eq!(nothing, [0; BLOCKS]);
        }
    }

    #[test]
    fn what_is_at_least_a_level_is_selected_with_and_without_vectors() {
        let sums: [u16; BLOCKS] = std::array::from_fn(|nth| (nth * 64_037 % 65_536) as u16);
        let codes: Vec<u8> = (0..1023).map(|nth: u32| (nth * 97 % 256) as u8).collect();
        for level in [0, 1, 36, 37, 5000, 32_768, 65_535] {
            let at_least = |nth: &u32| sums[*nth as usize - 7] >= level;
            let expected: Vec<u32> = (7..7 + BLOCKS as u32).filter(at_least).collect();
            for () in each_step() {
                let mut found = vec![];
                select(&sums, level, 7, &mut found);
                assert_eq!(found, expected);
            }
            let least = (level >> 8) as u8;
            for len in [0, 1, 31, 32, 33, 1023] {
                let codes = &codes[..len];
                let at_least = |nth: &u32| codes[*nth as usize] >= least;
                let expected: Vec<u32> = (0..len as u32).filter(at_least).collect();
                for () in each_step() {
                    let mut found = vec![];
                    select_codes(codes, least, &mut found);
                    assert_eq!(found, expected);
                    assert_eq!(count_codes(codes, least), expected.len());
                }
            }
        }
    }
}
