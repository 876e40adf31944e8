//! Update of a document: its stored fields are read, changed, and added in its place.

use crate::document::Document;
use crate::error::{Error, ErrorKind, Result};
use crate::ids::FieldId;
use crate::schema::Field;
use crate::segment::reader::SegmentReader;
use crate::value::Value;
use crate::writer::IndexWriter;
use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Keys that are remembered, as 8 bytes each.
const KEYS_MAX: usize = 1 << 16;

/// The keys of documents that are in no segment yet.
#[derive(Debug, Default)]
pub(super) struct RecentKeys {
    hasher: RandomState,
    /// `None` if nobody has asked so far, or where there are too many to remember.
    known: Option<HashSet<u64>>,
}

impl RecentKeys {
    /// All documents are in segments now.
    pub(super) fn clear(&mut self) {
        self.known.get_or_insert_default().clear();
    }

    /// A document was added.
    pub(super) fn add(&mut self, key: impl Fn() -> Option<Vec<u8>>) {
        let Some(known) = &mut self.known else { return };
        if known.len() >= KEYS_MAX {
            self.known = None;
        } else if let Some(key) = key() {
            known.insert(self.hasher.hash_one(key));
        }
    }

    fn may_have(&self, key: &[u8]) -> bool {
        let known = self.known.as_ref();
        known.is_none_or(|known| known.contains(&self.hasher.hash_one(key)))
    }
}

impl IndexWriter {
    /// Changes the document with this key, as far as it was added by now.
    ///
    /// `change` gets what it consists of, and what it leaves takes its place. Whether there is such a document; else
    /// nothing happens.
    ///
    /// Every field but copies has to be stored, because what is not cannot be read back. The key stays.
    ///
    /// # Cost
    ///
    /// Looks the key up in every segment and reads one row. If the document was added since the last commit, flush
    /// or update of its kind, what was added so far becomes a segment first, which is put in the
    /// [order](crate::schema::SchemaBuilder::order_by) of the schema, if it has one, on this thread.
    ///
    /// ```
    /// use treepie::{Document, Index, Schema};
    ///
    /// let schema = Schema::builder().text("name").keyword("stock").key("sku").build()?;
    /// let index = Index::in_memory(schema);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("sku", "7").with("name", "A lamp").with("stock", "some"))?;
    /// writer.commit()?;
    /// assert!(writer.update("7", |document| document.set("stock", "none"))?);
    /// assert!(!writer.update("8", |_| ())?);
    /// writer.commit()?;
    ///
    /// let searcher = index.searcher()?;
    /// assert_eq!(searcher.count(&searcher.parse("lamp stock:none")?)?, 1);
    /// assert_eq!(searcher.n_docs(), 1);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`] where the schema has no key or where `change` changes it, [`ErrorKind::Schema`] where a
    /// field is not stored, [`ErrorKind::Document`] where what `change` leaves does not fit the schema: the document stays as it was.
    pub fn update(
        &mut self,
        key: impl Into<Value>,
        change: impl FnOnce(&mut Document),
    ) -> Result<bool> {
        self.check()?;
        let id = self.key_of_stored()?;
        let key = key.into();
        let term = self.rules.term(id, &key)?;
        if self.recent_keys.may_have(&term) || !self.deletions.is_empty() {
            self.attempt(Self::stage_and_merge)?;
        }
        let open = self.open_staging(0)?;
        let segments: Vec<_> = open.readers().collect();
        let found = segments.iter().rev().find_map(|segment| find(*segment, id, &term).transpose());
        let Some(before) = found.transpose()? else { return Ok(false) };
        let mut document = before.clone();
        change(&mut document);
        let schema = &self.rules.schema;
        let terms = |of: &Document| -> Result<Vec<Vec<u8>>> {
            of.values_of(schema, id).map(|value| self.rules.term(id, value)).collect()
        };
        if terms(&document).ok() != terms(&before).ok() {
            return Err(Error::new(ErrorKind::Usage, "updating a document")
                .expected(format!("the key {:?} to stay", key.to_text()))
                .found(format!(
                    "{:?}",
                    document.values_of(schema, id).map(Value::to_text).collect::<Vec<_>>()
                )));
        }
        self.add(document).map(|()| true)
    }

    /// The key, where what is stored of a document is all of it.
    fn key_of_stored(&self) -> Result<FieldId> {
        let id = self.rules.key()?;
        // Vectors and points can be read whether they are stored or not.
        let is_lost = |it: &&Field| !it.stored && it.copy_of.is_none() && it.kind.has_terms();
        match self.rules.schema.fields().iter().find(is_lost) {
            None => Ok(id),
            Some(field) => Err(Error::new(ErrorKind::Schema, "updating a document")
                .expected("every field to be stored")
                .found(format!(
                    "the field '{}', which is not: its values would be lost",
                    field.name
                ))
                .hint("add the whole document anew instead")),
        }
    }
}

/// The document with this key in a segment, as far as it is stored, and its vectors and points.
fn find(segment: SegmentReader<'_>, id: FieldId, key: &[u8]) -> Result<Option<Document>> {
    let field = segment.field(id);
    let Some(info) = field.terms()?.get(key)? else { return Ok(None) };
    let mut docs = vec![];
    field.postings(&info)?.decode_into(segment.n_docs(), &mut docs)?;
    for doc in docs.into_iter().rev() {
        if !segment.is_deleted(doc)? {
            let mut document = Document::new();
            for (field, value) in segment.document(doc)? {
                document.push(&*segment.schema().get(field).name, value);
            }
            return Ok(Some(document));
        }
    }
    Ok(None)
}
