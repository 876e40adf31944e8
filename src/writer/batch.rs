//! Documents on their way from the caller to a worker, many at a time.

use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::format::stored::ChunkWriter;
use crate::format::terms::MAX_TERM_LEN;
use crate::ids::FieldId;
use crate::limits::Limits;
use crate::plural::counted;
use crate::schema::{Field, FieldKind, Schema};
use crate::value::{self, Value};
use crate::writer::states::{self, State};

/// The longest value of a field in bytes, unless [`Limits`] says otherwise.
pub const VALUE_BYTES_MAX: usize = Limits::DEFAULT.value_bytes;
/// The largest document: the bytes of all its values, unless [`Limits`] says otherwise.
pub const DOCUMENT_BYTES_MAX: usize = Limits::DEFAULT.document_bytes;

/// The work of one task: consecutive documents. It ends where a stored chunk ends, so that the
/// division into tasks leaves no trace in the index.
#[derive(Debug)]
pub(crate) enum Batch {
    Lines(LineBatch),
    Documents(DocumentBatch),
}

impl Batch {
    pub(crate) fn n_docs(&self) -> u32 {
        match self {
            Batch::Lines(lines) => lines.n_lines,
            Batch::Documents(documents) => documents.n_docs,
        }
    }

    /// Bytes of all values, about.
    pub(crate) fn value_bytes(&self) -> usize {
        match self {
            Batch::Lines(lines) => lines.len,
            Batch::Documents(documents) => documents.text.len(),
        }
    }
}

/// Lines that are one document each.
#[derive(Debug, Default)]
pub(crate) struct LineBatch {
    /// Valid UTF-8; every line ends with a newline; then padding for the tokenizer's reads.
    pub(crate) text: Vec<u8>,
    /// Bytes of `text` without the padding.
    pub(crate) len: usize,
    pub(crate) n_lines: u32,
    /// Ends of stored chunks, in bytes of `text`; the last entry is `len`.
    pub(crate) chunk_ends: Vec<usize>,
    pub(crate) fields: LineFields,
}

/// Fields that a line fills.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LineFields {
    /// Gets the whole line.
    pub(crate) text: u16,
    /// Gets what stands in a trailing "(…)"; with it, underscores of the line become spaces.
    pub(crate) qualifier: Option<u16>,
}

impl LineFields {
    /// Whether a line fills a field by itself, and not as a copy of another.
    pub(crate) fn fill(self, field: FieldId) -> bool {
        field.0 == self.text || Some(field.0) == self.qualifier
    }

    /// The sources that a line fills, and their copies.
    pub(crate) fn copies(self, schema: &Schema) -> impl Iterator<Item = (FieldId, FieldId)> {
        schema.copies().iter().copied().filter(move |(source, _)| self.fill(*source))
    }
}

/// Documents with any fields, their values copied into one buffer.
#[derive(Debug, Default)]
pub(crate) struct DocumentBatch {
    /// Values back to back, those of typed fields as terms, then padding for the table's reads.
    pub(crate) text: Vec<u8>,
    /// By document, then by field in schema order.
    pub(crate) values: Vec<ValueRef>,
    pub(crate) n_docs: u32,
    /// Ends of stored chunks, in documents of this batch.
    pub(crate) chunk_ends: Vec<u32>,
    /// Whether any path has separators that mean nothing.
    pub(crate) has_loose_paths: bool,
    value_bytes_of_chunk: usize,
}

/// One value of a [`DocumentBatch`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueRef {
    pub(crate) doc: u32,
    pub(crate) field: FieldId,
    start: u32,
    len: u32,
}

impl ValueRef {
    /// Start and length in the batch's text.
    pub(crate) fn span(self) -> (u32, u32) {
        (self.start, self.len)
    }
}

impl DocumentBatch {
    /// Adds `document` as number `doc` of its segment, after comparing it with the schema.
    pub(crate) fn add(
        &mut self,
        document: &Document,
        doc: u32,
        schema: &Schema,
        limits: &Limits,
    ) -> Result<()> {
        let (values_before, text_before) = (self.values.len(), self.text.len());
        let added = self.add_values(document, schema, limits);
        let added = added.and_then(|()| self.add_copies(document, schema, limits));
        if added.is_err() {
            // A refused document leaves nothing behind.
            self.values.truncate(values_before);
            self.text.truncate(text_before);
            return added;
        }
        self.values[values_before..].sort_by_key(|value| value.field);
        self.n_docs += 1;
        self.value_bytes_of_chunk += self.text.len() - text_before;
        if ChunkWriter::ends_chunk(doc + 1, self.value_bytes_of_chunk) {
            self.end_chunk();
        }
        Ok(())
    }

    fn add_values(&mut self, document: &Document, schema: &Schema, limits: &Limits) -> Result<()> {
        let from = self.values.len();
        let (mut total, mut has_apart) = (0, false);
        let is_state = |name: &str| schema.keeps_nulls() && states::is_state(name);
        let values = document.iter().filter(|(name, value)| !value.is_null() && !is_state(name));
        for (name, value) in values {
            if is_part_of_point(name, schema) {
                has_apart = true;
                continue;
            }
            let field = schema.field_id(name).ok_or_else(|| unknown_field(name, schema))?;
            let definition = schema.get(field);
            if let Some(source) = &definition.copy_of {
                return Err(document_error(format!("indexing field '{name}'"))
                    .expected(format!("values of '{source}', which it is a copy of"))
                    .found("one of its own"));
            }
            let kind = definition.kind;
            if !kind.has_terms() {
                has_apart = true;
                continue;
            }
            if !definition.many && self.values[from..].iter().any(|other| other.field == field) {
                return Err(second_value(name));
            }
            if value.as_vector().is_some() {
                return Err(value::not_taken(kind, value).into_error(indexing(definition)));
            }
            let (term, text);
            let value: &[u8] = if kind.is_typed() {
                term = value::term(definition, value)
                    .map_err(|wrong| wrong.into_error(indexing(definition)))?;
                &term
            } else {
                text = value.to_exact_text();
                if let FieldKind::Path { separator } = kind {
                    let path = value::read_path(&text, separator)
                        .map_err(|wrong| wrong.into_error(indexing(definition)))?;
                    self.has_loose_paths |= path.len() != text.len();
                }
                text.as_bytes()
            };
            let (limit_name, limit) = limit_of(kind, limits);
            if value.len() > limit {
                let what = format!("a value of field '{name}'");
                return Err(too_long(what, limit_name, limit, value.len()));
            }
            total += value.len();
            check_total(total, limits)?;
            self.push(field, value);
        }
        if has_apart {
            self.add_vectors(document, schema, limits, &mut total)?;
            self.add_points(document, schema, limits, &mut total)?;
        }
        if schema.keeps_nulls() {
            self.add_states(document, schema, from)?;
        }
        let own = &self.values[from..];
        match schema.key_id() {
            Some(key) if !own.iter().any(|value| value.field == key && value.len > 0) => {
                Err(document_error("indexing a document")
                    .expected(format!("a value of the key, '{}'", schema.get(key).name))
                    .found("none"))
            }
            _ => Ok(()),
        }
    }

    /// Adds the vectors of a document that has so many bytes of other values.
    fn add_vectors(
        &mut self,
        document: &Document,
        schema: &Schema,
        limits: &Limits,
        total: &mut usize,
    ) -> Result<()> {
        let mut row = vec![];
        for id in schema.field_ids() {
            let field = schema.get(id);
            let Some(params) = field.kind.vector() else { continue };
            let values = document.values_of(schema, id).filter(|value| !value.is_null());
            let values: Vec<&Value> = values.collect();
            // A list of numbers is one vector, wherever the document comes from.
            let gathered = value::gathered(values.iter().copied());
            let values = gathered.as_ref().map_or(values, |vector| vec![vector]);
            if values.len() > 1 && !field.many {
                return Err(second_value(&field.name));
            }
            for value in values {
                row.clear();
                value::append_vector(params, value, &mut row)
                    .map_err(|wrong| wrong.into_error(indexing(field)))?;
                *total += row.len();
                check_total(*total, limits)?;
                self.push(id, &row);
            }
        }
        Ok(())
    }

    /// Adds the points of a document that has so many bytes of other values.
    fn add_points(
        &mut self,
        document: &Document,
        schema: &Schema,
        limits: &Limits,
        total: &mut usize,
    ) -> Result<()> {
        for id in schema.field_ids() {
            let field = schema.get(id);
            let FieldKind::Point { array } = field.kind else { continue };
            let values = document.values_of(schema, id).filter(|value| !value.is_null());
            let values: Vec<&Value> = values.collect();
            let wrong = |wrong: value::NotTaken| wrong.into_error(indexing(field));
            let mut points = value::points_of(array, &values).map_err(wrong)?;
            let parts = value::POINT_PARTS.map(|endings| {
                let names = endings.iter().map(|ending| format!("{}{ending}", field.name));
                let of_name = |name: String| match is_part_of_point(&name, schema) {
                    true => document.values(&name).cloned().collect(),
                    false => vec![],
                };
                names.flat_map(of_name).collect::<Vec<Value>>()
            });
            match parts.each_ref().map(|part| &part[..]) {
                [[], []] | [[Value::Null], [Value::Null]] => {}
                [[lat], [lon]] => {
                    points.push(value::point_of_parts(lat, lon).map_err(wrong)?);
                }
                [lats, lons] => {
                    return Err(document_error(indexing(field))
                        .expected("one latitude and one longitude, or points as values")
                        .found(format!("{} and {}", lats.len(), lons.len())));
                }
            }
            if points.len() > 1 && !field.many {
                return Err(second_value(&field.name));
            }
            for point in points {
                let row = point.to_row();
                *total += row.len();
                check_total(*total, limits)?;
                self.push(id, &row);
            }
        }
        Ok(())
    }

    /// Adds the values of each field to its copies, too. They count for no limit of a document, which has them once.
    fn add_copies(&mut self, document: &Document, schema: &Schema, limits: &Limits) -> Result<()> {
        for &(source, copy) in schema.copies() {
            let (name, definition) = (&schema.get(source).name, schema.get(copy));
            for value in document.values_of(schema, source).filter(|value| !value.is_null()) {
                let text = value.to_exact_text();
                let (limit_name, limit) = limit_of(definition.kind, limits);
                if text.len() > limit {
                    let what = format!("a value of field '{name}' in '{}'", definition.name);
                    return Err(too_long(what, limit_name, limit, text.len()));
                }
                self.push(copy, text.as_bytes());
            }
        }
        Ok(())
    }

    /// Adds the names of the fields that are null, or empty, behind the values that begin at `from`.
    fn add_states(&mut self, document: &Document, schema: &Schema, from: usize) -> Result<()> {
        let n_fields = schema.fields().len();
        let (mut has_value, mut is_told) = (vec![false; n_fields], vec![[false; 2]; n_fields]);
        self.values[from..].iter().for_each(|it| has_value[it.field.index()] = true);
        for (name, state) in states::of(document) {
            let field = schema.field_id(name).filter(|_| !states::is_state(name));
            let field = field.ok_or_else(|| unknown_field(name, schema))?;
            // A field with a value is neither null nor an empty list; an empty text is a value.
            let holds = match state {
                State::EmptyText => true,
                State::Null | State::EmptyList => !has_value[field.index()],
            };
            let Some(of_state) = schema.field_id(state.field()).filter(|_| holds) else { continue };
            let is_told = &mut is_told[field.index()][usize::from(state == State::Null)];
            if !std::mem::replace(is_told, true) {
                self.push(of_state, schema.get(field).name.as_bytes());
            }
        }
        Ok(())
    }

    fn push(&mut self, field: FieldId, value: &[u8]) {
        let (start, len) = (self.text.len() as u32, value.len() as u32);
        self.values.push(ValueRef { doc: self.n_docs, field, start, len });
        self.text.extend_from_slice(value);
    }

    fn end_chunk(&mut self) {
        self.chunk_ends.push(self.n_docs);
        self.value_bytes_of_chunk = 0;
    }

    /// Whether the last document added ended a chunk, so that the batch may end here.
    pub(crate) fn is_at_chunk_end(&self) -> bool {
        self.chunk_ends.last() == Some(&self.n_docs)
    }

    /// Ends the batch, wherever it is.
    pub(crate) fn seal(&mut self) {
        if self.n_docs > 0 && !self.is_at_chunk_end() {
            self.end_chunk();
        }
        self.text.extend_from_slice(&[0; 16]);
    }

    pub(crate) fn value(&self, value: ValueRef) -> &[u8] {
        &self.text[value.start as usize..][..value.len as usize]
    }

    /// Bytes of heap held.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.text.capacity() + self.values.capacity() * size_of::<ValueRef>()
    }
}

/// The name of the limit of a value, and how many bytes it allows.
fn limit_of(kind: FieldKind, limits: &Limits) -> (&'static str, usize) {
    match kind {
        FieldKind::Text => ("VALUE_BYTES_MAX", limits.value_bytes),
        _ => ("MAX_TERM_LEN", MAX_TERM_LEN),
    }
}

/// Whether a name is that of the latitude or longitude of a field of points, and of no other field.
fn is_part_of_point(name: &str, schema: &Schema) -> bool {
    let mut fields = value::POINT_PARTS.into_iter().flatten().filter_map(|ending| {
        let field = schema.field_id(name.strip_suffix(ending)?)?;
        Some(schema.get(field).kind.is_point())
    });
    fields.any(|is_point| is_point) && schema.field_id(name).is_none()
}

/// Name of the work, in an error about a value of a field.
fn indexing(field: &Field) -> String {
    format!("indexing a value of the {} field '{}'", field.kind.name(), field.name)
}

fn second_value(name: &str) -> Error {
    document_error(format!("indexing field '{name}'"))
        .expected("one value a document")
        .found("a second one")
        .hint("declare the field with many = true")
}

fn check_total(total: usize, limits: &Limits) -> Result<()> {
    if total <= limits.document_bytes {
        return Ok(());
    }
    let what = "the values of a document".into();
    Err(too_long(what, "DOCUMENT_BYTES_MAX", limits.document_bytes, total))
}

fn document_error(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Document, what)
}

fn too_long(what: String, name: &'static str, limit: usize, found: usize) -> Error {
    document_error(format!("indexing {what}"))
        .expected(format!("at most {limit} bytes"))
        .found(counted(found, "byte"))
        .of_limit(name, limit, found)
}

fn unknown_field(name: &str, schema: &Schema) -> Error {
    let known: Vec<&str> = schema.fields().iter().map(|field| field.name.as_str()).collect();
    document_error("indexing a document")
        .expected(format!("a field of the schema ({})", known.join(", ")))
        .found(format!("'{name}'"))
        .hint("fields can be added to an index: Index::add_fields, `treepie schema add`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_document_leaves_nothing_behind() {
        let schema = Schema::builder().text("a").keyword("k").build().unwrap();
        let mut batch = DocumentBatch::default();
        let document = Document::new().with("k", "x").with("a", "one").with("k", "y");
        batch.add(&document, 0, &schema, &Limits::DEFAULT).unwrap();
        let bad = [
            Document::new().with("a", "two").with("b", "unknown"),
            Document::new().with("a", "two").with("a", "three"),
            Document::new().with("a", "two").with("k", "x".repeat(MAX_TERM_LEN + 1)),
            Document::new().with("a", "x".repeat(VALUE_BYTES_MAX + 1)),
        ];
        for document in bad {
            let error = batch.add(&document, 1, &schema, &Limits::DEFAULT).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Document, "{error}");
        }
        assert_eq!(batch.n_docs, 1);
        let values: Vec<_> = batch.values.iter().map(|&v| (v.field.0, batch.value(v))).collect();
        assert_eq!(values, [(0, &b"one"[..]), (1, b"x"), (1, b"y")]);
    }
}
