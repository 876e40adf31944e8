//! Every control with mouse and keyboard, and links that lead back to what was chosen.

use super::browser::{Browser, browser, keys};
use super::{compared, log, plans};
use serde_json::{Value, json};

fn opened(test: &str, page: &str, behind: &str) -> Option<Browser> {
    let browser = browser(test)?;
    browser.open(page, behind);
    Some(browser)
}

/// Label of the chosen box.
fn chosen(browser: &Browser) -> String {
    browser.text(".box.chosen .label")
}

#[test]
fn the_tree_folds_zooms_and_draws_ways_not_taken() {
    let page = plans::everything().to_html();
    let Some(browser) = opened("tree", &page, "") else { return };
    let (boxes, ghosts) = (browser.count(".box.node"), browser.count(".box.ghost"));
    assert_eq!((boxes, browser.count(".box.facet")), (7, 2));
    // What was weighed: two ways for the prefix, one order, one rejected rule.
    assert_eq!(ghosts, 4);
    browser.click(".toolbar .check:nth-of-type(2) input");
    assert_eq!(browser.count(".box.ghost"), 0);
    browser.click("[data-id=\"0.0\"] .fold");
    assert_eq!(browser.count(".box.node"), 2);
    assert_eq!(browser.text("[data-id=\"0.0\"] .fold"), "+5");
    browser.click("[data-id=\"0.0\"] .fold");
    assert_eq!(browser.count(".box.node"), 7);
    let fits = "(() => { const s = document.querySelector('.scroller'); return s.scrollWidth <= s.clientWidth && s.scrollHeight <= s.clientHeight })()";
    assert_eq!(browser.get(fits), true, "opens fitted");
    let width = "document.querySelector('.box.node').getBoundingClientRect().width";
    browser.press("----------");
    assert_eq!(browser.get(width), 58);
    browser.press("+++++");
    assert_eq!(browser.get(width), 232);
    browser.click("[aria-label=Larger]");
    assert_eq!(browser.get(width), 290);
    browser.press("--");
    assert!(browser.get(width).as_f64() < Some(200.0));
    browser.run("[...document.querySelectorAll('.toolbar button')].find((b) => b.innerText === 'Fit').click()");
    browser.settle();
    assert_eq!(browser.get(fits), true);
    // Indented, every box is below the one before.
    browser.click(".toolbar .check:nth-of-type(1) input");
    let tops = browser.get("[...document.querySelectorAll('.box')].map((b) => b.getBoundingClientRect()).every((r, at, all) => at === 0 || r.top >= all[at - 1].bottom)");
    assert_eq!(tops, true);
    browser.expect_silence("tree");
}

/// No box on another, inputs right of what they feed, which stands in the middle of them.
#[test]
fn boxes_have_room() {
    let Some(browser) = browser("room") else { return };
    for page in [
        plans::everything(),
        plans::bushy(200),
        plans::bushy(499),
        plans::wide(40),
        plans::deep(30),
    ] {
        browser.open(&page.to_html(), "");
        browser.run("[...document.querySelectorAll('.toolbar button')].find((b) => b.innerText === 'Unfold all').click()");
        // As for paper, everything is drawn, and a frame that comes before the paper takes nothing away.
        browser.run("window.dispatchEvent(new Event('beforeprint')); document.querySelector('.scroller').dispatchEvent(new Event('scroll'))");
        browser.settle();
        let boxes = browser.get("[...document.querySelectorAll('.box')].map((b) => [b.dataset.id ?? '', parseFloat(b.style.getPropertyValue('--x')), parseFloat(b.style.getPropertyValue('--y')), b.offsetHeight])");
        let boxes: Vec<(String, f64, f64, f64)> = serde_json::from_value(boxes).expect("boxes");
        assert!(boxes.len() >= page.plan.iter().count(), "{} boxes", boxes.len());
        for (at, (id, x, y, height)) in boxes.iter().enumerate() {
            for (other, x2, y2, height2) in &boxes[at + 1..] {
                let apart = (x - x2).abs() >= 232.0 || y + height <= *y2 || y2 + height2 <= *y;
                assert!(apart, "{}: {id} lies on {other}", page.query);
            }
            let inputs: Vec<_> = boxes
                .iter()
                .filter(|(other, ..)| other.rsplit_once('.').is_some_and(|(above, _)| above == id))
                .collect();
            if let (Some(first), Some(last)) = (inputs.first(), inputs.last()) {
                assert!(inputs.iter().all(|(_, x2, ..)| x2 > x), "{id}");
                assert!(
                    first.2 < y + height && *y < last.2 + last.3,
                    "{id} stands beside its inputs"
                );
            }
        }
    }
}

#[test]
fn views_metrics_and_themes_are_switched() {
    let page = plans::everything().to_html();
    let Some(browser) = opened("views", &page, "") else { return };
    for (view, shows) in
        [("icicle", ".slice"), ("grid", "table.grid"), ("json", ".raw .line"), ("tree", ".box")]
    {
        browser.click(&format!("#tab-{view}"));
        assert!(browser.count(shows) > 0, "{view}");
        assert_eq!(
            browser.text("[role=tab][aria-selected=true]"),
            browser.text(&format!("#tab-{view}"))
        );
    }
    let shown: Vec<(&str, &str)> = vec![
        ("time", "320 µs"),
        ("documents", "602k"),
        ("bytes", "625 KiB"),
        ("containers", "5"),
        ("q-error", "×1.47"),
    ];
    for (metric, value) in shown {
        browser.choose("#metric", metric);
        let text = browser.text("[data-id=\"0.0.2\"] .value");
        assert!(text.starts_with(value), "{metric}: {text}");
    }
    browser.choose("#metric", "skipped");
    assert_eq!(browser.text("[data-id=\"0\"] .value"), "3,054 100 %");
    let ground = "getComputedStyle(document.body).backgroundColor";
    browser.choose("#theme", "dark");
    assert_eq!(browser.get(ground), "rgb(18, 22, 28)");
    browser.choose("#theme", "light");
    assert_eq!(browser.get(ground), "rgb(246, 247, 249)");
    browser.choose("#theme", "auto");
    browser.set_window(1440, "dark");
    assert_eq!(browser.get(ground), "rgb(18, 22, 28)");
    browser.expect_silence("views");
}

#[test]
fn findings_lead_to_nodes_and_details_tell_everything() {
    let page = plans::everything().to_html();
    let Some(browser) = opened("findings", &page, "") else { return };
    assert_eq!(browser.count("#findings li"), 3);
    browser.click("#findings li:nth-child(1) a");
    assert_eq!(chosen(&browser), "title:a*");
    let details = browser.text("#details");
    for told in [
        "Prefix 0.0.2",
        "union by bitmap",
        "12,000 … 900,000",
        "sample of terms",
        "×1.47, more than estimated",
        "terms: expanded",
        "12,400",
        "unite the terms in a bitmap",
        "merge cursors",
        "≈ 810 µs",
        "901 µs",
        "fastest",
        "ask every term for every document",
    ] {
        assert!(details.contains(told), "{told} in {details}");
    }
    browser.click("#findings li:nth-child(3) a");
    assert_eq!(browser.text("#details h2"), "Facet facet.0");
    browser.click("#findings li:nth-child(2) a");
    let details = browser.text("#details");
    for told in [
        "prove empty",
        "not taken",
        "gallop",
        "0a1b2c3d",
        "self time: least 75 ns, mean 14.0 µs, most 27.9 µs",
        "here: 210 windows",
    ] {
        assert!(details.contains(told), "{told} in {details}");
    }
    browser.click("#details dl a");
    assert_eq!(chosen(&browser), "best 10 by score");
    assert!(
        browser.text("#details figcaption").contains("rose from 3.250 after 12 documents to 9.125")
    );
    browser.expect_silence("findings");
}

#[test]
fn a_document_colours_the_tree() {
    let page = plans::everything().to_html();
    let Some(browser) = opened("lens", &page, "") else { return };
    browser.click(".chip:nth-child(2)");
    assert!(browser.text("#lens").contains("✗ does not match"));
    let marks = |selector: &str| browser.count(&format!(".box{selector}"));
    assert_eq!(
        (marks(".verdict-matched"), marks(".verdict-failed"), marks(".verdict-not-reached")),
        (1, 5, 1)
    );
    // The reasons, not what fails because of them.
    let links =
        browser.get("[...document.querySelectorAll('#lens .document a')].map((a) => a.innerText)");
    assert_eq!(links, json!(["TermScan title:france", "TermScan title:spain"]));
    browser.run("document.querySelector('#doc').value = '15212'; document.querySelector('.lens-form').requestSubmit()");
    browser.settle();
    assert_eq!(
        (marks(".verdict-matched"), marks(".verdict-failed"), marks(".verdict-not-reached")),
        (6, 0, 1)
    );
    assert_eq!(browser.count(".score li"), 5);
    assert!(browser.text(".score").contains("7.4375 product: title:history"));
    assert!(browser.behind().contains("doc=15212"));
    browser.run("document.querySelector('#doc').value = '5'; document.querySelector('.lens-form').requestSubmit()");
    browser.settle();
    assert!(
        browser.text(".no-data").contains("--doc 5 --format html"),
        "{}",
        browser.text(".no-data")
    );
    browser.run("document.querySelector('#doc').value = 'five'; document.querySelector('.lens-form').requestSubmit()");
    browser.settle();
    assert!(browser.text("#lens .problem").contains("found five"));
    browser.run("[...document.querySelectorAll('#lens button')].find((b) => b.innerText === 'Clear').click()");
    browser.settle();
    assert_eq!(marks("[class*=verdict]"), 0);
    browser.expect_silence("lens");
}

/// What the library says of documents and containers is what the page shows.
#[test]
fn a_real_search_has_its_documents_and_maps() {
    use treepie::explain::Verdict;
    use treepie::{DocId, Document, Index, Schema};
    let index = Index::in_memory(Schema::builder().text("title").build().expect("a schema"));
    let mut writer = index.writer().expect("a writer");
    for title in ["A history of war", "A history of art", "Art", "History"] {
        writer.add(Document::new().with("title", title)).expect("a title");
    }
    writer.commit().expect("in memory");
    let searcher = index.searcher().expect("a snapshot");
    let query = searcher.parse("+history art -war").expect("a query");
    let asked = [0, 1].map(DocId);
    let tree = searcher.search(&query).explainer().documents(asked).analyze().expect("a plan");
    let Some(browser) = opened("real", &tree.to_html(), "doc=0&node=0.0.0") else { return };
    let lens = browser.text("#lens");
    for told in [
        "A history of war",
        "fails at NOT title:war: the document has it",
        "TermScan NOT title:war",
    ] {
        assert!(lens.contains(told), "{told} in {lens}");
    }
    let marks = |verdict: Verdict| {
        browser.count(&format!(".box.verdict-{}", verdict.name().replace(' ', "-")))
    };
    let told = |nth: usize, verdict: Verdict| {
        tree.documents[nth].verdicts.values().filter(|told| **told == verdict).count() as u64
    };
    for verdict in [Verdict::Matched, Verdict::Failed, Verdict::NotReached] {
        assert_eq!(marks(verdict), told(0, verdict), "{verdict:?} in {tree}");
    }
    // Both maps: what the word is in, and what was found.
    let details = browser.text("#details");
    for told in ["here: 1 window: 1 array", "result: 1 window: 1 array"] {
        assert!(details.contains(told), "{told} in {details}");
    }
    browser.click("[data-id=\"0.0.1\"]");
    assert!(
        browser
            .text("#details .verdict-line")
            .ends_with("comes out of this node, which must not be")
    );
    browser.run("document.querySelector('#doc').value = '1'; document.querySelector('.lens-form').requestSubmit()");
    browser.settle();
    assert!(browser.text("#lens").contains("matches, and is number 1 of the hits"));
    assert_eq!(
        (marks(Verdict::Failed), marks(Verdict::Matched)),
        (told(1, Verdict::Failed), told(1, Verdict::Matched))
    );
    assert!(browser.text(".score").contains("title:art, weight × part"));
    browser.expect_silence("real");
}

#[test]
fn the_table_sorts_by_every_column() {
    let tree = plans::bushy(400);
    let Some(browser) = opened("table", &tree.to_html(), "view=grid") else { return };
    let first = || browser.text("table.grid tbody tr:not(.spacer) td:first-child");
    let mut by_time: Vec<_> = tree
        .plan
        .iter()
        .map(|node| {
            (
                std::cmp::Reverse(node.actual.as_ref().map_or(0, |actual| actual.time_ns)),
                node.id.clone(),
            )
        })
        .collect();
    by_time.sort_by_key(|(time, _)| *time);
    browser.click("[data-column=time]");
    assert_eq!(first(), by_time[0].1);
    browser.click("[data-column=time]");
    assert_eq!(first(), by_time.last().expect("nodes").1);
    assert_eq!(browser.count("th[aria-sort=ascending] [data-column=time]"), 1);
    for column in [
        "order",
        "operator",
        "label",
        "algorithm",
        "estimate",
        "actual",
        "q-error",
        "share",
        "below",
        "bytes",
        "containers",
        "skipped",
    ] {
        browser.click(&format!("[data-column={column}]"));
        assert_eq!(browser.count(&format!("th[aria-sort] [data-column={column}]")), 1);
    }
    assert!(browser.count("table.grid tr") < 80, "rows out of sight exist");
    browser.run("document.querySelector('.view-grid .scroller').scrollTop = 1e9");
    browser.settle();
    assert_eq!(browser.get("[...document.querySelectorAll('table.grid tr[aria-rowindex]')].at(-1).getAttribute('aria-rowindex')"), "401");
    browser.click("table.grid tr[aria-rowindex=\"400\"] td:nth-child(3)");
    assert_eq!(browser.count("tr.chosen"), 1);
    browser.expect_silence("table");
}

#[test]
fn the_icicle_is_as_wide_as_its_shares() {
    let page = plans::everything().to_html();
    let Some(browser) = opened("icicle", &page, "view=icicle") else { return };
    let width = |id: &str| {
        browser.get(&format!("parseFloat(document.querySelector('.slice[data-id=\"{id}\"]').style.getPropertyValue('--w'))")).as_f64().expect("a width")
    };
    let whole = width("0") + width("facet.0") + width("facet.1");
    // Self times: 19 + 31 + 12 + (0.8 + 21 + 17) + 320 µs of the plan, 12 and 1.6 µs of the facets.
    for (id, time) in
        [("0", 420.8), ("0.0", 401.8), ("0.0.2", 320.0), ("0.0.1", 38.8), ("facet.0", 12.0)]
    {
        assert!((width(id) / whole - time / 434.4).abs() < 0.005, "{id}: {} of {whole}", width(id));
    }
    browser.click(".slice[data-id=\"0.0.1\"]");
    browser.press(keys::ENTER);
    assert_eq!(browser.count(".slice.node"), 3);
    browser.press(keys::ESCAPE);
    assert_eq!(browser.count(".slice.node"), 7);
    browser.press(keys::RIGHT);
    assert!(browser.behind().contains("node=0.0.2"));
    browser.press(keys::UP);
    assert!(browser.behind().ends_with("node=0.0"));
    browser.open(&plans::not_run().to_html(), "view=icicle");
    assert!(browser.text(".icicle").contains("--analyze runs the query"));
    browser.expect_silence("icicle");
}

#[test]
fn search_finds_nodes_that_are_folded_away() {
    let page = plans::wide(3_000).to_html();
    let Some(browser) = opened("search", &page, "") else { return };
    browser.press("/");
    browser.press("word29");
    assert_eq!(browser.text("#search-count"), "111");
    browser.press("99");
    assert_eq!(browser.text("#search-count"), "1");
    browser.press(keys::ENTER);
    assert_eq!(chosen(&browser), "title:word2999");
    let in_sight = "(() => { const [a, b] = ['.box.chosen', '.scroller'].map((s) => document.querySelector(s).getBoundingClientRect()); return a.top >= b.top && a.bottom <= b.bottom })()";
    assert_eq!(browser.get(in_sight), true);
    browser.press(keys::ESCAPE);
    assert_eq!(browser.text("#search-count"), "");
    browser.run("document.querySelector('#search').value = 'nowhere'; document.querySelector('#search').dispatchEvent(new Event('input'))");
    browser.settle();
    assert_eq!(browser.text("#search-count"), "nothing found");
    browser.run("document.querySelector('#search').value = 'termscan word12'; document.querySelector('#search').dispatchEvent(new Event('input'))");
    browser.settle();
    browser.click("#search-next");
    assert!(
        browser.text("#search-count").starts_with("1 of 111"),
        "{}",
        browser.text("#search-count")
    );
    browser.click("#search-previous");
    assert!(browser.text("#search-count").starts_with("111 of 111"));
    browser.expect_silence("search");
}

#[test]
fn keys_walk_the_tree() {
    let page = plans::everything().to_html();
    let Some(browser) = opened("keys", &page, "") else { return };
    let node = || browser.behind().rsplit_once("node=").expect("a node").1.to_owned();
    browser.run("document.querySelector('.box.chosen').focus()");
    let steps: [(&str, &str); 12] = [
        (keys::RIGHT, "0.0"),
        (keys::RIGHT, "0.0.0"),
        (keys::DOWN, "0.0.1"),
        (keys::RIGHT, "0.0.1.0"),
        (keys::DOWN, "0.0.1.1"),
        (keys::DOWN, "0.0.2"),
        (keys::UP, "0.0.1.1"),
        (keys::LEFT, "0.0.1"),
        (keys::LEFT, "0.0.1"),
        (keys::DOWN, "0.0.2"),
        (keys::END, "other"),
        (keys::HOME, "0"),
    ];
    for (at, (key, expected)) in steps.into_iter().enumerate() {
        browser.press(key);
        assert_eq!(node(), expected, "step {at}");
        assert_eq!(
            browser.get("document.activeElement.dataset.id"),
            expected,
            "the focus at step {at}"
        );
    }
    browser.press(keys::ENTER);
    assert_eq!(browser.get("document.activeElement.closest('#details') !== null"), true);
    browser.press(keys::ESCAPE);
    assert_eq!(browser.get("document.activeElement.dataset.id"), "0");
    browser.press(" ");
    assert_eq!(browser.count(".box.node"), 1);
    browser.press(keys::RIGHT);
    assert!(browser.count(".box.node") > 1);
    for (key, view) in [("2", "icicle"), ("3", "grid"), ("4", "json"), ("1", "tree")] {
        browser.press(key);
        assert_eq!(browser.count(&format!(".view-{view}")), 1);
    }
    browser.press("m");
    assert_eq!(browser.get("document.querySelector('#metric').value"), "documents");
    browser.press("d");
    assert_eq!(browser.get("document.activeElement.id"), "doc");
    browser.run("document.activeElement.blur()");
    browser.press("?");
    assert_eq!(browser.count("#help[open]"), 1);
    browser.press(keys::ESCAPE);
    assert_eq!(browser.count("#help[open]"), 0);
    browser.click("#tab-tree");
    browser.press(keys::RIGHT);
    assert!(browser.behind().contains("view=icicle"));
    browser.expect_silence("keys");
}

#[test]
fn links_lead_back() {
    let page = log();
    let Some(browser) = opened("links", &page, "page=4&view=icicle&metric=bytes&doc=77&node=0.0.1")
    else {
        return;
    };
    assert_eq!(browser.get("document.title"), "query number 4 – treepie plan");
    assert!(browser.text("#pages [aria-current]").contains("query number 4"));
    assert_eq!(browser.get("document.querySelector('#metric').value"), "bytes");
    assert_eq!(browser.get("document.querySelector('.slice.chosen').dataset.id"), "0.0.1");
    assert!(browser.text("#lens").contains("History of Poland"));
    browser.run("document.querySelector('#pages li:nth-child(6) a').click()");
    browser.settle();
    assert!(browser.behind().starts_with("page=6&"));
    browser.click(".slice[data-id=\"0.0.2\"]");
    let behind = browser.behind();
    browser.open(&page, &behind);
    assert_eq!(browser.behind(), behind, "the address of a page is where it leads");
    assert_eq!(browser.get("document.title"), "query number 6 – treepie plan");
    assert_eq!(browser.get("document.querySelector('.slice.chosen').dataset.id"), "0.0.2");
    // A link within the page.
    browser.run("location.hash = 'page=2&node=0.0.2'");
    browser.settle();
    assert_eq!(chosen(&browser), "title:a*");
    browser.expect_silence("links");
}

#[test]
fn two_plans_are_compared() {
    let page = compared();
    let Some(browser) = opened("compared", &page, "view=diff") else { return };
    assert_eq!(browser.count("table.diff tbody tr"), 3);
    let text = browser.text(".view-diff");
    for told in [
        "total time: 462 µs → 91.0 µs",
        "algorithm: gallop array × bitmap → merge",
        "self time: 31.0 µs → –",
        "removed",
        "added",
    ] {
        assert!(text.contains(told), "{told} in {text}");
    }
    browser.click(".view-diff .all input");
    assert_eq!(browser.count("table.diff tbody tr"), 5);
    browser.run("document.querySelector('tr.change-added a').click()");
    browser.settle();
    assert_eq!(browser.behind(), "side=other&view=diff&node=0.0.1");
    assert_eq!(browser.get("document.querySelector('#side').value"), "other");
    assert!(browser.text("#details").contains("Against the other plan"));
    assert_eq!((browser.count(".box.change-changed"), browser.count(".box.change-added")), (2, 1));
    browser.click("#tab-tree");
    assert_eq!((browser.count(".box.change-changed"), browser.count(".box.change-added")), (1, 1));
    browser.choose("#side", "plan");
    assert_eq!(browser.count(".box.change-removed"), 1);
    browser.expect_silence("compared");
}

#[test]
fn texts_are_copied() {
    let tree = plans::everything();
    let Some(browser) = opened("copy", &tree.to_html(), "") else { return };
    browser.run("window.copied = []; navigator.clipboard.writeText = async (text) => { window.copied.push(text) }");
    let items =
        browser.get("[...document.querySelectorAll('#copies button')].map((b) => b.textContent)");
    let items: Vec<String> = serde_json::from_value(items).expect("a list of texts");
    for (at, item) in items.iter().enumerate() {
        browser.click("#copy");
        browser.click(&format!("#copies li:nth-child({}) button", at + 1));
        assert!(browser.text("#status").contains(&format!("{item} copied")), "{item}");
    }
    let copied = browser.get("window.copied");
    let find = |item: &str| items.iter().position(|name| name == item).map(|at| &copied[at]);
    assert_eq!(find("Text"), Some(&Value::from(tree.to_string())));
    let json: Value =
        serde_json::from_str(find("JSON").and_then(Value::as_str).expect("JSON")).expect("JSON");
    assert_eq!(json, serde_json::from_str::<Value>(&tree.to_json()).expect("JSON"));
    // Where the clipboard is closed the text can be copied by hand.
    browser.run("navigator.clipboard.writeText = async () => { throw new Error('closed') }");
    browser.click("#copy");
    browser.click("#copies li:nth-child(2) button");
    assert_eq!(
        browser.get("document.querySelector('#long[open] textarea').value"),
        tree.to_string()
    );
    browser.expect_silence("copy");
}

/// On paper there is the plan and no control.
#[test]
fn pages_are_printed() {
    let page = plans::everything().to_html();
    let Some(browser) = opened("print", &page, "") else { return };
    browser.command("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    for hidden in [".tools", ".bar", ".toolbar"] {
        assert_eq!(
            browser.get(&format!("getComputedStyle(document.querySelector('{hidden}')).display")),
            "none",
            "{hidden}"
        );
    }
    browser.command("Emulation.setEmulatedMedia", &json!({"media": ""}));
    let pdf = browser.command("Page.printToPDF", &json!({}));
    assert!(pdf["data"].as_str().is_some_and(|data| data.len() > 10_000));
    assert_eq!(browser.count(".box.node"), 7, "after printing all is as it was");
    browser.expect_silence("print");
}
