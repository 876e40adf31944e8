//! Hits, columns and facets as record batches of [Apache Arrow](https://arrow.apache.org).
//!
//! They are for tools that work on tables, and need the feature `arrow`.
//!
//! A table has the types of the schema, whatever is found:
//!
//! ```text
//! text, keyword, path, ip      LargeUtf8
//! i64, u64, f64, bool          Int64, UInt64, Float64, Boolean
//! date                         Timestamp(Microsecond, "UTC")
//! decimal                      Decimal128(19, digits behind the point)
//! vector                       FixedSizeList(Float32, dimensions)
//! a field of many values       List of these
//! ```
//!
//! All but numbers of documents and counts may be null: if there is no value, and for a value that is itself
//! [`Null`](Value::Null).
//!
//! ```
//! use treepie::arrow::{self, HitTable};
//! use treepie::{Document, Field, FieldKind, Index, Schema};
//!
//! let schema = Schema::builder().text("name").field(Field::new("price", FieldKind::Decimal { scale: 2 }));
//! let index = Index::in_memory(schema.build()?);
//! let mut writer = index.writer()?;
//! writer.add(Document::new().with("name", "red pan").with("price", "12.50"))?;
//! writer.add(Document::new().with("name", "red pot"))?;
//! writer.commit()?;
//! let searcher = index.searcher()?;
//! let query = searcher.parse("red")?;
//! let search = searcher.search(&query);
//! let table = HitTable::of(&search)?;
//! let batch = table.batch(&search.run()?.hits)?;
//! assert_eq!(batch.num_rows(), 2);
//! let names: Vec<_> = batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect();
//! assert_eq!(names, ["_doc", "_score", "name", "price"]);
//!
//! let mut stream = vec![]; // or a file, or a socket
//! arrow::write_stream(&mut stream, &table.schema(), [Ok(batch)])?;
//! for batch in arrow::columns(&searcher, &["price"])? {
//!     assert_eq!(batch?.num_columns(), 2);
//! }
//! # Ok::<(), treepie::Error>(())
//! ```
//!
//! # Cost
//!
//! Every value is copied, in some 50 nanoseconds for hits and some ten for numbers of columns. A keyword that a batch
//! meets for the first time takes a look into the dictionary; a batch has up to 65,536 documents and is made when it
//! is asked for.

use crate::error::{Error, ErrorKind, Result};
use crate::format::column::BLOCK_DOCS;
use crate::hits::{Bucket, FacetCounts, Hit};
use crate::ids::{FieldId, TermOrdinal};
use crate::request::{FacetKind, first_value};
use crate::schema::{Field, FieldKind, Schema, VectorParams};
use crate::searcher::{SearchBuilder, Searcher};
use crate::segment::reader::SegmentReader;
use crate::value::stored::Values;
use crate::value::{self, Value};
use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Decimal128Builder, FixedSizeListBuilder, Float32Builder,
    Float64Builder, Int64Builder, LargeStringBuilder, ListBuilder, TimestampMicrosecondBuilder,
    UInt64Builder, make_builder,
};
use arrow_array::{ArrayRef, Float32Array, UInt64Array};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field as ArrowField, Schema as ArrowSchema, TimeUnit};
use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

pub use arrow_array::RecordBatch;
pub use arrow_schema::SchemaRef;

/// Digits of the longest decimal.
const DECIMAL_DIGITS: u8 = 19;
/// Documents of a batch of columns.
const BATCH_DOCS: u32 = 1 << 16;
/// Terms of a field that are kept for the documents that come.
const TERMS_KEPT: usize = 1 << 16;

/// Schema of the table that the hits of a search make. Its columns are `_doc`, `_score`, for each key that hits are
/// sorted by `_sort1` and so on, `_group` if they are [grouped](SearchBuilder::collapse), and the stored fields that
/// come with them.
#[derive(Clone, Debug)]
pub struct HitTable {
    schema: SchemaRef,
    sort: Vec<FieldKind>,
    group: Option<FieldKind>,
    fields: Vec<Field>,
}

impl HitTable {
    /// The table of what a search will give.
    ///
    /// # Errors
    ///
    /// Any error in the options of the search; a usage error for a field that is called as another column.
    pub fn of(search: &SearchBuilder<'_>) -> Result<Self> {
        let kinds = search.kinds_of_hits()?;
        let mut columns = vec![
            ArrowField::new("_doc", DataType::UInt64, false),
            ArrowField::new("_score", DataType::Float32, true),
        ];
        for (nth, kind) in kinds.sort.iter().enumerate() {
            columns.push(ArrowField::new(format!("_sort{}", nth + 1), type_of(*kind), true));
        }
        columns.extend(kinds.group.map(|kind| ArrowField::new("_group", type_of(kind), true)));
        for field in &kinds.fields {
            if let Some(other) = columns.iter().find(|column| *column.name() == field.name) {
                return Err(Error::new(ErrorKind::Usage, "making a table of hits")
                    .expected("fields that are not called as other columns")
                    .found(format!("the field '{}'", other.name())));
            }
            columns.push(column_of(field));
        }
        let schema = Arc::new(ArrowSchema::new(columns));
        Ok(HitTable { schema, sort: kinds.sort, group: kinds.group, fields: kinds.fields })
    }

    /// Columns and their types.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Hits of that search, a row each.
    ///
    /// # Errors
    ///
    /// A usage error for hits of another search, whose values are of other types.
    pub fn batch(&self, hits: &[Hit]) -> Result<RecordBatch> {
        let docs: UInt64Array = hits.iter().map(|hit| Some(hit.doc.0)).collect();
        let scores: Float32Array = hits.iter().map(|hit| hit.score).collect();
        let mut columns: Vec<ArrayRef> = vec![Arc::new(docs), Arc::new(scores)];
        for (nth, kind) in self.sort.iter().enumerate() {
            columns.push(one_each(*kind, hits.iter().map(|hit| hit.sort.get(nth)))?);
        }
        if let Some(kind) = self.group {
            columns.push(one_each(kind, hits.iter().map(|hit| hit.group.as_ref()))?);
        }
        for field in &self.fields {
            let mut column = Column::of(field, hits.len());
            for hit in hits {
                column.push(hit.fields.get(&field.name).map_or(&[], Values::as_slice))?;
            }
            columns.push(column.finish());
        }
        RecordBatch::try_new(self.schema(), columns).map_err(wrong)
    }
}

/// Buckets of a facet, a row each. Columns are `value` and `count`, or `from`, `to` and `count` of ranges. Facets
/// within buckets are not among them, and can be given by themselves.
///
/// ```
/// # use treepie::{Document, Index, Schema};
/// # let index = Index::in_memory(Schema::builder().keyword("brand").build()?);
/// # let mut writer = index.writer()?;
/// # writer.add(Document::new().with("brand", "acme"))?;
/// # writer.commit()?;
/// let searcher = index.searcher()?;
/// let query = searcher.parse("*")?;
/// let page = searcher.search(&query).facet("brand", 10).run()?;
/// let batch = treepie::arrow::facet(searcher.schema(), &page.facets[0])?;
/// assert_eq!((batch.num_rows(), batch.num_columns()), (1, 2));
/// # Ok::<(), treepie::Error>(())
/// ```
///
/// # Errors
///
/// A usage error for statistics, which have no buckets, for a field that the schema does not have, and for an end of a range that
/// lies before or behind all values that the field can have.
pub fn facet(schema: &Schema, counts: &FacetCounts) -> Result<RecordBatch> {
    let refused = || Error::new(ErrorKind::Usage, "making a table of a facet");
    let Some(field) = schema.field(&counts.field) else {
        return Err(refused()
            .expected("a field of the schema")
            .found(format!("'{}'", counts.field)));
    };
    // Cells have names, and rings distances with their units.
    let kind = if field.kind.is_point() { FieldKind::Keyword } else { field.kind };
    let buckets = || counts.buckets.iter();
    let mut columns = match counts.kind {
        FacetKind::Terms | FacetKind::Grid => {
            let values = one_each(kind, buckets().map(|bucket| Some(&bucket.value)))?;
            vec![(ArrowField::new("value", type_of(kind), true), values)]
        }
        FacetKind::Ranges => {
            // An end that is no value of the field stands for the first one behind it.
            let ends = |end: fn(&Bucket) -> Option<&Value>| -> Vec<Option<Value>> {
                buckets().map(|bucket| end(bucket).map(|end| first_value(field, end))).collect()
            };
            let from = ends(|bucket| bucket.from.as_ref());
            let to = ends(|bucket| bucket.to.as_ref());
            let [from, to] = [from, to].map(|ends| one_each(kind, ends.iter().map(Option::as_ref)));
            let (from, to) = (from?, to?);
            let column = |name: &str| ArrowField::new(name, type_of(kind), true);
            vec![(column("from"), from), (column("to"), to)]
        }
        FacetKind::Statistics => {
            let expected = refused().expected("a facet that has buckets");
            return Err(expected.found(format!("statistics of '{}'", counts.field)));
        }
    };
    let n_docs: UInt64Array = buckets().map(|bucket| Some(bucket.count)).collect();
    columns.push((ArrowField::new("count", DataType::UInt64, false), Arc::new(n_docs)));
    let (fields, columns): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    RecordBatch::try_new(Arc::new(ArrowSchema::new(fields)), columns).map_err(wrong)
}

/// Writes record batches of one schema as a whole stream of Arrow's format.
///
/// # Errors
///
/// The first of the batches that is an error; an I/O error of what is written to.
pub fn write_stream(
    to: impl Write,
    schema: &SchemaRef,
    batches: impl IntoIterator<Item = Result<RecordBatch>>,
) -> Result<()> {
    let mut writer = StreamWriter::try_new(to, schema).map_err(wrong)?;
    for batch in batches {
        writer.write(&batch?).map_err(wrong)?;
    }
    writer.finish().map_err(wrong)
}

/// Columns of every document that is not deleted, in document order.
///
/// They are `_doc`, and the fields that keep a [column](Field::column) by their names. Values of a document with many
/// ascend, and none is there twice; a path is there with all that it is below, and so a list in any case.
///
/// # Errors
///
/// A usage error for a field that does not exist or keeps no column; a batch is an error where the index is damaged.
pub fn columns(searcher: &Searcher, fields: &[&str]) -> Result<Columns> {
    let schema = searcher.schema();
    let mut ids = vec![];
    let mut columns = vec![ArrowField::new("_doc", DataType::UInt64, false)];
    for name in fields {
        let is_known = schema.field_id(name).filter(|id| schema.get(*id).column);
        let Some(id) = is_known.filter(|id| !ids.contains(id) && *name != "_doc") else {
            let error = Error::new(ErrorKind::Usage, "making a table of columns")
                .expected("fields that keep a column, each once")
                .found(format!("'{name}'"));
            return Err(match schema.field_id(name) {
                Some(_) => error,
                None => schema.did_you_mean(error, name),
            });
        };
        ids.push(id);
        columns.push(column_of(&as_kept(schema.get(id))));
    }
    let schema = Arc::new(ArrowSchema::new(columns));
    Ok(Columns { searcher: searcher.clone(), schema, fields: ids, nth: 0, base: 0, next: 0 })
}

/// Batches of [`columns`], each of up to 65,536 documents of one segment.
#[derive(Debug)]
pub struct Columns {
    searcher: Searcher,
    schema: SchemaRef,
    fields: Vec<FieldId>,
    /// The segment that comes, the number of its first document, and how many of its documents were there.
    nth: usize,
    base: u64,
    next: u32,
}

impl Columns {
    /// The columns and their types.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Iterator for Columns {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        // A clone, which costs a counter, so that what is read does not hold on to what counts.
        let searcher = self.searcher.clone();
        loop {
            let segment = searcher.snapshot().readers().nth(self.nth)?;
            let (n_docs, first) = (segment.n_docs(), self.next);
            if first >= n_docs {
                (self.nth, self.next) = (self.nth + 1, 0);
                self.base += u64::from(n_docs);
                continue;
            }
            let end = first.saturating_add(BATCH_DOCS).min(n_docs);
            self.next = end;
            let batch = live_docs(segment, first..end).and_then(|docs| self.batch(segment, &docs));
            match batch {
                Ok(batch) if batch.num_rows() == 0 => {}
                batch => return Some(batch),
            }
        }
    }
}

fn live_docs(segment: SegmentReader<'_>, docs: std::ops::Range<u32>) -> Result<Vec<u32>> {
    let mut live = Vec::with_capacity(docs.len());
    for doc in docs {
        if !segment.is_deleted(doc)? {
            live.push(doc);
        }
    }
    Ok(live)
}

impl Columns {
    fn batch(&self, segment: SegmentReader<'_>, docs: &[u32]) -> Result<RecordBatch> {
        let ids: UInt64Array = docs.iter().map(|doc| Some(self.base + u64::from(*doc))).collect();
        let mut columns: Vec<ArrayRef> = vec![Arc::new(ids)];
        for &id in &self.fields {
            let field = segment.schema().get(id);
            let mut out = Column::of(&as_kept(field), docs.len());
            let reader = segment.field(id);
            // Whether there is one was looked up in the schema.
            let Some(column) = reader.column()? else { continue };
            let (mut terms, mut values) = (HashMap::<u64, Value>::new(), vec![]);
            for in_block in docs.chunk_by(|a, b| a / BLOCK_DOCS == b / BLOCK_DOCS) {
                let nth = in_block.first().map_or(0, |doc| doc / BLOCK_DOCS);
                let block = column.block(nth, column.head(nth)?)?;
                for doc in in_block {
                    values.clear();
                    for code in block.codes(doc % BLOCK_DOCS) {
                        if !field.has_ordinals() {
                            values.push(value::value(field.kind, code));
                            continue;
                        }
                        if let Some(known) = terms.get(&code) {
                            values.push(known.clone());
                            continue;
                        }
                        let (mut term, ordinal) = (vec![], u32::try_from(code).unwrap_or(u32::MAX));
                        reader.terms()?.term(TermOrdinal(ordinal), &mut term)?;
                        let value = Value::of_term(field.kind, &term);
                        if terms.len() < TERMS_KEPT {
                            terms.insert(code, value.clone());
                        }
                        values.push(value);
                    }
                    out.push(&values)?;
                }
            }
            columns.push(out.finish());
        }
        RecordBatch::try_new(self.schema(), columns).map_err(wrong)
    }
}

/// The type of one value.
fn type_of(kind: FieldKind) -> DataType {
    match kind {
        FieldKind::Text
        | FieldKind::Keyword
        | FieldKind::Path { .. }
        | FieldKind::Ip
        | FieldKind::Point { .. } => {
            // A batch may have more than two gigabytes of these.
            DataType::LargeUtf8
        }
        FieldKind::Vector(params) => {
            let number = ArrowField::new_list_field(DataType::Float32, false);
            DataType::FixedSizeList(number.into(), params.dims.into())
        }
        FieldKind::I64 => DataType::Int64,
        FieldKind::U64 => DataType::UInt64,
        FieldKind::F64 => DataType::Float64,
        FieldKind::Bool => DataType::Boolean,
        FieldKind::Date => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        // At most 18.
        FieldKind::Decimal { scale } => DataType::Decimal128(DECIMAL_DIGITS, scale as i8),
    }
}

/// A field as its column has it: of a path with all that it is below.
fn as_kept(field: &Field) -> Field {
    let field = field.clone();
    let many = field.many || matches!(field.kind, FieldKind::Path { .. });
    field.many(many)
}

fn column_of(field: &Field) -> ArrowField {
    let of_one = type_of(field.kind);
    let data_type = match field.many {
        true => DataType::List(Arc::new(ArrowField::new_list_field(of_one, true))),
        false => of_one,
    };
    ArrowField::new(&field.name, data_type, true)
}

/// A column that is filled, a document at a time.
struct Column {
    kind: FieldKind,
    cells: Cells,
}

enum Cells {
    One(Box<dyn ArrayBuilder>),
    Many(ListBuilder<Box<dyn ArrayBuilder>>),
}

impl Column {
    fn of(field: &Field, n_docs: usize) -> Self {
        let of_one = make_builder(&type_of(field.kind), n_docs);
        let cells = match field.many {
            true => Cells::Many(ListBuilder::with_capacity(of_one, n_docs)),
            false => Cells::One(of_one),
        };
        Column { kind: field.kind, cells }
    }

    /// The values of the next document.
    fn push(&mut self, values: &[Value]) -> Result<()> {
        match &mut self.cells {
            Cells::One(of_one) if values.len() > 1 => {
                Err(Error::new(ErrorKind::Usage, "making a table")
                    .expected("at most one value")
                    .found(format!("{} after {} documents", values.len(), of_one.len())))
            }
            Cells::One(of_one) => append(&mut **of_one, self.kind, values.first()),
            Cells::Many(list) => {
                for value in values {
                    append(&mut **list.values(), self.kind, Some(value))?;
                }
                list.append(!values.is_empty());
                Ok(())
            }
        }
    }

    fn finish(self) -> ArrayRef {
        match self.cells {
            Cells::One(mut of_one) => of_one.finish(),
            Cells::Many(mut list) => Arc::new(list.finish()),
        }
    }
}

/// A column of one value each, or none.
fn one_each<'v>(
    kind: FieldKind,
    values: impl Iterator<Item = Option<&'v Value>>,
) -> Result<ArrayRef> {
    let mut of_one = make_builder(&type_of(kind), values.size_hint().0);
    for value in values {
        append(&mut *of_one, kind, value)?;
    }
    Ok(of_one.finish())
}

/// Appends a value, or null, to a column of its kind.
fn append(to: &mut dyn ArrayBuilder, kind: FieldKind, value: Option<&Value>) -> Result<()> {
    let value = value.unwrap_or(&Value::Null);
    macro_rules! append {
        ($builder:ty, $($of:pat => $is:expr),+) => {
            match (to.as_any_mut().downcast_mut::<$builder>(), value) {
                (Some(to), Value::Null) => Ok(to.append_null()),
                $((Some(to), $of) => Ok(to.append_value($is)),)+
                _ => Err(other_kind(kind, value)),
            }
        };
    }
    match kind {
        FieldKind::Text
        | FieldKind::Keyword
        | FieldKind::Path { .. }
        | FieldKind::Ip
        | FieldKind::Point { .. } => {
            append!(LargeStringBuilder, value => value.to_text())
        }
        FieldKind::Vector(params) => append_vector(to, params, value),
        FieldKind::I64 => append!(Int64Builder, Value::I64(it) => *it),
        FieldKind::U64 => append!(UInt64Builder, Value::U64(it) => *it),
        FieldKind::F64 => append!(Float64Builder, Value::F64(it) => *it),
        FieldKind::Bool => append!(BooleanBuilder, Value::Bool(it) => *it),
        FieldKind::Date => {
            append!(TimestampMicrosecondBuilder, Value::Date(it) => it.as_micros())
        }
        FieldKind::Decimal { .. } => {
            append!(Decimal128Builder, Value::Decimal(it) => it.unscaled().into())
        }
    }
}

fn append_vector(to: &mut dyn ArrayBuilder, params: VectorParams, value: &Value) -> Result<()> {
    type Vectors = FixedSizeListBuilder<Box<dyn ArrayBuilder>>;
    let other = || other_kind(FieldKind::Vector(params), value);
    let list = to.as_any_mut().downcast_mut::<Vectors>().ok_or_else(other)?;
    let numbers = list.values().as_any_mut().downcast_mut::<Float32Builder>().ok_or_else(other)?;
    match value {
        Value::Vector(of_value) if of_value.len() == usize::from(params.dims) => {
            numbers.append_slice(of_value);
        }
        // One that is not there has room for its numbers all the same.
        Value::Null => numbers.append_value_n(0.0, params.dims.into()),
        _ => return Err(other()),
    }
    list.append(!value.is_null());
    Ok(())
}

fn other_kind(kind: FieldKind, value: &Value) -> Error {
    Error::new(ErrorKind::Usage, "making a table")
        .expected(format!("values of {}", kind.name()))
        .found(value.described())
}

fn wrong(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, source) => Error::io("writing record batches", source),
        other => Error::new(ErrorKind::Usage, "making record batches").found(other.to_string()),
    }
}
