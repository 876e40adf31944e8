//! Documents of a snapshot by their numbers, and their stored fields.

use crate::error::{Error, ErrorKind, Result};
use crate::ids::DocId;
use crate::segment::reader::SegmentReader;
use crate::segment::snapshot::Snapshot;
use crate::value::stored::{Fields, Values};

impl Snapshot {
    /// Reads the stored fields of a document, all of them or those with these names.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] for a number that no document has, or one that is deleted.
    pub(crate) fn stored(&self, doc: DocId, names: Option<&[String]>) -> Result<Fields> {
        const DOING: &str = "fetching a document";
        let mut fields = Fields::new();
        if names.is_some_and(<[_]>::is_empty) {
            return Ok(fields);
        }
        let (_, segment, doc_there) = self.locate(doc, DOING)?;
        if segment.is_deleted(doc_there)? {
            return Err(Error::new(ErrorKind::NotFound, DOING)
                .expected("one that is not deleted")
                .found(doc.to_string()));
        }
        for (field, value) in segment.stored(doc_there)? {
            let name = &self.manifest.schema.get(field).name;
            if names.is_some_and(|names| !names.contains(name)) {
                continue;
            }
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
