//! What the page makes of its data: all of it without a word on the console, and of bad data a clear sentence.

use super::{browser::browser, compared, log, plans};
use serde_json::json;
use treepie::explain::{ExplainNode, ExplainTree, HtmlPages, PlanningTimes};

#[test]
fn every_kind_of_page_opens_in_every_view_and_asks_for_nothing() {
    let Some(browser) = browser("opens") else { return };
    let pages = [
        ("everything", plans::everything().to_html()),
        ("not run", plans::not_run().to_html()),
        ("one node", ExplainTree::new("*", ExplainNode::new("All", "")).to_html()),
        ("wide", plans::wide(300).to_html()),
        ("deep", plans::deep(100).to_html()),
        ("hostile", plans::hostile().to_html()),
        ("compared", compared()),
        ("log", log()),
    ];
    for (name, page) in pages {
        for view in ["tree", "icicle", "grid", "json"] {
            browser.open(&page, &format!("view={view}&node=0"));
            assert_eq!(browser.count("#problem:not([hidden])"), 0, "{name} {view}");
            assert_eq!(browser.count(&format!(".view-{view} .scroller")), 1, "{name} {view}");
            assert_eq!(browser.count("#details h2"), 1, "{name} {view}");
            browser.expect_silence(&format!("{name} {view}"));
        }
    }
}

#[test]
fn planning_is_shown_with_the_phases_that_took_time() {
    let Some(browser) = browser("phases") else { return };
    let mut tree = plans::everything();
    let mut phases = PlanningTimes::default();
    (phases.bind_ns, phases.look_up_ns) = (900, 2_100);
    (tree.planning_ns, tree.planning) = (Some(3_000), Some(phases));
    browser.open(&tree.to_html(), "");
    let shown = browser.get("document.body.innerText");
    let planning = "planning 3.00 µs (bind 900 ns, look up 2.10 µs)";
    assert!(shown.as_str().unwrap().contains(planning), "{shown}");
    browser.expect_silence("phases");
}

/// Without this a page that says nothing of its scripts would pass as well.
#[test]
fn what_the_policy_forbids_is_refused_and_heard() {
    let Some(browser) = browser("policy") else { return };
    let page = plans::everything().to_html();
    let with = |element: &str| page.replace("</main>", &format!("</main>{element}"));
    let cases = [
        ("<script>window.harmed = 1</script>", "inline script"),
        ("<p onclick=\"0\">x</p>", "inline event handler"),
        ("<style>p { color: red }</style>", "inline style"),
        ("<p style=\"color: red\">x</p>", "inline style"),
        ("<img src=\"http://127.0.0.1:9/x.png\">", "127.0.0.1:9"),
        ("<iframe src=\"data:text/html,x\"></iframe>", "Framing"),
    ];
    for (element, refused) in cases {
        browser.open(&with(element), "");
        let noise = browser.noise();
        assert!(noise.iter().any(|line| line.contains(refused)), "{element}: {noise:?}");
        assert!(browser.get("window.harmed").is_null(), "a script that is not the page's own ran");
    }
    let markup = "try { document.body.innerHTML = '<b>x</b>'; return 'made' } catch (error) { return error.name }";
    browser.open(&page, "");
    assert_eq!(browser.run(markup), "TypeError", "texts can become markup");
}

#[test]
fn hostile_text_is_shown_and_never_run() {
    let Some(browser) = browser("hostile") else { return };
    browser.open(&plans::hostile().to_html(), "doc=0");
    for selector in [
        "#question code",
        "#findings li",
        "#details h2",
        "#details .whole-label",
        ".box.node .label",
        ".notes li",
    ] {
        let shown = browser.text(selector);
        for expected in ["</script><script>window", "<!--"] {
            assert!(shown.contains(expected), "{selector}: {shown}");
        }
    }
    let query = browser.text("#question code");
    for escape in ["\\u{202e}", "\\u{2066}", "\\u{7}", "\\u{0}", "\\u{1b}", "\\u{200b}"] {
        assert!(query.contains(escape), "{escape} in {query}");
    }
    let invisible = "/[\\u202a-\\u202e\\u2066-\\u2069\\u200b\\u0000-\\u0008\\u001b]/.test(document.body.innerText)";
    assert_eq!(browser.get(invisible), false, "something invisible reached the page");
    assert_eq!(
        browser.get("getComputedStyle(document.querySelector('#question bdi')).unicodeBidi"),
        "isolate"
    );
    // The long term is cut and whole on demand.
    browser.click(".steps li:nth-child(2) button");
    assert_eq!(browser.get("document.querySelector('#long textarea').value.length"), 65_536);
    browser.run("document.querySelector('#long').close()");
    assert_eq!(browser.count("#view img, #main script"), 0);
    assert!(browser.get("window.harmed").is_null());
    browser.expect_silence("hostile");
}

#[test]
fn bad_data_is_named() {
    let Some(browser) = browser("bad-data") else { return };
    let page = plans::everything().to_html();
    let tree = plans::everything().to_json().replace('<', "\\u003c");
    let with_plan =
        |plan: &str| format!("{{\"version\": \"0.1\", \"pages\": [{{\"plan\": {plan}}}]}}");
    let cases = [
        ("{\"version\": \"0.1\", \"pages\": [".to_owned(), "Is the file cut short?"),
        (json!([]).to_string(), "expected an object, found an array"),
        (json!({"pages": []}).to_string(), "version: expected a text, found nothing"),
        (json!({"version": "7.1", "pages": [{}]}).to_string(), "expected 0.…, found \"7.1\""),
        (json!({"version": "0.1", "pages": 3}).to_string(), "an array of pages"),
        (with_plan("3"), "page 1, plan: expected an object, found number"),
        (
            with_plan(&tree.replace("\"schema_version\":1", "\"schema_version\":2")),
            "schema_version: expected 1, found number",
        ),
        (
            with_plan(&tree.replacen("\"plan\":{", "\"plan\":7,\"x\":{", 1)),
            "plan: expected an object, found number",
        ),
        (
            with_plan(&tree.replacen("\"children\":[", "\"children\":4,\"x\":[", 1)),
            "children: expected an array, found number",
        ),
        (
            with_plan(&tree.replacen("\"operator\":\"TopK\"", "\"operator\":null", 1)),
            "operator: expected a text, found null",
        ),
    ];
    let from = page.find("id=\"data\">").expect("the data") + "id=\"data\">".len();
    let to = from + page[from..].find("</script>").expect("its end");
    for (data, expected) in cases {
        browser.open(&format!("{}{data}{}", &page[..from], &page[to..]), "");
        let problem = browser.text("#problem:not([hidden])");
        assert!(problem.contains(expected), "{problem:?} says nothing of {expected:?}");
        browser.expect_silence(expected);
    }
}

/// Whatever a plan says, choosing any of its nodes shows that node.
#[test]
fn odd_plans_are_shown_in_every_view() {
    let Some(browser) = browser("odd-plans") else { return };
    let with_windows = |operator: &str, children: Vec<ExplainNode>| {
        let mut node = ExplainNode::new(operator, "odd");
        node.windows = plans::everything().plan.children[0].windows.clone();
        node.children = children;
        ExplainTree::new("odd", node)
    };
    let term = || ExplainNode::new("Term", "a");
    let odd = [
        ("a page of nothing", with_windows("Limit", vec![])),
        ("a page of two", with_windows("TopK", vec![term(), term()])),
        ("pages only", with_windows("Sort", vec![ExplainNode::new("Collapse", "")])),
    ];
    for (name, tree) in odd {
        for view in ["tree", "icicle", "grid"] {
            browser.open(&tree.to_html(), &format!("view={view}&node=0"));
            assert!(browser.text("#details").contains("windows: "), "{name} {view}");
            assert_eq!(browser.count("#problem:not([hidden])"), 0, "{name} {view}");
            browser.expect_silence(&format!("{name} {view}"));
        }
    }
}

#[test]
fn names_of_fields_stay_as_they_are_in_differences() {
    let Some(browser) = browser("diff-names") else { return };
    let with_limit = |limit| {
        let mut tree = plans::everything();
        (tree.facets[0].field, tree.facets[0].limit) = ("published_at".into(), limit);
        tree
    };
    let (before, after) = (with_limit(10), with_limit(20));
    let mut pages = HtmlPages::new();
    pages.add_diff("in words", &before, &after);
    let raw = treepie::explain::PlanDiff::new(&before, &after).to_json();
    pages.add_pair("as it is", &before, &after, &raw);
    let html = pages.to_html();
    for page in [1, 2] {
        browser.open(&html, &format!("view=diff&page={page}"));
        let changes = browser.text(".view-diff .whole .changes");
        assert!(changes.contains("facet published_at: limit: 10 → 20"), "{changes}");
        browser.expect_silence("differences");
    }
}

#[test]
fn links_to_what_is_not_there_say_so() {
    let Some(browser) = browser("bad-links") else { return };
    let page = plans::everything().to_html();
    for (behind, named) in [
        ("node=0.9", "node 0.9"),
        ("view=pie", "view pie"),
        ("metric=taste", "metric taste"),
        ("page=7", "page 7"),
        ("view=diff", "view diff"),
    ] {
        browser.open(&page, behind);
        assert!(browser.text("#status").contains(named), "{behind}");
        assert_eq!(browser.count(".box.chosen"), 1, "{behind}");
    }
}
