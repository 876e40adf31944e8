use super::*;
use crate::bytes::Source;
use crate::checksum::crc32c;
use crate::format::envelope::SectionKind;
use crate::segment::{file, snapshot::Snapshot};
use crate::storage::{FsStorage, MemoryStorage, ReadMode, TestDirectory};

fn draft(segments: Vec<SegmentMeta>) -> Draft {
    let payload = segments.iter().map(|meta| meta.n_docs as u8).collect();
    let schema = Schema::of_titles();
    Draft { schema, segments, payload, term_versions: TermVersions::CURRENT }
}

/// A durable segment of `n` documents, with bytes that follow from `n`.
fn segment(storage: &dyn Storage, n: u8) -> Result<SegmentMeta> {
    let id = SegmentId::random();
    let mut writer = file::create(storage, id)?;
    writer.section(None, SectionKind::STATISTICS, &[n; 50])?;
    Ok(SegmentMeta {
        id,
        seal: file::seal(writer)?,
        n_docs: n.into(),
        deletes: None,
        n_added_fields: 0,
    })
}

/// Adds a segment of each number to the index, a commit each; every third replaces all before by one.
fn write(storage: &Arc<dyn Storage>, numbers: std::ops::RangeInclusive<u8>) -> Result<()> {
    let mut committer = Committer::open(Arc::clone(storage), OlderFormat::Refuse)?;
    for n in numbers {
        let mut segments = committer.current().map_or(vec![], |now| now.segments.clone());
        if n.is_multiple_of(3) {
            segments.clear();
        }
        segments.push(segment(&**storage, n)?);
        committer.commit(draft(segments))?;
    }
    Ok(())
}

/// Documents of commit `n` of [`write`].
fn documents_of(n: u8) -> Vec<u8> {
    (1..=n)
        .rev()
        .take_while(|m| *m == n || !(m + 1).is_multiple_of(3))
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect()
}

/// The commit found, after comparing every byte of it with what was written; 0 for none.
fn commit_found(storage: &dyn Storage) -> u8 {
    let snapshot = match Snapshot::open(storage) {
        Ok(snapshot) => snapshot,
        Err(error) if error.kind() == ErrorKind::NotAnIndex => return 0,
        Err(error) => panic!("{error}"),
    };
    assert_older_commits_are_whole(storage);
    let n = snapshot.manifest.generation as u8;
    assert_eq!(snapshot.manifest.payload, documents_of(n));
    for (number, segment) in documents_of(n).into_iter().zip(&snapshot.segments) {
        let section = segment.require(None, SectionKind::STATISTICS).unwrap();
        assert_eq!(*section.bytes(0..50).unwrap(), [number; 50]);
        assert_eq!(segment.verify(|error| panic!("{error}")), 0);
    }
    n
}

/// Whoever goes back to an older commit must find all of it, so none may stay in parts.
fn assert_older_commits_are_whole(storage: &dyn Storage) {
    let Contents::Commits(generations) = contents(storage).unwrap() else { return };
    for generation in generations {
        for meta in read_manifest(storage, generation).unwrap().segments {
            let file = storage.open(&FileName::Segment(meta.id).to_string()).unwrap();
            file::SegmentFile::open(file, Some((meta.id, meta.seal))).unwrap();
        }
    }
}

fn names(storage: &dyn Storage) -> Vec<FileName> {
    let names = storage.list().unwrap();
    names.iter().map(|entry| FileName::parse(&entry.name).unwrap()).collect()
}

#[test]
fn commits_follow_one_another_and_two_are_kept() {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    write(&storage, 1..=5).unwrap();
    assert_eq!(commit_found(&*storage), 5);
    assert_eq!(documents_of(5), [3, 4, 5]);
    assert_eq!(documents_of(2), [1, 2]);
    write(&storage, 6..=6).unwrap();
    assert_eq!(commit_found(&*storage), 6);
    let names = names(&*storage);
    let segments = names.iter().filter(|name| matches!(name, FileName::Segment(_))).count();
    let manifests: Vec<_> =
        names.iter().filter(|name| matches!(name, FileName::Manifest(_))).collect();
    assert_eq!(manifests, [&FileName::Manifest(5), &FileName::Manifest(6)]);
    assert_eq!((segments, names.len()), (4, 6), "one is new, three are of the commit before");
}

#[test]
fn a_pinned_commit_keeps_its_files_until_the_next_clean_up() {
    let directory = TestDirectory::new();
    let fs = FsStorage::create(directory.path(), ReadMode::Mmap).unwrap();
    let memory = MemoryStorage::new();
    let storages: [Arc<dyn Storage>; 2] = [Arc::new(fs), Arc::new(memory)];
    for storage in storages {
        write(&storage, 1..=2).unwrap();
        let reader = Snapshot::open(&*storage).unwrap();
        write(&storage, 3..=5).unwrap();
        // The next writer finds it among the old ones, and looks at every file.
        write(&storage, 6..=6).unwrap();
        let pinned = FileName::Manifest(2);
        assert!(names(&*storage).contains(&pinned));
        for meta in &reader.manifest.segments {
            assert!(names(&*storage).contains(&FileName::Segment(meta.id)));
        }
        let section = reader.segments[1].require(None, SectionKind::STATISTICS).unwrap();
        assert_eq!(*section.bytes(0..50).unwrap(), [2; 50]);
        drop(reader);
        Committer::open(storage.clone(), OlderFormat::Refuse).unwrap();
        assert!(!names(&*storage).contains(&pinned));
        assert_eq!(commit_found(&*storage), 6);
    }
}

/// A writer deletes superseded files itself, and not only the next one.
#[test]
fn the_files_of_older_commits_go_while_those_of_the_next_are_written() {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let mut committer = Committer::open(Arc::clone(&storage), OlderFormat::Refuse).unwrap();
    let next = FileName::Segment(segment(&*storage, 100).unwrap().id);
    let run = FileName::Run { build: SegmentId([1; 16]), number: 3 };
    drop(storage.create(&run.to_string()).unwrap());
    let mut before = vec![];
    for n in 1..=6 {
        let meta = segment(&*storage, n).unwrap();
        let prepared = committer.prepare(draft(vec![meta])).unwrap();
        committer.finish(prepared).unwrap();
        let given_up = committer.prepare(draft(vec![])).unwrap();
        committer.abandon(given_up);
        before.insert(0, [FileName::Manifest(n.into()), FileName::Segment(meta.id)]);
        before.truncate(COMMITS_KEPT);
        let expected: HashSet<_> = before.iter().flatten().copied().chain([next, run]).collect();
        assert_eq!(names(&*storage).into_iter().collect::<HashSet<_>>(), expected, "commit {n}");
    }
}

#[test]
fn what_a_first_build_left_is_cleared_away() {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    segment(&*storage, 1).unwrap();
    drop(storage.create(&FileName::Temporary(SegmentId([1; 16])).to_string()).unwrap());
    drop(Committer::open(Arc::clone(&storage), OlderFormat::Refuse).unwrap());
    assert_eq!(names(&*storage), []);
}

#[test]
fn a_generation_that_somebody_took_is_no_commit_of_ours() {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let mut committer = Committer::open(Arc::clone(&storage), OlderFormat::Refuse).unwrap();
    let prepared = committer.prepare(draft(vec![segment(&*storage, 1).unwrap()])).unwrap();
    drop(storage.create(&FileName::Manifest(1).to_string()).unwrap());
    let error = committer.finish(prepared).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_ne!(error.commit_outcome(), Some(CommitOutcome::Unknown), "{error}");
    assert_eq!(committer.generation(), 0);
    let error = committer.prepare(draft(vec![])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Poisoned, "what was built on it is lost");
}

/// Two writers would make the next commit, of which one is told that it failed.
#[test]
fn whoever_lost_the_lock_does_not_publish_what_it_has_prepared() {
    let directory = TestDirectory::new();
    let storage = Arc::new(FsStorage::create(directory.path(), ReadMode::Mmap).unwrap());
    let mut first = Committer::open(storage.clone(), OlderFormat::Refuse).unwrap();
    let prepared = first.prepare(draft(vec![segment(&*storage, 1).unwrap()])).unwrap();
    assert!(first.is_sole_writer());
    storage.delete("write.lock").unwrap();
    let _second = Committer::open(storage.clone(), OlderFormat::Refuse).unwrap();
    assert!(!first.is_sole_writer());
    assert_eq!(first.finish(prepared).unwrap_err().kind(), ErrorKind::Locked);
    assert_eq!(contents(&*storage).unwrap(), Contents::NoCommit);
    assert_eq!(first.start_again(OlderFormat::Refuse).unwrap_err().kind(), ErrorKind::Locked);
    assert_eq!(first.check().unwrap_err().kind(), ErrorKind::Poisoned);
}

#[test]
fn where_damaged_commits_were_passed_over_the_next_says_from_which_it_was_made() {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    write(&storage, 1..=3).unwrap();
    let whole = read_manifest(&*storage, 2).unwrap();
    let lock = storage.lock_writer().unwrap();
    let mut committer = Committer::going_back(Arc::clone(&storage), lock, whole, 3);
    let committed = committer.commit_and_keep(draft(vec![])).unwrap();
    assert_eq!((committed.generation, committed.previous), (4, 2));
}

/// A commit that did happen, after a failure whose outcome nobody knew.
#[test]
fn who_starts_again_goes_on_from_the_newest_commit() {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let mut committer = Committer::open(Arc::clone(&storage), OlderFormat::Refuse).unwrap();
    let meta = segment(&*storage, 1).unwrap();
    let committed = committer.manifest(draft(vec![meta]));
    let committed = Manifest { index_id: SegmentId([7; 16]), generation: 1, ..committed };
    let mut file = storage.create(&FileName::Manifest(1).to_string()).unwrap();
    file.write_all(&committed.encode().unwrap()).unwrap();
    let orphan = FileName::Segment(segment(&*storage, 2).unwrap().id);
    let prepared = committer.prepare(draft(vec![])).unwrap();
    committer.poison(&Error::new(ErrorKind::Io, "testing"));
    assert_eq!(committer.finish(prepared).unwrap_err().kind(), ErrorKind::Poisoned);
    committer.start_again(OlderFormat::Refuse).unwrap();
    committer.check().unwrap();
    assert_eq!((committer.generation(), committer.current()), (1, Some(&committed)));
    assert_eq!(committer.index_id(), committed.index_id);
    assert!(!names(&*storage).contains(&orphan), "what was to be committed is forgotten");
    assert_eq!(committer.commit(draft(vec![meta])).unwrap().index_id, committed.index_id);
}

#[test]
fn only_our_own_litter_is_cleared_away() {
    let directory = TestDirectory::new();
    let storage = FsStorage::create(directory.path(), ReadMode::Mmap).unwrap();
    let storage: Arc<dyn Storage> = Arc::new(storage);
    write(&storage, 1..=1).unwrap();
    let id = SegmentId([0xEE; 16]);
    let ours =
        [FileName::Segment(id), FileName::Temporary(id), FileName::Run { build: id, number: 3 }];
    ours.iter().for_each(|name| drop(storage.create(&name.to_string()).unwrap()));
    let foreign = ["notes.txt", "seg-12.idx", ".tmp-x", "manifest-1"];
    foreign.iter().for_each(|name| drop(storage.create(name).unwrap()));
    let folder = FileName::Temporary(SegmentId([0xDD; 16])).to_string();
    std::fs::create_dir(directory.path().join(&folder)).unwrap();
    Committer::open(storage.clone(), OlderFormat::Refuse).unwrap();
    let left: Vec<_> = storage.list().unwrap().into_iter().map(|entry| entry.name).collect();
    assert!(ours.iter().all(|name| !left.contains(&name.to_string())), "{left:?}");
    assert!(foreign.iter().all(|name| left.iter().any(|left| left == name)), "{left:?}");
    assert!(left.contains(&folder));
    assert_eq!(commit_found(&*storage), 1);
}

#[test]
fn a_directory_that_is_something_else_is_left_alone() {
    let directory = TestDirectory::new();
    let storage = Arc::new(FsStorage::create(directory.path(), ReadMode::Mmap).unwrap());
    drop(storage.create("thesis.doc").unwrap());
    assert_eq!(
        Committer::open(storage.clone(), OlderFormat::Refuse).unwrap_err().kind(),
        ErrorKind::NotAnIndex
    );
    assert_eq!(storage.list().unwrap().len(), 1, "not even a lock file was left");
}

#[test]
fn there_is_one_writer_and_it_notices_when_its_lock_is_stolen() {
    let directory = TestDirectory::new();
    let storage = Arc::new(FsStorage::create(directory.path(), ReadMode::Mmap).unwrap());
    let mut first = Committer::open(storage.clone(), OlderFormat::Refuse).unwrap();
    assert_eq!(
        Committer::open(storage.clone(), OlderFormat::Refuse).unwrap_err().kind(),
        ErrorKind::Locked
    );
    storage.delete("write.lock").unwrap();
    let mut second = Committer::open(storage.clone(), OlderFormat::Refuse).unwrap();
    let committed = first.commit(draft(vec![segment(&*storage, 1).unwrap()]));
    assert_eq!(committed.unwrap_err().kind(), ErrorKind::Locked);
    assert_eq!(first.check().unwrap_err().kind(), ErrorKind::Poisoned);
    second.commit(draft(vec![segment(&*storage, 1).unwrap()])).unwrap();
    assert_eq!(commit_found(&*storage), 1);
}

#[test]
fn a_damaged_newest_commit_stops_the_writer_before_it_deletes_anything() {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    write(&storage, 1..=3).unwrap();
    storage.create(&FileName::Manifest(4).to_string()).unwrap();
    let before = names(&*storage);
    assert_eq!(
        Committer::open(storage.clone(), OlderFormat::Refuse).unwrap_err().kind(),
        ErrorKind::Corrupt
    );
    assert_eq!(names(&*storage), before);
}

/// Makes every commit and segment what a build with the format before would have left.
fn age(storage: &dyn Storage) {
    patch(storage, |header, _| header[10..12].copy_from_slice(&older_major().to_le_bytes()));
}

fn older_major() -> u16 {
    crate::format::FORMAT_VERSION.0 - 1
}

/// Changes the headers of all manifests and segments, and their checksums.
fn patch(storage: &dyn Storage, change: impl Fn(&mut [u8], FileName)) {
    for name in names(storage) {
        if !matches!(name, FileName::Manifest(_) | FileName::Segment(_)) {
            continue;
        }
        let file = storage.open(&name.to_string()).unwrap();
        let mut bytes = vec![0; file.len() as usize];
        file.read_at(0, &mut bytes).unwrap();
        change(&mut bytes, name);
        let crc = crc32c(&bytes[..60]).to_le_bytes();
        bytes[60..64].copy_from_slice(&crc);
        if matches!(name, FileName::Manifest(_)) {
            let end = bytes.len() - 4;
            let crc = crc32c(&bytes[..end]).to_le_bytes();
            bytes[end..].copy_from_slice(&crc);
        }
        storage.delete(&name.to_string()).unwrap();
        let mut file = storage.create(&name.to_string()).unwrap();
        file.write_all(&bytes).unwrap();
        file.sync().unwrap();
    }
    storage.sync_names().unwrap();
}

/// One commit of one segment in the place of what is there.
fn supersede(storage: &Arc<dyn Storage>, n: u8) -> Result<u64> {
    let mut committer = Committer::open(Arc::clone(storage), OlderFormat::Supersede)?;
    let segment = segment(&**storage, n)?;
    committer.commit(draft(vec![segment])).map(|manifest| manifest.generation)
}

fn four_commits() -> Arc<dyn Storage> {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    write(&storage, 1..=4).unwrap();
    storage
}

fn aged() -> Arc<dyn Storage> {
    let storage = four_commits();
    age(&*storage);
    storage
}

#[test]
fn commits_of_an_older_format_are_superseded_where_that_is_asked_for() {
    let storage = aged();
    let before = names(&*storage);
    let error = Committer::open(storage.clone(), OlderFormat::Refuse).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnsupportedVersion);
    assert!(error.to_string().contains("index again with --overwrite"), "{error}");
    drop(storage.create(&FileName::Temporary(SegmentId([1; 16])).to_string()).unwrap());
    let mut committer = Committer::open(storage.clone(), OlderFormat::Supersede).unwrap();
    assert!(committer.current().is_none());
    assert_eq!(names(&*storage), before, "only what a crash left is gone before there is a commit");
    let new = segment(&*storage, 9).unwrap();
    let next = segment(&*storage, 10).unwrap();
    let run = FileName::Run { build: SegmentId([1; 16]), number: 3 };
    drop(storage.create(&run.to_string()).unwrap());
    let manifest = committer.commit(draft(vec![new])).unwrap();
    assert_eq!((manifest.generation, manifest.previous), (5, 4));
    assert!(names(&*storage).contains(&FileName::Segment(next.id)), "it is for the next one");
    assert!(names(&*storage).contains(&run), "so is this");
    let segments = [new, next].map(|meta| FileName::Segment(meta.id));
    let all = [FileName::Manifest(5), segments[0], segments[1], run];
    assert!(names(&*storage).iter().all(|name| all.contains(name)), "{:?}", names(&*storage));
    committer.commit(draft(vec![new])).unwrap();
    drop(committer);
    assert_eq!(supersede(&storage, 9).unwrap(), 7);
    assert_eq!(Snapshot::open(&*storage).unwrap().manifest.n_docs(), 9);
}

#[test]
fn commits_that_are_damaged_or_newer_or_anything_else_are_never_superseded() {
    let major =
        |major: u16| move |bytes: &mut [u8], _| bytes[10..12].copy_from_slice(&major.to_le_bytes());
    let newer = crate::format::FORMAT_VERSION.0 + 1;
    type Change = Box<dyn Fn(&mut [u8], FileName)>;
    let changes: [(Change, ErrorKind); 6] = [
        (Box::new(major(newer)), ErrorKind::UnsupportedVersion),
        // A feature that forbids reading.
        (Box::new(|bytes, _| bytes[27] = 0x80), ErrorKind::UnsupportedVersion),
        // One that forbids writing; segments do not say it.
        (
            Box::new(|bytes, name| bytes[20] = u8::from(matches!(name, FileName::Manifest(_)))),
            ErrorKind::UnsupportedVersion,
        ),
        (Box::new(|bytes, _| bytes[0] = 0), ErrorKind::Corrupt),
        // A segment under the name of a manifest, of an older format.
        (
            Box::new(move |bytes, name| {
                major(older_major())(bytes, name);
                bytes[8] = 1;
            }),
            ErrorKind::UnsupportedVersion,
        ),
        // Only the one to go back to is of an older format, and the newest is damaged.
        (
            Box::new(move |bytes, name| match name {
                FileName::Manifest(4) => bytes[72] ^= 1,
                _ => major(older_major())(bytes, name),
            }),
            ErrorKind::Corrupt,
        ),
    ];
    for (nth, (change, kind)) in changes.into_iter().enumerate() {
        let storage = four_commits();
        patch(&*storage, change);
        let before = names(&*storage);
        let error = supersede(&storage, 9).unwrap_err();
        assert_eq!((error.kind(), names(&*storage)), (kind, before), "{nth}: {error}");
    }
    // A damaged header says nothing, whatever stands in it.
    let storage = aged();
    let name = FileName::Manifest(4).to_string();
    let mut bytes = vec![0; 64];
    storage.open(&name).unwrap().read_at(0, &mut bytes).unwrap();
    bytes[30] ^= 1;
    storage.delete(&name).unwrap();
    storage.create(&name).unwrap().write_all(&bytes).unwrap();
    let error = supersede(&storage, 9).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

/// It is none that anybody goes back to, and would keep every file that there will ever be.
#[test]
fn a_superseded_commit_that_is_damaged_keeps_nothing() {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let damage = |generation: u64| {
        patch(&*storage, |bytes, name| {
            if name == FileName::Manifest(generation) {
                bytes[72] ^= 1;
            }
        });
    };
    let pin = {
        write(&storage, 1..=1).unwrap();
        storage.pin(&FileName::Manifest(1).to_string()).unwrap()
    };
    write(&storage, 2..=4).unwrap();
    damage(1);
    write(&storage, 5..=6).unwrap();
    let is_there = |generation| names(&*storage).contains(&FileName::Manifest(generation));
    assert!(is_there(1), "somebody may read it");
    drop(pin);
    write(&storage, 7..=9).unwrap();
    let left: Vec<u64> = (1..=9).filter(|generation| is_there(*generation)).collect();
    assert_eq!(left, [8, 9]);
    drop(Committer::open(storage.clone(), OlderFormat::Refuse).unwrap());
    let segments = names(&*storage).iter().filter(|n| matches!(n, FileName::Segment(_))).count();
    assert_eq!(segments, 4, "those of 6 to 9");
    assert_eq!(commit_found(&*storage), 9);
}

#[test]
fn a_pinned_commit_of_an_older_format_keeps_every_segment() {
    let storage = aged();
    let before = names(&*storage);
    let pin = storage.pin(&FileName::Manifest(4).to_string()).unwrap();
    assert_eq!(supersede(&storage, 9).unwrap(), 5);
    drop(Committer::open(storage.clone(), OlderFormat::Refuse).unwrap());
    let left = names(&*storage);
    let is_kept = |name: &FileName| *name == FileName::Manifest(3) || left.contains(name);
    assert!(before.iter().all(is_kept), "{left:?}");
    drop(pin);
    assert_eq!(supersede(&storage, 8).unwrap(), 6);
    assert_eq!(names(&*storage).len(), 4, "two commits of a segment each");
}
