//! Where words stand in a document: whether it has a phrase, and how often.
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
//! Membership in all lists first, then the ranks and frequencies of up to [`GATHERED_MAX`] documents,
//! then the positions from the word that is rarest in a document on, until nothing is left. Each step begins
//! to load what the next one reads. Lists of more than 255 documents are read where they lie, 4 KiB of each
//! part at hand. Two words with up to eight positions each, which is most of what there is, are
//! compared all with all at once; otherwise positions are unpacked as far as the phrase may still begin.
//!
//! Cost: 110 ns for a document and two words; 2 ns for each position beyond eight. Memory: for each word 16 KiB
//! where the file is not mapped, a list of positions, and 24 bytes a document that is gathered.
//!
//! The last word of a phrase may stand for many terms. What their short lists say is
//! gathered once, at most [`PHRASE_PREFIX_POSITIONS_MAX`](crate::query::PHRASE_PREFIX_POSITIONS_MAX) positions; of long ones there may be
//! [`PHRASE_PREFIX_LISTS_MAX`](crate::query::PHRASE_PREFIX_LISTS_MAX). Beyond that the phrase is refused.

mod candidates;
mod list;
mod matching;

use std::fmt;

use crate::error::{Error, ErrorKind, Result};
use crate::expansion::Walk;
use crate::format::ranked::{Place, Posting};
use crate::format::terms::TermInfo;
use crate::query::{PhraseSpec, Proximity};
use crate::segment::reader::FieldReader;
pub(crate) use candidates::{Candidates, PhraseWindow};
use list::{NO_RANK, WordList};
use matching::{COMPARED, Windows, Word};

/// The words of a phrase in one segment, and memory to place them.
pub(crate) struct PhraseReader<'s> {
    /// One for each different term, the rarest first.
    lists: Vec<WordList<'s>>,
    /// The offsets of each list's words, ascending.
    of_lists: Vec<Vec<u32>>,
    /// `None` where the words must stand next to each other.
    windows: Option<Windows>,
    gathered: Gathered,
    /// The positions of each list in the document at hand.
    positions: Vec<Vec<u32>>,
    /// Frequencies and lists of the words that are not the rarest two of a document.
    order: Vec<(u32, usize)>,
    /// Where the phrase may begin in the document at hand.
    starts: Vec<u32>,
    /// Whether nothing is left to look for there.
    is_hopeless: bool,
    work: PhraseWork,
}

/// Documents that [`PhraseReader::gather`] takes at once.
pub(crate) const GATHERED_MAX: usize = 256;

/// Documents of which the positions are located before those of one are read.
pub(crate) const AHEAD: usize = 8;

/// The greatest offset of words whose positions are compared modulo 2³².
const OFFSET_MAX: u32 = 1 << 16;

/// What the lists say of some documents.
#[derive(Debug, Default)]
struct Gathered {
    docs: Vec<u32>,
    /// By list, then by document.
    ranks: Vec<u32>,
    /// By document, then by list.
    postings: Vec<Posting>,
    /// The least frequency of each document; 0 where a word is missing.
    least: Vec<u32>,
    /// The positions of the two words that are rarest in each.
    located: Vec<[Located; 2]>,
}

/// The positions of a word in a document.
#[derive(Clone, Copy, Debug, Default)]
struct Located {
    list: usize,
    place: Place,
    /// Whether there is a place: else they are at hand.
    is_far: bool,
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
        let mut of_lists = vec![vec![]; lists.len()];
        for word in &words {
            of_lists[word.list].push(word.offset);
        }
        Ok(Some(PhraseReader {
            of_lists,
            gathered: Gathered::default(),
            positions: vec![vec![]; lists.len()],
            order: Vec::with_capacity(lists.len()),
            starts: vec![],
            is_hopeless: false,
            lists,
            windows,
            work: PhraseWork::default(),
        }))
    }

    /// What was read so far.
    pub(crate) fn work(&self) -> PhraseWork {
        self.work
    }

    /// Keeps the documents of a window that have the phrase; given and left in ascending order.
    pub(crate) fn retain(&mut self, key: u32, lows: &mut Vec<u16>) -> Result<()> {
        let mut n_kept = 0;
        for start in (0..lows.len()).step_by(GATHERED_MAX) {
            let len = (lows.len() - start).min(GATHERED_MAX);
            self.gather(key, &lows[start..start + len])?;
            for nth in 0..len.min(AHEAD) {
                self.locate(nth)?;
            }
            for nth in 0..len {
                if nth + AHEAD < len {
                    self.locate(nth + AHEAD)?;
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

    /// How often a document has the phrase; 0 where it does not.
    pub(crate) fn frequency(&mut self, doc: u32) -> Result<u32> {
        self.gather(doc >> 16, &[doc as u16])?;
        self.locate(0)?;
        self.count(0, u32::MAX)
    }

    /// Finds out how often each word is in some documents of a window, at most [`GATHERED_MAX`] in ascending
    /// order, for [`least_frequency`](Self::least_frequency), [`locate`](Self::locate) and
    /// [`count`](Self::count), which know them by their places in `lows`.
    pub(crate) fn gather(&mut self, key: u32, lows: &[u16]) -> Result<()> {
        let Gathered { docs, ranks, postings, least, located } = &mut self.gathered;
        let n_lists = self.lists.len();
        docs.clear();
        docs.extend(lows.iter().map(|low| key << 16 | u32::from(*low)));
        ranks.clear();
        for list in &mut self.lists {
            let first = ranks.len();
            list.ranks(key, lows, ranks)?;
            ranks[first..].iter().for_each(|rank| list.prefetch(*rank));
        }
        least.clear();
        least.resize(lows.len(), u32::MAX);
        postings.resize(n_lists * lows.len(), Posting::default());
        located.resize(lows.len(), [Located::default(); 2]);
        for (nth_list, list) in self.lists.iter_mut().enumerate() {
            let ranks = &ranks[nth_list * lows.len()..];
            let of_list = postings.iter_mut().skip(nth_list).step_by(n_lists);
            for ((rank, posting), least) in ranks.iter().zip(of_list).zip(&mut *least) {
                if *rank == NO_RANK {
                    *least = 0;
                } else {
                    list.posting(*rank, posting)?;
                    *least = posting.frequency.min(*least);
                }
            }
        }
        Ok(())
    }

    /// Whether the words must stand next to each other, as written.
    pub(crate) fn is_exact(&self) -> bool {
        self.windows.is_none()
    }

    /// How often the rarest word of the phrase is in a document that was gathered: an exact phrase is there
    /// no more often.
    #[inline]
    pub(crate) fn least_frequency(&self, nth: usize) -> u32 {
        self.gathered.least[nth]
    }

    /// Finds the positions of the two words that are rarest in a document that was gathered, and begins to
    /// load them: some documents before they are wanted.
    #[inline]
    pub(crate) fn locate(&mut self, nth: usize) -> Result<()> {
        let Gathered { postings, least, located, .. } = &mut self.gathered;
        if least[nth] == 0 {
            return Ok(());
        }
        let n_lists = self.lists.len();
        let postings = &postings[nth * n_lists..][..n_lists];
        let (mut first, mut second) = (0, n_lists.min(2) - 1);
        if postings[second].frequency < postings[first].frequency {
            (first, second) = (second, first);
        }
        for (list, posting) in postings.iter().enumerate().skip(2) {
            if posting.frequency < postings[first].frequency {
                (first, second) = (list, first);
            } else if posting.frequency < postings[second].frequency {
                second = list;
            }
        }
        for (at, list) in [first, second].into_iter().enumerate() {
            let located = &mut located[nth][at];
            located.list = list;
            located.is_far = self.lists[list].place(&postings[list], &mut located.place)?;
        }
        Ok(())
    }

    /// How often a document that was located has the phrase, where no more than `most` need to be counted.
    pub(crate) fn count(&mut self, nth: usize, most: u32) -> Result<u32> {
        if self.gathered.least[nth] == 0 {
            return Ok(0);
        }
        self.work.documents += 1;
        let n_lists = self.lists.len();
        let [first, second] = self.gathered.located[nth];
        if n_lists > 1 && self.windows.is_none() {
            match self.count_few(&first, &second)? {
                Some(0) => return Ok(0),
                Some(n) if n_lists == 2 => return Ok(n.min(most)),
                _ => {}
            }
        }
        self.read(nth, 0, &first)?;
        if n_lists > 1 && self.may_match() {
            self.read(nth, 1, &second)?;
        }
        if n_lists > 2 && self.may_match() {
            self.read_others(nth, [first.list, second.list])?;
        }
        Ok(match &mut self.windows {
            _ if self.is_hopeless => 0,
            None => u32::try_from(self.starts.len()).unwrap_or(u32::MAX).min(most),
            Some(windows) => windows.count(&self.positions, most),
        })
    }

    /// How often the words of two lists stand next to each other, as far as the phrase says how, if each list
    /// is of one word and has few positions: most are so.
    #[inline]
    fn count_few(&mut self, first: &Located, second: &Located) -> Result<Option<u32>> {
        if !first.is_far || !second.is_far {
            return Ok(None);
        }
        let (place, other) = (&first.place, &second.place);
        let (&[offset], &[other_offset]) =
            (&self.of_lists[first.list][..], &self.of_lists[second.list][..])
        else {
            return Ok(None);
        };
        // Positions are too small to meet others that passed 2³² on the way.
        if offset.max(other_offset) > OFFSET_MAX {
            return Ok(None);
        }
        let (mut positions, mut others) = ([0; COMPARED], [0; COMPARED]);
        let are_few = self.lists[first.list].few_positions(place, &mut positions)?
            && self.lists[second.list].few_positions(other, &mut others)?;
        if !are_few {
            return Ok(None);
        }
        self.work.positions += u64::from(place.n() + other.n());
        self.work.bytes += place.n_bytes() + other.n_bytes();
        let distance = offset.wrapping_sub(other_offset);
        let pairs = matching::pairs_of_eight(&others, &positions, place.n(), distance);
        Ok(Some(pairs.count_ones()))
    }

    /// Whether what was read of the document at hand leaves room for the phrase.
    #[inline]
    fn may_match(&self) -> bool {
        !self.is_hopeless
    }

    /// Reads the positions of the lists that are not among `read`, the rarest in the document first.
    #[inline(never)]
    fn read_others(&mut self, nth: usize, read: [usize; 2]) -> Result<()> {
        let n_lists = self.lists.len();
        self.order.clear();
        let postings = &self.gathered.postings[nth * n_lists..][..n_lists];
        let others = postings.iter().enumerate().filter(|(list, _)| !read.contains(list));
        self.order.extend(others.map(|(list, posting)| (posting.frequency, list)));
        self.order.sort_unstable();
        for at in 0..self.order.len() {
            let list = self.order[at].1;
            let mut located = Located { list, ..Located::default() };
            let posting = &self.gathered.postings[nth * n_lists + list];
            self.lists[list].place(posting, &mut located.place)?;
            self.read(nth, 2 + at, &located)?;
            if !self.may_match() {
                break;
            }
        }
        Ok(())
    }

    /// Reads the positions of a list, the `at`th of the document, and keeps the places where the phrase may
    /// begin.
    #[inline]
    fn read(&mut self, nth: usize, at: usize, located: &Located) -> Result<()> {
        let Located { list, place, .. } = *located;
        let limit = self.limit(at, list);
        let (doc, posting) =
            (self.gathered.docs[nth], &self.gathered.postings[nth * self.lists.len() + list]);
        let positions = &mut self.positions[list];
        let bytes = self.lists[list].positions(doc, posting.rank, &place, limit, positions)?;
        self.work.bytes += bytes as u64;
        self.work.positions += positions.len() as u64;
        self.is_hopeless = positions.is_empty();
        if self.windows.is_none() {
            self.keep_starts(at, list);
            self.is_hopeless = self.starts.is_empty();
        }
        Ok(())
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
