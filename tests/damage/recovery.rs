//! Going back and salvaging: what is whole comes back, what is lost is said, and nothing is thrown away.

use crate::changes::{self, Case, Change, sample};
use crate::failing::Failing;
use crate::golden::{
    DENSE, DOCS, Dice, Files, LATE, Parts, TEXTS, files_in, in_use, manifests, writable,
};
use crate::guard::for_each;
use crate::questions::sound;
use crate::seed;
use std::path::PathBuf;
use std::sync::Arc;
use treepie::search::Values;
use treepie::storage::{MemoryStorage, Storage};
use treepie::writer::{Recovery, Salvage, SegmentOutcome};
use treepie::{DocId, Document, Error, ErrorKind, Index, Limits, Result, Schema};

/// The segments of the golden index in the order of their documents.
fn segments(files: &Files) -> Vec<String> {
    let index = Index::options().open_storage(Parts::mapped(files.clone())).unwrap();
    let segments = index.inspect().unwrap().segments();
    segments.into_iter().map(|segment| format!("seg-{}.idx", segment.id)).collect()
}

fn recover(storage: &Arc<MemoryStorage>) -> Result<Recovery> {
    Index::options().recover_storage(storage.clone())
}

fn open(storage: &Arc<MemoryStorage>) -> Index {
    Index::options().open_storage(storage.clone()).unwrap()
}

/// Changes all over a file, of every section of it and of what lies around them.
fn all_over<'f>(files: &'f Files, file: &str, n: usize) -> Vec<Case<'f>> {
    let of_file = |cases: Vec<Case<'f>>| -> Vec<_> {
        cases.into_iter().filter(|case| case.file == file).collect()
    };
    let mut cases = sample(&of_file(changes::bytes(files)), n, seed());
    cases.extend(sample(&of_file(changes::cuts(files)), n / 4, seed()));
    cases
}

/// Every file that was there is still there, under its name or another.
fn assert_all_kept(before: &Files, storage: &Arc<MemoryStorage>) {
    let after = files_in(&**storage);
    for (name, bytes) in before.iter().filter(|(name, _)| *name != "write.lock") {
        let aside = format!("damaged-{name}");
        let kept = after.get(name).or(after.get(&aside));
        assert_eq!(kept, Some(bytes), "{name} was thrown away");
    }
}

#[test]
fn a_damaged_newest_commit_is_left_for_the_one_before_when_told_to() {
    let (files, truth) = sound();
    let newest = manifests(files)[1];
    let mut before = files.clone();
    before.remove(newest);
    let new: Vec<String> = in_use(files).difference(&in_use(&before)).cloned().collect();
    assert_eq!(new.len(), 4, "manifest, segment, deletes of two segments: {new:?}");
    let mut cases = vec![];
    for name in &new {
        cases.extend(all_over(files, name, 24));
        cases.push(Case { file: name, change: Change::Missing });
    }
    // Without its manifest it cannot be told from a commit that never was.
    cases.retain(|case| case.file != newest || case.change != Change::Missing);
    let live = |files: &Files| {
        let index = Index::options().open_storage(Parts::mapped(files.clone())).unwrap();
        index.inspect().unwrap().documents()
    };
    let (live, live_before) = (live(files), live(&before));
    for_each(&cases, |case| {
        let damaged = case.apply(files);
        let storage = writable(&damaged);
        let recovery = recover(&storage).unwrap();
        assert_eq!((recovery.whole, recovery.published), (2, Some(4)));
        assert_eq!(recovery.documents, live_before);
        let [commit] = &recovery.damaged[..] else { panic!("{recovery:?}") };
        let readable = case.file != newest;
        assert_eq!((commit.generation, commit.documents), (3, readable.then_some(live)));
        assert!(commit.n_damaged > 0 && !commit.damage.is_empty());
        let left = new.iter().filter(|name| damaged.contains_key(*name));
        let mut aside: Vec<String> = left.map(|name| format!("damaged-{name}")).collect();
        aside.sort();
        assert_eq!(recovery.set_aside, aside);
        assert_all_kept(&damaged, &storage);
        truth.compare_recovered(&open(&storage), 2);
        let again = recover(&storage).unwrap();
        assert!(again.nothing_lost() && again.damaged.is_empty() && again.set_aside.is_empty());
    });
}

#[test]
fn after_going_back_a_writer_goes_on_and_cleans_up_what_is_not_set_aside() {
    let (files, _) = sound();
    let damaged = Case { file: manifests(files)[1], change: Change::Cut(100) }.apply(files);
    let storage = writable(&damaged);
    recover(&storage).unwrap();
    let before = files_in(&*storage);
    for n in 0..3 {
        let mut writer = open(&storage).writer().unwrap();
        writer.add(Document::new().with("title", format!("later {n}"))).unwrap();
        assert_eq!(writer.commit().unwrap().generation, 5 + n);
    }
    let after = files_in(&*storage);
    for name in before.keys().filter(|name| name.starts_with("damaged-")) {
        assert_eq!(before[name], after[name], "{name}");
    }
    // The last two commits, and nothing older: the damaged manifest does not stand in the way.
    assert_eq!(manifests(&after), ["manifest-0000000000000006", "manifest-0000000000000007"]);
}

#[test]
fn a_reader_of_the_damaged_commit_keeps_it_until_it_reloads() {
    let (files, _) = sound();
    let storage = writable(files);
    let searcher = open(&storage).searcher().unwrap();
    let late = searcher.parse("late").unwrap();
    // It has the segment open; then the name leads to other bytes.
    let name = segments(files).pop().unwrap();
    storage.delete(&name).unwrap();
    storage.create(&name).unwrap().write_all(b"rubbish").unwrap();
    assert_eq!(open(&storage).searcher().unwrap_err().kind(), ErrorKind::Corrupt);
    recover(&storage).unwrap();
    assert_eq!(searcher.count(&late).unwrap(), LATE as u64);
    let reloaded = searcher.reload().unwrap().unwrap();
    assert_eq!((reloaded.generation(), reloaded.count(&late).unwrap()), (4, 0));
}

#[test]
fn where_no_commit_is_whole_nothing_is_changed() {
    let (files, _) = sound();
    let shared = &segments(files)[0];
    for_each(&all_over(files, shared, 40), |case| {
        let damaged = case.apply(files);
        let storage = writable(&damaged);
        let error = recover(&storage).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.to_string().contains("salvage"), "{error}");
        let mut after = files_in(&*storage);
        after.retain(|name, _| name != "write.lock");
        assert_eq!(after, damaged);
    });
}

#[test]
fn a_whole_newest_commit_stays_and_a_damaged_older_manifest_is_set_aside() {
    let (files, _) = sound();
    let older = manifests(files)[0];
    let damaged = Case { file: older, change: Change::Byte { at: 130, is: 0x77 } }.apply(files);
    let storage = writable(&damaged);
    let recovery = recover(&storage).unwrap();
    assert!(recovery.nothing_lost());
    assert_eq!((recovery.whole, recovery.published), (3, None));
    assert_eq!(recovery.set_aside, [format!("damaged-{older}")]);
    assert_all_kept(&damaged, &storage);
    // Only looking changes nothing, and what is newer than this version is not damage.
    let storage = writable(&damaged);
    let looked = Index::options().examine_storage(storage.clone()).unwrap();
    assert_eq!((looked.damaged.len(), looked.set_aside.len()), (1, 0));
    assert_eq!(files_in(&*storage), damaged);
    let mut newer = files.clone();
    let newest = manifests(files)[1];
    let mut bytes = newer[newest].to_vec();
    bytes[10..12].copy_from_slice(&(treepie::format::FORMAT_VERSION.0 + 1).to_le_bytes());
    newer.insert(newest.to_owned(), Arc::new(bytes));
    crate::seals::reseal(&mut newer, newest);
    let error = recover(&writable(&newer)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnsupportedVersion);
}

/// What is stored of a document.
type Row = Vec<(String, Values)>;

/// What is stored of each document by its number; `None` where it is deleted.
fn rows(index: &Index) -> Vec<Option<Row>> {
    let searcher = index.searcher().unwrap();
    let row = |doc| {
        let fields = match searcher.document(DocId(doc)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            fields => fields.unwrap(),
        };
        let names = searcher.schema().fields().iter().map(|field| field.name.clone());
        Some(names.filter_map(|name| Some((name.clone(), fields.get(&name)?.clone()))).collect())
    };
    let segments = index.inspect().unwrap().segments();
    (0..segments.iter().map(|segment| segment.documents).sum()).map(row).collect()
}

fn salvage(files: &Files) -> Result<(Salvage, Index), Error> {
    let out = Arc::new(MemoryStorage::new());
    let salvage = Index::options().salvage_storage(&*Parts::mapped(files.clone()), out.clone())?;
    let index = Index::options().open_storage(out).unwrap();
    let report = index.inspect().unwrap().verify(|error| panic!("{error}"));
    assert!(report.is_sound());
    Ok((salvage, index))
}

#[test]
fn what_is_salvaged_is_right_and_what_is_lost_is_said() {
    let (files, truth) = sound();
    let sound_index = Index::options().open_storage(Parts::mapped(files.clone())).unwrap();
    let known = rows(&sound_index);
    let (whole, index) = salvage(files).unwrap();
    let live = known.iter().flatten().count() as u64;
    assert!(whole.nothing_lost() && live < DOCS);
    assert_eq!(whole.unnamed_documents, Some(0));
    assert_eq!((whole.generation, whole.documents, whole.lost), (3, live, 0));
    truth.compare_recovered(&index, 3);
    assert_eq!(index.inspect().unwrap().payload(), b"as far as line 17");

    let names = segments(files);
    let bounds = [0, DENSE, DENSE + TEXTS, DENSE + TEXTS + LATE].map(|doc| doc as u64);
    let mut cases = vec![];
    for (name, n) in names.iter().zip([10, 20, 20]) {
        cases.extend(all_over(files, name, n));
        cases.push(Case { file: name, change: Change::Missing });
    }
    let (mut rebuilt, mut lost_segments, mut without) = (0, 0, 0);
    for case in cases {
        let (salvage, index) = salvage(&case.apply(files)).unwrap();
        let nth = names.iter().position(|name| name == case.file).unwrap();
        for (other, segment) in salvage.segments.iter().enumerate() {
            assert_eq!(segment.outcome == SegmentOutcome::Copied, other != nth, "{case:?}");
            assert!(
                segment
                    .lost
                    .iter()
                    .all(|lost| bounds[other] <= lost.start && lost.end <= bounds[other + 1])
            );
        }
        let damaged = &salvage.segments[nth];
        assert!(!damaged.damage.is_empty());
        let lost = |doc: u64| damaged.lost.iter().any(|lost| lost.contains(&doc));
        let left =
            (0..DOCS).filter(|doc| !lost(*doc)).filter_map(|doc| known[doc as usize].clone());
        let left: Vec<_> = left.collect();
        let n_left = left.len() as u64;
        assert_eq!((salvage.documents, salvage.lost), (n_left, live - n_left), "{case:?}");
        let found: Vec<_> = rows(&index).into_iter().flatten().collect();
        match lacks_vectors(&damaged.outcome) {
            true => assert!(without_vectors(&found) == without_vectors(&left), "{case:?}"),
            false => assert!(found == left, "{case:?}"),
        }
        let n_lost = salvage.lost;
        match &damaged.outcome {
            SegmentOutcome::Rebuilt { fields_lost } => {
                let expected = ["tag", "mark", "near"];
                let has_vectors = usize::from(!lacks_vectors(&damaged.outcome));
                assert_eq!(*fields_lost, expected[..expected.len() - has_vectors]);
                without += 1 - has_vectors;
                rebuilt += 1;
            }
            outcome => {
                assert_eq!(*outcome, SegmentOutcome::Lost, "{case:?}");
                assert_eq!(n_lost, damaged.documents);
                lost_segments += 1;
            }
        }
    }
    println!(
        "{rebuilt} segments rebuilt, {without} of them without all vectors, {lost_segments} lost"
    );
    assert!(rebuilt > 10 && lost_segments > 20);
}

/// Whether some vectors of a segment could not be read.
fn lacks_vectors(outcome: &SegmentOutcome) -> bool {
    let SegmentOutcome::Rebuilt { fields_lost } = outcome else { return false };
    fields_lost.iter().any(|field| field == "near")
}

fn without_vectors(rows: &[Row]) -> Vec<Row> {
    let others = |row: &Row| row.iter().filter(|(name, _)| name != "near").cloned().collect();
    rows.iter().map(others).collect()
}

/// The file of a segment has its rows first, and its vectors last but for the counts.
#[test]
fn damaged_vectors_are_lost_alone_and_that_is_said() {
    let params = treepie::schema::VectorParams::new(256, treepie::schema::Metric::Dot);
    let schema = treepie::Schema::builder().text("title").vector("near", params).build().unwrap();
    let storage = Arc::new(MemoryStorage::new());
    let index = Index::options().create_in(storage.clone(), schema).unwrap();
    let mut writer = index.writer().unwrap();
    for n in 0..500 {
        let document = treepie::Document::new().with("title", format!("n{n}"));
        writer.add(document.with("near", vec![n as f32; 256])).unwrap();
    }
    writer.commit().unwrap();
    let known = rows(&index);
    let files = crate::golden::files_in(&*storage);
    let segment = files.keys().find(|name| name.starts_with("seg-")).unwrap();
    let at = files[segment].len() / 2;
    let change = Change::Byte { at, is: files[segment][at] ^ 1 };
    let (salvage, index) = salvage(&Case { file: segment, change }.apply(&files)).unwrap();
    assert_eq!((salvage.documents, salvage.lost), (500, 0));
    let outcome = SegmentOutcome::Rebuilt { fields_lost: vec!["near".into()] };
    assert_eq!(salvage.segments[0].outcome, outcome);
    let found = rows(&index);
    let n_same = found.iter().zip(&known).filter(|(found, known)| found == known).count();
    assert!((400..500).contains(&n_same), "{n_same}");
    let [found, known]: [Vec<Row>; 2] = [found, known].map(|it| it.into_iter().flatten().collect());
    assert!(without_vectors(&found) == without_vectors(&known));
}

/// The points stand behind the dictionary of their field, and take most of the file.
#[test]
fn damaged_points_are_lost_alone_and_that_is_said() {
    let place = treepie::FieldKind::Point { array: None };
    let place = treepie::Field::new("near", place).many(true);
    let schema = treepie::Schema::builder().text("title").field(place).build().unwrap();
    let storage = Arc::new(MemoryStorage::new());
    let index = Index::options().create_in(storage.clone(), schema).unwrap();
    let mut writer = index.writer().unwrap();
    for n in 0..4_000u32 {
        let mut document = treepie::Document::new().with("title", format!("n{}", n % 7));
        for k in 0..12 {
            let (lat, lon) = (f64::from(n % 90), f64::from(n * 31 % 180) + f64::from(k) / 1e4);
            document.push("near", treepie::geo::GeoPoint::new(lat, lon).unwrap());
        }
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    let known = rows(&index);
    let files = crate::golden::files_in(&*storage);
    let segment = files.keys().find(|name| name.starts_with("seg-")).unwrap();
    let len = files[segment].len();
    let with_bit = |at: usize| {
        let change = Change::Byte { at, is: files[segment][at] ^ 1 };
        salvage(&Case { file: segment, change }.apply(&files)).unwrap()
    };
    // Pages of the same points stand behind them, and are made again.
    let (of_pages, index) = with_bit(len / 4 * 3);
    assert_eq!((of_pages.documents, of_pages.lost), (4_000, 0));
    let outcome = SegmentOutcome::Rebuilt { fields_lost: vec![] };
    assert_eq!(of_pages.segments[0].outcome, outcome);
    assert!(rows(&index) == known);
    index.inspect().unwrap().verify(|error| panic!("{error}"));
    let (salvage, index) = with_bit(len / 4);
    assert_eq!((salvage.documents, salvage.lost), (4_000, 0));
    let outcome = SegmentOutcome::Rebuilt { fields_lost: vec!["near".into()] };
    assert_eq!(salvage.segments[0].outcome, outcome);
    let found = rows(&index);
    let n_same = found.iter().zip(&known).filter(|(found, known)| found == known).count();
    assert!((1_000..4_000).contains(&n_same), "{n_same}");
    let [found, known]: [Vec<Row>; 2] = [found, known].map(|it| it.into_iter().flatten().collect());
    assert!(without_vectors(&found) == without_vectors(&known));
}

#[test]
fn of_a_damaged_block_of_rows_only_its_documents_are_lost() {
    let (files, known) = many_rows();
    // Rows come first in a file.
    let segment = files.keys().find(|name| name.starts_with("seg-")).unwrap();
    let change = Change::Byte { at: 40_000, is: files[segment][40_000] ^ 1 };
    let (salvage, index) = salvage(&Case { file: segment, change }.apply(&files)).unwrap();
    let [damaged] = &salvage.segments[..] else { panic!("{salvage:?}") };
    let lost = |doc: &u64| damaged.lost.iter().any(|lost| lost.contains(doc));
    assert!(salvage.lost > 50 && salvage.documents > 1_000, "{salvage:?}");
    assert!(damaged.lost.len() == 1, "one block, one range: {:?}", damaged.lost);
    let left = (0..2_000).filter(|doc| !lost(doc)).map(|doc| known[doc as usize].clone());
    assert_eq!(rows(&index), left.collect::<Vec<_>>());
    assert_eq!(damaged.outcome, SegmentOutcome::Rebuilt { fields_lost: vec![] });
}

#[test]
fn what_only_an_unreadable_commit_names_is_not_taken_and_said() {
    let (files, truth) = sound();
    let [older, newest] = manifests(files)[..] else { panic!("two commits") };
    let unreadable = Case { file: newest, change: Change::Byte { at: 140, is: 0x77 } }.apply(files);
    let (salvage, index) = salvage(&unreadable).unwrap();
    assert_eq!((salvage.generation, salvage.lost), (2, 0));
    assert!(!salvage.nothing_lost());
    let [commit] = &salvage.unreadable[..] else { panic!("{salvage:?}") };
    assert_eq!((commit.generation, commit.documents), (3, None));
    let unnamed = segments(files).pop().unwrap();
    assert_eq!(
        (&salvage.unnamed[..], salvage.unnamed_documents),
        (&[unnamed.clone()][..], Some(LATE as u64))
    );
    truth.compare_recovered(&index, 2);
    // Neither is sound, nor a reason to save nothing.
    for change in [in_the_last_section(&unreadable, &unnamed), Change::Cut(30), Change::Cut(0)] {
        let (salvage, _) =
            self::salvage(&Case { file: &unnamed, change }.apply(&unreadable)).unwrap();
        assert_eq!((salvage.generation, salvage.unnamed_documents), (2, None));
    }
    // Without the manifest nobody knows that there was a newer commit.
    let gone = Case { file: newest, change: Change::Missing }.apply(files);
    let (salvage, _) = self::salvage(&gone).unwrap();
    assert_eq!((salvage.generation, salvage.lost, salvage.unreadable.len()), (2, 0, 0));
    assert_eq!(
        (&salvage.unnamed[..], salvage.unnamed_documents),
        (&[unnamed.clone()][..], Some(LATE as u64))
    );
    assert!(!salvage.nothing_lost());
    let both = Case { file: older, change: Change::Cut(80) }.apply(&unreadable);
    let error = self::salvage(&both).map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("nobody knows the fields"), "{error}");
}

#[test]
fn documents_whose_deletes_are_damaged_are_back_and_that_is_said() {
    let (files, _) = sound();
    let index = Index::options().open_storage(Parts::mapped(files.clone())).unwrap();
    let segments = index.inspect().unwrap().segments();
    for (nth, segment) in segments.iter().enumerate().filter(|(_, segment)| segment.deleted > 0) {
        let deletes = segment.deletes_path.as_ref().unwrap().to_str().unwrap();
        for case in all_over(files, deletes, 20) {
            let (salvage, saved) = salvage(&case.apply(files)).unwrap();
            assert_eq!(salvage.segments[nth].outcome, SegmentOutcome::Copied, "{case:?}");
            assert!(!salvage.segments[nth].damage.is_empty() && !salvage.nothing_lost());
            assert_eq!((salvage.lost, salvage.revived), (0, segment.deleted));
            let documents = index.inspect().unwrap().documents() + segment.deleted;
            assert_eq!(
                (salvage.documents, saved.inspect().unwrap().documents()),
                (documents, documents)
            );
        }
    }
}

/// A read that fails says nothing of the bytes: going back for it would throw away what was acknowledged.
#[test]
fn a_read_that_fails_is_no_reason_to_go_back() {
    let (files, _) = sound();
    for name in in_use(files) {
        let len = files[&name].len() as u64;
        for at in (0..len).step_by((len / 6).max(1) as usize) {
            let storage = writable(files);
            let before = files_in(&*storage);
            let disk = Failing::new(storage.clone(), &name, at..at + 1, 1);
            let recovered = Index::options().recover_storage(disk.clone());
            assert_eq!(disk.left(), 0, "byte {at} of {name} is not read");
            assert_eq!(recovered.unwrap_err().kind(), ErrorKind::Io, "byte {at} of {name}");
            let mut after = files_in(&*storage);
            after.retain(|file, _| before.contains_key(file));
            assert_eq!(after, before, "byte {at} of {name}");
            // It was for once.
            let recovery = Index::options().recover_storage(disk).unwrap();
            assert!(recovery.nothing_lost() && recovery.published.is_none());
        }
    }
}

#[test]
fn what_a_failing_disk_still_reads_is_salvaged() {
    let (files, _) = many_rows();
    let segment = files.keys().find(|name| name.starts_with("seg-")).unwrap();
    // The first block has what says where all rows are.
    for sector in [40, 70, 100] {
        let bytes = sector * 512..(sector + 1) * 512;
        let disk = Failing::new(writable(&files), segment, bytes, u64::MAX);
        let out = Arc::new(MemoryStorage::new());
        let salvage = Index::options().salvage_storage(&*disk, out.clone()).unwrap();
        assert!(salvage.lost > 50 && salvage.documents > 1_000, "{salvage:?}");
        assert_eq!(salvage.lost + salvage.documents, 2_000);
        assert_eq!(open(&out).searcher().unwrap().n_docs(), salvage.documents);
    }
}

/// A changed byte behind all rows, and before the checksums and tables of a segment.
fn in_the_last_section(files: &Files, segment: &str) -> Change {
    let bytes = &files[segment];
    let footer = bytes.len() - 64;
    let checksums = u64::from_le_bytes(bytes[footer + 8..footer + 16].try_into().unwrap());
    let at = checksums as usize - 80;
    Change::Byte { at, is: bytes[at] ^ 1 }
}

/// An index with a key whose documents were replaced, and some deleted, in three commits.
fn with_key() -> (Files, Vec<String>) {
    let storage = Arc::new(MemoryStorage::new());
    let schema = Schema::builder().text("title").key("id").build().unwrap();
    let mut writer = Index::options().create_in(storage.clone(), schema).unwrap().writer().unwrap();
    let mut dice = Dice::new(seed());
    for commit in 0..3 {
        for n in (0..600).filter(|n| n % (commit + 1) == 0) {
            let title = random_title(commit * 1_000 + n, &mut dice);
            writer.add(Document::new().with("id", format!("id{n}")).with("title", title)).unwrap();
        }
        writer.commit().unwrap();
    }
    // Those of the first commit have no later ones.
    for n in [1, 5, 7] {
        writer.delete_value("id", format!("id{n}")).unwrap();
    }
    assert_eq!(writer.commit().unwrap().documents, 597);
    let files = files_in(&*storage);
    let names = segments(&files);
    (files, names)
}

/// The deletes of each segment of the newest commit.
fn deletes(files: &Files) -> Vec<Option<String>> {
    let index = Index::options().open_storage(Parts::mapped(files.clone())).unwrap();
    let segments = index.inspect().unwrap().segments();
    let path = |path: PathBuf| path.to_str().unwrap().to_owned();
    segments.into_iter().map(|segment| segment.deletes_path.map(path)).collect()
}

#[test]
fn salvaging_leaves_one_document_of_each_key() {
    let (files, names) = with_key();
    let deletes = deletes(&files);
    let known = rows(&Index::options().open_storage(Parts::mapped(files.clone())).unwrap());
    let live: Vec<_> = known.iter().flatten().cloned().collect();
    let sorted = |mut rows: Vec<Row>| {
        rows.sort_by_key(|row| format!("{row:?}"));
        rows
    };
    for (nth, file) in deletes.iter().enumerate() {
        let Some(file) = file else { continue };
        let without = Case { file, change: Change::Missing }.apply(&files);
        let (salvage, index) = salvage(&without).unwrap();
        // Later documents say which were replaced; that others were deleted nothing says.
        let back = if nth == 0 { 3 } else { 0 };
        assert_eq!((salvage.lost, salvage.revived), (0, back), "{salvage:?}");
        assert_eq!((salvage.documents, salvage.nothing_lost()), (597 + back, back == 0));
        let found: Vec<_> = rows(&index).into_iter().flatten().collect();
        assert!(live.iter().all(|row| found.contains(row)) && found.len() as u64 == 597 + back);

        // The segment is damaged, too: somewhere in its terms, so that all of its rows can be read.
        let change = in_the_last_section(&without, &names[nth]);
        let both = Case { file: &names[nth], change }.apply(&without);
        let (salvage, index) = self::salvage(&both).unwrap();
        let found: Vec<_> = rows(&index).into_iter().flatten().collect();
        match &salvage.segments[nth].outcome {
            SegmentOutcome::Rebuilt { .. } => {
                assert!(salvage.revived >= back && !salvage.nothing_lost(), "{salvage:?}");
                assert_eq!(found.len() as u64, 597 + back, "{salvage:?}");
                let expected = live.iter().filter(|row| found.contains(row)).count();
                assert_eq!(expected, live.len());
            }
            outcome => panic!("{outcome:?} {salvage:?}"),
        }
        let ids = |rows: &[Row]| -> Vec<String> {
            rows.iter()
                .map(|row| format!("{:?}", row.iter().find(|(name, _)| name == "id")))
                .collect()
        };
        let mut of_found = ids(&sorted(found));
        of_found.sort();
        assert!(of_found.is_sorted_by(|a, b| a < b), "a key twice");
    }
}

/// Words that hardly any other has, so that rows and terms fill blocks of their own.
fn random_title(n: usize, dice: &mut Dice) -> String {
    let words: Vec<String> = (0..12).map(|_| dice.below(1 << 30).to_string()).collect();
    format!("n{n} {}", words.join(" "))
}

/// An index with enough rows for several blocks; and these.
fn many_rows() -> (Files, Vec<Option<Row>>) {
    // A copy is not stored, and made anew with its source.
    let copy = treepie::Field::new("words", treepie::FieldKind::Text).copy_of("title");
    let schema = Schema::builder().text("title").field(copy).build().unwrap();
    let storage = Arc::new(MemoryStorage::new());
    let mut writer = Index::options().create_in(storage.clone(), schema).unwrap().writer().unwrap();
    let mut dice = Dice::new(seed());
    for n in 0..2_000 {
        writer.add(Document::new().with("title", random_title(n, &mut dice))).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    (files_in(&*storage), rows(&open(&storage)))
}

#[test]
fn what_was_taken_by_raised_limits_is_salvaged() {
    let mut limits = Limits::default();
    limits.value_bytes = 40 << 20;
    let storage = Arc::new(MemoryStorage::new());
    let schema = Schema::builder().text("title").build().unwrap();
    let index =
        Index::options().create_in(storage.clone(), schema).unwrap().with_limits(limits).unwrap();
    let mut writer = index.writer().unwrap();
    let mut dice = Dice::new(seed());
    writer.add(Document::new().with("title", "x".repeat(17 << 20))).unwrap();
    for n in 1..1_000 {
        writer.add(Document::new().with("title", random_title(n, &mut dice))).unwrap();
    }
    writer.commit().unwrap();
    let files = files_in(&*storage);
    let segment = files.keys().find(|name| name.starts_with("seg-")).unwrap();
    let change = in_the_last_section(&files, segment);
    let (salvage, _) = salvage(&Case { file: segment, change }.apply(&files)).unwrap();
    assert_eq!((salvage.documents, salvage.lost), (1_000, 0), "{salvage:?}");
    assert_eq!(salvage.segments[0].outcome, SegmentOutcome::Rebuilt { fields_lost: vec![] });
}

#[test]
fn where_nothing_is_saved_that_is_said() {
    let (files, _) = many_rows();
    let segment = files.keys().find(|name| name.starts_with("seg-")).unwrap();
    let lost = Case { file: segment, change: Change::Missing }.apply(&files);
    let (salvage, _) = salvage(&lost).unwrap();
    assert!(salvage.nothing_saved() && !salvage.nothing_lost());
    assert_eq!((salvage.documents, salvage.lost), (0, 2_000));
    assert_eq!(salvage.segments[0].outcome, SegmentOutcome::Lost);
    assert!(!self::salvage(&files).unwrap().0.nothing_saved());
}

/// Whoever does not know a feature that forbids writing goes back to nothing: that would be a commit, too.
#[test]
fn what_this_version_may_not_write_is_not_gone_back_to() {
    let (files, _) = sound();
    let [older, newest] = manifests(files)[..] else { panic!("two commits") };
    let mut damaged = Case { file: newest, change: Change::Cut(100) }.apply(files);
    let mut bytes = damaged[older].to_vec();
    // The highest of the features that forbid writing where they are not known.
    bytes[23] |= 0x80;
    damaged.insert(older.to_owned(), Arc::new(bytes));
    crate::seals::reseal(&mut damaged, older);
    let storage = writable(&damaged);
    assert_eq!(recover(&storage).unwrap_err().kind(), ErrorKind::UnsupportedVersion);
    let mut after = files_in(&*storage);
    after.retain(|name, _| damaged.contains_key(name));
    assert_eq!(after, damaged);
    // It may be looked at.
    let looked = Index::options().examine_storage(storage).unwrap();
    assert_eq!((looked.whole, looked.damaged.len()), (2, 1));
}
