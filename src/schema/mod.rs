//! Schemas: the fields of a document, and how each is indexed.
//!
//! ```
//! use treepie::{FieldKind, Schema};
//!
//! let schema = Schema::builder().text("title").keyword("qualifier").build()?;
//! assert_eq!(schema.field("qualifier").unwrap().kind, FieldKind::Keyword);
//! # Ok::<(), treepie::Error>(())
//! ```

mod builder;
mod field;
pub(crate) mod names;
mod order;
mod point;
mod similarity;
mod vector;

pub use builder::SchemaBuilder;
pub use field::{Detail, Field, FieldKind};
pub use order::ORDER_FIELDS_MAX;
pub(crate) use order::OrderField;
pub use point::CoordinateOrder;
pub(crate) use point::POINT_LEN;
pub use similarity::SIMILARITY_DOCS_MIN;
pub use vector::{Metric, VECTOR_DIMS_MAX, VectorCodes, VectorParams, VectorValues};

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
/// Default separator between two names of a path, if a schema file names none.
pub const PATH_SEPARATOR_DEFAULT: char = '/';
/// The spec that a text field without one stands for.
pub const DEFAULT_ANALYZER: &str = "default";

/// The places between two values of a text field that does not say otherwise.
pub const POSITION_GAP_DEFAULT: u16 = 100;

/// The field with the names of fields that a document says to be null.
///
/// See [`SchemaBuilder::nulls`].
pub const NULL_FIELD: &str = "_null";
/// The field with the names of a document's empty texts and empty lists.
pub const EMPTY_FIELD: &str = "_empty";
/// Name that finds the documents that say nothing of a field.
///
/// It is a name in queries, of no field.
pub const MISSING_FIELD: &str = "_missing";

/// The fields of an index, given when it is created.
///
/// More can be [added](crate::Index::add_fields), and none changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schema {
    fields: Vec<Field>,
    default_fields: Vec<FieldId>,
    key: Option<FieldId>,
    nulls: bool,
    order: Vec<OrderField>,
    /// Text fields whose terms say which documents are similar; none where documents do not lie in the order of that.
    similarity: Vec<FieldId>,
    /// Sources and their copies, as the fields say.
    copies: Vec<(FieldId, FieldId)>,
}

impl Schema {
    /// Starts a schema without fields.
    pub fn builder() -> SchemaBuilder {
        SchemaBuilder::default()
    }

    /// Returns the schema of lines that are titles: `title` (text, stored) and `qualifier` (keyword, not stored).
    pub(crate) fn of_titles() -> Self {
        Schema {
            fields: vec![
                Field::new("title", FieldKind::Text),
                Field::new("qualifier", FieldKind::Keyword).stored(false),
            ],
            default_fields: vec![FieldId(0)],
            key: None,
            nulls: false,
            order: vec![],
            similarity: vec![],
            copies: vec![],
        }
    }

    /// All fields in the order they were declared.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The fields that words without a `field:` prefix are looked up in.
    pub fn default_fields(&self) -> impl Iterator<Item = &Field> {
        self.default_fields.iter().map(|id| &self.fields[id.index()])
    }

    /// The field that tells documents apart.
    ///
    /// Each document has one value of it, and no two the same.
    pub fn key(&self) -> Option<&Field> {
        self.key.map(|id| &self.fields[id.index()])
    }

    /// Whether it keeps which fields are null or empty; see [`SchemaBuilder::nulls`].
    pub fn keeps_nulls(&self) -> bool {
        self.nulls
    }

    /// Fields by which documents are put in order within each segment, as [`SchemaBuilder::order_by`] takes them. None if
    /// documents lie as they were added.
    pub fn order(&self) -> impl Iterator<Item = String> {
        self.order.iter().map(|key| key.text(&self.fields))
    }

    /// The text fields whose terms say which documents are similar.
    ///
    /// There are none if segments are not in that order; see [`SchemaBuilder::order_by_similarity`].
    pub fn similarity_fields(&self) -> impl Iterator<Item = &Field> {
        self.similarity.iter().map(|id| self.get(*id))
    }

    /// Whether those are all of its text fields.
    pub fn is_similarity_of_all(&self) -> bool {
        !self.similarity.is_empty() && self.is_all_texts(&self.similarity)
    }

    pub(crate) fn similarity_field_ids(&self) -> &[FieldId] {
        &self.similarity
    }

    pub(crate) fn order_fields(&self) -> &[OrderField] {
        &self.order
    }

    pub(crate) fn key_id(&self) -> Option<FieldId> {
        self.key
    }

    pub(crate) fn get(&self, id: FieldId) -> &Field {
        &self.fields[id.index()]
    }

    pub(crate) fn default_field_ids(&self) -> &[FieldId] {
        &self.default_fields
    }

    /// The one stored field among the first `n_fields` of a schema if there is no other and it has one value: then a stored
    /// row of a segment with these is that value and nothing else.
    pub(crate) fn bare_stored_field(&self, n_fields: usize) -> Option<FieldId> {
        let mut stored = self.field_ids().take(n_fields).filter(|id| self.get(*id).is_in_rows());
        let first = stored.next()?;
        (stored.next().is_none() && !self.get(first).many).then_some(first)
    }

    /// Adds fields to a copy of the schema, behind those that it has. If all of its text fields are default fields,
    /// the new text fields are default fields, too; so it is with the fields that
    /// [similarity](Self::similarity_fields) is of.
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
            if let Some(there) = self.fields.iter().find(|there| there.name == field.name) {
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

    /// Copies the schema, with this order of each segment's documents, or none; see [`SchemaBuilder::order_by`].
    ///
    /// # Errors
    ///
    /// Fails like [`SchemaBuilder::build`].
    pub fn ordered_by<S: Into<String>>(
        &self,
        order: impl IntoIterator<Item = S>,
    ) -> Result<Schema> {
        self.to_builder().order_by(order).build()
    }

    /// Copies the schema, with large segments' documents in the order of similarity; see
    /// [`SchemaBuilder::order_by_similarity`].
    ///
    /// # Errors
    ///
    /// Fails like [`SchemaBuilder::build`].
    pub fn ordered_by_similarity<S: Into<String>>(
        &self,
        fields: impl IntoIterator<Item = S>,
    ) -> Result<Schema> {
        self.to_builder().order_by_similarity(fields).build()
    }

    /// Builder that makes this schema. If its default fields are all of its text fields, none are named; so it is with
    /// those of similarity.
    fn to_builder(&self) -> SchemaBuilder {
        let Schema { fields: own, nulls, similarity, .. } = self;
        let names = |ids: &[FieldId]| ids.iter().map(|id| self.get(*id).name.clone()).collect();
        let has_own = !self.is_all_texts(&self.default_fields);
        let all_similar = self.is_similarity_of_all();
        SchemaBuilder {
            fields: own.clone(),
            default_fields: has_own.then(|| names(&self.default_fields)),
            key: self.key().map(|key| key.name.clone()),
            added_by_key: None,
            nulls: *nulls,
            order: self.order().collect(),
            similarity: (!similarity.is_empty())
                .then(|| if all_similar { vec![] } else { names(similarity) }),
        }
    }

    /// Whether some fields, each of which is there once, are all text fields, in whatever order they were named.
    fn is_all_texts(&self, ids: &[FieldId]) -> bool {
        let texts = || self.field_ids().filter(|id| self.get(*id).kind.is_text());
        texts().count() == ids.len() && texts().all(|text| ids.contains(&text))
    }

    /// Whether it is what [`with_fields`](Self::with_fields) makes of another, or the same.
    pub(crate) fn extends(&self, other: &Schema) -> bool {
        let added = self.fields.get(other.fields.len()..).unwrap_or_default();
        self == other || other.with_fields(added.iter().cloned()).is_ok_and(|wider| wider == *self)
    }

    /// Difference to another schema, for messages.
    pub(crate) fn difference(&self, other: &Schema) -> String {
        let fields = self.fields.iter().zip(&other.fields);
        match fields.into_iter().find(|(own, other)| own != other) {
            Some((own, other)) if own.clone().column(other.column) == *other => {
                let keeps = if other.column { "keeps a column" } else { "keeps no column" };
                format!("one whose field '{}' {keeps}", other.name)
            }
            Some((own, other)) if own.name != other.name => {
                format!("one with the field '{}' in the place of '{}'", other.name, own.name)
            }
            Some((own, other)) if own.kind.name() != other.kind.name() => {
                let kinds = [other, own].map(|field| field.kind.name());
                format!("one whose field '{}' is {}, not {}", own.name, kinds[0], kinds[1])
            }
            Some((_, other)) => format!("one whose field '{}' is another", other.name),
            None if self.fields.len() != other.fields.len() => {
                let n_both = self.fields.len().min(other.fields.len());
                let names = |fields: &[Field]| {
                    let named = fields[n_both..].iter().map(|field| format!("'{}'", field.name));
                    named.collect::<Vec<_>>().join(", ")
                };
                match self.fields.len() < other.fields.len() {
                    true => format!("one with more fields: {}", names(&other.fields)),
                    false => format!("one without the fields {}", names(&self.fields)),
                }
            }
            None if self.key != other.key => match other.key() {
                Some(key) => format!("one with the key '{}'", key.name),
                None => "one without a key".to_owned(),
            },
            None if self.nulls != other.nulls => "one that keeps nulls, or does not".to_owned(),
            None if (&self.order, &self.similarity) != (&other.order, &other.similarity) => {
                "one of documents in another order".to_owned()
            }
            None => "one of other default fields".to_owned(),
        }
    }

    /// Fields that are copies of others, each behind its source.
    pub(crate) fn copies(&self) -> &[(FieldId, FieldId)] {
        &self.copies
    }

    pub(crate) fn field_ids(&self) -> impl Iterator<Item = FieldId> + use<> {
        (0..self.fields.len() as u16).map(FieldId)
    }
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
    fn fields_of_each_kind_have_a_method() {
        let schema = Schema::builder().text("a").keyword("b").i64("c").u64("d").f64("e").bool("f");
        let schema = schema.date("g").decimal("h", 2).ip("i").path("j").build().unwrap();
        let found: Vec<_> = schema.fields().iter().map(|field| (field.kind, field.many)).collect();
        let expected = [
            (FieldKind::Text, false),
            (FieldKind::Keyword, true),
            (FieldKind::I64, false),
            (FieldKind::U64, false),
            (FieldKind::F64, false),
            (FieldKind::Bool, false),
            (FieldKind::Date, false),
            (FieldKind::Decimal { scale: 2 }, false),
            (FieldKind::Ip, false),
            (FieldKind::Path { separator: '/' }, true),
        ];
        assert_eq!(found, expected);
        assert!(schema.fields().iter().all(|field| field.stored));
    }

    #[test]
    fn names_are_found_however_their_characters_are_composed() {
        let (composed, decomposed) = ("gr\u{f6}\u{df}e", "gro\u{308}\u{df}e");
        for (own, other) in [(composed, decomposed), (decomposed, composed)] {
            let schema = Schema::builder().text("title").field(Field::new(own, FieldKind::Keyword));
            let schema = schema.default_fields([other]).key(other).build().unwrap();
            assert_eq!(schema.field(other).map(|field| &*field.name), Some(own));
            assert_eq!(schema.field_id(other), schema.field_id(own));
            assert_eq!(schema.key().map(|field| &*field.name), Some(own));
            assert!(schema.field("gro\u{df}e").is_none() && schema.field("title\u{308}").is_none());
        }
        for (own, other) in [(composed, decomposed), (decomposed, composed)] {
            let copy = Field::new("words", FieldKind::Text).copy_of(other).stored(false);
            let schema = Schema::builder().field(Field::new(own, FieldKind::Keyword)).field(copy);
            let schema = schema.build().unwrap();
            assert_eq!(schema.copies().len(), 1);
            // The schema of an index that is opened again.
            assert_eq!(schema.fields()[1].copy_of.as_deref(), Some(own));
        }
        // Two that differ by nothing else stay two.
        let schema = Schema::builder().text(composed).build().unwrap();
        let schema = schema.with_fields([Field::new(decomposed, FieldKind::Keyword)]).unwrap();
        for name in [composed, decomposed] {
            assert_eq!(schema.field(name).map(|field| &*field.name), Some(name));
        }
    }

    #[test]
    fn what_differs_is_named() {
        let number = || Field::new("n", FieldKind::I64);
        let schema = |field| Schema::builder().text("t").field(field).build().unwrap();
        let own = schema(number());
        let cases = [
            (schema(number().column(false)), "field 'n' keeps no column"),
            (schema(number().many(true)), "field 'n' is another"),
            (schema(Field::new("n", FieldKind::U64)), "field 'n' is u64, not i64"),
            (schema(Field::new("m", FieldKind::I64)), "field 'm' in the place of 'n'"),
            (Schema::builder().text("t").build().unwrap(), "without the fields 'n'"),
            (own.with_fields([Field::new("m", FieldKind::I64)]).unwrap(), "more fields: 'm'"),
            (
                Schema::builder().text("t").field(number()).nulls().build().unwrap(),
                "more fields: '_null'",
            ),
            (
                Schema::builder()
                    .text("t")
                    .field(number())
                    .default_fields([] as [&str; 0])
                    .build()
                    .unwrap(),
                "default fields",
            ),
        ];
        let keyword = || Schema::builder().field(Field::new("k", FieldKind::Keyword));
        let (plain, keyed) = (keyword().build().unwrap(), keyword().key("k").build().unwrap());
        assert_eq!(plain.difference(&keyed), "one with the key 'k'");
        assert_eq!(keyed.difference(&plain), "one without a key");
        assert!(cases[0].0.difference(&own).contains("field 'n' keeps a column"));
        for (other, words) in cases {
            assert!(own.difference(&other).contains(words), "{}", own.difference(&other));
        }
    }

    #[test]
    fn a_key_that_is_declared_again_says_what_to_do() {
        let refused = |schema: SchemaBuilder| schema.build().unwrap_err().to_string();
        assert_eq!(
            refused(Schema::builder().key("id").text("title").u64("id")),
            "the field 'id' is declared twice; key(\"id\") declared it as a keyword: put .u64(\"id\") before it"
        );
        let again = refused(Schema::builder().key("id").keyword("id"));
        assert!(
            again.ends_with("put the other declaration before it, or leave that out"),
            "{again}"
        );
        // Declared before, and by other means.
        assert!(Schema::builder().u64("id").key("id").build().is_ok());
        let others = Schema::builder().u64("id").key("id").text("id");
        assert_eq!(refused(others), "the field 'id' is declared twice");
        let others = Schema::builder().key("id").text("title").text("title");
        assert_eq!(refused(others), "the field 'title' is declared twice");
    }

    #[test]
    fn unusable_schemas_are_refused() {
        for name in ["", " ", " a", "a ", "a\nb", "é\u{0}", &"x".repeat(256)] {
            assert!(Schema::builder().text(name).build().is_err(), "{name:?}");
        }
        for name in ["1a", "a b", "a:b", "(EUR)", "@id", "\"", &"x".repeat(255)] {
            assert!(Schema::builder().text(name).build().is_ok(), "{name:?}");
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
        let copy = |of: &str| Field::new("w", FieldKind::Text).copy_of(of);
        let with = |field: Field| Schema::builder().text("t").keyword("tags").field(field).build();
        for (field, words) in [
            (copy("x"), "the name of a field, found 'x'"),
            (copy("w"), "a field with values of its own, found a copy of 'w'"),
            (copy("t").stored(true), "a field that is not stored"),
            (copy("t").many(true), "one value a document, as its source has, found many values"),
            (copy("tags"), "many values a document, as its source has, found one value"),
        ] {
            let error = with(field).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        assert!(with(copy("t")).is_ok() && with(copy("tags").many(true)).is_ok());
        for separator in ['\n', '\u{85}'] {
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
