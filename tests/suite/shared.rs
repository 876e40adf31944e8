//! A writer that threads share, on pools of the host's, and with commits and merges that come by themselves.

use crate::failing::Failing;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use treepie::writer::{MergePolicy, PeriodicCommits, Progress, ThreadPool};
use treepie::{Document, ErrorKind, Index, Schema, SharedWriter, WriterOptions};

/// After so long something that should come does not.
const LONG: Duration = Duration::from_secs(60);

fn schema() -> Schema {
    Schema::builder().text("text").build().unwrap()
}

fn document(n: u64) -> Document {
    Document::new().with("text", format!("number {n}"))
}

/// Waits until it is so.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Four segments of a document, of which one is due to be made.
fn four_segments() -> (Arc<Failing>, SharedWriter, Index) {
    let (storage, index, writer) = four_to_merge();
    (storage, writer, index)
}

/// Commits every millisecond, if need be, and merges beside.
fn merging_beside(writer: &SharedWriter) -> PeriodicCommits {
    let told = |commit: treepie::Result<_>| assert!(commit.is_ok(), "{commit:?}");
    writer.commit_every(Duration::from_millis(1), told).unwrap()
}

/// Four commits that are due to be merged, in files whose calls may fail.
fn four_to_merge() -> (Arc<Failing>, Index, SharedWriter) {
    let storage = Arc::new(Failing::default());
    let index = Index::options().create_in(storage.clone(), schema()).unwrap();
    let options = WriterOptions::new().threads(1).merge_policy(MergePolicy::default().factor(4));
    let writer = index.writer_with(options).unwrap().into_shared();
    for n in 0..4 {
        writer.add(document(n)).unwrap();
        writer.commit().unwrap();
    }
    (storage, index, writer)
}

/// Whoever leads a commit does what no thread of the pool has time for: they may all be waiting for him.
#[test]
fn a_commit_needs_no_thread_of_a_pool_that_has_none_to_spare() {
    let pool = ThreadPool::new(2).unwrap();
    let index = Index::in_memory(schema());
    let options = WriterOptions::new().pool(&pool).memory_bytes(16 << 20);
    let writer = index.writer_with(options).unwrap().into_shared();
    let (release, released) = channel::<()>();
    let released = Arc::new(std::sync::Mutex::new(released));
    for _ in 0..2 {
        let released = Arc::clone(&released);
        pool.spawn(move || released.lock().unwrap().recv().unwrap_or_default());
    }
    let (tell, told) = channel();
    let leading = std::thread::spawn(move || {
        // Several batches, and many ranges of terms.
        for n in 0..60_000 {
            writer.add_and_process(document(n * 7_919)).unwrap();
        }
        tell.send(writer.commit().map(|commit| commit.documents)).unwrap();
    });
    assert_eq!(told.recv_timeout(LONG).expect("nobody does the work").unwrap(), 60_000);
    leading.join().unwrap();
    drop(release);
}

/// Panics once it is told to, when the second range of terms is merged: other threads are at the next ones then.
#[test]
fn a_panic_while_others_merge_ends_for_all() {
    let panics = Arc::new(AtomicBool::new(true));
    let asked = Arc::clone(&panics);
    let pool = ThreadPool::new(2).unwrap();
    let options = WriterOptions::new().pool(&pool).memory_bytes(32 << 20);
    let options = options.on_progress(move |step| {
        let is_met = matches!(step, Progress::Merging { done: 2, total } if total > 5);
        assert!(!(is_met && asked.swap(false, Ordering::SeqCst)), "a mistake of the host's");
    });
    let index = Index::in_memory(schema());
    let writer = index.writer_with(options).unwrap().into_shared();
    let add = |writer: &SharedWriter| {
        for n in 0..60_000 {
            writer.add_and_process(document(n * 7_919)).unwrap();
        }
    };
    add(&writer);
    let (tell, told) = channel::<()>();
    let own = writer.clone();
    let leading = std::thread::spawn(move || {
        let _tell = tell;
        own.commit().map(drop)
    });
    // It ends, one way or another.
    let ended = told.recv_timeout(LONG).expect_err("nothing is sent");
    assert_eq!(ended, std::sync::mpsc::RecvTimeoutError::Disconnected, "it waits for ever");
    assert!(leading.join().is_err() && !panics.load(Ordering::SeqCst), "it has panicked");
    let (tell, told) = channel();
    let both = Arc::new(Barrier::new(pool.threads()));
    for _ in 0..pool.threads() {
        let (tell, both) = (tell.clone(), Arc::clone(&both));
        pool.spawn(move || tell.send(both.wait().is_leader()).unwrap());
    }
    let mut met = [told.recv_timeout(LONG), told.recv_timeout(LONG)];
    met.sort_unstable_by_key(|it| it.is_ok_and(|is_leader| is_leader));
    assert_eq!(met, [Ok(false), Ok(true)], "threads of the pool wait for ever");
    assert_eq!(writer.commit().unwrap_err().kind(), ErrorKind::Poisoned);
    writer.rollback().unwrap();
    add(&writer);
    assert_eq!(writer.commit().unwrap().documents, 60_000);
}

/// One commit after another, of whomever: few segments are left.
#[test]
fn commits_that_come_by_themselves_merge_what_anybody_commits() {
    for is_own in [true, false] {
        let index = Index::in_memory(schema());
        let options =
            WriterOptions::new().threads(1).merge_policy(MergePolicy::default().factor(2));
        let writer = index.writer_with(options).unwrap().into_shared();
        writer.commit().unwrap();
        let commits = merging_beside(&writer);
        let committed = || index.searcher().unwrap().n_docs();
        for n in 0..40 {
            writer.add(document(n)).unwrap();
            if is_own {
                until("it commits", || committed() == n + 1);
            } else {
                writer.commit().unwrap();
            }
        }
        until("they are merged", || index.inspect().unwrap().segments().len() <= 6);
        drop(commits);
        assert_eq!(committed(), 40);
    }
}

/// What is due when they begin is merged without another commit.
#[test]
fn commits_that_come_by_themselves_begin_with_what_was_left() {
    let index = Index::in_memory(schema());
    let options = WriterOptions::new().threads(1).merge_policy(MergePolicy::default().factor(2));
    let writer = index.writer_with(options).unwrap().into_shared();
    for n in 0..16 {
        writer.add(document(n)).unwrap();
        writer.commit().unwrap();
    }
    assert_eq!(index.inspect().unwrap().segments().len(), 16);
    let commits = merging_beside(&writer);
    until("they are merged", || index.inspect().unwrap().segments().len() <= 4);
    drop(commits);
}

/// One that fails is tried again after the next commit, and not as often as somebody could look.
#[test]
fn a_merge_that_fails_waits_for_the_next_commit() {
    let (storage, index, writer) = four_to_merge();
    storage.before(|call, name| match call == "create" && name.starts_with("seg-") {
        true => {
            Err(treepie::Error::io("creating", std::io::ErrorKind::StorageFull.into())
                .in_file(name))
        }
        false => Ok(()),
    });
    let n_failed = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&n_failed);
    let commits = writer.commit_every(Duration::from_millis(1), move |told| {
        let Err(error) = told else { return };
        assert_eq!(error.kind(), ErrorKind::NoSpace);
        count.fetch_add(1, Ordering::SeqCst);
    });
    until("it is told", || n_failed.load(Ordering::SeqCst) == 1);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(n_failed.load(Ordering::SeqCst), 1, "nobody has committed since");
    // A commit of nothing but what a host wants to be told with it.
    writer.set_payload("next").unwrap();
    until("it has tried again", || n_failed.load(Ordering::SeqCst) == 2);
    storage.mend();
    writer.set_payload("last").unwrap();
    until("it is merged", || index.inspect().unwrap().segments().len() == 1);
    drop(commits);
}

/// Nor is it tried again and again where it does not even begin.
#[test]
fn a_merge_that_cannot_begin_waits_for_the_next_commit() {
    let (storage, index, writer) = four_to_merge();
    storage.fail("open", 0, std::io::ErrorKind::PermissionDenied);
    let n_failed = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&n_failed);
    let commits = writer.commit_every(Duration::from_millis(1), move |told| {
        count.fetch_add(u64::from(told.is_err()), Ordering::SeqCst);
    });
    until("it is told", || n_failed.load(Ordering::SeqCst) == 1);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(n_failed.load(Ordering::SeqCst), 1, "nobody has committed since");
    storage.mend();
    writer.set_payload("next").unwrap();
    until("it is merged", || index.inspect().unwrap().segments().len() == 1);
    drop(commits);
}

/// A panic in a merge is not the writer's, which goes on with what it has.
#[test]
fn a_merge_that_cannot_begin_by_a_panic_leaves_the_writer_as_it_is() {
    let (storage, index, writer) = four_to_merge();
    storage.panic("open");
    let (tell, told) = channel();
    let commits = writer.commit_every(Duration::from_millis(1), move |commit| {
        let _ = tell.send(commit.map(drop).map_err(|error| error.kind()));
    });
    assert_eq!(told.recv_timeout(LONG).unwrap(), Err(ErrorKind::Io));
    storage.mend();
    writer.add(document(4)).unwrap();
    assert_eq!(told.recv_timeout(LONG).unwrap(), Ok(()));
    until("it is merged", || index.inspect().unwrap().segments().len() < 5);
    drop(commits);
}

/// The host hears of a panic of its storage as of other errors, and the thread goes on.
#[test]
fn commits_that_come_by_themselves_outlive_a_panic() {
    let storage = Arc::new(Failing::default());
    let index = Index::options().create_in(storage.clone(), schema()).unwrap();
    let writer = index.writer_with(WriterOptions::new().threads(1)).unwrap().into_shared();
    writer.commit().unwrap();
    let (n_poisoned, n_committed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let counts = [&n_poisoned, &n_committed].map(Arc::clone);
    let commits = writer.commit_every(Duration::from_millis(1), move |commit| {
        let count = match commit {
            // The rollback came first.
            Err(error) if error.kind() == ErrorKind::Cancelled => return,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Poisoned, "{error}");
                &counts[0]
            }
            Ok(_) => &counts[1],
        };
        count.fetch_add(1, Ordering::SeqCst);
    });
    storage.panic("publish");
    writer.add(document(1)).unwrap();
    until("it is told", || n_poisoned.load(Ordering::SeqCst) >= 2);
    storage.mend();
    writer.rollback().unwrap();
    writer.add(document(2)).unwrap();
    until("it commits again", || n_committed.load(Ordering::SeqCst) >= 1);
    drop(commits);
    assert_eq!(index.searcher().unwrap().n_docs(), 1);
}

/// The same where a merge panics, on its own thread or when it is taken in.
#[test]
fn commits_that_come_by_themselves_outlive_a_panic_of_a_merge() {
    for (call, what) in [("create", "seg-"), ("publish", "")] {
        let (storage, writer, index) = four_segments();
        storage.before(move |called, name| {
            assert!(called != call || !name.starts_with(what), "a mistake of the host's in {call}");
            Ok(())
        });
        let (tell, told) = channel();
        let commits = writer.commit_every(Duration::from_millis(1), move |commit| {
            tell.send(commit.map_err(|error| error.kind())).unwrap_or_default();
        });
        let error = told.recv_timeout(LONG).expect("it is told").map(drop);
        assert_eq!(error, Err(ErrorKind::Io), "{call}");
        storage.mend();
        writer.rollback().unwrap();
        writer.set_payload("next").unwrap();
        until("it is merged", || index.inspect().unwrap().segments().len() == 1);
        drop(commits);
        assert_eq!(index.searcher().unwrap().n_docs(), 4);
    }
}

/// However long one takes.
#[test]
fn commits_that_come_by_themselves_wait_for_no_merge() {
    let (storage, writer, index) = four_segments();
    let n_begun = Arc::new(AtomicU64::new(0));
    let (release, released) = channel::<()>();
    let (begun, released) = (Arc::clone(&n_begun), std::sync::Mutex::new(released));
    storage.before(move |call, _| {
        if call == "create" && std::thread::current().name() == Some("treepie-merge") {
            begun.fetch_add(1, Ordering::SeqCst);
            released.lock().unwrap().recv().unwrap_or_default();
        }
        Ok(())
    });
    let commits = merging_beside(&writer);
    until("a merge has begun", || n_begun.load(Ordering::SeqCst) == 1);
    for n in 4..8 {
        writer.add(document(n)).unwrap();
        until("it commits", || index.searcher().unwrap().n_docs() == n + 1);
    }
    assert_eq!(n_begun.load(Ordering::SeqCst), 1, "one at a time");
    drop(release);
    until("they are merged", || index.inspect().unwrap().segments().len() <= 4);
    drop(commits);
    assert_eq!(index.searcher().unwrap().n_docs(), 8);
}

/// Whoever has ended them may take the storage away.
#[test]
fn the_end_of_commits_that_come_by_themselves_is_that_of_their_merges() {
    let (storage, writer, index) = four_segments();
    let (begin, begun) = channel();
    let (release, released) = channel::<()>();
    let (begin, released) = (std::sync::Mutex::new(begin), std::sync::Mutex::new(released));
    storage.before(move |call, _| {
        if call == "create" && std::thread::current().name() == Some("treepie-merge") {
            begin.lock().unwrap().send(()).unwrap_or_default();
            released.lock().unwrap().recv().unwrap_or_default();
        }
        Ok(())
    });
    let commits = merging_beside(&writer);
    begun.recv_timeout(LONG).expect("a merge has begun");
    let (tell, told) = channel();
    let ending = std::thread::spawn(move || {
        drop(commits);
        tell.send(()).unwrap();
    });
    assert!(told.recv_timeout(Duration::from_millis(100)).is_err(), "a merge goes on");
    drop(release);
    told.recv_timeout(LONG).expect("it ends");
    ending.join().unwrap();
    assert_eq!(index.inspect().unwrap().segments().len(), 4, "what was being merged is given up");
}

/// Nobody waits for himself.
#[test]
fn commits_that_come_by_themselves_may_be_ended_by_whom_they_tell() {
    let index = Index::in_memory(schema());
    let writer = index.writer().unwrap().into_shared();
    let held = Arc::new(std::sync::Mutex::new(None));
    let ends = Arc::clone(&held);
    let (tell, told) = channel();
    let commits = writer.commit_every(Duration::from_millis(1), move |commit| {
        drop(ends.lock().unwrap().take());
        tell.send(commit.unwrap().documents).unwrap();
    });
    *held.lock().unwrap() = Some(commits.unwrap());
    writer.add(document(1)).unwrap();
    assert_eq!(told.recv_timeout(LONG).unwrap(), 1);
    until("its thread ends", || told.try_recv().is_err() && Arc::strong_count(&held) == 1);
}

/// Nor for somebody who waits for him: a listener is told by the thread that merges.
#[test]
fn commits_that_come_by_themselves_may_be_ended_by_whom_their_merges_tell() {
    let held = Arc::new(std::sync::Mutex::new(None));
    let ends = Arc::clone(&held);
    let (tell, told) = channel();
    let is_merging = |thread: &std::thread::Thread| thread.name() == Some("treepie-merge");
    let options = Index::options().on_event(move |_| {
        if is_merging(&std::thread::current())
            && let Some(commits) = ends.lock().unwrap().take()
        {
            drop::<PeriodicCommits>(commits);
            let _ = tell.send(());
        }
    });
    let place = std::env::temp_dir().join(format!("treepie-ends-{}", std::process::id()));
    let index = options.create(&place, schema()).unwrap();
    let options = WriterOptions::new().threads(1).merge_policy(MergePolicy::default().factor(4));
    let writer = index.writer_with(options).unwrap().into_shared();
    let mut ending = held.lock().unwrap();
    *ending = Some(writer.commit_every(Duration::from_millis(1), |_| ()).unwrap());
    for n in 0..4 {
        writer.add(document(n)).unwrap();
        writer.commit().unwrap();
    }
    drop(ending);
    told.recv_timeout(LONG).expect("it waits for itself");
    drop((writer, index));
    std::fs::remove_dir_all(&place).unwrap();
}
