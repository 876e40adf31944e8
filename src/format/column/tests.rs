//! Columns of every encoding, and bytes that are not what was written.

use super::*;
use crate::format::doc_check;
use crate::test_sizes::each_unless_miri;

fn section(docs: &[Vec<u64>]) -> Vec<u8> {
    let (mut writer, mut bytes) = (ColumnWriter::default(), vec![]);
    docs.iter().for_each(|codes| writer.add(codes.iter().copied(), &mut bytes));
    writer.finish(&mut bytes);
    bytes
}

fn read(bytes: &[u8]) -> Result<Vec<Vec<u64>>> {
    let mut docs = vec![];
    Column::open(bytes)?.for_each(|doc, codes| {
        assert_eq!(doc as usize, docs.len());
        docs.push(codes.to_vec());
        Ok(())
    })?;
    Ok(docs)
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

/// A thousand blocks of all encodings, widths and units, and what lies at their edges.
fn blocks() -> Vec<(Encoding, Vec<Vec<u64>>)> {
    let n = u64::from(BLOCK_DOCS);
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
        let bytes = section(&block);
        assert_eq!(encodings(&bytes), [encoding]);
        assert_eq!(read(&bytes).unwrap(), block);
        Column::open(&bytes[..]).unwrap().verify().unwrap();
        all.extend(block);
    }
    all.truncate(all.len() - 700);
    let bytes = section(&all);
    let column = Column::open(&bytes[..]).unwrap();
    assert_eq!(read(&bytes).unwrap(), all);
    column.verify().unwrap();
    assert_eq!(column.n_docs() as usize, all.len());
    assert_eq!(column.n_values() as usize, all.iter().map(Vec::len).sum::<usize>());
    assert_eq!(column.n_with() as usize, all.iter().filter(|codes| !codes.is_empty()).count());
    assert_eq!(column.range(), Some((0, u64::MAX)));
    let mut heads = Heads::of(column);
    assert!(heads.get(column.n_blocks()).is_err());
    for nth in 0..column.n_blocks() {
        let head = column.head(nth).unwrap();
        assert_eq!(heads.get(nth).unwrap(), head);
        let block = column.block(nth, head).unwrap();
        let mut few = Few::new();
        let some = (0..column.docs_of(nth)).step_by(17).take(Few::MAX);
        let all_have_one = heads.few(some.clone().map(|place| (nth, place)), &mut few).unwrap();
        assert_eq!(all_have_one, block.one_each().is_some());
        if all_have_one {
            let expected = some.clone().filter_map(|place| block.least(place));
            assert!(expected.eq(few.codes().iter().copied()));
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
    let (mut docs, blocks) = (vec![], blocks());
    for nth in [0, 1, 6, 8, 12] {
        docs.extend_from_slice(&blocks[nth].1);
    }
    docs.truncate(docs.len() - 900);
    let encodings_of_all = [0, 1, 2, 3, 4].map(|nth| Encoding::of_number(nth).unwrap());
    let sound = section(&docs);
    let column = |bytes: &[u8]| {
        let column = Column::open(bytes)?;
        // A tail that tells of millions of documents is found out by the length.
        assert!(u64::from(column.n_docs()) * 40 / 1_024 <= bytes.len() as u64);
        column.for_each(|_, _| Ok(())).and_then(|()| column.verify())
    };
    assert_eq!(encodings(&sound), encodings_of_all);
    column(&sound).unwrap();
    let (mut n_tried, mut n_found) = (0, 0);
    let directory_at = Column::open(&sound[..]).unwrap().directory_at as usize;
    let in_blocks = each_unless_miri(0..directory_at, directory_at / 3);
    for at in in_blocks.chain(each_unless_miri(directory_at..sound.len(), 37)) {
        for change in each_unless_miri([1, 0x80, 0xFF], 3) {
            n_tried += 1;
            let mut bytes = sound.clone();
            bytes[at] ^= change;
            match column(&bytes) {
                // Values of other documents, which have checksums and postings; written as they would be.
                Ok(()) => assert!(section(&read(&bytes).unwrap()) == bytes, "{at} ^ {change}"),
                Err(_) => n_found += 1,
            }
        }
    }
    assert!(n_found > n_tried / 3, "{n_found} found of {n_tried}");
    // A document with four thousand million values of no bits.
    let mut crafted = section(&[vec![1, 2], vec![7]]);
    let head_at = Column::open(&crafted[..]).unwrap().directory_at as usize;
    crafted[head_at + 32..head_at + 36].fill(0xFF);
    for width in [0, 1, 57] {
        crafted[head_at + 39] = width;
        assert!(column(&crafted).is_err(), "{width}");
    }
    for len in each_unless_miri(0..sound.len(), sound.len() / 3) {
        assert!(column(&sound[..len]).is_err(), "cut to {len}");
    }
}
