//! Counts of one term, and of one phrase.

use super::Execution;
use crate::bitmap;
use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::postings::SHORT_DOCS_MAX;
use crate::format::terms::{PostingsAt, TermInfo};
use crate::ids::FieldId;
use crate::look_ups::LookUps;
use crate::phrase::{PhraseReader, PhraseWork, PhraseWorkspace};
use crate::plan::WINDOW;
use crate::query::PhraseSpec;
use crate::segment::deletes::DeletedDocs;
use crate::segment::reader::{FieldReader, SegmentReader};
use smallvec::SmallVec;
use std::time::Instant;

/// Adds to `total` the documents that have a term, as far as it comes.
pub(crate) fn count_term<'s>(
    segments: impl Iterator<Item = SegmentReader<'s>>,
    (field, term): (FieldId, &[u8]),
    look_ups: &LookUps,
    total: &mut u64,
) -> Result<()> {
    for segment in segments {
        if let Some(info) = look_ups.get(segment, field, term)? {
            *total += match segment.deleted() {
                None => u64::from(info.df),
                Some(deleted) => count_live(segment.field(field), &info, deleted)?,
            };
        }
    }
    Ok(())
}

impl Execution<'_> {
    /// Adds the documents of a segment that have the phrase which is the whole plan to `total`, as far as it comes.
    pub(super) fn count_phrase(&mut self, at: usize, total: &mut u64) -> Result<()> {
        let started = self.profile.timed.then(Instant::now);
        let (part, phrase) = (&self.plan.segments[at], &self.plan.phrases[0]);
        let infos: SmallVec<[_; 4]> =
            phrase.leaves.iter().map(|leaf| part.infos[leaf.index()]).collect();
        let (mut profile, root) = (self.profile.segment_mut(at), self.plan.root());
        let before = *total;
        let done = phrase_of_segment(
            part.segment.field(phrase.field),
            (&infos, &phrase.spec),
            part.segment.deleted().map(|deleted| &**deleted),
            &mut self.memory.phrase,
            |key, documents| {
                profile.found(key, documents);
                *total += u64::from(documents);
            },
        );
        let of_root = &mut profile.nodes[root.index()];
        of_root.documents_out = *total - before;
        of_root.stopped = done.as_ref().is_err_and(budget::is_stop);
        let (candidates, work) = done?;
        of_root.documents_in = candidates;
        of_root.placed(work);
        of_root.time_ns = started.map_or(0, |started| started.elapsed().as_nanos() as u64);
        Ok(())
    }
}

/// Calls `found` with the number of documents of each window that have a phrase. Returns the number of those with all words, and
/// the work of placing them.
fn phrase_of_segment(
    field: FieldReader<'_>,
    (infos, phrase): (&[Option<TermInfo>], &PhraseSpec),
    deleted: Option<&DeletedDocs>,
    workspace: &mut PhraseWorkspace,
    mut found: impl FnMut(u32, u32),
) -> Result<(u64, PhraseWork)> {
    let PhraseWorkspace { rare, words: memory, candidates, windows } = workspace;
    if rare.find(field, infos, phrase)? {
        for (doc, _) in rare.matches() {
            if !deleted.map_or(Ok(false), |deleted| deleted.contains(doc))? {
                found(doc / WINDOW, 1);
            }
        }
        return Ok((rare.looked_up().1, rare.work()));
    }
    let Some(mut words) = PhraseReader::open_in(field, infos, phrase, memory)? else {
        return Ok(<_>::default());
    };
    let mut n_candidates = 0;
    words.windows(windows, candidates);
    for window in &*windows {
        words.candidates(window.key, candidates)?;
        if let Some(deleted) = deleted {
            // Before their words are placed, which costs more.
            deleted.leave_out(window.key, &mut candidates.lows)?;
        }
        n_candidates += candidates.lows.len() as u64;
        words.retain(window.key, &mut candidates.lows)?;
        found(window.key, candidates.lows.len() as u32);
    }
    let work = words.work();
    words.recycle(memory);
    Ok((n_candidates, work))
}

/// Counts the documents of a term that are not deleted: those of the dictionary less those in both lists.
fn count_live(field: FieldReader<'_>, info: &TermInfo, deleted: &DeletedDocs) -> Result<u64> {
    let mut gone = 0;
    match info.postings {
        PostingsAt::Section { offset, len, .. } if info.df as usize > SHORT_DOCS_MAX => {
            let list = field.long_postings(info, offset, len)?;
            for nth in 0..list.n_containers() {
                if let Some((theirs, n_theirs)) = deleted.window(list.key(nth).into())? {
                    budget::work(ns::WINDOW_STEP)?;
                    let (payload, n_ours) = (list.payload(nth)?, list.container_cardinality(nth));
                    let ours = list.container(nth, &payload)?;
                    gone += u64::from(bitmap::and_count(ours, n_ours, theirs, n_theirs));
                }
            }
        }
        _ => {
            let (mut failed, mut window) = (Ok(()), (u32::MAX, None));
            field.short_postings(info, |doc| {
                if window.0 != doc / WINDOW {
                    let read = deleted.window(doc / WINDOW);
                    window = (
                        doc / WINDOW,
                        read.unwrap_or_else(|error| {
                            failed = Err(error);
                            None
                        }),
                    );
                }
                gone += u64::from(window.1.is_some_and(|(bits, _)| bits.contains(doc as u16)));
            })?;
            failed?;
        }
    }
    // Numbers in crafted lists may be anything.
    Ok(u64::from(info.df).saturating_sub(gone))
}
