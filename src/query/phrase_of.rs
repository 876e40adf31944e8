//! Phrases some words of which stand for many: `PHRASE [the gr*t gatsby]`.
//!
//! Text in quotes goes through the analyzer as it is, and a `*` in it is a character like any other. If patterns are
//! meant, a phrase is written word by word: each is analyzed by itself, and a word that the analyzer leaves out keeps
//! its place. Synonyms are not looked up.

use super::bind::{Binder, Clause, Normal, located, nothing, shortened};
use super::{Fuzziness, Place, Proximity, Query};
use crate::analysis::PlacedTerm;
use crate::error::{Error, ErrorKind, Result};
use crate::expansion::{Expansion, TermPattern, WildcardPiece};
use crate::ids::FieldId;
use crate::limits;
use crate::schema::Field;
use crate::term::Term;
use smallvec::SmallVec;

/// A word of a [`Query::PhraseOf`], or what stands for one.
///
/// It is made of a query that names no field: a word, words in quotes, a prefix, a wildcard, a regular expression, a
/// fuzzy word, a range, a list, or [`Query::All`] for a place where any one word may stand, or none.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PhrasePart(Query);

impl PhrasePart {
    /// The word or pattern as a query by itself.
    pub fn query(&self) -> &Query {
        &self.0
    }

    /// The text of a part that stands for no more than that.
    fn text(&self) -> Option<&str> {
        match &self.0 {
            Query::Word { text, .. } | Query::Phrase { text, .. } => Some(text),
            Query::Fuzzy { text, fuzziness: Fuzziness { distance: 0, .. }, .. } => Some(text),
            _ => None,
        }
    }
}

impl TryFrom<Query> for PhrasePart {
    type Error = Error;

    /// # Errors
    ///
    /// [`ErrorKind::Query`] for anything that is no word and no pattern, or that names a field.
    fn try_from(query: Query) -> Result<Self> {
        let is_part = match &query {
            Query::All => true,
            Query::Phrase { prefix, proximity, .. } => !prefix && *proximity == Proximity::Exact,
            Query::InSet { values, .. } => !values.is_empty(),
            Query::PhraseOf { .. } => false,
            other => other.field_of_terms().is_some(),
        };
        if !is_part || query.field_of_terms().is_some_and(Option::is_some) {
            return Err(Error::new(ErrorKind::Query, "reading a word of a phrase")
                .expected("a word, words in quotes or a pattern, without a field")
                .found(format!("'{}'", shortened(&query.to_string())))
                .hint("the field and how near the words must be are said of the whole phrase"));
        }
        // Equal queries are written in one way: in quotes if need be.
        let is_several = |text: &str| text.is_empty() || text.contains(char::is_whitespace);
        Ok(PhrasePart(match query {
            Query::Phrase { ref text, .. } if !is_several(text) => Query::word(&**text),
            Query::Word { ref text, .. } if is_several(text) => Query::phrase(&**text),
            other => other,
        }))
    }
}

impl Query {
    /// Words as in [`near`](Self::near), some of them patterns: `PHRASE [the gr*t gatsby]`.
    ///
    /// Each part is a word, words in quotes, or a pattern: a prefix, wildcard, regular expression, fuzzy word, range
    /// or list, which stands for one word, or [`Query::All`] for a place that is left open. A phrase of one part is
    /// that part, or, without a pattern, the phrase of its words.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// use treepie::query::{Fuzziness, Proximity, Query};
    ///
    /// let parts = [Query::word("the"), Query::wildcard("gr*t"), Query::fuzzy("gatzby", Fuzziness::new(1))?];
    /// let query = Query::phrase_of(parts, Proximity::Exact)?;
    /// assert_eq!(query.to_string(), "PHRASE [the gr*t gatzby~1]");
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").build()?);
    /// let mut writer = index.writer()?;
    /// writer.add(Document::new().with("title", "The Great Gatsby"))?;
    /// writer.add(Document::new().with("title", "Gatsby the Great"))?;
    /// writer.commit()?;
    /// assert_eq!(index.searcher()?.count(&query)?, 1);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// Cost: in each segment a walk over the dictionary for each pattern, and the positions of all terms that it
    /// stands for, up to [`PHRASE_PATTERN_POSITIONS_MAX`](super::PHRASE_PATTERN_POSITIONS_MAX) and
    /// [`PHRASE_PATTERN_LISTS_MAX`](super::PHRASE_PATTERN_LISTS_MAX). The score is that of a phrase of the other
    /// words, which are what makes it rare; if there is no other, its idf is 1.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`] for a part that is no word and no pattern, or that names a field.
    pub fn phrase_of(parts: impl IntoIterator<Item = Query>, proximity: Proximity) -> Result<Self> {
        let parts = parts.into_iter().map(PhrasePart::try_from).collect::<Result<Vec<_>>>()?;
        let texts: Option<Vec<&str>> = parts.iter().map(PhrasePart::text).collect();
        Ok(match (&parts[..], texts) {
            ([], _) => Query::Nothing,
            ([PhrasePart(part)], _) if *part != Query::All => part.clone(),
            (_, Some(texts)) => Query::near(texts.join(" "), proximity),
            _ => Query::PhraseOf { field: None, parts, proximity, place: Place::default() },
        })
    }
}

/// The words of a phrase as far as they have been placed.
#[derive(Default)]
pub(super) struct Placed {
    pub(super) terms: SmallVec<[(u32, Term); 4]>,
    /// Words that stand for many terms.
    pub(super) open: Vec<(u32, Expansion)>,
    /// Position of the next word.
    end: u32,
}

impl Placed {
    pub(super) fn len(&self) -> usize {
        self.terms.len() + self.open.len()
    }

    /// Position of the next word.
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    /// Moves on to where the next word stands.
    pub(super) fn end_at(&mut self, end: u32) {
        self.end = self.end.max(end);
    }

    pub(super) fn push_open(&mut self, pattern: TermPattern) -> Result<()> {
        self.open.push((self.end, Expansion::new(pattern)?));
        self.end = self.end.saturating_add(1);
        Ok(())
    }
}

impl Binder<'_> {
    /// A phrase of words and patterns, in its field or in all default fields.
    pub(super) fn phrase_of(
        &mut self,
        field: Option<&str>,
        parts: &[PhrasePart],
        proximity: Proximity,
        place: &Place,
    ) -> Result<Clause<Normal>> {
        self.in_each_field(field, "PHRASE […]", place, |this, field| {
            this.phrase_in(field, parts, proximity, place)
                .map_err(|error| located(&place.text, error))
        })
    }

    fn phrase_in(
        &mut self,
        id: FieldId,
        parts: &[PhrasePart],
        proximity: Proximity,
        place: &Place,
    ) -> Result<Clause<Normal>> {
        let field = self.schema.get(id);
        if !field.kind.is_text() {
            let name = &field.name;
            let reason =
                format!("values of '{name}' are not cut into words, so no PHRASE is in it");
            self.note(reason.clone());
            return Ok(nothing(reason).into());
        }
        let mut placed = Placed::default();
        for part in parts {
            self.place_part(id, part, &mut placed)?;
            self.check_patterns(&placed)?;
        }
        self.count_terms(placed.len(), place)?;
        if placed.len() > 1 && !field.detail.has_positions() {
            self.note(format!(
                "'{}' keeps no positions, so of PHRASE all words must match, in any order",
                field.name
            ));
        }
        if placed.len() == 0 {
            return Ok(Clause::Dropped(format!("PHRASE has no word to find in '{}'", field.name)));
        }
        Ok(self.phrase(id, placed, proximity, place)?.into())
    }

    /// Refuses a phrase of too many patterns.
    pub(super) fn check_patterns(&self, placed: &Placed) -> Result<()> {
        let most = limits::current().phrase_patterns;
        if placed.open.len() > most {
            let (what, name) = ("reading a phrase of patterns", "PHRASE_PATTERNS_MAX");
            return Err(Error::limit_reached(what, name, most, "patterns", None));
        }
        Ok(())
    }

    /// Places what a part of a phrase stands for behind what there is.
    fn place_part(&mut self, id: FieldId, part: &PhrasePart, placed: &mut Placed) -> Result<()> {
        match part.query() {
            Query::All => {
                placed.end = placed.end.saturating_add(1);
                Ok(())
            }
            Query::Prefix { text, .. } if text.is_empty() => {
                placed.push_open(TermPattern::Prefix(vec![]))
            }
            Query::Prefix { text, .. } if self.is_cut_off(id, text)? => {
                let pieces = WildcardPiece::beginning(text);
                self.place_wildcard(id, &pieces, placed)
            }
            Query::Wildcard { pattern, .. } => {
                self.place_wildcard(id, &WildcardPiece::parse(pattern), placed)
            }
            Query::Prefix { text, .. } => self.place_words(
                id,
                text,
                Some(&|text| TermPattern::Prefix(text.into_bytes())),
                placed,
            ),
            query => match (part.text(), query) {
                (Some(text), _) => self.place_words(id, text, None, placed),
                (None, Query::Fuzzy { text, fuzziness, .. }) => {
                    let pattern = |text| TermPattern::fuzzy(text, *fuzziness);
                    self.place_words(id, text, Some(&pattern), placed)
                }
                (None, Query::InSet { values, .. }) => {
                    placed.push_open(self.set_of_words(id, values)?)
                }
                (None, query) => match self.pattern_in(id, query)? {
                    Some(pattern) => placed.push_open(pattern),
                    None => Ok(()),
                },
            },
        }
    }

    /// Places the words of a text, the last of which stands for others where there is a pattern.
    fn place_words(
        &mut self,
        id: FieldId,
        text: &str,
        pattern: Option<&dyn Fn(String) -> TermPattern>,
        placed: &mut Placed,
    ) -> Result<()> {
        let field = self.schema.get(id);
        // If the last word stands for others, it does so even if it is a stop word.
        let mut terms = match pattern {
            Some(_) => self.analyzers.pattern_terms(field, text)?,
            None => self.analyzers.query_terms(field, text)?,
        };
        let (start, span) = (placed.end, self.span(field, text, &terms)?);
        let last = terms.last().map(|last| start.saturating_add(last.position));
        if let (Some(pattern), Some(last)) = (pattern, last) {
            let term = terms.pop().map(|last| last.term).unwrap_or_default();
            placed.open.push((last, Expansion::new(pattern(term))?));
        }
        let terms = terms.into_iter();
        placed.terms.extend(
            terms.map(|at| (start.saturating_add(at.position), at.term.into_bytes().into())),
        );
        placed.end = start.saturating_add(span);
        Ok(())
    }

    /// Number of places that a text takes, of which these terms are left.
    fn span(&self, field: &Field, text: &str, terms: &[PlacedTerm]) -> Result<u32> {
        let (Some(first), Some(last)) = (terms.first(), terms.last()) else {
            // Words that the analyzer leaves out of every text keep their places.
            let words = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric));
            return Ok(words.count() as u32);
        };
        if !text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            // It may have left something out behind the last term, or cut the last word into pairs: a second time tells where
            // it would go on.
            let twice = self.analyzers.query_terms(field, &format!("{text} {text}"))?;
            let is_same = twice.len() == 2 * terms.len()
                && twice[terms.len()..].iter().zip(terms).all(|(a, b)| a.term == b.term);
            if is_same && twice[terms.len()].position > last.position {
                return Ok(twice[terms.len()].position - first.position);
            }
        }
        Ok(last.position.saturating_add(1))
    }

    /// The values of a list as terms of a text field.
    fn set_of_words(&self, id: FieldId, values: &[String]) -> Result<TermPattern> {
        let mut set = Vec::with_capacity(values.len());
        for value in values {
            match &mut self.tokens(id, value)?[..] {
                [term] => set.push(std::mem::take(term).into_bytes()),
                terms => {
                    return Err(Error::new(ErrorKind::Query, "reading a list inside of PHRASE")
                        .expected("values of one word each")
                        .found(format!("'{}' of {}", shortened(value), terms.len())));
                }
            }
        }
        set.sort_unstable();
        set.dedup();
        Ok(TermPattern::Set(set))
    }
}
