//! A segment as execution sees it: terms, postings, stored rows and counts of each field.
//!
//! Both readers are a few references and are made wherever they are needed. Nothing is decoded or
//! looked at until it is asked for.

use crate::bytes::{ByteReader, Bytes, Source, write_varint};
use crate::error::{Error, ErrorKind, Result};
use crate::format::boxes::Boxes;
use crate::format::column::Column;
use crate::format::cumulative::Cumulative;
use crate::format::envelope::SectionKind;
use crate::format::graph::curve::StoredCurve;
use crate::format::lengths::FieldNorms;
use crate::format::offsets::Offsets;
use crate::format::pages::Pages;
use crate::format::points::Points;
use crate::format::postings::{
    LongList, PostingList, SHORT_DOCS_MAX, ShortList, each_short, read_docs, read_short,
};
use crate::format::ranked::{RankedList, RankedLong, RankedShort};
use crate::format::statistics::{FieldStatistics, SegmentStatistics};
use crate::format::stored::StoredReader;
use crate::format::terms::{InlineDocs, PostingsAt, TermDictionary, TermInfo};
use crate::format::vectors::Vectors;
use crate::ids::{FieldId, SegmentId};
use crate::recycle::FreeLists;
use crate::schema::{Detail, Schema};
use crate::segment::added_fields::AddedFields;
use crate::segment::deletes::DeletedDocs;
use crate::segment::file::{Section, SegmentFile};
use crate::segment::graph::{FieldGraph, read_curve};
use crate::value::{self, Value};
use std::ops::Range;
use std::sync::Arc;

/// Bytes at the start of a posting list that are asked for early: a whole short list, mostly, or the
/// header of a long one.
const PREFETCH_LEN: u64 = 256;

/// One segment of a snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentReader<'s> {
    file: &'s SegmentFile,
    schema: &'s Schema,
    n_docs: u32,
    deleted: Option<&'s Arc<DeletedDocs>>,
}

impl<'s> SegmentReader<'s> {
    /// The segment of `n_docs` documents in `file`.
    pub(crate) fn new(file: &'s SegmentFile, schema: &'s Schema, n_docs: u32) -> Self {
        SegmentReader { file, schema, n_docs, deleted: None }
    }

    /// Reads the segment without the deleted documents.
    pub(crate) fn without(self, deleted: Option<&'s Arc<DeletedDocs>>) -> Self {
        SegmentReader { deleted, ..self }
    }

    pub(crate) fn id(self) -> SegmentId {
        self.file.id()
    }

    pub(crate) fn file(self) -> &'s SegmentFile {
        self.file
    }

    pub(crate) fn schema(self) -> &'s Schema {
        self.schema
    }

    /// Documents of the segment, deleted ones included; they are numbered from 0.
    pub(crate) fn n_docs(self) -> u32 {
        self.n_docs
    }

    /// The documents that are deleted, where any is: then document frequencies are upper bounds.
    #[inline]
    pub(crate) fn deleted(self) -> Option<&'s Arc<DeletedDocs>> {
        self.deleted
    }

    /// Documents that are not deleted.
    pub(crate) fn n_live(self) -> u32 {
        self.n_docs.saturating_sub(self.deleted.map_or(0, |deleted| deleted.n_docs()))
    }

    /// Whether a document is deleted.
    pub(crate) fn is_deleted(self, doc: u32) -> Result<bool> {
        self.deleted.map_or(Ok(false), |deleted| deleted.contains(doc))
    }

    pub(crate) fn field(self, field: FieldId) -> FieldReader<'s> {
        FieldReader { segment: self, field }
    }

    pub(crate) fn statistics(self) -> Result<SegmentStatistics> {
        let section = self.file.require(None, SectionKind::STATISTICS)?;
        let mut statistics = SegmentStatistics::read(section, self.n_own_fields())?;
        self.expect_n_docs("statistics", statistics.n_docs)?;
        // Fields added since have no value here.
        statistics.fields.resize(self.schema.fields().len(), FieldStatistics::default());
        Ok(statistics)
    }

    /// Refuses a part made for another number of documents than the manifest says: whoever counts
    /// relies on no set being larger than its segment.
    #[inline]
    fn expect_n_docs(self, part: &str, n_docs: u32) -> Result<()> {
        match n_docs == self.n_docs {
            true => Ok(()),
            false => Err(self.other_n_docs(part, n_docs)),
        }
    }

    #[cold]
    fn other_n_docs(self, part: &str, n_docs: u32) -> Error {
        Error::corrupt(format!("reading the {part} of a segment"))
            .expected(format!("{} documents, as in the manifest", self.n_docs))
            .found(n_docs.to_string())
            .in_file(self.file.path())
    }

    /// The fields that it was made with: the first of the schema, and all but for those that were added since.
    pub(crate) fn n_own_fields(self) -> usize {
        let n_added = self.file.added().map_or(0, AddedFields::len);
        self.schema.fields().len().saturating_sub(n_added)
    }

    /// The stored fields that it was made with.
    fn own_stored_fields(self) -> impl Iterator<Item = FieldId> {
        let own = self.schema.field_ids().take(self.n_own_fields());
        own.filter(move |field| self.schema.get(*field).is_in_rows())
    }

    fn stored_reader(self) -> Result<StoredReader<Section<'s>>> {
        StoredReader::open(
            self.file.require(None, SectionKind::STORED)?,
            self.file.require(None, SectionKind::STORED_INDEX)?,
        )
    }

    /// Documents of which there may be rows: as many as there are, or fewer where the chunks of rows cannot have so many.
    pub(crate) fn n_rows_max(self) -> Result<u32> {
        Ok(self.stored_reader()?.n_docs_max().min(self.n_docs))
    }

    /// The stored values of `doc` by field in schema order.
    pub(crate) fn stored(self, doc: u32) -> Result<Vec<(FieldId, Value)>> {
        let Some(row) = self.stored_reader()?.row(doc)? else { return Ok(vec![]) };
        self.read_row(&row).ok_or_else(|| self.other_row(doc))
    }

    /// The stored values of `doc`, and those kept apart, by field in schema order: all that is known of it.
    pub(crate) fn document(self, doc: u32) -> Result<Vec<(FieldId, Value)>> {
        let mut values = self.stored(doc)?;
        let n_stored = values.len();
        for field in self.fields_apart() {
            values.extend(self.values_apart(doc, field)?.into_iter().map(|value| (field, value)));
        }
        if values.len() > n_stored {
            values.sort_by_key(|(field, _)| *field);
        }
        Ok(values)
    }

    /// The fields whose values are kept apart from stored rows: vectors and points.
    pub(crate) fn fields_apart(self) -> impl Iterator<Item = FieldId> {
        let schema = self.schema;
        schema.field_ids().filter(|field| schema.get(*field).kind.row_len().is_some())
    }

    /// The vectors or points of `doc` in a field; none where the field is of other values.
    pub(crate) fn values_apart(self, doc: u32, field: FieldId) -> Result<Vec<Value>> {
        if let Some(points) = self.field(field).points()? {
            let points = points.of_doc(doc)?.into_iter();
            return Ok(points.map(|point| Value::Point(point.to_point())).collect());
        }
        let Some(vectors) = self.field(field).vectors()? else { return Ok(vec![]) };
        let rows = vectors.rows(vectors.rows_of(0, doc)?)?;
        let params = vectors.params();
        let of_rows = rows.chunks_exact(vectors.row_len());
        Ok(of_rows.map(|row| Value::Vector(value::numbers_of_row(params, row))).collect())
    }

    #[cold]
    fn other_row(self, doc: u32) -> Error {
        Error::corrupt(format!("reading the stored fields of document {doc}"))
            .expected("counts, lengths and values of the schema's fields")
            .found("a row of other bytes")
            .in_file(self.file.path())
    }

    /// Reads every stored row, and everything that leads to it.
    pub(crate) fn verify_stored(self) -> Result<()> {
        let is_typed =
            self.schema.fields().iter().any(|field| field.stored && field.kind.is_typed());
        let all = |_| true;
        self.for_each_stored_row(all, |doc, row| match row {
            Some(row) if is_typed && self.read_row(row).is_none() => Err(self.other_row(doc)),
            _ => Ok(()),
        })
    }

    /// Calls `visit` with the stored row of every document as a segment with all fields of the schema has it, for copying
    /// into one. Of some documents side by side of which none is `wanted` rows may be left out.
    pub(crate) fn for_each_row_to_copy(
        self,
        wanted: impl FnMut(Range<u32>) -> bool,
        mut visit: impl FnMut(u32, Option<&[u8]>) -> Result<()>,
    ) -> Result<()> {
        let added = self.schema.fields().iter().skip(self.n_own_fields());
        let n_added = added.filter(|field| field.is_in_rows()).count();
        let mut wider = vec![];
        self.for_each_stored_row(wanted, |doc, row| match row {
            Some(row) if n_added > 0 => {
                self.widen(row, n_added, &mut wider).ok_or_else(|| self.other_row(doc))?;
                visit(doc, Some(&wider))
            }
            row => visit(doc, row),
        })
    }

    /// Makes a stored row one of a schema with so many more stored fields, of which it has no values.
    fn widen(self, row: &[u8], n_added: usize, wider: &mut Vec<u8>) -> Option<()> {
        wider.clear();
        let mut values = row;
        match self.schema.bare_stored_field(self.n_own_fields()) {
            Some(_) => {
                write_varint(wider, 1);
                write_varint(wider, row.len() as u64);
            }
            None => {
                let mut reader = ByteReader::new(row);
                self.lengths_in(&mut reader)?;
                values = reader.remaining();
                wider.extend_from_slice(&row[..reader.position()]);
            }
        }
        (0..n_added).for_each(|_| write_varint(wider, 0));
        wider.extend_from_slice(values);
        Some(())
    }

    /// Calls `visit` with the stored row of every document as it is.
    fn for_each_stored_row(
        self,
        wanted: impl FnMut(Range<u32>) -> bool,
        visit: impl FnMut(u32, Option<&[u8]>) -> Result<()>,
    ) -> Result<()> {
        let reader = self.stored_reader()?;
        if reader.n_docs() != self.n_docs {
            return Err(Error::corrupt("counting the rows of a segment")
                .expected(self.n_docs.to_string())
                .found(reader.n_docs().to_string()));
        }
        reader.for_each(wanted, visit)
    }

    fn read_row(self, row: &[u8]) -> Option<Vec<(FieldId, Value)>> {
        let value = |field: FieldId, bytes: &[u8]| match self.schema.get(field).kind {
            kind if kind.is_typed() => value::value_of_term(kind, bytes),
            _ => String::from_utf8(bytes.to_vec()).ok().map(Value::Text),
        };
        if let Some(field) = self.schema.bare_stored_field(self.n_own_fields()) {
            return Some(vec![(field, value(field, row)?)]);
        }
        let mut reader = ByteReader::new(row);
        let lengths = self.lengths_in(&mut reader)?;
        let values =
            lengths.into_iter().map(|(field, len)| Some((field, value(field, reader.take(len)?)?)));
        let values = values.collect::<Option<Vec<_>>>()?;
        reader.remaining().is_empty().then_some(values)
    }

    /// The fields of a row of several, each with the length of a value, which follow in the same order.
    fn lengths_in(self, reader: &mut ByteReader<'_>) -> Option<Vec<(FieldId, usize)>> {
        let mut lengths = vec![];
        for field in self.own_stored_fields() {
            for _ in 0..reader.varint()? {
                lengths.push((field, usize::try_from(reader.varint()?).ok()?));
            }
        }
        Some(lengths)
    }
}

/// Points of a field by place, and the tree over them.
#[derive(Clone, Debug)]
pub(crate) struct FieldPages<'s> {
    pub(crate) pages: Pages<Section<'s>>,
    pub(crate) boxes: Boxes<Section<'s>>,
}

/// One field of one segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldReader<'s> {
    segment: SegmentReader<'s>,
    field: FieldId,
}

impl<'s> FieldReader<'s> {
    fn section(self, kind: SectionKind) -> Result<Section<'s>> {
        self.segment.file.of_field(self.field)?.require(Some(self.field), kind)
    }

    /// Whether a document of its segment is deleted.
    pub(crate) fn is_deleted(self, doc: u32) -> Result<bool> {
        self.segment.is_deleted(doc)
    }

    /// Incompatible features of the file that has it.
    pub(crate) fn features(self) -> Result<u32> {
        Ok(self.segment.file.of_field(self.field)?.features())
    }

    /// The dictionary; the first to ask for it reads the header of its index.
    #[inline]
    pub(crate) fn terms(self) -> Result<TermDictionary<Section<'s>>> {
        let dictionary = self.segment.file.of_field(self.field)?.dictionary(self.field)?;
        self.segment.expect_n_docs("dictionary", dictionary.n_docs())?;
        match dictionary.detail() == self.detail() {
            true => Ok(dictionary),
            false => Err(self.other_detail(dictionary.detail())),
        }
    }

    #[cold]
    fn other_detail(self, found: Detail) -> Error {
        Error::corrupt("reading the dictionary of a field")
            .expected(format!("{:?}, as in the schema", self.detail()))
            .found(format!("{found:?}"))
            .in_file(self.segment.file.path())
    }

    /// Detail that is kept of each occurrence.
    pub(crate) fn detail(self) -> Detail {
        self.segment.schema.get(self.field).detail
    }

    /// Length of the field in each document; `None` if it keeps no frequencies.
    pub(crate) fn lengths(self) -> Result<Option<FieldNorms<Section<'s>>>> {
        if !self.detail().has_frequencies() {
            return Ok(None);
        }
        let lengths = FieldNorms::open(self.section(SectionKind::LENGTHS)?)?;
        self.segment.expect_n_docs("lengths", lengths.n_docs())?;
        Ok(Some(lengths))
    }

    /// Offsets of the words of each document; `None` if the field does not keep them.
    pub(crate) fn offsets(self) -> Result<Option<Offsets<Section<'s>>>> {
        if !self.segment.schema.get(self.field).offsets {
            return Ok(None);
        }
        let offsets = Offsets::open(self.section(SectionKind::OFFSETS)?)?;
        self.segment.expect_n_docs("offsets", offsets.n_docs())?;
        Ok(Some(offsets))
    }

    /// The values in document order; `None` if the field keeps no column.
    pub(crate) fn column(self) -> Result<Option<Column<Section<'s>>>> {
        if !self.segment.schema.get(self.field).column {
            return Ok(None);
        }
        let column = Column::open(self.section(SectionKind::COLUMN)?)?;
        self.segment.expect_n_docs("column", column.n_docs())?;
        Ok(Some(column))
    }

    /// The vectors of the documents; `None` if the field has other values.
    pub(crate) fn vectors(self) -> Result<Option<Vectors<Section<'s>>>> {
        let Some(params) = self.segment.schema.get(self.field).kind.vector() else {
            return Ok(None);
        };
        let (rows, docs) =
            (self.section(SectionKind::VECTORS)?, self.section(SectionKind::VECTOR_DOCS)?);
        let vectors = Vectors::open(rows, docs, params)?;
        self.segment.expect_n_docs("vectors", vectors.n_docs())?;
        Ok(Some(vectors))
    }

    /// The points of the documents; `None` if the field has other values.
    pub(crate) fn points(self) -> Result<Option<Points<Section<'s>>>> {
        if !self.segment.schema.get(self.field).kind.is_point() {
            return Ok(None);
        }
        let points = Points::open(self.section(SectionKind::POINTS)?)?;
        self.segment.expect_n_docs("points", points.n_docs())?;
        Ok(Some(points))
    }

    /// The pages of so many points; `None` if the segment has none of the field.
    pub(crate) fn pages(self, n_points: u64) -> Result<Option<FieldPages<'s>>> {
        let file = self.segment.file.of_field(self.field)?;
        let Some(boxes) = file.section(Some(self.field), SectionKind::BOXES) else {
            return Ok(None);
        };
        let boxes = Boxes::open(boxes)?;
        if boxes.n_points() != n_points {
            return Err(Error::corrupt("opening the boxes of points")
                .expected(format!("boxes of {n_points} points"))
                .found(boxes.n_points().to_string())
                .in_file(file.path()));
        }
        let pages = Pages::open(file.require(Some(self.field), SectionKind::PAGES)?);
        Ok(Some(FieldPages { pages, boxes }))
    }

    /// The graph over so many vectors; `None` if the segment has none of the field.
    pub(crate) fn graph(self, n_vectors: u32) -> Result<Option<FieldGraph<'s>>> {
        let Some(params) = self.segment.schema.get(self.field).kind.vector() else {
            return Ok(None);
        };
        let file = self.segment.file.of_field(self.field)?;
        FieldGraph::open(file, self.field, n_vectors, params)
    }

    /// The recall that was measured of the graph; `None` if there is none.
    pub(crate) fn curve(self) -> Result<Option<StoredCurve>> {
        read_curve(self.segment.file.of_field(self.field)?, self.field)
    }

    /// Whether its terms are values that compare as codes do.
    pub(crate) fn has_codes(self) -> bool {
        self.segment.schema.get(self.field).kind.has_codes()
    }

    /// Whether it is known that no document has two values.
    pub(crate) fn has_one_value_each(self) -> Result<bool> {
        let column = self.column()?;
        Ok(column.is_some_and(|column| column.n_values() == u64::from(column.n_with())))
    }

    /// Number of documents of the terms before each block of its dictionary; `None` if a document may have two values,
    /// or the segment was written before there were such sums.
    pub(crate) fn cumulative(self, n_blocks: u32) -> Result<Option<Cumulative<Section<'s>>>> {
        let file = self.segment.file.of_field(self.field)?;
        let section = file.section(Some(self.field), SectionKind::CUMULATIVE);
        section.map(|section| Cumulative::open(section, n_blocks)).transpose()
    }

    /// Number of documents that have one of the terms between two numbers, if that is known without reading their
    /// lists.
    pub(crate) fn documents_between(self, ordinals: Range<u32>) -> Result<Option<u32>> {
        let dictionary = self.terms()?;
        let Some(cumulative) = self.cumulative(dictionary.n_blocks())? else { return Ok(None) };
        let before = |ordinal| dictionary.documents_before(ordinal, &cumulative);
        let (start, end) = (before(ordinals.start)?, before(ordinals.end.max(ordinals.start))?);
        let n = end.checked_sub(start).filter(|n| *n <= self.segment.n_docs());
        n.map(Some).ok_or_else(|| {
            cumulative
                .damage(0, format!("{start} documents before those of terms, {end} with these"))
        })
    }

    /// The documents of a term with what ranking and phrases need. A short list is decoded with its frequencies; of a
    /// long one the headers are read. A usage error where the field keeps no frequencies.
    pub(crate) fn ranked(self, info: &TermInfo) -> Result<RankedList<'s, Section<'s>>> {
        self.ranked_in(info, &mut FreeLists::default())
    }

    /// Works like [`ranked`](Self::ranked), a short list in memory of `free`.
    pub(crate) fn ranked_in(
        self,
        info: &TermInfo,
        free: &mut FreeLists<u32>,
    ) -> Result<RankedList<'s, Section<'s>>> {
        let detail = self.detail();
        if !detail.has_frequencies() {
            let name = &self.segment.schema.get(self.field).name;
            return Err(Error::new(ErrorKind::Usage, format!("ranking by the field '{name}'"))
                .expected("frequencies")
                .found("a field that does not keep them"));
        }
        let mut docs = free.take();
        docs.clear();
        let (bytes, at) = match &info.postings {
            PostingsAt::Inline(of_term) => {
                self.expect_inside(of_term)?;
                docs.extend_from_slice(of_term.as_slice());
                (self.terms()?.occurrences(of_term)?, 0)
            }
            PostingsAt::Section { offset, len, .. } if info.df as usize <= SHORT_DOCS_MAX => {
                let section = self.section(SectionKind::POSTINGS)?;
                let bytes = section.bytes(*offset..offset.saturating_add(u64::from(*len)))?;
                docs.reserve(3 * info.df as usize);
                docs.resize(info.df as usize, 0);
                let end = read_docs(&bytes, self.segment.n_docs, &mut docs);
                (bytes, end.ok_or_else(|| self.past_the_end())?)
            }
            PostingsAt::Section { offset, len, ranked_len } => {
                let PostingList::Long(list) = self.postings(info)? else {
                    return Err(self.past_the_end());
                };
                let section = self.section(SectionKind::POSTINGS)?;
                let at = offset.saturating_add(u64::from(*len));
                let list = RankedLong::open(list, section, at, *ranked_len, detail)?;
                free.give(docs);
                return Ok(RankedList::Long(list));
            }
        };
        let list = RankedShort::read(docs, bytes, at, detail);
        list.map(RankedList::Short).ok_or_else(|| {
            Error::corrupt("reading the occurrences of a term")
                .expected(format!("those in {} documents", info.df))
                .found("other bytes")
                .in_file(self.segment.file.path())
        })
    }

    /// Appends the occurrences of a term as one stream, see [`occurrences`](crate::format::occurrences).
    pub(crate) fn append_occurrences(self, info: &TermInfo, out: &mut Vec<u8>) -> Result<()> {
        match self.ranked(info)? {
            RankedList::Short(list) => out.extend_from_slice(list.stream()),
            RankedList::Long(list) => list.append_occurrences(out)?,
        }
        Ok(())
    }

    fn inline(self, docs: &InlineDocs) -> Result<ShortList> {
        self.expect_inside(docs)?;
        Ok(ShortList::from_slice(docs.as_slice()))
    }

    fn expect_inside(self, docs: &InlineDocs) -> Result<()> {
        match docs.as_slice().last().is_some_and(|&last| last >= self.segment.n_docs) {
            true => Err(self.past_the_end()),
            false => Ok(()),
        }
    }

    /// The documents of a term of this field: short lists decoded, of long ones the header.
    pub(crate) fn postings(self, info: &TermInfo) -> Result<PostingList<'s, Section<'s>>> {
        match &info.postings {
            PostingsAt::Inline(docs) => self.inline(docs).map(PostingList::Short),
            PostingsAt::Section { offset, len, .. } => {
                let section = self.section(SectionKind::POSTINGS)?;
                let (df, n_docs) = (info.df, self.segment.n_docs);
                PostingList::open(section, *offset, *len, df, n_docs, self.detail())
            }
        }
    }

    /// The list of a term with more documents than a short list has; reads its head.
    pub(crate) fn long_postings(
        self,
        info: &TermInfo,
        offset: u64,
        len: u32,
    ) -> Result<LongList<'s, Section<'s>>> {
        LongList::open_counted(self.section(SectionKind::POSTINGS)?, offset, len, info.df)
    }

    /// Calls `take` with each document of a short list.
    pub(crate) fn short_postings(self, info: &TermInfo, mut take: impl FnMut(u32)) -> Result<()> {
        self.short_docs(info, |docs| docs.iter().for_each(|doc| take(*doc)))
    }

    /// Calls `take` with the documents of a short list.
    pub(crate) fn short_docs(self, info: &TermInfo, take: impl FnOnce(&[u32])) -> Result<()> {
        match info.postings {
            PostingsAt::Inline(docs) => {
                self.expect_inside(&docs)?;
                take(docs.as_slice());
            }
            PostingsAt::Section { offset, len, .. } => {
                let section = self.section(SectionKind::POSTINGS)?;
                let mut docs = [0; SHORT_DOCS_MAX];
                // Nobody asks for more than there are of a short list.
                let docs = docs.get_mut(..info.df as usize).ok_or_else(|| self.past_the_end())?;
                let n_docs = self.segment.n_docs;
                read_short(section, (offset, len), n_docs, self.detail(), docs)?;
                take(docs);
            }
        }
        Ok(())
    }

    /// Reads a short list of a field that keeps occurrences: the bytes that these end with, and their start, see
    /// [`occurrences`](crate::format::occurrences).
    pub(crate) fn short_occurrences(
        self,
        info: &TermInfo,
        take: impl FnMut(u32),
    ) -> Result<(Bytes<'s>, usize)> {
        match &info.postings {
            PostingsAt::Inline(docs) => {
                self.expect_inside(docs)?;
                docs.as_slice().iter().copied().for_each(take);
                Ok((self.terms()?.occurrences(docs)?, 0))
            }
            PostingsAt::Section { offset, len, .. } => {
                let section = self.section(SectionKind::POSTINGS)?;
                let bytes = section.bytes(*offset..offset.saturating_add(u64::from(*len)))?;
                let at = each_short(&bytes, info.df, self.segment.n_docs, take);
                Ok((bytes, at.ok_or_else(|| self.past_the_end())?))
            }
        }
    }

    /// Says that the postings of a term will be asked for soon.
    pub(crate) fn prefetch_postings(self, info: &TermInfo) -> Result<()> {
        if let PostingsAt::Section { offset, len, .. } = info.postings {
            let end = offset.saturating_add(u64::from(len).min(PREFETCH_LEN));
            self.section(SectionKind::POSTINGS)?.prefetch(offset..end);
        }
        Ok(())
    }

    /// Bytes of all posting lists.
    pub(crate) fn postings_len(self) -> Result<u64> {
        Ok(self.section(SectionKind::POSTINGS)?.len())
    }

    #[cold]
    fn past_the_end(self) -> Error {
        Error::corrupt("reading a posting list")
            .expected(format!("documents below {}", self.segment.n_docs))
            .found("a document past the segment's end")
            .in_file(self.segment.file.path())
    }

    /// The documents that have a value.
    pub(crate) fn presence(self) -> Result<LongList<'s, Section<'s>>> {
        let section = self.section(SectionKind::PRESENCE)?;
        LongList::open(section, 0, section.len())
    }

    /// The documents that have an empty value.
    pub(crate) fn empty(self) -> Result<LongList<'s, Section<'s>>> {
        let section = self.section(SectionKind::EMPTY)?;
        LongList::open(section, 0, section.len())
    }

    /// Number of documents with a value, and of tokens.
    pub(crate) fn statistics(self) -> Result<FieldStatistics> {
        Ok(self.segment.statistics()?.fields[self.field.index()])
    }
}
