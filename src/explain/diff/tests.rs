use proptest::prelude::*;

use super::*;
use crate::explain::{
    Decision, Estimate, ExplainFacet, ExplainNode, FacetActual, Finding, PositionCounts,
    RankingCounts, TermCounts, TextOptions, arbitrary, sample,
};
use crate::terminal;

fn leaf(word: &str) -> ExplainNode {
    let mut node = ExplainNode::new("TermScan", format!("title:{word}"));
    node.field = Some("title".into());
    node.predicate = Some(node.label.clone());
    node
}

fn over(operator: &str, children: Vec<ExplainNode>) -> ExplainNode {
    let labels: Vec<_> = children.iter().map(|child| child.label.clone()).collect();
    let mut node = ExplainNode::new(operator, labels.join(" "));
    node.predicate = Some(node.label.clone());
    node.children = children;
    node
}

fn page(operator: &str, child: ExplainNode) -> ExplainNode {
    let mut node = ExplainNode::new(operator, "best 10");
    node.children = vec![child];
    node
}

fn tree(plan: ExplainNode) -> ExplainTree {
    ExplainTree::new("q", plan)
}

/// `left→right kind`, and what changed.
fn rows(left: ExplainNode, right: ExplainNode) -> Vec<String> {
    let diff = PlanDiff::new(&tree(left), &tree(right));
    let id = |id: &Option<String>| id.clone().unwrap_or("-".into());
    let row = |node: &NodeDiff| {
        let changes: Vec<_> = node.changes.iter().map(|change| change.what).collect();
        let row = format!(
            "{}→{} {} {}",
            id(&node.left),
            id(&node.right),
            node.kind.name(),
            changes.join(",")
        );
        row.trim_end().to_owned()
    };
    diff.nodes.iter().map(row).collect()
}

#[test]
fn a_new_input_shifts_nobody() {
    let before = over("Intersect", vec![leaf("a"), leaf("b")]);
    let after = over("Intersect", vec![leaf("new"), leaf("a"), leaf("b")]);
    assert_eq!(
        rows(before.clone(), after.clone()),
        ["0→0 changed label", "-→0.0 added", "0.0→0.1 same", "0.1→0.2 same"]
    );
    assert_eq!(
        rows(after, before),
        ["0→0 changed label", "0.0→- removed", "0.1→0.0 same", "0.2→0.1 same"]
    );
}

#[test]
fn another_order_and_another_place_are_told_as_positions() {
    let before = over("Intersect", vec![leaf("a"), leaf("b")]);
    let mut after = over("Intersect", vec![leaf("b"), leaf("a")]);
    after.label = before.label.clone();
    assert_eq!(
        rows(before, after),
        ["0→0 same", "0.0→0.1 changed position", "0.1→0.0 changed position"]
    );
    // One goes from one union to the other.
    let union = |words: &[&str]| over("Union", words.iter().map(|word| leaf(word)).collect());
    let mut before = over("Intersect", vec![union(&["a", "b", "c"]), union(&["d", "e"])]);
    let mut after = over("Intersect", vec![union(&["a", "b"]), union(&["c", "d", "e"])]);
    before.label.clear();
    after.label.clear();
    assert_eq!(
        rows(before, after),
        [
            "0→0 same",
            "0.0→0.0 changed label",
            "0.0.0→0.0.0 same",
            "0.0.1→0.0.1 same",
            "0.0.2→0.1.0 changed position",
            "0.1→0.1 changed label",
            "0.1.0→0.1.1 same",
            "0.1.1→0.1.2 same"
        ]
    );
}

#[test]
fn what_stands_above_the_query_may_come_and_go() {
    let query = || over("Union", vec![leaf("a"), leaf("b")]);
    assert_eq!(
        rows(query(), page("TopK", query())),
        ["-→0 added", "0→0.0 same", "0.0→0.0.0 same", "0.1→0.0.1 same"]
    );
    assert_eq!(
        rows(page("Limit", query()), page("TopK", query()))[..2],
        ["0→0 changed operator", "0.0→0.0 same"]
    );
    let both = page("Collapse", page("Limit", query()));
    assert_eq!(
        rows(both, page("Limit", query()))[..3],
        ["0→- removed", "0.0→0 same", "0.0.0→0.0 same"]
    );
}

#[test]
fn a_pattern_that_was_changed_is_the_same_leaf() {
    let expand = |pattern: &str| ExplainNode { operator: "Expand".into(), ..leaf(pattern) };
    let before = over("Intersect", vec![leaf("x"), expand("a*")]);
    let after = over("Intersect", vec![expand("ab*"), leaf("x")]);
    let rows = rows(before, after);
    assert_eq!(rows[2], "0.1→0.0 changed label,position", "{rows:?}");
    // And so is one that is answered by another operator.
    let scan = ExplainNode { operator: "ColumnScan".into(), ..leaf("a*") };
    assert_eq!(self::rows(expand("a*"), scan), ["0→0 changed operator"]);
}

#[test]
fn what_differs_of_a_node_is_listed() {
    let (before, mut after) = (sample::analyzed(), sample::analyzed());
    let plan = &mut after.plan;
    plan.algorithm = "merge".into();
    plan.estimate = Estimate::between(90, 1, 4_312, "sample");
    plan.decisions[0].accepted = false;
    plan.decisions[1] = Decision::accepted("stop at the page", "it is full");
    let actual = plan.actual.as_mut().unwrap();
    (actual.documents, actual.time_ns, actual.bytes_read) = (90, 903_100, 4_096);
    after.total_ns = Some(950_000);
    after.facets[0].algorithm = "column".into();
    after.segments.push(after.segments[0].clone());
    let diff = PlanDiff::new(&before, &after);
    let listed = |changes: &[Change]| -> Vec<String> {
        let side = |side: &Option<DiffValue>| match side {
            None => "none".into(),
            Some(DiffValue::Text(text)) => text.clone(),
            Some(DiffValue::Number(number)) => number.to_string(),
        };
        let row = |it: &Change| {
            let of = it.facets.iter().map(|field| format!("{field}: ")).collect::<String>();
            let name = it.name.iter().map(|name| format!(" {name}")).collect::<String>();
            format!("{of}{}{name}: {} → {}", it.what, side(&it.left), side(&it.right))
        };
        changes.iter().map(row).collect()
    };
    assert_eq!(
        listed(&diff.nodes[0].changes),
        [
            "algorithm: gallop array × bitmap → merge",
            "estimate: 120 → 90",
            "lower: 0 → 1",
            "source: independence → sample",
            "documents: 118 → 90",
            "time_ns: 3100 → 903100",
            "bytes_read: 812 → 4096",
            "decision order by document frequency: taken → left",
            "decision prove empty: left → none",
            "decision stop at the page: none → taken"
        ]
    );
    assert_eq!(
        listed(&diff.changes),
        [
            "segments: 1 → 2",
            "documents_of_the_index: 13755095 → 27510190",
            "bytes_of_the_index: 641728512 → 1283457024",
            "qualifier: algorithm: by descending document frequency → column",
            "total_ns: 42000 → 950000"
        ]
    );
    assert!(diff.nodes[1..].iter().all(|node| node.kind == DiffKind::Same));
    assert!(!diff.is_same());

    let text = diff.to_text(&TextOptions::default());
    let expected = "\
segments: 1 → 2 (2.00 × more)
documents of the index: 13,755,095 → 27,510,190 (2.00 × more)
bytes of the index: 612 MiB → 1.20 GiB (2.00 × more)
facet qualifier: algorithm: by descending document frequency → column
total: 42.0 µs → 950 µs (22.6 × slower)

≠ Intersect title:history AND (title:france OR title:spain)
      algorithm: gallop array × bitmap → merge
      estimate: 120 → 90
      lower: 0 → 1
      source: independence → sample
      documents: 118 → 90
      time: 3.10 µs → 903 µs (291 × slower)
      bytes read: 812 B → 4.00 KiB (5.04 × more)
      decision order by document frequency: taken → left
      decision prove empty: left → none
      decision stop at the page: none → taken
  … 2 nodes that are the same
      Term title:france
      Term title:spain
";
    assert_eq!(text, expected, "{text}");
    let ascii = diff.to_text(&TextOptions::default().ascii(true).width(40));
    assert!(ascii.is_ascii() && ascii.contains("\n* Intersect"), "{ascii}");
    assert!(ascii.lines().all(|line| line.len() <= 40), "{ascii}");
    assert!(diff.to_text(&TextOptions::default().color(true)).contains("\x1b[31m(22.6"));
}

/// Whatever is counted is compared.
#[test]
fn everything_that_a_run_counts_is_compared() {
    let counted = |n: u64| {
        let mut actual = crate::explain::Actual::of(n);
        actual.documents_in = Some(n);
        actual.bytes_read = n;
        (actual.complete, actual.stopped) = (n == 1, n == 3);
        let (mut terms, mut positions) = <(TermCounts, PositionCounts)>::default();
        (terms.visited, terms.expanded, positions.positions) = (10 * n, n, n);
        (actual.terms, actual.positions) = (Some(terms), Some(positions));
        let ranking = RankingCounts { documents_scored: n, ..RankingCounts::default() };
        actual.ranking = Some(ranking);
        let mut plan = leaf("a");
        plan.estimate = Estimate::between(n, n, n + 1, "test");
        plan.actual = Some(actual);
        let mut tree = tree(plan);
        (tree.query, tree.rewritten) = (n.to_string(), n.to_string());
        let actual = FacetActual {
            bytes_read: n,
            terms_intersected: n,
            time_ns: n << 40,
            ..FacetActual::default()
        };
        tree.facets =
            vec![ExplainFacet { terms: n, actual: Some(actual), ..ExplainFacet::of("brand") }];
        tree
    };
    let diff = PlanDiff::new(&counted(1), &counted(2));
    let row = |change: &Change| match (&change.left, &change.right) {
        (Some(DiffValue::Number(left)), Some(DiffValue::Number(right))) => {
            format!("{} {left} {right}", change.what)
        }
        _ => change.what.to_owned(),
    };
    let rows = |changes: &[Change]| changes.iter().map(row).collect::<Vec<_>>();
    assert_eq!(
        rows(&diff.nodes[0].changes),
        [
            "estimate 1 2",
            "lower 1 2",
            "upper 2 3",
            "documents 1 2",
            "documents_in 1 2",
            "bytes_read 1 2",
            "ended",
            "terms_visited 10 20",
            "terms_expanded 1 2",
            "positions 1 2",
            "documents_scored 1 2"
        ]
    );
    let time = format!("time_ns {} {}", 1_u64 << 40, 2_u64 << 40);
    let of_trees = ["query", "rewritten", "terms 1 2", &time, "bytes_read 1 2"];
    assert_eq!(rows(&diff.changes), [&of_trees[..], &["terms_intersected 1 2"]].concat());
    let ended = PlanDiff::new(&counted(2), &counted(3)).to_string();
    assert!(ended.contains("ended: early → out of time"), "{ended}");
}

#[test]
fn leaves_of_other_fields_are_others_and_alike_inputs_are_told_by_what_is_below() {
    let other = ExplainNode { field: Some("kind".into()), ..leaf("b") };
    let before = over("Intersect", vec![leaf("x"), leaf("a")]);
    let mut after =
        over("Intersect", vec![leaf("x"), ExplainNode { label: "kind:b".into(), ..other }]);
    after.children[1].predicate = Some("kind:b".into());
    after.label = before.label.clone();
    assert_eq!(rows(before, after), ["0→0 same", "0.0→0.0 same", "-→0.1 added", "0.1→- removed"]);
    // Nodes of long queries do not repeat the whole of what they answer.
    let union = |words: [&str; 2]| {
        let children = words.map(leaf).to_vec();
        ExplainNode { children, ..ExplainNode::new("Union", "2 inputs") }
    };
    let both = |inputs: [[&str; 2]; 2]| {
        let children = inputs.map(union).to_vec();
        ExplainNode { children, ..ExplainNode::new("Intersect", "2 inputs") }
    };
    let rows = rows(both([["a", "b"], ["c", "d"]]), both([["c", "d"], ["a", "b"]]));
    assert_eq!(rows[1..3], ["0.0→0.1 changed position", "0.0.0→0.1.0 same"]);
}

/// Each of several decisions by one rule, and of several findings of one, has its own counterpart.
#[test]
fn what_has_the_same_name_is_told_apart() {
    let decide = |accepted: &[bool]| {
        let mut root = over("Union", vec![leaf("a"), leaf("b")]);
        let decision = |accepted: &bool| Decision {
            accepted: *accepted,
            ..Decision::accepted("skip by bounds", "")
        };
        root.decisions = accepted.iter().map(decision).collect();
        tree(root)
    };
    let changed = |left: &[bool], right: &[bool]| {
        let diff = PlanDiff::new(&decide(left), &decide(right));
        let text = diff.to_string();
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix("decision "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(changed(&[true, true], &[true, true]), [""; 0]);
    assert_eq!(changed(&[true, true], &[true, false]), ["skip by bounds: taken → left"]);
    assert_eq!(changed(&[true, true], &[true]), ["skip by bounds: taken → none"]);
    assert_eq!(changed(&[], &[false, true]).len(), 2);

    let find = |words: [&str; 2], node: &str| {
        let mut tree = tree(over("Intersect", words.map(leaf).to_vec()));
        tree.plan.label.clear();
        let (rule, node) = ("wide expansion".to_owned(), Some(node.to_owned()));
        tree.findings = vec![Finding { rule, node, message: "wide".into(), ..Finding::default() }];
        tree
    };
    let found = |left, right| {
        let changes = PlanDiff::new(&left, &right).changes;
        changes.into_iter().filter_map(|change| change.name).collect::<Vec<_>>()
    };
    // One node that is elsewhere now; another node with the id it had; and one that is nowhere.
    assert_eq!(found(find(["a", "b"], "0.0"), find(["b", "a"], "0.1")), [""; 0]);
    assert_eq!(found(find(["a", "b"], "0.0"), find(["b", "a"], "0.0")), ["wide expansion"; 2]);
    assert_eq!(found(find(["a", "b"], "0.7"), find(["a", "b"], "0.0")), ["wide expansion"; 2]);
}

#[test]
fn facets_by_the_same_ranges_are_each_other_before_those_of_the_same_field() {
    let facet = |ranges: Option<&str>, limit| ExplainFacet {
        limit,
        ranges: ranges.map(str::to_owned),
        ..ExplainFacet::of("price")
    };
    let with = |facets| ExplainTree { facets, ..tree(leaf("a")) };
    let before = with(vec![facet(None, 1), facet(Some("3 ranges"), 2)]);
    let after = with(vec![facet(Some("3 ranges"), 2), facet(Some("4 ranges"), 1)]);
    let diff = PlanDiff::new(&before, &after).to_string();
    assert!(diff.starts_with("facet price: options: none → 4 ranges\n\n"), "{diff}");
}

/// A hostile plan has as many of everything as fit into its text.
#[test]
fn many_decisions_facets_and_findings_take_no_longer_each() {
    const MANY: usize = 40_000;
    let mut one = tree(leaf("a"));
    one.plan.decisions = vec![Decision::accepted("rule", ""); MANY];
    one.facets = vec![ExplainFacet::of("brand"); MANY];
    one.findings = vec![Finding::default(); MANY];
    let started = std::time::Instant::now();
    assert!(PlanDiff::new(&one, &one).is_same());
    let mut other = one.clone();
    other.facets.iter_mut().for_each(|facet| facet.ranges = Some("ranges".into()));
    other.findings.iter_mut().for_each(|finding| finding.rule = "other".into());
    other.plan.decisions.iter_mut().enumerate().for_each(|(n, it)| it.rule = n.to_string());
    let diff = PlanDiff::new(&one, &other);
    assert_eq!((diff.changes.len(), diff.nodes[0].changes.len()), (3 * MANY, 2 * MANY));
    // Comparing each with each takes some twenty seconds.
    assert!(started.elapsed().as_secs() < 4, "{:?}", started.elapsed());
}

/// Only names of ours are put into words.
#[test]
fn names_of_fields_and_rules_stay_as_they_are() {
    let facet =
        |field: &str, limit, within| ExplainFacet { limit, within, ..ExplainFacet::of(field) };
    let with = |limit, ns| {
        let mut tree = tree(leaf("a"));
        tree.facets = vec![facet("took_ns", 1, vec![facet("published_at", limit, vec![])])];
        tree.facets[0].actual = Some(FacetActual { time_ns: ns, ..FacetActual::default() });
        tree
    };
    let (before, mut after) = (with(3, 0), with(4, 900_000));
    after.facets[0].within.push(facet("old_ns", 7, vec![]));
    after.facets[0].decisions = vec![Decision::accepted("by_bytes_read", "")];
    let diff = PlanDiff::new(&before, &after);
    assert!(
        diff.to_string().starts_with(
            "\
facet took_ns: time: 0 ns → 900 µs
facet took_ns: decision by_bytes_read: none → taken
facet took_ns: facet published_at: limit: 3 → 4
facet took_ns: facet old_ns: none → there
"
        ),
        "{diff}"
    );
    let json: serde_json::Value = serde_json::from_str(&diff.to_json()).unwrap();
    assert_eq!(
        json["changes"],
        serde_json::json!([
            {"facets": ["took_ns"], "what": "time_ns", "left": 0, "right": 900_000},
            {"facets": ["took_ns"], "what": "decision", "name": "by_bytes_read", "left": null, "right": "taken"},
            {"facets": ["took_ns", "published_at"], "what": "limit", "left": 3, "right": 4},
            {"facets": ["took_ns"], "what": "facet", "name": "old_ns", "left": null, "right": "there"},
        ])
    );
}

#[cfg(feature = "viewer")]
#[test]
fn a_page_has_the_differences_in_words() {
    use crate::explain::units::duration;

    let (before, mut after) = (sample::analyzed(), sample::analyzed());
    after.total_ns = Some(950_000);
    let mut pages = crate::explain::HtmlPages::new();
    pages.add_diff("two", &before, &after);
    let data = crate::page::check::data(&pages.to_html());
    let rest = |tree: &ExplainTree| duration(tree.rest_ns().unwrap());
    let expected = serde_json::json!([
        {"what": "rest", "left": rest(&before), "right": rest(&after)},
        {"what": "total", "left": "42.0 µs", "right": "950 µs"},
    ]);
    assert_eq!(data["pages"][0]["diff"]["changes"], expected);
}

#[test]
fn times_that_differ_by_noise_are_the_same_and_runs_are_not_compared_with_plans() {
    let (before, mut after) = (sample::analyzed(), sample::analyzed());
    after.plan.actual.as_mut().unwrap().time_ns += 19_000;
    after.total_ns = after.total_ns.map(|ns| ns + 12_000);
    let diff = PlanDiff::new(&before, &after);
    assert!(diff.is_same(), "{diff}");
    assert_eq!(diff.to_string(), "The plans are the same.\n");
    // Long ones need more than a share.
    assert!(!changes::differ(1_000_000_000, 1_250_000_000));
    assert!(changes::differ(1_000_000_000, 1_500_000_000));
    assert!(changes::differ(0, 20_001) && !changes::differ(20_000, 0));

    after.total_ns = None;
    after.plan.actual = None;
    let diff = PlanDiff::new(&before, &after);
    assert_eq!(diff.changes.iter().map(|it| it.what).collect::<Vec<_>>(), ["rest_ns", "total_ns"]);
    assert!(diff.nodes.iter().all(|node| node.kind == DiffKind::Same), "{diff}");
}

proptest! {
    #[test]
    fn a_plan_is_the_same_as_itself(tree in arbitrary::trees()) {
        let diff = PlanDiff::new(&tree, &tree);
        prop_assert!(diff.is_same(), "{}", diff);
    }

    #[test]
    fn every_node_of_both_is_there_once(left in arbitrary::trees(), right in arbitrary::trees(), width in 26usize..100) {
        let diff = PlanDiff::new(&left, &right);
        let sorted = |mut ids: Vec<String>| { ids.sort(); ids };
        let of = |tree: &ExplainTree| sorted(tree.plan.iter().map(|node| node.id.clone()).collect());
        prop_assert_eq!(sorted(diff.nodes.iter().flat_map(|node| node.left.clone()).collect()), of(&left));
        prop_assert_eq!(sorted(diff.nodes.iter().flat_map(|node| node.right.clone()).collect()), of(&right));
        for node in &diff.nodes {
            let kind = match (&node.left, &node.right) {
                (Some(_), None) => DiffKind::Removed,
                (None, Some(_)) => DiffKind::Added,
                _ if node.changes.is_empty() => DiffKind::Same,
                _ => DiffKind::Changed,
            };
            prop_assert_eq!(node.kind, kind);
        }
        let json: serde_json::Value = serde_json::from_str(&diff.to_json()).unwrap();
        prop_assert_eq!(json["nodes"].as_array().map(Vec::len), Some(diff.nodes.len()));
        let text = diff.to_text(&TextOptions::default().width(width));
        prop_assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{:?}", text);
        // Only what is deep may need more.
        let deepest = 2 * diff.nodes.iter().map(|node| node.depth).max().unwrap_or(0) + 6 + 20;
        prop_assert!(text.lines().all(|line| terminal::width(line) <= width.max(deepest)), "{}", text);
    }
}
