//! The ten most frequent of 300 values among the documents of a query, by how many those are.

use std::{collections::BTreeMap, fs, path::Path};

use tantivy::{
    TantivyDocument, Term,
    aggregation::{
        AggContextParams, AggregationCollector, agg_req::Aggregations,
        agg_result::AggregationResults,
    },
    query::{AllQuery, Query, TermQuery},
    schema::{FAST, IndexRecordOption, STRING, SchemaBuilder},
};
use treepie::{Document, FacetCounts, FieldKind, Index, WriterOptions};

use crate::{
    Result,
    build::{create_tantivy, merge_all},
    measure,
};

const ROUNDS: usize = 11;
const N_VALUES: u64 = 300;
const TOP: usize = 10;
/// A mark and the one in how many documents that has it; the last is asked for as "everything".
const MARKS: [(&str, u64); 4] =
    [("thousandth", 1000), ("hundredth", 100), ("tenth", 10), ("every", 1)];

pub(crate) fn compare(dir: &str, documents: &str) -> Result<()> {
    let documents: u64 = documents.parse()?;
    let (tantivy, treepie) = (
        Path::new(dir).join(format!("facets-tantivy-{documents}")),
        Path::new(dir).join(format!("facets-treepie-{documents}")),
    );
    for (at, build) in
        [(&tantivy, build_tantivy as fn(u64, &Path) -> Result<()>), (&treepie, build_treepie)]
    {
        if !at.exists() {
            eprintln!("building {}", at.display());
            fs::create_dir_all(dir)?;
            build(documents, at)?;
        }
    }
    let (tantivy, treepie) = (TantivyFacets::open(&tantivy)?, TreepieFacets::open(&treepie)?);
    println!(
        "{documents} documents, top {TOP} of {N_VALUES} values, µs, median of {ROUNDS} rounds"
    );
    println!("{:>12}{:>11}{:>11}{:>11}", "selectivity", "tantivy", "treepie", "ratio");
    for (mark, one_in) in MARKS {
        let (mut of_tantivy, mut of_treepie) = (vec![], vec![]);
        for round in 0..=ROUNDS {
            let (time, expected) = measure::time(|| tantivy.top(mark))?;
            let (own_time, found) = measure::time(|| treepie.top(mark))?;
            // Values with equal counts come in tantivy's own order, so only counts are compared.
            let (expected, found) = (counts_of_tantivy(expected)?, counts_of_treepie(&found));
            if expected != found {
                return Err(format!("{mark}: tantivy {expected:?}, treepie {found:?}").into());
            }
            if round > 0 {
                of_tantivy.push(time);
                of_treepie.push(own_time);
            }
        }
        let (tantivy, treepie) =
            (measure::median(&mut of_tantivy), measure::median(&mut of_treepie));
        let selectivity = format!("{} %", 100.0 / one_in as f64);
        println!("{selectivity:>12}{tantivy:>11.1}{treepie:>11.1}{:>11.2}", tantivy / treepie);
    }
    Ok(())
}

/// Calls `take` with every document's value and marks: values by Zipf's law, marks by chance, both
/// from its number alone.
fn each_document(n: u64, mut take: impl FnMut(&str, &[&str]) -> Result<()>) -> Result<()> {
    let values: Vec<String> = (1..=N_VALUES).map(|rank| format!("brand {rank:03}")).collect();
    let mut total = 0.0;
    let up_to: Vec<f64> = (1..=N_VALUES)
        .map(|rank| {
            total += 1.0 / rank as f64;
            total
        })
        .collect();
    for number in 0..n {
        let drawn = (mix(number) >> 11) as f64 / (1u64 << 53) as f64 * total;
        let value = &values[up_to.partition_point(|sum| *sum <= drawn)];
        let mut marks = vec![];
        for (at, (mark, one_in)) in MARKS.iter().enumerate() {
            if mix(number ^ ((at as u64 + 1) << 56)).is_multiple_of(*one_in) {
                marks.push(*mark);
            }
        }
        take(value, &marks)?;
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
    let mark = schema.add_text_field("mark", STRING);
    let index = create_tantivy(dir, schema.build())?;
    let mut writer = index.writer_with_num_threads(2, 512 << 20)?;
    each_document(documents, |value, marks| {
        let mut document = TantivyDocument::new();
        document.add_text(brand, value);
        marks.iter().for_each(|name| document.add_text(mark, name));
        writer.add_document(document)?;
        Ok(())
    })?;
    writer.commit()?;
    merge_all(&index, writer)
}

struct TantivyFacets {
    searcher: tantivy::Searcher,
    queries: BTreeMap<&'static str, Box<dyn Query>>,
    request: Aggregations,
}

impl TantivyFacets {
    fn open(dir: &Path) -> Result<Self> {
        let index = tantivy::Index::open_in_dir(dir)?;
        let mark = index.schema().get_field("mark")?;
        let query = |name: &str| -> Box<dyn Query> {
            if name == MARKS[3].0 {
                return Box::new(AllQuery);
            }
            Box::new(TermQuery::new(Term::from_field_text(mark, name), IndexRecordOption::Basic))
        };
        let request = serde_json::json!({"top": {"terms": {"field": "brand", "size": TOP}}});
        Ok(TantivyFacets {
            searcher: index.reader()?.searcher(),
            queries: MARKS.map(|(name, _)| (name, query(name))).into(),
            request: serde_json::from_value(request)?,
        })
    }

    fn top(&self, mark: &str) -> Result<AggregationResults> {
        let collector =
            AggregationCollector::from_aggs(self.request.clone(), AggContextParams::default());
        Ok(self.searcher.search(&*self.queries[mark], &collector)?)
    }
}

fn counts_of_tantivy(found: AggregationResults) -> Result<Vec<u64>> {
    let found = serde_json::to_value(found)?;
    let buckets = found["top"]["buckets"].as_array().ok_or("no buckets")?;
    Ok(buckets.iter().filter_map(|bucket| bucket["doc_count"].as_u64()).collect())
}

fn build_treepie(documents: u64, dir: &Path) -> Result<()> {
    let schema = treepie::Schema::builder()
        .field(treepie::Field::new("brand", FieldKind::Keyword).stored(false))
        .field(treepie::Field::new("mark", FieldKind::Keyword).stored(false).many(true))
        .build()?;
    let index = Index::create(dir, schema)?;
    let mut writer = index.writer_with(WriterOptions::new().memory_bytes(512 << 20))?;
    each_document(documents, |value, marks| {
        let mut document = Document::new().with("brand", value);
        marks.iter().for_each(|name| document.push("mark", *name));
        Ok(writer.add(document)?)
    })?;
    writer.commit()?;
    Ok(())
}

struct TreepieFacets {
    searcher: treepie::Searcher,
    queries: BTreeMap<&'static str, treepie::query::Query>,
}

impl TreepieFacets {
    fn open(dir: &Path) -> Result<Self> {
        let searcher = Index::open(dir)?.searcher()?;
        let mut queries = BTreeMap::new();
        for (name, one_in) in MARKS {
            let text = if one_in == 1 { "*".into() } else { format!("mark:{name}") };
            queries.insert(name, searcher.parse(&text)?);
        }
        Ok(TreepieFacets { searcher, queries })
    }

    fn top(&self, mark: &str) -> Result<FacetCounts> {
        Ok(self.searcher.facets(&self.queries[mark], "brand", TOP)?)
    }
}

fn counts_of_treepie(found: &FacetCounts) -> Vec<u64> {
    found.buckets.iter().map(|bucket| bucket.count).collect()
}
