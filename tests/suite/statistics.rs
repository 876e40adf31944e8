//! Statistics of numbers and dates: what looking at every document gives, by columns and without them.

use crate::random::Random;
use Number::{Fraction, Whole};
use std::collections::{BTreeMap, BTreeSet};
use treepie::facet::{Accuracy, FacetKind, FieldStatistics, StatisticsFacet, Sum};
use treepie::query::{ParseOptions, parse};
use treepie::{
    Budget, Decimal, Document, ErrorKind, Facet, Field, FieldKind, Index, Schema, Searcher,
    Timestamp, Value,
};

const PERCENTS: [f64; 7] = [0.0, 1.0, 25.0, 50.0, 95.0, 99.9, 100.0];
const WORDS: [(&str, usize); 4] = [("half", 2), ("tenth", 10), ("rare", 900), ("every", 1)];
const KINDS: [(&str, FieldKind); 5] = [
    ("whole", FieldKind::I64),
    ("natural", FieldKind::U64),
    ("price", FieldKind::Decimal { scale: 2 }),
    ("since", FieldKind::Date),
    ("fraction", FieldKind::F64),
];

/// Of each document its words, and by kind the numbers of its values: steps of the kind, or fractions.
type Shown = (Vec<&'static str>, Vec<Vec<Number>>);

#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Number {
    Whole(i128),
    Fraction(f64),
}

fn value(kind: FieldKind, number: Number) -> Value {
    match (kind, number) {
        (FieldKind::U64, Whole(number)) => Value::U64(number as u64),
        (FieldKind::Decimal { scale }, Whole(number)) => {
            Value::Decimal(Decimal::new(number as i64, scale).unwrap())
        }
        (FieldKind::Date, Whole(micros)) => {
            Value::Date(Timestamp::from_micros(micros as i64).unwrap())
        }
        (_, Whole(number)) => Value::I64(number as i64),
        (_, Fraction(number)) => Value::F64(number),
    }
}

/// Of whole numbers a few are as far apart as they may be, so that steps are only those that are met.
const WIDTHS: [(&str, &str); 10] = [
    ("whole", "1"),
    ("whole", "37"),
    ("whole", "9000000000000000000"),
    ("natural", "1"),
    ("natural", "7"),
    ("price", "0.05"),
    ("price", "250.5"),
    ("price", "0.01"),
    ("fraction", "0.3"),
    ("fraction", "100"),
];

struct Corpus {
    searcher: Searcher,
    documents: Vec<Shown>,
}

impl Corpus {
    fn new(seed: u64, n_docs: usize, commit_every: usize, column: bool, deletes: bool) -> Self {
        let mut random = Random(seed);
        let mut schema = Schema::builder().text("text");
        for (name, kind) in KINDS {
            schema =
                schema.field(Field::new(name, kind).many(seed.is_multiple_of(2)).column(column));
        }
        let index = Index::in_memory(schema.build().unwrap());
        let mut writer = index.writer().unwrap();
        let mut documents = vec![];
        for nth in 0..n_docs {
            if nth % commit_every == commit_every - 1 {
                writer.commit().unwrap();
            }
            let words = WORDS.iter().filter(|(_, one_of)| random.below(*one_of) == 0);
            let words: Vec<_> = words.map(|(word, _)| *word).collect();
            let mut document = Document::new().with("text", words.join(" "));
            let mut values = vec![];
            for (name, kind) in KINDS {
                let n_values = match random.below(10) {
                    0 => 0,
                    1..4 if seed.is_multiple_of(2) => 2 + random.below(2),
                    _ => 1,
                };
                // Long runs of the same value, as time has them.
                let far = nth as i128 / 3_000;
                let mut of_document: Vec<Number> = (0..n_values)
                    .map(|_| match kind {
                        FieldKind::F64 => Fraction(random.below(100_000) as f64 / 7.0 - 5_000.0),
                        FieldKind::U64 => Whole(u64::MAX as i128 - random.below(50) as i128),
                        FieldKind::Date => Whole(1_700_000_000_000_000 + far * 1_000_000),
                        FieldKind::I64 => Whole(match random.below(3_000) {
                            0 => i64::MIN as i128,
                            1 => i64::MAX as i128,
                            _ => random.below(1_000) as i128 - 500,
                        }),
                        _ => Whole(random.below(100_000) as i128 - 20_000),
                    })
                    .collect();
                of_document.sort_by(|a, b| a.partial_cmp(b).unwrap());
                of_document.dedup();
                for number in &of_document {
                    document = document.with(name, value(kind, *number));
                }
                values.push(of_document);
            }
            writer.add(document).unwrap();
            documents.push((words, values));
        }
        writer.commit().unwrap();
        if deletes {
            writer.delete(&parse("text:tenth", &ParseOptions::default()).unwrap()).unwrap();
            writer.commit().unwrap();
            documents.retain(|(words, _): &Shown| !words.contains(&"tenth"));
        }
        Corpus { searcher: index.searcher().unwrap(), documents }
    }

    fn check(&self, word: &str) {
        let query = self.searcher.parse(word).unwrap();
        let all = |name: &str| Facet::statistics(name).distinct().percentiles(PERCENTS);
        let search = self.searcher.search(&query).limit(0);
        let search = KINDS.iter().fold(search, |search, (name, _)| search.with_facet(all(name)));
        let page = search.run().unwrap();
        for (at, ((name, kind), counts)) in KINDS.into_iter().zip(&page.facets).enumerate() {
            let what = format!("{name} of {word}");
            let matching = || self.documents.iter().filter(|(words, _)| words.contains(&word));
            let mut numbers: Vec<Number> =
                matching().flat_map(|(_, values)| &values[at]).copied().collect();
            numbers.sort_by(|a, b| a.partial_cmp(b).unwrap());
            let missing = matching().filter(|(_, values)| values[at].is_empty()).count() as u64;
            let found = counts.statistics.as_ref().unwrap();
            assert_eq!((counts.kind, counts.missing), (FacetKind::Statistics, missing), "{what}");
            assert!(counts.exact && counts.buckets.is_empty() && counts.other.is_none());
            check_one(kind, &numbers, found, &what);
            let documents = matching().count() as u64 - missing;
            assert_eq!(found.documents, documents, "{what}");
            // Without ranks the same, and nothing that was not asked for.
            let plain = self.searcher.search(&query).with_facet(Facet::statistics(name));
            let plain = plain.run().unwrap().facets.remove(0).statistics.unwrap();
            assert_eq!(plain.sum, found.sum, "{what}");
            assert_eq!((plain.distinct, plain.percentiles), (None, vec![]), "{what}");
            // And each of the two by itself, for which other ways suffice.
            let of = |facet: StatisticsFacet| {
                let search = self.searcher.search(&query).limit(0).with_facet(facet);
                search.run().unwrap().facets.remove(0).statistics.unwrap()
            };
            let ranks = of(Facet::statistics(name).percentiles(PERCENTS));
            let different = of(Facet::statistics(name).distinct());
            let whole = |it: &FieldStatistics| (it.count, it.documents, it.sum, it.min.clone());
            assert_eq!((whole(&ranks), whole(&different)), (whole(found), whole(found)), "{what}");
            assert_eq!((&ranks.percentiles, ranks.distinct), (&found.percentiles, None), "{what}");
            assert_eq!((different.distinct, different.percentiles), (found.distinct, vec![]));
        }
        for (name, width) in WIDTHS {
            self.check_steps(word, name, width);
        }
    }

    /// Compares the steps of one width with those of each document.
    fn check_steps(&self, word: &str, name: &str, width: &str) {
        let (at, (_, kind)) =
            KINDS.into_iter().enumerate().find(|(_, (of, _))| *of == name).unwrap();
        let what = format!("{name} of {word} by {width}");
        let query = self.searcher.parse(word).unwrap();
        let search =
            self.searcher.search(&query).limit(0).with_facet(Facet::histogram(name, width));
        if !self.searcher.schema().field(name).unwrap().column {
            assert_eq!(search.run().unwrap_err().kind(), ErrorKind::Usage);
            return;
        }
        let fraction: f64 = width.parse().unwrap();
        let units = match kind {
            FieldKind::Decimal { .. } => (fraction * 100.0).round() as i128,
            _ => fraction as i128,
        };
        // The number nearest to the multiple as it is written: 3 times 0.1 is 0.3.
        let digits = width.split_once('.').map_or(0, |(_, digits)| digits.len());
        let edge = |step: i128| -> f64 {
            format!("{:.*}", digits, step as f64 * fraction).parse().unwrap()
        };
        let step = |number: &Number| match number {
            Whole(number) => number.div_euclid(units),
            Fraction(number) => {
                let near = (number / fraction).floor() as i128;
                let begins = |step: &i128| edge(*step) <= *number;
                (near - 1..near + 2).filter(begins).max().unwrap()
            }
        };
        let (mut expected, mut missing) = (BTreeMap::<i128, u64>::new(), 0);
        for (_, values) in self.documents.iter().filter(|(words, _)| words.contains(&word)) {
            missing += u64::from(values[at].is_empty());
            let steps: BTreeSet<_> = values[at].iter().map(step).collect();
            steps.into_iter().for_each(|step| *expected.entry(step).or_default() += 1);
        }
        let start = |step: i128| match kind {
            FieldKind::F64 => Some(Value::F64(edge(step))),
            FieldKind::U64 => u64::try_from(step * units).ok().map(Value::U64),
            _ => i64::try_from(step * units).ok().map(|it| value(kind, Whole(it.into()))),
        };
        let counts = search.clone().run().unwrap().facets.remove(0);
        let found: Vec<_> =
            counts.buckets.iter().map(|it| (it.from.clone(), it.to.clone(), it.count)).collect();
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(step, count)| (start(step), start(step + 1), count))
            .collect();
        assert_eq!(found, expected, "{what}");
        assert_eq!((counts.missing, counts.other), (missing, Some(0)), "{what}");
        let tree = search.analyze().unwrap();
        assert_eq!(tree.facets[0].ranges, Some(format!("by steps of {width}")));
    }
}

fn check_one(kind: FieldKind, numbers: &[Number], found: &FieldStatistics, what: &str) {
    let n = numbers.len();
    assert_eq!(found.count, n as u64, "{what}");
    let at = |nth: Option<&Number>| nth.map_or(Value::Null, |number| value(kind, *number));
    assert_eq!((&found.min, &found.max), (&at(numbers.first()), &at(numbers.last())), "{what}");
    let mut distinct = numbers.to_vec();
    distinct.dedup();
    assert_eq!(found.distinct, Some(distinct.len() as u64), "{what}");
    let ranks = PERCENTS.map(|percent| ((percent * n as f64 / 100.0).ceil() as usize).max(1) - 1);
    let expected: Vec<_> =
        PERCENTS.into_iter().zip(ranks.map(|nth| at(numbers.get(nth)))).collect();
    let expected = if n == 0 { vec![] } else { expected };
    assert_eq!(found.percentiles, expected, "{what}");

    // In units of the kind, from a number near all of them, so that the naive sum of squares loses little.
    let step = match kind {
        FieldKind::Decimal { .. } => 100.0,
        FieldKind::Date => 1e6,
        _ => 1.0,
    };
    let whole: Option<i128> =
        numbers.iter().map(|it| if let Whole(it) = it { Some(*it) } else { None }).sum();
    let near = whole.map_or(0, |sum| sum / n.max(1) as i128);
    let distances: Vec<f64> = numbers
        .iter()
        .map(|it| match it {
            Whole(it) => (it - near) as f64 / step,
            Fraction(it) => *it,
        })
        .collect();
    let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-9);
    match (found.sum, kind) {
        (None, FieldKind::Date) => {}
        (Some(Sum::Whole(sum)), FieldKind::I64 | FieldKind::U64) => {
            assert_eq!(Some(sum), whole, "{what}");
        }
        (Some(Sum::Decimal { unscaled, scale: 2 }), FieldKind::Decimal { .. }) => {
            assert_eq!(Some(unscaled), whole, "{what}");
        }
        (Some(Sum::Fraction(sum)), FieldKind::F64) => {
            assert!(is_near(sum, distances.iter().sum()), "{what}: {sum}");
        }
        (sum, _) => panic!("{what}: {sum:?}"),
    }
    if n == 0 {
        assert_eq!((&found.mean, found.variance), (&Value::Null, None), "{what}");
        return;
    }
    let mean = match whole {
        Some(sum) => (sum - near * n as i128) as f64 / n as f64 / step,
        None => distances.iter().sum::<f64>() / n as f64,
    };
    let expected = mean + near as f64 / step;
    match &found.mean {
        Value::F64(found) => assert!(is_near(*found, expected), "{what}: {found} and {expected}"),
        Value::Date(found) => {
            let sum = whole.unwrap();
            let apart = (i128::from(found.as_micros()) * n as i128 - sum).abs();
            assert!(apart * 2 <= n as i128, "{what}: {found}");
        }
        found => panic!("{what}: {found:?}"),
    }
    let squares = distances.iter().map(|it| (it - mean) * (it - mean)).sum::<f64>();
    let (variance, expected) = (found.variance.unwrap(), squares / n as f64);
    assert!(is_near(variance, expected), "{what}: {variance} and {expected}");
    assert!(is_near(found.standard_deviation().unwrap(), expected.sqrt()), "{what}");
}

#[test]
fn statistics_are_what_looking_at_every_document_gives() {
    for (seed, n_docs, commit_every, column, deletes) in [
        (1, 20_000, 100_000, true, false),
        (2, 20_000, 100_000, true, false),
        (3, 9_000, 2_500, true, true),
        (4, 9_000, 2_500, true, true),
        (5, 5_000, 2_000, false, false),
        (6, 5_000, 2_000, false, true),
        (7, 70_000, 66_000, true, false),
    ] {
        let corpus = Corpus::new(seed, n_docs, commit_every, column, deletes);
        for word in WORDS.iter().map(|(word, _)| *word).chain(["nowhere"]) {
            corpus.check(word);
        }
    }
}

#[test]
fn what_has_no_statistics_is_refused() {
    let schema = Schema::builder().keyword("kind").field(Field::new("is", FieldKind::Bool));
    let index = Index::in_memory(schema.field(Field::new("n", FieldKind::I64)).build().unwrap());
    index.writer().unwrap().commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("*").unwrap();
    let refused = |facet: Facet| searcher.search(&query).with_facet(facet).run().unwrap_err();
    for (facet, words) in [
        (Facet::statistics("kind").into(), "a field of numbers or dates"),
        (Facet::statistics("is").into(), "a field of numbers or dates"),
        (Facet::statistics("nope").into(), "'nope'"),
        (Facet::statistics("n").percentiles([101.0]).into(), "found 101"),
        (Facet::statistics("n").percentiles([f64::NAN]).into(), "found NaN"),
        (Facet::histogram("kind", 1), "a field of numbers"),
        (Facet::histogram("is", 1), "a field of numbers"),
        (Facet::histogram("n", 0), "a number of the field above zero, found '0'"),
        (Facet::histogram("n", -1), "above zero"),
        (Facet::histogram("n", "2.5"), "above zero, found '2.5'"),
        (Facet::histogram("n", "wide"), "found 'wide'"),
    ] {
        let error = refused(facet);
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains(words), "{error}");
    }
    let empty = searcher.search(&query).with_facet(Facet::statistics("n").distinct());
    let empty = empty.run().unwrap().facets.remove(0).statistics.unwrap();
    assert_eq!((empty.count, empty.distinct, empty.sum), (0, Some(0), Some(Sum::Whole(0))));
}

/// A count of each value may take more than a search has; sketches take little, and sums and extremes nothing.
#[test]
fn ranks_are_sketched_where_counting_would_take_too_much_memory() {
    for column in [true, false] {
        let at = Field::new("at", FieldKind::I64).column(column);
        let schema = Schema::builder().field(at).text("text").build().unwrap();
        let index = Index::in_memory(schema);
        let mut writer = index.writer().unwrap();
        for nth in 0..40_000i64 {
            let text = if nth % 2 == 0 { "even" } else { "odd" };
            writer.add(Document::new().with("at", nth * 1_000_003).with("text", text)).unwrap();
        }
        writer.commit().unwrap();
        let searcher = index.searcher().unwrap();
        let query = searcher.parse("even").unwrap();
        let search = || {
            let facet = Facet::statistics("at").distinct().percentiles([50.0]);
            searcher.search(&query).limit(0).with_facet(facet)
        };
        let statistics = |page: treepie::Hits| page.facets[0].statistics.clone().unwrap();
        let all = statistics(search().run().unwrap());
        assert_eq!((all.distinct, all.percentiles.len()), (Some(20_000), 1));
        let few = statistics(search().budget(Budget::new().memory_bytes(400 << 10)).run().unwrap());
        assert!(all.is_exact() && !few.is_exact());
        assert_eq!(
            (few.distinct_by, few.percentiles_by),
            (Accuracy::HyperLogLog, Accuracy::Kll),
            "{column}"
        );
        assert!(few.distinct.unwrap().abs_diff(20_000) <= 200, "{few:?}");
        let rank = |found: &FieldStatistics| match found.percentiles[0].1 {
            Value::I64(at) => at as f64 / 1_000_003.0 / 40_000.0,
            _ => panic!("{found:?}"),
        };
        assert!((rank(&few) - rank(&all)).abs() <= few.percentiles_by.error(), "{few:?}");
        let error = search().budget(Budget::new().memory_bytes(100 << 10)).run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
        assert_eq!((few.sum, few.min, few.max), (all.sum, all.min, all.max));
        let tree = search().analyze().unwrap();
        let words = if column { "column, by bounds of blocks" } else { "dictionary, term by term" };
        assert_eq!(tree.facets[0].algorithm, words);
        assert_eq!(tree.facets[0].ranges.as_deref(), Some("statistics"));
    }
}

#[test]
fn blocks_of_one_value_are_not_read() {
    let index = Index::in_memory(
        Schema::builder().field(Field::new("day", FieldKind::I64)).build().unwrap(),
    );
    let mut writer = index.writer().unwrap();
    for nth in 0..10 * 1_024i64 {
        writer.add(Document::new().with("day", nth / 1_024)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("*").unwrap();
    let tree = searcher.search(&query).with_facet(Facet::statistics("day")).analyze().unwrap();
    let column = tree.facets[0].actual.unwrap().column.unwrap();
    assert_eq!((column.documents, column.blocks, column.blocks_skipped), (0, 10, 10));
    let found = searcher.search(&query).with_facet(Facet::statistics("day").distinct());
    let found = found.run().unwrap().facets.remove(0).statistics.unwrap();
    assert_eq!(found.distinct, Some(10));
    assert_eq!((found.sum, found.variance), (Some(Sum::Whole(45 * 1_024)), Some(8.25)));
}

/// A million values of several segments, under a bound that is far too small for counting them: what sketches say is as near to
/// what sorting gives as they promise, of few values, of as many as there are, and of all that are anywhere.
#[test]
fn sketches_are_as_near_as_they_promise() {
    const N: usize = 1_000_000;
    let names = ["few", "many", "anywhere", "fraction"];
    let kind = |name: &str| if name == "fraction" { FieldKind::F64 } else { FieldKind::I64 };
    let schema = names.into_iter().fold(Schema::builder(), |schema, name| {
        schema.field(Field::new(name, kind(name)).stored(false))
    });
    let index = Index::in_memory(schema.build().unwrap());
    let mut writer = index.writer().unwrap();
    let mut random = Random(99);
    let mut values: Vec<Vec<f64>> = vec![vec![]; names.len()];
    for nth in 0..N {
        let below = |random: &mut Random, n: usize| random.below(n) as i64;
        // Few are as far apart as many, so that none has a counter by itself.
        let few = (below(&mut random, 300) - 150) << 40;
        let many = nth as i64 * 1_000_003;
        let anywhere = (below(&mut random, 1 << 20) * below(&mut random, 1 << 20)) << 12;
        let fraction = (below(&mut random, 1 << 30) as f64 / 1e8).exp();
        let document = Document::new().with("few", few).with("many", many);
        writer.add(document.with("anywhere", anywhere).with("fraction", fraction)).unwrap();
        for (of, value) in
            values.iter_mut().zip([few as f64, many as f64, anywhere as f64, fraction])
        {
            of.push(value);
        }
        if nth % 300_000 == 0 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("*").unwrap();
    for (name, mut values) in names.into_iter().zip(values) {
        values.sort_by(f64::total_cmp);
        let mut distinct = values.clone();
        distinct.dedup();
        let facet = Facet::statistics(name).distinct().percentiles(PERCENTS);
        let search = searcher.search(&query).limit(0).budget(Budget::new().memory_bytes(512 << 10));
        let found = search.with_facet(facet).run().unwrap().facets.remove(0).statistics.unwrap();
        assert_eq!(found.distinct_by, Accuracy::HyperLogLog, "{name}");
        assert_eq!(found.percentiles_by, Accuracy::Kll, "{name}");
        let (n, expected) = (found.distinct.unwrap() as f64, distinct.len() as f64);
        let most = found.distinct_by.error() * expected;
        assert!((n - expected).abs() <= most, "{name}: {n} of {expected}");
        for (percent, value) in &found.percentiles {
            let value = match value {
                Value::I64(value) => *value as f64,
                Value::F64(value) => *value,
                other => panic!("{name}: {other:?}"),
            };
            // A value that is there several times has several ranks.
            let below = values.partition_point(|other| *other < value) as f64 / N as f64;
            let up_to = values.partition_point(|other| *other <= value) as f64 / N as f64;
            let (share, error) = (percent / 100.0, found.percentiles_by.error());
            let is_near = below - error <= share && share <= up_to + error;
            assert!(is_near && up_to > below, "p{percent} of {name}: {below} to {up_to}");
            if [0.0, 100.0].contains(percent) {
                let end = if *percent == 0.0 { values[0] } else { values[N - 1] };
                assert_eq!(value, end, "{name}");
            }
        }
        let quantiles = Facet::quantiles(name, 10);
        let search = searcher.search(&query).limit(0).budget(Budget::new().memory_bytes(512 << 10));
        let parts = search.with_facet(quantiles).run().unwrap().facets.remove(0).buckets;
        assert_eq!(parts.iter().map(|part| part.count).sum::<u64>(), N as u64, "{name}");
        let of_one = if name == "few" { N / 250 } else { 500 };
        let most = N as f64 * (0.1 + 2.0 * Accuracy::Kll.error()) + of_one as f64;
        assert!(parts.len() == 10 && parts.iter().all(|it| it.count as f64 <= most), "{name}");
    }
}

/// An answer without what there was no memory for is not the answer of those that have more.
#[test]
fn what_there_was_no_memory_for_is_not_kept_for_others() {
    let schema = Schema::builder().field(Field::new("at", FieldKind::I64)).build().unwrap();
    let storage = std::sync::Arc::new(treepie::storage::MemoryStorage::new());
    let index = Index::options().result_cache_bytes(8 << 20).create_in(storage, schema).unwrap();
    let mut writer = index.writer().unwrap();
    for nth in 0..=40_000i64 {
        writer.add(Document::new().with("at", nth * 1_000_003)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    // Of all documents the dictionary would say it.
    let query = searcher.parse("at:[1 TO *]").unwrap();
    let search = || searcher.search(&query).limit(0).with_facet(Facet::statistics("at").distinct());
    let statistics = |page: treepie::Hits| page.facets[0].statistics.clone().unwrap();
    assert!(
        !statistics(search().budget(Budget::new().memory_bytes(400 << 10)).run().unwrap())
            .is_exact()
    );
    let page = search().run().unwrap();
    assert!(!page.from_cache);
    assert_eq!(statistics(page).distinct, Some(40_000));
    let page = search().budget(Budget::new().memory_bytes(400 << 10)).run().unwrap();
    assert!(page.from_cache && statistics(page).is_exact());
    // And so with the ends of quantiles.
    let search = || searcher.search(&query).limit(0).with_facet(Facet::quantiles("at", 4));
    let ranges = |page: &treepie::Hits| page.facets[0].clone();
    assert!(!ranges(&search().budget(Budget::new().memory_bytes(400 << 10)).run().unwrap()).exact);
    let page = search().run().unwrap();
    assert!(!page.from_cache && ranges(&page).exact);
    assert!(ranges(&page).buckets.iter().all(|bucket| bucket.count == 10_000), "{page:?}");
}

/// What matches has many times as many values as the average of all documents.
#[test]
fn more_values_than_were_expected_are_sketched() {
    let schema = Schema::builder().field(Field::new("rare", FieldKind::F64)).keyword("mark");
    let index = Index::in_memory(schema.build().unwrap());
    let mut writer = index.writer().unwrap();
    for nth in 0..400_000u64 {
        let mut document = Document::new();
        if nth < 40_000 {
            document = document.with("rare", nth as f64 / 3.0).with("mark", "has");
        }
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("mark:has").unwrap();
    let facet = || Facet::statistics("rare").distinct().percentiles([50.0]);
    let search = || searcher.search(&query).limit(0).with_facet(facet());
    let found =
        search().budget(Budget::new().memory_bytes(600 << 10)).run().unwrap().facets.remove(0);
    let statistics = found.statistics.unwrap();
    assert_eq!((statistics.percentiles_by, found.exact), (Accuracy::Kll, false));
    assert_eq!(statistics.sum, search().run().unwrap().facets[0].statistics.as_ref().unwrap().sum);
}

#[test]
fn steps_have_a_limit_and_what_does_not_match_sets_none() {
    let schema = Schema::builder().field(Field::new("f", FieldKind::F64));
    let schema = schema.field(Field::new("id", FieldKind::U64)).key("id").build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for nth in 0..70_000u64 {
        let number = if nth == 7 { 1e15 } else { nth as f64 * 3.0 };
        writer.add(Document::new().with("id", nth).with("f", number)).unwrap();
    }
    writer.commit().unwrap();
    let steps = |query: &str, width: f64| {
        let searcher = index.searcher().unwrap();
        let query = searcher.parse(query).unwrap();
        let page = searcher.search(&query).limit(0).with_facet(Facet::histogram("f", width)).run();
        page.map(|page| page.facets[0].buckets.len())
    };
    let error = steps("*", 0.01).unwrap_err().to_string();
    assert!(error.contains("53 bits"), "{error}");
    assert_eq!(steps("id:[0 TO 5]", 0.01).unwrap(), 6);
    let error = steps("*", 0.5).unwrap_err().to_string();
    assert!(error.contains("at most 65536 steps"), "{error}");
    writer.delete_key(7u64).unwrap();
    writer.commit().unwrap();
    assert_eq!(steps("id:[0 TO 9]", 0.01).unwrap(), 9);
}

/// Of a block in which one that does not match is as far away as there are numbers, on either side.
#[test]
fn steps_of_what_matches_are_those_that_it_has() {
    for far in [f64::MIN, f64::MAX] {
        let index = Index::in_memory(
            Schema::builder().field(Field::new("f", FieldKind::F64)).build().unwrap(),
        );
        let mut writer = index.writer().unwrap();
        for nth in 0..1_000 {
            writer.add(Document::new().with("f", -f64::from(nth))).unwrap();
        }
        writer.add(Document::new().with("f", far)).unwrap();
        writer.commit().unwrap();
        let searcher = index.searcher().unwrap();
        let query = searcher.parse("f:[-1000 TO 0]").unwrap();
        let page = searcher.search(&query).limit(0).with_facet(Facet::histogram("f", 1.0)).run();
        let buckets = &page.unwrap().facets[0].buckets;
        assert_eq!(buckets.len(), 1_000);
        assert!(buckets.iter().all(|bucket| bucket.count == 1), "{buckets:?}");
    }
}

/// What stands at a rank takes no count of each value: half of them are found in the memory of a few, and of all documents
/// the dictionary says it, of one segment how many different ones there are as well.
#[test]
fn ranks_take_little_memory() {
    let schema = Schema::builder().field(Field::new("at", FieldKind::I64)).keyword("half");
    let index = Index::in_memory(schema.build().unwrap());
    let mut writer = index.writer().unwrap();
    let mut odd: Vec<i64> = vec![];
    for nth in 0..100_000i64 {
        let at = nth * 7_919 % 100_000 * 1_000_003;
        let half = if nth % 2 == 0 { "even" } else { "odd" };
        writer.add(Document::new().with("at", at).with("half", half)).unwrap();
        odd.extend((nth % 2 == 1).then_some(at));
    }
    writer.commit().unwrap();
    odd.sort_unstable();
    let searcher = index.searcher().unwrap();
    let ask = |query: &str, facet: StatisticsFacet| {
        let query = searcher.parse(query).unwrap();
        let search = searcher.search(&query).limit(0).budget(Budget::new().memory_bytes(300 << 10));
        let search = search.with_facet(facet);
        let page = search.clone().run().unwrap().facets.remove(0);
        (page.statistics.unwrap(), search.analyze().unwrap().facets.remove(0).actual.unwrap())
    };
    let facet = || Facet::statistics("at").percentiles([50.0, 10.0]);
    let (of_half, actual) = ask("half:odd", facet());
    let expected = [(50.0, Value::I64(odd[24_999])), (10.0, Value::I64(odd[4_999]))];
    assert_eq!((&of_half.percentiles[..], of_half.is_exact()), (&expected[..], true));
    // Once for the parts, and once for what lies in two of them.
    assert_eq!(actual.column.unwrap().documents, 100_000);
    let (of_all, actual) = ask("*", facet().distinct());
    let expected = [49_999, 9_999].map(|nth| Value::I64(nth * 1_000_003));
    assert_eq!(of_all.percentiles.into_iter().map(|(_, at)| at).collect::<Vec<_>>(), expected);
    assert_eq!((of_all.distinct, of_all.distinct_by), (Some(100_000), Accuracy::Exact));
    assert!((1..=128).contains(&actual.column.unwrap().ends_looked_up));
}
