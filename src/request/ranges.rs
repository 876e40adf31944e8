//! Ranges of values: those that are asked for, and such as suit what matches.

use crate::error::{Error, ErrorKind, Result};
use crate::facet::{AddressRange, Steps};
use crate::schema::{Field, FieldKind};
use crate::value::{self, Calendar, DecimalWidth, Interval, Timestamp, Value, Zone};
use std::fmt;
use std::ops::{Range, RangeFrom, RangeFull, RangeTo};
use std::str::FromStr;

/// The intervals of a facet, which are those of UTC if no zone is said.
pub(crate) fn calendar(interval: Interval, zone: Option<&Zone>) -> Calendar {
    Calendar::new(interval, zone.cloned().unwrap_or_default())
}

/// Counts the intervals that have all codes between these, up to `most`.
pub(crate) fn n_intervals(
    calendar: &Calendar,
    (least, greatest): (u64, u64),
    most: usize,
) -> usize {
    let micros = |code| Timestamp::from_code(code).map_or(0, Timestamp::as_micros);
    let first = Some(calendar.start(micros(least)));
    let starts = std::iter::successors(first, |start| calendar.next(*start));
    starts.take_while(|start| *start <= micros(greatest)).take(most).count()
}

/// Ranges that a facet may have at the most.
pub(crate) const RANGES_MAX: usize = 1_024;
/// Behind all codes.
pub(crate) const BEHIND: u128 = 1 << u64::BITS;

/// Range of values, from one on and below another. Both are values of the field or texts that mean them; without one
/// there is no end on that side. If a text means more than one value, as `2024-05` and the block `10.0.0.0/8` do, an
/// end is the first.
///
/// ```
/// use treepie::facet::FacetRange;
/// use treepie::Value;
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

/// Writes the range like the command line has it.
impl fmt::Display for FacetRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_ends(f, &self.from, &self.to)
    }
}

/// Writes both ends of a range, if it has them.
pub(crate) fn write_ends(
    f: &mut fmt::Formatter<'_>,
    from: &Option<Value>,
    to: &Option<Value>,
) -> fmt::Result {
    let end = |end: &Option<Value>| end.as_ref().map(Value::to_string).unwrap_or_default();
    write!(f, "{}..{}", end(from), end(to))
}

/// Reads the form of the command line: `10..50`, `..10`, `50..`.
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

/// An error about an end of a range.
pub(crate) fn not_an_end(field: &Field, refused: value::NotTaken) -> Error {
    refused.into_usage(format!("reading an end of a range of '{}'", field.name))
}

/// The code that an end of a range stands before, and its value if it is one of the field.
fn end_of(field: &Field, end: &Value) -> Result<(u128, Value)> {
    let kind = field.kind;
    let span = value::span_in(field, &end.to_exact_text()).map_err(|it| not_an_end(field, it))?;
    let first = u128::try_from(span.first.max(0)).unwrap_or(0).min(BEHIND);
    let code = u64::try_from(span.first).ok().filter(|_| span.first <= span.last);
    Ok((first, code.map_or_else(|| end.clone(), |code| value::value(kind, code))))
}

/// The value that an end of a range stands before, or what it is if there is none.
#[cfg(feature = "arrow")]
pub(crate) fn first_value(field: &Field, end: &Value) -> Value {
    let Value::Text(text) = end else { return end.clone() };
    let first = value::span_in(field, text).ok().and_then(|it| u64::try_from(it.first).ok());
    first.map_or_else(|| end.clone(), |code| value::value(field.kind, code))
}

/// Ranges of codes, and the ends that they are shown with.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    pub(crate) codes: Vec<Range<u128>>,
    pub(crate) shown: Vec<FacetRange>,
}

impl Ranges {
    pub(crate) fn of(field: &Field, ranges: &[FacetRange]) -> Result<Self> {
        check_number(ranges)?;
        let (mut codes, mut shown) = (vec![], vec![]);
        for range in ranges {
            let from = range.from.as_ref().map(|end| end_of(field, end)).transpose()?;
            let to = range.to.as_ref().map(|end| end_of(field, end)).transpose()?;
            let first = from.as_ref().map_or(0, |from| from.0);
            codes.push(first..to.as_ref().map_or(BEHIND, |to| to.0));
            shown.push(FacetRange { from: from.map(|end| end.1), to: to.map(|end| end.1) });
        }
        Ok(Ranges { codes, shown })
    }

    /// Ranges that begin with these codes, ascending, and one before them all.
    pub(crate) fn between(kind: FieldKind, starts: &[u64]) -> Self {
        let mut ranges = Ranges::default();
        let ends = starts.iter().copied().map(Some).chain([None]);
        let mut from = None;
        for to in ends {
            let value = |code: Option<u64>| code.map(|code| value::value(kind, code));
            ranges.codes.push(from.map_or(0, u128::from)..to.map_or(BEHIND, u128::from));
            ranges.shown.push(FacetRange { from: value(from), to: value(to) });
            from = to;
        }
        ranges
    }
}

/// Ranges of addresses, and the ends that they are shown with.
#[derive(Debug)]
pub(crate) struct AddressRanges {
    pub(crate) ranges: Vec<AddressRange>,
    pub(crate) shown: Vec<FacetRange>,
}

impl AddressRanges {
    /// Binds ranges. An end that is a block, as 10.0.0.0/8, is its first address, and a day is its first moment.
    pub(crate) fn of(field: &Field, ranges: &[FacetRange]) -> Result<Self> {
        check_number(ranges)?;
        let end = |end: &Option<Value>| {
            let end = end.as_ref().map(|end| value::addresses(&end.to_exact_text())).transpose();
            end.map(|span| span.map(|span| span.first)).map_err(|it| not_an_end(field, it))
        };
        let shown = |end: Option<u128>| {
            end.map(|end| Value::of_term(field.kind, &value::term_of_address(end)))
        };
        let mut all = AddressRanges { ranges: vec![], shown: vec![] };
        for range in ranges {
            let (from, to) = (end(&range.from)?, end(&range.to)?);
            all.ranges.push(AddressRange { from: from.unwrap_or(0), to });
            all.shown.push(FacetRange { from: shown(from), to: shown(to) });
        }
        Ok(all)
    }
}

pub(super) fn check_number(ranges: &[FacetRange]) -> Result<()> {
    if ranges.len() <= RANGES_MAX {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Usage, "counting by ranges")
        .expected(format!("at most {RANGES_MAX} ranges"))
        .found(ranges.len().to_string()))
}

/// Steps of a width that is a number of the field, and more than nothing.
pub(crate) fn steps_of(field: &Field, width: &Value) -> Result<Steps> {
    let text = width.to_exact_text();
    let wrong = |expected: String| {
        Error::new(ErrorKind::Usage, format!("reading the width of steps of '{}'", field.name))
            .expected(expected)
            .found(format!("'{text}'"))
    };
    let span = value::span(field.kind, &text).map_err(|refused| wrong(refused.expected.into()))?;
    let code = u64::try_from(span.first).ok().filter(|_| span.first == span.last);
    let zero = zero_of(field.kind);
    let is_fraction = field.kind == FieldKind::F64;
    match code.filter(|code| *code > zero) {
        Some(code) if is_fraction => {
            Ok(Steps::Fractions(DecimalWidth::new(value::f64_of_code(code))))
        }
        Some(code) => Ok(Steps::Whole { zero, width: code - zero }),
        None => Err(wrong("a number of the field above zero".to_owned())),
    }
}

/// The code of nought.
fn zero_of(kind: FieldKind) -> u64 {
    // The codes of all but natural numbers begin below zero.
    match kind {
        FieldKind::U64 => 0,
        FieldKind::F64 => value::code_of_f64(0.0).unwrap_or_default(),
        _ => Timestamp::code_of_micros(0),
    }
}

/// Ranges that suit the values that there are.
pub(crate) enum Suitable {
    Steps(Steps),
    Intervals(Calendar),
}

impl Suitable {
    /// At most `n` ranges, two or more, that have all codes between these: steps of 1, 2 or 5 times a power of ten, or intervals
    /// of the calendar of a zone or so many of its years, as short as that allows.
    pub(crate) fn of(
        field: &Field,
        (least, greatest): (u64, u64),
        n: usize,
        zone: Option<&Zone>,
    ) -> Self {
        let n = n as u128;
        match field.kind {
            FieldKind::Date => Self::of_dates((least, greatest), n as usize, zone),
            FieldKind::F64 => {
                let ends = [least, greatest].map(value::f64_of_code);
                let furthest = ends[0].abs().max(ends[1].abs());
                // Not one from the other, which may be beyond all numbers.
                let each = ends[1] / n as f64 - ends[0] / n as f64;
                let each = if each > 0.0 { each } else { furthest / n as f64 };
                let first = each.max(f64::MIN_POSITIVE).log10().floor() as i32 - 1;
                let widths = (first..).take_while(|_| furthest > 0.0);
                let widths = widths.flat_map(|power| [1, 2, 5].map(|digit| (digit, power)));
                // By its digits, so that it is the number that is written so.
                let widths = widths.map(|(digit, power)| format!("{digit}e{power}").parse());
                let steps = widths.map_while(|width| width.ok().filter(|it: &f64| it.is_finite()));
                let mut steps = steps
                    .filter(|width| *width > 0.0)
                    .map(|width| Steps::Fractions(DecimalWidth::new(width)))
                    .filter(|steps| steps.tells_apart((least, greatest)));
                let fits = |steps: &Steps| steps.n_between((least, greatest)) <= n;
                let widest = if furthest > 0.0 { f64::MAX } else { 1.0 };
                let widest = || Steps::Fractions(DecimalWidth::new(widest));
                Suitable::Steps(steps.find(fits).unwrap_or_else(widest))
            }
            kind => {
                let zero = zero_of(kind);
                let widths = (0..20).flat_map(|power| [1, 2, 5].map(|it| it * 10u128.pow(power)));
                let widths = widths.map_while(|width| u64::try_from(width).ok());
                let mut steps = widths.map(|width| Steps::Whole { zero, width });
                let fits = |steps: &Steps| steps.n_between((least, greatest)) <= n;
                let widest = Steps::Whole { zero, width: u64::MAX };
                Suitable::Steps(steps.find(fits).unwrap_or(widest))
            }
        }
    }

    fn of_dates(codes: (u64, u64), n: usize, zone: Option<&Zone>) -> Self {
        let fits = |calendar: &Calendar| n_intervals(calendar, codes, n + 1) <= n;
        let one = Interval::shortest_first().map(|it| calendar(it, zone));
        let years = |n: i16| Calendar::of_years(n, zone.cloned().unwrap_or_else(Zone::utc));
        let powers = (0..4).map(|power| 10i16.pow(power));
        let several = powers.flat_map(|power| [2, 5, 10].map(|digit| years(digit * power)));
        // All years there are lie in two times ten thousand.
        let widest = years(10_000);
        Suitable::Intervals(one.chain(several).find(fits).unwrap_or(widest))
    }
}
