//! Options of a facet of values: filters, order and limit of the values.

use super::ranges::{FacetRange, Ranges};
use crate::analysis::Analyzers;
use crate::error::{Error, ErrorKind, Result};
use crate::expansion::{TermFilter, in_letters};
use crate::plan::{FacetMethod, FacetOrder, ValuesWanted};
use crate::plural::counted;
use crate::schema::{Field, FieldKind};
use crate::value::{self, Value};

/// Values that a facet shows unless a number is given.
const VALUES_DEFAULT: usize = 10;

/// Which values are wanted, and how they are to be counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ValueOptions {
    pub(crate) limit: usize,
    pub(crate) order: FacetOrder,
    pub(crate) minimum: u64,
    pub(crate) between: Option<FacetRange>,
    pub(crate) prefix: String,
    pub(crate) containing: Vec<String>,
    pub(crate) matching: Vec<String>,
    pub(crate) under: Option<String>,
    pub(crate) method: Option<FacetMethod>,
}

impl Default for ValueOptions {
    fn default() -> Self {
        ValueOptions {
            limit: VALUES_DEFAULT,
            order: FacetOrder::Count,
            minimum: 1,
            between: None,
            prefix: String::new(),
            containing: vec![],
            matching: vec![],
            under: None,
            method: None,
        }
    }
}

impl ValueOptions {
    /// Options that a plan needs to know.
    ///
    /// # Errors
    ///
    /// A query error for what is no regular expression, a limit error for one that would take too much memory, a usage error for
    /// an end of a range that is no value of the field, for a path to look below that is none, or in a field of another kind.
    pub(crate) fn wanted(&self, field: &Field, analyzers: &Analyzers) -> Result<ValuesWanted> {
        let ValueOptions { limit, order, minimum, .. } = *self;
        // Values of a text field are its terms, whose letters are as its analyzer leaves them, as those of a keyword field
        // are as its normalizer does.
        let analyzer = match field.kind {
            FieldKind::Text if self.has_texts() => Some(analyzers.index_time(field)?),
            _ => None,
        };
        let normalizer = match self.has_texts() {
            true => analyzers.normalizer(field)?,
            false => None,
        };
        let normal = |text: &str| {
            let mut text = match &analyzer {
                Some(analyzer) => analyzer.normalize(text),
                None => text.to_owned(),
            };
            if let Some(mut normalizer) = normalizer.clone() {
                normalizer.apply(&mut text);
            }
            text
        };
        let mut filter = match (&self.under, field.kind) {
            (None, FieldKind::Path { separator }) => {
                let prefix = value::canonical_path_prefix(&self.prefix, separator);
                TermFilter::default().with_prefix(&prefix)
            }
            (None, _) => TermFilter::default().with_prefix(&normal(&self.prefix)),
            (Some(path), FieldKind::Path { separator }) => {
                let wrong = |expected, found: &str| {
                    Error::new(ErrorKind::Usage, "counting what is below a path")
                        .expected(expected)
                        .found(found)
                };
                if !self.prefix.is_empty() {
                    return Err(wrong("a path or a prefix".into(), "both"));
                }
                let path = value::canonical_path(path, separator);
                if !path.is_empty() {
                    value::check_path(&path, separator)
                        .map_err(|refused| wrong(refused.expected, &refused.found))?;
                }
                TermFilter::default().with_names_below(&path, separator)
            }
            (Some(_), kind) => {
                return Err(Error::new(ErrorKind::Usage, "counting what is below a path")
                    .expected("a field of paths")
                    .found(format!("a {} field", kind.name())));
            }
        };
        filter = self.matching.iter().try_fold(filter, |all, it| {
            all.with_regex(&in_letters(it, analyzer.as_ref(), normalizer.as_ref()).regex)
        })?;
        filter = self.containing.iter().try_fold(filter, |all, it| all.with_text(&normal(it)))?;
        if let Some(range) = &self.between {
            let Ranges { codes, .. } = Ranges::of(field, std::slice::from_ref(range))?;
            let term = |code: u128| u64::try_from(code).ok().map(value::term_of_code);
            let (from, to) = match &codes[..] {
                [codes] if codes.start < codes.end => (term(codes.start), term(codes.end)),
                // None is before the first.
                _ => (None, term(0)),
            };
            filter = filter
                .with_range(from.as_ref().map(|from| &from[..]), to.as_ref().map(|to| &to[..]));
        }
        let filter = (self.is_filtered() || self.between.is_some()).then_some(filter);
        Ok(ValuesWanted { limit, order, minimum, filter })
    }

    /// Whether some values are left out, however many documents have them.
    pub(crate) fn is_filtered(&self) -> bool {
        !(self.prefix.is_empty() && self.containing.is_empty() && self.matching.is_empty())
            || self.under.is_some()
    }

    /// Whether values must begin with, contain or match something that has letters.
    fn has_texts(&self) -> bool {
        !(self.prefix.is_empty() && self.containing.is_empty() && self.matching.is_empty())
    }

    /// For people, what is not as it is by default.
    pub(crate) fn described(&self) -> Option<String> {
        let order = match self.order {
            FacetOrder::Count => None,
            FacetOrder::Value => Some("by value".to_owned()),
            FacetOrder::ValueDescending => Some("by value, descending".to_owned()),
        };
        let minimum = match self.minimum {
            0 => Some("of no documents, too".to_owned()),
            1 => None,
            minimum => Some(format!("of at least {}", counted(minimum, "document"))),
        };
        let between = self.between.as_ref().map(|range| format!("between {range}"));
        let prefix = (!self.prefix.is_empty()).then(|| format!("beginning with '{}'", self.prefix));
        let under = self.under.as_ref().map(|path| format!("right below '{path}'"));
        let containing = self.containing.iter().map(|text| format!("containing '{text}'"));
        let matching = self.matching.iter().map(|regex| format!("matching /{regex}/"));
        let parts = order
            .into_iter()
            .chain(minimum)
            .chain(between)
            .chain(prefix)
            .chain(under)
            .chain(containing);
        let parts: Vec<_> = parts.chain(matching).collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    /// About how many bytes it takes.
    pub(crate) fn n_bytes(&self) -> usize {
        let texts = self.containing.iter().chain(&self.matching);
        let texts = texts.map(|text| size_of::<String>() + text.len()).sum::<usize>();
        let ends = self.between.iter().flat_map(|range| [&range.from, &range.to]).flatten();
        let under = self.under.as_ref().map_or(0, String::len);
        size_of::<Self>()
            + under
            + texts
            + self.prefix.len()
            + ends.map(Value::n_bytes).sum::<usize>()
    }
}
