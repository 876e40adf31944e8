//! `treepie explain --why-empty`: which conditions of a query no document meets together.

use std::{
    io::{self, Write},
    time::Duration,
};

use treepie::{SearchBuilder, explain::WhyEmpty};

use crate::{args::Global, output::Output, terminal};

/// The longest that a search without hits looks for the reason unasked.
const UNASKED_MAX: Duration = Duration::from_millis(100);

/// Prints it as JSON or for people; `query` is what was typed.
pub(super) fn print(
    mut why: WhyEmpty,
    query: String,
    json: bool,
    global: Global,
) -> io::Result<()> {
    let mut out = Output::paged(global);
    if json {
        why.query = query;
        writeln!(out, "{}", why.to_json())?;
    } else {
        for line in why.to_string().lines() {
            writeln!(out, "{}", terminal::printable(line))?;
        }
    }
    out.flush()
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
