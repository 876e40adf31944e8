//! Keys that hits are sorted by.

use crate::error::{Error, ErrorKind, Result};
use crate::function::{DistanceFrom, Function, SCORE};
use crate::geo::{Distance, GeoPoint};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Text before the point that distances are measured from.
const NEAR: &str = ":near=";
const NEAR_OF_FIELD: &str = "near=";
/// Text before the step of distances.
const STEP: &str = "step=";
/// Name of a key that shuffles.
const RANDOM: &str = "random";

/// Sort key of hits, with its direction. A field's numbers, dates and booleans go by size, keywords by bytes. Others
/// are the [score](Self::score), a [function](Self::function) of both, and [chance](Self::random).
///
/// The least of a document's many values counts if the order ascends, the greatest if it descends. Documents without
/// a value come last, unless they are wanted [first](Self::missing_first), whichever way the order goes.
///
/// ```
/// use treepie::function::Function;
/// use treepie::SortKey;
///
/// let key: SortKey = "price:desc".parse()?;
/// assert_eq!(key, SortKey::descending("price"));
/// assert_eq!(SortKey::ascending("price").missing_first().to_string(), "price:asc:missing_first");
/// assert_eq!("_score".parse::<SortKey>()?, SortKey::score());
/// assert_eq!("random:7".parse::<SortKey>()?, SortKey::random(7));
/// let by_weight = Function::expression("price / weight")?;
/// assert_eq!("(price / weight)".parse::<SortKey>()?, SortKey::function(by_weight));
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SortKey {
    pub(super) by: SortBy,
    pub(super) direction: Direction,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum SortBy {
    Field(String, TextSort),
    Score,
    Random(u64),
    Function(Function),
}

/// Order of the keywords of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum TextSort {
    #[default]
    Bytes,
    Natural,
    /// By the rules of a locale.
    Collated(String),
}

/// Direction of an order, and the side of values that are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Direction {
    pub(crate) descending: bool,
    pub(crate) missing_first: bool,
}

impl SortKey {
    /// The least value first.
    pub fn ascending(field: impl Into<String>) -> Self {
        SortBy::Field(field.into(), TextSort::default()).into_key()
    }

    /// The greatest value first.
    pub fn descending(field: impl Into<String>) -> Self {
        Self::ascending(field).reversed()
    }

    /// Sorts keywords in natural order. Letters count without regard to case and marks, numbers in them by their value,
    /// in the digits of any script. Keywords that are equal so are in the order of bytes. Any other key stays as it is.
    ///
    /// ```
    /// use treepie::{Document, Field, FieldKind, Index, Schema, SortKey};
    ///
    /// let field = Field::new("name", FieldKind::Keyword).column(true);
    /// let index = Index::in_memory(Schema::builder().field(field).build()?);
    /// let mut writer = index.writer()?;
    /// for name in ["Disc 10", "disc 9", "Disc 1"] {
    ///     writer.add(Document::new().with("name", name))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("*")?;
    /// let page = searcher.search(&query).sort([SortKey::ascending("name").natural()]).run()?;
    /// let names: Vec<_> = page.hits.iter().map(|hit| hit.fields["name"].to_string()).collect();
    /// assert_eq!(names, ["Disc 1", "disc 9", "Disc 10"]);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// Every document that matches is looked at, where this is the first key; of each different value that comes along the term is read
    /// and made into a key, a microsecond or so, and some thousands of these are kept at hand.
    #[must_use]
    pub fn natural(mut self) -> Self {
        self.set_text(TextSort::Natural);
        self
    }

    /// Sorts keywords by the rules of a language. They are Unicode's collation for a locale: `de`, `sv-SE`, `de-u-kn`
    /// (numbers by value). An unknown one has the root's. Otherwise as [`natural`](Self::natural).
    ///
    /// With the feature `collation` only, whose data of all locales makes a program 1.3 MB larger; without it the search is refused.
    #[must_use]
    pub fn collated(mut self, locale: impl Into<String>) -> Self {
        self.set_text(TextSort::Collated(locale.into()));
        self
    }

    pub(super) fn set_text(&mut self, sort: TextSort) {
        if let SortBy::Field(_, text) = &mut self.by {
            *text = sort;
        }
    }

    /// The best first, by the score that the search gives. Every document that matches is scored, where this is the first key;
    /// otherwise those that the keys before it leave.
    pub fn score() -> Self {
        SortBy::Score.into_key().reversed()
    }

    /// Random order, the same each time that it is asked for with this seed.
    ///
    /// By the greatest 53 bits of `splitmix64(splitmix64(seed) ^ n)`, a hash that a test keeps as it is. If the index
    /// has a [key](crate::SchemaBuilder::key) of numbers, n is the code of its value: then a document keeps its place
    /// as long as it has its key, wherever updates and merges put it. Otherwise n is the number of the document in
    /// the snapshot, which holds for all pages of one snapshot and may be another's in the next.
    pub fn random(seed: u64) -> Self {
        SortBy::Random(seed).into_key()
    }

    /// Sorts by a function's number of a document, the least first. Documents for which it has none are without a
    /// value. Every document that matches is looked at, where this is the first key.
    pub fn function(function: impl Into<Function>) -> Self {
        SortBy::Function(function.into()).into_key()
    }

    /// Sorts by the distance of a document's nearest point from another, the nearest first.
    ///
    /// Hits carry their [distances](crate::Hit::distances), in metres. Every document that matches is looked at, where this is the
    /// first key.
    ///
    /// ```
    /// use treepie::SortKey;
    /// use treepie::geo::GeoPoint;
    ///
    /// let key = SortKey::near("location", GeoPoint::new(48.8566, 2.3522)?);
    /// assert_eq!(key, "location:near=48.8566/2.3522".parse()?);
    /// let steps = key.in_steps("500m".parse()?);
    /// assert_eq!(steps.to_string(), "location:near=48.8566/2.3522,step=500m:asc");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn near(field: impl Into<String>, point: GeoPoint) -> Self {
        let distance = DistanceFrom { field: field.into(), point, step: None };
        SortKey::function(Function::distance(distance))
    }

    /// Sorts by steps of a distance.
    ///
    /// Keys behind it order documents of one step. Any other key stays as it is.
    #[must_use]
    pub fn in_steps(mut self, step: Distance) -> Self {
        if let Some(distance) = self.distance() {
            let distance = DistanceFrom { step: Some(step), ..distance.clone() };
            self.by = SortBy::Function(Function::distance(distance));
        }
        self
    }

    /// The distance that it sorts by, if it does.
    pub(crate) fn distance(&self) -> Option<&DistanceFrom> {
        match &self.by {
            SortBy::Function(function) => function.as_distance(),
            _ => None,
        }
    }

    /// Several keys, with commas between them, as each is [read](Self::from_str) by itself.
    ///
    /// ```
    /// use treepie::SortKey;
    ///
    /// let keys = SortKey::list("(max(price, 3)):desc,name")?;
    /// assert_eq!(keys[0].to_string(), "(max(price, 3)):desc");
    /// assert_eq!(keys[1], SortKey::ascending("name"));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`] for what is no key.
    pub fn list(text: &str) -> Result<Vec<Self>> {
        let mut walk = Walk::default();
        let mut keys: Vec<String> = vec![];
        for part in text.split(|c| walk.is_outside(c) && c == ',') {
            match keys.last_mut() {
                // A step of the distance before it.
                Some(key) if part.starts_with(STEP) && key.contains(NEAR) => {
                    key.push(',');
                    key.push_str(part);
                }
                _ => keys.push(part.to_owned()),
            }
        }
        keys.iter().map(|key| key.parse()).collect()
    }

    /// Gives a number to a name of its expression, as [`Function::with`]. Any other key stays as it is.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, number: f64) -> Self {
        if let SortBy::Function(function) = self.by {
            self.by = SortBy::Function(function.with(name, number));
        }
        self
    }

    /// Reverses the order; has no effect on a random order.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.direction.descending ^= !matches!(self.by, SortBy::Random(_));
        self
    }

    /// Documents without a value before all others.
    #[must_use]
    pub fn missing_first(mut self) -> Self {
        self.direction.missing_first = self.by.may_be_missing();
        self
    }

    /// Name of the field, if it is one.
    pub fn field(&self) -> Option<&str> {
        let SortBy::Field(name, _) = &self.by else { return None };
        Some(name)
    }

    /// Text of its subject, for people.
    pub(crate) fn what(&self) -> &'static str {
        match &self.by {
            SortBy::Field(_, TextSort::Bytes) => "column",
            SortBy::Field(..) => "keys of the terms",
            SortBy::Score => "score",
            SortBy::Random(_) => "hash",
            SortBy::Function(function) if function.as_distance().is_some() => "distance",
            SortBy::Function(_) => "function",
        }
    }

    /// Several of them for people: `price descending, then (a + b) ascending, missing first`.
    pub(crate) fn described(keys: &[SortKey]) -> String {
        keys.iter().map(SortKey::in_words).collect::<Vec<_>>().join(", then ")
    }

    fn in_words(&self) -> String {
        let by = match &self.by {
            SortBy::Field(name, TextSort::Bytes) => name.clone(),
            SortBy::Field(name, TextSort::Natural) => format!("{name} in natural order"),
            SortBy::Field(name, TextSort::Collated(locale)) => {
                format!("{name} in the order of {locale}")
            }
            SortBy::Score => "score".to_owned(),
            SortBy::Random(seed) => return format!("random order {seed}"),
            SortBy::Function(function) => match function.as_distance() {
                Some(DistanceFrom { field, point, step: None }) => {
                    format!("distance of {field} from {point}")
                }
                Some(DistanceFrom { field, point, step: Some(step) }) => {
                    format!("distance of {field} from {point} in steps of {step}")
                }
                None => format!("({function})"),
            },
        };
        let direction = if self.direction.descending { "descending" } else { "ascending" };
        let missing = if self.direction.missing_first { ", missing first" } else { "" };
        format!("{by} {direction}{missing}")
    }

    pub(crate) fn n_bytes(&self) -> usize {
        match &self.by {
            SortBy::Field(name, TextSort::Collated(locale)) => name.len() + locale.len(),
            SortBy::Field(name, _) => name.len(),
            SortBy::Function(function) => function.n_bytes(),
            SortBy::Score | SortBy::Random(_) => 0,
        }
    }
}

impl SortBy {
    fn into_key(self) -> SortKey {
        SortKey { by: self, direction: Direction::default() }
    }

    pub(super) fn may_be_missing(&self) -> bool {
        matches!(self, SortBy::Field(..) | SortBy::Function(_))
    }
}

/// Reads the form of the command line: `price`, `price:desc` or `-price`, `price:asc:missing_first`; `name:natural`, `name:collate=de`;
/// `location:near=48.8566/2.3522,step=500m`; `_score`, which is the best first, and
/// `_score:asc`; `random:7`; an [expression](Function::expression) between parentheses, `(price / weight):desc`. A field that is called
/// otherwise than this allows stands between backquotes, `` `a:b, c`:desc ``, with two of them for one in its name; one that only has
/// blanks and, behind one, parentheses may stand as it is: `Price (EUR):desc`.
impl FromStr for SortKey {
    type Err = Error;

    fn from_str(whole: &str) -> Result<Self> {
        let text = whole.strip_prefix('-').unwrap_or(whole);
        let is_descending = text.len() < whole.len();
        let refused = || {
            Error::new(ErrorKind::Usage, "reading an order")
                .expected(
                    "FIELD, FIELD:asc, FIELD:desc or -FIELD, and :missing_first or :missing_last, :natural or :collate=LOCALE behind it, or FIELD:near=LATITUDE/LONGITUDE with ,step=DISTANCE; the same behind (EXPRESSION); _score, _score:asc or random:SEED; a field with other characters in its name between backquotes",
                )
                .found(format!("'{whole}'"))
        };
        let mut walk = Walk::default();
        let mut parts = text.split(|c| walk.is_outside(c) && c == ':');
        let name = parts.next().unwrap_or_default();
        if name.is_empty() || name.starts_with('-') {
            return Err(refused());
        }
        if let Some(seed) = text.strip_prefix(RANDOM).and_then(|rest| rest.strip_prefix(':'))
            && let Ok(seed) = seed.parse()
        {
            // Chance has no end to begin at.
            return if is_descending { Err(refused()) } else { Ok(SortKey::random(seed)) };
        }
        let expression = name.strip_prefix('(').and_then(|name| name.strip_suffix(')'));
        let mut key = match expression {
            Some(expression) => SortKey::function(Function::expression(expression)?),
            None if name.starts_with('`') => {
                SortKey::ascending(without_backquotes(name).ok_or_else(refused)?)
            }
            None if name.contains('`') || !has_parentheses_of_names(name) => return Err(refused()),
            None if name == SCORE => SortKey::score(),
            None => SortKey::ascending(name),
        };
        key.direction.descending |= is_descending;
        let (mut has_direction, mut has_missing, mut has_text) = (is_descending, false, false);
        for part in parts {
            let has = match part {
                "asc" | "desc" => {
                    key.direction.descending = part == "desc";
                    &mut has_direction
                }
                "missing_first" | "missing_last" if key.by.may_be_missing() => {
                    key.direction.missing_first = part == "missing_first";
                    &mut has_missing
                }
                _ if key.field().is_some() && part.starts_with(NEAR_OF_FIELD) => {
                    let near = read_near(&part[NEAR_OF_FIELD.len()..])?;
                    let field = key.field().unwrap_or_default().to_owned();
                    key.by = SortBy::Function(Function::distance(DistanceFrom { field, ..near }));
                    &mut has_text
                }
                _ if key.field().is_some() => {
                    let locale = part.strip_prefix("collate=").filter(|locale| !locale.is_empty());
                    key.set_text(match locale {
                        Some(locale) => TextSort::Collated(locale.to_owned()),
                        None if part == "natural" => TextSort::Natural,
                        None => return Err(refused()),
                    });
                    &mut has_text
                }
                _ => return Err(refused()),
            };
            if std::mem::replace(has, true) {
                return Err(refused());
            }
        }
        Ok(key)
    }
}

/// Reads a point, and the step of distances from it.
fn read_near(text: &str) -> Result<DistanceFrom> {
    let doing = || Error::new(ErrorKind::Usage, "reading an order by distance");
    let (point, step) = match text.split_once(',') {
        Some((point, rest)) => match rest.strip_prefix(STEP) {
            Some(step) => (point, Some(step.parse()?)),
            // A comma parts keys: the latitude and the longitude have a slash between them.
            None => {
                let error = doing().expected("LATITUDE/LONGITUDE, and ,step=DISTANCE behind it");
                return Err(error.found(format!("'{text}'")));
            }
        },
        None => (text, None),
    };
    Ok(DistanceFrom { field: String::new(), point: point.parse()?, step })
}

/// The name that is written between backquotes.
fn without_backquotes(quoted: &str) -> Option<String> {
    let name = quoted.strip_prefix('`')?.strip_suffix('`')?;
    let is_whole = !name.is_empty() && !name.replace("``", "").contains('`');
    is_whole.then(|| name.replace("``", "`"))
}

/// Whether parentheses in a name are those of words, as in `Price (EUR)`: closed, and behind a blank. `log(price)` is rather an
/// expression that lacks its own.
fn has_parentheses_of_names(name: &str) -> bool {
    let (mut depth, mut before) = (0_u32, None);
    for c in name.chars() {
        match c {
            '(' if depth == 0 && before != Some(' ') => return false,
            '(' => depth += 1,
            ')' if depth == 0 => return false,
            ')' => depth -= 1,
            _ => {}
        }
        before = Some(c);
    }
    depth == 0
}

/// A name as it is read back, between backquotes where it would mean something else without.
fn quoted(name: &str) -> Cow<'_, str> {
    let is_plain =
        !name.starts_with('-') && !name.contains(['(', ')', '`', ':', ',']) && name != SCORE;
    if is_plain { name.into() } else { format!("`{}`", name.replace('`', "``")).into() }
}

/// State of a walk through the text of keys.
#[derive(Debug, Default)]
struct Walk {
    depth: u32,
    is_quoted: bool,
}

impl Walk {
    /// Goes on; whether the character stands outside of all parentheses and backquotes.
    fn is_outside(&mut self, c: char) -> bool {
        match c {
            '`' => self.is_quoted = !self.is_quoted,
            '(' if !self.is_quoted => self.depth += 1,
            ')' if !self.is_quoted => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.depth == 0 && !self.is_quoted
    }
}

impl fmt::Display for SortKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.by {
            SortBy::Field(name, TextSort::Bytes) => f.write_str(&quoted(name))?,
            SortBy::Field(name, TextSort::Natural) => write!(f, "{}:natural", quoted(name))?,
            SortBy::Field(name, TextSort::Collated(locale)) => {
                write!(f, "{}:collate={locale}", quoted(name))?;
            }
            SortBy::Score => f.write_str(SCORE)?,
            SortBy::Random(seed) => return write!(f, "{RANDOM}:{seed}"),
            SortBy::Function(function) => match function.as_distance() {
                Some(DistanceFrom { field, point, step }) => {
                    let (lat, lon) = (point.lat(), point.lon());
                    write!(f, "{}{NEAR}{lat}/{lon}", quoted(field))?;
                    if let Some(step) = step {
                        write!(f, ",{STEP}{step}")?;
                    }
                }
                None => write!(f, "({function})")?,
            },
        }
        f.write_str(if self.direction.descending { ":desc" } else { ":asc" })?;
        f.write_str(if self.direction.missing_first { ":missing_first" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_in_words() {
        let told = |texts: &[&str]| {
            let keys: Vec<SortKey> = texts.iter().map(|text| text.parse().unwrap()).collect();
            SortKey::described(&keys)
        };
        assert_eq!(
            told(&["(a / `b c`):desc", "_score", "a:asc:missing_first"]),
            "(a / `b c`) descending, then score descending, then a ascending, missing first"
        );
        assert_eq!(
            told(&["a:natural", "b:collate=de:desc", "random:7"]),
            "a in natural order ascending, then b in the order of de descending, then random order 7"
        );
    }

    #[test]
    fn keys_are_read_as_they_are_written() {
        for text in [
            "a:asc",
            "a:desc",
            "a.b:asc:missing_first",
            "a:desc:missing_first",
            "_score:asc",
            "random:0",
            "random:18446744073709551615",
            "random:desc",
            "a:natural:asc",
            "a:collate=de-u-kn:desc:missing_first",
            "(a + `b:c,`):asc",
            "(max(a, b)):desc:missing_first",
            "((a) + (b)):asc",
            "`Prix (EUR)`:desc",
            "`a:b, c`:natural:asc",
            "`-a`:asc",
            "`_score`:desc",
            "`(``)`:asc",
            "First Name:asc",
            "a:near=48.8566/-2.3522:asc",
            "`a:b, c`:near=0/180,step=500m:desc:missing_first",
        ] {
            assert_eq!(text.parse::<SortKey>().unwrap().to_string(), text);
        }
        assert_eq!("a".parse::<SortKey>().unwrap(), SortKey::ascending("a"));
        for (text, same) in [
            ("-a", "a:desc"),
            ("-a:natural:missing_first", "a:natural:desc:missing_first"),
            ("-_score", "_score:desc"),
            ("-(a - b)", "(a - b):desc"),
            ("-random", "random:desc"),
            ("-`a (b)`", "`a (b)`:desc"),
            ("`a`", "a:asc"),
            ("Prix (EUR)", "`Prix (EUR)`"),
            ("-Size (w:h, (d)) in cm:natural", "`Size (w:h, (d)) in cm`:natural:desc"),
        ] {
            assert_eq!(text.parse::<SortKey>().unwrap(), same.parse().unwrap(), "{text}");
        }
        assert_eq!("a:missing_last:desc".parse::<SortKey>().unwrap(), SortKey::descending("a"));
        assert_eq!("_score:desc".parse::<SortKey>().unwrap(), SortKey::score());
        assert_eq!("random".parse::<SortKey>().unwrap(), SortKey::ascending("random"));
        for text in [
            "",
            ":desc",
            "a:",
            "a:up",
            "a:asc:desc",
            "a:desc:desc",
            "a:missing_last:missing_first",
            "_score:missing_first",
            "random:7:desc",
            "random:-1",
            "(a",
            "(a)b",
            "a)",
            "()",
            "(a) + (b)",
            "(a):up",
            "a:collate=",
            "a:natural:collate=de",
            "_score:natural",
            "(a):natural",
            "-",
            "--a",
            "-a:desc",
            "-a:asc",
            "-random:7",
            "``",
            "`a",
            "a`",
            "`a`b",
            "`a`b`",
            "log(price)",
            "a (b",
            "a b)",
            "a )(",
        ] {
            assert!(text.parse::<SortKey>().is_err(), "{text}");
        }
        let list =
            |text| SortKey::list(text).unwrap().iter().map(SortKey::to_string).collect::<Vec<_>>();
        assert_eq!(
            list("a,(max(a, b, `c)`)):desc,b,-c"),
            ["a:asc", "(max(a, b, `c)`)):desc", "b:asc", "c:desc"]
        );
        assert_eq!(list("`a,b`,c (d,e):desc"), ["`a,b`:asc", "`c (d,e)`:desc"]);
        for name in ["a", "Prix (EUR)", "`", "a``b`", "(a)", "-a", "_score", "a:b,c", "random", " "]
        {
            for key in [
                SortKey::ascending(name),
                SortKey::descending(name).natural().missing_first(),
                SortKey::ascending(name).collated("de"),
            ] {
                assert_eq!(SortKey::list(&key.to_string()).unwrap(), [key]);
            }
        }
        assert!(SortKey::list("a,,b").is_err() && SortKey::list("").is_err());
        assert_eq!(SortKey::random(1).reversed().missing_first(), SortKey::random(1));
        assert_eq!(SortKey::score().missing_first(), SortKey::score());
    }
}
