//! The rules of axe-core for accessibility, run on every view in both themes. Its script is named by `TREEPIE_AXE`.

use super::{browser::browser, compared, log, plans};
use serde_json::Value;
use std::{env, fs};
use treepie::explain::HtmlPages;

#[test]
fn axe_finds_no_violations() {
    let Some(path) = env::var_os("TREEPIE_AXE").filter(|path| !path.is_empty()) else {
        eprintln!("!!! SKIPPED: axe: TREEPIE_AXE names no axe.min.js");
        return;
    };
    let axe =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let Some(browser) = browser("axe") else { return };
    let everything = plans::everything().to_html();
    let cases = [
        (&everything, "node=0.0&doc=77"),
        (&everything, "node=0.0.2&doc=15212"),
        (&everything, "view=icicle&node=0.0.2"),
        (&everything, "view=grid"),
        (&everything, "view=json"),
        (&everything, "node=facet.0&doc=5"),
        (&plans::not_run().to_html(), ""),
        (&plans::hostile().to_html(), ""),
        (&plans::wide(300).to_html(), "node=0.299"),
        (&compared(), "view=diff"),
        (&compared(), "side=other"),
        (&log(), "page=2"),
        (&HtmlPages::new().to_html(), ""),
    ];
    let mut rules = 0;
    for theme in ["light", "dark"] {
        for width in [1440, 360] {
            browser.set_window(width, theme);
            for (page, behind) in cases {
                browser.open(page, behind);
                rules = expect_none(&browser, &axe, &format!("{theme} {width} {behind}"));
            }
            browser.open(&everything, "");
            browser.run("document.querySelector('#help-open').click()");
            expect_none(&browser, &axe, &format!("{theme} {width} help"));
        }
    }
    // That it finds something at all.
    browser.open(&everything, "");
    browser.run("document.querySelector('#metric').closest('label').replaceWith(document.querySelector('#metric'))");
    browser.run(&axe);
    assert_ne!(violations(&browser).0, Vec::<String>::new(), "axe does not miss a label");
    eprintln!("axe: no violations of {rules} rules on {} pages", 4 * (cases.len() + 1));
}

/// Fails with what was found; gives the number of rules that were obeyed.
fn expect_none(browser: &super::browser::Browser, axe: &str, page: &str) -> usize {
    browser.run(axe);
    let (found, obeyed) = violations(browser);
    assert!(found.is_empty(), "{page}:\n{}", found.join("\n"));
    assert!(obeyed > 10, "{page}: only {obeyed} rules had anything to look at");
    obeyed
}

fn violations(browser: &super::browser::Browser) -> (Vec<String>, usize) {
    let run = "window.axe.run(document).then((result) => done({ \
        found: result.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${v.help}: ${n.target} ${n.html.slice(0, 200)} ${n.failureSummary}`)), \
        obeyed: result.passes.length }))";
    let result = browser.run_until_done(run, &Value::Null);
    let found = serde_json::from_value(result["found"].clone()).expect("a list of texts");
    (found, result["obeyed"].as_u64().expect("a number") as usize)
}
