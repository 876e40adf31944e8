//! Where words stand in a document: whether it has a phrase, and how often.
//!
//! A [`PhraseReader`] reads the positions of a phrase's words in one segment, for one document after
//! the other: execution asks it whether the documents that have all of the words [match](PhraseReader::matches),
//! ranking asks for the [frequency](PhraseReader::frequency).
//!
//! # What a match is
//!
//! Every word of the phrase takes one of its positions in the document; words of the query that are
//! the same take different ones. With p(i) the position of word i and o(i) its position in the query,
//! which counts words that the analyzer left out, both from the first word on:
//!
//! ```text
//! exact          p(i) − o(i) is the same for all i
//! slop N         the greatest p(i) − o(i) is at most the least + N
//! ordered N      p ascends, and the last less the first is at most that of the query + N
//! near N         the greatest p less the least is at most that of the query + N
//! ```
//!
//! Slop is that of Lucene's phrases (a word between two costs 1, two neighbours in the other order
//! cost 2); ordered and near are its intervals with a bound on the gaps.
//!
//! The frequency is the number of places where an exact phrase begins; of the others, the number of
//! minimal windows: ranges of p(i) − o(i), or of p(i), that are allowed and have no smaller one
//! inside. They may overlap: in `a b a` stand `a` and `b` side by side twice.
//!
//! # Order of work
//!
//! Membership in all lists first, then the frequencies, then the positions from the word that is
//! rarest in the document on, until nothing is left. A list of more than 255 documents is read
//! where it lies, a posting at a time; memory is a list of positions for each word.
//!
//! The last word of a phrase may stand for many terms. What their short lists say is
//! gathered once, at most [`PHRASE_PREFIX_POSITIONS_MAX`](crate::query::PHRASE_PREFIX_POSITIONS_MAX) positions; of long ones there may be
//! [`PHRASE_PREFIX_LISTS_MAX`](crate::query::PHRASE_PREFIX_LISTS_MAX). Beyond that the phrase is refused.

mod list;
mod matching;

use std::fmt;

use crate::error::{Error, ErrorKind, Result};
use crate::expansion::Walk;
use crate::format::terms::TermInfo;
use crate::query::{PhraseSpec, Proximity};
use crate::segment::reader::FieldReader;
use list::WordList;
use matching::{Windows, Word};

/// The words of a phrase in one segment, and memory to place them.
pub(crate) struct PhraseReader<'s> {
    /// One for each different term, the rarest first.
    lists: Vec<WordList<'s>>,
    /// By list, then by offset.
    words: Vec<Word>,
    /// `None` where the words must stand next to each other.
    windows: Option<Windows>,
    /// The positions of each list in the document at hand.
    positions: Vec<Vec<u32>>,
    /// The lists in the order in which their positions are read.
    order: Vec<Found>,
    starts: Vec<u32>,
    work: PhraseWork,
}

/// A list that has the document at hand.
#[derive(Clone, Copy, Debug)]
struct Found {
    frequency: u32,
    list: usize,
    rank: u32,
}

/// What a reader has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PhraseWork {
    /// Documents whose positions were looked at.
    pub(crate) documents: u64,
    pub(crate) positions: u64,
    pub(crate) bytes: u64,
}

impl<'s> PhraseReader<'s> {
    /// Opens the lists of a phrase's words, given what the dictionary of `field` says of each of
    /// [`PhraseSpec::terms`]; `None` where no document has them all.
    ///
    /// # Errors
    ///
    /// A usage error where the field keeps no positions; a limit error where the last word stands for
    /// too many terms.
    pub(crate) fn open(
        field: FieldReader<'s>,
        infos: &[Option<TermInfo>],
        spec: &PhraseSpec,
    ) -> Result<Option<Self>> {
        if !field.detail().has_positions() {
            return Err(Error::new(ErrorKind::Usage, "looking for a phrase")
                .expected("a field that keeps positions")
                .found(format!("{:?}", field.detail())));
        }
        let mut rarest_first = Vec::with_capacity(infos.len());
        for (term, info) in infos.iter().enumerate() {
            let Some(info) = info else { return Ok(None) };
            rarest_first.push((info.df, term));
        }
        rarest_first.sort_unstable();
        let mut lists = Vec::with_capacity(infos.len() + 1);
        let mut list_of_term = vec![0; spec.terms.len()];
        for (list, (_, term)) in rarest_first.into_iter().enumerate() {
            if let (Some(slot), Some(Some(info))) = (list_of_term.get_mut(term), infos.get(term)) {
                *slot = list;
                lists.push(WordList::open(field, info)?);
            }
        }
        let mut words: Vec<Word> = spec
            .words
            .iter()
            .map(|word| Word { offset: word.offset, list: list_of_term[word.term as usize] })
            .collect();
        if let Some((offset, expansion)) = &spec.last {
            let mut infos = vec![];
            expansion.walk(&field.terms()?, |info| {
                infos.push(info);
                Ok(Walk::On)
            })?;
            if infos.is_empty() {
                return Ok(None);
            }
            words.push(Word { offset: *offset, list: lists.len() });
            lists.push(WordList::any_of(field, &infos)?);
        }
        let windows = Windows::new(&words, spec.proximity);
        words.sort_unstable_by_key(|word| (word.list, word.offset));
        Ok(Some(PhraseReader {
            positions: vec![vec![]; lists.len()],
            order: Vec::with_capacity(lists.len()),
            starts: vec![],
            lists,
            words,
            windows,
            work: PhraseWork::default(),
        }))
    }

    /// What was read so far.
    pub(crate) fn work(&self) -> PhraseWork {
        self.work
    }

    /// Whether a document has the phrase.
    pub(crate) fn matches(&mut self, doc: u32) -> Result<bool> {
        Ok(self.count(doc, 1)? > 0)
    }

    /// How often a document has the phrase; 0 where it does not.
    pub(crate) fn frequency(&mut self, doc: u32) -> Result<u32> {
        self.count(doc, u32::MAX)
    }

    /// How often, where no more than `most` need to be counted.
    fn count(&mut self, doc: u32, most: u32) -> Result<u32> {
        self.order.clear();
        for (list, of_word) in self.lists.iter_mut().enumerate() {
            let Some(rank) = of_word.find(doc)? else { return Ok(0) };
            self.order.push(Found { frequency: 0, list, rank });
        }
        self.work.documents += 1;
        // Of two words the positions of both are needed anyway.
        if self.order.len() > 2 {
            for found in &mut self.order {
                found.frequency = self.lists[found.list].frequency(found.rank)?;
            }
            self.order.sort_unstable_by_key(|found| (found.frequency, found.list));
        }
        for at in 0..self.order.len() {
            let Found { list, rank, .. } = self.order[at];
            let positions = &mut self.positions[list];
            self.work.bytes += self.lists[list].positions(doc, rank, positions)? as u64;
            self.work.positions += positions.len() as u64;
            if positions.is_empty() {
                return Ok(0);
            }
            if self.windows.is_none() {
                self.keep_starts(at, list);
                if self.starts.is_empty() {
                    return Ok(0);
                }
            }
        }
        Ok(match &mut self.windows {
            None => u32::try_from(self.starts.len()).unwrap_or(u32::MAX).min(most),
            Some(windows) => windows.count(&self.positions, most),
        })
    }

    /// Keeps the places where the phrase may begin as far as the words of one list say; the `nth`
    /// that is looked at.
    fn keep_starts(&mut self, nth: usize, list: usize) {
        let positions = &self.positions[list];
        let first = self.words.partition_point(|word| word.list < list);
        let of_list = self.words[first..].iter().take_while(|word| word.list == list);
        for (at, word) in of_list.enumerate() {
            match nth + at {
                0 => matching::starts_of(positions, word.offset, &mut self.starts),
                _ => matching::keep_starts(&mut self.starts, positions, word.offset),
            }
        }
    }
}

impl fmt::Debug for PhraseReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PhraseReader({:?}, {:?})", self.words, self.work)
    }
}

/// How the words of a phrase are placed, for a plan.
pub(crate) fn algorithm(spec: &PhraseSpec) -> String {
    let words = spec.len();
    match spec.proximity {
        Proximity::Exact => format!("positions of {words} words, rarest first"),
        Proximity::Slop(slop) => format!("windows of {words} words, at most {slop} moves"),
        Proximity::Ordered(slop) => {
            format!("windows of {words} words in order, at most {slop} others")
        }
        Proximity::Near(slop) => format!("windows of {words} words, at most {slop} others"),
    }
}
