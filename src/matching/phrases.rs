//! The phrases of a plan, open in its segments.

use crate::error::Result;
use crate::format::terms::TermInfo;
use crate::phrase::{PhraseMemory, PhraseReader};
use crate::plan::Plan;
use crate::recycle::{FreeLists, recycled};
use smallvec::SmallVec;

/// Readers whose memory is kept from one execution to the next, each some 15 KiB.
const READERS_KEPT: usize = 8;

/// Readers of the words of each phrase of a plan in one segment.
pub(super) type OfSegment<'s> = Vec<Option<PhraseReader<'s>>>;

/// By segment, what reads the words of phrases; opened when the segment is first read.
#[derive(Debug)]
pub(super) struct Phrases<'s> {
    /// Empty in a plan without phrases.
    by_segment: Vec<OfSegment<'s>>,
    memory: PhrasesMemory,
}

/// The memory of phrases that were open, for others.
#[derive(Debug, Default)]
pub(super) struct PhrasesMemory {
    segments: Vec<OfSegment<'static>>,
    lists: FreeLists<Option<PhraseReader<'static>>>,
    readers: Vec<PhraseMemory>,
}

impl<'s> Phrases<'s> {
    /// None open yet, in as many segments as the plan has.
    pub(super) fn of(plan: &Plan<'_>, mut memory: PhrasesMemory) -> Self {
        let mut by_segment = recycled(std::mem::take(&mut memory.segments));
        if !plan.phrases.is_empty() {
            by_segment.extend(plan.segments.iter().map(|_| recycled(memory.lists.take())));
        }
        Phrases { by_segment, memory }
    }

    /// Opens the lists of all words in one segment, once.
    pub(super) fn open(&mut self, plan: &Plan<'s>, at: usize) -> Result<()> {
        let Some(readers) = self.by_segment.get_mut(at) else { return Ok(()) };
        let part = &plan.segments[at];
        for phrase in plan.phrases.iter().skip(readers.len()) {
            let infos: SmallVec<[Option<TermInfo>; 4]> =
                phrase.leaves.iter().map(|leaf| part.infos[leaf.index()]).collect();
            let field = part.segment.field(phrase.field);
            let mut memory = self.memory.readers.pop().unwrap_or_default();
            readers.push(PhraseReader::open_in(field, &infos, &phrase.spec, &mut memory)?);
        }
        Ok(())
    }

    /// The phrases of a segment that was opened.
    pub(super) fn of_segment(&mut self, at: usize) -> &mut [Option<PhraseReader<'s>>] {
        self.by_segment.get_mut(at).map_or(&mut [], |phrases| &mut phrases[..])
    }

    /// Closes all of them and keeps their memory.
    pub(super) fn into_memory(mut self) -> PhrasesMemory {
        let mut memory = self.memory;
        // The last kept is taken first, so that each phrase finds its own memory again.
        for mut readers in self.by_segment.drain(..).rev() {
            for reader in readers.drain(..).rev().flatten() {
                let mut of_reader = PhraseMemory::default();
                reader.recycle(&mut of_reader);
                memory.readers.push(of_reader);
            }
            memory.lists.give(recycled(readers));
        }
        memory.readers.drain(..memory.readers.len().saturating_sub(READERS_KEPT));
        memory.segments = recycled(self.by_segment);
        memory
    }
}
