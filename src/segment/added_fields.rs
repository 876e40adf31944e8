//! Fields that came to an index after one of its segments was made. That segment's documents have none of them.
//!
//! The file of such a segment has nothing of them. Data that readers ask for is made in memory when it is first asked
//! for, by what writes segments, so that no reader need know: a dictionary without terms, sets without documents, and
//! what has a part for each document with all of these empty. A merge makes a segment that has them itself.
//!
//! Cost: nothing until a field is asked for, and then as much as an empty field takes of a file, in memory for as long as the
//! segment is open: some hundred bytes, beside them a byte a document for a text field with frequencies, and a block's head for
//! each 1,024 documents for a column.

use crate::budget::{self, Held, ns};
use crate::error::Result;
use crate::format::FileName;
use crate::format::manifest::SegmentMeta;
use crate::ids::{FieldId, SegmentId};
use crate::schema::{Field, Schema};
use crate::segment::builder::{FieldTotals, SegmentBuilder};
use crate::segment::file::SegmentFile;
use crate::storage::{MemoryStorage, Storage};
use crate::sync::Mutex;
use std::sync::{Arc, OnceLock, PoisonError};

/// Memory of a document while a field without values is made.
const BYTES_PER_DOC: u64 = 4;

/// The fields of a schema that a segment was made without.
#[derive(Debug)]
pub(crate) struct AddedFields {
    segment: SegmentId,
    n_docs: u32,
    /// Fields that it was made with, which are the first of the schema.
    n_own: usize,
    fields: Box<[Added]>,
}

#[derive(Debug)]
struct Added {
    field: Field,
    file: OnceLock<SegmentFile>,
    /// Held by whoever makes it, so that others wait for that.
    making: Mutex<()>,
}

impl AddedFields {
    /// Fields that were added since a segment was made; `None` if it has all of them.
    pub(crate) fn of(schema: &Schema, segment: &SegmentMeta) -> Option<Self> {
        let n_own = n_own(schema, segment);
        let fields: Box<[_]> = schema.fields()[n_own..].iter().map(Added::new).collect();
        let (segment, n_docs) = (segment.id, segment.n_docs);
        (!fields.is_empty()).then_some(AddedFields { segment, n_docs, n_own, fields })
    }

    /// Whether these are the fields that a segment was made without.
    pub(crate) fn are(these: Option<&Self>, schema: &Schema, segment: &SegmentMeta) -> bool {
        let known = these.map_or(&[][..], |these| &these.fields);
        let fields = &schema.fields()[n_own(schema, segment)..];
        known.iter().map(|added| &added.field).eq(fields)
    }

    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// Fields that the segment was made with.
    pub(crate) fn n_own(&self) -> usize {
        self.n_own
    }

    /// Documents of the segment, as the manifest has it.
    pub(crate) fn n_docs(&self) -> u32 {
        self.n_docs
    }

    /// File to read an added field from; `None` for a field that the segment has. Before one is made `check` is asked.
    pub(crate) fn file_of(
        &self,
        field: FieldId,
        check: impl FnOnce() -> Result<()>,
    ) -> Result<Option<&SegmentFile>> {
        let nth = field.index().checked_sub(self.n_own);
        let Some(added) = nth.and_then(|nth| self.fields.get(nth)) else { return Ok(None) };
        if let Some(file) = added.file.get() {
            return Ok(Some(file));
        }
        let _making = added.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = added.file.get() {
            return Ok(Some(file));
        }
        check()?;
        let made = without_values(field, &added.field, self.segment, self.n_docs)?;
        Ok(Some(added.file.get_or_init(|| made)))
    }
}

impl Added {
    fn new(field: &Field) -> Self {
        Added { field: field.clone(), file: OnceLock::new(), making: Mutex::default() }
    }
}

fn n_own(schema: &Schema, segment: &SegmentMeta) -> usize {
    schema.fields().len().saturating_sub(segment.n_added_fields.into())
}

/// A segment in memory of documents that have no value of one field.
fn without_values(
    field: FieldId,
    of_schema: &Field,
    id: SegmentId,
    n_docs: u32,
) -> Result<SegmentFile> {
    // The query that is the first to ask pays; what stays is nobody's.
    let mut held = Held::default();
    held.more(u64::from(n_docs) * BYTES_PER_DOC)?;
    let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
    let mut builder = SegmentBuilder::create(Arc::clone(&storage), id)?;
    builder.end_stored()?;
    let (totals, detail) = (FieldTotals::default(), of_schema.detail);
    let n_lengths = if detail.has_frequencies() { n_docs } else { 0 };
    let ranking = totals.ranking(detail, vec![0; n_lengths as usize]);
    let frame = builder.start_field(field, n_docs, of_schema)?.finish(&totals, &ranking)?;
    if of_schema.offsets {
        let mut offsets = builder.start_offsets(field, n_docs)?;
        (0..n_docs)
            .try_for_each(|_| budget::work(ns::VALUE_MISSING).and_then(|()| offsets.add(&[])))?;
        offsets.finish()?;
    }
    if of_schema.column {
        let mut column = builder.start_column(field, frame)?;
        (0..n_docs).try_for_each(|_| {
            budget::work(ns::VALUE_MISSING).and_then(|()| column.add(&[], None))
        })?;
        column.finish()?;
    }
    if let Some(params) = of_schema.kind.vector() {
        builder.start_vectors(field, n_docs, 0, params)?.finish()?;
    }
    if of_schema.kind.is_point() {
        builder.start_points(field)?.finish(n_docs)?;
    }
    let built = builder.finish(n_docs, 1)?;
    SegmentFile::open(storage.open(&FileName::Segment(id).to_string())?, Some((id, built.seal)))
}
