//! One step: some documents into two halves that share few terms.

use super::graph::Graph;
use super::log2::{FRACTION_BITS, log2};
use crate::error::Result;
use rayon::prelude::*;

/// Rounds in which documents change sides, at the most: by then nearly none do.
const ROUNDS_MAX: i64 = 20;
/// Documents between which it is asked whether to stop.
const DOCS_AT_ONCE: usize = 1 << 11;

/// A document in one number: how much it would rather stand in the right half, its own number, and whether it does stand there.
/// So the order of these numbers is one of documents by what they would rather, whichever thread compares them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seat(u64);

/// Turns signed numbers into others of the same order.
const SIGN: u32 = 1 << 31;

impl Seat {
    /// There are fewer documents than 2^31.
    pub(super) fn new(doc: u32) -> Self {
        Seat(u64::from(doc) << 1)
    }

    #[inline]
    pub(super) fn doc(self) -> u32 {
        self.0 as u32 >> 1
    }

    fn is_right(self) -> bool {
        self.0 & 1 == 1
    }

    fn set_right(&mut self, is_right: bool) {
        self.0 = self.0 & !1 | u64::from(is_right);
    }

    fn bias(self) -> i64 {
        (((self.0 >> 32) as u32 ^ SIGN) as i32).into()
    }

    fn set_bias(&mut self, bias: i64) {
        let bias = bias.clamp(i32::MIN.into(), i32::MAX.into()) as u32 ^ SIGN;
        self.0 = self.0 & u64::from(u32::MAX) | u64::from(bias) << 32;
    }
}

/// Counts of terms, for one step after the other: up to 16 bytes a term.
#[derive(Debug)]
pub(super) struct Scratch {
    /// In how many documents of each half a term is; between two steps, in none.
    counts: Vec<[u32; 2]>,
    /// Weight by which each term speaks for the right half.
    biases: Vec<i32>,
    /// Terms of the documents of this step.
    terms: Vec<u32>,
}

impl Scratch {
    pub(super) fn new(n_terms: u32) -> Self {
        let n_terms = n_terms as usize;
        Scratch { counts: vec![[0; 2]; n_terms], biases: vec![0; n_terms], terms: vec![] }
    }

    fn count(&mut self, graph: &Graph, seats: &[Seat]) {
        for seat in seats {
            for &term in graph.terms_of(seat.doc()) {
                let counts = &mut self.counts[term as usize];
                if *counts == [0; 2] {
                    self.terms.push(term);
                }
                counts[usize::from(seat.is_right())] += 1;
            }
        }
        // A term in one document has no bias: it does not matter where that document stands.
        let Scratch { counts, biases, terms } = self;
        terms.retain(|term| {
            let keeps = counts[*term as usize].iter().sum::<u32>() > 1;
            if !keeps {
                counts[*term as usize] = [0; 2];
                biases[*term as usize] = 0;
            }
            keeps
        });
    }

    /// A term costs the less in a half the more of its documents are there: the gap from one to the next becomes smaller.
    fn weigh_terms(&mut self) {
        for &term in &self.terms {
            let [left, right] = self.counts[term as usize];
            self.biases[term as usize] = log2(right) - log2(left);
        }
    }

    /// Breaks a balance, in which each term has as many documents in both halves: lets a term speak that not all of so many
    /// documents have. Whether there is one.
    fn prefer_one(&mut self, n_docs: usize) -> bool {
        let is_of_some = |term: &u32| {
            let n: u32 = self.counts[*term as usize].iter().sum();
            (n as usize) < n_docs
        };
        let term = self.terms.iter().copied().find(is_of_some);
        term.inspect(|term| self.biases[*term as usize] = 1 << FRACTION_BITS).is_some()
    }

    fn weigh(&self, graph: &Graph, seat: &mut Seat) {
        let biases = graph.terms_of(seat.doc()).iter().map(|term| self.biases[*term as usize]);
        seat.set_bias(biases.map(i64::from).sum());
    }

    fn clear(&mut self) {
        self.terms.drain(..).for_each(|term| self.counts[term as usize] = [0; 2]);
    }
}

/// Gain of changing the sides of the two documents that gain the most by it.
fn gain(seats: &[Seat]) -> i64 {
    let (left, right) = seats.split_at(seats.len() / 2);
    let most = left.iter().map(|seat| seat.bias()).max();
    let least = right.iter().map(|seat| seat.bias()).min();
    most.zip(least).map_or(0, |(most, least)| most - least)
}

/// A step of some documents.
pub(super) struct Step<'s, A> {
    pub(super) graph: &'s Graph,
    /// Whether other threads of the pool that this one belongs to help.
    pub(super) is_shared: bool,
    /// Told how many documents were looked at; whether to go on.
    pub(super) ask: &'s A,
}

impl<A: Fn(usize) -> Result<()> + Sync> Step<'_, A> {
    /// Puts documents, which ascend, in two halves, which ascend, too. There are at least two.
    pub(super) fn split(&self, seats: &mut [Seat], scratch: &mut Scratch) -> Result<()> {
        let middle = seats.len() / 2;
        seats.iter_mut().enumerate().for_each(|(at, seat)| seat.set_right(at >= middle));
        scratch.count(self.graph, seats);
        for round in 0..ROUNDS_MAX {
            scratch.weigh_terms();
            self.weigh(seats, scratch)?;
            if round == 0 && gain(seats) == 0 && scratch.prefer_one(seats.len()) {
                self.weigh(seats, scratch)?;
            }
            // Less and less is worth another round.
            if gain(seats) <= round << FRACTION_BITS {
                break;
            }
            seats.select_nth_unstable(middle);
            self.change_sides(seats, scratch);
        }
        scratch.clear();
        seats.iter_mut().for_each(|seat| *seat = Seat::new(seat.doc()));
        let (left, right) = seats.split_at_mut(middle);
        left.sort_unstable();
        right.sort_unstable();
        Ok(())
    }

    fn weigh(&self, seats: &mut [Seat], scratch: &Scratch) -> Result<()> {
        let weigh = |seats: &mut [Seat]| {
            (self.ask)(seats.len())?;
            seats.iter_mut().for_each(|seat| scratch.weigh(self.graph, seat));
            Ok(())
        };
        match self.is_shared {
            true => seats.par_chunks_mut(DOCS_AT_ONCE).try_for_each(weigh),
            false => seats.chunks_mut(DOCS_AT_ONCE).try_for_each(weigh),
        }
    }

    /// Counts the terms of documents that stand in the other half now.
    fn change_sides(&self, seats: &mut [Seat], scratch: &mut Scratch) {
        let middle = seats.len() / 2;
        for (at, seat) in seats.iter_mut().enumerate() {
            let (was, is) = (seat.is_right(), at >= middle);
            if was == is {
                continue;
            }
            seat.set_right(is);
            for &term in self.graph.terms_of(seat.doc()) {
                let counts = &mut scratch.counts[term as usize];
                // A term of one document is not counted.
                if let Some(left) = counts[usize::from(was)].checked_sub(1) {
                    counts[usize::from(was)] = left;
                    counts[usize::from(is)] += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph;
    use super::*;

    #[test]
    fn seats_stand_in_the_order_of_what_documents_would_rather() {
        let seat = |bias, doc, is_right| {
            let mut seat = Seat::new(doc);
            seat.set_bias(bias);
            seat.set_right(is_right);
            assert_eq!((seat.bias(), seat.doc(), seat.is_right()), (bias, doc, is_right));
            seat
        };
        let most = (1 << 31) - 1;
        let seats = [
            seat(i32::MIN.into(), most, true),
            seat(-1, 7, false),
            seat(0, 6, true),
            seat(0, 7, false),
            seat(1, 0, true),
            seat(i32::MAX.into(), 0, false),
        ];
        assert!(seats.is_sorted());
        let mut beyond = Seat::new(3);
        beyond.set_bias(i64::MAX);
        assert_eq!(beyond.bias(), i64::from(i32::MAX));
    }

    #[test]
    fn documents_of_the_same_terms_come_to_stand_in_the_same_half() {
        // Two kinds, mixed, or only those in the middle, each with a term of its own, too.
        let mixed = |doc: u32| doc % 2;
        let in_the_middle = |doc: u32| if (12..28).contains(&doc) { doc % 2 } else { doc / 28 };
        let kinds: [&dyn Fn(u32) -> u32; 2] = [&mixed, &in_the_middle];
        for (kind, is_shared) in kinds.iter().flat_map(|kind| [(kind, false), (kind, true)]) {
            let docs: Vec<Vec<u32>> = (0..40).map(|doc| vec![kind(doc), 2 + doc]).collect();
            let docs: Vec<&[u32]> = docs.iter().map(|terms| &terms[..]).collect();
            let graph = graph::of(&docs, 42);
            let mut scratch = Scratch::new(42);
            let step = Step { graph: &graph, is_shared, ask: &|_| Ok(()) };
            let mut seats: Vec<_> = (0..40).map(Seat::new).collect();
            step.split(&mut seats, &mut scratch).unwrap();
            let halves = seats.chunks(20).map(|half| half.iter().map(|seat| seat.doc()));
            for half in halves {
                assert!(half.clone().is_sorted());
                let kinds: Vec<u32> = half.map(kind).collect();
                assert!(kinds.windows(2).all(|two| two[0] == two[1]), "{kinds:?}");
            }
        }
    }
}
