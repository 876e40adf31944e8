//! Facets that a search can be asked for, and their options.

use super::ranges::{FacetRange, calendar, not_an_end};
use super::value_options::ValueOptions;
use crate::error::{Error, ErrorKind, Result};
use crate::geo::{GeoPoint, GridWanted};
use crate::named::named;
use crate::plural::number_of;
use crate::schema::{FieldKind, Schema};
use crate::value::{Dates, Interval, Value, Zone};

/// Maximum depth of facets within facets, the outermost one counted.
pub const FACET_DEPTH_MAX: usize = 8;

/// Facet of a field over the documents that match, for [`with_facet`](crate::SearchBuilder::with_facet).
///
/// ```
/// use treepie::{Document, Facet, Index, Schema};
///
/// let index = Index::in_memory(Schema::builder().keyword("brand").build()?);
/// let mut writer = index.writer()?;
/// for brand in ["acme", "Aldi", "acme", "bolt", "arco"] {
///     writer.add(Document::new().with("brand", brand))?;
/// }
/// writer.commit()?;
/// let searcher = index.searcher()?;
/// let query = searcher.parse("*")?;
/// let brands = |facet| -> treepie::Result<Vec<_>> {
///     let mut page = searcher.search(&query).with_facet(facet).run()?;
///     Ok(page.facets.remove(0).buckets.into_iter().map(|b| (b.value.to_string(), b.count)).collect())
/// };
/// let found = brands(Facet::values("brand").by_value().prefix("a"))?;
/// assert_eq!(found, [("acme".to_owned(), 2), ("arco".to_owned(), 1)]);
/// let found = brands(Facet::values("brand").containing("AL"))?; // search inside the values
/// assert_eq!(found, [("Aldi".to_owned(), 1)]);
/// # Ok::<(), treepie::Error>(())
/// ```
///
/// Each bucket that comes can be looked into: by [facets](Self::with_facet) of other fields that count its documents alone,
/// by statistics of them, and by its [best hits](Self::top_hits). Facets may lie within facets, up to
/// [`FACET_DEPTH_MAX`] of them.
///
/// ```
/// use treepie::{Document, Facet, Field, FieldKind, Index, Schema};
///
/// let price = Field::new("price", FieldKind::I64);
/// let schema = Schema::builder().keyword("brand").keyword("color").field(price).build()?;
/// let index = Index::in_memory(schema);
/// let mut writer = index.writer()?;
/// for (brand, color, price) in [("acme", "red", 3), ("acme", "blue", 9), ("acme", "red", 6), ("bolt", "red", 4)] {
///     writer.add(Document::new().with("brand", brand).with("color", color).with("price", price))?;
/// }
/// writer.commit()?;
/// let searcher = index.searcher()?;
/// let query = searcher.parse("*")?;
/// let brands = Facet::values("brand")
///     .with_facet(Facet::values("color").limit(1))
///     .with_facet(Facet::statistics("price"))
///     .top_hits(1);
/// let page = searcher.search(&query).with_facet(brands).run()?;
/// let acme = &page.facets[0].buckets[0];
/// assert_eq!(acme.count, 3);
/// let red = &acme.facets[0].buckets[0];
/// assert_eq!((red.value.to_string(), red.count), ("red".to_owned(), 2));
/// assert_eq!(acme.facets[1].statistics.as_ref().unwrap().mean.to_string(), "6");
/// assert_eq!(acme.hits[0].fields["brand"].to_string(), "acme");
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Facet {
    pub(crate) field: String,
    pub(crate) what: FacetWhat,
    pub(crate) within: Within,
}

/// Facets and hits that are wanted of each bucket in the result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Within {
    pub(crate) facets: Vec<Facet>,
    /// Number of its best documents.
    pub(crate) hits: usize,
}

impl Within {
    pub(crate) fn is_empty(&self) -> bool {
        self.facets.is_empty() && self.hits == 0
    }

    /// Number of facets within each other here.
    pub(crate) fn depth(&self) -> usize {
        self.facets.iter().map(|facet| 1 + facet.within.depth()).max().unwrap_or(0)
    }

    fn n_bytes(&self) -> usize {
        self.facets.iter().map(|facet| size_of::<Facet>() + facet.n_bytes()).sum()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FacetWhat {
    /// In a box, as it is larger than all else.
    Values(Box<ValueOptions>),
    Ranges(Vec<FacetRange>),
    /// Calendar intervals by the clocks of a zone, or in UTC if none is named.
    Intervals(Interval, Option<Zone>),
    Statistics(StatisticsOptions),
    /// Ranges of this width.
    Steps(Value),
    /// At most so many ranges that suit what matches, of dates as the clocks of a zone show them.
    Suitable(usize, Option<Zone>),
    /// At most so many ranges that as many of what matches are in.
    Quantiles(usize),
    /// Cells of a grid.
    Grid(GridWanted),
    /// Ranges of distances from a point.
    Rings(GeoPoint, Vec<FacetRange>),
}

/// Kind of the buckets of a facet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FacetKind {
    /// Values, the most frequent ones.
    #[default]
    Terms,
    /// Ranges of values: given ones, steps, intervals, quantiles, or rings about a point.
    Ranges,
    /// Cells of a grid on the globe.
    Grid,
    /// No buckets: statistics of numbers, dates or points.
    Statistics,
}

named! {
    /// The name used in JSON.
    pub FacetKind { Terms: "terms", Ranges: "range", Grid: "grid", Statistics: "statistics" }
}

impl FacetWhat {
    /// Kind of the buckets that come of it.
    pub(crate) fn kind(&self) -> FacetKind {
        match self {
            FacetWhat::Values(_) => FacetKind::Terms,
            FacetWhat::Ranges(_)
            | FacetWhat::Intervals(..)
            | FacetWhat::Steps(_)
            | FacetWhat::Suitable(..)
            | FacetWhat::Quantiles(_)
            | FacetWhat::Rings(..) => FacetKind::Ranges,
            FacetWhat::Grid(_) => FacetKind::Grid,
            FacetWhat::Statistics(_) => FacetKind::Statistics,
        }
    }

    /// Number of ranges or values that are asked for; 0 if nobody says.
    pub(crate) fn n_ranges(&self) -> usize {
        match self {
            FacetWhat::Values(values) => values.limit,
            FacetWhat::Ranges(ranges) | FacetWhat::Rings(_, ranges) => ranges.len(),
            FacetWhat::Suitable(n, _) | FacetWhat::Quantiles(n) => *n,
            FacetWhat::Grid(GridWanted::AutoTiles(n)) => *n,
            FacetWhat::Intervals(..)
            | FacetWhat::Statistics(_)
            | FacetWhat::Steps(_)
            | FacetWhat::Grid(GridWanted::Grid(_)) => 0,
        }
    }

    /// By which ranges values are counted, for people; `None` if each counts by itself.
    pub(crate) fn ranges(&self) -> Option<String> {
        match self {
            FacetWhat::Values(_) => None,
            FacetWhat::Ranges(ranges) => Some(format!("{} ranges", ranges.len())),
            FacetWhat::Intervals(interval, zone) => {
                Some(format!("by {}", calendar(*interval, zone.as_ref())))
            }
            FacetWhat::Statistics(_) => Some("statistics".to_owned()),
            FacetWhat::Steps(width) => Some(format!("by steps of {width}")),
            FacetWhat::Suitable(n, _) => Some(format!("at most {n} ranges that suit")),
            FacetWhat::Quantiles(n) => Some(format!("{n} quantiles")),
            FacetWhat::Rings(near, rings) => {
                Some(format!("{} about {near}", number_of(rings.len() as u64, "ring")))
            }
            FacetWhat::Grid(GridWanted::Grid(grid)) => Some(format!("by cells of {grid}")),
            FacetWhat::Grid(GridWanted::AutoTiles(n)) => Some(format!("at most {n} tiles")),
        }
    }
}

impl Facet {
    pub(crate) fn of(field: impl Into<String>, what: FacetWhat) -> Self {
        Facet { field: field.into(), what, within: Within::default() }
    }

    /// Adds a facet within each bucket, over the documents of that bucket alone.
    ///
    /// Its counts are in [`Bucket::facets`](crate::facet::Bucket::facets). Documents without a value are a bucket of their own,
    /// [`FacetCounts::missing_bucket`](crate::facet::FacetCounts::missing_bucket). [Selected](crate::SearchBuilder::select) values of
    /// a field are left out by its facet wherever it is, and by all that lie within it.
    ///
    /// Costs one pass over what matches for ranges, intervals and steps, one intersection for each value, and what the other
    /// facet costs in each bucket, of which there may be 65,536 in a search.
    ///
    /// # Errors
    ///
    /// When it runs: a usage error for statistics, which have no buckets, or for facets that lie too deep; a limit error for too
    /// many buckets.
    pub fn with_facet(mut self, facet: impl Into<Facet>) -> Self {
        self.within.facets.push(facet.into());
        self
    }

    /// Adds the `n` best documents of each bucket of the result: [`Bucket::hits`](crate::facet::Bucket::hits).
    ///
    /// They are in the order of the search and have the stored fields of its hits. By score, each document of a bucket is
    /// scored. Their stored fields count as [memory](crate::Budget::memory_bytes) of the search.
    ///
    /// # Errors
    ///
    /// Fails like [`with_facet`](Self::with_facet).
    pub fn top_hits(mut self, n: usize) -> Self {
        self.within.hits = n;
        self
    }

    /// Counts the matching documents with a value in each of these ranges.
    ///
    /// The field has numbers, dates, booleans or addresses, and keeps a [column](crate::Field::column). A document
    /// with many values counts once for each range that it has one in; ranges may overlap, and one that is turned
    /// round has none. At most 1,024 of them.
    ///
    /// ```
    /// use treepie::{Document, Facet, Field, FieldKind, Index, Schema};
    ///
    /// let price = Field::new("price", FieldKind::Decimal { scale: 2 });
    /// let index = Index::in_memory(Schema::builder().field(price).build()?);
    /// let mut writer = index.writer()?;
    /// for price in ["3.50", "9.99", "10", "120"] {
    ///     writer.add(Document::new().with("price", price))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("*")?;
    /// let prices = Facet::ranges("price", [(0..10).into(), (10..).into()]);
    /// let page = searcher.search(&query).with_facet(prices).run()?;
    /// let counts: Vec<u64> = page.facets[0].buckets.iter().map(|bucket| bucket.count).collect();
    /// assert_eq!(counts, [2, 2]);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn ranges(field: impl Into<String>, ranges: impl IntoIterator<Item = FacetRange>) -> Self {
        Facet::of(field, FacetWhat::Ranges(ranges.into_iter().collect()))
    }

    /// Counts the matching documents with a date in each interval of the calendar.
    ///
    /// The field has dates, and keeps a [column](crate::Field::column). Intervals without any are left out.
    pub fn date_histogram(field: impl Into<String>, interval: Interval) -> Self {
        Facet::of(field, FacetWhat::Intervals(interval, None))
    }

    /// Counts documents by interval of the calendar as [`date_histogram`](Self::date_histogram), in a time zone. A day may have
    /// 23 or 25 hours. The ends of buckets are in UTC.
    ///
    /// ```
    /// use treepie::value::Interval;
    /// use treepie::{Document, Facet, Field, FieldKind, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().field(Field::new("since", FieldKind::Date)).build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("since", "2024-03-31T23:30Z"))?;
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("*")?;
    /// let days = Facet::date_histogram_in("since", Interval::Day, "+02:00".parse()?);
    /// let page = searcher.search(&query).with_facet(days).run()?;
    /// let from = page.facets[0].buckets[0].from.as_ref().unwrap();
    /// assert_eq!(from.to_string(), "2024-03-31T22:00:00Z"); // April 1 there
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn date_histogram_in(field: impl Into<String>, interval: Interval, zone: Zone) -> Self {
        Facet::of(field, FacetWhat::Intervals(interval, Some(zone)))
    }

    /// A histogram: steps of one width, the first of which begins at zero.
    ///
    /// The field has numbers, and keeps a [column](crate::Field::column). The width is a number of the field or a
    /// text that means one. Steps without any value are left out; a document with many values counts once for each
    /// step that it has one in.
    ///
    /// ```
    /// use treepie::{Document, Facet, Field, FieldKind, Index, Schema};
    ///
    /// let price = Field::new("price", FieldKind::Decimal { scale: 2 });
    /// let index = Index::in_memory(Schema::builder().field(price).build()?);
    /// let mut writer = index.writer()?;
    /// for price in ["3.50", "9.99", "10", "120"] {
    ///     writer.add(Document::new().with("price", price))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("*")?;
    /// let page = searcher.search(&query).with_facet(Facet::histogram("price", 5)).run()?;
    /// let steps = page.facets[0].buckets.iter().map(|bucket| (bucket.from.as_ref().unwrap(), bucket.count));
    /// let steps: Vec<_> = steps.map(|(from, count)| (from.to_string(), count)).collect();
    /// let expected = [("0.00", 1), ("5.00", 1), ("10.00", 1), ("120.00", 1)];
    /// assert_eq!(steps, expected.map(|(from, count)| (from.to_owned(), count)));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn histogram(field: impl Into<String>, width: impl Into<Value>) -> Self {
        Facet::of(field, FacetWhat::Steps(width.into()))
    }

    /// At most `n` ranges of one width, 2 to 1,024, that suit what matches.
    ///
    /// They are as narrow as that allows: of numbers steps of 1, 2 or 5 times a power of ten, of dates intervals of
    /// the calendar or so many years. The field has numbers or dates and keeps a [column](crate::Field::column).
    /// Steps and intervals without any value are left out.
    ///
    /// Costs a look at the least and the greatest value beside counting.
    ///
    /// ```
    /// use treepie::{Document, Facet, Field, FieldKind, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().field(Field::new("year", FieldKind::I64)).build()?);
    /// let mut writer = index.writer()?;
    /// for year in [1871, 1902, 1933, 1938] {
    ///     writer.add(Document::new().with("year", year))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("*")?;
    /// let page = searcher.search(&query).with_facet(Facet::auto_ranges("year", 5)).run()?;
    /// let ranges = page.facets[0].buckets.iter().map(|bucket| (bucket.from.clone().unwrap(), bucket.count));
    /// assert_eq!(ranges.collect::<Vec<_>>(), [(1860.into(), 1), (1900.into(), 1), (1920.into(), 2)]);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn auto_ranges(field: impl Into<String>, n: usize) -> Self {
        Facet::of(field, FacetWhat::Suitable(n, None))
    }

    /// Resolves the dates of the facet to moments.
    ///
    /// [`Query::at`](crate::query::Query::at) does so with those of a query.
    ///
    /// In a field of dates of `schema`, ends of ranges that are texts, as `2024-05-01` and `now-7d/d`, become the first moments
    /// that they mean. Intervals of the calendar without a zone, and those of [`auto_ranges`](Self::auto_ranges), get the zone of
    /// `dates`, or else the field's own. Facets within it are resolved, too.
    ///
    /// Without this call, ends without an offset are in the zone of the field, and intervals in UTC.
    ///
    /// ```
    /// use treepie::facet::FacetRange;
    /// use treepie::value::Dates;
    /// use treepie::{Facet, Field, FieldKind, Schema, Timestamp};
    ///
    /// let schema = Schema::builder().field(Field::new("since", FieldKind::Date)).build()?;
    /// let dates = Dates::new().now("2024-05-06T12:00Z".parse::<Timestamp>()?);
    /// let week = Facet::ranges("since", ["now-7d/d..now/d".parse()?]).at(&schema, &dates)?;
    /// let [from, to] = ["2024-04-29", "2024-05-06"].map(|day| day.parse::<Timestamp>());
    /// assert_eq!(week, Facet::ranges("since", [FacetRange::new(Some(from?), Some(to?))]));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`] for what is no date, a time or a day that clocks are put forward over, `now` if nothing is said of
    /// it, or a field of a zone that this build does not know.
    pub fn at(mut self, schema: &Schema, dates: &Dates) -> Result<Self> {
        let inner = std::mem::take(&mut self.within.facets).into_iter();
        self.within.facets = inner.map(|facet| facet.at(schema, dates)).collect::<Result<_>>()?;
        let field = schema.field(&self.field).filter(|field| field.kind == FieldKind::Date);
        let Some(field) = field else { return Ok(self) };
        let moment_of = |end: &mut Option<Value>| {
            if let Some(value) = end {
                *value = dates.moment(value, field).map_err(|it| not_an_end(field, it))?;
            }
            Ok(())
        };
        let ranges = match &mut self.what {
            FacetWhat::Ranges(ranges) => &mut ranges[..],
            FacetWhat::Values(options) => options.between.as_mut_slice(),
            FacetWhat::Intervals(_, zone @ None) | FacetWhat::Suitable(_, zone @ None) => {
                *zone = Some(dates.zone_of(field).map_err(|not_taken| {
                    not_taken.into_usage(format!("counting '{}' by intervals", field.name))
                })?);
                &mut []
            }
            _ => &mut [],
        };
        for range in ranges {
            moment_of(&mut range.from)?;
            moment_of(&mut range.to)?;
        }
        Ok(self)
    }

    /// `n` ranges, 2 to 1,024, with about as many of the matching values in each.
    ///
    /// Each is from the value at which it begins up to the next: 4 are quartiles. They have no end before the first
    /// and behind the last. Fewer where values are the same so often that two would begin with one of them; none
    /// if nothing has a value. The field has numbers or dates and keeps a [column](crate::Field::column). A
    /// document with many values counts once for each range that it has one in.
    ///
    /// Costs what [percentiles](StatisticsFacet::percentiles) take beside counting. The counts are exact in any case; where the
    /// values take more memory than the search has, they are as equal as the sketch of percentiles makes them.
    ///
    /// ```
    /// use treepie::{Document, Facet, Field, FieldKind, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().field(Field::new("year", FieldKind::I64)).build()?);
    /// let mut writer = index.writer()?;
    /// for year in [1871, 1902, 1933, 1938, 1938, 2011] {
    ///     writer.add(Document::new().with("year", year))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("*")?;
    /// let page = searcher.search(&query).with_facet(Facet::quantiles("year", 3)).run()?;
    /// let ranges = page.facets[0].buckets.iter().map(|bucket| (bucket.from.clone(), bucket.count));
    /// assert_eq!(ranges.collect::<Vec<_>>(), [(None, 2), (Some(1933.into()), 1), (Some(1938.into()), 3)]);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn quantiles(field: impl Into<String>, n: usize) -> Self {
        Facet::of(field, FacetWhat::Quantiles(n))
    }

    /// Sum, extremes, mean and variance of a field of numbers or dates; in
    /// [`FacetCounts::statistics`](crate::facet::FacetCounts::statistics). In a document with [many values](crate::Field::many) each
    /// different one counts once: `[3, 3, 4]` are two, of the sum 7.
    ///
    /// A field of points has their number, the smallest box around them and their centroid; in
    /// [`FacetCounts::points`](crate::facet::FacetCounts::points).
    ///
    /// ```
    /// use treepie::{Document, Facet, Field, FieldKind, Index, Schema, Value};
    ///
    /// let price = Field::new("price", FieldKind::Decimal { scale: 2 });
    /// let index = Index::in_memory(Schema::builder().field(price).build()?);
    /// let mut writer = index.writer()?;
    /// for price in ["3.50", "9.99", "3.50", "120"] {
    ///     writer.add(Document::new().with("price", price))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("*")?;
    /// let prices = Facet::statistics("price").distinct().percentiles([50.0]);
    /// let page = searcher.search(&query).with_facet(prices).run()?;
    /// let found = page.facets[0].statistics.as_ref().unwrap();
    /// assert_eq!((found.count, found.distinct), (4, Some(3)));
    /// assert_eq!(found.sum.unwrap().to_string(), "136.99");
    /// assert_eq!(found.max.to_string(), "120.00");
    /// assert_eq!(found.percentiles[0].1.to_string(), "3.50");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn statistics(field: impl Into<String>) -> StatisticsFacet {
        StatisticsFacet { field: field.into(), options: StatisticsOptions::default() }
    }

    /// About how many bytes it takes.
    pub(crate) fn n_bytes(&self) -> usize {
        let of_range = |range: &FacetRange| {
            let ends = [&range.from, &range.to].into_iter().flatten();
            size_of::<FacetRange>() + ends.map(Value::n_bytes).sum::<usize>()
        };
        self.field.len()
            + self.within.n_bytes()
            + match &self.what {
                FacetWhat::Ranges(ranges) | FacetWhat::Rings(_, ranges) => {
                    ranges.iter().map(of_range).sum()
                }
                FacetWhat::Values(options) => options.n_bytes(),
                FacetWhat::Intervals(_, zone) | FacetWhat::Suitable(_, zone) => {
                    zone.as_ref().map_or(0, |zone| zone.name().len())
                }
                FacetWhat::Quantiles(_) | FacetWhat::Grid(_) => 0,
                FacetWhat::Steps(width) => width.n_bytes(),
                FacetWhat::Statistics(options) => size_of_val(&options.percentiles[..]),
            }
    }
}

/// Statistics of a field with their options; from [`Facet::statistics`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use = "nothing is looked at unless a search is given it"]
pub struct StatisticsFacet {
    field: String,
    options: StatisticsOptions,
}

impl StatisticsFacet {
    /// Adds the number of different values.
    ///
    /// It is exact, or by a sketch if counting each would take too much memory.
    /// [`FieldStatistics::distinct_by`](crate::facet::FieldStatistics::distinct_by) says which.
    pub fn distinct(mut self) -> Self {
        self.options.distinct = true;
        self
    }

    /// Adds these percentiles, 0 to 100. They are exact or by a sketch, as [`distinct`](Self::distinct).
    pub fn percentiles(mut self, percentages: impl IntoIterator<Item = f64>) -> Self {
        self.options.percentiles.extend(percentages.into_iter().map(f64::to_bits));
        self
    }
}

impl From<StatisticsFacet> for Facet {
    fn from(StatisticsFacet { field, options }: StatisticsFacet) -> Self {
        Facet::of(field, FacetWhat::Statistics(options))
    }
}

/// Statistics that are wanted beside those that take no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct StatisticsOptions {
    pub(crate) distinct: bool,
    /// Percentiles as bits, which are the same or are not.
    pub(crate) percentiles: Vec<u64>,
}

impl StatisticsOptions {
    /// The percentages that are wanted.
    ///
    /// # Errors
    ///
    /// A usage error for what is no percentage.
    pub(crate) fn percentiles(&self) -> Result<Vec<f64>> {
        let percentiles: Vec<_> = self.percentiles.iter().copied().map(f64::from_bits).collect();
        match percentiles.iter().find(|percent| !(0.0..=100.0).contains(*percent)) {
            Some(wrong) => Err(Error::new(ErrorKind::Usage, "looking for a percentile")
                .expected("percentages of 0 to 100")
                .found(wrong.to_string())),
            None => Ok(percentiles),
        }
    }
}

impl Facet {
    /// Refuses what lies too deep, or within what has no buckets.
    pub(crate) fn check_within(&self) -> Result<()> {
        let depth = 1 + self.within.depth();
        if depth > FACET_DEPTH_MAX {
            return Err(Error::new(ErrorKind::Usage, "counting facets within facets")
                .expected(format!("at most {FACET_DEPTH_MAX} within each other"))
                .found(depth.to_string()));
        }
        self.check_buckets()
    }

    fn check_buckets(&self) -> Result<()> {
        if matches!(self.what, FacetWhat::Statistics(_)) && !self.within.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "looking into the buckets of a facet")
                .expected("a facet that has buckets")
                .found(format!("statistics of '{}'", self.field)));
        }
        self.within.facets.iter().try_for_each(Facet::check_buckets)
    }
}
