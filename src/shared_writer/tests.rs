use super::*;
use crate::schema::Schema;
use crate::storage::MemoryStorage;
use crate::writer::{Existing, Progress, WriterOptions};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;

/// After so long something that should come does not.
const LONG: Duration = Duration::from_secs(60);

/// The writer of an index without documents.
fn writer(options: WriterOptions) -> SharedWriter {
    of_schema(Schema::builder().text("text").build().unwrap(), options)
}

fn of_schema(schema: Schema, options: WriterOptions) -> SharedWriter {
    let (storage, none) = (Arc::new(MemoryStorage::new()), Existing::Refuse);
    let (analyzers, published) = (Arc::default(), Arc::default());
    let writer = IndexWriter::open(storage, schema, analyzers, none, published, options);
    let writer = writer.unwrap().into_shared();
    writer.commit().unwrap();
    writer
}

fn document() -> Document {
    Document::new().with("text", "text")
}

/// Starts so many threads that commit, and waits until they wait.
fn commit_by(n: usize, writer: &SharedWriter) -> Vec<thread::JoinHandle<Result<CommitInfo>>> {
    let commit = |_| {
        let writer = writer.clone();
        thread::spawn(move || writer.commit())
    };
    let committing = (0..n).map(commit).collect();
    while writer.queue().gathering.n_open < n {
        thread::yield_now();
    }
    committing
}

/// Who waits for a commit whose leader panics is told so, also if somebody rolls back before he wakes.
#[test]
fn who_waits_for_a_commit_that_panics_is_told() {
    for _ in 0..50 {
        let panics = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&panics);
        let options = WriterOptions::new().threads(1).on_progress(move |progress| {
            let is_late = matches!(progress, Progress::Merging { .. });
            assert!(!(is_late && asked.swap(false, Ordering::SeqCst)), "the host's mistake");
        });
        let writer = writer(options);
        let held = writer.writer();
        writer.add(document()).unwrap();
        let committing = commit_by(2, &writer);
        let other = writer.clone();
        let rolling_back = thread::spawn(move || other.rollback());
        thread::sleep(Duration::from_millis(2));
        panics.store(true, Ordering::SeqCst);
        drop(held);
        rolling_back.join().unwrap().unwrap();
        for told in committing.into_iter().filter_map(|thread| thread.join().ok()) {
            let outcome = told.expect_err("it is lost").commit_outcome();
            assert!(outcome.is_some_and(|of| of != CommitOutcome::Committed), "{outcome:?}");
        }
        panics.store(false, Ordering::SeqCst);
        writer.add(document()).unwrap();
        assert_eq!(writer.commit().unwrap().documents, 1);
    }
}

#[test]
fn who_waits_is_told_of_a_rollback_by_the_writer_itself() {
    let writer = writer(WriterOptions::new().threads(1));
    let committing = writer.with(|own| {
        // Forgotten with the rest, while its commit waits for the writer.
        writer.add(document())?;
        let committing = commit_by(1, &writer);
        own.rollback().map(|()| committing)
    });
    for told in committing.unwrap() {
        let error = told.join().unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        assert_eq!(error.commit_outcome(), Some(CommitOutcome::Unknown));
    }
    assert_eq!(writer.queue().gathering.n_open, 0, "nobody waits for the next one");
    assert_eq!(writer.commit().unwrap().documents, 0);
    // A panic behind it has the same outcome.
    let mut committing = vec![];
    let work = AssertUnwindSafe(|| {
        writer.with(|own| {
            writer.add(document())?;
            committing = commit_by(1, &writer);
            own.rollback()?;
            panic!("the host's mistake") as Result<()>
        })
    });
    assert!(catch_unwind(work).is_err());
    for told in committing {
        assert_eq!(told.join().unwrap().unwrap_err().kind(), ErrorKind::Cancelled);
    }
}

#[test]
fn who_led_a_group_that_was_rolled_back_commits_nothing_of_others() {
    let writer = writer(WriterOptions::new().threads(1));
    let mut held = writer.writer();
    writer.add(document()).unwrap();
    let committing = commit_by(1, &writer);
    writer.forget_queue();
    held.rollback().unwrap();
    // Somebody adds before the leader goes on.
    writer.add(document()).unwrap();
    drop(held);
    for told in committing {
        assert_eq!(told.join().unwrap().unwrap_err().kind(), ErrorKind::Cancelled);
    }
    assert_eq!(writer.commit().unwrap().added, 1);
}

/// Otherwise somebody else could commit in between, and say to whoever had added it that it is durable.
#[test]
fn who_takes_what_waits_has_the_writer_already() {
    let writer = writer(WriterOptions::new().threads(1));
    writer.add(document()).unwrap();
    let queue = writer.queue();
    let other = writer.clone();
    let processing = thread::spawn(move || other.process());
    let end = Instant::now() + LONG;
    while writer.0.writer.try_lock().is_ok() {
        assert!(Instant::now() < end, "it waits for the queue");
        thread::yield_now();
    }
    assert_eq!(queue.operations.len(), 1);
    drop(queue);
    processing.join().unwrap().unwrap();
    assert!(writer.queue().operations.is_empty());
}

/// Documents that others add while somebody works with the writer are there for the next.
#[test]
fn what_is_added_meanwhile_waits() {
    let writer = writer(WriterOptions::new().threads(1));
    writer.with(|_| writer.add(document()).map(drop)).unwrap();
    assert!(writer.has_changes());
    writer.process().unwrap();
    assert!(writer.has_changes(), "it has only changed hands");
    assert_eq!(writer.commit().unwrap().documents, 1);
    assert!(!writer.has_changes());
}

#[test]
fn everyone_of_a_group_is_told_and_nobody_is_waited_for_in_vain_for_ever() {
    let writer = writer(WriterOptions::new().threads(1));
    let held = writer.writer();
    writer.add(document()).unwrap();
    let committing = commit_by(5, &writer);
    drop(held);
    let (tell, told) = channel();
    let other = writer.clone();
    let waiting = thread::spawn(move || {
        for committing in committing {
            tell.send(committing.join().unwrap().unwrap().generation).unwrap();
        }
        let Gathering { n_last, n_expected, took, .. } = other.queue().gathering;
        assert_eq!((n_last, n_expected, took.is_zero()), (5, 5, false));
        // It waits for four others, who do not come.
        tell.send(other.commit().unwrap().generation).unwrap();
        let Gathering { n_expected, n_vain, n_skipped, .. } = other.queue().gathering;
        assert_eq!((n_expected, n_vain, n_skipped), (1, 1, 1));
        // Nor does it wait, and count that, where it is not worth it.
        other.queue().gathering.n_expected = 5;
        tell.send(other.commit().unwrap().generation).unwrap();
        let Gathering { n_expected, n_vain, n_skipped, .. } = other.queue().gathering;
        assert_eq!((n_expected, n_vain, n_skipped), (1, 1, 0));
    });
    // Less where an assertion there has failed.
    let told: Vec<u64> = (0..7).map_while(|_| told.recv_timeout(LONG).ok()).collect();
    assert_eq!(told, [2, 2, 2, 2, 2, 2, 2]);
    waiting.join().unwrap();
}

/// Texts count with all their bytes, whatever they are for: from a quarter of the room on it is time, and when it is
/// full nothing is taken.
#[test]
fn what_waits_is_counted_and_work_is_asked_for_in_time() {
    let schema = Schema::builder().text("text").key("id").build().unwrap();
    let writer = of_schema(schema, WriterOptions::new().threads(1).memory_bytes(16 << 20));
    let room = 2 << 20; // an eighth
    let long = "x".repeat(1_000);
    let pushes: [&dyn Fn() -> Result<Buffered>; 4] = [
        &|| writer.add(Document::new().with("id", "1").with("text", &*long)),
        &|| writer.delete_key(&long),
        &|| writer.delete_value("id", &long),
        &|| writer.set_payload(long.as_bytes()),
    ];
    for push in pushes {
        let mut before = Buffered { bytes: 0, is_due: false };
        let error = loop {
            match push() {
                Ok(now) => {
                    assert!((1_000..1_500).contains(&(now.bytes - before.bytes)), "{now:?}");
                    assert_eq!(now.is_due, now.bytes >= room / 4);
                    before = now;
                }
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::Busy);
        assert!((room - 1_500..=room + OPERATION_BYTES).contains(&before.bytes), "{before:?}");
        writer.process().unwrap();
        assert_eq!(writer.queue().bytes, 0);
    }
    // Who has time works on it by himself.
    let mut most = 0;
    for n in 0..4_000 {
        let document = Document::new().with("id", n.to_string()).with("text", &*long);
        writer.add_and_process(document).unwrap();
        most = most.max(writer.queue().bytes);
    }
    assert!((room / 8..room / 4).contains(&most), "{most}");
    // A document that does not fit beside those waiting goes straight to the writer, behind them.
    writer.add(Document::new().with("id", "short").with("text", "text")).unwrap();
    let large = Document::new().with("id", "large").with("text", "x ".repeat(room));
    assert_eq!(writer.add(large.clone()).unwrap_err().kind(), ErrorKind::Busy);
    writer.add_and_process(large).unwrap();
    assert_eq!(writer.queue().bytes, 0);
    assert_eq!(writer.commit().unwrap().documents, 4_002);
}

/// A document of so many bytes in all.
fn document_of(bytes: usize) -> Document {
    Document::new().with("text", " ".repeat(bytes - "text".len() - 2 * size_of::<String>()))
}

#[test]
fn the_room_for_what_waits_is_used_to_its_end() {
    let writer = writer(WriterOptions::new().threads(1).memory_bytes(16 << 20));
    let room = 2 << 20;
    let add = |bytes: usize| {
        let added = writer.add(document_of(bytes));
        added.map(|buffered| (buffered.bytes, buffered.is_due)).map_err(|error| error.kind())
    };
    // One of any size where nothing waits.
    assert_eq!(add(room + 1), Ok((room + 1 + OPERATION_BYTES, true)));
    assert_eq!(add(100), Err(ErrorKind::Busy));
    writer.process().unwrap();
    let quarter = room / 4 - OPERATION_BYTES;
    assert_eq!(add(quarter - 1), Ok((room / 4 - 1, false)));
    writer.process().unwrap();
    assert_eq!(add(quarter), Ok((room / 4, true)));
    assert_eq!(add(room - room / 4 + 1), Err(ErrorKind::Busy));
    assert_eq!(add(room - room / 4), Ok((room + OPERATION_BYTES, true)));
    assert_eq!(add(100), Err(ErrorKind::Busy));
    writer.process().unwrap();
    // An operation without bytes of its own takes room all the same.
    let n_taken = (0..room).take_while(|_| writer.set_payload([]).is_ok()).count();
    assert_eq!(n_taken, room / OPERATION_BYTES + 1);
}

/// Waiting documents are lost with the writer then, so nobody may be told that a part of them was committed.
#[test]
fn a_panic_while_what_waits_is_worked_on_leaves_nothing_to_commit() {
    for is_behind in [false, true] {
        let options = WriterOptions::new().threads(1).memory_bytes(16 << 20);
        let writer = writer(options.on_progress(|progress| {
            assert!(!matches!(progress, Progress::Reading { .. }), "the host's mistake");
        }));
        let large = document_of(5 << 20);
        let work = AssertUnwindSafe(|| match is_behind {
            false => writer.add(large).and_then(|_| writer.process()),
            // There is no room for it in the queue.
            true => writer.add(document()).and_then(|_| writer.add_and_process(large)),
        });
        assert!(catch_unwind(work).is_err());
        assert_eq!(writer.commit().unwrap_err().kind(), ErrorKind::Poisoned);
        writer.rollback().unwrap();
        assert_eq!(writer.commit().unwrap().documents, 0);
    }
}

#[test]
fn a_document_that_is_refused_does_no_harm_to_others() {
    let writer = writer(WriterOptions::new().threads(1));
    writer.add(document()).unwrap();
    let other = || Document::new().with("other", "field");
    assert_eq!(writer.add(other()).unwrap_err().kind(), ErrorKind::Document);
    assert_eq!(writer.add_and_process(other()).unwrap_err().kind(), ErrorKind::Document);
    assert_eq!(writer.commit().unwrap().documents, 1);
}

#[test]
fn a_panic_in_a_commit_that_comes_by_itself_is_told_as_one_of_unknown_outcome() {
    let options = WriterOptions::new().threads(1);
    let writer = writer(options.on_progress(|progress| {
        assert!(!matches!(progress, Progress::Merging { .. }), "the host's mistake");
    }));
    let (tell, told) = channel();
    let commits = writer.commit_every(Duration::ZERO, move |commit| {
        tell.send(commit.map(drop)).unwrap_or_default();
    });
    writer.add(document()).unwrap();
    let error = told.recv_timeout(LONG).expect("it is told").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Poisoned);
    assert_eq!(error.commit_outcome(), Some(CommitOutcome::Unknown));
    writer.rollback().unwrap();
    drop(commits);
}

#[test]
fn commits_that_come_by_themselves_as_seldom_as_can_be_come_at_the_end() {
    let writer = writer(WriterOptions::new().threads(1));
    let (tell, told) = channel();
    let commits = writer.commit_every(Duration::MAX, move |commit| {
        tell.send(commit.unwrap().documents).unwrap();
    });
    for _ in 0..100 {
        writer.add(document()).unwrap();
        thread::yield_now();
    }
    drop(commits);
    // It is over, and not only told to end.
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [100]);
}

#[test]
fn commits_that_come_by_themselves_come_only_where_something_is_new() {
    let writer = writer(WriterOptions::new().threads(1));
    let (tell, told) = channel();
    let commits = writer.commit_every(Duration::ZERO, move |commit| {
        tell.send(commit.unwrap().generation).unwrap();
    });
    thread::sleep(Duration::from_millis(30));
    assert!(told.try_recv().is_err(), "nothing was added");
    writer.add(document()).unwrap();
    assert_eq!(told.recv().unwrap(), 2);
    thread::sleep(Duration::from_millis(5));
    drop(commits);
    assert!(told.recv().is_err(), "nor since");
}

/// State after a commit for `n_last` that took 8 ms, during which `n_open` more have come.
fn after(n_last: usize, n_open: usize) -> Gathering {
    let mut gathering = Gathering { n_open: n_last, ..Gathering::default() };
    gathering.close();
    gathering.n_open += n_open;
    gathering.ended(Duration::from_millis(8));
    gathering
}

#[test]
fn a_group_is_waited_for_until_as_many_have_come_as_the_last_time() {
    assert!(Gathering::default().patience().is_zero(), "nobody is expected before a commit");
    let mut gathering = after(3, 1);
    gathering.took = Duration::from_secs(60);
    assert_eq!(gathering.patience(), GATHERING_MAX, "however long it took");
    gathering.took = Duration::from_millis(8);
    for n_open in 1..4 {
        gathering.n_open = n_open;
        assert_eq!(gathering.patience(), Duration::from_millis(2), "{n_open} of 3 + 1");
    }
    for n_open in 4..6 {
        gathering.n_open = n_open;
        assert!(gathering.patience().is_zero(), "{n_open} of 3 + 1");
    }
}

/// Whoever commits alone after others have gone pays for a few waits, and not with each of his commits.
#[test]
fn waits_in_vain_come_more_and_more_seldom_until_one_was_not() {
    let mut gathering = after(3, 1);
    for n_between in [0, 1, 3, 7, 15, 31, 63, 63] {
        for _ in 0..n_between {
            assert!(gathering.patience().is_zero(), "one of {n_between}");
        }
        assert!(!gathering.patience().is_zero(), "behind {n_between}");
        gathering.waited();
    }
    gathering.n_open = 4;
    gathering.waited();
    gathering.n_open = 1;
    assert!(!gathering.patience().is_zero(), "they are back");
}
