//! Files beyond what 32 bits count, on a real disk: a segment of more than 4 GiB, and one write of 3 GiB.
//!
//! The long form only: some 14 GB of disk and 3 GiB of memory.

use crate::content::noise;
use crate::place::{Place, long_or};
use treepie::storage::{FsStorage, ReadMode, Storage};
use treepie::{DocId, Document, Index, Schema, Searcher, WriterOptions};

const VALUE_BYTES: usize = 1 << 20;
/// More than 4 GiB of values.
const DOCUMENTS: u64 = 4_300;

fn is_wanted() -> bool {
    long_or("TREEPIE_PROCESSES_LARGE", 0) > 0
}

/// A MiB that no compression makes smaller, as one token that no dictionary takes, and two words.
fn text(n: u64) -> String {
    let mut text = String::with_capacity(VALUE_BYTES + 32);
    for nth in 0.. {
        if text.len() >= VALUE_BYTES {
            break;
        }
        // Of 64 different characters, so that not even entropy coding would gain much.
        let mut bits = noise(n << 24 | nth);
        for _ in 0..10 {
            text.push(char::from(
                b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyzxy"
                    [bits as usize % 64],
            ));
            bits >>= 6;
        }
    }
    format!("{text} number{n} rest{}", n % 7)
}

fn assert_is_all_there(searcher: &Searcher, documents: u64) {
    let count = |text: &str| searcher.count(&searcher.parse(text).unwrap()).unwrap();
    assert_eq!((searcher.n_docs(), count("*")), (documents, documents));
    assert_eq!(count("rest3"), (0..documents).filter(|n| n % 7 == 3).count() as u64);
    for n in [0, 1, documents / 2, documents - 2, documents - 1] {
        let query = searcher.parse(&format!("number{n}")).unwrap();
        let hits = searcher.search(&query).run().unwrap();
        assert_eq!(hits.hits.len(), 1);
        assert_eq!(hits.hits[0].doc, DocId(n));
        assert!(hits.hits[0].fields["text"].to_string() == text(n), "document {n}");
    }
}

#[test]
fn a_segment_of_more_than_4_gib_is_written_searched_and_merged() {
    if !is_wanted() {
        return;
    }
    let place = Place::new("large");
    let index = Index::create(place.index(), Schema::builder().text("text").build().unwrap());
    let index = index.unwrap();
    let mut writer = index.writer_with(WriterOptions::new().memory_bytes(64 << 20)).unwrap();
    let add = |writer: &mut treepie::IndexWriter, range: std::ops::Range<u64>| {
        range.for_each(|n| writer.add(Document::new().with("text", text(n))).unwrap());
        writer.commit().unwrap()
    };
    let commit = add(&mut writer, 0..DOCUMENTS);
    assert_eq!((commit.segments, commit.tokens_skipped), (1, DOCUMENTS));
    let largest = || {
        let files = std::fs::read_dir(place.index()).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().len()).max().unwrap()
    };
    let bytes = largest();
    assert!(bytes > 1 << 32, "{bytes} bytes");
    println!("a segment of {bytes} bytes, {} runs", commit.runs_spilled);

    let check = |documents: u64| {
        for mode in [ReadMode::Mmap, ReadMode::Pread] {
            let index = Index::options().read_mode(mode).open(place.index()).unwrap();
            let report = index.inspect().unwrap().verify(|error| panic!("{error}"));
            assert!(report.is_sound() && report.bytes > 1 << 32, "{report:?}");
            assert_is_all_there(&index.searcher().unwrap(), documents);
        }
    };
    check(DOCUMENTS);
    add(&mut writer, DOCUMENTS..DOCUMENTS + 50);
    let merged = writer.merge().unwrap();
    assert_eq!((merged.segments, merged.documents), (1, DOCUMENTS + 50));
    println!("merged: {} bytes", largest());
    check(DOCUMENTS + 50);
}

#[test]
fn one_write_of_3_gib_arrives_whole() {
    if !is_wanted() {
        return;
    }
    const BYTES: usize = 3 << 30;
    let at = |offset: usize| noise(offset as u64 >> 3).to_le_bytes()[offset & 7];
    let place = Place::new("write");
    let storage = FsStorage::create(place.index(), ReadMode::Pread).unwrap();
    let mut bytes = Vec::with_capacity(BYTES + 1);
    (0..BYTES >> 3).for_each(|word| bytes.extend(noise(word as u64).to_le_bytes()));
    bytes.push(7);
    let mut file = storage.create("seg").unwrap();
    file.write_all(b"before").unwrap();
    file.write_all(&bytes).unwrap();
    file.write_all(b"behind").unwrap();
    file.sync().unwrap();
    drop(bytes);
    let file = storage.open("seg").unwrap();
    assert_eq!(file.len(), BYTES as u64 + 13);
    let mut part = vec![0; 1 << 20];
    for first in (0..BYTES).step_by(part.len()) {
        file.read_at(first as u64 + 6, &mut part).unwrap();
        let same = part.iter().enumerate().all(|(nth, byte)| *byte == at(first + nth));
        assert!(same, "from {first} on");
    }
    let mut ends = [[0; 6], [0; 6]];
    file.read_at(0, &mut ends[0]).unwrap();
    file.read_at(BYTES as u64 + 7, &mut ends[1]).unwrap();
    assert_eq!(ends, [*b"before", *b"behind"]);
    // And in one piece, by one call.
    let mut whole = vec![0; BYTES];
    file.read_at(6, &mut whole).unwrap();
    assert!(whole.chunks_exact(8).enumerate().all(|(n, c)| *c == noise(n as u64).to_le_bytes()));
}
