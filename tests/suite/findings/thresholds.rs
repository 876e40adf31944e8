//! Trees that were changed by hand, so that each number is met from both sides.

use super::*;

#[test]
fn rules_speak_from_their_thresholds_on() {
    let texts = [same("paris texas", 300), same("paris", 300), same("other", 9)].concat();
    let searcher = titles([texts]).searcher().unwrap();
    let told = |tree: &ExplainTree, change: &dyn Fn(&mut ExplainTree)| -> Vec<String> {
        let mut tree = tree.clone();
        change(&mut tree);
        tree.find().into_iter().map(|finding| finding.rule).collect()
    };
    let none: [String; 0] = [];

    let word = counted(&searcher, "paris");
    let of_index = |n: usize, documents: u64, deleted: u64| {
        told(&word, &|tree| {
            let mut segment = tree.segments[0].clone();
            (segment.documents, segment.deleted) = (documents, deleted);
            tree.segments = vec![segment; n];
        })
    };
    assert_eq!(of_index(16, 65_535, 0), ["many segments"]);
    assert_eq!(of_index(16, 65_536, 0), none);
    assert_eq!(of_index(1, 4_000, 1_000), ["many deleted"]);
    assert_eq!(of_index(1, 4_001, 1_000), none);
    assert_eq!(of_index(1, 2_000, 999), none);
    // Where nothing else is read, it is no news that this is most of it.
    let all = told(&word, &|tree| tree.plan.actual.as_mut().unwrap().bytes_read = 1 << 30);
    assert_eq!(all, none);

    let pattern = counted(&searcher, "p* OR t*");
    let of_terms = |visited: u64, expanded: u64| {
        told(&pattern, &|tree| {
            let actual = tree.plan.children[0].actual.as_mut().unwrap();
            let terms = actual.terms.get_or_insert_default();
            (terms.visited, terms.expanded, actual.time_ns) = (visited, expanded, 1 << 40);
        })
    };
    assert_eq!(of_terms(1 << 20, 4_096), ["wide expansion"]);
    assert_eq!(of_terms(1 << 20, 4_095), none);

    let of_wildcard = |predicate: &str, visited: u64, expanded: u64| {
        told(&pattern, &|tree| {
            let node = &mut tree.plan.children[0];
            node.predicate = Some(predicate.into());
            let actual = node.actual.as_mut().unwrap();
            let terms = actual.terms.get_or_insert_default();
            (terms.visited, terms.expanded, actual.time_ns) = (visited, expanded, 1 << 40);
        })
    };
    assert_eq!(of_wildcard("title:*s", 10_000, 10), ["wide search for terms"]);
    assert_eq!(of_wildcard("title:*s", 9_999, 10), none);
    assert_eq!(of_wildcard("title:p*s", 10_000, 10), none, "it begins with something");
    // Where most of the terms are meant, they are what takes the time.
    assert_eq!(of_wildcard("title:*s", 20_000, 10_000), ["wide search for terms"]);
    assert_eq!(of_wildcard("title:*s", 20_000, 10_001), ["wide expansion"]);

    let planned = searcher.search(&searcher.parse("p*").unwrap()).count_only().explain().unwrap();
    let of_plan = |upper: u64| {
        told(&planned, &|tree| {
            (tree.plan.operator, tree.plan.terms) = ("Expand".into(), Some(5_000));
            (tree.plan.estimate.lower, tree.plan.estimate.upper) = (600, upper);
        })
    };
    assert_eq!(of_plan(601), ["wide expansion"]);
    assert_eq!(of_plan(600), none, "the dictionary counts it");

    let phrase = counted(&searcher, "\"paris texas\"");
    let of_phrase = |positions: u64, candidates: u64| {
        told(&phrase, &|tree| {
            let actual = tree.plan.actual.as_mut().unwrap();
            (actual.documents, actual.time_ns) = (60, 1 << 40);
            let counts = actual.positions.as_mut().unwrap();
            (counts.positions, counts.candidates) = (positions, candidates);
        })
    };
    assert_eq!(of_phrase(20_000, 600), ["frequent words in a phrase"]);
    assert_eq!(of_phrase(19_999, 600), none);
    assert_eq!(of_phrase(20_000, 599), none);
}

#[test]
fn facets_are_slow_from_a_thousand_lists_or_a_hundred_thousand_values_on() {
    let searcher = titles([same("paris", 10)]).searcher().unwrap();
    let tree = analyzed(&searcher, "paris", |search| search.facet("kind", 100));
    let found = |lists: u64, values: u64, limit: u64| {
        let mut tree = tree.clone();
        tree.facets[0].limit = limit;
        let actual = tree.facets[0].actual.as_mut().unwrap();
        (actual.terms_intersected, actual.time_ns) = (lists, 1 << 40);
        let mut column = treepie::explain::ColumnCounts::default();
        column.documents = values;
        actual.column = Some(column);
        tree.find()
    };
    let remedy = only(&found(1_000, 0, 100), "slow facet").remedy.clone();
    assert!(remedy.unwrap().starts_with("fewer values"));
    assert_eq!(only(&found(1_000, 0, 99), "slow facet").remedy, None);
    only(&found(0, 100_000, 10), "slow facet");
    assert_eq!(found(999, 99_999, 10), []);
    // Statistics are no facet to whom asked for them.
    let statistics = analyzed(&searcher, "paris", |search| {
        search.with_facet(treepie::Facet::statistics("number"))
    });
    let mut slow = statistics.clone();
    let actual = slow.facets[0].actual.as_mut().unwrap();
    (actual.column.as_mut().unwrap().documents, actual.time_ns) = (100_000, 1 << 40);
    let message = only(&slow.find(), "slow facet").message.clone();
    assert!(
        message.ends_with(
            "went into the statistics of number: looking at the values of 100,000 documents"
        ),
        "{message}"
    );
    // One that lies within another is as slow.
    let mut nested = tree.clone();
    let mut inner = nested.facets[0].clone();
    let actual = inner.actual.as_mut().unwrap();
    (actual.terms_intersected, actual.time_ns) = (1_000, 1 << 40);
    nested.facets[0].within = vec![inner];
    only(&nested.find(), "slow facet");
}

#[test]
fn counting_and_sorting_are_told_only_where_they_can_be_spared() {
    let titles = [same("paris", 6_000), same("texas", 6_000)].concat();
    let searcher = self::titles([titles]).searcher().unwrap();
    let tree = analyzed(&searcher, "paris OR texas", default);
    only(&found_if(&tree, "Union", 60), "counting all matches");
    let mut known = tree.clone();
    each_node(&mut known.plan, &mut |node| node.actual.as_mut().unwrap().bytes_read = 0);
    assert_eq!(found_if(&known, "Union", 60), [], "what the dictionary knows costs nothing");
    let mut scored = tree.clone();
    scored.plan.algorithm = "BM25 of every match".into();
    assert_eq!(found_if(&scored, "Union", 60), [], "what is scored is counted on the way");

    let mut sorted =
        analyzed(&searcher, "paris OR texas", |search| search.sort([SortKey::random(1)]));
    only(&found_if(&sorted, "Sort", 60), "everything is sorted");
    sorted.plan.algorithm = "column, by bounds of blocks".into();
    assert_eq!(found_if(&sorted, "Sort", 60), []);
}

#[test]
fn of_one_rule_the_weightiest_are_told_by_their_time() {
    let searcher = titles([vec!["paris", "parish", "parisy", "texas"]]).searcher().unwrap();
    let tree = counted(&searcher, "v OR w OR x OR y OR z OR texas");
    let rules: Vec<_> = tree.findings.iter().map(|finding| &*finding.rule).collect();
    assert_eq!(rules, ["unknown word"; 3]);
    let similar = counted(&searcher, "parisx OR texas");
    let remedy = only(&similar.findings, "unknown word").remedy.as_ref().unwrap();
    assert_eq!(remedy.matches("1 document").count(), 3, "{remedy}");

    let mut tree = counted(&searcher, "p* OR t* OR texas");
    for (child, ns) in tree.plan.children.iter_mut().zip([20, 30, 50]) {
        let actual = child.actual.as_mut().unwrap();
        actual.time_ns = ns;
        if child.operator.name() == "Expand" || ns < 50 {
            child.operator = "Expand".into();
            actual.terms.get_or_insert_default().expanded = 5_000;
        }
    }
    tree.plan.actual.as_mut().unwrap().time_ns = 0;
    let nodes: Vec<_> = tree.find().into_iter().filter_map(|finding| finding.node).collect();
    assert_eq!(nodes, ["0.1", "0.0"]);
}

#[test]
fn the_deepest_misjudged_node_is_told_and_whether_its_bounds_say_anything() {
    let texts = [same("both them", 1_000), same("both", 500), same("them", 500)].concat();
    let searcher = titles([texts]).searcher().unwrap();
    let mut tree = counted(&searcher, "both AND them");
    each_node(&mut tree.plan, &mut |node| {
        let actual = node.actual.as_mut().unwrap();
        (actual.documents, actual.complete, actual.time_ns) = (1_500, true, 1);
    });
    let found = |lower: u64, upper: u64| {
        let mut tree = tree.clone();
        let ExplainNode { estimate, children, .. } = &mut tree.plan;
        // What is above it is off by more, and because of it.
        for (estimate, documents) in [(estimate, 50), (&mut children[1].estimate, 100)] {
            (estimate.lower, estimate.upper, estimate.documents) = (lower, upper, documents);
        }
        tree.find()
    };
    let message = |lower, upper| only(&found(lower, upper), "estimate far off").message.clone();
    assert_eq!(found(20, 1_980)[0].node.as_deref(), Some("0.1"));
    assert!(message(20, 1_980).ends_with("; its bounds say nothing"));
    assert!(!message(21, 1_980).contains("bounds"));
    assert!(!message(20, 1_979).contains("bounds"));
}
