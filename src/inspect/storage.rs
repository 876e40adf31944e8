//! Bytes of an index by field and part, as the files say.

use super::{ContainerCounts, Inspector, count_containers, deletes_len};
use crate::error::{Error, Result};
use crate::format::envelope::{SectionEntry, SectionKind};
use crate::format::postings::PostingList;
use crate::format::ranked::{RankedBytes, RankedList};
use crate::format::terms::PostingsAt;
use crate::ids::FieldId;
use crate::segment::reader::SegmentReader;

/// Bytes of an index by field and part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StorageReport {
    /// Bytes of all segment files.
    pub total: u64,
    /// Bytes by part, in the order of the files: stored fields, then field by field.
    pub parts: Vec<StoragePart>,
}

/// One part of a [`StorageReport`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoragePart {
    /// The field, if the part belongs to one.
    pub field: Option<String>,
    /// Name of the part, such as `terms` or `postings: bitmap containers`.
    pub part: String,
    /// Bytes in all segments.
    pub bytes: u64,
    /// Number of documents, terms, lists or containers in the part.
    pub count: u64,
}

impl Inspector {
    /// Adds up the bytes of all segments by field and part. Reads every posting list's header.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) for damage.
    pub fn storage(&self) -> Result<StorageReport> {
        let mut report = StorageReport::default();
        for segment in self.snapshot.readers() {
            report.total += segment.file().len();
            let before: u64 = report.parts.iter().map(|part| part.bytes).sum();
            for (kind, count) in
                [(SectionKind::STORED, u64::from(segment.n_docs())), (SectionKind::STORED_INDEX, 0)]
            {
                report.add(None, kind.name(), section_len(segment, None, kind), count);
            }
            // Fields that were added later are in no file of it.
            for field in segment.schema().field_ids().take(segment.n_own_fields()) {
                add_field(segment, field, &mut report)?;
            }
            let counted: u64 = report.parts.iter().map(|part| part.bytes).sum::<u64>() - before;
            let rest = segment.file().len().checked_sub(counted).ok_or_else(|| {
                Error::corrupt("adding up the sections of a segment")
                    .expected(format!("at most its {} bytes", segment.file().len()))
                    .found(counted.to_string())
                    .in_file(segment.file().path())
                    .hint("sections of a crafted file overlap")
            })?;
            report.add(None, "headers, checksums, statistics, padding", rest, 0);
            if segment.deleted().is_some() {
                report.total += deletes_len(segment);
                let n_deleted = segment.n_docs() - segment.n_live();
                report.add(None, "deleted documents", deletes_len(segment), n_deleted.into());
            }
        }
        Ok(report)
    }
}

impl StorageReport {
    fn add(&mut self, field: Option<&str>, part: &str, bytes: u64, count: u64) {
        match self
            .parts
            .iter_mut()
            .find(|known| known.field.as_deref() == field && known.part == part)
        {
            Some(known) => {
                known.bytes += bytes;
                known.count += count;
            }
            None => {
                self.parts.push(StoragePart {
                    field: field.map(str::to_owned),
                    part: part.to_owned(),
                    bytes,
                    count,
                });
            }
        }
    }
}

pub(super) fn section_len(
    segment: SegmentReader<'_>,
    field: Option<FieldId>,
    kind: SectionKind,
) -> u64 {
    let of_section = |entry: &&SectionEntry| entry.field == field && entry.kind == kind;
    segment.file().entries().iter().find(of_section).map_or(0, |entry| entry.len)
}

fn add_field(segment: SegmentReader<'_>, field: FieldId, report: &mut StorageReport) -> Result<()> {
    let name = &segment.schema().get(field).name;
    let reader = segment.field(field);
    let dictionary = reader.terms()?;
    let bytes = dictionary.bytes();
    let n_terms = u64::from(dictionary.n_terms());
    let has_frequencies = reader.detail().has_frequencies();
    for (part, bytes, count) in [
        ("terms: keys", bytes.keys, n_terms),
        ("terms: document counts and inline lists", bytes.infos, n_terms),
        ("terms: occurrences in inline lists", bytes.occurrences, 0),
        ("terms: block headers", bytes.block_headers, 0),
        ("terms: index of blocks", bytes.index, 0),
        ("terms: FST over blocks", bytes.heads, 0),
    ] {
        if has_frequencies || !part.contains("occurrences") {
            report.add(Some(name), part, bytes, count);
        }
    }
    let (mut short, mut short_bytes, mut short_occurrences) = (0, 0, 0);
    let (mut long, mut headers) = (0, 0);
    let mut ranked = RankedBytes::default();
    let (mut counts, mut sizes) = (ContainerCounts::default(), ContainerCounts::default());
    let mut stream = dictionary.iter();
    while let Some((_, _, info)) = stream.next()? {
        let PostingsAt::Section { len, .. } = info.postings else { continue };
        match reader.postings(&info)? {
            PostingList::Short(_) => {
                let occurrences = match has_frequencies.then(|| reader.ranked(&info)).transpose()? {
                    Some(RankedList::Short(list)) => list.stream().len() as u64,
                    Some(RankedList::Long(_)) | None => 0,
                };
                short += 1;
                short_occurrences += occurrences;
                short_bytes += u64::from(len) - occurrences;
            }
            list @ PostingList::Long(_) => {
                if has_frequencies && let RankedList::Long(list) = reader.ranked(&info)? {
                    ranked.add(&list.bytes());
                }
                let before = sizes.array + sizes.bitmap + sizes.run;
                count_containers(&list, &mut counts, &mut sizes);
                long += 1;
                headers += u64::from(len) - (sizes.array + sizes.bitmap + sizes.run - before);
            }
        }
    }
    for (part, bytes, count) in [
        ("postings: short lists", short_bytes, short),
        ("postings: occurrences in short lists", short_occurrences, short),
        ("postings: long lists' headers", headers, long),
        ("postings: array containers", sizes.array, counts.array),
        ("postings: bitmap containers", sizes.bitmap, counts.bitmap),
        ("postings: run containers", sizes.run, counts.run),
        ("ranking: bounds of containers and lists", ranked.heads, long),
        ("ranking: bounds of blocks", ranked.codes, counts.array + counts.bitmap + counts.run),
        ("ranking: directories", ranked.directories, 0),
        ("ranking: frequencies", ranked.frequencies, long),
        ("ranking: positions", ranked.positions, long),
        ("ranking: lengths", section_len(segment, Some(field), SectionKind::LENGTHS), 0),
        ("presence", section_len(segment, Some(field), SectionKind::PRESENCE), 0),
        ("empty", section_len(segment, Some(field), SectionKind::EMPTY), 0),
    ] {
        if has_frequencies || !part.starts_with("ranking") && !part.contains("occurrences") {
            report.add(Some(name), part, bytes, count);
        }
    }
    if segment.schema().get(field).offsets {
        let bytes = section_len(segment, Some(field), SectionKind::OFFSETS);
        report.add(Some(name), "offsets", bytes, segment.n_docs().into());
    }
    if let Some(vectors) = segment.field(field).vectors()? {
        let n_vectors = vectors.n_vectors().into();
        for kind in [SectionKind::VECTORS, SectionKind::VECTOR_DOCS] {
            let bytes = section_len(segment, Some(field), kind);
            report.add(Some(name), kind.name(), bytes, n_vectors);
        }
        let graph = segment.field(field).graph(vectors.n_vectors())?;
        let n_nodes = graph.map_or(0, |graph| graph.n_nodes().into());
        for kind in SectionKind::GRAPH.iter().filter(|_| n_nodes > 0) {
            let bytes = section_len(segment, Some(field), *kind);
            report.add(Some(name), kind.name(), bytes, n_nodes);
        }
    }
    if let Some(points) = segment.field(field).points()? {
        let bytes = section_len(segment, Some(field), SectionKind::POINTS);
        report.add(Some(name), SectionKind::POINTS.name(), bytes, points.n_points());
        let n_pages = segment.field(field).pages(points.n_points())?.map(|it| it.boxes.n_pages());
        for kind in
            [SectionKind::PAGES, SectionKind::BOXES].into_iter().filter(|_| n_pages.is_some())
        {
            let bytes = section_len(segment, Some(field), kind);
            report.add(Some(name), kind.name(), bytes, n_pages.unwrap_or(0).into());
        }
    }
    if let Some(column) = segment.field(field).column()? {
        let bytes = section_len(segment, Some(field), SectionKind::COLUMN);
        report.add(Some(name), "column", bytes, column.n_values());
        let bytes = section_len(segment, Some(field), SectionKind::CUMULATIVE);
        if bytes > 0 {
            report.add(Some(name), "cumulative frequencies", bytes, segment.n_docs().into());
        }
    }
    Ok(())
}
