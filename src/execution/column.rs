//! Documents whose values lie in a range, by a column.

use crate::budget;
use crate::error::Result;
use crate::format::column::{BLOCK_DOCS, Plain};
use crate::plan::WINDOW;
use crate::plan::leaf::ColumnRange;
use crate::segment::file::Section;
use crate::simd::numbers::AT_ONCE;
use crate::simd::prefetch::prefetch;
use std::ops::RangeInclusive;

/// What comparing the value of a document takes about, and what opening a block takes, in nanoseconds.
const DOC_NS: u64 = 3;
const BLOCK_NS: u64 = 40;
/// Documents of a window up to which what is read of them is asked for before the first is read.
const FAR_APART: usize = 2_048;

/// Keeps those of the documents of window `key` that have a value in the range.
pub(super) fn retain(range: &ColumnRange<'_>, key: u32, lows: &mut Vec<u16>) -> Result<()> {
    budget::work(DOC_NS * lows.len() as u64)?;
    match range.column.plain() {
        Some(plain) => retain_by_number(&plain, &range.codes, key, lows),
        None => retain_by_block(range, key, lows),
    }
}

fn retain_by_number(
    plain: &Plain<Section<'_>>,
    codes: &RangeInclusive<u64>,
    key: u32,
    lows: &mut Vec<u16>,
) -> Result<()> {
    let n_docs = plain.column().n_docs();
    let start = key.saturating_mul(WINDOW).min(n_docs);
    let numbers = plain.numbers(start..start.saturating_add(WINDOW).min(n_docs))?;
    let wanted = plain.numbers_of(codes);
    let is_wanted = |number: u32| number.wrapping_sub(wanted.start) < wanted.end - wanted.start;
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

fn retain_by_block(range: &ColumnRange<'_>, key: u32, lows: &mut Vec<u16>) -> Result<()> {
    let (column, codes) = (range.column, &range.codes);
    let blocks_of_window = WINDOW / BLOCK_DOCS;
    let (mut from, mut n_kept) = (0, 0);
    while let Some(first) = lows.get(from) {
        let nth = u32::from(*first) / BLOCK_DOCS;
        let n = lows[from..].partition_point(|low| u32::from(*low) / BLOCK_DOCS == nth);
        let block = key.saturating_mul(blocks_of_window).saturating_add(nth);
        let head = column.head(block)?;
        let is_inside = codes.contains(&head.least) && codes.contains(&head.greatest);
        let is_outside =
            head.n_values == 0 || head.least > *codes.end() || head.greatest < *codes.start();
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
                    Some(one_each) => {
                        one_each.code(place).is_some_and(|code| codes.contains(&code))
                    }
                    None => values.codes(place).any(|code| codes.contains(&code)),
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
