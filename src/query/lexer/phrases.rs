//! Phrases: `"a b"~2`, `PHRASE [a b*]`.

use std::ops::Range;

use super::{Lexer, Token};
use crate::error::{Error, Result};
use crate::query::{PhrasePart, Proximity, Query};

impl<'q> Lexer<'q> {
    /// `"a phrase"`, or, where it may be one, `"name of a field":`.
    pub(super) fn phrase_or_field(&mut self, may_be_field: bool) -> Result<Token> {
        let start = self.at;
        let text = self.quoted()?;
        if may_be_field && self.rest().starts_with(':') {
            return self.field(start, text);
        }
        let prefix = self.eat('*');
        let mut query = Query::near(text, self.proximity()?);
        if let Query::Phrase { prefix: open, .. } = &mut query {
            *open = prefix;
        }
        Ok(Token::Leaf(query))
    }

    /// `~2`, `~>2` or `~<>2` right behind words, where it stands there.
    fn proximity(&mut self) -> Result<Proximity> {
        if !self.eat('~') {
            return Ok(Proximity::Exact);
        }
        let make = match self.rest() {
            rest if rest.starts_with("<>") => Proximity::Near,
            rest if rest.starts_with('>') => Proximity::Ordered,
            _ => Proximity::Slop,
        };
        self.at += match make(0) {
            Proximity::Near(_) => 2,
            Proximity::Ordered(_) => 1,
            _ => 0,
        };
        let proximity = make(self.whole_number("how far apart the words may be")?);
        self.end_of_atom()?;
        Ok(proximity)
    }

    /// `PHRASE [the gr*t gatsby]~2`; the position is behind PHRASE.
    pub(super) fn phrase_of(&mut self) -> Result<Token> {
        let open = self.at;
        self.skip_blanks();
        self.at += 1;
        self.in_phrase = true;
        let mut parts = vec![];
        loop {
            // A sign begins a word here, as behind a field's colon.
            let (token, span) = self.next(true)?;
            let part = match token {
                Token::Leaf(part) => part,
                Token::Star => Query::All,
                Token::CloseMax if !parts.is_empty() => break,
                _ => return Err(self.no_part(span)),
            };
            parts.push(PhrasePart::try_from(part).map_err(|error| error.at_span(span))?);
            if self.rest().starts_with('^') {
                return Err(self
                    .refuse(self.at..self.at + 1)
                    .expected("a weight for the whole phrase, behind its ']'")
                    .found("'^' behind a word of it"));
            }
        }
        self.in_phrase = false;
        let proximity = self.proximity()?;
        self.end_of_atom()?;
        let parts = parts.iter().map(|part| part.query().clone());
        Query::phrase_of(parts, proximity)
            .map(Token::Leaf)
            .map_err(|error| error.at_span(open..self.at))
    }

    #[cold]
    pub(super) fn no_part(&self, span: Range<usize>) -> Error {
        let found = match &self.query[span.clone()] {
            "" => "the end of the query".to_owned(),
            found => format!("'{found}'"),
        };
        self.refuse(span)
            .expected("words and patterns in PHRASE [ ]")
            .found(found)
            .hint("write \\ before what is meant literally")
    }

    /// The text between two quotes.
    pub(super) fn quoted(&mut self) -> Result<String> {
        let start = self.at;
        let mut text = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = start + at + 1;
                    return Ok(text);
                }
                '\\' => match chars.next() {
                    Some((_, escaped)) => {
                        if self.is_lenient && escaped.is_alphanumeric() {
                            text.push(c);
                        }
                        text.push(escaped);
                    }
                    None => break,
                },
                _ => text.push(c),
            }
        }
        Err(self
            .refuse(start..start + 1)
            .expected("a closing '\"'")
            .found("the end of the query")
            .hint("write \\\" for the character itself"))
    }
}
