//! Twins of [`arrays`] in AVX-512. Sixteen values are compared with all sixteen of another block, 32 pairs at once.

use super::load_numbers;
use crate::simd::arrays::{self, Le16};
use std::arch::x86_64::*;

/// Values of a block.
const BLOCK: usize = 16;
/// Values that one is compared with at once.
const LANES: usize = 32;
/// Lists of this length together are worth splitting into two chains.
const SPLIT_MIN: usize = 192;

/// Works like [`and_count_side_by_side`](crate::simd::arrays::and_count_side_by_side); two chains hide each other's waiting.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn and_count(a: &[Le16], b: &[Le16]) -> u32 {
    let n = if a.len() + b.len() < SPLIT_MIN {
        let mut chain = Chain::new(a, b);
        while chain.is_open() {
            chain.count();
        }
        chain.finish()
    } else {
        let middle = a.len() / 2;
        let cut = arrays::gallop(b, 0, u16::from_le_bytes(a[middle]));
        let mut low = Chain::new(&a[..middle], &b[..cut]);
        let mut high = Chain::new(&a[middle..], &b[cut..]);
        while low.is_open() && high.is_open() {
            low.count();
            high.count();
        }
        while low.is_open() {
            low.count();
        }
        while high.is_open() {
            high.count();
        }
        low.finish() + high.finish()
    };
    // Unsorted lists can meet the same value twice.
    n.min(a.len().min(b.len()) as u32)
}

/// Works like [`and_side_by_side`](crate::simd::arrays::and_side_by_side).
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi2,popcnt")]
pub(in crate::simd) fn and(a: &[Le16], b: &[Le16], out: &mut [Le16]) -> usize {
    let (mut chain, mut n) = (Chain::new(a, b), 0);
    while chain.is_open() {
        let (values, others) = chain.next();
        let equal = equal_lanes(values, others);
        n += write(
            _mm512_castsi256_si512(values),
            equal.into(),
            out.get_mut(n..).unwrap_or_default(),
        );
    }
    let (short, long) = chain.rest();
    for long in long.chunks(LANES) {
        let (values, equal) = equal_to_any(long, short);
        n += write(values, equal, out.get_mut(n..).unwrap_or_default());
        if is_passed(long, short) {
            break;
        }
    }
    n
}

/// Works like [`and_count_galloping`](crate::simd::arrays::and_count_galloping).
#[target_feature(enable = "avx512f,avx512bw,bmi2,popcnt")]
pub(in crate::simd) fn and_count_galloping(short: &[Le16], long: &[Le16]) -> u32 {
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

/// Works like [`and_galloping`](crate::simd::arrays::and_galloping).
#[target_feature(enable = "avx512f,avx512bw,bmi2,popcnt")]
pub(in crate::simd) fn and_galloping(short: &[Le16], long: &[Le16], out: &mut [Le16]) -> usize {
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

/// Works like [`gallop`](crate::simd::arrays::gallop): 32 values are looked at first, and 32 last, instead of steps that cannot be foreseen.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2,popcnt")]
fn gallop(list: &[Le16], from: usize, value: u16) -> usize {
    let mut window = list.get(from..).unwrap_or_default();
    let mut at = from;
    let near = n_below(window, value);
    if near < LANES {
        return at + near;
    }
    let mut step = 2 * LANES;
    while step <= window.len() && u16::from_le_bytes(window[step - 1]) < value {
        step *= 2;
    }
    window = &window[..window.len().min(step)];
    window = &window[step / 2..];
    at += step / 2;
    while window.len() > LANES {
        let (low, high) = window.split_at(window.len() / 2);
        let is_behind = low.last().is_some_and(|last| u16::from_le_bytes(*last) < value);
        at += if is_behind { low.len() } else { 0 };
        window = if is_behind { high } else { low };
    }
    at + n_below(window, value)
}

/// Counts how many of up to 32 ascending values are below one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2,popcnt")]
fn n_below(list: &[Le16], value: u16) -> usize {
    let (values, there) = load_numbers(list);
    let below = _mm512_mask_cmplt_epu16_mask(there, values, _mm512_set1_epi16(value.cast_signed()));
    below.count_ones() as usize
}

/// Writes the values of some lanes one after the other, as far as there is room; how many.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi2,popcnt")]
fn write(values: __m512i, lanes: u32, out: &mut [Le16]) -> usize {
    let packed = _mm512_maskz_compress_epi16(lanes, values);
    let n = (lanes.count_ones() as usize).min(out.len());
    #[expect(unsafe_code, reason = "a vector store of what there is room for")]
    // SAFETY: numbers of which the mask has no bit are not written, and it has at most as many as the slice has room for.
    unsafe {
        _mm512_mask_storeu_epi16(out.as_mut_ptr().cast(), _bzhi_u32(u32::MAX, n as u32), packed);
    }
    n
}

/// Two lists in blocks, and how far each has been walked.
struct Chain<'a> {
    a: &'a [Le16],
    b: &'a [Le16],
    a_blocks: &'a [[Le16; BLOCK]],
    b_blocks: &'a [[Le16; BLOCK]],
    i: usize,
    j: usize,
    n: u32,
}

impl<'a> Chain<'a> {
    #[inline(always)]
    fn new(a: &'a [Le16], b: &'a [Le16]) -> Self {
        let (a_blocks, b_blocks) = (a.as_chunks().0, b.as_chunks().0);
        Chain { a, b, a_blocks, b_blocks, i: 0, j: 0, n: 0 }
    }

    #[inline(always)]
    fn is_open(&self) -> bool {
        self.i < self.a_blocks.len() && self.j < self.b_blocks.len()
    }

    /// The two blocks ahead; moves past the one that ends first.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
    fn next(&mut self) -> (__m256i, __m256i) {
        let (a, b) = (&self.a_blocks[self.i], &self.b_blocks[self.j]);
        let (a_last, b_last) = (u16::from_le_bytes(a[BLOCK - 1]), u16::from_le_bytes(b[BLOCK - 1]));
        self.i += usize::from(a_last <= b_last);
        self.j += usize::from(b_last <= a_last);
        (load(a), load(b))
    }

    /// Counts what two blocks have in common.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,popcnt")]
    fn count(&mut self) {
        let (a, b) = self.next();
        self.n += equal_lanes(a, b).count_ones();
    }

    /// The values that are left, of which the first are less than a block.
    #[inline(always)]
    fn rest(&self) -> (&'a [Le16], &'a [Le16]) {
        let (a, b) = (&self.a[self.i * BLOCK..], &self.b[self.j * BLOCK..]);
        if a.len() <= b.len() { (a, b) } else { (b, a) }
    }

    /// Counts what is left beside full blocks, too.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2,popcnt")]
    fn finish(&self) -> u32 {
        let (short, long) = self.rest();
        let mut n = self.n;
        for long in long.chunks(LANES) {
            n += equal_to_any(long, short).1.count_ones();
            if is_passed(long, short) {
                break;
            }
        }
        n
    }
}

/// The lanes of `a` that hold a value of `b`. Values are equal if nothing is left of either without the other; the least of
/// what is left takes fewer instructions to test than each by itself.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn equal_lanes(a: __m256i, b: __m256i) -> u16 {
    // Each half of one beside each half of the other: first both lower and both upper ones.
    let a = _mm512_broadcast_i64x4(a);
    let b = _mm512_broadcast_i64x4(b);
    let b = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 1, 2, 3, 2, 3, 0, 1), b);
    let next = _mm512_shuffle_epi8(b, rotation(1));
    let mut least = _mm512_min_epu16(_mm512_xor_si512(a, b), _mm512_xor_si512(a, next));
    for by in [2, 4, 6] {
        let even = _mm512_xor_si512(a, _mm512_shuffle_epi8(b, rotation(by)));
        let odd = _mm512_xor_si512(a, _mm512_shuffle_epi8(next, rotation(by)));
        least = _mm512_min_epu16(least, _mm512_min_epu16(even, odd));
    }
    let equal = _mm512_testn_epi16_mask(least, least);
    (equal | equal >> 16) as u16
}

/// Bytes of eight values in the order that begins with value `by`, four times.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn rotation(by: u8) -> __m512i {
    let order = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let order = _mm_add_epi8(order, _mm_set1_epi8(2 * by.cast_signed()));
    _mm512_broadcast_i32x4(_mm_and_si128(order, _mm_set1_epi8(15)))
}

/// Up to 32 values, and the lanes of those that are equal to one of a few others.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
fn equal_to_any(values: &[Le16], others: &[Le16]) -> (__m512i, u32) {
    let (values, there) = load_numbers(values);
    let mut differences = _mm512_set1_epi16(1);
    for other in others {
        let other = _mm512_set1_epi16(u16::from_le_bytes(*other).cast_signed());
        differences = _mm512_min_epu16(differences, _mm512_xor_si512(values, other));
    }
    (values, _mm512_mask_testn_epi16_mask(there, differences, differences))
}

/// Whether none of a few values comes behind these.
#[inline(always)]
fn is_passed(values: &[Le16], few: &[Le16]) -> bool {
    match (values.last(), few.last()) {
        (Some(last), Some(few)) => u16::from_le_bytes(*last) >= u16::from_le_bytes(*few),
        _ => true,
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(values: &[Le16; BLOCK]) -> __m256i {
    #[expect(unsafe_code, reason = "an unaligned vector load")]
    // SAFETY: the reference is to exactly the 32 bytes that are read.
    unsafe {
        _mm256_loadu_si256(values.as_ptr().cast())
    }
}
