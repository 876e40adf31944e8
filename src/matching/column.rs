//! Documents with values that are wanted, by a column.

use crate::bitmap::ContainerBuf;
use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::column::{BLOCK_DOCS, Plain, WINDOW_BLOCKS};
use crate::plan::in_window::{FAR_APART, WANTED_BITS_MAX};
use crate::plan::leaf::{Codes, ColumnValues};
use crate::plan::{WINDOW, cost};
use crate::segment::file::Section;
use crate::simd::numbers::{AT_ONCE, are_among};
use crate::simd::prefetch::prefetch;
use std::ops::{Range, RangeInclusive};

/// Keeps those of the documents of window `key` that have a value that is wanted.
pub(super) fn retain(values: &ColumnValues<'_>, key: u32, lows: &mut Vec<u16>) -> Result<()> {
    budget::work(ns::VALUE_COMPARED * lows.len() as u64)?;
    let Some(plain) = values.column.plain() else { return retain_by_block(values, key, lows) };
    match WantedNumbers::of(&plain, &values.codes) {
        WantedNumbers::Range(wanted) => {
            let width = wanted.end - wanted.start;
            retain_by_number(&plain, key, lows, |number| number.wrapping_sub(wanted.start) < width)
        }
        WantedNumbers::Bits { first, bits } => retain_by_number(&plain, key, lows, |number| {
            let at = number.wrapping_sub(first);
            bits.get((at / u64::BITS) as usize).is_some_and(|word| word >> (at % u64::BITS) & 1 > 0)
        }),
        WantedNumbers::Some(wanted) => {
            retain_by_number(&plain, key, lows, |number| wanted.binary_search(&number).is_ok())
        }
    }
}

/// Whether comparing all documents of a window takes less than so many of them one by one.
pub(super) fn is_dense(values: &ColumnValues<'_>, cardinality: u32) -> bool {
    cardinality >= cost::COLUMN_FILL_FROM
        && matches!(values.codes, Codes::Range(_))
        && values.column.has_neighbours()
}

/// Puts all documents of window `key` that have a value in a range into `out`, where it [is dense](is_dense).
pub(super) fn fill(values: &ColumnValues<'_>, key: u32, out: &mut ContainerBuf) -> Result<()> {
    budget::work(ns::WINDOW_COMPARED)?;
    let Codes::Range(codes) = &values.codes else {
        out.clear();
        return Ok(());
    };
    let column = &values.column;
    let start = key.saturating_mul(WINDOW).min(column.n_docs());
    let end = start.saturating_add(WINDOW).min(column.n_docs());
    let mut found = [0; AT_ONCE];
    match column.plain() {
        Some(plain) => {
            let (wanted, numbers) = (plain.numbers_of(codes), plain.numbers(start..end)?);
            let read = |first, out: &mut [u32]| numbers.get_neighbours(first, out);
            out.fill_words(|words| {
                fill_bits(words.as_flattened_mut(), end - start, &wanted, &mut found, read);
                Ok(())
            })
        }
        None => out.fill_words(|words| {
            let of_blocks = words.as_flattened_mut().chunks_mut((BLOCK_DOCS / u8::BITS) as usize);
            for (nth, bits) in (start / BLOCK_DOCS..end.div_ceil(BLOCK_DOCS)).zip(of_blocks) {
                fill_block(values, codes, nth, bits, &mut found)?;
            }
            Ok(())
        }),
    }
}

/// Sets the bits of the documents of a block that have a value in a range.
fn fill_block(
    values: &ColumnValues<'_>,
    codes: &RangeInclusive<u64>,
    nth: u32,
    bits: &mut [u8],
    found: &mut [u32; AT_ONCE],
) -> Result<()> {
    let (column, head) = (&values.column, values.column.head(nth)?);
    let n_docs = column.docs_of(nth);
    if head.n_values == 0 || values.codes.contain_none(head.least, head.greatest) {
        return Ok(());
    }
    if values.codes.contain_all(head.least, head.greatest) && u32::from(head.n_with) == n_docs {
        bits.fill(u8::MAX);
        end_bits(bits, n_docs);
        return Ok(());
    }
    let block = column.block(nth, head)?;
    if let Some(numbers) = block.one_each()
        && let Some(wanted) = numbers.numbers_of(codes)
    {
        let read = |first, out: &mut [u32]| numbers.get_neighbours(first, out);
        fill_bits(bits, n_docs, &wanted, found, read);
        return Ok(());
    }
    budget::work(ns::VALUE_COMPARED * u64::from(n_docs + head.n_values))?;
    for place in 0..n_docs {
        if block.codes(place).any(|code| codes.contains(&code)) {
            bits[(place / u8::BITS) as usize] |= 1 << (place % u8::BITS);
        }
    }
    Ok(())
}

/// Sets the bits of the first `n` documents whose numbers, which `read` gives, are wanted.
fn fill_bits(
    bits: &mut [u8],
    n: u32,
    wanted: &Range<u32>,
    found: &mut [u32; AT_ONCE],
    read: impl Fn(u32, &mut [u32]),
) {
    let chunks = bits.chunks_mut(AT_ONCE / u8::BITS as usize);
    for (first, bits) in (0..n).step_by(AT_ONCE).zip(chunks) {
        // Codes read behind the last document are of none.
        let n = (n - first).min(AT_ONCE as u32).next_multiple_of(u8::BITS);
        let found = &mut found[..n as usize];
        read(first, found);
        are_among(found, wanted.start, wanted.end - wanted.start, bits);
    }
    end_bits(bits, n);
}

/// Clears the bits behind the first `n`.
fn end_bits(bits: &mut [u8], n: u32) {
    let mut behind = bits.iter_mut().skip((n / u8::BITS) as usize);
    if let Some(byte) = behind.next() {
        *byte &= (1 << (n % u8::BITS)) - 1;
    }
    behind.for_each(|byte| *byte = 0);
}

/// Numbers that are wanted of a plain column.
enum WantedNumbers {
    Range(Range<u32>),
    /// A bit for each number from the first on.
    Bits {
        first: u32,
        bits: Vec<u64>,
    },
    /// Ascending.
    Some(Vec<u32>),
}

impl WantedNumbers {
    fn of(plain: &Plain<Section<'_>>, codes: &Codes) -> Self {
        let codes = match codes {
            Codes::Range(codes) => return WantedNumbers::Range(plain.numbers_of(codes)),
            Codes::Some(codes) => codes,
        };
        let numbers: Vec<u32> = codes.iter().map(|code| plain.first_of(*code)).collect();
        match (numbers.first(), numbers.last()) {
            (Some(&first), Some(&last)) if last - first < WANTED_BITS_MAX => {
                let mut bits = vec![0; ((last - first) / u64::BITS) as usize + 1];
                for number in &numbers {
                    let at = number - first;
                    bits[(at / u64::BITS) as usize] |= 1 << (at % u64::BITS);
                }
                WantedNumbers::Bits { first, bits }
            }
            _ => WantedNumbers::Some(numbers),
        }
    }
}

fn retain_by_number(
    plain: &Plain<Section<'_>>,
    key: u32,
    lows: &mut Vec<u16>,
    is_wanted: impl Fn(u32) -> bool,
) -> Result<()> {
    let n_docs = plain.column().n_docs();
    let start = key.saturating_mul(WINDOW).min(n_docs);
    let numbers = plain.numbers(start..start.saturating_add(WINDOW).min(n_docs))?;
    if lows.len() <= FAR_APART as usize {
        lows.iter().for_each(|low| prefetch(numbers.first_byte((*low).into())));
    }
    let (mut places, mut found) = ([0; AT_ONCE], [0; AT_ONCE]);
    let mut n_kept = 0;
    for from in (0..lows.len()).step_by(AT_ONCE) {
        let n = AT_ONCE.min(lows.len() - from);
        let some = lows.iter().skip(from).map(|low| u32::from(*low));
        places.iter_mut().zip(some).for_each(|(slot, place)| *slot = place);
        numbers.get(&places[..n], &mut found[..n]);
        // Whether one is wanted cannot be foreseen, so each is written down, over the last that was not.
        for (place, number) in places.iter().zip(&found[..n]) {
            lows[n_kept] = *place as u16;
            n_kept += usize::from(is_wanted(*number));
        }
    }
    lows.truncate(n_kept);
    Ok(())
}

fn retain_by_block(values: &ColumnValues<'_>, key: u32, lows: &mut Vec<u16>) -> Result<()> {
    let (column, codes) = (values.column, &values.codes);
    let (mut from, mut n_kept) = (0, 0);
    while let Some(first) = lows.get(from) {
        let nth = u32::from(*first) / BLOCK_DOCS;
        let n = lows[from..].partition_point(|low| u32::from(*low) / BLOCK_DOCS == nth);
        let block = key.saturating_mul(WINDOW_BLOCKS).saturating_add(nth);
        let head = column.head(block)?;
        let is_inside = codes.contain_all(head.least, head.greatest);
        let is_outside = head.n_values == 0 || codes.contain_none(head.least, head.greatest);
        let all_have_one = || column.docs_of(block) == u32::from(head.n_with);
        if !is_outside && is_inside && all_have_one() {
            lows.copy_within(from..from + n, n_kept);
            n_kept += n;
        } else if !is_outside {
            budget::work(ns::COLUMN_BLOCK)?;
            let values = column.block(block, head)?;
            let one_each = values.one_each();
            for at in from..from + n {
                let low = lows[at];
                let place = u32::from(low) % BLOCK_DOCS;
                let is_wanted = match &one_each {
                    Some(one_each) => one_each.code(place).is_some_and(|code| codes.contains(code)),
                    None => values.codes(place).any(|code| codes.contains(code)),
                };
                lows[n_kept] = low;
                n_kept += usize::from(is_wanted);
            }
        }
        from += n;
    }
    lows.truncate(n_kept);
    Ok(())
}
