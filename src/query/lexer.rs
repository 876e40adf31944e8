//! Query text → tokens.
//!
//! A leaf of the tree is one token, with everything that belongs to it: `"a b"*~2`, `[a TO b}`.

mod areas;
mod lists;
mod near;
mod phrases;
mod words;

use std::ops::Range;

use super::{Boost, Query, Score};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::FIELD_NAME_BYTES_MAX;

/// Words that are not words, or not everywhere, unless one of their characters is escaped.
pub(super) const OPERATORS: [&str; 11] = [
    "AND",
    "OR",
    "NOT",
    "TO",
    "IN",
    "MAX",
    "PHRASE",
    "WITHIN",
    "INTERSECTS",
    "CONTAINS",
    "DISJOINT",
];

/// Whether a character ends a word or means something inside it.
pub(super) fn is_special(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\\' | '(' | ')' | '"' | '[' | ']' | '{' | '}' | ':' | '^' | '~' | '*' | '?')
}

/// Whether a character means something where a word could start, beside [`is_special`].
pub(super) fn is_special_at_start(c: char) -> bool {
    matches!(c, '+' | '-' | '!' | '/' | '<' | '>') || is_typographic_quote(c)
}

/// Whether a character is the quote of the language, or what word processors and phones make of it.
pub(super) fn is_quote(c: char) -> bool {
    c == '"' || is_typographic_quote(c)
}

fn is_typographic_quote(c: char) -> bool {
    matches!(c, '“' | '”' | '„' | '‟')
}

#[derive(Debug, PartialEq)]
pub(super) enum Token {
    /// A query without children or field.
    Leaf(Query),
    /// `*` alone.
    Star,
    /// A name and its colon.
    Field(String),
    /// Several names and the colon.
    Fields(FieldList),
    Open,
    Close,
    /// `MAX [`
    OpenMax,
    /// `]`
    CloseMax,
    And,
    Or,
    /// `+`
    Must,
    /// `-`, `!` or NOT
    MustNot,
    End,
}

/// `{title^3 body}:` or `{title^3 + body}:`
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FieldList {
    pub(super) fields: Vec<(String, Boost)>,
    /// Whether they are searched as if they were one.
    pub(super) combined: bool,
}

/// Suffix that changes the score of the query before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum BoostSuffix {
    Boost(Boost),
    Score(Score),
}

#[derive(Clone, Debug)]
pub(super) struct Lexer<'q> {
    query: &'q str,
    at: usize,
    /// Whether this is inside of `PHRASE [`.
    in_phrase: bool,
    /// Whether `\` and `?` mean something only where they hardly can be punctuation.
    is_lenient: bool,
}

impl<'q> Lexer<'q> {
    pub(super) fn new(query: &'q str) -> Self {
        Lexer { query, at: 0, in_phrase: false, is_lenient: false }
    }

    /// A lexer of what somebody typed or pasted: `\` before a letter or digit is a character of its own, and so is
    /// `?` anywhere but between two of them.
    pub(super) fn lenient(query: &'q str) -> Self {
        Lexer { is_lenient: true, ..Lexer::new(query) }
    }

    /// The next token and the bytes it stands on. After a field's colon a value is due, which may
    /// start with a sign and contain colons.
    pub(super) fn next(&mut self, after_field: bool) -> Result<(Token, Range<usize>)> {
        self.skip_blanks();
        let start = self.at;
        let mut chars = self.rest().chars();
        let (first, second) = (chars.next(), chars.next());
        let token = match (first, second) {
            (None, _) => return Ok((Token::End, start..start)),
            (Some('('), _) => self.take(1, Token::Open),
            (Some(')'), _) => self.take(1, Token::Close),
            (Some(']'), _) => self.take(1, Token::CloseMax),
            (Some('&'), Some('&')) => self.take(2, Token::And),
            (Some('|'), Some('|')) => self.take(2, Token::Or),
            (Some('+'), _) if !after_field => self.take(1, Token::Must),
            (Some('-' | '!'), _) if !after_field => self.take(1, Token::MustNot),
            (Some('"'), _) => self.phrase_or_field(!after_field)?,
            (Some('['), _) => self.range()?,
            (Some('{'), _) => self.fields_or_range(after_field)?,
            (Some('/'), _) => self.regex()?,
            (Some('<' | '>'), _) => self.comparison()?,
            (Some('}'), _) => {
                return Err(self
                    .refuse(start..start + 1)
                    .found("'}' without its opening bracket")
                    .hint("write \\} for the character itself"));
            }
            (Some(':'), _) if !after_field => {
                return Err(self.no_field(start));
            }
            (Some(c), _) if is_typographic_quote(c) => {
                return Err(self
                    .refuse(start..start + c.len_utf8())
                    .expected("a word or a quote")
                    .found(format!("the quotation mark '{c}' of print"))
                    .hint(format!(
                        "write \" before and behind a phrase, or \\{c} for the character itself"
                    )));
            }
            (Some(c @ ('^' | '~')), _) => {
                return Err(self
                    .refuse(start..start + 1)
                    .expected(format!("'{c}' right behind what it belongs to"))
                    .found(format!("'{c}' alone"))
                    .hint(format!("write \\{c} for the character itself")));
            }
            _ => self.word(after_field)?,
        };
        Ok((token, start..self.at))
    }

    /// `^2` or `^=2` right behind a leaf or a bracket.
    pub(super) fn weight(&mut self) -> Result<Option<BoostSuffix>> {
        let Some(rest) = self.rest().strip_prefix('^') else { return Ok(None) };
        let start = self.at;
        let is_score = rest.starts_with('=');
        self.at += 1 + usize::from(is_score);
        let number = self.number();
        let span = start..self.at;
        let number = number.ok_or_else(|| {
            self.refuse(span.clone())
                .expected(format!("a number behind '{}'", &self.query[span.clone()]))
                .hint("write \\^ for the character itself")
        })?;
        let weight = match is_score {
            true => Score::new(number).map(BoostSuffix::Score),
            false => Boost::new(number).map(BoostSuffix::Boost),
        };
        let weight = weight.map_err(|error| {
            let error = error.at_span(span);
            match number == 0.0 && !is_score {
                true => error.hint("^=0 keeps what matches and leaves out its score"),
                false => error,
            }
        })?;
        self.end_of_atom()?;
        Ok(Some(weight))
    }

    /// `~2` right behind a parenthesis.
    pub(super) fn minimum(&mut self) -> Result<Option<u32>> {
        match self.eat('~') {
            true => {
                let minimum = self.whole_number("how many of the alternatives must match")?;
                self.end_of_atom()?;
                Ok(Some(minimum))
            }
            false => Ok(None),
        }
    }

    /// `~0.1` right behind the bracket of a MAX, where it stands there.
    pub(super) fn tie(&mut self) -> Result<Option<f32>> {
        let start = self.at;
        if !self.eat('~') {
            return Ok(None);
        }
        let tie = self.number().ok_or_else(|| {
            self.refuse(start..self.at).expected("a number from 0 to 1 behind '~'")
        })?;
        self.end_of_atom()?;
        Ok(Some(tie))
    }

    /// A colon where a word could begin.
    #[cold]
    fn no_field(&self, at: usize) -> Error {
        let before = &self.query[..at];
        let error = self.refuse(at..at + 1).expected("the name of a field before ':'");
        let word = before.trim_end().rsplit(is_special).next().unwrap_or_default();
        match before.ends_with(char::is_whitespace) && !word.is_empty() {
            true => error.found("a blank").hint(format!(
                "write {word}: without a blank between them, or \\: for the character itself"
            )),
            false => error.found("none").hint("write \\: for the character itself"),
        }
    }

    /// The position, in bytes.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Text that has not been read yet.
    pub(super) fn rest(&self) -> &'q str {
        &self.query[self.at..]
    }

    /// Goes on behind these bytes.
    pub(super) fn skip(&mut self, n_bytes: usize) {
        self.at += n_bytes;
    }

    /// Everything up to a blank, a quote or a bracket, where a backslash takes what means something literally.
    pub(super) fn chunk(&mut self) -> String {
        let mut text = String::new();
        while let Some(c) = self.rest().chars().next().filter(|c| !ends_word(*c)) {
            self.at += c.len_utf8();
            let escaped = self
                .rest()
                .chars()
                .next()
                .filter(|next| c == '\\' && (is_special(*next) || is_special_at_start(*next)));
            self.at += escaped.map_or(0, char::len_utf8);
            text.push(escaped.unwrap_or(c));
        }
        text
    }

    /// A word, and the bytes behind it of a `~` with a number that is no distance; goes on behind these.
    pub(super) fn word_before_number(&mut self) -> Option<(&'q str, Range<usize>)> {
        let rest = self.rest();
        let ends = |c: char| ends_word(c) || c == '^';
        let whole = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let (word, number) = whole.split_once('~')?;
        // Between digits a tilde is more likely a dash, as in 10~20.
        let is_word = word.starts_with(char::is_alphanumeric)
            && word.contains(char::is_alphabetic)
            && !word.contains(['*', '?', ':', '\\']);
        let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ';' | '/' | '!');
        let is_number =
            number.starts_with(|c: char| c.is_ascii_digit()) && number.chars().all(is_of_number);
        if !is_word || !is_number {
            return None;
        }
        let start = self.at + word.len();
        self.at += whole.len();
        Some((word, start..self.at))
    }

    /// Whether the rest of the text up to a blank, a quote or a bracket is one value without a colon.
    pub(super) fn is_before_value(&self) -> bool {
        let rest = self.rest();
        let value = &rest[..rest.find(ends_word).unwrap_or(rest.len())];
        value.starts_with(char::is_alphanumeric) && !value.contains(':')
    }

    pub(super) fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn take(&mut self, len: usize, token: Token) -> Token {
        self.at += len;
        token
    }

    fn eat(&mut self, c: char) -> bool {
        let is_next = self.rest().starts_with(c);
        self.at += if is_next { c.len_utf8() } else { 0 };
        is_next
    }

    /// Reads the characters up to the end of the atom as a number.
    fn number(&mut self) -> Option<f32> {
        let rest = self.rest();
        let ends = |c: char| ends_word(c) || matches!(c, '^' | '~' | '&' | '|');
        let text = &rest[..rest.find(ends).unwrap_or(rest.len())];
        self.at += text.len();
        text.parse().ok()
    }

    fn whole_number(&mut self, what: &str) -> Result<u32> {
        let rest = self.rest();
        let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
        let span = self.at - 1..self.at + digits.len();
        self.at += digits.len();
        digits.parse().map_err(|_| match digits.is_empty() {
            true => self.refuse(span).expected(what).found("no number"),
            false => self
                .refuse(span)
                .expected(format!("{what}, a number of at most {}", u32::MAX))
                .found(digits),
        })
    }

    /// Checks that an atom ends here; nothing may be right behind it.
    fn end_of_atom(&self) -> Result<()> {
        match self.rest().chars().next() {
            Some(c) if !ends_word(c) && !matches!(c, '^' | '&' | '|') => Err(self
                .refuse(self.at..self.at + c.len_utf8())
                .expected("a blank or a bracket")
                .found(format!("'{c}'"))
                .hint("write \\ before a character that is meant literally")),
            _ => Ok(()),
        }
    }

    fn field(&mut self, start: usize, name: String) -> Result<Token> {
        self.at += 1;
        self.check_field_name(&name, &(start..self.at))?;
        Ok(Token::Field(name))
    }

    fn check_field_name(&self, name: &str, span: &Range<usize>) -> Result<()> {
        if name.len() > FIELD_NAME_BYTES_MAX {
            return Err(Error::new(ErrorKind::Query, "parsing the name of a field")
                .expected(format!("at most {FIELD_NAME_BYTES_MAX} bytes before ':'"))
                .found(name.len().to_string())
                .at_span(span.clone())
                .hint("write \\: for the character itself"));
        }
        Ok(())
    }

    #[cold]
    fn refuse(&self, span: Range<usize>) -> Error {
        Error::new(ErrorKind::Query, "parsing the query").at_span(span)
    }
}

/// Whether a character can only stand after a word, not in it.
fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')' | '"' | '[' | ']' | '{' | '}')
}
