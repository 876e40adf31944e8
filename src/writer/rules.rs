//! Rules for documents and deletions, to be checked before they reach a writer.

use crate::analysis::Analyzers;
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::format::terms::MAX_TERM_LEN;
use crate::ids::FieldId;
use crate::limits::Limits;
use crate::schema::{Field, FieldKind, Schema};
use crate::value::{self, Value};
use crate::writer::batch::{DocumentBatch, LineFields};
use std::sync::Arc;

/// Bytes that a byte of a value becomes at the most: U+FDFA has three, and its compatibility form 33. Folding case adds to that.
const NORMALIZED_GROWTH_MAX: usize = 36;

/// Unchanging context of a writer.
#[derive(Clone, Debug)]
pub(crate) struct WriterContext {
    pub(super) schema: Arc<Schema>,
    pub(super) analyzers: Arc<Analyzers>,
    pub(super) limits: Limits,
    /// Fields whose analyzer or normalizer is not there, by number: nothing can be added to them.
    without_analyzer: Vec<usize>,
    /// Fields whose values go through a normalizer, by number.
    normalized: Vec<usize>,
}

impl WriterContext {
    pub(super) fn new(schema: Schema, analyzers: Arc<Analyzers>, limits: Limits) -> Self {
        let lacks_analyzer = |field: &Field| match field.kind {
            FieldKind::Text => analyzers.index_time(field).is_err(),
            _ => analyzers.normalizer(field).is_err(),
        };
        let fields = schema.fields().iter().enumerate();
        let without_analyzer = fields.filter(|(_, field)| lacks_analyzer(field));
        let without_analyzer = without_analyzer.map(|(nth, _)| nth).collect();
        let fields = schema.fields().iter().enumerate();
        let normalized = fields.filter(|(_, field)| field.normalizer_spec().is_some());
        let normalized = normalized.map(|(nth, _)| nth).collect();
        WriterContext { schema: Arc::new(schema), analyzers, limits, without_analyzer, normalized }
    }

    /// An error where a document cannot be added.
    pub(crate) fn check(&self, document: &Document) -> Result<()> {
        self.check_analyzers(document)?;
        DocumentBatch::default().add(document, 0, &self.schema, &self.limits)
    }

    /// An error where what a document needs is not there.
    pub(super) fn check_analyzers(&self, document: &Document) -> Result<()> {
        for &nth in &self.without_analyzer {
            let field = &self.schema.fields()[nth];
            let source = self.source(nth);
            if document.iter().any(|(name, _)| self.schema.is_named(source, name)) {
                match field.kind {
                    FieldKind::Text => self.analyzers.index_time(field).map(drop)?,
                    _ => self.analyzers.normalizer(field).map(drop)?,
                }
            }
        }
        self.check_normalized(document)
    }

    /// Bytes that a line may have, of which a value of each of these fields and of their copies is made.
    ///
    /// # Errors
    ///
    /// Missing analyzer of one of them.
    pub(super) fn line_bytes(&self, fields: LineFields) -> Result<usize> {
        let schema = &self.schema;
        let copies = fields.copies(schema).map(|(source, copy)| (source, schema.get(copy)));
        let text = FieldId(fields.text);
        let mut bytes = self.limits.value_bytes;
        for (source, field) in std::iter::once((text, schema.get(text))).chain(copies) {
            match field.kind {
                FieldKind::Text => drop(self.analyzers.index_time(field)?),
                // The whole line is a term.
                _ if source == text => bytes = bytes.min(MAX_TERM_LEN),
                _ => {}
            }
        }
        Ok(bytes)
    }

    /// The field whose values a field, given by number, has.
    fn source(&self, nth: usize) -> FieldId {
        let copies = self.schema.copies().iter();
        let mut sources = copies.filter(|(_, copy)| copy.index() == nth).map(|(source, _)| *source);
        sources.next().unwrap_or(FieldId(nth as u16))
    }

    /// An error where a value gets too long for a term by its normalizer.
    fn check_normalized(&self, document: &Document) -> Result<()> {
        for &nth in &self.normalized {
            let field = &self.schema.fields()[nth];
            let source = self.source(nth);
            let values = document.values_of(&self.schema, source);
            for value in values.filter(|value| !value.is_null()) {
                let text = value.to_exact_text();
                if text.len() <= MAX_TERM_LEN / NORMALIZED_GROWTH_MAX {
                    continue;
                }
                let n_bytes = self.analyzers.normalize(field, &text)?.len();
                if n_bytes > MAX_TERM_LEN {
                    let what = format!("normalizing a value of the field '{}'", field.name);
                    return Err(Error::new(ErrorKind::Document, what)
                        .expected(format!("at most {MAX_TERM_LEN} bytes"))
                        .found(format!("{n_bytes} bytes"))
                        .of_limit("MAX_TERM_LEN", MAX_TERM_LEN, n_bytes));
                }
            }
        }
        Ok(())
    }

    /// The key.
    pub(crate) fn key(&self) -> Result<FieldId> {
        self.schema.key_id().ok_or_else(|| {
            Error::new(ErrorKind::Usage, "finding a document by the key")
                .expected("a schema with a key")
                .found("one without")
                .hint("SchemaBuilder::key, or `key` in the schema file, names it")
        })
    }

    /// A field whose values are terms as they are.
    pub(crate) fn exact(&self, field: &str) -> Result<FieldId> {
        let id = self.schema.field_id(field);
        let is_exact = |kind: FieldKind| kind != FieldKind::Text && kind.has_terms();
        id.filter(|id| is_exact(self.schema.get(*id).kind)).ok_or_else(|| {
            let error = Error::new(ErrorKind::Usage, "deleting by the value of a field")
                .expected("a keyword or typed field of the index")
                .found(format!("'{field}'"));
            match id {
                Some(_) => error,
                None => self.schema.did_you_mean(error, field),
            }
        })
    }

    /// The term of a value of such a field.
    pub(crate) fn term(&self, id: FieldId, value: &Value) -> Result<Vec<u8>> {
        let field = self.schema.get(id);
        if let FieldKind::Path { separator } = field.kind
            && !value.is_null()
        {
            let text = value.to_exact_text();
            let path = value::read_path(&text, separator).map_err(|wrong| {
                let what = format!("looking for a value of the path field '{}'", field.name);
                Error::new(ErrorKind::Usage, what).expected(wrong.expected).found(wrong.found)
            })?;
            return Ok(path.into_owned().into_bytes());
        }
        if !field.kind.is_typed() && !value.is_null() {
            return Ok(self.analyzers.normalize(field, &value.to_exact_text())?.into_bytes());
        }
        let term = value::exact_term(field, value).map_err(|wrong| {
            let kind = field.kind.name();
            let what = format!("looking for a value of the {kind} field '{}'", field.name);
            Error::new(ErrorKind::Usage, what).expected(wrong.expected).found(wrong.found)
        })?;
        Ok(term.to_vec())
    }
}
