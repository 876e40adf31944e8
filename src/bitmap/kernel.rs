//! Kernels: inner loops for a pair of containers, by name. A name says which one the pair takes, or makes it take
//! another.

use super::buffer::{ARRAY_MAX, ContainerBuf};
use super::container::Container;
use super::container_ops::{and, and_count};
use super::words::{self, EMPTY, FULL};
use crate::simd::arrays;
use crate::simd::bitmaps::{self, And, Or};

/// The inner loop that a pair of containers takes, named for the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// Both sorted arrays, walked together.
    MergeArrays,
    /// Each element of a short array searched in a long one.
    GallopArrays,
    /// Each element of one tested in a bitmap.
    ProbeBitmap,
    /// Two bitmaps, word by word; of an array one is made.
    Bitmaps,
}

/// Works like [`and_count`], by this kernel where it suits the kinds of the containers.
pub(crate) fn and_count_by(
    kernel: Kernel,
    a: Container<'_>,
    a_card: u32,
    b: Container<'_>,
    b_card: u32,
) -> u32 {
    use Container::{Array, Bitmap};
    let count = match (kernel, a, b) {
        (Kernel::MergeArrays, Array(a), Array(b)) => {
            let (a, b) = shorter_first(a, b);
            arrays::and_count_side_by_side(a, b)
        }
        (Kernel::GallopArrays, Array(a), Array(b)) => {
            let (a, b) = shorter_first(a, b);
            arrays::and_count_galloping(a, b)
        }
        (Kernel::Bitmaps, Array(_), Bitmap(words)) => count_as_words(a, words),
        (Kernel::Bitmaps, Bitmap(words), Array(_)) => count_as_words(b, words),
        (Kernel::ProbeBitmap, Bitmap(_), Bitmap(words)) if a_card <= b_card => {
            a.iter().filter(|value| words::contains(words, *value)).count() as u32
        }
        (Kernel::ProbeBitmap, Bitmap(words), Bitmap(_)) => {
            b.iter().filter(|value| words::contains(words, *value)).count() as u32
        }
        _ => and_count(a, a_card, b, b_card),
    };
    count.min(FULL)
}

/// Works like [`and`], by this kernel where it suits the kinds of the containers.
pub(crate) fn and_by(kernel: Kernel, a: Container<'_>, b: Container<'_>, out: &mut ContainerBuf) {
    use Container::{Array, Bitmap};
    let fit = |a: &[[u8; 2]], b: &[[u8; 2]]| a.len().min(b.len()) <= ARRAY_MAX;
    match (kernel, a, b) {
        (Kernel::MergeArrays, Array(a), Array(b)) if fit(a, b) => {
            let (a, b) = shorter_first(a, b);
            out.fill_array(|slots| arrays::and_side_by_side(a, b, slots));
        }
        (Kernel::GallopArrays, Array(a), Array(b)) if fit(a, b) => {
            let (a, b) = shorter_first(a, b);
            out.fill_array(|slots| arrays::and_galloping(a, b, slots));
        }
        (Kernel::Bitmaps, Array(_), Bitmap(_)) => {
            out.set_words(a);
            out.apply::<And>(b);
            out.shrink();
        }
        (Kernel::Bitmaps, Bitmap(_), Array(_)) => and_by(kernel, b, a, out),
        (Kernel::ProbeBitmap, Bitmap(_), Bitmap(words)) => {
            out.set_sorted(a.iter().filter(|value| words::contains(words, *value)));
        }
        _ => and(a, b, out),
    }
}

/// Counts the values of an array that a bitmap has, by a bitmap of them.
fn count_as_words(values: Container<'_>, words: &bitmaps::Words) -> u32 {
    let mut own = EMPTY;
    words::apply::<Or>(&mut own, 0, values);
    bitmaps::combine_count::<And>(&own, words)
}

fn shorter_first<'a>(a: &'a [[u8; 2]], b: &'a [[u8; 2]]) -> (&'a [[u8; 2]], &'a [[u8; 2]]) {
    if a.len() <= b.len() { (a, b) } else { (b, a) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A container of values some step apart, which decides its kind.
    fn container() -> impl Strategy<Value = ContainerBuf> {
        (0_u16..2_000, prop_oneof![1_u16..4, 10_u16..40, 200_u16..900]).prop_map(|(from, step)| {
            let mut buffer = ContainerBuf::new();
            buffer.set_sorted((from..=u16::MAX).step_by(step.into()));
            buffer
        })
    }

    proptest! {
        #[test]
        fn every_kernel_finds_the_same(a in container(), b in container()) {
            let (x, y) = (a.as_container(), b.as_container());
            let mut expected = ContainerBuf::new();
            and(x, y, &mut expected);
            for kernel in
                [Kernel::MergeArrays, Kernel::GallopArrays, Kernel::ProbeBitmap, Kernel::Bitmaps]
            {
                let n = and_count_by(kernel, x, a.cardinality(), y, b.cardinality());
                prop_assert_eq!(n, expected.cardinality(), "{:?}", kernel);
                let mut out = ContainerBuf::new();
                and_by(kernel, x, y, &mut out);
                prop_assert!(out.as_container().iter().eq(expected.as_container().iter()), "{:?}", kernel);
            }
        }
    }
}
