//! [`ExplainTree`] → HTML: one file that draws plans in a browser. It needs no network and no server.
//!
//! The page is a template, a style and a script, which stand in `viewer/` as they are delivered, and the data as one
//! JSON object. Texts from outside reach the page as data only: nothing in them can end the element that holds it, the
//! script makes texts of them and never markup, and a policy in the page forbids every script, style and request but
//! its own.
//!
//! # Data
//!
//! ```json
//! {"version": "0.1",
//!  "pages": [{"title": "…", "plan": {}, "other": null, "diff": null, "text": "…", "took_ns": 4970000, "why_empty": {}}],
//!  "glossary": {"operator": [["TopK", "the best documents by score"]]}}
//! ```
//!
//! `plan` and `other` are what [`ExplainTree::to_json`] writes, `why_empty` is what [`WhyEmpty::to_json`] does. That and
//! `took_ns`, of a search in a log, are there where they are known. Without pages the page asks for a plan. The script reads every version with the same
//! number before the point; names are added, never renamed, until that changes.

use super::glossary::{WordKind, glossary};
use super::{ExplainTree, SlowSearch, TextOptions, WhyEmpty};
use crate::json::Json;
use crate::page::HtmlPage;

/// The version of the data that a page carries; `viewer/model.js` reads what has the same number before the point.
const DATA_VERSION: &str = "0.1";

/// The parts of the script stand in the order in which they need each other, in a scope of their own.
const PAGE: HtmlPage = HtmlPage {
    template: include_str!("viewer/page.html"),
    style: include_str!("viewer/page.css"),
    script: concat!(
        "\"use strict\";\n(() => {\n",
        include_str!("viewer/text.js"),
        include_str!("viewer/dom.js"),
        include_str!("viewer/glossary.js"),
        include_str!("viewer/model.js"),
        include_str!("viewer/postgres.js"),
        include_str!("viewer/layout.js"),
        include_str!("viewer/box.js"),
        include_str!("viewer/tree.js"),
        include_str!("viewer/details.js"),
        include_str!("viewer/question.js"),
        include_str!("viewer/grid.js"),
        include_str!("viewer/icicle.js"),
        include_str!("viewer/diff.js"),
        include_str!("viewer/raw.js"),
        include_str!("viewer/copy.js"),
        include_str!("viewer/paste.js"),
        include_str!("viewer/main.js"),
        "})();\n"
    ),
    policy: "default-src 'none'; \
    script-src 'sha256-pavFGAx9WVNxK9Np1vgsl36dXPt/netEvKhHjAEDLLM='; \
    style-src 'sha256-e4kLohs0VFRBX31rMrxCk+1cf5Zn7NnU4Ra1Jy95aFc='; \
    img-src data:; base-uri 'none'; form-action 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'",
};

/// Several plans in one HTML file, for instance before and after a change. A log's slowest queries make one, too.
/// Without any plan it is a page that plans are pasted into, of treepie or of Postgres.
///
/// ```
/// use treepie::explain::{ExplainNode, ExplainTree, HtmlPages};
///
/// let before = ExplainTree::new("ru*", ExplainNode::new("Prefix", "title:ru*"));
/// let after = ExplainTree::new("rus*", ExplainNode::new("Prefix", "title:rus*"));
/// let mut pages = HtmlPages::new();
/// pages.add("rust", &ExplainTree::new("rust", ExplainNode::new("Term", "title:rust")));
/// pages.add_pair("a longer prefix", &before, &after, r#"{"nodes": [], "changes": []}"#);
/// assert!(pages.to_html().starts_with("<!doctype html>"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct HtmlPages {
    /// One JSON object for each page.
    pages: Vec<String>,
}

impl HtmlPages {
    /// No plans yet: a file that asks for one.
    pub fn new() -> Self {
        HtmlPages::default()
    }

    /// Adds a plan under a title, which may be any text.
    pub fn add(&mut self, title: &str, plan: &ExplainTree) {
        self.push(title, plan, None, |_| {});
    }

    /// Adds a search of a log with two times. One is from the log, the other that of running it again for the plan.
    /// False if it has no plan.
    pub fn add_slow(&mut self, title: &str, search: &SlowSearch) -> bool {
        let Some(plan) = &search.plan else { return false };
        self.push(title, plan, None, |json| json.field("took_ns").number(search.took_ns));
        true
    }

    /// Adds the plan of a search that finds nothing, with the reason for that.
    pub fn add_why_empty(&mut self, title: &str, plan: &ExplainTree, why: &WhyEmpty) {
        self.push(title, plan, None, |json| json.field("why_empty").out.push_str(&why.to_json()));
    }

    /// Adds a pair of plans, before and after, and their differences as JSON. Its shape is that of
    /// [`PlanDiff::to_json`](super::PlanDiff::to_json). It goes into the page unread; what is not JSON makes a page
    /// that says so.
    pub fn add_pair(&mut self, title: &str, before: &ExplainTree, after: &ExplainTree, diff: &str) {
        self.push(title, before, Some((after, diff)), |_| {});
    }

    /// Adds a plan, the one after with what differs as JSON, if there is one, and what else is known of it.
    fn push(
        &mut self,
        title: &str,
        plan: &ExplainTree,
        other: Option<(&ExplainTree, &str)>,
        more: impl FnOnce(&mut Json),
    ) {
        let json = Json::of_object(|json| {
            json.field("title").string(title);
            json.field("plan").out.push_str(&plan.to_json());
            let after = other.map(|(after, _)| after.to_json());
            json.field("other").raw_or_null(after.as_deref());
            json.field("diff").raw_or_null(other.map(|(_, diff)| diff));
            json.field("text").string(&plan.to_text(&TextOptions::default()));
            more(json);
        });
        self.pages.push(json);
    }

    /// The file. Takes time and memory for a few copies of its data, and adds about 130 KB to it.
    pub fn to_html(&self) -> String {
        let json = Json::of_object(|json| {
            json.field("version").string(DATA_VERSION);
            json.field("pages").array(&self.pages, |json, page| json.out.push_str(page));
            let entries = glossary();
            json.field("glossary").object(|json| {
                for kind in WordKind::ALL {
                    let of_kind = entries.iter().filter(|entry| entry.kind == kind);
                    let of_kind = of_kind.map(|it| vec![it.word.to_owned(), it.meaning.clone()]);
                    json.put(kind.name(), &of_kind.collect::<Vec<_>>());
                }
            });
        });
        PAGE.with_data(&json)
    }
}

impl ExplainTree {
    /// Returns one HTML file that draws the tree in any current browser. It needs no network, no server, nothing but
    /// the file. See [`HtmlPages`] for several.
    pub fn to_html(&self) -> String {
        let mut pages = HtmlPages::new();
        pages.add(&self.query, self);
        pages.to_html()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::explain::{ExplainNode, ExplainOperator, sample};
    use crate::page::check::{self, data};

    #[test]
    fn the_policy_allows_this_script_and_this_style() {
        check::policy(&PAGE);
    }

    #[test]
    fn the_data_is_the_tree_and_its_text() {
        let tree = sample::analyzed();
        let data = data(&tree.to_html());
        assert_eq!(data["version"], DATA_VERSION);
        assert_eq!(data["pages"].as_array().map(Vec::len), Some(1));
        let page = &data["pages"][0];
        assert_eq!(page["title"], *tree.query);
        assert_eq!(page["plan"], serde_json::from_str::<Value>(&tree.to_json()).unwrap());
        assert_eq!(page["text"], tree.to_text(&TextOptions::default()));
        assert_eq!([&page["other"], &page["diff"]], [&Value::Null, &Value::Null]);
    }

    #[test]
    fn pairs_carry_both_plans_and_the_difference() {
        let (before, mut after) = (sample::analyzed(), sample::analyzed());
        after.query = "something else".into();
        let mut pages = HtmlPages::new();
        pages.add("alone", &before);
        pages.add_pair("both", &before, &after, r#"{"nodes":[],"changes":[]}"#);
        let data = data(&pages.to_html());
        assert_eq!(data["pages"][1]["plan"]["query"], *before.query);
        assert_eq!(data["pages"][1]["other"]["query"], "something else");
        assert_eq!(data["pages"][1]["diff"]["nodes"], Value::Array(vec![]));
    }

    #[test]
    fn the_script_knows_what_makes_a_page() {
        let pages = ExplainOperator::PAGES.map(|page| format!("\"{page}\"")).join(", ");
        assert!(PAGE.script.contains(&format!("const PAGES = new Set([{pages}]);")));
    }

    #[test]
    fn hostile_text_stays_data() {
        let hostile =
            "</script><script>alert(1)</script><!--{{script}}}}{{nowhere}}]]>\u{2028}\u{0}";
        let html = ExplainTree::new(hostile, ExplainNode::new(hostile, hostile)).to_html();
        assert_eq!(data(&html)["pages"][0]["plan"]["plan"]["operator"], hostile);
        // The two elements of the page itself, and nothing of the text.
        assert_eq!(html.matches("<script").count(), PAGE.template.matches("<script").count());
        assert_eq!(html.matches("</script").count(), PAGE.template.matches("</script").count());
        assert!(!html.contains("<!--"), "a comment could hide the rest");
        assert!(!html.contains('\0'));
    }

    #[test]
    fn the_file_without_data_is_small_and_asks_for_nothing() {
        let without =
            PAGE.template.len() + PAGE.style.len() + PAGE.script.len() + PAGE.policy.len();
        assert!(without < 250_000, "{without} bytes");
        for part in [PAGE.template, PAGE.style, PAGE.script] {
            // The only address is the name of a namespace.
            let addresses = part.replace("http://www.w3.org/2000/svg", "");
            for word in
                ["http://", "https://", "@import", "src=\"", "innerHTML", " eval(", "new Function"]
            {
                assert!(!addresses.contains(word), "{word}");
            }
        }
        assert!(
            !PAGE.script.contains("</script") && !PAGE.script.contains("<!--"),
            "ends its element"
        );
    }
}
