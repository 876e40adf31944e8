//! The pages of plans in a real browser: Chromium, without a window, driven through `chromedriver`.
//!
//! Where there is no `chromedriver` (Debian: `apt-get install chromium chromium-driver`), or where
//! `TREEPIE_CHROMEDRIVER` names none, every test says that it was skipped and passes.
//!
//! ```text
//! TREEPIE_AXE=…/axe-core/axe.min.js cargo test --test viewer      the rules for accessibility, too
//! TREEPIE_SCREENS=bless cargo test --test viewer screens          new screenshots to compare with
//!
//! # The pictures in src/docs/images: a page that was made by `treepie explain --format html`, and what to show of it
//! TREEPIE_PICTURE_OF='plan.html#node=0.1' TREEPIE_PICTURE=src/docs/images/plan.png TREEPIE_THEME=dark \
//!     cargo test --test viewer picture
//! ```
//!
//! Screenshots are compared where browser and fonts are those of `screens/made-with.txt`, and only shown to be
//! drawn elsewhere.

mod accessibility;
mod browser;
mod controls;
mod data;
mod opening;
mod plans;
mod screens;
mod size;
mod storage;

use treepie::explain::{ExplainTree, HtmlPages};

/// A page of two plans and what differs.
fn compared() -> String {
    let (before, mut after) = (plans::everything(), plans::everything());
    after.query = "history && (france spain) AND an* +AC/DC".into();
    after.total_ns = Some(91_000);
    let all = &mut after.plan.children[0];
    all.children.pop();
    all.algorithm = "merge".into();
    let diff = r#"{"nodes": [
        {"left": "0", "right": "0", "kind": "same", "changes": []},
        {"left": "0.0", "right": "0.0", "kind": "changed", "changes": [
            {"what": "algorithm", "left": "gallop array × bitmap", "right": "merge"},
            {"what": "self_time", "left": "31.0 µs", "right": null}]},
        {"left": "0.0.0", "right": "0.0.0", "kind": "same", "changes": []},
        {"left": "0.0.2", "right": null, "kind": "removed", "changes": []},
        {"left": null, "right": "0.0.1", "kind": "added", "changes": []}],
        "changes": [{"what": "total_time", "left": "462 µs", "right": "91.0 µs"}]}"#;
    let mut pages = HtmlPages::new();
    pages.add_pair("a longer prefix", &before, &after, diff);
    pages.to_html()
}

/// The pages of a log: 40 queries, the slowest first.
fn log() -> String {
    let mut pages = HtmlPages::new();
    for at in 1..=40 {
        let mut tree: ExplainTree =
            if at % 2 == 0 { plans::everything() } else { plans::bushy(30) };
        tree.total_ns = Some(90_000_000 / at);
        tree.query = format!("query number {at}");
        pages.add(&tree.query, &tree);
    }
    pages.to_html()
}
