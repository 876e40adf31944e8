//! Postings of a query by window, each with an upper bound of its score part.

use super::bounds::ScoreQuantizer;
use super::reached::raise;
use crate::bitmap::{Container, ContainerKind};
use crate::bytes::Bytes;
use crate::error::Result;
use crate::format::changed::CodeChange;
use crate::format::ranked::{
    ChangedCodes, Codes, Directory, RankedContainer, RankedList, RankedLong,
};
use crate::plan::WINDOW;
use crate::ranking::Clause;
use crate::ranking::top::Top;
use crate::recycle::heap_bytes;
use crate::segment::file::Section;
use crate::simd::sums::{BLOCKS, units};
use std::ops::Range;

/// The lists of a query, without their bytes.
#[derive(Debug, Default)]
pub(super) struct WindowPostings {
    pub(super) terms: Vec<Term>,
    /// The containers of all long lists.
    containers: Vec<RankedContainer>,
    changed: ChangedCodes,
    /// Score and units of each posting of the short lists.
    scores: Vec<f32>,
    units: Vec<u16>,
    /// In the order of their documents until they are sorted.
    pub(super) windows: Vec<Window>,
    of_windows: Vec<Part>,
    /// Best part of each clause in a window.
    best: Vec<u16>,
}

/// A clause.
#[derive(Clone, Debug)]
pub(super) struct Term {
    /// Maximum that it adds to a score.
    best: f64,
    /// Factor on its codes.
    pub(super) weight: u16,
    /// Change of its codes since they were computed.
    change: Option<CodeChange>,
    /// Its place in `containers`, or in `scores` and `units`.
    range: Range<usize>,
    /// Position up to which it has been divided into windows.
    at: usize,
}

/// A window that a list has postings in.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) key: u32,
    /// Units that no document of it passes.
    pub(super) bound: u32,
    /// Postings of the list that has fewest there.
    pub(super) n_least: u32,
    parts: Range<usize>,
}

/// Postings of a clause in a window: a container, or some documents of a short list.
#[derive(Clone, Debug)]
struct Part {
    clause: usize,
    at: Range<usize>,
    /// Units that none of its postings passes.
    best: u16,
}

heap_bytes!(WindowPostings {
    terms,
    containers,
    changed,
    scores,
    units,
    windows,
    of_windows,
    best
});

impl WindowPostings {
    /// Takes stock of the lists, of short ones as if empty without `short`; tells `top` of the best of those that suffice.
    pub(super) fn take_stock(
        &mut self,
        clauses: &[Clause<'_>],
        suffices: impl Fn(usize) -> bool,
        short: bool,
        top: &mut Top,
    ) -> Result<()> {
        self.terms.clear();
        self.containers.clear();
        self.changed.start();
        self.scores.clear();
        self.units.clear();
        for (nth, clause) in clauses.iter().enumerate() {
            let (best, change, range) = match &clause.list {
                RankedList::Short(list) => {
                    let start = self.scores.len();
                    let mut best = 0.0f32;
                    let postings = list.docs().iter().zip(list.frequencies());
                    for (&doc, &frequency) in postings.filter(|_| short) {
                        // Words that must not be there add nothing, whatever the length.
                        let adds = clause.weight != 0.0;
                        let score = if adds { clause.score(doc, frequency)? } else { 0.0 };
                        best = best.max(score);
                        self.scores.push(score);
                    }
                    (best.into(), None, start..self.scores.len())
                }
                RankedList::Long(list) => {
                    let start = self.containers.len();
                    self.containers.extend(list.containers());
                    if suffices(nth) {
                        raise(clause, list, top)?;
                    }
                    let change = clause.change().map(|change| change.codes(list.max_part()));
                    if let Some(change) = &change {
                        let own = &mut self.containers[start..];
                        own.iter_mut().for_each(|it| it.max_code = change.code(it.max_code));
                    }
                    (clause.best(), change, start..self.containers.len())
                }
            };
            if change.is_some() {
                self.changed.make_room(range.end);
            }
            self.terms.push(Term { best, weight: 0, change, at: range.start, range });
        }
        Ok(())
    }

    /// Maximum that a clause adds to a score.
    pub(super) fn best(&self, clause: usize) -> f64 {
        self.terms[clause].best
    }

    /// Turns what was taken stock of into units.
    pub(super) fn weigh(&mut self, scale: &ScoreQuantizer) {
        for term in &mut self.terms {
            term.weight = scale.weight(term.best);
        }
        self.units.extend(self.scores.iter().map(|score| scale.exact(*score)));
    }

    /// Leaves clauses from `first_filter` on out of all sums.
    pub(super) fn filter_by(&mut self, first_filter: usize) {
        self.terms.iter_mut().skip(first_filter).for_each(|term| term.weight = 0);
    }

    /// Leaves only windows in which all clauses from `first_filter` on have documents, and one of those before.
    pub(super) fn keep_filtered(&mut self, first_filter: usize) {
        let WindowPostings { terms, windows, of_windows, .. } = self;
        let n_filters = terms.len() - first_filter;
        windows.retain(|window| {
            let parts = &of_windows[window.parts.clone()];
            let filters = parts.iter().filter(|part| part.clause >= first_filter).count();
            filters == n_filters && parts.len() > n_filters
        });
    }

    /// Leaves only windows in which a clause has documents that no other comes before.
    pub(super) fn keep_those_of(&mut self, first: usize) {
        let WindowPostings { windows, of_windows, .. } = self;
        windows.retain(|window| of_windows[window.parts.start].clause == first);
    }

    /// Divides the lists into windows that at least `needed` of them have postings in, or that are among the first `n_anyway`.
    pub(super) fn divide(&mut self, clauses: &[Clause<'_>], needed: usize, n_anyway: u32) {
        self.windows.clear();
        self.of_windows.clear();
        let WindowPostings { terms, containers, units: short_units, windows, of_windows, .. } =
            self;
        let key_of = |clause: &Clause<'_>, term: &Term| match &clause.list {
            _ if term.at == term.range.end => None,
            RankedList::Short(list) => {
                list.docs().get(term.at - term.range.start).map(|doc| doc / WINDOW)
            }
            RankedList::Long(_) => containers.get(term.at).map(|it| u32::from(it.key)),
        };
        let mut anyway = 0..n_anyway;
        loop {
            let keys = clauses.iter().zip(terms.iter()).filter_map(|(c, term)| key_of(c, term));
            let Some(key) = keys.chain(anyway.clone().next()).min() else { return };
            anyway.start = anyway.start.max(key + 1);
            let start = of_windows.len();
            let (mut bound, mut n_least) = (0, u32::MAX);
            for (nth, (clause, term)) in clauses.iter().zip(terms.iter_mut()).enumerate() {
                if key_of(clause, term) != Some(key) {
                    continue;
                }
                let at = term.at;
                let (n, best) = match &clause.list {
                    RankedList::Short(_) => {
                        while key_of(clause, term) == Some(key) {
                            term.at += 1;
                        }
                        let best = short_units[at..term.at].iter().max();
                        ((term.at - at) as u32, best.copied().unwrap_or_default())
                    }
                    RankedList::Long(_) => {
                        term.at += 1;
                        let RankedContainer { cardinality, max_code, .. } = containers[at];
                        (cardinality, units(max_code, term.weight))
                    }
                };
                n_least = n_least.min(n);
                bound += u32::from(best);
                of_windows.push(Part { clause: nth, at: at..term.at, best });
            }
            if of_windows.len() - start >= needed || key < n_anyway {
                windows.push(Window { key, bound, n_least, parts: start..of_windows.len() });
            } else {
                of_windows.truncate(start);
            }
        }
    }

    /// Replaces the bound of each window by what `bound` says, given its number and the units that each clause
    /// has there at most; windows without a result go.
    pub(super) fn bound_windows(&mut self, mut bound: impl FnMut(u32, &[u16]) -> u32) {
        let WindowPostings { terms, windows, of_windows, best, .. } = self;
        windows.retain_mut(|window| {
            best.clear();
            best.resize(terms.len(), 0);
            for part in &of_windows[window.parts.clone()] {
                best[part.clause] = part.best;
            }
            window.bound = bound(window.key, best);
            window.bound > 0
        });
    }

    /// Clauses that have postings in a window, all of long lists, the units that each adds at most, and its best code.
    pub(super) fn bests(&self, window: &Window) -> impl Iterator<Item = (usize, u32, u8)> {
        self.of_windows[window.parts.clone()].iter().map(|part| {
            let code = self.containers.get(part.at.start).map_or(u8::MAX, |it| it.max_code);
            (part.clause, part.best.into(), code)
        })
    }

    /// Reads what the lists have in a window, and appends it to `opened` in the order of the clauses.
    pub(super) fn open<'q, 's>(
        &'q self,
        clauses: &'q [Clause<'s>],
        window: &Window,
        opened: &mut Vec<Opened<'q, 's>>,
    ) -> Result<()> {
        for part in &self.of_windows[window.parts.clone()] {
            let Term { weight, change, .. } = self.terms[part.clause];
            let postings = match &clauses[part.clause].list {
                RankedList::Short(list) => {
                    let first = self.terms[part.clause].range.start;
                    Postings::Short {
                        docs: &list.docs()[part.at.start - first..part.at.end - first],
                        scores: &self.scores[part.at.clone()],
                        units: &self.units[part.at.clone()],
                    }
                }
                RankedList::Long(list) => {
                    let at = part.at.start;
                    let long: LongPart<'q> = LongPart::open(list, &self.containers[at])?;
                    let codes = match &change {
                        Some(change) => self.changed.get(at, long.codes, change),
                        None => long.codes,
                    };
                    Postings::Long(LongPart { codes, ..long }, list)
                }
            };
            opened.push(Opened { clause: part.clause, weight, best: part.best, postings });
        }
        Ok(())
    }
}

/// Postings of a clause in a window, to be read.
#[derive(Debug)]
pub(super) struct Opened<'q, 's> {
    pub(super) clause: usize,
    /// Factor on its codes.
    pub(super) weight: u16,
    /// Units that none of its postings passes.
    pub(super) best: u16,
    pub(super) postings: Postings<'q, 's>,
}

impl<'q, 's> Opened<'q, 's> {
    /// The container and its list, if it is a long one, as all are that bounds are added up of without a tree.
    #[inline]
    pub(super) fn long(&self) -> Option<(&LongPart<'q>, &'q RankedLong<'s, Section<'s>>)> {
        match &self.postings {
            Postings::Short { .. } => None,
            Postings::Long(part, list) => Some((part, list)),
        }
    }

    /// The codes, if there is one for each block.
    #[inline]
    pub(super) fn codes_by_block(&self) -> Option<&[u8; BLOCKS]> {
        self.long().and_then(|(part, _)| part.codes.dense())
    }

    pub(super) fn n_postings(&self) -> u32 {
        match &self.postings {
            Postings::Short { docs, .. } => docs.len() as u32,
            Postings::Long(postings, _) => postings.cardinality,
        }
    }
}

#[derive(Debug)]
pub(super) enum Postings<'q, 's> {
    /// Documents of the segment, what each scores, and that in units.
    Short { docs: &'q [u32], scores: &'q [f32], units: &'q [u16] },
    /// A container, and the list that it is one of.
    Long(LongPart<'q>, &'q RankedLong<'s, Section<'s>>),
}

/// A container with its codes and its directory.
#[derive(Debug)]
pub(super) struct LongPart<'s> {
    payload: Bytes<'s>,
    kind: ContainerKind,
    pub(super) cardinality: u32,
    /// The rank of its first posting in the list.
    pub(super) first_rank: u32,
    pub(super) codes: Codes<'s>,
    pub(super) directory: Directory<'s>,
}

impl<'s> LongPart<'s> {
    pub(super) fn open(
        list: &RankedLong<'s, Section<'s>>,
        container: &RankedContainer,
    ) -> Result<Self> {
        let payload = list.list().payload(container.nth)?;
        let kind = list.list().container(container.nth, &payload)?.kind();
        Ok(LongPart {
            payload,
            kind,
            cardinality: container.cardinality,
            first_rank: container.first_rank,
            codes: list.codes(container)?,
            directory: list.directory(container)?,
        })
    }

    /// The code of a block, given the rank of its first posting.
    #[inline]
    pub(super) fn code(&self, block: usize, rank: u32) -> Option<u8> {
        match &self.codes {
            Codes::Dense(codes) => codes.get(block).copied(),
            Codes::ByRank(codes) => codes.get((rank - self.first_rank) as usize).copied(),
        }
    }

    /// The documents.
    #[inline]
    pub(super) fn container(&self) -> Container<'_> {
        let of_values = match self.kind {
            // Behind the number of runs.
            ContainerKind::Run => self.payload.get(2..).unwrap_or_default(),
            ContainerKind::Array | ContainerKind::Bitmap => &self.payload[..],
        };
        Container::of_bytes(self.kind, of_values)
    }

    /// The postings of a block of 64 documents as bits, and the rank of the first in the list.
    #[inline]
    pub(super) fn block(&self, block: usize) -> (u64, u32) {
        let (word, rank) = self.directory.block(self.container(), block);
        (word, self.first_rank + rank)
    }
}
