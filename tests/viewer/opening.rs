//! What a page opens with, and pages without a plan, which take any.

use super::browser::{Browser, browser, keys};
use super::{compared, plans};
use serde_json::{Value, json};
use treepie::explain::{ExplainNode, ExplainTree, HtmlPages, PlanningTimes, SlowSearch};
use treepie::{Document, Index, Schema};

/// A plan with two inputs below one that takes next to no time, and enough others.
fn with_a_small_part() -> ExplainTree {
    let mut tree = plans::everything();
    tree.documents.clear();
    let mut small = tree.plan.children[0].children[1].clone();
    small.actual.as_mut().expect("it was run").time_ns = 90;
    for input in &mut small.children {
        input.actual.as_mut().expect("it was run").time_ns = 70;
    }
    let inputs = &mut tree.plan.children[0].children;
    inputs.extend([small.clone(), small]);
    tree.plan.number();
    tree
}

#[test]
fn small_parts_are_folded_and_all_time_is_in_boxes() {
    let Some(browser) = browser("folded") else { return };
    let mut tree = with_a_small_part();
    let mut phases = PlanningTimes::default();
    (phases.bind_ns, phases.look_up_ns) = (9_000, 21_000);
    (tree.planning_ns, tree.planning) = (Some(30_000), Some(phases));
    tree.total_ns = Some(500_000);
    browser.open(&tree.to_html(), "");
    assert_eq!(browser.count(".box.node"), 9, "13 nodes, of which 4 are folded");
    assert!(browser.text(".legend").contains("under 1 % of the time is folded"));
    assert_eq!(browser.text("[data-id=\"0.0.3\"] .fold"), "+2");
    // Planning and the rest are boxes; the phases are behind the first.
    assert_eq!(browser.count(".box.phase"), 2);
    assert_eq!(browser.text("[data-id=planning] .value"), "30.0 µs 6.0 %");
    browser.click("[data-id=planning] .fold");
    assert_eq!(browser.count(".box.phase"), 4);
    assert_eq!(browser.text("[data-id=\"planning.look_up\"] .value"), "21.0 µs 4.2 %");
    browser.click("[data-id=\"planning.look_up\"]");
    assert!(browser.text("#details").contains("terms are found in the dictionary"));
    browser.click("#tab-icicle");
    assert!(browser.count(".slice.phase") >= 3);
    browser.click("#tab-grid");
    // The table is of nodes and facets.
    assert!(browser.text(".view-grid .toolbar").contains("15 of 15 nodes"));
    browser.expect_silence("folded");
}

#[test]
fn words_are_explained_and_what_is_zero_is_not_told() {
    let Some(browser) = browser("words") else { return };
    let mut tree = plans::everything();
    tree.findings[0].rebuild = true;
    browser.open(&tree.to_html(), "node=0.0.0");
    let title =
        |selector: &str| browser.get(&format!("document.querySelector({}).title", json!(selector)));
    assert_eq!(title(".box.chosen b"), "TermScan: documents with one term");
    assert_eq!(title("#details h2 .word"), "TermScan: documents with one term");
    let source = title("#details dl:nth-of-type(2) .word, #details section .word");
    assert!(source.as_str().unwrap().starts_with("document frequency: "), "{source}");
    let details = browser.text("#details");
    assert!(!details.contains("containers: run"), "none: {details}");
    assert!(details.contains("containers: skipped"), "{details}");
    browser.run("document.querySelector('#details .words summary').click()");
    assert!(browser.text("#details .words").contains("documents with one term"));
    // Numbers stand for any, as in the text of a plan.
    for (algorithm, word) in [
        ("lists of 1 term united in a bitmap", "lists of 68 terms united in a bitmap: "),
        ("lists of 1,234 terms united in a bitmap", "lists of 68 terms united in a bitmap: "),
        ("BM25 of every match, times log1p(n)", "BM25 of every match: "),
    ] {
        let mut node = ExplainNode::new("TermScan", "title:a");
        node.algorithm = algorithm.into();
        browser.open(&ExplainTree::new("a", node).to_html(), "");
        let title = title("#details dd .word");
        assert!(title.as_str().unwrap().starts_with(word), "{algorithm}: {title}");
    }
    browser.open(&tree.to_html(), "node=0.0.0");
    // The axis of the estimate has numbers.
    assert!(browser.count("#details text.tick") >= 2);
    assert_eq!(browser.text("#findings li:nth-child(1) .badge"), "rebuild needed");
    assert_eq!(browser.count("#findings .badge"), 1);
    browser.expect_silence("words");
}

#[test]
fn two_plans_open_beside_each_other() {
    let Some(browser) = browser("beside") else { return };
    browser.open(&compared(), "");
    assert_eq!(browser.count(".view-diff"), 1);
    assert_eq!(browser.text(".verdict-of-times.faster"), "5.08 × faster");
    let heads =
        browser.get("[...document.querySelectorAll('.side')].map((side) => side.innerText)");
    for (side, told) in [(0, "462 µs"), (1, "91.0 µs")] {
        assert!(heads[side].as_str().unwrap().contains(told), "{heads}");
    }
    // Both trees are drawn, and below each head stands its own.
    let labels = browser
        .get("[...document.querySelectorAll('.trees [role=tree]')].map((tree) => tree.ariaLabel)");
    assert_eq!(labels, json!(["Plan before", "Plan after"]));
    let nodes = |nth: usize| format!(".pane:nth-child({nth}) .box.node");
    assert_eq!((browser.count(&nodes(1)), browser.count(&nodes(2))), (7, 6));
    assert_eq!(browser.count(".box.change-removed"), 1);
    assert_eq!(browser.count(".pane:nth-child(2) .box.change-added"), 1);
    assert!(browser.count(".trees .links path:not(.ghost)") > 8);
    assert_eq!(browser.get("document.documentElement.scrollWidth <= innerWidth"), true);
    let (before, mut after) = (plans::everything(), plans::everything());
    after.total_ns = before.total_ns.map(|ns| ns * 861 / 100);
    let mut pages = HtmlPages::new();
    pages.add_diff("slower", &before, &after);
    browser.open(&pages.to_html(), "");
    assert_eq!(browser.text(".verdict-of-times.slower"), "8.61 × slower");
    let red =
        browser.get("getComputedStyle(document.querySelector('.verdict-of-times.slower')).color");
    assert_eq!(red, "rgb(174, 65, 0)");
    browser.expect_silence("beside");
}

#[test]
fn a_node_that_is_chosen_shows_its_counterpart_in_the_other_tree() {
    let Some(browser) = browser("counterparts") else { return };
    browser.open(&compared(), "");
    let chosen = || {
        let of = |class: &str| {
            browser.get(&format!(
                "[...document.querySelectorAll('.box.{class}')].map((box) => \
                 `${{box.closest('.canvas').ariaLabel}} ${{box.dataset.id}}`).join()"
            ))
        };
        [of("chosen"), of("partner")].map(|of| of.as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(chosen(), ["Plan before 0", "Plan after 0"]);
    browser.click(".pane:nth-child(2) [data-id=\"0.0\"]");
    assert_eq!(chosen(), ["Plan after 0.0", "Plan before 0.0"]);
    assert_eq!(browser.behind(), "side=other&view=diff&node=0.0");
    assert!(browser.text("#details").contains("gallop array × bitmap → merge"));
    // Keys move in the tree that has the focus; what was added has no counterpart, and the other tree can still be reached.
    browser.press(keys::DOWN);
    browser.press(keys::DOWN);
    assert_eq!(chosen(), ["Plan after 0.0.1", ""]);
    assert_eq!(browser.count(".pane:nth-child(1) .box[tabindex=\"0\"]"), 1);
    browser.run("document.querySelector('.pane:nth-child(1) .box[tabindex=\"0\"]').focus()");
    browser.press(keys::DOWN);
    assert_eq!(chosen(), ["Plan before 0.0", "Plan after 0.0"]);
    // What is folded in one view is so in the others.
    browser.run("document.querySelector('.pane:nth-child(1) [data-id=\"0.0\"] .fold').click()");
    assert_eq!(browser.count(".pane:nth-child(1) .box.node"), 2);
    browser.click("#tab-tree");
    assert_eq!(browser.count(".box.node"), 2);
    browser.expect_silence("counterparts");
}

#[test]
fn trees_that_are_too_wide_to_be_read_are_indented() {
    let Some(browser) = browser("widths") else { return };
    let indented = "document.querySelector('.view-diff .check input').checked";
    for (width, expected) in [(1_440, true), (2_200, false), (360, true)] {
        browser.set_window(width, "light");
        browser.open(&compared(), "");
        assert_eq!(browser.get(indented), expected, "{width}");
        let text = browser.text(".view-diff");
        for told in ["before", "after", "Unfold all", "unchanged nodes, too"] {
            assert!(text.contains(told), "{width}: {told} in {text}");
        }
    }
    browser.expect_silence("widths");
}

/// An index of two titles.
fn index() -> Index {
    let index = Index::in_memory(Schema::builder().text("title").build().expect("a schema"));
    let mut writer = index.writer().expect("a writer");
    for title in ["A history of war", "Art of peace"] {
        writer.add(Document::new().with("title", title)).expect("a title");
    }
    writer.commit().expect("in memory");
    index
}

#[test]
fn a_plan_for_a_document_and_one_of_nothing_open_with_the_reason() {
    let Some(browser) = browser("reasons") else { return };
    let searcher = index().searcher().expect("a snapshot");
    let query = searcher.parse("+history -war").expect("a query");
    let search = searcher.search(&query);
    let tree = search.clone().explainer().documents([treepie::DocId(0)]).analyze().expect("a plan");
    browser.open(&tree.to_html(), "");
    assert!(browser.text("#lens").contains("✗ does not match"));
    assert!(browser.count(".box.verdict-failed") > 0);
    // A link without a document leads to none.
    browser.open(&tree.to_html(), "node=0");
    assert_eq!(browser.count(".box.verdict-failed"), 0);

    let why = search.clone().explainer().why_empty().expect("a reason");
    let mut pages = HtmlPages::new();
    pages.add_why_empty("+history -war", &search.explain().expect("a plan"), &why);
    browser.open(&pages.to_html(), "");
    let told = browser.text("#why-empty");
    for part in ["no document meets these 2 conditions together", "NOT war", "in conflict"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert_eq!(browser.count("#why-empty .in-conflict"), 2);
    browser.expect_silence("reasons");
}

#[test]
fn a_log_has_both_times_of_a_search() {
    let Some(browser) = browser("log-times") else { return };
    let mut pages = HtmlPages::new();
    for took_ns in [9_000_000, 4_000_000] {
        let mut search = SlowSearch::default();
        (search.took_ns, search.plan) = (took_ns, Some(plans::everything()));
        assert!(pages.add_slow("a search", &search));
    }
    assert!(!pages.add_slow("without a plan", &SlowSearch::default()));
    browser.open(&pages.to_html(), "");
    let heads = browser.text("#pages .heads");
    assert!(heads.contains("took") && heads.contains("run again"), "{heads}");
    let first = browser.text("#pages li:nth-child(1)");
    assert!(first.contains("9.00 ms") && first.contains("462 µs"), "{first}");
    let totals = browser.text("#totals");
    assert!(totals.contains("took 9.00 ms") && totals.contains("run again 462 µs"), "{totals}");
    browser.expect_silence("log-times");
}

fn paste(browser: &Browser, text: &str) {
    browser.run(&format!(
        "document.querySelector('#plans').value = {}; document.querySelector('.paste form').requestSubmit()",
        json!(text)
    ));
    browser.settle();
}

/// A plan of Postgres: two inputs of a join, of which one was run three times.
fn of_postgres() -> Value {
    json!([{
        "Plan": {
            "Node Type": "Nested Loop", "Join Type": "Inner", "Total Cost": 81.5, "Plan Rows": 50,
            "Actual Total Time": 2.5, "Actual Rows": 120, "Actual Loops": 1, "Shared Read Blocks": 7,
            "Plans": [
                {"Node Type": "Seq Scan", "Relation Name": "lamps", "Alias": "l", "Filter": "(price > 3)", "Plan Rows": 3,
                 "Actual Total Time": 0.8, "Actual Rows": 3, "Actual Loops": 1, "Rows Removed by Filter": 17,
                 "Shared Read Blocks": 5},
                {"Node Type": "Index Scan", "Relation Name": "shops", "Alias": "shops", "Index Name": "shops_pk",
                 "Index Cond": "(id = l.shop)", "Plan Rows": 10, "Actual Total Time": 0.4, "Actual Rows": 40,
                 "Actual Loops": 3, "Shared Read Blocks": 2}]},
        "Planning Time": 0.3, "Execution Time": 2.7}])
}

#[test]
fn an_empty_page_takes_any_plan() {
    let Some(browser) = browser("empty") else { return };
    let page = HtmlPages::new().to_html();
    browser.open(&page, "");
    assert_eq!(browser.count("#problem:not([hidden])"), 0);
    assert_eq!(browser.get("document.activeElement.id"), "plans");
    for (text, told) in [
        ("", "there is nothing yet"),
        ("{\"a\": 1}", "this is no plan"),
        ("SELECT 1", "this is not JSON"),
        ("{\"schema_version\": 7, \"plan\": {}}", "schema_version: expected 1"),
        ("[{\"Plan\": {\"Node Type\": \"Seq Scan\", \"Plans\": [3]}}]", "expected an object"),
    ] {
        paste(&browser, text);
        let problem = browser.text(".paste .problem:not([hidden])");
        assert!(problem.contains(told), "{text}: {problem}");
    }
    paste(&browser, &plans::everything().to_json());
    assert_eq!(browser.count(".paste"), 0);
    assert_eq!(browser.count(".box.node"), 7);
    browser.expect_silence("empty");

    // Two plans, a line each, and what psql draws around one.
    browser.open(&page, "");
    let line = |n: u64| {
        let mut tree = ExplainTree::new(format!("query {n}"), ExplainNode::new("All", ""));
        tree.total_ns = Some(n);
        tree.to_json()
    };
    paste(&browser, &format!("{}\n{}\n", line(1_000), line(2_000)));
    assert_eq!(browser.count("#pages li"), 2);
    browser.open(&page, "");
    let pretty = serde_json::to_string_pretty(&of_postgres()).expect("JSON").replace('\n', " +\n ");
    paste(&browser, &format!("   QUERY PLAN\n-----------\n {pretty}\n(1 row)\n"));
    assert_eq!(browser.count(".box.node"), 3);
    browser.expect_silence("empty, again");
}

#[test]
fn plans_of_postgres_have_own_times_and_rows_of_all_loops() {
    let Some(browser) = browser("postgres") else { return };
    browser.open(&HtmlPages::new().to_html(), "");
    paste(&browser, &of_postgres().to_string());
    let value = |id: &str| browser.text(&format!("[data-id=\"{id}\"] .value"));
    // 2.5 ms less 0.8 and three times 0.4; of 3 ms with planning.
    assert_eq!(value("0"), "500 µs 17 %");
    assert_eq!(value("0.0"), "800 µs 27 %");
    assert_eq!(value("0.1"), "1.20 ms 40 %");
    assert_eq!((value("planning"), value("other")), ("300 µs 10 %".into(), "200 µs 6.7 %".into()));
    browser.click("[data-id=\"0.1\"]");
    let details = browser.text("#details");
    for told in [
        "Index Scan",
        "shops using shops_pk: (id = l.shop)",
        "×4.00, more than estimated",
        "16.0 KiB",
    ] {
        assert!(details.contains(told), "{told}: {details}");
    }
    browser.click("[data-id=\"0.0\"]");
    assert!(browser.text("#details").contains("rows removed by filter\n17"));
    browser.choose("#metric", "documents");
    assert_eq!(value("0.1"), "120");
    // A file that is dropped is read as what is pasted.
    browser.open(&HtmlPages::new().to_html(), "");
    browser.run(&format!(
        "const files = new DataTransfer(); files.items.add(new File([{}], 'plan.json')); \
         document.querySelector('.paste').dispatchEvent(new DragEvent('drop', {{ dataTransfer: files, cancelable: true, bubbles: true }}))",
        json!(of_postgres().to_string())
    ));
    browser.settle();
    browser.settle();
    assert_eq!(browser.count(".box.node"), 3);
    browser.expect_silence("postgres");
}
