//! Large plans: what is out of sight costs nothing, and what the browser took is told.
//!
//! Times are those of the browser's own clock, printed and not checked: machines are busy. Checked is what times come from:
//! the elements that are drawn. A page that freezes ends at the driver's limit of 30 seconds for a script.

use super::{browser::browser, browser::keys, plans};
use serde_json::Value;

/// Milliseconds from the start of loading to a mark of the page.
const DRAWN: &str = "performance.getEntriesByName('drawn')[0].startTime";
/// The browser tells the first paint some time after it, on a busy machine some frames later; without one in 20 s, null.
const PAINTED: &str = "setTimeout(done, 20000, null); \
    new PerformanceObserver((list) => list.getEntriesByName('first-contentful-paint').forEach((e) => done(e.startTime))) \
        .observe({type: 'paint', buffered: true});";
const LAYOUT: &str = "Math.max(...performance.getEntriesByName('layout').map((m) => m.duration))";
const ELEMENTS: &str = "document.querySelectorAll('*').length";

#[test]
fn five_thousand_nodes_do_not_freeze() {
    let Some(browser) = browser("five-thousand") else { return };
    for tree in [plans::bushy(5_000), plans::wide(5_000)] {
        browser.open(&tree.to_html(), "");
        let drawn = browser.get(DRAWN).as_f64().expect("a mark");
        browser.run("performance.clearMeasures(); performance.mark('unfold'); \
            [...document.querySelectorAll('.toolbar button')].find((b) => b.innerText === 'Unfold all').click(); \
            performance.measure('unfolded', 'unfold')");
        let unfolded = browser
            .get("performance.getEntriesByName('unfolded')[0].duration")
            .as_f64()
            .expect("a measure");
        let layout = browser.get(LAYOUT).as_f64().expect("a measure");
        eprintln!(
            "{}: interactive after {drawn:.0} ms; unfolded in {unfolded:.0} ms, {layout:.0} ms of it layout",
            tree.query
        );
        let elements = browser.get(ELEMENTS).as_u64().expect("a number");
        assert!(elements < 3_000, "{elements} elements");
        browser.run("document.querySelector('.box.chosen').focus()");
        browser.press(keys::END);
        browser.press(keys::UP);
        assert_eq!(browser.count(".box.chosen"), 1);
        for view in ["icicle", "grid", "json", "tree"] {
            browser.click(&format!("#tab-{view}"));
            let elements = browser.get(ELEMENTS).as_u64().expect("a number");
            assert!(elements < 4_000, "{view}: {elements} elements");
        }
        browser.expect_silence(&tree.query);
    }
}

#[test]
fn five_hundred_nodes_are_painted_at_once() {
    let Some(browser) = browser("five-hundred") else { return };
    let page = plans::bushy(500).to_html();
    let mut least = f64::INFINITY;
    for _ in 0..3 {
        browser.open(&page, "");
        browser.settle();
        let elements = browser.get(ELEMENTS).as_u64().expect("a number");
        assert!(elements < 3_000, "{elements} elements before the first paint");
        let painted = browser.run_until_done(PAINTED, &Value::Null);
        least = painted.as_f64().into_iter().fold(least, f64::min);
    }
    eprintln!("500 nodes: first paint after {least:.0} ms, the least of three");
    browser.expect_silence("500 nodes");
}
