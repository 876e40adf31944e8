//! A facet of values, and its options.

use super::facet::{Facet, FacetWhat, Within};
use super::ranges::{FacetRange, Ranges};
use crate::analysis::Analyzers;
use crate::error::{Error, ErrorKind, Result};
use crate::expansion::{TermFilter, in_letters};
use crate::plan::{FacetMethod, FacetOrder, ValuesWanted};
use crate::plural::counted;
use crate::schema::{Field, FieldKind};
use crate::value::{self, Value};
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

/// Values that a facet shows unless a number is given.
const VALUES_DEFAULT: usize = 10;

/// A facet of values with its options; from [`Facet::values`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use = "nothing is counted unless a search is given it"]
pub struct ValueFacet {
    pub(super) field: String,
    pub(super) options: ValueOptions,
    pub(super) within: Within,
}

impl ValueFacet {
    /// Also counts another facet in each value that comes, as [`Facet::with_facet`].
    pub fn with_facet(mut self, facet: impl Into<Facet>) -> Self {
        self.within.facets.push(facet.into());
        self
    }

    /// Also gives the `n` best documents of each value that comes, as [`Facet::with_hits`].
    pub fn with_hits(mut self, n: usize) -> Self {
        self.within.hits = n;
        self
    }

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

    /// Leaves out values that fewer documents have (default 1). With 0 also those come that no document has which matches, as far
    /// as the limit goes: of the dictionary the first in the order of values, behind all others where these come by count. A value
    /// whose last document was deleted stays in the dictionary until its segment is merged.
    pub fn minimum(mut self, documents: u64) -> Self {
        self.options.minimum = documents;
        self
    }

    /// Only values from one on and below another, of a field of numbers or dates; asked for twice, the last counts.
    pub fn between(mut self, range: impl Into<FacetRange>) -> Self {
        self.options.between = Some(range.into());
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
    /// keywords, with its letters as the values have them; asked for twice, both must be.
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
    fn from(ValueFacet { field, options, within }: ValueFacet) -> Self {
        Facet { field, what: FacetWhat::Values(Box::new(options)), within }
    }
}

/// Which values are wanted, and how they are to be counted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ValueOptions {
    pub(super) limit: usize,
    pub(super) order: FacetOrder,
    pub(super) minimum: u64,
    pub(super) between: Option<FacetRange>,
    pub(super) prefix: String,
    pub(super) containing: Vec<String>,
    pub(super) matching: Vec<String>,
    pub(super) under: Option<String>,
    pub(super) method: Option<FacetMethod>,
    compiled: Compiled,
}

/// What values must match, made ready once for all that a search asks it of: making an automaton takes longer than walking over a
/// small dictionary. It follows from the texts, so that two are always the same beside the same texts.
#[derive(Clone, Debug, Default)]
struct Compiled(OnceLock<TermFilter>);

impl Compiled {
    fn or_make(&self, make: impl FnOnce() -> Result<TermFilter>) -> Result<&TermFilter> {
        match self.0.get() {
            Some(filter) => Ok(filter),
            None => {
                let made = make()?;
                Ok(self.0.get_or_init(|| made))
            }
        }
    }
}

impl PartialEq for Compiled {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Compiled {}

impl Hash for Compiled {
    fn hash<H: Hasher>(&self, _: &mut H) {}
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
            compiled: Compiled::default(),
        }
    }
}

impl ValueOptions {
    /// What a plan needs to know.
    ///
    /// # Errors
    ///
    /// A query error for what is no regular expression, a limit error for one that would take too much memory, a usage error for
    /// an end of a range that is no value of the field, for a path to look below that is none, or in a field of another kind.
    pub(super) fn wanted(&self, field: &Field, analyzers: &Analyzers) -> Result<ValuesWanted> {
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
        filter = filter.with_patterns_of(self.compiled.or_make(|| {
            let none = TermFilter::default();
            let matching = self.matching.iter().try_fold(none, |all, it| {
                let lettered = in_letters(it, analyzer.as_ref(), normalizer.as_ref());
                all.with_regex(&lettered.regex)
            })?;
            self.containing.iter().try_fold(matching, |all, it| all.with_text(&normal(it)))
        })?);
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
    pub(super) fn is_filtered(&self) -> bool {
        !(self.prefix.is_empty() && self.containing.is_empty() && self.matching.is_empty())
            || self.under.is_some()
    }

    /// Whether values must begin with, contain or match something that has letters.
    fn has_texts(&self) -> bool {
        !(self.prefix.is_empty() && self.containing.is_empty() && self.matching.is_empty())
    }

    /// For people, what is not as it is by default.
    pub(super) fn described(&self) -> Option<String> {
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
    pub(super) fn n_bytes(&self) -> usize {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::expansion::n_compiled;
    use crate::schema::Schema;
    use crate::searcher::stopping_tests::filled;

    /// However many buckets, segments and ways ask for them.
    #[test]
    fn patterns_are_made_ready_once_for_a_search() {
        let schema = Schema::builder()
            .field(Field::new("brand", FieldKind::Keyword).column(true))
            .field(Field::new("color", FieldKind::Keyword).column(true))
            .build()
            .unwrap();
        let searcher = filled(schema, |writer| {
            for nth in 0..60 {
                let document = Document::new().with("brand", format!("b{}", nth % 7));
                writer.add(document.with("color", format!("c{}", nth % 3))).unwrap();
                if nth % 20 == 19 {
                    writer.commit().unwrap();
                }
            }
        });
        let query = searcher.parse("*").unwrap();
        let within = Facet::values("color").matching("c[01]");
        let brands = Facet::values("brand").matching("b.*").containing("B").with_facet(within);
        let search = searcher.search(&query).select("brand", ["b1", "b2"]).with_facet(brands);
        let before = n_compiled();
        let page = search.clone().run().unwrap();
        assert_eq!(page.facets[0].buckets.len(), 7);
        assert_eq!(page.facets[0].buckets[0].facets[0].buckets.len(), 2);
        assert_eq!(n_compiled() - before, 3);
        // And by whoever asks for a plan first.
        search.clone().explain().unwrap();
        let before = n_compiled();
        let prepared = search.prepare();
        prepared.unwrap().run().unwrap();
        assert_eq!(n_compiled() - before, 3);
    }

    #[test]
    fn what_was_made_ready_makes_no_other_facet() {
        let field = Field::new("brand", FieldKind::Keyword);
        let [a, b] = ["a+", "b+"].map(|regex| Facet::values("brand").matching(regex).options);
        let fresh = a.clone();
        let wants = |options: &ValueOptions, term: &[u8]| {
            options.wanted(&field, &Analyzers::default()).unwrap().filter.unwrap().matches(term)
        };
        assert!(wants(&a, b"aa") && !wants(&a, b"bb") && wants(&b, b"bb"));
        assert_eq!(a, fresh);
        assert_ne!(a, b);
    }
}
