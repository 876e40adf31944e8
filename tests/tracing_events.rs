//! What an index does is told to whoever subscribes to `tracing`, and is the same that a listener hears.
//!
//! `cargo test --features tracing --test tracing_events`

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Metadata, Subscriber, subscriber::with_default};
use treepie::events::{Event, What};
use treepie::storage::{MemoryStorage, Storage};
use treepie::{Document, ErrorKind, Index, Schema, WriterOptions};

/// What was told: an event with its fields, and the spans that it was told in.
#[derive(Clone, Debug, Default, PartialEq)]
struct Told {
    level: String,
    fields: Vec<(&'static str, String)>,
    spans: Vec<&'static str>,
}

impl Told {
    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(own, _)| *own == name).map(|(_, value)| value.as_str())
    }
}

impl Visit for Told {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.push((field.name(), format!("{value:?}")));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.push((field.name(), value.to_owned()));
    }
}

/// Keeps what is told by treepie, up to a level.
#[derive(Clone)]
struct Keeper {
    up_to: Level,
    told: Arc<Mutex<Vec<Told>>>,
    spans: Arc<Mutex<Vec<&'static str>>>,
    entered: Arc<Mutex<Vec<u64>>>,
    open: Arc<AtomicU64>,
}

impl Keeper {
    fn new(up_to: Level) -> Self {
        let (told, spans, entered) = <_>::default();
        Keeper { up_to, told, spans, entered, open: Arc::default() }
    }
}

impl Subscriber for Keeper {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "treepie" && *metadata.level() <= self.up_to
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut spans = self.spans.lock().unwrap();
        spans.push(span.metadata().name());
        self.open.fetch_add(1, Relaxed);
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let spans = self.spans.lock().unwrap();
        let entered = self.entered.lock().unwrap();
        let mut told = Told {
            level: event.metadata().level().to_string(),
            fields: vec![],
            spans: entered.iter().map(|id| spans[*id as usize - 1]).collect(),
        };
        event.record(&mut told);
        self.told.lock().unwrap().push(told);
    }

    fn enter(&self, span: &Id) {
        self.entered.lock().unwrap().push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        assert_eq!(self.entered.lock().unwrap().pop(), Some(span.into_u64()));
    }

    fn try_close(&self, _: Id) -> bool {
        self.open.fetch_sub(1, Relaxed);
        true
    }
}

fn schema() -> Schema {
    Schema::builder().text("title").build().unwrap()
}

fn session(index: &Index) -> treepie::Result<()> {
    let mut writer = index.writer_with(WriterOptions::new().threads(1))?;
    for n in 0..3 {
        writer.add(Document::new().with("title", format!("number {n}")))?;
        writer.commit()?;
    }
    writer.add(Document::new().with("title", "forgotten"))?;
    writer.rollback()?;
    writer.add(Document::new().with("title", "flushed"))?;
    writer.flush()?;
    writer.prepare_commit()?.finish()?;
    writer.merge()?;
    Ok(())
}

#[test]
fn a_subscriber_gets_what_a_listener_hears() {
    let heard = Arc::<Mutex<Vec<Event>>>::default();
    let seen = Arc::clone(&heard);
    let keeper = Keeper::new(Level::DEBUG);
    with_default(keeper.clone(), || {
        let index = Index::options()
            .on_event(move |event| seen.lock().unwrap().push(event.clone()))
            .create_in(Arc::new(MemoryStorage::new()), schema())
            .unwrap();
        session(&index).unwrap();
    });
    let (heard, told) = (heard.lock().unwrap(), keeper.told.lock().unwrap());
    assert_eq!(heard.len(), told.len());
    for (heard, told) in heard.iter().zip(&*told) {
        assert_eq!(told.field("operation"), Some(heard.what.operation().name()));
        assert_eq!(told.field("file"), heard.what.file());
        assert_eq!(told.field("bytes"), Some(&*heard.what.bytes().to_string()));
        assert_eq!(told.field("time_ns"), Some(&*heard.duration.as_nanos().to_string()));
        assert_eq!(told.field("error"), None);
        let is_of_file =
            heard.what.file().is_some() || matches!(heard.what, What::SyncNames { .. });
        let level = if is_of_file { "DEBUG" } else { "INFO" };
        assert_eq!(told.level, level, "{heard}");
        if let What::Commit { generation, documents, .. } = heard.what {
            assert_eq!(told.field("generation"), Some(&*generation.to_string()));
            assert_eq!(told.field("documents"), Some(&*documents.to_string()));
        }
    }
    let spans = keeper.spans.lock().unwrap();
    let expected = [
        "commit", "commit", "commit", "commit", "rollback", "flush", "prepare", "commit", "commit",
        "merge", "commit",
    ];
    assert_eq!(*spans, expected);
    assert_eq!(keeper.open.load(Relaxed), 0, "every span has ended");
    // What a commit consists of is told in its span.
    let synced: Vec<_> =
        told.iter().filter(|told| told.field("operation") == Some("sync")).collect();
    assert!(synced.len() > 8 && synced.iter().all(|told| told.spans.len() == 1), "{synced:?}");
}

#[test]
fn a_level_leaves_out_what_is_below_and_failures_are_warnings() {
    let keeper = Keeper::new(Level::INFO);
    with_default(keeper.clone(), || {
        session(&Index::in_memory(schema())).unwrap();
        let storage = MemoryStorage::new();
        let index = Index::options().create_in(Arc::new(storage.clone()), schema()).unwrap();
        let mut writer = index.writer_with(WriterOptions::new().threads(1)).unwrap();
        writer.add(Document::new().with("title", "lost")).unwrap();
        // Somebody else makes the commit first.
        drop(storage.create("manifest-0000000000000001").unwrap());
        assert_eq!(writer.commit().unwrap_err().kind(), ErrorKind::AlreadyExists);
    });
    let told = keeper.told.lock().unwrap();
    let infos: Vec<_> = told.iter().filter(|told| told.level == "INFO").collect();
    assert_eq!(infos.len(), 12, "{told:?}");
    let warnings: Vec<_> = told.iter().filter(|told| told.level == "WARN").collect();
    let operations: Vec<_> = warnings.iter().filter_map(|told| told.field("operation")).collect();
    assert_eq!(operations, ["publish", "commit"]);
    assert!(warnings[0].field("error").unwrap().contains("exists"), "{warnings:?}");
    assert_eq!(told.len(), 14);
}

#[test]
fn without_a_subscriber_nothing_is_measured() {
    let index = Index::in_memory(schema());
    session(&index).unwrap();
    assert!(!index.metrics().is_timed);
}
