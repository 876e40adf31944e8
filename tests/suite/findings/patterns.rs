//! Findings on patterns: prefixes, wildcards and expressions that become many terms.

use super::*;

#[test]
fn planning_that_takes_most_of_the_time_is_told_with_the_pattern_it_looks_for() {
    let index = titles([vec!["paris", "texas"]]);
    let searcher = index.searcher().unwrap();
    let told = |text: &str, planning_ns: u64, rest_ns: u64| {
        let mut tree = counted(&searcher, text);
        each_node(&mut tree.plan, &mut |node| node.actual.as_mut().unwrap().time_ns = 0);
        tree.planning_ns = Some(planning_ns);
        tree.plan.actual.as_mut().unwrap().time_ns = rest_ns;
        tree.find()
    };
    for (text, message, remedy) in [
        (
            "*is",
            "planning, which looks for the terms of *is",
            Some("characters before the first *"),
        ),
        (
            "paris OR (texas AND ?exas)",
            "planning, which looks for the terms of ?exas",
            Some("ngrams"),
        ),
        (
            "/.*as/",
            "planning, which looks for the terms of /.*as/",
            Some("an expression that begins"),
        ),
        ("pariz~1", "planning, which looks for the terms of pariz~1", Some("as pariz~1/1")),
        ("paris OR tex*", "planning, which looks for the terms of patterns and ranges", None),
        ("* paris OR \"texas paris\"", "planning, which looks words up", Some("run it again")),
    ] {
        let found = told(text, 10_000_000, 10_000_000);
        let finding = only(&found, "long planning");
        let expected = format!("50 % of the time went into {message}");
        assert!(finding.message.starts_with(&expected), "{finding:#?}");
        let told_remedy = finding.remedy.as_deref();
        assert!(
            remedy.is_none_or(|it| told_remedy.is_some_and(|told| told.contains(it))),
            "{finding:#?}"
        );
        assert_eq!(told_remedy.is_some(), remedy.is_some(), "{finding:#?}");
        assert_eq!(told(text, 9_999_999, 0), [], "nobody waits for that");
        assert_eq!(told(text, 10_000_000, 10_100_000), [], "it is not most of it");
    }
}

#[test]
fn a_prefix_of_many_terms_is_told_what_a_longer_one_leaves() {
    let letters: Vec<String> = ('a'..='z').map(|c| format!("a{c}")).collect();
    let mut beginnings: Vec<(&str, usize)> = letters.iter().map(|it| (&**it, 200)).collect();
    beginnings[13].1 = 310;
    beginnings.push(("b", 4_095));
    let texts = numbered(&beginnings);
    let all = strs(&texts);
    let searcher =
        titles([[&all[..4], &["other"]].concat(), all[4..].to_vec()]).searcher().unwrap();

    let tree = counted(&searcher, "a*");
    let finding = only(&tree.findings, "wide expansion");
    assert_eq!(finding.message, "100 % of the time went into expanding title:a* to 5,310 terms");
    assert_eq!(finding.severity, Severity::Warning);
    assert_eq!(finding.node.as_deref(), Some("0"));
    let remedy = "a longer beginning, as an*, has at most 310 terms and finds fewer documents";
    assert_eq!(finding.remedy.as_deref(), Some(remedy));
    let text = tree.to_string();
    let first = format!("query     a*\nwarning   {}\n        → {remedy}\n", finding.message);
    assert!(text.starts_with(&first), "{text}");

    // The remedy is what happens.
    let expanded = |text: &str| {
        let tree = counted(&searcher, text);
        quiet(&tree);
        tree.plan.actual.unwrap().terms.unwrap().expanded
    };
    assert_eq!(expanded("an*"), 310);
    let most = letters.iter().map(|letters| expanded(&format!("{letters}*"))).max();
    assert_eq!(most, Some(310));

    // Without the index there is no number, before a run there is no time, and one term fewer is few enough.
    let alone = tree.find();
    let remedy = only(&alone, "wide expansion").remedy.as_deref();
    assert_eq!(remedy, Some("a longer beginning has fewer terms and finds fewer documents"));
    let planned = searcher.search(&searcher.parse("a*").unwrap()).explain().unwrap();
    let finding = only(&planned.findings, "wide expansion");
    assert_eq!(finding.message, "title:a* stands for 5,310 terms or more");
    assert_eq!(finding.severity, Severity::Hint);
    quiet(&counted(&searcher, "b*"));

    // Beside what takes most of the time it matters little.
    let beside = counted(&searcher, "a* AND other");
    only(&found_if(&beside, "Expand", 10), "wide expansion");
    assert_eq!(found_if(&beside, "Expand", 9), []);
}

#[test]
fn patterns_that_look_at_all_terms_are_told_to_begin_with_something() {
    let texts = numbered(&[("w0", 5_000), ("w1", 5_002)]);
    let searcher = titles([strs(&texts)]).searcher().unwrap();
    for (text, remedied) in [("*w0*99", "w000*99"), ("?*99", "w000*99"), ("/.*99/", "/w000.*99/")] {
        let tree = counted(&searcher, text);
        let finding = only(&tree.findings, "wide search for terms");
        assert!(finding.message.contains("10,00"), "{}", finding.message);
        assert!(finding.remedy.is_some());
        assert_eq!(finding.rebuild, !text.starts_with('/'), "ngrams are for an index made anew");
        let better = counted(&searcher, remedied);
        quiet(&better);
        let visited =
            |tree: &ExplainTree| tree.plan.actual.as_ref().unwrap().terms.unwrap().visited;
        assert!(visited(&better) * 2 < visited(&tree), "{better}");
    }
    // A few terms less.
    let texts = numbered(&[("w0", 9_990)]);
    quiet(&counted(&titles([strs(&texts)]).searcher().unwrap(), "*99"));
}

#[test]
fn a_pattern_that_walks_the_dictionary_is_told_and_not_that_its_matches_are_counted() {
    let texts = numbered(&[("w", 12_000)]);
    let searcher = titles([strs(&texts)]).searcher().unwrap();
    let of_many = |text: &str, percent| {
        let mut tree = analyzed(&searcher, text, |search| search.order(Order::Document));
        each_node(&mut tree.plan, &mut |node| {
            let actual = node.actual.as_mut().unwrap();
            (actual.documents, actual.bytes_read) = (10_000, 1);
        });
        let mut found = found_if(&tree, "Expand", percent);
        // Nothing expected as many as are said here.
        found.retain(|finding| finding.rule != "estimate far off");
        found
    };
    // More terms than planning keeps: they are looked for when the pattern runs, whether matches are counted or not.
    let severity = |percent| only(&of_many("*5*", percent), "wide search for terms").severity;
    assert_eq!((severity(60), severity(40)), (Severity::Warning, Severity::Hint));
    // Few terms are known from planning: all that is left is to count.
    let rules = of_many("*55", 60).into_iter().map(|it| (it.rule, it.severity));
    assert_eq!(
        Vec::from_iter(rules),
        [
            ("counting all matches".to_owned(), Severity::Warning),
            ("wide search for terms".to_owned(), Severity::Hint)
        ]
    );
}

#[test]
fn patterns_that_score_by_some_of_their_terms_say_so() {
    let texts = numbered(&[("w", 30)]);
    let searcher = titles([strs(&texts)]).searcher().unwrap();
    let tree = analyzed(&searcher, "w*", |search| search.pattern_terms(29));
    let finding = only(&tree.findings, "scores of some terms");
    assert!(finding.message.ends_with("the other 1 add nothing"), "{}", finding.message);
    assert_eq!(finding.severity, Severity::Note);
    quiet(&analyzed(&searcher, "w*", |search| search.pattern_terms(30)));
}
