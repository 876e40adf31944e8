//! `treepie search INDEX QUERY`: hits, counts, facets.

use std::{io, io::Write, path::PathBuf, time::Duration};

use clap::builder::PossibleValue;
use serde_json::{Value, json};
use treepie::query::Query;
use treepie::search::{Collapse, IdfScope, Relation, TotalMode};
use treepie::{
    After, Budget, DocId, Error, ErrorKind, Hits, Index, Schema, SearchBuilder, SearchRequest,
    Searcher,
};

use super::{
    DatesArgs, batches, bm25_parameters,
    calibrate::CostsArgs,
    check_field, combined_fields, explain, facet, facet_tree,
    fusion::FusionArgs,
    in_query, is_state, lossy_text_or_stdin, open_with,
    page::{HitsPage, mark, say_why_stopped, shown_fields},
    parse_leniently, parse_query, say_remarks,
    score::{Scoring, sort_keys},
    statistics, text_or_stdin,
    vectors::{VectorArgs, filtered_by},
    why_empty,
};
use crate::{
    args::{self, Global, NOT_UTF8},
    failure::{Exit, Outcome, read_text, usage, warn},
    output::{Format, Output},
    slow::SlowArgs,
};

/// Find documents: hits, counts, facets.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "More: `treepie search --help`, `treepie help query`, `treepie help facets`.",
    after_long_help = "Examples:
  treepie search titles.tp 'history AND (france OR spain) -war' --facet qualifier --limit 10
  treepie search titles.tp london --count
  treepie search papers.tp 'boundary layer' --combined title^3,body
  treepie search shop.tp 'brand:acme' --fields title,price --format jsonl
  treepie search shop.tp 'price:<20' --sort since:desc,price
  treepie search shop.tp lamp --boost sales:log1p --decay since:now,30d
  treepie search shop.tp lamp --score '_score + 2 * (stock > 0)' --explain
  treepie search shop.tp lamp --select brand=Acme --select brand=Bolt --facet brand --facet color
  treepie search shop.tp lamp --format compact --limit 20
  treepie search cities.tp museum --facet location:tile=auto:200 --format geojson > map.json
  treepie search shop.tp lamp --facet brand --facet brand/color:3 --stats brand/price --top-hits brand
  treepie search papers.tp 'graph search' --knn embedding=@q.json:10
  treepie search titles.tp 'a* OR b*' --slow-ms 50 --log slow.jsonl
  echo 'qualifier:\"American football\"' | treepie search titles.tp -

Words side by side are alternatives, + before one makes it a must, - excludes it; AND, OR, NOT and
parentheses combine; field:word looks in one field, field:\"the value\" for a whole keyword, field:*
for documents that have the field, * for all.

Exit status: 0 found, 1 nothing found, 2 error."
)]
pub(crate) struct Args {
    /// The index.
    index: PathBuf,
    /// The query, or - for standard input.
    #[arg(allow_hyphen_values = true, required_unless_present = "request")]
    pub(crate) query: Option<String>,
    #[command(flatten)]
    shape: PlanArgs,
    /// Only count the documents that match.
    #[arg(help_heading = "Count")]
    #[arg(long, conflicts_with_all = ["limit", "offset", "facets", "statistics_of", "top_hits", "collapse", "total", "fields", "scores", "explain", "pattern_terms", "sort", "after", "score", "boosts", "decays"])]
    count: bool,
    /// Stored fields to print [default: all].
    #[arg(help_heading = "Show")]
    #[arg(long, value_delimiter = ',', value_name = "FIELD,…")]
    fields: Option<Vec<String>>,
    /// Do not show where hits match.
    ///
    /// Otherwise words are in colour and of long texts the best part is shown; json and jsonl have `highlights`, with
    /// <em> around the words.
    #[arg(help_heading = "Show", hide_short_help = true)]
    #[arg(long)]
    no_highlight: bool,
    /// Print what was found until --timeout ended the search.
    ///
    /// The total is a lower bound then, and the answer says so.
    #[arg(help_heading = "Limits", hide_short_help = true)]
    #[arg(long, requires = "timeout")]
    partial: bool,
    /// Also print scores, or values sorted by.
    ///
    /// Only text needs it; other formats have them.
    #[arg(help_heading = "Show", hide_short_help = true)]
    #[arg(long)]
    scores: bool,
    /// Also print the plan with what happened.
    #[arg(help_heading = "Show")]
    #[arg(long)]
    explain: bool,
    /// Print in this format.
    ///
    /// Facets come with text, compact and json, or alone with --limit 0.
    #[arg(help_heading = "Show")]
    #[arg(long, value_enum, default_value_t)]
    format: PageFormat,
    #[command(flatten)]
    slow: SlowArgs,
}

/// Format of a page of results.
#[derive(Clone, Copy, Debug)]
enum PageFormat {
    Text(Format),
    /// A line for each hit.
    Compact,
    /// Features of a map.
    GeoJson,
    /// Record batches.
    Arrow,
}

impl Default for PageFormat {
    fn default() -> Self {
        PageFormat::Text(Format::default())
    }
}

impl clap::ValueEnum for PageFormat {
    fn value_variants<'v>() -> &'v [Self] {
        use PageFormat::{Arrow, Compact, GeoJson, Text};
        &[
            Text(Format::Text),
            Compact,
            Text(Format::Json),
            Text(Format::Jsonl),
            Text(Format::Tsv),
            Text(Format::Csv),
            GeoJson,
            Arrow,
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            PageFormat::Text(format) => format.to_possible_value(),
            PageFormat::Compact => {
                let help = "A line for each hit: its number, score or what it is sorted by, name and best passage";
                Some(PossibleValue::new("compact").help(help))
            }
            PageFormat::GeoJson => {
                let help = "A collection of features for maps: hits with their points, and the cells of one facet of a grid";
                Some(PossibleValue::new("geojson").help(help))
            }
            PageFormat::Arrow => {
                let help = "A stream of record batches of Apache Arrow, to a file or a pipe; in builds with the feature `arrow`";
                Some(PossibleValue::new("arrow").help(help))
            }
        }
    }
}

impl PageFormat {
    /// Format of all but the hits; `None` of record batches.
    fn of_text(self) -> Option<Format> {
        match self {
            PageFormat::Text(format) => Some(format),
            PageFormat::Compact => Some(Format::Text),
            PageFormat::GeoJson => Some(Format::Json),
            PageFormat::Arrow => None,
        }
    }
}

/// The options that shape the plan, of `search` and `explain` alike.
#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// Search what a file of JSON asks for, or - for standard input.
    ///
    /// It replaces a query and the options of a page, as the log of --slow-ms has it: {"query": "lamp",
    /// "sort": ["price:desc"]}. Its schema is that of `treepie plan schema --request`.
    #[arg(help_heading = "Find", hide_short_help = true)]
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["query", "limit", "offset", "facets", "statistics_of", "top_hits", "selections", "collapse", "total", "and", "lenient", "params", "knn", "fuse", "lists", "window", "rerank", "combined", "pattern_terms", "statistics", "sort", "after", "score", "boosts", "decays", "bm25", "timeout", "max_memory"]
    )]
    pub(crate) request: Option<PathBuf>,
    /// Require all words, not any of them.
    #[arg(help_heading = "Find")]
    #[arg(long)]
    pub(crate) and: bool,
    /// Read the query as a search box does.
    ///
    /// Words are made of what is no valid syntax, and a remark says so; nothing is refused.
    #[arg(help_heading = "Find")]
    #[arg(long)]
    lenient: bool,
    /// Find only documents with this value.
    ///
    /// The value is exactly as written: brand=Acme. Any of several of one field; may be given several times. The facet
    /// of a field is counted without its own selection, to show what else there is.
    #[arg(help_heading = "Find")]
    #[arg(long = "select", value_name = "FIELD=VALUE")]
    selections: Vec<String>,
    /// Read rules of synonyms for the words of a field from FILE.
    ///
    /// They are for the words of queries: `usa, united states` makes both stand for both, `tv => television`
    /// replaces; one a line. May be given several times.
    #[arg(help_heading = "Find", hide_short_help = true)]
    #[arg(long, value_name = "FIELD:FILE")]
    pub(crate) synonyms: Vec<String>,
    #[command(flatten)]
    vectors: VectorArgs,
    #[command(flatten)]
    fusion: FusionArgs,
    #[command(flatten)]
    dates: DatesArgs,
    /// Sort by fields, _score or an expression.
    ///
    /// Sort by fields of numbers, dates, booleans or keywords, the first first: price:desc or -price, or
    /// price:asc:missing_first; keywords also with name:natural, numbers in them by value, or name:collate=de, by the
    /// rules of a language; by _score, the best first; names with signs in them between backquotes, '`price
    /// (EUR)`:desc'; by an expression in parentheses, '(price / weight):desc'; or by random:SEED, in no order but the
    /// same each time.
    #[arg(help_heading = "Order")]
    #[arg(long, allow_hyphen_values = true, value_name = "KEY,…")]
    sort: Vec<String>,
    #[command(flatten)]
    pub(crate) scoring: Scoring,
    /// Show only the best hits of each value of a field.
    ///
    /// One of each value, or the best N. With missing=each every document without a value is one of its own,
    /// otherwise they are one together.
    #[arg(help_heading = "Order", hide_short_help = true)]
    #[arg(long, value_name = "FIELD[:N][,missing=each]")]
    collapse: Option<String>,
    /// Score fields as if they were one (BM25F).
    ///
    /// For words that name no field; each field has its weight.
    #[arg(help_heading = "Order", hide_short_help = true)]
    #[arg(long, value_delimiter = ',', value_name = "FIELD[^WEIGHT],…")]
    combined: Vec<String>,
    /// Score patterns by their N best terms.
    ///
    /// Prefixes, wildcards, regular expressions and fuzzy words, whose documents otherwise all score alike.
    #[arg(help_heading = "Order", hide_short_help = true)]
    #[arg(long, default_value_t = 0, value_parser = args::whole_number::<u32>, allow_negative_numbers = true, value_name = "N")]
    pattern_terms: u32,
    /// Score by the statistics of the index or of segments.
    ///
    /// Whether words are as rare and texts as long as in the whole index, or in the segment of a document.
    #[arg(help_heading = "Order", hide_short_help = true)]
    #[arg(long, value_enum, default_value_t)]
    statistics: StatisticsOf,
    /// Parameters of the ranking by a field [default: 1.2,0.75].
    ///
    /// May be given several times.
    #[arg(help_heading = "Order", hide_short_help = true)]
    #[arg(long, value_name = "FIELD:K1,B")]
    bm25: Vec<String>,
    /// Count exactly, up to N, or not.
    #[arg(help_heading = "Count")]
    #[arg(long, default_value = "exact", value_name = "exact|N|none")]
    total: String,
    /// Count values, ranges or dates of a field.
    ///
    /// Count the most frequent values of a field among the matches, brand:10, ranges of values,
    /// price:..10,10..50,50.. (from the first on, before the second), steps of one width, price:step=10, at most N
    /// ranges that suit, price:auto=N, N ranges that as many are in, price:quantiles=N, or intervals of the calendar,
    /// since:month, of --zone or the zone of the field, or another, since:day,zone=Europe/Berlin; may be given
    /// several times. Ends of ranges of dates are as in queries: since:now-7d/d..now. Values also with by=value or
    /// by=value:desc for another order, min=N for those that many documents have (0: also of none), from=VALUE and
    /// to=VALUE for numbers and dates, and prefix=TEXT, contains=TEXT (in whatever case) and regex=PATTERN:
    /// brand:10,by=value,prefix=a; of paths what is right below one: place:under=home/kitchen, and the uppermost:
    /// place:under=. Of points the cells of a grid that they are in: location:tile=8, tiles of maps of this zoom,
    /// location:tile=auto:200, the smallest tiles of which at most so many have any, and location:geohash=5, and rings about a point,
    /// location:near=48.8566/2.3522,..1km,1km..5km,5km... A facet in each bucket of another names that before it: brand/color:3
    #[arg(help_heading = "Count")]
    #[arg(long = "facet", value_name = "FIELD[:WHAT]")]
    facets: Vec<String>,
    /// Sum, extremes and mean of a field.
    ///
    /// Sum, extremes, mean and deviation of a field of numbers or dates among the matches; with :distinct also how
    /// many different values there are, with :p50,p95 also percentiles; may be given several times. Of several values
    /// of a document each different one counts once. Of a field of points their number, the box around them and the
    /// centroid. A name with : or / in it stands between backquotes. In each
    /// bucket of a facet: brand/price
    #[arg(help_heading = "Count")]
    #[arg(long = "stats", value_name = "FIELD[:WHAT]")]
    statistics_of: Vec<String>,
    /// Show the best documents of each bucket of a facet.
    ///
    /// One of each, or N, in the order of the search; may be given several times.
    #[arg(help_heading = "Count", hide_short_help = true)]
    #[arg(long = "top-hits", value_name = "FIELD[:N]")]
    top_hits: Vec<String>,
    /// Print at most N.
    #[arg(help_heading = "Show")]
    #[arg(long, default_value_t = 10, value_parser = args::whole_number::<u64>, allow_negative_numbers = true, value_name = "N")]
    pub(crate) limit: u64,
    /// Leave out the first N hits.
    #[arg(help_heading = "Show")]
    #[arg(long, default_value_t = 0, value_parser = args::whole_number::<u64>, allow_negative_numbers = true, value_name = "N")]
    offset: u64,
    /// Print only hits after this one, the last of an earlier page.
    ///
    /// By its score and number as json has them; with --sort by the `sort` that json has, as [12.5,null]:17.
    #[arg(help_heading = "Show", hide_short_help = true)]
    #[arg(long, value_name = "SCORE:DOC", conflicts_with = "offset")]
    after: Option<String>,
    /// End with an error after so long, as 2s or 200ms.
    #[arg(help_heading = "Limits")]
    #[arg(long, value_parser = args::duration, value_name = "TIME")]
    timeout: Option<Duration>,
    /// Use at most so much memory [default: 256MiB].
    #[arg(help_heading = "Limits", hide_short_help = true)]
    #[arg(long, value_parser = args::byte_size, value_name = "SIZE")]
    max_memory: Option<u64>,
    #[command(flatten)]
    pub(super) costs: CostsArgs,
}

/// Whose statistics scores are computed of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum StatisticsOf {
    /// The whole index.
    #[default]
    Snapshot,
    /// Each segment by itself.
    Segment,
}

/// Query that is searched for.
pub(crate) enum Asked {
    /// This query, with the options of the command line.
    Typed(String),
    /// A request, which has all of it.
    Request(Box<SearchRequest<'static>>),
}

impl Asked {
    /// The query as it is written.
    pub(crate) fn text(&self) -> String {
        match self {
            Asked::Typed(text) => text.clone(),
            Asked::Request(request) => request.query().to_string(),
        }
    }
}

impl PlanArgs {
    /// Budget that is left after a search that took so long.
    fn time_left(&self, took: Duration) -> Budget {
        match self.timeout {
            Some(timeout) => Budget::new().timeout(timeout.saturating_sub(took)),
            None => Budget::new(),
        }
    }

    /// Reads what was typed.
    pub(crate) fn query(&self, text: &str, schema: &Schema, global: Global) -> Outcome<Query> {
        let fields = combined_fields(&self.combined)?;
        fields.iter().try_for_each(|(name, _)| check_field("--combined", name, schema))?;
        let query = match self.lenient {
            true => {
                let read = parse_leniently(text, self.and, schema, &self.dates)?;
                if !global.quiet {
                    say_remarks(&read.remarks);
                }
                read.query
            }
            false => parse_query(text, self.and, schema, &self.dates)?,
        };
        self.vectors.with_parameters(query.in_combined_fields(fields).in_copies(schema)?)
    }

    /// Request of a file, or else the query that was typed.
    ///
    /// `typed` is the query of the command line.
    pub(crate) fn asked(&self, typed: Option<&str>, global: Global) -> Outcome<Asked> {
        let Some(path) = &self.request else {
            let (typed, what) = (typed.unwrap_or_default(), "reading the query");
            if !self.lenient {
                return Ok(Asked::Typed(text_or_stdin(typed, what)?));
            }
            let (text, is_whole) = lossy_text_or_stdin(typed, what)?;
            if !is_whole && !global.quiet {
                warn(NOT_UTF8);
            }
            return Ok(Asked::Typed(text));
        };
        let what = "reading a request";
        let text = match path.to_str() {
            Some("-") => text_or_stdin("-", what)?,
            _ => read_text(what, path)?,
        };
        let request = SearchRequest::from_json(&text).map_err(|error| error.in_file(path))?;
        Ok(Asked::Request(Box::new(request)))
    }

    /// A search for what was asked.
    pub(crate) fn search<'s>(
        &self,
        asked: &'s Asked,
        searcher: &'s Searcher,
        global: Global,
    ) -> Outcome<SearchBuilder<'s>> {
        let schema = searcher.schema();
        match asked {
            Asked::Typed(text) => {
                let query = self.query(text, schema, global)?;
                let nearest = self.vectors.nearest()?;
                let (query, beside) = match self.fusion.is_given() {
                    true => (query, nearest),
                    false => (filtered_by(query, nearest), vec![]),
                };
                let request = SearchRequest::new(&query).into_owned();
                let search = self.fusion.apply(searcher.search_for(request), beside)?;
                match self.selections.is_empty() {
                    true => self.apply(search, schema),
                    false => self.apply(self.selected(search, searcher)?, schema),
                }
            }
            Asked::Request(request) => {
                let dates = self.dates.dates();
                let read = |query: Query| query.at(schema, &dates)?.in_copies(schema);
                let query = read(request.query().clone())?;
                let whole = SearchRequest::clone(request).with_query(query);
                Ok(searcher.search_for(match request.fusion() {
                    Some(fusion) => whole.fuse(fusion.clone().map_queries(read)?),
                    None => whole,
                }))
            }
        }
    }

    /// A search for values that are selected, too.
    fn selected<'s>(
        &self,
        mut search: SearchBuilder<'s>,
        searcher: &'s Searcher,
    ) -> Outcome<SearchBuilder<'s>> {
        for typed in &self.selections {
            let Some((field, value)) = typed.split_once('=') else {
                let wrong = usage("reading --select").expected("FIELD=VALUE");
                return Err(wrong.found(format!("'{typed}'")).into());
            };
            search = search.select(field, [value]);
        }
        let request = search.request().clone();
        Ok(searcher.search_for(request.selected_at(searcher.schema(), &self.dates.dates())?))
    }

    /// Gives these options to a search.
    fn apply<'s>(
        &self,
        mut search: SearchBuilder<'s>,
        schema: &Schema,
    ) -> Outcome<SearchBuilder<'s>> {
        let dates = self.dates.dates();
        for facet in facet_tree::read(&self.facets, &self.statistics_of, &self.top_hits)? {
            search = search.with_facet(facet.at(schema, &dates)?);
        }
        if let Some(typed) = &self.collapse {
            search = search.collapse(collapse(typed)?);
        }
        let total = match self.total.as_str() {
            "exact" => TotalMode::Exact,
            "none" => TotalMode::Unknown,
            number => TotalMode::UpTo(args::whole_number(number).map_err(|_| {
                usage("reading --total")
                    .expected("exact, none or a number")
                    .found(format!("'{number}'"))
            })?),
        };
        for (field, k1, b) in bm25_parameters(&self.bm25)? {
            check_field("--bm25", field, schema)?;
            search = search.bm25(field, k1, b);
        }
        let (now, mut keys) = (self.dates.now(), vec![]);
        for typed in &self.sort {
            keys.extend(sort_keys(typed, schema, now)?);
        }
        search = search.sort(keys);
        for function in self.scoring.functions(schema, &self.dates)? {
            search = search.score_function(function);
        }
        if let Some(typed) = &self.after {
            search = match self.sort.is_empty() {
                true => {
                    let (score, doc) = after(typed)?;
                    search.after(After::score(score, doc))
                }
                false => {
                    let (values, doc) = after_values(typed)?;
                    search.after(After::values(values, doc))
                }
            };
        }
        if let Some(timeout) = self.timeout {
            search = search.timeout(timeout);
        }
        if let Some(bytes) = self.max_memory {
            search = search.budget(Budget::new().memory_bytes(bytes));
        }
        let search = search.limit(self.limit).offset(self.offset).total(total);
        Ok(search.pattern_terms(self.pattern_terms).statistics(match self.statistics {
            StatisticsOf::Snapshot => IdfScope::Snapshot,
            StatisticsOf::Segment => IdfScope::Segment,
        }))
    }
}

/// `brand`, `brand:2`, `brand:2,missing=each`.
fn collapse(typed: &str) -> Outcome<Collapse> {
    let wrong = || {
        let wrong = usage("reading --collapse").expected("FIELD, FIELD:N or FIELD:N,missing=each");
        wrong.found(format!("'{typed}'"))
    };
    let (field_and_n, option) = typed.split_once(',').unwrap_or((typed, "missing=one"));
    let (field, n) = field_and_n.split_once(':').unwrap_or((field_and_n, "1"));
    let n = n.parse().ok().filter(|n| *n > 0).ok_or_else(wrong)?;
    let collapse = Collapse::by(field).keep(n);
    match option {
        "missing=one" => Ok(collapse),
        "missing=each" => Ok(collapse.missing_alone()),
        _ => Err(wrong().into()),
    }
}

/// `11.83:15212`.
fn after(typed: &str) -> Outcome<(f32, DocId)> {
    let parts = typed.split_once(':').and_then(|(score, doc)| {
        let score: f32 = score.parse().ok()?;
        let is_score = score.is_finite() && score >= 0.0;
        Some((score, DocId(args::whole_number(doc).ok()?))).filter(|_| is_score)
    });
    let wrong = usage("reading --after").expected("SCORE:DOC").found(format!("'{typed}'"));
    Ok(parts.ok_or(wrong)?)
}

/// `[12.5,null]:15212`.
fn after_values(typed: &str) -> Outcome<(Vec<treepie::Value>, DocId)> {
    let value = |value| match value {
        Value::Null => Some(treepie::Value::Null),
        Value::Bool(is_true) => Some(is_true.into()),
        // With all of its digits.
        Value::Number(number) => Some(number.to_string().into()),
        Value::String(text) => Some(text.into()),
        Value::Array(_) | Value::Object(_) => None,
    };
    let parts = typed.rsplit_once(':').and_then(|(values, doc)| {
        let values: Vec<Value> = serde_json::from_str(values).ok()?;
        let values = values.into_iter().map(value).collect::<Option<_>>()?;
        Some((values, DocId(args::whole_number(doc).ok()?)))
    });
    let wrong = usage("reading --after").expected("[VALUE,…]:DOC").found(format!("'{typed}'"));
    Ok(parts.ok_or(wrong)?)
}

pub(crate) fn run(args: Args, global: Global) -> Outcome {
    let format = args.format.of_text();
    let rows = !matches!(format, Some(Format::Text | Format::Json));
    let is_map = matches!(args.format, PageFormat::GeoJson);
    if is_map && (args.count || args.explain || !args.shape.statistics_of.is_empty()) {
        return Err(not_on_a_map().into());
    }
    if rows && args.explain {
        return Err(usage("--explain prints with --format text, compact or json only").into());
    }
    if rows && !args.shape.statistics_of.is_empty() && !args.shape.facets.is_empty() {
        return Err(usage("facets and statistics do not fit into one table")
            .hint("use --format text or json, or one of --facet and --stats")
            .into());
    }
    let has_facets = !args.shape.facets.is_empty() || !args.shape.statistics_of.is_empty();
    if rows && has_facets && args.shape.limit > 0 {
        return Err(usage("hits and facets do not fit into one table")
            .hint("use --format text, compact or json, or --limit 0 for facets or statistics alone")
            .into());
    }
    if rows && !args.shape.top_hits.is_empty() {
        return Err(usage("--top-hits prints with --format text, compact or json only").into());
    }
    if format.is_none() {
        batches::check(args.count, &args.shape.facets, &args.shape.statistics_of)?;
    }
    let asked = args.shape.asked(args.query.as_deref(), global)?;
    let text = asked.text();
    let options = args.slow.listen(Index::options())?;
    let options = args.shape.costs.apply(options, &args.index)?;
    let searcher = open_with(options, &args.index, &args.shape.synonyms)?.searcher()?;
    let mut out = global.output();
    let mut search = args.shape.search(&asked, &searcher, global)?;
    let request = search.request().clone();
    if rows && args.shape.request.is_some() && !request.facets().is_empty() {
        return Err(
            usage("facets of a request print with --format text, compact or json only").into()
        );
    }
    let is_count = args.count || request.is_count();
    if is_map && is_count && request.facets().is_empty() {
        return Err(not_on_a_map().into());
    }
    if args.partial {
        search = search.partial();
    }
    if let (true, Some(format)) = (is_count && request.facets().is_empty(), format) {
        let found = search.count_only().run().map_err(in_query(&text))?;
        print_count(&mut out, format, &found)?;
        out.flush()?;
        let is_empty = found.total.value == 0 && found.stopped.is_none();
        return Ok(if is_empty { Exit::NothingFound } else { Exit::Done });
    }
    if let Some(fields) = &args.fields {
        search = search.fields(fields.iter().map(String::as_str));
    }
    let Some(format) = format else {
        if args.fields.is_none() && request.fields().is_none() {
            let fields = shown_fields(searcher.schema(), None).into_iter();
            let fields = fields.filter(|field| !is_state(field)).map(|field| field.name.as_str());
            search = search.fields(fields);
        }
        let answer = batches::answer(searcher.schema(), search).map_err(in_query(&text));
        let (found, stream) = answer?;
        out.write_all(&stream)?;
        out.flush()?;
        return Ok(exit_of(&found, request.limit(), rows));
    };
    let (found, plan) = match args.explain {
        // Plan and hits are of one run: another has other times, and is stopped elsewhere.
        true => search.explainer().run().map(|(found, plan)| (found, Some(plan))),
        false => search.run().map(|found| (found, None)),
    }
    .map_err(in_query(&text))?;
    let fields = args.fields.as_deref().or(request.fields());
    let fields = shown_fields(searcher.schema(), fields);
    let marked = match args.no_highlight || found.hits.is_empty() || found.stopped.is_some() {
        true => None,
        false => {
            let marked = args.shape.time_left(found.took).run(|| {
                let highlighter = searcher.highlighter(request.query())?;
                mark(&highlighter, &found.hits, &fields)
            });
            match marked {
                Err(error) if args.partial && error.kind() == ErrorKind::Timeout => {
                    warn("no time was left to show where the hits match");
                    None
                }
                marked => Some(marked.map_err(in_query(&text))?),
            }
        }
    };
    let (n_keys, is_grouped) = (request.sort().len(), request.is_collapsed());
    let with_scores = args.scores;
    let page = HitsPage { found: &found, fields, marked, n_keys, is_grouped, with_scores };
    match format {
        Format::Text => {
            match args.format {
                PageFormat::Compact => page.print_compact(&mut out)?,
                _ => page.print_text(&mut out)?,
            }
            if let Some(plan) = &plan {
                writeln!(out)?;
                explain::print_text(&mut out, plan, false)?;
            }
        }
        Format::Json if is_map => out.json_line(&page.to_geojson(searcher.schema())?)?,
        Format::Json => {
            let mut object = page.to_json(&text);
            if let (Some(plan), Some(object)) = (&plan, object.as_object_mut()) {
                object.insert("explain".into(), explain::to_value(plan)?);
            }
            out.json_line(&object)?;
        }
        _ if !args.shape.statistics_of.is_empty() => {
            let typed = &args.shape.statistics_of;
            statistics::print_rows(&mut out, format, &found.facets, typed)?;
        }
        _ if !found.facets.is_empty() => {
            let is_nested = facet::are_nested(&args.shape.facets);
            facet::print_rows(&mut out, format, &found.facets, is_nested)?;
        }
        _ => page.print_hit_rows(&mut out, format)?,
    }
    out.flush()?;
    let exit = exit_of(&found, request.limit(), rows);
    // Programs read the status; somebody at a terminal wants to know what to change. A log of slow searches has none of
    // those that look for the reason.
    let is_for_people = matches!(format, Format::Text) && !args.slow.is_given();
    if exit == Exit::NothingFound && is_for_people && !global.quiet {
        warn(why_empty::in_one_line(searcher.search_for(request)));
    }
    Ok(exit)
}

fn not_on_a_map() -> Error {
    usage("numbers, statistics and plans have no place on a map")
        .hint("--format json prints --count, --stats and --explain")
}

/// Whether anything was found. Rows do not say themselves that there may be more.
fn exit_of(found: &Hits, limit: u64, rows: bool) -> Exit {
    if let Some(stopped) = found.stopped.filter(|_| rows) {
        warn(format!("{stopped}: there may be more"));
    }
    // If nothing was counted and no hit was asked for, nothing is known to be missing.
    let is_uncounted = found.total.relation == Relation::Unknown && limit == 0;
    let unknown = is_uncounted || found.stopped.is_some();
    if found.total.value > 0 || unknown { Exit::Done } else { Exit::NothingFound }
}

fn print_count(out: &mut Output, format: Format, found: &Hits) -> io::Result<()> {
    let count = found.total.value;
    match format {
        Format::Json | Format::Jsonl => {
            let mut object = json!({ "count": count });
            say_why_stopped(&mut object, found);
            return out.json_line(&object);
        }
        Format::Text => writeln!(out, "{count}")?,
        Format::Tsv | Format::Csv => writeln!(out, "count\n{count}")?,
    }
    if let Some(stopped) = found.stopped {
        warn(format!("{stopped}: there may be more"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hits_are_grouped_by_is_read() {
        assert_eq!(collapse("brand").unwrap(), Collapse::by("brand"));
        let alone = Collapse::by("brand").keep(3).missing_alone();
        assert_eq!(collapse("brand:3,missing=each").unwrap(), alone);
        assert_eq!(collapse("brand,missing=one").unwrap(), Collapse::by("brand"));
        for typed in ["brand:0", "brand:x", "brand,missing=two", "brand:2,each"] {
            assert!(collapse(typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn the_place_to_go_on_after_is_read() {
        assert_eq!(after("0.6357372999191284:7").unwrap(), (0.635_737_3, DocId(7)));
        for typed in ["7", "1.5:", "x:7", "1.5:-1", "-1:7", "NaN:7", "inf:7"] {
            assert!(after(typed).is_err(), "{typed}");
        }
    }
}
