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

pub(super) struct LevenshteinAutomaton(DFA);

/// By state, the bytes after which a word can still be taken, a bit for each.
#[derive(Debug, Default)]
pub(super) struct LiveBytes(Vec<Option<[u64; 4]>>);

impl LevenshteinAutomaton {
    /// Takes what is at most `distance`, up to 2, away from `word`.
    pub(super) fn new(word: &str, distance: u8, transpositions: bool) -> Result<Self> {
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
        Ok(LevenshteinAutomaton(builder.build_dfa(word)))
    }

    /// Edit distance of a word, if it is taken; more if it is not.
    pub(super) fn distance(&self, word: &[u8]) -> u8 {
        self.0.eval(word).to_u8()
    }
}

impl TermAutomaton for LevenshteinAutomaton {
    type Memory = LiveBytes;

    fn first_live(
        &self,
        state: &u32,
        from: usize,
        LiveBytes(known): &mut LiveBytes,
    ) -> Option<(u8, u32)> {
        if known.is_empty() {
            known.resize(self.0.num_states(), None);
        }
        let live = known.get_mut(*state as usize)?.get_or_insert_with(|| {
            let mut live = [0; 4];
            for byte in 0..=u8::MAX {
                let is_live = self.can_match(&self.accept(state, byte));
                live[usize::from(byte / 64)] |= u64::from(is_live) << (byte % 64);
            }
            live
        });
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
        self.0.initial_state()
    }

    #[inline]
    fn is_match(&self, state: &u32) -> bool {
        matches!(self.0.distance(*state), Distance::Exact(_))
    }

    #[inline]
    fn can_match(&self, state: &u32) -> bool {
        *state != SINK_STATE
    }

    #[inline]
    fn accept(&self, state: &u32, byte: u8) -> u32 {
        self.0.transition(*state, byte)
    }
}

impl fmt::Debug for LevenshteinAutomaton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LevenshteinAutomaton").field("states", &self.0.num_states()).finish()
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
            let automaton = LevenshteinAutomaton::new(&word, distance, true).unwrap();
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
            let automaton = LevenshteinAutomaton::new(&word, most, transpositions).unwrap();
            let state = other.bytes().fold(automaton.start(), |at, byte| automaton.accept(&at, byte));
            let [a, b] = [&word, &other].map(|text| text.chars().collect::<Vec<_>>());
            let is_near = distance(&a, &b, transpositions) <= usize::from(most);
            prop_assert_eq!(automaton.is_match(&state), is_near, "{} {} {}", word, other, most);
            if is_near {
                let far = distance(&a, &b, transpositions);
                prop_assert_eq!(usize::from(automaton.distance(other.as_bytes())), far);
            }
        }
    }

    #[test]
    fn words_that_are_too_long_are_refused() {
        assert!(LevenshteinAutomaton::new(&"é".repeat(FUZZY_CHARS_MAX), 2, true).is_ok());
        let error =
            LevenshteinAutomaton::new(&"é".repeat(FUZZY_CHARS_MAX + 1), 2, true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.to_string().contains("FUZZY_CHARS_MAX"), "{error}");
    }
}
