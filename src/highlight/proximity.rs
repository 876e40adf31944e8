//! Occurrences of a phrase in a text, found from the positions of its words.
//!
//! Words in any order are a matter of bits, one for each position: with the words of a phrase moved to
//! where the phrase would begin, a *window* of a certain reach must hold all of them; for an exact
//! phrase the reach is 0. Bits are spread over the reach by doubling, so that the cost is one pass over
//! the bits for each word, however frequent and however often repeated. Words in a given order are found as
//! chains: from each place of the first, the earliest and the latest way to the last.

use super::terms::{Phrase, PhraseItem};
use crate::query::Proximity;

/// Position of an item in a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) position: u32,
    /// Mark that is reported if the place is part of a phrase.
    pub(super) mark: usize,
}

/// Calls `sink` with the mark of each place that is part of the phrase, maybe more than once. `places` are
/// those of each item, by position.
pub(super) fn occurrences(phrase: &Phrase, places: &[Vec<Place>], sink: impl FnMut(usize)) {
    let words = &phrase.words[..];
    let places_of = |word: &PhraseItem| &places[word.item as usize][..];
    let Some(last) = words.last().map(|last| last.offset as usize) else { return };
    if words.iter().any(|word| places_of(word).is_empty()) {
        return;
    }
    let end = words.iter().filter_map(|word| places_of(word).last());
    let end = end.map(|place| place.position as usize + 1).max().unwrap_or(0);
    match phrase.proximity {
        Proximity::Exact if last >= end => {}
        Proximity::Exact => windows(words, places, TermWindow { end, last, reach: 0 }, sink),
        Proximity::Slop(slop) => {
            let reach = (slop as usize).min(end + last);
            windows(words, places, TermWindow { end, last, reach }, sink);
        }
        Proximity::Near(slop) => {
            let reach = (slop as usize).saturating_add(last).min(end);
            let words: Vec<_> =
                words.iter().map(|word| PhraseItem { offset: 0, ..*word }).collect();
            windows(&words, places, TermWindow { end, last: 0, reach }, sink);
        }
        Proximity::Ordered(slop) => chains(words, places, u64::from(slop) + last as u64, sink),
    }
}

/// Positions up to which a bit for each is no trouble.
const POSITIONS_FEW: u32 = 1 << 20;

/// Moves places closer together where nothing stands between them for longer than any phrase reaches: gaps between
/// values, and tokenizers that skip positions, would take a bit for each of them.
pub(super) fn close_gaps(phrases: &[Phrase], places: &mut [Vec<Place>]) {
    let last = places.iter().filter_map(|places| places.last()).map(|place| place.position).max();
    if last.is_none_or(|last| last < POSITIONS_FEW) {
        return;
    }
    let reach = phrases.iter().map(|phrase| {
        let last = phrase.words.last().map_or(0, |last| last.offset);
        let slop = match phrase.proximity {
            Proximity::Exact => 0,
            Proximity::Slop(slop) | Proximity::Near(slop) | Proximity::Ordered(slop) => slop,
        };
        slop.saturating_add(last).saturating_add(1)
    });
    let reach = reach.max().unwrap_or(0);
    let mut taken: Vec<u32> = places.iter().flatten().map(|place| place.position).collect();
    taken.sort_unstable();
    taken.dedup();
    let (mut before, mut at) = (0, 0_u32);
    let closed = taken.iter().map(|position| {
        at = at.saturating_add((position - before).min(reach));
        before = *position;
        at
    });
    let closed: Vec<u32> = closed.collect();
    for place in places.iter_mut().flatten() {
        if let Ok(nth) = taken.binary_search(&place.position) {
            place.position = closed[nth];
        }
    }
}

#[derive(Clone, Copy)]
struct TermWindow {
    /// The position behind the last one.
    end: usize,
    /// The offset of the last word.
    last: usize,
    /// A position less the word's offset may be so much more than the least of the window.
    reach: usize,
}

/// Words in any order. Bit `position + last - offset` is where the phrase would begin, plus `last`.
fn windows(
    words: &[PhraseItem],
    places: &[Vec<Place>],
    window: TermWindow,
    mut sink: impl FnMut(usize),
) {
    let TermWindow { end, last, reach } = window;
    let mut by_item = words.to_vec();
    by_item.sort_by_key(|word| (word.item, word.offset));
    let groups = || by_item.chunk_by(|a, b| a.item == b.item);
    let places_of = |group: &[PhraseItem]| &places[group[0].item as usize];
    let mut complete = Bits::full(end + last);
    for group in groups() {
        let mut bits = Bits::empty(end + last);
        places_of(group).iter().for_each(|place| bits.set(place.position as usize + last));
        bits.spread_down(reach);
        for word in group {
            complete.and_down(&bits, word.offset as usize);
        }
    }
    for group in groups().filter(|group| group.len() > 1 && reach > 0) {
        let places = places_of(group);
        complete.retain(|window| stand_apart(group, places, window, last, reach));
    }
    complete.spread_up(reach);
    for group in groups() {
        let mut bits = Bits::empty(end + last);
        for word in group {
            bits.or_up(&complete, word.offset as usize);
        }
        let parts = places_of(group).iter();
        let parts = parts.filter(|place| bits.get(place.position as usize + last));
        parts.for_each(|place| sink(place.mark));
    }
}

/// Whether words that are the same find a place each, all within a window.
fn stand_apart(
    group: &[PhraseItem],
    places: &[Place],
    window: usize,
    last: usize,
    reach: usize,
) -> bool {
    // Each may stand in a stretch of the same length, later ones later: the first free place is best.
    let mut free = 0;
    group.iter().all(|word| {
        let from = (window + word.offset as usize).saturating_sub(last).max(free);
        let at = places.partition_point(|place| (place.position as usize) < from);
        let Some(place) = places.get(at) else { return false };
        free = place.position as usize + 1;
        place.position as usize + last <= window + word.offset as usize + reach
    })
}

/// Words in their order, the last at most `reach` behind the first.
#[expect(clippy::needless_range_loop, reason = "walks several lists by the number of the word")]
fn chains(words: &[PhraseItem], places: &[Vec<Place>], reach: u64, mut sink: impl FnMut(usize)) {
    let places: Vec<&[Place]> = words.iter().map(|word| &places[word.item as usize][..]).collect();
    let position =
        |nth: usize, at: usize| places[nth].get(at).map(|place| u64::from(place.position));
    // Two terms in one place of the query may be in one place of the text.
    let step = |nth: usize| u64::from(words[nth].offset > words[nth - 1].offset);
    let n = words.len();
    // For each word: the place taken at the earliest, the one at the latest, and what is told already.
    let (mut earliest, mut latest, mut told) = (vec![0; n], vec![0; n], vec![0; n]);
    'starts: for (start, first) in places[0].iter().enumerate() {
        let first_at = u64::from(first.position);
        let mut before = first_at;
        for nth in 1..n {
            let floor = before + step(nth);
            before = loop {
                match position(nth, earliest[nth]) {
                    None => break 'starts,
                    Some(at) if at >= floor => break at,
                    Some(_) => earliest[nth] += 1,
                }
            };
        }
        if before - first_at > reach {
            continue;
        }
        let mut ceiling = first_at + reach;
        for nth in (1..n).rev() {
            latest[nth] = latest[nth].max(earliest[nth]);
            while position(nth, latest[nth] + 1).is_some_and(|at| at <= ceiling) {
                latest[nth] += 1;
            }
            ceiling = position(nth, latest[nth]).unwrap_or(ceiling).saturating_sub(step(nth));
            let from = earliest[nth].max(told[nth]);
            places[nth]
                .get(from..=latest[nth])
                .into_iter()
                .flatten()
                .for_each(|place| sink(place.mark));
            told[nth] = latest[nth] + 1;
        }
        sink(places[0][start].mark);
    }
}

/// A bit for each of so many numbers.
#[derive(Clone)]
struct Bits(Vec<u64>);

impl Bits {
    fn empty(len: usize) -> Self {
        Bits(vec![0; len.div_ceil(64)])
    }

    fn full(len: usize) -> Self {
        Bits(vec![u64::MAX; len.div_ceil(64)])
    }

    fn set(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    fn get(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// 64 bits from `at`, which may be beyond the end.
    fn from(&self, at: usize) -> u64 {
        let word = |at: usize| self.0.get(at).copied().unwrap_or(0);
        match at % 64 {
            0 => word(at / 64),
            low => word(at / 64) >> low | word(at / 64 + 1) << (64 - low),
        }
    }

    /// 64 bits up to `64 * nth + 64`, moved up by `by`.
    fn moved_up(&self, nth: usize, by: usize) -> u64 {
        let word = |back: usize| nth.checked_sub(back).map_or(0, |at| self.0[at]);
        match by % 64 {
            0 => word(by / 64),
            high => word(by / 64) << high | word(by / 64 + 1) >> (64 - high),
        }
    }

    /// Keeps bits whose number plus `by` is in `other`.
    fn and_down(&mut self, other: &Bits, by: usize) {
        for (nth, word) in self.0.iter_mut().enumerate() {
            *word &= other.from(64 * nth + by);
        }
    }

    /// Adds the bits of `other`, which is as long, moved up by `by`.
    fn or_up(&mut self, other: &Bits, by: usize) {
        for (nth, word) in self.0.iter_mut().enumerate() {
            *word |= other.moved_up(nth, by);
        }
    }

    /// Adds what is at most `reach` below a bit.
    fn spread_down(&mut self, reach: usize) {
        self.spread(reach, |bits, by| {
            for nth in 0..bits.0.len() {
                bits.0[nth] |= bits.from(64 * nth + by);
            }
        });
    }

    /// Adds what is at most `reach` above a bit.
    fn spread_up(&mut self, reach: usize) {
        self.spread(reach, |bits, by| {
            for nth in (0..bits.0.len()).rev() {
                bits.0[nth] |= bits.moved_up(nth, by);
            }
        });
    }

    fn spread(&mut self, reach: usize, mut by: impl FnMut(&mut Self, usize)) {
        let mut covered = 0;
        while covered < reach {
            let more = (covered + 1).min(reach - covered);
            by(self, more);
            covered += more;
        }
    }

    fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        for (nth, word) in self.0.iter_mut().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                if !keep(64 * nth + bit as usize) {
                    *word &= !(1 << bit);
                }
            }
        }
    }
}
