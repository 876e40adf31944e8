//! The terms of one field seen so far in one run, each with a number.
//!
//! A hash table with open addressing whose keys lie in an arena of 64-bit words, so that short terms
//! compare in one word and a term costs no allocation. Tokens are looked up in batches: while the terms of one are
//! compared, the slots of the next are on their way, so that cache misses overlap.

use crate::bytes::array_at;
use crate::simd::prefetch::prefetch_of;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Tokens whose cache misses are waited for together.
const BATCH: usize = 64;
/// By how many terms the one whose record is asked for lies ahead.
const AHEAD: usize = 16;
/// Stands for "no term" in the arena index of a slot.
const EMPTY: u32 = 0;

/// Terms and their numbers, in order of first appearance.
#[derive(Debug)]
pub(crate) struct TermTable {
    /// Hash and arena index + 1 of a term, or [`EMPTY`].
    slots: Vec<(u32, u32)>,
    /// For each term a word `number | length << 32`, then its bytes in little-endian words, the last
    /// one padded with zeros; at least one word of bytes.
    arena: Vec<u64>,
    n_terms: u32,
    /// Random, so that no input can be made to collide. The order of slots is never seen outside.
    seed: u64,
}

impl Default for TermTable {
    fn default() -> Self {
        let seed = RandomState::new().build_hasher().finish();
        TermTable { slots: vec![(0, EMPTY); 1 << 10], arena: vec![], n_terms: 0, seed }
    }
}

impl TermTable {
    /// Forgets the terms, keeps the buffers.
    pub(crate) fn clear(&mut self) {
        self.slots.fill((0, EMPTY));
        self.arena.clear();
        self.n_terms = 0;
    }

    pub(crate) fn len(&self) -> usize {
        self.n_terms as usize
    }

    /// Bytes of heap that the terms need.
    pub(crate) fn needed_bytes(&self) -> usize {
        let n_slots = (self.len() * 5 / 3).next_power_of_two();
        n_slots * size_of::<(u32, u32)>() + self.arena.len() * size_of::<u64>()
    }

    /// Bytes of heap held.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<(u32, u32)>() + self.arena.capacity() * size_of::<u64>()
    }

    /// Appends the number of each token to `log`. A token is start and length in `bytes`, which goes
    /// on for at least 16 bytes behind it.
    pub(crate) fn intern(&mut self, bytes: &[u8], tokens: &[(u32, u32)], log: &mut Vec<u32>) {
        let (mut hashes, mut next_hashes) = ([0u32; BATCH], [0u32; BATCH]);
        let mut found = [(0u32, EMPTY); BATCH];
        log.reserve(tokens.len());
        let mut batches = tokens.chunks(BATCH);
        let mut batch = batches.next().unwrap_or_default();
        self.hash(bytes, batch, &mut hashes);
        while !batch.is_empty() {
            self.reserve(batch.len());
            let mask = self.slots.len() - 1;
            for (slot, &hash) in found.iter_mut().zip(&hashes[..batch.len()]) {
                *slot = self.slots[hash as usize & mask];
                if let Some(record) = self.arena.get((slot.1 as usize).wrapping_sub(1)) {
                    prefetch_of(record);
                }
            }
            let next = batches.next().unwrap_or_default();
            self.hash(bytes, next, &mut next_hashes);
            for (nth, &(start, len)) in batch.iter().enumerate() {
                let (start, len) = (start as usize, len as usize);
                let (hash, at) = found[nth];
                let head = match at != EMPTY && hash == hashes[nth] {
                    true => self.arena[at as usize - 1],
                    false => 0,
                };
                let is_candidate = head != 0 && (head >> 32) as usize == len;
                log.push(match is_candidate && self.equals(at as usize - 1, bytes, start, len) {
                    true => head as u32,
                    false => self.find_or_add(hashes[nth], bytes, start, len),
                });
            }
            batch = next;
            std::mem::swap(&mut hashes, &mut next_hashes);
        }
    }

    /// Hashes the tokens of a batch and asks for their slots.
    #[inline]
    fn hash(&self, bytes: &[u8], batch: &[(u32, u32)], hashes: &mut [u32; BATCH]) {
        let mask = self.slots.len() - 1;
        for (hash, &(start, len)) in hashes.iter_mut().zip(batch) {
            *hash = hash_of(bytes, start as usize, len as usize, self.seed);
            prefetch_of(&self.slots[*hash as usize & mask]);
        }
    }

    /// Makes room for `more` terms at a load of at most 3/5.
    fn reserve(&mut self, more: usize) {
        let needed = self.len() + more;
        if needed * 5 <= self.slots.len() * 3 {
            return;
        }
        let mut len = self.slots.len();
        while needed * 5 > len * 3 {
            len *= 2;
        }
        let mut slots = vec![(0, EMPTY); len];
        let mask = len - 1;
        for &(hash, at) in self.slots.iter().filter(|slot| slot.1 != EMPTY) {
            let mut nth = hash as usize & mask;
            while slots[nth].1 != EMPTY {
                nth = (nth + 1) & mask;
            }
            slots[nth] = (hash, at);
        }
        self.slots = slots;
    }

    #[inline]
    fn equals(&self, at: usize, bytes: &[u8], start: usize, len: usize) -> bool {
        if len <= 8 {
            return self.arena[at + 1] == word_at(bytes, start) & low_bytes(len);
        }
        let words = &self.arena[at + 1..at + 1 + len.div_ceil(8)];
        let equal = |(nth, &word): (usize, &u64)| {
            word == word_at(bytes, start + 8 * nth) & low_bytes(len - 8 * nth)
        };
        words.iter().enumerate().all(equal)
    }

    #[inline(never)]
    fn find_or_add(&mut self, hash: u32, bytes: &[u8], start: usize, len: usize) -> u32 {
        let mask = self.slots.len() - 1;
        let mut nth = hash as usize & mask;
        loop {
            let (other, at) = self.slots[nth];
            if at == EMPTY {
                break;
            }
            let head = self.arena[at as usize - 1];
            if other == hash
                && (head >> 32) as usize == len
                && self.equals(at as usize - 1, bytes, start, len)
            {
                return head as u32;
            }
            nth = (nth + 1) & mask;
        }
        let number = self.n_terms;
        self.slots[nth] = (hash, self.arena.len() as u32 + 1);
        self.arena.push(u64::from(number) | (len as u64) << 32);
        for from in (0..len.max(1)).step_by(8) {
            self.arena.push(word_at(bytes, start + from) & low_bytes(len - from));
        }
        self.n_terms += 1;
        number
    }

    /// The terms in byte order.
    pub(crate) fn sorted(&self) -> Vec<TermRef> {
        // The first eight bytes as one big-endian number decide nearly always.
        let mut keyed: Vec<SortKey> = Vec::with_capacity(self.len());
        let mut at = 0;
        while at < self.arena.len() {
            let head = self.arena[at];
            keyed.push(SortKey::new(self.arena[at + 1], at as u32, head as u32));
            at += record_words(head);
        }
        keyed.sort_unstable();
        let ties = keyed.chunk_by_mut(|a, b| a.first_word() == b.first_word());
        for ties in ties.filter(|ties| ties.len() > 1) {
            ties.sort_unstable_by(|a, b| {
                self.compare_behind_first_word(a.term().at as usize, b.term().at as usize)
            });
        }
        keyed.into_iter().map(SortKey::term).collect()
    }

    fn compare_behind_first_word(&self, a: usize, b: usize) -> std::cmp::Ordering {
        let words = |at: usize| {
            self.arena[at + 2..at + record_words(self.arena[at])].iter().map(|w| w.swap_bytes())
        };
        let by_common_words =
            || words(a).zip(words(b)).find(|(x, y)| x != y).map(|(x, y)| x.cmp(&y));
        // Zero padding makes a prefix compare equal; then the shorter term is the smaller one.
        by_common_words().unwrap_or_else(|| (self.arena[a] >> 32).cmp(&(self.arena[b] >> 32)))
    }

    /// Calls `visit` with each of `terms`, whose records are asked for some terms ahead: in their order they lie anywhere.
    #[inline]
    pub(crate) fn for_each(&self, terms: &[TermRef], mut visit: impl FnMut(TermRef)) {
        for (nth, term) in terms.iter().enumerate() {
            if let Some(later) = terms.get(nth + AHEAD) {
                prefetch_of(&self.arena[later.at as usize]);
            }
            visit(*term);
        }
    }

    /// Replaces `out` by the bytes of a term.
    #[inline]
    pub(crate) fn copy_term(&self, term: TermRef, out: &mut Vec<u8>) {
        let at = term.at as usize;
        let head = self.arena[at];
        out.clear();
        for word in &self.arena[at + 1..at + record_words(head)] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.truncate((head >> 32) as usize);
    }
}

/// A term of a [`TermTable`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct TermRef {
    /// Start of its record.
    at: u32,
    pub(crate) number: u32,
}

/// First word of a term as a big-endian number, start of its record, number: in one integer, which compares without a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SortKey(u128);

impl SortKey {
    fn new(first_word: u64, at: u32, number: u32) -> Self {
        let term = u64::from(at) << 32 | u64::from(number);
        SortKey(u128::from(first_word.swap_bytes()) << 64 | u128::from(term))
    }

    fn first_word(self) -> u64 {
        (self.0 >> 64) as u64
    }

    fn term(self) -> TermRef {
        TermRef { at: (self.0 >> 32) as u32, number: self.0 as u32 }
    }
}

/// Words of the record that begins with `head`.
#[inline]
fn record_words(head: u64) -> usize {
    1 + ((head >> 32) as usize).div_ceil(8).max(1)
}

#[inline]
fn word_at(bytes: &[u8], at: usize) -> u64 {
    array_at(bytes, at).map_or(0, u64::from_le_bytes)
}

/// Mask of the first `len` bytes of a word.
#[inline]
fn low_bytes(len: usize) -> u64 {
    if len >= 8 { !0 } else { (1 << (8 * len)) - 1 }
}

/// Multiplies to 128 bits and folds the halves: two rounds mix well enough for a table that is
/// sorted before anyone sees it.
#[inline]
fn hash_of(bytes: &[u8], start: usize, len: usize, seed: u64) -> u32 {
    const B: u64 = 0xD6E8_FEB8_6659_FD93;
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let hash = if len <= 8 {
        fold(word_at(bytes, start) & low_bytes(len) ^ seed, B ^ len as u64)
    } else {
        let mut hash = len as u64;
        for at in (0..len - 16.min(len)).step_by(16) {
            hash =
                fold(word_at(bytes, start + at) ^ seed ^ hash, word_at(bytes, start + at + 8) ^ B);
        }
        let first_of_last = start + len.saturating_sub(16);
        fold(word_at(bytes, first_of_last) ^ seed ^ hash, word_at(bytes, start + len - 8) ^ B)
    };
    hash as u32 ^ (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn intern(table: &mut TermTable, terms: &[&[u8]]) -> Vec<u32> {
        let (mut bytes, mut tokens) = (vec![], vec![]);
        for term in terms {
            tokens.push((bytes.len() as u32, term.len() as u32));
            bytes.extend_from_slice(term);
        }
        bytes.extend_from_slice(&[b'!'; 16]);
        let mut log = vec![];
        table.intern(&bytes, &tokens, &mut log);
        log
    }

    #[test]
    fn equal_terms_share_a_number_and_come_out_sorted() {
        let mut random = 7u64;
        let mut terms: Vec<Vec<u8>> = vec![
            vec![],
            vec![0],
            vec![0, 0],
            b"a".into(),
            b"a\0".into(),
            b"abcdefgh".into(),
            b"abcdefgh\0".into(),
            vec![b'x'; 32_766],
        ];
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let len = (random >> 33) as usize % 40;
            terms
                .push((0..len).map(|at| b"ab\0\xFF"[(random >> (at % 31)) as usize & 3]).collect());
        }
        let terms: Vec<&[u8]> = terms.iter().map(Vec::as_slice).collect();
        let mut table = TermTable::default();
        for _ in 0..2 {
            let numbers = intern(&mut table, &terms);
            let mut expected = BTreeMap::new();
            for (term, number) in terms.iter().zip(&numbers) {
                assert_eq!(expected.entry(*term).or_insert(*number), number, "{term:?}");
            }
            let mut found = vec![];
            let mut term = vec![];
            for at in table.sorted() {
                table.copy_term(at, &mut term);
                found.push((term.clone(), at.number));
            }
            assert_eq!(
                found,
                expected.into_iter().map(|(t, n)| (t.to_vec(), n)).collect::<Vec<_>>()
            );
            table.clear();
        }
    }
}
