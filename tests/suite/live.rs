//! Following an index while it changes: flushes, commits in two phases, readers that never wait.

use crate::failing::Failing;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use treepie::storage::{MemoryStorage, Storage};
use treepie::{
    Document, ErrorKind, Field, FieldKind, Index, IndexWriter, Schema, Searcher, WriterOptions,
};

fn index() -> (Arc<MemoryStorage>, Index) {
    let storage = Arc::new(MemoryStorage::new());
    let schema = Schema::builder().text("text").key("id").build().unwrap();
    (storage.clone(), Index::options().create_in(storage, schema).unwrap())
}

fn put(writer: &mut IndexWriter, id: u64, text: &str) {
    writer.add(Document::new().with("id", id.to_string()).with("text", text)).unwrap();
}

fn count(searcher: &Searcher, text: &str) -> u64 {
    searcher.count(&searcher.parse(text).unwrap()).unwrap()
}

#[test]
fn every_searcher_keeps_what_it_began_with() {
    let (_, index) = index();
    let mut writer = index.writer().unwrap();
    assert_eq!(index.reader().unwrap().searcher().n_docs(), 0, "nothing is there yet");
    writer.commit().unwrap();
    let reader = index.reader().unwrap();
    let mut kept = vec![];
    for n in 0..40 {
        put(&mut writer, n % 25, &format!("word{n} all"));
        match n % 4 {
            3 => drop(writer.commit().unwrap()),
            _ => drop(writer.flush().unwrap()),
        }
        kept.push((n, reader.searcher()));
        if n % 10 == 9 {
            writer.maintain().unwrap();
        }
    }
    for (n, searcher) in &kept {
        assert_eq!(searcher.n_docs(), (n + 1).min(25), "{n}");
        assert_eq!(count(searcher, "all"), (n + 1).min(25), "{n}");
        for word in 0..40 {
            let is_there = word <= *n && word + 25 > *n;
            assert_eq!(
                count(searcher, &format!("word{word}")),
                u64::from(is_there),
                "{word} at {n}"
            );
        }
    }
    let etags: std::collections::HashSet<_> = kept.iter().map(|(_, s)| s.etag()).collect();
    assert_eq!(etags.len(), kept.len(), "every change shows in the etag");
}

#[test]
fn flushes_leave_nothing_behind() {
    let (storage, index) = index();
    let mut writer = index.writer().unwrap();
    writer.commit().unwrap();
    let reader = index.reader().unwrap();
    for n in 0..300 {
        put(&mut writer, n, "all");
        let flushed = writer.flush().unwrap();
        assert!(flushed.segments < 20, "{flushed:?}: small segments are merged as they come");
    }
    let segments = || {
        let names = storage.list().unwrap().into_iter().map(|entry| entry.name);
        names.filter(|name| name.starts_with("seg-") || name.starts_with("del-")).count()
    };
    assert!(segments() < 20);
    let commit = writer.commit().unwrap();
    assert_eq!((commit.added, commit.documents, commit.segments, segments()), (300, 300, 1, 1));

    put(&mut writer, 7, "again");
    assert_eq!(writer.flush().unwrap().deleted, 1);
    assert_eq!((segments(), count(&reader.searcher(), "again")), (3, 1));
    drop(writer);
    assert_eq!((segments(), count(&reader.searcher(), "again")), (1, 0), "it goes with the writer");
    assert_eq!(reader.searcher().n_docs(), 300);
}

#[test]
fn a_prepared_commit_is_durable_and_not_there() {
    let (storage, index) = index();
    let mut writer = index.writer().unwrap();
    put(&mut writer, 1, "one");
    writer.commit().unwrap();
    let before = storage.list().unwrap().len();

    put(&mut writer, 2, "two");
    let prepared = writer.prepare_commit().unwrap();
    assert_eq!((prepared.generation(), prepared.documents()), (2, 2));
    assert_eq!(index.searcher().unwrap().generation(), 1);
    drop(prepared);
    assert_eq!(
        storage.list().unwrap().len(),
        before + 1,
        "the segment waits, its manifest is gone"
    );
    let commit = writer.prepare_commit().unwrap().finish().unwrap();
    assert_eq!((commit.generation, commit.documents, commit.added), (2, 2, 1));

    put(&mut writer, 3, "three");
    drop(writer.prepare_commit().unwrap());
    writer.rollback().unwrap();
    assert_eq!(writer.commit().unwrap().documents, 2, "taken back and rolled back");
}

#[test]
fn a_merge_commits_no_payload_of_documents_that_wait() {
    let (_, index) = index();
    let mut writer = index.writer().unwrap();
    for n in 0..8 {
        put(&mut writer, n, "text");
        writer.set_payload(n.to_string()).unwrap();
        writer.commit().unwrap();
    }
    put(&mut writer, 8, "text");
    writer.set_payload("8").unwrap();
    assert_eq!(writer.maintain().unwrap(), 1);
    let searcher = index.searcher().unwrap();
    assert_eq!((searcher.n_docs(), searcher.payload()), (8, &b"7"[..]));
    writer.commit().unwrap();
    assert_eq!(index.searcher().unwrap().payload(), b"8");
}

#[test]
fn whoever_waits_is_woken_by_every_change() {
    let (storage, index) = index();
    let mut writer = index.writer().unwrap();
    writer.commit().unwrap();
    let reader = index.reader().unwrap();
    let mut changes = reader.subscribe();
    assert!(changes.next_within(Duration::ZERO).is_none());
    writer.flush().unwrap();
    assert!(changes.next_within(Duration::ZERO).is_some());
    assert!(changes.next_within(Duration::ZERO).is_none(), "told once");
    put(&mut writer, 1, "one");
    writer.commit().unwrap();
    assert_eq!(changes.next().n_docs(), 1);
    drop(writer);

    // Another process: it knows nothing of this one's readers.
    let other = Index::options().open_storage(storage).unwrap();
    let mut writer = other.writer().unwrap();
    put(&mut writer, 2, "two");
    writer.commit().unwrap();
    assert!(changes.next_within(Duration::ZERO).is_none());
    assert!(reader.refresh().unwrap());
    assert!(!reader.refresh().unwrap());
    assert_eq!(changes.next().n_docs(), 2);
}

#[test]
fn readers_on_other_threads_see_whole_snapshots_in_order() {
    let (_, index) = index();
    let mut writer = index.writer().unwrap();
    writer.commit().unwrap();
    let reader = index.reader().unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let (reader, done) = (reader.clone(), &done);
            scope.spawn(move || {
                let mut last = 0;
                while !done.load(Ordering::Relaxed) {
                    let searcher = reader.searcher();
                    // All documents carry the round in which they were replaced last.
                    let n_docs = searcher.n_docs();
                    let rounds: Vec<u64> = (last..=60)
                        .filter(|round| count(&searcher, &format!("round{round}")) > 0)
                        .collect();
                    assert!(rounds.len() <= 1 && n_docs <= 10, "{rounds:?} of {n_docs}");
                    assert_eq!(rounds.is_empty(), n_docs == 0);
                    last = rounds.first().copied().unwrap_or(last);
                }
            });
        }
        for round in 0..60 {
            for id in 0..10 {
                put(&mut writer, id, &format!("round{round}"));
            }
            match round % 5 {
                4 => drop(writer.commit().unwrap()),
                _ => drop(writer.flush().unwrap()),
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(count(&reader.searcher(), "round59"), 10);
}

/// Wherever a writer stands still in a commit, with all the locks that it holds there, readers answer, follow, are opened
/// and look for news.
#[test]
fn readers_wait_for_no_writer() {
    let schema = || Schema::builder().text("text").key("id").build().unwrap();
    let mut calls = 0;
    for nth in 0.. {
        let storage = Arc::new(Failing::default());
        let index = Index::options().create_in(storage.clone(), schema()).unwrap();
        let mut writer = index.writer_with(WriterOptions::new().threads(1)).unwrap();
        put(&mut writer, 1, "first");
        writer.commit().unwrap();
        let reader = index.reader().unwrap();
        put(&mut writer, 2, "second");
        put(&mut writer, 1, "first again");
        let (halts, halted) = mpsc::channel();
        let (go_on, goes_on) = mpsc::channel::<()>();
        let goes_on = Mutex::new(goes_on);
        let seen = AtomicU64::new(0);
        let writing = std::thread::spawn(move || {
            let this = std::thread::current().id();
            storage.before(move |_, _| {
                if std::thread::current().id() == this && seen.fetch_add(1, Ordering::SeqCst) == nth
                {
                    halts.send(()).unwrap();
                    let _ = goes_on.lock().unwrap().recv();
                }
                Ok(())
            });
            writer.flush()?;
            writer.commit()?;
            storage.mend(); // and what halts is gone
            Ok::<_, treepie::Error>(writer)
        });
        let is_halted = halted.recv().is_ok();
        let (answers, answered) = mpsc::channel();
        let reading = std::thread::spawn(move || {
            let searcher = reader.searcher();
            reader.refresh().unwrap();
            let opened = index.searcher().unwrap();
            for searcher in [&searcher, &reader.searcher(), &opened] {
                assert_eq!(count(searcher, "first"), 1);
                assert_eq!(count(searcher, "second"), searcher.n_docs() - 1);
            }
            answers.send(()).unwrap();
        });
        answered.recv_timeout(Duration::from_secs(60)).expect("an answer in a minute");
        reading.join().unwrap();
        drop(go_on);
        drop(writing.join().unwrap().unwrap());
        if !is_halted {
            break;
        }
        calls += 1;
    }
    assert!(calls > 5, "a flush and a commit make {calls} calls");
}

#[test]
fn a_delete_that_is_too_much_is_refused_when_it_is_asked_for() {
    let mut limits = treepie::Limits::default();
    limits.terms_visited = 5;
    let index = Index::in_memory(Schema::builder().text("text").build().unwrap());
    let index = index.with_limits(limits).unwrap();
    let mut writer = index.writer().unwrap();
    for n in 0..20_000 {
        writer.add(Document::new().with("text", format!("w{n}x"))).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    writer.add(Document::new().with("text", "kept")).unwrap();
    let error = writer.delete(&searcher.parse("*7x").unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert_eq!(writer.commit().unwrap().documents, 20_001);
}

#[test]
fn what_is_not_stored_cannot_be_updated_and_keys_stay() {
    let schema = || Schema::builder().text("text").key("id");
    let (_, index) = index();
    let mut writer = index.writer().unwrap();
    put(&mut writer, 1, "one");
    let moved = writer.update("1", |document| document.set("id", "2")).unwrap_err();
    assert_eq!(moved.kind(), ErrorKind::Usage);
    let unknown = writer.update("1", |document| document.set("nonsense", "2")).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::Document);
    assert_eq!(writer.commit().unwrap().documents, 1);
    assert_eq!(count(&index.searcher().unwrap(), "one"), 1, "it stays as it was");

    let unstored =
        schema().field(Field::new("body", FieldKind::Text).stored(false)).build().unwrap();
    let mut writer = Index::in_memory(unstored).writer().unwrap();
    let error = writer.update("1", |_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Schema);
    assert!(error.to_string().contains("'body'"), "{error}");
    let keyless = Schema::builder().text("text").build().unwrap();
    let error = Index::in_memory(keyless).writer().unwrap().update("1", |_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
}

#[test]
fn commits_of_many_threads_are_shared_and_everyone_sees_his_own() {
    let (_, index) = index();
    let writer = index.writer().unwrap().into_shared();
    let generations: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let (writer, index) = (writer.clone(), index.clone());
                scope.spawn(move || {
                    let mut last = 0;
                    for n in 0..25 {
                        let id = thread * 100 + n;
                        let document = Document::new()
                            .with("id", id.to_string())
                            .with("text", format!("d{id}"));
                        writer.add(document).unwrap();
                        if n > 0 {
                            writer.delete_key((id - 1).to_string()).unwrap();
                        }
                        let commit = writer.commit().unwrap();
                        assert!(commit.generation > last, "a commit that began after the last one");
                        last = commit.generation;
                        let searcher = index.searcher().unwrap();
                        assert_eq!(count(&searcher, &format!("d{id}")), 1, "mine is there");
                        assert!(n == 0 || count(&searcher, &format!("d{}", id - 1)) == 0);
                    }
                    last
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(index.searcher().unwrap().n_docs(), 8);
    let n_commits = generations.iter().max().unwrap();
    assert!((25..=200).contains(n_commits), "{n_commits}");

    // While one is at work with the writer the others gather; whoever leads next commits for all who have come.
    let is_shared = (0..50).any(|round| {
        let gate = std::sync::Barrier::new(9);
        let before = index.searcher().unwrap().generation();
        std::thread::scope(|scope| {
            for id in 0..8 {
                let (writer, gate) = (&writer, &gate);
                scope.spawn(move || {
                    let id = format!("r{round}x{id}");
                    writer.add(Document::new().with("id", id).with("text", "gathered")).unwrap();
                    gate.wait();
                    writer.commit().unwrap();
                });
            }
            let at_work = writer.with(|_| {
                gate.wait();
                std::thread::sleep(Duration::from_millis(5));
                Ok(())
            });
            at_work.unwrap();
        });
        let searcher = index.searcher().unwrap();
        assert_eq!(count(&searcher, "gathered"), 8 * (round + 1));
        searcher.generation() < before + 8
    });
    assert!(is_shared, "each has made a commit of its own");
}

/// Somebody else's commit may have taken it along.
#[test]
fn a_shared_commit_of_nothing_new_is_the_last_one() {
    let (storage, index) = index();
    let writer = index.writer().unwrap().into_shared();
    let first = writer.commit().unwrap();
    assert_eq!((first.generation, first.documents), (0, 0), "as the index was created");
    writer.add(Document::new().with("id", "1").with("text", "one")).unwrap();
    let second = writer.commit().unwrap();
    assert_eq!((second.generation, second.added), (1, 1));
    let files = storage.list().unwrap();
    let again = writer.commit().unwrap();
    assert_eq!((again.generation, again.documents, again.added), (1, 1, 0));
    assert_eq!(storage.list().unwrap(), files);
    writer.set_payload("up to here").unwrap();
    assert_eq!(writer.commit().unwrap().generation, 2);
    writer.delete_key("1").unwrap();
    assert_eq!(writer.commit().unwrap().documents, 0);
}

#[test]
fn what_waits_is_bounded_and_nothing_of_it_is_lost() {
    let (_, index) = index();
    let options = WriterOptions::new().memory_bytes(16 << 20).threads(1);
    let writer = index.writer_with(options).unwrap().into_shared();
    let document =
        |n: u64| Document::new().with("id", n.to_string()).with("text", "x ".repeat(500));
    let mut n = 0;
    let busy = loop {
        match writer.add(document(n)) {
            Ok(buffered) => assert!(buffered.bytes < 4 << 20 && n < 10_000),
            Err(error) => break error,
        }
        n += 1;
    };
    assert_eq!(busy.kind(), ErrorKind::Busy);
    assert!(n > 1_000, "{n}");
    writer.process().unwrap();
    for more in n..n + 5_000 {
        writer.add_and_process(document(more)).unwrap();
    }
    let refused = writer.add(Document::new().with("text", "without a key")).unwrap_err();
    assert_eq!(
        refused.kind(),
        ErrorKind::Document,
        "refused at once, and not for those who commit"
    );
    assert_eq!(writer.commit().unwrap().documents, n + 5_000);
}

#[test]
fn everyone_in_a_group_is_told_that_it_failed() {
    let directory = std::env::temp_dir().join(format!("treepie-live-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    let schema = Schema::builder().text("text").key("id").build().unwrap();
    let index = Index::create(&directory, schema).unwrap();
    let writer = index.writer().unwrap().into_shared();
    let add = |id: u32| {
        let document = Document::new().with("id", id.to_string()).with("text", "text");
        writer.add(document).unwrap();
    };
    add(0);
    writer.commit().unwrap();
    std::fs::remove_file(directory.join("write.lock")).unwrap();
    std::thread::scope(|scope| {
        for id in 1..5 {
            let (add, writer) = (&add, &writer);
            scope.spawn(move || {
                add(id);
                let kind = writer.commit().unwrap_err().kind();
                assert!(matches!(kind, ErrorKind::Locked | ErrorKind::Poisoned), "{kind:?}");
            });
        }
    });
    assert_eq!(
        writer.rollback().unwrap_err().kind(),
        ErrorKind::Locked,
        "another may write by now"
    );
    assert_eq!(index.searcher().unwrap().n_docs(), 1);
    drop(writer);
    let writer = index.writer().unwrap().into_shared();
    writer.add(Document::new().with("id", "9").with("text", "text")).unwrap();
    assert_eq!(writer.commit().unwrap().documents, 2);
    drop(writer);
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn commits_come_by_themselves_where_that_is_asked_for() {
    let (_, index) = index();
    let writer = index.writer().unwrap().into_shared();
    writer.commit().unwrap();
    let mut changes = index.reader().unwrap().subscribe();
    let n_told = Arc::new(AtomicU64::new(0));
    let told = Arc::clone(&n_told);
    let commits = writer.commit_every(Duration::from_millis(1), move |commit| {
        told.fetch_add(commit.unwrap().added, Ordering::Relaxed);
    });
    let commits = commits.unwrap();
    writer.add(Document::new().with("id", "1").with("text", "one")).unwrap();
    let seen = changes.next_within(Duration::from_secs(60)).expect("a commit");
    assert_eq!(seen.n_docs(), 1);
    drop(commits);
    let commits = writer.commit_every(Duration::from_secs(3_600), |_| ()).unwrap();
    writer.add(Document::new().with("id", "2").with("text", "two")).unwrap();
    drop(commits);
    assert_eq!((n_told.load(Ordering::Relaxed), index.searcher().unwrap().n_docs()), (1, 2));
}

#[test]
fn nobody_is_told_that_what_an_error_lost_was_committed() {
    let directory = std::env::temp_dir().join(format!("treepie-lost-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    let schema = Schema::builder().text("text").key("id").build().unwrap();
    let index = Index::create(&directory, schema).unwrap();
    let options = WriterOptions::new().memory_bytes(16 << 20).threads(1);
    let writer = index.writer_with(options).unwrap().into_shared();
    writer.commit().unwrap();
    writer.add(Document::new().with("id", "1").with("text", "theirs")).unwrap();
    // Behind it more to delete than is kept in memory, for which nothing can be written.
    std::fs::rename(&directory, directory.with_extension("away")).unwrap();
    let key = "k".repeat(30_000);
    let error = loop {
        if writer.delete_key(&key).is_err()
            && let Err(error) = writer.process()
        {
            break error;
        }
    };
    std::fs::rename(directory.with_extension("away"), &directory).unwrap();
    assert!(matches!(error.kind(), ErrorKind::Io | ErrorKind::NotFound), "{error:?}");
    assert_eq!(writer.commit().unwrap_err().kind(), ErrorKind::Poisoned);
    writer.rollback().unwrap();
    assert_eq!(writer.commit().unwrap().documents, 0);
    drop(writer);
    std::fs::remove_dir_all(&directory).unwrap();
}
