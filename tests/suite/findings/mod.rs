//! Each rule of findings: it fires on a search of a real index, is quiet just below its threshold, and what it
//! proposes helps.
//!
//! No test depends on the clock: where a rule asks what took the time, the test says which node did.

mod patterns;
mod thresholds;

use std::fmt::Write;
use treepie::explain::EstimateFrom;
use treepie::explain::{ExplainNode, ExplainTree, Finding, Severity};
use treepie::facet::FacetMethod;
use treepie::function::{Function, ScoreFunction};
use treepie::search::{Explainer, Order, TotalMode};
use treepie::{
    After, Document, Facet, Field, FieldKind, Index, Schema, SearchBuilder, Searcher, SortKey,
};

fn schema() -> Schema {
    let column = Field::new("column", FieldKind::Keyword).column(true);
    let number = Field::new("number", FieldKind::U64);
    let schema = Schema::builder().text("title").keyword("kind").field(column).field(number);
    schema.default_fields(["title"]).build().unwrap()
}

/// An index of titles, one segment for each part.
fn titles<'t>(parts: impl IntoIterator<Item = Vec<&'t str>>) -> Index {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    for part in parts {
        part.into_iter()
            .for_each(|title| writer.add(Document::new().with("title", title)).unwrap());
        writer.commit().unwrap();
    }
    drop(writer);
    index
}

/// `n` documents of one title.
fn same(title: &str, n: usize) -> Vec<&str> {
    vec![title; n]
}

/// Words with a running number behind a beginning, in nine documents; a tenth has none of them.
fn numbered(beginnings: &[(&str, usize)]) -> Vec<String> {
    let mut texts = vec![String::new(); 9];
    for (beginning, n) in beginnings {
        (0..*n).for_each(|nth| write!(texts[nth % 9], "{beginning}{nth:05} ").unwrap());
    }
    texts.push("other".into());
    texts
}

fn strs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(|text| &**text).collect()
}

fn analyzed(
    searcher: &Searcher,
    text: &str,
    with: impl for<'s> Fn(SearchBuilder<'s>) -> SearchBuilder<'s>,
) -> ExplainTree {
    explained(searcher, text, |search| with(search).explainer())
}

fn explained(
    searcher: &Searcher,
    text: &str,
    with: impl for<'s> Fn(SearchBuilder<'s>) -> Explainer<'s>,
) -> ExplainTree {
    let query = searcher.parse(text).unwrap();
    let mut tree = with(searcher.search(&query)).analyze().unwrap();
    // What it takes says only how busy the machine is.
    (tree.planning_ns, tree.total_ns) = (Some(0), Some(0));
    tree.findings = searcher.findings(&tree);
    tree
}

fn counted(searcher: &Searcher, text: &str) -> ExplainTree {
    analyzed(searcher, text, |search| search.count_only())
}

fn default(search: SearchBuilder<'_>) -> SearchBuilder<'_> {
    search
}

/// What is told in these tests: by each rule, of which nodes, how much it matters, and whether there is always a remedy.
const TOLD: [(&str, &[&str], &[Severity], bool); 22] = {
    use Severity::{Hint, Note, Warning};
    [
        ("stopped", &["0.0"], &[Warning], true),
        ("many segments", &[], &[Hint], true),
        ("many deleted", &[], &[Hint], true),
        ("one long list", &["0.1"], &[Note], false),
        ("nothing can match", &["0"], &[Warning], false),
        (
            "unknown word",
            &["0.0", "0.1", "0.0.0", "0.0.1", "0.0.0.0", "0.0.0.1"],
            &[Warning, Hint, Note],
            false,
        ),
        ("no condition", &["0.1"], &[Note], true),
        ("no term", &[], &[Hint], true),
        ("only exclusions", &["0"], &[Note], true),
        ("long planning", &[], &[Warning], false),
        ("wide expansion", &["0", "0.0", "0.1"], &[Warning, Hint], false),
        ("scores of some terms", &["0"], &[Note], true),
        ("wide search for terms", &["0", "0.0"], &[Warning, Hint], true),
        ("deep page", &["0"], &[Hint], true),
        ("counting all matches", &["0.0"], &[Warning], true),
        ("everything is scored", &["0"], &[Warning], true),
        ("searched twice", &["0"], &[Hint], true),
        ("everything is sorted", &["0"], &[Warning], false),
        ("order given up", &["0"], &[Note], false),
        ("frequent words in a phrase", &["0"], &[Warning], true),
        ("slow facet", &[], &[Warning], false),
        ("estimate far off", &["0", "0.1"], &[Hint], false),
    ]
};

/// The only finding there is.
#[track_caller]
fn only<'f>(findings: &'f [Finding], rule: &str) -> &'f Finding {
    assert!(findings.len() == 1 && findings[0].rule == rule, "{findings:#?}");
    let finding = &findings[0];
    let (_, nodes, severities, has_remedy) = TOLD.iter().find(|told| told.0 == rule).unwrap();
    match &finding.node {
        Some(node) => assert!(nodes.contains(&&**node), "{finding:#?}"),
        None => assert!(nodes.is_empty(), "{finding:#?}"),
    }
    assert_eq!(finding.facet.is_some(), rule == "slow facet", "{finding:#?}");
    assert!(severities.contains(&finding.severity), "{finding:#?}");
    assert!(finding.remedy.is_some() || !has_remedy, "{finding:#?}");
    finding
}

#[track_caller]
fn quiet(tree: &ExplainTree) {
    assert_eq!(tree.findings, [], "{tree}");
    assert_eq!(tree.find(), [], "{tree}");
}

fn each_node(node: &mut ExplainNode, change: &mut dyn FnMut(&mut ExplainNode)) {
    change(node);
    node.children.iter_mut().for_each(|child| each_node(child, change));
}

/// What is found where the nodes of one operator take so many percent of the time, and facets the rest.
fn found_if(tree: &ExplainTree, operator: &str, percent: u64) -> Vec<Finding> {
    let mut tree = tree.clone();
    tree.planning_ns = Some(0);
    let is_meant = |node: &ExplainNode| node.operator.name() == operator;
    let n = tree.plan.iter().filter(|node| is_meant(node)).count() as u64;
    let rest = if tree.facets.is_empty() { (100 - percent) * 1_000 } else { 0 };
    // What is left goes to the first of the others.
    let mut is_first = true;
    each_node(&mut tree.plan, &mut |node| {
        if node.actual.is_none() {
            // What was not carried out takes no time.
            return;
        }
        let time_ns = match is_meant(node) {
            true => percent * 1_000 / n.max(1),
            false if std::mem::take(&mut is_first) => rest,
            false => 0,
        };
        node.actual.as_mut().unwrap().time_ns = time_ns;
    });
    for facet in &mut tree.facets {
        facet.actual.as_mut().unwrap().time_ns = (100 - percent) * 1_000;
    }
    tree.find()
}

#[test]
fn a_wide_range_of_a_field_without_a_column_is_told_to_have_one() {
    for (kind, is_told) in [(FieldKind::U64, true), (FieldKind::Text, false)] {
        let field = Field::new("n", kind).column(false);
        let index = Index::in_memory(Schema::builder().field(field).build().unwrap());
        let mut writer = index.writer().unwrap();
        for n in 1_000..6_000 {
            writer.add(Document::new().with("n", n.to_string())).unwrap();
        }
        writer.commit().unwrap();
        let tree = counted(&index.searcher().unwrap(), "n:[1001 TO *]");
        let finding = only(&tree.findings, "wide expansion");
        let column = "a column (column = true in the schema), whose values are compared";
        assert_eq!(
            (finding.remedy.as_deref(), finding.rebuild),
            (is_told.then_some(column), is_told)
        );
    }
}

#[test]
fn words_that_no_document_has_are_named_with_what_is_like_them() {
    let searcher =
        titles([vec!["paris texas", "paris", "parish"], vec!["london"]]).searcher().unwrap();
    let tree = counted(&searcher, "+pariss +texas");
    let finding = only(&tree.findings, "unknown word");
    assert_eq!(finding.message, "no document has title:pariss, so nothing matches");
    assert_eq!(finding.severity, Severity::Warning);
    let remedy = "like it are 'paris' (2 documents), 'parish' (1 document)";
    assert_eq!(finding.remedy.as_deref(), Some(remedy));
    assert!(counted(&searcher, "+paris +texas").plan.actual.unwrap().documents > 0);

    let cases = [
        ("pariss OR texas", Severity::Hint, "no document has title:pariss, so it adds nothing"),
        ("texas -pariss", Severity::Note, "no document has title:pariss, so it excludes nothing"),
        ("kind:a OR texas", Severity::Hint, "no document has kind:\"a\", so it adds nothing"),
        ("zz* OR texas", Severity::Hint, "no document has title:zz*, so it adds nothing"),
    ];
    for (text, severity, message) in cases {
        let planned = searcher.search(&searcher.parse(text).unwrap()).explain().unwrap();
        for tree in [counted(&searcher, text), planned] {
            let finding = only(&tree.findings, "unknown word");
            assert_eq!((finding.severity, &*finding.message), (severity, message));
        }
    }
    quiet(&counted(&searcher, "parish OR texas"));
    // A word need not be in every field that it is looked for in.
    let in_both = counted(&searcher, "{title kind}:texas");
    assert_eq!(in_both.plan.children.len(), 2, "{in_both}");
    quiet(&in_both);
    let tree = counted(&searcher, "{title kind}:texass");
    assert_eq!(tree.findings.len(), 2, "{tree}");
}

#[test]
fn conditions_that_every_document_meets_are_named() {
    let with = |others: usize, without: usize| {
        let titles = [same("every rare", 3), same("every", others), same("none", without)];
        self::titles([titles.concat()]).searcher().unwrap()
    };
    let tree = counted(&with(97, 0), "every AND rare");
    let finding = only(&tree.findings, "no condition");
    assert_eq!(finding.message, "every document has title:every, so it is no condition");
    // As proposed.
    let left = counted(&with(97, 0), "rare");
    assert_eq!(left.plan.actual.as_ref().unwrap().documents, 3);
    quiet(&left);
    quiet(&counted(&with(97, 1), "every AND rare"));
    quiet(&counted(&with(96, 0), "every AND rare"));
    quiet(&counted(&with(97, 0), "every OR rare"));
    quiet(&counted(&with(97, 0), "every"));
}

#[test]
fn texts_without_terms_and_contradictions_are_named() {
    let searcher = titles([vec!["paris texas"]]).searcher().unwrap();
    let tree = counted(&searcher, "paris OR \"--\"");
    let finding = only(&tree.findings, "no term");
    assert!(finding.message.starts_with("'--' has no letter or digit"), "{}", finding.message);
    assert_eq!(finding.severity, Severity::Hint);
    quiet(&counted(&searcher, "paris"));
    let tree = counted(&searcher, "paris AND NOT paris");
    let finding = only(&tree.findings, "nothing can match");
    assert_eq!(finding.message, "'title:paris' is asked for and excluded, so nothing matches");
    quiet(&counted(&searcher, "paris AND NOT texas"));
}

#[test]
fn queries_that_only_exclude_are_noted() {
    let searcher = titles([[same("rare", 50), same("often", 51)].concat()]).searcher().unwrap();
    let tree = counted(&searcher, "NOT rare");
    let finding = only(&tree.findings, "only exclusions");
    assert_eq!(finding.severity, Severity::Note);
    quiet(&counted(&searcher, "NOT often"));
    quiet(&counted(&searcher, "* -often"));
    quiet(&counted(&searcher, "+often -rare"));
    let of = |n: usize| titles([[same("rare", 49), same("often", n - 49)].concat()]);
    quiet(&counted(&of(99).searcher().unwrap(), "NOT rare"));
    only(&counted(&of(100).searcher().unwrap(), "NOT rare").findings, "only exclusions");
    // What is deleted is excluded by nobody.
    let index = of(300);
    let mut writer = index.writer().unwrap();
    writer.delete(&index.searcher().unwrap().parse("rare").unwrap()).unwrap();
    writer.commit().unwrap();
    quiet(&counted(&index.searcher().unwrap(), "*"));
}

#[test]
fn estimates_that_are_far_off_are_told_where_they_matter() {
    let titles = [same("both of them", 1_000), same("both", 600), same("them", 600), same("", 8)];
    let searcher = self::titles([titles.concat()]).searcher().unwrap();
    // A sample would be right.
    let tree = explained(&searcher, "both AND them", |search| {
        search.count_only().explainer().estimate_from(EstimateFrom::Headers)
    });
    assert_eq!(tree.plan.actual.as_ref().unwrap().documents, 1_000);
    let found = |expected: u64| {
        let mut tree = tree.clone();
        tree.plan.estimate.documents = expected;
        tree.find()
    };
    let findings = found(100);
    let finding = only(&findings, "estimate far off");
    let message = "title:both AND title:them was expected to find 100 documents and found 1,000, 10.0 times more (";
    assert!(finding.message.starts_with(message), "{}", finding.message);
    assert_eq!(found(101), []);
    quiet(&tree);
    // As few as to be no matter.
    let mut few = tree.clone();
    few.plan.estimate.documents = 99;
    few.plan.actual.as_mut().unwrap().documents = 999;
    assert_eq!(few.find(), []);
    let mut wide = tree.clone();
    (wide.plan.estimate.lower, wide.plan.estimate.upper, wide.plan.estimate.documents) =
        (0, 2_208, 9);
    assert!(only(&wide.find(), "estimate far off").message.ends_with("; its bounds say nothing"));
}

#[test]
fn many_small_segments_and_many_deleted_documents_are_to_be_merged() {
    let index = titles((0..16).map(|_| vec!["paris", "texas"]));
    let tree = counted(&index.searcher().unwrap(), "paris texas");
    let finding = only(&tree.findings, "many segments");
    assert_eq!(finding.remedy.as_deref(), Some("merge the index"));
    let mut writer = index.writer().unwrap();
    writer.merge_to(15).unwrap();
    quiet(&counted(&index.searcher().unwrap(), "paris texas"));

    let index = titles([[same("paris", 3_000), same("gone", 999), same("texas", 1)].concat()]);
    let mut writer = index.writer().unwrap();
    let mut delete = |text: &str| {
        writer.delete(&index.searcher().unwrap().parse(text).unwrap()).unwrap();
        writer.commit().unwrap();
        counted(&index.searcher().unwrap(), "paris")
    };
    quiet(&delete("gone"));
    let tree = delete("texas");
    let finding = only(&tree.findings, "many deleted");
    assert_eq!(finding.message, "1,000 documents (25 %) are deleted and still read");
    assert!(tree.to_json().contains("\"documents\":4000,\"deleted\":1000,"));
    writer.merge().unwrap();
    quiet(&counted(&index.searcher().unwrap(), "paris"));
}

#[test]
fn a_search_that_was_stopped_says_where() {
    let searcher = titles([vec!["paris", "texas"]]).searcher().unwrap();
    let mut tree = analyzed(&searcher, "pari* OR texas", default);
    quiet(&tree);
    let stopped = tree.plan.children[0].actual.as_mut().unwrap();
    (stopped.stopped, stopped.complete) = (true, false);
    let findings = tree.find();
    let finding = only(&findings, "stopped");
    assert_eq!(finding.severity, Severity::Warning);
    assert_eq!(finding.node.as_deref(), Some("0.0"));
}

#[test]
fn a_list_that_is_most_of_what_is_read_is_named() {
    let searcher =
        titles([[same("paris texas", 300), same("paris", 300), same("other", 9)].concat()])
            .searcher()
            .unwrap();
    let tree = counted(&searcher, "paris AND texas");
    quiet(&tree);
    let found = |bytes: u64, others: u64| {
        let mut tree = tree.clone();
        each_node(&mut tree.plan, &mut |node| {
            let actual = node.actual.as_mut().unwrap();
            actual.bytes_read = if node.label == "title:paris" { bytes } else { others / 2 };
            actual.time_ns = 1;
        });
        tree.find()
    };
    let message = "80 % of what was read, 1.00 MiB, is of title:paris";
    assert_eq!(only(&found(1 << 20, 1 << 18), "one long list").message, message);
    assert_eq!(found((1 << 20) - 1, 0), []);
    assert_eq!(found(1 << 20, (1 << 18) + 8), []);
}

#[test]
fn deep_pages_are_to_go_on_after_the_last_hit() {
    let titles = [same("paris texas", 1_100), same("paris", 100)].concat();
    let searcher = self::titles([titles]).searcher().unwrap();
    let query = searcher.parse("paris texas").unwrap();
    let search = || searcher.search(&query);
    let deep = analyzed(&searcher, "paris texas", |search| search.offset(1_000));
    let finding = only(&deep.findings, "deep page");
    assert_eq!(finding.message, "the first 1,010 are found to show 10 of them");
    quiet(&analyzed(&searcher, "paris texas", |search| search.offset(999)));
    // Behind the last there is none to go on from.
    quiet(&analyzed(&searcher, "paris texas", |search| search.offset(1_200)));
    // Going on gives the same page, and nothing is found.
    let page = |search: SearchBuilder<'_>| -> Vec<u64> {
        search.limit(10).run().unwrap().hits.iter().map(|hit| hit.doc.0).collect()
    };
    let before = search().offset(999).limit(1).run().unwrap().hits.remove(0);
    let on = || search().after(After::score(before.score.unwrap(), before.doc));
    assert_eq!(page(on()), page(search().offset(1_000)));
    quiet(&on().analyze().unwrap());

    let sorted = |offset| {
        analyzed(&searcher, "paris", |search| {
            search.sort([SortKey::ascending("number")]).offset(offset)
        })
    };
    assert!(only(&sorted(1_000).findings, "deep page").remedy.as_ref().unwrap().contains("values"));
    quiet(&sorted(999));
}

#[test]
fn counting_matches_that_nobody_wants_is_to_be_left() {
    let titles =
        [same("paris", 5_000), same("texas", 4_999), same("paris texas few", 1), same("other", 9)];
    let searcher = self::titles([titles.concat()]).searcher().unwrap();
    let tree = analyzed(&searcher, "paris OR texas", default);
    let findings = found_if(&tree, "Union", 50);
    let finding = only(&findings, "counting all matches");
    assert_eq!(
        finding.message,
        "50 % of the time went into counting 10,000 documents, of which 10 are wanted"
    );
    assert_eq!(found_if(&tree, "Union", 49), []);
    for total in [TotalMode::Unknown, TotalMode::UpTo(1_000)] {
        let tree = analyzed(&searcher, "paris OR texas", |search| search.total(total));
        assert_eq!(found_if(&tree, "Union", 99), [], "{tree}");
    }
    // Facets need them all, one fewer are few, and a number that is known costs nothing.
    let with_facet = analyzed(&searcher, "paris OR texas", |search| search.facet("kind", 3));
    assert_eq!(found_if(&with_facet, "Union", 50), []);
    let fewer = analyzed(&searcher, "(paris OR texas) -few", default);
    let findings = found_if(&fewer, "Difference", 90);
    assert_eq!(findings, [], "{fewer}");
    let in_order = analyzed(&searcher, "paris OR texas", |search| search.order(Order::Document));
    only(&found_if(&in_order, "Union", 60), "counting all matches");
}

#[test]
fn what_a_pattern_matches_is_found_as_a_whole_however_far_it_is_counted() {
    let titles = [same("paris", 10_000), same("texas", 9)].concat();
    let searcher = self::titles([titles]).searcher().unwrap();
    let tree = analyzed(&searcher, "pa* OR texas", |search| search.order(Order::Document));
    let remedy_if = |operator, percent| {
        let findings = found_if(&tree, operator, percent);
        only(&findings, "counting all matches").remedy.clone().unwrap()
    };
    assert_eq!(remedy_if("Expand", 60), "no total (--total none)");
    assert!(remedy_if("Union", 60).contains("--total 1000"));
}

#[test]
fn what_is_scored_or_sorted_one_by_one_says_so() {
    let searcher = titles([same("paris texas", 10_000)]).searcher().unwrap();
    let function =
        || ScoreFunction::multiply(treepie::function::FieldValue::new("number").missing(1.0));
    let tree = analyzed(&searcher, "paris", |search| search.score_function(function()));
    let findings = found_if(&tree, "TopK", 50);
    let finding = only(&findings, "everything is scored");
    assert!(finding.message.starts_with("10,000 documents were scored, one by one"), "{finding:?}");
    assert_eq!(found_if(&tree, "TopK", 9), []);
    // As proposed.
    let bounded = analyzed(&searcher, "paris", default);
    assert_eq!(found_if(&bounded, "TopK", 100), []);

    let by = |key: SortKey| analyzed(&searcher, "paris", |search| search.sort([key.clone()]));
    let tree = by(SortKey::function(Function::expression("number + 1").unwrap()));
    let findings = found_if(&tree, "Sort", 60);
    assert!(only(&findings, "everything is sorted").remedy.is_some());
    assert_eq!(found_if(&tree, "Sort", 9), []);
    assert!(
        only(&found_if(&by(SortKey::random(1)), "Sort", 60), "everything is sorted")
            .remedy
            .is_none()
    );
    assert_eq!(found_if(&by(SortKey::ascending("number")), "Sort", 60), []);
    let few = titles([same("paris texas", 9_999)]).searcher().unwrap();
    let tree = analyzed(&few, "paris", |search| search.sort([SortKey::random(1)]));
    assert_eq!(found_if(&tree, "Sort", 60), []);
    let tree = analyzed(&few, "paris", |search| search.score_function(function()));
    assert_eq!(found_if(&tree, "TopK", 50), []);
}

#[test]
fn searches_that_began_anew_say_why() {
    let searcher = titles([same("paris texas", 50)]).searcher().unwrap();
    let mut tree = analyzed(&searcher, "paris texas", default);
    quiet(&tree);
    tree.plan.actual.as_mut().unwrap().ranking.as_mut().unwrap().searched_twice = true;
    only(&tree.find(), "searched twice");
    let mut tree =
        analyzed(&searcher, "paris", |search| search.sort([SortKey::ascending("number")]));
    let mut streamed = treepie::explain::StreamCounts::default();
    (streamed.given_up, streamed.documents) = (1, 10_000);
    tree.plan.actual.as_mut().unwrap().streamed = Some(streamed);
    only(&tree.find(), "order given up");
    streamed.documents = 9_999;
    tree.plan.actual.as_mut().unwrap().streamed = Some(streamed);
    assert_eq!(tree.find(), []);
}

#[test]
fn phrases_of_frequent_words_are_told_what_spares_positions() {
    let with = |n: usize| {
        let titles =
            [same("be to be to", 60), same("to be or not to be", n), same("or", 9)].concat();
        self::titles([titles]).searcher().unwrap()
    };
    let searcher = with(6_000);
    let tree = analyzed(&searcher, "\"be to\"", default);
    let findings = found_if(&tree, "TopK", 80);
    let finding = only(&findings, "frequent words in a phrase");
    assert!(finding.message.starts_with("80 % of the time went into comparing "), "{finding:?}");
    assert!(
        finding.message.ends_with(" of 6,060 documents, of which 60 have the phrase"),
        "{finding:?}"
    );
    let remedy = finding.remedy.as_deref().unwrap();
    assert_eq!(remedy, "stop counting, --total none");
    let spared = analyzed(&searcher, "\"be to\"", |search| search.total(TotalMode::Unknown));
    let positions =
        |tree: &ExplainTree| tree.plan.actual.as_ref().unwrap().positions.unwrap().positions;
    assert!(positions(&spared) < positions(&tree), "{spared}");
    // Of what is left the phrase has less than half.
    let alone = counted(&searcher, "\"be to\"");
    let in_order = analyzed(&searcher, "\"be to\"", |search| search.order(Order::Document));
    assert_eq!(found_if(&in_order, "TermScan", 51), []);
    assert_eq!(found_if(&analyzed(&with(600), "\"be to\"", default), "TopK", 80), []);
    // What most documents with the words have is worth the reading.
    assert_eq!(found_if(&analyzed(&searcher, "\"to be or\"", default), "TopK", 80), []);
    let findings = found_if(&alone, "Phrase", 80);
    assert!(
        only(&findings, "frequent words in a phrase")
            .remedy
            .as_ref()
            .unwrap()
            .contains("condition")
    );
}

#[test]
fn slow_facets_are_told_what_would_be_faster() {
    let with = |n: usize| {
        let index = Index::in_memory(schema());
        let mut writer = index.writer().unwrap();
        for doc in 0..n {
            let value = format!("v{doc}");
            let document =
                Document::new().with("title", if doc % 3 == 0 { "none" } else { "paris" });
            writer.add(document.with("kind", &*value).with("column", value)).unwrap();
        }
        writer.commit().unwrap();
        index.searcher().unwrap()
    };
    let searcher = with(1_500);
    let facet = |searcher: &Searcher, field: &str, limit, method| {
        let tree = analyzed(searcher, "paris", |search| {
            search.with_facet(Facet::values(field).limit(limit).method(method))
        });
        let mut tree = tree;
        each_node(&mut tree.plan, &mut |node| node.actual.as_mut().unwrap().time_ns = 10);
        tree.facets[0].actual.as_mut().unwrap().time_ns = 1_000_000;
        tree
    };
    let lists = FacetMethod::MostFrequentFirst;
    let tree = facet(&searcher, "kind", 1_000, lists);
    let intersected = |tree: &ExplainTree| tree.facets[0].actual.unwrap().terms_intersected;
    let n = intersected(&tree);
    assert!(n >= 1_000, "{n}");
    let findings = tree.find();
    let finding = only(&findings, "slow facet");
    assert_eq!(finding.facet.as_deref(), Some("kind"));
    assert!(finding.remedy.as_ref().unwrap().contains("fewer values"), "{finding:?}");
    // A facet that takes less than half of the time, or intersects fewer lists.
    assert_eq!(found_if(&tree, "TermScan", 51), []);
    assert_eq!(facet(&with(990), "kind", 1_000, lists).find(), []);
    // As proposed: a column, of which the index itself knows whether there is one.
    let by_column = facet(&searcher, "column", 1_000, FacetMethod::Column);
    assert_eq!((intersected(&by_column), by_column.find()), (0, vec![]));
}

#[test]
fn ordinary_searches_have_nothing_to_find() {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    for doc in 0..2_000 {
        let title = match doc % 7 {
            0 => "history of france",
            1 => "history of spain and portugal",
            2 => "war and peace",
            3 => "the art of war",
            4 => "paris texas",
            5 => "french cooking",
            _ => "the old man and the sea",
        };
        let kind = ["book", "film", "song"][doc % 3];
        let document = Document::new().with("title", title).with("kind", kind).with("column", kind);
        writer.add(document.with("number", doc as u64)).unwrap();
        if doc == 900 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let texts = [
        "history",
        "history france",
        "history AND (france OR spain) -war",
        "+history -spain kind:film",
        "\"art of war\"",
        "\"of the\"~3",
        "hist*",
        "f?ench",
        "histori~1",
        "kind:book",
        "number:[10 TO 200]",
        "kind:IN [book song] AND war",
        "(history war paris)~1",
        "*",
        "kind:*",
        "the",
        "title:[a TO g]",
        "{title^3 kind}:film",
    ];
    for text in texts {
        let query = searcher.parse(text).unwrap();
        let search = || searcher.search(&query);
        let searches = [
            search(),
            search().count_only(),
            search().facet("kind", 5).facet("column", 2),
            search().sort([SortKey::descending("number")]),
            search().order(Order::Document).offset(20),
            search().total(TotalMode::Unknown).limit(3),
            search().select("kind", ["film"]).facet("kind", 3),
        ];
        for search in searches {
            quiet(&search.clone().explain().unwrap());
            quiet(&without_times(&searcher, search.analyze().unwrap()));
        }
    }
}

/// A tree whose findings do not depend on how busy the machine was.
fn without_times(searcher: &Searcher, mut tree: ExplainTree) -> ExplainTree {
    (tree.planning_ns, tree.total_ns) = (Some(0), Some(0));
    each_node(&mut tree.plan, &mut |node| {
        node.actual.iter_mut().for_each(|actual| actual.time_ns = 0);
    });
    for facet in &mut tree.facets {
        facet.actual.iter_mut().for_each(|actual| actual.time_ns = 0);
    }
    tree.findings = searcher.findings(&tree);
    tree
}
