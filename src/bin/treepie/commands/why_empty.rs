//! `treepie explain --why-empty`: which conditions of a query no document meets together.

use std::io::{self, Write};

use treepie::explain::WhyEmpty;

use crate::{args::Global, output::Output, terminal};

/// Prints it as JSON or for people; `query` is what was typed.
pub(super) fn print(
    mut why: WhyEmpty,
    query: String,
    json: bool,
    global: Global,
) -> io::Result<()> {
    let mut out = Output::new(global.color);
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
