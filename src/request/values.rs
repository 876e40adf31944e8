//! A facet of values.

use super::facet::{Facet, FacetWhat, Within};
use super::ranges::FacetRange;
use super::value_options::ValueOptions;
use crate::plan::{FacetMethod, FacetOrder};

/// A facet of values with its options; from [`Facet::values`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[must_use = "nothing is counted unless a search is given it"]
pub struct ValueFacet {
    pub(crate) field: String,
    pub(crate) options: ValueOptions,
    pub(crate) within: Within,
}

impl ValueFacet {
    /// Adds a facet within each value of the result, as [`Facet::with_facet`].
    pub fn with_facet(mut self, facet: impl Into<Facet>) -> Self {
        self.within.facets.push(facet.into());
        self
    }

    /// Adds the `n` best documents of each value of the result, as [`Facet::top_hits`].
    pub fn top_hits(mut self, n: usize) -> Self {
        self.within.hits = n;
        self
    }

    /// Sets the maximum number of values (default 10).
    pub fn limit(mut self, limit: usize) -> Self {
        self.options.limit = limit;
        self
    }

    /// Sets the order of the values (default [`FacetOrder::Count`]).
    ///
    /// It also says which of them come if there are more than the limit.
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

    /// Only values from one on and below another, of numbers or dates.
    ///
    /// If it is asked for twice, the last counts.
    pub fn between(mut self, range: impl Into<FacetRange>) -> Self {
        self.options.between = Some(range.into());
        self
    }

    /// Only values that begin so, of a field of texts or keywords.
    ///
    /// If it is asked for twice, the last counts.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.options.prefix = prefix.into();
        self
    }

    /// Only values with this text in them, of a field of texts or keywords.
    ///
    /// Case does not count (by Unicode's simple folding). If it is asked for twice, both must be.
    pub fn containing(mut self, text: impl Into<String>) -> Self {
        self.options.containing.push(text.into());
        self
    }

    /// Only values that match a [regular expression](crate::query::Query::regex) as a whole.
    ///
    /// The field has texts or keywords, and the letters are as the values have them. If it is asked for twice, both
    /// must be.
    pub fn matching(mut self, regex: impl Into<String>) -> Self {
        self.options.matching.push(regex.into());
        self
    }

    /// Only values right below a path, of a field of [paths](crate::FieldKind::Path).
    ///
    /// Below the empty one are the uppermost names. Each comes as the whole path down to it, with the documents that
    /// are there or anywhere below. Instead of a prefix. Costs a look at the name of each path that is anywhere
    /// below, or that is met in a column.
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

    /// Counts them in a way of the caller's. The counts are the same in all ways; if one is not to be had, the plan says
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

impl Facet {
    /// The values of a field, or terms of a text field, with their documents' number.
    ///
    /// These are the ten most frequent ones, unless options say otherwise.
    pub fn values(field: impl Into<String>) -> ValueFacet {
        ValueFacet {
            field: field.into(),
            options: ValueOptions::default(),
            within: Within::default(),
        }
    }
}
