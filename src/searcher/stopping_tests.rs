//! Searches of each kind, stopped at some of the places at which they can be.

use super::{Relation, SearchBuilder, Searcher, Setting, Stopped};
use crate::budget::{Budget, CancelToken};
use crate::document::Document;
use crate::error::ErrorKind;
use crate::explain::ExplainTree;
use crate::function::{Function, ScoreFunction};
use crate::limits::Limits;
use crate::plan::FacetMethod;
use crate::query::{ParseOptions, Query, parse};
use crate::request::{Collapse, Facet, Fusion, Order, TotalMode};
use crate::schema::{Field, FieldKind, Schema};
use crate::segment::snapshot::Snapshot;
use crate::sort::SortKey;
use crate::storage::{MemoryStorage, Storage};
use crate::value::{Interval, Timestamp};
use crate::writer::{Existing, IndexWriter, WriterOptions};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Documents of each of two segments: more than one window.
const N_DOCS: u32 = 70_000;
/// Places at which each search is stopped, of those at which it tells of its work.
const PLACES: u64 = 5;

/// Every kind of query; a plain word by the way that is scored.
const QUERIES: &[&str] = &[
    "half",
    "half rare",
    "half third",
    "+common +half",
    "+common half -third",
    "(half OR third) AND common -w7",
    "(half third w7)~2",
    "MAX [half third]~0.1",
    "\"common half\"",
    "\"half common\"~3",
    "PHRASE [com* half]",
    "w1*",
    "w?3",
    "/w[0-9]*3/",
    "w123~1",
    "[w1 TO w3]",
    "kind:IN [k1 k2 k3]",
    "half^=2 OR w1*^=3",
];

fn searcher() -> Searcher {
    static SEARCHER: OnceLock<Searcher> = OnceLock::new();
    SEARCHER.get_or_init(build).clone()
}

fn build() -> Searcher {
    let schema = Schema::builder()
        .text("text")
        .field(Field::new("kind", FieldKind::Keyword).column(true))
        .field(Field::new("same", FieldKind::I64))
        .field(Field::new("day", FieldKind::Date).many(true))
        .build()
        .unwrap();
    filled(schema, fill)
}

/// Searcher of an index that something is written to.
pub(super) fn filled(schema: Schema, fill: impl FnOnce(&mut IndexWriter)) -> Searcher {
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let options = WriterOptions::new().threads(1);
    let store = Arc::clone(&storage);
    let (analyzers, published) = (Arc::default(), Arc::default());
    let existing = Existing::Refuse;
    let mut writer =
        IndexWriter::open(store, schema, Arc::clone(&analyzers), existing, published, options)
            .unwrap();
    fill(&mut writer);
    writer.commit().unwrap();
    let snapshot = Arc::new(Snapshot::open(&*storage).unwrap());
    Searcher::of(storage, snapshot, Setting { analyzers, ..Setting::default() })
}

fn fill(writer: &mut IndexWriter) {
    for segment in 0..2 {
        for nth in 0..N_DOCS {
            let mut text = String::from("common");
            for (every, word) in [(2, " half"), (3, " third"), (9_000, " rare")] {
                if nth % every == segment % every {
                    text.push_str(word);
                }
            }
            text.push_str(&format!(" w{} w{}", nth % 700, nth % 13));
            let document = Document::new().with("text", &*text);
            let document = document.with("kind", &*format!("k{}", nth % 300)).with("same", 3);
            let day =
                |nth: u32| Timestamp::from_micros(i64::from(nth % 90) * 86_400_000_000).unwrap();
            writer.add(document.with("day", day(nth)).with("day", day(nth * 7))).unwrap();
        }
        writer.commit().unwrap();
    }
    // So that what is deleted is left out wherever a search may be stopped.
    for kind in (1..100).step_by(2) {
        writer.delete_value("kind", format!("k{kind}")).unwrap();
    }
}

fn query(text: &str) -> Query {
    parse(text, &ParseOptions::default()).unwrap()
}

/// The ways to search.
fn searches<'s>(
    searcher: &'s Searcher,
    query: &'s Query,
) -> Vec<(&'static str, SearchBuilder<'s>)> {
    let search = || searcher.search(query);
    vec![
        ("ten", search()),
        ("ten, uncounted", search().total(TotalMode::Unknown)),
        ("facets", search().facet("kind", 3)),
        ("facets of words, no hits", search().count_only().facet("text", 3)),
        ("in document order", search().order(Order::Document)),
        ("patterns by their terms", search().pattern_terms(5)),
        ("sorted", search().sort([SortKey::ascending("same"), SortKey::descending("day")])),
        ("sorted by names and by a function of the score", {
            let of_score = Function::expression("same - _score").unwrap();
            search().sort([SortKey::descending("kind").natural(), SortKey::function(of_score)])
        }),
        ("scored by a function", {
            let of_score = Function::expression("_score + same % 2").unwrap();
            search().score_function(ScoreFunction::replace(of_score))
        }),
        (
            "by ranges",
            search().count_only().with_facet(Facet::ranges("same", [(..5).into(), (3..9).into()])),
        ),
        ("by days", search().count_only().with_facet(Facet::date_histogram("day", Interval::Day))),
        ("statistics", {
            search().count_only().with_facet(Facet::statistics("same").percentiles([50.0]))
        }),
        ("by steps", search().count_only().with_facet(Facet::histogram("same", 2))),
        (
            "by column",
            search()
                .count_only()
                .with_facet(Facet::values("kind").limit(3).method(FacetMethod::Column)),
        ),
        ("by value", {
            let values = Facet::values("text").by_value_descending().containing("7").minimum(40);
            search().count_only().with_facet(values)
        }),
        ("grouped", search().collapse(Collapse::by("kind"))),
        ("by quantiles", search().count_only().with_facet(Facet::quantiles("day", 4))),
        ("within buckets", {
            let days =
                Facet::date_histogram("day", Interval::Month).with_facet(Facet::statistics("same"));
            search()
                .limit(2)
                .with_facet(Facet::values("kind").limit(2).with_facet(days).top_hits(1))
        }),
        ("selected", {
            let selected = search().select("kind", ["k4", "k6"]).select("day", ["1970-01-05"]);
            selected.limit(3).facet("kind", 3).facet("day", 2)
        }),
    ]
}

/// Gives `check` the places at which a search can be stopped, a few of them, until it is `false`, at the end.
fn each_place(what: &str, mut check: impl FnMut(u64) -> bool) {
    // The number of times that work is told is found by doubling, then some of the places between are taken.
    let mut n = 1;
    while check(n) {
        n *= 2;
    }
    for place in (0..n).step_by((n / PLACES).max(1) as usize) {
        check(place);
    }
    assert!(n > 1, "{what}: told no work");
}

#[test]
fn a_search_that_is_stopped_says_so_and_leaves_nothing_behind() {
    let searcher = searcher();
    for text in QUERIES {
        let query = query(text);
        for (way, search) in searches(&searcher, &query) {
            let what = format!("{text}, {way}");
            let whole = search.clone().run().unwrap();
            assert_eq!(whole.stopped, None);
            each_place(&what, |place| {
                let mut stopped = search.clone();
                stopped.budget = Budget::stopping_at(place);
                let is_stopped = match stopped.run() {
                    Ok(page) => {
                        assert_eq!(page.hits, whole.hits, "{what}");
                        false
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Timeout, "{what}: {error}");
                        true
                    }
                };
                let again = search.clone().run().unwrap();
                assert_eq!((&again.hits, again.total), (&whole.hits, whole.total), "{what}");
                assert_eq!(again.facets, whole.facets, "{what}");
                is_stopped
            });
        }
    }
}

#[test]
fn what_was_found_until_then_is_right_as_far_as_it_goes() {
    let searcher = searcher();
    for text in QUERIES {
        let query = query(text);
        for (way, search) in searches(&searcher, &query) {
            let what = format!("{text}, {way}");
            let whole = search.clone().run().unwrap();
            let exact = searcher.count(&search.request().selected_query()).unwrap();
            let all = search.clone().limit(u64::from(2 * N_DOCS)).fields(["kind"]).run().unwrap();
            let of_all = all.hits.iter().enumerate();
            let of_all: HashMap<_, _> =
                of_all.map(|(nth, hit)| (hit.doc, (nth, hit.score.map(f32::to_bits)))).collect();
            each_place(&what, |place| {
                let mut stopped = search.clone().partial();
                stopped.budget = Budget::stopping_at(place);
                let page = stopped.run().unwrap();
                for hit in &page.hits {
                    let score = hit.score.map(f32::to_bits);
                    let known = of_all.get(&hit.doc).map(|(_, score)| *score);
                    assert_eq!(known, Some(score), "{what}: {}", hit.doc);
                }
                assert!(page.hits.is_sorted_by_key(|hit| of_all[&hit.doc].0), "{what}");
                if page.stopped.is_none() {
                    assert_eq!((&page.hits, page.total), (&whole.hits, whole.total), "{what}");
                    return false;
                }
                assert_eq!(page.stopped, Some(Stopped::Timeout));
                assert!(page.total.value <= exact, "{what}: {} of {exact}", page.total.value);
                assert!(page.total.value >= page.hits.len() as u64, "{what}");
                if page.total.relation == Relation::Exact {
                    assert_eq!(page.total.value, exact, "{what}");
                }
                assert_eq!(page.facets.len(), whole.facets.len(), "{what}");
                for (facet, of_whole) in page.facets.iter().zip(&whole.facets) {
                    assert!(!facet.exact || facet == of_whole, "{what}");
                    assert!(facet.exact || facet.buckets.is_empty(), "{what}");
                }
                true
            });
        }
    }
}

/// A sum of some branches is no score: hits come once all branches are ranked, or not at all.
#[test]
fn a_fusion_that_is_stopped_has_all_hits_or_none() {
    let searcher = searcher();
    let query = query("w1* AND common");
    for fusion in [
        Fusion::rrf().with(Query::word("half")),
        Fusion::sum().with(Query::prefix("w2")).with(Query::word("common")),
    ] {
        let search = searcher.search(&query).fuse(fusion).facet("kind", 3);
        let whole = search.clone().run().unwrap();
        let mut n_with_hits = 0;
        let mut is_stopped_at = |place: u64| {
            let mut stopped = search.clone().partial();
            stopped.budget = Budget::stopping_at(place);
            let page = stopped.run().unwrap();
            assert!(page.hits.is_empty() || page.hits == whole.hits, "{place}");
            assert!(page.total.value <= whole.total.value, "{place}");
            assert_eq!(page.facets.len(), 1);
            n_with_hits += u64::from(page.stopped.is_some() && !page.hits.is_empty());
            let mut strict = search.clone();
            strict.budget = Budget::stopping_at(place);
            assert_eq!(strict.run().is_err(), page.stopped.is_some(), "{place}");
            page.stopped.is_some()
        };
        (0..).find(|place| !is_stopped_at(*place)).unwrap();
        assert!(n_with_hits > 0, "it was never stopped while it counted");
    }
}

#[test]
fn groups_that_were_found_until_then_come() {
    let searcher = searcher();
    let query = query("half rare");
    let by_kind = || searcher.search(&query).collapse(Collapse::by("kind"));
    let searches = [
        ("by score", by_kind()),
        ("sorted", by_kind().sort([SortKey::ascending("same"), SortKey::descending("day")])),
        ("as many as there are", by_kind().limit(1_000)),
    ];
    for (way, search) in searches {
        let (mut n_with_hits, n) = (0, n_told(&search));
        let whole = search.clone().run().unwrap();
        for place in (0..n).step_by((n / 40).max(1) as usize) {
            let mut stopped = search.clone().partial();
            stopped.budget = Budget::stopping_at(place);
            let page = stopped.run().unwrap();
            assert_eq!(page.stopped, Some(Stopped::Timeout), "{way}");
            assert!(page.hits.len() <= whole.hits.len(), "{way}");
            assert!(page.groups.is_none_or(|groups| Some(groups) == whole.groups), "{way}");
            let mut groups: Vec<_> = page.hits.iter().map(|hit| hit.group.clone()).collect();
            groups.sort_by_key(|group| format!("{group:?}"));
            groups.dedup();
            assert_eq!(groups.len(), page.hits.len(), "{way}: one of each");
            n_with_hits += u32::from(!page.hits.is_empty());
        }
        assert!(n_with_hits > 2, "{way}: {n_with_hits} of {n} places");
    }
}

/// Hits from lists in the order of a field until then are the beginning of the page.
#[test]
fn hits_that_were_found_in_the_order_of_a_field_come() {
    let schema = Schema::builder().field(Field::new("price", FieldKind::I64)).build().unwrap();
    let searcher = filled(schema, |writer| {
        for nth in 0..200_000 {
            writer.add(Document::new().with("price", nth * 7_919 % 66_667)).unwrap();
        }
    });
    let query = Query::All;
    for key in [SortKey::ascending("price"), SortKey::descending("price")] {
        let search = searcher.search(&query).sort([key]).limit(50);
        let whole = search.clone().run().unwrap();
        let plan = search.clone().analyze().unwrap();
        let streamed = plan.plan.actual.as_ref().unwrap().streamed.unwrap();
        assert!(streamed.terms >= 5 && streamed.given_up == 0, "{plan}");
        let mut lens = vec![];
        for place in 0..n_told(&search) {
            let mut stopped = search.clone().partial();
            stopped.budget = Budget::stopping_at(place);
            let page = stopped.run().unwrap();
            assert_eq!(page.stopped, Some(Stopped::Timeout));
            let same = page.hits.iter().zip(&whole.hits).all(|(a, b)| a.doc == b.doc);
            assert!(same, "the first {} are others", page.hits.len());
            lens.push(page.hits.len());
        }
        assert!(lens.is_sorted(), "{lens:?}");
        lens.dedup();
        // Three of each price, and ten at the most of what is fetched after that.
        assert!(lens.starts_with(&[0, 3, 6, 9]), "{lens:?}");
    }
}

/// And documents that are the same by it come by their scores, also where they are not all looked at.
#[test]
fn hits_that_were_found_in_the_order_of_a_field_come_by_their_other_keys() {
    let price = Field::new("price", FieldKind::I64);
    let schema = Schema::builder().text("text").field(price).build().unwrap();
    let searcher = filled(schema, |writer| {
        for nth in 0..200_000 {
            // So that the last documents of each price come first.
            let text = "common ".repeat(1 + nth / 25_000);
            writer.add(Document::new().with("text", text).with("price", nth as i64 % 333)).unwrap();
        }
    });
    let query = query("common");
    let keys = [SortKey::ascending("price"), SortKey::score()];
    let search = searcher.search(&query).sort(keys).limit(700);
    let whole = search.clone().run().unwrap();
    let plan = search.clone().analyze().unwrap();
    let streamed = plan.plan.actual.as_ref().unwrap().streamed.unwrap();
    assert!(streamed.candidates > 1_100 && streamed.given_up == 0, "{plan}");
    let (n, mut n_with_hits) = (n_told(&search), 0);
    for place in (0..n).step_by((n / 40).max(1) as usize) {
        let mut stopped = search.clone().partial();
        stopped.budget = Budget::stopping_at(place);
        let page = stopped.run().unwrap();
        assert_eq!(page.stopped, Some(Stopped::Timeout));
        let same = page.hits.iter().zip(&whole.hits).all(|(a, b)| a.doc == b.doc);
        assert!(same, "at {place} of {n} the first {} are others", page.hits.len());
        n_with_hits += u32::from(!page.hits.is_empty());
    }
    assert!(n_with_hits > 20, "{n_with_hits} of {n} places");
}

#[test]
fn a_prepared_search_that_was_stopped_answers_the_next_time() {
    let searcher = searcher();
    for text in QUERIES {
        let query = query(text);
        let whole = searcher.search(&query).run().unwrap();
        let prepare_count = || searcher.search(&query).count_only().prepare().unwrap();
        let exact = prepare_count().run().unwrap().total.value;
        let mut prepared = searcher.search(&query).prepare().unwrap();
        each_place(text, |place| {
            let mut count = prepare_count();
            count.set_budget(Budget::stopping_at(place));
            let counted = count.run().map(|found| found.total.value);
            assert!(counted.is_err() || counted.is_ok_and(|n| n == exact), "{text}");
            count.set_budget(Budget::new());
            let again = count.run().unwrap().total.value;
            assert_eq!(again, exact, "{text}: counting after being stopped");
            prepared.set_budget(Budget::stopping_at(place));
            let is_stopped = prepared.run().is_err();
            prepared.set_budget(Budget::new());
            let page = prepared.run().unwrap();
            let docs = page.hits.iter().map(|hit| (hit.doc, hit.score));
            assert!(docs.eq(whole.hits.iter().map(|hit| (hit.doc, hit.score))), "{text}");
            assert_eq!(page.total, whole.total, "{text}");
            is_stopped
        });
    }
}

#[test]
fn a_deadline_that_is_past_and_a_token_that_was_cancelled_stop_every_kind() {
    let searcher = searcher();
    let token = CancelToken::new();
    token.cancel();
    for text in QUERIES {
        let query = query(text);
        for (way, search) in searches(&searcher, &query) {
            let kind = |search: SearchBuilder<'_>| search.run().map_err(|error| error.kind());
            let past = kind(search.clone().budget(Budget::new().deadline(Instant::now())));
            assert_eq!(past, Err(ErrorKind::Timeout), "{text}, {way}");
            let cancelled = kind(search.clone().budget(Budget::new().cancel(&token)));
            assert_eq!(cancelled, Err(ErrorKind::Cancelled), "{text}, {way}");
            let page = search.budget(Budget::new().cancel(&token)).partial().run().unwrap();
            assert_eq!(page.stopped, Some(Stopped::Cancelled), "{text}, {way}");
        }
    }
}

/// Whatever is asked of a searcher with a budget stops by it, on any thread, and the searcher without goes on.
#[test]
fn a_budget_that_is_handed_to_a_searcher_stops_all_that_is_asked_of_it() {
    let searcher = searcher();
    let query = query("w1* AND common");
    let first = searcher.search(&query).run().unwrap().hits[0].doc;
    let token = CancelToken::new();
    let hurried = searcher.with_budget(Budget::new().cancel(&token));
    let ask = |searcher: &Searcher| {
        [
            searcher.count(&query).map(drop),
            searcher.search(&query).run().map(drop),
            searcher.search(&query).prepare().and_then(|mut it| it.run().map(drop)),
            searcher.explain(&query).map(drop),
            searcher.facets(&query, "kind", 3).map(drop),
            searcher.explain_score(&query, first).map(drop),
            searcher.document(first).map(drop),
        ]
        .map(|asked| asked.map_err(|error| error.kind()))
    };
    assert_eq!(ask(&hurried), [Ok(()); 7]);
    token.cancel();
    let elsewhere = std::thread::scope(|scope| scope.spawn(|| ask(&hurried)).join().unwrap());
    assert_eq!(elsewhere, [Err(ErrorKind::Cancelled); 7]);
    assert_eq!(ask(&searcher), [Ok(()); 7]);
    let partial = hurried.search(&query).partial().run().unwrap();
    assert_eq!(partial.stopped, Some(Stopped::Cancelled));
    // The search may have less than its searcher, and not more.
    let little = searcher.with_budget(Budget::new().memory_bytes(10_000));
    let more = little.search(&query).budget(Budget::new().memory_bytes(1 << 30));
    assert_eq!(more.run().unwrap_err().kind(), ErrorKind::LimitExceeded);
}

#[test]
fn another_thread_cancels_a_search() {
    let searcher = searcher();
    let query = query("common AND w1* AND half");
    let token = CancelToken::new();
    std::thread::scope(|scope| {
        let search = searcher.search(&query).budget(Budget::new().cancel(&token)).facet("text", 10);
        let searching = scope.spawn(move || {
            let started = Instant::now();
            while started.elapsed() < Duration::from_secs(60) {
                if let Err(error) = search.clone().run() {
                    return error.kind();
                }
            }
            ErrorKind::Usage
        });
        token.cancel();
        assert_eq!(searching.join().unwrap(), ErrorKind::Cancelled);
    });
}

#[test]
fn the_plan_shows_what_was_stopped() {
    let searcher = searcher();
    let mut stopped_at = std::collections::BTreeSet::new();
    for text in QUERIES {
        let query = query(text);
        let mut n_shown = 0;
        for place in 0..200 {
            let mut search = searcher.search(&query).order(Order::Document);
            search.budget = Budget::stopping_at(place);
            // While it is planned there is nothing to show.
            let Ok(tree) = search.analyze() else { continue };
            let Some(stopped) = find_stopped(&tree.plan) else { continue };
            assert!(!stopped, "{text}: a node that was stopped is complete at {place}\n{tree}");
            assert!(tree.notes.iter().any(|note| note.contains("stopped")), "{text}: {tree}");
            assert!(tree.to_json().contains("\"stopped\":true"), "{text}");
            n_shown += 1;
            let nodes =
                tree.plan.iter().filter(|it| it.actual.as_ref().is_some_and(|it| it.stopped));
            stopped_at.extend(nodes.map(|node| node.operator.to_string()));
        }
        assert!(n_shown > 0, "{text}: shown nowhere");
    }
    // Uniting the lists of a pattern is stopped, too.
    assert!(stopped_at.contains("Expand"), "{stopped_at:?}");
}

/// A search of any kind that is stopped after it was planned is shown.
#[test]
fn the_plan_of_what_was_stopped_comes_wherever_that_was() {
    let searcher = searcher();
    for text in ["half third", "w1* AND common", "kind:IN [k1 k2 k3]"] {
        let query = query(text);
        // Planned for people with the query once more, without what is selected.
        let by_days =
            Facet::date_histogram("day", Interval::Month).with_facet(Facet::values("kind"));
        let selected = searcher.search(&query).select("day", ["1970-01-05"]).with_facet(by_days);
        let selected = ("by days that are selected", selected);
        for (way, search) in searches(&searcher, &query).into_iter().chain([selected]) {
            let analyzed = |place: u64| {
                let mut search = search.clone();
                search.budget = Budget::stopping_at(place);
                search.analyze()
            };
            // Until here it is planned, with what is only for people.
            let first = (0..1_000).find(|place| analyzed(*place).is_ok()).expect("a plan");
            let is_stopped =
                |tree: &ExplainTree| tree.notes.iter().any(|note| note.contains("stopped"));
            let mut n_shown = 0;
            each_place(&format!("{text}, {way}"), |place| {
                let tree = match analyzed(first + place) {
                    Ok(tree) => tree,
                    Err(error) => panic!("{text}, {way}: {place} behind {first}: {error}"),
                };
                assert_eq!(tree.facets.len(), search.request.facets.len(), "{text}, {way}: {tree}");
                n_shown += u32::from(is_stopped(&tree));
                is_stopped(&tree)
            });
            assert!(n_shown > 0, "{text}, {way}: shown nowhere");
        }
    }
}

/// Whether the node that was stopped is complete, if there is one.
fn find_stopped(node: &crate::explain::ExplainNode) -> Option<bool> {
    let own = node.actual.as_ref().filter(|actual| actual.stopped);
    own.map(|actual| actual.complete).or_else(|| node.children.iter().find_map(find_stopped))
}

#[test]
fn a_small_budget_of_memory_is_told_and_the_default_is_enough() {
    let searcher = searcher();
    for text in ["w1* AND common", "half third kind:IN [k1 k2]", "(w1* OR w2*) AND (half third)~2"]
    {
        let query = query(text);
        let search = searcher.search(&query).facet("kind", 3);
        let whole = search.clone().run().unwrap();
        let error = search.clone().budget(Budget::new().memory_bytes(10_000)).run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{text}: {error}");
        assert!(error.to_string().contains("10000 bytes"), "{error}");
        let enough = search.clone().budget(Budget::new().memory_bytes(4 << 20)).run().unwrap();
        assert_eq!((enough.hits, enough.facets), (whole.hits, whole.facets), "{text}");
    }
}

/// Number of times that a search tells of its work.
fn n_told(search: &SearchBuilder<'_>) -> u64 {
    let is_stopped = |place: u64| {
        let mut stopped = search.clone();
        stopped.budget = Budget::stopping_at(place);
        stopped.run().is_err()
    };
    let mut most = 1;
    while is_stopped(most) {
        most *= 2;
    }
    let (mut low, mut high) = (most / 2, most);
    while low + 1 < high {
        let middle = (low + high) / 2;
        *(if is_stopped(middle) { &mut low } else { &mut high }) = middle;
    }
    high
}

#[test]
fn facets_tell_of_every_term_and_container() {
    let searcher = searcher();
    let query = query("half");
    let search = || searcher.search(&query).count_only();
    let none = n_told(&search());
    let kinds = n_told(&search().facet("kind", 300));
    // At least 250 kinds are left.
    assert!(kinds >= none + 250, "{none} and {kinds}");
}

#[test]
fn memory_is_counted_for_facets_and_for_what_a_page_is_chosen_from() {
    let searcher = searcher();
    let query = query("half");
    let search = || searcher.search(&query).fields::<&str>([]);
    let many = u64::from(2 * N_DOCS);
    let wants: [(&str, SearchBuilder<'_>, u64); 3] = [
        ("terms of facets", search().count_only().facet("text", usize::MAX), 20 << 10),
        ("the best", search().limit(many).total(TotalMode::Unknown), 512 << 10),
        ("a page in order", search().limit(many).order(Order::Document), 256 << 10),
    ];
    for (what, search, too_little) in wants {
        search.clone().run().unwrap();
        let little =
            search.budget(Budget::new().memory_bytes(too_little)).run().map(|hits| hits.hits.len());
        let error = little.expect_err(what);
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{what}: {error}");
        assert_eq!(error.limit().unwrap().name, "QUERY_MEMORY_BYTES", "{what}");
    }
}

/// A budget around searches that asks for time alone leaves memory to the limits of the index.
#[test]
fn a_budget_of_time_does_not_change_how_much_memory_there_is() {
    let limits = |query_memory_bytes| Limits { query_memory_bytes, ..Limits::DEFAULT };
    let searcher = searcher();
    let query = query("w1* AND common");
    let hurried = Budget::new().timeout(Duration::from_secs(3_600));
    let with = |limits: Limits| {
        let _scope = limits.enter();
        hurried.run(|| searcher.count(&query)).map_err(|error| error.kind())
    };
    assert_eq!(with(limits(10_000)), Err(ErrorKind::LimitExceeded));
    assert!(with(limits(4 << 20)).is_ok());
}
