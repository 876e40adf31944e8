//! Columns of every encoding, and bytes that are not what was written.

use super::*;
use crate::format::doc_check;
use crate::test_sizes::{each_unless_miri, unless_miri};

fn section(docs: &[Vec<u64>]) -> Vec<u8> {
    let mut finder = FrameFinder::default();
    docs.iter().flatten().for_each(|code| finder.add(*code));
    section_in(finder.frame(docs.iter().all(|codes| !codes.is_empty())), docs)
}

fn section_in(frame: Frame, docs: &[Vec<u64>]) -> Vec<u8> {
    let (mut writer, mut bytes) = (ColumnWriter::new(frame), vec![]);
    docs.iter().for_each(|codes| writer.add(codes.iter().copied(), &mut bytes));
    writer.finish(&mut bytes);
    bytes
}

fn read(bytes: &[u8]) -> Result<Vec<Vec<u64>>> {
    let mut docs = vec![];
    let all = |_| true;
    Column::open(bytes)?.for_each(all, |doc, codes| {
        assert_eq!(doc as usize, docs.len());
        docs.push(codes.to_vec());
        Ok(())
    })?;
    Ok(docs)
}

/// Whoever goes over a column many times, for a few documents each, reads their blocks alone.
#[test]
fn blocks_of_which_nothing_is_wanted_are_left_out() {
    let n_docs = 3 * u64::from(BLOCK_DOCS) + 5;
    let bytes = section(&(0..n_docs).map(|doc| vec![doc * 3]).collect::<Vec<_>>());
    let column = Column::open(&bytes[..]).unwrap();
    for wanted in [0, BLOCK_DOCS - 1, BLOCK_DOCS, 3 * BLOCK_DOCS + 4] {
        let mut docs = vec![];
        let visit = |doc, codes: &[u64]| {
            assert_eq!(codes, [u64::from(doc) * 3]);
            docs.push(doc);
            Ok(())
        };
        column.for_each(|docs| docs.contains(&wanted), visit).unwrap();
        let first = wanted / BLOCK_DOCS * BLOCK_DOCS;
        let end = (first + BLOCK_DOCS).min(n_docs as u32);
        assert!(docs.into_iter().eq(first..end), "{wanted}");
    }
}

fn encodings(bytes: &[u8]) -> Vec<Encoding> {
    let column = Column::open(bytes).unwrap();
    (0..column.n_blocks()).map(|nth| column.head(nth).unwrap().encoding).collect()
}

#[test]
fn the_example_in_the_docs_is_what_we_write() {
    let bytes = section(&[vec![1_000], vec![], vec![1_030]]);
    let documented = doc_check::hex_dump(include_str!("mod.rs"));
    assert_eq!(documented, bytes, "{}", doc_check::render(&bytes));
    let layout = doc_check::layout(include_str!("mod.rs"));
    assert_eq!((layout["n_values"], layout["encoding"], layout["width"]), (32, 38, 39));
}

/// A frame that suits none of them.
const OF_NONE: Frame = Frame { base: 3, unit: 1, width: 0, gap: 0 };

/// A thousand blocks of all encodings, widths and units, and what lies at their edges.
fn blocks() -> Vec<(Encoding, Vec<Vec<u64>>)> {
    let n = unless_miri(u64::from(BLOCK_DOCS), 130);
    let one = |code: &dyn Fn(u64) -> u64| (0..n).map(|nth| vec![code(nth)]).collect();
    let few = |step: usize, code: &dyn Fn(u64) -> u64| {
        let doc = |nth: u64| {
            if (nth as usize).is_multiple_of(step) { vec![code(nth)] } else { vec![] }
        };
        (0..n).map(doc).collect::<Vec<_>>()
    };
    let mut blocks = vec![
        (Encoding::Empty, vec![vec![]; n as usize]),
        (Encoding::Full, one(&|_| 7)),
        (Encoding::Full, one(&|_| u64::MAX)),
        (Encoding::Full, one(&|nth| nth * 1_000_000)),
        (Encoding::Full, one(&|nth| if nth == 0 { 0 } else { u64::MAX })),
        (Encoding::Full, one(&|nth| u64::MAX - nth % 2)),
        (Encoding::Gaps, few(2, &|nth| 500 + nth % 9)),
        (Encoding::Gaps, few(2, &|_| 9)),
        (Encoding::Sparse, few(100, &|nth| nth << 20)),
        (Encoding::Gaps, few(2, &|nth| if nth == 0 { 0 } else { u64::MAX })),
        (Encoding::Sparse, few(2, &|nth| nth.wrapping_sub(2).max(nth % 4))),
        (Encoding::Sparse, few(2_000, &|_| 3)),
        (Encoding::Many, (0..n).map(|nth| (0..nth % 5).map(|n| n * 10).collect()).collect()),
        (Encoding::Many, (0..n).map(|nth| (nth % 3..3).collect()).collect()),
    ];
    for width in each_unless_miri(0..=64, 8) {
        let most = if width == 64 { u64::MAX } else { (1 << width) - 1 };
        let spread = |nth: u64| nth.wrapping_mul(0x9E37_79B9_7F4A_7C15) & most;
        blocks.push((Encoding::Full, one(&|nth| if nth == 1 { most } else { spread(nth) })));
    }
    blocks
}

#[test]
fn what_is_written_is_read_and_in_the_encoding_that_suits_it() {
    let mut all = vec![];
    for (nth, (encoding, block)) in blocks().into_iter().enumerate() {
        // One of each encoding, and two more widths.
        if cfg!(miri) && ![0, 4, 6, 8, 12, 15, 22].contains(&nth) {
            continue;
        }
        let bytes = section_in(OF_NONE, &block);
        assert_eq!(encodings(&bytes), [encoding]);
        assert_eq!(read(&bytes).unwrap(), block);
        let bytes = section(&block);
        let in_frame = match encoding {
            Encoding::Full | Encoding::Gaps => Encoding::Shared,
            other => other,
        };
        assert_eq!(encodings(&bytes), [in_frame]);
        assert_eq!(read(&bytes).unwrap(), block);
        Column::open(&bytes[..]).unwrap().verify().unwrap();
        all.extend(block);
    }
    all.truncate(all.len() - unless_miri(700, 30));
    assert!(Column::open(&section(&all)[..]).unwrap().plain().is_none());
    check(&all);
}

#[test]
fn codes_in_no_order_share_a_frame() {
    let n = unless_miri(5 * u64::from(BLOCK_DOCS) - 321, u64::from(BLOCK_DOCS) + 40);
    let mixed = |nth: u64| nth.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11;
    let codes: [&dyn Fn(u64) -> Option<u64>; 7] = [
        &|nth| Some(mixed(nth) % 300),
        &|nth| Some((1 << 63) + mixed(nth) % 3_000 * 86_400_000_000),
        &|nth| (mixed(nth) % 7 > 0).then(|| 17 + mixed(nth + n) % 300),
        &|nth| Some(mixed(nth) % 2 * u64::MAX),
        &|nth| Some(mixed(nth) << 11),
        // A block that would do with fewer bits: with one less, and with an eighth.
        &|nth| Some(mixed(nth) % if nth < 1_024 { 250 } else { 300 }),
        &|nth| Some(mixed(nth) % if nth < 1_024 { 1 << 16 } else { 1 << 18 }),
    ];
    for code in each_unless_miri(codes, 4) {
        let docs: Vec<Vec<u64>> = (0..n).map(|nth| code(nth).into_iter().collect()).collect();
        let bytes = section(&docs);
        let column = Column::open(&bytes[..]).unwrap();
        assert_eq!(column.n_shared, column.n_blocks());
        let plain = column.plain();
        assert_eq!(plain.is_some(), column.frame.width < 32);
        if let Some(plain) = plain {
            let (first, (base, unit)) = (plain.first(), plain.base_and_unit());
            let numbers = plain.numbers(8..column.n_docs()).unwrap();
            let places: Vec<u32> = (0..column.n_docs() - 8).collect();
            let mut out = vec![0; places.len()];
            numbers.get(&places, &mut out);
            let code = |number: u32| Some(base + unit * u64::from(number.checked_sub(first)?));
            assert!(
                out.into_iter().map(code).eq(docs[8..].iter().map(|codes| codes.first().copied()))
            );
            for code in docs.iter().flatten() {
                let number = plain.first_of(*code);
                assert_eq!(base + unit * u64::from(number - first), *code);
                let between = if unit > 1 && *code > base { code - 1 } else { *code };
                assert_eq!(plain.first_of(between), number);
            }
        }
        check(&docs);
    }
    let codes: [&dyn Fn(u64) -> Option<u64>; 3] = [
        &|nth| Some(mixed(nth) % if nth < 1_024 { 1 << 15 } else { 1 << 18 }),
        &|nth| (nth > 1_024).then(|| mixed(nth)),
        &|nth| Some((nth / 1_024) << 20 | nth),
    ];
    for code in each_unless_miri(codes, 2) {
        let docs: Vec<Vec<u64>> = (0..n).map(|nth| code(nth).into_iter().collect()).collect();
        let bytes = section(&docs);
        assert!(Column::open(&bytes[..]).unwrap().plain().is_none());
        check(&docs);
    }
}

#[test]
fn another_frame_than_that_of_all_codes_is_damage() {
    let docs = [vec![1_000], vec![], vec![1_030]];
    let frame = Frame { base: 1_000, unit: 30, width: 2, gap: 1 };
    assert_eq!(section(&docs), section_in(frame, &docs));
    for other in [
        Frame { base: 999, ..frame },
        Frame { base: 970, ..frame },
        Frame { unit: 15, ..frame },
        Frame { unit: 10, ..frame },
        Frame { width: 3, ..frame },
        Frame { gap: 0, ..frame },
        Frame { width: 1, gap: 0, ..frame },
    ] {
        let bytes = section_in(other, &docs);
        // Written documents can be read in any case.
        assert_eq!(read(&bytes).unwrap(), docs);
        assert!(Column::open(&bytes[..]).unwrap().verify().is_err(), "{other:?}");
    }
    let bytes = section_in(frame, &[vec![1_000], vec![1_030]]);
    assert!(Column::open(&bytes[..]).unwrap().verify().is_err(), "a gap that nobody needs");
}

/// Asks a column for everything in every way.
fn check(all: &[Vec<u64>]) {
    let bytes = section(all);
    let column = Column::open(&bytes[..]).unwrap();
    assert_eq!(read(&bytes).unwrap(), all);
    column.verify().unwrap();
    assert_eq!(column.n_docs() as usize, all.len());
    assert_eq!(column.n_values() as usize, all.iter().map(Vec::len).sum::<usize>());
    assert_eq!(column.n_with() as usize, all.iter().filter(|codes| !codes.is_empty()).count());
    let codes = || all.iter().flatten().copied();
    assert_eq!(column.range(), codes().min().zip(codes().max()));
    let mut heads = Heads::of(column);
    assert!(heads.get(column.n_blocks()).is_err());
    for nth in 0..column.n_blocks() {
        let head = column.head(nth).unwrap();
        assert_eq!(heads.get(nth).unwrap(), head);
        let block = column.block(nth, head).unwrap();
        let mut few = Few::new();
        let some = (0..column.docs_of(nth)).step_by(17).take(Few::MAX);
        let all_have_one =
            heads.few(some.clone().map(|place| nth * BLOCK_DOCS + place), &mut few).unwrap();
        assert_eq!(all_have_one, block.one_each().is_some());
        if all_have_one {
            let expected = some.clone().filter_map(|place| block.least(place));
            assert!(expected.eq(few.codes().iter().copied()));
            for (doc, code) in few.docs_and_codes() {
                assert_eq!((doc / BLOCK_DOCS, Some(code)), (nth, block.least(doc % BLOCK_DOCS)));
            }
            assert_eq!((few.n_docs, few.n_blocks), (some.count() as u64, 1));
        }
        if let Some(numbers) = block.one_each() {
            let places = 0..column.docs_of(nth);
            let mut some = each_unless_miri(places, 31);
            assert!(some.all(|place| numbers.code(place) == block.least(place)));
        }
        let docs = &all[(nth * BLOCK_DOCS) as usize..];
        for (place, codes) in each_unless_miri((0..BLOCK_DOCS).zip(docs), 31) {
            assert_eq!(block.least(place), codes.first().copied());
            assert_eq!(block.greatest(place), codes.last().copied());
            assert!(codes.iter().all(|code| block.contains(place, *code)));
            let others = codes.iter().map(|code| code ^ 1).filter(|code| !codes.contains(code));
            assert!(!others.into_iter().any(|code| block.contains(place, code)));
            assert!(codes.iter().all(|code| (head.least..=head.greatest).contains(code)));
        }
    }
}

#[test]
fn a_segment_without_documents_or_values_has_a_column() {
    assert_eq!(read(&section(&[])).unwrap(), Vec::<Vec<u64>>::new());
    let bytes = section(&[vec![], vec![]]);
    assert_eq!(Column::open(&bytes[..]).unwrap().range(), None);
    assert_eq!(read(&bytes).unwrap(), vec![Vec::<u64>::new(); 2]);
}

#[test]
fn times_to_the_second_take_the_bits_of_seconds() {
    let times = |unit: u64| -> Vec<Vec<u64>> {
        (0..1_024).map(|nth| vec![(1 << 63) + nth * nth % 977 * unit]).collect()
    };
    assert_eq!(section(&times(1)).len(), section(&times(1_000_000)).len());
}

#[test]
fn other_bytes_are_refused_or_read_without_harm() {
    let blocks = blocks();
    let of_each = [0, 1, 6, 8, 12].map(|nth| &blocks[nth].1[..]);
    if cfg!(miri) {
        return of_each.into_iter().for_each(change_and_cut);
    }
    let mut docs = of_each.concat();
    docs.truncate(docs.len() - 900);
    let encodings_of_all = [0, 1, 2, 3, 4].map(|nth| Encoding::of_number(nth).unwrap());
    assert_eq!(encodings(&section(&docs)), encodings_of_all);
    change_and_cut(&docs);
    // All blocks share the frame.
    let docs: Vec<Vec<u64>> = (0..3_000).map(|nth| vec![10 * (nth * 77 % 120)]).collect();
    let sound = section(&docs);
    let column = Column::open(&sound[..]).unwrap();
    assert!(column.plain().is_some());
    let from = column.directory_at as usize - 5;
    let (n_found, n_tried) = change(&sound, from..sound.len());
    assert!(n_found > n_tried * 3 / 4, "{n_found} found of {n_tried}");
}

#[test]
fn a_document_with_more_values_than_there_are_bytes_is_refused() {
    let mut crafted = section(&[vec![1, 2], vec![7]]);
    let head_at = Column::open(&crafted[..]).unwrap().directory_at as usize;
    // Four thousand million values of no bits.
    crafted[head_at + 32..head_at + 36].fill(0xFF);
    for width in [0, 1, 57] {
        crafted[head_at + 39] = width;
        assert!(read_all(&crafted).is_err(), "{width}");
    }
}

/// Changes bytes of the section of these documents, and cuts it short.
fn change_and_cut(docs: &[Vec<u64>]) {
    let sound = section(docs);
    let directory_at = Column::open(&sound[..]).unwrap().directory_at as usize;
    let in_blocks = each_unless_miri(0..directory_at, directory_at / 3 + 1);
    let rest = each_unless_miri(directory_at..sound.len(), 37);
    let (n_found, n_tried) = change(&sound, in_blocks.chain(rest));
    assert!(n_found > n_tried / 3, "{n_found} found of {n_tried}");
    for len in each_unless_miri(0..sound.len(), sound.len() / 3) {
        assert!(read_all(&sound[..len]).is_err(), "cut to {len}");
    }
}

/// Reads everything and verifies it.
fn read_all(bytes: &[u8]) -> Result<()> {
    let column = Column::open(bytes)?;
    // A tail that tells of millions of documents is found out by the length.
    assert!(u64::from(column.n_docs()) * 40 / 1_024 <= bytes.len() as u64);
    let mut heads = Heads::of(column);
    if column.n_docs() > 0 {
        heads.few([0, column.n_docs() - 1].into_iter(), &mut Few::new())?;
    }
    column.for_each(|_| true, |_, _| Ok(())).and_then(|()| column.verify())
}

/// Changes the bytes of a sound section one by one; how often that was found, and how often tried.
fn change(sound: &[u8], places: impl Iterator<Item = usize>) -> (u32, u32) {
    read_all(sound).unwrap();
    let (mut n_found, mut n_tried) = (0, 0);
    for at in places {
        for change in each_unless_miri([1, 0x80, 0xFF], 3) {
            n_tried += 1;
            let mut bytes = sound.to_vec();
            bytes[at] ^= change;
            match read_all(&bytes) {
                // Values of other documents, which have checksums and postings; written as they would be.
                Ok(()) => {
                    let frame = Column::open(&bytes[..]).unwrap().frame;
                    let again = section_in(frame, &read(&bytes).unwrap());
                    assert!(again == bytes, "{at} ^ {change}");
                }
                Err(_) => n_found += 1,
            }
        }
    }
    (n_found, n_tried)
}
