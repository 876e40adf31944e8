//! One field: its kind, its name, and what is kept of it.

use super::{CoordinateOrder, DEFAULT_ANALYZER, POINT_LEN, POSITION_GAP_DEFAULT, VectorParams};

/// Prefix of the analyzer of a keyword field with a normalizer.
pub(super) const NORMALIZER: &str = "keyword|";

/// One field: its name, its kind, and what is kept of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Field {
    /// Letters, digits, `_`, `-` and `.`; not starting with a digit.
    pub name: String,
    /// Kind of the field, which decides how values become terms.
    pub kind: FieldKind,
    /// Whether the values come back with a hit.
    pub stored: bool,
    /// Whether a document may have more than one value.
    pub many: bool,
    /// Analyzer for the texts of documents: its spec or its name (see [`analysis`](crate::analysis)). None is
    /// [`DEFAULT_ANALYZER`]; text fields, and keyword fields with a [normalizer](Self::normalizer).
    pub analyzer: Option<String>,
    /// Analyzer for the words of queries. None is the same as in documents; text fields only.
    pub query_analyzer: Option<String>,
    /// Data that is kept of each occurrence of a term.
    pub detail: Detail,
    /// Free positions between the words of two values; text fields only.
    pub position_gap: u16,
    /// Whether the bytes that each word stands in are kept; only with positions.
    pub offsets: bool,
    /// Whether the values are also kept in document order; not of text fields.
    pub column: bool,
    /// The time zone of dates without an offset. None is UTC; fields of dates only.
    pub zone: Option<String>,
    /// The field whose values it has, too. None has the values that documents give it.
    pub copy_of: Option<String>,
}

/// Data kept of the occurrences of a term, beside the documents they are in. Each step includes the one
/// before.
#[doc(alias = "IndexOptions")]
#[doc(alias = "IndexRecordOption")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detail {
    /// Nothing: words can be looked for and counted, not ranked.
    Documents,
    /// Frequencies of terms in each document, and lengths of documents: enough for ranking.
    Frequencies,
    /// Positions as well, which phrases need.
    Positions,
}

impl Detail {
    /// Whether the field keeps frequencies and lengths.
    pub(crate) fn has_frequencies(self) -> bool {
        self >= Detail::Frequencies
    }

    /// Whether the field keeps positions.
    pub(crate) fn has_positions(self) -> bool {
        self >= Detail::Positions
    }
}

/// Kind of a field, which decides how its values become terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldKind {
    /// An analyzer makes the terms; without a choice, words without case, diacritics and compatibility forms.
    Text,
    /// The whole value is one term, byte for byte, or as its [normalizer](Field::normalizer) leaves it.
    Keyword,
    /// A whole number.
    I64,
    /// A whole number that is not negative.
    U64,
    /// A finite number with 53 significant bits.
    F64,
    /// True or false.
    Bool,
    /// A point in time, to the microsecond; see [`Timestamp`](crate::Timestamp) for how it is written.
    Date,
    /// Number with a fixed scale of at most 18 digits, kept exactly: money, mostly.
    Decimal {
        /// Digits behind the point.
        scale: u8,
    },
    /// A path of a hierarchy, as `home/kitchen/pans`: names with a separator between them. A document
    /// has it and all that it is below, so that it is found and counted by `home` and by `home/kitchen`, too; see
    /// [`ValueFacet::under`](crate::facet::ValueFacet::under).
    ///
    /// Separators before the first name and behind the last mean nothing, and several between two names mean one, in
    /// documents as in queries: `/usr/lib/` is `usr/lib`. A separator or a backslash in a name has a backslash before it, as
    /// [`Value::path`](crate::Value::path) writes it; with a backslash as the separator, for `C:\dir`, nothing is escaped.
    Path {
        /// Stands between two names; no control character.
        separator: char,
    },
    /// An IP address, of version 4 or 6.
    ///
    /// Both are in one order, that of version 6.
    Ip,
    /// Vectors, which embeddings of texts or images are, mostly.
    ///
    /// A [query](crate::query::Query::nearest) looks for those nearest to another. They come back with a hit only where
    /// the field is named.
    Vector(VectorParams),
    /// Points on the globe, see the module [`geo`](crate::geo).
    ///
    /// A value is a [`GeoPoint`](crate::geo::GeoPoint), or a text of one. A [query](crate::query::Query::within_area) looks for those in an
    /// area, and [`SortKey::near`](crate::SortKey::near) sorts by the distance from a point.
    Point {
        /// Order of the numbers of an array; none refuses arrays.
        array: Option<CoordinateOrder>,
    },
}

impl FieldKind {
    /// The name used in schema files and messages.
    pub fn name(self) -> &'static str {
        match self {
            FieldKind::Text => "text",
            FieldKind::Keyword => "keyword",
            FieldKind::I64 => "i64",
            FieldKind::U64 => "u64",
            FieldKind::F64 => "f64",
            FieldKind::Bool => "bool",
            FieldKind::Date => "date",
            FieldKind::Decimal { .. } => "decimal",
            FieldKind::Path { .. } => "path",
            FieldKind::Ip => "ip",
            FieldKind::Vector(_) => "vector",
            FieldKind::Point { .. } => "point",
        }
    }

    /// Whether its values are cut into terms.
    pub(crate) fn is_text(self) -> bool {
        self == FieldKind::Text
    }

    /// Whether its values have an order of their own, as numbers, dates and addresses.
    pub fn is_typed(self) -> bool {
        !matches!(
            self,
            FieldKind::Text
                | FieldKind::Keyword
                | FieldKind::Path { .. }
                | FieldKind::Vector(_)
                | FieldKind::Point { .. }
        )
    }

    /// Returns dimensions and metric of its vectors, if it has these.
    pub fn vector(self) -> Option<VectorParams> {
        match self {
            FieldKind::Vector(params) => Some(params),
            _ => None,
        }
    }

    /// Whether its values are looked up in a dictionary.
    pub(crate) fn has_terms(self) -> bool {
        self.row_len().is_none()
    }

    /// Whether its values are points.
    pub(crate) fn is_point(self) -> bool {
        matches!(self, FieldKind::Point { .. })
    }

    /// Bytes of each value, if these are kept apart from stored rows.
    pub(crate) fn row_len(self) -> Option<usize> {
        match self {
            FieldKind::Vector(params) => Some(params.row_len()),
            FieldKind::Point { .. } => Some(POINT_LEN),
            _ => None,
        }
    }

    /// Whether each of its values is a number of 64 bits, which is what a column has of it.
    pub(crate) fn has_codes(self) -> bool {
        self.is_typed() && self != FieldKind::Ip
    }
}

impl Field {
    /// A stored field of single values.
    ///
    /// A text field has frequencies and positions, and a typed one has a column.
    pub fn new(name: impl Into<String>, kind: FieldKind) -> Self {
        let detail = match kind {
            FieldKind::Text => Detail::Positions,
            _ => Detail::Documents,
        };
        Field {
            name: name.into(),
            kind,
            stored: true,
            many: false,
            detail,
            analyzer: None,
            query_analyzer: None,
            position_gap: POSITION_GAP_DEFAULT,
            offsets: false,
            column: kind.is_typed(),
            zone: None,
            copy_of: None,
        }
    }

    /// Sets whether values come back with a hit (default: true).
    ///
    /// Vectors and points are kept in any case, as they are compared; of these it says whether they may come back. Vectors do so
    /// with a hit only where the field is named.
    #[must_use]
    pub fn stored(mut self, stored: bool) -> Self {
        self.stored = stored;
        self
    }

    /// Sets whether a document may have more than one value (default: false). Fields other than texts index the set
    /// of them: a value that a document has twice counts once in searches, facets, statistics and columns, while the
    /// stored document keeps all of them in their order.
    #[doc(alias = "multi_valued")]
    #[must_use]
    pub fn many(mut self, many: bool) -> Self {
        self.many = many;
        self
    }

    /// Sets what is kept of each occurrence of a term (default: positions for text). Other
    /// fields keep nothing else than documents.
    #[must_use]
    pub fn detail(mut self, detail: Detail) -> Self {
        self.detail = detail;
        self
    }

    /// Sets the places left free between the words of two values (default: 100).
    ///
    /// That is Elasticsearch's default. It is about text fields only. So a phrase matches within one value, unless
    /// its words may be that far apart; with 0 values are read as one text. The places count for nothing else: not
    /// for the length of a document, nor for its score.
    ///
    /// ```
    /// use treepie::{Document, Field, FieldKind, Index, Schema};
    ///
    /// let author = Field::new("author", FieldKind::Text).many(true);
    /// let index = Index::in_memory(Schema::builder().field(author).build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("author", "John Smith").with("author", "Ada Brown"))?;
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// assert_eq!(searcher.count(&searcher.parse(r#""ada brown""#)?)?, 1);
    /// assert_eq!(searcher.count(&searcher.parse(r#""smith ada""#)?)?, 0);
    /// assert_eq!(searcher.count(&searcher.parse(r#""smith ada"~100"#)?)?, 1);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn position_gap(mut self, places: u16) -> Self {
        self.position_gap = places;
        self
    }

    /// Sets whether the bytes that each word takes in its text are kept (default: false).
    ///
    /// It needs positions. With them [highlighting](crate::highlight) looks words up instead of analysing the text
    /// again; what is marked is the same. It answers no query in another way.
    ///
    /// ```
    /// use treepie::{Document, Field, FieldKind, Index, Schema, highlight::PassageOptions};
    ///
    /// let body = Field::new("body", FieldKind::Text).offsets(true);
    /// let index = Index::in_memory(Schema::builder().field(body).build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("body", "Long ago, far away"))?;
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("away")?;
    /// let hit = &searcher.search(&query).run()?.hits[0];
    /// let highlighter = searcher.highlighter(&query)?;
    /// let marked = highlighter.in_document(hit.doc, "body", hit.fields["body"].texts())?;
    /// let passages = marked[0].passages(&PassageOptions::default());
    /// assert_eq!(passages[0].to_html(marked[0].text()), "Long ago, far <em>away</em>");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn offsets(mut self, offsets: bool) -> Self {
        self.offsets = offsets;
        self
    }

    /// Whether its values are in the rows of stored documents, and come with a hit without being named.
    pub(crate) fn is_in_rows(&self) -> bool {
        self.stored && self.kind.has_terms()
    }

    /// Whether its column has numbers of terms, which each segment counts for itself.
    pub(crate) fn has_ordinals(&self) -> bool {
        self.column && !self.kind.has_codes()
    }

    /// Sets whether the values are also kept in document order, as a column.
    ///
    /// A column is beside the posting lists. Sorting by numbers and dates needs it, and it counts values faster if
    /// few documents match or many values are alike. The default is true of typed fields, false of keywords and
    /// paths; text has none. It answers no query in another way.
    ///
    /// Costs as many bits a document as the values of 1,024 documents in a row differ by; those of keywords, paths and addresses are
    /// numbers in the order of the dictionary. To build one of these takes some two bytes of memory more for each term of each run, and
    /// of each segment that is merged.
    #[must_use]
    pub fn column(mut self, column: bool) -> Self {
        self.column = column;
        self
    }

    /// Sets the time zone of dates in texts without an offset (default: UTC).
    ///
    /// It is a name of a [`Zone`](crate::value::Zone), and also that of dates in queries which are not
    /// [read](crate::query::Query::at) in another. Dates are kept as moments, and come back in UTC. A time or a day
    /// that clocks there are put forward over is refused. Whether this build knows the zone shows where a date is
    /// read.
    ///
    /// ```
    /// use treepie::{Document, Field, FieldKind, Index, Schema};
    ///
    /// let since = Field::new("since", FieldKind::Date).zone("+02:00");
    /// let index = Index::in_memory(Schema::builder().field(since).build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("since", "2024-05-01 01:30"))?;
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("since:2024-05-01")?;
    /// let hit = &searcher.search(&query).run()?.hits[0];
    /// assert_eq!(hit.fields["since"].to_string(), "2024-04-30T23:30:00Z");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn zone(mut self, name: impl Into<String>) -> Self {
        self.zone = Some(name.into());
        self
    }

    /// Fills the field with all values of another one (default: none).
    ///
    /// They are indexed as a field of its own kind.
    ///
    /// So a keyword that facets count as a whole is also found by its words, which
    /// [queries](crate::query::Query::in_copies) of the keyword look for in its text copies. A copy is not stored, as
    /// its source is, and documents give it no values of their own. The copy may have many values if the source may.
    ///
    /// ```
    /// use treepie::{Document, Field, FieldKind, Index, Schema};
    ///
    /// let words = Field::new("country.text", FieldKind::Text).copy_of("country");
    /// let country = Field::new("country", FieldKind::Keyword);
    /// let index = Index::in_memory(Schema::builder().field(country).field(words).build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("country", "United Kingdom"))?;
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let page = searcher.search(&searcher.parse("kingdom")?).facet("country", 10).run()?;
    /// assert_eq!(page.facets[0].buckets[0].value, "United Kingdom");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn copy_of(mut self, source: impl Into<String>) -> Self {
        self.copy_of = Some(source.into());
        self.stored = false;
        self
    }

    /// Sets how texts become terms, in documents and, unless
    /// [`query_analyzer`](Self::query_analyzer) says otherwise, in queries. The spec is kept in the index.
    ///
    /// ```
    /// use treepie::{Field, FieldKind, Schema};
    ///
    /// let body = Field::new("body", FieldKind::Text).analyzer("words|lower|fold|stop:en");
    /// let schema = Schema::builder().field(body).build()?;
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn analyzer(mut self, spec: impl Into<String>) -> Self {
        self.analyzer = Some(spec.into()).filter(|spec| spec != DEFAULT_ANALYZER);
        self
    }

    /// Sets how the words of queries become terms, if that differs from documents.
    #[must_use]
    pub fn query_analyzer(mut self, spec: impl Into<String>) -> Self {
        self.query_analyzer = Some(spec.into());
        self
    }

    /// Sets the filters that turn values of a keyword field into terms.
    ///
    /// They are `nfc`, `nfkc`, `lower`, `lower:tr` and `fold`, with `|` between. The default is none, so that a value
    /// is found by the same bytes alone.
    ///
    /// Values of documents, queries, selections of facets and keys go through them. The values of facets are what
    /// comes out; the stored document keeps what was given.
    ///
    /// ```
    /// use treepie::{Document, Field, FieldKind, Index, Schema};
    ///
    /// let city = Field::new("city", FieldKind::Keyword).normalizer("nfc|lower");
    /// let index = Index::in_memory(Schema::builder().field(city).build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("city", "Zu\u{308}rich"))?;
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// assert_eq!(searcher.count(&searcher.parse("city:ZÜRICH")?)?, 1);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn normalizer(mut self, filters: impl AsRef<str>) -> Self {
        self.analyzer = Some(format!("{NORMALIZER}{}", filters.as_ref()));
        self
    }

    /// The filters of the normalizer; only of a keyword field that has one.
    pub fn normalizer_spec(&self) -> Option<&str> {
        let spec = self.analyzer.as_deref().filter(|_| self.kind == FieldKind::Keyword)?;
        spec.strip_prefix(NORMALIZER)
    }

    /// The spec of the analyzer of documents.
    pub fn analyzer_spec(&self) -> &str {
        self.analyzer.as_deref().unwrap_or(DEFAULT_ANALYZER)
    }

    /// The spec of the analyzer of queries.
    pub fn query_analyzer_spec(&self) -> &str {
        self.query_analyzer.as_deref().unwrap_or(self.analyzer_spec())
    }
}
