//! Deleting and merging, as users see it: what is left answers as if the rest had never been there.

use std::sync::Arc;
use std::time::Duration;
use treepie::query::{ParseOptions, Query, parse};
use treepie::search::TotalMode;
use treepie::storage::{MemoryStorage, Storage};
use treepie::writer::MergePolicy;
use treepie::{
    Budget, CancelToken, Document, ErrorKind, Field, FieldKind, Index, IndexWriter, Limits, Schema,
    Searcher, WriterOptions,
};

fn query(text: &str) -> Query {
    parse(text, &ParseOptions::default()).unwrap()
}

fn schema() -> Schema {
    let mut body = Field::new("body", FieldKind::Text);
    body.offsets = true;
    let mut tag = Field::new("tag", FieldKind::Keyword);
    tag.many = true;
    Schema::builder().text("title").field(body).field(tag).keyword("id").build().unwrap()
}

/// Documents with words from one to all of them, so that there are lists of every kind.
fn document(n: usize) -> Document {
    let words = (1..12).filter(|k| n.is_multiple_of(1 << k)).map(|k| format!("level{k}"));
    let words: Vec<_> = words.collect();
    let mut document = Document::new()
        .with("title", format!("Number {n} of many {}", words.join(" ")))
        .with("id", n.to_string());
    if !n.is_multiple_of(5) {
        let again = "often ".repeat(n % 7);
        document.push("body", format!("{again} body of {} {}", n % 97, words.join(" and ")));
    }
    (0..n % 3).for_each(|k| document.push("tag", format!("tag {}", (n + k) % 40)));
    document
}

const SEED: u8 = 0x5A;

fn writer(index: &Index, first: u8) -> IndexWriter {
    let mut seed = [SEED; 16];
    // Ids count from the seed: this makes one of them the other index's first.
    seed[0] ^= first;
    index.writer_with(WriterOptions::new().threads(1).reproducible_ids(seed)).unwrap()
}

fn segments(storage: &MemoryStorage) -> Vec<(String, Vec<u8>)> {
    let entries = storage.list().unwrap().into_iter();
    let named = entries.filter(|entry| entry.name.starts_with("seg-"));
    let read = |name: String| {
        let file = storage.open(&name).unwrap();
        let mut bytes = vec![0; file.len() as usize];
        file.read_at(0, &mut bytes).unwrap();
        (name, bytes)
    };
    named.map(|entry| read(entry.name)).collect()
}

#[test]
fn merging_leaves_the_bytes_of_an_index_that_never_had_what_was_deleted() {
    const N: usize = 5_000;
    let is_gone = |n: usize| n % 3 == 1 || n.is_multiple_of(16) || (2_000..2_400).contains(&n);
    let storage = Arc::new(MemoryStorage::new());
    let fresh = Index::options().create_in(storage.clone(), schema()).unwrap();
    let mut into = writer(&fresh, 0);
    for n in (0..N).filter(|n| !is_gone(*n)) {
        into.add(document(n)).unwrap();
    }
    into.commit().unwrap();
    drop(into);
    let expected = segments(&storage);
    assert_eq!(expected.len(), 1);

    // Which of its numbers the merged segment gets does not matter here: all are tried.
    let same = (0..32u8).find_map(|first| {
        let storage = Arc::new(MemoryStorage::new());
        let index = Index::options().create_in(storage.clone(), schema()).unwrap();
        let mut into = writer(&index, first);
        for n in 0..N {
            into.add(document(n)).unwrap();
            if [7, 1_500, 4_000].contains(&n) {
                into.commit().unwrap();
            }
        }
        into.commit().unwrap();
        for n in (0..N).filter(|n| is_gone(*n) && *n % 3 == 1) {
            into.delete_value("id", n.to_string()).unwrap();
        }
        into.commit().unwrap();
        for n in (0..N).filter(|n| is_gone(*n)) {
            into.delete(&Query::value("id", n.to_string())).unwrap();
        }
        let merged = into.merge().unwrap();
        assert_eq!(
            (merged.segments, merged.documents as usize),
            (1, (0..N).filter(|n| !is_gone(*n)).count())
        );
        let merged = format!("seg-{}.idx", index.inspect().unwrap().segments()[0].id);
        let is_same = |name: &String| *name == merged && *name == expected[0].0;
        segments(&storage).into_iter().find(|(name, _)| is_same(name)).map(|(_, bytes)| bytes)
    });
    assert!(same.expect("one of the ids is the same") == expected[0].1, "other bytes");
}

#[test]
fn what_is_deleted_was_there_when_it_was_asked_for() {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    let id = |n: usize| n.to_string();
    writer.add(document(1)).unwrap();
    writer.delete_value("id", "1").unwrap();
    writer.add(document(1)).unwrap(); // stays
    writer.add(document(2)).unwrap();
    writer.delete(&query("id:2 OR id:3")).unwrap();
    writer.add(document(3)).unwrap(); // stays
    let commit = writer.commit().unwrap();
    assert_eq!((commit.documents, commit.added, commit.deleted), (2, 4, 2));
    let count = |text: &str| index.searcher().unwrap().count(&query(text)).unwrap();
    assert_eq!([1, 2, 3].map(|n| count(&format!("id:{}", id(n)))), [1, 0, 1]);

    // An old document and a new one by one call, and again: there is nothing left.
    writer.add(document(3)).unwrap();
    writer.delete_value("id", "3").unwrap();
    let commit = writer.commit().unwrap();
    assert_eq!((commit.documents, commit.deleted, commit.segments), (1, 2, 1));
    writer.delete_value("id", "3").unwrap();
    let commit = writer.commit().unwrap();
    assert_eq!((commit.documents, commit.deleted), (1, 0));

    // The last one: an index of no segments, which goes on.
    writer.delete(&query("*")).unwrap();
    let commit = writer.commit().unwrap();
    assert_eq!((commit.documents, commit.segments, count("*")), (0, 0, 0));
    assert_eq!(writer.merge().unwrap().segments, 0);
    writer.add(document(4)).unwrap();
    assert_eq!(writer.commit().unwrap().documents, 1);
}

#[test]
fn deleted_documents_are_not_fetched_and_not_gone_for_who_reads_already() {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    (0..300).for_each(|n| writer.add(document(n)).unwrap());
    writer.commit().unwrap();
    let before = index.searcher().unwrap();
    writer.delete(&query("level1")).unwrap();
    assert_eq!(writer.commit().unwrap().deleted, 150);
    let after = before.reload().unwrap().unwrap();
    assert_eq!((before.n_docs(), after.n_docs(), after.n_deleted()), (300, 150, 150));
    let docs =
        |searcher: &Searcher| searcher.documents().map(|doc| doc.unwrap().0).collect::<Vec<_>>();
    assert_eq!(docs(&after), (0..300).filter(|n| n % 2 == 1).collect::<Vec<_>>());
    assert_eq!(docs(&before), (0..300).collect::<Vec<_>>());
    let [even, odd] = [4, 5].map(treepie::DocId);
    before.document(even).unwrap();
    after.document(odd).unwrap();
    let error = after.document(even).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("not deleted"), "{error}");
    assert!(after.explain_score(&query("level1"), even).unwrap().is_none());
    assert_eq!(before.count(&query("level1")).unwrap(), 150);
    assert_eq!(after.count(&query("level1")).unwrap(), 0);
    // The whole of it as one piece of memory, and back.
    let image = index.to_image().unwrap();
    let of_image = Index::open_bytes(image).unwrap().searcher().unwrap();
    assert_eq!(docs(&of_image), docs(&after));
    let tree = after.search(&query("number")).count_only().analyze().unwrap();
    let deleted =
        tree.plan.iter().find(|node| node.operator.name() == "Deleted").expect("in the plan");
    assert_eq!(deleted.estimate.documents, 150);
}

#[test]
fn what_cannot_be_deleted_is_refused_and_the_writer_goes_on() {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    writer.add(document(1)).unwrap();
    for field in ["title", "nowhere"] {
        assert_eq!(writer.delete_value(field, "x").unwrap_err().kind(), ErrorKind::Usage);
    }
    assert_eq!(writer.delete(&query("nowhere:x")).unwrap_err().kind(), ErrorKind::Query);
    assert_eq!(writer.commit().unwrap().documents, 1);

    let options = WriterOptions::new().threads(1).memory_bytes(16 << 20);
    drop(writer);
    let mut writer = index.writer_with(options).unwrap();
    writer.add(document(7)).unwrap();
    // More than the writer has memory for.
    for n in 0..200_000 {
        writer.delete_value("id", n.to_string()).unwrap();
    }
    writer.add(document(9)).unwrap();
    assert_eq!(writer.commit().unwrap().documents, 1, "what was told is carried out, and in order");
}

/// The same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }
}

/// What an index with a key should hold: the text of each key, in the order in which they were added last.
#[derive(Clone, Default)]
struct Model(Vec<(String, String)>);

impl Model {
    fn put(&mut self, key: &str, text: &str) {
        self.0.retain(|(other, _)| other != key);
        self.0.push((key.into(), text.into()));
    }

    /// Removes what has a word.
    fn remove_word(&mut self, word: &str) {
        self.0.retain(|(_, text)| text.split(' ').all(|other| other != word));
    }

    fn check(&self, searcher: &Searcher, what: &str) {
        assert_eq!(searcher.n_docs(), self.0.len() as u64, "{what}");
        let docs = searcher.documents().map(|doc| searcher.document(doc.unwrap()).unwrap());
        let found: Vec<(String, String)> =
            docs.map(|doc| (doc["id"].to_string(), doc["text"].to_string())).collect();
        assert!(found == self.0, "{what}: {found:?}\n{:?}", self.0);
        for word in ["w0", "w1", "w5"] {
            let has = |(_, text): &&(String, String)| text.split(' ').any(|other| other == word);
            let expected = self.0.iter().filter(has).count() as u64;
            let query = query(word);
            assert_eq!(searcher.count(&query).unwrap(), expected, "{what}: {word}");
            let page = searcher.search(&query).limit(5).run().unwrap();
            assert_eq!(page.total.value, expected, "{what}: {word}");
            assert!(page.hits.iter().all(|hit| hit.fields["text"].to_string().contains(word)));
        }
    }
}

#[test]
fn an_index_with_a_key_is_a_map_whatever_is_done_to_it() {
    let mut random = Random(0xC0FFEE);
    for round in 0..60 {
        let schema = Schema::builder().text("text").key("id").build().unwrap();
        let index = Index::in_memory(schema);
        let policy = MergePolicy::default().factor(2 + round as u32 % 3);
        let options = || WriterOptions::new().threads(1).merge_policy(policy);
        let mut writer = index.writer_with(options()).unwrap();
        let (mut model, mut committed) = (Model::default(), Model::default());
        // What was flushed or committed last, and so what this process sees.
        let mut seen = Model::default();
        let (mut payload, mut committed_payload) = (vec![], vec![]);
        let mut reader = None;
        // Merges that ran and are not taken in.
        let mut merged = vec![];
        let never = CancelToken::new();
        let n_keys = [3, 20, 400][round % 3];
        for step in 0..60 {
            let what = format!("round {round}, step {step}");
            match random.below(20) {
                0..6 => {
                    for _ in 0..1 + random.below(30) {
                        let key = format!("k{}", random.below(n_keys));
                        let text = format!("w{} w{} {step}", random.below(4), random.below(9));
                        model.put(&key, &text);
                        writer.add(Document::new().with("id", key).with("text", text)).unwrap();
                    }
                    payload = vec![round as u8, step as u8];
                    writer.set_payload(payload.clone()).unwrap();
                }
                6 => {
                    let key = format!("k{}", random.below(n_keys));
                    model.0.retain(|(other, _)| *other != key);
                    writer.delete_key(&key).unwrap();
                }
                7 => {
                    let word = format!("w{}", random.below(9));
                    model.remove_word(&word);
                    writer.delete(&query(&word)).unwrap();
                }
                8 if random.below(2) == 0 => {
                    // Merges what was committed, and nothing else.
                    writer.maintain().unwrap();
                }
                8 => {
                    (committed, seen) = (model.clone(), model.clone());
                    committed_payload.clone_from(&payload);
                    let merged = writer.merge().unwrap();
                    assert_eq!(merged.documents, model.0.len() as u64, "{what}");
                    assert!(merged.segments < 2, "{what}");
                    assert_eq!(index.searcher().unwrap().n_deleted(), 0, "{what}");
                }
                9 => {
                    // What was not committed goes.
                    match random.below(2) {
                        0 => writer.rollback().unwrap(),
                        _ => {
                            drop(writer);
                            writer = index.writer_with(options()).unwrap();
                        }
                    }
                    (model, seen) = (committed.clone(), committed.clone());
                    payload.clone_from(&committed_payload);
                }
                10 | 11 => {
                    seen = model.clone();
                    let flushed = writer.flush().unwrap();
                    assert_eq!(flushed.documents, model.0.len() as u64, "{what}");
                }
                12 | 13 => {
                    let key = format!("k{}", random.below(n_keys));
                    let text = model.0.iter().find(|(other, _)| *other == key);
                    let text = text.map(|(_, text)| format!("{text} again{step}"));
                    let change =
                        |document: &mut Document| document.set("text", text.clone().unwrap());
                    assert_eq!(writer.update(&key, change).unwrap(), text.is_some(), "{what}");
                    if let Some(text) = text {
                        model.put(&key, &text);
                    }
                }
                14 | 15 => {
                    if let Some(job) = writer.begin_merge().unwrap() {
                        merged.push(job.run(&never).unwrap());
                    }
                }
                16 => {
                    if !merged.is_empty() {
                        let merged = merged.swap_remove(random.below(merged.len()));
                        writer.finish_merge(merged).unwrap();
                    }
                }
                17 => {
                    let prepared = writer.prepare_commit().unwrap();
                    assert_eq!(prepared.documents(), model.0.len() as u64, "{what}");
                }
                _ => {
                    (committed, seen) = (model.clone(), model.clone());
                    committed_payload.clone_from(&payload);
                    let commit = writer.commit().unwrap();
                    assert_eq!(commit.documents, model.0.len() as u64, "{what}");
                }
            }
            let searcher = index.searcher().unwrap();
            committed.check(&searcher, &what);
            assert_eq!(searcher.payload(), committed_payload, "{what}");
            if reader.is_none() && random.below(8) == 0 {
                reader = index.reader().ok();
            }
            if let Some(reader) = &reader {
                assert!(!reader.refresh().unwrap(), "{what}: all was done in this process");
                seen.check(&reader.searcher(), &what);
            }
        }
        if let Ok(inspector) = index.inspect() {
            let report = inspector.verify(|error| panic!("{error}"));
            assert!(report.is_sound());
        }
    }
}

#[test]
fn a_key_is_one_value_that_every_document_has() {
    let many = Schema::builder().keyword("id").key("id").build().unwrap_err();
    assert!(many.to_string().contains("many values"), "{many}");
    assert_eq!(
        Schema::builder().text("id").key("id").build().unwrap_err().kind(),
        ErrorKind::Schema
    );
    let schema = Schema::builder().text("text").key("id").build().unwrap();
    assert_eq!(schema.key().unwrap().name, "id");
    let index = Index::in_memory(schema.clone());
    let mut writer = index.writer().unwrap();
    for document in [Document::new().with("text", "x"), Document::new().with("id", "")] {
        let error = writer.add(document).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Document);
        assert!(error.to_string().contains("'id'"), "{error}");
    }
    let titles = treepie::writer::LineFormat::titles();
    let lines = writer.add_lines(&b"a\n"[..], &titles, treepie::writer::BadLines::Refuse);
    assert!(lines.is_err());
    writer.add(Document::new().with("id", "1")).unwrap();
    assert_eq!(writer.commit().unwrap().documents, 1);
    drop(writer);
    // The schema comes back from disk with its key.
    let image = index.to_image().unwrap();
    assert_eq!(Index::open_bytes(image).unwrap().schema(), &schema);
    let other = Index::in_memory(Schema::builder().text("text").build().unwrap());
    assert_eq!(other.writer().unwrap().delete_key("1").unwrap_err().kind(), ErrorKind::Usage);
}

/// Lists of every kind, over more documents than a window of a list has.
#[test]
fn words_and_pairs_of_them_are_counted_without_what_is_deleted_in_every_window() {
    const WORDS: [(&str, u32); 5] =
        [("two", 2), ("three", 3), ("forty", 40), ("rare", 997), ("few", 40_009)];
    let schema = Schema::builder().text("text").keyword("lot").build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    let n_docs = 150_000;
    let words = |n: u32| WORDS.iter().filter(move |(_, modulus)| n.is_multiple_of(*modulus));
    for n in 0..n_docs {
        let text = words(n).map(|(word, _)| *word).collect::<Vec<_>>().join(" ");
        writer.add(Document::new().with("text", text).with("lot", (n % 7).to_string())).unwrap();
    }
    writer.commit().unwrap();
    writer.delete_value("lot", "3").unwrap();
    writer.delete_value("lot", "4").unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let count = |text: &str| searcher.count(&searcher.parse(text).unwrap()).unwrap();
    let live = || (0..n_docs).filter(|n| n % 7 != 3 && n % 7 != 4);
    for (a, x) in WORDS {
        assert_eq!(count(a), live().filter(|n| n.is_multiple_of(x)).count() as u64, "{a}");
        for (b, y) in WORDS {
            let both = live().filter(|n| n.is_multiple_of(x) && n.is_multiple_of(y)).count() as u64;
            let any = live().filter(|n| n.is_multiple_of(x) || n.is_multiple_of(y)).count() as u64;
            assert_eq!((count(&format!("+{a} +{b}")), count(&format!("{a} {b}"))), (both, any));
        }
    }
}

/// A budget is about searching: one that ends while something is written would take along all that was added.
#[test]
fn a_budget_around_a_writer_stops_none_of_its_steps() {
    let cancelled = CancelToken::new();
    cancelled.cancel();
    let budgets = [
        ("a deadline", Budget::new().timeout(Duration::ZERO)),
        ("a token", Budget::new().cancel(&cancelled)),
        ("memory", Budget::new().memory_bytes(1)),
    ];
    type Work = fn(&mut IndexWriter);
    let works: [(&str, Work); 6] = [
        ("commit", |writer| _ = writer.commit().unwrap()),
        ("flush", |writer| _ = writer.flush().unwrap()),
        ("prepare", |writer| _ = writer.prepare_commit().unwrap().finish().unwrap()),
        // This one may be stopped, and takes along nothing that was added, either.
        ("merge", |writer| _ = writer.merge()),
        ("many deletions", |writer| {
            (0..40_000).for_each(|n| writer.delete_value("kind", format!("none{n}")).unwrap());
        }),
        ("many documents", |writer| {
            (0..3_000)
                .for_each(|n| writer.add(Document::new().with("text", format!("w{n}"))).unwrap());
        }),
    ];
    for (what, budget) in budgets {
        for (step, work) in works {
            let schema = Schema::builder().text("text").keyword("kind").build().unwrap();
            let index = Index::in_memory(schema);
            let mut writer = index.writer_with(WriterOptions::new().threads(1)).unwrap();
            for round in 0..3 {
                for n in 0..300 {
                    let text = format!("common word{n} round{round}");
                    writer.add(Document::new().with("text", text).with("kind", "k")).unwrap();
                }
                writer.commit().unwrap();
            }
            let query = parse("word1* OR \"common word20\"", &ParseOptions::default()).unwrap();
            writer.delete(&query).unwrap();
            writer.add(Document::new().with("text", "kept")).unwrap();
            budget.run(|| work(&mut writer));
            let commit = writer.commit().unwrap_or_else(|error| panic!("{what}, {step}: {error}"));
            let searcher = index.searcher().unwrap();
            let count = |text: &str| searcher.count(&searcher.parse(text).unwrap()).unwrap();
            assert_eq!(count("kept"), 1, "{what}, {step}");
            assert_eq!(count("word1* OR \"common word20\""), 0, "{what}, {step}");
            assert_eq!(commit.documents, searcher.n_docs(), "{what}, {step}");
        }
    }
}

/// What a deletion takes is what a search for the same takes; what is too much is told at once, and costs nothing that was added.
#[test]
fn a_deletion_takes_no_more_memory_than_a_search_may() {
    let mut limits = Limits::default();
    limits.query_memory_bytes = 40_000;
    let schema = Schema::builder().text("text").build().unwrap();
    let index = Index::in_memory(schema).with_limits(limits).unwrap();
    let mut writer = index.writer_with(WriterOptions::new().threads(1)).unwrap();
    for n in 0..2_000 {
        writer.add(Document::new().with("text", format!("common word{n} w{n}"))).unwrap();
    }
    writer.commit().unwrap();
    let parse = |text: &str| parse(text, &ParseOptions::default()).unwrap();
    for too_much in [
        "(word1* AND -word2*) OR (word3* AND -w4*) OR (w5* AND -w6*) OR (w7* AND -w8*)",
        "(common OR word1) AND -(word2 OR (word3 AND -word4) OR (word5 AND -w6))",
    ] {
        let error = index.searcher().unwrap().count(&parse(too_much)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{too_much}: {error}");
        let error = writer.delete(&parse(too_much)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{too_much}: {error}");
        assert_eq!(error.limit().map(|limit| limit.name), Some("QUERY_MEMORY_BYTES"));
    }
    // What is found takes none, however much that is.
    writer.delete(&parse("common -word7")).unwrap();
    writer.add(Document::new().with("text", "kept")).unwrap();
    let commit = writer.commit().unwrap();
    assert_eq!((commit.documents, commit.deleted), (2, 1_999));
    assert_eq!(index.searcher().unwrap().count(&parse("word7 kept")).unwrap(), 2);
}

/// Of a pattern only the smallest documents are looked for, more of them where those that are found are deleted.
#[test]
fn the_first_documents_of_a_pattern_are_those_that_are_left() {
    const N: usize = 3_000;
    let index = Index::in_memory(schema());
    let never = MergePolicy::default().documents_max(0).deleted_percent(100);
    let options = || WriterOptions::new().merge_policy(never);
    let mut into = index.writer_with(options()).unwrap();
    let has_word = |n: usize| n % 4 != 3;
    for n in 0..N {
        let word = if has_word(n) { format!("word{}", n * 7 % 600) } else { "other".to_owned() };
        into.add(Document::new().with("title", word).with("id", n.to_string())).unwrap();
        if [1_000, 1_020].contains(&n) {
            into.commit().unwrap();
        }
    }
    into.commit().unwrap();
    // Spread in the first segment, all but one of the second, and whatever comes first in the third.
    let is_gone = |n: usize| n < 1_000 && n % 5 != 2 || (1_002..2_700).contains(&n) && n != 1_500;
    for n in (0..N).filter(|n| is_gone(*n)) {
        into.delete_value("id", n.to_string()).unwrap();
    }
    into.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let left: Vec<u64> =
        (0..N).filter(|n| has_word(*n) && !is_gone(*n)).map(|n| n as u64).collect();
    let query = query("title:word*");
    for (offset, limit) in [(0, 1), (0, 10), (3, 20), (100, 100), (0, 400), (150, 5_000)] {
        let search = searcher.search(&query).offset(offset).limit(limit);
        let hits = search.total(TotalMode::Unknown).fields::<&str>([]).run().unwrap().hits;
        let found: Vec<u64> = hits.iter().map(|hit| hit.doc.0).collect();
        let page = left.iter().skip(offset as usize).take(limit as usize).copied();
        assert_eq!(found, page.collect::<Vec<_>>(), "{offset}, {limit}");
    }
}
