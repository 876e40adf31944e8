//! Set operations on two containers of all nine pairs of kinds. Results are a count or a container.

use super::buffer::{ARRAY_MAX, ContainerBuf, copy_values};
use super::container::Container;
use super::runs::{Runs, common_runs, joined_runs, runs_without, start_and_last};
use super::words::{self, FULL};
use crate::simd::arrays;
use crate::simd::bitmaps::{self, And, AndNot, Or, WordOp, Words, Xor};
use std::ops::Range;

/// Counts the values in both containers; `a_card` and `b_card` are their cardinalities.
///
/// Full and empty containers are answered from the cardinalities, without touching a value.
///
/// ```
/// use treepie::bitmap::{Container, and_count};
///
/// let (a, b) = (Container::Array(&[[3, 0], [5, 0]]), Container::Run(&[[4, 0, 9, 0]]));
/// assert_eq!(and_count(a, 2, b, 10), 1);
/// ```
pub fn and_count(a: Container<'_>, a_card: u32, b: Container<'_>, b_card: u32) -> u32 {
    if a_card == 0 || b_card == 0 {
        return 0;
    }
    if a_card >= FULL || b_card >= FULL {
        return a_card.min(b_card).min(FULL);
    }
    use Container::{Array, Bitmap, Run};
    let count = match (a, b) {
        (Array(a), Array(b)) => arrays::and_count(a, b),
        (Array(values), Bitmap(words)) | (Bitmap(words), Array(values)) => {
            words::count_values(words, values)
        }
        (Array(values), Run(runs)) | (Run(runs), Array(values)) => {
            if values.len() < runs.len() {
                values_in_runs(values, runs).count() as u32
            } else {
                slices_in_runs(values, runs).map(|slice| slice.len() as u32).sum()
            }
        }
        (Bitmap(a), Bitmap(b)) => bitmaps::combine_count::<And>(a, b),
        (Bitmap(words), Run(runs)) | (Run(runs), Bitmap(words)) => {
            bitmaps::count_in(words, Runs::new(runs))
        }
        (Run(a), Run(b)) => common_runs(a, b).map(|run| run.end - run.start).sum(),
    };
    count.min(FULL)
}

/// Counts the values in at least one of the containers. It is the sum less the common ones.
///
/// ```
/// use treepie::bitmap::{Container, or_count};
///
/// let (a, b) = (Container::Array(&[[3, 0], [5, 0]]), Container::Run(&[[4, 0, 9, 0]]));
/// assert_eq!(or_count(a, 2, b, 10), 11);
/// ```
pub fn or_count(a: Container<'_>, a_card: u32, b: Container<'_>, b_card: u32) -> u32 {
    let both = and_count(a, a_card, b, b_card);
    a_card.saturating_add(b_card).saturating_sub(both).min(FULL)
}

/// Counts the values that are in `a` and not in `b`.
///
/// ```
/// use treepie::bitmap::{Container, and_not_count};
///
/// let (a, b) = (Container::Array(&[[3, 0], [5, 0]]), Container::Run(&[[4, 0, 9, 0]]));
/// assert_eq!(and_not_count(a, 2, b, 10), 1);
/// ```
pub fn and_not_count(a: Container<'_>, a_card: u32, b: Container<'_>, b_card: u32) -> u32 {
    a_card.saturating_sub(and_count(a, a_card, b, b_card)).min(FULL)
}

/// Counts the values in exactly one of the containers.
///
/// ```
/// use treepie::bitmap::{Container, xor_count};
///
/// let (a, b) = (Container::Array(&[[3, 0], [5, 0]]), Container::Run(&[[4, 0, 9, 0]]));
/// assert_eq!(xor_count(a, 2, b, 10), 10);
/// ```
pub fn xor_count(a: Container<'_>, a_card: u32, b: Container<'_>, b_card: u32) -> u32 {
    let both = and_count(a, a_card, b, b_card);
    a_card.saturating_add(b_card).saturating_sub(both).saturating_sub(both).min(FULL)
}

/// Makes `out` the values that are in both containers.
///
/// ```
/// use treepie::bitmap::{self, Container, ContainerBuf};
///
/// let mut out = ContainerBuf::new();
/// bitmap::and(Container::Array(&[[3, 0], [5, 0]]), Container::Run(&[[4, 0, 9, 0]]), &mut out);
/// assert_eq!(out.as_container().iter().collect::<Vec<u16>>(), [5]);
/// ```
pub fn and(a: Container<'_>, b: Container<'_>, out: &mut ContainerBuf) {
    use Container::{Array, Bitmap, Run};
    match (a, b) {
        // An array beyond 4096 values is nothing we or a checked list have; it is served all the same.
        (Array(a), Array(b)) if a.len().min(b.len()) <= ARRAY_MAX => {
            out.fill_array(|slots| arrays::and(a, b, slots));
        }
        (Array(values), Bitmap(words)) | (Bitmap(words), Array(values))
            if values.len() <= ARRAY_MAX =>
        {
            out.fill_array(|slots| keep(values, slots, |value| words::contains(words, value)));
        }
        (Array(values), Run(runs)) | (Run(runs), Array(values)) if values.len() <= ARRAY_MAX => {
            out.fill_array(|slots| append_all(slots_in(slots), slices_in_runs(values, runs)));
        }
        (Bitmap(a), Bitmap(b)) => {
            out.combine::<And>(a, b);
            out.shrink();
        }
        (Run(a), Run(b)) if out.try_fill_runs(common_runs(a, b)) => {}
        (Bitmap(words), Run(runs)) | (Run(runs), Bitmap(words)) if are_few(runs) => {
            out.fill_array(|slots| values_of_runs(words, runs, slots));
        }
        (Bitmap(words), sparse) | (sparse, Bitmap(words)) => {
            out.set_words(sparse);
            out.apply::<And>(Bitmap(words));
            out.shrink();
        }
        _ => {
            let mut words = words::EMPTY;
            words::apply::<Or>(&mut words, 0, a);
            out.set_words(b);
            out.apply::<And>(Bitmap(&words));
            out.shrink();
        }
    }
}

/// Makes `out` the values that are in at least one of the containers.
///
/// ```
/// use treepie::bitmap::{self, Container, ContainerBuf};
///
/// let mut out = ContainerBuf::new();
/// bitmap::or(Container::Array(&[[3, 0], [5, 0]]), Container::Run(&[[4, 0, 2, 0]]), &mut out);
/// assert_eq!(out.as_container().iter().collect::<Vec<u16>>(), [3, 4, 5, 6]);
/// ```
pub fn or(a: Container<'_>, b: Container<'_>, out: &mut ContainerBuf) {
    match (a, b) {
        (Container::Array(a), Container::Array(b)) if a.len() + b.len() <= ARRAY_MAX => {
            out.fill_array(|slots| merge::<true>(a, b, slots));
        }
        (Container::Run(a), Container::Run(b)) if out.try_fill_runs(joined_runs(a, b)) => {}
        _ => by_words::<Or>(a, b, out),
    }
}

/// Makes `out` the values that are in `a` and not in `b`.
///
/// ```
/// use treepie::bitmap::{self, Container, ContainerBuf};
///
/// let mut out = ContainerBuf::new();
/// bitmap::and_not(Container::Array(&[[3, 0], [5, 0]]), Container::Run(&[[4, 0, 2, 0]]), &mut out);
/// assert_eq!(out.as_container().iter().collect::<Vec<u16>>(), [3]);
/// ```
pub fn and_not(a: Container<'_>, b: Container<'_>, out: &mut ContainerBuf) {
    use Container::{Array, Bitmap, Run};
    match (a, b) {
        (Array(a), Array(b)) if a.len() <= ARRAY_MAX => {
            out.fill_array(|slots| subtract(a, b, slots));
        }
        (Array(a), Bitmap(words)) if a.len() <= ARRAY_MAX => {
            out.fill_array(|slots| keep(a, slots, |value| !words::contains(words, value)));
        }
        (Array(a), Run(runs)) if a.len() <= ARRAY_MAX => {
            out.fill_array(|slots| append_all(slots_in(slots), slices_beside_runs(a, runs)));
        }
        (Run(a), Run(b)) if out.try_fill_runs(runs_without(a, b)) => {}
        _ => by_words::<AndNot>(a, b, out),
    }
}

/// Makes `out` the values that are in exactly one of the containers.
///
/// ```
/// use treepie::bitmap::{self, Container, ContainerBuf};
///
/// let mut out = ContainerBuf::new();
/// bitmap::xor(Container::Array(&[[3, 0], [5, 0]]), Container::Run(&[[4, 0, 2, 0]]), &mut out);
/// assert_eq!(out.as_container().iter().collect::<Vec<u16>>(), [3, 4, 6]);
/// ```
pub fn xor(a: Container<'_>, b: Container<'_>, out: &mut ContainerBuf) {
    match (a, b) {
        (Container::Array(a), Container::Array(b)) if a.len() + b.len() <= ARRAY_MAX => {
            out.fill_array(|slots| merge::<false>(a, b, slots));
        }
        _ => by_words::<Xor>(a, b, out),
    }
}

/// The way that serves every pair but AND: `a` as a bitmap, then `b` applied to it.
fn by_words<O: WordOp>(a: Container<'_>, b: Container<'_>, out: &mut ContainerBuf) {
    match (a, b) {
        (Container::Bitmap(a), Container::Bitmap(b)) => out.combine::<O>(a, b),
        // OR and XOR do not mind the order: the bitmap is copied, the other applied.
        (a, Container::Bitmap(_)) if O::apply(0, 1) == 1 => {
            out.set_words(b);
            out.apply::<O>(a);
        }
        _ => {
            out.set_words(a);
            out.apply::<O>(b);
        }
    }
    out.shrink();
}

/// Keeps the values that `wanted` names, without branching on it.
#[inline(always)]
fn keep(values: &[[u8; 2]], slots: &mut [[u8; 2]], wanted: impl Fn(u16) -> bool) -> usize {
    let mut n = 0;
    for &value in values {
        let Some(slot) = slots.get_mut(n) else { break };
        *slot = value;
        n += usize::from(wanted(u16::from_le_bytes(value)));
    }
    n
}

/// The values of `a` or `b`, and those of both once (`BOTH`, OR) or not at all (XOR).
fn merge<const BOTH: bool>(a: &[[u8; 2]], b: &[[u8; 2]], slots: &mut [[u8; 2]]) -> usize {
    let (mut i, mut j, mut n) = (0, 0, 0);
    while let (Some(x), Some(y), Some(slot)) = (a.get(i), b.get(j), slots.get_mut(n)) {
        let (x, y) = (u16::from_le_bytes(*x), u16::from_le_bytes(*y));
        *slot = x.min(y).to_le_bytes();
        n += usize::from(BOTH || x != y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    append_all(Slots { slots, n }, [a.get(i..), b.get(j..)].into_iter().flatten())
}

/// The values of `a` that are not in `b`.
fn subtract(a: &[[u8; 2]], b: &[[u8; 2]], slots: &mut [[u8; 2]]) -> usize {
    let (mut i, mut j, mut n) = (0, 0, 0);
    while let (Some(value), Some(y), Some(slot)) = (a.get(i), b.get(j), slots.get_mut(n)) {
        let (x, y) = (u16::from_le_bytes(*value), u16::from_le_bytes(*y));
        *slot = *value;
        n += usize::from(x < y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    append_all(Slots { slots, n }, a.get(i..).into_iter())
}

/// Slots of an array, of which the first `n` are in use.
struct Slots<'s> {
    slots: &'s mut [[u8; 2]],
    n: usize,
}

fn slots_in(slots: &mut [[u8; 2]]) -> Slots<'_> {
    Slots { slots, n: 0 }
}

/// Copies slices behind each other as far as there is room, and returns how many slots are in use.
fn append_all<'a>(slots: Slots<'_>, slices: impl Iterator<Item = &'a [[u8; 2]]>) -> usize {
    let Slots { slots, mut n } = slots;
    for slice in slices {
        n += copy_values(slice, slots.get_mut(n..).unwrap_or_default());
    }
    n
}

/// The ascending values that lie inside the runs, found value by value, for more runs than values.
fn values_in_runs(values: &[[u8; 2]], runs: &[[u8; 4]]) -> impl Iterator<Item = [u8; 2]> {
    let mut rest = runs;
    values.iter().copied().filter(move |&value| {
        let value = u32::from(u16::from_le_bytes(value));
        // Exponential steps, then halving, as in `gallop`.
        let mut step = 1;
        while rest.get(step - 1).is_some_and(|&run| start_and_last(run).1 < value) {
            step *= 2;
        }
        let ahead = rest.get(step / 2..).unwrap_or_default();
        let window = ahead.get(..step - step / 2).unwrap_or(ahead);
        let n_before = window.partition_point(|&run| start_and_last(run).1 < value);
        rest = ahead.get(n_before..).unwrap_or_default();
        rest.first().is_some_and(|&run| start_and_last(run).0 <= value)
    })
}

/// Whether runs have no more values than an array.
fn are_few(runs: &[[u8; 4]]) -> bool {
    let n: u32 = Runs::new(runs).map(|run| run.end - run.start).sum();
    n as usize <= ARRAY_MAX
}

/// The values of a bitmap that lie inside runs.
fn values_of_runs(words: &Words, runs: &[[u8; 4]], slots: &mut [[u8; 2]]) -> usize {
    let mut slots = slots.iter_mut();
    let n_slots = slots.len();
    for (at, mask) in Runs::new(runs).flat_map(words::masks) {
        let mut word = words.get(at).map_or(0, |word| u64::from_le_bytes(*word)) & mask;
        while word != 0 {
            let Some(slot) = slots.next() else { return n_slots };
            *slot = (at as u16 * 64 + word.trailing_zeros() as u16).to_le_bytes();
            word &= word - 1;
        }
    }
    n_slots - slots.len()
}

/// The stretches of ascending values that lie inside the runs.
fn slices_in_runs<'a>(
    values: &'a [[u8; 2]],
    runs: &'a [[u8; 4]],
) -> impl Iterator<Item = &'a [[u8; 2]]> {
    let mut at = 0;
    Runs::new(runs).map_while(move |run| {
        let start = arrays::gallop(values, at, run.start as u16);
        at = end_of_run(values, start, &run);
        values.get(start..at).filter(|_| start < values.len())
    })
}

/// The stretches of ascending values that lie between the runs.
fn slices_beside_runs<'a>(
    values: &'a [[u8; 2]],
    runs: &'a [[u8; 4]],
) -> impl Iterator<Item = &'a [[u8; 2]]> {
    let mut at = 0;
    let end = FULL..FULL + 1;
    Runs::new(runs).chain(std::iter::once(end)).map(move |run| {
        let from = at;
        let start = match u16::try_from(run.start) {
            Ok(start) => arrays::gallop(values, at, start),
            Err(_) => values.len(),
        };
        at = end_of_run(values, start, &run);
        values.get(from..start).unwrap_or_default()
    })
}

/// Finds the end of the values inside `run`, which begin at `start`.
fn end_of_run(values: &[[u8; 2]], start: usize, run: &Range<u32>) -> usize {
    match u16::try_from(run.end) {
        Ok(end) => arrays::gallop(values, start, end),
        Err(_) => values.len(),
    }
}
