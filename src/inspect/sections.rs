//! The sections of the segments' files, and how much of each is in memory now.

use super::Inspector;

/// One section of one segment's file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SectionInfo {
    /// The segment's id, as 32 hexadecimal digits.
    pub segment: String,
    /// The field, if the section belongs to one.
    pub field: Option<String>,
    /// Kind of the section: `terms`, `postings`, `column`, …
    pub section: &'static str,
    /// Offset of the section in the file.
    pub offset: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// Bytes of the section in memory now, in whole pages. Reading them waits for no disk. `None` if the file is not
    /// mapped or the system does not say. Only Linux does, and of files that others own it says that all bytes are in
    /// memory.
    pub resident: Option<u64>,
}

impl Inspector {
    /// All sections, segment by segment in the order of their bytes. Reads nothing of them, so that it changes nothing in what is
    /// in memory.
    pub fn sections(&self) -> Vec<SectionInfo> {
        let mut sections = vec![];
        for segment in self.snapshot.readers() {
            let file = segment.file();
            let first = sections.len();
            sections.extend(file.entries().iter().map(|entry| SectionInfo {
                segment: segment.id().to_string(),
                field: entry.field.map(|field| segment.schema().get(field).name.clone()),
                section: entry.kind.name(),
                offset: entry.offset,
                bytes: entry.len,
                resident: file.resident(entry.offset..entry.offset.saturating_add(entry.len)),
            }));
            sections[first..].sort_by_key(|section| section.offset);
        }
        sections
    }
}
