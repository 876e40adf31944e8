//! Which fields a document has, and how each is indexed.
//!
//! ```
//! use treepie::{FieldKind, Schema};
//!
//! let schema = Schema::builder().text("title").keyword("qualifier").build()?;
//! assert_eq!(schema.field("qualifier").unwrap().kind, FieldKind::Keyword);
//! # Ok::<(), treepie::Error>(())
//! ```

mod order;

pub use order::ORDER_FIELDS_MAX;
pub(crate) use order::OrderField;

use crate::error::{Error, ErrorKind, Result};
use crate::ids::FieldId;

/// Fields a schema may have at the most.
pub const FIELDS_MAX: usize = 1_024;
/// Bytes a field's name may have at the most.
pub const FIELD_NAME_BYTES_MAX: usize = 255;
/// Bytes the spec of an analyzer may have at the most.
pub const ANALYZER_BYTES_MAX: usize = 1_024;
/// Digits behind the point of a decimal at the most.
pub const DECIMAL_SCALE_MAX: u8 = 18;
/// Names of a path at the most.
pub const PATH_NAMES_MAX: usize = 128;
/// Bytes the name of a time zone may have at the most.
pub const ZONE_BYTES_MAX: usize = 64;
/// What stands between two names of a path in a schema file that does not say otherwise.
pub const PATH_SEPARATOR_DEFAULT: char = '/';
/// The spec that a text field without one stands for.
pub const DEFAULT_ANALYZER: &str = "default";

/// The places between two values of a text field that does not say otherwise.
pub const POSITION_GAP_DEFAULT: u16 = 100;

/// The field that has the names of a document's fields that are said to be null; see [`SchemaBuilder::nulls`].
pub const NULL_FIELD: &str = "_null";
/// The field that has the names of a document's fields that have an empty text or an empty list.
pub const EMPTY_FIELD: &str = "_empty";
/// What finds the documents that say nothing of a field: no field, but a name in queries.
pub const MISSING_FIELD: &str = "_missing";

/// The fields of an index, given when it is created; more can be [added](crate::Index::add_fields), and none changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schema {
    fields: Vec<Field>,
    default_fields: Vec<FieldId>,
    key: Option<FieldId>,
    nulls: bool,
    order: Vec<OrderField>,
}

/// One field: its name, its kind, and what is kept of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Field {
    /// Letters, digits, `_`, `-` and `.`; not starting with a digit.
    pub name: String,
    /// How values become terms.
    pub kind: FieldKind,
    /// Whether the values come back with a hit.
    pub stored: bool,
    /// Whether a document may have more than one value.
    pub many: bool,
    /// How the texts of documents become terms: the spec or the name of an analyzer (see
    /// [`analysis`](crate::analysis)). None is [`DEFAULT_ANALYZER`]; text fields only.
    pub analyzer: Option<String>,
    /// How the words of queries become terms. None is the same as in documents; text fields only.
    pub query_analyzer: Option<String>,
    /// What is kept of each occurrence of a term.
    pub detail: Detail,
    /// How many places are left free between the words of one value and those of the next; text fields only.
    pub position_gap: u16,
    /// Whether the bytes that each word stands in are kept; only with positions.
    pub offsets: bool,
    /// Whether the values are also kept in document order; not of text fields.
    pub column: bool,
    /// The time zone of dates without an offset. None is UTC; fields of dates only.
    pub zone: Option<String>,
}

/// What is kept of the occurrences of a term, beside the documents they are in. Each step includes
/// the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detail {
    /// Nothing: words can be looked for and counted, not ranked.
    Documents,
    /// How often a term occurs in each document, and how long each document is: enough for ranking.
    Frequencies,
    /// Also where it occurs, which phrases need.
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

/// How the values of a field become terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FieldKind {
    /// An analyzer makes the terms; without a choice, runs of Unicode alphanumeric characters, lower-cased.
    Text,
    /// The whole value is one term, byte for byte.
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
    /// A number with so many digits behind the point, at most 18, which is kept exactly: money, mostly.
    Decimal {
        /// Digits behind the point.
        scale: u8,
    },
    /// A path of a hierarchy, as `home/kitchen/pans`: names with a separator between them, none of them empty. A document
    /// has it and all that it is below, so that it is found and counted by `home` and by `home/kitchen`, too; see
    /// [`ValueFacet::under`](crate::ValueFacet::under). A separator or a backslash in a name has a backslash before it, as
    /// [`Value::path`](crate::Value::path) writes it.
    Path {
        /// What stands between two names; neither a backslash nor a control character.
        separator: char,
    },
    /// An address of the Internet Protocol, of version 4 or 6; both stand in one order, that of version 6.
    Ip,
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
        }
    }

    /// Whether its values are cut into terms.
    pub(crate) fn is_text(self) -> bool {
        self == FieldKind::Text
    }

    /// Whether its values are numbers, dates, addresses or the like, which have an order of their own.
    pub fn is_typed(self) -> bool {
        !matches!(self, FieldKind::Text | FieldKind::Keyword | FieldKind::Path { .. })
    }

    /// Whether each of its values is a number of 64 bits, which is what a column has of it.
    pub(crate) fn has_codes(self) -> bool {
        self.is_typed() && self != FieldKind::Ip
    }
}

impl Field {
    /// A stored, single-valued field; if it is a text field, with frequencies and positions, and if it is typed, with a
    /// column.
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
        }
    }

    /// Sets whether values come back with a hit (default: true).
    #[must_use]
    pub fn stored(mut self, stored: bool) -> Self {
        self.stored = stored;
        self
    }

    /// Sets whether a document may have more than one value (default: false).
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

    /// Sets how many places are left free between the words of one value of a text field and those of the next
    /// (default: 100, as in Elasticsearch). So a phrase matches within one value, unless its words may be that far
    /// apart; with 0 values are read as one text. The places count for nothing else: not for the
    /// length of a document, nor for its score.
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

    /// Sets whether the bytes of a text that each of its words stands in are kept (default: false), which needs
    /// positions. With them [highlighting](crate::highlight) looks words up instead of analysing the text again;
    /// what is marked is the same. It answers no query in another way.
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

    /// Whether its column has numbers of terms, which each segment counts for itself.
    pub(crate) fn has_ordinals(&self) -> bool {
        self.column && !self.kind.has_codes()
    }

    /// Sets whether the values are also kept in document order, as a column beside the posting lists (default: true of
    /// typed fields, false of keywords and paths; text has none): what sorting by numbers and dates needs, and what counts values faster where few
    /// documents match or many values are alike. It answers no query in another way.
    ///
    /// Costs as many bits a document as the values of 1,024 documents in a row differ by; those of keywords, paths and addresses are
    /// numbers in the order of the dictionary. To build one of these takes some two bytes of memory more for each term of each run, and
    /// of each segment that is merged.
    #[must_use]
    pub fn column(mut self, column: bool) -> Self {
        self.column = column;
        self
    }

    /// Sets in which time zone dates without an offset are that documents give as texts (default: UTC), and those of queries
    /// that are not [read](crate::query::Query::at) in another: a name of a [`Zone`](crate::Zone). Dates are kept as moments, and
    /// come back in UTC. A time or a day that clocks there are put forward over is refused. Whether this build knows the zone shows
    /// where a date is read.
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

    /// Sets how the words of queries become terms, where that differs from documents.
    #[must_use]
    pub fn query_analyzer(mut self, spec: impl Into<String>) -> Self {
        self.query_analyzer = Some(spec.into());
        self
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

impl Schema {
    /// Starts a schema without fields.
    pub fn builder() -> SchemaBuilder {
        SchemaBuilder::default()
    }

    /// The schema of the preset `wikipedia-titles`: `title` (text, stored) and `qualifier`
    /// (keyword, not stored: what stands in a trailing "(…)" of the title).
    pub fn wikipedia_titles() -> Self {
        Schema {
            fields: vec![
                Field::new("title", FieldKind::Text),
                Field::new("qualifier", FieldKind::Keyword).stored(false),
            ],
            default_fields: vec![FieldId(0)],
            key: None,
            nulls: false,
            order: vec![],
        }
    }

    /// All fields in the order they were declared.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The fields that words without a `field:` prefix are looked up in.
    pub fn default_fields(&self) -> impl Iterator<Item = &Field> {
        self.default_fields.iter().map(|id| &self.fields[id.index()])
    }

    /// The field that tells documents apart: each has one value of it, and no two the same.
    pub fn key(&self) -> Option<&Field> {
        self.key.map(|id| &self.fields[id.index()])
    }

    /// Whether it is kept which fields a document says to be null or empty; see [`SchemaBuilder::nulls`].
    pub fn keeps_nulls(&self) -> bool {
        self.nulls
    }

    /// The fields that the documents of each segment lie in the order of, as [`SchemaBuilder::order_by`] takes them; none where they
    /// lie as they were added.
    pub fn order(&self) -> impl Iterator<Item = String> {
        self.order.iter().map(|key| key.text(&self.fields))
    }

    pub(crate) fn order_fields(&self) -> &[OrderField] {
        &self.order
    }

    pub(crate) fn key_id(&self) -> Option<FieldId> {
        self.key
    }

    pub(crate) fn field_id(&self, name: &str) -> Option<FieldId> {
        self.fields.iter().position(|field| field.name == name).map(|at| FieldId(at as u16))
    }

    pub(crate) fn get(&self, id: FieldId) -> &Field {
        &self.fields[id.index()]
    }

    pub(crate) fn default_field_ids(&self) -> &[FieldId] {
        &self.default_fields
    }

    /// The one stored field among the first `n_fields` of a schema where there is no other and it has one value: then a stored
    /// row of a segment with these is that value and nothing else.
    pub(crate) fn bare_stored_field(&self, n_fields: usize) -> Option<FieldId> {
        let mut stored = self.field_ids().take(n_fields).filter(|id| self.get(*id).stored);
        let first = stored.next()?;
        (stored.next().is_none() && !self.get(first).many).then_some(first)
    }

    /// The same schema with more fields behind those that it has. Where its default fields are all of its text fields, those among
    /// the new ones are default fields, too.
    ///
    /// ```
    /// use treepie::{Field, FieldKind, Schema};
    ///
    /// let schema = Schema::builder().text("title").build()?;
    /// let wider = schema.with_fields([Field::new("year", FieldKind::I64)])?;
    /// assert_eq!(wider.fields().len(), 2);
    /// assert!(wider.with_fields([Field::new("title", FieldKind::Keyword)]).is_err());
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Schema`] for no field, one of a name that there is already, be it the same or another, and whatever
    /// [`SchemaBuilder::build`] refuses.
    pub fn with_fields(&self, fields: impl IntoIterator<Item = Field>) -> Result<Schema> {
        let wrong = |what: String| Err(Error::new(ErrorKind::Schema, what));
        let mut builder = self.to_builder();
        for field in fields {
            if let Some(there) = self.field(&field.name) {
                return wrong(format!("adding the field '{}'", field.name)).map_err(|error| {
                    error
                        .expected("a name that no field has")
                        .found(format!("that of a {} field", there.kind.name()))
                        .hint("a field stays as it was made: export the documents and index them anew")
                });
            }
            builder.fields.push(field);
        }
        if builder.fields.len() == self.fields.len() {
            return wrong("adding fields".into())
                .map_err(|error| error.expected("at least one").found("none"));
        }
        builder.build()
    }

    /// The same schema with the documents of each segment in this order, or in none; see [`SchemaBuilder::order_by`].
    ///
    /// # Errors
    ///
    /// As [`SchemaBuilder::build`].
    pub fn ordered_by<S: Into<String>>(
        &self,
        order: impl IntoIterator<Item = S>,
    ) -> Result<Schema> {
        self.to_builder().order_by(order).build()
    }

    /// What builds it. Where its default fields are all of its text fields, none are named.
    fn to_builder(&self) -> SchemaBuilder {
        let Schema { fields: own, nulls, .. } = self;
        let names = |schema: &Self| schema.default_fields().map(|it| it.name.clone()).collect();
        // In whatever order they were named.
        let texts = || own.iter().filter(|it| it.kind.is_text());
        let is_default = |text: &Field| self.default_fields().any(|it| it.name == text.name);
        let has_own = texts().count() != self.default_fields().count() || !texts().all(is_default);
        SchemaBuilder {
            fields: own.clone(),
            default_fields: has_own.then(|| names(self)),
            key: self.key().map(|key| key.name.clone()),
            nulls: *nulls,
            order: self.order().collect(),
        }
    }

    /// Whether it is what [`with_fields`](Self::with_fields) makes of another, or the same.
    pub(crate) fn extends(&self, other: &Schema) -> bool {
        let added = self.fields.get(other.fields.len()..).unwrap_or_default();
        self == other || other.with_fields(added.iter().cloned()).is_ok_and(|wider| wider == *self)
    }

    /// What is different in another schema, for messages.
    pub(crate) fn difference(&self, other: &Schema) -> String {
        let fields = self.fields.iter().zip(&other.fields);
        match fields.into_iter().find(|(own, other)| own != other) {
            Some((own, other)) if own.clone().column(other.column) == *other => {
                let keeps = if other.column { "keeps a column" } else { "keeps no column" };
                format!("one whose field '{}' {keeps}", other.name)
            }
            Some((_, other)) => format!("one whose field '{}' is another", other.name),
            None if self.nulls != other.nulls => "one that keeps nulls, or does not".to_owned(),
            None if self.order != other.order => "one of documents in another order".to_owned(),
            None => "one of other fields, default fields or another key".to_owned(),
        }
    }

    pub(crate) fn field_ids(&self) -> impl Iterator<Item = FieldId> + use<> {
        (0..self.fields.len() as u16).map(FieldId)
    }
}

/// Collects fields; [`build`](Self::build) checks them.
#[derive(Clone, Debug, Default)]
pub struct SchemaBuilder {
    fields: Vec<Field>,
    default_fields: Option<Vec<String>>,
    key: Option<String>,
    nulls: bool,
    order: Vec<String>,
}

impl SchemaBuilder {
    /// Adds a stored text field.
    #[must_use]
    pub fn text(self, name: impl Into<String>) -> Self {
        self.field(Field::new(name, FieldKind::Text))
    }

    /// Adds a stored keyword field that may have many values.
    #[must_use]
    pub fn keyword(self, name: impl Into<String>) -> Self {
        self.field(Field::new(name, FieldKind::Keyword).many(true))
    }

    /// Adds a field.
    #[must_use]
    pub fn field(mut self, field: Field) -> Self {
        self.fields.push(field);
        self
    }

    /// Names the field of keywords or whole numbers that tells documents apart, and adds one of keywords where there is none of
    /// this name yet. Every
    /// document must then have one value of it, not empty, and [takes the place](crate::IndexWriter::add) of
    /// the one that had the same.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").key("isbn").build()?);
    /// let mut writer = index.writer()?;
    /// for title in ["Corvids", "Corvids, second edition"] {
    ///     writer.add(Document::new().with("isbn", "978-1").with("title", title))?;
    /// }
    /// assert_eq!(writer.commit()?.documents, 1);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn key(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        if self.fields.iter().all(|field| field.name != name) {
            self.fields.push(Field::new(&*name, FieldKind::Keyword));
        }
        self.key = Some(name);
        self
    }

    /// Keeps which fields a document says to be null, and which have an empty text or an empty list, so that these can be told
    /// apart from fields that it says nothing of. Adds the fields [`NULL_FIELD`] and [`EMPTY_FIELD`], keywords that are the names
    /// of such fields: a posting list for each field that is null or empty anywhere, and some bytes of the stored row of such a
    /// document.
    ///
    /// A field that has a value, too, is not null.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema, query::Query};
    ///
    /// let schema = Schema::builder().keyword("name").keyword("tag").nulls().build()?;
    /// let index = Index::in_memory(schema);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("name", "a").with("tag", None::<&str>))?;
    /// writer.add(Document::new().with("name", "b").with("tag", ""))?;
    /// writer.add(Document::new().with("name", "c").with_empty("tag"))?;
    /// writer.add(Document::new().with("name", "d"))?;
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let count = |query: Query| searcher.count(&query);
    /// assert_eq!(count(Query::null("tag"))?, 1); // `_null:tag` in a text
    /// assert_eq!(count(Query::empty("tag"))?, 2); // `_empty:tag`
    /// assert_eq!(count(Query::missing("tag"))?, 1); // `_missing:tag`
    /// assert_eq!(count(Query::exists("tag"))?, 1); // `tag:*`: an empty text is a value
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn nulls(mut self) -> Self {
        for name in [NULL_FIELD, EMPTY_FIELD] {
            if self.fields.iter().all(|field| field.name != name) {
                self.fields.push(Field::new(name, FieldKind::Keyword).many(true));
            }
        }
        self.nulls = true;
        self
    }

    /// Names the fields that words without a `field:` prefix are looked up in (default: every text field).
    #[must_use]
    pub fn default_fields<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.default_fields = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Puts the documents of each segment in the order of up to four fields instead of that in which they are added: the least value
    /// first, or the greatest where `-` stands before the name. Documents without a value come last, and those with the same values as they were
    /// added. A field needs a column and at most one value a document, be it a number, a date, a boolean, an address, or a keyword,
    /// which is compared by its bytes.
    ///
    /// What is looked for, counted and sorted stays the same, but for what the order of documents decides: hits of the
    /// same score or of the same values of a [sort](crate::SearchBuilder::sort) come in the order of their segments' documents. It is chosen when the index
    /// is created, and stays.
    ///
    /// # Cost
    ///
    /// Pays where most questions are about ranges of the first field, or sort or count by it: what they look for lies side by side
    /// then. Four million products in the order of their price take a fifth less room, facets of prices are six
    /// times as fast, and ranges of them many times.
    ///
    /// Each commit or flush writes what was added twice, once as it comes and once in order, which is told of as a
    /// [merge](crate::events::What::Merge) of one segment; merges keep the order. Both take memory of up to 20 bytes a document for the first field
    /// and 16 for each other, 16 for each document with the most frequent word of a field, and of rows, columns and offsets
    /// a quarter of [`WriterOptions::memory_bytes`](crate::WriterOptions::memory_bytes): what is more takes more passes over what there is.
    /// So that these stay few, what is added becomes a segment as soon as its values, and 40 bytes a document, are twice that
    /// memory; merges of such segments, which are in order, take little more than one pass.
    ///
    /// ```
    /// use treepie::{Document, Field, FieldKind, Index, Schema};
    ///
    /// let price = Field::new("price", FieldKind::Decimal { scale: 2 });
    /// let index = Index::in_memory(Schema::builder().text("name").field(price).order_by(["-price"]).build()?);
    /// let mut writer = index.writer()?;
    /// for (name, price) in [("lamp", "12.50"), ("table", "99.00"), ("shade", "7.95")] {
    ///     writer.add(Document::new().with("name", name).with("price", price))?;
    /// }
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let page = searcher.search(&searcher.parse("*")?).run()?;
    /// let names: Vec<_> = page.hits.iter().map(|hit| hit.fields["name"].to_string()).collect();
    /// assert_eq!(names, ["table", "lamp", "shade"]);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn order_by<S: Into<String>>(mut self, order: impl IntoIterator<Item = S>) -> Self {
        self.order = order.into_iter().map(Into::into).collect();
        self
    }

    /// Checks names and counts.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Schema`] for no field, too many, an unusable or repeated name, a default field that
    /// does not exist or is typed, a key that is not a stored field of one keyword or whole number, a field other than text that is
    /// to keep more than documents, offsets without positions, a column of texts, an analyzer or a gap between
    /// positions of a field that is not text, more digits behind the point than a decimal has, what cannot separate names, a time zone of what is no date, an [order](Self::order_by) of what has not one value in a column, or other fields of the names that
    /// [nulls](Self::nulls) are kept in. Whether there is an analyzer of that name shows where it is needed.
    pub fn build(self) -> Result<Schema> {
        let wrong = |what: String| Error::new(ErrorKind::Schema, what);
        if self.fields.is_empty() {
            return Err(wrong("building a schema".into())
                .expected("at least one field")
                .found("none"));
        }
        if self.fields.len() > FIELDS_MAX {
            return Err(wrong("building a schema".into())
                .expected(format!("at most {FIELDS_MAX} fields"))
                .found(self.fields.len().to_string())
                .of_limit("FIELDS_MAX", FIELDS_MAX, self.fields.len()));
        }
        for (at, field) in self.fields.iter().enumerate() {
            check_name(&field.name)?;
            check_analyzers(field)?;
            if self.fields[..at].iter().any(|other| other.name == field.name) {
                return Err(wrong(format!("the field '{}' is declared twice", field.name)));
            }
            let kind = field.kind.name();
            if !field.kind.is_text() && field.position_gap != POSITION_GAP_DEFAULT {
                return Err(wrong(format!("declaring the {kind} field '{}'", field.name))
                    .expected("no gap between positions")
                    .found(field.position_gap.to_string())
                    .hint("only text has words to place"));
            }
            if field.offsets && !field.detail.has_positions() {
                return Err(wrong(format!("declaring the field '{}'", field.name))
                    .expected("positions where there are offsets")
                    .found(format!("offsets with {:?}", field.detail)));
            }
            if field.column && field.kind.is_text() {
                return Err(wrong(format!("declaring the {kind} field '{}'", field.name))
                    .expected("a column of keywords or of a typed field")
                    .found(format!("one of a {kind} field")));
            }
            if !field.kind.is_text() && field.detail != Detail::Documents {
                return Err(wrong(format!("declaring the {kind} field '{}'", field.name))
                    .expected("no frequencies and no positions")
                    .found(format!("{:?}", field.detail))
                    .hint("only text has words to count and to place"));
            }
        }
        for field in &self.fields {
            if let FieldKind::Decimal { scale } = field.kind
                && scale > DECIMAL_SCALE_MAX
            {
                return Err(wrong(format!("declaring the decimal field '{}'", field.name))
                    .expected(format!("at most {DECIMAL_SCALE_MAX} digits behind the point"))
                    .found(scale.to_string()));
            }
            if let Some(zone) = &field.zone
                && (field.kind != FieldKind::Date || !is_zone_name(zone))
            {
                let kind = field.kind.name();
                return Err(wrong(format!("giving the {kind} field '{}' a time zone", field.name))
                    .expected(format!(
                        "a field of dates, and a name of 1 to {ZONE_BYTES_MAX} bytes"
                    ))
                    .found(format!("{zone:?}")));
            }
            if let FieldKind::Path { separator } = field.kind
                && (separator == '\\' || separator.is_control())
            {
                return Err(wrong(format!("declaring the path field '{}'", field.name))
                    .expected("a separator other than a backslash and control characters")
                    .found(format!("{separator:?}")));
            }
        }
        let position = |name: &String| {
            let at = self.fields.iter().position(|field| field.name == *name);
            at.map(|at| FieldId(at as u16)).ok_or_else(|| {
                wrong("reading default_fields".into())
                    .expected("the name of a field")
                    .found(format!("'{name}'"))
            })
        };
        let default_fields: Vec<FieldId> = match &self.default_fields {
            Some(names) => names.iter().map(position).collect::<Result<_>>()?,
            None => (0..self.fields.len() as u16)
                .map(FieldId)
                .filter(|id| self.fields[id.index()].kind == FieldKind::Text)
                .collect(),
        };
        let key = self.key.as_ref().map(position).transpose()?;
        let can_be_key =
            |kind| matches!(kind, FieldKind::Keyword | FieldKind::I64 | FieldKind::U64);
        if let Some(key) = key.map(|id| &self.fields[id.index()])
            && (!can_be_key(key.kind) || key.many || !key.stored)
        {
            return Err(wrong(format!("taking the field '{}' as the key", key.name))
                .expected("a stored field of one keyword or whole number")
                .found(match key {
                    key if key.many => "many values".to_owned(),
                    key if can_be_key(key.kind) => "one that is not stored".to_owned(),
                    key => format!("a {} field", key.kind.name()),
                }));
        }
        let is_typed = |id: &&FieldId| self.fields[id.index()].kind.is_typed();
        if let Some(typed) = default_fields.iter().find(is_typed) {
            let field = &self.fields[typed.index()];
            return Err(wrong("reading default_fields".into())
                .expected("fields that any word can be in")
                .found(format!("the {} field '{}'", field.kind.name(), field.name)));
        }
        for name in [NULL_FIELD, EMPTY_FIELD] {
            let field = self.fields.iter().find(|field| field.name == name);
            if !self.nulls && field.is_some() {
                return Err(wrong(format!("declaring the field '{name}'"))
                    .expected("another name")
                    .found("that of what says which fields are null or empty")
                    .hint("SchemaBuilder::nulls, or `nulls = true` under [index] in a schema file, makes it"));
            }
            let own = Field::new(name, FieldKind::Keyword).many(true);
            if self.nulls && field != Some(&own) {
                return Err(wrong(format!("keeping nulls in the field '{name}'"))
                    .expected("a stored field of many keywords without a column")
                    .found("another one"));
            }
        }
        let order = order::resolve(&self.order, &self.fields)?;
        Ok(Schema { fields: self.fields, default_fields, key, nulls: self.nulls, order })
    }
}

fn is_zone_name(name: &str) -> bool {
    (1..=ZONE_BYTES_MAX).contains(&name.len()) && !name.contains(char::is_control)
}

fn check_name(name: &str) -> Result<()> {
    let usable = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let starts_well = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    if starts_well && name.chars().all(usable) && name.len() <= FIELD_NAME_BYTES_MAX {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Schema, "naming a field")
        .expected(format!(
            "a letter or '_', then letters, digits, '_', '-' or '.', at most {FIELD_NAME_BYTES_MAX} bytes"
        ))
        .found(format!("{name:?}")))
}

fn check_analyzers(field: &Field) -> Result<()> {
    for spec in [&field.analyzer, &field.query_analyzer].into_iter().flatten() {
        let wrong = || {
            Error::new(ErrorKind::Schema, format!("giving the field '{}' an analyzer", field.name))
        };
        if field.kind != FieldKind::Text {
            return Err(wrong()
                .expected("a text field")
                .found(format!("a {} field", field.kind.name())));
        }
        if spec.is_empty() || spec.len() > ANALYZER_BYTES_MAX || spec.contains(char::is_control) {
            return Err(wrong()
                .expected(format!(
                    "a name or a spec of 1 to {ANALYZER_BYTES_MAX} bytes without control characters"
                ))
                .found(format!("{:?}", spec.chars().take(40).collect::<String>())));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_fields_are_the_text_fields_unless_named() {
        let builder = Schema::builder().text("a").keyword("b").text("c");
        let names =
            |schema: &Schema| schema.default_fields().map(|f| f.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&builder.clone().build().unwrap()), ["a", "c"]);
        assert_eq!(names(&builder.clone().default_fields(["b"]).build().unwrap()), ["b"]);
        assert_eq!(builder.default_fields(["x"]).build().unwrap_err().kind(), ErrorKind::Schema);
    }

    #[test]
    fn what_differs_is_named() {
        let number = || Field::new("n", FieldKind::I64);
        let schema = |field| Schema::builder().text("t").field(field).build().unwrap();
        let own = schema(number());
        let cases = [
            (schema(number().column(false)), "field 'n' keeps no column"),
            (schema(number().many(true)), "field 'n' is another"),
            (Schema::builder().text("t").build().unwrap(), "other fields"),
        ];
        assert!(cases[0].0.difference(&own).contains("field 'n' keeps a column"));
        for (other, words) in cases {
            assert!(own.difference(&other).contains(words), "{}", own.difference(&other));
        }
    }

    #[test]
    fn unusable_schemas_are_refused() {
        for name in ["", "1a", "a b", "a:b", "é\u{0}", &"x".repeat(256)] {
            assert!(Schema::builder().text(name).build().is_err(), "{name:?}");
        }
        assert!(Schema::builder().build().is_err());
        assert!(Schema::builder().text("a").keyword("a").build().is_err());
        assert!(Schema::builder().text("größe_2.b-c").build().is_ok());
        let keyword = Field::new("k", FieldKind::Keyword).detail(Detail::Frequencies);
        assert!(Schema::builder().field(keyword).build().is_err());
        for (kind, detail) in
            [(FieldKind::Keyword, Detail::Documents), (FieldKind::Text, Detail::Frequencies)]
        {
            let field = Field::new("o", kind).detail(detail).offsets(true);
            assert!(Schema::builder().field(field).build().is_err());
        }
        for (kind, zone) in [
            (FieldKind::I64, "UTC"),
            (FieldKind::Date, ""),
            (FieldKind::Date, "a\n"),
            (FieldKind::Date, &"x".repeat(ZONE_BYTES_MAX + 1)),
        ] {
            let field = Field::new("d", kind).zone(zone);
            assert!(Schema::builder().field(field).build().is_err(), "{zone:?}");
        }
        for separator in ['\\', '\n', '\u{85}'] {
            let field = Field::new("p", FieldKind::Path { separator });
            assert!(Schema::builder().field(field).build().is_err(), "{separator:?}");
        }
    }

    #[test]
    fn analyzers_belong_to_text_fields_and_are_short_names() {
        let field = |kind| Field::new("a", kind);
        let build = |field| Schema::builder().field(field).build();
        let text = build(field(FieldKind::Text).analyzer("english").query_analyzer("x")).unwrap();
        let text = text.field("a").unwrap();
        assert_eq!((text.analyzer_spec(), text.query_analyzer_spec()), ("english", "x"));
        let plain = field(FieldKind::Text).analyzer(DEFAULT_ANALYZER);
        assert_eq!(plain, field(FieldKind::Text));
        assert_eq!((plain.analyzer_spec(), plain.query_analyzer_spec()), ("default", "default"));
        let same = field(FieldKind::Text).analyzer("english");
        assert_eq!(same.query_analyzer_spec(), "english");
        for bad in [
            field(FieldKind::Keyword).analyzer("english"),
            field(FieldKind::Keyword).query_analyzer("english"),
            field(FieldKind::Text).analyzer(""),
            field(FieldKind::Text).analyzer("a\nb"),
            field(FieldKind::Text).query_analyzer("x".repeat(ANALYZER_BYTES_MAX + 1)),
        ] {
            let error = build(bad).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Schema);
            assert!(error.to_string().contains("the field 'a'"), "{error}");
        }
    }
}
