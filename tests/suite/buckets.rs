//! Facets within the buckets of facets, and the best hits of these: what looking at every document gives.

use crate::random::Random;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use treepie::explain::{ExplainFacet, InBuckets};
use treepie::facet::{Bucket, FACET_DEPTH_MAX, FacetCounts, FacetKind};
use treepie::query::{ParseOptions, parse};
use treepie::search::Order;
use treepie::value::Interval;
use treepie::{
    Budget, CancelToken, Document, ErrorKind, Facet, Field, FieldKind, Index, Schema, Searcher,
    SortKey, Timestamp, Value,
};

const WORDS: [&str; 4] = ["half", "third", "rare", "every"];
const DAY: i64 = 86_400_000_000;

/// A document: its words and its values; days are counted from the beginning of 1970.
struct Shown {
    id: usize,
    words: Vec<&'static str>,
    brand: Option<String>,
    tags: BTreeSet<String>,
    prices: BTreeSet<i64>,
    day: Option<i64>,
    rank: i64,
}

/// A facet, as it is asked for and as it is checked.
#[derive(Clone, Debug)]
struct Spec {
    what: What,
    within: Vec<Spec>,
    hits: usize,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Brands { limit: usize },
    Tags { limit: usize },
    Ranges,
    Steps(i64),
    Weeks,
    Prices,
}

/// Ranges of prices, some over each other and one that nothing is in.
const RANGES: [(i64, i64); 4] = [(-3, 4), (0, 9), (7, 7), (4, 400)];

impl What {
    fn field(self) -> &'static str {
        match self {
            What::Brands { .. } => "brand",
            What::Tags { .. } => "tags",
            What::Ranges | What::Steps(_) | What::Prices => "price",
            What::Weeks => "day",
        }
    }

    fn has_value(self, shown: &Shown) -> bool {
        match self.field() {
            "brand" => shown.brand.is_some(),
            "tags" => !shown.tags.is_empty(),
            "day" => shown.day.is_some(),
            _ => !shown.prices.is_empty(),
        }
    }
}

impl Spec {
    fn random(random: &mut Random, depth: usize) -> Self {
        let what = match random.below(if depth == 0 { 5 } else { 6 }) {
            0 => What::Brands { limit: [0, 2, 100][random.below(3)] },
            1 => What::Tags { limit: [1, 3, 100][random.below(3)] },
            2 => What::Ranges,
            3 => What::Steps([1, 5, 1_000][random.below(3)]),
            4 => What::Weeks,
            _ => What::Prices,
        };
        if matches!(what, What::Prices) {
            return Spec { what, within: vec![], hits: 0 };
        }
        let n_within = if depth >= 3 { 0 } else { random.below(3) };
        let within = (0..n_within).map(|_| Spec::random(random, depth + 1)).collect();
        Spec { what, within, hits: random.below(3) }
    }

    fn facet(&self) -> Facet {
        let facet: Facet = match self.what {
            What::Brands { limit } => Facet::values("brand").limit(limit).into(),
            What::Tags { limit } => Facet::values("tags").limit(limit).into(),
            What::Ranges => Facet::ranges("price", RANGES.map(|(from, to)| (from..to).into())),
            What::Steps(width) => Facet::histogram("price", width),
            What::Weeks => Facet::date_histogram("day", Interval::Week),
            What::Prices => Facet::statistics("price").distinct().into(),
        };
        let facet = self.within.iter().map(Spec::facet).fold(facet, Facet::with_facet);
        if self.hits > 0 { facet.top_hits(self.hits) } else { facet }
    }
}

struct Corpus {
    searcher: Searcher,
    documents: Vec<Shown>,
}

impl Corpus {
    fn new(seed: u64, n_docs: usize, commit_every: usize, deletes: bool) -> Self {
        let mut random = Random(seed);
        let schema = Schema::builder()
            .text("text")
            .field(Field::new("id", FieldKind::U64))
            .field(Field::new("brand", FieldKind::Keyword).column(seed.is_multiple_of(2)))
            .field(Field::new("tags", FieldKind::Keyword).many(true))
            .field(Field::new("price", FieldKind::I64).many(true))
            .field(Field::new("day", FieldKind::Date))
            .field(Field::new("rank", FieldKind::I64))
            .build()
            .unwrap();
        let index = Index::in_memory(schema);
        let mut writer = index.writer().unwrap();
        let mut documents = vec![];
        for id in 0..n_docs {
            if id % commit_every == commit_every - 1 {
                writer.commit().unwrap();
            }
            let is_in = [2, 3, 50, 1].map(|one_of| random.below(one_of) == 0);
            let words = WORDS.iter().zip(is_in).filter(|(_, is_in)| *is_in).map(|(word, _)| *word);
            let shown = Shown {
                id,
                words: words.collect(),
                brand: (random.below(6) > 0).then(|| format!("b{}", random.below(7))),
                tags: (0..random.below(4)).map(|_| format!("t{}", random.below(6))).collect(),
                prices: (0..random.below(4)).map(|_| random.below(30) as i64 - 9).collect(),
                // In runs, as time has them.
                day: (random.below(5) > 0).then_some((id / 100) as i64),
                rank: random.below(9) as i64,
            };
            let mut document = Document::new().with("text", shown.words.join(" "));
            document = document.with("id", id as u64).with("rank", shown.rank);
            if let Some(brand) = &shown.brand {
                document = document.with("brand", brand);
            }
            for tag in &shown.tags {
                document = document.with("tags", tag);
            }
            for price in &shown.prices {
                document = document.with("price", *price);
            }
            if let Some(day) = shown.day {
                document = document.with("day", Timestamp::from_micros(day * DAY).unwrap());
            }
            writer.add(document).unwrap();
            documents.push(shown);
        }
        writer.commit().unwrap();
        if deletes {
            writer.delete_value("brand", "b3").unwrap();
            writer.delete(&parse("text:rare", &ParseOptions::default()).unwrap()).unwrap();
            writer.commit().unwrap();
            documents.retain(|shown: &Shown| {
                shown.brand.as_deref() != Some("b3") && !shown.words.contains(&"rare")
            });
        }
        Corpus { searcher: index.searcher().unwrap(), documents }
    }
}

/// What a document must be to be in a bucket, lent and owned, and where a hit comes among others: the smaller come first.
type Condition<'k> = &'k dyn Fn(&Shown) -> bool;
type IsIn = Box<dyn Fn(&Shown) -> bool>;
type Place<'c> = Box<dyn Fn(&Shown) -> (Reverse<u32>, i64, usize) + 'c>;

/// Which documents a facet counts, and what hits are expected to be in order.
struct Checking<'c> {
    corpus: &'c Corpus,
    word: &'c str,
    /// By field.
    selections: BTreeMap<&'static str, Vec<String>>,
    /// The better come first.
    place: Place<'c>,
}

impl Checking<'_> {
    /// Those that have the word, all selections but those of the path, and the conditions of all buckets around.
    fn documents(&self, path: &[&str], within: &[Condition<'_>]) -> Vec<&Shown> {
        let is_selected = |shown: &Shown| {
            self.selections.iter().all(|(field, wanted)| {
                path.contains(field)
                    || match *field {
                        "brand" => shown.brand.iter().any(|brand| wanted.contains(brand)),
                        _ => shown.tags.iter().any(|tag| wanted.contains(tag)),
                    }
            })
        };
        let documents = self.corpus.documents.iter();
        let documents = documents.filter(|shown| shown.words.contains(&self.word));
        let documents = documents.filter(|shown| is_selected(shown));
        documents.filter(|shown| within.iter().all(|is_in| is_in(shown))).collect()
    }

    fn check(
        &self,
        spec: &Spec,
        counts: &FacetCounts,
        path: &mut Vec<&'static str>,
        within: &[Condition<'_>],
    ) {
        path.push(spec.what.field());
        let what =
            format!("{:?} within {path:?} of {} {:?}", spec.what, self.word, self.selections);
        let documents = self.documents(path, within);
        let missing = documents.iter().filter(|shown| !spec.what.has_value(shown)).count() as u64;
        assert_eq!(counts.missing, missing, "{what}");
        assert!(counts.exact, "{what}");
        let buckets: Vec<(String, IsIn)> = match spec.what {
            What::Brands { limit } => {
                let brands = documents.iter().flat_map(|shown| shown.brand.clone());
                let brand = |brand: String| {
                    let is_in = Box::new(move |shown: &Shown| shown.brand.as_ref() == Some(&brand));
                    is_in as IsIn
                };
                most(brands, limit).map(|value| (value.clone(), brand(value))).collect()
            }
            What::Tags { limit } => {
                let tags = documents.iter().flat_map(|shown| shown.tags.clone());
                let tag = |tag: String| {
                    let is_in = Box::new(move |shown: &Shown| shown.tags.contains(&tag));
                    is_in as IsIn
                };
                most(tags, limit).map(|value| (value.clone(), tag(value))).collect()
            }
            What::Ranges => RANGES.map(|(from, to)| range(from, to)).into(),
            What::Steps(width) => {
                let prices = documents.iter().flat_map(|shown| &shown.prices);
                let starts: BTreeSet<i64> =
                    prices.map(|price| price.div_euclid(width) * width).collect();
                starts.into_iter().map(|start| range(start, start + width)).collect()
            }
            What::Weeks => {
                // The first of January 1970 was a Thursday.
                let days = documents.iter().filter_map(|shown| shown.day);
                let starts: BTreeSet<i64> =
                    days.map(|day| (day + 3).div_euclid(7) * 7 - 3).collect();
                let week = |start: i64| {
                    let is_in = move |shown: &Shown| {
                        shown.day.is_some_and(|day| (start..start + 7).contains(&day))
                    };
                    let date = |day: i64| Timestamp::from_micros(day * DAY).unwrap().to_string();
                    let name = format!("{}..{}", date(start), date(start + 7));
                    (name, Box::new(is_in) as IsIn)
                };
                starts.into_iter().map(week).collect()
            }
            What::Prices => {
                let found = counts.statistics.as_ref().unwrap();
                let prices: Vec<i64> =
                    documents.iter().flat_map(|shown| shown.prices.clone()).collect();
                assert_eq!(counts.kind, FacetKind::Statistics);
                assert_eq!(found.count, prices.len() as u64, "{what}");
                let most = prices.iter().max().copied();
                assert_eq!(found.max, most.map_or(Value::Null, Value::I64), "{what}");
                let distinct = prices.into_iter().collect::<BTreeSet<_>>().len() as u64;
                assert_eq!(found.distinct, Some(distinct), "{what}");
                path.pop();
                return;
            }
        };
        let names: Vec<_> = counts.buckets.iter().map(name).collect();
        let expected: Vec<_> = buckets.iter().map(|(name, _)| name).collect();
        assert_eq!(names.iter().collect::<Vec<_>>(), expected, "{what}");
        for (bucket, (name, is_in)) in counts.buckets.iter().zip(&buckets) {
            let n = documents.iter().filter(|shown| is_in(shown)).count() as u64;
            assert_eq!(bucket.count, n, "{name} of {what}");
            self.check_bucket(spec, bucket, path, &[within, &[is_in]].concat());
        }
        let without = |shown: &Shown| !spec.what.has_value(shown);
        let is_asked_for = spec.hits > 0 || !spec.within.is_empty();
        assert_eq!(counts.missing_bucket.is_some(), missing > 0 && is_asked_for, "{what}");
        if let Some(bucket) = &counts.missing_bucket {
            assert_eq!(bucket.count, missing, "{what}");
            self.check_bucket(spec, bucket, path, &[within, &[&without]].concat());
        }
        path.pop();
    }

    fn check_bucket(
        &self,
        spec: &Spec,
        bucket: &Bucket,
        path: &mut Vec<&'static str>,
        within: &[Condition<'_>],
    ) {
        assert_eq!(bucket.facets.len(), spec.within.len());
        let mut best = self.documents(path, within);
        best.sort_by_key(|shown| (self.place)(shown));
        best.truncate(spec.hits);
        let id = |hit: &treepie::Hit| hit.fields["id"].to_string();
        let found: Vec<_> = bucket.hits.iter().map(id).collect();
        let best: Vec<_> = best.into_iter().map(|shown| shown.id.to_string()).collect();
        assert_eq!(found, best, "hits of {path:?} of {} {:?}", self.word, self.selections);
        for (spec, counts) in spec.within.iter().zip(&bucket.facets) {
            self.check(spec, counts, path, within);
        }
    }
}

/// Those that are there most often, of equal ones the smaller.
fn most(values: impl Iterator<Item = String>, limit: usize) -> impl Iterator<Item = String> {
    let mut counted = BTreeMap::<String, u64>::new();
    values.for_each(|value| *counted.entry(value).or_default() += 1);
    let mut counted: Vec<_> = counted.into_iter().collect();
    counted.sort_by_key(|(_, count)| Reverse(*count));
    counted.into_iter().map(|(value, _)| value).take(limit)
}

fn range(from: i64, to: i64) -> (String, IsIn) {
    let is_in = move |shown: &Shown| shown.prices.iter().any(|price| (from..to).contains(price));
    (format!("{from}..{to}"), Box::new(is_in))
}

fn name(bucket: &Bucket) -> String {
    match (&bucket.from, &bucket.to) {
        (Some(from), Some(to)) => format!("{from}..{to}"),
        _ => bucket.value.to_string(),
    }
}

/// The facets within another, without the best documents of each bucket.
fn facets(facet: &ExplainFacet) -> impl Iterator<Item = &ExplainFacet> {
    facet.within.iter().filter(|facet| facet.operator == "Facet")
}

impl Corpus {
    /// A search by chance, with facets within facets.
    fn check(&self, random: &mut Random) {
        let word = WORDS[random.below(4)];
        let mut selections = BTreeMap::new();
        for (field, first) in [("brand", "b"), ("tags", "t")] {
            if random.below(3) == 0 {
                let value = |random: &mut Random| format!("{first}{}", random.below(8));
                selections.insert(field, (0..1 + random.below(3)).map(|_| value(random)).collect());
            }
        }
        let specs: Vec<_> = (0..1 + random.below(2)).map(|_| Spec::random(random, 0)).collect();
        // Words of which the first is rarer score more in some than in others.
        let query = format!("{word} AND (half OR rare OR every)");
        let query = self.searcher.parse(&query).unwrap();
        let mut search = self.searcher.search(&query).limit(random.below(2) as u64).fields(["id"]);
        for (field, values) in &selections {
            let values: &Vec<String> = values;
            search = search.select(*field, values);
        }
        search = specs.iter().map(Spec::facet).fold(search, |search, it| search.with_facet(it));
        let place: Place<'_> = match random.below(3) {
            0 => {
                search = search.order(Order::Document);
                Box::new(|shown| (Reverse(0), 0, shown.id))
            }
            1 => {
                search = search.sort([SortKey::descending("rank")]);
                Box::new(|shown| (Reverse(0), -shown.rank, shown.id))
            }
            _ => {
                let all = self.searcher.search(&query).limit(200_000).fields(["id"]).run().unwrap();
                let score = |hit: treepie::Hit| {
                    let id: usize = hit.fields["id"].to_string().parse().unwrap();
                    (id, hit.score.unwrap().to_bits())
                };
                let scores: BTreeMap<usize, u32> = all.hits.into_iter().map(score).collect();
                Box::new(move |shown| (Reverse(scores[&shown.id]), 0, shown.id))
            }
        };
        let page = search.clone().run().unwrap();
        let checking = Checking { corpus: self, word, selections, place };
        assert_eq!(page.facets.len(), specs.len());
        for (spec, counts) in specs.iter().zip(&page.facets) {
            checking.check(spec, counts, &mut vec![], &[]);
        }
        let mut prepared = search.clone().prepare().unwrap();
        for _ in 0..2 {
            assert_eq!(prepared.run().unwrap().facets, page.facets);
        }
        let tree = search.analyze().unwrap();
        fn n_within(specs: &[Spec]) -> Vec<Vec<usize>> {
            specs
                .iter()
                .map(|spec| spec.within.iter().map(|it| it.within.len()).collect())
                .collect()
        }
        let shown = tree
            .facets
            .iter()
            .map(|facet| facets(facet).map(|it| facets(it).count()).collect::<Vec<_>>());
        assert_eq!(shown.collect::<Vec<_>>(), n_within(&specs));
        for facet in tree.facets.iter().flat_map(ExplainFacet::iter) {
            let (estimate, actual) = (facet.estimate.unwrap(), facet.actual.unwrap());
            let within = actual.within.unwrap_or(InBuckets::default());
            assert!(within.buckets <= estimate.buckets_upper, "{} of {tree}", facet.field);
            let bounds = if actual.within.is_some() { estimate.lower } else { 0 }..=estimate.upper;
            assert!(bounds.contains(&within.documents), "{} of {tree}", facet.field);
        }
    }
}

#[test]
fn what_is_counted_within_buckets_is_what_looking_at_every_document_gives() {
    for (seed, n_docs, commit_every, deletes) in [
        (1, 400, 1_000, false),
        (2, 1_500, 600, false),
        (3, 1_500, 700, true),
        (4, 70_000, 66_000, true),
    ] {
        let corpus = Corpus::new(seed, n_docs, commit_every, deletes);
        let mut random = Random(seed + 10);
        let n_checks = if n_docs > 10_000 { 4 } else { 60 };
        (0..n_checks).for_each(|_| corpus.check(&mut random));
    }
}

#[test]
fn the_plan_shows_what_was_counted_within_what() {
    let corpus = Corpus::new(2, 1_500, 600, false);
    let query = corpus.searcher.parse("half").unwrap();
    let colors = Facet::values("tags").limit(3).with_facet(Facet::statistics("price"));
    let brands = Facet::values("brand").limit(2).with_facet(colors).top_hits(1);
    let search = corpus.searcher.search(&query).select("tags", ["t1"]).with_facet(brands);
    let plan = search.clone().explain().unwrap();
    let text = plan.to_string();
    for line in [
        "Facet brand, top 2 of 21 terms\n",
        "   TopHits brand, the best document of each\n",
        "   Facet tags, top 3 of 18 terms, without the selections of it and what it lies within\n",
        // Two brands and what has none; in each of these three of the tags, and what has none.
        "      estimate  ≈ in 3 of at most 3 buckets with ",
        "         estimate  ≈ in 12 of at most 12 buckets with ",
        "✓ match without its selections",
        "✓ find the best of each bucket",
        "      Facet price, statistics, without the selections",
        "look into each bucket of brand",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    assert!(plan.facets[0].within[0].actual.is_none());
    let has_costs = |facet: &ExplainFacet| {
        facet.decisions.last().unwrap().estimated_cost_ns.is_some_and(|ns| ns > 0)
    };
    let way = &plan.facets[0].within[0].algorithm;
    assert!(way.ends_with(", or in each bucket what is cheapest there"), "{way}");
    assert!(has_costs(&plan.facets[0].within[0]), "{plan}");
    assert!(has_costs(&plan.facets[0].within[0].within[0]), "{plan}");
    let json: serde_json::Value = serde_json::from_str(&plan.to_json()).unwrap();
    assert_eq!(json["facets"][0]["within"][0]["estimate"]["buckets"], 3);
    assert!(json["facets"][0]["within"][0].get("actual").is_none());
    let tree = search.clone().analyze().unwrap();
    let of_tags = &tree.facets[0].within[0];
    // Two brands, and documents without one.
    assert!(of_tags.algorithm.ends_with("in 3 buckets"), "{}", of_tags.algorithm);
    assert!(of_tags.actual.is_some_and(|actual| actual.time_ns > 0));
    let of_price = of_tags.within[0].actual.unwrap();
    // What is counted is what the buckets have, whose documents are in several where they have several tags.
    let counts = search.clone().run().unwrap();
    let brands = &counts.facets[0];
    let of_brands = brands.buckets.iter().chain(brands.missing_bucket.as_deref());
    let (mut in_brands, mut in_tags) = (InBuckets::default(), InBuckets::default());
    for brand in of_brands {
        // Without the selection of a tag, so that as many documents match as have any tag or none.
        in_brands.buckets += 1;
        let tags = &brand.facets[0];
        for tag in tags.buckets.iter().chain(tags.missing_bucket.as_deref()) {
            in_tags.buckets += 1;
            in_tags.documents += tag.count;
        }
    }
    assert_eq!(of_tags.actual.unwrap().within.unwrap().buckets, in_brands.buckets, "{tree}");
    assert_eq!(of_price.within, Some(in_tags), "{tree}");
    assert!(of_price.column.is_some_and(|column| column.documents > 0), "{of_price:?}");
}

/// Ten brands of a hundred documents, each with four kilobytes of text.
fn text_index() -> Searcher {
    let index = Index::in_memory(Schema::builder().text("text").keyword("brand").build().unwrap());
    let mut writer = index.writer().unwrap();
    for nth in 0..1_000 {
        let document = Document::new().with("text", "word ".repeat(820));
        writer.add(document.with("brand", format!("b{}", nth % 10))).unwrap();
    }
    writer.commit().unwrap();
    index.searcher().unwrap()
}

/// Buckets of a few documents do not pay for all steps that the whole field spans.
#[test]
fn steps_within_buckets_take_what_the_buckets_have() {
    let schema = Schema::builder().keyword("brand").field(Field::new("at", FieldKind::I64));
    let index = Index::in_memory(schema.build().unwrap());
    let mut writer = index.writer().unwrap();
    for nth in 0..3_000i64 {
        let document = Document::new().with("brand", format!("b{:03}", nth / 10));
        writer.add(document.with("at", nth * 20)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let all = searcher.parse("*").unwrap();
    let within = Facet::histogram("at", 1);
    let brands = Facet::values("brand").limit(300).with_facet(within.clone());
    let search = searcher
        .search(&all)
        .limit(0)
        .budget(Budget::new().memory_bytes(4 << 20))
        .with_facet(brands);
    let page = search.run().unwrap();
    for (nth, brand) in page.facets[0].buckets.iter().enumerate() {
        let found = brand.facets[0].buckets.iter().map(|it| (it.from.clone().unwrap(), it.count));
        let expected = (0..10).map(|of| (((nth * 10 + of) as i64 * 20).into(), 1));
        assert!(found.eq(expected), "{brand:?}");
    }
    assert_eq!(page.facets[0].buckets.len(), 300);
}

#[test]
fn what_cannot_be_counted_within_is_refused_and_limits_hold() {
    let corpus = Corpus::new(2, 1_500, 600, false);
    let query = corpus.searcher.parse("every").unwrap();
    let refused = |facet: Facet, kind: ErrorKind, words: &str| {
        let error = corpus.searcher.search(&query).with_facet(facet).run().unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(words), "{words} in {error}");
    };
    let brand = || Facet::from(Facet::values("brand"));
    let within_statistics = Facet::from(Facet::statistics("price")).with_facet(brand());
    refused(within_statistics.clone(), ErrorKind::Usage, "found statistics of 'price'");
    refused(brand().with_facet(within_statistics), ErrorKind::Usage, "a facet that has buckets");
    refused(brand().with_facet(Facet::values("nope")), ErrorKind::Usage, "found 'nope'");
    refused(brand().with_facet(Facet::histogram("tags", 2)), ErrorKind::Usage, "numbers or dates");
    let deep = |n: usize| (1..n).fold(brand(), |inner, _| brand().with_facet(inner));
    refused(deep(FACET_DEPTH_MAX + 1), ErrorKind::Usage, "at most 8 within each other, found 9");
    assert!(corpus.searcher.search(&query).with_facet(deep(3)).run().is_ok());
    let ids = Facet::values("id").limit(10_000).top_hits(1);
    let many = Facet::ranges("rank", (0..60).map(|_| (0..9).into())).with_facet(ids);
    refused(many, ErrorKind::LimitExceeded, "at most 65536 buckets");

    let brands = || brand().with_facet(Facet::values("tags")).top_hits(2);
    let search = || corpus.searcher.search(&query).with_facet(brands());
    let error = search().budget(Budget::new().memory_bytes(2_000)).run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    // What is stored of the hits of buckets is held, however little their numbers take.
    let texts = text_index();
    let all = texts.parse("*").unwrap();
    let search_texts = |n: usize| {
        let brands = Facet::values("brand").top_hits(n);
        texts.search(&all).limit(0).with_facet(brands).budget(Budget::new().memory_bytes(1 << 20))
    };
    assert!(search_texts(2).run().is_ok());
    let error = search_texts(40).run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
    assert!(search_texts(40).fields(["brand"]).run().is_ok(), "nor that of other fields");

    let token = CancelToken::new();
    token.cancel();
    assert_eq!(
        search().budget(Budget::new().cancel(&token)).run().unwrap_err().kind(),
        ErrorKind::Cancelled
    );
    let partial = search().timeout(std::time::Duration::ZERO).partial().run().unwrap();
    assert!(partial.stopped.is_some() && !partial.facets[0].exact);
}
