//! Words and patterns with their suffixes: `word~1`, `w?ld*`, `/regex/`.

use super::{Lexer, OPERATORS, Token, ends_word, is_special};
use crate::error::Result;
use crate::geo::GeoRelation;
use crate::query::{Fuzziness, Query};

impl<'q> Lexer<'q> {
    pub(super) fn word(&mut self, after_field: bool) -> Result<Token> {
        let start = self.at;
        // Most words are letters and digits from one end to the other.
        let run = self.rest().bytes().take_while(u8::is_ascii_alphanumeric).count();
        self.at += run;
        let mut text = self.query[start..self.at].to_owned();
        let mut pattern = match self.rest().chars().next().is_none_or(ends_word) {
            true => String::new(),
            false => text.clone(),
        };
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
            "nearest" | "within" if after_field && self.opens_vector() => self.near(&text, start),
            "PHRASE" if self.opens_list() && self.in_phrase => Err(self.no_part(start..self.at)),
            "PHRASE" if self.opens_list() => self.phrase_of(),
            "MAX" if self.opens_list() => {
                self.skip_blanks();
                Ok(self.take(1, Token::OpenMax))
            }
            _ if self.opens_list() && !self.in_phrase => match GeoRelation::of_name(&text) {
                Some(relation) => self.area(relation),
                None => Ok(Token::Leaf(Query::word(text))),
            },
            _ => Ok(Token::Leaf(Query::word(text))),
        }
    }

    pub(super) fn regex(&mut self) -> Result<Token> {
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
    pub(super) fn escaped(&mut self) -> Result<char> {
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
            // No letter needs a backslash, as in C:\Users.
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
}
