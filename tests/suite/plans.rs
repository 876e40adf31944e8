//! Plans as text, so that a review shows when one changes.

use treepie::explain::{ContainerCounts, EstimateFrom, ExplainOperator, ExplainTree};
use treepie::search::{Order, TotalMode};
use treepie::{Document, Field, FieldKind, Index, Schema, Searcher, SortKey, assert_plan};

/// 1,000 documents; each word is in those whose number its name divides.
fn searcher() -> Searcher {
    let schema = Schema::builder().text("t").keyword("k").build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for n in 0..1_000 {
        let divides = |d: &u32| n % d == 0;
        let words: Vec<_> =
            [1, 2, 3, 50, 500].into_iter().filter(divides).map(|d| format!("by{d}")).collect();
        let mut document = Document::new().with("t", words.join(" "));
        if n % 5 == 0 {
            document.push("k", format!("k{}", n % 10));
        }
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    index.searcher().unwrap()
}

/// Checks the plans of a count and of a page.
#[track_caller]
fn check(query: &str, count: &str, page: &str) {
    let searcher = searcher();
    let query = searcher.parse(query).unwrap();
    for (search, expected) in [
        (searcher.search(&query).count_only(), count),
        (searcher.search(&query).order(Order::Document).limit(3), page),
    ] {
        // What the planner goes by.
        let search = search.explainer().estimate_from(EstimateFrom::Headers);
        assert_plan!(search.explain().unwrap(), expected);
    }
}

#[test]
fn a_term_is_counted_by_its_document_frequency() {
    check(
        "by2",
        "
        TermScan t:by2 [document frequency] ~500 (document frequency)
        ✓ count is known",
        "
        Limit first 3, count all [document order; count what is past the page] ~3 (limit)
          TermScan t:by2 [roaring containers] ~500 (document frequency)
          ✓ stop at the page",
    );
}

#[test]
fn intersections_go_from_the_smallest_up_and_drop_what_is_everything() {
    check(
        "by2 AND by1 AND by3 AND NOT by50",
        "
        Intersect +t:by3 +t:by2 +t:by1 -t:by50 [merge array × array] ~164 in 0..=334 (independence)
        ✓ every document has it
        ✓ smallest first
        ✓ kernel
        ✓ count the last step
          TermScan t:by3 [roaring containers] ~334 (document frequency)
          TermScan t:by2 [roaring containers] ~500 (document frequency)
          TermScan t:by1 [every document] ~1000 (document frequency)
          TermScan NOT t:by50 [short list] ~20 (document frequency)",
        "
        Limit first 3, count all [document order; count what is past the page] ~3 in 0..=3 (limit)
          Intersect +t:by3 +t:by2 +t:by1 -t:by50 [merge array × array] ~164 in 0..=334 (independence)
          ✓ stop at the page
          ✓ every document has it
          ✓ smallest first
          ✓ kernel
            TermScan t:by3 [roaring containers] ~334 (document frequency)
            TermScan t:by2 [roaring containers] ~500 (document frequency)
            TermScan t:by1 [every document] ~1000 (document frequency)
            TermScan NOT t:by50 [short list] ~20 (document frequency)",
    );
}

#[test]
fn an_absent_word_proves_an_intersection_empty() {
    check(
        "by2 AND by7",
        "
        Nothing t:by7 AND t:by2 [known to be empty] ~0 (bounds meet)
        ✓ prove empty
          TermScan t:by7 [known to be empty] ~0 (document frequency)
          TermScan t:by2 [roaring containers] ~500 (document frequency)",
        "
        Limit first 3, count all [document order; count what is past the page] ~0 (limit)
          Nothing t:by7 AND t:by2 [known to be empty] ~0 (bounds meet)
          ✓ prove empty
            TermScan t:by7 [known to be empty] ~0 (document frequency)
            TermScan t:by2 [roaring containers] ~500 (document frequency)",
    );
}

#[test]
fn unions_count_by_inclusion_and_exclusion_or_while_uniting() {
    check(
        "by2 OR by3 OR by7",
        "
        Union t:by2 OR t:by3 OR t:by7 [inclusion and exclusion] ~667 in 500..=834 (independence)
        ✓ no document has it
        ✓ inclusion and exclusion
          TermScan t:by2 [roaring containers] ~500 (document frequency)
          TermScan t:by3 [roaring containers] ~334 (document frequency)
          TermScan t:by7 [known to be empty] ~0 (document frequency)",
        "
        Limit first 3, count all [document order; count what is past the page] ~3 (limit)
          Union t:by2 OR t:by3 OR t:by7 [largest container first] ~667 in 500..=834 (independence)
          ✓ stop at the page
          ✓ no document has it
            TermScan t:by2 [roaring containers] ~500 (document frequency)
            TermScan t:by3 [roaring containers] ~334 (document frequency)
            TermScan t:by7 [known to be empty] ~0 (document frequency)",
    );
    check(
        "by2 OR by3 OR by50",
        "
        Union t:by2 OR t:by3 OR t:by50 [count while uniting] ~674 in 500..=854 (independence)
        ✓ count while uniting
          TermScan t:by2 [roaring containers] ~500 (document frequency)
          TermScan t:by3 [roaring containers] ~334 (document frequency)
          TermScan t:by50 [short list] ~20 (document frequency)",
        "
        Limit first 3, count all [document order; count what is past the page] ~3 (limit)
          Union t:by2 OR t:by3 OR t:by50 [largest container first] ~674 in 500..=854 (independence)
          ✓ stop at the page
            TermScan t:by2 [roaring containers] ~500 (document frequency)
            TermScan t:by3 [roaring containers] ~334 (document frequency)
            TermScan t:by50 [short list] ~20 (document frequency)",
    );
}

#[test]
fn what_is_excluded_is_counted_and_subtracted() {
    check(
        "NOT (by2 OR by3)",
        "
        Difference -t:by2 -t:by3 [complement] ~333 in 166..=500 (independence)
        ✓ count the complement
          TermScan NOT t:by2 [roaring containers] ~500 (document frequency)
          TermScan NOT t:by3 [roaring containers] ~334 (document frequency)",
        "
        Limit first 3, count all [document order; count what is past the page] ~3 (limit)
          Difference -t:by2 -t:by3 [complement] ~333 in 166..=500 (independence)
          ✓ stop at the page
            TermScan NOT t:by2 [roaring containers] ~500 (document frequency)
            TermScan NOT t:by3 [roaring containers] ~334 (document frequency)",
    );
}

#[test]
fn the_value_and_the_presence_of_a_keyword_are_leaves_too() {
    check(
        "k:* AND by3 AND NOT k:\"k5\"",
        r#"
        Intersect +k:* +t:by3 -k:"k5" [merge array × array] ~60 in 0..=200 (independence)
        ✓ smallest first
        ✓ kernel
        ✓ count the last step
          Exists k:* [roaring containers] ~200 (field statistics)
          TermScan t:by3 [roaring containers] ~334 (document frequency)
          TermScan NOT k:"k5" [short list] ~100 (document frequency)"#,
        r#"
        Limit first 3, count all [document order; count what is past the page] ~3 in 0..=3 (limit)
          Intersect +k:* +t:by3 -k:"k5" [merge array × array] ~60 in 0..=200 (independence)
          ✓ stop at the page
          ✓ smallest first
          ✓ kernel
            Exists k:* [roaring containers] ~200 (field statistics)
            TermScan t:by3 [roaring containers] ~334 (document frequency)
            TermScan NOT k:"k5" [short list] ~100 (document frequency)"#,
    );
}

#[test]
fn a_page_that_is_not_the_first_has_what_is_left() {
    let searcher = searcher();
    let query = searcher.parse("by50").unwrap();
    let search = |offset| searcher.search(&query).order(Order::Document).limit(9).offset(offset);
    assert_eq!(search(15).explain().unwrap().plan.estimate.documents, 5);
    assert_eq!(search(30).explain().unwrap().plan.estimate.documents, 0);
}

/// Documents of a pattern that come out are those that the plan says it looks for: the smallest, or all.
#[test]
fn smallest_documents_are_looked_for_where_the_plan_says_so() {
    let index = Index::in_memory(Schema::builder().text("t").build().unwrap());
    let mut writer = index.writer().unwrap();
    for n in 0..9_000 {
        writer.add(Document::new().with("t", format!("hist{} other", n % 10))).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("hist*").unwrap();
    for (limit, total, smallest) in [
        (5, TotalMode::UpTo(30), Some(31)),
        (50, TotalMode::UpTo(30), Some(50)),
        (5, TotalMode::UpTo(4_095), Some(4_096)),
        (5, TotalMode::UpTo(4_096), None),
        (5, TotalMode::Unknown, Some(5)),
        (4_096, TotalMode::Unknown, Some(4_096)),
        (5_000, TotalMode::Unknown, None),
        (5, TotalMode::Exact, None),
    ] {
        let search = || searcher.search(&query).order(Order::Document).limit(limit).total(total);
        let tree = search().analyze().unwrap();
        let pattern = tree.plan.iter().last().unwrap();
        let rules: Vec<_> = pattern.decisions.iter().map(|it| &*it.rule).collect();
        let found = pattern.actual.as_ref().unwrap().documents;
        let hits = search().run().unwrap().hits;
        assert!(hits.iter().map(|hit| hit.doc.0).eq(0..limit), "{tree}");
        match smallest {
            Some(n) => {
                assert_eq!((found, &rules[..]), (n, &["smallest documents"][..]), "{tree}");
                assert!(pattern.decisions[0].reason.contains(&format!("the {n} smallest")));
                assert!(pattern.algorithm.starts_with("smallest documents"), "{tree}");
            }
            None => {
                assert!(found == 9_000 && rules.contains(&"unite the terms"), "{tree}");
                assert!(pattern.algorithm.contains("united in a bitmap"), "{tree}");
            }
        }
    }
}

/// A sorted page reads lists from as many matches on as its plan says, whether it is planned or run.
#[test]
fn lists_are_read_in_their_order_where_the_plan_says_so() {
    const WORDS: [u32; 9] = [1, 2, 3, 4, 6, 8, 12, 50, 500];
    let schema =
        Schema::builder().text("t").field(Field::new("n", FieldKind::I64)).build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for n in 0..9_000_u32 {
        let words = WORDS.into_iter().filter(|d| n.is_multiple_of(*d)).map(|d| format!("by{d}"));
        let document = Document::new().with("t", words.collect::<Vec<_>>().join(" "));
        writer.add(document.with("n", i64::from(n * 7 % 1_000))).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let mut accepted = vec![];
    for word in WORDS {
        let query = searcher.parse(&format!("by{word}")).unwrap();
        let search = || searcher.search(&query).sort([SortKey::ascending("n")]).limit(5);
        let (planned, ran) = (search().explain().unwrap(), search().analyze().unwrap());
        let of = |tree: &ExplainTree| {
            tree.plan.decisions.iter().find(|it| it.rule == "read lists in their order").cloned()
        };
        let (of_plan, of_run) = (of(&planned).unwrap(), of(&ran).unwrap());
        let from = of_plan.reason.split("from about ").nth(1).unwrap();
        let from: u32 = from.split(' ').next().unwrap().parse().unwrap();
        assert_eq!(of_plan.accepted, 9_000_u32.div_ceil(word) >= from, "{planned}");
        assert_eq!(
            (of_run.accepted, &ran.plan.algorithm),
            (of_plan.accepted, &planned.plan.algorithm)
        );
        let streamed = ran.plan.actual.as_ref().unwrap().streamed;
        assert_eq!(streamed.is_some(), of_run.accepted, "{ran}");
        accepted.push(of_run.accepted);
    }
    assert!(accepted.contains(&true) && accepted.contains(&false), "{accepted:?}");
    assert!(accepted.is_sorted_by(|a, b| a >= b), "{accepted:?}");
}

/// Two lists are counted by their containers whether or not somebody looks: all time is at the top, and what was read at the lists.
#[test]
fn a_count_of_two_lists_that_is_analysed_is_the_one_that_runs_elsewhere() {
    const N: u32 = 70_000;
    let schema = Schema::builder().text("t").keyword("k").build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for n in 0..N {
        let mut words: Vec<_> =
            [2, 3].into_iter().filter(|d| n % d == 0).map(|d| format!("by{d}")).collect();
        words.extend((66_000..66_600).contains(&n).then(|| "late".to_owned()));
        let document = Document::new().with("t", words.join(" "));
        writer.add(document.with("k", if n % 7 == 0 { "gone" } else { "left" })).unwrap();
    }
    writer.commit().unwrap();
    let all = index.searcher().unwrap();
    writer.delete_value("k", "gone").unwrap();
    writer.commit().unwrap();
    let left = index.searcher().unwrap();
    let in_second = |d: u64| (65_536..u64::from(N)).filter(|n| n.is_multiple_of(d)).count() as u64;
    // Documents of each list in windows that were looked into, and its containers that were read there.
    let (by2, by3, late) = (("by2", 35_000, 2), ("by3", 23_334, 2), ("late", 600, 1));
    let gone = ("deleted documents", 10_000, 2);
    for (searcher, text, lists) in [
        (&all, "by2 AND by3", &[by2, by3][..]),
        (&all, "by2 AND late", &[("by2", in_second(2), 1), late]),
        // Those of a window that the other list has nothing in are known from the header.
        (&all, "by2 OR late", &[("by2", 35_000, 1), late]),
        (&left, "by2 AND by3", &[by2, by3, gone]),
        (&left, "by2 AND late", &[("by2", in_second(2), 1), late, (gone.0, in_second(7), 1)]),
        (&left, "by2 OR late", &[by2, late, gone]),
    ] {
        let query = searcher.parse(text).unwrap();
        let expected = searcher.count(&query).unwrap();
        let tree = searcher.search(&query).count_only().analyze().unwrap();
        let actual = tree.plan.actual.as_ref().unwrap();
        assert_eq!((actual.documents, actual.complete), (expected, true), "{tree}");
        assert!(actual.time_ns > 0, "{tree}");
        let windows = tree.plan.windows.iter().flat_map(|map| &map.documents);
        assert_eq!(windows.map(|n| u64::from(*n)).sum::<u64>(), expected, "{tree}");
        for (label, documents, n_read) in lists {
            let node = tree
                .plan
                .iter()
                .find(|node| node.children.is_empty() && node.label.contains(label));
            let actual = node.unwrap().actual.as_ref().unwrap();
            let ContainerCounts { array, bitmap, run, .. } = actual.containers;
            let found = (actual.documents, array + bitmap + run, actual.time_ns);
            assert_eq!(found, (*documents, *n_read, 0), "{label}: {tree}");
        }
        let came_in = |lists: &[(&str, u64, u64)]| lists.iter().map(|it| it.1).sum::<u64>();
        match tree.plan.iter().skip(1).find(|node| node.operator == ExplainOperator::Union) {
            // It is counted without what is deleted, which is not all it has.
            Some(union) => {
                let of_union = union.actual.as_ref().unwrap();
                assert_eq!((of_union.documents, of_union.complete), (expected, false), "{tree}");
                assert_eq!(of_union.documents_in, Some(came_in(&lists[..2])), "{tree}");
                assert_eq!(actual.documents_in, Some(expected + lists[2].1), "{tree}");
            }
            None => assert_eq!(actual.documents_in, Some(came_in(lists)), "{tree}"),
        }
    }
}

/// What was decided costs less than what was not, where both are reckoned with.
#[test]
fn decisions_cost_less_than_their_alternatives_and_say_why() {
    let searcher = searcher();
    let plan = |text: &str, count: bool| {
        let query = searcher.parse(text).unwrap();
        let search = searcher.search(&query);
        let search = match count {
            true => search.count_only(),
            false => search.order(Order::Document).limit(3),
        };
        search.explainer().estimate_from(EstimateFrom::Headers).explain().unwrap()
    };
    let mut rules = std::collections::BTreeSet::new();
    for (text, count) in [
        ("by3 AND by2", true),
        ("by2 AND by3", false),
        ("by2", true),
        ("by2 OR by3 OR by50", true),
        ("NOT (by2 OR by3)", true),
    ] {
        let tree = plan(text, count);
        for node in tree.plan.iter() {
            for decision in &node.decisions {
                let other = decision.alternative.as_ref().unwrap();
                let (cost, other_cost) = (decision.estimated_cost_ns, other.estimated_cost_ns);
                // Two inputs meet at the same price in either order.
                let may_equal = u64::from(decision.rule == "smallest first");
                let is_less = cost.unwrap() < other_cost.unwrap() + may_equal;
                assert!(is_less, "{}: {tree}", decision.rule);
                if decision.rule == "kernel" {
                    assert!(decision.reason.starts_with(&node.algorithm), "{tree}");
                    assert_ne!(other.name, node.algorithm, "{tree}");
                }
                rules.insert(decision.rule.clone());
            }
        }
    }
    let expected = [
        "count is known",
        "count the complement",
        "count the last step",
        "count while uniting",
        "kernel",
        "smallest first",
        "stop at the page",
    ];
    assert!(rules.iter().eq(expected.iter()), "{rules:?}");
    // Whether the order is that of the query.
    for (text, reason) in
        [("by2 AND by50", "moved from the order"), ("by50 AND by2", "the query's order already")]
    {
        let tree = plan(text, true);
        assert!(tree.plan.decisions[0].reason.contains(reason), "{tree}");
    }
}
