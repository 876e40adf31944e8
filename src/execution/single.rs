//! Counts by plans of one operator.

use crate::bitmap;
use crate::budget::{self, ns};
use crate::error::Result;
use crate::format::postings::SHORT_DOCS_MAX;
use crate::format::terms::{PostingsAt, TermInfo};
use crate::ids::FieldId;
use crate::phrase::{PhraseReader, PhraseWorkspace};
use crate::plan::{LookUps, leaf};
use crate::query::PhraseSpec;
use crate::segment::deletes::DeletedDocs;
use crate::segment::reader::{FieldReader, SegmentReader};
use smallvec::SmallVec;

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

/// Adds to `total` the documents that have a phrase, as far as it comes.
pub(crate) fn count_phrase<'s>(
    segments: impl Iterator<Item = SegmentReader<'s>>,
    (of_field, phrase): (FieldId, &PhraseSpec),
    look_ups: &LookUps,
    workspace: &mut PhraseWorkspace,
    total: &mut u64,
) -> Result<()> {
    let PhraseWorkspace { rare, words: memory, candidates, windows } = workspace;
    let mut infos = SmallVec::<[_; 4]>::new();
    for segment in segments {
        infos.clear();
        let terms = phrase.terms.iter().map(|term| &term[..]);
        look_ups.get_all(segment, of_field, terms, |info| {
            infos.push(info);
            Ok(())
        })?;
        let (field, deleted) = (segment.field(of_field), segment.deleted());
        if rare.find(field, &infos, phrase)? {
            for (doc, _) in rare.matches() {
                *total += u64::from(!deleted.map_or(Ok(false), |deleted| deleted.contains(doc))?);
            }
        } else if let Some(mut words) = PhraseReader::open_in(field, &infos, phrase, memory)? {
            words.windows(windows, candidates);
            for window in &*windows {
                words.candidates(window.key, candidates)?;
                if let Some(deleted) = deleted {
                    // Before their words are placed, which costs more.
                    deleted.leave_out(window.key, &mut candidates.lows)?;
                }
                words.retain(window.key, &mut candidates.lows)?;
                *total += candidates.lows.len() as u64;
            }
            words.recycle(memory);
        }
    }
    Ok(())
}

/// Counts the documents of a term that are not deleted: those of the dictionary less those in both lists.
fn count_live(field: FieldReader<'_>, info: &TermInfo, deleted: &DeletedDocs) -> Result<u64> {
    let mut gone = 0;
    match info.postings {
        PostingsAt::Section { offset, len, .. } if info.df as usize > SHORT_DOCS_MAX => {
            let (list, deleted) = (field.long_postings(info, offset, len)?, deleted.list()?);
            let mut at = 0;
            for nth in 0..list.n_containers() {
                let key = list.key(nth);
                at = leaf::seek(&deleted, at, key.into());
                if at < deleted.n_containers() && deleted.key(at) == key {
                    budget::work(ns::WINDOW_STEP)?;
                    let (ours, theirs) = (list.payload(nth)?, deleted.payload(at)?);
                    let shared = bitmap::and_count(
                        list.container(nth, &ours)?,
                        list.container_cardinality(nth),
                        deleted.container(at, &theirs)?,
                        deleted.container_cardinality(at),
                    );
                    gone += u64::from(shared);
                }
            }
        }
        _ => {
            let (mut failed, mut lookup) = (Ok(()), deleted.lookup()?);
            field.short_postings(info, |doc| match lookup.contains(doc) {
                Ok(is_deleted) => gone += u64::from(is_deleted),
                Err(error) => failed = Err(error),
            })?;
            failed?;
        }
    }
    // Numbers in crafted lists may be anything.
    Ok(u64::from(info.df).saturating_sub(gone))
}
