//! Lines of a log of slow searches, read back, and the worst of them.

use super::{ExplainTree, SCHEMA_VERSION};
use crate::error::Result;
use crate::json::{JsonValue, Reader};
use std::ops::Range;

/// The names of a line that stand in no plan of its own.
const REQUIRED: [&str; 8] =
    ["schema_version", "at", "took_ns", "index", "command", "query", "error", "plan"];

/// One line of a log of slow searches; see [`SlowLog`](crate::search::SlowLog) for what writes them.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SlowSearch {
    /// Time at which the search ended, as `2026-11-24T04:00:00.123456Z`.
    pub at: String,
    /// Time that the search took. `total_ns` of the plan is the time of a second run, which made the plan.
    pub took_ns: u64,
    /// The index.
    pub index: String,
    /// JSON of the request, which [`SearchRequest::from_json`](crate::SearchRequest::from_json) reads. `None` in a line
    /// of an older version, and if the search had a closure.
    pub request: Option<String>,
    /// `search` or `count`.
    pub command: String,
    /// The query.
    pub query: String,
    /// Why it failed, if it did.
    pub error: Option<String>,
    /// Plan of the search; `None` if there was no time to make it.
    pub plan: Option<ExplainTree>,
}

impl SlowSearch {
    /// Reads a line that a [`SlowLog`](crate::search::SlowLog) wrote. Names that are not known are left out.
    ///
    /// # Errors
    ///
    /// Fails like [`ExplainTree::from_json`].
    pub fn from_json(line: &str) -> Result<SlowSearch> {
        let (mut search, plan) = read_line(line)?;
        search.plan = plan_at(line, plan)?;
        Ok(search)
    }
}

/// The line without its plan, and where that lies.
fn read_line(line: &str) -> Result<(SlowSearch, Range<usize>)> {
    let mut search = SlowSearch::default();
    let mut plan = 0..0;
    let mut reader = Reader::new(line, "a slow search")?;
    reader.object(&REQUIRED, |reader, name| {
        match name {
            "schema_version" => reader.version(SCHEMA_VERSION, "a plan")?,
            "at" => search.at = reader.string()?,
            "took_ns" => search.took_ns = reader.whole()?,
            "index" => search.index = reader.string()?,
            "request" => {
                let place = reader.skip()?;
                search.request = line.get(place).filter(|json| *json != "null").map(str::to_owned);
            }
            "command" => search.command = reader.string()?,
            "query" => search.query = reader.string()?,
            "error" => search.error = reader.or_null(Reader::string)?,
            "plan" => plan = reader.skip()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    reader.end()?;
    Ok((search, plan))
}

/// The plan in a line, of which mistakes are told with their column in that line.
fn plan_at(line: &str, place: Range<usize>) -> Result<Option<ExplainTree>> {
    Reader::at(line, place, "the plan of a slow search")?.or_null(ExplainTree::read)
}

/// A plan that was kept, by itself or in a line of a log.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Recorded {
    /// Plan that [`ExplainTree::to_json`] wrote.
    Plan(ExplainTree),
    /// Line that a [`SlowLog`](crate::search::SlowLog) wrote.
    SlowSearch(SlowSearch),
}

impl Recorded {
    /// Reads either of both. They are told apart by their names: only a line of a log has `took_ns`.
    ///
    /// # Errors
    ///
    /// Fails like [`ExplainTree::from_json`].
    pub fn from_json(text: &str) -> Result<Recorded> {
        let mut is_line = false;
        Reader::new(text, "a plan or a slow search")?.object(&[], |_, name| {
            is_line |= name == "took_ns";
            Ok(false)
        })?;
        match is_line {
            true => SlowSearch::from_json(text).map(Recorded::SlowSearch),
            false => ExplainTree::from_json(text).map(Recorded::Plan),
        }
    }
}

/// The slowest searches of a log, found without holding more of it than these.
///
/// ```
/// use treepie::explain::SlowestSearches;
///
/// let line = |took_ns: u64| {
///     format!(
///         r#"{{"schema_version":1,"at":"2026-11-24T04:00:00Z","took_ns":{took_ns},"index":"t.tp",
///             "command":"search","query":"a*","error":null,"plan":null}}"#
///     )
/// };
/// let mut slowest = SlowestSearches::new(2);
/// for took_ns in [3, 1, 2] {
///     slowest.add(&line(took_ns))?;
/// }
/// assert!(slowest.add(&line(4)[..50]).is_err(), "a torn line is refused, and the others stay");
/// let took: Vec<u64> = slowest.into_vec().iter().map(|search| search.took_ns).collect();
/// assert_eq!(took, [3, 2]);
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SlowestSearches {
    limit: usize,
    n_added: u64,
    /// The slowest first, and of those that took as long the first first.
    kept: Vec<SlowSearch>,
}

impl SlowestSearches {
    /// Returns an empty list that keeps the `limit` slowest searches.
    pub fn new(limit: usize) -> Self {
        SlowestSearches { limit, n_added: 0, kept: vec![] }
    }

    /// Adds a line of a log. Its plan is read only if it is among the slowest so far; otherwise it has to be JSON and no
    /// more.
    ///
    /// # Errors
    ///
    /// Fails like [`ExplainTree::from_json`]; then nothing was added.
    pub fn add(&mut self, line: &str) -> Result<()> {
        let (mut search, plan) = read_line(line)?;
        if self.is_slow(search.took_ns) {
            search.plan = plan_at(line, plan)?;
            self.keep(search);
        }
        self.n_added += 1;
        Ok(())
    }

    /// Adds a plan that was kept by itself. It took the time of its run, or none if it was not run.
    pub fn add_plan(&mut self, plan: ExplainTree) {
        let (took_ns, command) = (plan.total_ns.unwrap_or(0), "search".to_owned());
        let (query, plan) = (plan.query.clone(), Some(plan));
        self.keep(SlowSearch { took_ns, command, query, plan, ..SlowSearch::default() });
        self.n_added += 1;
    }

    /// Whether what took so long is among the slowest so far.
    fn is_slow(&self, took_ns: u64) -> bool {
        let is_slower = |last: &SlowSearch| took_ns > last.took_ns;
        self.kept.len() < self.limit || self.kept.last().is_some_and(is_slower)
    }

    fn keep(&mut self, search: SlowSearch) {
        let place = self.kept.partition_point(|other| other.took_ns >= search.took_ns);
        self.kept.insert(place, search);
        self.kept.truncate(self.limit);
    }

    /// Returns the number of lines and plans that were added.
    pub fn n_added(&self) -> u64 {
        self.n_added
    }

    /// Returns the slowest searches, the slowest first.
    pub fn into_vec(self) -> Vec<SlowSearch> {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::explain::sample;

    fn line(took_ns: u64, query: &str, plan: &str) -> String {
        format!(
            r#"{{"schema_version":1,"at":"2026-11-24T04:00:00Z","took_ns":{took_ns},"index":"t.tp","command":"search","query":"{query}","error":null,"plan":{plan}}}"#
        )
    }

    #[test]
    fn a_line_comes_back_with_its_plan() {
        let tree = sample::analyzed();
        let text = line(7, "a*", &tree.to_json());
        let search = SlowSearch::from_json(&text).unwrap();
        assert_eq!((search.took_ns, &*search.query, &*search.command), (7, "a*", "search"));
        assert_eq!(search.plan.as_ref(), Some(&tree));
        assert_eq!(Recorded::from_json(&text).unwrap(), Recorded::SlowSearch(search));
        assert_eq!(Recorded::from_json(&tree.to_json()).unwrap(), Recorded::Plan(tree));
        assert_eq!(SlowSearch::from_json(&line(7, "a", "null")).unwrap().plan, None);
    }

    #[test]
    fn what_is_wrong_with_a_line_or_its_plan_is_told() {
        let message = |text: &str| SlowSearch::from_json(text).unwrap_err().to_string();
        assert!(
            message(&line(7, "a", "[]"))
                .starts_with("reading the plan of a slow search: expected an object")
        );
        // The column is that of the line, not that of the plan in it.
        let damaged = sample::analyzed().to_json().replacen("\"upper\":4312", "\"upper\":-1", 1);
        let text = line(7, "é", &damaged);
        let error = SlowSearch::from_json(&text).unwrap_err();
        let before = &text[..text.find("-1,").unwrap()];
        assert_eq!(error.column(), Some(before.chars().count() as u64 + 1), "{error}");
        assert!(error.to_string().contains("plan.estimate.upper of the plan of"), "{error}");
        let newer = line(7, "a", "null").replace("version\":1", "version\":3");
        let error = SlowSearch::from_json(&newer).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnsupportedVersion);
        let torn = &line(7, "a", "null")[..40];
        assert!(
            message(torn).contains("found a text without an end")
                || message(torn).contains("the end of the text")
        );
        assert!(message("{}").contains("the name \"schema_version\""), "{}", message("{}"));
    }

    #[test]
    fn plans_by_themselves_took_what_their_run_did() {
        let mut slowest = SlowestSearches::new(2);
        slowest.add(&line(41_999, "faster", "null")).unwrap();
        slowest.add_plan(sample::analyzed());
        let planned = ExplainTree { total_ns: None, ..sample::analyzed() };
        slowest.add_plan(planned);
        let kept: Vec<_> = slowest.into_vec().into_iter().map(|search| search.took_ns).collect();
        assert_eq!(kept, [42_000, 41_999]);
    }

    #[test]
    fn the_slowest_are_kept_and_only_their_plans_are_read() {
        let mut slowest = SlowestSearches::new(2);
        for (took, query) in [(5, "first"), (1, "fast"), (5, "second"), (9, "worst"), (5, "late")] {
            slowest.add(&line(took, query, "null")).unwrap();
        }
        // Not a plan, but not among the slowest either.
        slowest.add(&line(1, "x", "[1]")).unwrap();
        assert!(slowest.add(&line(99, "x", "[1]")).is_err());
        assert_eq!(slowest.n_added(), 6);
        let kept: Vec<_> = slowest.into_vec().into_iter().map(|search| search.query).collect();
        assert_eq!(kept, ["worst", "first"]);
        let mut none = SlowestSearches::new(0);
        none.add(&line(1, "x", "null")).unwrap();
        assert!(none.into_vec().is_empty());
    }
}
