//! Large plans: what is out of sight costs nothing, and what the browser took is told.
//!
//! How long is asked of the browser's own clock. That is printed; what is checked is far above it, for busy machines.

use super::{browser::browser, browser::keys, plans};

/// Milliseconds from the start of loading to a mark of the page.
const DRAWN: &str = "performance.getEntriesByName('drawn')[0].startTime";
const PAINTED: &str =
    "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null";
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
        assert!(drawn < 5_000.0 && unfolded < 5_000.0 && layout < 1_000.0);
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
fn five_hundred_nodes_are_painted_soon() {
    let Some(browser) = browser("five-hundred") else { return };
    let page = plans::bushy(500).to_html();
    let painted = (0..3).filter_map(|_| {
        browser.open(&page, "");
        browser.settle();
        browser.get(PAINTED).as_f64()
    });
    let least = painted.fold(f64::INFINITY, f64::min);
    eprintln!("500 nodes: first paint after {least:.0} ms, the least of three");
    assert!(least < 5_000.0);
}
