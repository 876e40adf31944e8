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
