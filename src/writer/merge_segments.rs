//! Several segments into one.
//!
//! Documents keep their order: those of the first segment, then those of the second, and so on; or, where the schema
//! [has one](crate::schema::SchemaBuilder::order_by), they are put in that, or in the order of [similarity](super::similar). Rows
//! are copied as they are, but for the counts of fields that were added since; every term's documents get the numbers that follow from the documents before
//! them, its occurrences follow each other, and what ranking needs is computed anew, because the average
//! length has changed. Deleted documents are left out, and terms that only they had: the result is what would have been
//! built without them. One pass, and one more over the terms of fields with frequencies where documents are deleted,
//! to count their words. Memory for one term's documents and occurrences, a byte a document for the lengths, a byte for
//! each term of each segment where a keyword field keeps a column, and one chunk of rows.
//!
//! If documents change places, rows, offsets and columns are [kept](super::reorder) until it is their turn, in as many
//! passes as their room asks for, and a term takes 16 bytes more for each of its documents while it is merged.

use crate::budget::{self, ns};
use crate::error::{Error, ErrorKind, Result};
use crate::format::occurrences::OccurrenceReader;
use crate::format::stored::ChunkWriter;
use crate::graph::spill::SpillFiles;
use crate::ids::{FieldId, SegmentId};
use crate::schema::{SIMILARITY_DOCS_MIN, Schema};
use crate::segment::builder::{
    BuiltSegment, ColumnSection, FieldTotals, OffsetsSection, SegmentBuilder,
};
use crate::segment::doc_ranges::DocRanges;
use crate::segment::ordinals::OrdinalMap;
use crate::segment::reader::{FieldReader, SegmentReader};
use crate::segment::renumbering::Renumbering;
use crate::storage::Storage;
use crate::writer::graph::GraphMeans;
use crate::writer::merge_terms::{ends_early, merge_terms};
use crate::writer::order::{self, Numbering};
use crate::writer::pipeline::{Progress, Resources, SEGMENT_DOCS_MAX};
use crate::writer::reorder::{ReorderBuffer, reorder};
use crate::writer::similar::Similarity;
use crate::writer::{points, vectors};
use rayon::ThreadPool;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

/// Result of a merge.
#[derive(Debug)]
pub(crate) struct Merged {
    pub(crate) built: BuiltSegment,
    /// The numbers that the documents of each segment have there.
    pub(crate) numbers: Vec<Renumbering>,
}

/// Order in which documents are put, and the threads for it.
#[derive(Clone, Debug)]
pub(super) struct Reordering<'p> {
    /// Bytes of memory that what waits for its turn may take.
    pub(super) room: usize,
    /// In the order of similarity, unless the schema has one of fields.
    pub(super) similarity: Option<Similarity<'p>>,
    pub(super) graphs: GraphMemory<'p>,
}

/// Memory and threads for graphs over vectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct GraphMemory<'p> {
    pub(super) bytes: usize,
    pub(super) pool: Option<&'p ThreadPool>,
}

impl<'p> Reordering<'p> {
    /// The order that the schema names for a segment of so many documents.
    pub(super) fn by_schema(schema: &Schema, resources: &'p Resources, n_docs: u64) -> Self {
        let fields = schema.similarity_field_ids();
        let is_large = n_docs >= SIMILARITY_DOCS_MIN.into();
        match is_large && !fields.is_empty() {
            true => Self::by_similarity(fields, resources),
            false => Self::of(resources, None),
        }
    }

    /// By the terms of some fields, however few documents there are.
    pub(super) fn by_similarity(fields: &[FieldId], resources: &'p Resources) -> Self {
        let similarity = Similarity {
            fields: fields.to_vec(),
            memory_bytes: resources.similarity_bytes(),
            pool: resources.pool(),
        };
        Self::of(resources, Some(similarity))
    }

    fn of(resources: &'p Resources, similarity: Option<Similarity<'p>>) -> Self {
        let graphs = GraphMemory { bytes: resources.memory_bytes, pool: resources.pool() };
        Reordering { room: resources.reorder_bytes(), similarity, graphs }
    }

    /// Reorders on one thread alone.
    pub(super) fn on_one_thread(self) -> Reordering<'static> {
        let alone = |similarity: Similarity<'_>| Similarity { pool: None, ..similarity };
        let graphs = GraphMemory { bytes: self.graphs.bytes, pool: None };
        Reordering { room: self.room, similarity: self.similarity.map(alone), graphs }
    }
}

/// Writes the documents of `segments`, in order, as the segment `id`; durable, not yet committed.
pub(crate) fn merge(
    segments: &[SegmentReader<'_>],
    schema: &Schema,
    storage: Arc<dyn Storage>,
    id: SegmentId,
    Reordering { room, similarity, graphs }: Reordering<'_>,
    mut on_progress: impl FnMut(Progress),
) -> Result<Merged> {
    let total: u64 = segments.iter().map(|segment| u64::from(segment.n_live())).sum();
    if total > u64::from(SEGMENT_DOCS_MAX) {
        return Err(Error::new(ErrorKind::LimitExceeded, "merging segments")
            .expected(format!("at most {SEGMENT_DOCS_MAX} documents in all"))
            .found(total.to_string()));
    }
    let n_docs = total as u32;
    let Numbering { of_segments, reorders } =
        order::number(segments, schema, similarity.as_ref(), |done, total| {
            on_progress(Progress::Reordering { done, total });
        })?;
    let parts = segments.iter().zip(of_segments);
    let parts = parts.map(|(&reader, numbers)| Part { reader, numbers }).collect();
    let all = MergeState { parts, n_docs, reorders, room };
    let steps = schema.fields().len() as u64 + 1;
    on_progress(Progress::Merging { done: 0, total: steps });
    let bytes = segments.iter().map(|segment| live_bytes(*segment)).sum();
    let graphs = GraphMeans {
        memory_bytes: graphs.bytes,
        pool: graphs.pool,
        files: SpillFiles::new(Arc::clone(&storage), id),
    };
    let mut builder = SegmentBuilder::create_sized(storage, id, bytes)?;
    copy_rows(&all, &mut builder)?;
    builder.end_stored()?;
    for (nth, field) in schema.field_ids().enumerate() {
        on_progress(Progress::Merging { done: nth as u64 + 1, total: steps });
        let totals = totals(&all, field)?;
        let ranking = totals.ranking(schema.get(field).detail, lengths(&all, field)?);
        let mut writer = builder.start_field(field, n_docs, schema.get(field))?;
        let ordinals = merge_terms(&all, field, &ranking, &mut writer)?;
        let frame = writer.finish(&totals, &ranking)?;
        if schema.get(field).offsets {
            copy_offsets(&all, field, builder.start_offsets(field, n_docs)?)?;
        }
        if schema.get(field).column {
            let ordinals = schema.get(field).has_ordinals().then_some(&ordinals[..]);
            copy_column(&all, ordinals, field, builder.start_column(field, frame)?)?;
        }
        if let Some(params) = schema.get(field).kind.vector() {
            let of = (field, params, schema.get(field));
            vectors::copy(&all.of_vectors(&graphs), of, &mut builder)?;
        }
        if schema.get(field).kind.is_point() {
            let parts = all.parts.iter().map(|part| (part.reader, &part.numbers));
            let (of_result, means) = ((n_docs, all.reorders.then_some(room)), graphs.of_points());
            points::copy(parts, of_result, field, means, &mut builder)?;
        }
    }
    on_progress(Progress::Committing);
    let built = builder.finish(n_docs, schema.fields().len())?;
    Ok(Merged { built, numbers: all.parts.into_iter().map(|part| part.numbers).collect() })
}

/// About how much of a file is left without what is deleted: no room is asked for that a merge does not need.
fn live_bytes(segment: SegmentReader<'_>) -> u64 {
    let (len, n_docs) = (u128::from(segment.file().len()), u128::from(segment.n_docs().max(1)));
    (len * u128::from(segment.n_live()) / n_docs) as u64
}

/// Segments that are merged, and the numbers of their documents in the result.
pub(super) struct MergeState<'s> {
    pub(super) parts: Vec<Part<'s>>,
    /// Documents of the result.
    n_docs: u32,
    /// Whether documents come to stand otherwise to each other than those of the parts, one behind the other, do.
    pub(super) reorders: bool,
    /// Bytes of memory for what waits for its turn then.
    room: usize,
}

impl MergeState<'_> {
    fn of_vectors<'m>(&'m self, graphs: &GraphMeans<'m>) -> vectors::Merge<'m> {
        vectors::Merge {
            parts: self.parts.iter().map(|part| (part.reader, &part.numbers)).collect(),
            n_docs: self.n_docs,
            room: self.reorders.then_some(self.room),
            graphs: graphs.clone(),
        }
    }
}

/// A segment, and the numbers that its documents get.
pub(super) struct Part<'s> {
    pub(super) reader: SegmentReader<'s>,
    pub(super) numbers: Renumbering,
}

impl Part<'_> {
    /// The documents that are not deleted, by their old numbers, each with its new one.
    fn docs(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.reader.n_docs()).filter_map(|doc| Some((doc, self.numbers.get(doc)?)))
    }

    /// Whether any of these documents, by their old numbers, is wanted.
    fn has_any_for(&self, buffer: &ReorderBuffer, mut docs: Range<u32>) -> bool {
        docs.any(|doc| self.numbers.get(doc).is_some_and(|number| buffer.wants(number)))
    }
}

/// Writes rows in chunks.
struct RowWriter<'b> {
    builder: &'b mut SegmentBuilder,
    chunk: ChunkWriter,
    bytes: Vec<u8>,
    n_docs: u32,
    /// Bytes of the rows of the chunk.
    row_bytes: usize,
}

impl RowWriter<'_> {
    fn add(&mut self, row: Option<&[u8]>) -> Result<()> {
        self.chunk.add(row);
        self.n_docs += 1;
        self.row_bytes += row.map_or(0, <[u8]>::len);
        match ChunkWriter::ends_chunk(self.n_docs, self.row_bytes) {
            true => self.end_chunk(),
            false => Ok(()),
        }
    }

    fn end_chunk(&mut self) -> Result<()> {
        let n_docs = self.chunk.n_docs();
        self.row_bytes = 0;
        self.bytes.clear();
        self.chunk.finish(&mut self.bytes);
        match n_docs {
            0 => Ok(()),
            _ => self.builder.add_stored(&self.bytes, &[(n_docs, self.bytes.len() as u64)]),
        }
    }
}

fn copy_rows(all: &MergeState<'_>, builder: &mut SegmentBuilder) -> Result<()> {
    let (chunk, bytes) = (ChunkWriter::default(), vec![]);
    let mut writer = RowWriter { builder, chunk, bytes, n_docs: 0, row_bytes: 0 };
    if all.reorders {
        let gather = |buffer: &mut ReorderBuffer| gather_rows(&all.parts, buffer);
        reorder(all.n_docs, all.room, gather, |row| writer.add(row))?;
        return writer.end_chunk();
    }
    for part in &all.parts {
        part.reader.for_each_row_to_copy(
            |_| true,
            |doc, row| {
                budget::work(ns::ROW_COPIED)?;
                part.numbers.get(doc).map_or(Ok(()), |_| writer.add(row))
            },
        )?;
    }
    writer.end_chunk()
}

fn gather_rows(parts: &[Part<'_>], buffer: &mut ReorderBuffer) -> Result<()> {
    for part in parts {
        // Both look at what is wanted, which becomes less as the buffer fills.
        let buffer = RefCell::new(&mut *buffer);
        part.reader.for_each_row_to_copy(
            |docs| part.has_any_for(&buffer.borrow(), docs),
            |doc, row| {
                budget::work(ns::ROW_COPIED)?;
                if let Some(number) = part.numbers.get(doc) {
                    buffer.borrow_mut().add(number, row);
                }
                Ok(())
            },
        )?;
    }
    Ok(())
}

/// Copies offsets as they are: they do not depend on other documents.
fn copy_offsets(
    all: &MergeState<'_>,
    field: FieldId,
    mut writer: OffsetsSection<'_>,
) -> Result<()> {
    let gather = |buffer: &mut ReorderBuffer| {
        for part in &all.parts {
            let Some(offsets) = part.reader.field(field).offsets()? else { continue };
            for (doc, number) in part.docs() {
                budget::work(ns::OFFSETS_COPIED)?;
                if buffer.wants(number) {
                    buffer.add(number, Some(&offsets.part(doc)?));
                }
            }
        }
        Ok(())
    };
    if all.reorders {
        reorder(all.n_docs, all.room, gather, |part| writer.add(part.unwrap_or_default()))?;
        return writer.finish();
    }
    for part in &all.parts {
        let Some(offsets) = part.reader.field(field).offsets()? else { continue };
        for (doc, _) in part.docs() {
            budget::work(ns::OFFSETS_COPIED)?;
            writer.add(&offsets.part(doc)?)?;
        }
    }
    writer.finish()
}

/// The codes of typed fields are the same in every segment, those of keywords are numbers of their terms.
fn copy_column(
    all: &MergeState<'_>,
    ordinals: Option<&[OrdinalMap]>,
    field: FieldId,
    mut writer: ColumnSection<'_>,
) -> Result<()> {
    let of_part = |nth: usize| ordinals.and_then(|of_parts| of_parts.get(nth));
    if all.reorders {
        let gather = |buffer: &mut ReorderBuffer| gather_codes(&all.parts, of_part, field, buffer);
        let mut codes = vec![];
        reorder(all.n_docs, all.room, gather, |bytes| {
            let (of_doc, _) = bytes.unwrap_or_default().as_chunks();
            codes.clear();
            codes.extend(of_doc.iter().map(|code| u64::from_le_bytes(*code)));
            writer.add(&codes, None)
        })?;
        return writer.finish();
    }
    for (nth, part) in all.parts.iter().enumerate() {
        let Some(column) = part.reader.field(field).column()? else { continue };
        let all = |_| true;
        column.for_each(all, |doc, codes| {
            budget::work(ns::CODES_COPIED)?;
            match part.numbers.get(doc) {
                Some(_) => writer.add(codes, of_part(nth)),
                None => Ok(()),
            }
        })?;
    }
    writer.finish()
}

/// Keeps the codes of what is wanted, 8 bytes each, as they will be.
fn gather_codes<'o>(
    parts: &[Part<'_>],
    ordinals: impl Fn(usize) -> Option<&'o OrdinalMap>,
    field: FieldId,
    buffer: &mut ReorderBuffer,
) -> Result<()> {
    let mut bytes = vec![];
    for (nth, part) in parts.iter().enumerate() {
        let Some(column) = part.reader.field(field).column()? else { continue };
        let ordinals = ordinals(nth);
        let buffer = RefCell::new(&mut *buffer);
        column.for_each(
            |docs| part.has_any_for(&buffer.borrow(), docs),
            |doc, codes| {
                budget::work(ns::CODES_COPIED)?;
                let number = part.numbers.get(doc);
                let Some(number) = number.filter(|number| buffer.borrow().wants(*number)) else {
                    return Ok(());
                };
                bytes.clear();
                for &code in codes {
                    let code = match ordinals {
                        None => code,
                        Some(ordinals) => ordinals.of_code(code)?.into(),
                    };
                    bytes.extend_from_slice(&code.to_le_bytes());
                }
                buffer.borrow_mut().add(number, Some(&bytes));
                Ok(())
            },
        )?;
    }
    Ok(())
}

/// The codes of all documents' lengths.
fn lengths(all: &MergeState<'_>, field: FieldId) -> Result<Vec<u8>> {
    let mut codes = vec![];
    for part in &all.parts {
        if let Some(lengths) = part.reader.field(field).lengths()? {
            codes.resize(all.n_docs as usize, 0);
            let of_part = lengths.codes(0..lengths.n_docs())?;
            for (doc, number) in part.docs() {
                codes[number as usize] = of_part[doc as usize];
            }
        }
    }
    Ok(codes)
}

fn totals(all: &MergeState<'_>, field: FieldId) -> Result<FieldTotals> {
    let mut totals = FieldTotals::default();
    let (mut present, mut empty) = (vec![], vec![]);
    for part in &all.parts {
        let reader = part.reader.field(field);
        let of_deleted = n_tokens_of_deleted(part, reader)?;
        totals.n_tokens += reader.statistics()?.n_tokens.saturating_sub(of_deleted);
        for (list, ranges, numbers) in [
            (reader.presence()?, &mut totals.presence, &mut present),
            (reader.empty()?, &mut totals.empty, &mut empty),
        ] {
            let mut docs = vec![];
            list.decode_into(part.reader.n_docs(), &mut docs)?;
            numbers.extend(docs.into_iter().filter_map(|doc| part.numbers.get(doc)));
            if !all.reorders {
                add_to(ranges, numbers);
            }
        }
    }
    for (ranges, numbers) in [(&mut totals.presence, &mut present), (&mut totals.empty, &mut empty)]
    {
        numbers.sort();
        add_to(ranges, numbers);
    }
    Ok(totals)
}

/// Moves documents, which ascend, to the end of a set.
fn add_to(ranges: &mut DocRanges, numbers: &mut Vec<u32>) {
    numbers.drain(..).for_each(|number| ranges.add(number, number + 1));
}

/// Counts the words of a segment's deleted documents, as lengths are kept as codes, which do not tell. If a field keeps
/// no frequencies, a word counts once for each document.
fn n_tokens_of_deleted(part: &Part<'_>, field: FieldReader<'_>) -> Result<u64> {
    if part.numbers.keeps_all() {
        return Ok(0);
    }
    let (mut sum, mut docs, mut occurrences) = (0, vec![], vec![]);
    let mut stream = field.terms()?.iter();
    while let Some((_, _, info)) = stream.next()? {
        docs.clear();
        field.postings(&info)?.decode_into(part.reader.n_docs(), &mut docs)?;
        if docs.iter().all(|doc| part.numbers.get(*doc).is_some()) {
            continue;
        }
        occurrences.clear();
        if field.detail().has_frequencies() {
            field.append_occurrences(&info, &mut occurrences)?;
        }
        let mut reader = OccurrenceReader::new(&occurrences, field.detail());
        for doc in &docs {
            let frequency = reader.frequency().ok_or_else(ends_early)?;
            if part.numbers.get(*doc).is_none() {
                sum += u64::from(frequency);
            }
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::segment::snapshot::Snapshot;
    use crate::storage::MemoryStorage;
    use crate::writer::{Existing, IndexWriter, WriterOptions};

    /// A thousand documents in a segment, of which every twentieth is kept.
    fn mostly_deleted(storage: &Arc<dyn Storage>) -> IndexWriter {
        let schema = Schema::builder().text("title").keyword("kind").build().unwrap();
        let (store, analyzers, published) = (Arc::clone(storage), Arc::default(), Arc::default());
        let (existing, options) = (Existing::Refuse, WriterOptions::new().threads(1));
        let mut writer =
            IndexWriter::open(store, schema, analyzers, existing, published, options).unwrap();
        for nth in 0..1_000 {
            let kind = if nth % 20 == 0 { "kept" } else { "gone" };
            let title = format!("title {nth} {:x}", nth * 7_919);
            writer.add(Document::new().with("title", title).with("kind", kind)).unwrap();
        }
        writer.commit().unwrap();
        writer.delete_value("kind", "gone").unwrap();
        writer
    }

    #[test]
    fn room_is_asked_for_what_is_left_of_a_segment() {
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        let mut writer = mostly_deleted(&storage);
        let of_all = |snapshot: &Snapshot| -> (u64, u64) {
            let sizes = snapshot.readers().map(|of| (of.file().len(), live_bytes(of)));
            sizes.fold((0, 0), |(len, live), of| (len + of.0, live + of.1))
        };
        let (len, live) = of_all(&Snapshot::open(&*storage).unwrap());
        assert_eq!(len, live);
        writer.commit().unwrap();
        let (len, live) = of_all(&Snapshot::open(&*storage).unwrap());
        assert_eq!(live, len / 20);
        writer.merge().unwrap();
        let (merged, _) = of_all(&Snapshot::open(&*storage).unwrap());
        assert!(merged < len / 4, "{merged} of {len}");
    }

    #[test]
    fn it_can_be_stopped_where_it_reads_and_writes_nothing() {
        let storage: Arc<dyn Storage> = Arc::new(MemoryStorage::new());
        mostly_deleted(&storage).commit().unwrap();
        let snapshot = Snapshot::open(&*storage).unwrap();
        let readers: Vec<_> = snapshot.readers().collect();
        let schema = &snapshot.manifest.schema;
        let stopped_at = |n| {
            let target = Arc::new(MemoryStorage::new());
            let graphs = GraphMemory { bytes: 1 << 20, pool: None };
            let reordering = Reordering { room: 1 << 20, similarity: None, graphs };
            let id = SegmentId([7; 16]);
            let merge = || merge(&readers, schema, target, id, reordering, |_| ());
            budget::Budget::stopping_at(n).run(merge).map(|merged| merged.built.n_docs)
        };
        // By the thousand rows, and the blocks of terms after them.
        for n in [0, 500, 999, 1_050] {
            assert_eq!(stopped_at(n).unwrap_err().kind(), ErrorKind::Timeout, "{n}");
        }
        assert_eq!(stopped_at(100_000).unwrap(), 50);
    }
}
