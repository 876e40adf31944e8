//! Counts of the intersection or union of two containers, without the values of a third. The third has the deleted
//! documents. The kinds that long lists consist of take one pass.

use super::container::Container;
use super::container_ops::{and, and_count};
use super::{ContainerBuf, words};
use crate::simd::bitmaps::{self, And, Or};

/// A container and its cardinality.
pub(crate) type CountedContainer<'c> = (Container<'c>, u32);

/// Counts the values in `a` and in `b` and not in `without`; `shared` is memory to use.
pub(crate) fn and_count_without(
    (a, a_card): CountedContainer<'_>,
    (b, b_card): CountedContainer<'_>,
    (without, n_without): CountedContainer<'_>,
    shared: &mut ContainerBuf,
) -> u32 {
    use Container::{Array, Bitmap};
    if a_card == 0 || b_card == 0 {
        return 0;
    }
    if n_without == 0 {
        return and_count(a, a_card, b, b_card);
    }
    match (a, b, without) {
        (Bitmap(a), Bitmap(b), Bitmap(without)) => {
            bitmaps::combine_count_without::<And>(a, b, without)
        }
        (Array(values), Bitmap(of), Bitmap(without))
        | (Bitmap(of), Array(values), Bitmap(without)) => {
            words::count_values_without(of, values, without)
        }
        _ => {
            and(a, b, shared);
            let n = shared.cardinality();
            n.saturating_sub(and_count(shared.as_container(), n, without, n_without))
        }
    }
}

/// Counts the values in `a` or in `b` and not in `without`; `shared` is memory to use.
pub(crate) fn or_count_without(
    (a, a_card): CountedContainer<'_>,
    (b, b_card): CountedContainer<'_>,
    (without, n_without): CountedContainer<'_>,
    shared: &mut ContainerBuf,
) -> u32 {
    use Container::{Array, Bitmap};
    let alone =
        |of: Container<'_>, card: u32| card.saturating_sub(and_count(of, card, without, n_without));
    if a_card == 0 || b_card == 0 {
        return alone(a, a_card) + alone(b, b_card);
    }
    match (a, b, without) {
        (Bitmap(a), Bitmap(b), Bitmap(without)) => {
            bitmaps::combine_count_without::<Or>(a, b, without)
        }
        (Array(values), Bitmap(of), Bitmap(without)) => {
            alone(b, b_card) + words::count_values_in_neither(of, values, without)
        }
        (Bitmap(of), Array(values), Bitmap(without)) => {
            alone(a, a_card) + words::count_values_in_neither(of, values, without)
        }
        _ => {
            let both = and_count_without((a, a_card), (b, b_card), (without, n_without), shared);
            // Numbers in crafted containers may be anything.
            (alone(a, a_card) + alone(b, b_card)).saturating_sub(both)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_sizes::each_unless_miri;
    use std::collections::BTreeSet;

    /// Sets of every kind, sparse and dense, next to each other and apart.
    fn sets() -> Vec<ContainerBuf> {
        let every = |step: usize, from: u16| (from..=u16::MAX).step_by(step).collect::<Vec<_>>();
        let mut sets: Vec<Vec<u16>> = vec![vec![], vec![0], vec![u16::MAX], vec![7, 64, 9_999]];
        if cfg!(miri) {
            sets.extend([every(640, 63), every(5_000, 0), (100..4_300).chain([65_535]).collect()]);
        } else {
            sets.extend([every(3, 0), every(5, 2), every(40, 1), every(64, 63), every(1_000, 0)]);
            sets.extend([(100..9_000).collect(), (8_000..20_000).chain([65_535]).collect()]);
        }
        sets.into_iter()
            .map(|values| {
                let mut set = ContainerBuf::new();
                let words = values.iter().fold(Box::new(words::EMPTY), |mut words, value| {
                    let at = usize::from(value >> 6);
                    let word = u64::from_le_bytes(words[at]) | 1 << (value & 63);
                    words[at] = word.to_le_bytes();
                    words
                });
                set.set(Container::Bitmap(&words));
                set
            })
            .collect()
    }

    #[test]
    fn counting_without_a_third_is_counting_values_one_by_one() {
        let sets = sets();
        let values = |set: &ContainerBuf| set.as_container().iter().collect::<BTreeSet<u16>>();
        let plain: Vec<_> = sets.iter().map(values).collect();
        // Each as it was made, and as an array where it may be one: all kinds meet.
        let arrays: Vec<Vec<[u8; 2]>> =
            plain.iter().map(|set| set.iter().map(|value| value.to_le_bytes()).collect()).collect();
        let of_kinds = |nth: usize| {
            let card = plain[nth].len() as u32;
            let as_made = (sets[nth].as_container(), card);
            let array = (card <= 4_096).then(|| (Container::Array(&arrays[nth]), card));
            [Some(as_made), array].into_iter().flatten()
        };
        let mut shared = ContainerBuf::new();
        let n = sets.len();
        let triples = (0..n * n * n).map(|nth| (nth / n / n, nth / n % n, nth % n));
        for (a, b, c) in each_unless_miri(triples, 115) {
            let left = |set: BTreeSet<u16>| set.difference(&plain[c]).count() as u32;
            let both = left(plain[a].intersection(&plain[b]).copied().collect());
            let any = left(plain[a].union(&plain[b]).copied().collect());
            for x in of_kinds(a) {
                for y in of_kinds(b) {
                    for without in of_kinds(c) {
                        assert_eq!(and_count_without(x, y, without, &mut shared), both);
                        assert_eq!(or_count_without(x, y, without, &mut shared), any);
                    }
                }
            }
        }
    }
}
