//! Phrases over texts of few words, so that they abound: every kind of them, in one segment and in
//! several, mapped and read, against an index that tries every way to place the words.

use crate::random::Random;
use std::sync::LazyLock;

use crate::naive::NaiveIndex;
use treepie::explain::ExplainNode;
use treepie::query::{Fuzziness, ParseOptions, Proximity, Query, parse};
use treepie::schema::Detail;
use treepie::search::{Order, TotalMode};
use treepie::storage::ReadMode;
use treepie::{
    After, DocId, Document, ErrorKind, Field, FieldKind, Index, Schema, SearchBuilder, Searcher,
};

const N_DOCS: usize = 1_600;
const QUERIES: usize = 300;
const WORDS: [&str; 7] = ["to", "be", "or", "not", "bee", "beer", "tobacco"];

impl Random {
    /// The first words more often than the last.
    fn word(&mut self) -> &'static str {
        let n = 1 + self.below(WORDS.len());
        WORDS[self.below(n)]
    }

    fn text(&mut self, words_max: usize) -> String {
        let n = self.below(words_max + 1);
        (0..n).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

struct Corpus {
    naive: NaiveIndex,
    searchers: [Searcher; 3],
}

static CORPUS: LazyLock<Corpus> = LazyLock::new(|| {
    let schema = Schema::builder()
        .text("text")
        .field(Field::new("bag", FieldKind::Text).detail(Detail::Frequencies))
        .keyword("tag")
        .build()
        .unwrap();
    let mut random = Random(11);
    let docs: Vec<Document> = (0..N_DOCS)
        .map(|doc| {
            let mut text = random.text(12);
            if doc % 50 == 0 {
                // Words of few documents, whose lists are short.
                text += &format!(" rare{} to be rarer or", doc % 200);
            }
            let mut document = Document::new().with("text", text).with("bag", random.text(5));
            if doc % 3 == 0 {
                document.push("tag", "to be");
            }
            document
        })
        .collect();
    let naive = NaiveIndex::new(&schema, &docs);
    let fill = |index: &Index, parts: &[&[Document]]| {
        let mut writer = index.writer().unwrap();
        for part in parts {
            part.iter().for_each(|document| writer.add(document.clone()).unwrap());
            writer.commit().unwrap();
        }
        index.searcher().unwrap()
    };
    let one = fill(&Index::in_memory(schema.clone()), &[&docs]);
    let parts = [&docs[..7], &docs[7..700], &docs[700..]];
    let several = fill(&Index::in_memory(schema.clone()), &parts);
    let directory = std::env::temp_dir().join(format!("treepie-phrases-{}", std::process::id()));
    let read = Index::options().read_mode(ReadMode::Pread).overwrite(&directory, schema).unwrap();
    let read = fill(&read, &[&docs[..800], &docs[800..]]);
    std::fs::remove_dir_all(directory).unwrap();
    Corpus { naive, searchers: [one, several, read] }
});

fn phrase(random: &mut Random) -> Query {
    let n = 1 + random.below(4);
    let mut words: Vec<String> = (0..n).map(|_| random.word().to_string()).collect();
    if random.below(8) == 0 {
        words.push(["rare0", "rare100", "rarer", "absent"][random.below(4)].to_string());
    }
    let slop = random.below(4) as u32;
    let proximity = match random.below(5) {
        0 | 1 => Proximity::Exact,
        2 => Proximity::Slop(slop),
        3 => Proximity::Ordered(slop),
        _ => Proximity::Near(slop),
    };
    let mut query = Query::near(words.join(" "), proximity);
    if let Query::Phrase { prefix, text, .. } = &mut query
        && random.below(4) == 0
    {
        *prefix = true;
        text.truncate(text.len() - random.below(2));
    }
    match random.below(10) {
        0 => Query::word(words.join("-")),
        1 => query.in_field("bag"),
        2 => query.in_field("tag"),
        _ => query.in_field("text"),
    }
}

/// Words and patterns at any place.
fn phrase_of(random: &mut Random) -> Query {
    let n = 2 + random.below(3);
    let mut part = |_| match random.below(11) {
        0 => Query::prefix(["b", "be", "TO", "r", "x"][random.below(5)]),
        1 => Query::wildcard(["b*e*", "?o?", "T*o", "rare?", "*"][random.below(5)]),
        2 => Query::regex(["b.*", "[nt]o+t?"][random.below(2)]),
        3 => Query::fuzzy(random.word(), Fuzziness::new(1 + random.below(2) as u8)).unwrap(),
        4 => Query::range("be".to_owned().."not".to_owned()),
        5 => Query::in_set(["to", "rarer", "Beer"].into_iter().take(1 + random.below(3))),
        6 => Query::All,
        7 => Query::phrase(format!("{} {}", random.word(), random.word())),
        _ => Query::word(random.word()),
    };
    let parts: Vec<Query> = (0..n).map(&mut part).collect();
    let slop = random.below(4) as u32;
    let proximity = match random.below(5) {
        0 | 1 => Proximity::Exact,
        2 => Proximity::Slop(slop),
        3 => Proximity::Ordered(slop),
        _ => Proximity::Near(slop),
    };
    let query = Query::phrase_of(parts, proximity).unwrap();
    match random.below(10) {
        0 => query,
        1 => query.in_field("bag"),
        2 => query.in_field("tag"),
        _ => query.in_field("text"),
    }
}

fn query(random: &mut Random) -> Query {
    let a = match random.below(3) {
        0 => phrase_of(random),
        _ => phrase(random),
    };
    query_with(random, a)
}

fn query_with(random: &mut Random, a: Query) -> Query {
    let b = phrase(random);
    let word = Query::word_in("text", random.word());
    match random.below(9) {
        0 => Query::And(vec![a, b]),
        1 => Query::Or(vec![a, b, word]),
        2 => Query::group(vec![word], vec![], vec![a]),
        3 => Query::group(vec![a, word], vec![], vec![b]),
        4 => Query::not(a),
        5 => Query::Group {
            must: vec![],
            should: vec![a, b, word],
            must_not: vec![],
            minimum: Some(2),
        },
        _ => a,
    }
}

#[test]
fn random_phrases_match_like_trying_every_way_to_place_the_words() {
    let mut random = Random(0x5EED);
    let mut found = 0;
    for _ in 0..QUERIES {
        let query = query(&mut random);
        let matches = CORPUS.naive.matches(&query);
        let docs: Vec<u64> =
            (0..).zip(&matches).filter(|(_, hit)| **hit).map(|(doc, _)| doc).collect();
        found += usize::from(!docs.is_empty());
        for searcher in &CORPUS.searchers {
            assert_eq!(searcher.count(&query).unwrap(), docs.len() as u64, "{query}");
            let mut prepared = searcher.search(&query).count_only().prepare().unwrap();
            assert_eq!(prepared.run().unwrap().total.value, docs.len() as u64, "{query}");
            assert_eq!(prepared.run().unwrap().total.value, docs.len() as u64, "again {query}");
            let page = searcher.search(&query).limit(5_000).facet("tag", 5).run().unwrap();
            let mut page_docs: Vec<u64> = page.hits.iter().map(|hit| hit.doc.0).collect();
            page_docs.sort_unstable();
            assert_eq!(page_docs, docs, "{query}");
            let (buckets, missing) = CORPUS.naive.facet("tag", 5, &matches);
            let counts: Vec<_> =
                page.facets[0].buckets.iter().map(|b| (b.value.to_string(), b.count)).collect();
            assert_eq!((counts, page.facets[0].missing), (buckets, missing), "facet of {query}");
            let short = searcher.search(&query).order(Order::Document).limit(3).offset(1);
            let short = short.run().unwrap();
            let short: Vec<u64> = short.hits.iter().map(|hit| hit.doc.0).collect();
            assert_eq!(short, docs.iter().copied().skip(1).take(3).collect::<Vec<_>>(), "{query}");
            check_plan(&searcher.search(&query).count_only().analyze().unwrap().plan, &query);
        }
    }
    assert!(found > QUERIES / 2, "{found} of {QUERIES} found anything");
}

#[test]
fn patterns_stand_at_any_place_of_a_phrase() {
    let mut random = Random(0xACE);
    let (mut n_found, mut n_patterns) = (0, 0);
    for _ in 0..QUERIES {
        let query = phrase_of(&mut random);
        n_patterns += usize::from(matches!(query, Query::PhraseOf { .. }));
        let query = query_with(&mut random, query);
        let matches = CORPUS.naive.matches(&query);
        let docs: Vec<u64> =
            (0..).zip(&matches).filter(|(_, hit)| **hit).map(|(doc, _)| doc).collect();
        n_found += usize::from(!docs.is_empty());
        assert_eq!(parse(&query.to_string(), &ParseOptions::default()).unwrap(), query);
        let mut scores = vec![];
        for searcher in &CORPUS.searchers {
            assert_eq!(searcher.count(&query).unwrap(), docs.len() as u64, "{query}");
            let mut prepared = searcher.search(&query).count_only().prepare().unwrap();
            assert_eq!(prepared.run().unwrap().total.value, docs.len() as u64, "{query}");
            let all = hits(searcher.search(&query).limit(5_000).facet("tag", 1));
            let mut found: Vec<u64> = all.iter().map(|(doc, _)| *doc).collect();
            found.sort_unstable();
            assert_eq!(found, docs, "{query}");
            for total in [TotalMode::Exact, TotalMode::Unknown] {
                let best = hits(searcher.search(&query).limit(7).total(total));
                assert_eq!(best, all[..all.len().min(7)], "{query}");
                let mut prepared = searcher.search(&query).limit(7).total(total).prepare().unwrap();
                for _ in 0..2 {
                    let again = prepared.run().unwrap().hits.iter();
                    let again = again.map(|at| (at.doc.0, at.score.unwrap().to_bits()));
                    assert!(again.eq(best.iter().copied()), "{query}, prepared");
                }
            }
            for (doc, bits) in all.iter().take(2) {
                let why = searcher.explain_score(&query, DocId(*doc)).unwrap().unwrap();
                assert_eq!(why.value.to_bits(), *bits, "{query}: {why}");
            }
            check_plan(&searcher.search(&query).count_only().analyze().unwrap().plan, &query);
            scores.push(all);
        }
        // What a pattern stands for in a segment changes no score.
        assert!(scores.iter().all(|other| *other == scores[0]), "{query}");
    }
    assert!(
        n_patterns > QUERIES / 2 && n_found > QUERIES / 2,
        "{n_patterns} patterns, {n_found} found"
    );
}

#[test]
fn a_gap_lies_between_the_values_of_a_document() {
    let mut random = Random(0xBEE);
    for (analyzer, gap) in [("default", 2), ("default", 100), ("words|lower", 2), ("default", 0)] {
        let text = Field::new("text", FieldKind::Text).many(true).analyzer(analyzer);
        let bag = Field::new("bag", FieldKind::Text).many(true).detail(Detail::Frequencies);
        let schema = Schema::builder().field(text.position_gap(gap)).field(bag).keyword("tag");
        let schema = schema.build().unwrap();
        let docs: Vec<Document> = (0..400)
            .map(|_| {
                let values = (0..random.below(4)).map(|_| ["text", "text", "bag"][random.below(3)]);
                let values: Vec<&str> = values.collect();
                let document = |so_far: Document, field| so_far.with(field, random.text(4));
                values.into_iter().fold(Document::new(), document)
            })
            .collect();
        let naive = NaiveIndex::new(&schema, &docs);
        let index = Index::in_memory(schema);
        let mut writer = index.writer().unwrap();
        for part in docs.chunks(300) {
            part.iter().for_each(|document| writer.add(document.clone()).unwrap());
            writer.commit().unwrap();
        }
        let searcher = index.searcher().unwrap();
        for _ in 0..100 {
            let query = query(&mut random);
            let matches = naive.matches(&query);
            let docs = (0..).zip(&matches).filter(|(_, hit)| **hit).map(|(doc, _)| doc);
            let docs: Vec<u64> = docs.collect();
            assert_eq!(searcher.count(&query).unwrap(), docs.len() as u64, "{query}, gap {gap}");
            let search = searcher.search(&query).order(Order::Document).limit(400);
            let found = search.run().unwrap().hits;
            assert!(found.iter().map(|hit| hit.doc.0).eq(docs), "{query}, gap {gap}");
        }
    }
}

/// Most titles have each of their words once, and are read in a shorter way.
#[test]
fn words_that_stand_once_are_placed_like_others() {
    let schema = Schema::builder().text("text").build().unwrap();
    let mut random = Random(23);
    let text = |doc: usize, random: &mut Random| {
        let mut left = WORDS.to_vec();
        let n = 2 + random.below(4);
        let mut words: Vec<_> = (0..n).map(|_| left.remove(random.below(left.len()))).collect();
        if doc.is_multiple_of(400) {
            words.extend_from_within(..2);
        }
        words.join(" ")
    };
    let docs: Vec<Document> =
        (0..3_000).map(|doc| Document::new().with("text", text(doc, &mut random))).collect();
    let naive = NaiveIndex::new(&schema, &docs);
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    docs.into_iter().for_each(|document| writer.add(document).unwrap());
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    for (first, second) in WORDS.iter().flat_map(|a| WORDS.iter().map(move |b| (a, b))) {
        for text in [format!("{first} {second}"), format!("{first} {second} or")] {
            let query = Query::phrase(text).in_field("text");
            let n = naive.matches(&query).into_iter().filter(|hit| *hit).count() as u64;
            assert_eq!(searcher.count(&query).unwrap(), n, "{query}");
            let page = searcher.search(&query).run().unwrap();
            assert_eq!(page.total.value, n, "{query}");
        }
    }
}

fn check_plan(plan: &ExplainNode, query: &Query) {
    for node in plan.iter() {
        // Lists of the words of a phrase that is counted are read by the phrase.
        let (estimate, Some(actual)) = (&node.estimate, &node.actual) else { continue };
        assert!(actual.documents <= estimate.upper, "{} in {query}", node.label);
        assert!(
            !actual.complete || estimate.lower <= actual.documents,
            "{} in {query}",
            node.label
        );
        if let Some(positions) = actual.positions {
            assert!(actual.documents <= positions.candidates, "{} in {query}", node.label);
            assert!(Some(positions.candidates) <= actual.documents_in, "{} in {query}", node.label);
        }
    }
}

/// More than a window of documents of very different lengths, in which some words abound.
fn many() -> [Searcher; 3] {
    let schema = Schema::builder().text("text").keyword("tag").build().unwrap();
    let mut random = Random(77);
    let text = |doc: usize, random: &mut Random| {
        let words_max = [3, 6, 14, 40][random.below(4)];
        let mut text = random.text(words_max);
        for _ in 0..random.below([1, 4, 30][doc / 9_000 % 3]) {
            text += " filler";
        }
        match doc {
            _ if doc.is_multiple_of(700) => text + " rare to be",
            _ if doc / 1_000 == 68 => text + " local to not",
            _ => text,
        }
    };
    let docs: Vec<Document> =
        (0..70_000).map(|doc| Document::new().with("text", text(doc, &mut random))).collect();
    let fill = |index: &Index, parts: &[&[Document]]| {
        let mut writer = index.writer().unwrap();
        for part in parts {
            part.iter().for_each(|document| writer.add(document.clone()).unwrap());
            writer.commit().unwrap();
        }
        index.searcher().unwrap()
    };
    let one = fill(&Index::in_memory(schema.clone()), &[&docs]);
    let several = fill(&Index::in_memory(schema.clone()), &[&docs[..9_000], &docs[9_000..]]);
    let directory = std::env::temp_dir().join(format!("treepie-best-{}", std::process::id()));
    let read = Index::options().read_mode(ReadMode::Pread).overwrite(&directory, schema).unwrap();
    let read = fill(&read, &[&docs[..2_000]]);
    std::fs::remove_dir_all(directory).unwrap();
    [one, several, read]
}

/// Documents and the bits of their scores.
fn hits(search: SearchBuilder<'_>) -> Vec<(u64, u32)> {
    let hits = search.fields::<String>([]).run().unwrap().hits;
    hits.iter().map(|hit| (hit.doc.0, hit.score.unwrap().to_bits())).collect()
}

#[test]
fn the_best_of_a_phrase_are_those_of_scoring_everything() {
    let searchers = many();
    let mut random = Random(5);
    let mut n_placed_less = 0;
    for nth in 0..150 {
        let n = 2 + random.below(3);
        let mut words: Vec<&str> = (0..n).map(|_| random.word()).collect();
        if nth % 5 == 0 {
            words[0] = ["rare", "local", "absent"][random.below(3)];
        }
        let proximity = match random.below(6) {
            0 => Proximity::Slop(2),
            1 => Proximity::Near(1),
            2 => Proximity::Ordered(1),
            _ => Proximity::Exact,
        };
        let mut query = Query::near(words.join(" "), proximity).in_field("text");
        if let Query::Phrase { prefix, .. } = &mut query {
            *prefix = random.below(6) == 0;
        }
        if random.below(4) == 0 {
            query = query.boosted(3.5).unwrap();
        }
        // One corpus a query, so that there are many queries; facets need every match.
        let searcher = &searchers[[0, 0, 0, 1, 1, 2][nth % 6]];
        let search = || match nth % 3 {
            0 => searcher.search(&query).bm25("text", 0.4, 1.0),
            _ => searcher.search(&query),
        };
        let all = hits(search().limit(100_000).facet("tag", 1));
        for k in [1, 10, 150] {
            let best = &all[..all.len().min(k)];
            let page = || search().limit(k as u64);
            assert_eq!(hits(page().total(TotalMode::Unknown)), best, "the {k} best of {query}");
            let counted = page().run().unwrap();
            assert_eq!(counted.total.value, all.len() as u64, "{query}");
            assert_eq!(hits(page()), best, "the {k} best of {query}, counted");
            if let Some((doc, bits)) = best.last() {
                let after = page().after(After::score(f32::from_bits(*bits), DocId(*doc)));
                let next = &all[k.min(all.len())..all.len().min(2 * k)];
                assert_eq!(hits(after.total(TotalMode::Unknown)), next, "after {k} of {query}");
            }
        }
        let tree = search().limit(10).total(TotalMode::Unknown).analyze().unwrap();
        assert_eq!(tree.plan.operator.name(), "TopK");
        let actual = tree.plan.actual.as_ref().unwrap();
        let candidates = actual.ranking.as_ref().unwrap().candidates.unwrap().found;
        let placed = actual.positions.unwrap().candidates;
        assert!(placed <= candidates, "{tree}");
        n_placed_less += usize::from(placed < candidates / 2);
    }
    assert!(n_placed_less > 30, "bounds were of use to {n_placed_less} queries only");
}

#[test]
fn a_plan_says_what_was_placed() {
    let searcher = &CORPUS.searchers[0];
    let query = searcher.parse("+text:\"to be\" +text:rarer -text:\"be or\"").unwrap();
    let tree = searcher.search(&query).count_only().analyze().unwrap();
    let phrase = tree.plan.iter().find(|node| node.operator.name() == "Phrase").unwrap();
    assert_eq!(phrase.label, "text:\"to be\"");
    assert_eq!(phrase.field.as_deref(), Some("text"));
    let actual = phrase.actual.as_ref().unwrap();
    let positions = actual.positions.unwrap();
    // Not one document is opened for positions that another condition excludes.
    assert_eq!(Some(positions.candidates), actual.documents_in);
    assert!(positions.candidates <= 50, "{positions:?}");
    assert!(positions.positions >= 2 * positions.candidates, "{positions:?}");
    assert_eq!(phrase.children[0].operator.name(), "Intersect");
    assert!(phrase.decisions.iter().any(|decision| decision.rule == "positions last"));
    let json = tree.to_json();
    assert!(
        json.contains(&format!("\"positions\": {{\"candidates\": {}", positions.candidates))
            || json.contains(&format!("\"positions\":{{\"candidates\":{}", positions.candidates)),
        "{json}"
    );
    assert!(tree.to_string().contains("positions of"), "{tree}");
}

#[test]
fn a_field_without_positions_takes_all_words_and_says_so() {
    let searcher = &CORPUS.searchers[1];
    let phrase = searcher.parse("bag:\"not to be\"").unwrap();
    let words = searcher.parse("bag:(+to +be +not)").unwrap();
    assert_eq!(searcher.count(&phrase).unwrap(), searcher.count(&words).unwrap());
    let plan = searcher.explain(&phrase).unwrap().to_string();
    assert!(plan.contains("'bag' keeps no positions"), "{plan}");
    assert!(!plan.contains("Phrase"), "{plan}");
}

#[test]
fn a_thousand_words_are_a_phrase_and_too_many_near_each_other_are_refused() {
    let schema = Schema::builder().text("text").build().unwrap();
    let index = Index::in_memory(schema);
    let words = |from: usize, n: usize| -> String {
        (from..from + n).map(|word| format!("w{}", word % 900)).collect::<Vec<_>>().join(" ")
    };
    let mut writer = index.writer().unwrap();
    for from in [0, 1, 17] {
        writer.add(Document::new().with("text", words(from, 1_500))).unwrap();
    }
    writer.add(Document::new().with("text", "w1 ".repeat(3_000))).unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let count = |query: &Query| searcher.count(query);
    assert_eq!(count(&Query::phrase(words(1, 1_000))).unwrap(), 2);
    assert_eq!(count(&Query::phrase(words(510, 1_000))).unwrap(), 1);
    assert_eq!(count(&Query::phrase("w1 ".repeat(1_000))).unwrap(), 1);
    assert_eq!(count(&Query::near("w1 ".repeat(200), Proximity::Slop(1_000))).unwrap(), 1);
    let error = count(&Query::near(words(0, 1_000), Proximity::Near(3))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert!(error.to_string().contains("NEAR_WORDS_MAX"), "{error}");
    let error = count(&Query::phrase(words(0, 5_000))).unwrap_err();
    assert!(error.to_string().contains("TERMS_MAX"), "{error}");
}

#[test]
fn a_phrase_whose_last_word_stands_for_too_much_names_its_limit() {
    // 4,097 terms of 256 documents each, and 20,000 of 40 documents with six places in each.
    let many: String = (0..4_097).map(|nth| format!("a l{nth} ")).collect();
    let index = Index::in_memory(Schema::builder().text("text").build().unwrap());
    let mut writer = index.writer().unwrap();
    for _ in 0..256 {
        writer.add(Document::new().with("text", &*many)).unwrap();
    }
    for nth in 0..40 {
        let rare = |word: u32| format!("b s{word} ").repeat(6);
        let text: String = (0..20_000).map(rare).collect();
        writer.add(Document::new().with("text", format!("{text} b t{nth}"))).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    for (text, limit) in
        [("\"a l\"*", "PHRASE_PATTERN_LISTS_MAX"), ("\"b s\"*", "PHRASE_PATTERN_POSITIONS_MAX")]
    {
        let query = searcher.parse(text).unwrap();
        for error in [
            searcher.count(&query).unwrap_err(),
            searcher.search(&query).run().unwrap_err(),
            searcher.search(&query).analyze().unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
            assert!(error.to_string().contains(limit), "{error}");
            assert!(error.to_string().contains("more of the word leaves fewer terms"), "{error}");
        }
        // The plan alone looks at no list.
        assert!(searcher.explain(&query).is_ok(), "{text}");
    }
    // What is too much for one word is too much for two of them.
    let words = searcher.parse("PHRASE [l1* l2* l3* l4* /l[05-9].*/]~<>9").unwrap();
    let error = searcher.count(&words).unwrap_err();
    assert!(error.to_string().contains("PHRASE_PATTERN_LISTS_MAX"), "{error}");
    assert_eq!(searcher.count(&searcher.parse("PHRASE [l1* a l2* a l3*]").unwrap()).unwrap(), 256);
    // More of the word, and it is answered.
    assert_eq!(searcher.count(&searcher.parse("\"a l12\"*").unwrap()).unwrap(), 256);
    assert_eq!(searcher.count(&searcher.parse("\"b s12\"*").unwrap()).unwrap(), 40);
    assert_eq!(searcher.count(&searcher.parse("\"b t3\"*").unwrap()).unwrap(), 11);
}

#[test]
fn a_plan_says_what_the_patterns_of_a_phrase_stand_for() {
    let searcher = &CORPUS.searchers[0];
    let query = searcher.parse("text:PHRASE [to b?e* IN [or not]]").unwrap();
    let tree = searcher.search(&query).count_only().analyze().unwrap();
    let phrase = tree.plan.iter().find(|node| node.operator.name() == "Phrase").unwrap();
    assert_eq!(phrase.label, "text:PHRASE [to b?e* IN [not or]]");
    let expands: Vec<_> =
        tree.plan.iter().filter(|node| node.operator.name() == "Expand").collect();
    // "bee" and "beer"; a few values are looked up by themselves.
    assert_eq!(expands.len(), 1, "{tree}");
    assert_eq!(expands[0].label, "text:b?e*");
    let terms = expands[0].actual.as_ref().unwrap().terms.unwrap();
    assert_eq!((terms.expanded, terms.cut), (2, false), "{tree}");
    assert!(terms.visited >= terms.expanded);
    assert!(tree.plan.iter().any(|node| node.label == "text:not OR text:or"), "{tree}");
    assert!(tree.to_string().contains("positions of 3 words"), "{tree}");
    let hit = searcher.search(&query).run().unwrap().hits[0].doc;
    let why = searcher.explain_score(&query, hit).unwrap().unwrap().to_string();
    assert!(why.contains("the words of the phrase that are no patterns"), "{why}");
    let query = searcher.parse("text:PHRASE [b?e* IN [or not]]").unwrap();
    let best = searcher.search(&query).run().unwrap().hits.swap_remove(0);
    assert!(best.score > Some(0.0));
    let why = searcher.explain_score(&query, best.doc).unwrap().unwrap().to_string();
    assert!(why.contains("every word of the phrase is a pattern"), "{why}");
    assert!(searcher.explain(&query).unwrap().to_json().contains("positions last"));
}

#[test]
fn where_there_are_no_places_a_phrase_of_patterns_says_what_it_is_taken_for() {
    let searcher = &CORPUS.searchers[0];
    let count = |text: &str| searcher.count(&searcher.parse(text).unwrap()).unwrap();
    assert_eq!(count("bag:PHRASE [not b?e*]"), count("bag:(+not +b?e*)"));
    let plan = |text: &str| searcher.explain(&searcher.parse(text).unwrap()).unwrap().to_string();
    assert!(plan("bag:PHRASE [not b?e*]").contains("'bag' keeps no positions"));
    assert_eq!(count("tag:PHRASE [to b*]"), 0);
    assert!(plan("tag:PHRASE [to b*]").contains("values of 'tag' are not cut into words"));
    assert_eq!(count("text:PHRASE [* -- *]"), 0);
    assert!(plan("text:PHRASE [* -- *]").contains("no word to find in 'text'"));
    let quoted = plan("text:\"to b*e or\"");
    assert!(quoted.contains("in quotes '*' stands for nothing"), "{quoted}");
}

#[test]
fn what_the_analyzer_leaves_out_keeps_its_place_among_patterns() {
    let schema = Schema::builder()
        .field(Field::new("text", FieldKind::Text).analyzer("words|lower|stop:en"));
    let index = Index::in_memory(schema.build().unwrap());
    let mut writer = index.writer().unwrap();
    for text in ["State of the Art", "state of art", "state art", "War and the peaceful"] {
        writer.add(Document::new().with("text", text)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let found = |text: &str| -> Vec<u64> {
        let query = searcher.parse(text).unwrap();
        let page = searcher.search(&query).order(Order::Document).run().unwrap();
        page.hits.iter().map(|hit| hit.doc.0).collect()
    };
    assert_eq!(found("PHRASE [state of the ar*]"), [0]);
    assert_eq!(found("PHRASE [stat? * * /a.t/]"), [0]);
    // A stop word is left out, and its beginning is not.
    assert_eq!(found("PHRASE [state \"of\" a*]"), [1]);
    assert_eq!(found("PHRASE [state the~1 a*]"), [] as [u64; 0]);
    assert_eq!(found("PHRASE [the stat? ar*]"), [2]);
    assert_eq!(found("PHRASE [st* ar*]~1"), [1, 2]);
    for same in ["war-and-the", "war \"and the\"", "\"War and\" the", "war and * *"] {
        let expected: &[u64] = if same.contains('*') { &[] } else { &[3] };
        assert_eq!(found(&format!("PHRASE [{same} peac*]")), expected, "{same}");
    }
    // One term is looked for as it is.
    assert_eq!(found("PHRASE [of art]"), [0, 1, 2]);
    assert_eq!(found("PHRASE [of ar*]"), [0, 1, 2]);
    let plan = searcher.explain(&searcher.parse("PHRASE [state of the ar*]").unwrap()).unwrap();
    assert!(plan.rewritten.contains("PHRASE [state * * ar*]"), "{}", plan.rewritten);
}

#[test]
fn phrases_of_too_many_or_broken_patterns_are_refused() {
    let searcher = &CORPUS.searchers[0];
    let refused = |text: &str| searcher.count(&searcher.parse(text).unwrap()).unwrap_err();
    let error = refused(&format!("PHRASE [{}]", "a?b ".repeat(65)));
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert!(error.to_string().contains("PHRASE_PATTERNS_MAX"), "{error}");
    let error = refused("to PHRASE [to /b(/]");
    assert_eq!((error.kind(), error.span()), (ErrorKind::Query, Some(3..19)), "{error}");
    let error = refused("PHRASE [to IN [be-or not]]");
    assert!(error.to_string().contains("values of one word each"), "{error}");
    let error = refused(&format!("PHRASE [{} b*]~2", "to ".repeat(256)));
    assert!(error.to_string().contains("NEAR_WORDS_MAX"), "{error}");
    let error = refused("no:PHRASE [to b*]");
    assert_eq!(error.span(), Some(0..2), "{error}");
}
