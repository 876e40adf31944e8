//! Lists, ranges and comparisons: `IN [a b]`, `{title^3 body}:`, `[a TO b}`, `>=a`.

use std::ops::{Bound, Range};

use super::{BoostSuffix, FieldList, Lexer, Token, ends_word};
use crate::error::Result;
use crate::query::{Boost, Query};

/// A value in a list or a range.
struct Value {
    text: String,
    span: Range<usize>,
    /// Whether nothing in it was quoted or escaped, so that it may be TO or `*`.
    plain: bool,
}

impl<'q> Lexer<'q> {
    /// `[a TO b}`; the position is at the opening bracket.
    pub(super) fn range(&mut self) -> Result<Token> {
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
    pub(super) fn fields_or_range(&mut self, after_field: bool) -> Result<Token> {
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
    pub(super) fn set(&mut self) -> Result<Token> {
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
    pub(super) fn comparison(&mut self) -> Result<Token> {
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
}
