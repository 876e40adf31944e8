//! Automata over the bytes of terms. They are a fixed beginning before another automaton, and regular expressions as
//! deterministic automata of bounded size.

use std::fmt;

use fst::Automaton;
use regex_automata::dfa::{Automaton as _, StartError, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::util::{start, syntax};
use regex_automata::{Anchored, MatchKind, nfa::thompson};

use crate::error::{Error, ErrorKind, Result};
use crate::format::terms::TermAutomaton;
use crate::limits::{self, Limits};

/// Bytes that the automaton of a regular expression may take, and that making it may.
pub const REGEX_BYTES_MAX: usize = Limits::DEFAULT.regex_bytes;
/// Brackets and repetitions inside each other in a regular expression.
pub const REGEX_NEST_MAX: u32 = 50;

#[cfg(test)]
thread_local! {
    /// Regular expressions that this thread has made automata of.
    static N_COMPILED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Number of regular expressions that this thread has made automata of: for tests that they are not made again.
#[cfg(test)]
pub(crate) fn n_compiled() -> u64 {
    N_COMPILED.get()
}

/// Takes a fixed beginning, then what another automaton takes.
pub(super) struct AfterPrefix<A> {
    prefix: Vec<u8>,
    rest: A,
}

/// Progress of an [`AfterPrefix`].
#[derive(Clone, Copy)]
pub(super) enum AfterPrefixState<S> {
    /// So many bytes of the beginning have been taken.
    In(usize),
    Rest(S),
    Dead,
}

impl<A: Automaton> AfterPrefix<A> {
    pub(super) fn new(prefix: Vec<u8>, rest: A) -> Self {
        AfterPrefix { prefix, rest }
    }

    /// Bytes of the beginning.
    pub(super) fn prefix_len(&self) -> usize {
        self.prefix.len()
    }

    /// Automaton that takes the rest.
    pub(super) fn rest(&self) -> &A {
        &self.rest
    }

    fn taken(&self, len: usize) -> AfterPrefixState<A::State> {
        match len == self.prefix.len() {
            true => AfterPrefixState::Rest(self.rest.start()),
            false => AfterPrefixState::In(len),
        }
    }
}

/// For a reference, as a search shares it with others.
impl<A: TermAutomaton> TermAutomaton for &AfterPrefix<A> {
    type Memory = A::Memory;

    fn first_live(
        &self,
        state: &Self::State,
        from: usize,
        memory: &mut A::Memory,
    ) -> Option<(u8, Self::State)> {
        match state {
            AfterPrefixState::Rest(state) => {
                let (byte, next) = self.rest.first_live(state, from, memory)?;
                Some((byte, AfterPrefixState::Rest(next)))
            }
            AfterPrefixState::In(len) => {
                let byte = *self.prefix.get(*len).filter(|byte| usize::from(**byte) >= from)?;
                Some((byte, self.taken(len + 1)))
            }
            AfterPrefixState::Dead => None,
        }
    }
}

impl<A: Automaton> Automaton for AfterPrefix<A> {
    type State = AfterPrefixState<A::State>;

    fn start(&self) -> Self::State {
        self.taken(0)
    }

    fn is_match(&self, state: &Self::State) -> bool {
        matches!(state, AfterPrefixState::Rest(state) if self.rest.is_match(state))
    }

    #[inline]
    fn can_match(&self, state: &Self::State) -> bool {
        match state {
            AfterPrefixState::In(_) => true,
            AfterPrefixState::Rest(state) => self.rest.can_match(state),
            AfterPrefixState::Dead => false,
        }
    }

    #[inline]
    fn accept(&self, state: &Self::State, byte: u8) -> Self::State {
        match state {
            AfterPrefixState::Rest(state) => AfterPrefixState::Rest(self.rest.accept(state, byte)),
            AfterPrefixState::In(len) if self.prefix[*len] == byte => self.taken(len + 1),
            AfterPrefixState::In(_) | AfterPrefixState::Dead => AfterPrefixState::Dead,
        }
    }
}

/// A regular expression that must match a whole term.
pub(super) struct RegexAutomaton {
    dfa: dense::DFA<Vec<u32>>,
    start: StateID,
}

impl RegexAutomaton {
    pub(super) fn new(pattern: &str) -> Result<Self> {
        #[cfg(test)]
        N_COMPILED.set(N_COMPILED.get() + 1);
        let bytes = Some(limits::current().regex_bytes);
        let dfa = dense::Builder::new()
            .configure(
                dense::Config::new()
                    .start_kind(regex_automata::dfa::StartKind::Anchored)
                    .match_kind(MatchKind::All)
                    .accelerate(false)
                    .dfa_size_limit(bytes)
                    .determinize_size_limit(bytes),
            )
            .thompson(thompson::Config::new().nfa_size_limit(bytes))
            .syntax(syntax::Config::new().nest_limit(REGEX_NEST_MAX))
            .build(pattern)
            .map_err(|error| refused(pattern, &error))?;
        let config = start::Config::new().anchored(Anchored::Yes);
        match dfa.start_state(&config) {
            Ok(start) => Ok(RegexAutomaton { dfa, start }),
            Err(error) => Err(no_start(&error)),
        }
    }
}

impl Automaton for RegexAutomaton {
    type State = StateID;

    fn start(&self) -> StateID {
        self.start
    }

    #[inline]
    fn is_match(&self, state: &StateID) -> bool {
        self.dfa.is_match_state(self.dfa.next_eoi_state(*state))
    }

    #[inline]
    fn can_match(&self, state: &StateID) -> bool {
        !self.dfa.is_dead_state(*state) && !self.dfa.is_quit_state(*state)
    }

    #[inline]
    fn accept(&self, state: &StateID, byte: u8) -> StateID {
        self.dfa.next_state(*state, byte)
    }
}

/// Whether an automaton takes a whole term.
pub(super) fn accepts<A: Automaton>(automaton: &A, term: &[u8]) -> bool {
    let mut state = automaton.start();
    for byte in term {
        if !automaton.can_match(&state) {
            return false;
        }
        state = automaton.accept(&state, *byte);
    }
    automaton.is_match(&state)
}

impl fmt::Debug for RegexAutomaton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegexAutomaton").field("bytes", &self.dfa.memory_usage()).finish()
    }
}

#[cold]
fn refused(pattern: &str, error: &dense::BuildError) -> Error {
    let what = "reading a regular expression";
    // Two limits are told apart from everything else; the syntax errors of that crate are of
    // several lines with carets, of which the last says what is wrong.
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let text = cause.to_string();
    let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
    if reason.contains("maximum number of nested") {
        let (name, unit) = ("REGEX_NEST_MAX", "levels of brackets and repetitions");
        return Error::limit_reached(what, name, REGEX_NEST_MAX, unit, None);
    }
    if error.is_size_limit_exceeded() || reason.contains("limit") {
        let most = limits::current().regex_bytes;
        let unit = "bytes of an automaton";
        return Error::limit_reached(what, "REGEX_BYTES_MAX", most, unit, None)
            .found(format!("more for {} bytes of pattern: {reason}", pattern.len()))
            .hint("fewer or shorter repetitions make it smaller; Limits::regex_bytes raises it");
    }
    if reason.contains("word boundar") {
        return Error::new(ErrorKind::Query, what)
            .expected("an expression without word boundaries as \\b")
            .found(format!("'{pattern}'"))
            .hint("terms are single words, and an expression matches a term as a whole: leave \\b out, or write .* where the term may go on");
    }
    Error::new(ErrorKind::Query, what).found(reason)
}

#[cold]
fn no_start(error: &StartError) -> Error {
    Error::new(ErrorKind::Query, "reading a regular expression").found(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(automaton: &impl Automaton, text: &str) -> bool {
        super::accepts(automaton, text.as_bytes())
    }

    #[test]
    fn a_regular_expression_matches_the_whole_term() {
        let cases = [
            ("ab+c", "abbc", true),
            ("ab+c", "xabc", false),
            ("ab+c", "abcx", false),
            ("a|ab", "ab", true),
            ("", "", true),
            ("", "a", false),
            ("^ab$", "ab", true),
            ("(?i)straße", "STRASSE", false),
            ("(?i)é", "É", true),
            (".", "東", true),
            ("..", "東", false),
            (r"\w+", "naïve", true),
            (r"\pL{1,3}", "añb", true),
            ("[^a]*", "bcd", true),
        ];
        for (pattern, text, expected) in cases {
            let automaton = RegexAutomaton::new(pattern).unwrap();
            assert_eq!(accepts(&automaton, text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn patterns_that_explode_are_refused_by_the_name_of_the_limit() {
        let deep = format!("{}a{}", "(".repeat(60), ")".repeat(60));
        let long = "(a{1000}){1000}";
        let bytes = "limit REGEX_BYTES_MAX";
        let cases = [
            ("(a|b)*a(a|b){18}", bytes),
            (r"\pL{1,2000}", bytes),
            (long, bytes),
            ("((a{100}){100}){100}", bytes),
            (&deep, "limit REGEX_NEST_MAX"),
        ];
        for (pattern, limit) in cases {
            let error = RegexAutomaton::new(pattern).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{pattern}: {error}");
            assert!(error.to_string().contains(limit), "{error}");
        }
    }

    #[test]
    fn what_is_no_regular_expression_says_why() {
        let cases = [
            ("a(", "unclosed group"),
            ("[z-a]", "invalid character class range"),
            ("*", "repetition"),
        ];
        for (pattern, reason) in cases {
            let error = RegexAutomaton::new(pattern).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Query, "{pattern}");
            assert!(error.to_string().contains(reason), "{pattern}: {error}");
        }
    }

    #[test]
    fn a_fixed_beginning_is_taken_first() {
        let rest = RegexAutomaton::new("c?").unwrap();
        let automaton = AfterPrefix::new(b"ab".to_vec(), rest);
        for (text, expected) in
            [("ab", true), ("abc", true), ("a", false), ("abd", false), ("xb", false), ("", false)]
        {
            assert_eq!(accepts(&automaton, text), expected, "{text}");
        }
    }
}
