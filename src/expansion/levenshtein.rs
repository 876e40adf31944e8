//! Words within a distance, as a deterministic automaton.

use std::fmt;
use std::sync::OnceLock;

use fst::Automaton;
use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};

use crate::error::{Error, ErrorKind, Result};
use crate::format::terms::TermAutomaton;
use crate::limits::{self, Limits};

/// Maximum characters of a fuzzy word; one takes up to 30 KiB during its search.
pub const FUZZY_CHARS_MAX: usize = Limits::DEFAULT.fuzzy_chars;

/// The tables behind all words, by distance and by whether a swap counts as one: some milliseconds
/// for distance 2, and made when first needed.
static BUILDERS: [OnceLock<LevenshteinAutomatonBuilder>; 6] = [const { OnceLock::new() }; 6];

/// The automaton with a column for each kind of bytes that no state tells apart, and without states from which nothing
/// is reached: a few KiB, where a column for each byte would not stay in the fastest cache.
pub(super) struct LevenshteinAutomaton {
    /// The column of a byte.
    columns: [u8; 256],
    /// The bytes of each column, a bit for each.
    bytes_of: Vec<[u64; 4]>,
    /// A row of a state takes two to the power of this.
    row_bits: u32,
    /// Start of the row of the next state, by row and column.
    next: Vec<u32>,
    /// Distances of the words that end in a state, more than `most` if they are not taken.
    distances: Vec<u8>,
    most: u8,
    start: u32,
}

/// By state, the bytes after which a word can still be taken, a bit for each.
#[derive(Debug, Default)]
pub(super) struct LiveBytes(Vec<Option<[u64; 4]>>);

impl LevenshteinAutomaton {
    /// Takes `beginning`, and behind it what is at most `distance`, up to 2, away from `word`.
    pub(super) fn new(
        beginning: &str,
        word: &str,
        distance: u8,
        transpositions: bool,
    ) -> Result<Self> {
        let n_chars = word.chars().count();
        let most = limits::current().fuzzy_chars;
        if n_chars > most {
            let (what, name) = ("reading a fuzzy word", "FUZZY_CHARS_MAX");
            return Err(Error::limit_reached(what, name, most, "characters", Some(n_chars)));
        }
        let slot = BUILDERS.get(2 * usize::from(distance) + usize::from(transpositions));
        let Some(slot) = slot else {
            return Err(Error::new(ErrorKind::Query, "reading a fuzzy word")
                .expected("a distance of at most 2")
                .found(distance.to_string()));
        };
        let builder =
            slot.get_or_init(|| LevenshteinAutomatonBuilder::new(distance, transpositions));
        Ok(Self::of(&builder.build_dfa(word), beginning, word, distance))
    }

    fn of(dfa: &DFA, beginning: &str, word: &str, most: u8) -> Self {
        let Columns { columns, first_bytes, bytes_of } =
            Columns::of(beginning.bytes().chain(word.bytes()));
        let n_states = dfa.num_states();
        let states = 0..n_states as u32;
        let is_taken = |state| matches!(dfa.distance(state), Distance::Exact(_));
        let row_bits = first_bytes.len().next_power_of_two().trailing_zeros();
        // Between the bytes of a character there are states that lead to the sink whatever comes.
        let mut is_dead = vec![false; n_states];
        is_dead[SINK_STATE as usize] = true;
        let mut is_known = false;
        while !is_known {
            is_known = true;
            for state in states.clone() {
                let mut nexts = first_bytes.iter().map(|byte| dfa.transition(state, *byte));
                if !is_dead[state as usize]
                    && !is_taken(state)
                    && nexts.all(|next| is_dead[next as usize])
                {
                    (is_dead[state as usize], is_known) = (true, false);
                }
            }
        }
        let mut next = vec![0; n_states << row_bits];
        for (state, row) in states.clone().zip(next.chunks_exact_mut(1 << row_bits)) {
            let row = if state == SINK_STATE { &mut [] } else { row };
            for (to, byte) in row.iter_mut().zip(&first_bytes) {
                let next = dfa.transition(state, *byte);
                *to = if is_dead[next as usize] { SINK_STATE } else { next << row_bits };
            }
        }
        let mut distances: Vec<u8> = states.map(|state| dfa.distance(state).to_u8()).collect();
        let mut start = dfa.initial_state() << row_bits;
        // A row for each byte of the beginning, the last first.
        for byte in beginning.bytes().rev() {
            let row = next.len();
            next.resize(row + (1 << row_bits), SINK_STATE);
            next[row + usize::from(columns[usize::from(byte)])] = start;
            distances.push(u8::MAX);
            start = row as u32;
        }
        LevenshteinAutomaton { columns, bytes_of, row_bits, next, distances, most, start }
    }

    /// Edit distance of a word, if it is taken; more if it is not.
    pub(super) fn distance(&self, word: &[u8]) -> u8 {
        self.distance_in(word.iter().fold(self.start, |state, byte| self.accept(&state, *byte)))
    }

    #[inline]
    fn distance_in(&self, state: u32) -> u8 {
        self.distances.get((state >> self.row_bits) as usize).copied().unwrap_or(u8::MAX)
    }

    /// The bytes after which a state can still take a word.
    fn live_bytes(&self, state: u32) -> [u64; 4] {
        let row = self.next.get(state as usize..).unwrap_or_default();
        let live = row.iter().zip(&self.bytes_of).filter(|(next, _)| **next != SINK_STATE);
        live.fold([0; 4], |live, (_, bytes)| std::array::from_fn(|at| live[at] | bytes[at]))
    }
}

/// Columns of bytes that all states of a word's automaton take alike: each byte of the word is for itself, of the
/// others those that begin characters of as many bytes are together.
struct Columns {
    columns: [u8; 256],
    first_bytes: Vec<u8>,
    bytes_of: Vec<[u64; 4]>,
}

impl Columns {
    fn of(word: impl Iterator<Item = u8>) -> Self {
        let (mut columns, mut first_bytes, mut bytes_of) = ([0; 256], vec![], vec![]);
        let mut is_of_word = [false; 256];
        word.for_each(|byte| is_of_word[usize::from(byte)] = true);
        let mut of_kinds = [None; 4];
        for byte in 0..=u8::MAX {
            let kind = match byte {
                0..0xC0 => 0,
                0xC0..0xE0 => 1,
                0xE0..0xF0 => 2,
                0xF0.. => 3,
            };
            let mut add = || {
                first_bytes.push(byte);
                bytes_of.push([0; 4]);
                bytes_of.len() - 1
            };
            let column = match is_of_word[usize::from(byte)] {
                true => add(),
                false => *of_kinds[kind].get_or_insert_with(add),
            };
            columns[usize::from(byte)] = column as u8;
            bytes_of[column][usize::from(byte / 64)] |= 1 << (byte % 64);
        }
        Columns { columns, first_bytes, bytes_of }
    }
}

/// For a reference, as a search shares it with others.
impl TermAutomaton for &LevenshteinAutomaton {
    type Memory = LiveBytes;

    fn first_live(
        &self,
        state: &u32,
        from: usize,
        LiveBytes(known): &mut LiveBytes,
    ) -> Option<(u8, u32)> {
        if known.is_empty() {
            known.resize(self.distances.len(), None);
        }
        let known = known.get_mut((*state >> self.row_bits) as usize)?;
        let live = known.get_or_insert_with(|| self.live_bytes(*state));
        let mut rest = live.get(from / 64)? & u64::MAX << (from % 64);
        for nth in from / 64.. {
            if rest != 0 {
                let byte = (64 * nth) as u8 + rest.trailing_zeros() as u8;
                return Some((byte, self.accept(state, byte)));
            }
            rest = *live.get(nth + 1)?;
        }
        None
    }
}

impl Automaton for LevenshteinAutomaton {
    type State = u32;

    fn start(&self) -> u32 {
        self.start
    }

    #[inline]
    fn is_match(&self, state: &u32) -> bool {
        self.distance_in(*state) <= self.most
    }

    #[inline]
    fn can_match(&self, state: &u32) -> bool {
        *state != SINK_STATE
    }

    #[inline]
    fn accept(&self, state: &u32, byte: u8) -> u32 {
        let column = u32::from(self.columns[usize::from(byte)]);
        self.next.get((state + column) as usize).copied().unwrap_or(SINK_STATE)
    }
}

impl fmt::Debug for LevenshteinAutomaton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LevenshteinAutomaton").field("states", &self.distances.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The table of the textbook; with transpositions that of optimal string alignment.
    fn distance(a: &[char], b: &[char], transpositions: bool) -> usize {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                table[i][j] = if i == 0 || j == 0 {
                    i + j
                } else {
                    let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let mut least = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                    if transpositions
                        && i > 1
                        && j > 1
                        && a[i - 1] == b[j - 2]
                        && a[i - 2] == b[j - 1]
                    {
                        least = least.min(table[i - 2][j - 2] + 1);
                    }
                    least
                };
            }
        }
        table[a.len()][b.len()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]

        #[test]
        fn the_next_live_byte_is_the_one_that_trying_finds(
            word in "[a-cé한]{0,5}",
            distance in 0u8..=2,
            path in prop::collection::vec(any::<u8>(), 0..4),
            from in 0usize..=256,
        ) {
            let automaton = &LevenshteinAutomaton::new("", &word, distance, true).unwrap();
            let mut memory = LiveBytes::default();
            let mut state = automaton.start();
            for step in path {
                // Along the word more often than not.
                let along = word.as_bytes().get(usize::from(step % 8)).copied().unwrap_or(step);
                state = automaton.accept(&state, along);
            }
            for from in [from, 0, 255] {
                let tried = (from..256).find_map(|byte| {
                    let next = automaton.accept(&state, byte as u8);
                    automaton.can_match(&next).then_some((byte as u8, next))
                });
                prop_assert_eq!(automaton.first_live(&state, from, &mut memory), tried);
            }
        }

        #[test]
        fn the_automaton_takes_what_the_textbook_counts(
            word in "[abé東]{0,6}",
            other in "[abé東]{0,6}",
            most in 0u8..3,
            transpositions in any::<bool>(),
        ) {
            let beginning = if transpositions { "" } else { "bé" };
            let automaton = LevenshteinAutomaton::new(beginning, &word, most, transpositions).unwrap();
            prop_assert!(automaton.distance(other.as_bytes()) > most || other.starts_with(beginning));
            let taken = [beginning, &other].concat();
            let state = taken.bytes().fold(automaton.start(), |at, byte| automaton.accept(&at, byte));
            let [a, b] = [&word, &other].map(|text| text.chars().collect::<Vec<_>>());
            let is_near = distance(&a, &b, transpositions) <= usize::from(most);
            prop_assert_eq!(automaton.is_match(&state), is_near, "{} {} {}", word, other, most);
            if is_near {
                let far = distance(&a, &b, transpositions);
                prop_assert_eq!(usize::from(automaton.distance(taken.as_bytes())), far);
            }
        }
    }

    #[test]
    fn a_state_that_is_live_can_take_a_word() {
        for (word, most) in
            [("", 1), ("a", 2), ("paris", 1), ("plaça", 2), ("東京都", 2), ("한글", 1)]
        {
            let automaton = LevenshteinAutomaton::new("", word, most, true).unwrap();
            let n_live = automaton.distances.len();
            let nexts = |state: u32| -> Vec<u32> {
                let all = (0..=u8::MAX).map(|byte| automaton.accept(&state, byte));
                all.filter(|next| *next != SINK_STATE).collect()
            };
            let mut states = vec![automaton.start()];
            let mut at = 0;
            while let Some(state) = states.get(at).copied() {
                for next in nexts(state) {
                    if !states.contains(&next) {
                        states.push(next);
                    }
                }
                at += 1;
            }
            assert!(states.len() <= n_live);
            // From the end back to the states that lead there.
            let mut takes: Vec<u32> =
                states.iter().copied().filter(|state| automaton.is_match(state)).collect();
            let mut n_before = 0;
            while takes.len() > n_before {
                n_before = takes.len();
                let leads = |state: &u32| nexts(*state).iter().any(|next| takes.contains(next));
                let new: Vec<u32> = states
                    .iter()
                    .copied()
                    .filter(|state| !takes.contains(state) && leads(state))
                    .collect();
                takes.extend(new);
            }
            assert_eq!(takes.len(), states.len(), "{word}");
        }
    }

    #[test]
    fn words_that_are_too_long_are_refused() {
        assert!(LevenshteinAutomaton::new("", &"é".repeat(FUZZY_CHARS_MAX), 2, true).is_ok());
        let error =
            LevenshteinAutomaton::new("", &"é".repeat(FUZZY_CHARS_MAX + 1), 2, true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.to_string().contains("FUZZY_CHARS_MAX"), "{error}");
    }
}
