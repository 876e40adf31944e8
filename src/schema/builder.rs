//! Conversion of fields to a sound schema; every fault is reported here.

use super::{
    ANALYZER_BYTES_MAX, DECIMAL_SCALE_MAX, Detail, EMPTY_FIELD, FIELD_NAME_BYTES_MAX, FIELDS_MAX,
    Field, FieldKind, NULL_FIELD, PATH_SEPARATOR_DEFAULT, POSITION_GAP_DEFAULT, Schema,
    VECTOR_DIMS_MAX, VectorCodes, VectorParams, ZONE_BYTES_MAX, names, order, similarity,
};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::FieldId;

/// Collects fields; [`build`](Self::build) checks them.
#[derive(Clone, Debug, Default)]
pub struct SchemaBuilder {
    pub(super) fields: Vec<Field>,
    pub(super) default_fields: Option<Vec<String>>,
    pub(super) key: Option<String>,
    /// Name of the field that [`key`](Self::key) added last.
    pub(super) added_by_key: Option<String>,
    pub(super) nulls: bool,
    pub(super) order: Vec<String>,
    /// Named fields, or none for all of text.
    pub(super) similarity: Option<Vec<String>>,
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

    /// Adds a stored field of one whole number. It keeps a [column](Field::column), as all fields of numbers and dates do.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema, SortKey};
    ///
    /// let schema = Schema::builder().text("name").decimal("price", 2).date("since").bool("sold").build()?;
    /// let index = Index::in_memory(schema);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("name", "Lamp").with("price", "12.50").with("since", "2024-05"))?;
    /// writer.add(Document::new().with("name", "Desk").with("price", 99).with("sold", true))?;
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// let query = searcher.parse("price:>10")?;
    /// let page = searcher.search(&query).sort([SortKey::descending("price")]).run()?;
    /// assert_eq!(page.hits[0].fields["price"].to_string(), "99.00");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn i64(self, name: impl Into<String>) -> Self {
        self.field(Field::new(name, FieldKind::I64))
    }

    /// Adds a stored field of one whole number that is not negative.
    #[must_use]
    pub fn u64(self, name: impl Into<String>) -> Self {
        self.field(Field::new(name, FieldKind::U64))
    }

    /// Adds a stored field of one number with 53 significant bits.
    #[must_use]
    pub fn f64(self, name: impl Into<String>) -> Self {
        self.field(Field::new(name, FieldKind::F64))
    }

    /// Adds a stored field of one boolean.
    #[must_use]
    pub fn bool(self, name: impl Into<String>) -> Self {
        self.field(Field::new(name, FieldKind::Bool))
    }

    /// Adds a stored field of one date; see [`Timestamp`](crate::Timestamp) for how they are written.
    #[must_use]
    pub fn date(self, name: impl Into<String>) -> Self {
        self.field(Field::new(name, FieldKind::Date))
    }

    /// Adds a stored field of one number with `scale` digits behind the point.
    ///
    /// It is kept exactly: for money, mostly.
    #[must_use]
    pub fn decimal(self, name: impl Into<String>, scale: u8) -> Self {
        self.field(Field::new(name, FieldKind::Decimal { scale }))
    }

    /// Adds a stored field of one address of the Internet Protocol.
    #[must_use]
    pub fn ip(self, name: impl Into<String>) -> Self {
        self.field(Field::new(name, FieldKind::Ip))
    }

    /// Adds a stored field of paths with `/` between their names.
    ///
    /// A document may have many of them; see [`FieldKind::Path`].
    #[must_use]
    pub fn path(self, name: impl Into<String>) -> Self {
        let separator = PATH_SEPARATOR_DEFAULT;
        self.field(Field::new(name, FieldKind::Path { separator }).many(true))
    }

    /// Adds a field of one vector.
    ///
    /// ```
    /// use treepie::schema::{Metric, Schema, VectorParams};
    ///
    /// let schema = Schema::builder().vector("embedding", VectorParams::new(384, Metric::Cosine)).build()?;
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn vector(self, name: impl Into<String>, params: VectorParams) -> Self {
        self.field(Field::new(name, FieldKind::Vector(params)))
    }

    /// Adds a field of one point on the globe.
    ///
    /// ```
    /// use treepie::geo::GeoPoint;
    /// use treepie::{Document, Schema};
    ///
    /// let schema = Schema::builder().text("name").point("location").build()?;
    /// let reims = Document::new().with("name", "Reims").with("location", GeoPoint::new(49.255, 4.154)?);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn point(self, name: impl Into<String>) -> Self {
        self.field(Field::new(name, FieldKind::Point { array: None }))
    }

    /// Adds a field.
    #[must_use]
    pub fn field(mut self, field: Field) -> Self {
        self.fields.push(field);
        self
    }

    /// Names the field of keywords or whole numbers that tells documents apart.
    ///
    /// A field of keywords is added if there is none of this name yet. One of whole numbers is declared before:
    /// `.u64("id").key("id")`. Every document must then have one value of it, not empty, and [takes the
    /// place](crate::IndexWriter::add) of the one that had the same.
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
        if names::position(&self.fields, &name).is_none() {
            self.fields.push(Field::new(&*name, FieldKind::Keyword));
            self.added_by_key = Some(name.clone());
        }
        self.key = Some(name);
        self
    }

    /// Keeps which fields a document says to be null or empty.
    ///
    /// Empty are texts without characters and lists without values. So these can be told apart from fields that it
    /// says nothing of. Adds the fields [`NULL_FIELD`] and [`EMPTY_FIELD`], keywords that are the names of such
    /// fields: a posting list for each field that is null or empty anywhere, and some bytes of the stored row of such
    /// a document.
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

    /// Names the default fields, for words without a `field:` prefix (default: every text field). In one of numbers,
    /// dates and the like a word is a value; what no value of it can be is looked for in the others alone, and
    /// refused if there is no other.
    ///
    /// ```
    /// use treepie::{Document, Field, FieldKind, Index, Schema};
    ///
    /// let year = Field::new("year", FieldKind::I64);
    /// let index = Index::in_memory(Schema::builder().text("title").field(year).default_fields(["title", "year"]).build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "Paris, Texas").with("year", 1984))?;
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// assert_eq!(searcher.search(&searcher.parse("+texas +1984")?).run()?.hits.len(), 1);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn default_fields<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.default_fields = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sorts the documents of each segment by up to four fields.
    ///
    /// The least value is first, or the greatest if `-` is before the name. By default documents are in the order in
    /// which they are added. Documents without a value come last, and those with the same values as they were added.
    /// A field needs a column and at most one value a document, be it a number, a date, a boolean, an address, or a
    /// keyword, which is compared by its bytes.
    ///
    /// Matches, counts and sorts stay the same, but for what the order of documents decides: hits of the same score
    /// or of the same values of a [sort](crate::SearchBuilder::sort) come in the order of their segments' documents.
    /// The order is chosen when the index is created, and stays.
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
    #[doc(alias = "index_sort")]
    #[must_use]
    pub fn order_by<S: Into<String>>(mut self, order: impl IntoIterator<Item = S>) -> Self {
        self.order = order.into_iter().map(Into::into).collect();
        self.similarity = None;
        self
    }

    /// Puts similar documents of large segments near each other.
    ///
    /// Similar are documents that have the same terms of some text fields, or of all if none is named. By default
    /// documents are in the order in which they are added. It is found by recursive graph bisection.
    ///
    /// Matches, counts and sorts stay the same, with the same scores, but for what the order of documents decides:
    /// hits of the same score or of the same values of a [sort](crate::SearchBuilder::sort) come in the order of
    /// their segments' documents, which says nothing to people. The order is chosen when the index is created, and
    /// stays; an index without can be put in this order [once](crate::IndexWriter::reorder).
    ///
    /// # Cost
    ///
    /// Posting lists become smaller, by some 13 % for articles, and ranked searches faster, as whole blocks of documents have nothing of what
    /// is looked for.
    ///
    /// Segments of [`SIMILARITY_DOCS_MIN`](super::SIMILARITY_DOCS_MIN) documents or more are put in this order when
    /// they are written. They come from merges, or from what was added since the last commit or flush. The threads
    /// of the writer find the order, or for a [job](crate::writer::MergeJob) its own, and an event tells of it as a
    /// [merge](crate::events::What::Merge). The order takes up to some 10 µs a document and thread, and memory: 24
    /// bytes a document, beside them what rows, columns and lists take in any [order](Self::order_by), and for the
    /// terms of documents up to half of [`WriterOptions::memory_bytes`](crate::WriterOptions::memory_bytes) and 16
    /// bytes for each different term and thread. Terms of fewer than 4 and of more than half of all documents are
    /// left out, and then the rarest, until there are 96 a document and there is memory: with less of that the order
    /// is a little worse. The result is the same for any number of threads.
    ///
    /// ```
    /// use treepie::Schema;
    ///
    /// let schema = Schema::builder().text("title").text("body").order_by_similarity(["body"]).build()?;
    /// assert!(schema.similarity_fields().map(|field| &*field.name).eq(["body"]));
    /// let schema = Schema::builder().text("title").text("body").order_by_similarity::<&str>([]).build()?;
    /// assert_eq!(schema.similarity_fields().count(), 2);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn order_by_similarity<S: Into<String>>(
        mut self,
        fields: impl IntoIterator<Item = S>,
    ) -> Self {
        self.similarity = Some(fields.into_iter().map(Into::into).collect());
        self.order = vec![];
        self
    }

    /// Checks names and counts.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Schema`] for no field, too many, an unusable or repeated name, a default field that
    /// does not exist, a key that is not a stored field of one keyword or whole number, a field other than text that is
    /// to keep more than documents, offsets without positions, a column of texts or vectors, more or fewer
    /// [dimensions](super::VectorParams) than vectors may have, codes of vectors that have none, a default field of vectors, an analyzer or a gap between
    /// positions of a field that is not text, more digits behind the point than a decimal has, what cannot separate names, a time zone of what is no date, a [copy](Field::copy_of) of what is no field or a copy itself, an [order](Self::order_by) of what has not one value in a column, [similarity](Self::order_by_similarity) of what is no text, or other fields of the names that
    /// [nulls](Self::nulls) are kept in. Whether there is an analyzer of that name shows where it is needed.
    pub fn build(mut self) -> Result<Schema> {
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
                return Err(self.declared_twice(field));
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
            if field.column && (field.kind.is_text() || !field.kind.has_terms()) {
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
        let copies = copies_in(&self.fields)?;
        // Sources have one spelling from here on, as documents and an index that is opened again know them.
        for (source, copy) in &copies {
            let name = self.fields[source.index()].name.clone();
            self.fields[copy.index()].copy_of = Some(name);
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
            if let FieldKind::Vector(VectorParams { dims, .. }) = field.kind
                && !(1..=VECTOR_DIMS_MAX).contains(&dims)
            {
                return Err(wrong(format!("declaring the vector field '{}'", field.name))
                    .expected(format!("1 to {VECTOR_DIMS_MAX} dimensions"))
                    .found(dims.to_string()));
            }
            if let FieldKind::Vector(VectorParams { values, codes, .. }) = field.kind
                && codes != VectorCodes::None
                && values.codes() == VectorCodes::None
            {
                let doing = format!("declaring the vector field '{}'", field.name);
                return Err(wrong(doing)
                    .expected(format!("no codes of numbers that are {}", values.name()))
                    .found(codes.name()));
            }
            if let FieldKind::Path { separator } = field.kind
                && separator.is_control()
            {
                return Err(wrong(format!("declaring the path field '{}'", field.name))
                    .expected("a separator that is no control character")
                    .found(format!("{separator:?}")));
            }
        }
        let position = |name: &String| {
            let at = names::position(&self.fields, name);
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
        let mut of_default = default_fields.iter().map(|id| &self.fields[id.index()]);
        if let Some(field) = of_default.find(|field| !field.kind.has_terms()) {
            return Err(wrong("reading default_fields".into())
                .expected("a field whose values can be looked for by words")
                .found(format!("the {} field '{}'", field.kind.name(), field.name)));
        }
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
        let similarity = match &self.similarity {
            Some(names) => similarity::resolve(names, &self.fields)?,
            None => vec![],
        };
        let nulls = self.nulls;
        Ok(Schema { fields: self.fields, default_fields, key, nulls, order, similarity, copies })
    }

    /// Says so of a field that there was before; with what to do where [`key`](Self::key) added that one.
    fn declared_twice(&self, field: &Field) -> Error {
        let name = &field.name;
        let error = Error::new(ErrorKind::Schema, format!("the field '{name}' is declared twice"));
        if self.added_by_key.as_ref() != Some(name) {
            return error;
        }
        let remedy = match field.kind {
            FieldKind::I64 | FieldKind::U64 => {
                format!("put .{}(\"{name}\") before it", field.kind.name())
            }
            _ => "put the other declaration before it, or leave that out".to_owned(),
        };
        error.hint(format!("key(\"{name}\") declared it as a keyword: {remedy}"))
    }
}

fn is_zone_name(name: &str) -> bool {
    (1..=ZONE_BYTES_MAX).contains(&name.len()) && !name.contains(char::is_control)
}

/// Whether a field may have this name: any text that a line can show.
fn check_name(name: &str) -> Result<()> {
    let is_shown = !name.contains(char::is_control) && name.trim() == name;
    if is_shown && (1..=FIELD_NAME_BYTES_MAX).contains(&name.len()) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Schema, "naming a field")
        .expected(format!(
            "1 to {FIELD_NAME_BYTES_MAX} bytes without control characters, and without blanks at the ends"
        ))
        .found(match name.len() {
            ..=FIELD_NAME_BYTES_MAX => format!("{name:?}"),
            n_bytes => format!("one of {n_bytes} bytes"),
        }))
}

/// The sources and their copies; those that documents could not fill are refused.
fn copies_in(fields: &[Field]) -> Result<Vec<(FieldId, FieldId)>> {
    let mut copies = vec![];
    for (at, copy) in fields.iter().enumerate() {
        let Some(name) = &copy.copy_of else { continue };
        let wrong = |expected: &str, found: String| {
            let what = format!("making the field '{}' a copy of '{name}'", copy.name);
            Err(Error::new(ErrorKind::Schema, what).expected(expected).found(found))
        };
        if !matches!(copy.kind, FieldKind::Text | FieldKind::Keyword) {
            return wrong("a text or keyword field", format!("a {} field", copy.kind.name()));
        }
        let source_at = names::position(fields, name).filter(|_| !is_state(name));
        let Some(source_at) = source_at else {
            return wrong("the name of a field", format!("'{name}'"));
        };
        let source = &fields[source_at];
        if !source.kind.has_terms() {
            return wrong("a field of other values", format!("a {} field", source.kind.name()));
        }
        if let Some(other) = &source.copy_of {
            return wrong("a field with values of its own", format!("a copy of '{other}'"));
        }
        if copy.stored {
            return wrong("a field that is not stored, as its source is", "a stored one".into());
        }
        if copy.many != source.many {
            let of = |many| if many { "many values" } else { "one value" };
            let expected = format!("{} a document, as its source has", of(source.many));
            return wrong(&expected, of(copy.many).into());
        }
        copies.push((FieldId(source_at as u16), FieldId(at as u16)));
    }
    Ok(copies)
}

/// Whether documents give no values to a field of this name.
fn is_state(name: &str) -> bool {
    [NULL_FIELD, EMPTY_FIELD].contains(&name)
}

fn check_analyzers(field: &Field) -> Result<()> {
    for spec in [&field.analyzer, &field.query_analyzer].into_iter().flatten() {
        let wrong = || {
            Error::new(ErrorKind::Schema, format!("giving the field '{}' an analyzer", field.name))
        };
        let is_normalizer = || {
            field.query_analyzer.is_none()
                && field.normalizer_spec().is_some_and(|it| !it.is_empty())
        };
        if field.kind != FieldKind::Text && !is_normalizer() {
            return Err(wrong()
                .expected("a text field, or a keyword field with a normalizer")
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
