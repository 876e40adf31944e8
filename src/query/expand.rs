//! Leaves of many terms → [`Normal::Expand`]: prefixes, patterns and lists in a field.
//!
//! A keyword field has its values as they are. In a text field a prefix, a fuzzy word and the ends
//! of a range become what the field's analyzer makes of them, if that is one term, so that they
//! meet the terms of documents; if it is several, all but the last must match as they are. The letters of a
//! wildcard go through the analyzer's [filters of characters](crate::analysis::Analyzer::normalize) only, because its
//! pieces are no words, and so do the letters of a regular expression and the members of its
//! [classes](crate::expansion::in_letters). An article or a final `'s` that the analyzer takes off words is taken off their
//! ends.

use std::ops::Bound;

use super::bind::{Binder, Clause, Normal, joined, located, nothing, shortened};
use super::phrase_spec::TextForm;
use super::{Fuzziness, Place, Query};
use crate::analysis::Ends;
use crate::error::{Error, ErrorKind, Result};
use crate::expansion::{Expansion, Lettered, TermPattern, WildcardPiece, in_letters};
use crate::ids::FieldId;
use crate::schema::FieldKind;
use crate::value;

/// Pattern of a leaf, before a field is chosen.
type Pattern<'q> = &'q dyn Fn(String) -> TermPattern;

impl Binder<'_> {
    /// A leaf that stands for many terms, in its field or in all default fields.
    pub(super) fn expand(&mut self, field: Option<&str>, query: &Query) -> Result<Clause<Normal>> {
        let (text, place): (&str, &Place) = match query {
            Query::Prefix { text, place, .. } | Query::Fuzzy { text, place, .. } => (text, place),
            Query::Wildcard { pattern, place, .. } | Query::Regex { pattern, place, .. } => {
                (pattern, place)
            }
            Query::Range { place, .. } | Query::InSet { place, .. } => ("", place),
            _ => return Ok(nothing("no pattern").into()),
        };
        self.in_each_field(field, text, place, |this, field| {
            this.expand_in(field, query).map_err(|error| located(&place.text, error))
        })
    }

    fn expand_in(&mut self, field: FieldId, query: &Query) -> Result<Clause<Normal>> {
        if self.schema.get(field).kind.is_typed() {
            return Ok(self.typed(field, query)?.into());
        }
        match query {
            Query::Prefix { text, place, .. } if self.is_cut_off(field, text)? => {
                self.wildcard(field, &WildcardPiece::beginning(text), place)
            }
            Query::Prefix { text, place, .. } => {
                self.note_prefix(field, text)?;
                self.words(field, text, TextForm::PREFIX, place)
            }
            Query::Wildcard { pattern, place, .. } => {
                self.wildcard(field, &WildcardPiece::parse(pattern), place)
            }
            Query::Fuzzy { text, fuzziness: Fuzziness { distance: 0, .. }, place, .. } => {
                self.words(field, text, TextForm::WORD, place)
            }
            Query::Fuzzy { text, fuzziness, .. } => {
                self.last_of_words(field, text, &|text| TermPattern::fuzzy(text, *fuzziness))
            }
            Query::InSet { values, .. } => self.one_of(field, values),
            Query::Regex { pattern, .. } => {
                let Lettered { regex, beginning } = self.lettered(field, pattern)?;
                self.note_impossible(field, pattern, &regex, &beginning)?;
                Ok(self.expanded(field, TermPattern::Regex(regex))?.into())
            }
            other => match self.pattern_in(field, other)? {
                Some(pattern) => Ok(self.expanded(field, pattern)?.into()),
                None => Ok(nothing("no pattern").into()),
            },
        }
    }

    /// A pattern that is no words, as it is for the terms of a field.
    pub(super) fn pattern_in(&self, field: FieldId, query: &Query) -> Result<Option<TermPattern>> {
        Ok(Some(match query {
            Query::Regex { pattern, .. } => {
                TermPattern::Regex(self.lettered(field, pattern)?.regex)
            }
            Query::Range { lower, upper, .. } => {
                let bound = |bound: &Bound<String>| match bound {
                    Bound::Included(text) => self.one_term(field, text).map(Bound::Included),
                    Bound::Excluded(text) => self.one_term(field, text).map(Bound::Excluded),
                    Bound::Unbounded => Ok(Bound::Unbounded),
                };
                TermPattern::Range(bound(lower)?, bound(upper)?)
            }
            _ => return Ok(None),
        }))
    }

    pub(super) fn expanded(&mut self, field: FieldId, pattern: TermPattern) -> Result<Normal> {
        Ok(Normal::Expand { field, terms: Expansion::new(pattern)? })
    }

    /// The terms of a text, of which the last stands for others.
    fn last_of_words(
        &mut self,
        id: FieldId,
        text: &str,
        pattern: Pattern<'_>,
    ) -> Result<Clause<Normal>> {
        let field = self.schema.get(id);
        let mut terms = match field.kind {
            FieldKind::Text => {
                let terms = self.analyzers.pattern_terms(field, text)?;
                terms.into_iter().map(|at| at.term).collect()
            }
            _ => self.tokens(id, text)?,
        };
        let Some(last) = terms.pop() else {
            if text.is_empty() {
                return Ok(self.expanded(id, pattern(String::new()))?.into());
            }
            return Ok(Clause::Dropped(self.no_words(id, text)));
        };
        if !terms.is_empty() {
            self.note(format!(
                "'{}' is several words in '{}': all of {}, {last} must match, in any order, and only the last stands for others",
                shortened(text),
                field.name,
                shortened(&terms.join(", ")),
            ));
        }
        let term = |term: String| Normal::Term { field: id, term: term.into_bytes().into() };
        let mut all: Vec<Normal> = terms.into_iter().map(term).collect();
        all.push(self.expanded(id, pattern(last))?);
        Ok(self.and(all, vec![]).into())
    }

    /// Documents with one of these values: those of one term each in one walk.
    fn one_of(&mut self, id: FieldId, values: &[String]) -> Result<Clause<Normal>> {
        let (mut set, mut any, mut dropped) = (vec![], vec![], vec![]);
        for value in values {
            if let Some(path) = self.path(id, value)? {
                match path.is_empty() {
                    true => any.push(Normal::Exists(id)),
                    false => set.push(path.into_bytes()),
                }
                continue;
            }
            let mut terms = self.tokens(id, value)?;
            match terms.len() {
                1 => set.extend(terms.pop().map(String::into_bytes)),
                _ => match self.words(id, value, TextForm::WORD, &Place::default())? {
                    Clause::Whole(normal) | Clause::Partial(normal, _) => any.push(normal),
                    Clause::Dropped(why) => dropped.push(why),
                },
            }
        }
        if set.is_empty() && any.is_empty() && !dropped.is_empty() {
            return Ok(Clause::Dropped(joined(dropped)));
        }
        for why in dropped {
            self.note(format!("{why}, so it is left out"));
        }
        Ok(self.one_of_terms(id, set, any)?.into())
    }

    /// Documents with one of these terms, or that match any of the others.
    pub(super) fn one_of_terms(
        &mut self,
        id: FieldId,
        mut set: Vec<Vec<u8>>,
        mut any: Vec<Normal>,
    ) -> Result<Normal> {
        set.sort_unstable();
        set.dedup();
        match set.len() {
            0 => {}
            1 => any.extend(set.pop().map(|term| Normal::Term { field: id, term: term.into() })),
            _ => any.push(self.expanded(id, TermPattern::Set(set))?),
        }
        if any.is_empty() {
            return Ok(nothing("no value is in an empty list"));
        }
        Ok(self.or(any))
    }

    /// The canonical form of a path, which is empty for the root; `None` in a field of another kind.
    pub(super) fn path(&self, id: FieldId, text: &str) -> Result<Option<String>> {
        let field = self.schema.get(id);
        let FieldKind::Path { separator } = field.kind else { return Ok(None) };
        let path = value::canonical_path(text, separator);
        // Above all names is everything that has any. A text that is empty may be a slip.
        if path.is_empty() && !text.is_empty() {
            return Ok(Some(String::new()));
        }
        value::read_path(text, separator).map(|path| Some(path.into_owned())).map_err(|wrong| {
            let what = format!("looking in the path field '{}'", field.name);
            Error::new(ErrorKind::Query, what).expected(wrong.expected).found(wrong.found)
        })
    }

    /// The beginning of a term, or a part of one, as the terms of its field are written.
    pub(super) fn as_in_terms(&self, id: FieldId, text: &str, is_prefix: bool) -> Result<String> {
        let field = self.schema.get(id);
        Ok(match field.kind {
            FieldKind::Path { separator } if is_prefix => {
                value::canonical_path_prefix(text, separator).into_owned()
            }
            FieldKind::Path { separator } => value::canonical_path(text, separator).into_owned(),
            _ => self.analyzers.normalize(field, text)?,
        })
    }

    /// Term in the dictionary for a text that is one word.
    fn one_term(&self, id: FieldId, text: &str) -> Result<Vec<u8>> {
        Ok(match &mut self.tokens(id, text)?[..] {
            [term] => std::mem::take(term).into_bytes(),
            _ => self.normalized(id, text)?.into_bytes(),
        })
    }

    /// Text with its letters as the terms of a field have them.
    pub(super) fn normalized(&self, id: FieldId, text: &str) -> Result<String> {
        let field = self.schema.get(id);
        match field.kind {
            FieldKind::Text => Ok(self.analyzers.query_time(field)?.normalize(text)),
            _ => self.analyzers.normalize(field, text),
        }
    }

    /// Text of a pattern with its letters as the terms of a field have them, and without what is taken off the ends of words.
    pub(super) fn normal_part(&self, id: FieldId, text: &str, ends: Ends) -> Result<String> {
        let mut normal = self.normalized(id, text)?;
        let field = self.schema.get(id);
        if field.kind == FieldKind::Text && !text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            self.analyzers.query_time(field)?.trim(&mut normal, ends);
        }
        Ok(normal)
    }

    /// A regular expression with its letters as the terms of a field have them.
    fn lettered(&self, id: FieldId, regex: &str) -> Result<Lettered> {
        let field = self.schema.get(id);
        let analyzer = match field.kind {
            FieldKind::Text => Some(self.analyzers.query_time(field)?),
            _ => None,
        };
        let normalizer = self.analyzers.normalizer(field)?;
        Ok(in_letters(regex, analyzer.as_ref(), normalizer.as_ref()))
    }

    /// The terms of a text in a field.
    pub(super) fn tokens(&self, id: FieldId, text: &str) -> Result<Vec<String>> {
        let field = self.schema.get(id);
        match (field.kind, self.analyzers.plain_word(field, text)) {
            (FieldKind::Text, Some(_)) => Ok(vec![text.to_ascii_lowercase()]),
            (FieldKind::Text, None) => Ok(self.analyzers.query_time(field)?.tokens(text)),
            _ => Ok(vec![self.as_in_terms(id, text, false)?]),
        }
    }
}

impl TermPattern {
    /// Terms that are like a word.
    pub(super) fn fuzzy(text: String, fuzziness: Fuzziness) -> Self {
        let Fuzziness { distance, prefix_len, transpositions } = fuzziness;
        TermPattern::Fuzzy { text, distance, prefix_len, transpositions }
    }
}

/// A pattern without separators that mean nothing in paths: at its ends, and behind another.
pub(super) fn in_paths(mut pieces: Vec<WildcardPiece>, separator: char) -> Vec<WildcardPiece> {
    let (separator, escape) = (WildcardPiece::Char(separator), WildcardPiece::Char('\\'));
    let mut is_escaped = false;
    // The beginning counts as if one stood before the pattern.
    let mut is_behind_one = true;
    pieces.retain(|piece| {
        let is_separator = *piece == separator && !is_escaped;
        is_escaped = *piece == escape && escape != separator && !is_escaped;
        let means_nothing = is_separator && is_behind_one;
        is_behind_one = is_separator;
        !means_nothing
    });
    if is_behind_one {
        pieces.pop();
    }
    pieces
}

impl Query {
    /// The leaf that stands for the same terms.
    pub(crate) fn of_terms(terms: &Expansion) -> Self {
        to_query(terms.pattern())
    }
}

fn to_query(pattern: &TermPattern) -> Query {
    let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
    let bound = |bound: &Bound<Vec<u8>>| match bound {
        Bound::Included(bytes) => Bound::Included(text(bytes)),
        Bound::Excluded(bytes) => Bound::Excluded(text(bytes)),
        Bound::Unbounded => Bound::Unbounded,
    };
    match pattern {
        TermPattern::Prefix(prefix) => Query::prefix(text(prefix)),
        TermPattern::Range(lower, upper) => Query::range((bound(lower), bound(upper))),
        TermPattern::Set(values) => Query::in_set(values.iter().map(text)),
        TermPattern::Wildcard(pieces) => Query::Wildcard {
            field: None,
            pattern: WildcardPiece::print(pieces),
            place: Place::default(),
        },
        TermPattern::Regex(pattern) => Query::regex(pattern),
        TermPattern::Fuzzy { text, distance, prefix_len, transpositions } => Query::Fuzzy {
            field: None,
            text: text.clone(),
            fuzziness: Fuzziness {
                distance: *distance,
                prefix_len: *prefix_len,
                transpositions: *transpositions,
            },
            place: Place::default(),
        },
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::analysis::Analyzers;
    use crate::query::{ParseOptions, parse, rewrite};
    use crate::schema::Schema;

    /// Whether a pattern stands for a term, for the patterns that the laws use.
    pub(crate) fn is_meant(pattern: &TermPattern, term: &str) -> bool {
        match pattern {
            TermPattern::Prefix(prefix) => term.as_bytes().starts_with(prefix),
            TermPattern::Set(values) => values.iter().any(|value| value == term.as_bytes()),
            other => panic!("{other:?}"),
        }
    }

    fn rewritten(text: &str) -> Result<(String, Vec<String>)> {
        let schema = Schema::builder().text("title").keyword("kind").build().unwrap();
        let query = parse(text, &ParseOptions::default())?;
        let rewritten = rewrite(&query, &schema, &Analyzers::default())?;
        Ok((rewritten.normal.display(&schema).to_string(), rewritten.notes))
    }

    #[test]
    fn patterns_meet_the_terms_of_their_field() {
        let cases = [
            ("PAR*", "title:par*"),
            ("kind:PAR*", "kind:PAR*"),
            ("AC/D*", "title:\"ac d\"*"),
            ("AC/D~1", "title:ac AND title:d~1"),
            ("title:--*", "NOT *"),
            ("**", "title:**"),
            ("kind:**", "kind:**"),
            ("PaRis~1", "title:paris~1"),
            ("PaRis~0", "title:paris"),
            ("kind:PaRis~2/1!", "kind:PaRis~2/1!"),
            ("P?Ri*", "title:p?ri*"),
            ("kind:P?Ri*", "kind:P?Ri*"),
            ("/Pa.*/", "title:/pa.*/"),
            ("kind:/Pa.*/", "kind:/Pa.*/"),
            ("[Aa TO Bb}", "title:[aa TO bb}"),
            ("kind:[\"A b\" TO *]", "kind:[\"A b\" TO *]"),
            ("IN [B a A]", "title:IN [a b]"),
            ("IN [B]", "title:b"),
            ("IN [B a-c -- d]", "title:\"a c\" OR title:IN [b d]"),
            ("kind:IN [B a-c]", "kind:IN [B a-c]"),
            ("PHRASE [AC/D* P?ris iN] ", "title:PHRASE [ac d* p?ris in]"),
            ("PHRASE [a /B.*/]", "title:PHRASE [a /b.*/]"),
            ("PHRASE [a \"B c\" * D~1]~>2", "title:PHRASE [a b c * d~1]~>2"),
            ("PHRASE [a -- B*]", "title:\"a b\"*"),
            ("PHRASE [a IN [C b] [c TO d]]", "title:PHRASE [a IN [b c] [c TO d]]"),
            ("PHRASE [a? * * A?]~<>1", "title:PHRASE [a? * * a?]~<>1"),
            ("PHRASE [* -- a?]", "title:a?"),
            ("PHRASE [a b?] AND NOT PHRASE [A B?]", "NOT *"),
            ("PHRASE [a b?] AND title:*", "title:PHRASE [a b?]"),
            ("a* a*", "title:a*"),
            ("a* AND title:*", "title:a*"),
            ("a* OR title:*", "title:*"),
            ("a* AND NOT a*", "NOT *"),
            ("{title kind}:Ab*", "title:ab* OR kind:Ab*"),
            ("{kind}:(Ab title:C)", "kind:\"Ab\" OR title:c"),
        ];
        for (text, expected) in cases {
            assert_eq!(rewritten(text).unwrap().0, expected, "{text}");
        }
        let (_, notes) = rewritten("AC/D*").unwrap();
        assert!(notes[0].contains("ac d must stand next to each other"), "{notes:?}");
        let (_, notes) = rewritten("AC/D~1").unwrap();
        assert!(notes[0].contains("only the last stands for others"), "{notes:?}");
    }

    #[test]
    fn patterns_that_are_refused_say_where() {
        let cases = [
            ("a OR /b(/", ErrorKind::Query, "unclosed group", 5..9),
            ("a /(a|b)*a(a|b){18}/", ErrorKind::LimitExceeded, "REGEX_BYTES_MAX", 2..20),
            ("{no}:a*", ErrorKind::Query, "one of the fields title, kind", 0..0),
        ];
        for (text, kind, message, span) in cases {
            let error = rewritten(text).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.to_string().contains(message), "{error}");
            assert_eq!(error.span().unwrap_or(0..0), span, "{error}");
        }
        let long = "x".repeat(200);
        for text in [format!("{long}~1"), format!("*{long}")] {
            assert_eq!(rewritten(&text).unwrap_err().kind(), ErrorKind::LimitExceeded, "{text}");
        }
    }
}
