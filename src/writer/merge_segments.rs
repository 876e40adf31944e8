//! Several segments into one.
//!
//! Documents keep their order: those of the first segment, then those of the second, and so on. Rows
//! are copied as they are, but for the counts of fields that were added since; every term's documents get the numbers that follow from the documents before
//! them, its occurrences follow each other, and what ranking needs is computed anew, because the average
//! length has changed. Deleted documents are left out, and terms that only they had: the result is what would have been
//! built without them. One pass, and one more over the terms of fields with frequencies where documents are deleted,
//! to count their words. Memory for one term's documents and occurrences, a byte a document for the lengths, a byte for
//! each term of each segment where a keyword field keeps a column, and one chunk of rows.

use crate::budget;
use crate::error::{Error, ErrorKind, Result};
use crate::format::occurrences::OccurrenceReader;
use crate::format::postings;
use crate::format::ranked::{RankedWriter, Ranking};
use crate::format::stored::ChunkWriter;
use crate::format::terms::{INLINE_DOCS_MAX, INLINE_OCCURRENCES_MAX, NewTerm, TermInfo};
use crate::ids::{FieldId, SegmentId};
use crate::schema::Schema;
use crate::segment::builder::{
    BuiltSegment, ColumnSection, FieldTotals, FieldWriter, OffsetsSection, SegmentBuilder,
};
use crate::segment::ordinals::OrdinalMap;
use crate::segment::reader::{FieldReader, SegmentReader};
use crate::segment::renumbering::Renumbering;
use crate::storage::Storage;
use crate::writer::pipeline::{Progress, SEGMENT_DOCS_MAX};
use std::sync::Arc;

/// What reading a row takes about; terms are told of by their stream.
const ROW_NS: u64 = 200;
/// And the same of a document's values in a column.
const CODES_NS: u64 = 20;

/// Writes the documents of `segments`, in order, as the segment `id`; durable, not yet committed.
pub(crate) fn merge(
    segments: &[SegmentReader<'_>],
    schema: &Schema,
    storage: Arc<dyn Storage>,
    id: SegmentId,
    mut on_progress: impl FnMut(Progress),
) -> Result<BuiltSegment> {
    let total: u64 = segments.iter().map(|segment| u64::from(segment.n_live())).sum();
    if total > u64::from(SEGMENT_DOCS_MAX) {
        return Err(Error::new(ErrorKind::LimitExceeded, "merging segments")
            .expected(format!("at most {SEGMENT_DOCS_MAX} documents in all"))
            .found(total.to_string()));
    }
    let n_docs = total as u32;
    let mut base = 0;
    let mut parts = Vec::with_capacity(segments.len());
    for &reader in segments {
        let numbers = Renumbering::of(reader, base)?;
        base += numbers.n_live();
        parts.push(Part { reader, numbers });
    }
    let parts = &parts[..];
    let steps = schema.fields().len() as u64 + 1;
    on_progress(Progress::Merging { done: 0, total: steps });
    let bytes = segments.iter().map(|segment| live_bytes(*segment)).sum();
    let mut builder = SegmentBuilder::create_sized(storage, id, bytes)?;
    copy_rows(parts, &mut builder)?;
    builder.end_stored()?;
    for (nth, field) in schema.field_ids().enumerate() {
        on_progress(Progress::Merging { done: nth as u64 + 1, total: steps });
        let totals = totals(parts, field)?;
        let ranking = totals.ranking(schema.get(field).detail, lengths(parts, field)?);
        let mut writer = builder.start_field(field, n_docs, schema.get(field))?;
        let ordinals = merge_terms(parts, field, &ranking, &mut writer)?;
        let frame = writer.finish(&totals, &ranking)?;
        if schema.get(field).offsets {
            copy_offsets(parts, field, builder.start_offsets(field, n_docs)?)?;
        }
        if schema.get(field).column {
            let ordinals = schema.get(field).has_ordinals().then_some(&ordinals[..]);
            copy_column(parts, ordinals, field, builder.start_column(field, frame)?)?;
        }
    }
    on_progress(Progress::Committing);
    builder.finish(n_docs, schema.fields().len())
}

/// About how much of a file is left without what is deleted: no room is asked for that a merge does not need.
fn live_bytes(segment: SegmentReader<'_>) -> u64 {
    let (len, n_docs) = (u128::from(segment.file().len()), u128::from(segment.n_docs().max(1)));
    (len * u128::from(segment.n_live()) / n_docs) as u64
}

/// A segment, and the numbers that its documents get.
struct Part<'s> {
    reader: SegmentReader<'s>,
    numbers: Renumbering,
}

impl Part<'_> {
    /// The documents that are not deleted, by their old numbers.
    fn docs(&self) -> impl Iterator<Item = u32> {
        (0..self.reader.n_docs()).filter(|doc| self.numbers.get(*doc).is_some())
    }
}

fn copy_rows(parts: &[Part<'_>], builder: &mut SegmentBuilder) -> Result<()> {
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
    for part in parts {
        part.reader.for_each_row_to_copy(|doc, row| {
            budget::work(ROW_NS)?;
            if part.numbers.get(doc).is_none() {
                return Ok(());
            }
            chunk.add(row);
            next_doc += 1;
            row_bytes += row.map_or(0, <[u8]>::len);
            if ChunkWriter::ends_chunk(next_doc, row_bytes) {
                end_chunk(&mut chunk)?;
                row_bytes = 0;
            }
            Ok(())
        })?;
    }
    end_chunk(&mut chunk)
}

/// What is kept of where words are does not depend on other documents.
fn copy_offsets(parts: &[Part<'_>], field: FieldId, mut writer: OffsetsSection<'_>) -> Result<()> {
    for part in parts {
        let Some(offsets) = part.reader.field(field).offsets()? else { continue };
        for doc in part.docs() {
            writer.add(&offsets.part(doc)?)?;
        }
    }
    writer.finish()
}

/// The codes of typed fields are the same in every segment, those of keywords are numbers of their terms.
fn copy_column(
    parts: &[Part<'_>],
    ordinals: Option<&[OrdinalMap]>,
    field: FieldId,
    mut writer: ColumnSection<'_>,
) -> Result<()> {
    for (nth, part) in parts.iter().enumerate() {
        let Some(column) = part.reader.field(field).column()? else { continue };
        let ordinals = ordinals.and_then(|of_parts| of_parts.get(nth));
        column.for_each(|doc, codes| {
            budget::work(CODES_NS)?;
            match part.numbers.get(doc) {
                Some(_) => writer.add(codes, ordinals),
                None => Ok(()),
            }
        })?;
    }
    writer.finish()
}

/// One segment's next term.
struct Head<'s, T> {
    stream: T,
    term: Option<(Vec<u8>, TermInfo)>,
    field: FieldReader<'s>,
    part: &'s Part<'s>,
}

/// Merges the terms; with the numbers that those of each part get, where the field keeps a column of them.
fn merge_terms(
    parts: &[Part<'_>],
    field: FieldId,
    ranking: &Ranking,
    writer: &mut FieldWriter<'_>,
) -> Result<Vec<OrdinalMap>> {
    let has_ordinals =
        parts.first().is_some_and(|part| part.reader.schema().get(field).has_ordinals());
    let mut ordinals = vec![OrdinalMap::default(); if has_ordinals { parts.len() } else { 0 }];
    let mut n_terms = 0;
    let mut heads = vec![];
    for part in parts {
        let field = part.reader.field(field);
        let stream = field.terms()?.iter();
        heads.push(Head { stream, term: None, field, part });
    }
    for head in &mut heads {
        head.term = head.stream.next()?.map(|(term, _, info)| (term.to_vec(), info));
    }
    let mut merger = TermMerger {
        ranking,
        docs: vec![],
        occurrences: vec![],
        of_part: vec![],
        bytes: vec![],
        ranked: RankedWriter::default(),
    };
    while let Some(term) =
        heads.iter().filter_map(|head| head.term.as_ref()).map(|term| &term.0).min().cloned()
    {
        merger.clear();
        for (nth, head) in heads.iter_mut().enumerate() {
            let Some((_, info)) = head.term.as_ref().filter(|(other, _)| *other == term) else {
                continue;
            };
            merger.add(head.field, info, head.part)?;
            // Where the term goes with its documents, none is left that would ask for its number.
            if let Some(of_part) = ordinals.get_mut(nth) {
                of_part.push(n_terms);
            }
            head.term = head.stream.next()?.map(|(term, _, info)| (term.to_vec(), info));
        }
        if !merger.docs.is_empty() {
            merger.write(&term, writer)?;
            n_terms += 1;
        }
    }
    Ok(ordinals)
}

/// One term of all segments.
struct TermMerger<'a> {
    ranking: &'a Ranking,
    docs: Vec<u32>,
    occurrences: Vec<u8>,
    /// Occurrences in a segment where some are left out.
    of_part: Vec<u8>,
    bytes: Vec<u8>,
    ranked: RankedWriter,
}

impl TermMerger<'_> {
    fn clear(&mut self) {
        self.docs.clear();
        self.occurrences.clear();
        self.bytes.clear();
    }

    fn add(&mut self, field: FieldReader<'_>, info: &TermInfo, part: &Part<'_>) -> Result<()> {
        let from = self.docs.len();
        field.postings(info)?.decode_into(part.reader.n_docs(), &mut self.docs)?;
        if !self.docs[from..].is_sorted_by(|a, b| a < b) {
            return Err(Error::corrupt("merging the documents of a term")
                .expected("ascending numbers")
                .found("others")
                .in_file(part.reader.file().path()));
        }
        let (numbers, detail) = (&part.numbers, self.ranking.detail);
        if !numbers.keeps_all() && detail.has_frequencies() {
            self.of_part.clear();
            field.append_occurrences(info, &mut self.of_part)?;
            let mut reader = OccurrenceReader::new(&self.of_part, detail);
            for doc in &self.docs[from..] {
                let start = reader.position_in_bytes();
                reader.skip(1).ok_or_else(ends_early)?;
                if numbers.get(*doc).is_some() {
                    let of_doc = &self.of_part[start..reader.position_in_bytes()];
                    self.occurrences.extend_from_slice(of_doc);
                }
            }
        } else if detail.has_frequencies() {
            field.append_occurrences(info, &mut self.occurrences)?;
        }
        let mut left = from;
        for at in from..self.docs.len() {
            if let Some(number) = numbers.get(self.docs[at]) {
                self.docs[left] = number;
                left += 1;
            }
        }
        self.docs.truncate(left);
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
fn lengths(parts: &[Part<'_>], field: FieldId) -> Result<Vec<u8>> {
    let mut codes = vec![];
    for part in parts {
        if let Some(lengths) = part.reader.field(field).lengths()? {
            let of_part = lengths.codes(0..lengths.n_docs())?;
            let kept =
                (0..).zip(of_part.iter()).filter(|(doc, _)| part.numbers.get(*doc).is_some());
            codes.extend(kept.map(|(_, code)| *code));
        }
    }
    Ok(codes)
}

fn totals(parts: &[Part<'_>], field: FieldId) -> Result<FieldTotals> {
    let mut totals = FieldTotals::default();
    for part in parts {
        let reader = part.reader.field(field);
        let of_deleted = n_tokens_of_deleted(part, reader)?;
        totals.n_tokens += reader.statistics()?.n_tokens.saturating_sub(of_deleted);
        for (list, ranges) in
            [(reader.presence()?, &mut totals.presence), (reader.empty()?, &mut totals.empty)]
        {
            let mut docs = vec![];
            list.decode_into(part.reader.n_docs(), &mut docs)?;
            for number in docs.iter().filter_map(|doc| part.numbers.get(*doc)) {
                ranges.add(number, number + 1);
            }
        }
    }
    Ok(totals)
}

/// How many words the deleted documents of a segment have: lengths are kept as codes, which do not tell.
/// Where a field keeps no frequencies, a word counts once for each document.
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

#[cold]
fn ends_early() -> Error {
    Error::corrupt("reading the occurrences of a term").expected("those of all its documents")
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
            IndexWriter::open(store, Some(schema), analyzers, existing, published, options)
                .unwrap();
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
        let stopped_at = |n| {
            let target = Arc::new(MemoryStorage::new());
            let merge =
                || merge(&readers, &snapshot.manifest.schema, target, SegmentId([7; 16]), |_| ());
            budget::Budget::stopping_at(n).run(merge).map(|built| built.n_docs)
        };
        // By the thousand rows, and the blocks of terms after them.
        for n in [0, 500, 999, 1_050] {
            assert_eq!(stopped_at(n).unwrap_err().kind(), ErrorKind::Timeout, "{n}");
        }
        assert_eq!(stopped_at(100_000).unwrap(), 50);
    }
}
