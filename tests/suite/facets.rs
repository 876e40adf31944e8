//! Facets: order, what is left out, and how few terms are looked at.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use treepie::explain::FacetActual;
use treepie::facet::{FacetCounts, FacetMethod, FacetOrder, ValueFacet};
use treepie::query::{ParseOptions, parse};
use treepie::{
    Budget, Document, ErrorKind, Facet, Field, FieldKind, Index, Schema, Searcher, Value,
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
            let search = || {
                self.searcher
                    .search(&query)
                    .with_facet(Facet::values(field).limit(limit).method(method))
                    .limit(0)
            };
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

impl Random {
    /// Compares what options leave of a field's values, counted in every way.
    fn check_options(&self, word: &str, field: &str, options: &Options) -> BTreeSet<String> {
        let what = format!("{options:?} of {field} where {word}");
        let (mut counted, mut missing) = (BTreeMap::<&str, u64>::new(), 0);
        let mut with_value = 0;
        for (_, single, many) in self.documents.iter().filter(|(words, ..)| words.contains(&word)) {
            let values: Vec<&String> = match field {
                "single" => single.iter().collect(),
                _ => many.iter().collect(),
            };
            missing += u64::from(values.is_empty());
            with_value += u64::from(!values.is_empty());
            values.into_iter().for_each(|value| *counted.entry(value).or_default() += 1);
        }
        let mut expected: Vec<_> = counted
            .into_iter()
            .filter(|(value, count)| *count >= options.minimum && (options.filter.wants)(value))
            .collect();
        match options.order {
            FacetOrder::Value => {}
            FacetOrder::ValueDescending => expected.reverse(),
            _ => expected.sort_by_key(|(_, count)| Reverse(*count)),
        }
        expected.truncate(options.limit);
        let shown: u64 = expected.iter().map(|(_, count)| count).sum();

        let query = self.searcher.parse(word).unwrap();
        let has_column = self.searcher.schema().field(field).unwrap().column;
        let mut algorithms = BTreeSet::new();
        for method in [None].into_iter().chain(METHODS.map(Some)) {
            if method == Some(FacetMethod::Column) && !has_column {
                continue;
            }
            let facet = Facet::values(field).limit(options.limit).order(options.order);
            let facet = (options.filter.apply)(facet.minimum(options.minimum));
            let facet = method.into_iter().fold(facet, ValueFacet::method);
            let search = self.searcher.search(&query).limit(0).with_facet(facet);
            let counts = search.clone().run().unwrap().facets.remove(0);
            assert_eq!(buckets(&counts), expected, "{method:?}: {what}");
            assert_eq!(counts.missing, missing, "{method:?}: {what}");
            let other = (field == "single").then(|| with_value - shown);
            assert_eq!(counts.other, other, "{method:?}: {what}");
            let tree = search.analyze().unwrap();
            let actual = tree.facets[0].actual.unwrap();
            let looked_at = actual.terms_intersected + actual.terms_from_document_frequency;
            assert_eq!(
                looked_at + actual.terms_skipped,
                tree.facets[0].terms,
                "{method:?}: {what}"
            );
            algorithms.insert(tree.facets[0].algorithm.clone());
        }
        algorithms
    }
}

/// Which values are wanted, in which order.
struct Options {
    order: FacetOrder,
    limit: usize,
    minimum: u64,
    filter: &'static Filter,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Options { order, limit, minimum, filter } = self;
        write!(f, "{limit} by {order:?}, at least {minimum}, {}", filter.name)
    }
}

/// How a facet is asked for it, and what it leaves.
struct Filter {
    name: &'static str,
    apply: fn(ValueFacet) -> ValueFacet,
    wants: fn(&str) -> bool,
}

const FILTERS: [Filter; 7] = [
    Filter { name: "all", apply: |facet| facet, wants: |_| true },
    Filter {
        name: "beginning",
        apply: |facet| facet.prefix("1"),
        wants: |value| value.starts_with('1'),
    },
    Filter {
        name: "longer beginning",
        apply: |facet| facet.prefix("07 1"),
        wants: |value| value.starts_with("07 1"),
    },
    Filter {
        name: "inside",
        apply: |facet| facet.containing("4 1"),
        wants: |value| value.contains("4 1"),
    },
    Filter {
        name: "pattern",
        apply: |facet| facet.matching("[0-9]{2} .?"),
        wants: |value| value.len() <= 4,
    },
    Filter {
        name: "beginning and inside",
        apply: |facet| facet.prefix("2").containing("3"),
        wants: |value| value.starts_with('2') && value.contains('3'),
    },
    Filter { name: "nothing", apply: |facet| facet.prefix("x").containing("3"), wants: |_| false },
];

#[test]
fn options_leave_the_same_whichever_way_values_are_counted() {
    let corpora = [
        Random::new(11, 70_000, 60, &[]),
        Random::new(12, 9_000, 4_000, &[1_000, 5_000]),
        Random::of(13, 70_000, 20_000, &[], Kind::Columns),
        Random::of(14, 9_000, 4_000, &[1_000, 5_000], Kind::Columns),
        Random::of(15, 9_000, 4_000, &[1_000, 5_000], Kind::Deleted),
        Random::of(16, 9_000, 60, &[1_000, 5_000], Kind::Merged),
    ];
    let orders = [FacetOrder::Count, FacetOrder::Value, FacetOrder::ValueDescending];
    let mut algorithms = BTreeSet::new();
    for corpus in &corpora {
        for (nth, word) in WORDS.iter().map(|word| word.0).chain(["every"]).enumerate() {
            for (at, filter) in FILTERS.iter().enumerate() {
                for order in orders {
                    // Not all of all: each limit and minimum comes with each filter and order.
                    let limit = [0, 1, 10, 300, 1_000_000][(nth + at) % 5];
                    let minimum = [1, 2, 3, 30, 1][(nth * 2 + at) % 5];
                    let options = Options { order, limit, minimum, filter };
                    for field in ["single", "many"] {
                        algorithms.extend(corpus.check_options(word, field, &options));
                    }
                }
            }
        }
    }
    assert_eq!(algorithms.len(), 4, "{algorithms:?}");
}

/// With a least count of 0 the dictionary gives what nothing that matches has.
#[test]
fn values_that_nothing_matches_come_where_they_are_wanted() {
    let corpora = [
        Random::new(21, 9_000, 400, &[1_000, 5_000]),
        Random::of(22, 9_000, 400, &[], Kind::Columns),
        Random::of(23, 9_000, 60, &[1_000, 5_000], Kind::Merged),
    ];
    let orders = [FacetOrder::Count, FacetOrder::Value, FacetOrder::ValueDescending];
    for (corpus, word) in
        corpora.iter().flat_map(|it| ["hundredth", "rare", "never"].map(|word| (it, word)))
    {
        for (filter, limit) in FILTERS.iter().flat_map(|filter| [0, 5, 300].map(|n| (filter, n))) {
            let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
            for (words, single, _) in &corpus.documents {
                for value in single.iter().filter(|value| (filter.wants)(value)) {
                    *expected.entry(value).or_default() += u64::from(words.contains(&word));
                }
            }
            for order in orders {
                let mut expected: Vec<_> = expected.clone().into_iter().collect();
                match order {
                    FacetOrder::Value => {}
                    FacetOrder::ValueDescending => expected.reverse(),
                    _ => expected.sort_by_key(|(_, count)| Reverse(*count)),
                }
                expected.truncate(limit);
                let query = corpus.searcher.parse(word).unwrap();
                for method in METHODS {
                    let column = corpus.searcher.schema().field("single").unwrap().column;
                    if method == FacetMethod::Column && !column {
                        continue;
                    }
                    let facet = Facet::values("single").limit(limit).order(order).method(method);
                    let facet = (filter.apply)(facet).minimum(0);
                    let page = corpus.searcher.search(&query).with_facet(facet).run().unwrap();
                    let what = format!("{limit} by {order:?}, {}, of {word}", filter.name);
                    assert_eq!(buckets(&page.facets[0]), expected, "{method:?}: {what}");
                }
            }
        }
    }
}

/// Documents that match have many more values than others, so that the column takes more memory than was thought.
#[test]
fn where_memory_does_not_suffice_for_a_column_posting_lists_count() {
    let field = Field::new("number", FieldKind::I64).many(true);
    let index = Index::in_memory(Schema::builder().text("text").field(field).build().unwrap());
    let mut writer = index.writer().unwrap();
    let mut random = crate::random::Random(9);
    let mut number = move || random.below(1 << 40) as i64;
    for nth in 0..40_000 {
        let is_rich = nth % 1_000 == 0;
        let mut document = Document::new().with("text", if is_rich { "rich" } else { "poor" });
        for _ in 0..if is_rich { 8_000 } else { 1 } {
            document = document.with("number", number());
        }
        writer.add(document.with("number", 7)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("rich").unwrap();
    let search = || searcher.search(&query).facet("number", 1).limit(0);
    let tree = search().analyze().unwrap();
    assert_eq!(tree.facets[0].algorithm, "column", "where there is room");
    let tree = search().budget(Budget::new().memory_bytes(2 << 20)).analyze().unwrap();
    assert!(tree.facets[0].algorithm.starts_with("term intersection"), "{tree}");
    let counts =
        search().budget(Budget::new().memory_bytes(2 << 20)).run().unwrap().facets.remove(0);
    assert_eq!((counts.buckets[0].value.clone(), counts.buckets[0].count), (Value::I64(7), 40));
    let by_column = searcher
        .search(&query)
        .with_facet(Facet::values("number").limit(1).method(FacetMethod::Column));
    let error = by_column.budget(Budget::new().memory_bytes(2 << 20)).run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded, "who asks for it gets the error");
}

#[test]
fn by_value_the_walk_over_the_dictionary_ends_with_the_last_that_is_wanted() {
    let searcher = skewed();
    let query = searcher.parse("even").unwrap();
    let work = |facet: ValueFacet| {
        let facet = facet.limit(3).method(FacetMethod::Dictionary);
        let tree = searcher.search(&query).with_facet(facet).analyze().unwrap();
        (tree.facets[0].actual.unwrap().terms_intersected, tree.facets[0].options.clone())
    };
    let by_value = Facet::values("many").by_value();
    assert_eq!(work(by_value.clone()), (6, Some("by value".into())), "three in two segments");
    let descending = Facet::values("many").by_value_descending();
    assert_eq!(work(descending), (6, Some("by value, descending".into())));
    // Of 37, 38 and 39 the even documents are less than fifteen, of 33 exactly that many.
    let (n, said) = work(by_value.minimum(15).prefix("3"));
    assert!(n < 20, "{n} of ten in two segments");
    assert_eq!(said.unwrap(), "by value, of at least 15 documents, beginning with '3'");
}

#[test]
fn numbers_come_by_value_and_only_texts_are_filtered() {
    let price = Field::new("price", FieldKind::I64);
    let plain = Field::new("plain", FieldKind::I64).column(false);
    let index = Index::in_memory(Schema::builder().field(price).field(plain).build().unwrap());
    let mut writer = index.writer().unwrap();
    for price in [10i64, -5, 300, -5, 10, 10, 7] {
        writer.add(Document::new().with("price", price).with("plain", price)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("price:<100").unwrap();
    for field in ["price", "plain"] {
        let facet = |facet: ValueFacet| {
            let page = searcher.search(&query).with_facet(facet).run()?;
            let counted = page.facets[0].buckets.iter();
            Ok::<_, treepie::Error>(counted.map(|b| (b.value.to_string(), b.count)).collect())
        };
        let all: Vec<_> = facet(Facet::values(field).by_value()).unwrap();
        assert_eq!(all, [("-5".into(), 2), ("7".into(), 1), ("10".into(), 3)]);
        let two = facet(Facet::values(field).by_value_descending().limit(2)).unwrap();
        assert_eq!(two, [("10".into(), 3), ("7".into(), 1)]);
        assert_eq!(facet(Facet::values(field).by_value().minimum(3)).unwrap(), [all[2].clone()]);
        let refused = facet(Facet::values(field).prefix("1")).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Usage);
        assert!(refused.to_string().contains("texts or keywords"), "{refused}");
    }
    let refused = searcher.search(&query).with_facet(Facet::values("nope").prefix("a")).run();
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Usage);
}

#[test]
fn what_is_no_regular_expression_is_an_error() {
    let searcher = searcher([Document::new().with("single", "a")]);
    let query = searcher.parse("*").unwrap();
    let search = || searcher.search(&query);
    let refused = search().with_facet(Facet::values("single").matching("a(")).run().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Query);
    let large = Facet::values("single").containing("long ".repeat(100_000));
    assert_eq!(search().with_facet(large).run().unwrap_err().kind(), ErrorKind::LimitExceeded);
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
    let by = |method| {
        searcher
            .search(&query)
            .with_facet(Facet::values("many").limit(3).method(method))
            .run()
            .unwrap()
            .facets
    };
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
    let search = || searcher.search(&query).limit(0).budget(Budget::new().memory_bytes(400 << 10));
    let page = search().facet("at", 2).run().unwrap();
    assert_eq!(page.facets[0].buckets.len(), 2);
    let forced =
        search().with_facet(Facet::values("at").limit(2).method(FacetMethod::Column)).run();
    assert_eq!(forced.unwrap_err().kind(), ErrorKind::LimitExceeded);
    let free = searcher
        .search(&query)
        .limit(0)
        .with_facet(Facet::values("at").limit(2).method(FacetMethod::Column));
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
