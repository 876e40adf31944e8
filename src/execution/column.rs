//! Documents with values that are wanted, by a column.

use crate::budget;
use crate::error::Result;
use crate::format::column::{BLOCK_DOCS, Plain};
use crate::plan::WINDOW;
use crate::plan::leaf::{Codes, ColumnValues};
use crate::segment::file::Section;
use crate::simd::numbers::AT_ONCE;
use crate::simd::prefetch::prefetch;
use std::ops::Range;

/// What comparing the value of a document takes about, and what opening a block takes, in nanoseconds.
const DOC_NS: u64 = 3;
const BLOCK_NS: u64 = 40;
/// Numbers between the least and the greatest that is wanted, up to which a bit for each pays.
const BITS_MAX: u32 = 1 << 12;
/// Documents of a window up to which what is read of them is asked for before the first is read.
const FAR_APART: usize = 2_048;

/// Keeps those of the documents of window `key` that have a value that is wanted.
pub(super) fn retain(values: &ColumnValues<'_>, key: u32, lows: &mut Vec<u16>) -> Result<()> {
    budget::work(DOC_NS * lows.len() as u64)?;
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

/// What is wanted of a plain column.
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
            (Some(&first), Some(&last)) if last - first < BITS_MAX => {
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
    if lows.len() <= FAR_APART {
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
    let blocks_of_window = WINDOW / BLOCK_DOCS;
    let (mut from, mut n_kept) = (0, 0);
    while let Some(first) = lows.get(from) {
        let nth = u32::from(*first) / BLOCK_DOCS;
        let n = lows[from..].partition_point(|low| u32::from(*low) / BLOCK_DOCS == nth);
        let block = key.saturating_mul(blocks_of_window).saturating_add(nth);
        let head = column.head(block)?;
        let is_inside = codes.contain_all(head.least, head.greatest);
        let is_outside = head.n_values == 0 || codes.contain_none(head.least, head.greatest);
        let all_have_one = || column.docs_of(block) == u32::from(head.n_with);
        if !is_outside && is_inside && all_have_one() {
            lows.copy_within(from..from + n, n_kept);
            n_kept += n;
        } else if !is_outside {
            budget::work(BLOCK_NS)?;
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
