//! Neighbours of vectors beside a naive search over all of them: filters, alternatives, deletes, segments and scores.

use crate::random::Random;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use treepie::explain::ExplainTree;
use treepie::function::{Function, ScoreFunction};
use treepie::query::{Query, QueryVector};
use treepie::schema::{Metric, VectorParams, VectorValues};
use treepie::search::IdfScope;
use treepie::{
    DocId, Document, Field, FieldKind, Hit, Index, Schema, SearchBuilder, SearchRequest, Searcher,
    SortKey,
};

const DIMS: usize = 3;
const KINDS: [&str; 4] = ["a", "b", "c", "rare"];

/// A document of the naive index.
#[derive(Clone, Debug)]
struct Row {
    id: u64,
    kinds: Vec<&'static str>,
    vectors: Vec<[f32; DIMS]>,
    is_deleted: bool,
}

/// Score by number of the document.
type Found = BTreeMap<usize, f32>;

#[derive(Clone, Debug)]
enum Asked {
    All,
    Kind(&'static str),
    Nearest([f32; DIMS], u32, f32),
    Within([f32; DIMS], f32),
    LikeDocument(usize, u32),
    And(Vec<Asked>, Vec<Asked>),
    Or(Vec<Asked>),
    Optional(Box<Asked>, Box<Asked>),
}

impl Asked {
    fn has_nearest(&self) -> bool {
        match self {
            Asked::All | Asked::Kind(_) | Asked::Within(..) => false,
            Asked::Nearest(..) | Asked::LikeDocument(..) => true,
            Asked::And(all, none) => all.iter().chain(none).any(Asked::has_nearest),
            Asked::Or(any) => any.iter().any(Asked::has_nearest),
            Asked::Optional(must, should) => must.has_nearest() || should.has_nearest(),
        }
    }

    /// Vectors of each part that asks for neighbours.
    fn targets(&self, rows: &[Row]) -> Vec<Vec<[f32; DIMS]>> {
        let of_all = |all: &[Asked]| all.iter().flat_map(|it| it.targets(rows)).collect();
        match self {
            Asked::All | Asked::Kind(_) => vec![],
            Asked::Nearest(vector, ..) | Asked::Within(vector, _) => vec![vec![*vector]],
            Asked::LikeDocument(at, _) => vec![rows[*at].vectors.clone()],
            Asked::And(all, none) => [of_all(all), of_all(none)].concat(),
            Asked::Or(any) => of_all(any),
            Asked::Optional(must, should) => [must.targets(rows), should.targets(rows)].concat(),
        }
    }

    fn query(&self) -> Query {
        match self {
            Asked::All => Query::All,
            Asked::Kind(kind) => Query::value("kind", *kind).constant_score(1.0).unwrap(),
            Asked::Nearest(vector, k, boost) => {
                Query::nearest("v", *vector, *k).boosted(*boost).unwrap()
            }
            Asked::Within(vector, similarity) => Query::within("v", *vector, *similarity),
            Asked::LikeDocument(doc, k) => Query::nearest("v", DocId(*doc as u64), *k),
            Asked::And(all, none) => {
                let query = Query::boolean();
                let query = all.iter().fold(query, |query, it| query.must(it.query()));
                none.iter().fold(query, |query, it| query.must_not(it.query())).build()
            }
            Asked::Or(any) => Query::any_of(any.iter().map(Asked::query)),
            Asked::Optional(must, should) => {
                Query::boolean().must(must.query()).should(should.query()).build()
            }
        }
    }

    fn random(random: &mut Random, rows: &[Row], depth: usize) -> Self {
        let some = |random: &mut Random, n: usize| {
            (0..n).map(|_| Asked::random(random, rows, depth + 1)).collect::<Vec<_>>()
        };
        match random.below(if depth > 2 { 6 } else { 10 }) {
            0 => Asked::Kind(KINDS[random.below(4)]),
            1 => Asked::Within(vector(random), random.below(9) as f32 / 2.0 - 3.0),
            2 => {
                let with = rows.iter().filter(|row| !row.vectors.is_empty() && !row.is_deleted);
                let with: Vec<_> = with.collect();
                let doc = with[random.below(with.len())].id;
                let at = rows.iter().position(|row| row.id == doc).unwrap();
                Asked::LikeDocument(at, 1 + random.below(9) as u32)
            }
            3..=5 => Asked::Nearest(
                vector(random),
                1 + random.below(30) as u32,
                0.5 + random.below(3) as f32,
            ),
            6 => {
                let n = 2 + random.below(2);
                Asked::Or(some(random, n))
            }
            7 => {
                let both = some(random, 2);
                let [must, should] = <[Asked; 2]>::try_from(both).unwrap();
                Asked::Optional(must.into(), should.into())
            }
            _ => {
                let (all, none) = (1 + random.below(3), random.below(2));
                Asked::And(some(random, all), some(random, none))
            }
        }
    }
}

/// Numbers that add up exactly, with a direction.
fn vector(random: &mut Random) -> [f32; DIMS] {
    let mut vector = [0; DIMS].map(|_: i32| random.below(5) as f32 - 2.0);
    if vector.iter().all(|number| *number == 0.0) {
        vector[0] = 1.0;
    }
    vector
}

/// The 40-line index.
struct Naive<'r> {
    rows: &'r [Row],
    metric: Metric,
}

impl Naive<'_> {
    fn similarity(&self, a: &[f32], b: &[f32]) -> f32 {
        let sum =
            |of: fn(f32, f32) -> f32| a.iter().zip(b).map(|(a, b)| of(*a, *b)).sum::<f32>() + 0.0;
        let length = |v: &[f32]| v.iter().map(|number| number * number).sum::<f32>().sqrt();
        match self.metric {
            Metric::Dot => sum(|a, b| a * b),
            Metric::L2 => -sum(|a, b| (a - b) * (a - b)),
            _ => sum(|a, b| a * b) / (length(a) * length(b)),
        }
    }

    /// The nearest of all vectors of a document to any of some, if it has any.
    fn nearest(&self, row: &Row, to: &[[f32; DIMS]]) -> Option<f32> {
        let pairs = row.vectors.iter().flat_map(|a| to.iter().map(move |b| (a, b)));
        pairs.map(|(a, b)| self.similarity(b, a)).max_by(f32::total_cmp)
    }

    fn neighbors(
        &self,
        to: &[[f32; DIMS]],
        allowed: &dyn Fn(usize) -> bool,
        (k, least, boost): (usize, f32, f32),
    ) -> Found {
        let rows = self.rows.iter().enumerate();
        let all = rows.filter(|(at, row)| !row.is_deleted && allowed(*at));
        let mut all: Vec<(usize, f32)> =
            all.filter_map(|(at, row)| Some((at, self.nearest(row, to)?))).collect();
        all.retain(|(_, similarity)| *similarity >= least);
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        all.truncate(k);
        all.into_iter().map(|(at, it)| (at, boost * self.metric.score(it))).collect()
    }

    /// What a query finds where neighbours are looked for among what is allowed.
    fn find(&self, asked: &Asked, allowed: &dyn Fn(usize) -> bool) -> Found {
        let everything = |_: usize| true;
        let rows = self.rows.iter().enumerate().filter(|(_, row)| !row.is_deleted);
        match asked {
            Asked::All => rows.map(|(at, _)| (at, 1.0)).collect(),
            Asked::Kind(kind) => {
                rows.filter(|(_, row)| row.kinds.contains(kind)).map(|(at, _)| (at, 1.0)).collect()
            }
            Asked::Nearest(v, k, boost) => {
                self.neighbors(&[*v], allowed, (*k as usize, f32::MIN, *boost))
            }
            Asked::Within(v, least) => self.neighbors(&[*v], allowed, (usize::MAX, *least, 1.0)),
            Asked::LikeDocument(doc, k) => {
                let others = |at| at != *doc && allowed(at);
                let to = &self.rows[*doc].vectors;
                self.neighbors(to, &others, (*k as usize, f32::MIN, 1.0))
            }
            Asked::And(all, none) => {
                let plain = |parts: &[Asked]| -> Vec<Found> {
                    let plain = parts.iter().filter(|part| !part.has_nearest());
                    plain.map(|part| self.find(part, &everything)).collect()
                };
                let (beside, without) = (plain(all), plain(none));
                let inside = |at| {
                    allowed(at)
                        && beside.iter().all(|found| found.contains_key(&at))
                        && !without.iter().any(|found| found.contains_key(&at))
                };
                let mut found = self.find(&Asked::All, &everything);
                found.values_mut().for_each(|score| *score = 0.0);
                for part in all {
                    let own = self.find(part, &inside);
                    found.retain(|at, _| own.contains_key(at));
                    found.iter_mut().for_each(|(at, score)| *score += own[at]);
                }
                for part in none {
                    let own = self.find(part, &everything);
                    found.retain(|at, _| !own.contains_key(at));
                }
                found
            }
            Asked::Or(any) => {
                let mut sum = Found::new();
                for part in any {
                    for (at, score) in self.find(part, &everything) {
                        *sum.entry(at).or_default() += score;
                    }
                }
                sum
            }
            Asked::Optional(must, should) => {
                let of_must = match must.has_nearest() {
                    true => None,
                    false => Some(self.find(must, &everything)),
                };
                let inside = |at| {
                    allowed(at) && of_must.as_ref().is_none_or(|found| found.contains_key(&at))
                };
                let mut found = self.find(must, allowed);
                let more = self.find(should, &inside);
                found.iter_mut().for_each(|(at, score)| *score += more.get(at).unwrap_or(&0.0));
                found
            }
        }
    }
}

fn schema(metric: Metric) -> Schema {
    schema_of(metric, VectorValues::F32)
}

fn schema_of(metric: Metric, values: VectorValues) -> Schema {
    let params = VectorParams::new(DIMS as u16, metric).values(values);
    Schema::builder()
        .u64("id")
        .field(Field::new("kind", FieldKind::Keyword).many(true).column(true))
        .field(Field::new("v", FieldKind::Vector(params)).many(true))
        .build()
        .unwrap()
}

fn row(random: &mut Random, id: u64, values: VectorValues) -> Row {
    let kinds = KINDS.into_iter().enumerate();
    let kinds = kinds.filter(|(nth, _)| random.below(2 + 12 * (*nth / 3)) == 0);
    let kinds = kinds.map(|(_, kind)| kind).collect();
    let n_vectors = [0, 1, 1, 1, 3][random.below(5)];
    let vectors = (0..n_vectors).map(|_| match values {
        VectorValues::Bits => vector(random).map(|number| number.abs().min(1.0)),
        _ => vector(random),
    });
    let vectors = vectors.collect();
    Row { id, kinds, vectors, is_deleted: false }
}

fn document(row: &Row) -> Document {
    let document = Document::new().with("id", row.id);
    let document = row.kinds.iter().fold(document, |document, kind| document.with("kind", *kind));
    row.vectors.iter().fold(document, |document, vector| document.with("v", *vector))
}

/// Compares what is found, in which order, with which scores and how many there are.
fn check(searcher: &Searcher, rows: &[Row], metric: Metric, asked: &Asked) {
    let query = asked.query();
    let naive = Naive { rows, metric };
    let expected = naive.find(asked, &|_| true);
    assert_eq!(searcher.count(&query).unwrap(), expected.len() as u64, "{query} {metric:?}");
    let mut best: Vec<(u64, f32)> =
        expected.into_iter().map(|(at, score)| (rows[at].id, score)).collect();
    best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    for limit in [3, 1_000] {
        let page = searcher.search(&query).limit(limit).run().unwrap();
        let found: Vec<(u64, f32)> = page
            .hits
            .iter()
            .map(|hit| (hit.fields["id"].first().unwrap().as_u64().unwrap(), hit.score.unwrap()))
            .collect();
        let expected = &best[..best.len().min(limit as usize)];
        let is_same = |(a, b): (&(u64, f32), &(u64, f32))| a.0 == b.0 && (a.1 - b.1).abs() < 1e-5;
        let are_same = found.len() == expected.len() && found.iter().zip(expected).all(is_same);
        assert!(are_same, "{query} {metric:?}\n{found:?}\n{expected:?}");
        if let Some(hit) = page.hits.first() {
            let explained = searcher.explain_score(&query, hit.doc).unwrap().unwrap();
            assert_eq!(Some(explained.value), hit.score, "{explained}");
        }
    }
    check_similarities(searcher, &naive, asked);
    check_pages(searcher, &query, &best);
    check_scorings(searcher, &query, &best);
    assert_eq!(searcher.parse(&query.to_string()).unwrap(), query);
    let tree = searcher.search(&query).limit(3).analyze().unwrap();
    let json = tree.to_json();
    assert_eq!(ExplainTree::from_json(&json).unwrap().to_json(), json);
    let estimated = searcher.search(&query).limit(3).explain().unwrap();
    let bounds = &estimated.plan.estimate;
    assert!(bounds.lower <= bounds.documents && bounds.documents <= bounds.upper);
    let actual = tree.plan.actual.unwrap();
    assert!(actual.documents <= bounds.upper, "{query}");
    assert!(!actual.complete || bounds.lower <= actual.documents, "{query}");
}

/// Compares the similarities that hits have with those to the vectors that are asked about.
fn check_similarities(searcher: &Searcher, naive: &Naive<'_>, asked: &Asked) {
    let (query, targets) = (asked.query(), asked.targets(naive.rows));
    let search = || searcher.search(&query).limit(1_000);
    let (found, _) = search().explainer().run().unwrap();
    assert_eq!(found.hits, search().run().unwrap().hits, "{query}");
    for hit in &found.hits {
        let row = naive.rows.iter().find(|row| row.id == id(hit)).unwrap();
        for it in &hit.similarities {
            let is_of = |target: &Vec<_>| {
                naive.nearest(row, target).is_some_and(|own| (own - it.similarity).abs() < 1e-5)
            };
            assert!(it.field == "v" && targets.iter().any(is_of), "{query} {row:?} {it:?}");
        }
        if matches!(asked, Asked::Nearest(..) | Asked::Within(..) | Asked::LikeDocument(..)) {
            assert_eq!(hit.similarities.len(), 1, "{query}");
        }
    }
}

fn id(hit: &Hit) -> u64 {
    hit.fields["id"].first().unwrap().as_u64().unwrap()
}

/// Compares pages that follow each other, and a search that is prepared, with all that is found, best first.
fn check_pages(searcher: &Searcher, query: &Query, best: &[(u64, f32)]) {
    let (all, by_id) = (best.iter().map(|(id, _)| *id), SortKey::descending("id"));
    let mut sorted: Vec<u64> = all.clone().collect();
    sorted.sort_unstable_by_key(|id| Reverse(*id));
    let first = || searcher.search(query).limit(1 + best.len() as u64 / 3);
    let of_scores: Vec<u64> = pages(first).iter().map(id).collect();
    assert!(all.eq(of_scores.iter().copied()), "{query} {of_scores:?}\n{best:?}");
    let of_key: Vec<u64> = pages(|| first().sort([by_id.clone()])).iter().map(id).collect();
    assert_eq!(of_key, sorted, "{query}");
    let mut prepared = first().prepare().unwrap();
    for _ in 0..2 {
        let of_page = first().run().unwrap().hits;
        let found = prepared.run().unwrap().hits.iter().map(|hit| (hit.doc, hit.score));
        assert!(found.eq(of_page.iter().map(|hit| (hit.doc, hit.score))), "{query}");
    }
}

/// Hits of all pages, one after the other.
fn pages<'s>(first: impl Fn() -> SearchBuilder<'s>) -> Vec<Hit> {
    let mut page = first().run().unwrap();
    let mut hits = vec![];
    while let Some(cursor) = page.cursor() {
        hits.append(&mut page.hits);
        page = first().after(cursor).run().unwrap();
    }
    hits
}

/// Scores are those of the neighbours whichever statistics are for words, and functions change them.
fn check_scorings(searcher: &Searcher, query: &Query, best: &[(u64, f32)]) {
    let given = searcher.collection_statistics(&SearchRequest::new(query)).unwrap();
    for scope in [IdfScope::Segment, IdfScope::Collection(given.into())] {
        let hits = searcher.search(query).limit(1_000).statistics(scope).run().unwrap().hits;
        assert!(hits.iter().map(id).eq(best.iter().map(|(id, _)| *id)), "{query}");
    }
    let function = Function::expression("_score * (id % 7)").unwrap();
    let search = searcher.search(query).limit(1_000);
    let hits = search.score_function(ScoreFunction::replace(function)).run().unwrap().hits;
    assert_eq!(hits.len(), best.len());
    let score = |(id, score): &(u64, f32)| score * (id % 7) as f32;
    let of_id: BTreeMap<u64, f32> = best.iter().map(|it| (it.0, score(it))).collect();
    for hit in &hits {
        assert!((hit.score.unwrap() - of_id[&id(hit)]).abs() < 1e-4, "{query} {hit:?}");
    }
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score), "{query}");
}

#[test]
fn neighbors_are_those_that_a_naive_search_finds() {
    for seed in 1..25 {
        let mut random = Random(seed);
        let metric = Metric::ALL[seed as usize % 3];
        let values = VectorValues::ALL[seed as usize / 3 % 4];
        let index = Index::in_memory(schema_of(metric, values));
        let mut writer = index.writer().unwrap();
        let mut rows: Vec<Row> = vec![];
        for _ in 0..1 + random.below(4) {
            for _ in 0..random.below(60) {
                rows.push(row(&mut random, rows.len() as u64, values));
                writer.add(document(rows.last().unwrap())).unwrap();
            }
            writer.commit().unwrap();
        }
        // Rows and documents have the same numbers as long as nothing is merged.
        let n_deleted = random.below(3) * rows.len() / 5;
        for _ in 0..n_deleted {
            let at = random.below(rows.len());
            rows[at].is_deleted = true;
            writer.delete(&Query::value("id", rows[at].id.to_string())).unwrap();
        }
        writer.commit().unwrap();
        let searcher = index.searcher().unwrap();
        if rows.iter().all(|row| row.vectors.is_empty() || row.is_deleted) {
            continue;
        }
        for _ in 0..60 {
            check(&searcher, &rows, metric, &Asked::random(&mut random, &rows, 0));
        }
        writer.merge().unwrap();
        rows.retain(|row| !row.is_deleted);
        let searcher = index.searcher().unwrap();
        for _ in 0..20 {
            check(&searcher, &rows, metric, &Asked::random(&mut random, &rows, 0));
        }
    }
}

#[test]
fn neighbors_are_looked_for_among_what_stands_beside() {
    let index = Index::in_memory(schema(Metric::L2));
    let mut writer = index.writer().unwrap();
    for id in 0..100u64 {
        let kind = if id % 10 == 9 { "rare" } else { "a" };
        let document = Document::new().with("id", id).with("kind", kind);
        writer.add(document.with("v", [id as f32, 0.0, 0.0])).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let ids = |text: &str| {
        let query = searcher.parse(text).unwrap();
        let origin = text.contains("$v").then(|| ("v", vec![0.0, 0.0, 0.0]));
        let query = query.with_vectors(origin).unwrap();
        let page = searcher.search(&query).limit(100).run().unwrap();
        assert_eq!(page.total.value, page.hits.len() as u64);
        let id = |hit: &treepie::search::Hit| hit.fields["id"].first().unwrap().as_u64().unwrap();
        page.hits.iter().map(id).collect::<Vec<_>>()
    };
    assert_eq!(ids("v:nearest($v, 3)"), [0, 1, 2]);
    assert_eq!(ids("+kind:rare +v:nearest($v, 3)"), [9, 19, 29]);
    assert_eq!(ids("v:nearest($v, 3) -kind:a"), [9, 19, 29]);
    assert_eq!(ids("(kind:rare)^=0 AND (v:nearest($v, 3) AND id:>=40)"), [49, 59, 69]);
    assert_eq!(ids("v:nearest($v, 3) AND NOT id:<5"), [5, 6, 7]);
    assert_eq!(ids("v:nearest($v, 30) AND id:>90"), [91, 92, 93, 94, 95, 96, 97, 98, 99]);
    assert_eq!(ids("v:nearest($v, 1000)").len(), 100);
    assert_eq!(ids("v:within($v, -9) -kind:rare"), [0, 1, 2, 3]);
    // An alternative has nothing beside it.
    assert_eq!(ids("+kind:rare +(v:nearest($v, 3) OR id:99)"), [99]);
    assert_eq!(ids("v:nearest(doc:50, 2)"), [49, 51]);
}

#[test]
fn as_many_neighbors_are_expected_as_there_must_be() {
    let index = Index::in_memory(schema(Metric::L2));
    let mut writer = index.writer().unwrap();
    for id in 0..100u64 {
        let document = Document::new().with("id", id).with("kind", KINDS[id as usize % 2]);
        let vector = (id >= 10).then_some([id as f32, 0.0, 0.0]);
        writer.add(vector.into_iter().fold(document, |it, vector| it.with("v", vector))).unwrap();
        if id == 40 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let bounds = |text: &str| {
        let query = searcher.parse(text).unwrap();
        let plan = searcher.search(&query).limit(1_000).explain().unwrap().plan;
        let count = searcher.count(&query).unwrap();
        // The vectors are compared all the same, which a plan does not deny.
        let counted = searcher.search(&query).count_only().explain().unwrap().plan;
        assert!(counted.decisions.iter().all(|it| it.rule != "count is known"), "{text}");
        assert!((plan.estimate.lower..=plan.estimate.upper).contains(&count), "{text}");
        (plan.estimate.lower, plan.estimate.upper)
    };
    assert_eq!(bounds("v:nearest([0, 0, 0], 7)"), (7, 7));
    assert_eq!(bounds("v:nearest([0, 0, 0], 90)"), (90, 90));
    assert_eq!(bounds("v:nearest([0, 0, 0], 1000)").0, 90);
    assert_eq!(bounds("kind:a AND v:nearest([0, 0, 0], 7)"), (7, 7));
    // Of 50 of the kind 10 at the most have no vector.
    assert_eq!(bounds("kind:a AND v:nearest([0, 0, 0], 50)").0, 40);
    assert_eq!(bounds("v:nearest(doc:50, 7)"), (0, 7));
    assert_eq!(bounds("v:within([0, 0, 0], -9)").0, 0);
    writer.delete(&Query::value("id", "50")).unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("v:nearest([0, 0, 0], 1000)").unwrap();
    let estimate = searcher.search(&query).limit(1_000).explain().unwrap().plan.estimate;
    assert!((80..=89).contains(&estimate.lower), "{estimate:?}");
}

#[test]
fn filters_that_let_nothing_or_as_many_through_as_are_wanted_find_these() {
    let index = Index::in_memory(schema(Metric::Cosine));
    let mut writer = index.writer().unwrap();
    for id in 0..50u64 {
        let document = Document::new().with("id", id).with("kind", KINDS[id as usize % 2]);
        writer.add(document.with("v", [1.0, id as f32, 0.0])).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let ids = |text: &str| {
        let query = searcher.parse(text).unwrap();
        let hits = searcher.search(&query).limit(100).run().unwrap().hits;
        assert_eq!(searcher.count(&query).unwrap(), hits.len() as u64, "{text}");
        hits.iter().map(id).collect::<Vec<_>>()
    };
    assert_eq!(ids("id:[3 TO 5] AND v:nearest([1, 0, 0], 3)"), [3, 4, 5]);
    assert_eq!(ids("id:[3 TO 5] AND v:nearest([1, 0, 0], 2)"), [3, 4]);
    assert_eq!(ids("id:[3 TO 5] AND v:nearest([1, 0, 0], 4)"), [3, 4, 5]);
    assert!(ids("kind:rare AND v:nearest([1, 0, 0], 3)").is_empty());
    assert!(ids("id:>=50 AND v:nearest([1, 0, 0], 3)").is_empty());
    assert!(ids("kind:a AND kind:b AND v:nearest([1, 0, 0], 3)").is_empty());
    // Subnormal numbers are numbers, and a vector of them alone has no direction.
    assert_eq!(ids("v:nearest([1, 1e-45, 0], 1)"), [0]);
    let none = Document::new().with("id", 99u64).with("v", [1e-45, 0.0, 0.0]);
    let refused = writer.add(none).unwrap_err().to_string();
    assert!(refused.contains("a vector with a direction"), "{refused}");
}

#[test]
fn facets_and_selections_are_those_of_the_neighbors() {
    let index = Index::in_memory(schema(Metric::L2));
    let mut writer = index.writer().unwrap();
    for id in 0..60u64 {
        let document = Document::new().with("id", id).with("kind", KINDS[id as usize % 3]);
        writer.add(document.with("v", [id as f32, 0.0, 0.0])).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = Query::nearest("v", [0.0, 0.0, 0.0], 10);
    let counts = |page: &treepie::search::Hits| {
        let buckets = page.facets[0].buckets.iter();
        buckets.map(|it| (it.value.to_string(), it.count)).collect::<Vec<_>>()
    };
    let page = searcher.search(&query).facet("kind", 5).run().unwrap();
    assert_eq!(counts(&page), [("a".into(), 4), ("b".into(), 3), ("c".into(), 3)]);
    let page = searcher.search(&query).select("kind", ["b"]).facet("kind", 5).run().unwrap();
    assert_eq!((page.total.value, page.hits[9].fields["id"].to_string()), (10, "28".into()));
    // Without the selection there are others among the neighbours.
    assert_eq!(counts(&page), [("a".into(), 4), ("b".into(), 3), ("c".into(), 3)]);
    let page = searcher.search(&query).collapse(treepie::search::Collapse::by("id")).run();
    assert_eq!(page.unwrap().hits.len(), 10);
    let refused = searcher.search(&query).facet("v", 5).run().unwrap_err().to_string();
    assert!(refused.contains("the vector field 'v'"), "{refused}");
    let sorted = searcher.search(&query).sort([treepie::SortKey::descending("id")]).run().unwrap();
    assert_eq!(sorted.hits[0].fields["id"].to_string(), "9");
}

#[test]
fn vectors_that_cannot_be_compared_are_refused() {
    let index = Index::in_memory(schema(Metric::Cosine));
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("id", 1u64).with("v", [1.0f32, 0.0, 0.0])).unwrap();
    writer.add(Document::new().with("id", 2u64)).unwrap();
    writer.add(Document::new().with("id", 3u64).with("v", [1.0f32, 0.0, 0.0])).unwrap();
    writer.delete(&Query::value("id", "3")).unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let refused = |query: Query, words: &str| {
        for error in [
            searcher.count(&query).unwrap_err(),
            searcher.search(&query).run().unwrap_err(),
            searcher.search(&query).analyze().map(drop).unwrap_err(),
        ] {
            assert_eq!(error.kind(), treepie::ErrorKind::Query, "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
    };
    let good = [1.0f32, 0.0, 0.0];
    refused(Query::nearest("v", [1.0f32, 0.0], 3), "a vector of 3 numbers, found one of 2");
    refused(
        Query::nearest("v", [1.0, f32::NAN, 0.0], 3),
        "finite numbers, found NaN, number 2 of 3",
    );
    refused(Query::nearest("v", [1.0, 0.0, f32::INFINITY], 3), "found inf, number 3 of 3");
    refused(Query::nearest("v", [0.0f32; 3], 3), "a vector with a direction");
    refused(Query::nearest("v", [f32::MIN_POSITIVE, 0.0, 0.0], 3), "a vector with a direction");
    refused(Query::nearest("v", good, 0), "1 neighbour or more, found 0");
    refused(Query::within("v", good, f32::NAN), "a finite similarity");
    refused(Query::nearest("kind", good, 3), "a field of vectors, found a keyword field");
    refused(Query::nearest("w", good, 3), "'w'");
    refused(Query::nearest("v", QueryVector::Parameter("q".into()), 3), "'$q'");
    refused(Query::nearest("v", DocId(3), 3), "a document below 3, found doc:3");
    refused(Query::nearest("v", DocId(2), 3), "doc:2, which is deleted");
    refused(Query::nearest("v", DocId(1), 3), "doc:1, which has none");
    let query = searcher.parse("v:nearest($a, 3)").unwrap();
    let unbound = query.with_vectors::<String>([]).unwrap_err().to_string();
    assert!(unbound.contains("'$a'"), "{unbound}");
    let unused = query.with_vectors([("a", vec![1.0]), ("b", vec![1.0])]).unwrap_err().to_string();
    assert!(unused.contains("'$b'"), "{unused}");
    let refused = writer.delete(&Query::nearest("v", good, 1)).unwrap_err().to_string();
    assert!(refused.contains("depends on other documents"), "{refused}");
    writer.delete(&Query::within("v", good, 0.5)).unwrap();
    assert_eq!(writer.commit().unwrap().deleted, 1);
    // A word is no question to vectors.
    let error = searcher.count(&Query::word_in("v", "x")).unwrap_err().to_string();
    assert!(error.contains("nearest"), "{error}");
}

/// An index with a graph, which begins at some thousand vectors: points on a curve, those near each other in number near in space.
fn of_a_graph() -> Index {
    let index = Index::in_memory(schema(Metric::L2));
    let mut writer = index.writer().unwrap();
    for id in 0..4_200u64 {
        let at = id as f32 / 100.0;
        let document = Document::new().with("id", id).with("kind", KINDS[id as usize % 3]);
        writer.add(document.with("v", [at.cos() * at, at.sin() * at, at])).unwrap();
    }
    writer.commit().unwrap();
    index
}

/// However few or many are wanted or let through, and however small or large a walk is to be, as many come as there are.
#[test]
fn as_many_come_as_there_are_whatever_is_asked_of_a_graph() {
    let index = of_a_graph();
    let searcher = index.searcher().unwrap();
    let to = [3.0, 2.0, 20.0];
    let filters =
        [("*", 4_200), ("kind:a", 1_400), ("id:[100 TO 109]", 10), ("id:[100 TO 110]", 11)];
    for (filter, n) in filters.into_iter().chain([("kind:rare", 0), ("id:7", 1)]) {
        let filter = searcher.parse(filter).unwrap();
        let best = |nearest: Query, k: u64| {
            let query = Query::boolean().must(nearest).filter(filter.clone()).build();
            assert_eq!(searcher.count(&query).unwrap(), k.min(n), "{query}");
            let hits = searcher.search(&query).limit(4_200).run().unwrap().hits;
            assert!(hits.is_sorted_by(|a, b| a.score >= b.score), "{query}");
            let ids: std::collections::BTreeSet<u64> = hits.iter().map(id).collect();
            assert_eq!((hits.len() as u64, ids.len() as u64), (k.min(n), k.min(n)), "{query}");
            ids
        };
        for k in [1, 10, 11, 4_199, 4_200, 4_201, u32::MAX] {
            let nearest = || Query::nearest("v", to, k);
            let exact = best(nearest().exact(), k.into());
            assert_eq!(best(nearest().recall(1.0), k.into()), exact);
            // A walk that keeps fewer than are wanted keeps as many.
            for ef in [1, 9, 4_300, u32::MAX] {
                best(nearest().ef(ef), k.into());
            }
            for recall in [f32::MIN_POSITIVE, 1e-45, 0.5, 0.999_999] {
                best(nearest().recall(recall), k.into());
            }
        }
    }
    for recall in [0.0, -0.0, -0.5, 1.000_001, f32::NAN, f32::INFINITY] {
        let error = searcher.count(&Query::nearest("v", to, 3).recall(recall)).unwrap_err();
        assert_eq!(error.kind(), treepie::ErrorKind::Query);
        assert!(error.to_string().contains("a recall above 0, at most 1, found"), "{error}");
        let text = format!("v:nearest([1, 2, 3], 4, recall={recall})");
        assert!(searcher.parse(&text).is_err(), "{text}");
    }
    let error = searcher.count(&Query::nearest("v", to, 3).ef(0)).unwrap_err().to_string();
    assert!(error.contains("1 or more that a walk keeps, found 0"), "{error}");
    for text in ["ef=0", "ef=-1", "ef=4294967296", "ef=1.5", "recall=x", "exact=1", "all"] {
        let text = format!("v:nearest([1, 2, 3], 4, {text})");
        assert!(searcher.parse(&text).is_err(), "{text}");
    }
}

/// Numbers near zero are taken for what they are, and do not make others of those beside them.
#[test]
fn subnormal_numbers_are_told_apart_by_comparison() {
    let index = Index::in_memory(schema(Metric::Dot));
    let mut writer = index.writer().unwrap();
    for (id, number) in [1e-45, 3e-45, -1e-45, 0.0, 1e-39].into_iter().enumerate() {
        let document = Document::new().with("id", id as u64).with("v", [number, 0.0, 0.0]);
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    // Scores are 1 and the product, which is the same 1 for all.
    for (k, nearest) in [(1, &[4][..]), (2, &[1, 4]), (3, &[0, 1, 4]), (4, &[0, 1, 3, 4])] {
        let query = Query::nearest("v", [1e18, 0.0, 0.0], k);
        let found = searcher.search(&query).run().unwrap().hits;
        assert_eq!(found.iter().map(id).collect::<Vec<_>>(), nearest, "{k}");
    }
}
