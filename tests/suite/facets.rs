//! Facets: order, what is left out, and how few terms are looked at.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use treepie::explain::FacetActual;
use treepie::query::{ParseOptions, parse};
use treepie::{
    Document, ErrorKind, FacetCounts, FacetMethod, Field, FieldKind, Index, Schema, Searcher,
};

/// The field `single` is declared with one value at most, `many` with any number.
fn searcher(documents: impl IntoIterator<Item = Document>) -> Searcher {
    let schema = Schema::builder()
        .text("text")
        .field(Field::new("single", FieldKind::Keyword))
        .keyword("many")
        .build()
        .unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for (n, document) in documents.into_iter().enumerate() {
        if n == 500 {
            writer.commit().unwrap();
        }
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    index.searcher().unwrap()
}

fn facet(searcher: &Searcher, query: &str, field: &str, limit: usize) -> FacetCounts {
    let query = searcher.parse(query).unwrap();
    searcher.facets(&query, field, limit).unwrap()
}

fn buckets(counts: &FacetCounts) -> Vec<(&str, u64)> {
    counts.buckets.iter().map(|bucket| (bucket.value.as_str().unwrap(), bucket.count)).collect()
}

/// A thousand documents with 40 values: value n in about 1000 / (n + 1), the even documents "even".
fn skewed() -> Searcher {
    searcher((0..1_000u32).map(|n| {
        let document = Document::new().with("text", if n % 2 == 0 { "even all" } else { "all" });
        let values = (0..40).filter(|value| n % (value + 1) == 0);
        values.fold(document, |document, value| document.with("many", format!("{value:02}")))
    }))
}

#[test]
fn ties_go_to_the_smaller_value_by_bytes() {
    let values = ["b", "ä", "B", "a", "b", "", "a b"];
    let searcher = searcher(values.iter().map(|value| Document::new().with("single", *value)));
    let counts = facet(&searcher, "*", "single", 4);
    assert_eq!(buckets(&counts), [("b", 2), ("", 1), ("B", 1), ("a", 1)]);
    assert_eq!((counts.other, counts.missing), (Some(2), 0));
    assert_eq!(buckets(&facet(&searcher, "*", "single", 100)).last(), Some(&("ä", 1)));
    assert!(facet(&searcher, "*", "single", 0).buckets.is_empty());
}

#[test]
fn what_is_not_shown_is_known_where_a_document_has_one_value() {
    let documents = (0..900).map(|n| {
        let document = Document::new().with("text", if n % 2 == 0 { "even" } else { "odd" });
        match n % 3 {
            0 => document.with("single", "third").with("many", "x").with("many", "y"),
            1 => document.with("single", format!("other {n}")),
            _ => document,
        }
    });
    let searcher = searcher(documents);
    let counts = facet(&searcher, "even", "single", 1);
    assert_eq!(buckets(&counts), [("third", 150)]);
    assert_eq!((counts.other, counts.missing), (Some(150), 150));
    let counts = facet(&searcher, "even", "many", 1);
    assert_eq!(buckets(&counts), [("x", 150)]);
    assert_eq!((counts.other, counts.missing), (None, 300));
    let counts = facet(&searcher, "odd OR even", "text", 5);
    assert_eq!(buckets(&counts), [("even", 450), ("odd", 450)]);
}

fn work(searcher: &Searcher, query: &str, limit: usize) -> (u64, FacetActual) {
    let query = searcher.parse(query).unwrap();
    let tree = searcher.search(&query).facet("many", limit).analyze().unwrap();
    let actual = tree.facets[0].actual.unwrap();
    assert!(
        searcher.search(&query).facet("many", limit).explain().unwrap().facets[0].actual.is_none()
    );
    (tree.facets[0].terms, actual)
}

#[test]
fn where_everything_matches_the_dictionary_holds_the_counts() {
    let (terms, actual) = work(&skewed(), "all", 3);
    assert_eq!(terms, 80, "forty in each of two segments");
    assert_eq!(actual.terms_intersected, 0);
    assert_eq!(actual.terms_from_document_frequency, 6, "in ascending order each is less frequent");
    assert_eq!(actual.terms_skipped, 74);
    assert_eq!(actual.bytes_read, 0);
}

#[test]
fn terms_that_cannot_enter_the_top_are_not_intersected() {
    let searcher = skewed();
    assert_eq!(
        buckets(&facet(&searcher, "even", "many", 3)),
        [("00", 500), ("01", 500), ("03", 250)]
    );
    let (_, actual) = work(&searcher, "even", 3);
    // After 00 (500 of 1000), 01 (500 of 500), 02 (167 of 334) and 03 (250 of 250) no other has
    // 250 documents.
    assert_eq!((actual.terms_intersected, actual.terms_skipped), (8, 72), "in two segments each");
    let (_, actual) = work(&searcher, "even", 40);
    assert_eq!((actual.terms_intersected, actual.terms_skipped), (80, 0));
}

/// Documents of which "one" has at most one of `n_values` values in `single`, the frequent ones
/// first among them, and any number up to three in `many`; words for some of them; and what an
/// index that looks at every document says.
struct Random {
    searcher: Searcher,
    documents: Vec<(Vec<&'static str>, Option<String>, BTreeSet<String>)>,
}

const WORDS: [(&str, usize); 5] =
    [("half", 2), ("tenth", 10), ("hundredth", 100), ("rare", 4_000), ("never", usize::MAX)];

impl Random {
    fn new(seed: u64, n_docs: usize, n_values: usize, commit_at: &[usize]) -> Self {
        Self::of(seed, n_docs, n_values, commit_at, Kind::Plain)
    }

    fn of(seed: u64, n_docs: usize, n_values: usize, commit_at: &[usize], kind: Kind) -> Self {
        let column = kind != Kind::Plain;
        let mut random = seed;
        let mut below = |n: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % n as u64) as usize
        };
        // The product of two is small more often; a prefix keeps frequent ones apart in the order.
        let value = |below: &mut dyn FnMut(usize) -> usize| {
            let n = below(n_values) * below(n_values) / n_values;
            format!("{:02} {n}", n * 7 % 41)
        };
        let schema = Schema::builder()
            .text("text")
            .field(Field::new("single", FieldKind::Keyword).column(column))
            .field(Field::new("many", FieldKind::Keyword).many(true).column(column))
            .build()
            .unwrap();
        let index = Index::in_memory(schema);
        let mut writer = index.writer().unwrap();
        let mut documents = vec![];
        for n in 0..n_docs {
            if commit_at.contains(&n) {
                writer.commit().unwrap();
            }
            let mut words: Vec<_> =
                WORDS.iter().filter(|word| below(word.1) == 0).map(|word| word.0).collect();
            words.push("every");
            let single = (below(5) > 0).then(|| value(&mut below));
            let many: BTreeSet<_> = (0..below(4)).map(|_| value(&mut below)).collect();
            let mut document = Document::new().with("text", words.join(" "));
            if let Some(value) = &single {
                document = document.with("single", value);
            }
            for value in &many {
                document = document.with("many", value);
            }
            writer.add(document).unwrap();
            documents.push((words, single, many));
        }
        writer.commit().unwrap();
        if matches!(kind, Kind::Deleted | Kind::Merged) {
            let gone = documents.iter().find_map(|(_, single, _)| single.clone()).unwrap();
            writer.delete_value("single", &*gone).unwrap();
            writer.delete(&parse("text:tenth", &ParseOptions::default()).unwrap()).unwrap();
            documents.retain(|(words, single, _): &(Vec<_>, _, _)| {
                *single != Some(gone.clone()) && !words.contains(&"tenth")
            });
            writer.commit().unwrap();
        }
        if kind == Kind::Merged {
            writer.merge().unwrap();
        }
        Random { searcher: index.searcher().unwrap(), documents }
    }

    /// Compares the top `limit` of a field among the documents that have `word`; returns the
    /// algorithm.
    fn check(&self, word: &str, field: &str, limit: usize) -> String {
        let (mut expected, mut missing) = (BTreeMap::<&str, u64>::new(), 0);
        for (_, single, many) in self.documents.iter().filter(|(words, ..)| words.contains(&word)) {
            let values: Vec<&String> = match field {
                "single" => single.iter().collect(),
                _ => many.iter().collect(),
            };
            missing += u64::from(values.is_empty());
            values.into_iter().for_each(|value| *expected.entry(value).or_default() += 1);
        }
        let mut expected: Vec<_> = expected.into_iter().collect();
        expected.sort_by_key(|(_, count)| Reverse(*count));
        let rest = expected.split_off(limit.min(expected.len()));
        let counts = facet(&self.searcher, word, field, limit);
        assert_eq!(buckets(&counts), expected, "{limit} of {field} where {word}");
        assert_eq!(counts.missing, missing, "{field} where {word}");
        let other = (field == "single").then(|| rest.iter().map(|(_, count)| count).sum());
        assert_eq!(counts.other, other, "{limit} of {field} where {word}");

        let query = self.searcher.parse(word).unwrap();
        let has_column = self.searcher.schema().field(field).unwrap().column;
        for method in METHODS {
            let search = || self.searcher.search(&query).facet_by(field, limit, method).limit(0);
            if method == FacetMethod::Column && !has_column {
                assert_eq!(search().run().unwrap_err().kind(), ErrorKind::Usage);
                continue;
            }
            let page = search().run().unwrap();
            assert_eq!(
                page.facets,
                std::slice::from_ref(&counts),
                "{method:?}: {limit} of {field} where {word}"
            );
            let tree = search().analyze().unwrap();
            let shown = &tree.facets[0];
            let is_column = shown.actual.unwrap().column.is_some();
            if method != FacetMethod::DocumentFrequency {
                assert_eq!(is_column, method == FacetMethod::Column);
                assert_eq!(shown.decisions[0].rule, "count as asked for");
            }
            assert_eq!(is_column, shown.algorithm == "column");
        }
        let tree = self.searcher.search(&query).facet(field, limit).analyze().unwrap();
        let (shown, actual) = (&tree.facets[0], tree.facets[0].actual.unwrap());
        let looked_at = actual.terms_intersected + actual.terms_from_document_frequency;
        assert_eq!(
            looked_at + actual.terms_skipped,
            shown.terms,
            "{limit} of {field} where {word}"
        );
        let alternative = shown.decisions[0].alternative.as_ref().unwrap();
        if shown.algorithm != "document frequencies" {
            assert!(shown.decisions[0].estimated_cost_ns <= alternative.estimated_cost_ns);
        }
        shown.algorithm.clone()
    }
}

/// What becomes of the documents, and whether their values have columns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Columns,
    /// And some are deleted.
    Deleted,
    /// And segments merged.
    Merged,
}

const METHODS: [FacetMethod; 4] = [
    FacetMethod::DocumentFrequency,
    FacetMethod::MostFrequentFirst,
    FacetMethod::Dictionary,
    FacetMethod::Column,
];

#[test]
fn random_facets_are_what_counting_every_document_gives() {
    let corpora = [
        // More windows than one, and lists of every size.
        Random::new(1, 140_000, 60, &[]),
        Random::new(2, 70_000, 20_000, &[]),
        // Three segments: a term may be in any of them.
        Random::new(3, 9_000, 4_000, &[1_000, 5_000]),
        Random::new(4, 3_000, 3, &[700, 1_300]),
        Random::of(5, 140_000, 60, &[], Kind::Columns),
        Random::of(6, 70_000, 20_000, &[], Kind::Columns),
        Random::of(7, 9_000, 4_000, &[1_000, 5_000], Kind::Columns),
        Random::of(8, 9_000, 4_000, &[1_000, 5_000], Kind::Deleted),
        Random::of(9, 9_000, 4_000, &[1_000, 5_000], Kind::Merged),
        Random::of(10, 3_000, 3, &[700, 1_300], Kind::Merged),
    ];
    let mut algorithms = BTreeSet::new();
    for corpus in &corpora {
        for word in WORDS.iter().map(|word| word.0).chain(["every"]) {
            for field in ["single", "many"] {
                for limit in [0, 1, 10, 300, 1_000_000] {
                    algorithms.insert(corpus.check(word, field, limit));
                }
            }
        }
    }
    let expected = [
        "column",
        "document frequencies",
        "term intersection in the order of the dictionary",
        "term intersection, most frequent terms first",
    ];
    assert!(algorithms.iter().map(|name| &**name).eq(expected), "{algorithms:?}");
}

#[test]
fn a_value_that_is_given_twice_makes_no_difference_between_ways() {
    let field = Field::new("many", FieldKind::Keyword).many(true).column(true);
    let index = Index::in_memory(Schema::builder().field(field).build().unwrap());
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("many", "a").with("many", "a")).unwrap();
    for nth in 0..20 {
        writer.add(Document::new().with("many", format!("{nth}"))).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("many:a OR many:1*").unwrap();
    let by = |method| searcher.search(&query).facet_by("many", 3, method).run().unwrap().facets;
    assert_eq!(by(FacetMethod::Column), by(FacetMethod::Dictionary));
    assert_eq!(by(FacetMethod::Column)[0].buckets.len(), 3);
}

/// Counters for each second of three years take more than a search may have, posting lists do not.
#[test]
fn a_column_is_left_alone_where_it_would_take_too_much_memory() {
    let index = Index::in_memory(
        Schema::builder().field(Field::new("at", FieldKind::I64)).text("text").build().unwrap(),
    );
    let mut writer = index.writer().unwrap();
    for nth in 0..70_000i64 {
        let text = if nth % 2 == 0 { "even" } else { "odd" };
        writer.add(Document::new().with("at", nth * 11).with("text", text)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("even").unwrap();
    let search = || searcher.search(&query).limit(0).memory_bytes(400 << 10);
    let page = search().facet("at", 2).run().unwrap();
    assert_eq!(page.facets[0].buckets.len(), 2);
    let forced = search().facet_by("at", 2, FacetMethod::Column).run();
    assert_eq!(forced.unwrap_err().kind(), ErrorKind::LimitExceeded);
    let free = searcher.search(&query).limit(0).facet_by("at", 2, FacetMethod::Column);
    assert_eq!(free.run().unwrap().facets, page.facets);
}

#[test]
fn nothing_is_listed_once_every_document_is_accounted_for() {
    // Two thousand values, each of two documents; the first value's documents have a word.
    let documents = (0..4_000).map(|n| {
        let text = if n % 2_000 == 0 { "first all" } else { "all" };
        let document = Document::new().with("text", text);
        document.with("single", format!("{:04}", n % 2_000)).with("many", "x").with("many", "y")
    });
    let plain = (0..100).map(|_| Document::new().with("text", "without"));
    let searcher = searcher(documents.chain(plain));
    let work = |query: &str, field: &str| {
        let query = searcher.parse(query).unwrap();
        let tree = searcher.search(&query).facet(field, 10).analyze().unwrap();
        let actual = tree.facets[0].actual.unwrap();
        (actual.terms_intersected, actual.terms_skipped)
    };
    assert_eq!(buckets(&facet(&searcher, "first", "single", 10)), [("0000", 2)]);
    assert_eq!(work("first", "single"), (2, 2_498), "500 values and 2,000");
    assert_eq!(work("without", "single"), (0, 2_500));
    assert_eq!(work("without", "many"), (0, 4));
    assert_eq!(work("first", "many"), (4, 0));
}
