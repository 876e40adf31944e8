//! How many documents a plan expects: what samples say, and that it stays between bounds that hold.

use proptest::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use treepie::explain::EstimateFrom;
use treepie::explain::{EstimateErrors, ExplainNode, ExplainTree};
use treepie::facet::FacetMethod;
use treepie::query::Query;
use treepie::search::{Collapse, Order};
use treepie::storage::{
    Entry, MemoryStorage, Pin, ReadMode, Storage, StorageRead, StorageWrite, WriterLock,
};
use treepie::{
    Document, Facet, Field, FieldKind, Index, IndexOptions, Result, Schema, Searcher, SortKey,
};

fn fill(index: &Index, segments: &[Vec<String>]) -> Searcher {
    let mut writer = index.writer().unwrap();
    for segment in segments {
        for text in segment {
            writer.add(Document::new().with("t", &**text)).unwrap();
        }
        writer.commit().unwrap();
    }
    index.searcher().unwrap()
}

fn schema() -> Schema {
    Schema::builder().text("t").build().unwrap()
}

fn plan(searcher: &Searcher, text: &str, from: EstimateFrom) -> ExplainTree {
    let query = searcher.parse(text).unwrap();
    searcher.search(&query).count_only().explainer().estimate_from(from).explain().unwrap()
}

fn node<'t>(tree: &'t ExplainTree, operator: &str) -> &'t ExplainNode {
    tree.plan.iter().find(|node| node.operator.name() == operator).unwrap()
}

/// Five words that are always together, in a twentieth of 230,000 documents: more than may be counted.
#[test]
fn words_that_keep_company_are_estimated_by_some_of_many_windows() {
    let texts = (0..230_000).map(|n: u32| match n.wrapping_mul(2_654_435_761) % 100 {
        0..5 => "a b c d e".into(),
        5..10 => "a b".into(),
        _ => "nobody".into(),
    });
    let searcher = fill(&Index::in_memory(schema()), &[texts.collect()]);
    let text = "+a +b +c +d +e";
    let actual = searcher.count(&searcher.parse(text).unwrap()).unwrap();

    let headers = plan(&searcher, text, EstimateFrom::Headers).plan.estimate;
    assert!(headers.documents * 100 < actual, "independence fails here");
    let sampled = plan(&searcher, text, EstimateFrom::Samples).plan.estimate;
    assert!(sampled.source.starts_with("counted in "), "{sampled:?}");
    assert!(sampled.source.ends_with(" of 4 windows"), "{sampled:?}");
    assert!(!sampled.is_exact());
    let q = sampled.documents as f64 / actual as f64;
    assert!((0.9..1.1).contains(&q), "{q} of {actual}: {sampled:?}");
    // What was counted is proven.
    assert!(sampled.lower > actual / 5 && headers.lower == 0, "{sampled:?}");
    assert!(sampled.lower <= actual && actual <= sampled.upper);
    assert_eq!(plan(&searcher, text, EstimateFrom::Samples).plan.estimate, sampled);
}

/// Two words that do not know each other, frequent in two windows and rare in twenty, and three that are always together.
#[test]
fn dense_windows_say_nothing_wrong_of_sparse_ones() {
    const DENSE: u32 = 2 << 16;
    let texts = (0..22_u32 << 16).map(|n| {
        let hash = u64::from(n).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let (x, y, z) = (hash >> 40 & 0xFFFF, hash >> 20 & 0xFFFF, hash & 0xFFFF);
        let one_in = if n < DENSE { 2 } else { 200 };
        let words = [("x", x), ("y", y), ("p q r", z)];
        let words = words.iter().filter(|(_, chance)| *chance < 65_536 / one_in);
        words.map(|(word, _)| *word).collect::<Vec<_>>().join(" ")
    });
    let searcher = fill(&Index::in_memory(schema()), &[texts.collect()]);
    for text in ["x AND y", "+p +q +r", "x AND y AND p", "(x OR p) AND y"] {
        let actual = searcher.count(&searcher.parse(text).unwrap()).unwrap();
        let e = plan(&searcher, text, EstimateFrom::Samples).plan.estimate;
        let q = e.documents as f64 / actual as f64;
        assert!((0.8..1.25).contains(&q), "{q} of {actual}: {text}: {e:?}");
    }
}

/// Many segments of a few documents each take no more than one.
#[test]
fn many_segments_are_sampled_as_long_as_there_is_work_left() {
    let index = Index::in_memory(schema());
    let options = treepie::WriterOptions::new()
        .merge_policy(treepie::writer::MergePolicy::default().factor(256));
    let mut writer = index.writer_with(options).unwrap();
    for n in 0..120_000_u32 {
        let text = ["a b c d", "a b", "a", "c d"].get(n as usize % 16).copied().unwrap_or("x");
        writer.add(Document::new().with("t", text)).unwrap();
        if n % 1_200 == 1_199 {
            writer.commit().unwrap();
        }
    }
    let searcher = index.searcher().unwrap();
    let tree = plan(&searcher, "+a +b +c +d", EstimateFrom::Samples);
    let node = node(&tree, "Intersect");
    let of = |source: &str| {
        node.segments.iter().filter(|part| part.estimate.source.contains(source)).count()
    };
    assert_eq!(node.segments.len(), 100);
    assert!(of("counted") >= 10 && of("independence") >= 10, "{tree}");
    for part in &node.segments {
        let e = &part.estimate;
        assert!(e.lower <= 75 && 75 <= e.upper, "{tree}");
    }
}

#[test]
fn a_little_work_counts_all_windows_of_all_segments_and_says_so() {
    let text = |n: u32| match n % 40 {
        0 => "a b".into(),
        1 => "b a".into(),
        2 => "a c".into(),
        _ => "c".into(),
    };
    let segments = [(0..500).map(text).collect(), (0..70_000).map(text).collect()];
    let searcher = fill(&Index::in_memory(schema()), &segments);
    for (text, operator, source) in [
        ("a AND b", "Intersect", "counted in all 3 windows"),
        ("a AND (b OR c)", "Union", "counted in all 3 windows"),
        ("a -b", "Difference", "counted in all 3 windows"),
    ] {
        let tree = plan(&searcher, text, EstimateFrom::Samples);
        let estimate = &node(&tree, operator).estimate;
        assert!(estimate.is_exact(), "{tree}");
        assert_eq!(estimate.source, source);
        let actual = searcher.count(&searcher.parse(text).unwrap()).unwrap();
        assert_eq!(tree.plan.estimate.documents, actual, "{tree}");
        // What is known by counting changes nothing of the way.
        let headers = plan(&searcher, text, EstimateFrom::Headers);
        for (a, b) in tree.plan.iter().zip(headers.plan.iter()) {
            assert_eq!((&a.algorithm, a.children.len()), (&b.algorithm, b.children.len()));
        }
        let query = searcher.parse(text).unwrap();
        let run = searcher.search(&query).count_only().analyze().unwrap();
        let arrays = run.plan.iter().flat_map(|node| &node.actual).map(|it| it.containers.array);
        assert!(arrays.sum::<u64>() > 0, "it was carried out all the same: {run}");
    }
    let tree = plan(&searcher, "\"a b\"", EstimateFrom::Samples);
    let estimate = &node(&tree, "Phrase").estimate;
    assert!(estimate.source.starts_with("sample of 6"), "{tree}");
    assert!(estimate.source.ends_with(" of 3526 documents with the words"), "{tree}");
    assert!((1_500..2_100).contains(&estimate.documents), "{tree}");
    assert!(estimate.lower > 20 && estimate.upper < 3_526 - 20, "{tree}");
}

/// A phrase is judged by documents of all windows, and from all over them; those above it are told.
#[test]
fn phrases_are_placed_where_their_words_are_and_all_that_is_above_follows() {
    let of = |n: u32, text: &dyn Fn(u32) -> &'static str| {
        let texts = (0..n).map(|n| text(n).to_owned()).collect();
        fill(&Index::in_memory(schema()), &[texts])
    };
    let check = |searcher: &Searcher, text: &str, operator: &str, slack: f64| {
        let tree = plan(searcher, text, EstimateFrom::Samples);
        let actual = searcher.count(&searcher.parse(text).unwrap()).unwrap();
        let estimate = &node(&tree, operator).estimate;
        let off = (estimate.documents as f64 - actual as f64).abs();
        assert!(off <= slack * (actual.max(100) as f64), "{actual} of\n{tree}");
        assert!((estimate.lower..=estimate.upper).contains(&actual), "{tree}");
    };
    // Only behind the first window.
    let late = of(70_000, &|n| if n < 66_000 { "c" } else { "a b" });
    check(&late, "\"a b\"", "Phrase", 0.05);
    // The first that have the words are not like the others: of a list, and of everything.
    let turned = of(40_000, &|n| match n {
        _ if n % 10 > 0 => "c",
        0..4_000 => "b a",
        _ => "a b",
    });
    check(&turned, "\"a b\"", "Phrase", 0.2);
    let everywhere = of(20_000, &|n| if n < 2_000 { "b a" } else { "a b" });
    check(&everywhere, "\"a b\"", "Phrase", 0.2);
    // What nobody has, or everybody, beside other words.
    let never = of(20_000, &|n| if n % 100 == 0 { "b a z" } else { "b a" });
    check(&never, "\"a b\" OR z", "Union", 0.5);
    let always = of(20_000, &|n| if n % 10 == 0 { "a b z" } else { "a b" });
    check(&always, "z -\"a b\"", "Difference", 0.5);
    // Some of each of two windows, in the first halves of which the words are turned.
    let halves = of(2 << 16, &|n| match n {
        _ if n % 20 > 0 => "c",
        _ if n % 65_536 < 32_768 => "b a",
        _ => "a b",
    });
    check(&halves, "\"a b\"", "Phrase", 0.4);
    // Rare is not never.
    let rare = plan(&never, "\"a b\"", EstimateFrom::Samples);
    assert!(node(&rare, "Phrase").estimate.documents > 0, "{rare}");
}

#[test]
fn what_was_not_counted_is_not_said_to_be() {
    let texts = (0..3_000).map(|n| format!("a{} b{} c", n % 700, n % 3)).collect();
    let searcher = fill(&Index::in_memory(schema()), &[texts]);
    let tree = plan(&searcher, "a1* AND b1", EstimateFrom::Samples);
    let source = &node(&tree, "Intersect").estimate.source;
    assert!(!source.starts_with("counted"), "{tree}");
    let tree = plan(&searcher, "b0 AND b1", EstimateFrom::Samples);
    assert!(tree.plan.estimate.source.starts_with("counted"), "{tree}");
}

/// Words by how their documents lie: spread thin or dense, at the start, in runs.
fn text(n: u32, seed: u32) -> String {
    let hash = (n ^ seed).wrapping_mul(2_654_435_761);
    let mut words = vec![];
    let mut add = |word: &'static str, is_in: bool| words.extend(is_in.then_some(word));
    add("thin", hash.is_multiple_of(700));
    add("some", hash % 40 < 2);
    add("dense", hash % 5 < 2);
    add("most", !hash.is_multiple_of(50));
    add("start", n < 20_000);
    add("run", n / 3_000 % 4 == 1);
    add("company", hash % 40 < 2 && !n.is_multiple_of(3));
    let places = (n % 7) as usize % words.len().max(1);
    words.rotate_left(places);
    words.join(" ")
}

/// One segment, three, and three in files that are read, of which some documents are deleted.
fn searchers() -> Vec<Searcher> {
    let texts = |from: u32, to: u32| (from..to).map(|n| text(n, 7)).collect::<Vec<_>>();
    let one = fill(&Index::in_memory(schema()), &[texts(0, 75_000)]);
    let segments = [texts(0, 2_000), texts(2_000, 70_000), texts(70_000, 75_000)];
    let three = fill(&Index::in_memory(schema()), &segments);
    let directory =
        std::env::temp_dir().join(format!("treepie-estimates-{}.tp", std::process::id()));
    let options: IndexOptions = Index::options().read_mode(ReadMode::Pread);
    let index = options.overwrite(&directory, schema()).unwrap();
    fill(&index, &segments);
    let mut writer = index.writer().unwrap();
    for text in ["+thin +dense", "+run +some -most", "\"dense most\" -start"] {
        writer.delete(&index.searcher().unwrap().parse(text).unwrap()).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    let deleted = index.searcher().unwrap();
    assert!(deleted.n_deleted() > 100);
    std::fs::remove_dir_all(directory).unwrap();
    vec![one, three, deleted]
}

fn query() -> impl Strategy<Value = Query> {
    let words = ["thin", "some", "dense", "most", "start", "run", "company", "absent"];
    let leaf = prop_oneof![
        6 => prop::sample::select(words.to_vec()).prop_map(Query::word),
        1 => prop::sample::select(vec!["dense most", "company some", "most thin some"])
            .prop_map(|text| Query::word_in("t", text)),
        1 => prop::sample::select(vec!["s", "th", "m", "d"]).prop_map(Query::prefix),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let some = |least| prop::collection::vec(inner.clone(), least..4);
        prop_oneof![
            some(2).prop_map(Query::And),
            some(2).prop_map(Query::Or),
            (some(1), some(0), some(1)).prop_map(|(a, b, c)| Query::group(a, b, c)),
            (some(3), 2u32..4).prop_map(|(should, minimum)| Query::Group {
                must: vec![],
                should,
                must_not: vec![],
                minimum: Some(minimum),
            }),
        ]
    })
}

#[test]
fn what_is_found_lies_within_the_bounds_of_every_plan() {
    let searchers = searchers();
    let mut errors = EstimateErrors::default();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let ran = runner.run(&query(), |query| {
        for searcher in &searchers {
            let total = searcher.count(&query).unwrap();
            for from in [EstimateFrom::Dictionary, EstimateFrom::Headers, EstimateFrom::Samples] {
                let search = searcher.search(&query).count_only().explainer().estimate_from(from);
                let tree = search.analyze().unwrap();
                let e = &tree.plan.estimate;
                prop_assert!(e.lower <= total && total <= e.upper, "{total} in\n{tree}");
                for node in tree.plan.iter() {
                    let e = &node.estimate;
                    prop_assert!(e.lower <= e.documents && e.documents <= e.upper, "{tree}");
                    for child in node.children.iter().filter(|_| node.operator.name() == "Union") {
                        prop_assert!(child.estimate.lower <= e.lower, "{tree}");
                        let fits = child.estimate.documents <= e.documents;
                        prop_assert!(fits || from != EstimateFrom::Samples, "{tree}");
                    }
                    let wanted = node.children.iter().filter(|it| !it.label.starts_with("NOT "));
                    for child in wanted.filter(|_| node.operator.name() == "Intersect") {
                        let fits = child.estimate.documents >= e.documents;
                        prop_assert!(fits || from != EstimateFrom::Samples, "{tree}");
                    }
                }
                let mut of_one = EstimateErrors::default();
                of_one.add(&tree);
                prop_assert_eq!(of_one.all().outside, 0, "{}\n{}", of_one, tree);
            }
        }
        Ok(())
    });
    ran.unwrap();
    // Words of phrases that stand for several terms are not placed.
    for searcher in &searchers {
        let query = treepie::query::parse("\"dense m\"*", &Default::default()).unwrap();
        let mut open = EstimateErrors::default();
        open.add(&searcher.search(&query).count_only().analyze().unwrap());
        assert_eq!(open.all().outside, 0, "{open}");
    }
    // And what is expected of these is near what is found.
    for text in ["some AND company", "run AND start AND dense", "(thin OR some) AND company"] {
        for searcher in &searchers {
            let query = searcher.parse(text).unwrap();
            errors.add(&searcher.search(&query).count_only().analyze().unwrap());
        }
    }
    assert!(errors.all().max().unwrap() < 1.2, "{errors}");
}

/// Files in memory that are read as from a disk, with the bytes counted.
#[derive(Clone, Debug, Default)]
struct Counting {
    files: MemoryStorage,
    bytes: Arc<AtomicU64>,
}

#[derive(Debug)]
struct CountingRead {
    file: Arc<dyn StorageRead>,
    bytes: Arc<AtomicU64>,
}

impl StorageRead for CountingRead {
    fn len(&self) -> u64 {
        self.file.len()
    }

    fn mapped(&self) -> Option<&[u8]> {
        None
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.bytes.fetch_add(buffer.len() as u64, Relaxed);
        self.file.read_at(offset, buffer)
    }

    fn path(&self) -> PathBuf {
        self.file.path()
    }
}

impl Storage for Counting {
    fn create(&self, name: &str) -> Result<Box<dyn StorageWrite>> {
        self.files.create(name)
    }

    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        let file = self.files.open(name)?;
        Ok(Arc::new(CountingRead { file, bytes: self.bytes.clone() }))
    }

    fn list(&self) -> Result<Vec<Entry>> {
        self.files.list()
    }

    fn delete(&self, name: &str) -> Result<()> {
        self.files.delete(name)
    }

    fn publish(&self, from: &str, to: &str) -> Result<()> {
        self.files.publish(from, to)
    }

    fn sync_names(&self) -> Result<()> {
        self.files.sync_names()
    }

    fn lock_writer(&self) -> Result<WriterLock> {
        self.files.lock_writer()
    }

    fn pin(&self, name: &str) -> Result<Pin> {
        self.files.pin(name)
    }

    fn delete_unless_pinned(&self, name: &str) -> Result<bool> {
        self.files.delete_unless_pinned(name)
    }

    fn location(&self) -> PathBuf {
        self.files.location()
    }
}

#[test]
fn a_plan_from_headers_reads_what_planning_reads_and_a_sample_reads_more() {
    let storage = Counting::default();
    let index = Index::options().create_in(Arc::new(storage.clone()), schema()).unwrap();
    let searcher = fill(&index, &[(0..70_000).map(|n| text(n, 7)).collect()]);
    let read = |work: &dyn Fn()| {
        let before = storage.bytes.load(Relaxed);
        work();
        storage.bytes.load(Relaxed) - before
    };
    for text in ["some AND dense AND run", "some OR (company -start)", "\"some dense\" most"] {
        let query = searcher.parse(text).unwrap();
        // Whatever is read of a file only once.
        drop(plan(&searcher, text, EstimateFrom::Samples));
        let planned = read(&|| drop(searcher.search(&query).count_only().prepare().unwrap()));
        assert!(planned > 0);
        for from in [EstimateFrom::Dictionary, EstimateFrom::Headers] {
            assert_eq!(read(&|| drop(plan(&searcher, text, from))), planned, "{text}");
        }
        let sampled = read(&|| drop(plan(&searcher, text, EstimateFrom::Samples)));
        assert!(sampled > planned, "{text}");
    }
}

/// Whatever is wanted of what matches, it is found once, explained or not.
#[test]
fn an_analyzed_search_reads_what_the_search_reads() {
    let storage = Counting::default();
    let brand = Field::new("brand", FieldKind::Keyword).column(true);
    let schema = Schema::builder().text("t").field(brand).build().unwrap();
    let index = Index::options().create_in(Arc::new(storage.clone()), schema).unwrap();
    let mut writer = index.writer().unwrap();
    for n in 0..70_000 {
        let brand = format!("b{}", n % 300);
        writer.add(Document::new().with("t", text(n, 7)).with("brand", brand)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let read = |work: &dyn Fn()| {
        let before = storage.bytes.load(Relaxed);
        work();
        storage.bytes.load(Relaxed) - before
    };
    for text in ["some dense", "+some +(run start)", "\"some dense\"", "dense -run"] {
        let query = searcher.parse(text).unwrap();
        let search = || searcher.search(&query).fields::<&str>([]);
        let method = FacetMethod::MostFrequentFirst;
        let searches = [
            ("best", search()),
            (
                "best and a facet",
                search().with_facet(Facet::values("brand").limit(5).method(method)),
            ),
            ("in order", search().order(Order::Document)),
            ("sorted", search().sort([SortKey::descending("brand")])),
            ("sorted and a facet", search().sort([SortKey::descending("brand")]).facet("brand", 5)),
            ("grouped", search().collapse(Collapse::by("brand"))),
            ("counted", search().count_only()),
        ];
        for (name, search) in searches {
            let search = search.explainer().estimate_from(EstimateFrom::Dictionary);
            let tree = search.clone().analyze().unwrap();
            // The number of a phrase is known when its best are; it reads the lists of its words by its own way.
            let is_carried_out = tree.plan.iter().all(|node| node.actual.is_some());
            let is_by_phrase = text == "\"some dense\"" && ["best", "counted"].contains(&name);
            assert_eq!(is_carried_out, !is_by_phrase, "{tree}");
            let searched = read(&|| drop(search.clone().run().unwrap()));
            let analyzed = read(&|| drop(search.clone().analyze().unwrap()));
            let most = searched + searched / 3;
            assert!(analyzed <= most, "{text}, {name}: {analyzed} bytes instead of {searched}");
        }
    }
}
