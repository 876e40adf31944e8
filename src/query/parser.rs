//! Query text → [`Query`], without recursion: one frame for each open bracket, at most
//! [`DEPTH_MAX`] of them, so that no text can exhaust the stack.

use std::ops::Range;

use super::lexer::{Lexer, Token, Weight};
use super::{Boost, Place, Query, Tie};
use crate::error::{Error, ErrorKind, Result};

/// Bytes a query text may have at the most.
pub const QUERY_BYTES_MAX: usize = 64 << 10;
/// Parentheses and brackets of MAX that may be open at the same time at the most.
pub const DEPTH_MAX: usize = 128;
/// Words, values and stars a query may have at the most; a list of values counts as one.
pub const CLAUSES_MAX: usize = 1_024;

/// What [`parse`] may be told.
///
/// ```
/// use treepie::query::{DefaultOperator, ParseOptions, parse};
///
/// let options = ParseOptions::default().default_operator(DefaultOperator::And);
/// assert_eq!(parse("history france", &options)?.to_string(), "+history +france");
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ParseOptions {
    default_operator: DefaultOperator,
    default_fields: Vec<(String, Boost)>,
}

/// What words side by side mean when they have no prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultOperator {
    /// Alternatives: one of them must match.
    #[default]
    Or,
    /// All of them must match, as if each had a `+`.
    And,
}

impl ParseOptions {
    /// Sets what words side by side mean (default: [`DefaultOperator::Or`]).
    #[must_use]
    pub fn default_operator(mut self, operator: DefaultOperator) -> Self {
        self.default_operator = operator;
        self
    }

    /// Sets the fields of words that name none, each with the weight of what matches there
    /// (default: the default fields of the schema).
    ///
    /// ```
    /// use treepie::query::{Boost, ParseOptions, parse};
    ///
    /// let fields = [("title", Boost::new(3.0)?), ("body", Boost::ONE)];
    /// let options = ParseOptions::default().default_fields(fields);
    /// assert_eq!(parse("paris -kind:film", &options)?.to_string(), "{title^3 body}:(paris -kind:film)");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn default_fields<S: Into<String>>(
        mut self,
        fields: impl IntoIterator<Item = (S, Boost)>,
    ) -> Self {
        self.default_fields =
            fields.into_iter().map(|(name, boost)| (name.into(), boost)).collect();
        self
    }
}

/// Reads a query.
///
/// # Errors
///
/// All carry the [`span`](Error::span) they are about: [`ErrorKind::Query`] for text that means
/// nothing, [`ErrorKind::LimitExceeded`] beyond [`QUERY_BYTES_MAX`], [`DEPTH_MAX`] or
/// [`CLAUSES_MAX`].
pub fn parse(text: &str, options: &ParseOptions) -> Result<Query> {
    if text.len() > QUERY_BYTES_MAX {
        return Err(Error::new(ErrorKind::LimitExceeded, "parsing the query")
            .expected(format!("at most {QUERY_BYTES_MAX} bytes (limit QUERY_BYTES_MAX)"))
            .found(text.len().to_string())
            .at_span(QUERY_BYTES_MAX..text.len()));
    }
    let parser = Parser {
        text,
        lexer: Lexer::new(text),
        operator: options.default_operator,
        frames: vec![Frame::default()],
        n_clauses: 0,
    };
    Ok(parser.run()?.in_fields(options.default_fields.iter().cloned()))
}

struct Parser<'q> {
    text: &'q str,
    lexer: Lexer<'q>,
    operator: DefaultOperator,
    // The query itself and one for each open bracket; never empty.
    frames: Vec<Frame>,
    n_clauses: usize,
}

/// What is known of the query between two brackets.
#[derive(Default)]
struct Frame {
    open: Range<usize>,
    is_max: bool,
    /// The field that words in here have unless they name one.
    scope: Option<(String, Range<usize>)>,
    /// The fields that stand before the bracket.
    fields: Option<Vec<(String, Boost)>>,
    /// Finished groups, to be joined by OR.
    any: Vec<Query>,
    /// The clauses of the group so far.
    group: Vec<(Option<Prefix>, Query)>,
    /// Clauses joined by AND so far.
    all: Vec<(Option<Prefix>, Query)>,
    /// What was read last and waits for something to follow.
    waiting: Option<Waiting>,
    prefix: Option<Prefix>,
    before: Option<Before>,
}

/// What stands before the atom that follows.
enum Before {
    Field(String, Range<usize>),
    Fields(Vec<(String, Boost)>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Prefix {
    Must,
    MustNot,
}

/// The text that cannot be the end: an operator, a prefix or a field.
struct Waiting {
    after: Range<usize>,
    joins_all: bool,
}

impl Parser<'_> {
    fn run(mut self) -> Result<Query> {
        loop {
            let after_field = self.top().before.is_some();
            let (token, span) = self.lexer.next(after_field)?;
            match token {
                Token::Leaf(query) => self.leaf(query, span)?,
                Token::Star => self.star(span)?,
                Token::Open | Token::OpenMax => self.open(token == Token::OpenMax, span)?,
                _ if after_field => return Err(self.unexpected(&token, span)),
                Token::Field(name) => {
                    let frame = self.top();
                    frame.before = Some(Before::Field(name, span.start..span.end - 1));
                    frame.wait(span);
                }
                Token::Fields(fields) => {
                    let frame = self.top();
                    frame.before = Some(Before::Fields(fields));
                    frame.wait(span);
                }
                Token::Must => self.prefix(Prefix::Must, span)?,
                Token::MustNot => self.prefix(Prefix::MustNot, span)?,
                Token::And | Token::Or => self.operator(token, span)?,
                Token::Close | Token::CloseMax => self.close(token, span)?,
                Token::End => return self.finish(span),
            }
        }
    }

    fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the query's own frame stays until the end")
    }

    fn leaf(&mut self, query: Query, span: Range<usize>) -> Result<()> {
        let frame = self.top();
        let (field, fields) = match frame.before.take() {
            Some(Before::Field(name, at)) => (Some((name, at)), None),
            Some(Before::Fields(fields)) => (None, Some(fields)),
            None => (frame.scope.clone(), None),
        };
        let query = placed(query, field, &span);
        self.clause(with_fields(query, fields), span)
    }

    /// Every document, or every one that has a value in one of the fields.
    fn star(&mut self, span: Range<usize>) -> Result<()> {
        let exists = |name: String, at: Option<Range<usize>>| Query::Exists {
            field: name,
            place: Place { field: at, text: Some(span.clone()) },
        };
        let frame = self.top();
        let query = match frame.before.take() {
            Some(Before::Field(name, at)) => exists(name, Some(at)),
            Some(Before::Fields(fields)) => {
                let any = fields.into_iter().map(|(name, _)| exists(name, None));
                Query::any_of(any)
            }
            None => match frame.scope.clone() {
                Some((name, at)) => exists(name, Some(at)),
                None => Query::All,
            },
        };
        self.clause(query, span)
    }

    fn clause(&mut self, query: Query, span: Range<usize>) -> Result<()> {
        self.n_clauses += 1;
        if self.n_clauses > CLAUSES_MAX {
            return Err(Error::new(ErrorKind::LimitExceeded, "parsing the query")
                .expected(format!("at most {CLAUSES_MAX} words and values (limit CLAUSES_MAX)"))
                .found(self.n_clauses.to_string())
                .at_span(span));
        }
        self.push(query)
    }

    /// Adds what has been read to the innermost brackets, with the weight that follows it.
    fn push(&mut self, query: Query) -> Result<()> {
        let query = match self.lexer.weight()? {
            Some(Weight::Boost(boost)) => Query::Boost { query: Box::new(query), boost },
            Some(Weight::Score(score)) => Query::ConstantScore { query: Box::new(query), score },
            None => query,
        };
        self.top().push(query);
        Ok(())
    }

    fn prefix(&mut self, prefix: Prefix, span: Range<usize>) -> Result<()> {
        let frame = self.top();
        if frame.prefix.is_some() {
            return Err(Error::new(ErrorKind::Query, "parsing the query")
                .expected("one of '+', '-', '!' and NOT before a clause")
                .found("two in a row")
                .at_span(span)
                .hint("use parentheses: NOT (NOT a)"));
        }
        frame.prefix = Some(prefix);
        frame.wait(span);
        Ok(())
    }

    fn operator(&mut self, token: Token, span: Range<usize>) -> Result<()> {
        let operator = self.operator;
        let frame = self.top();
        if frame.waiting.is_some() || frame.is_empty() {
            return Err(self.unexpected(&token, span));
        }
        let joins_all = token == Token::And;
        if !joins_all && frame.is_max {
            return Err(Error::new(ErrorKind::Query, "parsing the query")
                .expected("alternatives side by side in MAX")
                .found("OR")
                .at_span(span)
                .hint("use parentheses for an alternative of several: MAX [a (b OR c)]"));
        }
        if !joins_all {
            frame.end_group(operator);
        }
        frame.waiting = Some(Waiting { after: span, joins_all });
        Ok(())
    }

    fn open(&mut self, is_max: bool, span: Range<usize>) -> Result<()> {
        if self.frames.len() > DEPTH_MAX {
            return Err(Error::new(ErrorKind::LimitExceeded, "parsing the query")
                .expected(format!("at most {DEPTH_MAX} open parentheses (limit DEPTH_MAX)"))
                .found(self.frames.len().to_string())
                .at_span(span));
        }
        let frame = self.top();
        let (scope, fields) = match frame.before.take() {
            Some(Before::Field(name, at)) => (Some((name, at)), None),
            Some(Before::Fields(fields)) => (None, Some(fields)),
            None => (frame.scope.clone(), None),
        };
        self.frames.push(Frame { open: span, is_max, scope, fields, ..Frame::default() });
        Ok(())
    }

    fn close(&mut self, token: Token, span: Range<usize>) -> Result<()> {
        if self.top().waiting.is_some() || (self.top().is_empty() && self.frames.len() > 1) {
            return Err(self.unexpected(&token, span));
        }
        let is_max = token == Token::CloseMax;
        if self.frames.len() == 1 || self.top().is_max != is_max {
            return Err(self.unbalanced(is_max, span));
        }
        let Some(mut inner) = self.frames.pop() else { return Ok(()) };
        let fields = inner.fields.take();
        let query = match is_max {
            true => {
                let tie = self.lexer.tie()?.map_or(Ok(Tie::ZERO), Tie::new);
                inner.finish_max(tie.map_err(|error| error.at_span(span))?)
            }
            false => match self.lexer.minimum()? {
                Some(minimum) => inner.finish_with_minimum(minimum),
                None => inner.finish(self.operator),
            },
        };
        self.push(with_fields(query, fields))
    }

    #[cold]
    fn unbalanced(&mut self, is_max: bool, span: Range<usize>) -> Error {
        let close = if is_max { ']' } else { ')' };
        let error = Error::new(ErrorKind::Query, "parsing the query").at_span(span);
        match self.frames.len() {
            1 => error
                .found(format!("'{close}' without its opening bracket"))
                .hint(format!("write \\{close} for the character itself")),
            _ => {
                let open = &self.text[self.top().open.clone()];
                error.expected(format!("the end of '{open}' first")).found(format!("'{close}'"))
            }
        }
    }

    fn finish(mut self, span: Range<usize>) -> Result<Query> {
        let open = self.frames.len() > 1;
        let frame = self.top();
        if frame.waiting.is_some() || (frame.is_empty() && !open) {
            return Err(self.unexpected(&Token::End, span));
        }
        if open {
            let (close, at) = (if frame.is_max { ']' } else { ')' }, frame.open.clone());
            return Err(Error::new(ErrorKind::Query, "parsing the query")
                .expected(format!("a '{close}' for this '{}'", &self.text[at.clone()]))
                .found("the end of the query")
                .at_span(at));
        }
        let operator = self.operator;
        Ok(std::mem::take(self.top()).finish(operator))
    }

    /// Something stands where a clause was due.
    #[cold]
    fn unexpected(&mut self, token: &Token, span: Range<usize>) -> Error {
        let found = match token {
            Token::End => "the end of the query".to_owned(),
            _ => format!("'{}'", &self.text[span.clone()]),
        };
        let text = self.text;
        let after = match &self.top().waiting {
            Some(waiting) => format!(" after '{}'", &text[waiting.after.clone()]),
            None => String::new(),
        };
        let error = Error::new(ErrorKind::Query, "parsing the query")
            .expected(format!("a word, a quoted value, '*' or '('{after}"))
            .found(found)
            .at_span(span);
        match token {
            Token::End if after.is_empty() => error.hint("'*' matches every document"),
            _ => error.hint("write \\ before what is meant literally"),
        }
    }
}

impl Frame {
    /// Whether nothing that matches has been read since the bracket or the last OR.
    fn is_empty(&self) -> bool {
        self.all.is_empty() && self.group.is_empty()
    }

    /// Notes that something must follow, keeping an AND that waits already.
    fn wait(&mut self, after: Range<usize>) {
        let joins_all = self.waiting.as_ref().is_some_and(|waiting| waiting.joins_all);
        self.waiting = Some(Waiting { after, joins_all });
    }

    /// Takes a clause with the prefix before it.
    fn push(&mut self, query: Query) {
        if !self.waiting.take().is_some_and(|waiting| waiting.joins_all) {
            self.end_and();
        }
        self.all.push((self.prefix.take(), query));
    }

    /// Moves what AND joined so far into the group.
    fn end_and(&mut self) {
        let mut all = std::mem::take(&mut self.all);
        self.group.push(match all.len() {
            0 => return,
            1 => all.remove(0),
            _ => (None, Query::And(all.into_iter().map(with_prefix).collect())),
        });
    }

    /// Moves the group so far among the alternatives.
    fn end_group(&mut self, operator: DefaultOperator) {
        self.end_and();
        let group = group(std::mem::take(&mut self.group), operator, None);
        self.any.push(group);
    }

    fn finish(mut self, operator: DefaultOperator) -> Query {
        self.end_group(operator);
        match self.any.len() {
            1 => self.any.remove(0),
            _ => Query::Or(self.any),
        }
    }

    /// A minimum is one of alternatives, whatever words side by side mean elsewhere.
    fn finish_with_minimum(mut self, minimum: u32) -> Query {
        self.end_and();
        if !self.any.is_empty() {
            self.end_group(DefaultOperator::Or);
            let alternatives = self.any.drain(..).map(|query| (None, query));
            self.group.extend(alternatives);
        }
        group(self.group, DefaultOperator::Or, Some(minimum))
    }

    fn finish_max(mut self, tie: Tie) -> Query {
        self.end_and();
        Query::DisMax { any: self.group.into_iter().map(with_prefix).collect(), tie }
    }
}

/// The query of clauses side by side.
fn group(
    clauses: Vec<(Option<Prefix>, Query)>,
    operator: DefaultOperator,
    minimum: Option<u32>,
) -> Query {
    let (mut must, mut should, mut must_not) = (vec![], vec![], vec![]);
    for (prefix, query) in clauses {
        match (prefix, operator) {
            (Some(Prefix::MustNot), _) => must_not.push(query),
            (None, DefaultOperator::Or) => should.push(query),
            (Some(Prefix::Must), _) | (None, DefaultOperator::And) => must.push(query),
        }
    }
    if minimum.is_none() && must.is_empty() && should.is_empty() && must_not.len() == 1 {
        return must_not.into_iter().map(negated).next().unwrap_or(Query::All);
    }
    if minimum.is_none() && must.len() + should.len() == 1 && must_not.is_empty() {
        return must.into_iter().chain(should).next().unwrap_or(Query::All);
    }
    Query::Group { must, should, must_not, minimum }
}

/// A clause among others joined by AND: `+` says nothing new there.
fn with_prefix((prefix, query): (Option<Prefix>, Query)) -> Query {
    match prefix {
        Some(Prefix::MustNot) => negated(query),
        Some(Prefix::Must) | None => query,
    }
}

/// As it is written: other than [`Query::not`], this keeps a double negation.
fn negated(query: Query) -> Query {
    match query {
        Query::All => Query::Nothing,
        query => Query::Not(Box::new(query)),
    }
}

fn with_fields(query: Query, fields: Option<Vec<(String, Boost)>>) -> Query {
    match fields {
        Some(fields) => Query::Fields { fields, query: Box::new(query) },
        None => query,
    }
}

/// A leaf with its field and the place of both.
fn placed(mut query: Query, named: Option<(String, Range<usize>)>, span: &Range<usize>) -> Query {
    if let Query::Word { field, place, .. }
    | Query::Phrase { field, place, .. }
    | Query::Prefix { field, place, .. }
    | Query::Wildcard { field, place, .. }
    | Query::Regex { field, place, .. }
    | Query::Fuzzy { field, place, .. }
    | Query::Range { field, place, .. }
    | Query::InSet { field, place, .. } = &mut query
    {
        let (name, at) = named.unzip();
        *field = name;
        *place = Place { field: at, text: Some(span.clone()) };
    }
    query
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::query::{Fuzziness, Proximity, Score, render_caret};
    use std::ops::Bound;

    fn tree(text: &str) -> String {
        match parse(text, &ParseOptions::default()) {
            Ok(query) => format!("{:?}", Short(&query)),
            Err(error) => panic!("{error}"),
        }
    }

    /// A tree on one line: `&` and, `|` or, `!` not, `{must; should; must not}` group.
    struct Short<'q>(&'q Query);

    impl std::fmt::Debug for Short<'_> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            let list = |queries: &[Query], sign: &str| {
                queries
                    .iter()
                    .map(|query| format!("{:?}", Short(query)))
                    .collect::<Vec<_>>()
                    .join(sign)
            };
            match self.0 {
                Query::All => write!(f, "*"),
                Query::Nothing => write!(f, "0"),
                Query::Word { field, text, .. } => {
                    write!(
                        f,
                        "{}{text}",
                        field.iter().map(|name| format!("{name}:")).collect::<String>()
                    )
                }
                Query::And(all) => write!(f, "({})", list(all, " & ")),
                Query::Or(any) => write!(f, "({})", list(any, " | ")),
                Query::Not(query) => write!(f, "!{:?}", Short(query)),
                Query::Group { must, should, must_not, minimum } => {
                    let [a, b, c] = [must, should, must_not].map(|queries| list(queries, " "));
                    let minimum = minimum.map_or(String::new(), |n| format!("~{n}"));
                    write!(f, "{{{a}; {b}; {c}}}{minimum}")
                }
                Query::DisMax { any, tie } => write!(f, "max({}; {tie})", list(any, " ")),
                Query::Boost { query, boost } => write!(f, "{:?}^{boost}", Short(query)),
                Query::ConstantScore { query, score } => write!(f, "{:?}^={score}", Short(query)),
                Query::Fields { fields, query } => {
                    let names = fields.iter().map(|(name, boost)| format!("{name}^{boost}"));
                    write!(f, "<{}>:{:?}", names.collect::<Vec<_>>().join(" "), Short(query))
                }
                leaf => write!(f, "{leaf}"),
            }
        }
    }

    #[test]
    fn binding_is_prefix_then_and_then_side_by_side_then_or() {
        let cases = [
            ("a", "a"),
            ("+a", "a"),
            ("a b", "{; a b; }"),
            ("a AND b c", "{; (a & b) c; }"),
            ("a AND (b OR c) -d", "{; (a & (b | c)); d}"),
            ("a OR b AND c d", "(a | {; (b & c) d; })"),
            ("+a b -c", "{a; b; c}"),
            ("-a", "!a"),
            ("-a NOT b !c", "{; ; a b c}"),
            ("NOT a AND b", "(!a & b)"),
            ("a && +b || -c", "((a & b) | !c)"),
            ("a&&b||c", "((a & b) | c)"),
            ("-(a b)", "!{; a b; }"),
            ("((a))", "a"),
            ("(a OR b) OR c", "((a | b) | c)"),
            ("*", "*"),
            ("NOT *", "0"),
            ("a -*", "{; a; *}"),
            ("- a", "!a"),
            ("a OR NOT(b)c", "(a | {; c; b})"),
        ];
        for (text, expected) in cases {
            assert_eq!(tree(text), expected, "{text}");
        }
    }

    #[test]
    fn fields_reach_what_stands_in_their_parentheses() {
        let cases = [
            ("title:a", "title:a"),
            ("title:(a b:c (\"d\" *))", "{; title:a b:c {; title:\"d\" title:*; }; }"),
            ("title:(a) b", "{; title:a b; }"),
            ("-title:*", "!title:*"),
            ("title:12:30", "title:12:30"),
            ("t:-5 t:+x t:!", "{; t:-5 t:+x t:!; }"),
            ("t: a", "t:a"),
            ("q:\"a \\\"b\\\\ c\"", "q:\"a \\\"b\\\\ c\""),
        ];
        for (text, expected) in cases {
            assert_eq!(tree(text), expected, "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_an_operator_is_a_word() {
        let cases = [
            (
                "AC/DC C++ e-mail don't wham! AT&T a|b",
                "{; AC/DC C++ e-mail don't wham! AT&T a|b; }",
            ),
            ("and or not Not", "{; and or not Not; }"),
            ("BORN IN TO", "{; BORN IN TO; }"),
            ("\\AND \\-a a\\ b \\(\\) \\* t\\:x", "{; AND -a a b () * t:x; }"),
            ("ANDROID NOTa ORa", "{; ANDROID NOTa ORa; }"),
            ("\u{3000}全角　空白 ", "{; 全角 空白; }"),
        ];
        for (text, expected) in cases {
            assert_eq!(tree(text), expected, "{text}");
        }
    }

    #[test]
    fn the_default_operator_can_be_and() {
        let options = ParseOptions::default().default_operator(DefaultOperator::And);
        let cases =
            [("a b -c", "+a +b -c"), ("a AND b c", "+(a AND b) +c"), ("a OR b c", "a OR +b +c")];
        for (text, expected) in cases {
            assert_eq!(parse(text, &options).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn what_means_nothing_is_refused_where_it_stands() {
        let cases = [
            ("", "expected a word, a quoted value, '*' or '(', found the end of the query", "\n^"),
            ("  ", "'*' matches every document", "  \n  ^"),
            ("a AND", "after 'AND', found the end of the query", "a AND\n     ^"),
            ("AND a", "found 'AND'", "AND a\n^^^"),
            ("a OR OR b", "after 'OR', found 'OR'", "a OR OR b\n     ^^"),
            ("a (b OR)", "after 'OR', found ')'", "a (b OR)\n       ^"),
            ("()", "found ')'", "()\n ^"),
            (")", "found ')'", ")\n^"),
            ("a) b", "')' without its opening bracket", "a) b\n ^"),
            ("a (b (c) ", "expected a ')' for this '('", "a (b (c) \n  ^"),
            ("(", "expected a ')'", "(\n^"),
            ("a -", "after '-'", "a -\n   ^"),
            ("NOT NOT a", "two in a row", "NOT NOT a\n    ^^^"),
            ("title:", "after 'title:'", "title:\n      ^"),
            ("title:AND b", "after 'title:', found 'AND'", "title:AND b\n      ^^^"),
            (":a", "the name of a field before ':'", ":a\n^"),
            ("a \"b c", "expected a closing '\"'", "a \"b c\n  ^"),
            ("\"a\\", "expected a closing '\"'", "\"a\\\n^"),
            ("a\\", "a character after '\\'", "a\\\n ^"),
            ("a ]", "']' without its opening bracket", "a ]\n  ^"),
            ("a }", "'}' without its opening bracket", "a }\n  ^"),
            ("MAX [a)", "expected the end of 'MAX [' first, found ')'", "MAX [a)\n      ^"),
            (
                "MAX [a OR b]",
                "alternatives side by side in MAX, found OR",
                "MAX [a OR b]\n       ^^",
            ),
            ("MAX [a]~2", "expected a part from 0 to 1, found 2", "MAX [a]~2\n      ^"),
            ("MAX [a", "expected a ']' for this 'MAX ['", "MAX [a\n^^^^^"),
            ("a^", "expected a number behind '^'", "a^\n ^"),
            ("a^0", "greater than 0, found 0", "a^0\n ^^"),
            ("a^-1", "greater than 0, found -1", "a^-1\n ^^^"),
            ("a^NaN", "greater than 0, found NaN", "a^NaN\n ^^^^"),
            ("a^1e99", "greater than 0, found inf", "a^1e99\n ^^^^^"),
            ("a^=-1", "a finite score of 0 or more", "a^=-1\n ^^^^"),
            ("a^2^3", "right behind what it belongs to", "a^2^3\n   ^"),
            ("^2", "right behind what it belongs to", "^2\n^"),
            ("a~3", "a distance of at most 2, found 3", "a~3\n  ^"),
            ("a~1b", "a blank or a bracket, found 'b'", "a~1b\n   ^"),
            ("a*~1", "a word before '~', found 'a*'", "a*~1\n^^^"),
            ("a*b:c", "the name of one field before ':', found 'a*b'", "a*b:c\n^^^"),
            ("\"a\"~x", "how far apart the words may be", "\"a\"~x\n   ^"),
            ("/a", "expected a closing '/'", "/a\n^"),
            ("/usr/bin", "a blank or a bracket, found 'b'", "/usr/bin\n     ^"),
            ("[a b]", "TO between the ends of a range, found 'b'", "[a b]\n   ^"),
            ("[a TO b", "']' or '}' after the end", "[a TO b\n       ^"),
            ("[a* TO b]", "whole values", "[a* TO b]\n ^^"),
            ("[a TO", "expected a value or '*', found the end", "[a TO\n     ^"),
            ("IN []", "a value of the list, found ']'", "IN []\n    ^"),
            (">*", "a value to compare with, found '*'", ">*\n ^"),
            ("{a b}", "':' behind a list of fields", "{a b}\n^^^^^"),
            ("{a^=1}:b", "a weight for the field", "{a^=1}:b\n  ^^^"),
            (
                "(a b)~",
                "how many of the alternatives must match, found no number",
                "(a b)~\n     ^",
            ),
            ("(a)~99999999999", "how many of the alternatives", "(a)~99999999999\n   ^^^^^^^^^^^^"),
        ];
        for (text, message, caret) in cases {
            let error = parse(text, &ParseOptions::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Query, "{text}");
            assert!(error.to_string().contains(message), "{text}: {error}");
            assert_eq!(render_caret(text, error.span().unwrap()), caret, "{error}");
        }
    }

    #[test]
    fn every_kind_of_leaf_is_one() {
        let cases = [
            ("hist*", Query::prefix("hist")),
            ("a\\*b*", Query::prefix("a*b")),
            ("w?ld*c", Query::wildcard("w?ld*c")),
            ("*foo", Query::wildcard("*foo")),
            ("**", Query::wildcard("*")),
            ("a?\\?", Query::wildcard("a?\\?")),
            ("t:hist*", Query::prefix("hist").in_field("t")),
            ("foo~", Query::fuzzy("foo", Fuzziness::new(2)).unwrap()),
            ("foo~0", Query::fuzzy("foo", Fuzziness::new(0)).unwrap()),
            (
                "t:foo~1/3!",
                Query::fuzzy(
                    "foo",
                    Fuzziness { distance: 1, prefix_len: 3, transpositions: false },
                )
                .unwrap()
                .in_field("t"),
            ),
            ("\"a b\"~2", Query::near("a b", Proximity::Slop(2))),
            ("\"a b\"~0", Query::near("a b", Proximity::Slop(0))),
            ("\"a b\"~>2", Query::near("a b", Proximity::Ordered(2))),
            ("\"a b\"~<>2", Query::near("a b", Proximity::Near(2))),
            ("\"a b\"*", Query::phrase_prefix("a b")),
            ("/ab+c/", Query::regex("ab+c")),
            ("/a\\/b\\\\/", Query::regex("a/b\\\\")),
            ("t:/a b(c|d)/", Query::regex("a b(c|d)").in_field("t")),
            ("[a TO b}", Query::range(text("a")..text("b"))),
            ("{a TO b]", Query::range((Bound::Excluded(text("a")), Bound::Included(text("b"))))),
            ("t:[* TO \"b c\"]", Query::range(..=text("b c")).in_field("t")),
            ("[ \\* TO TO ]", Query::range(text("*")..=text("TO"))),
            (">=a", Query::range(text("a")..)),
            ("t:>a", Query::range((Bound::Excluded(text("a")), Bound::Unbounded)).in_field("t")),
            ("t:<= a", Query::range(..=text("a")).in_field("t")),
            ("<-5", Query::range(..text("-5"))),
            ("t:IN [b \"a x\" b]", Query::in_set(["a x", "b"]).in_field("t")),
            ("IN[TO]", Query::in_set(["TO"])),
        ];
        for (text, expected) in cases {
            let query =
                parse(text, &ParseOptions::default()).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(query, expected, "{text}");
            let printed = query.to_string();
            assert_eq!(parse(&printed, &ParseOptions::default()).unwrap(), query, "{printed}");
        }
    }

    fn text(text: &str) -> String {
        text.to_owned()
    }

    #[test]
    fn weights_and_brackets_bind_to_what_stands_before_them() {
        let cases = [
            ("a^2", "a^2"),
            ("t:a^2.50 b", "{; t:a^2.5 b; }"),
            ("-a^2", "!a^2"),
            ("NOT (a b)^1e1", "!{; a b; }^10"),
            ("(a^2)^3", "a^2^3"),
            ("a^=0 AND b", "(a^=0 & b)"),
            ("*^3", "*^3"),
            ("\"a b\"~2^3 [a TO b]^4 /a/^5 a~^6", "{; \"a b\"~2^3 [a TO b]^4 /a/^5 a~2^6; }"),
            ("(a b c)~2", "{; a b c; }~2"),
            ("(a OR b OR c d)~2^3", "{; a b {; c d; }; }~2^3"),
            ("(a)~1", "{; a; }~1"),
            ("(+a b AND c -d)~0", "{a; (b & c); d}~0"),
            ("MAX [a b AND c -d (e OR f)]~0.5", "max(a (b & c) !d (e | f); 0.5)"),
            ("t:MAX [a]^2", "max(t:a; 0)^2"),
            ("{t^2 \"u v\"}:a", "<t^2 u v^1>:a"),
            ("{t}:(a u:b)^2", "<t^1>:{; a u:b; }^2"),
            ("{t u}:*", "(t:* | u:*)"),
            ("t:({u}:a b)", "{; <u^1>:a t:b; }"),
            ("MAX PLANCK", "{; MAX PLANCK; }"),
        ];
        for (text, expected) in cases {
            assert_eq!(tree(text), expected, "{text}");
        }
        let options = ParseOptions::default().default_operator(DefaultOperator::And);
        assert_eq!(parse("(a b c)~2 d", &options).unwrap().to_string(), "+(a b c)~2 +d");
    }

    #[test]
    fn default_fields_go_around_the_query() {
        let options = ParseOptions::default()
            .default_fields([("t", Boost::new(2.0).unwrap()), ("u", Boost::ONE)]);
        assert_eq!(parse("a v:b", &options).unwrap().to_string(), "{t^2 u}:(a v:b)");
        assert_eq!(parse("a", &options).unwrap().to_string(), "{t^2 u}:a");
        assert_eq!(parse("*", &options).unwrap(), Query::All);
    }

    #[test]
    fn no_text_is_too_much() {
        let refused = |text: &str, limit: &str| {
            let error = parse(text, &ParseOptions::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
            assert!(error.to_string().contains(limit), "{error}");
            assert!(error.span().is_some());
        };
        refused(&"(".repeat(1_000_000), "QUERY_BYTES_MAX");
        refused(&"NOT ".repeat(1_000_000), "QUERY_BYTES_MAX");
        refused(
            &"(".repeat(QUERY_BYTES_MAX),
            "at most 128 open parentheses (limit DEPTH_MAX), found 129",
        );
        refused(&"-(".repeat(QUERY_BYTES_MAX / 2), "DEPTH_MAX");
        refused(
            &"é ".repeat(QUERY_BYTES_MAX / 3),
            "at most 1024 words and values (limit CLAUSES_MAX), found 1025",
        );
        assert!(parse(&"NOT ".repeat(16_384), &ParseOptions::default()).is_err());
        let longest = "x".repeat(QUERY_BYTES_MAX);
        assert_eq!(parse(&longest, &ParseOptions::default()).unwrap(), Query::word(longest));
    }

    #[test]
    fn the_deepest_tree_prints_and_parses() {
        let text =
            format!("{}a{}", "a OR b -(c AND (".repeat(DEPTH_MAX / 2), "))".repeat(DEPTH_MAX / 2));
        let query = parse(&text, &ParseOptions::default()).unwrap();
        assert_eq!(parse(&query.to_string(), &ParseOptions::default()).unwrap(), query);
    }

    #[test]
    fn a_word_knows_where_it_and_its_field_stood() {
        let query = parse("  t:(ab \"c\")", &ParseOptions::default()).unwrap();
        let Query::Group { should, .. } = &query else { panic!("{query}") };
        let places: Vec<_> = should
            .iter()
            .map(|query| match query {
                Query::Word { place, .. } | Query::Phrase { place, .. } => {
                    (place.field.clone(), place.text.clone())
                }
                other => panic!("{other}"),
            })
            .collect();
        assert_eq!(places, [(Some(2..3), Some(5..7)), (Some(2..3), Some(8..11))]);
    }

    /// Trees as the parser builds them.
    fn queries() -> impl Strategy<Value = Query> {
        let text = || {
            prop_oneof![
                "[a-c]",
                "(AND|OR|NOT|TO|IN|MAX|&&|\\|\\|)",
                "[-+!/<>&|a*?~^:\\\\ \"()\\[\\]{}]{1,4}",
                "\\PC{1,3}",
            ]
        };
        let bound = move || {
            (text(), 0..3).prop_map(|(text, kind)| match kind {
                0 => Bound::Unbounded,
                1 => Bound::Included(text),
                _ => Bound::Excluded(text),
            })
        };
        let proximity = prop_oneof![
            3 => Just(Proximity::Exact),
            1 => (0u32..9).prop_map(Proximity::Slop),
            1 => (0u32..9).prop_map(Proximity::Ordered),
            1 => any::<u32>().prop_map(Proximity::Near),
        ];
        let fuzziness = (0u8..3, prop_oneof![Just(0), any::<u32>()], any::<bool>());
        let fuzziness = fuzziness.prop_map(|(distance, prefix_len, transpositions)| Fuzziness {
            distance,
            prefix_len,
            transpositions,
        });
        let leaf = prop_oneof![
            4 => text().prop_map(Query::word),
            1 => (".{0,4}", any::<bool>(), proximity).prop_map(|(text, open, proximity)| {
                let mut query = Query::near(text, proximity);
                if let Query::Phrase { prefix, .. } = &mut query {
                    *prefix = open;
                }
                query
            }),
            1 => text().prop_map(Query::prefix),
            1 => "[a*?\\\\~:^/+]{1,5}".prop_map(Query::wildcard),
            1 => "[a/\\\\*\" ()]{0,5}"
                .prop_map(|pattern| Query::regex(pattern.replace('\\', "\\\\"))),
            1 => (text(), fuzziness).prop_map(|(text, fuzziness)| {
                Query::fuzzy(text, fuzziness).unwrap()
            }),
            1 => (bound(), bound()).prop_map(Query::range),
            1 => prop::collection::vec(text(), 1..4).prop_map(Query::in_set),
        ];
        let leaf = (leaf, prop::option::of(text())).prop_map(|(query, field)| match field {
            Some(field) => query.in_field(field),
            None => query,
        });
        let leaf = prop_oneof![
            1 => Just(Query::All),
            1 => Just(Query::Nothing),
            1 => text().prop_map(Query::exists),
            9 => leaf,
        ];
        let factor = || prop_oneof![Just(0.1f32), Just(3.0), f32::MIN_POSITIVE..f32::MAX];
        leaf.prop_recursive(5, 32, 4, move |inner| {
            let some = |least| prop::collection::vec(inner.clone(), least..4);
            let boxed = || inner.clone().prop_map(Box::new);
            let fields = prop::collection::vec(
                (text(), factor().prop_map(|factor| Boost::new(factor).unwrap())),
                1..3,
            );
            let clauses = (some(0), some(0), some(0));
            prop_oneof![
                some(2).prop_map(Query::And),
                some(2).prop_map(Query::Or),
                inner.clone().prop_map(negated),
                clauses.clone().prop_map(|(a, b, c)| Query::group(a, b, c)),
                (clauses, 0u32..5).prop_filter_map("no clause", |((a, b, c), minimum)| {
                    let is_one = a.len() + b.len() + c.len() > 0;
                    is_one.then_some(Query::Group {
                        must: a,
                        should: b,
                        must_not: c,
                        minimum: Some(minimum),
                    })
                }),
                (some(1), 0.0f32..=1.0)
                    .prop_map(|(any, tie)| Query::DisMax { any, tie: Tie::new(tie).unwrap() }),
                (boxed(), factor()).prop_map(|(query, factor)| Query::Boost {
                    query,
                    boost: Boost::new(factor).unwrap()
                }),
                (boxed(), prop_oneof![Just(0.0), factor()]).prop_map(|(query, score)| {
                    Query::ConstantScore { query, score: Score::new(score).unwrap() }
                }),
                (boxed(), fields).prop_map(|(query, fields)| Query::Fields { fields, query }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn every_tree_prints_to_text_that_parses_to_it(query in queries()) {
            let text = query.to_string();
            let parsed = parse(&text, &ParseOptions::default());
            prop_assert_eq!(parsed.unwrap(), query, "{}", text);
        }

        #[test]
        fn any_text_is_a_query_or_an_error_with_a_place(
            text in "([ab(): \"\\\\*+!&|~^/?-]|AND |OR |NOT |t:|MAX \\[|IN \\[|\\[a TO |\\]|[{}<>=]|~[0-9]|\\^2|\\PC){0,24}",
        ) {
            match parse(&text, &ParseOptions::default()) {
                Ok(query) => {
                    let printed = query.to_string();
                    prop_assert_eq!(parse(&printed, &ParseOptions::default()).unwrap(), query, "{}", printed);
                }
                Err(error) => {
                    let span = error.span().unwrap();
                    prop_assert!(text.get(span.clone()).is_some(), "{:?} of {:?}", span, text);
                    render_caret(&text, span);
                }
            }
        }
    }
}
