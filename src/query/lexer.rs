//! Query text → tokens.
//!
//! The whole grammar is recognised here, so that what is not built yet is refused by its name
//! instead of being taken for something else.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use crate::schema::FIELD_NAME_BYTES_MAX;

/// Words that are not words unless one of their characters is escaped.
pub(super) const OPERATORS: [&str; 5] = ["AND", "OR", "NOT", "TO", "IN"];

/// Whether a character ends a word or means something inside it.
pub(super) fn is_special(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\\' | '(' | ')' | '"' | '[' | ']' | '{' | '}' | ':' | '^' | '~' | '*' | '?')
}

/// Whether a character means something where a word could start, beside [`is_special`].
pub(super) fn is_special_at_start(c: char) -> bool {
    matches!(c, '+' | '-' | '!' | '/' | '<' | '>')
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Quoted(String),
    /// `*` alone.
    Star,
    /// A name and its colon.
    Field(String),
    Open,
    Close,
    And,
    Or,
    /// `+`
    Must,
    /// `-`, `!` or NOT
    MustNot,
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Lexer<'q> {
    query: &'q str,
    at: usize,
}

impl<'q> Lexer<'q> {
    pub(super) fn new(query: &'q str) -> Self {
        Lexer { query, at: 0 }
    }

    /// The next token and the bytes it stands on. After a field's colon a value is due, which may
    /// start with a sign and contain colons.
    pub(super) fn next(&mut self, after_field: bool) -> Result<(Token, Range<usize>)> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        let start = self.at;
        let mut chars = self.rest().chars();
        let (first, second) = (chars.next(), chars.next());
        let token = match (first, second) {
            (None, _) => return Ok((Token::End, start..start)),
            (Some('('), _) => self.take(1, Token::Open),
            (Some(')'), _) => self.take(1, Token::Close),
            (Some('&'), Some('&')) => self.take(2, Token::And),
            (Some('|'), Some('|')) => self.take(2, Token::Or),
            (Some('+'), _) if !after_field => self.take(1, Token::Must),
            (Some('-' | '!'), _) if !after_field => self.take(1, Token::MustNot),
            (Some('*'), next) if next.is_none_or(ends_word) => self.take(1, Token::Star),
            (Some('"'), _) => self.quoted()?,
            (Some('['), _) | (Some('{'), _) => return Err(self.not_yet("ranges ([a TO b])", start)),
            (Some('/'), _) => return Err(self.not_yet("regular expressions (/…/)", start)),
            (Some('<' | '>'), _) => return Err(self.not_yet("comparisons (>, >=, <, <=)", start)),
            (Some(close @ (']' | '}')), _) => {
                return Err(Error::new(ErrorKind::Query, "parsing the query")
                    .found(format!("'{close}' without its opening bracket"))
                    .at_span(start..start + 1)
                    .hint(format!("write \\{close} for the character itself")));
            }
            (Some(':'), _) if !after_field => {
                return Err(Error::new(ErrorKind::Query, "parsing the query")
                    .expected("the name of a field before ':'")
                    .found("none")
                    .at_span(start..start + 1)
                    .hint("write \\: for the character itself"));
            }
            _ => self.word(after_field)?,
        };
        Ok((token, start..self.at))
    }

    fn rest(&self) -> &'q str {
        &self.query[self.at..]
    }

    fn take(&mut self, len: usize, token: Token) -> Token {
        self.at += len;
        token
    }

    fn quoted(&mut self) -> Result<Token> {
        let start = self.at;
        let mut text = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = start + at + 1;
                    return match self.rest().chars().next() {
                        Some('~') => Err(self.not_yet("phrases with slop (\"…\"~2)", start)),
                        Some('*') => Err(self.not_yet("phrases with an open end (\"…\"*)", start)),
                        _ => Ok(Token::Quoted(text)),
                    };
                }
                '\\' => match chars.next() {
                    Some((_, escaped)) => text.push(escaped),
                    None => break,
                },
                _ => text.push(c),
            }
        }
        Err(Error::new(ErrorKind::Query, "parsing the query")
            .expected("a closing '\"'")
            .found("the end of the query")
            .at_span(start..start + 1)
            .hint("write \\\" for the character itself"))
    }

    fn word(&mut self, after_field: bool) -> Result<Token> {
        let start = self.at;
        let mut text = String::new();
        let mut escaped = false;
        while let Some(c) = self.rest().chars().next() {
            match c {
                '\\' => {
                    escaped = true;
                    text.push(self.escaped()?);
                    continue;
                }
                ':' if !after_field => return self.field(start, text),
                ':' => {}
                '^' => return Err(self.not_yet("boosts (word^2)", start)),
                '~' => return Err(self.not_yet("fuzzy words (word~1)", start)),
                '?' => return Err(self.not_yet("wildcards (w?ld*c)", start)),
                '*' => return Err(self.not_yet("prefixes and wildcards (word*, w?ld*c)", start)),
                '&' | '|' if self.rest()[1..].starts_with(c) => break,
                _ if ends_word(c) => break,
                _ => {}
            }
            text.push(c);
            self.at += c.len_utf8();
        }
        if escaped {
            return Ok(Token::Word(text));
        }
        match &*text {
            "AND" => Ok(Token::And),
            "OR" => Ok(Token::Or),
            "NOT" => Ok(Token::MustNot),
            // Outside of a list or a range these two are words: BORN IN THE USA.
            "IN" if self.rest().trim_start().starts_with('[') => {
                Err(self.not_yet("lists of values (IN [a b])", start))
            }
            _ => Ok(Token::Word(text)),
        }
    }

    /// The character after a backslash.
    fn escaped(&mut self) -> Result<char> {
        let mut chars = self.rest().chars();
        chars.next();
        let Some(c) = chars.next() else {
            return Err(Error::new(ErrorKind::Query, "parsing the query")
                .expected("a character after '\\'")
                .found("the end of the query")
                .at_span(self.at..self.at + 1)
                .hint("write \\\\ for the character itself"));
        };
        self.at += 1 + c.len_utf8();
        Ok(c)
    }

    fn field(&mut self, start: usize, name: String) -> Result<Token> {
        self.at += 1;
        if name.len() > FIELD_NAME_BYTES_MAX {
            return Err(Error::new(ErrorKind::Query, "parsing the name of a field")
                .expected(format!("at most {FIELD_NAME_BYTES_MAX} bytes before ':'"))
                .found(name.len().to_string())
                .at_span(start..self.at)
                .hint("write \\: for the character itself"));
        }
        Ok(Token::Field(name))
    }

    /// Refuses a part of the grammar that is not built yet, with the span up to the next blank.
    #[cold]
    fn not_yet(&self, what: &str, start: usize) -> Error {
        let rest = self.rest();
        let end = self.at + rest.find(char::is_whitespace).unwrap_or(rest.len());
        let what = format!("{what} in a query are not supported yet");
        Error::new(ErrorKind::Unsupported, what)
            .at_span(start..end)
            .hint("write \\ before a character that is meant literally")
    }
}

/// Whether a character can only stand after a word, not in it.
fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')' | '"' | '[' | ']' | '{' | '}')
}
