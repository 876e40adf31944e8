//! Documents of a window with all words of a phrase, and their words' codes.

use super::PhraseReader;
use super::list::WordList;
use crate::bitmap::{self, Container, ContainerBuf, Scratch};
use crate::budget::{self, ns};
use crate::error::Result;
use crate::recycle::{heap_bytes, recycled};

/// 65,536 documents among which all words of a phrase are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PhraseWindow {
    /// The upper 16 bits of its documents.
    pub(crate) key: u32,
    /// No word gives a document there a greater score part than this, as parts were when the segment was
    /// written.
    pub(crate) best_part: f32,
}

/// The memory of finding candidates, for the next time.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    scratch: Scratch,
    all: ContainerBuf,
    operands: Vec<(Container<'static>, u32)>,
    of_list: Vec<PhraseWindow>,
    /// The documents, less their upper 16 bits.
    pub(crate) lows: Vec<u16>,
}

heap_bytes!(Candidates { lows, operands, of_list });

/// Documents of a window up to which looking each up costs less than going through all of the lists: mostly the
/// next one has none of them, and the others need not be touched.
const LOOKED_UP_MAX: u32 = 16;

/// Keeps the documents of a window that all lists have.
fn retain_common(lists: &mut [WordList<'_>], key: u32, lows: &mut Vec<u16>) -> Result<()> {
    for list in lists {
        if lows.is_empty() || !list.open_window(key)? {
            lows.clear();
            return Ok(());
        }
        let (documents, _) = list.documents()?;
        lows.retain(|low| documents.contains(*low));
    }
    Ok(())
}

impl PhraseReader<'_> {
    /// Makes `windows` those in which all words have documents, ascending.
    pub(crate) fn windows(&self, windows: &mut Vec<PhraseWindow>, memory: &mut Candidates) {
        windows.clear();
        let Some((first, others)) = self.lists.split_first() else { return };
        first.windows(windows);
        for list in others {
            memory.of_list.clear();
            list.windows(&mut memory.of_list);
            let mut of_list = memory.of_list.iter().peekable();
            windows.retain_mut(|window| {
                while of_list.next_if(|other| other.key < window.key).is_some() {}
                let other = of_list.next_if(|other| other.key == window.key);
                let best_part = other.map_or(0.0, |other| other.best_part);
                window.best_part = window.best_part.min(best_part);
                other.is_some()
            });
        }
    }

    /// Makes `candidates` the documents of a window that have all words.
    pub(crate) fn candidates(&mut self, key: u32, candidates: &mut Candidates) -> Result<()> {
        candidates.lows.clear();
        budget::work(ns::CANDIDATES * self.lists.len() as u64)?;
        let Some((rarest, others)) = self.lists.split_first_mut() else { return Ok(()) };
        if !rarest.open_window(key)? {
            return Ok(());
        }
        let (documents, n_documents) = rarest.documents()?;
        if n_documents <= LOOKED_UP_MAX {
            candidates.lows.extend(documents.iter());
            return retain_common(others, key, &mut candidates.lows);
        }
        for list in others {
            if !list.open_window(key)? {
                return Ok(());
            }
        }
        let Candidates { scratch, all, lows, operands: memory, .. } = candidates;
        let mut operands = recycled(std::mem::take(memory));
        for list in &self.lists {
            operands.push(list.documents()?);
        }
        bitmap::and_all(&mut operands, scratch, all);
        *memory = recycled(operands);
        match all.as_container() {
            Container::Array(values) => {
                lows.extend(values.iter().map(|low| u16::from_le_bytes(*low)))
            }
            many => lows.extend(many.iter()),
        }
        Ok(())
    }

    /// Drops those of the documents of the window at hand that have a word which gives them a smaller score
    /// part than `least` at most; how many.
    pub(crate) fn drop_weak(&mut self, least: f32, lows: &mut Vec<u16>) -> Result<usize> {
        let before = lows.len();
        for list in &mut self.lists {
            if let WordList::Long(list) = list {
                list.drop_weak(least, lows)?;
            }
        }
        Ok(before - lows.len())
    }
}
