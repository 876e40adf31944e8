//! Numbers made of a document's columns and of its score.
//!
//! Hits may be sorted by them, and scores changed.
//!
//! A [`Function`] is bound to a schema once, which looks its names up, and opened for each segment. The numbers that it is made of
//! are those of fields that keep a column: as they are, dates as seconds since 1970, true as 1 and false as 0; of a field with many
//! values the least. `_score` is the score.
//!
//! Missing values propagate: a function of a missing value is missing, unless it says otherwise. A result that is no finite
//! number, as 1 / 0, is missing, too.
//!
//! Cost: by document a column takes some nanoseconds where the documents asked for are near each other, else a block to be set up;
//! an expression one or two nanoseconds for each of its parts.
//!
//! ```
//! use treepie::function::{Function, ScoreFunction};
//! use treepie::{Document, Index, Schema};
//!
//! let index = Index::in_memory(Schema::builder().text("name").u64("sales").build()?);
//! let mut writer = index.writer()?;
//! writer.add(Document::new().with("name", "Red lamp").with("sales", 3))?;
//! writer.add(Document::new().with("name", "Red lamp for the desk").with("sales", 900))?;
//! writer.commit()?;
//! let searcher = index.searcher()?;
//! let query = searcher.parse("lamp")?;
//! let sold = ScoreFunction::multiply(Function::expression("ln(1 + sales)")?);
//! let page = searcher.search(&query).score_function(sold).run()?;
//! assert_eq!(page.hits[0].fields["name"].to_string(), "Red lamp for the desk");
//! # Ok::<(), treepie::Error>(())
//! ```

mod decay;
mod distance;
mod expression;
mod field_value;
mod json;
mod parser;
mod score;

pub use decay::Decay;
pub(crate) use distance::DistanceFrom;
pub use field_value::{FieldValue, Modifier};
pub(crate) use score::{BoundScoreFunction, as_score};
pub use score::{Combine, ScoreFunction};

use crate::budget::{self, ns};
use crate::error::{Error, ErrorKind, Result};
use crate::format::column::AtHand;
use crate::format::points::PointsAtHand;
use crate::geo::Center;
use crate::ids::FieldId;
use crate::schema::{Field, FieldKind, Schema};
use crate::segment::file::Section;
use crate::segment::reader::SegmentReader;
use crate::value::{self, Value};
use expression::Expression;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Name of the score.
pub(crate) const SCORE: &str = "_score";
/// Names that a function may have.
const NAMES_MAX: usize = 32;

/// A number for a document, made of its columns and of its score.
///
/// It is an [expression](Self::expression), a [closure](Self::new), a [`FieldValue`] or a [`Decay`].
///
/// ```
/// use treepie::function::{Function, ScoreFunction};
/// use treepie::{Document, Field, FieldKind, Index, Schema, SortKey};
///
/// let field = |name| Field::new(name, FieldKind::F64);
/// let schema = Schema::builder().text("name").field(field("price")).field(field("weight"));
/// let index = Index::in_memory(schema.build()?);
/// let mut writer = index.writer()?;
/// for (name, price, weight) in [("jay", 3.5, 0.2), ("rook", 12.0, 0.5), ("magpie", 2.0, 0.25)] {
///     writer.add(Document::new().with("name", name).with("price", price).with("weight", weight))?;
/// }
/// writer.commit()?;
/// let searcher = index.searcher()?;
/// let query = searcher.parse("*")?;
/// let by_weight = Function::expression("price / weight")?;
/// let page = searcher.search(&query).sort([SortKey::function(by_weight)]).run()?;
/// assert_eq!(page.hits[0].fields["name"].to_string(), "magpie");
///
/// let dear = Function::new("dear", ["price", "_score"], |n| Some(n[1]? * n[0]?.sqrt()));
/// let page = searcher.search(&query).score_function(ScoreFunction::replace(dear)).run()?;
/// assert_eq!(page.hits[0].fields["name"].to_string(), "rook");
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function(Kind);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// With numbers for names that are none of fields.
    Expression(Arc<Expression>, Vec<(String, u64)>),
    Closure(Closure),
    FieldValue(FieldValue),
    Decay(Decay),
    Distance(DistanceFrom),
}

impl Function {
    /// An expression over fields.
    ///
    /// It has numbers, `+ - * / % ^`, `< <= > >= == !=`, which are 1 or 0, parentheses and functions. `^` binds
    /// tightest and to the right, then signs, then `* / %`, `+ -` and comparisons.
    ///
    /// | function | is |
    /// |---|---|
    /// | `abs(x) ceil(x) floor(x) round(x) sign(x) sqrt(x)` | as everywhere; halves are rounded away from 0, the sign of 0 is 0 |
    /// | `exp(x) ln(x) log1p(x) log2(x) log10(x)` | `log1p(x)` is `ln(1 + x)` |
    /// | `min(x, …) max(x, …)` | the least, the greatest |
    /// | `if(c, x, y)` | x where c is not 0, else y |
    /// | `coalesce(x, …)` | the first that is not missing |
    ///
    /// A name that is not of letters, digits, `_` and `.` is written between backquotes; so is that of a field which is also a name
    /// [that was given](Self::with) or `_score`: `` `now` `` is the field, `now` the time. A result from something missing is
    /// missing, but for `coalesce`; of `if` only the side that is taken counts.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`] with the place in the text.
    pub fn expression(text: &str) -> Result<Self> {
        Ok(Function(Kind::Expression(Arc::new(parser::parse(text)?), vec![])))
    }

    /// Function of a closure over the numbers of these names, in their order. Names are fields, or `_score`. A result
    /// of `None` is missing. Two are equal if one is a clone of the other: the `name` is for plans.
    pub fn new<N: Into<String>>(
        name: impl Into<String>,
        inputs: impl IntoIterator<Item = N>,
        function: impl Fn(&[Option<f64>]) -> Option<f64> + Send + Sync + 'static,
    ) -> Self {
        let (name, inputs) = (name.into(), inputs.into_iter().map(Into::into).collect());
        Function(Kind::Closure(Closure { name, inputs, function: Arc::new(function) }))
    }

    /// Gives a number to a name in an expression, before fields are asked.
    ///
    /// Nothing else has such names. A field of the same name is written between backquotes.
    ///
    /// ```
    /// use treepie::function::Function;
    /// use treepie::Timestamp;
    ///
    /// let now: Timestamp = "2024-05-06".parse()?;
    /// let age = Function::expression("(now - since) / 86400")?;
    /// let age = age.with("now", now.as_micros() as f64 / 1e6);
    /// assert_eq!(age.to_string(), "(now - since) / 86400");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, number: f64) -> Self {
        if let Kind::Expression(_, given) = &mut self.0 {
            let name = name.into();
            given.retain(|(other, _)| *other != name);
            given.push((name, number.to_bits()));
        }
        self
    }

    /// About how many bytes it takes.
    pub(crate) fn n_bytes(&self) -> usize {
        match &self.0 {
            Kind::Expression(expression, given) => {
                expression.n_bytes() + given.iter().map(|(name, _)| name.len() + 32).sum::<usize>()
            }
            Kind::Closure(closure) => closure.name.len() + closure.inputs.len() * 40,
            Kind::FieldValue(value) => value.field.len() + 40,
            Kind::Decay(decay) => decay.field.len() + decay.origin.n_bytes() + 40,
            Kind::Distance(distance) => distance.field.len() + 40,
        }
    }

    /// Names that it uses, and whether a field is meant wherever there is one.
    fn names(&self) -> Vec<(&str, bool)> {
        match &self.0 {
            Kind::Expression(expression, _) => {
                expression.names().iter().map(|name| (&*name.text, name.is_quoted)).collect()
            }
            Kind::Closure(closure) => closure.inputs.iter().map(|name| (&**name, false)).collect(),
            Kind::FieldValue(value) => vec![(&value.field, true)],
            Kind::Decay(decay) => vec![(&decay.field, true)],
            Kind::Distance(distance) => vec![(&distance.field, true)],
        }
    }

    /// Whether it can be made of the score.
    fn may_be_score(&self) -> bool {
        matches!(self.0, Kind::Expression(..) | Kind::Closure(_))
    }

    fn given(&self, name: &str) -> Option<f64> {
        let Kind::Expression(_, given) = &self.0 else { return None };
        let (_, bits) = given.iter().find(|(other, _)| other == name)?;
        Some(f64::from_bits(*bits))
    }

    /// Looks its names up.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`] for a name that is none of a field of numbers with a column, and for settings that mean nothing.
    pub(crate) fn bind(&self, schema: &Schema) -> Result<BoundFunction> {
        if let Kind::Distance(distance) = &self.0 {
            distance.check(self)?;
            let inputs = vec![Input::Points(distance.field_id(schema, self)?)];
            let center = Some(Center::of(distance.point));
            return Ok(BoundFunction { function: self.clone(), inputs, origin: 0.0, center });
        }
        if let Kind::Decay(decay) = &self.0
            && let Some(field) = schema.field_id(&decay.field)
            && schema.get(field).kind.is_point()
        {
            let center = Some(Center::of(decay.check_near(self)?));
            let inputs = vec![Input::Points(field)];
            return Ok(BoundFunction { function: self.clone(), inputs, origin: 0.0, center });
        }
        let names = self.names();
        if names.len() > NAMES_MAX {
            return Err(refused(self)
                .expected(format!("at most {NAMES_MAX} names"))
                .found(names.len().to_string()));
        }
        let input = |(name, means_field): (&str, bool)| {
            let means_field = means_field && schema.field_id(name).is_some();
            match self.given(name) {
                Some(number) if !means_field => Ok(Input::Number(number)),
                None if name == SCORE && self.may_be_score() && !means_field => Ok(Input::Score),
                _ => field_of_numbers(name, schema, self)
                    .map(|(field, kind)| Input::Column { field, kind }),
            }
        };
        let inputs = names.into_iter().map(input).collect::<Result<Vec<_>>>()?;
        let origin = match (&self.0, inputs.first()) {
            (Kind::FieldValue(own), _) => own.check(self).map(|()| 0.0)?,
            (Kind::Decay(own), Some(Input::Column { field, .. })) => {
                own.check(schema.get(*field), self)?
            }
            _ => 0.0,
        };
        Ok(BoundFunction { function: self.clone(), inputs, origin, center: None })
    }
}

/// The expression as it was written, or else what it does.
impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Expression(expression, _) => f.write_str(expression.text()),
            Kind::Closure(closure) => write!(f, "{}({})", closure.name, closure.inputs.join(", ")),
            Kind::FieldValue(value) => value.fmt(f),
            Kind::Decay(decay) => decay.fmt(f),
            Kind::Distance(distance) => distance.fmt(f),
        }
    }
}

impl From<FieldValue> for Function {
    fn from(value: FieldValue) -> Self {
        Function(Kind::FieldValue(value))
    }
}

impl From<Decay> for Function {
    fn from(decay: Decay) -> Self {
        Function(Kind::Decay(decay))
    }
}

/// An error about a function that cannot be what it is.
fn refused(function: &Function) -> Error {
    Error::new(ErrorKind::Usage, format!("making a number of '{function}'"))
}

fn field_of_numbers(
    name: &str,
    schema: &Schema,
    function: &Function,
) -> Result<(FieldId, FieldKind)> {
    let is_one = |field: &Field| field.column && has_numbers(field.kind);
    let found = schema.field_id(name).map(|id| (id, schema.get(id)));
    if let Some((id, field)) = found.filter(|(_, field)| is_one(field)) {
        return Ok((id, field.kind));
    }
    let known = schema.fields().iter().filter(|field| is_one(field)).map(|field| &*field.name);
    let known =
        known.chain(function.may_be_score().then_some(SCORE)).collect::<Vec<_>>().join(", ");
    Err(match found {
        None => {
            let error = refused(function)
                .expected(format!("names of {known}"))
                .found(format!("'{name}'"))
                .hint("the fields of numbers, dates and booleans that keep a column have numbers");
            schema.did_you_mean(error, name)
        }
        Some((_, field)) if has_numbers(field.kind) => refused(function)
            .expected(format!("names of {known}"))
            .found(format!("the field '{name}', which keeps no column")),
        Some((_, field)) => refused(function)
            .expected(format!("names of {known}"))
            .found(format!("the {} field '{name}'", field.kind.name())),
    })
}

fn has_numbers(kind: FieldKind) -> bool {
    matches!(
        kind,
        FieldKind::I64
            | FieldKind::U64
            | FieldKind::F64
            | FieldKind::Bool
            | FieldKind::Date
            | FieldKind::Decimal { .. }
    )
}

/// The number that a code of a field of numbers stands for, as functions have it.
fn number_of(kind: FieldKind, code: u64) -> f64 {
    match value::value(kind, code) {
        Value::I64(number) => number as f64,
        Value::U64(number) => number as f64,
        Value::F64(number) => number,
        Value::Bool(is_true) => f64::from(u8::from(is_true)),
        Value::Date(date) => date.as_micros() as f64 / 1e6,
        Value::Decimal(number) => number.unscaled() as f64 / 10f64.powi(number.scale().into()),
        Value::Null | Value::Text(_) | Value::Ip(_) | Value::Vector(_) | Value::Point(_) => {
            f64::NAN
        }
    }
}

/// Function of numbers that a caller gives.
type OfNumbers = dyn Fn(&[Option<f64>]) -> Option<f64> + Send + Sync;

#[derive(Clone)]
struct Closure {
    name: String,
    inputs: Vec<String>,
    function: Arc<OfNumbers>,
}

impl Closure {
    fn address(&self) -> *const () {
        Arc::as_ptr(&self.function).cast()
    }
}

impl PartialEq for Closure {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
            && (&self.name, &self.inputs) == (&other.name, &other.inputs)
    }
}

impl Eq for Closure {}

impl Hash for Closure {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl fmt::Debug for Closure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closure")
            .field("name", &self.name)
            .field("inputs", &self.inputs)
            .finish_non_exhaustive()
    }
}

/// A function whose names are looked up.
#[derive(Clone, Debug)]
pub(crate) struct BoundFunction {
    function: Function,
    inputs: Vec<Input>,
    /// Origin of a decay, as a number.
    origin: f64,
    /// Point that distances are measured from.
    center: Option<Center>,
}

/// Source of the number behind a name.
#[derive(Clone, Copy, Debug)]
enum Input {
    Number(f64),
    Score,
    Column { field: FieldId, kind: FieldKind },
    Points(FieldId),
}

impl BoundFunction {
    pub(crate) fn needs_score(&self) -> bool {
        self.inputs.iter().any(|input| matches!(input, Input::Score))
    }

    /// The distance that it is, if it is one: of which field, and from where.
    pub(crate) fn distance(&self) -> Option<(FieldId, Center, &DistanceFrom)> {
        match (&self.function.0, self.center, &self.inputs[..]) {
            (Kind::Distance(distance), Some(center), [Input::Points(field)]) => {
                Some((*field, center, distance))
            }
            _ => None,
        }
    }

    /// Opens the columns of a segment.
    pub(crate) fn open<'s>(&self, segment: SegmentReader<'s>) -> Result<FunctionColumns<'s>> {
        let column = |input: &Input| match input {
            Input::Column { field, .. } => Ok(segment.field(*field).column()?.map(AtHand::of)),
            Input::Number(_) | Input::Score | Input::Points(_) => Ok(None),
        };
        let columns = self.inputs.iter().map(column).collect::<Result<_>>()?;
        let points = match self.inputs[..] {
            [Input::Points(field)] => segment.field(field).points()?.map(PointsAtHand::of),
            _ => None,
        };
        Ok(FunctionColumns { columns, points, numbers: vec![], stack: vec![], optional: vec![] })
    }

    /// Value of a document; `None` if it is missing or no finite number.
    pub(crate) fn value(
        &self,
        columns: &mut FunctionColumns<'_>,
        doc: u32,
        score: f64,
    ) -> Result<Option<f64>> {
        if let Some(center) = &self.center {
            let metres = columns.metres(center, doc)?;
            return Ok(match &self.function.0 {
                Kind::Distance(distance) => metres.map(|metres| distance.value(metres)),
                Kind::Decay(decay) => metres.map(|it| decay.of_distance(it)).or(decay.missing),
                _ => None,
            });
        }
        let FunctionColumns { columns, numbers, stack, optional, .. } = columns;
        let n_steps = match &self.function.0 {
            Kind::Expression(expression, _) => expression.n_steps(),
            _ => 1,
        };
        budget::work(ns::FUNCTION_NUMBER * (self.inputs.len() + n_steps) as u64)?;
        numbers.clear();
        for (input, column) in self.inputs.iter().zip(columns) {
            numbers.push(match (input, column) {
                (Input::Number(number), _) => *number,
                (Input::Score, _) => score,
                (Input::Column { kind, .. }, Some(column)) => {
                    let (block, place) = column.block_of(doc)?;
                    match &self.function.0 {
                        // The nearest of several values.
                        Kind::Decay(decay) => {
                            budget::work(block.codes(place).count() as u64)?;
                            let values = block.codes(place).map(|code| number_of(*kind, code));
                            decay.of_nearest(self.origin, values)
                        }
                        _ => block.least(place).map_or(f64::NAN, |code| number_of(*kind, code)),
                    }
                }
                (Input::Column { .. } | Input::Points(_), _) => f64::NAN,
            });
        }
        let first = numbers.first().copied().unwrap_or(f64::NAN);
        let value = match &self.function.0 {
            Kind::Expression(expression, _) => expression.value(numbers, stack),
            Kind::Closure(closure) => {
                optional.clear();
                optional.extend(numbers.iter().map(|number| Some(*number).filter(|n| !n.is_nan())));
                (closure.function)(optional).unwrap_or(f64::NAN)
            }
            Kind::FieldValue(value) => value.of(first),
            Kind::Decay(decay) => decay.or_missing(first),
            Kind::Distance(_) => f64::NAN,
        };
        Ok(Some(value).filter(|value| value.is_finite()))
    }
}

impl fmt::Display for BoundFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.function.fmt(f)
    }
}

/// The columns of a function in a segment, and room for what is made of them.
#[derive(Debug)]
pub(crate) struct FunctionColumns<'s> {
    columns: Vec<Option<AtHand<'s, Section<'s>>>>,
    points: Option<PointsAtHand<'s, Section<'s>>>,
    numbers: Vec<f64>,
    stack: Vec<f64>,
    optional: Vec<Option<f64>>,
}

impl FunctionColumns<'_> {
    /// Metres from a center to the nearest point of a document.
    fn metres(&mut self, center: &Center, doc: u32) -> Result<Option<f64>> {
        let Some(points) = &mut self.points else { return Ok(None) };
        let (block, place) = points.block_of(doc)?;
        budget::work(ns::POINT_TESTED * block.numbers(place).len() as u64)?;
        Ok(block.points(place).map(|point| center.metres(point)).reduce(f64::min))
    }
}
