//! What a page of results has beside its hits: counts by value, by ranges, by months, and hits in the order of a field, by how
//! many documents match.

use std::{collections::BTreeMap, fs, path::Path};

use tantivy::{
    DateTime, Order, TantivyDocument, Term,
    aggregation::{
        AggContextParams, AggregationCollector, agg_req::Aggregations,
        agg_result::AggregationResults,
    },
    collector::TopDocs,
    query::{AllQuery, Query, TermQuery},
    schema::{FAST, IndexRecordOption, STRING, SchemaBuilder},
};
use treepie::{
    Decimal, Document, FacetMethod, FacetRange, Field, FieldKind, Hits, Index, Interval, SortKey,
    Timestamp, WriterOptions,
};

use crate::{
    Result,
    build::{create_tantivy, merge_all},
    measure,
};

const ROUNDS: usize = 11;
const N_VALUES: u64 = 300;
const TOP: usize = 10;
/// Ends of the ranges of prices, in cents.
const PRICES: [i64; 9] = [300, 600, 1_000, 1_500, 2_000, 3_000, 4_500, 7_500, 15_000];
/// From 2019 on, so many seconds of five years.
const FIRST_SECOND: i64 = 1_546_300_800;
const SECONDS: u64 = 5 * 365 * 86_400;
/// A mark and the one in how many documents that has it; the last is asked for as "everything".
const MARKS: [(&str, u64); 4] =
    [("thousandth", 1000), ("hundredth", 100), ("tenth", 10), ("every", 1)];

/// What is asked for, by both engines if not said otherwise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    Brands,
    /// Of treepie alone: in each of its ways.
    BrandsBy(usize),
    Prices,
    /// Of 30 days in tantivy, which knows no months.
    Months,
    ByPrice,
    /// Of treepie alone.
    ByPriceAndDate,
}

const WAYS: [(&str, FacetMethod); 3] = [
    ("brands, frequent first", FacetMethod::MostFrequentFirst),
    ("brands, dictionary", FacetMethod::Dictionary),
    ("brands, column", FacetMethod::Column),
];

const TASKS: [(&str, Task); 8] = [
    ("top 10 brands", Task::Brands),
    (WAYS[0].0, Task::BrandsBy(0)),
    (WAYS[1].0, Task::BrandsBy(1)),
    (WAYS[2].0, Task::BrandsBy(2)),
    ("10 price ranges", Task::Prices),
    ("months", Task::Months),
    ("first 10 by price", Task::ByPrice),
    ("by price and date", Task::ByPriceAndDate),
];

pub(crate) fn compare(dir: &str, documents: &str) -> Result<()> {
    let documents: u64 = documents.parse()?;
    let (tantivy, treepie) = (
        Path::new(dir).join(format!("products-tantivy-{documents}")),
        Path::new(dir).join(format!("products-treepie-{documents}")),
    );
    for (at, build) in
        [(&tantivy, build_tantivy as fn(u64, &Path) -> Result<()>), (&treepie, build_treepie)]
    {
        if !at.exists() {
            eprintln!("building {}", at.display());
            fs::create_dir_all(dir)?;
            let (time, ()) = measure::time(|| build(documents, at))?;
            eprintln!("{:.1} s, {} MiB", time / 1e6, measure::size_of(at)? >> 20);
        }
    }
    let (tantivy, treepie) = (Tantivy::open(&tantivy)?, Treepie::open(&treepie)?);
    println!("{documents} documents, µs, median of {ROUNDS} rounds");
    println!("{:>24}{:>12}{:>11}{:>11}{:>8}", "", "selectivity", "tantivy", "treepie", "ratio");
    for (name, task) in TASKS {
        for (mark, one_in) in MARKS {
            let (mut of_tantivy, mut of_treepie) = (vec![], vec![]);
            for round in 0..=ROUNDS {
                let (time, expected) = measure::time(|| tantivy.run(task, mark))?;
                let (own_time, found) = measure::time(|| treepie.run(task, mark))?;
                let found = counts_of_treepie(task, &found);
                if let Some(expected) = expected.map(|found| found.counts(task)).transpose()?
                    && expected != found
                {
                    return Err(format!("{mark}: tantivy {expected:?}, treepie {found:?}").into());
                }
                if round > 0 {
                    of_tantivy.push(time);
                    of_treepie.push(own_time);
                }
            }
            let (of_tantivy, of_treepie) =
                (measure::median(&mut of_tantivy), measure::median(&mut of_treepie));
            let selectivity = format!("{} %", 100.0 / one_in as f64);
            match tantivy.knows(task) {
                true => println!(
                    "{name:>24}{selectivity:>12}{of_tantivy:>11.1}{of_treepie:>11.1}{:>8.2}",
                    of_tantivy / of_treepie
                ),
                false => println!("{name:>24}{selectivity:>12}{:>11}{of_treepie:>11.1}", ""),
            }
        }
    }
    Ok(())
}

/// A document, as both engines get it.
struct Product<'p> {
    brand: &'p str,
    cents: i64,
    second: i64,
    marks: Vec<&'static str>,
}

/// Calls `take` with every document: brands by Zipf's law, prices log-normal, dates and marks by chance, all from its number
/// alone.
fn each_document(n: u64, mut take: impl FnMut(&Product<'_>) -> Result<()>) -> Result<()> {
    let brands: Vec<String> = (1..=N_VALUES).map(|rank| format!("brand {rank:03}")).collect();
    let mut total = 0.0;
    let up_to: Vec<f64> = (1..=N_VALUES)
        .map(|rank| {
            total += 1.0 / rank as f64;
            total
        })
        .collect();
    let fraction = |x: u64| (mix(x) >> 11) as f64 / (1u64 << 53) as f64;
    for number in 0..n {
        let brand = &brands[up_to.partition_point(|sum| *sum <= fraction(number) * total)];
        let [a, b] = [5u64, 6].map(|at| fraction(number ^ (at << 56)));
        let normal = (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos();
        let mut marks = vec![];
        for (at, (mark, one_in)) in MARKS.iter().enumerate() {
            if mix(number ^ ((at as u64 + 1) << 56)).is_multiple_of(*one_in) {
                marks.push(*mark);
            }
        }
        let second = FIRST_SECOND + (mix(number ^ (7 << 56)) % SECONDS) as i64;
        take(&Product { brand, cents: (7.5 + normal).exp() as i64, second, marks })?;
    }
    Ok(())
}

/// SplitMix64's output function.
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn build_tantivy(documents: u64, dir: &Path) -> Result<()> {
    let mut schema = SchemaBuilder::new();
    let brand = schema.add_text_field("brand", STRING | FAST);
    let price = schema.add_i64_field("price", FAST);
    let since = schema.add_date_field("since", FAST);
    let mark = schema.add_text_field("mark", STRING);
    let index = create_tantivy(dir, schema.build())?;
    let mut writer = index.writer_with_num_threads(2, 512 << 20)?;
    each_document(documents, |product| {
        let mut document = TantivyDocument::new();
        document.add_text(brand, product.brand);
        document.add_i64(price, product.cents);
        document.add_date(since, DateTime::from_timestamp_secs(product.second));
        product.marks.iter().for_each(|name| document.add_text(mark, name));
        writer.add_document(document)?;
        Ok(())
    })?;
    writer.commit()?;
    merge_all(&index, writer)
}

struct Tantivy {
    searcher: tantivy::Searcher,
    queries: BTreeMap<&'static str, Box<dyn Query>>,
    requests: BTreeMap<Task, Aggregations>,
}

enum Found {
    Buckets(AggregationResults),
    Prices(Vec<i64>),
}

impl Tantivy {
    fn open(dir: &Path) -> Result<Self> {
        let index = tantivy::Index::open_in_dir(dir)?;
        let mark = index.schema().get_field("mark")?;
        let query = |name: &str| -> Box<dyn Query> {
            if name == MARKS[3].0 {
                return Box::new(AllQuery);
            }
            Box::new(TermQuery::new(Term::from_field_text(mark, name), IndexRecordOption::Basic))
        };
        let from = [None].into_iter().chain(PRICES.map(Some));
        let ranges: Vec<_> = from
            .zip(PRICES.map(Some).into_iter().chain([None]))
            .map(|(from, to)| match (from, to) {
                (Some(from), Some(to)) => serde_json::json!({"from": from, "to": to}),
                (Some(from), None) => serde_json::json!({"from": from}),
                (None, to) => serde_json::json!({"to": to}),
            })
            .collect();
        let requests = [
            (Task::Brands, serde_json::json!({"terms": {"field": "brand", "size": TOP}})),
            (Task::Prices, serde_json::json!({"range": {"field": "price", "ranges": ranges}})),
            (
                Task::Months,
                serde_json::json!({"date_histogram": {"field": "since", "fixed_interval": "30d"}}),
            ),
        ];
        let mut by_task = BTreeMap::new();
        for (task, request) in requests {
            by_task.insert(task, serde_json::from_value(serde_json::json!({"top": request}))?);
        }
        Ok(Tantivy {
            searcher: index.reader()?.searcher(),
            queries: MARKS.map(|(name, _)| (name, query(name))).into(),
            requests: by_task,
        })
    }

    fn knows(&self, task: Task) -> bool {
        self.requests.contains_key(&task) || task == Task::ByPrice
    }

    fn run(&self, task: Task, mark: &str) -> Result<Option<Found>> {
        let query = &*self.queries[mark];
        if let Some(request) = self.requests.get(&task) {
            let collector =
                AggregationCollector::from_aggs(request.clone(), AggContextParams::default());
            return Ok(Some(Found::Buckets(self.searcher.search(query, &collector)?)));
        }
        if task != Task::ByPrice {
            return Ok(None);
        }
        let top = TopDocs::with_limit(TOP).order_by_fast_field::<i64>("price", Order::Asc);
        let first = self.searcher.search(query, &top)?;
        Ok(Some(Found::Prices(first.into_iter().filter_map(|(price, _)| price).collect())))
    }
}

impl Found {
    /// What must be the same in all engines. Values with equal counts come in tantivy's own order, and its months are
    /// others: so only counts are compared, and of months their sum.
    fn counts(self, task: Task) -> Result<Vec<i64>> {
        let found = match self {
            Found::Prices(prices) => return Ok(prices),
            Found::Buckets(found) => serde_json::to_value(found)?,
        };
        let buckets = found["top"]["buckets"].as_array().ok_or("no buckets")?;
        let counts = buckets.iter().filter_map(|bucket| bucket["doc_count"].as_i64());
        Ok(if task == Task::Months { vec![counts.sum()] } else { counts.collect() })
    }
}

fn build_treepie(documents: u64, dir: &Path) -> Result<()> {
    let schema = treepie::Schema::builder()
        .field(Field::new("brand", FieldKind::Keyword).stored(false).column(true))
        .field(Field::new("price", FieldKind::Decimal { scale: 2 }).stored(false))
        .field(Field::new("since", FieldKind::Date).stored(false))
        .field(Field::new("mark", FieldKind::Keyword).stored(false).many(true))
        .build()?;
    let index = Index::create(dir, schema)?;
    let mut writer = index.writer_with(WriterOptions::new().memory_bytes(512 << 20))?;
    each_document(documents, |product| {
        let since = Timestamp::from_micros(product.second * 1_000_000).ok_or("a date")?;
        let mut document = Document::new()
            .with("brand", product.brand)
            .with("price", Decimal::new(product.cents, 2).ok_or("a price")?)
            .with("since", since);
        product.marks.iter().for_each(|name| document.push("mark", *name));
        Ok(writer.add(document)?)
    })?;
    writer.commit()?;
    Ok(())
}

struct Treepie {
    searcher: treepie::Searcher,
    queries: BTreeMap<&'static str, treepie::query::Query>,
    prices: Vec<FacetRange>,
}

impl Treepie {
    fn open(dir: &Path) -> Result<Self> {
        let searcher = Index::open(dir)?.searcher()?;
        let mut queries = BTreeMap::new();
        for (name, one_in) in MARKS {
            let text = if one_in == 1 { "*".into() } else { format!("mark:{name}") };
            queries.insert(name, searcher.parse(&text)?);
        }
        let ends = PRICES.map(|cents| Decimal::new(cents, 2));
        let from = [None].into_iter().chain(ends);
        let prices = from
            .zip(ends.into_iter().chain([None]))
            .map(|(from, to)| FacetRange::new(from, to))
            .collect();
        Ok(Treepie { searcher, queries, prices })
    }

    fn run(&self, task: Task, mark: &str) -> Result<Hits> {
        let search = self.searcher.search(&self.queries[mark]);
        let search = match task {
            Task::Brands => search.facet("brand", TOP).count_only(),
            Task::BrandsBy(way) => search.facet_by("brand", TOP, WAYS[way].1).count_only(),
            Task::Prices => search.facet_ranges("price", self.prices.iter().cloned()).count_only(),
            Task::Months => search.facet_intervals("since", Interval::Month).count_only(),
            Task::ByPrice => search.sort([SortKey::ascending("price")]).limit(TOP as u64),
            Task::ByPriceAndDate => search
                .sort([SortKey::ascending("price"), SortKey::descending("since")])
                .limit(TOP as u64),
        };
        Ok(search.run()?)
    }
}

fn counts_of_treepie(task: Task, found: &Hits) -> Vec<i64> {
    let counts = || found.facets[0].buckets.iter().map(|bucket| bucket.count as i64);
    match task {
        Task::Brands | Task::BrandsBy(_) | Task::Prices => counts().collect(),
        Task::Months => vec![counts().sum()],
        Task::ByPrice | Task::ByPriceAndDate => {
            let price = |hit: &treepie::Hit| match hit.sort[0] {
                treepie::Value::Decimal(price) => price.unscaled(),
                _ => -1,
            };
            found.hits.iter().map(price).collect()
        }
    }
}
