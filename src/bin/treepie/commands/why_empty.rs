//! `treepie explain --why-empty`: which conditions of a query no document meets together.

use std::time::Duration;

use treepie::{
    SearchBuilder,
    explain::{ExplainTree, HtmlPages, WhyEmpty},
};

use crate::terminal;

/// The longest that a search without hits looks for the reason unasked.
const UNASKED_MAX: Duration = Duration::from_millis(100);

/// The reason as JSON, as a page with the plan of the search, or for people; `query` is what was typed.
pub(super) fn printed(
    mut why: WhyEmpty,
    query: String,
    plan: Option<ExplainTree>,
    json: bool,
) -> String {
    if let Some(mut plan) = plan {
        plan.query = query.clone();
        let mut pages = HtmlPages::new();
        pages.add_why_empty(&query, &plan, &why);
        return pages.to_html();
    }
    if json {
        why.query = query;
        return why.to_json() + "\n";
    }
    let lines = why.to_string();
    lines.lines().map(|line| terminal::printable(line).into_owned() + "\n").collect()
}

/// One line for somebody whose search found nothing: what would help, if that is found soon.
pub(super) fn in_one_line(search: SearchBuilder<'_>) -> String {
    let advice =
        search.timeout(UNASKED_MAX).explainer().why_empty().ok().and_then(|why| why.advice());
    match advice {
        Some(advice) => terminal::printable(&advice).into_owned(),
        None => {
            "nothing matches; `treepie explain INDEX QUERY --why-empty` looks for the reason".into()
        }
    }
}
