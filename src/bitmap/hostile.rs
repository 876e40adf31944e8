//! Tests with damaged and crafted lists. A wrong head is an error, a wrong value at worst a wrong answer, and
//! [`RoaringView::verify`] finds every fault.

use super::laws::{Shape, values};
use super::*;
use crate::test_sizes::{each_unless_miri, unless_miri};
use roaring::RoaringBitmap;

/// Small lists of both forms, with and without offsets, with every kind.
fn lists() -> Vec<Vec<u8>> {
    let id = |key: u32| move |low: u32| key << 16 | low;
    let sets: Vec<Vec<u32>> = vec![
        vec![],
        vec![7],
        vec![3, 5, 70_000, 70_001, u32::MAX],
        (0..20).map(id(0)).chain([65_536, 65_538]).collect(),
        (0..20).map(id(0)).chain((100..140).map(id(0))).collect(),
        (0..5)
            .flat_map(|key| [key << 16 | 9, key << 16 | 1000])
            .chain((0..30).map(id(7)))
            .collect(),
        (0..10).flat_map(|key| (0..8).map(id(key))).collect(),
    ];
    sets.iter().map(|set| RoaringBuf::from_sorted(set.iter().copied()).into_bytes()).collect()
}

/// Asks a list everything; only bounds are checked, for the answers may be lies.
fn ask_everything(view: RoaringView<'_>, other: RoaringView<'_>, scratch: &mut Scratch) {
    let most = view.n_containers() as u64 * (1 << 16);
    assert!(view.len() <= most);
    assert!(view.iter().count() as u64 <= most);
    let mut folded = 0;
    view.iter().for_each(|_| folded += 1);
    assert!(folded <= most);
    for probe in [0, 9, 65_535, 65_536, 70_001, u32::MAX] {
        view.contains(probe);
        assert!(view.rank(probe) <= most);
        view.select(u64::from(probe));
        assert!(view.iter_from(probe).count() as u64 <= most);
    }
    assert!(view.min().is_none() == view.is_empty());
    view.max();
    for (a, b) in [(view, other), (other, view), (view, view)] {
        let most = most + other.n_containers() as u64 * (1 << 16);
        for count in [a.and_count(&b), a.or_count(&b), a.and_not_count(&b), a.xor_count(&b)] {
            assert!(count <= most);
        }
        for list in [a.and(&b), a.or(&b), a.and_not(&b), a.xor(&b)] {
            RoaringView::new(list.as_bytes()).expect("what we write has a sound head");
            assert!(list.view().iter().count() as u64 <= most);
        }
        let all = [a, b, a];
        assert!(RoaringView::and_count_all(&all, scratch) <= most);
        assert!(RoaringView::or_count_all(&all, scratch) <= most);
    }
}

/// A list that passes `new` must bear all questions, and one that passes `verify` must be a list
/// to the oracle too.
fn check(bytes: &[u8], other: RoaringView<'_>, scratch: &mut Scratch) {
    let Ok(view) = RoaringView::new(bytes) else { return };
    ask_everything(view, other, scratch);
    if view.verify().is_ok() {
        let oracle = RoaringBitmap::deserialize_from(bytes).expect("verified");
        assert_eq!(oracle.len(), view.len(), "{bytes:02X?}");
        assert!(oracle.iter().eq(view.iter()));
    }
}

#[test]
fn every_changed_byte_is_an_error_or_a_list() {
    let (end, from, past) = unless_miri((300, 65_000, 70_100), (30, 65_500, 65_570));
    let other = RoaringBuf::from_sorted((0..end).chain(from..past));
    let mut scratch = Scratch::new();
    for list in lists() {
        for at in each_unless_miri(0..list.len(), 37) {
            for change in each_unless_miri(1..=u8::MAX, 255) {
                let mut bytes = list.clone();
                bytes[at] ^= change;
                check(&bytes, other.view(), &mut scratch);
            }
        }
    }
}

#[test]
fn every_cut_is_an_error() {
    for list in lists() {
        for len in each_unless_miri(0..list.len(), 5) {
            assert!(RoaringView::new(&list[..len]).is_err(), "{len} of {list:02X?}");
            let header = RoaringHeader::header_len(&list[..len.min(8)], len);
            if let Ok(header_len) = header {
                assert!(header_len <= len);
                assert!(RoaringHeader::parse(&list[..header_len], len).is_err());
            }
        }
        let longer = [&list[..], &[0]].concat();
        assert!(RoaringView::new(&longer).is_err(), "one byte more");
    }
}

#[test]
fn the_head_alone_says_where_everything_lies() {
    for list in lists() {
        let header_len = RoaringHeader::header_len(&list[..8], list.len()).unwrap();
        let head = &list[..header_len];
        let header = RoaringHeader::parse(head, list.len()).unwrap();
        let view = RoaringView::new(&list).unwrap();
        assert_eq!(header.n_containers(), view.n_containers());
        for i in 0..header.n_containers() {
            let (key, cardinality, container) = view.container(i);
            assert_eq!((header.key(head, i), header.cardinality(head, i)), (key, cardinality));
            assert_eq!(header.find(head, key), Ok(i));
            let payload = &list[header.payload_range(head, i)];
            let again = container_from(header.kind(head, i), cardinality, payload).unwrap();
            assert!(again.iter().eq(container.iter()));
        }
        let keys: Vec<u16> = (0..view.n_containers()).map(|i| view.container(i).0).collect();
        for key in [0, 1, 2, 4000, u16::MAX] {
            assert_eq!(header.find(head, key), keys.binary_search(&key));
        }
        // The bytes of another list give other answers, and no panic.
        for i in 0..header.n_containers() + 2 {
            header.kind(&[], i);
            header.payload_range(&[1, 2, 3], i);
        }
    }
}

/// Lies that keep every size right: only `verify` can tell.
#[test]
fn every_lie_of_a_value_is_found_and_harmless() {
    let le16 =
        |values: &[u16]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let one = |cardinality: u32, payload: &[u8]| {
        [&le16(&[12_346, 0, 1, 0, 0, (cardinality - 1) as u16, 16, 0])[..], payload].concat()
    };
    let runs = |cardinality: u32, runs: &[u16]| {
        let head = [12_347, 0].map(u16::to_le_bytes).concat();
        let rest = le16(&[0, (cardinality - 1) as u16, (runs.len() / 2) as u16]);
        [&head[..], &[1], &rest, &le16(runs)].concat()
    };
    let unsorted: Vec<u16> = (0..4096_u16).map(|i| i.wrapping_mul(40_503)).collect();
    let lies = [
        one(2, &le16(&[5, 3])),
        one(2, &le16(&[5, 5])),
        one(4096, &le16(&[9; 4096])),
        one(4096, &le16(&unsorted)),
        one(5000, &[0; 8192]),
        one(5000, &[0xFF; 8192]),
        one(65_536, &[unless_miri(0x55, 0x01); 8192]),
        one(65_535, &[0xFF; 8192]),
        runs(10, &[4, 3]),
        runs(4, &[65_534, 3]),
        runs(20, &[5, 9, 10, 9]),
        runs(20, &[5, 9, 15, 9]),
        runs(20, &[50, 9, 10, 9]),
        runs(65_536, &[0; unless_miri(65_534, 600)]),
        runs(65_536, &[0, 65_535].repeat(unless_miri(32_768, 300))),
        runs(65_536, &[1, unless_miri(65_534, 2_000)].repeat(unless_miri(20_000, 300))),
    ];
    let shapes = unless_miri(
        &[Shape::Scattered(300), Shape::Scattered(30_000), Shape::Runs(900), Shape::Block(65_536)]
            [..],
        &[Shape::Scattered(30), Shape::Runs(20)],
    );
    let honest = shapes.iter().map(|shape| values(*shape, 5).into_iter().map(u32::from));
    let mut honest: Vec<RoaringBuf> = honest.map(RoaringBuf::from_sorted).collect();
    honest.extend(lies[2..7].iter().map(|lie| RoaringBuf::from_bytes(lie.clone()).unwrap()));
    let mut scratch = Scratch::new();
    for (i, lie) in lies.iter().enumerate() {
        let view = RoaringView::new(lie).unwrap_or_else(|error| panic!("lie {i}: {error}"));
        assert!(view.verify().is_err(), "lie {i}");
        // Under Miri each third lie, with one list: now an array, now runs or bits.
        if cfg!(miri) && i % 3 > 0 {
            continue;
        }
        let others = honest.iter().cycle().skip(i / 3).take(honest.len());
        for other in each_unless_miri(others, honest.len()) {
            bounds_hold(view, other.view(), &mut scratch);
        }
    }
}

/// Like [`ask_everything`], but for containers whose minimum may be missing.
fn bounds_hold(view: RoaringView<'_>, other: RoaringView<'_>, scratch: &mut Scratch) {
    let (_, card, container) = view.container(0);
    let (_, other_card, other_container) = other.container(0);
    assert!(container.iter().count() <= 1 << 16);
    assert!(container.cardinality() <= 1 << 16 && container.rank(u16::MAX) <= 1 << 16);
    for n in [0, 100, 65_535] {
        container.select(n);
        container.contains(n as u16);
        assert!(container.iter_from(n as u16).count() <= 1 << 16);
    }
    let mut out = ContainerBuf::new();
    let (a, b) = ((container, card), (other_container, other_card));
    for ((x, x_card), (y, y_card)) in each_unless_miri([(a, b), (b, a), (a, a)], 3) {
        for count in [and_count, or_count, and_not_count, xor_count] {
            assert!(count(x, x_card, y, y_card) <= 1 << 16);
        }
        for op in [and, or, and_not, xor] {
            op(x, y, &mut out);
            assert!(out.cardinality() <= 1 << 16);
            assert!(out.as_container().iter().count() <= 1 << 16);
            let mut bytes = vec![];
            write_containers([(0, out.as_container())], &mut bytes);
            RoaringView::new(&bytes).expect("what we write has a sound head");
        }
        let mut operands = [(x, x_card), (y, y_card), (x, x_card), (y, y_card)];
        assert!(and_count_all(&mut operands, scratch) <= 1 << 16);
        assert!(or_count_all(&operands, scratch) <= 1 << 16);
        and_all(&mut operands, scratch, &mut out);
        or_all(&operands, &mut out);
    }
}
