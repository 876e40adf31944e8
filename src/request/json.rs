//! Requests as JSON, and back.

use super::facet::{Facet, FacetWhat, StatisticsOptions};
use super::ranges::FacetRange;
use super::value_options::ValueOptions;
use super::{
    After, Collapse, CollectionStatistics, Fusion, IdfScope, Order, RequestLimits, SearchRequest,
    Selection, TotalMode,
};
use crate::error::Result;
use crate::function::ScoreFunction;
use crate::geo::{GeoPoint, GridWanted};
use crate::ids::DocId;
use crate::json::{Json, Reader};
use crate::limits::{self, Limits};
use crate::plan::{FacetMethod, FacetOrder};
use crate::query::{ParseOptions, Query, parse};
use crate::sort::SortKey;
use crate::value::{Interval, Value, Zone};
use crate::weight::bm25::Parameters;
use std::borrow::Cow;
use std::time::Duration;

/// Version of the JSON of requests.
pub const REQUEST_SCHEMA_VERSION: u32 = 1;
/// JSON Schema of what [`SearchRequest::to_json`] writes and [`SearchRequest::from_json`] reads.
pub const REQUEST_JSON_SCHEMA: &str = include_str!("../docs/request.schema.json");

/// Subject that is read, for messages.
const A_REQUEST: &str = "a request";

const ORDERS: [(&str, Order); 2] = [("score", Order::Score), ("document", Order::Document)];
const STATISTICS: [(&str, IdfScope); 2] =
    [("snapshot", IdfScope::Snapshot), ("segment", IdfScope::Segment)];
const FACET_ORDERS: [(&str, FacetOrder); 3] = [
    ("count", FacetOrder::Count),
    ("value", FacetOrder::Value),
    ("value_descending", FacetOrder::ValueDescending),
];
const METHODS: [(&str, FacetMethod); 4] = [
    ("document_frequency", FacetMethod::DocumentFrequency),
    ("most_frequent_first", FacetMethod::MostFrequentFirst),
    ("dictionary", FacetMethod::Dictionary),
    ("column", FacetMethod::Column),
];
const FACET_KINDS: &str = "\"values\", \"ranges\", \"intervals\", \"statistics\", \"steps\", \"auto_ranges\", \"quantiles\", \"grid\" or \"rings\"";

impl SearchRequest<'_> {
    /// Returns the request as JSON, an object on one line. It has the query in the query language, with vectors beside it, and the
    /// options that are not the default. Its shape is [`REQUEST_JSON_SCHEMA`].
    ///
    /// ```
    /// use treepie::query::Query;
    /// use treepie::SearchRequest;
    ///
    /// let query = Query::word("paris");
    /// let request = SearchRequest::new(&query);
    /// assert_eq!(request.to_json()?, r#"{"schema_version":1,"query":"paris"}"#);
    /// assert_eq!(SearchRequest::from_json(&request.to_json()?)?, request);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if it has a closure, which is no data.
    pub fn to_json(&self) -> Result<String> {
        let mut json = Json::default();
        let mut written = Ok(());
        json.object(|json| written = self.write_json(json));
        written.map(|()| json.out)
    }

    fn write_json(&self, json: &mut Json) -> Result<()> {
        // By name, so that none that is new is forgotten.
        let SearchRequest {
            query,
            limit,
            offset,
            total,
            count_only,
            fields,
            facets,
            selections,
            collapse,
            fusion,
            order,
            after,
            sort,
            parameters,
            score_functions,
            pattern_terms,
            statistics,
            limits,
        } = self;
        let default = SearchRequest::of(Cow::Owned(Query::All));
        json.field("schema_version").number(REQUEST_SCHEMA_VERSION);
        write_query(json, query);
        if *limit != default.limit {
            json.field("limit").number(limit);
        }
        if *offset != default.offset {
            json.field("offset").number(offset);
        }
        match total {
            TotalMode::Exact => {}
            TotalMode::UpTo(up_to) => json.field("total").number(up_to),
            TotalMode::Unknown => json.field("total").string("unknown"),
        }
        if *count_only {
            json.field("count_only").boolean(true);
        }
        if let Some(fields) = fields {
            json.field("fields").array(fields, |json, name| json.string(name));
        }
        if *order != default.order {
            json.field("order").string(name_of(&ORDERS, order));
        }
        write_all(json, "sort", sort, |json, key| key.write_json(json))?;
        match after {
            None => {}
            Some(After::Score { score, doc }) => json.field("after").object(|json| {
                json.field("score").float(score);
                json.field("doc").number(doc.0);
            }),
            Some(After::Values { values, doc }) => json.field("after_values").object(|json| {
                json.field("values").array(values, |json, value| value.write_json(json));
                json.field("doc").number(doc.0);
            }),
        }
        write_all(json, "facets", facets, |json, facet| {
            facet.write_json(json);
            Ok(())
        })?;
        write_all(json, "selections", selections, |json, selection| {
            json.object(|json| {
                json.field("field").string(&selection.field);
                json.field("values").array(&selection.values, |json, it| it.write_json(json));
                if let Some(query) = &selection.read {
                    json.field("query").string(&query.to_string());
                }
            });
            Ok(())
        })?;
        if let Some(Collapse { field, keep, missing_alone }) = collapse.as_deref() {
            json.field("collapse").object(|json| {
                json.field("field").string(field);
                json.field("keep").number(keep);
                json.field("missing_alone").boolean(*missing_alone);
            });
        }
        if let Some(fusion) = fusion {
            json.field("fusion").object(|json| fusion.write_json(json));
        }
        write_all(json, "bm25", parameters, |json, (field, Parameters { k1, b })| {
            json.object(|json| {
                json.field("field").string(field);
                json.field("k1").float(k1);
                json.field("b").float(b);
            });
            Ok(())
        })?;
        write_all(json, "score_functions", score_functions, |json, it| it.write_json(json))?;
        if *pattern_terms != default.pattern_terms {
            json.field("pattern_terms").number(pattern_terms);
        }
        if *statistics != default.statistics {
            match statistics {
                IdfScope::Collection(given) => given.write_json(json.field("statistics")),
                own => json.field("statistics").string(name_of(&STATISTICS, own)),
            }
        }
        if *limits != default.limits {
            json.field("limits").object(|json| limits.write_json(json));
        }
        Ok(())
    }
}

impl RequestLimits {
    fn write_json(&self, json: &mut Json) {
        if let Some(timeout) = self.timeout {
            let nanos = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
            json.field("timeout_ns").number(nanos);
        }
        if let Some(bytes) = self.memory_bytes {
            json.field("memory_bytes").number(bytes);
        }
        if self.partial {
            json.field("partial").boolean(true);
        }
    }

    fn read_json(reader: &mut Reader<'_>) -> Result<Self> {
        let mut limits = RequestLimits::default();
        reader.object(&[], |reader, name| {
            match name {
                "timeout_ns" => limits.timeout = Some(Duration::from_nanos(reader.whole()?)),
                "memory_bytes" => limits.memory_bytes = Some(reader.whole()?),
                "partial" => limits.partial = reader.boolean()?,
                _ => {
                    return unknown(
                        reader,
                        name,
                        "\"timeout_ns\", \"memory_bytes\" or \"partial\"",
                    );
                }
            }
            Ok(true)
        })?;
        Ok(limits)
    }
}

impl SearchRequest<'static> {
    /// A request of JSON: what [`to_json`](Self::to_json) writes, or what a person wrote. All names but `query` may be left out,
    /// and a key of `sort` may be a text as the command line has it, such as `"price:desc"`.
    ///
    /// A query that no text means, as an `And` of one, comes back as an equivalent one. Names under `vectors` stand for numbers in
    /// the query, as `$v` does of `{"query": "embedding:nearest($v, 10)", "vectors": {"v": [0.5, -1]}}`.
    ///
    /// # Errors
    ///
    /// With the line, the column and the path that leads there: [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) for what is
    /// not JSON, for a name that is not known, and for a value of the wrong type;
    /// [`ErrorKind::Query`](crate::ErrorKind::Query) for a text that is no query;
    /// [`ErrorKind::UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion) for another [version](REQUEST_SCHEMA_VERSION);
    /// [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded) for a text that is too large, and for queries beyond the
    /// default limits: those of an index with others are read [within these](Self::from_json_within).
    pub fn from_json(text: &str) -> Result<Self> {
        Self::from_json_within(text, Limits::DEFAULT)
    }

    /// Reads a request whose queries may be as large as limits say. They are those of the
    /// [index](crate::Index::with_limits) that it was asked of, or will be.
    ///
    /// ```
    /// use treepie::query::Query;
    /// use treepie::{Limits, SearchRequest};
    ///
    /// let mut limits = Limits::default();
    /// limits.query_clauses = 2_000;
    /// let query = Query::any_of((0..1_500).map(|nth| Query::word(format!("w{nth}"))));
    /// let written = SearchRequest::new(&query).to_json()?;
    /// assert!(SearchRequest::from_json(&written).is_err());
    /// assert_eq!(SearchRequest::from_json_within(&written, limits)?.query(), &query);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails like [`from_json`](Self::from_json), and [`ErrorKind::Usage`](crate::ErrorKind::Usage) for limits that no index can have.
    pub fn from_json_within(text: &str, limits: Limits) -> Result<Self> {
        let _limits = limits.checked()?.enter();
        let mut reader = Reader::new(text, A_REQUEST)?;
        let mut request = SearchRequest::of(Cow::Owned(Query::Nothing));
        let mut vectors = vec![];
        reader.object(&["query"], |reader, name| {
            match name {
                "schema_version" => reader.version(REQUEST_SCHEMA_VERSION, "a request")?,
                "query" => request.query = Cow::Owned(read_query(reader)?),
                "vectors" => vectors = read_vectors(reader)?,
                "limit" => request.limit = reader.whole()?,
                "offset" => request.offset = reader.whole()?,
                "total" => request.total = read_total(reader)?,
                "count_only" => request.count_only = reader.boolean()?,
                "fields" => request.fields = Some(reader.array(Reader::string)?),
                "order" => request.order = reader.one_of(&ORDERS)?,
                "sort" => request.sort = reader.array(SortKey::read_json)?,
                "after" | "after_values" if request.after.is_some() => {
                    return unknown(reader, name, "one place that a page goes on after");
                }
                "after" => request.after = Some(read_after_score(reader)?),
                "after_values" => request.after = Some(read_after_values(reader)?),
                "facets" => request.facets = reader.array(Facet::read_json)?,
                "selections" => request.selections = reader.array(Selection::read_json)?,
                "collapse" => request.collapse = Some(Box::new(Collapse::read_json(reader)?)),
                "fusion" => request.fusion = Some(Box::new(Fusion::read_json(reader)?)),
                "bm25" => request.parameters = reader.array(read_parameters)?,
                "score_functions" => {
                    request.score_functions = reader.array(ScoreFunction::read_json)?;
                }
                "pattern_terms" => request.pattern_terms = reader.whole()?,
                "statistics" => request.statistics = read_statistics(reader)?,
                "limits" => request.limits = RequestLimits::read_json(reader)?,
                _ => {
                    return Err(reader
                        .unknown_name("a name that requests have", name)
                        .hint("their JSON schema has all: `treepie plan schema --request`"));
                }
            }
            Ok(true)
        })?;
        reader.end()?;
        if !vectors.is_empty() {
            request.query = Cow::Owned(request.query.with_some_vectors(vectors)?);
        }
        Ok(request)
    }
}

/// A query in the query language, with vectors beside it.
pub(super) fn write_query(json: &mut Json, query: &Query) {
    match query.with_parameters() {
        None => json.field("query").string(&query.to_string()),
        Some((query, vectors)) => {
            json.field("query").string(&query.to_string());
            json.field("vectors").object(|json| {
                for (name, numbers) in &vectors {
                    let numbers = numbers.as_slice();
                    json.field(name).array(numbers, |json, number| json.float(number));
                }
            });
        }
    }
}

/// Numbers by the name that stands for them in the query.
pub(super) fn read_vectors(reader: &mut Reader<'_>) -> Result<Vec<(String, Vec<f32>)>> {
    let mut vectors = vec![];
    reader.object(&[], |reader, name| {
        vectors.push((name.to_owned(), reader.array(Reader::double)?));
        Ok(true)
    })?;
    Ok(vectors)
}

fn read_statistics(reader: &mut Reader<'_>) -> Result<IdfScope> {
    match reader.next_byte() {
        Some(b'{') => {
            CollectionStatistics::read_json(reader).map(|it| IdfScope::Collection(it.into()))
        }
        _ => {
            let names = STATISTICS.each_ref().map(|(name, _)| *name);
            let of_name = names.map(|name| (name, name));
            let name = reader.one_of(&of_name)?;
            Ok(if name == "segment" { IdfScope::Segment } else { IdfScope::Snapshot })
        }
    }
}

fn read_after_score(reader: &mut Reader<'_>) -> Result<After> {
    let (mut score, mut doc) = (0.0, DocId(0));
    reader.object(&["score", "doc"], |reader, name| {
        match name {
            "score" => score = reader.double()?,
            "doc" => doc = DocId(reader.whole()?),
            _ => return unknown(reader, name, "\"score\" or \"doc\""),
        }
        Ok(true)
    })?;
    Ok(After::score(score, doc))
}

impl Selection {
    fn read_json(reader: &mut Reader<'_>) -> Result<Self> {
        let mut selection = Selection { field: String::new(), values: vec![], read: None };
        reader.object(&["field", "values"], |reader, name| {
            match name {
                "field" => selection.field = reader.string()?,
                "values" => selection.values = reader.array(Value::read_json)?,
                "query" => selection.read = Some(read_query(reader)?),
                _ => return unknown(reader, name, "\"field\", \"values\" or \"query\""),
            }
            Ok(true)
        })?;
        Ok(selection)
    }
}

impl Collapse {
    fn read_json(reader: &mut Reader<'_>) -> Result<Self> {
        let mut collapse = Collapse::by("");
        reader.object(&["field"], |reader, name| {
            match name {
                "field" => collapse.field = reader.string()?,
                "keep" => collapse.keep = reader.whole::<u64>()?.max(1),
                "missing_alone" => collapse.missing_alone = reader.boolean()?,
                _ => return unknown(reader, name, "\"field\", \"keep\" or \"missing_alone\""),
            }
            Ok(true)
        })?;
        Ok(collapse)
    }
}

impl Facet {
    fn write_json(&self, json: &mut Json) {
        let zoned = |json: &mut Json, zone: &Option<Zone>| {
            if let Some(zone) = zone {
                json.field("zone").string(zone.name());
            }
        };
        json.object(|json| {
            json.field("field").string(&self.field);
            match &self.what {
                FacetWhat::Values(options) => {
                    json.field("values").object(|json| options.write_json(json));
                }
                FacetWhat::Ranges(ranges) => {
                    json.field("ranges").array(ranges, |json, range| range.write_json(json));
                }
                FacetWhat::Intervals(interval, zone) => {
                    json.field("intervals").string(interval.name());
                    zoned(json, zone);
                }
                FacetWhat::Statistics(options) => json.field("statistics").object(|json| {
                    if options.distinct {
                        json.field("distinct").boolean(true);
                    }
                    if !options.percentiles.is_empty() {
                        let percent =
                            |json: &mut Json, bits: &u64| json.float(f64::from_bits(*bits));
                        json.field("percentiles").array(&options.percentiles, percent);
                    }
                }),
                FacetWhat::Steps(width) => width.write_json(json.field("steps")),
                FacetWhat::Suitable(n, zone) => {
                    json.field("auto_ranges").number(n);
                    zoned(json, zone);
                }
                FacetWhat::Quantiles(n) => json.field("quantiles").number(n),
                FacetWhat::Grid(grid) => json.field("grid").string(&grid.to_string()),
                FacetWhat::Rings(near, rings) => json.field("rings").object(|json| {
                    json.field("near").string(&near.to_string());
                    json.field("ranges").array(rings, |json, range| range.write_json(json));
                }),
            }
            if !self.within.facets.is_empty() {
                json.field("facets").array(&self.within.facets, |json, it| it.write_json(json));
            }
            if self.within.hits > 0 {
                json.field("hits").number(self.within.hits);
            }
        });
    }

    fn read_json(reader: &mut Reader<'_>) -> Result<Self> {
        let mut what: Option<FacetWhat> = None;
        let mut facet = Facet::of("", FacetWhat::Quantiles(0));
        let mut own_zone: Option<Zone> = None;
        reader.object(&["field"], |reader, name| {
            let read = match name {
                "field" => {
                    facet.field = reader.string()?;
                    return Ok(true);
                }
                "facets" => {
                    facet.within.facets = reader.array(Facet::read_json)?;
                    return Ok(true);
                }
                "hits" => {
                    facet.within.hits = reader.whole()?;
                    return Ok(true);
                }
                "zone" => {
                    own_zone = Some(reader.parsed("a time zone", |text| text.parse().ok())?);
                    return Ok(true);
                }
                _ if what.is_some() => {
                    return Err(reader.error("one kind of facet", &format!("{name:?}, too")));
                }
                "values" => FacetWhat::Values(Box::new(ValueOptions::read_json(reader)?)),
                "ranges" => FacetWhat::Ranges(reader.array(FacetRange::read_json)?),
                "intervals" => {
                    let read = |text: &str| text.parse::<Interval>().ok();
                    FacetWhat::Intervals(reader.parsed("an interval of the calendar", read)?, None)
                }
                "statistics" => FacetWhat::Statistics(StatisticsOptions::read_json(reader)?),
                "steps" => FacetWhat::Steps(Value::read_json(reader)?),
                "auto_ranges" => FacetWhat::Suitable(reader.whole()?, None),
                "quantiles" => FacetWhat::Quantiles(reader.whole()?),
                "grid" => {
                    let read = |text: &str| GridWanted::read(text).ok();
                    let expected = "\"tile=ZOOM\" (0 to 24), \"tile=auto:N\" (1 to 65,536) or \"geohash=LENGTH\" (1 to 12)";
                    FacetWhat::Grid(reader.parsed(expected, read)?)
                }
                "rings" => read_rings(reader)?,
                _ => return unknown(reader, name, FACET_KINDS),
            };
            what = Some(read);
            Ok(true)
        })?;
        let mut what = what.ok_or_else(|| reader.error(FACET_KINDS, "none of them"))?;
        match &mut what {
            FacetWhat::Intervals(_, zone) | FacetWhat::Suitable(_, zone) => *zone = own_zone,
            _ if own_zone.is_some() => {
                return Err(reader.error("a zone beside intervals or auto_ranges", "another facet"));
            }
            _ => {}
        }
        facet.what = what;
        Ok(facet)
    }
}

fn read_rings(reader: &mut Reader<'_>) -> Result<FacetWhat> {
    let (mut point, mut ranges) = (None, vec![]);
    reader.object(&["near", "ranges"], |reader, name| {
        match name {
            "near" => {
                let read = |text: &str| text.parse::<GeoPoint>().ok();
                point = Some(reader.parsed("a point as \"48.8566,2.3522\"", read)?);
            }
            "ranges" => ranges = reader.array(FacetRange::read_json)?,
            _ => return unknown(reader, name, "\"near\" or \"ranges\""),
        }
        Ok(true)
    })?;
    let near = point.ok_or_else(|| reader.error("\"near\"", "none"))?;
    Ok(FacetWhat::Rings(near, ranges))
}

impl StatisticsOptions {
    fn read_json(reader: &mut Reader<'_>) -> Result<Self> {
        let mut options = StatisticsOptions::default();
        reader.object(&[], |reader, name| {
            match name {
                "distinct" => options.distinct = reader.boolean()?,
                "percentiles" => {
                    let percent = |reader: &mut Reader<'_>| reader.double().map(f64::to_bits);
                    options.percentiles = reader.array(percent)?;
                }
                _ => return unknown(reader, name, "\"distinct\" or \"percentiles\""),
            }
            Ok(true)
        })?;
        Ok(options)
    }
}

impl ValueOptions {
    fn write_json(&self, json: &mut Json) {
        let default = ValueOptions::default();
        if self.limit != default.limit {
            json.field("limit").number(self.limit);
        }
        if self.order != default.order {
            json.field("order").string(name_of(&FACET_ORDERS, &self.order));
        }
        if self.minimum != default.minimum {
            json.field("minimum").number(self.minimum);
        }
        if let Some(range) = &self.between {
            range.write_json(json.field("between"));
        }
        if !self.prefix.is_empty() {
            json.field("prefix").string(&self.prefix);
        }
        for (name, texts) in [("containing", &self.containing), ("matching", &self.matching)] {
            if !texts.is_empty() {
                json.field(name).array(texts, |json, text| json.string(text));
            }
        }
        if let Some(path) = &self.under {
            json.field("under").string(path);
        }
        if let Some(method) = &self.method {
            json.field("method").string(name_of(&METHODS, method));
        }
    }

    fn read_json(reader: &mut Reader<'_>) -> Result<Self> {
        let mut options = ValueOptions::default();
        reader.object(&[], |reader, name| {
            match name {
                "limit" => options.limit = reader.whole()?,
                "order" => options.order = reader.one_of(&FACET_ORDERS)?,
                "minimum" => options.minimum = reader.whole()?,
                "between" => options.between = Some(FacetRange::read_json(reader)?),
                "prefix" => options.prefix = reader.string()?,
                "containing" => options.containing = reader.array(Reader::string)?,
                "matching" => options.matching = reader.array(Reader::string)?,
                "under" => options.under = Some(reader.string()?),
                "method" => options.method = Some(reader.one_of(&METHODS)?),
                _ => return unknown(reader, name, "an option of a facet of values"),
            }
            Ok(true)
        })?;
        Ok(options)
    }
}

impl FacetRange {
    fn write_json(&self, json: &mut Json) {
        json.object(|json| {
            for (name, end) in [("from", &self.from), ("to", &self.to)] {
                if let Some(end) = end {
                    end.write_json(json.field(name));
                }
            }
        });
    }

    fn read_json(reader: &mut Reader<'_>) -> Result<Self> {
        let mut range = FacetRange::default();
        reader.object(&[], |reader, name| {
            match name {
                "from" => range.from = Some(Value::read_json(reader)?),
                "to" => range.to = Some(Value::read_json(reader)?),
                _ => return unknown(reader, name, "\"from\" or \"to\""),
            }
            Ok(true)
        })?;
        Ok(range)
    }
}

fn read_total(reader: &mut Reader<'_>) -> Result<TotalMode> {
    match reader.next_byte() {
        Some(b'"') => {
            reader.one_of(&[("exact", TotalMode::Exact), ("unknown", TotalMode::Unknown)])
        }
        _ => reader.whole().map(TotalMode::UpTo),
    }
}

fn read_after_values(reader: &mut Reader<'_>) -> Result<After> {
    let (mut values, mut doc) = (vec![], DocId(0));
    reader.object(&["values", "doc"], |reader, name| {
        match name {
            "values" => values = reader.array(Value::read_json)?,
            "doc" => doc = DocId(reader.whole()?),
            _ => return unknown(reader, name, "\"values\" or \"doc\""),
        }
        Ok(true)
    })?;
    Ok(After::Values { values, doc })
}

fn read_parameters(reader: &mut Reader<'_>) -> Result<(String, Parameters)> {
    let (mut field, mut own) = (String::new(), Parameters::default());
    reader.object(&["field"], |reader, name| {
        match name {
            "field" => field = reader.string()?,
            "k1" => own.k1 = reader.double()?,
            "b" => own.b = reader.double()?,
            _ => return unknown(reader, name, "\"field\", \"k1\" or \"b\""),
        }
        Ok(true)
    })?;
    Ok((field, own))
}

/// Reads a query within the limits of the thread, of which mistakes are told as those of a query are.
pub(super) fn read_query(reader: &mut Reader<'_>) -> Result<Query> {
    let mut refused = None;
    // Written out, a query may be longer than what somebody typed; its words are limited, and so is the whole text.
    let limits = Limits { query_bytes: usize::MAX, ..limits::current() };
    let options = ParseOptions::default().limits(limits);
    let query = reader.parsed("a query", |text| {
        parse(text, &options).map_err(|error| refused = Some(error)).ok()
    });
    query.map_err(|error| refused.unwrap_or(error))
}

pub(super) fn unknown<T>(reader: &Reader<'_>, name: &str, expected: &str) -> Result<T> {
    Err(reader.unknown_name(expected, name))
}

/// The name of a value, which is one of those that have one.
fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: &T) -> &'static str {
    names.iter().find(|(_, other)| other == value).map_or("", |(name, _)| name)
}

/// An array under a name, unless it is empty.
fn write_all<T>(
    json: &mut Json,
    name: &str,
    items: &[T],
    mut write: impl FnMut(&mut Json, &T) -> Result<()>,
) -> Result<()> {
    if items.is_empty() {
        return Ok(());
    }
    json.field(name).out.push('[');
    for (nth, item) in items.iter().enumerate() {
        if nth > 0 {
            json.out.push(',');
        }
        write(json, item)?;
    }
    json.out.push(']');
    Ok(())
}
