//! Dictionaries of the fields of a segment, opened once: every search asks one in each segment.

use crate::error::Result;
use crate::format::envelope::{SectionEntry, SectionKind};
use crate::format::terms::{OpenIndex, TermDictionary};
use crate::ids::FieldId;
use crate::segment::file::{Place, Section, SegmentFile};
use std::sync::OnceLock;

/// Knowledge of the dictionaries of a file, by field. Takes 16 bytes a field, and 150 more once it was asked for.
#[derive(Debug)]
pub(crate) struct Dictionaries(Box<[OnceLock<Box<Known>>]>);

/// Facts that stay as they are while the file is open.
#[derive(Debug)]
struct Known {
    blocks: Place,
    index: Place,
    heads: Place,
    opened: OpenIndex,
}

impl Dictionaries {
    /// None open yet of a file with these sections, which are ordered by field.
    pub(crate) fn of(sections: &[SectionEntry]) -> Self {
        let last = sections.iter().rev().find_map(|entry| entry.field);
        Dictionaries(
            (0..last.map_or(0, |field| field.index() + 1)).map(|_| OnceLock::new()).collect(),
        )
    }
}

impl SegmentFile {
    /// The dictionary of a field; opening it for the first time reads the header of its index.
    #[inline]
    pub(crate) fn dictionary(&self, field: FieldId) -> Result<TermDictionary<Section<'_>>> {
        let slot = self.dictionaries().0.get(field.index());
        match slot.and_then(OnceLock::get) {
            Some(known) => {
                let [blocks, index, heads] =
                    [known.blocks, known.index, known.heads].map(|place| self.section_at(place));
                Ok(TermDictionary::opened(blocks, index, heads, known.opened))
            }
            None => self.open_dictionary(field, slot),
        }
    }

    #[cold]
    fn open_dictionary(
        &self,
        field: FieldId,
        slot: Option<&OnceLock<Box<Known>>>,
    ) -> Result<TermDictionary<Section<'_>>> {
        let section = |kind| self.require(Some(field), kind);
        let [blocks, index, heads] =
            [SectionKind::TERMS, SectionKind::TERMS_INDEX, SectionKind::TERMS_HEADS].map(section);
        let (blocks, index, heads) = (blocks?, index?, heads?);
        let dictionary = TermDictionary::open(blocks, index, heads)?;
        if let Some(slot) = slot {
            slot.get_or_init(|| {
                let [blocks, index, heads] = [blocks, index, heads].map(Section::place);
                Box::new(Known { blocks, index, heads, opened: dictionary.open_index() })
            });
        }
        Ok(dictionary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::format::FileName;
    use crate::format::terms::{NewTerm, TermDictionaryWriter};
    use crate::ids::SegmentId;
    use crate::schema::Detail;
    use crate::segment::file::{create, seal};
    use crate::storage::{FsStorage, ReadMode, Storage, TestDirectory};

    #[test]
    fn the_header_of_a_dictionary_is_read_once() {
        const ID: SegmentId = SegmentId([7; 16]);
        const FIELD: FieldId = FieldId(2);
        let directory = TestDirectory::new();
        let storage = FsStorage::create(directory.path(), ReadMode::Pread).unwrap();
        let mut terms = TermDictionaryWriter::new(3, Detail::Documents);
        terms.add(b"paris", NewTerm::Inline { docs: &[1], occurrences: &[] }).unwrap();
        let terms = terms.finish();
        let mut file = create(&storage, ID).unwrap();
        let mut write = |kind, bytes: &[u8]| file.section(Some(FIELD), kind, bytes).unwrap();
        write(SectionKind::TERMS, &terms.blocks);
        write(SectionKind::TERMS_INDEX, &terms.index);
        write(SectionKind::TERMS_HEADS, &terms.heads);
        let seal = seal(file).unwrap();
        let file = storage.open(&FileName::Segment(ID).to_string()).unwrap();
        let segment = SegmentFile::open(file, Some((ID, seal))).unwrap();
        for _ in 0..2 {
            let dictionary = segment.dictionary(FIELD).unwrap();
            // Read again, a block is checked again.
            assert_eq!(segment.blocks().checked, 1);
            assert_eq!((dictionary.n_terms(), dictionary.n_docs()), (1, 3));
        }
        assert_eq!(segment.dictionary(FIELD).unwrap().get(b"paris").unwrap().unwrap().df, 1);
        for field in [FieldId(0), FieldId(3)] {
            assert_eq!(segment.dictionary(field).unwrap_err().kind(), ErrorKind::Corrupt);
        }
    }
}
