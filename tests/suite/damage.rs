//! Damage: whatever happens to the bytes of an index, it answers right or says what is wrong.
//!
//! A small index is opened again and again with one thing wrong: a file missing, cut short, or with
//! one byte changed. Every question must then get a typed error or exactly the answer of the sound
//! index; verification must see every change of a segment that is in use; and a merge must never
//! turn damage into a sound index of wrong answers. A second round puts right checksums on the
//! changed bytes, as somebody who means harm would: then nothing may panic.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use treepie::highlight::{Passage, PassageOptions};
use treepie::storage::{FsStorage, MemoryStorage, ReadMode, Storage};
use treepie::{
    DocId, Document, ErrorKind, FacetCounts, Field, FieldKind, Fields, Hit, Index, Result, Schema,
    Searcher, Total, TotalMode, WriterOptions,
};

/// The files of an index by name.
type Files = BTreeMap<String, Vec<u8>>;

/// One thing that goes wrong with a file.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Missing,
    Cut(usize),
    Changed { at: usize, xor: u8 },
}

/// What a question got.
#[derive(Debug, PartialEq)]
enum Answer {
    Count(u64),
    Page(Total, Vec<Hit>, Vec<FacetCounts>),
    Plan(String),
    Document(Fields),
    Passages(Vec<Passage>),
}

/// Lists of every encoding: `all` and `even` are long, `n3` is short, `w7` lies in the dictionary.
const QUERIES: [&str; 17] = [
    "all",
    "even",
    "n3",
    "w7",
    "absent",
    "all AND n3",
    "even AND NOT n4",
    "w7 OR w8 OR n5 OR even",
    "kind:k2 AND all",
    "kind:\"\"",
    "kind:*",
    "NOT all",
    "\"all even\" OR \"word0 word2 word4\"~>3",
    "\"all even n2\"~1 -\"odd n\"*",
    "\"all even\"",
    "\"even n2\"~2",
    "+all even^2 n3 -n4",
];
/// What is marked, in a text of the length of a title: the index alone says where.
const MARKED: &str = "\"all even\" n3 w7 OR \"word0 word2 word4\"~>3";
const TITLE: &str =
    "---------------------------------------------------------------------------------";
/// The queries of which the best are looked for as well.
const RANKED_FROM: usize = 14;
const DOCS: u64 = 600 + 24;

/// Two commits: one of a segment of short titles, then another segment, of long texts, beside it.
fn sound() -> Files {
    let kind = Field::new("kind", FieldKind::Keyword).stored(true).many(true);
    let title = Field::new("title", FieldKind::Text).offsets(true);
    let schema = Schema::builder().field(title).field(kind).build().unwrap();
    let storage = Arc::new(MemoryStorage::new());
    let index = Index::options().create_in(storage.clone(), schema);
    let options = WriterOptions::new().threads(1).reproducible_ids([3; 16]);
    let mut writer = index.writer_with(options).unwrap();
    for n in 0..600 {
        let mut document = Document::new();
        if n % 101 != 100 {
            let parity = ["even", "odd"][n % 2];
            document.push("title", format!("all {parity} n{} w{n} {}", n % 20, n * 7_919 % 30_011));
        }
        for k in 0..n % 4 {
            document
                .push("kind", if n % 9 == 0 { String::new() } else { format!("k{}", n % 5 + k) });
        }
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    for n in 0..24 {
        let mut text = format!("late n{} w{n}", n % 3);
        (0..60).for_each(|nth| write!(text, " word{}", nth * n % 17).unwrap());
        writer.add(Document::new().with("title", text).with("kind", "k2")).unwrap();
    }
    writer.commit().unwrap();
    let entries = storage.list().unwrap();
    let read = |name: &String| storage.open(name).unwrap().mapped().unwrap().to_vec();
    entries.into_iter().map(|entry| (entry.name.clone(), read(&entry.name))).collect()
}

fn in_memory(files: &Files) -> Arc<dyn Storage> {
    let (mut image, mut parts) = (vec![], vec![]);
    for (name, bytes) in files {
        parts.push((name.clone(), image.len()..image.len() + bytes.len()));
        image.extend_from_slice(bytes);
    }
    Arc::new(MemoryStorage::from_parts(image, parts).unwrap())
}

fn with_damage(files: &Files, name: &str, damage: Damage) -> Files {
    let mut files = files.clone();
    match (damage, files.get_mut(name).unwrap()) {
        (Damage::Missing, _) => drop(files.remove(name)),
        (Damage::Cut(len), bytes) => bytes.truncate(len),
        (Damage::Changed { at, xor }, bytes) => bytes[at] ^= xor,
    }
    files
}

/// Asks everything: counts, pages with facets, plans, stored documents.
fn ask(searcher: &Searcher) -> Vec<(String, Result<Answer>)> {
    let mut answers = vec![];
    for (nth, text) in QUERIES.iter().enumerate() {
        let query = searcher.parse(text).unwrap();
        answers.push((format!("count {text}"), searcher.count(&query).map(Answer::Count)));
        let (limit, field) = (nth as u64 % 5, ["kind", "title"][nth % 2]);
        let page = searcher.search(&query).offset(limit).limit(limit).facet(field, 3).run();
        let page = page.map(|page| Answer::Page(page.total, page.hits, page.facets));
        answers.push((format!("search {text}"), page));
        if nth >= RANKED_FROM {
            // The best alone, by bounds. Where counting ends depends on the segments.
            let best = searcher.search(&query).limit(3).total(TotalMode::Unknown).run();
            let best = best.map(|page| Answer::Page(Total::default(), page.hits, page.facets));
            answers.push((format!("best of {text}"), best));
        }
        if nth % 3 == 2 {
            let plan = searcher.explain(&query).map(|tree| Answer::Plan(tree.to_string()));
            answers.push((format!("explain {text}"), plan));
        }
    }
    let highlighter = searcher.highlighter(&searcher.parse(MARKED).unwrap()).unwrap();
    for doc in (0..DOCS).step_by(13) {
        let passages = highlighter.in_document(DocId(doc), "title", [TITLE]);
        let passages = passages.map(|marked| marked[0].passages(&PassageOptions::default()));
        answers.push((format!("marked {doc}"), passages.map(Answer::Passages)));
    }
    for doc in (0..DOCS).step_by(29) {
        let fields = searcher.document(DocId(doc)).map(Answer::Document);
        answers.push((format!("document {doc}"), fields));
    }
    answers
}

/// What each commit of the sound index answers, by generation.
struct Truth(BTreeMap<u64, Vec<(String, Answer)>>);

impl Truth {
    fn of(files: &Files) -> Truth {
        let newest = *manifests(files).last().unwrap();
        let before = with_damage(files, newest, Damage::Missing);
        Truth([files, &before].into_iter().map(Self::of_newest).collect())
    }

    fn of_newest(files: &Files) -> (u64, Vec<(String, Answer)>) {
        let index = Index::options().open_storage(in_memory(files)).unwrap();
        let report = index.inspect().unwrap().verify(|error| panic!("{error}"));
        assert!(report.is_sound() && report.segments > 0);
        let searcher = index.searcher().unwrap();
        let answers = ask(&searcher).into_iter();
        let mut known: Vec<_> = answers.map(|(what, answer)| (what, answer.ok())).collect();
        // The commit before has fewer documents; all else must be answered.
        known.retain(|(what, answer)| answer.is_some() || !what.starts_with("document"));
        let known = known.into_iter().map(|(what, answer)| (what, answer.unwrap())).collect();
        (searcher.generation(), known)
    }

    /// How many questions were answered, all of them right, and how many refused as damage.
    fn compare(&self, searcher: &Searcher) -> (usize, usize) {
        let (mut right, mut refused) = (0, 0);
        let truth = &self.0[&searcher.generation()];
        for ((what, expected), (_, found)) in truth.iter().zip(ask(searcher)) {
            match found {
                Ok(found) => {
                    assert_eq!(found, *expected, "wrong answer to {what}");
                    right += 1;
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}");
                    refused += 1;
                }
            }
        }
        (right, refused)
    }

    /// Opens the index in `storage` and asks everything. `None` where it cannot be opened, else
    /// whether anything was noticed.
    fn check(&self, storage: Arc<dyn Storage>) -> Option<bool> {
        let opened = Index::options()
            .open_storage(storage)
            .and_then(|index| Ok((index.searcher()?, index.inspect()?)));
        let (searcher, inspector) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt, "opening: {error}");
                return None;
            }
        };
        // Before anything is verified, so that each read has to see for itself.
        let (_, refused) = self.compare(&searcher);
        let mut reported = 0;
        let report = inspector.verify(|error| {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "verifying: {error}");
            reported += 1;
        });
        assert_eq!(report.is_sound(), reported == 0);
        assert!(!report.is_sound() || refused == 0, "said to be sound, and {refused} refused");
        Some(!report.is_sound())
    }
}

fn manifests(files: &Files) -> Vec<&str> {
    files.keys().map(|name| &**name).filter(|name| name.starts_with("manifest-")).collect()
}

/// Every byte changed once, by one bit and by all in turn, and every length below the whole.
fn all_damage(files: &Files, step: usize) -> Vec<(&str, Damage)> {
    let mut all = vec![];
    for (name, bytes) in files {
        all.push((&**name, Damage::Missing));
        all.extend((0..bytes.len()).step_by(step).map(|len| (&**name, Damage::Cut(len))));
        for at in (0..bytes.len()).step_by(step) {
            let xor = if at % 2 == 0 { 0x01 } else { 0xFF };
            all.push((name, Damage::Changed { at, xor }));
        }
    }
    all
}

/// Runs `check` on all cases on all processors; a panic says which case it was.
fn for_each<C: Copy + Sync + std::fmt::Debug>(cases: &[C], check: impl Fn(C) + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let (check, threads) = (&check, 0..threads);
        let n_threads = threads.len();
        let of_thread = |thread| {
            move || {
                for &case in cases.iter().skip(thread).step_by(n_threads) {
                    let caught = catch_unwind(AssertUnwindSafe(|| check(case)));
                    assert!(caught.is_ok(), "{case:?}: see the panic above");
                }
            }
        };
        let running: Vec<_> = threads.map(|thread| scope.spawn(of_thread(thread))).collect();
        let ended: Vec<_> = running.into_iter().map(|thread| thread.join().is_ok()).collect();
        assert!(ended.iter().all(|ok| *ok), "the cases that failed are above");
    });
}

#[test]
fn the_index_has_lists_of_every_encoding() {
    let index = Index::options().open_storage(in_memory(&sound())).unwrap();
    let inspector = index.inspect().unwrap();
    let encodings = |term: &str| -> Vec<_> {
        let lists = inspector.postings("title", term.as_bytes(), 0).unwrap();
        lists.into_iter().map(|list| list.encoding).collect()
    };
    assert_eq!(encodings("all"), ["long"]);
    assert_eq!(encodings("even"), ["long"]);
    assert_eq!(encodings("n1"), ["short", "short"]);
    assert_eq!(encodings("w7"), ["inline", "inline"]);
    assert!(inspector.segments()[0].bytes > 1 << 14, "two blocks: {:?}", inspector.segments());
    assert_eq!(inspector.documents(), DOCS);
}

#[test]
fn no_damage_gives_a_wrong_answer_and_verification_sees_it() {
    let files = sound();
    let truth = Truth::of(&files);
    let (before, newest) = (manifests(&files)[0], manifests(&files)[1]);
    let cases = all_damage(&files, 1);
    for_each(&cases, |(name, damage)| {
        let seen = truth.check(in_memory(&with_damage(&files, name, damage)));
        match damage {
            // Not to be told from an index whose last commit never was.
            Damage::Missing if name == newest => assert_eq!(seen, Some(false)),
            _ if name == before => assert_eq!(seen, Some(false), "only the newest commit is read"),
            _ if name == newest => assert_eq!(seen, None),
            Damage::Missing | Damage::Cut(_) => assert_eq!(seen, None),
            Damage::Changed { .. } => assert_ne!(seen, Some(false), "not seen"),
        }
    });
    let without = files.iter().filter(|(name, _)| !name.starts_with("manifest-"));
    let without = without.map(|(name, bytes)| (name.clone(), bytes.clone())).collect();
    let error = Index::options().open_storage(in_memory(&without)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotAnIndex);
}

#[test]
fn files_on_disk_are_as_safe_mapped_and_read() {
    let dir = std::env::temp_dir().join(format!("treepie-damage-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    let files = sound();
    let truth = Truth::of(&files);
    for (name, bytes) in &files {
        std::fs::write(dir.join(name), bytes).unwrap();
    }
    for (name, damage) in all_damage(&files, 211) {
        let path = dir.join(name);
        // A new file each time: a mapped one must not change.
        std::fs::remove_file(&path).unwrap();
        if let Some(bytes) = with_damage(&files, name, damage).get(name) {
            std::fs::write(&path, bytes).unwrap();
        }
        let seen = [ReadMode::Mmap, ReadMode::Pread]
            .map(|mode| truth.check(Arc::new(FsStorage::open(&dir, mode).unwrap())));
        assert_eq!(seen[0], seen[1], "{name} {damage:?}");
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, &files[name]).unwrap();
    }
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_merge_of_damaged_segments_is_refused_or_right() {
    let files = sound();
    let truth = Truth::of(&files);
    let newest = *truth.0.keys().last().unwrap();
    for_each(&all_damage(&files, 31), |(name, damage)| {
        let storage = in_memory(&with_damage(&files, name, damage));
        let Ok(index) = Index::options().open_storage(storage) else { return };
        let options = WriterOptions::new().threads(1).memory_bytes(16 << 20);
        match index.writer_with(options).and_then(|mut writer| writer.merge()) {
            Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}"),
            Ok(_) => {
                let searcher = index.searcher().unwrap();
                let before = if name == manifests(&files)[1] { newest - 1 } else { newest };
                for ((what, expected), (_, found)) in truth.0[&before].iter().zip(ask(&searcher)) {
                    match (what.starts_with("explain"), found) {
                        (true, found) => drop(found.unwrap()), // of one segment now
                        (false, found) => assert_eq!(found.unwrap(), *expected, "{what}"),
                    }
                }
                let report = index.inspect().unwrap().verify(|error| panic!("{error}"));
                assert!(report.is_sound());
            }
        }
    });
}

/// Where the numbers are that a segment file's footer has, counted from its start.
const FOOTER_LEN: usize = 64;
const FOOTER_CHECKSUMS_CRC: usize = 24;
const FOOTER_CRC: usize = 56;

fn number(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

fn put_crc(bytes: &mut [u8], of: Range<usize>, at: usize) {
    let crc = crc32c::crc32c(&bytes[of]);
    bytes[at..at + 4].copy_from_slice(&crc.to_le_bytes());
}

/// Puts right checksums on a changed segment, of which the footer is as it was, and into the manifest.
fn reseal(files: &mut Files, segment: &str, manifest: &str) {
    let bytes = files.get_mut(segment).unwrap();
    let footer = bytes.len() - FOOTER_LEN;
    let (checksums_at, table_at) = (number(bytes, footer + 8), number(bytes, footer + 16));
    let block_len = 1 << bytes[footer + 32];
    put_crc(bytes, 0..60, 60);
    for (nth, start) in (0..checksums_at).step_by(block_len).enumerate() {
        put_crc(bytes, start..checksums_at.min(start + block_len), checksums_at + nth * 4);
    }
    put_crc(bytes, checksums_at..table_at, footer + FOOTER_CHECKSUMS_CRC);
    put_crc(bytes, table_at..footer, footer + FOOTER_CHECKSUMS_CRC + 4);
    put_crc(bytes, footer..footer + FOOTER_CRC, footer + FOOTER_CRC);
    let (id, seal) =
        (bytes[footer + 40..footer + 56].to_vec(), bytes[footer + FOOTER_CRC..][..4].to_vec());
    let bytes = files.get_mut(manifest).unwrap();
    let entry = bytes.windows(16).position(|window| window == id);
    let seal_at = entry.expect("the manifest names the segment") + 24;
    bytes[seal_at..seal_at + 4].copy_from_slice(&seal);
    reseal_manifest(bytes);
}

fn reseal_manifest(bytes: &mut [u8]) {
    let end = bytes.len() - 4;
    put_crc(bytes, 0..60, 60);
    put_crc(bytes, 0..end, end);
}

#[test]
fn crafted_bytes_with_right_checksums_never_panic() {
    let files = sound();
    let newest = manifests(&files)[1];
    let mut cases = vec![];
    for (name, bytes) in files.iter().filter(|(name, _)| *name != manifests(&files)[0]) {
        let changeable = if name == newest { bytes.len() } else { bytes.len() - FOOTER_LEN };
        // Asking a crafted index takes a millisecond or two: fewer bytes where there are many.
        let step = [1, 3, 13][usize::from(name != newest) + usize::from(bytes.len() > 1 << 14)];
        cases.extend((0..changeable).step_by(step).map(|at| {
            let xor = [0x01, 0x80, 0xFF, 0x10, 0x7F][at % 5];
            (&**name, at, xor)
        }));
        // A section made longer overlaps the next one.
        cases.extend((changeable - 24..changeable).map(|at| (&**name, at, 0x20)));
    }
    for_each(&cases, |(name, at, xor)| {
        let mut files = with_damage(&files, name, Damage::Changed { at, xor });
        match name == newest {
            true => reseal_manifest(files.get_mut(name).unwrap()),
            false => reseal(&mut files, name, newest),
        }
        let Ok(index) = Index::options().open_storage(in_memory(&files)) else { return };
        // What it says may be wrong now; that it says something is enough.
        let (Ok(searcher), Ok(inspector)) = (index.searcher(), index.inspect()) else { return };
        let _ = ask(&searcher);
        inspector.verify(drop);
        drop(inspector.storage());
        let _ = inspector.for_each_term("title", "", |_, _| Ok(true));
    });
}
