//! Set operations on many containers at once. Intersections begin with the smallest; unions go through one
//! bitmap.

use super::buffer::ContainerBuf;
use super::container::{Container, ContainerKind};
use super::container_ops::{and, and_count, or, or_count};
use super::words::FULL;

/// Buffers that the operations over many containers need, kept from one call to the next.
///
/// ```
/// use treepie::bitmap::{Container, Scratch, or_count_all};
///
/// let mut scratch = Scratch::new();
/// let operands = [
///     (Container::Array(&[[3, 0], [5, 0]]), 2),
///     (Container::Array(&[[5, 0], [7, 0]]), 2),
///     (Container::Run(&[[4, 0, 9, 0]]), 10),
/// ];
/// assert_eq!(or_count_all(&operands, &mut scratch), 11);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    now: ContainerBuf,
    next: ContainerBuf,
}

impl Scratch {
    /// Two buffers of 8 KiB.
    ///
    /// ```
    /// let _scratch = treepie::bitmap::Scratch::new();
    /// ```
    pub fn new() -> Self {
        Self::default()
    }
}

/// Counts the values in all of the containers, each given with its cardinality. Begins with the smallest,
/// ends as soon as nothing is left, and reorders `operands`. Without containers the count is 65,536.
///
/// ```
/// use treepie::bitmap::{Container, Scratch, and_count_all};
///
/// let mut operands = [
///     (Container::Run(&[[4, 0, 9, 0]]), 10),
///     (Container::Array(&[[3, 0], [5, 0]]), 2),
///     (Container::Array(&[[5, 0], [7, 0]]), 2),
/// ];
/// assert_eq!(and_count_all(&mut operands, &mut Scratch::new()), 1);
/// ```
pub fn and_count_all(operands: &mut [(Container<'_>, u32)], scratch: &mut Scratch) -> u32 {
    match begin_and(operands, scratch) {
        None => 0,
        Some([]) => FULL,
        Some([(_, card)]) => *card,
        Some([(a, a_card), (b, b_card)]) => and_count(*a, *a_card, *b, *b_card),
        Some([.., (last, last_card)]) => {
            and_count(scratch.now.as_container(), scratch.now.cardinality(), *last, *last_card)
        }
    }
}

/// Makes `out` the intersection of the containers, each given with its cardinality. Reorders `operands`. Without
/// containers these are all 65,536.
///
/// ```
/// use treepie::bitmap::{Container, ContainerBuf, Scratch, and_all};
///
/// let mut operands = [
///     (Container::Run(&[[4, 0, 9, 0]]), 10),
///     (Container::Array(&[[3, 0], [5, 0]]), 2),
///     (Container::Array(&[[5, 0], [7, 0]]), 2),
/// ];
/// let mut out = ContainerBuf::new();
/// and_all(&mut operands, &mut Scratch::new(), &mut out);
/// assert_eq!(out.as_container().iter().collect::<Vec<u16>>(), [5]);
/// ```
pub fn and_all(
    operands: &mut [(Container<'_>, u32)],
    scratch: &mut Scratch,
    out: &mut ContainerBuf,
) {
    match begin_and(operands, scratch) {
        None => out.clear(),
        Some([]) => out.set_range(0..=u16::MAX),
        Some([(only, _)]) => out.set(*only),
        Some([(a, _), (b, _)]) => and(*a, *b, out),
        Some([.., (last, _)]) => and(scratch.now.as_container(), *last, out),
    }
}

/// Orders the operands, leaves out the full ones, and intersects all but the last of three or more
/// into `scratch.now`. `None` if nothing is left.
fn begin_and<'o, 'c>(
    operands: &'o mut [(Container<'c>, u32)],
    scratch: &mut Scratch,
) -> Option<&'o [(Container<'c>, u32)]> {
    operands.sort_unstable_by_key(|&(_, card)| card);
    let n = operands.partition_point(|&(_, card)| card < FULL);
    let operands = operands.get(..n).unwrap_or_default();
    if operands.first().is_some_and(|&(_, card)| card == 0) {
        return None;
    }
    if let [(a, _), (b, _), more @ .., _] = operands {
        and(*a, *b, &mut scratch.now);
        for (other, _) in more {
            if scratch.now.is_empty() {
                return None;
            }
            and(scratch.now.as_container(), *other, &mut scratch.next);
            std::mem::swap(&mut scratch.now, &mut scratch.next);
        }
    }
    Some(operands)
}

/// Counts the values in at least one of the containers, each given with its cardinality. Two are counted by
/// what they share, more through one bitmap, with which the longest array is only compared. Without
/// containers the count is 0.
///
/// ```
/// use treepie::bitmap::{Scratch, or_count_all};
///
/// assert_eq!(or_count_all(&[], &mut Scratch::new()), 0);
/// ```
pub fn or_count_all(operands: &[(Container<'_>, u32)], scratch: &mut Scratch) -> u32 {
    if operands.iter().any(|&(_, card)| card >= FULL) {
        return FULL;
    }
    match operands {
        [] => 0,
        [(_, card)] => *card,
        [(a, a_card), (b, b_card)] => or_count(*a, *a_card, *b, *b_card),
        all => {
            // To put a value of an array in a bitmap takes four times as long as to look whether it is there.
            let is_array = |at: &usize| {
                all.get(*at).is_some_and(|(container, _)| container.kind() == ContainerKind::Array)
            };
            let card = |at: &usize| all.get(*at).map_or(0, |(_, card)| *card);
            let last = (0..all.len()).filter(is_array).max_by_key(card).unwrap_or(all.len() - 1);
            let (before, rest) = all.split_at(last);
            let Some(((last, last_card), behind)) = rest.split_first() else { return 0 };
            unite(before.iter().chain(behind), &mut scratch.now);
            let most = &scratch.now;
            or_count(most.as_container(), most.cardinality(), *last, *last_card)
        }
    }
}

/// Makes `out` the union of the containers, each given with its cardinality. Without containers there are none.
///
/// ```
/// use treepie::bitmap::{Container, ContainerBuf, or_all};
///
/// let mut out = ContainerBuf::new();
/// or_all(&[(Container::Array(&[[3, 0]]), 1), (Container::Array(&[[5, 0]]), 1)], &mut out);
/// assert_eq!(out.as_container().iter().collect::<Vec<u16>>(), [3, 5]);
/// ```
pub fn or_all(operands: &[(Container<'_>, u32)], out: &mut ContainerBuf) {
    if operands.iter().any(|&(_, card)| card >= FULL) {
        return out.set_range(0..=u16::MAX);
    }
    match operands {
        [] => out.clear(),
        [(only, _)] => out.set(*only),
        [(a, _), (b, _)] => or(*a, *b, out),
        _ => {
            unite(operands.iter(), out);
            out.shrink();
        }
    }
}

/// Unites through a bitmap, bitmaps first: the first is copied, and nothing is cleared for it.
fn unite<'o, 'c: 'o>(
    operands: impl Iterator<Item = &'o (Container<'c>, u32)> + Clone,
    out: &mut ContainerBuf,
) {
    out.clear();
    let containers = || operands.clone().map(|(container, _)| *container);
    let is_bitmap = |container: &Container<'_>| container.kind() == ContainerKind::Bitmap;
    containers().filter(is_bitmap).for_each(|container| out.or_with(container));
    let others = containers().filter(|container| !is_bitmap(container));
    others.for_each(|container| out.or_with(container));
}
