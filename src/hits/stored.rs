//! Documents of a snapshot by their numbers, and their stored fields.

use crate::error::{Error, ErrorKind, Result};
use crate::ids::{DocId, FieldId};
use crate::schema::Field;
use crate::segment::reader::SegmentReader;
use crate::segment::snapshot::Snapshot;
use crate::value::stored::{Fields, Values};

impl Snapshot {
    /// Reads the stored fields of a document as they come with a hit: all of them but vectors, or those with these names.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] for a number that no document has, or one that is deleted.
    pub(crate) fn stored(&self, doc: DocId, names: Option<&[String]>) -> Result<Fields> {
        if names.is_some_and(<[_]>::is_empty) {
            return Ok(Fields::new());
        }
        self.stored_where(doc, |field| match names {
            Some(names) => names.contains(&field.name),
            None => field.kind.vector().is_none(),
        })
    }

    /// Reads all stored fields of a document, vectors too.
    ///
    /// # Errors
    ///
    /// Fails like [`stored`](Self::stored).
    pub(crate) fn document(&self, doc: DocId) -> Result<Fields> {
        self.stored_where(doc, |_| true)
    }

    fn stored_where(&self, doc: DocId, is_wanted: impl Fn(&Field) -> bool) -> Result<Fields> {
        const DOING: &str = "fetching a document";
        let mut fields = Fields::new();
        let schema = &self.manifest.schema;
        let is_wanted = |field: &FieldId| {
            let field = schema.get(*field);
            field.stored && is_wanted(field)
        };
        let wanted: Vec<_> = schema.field_ids().filter(is_wanted).collect();
        let (_, segment, doc_there) = self.locate(doc, DOING)?;
        if segment.is_deleted(doc_there)? {
            return Err(Error::new(ErrorKind::NotFound, DOING)
                .expected("one that is not deleted")
                .found(doc.to_string()));
        }
        let mut values = vec![];
        if wanted.iter().any(|field| schema.get(*field).is_in_rows()) {
            values = segment.stored(doc_there)?;
        }
        for field in segment.fields_apart().filter(|field| wanted.contains(field)) {
            let apart = segment.values_apart(doc_there, field)?;
            values.extend(apart.into_iter().map(|value| (field, value)));
        }
        for (field, value) in values.into_iter().filter(|(field, _)| wanted.contains(field)) {
            let name = &schema.get(field).name;
            match fields.get_mut(name) {
                Some(values) => values.push(value),
                None => drop(fields.insert(name.clone(), Values::from_iter([value]))),
            }
        }
        Ok(fields)
    }

    /// The segment of a document with its place, and the document's number there.
    pub(crate) fn locate(
        &self,
        doc: DocId,
        doing: &'static str,
    ) -> Result<(usize, SegmentReader<'_>, u32)> {
        let mut base = 0;
        for (at, segment) in self.readers().enumerate() {
            let here = doc.0 - base;
            if here < u64::from(segment.n_docs()) {
                return Ok((at, segment, here as u32));
            }
            base += u64::from(segment.n_docs());
        }
        Err(Error::new(ErrorKind::NotFound, doing)
            .expected(format!("a number below {base}, of which each document has one"))
            .found(doc.to_string()))
    }
}
