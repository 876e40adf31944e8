//! Phrases with a rare word, whose documents are looked up in the others' lists.
//!
//! A word in at most 255 documents leaves few candidates, and each further word, rarest first, fewer. Lists
//! of long words are not opened once nothing is left, occurrences of short ones not walked, and no
//! window is ever combined. Most phrases that people write have such a word.
//!
//! Cost: a step for each document of a short list, a search in a container for each that is looked up in a long
//! one, and the positions of those that are left. Memory: 4 bytes for a candidate and word.

use super::list::damaged;
use super::matching::{self, Windows, Word};
use super::{PhraseReader, PhraseWork};
use crate::budget::{self, ns};
use crate::bytes::Bytes;
use crate::error::Result;
use crate::format::occurrences::OccurrenceReader;
use crate::format::postings::SHORT_DOCS_MAX;
use crate::format::ranked::{Place, PostingReader, RankedList, RankedLong};
use crate::format::terms::TermInfo;
use crate::query::PhraseSpec;
use crate::recycle::{HeapBytes, recycled};
use crate::schema::Detail;
use crate::segment::file::Section;
use crate::segment::reader::FieldReader;
use std::fmt;

/// The documents of a phrase in one segment, with the memory to find those of another.
#[derive(Default)]
pub(crate) struct RarePhrase {
    /// Documents that have the phrase, ascending.
    docs: Vec<u32>,
    /// Number of times that each has it.
    frequencies: Vec<u32>,
    /// By list, the rarest first, and candidate: its rank in the list.
    ranks: Vec<Vec<u32>>,
    /// By list: the positions in the document at hand.
    positions: Vec<Vec<u32>>,
    starts: Vec<u32>,
    words: Vec<Word>,
    /// Lists by document frequency: the number of the term.
    order: Vec<(u32, u32)>,
    lists: Vec<Occurrences<'static>>,
    looked_up: u64,
    candidates: u64,
    work: PhraseWork,
}

/// The occurrences of a word.
#[expect(clippy::large_enum_variant, reason = "few of them, in memory that is used again")]
enum Occurrences<'s> {
    Short { bytes: Bytes<'s>, at: usize, next: u32 },
    Long(PostingReader<'s, Section<'s>>),
}

impl HeapBytes for RarePhrase {
    fn heap_bytes(&self) -> usize {
        let RarePhrase { ranks, positions, docs, frequencies, starts, words, order, lists, .. } =
            self;
        let numbers = ranks.iter().chain(positions).chain([docs, frequencies, starts]);
        numbers.map(Vec::heap_bytes).sum::<usize>()
            + words.heap_bytes()
            + order.heap_bytes()
            + lists.heap_bytes()
            + ranks.heap_bytes()
            + positions.heap_bytes()
    }
}

impl RarePhrase {
    /// The documents that were found, ascending, and how often each has the phrase.
    pub(crate) fn matches(&self) -> impl ExactSizeIterator<Item = (u32, u32)> + '_ {
        self.docs.iter().copied().zip(self.frequencies.iter().copied())
    }

    /// Documents of the rarest word, and those of them that have all words.
    pub(crate) fn looked_up(&self) -> (u64, u64) {
        (self.looked_up, self.candidates)
    }

    /// Work on positions.
    pub(crate) fn work(&self) -> PhraseWork {
        self.work
    }

    /// Finds all documents that have a phrase, given what the dictionary of `field` says of each of
    /// [`PhraseSpec::terms`]; false, and nothing done, if none of the words is rare, or one stands for many
    /// terms.
    ///
    /// # Errors
    ///
    /// Fails like [`PhraseReader::open`].
    pub(crate) fn find(
        &mut self,
        field: FieldReader<'_>,
        infos: &[Option<TermInfo>],
        spec: &PhraseSpec,
    ) -> Result<bool> {
        let rarest = infos.iter().map(|info| info.as_ref().map_or(0, |info| info.df)).min();
        if !spec.open.is_empty() || rarest.is_none_or(|df| df as usize > SHORT_DOCS_MAX) {
            return Ok(false);
        }
        PhraseReader::expect_positions(field)?;
        self.docs.clear();
        self.frequencies.clear();
        (self.looked_up, self.candidates) = (0, 0);
        self.work = PhraseWork::default();
        if rarest == Some(0) {
            return Ok(true);
        }
        self.order.clear();
        self.order.extend(infos.iter().flatten().zip(0..).map(|(info, term)| (info.df, term)));
        self.order.sort_unstable();
        let mut lists = recycled(std::mem::take(&mut self.lists));
        for nth in 0..infos.len() {
            if let Some(info) = &infos[self.order[nth].1 as usize] {
                lists.push(self.keep_documents(field, info, nth)?);
            }
            if self.docs.is_empty() {
                break;
            }
        }
        self.candidates = self.docs.len() as u64;
        if !self.docs.is_empty() {
            self.place(&mut lists, field.detail(), spec)?;
        }
        self.lists = recycled(lists);
        Ok(true)
    }

    /// Keeps the candidates that the `nth` list has, with their ranks there; all of the first list.
    fn keep_documents<'s>(
        &mut self,
        field: FieldReader<'s>,
        info: &TermInfo,
        nth: usize,
    ) -> Result<Occurrences<'s>> {
        if self.ranks.len() <= nth {
            self.ranks.push(vec![]);
            self.positions.push(vec![]);
        }
        budget::work(ns::RARE_LIST)?;
        let RarePhrase { docs, ranks, .. } = self;
        let (before, own) = ranks.split_at_mut(nth);
        let own = &mut own[0];
        own.clear();
        if info.df as usize > SHORT_DOCS_MAX {
            let RankedList::Long(list) = field.ranked(info)? else { return Err(damaged()) };
            keep_looked_up(&list, docs, before, own)?;
            let reader = list.reader().ok_or_else(damaged)?;
            return Ok(Occurrences::Long(reader));
        }
        let (bytes, at) = if nth == 0 {
            let found = field.short_occurrences(info, |doc| docs.push(doc))?;
            own.extend(0..docs.len() as u32);
            self.looked_up = docs.len() as u64;
            found
        } else {
            let (mut rank, mut next, mut n_kept) = (0, 0, 0);
            let found = field.short_occurrences(info, |doc| {
                while docs.get(next).is_some_and(|candidate| *candidate < doc) {
                    next += 1;
                }
                if docs.get(next) == Some(&doc) {
                    keep(docs, before, n_kept, next);
                    own.push(rank);
                    n_kept += 1;
                    next += 1;
                }
                rank += 1;
            })?;
            docs.truncate(n_kept);
            found
        };
        Ok(Occurrences::Short { bytes, at, next: 0 })
    }

    /// Keeps the candidates in which the words stand as they must.
    fn place(
        &mut self,
        lists: &mut [Occurrences<'_>],
        detail: Detail,
        spec: &PhraseSpec,
    ) -> Result<()> {
        let RarePhrase { order, words, .. } = self;
        let list_of = |term: u32| order.iter().position(|(_, other)| *other == term);
        words.clear();
        words.extend(spec.words.iter().map(|word| Word {
            offset: word.offset,
            list: list_of(word.term).unwrap_or_default(),
        }));
        let mut windows = Windows::new(words, spec.proximity);
        let mut n_kept = 0;
        budget::work(ns::WORDS_PLACED * self.docs.len() as u64)?;
        for candidate in 0..self.docs.len() {
            self.work.counts.candidates += 1;
            self.starts.clear();
            let mut is_possible = true;
            for (nth, list) in lists.iter_mut().enumerate() {
                let limit = match self.starts.last() {
                    Some(start) => start.saturating_add(self.last_offset(nth)),
                    None => u32::MAX,
                };
                let rank = self.ranks[nth][candidate];
                let positions = &mut self.positions[nth];
                self.work.bytes += list.positions(rank, detail, limit, positions)?;
                self.work.counts.positions += positions.len() as u64;
                if windows.is_none() {
                    self.keep_starts(nth);
                    is_possible = !self.starts.is_empty();
                    if !is_possible {
                        break;
                    }
                }
            }
            let frequency = match &mut windows {
                _ if !is_possible => 0,
                Some(windows) => windows.count(&self.positions, u32::MAX),
                None => self.starts.len() as u32,
            };
            if frequency > 0 {
                self.docs[n_kept] = self.docs[candidate];
                self.frequencies.push(frequency);
                n_kept += 1;
            }
        }
        self.docs.truncate(n_kept);
        Ok(())
    }

    /// The greatest offset of a list's words.
    fn last_offset(&self, nth: usize) -> u32 {
        let of_list = self.words.iter().filter(|word| word.list == nth);
        of_list.map(|word| word.offset).max().unwrap_or_default()
    }

    /// Keeps the places where the phrase may begin as far as the words of one list say.
    fn keep_starts(&mut self, nth: usize) {
        let mut is_first = nth == 0;
        for word in self.words.iter().filter(|word| word.list == nth) {
            match std::mem::take(&mut is_first) {
                true => matching::starts_of(&self.positions[nth], word.offset, &mut self.starts),
                false => {
                    matching::keep_starts(&mut self.starts, &self.positions[nth], word.offset);
                }
            }
        }
    }
}

impl fmt::Debug for RarePhrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.matches()).finish()
    }
}

/// Keeps the candidates that a long list has.
fn keep_looked_up(
    list: &RankedLong<'_, Section<'_>>,
    docs: &mut Vec<u32>,
    before: &mut [Vec<u32>],
    own: &mut Vec<u32>,
) -> Result<()> {
    let (mut walk, mut n_kept) = (list.walk(), 0);
    for next in 0..docs.len() {
        if let Some(rank) = walk.rank(docs[next])? {
            keep(docs, before, n_kept, next);
            own.push(rank);
            n_kept += 1;
        }
    }
    docs.truncate(n_kept);
    Ok(())
}

/// Moves a candidate to the end of those that are kept, in all lists that had it.
#[inline]
fn keep(docs: &mut [u32], before: &mut [Vec<u32>], n_kept: usize, next: usize) {
    docs[n_kept] = docs[next];
    for ranks in before {
        ranks[n_kept] = ranks[next];
    }
}

impl Occurrences<'_> {
    /// Replaces `positions` by those in the document of this rank, ranks ascending; how many bytes were read. Positions
    /// behind the first that passes `limit` may be left out.
    fn positions(
        &mut self,
        rank: u32,
        detail: Detail,
        limit: u32,
        positions: &mut Vec<u32>,
    ) -> Result<u64> {
        match self {
            Occurrences::Long(reader) => {
                let mut place = Place::default();
                reader.place(rank, &mut place)?;
                Ok(reader.positions(&place, limit, positions)? as u64)
            }
            Occurrences::Short { bytes, at, next } => {
                let rest = bytes.get(*at..).unwrap_or_default();
                let mut reader = OccurrenceReader::new(rest, detail);
                let mut read = || {
                    reader.skip((rank - *next) as usize)?;
                    reader.frequency()?;
                    reader.positions(positions)
                };
                read().ok_or_else(damaged)?;
                let n_bytes = reader.position_in_bytes();
                *at += n_bytes;
                *next = rank + 1;
                Ok(n_bytes as u64)
            }
        }
    }
}
