//! Several segments into one.
//!
//! Documents keep their order: those of the first segment, then those of the second, and so on. Rows
//! are copied as they are; every term's documents are moved by the number of documents before
//! their segment. One pass, memory for one term's documents and one chunk of rows.

use crate::error::Result;
use crate::error::{Error, ErrorKind};
use crate::format::postings;
use crate::format::stored::ChunkWriter;
use crate::format::terms::{INLINE_DOCS_MAX, NewTerm};
use crate::ids::{FieldId, SegmentId};
use crate::schema::Schema;
use crate::segment::builder::{BuiltSegment, FieldTotals, FieldWriter, SegmentBuilder};
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
    let mut builder = SegmentBuilder::create(storage, id)?;
    copy_rows(segments, &mut builder)?;
    builder.end_stored()?;
    for (nth, field) in schema.field_ids().enumerate() {
        on_progress(Progress::Merging { done: nth as u64 + 1, total: steps });
        let mut writer = builder.start_field(field, n_docs)?;
        merge_terms(segments, field, &mut writer)?;
        writer.finish(&totals(segments, field)?)?;
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

/// One segment's next term.
struct Head<'s, T> {
    stream: T,
    term: Option<(Vec<u8>, crate::format::terms::TermInfo)>,
    field: FieldReader<'s>,
    base: u32,
    n_docs: u32,
}

fn merge_terms(
    segments: &[SegmentReader<'_>],
    field: FieldId,
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
    let (mut docs, mut bytes) = (vec![], vec![]);
    while let Some(term) =
        heads.iter().filter_map(|head| head.term.as_ref()).map(|term| &term.0).min().cloned()
    {
        docs.clear();
        for head in &mut heads {
            let Some((_, info)) = head.term.as_ref().filter(|(other, _)| *other == term) else {
                continue;
            };
            let from = docs.len();
            head.field.postings(info)?.decode_into(head.n_docs, &mut docs)?;
            docs[from..].iter_mut().for_each(|doc| *doc += head.base);
            head.term = head.stream.next()?.map(|(term, _, info)| (term.to_vec(), info));
        }
        if docs.len() <= INLINE_DOCS_MAX as usize {
            writer.add_term(&term, NewTerm::Inline(&docs))?;
        } else {
            bytes.clear();
            postings::encode(&docs, &mut bytes);
            writer.write_postings(&bytes)?;
            writer.add_term(
                &term,
                NewTerm::Stored { df: docs.len() as u32, len: bytes.len() as u32 },
            )?;
        }
    }
    Ok(())
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
