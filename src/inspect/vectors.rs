//! Vectors of fields: how many, of which lengths, in how many bytes.

use super::Inspector;
use super::storage::section_len;
use crate::error::{Error, ErrorKind, Result};
use crate::format::envelope::SectionKind;
use crate::ids::FieldId;
use crate::schema::{Field, VectorParams};
use crate::segment::reader::SegmentReader;
use crate::value::numbers_of_row;

/// The vectors of one field in one segment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct VectorsInfo {
    /// The field's name.
    pub field: String,
    /// The segment's place in the snapshot, from 0.
    pub segment: usize,
    /// Numbers of each vector, and the metric.
    pub params: VectorParams,
    /// Documents of the segment, deleted ones included.
    pub documents: u64,
    /// Documents that have a vector.
    pub with_vectors: u64,
    /// Vectors of all documents.
    pub vectors: u64,
    /// Bytes of the vectors, and of the numbers of their documents.
    pub bytes: u64,
    /// The least and the greatest Euclidean length; none without vectors.
    pub lengths: Option<(f64, f64)>,
}

impl Inspector {
    /// Vectors of a field by segment. Without a name those of all fields follow each other. Reads all of them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Schema`] for an unknown field, [`ErrorKind::Usage`] for one without vectors, [`ErrorKind::Corrupt`]
    /// for damage.
    pub fn vectors(&self, field: Option<&str>) -> Result<Vec<VectorsInfo>> {
        let schema = self.schema();
        let named = field.map(|name| self.field_id(name)).transpose()?;
        if let Some(Field { name, kind, .. }) = named.map(|id| schema.get(id))
            && kind.vector().is_none()
        {
            let error = Error::new(ErrorKind::Usage, "looking at vectors");
            let error = error.expected("a field of vectors");
            return Err(error.found(format!("the {} field '{name}'", kind.name())));
        }
        let mut infos = vec![];
        for id in schema.field_ids().filter(|id| named.is_none_or(|named| named == *id)) {
            let Some(params) = schema.get(id).kind.vector() else { continue };
            for (nth, segment) in self.snapshot.readers().enumerate() {
                infos.push(info(segment, id, (nth, params))?);
            }
        }
        Ok(infos)
    }
}

fn info(
    segment: SegmentReader<'_>,
    field: FieldId,
    (nth, params): (usize, VectorParams),
) -> Result<VectorsInfo> {
    let (mut n, mut n_with, mut last) = (0, 0, None);
    let mut lengths = None;
    if let Some(vectors) = segment.field(field).vectors()? {
        vectors.for_each(|doc, row| {
            n += 1;
            n_with += u64::from(last.replace(doc) != Some(doc));
            let length = numbers_of_row(row).map(|it| f64::from(it).powi(2)).sum::<f64>().sqrt();
            let (least, most) = lengths.unwrap_or((length, length));
            lengths = Some((length.min(least), length.max(most)));
            Ok(())
        })?;
    }
    let bytes = [SectionKind::VECTORS, SectionKind::VECTOR_DOCS];
    Ok(VectorsInfo {
        field: segment.schema().get(field).name.clone(),
        segment: nth,
        params,
        documents: segment.n_docs().into(),
        with_vectors: n_with,
        vectors: n,
        bytes: bytes.map(|kind| section_len(segment, Some(field), kind)).iter().sum(),
        lengths,
    })
}
