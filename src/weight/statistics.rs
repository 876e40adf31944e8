//! Numbers of a whole collection that scores depend on, wherever they come from.

use super::bm25::{FieldScoring, FieldScorings, Parameters};
use crate::error::Result;
use crate::ids::FieldId;
use crate::look_ups::LookUps;
use crate::segment::reader::SegmentReader;
use crate::segment::snapshot::Snapshot;
use std::fmt::Debug;
use std::sync::Arc;

/// Numbers of documents and words, and of documents that a term is in.
pub(crate) trait Statistics: Debug {
    /// Scoring of a field: by its documents, its words and the parameters of BM25.
    fn field(&self, field: FieldId) -> Result<Arc<FieldScoring>>;

    /// In how many documents a term is, where it is in so many of the segments that are searched: in these, unless the
    /// collection has others.
    fn document_frequency(&self, _field: FieldId, _term: &[u8], here: u64) -> Result<u64> {
        Ok(here)
    }
}

/// Sources of numbers for a query that is made ready to be scored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources<'a> {
    pub(crate) statistics: &'a dyn Statistics,
    pub(crate) look_ups: &'a LookUps,
}

/// Parameters by field; the last of a field counts, and the usual ones where there are none.
pub(crate) type OwnParameters = [(FieldId, Parameters)];

/// The parameters of a field.
pub(crate) fn parameters_of(own: &OwnParameters, field: FieldId) -> Parameters {
    let own = own.iter().rfind(|(other, _)| *other == field);
    own.map_or_else(Parameters::default, |(_, parameters)| *parameters)
}

/// Statistics of all segments of a snapshot.
#[derive(Debug)]
pub(crate) struct OfSnapshot<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) parameters: &'a OwnParameters,
    /// Fields that are known already.
    pub(crate) kept: &'a FieldScorings,
}

impl Statistics for OfSnapshot<'_> {
    fn field(&self, field: FieldId) -> Result<Arc<FieldScoring>> {
        self.kept.get(field, self.snapshot.readers(), parameters_of(self.parameters, field))
    }
}

/// Statistics of one segment.
#[derive(Debug)]
pub(crate) struct OfSegment<'a> {
    pub(crate) segment: SegmentReader<'a>,
    pub(crate) parameters: &'a OwnParameters,
}

impl Statistics for OfSegment<'_> {
    fn field(&self, field: FieldId) -> Result<Arc<FieldScoring>> {
        let only = std::iter::once(self.segment);
        FieldScoring::of(field, only, parameters_of(self.parameters, field)).map(Arc::new)
    }
}
