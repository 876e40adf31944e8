//! Laws for all pairs of kinds and all sizes, with `roaring` as the oracle. Every operation is compared with that of
//! the crate, which also reads every list and writes it again byte for byte.

use super::*;
use crate::test_sizes::{each_unless_miri, unless_miri};
use proptest::collection::vec;
use proptest::prelude::*;
use roaring::RoaringBitmap;

/// A container's worth of values by shape and seed, so that failures shrink to few numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// About so many values anywhere.
    Scattered(u32),
    /// Exactly so many consecutive values.
    Block(u32),
    /// So many runs of random length with random gaps.
    Runs(u32),
    /// Exactly so many values, two apart where they fit so.
    Spread(u32),
}

/// Values around which the kinds of containers and the widths of counters change.
const EDGES: &[u32] = unless_miri(
    &[1, 2, 255, 256, 2047, 2048, 4095, 4096, 4097, 32_768, 65_535, 65_536],
    &[300, 4097],
);

pub(super) fn values(shape: Shape, mut seed: u64) -> Vec<u16> {
    seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut random = |below: u32| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 32) as u32 % below.max(1)
    };
    let mut values: Vec<u16> = match shape {
        Shape::Scattered(n) => (0..n).map(|_| random(1 << 16) as u16).collect(),
        Shape::Block(n) => {
            let start = random((1 << 16) - n + 1);
            (start..start + n).map(|value| value as u16).collect()
        }
        Shape::Runs(n) => {
            let (mut at, mut values) = (random(9), vec![]);
            for _ in 0..n {
                let end = (at + 1 + random(40)).min(1 << 16);
                values.extend((at..end).map(|value| value as u16));
                at = end + 1 + random(20);
            }
            values
        }
        Shape::Spread(n) => {
            let step = if n <= 1 << 15 { 2 } else { 1 };
            (0..n).map(|i| (i * step) as u16).collect()
        }
    };
    values.sort_unstable();
    values.dedup();
    values
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        (0..unless_miri(20_000_u32, 500)).prop_map(Shape::Scattered),
        (1..200_u32).prop_map(Shape::Scattered),
        prop::sample::select(EDGES).prop_map(Shape::Block),
        prop::sample::select(EDGES).prop_map(Shape::Spread),
        (1..unless_miri(2500_u32, 50)).prop_map(Shape::Runs),
    ]
}

/// A list of up to five containers with keys near each other, so that some meet and some do not.
fn list() -> impl Strategy<Value = RoaringBitmap> {
    vec((0..6_u32, shape(), any::<u64>()), 0..unless_miri(5, 4)).prop_map(|containers| {
        containers
            .into_iter()
            .flat_map(|(key, shape, seed)| {
                // The last key is the largest there is.
                let high = if key == 5 { 0xFFFF_0000 } else { key << 16 };
                values(shape, seed).into_iter().map(move |low| high | u32::from(low))
            })
            .collect()
    })
}

/// That a list has these values, that the oracle reads it and writes it just so, and that the same set has no other bytes.
fn check_list(bytes: &[u8], expected: &RoaringBitmap) {
    let read = RoaringBitmap::deserialize_from(bytes).unwrap();
    assert!(read == *expected, "{read:?} differs from {expected:?}");
    let mut again = vec![];
    read.serialize_into(&mut again).unwrap();
    assert!(again == bytes, "{read:?} in other bytes");
    let mut of_values = vec![];
    write_sorted(&expected.iter().collect::<Vec<_>>(), &mut of_values);
    assert!(of_values == bytes, "{read:?} has two lists");
}

/// Their list of the same values, after it has chosen its smallest containers.
fn theirs(bitmap: &RoaringBitmap) -> Vec<u8> {
    let mut optimized = bitmap.clone();
    optimized.optimize();
    let mut bytes = vec![];
    optimized.serialize_into(&mut bytes).unwrap();
    bytes
}

/// Their list without run containers.
fn theirs_without_runs(bitmap: &RoaringBitmap) -> Vec<u8> {
    let mut plain = bitmap.clone();
    plain.remove_run_compression();
    let mut bytes = vec![];
    plain.serialize_into(&mut bytes).unwrap();
    bytes
}

/// That two lists, as given, meet as the two bitmaps do.
fn check_pair(a: &RoaringBitmap, b: &RoaringBitmap, x: RoaringView<'_>, y: RoaringView<'_>) {
    assert_eq!(x.and_count(&y), a.intersection_len(b), "and");
    assert_eq!(x.or_count(&y), a.union_len(b), "or");
    assert_eq!(x.and_not_count(&y), a.difference_len(b), "and not");
    assert_eq!(x.xor_count(&y), a.symmetric_difference_len(b), "xor");
    for (result, expected) in
        [(x.and(&y), a & b), (x.or(&y), a | b), (x.and_not(&y), a - b), (x.xor(&y), a ^ b)]
    {
        result.view().verify().unwrap();
        assert_eq!(result.view().len(), expected.len());
        check_list(result.as_bytes(), &expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: unless_miri(64, 2), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn two_lists_meet_as_in_the_oracle(a in list(), b in list()) {
        let (x, y) = (theirs(&a), theirs(&b));
        let (x_plain, y_plain) = (theirs_without_runs(&a), theirs_without_runs(&b));
        for x in [&x, &x_plain] {
            for y in [&y, &y_plain] {
                check_pair(&a, &b, RoaringView::new(x).unwrap(), RoaringView::new(y).unwrap());
            }
        }
    }

    #[test]
    fn many_lists_meet_as_in_the_oracle(lists in vec(list(), 0..unless_miri(6, 4)), plain in any::<u8>()) {
        let bytes: Vec<Vec<u8>> = lists
            .iter()
            .enumerate()
            .map(|(i, list)| if plain >> i & 1 == 1 { theirs_without_runs(list) } else { theirs(list) })
            .collect();
        let views: Vec<_> = bytes.iter().map(|bytes| RoaringView::new(bytes).unwrap()).collect();
        let mut scratch = Scratch::new();
        let all = lists.iter().cloned().reduce(|a, b| a & b).map_or(1 << 32, |all| all.len());
        prop_assert_eq!(RoaringView::and_count_all(&views, &mut scratch), all);
        let any = lists.iter().cloned().reduce(|a, b| a | b).map_or(0, |any| any.len());
        prop_assert_eq!(RoaringView::or_count_all(&views, &mut scratch), any);
        // More lists than fit the stack, by repeating them, which changes neither.
        if !views.is_empty() {
            let often: Vec<_> = views.iter().copied().cycle().take(views.len() * 20).collect();
            prop_assert_eq!(RoaringView::and_count_all(&often, &mut scratch), all);
            prop_assert_eq!(RoaringView::or_count_all(&often, &mut scratch), any);
        }
    }

    #[test]
    fn the_same_set_gives_the_same_bytes(set in list()) {
        let ids: Vec<u32> = set.iter().collect();
        let mut ours = vec![0xEE; 3];
        write_sorted(&ids, &mut ours);
        check_list(&ours[3..], &set);
        let (ours_len, theirs_len) = (ours.len() - 3, theirs(&set).len());
        prop_assert!((theirs_len..=theirs_without_runs(&set).len()).contains(&ours_len));
        let view = RoaringView::new(&ours[3..]).unwrap();
        view.verify().unwrap();
        prop_assert!(RoaringBuf::from_sorted(ids.iter().copied()).as_bytes() == &ours[3..]);
        // From containers of any kind the same list comes out.
        for bytes in [theirs(&set), theirs_without_runs(&set)] {
            let view = RoaringView::new(&bytes).unwrap();
            let containers = (0..view.n_containers()).map(|i| {
                let (key, _, container) = view.container(i);
                (key, container)
            });
            let mut again = vec![];
            write_containers(containers, &mut again);
            prop_assert!(again == ours[3..]);
        }
    }

    #[test]
    fn a_list_answers_like_the_oracle(set in list(), probes in vec(any::<u32>(), 20), high in 0..6_u32) {
        for bytes in [theirs(&set), theirs_without_runs(&set)] {
            let view = RoaringView::new(&bytes).unwrap();
            prop_assert_eq!(view.serialized_len(), bytes.len());
            prop_assert_eq!(view.len(), set.len());
            prop_assert_eq!(view.is_empty(), set.is_empty());
            prop_assert_eq!((view.min(), view.max()), (set.min(), set.max()));
            prop_assert!(view.iter().eq(&set));
            let mut folded = vec![];
            view.iter().for_each(|value| folded.push(value));
            prop_assert!(set.iter().eq(folded));
            for &probe in &probes {
                let probe = if probe & 1 == 0 { probe } else { high << 16 | probe >> 16 };
                prop_assert_eq!(view.contains(probe), set.contains(probe));
                prop_assert_eq!(view.rank(probe), set.rank(probe));
                let n = probe % 100_000;
                prop_assert_eq!(view.select(u64::from(n)), set.select(n));
                prop_assert!(view.iter_from(probe).take(3000).eq(set.range(probe..).take(3000)));
            }
        }
    }
}

/// All kinds in which the values can be written, valid as an operand though not always smallest.
fn kinds(values: &[u16]) -> Vec<ContainerBuf> {
    let mut array = ContainerBuf::new();
    array.set_sorted(values.iter().copied());
    let mut bitmap = array.clone();
    bitmap.make_bitmap();
    let mut runs = ContainerBuf::new();
    let fits =
        runs.try_fill_runs(values.iter().map(|&value| u32::from(value)..u32::from(value) + 1));
    let mut all = vec![array, bitmap];
    all.extend(fits.then_some(runs));
    all
}

#[test]
fn every_pair_of_kinds_at_every_edge_of_size() {
    let shapes = EDGES.iter().flat_map(|&n| [Shape::Block(n), Shape::Spread(n)]);
    let others = [Shape::Scattered(3), Shape::Scattered(5000), Shape::Runs(90), Shape::Runs(2048)];
    let sets: Vec<Vec<u16>> = shapes
        .chain(others.into_iter().take(unless_miri(4, 1)))
        .enumerate()
        .map(|(seed, shape)| values(shape, seed as u64))
        .chain([vec![]])
        .collect();
    let mut out = ContainerBuf::new();
    for a in each_unless_miri(&sets, 6) {
        for b in each_unless_miri(&sets, 3) {
            let oracle = |values: &[u16]| {
                RoaringBitmap::from_iter(values.iter().map(|&value| u32::from(value)))
            };
            let (in_a, in_b) = (oracle(a), oracle(b));
            let expected = [&in_a & &in_b, &in_a | &in_b, &in_a - &in_b, &in_a ^ &in_b];
            for x in &kinds(a) {
                for y in &kinds(b) {
                    let (x_card, y_card) = (x.cardinality(), y.cardinality());
                    let (x, y) = (x.as_container(), y.as_container());
                    let counts = [and_count, or_count, and_not_count, xor_count];
                    let ops = [and, or, and_not, xor];
                    for ((count, op), expected) in counts.iter().zip(ops).zip(&expected) {
                        let n = count(x, x_card, y, y_card);
                        assert_eq!(u64::from(n), expected.len(), "{x:?} {y:?}");
                        op(x, y, &mut out);
                        assert_eq!(out.cardinality(), n, "{x:?} {y:?}");
                        assert!(
                            out.as_container().iter().map(u32::from).eq(expected),
                            "{x:?} {y:?}"
                        );
                    }
                    let mut together = ContainerBuf::new();
                    together.or_with(x);
                    together.or_with(y);
                    assert_eq!(u64::from(together.cardinality()), expected[1].len());
                    assert!(together.as_container().iter().map(u32::from).eq(&expected[1]));
                }
            }
        }
    }
}

#[test]
fn many_containers_meet_in_a_container_as_in_their_count() {
    let mut scratch = Scratch::new();
    let mut out = ContainerBuf::new();
    let shapes = unless_miri(
        &[
            Shape::Scattered(30_000),
            Shape::Runs(1500),
            Shape::Spread(4096),
            Shape::Scattered(9000),
            Shape::Block(65_536),
            Shape::Scattered(2),
        ][..],
        &[Shape::Spread(300), Shape::Runs(20), Shape::Block(40), Shape::Scattered(2)],
    );
    let buffers: Vec<ContainerBuf> = shapes
        .iter()
        .enumerate()
        .flat_map(|(seed, &shape)| kinds(&values(shape, seed as u64)))
        .collect();
    for chosen in each_unless_miri(unless_miri(0_u32, 1)..1 << buffers.len().min(12), 601) {
        let mut operands: Vec<(Container<'_>, u32)> = buffers
            .iter()
            .enumerate()
            .filter(|(i, _)| chosen >> i & 1 == 1)
            .map(|(_, buffer)| (buffer.as_container(), buffer.cardinality()))
            .take(4)
            .collect();
        or_all(&operands, &mut out);
        let mut expected = ContainerBuf::new();
        operands.iter().for_each(|(container, _)| expected.or_with(*container));
        assert_eq!(or_count_all(&operands, &mut scratch), expected.cardinality());
        assert!(out.as_container().iter().eq(expected.as_container().iter()));
        let in_all = |value: &u16| operands.iter().all(|(container, _)| container.contains(*value));
        let candidates: Vec<u16> = match operands.first() {
            Some((first, _)) if cfg!(miri) => first.iter().collect(),
            _ => (0..=u16::MAX).collect(),
        };
        let expected: Vec<u16> = candidates.into_iter().filter(in_all).collect();
        and_all(&mut operands, &mut scratch, &mut out);
        assert_eq!(and_count_all(&mut operands, &mut scratch) as usize, expected.len());
        assert!(out.as_container().iter().eq(expected));
    }
}

/// The collections that all roaring implementations measure with, pair by pair.
#[test]
#[cfg_attr(miri, ignore = "Miri starts no processes, and tar unpacks them")]
fn real_sets_meet_as_in_the_oracle() {
    for name in ["census1881", "wikileaks-noquotes"] {
        let Some(sets) = real_sets::real_sets(name) else { continue };
        let oracles: Vec<RoaringBitmap> = sets
            .iter()
            .map(|set| RoaringBitmap::from_sorted_iter(set.iter().copied()).unwrap())
            .collect();
        let lists: Vec<RoaringBuf> =
            sets.iter().map(|set| RoaringBuf::from_sorted(set.iter().copied())).collect();
        assert!(lists.len() > 100, "{name} has {} sets", lists.len());
        for (list, oracle) in lists.iter().zip(&oracles) {
            check_list(list.as_bytes(), oracle);
            list.view().verify().unwrap();
        }
        for (pair, oracle) in lists.windows(2).zip(oracles.windows(2)) {
            check_pair(&oracle[0], &oracle[1], pair[0].view(), pair[1].view());
        }
        let views: Vec<_> = lists.iter().map(RoaringBuf::view).collect();
        let all = oracles.iter().cloned().reduce(|a, b| a | b).unwrap();
        assert_eq!(RoaringView::or_count_all(&views, &mut Scratch::new()), all.len());
    }
}
