//! What a page of results has beside its hits: counts by value, by ranges, by months, and hits in the order of a field, by how
//! many documents match; a whole page with two selections; and whether the way that is chosen for a facet was the best.

use std::{collections::BTreeMap, fs, path::Path};

use tantivy::{
    DateTime, Order, TantivyDocument, Term,
    aggregation::{
        AggContextParams, AggregationCollector, agg_req::Aggregations,
        agg_result::AggregationResults,
    },
    collector::{Count, TopDocs},
    query::{AllQuery, BooleanQuery, Occur, Query, TermQuery},
    schema::{
        DateOptions, FAST, INDEXED, IndexRecordOption, NumericOptions, STRING, SchemaBuilder,
    },
};
use treepie::facet::{FacetMethod, FacetRange};
use treepie::value::Interval;
use treepie::{
    Decimal, Document, Facet, Field, FieldKind, Hits, Index, SearchBuilder, SortKey, Timestamp,
    WriterOptions,
};

mod croaring;
mod products;
#[cfg(feature = "seekstorm")]
mod seekstorm;

use crate::{
    Result,
    build::{create_tantivy, merge_all},
    measure,
};
use products::{MARKS, PRICES, each_document};

const ROUNDS: usize = 11;
/// Of the ways of a facet, some of which take seconds.
const GRID_ROUNDS: usize = 5;
const TOP: usize = 10;
/// What is selected on a page.
const BRANDS_SELECTED: [&str; 2] = ["brand 001", "brand 003"];
const COLORS_SELECTED: [&str; 3] = ["blue", "green", "red"];
/// Parts of a page: the hits, and five facets, of which those of brands and colors are selected.
const PARTS: usize = 6;

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
    /// Hits by score, the total and five facets, two of which have a selection.
    Page,
    /// Of treepie alone, as its parts are, with nothing of another engine in between that empties the caches.
    PageAlone,
    /// Of treepie alone: one part of a page.
    Part(usize),
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

type Build = fn(u64, &Path) -> Result<()>;

pub(crate) fn compare(dir: &str, documents: &str) -> Result<()> {
    let documents: u64 = documents.parse()?;
    let [tantivy, with_lists, treepie] = ["tantivy", "tantivy-lists", "treepie"]
        .map(|name| Path::new(dir).join(format!("products-{name}-{documents}")));
    let builds: [(&Path, Build); 3] = [
        (&tantivy, |documents, dir| build_tantivy(documents, dir, FAST)),
        // What treepie keeps of numbers; nothing is asked of it but how large it is.
        (&with_lists, |documents, dir| build_tantivy(documents, dir, FAST | INDEXED)),
        (&treepie, build_treepie),
    ];
    for (at, build) in builds {
        if !at.exists() {
            eprintln!("building {}", at.display());
            fs::create_dir_all(dir)?;
            let before = measure::cpu()?;
            let (time, ()) = measure::time(|| build(documents, at))?;
            let (seconds, cpu) = (time / 1e6, measure::cpu()? - before);
            let mib = measure::size_of(at)? >> 20;
            eprintln!("{seconds:.1} s, {cpu:.1} s of processor time, {mib} MiB");
        }
    }
    let (tantivy, treepie) = (Tantivy::open(&tantivy)?, Treepie::open(&treepie)?);
    let mut others = others(dir, documents)?;
    let runs = Runs { tantivy, treepie };
    println!("{documents} documents, µs, median of {ROUNDS} rounds");
    print!("{:>24}{:>12}{:>11}", "", "selectivity", "tantivy");
    others.iter().for_each(|other| print!("{:>11}", other.name()));
    println!("{:>11}{:>8}", "treepie", "ratio");
    for (name, task) in TASKS {
        for (mark, one_in) in MARKS {
            let (of_tantivy, of_treepie) = runs.medians(task, mark)?;
            let of_others = others
                .iter_mut()
                .map(|other| median_of(&mut **other, task, mark, &runs.treepie))
                .collect::<Result<Vec<Option<f64>>>>()?;
            let selectivity = format!("{} %", 100.0 / one_in as f64);
            let of_tantivy = runs.tantivy.knows(task).then_some(of_tantivy);
            let shown = |time: Option<f64>| time.map_or(String::new(), |time| format!("{time:.1}"));
            print!("{name:>24}{selectivity:>12}{:>11}", shown(of_tantivy));
            of_others.iter().for_each(|time| print!("{:>11}", shown(*time)));
            // Of the floor, which is no engine, nobody is asked to be better.
            let peers = others.iter().zip(&of_others).filter(|(other, _)| other.is_peer());
            let best = peers.filter_map(|(_, time)| *time).chain(of_tantivy).reduce(f64::min);
            let ratio = best.map_or(String::new(), |best| format!("{:.2}", best / of_treepie));
            println!("{of_treepie:>11.1}{ratio:>8}");
        }
    }
    println!("\na page: {TOP} hits by score, the total, five facets, two with a selection");
    println!(
        "{:>24}{:>11}{:>11}{:>8}{:>11}{:>15}{:>8}",
        "", "tantivy", "treepie", "ratio", "alone", "sum of parts", "share"
    );
    for (mark, one_in) in MARKS {
        let (of_tantivy, page) = runs.medians(Task::Page, mark)?;
        let parts: Vec<f64> = (0..PARTS)
            .map(|part| Ok(runs.medians(Task::Part(part), mark)?.1))
            .collect::<Result<_>>()?;
        let (sum, selectivity) =
            (parts.iter().sum::<f64>(), format!("{} %", 100.0 / one_in as f64));
        let alone = runs.medians(Task::PageAlone, mark)?.1;
        let (ratio, share) = (of_tantivy / page, alone / sum);
        println!(
            "{selectivity:>24}{of_tantivy:>11.1}{page:>11.1}{ratio:>8.2}{alone:>11.1}{sum:>15.1}{share:>8.2}"
        );
    }
    runs.treepie.print_grid()
}

/// What else is asked some of the same: an engine, or a floor.
trait Other {
    fn name(&self) -> &'static str;

    fn is_peer(&self) -> bool;

    /// Counts as treepie's in a task that it knows.
    fn run(&mut self, task: Task, mark: &str) -> Result<Option<Vec<i64>>>;
}

fn others(dir: &str, documents: u64) -> Result<Vec<Box<dyn Other>>> {
    let mut others: Vec<Box<dyn Other>> = vec![];
    #[cfg(feature = "seekstorm")]
    others.push(Box::new(seekstorm::SeekStorm::open(dir, documents)?));
    let _ = dir;
    others.push(Box::new(croaring::Floor::new(documents)?));
    Ok(others)
}

/// What a task takes another engine, which must agree with treepie; `None` where it does not know the task.
fn median_of(
    other: &mut dyn Other,
    task: Task,
    mark: &str,
    treepie: &Treepie,
) -> Result<Option<f64>> {
    let expected = counts_of_treepie(task, &treepie.run(task, mark)?);
    let mut times = vec![];
    for round in 0..=ROUNDS {
        let (time, found) = measure::time(|| other.run(task, mark))?;
        let Some(found) = found else { return Ok(None) };
        if found != expected {
            return Err(format!("{mark}: {} {found:?}, treepie {expected:?}", other.name()).into());
        }
        if round > 0 {
            times.push(time);
        }
    }
    Ok(Some(measure::median(&mut times)))
}

struct Runs {
    tantivy: Tantivy,
    treepie: Treepie,
}

impl Runs {
    /// What a task takes both engines, which must agree about what they find.
    fn medians(&self, task: Task, mark: &str) -> Result<(f64, f64)> {
        let (mut of_tantivy, mut of_treepie) = (vec![], vec![]);
        for round in 0..=ROUNDS {
            let (time, expected) = measure::time(|| self.tantivy.run(task, mark))?;
            let (own_time, found) = measure::time(|| self.treepie.run(task, mark))?;
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
        Ok((measure::median(&mut of_tantivy), measure::median(&mut of_treepie)))
    }
}

/// Of numbers and dates so much is kept.
fn build_tantivy<K>(documents: u64, dir: &Path, of_numbers: K) -> Result<()>
where
    K: Into<NumericOptions> + Into<DateOptions> + Clone,
{
    let mut schema = SchemaBuilder::new();
    let brand = schema.add_text_field("brand", STRING | FAST);
    let color = schema.add_text_field("color", STRING | FAST);
    let price = schema.add_i64_field("price", of_numbers.clone());
    let since = schema.add_date_field("since", of_numbers);
    let mark = schema.add_text_field("mark", STRING);
    let index = create_tantivy(dir, schema.build())?;
    let mut writer = index.writer_with_num_threads(2, 512 << 20)?;
    each_document(documents, |product| {
        let mut document = TantivyDocument::new();
        document.add_text(brand, product.brand);
        document.add_text(color, product.color);
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
    /// What is selected, of brands and of colors.
    selections: [Box<dyn Query>; 2],
    /// Facets of a page: that of brands, that of colors, and the others.
    page: [Aggregations; 3],
}

enum Found {
    Buckets(AggregationResults),
    Prices(Vec<i64>),
    /// The total, and counts of brands, of colors and of prices.
    Page(u64, [AggregationResults; 3]),
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
        let colors = serde_json::json!({"terms": {"field": "color", "size": TOP}});
        let years =
            serde_json::json!({"date_histogram": {"field": "since", "fixed_interval": "365d"}});
        let [(_, brands), (_, prices), (_, months)] = &requests;
        let page = [
            serde_json::json!({"top": brands}),
            serde_json::json!({"top": colors}),
            serde_json::json!({"top": prices, "months": months, "years": years}),
        ];
        let [a, b, c] = page.map(serde_json::from_value);
        let page = [a?, b?, c?];
        let mut by_task = BTreeMap::new();
        for (task, request) in requests {
            by_task.insert(task, serde_json::from_value(serde_json::json!({"top": request}))?);
        }
        let selection = |field: &str, values: &[&str]| -> Result<Box<dyn Query>> {
            let field = index.schema().get_field(field)?;
            let terms = values.iter().map(|value| Term::from_field_text(field, value));
            let of_term = |term| -> Box<dyn Query> {
                Box::new(TermQuery::new(term, IndexRecordOption::Basic))
            };
            Ok(Box::new(BooleanQuery::union(terms.map(of_term).collect())))
        };
        let selections =
            [selection("brand", &BRANDS_SELECTED)?, selection("color", &COLORS_SELECTED)?];
        Ok(Tantivy {
            searcher: index.reader()?.searcher(),
            queries: MARKS.map(|(name, _)| (name, query(name))).into(),
            requests: by_task,
            selections,
            page,
        })
    }

    /// As tantivy has no selections, three searches: the hits and the facets without one, and each facet with one without it.
    fn page(&self, query: &dyn Query) -> Result<Found> {
        let [brands, colors] = &self.selections;
        let with = |selections: &[&dyn Query]| {
            let parts = [(Occur::Must, query.box_clone())].into_iter();
            let selections = selections.iter().map(|it| (Occur::Must, it.box_clone()));
            BooleanQuery::new(parts.chain(selections).collect())
        };
        let facets = |nth: usize| {
            AggregationCollector::from_aggs(self.page[nth].clone(), AggContextParams::default())
        };
        let all = (TopDocs::with_limit(TOP).order_by_score(), Count, facets(2));
        let (_, total, others) = self.searcher.search(&with(&[&**brands, &**colors]), &all)?;
        let of_brands = self.searcher.search(&with(&[&**colors]), &facets(0))?;
        let of_colors = self.searcher.search(&with(&[&**brands]), &facets(1))?;
        Ok(Found::Page(total as u64, [of_brands, of_colors, others]))
    }

    fn knows(&self, task: Task) -> bool {
        self.requests.contains_key(&task) || matches!(task, Task::ByPrice | Task::Page)
    }

    fn run(&self, task: Task, mark: &str) -> Result<Option<Found>> {
        let query = &*self.queries[mark];
        if let Some(request) = self.requests.get(&task) {
            let collector =
                AggregationCollector::from_aggs(request.clone(), AggContextParams::default());
            return Ok(Some(Found::Buckets(self.searcher.search(query, &collector)?)));
        }
        match task {
            Task::Page => return self.page(query).map(Some),
            Task::ByPrice => {}
            _ => return Ok(None),
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
            Found::Page(total, facets) => {
                let mut counts = vec![total as i64];
                for facet in facets {
                    counts.extend(Self::of_buckets(facet)?);
                }
                return Ok(counts);
            }
            Found::Buckets(found) => Self::of_buckets(found)?,
        };
        Ok(if task == Task::Months { vec![found.iter().sum()] } else { found })
    }

    fn of_buckets(found: AggregationResults) -> Result<Vec<i64>> {
        let found = serde_json::to_value(found)?;
        let buckets = found["top"]["buckets"].as_array().ok_or("no buckets")?;
        Ok(buckets.iter().filter_map(|bucket| bucket["doc_count"].as_i64()).collect())
    }
}

fn build_treepie(documents: u64, dir: &Path) -> Result<()> {
    let schema = treepie::Schema::builder()
        .field(Field::new("brand", FieldKind::Keyword).stored(false).column(true))
        .field(Field::new("color", FieldKind::Keyword).stored(false).column(true))
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
            .with("color", product.color)
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
            Task::BrandsBy(way) => search
                .with_facet(Facet::values("brand").limit(TOP).method(WAYS[way].1))
                .count_only(),
            Task::Prices => {
                search.with_facet(Facet::ranges("price", self.prices.iter().cloned())).count_only()
            }
            Task::Months => {
                search.with_facet(Facet::date_histogram("since", Interval::Month)).count_only()
            }
            Task::ByPrice => search.sort([SortKey::ascending("price")]).limit(TOP as u64),
            Task::ByPriceAndDate => search
                .sort([SortKey::ascending("price"), SortKey::descending("since")])
                .limit(TOP as u64),
            Task::Page | Task::PageAlone => {
                (1..PARTS).fold(self.part(search, 0), |page, part| self.part(page, part))
            }
            Task::Part(0) => self.part(search, 0),
            Task::Part(part) => {
                let selected =
                    search.select("brand", BRANDS_SELECTED).select("color", COLORS_SELECTED);
                self.part(selected, part).count_only()
            }
        };
        Ok(search.run()?)
    }

    /// The page so far with one more part, the first of which has the selections.
    fn part<'s>(&self, search: SearchBuilder<'s>, part: usize) -> SearchBuilder<'s> {
        match part {
            0 => search
                .select("brand", BRANDS_SELECTED)
                .select("color", COLORS_SELECTED)
                .limit(TOP as u64),
            1 => search.facet("brand", TOP),
            2 => search.facet("color", TOP),
            3 => search.with_facet(Facet::ranges("price", self.prices.iter().cloned())),
            4 => search.with_facet(Facet::date_histogram("since", Interval::Month)),
            _ => search.with_facet(Facet::date_histogram("since", Interval::Year)),
        }
    }

    /// Facets of fields in each way that there is, beside the one that is chosen.
    fn print_grid(&self) -> Result<()> {
        println!("\nthe way that is chosen for the {TOP} most frequent values, µs");
        print!("{:>12}{:>12}", "field", "selectivity");
        WAYS.iter().for_each(|(name, _)| print!("{:>16}", name.trim_start_matches("brands, ")));
        println!("{:>16}{:>8}", "chosen", "/ best");
        let (mut of_chosen, mut of_best, mut n_near, mut n_cells) = (0.0, 0.0, 0, 0);
        for field in ["brand", "color", "mark", "price"] {
            for (mark, one_in) in MARKS {
                let search = || self.searcher.search(&self.queries[mark]).count_only();
                let (mut best, mut shown) = (f64::INFINITY, String::new());
                for (_, way) in WAYS {
                    // A field without a column has no such way.
                    let time = match field {
                        "mark" if way == FacetMethod::Column => f64::INFINITY,
                        _ => grid_median(|| {
                            search().with_facet(Facet::values(field).limit(TOP).method(way))
                        })?,
                    };
                    best = best.min(time);
                    shown += &format!("{time:>16.1}");
                }
                let chosen = grid_median(|| search().facet(field, TOP))?;
                let selectivity = format!("{} %", 100.0 / one_in as f64);
                let ratio = chosen / best;
                println!("{field:>12}{selectivity:>12}{shown}{chosen:>16.1}{ratio:>8.2}");
                of_chosen += chosen;
                of_best += best;
                n_cells += 1;
                n_near += u32::from(ratio <= 1.25 || chosen <= best + 5.0);
            }
        }
        println!(
            "in all {:.3} times the best; {n_near} of {n_cells} within 1.25 times or 5 µs",
            of_chosen / of_best
        );
        Ok(())
    }
}

fn grid_median<'s>(search: impl Fn() -> SearchBuilder<'s>) -> Result<f64> {
    let mut times = vec![];
    for round in 0..=GRID_ROUNDS {
        let (time, _) = measure::time(|| Ok(search().run()?))?;
        if round > 0 {
            times.push(time);
        }
    }
    Ok(measure::median(&mut times))
}

fn counts_of_treepie(task: Task, found: &Hits) -> Vec<i64> {
    let counts = || found.facets[0].buckets.iter().map(|bucket| bucket.count as i64);
    match task {
        Task::Brands | Task::BrandsBy(_) | Task::Prices => counts().collect(),
        Task::Months => vec![counts().sum()],
        Task::Page => {
            let of_three = found.facets[..3].iter().flat_map(|facet| &facet.buckets);
            let total = found.total.value as i64;
            [total].into_iter().chain(of_three.map(|bucket| bucket.count as i64)).collect()
        }
        Task::Part(_) | Task::PageAlone => vec![],
        Task::ByPrice | Task::ByPriceAndDate => {
            let price = |hit: &treepie::Hit| match hit.sort[0] {
                treepie::Value::Decimal(price) => price.unscaled(),
                _ => -1,
            };
            found.hits.iter().map(price).collect()
        }
    }
}
