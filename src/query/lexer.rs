//! Query text → tokens.
//!
//! A leaf of the tree is one token, with everything that belongs to it: `"a b"*~2`, `[a TO b}`.

use std::ops::{Bound, Range};

use super::{Boost, Fuzziness, PhrasePart, Proximity, Query, Score};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::FIELD_NAME_BYTES_MAX;

/// Words that are not words, or not everywhere, unless one of their characters is escaped.
pub(super) const OPERATORS: [&str; 7] = ["AND", "OR", "NOT", "TO", "IN", "MAX", "PHRASE"];

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

/// A value in a list or a range.
struct Value {
    text: String,
    span: Range<usize>,
    /// Whether nothing in it was quoted or escaped, so that it may be TO or `*`.
    plain: bool,
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

    /// `"a phrase"`, or, where it may be one, `"name of a field":`.
    fn phrase_or_field(&mut self, may_be_field: bool) -> Result<Token> {
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
    fn phrase_of(&mut self) -> Result<Token> {
        let open = self.at;
        self.skip_blanks();
        self.at += 1;
        self.in_phrase = true;
        let mut parts = vec![];
        loop {
            // As behind a field's colon, a sign begins a word.
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
    fn no_part(&self, span: Range<usize>) -> Error {
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
    fn quoted(&mut self) -> Result<String> {
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

    fn regex(&mut self) -> Result<Token> {
        let start = self.at;
        let literal = "a text that begins with '/' stands in quotes, \"/usr/lib\", or write \\/";
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '/' => {
                    let pattern = &self.query[start + 1..start + at];
                    self.at = start + at + 1;
                    self.end_of_atom().map_err(|error| error.hint(literal))?;
                    return Ok(Token::Leaf(Query::regex(pattern)));
                }
                '\\' => drop(chars.next()),
                _ => {}
            }
        }
        Err(self
            .refuse(start..start + 1)
            .expected("a closing '/'")
            .found("the end of the query")
            .hint(literal))
    }

    /// `[a TO b}`; the position is at the opening bracket.
    fn range(&mut self) -> Result<Token> {
        let open = self.at;
        self.at += 1;
        let lower = self.value("a value or '*'")?;
        self.range_from(open, lower)
    }

    /// Reads the rest of a range behind its first value.
    fn range_from(&mut self, open: usize, lower: Value) -> Result<Token> {
        let to = self.value("TO")?;
        if !to.plain || to.text != "TO" {
            let found = format!("'{}'", to.text);
            let error =
                self.refuse(to.span).expected("TO between the ends of a range").found(found);
            let inside = self.rest();
            let inside = &inside[..inside.find([']', '}']).unwrap_or(inside.len())];
            return Err(match inside.split_whitespace().any(|word| word == "TO") {
                true => error.hint(
                    "a value with a blank stands in quotes: [\"2020-01-01 10:00\" TO \"2020-01-02 10:00\"]",
                ),
                false => error.hint("lists are written IN [a b]"),
            });
        }
        let upper = self.value("a value or '*'")?;
        self.skip_blanks();
        let close = self.rest().chars().next();
        let Some(close @ (']' | '}')) = close else {
            let end = self.at + close.map_or(0, char::len_utf8);
            let error = self
                .refuse(self.at..end)
                .expected("']' or '}' after the end of a range")
                .found(close.map_or("the end of the query".into(), |c| format!("'{c}'")));
            return Err(match close {
                Some(_) => error.hint(
                    "a value with a blank stands in quotes: [2020-01-01 TO \"2020-01-02 10:00\"]",
                ),
                None => error,
            });
        };
        self.at += 1;
        self.end_of_atom()?;
        let bound = |value: Value, is_included: bool| match value {
            Value { plain: true, text, .. } if text == "*" => Bound::Unbounded,
            Value { text, .. } if is_included => Bound::Included(text),
            Value { text, .. } => Bound::Excluded(text),
        };
        let lower = bound(lower, self.query[open..].starts_with('['));
        let upper = bound(upper, close == ']');
        Ok(Token::Leaf(Query::range((lower, upper))))
    }

    /// `{a TO b]` or `{title^3 body}:`; the position is at the bracket.
    fn fields_or_range(&mut self, after_field: bool) -> Result<Token> {
        let open = self.at;
        self.at += 1;
        let first = self.value("a value, '*' or the name of a field")?;
        let mut ahead = self.clone();
        ahead.skip_blanks();
        let is_list = ahead.rest().starts_with(['}', '^'])
            || ahead.value("").is_ok_and(|next| !next.plain || next.text != "TO");
        if after_field || !is_list {
            return self.range_from(open, first);
        }
        let (mut fields, mut n_signs) = (vec![], 0);
        let mut name = first;
        let is_sign = |value: &Value| value.plain && value.text == "+";
        loop {
            if is_sign(&name) {
                return Err(self
                    .refuse(name.span)
                    .expected("the name of a field")
                    .found("'+'")
                    .hint("write \"+\" for a field of this name"));
            }
            let boost = match self.weight()? {
                None => Boost::ONE,
                Some(BoostSuffix::Boost(boost)) => boost,
                Some(BoostSuffix::Score(_)) => {
                    return Err(self
                        .refuse(name.span.end..self.at)
                        .expected("a weight for the field, as in title^3")
                        .found("a constant score"));
                }
            };
            self.check_field_name(&name.text, &name.span)?;
            fields.push((name.text, boost));
            self.skip_blanks();
            if self.eat('}') {
                break;
            }
            name = self.value("the name of a field or '}'")?;
            if is_sign(&name) {
                n_signs += 1;
                name = self.value("the name of a field behind '+'")?;
            }
        }
        let combined = n_signs > 0;
        if combined && n_signs + 1 != fields.len() {
            return Err(self
                .refuse(open..self.at)
                .expected("'+' between all fields or between none")
                .found(format!("{n_signs} between {} fields", fields.len())));
        }
        if !self.eat(':') {
            return Err(self
                .refuse(open..self.at)
                .expected("':' behind a list of fields")
                .hint("a range is written {a TO b}"));
        }
        Ok(Token::Fields(FieldList { fields, combined }))
    }

    /// `IN [a b]`; the position is behind IN.
    fn set(&mut self) -> Result<Token> {
        self.skip_blanks();
        self.at += 1;
        let mut values = vec![];
        loop {
            values.push(self.value("a value of the list")?.text);
            self.skip_blanks();
            if self.eat(']') {
                break;
            }
        }
        self.end_of_atom()?;
        Ok(Token::Leaf(Query::in_set(values)))
    }

    /// `>=a` and the like.
    fn comparison(&mut self) -> Result<Token> {
        let is_less = self.eat('<');
        self.at += usize::from(!is_less);
        let is_included = self.eat('=');
        let value = self.value("a value to compare with")?;
        if value.plain && value.text == "*" {
            return Err(self
                .refuse(value.span)
                .expected("a value to compare with")
                .found("'*'")
                .hint("field:* finds what has any value"));
        }
        self.end_of_atom()?;
        let bound = match is_included {
            true => Bound::Included(value.text),
            false => Bound::Excluded(value.text),
        };
        Ok(Token::Leaf(match is_less {
            true => Query::range((Bound::Unbounded, bound)),
            false => Query::range((bound, Bound::Unbounded)),
        }))
    }

    /// A value of a list or a range, after blanks.
    fn value(&mut self, expected: &str) -> Result<Value> {
        self.skip_blanks();
        let start = self.at;
        if self.rest().starts_with('"') {
            let text = self.quoted()?;
            return Ok(Value { text, span: start..self.at, plain: false });
        }
        let (mut text, mut plain) = (String::new(), true);
        while let Some(c) = self.rest().chars().next() {
            match c {
                '\\' => {
                    plain = false;
                    text.push(self.escaped()?);
                    continue;
                }
                '^' => break,
                _ if ends_word(c) => break,
                _ => {}
            }
            text.push(c);
            self.at += c.len_utf8();
        }
        if self.at == start {
            let next = self.rest().chars().next();
            let end = start + next.map_or(0, char::len_utf8);
            return Err(self
                .refuse(start..end)
                .expected(expected)
                .found(next.map_or("the end of the query".into(), |c| format!("'{c}'"))));
        }
        if plain && text.len() > 1 && text.contains(['*', '?']) {
            return Err(self
                .refuse(start..self.at)
                .expected("whole values in a list or a range")
                .found(format!("'{text}'"))
                .hint("write \\ before a '*' or '?' that is meant literally"));
        }
        Ok(Value { text, span: start..self.at, plain })
    }

    fn word(&mut self, after_field: bool) -> Result<Token> {
        let start = self.at;
        let (mut text, mut pattern) = (String::new(), String::new());
        let (mut escaped, mut wild) = (false, 0);
        let mut is_address = None;
        while let Some(c) = self.rest().chars().next() {
            let literal = match c {
                '\\' => {
                    escaped = true;
                    self.escaped()?
                }
                ':' if !after_field && wild > 0 => {
                    let error = self
                        .refuse(start..self.at)
                        .expected("the name of one field before ':'")
                        .found(format!("'{}'", &self.query[start..self.at]));
                    return Err(match pattern == "*" && self.rest().starts_with(":*") {
                        true => {
                            error.hint("every document is *, every one with a title is title:*")
                        }
                        false => error
                            .hint("write \\: for the character itself, {a b}: for several fields"),
                    });
                }
                ':' if !after_field => return self.field(start, text),
                '~' => return self.fuzzy(start, text, wild > 0),
                '*' | '?' if self.is_lenient => {
                    let is_address =
                        *is_address.get_or_insert_with(|| self.is_address(start, after_field));
                    let (run, is_inside) = self.run_of_wild(start);
                    for c in run.chars() {
                        if c == '?' && (is_address || !is_inside) {
                            text.push(c);
                            continue;
                        }
                        wild += 1;
                        pattern.push(c);
                    }
                    self.at += run.len();
                    continue;
                }
                '*' | '?' => {
                    wild += 1;
                    pattern.push(c);
                    self.at += 1;
                    continue;
                }
                '^' => break,
                '&' | '|' if self.rest()[1..].starts_with(c) => break,
                _ if ends_word(c) => break,
                _ => {
                    self.at += c.len_utf8();
                    c
                }
            };
            text.push(literal);
            if matches!(literal, '*' | '?' | '\\') {
                pattern.push('\\');
            }
            pattern.push(literal);
        }
        match &*text {
            "" if pattern == "*" => Ok(Token::Star),
            _ if wild > 0 => Ok(Token::Leaf(Query::wildcard(pattern))),
            _ if escaped => Ok(Token::Leaf(Query::word(text))),
            "AND" => Ok(Token::And),
            "OR" => Ok(Token::Or),
            "NOT" => Ok(Token::MustNot),
            // Outside of a list or a range these are words: BORN IN THE USA, MAX PLANCK.
            "IN" if self.opens_list() => self.set(),
            "PHRASE" if self.opens_list() && self.in_phrase => Err(self.no_part(start..self.at)),
            "PHRASE" if self.opens_list() => self.phrase_of(),
            "MAX" if self.opens_list() => {
                self.skip_blanks();
                Ok(self.take(1, Token::OpenMax))
            }
            _ => Ok(Token::Leaf(Query::word(text))),
        }
    }

    /// The `*` and `?` that come next in a word, and whether a letter or digit is on either side of them.
    fn run_of_wild(&self, start: usize) -> (&'q str, bool) {
        let rest = self.rest();
        let behind = rest.trim_start_matches(['*', '?']);
        let is_inside = self.query[start..self.at].ends_with(char::is_alphanumeric)
            && behind.starts_with(char::is_alphanumeric);
        (&rest[..rest.len() - behind.len()], is_inside)
    }

    /// Whether a word looks like the address of a page, in which `?` is no pattern. A path in a field that is named
    /// may be one.
    fn is_address(&self, start: usize, after_field: bool) -> bool {
        let word = &self.query[start..];
        let word = &word[..word.find(ends_word).unwrap_or(word.len())];
        word.contains('=') || (!after_field && word.contains('/'))
    }

    fn opens_list(&self) -> bool {
        self.rest().trim_start().starts_with('[')
    }

    /// `word~1/3!`; the position is at the tilde.
    fn fuzzy(&mut self, start: usize, text: String, wild: bool) -> Result<Token> {
        if wild || text.is_empty() {
            return Err(self
                .refuse(start..self.at + 1)
                .expected("a word before '~'")
                .found(format!("'{}'", &self.query[start..self.at]))
                .hint("write \\ before a character that is meant literally"));
        }
        self.at += 1;
        let mut fuzziness = Fuzziness::default();
        if self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            let at = self.at;
            let number = self.rest();
            let number = &number
                [..number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len())];
            if number.contains('.') {
                let word = &self.query[start..at - 1];
                return Err(self
                    .refuse(at..at + number.len())
                    .expected("how many letters may differ: 0, 1 or 2")
                    .found(number)
                    .hint(format!("a similarity is not read: write {word}~1 or {word}~2")));
            }
            let distance = self.whole_number("a distance of at most 2")?;
            fuzziness.distance = u8::try_from(distance).unwrap_or(u8::MAX);
            if fuzziness.distance > Fuzziness::DISTANCE_MAX {
                return Err(self
                    .refuse(at..self.at)
                    .expected(format!("a distance of at most {}", Fuzziness::DISTANCE_MAX))
                    .found(distance.to_string()));
            }
        }
        if self.eat('/') {
            fuzziness.prefix_len = self.whole_number("how many characters are as written")?;
        }
        fuzziness.transpositions = !self.eat('!');
        self.end_of_atom()?;
        Ok(Token::Leaf(Query::fuzzy(text, fuzziness)?))
    }

    /// The character after a backslash.
    fn escaped(&mut self) -> Result<char> {
        let mut chars = self.rest().chars();
        chars.next();
        let Some(c) = chars.next() else {
            return Err(self
                .refuse(self.at..self.at + 1)
                .expected("a character after '\\'")
                .found("the end of the query")
                .hint("write \\\\ for the character itself"));
        };
        if self.is_lenient && c.is_alphanumeric() && !self.escapes_operator() {
            // As in C:\Users: no letter needs a backslash.
            self.at += 1;
            return Ok('\\');
        }
        self.at += 1 + c.len_utf8();
        Ok(c)
    }

    /// Whether the backslash that comes next makes an operator a word, as [`Query`] prints it.
    fn escapes_operator(&self) -> bool {
        let before = self.query[..self.at].chars().next_back();
        let word = &self.rest()[1..];
        let word = &word[..word.find(is_special).unwrap_or(word.len())];
        before.is_none_or(|c| ends_word(c) || c == ':') && OPERATORS.contains(&word)
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
