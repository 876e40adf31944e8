//! Query text → [`Query`], without recursion. There is one [`frame`] for each open bracket, at most [`DEPTH_MAX`] of
//! them, so that no text can exhaust the stack.

mod frame;
mod lenient;
mod plain;
#[cfg(test)]
mod tests;
mod vocabulary;

use std::ops::Range;

use super::lexer::{BoostSuffix, FieldList, Lexer, Token};
use super::{Boost, Place, Query, Tie};
use crate::analysis::Analyzers;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::schema::Schema;
use crate::value::Dates;
use frame::{Before, Frame, Prefix, Waiting};
pub use lenient::{LenientQuery, Remark};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;
use vocabulary::Vocabulary;

/// Bytes a query text may have at the most, unless [`Limits`] says otherwise.
pub const QUERY_BYTES_MAX: usize = Limits::DEFAULT.query_bytes;
/// Maximum number of open parentheses and brackets of MAX, unless [`Limits`] says otherwise.
pub const DEPTH_MAX: usize = Limits::DEFAULT.query_depth;
/// Maximum number of words, values and stars of a query, unless [`Limits`] says otherwise. A list of values counts as
/// one.
pub const CLAUSES_MAX: usize = Limits::DEFAULT.query_clauses;

/// Options of [`parse`].
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
    limits: Limits,
    /// For the lenient reading only.
    vocabulary: Option<Vocabulary>,
    dates: Option<Dates>,
}

/// Operator that joins words side by side without a prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultOperator {
    /// Alternatives: one of them must match.
    #[default]
    Or,
    /// All of them must match, as if each had a `+`.
    And,
}

impl ParseOptions {
    /// Sets how large a query may be (default: [`Limits::DEFAULT`]).
    ///
    /// The limits of an index are in [`Searcher::parse_options`](crate::Searcher::parse_options).
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the schema that the [lenient reading](Query::parse_lenient) looks fields and values up in (default: none).
    ///
    /// [`parse`] ignores it: a field that there is not is an error of the search.
    #[must_use]
    pub fn schema(self, schema: impl Into<Arc<Schema>>) -> Self {
        self.vocabulary(schema.into(), Arc::default())
    }

    /// Checks queries by a schema with the analyzers of an index.
    #[must_use]
    pub(crate) fn vocabulary(mut self, schema: Arc<Schema>, analyzers: Arc<Analyzers>) -> Self {
        self.vocabulary = Some(Vocabulary { schema, analyzers });
        self
    }

    /// Sets how the [lenient reading](Query::parse_lenient) tries dates (default: as a search does, without `now`).
    ///
    /// For a query that is given to [`Query::at`] with the same dates afterwards. [`parse`] ignores it.
    #[must_use]
    pub fn dates(mut self, dates: Dates) -> Self {
        self.dates = Some(dates);
        self
    }

    /// Sets what words side by side mean (default: [`DefaultOperator::Or`]).
    #[must_use]
    pub fn default_operator(mut self, operator: DefaultOperator) -> Self {
        self.default_operator = operator;
        self
    }

    /// Sets the fields of words that name none, with their weights.
    ///
    /// The default are the default fields of the schema. A weight is that of what matches in the field.
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
    let most = options.limits.query_bytes;
    if text.len() > most {
        let (what, name) = ("parsing the query", "QUERY_BYTES_MAX");
        let error = Error::limit_reached(what, name, most, "bytes", Some(text.len()));
        let error = error.at_span(most..text.len());
        let has_vector = ["nearest([", "within(["].iter().any(|call| text.contains(call));
        return Err(match has_vector {
            true => error.hint("a name may stand for a vector: nearest($v, 10)"),
            false => error,
        });
    }
    let n_max = options.limits.query_clauses;
    let query = match plain::plain_words(text, options.default_operator, n_max) {
        Some(query) => query,
        None => Parser::new(text, options).run()?,
    };
    match &options.default_fields[..] {
        [] => Ok(query),
        fields => Ok(query.in_fields(fields.iter().cloned())),
    }
}

struct Parser<'q> {
    text: &'q str,
    lexer: Lexer<'q>,
    operator: DefaultOperator,
    // The query itself and one for each open bracket; never empty.
    frames: SmallVec<[Frame; 1]>,
    n_clauses: usize,
    limits: Limits,
}

impl<'q> Parser<'q> {
    fn new(text: &'q str, options: &ParseOptions) -> Self {
        Parser {
            text,
            lexer: Lexer::new(text),
            operator: options.default_operator,
            frames: smallvec![Frame::default()],
            n_clauses: 0,
            limits: options.limits,
        }
    }

    fn run(&mut self) -> Result<Query> {
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

    fn star(&mut self, span: Range<usize>) -> Result<()> {
        let query = self.every(span.clone());
        self.clause(query, span)
    }

    /// Every document, or every one that has a value in one of the fields.
    fn every(&mut self, span: Range<usize>) -> Query {
        let exists = |name: String, at: Option<Range<usize>>| Query::Exists {
            field: name,
            place: Place { field: at, text: Some(span.clone()) },
        };
        let frame = self.top();
        match frame.before.take() {
            Some(Before::Field(name, at)) => exists(name, Some(at)),
            Some(Before::Fields(FieldList { fields, .. })) => {
                let any = fields.into_iter().map(|(name, _)| exists(name, None));
                Query::any_of(any)
            }
            None => match frame.scope.clone() {
                Some((name, at)) => exists(name, Some(at)),
                None => Query::All,
            },
        }
    }

    fn clause(&mut self, query: Query, span: Range<usize>) -> Result<()> {
        self.n_clauses += 1;
        let most = self.limits.query_clauses;
        if self.n_clauses > most {
            let (what, unit) = ("parsing the query", "words and values");
            let found = Some(self.n_clauses);
            return Err(Error::limit_reached(what, "CLAUSES_MAX", most, unit, found).at_span(span));
        }
        self.push(query)
    }

    /// Adds what has been read to the innermost brackets, with the weight that follows it.
    fn push(&mut self, query: Query) -> Result<()> {
        let query = match self.lexer.weight()? {
            Some(BoostSuffix::Boost(boost)) => Query::Boost { query: Box::new(query), boost },
            Some(BoostSuffix::Score(score)) => {
                Query::ConstantScore { query: Box::new(query), score }
            }
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
        let most = self.limits.query_depth;
        if self.frames.len() > most {
            let (what, unit) = ("parsing the query", "open parentheses");
            let found = Some(self.frames.len());
            return Err(Error::limit_reached(what, "DEPTH_MAX", most, unit, found).at_span(span));
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

    fn finish(&mut self, span: Range<usize>) -> Result<Query> {
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
        Ok(self.top().finish(operator))
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
        match (token, &self.top().waiting) {
            (Token::End, None) => error.hint("'*' matches every document"),
            (Token::And | Token::Or, Some(_)) => {
                error.hint("leave one of the two out, or write \\ before what is meant literally")
            }
            (Token::End, Some(waiting)) => {
                let waiting = &text[waiting.after.clone()];
                error.hint(match waiting.ends_with(':') {
                    true => format!(
                        "write {}\\: for the characters themselves",
                        &waiting[..waiting.len() - 1]
                    ),
                    false => format!("write \\{waiting} for the characters themselves"),
                })
            }
            _ => error.hint("write \\ before what is meant literally"),
        }
    }
}

fn with_fields(query: Query, fields: Option<FieldList>) -> Query {
    match fields {
        Some(FieldList { fields, combined }) => {
            Query::Fields { fields, combined, query: Box::new(query) }
        }
        None => query,
    }
}

/// A leaf with its field and the place of both.
fn placed(mut query: Query, named: Option<(String, Range<usize>)>, span: &Range<usize>) -> Query {
    if let Some((field, place)) = query.field_of_terms_mut() {
        let (name, at) = named.unzip();
        *field = name;
        *place = Place { field: at, text: Some(span.clone()) };
    }
    query
}
