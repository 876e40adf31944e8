//! What goes wrong around a writer: code of the host's that panics, others who roll back, too much of something.

use crate::failing::Failing;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use treepie::analysis::{Analyzer, Analyzers, Splitter, tokenizer_api::Tokenizer};
use treepie::storage::{MemoryStorage, Storage};
use treepie::writer::{MergePolicy, Progress};
use treepie::{
    CancelToken, Document, ErrorKind, Field, FieldKind, Index, IndexWriter, Schema, WriterOptions,
};

fn schema() -> Schema {
    Schema::builder().text("text").key("id").build().unwrap()
}

fn document(id: u64) -> Document {
    Document::new().with("id", id.to_string()).with("text", "text")
}

/// A directory that is gone afterwards.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let name = format!("treepie-mishaps-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        Place(path)
    }

    fn files(&self) -> usize {
        std::fs::read_dir(&self.0).unwrap().count()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A writer whose host panics when it is told of progress, once it is to.
fn panicking_writer(index: &Index) -> (IndexWriter, Arc<AtomicBool>) {
    let panics = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&panics);
    let options = WriterOptions::new().threads(1).on_progress(move |progress| {
        let is_late = matches!(progress, Progress::Merging { .. });
        assert!(!(is_late && asked.swap(false, Ordering::SeqCst)), "a mistake of the host's");
    });
    (index.writer_with(options).unwrap(), panics)
}

#[test]
fn nobody_is_told_that_what_a_panic_lost_was_committed() {
    let index = Index::in_memory(schema());
    let (writer, panics) = panicking_writer(&index);
    let writer = writer.into_shared();
    writer.add(document(1)).unwrap();
    writer.commit().unwrap();
    writer.add(document(2)).unwrap();
    panics.store(true, Ordering::SeqCst);
    let other = writer.clone();
    let flushed = std::thread::spawn(move || other.flush().map(drop)).join();
    assert!(flushed.is_err() && !panics.load(Ordering::SeqCst), "it has panicked");
    assert_eq!(writer.commit().unwrap_err().kind(), ErrorKind::Poisoned);
    writer.rollback().unwrap();
    writer.add(document(3)).unwrap();
    assert_eq!(writer.commit().unwrap().documents, 2);
}

#[test]
fn nor_what_a_panic_lost_while_another_index_was_added() {
    let other = Index::in_memory(schema());
    let mut writer = other.writer().unwrap();
    writer.add(document(9)).unwrap();
    writer.commit().unwrap();
    let index = Index::in_memory(schema());
    let (mut writer, panics) = panicking_writer(&index);
    writer.add(document(1)).unwrap();
    panics.store(true, Ordering::SeqCst);
    let searcher = other.searcher().unwrap();
    assert!(catch_unwind(AssertUnwindSafe(|| writer.add_index(&searcher).map(drop))).is_err());
    assert_eq!(writer.commit().unwrap_err().kind(), ErrorKind::Poisoned);
    writer.rollback().unwrap();
    assert_eq!(writer.add_index(&searcher).unwrap(), 1);
    assert_eq!(writer.commit().unwrap().documents, 1);
}

/// Words; panics where it is told to: when it is cloned, or when it is asked for words.
struct Mistaken(Arc<AtomicU64>);

const NEVER: u64 = 0;
const CLONED: u64 = 1;
const ASKED: u64 = 2;

impl Mistaken {
    fn may_panic(&self, at: u64) {
        assert!(self.0.load(Ordering::SeqCst) != at, "a mistake of the host's");
    }
}

impl Clone for Mistaken {
    fn clone(&self) -> Self {
        self.may_panic(CLONED);
        Mistaken(Arc::clone(&self.0))
    }
}

impl Tokenizer for Mistaken {
    type TokenStream<'a> = <Splitter as Tokenizer>::TokenStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        self.may_panic(ASKED);
        // Has no state, so that one lives as long as any text.
        Box::leak(Box::new(Splitter::words())).token_stream(text)
    }
}

#[test]
fn a_panic_of_a_tokenizer_is_an_error_on_whatever_thread_it_comes() {
    for threads in [1, 2] {
        for at in [CLONED, ASKED] {
            let panics = Arc::new(AtomicU64::new(NEVER));
            let tokenizer = Mistaken(Arc::clone(&panics));
            let analyzers = Analyzers::default().register(Analyzer::new("mistaken", tokenizer));
            let text = Field::new("text", FieldKind::Text).analyzer("mistaken");
            let schema = Schema::builder().field(text).build().unwrap();
            let index = Index::options()
                .analyzers(analyzers)
                .create_in(Arc::new(MemoryStorage::new()), schema)
                .unwrap();
            let mut writer = index.writer_with(WriterOptions::new().threads(threads)).unwrap();
            let document = || Document::new().with("text", "some words");
            writer.add(document()).unwrap();
            writer.commit().unwrap();
            writer.add(document()).unwrap();
            panics.store(at, Ordering::SeqCst);
            let error = writer.commit().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Poisoned);
            assert!(error.to_string().contains("a panic"), "{error}");
            panics.store(NEVER, Ordering::SeqCst);
            writer.rollback().unwrap();
            writer.add(document()).unwrap();
            assert_eq!(writer.commit().unwrap().documents, 2);
        }
    }
}

#[test]
fn what_was_flushed_goes_with_a_writer_that_ends_in_a_panic() {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    writer.add(document(1)).unwrap();
    writer.commit().unwrap();
    let reader = index.reader().unwrap();
    let end = catch_unwind(AssertUnwindSafe(move || {
        writer.add(document(2)).unwrap();
        writer.flush().unwrap();
        panic!("a mistake of the host's");
    }));
    assert!(end.is_err());
    assert!(reader.refresh().unwrap());
    assert_eq!(reader.searcher().n_docs(), 1);
    assert!(!reader.refresh().unwrap());
}

/// Where somebody has flushed since, a look at the disk takes nothing back.
#[test]
fn who_looks_late_takes_nothing_back_that_was_flushed_meanwhile() {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    writer.add(document(1)).unwrap();
    writer.commit().unwrap();
    let reader = index.reader().unwrap();
    let end = catch_unwind(AssertUnwindSafe(move || {
        writer.add(document(2)).unwrap();
        writer.flush().unwrap();
        panic!("a mistake of the host's");
    }));
    assert!(end.is_err());
    let mut writer = index.writer().unwrap();
    writer.add(document(3)).unwrap();
    writer.add(document(4)).unwrap();
    writer.flush().unwrap();
    assert!(!reader.refresh().unwrap());
    assert_eq!(reader.searcher().n_docs(), 3);
}

/// Where what has to be deleted of a merged segment cannot be written nothing has changed, panic or not.
#[test]
fn a_merge_that_cannot_be_taken_in_brings_nothing_back() {
    for panics in [false, true] {
        let storage = Arc::new(Failing::default());
        let index = Index::options().create_in(storage.clone(), schema()).unwrap();
        let options =
            WriterOptions::new().threads(1).merge_policy(MergePolicy::default().factor(2));
        let mut writer = index.writer_with(options).unwrap();
        for id in 0..4 {
            writer.add(document(id)).unwrap();
            writer.add(document(id + 10)).unwrap();
            writer.commit().unwrap();
        }
        let job = writer.begin_merge().unwrap().expect("segments of a size");
        let merged = job.run(&CancelToken::new()).unwrap();
        writer.delete_key("1").unwrap();
        writer.commit().unwrap();
        if panics {
            storage.panic("create");
            let taken_in = AssertUnwindSafe(|| writer.finish_merge(merged).map(drop));
            assert!(catch_unwind(taken_in).is_err());
        } else {
            storage.fail("create", 0, std::io::ErrorKind::StorageFull);
            let error = writer.finish_merge(merged).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NoSpace);
        }
        storage.mend();
        writer.add(document(20)).unwrap();
        assert_eq!(writer.commit().unwrap().documents, 8);
        writer.maintain().unwrap();
        let searcher = index.searcher().unwrap();
        assert_eq!(searcher.count(&searcher.parse("id:1").unwrap()).unwrap(), 0);
        assert_eq!(searcher.n_docs(), 8);
    }
}

/// A sync that failed may say that all is well the next time, though the bytes are lost: so nobody commits what it was for.
#[test]
fn a_panic_of_a_sync_while_a_merge_is_taken_in_leaves_a_useless_writer() {
    let storage = Arc::new(Failing::default());
    let index = Index::options().create_in(storage.clone(), schema()).unwrap();
    let options = WriterOptions::new().threads(1).merge_policy(MergePolicy::default().factor(2));
    let mut writer = index.writer_with(options).unwrap();
    for ids in [0..4, 4..8] {
        ids.for_each(|id| writer.add(document(id)).unwrap());
        writer.commit().unwrap();
    }
    let job = writer.begin_merge().unwrap().expect("two segments of a size");
    let merged = job.run(&CancelToken::new()).unwrap();
    writer.delete_key("1").unwrap();
    writer.commit().unwrap();
    storage.before(|call, name| {
        assert!(call != "sync" || !name.starts_with("del-"), "a mistake of the host's");
        Ok(())
    });
    assert!(catch_unwind(AssertUnwindSafe(|| writer.finish_merge(merged).map(drop))).is_err());
    storage.mend();
    assert_eq!(writer.commit().unwrap_err().kind(), ErrorKind::Poisoned);
    writer.rollback().unwrap();
    writer.add(document(20)).unwrap();
    assert_eq!(writer.commit().unwrap().documents, 8);
}

/// The files of what was only flushed go while a merge of it is taken in.
#[test]
fn nor_one_that_ends_in_a_panic_while_it_is_taken_in() {
    let storage = Arc::new(Failing::default());
    let index = Index::options().create_in(storage.clone(), schema()).unwrap();
    let options = WriterOptions::new().threads(1).merge_policy(MergePolicy::default().factor(2));
    let mut writer = index.writer_with(options).unwrap();
    writer.commit().unwrap();
    // So many that a flush leaves merging them to others.
    for ids in [0..40_000, 40_000..80_000] {
        ids.for_each(|id| writer.add(document(id)).unwrap());
        writer.flush().unwrap();
    }
    let job = writer.begin_merge().unwrap().expect("two segments of a size");
    let merged = job.run(&CancelToken::new()).unwrap();
    writer.delete_key("1").unwrap();
    writer.flush().unwrap();
    storage.panic("delete");
    assert!(catch_unwind(AssertUnwindSafe(|| writer.finish_merge(merged).map(drop))).is_err());
    storage.mend();
    assert_eq!(writer.commit().unwrap_err().kind(), ErrorKind::Poisoned);
    writer.rollback().unwrap();
    writer.add(document(1)).unwrap();
    assert_eq!(writer.commit().unwrap().documents, 1);
}

/// A rollback that does not come to its end has forgotten something, so nothing of it is committed.
#[test]
fn a_panic_in_a_rollback_leaves_a_useless_writer() {
    let storage = Arc::new(Failing::default());
    let index = Index::options().create_in(storage.clone(), schema()).unwrap();
    let options = WriterOptions::new().threads(1).memory_bytes(16 << 20);
    let mut writer = index.writer_with(options).unwrap();
    writer.commit().unwrap();
    let is_spilled = || storage.list().unwrap().iter().any(|entry| entry.name.starts_with(".run-"));
    for id in 0..200_000_u64 {
        let text = format!("{:x} {:x}", id * 7_919, id * 104_729);
        writer.add(Document::new().with("id", id.to_string()).with("text", text)).unwrap();
        if id % 1_000 == 0 && is_spilled() {
            break;
        }
    }
    assert!(is_spilled(), "there is something to delete");
    storage.panic("delete");
    assert!(catch_unwind(AssertUnwindSafe(|| writer.rollback())).is_err());
    storage.mend();
    assert_eq!(writer.commit().unwrap_err().kind(), ErrorKind::Poisoned);
    writer.rollback().unwrap();
    assert_eq!(writer.commit().unwrap().documents, 0);
}

/// Where the clean-up behind a commit fails halfway, the next one ends it; and what somebody else has cleared away is no
/// reason to keep the rest.
#[test]
fn what_could_not_be_cleared_away_goes_with_the_next_commit() {
    let files_after = |disturb: &dyn Fn(&Arc<Failing>)| {
        let storage = Arc::new(Failing::default());
        let index = Index::options().create_in(storage.clone(), schema()).unwrap();
        let mut writer = index.writer_with(WriterOptions::new().threads(1)).unwrap();
        for id in 0..12 {
            if id == 6 {
                disturb(&storage);
            }
            writer.add(document(id)).unwrap();
            // Each takes the place of all segments before.
            writer.merge().unwrap();
        }
        let mut kinds = [0, 0];
        for entry in storage.list().unwrap() {
            kinds[0] += usize::from(entry.name.starts_with("seg-"));
            kinds[1] += usize::from(entry.name.starts_with("manifest-"));
        }
        kinds
    };
    let undisturbed = files_after(&|_| ());
    assert_eq!(undisturbed[1], 2);
    let names_fail_once = |storage: &Arc<Failing>| {
        // The first time that names are synced behind a deleted manifest.
        let (is_deleted, has_failed) = (AtomicBool::new(false), AtomicBool::new(false));
        storage.before(move |call, _| {
            is_deleted.fetch_or(call == "delete_unless_pinned", Ordering::SeqCst);
            let is_met = call == "sync_names" && is_deleted.load(Ordering::SeqCst);
            if is_met && !has_failed.swap(true, Ordering::SeqCst) {
                return Err(treepie::Error::io("syncing", std::io::ErrorKind::Other.into()));
            }
            Ok(())
        });
    };
    assert_eq!(files_after(&names_fail_once), undisturbed);
    let manifests_vanish = |storage: &Arc<Failing>| {
        let names = storage.list().unwrap().into_iter().map(|entry| entry.name);
        let oldest = names.filter(|name| name.starts_with("manifest-")).min().unwrap();
        storage.delete(&oldest).unwrap();
    };
    assert_eq!(files_after(&manifests_vanish), undisturbed);
}

/// Also of what somebody else has lost, as long as it is lost.
#[test]
fn commits_that_come_by_themselves_tell_of_a_useless_writer_each_time() {
    let index = Index::in_memory(schema());
    let (writer, panics) = panicking_writer(&index);
    let writer = writer.into_shared();
    writer.commit().unwrap();
    let n_told = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&n_told);
    let commits = writer.commit_every(Duration::from_millis(1), move |commit| {
        assert_eq!(commit.unwrap_err().kind(), ErrorKind::Poisoned);
        told.fetch_add(1, Ordering::Relaxed);
    });
    let lost = writer.with(|own| {
        own.add(document(1)).unwrap();
        panics.store(true, Ordering::SeqCst);
        assert!(catch_unwind(AssertUnwindSafe(|| own.flush().map(drop))).is_err());
        Ok(())
    });
    lost.unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while n_told.load(Ordering::Relaxed) < 3 {
        assert!(Instant::now() < until, "it is told each time");
        std::thread::yield_now();
    }
    drop(commits);
    writer.rollback().unwrap();
    assert_eq!(writer.commit().unwrap().documents, 0);
}

#[test]
fn what_was_flushed_goes_with_a_writer_that_failed() {
    let index = Index::in_memory(schema());
    let (mut writer, panics) = panicking_writer(&index);
    writer.add(document(1)).unwrap();
    writer.commit().unwrap();
    let reader = index.reader().unwrap();
    writer.add(document(2)).unwrap();
    writer.flush().unwrap();
    assert_eq!(reader.searcher().n_docs(), 2);
    writer.add(document(3)).unwrap();
    panics.store(true, Ordering::SeqCst);
    assert!(catch_unwind(AssertUnwindSafe(|| writer.commit().map(drop))).is_err());
    assert_eq!(writer.add(document(4)).unwrap_err().kind(), ErrorKind::Poisoned);
    drop(writer);
    assert_eq!(reader.searcher().n_docs(), 1);
    assert!(!reader.refresh().unwrap());
    let mut writer = index.writer().unwrap();
    writer.add(document(5)).unwrap();
    writer.commit().unwrap();
    assert_eq!(reader.searcher().n_docs(), 2);
}

#[test]
fn what_was_flushed_goes_with_a_failed_writer_that_had_committed_nothing() {
    let index = Index::in_memory(schema());
    let (mut writer, panics) = panicking_writer(&index);
    writer.add(document(1)).unwrap();
    writer.flush().unwrap();
    let reader = index.reader().unwrap();
    assert_eq!(reader.searcher().n_docs(), 1);
    writer.add(document(2)).unwrap();
    panics.store(true, Ordering::SeqCst);
    assert!(catch_unwind(AssertUnwindSafe(|| writer.commit().map(drop))).is_err());
    drop(writer);
    assert_eq!(reader.searcher().n_docs(), 0);
    assert!(!reader.refresh().unwrap());
    let mut writer = index.writer().unwrap();
    writer.add(document(3)).unwrap();
    writer.commit().unwrap();
    assert_eq!(reader.searcher().n_docs(), 1);
}

#[test]
fn updates_of_what_was_just_added_leave_few_files() {
    let place = Place::new("updates");
    let index = Index::create(&place.0, schema()).unwrap();
    let mut writer = index.writer_with(WriterOptions::new().threads(1)).unwrap();
    for n in 0..600 {
        writer.add(document(n)).unwrap();
        assert!(writer.update(n.to_string(), |document| document.set("text", "new")).unwrap());
        assert!(n % 50 > 0 || place.files() < 100, "{} files after {n}", place.files());
    }
    assert_eq!(writer.commit().unwrap().documents, 600);
    let searcher = index.searcher().unwrap();
    assert_eq!(searcher.count(&searcher.parse("text:new").unwrap()).unwrap(), 600);
}

#[test]
fn who_waits_for_a_commit_is_told_of_a_rollback() {
    let index = Index::in_memory(schema());
    let writer = index.writer_with(WriterOptions::new().threads(1)).unwrap().into_shared();
    let pause = || std::thread::sleep(Duration::from_millis(5));
    // Who is woken first is not ours to say.
    let is_told = (0..50).any(|id| {
        writer.commit().unwrap();
        std::thread::scope(|scope| {
            let (rolling_back, committing) = writer
                .with(|_| {
                    let rolling_back = scope.spawn(|| writer.rollback());
                    pause();
                    writer.add(document(id)).unwrap();
                    let committing = scope.spawn(|| writer.commit());
                    pause();
                    Ok((rolling_back, committing))
                })
                .unwrap();
            rolling_back.join().unwrap().unwrap();
            let found = || {
                let searcher = index.searcher().unwrap();
                searcher.count(&searcher.parse(&format!("id:{id}")).unwrap()).unwrap()
            };
            let error = match committing.join().unwrap() {
                Err(error) => error,
                Ok(commit) => {
                    // It came first, or so late that nobody knew of it.
                    assert_eq!(found(), commit.added);
                    return false;
                }
            };
            assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
            writer.commit().unwrap();
            assert_eq!(found(), 0);
            true
        })
    });
    assert!(is_told, "50 times it was told that what is forgotten was committed");
}

#[test]
fn a_payload_that_is_too_long_is_refused_at_once() {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    writer.add(document(1)).unwrap();
    writer.set_payload(vec![1; 65_536]).unwrap();
    let error = writer.set_payload(vec![2; 65_537]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    let writer = writer.into_shared();
    assert_eq!(writer.set_payload(vec![3; 65_537]).unwrap_err().kind(), ErrorKind::LimitExceeded);
    assert_eq!(writer.commit().unwrap().documents, 1);
    assert_eq!(index.searcher().unwrap().payload(), [1; 65_536]);
}

#[test]
fn an_index_that_is_overwritten_does_not_say_how_far_the_old_one_had_read() {
    for rolls_back in [false, true] {
        let place = Place::new("payload");
        let index = Index::create(&place.0, schema()).unwrap();
        let mut writer = index.writer().unwrap();
        writer.set_payload("line 1000000").unwrap();
        writer.commit().unwrap();
        drop(writer);
        let index = Index::overwrite(&place.0, schema()).unwrap();
        let mut writer = index.writer().unwrap();
        if rolls_back {
            writer.rollback().unwrap();
        }
        writer.commit().unwrap();
        assert_eq!(index.searcher().unwrap().payload(), b"", "{rolls_back}");
    }
}

#[test]
fn an_index_is_not_added_to_itself() {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    writer.add(document(1)).unwrap();
    writer.commit().unwrap();
    let error = writer.add_index(&index.searcher().unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_eq!(writer.commit().unwrap().documents, 1);
    // By another name it is the same.
    let place = Place::new("itself");
    let mut other = Index::create(&place.0, schema()).unwrap().writer().unwrap();
    other.add(document(1)).unwrap();
    other.commit().unwrap();
    let name = place.0.file_name().unwrap();
    let again = Index::open(place.0.join("..").join(name)).unwrap();
    let error = other.add_index(&again.searcher().unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    // A copy in memory is another, though it is in a place of the same name.
    let copy = Arc::new(MemoryStorage::new());
    index.copy_to_storage(copy.clone()).unwrap();
    let copy = Index::options().open_storage(copy).unwrap();
    assert_eq!(writer.add_index(&copy.searcher().unwrap()).unwrap(), 1);
    assert_eq!(writer.commit().unwrap().documents, 1, "by their keys");
}

/// Readers that are made while something is committed see it as soon as the commit has ended.
#[test]
fn a_reader_is_never_behind_a_commit_that_ended_before_it_answers() {
    for round in 0..200 {
        let index = Index::in_memory(schema());
        let mut writer = index.writer_with(WriterOptions::new().threads(1)).unwrap();
        writer.commit().unwrap();
        writer.add(document(1)).unwrap();
        let other = index.clone();
        let reading = std::thread::spawn(move || {
            (0..round).for_each(|_| std::hint::spin_loop());
            other.reader().unwrap()
        });
        writer.commit().unwrap();
        assert_eq!(reading.join().unwrap().searcher().n_docs(), 1);
    }
}
