//! What documents and deletions may be, for whoever asks before a writer does.

use crate::analysis::Analyzers;
use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::FieldId;
use crate::limits::Limits;
use crate::schema::{Field, FieldKind, Schema};
use crate::value::{self, Value};
use crate::writer::batch::DocumentBatch;
use std::sync::Arc;

/// What a writer goes by; it does not change.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(super) schema: Arc<Schema>,
    pub(super) analyzers: Arc<Analyzers>,
    pub(super) limits: Limits,
    /// Text fields whose analyzer is not there, by number: nothing can be added to them.
    without_analyzer: Vec<usize>,
}

impl Rules {
    pub(super) fn new(schema: Schema, analyzers: Arc<Analyzers>, limits: Limits) -> Self {
        let lacks_analyzer =
            |field: &Field| field.kind == FieldKind::Text && analyzers.index_time(field).is_err();
        let fields = schema.fields().iter().enumerate();
        let without_analyzer = fields.filter(|(_, field)| lacks_analyzer(field));
        let without_analyzer = without_analyzer.map(|(nth, _)| nth).collect();
        Rules { schema: Arc::new(schema), analyzers, limits, without_analyzer }
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
            let source = field.copy_of.as_ref().unwrap_or(&field.name);
            if document.iter().any(|(name, _)| name == source) {
                self.analyzers.index_time(field)?;
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
        id.filter(|id| self.schema.get(*id).kind != FieldKind::Text).ok_or_else(|| {
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
            return Ok(value.to_exact_text().into_owned().into_bytes());
        }
        let term = value::exact_term(field, value).map_err(|wrong| {
            let kind = field.kind.name();
            let what = format!("looking for a value of the {kind} field '{}'", field.name);
            Error::new(ErrorKind::Usage, what).expected(wrong.expected).found(wrong.found)
        })?;
        Ok(term.to_vec())
    }
}
