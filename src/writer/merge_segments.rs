//! Several segments into one.
//!
//! Documents keep their order: those of the first segment, then those of the second, and so on. Rows
//! are copied as they are; every term's documents are moved by the number of documents before
//! their segment, its occurrences follow each other, and what ranking needs is computed anew, because the average
//! length has changed. One pass, memory for one term's documents and occurrences, a byte a document for
//! the lengths, and one chunk of rows.

use crate::error::Result;
use crate::error::{Error, ErrorKind};
use crate::format::postings;
use crate::format::ranked::{RankedWriter, Ranking};
use crate::format::stored::ChunkWriter;
use crate::format::terms::{INLINE_DOCS_MAX, INLINE_OCCURRENCES_MAX, NewTerm, TermInfo};
use crate::ids::{FieldId, SegmentId};
use crate::schema::Schema;
use crate::segment::builder::{
    BuiltSegment, FieldTotals, FieldWriter, OffsetsSection, SegmentBuilder,
};
use crate::segment::doc_ranges::DocRanges;
use crate::segment::reader::{FieldReader, SegmentReader};
use crate::storage::Storage;
use crate::writer::pipeline::{Progress, SEGMENT_DOCS_MAX};
use std::sync::Arc;

/// Writes the documents of `segments`, in order, as the segment `id`; durable, not yet committed.
pub(crate) fn merge(
    segments: &[SegmentReader<'_>],
    schema: &Schema,
    storage: Arc<dyn Storage>,
    id: SegmentId,
    mut on_progress: impl FnMut(Progress),
) -> Result<BuiltSegment> {
    let total: u64 = segments.iter().map(|segment| u64::from(segment.n_docs())).sum();
    if total > u64::from(SEGMENT_DOCS_MAX) {
        return Err(Error::new(ErrorKind::LimitExceeded, "merging segments")
            .expected(format!("at most {SEGMENT_DOCS_MAX} documents in all"))
            .found(total.to_string()));
    }
    let n_docs = total as u32;
    let steps = schema.fields().len() as u64 + 1;
    on_progress(Progress::Merging { done: 0, total: steps });
    let bytes = segments.iter().map(|segment| segment.file().len()).sum();
    let mut builder = SegmentBuilder::create_sized(storage, id, bytes)?;
    copy_rows(segments, &mut builder)?;
    builder.end_stored()?;
    for (nth, field) in schema.field_ids().enumerate() {
        on_progress(Progress::Merging { done: nth as u64 + 1, total: steps });
        let totals = totals(segments, field)?;
        let ranking = totals.ranking(schema.get(field).detail, lengths(segments, field)?);
        let mut writer = builder.start_field(field, n_docs, ranking.detail)?;
        merge_terms(segments, field, &ranking, &mut writer)?;
        writer.finish(&totals, &ranking)?;
        if schema.get(field).offsets {
            copy_offsets(segments, field, builder.start_offsets(field, n_docs)?)?;
        }
    }
    on_progress(Progress::Committing);
    builder.finish(n_docs, schema)
}

fn copy_rows(segments: &[SegmentReader<'_>], builder: &mut SegmentBuilder) -> Result<()> {
    let (mut chunk, mut bytes) = (ChunkWriter::default(), vec![]);
    let (mut next_doc, mut row_bytes) = (0u32, 0);
    let mut end_chunk = |chunk: &mut ChunkWriter| {
        let n_docs = chunk.n_docs();
        bytes.clear();
        chunk.finish(&mut bytes);
        if n_docs > 0 {
            builder.add_stored(&bytes, &[(n_docs, bytes.len() as u64)])
        } else {
            Ok(())
        }
    };
    for segment in segments {
        for doc in 0..segment.n_docs() {
            let row = segment.stored_row(doc)?;
            chunk.add(row.as_deref());
            next_doc += 1;
            row_bytes += row.map_or(0, |row| row.len());
            if ChunkWriter::ends_chunk(next_doc, row_bytes) {
                end_chunk(&mut chunk)?;
                row_bytes = 0;
            }
        }
    }
    end_chunk(&mut chunk)
}

/// What is kept of where words are does not depend on other documents.
fn copy_offsets(
    segments: &[SegmentReader<'_>],
    field: FieldId,
    mut writer: OffsetsSection<'_>,
) -> Result<()> {
    for segment in segments {
        let Some(offsets) = segment.field(field).offsets()? else { continue };
        for doc in 0..segment.n_docs() {
            writer.add(&offsets.part(doc)?)?;
        }
    }
    writer.finish()
}

/// One segment's next term.
struct Head<'s, T> {
    stream: T,
    term: Option<(Vec<u8>, TermInfo)>,
    field: FieldReader<'s>,
    base: u32,
    n_docs: u32,
}

fn merge_terms(
    segments: &[SegmentReader<'_>],
    field: FieldId,
    ranking: &Ranking,
    writer: &mut FieldWriter<'_>,
) -> Result<()> {
    let mut heads = vec![];
    let mut base = 0;
    for segment in segments {
        let reader = segment.field(field);
        let stream = reader.terms()?.iter();
        heads.push(Head { stream, term: None, field: reader, base, n_docs: segment.n_docs() });
        base += segment.n_docs();
    }
    for head in &mut heads {
        head.term = head.stream.next()?.map(|(term, _, info)| (term.to_vec(), info));
    }
    let mut merger = TermMerger {
        ranking,
        docs: vec![],
        occurrences: vec![],
        bytes: vec![],
        ranked: RankedWriter::default(),
    };
    while let Some(term) =
        heads.iter().filter_map(|head| head.term.as_ref()).map(|term| &term.0).min().cloned()
    {
        merger.clear();
        for head in &mut heads {
            let Some((_, info)) = head.term.as_ref().filter(|(other, _)| *other == term) else {
                continue;
            };
            merger.add(head.field, info, head.base, head.n_docs)?;
            head.term = head.stream.next()?.map(|(term, _, info)| (term.to_vec(), info));
        }
        merger.write(&term, writer)?;
    }
    Ok(())
}

/// One term of all segments.
struct TermMerger<'a> {
    ranking: &'a Ranking,
    docs: Vec<u32>,
    occurrences: Vec<u8>,
    bytes: Vec<u8>,
    ranked: RankedWriter,
}

impl TermMerger<'_> {
    fn clear(&mut self) {
        self.docs.clear();
        self.occurrences.clear();
        self.bytes.clear();
    }

    fn add(
        &mut self,
        field: FieldReader<'_>,
        info: &TermInfo,
        base: u32,
        n_docs: u32,
    ) -> Result<()> {
        let from = self.docs.len();
        field.postings(info)?.decode_into(n_docs, &mut self.docs)?;
        self.docs[from..].iter_mut().for_each(|doc| *doc += base);
        if self.ranking.detail.has_frequencies() {
            field.append_occurrences(info, &mut self.occurrences)?;
        }
        Ok(())
    }

    fn write(&mut self, term: &[u8], writer: &mut FieldWriter<'_>) -> Result<()> {
        let (docs, occurrences) = (&self.docs, &self.occurrences);
        if docs.len() <= INLINE_DOCS_MAX as usize && occurrences.len() <= INLINE_OCCURRENCES_MAX {
            return writer.add_term(term, NewTerm::Inline { docs, occurrences });
        }
        let df = docs.len() as u32;
        postings::encode(docs, &mut self.bytes);
        let is_long = docs.len() > postings::SHORT_DOCS_MAX;
        if !is_long {
            self.bytes.extend_from_slice(occurrences);
        }
        let len = postings::checked_len(self.bytes.len())?;
        if is_long && self.ranking.detail.has_frequencies() {
            let all = std::iter::once((&occurrences[..], df));
            self.ranked.write(docs, all, self.ranking, &mut self.bytes)?;
        }
        writer.write_postings(&self.bytes)?;
        let ranked_len = self.bytes.len() as u64 - u64::from(len);
        writer.add_term(term, NewTerm::Stored { df, len, ranked_len })
    }
}

/// The codes of all documents' lengths.
fn lengths(segments: &[SegmentReader<'_>], field: FieldId) -> Result<Vec<u8>> {
    let mut codes = vec![];
    for segment in segments {
        if let Some(lengths) = segment.field(field).lengths()? {
            codes.extend_from_slice(&lengths.codes(0..lengths.n_docs())?);
        }
    }
    Ok(codes)
}

fn totals(segments: &[SegmentReader<'_>], field: FieldId) -> Result<FieldTotals> {
    let mut totals = FieldTotals::default();
    let mut base = 0;
    for segment in segments {
        let reader = segment.field(field);
        totals.n_tokens += reader.statistics()?.n_tokens;
        for (list, ranges) in
            [(reader.presence()?, &mut totals.presence), (reader.empty()?, &mut totals.empty)]
        {
            let mut docs = vec![];
            list.decode_into(segment.n_docs(), &mut docs)?;
            add_moved(&docs, base, ranges);
        }
        base += segment.n_docs();
    }
    Ok(totals)
}

fn add_moved(docs: &[u32], base: u32, ranges: &mut DocRanges) {
    for &doc in docs {
        ranges.add(base + doc, base + doc + 1);
    }
}
