//! The positions of one word of a phrase in one document after the other.

use super::candidates::PhraseWindow;
use crate::bitmap::{Container, ContainerBuf};
use crate::budget::{self, ns};
use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::expansion::{Expansion, Walk};
use crate::format::postings::SHORT_DOCS_MAX;
use crate::format::ranked::{
    Codes, Directory, Place, PostingReader, RankedContainer, RankedList, RankedLong, RankedShort,
};
use crate::format::terms::TermInfo;
use crate::limits;
use crate::recycle::{FreeLists, heap_bytes};
use crate::segment::file::Section;
use crate::segment::reader::FieldReader;
use crate::simd::arrays;
use crate::simd::packed::FewSums;

/// The rank of a document that a list does not have.
pub(super) const NO_RANK: u32 = u32::MAX;

/// Positions of one word, or of one of many, in the documents of a segment.
#[expect(clippy::large_enum_variant, reason = "few of them, in memory that is used again")]
pub(super) enum WordList<'s> {
    Short(ShortWord<'s>),
    Long(LongWord<'s>),
    Any(Box<AnyOf<'s>>),
}

/// A term of many documents, with the container at hand.
pub(super) struct LongWord<'s> {
    list: RankedLong<'s, Section<'s>>,
    reader: PostingReader<'s, Section<'s>>,
    containers: Vec<RankedContainer>,
    at_hand: Option<AtHand<'s>>,
}

struct AtHand<'s> {
    container: RankedContainer,
    payload: Bytes<'s>,
    directory: Directory<'s>,
    /// Read when they are asked for.
    codes: Option<Codes<'s>>,
}

/// A term of few documents.
pub(super) struct ShortWord<'s> {
    list: RankedShort<'s>,
    /// The documents of the window at hand, less their upper 16 bits.
    lows: Vec<[u8; 2]>,
}

/// Lists of words that were read, for those to come.
#[derive(Debug, Default)]
pub(super) struct Free {
    containers: FreeLists<RankedContainer>,
    numbers: FreeLists<u32>,
    lows: FreeLists<[u8; 2]>,
}

heap_bytes!(Free { containers, numbers, lows });

/// Bytes that the patterns of a phrase have taken of those there are for all of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Room {
    n_positions: usize,
    n_lists: usize,
}

/// Several terms, any of which will do.
#[derive(Default)]
pub(super) struct AnyOf<'s> {
    /// Documents and positions of those with short lists, ascending.
    gathered: Vec<(u32, u32)>,
    long: Vec<LongWord<'s>>,
    /// The documents of the window at hand.
    documents: ContainerBuf,
    /// Documents that were prepared, each with the number of a long list that has it and its rank there; ascending.
    prepared: Vec<(u32, u32, u32)>,
    lows: Vec<[u8; 2]>,
    common: Vec<[u8; 2]>,
    of_one: Vec<u32>,
}

impl<'s> WordList<'s> {
    /// Opens the list of one term.
    pub(super) fn open(field: FieldReader<'s>, info: &TermInfo, free: &mut Free) -> Result<Self> {
        Ok(match field.ranked_in(info, &mut free.numbers)? {
            RankedList::Short(list) => WordList::Short(ShortWord { list, lows: free.lows.take() }),
            RankedList::Long(list) => WordList::Long(LongWord::new(list, free.containers.take())?),
        })
    }

    /// Keeps the memory of the list.
    pub(super) fn recycle(self, free: &mut Free) {
        match self {
            WordList::Short(ShortWord { mut list, lows }) => {
                free.numbers.give(list.take_memory());
                free.lows.give(lows);
            }
            WordList::Long(list) => free.containers.give(list.containers),
            WordList::Any(_) => {}
        }
    }

    /// Opens the lists of all terms that a pattern stands for, any of which will do; `None` if it stands for none.
    pub(super) fn any_of(
        field: FieldReader<'s>,
        pattern: &Expansion,
        room: &mut Room,
    ) -> Result<Option<Self>> {
        let mut any = AnyOf::default();
        // A pattern of one term only is that term.
        let (mut only, mut n_terms) = (None, 0u64);
        pattern.walk(&field.terms()?, |info| {
            if let Some(first) = only.take().filter(|_| n_terms == 1) {
                any.add(field, &first, room)?;
            }
            match n_terms {
                0 => only = Some(info),
                _ => any.add(field, &info, room)?,
            }
            n_terms += 1;
            Ok(Walk::On)
        })?;
        if let Some(only) = only {
            return WordList::open(field, &only, &mut Free::default()).map(Some);
        }
        any.gathered.sort_unstable();
        Ok((n_terms > 0).then(|| WordList::Any(Box::new(any))))
    }

    /// Adds the windows where the word has documents, ascending, to none.
    pub(super) fn windows(&self, windows: &mut Vec<PhraseWindow>) {
        match self {
            WordList::Short(list) => windows_of(list.list.docs().iter(), windows),
            WordList::Long(list) => windows.extend(list.windows()),
            WordList::Any(any) => {
                windows_of(any.gathered.iter().map(|(doc, _)| doc), windows);
                windows.extend(any.long.iter().flat_map(LongWord::windows));
                windows.iter_mut().for_each(|window| window.best_part = 1.0);
                windows.sort_unstable_by_key(|window| window.key);
                windows.dedup();
            }
        }
    }

    /// Takes the documents of a window to hand; whether there are any.
    pub(super) fn open_window(&mut self, key: u32) -> Result<bool> {
        match self {
            WordList::Short(short) => {
                let ShortWord { list, lows } = short;
                let first = list.docs().partition_point(|doc| doc >> 16 < key);
                let of_window = list.docs()[first..].iter().take_while(|doc| **doc >> 16 == key);
                lows.clear();
                lows.extend(of_window.map(|doc| (*doc as u16).to_le_bytes()));
                Ok(!lows.is_empty())
            }
            WordList::Long(list) => list.open_window(key),
            WordList::Any(any) => any.open_window(key),
        }
    }

    /// The documents at hand, and how many.
    pub(super) fn documents(&self) -> Result<(Container<'_>, u32)> {
        match self {
            WordList::Short(list) => Ok((Container::Array(&list.lows), list.lows.len() as u32)),
            WordList::Long(list) => list.documents(),
            WordList::Any(any) => Ok((any.documents.as_container(), any.documents.cardinality())),
        }
    }

    /// Appends the rank of each document of a window, [`NO_RANK`] where the list does not have it. Of
    /// several terms it is not known until the positions are read whether one is there.
    pub(super) fn ranks(&mut self, key: u32, lows: &[u16], ranks: &mut Vec<u32>) -> Result<()> {
        match self {
            WordList::Short(list) => {
                let docs = list.list.docs();
                ranks.extend(lows.iter().map(|low| {
                    let found = docs.binary_search(&(key << 16 | u32::from(*low)));
                    found.map_or(NO_RANK, |nth| nth as u32)
                }));
            }
            WordList::Long(list) => list.ranks(key, lows, ranks)?,
            WordList::Any(_) => ranks.extend(lows.iter().map(|_| 0)),
        }
        Ok(())
    }

    /// Finds some documents of a window, in ascending order, in the lists of several terms: before their positions
    /// are asked for.
    pub(super) fn prepare(&mut self, key: u32, lows: &[u16]) -> Result<()> {
        match self {
            WordList::Any(any) => any.prepare(key, lows),
            WordList::Short(_) | WordList::Long(_) => Ok(()),
        }
    }

    /// Makes `place` where the positions in the document of this rank are, and how many; of several terms more
    /// than any has.
    #[inline]
    pub(super) fn place(&mut self, rank: u32, place: &mut Place) -> Result<()> {
        match self {
            WordList::Long(list) => return list.reader.place(rank, place),
            WordList::Short(list) => {
                let frequency = list.list.frequencies().get(rank as usize).copied();
                *place = Place::at_hand(frequency.ok_or_else(damaged)?);
            }
            WordList::Any(_) => *place = Place::at_hand(u32::MAX),
        }
        Ok(())
    }

    /// Begins to load the positions at a place.
    #[inline]
    pub(super) fn prefetch_positions(&self, place: &Place) {
        if let WordList::Long(list) = self {
            list.reader.prefetch_positions(place);
        }
    }

    /// The positions at a place if they are few, see [`PostingReader::few_positions`].
    #[inline]
    pub(super) fn few_positions(&mut self, place: &Place) -> Result<Option<FewSums<'_>>> {
        match self {
            WordList::Long(list) => list.reader.few_positions(place),
            WordList::Short(_) | WordList::Any(_) => Ok(None),
        }
    }

    /// Whether the word stands once in nearly all of many documents.
    pub(super) fn is_mostly_once(&self) -> bool {
        matches!(self, WordList::Long(list) if list.list.is_mostly_once())
    }

    /// The position at a place that is the only one, in a long list.
    #[inline]
    pub(super) fn only_position(&mut self, place: &Place) -> Result<u32> {
        match self {
            WordList::Long(list) => list.reader.only_position(place),
            WordList::Short(_) | WordList::Any(_) => Err(damaged()),
        }
    }

    /// Replaces `positions` by those of a posting, whose place was asked for; how many bytes were read for it.
    /// Positions behind the first that passes `limit` may be left out.
    #[inline]
    pub(super) fn positions(
        &mut self,
        doc: u32,
        rank: u32,
        place: &Place,
        limit: u32,
        positions: &mut Vec<u32>,
    ) -> Result<usize> {
        match self {
            WordList::Long(list) => list.reader.positions(place, limit, positions),
            WordList::Short(list) => {
                list.list.positions(rank as usize, positions).ok_or_else(damaged)?;
                Ok(0)
            }
            WordList::Any(any) => any.positions(doc, positions),
        }
    }
}

impl<'s> LongWord<'s> {
    /// A list, with `containers` as memory.
    fn new(
        list: RankedLong<'s, Section<'s>>,
        mut containers: Vec<RankedContainer>,
    ) -> Result<Self> {
        let reader = list.reader().ok_or_else(damaged)?;
        containers.extend(list.containers());
        Ok(LongWord { containers, reader, list, at_hand: None })
    }

    /// Takes the container of a window to hand; whether there is one.
    fn open_window(&mut self, key: u32) -> Result<bool> {
        if self.at_hand.as_ref().is_some_and(|at_hand| u32::from(at_hand.container.key) == key) {
            return Ok(true);
        }
        let nth = self.containers.binary_search_by_key(&key, |container| u32::from(container.key));
        let Some(container) = nth.ok().and_then(|nth| self.containers.get(nth)) else {
            return Ok(false);
        };
        let payload = self.list.list().payload(container.nth)?;
        self.at_hand = Some(AtHand {
            container: *container,
            payload,
            directory: self.list.directory(container)?,
            codes: None,
        });
        Ok(true)
    }

    fn ranks(&mut self, key: u32, lows: &[u16], ranks: &mut Vec<u32>) -> Result<()> {
        match self.open_window(key)?.then_some(self.at_hand.as_ref()).flatten() {
            None => ranks.extend(lows.iter().map(|_| NO_RANK)),
            Some(AtHand { container, payload, directory, .. }) => {
                let first = container.first_rank;
                match self.list.list().container(container.nth, payload)? {
                    Container::Array(values) if values.len() < lows.len() * STEPPED_MAX => {
                        let rank = |found: Option<u32>| found.map_or(NO_RANK, |rank| first + rank);
                        ranks.extend(ranks_by_steps(values, lows).map(rank));
                    }
                    documents => {
                        let start = ranks.len();
                        ranks.resize(start + lows.len(), NO_RANK);
                        let ranks = &mut ranks[start..];
                        directory.find_each(documents, lows, |at, rank| ranks[at] = first + rank);
                    }
                }
            }
        }
        Ok(())
    }

    /// Calls `found` with each of some documents of the window at hand that the list has, and with its rank;
    /// `common` is memory to use.
    fn each_rank(
        &self,
        lows: &[[u8; 2]],
        common: &mut Vec<[u8; 2]>,
        mut found: impl FnMut(u16, u32),
    ) -> Result<()> {
        let (Some(AtHand { container, payload, directory, .. }), Some(first), Some(last)) =
            (&self.at_hand, lows.first(), lows.last())
        else {
            return Ok(());
        };
        let documents = self.list.list().container(container.nth, payload)?;
        let mut find = |low: &[u8; 2]| {
            let low = u16::from_le_bytes(*low);
            if let Some(rank) = directory.find(documents, low) {
                found(low, container.first_rank + rank);
            }
        };
        if let Container::Array(values) = documents {
            let number = |value: &[u8; 2]| u16::from_le_bytes(*value);
            let start = values.partition_point(|value| number(value) < number(first));
            let len = values[start..].partition_point(|value| number(value) <= number(last));
            let values = &values[start..start + len];
            common.resize(common.len().max(lows.len().min(len)), [0; 2]);
            let n = arrays::and(values, lows, common);
            common[..n].iter().for_each(find);
        } else {
            lows.iter().for_each(&mut find);
        }
        Ok(())
    }

    fn windows(&self) -> impl Iterator<Item = PhraseWindow> {
        let part_of_code = self.part_of_code();
        let window = move |container: &RankedContainer| PhraseWindow {
            key: container.key.into(),
            best_part: f32::from(container.max_code) * part_of_code,
        };
        self.containers.iter().map(window)
    }

    fn documents(&self) -> Result<(Container<'_>, u32)> {
        match &self.at_hand {
            None => Ok((Container::Array(&[]), 0)),
            Some(AtHand { container, payload, .. }) => {
                let documents = self.list.list().container(container.nth, payload)?;
                Ok((documents, container.cardinality))
            }
        }
    }

    /// Score part of a code, as it was when the segment was written: rounded up.
    fn part_of_code(&self) -> f32 {
        self.list.max_part() / 255.0 * (1.0 + 1e-6)
    }

    /// Drops those of the documents of the window at hand that the word gives a smaller score part than
    /// `least` at most, as far as codes tell.
    pub(super) fn drop_weak(&mut self, least: f32, lows: &mut Vec<u16>) -> Result<()> {
        // Codes below this one are not enough; rounded down, so that none is dropped for rounding.
        let limit = (least / self.part_of_code() * (1.0 - 1e-6)).floor() as u8;
        let Some(AtHand { container, payload, codes, .. }) = &mut self.at_hand else {
            return Ok(());
        };
        let codes = match codes {
            Some(codes) => codes,
            None => codes.insert(self.list.codes(container)?),
        };
        if let Some(codes) = codes.dense() {
            lows.retain(|low| codes[usize::from(*low >> 6)] >= limit);
        } else if let Some(codes) = codes.by_rank()
            && let Container::Array(values) = self.list.list().container(container.nth, payload)?
            && values.len() < lows.len() * STEPPED_MAX
        {
            let mut postings = values.iter().zip(codes);
            let mut code = 0;
            lows.retain(|low| {
                // The first posting of a block has the code of all.
                for (value, of_posting) in &mut postings {
                    code = if *of_posting == 0 { code } else { *of_posting };
                    if u16::from_le_bytes(*value) >= *low {
                        break;
                    }
                }
                code >= limit
            });
        }
        Ok(())
    }

    fn positions(&mut self, rank: u32, positions: &mut Vec<u32>) -> Result<usize> {
        let mut place = Place::default();
        self.reader.place(rank, &mut place)?;
        self.reader.positions(&place, u32::MAX, positions)
    }
}

impl<'s> AnyOf<'s> {
    /// Adds a term.
    fn add(&mut self, field: FieldReader<'s>, info: &TermInfo, room: &mut Room) -> Result<()> {
        budget::work(
            ns::POSITIONS_OPENED
                + ns::DOC_OF_SHORT_LIST * u64::from(info.df).min(SHORT_DOCS_MAX as u64),
        )?;
        match field.ranked(info)? {
            RankedList::Long(list) => {
                room.n_lists += 1;
                self.long.push(LongWord::new(list, vec![])?);
            }
            RankedList::Short(list) => {
                for (nth, doc) in list.docs().iter().enumerate() {
                    list.positions(nth, &mut self.of_one).ok_or_else(damaged)?;
                    room.n_positions += self.of_one.len();
                    self.gathered.extend(self.of_one.iter().map(|position| (*doc, *position)));
                }
            }
        }
        let limits = limits::current();
        if room.n_positions > limits.phrase_positions {
            let name = "PHRASE_PATTERN_POSITIONS_MAX";
            return Err(too_many(name, limits.phrase_positions, "positions"));
        }
        if room.n_lists > limits.phrase_lists {
            return Err(too_many(
                "PHRASE_PATTERN_LISTS_MAX",
                limits.phrase_lists,
                "frequent terms",
            ));
        }
        Ok(())
    }

    /// Takes the documents of a window to hand; whether there are any.
    fn open_window(&mut self, key: u32) -> Result<bool> {
        let first = self.gathered.partition_point(|(doc, _)| doc >> 16 < key);
        let of_window = self.gathered[first..].iter().take_while(|(doc, _)| doc >> 16 == key);
        let lows = of_window.map(|(doc, _)| *doc as u16);
        let mut last = None;
        self.documents.set_sorted(lows.filter(|low| last.replace(*low) != Some(*low)));
        for list in &mut self.long {
            budget::work(ns::POSITIONS_OPENED)?;
            if list.open_window(key)? {
                self.documents.or_with(list.documents()?.0);
            }
        }
        Ok(!self.documents.is_empty())
    }

    /// Finds some documents in all long lists, list by list: a document is in few of them.
    fn prepare(&mut self, key: u32, lows: &[u16]) -> Result<()> {
        let AnyOf { long, prepared, lows: bytes, common, .. } = self;
        prepared.clear();
        bytes.clear();
        bytes.extend(lows.iter().map(|low| low.to_le_bytes()));
        for (nth, list) in (0..).zip(long) {
            budget::work(ns::POSITIONS_OPENED)?;
            if list.open_window(key)? {
                list.each_rank(bytes, common, |low, rank| {
                    prepared.push((key << 16 | u32::from(low), nth, rank));
                })?;
            }
        }
        prepared.sort_unstable();
        Ok(())
    }

    fn positions(&mut self, doc: u32, positions: &mut Vec<u32>) -> Result<usize> {
        positions.clear();
        let first = self.gathered.partition_point(|(of, _)| *of < doc);
        let gathered = self.gathered[first..].iter().take_while(|(of, _)| *of == doc);
        positions.extend(gathered.map(|(_, position)| *position));
        let mut bytes = 0;
        let first = self.prepared.partition_point(|(of, ..)| *of < doc);
        for (_, nth, rank) in self.prepared[first..].iter().take_while(|(of, ..)| *of == doc) {
            bytes += self.long[*nth as usize].positions(*rank, &mut self.of_one)?;
            positions.extend_from_slice(&self.of_one);
        }
        positions.sort_unstable();
        positions.dedup();
        Ok(bytes)
    }
}

/// Values of an array for each that is looked for up to which going from one to the next is faster than
/// searching.
const STEPPED_MAX: usize = 8;

/// The place of each number among ascending values, if it is there.
fn ranks_by_steps<'l>(
    values: &'l [[u8; 2]],
    lows: &'l [u16],
) -> impl Iterator<Item = Option<u32>> + 'l {
    let mut at = 0;
    lows.iter().map(move |low| {
        let value_at = |at: usize| values.get(at).map(|value| u16::from_le_bytes(*value));
        while value_at(at).is_some_and(|value| value < *low) {
            at += 1;
        }
        (value_at(at) == Some(*low)).then_some(at as u32)
    })
}

/// The windows of ascending documents.
/// Adds the windows of ascending documents.
fn windows_of<'d>(docs: impl Iterator<Item = &'d u32>, windows: &mut Vec<PhraseWindow>) {
    for key in docs.map(|doc| doc >> 16) {
        if windows.last().is_none_or(|last| last.key != key) {
            // Parts are below 1 whatever the frequency.
            windows.push(PhraseWindow { key, best_part: 1.0 });
        }
    }
}

#[cold]
pub(super) fn damaged() -> Error {
    Error::corrupt("reading the positions of a term")
        .expected("positions in each of its documents")
        .found("other bytes")
}

#[cold]
fn too_many(name: &'static str, most: usize, unit: &str) -> Error {
    let what = "looking for words of a phrase that stand for many";
    Error::limit_reached(what, name, most, unit, None).hint("more of the word leaves fewer terms")
}
