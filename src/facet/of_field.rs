//! Columns of a field in the segments that are counted.

use crate::error::Result;
use crate::execution::MatchSet;
use crate::format::column::Column;
use crate::ids::FieldId;
use crate::plan::SegmentPlan;
use crate::segment::file::Section;
use crate::segment::reader::{FieldReader, SegmentReader};

/// The column of a field in a segment, with what matches there.
pub(super) struct OfSegment<'m, 's> {
    pub(super) segment: SegmentReader<'s>,
    pub(super) field: FieldReader<'s>,
    pub(super) column: Column<Section<'s>>,
    pub(super) matches: &'m MatchSet,
}

/// The columns of a field.
pub(super) struct OfField<'m, 's> {
    pub(super) columns: Vec<OfSegment<'m, 's>>,
    /// Documents that match, with a value or without.
    pub(super) n_matches: u64,
    /// The least and the greatest code of all documents.
    pub(super) range: Option<(u64, u64)>,
}

impl<'m, 's> OfField<'m, 's> {
    pub(super) fn new(
        segments: &[SegmentPlan<'s>],
        field: FieldId,
        matches: &'m [MatchSet],
    ) -> Result<Self> {
        let mut of_field = OfField { columns: vec![], n_matches: 0, range: None };
        for (segment, matches) in segments.iter().zip(matches) {
            of_field.n_matches += matches.len(segment.n_docs);
            // Whether there is one was looked up in the schema.
            let segment = segment.segment;
            let field = segment.field(field);
            let Some(column) = field.column()? else { continue };
            of_field.range = wider(of_field.range, column.range());
            of_field.columns.push(OfSegment { segment, field, column, matches });
        }
        Ok(of_field)
    }
}

/// Joins ranges of codes, of each of which there may be none.
pub(crate) fn wider(a: Option<(u64, u64)>, b: Option<(u64, u64)>) -> Option<(u64, u64)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}
