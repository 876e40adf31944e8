//! Neighbours under filters of every selectivity and kind: as many as there are, and most of the nearest.
//!
//! A filter lets documents through at random, around the vector that is asked about, or around another far away. The nearest by a
//! naive comparison are the truth.

use crate::random::Random;
use std::collections::BTreeSet;
use treepie::explain::{ExplainNode, VectorCounts};
use treepie::query::Query;
use treepie::schema::{Metric, VectorParams};
use treepie::{Document, Index, Schema, Searcher, WriterOptions};

/// More than a graph needs.
const DOCS: usize = 5_000;
const DIMS: usize = 64;
const CLUSTERS: usize = 60;
/// Vectors that filters let others around them through.
const CENTRES: usize = 4;
const QUERIES_OF_CENTRE: usize = 2;
const K: usize = 10;
/// Documents of a thousand that are let through.
const PARTS: [usize; 9] = [1, 3, 10, 30, 100, 300, 500, 800, 1_000];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Random,
    Near,
    Far,
}

struct Corpus {
    metric: Metric,
    vectors: Vec<[f32; DIMS]>,
    centres: Vec<[f32; DIMS]>,
    /// Place of each document in the order of filters: by chance, and by how near it is to each centre.
    places: Vec<Vec<usize>>,
    deleted: BTreeSet<usize>,
}

fn around(random: &mut Random, centre: &[f32; DIMS]) -> [f32; DIMS] {
    centre.map(|number| number + random.below(2_001) as f32 / 1_000.0 - 1.0)
}

fn similarity(metric: Metric, a: &[f32], b: &[f32]) -> f64 {
    let sum = |of: fn(f64, f64) -> f64, a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| of(f64::from(*a), f64::from(*b))).sum()
    };
    let dot = |a: &[f32], b: &[f32]| sum(|a, b| a * b, a, b);
    match metric {
        Metric::Cosine => dot(a, b) / (dot(a, a) * dot(b, b)).sqrt(),
        Metric::L2 => -sum(|a, b| (a - b) * (a - b), a, b),
        _ => dot(a, b),
    }
}

impl Corpus {
    fn new(metric: Metric) -> Self {
        let mut random = Random(11);
        let of_clusters: Vec<[f32; DIMS]> = (0..CLUSTERS)
            .map(|_| [(); DIMS].map(|()| random.below(2_001) as f32 / 1_000.0 - 1.0))
            .collect();
        let vectors: Vec<[f32; DIMS]> = (0..DOCS)
            .map(|_| {
                let cluster = random.below(CLUSTERS);
                around(&mut random, &of_clusters[cluster])
            })
            .collect();
        let centres = of_clusters[..CENTRES].to_vec();
        let place = |order: Vec<usize>| {
            let mut places = vec![0; DOCS];
            order.into_iter().enumerate().for_each(|(place, doc)| places[doc] = place);
            places
        };
        let mut by_chance: Vec<(usize, usize)> =
            (0..DOCS).map(|doc| (random.below(1 << 30), doc)).collect();
        by_chance.sort_unstable();
        let mut places = vec![place(by_chance.into_iter().map(|(_, doc)| doc).collect())];
        for centre in &centres {
            let mut order: Vec<usize> = (0..DOCS).collect();
            let far = |doc: &usize| -similarity(metric, &vectors[*doc], centre);
            order.sort_by(|a, b| far(a).total_cmp(&far(b)));
            places.push(place(order));
        }
        Corpus { metric, vectors, centres, places, deleted: BTreeSet::new() }
    }

    /// One segment of all documents.
    fn index(&self) -> Index {
        let params = VectorParams::new(DIMS as u16, self.metric);
        let schema = (0..self.places.len())
            .fold(Schema::builder().key("id"), |schema, nth| schema.u64(format!("by{nth}")))
            .vector("v", params);
        let index = Index::in_memory(schema.build().unwrap());
        let mut writer = index.writer_with(WriterOptions::new().threads(2)).unwrap();
        for (doc, vector) in self.vectors.iter().enumerate() {
            let mut document = Document::new().with("id", doc.to_string()).with("v", *vector);
            for (nth, places) in self.places.iter().enumerate() {
                document.push(format!("by{nth}"), places[doc] as u64);
            }
            writer.add(document).unwrap();
        }
        writer.commit().unwrap();
        index
    }

    /// The filter of a kind for queries near a centre, and how many documents it let through before any was deleted.
    fn filter(&self, kind: Kind, centre: usize, part: usize) -> (usize, usize) {
        let to_other = |other: &usize| {
            let [a, b] = [centre, *other].map(|nth| &self.centres[nth]);
            similarity(self.metric, a, b)
        };
        let nth = match kind {
            Kind::Random => 0,
            Kind::Near => 1 + centre,
            Kind::Far => {
                let others = (0..CENTRES).filter(|other| *other != centre);
                1 + others.min_by(|a, b| to_other(a).total_cmp(&to_other(b))).unwrap()
            }
        };
        (nth, DOCS * part / 1_000)
    }

    /// Part of the nearest that is found over queries near each centre; `counts` has what it took.
    fn recall(&self, searcher: &Searcher, kind: Kind, part: usize, n_walks: &mut usize) -> f64 {
        let (mut random, mut n_found, mut n_nearest) = (Random(part as u64 + 1), 0, 0);
        for nth in 0..CENTRES * QUERIES_OF_CENTRE {
            let centre = nth % CENTRES;
            let to = around(&mut random, &self.centres[centre]);
            let (by, below) = self.filter(kind, centre, part);
            let docs = (0..DOCS).filter(|doc| self.places[by][*doc] < below);
            let docs = docs.filter(|doc| !self.deleted.contains(doc));
            let mut nearest: Vec<f64> =
                docs.map(|doc| similarity(self.metric, &self.vectors[doc], &to)).collect();
            nearest.sort_by(|a, b| b.total_cmp(a));
            nearest.truncate(K);
            let query = Query::boolean().must(Query::nearest("v", to, K as u32));
            let query = match part {
                1_000 => query.build(),
                _ => query.filter(searcher.parse(&format!("by{by}:<{below}")).unwrap()).build(),
            };
            let search = searcher.search(&query).limit(K as u64).fields(["id"]);
            let (page, tree) = search.explainer().run().unwrap();
            let found: BTreeSet<usize> =
                page.hits.iter().map(|hit| hit.text("id").unwrap().parse().unwrap()).collect();
            assert_eq!(found.len(), nearest.len(), "{kind:?} {part}: as many as there are");
            for doc in &found {
                assert!(self.places[by][*doc] < below && !self.deleted.contains(doc));
            }
            // As near as codes of 32 bits tell.
            let least = nearest.last().map_or(f64::MAX, |least| least - 1e-5 * (1.0 + least.abs()));
            let near = |doc: &&usize| similarity(self.metric, &self.vectors[**doc], &to) >= least;
            n_found += found.iter().filter(near).count();
            n_nearest += nearest.len();
            *n_walks += usize::from(counts(&tree.plan).unwrap().hops > 0);
        }
        n_found as f64 / n_nearest.max(1) as f64
    }

    /// Looks at all cells. Walks are among the ways: nothing would be tested where all were compared.
    fn check(&self, searcher: &Searcher) {
        let mut n_walks = 0;
        for kind in [Kind::Random, Kind::Near, Kind::Far] {
            for part in PARTS {
                let recall = self.recall(searcher, kind, part, &mut n_walks);
                let metric = self.metric;
                assert!(recall >= 0.95, "{metric:?}, {kind:?}, {part} of 1,000: {recall}");
            }
        }
        let n_queries = 3 * PARTS.len() * CENTRES * QUERIES_OF_CENTRE;
        assert!(n_walks >= n_queries / 8, "{n_walks} walks of {n_queries} queries");
    }
}

/// Counts of the operator that looks for neighbours.
fn counts(node: &ExplainNode) -> Option<VectorCounts> {
    let own = node.actual.as_ref().and_then(|actual| actual.vectors);
    own.or_else(|| node.children.iter().find_map(counts))
}

#[test]
fn the_nearest_are_found_in_every_cell_of_selectivity_and_kind_of_filter() {
    let corpus = Corpus::new(Metric::Cosine);
    corpus.check(&corpus.index().searcher().unwrap());
}

/// Deleted documents are in the way of walks until they are merged away.
#[test]
fn the_nearest_are_found_in_every_cell_where_half_is_deleted() {
    let mut corpus = Corpus::new(Metric::L2);
    let index = corpus.index();
    let (mut random, mut writer) = (Random(3), index.writer().unwrap());
    for doc in (0..DOCS).filter(|_| random.below(2) == 0) {
        writer.delete_key(doc.to_string()).unwrap();
        corpus.deleted.insert(doc);
    }
    writer.commit().unwrap();
    assert!((DOCS * 45..DOCS * 55).contains(&(corpus.deleted.len() * 100)));
    corpus.check(&index.searcher().unwrap());
}
