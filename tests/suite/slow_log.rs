//! Slow searches in their log: which are in it, what a line has, and that nothing about it makes a search fail.

use serde_json::Value;
use std::{
    fs, io,
    io::Write,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use treepie::events::What;
use treepie::search::SlowLog;
use treepie::storage::MemoryStorage;
use treepie::{Budget, CancelToken, Document, ErrorKind, Index, IndexOptions, Schema};

/// A writer whose content can be looked at.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Lines {
    fn taken(&self) -> Vec<Value> {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap());
        let text = String::from_utf8(bytes).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn index(options: IndexOptions) -> Index {
    let schema = Schema::builder().text("title").keyword("kind").build().unwrap();
    let index = options.create_in(Arc::new(MemoryStorage::new()), schema).unwrap();
    let mut writer = index.writer().unwrap();
    for (title, kind) in [("Paris, Texas", "film"), ("Paris", "city"), ("London", "city")] {
        writer.add(Document::new().with("title", title).with("kind", kind)).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    index
}

fn file() -> PathBuf {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Relaxed);
    std::env::temp_dir().join(format!("treepie-slow-{}-{number}.jsonl", std::process::id()))
}

#[test]
fn every_way_to_search_leaves_a_line_where_everything_is_slow() {
    let lines = Lines::default();
    let log = SlowLog::to_writer(lines.clone(), Duration::ZERO);
    let index = index(Index::options().slow_log(log));
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("paris OR texas").unwrap();
    let plain = searcher.search(&query).facet("kind", 3).run().unwrap();
    searcher.search(&query).limit(1).prepare().unwrap().run().unwrap();
    searcher.search(&query).count_only().run().unwrap();
    searcher.search(&query).count_only().prepare().unwrap().run().unwrap();
    searcher.count(&query).unwrap();
    assert_eq!(plain.total.value, 2);

    let found = lines.taken();
    let commands: Vec<_> = found.iter().map(|line| line["command"].as_str().unwrap()).collect();
    assert_eq!(commands, ["search", "search", "count", "count", "count"]);
    for line in &found {
        assert_eq!((&line["schema_version"], &line["error"]), (&1.into(), &Value::Null));
        assert_eq!(line["query"], "paris OR texas");
        assert!(line["took_ns"].as_u64().unwrap() > 0);
        let at: treepie::Timestamp = line["at"].as_str().unwrap().parse().unwrap();
        assert!(line["at"].as_str().unwrap().ends_with('Z'), "{at}");
        assert_eq!(line["plan"]["query"], line["query"]);
        assert!(line["plan"]["plan"]["actual"].is_object() && line["plan"]["total_ns"].is_u64());
    }
    assert_eq!(found[0]["plan"]["facets"][0]["field"], "kind");
    assert_eq!(found[0]["plan"]["plan"]["actual"]["documents"], 2);
    // Both are nanoseconds, and one is of the same search again.
    let least = |ns: &dyn Fn(&Value) -> Option<u64>| found.iter().filter_map(ns).min().unwrap();
    let took = least(&|line| line["took_ns"].as_u64());
    let again = least(&|line| line["plan"]["total_ns"].as_u64());
    assert!(took > again / 100, "{took} {again}");
    // Documents are asked for of whoever explains a search.
    searcher.search(&query).explainer().documents([treepie::DocId(0)]).run().unwrap();
    assert_eq!(lines.taken()[0]["plan"].get("documents"), None);
    // What is only looked at is no search.
    searcher.search(&query).analyze().unwrap();
    searcher.explain(&query).unwrap();
    assert_eq!(lines.taken(), Vec::<Value>::new());
}

#[test]
fn what_is_fast_leaves_none() {
    let lines = Lines::default();
    let log = SlowLog::to_writer(lines.clone(), Duration::from_secs(3_600));
    let searcher = index(Index::options().slow_log(log)).searcher().unwrap();
    let query = searcher.parse("paris").unwrap();
    searcher.search(&query).run().unwrap();
    searcher.count(&query).unwrap();
    searcher.search(&query).prepare().unwrap().run().unwrap();
    assert_eq!(lines.taken(), Vec::<Value>::new());
}

/// A search that failed says so, and takes no more than the time it was given.
#[test]
fn what_was_stopped_is_not_run_again() {
    let lines = Lines::default();
    let log = SlowLog::to_writer(lines.clone(), Duration::ZERO);
    let searcher = index(Index::options().slow_log(log)).searcher().unwrap();
    let query = searcher.parse("paris OR texas").unwrap();
    let token = CancelToken::new();
    token.cancel();
    let cancelled = searcher.search(&query).budget(Budget::new().cancel(&token)).run().unwrap_err();
    assert_eq!(cancelled.kind(), ErrorKind::Cancelled);
    let late = searcher.search(&query).timeout(Duration::ZERO).run().unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Timeout);
    let wrong = searcher.parse("nofield:x").unwrap();
    assert!(searcher.search(&wrong).run().is_err());

    let found = lines.taken();
    assert_eq!(found.len(), 3);
    assert_eq!(found[0]["error"], cancelled.to_string());
    assert_eq!(found[1]["error"], late.to_string());
    for line in &found[..2] {
        // The plan says what would have been done.
        assert!(line["plan"]["plan"]["actual"].is_null(), "{line}");
        assert!(line["plan"]["plan"]["operator"].is_string(), "{line}");
    }
    assert_eq!(found[2]["plan"], Value::Null, "what cannot be planned has no plan");
}

/// Whoever writes, fails and panics: the search is answered, and the event says what is missing.
#[test]
fn a_log_that_fails_is_told_and_fails_no_search() {
    struct Broken(bool);
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            assert!(!self.0, "a bug of the host's");
            Err(io::Error::new(io::ErrorKind::StorageFull, "no room"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    for panics in [false, true] {
        let events = Arc::new(Mutex::new(vec![]));
        let seen = Arc::clone(&events);
        let log = SlowLog::to_writer(Broken(panics), Duration::ZERO);
        let index = index(Index::options().slow_log(log).on_event(move |event| {
            if let What::SlowSearch { .. } = event.what {
                seen.lock().unwrap().push(event.clone());
            }
        }));
        let searcher = index.searcher().unwrap();
        for _ in 0..2 {
            let query = searcher.parse("paris").unwrap();
            assert_eq!(searcher.search(&query).run().unwrap().total.value, 2);
        }
        let events = events.lock().unwrap();
        assert_eq!(events.len(), 2);
        for event in &*events {
            let failure = event.failure.as_ref().unwrap();
            assert_eq!(event.what.bytes(), 0);
            assert!(failure.message.contains("writing to the log of slow searches"), "{failure:?}");
            assert_eq!(failure.kind == ErrorKind::NoSpace, !panics, "{failure:?}");
        }
        let stats = index.metrics().slow_searches;
        assert_eq!((stats.count, stats.failed, stats.bytes), (2, 2, 0));
    }
}

#[test]
fn files_are_continued_set_aside_and_mended() {
    let path = file();
    let aside = PathBuf::from(format!("{}.1", path.display()));
    let search = |bytes_max: u64, times: usize| {
        let log = SlowLog::to_file(&path, Duration::ZERO).unwrap().max_bytes(bytes_max);
        let index = index(Index::options().slow_log(log));
        let searcher = index.searcher().unwrap();
        for _ in 0..times {
            searcher.count(&searcher.parse("paris").unwrap()).unwrap();
        }
        index.metrics().slow_searches
    };
    let lines = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str::<Value>(line).is_ok()).collect::<Vec<_>>()
    };
    search(1 << 20, 1);
    let length = fs::metadata(&path).unwrap().len();
    // Whoever wrote the last line was killed.
    let mut torn = fs::OpenOptions::new().append(true).open(&path).unwrap();
    torn.write_all(b"{\"schema_version\":1,\"at\"").unwrap();
    search(1 << 20, 2);
    assert_eq!(lines(&path), [true, false, true, true]);
    assert!(!aside.exists());

    // Room for two lines, or a bit more: times are not of one length.
    fs::remove_file(&path).unwrap();
    let stats = search(length * 5 / 2, 5);
    assert_eq!((stats.count, stats.failed), (5, 0));
    assert_eq!((lines(&aside), lines(&path)), (vec![true; 2], vec![true]));
    // No line at all fits.
    let stats = search(100, 2);
    assert_eq!((stats.count, stats.failed), (2, 2));
    assert_eq!(lines(&path), [true]);

    // Another process has set the file aside: what it keeps stays as it is.
    fs::remove_file(&aside).unwrap();
    fs::remove_file(&path).unwrap();
    let log = || SlowLog::to_file(&path, Duration::ZERO).unwrap().max_bytes(length * 5 / 2);
    let [one, other] = [log(), log()].map(|log| index(Index::options().slow_log(log)));
    let count = |index: &Index| {
        let searcher = index.searcher().unwrap();
        searcher.count(&searcher.parse("paris").unwrap()).unwrap();
    };
    for index in [&one, &other, &one, &other] {
        count(index);
    }
    assert_eq!((lines(&aside), lines(&path)), (vec![true; 2], vec![true; 2]));
    fs::remove_file(&path).unwrap();
    fs::remove_file(&aside).unwrap();
}

#[test]
fn a_file_that_cannot_be_opened_is_told_at_once() {
    let path = file().join("none");
    let error = SlowLog::to_file(&path, Duration::ZERO).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("opening the log of slow searches"), "{error}");
}

/// Of several searches at the same time one is run again; each has its line, whole.
#[test]
fn threads_share_a_log() {
    let lines = Lines::default();
    let log = Arc::new(SlowLog::to_writer(lines.clone(), Duration::ZERO));
    let indexes = [(); 2].map(|()| index(Index::options().slow_log(Arc::clone(&log))));
    std::thread::scope(|scope| {
        for index in &indexes {
            scope.spawn(|| {
                let searcher = index.searcher().unwrap();
                for _ in 0..50 {
                    searcher.search(&searcher.parse("paris").unwrap()).run().unwrap();
                }
            });
        }
    });
    let found = lines.taken();
    assert_eq!(found.len(), 100);
    assert!(found.iter().all(|line| line["plan"]["plan"].is_object()));
}

#[test]
fn an_index_is_called_by_its_path() {
    let (lines, path) = (Lines::default(), file());
    let log = Arc::new(SlowLog::to_writer(lines.clone(), Duration::ZERO));
    let schema = Schema::builder().text("title").build().unwrap();
    let options = || Index::options().slow_log(Arc::clone(&log));
    let index = options().create(&path, schema).unwrap();
    index.writer().unwrap().commit().unwrap();
    for index in [index, options().open(&path).unwrap()] {
        let searcher = index.searcher().unwrap();
        searcher.count(&searcher.parse("paris").unwrap()).unwrap();
    }
    for line in lines.taken() {
        assert_eq!(line["index"], path.display().to_string());
    }
    fs::remove_dir_all(&path).unwrap();
}
