//! Matches in a document from the offsets of its words, if the index keeps them.
//!
//! Each term's positions in the document come from its posting list, the bytes at a position from the field's
//! offsets. Patterns are walked once a segment; where they stand for so many terms that looking each up would take
//! longer than analysing the text, the text is analysed.

use std::sync::{Arc, OnceLock};

use super::marks::{FieldMarks, Mark};
use super::terms::FieldTerms;
use crate::budget::{self, ns};
use crate::error::{Error, Result};
use crate::expansion::{Walk, is_walk_too_long};
use crate::format::occurrences::OccurrenceReader;
use crate::format::postings::SHORT_DOCS_MAX;
use crate::format::ranked::{Place, RankedList};
use crate::format::terms::TermInfo;
use crate::ids::DocId;
use crate::segment::reader::FieldReader;
use crate::segment::snapshot::Snapshot;

/// Terms that are looked up in a document at the most.
const TERMS_MAX: usize = 1_024;
/// Bytes of text that take as long to analyse as a term takes to look up.
const BYTES_PER_TERM: usize = 64;

/// A snapshot in which terms are looked up, and what was found of them.
#[derive(Clone, Debug)]
pub(super) struct Lookup {
    snapshot: Arc<Snapshot>,
    /// By field of the highlighter, then by segment: the terms that it has, with their items.
    terms: Vec<OnceLock<Option<Arc<[Asked]>>>>,
}

type Asked = (TermInfo, u32);

impl Lookup {
    pub(super) fn new(snapshot: Arc<Snapshot>, n_fields: usize) -> Self {
        let terms = vec![OnceLock::new(); n_fields * snapshot.segments.len()];
        Lookup { snapshot, terms }
    }

    /// Marks in each value of a document's field, the `nth` of the highlighter; `None` if they are not known or take
    /// longer than to analyse the values.
    pub(super) fn marks(
        &self,
        nth: usize,
        (name, terms): (&str, &FieldTerms),
        doc: DocId,
        values: &[&str],
    ) -> Result<Option<Vec<Vec<Mark>>>> {
        let Some(field) = self.snapshot.manifest.schema.field_id(name) else { return Ok(None) };
        let mut first = 0;
        for (segment, reader) in self.snapshot.readers().enumerate() {
            let here = doc.0.checked_sub(first).filter(|here| *here < reader.n_docs().into());
            first += u64::from(reader.n_docs());
            let Some(here) = here else { continue };
            let field = reader.field(field);
            let known = &self.terms[nth * self.snapshot.segments.len() + segment];
            return marks_in(field, here as u32, values, terms, known);
        }
        Ok(None)
    }
}

fn marks_in(
    field: FieldReader<'_>,
    doc: u32,
    values: &[&str],
    terms: &FieldTerms,
    known: &OnceLock<Option<Arc<[Asked]>>>,
) -> Result<Option<Vec<Vec<Mark>>>> {
    let Some(offsets) = field.offsets()? else { return Ok(None) };
    if known.get().is_none() {
        // Whoever comes first; all find the same.
        let _ = known.set(asked(field, terms)?);
    }
    let n_bytes: usize = values.iter().map(|value| value.len()).sum();
    let asked = known.get().and_then(Option::as_ref);
    let is_worth = |asked: &&Arc<[Asked]>| asked.len() <= 1 + n_bytes / BYTES_PER_TERM;
    let Some(asked) = asked.filter(is_worth) else { return Ok(None) };
    let Some(mut words) = offsets.words(doc)? else { return Ok(None) };
    let mut found = vec![];
    let mut positions = vec![];
    for (info, item) in asked.iter() {
        budget::work(ns::TERM_IN_DOC)?;
        positions_in(field, info, doc, &mut positions)?;
        found.extend(positions.iter().map(|position| (*position, *item)));
    }
    // In the order of the document, so that each block of its words is read once.
    found.sort_unstable();
    let find = |(position, item)| match words.find(position)? {
        Some(word) => Ok((word, item)),
        None => Err(Error::corrupt("looking up the offsets of a word")
            .expected(format!("a word at position {position} of document {doc}"))
            .found("none")),
    };
    let found = found.into_iter().map(find).collect::<Result<Vec<_>>>()?;
    let mut ends = values.iter().scan(0, |end, value| {
        *end += value.len();
        Some((*end - value.len(), *end, *value))
    });
    let (mut marked, mut value) = (FieldMarks::new(terms), ends.next());
    for (word, item) in found {
        let (from, to) = (word.start as usize, (word.start + word.len) as usize);
        while value.is_some_and(|(_, end, _)| end <= from) {
            value = ends.next();
        }
        // The given value may be another text than the index knows.
        if let Some((start, _, value)) = value
            && value.get(from - start..to - start).is_some()
        {
            marked.add(Mark { from, to, item }, word.position);
        }
    }
    Ok(Some(marked.marks(values)))
}

/// The terms of a segment that were asked for; `None` if they are too many.
fn asked(field: FieldReader<'_>, terms: &FieldTerms) -> Result<Option<Arc<[Asked]>>> {
    let dictionary = field.terms()?;
    let mut asked = vec![];
    for (term, item) in terms.terms() {
        asked.extend(dictionary.get(term)?.map(|info| (info, item)));
    }
    for (pattern, item) in terms.patterns() {
        let walked = pattern.walk(&dictionary, |info| {
            asked.push((info, item));
            Ok(if asked.len() > TERMS_MAX { Walk::Stop } else { Walk::On })
        });
        match walked {
            Ok(walked) if !walked.cut => {}
            Ok(_) => return Ok(None),
            // A walk that would be too long says nothing of the text.
            Err(error) if is_walk_too_long(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(asked.into()))
}

/// Replaces `positions` by those of a term in a document; by none if it is not in it.
fn positions_in(
    field: FieldReader<'_>,
    info: &TermInfo,
    doc: u32,
    positions: &mut Vec<u32>,
) -> Result<()> {
    positions.clear();
    if info.df as usize > SHORT_DOCS_MAX {
        let RankedList::Long(list) = field.ranked(info)? else { return Ok(()) };
        let Some(rank) = list.walk().rank(doc)? else { return Ok(()) };
        let Some(mut reader) = list.reader() else { return Ok(()) };
        let mut place = Place::default();
        reader.place(rank, &mut place)?;
        reader.positions(&place, u32::MAX, positions)?;
        return Ok(());
    }
    let (mut n_before, mut is_in) = (0, false);
    let (bytes, at) = field.short_occurrences(info, |other| {
        n_before += usize::from(other < doc);
        is_in |= other == doc;
    })?;
    if !is_in {
        return Ok(());
    }
    let mut read = || {
        let mut occurrences = OccurrenceReader::new(bytes.get(at..)?, field.detail());
        occurrences.skip(n_before)?;
        occurrences.frequency()?;
        occurrences.positions(positions)
    };
    read().ok_or_else(|| {
        Error::corrupt("reading the positions of a term")
            .expected(format!("those in {} documents", info.df))
            .found("other bytes")
    })
}
