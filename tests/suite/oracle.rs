//! The index answers like one that looks at every document: counts, pages, facets, and the bounds
//! that a plan promises, for random queries over lists of every size that matters.

use crate::naive::NaiveIndex;
use crate::random::Random;
use std::sync::LazyLock;
use treepie::explain::EstimateFrom;
use treepie::explain::ExplainTree;
use treepie::query::{Fuzziness, Query};
use treepie::search::{Order, TotalMode};
use treepie::storage::ReadMode;
use treepie::{Document, Index, Schema, SearchBuilder, Searcher};

/// More than two windows of 65,536 documents, and a third that is not full.
const N_DOCS: usize = 140_000;
const QUERIES: usize = 1_200;

/// Document frequencies around every change of representation.
const SIZES: [usize; 16] =
    [1, 2, 4, 5, 6, 255, 256, 257, 4_095, 4_096, 4_097, 65_535, 65_536, 65_537, 100_000, 139_999];

struct Corpus {
    naive: NaiveIndex,
    /// The same documents in one segment, in several, and in files that are read, not mapped.
    searchers: [Searcher; 3],
    /// The same in several segments and in files that are read, where some are deleted.
    without_deleted: [Searcher; 2],
    /// Which are not.
    live: Vec<bool>,
}

static CORPUS: LazyLock<Corpus> = LazyLock::new(Corpus::build);

impl Corpus {
    fn build() -> Self {
        let schema = Schema::builder().text("text").text("note").keyword("tag").build().unwrap();
        let mut words: Vec<Vec<String>> = vec![vec![]; N_DOCS];
        for size in SIZES {
            // Spread over all documents, at the start, and in one run across a window's end.
            let step = 7_919; // coprime to the number of documents
            (0..size).for_each(|i| words[(i * step + size) % N_DOCS].push(format!("spread{size}")));
            (0..size).for_each(|i| words[i].push(format!("first{size}")));
            let from = 65_536usize.saturating_sub(size / 2).min(N_DOCS - size);
            (from..from + size).for_each(|doc| words[doc].push(format!("run{size}")));
        }
        let mut random = Random(42);
        let docs: Vec<Document> = words
            .into_iter()
            .enumerate()
            .map(|(doc, words)| {
                let mut document =
                    Document::new().with("text", format!("Every {}", words.join(", ")));
                if doc % 3 == 0 {
                    document.push("note", format!("note{} shared", doc % 60));
                }
                for _ in 0..random.below(3) {
                    let rank = random.below(40) * random.below(40) / 20;
                    document.push("tag", format!("Tag {rank}"));
                }
                document
            })
            .collect();
        let naive = NaiveIndex::new(&schema, &docs);
        let one = searcher(&schema, &[&docs]);
        let (a, rest) = docs.split_at(1);
        let (b, rest) = rest.split_at(65_536);
        let (c, d) = rest.split_at(300);
        let several = searcher(&schema, &[a, b, c, d]);
        let read = Index::options().read_mode(ReadMode::Pread);
        let directory =
            std::env::temp_dir().join(format!("treepie-oracle-{}.tp", std::process::id()));
        let read = read.overwrite(&directory, schema.clone()).unwrap();
        let halves = [&docs[..70_000], &docs[70_000..]];
        let of_read = fill(&read, &halves);
        let in_memory = Index::in_memory(schema);
        fill(&in_memory, &[a, b, c, d]);
        let without_deleted = [delete_some(&in_memory), delete_some(&read)];
        let gone = naive
            .matches(&Query::any_of(DELETED_FIRST.iter().chain(DELETED).map(|text| parse(text))));
        let live = gone.into_iter().map(|gone| !gone).collect();
        // Open files outlive their names.
        std::fs::remove_dir_all(directory).unwrap();
        Corpus { naive, searchers: [one, several, of_read], without_deleted, live }
    }

    /// Each searcher, and for every document whether it is to be found by what matches.
    fn each(&self, matches: &[bool]) -> impl Iterator<Item = (&Searcher, Vec<bool>)> {
        let live: Vec<bool> = matches.iter().zip(&self.live).map(|(a, b)| *a && *b).collect();
        let all = self.searchers.iter().map(|searcher| (searcher, matches.to_vec()));
        all.chain(self.without_deleted.iter().map(move |searcher| (searcher, live.clone())))
    }
}

/// What is deleted by one commit, and by the next; no segment as a whole, so that numbers stay what they are.
const DELETED_FIRST: &[&str] = &["spread4097", "+first65536 +spread65537 -first1"];
const DELETED: &[&str] = &[
    "run65537 -spread100000",
    "run4096 -spread65536",
    r#"+tag:"Tag 7" -first1"#,
    "spread255 OR spread1",
];

fn parse(text: &str) -> Query {
    treepie::query::parse(text, &treepie::query::ParseOptions::default()).unwrap()
}

fn delete_some(index: &Index) -> Searcher {
    let mut writer = index.writer().unwrap();
    let n_segments = writer.commit().unwrap().segments;
    let mut n_deleted = 0;
    for queries in [DELETED_FIRST, DELETED] {
        queries.iter().for_each(|text| writer.delete(&parse(text)).unwrap());
        let commit = writer.commit().unwrap();
        n_deleted += commit.deleted;
        assert_eq!(commit.segments, n_segments, "numbers are not what they were");
    }
    let searcher = index.searcher().unwrap();
    assert_eq!((searcher.n_docs(), searcher.n_deleted()), (N_DOCS as u64 - n_deleted, n_deleted));
    searcher
}

fn searcher(schema: &Schema, segments: &[&[Document]]) -> Searcher {
    fill(&Index::in_memory(schema.clone()), segments)
}

fn fill(index: &Index, segments: &[&[Document]]) -> Searcher {
    let mut writer = index.writer().unwrap();
    for segment in segments {
        for document in *segment {
            writer.add(document.clone()).unwrap();
        }
        writer.commit().unwrap();
    }
    index.searcher().unwrap()
}

fn leaf(random: &mut Random) -> Query {
    let size = SIZES[random.below(SIZES.len())];
    match random.below(18) {
        0 => Query::word("absent"),
        1 => Query::word_in("text", "every"),
        2 => Query::value("tag", format!("Tag {}", random.below(80))),
        3 => Query::word_in("note", format!("NOTE{}", random.below(60))),
        4 => Query::exists(["text", "note", "tag"][random.below(3)]),
        5 => [Query::All, Query::Nothing][random.below(2)].clone(),
        6 => Query::word(format!("run{size} first{size}")),
        7 | 8 => Query::word_in("text", format!("run{size}")),
        9 => Query::word_in("text", format!("first{size}")),
        11 => Query::prefix(["spread", "run65", "first4", "first2"][random.below(4)]),
        12 => Query::wildcard(["run?", "*65536", "s*5?", "tag*"][random.below(4)]),
        13 => Query::fuzzy(format!("run{size}"), Fuzziness::new(1)).unwrap(),
        14 => Query::wildcard(["T?g 1*", "*3"][random.below(2)]).in_field("tag"),
        15 => Query::in_set((0..5).map(|_| format!("Tag {}", random.below(90)))).in_field("tag"),
        _ => Query::word(format!("spread{size}")),
    }
}

fn query(random: &mut Random, depth: usize) -> Query {
    if depth == 0 || random.below(5) == 0 {
        return leaf(random);
    }
    let mut some = |least: usize, more: usize| -> Vec<Query> {
        let n = least + random.below(more + 1);
        (0..n).map(|_| query(random, depth - 1)).collect()
    };
    let (a, b, c) = (some(0, 2), some(1, 3), some(0, 2));
    match random.below(4) {
        _ if random.below(5) == 0 => Query::Group {
            must: if random.below(2) == 0 { vec![] } else { a },
            should: [b, c].concat(),
            must_not: vec![],
            minimum: Some(random.below(4) as u32),
        },
        0 => Query::And(b),
        1 => Query::Or(b),
        2 => Query::not(query(random, depth - 1)),
        _ => Query::group(a, b, c),
    }
}

fn check(corpus: &Corpus, query: &Query, random: &mut Random) {
    let matches = corpus.naive.matches(query);
    for (searcher, matches) in corpus.each(&matches) {
        check_on(searcher, corpus, &matches, query, random);
    }
}

fn check_on(
    searcher: &Searcher,
    corpus: &Corpus,
    matches: &[bool],
    query: &Query,
    random: &mut Random,
) {
    let docs: Vec<u64> = (0..).zip(matches).filter(|(_, hit)| **hit).map(|(doc, _)| doc).collect();
    let total = docs.len() as u64;
    let (offset, limit) = match random.below(3) {
        0 => (0, 10),
        1 => (random.below(docs.len() + 2), random.below(5)),
        _ => (random.below(docs.len() + 2), random.below(2_000)),
    };
    let expected = &docs[offset.min(docs.len())..(offset + limit).min(docs.len())];
    let facet = ["tag", "note"][random.below(2)];
    let facet_limit = random.below(12);
    let with_facets = random.below(4) == 0;
    let mut prepared = searcher.search(query).count_only().prepare().unwrap();
    assert_eq!(prepared.run().unwrap().total.value, total, "count of {query}");
    assert_eq!(prepared.run().unwrap().total.value, total, "second count of {query}");

    let search = || {
        searcher
            .search(query)
            .order(Order::Document)
            .offset(offset as u64)
            .limit(limit as u64)
            .fields::<&str>([])
    };
    let mut page = search();
    if with_facets {
        page = page.facet(facet, facet_limit);
    }
    let page = page.run().unwrap();
    let found: Vec<u64> = page.hits.iter().map(|hit| hit.doc.0).collect();
    assert_eq!(found, expected, "{limit} from {offset} of {query}");
    assert_eq!(page.total.value, total, "total of {query}");
    for mode in [TotalMode::Unknown, TotalMode::UpTo(50)] {
        let page = search().total(mode).run().unwrap();
        let found: Vec<u64> = page.hits.iter().map(|hit| hit.doc.0).collect();
        assert_eq!(found, expected, "{limit} from {offset} of {query}, {mode:?}");
        assert!(page.total.value <= total, "{mode:?} of {query}");
        if page.total.relation.name() == "exact" {
            assert_eq!(page.total.value, total, "{mode:?} of {query}");
        }
    }
    if with_facets {
        let (buckets, missing) = corpus.naive.facet(facet, facet_limit, matches);
        let counts = &page.facets[0];
        let found: Vec<_> = counts.buckets.iter().map(|b| (b.value.to_string(), b.count)).collect();
        assert_eq!(found, buckets, "{facet} of {query}");
        assert_eq!(counts.missing, missing, "documents without {facet} of {query}");
    }
    for search in [searcher.search(query).count_only(), search()] {
        let sampled =
            search.clone().explainer().estimate_from(EstimateFrom::Samples).explain().unwrap();
        check_bounds(&sampled, total, offset, limit);
        check_estimates(&sampled, &search, (total, offset, limit));
        let analyzed = search.analyze().unwrap();
        check_bounds(&analyzed, total, offset, limit);
        for node in analyzed.plan.iter() {
            let actual = node.actual.as_ref().unwrap();
            assert!(actual.documents <= node.estimate.upper, "{} in {query}", node.label);
            let at_least = if actual.complete { node.estimate.lower } else { 0 };
            assert!(at_least <= actual.documents, "{} in {query}: {node:?}", node.label);
        }
    }
}

/// A plan is the same each time; samples make bounds no wider and change nothing but what is expected.
fn check_estimates(
    sampled: &ExplainTree,
    search: &SearchBuilder<'_>,
    of_page: (u64, usize, usize),
) {
    let plan_from = |from| search.clone().explainer().estimate_from(from).explain().unwrap();
    assert_eq!(&plan_from(EstimateFrom::Samples), sampled);
    let [dictionary, headers] = [EstimateFrom::Dictionary, EstimateFrom::Headers].map(plan_from);
    let nodes = dictionary.plan.iter().zip(headers.plan.iter()).zip(sampled.plan.iter());
    for ((least, more), most) in nodes {
        assert_eq!(
            (&more.operator, &more.algorithm),
            (&most.operator, &most.algorithm),
            "{sampled}"
        );
        for (a, b) in [(least, more), (more, most)] {
            assert_eq!(a.label, b.label);
            let (a, b) = (&a.estimate, &b.estimate);
            assert!(a.lower <= b.lower && b.upper <= a.upper, "{dictionary}\n{headers}\n{sampled}");
        }
    }
    for tree in [&dictionary, &headers] {
        let (total, offset, limit) = of_page;
        check_bounds(tree, total, offset, limit);
    }
}

/// What the plan promises of the whole query holds, whatever happened to its parts.
fn check_bounds(tree: &ExplainTree, total: u64, offset: usize, limit: usize) {
    let (estimate, actual) = match tree.plan.operator.name() {
        "Limit" | "TopK" => {
            (&tree.plan.estimate, total.saturating_sub(offset as u64).min(limit as u64))
        }
        _ => (&tree.plan.estimate, total),
    };
    let (lower, upper) = (estimate.lower, estimate.upper);
    assert!(
        lower <= actual && actual <= upper,
        "{} is not in {lower}..={upper}: {}",
        actual,
        tree.query
    );
    assert!(lower <= estimate.documents && estimate.documents <= upper);
}

#[test]
fn random_queries_answer_like_the_naive_index() {
    let mut random = Random(0x5EED);
    for _ in 0..QUERIES {
        let depth = random.below(4);
        let query = query(&mut random, depth);
        check(&CORPUS, &query, &mut random);
    }
}

#[test]
fn every_pair_of_list_sizes_is_combined_right() {
    let mut random = Random(7);
    for a in SIZES {
        for b in SIZES {
            let kinds = ["spread", "first", "run"];
            let [x, y] =
                [a, b].map(|size| Query::word(format!("{}{size}", kinds[random.below(3)])));
            for query in [
                Query::And(vec![x.clone(), y.clone()]),
                Query::Or(vec![x.clone(), y.clone()]),
                Query::group(vec![x.clone()], vec![], vec![y.clone()]),
            ] {
                for (searcher, expected) in CORPUS.each(&CORPUS.naive.matches(&query)) {
                    let expected = expected.into_iter().filter(|hit| *hit).count();
                    assert_eq!(searcher.count(&query).unwrap(), expected as u64, "{query}");
                }
            }
        }
    }
}

#[test]
fn queries_obey_the_laws_of_sets() {
    let mut random = Random(99);
    let count = |query: &Query| CORPUS.searchers[1].count(query).unwrap();
    let and = |a: &Query, b: &Query| Query::And(vec![a.clone(), b.clone()]);
    let or = |a: &Query, b: &Query| Query::Or(vec![a.clone(), b.clone()]);
    let not = |a: &Query| Query::not(a.clone());
    for _ in 0..200 {
        let [a, b, c] = [1, 1, 2].map(|depth| query(&mut random, depth));
        assert_eq!(count(&or(&a, &b)) + count(&and(&a, &b)), count(&a) + count(&b), "{a} | {b}");
        assert_eq!(
            count(&not(&and(&a, &b))),
            count(&or(&not(&a), &not(&b))),
            "De Morgan: {a} | {b}"
        );
        assert_eq!(
            count(&and(&a, &or(&b, &c))),
            count(&or(&and(&a, &b), &and(&a, &c))),
            "{a} | {b} | {c}"
        );
        assert_eq!(count(&and(&a, &not(&a))), 0, "{a}");
        assert_eq!(count(&or(&a, &not(&a))), N_DOCS as u64, "{a}");
        assert_eq!(count(&and(&a, &not(&b))) + count(&and(&a, &b)), count(&a), "{a} without {b}");
    }
}
