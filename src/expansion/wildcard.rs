//! Automaton of a pattern `w?ld*c`, with a bit for each place in it.
//!
//! Each byte moves all places at once, so that no pattern takes more than a few instructions a byte
//! or more memory than another. Terms are UTF-8, where a byte of the form 10xxxxxx goes on with a
//! character: `?` takes any other byte, and its place stays where it is on those.

use std::fmt;

use fst::Automaton;

use crate::error::{Error, Result};

/// Bytes that a wildcard pattern may have from its first `?` or `*` on.
pub const WILDCARD_BYTES_MAX: usize = 127;

/// A part of a wildcard pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum WildcardPiece {
    /// This character.
    Char(char),
    /// One character.
    One,
    /// Any number of characters.
    Any,
}

impl WildcardPiece {
    /// A backslash at the end stands for itself.
    pub(crate) fn parse(pattern: &str) -> Vec<WildcardPiece> {
        let mut chars = pattern.chars();
        let mut pieces = vec![];
        while let Some(c) = chars.next() {
            pieces.push(match c {
                '*' => WildcardPiece::Any,
                '?' => WildcardPiece::One,
                '\\' => WildcardPiece::Char(chars.next().unwrap_or('\\')),
                _ => WildcardPiece::Char(c),
            });
        }
        pieces
    }

    /// The pieces of a pattern that begins so and goes on in any way.
    pub(crate) fn beginning(text: &str) -> Vec<WildcardPiece> {
        text.chars().map(WildcardPiece::Char).chain([WildcardPiece::Any]).collect()
    }

    /// With as few backslashes as possible.
    pub(crate) fn print(pieces: &[WildcardPiece]) -> String {
        let mut pattern = String::new();
        for piece in pieces {
            piece.print_to(&mut pattern);
        }
        pattern
    }

    fn print_to(self, pattern: &mut String) {
        match self {
            WildcardPiece::Any => pattern.push('*'),
            WildcardPiece::One => pattern.push('?'),
            WildcardPiece::Char(c) => {
                if matches!(c, '*' | '?' | '\\') {
                    pattern.push('\\');
                }
                pattern.push(c);
            }
        }
    }

    /// The character, if it is one.
    pub(crate) fn literal(self) -> Option<char> {
        match self {
            WildcardPiece::Char(c) => Some(c),
            WildcardPiece::One | WildcardPiece::Any => None,
        }
    }
}

/// A set of places in a pattern; place `i` is before its `i`th piece.
type Places = u128;

pub(super) struct WildcardAutomaton {
    /// By byte: the places before a piece that is this byte.
    bytes: Box<[Places; 256]>,
    /// The places before a `?`.
    ones: Places,
    /// The places before a `*`.
    anys: Places,
    end: Places,
}

/// The bytes before the first piece that is no character, and the pieces from there on.
pub(super) fn split_prefix(pieces: &[WildcardPiece]) -> (Vec<u8>, &[WildcardPiece]) {
    let mut prefix = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            WildcardPiece::Char(c) => prefix.push(*c),
            WildcardPiece::One | WildcardPiece::Any => return (prefix.into(), &pieces[at..]),
        }
    }
    (prefix.into(), &[])
}

impl WildcardAutomaton {
    pub(super) fn new(pieces: &[WildcardPiece]) -> Result<Self> {
        let mut automaton =
            WildcardAutomaton { bytes: Box::new([0; 256]), ones: 0, anys: 0, end: 0 };
        let mut len = 0;
        let mut previous = None;
        for &piece in pieces {
            let width = match piece {
                WildcardPiece::Char(c) => c.len_utf8(),
                WildcardPiece::One => 1,
                // A second star says nothing, and the step from one place to the next takes one.
                WildcardPiece::Any if previous == Some(WildcardPiece::Any) => 0,
                WildcardPiece::Any => 1,
            };
            if len + width > WILDCARD_BYTES_MAX {
                let (what, name) = ("reading a wildcard pattern", "WILDCARD_BYTES_MAX");
                let unit = "bytes from the first '?' or '*' on";
                return Err(Error::limit_reached(what, name, WILDCARD_BYTES_MAX, unit, None));
            }
            match piece {
                WildcardPiece::Char(c) => {
                    for (at, byte) in c.encode_utf8(&mut [0; 4]).bytes().enumerate() {
                        automaton.bytes[usize::from(byte)] |= 1 << (len + at);
                    }
                }
                WildcardPiece::One => automaton.ones |= 1 << len,
                WildcardPiece::Any if width == 1 => automaton.anys |= 1 << len,
                WildcardPiece::Any => {}
            }
            len += width;
            previous = Some(piece);
        }
        automaton.end = 1 << len;
        Ok(automaton)
    }

    /// Places before a star are also behind it.
    #[inline]
    fn closed(&self, places: Places) -> Places {
        places | (places & self.anys) << 1
    }
}

impl Automaton for WildcardAutomaton {
    type State = Places;

    fn start(&self) -> Places {
        self.closed(1)
    }

    #[inline]
    fn is_match(&self, places: &Places) -> bool {
        places & self.end != 0
    }

    #[inline]
    fn can_match(&self, places: &Places) -> bool {
        *places != 0
    }

    #[inline]
    fn accept(&self, places: &Places, byte: u8) -> Places {
        let literal = (places & self.bytes[usize::from(byte)]) << 1;
        let star = places & self.anys;
        let one = match byte & 0xC0 == 0x80 {
            true => places & self.ones << 1,
            false => (places & self.ones) << 1,
        };
        self.closed(literal | star | one)
    }
}

impl fmt::Debug for WildcardAutomaton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WildcardAutomaton").field("end", &self.end).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn accepts(automaton: &WildcardAutomaton, text: &str) -> bool {
        let places = text.bytes().fold(automaton.start(), |at, byte| automaton.accept(&at, byte));
        automaton.is_match(&places)
    }

    /// By trying everything.
    fn fits(pieces: &[WildcardPiece], text: &[char]) -> bool {
        match pieces.split_first() {
            None => text.is_empty(),
            Some((WildcardPiece::Any, rest)) => (0..=text.len()).any(|at| fits(rest, &text[at..])),
            Some((WildcardPiece::One, rest)) => !text.is_empty() && fits(rest, &text[1..]),
            Some((WildcardPiece::Char(c), rest)) => {
                text.first() == Some(c) && fits(rest, &text[1..])
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]

        #[test]
        fn bits_match_what_trying_everything_matches(
            pieces in prop::collection::vec(prop_oneof![
                Just(WildcardPiece::Any),
                Just(WildcardPiece::One),
                "[aé東🎉]".prop_map(|c| WildcardPiece::Char(c.chars().next().unwrap())),
            ], 0..7),
            text in "[aé東🎉]{0,6}",
        ) {
            let automaton = WildcardAutomaton::new(&pieces).unwrap();
            let chars: Vec<char> = text.chars().collect();
            prop_assert_eq!(accepts(&automaton, &text), fits(&pieces, &chars));
        }
    }

    #[test]
    fn a_pattern_may_fill_all_places_and_no_more() {
        let pieces = vec![WildcardPiece::One; WILDCARD_BYTES_MAX];
        let automaton = WildcardAutomaton::new(&pieces).unwrap();
        assert!(accepts(&automaton, &"é".repeat(WILDCARD_BYTES_MAX)));
        assert!(!accepts(&automaton, &"é".repeat(WILDCARD_BYTES_MAX - 1)));
        let error = WildcardAutomaton::new(&[&pieces[..], &pieces[..1]].concat()).unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::LimitExceeded);
        assert!(error.to_string().contains("WILDCARD_BYTES_MAX"), "{error}");
        let stars = vec![WildcardPiece::Any; 10_000];
        assert!(accepts(&WildcardAutomaton::new(&stars).unwrap(), "any"));
    }

    #[test]
    fn the_beginning_is_split_off() {
        let pieces = [WildcardPiece::Char('é'), WildcardPiece::One, WildcardPiece::Char('b')];
        assert_eq!(split_prefix(&pieces), ("é".into(), &pieces[1..]));
        assert_eq!(split_prefix(&pieces[..1]), ("é".into(), &pieces[..0]));
    }
}
