//! Query text → [`Query`], without recursion: one frame for each open parenthesis, at most
//! [`DEPTH_MAX`] of them, so that no text can exhaust the stack.

use std::ops::Range;

use super::lexer::{Lexer, Token};
use super::{Place, Query};
use crate::error::{Error, ErrorKind, Result};

/// Bytes a query text may have at the most.
pub const QUERY_BYTES_MAX: usize = 64 << 10;
/// Parentheses that may be open at the same time at the most.
pub const DEPTH_MAX: usize = 128;
/// Words, values and stars a query may have at the most.
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
}

/// Reads a query.
///
/// # Errors
///
/// All carry the [`span`](Error::span) they are about: [`ErrorKind::Query`] for text that means
/// nothing, [`ErrorKind::Unsupported`] for a part of the language that is not built yet,
/// [`ErrorKind::LimitExceeded`] beyond [`QUERY_BYTES_MAX`], [`DEPTH_MAX`] or [`CLAUSES_MAX`].
pub fn parse(text: &str, options: &ParseOptions) -> Result<Query> {
    if text.len() > QUERY_BYTES_MAX {
        return Err(Error::new(ErrorKind::LimitExceeded, "parsing the query")
            .expected(format!("at most {QUERY_BYTES_MAX} bytes (limit QUERY_BYTES_MAX)"))
            .found(text.len().to_string())
            .at_span(QUERY_BYTES_MAX..text.len()));
    }
    Parser {
        text,
        lexer: Lexer::new(text),
        operator: options.default_operator,
        frames: vec![Frame::default()],
        n_clauses: 0,
    }
    .run()
}

struct Parser<'q> {
    text: &'q str,
    lexer: Lexer<'q>,
    operator: DefaultOperator,
    // The query itself and one for each open parenthesis; never empty.
    frames: Vec<Frame>,
    n_clauses: usize,
}

/// What is known of the query between two parentheses.
#[derive(Default)]
struct Frame {
    open: Range<usize>,
    /// The field that words in here have unless they name one.
    scope: Option<(String, Range<usize>)>,
    /// Finished groups, to be joined by OR.
    any: Vec<Query>,
    must: Vec<Query>,
    should: Vec<Query>,
    must_not: Vec<Query>,
    /// Clauses joined by AND so far.
    all: Vec<(Option<Prefix>, Query)>,
    /// What was read last and waits for something to follow.
    waiting: Option<Waiting>,
    prefix: Option<Prefix>,
    field: Option<(String, Range<usize>)>,
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
            let after_field = self.top().field.is_some();
            let (token, span) = self.lexer.next(after_field)?;
            match token {
                Token::Word(text) => {
                    let (field, place) = self.place(&span);
                    self.clause(Query::Word { field, text, place }, span)?;
                }
                Token::Quoted(text) => {
                    let (field, place) = self.place(&span);
                    self.clause(Query::Quoted { field, text, place }, span)?;
                }
                Token::Star => {
                    let query = match self.place(&span) {
                        (Some(field), place) => Query::Exists { field, place },
                        (None, _) => Query::All,
                    };
                    self.clause(query, span)?;
                }
                Token::Open => self.open(span)?,
                _ if after_field => return Err(self.unexpected(&token, span)),
                Token::Field(name) => {
                    let frame = self.top();
                    frame.field = Some((name, span.start..span.end - 1));
                    frame.wait(span);
                }
                Token::Must => self.prefix(Prefix::Must, span)?,
                Token::MustNot => self.prefix(Prefix::MustNot, span)?,
                Token::And | Token::Or => self.operator(token, span)?,
                Token::Close => self.close(span)?,
                Token::End => return self.finish(span),
            }
        }
    }

    fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the query's own frame stays until the end")
    }

    /// The field of what stands at `span`, and its place.
    fn place(&mut self, span: &Range<usize>) -> (Option<String>, Place) {
        let frame = self.top();
        let (field, at) = frame.field.take().or_else(|| frame.scope.clone()).unzip();
        let place = Place { field: at, text: Some(span.clone()) };
        (field, place)
    }

    fn clause(&mut self, query: Query, span: Range<usize>) -> Result<()> {
        self.n_clauses += 1;
        if self.n_clauses > CLAUSES_MAX {
            return Err(Error::new(ErrorKind::LimitExceeded, "parsing the query")
                .expected(format!("at most {CLAUSES_MAX} words and values (limit CLAUSES_MAX)"))
                .found(self.n_clauses.to_string())
                .at_span(span));
        }
        let operator = self.operator;
        self.top().push(query, operator);
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
        if !joins_all {
            frame.end_group(operator);
        }
        frame.waiting = Some(Waiting { after: span, joins_all });
        Ok(())
    }

    fn open(&mut self, span: Range<usize>) -> Result<()> {
        if self.frames.len() > DEPTH_MAX {
            return Err(Error::new(ErrorKind::LimitExceeded, "parsing the query")
                .expected(format!("at most {DEPTH_MAX} open parentheses (limit DEPTH_MAX)"))
                .found(self.frames.len().to_string())
                .at_span(span));
        }
        let frame = self.top();
        let scope = frame.field.take().or_else(|| frame.scope.clone());
        self.frames.push(Frame { open: span, scope, ..Frame::default() });
        Ok(())
    }

    fn close(&mut self, span: Range<usize>) -> Result<()> {
        if self.top().waiting.is_some() || self.top().is_empty() {
            return Err(self.unexpected(&Token::Close, span));
        }
        if self.frames.len() == 1 {
            return Err(Error::new(ErrorKind::Query, "parsing the query")
                .found("')' without its '('")
                .at_span(span)
                .hint("write \\) for the character itself"));
        }
        let operator = self.operator;
        if let Some(inner) = self.frames.pop() {
            self.top().push(inner.finish(operator), operator);
        }
        Ok(())
    }

    fn finish(mut self, span: Range<usize>) -> Result<Query> {
        let open = self.frames.len() > 1;
        let frame = self.top();
        if frame.waiting.is_some() || (frame.is_empty() && !open) {
            return Err(self.unexpected(&Token::End, span));
        }
        if open {
            return Err(Error::new(ErrorKind::Query, "parsing the query")
                .expected("a ')' for this '('")
                .found("the end of the query")
                .at_span(frame.open.clone()));
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
    /// Whether nothing that matches has been read since the parenthesis or the last OR.
    fn is_empty(&self) -> bool {
        self.all.is_empty()
            && self.must.is_empty()
            && self.should.is_empty()
            && self.must_not.is_empty()
    }

    /// Notes that something must follow, keeping an AND that waits already.
    fn wait(&mut self, after: Range<usize>) {
        let joins_all = self.waiting.as_ref().is_some_and(|waiting| waiting.joins_all);
        self.waiting = Some(Waiting { after, joins_all });
    }

    /// Takes a clause with the prefix before it.
    fn push(&mut self, query: Query, operator: DefaultOperator) {
        if !self.waiting.take().is_some_and(|waiting| waiting.joins_all) {
            self.end_and(operator);
        }
        self.all.push((self.prefix.take(), query));
    }

    /// Moves what AND joined so far into the group.
    fn end_and(&mut self, operator: DefaultOperator) {
        let mut all = std::mem::take(&mut self.all);
        let (prefix, query) = match all.len() {
            0 => return,
            1 => all.remove(0),
            _ => (None, Query::And(all.into_iter().map(with_prefix).collect())),
        };
        match (prefix, operator) {
            (Some(Prefix::MustNot), _) => self.must_not.push(query),
            (None, DefaultOperator::Or) => self.should.push(query),
            (Some(Prefix::Must), _) | (None, DefaultOperator::And) => self.must.push(query),
        }
    }

    /// Moves the group so far among the alternatives.
    fn end_group(&mut self, operator: DefaultOperator) {
        self.end_and(operator);
        let take = std::mem::take::<Vec<Query>>;
        let group =
            Query::group(take(&mut self.must), take(&mut self.should), take(&mut self.must_not));
        self.any.push(group);
    }

    fn finish(mut self, operator: DefaultOperator) -> Query {
        self.end_group(operator);
        Query::any_of(self.any)
    }
}

/// A clause among others joined by AND: `+` says nothing new there.
fn with_prefix((prefix, query): (Option<Prefix>, Query)) -> Query {
    match prefix {
        Some(Prefix::MustNot) => Query::not(query),
        Some(Prefix::Must) | None => query,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::query::render_caret;

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
                Query::Quoted { field, text, .. } => {
                    write!(
                        f,
                        "{}{text:?}",
                        field.iter().map(|name| format!("{name}:")).collect::<String>()
                    )
                }
                Query::Exists { field, .. } => write!(f, "{field}:*"),
                Query::And(all) => write!(f, "({})", list(all, " & ")),
                Query::Or(any) => write!(f, "({})", list(any, " | ")),
                Query::Not(query) => write!(f, "!{:?}", Short(query)),
                Query::Group { must, should, must_not } => {
                    write!(
                        f,
                        "{{{}; {}; {}}}",
                        list(must, " "),
                        list(should, " "),
                        list(must_not, " ")
                    )
                }
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
            ("a) b", "')' without its '('", "a) b\n ^"),
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
        ];
        for (text, message, caret) in cases {
            let error = parse(text, &ParseOptions::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Query, "{text}");
            assert!(error.to_string().contains(message), "{text}: {error}");
            assert_eq!(render_caret(text, error.span().unwrap()), caret, "{error}");
        }
    }

    #[test]
    fn what_is_not_built_yet_is_refused_by_name() {
        let cases = [
            ("a hist*", "prefixes and wildcards", 2..7),
            ("w?ld*c", "wildcards", 0..6),
            ("*foo", "prefixes and wildcards", 0..4),
            ("title:foo~1", "fuzzy words", 6..11),
            ("foo^2", "boosts", 0..5),
            ("(a b)^2", "boosts", 5..7),
            ("\"a b\"~2", "phrases with slop", 0..7),
            ("\"a b\"*", "phrases with an open end", 0..6),
            ("year:[1900 TO 2000}", "ranges", 5..10),
            ("{a TO b]", "ranges", 0..2),
            ("year:>=1900", "comparisons", 5..11),
            ("<5", "comparisons", 0..2),
            ("/ab+c/", "regular expressions", 0..6),
            ("brand:IN [a b]", "lists of values", 6..8),
        ];
        for (text, message, span) in cases {
            let error = parse(text, &ParseOptions::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{text}: {error}");
            assert!(error.to_string().contains(message), "{text}: {error}");
            assert_eq!(error.span(), Some(span), "{text}");
        }
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
        let Query::Group { should, .. } = query else { panic!("{query}") };
        let places: Vec<_> = should
            .into_iter()
            .map(|query| match query {
                Query::Word { place, .. } | Query::Quoted { place, .. } => {
                    (place.field, place.text)
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
                "(AND|OR|NOT|TO|IN|&&|\\|\\|)",
                "[-+!/<>&|a*?~^:\\\\ \"()\\[\\]{}]{1,4}",
                "\\PC{1,3}",
            ]
        };
        let field = || prop_oneof![Just(None), text().prop_map(Some)];
        let place = Place::default;
        let leaf = prop_oneof![
            Just(Query::All),
            Just(Query::Nothing),
            (field(), text()).prop_map(move |(field, text)| Query::Word {
                field,
                text,
                place: place()
            }),
            (field(), ".{0,4}").prop_map(move |(field, text)| Query::Quoted {
                field,
                text,
                place: place()
            }),
            text().prop_map(Query::exists),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let some = |least| prop::collection::vec(inner.clone(), least..4);
            prop_oneof![
                some(2).prop_map(Query::And),
                some(2).prop_map(Query::Or),
                inner.clone().prop_map(Query::not),
                (some(0), some(0), some(0)).prop_map(|(a, b, c)| Query::group(a, b, c)),
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
            text in "([ab(): \"\\\\*+!&|-]|AND |OR |NOT |t:|\\PC){0,24}",
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
