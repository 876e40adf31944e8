use super::*;
use crate::format::doc_check;
use crate::test_sizes::{each_unless_miri, unless_miri};

type Rows = Vec<Option<Vec<u8>>>;

fn write(rows: &Rows) -> (Vec<u8>, Vec<u8>) {
    let (mut stored, mut index) = (vec![], StoredIndexWriter::default());
    let mut chunk = ChunkWriter::default();
    let mut bytes = 0;
    for (doc, row) in rows.iter().enumerate() {
        chunk.add(row.as_deref());
        bytes += row.as_ref().map_or(0, Vec::len);
        if ChunkWriter::ends_chunk(doc as u32 + 1, bytes) || doc + 1 == rows.len() {
            let (from, n_docs) = (stored.len(), chunk.n_docs());
            chunk.finish(&mut stored);
            index.add(n_docs, (stored.len() - from) as u64);
            bytes = 0;
        }
    }
    (stored, index.finish())
}

fn check(rows: &Rows) {
    let (stored, index) = write(rows);
    let reader = StoredReader::open(&stored[..], &index[..]).unwrap();
    assert_eq!(reader.n_docs() as usize, rows.len());
    for (doc, row) in rows.iter().enumerate() {
        assert_eq!(&reader.row(doc as u32).unwrap(), row, "document {doc}");
    }
    assert!(reader.row(rows.len() as u32).is_err());
    let mut next = 0;
    let visited = reader.for_each(
        |_| true,
        |doc, row| {
            assert_eq!((doc, row), (next, rows[doc as usize].as_deref()));
            next += 1;
            Ok(())
        },
    );
    visited.unwrap();
    assert_eq!(next as usize, rows.len());
    // Rows of some documents alone, with few others beside them.
    for wanted in [0, rows.len() as u32 / 3, rows.len().saturating_sub(1) as u32] {
        let (mut n, mut found) = (0, None);
        let visited = reader.for_each(
            |docs| docs.contains(&wanted),
            |doc, row| {
                assert_eq!(row, rows[doc as usize].as_deref());
                n += 1;
                found = found.or((doc == wanted).then_some(doc));
                Ok(())
            },
        );
        visited.unwrap();
        assert!(n <= GROUP_ROWS, "{n} rows for one");
        assert_eq!(found, rows.get(wanted as usize).map(|_| wanted));
    }
}

#[test]
fn the_example_in_the_docs_is_what_we_write() {
    let (mut writer, mut stored) = (ChunkWriter::default(), vec![]);
    writer.rows.extend(b"ab");
    writer.ends.extend([(2, true), (2, false), (2, true)]);
    writer.finish_symbols(&mut stored);
    let documented = doc_check::hex_dump(include_str!("mod.rs"));
    assert_eq!(documented, stored, "{}", doc_check::render(&stored));
}

#[test]
fn the_layout_table_in_the_docs_matches_the_constants() {
    let fields = doc_check::layout(include_str!("mod.rs"));
    assert_eq!(fields["entries"], INDEX_HEADER_LEN);
}

#[test]
fn short_and_long_rows_come_back_one_by_one() {
    check(&vec![]);
    check(
        &(0..unless_miri(1000, 150))
            .map(|i| (i % 7 != 0).then(|| format!("title number {i}").into_bytes()))
            .collect(),
    );
    let long = each_unless_miri(0..300, 73);
    check(&long.map(|i| Some(format!("long {i} ").repeat(i * 3).into_bytes())).collect());
    check(&vec![
        Some(vec![b'x'; unless_miri(5 << 20, 20_000)]),
        None,
        Some(vec![]),
        Some(vec![b'y'; 100]),
    ]);
}

/// A row costs no more if little is stored: each is found among few.
#[test]
fn documents_that_store_nothing_are_read_among_few() {
    let (n_rows, n_checked) = unless_miri((65_536, 20_000), (700, 200));
    let rows: Rows = (0..n_rows).map(|i| (i % 9_999 == 0).then(|| vec![b'x'; 10])).collect();
    let (stored, index) = write(&rows);
    assert!(stored.len() < 10_000, "{} bytes", stored.len());
    let reader = StoredReader::open(&stored[..], &index[..]).unwrap();
    let (_, range) = reader.chunk(0).unwrap();
    let chunk = ChunkView::read(&stored[..], range).ok().unwrap();
    let firsts = (0..chunk.n_groups).map(|nth| chunk.group(nth).ok().unwrap().0);
    let firsts: Vec<_> = firsts.chain([chunk.n_docs]).collect();
    let rows_max = firsts.windows(2).map(|pair| pair[1] - pair[0]).max();
    assert_eq!(rows_max, Some(GROUP_ROWS as u32));
    check(&rows[..n_checked].to_vec());
}

#[test]
#[cfg_attr(miri, ignore = "a chunk ends after 65,536 documents")]
fn chunks_end_at_the_documents_they_must() {
    let rows: Rows = (0..70_000).map(|i| Some(format!("t{i}").into_bytes())).collect();
    let (stored, index) = write(&rows);
    let reader = StoredReader::open(&stored[..], &index[..]).unwrap();
    assert_eq!(reader.n_chunks, 2);
    for doc in [0, 1, 65_535, 65_536, 69_999] {
        assert_eq!(&reader.row(doc).unwrap(), &rows[doc as usize]);
    }
}

#[test]
fn damage_is_an_error_or_a_row_never_a_panic() {
    for mean in [10, 40, 400] {
        let rows: Rows = (0..130).map(|i| Some(vec![b'a' + (i % 26) as u8; mean])).collect();
        let (stored, index) = write(&rows);
        let quarter = stored.len() / 4;
        for at in each_unless_miri(0..stored.len(), quarter) {
            for flip in each_unless_miri([1, 0x80, 0xFF], 2) {
                let mut bad = stored.clone();
                bad[at] ^= flip;
                let reader = StoredReader::open(&bad[..], &index[..]).unwrap();
                // Whoever visits may count on that: it has room for so many.
                let _ = reader.for_each(
                    |_| true,
                    |doc, _| {
                        assert!(doc < 130, "byte {at}: document {doc}");
                        Ok(())
                    },
                );
                for doc in [0, 64, 129] {
                    let _ = reader.row(doc).map_err(|error| assert!(!error.to_string().is_empty()));
                }
            }
        }
        for len in 0..index.len() {
            assert!(StoredReader::open(&stored[..], &index[..len]).is_err());
        }
        for at in each_unless_miri(0..index.len(), 5) {
            let mut bad = index.clone();
            bad[at] ^= 0xFF;
            if let Ok(reader) = StoredReader::open(&stored[..], &bad[..]) {
                let _ = reader.row(64);
                assert!(reader.for_each(|_| true, |_, _| Ok(())).is_err(), "byte {at}");
            }
        }
    }
}

/// Chunks of these rows, and the entries of their index.
fn chunks(rows: &[Rows]) -> (Vec<u8>, Vec<(u32, u64)>) {
    let (mut stored, mut entries, mut n_docs) = (vec![], vec![], 0);
    for rows in rows {
        let mut chunk = ChunkWriter::default();
        rows.iter().for_each(|row| chunk.add(row.as_deref()));
        entries.push((n_docs, stored.len() as u64));
        n_docs += chunk.n_docs();
        chunk.finish(&mut stored);
    }
    (stored, entries)
}

fn index(entries: &[(u32, u64)], n_docs: u32) -> Vec<u8> {
    let mut index = [(entries.len() as u32).to_le_bytes(), n_docs.to_le_bytes()].concat();
    for (first, offset) in entries {
        index.extend(first.to_le_bytes());
        index.extend(offset.to_le_bytes());
    }
    index
}

/// Each of these is seen by one check alone; without it documents would have the rows of others, or none.
#[test]
fn an_index_that_contradicts_itself_or_its_chunks_is_refused() {
    let rows: Rows = (0..5).map(|n| Some(vec![b'a' + n; 9])).collect();
    let (stored, entries) = chunks(&[rows[..3].to_vec(), rows[3..].to_vec()]);
    let read = |stored: &[u8], index: &[u8]| {
        StoredReader::open(stored, index)?.for_each(|_| true, |_, _| Ok(()))
    };
    read(&stored, &index(&entries, 5)).unwrap();
    let longer = [&index(&entries, 5)[..], &[0; 12]].concat();
    assert!(read(&stored, &longer).is_err(), "an entry that is not counted");
    assert!(read(&stored, &index(&[], 5)).is_err(), "documents without chunks");
    let later: Vec<_> = entries.iter().map(|(first, at)| (first + 1, *at)).collect();
    assert!(read(&stored, &index(&later, 6)).is_err(), "nothing of the first document");
    let mut none = [CODEC_LZ4, 0, 0, 0].to_vec();
    none.extend([0; CHUNK_HEADER_LEN - 4]);
    let later = entries.iter().map(|(first, at)| (*first, at + none.len() as u64));
    let with_none: Vec<_> = [(0, 0)].into_iter().chain(later).collect();
    let stored_with_none = [&none[..], &stored].concat();
    assert!(read(&stored_with_none, &index(&with_none, 5)).is_err(), "a chunk of no document");
    let backwards = index(&[(0, entries[1].1), (3, 0)], 5);
    assert!(StoredReader::open(&stored[..], &backwards[..]).unwrap().row(0).is_err());
}

#[test]
fn chunks_of_an_unknown_codec_are_refused() {
    let (mut stored, entries) = chunks(&[vec![Some(b"abc".to_vec())]]);
    let index = index(&entries, 1);
    assert_eq!(stored[0], CODEC_LZ4);
    for codec in [0, 3, 0xFF] {
        stored[0] = codec;
        let reader = StoredReader::open(&stored[..], &index[..]).unwrap();
        assert!(
            reader.row(0).is_err() && reader.for_each(|_| true, |_, _| Ok(())).is_err(),
            "{codec}"
        );
    }
}

#[test]
fn no_memory_is_taken_for_what_a_group_cannot_hold() {
    for (claimed, len) in [(100 << 20, 1_000), (2 * ROW_BYTES_MAX + 1, 1 << 20)] {
        let mut group = vec![];
        write_varint(&mut group, claimed as u64);
        group.resize(len, 0);
        let mut plain = vec![];
        assert_eq!(lz4_group(&group, &mut plain), None);
        assert_eq!(plain.capacity(), 0, "{claimed} of {len} bytes");
    }
}

/// A chunk without values, of groups that each begin with a document and have so many rows.
fn chunk_of(n_docs: u32, groups: &[(u32, usize)]) -> Vec<u8> {
    let mut chunk = vec![CODEC_LZ4, 0, 0, 0];
    chunk.extend(n_docs.to_le_bytes());
    chunk.extend((groups.len() as u32).to_le_bytes());
    let mut data = vec![];
    for &(first, n_rows) in groups {
        let at = CHUNK_HEADER_LEN + 8 * groups.len() + data.len();
        chunk.extend(first.to_le_bytes());
        chunk.extend((at as u32).to_le_bytes());
        write_varint(&mut data, n_rows as u64);
        data.extend(lz4_flex::block::compress(&vec![0; n_rows]));
    }
    chunk.extend(data);
    chunk
}

/// Whoever visits all rows has room for those that the index says, and a file says nothing of what it costs to read it.
#[test]
fn chunks_and_groups_have_no_more_rows_than_the_index_says() {
    let visit = |n_docs: u32, chunk: Vec<u8>| {
        let mut index = StoredIndexWriter::default();
        index.add(n_docs, chunk.len() as u64);
        let index = index.finish();
        let mut n_visited = 0;
        let reader = StoredReader::open(&chunk[..], &index[..]).unwrap();
        let visited = reader.for_each(
            |_| true,
            |doc, row| {
                assert!(doc < n_docs && row.is_none(), "document {doc} of {n_docs}");
                n_visited += 1;
                Ok(())
            },
        );
        visited.map(|()| n_visited)
    };
    assert_eq!(visit(100, chunk_of(100, &[(0, 60), (60, 40)])).unwrap(), 100);
    for (n_docs, chunk) in [
        (100, chunk_of(200, &[(0, 200)])),
        (100, chunk_of(50, &[(0, 50)])),
        (100, chunk_of(100, &[(0, 200), (200, 0)])),
        (100, chunk_of(100, &[(10, 90)])),
        (2, chunk_of(2, &[(0, 2), (2, 0), (2, 0)])),
        (CHUNK_DOCS_MAX + 1, chunk_of(CHUNK_DOCS_MAX + 1, &[(0, CHUNK_DOCS_MAX as usize + 1)])),
    ] {
        assert_eq!(visit(n_docs, chunk).unwrap_err().kind(), crate::error::ErrorKind::Corrupt);
    }
    // A chunk in front of another is as long as that says, whatever there are in all.
    let (first, second) = (chunk_of(200, &[(0, 200)]), chunk_of(1, &[(0, 1)]));
    let index = index(&[(0, 0), (200, first.len() as u64)], 100);
    let stored = [first, second].concat();
    let reader = StoredReader::open(&stored[..], &index[..]).unwrap();
    let visited = reader.for_each(|_| true, |doc, _| panic!("document {doc} of 100"));
    assert_eq!(visited.unwrap_err().kind(), crate::error::ErrorKind::Corrupt);
}

/// A single document is found on another way than all of them, by checks of its own.
#[test]
fn a_document_that_the_index_or_its_chunk_does_not_have_is_refused() {
    let rows: Rows = (0..5).map(|n| Some(vec![b'a' + n; 9])).collect();
    let (stored, entries) = chunks(&[rows]);
    let row = |n_docs: u32, doc: u32| {
        let index = index(&entries, n_docs);
        StoredReader::open(&stored[..], &index[..]).unwrap().row(doc)
    };
    assert!(row(5, 4).unwrap().is_some() && row(7, 4).unwrap().is_some());
    for (n_docs, doc) in [(5, 5), (5, 6), (4, 4), (3, 4), (7, 5), (7, 6)] {
        assert!(row(n_docs, doc).is_err(), "{doc} of {n_docs}");
    }
}

#[test]
fn a_group_that_reaches_into_the_next_chunk_is_refused() {
    let short =
        |n: u32| Some(format!("a text that is neither short nor long, number {n}").into_bytes());
    let rows: Rows = (0..130).map(short).collect();
    let (mut stored, entries) = chunks(&[rows.clone(), rows.clone()]);
    let index = index(&entries, 260);
    assert_eq!((stored[0], stored[8]), (CODEC_SYMBOLS, 3), "three groups");
    let row = |stored: &[u8]| StoredReader::open(stored, &index[..]).unwrap().row(0);
    assert_eq!(row(&stored).unwrap(), rows[0]);
    let second = CHUNK_HEADER_LEN + SymbolTable::byte_len(stored[1].into()) + 8;
    let chunk_len = entries[1].1 as u32;
    for (end, is_inside) in [(chunk_len, true), (chunk_len + 1, false)] {
        stored[second + 4..][..4].copy_from_slice(&end.to_le_bytes());
        assert_eq!(row(&stored).is_ok(), is_inside, "{end} of {chunk_len}");
    }
}

#[test]
fn a_table_of_as_many_symbols_as_there_may_be_is_read() {
    let mut random = 1u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 56) as u8
    };
    let n = unless_miri(500, 200);
    let rows: Rows = (0..n).map(|_| Some((0..100).map(|_| next()).collect())).collect();
    let (stored, entries) = chunks(std::slice::from_ref(&rows));
    assert_eq!((stored[0], usize::from(stored[1])), (CODEC_SYMBOLS, SYMBOLS_MAX));
    let index = index(&entries, n);
    let reader = StoredReader::open(&stored[..], &index[..]).unwrap();
    for (doc, row) in (0..).zip(&rows) {
        assert_eq!(reader.row(doc).unwrap(), *row);
    }
}

#[test]
fn a_group_is_as_long_as_it_is_whatever_it_claims() {
    let mut group = vec![];
    write_varint(&mut group, 100);
    group.extend(lz4_flex::block::compress(&[7; 50]));
    let mut plain = vec![];
    lz4_group(&group, &mut plain).unwrap();
    assert_eq!(plain, [7; 50]);
}

#[test]
#[cfg_attr(miri, ignore = "the longest row has 64 MiB")]
fn every_row_up_to_the_longest_comes_back() {
    let longest = vec![b'x'; ROW_BYTES_MAX];
    let (stored, entries) = chunks(&[vec![Some(longest.clone())]]);
    let index = index(&entries, 1);
    let row = StoredReader::open(&stored[..], &index[..]).unwrap().row(0).unwrap();
    assert!(row.is_some_and(|row| row == longest));
}
