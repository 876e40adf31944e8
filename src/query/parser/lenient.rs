//! Lenient parser of query texts, for search boxes: every text has a meaning.
//!
//! Valid syntax means what [`parse`](super::parse) makes of it, save for what people type and paste as punctuation.
//! Everything else is read as text, or left out if no letter or digit is in it, and a [`Remark`] says so:
//!
//! | typed | read as |
//! |---|---|
//! | `"milk` | a phrase up to the end |
//! | `“new york”` | a phrase |
//! | `10:30`, `http://example.com/?q=1` | a word, unless the name before the colon is a field |
//! | `nofield:hello` | two words |
//! | `/usr/lib`, `/(/`, `year:many` | a word as it is written |
//! | `a~9`, `a~0.8` | `a` |
//! | `(a b)~5` | `(a b)~2` |
//! | `a - b`, `a / b`, `a // b`, `a -> b` | without the sign: only right before a clause it means something |
//! | `a < b`, `<b>` | without the sign: only behind a field it compares |
//! | `love?`, `/?q=1` | without a pattern: `?` is one only between letters or digits |
//! | `C:\Users\Bob` | words, not `UsersBob`: a backslash is one of a path before a letter or digit |
//! | `cats AND`, `-`, `()` | without the operator that has nothing to work on |
//! | `(a b`, `a) b`, `[a TO` | without the bracket that has no other |
//! | more than the [limits](crate::Limits) allow | what comes before |
//!
//! Cost: each clause is looked up in the schema once more than in [`parse`](super::parse).

use super::vocabulary::is_like_field;
use super::{Before, FieldList, Frame, ParseOptions, Parser, Prefix, Waiting, placed, with_fields};
use crate::error::Error;
use crate::query::lexer::{self, BoostSuffix, Lexer, Token};
use crate::query::{Query, Tie};
use std::fmt;
use std::ops::Range;

/// Characters shown of what a remark is about.
const CHARS_SHOWN: usize = 40;
/// Remarks kept; more say nothing new to anybody.
const REMARKS_MAX: usize = 64;

/// Query of the lenient reading, from [`Query::parse_lenient`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LenientQuery {
    /// The query.
    pub query: Query,
    /// Parts of the text that were not read as written, in the order of notice.
    pub remarks: Vec<Remark>,
}

/// Part of a query text that was read otherwise than it is written.
///
/// `Display` prints the sentence. It has words of the text in it, so a terminal is not protected from these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    span: Range<usize>,
    message: String,
}

impl Remark {
    /// Bytes of the text that the remark is about.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Returns the sentence.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Query {
    /// Reads what somebody typed into a search box, and never fails.
    ///
    /// Valid syntax means what [`parse`](super::parse()) makes of it. Everything else is read as words, or left out where
    /// there is no letter or digit in it, and a remark says so. A quote that is not closed goes on to the end.
    ///
    /// Punctuation is read as such even where it would be valid syntax: a sign (`-`, `+`, `!`) that is not right before
    /// a clause (`new york - paris`), `<` and `>` without a field (`<b>`), `/` before a blank, `?` that is not between
    /// letters or digits (`love?`), and `\` before a letter or digit (`C:\Users`).
    ///
    /// The name before a colon is a field if the [schema](ParseOptions::schema) of the options has it, and a word or part
    /// of one otherwise. Without a schema it is a field if it looks like a name and something that looks like a value follows.
    /// With one, all values are checked, too: an index of this schema answers the query without an error, save for what
    /// takes more time or memory than allowed. [`Searcher::parse_lenient`](crate::Searcher::parse_lenient) is the short way.
    ///
    /// ```
    /// use treepie::Schema;
    /// use treepie::query::{ParseOptions, Query};
    ///
    /// let options = ParseOptions::default().schema(Schema::builder().text("title").build()?);
    /// let read = Query::parse_lenient(r#"title:paris 10:30 -war "new yor"#, &options);
    /// assert_eq!(read.query.to_string(), r#"title:paris 10\:30 "new yor" -war"#);
    /// assert_eq!(read.remarks.len(), 2);
    /// assert_eq!(read.remarks[0].span(), 12..17);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn parse_lenient(text: &str, options: &ParseOptions) -> LenientQuery {
        let _limits = options.limits.enter();
        let most = options.limits.query_bytes;
        let end = match text.len() > most {
            true => (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0),
            false => text.len(),
        };
        let mut parser = Parser::new(&text[..end], options);
        parser.lexer = Lexer::lenient(&text[..end]);
        let mut reader =
            Reader { parser, options, remarks: vec![], is_full: false, behind_sign: None };
        if end < text.len() {
            reader.remark(end..text.len(), format!("only the first {most} bytes are read"));
        }
        reader.run()
    }
}

/// The strict parser, told where to go on.
pub(super) struct Reader<'q, 'o> {
    pub(super) parser: Parser<'q>,
    pub(super) options: &'o ParseOptions,
    remarks: Vec<Remark>,
    /// Whether no further clause is taken.
    is_full: bool,
    /// End of the last sign before a clause.
    behind_sign: Option<usize>,
}

impl<'q> Reader<'q, '_> {
    fn run(mut self) -> LenientQuery {
        while !self.is_full {
            if self.punctuation() {
                continue;
            }
            let before = self.parser.lexer.clone();
            let after_field = self.parser.top().before.is_some();
            match self.parser.lexer.next(after_field) {
                Ok((Token::End, _)) => break,
                Ok((token, span)) => self.token(token, span, before),
                Err(error) => {
                    self.parser.lexer = before;
                    self.unread(&error);
                }
            }
        }
        let text = self.parser.text;
        while self.parser.frames.len() > 1 {
            self.drop_waiting();
            let frame = self.parser.top();
            let (open, is_max) = (frame.open.clone(), frame.is_max);
            if frame.is_empty() && frame.any.is_empty() {
                self.parser.frames.pop();
                self.left_out(open, "has nothing behind it");
                continue;
            }
            let close = if is_max { ']' } else { ')' };
            let shown = &text[open.clone()];
            self.remark(open, format!("'{shown}' has no '{close}': it ends with the text"));
            self.end_frame(text.len()..text.len());
        }
        self.drop_waiting();
        let query = self.finish();
        LenientQuery { query, remarks: self.remarks }
    }

    fn remark(&mut self, span: Range<usize>, message: String) {
        if self.remarks.len() < REMARKS_MAX {
            self.remarks.push(Remark { span, message });
        }
    }

    fn left_out(&mut self, span: Range<usize>, why: &str) {
        let shown = shown(&self.parser.text[span.clone()]);
        self.remark(span, format!("'{shown}' {why} and is left out"));
    }

    /// Leaves out what would be syntax elsewhere: a sign that is not right before a clause, a slash before a blank, and
    /// what compares with nothing.
    fn punctuation(&mut self) -> bool {
        self.parser.lexer.skip_blanks();
        let (start, rest) = (self.parser.lexer.at(), self.parser.lexer.rest());
        let has_fields = self.parser.frames.iter().any(|frame| frame.fields.is_some());
        let frame = self.parser.top();
        let is_after_field = frame.before.is_some();
        let is_in_field = is_after_field || frame.scope.is_some() || has_fields;
        let mut chars = rest.chars();
        let (first, behind) = (chars.next(), chars.as_str());
        let is_alone = behind.is_empty() || behind.starts_with(char::is_whitespace);
        let (len, why) = match first {
            Some('+' | '-' | '!') if !is_after_field && !begins_clause(behind) => {
                (1, "is no sign before a clause")
            }
            Some('/') if is_alone => (1, "stands alone"),
            Some('<' | '>') if !is_in_field => {
                let behind = rest.trim_start_matches(['<', '>', '=']);
                (rest.len() - behind.len(), "compares nothing without a field before it")
            }
            _ => return false,
        };
        if is_after_field {
            self.field_as_text();
        }
        self.parser.lexer.skip(len);
        self.nothing(start..start + len, why);
        true
    }

    /// Leaves out a part, and the sign that is glued to it.
    fn nothing(&mut self, span: Range<usize>, why: &str) {
        if self.behind_sign == Some(span.start) {
            self.forget_waiting();
        }
        self.left_out(span, why);
    }

    /// Takes a token that the strict grammar knows; `before` is where it began.
    fn token(&mut self, token: Token, span: Range<usize>, before: Lexer<'q>) {
        match token {
            Token::Leaf(Query::Regex { ref pattern, .. }) if pattern.trim().is_empty() => {
                if self.parser.top().before.is_some() {
                    self.field_as_text();
                }
                self.nothing(span, "is no regular expression");
            }
            Token::Leaf(query) => self.leaf(query, span),
            Token::Star => self.star(span),
            Token::Open | Token::OpenMax => self.open(token == Token::OpenMax, span),
            _ if self.parser.top().before.is_some() => {
                // Behind a field there is no value.
                self.parser.lexer = before;
                self.field_as_text();
            }
            Token::Field(name) => match self.is_field(&name, &span) {
                true => {
                    let frame = self.parser.top();
                    frame.before = Some(Before::Field(name, span.start..span.end - 1));
                    frame.wait(span);
                }
                false if self.is_word_before_value(&name, &span) => self.name_as_word(name, span),
                false => {
                    self.parser.lexer = before;
                    self.chunk(&format!("there is no field '{}'", shown(&name)));
                }
            },
            Token::Fields(fields) => {
                let try_out = with_fields(Query::All, Some(fields.clone()));
                match self.check(&try_out) {
                    Ok(()) => {
                        let frame = self.parser.top();
                        frame.before = Some(Before::Fields(fields));
                        frame.wait(span);
                    }
                    Err(_) => self.left_out(span, "names fields that cannot be searched together"),
                }
            }
            Token::Must => self.prefix(Prefix::Must, span),
            Token::MustNot => self.prefix(Prefix::MustNot, span),
            Token::And | Token::Or => {
                if self.parser.operator(token, span.clone()).is_err() {
                    self.left_out(span, "has nothing to join");
                }
            }
            Token::Close | Token::CloseMax => self.close(token == Token::CloseMax, span),
            Token::End => {}
        }
    }

    fn prefix(&mut self, prefix: Prefix, span: Range<usize>) {
        let is_sign = |c: char| matches!(c, '+' | '-' | '!');
        let rest = self.parser.lexer.rest();
        let more = rest.len() - rest.trim_start_matches(is_sign).len();
        if more > 0 && self.parser.text[span.clone()].starts_with(is_sign) {
            self.parser.lexer.skip(more);
            self.left_out(span.start..span.end + more, "is no sign before a clause");
            return;
        }
        self.behind_sign = Some(span.end);
        let frame = self.parser.top();
        let prefix = match frame.prefix {
            Some(Prefix::MustNot) => Prefix::MustNot,
            _ => prefix,
        };
        if frame.prefix.replace(prefix).is_some() {
            self.left_out(span.clone(), "is one sign too many");
        }
        self.parser.top().wait(span);
    }

    fn leaf(&mut self, query: Query, span: Range<usize>) {
        let frame = self.parser.top();
        let mut whole = span.clone();
        let (field, fields) = match frame.before.take() {
            Some(Before::Field(name, at)) => {
                whole.start = at.start;
                (Some((name, at)), None)
            }
            Some(Before::Fields(fields)) => (None, Some(fields)),
            None => (frame.scope.clone(), None),
        };
        let query = with_fields(placed(query, field, &span), fields);
        self.clause(query, whole);
    }

    fn star(&mut self, span: Range<usize>) {
        let query = self.parser.every(span.clone());
        self.clause(query, span);
    }

    /// Adds a clause, or the words of its text if no document can be asked for it.
    fn clause(&mut self, query: Query, span: Range<usize>) {
        let most = self.options.limits.query_clauses;
        if self.parser.n_clauses >= most {
            let end = self.parser.text.len();
            self.remark(span.start..end, format!("only the first {most} words are read"));
            self.is_full = true;
            return;
        }
        self.parser.n_clauses += 1;
        let query = match self.check(&query) {
            Ok(()) => Some(query),
            Err(error) => {
                let text = self.parser.text[span.clone()].trim();
                let words =
                    text.contains(char::is_alphanumeric).then(|| self.text_query(text, &span));
                let shown = shown(text);
                let words = words.flatten();
                let then = if words.is_some() { "is read as text" } else { "is left out" };
                self.remark(span, format!("'{shown}' {then}: {}", reason(&error)));
                words
            }
        };
        match query {
            Some(query) => self.push(query),
            None => self.forget_waiting(),
        }
    }

    /// Adds what has been read to the innermost brackets, with the weight that follows it, if that is one.
    fn push(&mut self, query: Query) {
        let before = self.parser.lexer.clone();
        let query = match self.parser.lexer.weight() {
            Ok(Some(BoostSuffix::Boost(boost))) => Query::Boost { query: Box::new(query), boost },
            Ok(Some(BoostSuffix::Score(score))) => {
                Query::ConstantScore { query: Box::new(query), score }
            }
            Ok(None) => query,
            Err(_) => {
                self.parser.lexer = before;
                query
            }
        };
        self.parser.top().push(query);
    }

    /// Reads what the lexer refused.
    fn unread(&mut self, error: &Error) {
        self.parser.lexer.skip_blanks();
        let start = self.parser.lexer.at();
        match self.parser.lexer.rest().chars().next() {
            Some(c) if lexer::is_quote(c) => self.open_quote(start, c, error),
            Some(c @ ('[' | ']' | '{' | '}' | '(' | ')' | ':')) => {
                self.parser.lexer.skip(c.len_utf8());
                self.nothing(start..start + c.len_utf8(), "has nothing that belongs to it");
            }
            Some(_) => match self.parser.lexer.word_before_number() {
                Some((word, number)) => {
                    let shown = shown(&self.parser.text[number.clone()]);
                    let message = format!("'{shown}' is left out: {}", reason(error));
                    self.remark(number, message);
                    self.leaf(Query::word(word), start..start + word.len());
                }
                None => self.chunk(&reason(error)),
            },
            None => {}
        }
    }

    /// Whether the name of no field and what is behind its colon are likely words by themselves. Times, addresses and
    /// paths are not, and of what is excluded no more must go than was written.
    fn is_word_before_value(&mut self, name: &str, span: &Range<usize>) -> bool {
        let is_written = self.parser.text[span.start..span.end - 1] == *name;
        self.options.vocabulary.is_some()
            && is_written
            && is_like_field(name)
            && self.parser.lexer.is_before_value()
            && self.parser.top().prefix != Some(Prefix::MustNot)
    }

    /// Reads the name of no field as a word; what is behind its colon follows with the same sign.
    fn name_as_word(&mut self, name: String, span: Range<usize>) {
        let shown = shown(&name);
        let message = format!("'{shown}:' is read as text: there is no field '{shown}'");
        self.remark(span.clone(), message);
        let frame = self.parser.top();
        let prefix = frame.prefix;
        let waiting = frame.waiting.as_ref().map(|it| (it.after.clone(), it.joins_all));
        self.leaf(Query::word(name), span.start..span.end - 1);
        let frame = self.parser.top();
        frame.prefix = prefix;
        frame.waiting = waiting.map(|(after, joins_all)| Waiting { after, joins_all });
    }

    /// A quote that nothing closes, one of print, or one with something behind it that means nothing.
    fn open_quote(&mut self, start: usize, open: char, error: &Error) {
        let rest = &self.parser.lexer.rest()[open.len_utf8()..];
        let (mut inner, mut close) = (String::new(), None);
        let mut chars = rest.char_indices();
        while let Some((at, c)) = chars.next() {
            if lexer::is_quote(c) {
                close = Some((c, at + c.len_utf8()));
                break;
            }
            let escaped = chars.as_str().chars().next();
            match escaped.filter(|next| c == '\\' && (lexer::is_quote(*next) || *next == '\\')) {
                Some(escaped) => {
                    inner.push(escaped);
                    chars.next();
                }
                None => inner.push(c),
            }
        }
        let end = start + open.len_utf8() + close.map_or(rest.len(), |(_, end)| end);
        self.parser.lexer.skip(end - start);
        let (inner, span) = (inner.trim(), start..end);
        if !inner.contains(char::is_alphanumeric) {
            self.nothing(span, "has no words between quotes");
            return;
        }
        let message = match close {
            Some(('"', _)) if open == '"' => reason(error),
            Some(_) => "quotes of print are read as \"\"".into(),
            None => "the quote is not closed: it ends with the text".into(),
        };
        self.remark(span.clone(), message);
        self.leaf(Query::phrase(inner), span);
        self.no_tilde("says nothing of a phrase");
    }

    /// Leaves out a `~` right behind, which was meant to change what is before it.
    fn no_tilde(&mut self, why: &str) {
        if self.parser.lexer.rest().starts_with('~') {
            let start = self.parser.lexer.at();
            self.parser.lexer.chunk();
            self.left_out(start..self.parser.lexer.at(), why);
        }
    }

    /// Reads everything up to a blank, a quote or a bracket as one word.
    fn chunk(&mut self, why: &str) {
        self.parser.lexer.skip_blanks();
        let start = self.parser.lexer.at();
        let text = self.parser.lexer.chunk();
        let span = start..self.parser.lexer.at();
        if !text.contains(char::is_alphanumeric) {
            self.nothing(span, "has no letter or digit");
            return;
        }
        let shown = shown(&text);
        self.remark(span.clone(), format!("'{shown}' is read as text: {why}"));
        self.leaf(Query::word(text), span);
    }

    /// Reads the field that nothing follows as a word.
    fn field_as_text(&mut self) {
        match self.parser.top().before.take() {
            Some(Before::Field(name, at)) => {
                let shown = shown(&name);
                self.remark(at.clone(), format!("'{shown}:' is read as text: no value follows"));
                match name.contains(char::is_alphanumeric) {
                    true => self.clause(placed(Query::word(name), None, &at), at),
                    false => self.forget_waiting(),
                }
            }
            Some(Before::Fields(FieldList { .. })) => {
                let at = self.parser.top().waiting.as_ref().map(|waiting| waiting.after.clone());
                self.left_out(at.unwrap_or_default(), "has no query behind it");
                self.forget_waiting();
            }
            None => {}
        }
    }

    fn open(&mut self, is_max: bool, span: Range<usize>) {
        if self.parser.open(is_max, span.clone()).is_err() {
            self.parser.top().before = None;
            self.left_out(span, "is one bracket too many");
        }
    }

    fn close(&mut self, is_max: bool, span: Range<usize>) {
        if self.parser.frames.len() == 1 || self.parser.top().is_max != is_max {
            self.left_out(span, "has no opening bracket");
            return;
        }
        self.end_frame(span);
    }

    /// Ends the innermost brackets, whatever is in them.
    fn end_frame(&mut self, close: Range<usize>) {
        self.drop_waiting();
        let operator = self.parser.operator;
        let Some(mut inner) = self.parser.frames.pop() else { return };
        let (fields, is_max) = (inner.fields.take(), inner.is_max);
        let is_empty = inner.is_empty() && inner.any.is_empty();
        let before = self.parser.lexer.clone();
        let query = match is_max {
            true => {
                match self.parser.lexer.tie().and_then(|tie| tie.map_or(Ok(Tie::ZERO), Tie::new)) {
                    Ok(tie) => inner.finish_max(tie),
                    Err(_) => {
                        self.parser.lexer = before;
                        self.no_tilde("says nothing of brackets");
                        inner.finish_max(Tie::ZERO)
                    }
                }
            }
            false => match self.parser.lexer.minimum() {
                Ok(Some(minimum)) => self.with_minimum(inner, minimum, before.at()),
                Ok(None) => inner.finish(operator),
                Err(_) => {
                    self.parser.lexer = before;
                    self.no_tilde("says nothing of brackets");
                    inner.finish(operator)
                }
            },
        };
        if is_empty {
            self.left_out(close, "ends brackets with nothing in them");
            self.forget_waiting();
            return;
        }
        self.push(with_fields(query, fields));
    }

    /// Sets the minimum, or as many as there are alternatives if it asks for more; it begins at a byte of the text.
    fn with_minimum(&mut self, mut inner: Frame, minimum: u32, start: usize) -> Query {
        let most = u32::try_from(inner.n_alternatives()).unwrap_or(u32::MAX);
        if minimum <= most {
            return inner.finish_with_minimum(minimum);
        }
        let span = start..self.parser.lexer.at();
        if most == 0 {
            self.left_out(span, "has no alternatives before it");
            return inner.finish(self.parser.operator);
        }
        let shown = shown(&self.parser.text[span.clone()]);
        self.remark(
            span,
            format!("'{shown}' is read as '~{most}': there are no more alternatives"),
        );
        inner.finish_with_minimum(most)
    }

    /// Leaves out an operator, a sign or a field that nothing follows.
    fn drop_waiting(&mut self) {
        if self.parser.top().before.is_some() {
            self.field_as_text();
        }
        if let Some(waiting) = self.parser.top().waiting.take() {
            self.left_out(waiting.after, "has nothing behind it");
        }
        self.forget_waiting();
    }

    /// Forgets everything of a clause that is left out.
    fn forget_waiting(&mut self) {
        let frame = self.parser.top();
        frame.waiting = None;
        frame.prefix = None;
        frame.before = None;
    }

    /// The query of everything that was read.
    fn finish(&mut self) -> Query {
        let text = self.parser.text;
        let mut frame = std::mem::take(self.parser.top());
        let query = match frame.is_empty() && frame.any.is_empty() {
            false => frame.finish(self.parser.operator),
            true => self.words_alone(usize::MAX),
        };
        let query = query.in_fields(self.options.default_fields.iter().cloned());
        let Err(error) = self.check_whole(&query) else { return query };
        self.remark(0..text.len(), format!("only the first words are read: {}", reason(&error)));
        let mut n_words = text.split_whitespace().count();
        while n_words > 1 {
            n_words /= 2;
            let query = self.words_alone(n_words);
            if self.check_whole(&query).is_ok() {
                return query;
            }
        }
        Query::Nothing
    }

    /// The words of a text of which nothing else could be made.
    fn words_alone(&mut self, most: usize) -> Query {
        let text = self.parser.text;
        let words = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric));
        let words = words.take(most.min(self.options.limits.query_clauses));
        let words: Vec<Query> = words
            .filter_map(|word| {
                let start = word.as_ptr() as usize - text.as_ptr() as usize;
                self.text_query(word, &(start..start + word.len()))
            })
            .collect();
        if words.is_empty() {
            self.remark(0..text.len(), "there is no word to look for".into());
        }
        Query::side_by_side(words)
    }
}

/// Whether what stands right behind a sign can be what the sign is about.
fn begins_clause(text: &str) -> bool {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return false };
    match first {
        // Several signs in a row are left out together.
        '+' | '-' | '!' => true,
        '"' | '(' | '[' | '{' | '*' | '/' | '\\' => true,
        ')' | ']' | '}' | '<' | '>' | '=' | '?' | ':' | '~' | '^' | '&' | '|' | ',' | ';' => false,
        _ if first.is_ascii_punctuation() => chars.next().is_some_and(char::is_alphanumeric),
        _ => !first.is_whitespace(),
    }
}

/// The beginning of a text, for a remark.
fn shown(text: &str) -> String {
    match text.char_indices().nth(CHARS_SHOWN) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The sentence of an error, which is about a clause that the remark shows.
fn reason(error: &Error) -> String {
    error.clone().without_place().to_string()
}
