//! Words in several fields that are taken for one, in the documents of a segment.

use super::cursor::TermCursor;
use crate::error::Result;
use crate::format::lengths::{FieldNorms, length_of};
use crate::segment::file::Section;
use crate::segment::reader::SegmentReader;
use crate::weight::combined::{CombinedWeight, RankedField};

/// A word in the documents of a segment: by field its term and the lengths.
#[derive(Debug)]
pub(super) struct CombinedCursors<'s>(
    Vec<(Option<TermCursor<'s>>, Option<FieldNorms<Section<'s>>>)>,
);

impl CombinedWeight {
    /// Cursors that find the word in the documents of a segment.
    pub(super) fn cursors<'s>(
        &self,
        reader: &SegmentReader<'s>,
        segment: usize,
    ) -> Result<CombinedCursors<'s>> {
        let of_field = |field: &RankedField| {
            let reader = reader.field(field.scoring.field);
            Ok((TermCursor::open(reader, field.infos[segment].as_ref())?, reader.lengths()?))
        };
        Ok(CombinedCursors(self.fields.iter().map(of_field).collect::<Result<_>>()?))
    }
}

impl CombinedCursors<'_> {
    /// Frequency and length of each field.
    pub(super) fn of_fields(&mut self, doc: u32) -> impl Iterator<Item = Result<(u32, u32)>> {
        self.0.iter_mut().map(move |(cursor, lengths)| {
            let frequency = match cursor {
                Some(cursor) => cursor.frequency(doc)?.unwrap_or_default(),
                None => 0,
            };
            Ok((frequency, length_in(lengths.as_ref(), doc)?))
        })
    }
}

/// The length of a field in a document; 0 where the segment has no such field.
pub(crate) fn length_in(lengths: Option<&FieldNorms<Section<'_>>>, doc: u32) -> Result<u32> {
    Ok(match lengths {
        Some(lengths) => length_of(lengths.code(doc)?),
        None => 0,
    })
}
