//! Look-up of one document in a plan's operators, without carrying the plan out.
//!
//! Cost: a container for a list, one value for a column; of a pattern without a column one look into the
//! list of each of its terms, until one has the document; of a phrase the positions of its words there.

use super::{column, points};
use crate::budget::{self, ns};
use crate::error::Result;
use crate::expansion::Walk;
use crate::format::postings::{LongList, PostingList};
use crate::format::terms::TermInfo;
use crate::phrase::PhraseReader;
use crate::plan::leaf::{ColumnValues, Postings};
use crate::plan::{LeafId, LeafKey, Plan, SegmentPlan};
use crate::segment::file::Section;
use crate::segment::reader::FieldReader;

/// Whether a document of a segment is among those that a leaf reads.
pub(crate) fn leaf_has(
    plan: &Plan<'_>,
    part: &SegmentPlan<'_>,
    id: LeafId,
    doc: u32,
) -> Result<bool> {
    let (key, leaf) = (&plan.leaves[id.index()], &part.leaves[id.index()]);
    let field = key.field().map(|field| part.segment.field(field));
    match (&leaf.postings, field) {
        (Postings::Absent, _) => Ok(false),
        (Postings::Everything, _) => Ok(true),
        (Postings::Inline(docs), _) => Ok(docs.as_slice().contains(&doc)),
        (Postings::Long(list), _) => list_has(list, doc),
        (Postings::Short(info) | Postings::LongUnread(info), Some(field)) => {
            term_has(field, info, doc)
        }
        (Postings::PresenceUnread, Some(field)) => list_has(&field.presence()?, doc),
        (Postings::Column(values), _) => column_has(values, doc),
        (Postings::Points(scan), _) => points::has(scan, doc),
        (Postings::Neighbors, _) => Ok(plan.is_neighbor(id, part, doc)),
        (Postings::Terms(terms), Some(field)) => {
            let LeafKey::Expansion { nth, .. } = key else { return Ok(false) };
            let expansion = &plan.expansions[*nth as usize];
            if let Some(values) = leaf.values(expansion, field)? {
                return column_has(&values, doc);
            }
            let mut has = false;
            let mut look = |info: &TermInfo| {
                has = term_has(field, info, doc)?;
                Ok(if has { Walk::Stop } else { Walk::On })
            };
            if terms.walked.cut {
                expansion.walk(&field.terms()?, |info| look(&info))?;
            } else {
                for info in &terms.infos {
                    if look(info)? == Walk::Stop {
                        break;
                    }
                }
            }
            Ok(has)
        }
        // Only what is deleted is of no field, and that is a long list or absent.
        (_, None) => Ok(false),
    }
}

/// Whether a document of a segment has the words of a phrase of the plan where the phrase wants them.
pub(crate) fn phrase_has(
    plan: &Plan<'_>,
    part: &SegmentPlan<'_>,
    nth: u32,
    doc: u32,
) -> Result<bool> {
    let phrase = &plan.phrases[nth as usize];
    let infos: Vec<_> = phrase.leaves.iter().map(|leaf| part.infos[leaf.index()]).collect();
    match PhraseReader::open(part.segment.field(phrase.field), &infos, &phrase.spec)? {
        Some(mut reader) => Ok(reader.frequency(doc)? > 0),
        None => Ok(false),
    }
}

fn term_has(field: FieldReader<'_>, info: &TermInfo, doc: u32) -> Result<bool> {
    budget::work(ns::DOC_IN_TERM)?;
    match field.postings(info)? {
        PostingList::Long(list) => list_has(&list, doc),
        PostingList::Short(docs) => Ok(docs.as_slice().contains(&doc)),
    }
}

fn list_has(list: &LongList<'_, Section<'_>>, doc: u32) -> Result<bool> {
    let Ok(key) = u16::try_from(doc >> 16) else { return Ok(false) };
    let nth = list.seek(key);
    if nth >= list.n_containers() || list.key(nth) != key {
        return Ok(false);
    }
    let payload = list.payload(nth)?;
    Ok(list.container(nth, &payload)?.contains(doc as u16))
}

fn column_has(values: &ColumnValues<'_>, doc: u32) -> Result<bool> {
    let mut lows = vec![doc as u16];
    column::retain(values, doc >> 16, &mut lows)?;
    Ok(!lows.is_empty())
}
