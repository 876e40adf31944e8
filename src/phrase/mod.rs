//! Phrases by the positions of their words: whether a document has one, and how often.
//!
//! A [`PhraseReader`] reads the positions of a phrase's words in one segment: execution asks it which of
//! the documents of a window that have all words [match](PhraseReader::retain), ranking for the
//! [frequency](PhraseReader::frequency) in one document; whoever wants the best documents of a phrase
//! [gathers](PhraseReader::gather) what is known of its [candidates](PhraseReader::candidates) first.
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
//! Membership in all lists first. Then, for up to [`GATHERED_MAX`] documents at a time, how often the two words
//! with the shortest lists are in each and where their positions lie; then these positions, some documents after
//! they began to be loaded; and the other words only where those two fit. Lists of more than 255
//! documents are read where they lie, with 4 KiB of each part and 32 postings at hand. Two words with up to
//! eight positions each, which is most of what there is, are compared all with all; otherwise
//! positions are unpacked as far as the phrase may still begin.
//!
//! Cost: 90 ns for a document and two words, 1 to 2 ns for each position beyond eight. Memory: for each word
//! 16 KiB where the file is not mapped, and a list of positions; 24 bytes a document that is gathered.
//!
//! Words of a phrase may stand for many terms each. Documents are looked up in their long lists by the batch, list by
//! list, because each is in few of them. Their short lists are gathered once, at most
//! [`PHRASE_PATTERN_POSITIONS_MAX`](crate::query::PHRASE_PATTERN_POSITIONS_MAX) positions; of long ones there may be
//! [`PHRASE_PATTERN_LISTS_MAX`](crate::query::PHRASE_PATTERN_LISTS_MAX). Beyond that the phrase is refused.

mod candidates;
mod list;
mod matching;
mod rare;

use std::fmt;

use crate::budget::{self, ns};
use crate::error::{Error, ErrorKind, Result};
use crate::format::ranked::Place;
use crate::format::terms::TermInfo;
use crate::query::{PhraseSpec, Proximity};
use crate::recycle::{HeapBytes, heap_bytes, recycled};
use crate::segment::reader::FieldReader;
use crate::sums::sums;
pub(crate) use candidates::{Candidates, PhraseWindow};
use list::{Free, NO_RANK, Room, WordList};
use matching::{Windows, Word};
pub(crate) use rare::RarePhrase;
use smallvec::{SmallVec, smallvec};

/// The words of a phrase in one segment, and memory to place them.
pub(crate) struct PhraseReader<'s> {
    /// One for each different term, the rarest first.
    lists: Vec<WordList<'s>>,
    /// The offsets of each list's words, ascending.
    of_lists: Vec<SmallVec<[u32; 2]>>,
    /// `None` if the words must stand next to each other.
    windows: Option<Windows>,
    gathered: Gathered,
    /// The positions of each list in the document at hand.
    positions: Vec<Vec<u32>>,
    /// Positions at which the phrase may begin in the document at hand.
    starts: Vec<u32>,
    /// Distance of the second word of [`lists`](Self::lists) behind the first, modulo 2³², if few positions may be
    /// compared that way.
    distance: Option<u32>,
    /// Whether each of these two stands once in nearly all of its documents.
    are_mostly_once: bool,
    rank: Vec<u32>,
    work: PhraseWork,
    free: Free,
}

/// The memory of a reader for the next one, of whatever segment.
#[derive(Default)]
pub(crate) struct PhraseMemory {
    lists: Vec<WordList<'static>>,
    of_lists: Vec<SmallVec<[u32; 2]>>,
    gathered: Gathered,
    /// Positions of lists that were read; some may be more than are needed.
    positions: Vec<Vec<u32>>,
    starts: Vec<u32>,
    rank: Vec<u32>,
    free: Free,
}

/// The memory of finding the documents of a phrase, for the next one.
#[derive(Debug, Default)]
pub(crate) struct PhraseWorkspace {
    pub(crate) rare: RarePhrase,
    pub(crate) words: PhraseMemory,
    pub(crate) candidates: Candidates,
    pub(crate) windows: Vec<PhraseWindow>,
}

heap_bytes!(PhraseWorkspace { rare, words, candidates, windows });

impl HeapBytes for PhraseMemory {
    fn heap_bytes(&self) -> usize {
        let PhraseMemory { lists, of_lists, gathered, positions, starts, rank, free } = self;
        let Gathered { docs, ranks, places } = gathered;
        let numbers = [starts, rank, docs].into_iter().chain(ranks).chain(positions);
        numbers.map(Vec::heap_bytes).sum::<usize>()
            + places.iter().map(Vec::heap_bytes).sum::<usize>()
            + lists.heap_bytes()
            + of_lists.heap_bytes()
            + positions.heap_bytes()
            + free.heap_bytes()
    }
}

impl fmt::Debug for PhraseMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PhraseMemory({} bytes)", self.heap_bytes())
    }
}

/// Documents that [`PhraseReader::gather`] takes at once.
pub(crate) const GATHERED_MAX: usize = 256;

/// Documents of which the positions begin to be loaded before those of one are read.
pub(crate) const AHEAD: usize = 8;

/// The greatest offset of words whose positions are compared modulo 2³².
const OFFSET_MAX: u32 = 1 << 16;

/// Postings of the two rarest words for some documents.
#[derive(Debug, Default)]
struct Gathered {
    docs: Vec<u32>,
    ranks: [Vec<u32>; 2],
    places: [Vec<Place>; 2],
}

/// Reads of a node that looks for a phrase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PositionCounts {
    /// Documents with all of the words, in which these were placed.
    pub candidates: u64,
    /// Positions of the words in these documents, as far as they had to be read.
    pub positions: u64,
}

sums! {
    PositionCounts: candidates, positions;
}

/// Work of a reader so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PhraseWork {
    pub(crate) counts: PositionCounts,
    pub(crate) bytes: u64,
}

impl PhraseWork {
    /// The part of it that was done after a moment.
    pub(crate) fn since(self, before: PhraseWork) -> PhraseWork {
        let counts = PositionCounts {
            candidates: self.counts.candidates - before.counts.candidates,
            positions: self.counts.positions - before.counts.positions,
        };
        PhraseWork { counts, bytes: self.bytes - before.bytes }
    }
}

impl<'s> PhraseReader<'s> {
    /// Opens the lists of a phrase's words, given what the dictionary of `field` says of each of
    /// [`PhraseSpec::terms`]; `None` if no document has them all.
    ///
    /// # Errors
    ///
    /// A usage error where the field keeps no positions; a limit error where words stand for too many
    /// terms.
    pub(crate) fn open(
        field: FieldReader<'s>,
        infos: &[Option<TermInfo>],
        spec: &PhraseSpec,
    ) -> Result<Option<Self>> {
        Self::open_in(field, infos, spec, &mut PhraseMemory::default())
    }

    /// Works like [`open`](Self::open), in the memory of readers before.
    pub(crate) fn open_in(
        field: FieldReader<'s>,
        infos: &[Option<TermInfo>],
        spec: &PhraseSpec,
        memory: &mut PhraseMemory,
    ) -> Result<Option<Self>> {
        Self::expect_positions(field)?;
        let mut rarest_first = SmallVec::<[_; 4]>::new();
        for (term, info) in infos.iter().enumerate() {
            let Some(info) = info else { return Ok(None) };
            rarest_first.push((info.df, term));
        }
        rarest_first.sort_unstable();
        let PhraseMemory { lists, mut of_lists, gathered, mut positions, starts, rank, mut free } =
            std::mem::take(memory);
        let mut lists = recycled(lists);
        let mut list_of_term: SmallVec<[usize; 4]> =
            smallvec![0; spec.terms.len() + spec.open.len()];
        for (list, (_, term)) in rarest_first.into_iter().enumerate() {
            if let (Some(slot), Some(Some(info))) = (list_of_term.get_mut(term), infos.get(term)) {
                *slot = list;
                lists.push(WordList::open(field, info, &mut free)?);
            }
        }
        let mut room = Room::default();
        for (expansion, list) in spec.open.iter().zip(&mut list_of_term[spec.terms.len()..]) {
            let Some(any) = WordList::any_of(field, expansion, &mut room)? else { return Ok(None) };
            *list = lists.len();
            lists.push(any);
        }
        let words: SmallVec<[Word; 4]> = spec
            .words
            .iter()
            .map(|word| Word { offset: word.offset, list: list_of_term[word.term as usize] })
            .collect();
        let windows = Windows::new(&words, spec.proximity);
        of_lists.clear();
        of_lists.resize(lists.len(), SmallVec::new());
        positions.resize(lists.len().max(positions.len()), vec![]);
        for word in &words {
            of_lists[word.list].push(word.offset);
        }
        // Positions that are few are too small to meet others that passed 2³² on the way.
        let distance = match (&lists[..], &of_lists[..]) {
            ([WordList::Long(_), WordList::Long(_), ..], [first, second, ..]) => {
                match (&first[..], &second[..]) {
                    ([first], [second]) if *first.max(second) <= OFFSET_MAX => {
                        Some(second.wrapping_sub(*first))
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        Ok(Some(PhraseReader {
            are_mostly_once: lists.iter().take(2).all(WordList::is_mostly_once),
            of_lists,
            gathered,
            positions,
            starts,
            distance: distance.filter(|_| windows.is_none()),
            rank,
            lists,
            windows,
            work: PhraseWork::default(),
            free,
        }))
    }

    /// Ends the reader and keeps its memory.
    pub(crate) fn recycle(self, memory: &mut PhraseMemory) {
        let PhraseReader { mut lists, of_lists, gathered, positions, starts, rank, .. } = self;
        let mut free = self.free;
        // Each list finds its own memory again: what is kept last is taken first.
        lists.drain(..).rev().for_each(|list| list.recycle(&mut free));
        let lists = recycled(lists);
        *memory = PhraseMemory { lists, of_lists, gathered, positions, starts, rank, free };
    }

    fn expect_positions(field: FieldReader<'_>) -> Result<()> {
        match field.detail().has_positions() {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Usage, "looking for a phrase")
                .expected("a field that keeps positions")
                .found(format!("{:?}", field.detail()))),
        }
    }

    /// Work so far.
    pub(crate) fn work(&self) -> PhraseWork {
        self.work
    }

    /// Keeps the documents of a window that have the phrase; given and left in ascending order.
    pub(crate) fn retain(&mut self, key: u32, lows: &mut Vec<u16>) -> Result<()> {
        let mut n_kept = 0;
        for start in (0..lows.len()).step_by(GATHERED_MAX) {
            let len = (lows.len() - start).min(GATHERED_MAX);
            budget::work(ns::WORDS_PLACED * len as u64)?;
            self.gather(key, &lows[start..start + len])?;
            (0..len.min(AHEAD)).for_each(|nth| self.prefetch(nth));
            for nth in 0..len {
                if nth + AHEAD < len {
                    self.prefetch(nth + AHEAD);
                }
                if self.count(nth, 1)? > 0 {
                    lows[n_kept] = lows[start + nth];
                    n_kept += 1;
                }
            }
        }
        lows.truncate(n_kept);
        Ok(())
    }

    /// Number of times that a document has the phrase; 0 if it does not.
    pub(crate) fn frequency(&mut self, doc: u32) -> Result<u32> {
        self.gather(doc >> 16, &[doc as u16])?;
        self.count(0, u32::MAX)
    }

    /// Finds some documents of a window, at most [`GATHERED_MAX`] in ascending order, in the lists of the two
    /// rarest words, for [`least_frequency`](Self::least_frequency), [`prefetch`](Self::prefetch) and
    /// [`count`](Self::count), which know them by their places in `lows`.
    pub(crate) fn gather(&mut self, key: u32, lows: &[u16]) -> Result<()> {
        let Gathered { docs, ranks, places } = &mut self.gathered;
        docs.clear();
        docs.extend(lows.iter().map(|low| key << 16 | u32::from(*low)));
        for list in &mut self.lists {
            list.prepare(key, lows)?;
        }
        for (list, (ranks, places)) in self.lists.iter_mut().zip(ranks.iter_mut().zip(places)) {
            ranks.clear();
            list.ranks(key, lows, ranks)?;
            places.resize(lows.len(), Place::default());
            for (rank, place) in ranks.iter().zip(places) {
                match *rank {
                    NO_RANK => *place = Place::at_hand(0),
                    rank => list.place(rank, place)?,
                }
            }
        }
        Ok(())
    }

    /// Whether the words must stand next to each other, as written.
    pub(crate) fn is_exact(&self) -> bool {
        self.windows.is_none()
    }

    /// Number of times that the rarer of the two rarest words is in a document that was gathered, 0 if one is missing:
    /// an exact phrase is there no more often.
    #[inline]
    pub(crate) fn least_frequency(&self, nth: usize) -> u32 {
        let places = self.gathered.places.iter().take(self.lists.len());
        places.fold(u32::MAX, |least, places| places[nth].n().min(least))
    }

    /// Begins to load the positions of the two rarest words in a document that was gathered: some documents
    /// before they are wanted.
    #[inline]
    pub(crate) fn prefetch(&self, nth: usize) {
        for (list, places) in self.lists.iter().zip(&self.gathered.places) {
            list.prefetch_positions(&places[nth]);
        }
    }

    /// Number of times that a document that was gathered has the phrase, if no more than `most` need to be counted.
    pub(crate) fn count(&mut self, nth: usize, most: u32) -> Result<u32> {
        if self.least_frequency(nth) == 0 {
            return Ok(0);
        }
        self.work.counts.candidates += 1;
        if let Some(distance) = self.distance {
            match self.count_few(nth, distance)? {
                Some(0) => return Ok(0),
                Some(n) if self.lists.len() == 2 => return Ok(n.min(most)),
                _ => {}
            }
        }
        if !self.read_all(nth)? {
            return Ok(0);
        }
        Ok(match &mut self.windows {
            None => u32::try_from(self.starts.len()).unwrap_or(u32::MAX).min(most),
            Some(windows) => windows.count(&self.positions, most),
        })
    }

    /// Number of times that the two rarest words are as far from each other as in the phrase, if they have few
    /// positions each: most are so.
    #[inline]
    fn count_few(&mut self, nth: usize, distance: u32) -> Result<Option<u32>> {
        let [first, second, ..] = &mut self.lists[..] else { return Ok(None) };
        let [place, other] = self.gathered.places.each_ref().map(|places| &places[nth]);
        // A test that is guessed wrong costs as much as the positions of eight.
        if self.are_mostly_once && place.n() == 1 && other.n() == 1 {
            let (position, of_other) = (first.only_position(place)?, second.only_position(other)?);
            self.work.counts.positions += 2;
            self.work.bytes += place.n_bytes() + other.n_bytes();
            return Ok(Some(u32::from(position.wrapping_add(distance) == of_other)));
        }
        let (Some(positions), Some(others)) =
            (first.few_positions(place)?, second.few_positions(other)?)
        else {
            return Ok(None);
        };
        self.work.counts.positions += u64::from(place.n() + other.n());
        self.work.bytes += place.n_bytes() + other.n_bytes();
        Ok(Some(others.n_behind(positions, distance)))
    }

    /// Reads the positions of all words until it is clear that a document does not have the phrase; whether
    /// it may.
    fn read_all(&mut self, nth: usize) -> Result<bool> {
        let n_lists = self.lists.len();
        let [place, other] = self.gathered.places.each_ref().map(|places| places.get(nth).copied());
        let (mut first, mut second) = ((0, place), (1, other));
        if n_lists > 1 && other.map(|place| place.n()) < place.map(|place| place.n()) {
            (first, second) = (second, first);
        }
        let doc = self.gathered.docs[nth];
        for at in 0..n_lists {
            let (list, place, rank) = match at {
                0 => (first.0, first.1, self.gathered.ranks[first.0][nth]),
                1 => (second.0, second.1, self.gathered.ranks[second.0][nth]),
                list => match self.look_up(list, doc)? {
                    Some((place, rank)) => (list, Some(place), rank),
                    None => return Ok(false),
                },
            };
            if !self.read(doc, at, list, rank, &place.unwrap_or_default())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Place of a word's positions in a document, and the rank of this, if it has the word.
    fn look_up(&mut self, list: usize, doc: u32) -> Result<Option<(Place, u32)>> {
        self.rank.clear();
        let list = &mut self.lists[list];
        list.ranks(doc >> 16, &[doc as u16], &mut self.rank)?;
        let Some(rank) = self.rank.first().copied().filter(|rank| *rank != NO_RANK) else {
            return Ok(None);
        };
        let mut place = Place::default();
        list.place(rank, &mut place)?;
        Ok(Some((place, rank)))
    }

    /// Reads the positions of a list, the `at`th of the document, and keeps the places where the phrase may
    /// begin; whether there are any.
    fn read(&mut self, doc: u32, at: usize, list: usize, rank: u32, place: &Place) -> Result<bool> {
        let limit = self.limit(at, list);
        let positions = &mut self.positions[list];
        self.work.bytes += self.lists[list].positions(doc, rank, place, limit, positions)? as u64;
        self.work.counts.positions += positions.len() as u64;
        if self.windows.is_some() {
            return Ok(!positions.is_empty());
        }
        self.keep_starts(at, list);
        Ok(!self.starts.is_empty())
    }

    /// The last position of a list that matters, given where the phrase may begin; the `at`th that is looked
    /// at.
    #[inline]
    fn limit(&self, at: usize, list: usize) -> u32 {
        match (self.starts.last(), self.of_lists[list].last()) {
            (Some(start), Some(offset)) if at > 0 && self.windows.is_none() => {
                start.saturating_add(*offset)
            }
            _ => u32::MAX,
        }
    }

    /// Keeps the places where the phrase may begin as far as the words of one list say; the `at`th that is
    /// looked at.
    #[inline]
    fn keep_starts(&mut self, at: usize, list: usize) {
        let positions = &self.positions[list];
        for (nth, offset) in self.of_lists[list].iter().enumerate() {
            match at + nth {
                0 => matching::starts_of(positions, *offset, &mut self.starts),
                _ => matching::keep_starts(&mut self.starts, positions, *offset),
            }
        }
    }
}

impl fmt::Debug for PhraseReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PhraseReader({:?}, {:?})", self.of_lists, self.work)
    }
}

/// Name of the algorithm that places the words of a phrase, for a plan.
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
