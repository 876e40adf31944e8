//! How far searches run beyond their deadlines, on an index of the caller's:
//!
//! ```text
//! TREEPIE_INDEX=big.tp cargo test --release --test suite deadlines -- --ignored --nocapture
//! ```
//!
//! The words are those of English texts. What must hold everywhere is tested beside the searcher, by stopping
//! at every place instead of by the clock.

use std::time::{Duration, Instant};

use treepie::query::Query;
use treepie::search::{Order, TotalMode};
use treepie::{Budget, CancelToken, ErrorKind, Index, SearchBuilder, Searcher};

/// Deadlines for each kind of query, spread over the time that it takes.
const DEADLINES: u32 = 200;
/// What is promised.
const OVERSHOOT_MAX: Duration = Duration::from_millis(10);

const QUERIES: &[(&str, &str)] = &[
    ("term", "the"),
    ("and", "+the +of"),
    ("or", "the of"),
    ("or of ten", "the of and in to a is was for on"),
    ("mixed", "+the of -and (in OR to)"),
    ("at least", "(the of and in)~3"),
    ("phrase", "\"of the\""),
    ("sloppy phrase", "\"the of\"~4"),
    ("pattern phrase", "PHRASE [o* the]"),
    ("prefix", "s*"),
    ("wildcard", "*a*e*"),
    ("regex", "/.*[aeiou]{2}.*/"),
    ("fuzzy", "house~2"),
    ("range", "[b TO t]"),
    ("prefixes", "a* b* c* d* e*"),
    ("everything and facets", "*"),
];

type Way = (&'static str, fn(SearchBuilder<'_>) -> SearchBuilder<'_>);

const WAYS: &[Way] = &[
    ("top 10", |search| search.total(TotalMode::Unknown)),
    ("top 10, counted", |search| search),
    ("count", |search| search.count_only()),
    ("in order", |search| search.order(Order::Document)),
    ("patterns scored", |search| search.pattern_terms(50)),
    ("scored, all", |search| search.limit(1_000_000).fields([""; 0])),
];

#[test]
#[ignore = "a measurement, on an index of the caller's"]
fn measured_by_the_clock() {
    let path = std::env::var("TREEPIE_INDEX").expect("TREEPIE_INDEX names an index");
    let searcher = Index::open(path).unwrap().searcher().unwrap();
    let field = searcher.schema().fields()[0].name.clone();
    println!(
        "{:24} {:18} {:>9} {:>6} {:>9} {:>9} {:>9}",
        "query", "search", "takes", "cut", "p50", "p99", "most"
    );
    let mut worst = Duration::ZERO;
    for (kind, text) in QUERIES {
        let query = searcher.parse(text).unwrap();
        for (way, shape) in WAYS {
            let search = || shape(searcher.search(&query));
            worst = worst.max(measure(kind, way, |budget| apply(search(), budget)));
        }
        let facets =
            |budget: &Until| apply(searcher.search(&query).count_only().facet(&*field, 10), budget);
        worst = worst.max(measure(kind, "facets", facets));
        let highlight = |budget: &Until| mark(&searcher, &query, &field, budget);
        worst = worst.max(measure(kind, "highlight", highlight));
    }
    println!("worst p99: {worst:.2?}");
    assert!(worst <= OVERSHOOT_MAX, "a deadline is honoured within {OVERSHOOT_MAX:?}");
}

/// A deadline or a token.
struct Until {
    timeout: Option<Duration>,
    token: Option<CancelToken>,
}

fn apply(mut search: SearchBuilder<'_>, until: &Until) -> Option<ErrorKind> {
    if let Some(timeout) = until.timeout {
        search = search.timeout(timeout);
    }
    if let Some(token) = &until.token {
        search = search.budget(Budget::new().cancel(token));
    }
    search.run().err().map(|error| error.kind())
}

/// Marks a text of about a megabyte.
fn mark(searcher: &Searcher, query: &Query, field: &str, until: &Until) -> Option<ErrorKind> {
    let text = "the house of the rising sun and all that is in it ".repeat(20_000);
    let mut budget = Budget::new();
    if let Some(timeout) = until.timeout {
        budget = budget.timeout(timeout);
    }
    let marked = budget.run(|| {
        let highlighter = searcher.highlighter(query)?;
        highlighter.in_document(treepie::DocId(0), field, [&*text]).map(|marked| marked.len())
    });
    marked.err().map(|error| error.kind())
}

/// Runs a search against deadlines spread over its time, and prints how far beyond them it ran; the 99th percentile.
fn measure(kind: &str, way: &str, search: impl Fn(&Until) -> Option<ErrorKind>) -> Duration {
    let timed = |until: &Until| {
        let started = Instant::now();
        let error = search(until);
        (started.elapsed(), error)
    };
    let free = Until { timeout: None, token: None };
    let (takes, error) = (0..2).map(|_| timed(&free)).min_by_key(|(took, _)| *took).unwrap();
    if let Some(error) = error {
        println!("{kind:24} {way:18} {error:?}");
        return Duration::ZERO;
    }
    let mut beyond = vec![];
    // No more than about a second for each.
    let n = DEADLINES.min((2.0 / takes.as_secs_f64()).ceil() as u32).max(8);
    for nth in 0..n {
        let timeout = takes * nth / n;
        let (took, error) = timed(&Until { timeout: Some(timeout), token: None });
        if error == Some(ErrorKind::Timeout) {
            beyond.push(took.saturating_sub(timeout));
        }
    }
    beyond.sort_unstable();
    let at = |share: f64| {
        let last = beyond.len().saturating_sub(1);
        beyond.get((last as f64 * share).round() as usize).copied().unwrap_or_default()
    };
    let (p50, p99, most) = (at(0.5), at(0.99), at(1.0));
    println!(
        "{kind:24} {way:18} {takes:>9.2?} {:>6} {p50:>9.1?} {p99:>9.1?} {most:>9.1?}",
        beyond.len()
    );
    p99
}
