//! Hits of which each value of a field has a few: what going through all hits gives, page by page.

use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet};
use treepie::query::{ParseOptions, parse};
use treepie::search::{Collapse, Order};
use treepie::{
    After, Budget, CancelToken, Document, ErrorKind, Field, FieldKind, Hit, Index, Schema,
    SearchBuilder, Searcher, SortKey, Value,
};

const WORDS: [&str; 3] = ["half", "rare", "every"];

fn corpus(seed: u64, n_docs: usize, commit_every: usize, deletes: bool) -> Searcher {
    let mut random = Random(seed);
    let schema = Schema::builder()
        .text("text")
        .field(Field::new("id", FieldKind::U64))
        .field(Field::new("brand", FieldKind::Keyword).column(true))
        .field(Field::new("rank", FieldKind::I64))
        .keyword("tags")
        .build()
        .unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for id in 0..n_docs {
        if id % commit_every == commit_every - 1 {
            writer.commit().unwrap();
        }
        let is_in = [2, 50, 1].map(|one_of| random.below(one_of) == 0);
        let words = WORDS.iter().zip(is_in).filter(|(_, is_in)| *is_in).map(|(word, _)| *word);
        let mut document = Document::new().with("id", id as u64);
        document = document.with("text", words.collect::<Vec<_>>().join(" "));
        // Many documents have few values, and some values few documents.
        if random.below(6) > 0 {
            let n = random.below(40) * random.below(40) / 40;
            document = document.with("brand", format!("b{n}"));
        }
        if random.below(5) > 0 {
            document = document.with("rank", random.below(7) as i64 - 3);
        }
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    if deletes {
        writer.delete_value("brand", "b3").unwrap();
        writer.delete(&parse("text:rare", &ParseOptions::default()).unwrap()).unwrap();
        writer.commit().unwrap();
    }
    index.searcher().unwrap()
}

fn value(hit: &Hit, field: &str) -> Value {
    hit.fields.get(field).and_then(|values| values.first()).cloned().unwrap_or_default()
}

/// What is left of all hits, each with its value, and how many groups there are.
fn naive(all: Vec<Hit>, field: &str, keep: u64, missing_alone: bool) -> (Vec<(u64, Value)>, u64) {
    let (mut seen, mut alone) = (BTreeMap::<String, u64>::new(), 0);
    let mut left = vec![];
    for hit in all {
        let group = value(&hit, field);
        if group.is_null() && missing_alone {
            alone += 1;
        } else {
            let n = seen.entry(format!("{group:?}")).or_default();
            *n += 1;
            if *n > keep {
                continue;
            }
        }
        left.push((hit.doc.0, group));
    }
    (left, seen.len() as u64 + alone)
}

fn check(searcher: &Searcher, random: &mut Random) {
    let word = WORDS[random.below(3)];
    let query = searcher.parse(&format!("{word} AND (half OR rare OR every)")).unwrap();
    let mut search: SearchBuilder<'_> = searcher.search(&query).facet("brand", 3);
    if random.below(3) == 0 {
        search = search.select("brand", ["b1", "b2", "b5", "b8"]);
    }
    let order = random.below(3);
    search = match order {
        0 => search.order(Order::Document),
        1 => search.sort([SortKey::descending("rank"), SortKey::ascending("brand")]),
        _ => search,
    };
    let field = ["brand", "rank"][random.below(2)];
    let (keep, missing_alone) = (1 + random.below(3) as u64, random.below(2) == 0);
    let what = format!("{keep} of each {field} of {word}, {order}, {missing_alone}");
    let all = search.clone().limit(200_000).run().unwrap();
    let (facets, total) = (all.facets, all.total);
    let (expected, groups) = naive(all.hits, field, keep, missing_alone);

    let mut collapse = Collapse::by(field).keep(keep);
    if missing_alone {
        collapse = collapse.missing_alone();
    }
    let search = search.collapse(collapse);
    let shown = |hit: &Hit| (hit.doc.0, hit.group.clone().unwrap());
    let page = search.clone().limit(200_000).run().unwrap();
    assert_eq!(page.hits.iter().map(shown).collect::<Vec<_>>(), expected, "{what}");
    assert_eq!((page.groups, page.total, &page.facets), (Some(groups), total, &facets), "{what}");
    // Page after page, by offset and by the last hit.
    let size = 1 + random.below(30);
    let (mut by_offset, mut by_last, mut last) = (vec![], vec![], None::<Hit>);
    for nth in 0..6 {
        let page = search.clone().limit(size as u64).offset((nth * size) as u64).run().unwrap();
        assert_eq!(page.groups, Some(groups), "{what}");
        by_offset.extend(page.hits.iter().map(shown));
        let search = search.clone().limit(size as u64);
        let search = match &last {
            None => search,
            Some(hit) if order == 1 => search.after(After::values(hit.sort.clone(), hit.doc)),
            Some(hit) if order == 2 => search.after(After::score(hit.score.unwrap(), hit.doc)),
            Some(_) => search.offset((nth * size) as u64),
        };
        let page = search.run().unwrap();
        by_last.extend(page.hits.iter().map(shown));
        last = page.hits.last().cloned().or(last);
    }
    let first: Vec<_> = expected.into_iter().take(6 * size).collect();
    assert_eq!(by_offset, first, "pages of {size}, {what}");
    assert_eq!(by_last, first, "pages of {size}, {what}");
    let mut prepared = search.clone().limit(size as u64).prepare().unwrap();
    for _ in 0..2 {
        let page = prepared.run().unwrap();
        let docs: Vec<_> = page.hits.iter().map(|it| it.doc.0).collect();
        let of_first: Vec<_> = first.iter().map(|(doc, _)| *doc).take(size).collect();
        assert_eq!((docs, page.groups), (of_first, Some(groups)), "{what}");
    }
    let counted = search.count_only().run().unwrap();
    assert_eq!((counted.groups, counted.total), (None, total), "{what}");
}

#[test]
fn hits_of_each_value_are_what_going_through_all_gives() {
    for (seed, n_docs, commit_every, deletes) in [
        (1, 300, 1_000, false),
        (2, 3_000, 1_100, false),
        (3, 3_000, 700, true),
        (4, 70_000, 66_000, true),
    ] {
        let searcher = corpus(seed, n_docs, commit_every, deletes);
        let mut random = Random(seed + 10);
        let n_checks = if n_docs > 10_000 { 5 } else { 60 };
        (0..n_checks).for_each(|_| check(&searcher, &mut random));
    }
}

#[test]
fn the_plan_says_that_hits_are_grouped() {
    let searcher = corpus(2, 3_000, 1_100, false);
    let query = searcher.parse("half OR rare").unwrap();
    let search = searcher.search(&query).collapse(Collapse::by("brand").keep(2).missing_alone());
    for tree in [search.clone().explain().unwrap(), search.clone().limit(3).analyze().unwrap()] {
        assert_eq!(tree.plan.operator.name(), "Collapse", "{tree}");
        let label = "by score, 2 of each brand, all that have none";
        assert!(tree.plan.label.ends_with(label), "{tree}");
    }
    let actual = search.limit(3).analyze().unwrap().plan.actual.unwrap();
    assert_eq!(actual.documents, 3);
    assert_eq!(actual.documents_in, Some(searcher.count(&query).unwrap()));
    assert!(actual.sort.is_some_and(|sort| (3..100).contains(&sort.documents)), "{actual:?}");
}

/// Of few groups a page that asks for more is known to be all there is.
#[test]
fn where_all_groups_are_found_nothing_more_is_looked_at() {
    let corpus = corpus(5, 20_000, 9_000, false);
    let query = corpus.parse("every").unwrap();
    let n_matches = corpus.count(&query).unwrap();
    for keep in [1, 3] {
        let page = corpus.search(&query).limit(100).collapse(Collapse::by("rank").keep(keep));
        let hits = page.clone().run().unwrap();
        assert_eq!((hits.hits.len() as u64, hits.groups), (8 * keep, Some(8)));
        let looked_at = page.analyze().unwrap().plan.actual.unwrap().sort.unwrap().documents;
        // The first batch has them; all there are would be found in two more.
        assert_eq!((n_matches, looked_at), (20_000, 400), "{keep} of each");
    }
}

#[test]
fn after_a_hit_of_what_matches_nothing_any_more_comes_an_empty_page() {
    let searcher = corpus(2, 3_000, 1_100, false);
    let every = searcher.parse("every").unwrap();
    let by_rank = || searcher.search(&every).collapse(Collapse::by("rank"));
    let hit = by_rank().run().unwrap().hits.remove(0);
    let nothing = searcher.parse("nowhere").unwrap();
    let search = searcher.search(&nothing).collapse(Collapse::by("rank"));
    let page = search.after(After::score(hit.score.unwrap(), hit.doc)).run().unwrap();
    assert!(page.hits.is_empty());
    assert_eq!((page.total.value, page.groups), (0, Some(0)));
    let page = by_rank()
        .select("brand", ["none such"])
        .after(After::score(hit.score.unwrap(), hit.doc))
        .run();
    assert!(page.unwrap().hits.is_empty());
}

#[test]
fn what_hits_cannot_be_grouped_by_is_refused_and_limits_hold() {
    let searcher = corpus(2, 3_000, 1_100, false);
    let query = searcher.parse("every").unwrap();
    let by = |field: &str| searcher.search(&query).collapse(Collapse::by(field));
    for (field, words) in [
        ("nope", "found 'nope'"),
        ("text", "a field that keeps a column, found the text field 'text'"),
        ("tags", "keyword field 'tags'"),
    ] {
        let error = by(field).run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains(words), "{error}");
    }
    let hit = by("rank").run().unwrap().hits.remove(0);
    let other = treepie::DocId(hit.doc.0 + 1_000_000);
    let error = by("rank").after(After::score(hit.score.unwrap(), other)).run().unwrap_err();
    assert!(error.to_string().contains("a hit of this search"), "{error}");
    let error = by("id").limit(2_000).budget(Budget::new().memory_bytes(20_000)).run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    let token = CancelToken::new();
    token.cancel();
    assert_eq!(
        by("rank").budget(Budget::new().cancel(&token)).run().unwrap_err().kind(),
        ErrorKind::Cancelled
    );
    let partial = by("rank").timeout(std::time::Duration::ZERO).partial().run().unwrap();
    assert!(partial.stopped.is_some() && partial.hits.is_empty() && partial.groups.is_none());
    let values: BTreeSet<_> = by("rank").run().unwrap().hits.iter().map(|hit| hit.doc).collect();
    assert_eq!(values.len(), 8, "seven ranks, and none");
}
