//! Kept answers are those that a search would give, and none outlives its snapshot.

use crate::heap::during;
use std::sync::Arc;
use std::time::Duration;
use treepie::explain::{Decision, ExplainTree, TextOptions};
use treepie::query::Query;
use treepie::search::{Etag, IdfScope, Order, TotalMode};
use treepie::storage::MemoryStorage;
use treepie::{
    After, Document, ErrorKind, Facet, Hits, Index, Schema, SearchBuilder, SearchRequest,
    WriterOptions,
};

const QUERIES: [&str; 8] =
    ["even", "odd OR third", "even third", "\"even n4\"", "n*", "+even third^3", "n7", "nowhere"];

/// Ways to ask, each of which may answer otherwise.
fn ways<'s>(search: impl Fn() -> SearchBuilder<'s>) -> Vec<SearchBuilder<'s>> {
    let first = search().limit(1).run().unwrap().hits.into_iter().next();
    let mut ways = vec![
        search(),
        search().limit(3),
        search().limit(3).offset(2),
        search().total(TotalMode::UpTo(2)),
        search().total(TotalMode::UpTo(7)),
        search().total(TotalMode::Unknown).limit(2),
        search().count_only(),
        search().fields(["kind"]),
        search().fields(Vec::<String>::new()),
        search().facet("kind", 2),
        search().facet("kind", 5),
        search().facet("kind", 5).select("kind", ["a"]),
        search().with_facet(Facet::values("kind").limit(5).by_value()),
        search().facet("text", 5),
        search().order(Order::Document),
        search().bm25("text", 0.5, 0.1),
        search().bm25("text", 2.0, 0.1),
        search().bm25("text", 2.0, 0.9),
        search().pattern_terms(5),
        search().statistics(IdfScope::Segment),
    ];
    if let Some((hit, score)) = first.and_then(|hit| Some((hit.doc, hit.score?))) {
        ways.push(search().after(After::score(score, hit)));
        ways.push(search().after(After::score(score / 2.0, hit)));
    }
    ways
}

/// All but how long it took.
fn answer(hits: Hits) -> String {
    let Hits { total, hits, facets, stopped, .. } = hits;
    format!("{total:?} {hits:?} {facets:?} {stopped:?}")
}

#[test]
fn kept_answers_are_what_a_search_gives_as_long_as_the_index_changes() {
    let storage = Arc::new(MemoryStorage::new());
    let schema = Schema::builder().text("text").keyword("kind").key("id").build().unwrap();
    let plain = Index::options().create_in(storage.clone(), schema).unwrap();
    let mut writer = plain.writer().unwrap();
    writer.commit().unwrap();
    let index = Index::options().result_cache_bytes(32 << 20).open_storage(storage).unwrap();
    let mut kept = 0;
    for round in 0..4_u64 {
        for n in round * 20..round * 30 + 25 {
            let parity = if n % 2 == 0 { "even" } else { "odd" };
            let third = if n % 3 == 0 { "third" } else { "" };
            let document = Document::new().with("id", n.to_string());
            let document = document.with("text", format!("{parity} n{n} {third} of {round}"));
            writer.add(document.with("kind", format!("k{}", n % 7))).unwrap();
        }
        writer.commit().unwrap();
        let (searcher, sound) = (index.searcher().unwrap(), plain.searcher().unwrap());
        for text in QUERIES {
            let query = searcher.parse(text).unwrap();
            let asked = || ways(|| searcher.search(&query)).into_iter();
            let expected = ways(|| sound.search(&query)).into_iter();
            for ((first, again), expected) in asked().zip(asked()).zip(expected) {
                let what = format!("{expected:?}");
                let expected = answer(expected.run().unwrap());
                assert_eq!(answer(first.run().unwrap()), expected, "{what}");
                let again = again.run().unwrap();
                assert!(again.from_cache, "{what}");
                assert_eq!(answer(again), expected, "{what}");
                kept += 1;
            }
        }
    }
    let stats = index.result_cache();
    assert!(stats.hits >= kept && stats.entries > 0 && stats.bytes > 0, "{stats:?}");
    assert_eq!(plain.result_cache().misses, 0);
}

#[test]
fn what_was_stopped_is_not_kept_and_what_is_kept_needs_no_time() {
    let storage = Arc::new(MemoryStorage::new());
    let schema = Schema::builder().text("text").build().unwrap();
    let index = Index::options().result_cache_bytes(1 << 20).create_in(storage, schema).unwrap();
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("text", "one")).unwrap();
    writer.commit().unwrap();
    let reader = index.reader().unwrap();
    let searcher = reader.searcher();
    let query = searcher.parse("one").unwrap();
    let hurried = || searcher.search(&query).timeout(Duration::ZERO);
    assert!(hurried().partial().run().unwrap().stopped.is_some());
    assert_eq!(hurried().run().unwrap_err().kind(), ErrorKind::Timeout);
    assert_eq!(index.result_cache().entries, 0);
    assert_eq!(searcher.search(&query).run().unwrap().total.value, 1);
    assert!(hurried().run().unwrap().from_cache);

    writer.add(Document::new().with("text", "one more")).unwrap();
    writer.flush().unwrap();
    assert_eq!(reader.searcher().search(&query).run().unwrap().total.value, 2);
    writer.rollback().unwrap();
    assert_eq!(reader.searcher().search(&query).run().unwrap().total.value, 1);
    assert!(searcher.search(&query).run().unwrap().from_cache);
}

#[test]
fn plans_say_whether_an_answer_is_kept_and_asking_them_changes_nothing() {
    let storage = Arc::new(MemoryStorage::new());
    let schema = Schema::builder().text("text").build().unwrap();
    let index =
        Index::options().result_cache_bytes(1 << 20).create_in(storage.clone(), schema).unwrap();
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("text", "one")).unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("one").unwrap();
    let from_cache = |tree: ExplainTree| {
        let of_cache = |it: &&Decision| it.rule == "answer from the cache";
        let decision = tree.plan.decisions.iter().find(of_cache).map(|it| it.accepted);
        assert_eq!(
            tree.to_text(&TextOptions::default()).contains("from the cache"),
            decision.is_some()
        );
        decision
    };
    let both = || {
        let search = || searcher.search(&query).limit(5);
        let told = from_cache(search().explain().unwrap());
        assert_eq!(from_cache(search().analyze().unwrap()), told);
        told
    };
    assert_eq!(both(), Some(false));
    let before = index.result_cache();
    searcher.search(&query).limit(4).run().unwrap();
    assert_eq!(both(), Some(false), "another page");
    searcher.search(&query).limit(5).run().unwrap();
    assert_eq!(both(), Some(true));
    let after = index.result_cache();
    assert_eq!((after.hits, after.misses), (before.hits, before.misses + 2));

    let plain = Index::options().open_storage(storage).unwrap().searcher().unwrap();
    assert_eq!(from_cache(plain.search(&query).explain().unwrap()), None);
}

#[test]
fn a_cache_stays_as_small_as_it_was_told_to() {
    let storage = Arc::new(MemoryStorage::new());
    let schema = Schema::builder().text("text").build().unwrap();
    let bytes = 64 << 10;
    let index = Index::options().result_cache_bytes(bytes).create_in(storage, schema).unwrap();
    let mut writer = index.writer().unwrap();
    for n in 0..200 {
        writer
            .add(Document::new().with("text", format!("all n{n} {}", "long ".repeat(n))))
            .unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    for n in 0..1_000 {
        let query = searcher.parse(&format!("n{n} OR all")).unwrap();
        searcher.search(&query).limit(n % 50).run().unwrap();
        let stats = index.result_cache();
        assert!(stats.bytes <= bytes && stats.entries as u64 * 512 <= bytes, "{stats:?}");
    }
    let stats = index.result_cache();
    assert_eq!(stats.misses, 1_000);
    assert!(stats.entries > 2, "{stats:?}");
}

/// What answers are kept under counts as they do: long queries that find nothing, lists, and short stored fields.
#[test]
fn a_cache_takes_no_more_memory_than_it_was_told_to() {
    let storage = Arc::new(MemoryStorage::new());
    let schema = Schema::builder().text("text").keyword("kind").build().unwrap();
    let bytes: u64 = 1 << 20;
    let index = Index::options().result_cache_bytes(bytes).create_in(storage, schema).unwrap();
    let mut writer = index.writer_with(WriterOptions::new().threads(1)).unwrap();
    for n in 0..200 {
        let document = Document::new().with("text", format!("all n{n}"));
        writer.add(document.with("kind", format!("k{}", n % 7))).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let long = |n: usize| format!("{} x{n}", "long ".repeat(1 + n % 4_000)).to_string();
    let many = |n: usize| Query::any_of((0..500).map(|at| Query::word(format!("{at}x{n}"))));
    let list = |n: usize| Query::in_set((0..500).map(|at| format!("{at}x{n}")).collect::<Vec<_>>());
    let ask = |query: Query, limit| {
        searcher.search(&query).limit(limit).facet("kind", 7).run().unwrap();
    };
    // What a searcher keeps for the next search, of the widest query.
    ask(searcher.parse("all").unwrap(), 10);
    ask(many(1_000), 10);
    type Make<'m> = &'m dyn Fn(usize) -> (Query, u64);
    let queries: [(&str, Make<'_>); 4] = [
        ("long", &|n| (Query::phrase(long(n)), 10)),
        ("many", &|n| (many(n), 10)),
        ("list", &|n| (list(n), 10)),
        ("hits", &|n| (searcher.parse(&format!("all OR x{n}")).unwrap(), 1 + n as u64 % 60)),
    ];
    let mut live = 0;
    for (what, query) in queries {
        let ((), heap) = during(|| {
            for n in 0..1_000 {
                let (query, limit) = query(n);
                ask(query, limit);
            }
        });
        live += heap.live;
        let stats = index.result_cache();
        assert!(stats.entries > 10 && stats.bytes > bytes / 2, "{what}: {stats:?}");
        assert!(live < bytes as i64 * 5 / 4, "{what}: {live} bytes for {stats:?}");
    }
    // What would drive out all others is not kept.
    let entries = index.result_cache();
    ask(Query::any_of((0..1_000).map(|n| Query::word(format!("{n}{}", "x".repeat(200))))), 10);
    assert_eq!(index.result_cache().bytes, entries.bytes);
}

/// An index may be overwritten by one of other fields, of which nothing is committed yet.
#[test]
fn snapshots_of_other_fields_have_other_etags() {
    let storage = Arc::new(MemoryStorage::new());
    let schema = |field: &str| Schema::builder().text(field).build().unwrap();
    let index = Index::options().create_in(storage.clone(), schema("text")).unwrap();
    index.writer().unwrap().commit().unwrap();
    let etag = index.searcher().unwrap().etag();
    assert_eq!(index.searcher().unwrap().etag(), etag);
    let index = Index::options().overwrite_in(storage, schema("title"));
    let mut writer = index.writer().unwrap();
    writer.flush().unwrap();
    assert_ne!(index.reader().unwrap().searcher().etag(), etag);
}

#[test]
fn etags_are_read_as_they_were_printed_and_nothing_else_is() {
    let index = Index::in_memory(Schema::builder().text("text").build().unwrap());
    let mut writer = index.writer().unwrap();
    writer.commit().unwrap();
    let before = index.searcher().unwrap();
    writer.add(Document::new().with("text", "one")).unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let etag: Etag = searcher.etag().to_string().parse().unwrap();
    assert_eq!(etag, searcher.etag());
    let query = searcher.parse("one").unwrap();
    let request = SearchRequest::new(&query);
    assert_eq!(searcher.run_unless(Some(etag), &request).unwrap(), None);
    let stale = searcher.run_unless(Some(before.etag()), &request).unwrap();
    assert_eq!(stale.unwrap().total.value, 1);
    for text in ["", "1", "1-", "-1", "x-1", "+1-0000000000000001", "1-1", "\"1-0\""] {
        assert_eq!(text.parse::<Etag>().unwrap_err().kind(), ErrorKind::Usage, "{text}");
    }
}
