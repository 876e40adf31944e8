//! Builder of a segment in one pass. Stored rows come first, then field by field postings and dictionary, then counts
//! and tables.

use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::FileName;
use crate::format::column::{ColumnWriter, Frame, FrameFinder};
use crate::format::cumulative;
use crate::format::envelope::{Seal, SectionKind};
use crate::format::lengths::{self, Bm25};
use crate::format::offsets::OffsetsWriter;
use crate::format::points::PointsWriter;
use crate::format::ranked::Ranking;
use crate::format::statistics::{FieldStatistics, SegmentStatistics};
use crate::format::stored::StoredIndexWriter;
use crate::format::terms::{FinishedDictionary, NewTerm, TermDictionaryWriter};
use crate::format::vectors::VectorsWriter;
use crate::geo::UnitPoint;
use crate::ids::{FieldId, SegmentId};
use crate::schema::{Detail, Field, VectorParams};
use crate::segment::doc_ranges::DocRanges;
use crate::segment::file::{self, SegmentFileWriter, Unsynced};
use crate::segment::ordinals::OrdinalMap;
use crate::storage::{Storage, StorageWrite};
use crate::value;
use std::sync::Arc;

/// Dictionary blocks kept in memory while the postings that they point into are written.
const BLOCK_BYTES_MAX: usize = 8 << 20;
/// Bytes copied at once from where blocks were kept.
const COPY_BYTES: usize = 1 << 20;

/// A segment file being written.
#[derive(Debug)]
pub(crate) struct SegmentBuilder {
    file: SegmentFileWriter,
    id: SegmentId,
    storage: Arc<dyn Storage>,
    stored_index: StoredIndexWriter,
    statistics: SegmentStatistics,
}

/// Totals of a field over its documents.
#[derive(Debug, Default)]
pub(crate) struct FieldTotals {
    pub(crate) presence: DocRanges,
    pub(crate) empty: DocRanges,
    pub(crate) n_tokens: u64,
}

impl FieldTotals {
    /// Ranking that lists are written with, given the codes of all documents' lengths.
    pub(crate) fn ranking(&self, detail: Detail, lengths: Vec<u8>) -> Ranking {
        let bm25 = Bm25::of_segment(self.n_tokens, u64::from(self.presence.len()));
        Ranking::new(detail, bm25, lengths)
    }
}

/// A finished file that no manifest names yet.
#[derive(Debug)]
pub(crate) struct BuiltSegment {
    pub(crate) id: SegmentId,
    pub(crate) seal: Seal,
    pub(crate) n_docs: u32,
    pub(crate) file: Unsynced,
}

impl SegmentBuilder {
    /// Starts the file of segment `id`, with the stored rows.
    pub(crate) fn create(storage: Arc<dyn Storage>, id: SegmentId) -> Result<Self> {
        let file = file::create(&*storage, id)?;
        Self::of(file, storage, id)
    }

    /// Creates a segment whose file will have about so many bytes.
    pub(crate) fn create_sized(
        storage: Arc<dyn Storage>,
        id: SegmentId,
        bytes: u64,
    ) -> Result<Self> {
        let file = file::create_sized(&*storage, id, bytes)?;
        Self::of(file, storage, id)
    }

    fn of(mut file: SegmentFileWriter, storage: Arc<dyn Storage>, id: SegmentId) -> Result<Self> {
        file.start_section(None, SectionKind::STORED, 0)?;
        let (stored_index, statistics) =
            (StoredIndexWriter::default(), SegmentStatistics::default());
        Ok(SegmentBuilder { file, id, storage, stored_index, statistics })
    }

    /// Appends chunks of stored rows, given with their numbers of documents and bytes.
    pub(crate) fn add_stored(&mut self, bytes: &[u8], chunks: &[(u32, u64)]) -> Result<()> {
        chunks.iter().for_each(|&(n_docs, len)| self.stored_index.add(n_docs, len));
        self.file.write(bytes)
    }

    /// Ends the stored rows; fields follow.
    pub(crate) fn end_stored(&mut self) -> Result<()> {
        self.file.end_section()?;
        let index = std::mem::take(&mut self.stored_index).finish();
        self.file.section(None, SectionKind::STORED_INDEX, &index)
    }

    /// Starts the next field of a segment of `n_docs` documents.
    pub(crate) fn start_field(
        &mut self,
        field: FieldId,
        n_docs: u32,
        of_schema: &Field,
    ) -> Result<FieldWriter<'_>> {
        self.file.start_section(Some(field), SectionKind::POSTINGS, 0)?;
        let dictionary = TermDictionaryWriter::new(n_docs, of_schema.detail);
        let codes = Codes { are_ordinals: of_schema.has_ordinals(), ..Codes::default() };
        let codes = of_schema.column.then_some(codes);
        Ok(FieldWriter { segment: self, field, n_docs, dictionary, codes, kept: None })
    }

    /// Starts the offsets of a field of a segment of `n_docs` documents, which comes behind the rest of the field.
    pub(crate) fn start_offsets(
        &mut self,
        field: FieldId,
        n_docs: u32,
    ) -> Result<OffsetsSection<'_>> {
        self.file.start_section(Some(field), SectionKind::OFFSETS, 0)?;
        let mut out = ByDocument { file: &mut self.file, bytes: vec![] };
        let writer = OffsetsWriter::start(n_docs, &mut out.bytes);
        Ok(OffsetsSection { out, writer })
    }

    /// Starts the column of a field, which comes behind the rest of the field.
    pub(crate) fn start_column(
        &mut self,
        field: FieldId,
        frame: Frame,
    ) -> Result<ColumnSection<'_>> {
        self.file.start_section(Some(field), SectionKind::COLUMN, 0)?;
        let out = ByDocument { file: &mut self.file, bytes: vec![] };
        Ok(ColumnSection { out, writer: ColumnWriter::new(frame), mapped: vec![] })
    }

    /// Starts so many vectors of a field, which come behind the rest of the field.
    pub(crate) fn start_vectors(
        &mut self,
        field: FieldId,
        n_docs: u32,
        n_vectors: u32,
        params: VectorParams,
    ) -> Result<VectorsSection<'_>> {
        self.file.start_section(Some(field), SectionKind::VECTORS, 0)?;
        let mut out = ByDocument { file: &mut self.file, bytes: vec![] };
        let writer = VectorsWriter::start(n_docs, n_vectors, params, &mut out.bytes);
        Ok(VectorsSection { out, writer, field })
    }

    /// Starts the points of a field, which come behind the rest of the field.
    pub(crate) fn start_points(&mut self, field: FieldId) -> Result<PointsSection<'_>> {
        self.file.start_section(Some(field), SectionKind::POINTS, 0)?;
        let out = ByDocument { file: &mut self.file, bytes: vec![] };
        Ok(PointsSection { out, writer: PointsWriter::new(), of_doc: vec![] })
    }

    /// The file, for sections that come behind the rest of a field.
    pub(crate) fn file(&mut self) -> &mut SegmentFileWriter {
        &mut self.file
    }

    /// Writes counts and tables.
    pub(crate) fn finish(mut self, n_docs: u32, n_fields: usize) -> Result<BuiltSegment> {
        self.statistics.n_docs = n_docs;
        debug_assert_eq!(self.statistics.fields.len(), n_fields);
        let statistics = self.statistics.encode();
        self.file.section(None, SectionKind::STATISTICS, &statistics)?;
        let (seal, file) = file::finish(self.file)?;
        Ok(BuiltSegment { id: self.id, seal, n_docs, file })
    }
}

/// A section that grows by what documents add, and goes to the file as often as there is enough of it.
#[derive(Debug)]
struct ByDocument<'b> {
    file: &'b mut SegmentFileWriter,
    bytes: Vec<u8>,
}

impl ByDocument<'_> {
    #[inline]
    fn write_if_full(&mut self) -> Result<()> {
        if self.bytes.len() >= COPY_BYTES {
            self.file.write(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }

    fn end(self) -> Result<()> {
        self.file.write(&self.bytes)?;
        self.file.end_section()?;
        Ok(())
    }
}

/// Writes where the words of a field are, document by document.
#[derive(Debug)]
pub(crate) struct OffsetsSection<'b> {
    out: ByDocument<'b>,
    writer: OffsetsWriter,
}

impl OffsetsSection<'_> {
    /// Adds the part of the next document, see [`offsets`](crate::format::offsets).
    pub(crate) fn add(&mut self, part: &[u8]) -> Result<()> {
        self.writer.add(part, &mut self.out.bytes);
        self.out.write_if_full()
    }

    /// Ends the section.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.writer.finish(&mut self.out.bytes);
        self.out.end()
    }
}

/// Writes the column of a field, document by document.
#[derive(Debug)]
pub(crate) struct ColumnSection<'b> {
    out: ByDocument<'b>,
    writer: ColumnWriter,
    mapped: Vec<u64>,
}

impl ColumnSection<'_> {
    /// Adds the codes of the next document, ascending and each once: as they are, or numbers of terms to be mapped.
    pub(crate) fn add(&mut self, codes: &[u64], ordinals: Option<&OrdinalMap>) -> Result<()> {
        let codes = match ordinals {
            None => codes,
            Some(ordinals) => {
                self.mapped.clear();
                for &code in codes {
                    self.mapped.push(ordinals.of_code(code)?.into());
                }
                &self.mapped
            }
        };
        self.writer.add(codes.iter().copied(), &mut self.out.bytes);
        self.out.write_if_full()
    }

    /// Ends the section.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.writer.finish(&mut self.out.bytes);
        self.out.end()
    }
}

/// Writes the vectors of a field, document by document, and where they are from behind them.
#[derive(Debug)]
pub(crate) struct VectorsSection<'b> {
    out: ByDocument<'b>,
    writer: VectorsWriter,
    field: FieldId,
}

impl VectorsSection<'_> {
    /// Adds a vector of a document that is not before the one of the vector before.
    pub(crate) fn add(&mut self, doc: u32, row: &[u8]) -> Result<()> {
        self.writer.add(doc, row, &mut self.out.bytes);
        self.out.write_if_full()
    }

    /// Ends both sections.
    pub(crate) fn finish(self) -> Result<()> {
        let VectorsSection { out: ByDocument { file, bytes }, writer, field } = self;
        ByDocument { file: &mut *file, bytes }.end()?;
        file.start_section(Some(field), SectionKind::VECTOR_DOCS, 0)?;
        let mut out = ByDocument { file, bytes: vec![] };
        for doc in writer.finish() {
            out.bytes.extend(doc.to_le_bytes());
            out.write_if_full()?;
        }
        out.end()
    }
}

/// Writes the points of a field, document by document.
#[derive(Debug)]
pub(crate) struct PointsSection<'b> {
    out: ByDocument<'b>,
    writer: PointsWriter,
    /// Points of the document that is being added.
    of_doc: Vec<UnitPoint>,
}

impl PointsSection<'_> {
    /// Adds a point of a document that is not before the one of the point before.
    pub(crate) fn add(&mut self, doc: u32, point: UnitPoint) -> Result<()> {
        self.end_documents(doc)?;
        self.of_doc.push(point);
        Ok(())
    }

    /// Ends all documents before one.
    fn end_documents(&mut self, doc: u32) -> Result<()> {
        while self.writer.n_docs() < doc {
            budget::work(ns::VALUE_MISSING)?;
            self.writer.add(self.of_doc.drain(..), &mut self.out.bytes);
            self.out.write_if_full()?;
        }
        Ok(())
    }

    /// Ends the section, of so many documents.
    pub(crate) fn finish(mut self, n_docs: u32) -> Result<()> {
        self.end_documents(n_docs)?;
        self.writer.finish(&mut self.out.bytes);
        self.out.end()
    }
}

/// Writes one field: postings as they come, the dictionary behind them.
#[derive(Debug)]
pub(crate) struct FieldWriter<'b> {
    segment: &'b mut SegmentBuilder,
    field: FieldId,
    n_docs: u32,
    dictionary: TermDictionaryWriter,
    /// Codes, if the field keeps a column.
    codes: Option<Codes>,
    /// Dictionary blocks that did not fit in memory.
    kept: Option<Kept>,
}

/// The codes that terms have in a column.
#[derive(Debug, Default)]
struct Codes {
    are_ordinals: bool,
    n_terms: u64,
    finder: FrameFinder,
}

#[derive(Debug)]
struct Kept {
    name: String,
    file: Box<dyn StorageWrite>,
    len: u64,
}

impl FieldWriter<'_> {
    /// Appends bytes to the postings; [`add_term`](Self::add_term) says whose they are.
    pub(crate) fn write_postings(&mut self, bytes: &[u8]) -> Result<()> {
        self.segment.file.write(bytes)
    }

    /// Adds the next term to the dictionary.
    #[inline]
    pub(crate) fn add_term(&mut self, term: &[u8], new: NewTerm<'_>) -> Result<()> {
        self.dictionary.add(term, new)?;
        if let Some(codes) = &mut self.codes {
            let of_term = if codes.are_ordinals { None } else { value::code_of_term(term) };
            codes.finder.add(of_term.unwrap_or(codes.n_terms));
            codes.n_terms += 1;
        }
        if self.dictionary.blocks_mut().len() >= BLOCK_BYTES_MAX {
            self.keep_blocks()?;
        }
        Ok(())
    }

    fn keep_blocks(&mut self) -> Result<()> {
        if self.kept.is_none() {
            // The numbers from the top down are not those of runs, which count up from zero.
            let number = u32::MAX - u32::from(self.field.0);
            let name = FileName::Run { build: self.segment.id, number }.to_string();
            let file = self.segment.storage.create(&name)?;
            self.kept = Some(Kept { name, file, len: 0 });
        }
        let blocks = self.dictionary.blocks_mut();
        if let Some(kept) = &mut self.kept {
            kept.file.write_all(blocks)?;
            kept.len += blocks.len() as u64;
            blocks.clear();
        }
        Ok(())
    }

    /// Ends the postings and writes everything else that belongs to the field but offsets and a column; with the frame of that.
    pub(crate) fn finish(self, totals: &FieldTotals, ranking: &Ranking) -> Result<Frame> {
        let has_column = self.codes.is_some();
        let finder = self.codes.map(|codes| codes.finder).unwrap_or_default();
        let frame = finder.frame(totals.presence.len() == self.n_docs);
        let (file, field) = (&mut self.segment.file, Some(self.field));
        file.end_section()?;
        let FinishedDictionary { blocks, index, heads, n_postings, before_blocks } =
            self.dictionary.finish();
        file.start_section(field, SectionKind::TERMS, 0)?;
        if let Some(mut kept) = self.kept {
            kept.file.flush()?;
            drop(kept.file);
            copy(&*self.segment.storage, &kept.name, kept.len, file)?;
            self.segment.storage.delete(&kept.name)?;
        }
        file.write(&blocks)?;
        file.end_section()?;
        file.section(field, SectionKind::TERMS_INDEX, &index)?;
        file.section(field, SectionKind::TERMS_HEADS, &heads)?;
        if has_column && n_postings == u64::from(totals.presence.len()) {
            // No document has two values.
            let sums = cumulative::encode(&before_blocks, totals.presence.len());
            file.section(field, SectionKind::CUMULATIVE, &sums)?;
        }
        file.section(field, SectionKind::PRESENCE, &totals.presence.to_roaring())?;
        file.section(field, SectionKind::EMPTY, &totals.empty.to_roaring())?;
        if ranking.detail.has_frequencies() {
            file.start_section(field, SectionKind::LENGTHS, 0)?;
            file.write(&lengths::encode_head(ranking.lengths.len() as u32, &ranking.bm25))?;
            file.write(&ranking.lengths)?;
            file.end_section()?;
        }
        self.segment.statistics.fields.push(FieldStatistics {
            n_docs_with_value: totals.presence.len(),
            n_docs_with_empty_value: totals.empty.len(),
            n_tokens: totals.n_tokens,
        });
        Ok(frame)
    }
}

fn copy(storage: &dyn Storage, name: &str, len: u64, to: &mut SegmentFileWriter) -> Result<()> {
    let from = storage.open_unmapped(name)?;
    let mut buffer = vec![0; COPY_BYTES.min(len as usize)];
    let mut at = 0;
    while at < len {
        let part = &mut buffer[..COPY_BYTES.min((len - at) as usize)];
        from.read_at(at, part)?;
        to.write(part)?;
        at += part.len() as u64;
    }
    Ok(())
}
