//! Merges beside writing, indexes that are added to others, and copies.

use std::path::PathBuf;
use std::sync::Arc;
use treepie::storage::{MemoryStorage, Storage};
use treepie::writer::MergePolicy;
use treepie::{
    CancelToken, Document, ErrorKind, Index, IndexWriter, Schema, Searcher, WriterOptions,
};

fn schema() -> Schema {
    Schema::builder().text("text").key("id").build().unwrap()
}

fn put(writer: &mut IndexWriter, ids: std::ops::Range<u32>, text: &str) {
    for id in ids {
        let document =
            Document::new().with("id", id.to_string()).with("text", format!("{text} t{id}"));
        writer.add(document).unwrap();
    }
}

fn count(searcher: &Searcher, text: &str) -> u64 {
    searcher.count(&searcher.parse(text).unwrap()).unwrap()
}

/// Four commits of 50 documents.
fn four_segments(options: WriterOptions) -> (Arc<MemoryStorage>, Index, IndexWriter) {
    let storage = Arc::new(MemoryStorage::new());
    let index = Index::options().create_in(storage.clone(), schema()).unwrap();
    let mut writer =
        index.writer_with(options.merge_policy(MergePolicy::default().factor(4))).unwrap();
    for nth in 0..4 {
        put(&mut writer, nth * 50..nth * 50 + 50, "old");
        writer.commit().unwrap();
    }
    (storage, index, writer)
}

#[test]
fn what_changes_while_a_merge_runs_is_in_its_result() {
    let (storage, index, mut writer) = four_segments(WriterOptions::new());
    writer.delete_key("7").unwrap();
    writer.commit().unwrap();
    let job = writer.begin_merge().unwrap().unwrap();
    assert_eq!(job.documents(), 199);
    assert!(job.bytes() > 1_000);
    assert!(writer.begin_merge().unwrap().is_none(), "its segments are taken");
    assert_eq!(writer.maintain().unwrap(), 0);
    // Updated, deleted and added meanwhile, and committed.
    put(&mut writer, 40..60, "new");
    writer.delete_key("199").unwrap();
    writer.commit().unwrap();
    let before = index.searcher().unwrap();
    let merged = job.run(&CancelToken::new()).unwrap();
    put(&mut writer, 60..61, "newer");
    assert!(writer.finish_merge(merged).unwrap());
    let after = index.searcher().unwrap();
    for searcher in [before, after] {
        assert_eq!(searcher.n_docs(), 198);
        assert_eq!((count(&searcher, "new"), count(&searcher, "old")), (20, 178));
        assert_eq!(
            (count(&searcher, "t7"), count(&searcher, "t199"), count(&searcher, "t50")),
            (0, 0, 1)
        );
    }
    let commit = writer.commit().unwrap();
    assert_eq!((commit.documents, commit.segments), (198, 3));
    let report = index.inspect().unwrap().verify(|error| panic!("{error}"));
    assert!(report.is_sound());
    // The commits of before are the last that the old segments are for.
    writer.commit().unwrap();
    let names = storage.list().unwrap().into_iter().map(|entry| entry.name);
    assert_eq!(names.filter(|name| name.starts_with("seg-")).count(), 3);
}

#[test]
fn a_merge_that_is_not_wanted_any_more_leaves_nothing() {
    let (storage, index, mut writer) = four_segments(WriterOptions::new());
    let files = || storage.list().unwrap().len();
    let n_files = files();
    let cancel = CancelToken::new();
    let job = writer.begin_merge().unwrap().unwrap();
    cancel.cancel();
    assert_eq!(job.run(&cancel).unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(files(), n_files, "cancelled");

    let merged = writer.begin_merge().unwrap().expect("its segments are free again");
    drop(merged.run(&CancelToken::new()).unwrap());
    assert_eq!(files(), n_files, "dropped");

    let merged = writer.begin_merge().unwrap().unwrap().run(&CancelToken::new()).unwrap();
    writer.rollback().unwrap();
    assert!(!writer.finish_merge(merged).unwrap(), "rolled back");
    assert_eq!(files(), n_files);

    let merged = writer.begin_merge().unwrap().unwrap().run(&CancelToken::new()).unwrap();
    let (_, _, mut other) = four_segments(WriterOptions::new());
    assert!(!other.finish_merge(merged).unwrap(), "of another writer");

    let merged = writer.begin_merge().unwrap().unwrap().run(&CancelToken::new()).unwrap();
    put(&mut writer, 0..200, "new");
    writer.commit().unwrap();
    assert!(!writer.finish_merge(merged).unwrap(), "nothing is left of its segments");
    assert_eq!((index.searcher().unwrap().n_docs(), writer.commit().unwrap().segments), (200, 1));
}

#[test]
fn a_pace_holds_for_jobs_and_not_for_those_who_wait() {
    // A byte a second: a job could not end, and the foreground does at once.
    let (_, index, mut writer) = four_segments(WriterOptions::new().merge_bytes_per_second(1));
    let job = writer.begin_merge().unwrap().unwrap();
    let cancel = CancelToken::new();
    std::thread::scope(|scope| {
        let job = scope.spawn(|| job.run(&cancel));
        assert_eq!(writer.merge().unwrap().segments, 1);
        cancel.cancel();
        assert_eq!(job.join().unwrap().unwrap_err().kind(), ErrorKind::Cancelled);
    });
    assert_eq!(index.searcher().unwrap().n_docs(), 200);
}

#[test]
fn an_index_is_added_to_another_with_all_that_it_has() {
    let (_, one, mut writer) = four_segments(WriterOptions::new());
    let (_, two, mut other) = four_segments(WriterOptions::new());
    put(&mut other, 190..260, "theirs");
    other.delete_key("3").unwrap();
    other.commit().unwrap();
    put(&mut writer, 300..301, "mine");
    assert_eq!(writer.add_index(&two.searcher().unwrap()).unwrap(), 259);
    let commit = writer.commit().unwrap();
    assert_eq!((commit.documents, commit.added), (261, 260));
    let searcher = one.searcher().unwrap();
    assert_eq!(
        (count(&searcher, "theirs"), count(&searcher, "mine"), count(&searcher, "t3")),
        (70, 1, 1)
    );
    assert_eq!(writer.merge_to(2).unwrap().segments, 2);
    assert_eq!(count(&one.searcher().unwrap(), "theirs"), 70);

    let keyless = Index::in_memory(Schema::builder().text("text").build().unwrap());
    keyless.writer().unwrap().commit().unwrap();
    let error = writer.add_index(&keyless.searcher().unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Schema);
    writer.commit().unwrap();
}

struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_copy_is_an_index_of_its_own() {
    let name = format!("treepie-copy-{}", std::process::id());
    let directory = Directory(std::env::temp_dir().join(name));
    let _ = std::fs::remove_dir_all(&directory.0);
    std::fs::create_dir(&directory.0).unwrap();
    let [from, to] = ["from", "to"].map(|name| directory.0.join(name));
    let index = Index::create(&from, schema()).unwrap();
    let mut writer = index.writer().unwrap();
    put(&mut writer, 0..50, "old");
    writer.commit().unwrap();
    writer.delete_key("7").unwrap();
    writer.commit().unwrap();
    // While there is a writer, and over what attempts before have left, of this commit and of an older one.
    std::fs::create_dir(&to).unwrap();
    let files = |directory: &std::path::Path| -> Vec<_> {
        let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    };
    let of_commits = |name: &&String| name.starts_with("seg-") || name.starts_with("del-");
    for name in files(&from).iter().filter(of_commits) {
        std::fs::write(to.join(name), "torn").unwrap();
    }
    std::fs::write(to.join(format!("seg-{:032x}.idx", 5)), "torn").unwrap();
    std::fs::write(to.join(format!(".tmp-{:032x}", 6)), "torn").unwrap();
    assert_eq!(index.copy_to(&to).unwrap(), 2);
    // The newest commit, and not the one before it.
    let mut expected = files(&from);
    expected.retain(|name| *name != format!("manifest-{:016x}", 1));
    assert_eq!(files(&to), expected);
    assert_eq!(index.copy_to(&to).unwrap_err().kind(), ErrorKind::AlreadyExists);

    let copy = Index::open(&to).unwrap();
    copy.inspect().unwrap().verify(|error| panic!("{error}"));
    let mut copied = copy.writer().unwrap();
    put(&mut copied, 100..110, "new");
    copied.merge().unwrap();
    copied.commit().unwrap();
    put(&mut writer, 0..50, "newer");
    writer.merge().unwrap();
    writer.commit().unwrap();
    drop(writer);
    for (index, n_docs, texts) in [(&index, 50, [0, 0, 50]), (&copy, 59, [49, 10, 0])] {
        let searcher = index.searcher().unwrap();
        assert_eq!(searcher.n_docs(), n_docs);
        assert_eq!(["old", "new", "newer"].map(|text| count(&searcher, text)), texts);
    }
    std::fs::remove_dir_all(&from).unwrap();
    copy.inspect().unwrap().verify(|error| panic!("{error}"));

    let memory = Index::in_memory(schema());
    memory.writer().unwrap().commit().unwrap();
    memory.copy_to(directory.0.join("memory")).unwrap();
    assert_eq!(Index::open(directory.0.join("memory")).unwrap().searcher().unwrap().n_docs(), 0);
}
