//! The dictionaries of one field of several segments into one, with the posting lists.

use crate::error::{Error, Result};
use crate::format::occurrences::OccurrenceReader;
use crate::format::postings;
use crate::format::ranked::{RankedWriter, Ranking};
use crate::format::terms::{INLINE_DOCS_MAX, INLINE_OCCURRENCES_MAX, NewTerm, TermInfo};
use crate::ids::FieldId;
use crate::segment::builder::FieldWriter;
use crate::segment::ordinals::OrdinalMap;
use crate::segment::reader::FieldReader;
use crate::writer::merge_segments::{MergeState, Part};
use crate::writer::merged_terms::MergedTerms;

/// Merges the terms; with the numbers that those of each part get, where the field keeps a column of them.
pub(super) fn merge_terms(
    all: &MergeState<'_>,
    field: FieldId,
    ranking: &Ranking,
    writer: &mut FieldWriter<'_>,
) -> Result<Vec<OrdinalMap>> {
    let parts = &all.parts;
    let has_ordinals =
        parts.first().is_some_and(|part| part.reader.schema().get(field).has_ordinals());
    let mut ordinals = vec![OrdinalMap::default(); if has_ordinals { parts.len() } else { 0 }];
    let mut n_terms = 0;
    let mut terms = MergedTerms::open(parts.iter().map(|part| part.reader.field(field)))?;
    let mut merger = TermMerger {
        ranking,
        reorders: all.reorders,
        docs: vec![],
        postings: vec![],
        occurrences: vec![],
        of_part: vec![],
        bytes: vec![],
        ranked: RankedWriter::default(),
    };
    while let Some(term) = terms.next(|nth, info| {
        // If the term goes with its documents, none is left that would ask for its number.
        if let Some(of_part) = ordinals.get_mut(nth) {
            of_part.push(n_terms);
        }
        merger.add(parts[nth].reader.field(field), info, &parts[nth])
    })? {
        merger.put_in_order();
        if !merger.docs.is_empty() {
            merger.write(term, writer)?;
            n_terms += 1;
        }
        merger.clear();
    }
    Ok(ordinals)
}

/// One term of all segments.
struct TermMerger<'a> {
    ranking: &'a Ranking,
    /// Whether new numbers do not ascend as documents come.
    reorders: bool,
    docs: Vec<u32>,
    /// Occurrences of each document, until they are in order.
    postings: Vec<Posting>,
    occurrences: Vec<u8>,
    /// Occurrences in a segment where some are left out, or in another order.
    of_part: Vec<u8>,
    bytes: Vec<u8>,
    ranked: RankedWriter,
}

#[derive(Clone, Copy)]
struct Posting {
    doc: u32,
    len: u32,
    start: usize,
}

impl TermMerger<'_> {
    fn clear(&mut self) {
        self.docs.clear();
        self.postings.clear();
        self.occurrences.clear();
        self.bytes.clear();
    }

    fn add(&mut self, field: FieldReader<'_>, info: &TermInfo, part: &Part<'_>) -> Result<()> {
        let from = self.docs.len();
        field.postings(info)?.decode_into(part.reader.n_docs(), &mut self.docs)?;
        if !self.docs[from..].is_sorted_by(|a, b| a < b) {
            return Err(Error::corrupt("merging the documents of a term")
                .expected("ascending numbers")
                .found("others")
                .in_file(part.reader.file().path()));
        }
        let (numbers, detail) = (&part.numbers, self.ranking.detail);
        if !detail.has_frequencies() {
            // There is nothing beside the documents.
        } else if self.reorders || !numbers.keeps_all() {
            self.of_part.clear();
            field.append_occurrences(info, &mut self.of_part)?;
            let mut reader = OccurrenceReader::new(&self.of_part, detail);
            for doc in &self.docs[from..] {
                let start = reader.position_in_bytes();
                reader.skip(1).ok_or_else(ends_early)?;
                if let Some(doc) = numbers.get(*doc) {
                    let of_doc = &self.of_part[start..reader.position_in_bytes()];
                    let (len, start) = (of_doc.len() as u32, self.occurrences.len());
                    self.occurrences.extend_from_slice(of_doc);
                    if self.reorders {
                        self.postings.push(Posting { doc, len, start });
                    }
                }
            }
        } else {
            field.append_occurrences(info, &mut self.occurrences)?;
        }
        let mut left = from;
        for at in from..self.docs.len() {
            if let Some(number) = numbers.get(self.docs[at]) {
                self.docs[left] = number;
                left += 1;
            }
        }
        self.docs.truncate(left);
        Ok(())
    }

    /// Puts documents and occurrences in the order of the new numbers.
    fn put_in_order(&mut self) {
        if !self.reorders || self.docs.is_sorted() {
            return;
        }
        // Stable sorts are fast where parts that are in order stand behind each other.
        if !self.ranking.detail.has_frequencies() {
            return self.docs.sort();
        }
        self.postings.sort_by_key(|posting| posting.doc);
        self.docs.clear();
        self.of_part.clear();
        for Posting { doc, len, start } in &self.postings {
            self.docs.push(*doc);
            self.of_part.extend_from_slice(&self.occurrences[*start..*start + *len as usize]);
        }
        std::mem::swap(&mut self.of_part, &mut self.occurrences);
    }

    fn write(&mut self, term: &[u8], writer: &mut FieldWriter<'_>) -> Result<()> {
        let (docs, occurrences) = (&self.docs, &self.occurrences);
        if docs.len() <= INLINE_DOCS_MAX as usize && occurrences.len() <= INLINE_OCCURRENCES_MAX {
            return writer.add_term(term, NewTerm::Inline { docs, occurrences });
        }
        let df = docs.len() as u32;
        postings::encode(docs, &mut self.bytes);
        let is_long = docs.len() > postings::SHORT_DOCS_MAX;
        if !is_long {
            self.bytes.extend_from_slice(occurrences);
        }
        let len = postings::checked_len(self.bytes.len())?;
        if is_long && self.ranking.detail.has_frequencies() {
            let all = std::iter::once((&occurrences[..], df));
            self.ranked.write(docs, all, self.ranking, &mut self.bytes)?;
        }
        writer.write_postings(&self.bytes)?;
        let ranked_len = self.bytes.len() as u64 - u64::from(len);
        writer.add_term(term, NewTerm::Stored { df, len, ranked_len })
    }
}

#[cold]
pub(super) fn ends_early() -> Error {
    Error::corrupt("reading the occurrences of a term").expected("those of all its documents")
}
