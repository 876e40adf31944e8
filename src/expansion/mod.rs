//! Terms of a prefix, a range, a list or a pattern, all at once.
//!
//! An [`Expansion`] is made of a query once and walks the dictionary of a field in each segment.
//! Prefixes and ranges are two searches and the terms between them, whose keys are not even
//! decoded; a list is looked up; everything else is an automaton that steers the walk past the
//! terms it cannot accept. The result is the documents of all these terms, as a [`DocSet`], or
//! only the first of them, if no more are wanted.
//!
//! # Limits
//!
//! A pattern that would not fit is refused when it is made: a wildcard of more than
//! [`WILDCARD_BYTES_MAX`] bytes behind its fixed beginning, a regular expression whose automaton
//! takes more than [`REGEX_BYTES_MAX`], a fuzzy word of more than [`FUZZY_CHARS_MAX`] characters.
//! A walk along an automaton ends with an error at [`TERMS_VISITED_MAX`] terms of one segment. No
//! number of terms that match is too large: their documents take a bit for each of the segment, of
//! the memory that a [budget] allows.
//!
//! # Cost
//!
//! Per term of a prefix or range about 10 ns for the dictionary; per term that an automaton looks
//! at, accepted or not, 10 to 40 ns; per document 1 to 3 ns.

mod automaton;
mod best;
mod documents;
mod filter;
mod letters;
mod levenshtein;
mod wildcard;

use std::fmt;
use std::ops::{Bound, Range, RangeBounds};
use std::sync::Arc;

use automaton::{AfterPrefix, RegexAutomaton};
use levenshtein::LevenshteinAutomaton;
use wildcard::WildcardAutomaton;

#[cfg(test)]
pub(crate) use automaton::n_compiled;
pub use automaton::{REGEX_BYTES_MAX, REGEX_NEST_MAX};
pub(crate) use documents::DocSet;
pub(crate) use filter::{TermFilter, WantedTerms};
pub(crate) use letters::{Lettered, in_letters};
pub use levenshtein::FUZZY_CHARS_MAX;
pub use wildcard::WILDCARD_BYTES_MAX;
pub(crate) use wildcard::WildcardPiece;

use crate::budget::{self, ns};
use crate::bytes::Source;
use crate::compared::equal_by;
use crate::error::{Error, Result};
use crate::format::terms::{TermAutomaton, TermDictionary, TermInfo, TermSearch};
use crate::limits::{self, Limits};
use crate::segment::reader::FieldReader;
use crate::sums::sums;

/// Terms of a pattern that may be [scored](crate::SearchBuilder::pattern_terms), unless [`Limits`] says otherwise.
pub const PATTERN_TERMS_MAX: u32 = Limits::DEFAULT.pattern_terms;
/// Terms of one segment that an automaton may look at, unless [`Limits`] says otherwise.
pub const TERMS_VISITED_MAX: u64 = Limits::DEFAULT.terms_visited;

/// Values of a list up to which their posting lists are read one by one, if that is needed.
const FEW_VALUES: usize = 16;

/// Pattern of terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TermPattern {
    /// Terms that begin with these bytes.
    Prefix(Vec<u8>),
    /// Terms between two bounds, in the order of their bytes.
    Range(Bound<Vec<u8>>, Bound<Vec<u8>>),
    /// List of terms, ascending.
    Set(Vec<Vec<u8>>),
    /// Terms of this form.
    Wildcard(Vec<WildcardPiece>),
    /// Terms that match a regular expression as a whole.
    Regex(String),
    /// Terms within an edit distance, with a prefix of so many characters as written.
    Fuzzy { text: String, distance: u8, prefix_len: u32, transpositions: bool },
}

/// A pattern made ready to walk dictionaries; cheap to clone.
#[derive(Clone)]
pub(crate) struct Expansion {
    pattern: Arc<TermPattern>,
    automaton: Option<Arc<AnyAutomaton>>,
}

enum AnyAutomaton {
    Wildcard(AfterPrefix<WildcardAutomaton>),
    Regex(Box<RegexAutomaton>),
    Fuzzy(Box<LevenshteinAutomaton>),
}

/// Terms that a walk over dictionaries for a pattern went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TermCounts {
    /// Terms looked at, whether they match the pattern or not.
    pub visited: u64,
    /// Terms that match it.
    pub expanded: u64,
    /// Whether the walk stopped early, because no more were needed or allowed.
    pub cut: bool,
}

sums! {
    TermCounts: visited, expanded | cut;
}

/// Whether a walk goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walk {
    On,
    Stop,
}

impl Expansion {
    /// # Errors
    ///
    /// [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded) for a pattern that is too large, [`ErrorKind::Query`](crate::ErrorKind::Query) for a
    /// regular expression that is none.
    pub(crate) fn new(pattern: TermPattern) -> Result<Self> {
        let automaton = match &pattern {
            TermPattern::Prefix(_) | TermPattern::Range(..) | TermPattern::Set(_) => None,
            TermPattern::Wildcard(pieces) => {
                let (prefix, rest) = wildcard::split_prefix(pieces);
                let rest = WildcardAutomaton::new(rest)?;
                Some(AnyAutomaton::Wildcard(AfterPrefix::new(prefix, rest)))
            }
            TermPattern::Regex(regex) => {
                Some(AnyAutomaton::Regex(Box::new(RegexAutomaton::new(regex)?)))
            }
            TermPattern::Fuzzy { text, distance, prefix_len, transpositions } => {
                let at = text.char_indices().nth(*prefix_len as usize).map_or(text.len(), |c| c.0);
                let (prefix, rest) = text.split_at(at);
                let automaton =
                    LevenshteinAutomaton::new(prefix, rest, *distance, *transpositions)?;
                Some(AnyAutomaton::Fuzzy(Box::new(automaton)))
            }
        };
        Ok(Expansion { pattern: Arc::new(pattern), automaton: automaton.map(Arc::new) })
    }

    pub(crate) fn pattern(&self) -> &TermPattern {
        &self.pattern
    }

    /// Whether a term is meant.
    pub(crate) fn matches(&self, term: &[u8]) -> bool {
        match (&*self.pattern, self.automaton.as_deref()) {
            (TermPattern::Prefix(prefix), _) => term.starts_with(prefix),
            (TermPattern::Range(lower, upper), _) => {
                RangeBounds::<[u8]>::contains(&(as_slice(lower), as_slice(upper)), term)
            }
            (TermPattern::Set(values), _) => {
                values.binary_search_by(|value| value.as_slice().cmp(term)).is_ok()
            }
            (_, Some(AnyAutomaton::Wildcard(automaton))) => automaton::accepts(automaton, term),
            (_, Some(AnyAutomaton::Regex(automaton))) => automaton::accepts(&**automaton, term),
            (_, Some(AnyAutomaton::Fuzzy(automaton))) => automaton::accepts(&**automaton, term),
            (_, None) => false,
        }
    }

    /// The terms of a list, if they are few.
    pub(crate) fn few_values(&self) -> Option<&[Vec<u8>]> {
        match &*self.pattern {
            TermPattern::Set(values) if values.len() <= FEW_VALUES => Some(values),
            _ => None,
        }
    }

    /// Whether the terms that are meant follow one another in any dictionary.
    pub(crate) fn is_range(&self) -> bool {
        matches!(*self.pattern, TermPattern::Prefix(_) | TermPattern::Range(..))
    }

    /// Ordinals of a dictionary's terms that are meant, if two searches find them.
    pub(crate) fn ordinals<'s, S: Source<'s>>(
        &self,
        dictionary: &TermDictionary<S>,
    ) -> Result<Option<Range<u32>>> {
        let terms = match &*self.pattern {
            TermPattern::Prefix(prefix) => dictionary.prefix(prefix)?,
            TermPattern::Range(lower, upper) => {
                dictionary.range(as_slice(lower), as_slice(upper))?
            }
            _ => return Ok(None),
        };
        Ok(Some(terms.ordinals()))
    }

    /// Whether all terms between two are meant, and these; if that is told without a dictionary.
    pub(crate) fn is_of_all_between(&self, least: &[u8], greatest: &[u8]) -> bool {
        match &*self.pattern {
            TermPattern::Range(lower, upper) => {
                let range = (as_slice(lower), as_slice(upper));
                let has = |term| RangeBounds::<[u8]>::contains(&range, term);
                has(least) && has(greatest)
            }
            _ => false,
        }
    }

    /// Hands what is known of each term to `sink`, in the order of the terms.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded) beyond [`TERMS_VISITED_MAX`]; what the dictionary and `sink` say.
    pub(crate) fn walk<'s, S: Source<'s>>(
        &self,
        dictionary: &TermDictionary<S>,
        sink: impl FnMut(TermInfo) -> Result<Walk>,
    ) -> Result<TermCounts> {
        self.walk_among(dictionary, self.ordinals(dictionary)?, sink)
    }

    /// Walks over terms with the [ordinals](Self::ordinals) of these terms.
    pub(crate) fn walk_among<'s, S: Source<'s>>(
        &self,
        dictionary: &TermDictionary<S>,
        ordinals: Option<Range<u32>>,
        mut sink: impl FnMut(TermInfo) -> Result<Walk>,
    ) -> Result<TermCounts> {
        let ordinals = match (ordinals, &*self.pattern) {
            (Some(ordinals), _) => ordinals,
            (None, TermPattern::Set(values)) => return walk_set(dictionary, values, sink),
            (None, _) => return self.walk_automaton(dictionary, sink),
        };
        let mut walked = TermCounts::default();
        let mut infos = dictionary.infos(ordinals);
        while let Some(info) = infos.next()? {
            walked.visited += 1;
            walked.expanded += 1;
            if sink(info)? == Walk::Stop {
                walked.cut = true;
                break;
            }
        }
        Ok(walked)
    }

    fn walk_automaton<'s, S: Source<'s>>(
        &self,
        dictionary: &TermDictionary<S>,
        sink: impl FnMut(TermInfo) -> Result<Walk>,
    ) -> Result<TermCounts> {
        match self.automaton.as_deref() {
            Some(AnyAutomaton::Wildcard(automaton)) => search(dictionary.search(automaton), sink),
            Some(AnyAutomaton::Regex(automaton)) => search(dictionary.search(&**automaton), sink),
            Some(AnyAutomaton::Fuzzy(automaton)) => {
                search(dictionary.search_live(&**automaton), sink)
            }
            None => Ok(TermCounts::default()),
        }
    }

    /// Adds the documents of all terms of a field to `docs`, until it holds every document.
    pub(crate) fn unite(&self, field: FieldReader<'_>, docs: &mut DocSet) -> Result<TermCounts> {
        self.walk(&field.terms()?, |info| {
            docs.add_term(field, &info)?;
            Ok(if docs.is_full() { Walk::Stop } else { Walk::On })
        })
    }

    /// Writes the smallest `k` documents of all terms of a field that are not deleted to `out`, ascending; `known` are the terms, if they
    /// have been found already. Returns the terms walked over, and the bytes of posting lists that were read.
    pub(crate) fn smallest(
        &self,
        field: FieldReader<'_>,
        known: Option<&[TermInfo]>,
        k: usize,
        out: &mut Vec<u32>,
    ) -> Result<(TermCounts, u64)> {
        let mut smallest = documents::Smallest::new(k, std::mem::take(out));
        let mut add = |info: &TermInfo| -> Result<Walk> {
            smallest.add_term(field, info)?;
            Ok(if smallest.is_settled() { Walk::Stop } else { Walk::On })
        };
        let mut walked = TermCounts::default();
        match known {
            None => walked = self.walk(&field.terms()?, |info| add(&info))?,
            Some(infos) => {
                for info in infos {
                    if add(info)? == Walk::Stop {
                        break;
                    }
                }
            }
        }
        let bytes_read;
        (*out, bytes_read) = smallest.finish()?;
        Ok((walked, bytes_read))
    }
}

fn walk_set<'s, S: Source<'s>>(
    dictionary: &TermDictionary<S>,
    values: &[Vec<u8>],
    mut sink: impl FnMut(TermInfo) -> Result<Walk>,
) -> Result<TermCounts> {
    let mut walked = TermCounts::default();
    for value in values {
        budget::work(ns::TERM_LOOK_UP)?;
        walked.visited += 1;
        let Some(info) = dictionary.get(value)? else { continue };
        walked.expanded += 1;
        if sink(info)? == Walk::Stop {
            walked.cut = true;
            break;
        }
    }
    Ok(walked)
}

fn search<'s, S: Source<'s>, A: TermAutomaton>(
    terms: TermSearch<'s, S, A>,
    mut sink: impl FnMut(TermInfo) -> Result<Walk>,
) -> Result<TermCounts> {
    let mut terms = terms.visiting_at_most(limits::current().terms_visited);
    let mut walked = TermCounts::default();
    while let Some((_, _, info)) = terms.next()? {
        walked.expanded += 1;
        if sink(info)? == Walk::Stop {
            walked.cut = true;
            break;
        }
    }
    walked.visited = terms.visited();
    if terms.is_exhausted() {
        return Err(too_many_visited());
    }
    Ok(walked)
}

/// Whether an error says that a walk looked at as many terms as it may.
pub(crate) fn is_walk_too_long(error: &Error) -> bool {
    error.limit().is_some_and(|limit| limit.name == TERMS_VISITED_LIMIT)
}

/// Name of the limit of walks in errors.
const TERMS_VISITED_LIMIT: &str = "TERMS_VISITED_MAX";

#[cold]
fn too_many_visited() -> Error {
    let (what, most) = ("looking for the terms of a pattern", limits::current().terms_visited);
    Error::limit_reached(what, TERMS_VISITED_LIMIT, most, "terms to look at", None)
        .hint("a longer fixed beginning leaves fewer; Limits::terms_visited raises it")
}

fn as_slice(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    match bound {
        Bound::Included(value) => Bound::Included(value),
        Bound::Excluded(value) => Bound::Excluded(value),
        Bound::Unbounded => Bound::Unbounded,
    }
}

// Patterns say all; the automaton follows from them.
equal_by! {
    Expansion: it => &it.pattern;
}

impl fmt::Debug for Expansion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pattern.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pattern_says_of_a_term_whether_it_is_meant() {
        let bytes = |text: &str| text.as_bytes().to_vec();
        let pieces = |text| TermPattern::Wildcard(WildcardPiece::parse(text));
        let fuzzy = |text: &str, distance, prefix_len| TermPattern::Fuzzy {
            text: text.into(),
            distance,
            prefix_len,
            transpositions: true,
        };
        let cases = [
            (TermPattern::Prefix(bytes("ab")), vec!["ab", "abc"], vec!["a", "xab", ""]),
            (
                TermPattern::Range(Bound::Excluded(bytes("b")), Bound::Included(bytes("d"))),
                vec!["ba", "c", "d"],
                vec!["b", "da", "a"],
            ),
            (
                TermPattern::Range(Bound::Unbounded, Bound::Excluded(bytes("b"))),
                vec!["", "a"],
                vec!["b"],
            ),
            (TermPattern::Set(vec![bytes("a"), bytes("c")]), vec!["a", "c"], vec!["b", "ac"]),
            (pieces("a?c*"), vec!["abc", "aécd"], vec!["ac", "xabc"]),
            (TermPattern::Regex("a|b+".into()), vec!["a", "bb"], vec!["ab", ""]),
            (fuzzy("abc", 1, 0), vec!["abc", "acb", "bc"], vec!["cba", "abcde"]),
            (fuzzy("abc", 1, 2), vec!["abc", "abd"], vec!["bc", "acb"]),
        ];
        for (pattern, meant, others) in cases {
            let expansion = Expansion::new(pattern).unwrap();
            for term in meant {
                assert!(expansion.matches(term.as_bytes()), "{expansion:?}: {term}");
            }
            for term in others {
                assert!(!expansion.matches(term.as_bytes()), "{expansion:?}: {term}");
            }
        }
    }
}
