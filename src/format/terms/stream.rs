//! Walking over terms: [`TermStream`] in both directions, [`TermSearch`] along an automaton.
//!
//! Both lend the term, which lies in their own buffer, until the next call.

use super::block::{Block, InfoCursor, KeyCursor};
use super::index::Group;
use super::{TermDictionary, TermInfo, prefix_of};
use crate::budget::{self, ns};
use crate::bytes::Source;
use crate::error::Result;
use crate::ids::TermOrdinal;
use fst::Automaton;
use std::ops::Range;

/// The terms with ordinals in a range, from either end until the ends meet.
#[derive(Debug)]
pub(crate) struct TermStream<'s, S> {
    dictionary: TermDictionary<S>,
    /// The ordinals not walked yet.
    left: Range<u32>,
    front: Option<Front<'s>>,
    key: Vec<u8>,
    back: Option<Back>,
}

/// A block that is being walked forwards.
#[derive(Debug)]
struct Front<'s> {
    block: Block<'s>,
    first_ordinal: u32,
    /// The next term, counted in the block.
    index: u32,
    keys: KeyCursor,
    infos: InfoCursor,
}

impl<'s> Front<'s> {
    fn new((block, first_ordinal): (Block<'s>, u32)) -> Self {
        Front { index: 0, keys: block.keys(), infos: block.infos(), block, first_ordinal }
    }
}

/// A block decoded from its start, because keys can only be decoded forwards.
#[derive(Debug)]
struct Back {
    first_ordinal: u32,
    keys: Vec<u8>,
    terms: Vec<(Range<usize>, TermInfo)>,
}

impl<'s, S: Source<'s>> TermStream<'s, S> {
    pub(super) fn new(dictionary: TermDictionary<S>, ordinals: Range<u32>) -> Self {
        TermStream { dictionary, left: ordinals, front: None, key: vec![], back: None }
    }

    /// The ordinals of the terms that are left.
    pub(crate) fn ordinals(&self) -> Range<u32> {
        self.left.clone()
    }

    /// The first term that is left.
    pub(crate) fn next(&mut self) -> Result<Option<(&[u8], TermOrdinal, TermInfo)>> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let ordinal = self.left.start;
        if self.front.as_ref().is_none_or(|front| front.index == front.block.count) {
            self.load_front()?;
        }
        let Some(front) = &mut self.front else {
            return Ok(None);
        };
        let dictionary = &self.dictionary;
        let damage = |damage| dictionary.damage(&front.block, damage);
        let (shared, suffix) = front.block.next_key(&mut front.keys).map_err(damage)?;
        self.key.truncate(shared);
        self.key.extend_from_slice(suffix);
        let info = front.block.info(&mut front.infos, front.index).map_err(damage)?;
        front.index += 1;
        self.left.start += 1;
        Ok(Some((&self.key, TermOrdinal(ordinal), info)))
    }

    /// Goes to the next block, or to the place in a block where the stream begins.
    fn load_front(&mut self) -> Result<()> {
        budget::work(ns::TERM_BLOCK)?;
        let dictionary = &self.dictionary;
        let ordinal = self.left.start;
        let number = dictionary.index.block_of(ordinal)?;
        let mut front = Front::new(dictionary.block(number)?);
        let index = dictionary.index_in(&front.block, front.first_ordinal, ordinal)?;
        self.key.clear();
        while front.index < index {
            let key = front.block.next_key(&mut front.keys);
            let (shared, suffix) = key.map_err(|damage| dictionary.damage(&front.block, damage))?;
            self.key.truncate(shared);
            self.key.extend_from_slice(suffix);
            front.index += 1;
        }
        self.front = Some(front);
        Ok(())
    }

    /// The last term that is left.
    pub(crate) fn next_back(&mut self) -> Result<Option<(&[u8], TermOrdinal, TermInfo)>> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let ordinal = self.left.end - 1;
        if self.back.as_ref().is_none_or(|back| ordinal < back.first_ordinal) {
            budget::work(ns::TERM_BLOCK)?;
            let number = self.dictionary.index.block_of(ordinal)?;
            let (block, first_ordinal) = self.dictionary.block(number)?;
            self.dictionary.index_in(&block, first_ordinal, ordinal)?;
            self.back = Some(self.decode(&block, first_ordinal)?);
        }
        let found = self.back.as_ref().and_then(|back| {
            let (key, info) = back.terms.get((ordinal - back.first_ordinal) as usize)?;
            Some((back.keys.get(key.clone())?, TermOrdinal(ordinal), *info))
        });
        self.left.end -= 1;
        let damage = || self.dictionary.index.damage(0, format!("no term {ordinal} in its block"));
        found.map(Some).ok_or_else(damage)
    }

    /// Every term of `block`, with the buffers of the block decoded before.
    fn decode(&mut self, block: &Block<'s>, first_ordinal: u32) -> Result<Back> {
        let damage = |damage| self.dictionary.damage(block, damage);
        let (mut keys, mut terms) = self.back.take().map_or_else(Default::default, |mut back| {
            back.keys.clear();
            back.terms.clear();
            (back.keys, back.terms)
        });
        let (mut key_cursor, mut infos) = (block.keys(), block.infos());
        let mut previous = 0..0;
        for index in 0..block.count {
            let (shared, suffix) = block.next_key(&mut key_cursor).map_err(damage)?;
            let start = keys.len();
            keys.extend_from_within(previous.start..previous.start + shared);
            keys.extend_from_slice(suffix);
            previous = start..keys.len();
            terms.push((previous.clone(), block.info(&mut infos, index).map_err(damage)?));
        }
        Ok(Back { first_ordinal, keys, terms })
    }
}

/// Entries of the terms with ordinals in a range, in their order: no key is decoded.
#[derive(Debug)]
pub(crate) struct TermInfos<'s, S> {
    dictionary: TermDictionary<S>,
    left: Range<u32>,
    /// The block that is being walked, the next of its terms, and its info.
    front: Option<(Block<'s>, u32, InfoCursor)>,
}

impl<'s, S: Source<'s>> TermInfos<'s, S> {
    pub(super) fn new(dictionary: TermDictionary<S>, ordinals: Range<u32>) -> Self {
        TermInfos { dictionary, left: ordinals, front: None }
    }

    /// The next of them.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<TermInfo>> {
        if self.left.is_empty() {
            return Ok(None);
        }
        if self.front.as_ref().is_none_or(|(block, index, _)| *index == block.count) {
            self.load_front()?;
        }
        let Some((block, index, infos)) = &mut self.front else {
            return Ok(None);
        };
        let dictionary = &self.dictionary;
        let info = block.info(infos, *index).map_err(|damage| dictionary.damage(block, damage))?;
        *index += 1;
        self.left.start += 1;
        Ok(Some(info))
    }

    fn load_front(&mut self) -> Result<()> {
        budget::work(ns::TERM_BLOCK)?;
        let ordinal = self.left.start;
        let number = self.dictionary.index.block_of(ordinal)?;
        let (block, first_ordinal) = self.dictionary.block(number)?;
        let index = self.dictionary.index_in(&block, first_ordinal, ordinal)?;
        let infos = block.infos();
        self.front = Some((block, index, infos));
        Ok(())
    }
}

/// An automaton over the bytes of terms.
pub(crate) trait TermAutomaton: Automaton {
    /// Memory that it keeps between these questions.
    type Memory: Default + std::fmt::Debug;

    /// The smallest byte from `from` on after which a match is still possible, and the state that it leads to. A
    /// search asks for it at every block that it may pass over, so an automaton should know.
    fn first_live(
        &self,
        state: &Self::State,
        from: usize,
        memory: &mut Self::Memory,
    ) -> Option<(u8, Self::State)>;
}

/// One that is asked byte by byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByBytes<A>(pub(super) A);

impl<A: Automaton> Automaton for ByBytes<A> {
    type State = A::State;

    fn start(&self) -> A::State {
        self.0.start()
    }

    #[inline]
    fn is_match(&self, state: &A::State) -> bool {
        self.0.is_match(state)
    }

    #[inline]
    fn can_match(&self, state: &A::State) -> bool {
        self.0.can_match(state)
    }

    #[inline]
    fn accept(&self, state: &A::State, byte: u8) -> A::State {
        self.0.accept(state, byte)
    }

    #[inline]
    fn accept_eof(&self, state: &A::State) -> Option<A::State> {
        self.0.accept_eof(state)
    }
}

impl<A: Automaton> TermAutomaton for ByBytes<A> {
    type Memory = ();

    fn first_live(&self, state: &A::State, from: usize, (): &mut ()) -> Option<(u8, A::State)> {
        (from..256).find_map(|byte| {
            let next = self.accept(state, byte as u8);
            self.can_match(&next).then_some((byte as u8, next))
        })
    }
}

/// Number of bytes that a search looks ahead for the smallest byte string that may match.
const LOOK_AHEAD: usize = 8;

/// Bytes and the states of an automaton along them. Bytes and states behind the ends are of paths before and are
/// written over, which costs less than to cut them off at every term.
#[derive(Debug)]
struct Path<S> {
    key: Vec<u8>,
    /// Bytes of `key` that count.
    len: usize,
    /// The state before the first byte, and after each live one.
    states: Vec<S>,
}

impl<S> Path<S> {
    fn key(&self) -> &[u8] {
        self.key.get(..self.len).unwrap_or_default()
    }

    /// The state after the last byte.
    fn state(&self) -> Option<&S> {
        self.states.get(self.len)
    }

    /// Adds a byte, which led to a live state.
    fn push(&mut self, byte: u8, state: S) {
        set(&mut self.key, self.len, byte);
        self.len += 1;
        set(&mut self.states, self.len, state);
    }

    fn pop(&mut self) -> Option<u8> {
        self.len = self.len.checked_sub(1)?;
        self.key.get(self.len).copied()
    }

    /// Goes on with `bytes` behind the first `len`; `false` where the automaton is dead after the byte that is then the last.
    #[inline]
    fn follow<A: Automaton<State = S>>(&mut self, automaton: &A, len: usize, bytes: &[u8]) -> bool {
        self.len = len;
        for byte in bytes {
            let Some(state) = self.states.get(self.len) else { return false };
            let state = automaton.accept(state, *byte);
            set(&mut self.key, self.len, *byte);
            self.len += 1;
            if !automaton.can_match(&state) {
                return false;
            }
            set(&mut self.states, self.len, state);
        }
        true
    }
}

/// Writes at a place that is inside or right behind the end.
#[inline]
fn set<T>(all: &mut Vec<T>, at: usize, value: T) {
    match all.get_mut(at) {
        Some(place) => *place = value,
        None => all.push(value),
    }
}

/// The terms that an automaton accepts, in order.
///
/// It keeps the automaton's states along the current term. Once the automaton is dead, terms that
/// share the dead bytes are skipped by their first byte alone; when a block ends so, the smallest
/// greater byte string that is not dead is looked up among the blocks and in the block found.
#[derive(Debug)]
pub(crate) struct TermSearch<'s, S, A: TermAutomaton> {
    dictionary: TermDictionary<S>,
    automaton: A,
    memory: A::Memory,
    path: Path<A::State>,
    /// Whether no match is possible after the last byte of the path.
    is_dead: bool,
    /// Whether the path is no term but what the next one must not be less than.
    seeks: bool,
    /// The group of the index with the block that was looked for last.
    group: Option<Group<'s>>,
    front: Option<Front<'s>>,
    is_done: bool,
    /// Terms looked at, and how many may be.
    visited: u64,
    visited_max: u64,
}

impl<'s, S: Source<'s>, A: TermAutomaton> TermSearch<'s, S, A> {
    pub(super) fn new(dictionary: TermDictionary<S>, automaton: A) -> Self {
        let start = automaton.start();
        let is_done = !automaton.can_match(&start);
        TermSearch {
            dictionary,
            automaton,
            memory: A::Memory::default(),
            path: Path { key: vec![], len: 0, states: vec![start] },
            is_dead: false,
            seeks: false,
            group: None,
            front: None,
            is_done,
            visited: 0,
            visited_max: u64::MAX,
        }
    }

    /// Ends the search, as if there were no more terms, after looking at so many.
    pub(crate) fn visiting_at_most(mut self, n_terms: u64) -> Self {
        self.visited_max = n_terms;
        self
    }

    /// Number of terms that were looked at, accepted or not; those in blocks that were passed over were not.
    pub(crate) fn visited(&self) -> u64 {
        self.visited
    }

    /// Whether there were more terms to look at than allowed.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.visited > self.visited_max
    }

    /// The next term that is accepted.
    pub(crate) fn next(&mut self) -> Result<Option<(&[u8], TermOrdinal, TermInfo)>> {
        while self.load_front()? {
            let Some(front) = &mut self.front else { break };
            let (block, keys, first) = (&front.block, &mut front.keys, front.index);
            let damage = |damage| self.dictionary.damage(block, damage);
            let found = match self.seeks {
                true => block.next_not_less(keys, &mut front.index, self.path.key()),
                false => {
                    let least = if self.is_dead { self.path.len } else { usize::MAX };
                    block.next_sharing_less(keys, &mut front.index, least)
                }
            };
            let found = found.map_err(damage)?;
            self.visited += u64::from(front.index - first);
            if self.visited > self.visited_max {
                break;
            }
            let Some((shared, suffix)) = found else { continue };
            self.seeks = false;
            self.is_dead = !self.path.follow(&self.automaton, shared, suffix);
            if !self.is_dead && self.path.state().is_some_and(|s| accepts(&self.automaton, s)) {
                let index = front.index - 1;
                let info = block.info(&mut front.infos, index).map_err(damage)?;
                let ordinal = TermOrdinal(front.first_ordinal + index);
                return Ok(Some((self.path.key(), ordinal, info)));
            }
        }
        Ok(None)
    }

    /// Makes sure that there is a term to look at; `false` at the end.
    fn load_front(&mut self) -> Result<bool> {
        let after = match &self.front {
            Some(front) if front.index < front.block.count => return Ok(true),
            Some(front) => front.block.number + 1,
            None => 0,
        };
        self.is_done = self.is_done || after == self.dictionary.index.header.n_blocks;
        if !self.is_done && (self.front.is_none() || self.is_dead) {
            self.is_done = !self.go_to_next_live();
            self.seeks = true;
        }
        if self.is_done {
            return Ok(false);
        }
        let number = if self.seeks { self.seek(after)? } else { after };
        let index = &self.dictionary.index;
        let group = index.group_with(number, self.group.take())?;
        let range = index.range_in(&group, number)?;
        self.group = Some(group);
        budget::work(ns::TERM_BLOCK)?;
        self.front = Some(Front::new(self.dictionary.block_at(number, range)?));
        Ok(true)
    }

    /// Makes `key` the smallest byte string after the dead one, or from the start, of which terms
    /// that match may be extensions; `false` when there is none.
    fn go_to_next_live(&mut self) -> bool {
        if std::mem::take(&mut self.is_dead) {
            let (byte, state) = loop {
                let Some((last, state)) = self.path.pop().zip(self.path.state()) else {
                    return false;
                };
                let from = usize::from(last) + 1;
                if let Some(next) = self.automaton.first_live(state, from, &mut self.memory) {
                    break next;
                }
            };
            self.path.push(byte, state);
        }
        for _ in 0..LOOK_AHEAD {
            let Some(state) = self.path.state() else {
                break;
            };
            if accepts(&self.automaton, state) {
                break;
            }
            let Some((byte, state)) = self.automaton.first_live(state, 0, &mut self.memory) else {
                break;
            };
            self.path.push(byte, state);
        }
        true
    }

    /// The first block from `next` on that can hold `key` or a greater term.
    fn seek(&mut self, next: u32) -> Result<u32> {
        let (index, key) = (&self.dictionary.index, self.path.key());
        let group = index.group_with(next, self.group.take())?;
        let last = index.last_below(&group, next, prefix_of(key))?;
        self.group = Some(group);
        match last {
            Some(block) => Ok(block),
            None => Ok(self.dictionary.heads_floor(key)?.max(next)),
        }
    }
}

/// Whether a term that ends in `state` matches.
#[inline]
fn accepts<A: Automaton>(automaton: &A, state: &A::State) -> bool {
    match automaton.accept_eof(state) {
        Some(at_end) => automaton.is_match(&at_end),
        None => automaton.is_match(state),
    }
}
