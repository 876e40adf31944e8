//! What holds of every plan and of every run, over random queries, in one segment and in three with deleted documents.

use super::{INDEXES, questions};
use crate::random::Random;
use treepie::explain::{Actual, Estimate, ExplainFacet, ExplainNode, ExplainTree, TextOptions};
use treepie::function::{FieldValue, ScoreFunction};
use treepie::search::{Collapse, Order, TotalMode};
use treepie::{Facet, SearchBuilder, Searcher, SortKey};

const N_QUERIES: usize = 400;

const LEAVES: [&str; 22] = [
    "by1",
    "by2",
    "by3",
    "by5",
    "by50",
    "by500",
    "by4000",
    "absent",
    "w77",
    "w7*",
    "w?7",
    "k:k7",
    "k:k1*",
    "tag:red",
    "list:*",
    "d:*",
    "n:[100 TO 200]",
    "n:>500",
    "d:>2024-06-01",
    "\"san marino\"",
    "\"by1 by2\"",
    "k:IN [k1 k2 k3]",
];

fn text(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.below(4) == 0 {
        return LEAVES[random.below(LEAVES.len())].to_owned();
    }
    let part = |of: &mut Random| text(of, depth - 1);
    match random.below(4) {
        0 => format!("({} AND {})", part(random), part(random)),
        1 => format!("({} OR {})", part(random), part(random)),
        2 => format!("({} AND NOT {})", part(random), part(random)),
        _ => format!("({} OR {} OR {})", part(random), part(random), part(random)),
    }
}

/// The same query for different ends.
fn shaped<'a>(search: SearchBuilder<'a>, nth: usize) -> SearchBuilder<'a> {
    match nth % 6 {
        0 => search.count_only(),
        1 => search.order(Order::Document).limit(5),
        2 => search.order(Order::Document).limit(5).total(TotalMode::Unknown),
        3 => search.limit(10),
        4 => search.limit(5).sort([SortKey::ascending("n")]),
        _ => search.order(Order::Document).limit(3).facet("tag", 3).facet("k", 3),
    }
}

fn check_estimate(estimate: &Estimate, of: &str) {
    let Estimate { documents, lower, upper, .. } = *estimate;
    assert!((lower..=upper).contains(&documents), "{documents} in {lower}..={upper}: {of}");
}

fn check_actual(estimate: &Estimate, actual: &Actual, of: &str) {
    assert!(actual.documents <= estimate.upper, "{of}");
    assert!(!actual.complete || actual.documents >= estimate.lower, "{of}");
}

/// The inputs that a node wants, and those that it excludes.
fn inputs(node: &ExplainNode) -> (Vec<&ExplainNode>, Vec<&ExplainNode>) {
    let is_excluded = |input: &&ExplainNode| input.label.starts_with("NOT ");
    node.children.iter().partition(|input| !is_excluded(input))
}

/// Sets of documents lie within each other as the operator says, by what is promised of them.
fn check_bounds_of_sets(node: &ExplainNode, n_docs: u64, of: &str) {
    let (wanted, excluded) = inputs(node);
    let upper = |all: &[&ExplainNode]| all.iter().map(|it| it.estimate.upper).collect::<Vec<_>>();
    let Estimate { lower, upper: most, .. } = node.estimate;
    let least_upper = upper(&wanted).into_iter().min().unwrap_or(n_docs);
    match node.operator.name() {
        "Intersect" | "Difference" | "Phrase" | "Nothing" => {
            assert!(most <= least_upper, "{of}");
            // What is certainly excluded is certainly not in it.
            let gone = excluded.iter().map(|it| it.estimate.lower).max().unwrap_or(0);
            assert!(most <= n_docs - gone, "{of}");
        }
        "Union" => {
            let certain = wanted.iter().map(|it| it.estimate.lower).max().unwrap_or(0);
            assert!(lower >= certain, "{of}");
            assert!(most <= upper(&wanted).into_iter().sum::<u64>().min(n_docs), "{of}");
        }
        // What stands behind the first input of a page is found for scores.
        "Limit" | "TopK" | "Sort" | "Count" => {
            let matching = wanted.first().map_or(n_docs, |it| it.estimate.upper);
            assert!(most <= matching, "{of}");
        }
        _ => assert!(most <= n_docs, "{of}"),
    }
}

/// The same by what came out.
fn check_sets(node: &ExplainNode, of: &str) {
    let Some(actual) = &node.actual else { return };
    let (wanted, _) = inputs(node);
    let complete = |input: &ExplainNode| input.actual.as_ref().is_some_and(|it| it.complete);
    if !actual.complete || !wanted.iter().all(|input| complete(input)) || wanted.is_empty() {
        return;
    }
    let found: Vec<u64> =
        wanted.iter().filter_map(|input| Some(input.actual.as_ref()?.documents)).collect();
    let (least, most) = (found.iter().min().unwrap(), found.iter().max().unwrap());
    match node.operator.name() {
        "Intersect" | "Difference" | "Phrase" => assert!(actual.documents <= *least, "{of}"),
        "Union" => {
            assert!(actual.documents >= *most, "{of}");
            assert!(actual.documents <= found.iter().sum(), "{of}");
        }
        "Limit" | "TopK" | "Sort" | "Count" => {
            let matching = found.first().map_or(0, |documents| *documents);
            assert!(actual.documents <= matching, "{of}");
        }
        _ => {}
    }
}

/// Each counter of a node is the sum of those of its segments.
fn check_segments(node: &ExplainNode, of: &str) {
    let is_carried_out = node.segments.iter().any(|segment| segment.actual.is_some());
    if node.actual.is_none() || !is_carried_out {
        return;
    }
    type Counter = fn(&Actual) -> u64;
    let counters: [(&str, Counter); 10] = [
        ("documents", |it| it.documents),
        ("in", |it| it.documents_in.unwrap_or(0)),
        ("time", |it| it.time_ns),
        ("bytes", |it| it.bytes_read),
        ("arrays", |it| it.containers.array),
        ("bitmaps", |it| it.containers.bitmap),
        ("runs", |it| it.containers.run),
        ("skipped", |it| it.containers.skipped),
        ("terms", |it| it.terms.map_or(0, |terms| terms.visited + terms.expanded)),
        ("positions", |it| it.positions.map_or(0, |it| it.candidates + it.positions)),
    ];
    let of_segments = || node.segments.iter().flat_map(|segment| &segment.actual);
    let sum = node.actual.as_ref().unwrap();
    for (name, counter) in counters {
        let added: u64 = of_segments().map(counter).sum();
        assert_eq!(counter(sum), added, "{name}: {of}");
        let spread = node.spread(counter).unwrap();
        let n = node.segments.len() as f64;
        assert!((spread.mean * n - added as f64).abs() < 0.01 * n, "{name}: {of}");
        assert!(of_segments().all(|it| (spread.min..=spread.max).contains(&counter(it))), "{of}");
    }
    assert_eq!(sum.complete, of_segments().all(|it| it.complete), "{of}");
    for segment in &node.segments {
        check_estimate(&segment.estimate, of);
        check_actual(&segment.estimate, segment.actual.as_ref().unwrap(), of);
    }
}

/// Sum of the shares that are printed, of which those of segments are parts of those of their nodes.
fn printed_percents(tree: &ExplainTree) -> u64 {
    let text = tree.to_text(&TextOptions::default().width(100_000));
    let of_line =
        |line: &str| Some(line.split_once(" %)")?.0.rsplit_once('(')?.1.parse::<u64>().unwrap());
    text.lines().filter(|line| !line.contains("segment ")).filter_map(of_line).sum()
}

fn check(tree: &ExplainTree, of: &str) {
    let of = format!("{of}\n{tree}");
    let n_docs: u64 = tree.segments.iter().map(|segment| segment.documents).sum();
    for node in tree.plan.iter() {
        let of = format!("{} {}: {of}", node.operator, node.label);
        check_estimate(&node.estimate, &of);
        check_bounds_of_sets(node, n_docs, &of);
        if let Some(actual) = &node.actual {
            check_actual(&node.estimate, actual, &of);
        }
        check_sets(node, &of);
        check_segments(node, &of);
    }
    // Each moment of a run is of one node.
    if let Some(total) = tree.total_ns {
        fn time(facet: &ExplainFacet) -> u64 {
            facet.actual.map_or(0, |actual| actual.time_ns)
        }
        let nodes: u64 =
            tree.plan.iter().filter_map(|node| Some(node.actual.as_ref()?.time_ns)).sum();
        let facets: u64 = tree.facets.iter().flat_map(ExplainFacet::iter).map(time).sum();
        let planning = tree.planning_ns.expect("it was run");
        let phases = tree.planning.expect("it was run");
        let of_phases = phases.bind_ns + phases.look_up_ns + phases.estimate_ns + phases.choose_ns;
        assert_eq!((phases.parse_ns, of_phases), (None, planning), "{of}");
        assert!(
            planning + nodes + facets <= total,
            "{planning} + {nodes} + {facets} of {total}: {of}"
        );
        let rest = tree.rest_ns().expect("it was run");
        assert_eq!(planning + nodes + facets + rest, total, "{of}");
        let json: serde_json::Value = serde_json::from_str(&tree.to_json()).unwrap();
        assert_eq!(json["rest_ns"], rest, "{of}");
        let json_phases = json["planning"].as_object().unwrap().values();
        assert_eq!(json_phases.map(|ns| ns.as_u64().unwrap()).sum::<u64>(), planning, "{of}");
        assert_eq!(printed_percents(tree), if total > 0 { 100 } else { 0 }, "{of}");
    }
}

/// What came out of the whole is what a search that explains nothing finds.
fn check_answer(searcher: &Searcher, text: &str, nth: usize, tree: &ExplainTree) {
    let query = searcher.parse(text).unwrap();
    let root = tree.plan.actual.as_ref().unwrap();
    let count = searcher.count(&query).unwrap();
    match nth % 6 {
        0 => assert_eq!(root.documents, count, "{text}\n{tree}"),
        _ => {
            let found = shaped(searcher.search(&query), nth).run().unwrap();
            assert_eq!(root.documents, found.hits.len() as u64, "{text}\n{tree}");
        }
    }
}

#[test]
fn estimates_bounds_counters_and_times_hold_of_random_queries() {
    let indexes = &*INDEXES;
    let mut random = Random(20_261_124);
    for nth in 0..N_QUERIES {
        let text = text(&mut random, 3);
        for searcher in [&indexes.quiet, &indexes.living] {
            let query = searcher.parse(&text).unwrap();
            let search = shaped(searcher.search(&query), nth);
            check(&search.clone().explain().unwrap(), &text);
            let tree = search.analyze().unwrap();
            check(&tree, &text);
            check_answer(searcher, &text, nth, &tree);
        }
    }
}

/// Kinds of pages and facets beyond those of random queries.
#[test]
fn they_hold_of_every_kind_of_page() {
    let indexes = &*INDEXES;
    type Shaped = for<'a> fn(SearchBuilder<'a>) -> SearchBuilder<'a>;
    let shapes: [(&str, Shaped); 10] = [
        ("none", |search| search.limit(0)),
        ("no total", |search| search.total(TotalMode::Unknown)),
        ("up to", |search| search.total(TotalMode::UpTo(20))),
        ("later page", |search| search.offset(7).limit(3)),
        ("functions", |search| search.score_function(ScoreFunction::sum(FieldValue::new("n")))),
        ("collapse", |search| search.collapse(Collapse::by("k"))),
        ("sort by score", |search| search.sort([SortKey::descending("n"), SortKey::score()])),
        ("statistics", |search| search.statistics(treepie::search::IdfScope::Segment)),
        ("facet within", |search| {
            search.with_facet(Facet::values("tag").with_facet(Facet::values("k")))
        }),
        ("select", |search| search.select("tag", ["red"]).facet("tag", 3)),
    ];
    let texts =
        ["by2 OR by5", "by2 AND by3", "\"san marino\"", "w7* by2", "tag:red", "absent", "*"];
    for (searcher, text) in
        [&indexes.quiet, &indexes.living].into_iter().flat_map(|it| texts.map(|text| (it, text)))
    {
        let query = searcher.parse(text).unwrap();
        for (kind, shaped) in shapes {
            let tree = shaped(searcher.search(&query)).analyze().unwrap();
            check(&tree, &format!("{kind}: {text}"));
        }
    }
}

#[test]
fn they_hold_of_every_golden_plan() {
    let indexes = &*INDEXES;
    for group in questions::groups() {
        for question in &group.questions {
            let searcher = if question.living { &indexes.living } else { &indexes.quiet };
            let query = question.query(searcher);
            let search = question.search(searcher, &query);
            check(&search.clone().explain().unwrap(), &question.title());
            check(&search.analyze().unwrap(), &question.title());
        }
    }
}
