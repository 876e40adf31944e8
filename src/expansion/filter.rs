//! Filter of a dictionary's terms, by one prefix and by patterns that must match.
//!
//! The prefix costs two searches in the dictionary. If there is none, the first pattern steers the walk; all others are
//! tested term by term. Nothing ends such a walk but its budget: without the filter the caller would walk the whole
//! dictionary.

use super::{AnyAutomaton, Expansion, RegexAutomaton, TermPattern};
use crate::budget::{self, ns};
use crate::bytes::Source;
use crate::error::Result;
use crate::format::terms::{ByBytes, TermDictionary, TermInfo, TermSearch, TermStream};
use crate::ids::TermOrdinal;
use crate::value;
use std::ops::{Bound, Range};

/// Terms that are wanted; cheap enough to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct TermFilter {
    prefix: Vec<u8>,
    /// The first that is wanted, and what those end before, where there is an end on that side.
    from: Option<Vec<u8>>,
    to: Option<Vec<u8>>,
    patterns: Vec<Expansion>,
    /// The separator of paths, where only names right below the beginning are wanted.
    names_below: Option<char>,
}

impl TermPattern {
    /// Terms that are a text but for the case of its letters.
    pub(crate) fn in_any_case(text: &str) -> Self {
        TermPattern::Regex(format!("(?is){}", escaped(text)))
    }
}

/// A regular expression that matches a text.
fn escaped(text: &str) -> String {
    let mut regex = String::with_capacity(text.len());
    for c in text.chars() {
        // Not all punctuation: an escaped `<` is the beginning of a word.
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            regex.push('\\');
        }
        regex.push(c);
    }
    regex
}

impl TermFilter {
    /// Terms that begin so.
    pub(crate) fn with_prefix(mut self, prefix: &str) -> Self {
        self.prefix = prefix.as_bytes().to_vec();
        self
    }

    /// Paths one name longer than this one; of an empty one, those of one name.
    pub(crate) fn with_names_below(mut self, path: &str, separator: char) -> Self {
        self.prefix = path.as_bytes().to_vec();
        if !path.is_empty() {
            self.prefix.extend_from_slice(separator.encode_utf8(&mut [0; 4]).as_bytes());
        }
        self.names_below = Some(separator);
        self
    }

    /// Terms from one on and before another, by their bytes.
    pub(crate) fn with_range(mut self, from: Option<&[u8]>, to: Option<&[u8]>) -> Self {
        self.from = from.map(<[u8]>::to_vec);
        self.to = to.map(<[u8]>::to_vec);
        self
    }

    /// Terms that match a regular expression as a whole.
    ///
    /// # Errors
    ///
    /// Fails like [`Expansion::new`].
    pub(crate) fn with_regex(mut self, regex: &str) -> Result<Self> {
        self.patterns.push(Expansion::new(TermPattern::Regex(regex.to_owned()))?);
        Ok(self)
    }

    /// Terms with this text in them, in whatever case.
    ///
    /// # Errors
    ///
    /// A limit error for a text whose automaton would take too much memory.
    pub(crate) fn with_text(self, text: &str) -> Result<Self> {
        self.with_regex(&format!("(?is).*{}.*", escaped(text)))
    }

    /// Whether a term is wanted.
    pub(crate) fn matches(&self, term: &[u8]) -> bool {
        let is_between = self.from.as_ref().is_none_or(|from| term >= &from[..])
            && self.to.as_ref().is_none_or(|to| term < &to[..]);
        term.starts_with(&self.prefix)
            && is_between
            && self.is_name(term)
            && self.patterns.iter().all(|pattern| pattern.matches(term))
    }

    /// Whether a term with the beginning is right below it, where that matters.
    fn is_name(&self, term: &[u8]) -> bool {
        self.names_below
            .is_none_or(|separator| value::is_last_name(term, self.prefix.len(), separator))
    }

    /// Whether anything but the beginning matters.
    pub(crate) fn has_patterns(&self) -> bool {
        !self.patterns.is_empty() || self.names_below.is_some()
    }

    /// The terms with the beginning: all that are wanted, and others where there are patterns.
    pub(crate) fn ordinals<'s, S: Source<'s>>(
        &self,
        dictionary: &TermDictionary<S>,
    ) -> Result<Range<u32>> {
        Ok(self.stream(dictionary)?.map_or(0..dictionary.n_terms(), |terms| terms.ordinals()))
    }

    /// The terms with the beginning, or of the range; `None` if all are. Nobody asks for both.
    fn stream<'s, S: Source<'s>>(
        &self,
        dictionary: &TermDictionary<S>,
    ) -> Result<Option<TermStream<'s, S>>> {
        Ok(match (&self.prefix[..], &self.from, &self.to) {
            ([], None, None) => None,
            ([], from, to) => {
                let from = from.as_ref().map_or(Bound::Unbounded, |it| Bound::Included(&it[..]));
                let to = to.as_ref().map_or(Bound::Unbounded, |it| Bound::Excluded(&it[..]));
                Some(dictionary.range(from, to)?)
            }
            (prefix, ..) => Some(dictionary.prefix(prefix)?),
        })
    }
}

/// The terms of a dictionary that a filter wants, ascending or descending.
#[derive(Debug)]
pub(crate) struct WantedTerms<'f, 's, S: Source<'s>> {
    way: FilterStrategy<'f, 's, S>,
    /// Patterns that the walk leaves to be tested.
    tested: &'f [Expansion],
    /// Filter of the names below a path.
    names_of: Option<&'f TermFilter>,
    is_descending: bool,
    term: Vec<u8>,
}

#[derive(Debug)]
enum FilterStrategy<'f, 's, S: Source<'s>> {
    Between(TermStream<'s, S>),
    Along(TermSearch<'s, S, ByBytes<&'f RegexAutomaton>>),
}

impl<'f, 's, S: Source<'s>> WantedTerms<'f, 's, S> {
    /// All terms if there is no filter.
    pub(crate) fn open(
        dictionary: &TermDictionary<S>,
        filter: Option<&'f TermFilter>,
        is_descending: bool,
    ) -> Result<Self> {
        let patterns = filter.map_or(&[][..], |filter| &filter.patterns);
        let stream = filter.map(|filter| filter.stream(dictionary)).transpose()?.flatten();
        let (way, tested) = match (stream, patterns.first().and_then(regex_of)) {
            (Some(stream), _) => (FilterStrategy::Between(stream), patterns),
            // An automaton knows the way forwards only.
            (None, Some(regex)) if !is_descending => {
                (FilterStrategy::Along(dictionary.search(regex)), patterns.get(1..).unwrap_or(&[]))
            }
            _ => (FilterStrategy::Between(dictionary.iter()), patterns),
        };
        let names_of = filter.filter(|filter| filter.names_below.is_some());
        Ok(WantedTerms { way, tested, names_of, is_descending, term: vec![] })
    }

    /// The next of them.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<(&[u8], TermOrdinal, TermInfo)>> {
        if !self.tested.is_empty() || self.names_of.is_some() {
            return self.next_tested();
        }
        match (&mut self.way, self.is_descending) {
            (FilterStrategy::Between(terms), true) => terms.next_back(),
            (FilterStrategy::Between(terms), false) => terms.next(),
            (FilterStrategy::Along(terms), _) => terms.next(),
        }
    }

    fn next_tested(&mut self) -> Result<Option<(&[u8], TermOrdinal, TermInfo)>> {
        loop {
            let next = match &mut self.way {
                FilterStrategy::Between(terms) if self.is_descending => terms.next_back()?,
                FilterStrategy::Between(terms) => terms.next()?,
                FilterStrategy::Along(terms) => terms.next()?,
            };
            let Some((term, ordinal, info)) = next else { return Ok(None) };
            let n_tests = self.tested.len() + usize::from(self.names_of.is_some());
            budget::work(ns::PATTERN_BYTE * (n_tests * term.len()) as u64)?;
            if self.names_of.is_none_or(|filter| filter.is_name(term))
                && self.tested.iter().all(|pattern| pattern.matches(term))
            {
                self.term.clear();
                self.term.extend_from_slice(term);
                return Ok(Some((&self.term, ordinal, info)));
            }
        }
    }
}

/// Automaton that steers a walk.
fn regex_of(pattern: &Expansion) -> Option<&RegexAutomaton> {
    match pattern.automaton.as_deref() {
        Some(AnyAutomaton::Regex(regex)) => Some(regex),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::terms::{FinishedDictionary, NewTerm, TermDictionaryWriter};
    use crate::schema::Detail;
    use std::collections::BTreeSet;

    type Wants = fn(&str) -> bool;

    #[test]
    fn what_is_walked_over_is_what_matches_in_both_directions() {
        let pieces = ["", "a", "Ab", "É", "é", "b.c", "東", "\n", "b"];
        let three = |nth: usize| [nth % 9, nth / 9 % 9, nth / 81].map(|nth| pieces[nth]).concat();
        let terms: BTreeSet<String> = (0..729).map(three).collect();
        let mut writer = TermDictionaryWriter::new(10, Detail::Documents);
        for term in &terms {
            writer.add(term.as_bytes(), NewTerm::Inline { docs: &[1], occurrences: &[] }).unwrap();
        }
        let FinishedDictionary { blocks, index, heads, .. } = writer.finish();
        let dictionary = TermDictionary::open(&blocks[..], &index[..], &heads[..]).unwrap();
        let walk = |filter: Option<&TermFilter>, is_descending| {
            let mut wanted = WantedTerms::open(&dictionary, filter, is_descending).unwrap();
            let mut walked = vec![];
            while let Some((term, ordinal, _)) = wanted.next().unwrap() {
                let text = String::from_utf8(term.to_vec()).unwrap();
                assert_eq!(terms.iter().nth(ordinal.0 as usize), Some(&text));
                walked.push(text);
            }
            walked
        };
        let none = TermFilter::default;
        let filters: [(_, Wants); 10] = [
            (none().with_range(Some(b"a"), Some(b"b.c")), |term| ("a".."b.c").contains(&term)),
            (none().with_range(None, Some("É".as_bytes())), |term| term < "É"),
            (none(), |_| true),
            (none().with_prefix("Ab"), |term| term.starts_with("Ab")),
            (none().with_text("B.").unwrap(), |term| term.to_lowercase().contains("b.")),
            (none().with_text("é").unwrap(), |term| term.to_lowercase().contains('é')),
            (none().with_regex("(a|b)+").unwrap(), |term| {
                !term.is_empty() && term.trim_matches(['a', 'b']).is_empty()
            }),
            (none().with_prefix("a").with_text("É").unwrap(), |term| {
                term.starts_with('a') && term.to_lowercase().contains('é')
            }),
            (none().with_text("a").unwrap().with_text("\n").unwrap(), |term| {
                term.to_lowercase().contains('a') && term.contains('\n')
            }),
            (none().with_prefix("x"), |_| false),
        ];
        for (filter, wants) in &filters {
            let what = format!("{filter:?}");
            let expected: Vec<_> = terms.iter().filter(|term| wants(term)).cloned().collect();
            assert!(terms.iter().all(|term| filter.matches(term.as_bytes()) == wants(term)));
            assert_eq!(expected.is_empty(), filter.prefix == b"x", "{what}");
            assert_eq!(walk(Some(filter), false), expected, "{what}");
            let mut descending = walk(Some(filter), true);
            descending.reverse();
            assert_eq!(descending, expected, "{what}");
            let ordinals = filter.ordinals(&dictionary).unwrap();
            match filter.has_patterns() {
                true => assert!(ordinals.len() > expected.len(), "{what}"),
                false => assert_eq!(ordinals.len(), expected.len(), "{what}"),
            }
        }
        assert!(walk(None, false).iter().eq(&terms));
        let punctuation = (0..128u8).map(char::from).filter(char::is_ascii_punctuation);
        for c in punctuation.chain(" \t\n0".chars()) {
            let filter = none().with_text(&c.to_string()).unwrap();
            assert!(filter.matches(format!("x{c}y").as_bytes()), "{c:?}");
            assert!(!filter.matches(b"xqy"), "{c:?}");
        }
    }
}
