//! A field in the segments that are counted, and its columns there.

use crate::doc_id_set::DocIdSet;
use crate::error::{Error, ErrorKind, Result};
use crate::format::column::Column;
use crate::ids::FieldId;
use crate::plan::SegmentPlan;
use crate::schema::FieldKind;
use crate::segment::file::Section;
use crate::segment::reader::FieldReader;

/// A field, and what matches in each segment of a plan: documents over which it is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldMatches<'m> {
    pub(crate) segments: &'m [SegmentPlan<'m>],
    pub(crate) matches: &'m [DocIdSet],
    pub(crate) field: FieldId,
}

impl<'m> FieldMatches<'m> {
    pub(crate) fn parts(self) -> impl Iterator<Item = (&'m SegmentPlan<'m>, &'m DocIdSet)> {
        self.segments.iter().zip(self.matches)
    }

    /// Documents that match, with a value or without.
    pub(crate) fn n_matches(self) -> u64 {
        self.parts().map(|(segment, matches)| matches.len(segment.n_docs)).sum()
    }
}

/// The column of a field in a segment, with what matches there.
#[derive(Clone, Copy)]
pub(super) struct OfSegment<'m> {
    pub(super) segment: &'m SegmentPlan<'m>,
    pub(super) field: FieldReader<'m>,
    pub(super) column: Column<Section<'m>>,
    pub(super) matches: &'m DocIdSet,
}

/// The columns of a field.
pub(super) struct OfField<'m> {
    pub(super) columns: Vec<OfSegment<'m>>,
    /// Segments without one, and what matches there.
    pub(super) others: Vec<(FieldReader<'m>, &'m DocIdSet, u32)>,
    /// Documents that match, with a value or without.
    pub(super) n_matches: u64,
    /// The least and the greatest code of all documents.
    pub(super) range: Option<(u64, u64)>,
    /// Whether codes are numbers of terms, of which each segment has its own.
    pub(super) has_ordinals: bool,
    pub(super) kind: FieldKind,
}

impl<'m> OfField<'m> {
    pub(super) fn new(of: FieldMatches<'m>) -> Result<Self> {
        let (mut columns, mut others, mut range) = (vec![], vec![], None);
        for (segment, matches) in of.parts() {
            let field = segment.segment.field(of.field);
            match field.column()? {
                Some(column) => {
                    range = wider(range, column.range());
                    columns.push(OfSegment { segment, field, column, matches });
                }
                None => others.push((field, matches, segment.n_docs)),
            }
        }
        let first = of.segments.first().map(|segment| segment.segment.schema().get(of.field));
        let has_ordinals = first.is_some_and(|field| field.has_ordinals());
        let kind = first.map_or(FieldKind::I64, |field| field.kind);
        Ok(OfField { columns, others, n_matches: of.n_matches(), range, has_ordinals, kind })
    }

    pub(super) fn n_codes(&self) -> u64 {
        self.range.map_or(0, |(least, greatest)| (greatest - least).saturating_add(1))
    }

    /// Refuses more documents than counters can count.
    pub(super) fn check_matches(&self, counting: &'static str) -> Result<()> {
        if self.n_matches <= u64::from(u32::MAX) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::LimitExceeded, counting)
            .expected(format!("at most {} documents that match", u32::MAX))
            .found(self.n_matches.to_string()))
    }
}

/// Joins ranges of codes, of each of which there may be none.
pub(crate) fn wider(a: Option<(u64, u64)>, b: Option<(u64, u64)>) -> Option<(u64, u64)> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (a, b) => a.or(b),
    }
}
