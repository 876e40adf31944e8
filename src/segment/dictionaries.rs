//! Knowledge of the dictionaries of a segment's fields.
//!
//! Every search asks one in each segment, so that a dictionary is opened once, and not for every word.

use crate::format::envelope::SectionEntry;
use crate::format::terms::OpenIndex;
use crate::ids::FieldId;
use std::sync::OnceLock;

/// Dictionaries of a file that were opened, by field. Takes 16 bytes a field, and 150 more once it was asked for.
#[derive(Debug)]
pub(crate) struct Dictionaries(Box<[OnceLock<Box<OpenDictionary>>]>);

/// Facts that stay as they are while the file is open.
#[derive(Debug)]
pub(crate) struct OpenDictionary {
    pub(crate) blocks: Place,
    pub(crate) index: Place,
    pub(crate) heads: Place,
    pub(crate) opened: OpenIndex,
}

/// Place of a section in its file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    pub(crate) len: u64,
}

impl Dictionaries {
    /// None open yet of a file with these sections, which are ordered by field.
    pub(crate) fn of(sections: &[SectionEntry]) -> Self {
        let last = sections.iter().rev().find_map(|entry| entry.field);
        let n_fields = last.map_or(0, |last| last.index() + 1);
        Dictionaries((0..n_fields).map(|_| OnceLock::new()).collect())
    }

    #[inline]
    pub(crate) fn get(&self, field: FieldId) -> Option<&OpenDictionary> {
        self.0.get(field.index())?.get().map(|known| &**known)
    }

    /// Keeps one that was opened.
    pub(crate) fn keep(&self, field: FieldId, opened: OpenDictionary) {
        if let Some(slot) = self.0.get(field.index()) {
            slot.get_or_init(|| Box::new(opened));
        }
    }
}
