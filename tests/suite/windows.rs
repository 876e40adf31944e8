//! Maps of containers: what leaves read and what was found, window by window, counted again.

use treepie::explain::{ContainerMap, ExplainNode, ExplainTree};
use treepie::search::TotalMode;
use treepie::writer::MergePolicy;
use treepie::{Document, Index, Schema, Searcher, WriterOptions};

const WINDOW: usize = 65_536;
/// The first segment has two windows, the second one.
const SEGMENTS: [usize; 2] = [68_000, 3_000];
const N: usize = SEGMENTS[0] + SEGMENTS[1];

/// A word, and which documents have it.
type Word = (&'static str, fn(usize) -> bool);

const WORDS: [Word; 7] = [
    ("every", |_| true),
    ("half", |doc| doc % 2 == 0),
    ("some", |doc| doc % 100 == 6),
    ("rare", |doc| doc % 10_000 == 3),
    ("inline", |doc| doc == 5 || doc == 66_000),
    ("run", |doc| (1_000..60_000).contains(&doc)),
    ("late", |doc| doc > SEGMENTS[0] && doc % 3 == 0),
];

fn is_deleted(doc: usize) -> bool {
    doc % 1_000 == 8
}

fn searcher(with_deleted: bool) -> Searcher {
    let schema = Schema::builder().text("text").keyword("tag").build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for doc in 0..N {
        let words: Vec<_> =
            WORDS.iter().filter(|(_, has)| has(doc)).map(|(word, _)| *word).collect();
        let document = Document::new().with("text", words.join(" "));
        writer.add(if is_deleted(doc) { document.with("tag", "gone") } else { document }).unwrap();
        if doc + 1 == SEGMENTS[0] {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    if with_deleted {
        let gone = treepie::query::parse("tag:gone", &Default::default()).unwrap();
        writer.delete(&gone).unwrap();
        writer.commit().unwrap();
    }
    index.searcher().unwrap()
}

/// Documents in each window of each segment.
fn counted(is_in: impl Fn(usize) -> bool) -> Vec<Vec<u32>> {
    let mut base = 0;
    let of_segment = |n: usize| {
        let docs: Vec<bool> = (base..base + n).map(&is_in).collect();
        base += n;
        docs.chunks(WINDOW).map(|docs| docs.iter().filter(|is_in| **is_in).count() as u32).collect()
    };
    SEGMENTS.map(of_segment).into()
}

fn documents(maps: &[ContainerMap]) -> Vec<Vec<u32>> {
    for map in maps {
        assert_eq!(map.kinds.len(), map.documents.len());
        for (kind, n) in map.kinds.chars().zip(&map.documents) {
            assert_eq!(kind == '.', *n == 0, "{map:?}");
            let fits = match kind {
                'a' => *n <= 4_096,
                'b' => *n > 4_096,
                _ => "r.".contains(kind),
            };
            assert!(fits, "{map:?}");
        }
    }
    maps.iter().map(|map| map.documents.clone()).collect()
}

fn leaf<'t>(tree: &'t ExplainTree, word: &str) -> &'t ExplainNode {
    let ends = |node: &&ExplainNode| node.children.is_empty() && node.label.ends_with(word);
    tree.plan.iter().find(ends).unwrap_or_else(|| panic!("{word} in {tree}"))
}

/// What matches, without what makes a page of it.
fn result(tree: &ExplainTree) -> &ExplainNode {
    let mut node = &tree.plan;
    while node.is_page() {
        node = &node.children[0];
    }
    node
}

#[test]
fn leaves_have_maps_of_their_headers() {
    let searcher = searcher(true);
    let ids: Vec<_> = searcher
        .explain(&searcher.parse("half").unwrap())
        .unwrap()
        .segments
        .into_iter()
        .map(|segment| segment.id)
        .collect();
    let query = searcher.parse("every AND half AND some AND run AND inline AND -rare").unwrap();
    let explained = searcher.search(&query).explain().unwrap();
    for (word, has) in WORDS {
        if ["rare", "late", "every"].contains(&word) {
            continue;
        }
        let node = leaf(&explained, word);
        assert_eq!(documents(&node.windows), counted(has), "{word}");
        let sum: u64 =
            node.windows.iter().flat_map(|map| &map.documents).map(|n| u64::from(*n)).sum();
        assert_eq!(sum, node.estimate.documents, "{word}");
        assert!(node.windows.iter().map(|map| &map.segment).eq(&ids));
    }
    let kinds =
        |word| leaf(&explained, word).windows.iter().map(|map| &*map.kinds).collect::<Vec<_>>();
    assert_eq!(kinds("half"), ["ba", "a"]);
    assert_eq!(kinds("run")[0], "r.");
    assert_eq!(kinds("inline"), ["aa", "."]);
    assert_eq!(documents(&leaf(&explained, "deleted documents").windows), counted(is_deleted));
    // The documents of a short list are not in a header, unless there is one window only.
    let rare = leaf(&explained, "rare");
    assert_eq!(documents(&rare.windows), [[1]], "{rare:?}");
    let analyzed = searcher.search(&query).analyze().unwrap();
    assert_eq!(documents(&leaf(&analyzed, "rare").windows), counted(WORDS[3].1));
}

#[test]
fn what_was_found_is_mapped_after_a_run() {
    let has = |word: &str, doc: usize| WORDS.iter().any(|(name, has)| *name == word && has(doc));
    type Has<'h> = &'h dyn Fn(usize) -> bool;
    let cases: [(&str, Has<'_>); 6] = [
        ("half AND some", &|doc| has("half", doc) && has("some", doc)),
        ("run -half", &|doc| has("run", doc) && !has("half", doc)),
        ("some OR late OR rare", &|doc| has("some", doc) || has("late", doc) || has("rare", doc)),
        ("\"every half\"", &|doc| has("half", doc)),
        ("half", &|doc| has("half", doc)),
        ("r* OR inl*", &|doc| ["rare", "run", "inline"].iter().any(|word| has(word, doc))),
    ];
    for with_deleted in [false, true] {
        let searcher = searcher(with_deleted);
        for (text, has) in cases {
            let query = searcher.parse(text).unwrap();
            let expected = counted(|doc| has(doc) && !(with_deleted && is_deleted(doc)));
            let total = searcher.count(&query).unwrap();
            let search = || searcher.search(&query);
            for tree in [
                search().facet("tag", 2).analyze(),
                search().count_only().analyze(),
                search().limit(3).order(treepie::search::Order::Document).facet("tag", 2).analyze(),
            ] {
                let tree = tree.unwrap();
                let found = documents(&result(&tree).windows);
                assert_eq!(found.iter().flatten().map(|n| u64::from(*n)).sum::<u64>(), total);
                assert_eq!(found, expected, "{text}\n{tree}");
            }
            // Only leaves are known before.
            let explained = search().explain().unwrap();
            let node = result(&explained);
            assert!(node.windows.is_empty() || node.children.is_empty(), "{text}");
        }
        // What stops early has seen no more than it says.
        let query = searcher.parse("half AND every AND run").unwrap();
        let search = searcher
            .search(&query)
            .order(treepie::search::Order::Document)
            .total(TotalMode::Unknown);
        let tree = search.limit(3).analyze().unwrap();
        let node = result(&tree);
        let found: u64 = documents(&node.windows).iter().flatten().map(|n| u64::from(*n)).sum();
        assert!(found > 0, "{tree}");
        assert_eq!(found, node.actual.as_ref().unwrap().documents, "{tree}");
    }
}

#[test]
fn each_segment_has_its_own_windows_and_what_was_not_seen_is_not_mapped() {
    const OF_SEGMENT: usize = 66_000;
    let index = Index::in_memory(Schema::builder().text("text").build().unwrap());
    let mut writer = index.writer().unwrap();
    // Ever fewer to the end.
    let is_half = |doc: usize| doc.is_multiple_of(2 + doc / 30_000);
    for doc in 0..2 * OF_SEGMENT {
        let words = if is_half(doc) { "every half" } else { "every" };
        let words = if doc % 3 == 0 { format!("{words} third") } else { words.into() };
        writer.add(Document::new().with("text", words)).unwrap();
        if doc % OF_SEGMENT == OF_SEGMENT - 1 {
            writer.commit().unwrap();
        }
    }
    let searcher = index.searcher().unwrap();
    let analyzed = |text: &str| {
        let query = searcher.parse(text).unwrap();
        searcher.search(&query).count_only().analyze().unwrap()
    };
    let both = |doc: usize| is_half(doc) && doc.is_multiple_of(3);
    let of = |docs: std::ops::Range<usize>| docs.filter(|doc| both(*doc)).count() as u32;
    let expected = [0, OF_SEGMENT]
        .map(|base| [of(base..base + WINDOW), of(base + WINDOW..base + OF_SEGMENT)].to_vec());
    assert_eq!(documents(&analyzed("half AND third").plan.windows), expected);
    // The number follows from what the dictionary says.
    let known = analyzed("every -half");
    assert!(known.plan.actual.as_ref().unwrap().documents > 0, "{known}");
    assert_eq!(known.plan.windows, [], "{known}");
}

/// What a node counts of containers are those of its map, and their bytes are what they take.
#[test]
fn containers_that_were_read_are_counted_by_their_kinds() {
    let searcher = searcher(false);
    let analyzed = |text: &str| {
        let query = searcher.parse(text).unwrap();
        searcher
            .search(&query)
            .order(treepie::search::Order::Document)
            .facet("tag", 1)
            .analyze()
            .unwrap()
    };
    let tree = analyzed("half OR some OR run");
    for word in ["half", "run"] {
        let node = leaf(&tree, word);
        let actual = node.actual.as_ref().unwrap();
        let kinds: String = node.windows.iter().map(|map| &*map.kinds).collect();
        let count = |kind: char| kinds.chars().filter(|it| *it == kind).count() as u64;
        let read = &actual.containers;
        // Of a window that is full nothing else is read.
        assert_eq!(
            (read.array, read.bitmap, read.run),
            (count('a'), count('b'), count('r')),
            "{tree}"
        );
        assert_eq!(read.skipped, 0, "{tree}");
        let all = node.windows.iter().flat_map(|map| map.kinds.chars().zip(&map.documents));
        let bytes = all.map(|(kind, n)| match kind {
            'a' => 2 * u64::from(*n),
            'b' => 8_192,
            _ => 0,
        });
        let bytes: u64 = bytes.sum();
        // And the headers.
        assert!(actual.bytes_read > bytes && actual.bytes_read < bytes + 300, "{bytes}: {tree}");
    }
    // One that no window of the other wants is left alone.
    let tree = analyzed("half AND late");
    let containers = &leaf(&tree, "half").actual.as_ref().unwrap().containers;
    let touched = containers.array + containers.bitmap + containers.run;
    assert_eq!((touched, containers.skipped), (1, 2), "{tree}");
}

#[test]
fn a_plan_of_many_leaves_stays_small() {
    const WINDOWS_MAX: usize = 8_192;
    const N_SEGMENTS: usize = 12;
    let index = Index::in_memory(Schema::builder().text("text").build().unwrap());
    let options = WriterOptions::new().merge_policy(MergePolicy::default().factor(64));
    let mut writer = index.writer_with(options).unwrap();
    for nth in 0..N_SEGMENTS {
        writer.add(Document::new().with("text", format!("x{nth} every"))).unwrap();
        writer.commit().unwrap();
    }
    let searcher = index.searcher().unwrap();
    let words: Vec<_> = (0..1_000).map(|nth| format!("x{nth}")).collect();
    let query = searcher.parse(&words.join(" OR ")).unwrap();
    let tree = searcher.search(&query).count_only().analyze().unwrap();
    assert_eq!(tree.segments.len(), N_SEGMENTS, "a window each");
    let of_leaves = tree.plan.iter().filter(|node| node.children.is_empty());
    let windows: usize =
        of_leaves.flat_map(|node| &node.windows).map(|map| map.documents.len()).sum();
    // None has a part of its map.
    assert_eq!(windows, WINDOWS_MAX / N_SEGMENTS * N_SEGMENTS);
    assert_eq!(documents(&result(&tree).windows), [[1]; N_SEGMENTS], "that of the result is apart");
}
