//! What a search can be asked to count, and with which options.

use crate::error::{Error, ErrorKind, Result};
use crate::expansion::TermFilter;
use crate::plan::{FacetMethod, FacetOrder, ValuesWanted};
use crate::schema::FieldKind;
use crate::value::{self, Calendar, Interval, Value, Zone};
use std::ops::{Range, RangeFrom, RangeFull, RangeTo};
use std::str::FromStr;

/// Values that a facet shows unless a number is given.
const VALUES_DEFAULT: usize = 10;

/// What is to be counted of a field over the documents that match, for [`with_facet`](crate::SearchBuilder::with_facet).
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Facet {
    pub(super) field: String,
    pub(super) what: FacetWhat,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum FacetWhat {
    /// In a box, as it is larger than all else.
    Values(Box<ValueOptions>),
    Ranges(Vec<FacetRange>),
    Intervals(Calendar),
    Statistics(StatisticsOptions),
    /// Of this width.
    Steps(Value),
}

impl Facet {
    /// Whether the different values of a field are wanted, or what stands at ranks of them.
    pub(super) fn wants_spread(&self) -> bool {
        match &self.what {
            FacetWhat::Statistics(options) => options.percentiles().is_ok_and(|it| it.is_some()),
            _ => false,
        }
    }

    /// The values of a field, or the terms of a text field, with how many documents have each: the ten most frequent ones,
    /// unless options say otherwise.
    pub fn values(field: impl Into<String>) -> ValueFacet {
        ValueFacet { field: field.into(), options: ValueOptions::default() }
    }

    /// Ranges of values, as [`facet_ranges`](crate::SearchBuilder::facet_ranges) says.
    pub fn ranges(field: impl Into<String>, ranges: impl IntoIterator<Item = FacetRange>) -> Self {
        Facet { field: field.into(), what: FacetWhat::Ranges(ranges.into_iter().collect()) }
    }

    /// Intervals of the calendar, as [`facet_intervals`](crate::SearchBuilder::facet_intervals) says.
    pub fn intervals(field: impl Into<String>, interval: Interval) -> Self {
        Self::intervals_in(field, interval, Zone::utc())
    }

    /// The same as the clocks of a zone show it: a day may have 23 or 25 hours. What it begins and ends with is told in UTC.
    ///
    /// ```
    /// use treepie::{Document, Facet, Field, FieldKind, Index, Interval, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().field(Field::new("since", FieldKind::Date)).build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("since", "2024-03-31T23:30Z"))?;
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("*")?;
    /// let days = Facet::intervals_in("since", Interval::Day, "+02:00".parse()?);
    /// let page = searcher.search(&query).with_facet(days).run()?;
    /// let from = page.facets[0].buckets[0].from.as_ref().unwrap();
    /// assert_eq!(from.to_string(), "2024-03-31T22:00:00Z"); // April 1 there
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn intervals_in(field: impl Into<String>, interval: Interval, zone: Zone) -> Self {
        Facet { field: field.into(), what: FacetWhat::Intervals(Calendar::new(interval, zone)) }
    }

    /// A histogram: steps of one width, the first of which begins at zero, of a field of numbers that keeps a
    /// [column](crate::Field::column). The width is a number of the field or a text that means one. Steps without any value
    /// are left out; a document with many values counts once for each step that it has one in.
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
    /// let page = searcher.search(&query).with_facet(Facet::steps("price", 5)).run()?;
    /// let steps = page.facets[0].buckets.iter().map(|bucket| (bucket.from.as_ref().unwrap(), bucket.count));
    /// let steps: Vec<_> = steps.map(|(from, count)| (from.to_string(), count)).collect();
    /// let expected = [("0.00", 1), ("5.00", 1), ("10.00", 1), ("120.00", 1)];
    /// assert_eq!(steps, expected.map(|(from, count)| (from.to_owned(), count)));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn steps(field: impl Into<String>, width: impl Into<Value>) -> Self {
        Facet { field: field.into(), what: FacetWhat::Steps(width.into()) }
    }

    /// Sum, extremes, mean and variance of a field of numbers or dates; in
    /// [`FacetCounts::statistics`](crate::FacetCounts::statistics).
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
    /// let prices = Facet::statistics("price").percentiles([50.0]);
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
    pub(super) fn n_bytes(&self) -> usize {
        let of_range = |range: &FacetRange| {
            let ends = [&range.from, &range.to].into_iter().flatten();
            size_of::<FacetRange>() + ends.map(Value::n_bytes).sum::<usize>()
        };
        self.field.len()
            + match &self.what {
                FacetWhat::Ranges(ranges) => ranges.iter().map(of_range).sum(),
                FacetWhat::Values(options) => options.n_bytes(),
                FacetWhat::Intervals(calendar) => calendar.n_bytes(),
                FacetWhat::Steps(width) => width.n_bytes(),
                FacetWhat::Statistics(options) => size_of_val(&options.percentiles[..]),
            }
    }
}

/// A facet of values with its options; from [`Facet::values`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use = "nothing is counted unless a search is given it"]
pub struct ValueFacet {
    field: String,
    options: ValueOptions,
}

impl ValueFacet {
    /// How many values come at the most (default 10).
    pub fn limit(mut self, limit: usize) -> Self {
        self.options.limit = limit;
        self
    }

    /// In what order they come, and which of them where there are more than the limit (default [`FacetOrder::Count`]).
    pub fn order(mut self, order: FacetOrder) -> Self {
        self.options.order = order;
        self
    }

    /// By value, the smallest first: [`FacetOrder::Value`].
    pub fn by_value(self) -> Self {
        self.order(FacetOrder::Value)
    }

    /// By value, the greatest first: [`FacetOrder::ValueDescending`].
    pub fn by_value_descending(self) -> Self {
        self.order(FacetOrder::ValueDescending)
    }

    /// Leaves out values that fewer documents have (default 1; a value that none has never comes, so that 0 is the same).
    pub fn minimum(mut self, documents: u64) -> Self {
        self.options.minimum = documents.max(1);
        self
    }

    /// Only values that begin so, of a field of texts or keywords; asked for twice, the last counts.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.options.prefix = prefix.into();
        self
    }

    /// Only values with this text in them, in whatever case (by Unicode's simple folding), of a field of texts or keywords;
    /// asked for twice, both must be.
    pub fn containing(mut self, text: impl Into<String>) -> Self {
        self.options.containing.push(text.into());
        self
    }

    /// Only values that match a [regular expression](crate::query::Query::regex) as a whole, of a field of texts or
    /// keywords; asked for twice, both must be.
    pub fn matching(mut self, regex: impl Into<String>) -> Self {
        self.options.matching.push(regex.into());
        self
    }

    /// Only what is right below a path, of a field of [paths](crate::FieldKind::Path); below the empty one are the uppermost
    /// names. Each comes as the whole path down to it, with the documents that are there or anywhere below. Instead of a
    /// prefix. Costs a look at the name of each path that is anywhere below, or that is met in a column.
    ///
    /// ```
    /// use treepie::{Document, Facet, Field, FieldKind, Index, Schema};
    ///
    /// let place = Field::new("place", FieldKind::Path { separator: '/' }).many(true);
    /// let index = Index::in_memory(Schema::builder().field(place).build()?);
    /// let mut writer = index.writer()?;
    /// for place in ["home/kitchen/pans", "home/kitchen", "home/bath", "garden"] {
    ///     writer.add(Document::new().with("place", place))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("*")?;
    /// let counts = |path: &str| -> treepie::Result<Vec<_>> {
    ///     let mut page = searcher.search(&query).with_facet(Facet::values("place").under(path)).run()?;
    ///     Ok(page.facets.remove(0).buckets.into_iter().map(|b| (b.value.to_string(), b.count)).collect())
    /// };
    /// assert_eq!(counts("")?, [("home".to_owned(), 3), ("garden".to_owned(), 1)]);
    /// assert_eq!(counts("home")?, [("home/kitchen".to_owned(), 2), ("home/bath".to_owned(), 1)]);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn under(mut self, path: impl Into<String>) -> Self {
        self.options.under = Some(path.into());
        self
    }

    /// Counts them in a way of the caller's. The counts are the same in all ways; where one is not to be had, the plan says
    /// what was done instead.
    pub fn method(mut self, method: FacetMethod) -> Self {
        self.options.method = Some(method);
        self
    }
}

impl From<ValueFacet> for Facet {
    fn from(ValueFacet { field, options }: ValueFacet) -> Self {
        Facet { field, what: FacetWhat::Values(Box::new(options)) }
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
    /// Also how many different values there are.
    pub fn distinct(mut self) -> Self {
        self.options.distinct = true;
        self
    }

    /// Also the values below which these percentages of all are, 0 to 100; and how many different ones there are.
    pub fn percentiles(mut self, percentages: impl IntoIterator<Item = f64>) -> Self {
        self.options.percentiles.extend(percentages.into_iter().map(f64::to_bits));
        self
    }
}

impl From<StatisticsFacet> for Facet {
    fn from(StatisticsFacet { field, options }: StatisticsFacet) -> Self {
        Facet { field, what: FacetWhat::Statistics(options) }
    }
}

/// What else is wanted beside what takes no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct StatisticsOptions {
    distinct: bool,
    /// As bits, which are the same or are not.
    percentiles: Vec<u64>,
}

impl StatisticsOptions {
    /// The percentages that are wanted; `None` where not even different values are to be told apart.
    ///
    /// # Errors
    ///
    /// A usage error for what is no percentage.
    pub(super) fn percentiles(&self) -> Result<Option<Vec<f64>>> {
        let percentiles: Vec<_> = self.percentiles.iter().copied().map(f64::from_bits).collect();
        match percentiles.iter().find(|percent| !(0.0..=100.0).contains(*percent)) {
            Some(wrong) => Err(Error::new(ErrorKind::Usage, "looking for a percentile")
                .expected("percentages of 0 to 100")
                .found(wrong.to_string())),
            None => Ok((self.distinct || !percentiles.is_empty()).then_some(percentiles)),
        }
    }
}

/// Which values are wanted, and how they are to be counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ValueOptions {
    limit: usize,
    order: FacetOrder,
    minimum: u64,
    prefix: String,
    containing: Vec<String>,
    matching: Vec<String>,
    pub(super) under: Option<String>,
    pub(super) method: Option<FacetMethod>,
}

impl Default for ValueOptions {
    fn default() -> Self {
        ValueOptions {
            limit: VALUES_DEFAULT,
            order: FacetOrder::Count,
            minimum: 1,
            prefix: String::new(),
            containing: vec![],
            matching: vec![],
            under: None,
            method: None,
        }
    }
}

impl ValueOptions {
    /// What a plan needs to know.
    ///
    /// # Errors
    ///
    /// A query error for what is no regular expression, a limit error for one that would take too much memory, a usage error
    /// for a path to look below that is none, or in a field of another kind.
    pub(super) fn wanted(&self, kind: FieldKind) -> Result<ValuesWanted> {
        let ValueOptions { limit, order, minimum, .. } = *self;
        let mut filter = match (&self.under, kind) {
            (None, _) => TermFilter::default().with_prefix(&self.prefix),
            (Some(path), FieldKind::Path { separator }) => {
                let wrong = |expected, found: &str| {
                    Error::new(ErrorKind::Usage, "counting what is below a path")
                        .expected(expected)
                        .found(found)
                };
                if !self.prefix.is_empty() {
                    return Err(wrong("a path or a prefix".into(), "both"));
                }
                if !path.is_empty() {
                    value::check_path(path, separator)
                        .map_err(|refused| wrong(refused.expected, &refused.found))?;
                }
                TermFilter::default().with_names_below(path, separator)
            }
            (Some(_), kind) => {
                return Err(Error::new(ErrorKind::Usage, "counting what is below a path")
                    .expected("a field of paths")
                    .found(format!("a {} field", kind.name())));
            }
        };
        for regex in &self.matching {
            filter = filter.with_regex(regex)?;
        }
        for text in &self.containing {
            filter = filter.with_text(text)?;
        }
        let filter = self.is_filtered().then_some(filter);
        Ok(ValuesWanted { limit, order, minimum, filter })
    }

    /// Whether some values are left out, however many documents have them.
    pub(super) fn is_filtered(&self) -> bool {
        !(self.prefix.is_empty() && self.containing.is_empty() && self.matching.is_empty())
            || self.under.is_some()
    }

    /// For people, what is not as it is by default.
    pub(super) fn described(&self) -> Option<String> {
        let order = match self.order {
            FacetOrder::Count => None,
            FacetOrder::Value => Some("by value".to_owned()),
            FacetOrder::ValueDescending => Some("by value, descending".to_owned()),
        };
        let minimum = (self.minimum > 1).then(|| format!("of at least {} documents", self.minimum));
        let prefix = (!self.prefix.is_empty()).then(|| format!("beginning with '{}'", self.prefix));
        let under = self.under.as_ref().map(|path| format!("right below '{path}'"));
        let containing = self.containing.iter().map(|text| format!("containing '{text}'"));
        let matching = self.matching.iter().map(|regex| format!("matching /{regex}/"));
        let parts = order.into_iter().chain(minimum).chain(prefix).chain(under).chain(containing);
        let parts: Vec<_> = parts.chain(matching).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    fn n_bytes(&self) -> usize {
        let texts = self.containing.iter().chain(&self.matching);
        let texts = texts.map(|text| size_of::<String>() + text.len()).sum::<usize>();
        let under = self.under.as_ref().map_or(0, String::len);
        size_of::<Self>() + texts + self.prefix.len() + under
    }
}

/// Values from one on and below another, which are those of the field or texts that mean them; without one there is no end on
/// that side.
///
/// ```
/// use treepie::{FacetRange, Value};
///
/// let cheap: FacetRange = "..10".parse()?;
/// assert_eq!(cheap, FacetRange::new(None::<&str>, Some("10")));
/// let of_rust = FacetRange::from(10..50); // as the ranges of Rust
/// assert_eq!(of_rust.from, Some(Value::from(10)));
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FacetRange {
    /// The least value that is in it.
    pub from: Option<Value>,
    /// The value before which it ends.
    pub to: Option<Value>,
}

impl FacetRange {
    /// From the first value on, before the second.
    pub fn new(from: Option<impl Into<Value>>, to: Option<impl Into<Value>>) -> Self {
        FacetRange { from: from.map(Into::into), to: to.map(Into::into) }
    }
}

/// As the command line has it: `10..50`, `..10`, `50..`.
impl FromStr for FacetRange {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let end = |text: &str| Some(text.trim()).filter(|text| !text.is_empty()).map(Value::from);
        match text.split_once("..") {
            Some((from, to)) => Ok(FacetRange { from: end(from), to: end(to) }),
            None => Err(Error::new(ErrorKind::Usage, "reading a range")
                .expected("FROM..TO, FROM.. or ..TO")
                .found(format!("'{text}'"))),
        }
    }
}

impl<T: Into<Value>> From<Range<T>> for FacetRange {
    fn from(range: Range<T>) -> Self {
        Self::new(Some(range.start), Some(range.end))
    }
}

impl<T: Into<Value>> From<RangeFrom<T>> for FacetRange {
    fn from(range: RangeFrom<T>) -> Self {
        Self::new(Some(range.start), None::<Value>)
    }
}

impl<T: Into<Value>> From<RangeTo<T>> for FacetRange {
    fn from(range: RangeTo<T>) -> Self {
        Self::new(None::<Value>, Some(range.end))
    }
}

impl From<RangeFull> for FacetRange {
    fn from(_: RangeFull) -> Self {
        Self::default()
    }
}
