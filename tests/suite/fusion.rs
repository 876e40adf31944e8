//! Fusion of ranked lists beside a naive one, which runs each branch as a search of its own and adds up by hand.

use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet};
use treepie::query::{Boost, Query};
use treepie::schema::{Metric, VectorParams};
use treepie::search::{
    Collapse, Fusion, FusionMethod, Order, RankedList, SearchBuilder, SortKey, TotalMode,
};
use treepie::{DocId, Document, ErrorKind, Facet, Index, Schema, SearchRequest, Searcher, Value};

const WORDS: [&str; 6] = ["crow", "raven", "jay", "magpie", "nest", "egg"];

fn schema() -> Schema {
    let schema = Schema::builder().text("title").keyword("kind").key("id");
    schema.vector("v", VectorParams::new(2, Metric::Cosine)).build().unwrap()
}

/// Documents over a few segments, some of them deleted.
fn searcher(random: &mut Random) -> Searcher {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    for nth in 0..120 {
        let n_words = 1 + random.below(4);
        let title: Vec<_> = (0..n_words).map(|_| WORDS[random.below(WORDS.len())]).collect();
        let mut document =
            Document::new().with("title", title.join(" ")).with("id", format!("k{nth}"));
        document = document.with("kind", ["a", "b", "c"][random.below(3)]);
        if random.below(4) > 0 {
            document =
                document.with("v", vec![random.below(9) as f32 - 4.5, random.below(7) as f32]);
        }
        writer.add(document).unwrap();
        if nth % 50 == 40 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    let query = Query::in_set(["k3", "k77", "k50"]).in_field("id");
    writer.delete(&query).unwrap();
    writer.commit().unwrap();
    index.searcher().unwrap()
}

/// A fusion, kept apart as the naive one needs it.
#[derive(Clone, Debug)]
struct Asked {
    method: FusionMethod,
    queries: Vec<(Query, f32)>,
    lists: Vec<(Vec<(String, f32)>, f32)>,
    window: u64,
    limit: u64,
    offset: u64,
    selected: Option<&'static str>,
}

impl Asked {
    fn random(random: &mut Random) -> Self {
        let word = |random: &mut Random| Query::word(WORDS[random.below(WORDS.len())]);
        let weight = |random: &mut Random| [1.0, 0.5, 0.3, 2.0][random.below(4)];
        let mut queries = vec![(Query::any_of([word(random), word(random)]), weight(random))];
        for _ in 0..random.below(3) {
            let vector = vec![random.below(9) as f32 - 4.5, random.below(9) as f32];
            let query = match random.below(3) {
                0 => word(random),
                1 => Query::nearest("v", vector, 1 + random.below(30) as u32),
                _ => Query::all_of([word(random), Query::nearest("v", vector, 5)]),
            };
            queries.push((query, weight(random)));
        }
        let n_lists = if queries.len() == 1 { 1 } else { random.below(2) };
        let lists = (0..n_lists).map(|_| {
            let mut keys: Vec<usize> = (0..20).map(|_| random.below(120)).collect();
            keys.retain(|key| ![3, 77, 50].contains(key));
            let mut known = BTreeSet::new();
            keys.retain(|key| known.insert(*key));
            let of_key = |(nth, key): (usize, usize)| (format!("k{key}"), 20.0 - nth as f32);
            (keys.into_iter().enumerate().map(of_key).collect(), weight(random))
        });
        let lists = lists.collect();
        let method = match random.below(2) {
            0 => FusionMethod::Rrf { k: [0, 1, 60][random.below(3)] },
            _ => FusionMethod::Sum,
        };
        let (limit, offset) = (1 + random.below(12) as u64, random.below(3) as u64 * 4);
        let window = limit + offset + random.below(30) as u64;
        let selected = [None, None, Some("a"), Some("b")][random.below(4)];
        Asked { method, queries, lists, window, limit, offset, selected }
    }

    fn fusion(&self) -> Fusion {
        let boost = |weight: f32| Boost::new(weight).unwrap();
        let fusion = match self.method {
            FusionMethod::Rrf { k } => Fusion::rrf_with(k),
            _ => Fusion::sum(),
        };
        let fusion = fusion.own_weight(boost(self.queries[0].1)).window(self.window);
        let queries = self.queries[1..].iter();
        let fusion = queries.fold(fusion, |fusion, (query, weight)| {
            fusion.with_weighted(query.clone(), boost(*weight))
        });
        self.lists.iter().fold(fusion, |fusion, (list, weight)| {
            fusion.list(RankedList::scored(list.iter().cloned()).weight(boost(*weight)))
        })
    }

    fn search<'s>(&'s self, searcher: &'s Searcher) -> SearchBuilder<'s> {
        let search = searcher.search(&self.queries[0].0).fuse(self.fusion());
        self.selected(search).limit(self.limit).offset(self.offset)
    }

    fn selected<'s>(&self, search: SearchBuilder<'s>) -> SearchBuilder<'s> {
        match self.selected {
            Some(kind) => search.select("kind", [kind]),
            None => search,
        }
    }

    /// Score of each document of some window, and all documents that match.
    fn naive(&self, searcher: &Searcher) -> (BTreeMap<DocId, f32>, BTreeSet<DocId>) {
        let (mut sums, mut all): (BTreeMap<DocId, f32>, _) = (BTreeMap::new(), BTreeSet::new());
        let mut add = |ranked: Vec<(DocId, u64, f32)>, weight: f32| {
            let best = ranked.first().map_or(0.0, |it| it.2);
            for (doc, rank, score) in ranked {
                let part = match self.method {
                    FusionMethod::Rrf { k } => 1.0 / (f64::from(k) + rank as f64),
                    _ => f64::from(score) / f64::from(best),
                };
                *sums.entry(doc).or_default() += (f64::from(weight) * part) as f32;
            }
        };
        for (query, weight) in &self.queries {
            let everything = self.selected(searcher.search(query)).limit(1_000).run().unwrap();
            all.extend(everything.hits.iter().map(|hit| hit.doc));
            let best = (1..).zip(everything.hits).take(self.window as usize);
            add(best.map(|(rank, hit)| (hit.doc, rank, hit.score.unwrap())).collect(), *weight);
        }
        for (list, weight) in &self.lists {
            let ranked = (1..).zip(list).filter_map(|(rank, (key, score))| {
                let of_key = Query::value("id", &**key);
                let found = self.selected(searcher.search(&of_key)).run().unwrap();
                Some((found.hits.first()?.doc, rank, *score))
            });
            let ranked: Vec<_> = ranked.collect();
            all.extend(ranked.iter().map(|it| it.0));
            add(ranked, *weight);
        }
        (sums, all)
    }

    fn naive_page(&self, sums: &BTreeMap<DocId, f32>) -> Vec<(DocId, f32)> {
        let mut sorted: Vec<_> = sums.iter().map(|(doc, score)| (*doc, *score)).collect();
        sorted.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        sorted.into_iter().skip(self.offset as usize).take(self.limit as usize).collect()
    }
}

#[test]
fn fused_pages_totals_and_facets_are_those_of_a_naive_fusion() {
    for seed in 0..8_u64 {
        let mut random = Random(seed + 1);
        let searcher = searcher(&mut random);
        for _ in 0..30 {
            let asked = Asked::random(&mut random);
            let (sums, all) = asked.naive(&searcher);
            let page = asked.search(&searcher).facet("kind", 5).run().unwrap();
            let found: Vec<_> = page.hits.iter().map(|hit| (hit.doc, hit.score.unwrap())).collect();
            assert_eq!(found, asked.naive_page(&sums), "{seed}: {asked:?}");
            assert_eq!(page.total.value, all.len() as u64, "{seed}: {asked:?}");
            // A facet leaves out the selection of its own field, also for neighbours.
            let (_, unselected) = Asked { selected: None, ..asked.clone() }.naive(&searcher);
            let counted = page.facets[0].buckets.iter().map(|bucket| bucket.count);
            assert_eq!(counted.sum::<u64>(), unselected.len() as u64, "{seed}: {asked:?}");
            // Hits say what each branch added, and so does the explanation of a score.
            for hit in &page.hits {
                let parts: f32 = hit.fused.iter().map(|part| part.part).sum();
                assert_eq!(Some(parts), hit.score, "{asked:?}");
                let explained = asked.search(&searcher).explainer().score(hit.doc).unwrap();
                let explained = explained.unwrap();
                assert_eq!(Some(explained.value), hit.score, "{asked:?}");
                assert_eq!(explained.parts.len(), hit.fused.len());
            }
            same_in_other_ways(&asked, &searcher);
        }
    }
}

/// Without a count, prepared, explained, from JSON: hits stay as they are.
fn same_in_other_ways(asked: &Asked, searcher: &Searcher) {
    let hits = asked.search(searcher).run().unwrap().hits;
    let of = |found: &[treepie::Hit]| found.iter().map(|it| (it.doc, it.score)).collect::<Vec<_>>();
    let uncounted = asked.search(searcher).total(TotalMode::Unknown).run().unwrap();
    assert_eq!(uncounted.hits, hits);
    let mut prepared = asked.search(searcher).prepare().unwrap();
    for _ in 0..2 {
        assert_eq!(of(&prepared.run().unwrap().hits), of(&hits));
    }
    let (explained, plan) = asked.search(searcher).explainer().run().unwrap();
    assert_eq!(explained.hits, hits);
    assert_eq!(plan.plan.operator.name(), "Fuse");
    assert_eq!(plan.plan.children.len(), 1 + asked.queries.len() + asked.lists.len());
    let request = asked.search(searcher).request().clone();
    let read = SearchRequest::from_json(&request.to_json().unwrap()).unwrap();
    assert_eq!(read, request);
    assert_eq!(searcher.run(&read).unwrap().hits, hits);
}

/// Hits of a query by words, the best so many of them by similarity: those without a vector last, both as words have them.
fn naive_rerank(
    searcher: &Searcher,
    words: SearchBuilder<'_>,
    to: [f32; 2],
    n: usize,
) -> Vec<(DocId, f32)> {
    let mut hits = words.limit(n as u64).run().unwrap().hits;
    let score = |doc| {
        let fields = searcher.document(doc).unwrap();
        let own = fields.get("v")?.first()?.as_vector()?;
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        Some((1.0 + dot(own, &to) / (dot(own, own) * dot(&to, &to)).sqrt()) / 2.0)
    };
    let known: Vec<_> = hits.drain(..).map(|hit| (hit.doc, score(hit.doc))).collect();
    let mut with: Vec<_> = known.iter().filter_map(|(doc, it)| Some((*doc, (*it)?))).collect();
    with.sort_by(|a, b| {
        if (a.1 - b.1).abs() < 1e-6 { std::cmp::Ordering::Equal } else { b.1.total_cmp(&a.1) }
    });
    with.extend(known.iter().filter(|it| it.1.is_none()).map(|(doc, _)| (*doc, 0.0)));
    with
}

#[test]
fn the_best_by_words_are_ordered_by_similarity() {
    for seed in 1..8 {
        let mut random = Random(seed);
        let searcher = searcher(&mut random);
        for _ in 0..20 {
            let query =
                Query::any_of([0, 1].map(|_| Query::word(WORDS[random.below(WORDS.len())])));
            let to = [random.below(9) as f32 - 4.5, random.below(9) as f32];
            let n = 1 + random.below(60);
            let select = random.below(2) == 0;
            let words = || match select {
                true => searcher.search(&query).select("kind", ["a"]),
                false => searcher.search(&query),
            };
            let expected = naive_rerank(&searcher, words(), to, n);
            let reranked = || words().fuse(Fusion::rerank("v", to, n as u32)).limit(n as u64);
            let page = reranked().facet("kind", 5).run().unwrap();
            let found: Vec<_> = page.hits.iter().map(|hit| (hit.doc, hit.score.unwrap())).collect();
            // Similarities that are equal may differ by the order in which they are added up.
            let n_with = expected.iter().filter(|it| it.1 > 0.0).count();
            let scores: BTreeMap<DocId, f32> = expected.iter().copied().collect();
            let is_near = |a: f32, b: f32| (a - b).abs() < 1e-5;
            let is_own = |(doc, score): &(DocId, f32)| {
                scores.get(doc).is_some_and(|own| is_near(*own, *score))
            };
            let in_order = found.iter().zip(&expected).all(|(a, b)| is_near(a.1, b.1));
            let are_same = found.len() == expected.len() && found.iter().all(is_own) && in_order;
            assert!(are_same, "{seed} {query} {to:?} {n}\n{found:?}\n{expected:?}");
            assert_eq!(found[n_with..], expected[n_with..], "{seed} {query} {to:?} {n}");
            // Nothing is found beside what words find, and counted.
            let all = words().facet("kind", 5).run().unwrap();
            assert_eq!((&page.total, &page.facets), (&all.total, &all.facets));
            let second = reranked().limit(n as u64 / 2).offset(n as u64 / 3).run().unwrap();
            let half = page.hits.iter().skip(n / 3).take(n / 2);
            assert!(second.hits.iter().map(|hit| hit.doc).eq(half.map(|hit| hit.doc)));
            let mut prepared = reranked().prepare().unwrap();
            for _ in 0..2 {
                let docs = &prepared.run().unwrap().hits;
                assert!(docs.iter().map(|hit| hit.doc).eq(found.iter().map(|it| it.0)));
            }
            for hit in &page.hits {
                assert_eq!(hit.fused[0].branch, 0);
                let explained = reranked().explainer().score(hit.doc).unwrap().unwrap();
                assert_eq!(Some(explained.value), hit.score);
            }
            let (run, tree) = reranked().explainer().run().unwrap();
            assert_eq!(run.hits.len(), found.len());
            let [_, own, similarity] = &tree.plan.children[..] else { panic!("{tree}") };
            assert!(own.label.starts_with("branch 0: "), "{tree}");
            assert!(similarity.label.starts_with("branch 1: v:nearest("), "{tree}");
            let actual = similarity.actual.as_ref().unwrap();
            assert!(actual.documents >= n_with as u64, "{tree}");
            assert!(
                tree.plan.algorithm.contains(&format!("similarity of the best {n}, ")),
                "{tree}"
            );
            let read = SearchRequest::from_json(&reranked().request().to_json().unwrap()).unwrap();
            assert_eq!(searcher.run(&read).unwrap().hits.len(), found.len());
        }
    }
}

#[test]
fn an_order_by_similarity_is_refused_beside_another() {
    let searcher = searcher(&mut Random(1));
    let query = Query::word("crow");
    let rerank = |n| Fusion::rerank("v", [1.0, 0.0], n);
    let search = |fusion: Fusion| searcher.search(&query).fuse(fusion).limit(5);
    let keys = RankedList::of_keys(["k1"]);
    let refused = [
        (search(rerank(4)), "5 hits or more, as the page ends there, found 4"),
        (search(rerank(100)).offset(96), "101 hits or more"),
        (search(rerank(9)).sort([SortKey::ascending("kind")]), "keys to sort by"),
        (search(rerank(9)).collapse(Collapse::by("kind")), "hits that are grouped"),
        (search(rerank(9)).order(Order::Document), "document order"),
        (search(rerank(9)).with_facet(Facet::values("kind").top_hits(1)), "best hits of buckets"),
        (search(rerank(9).list(keys)), "one vector beside the search's own query"),
        (search(rerank(9).with(Query::word("nest"))), "found 2 queries, 0 lists"),
    ];
    for (search, words) in refused {
        let error = search.run().unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert!(error.to_string().contains("similarity"), "{error}");
        assert_eq!(error.kind(), ErrorKind::Usage);
    }
    let wrong = [
        (Fusion::rerank("v", [1.0], 9), "a vector of 2 numbers, found one of 1"),
        (Fusion::rerank("v", [0.0, 0.0], 9), "a direction"),
        (Fusion::rerank("w", [1.0, 0.0], 9), "'w'"),
        // Whatever else is wrong with it.
        (Fusion::rerank("w", [1.0, 0.0], 4), "'w'"),
        (Fusion::rerank("v", [1.0], 4), "a vector of 2 numbers, found one of 1"),
        (Fusion::rrf().with(Query::nearest("w", [1.0, 0.0], 9)).window(4), "'w'"),
        (Fusion::rerank("kind", [1.0, 0.0], 9), "a field of vectors"),
        (Fusion::rerank("v", DocId(3_000), 9), "doc:3000"),
    ];
    for (fusion, words) in wrong {
        let error = search(fusion).run().unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.kind(), ErrorKind::Query, "{error}");
    }
}

#[test]
fn what_cannot_be_fused_is_refused_by_name() {
    let searcher = searcher(&mut Random(1));
    let query = Query::word("crow");
    let near = || Fusion::rrf().with(Query::nearest("v", [1.0, 0.0], 3));
    let search = |fusion: Fusion| searcher.search(&query).fuse(fusion);
    let keys = |keys: &[&str]| RankedList::of_keys(keys.iter().copied());
    let refused = [
        (search(Fusion::rrf()), "another query or a list"),
        (search(near().window(9)), "at least 10 hits"),
        (search(near()).sort([SortKey::ascending("kind")]), "keys to sort by"),
        (search(near()).collapse(Collapse::by("kind")), "hits that are grouped"),
        (search(near()).order(Order::Document), "document order"),
        (search(near()).with_facet(Facet::values("kind").top_hits(1)), "best hits of buckets"),
        (search(Fusion::sum().list(keys(&["k1"]))), "a score of each key"),
        (search(Fusion::rrf().list(keys(&["k1", "k2", "k1"]))), "each key once"),
        (search(Fusion::rrf().list(keys(&["k1", "elsewhere"]))), "elsewhere at rank 2"),
        (search(Fusion::rrf().list(keys(&["k3"]))), "k3 at rank 1"),
        (search(Fusion::sum().list(RankedList::scored([("k1", f32::NAN)]))), "finite scores"),
        (search(Fusion::rrf().list(RankedList::of_keys([Value::Null]))), "null at entry 1"),
    ];
    for (search, words) in refused {
        let error = search.run().unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.kind(), ErrorKind::Usage);
    }
    let wrong_field = search(Fusion::rrf().with(Query::nearest("w", [1.0], 3))).run();
    assert!(wrong_field.unwrap_err().to_string().contains('w'));
    let missing = keys(&["elsewhere", "k1"]).allow_missing();
    let page = search(Fusion::rrf().list(missing)).limit(100).run().unwrap();
    let of_list = page.hits.iter().flat_map(|hit| &hit.fused).filter(|part| part.branch == 1);
    assert_eq!(of_list.map(|part| part.rank).collect::<Vec<_>>(), [2]);
    let unkeyed = Index::in_memory(Schema::builder().text("title").build().unwrap());
    let unkeyed = unkeyed.searcher().unwrap();
    let error = unkeyed.search(&query).fuse(Fusion::rrf().list(keys(&["k1"]))).run().unwrap_err();
    assert!(error.to_string().contains("a schema with a key"), "{error}");
}
