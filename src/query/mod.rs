//! What is asked: the tree of a query, the text it is written in, and what it becomes for the planner.
//!
//! - [`Query`] is the tree as it was asked, built by [`parse`] or by its constructors.
//! - [`parse`] reads the query language; errors carry the span they are about, and
//!   [`render_caret`] points at it.
//!
//! ```text
//! query  = group { ("OR" | "||") group }
//! group  = and { and }
//! and    = clause { ("AND" | "&&") clause }
//! clause = [ "+" | "-" | "NOT" | "!" ] atom
//! atom   = [ field ":" ] ( word | "*" | '"' text '"' | "(" query ")" )
//! ```
//!
//! NOT, `+` and `-` bind first, then AND, then standing side by side, then OR. Clauses that stand
//! side by side are one group: a document must match all clauses with `+` and none with `-`; the
//! others are alternatives, of which it must match one where there is no `+`. A group of negatives
//! alone is everything but those. `*` is every document, `field:*` every document that has the
//! field, `field:( … )` gives the field to every word inside that has none of its own. `\` takes
//! the next character literally. Operators are upper case only.
//!
//! ```
//! use treepie::query::{ParseOptions, parse};
//!
//! let query = parse("history && (france || spain) -war", &ParseOptions::default())?;
//! assert_eq!(query.to_string(), "history AND (france OR spain) -war");
//! # Ok::<(), treepie::Error>(())
//! ```
//!
//! Cost: parsing takes one pass over at most [`QUERY_BYTES_MAX`] bytes, printing one walk over the
//! tree. Trees from [`parse`] are at most [`DEPTH_MAX`] parentheses deep, so walking them needs
//! little stack.

mod caret;
mod lexer;
mod parser;
mod rewrite;

use std::fmt::{self, Write};
use std::hash::{Hash, Hasher};
use std::ops::Range;

pub use caret::render_caret;
pub use parser::{CLAUSES_MAX, DEPTH_MAX, DefaultOperator, ParseOptions, QUERY_BYTES_MAX, parse};
pub use rewrite::TERMS_MAX;
pub(crate) use rewrite::{Normal, rewrite};

/// A question: which documents match.
///
/// `Display` prints it in the query language; [`parse`] with default options gives the same tree
/// back, or, for a tree that no text means (an `And` of one, an empty `Or`), an equivalent one.
///
/// ```
/// use treepie::query::Query;
///
/// let words = Query::any_of([Query::word("france"), Query::word("spain")]);
/// let query = Query::group(vec![], vec![words], vec![Query::value("qualifier", "film")]);
/// assert_eq!(query.to_string(), r#"(france OR spain) -qualifier:"film""#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Query {
    /// Every document: `*`.
    All,
    /// No document: `NOT *`.
    Nothing,
    /// Documents with this word: `word`, `field:word`. The field's analyzer decides what the terms are.
    Word {
        /// The field, or none for all default fields.
        field: Option<String>,
        /// The word as written, escapes resolved.
        text: String,
        /// Where it stood in the text.
        place: Place,
    },
    /// Documents with exactly this value in a keyword field: `field:"the value"`.
    Quoted {
        /// The field, or none for all default fields.
        field: Option<String>,
        /// What stood between the quotes, escapes resolved.
        text: String,
        /// Where it stood in the text.
        place: Place,
    },
    /// Documents that have a value in this field: `field:*`.
    Exists {
        /// The field.
        field: String,
        /// Where it stood in the text.
        place: Place,
    },
    /// Documents that match all of these: `a AND b`. Of none: every document.
    And(Vec<Query>),
    /// Documents that match one of these: `a OR b`. Of none: no document.
    Or(Vec<Query>),
    /// Documents that do not match this: `NOT a`.
    Not(Box<Query>),
    /// Clauses side by side: `+must should -must_not`.
    ///
    /// A document must match all of `must` and none of `must_not`; if `must` is empty and `should`
    /// is not, also one of `should`.
    Group {
        /// Clauses with `+`.
        must: Vec<Query>,
        /// Clauses without a prefix; beside a `must` they matter to ranking only.
        should: Vec<Query>,
        /// Clauses with `-`, `!` or NOT.
        must_not: Vec<Query>,
    },
}

/// Where in the query text a word or its field stood, for messages.
///
/// Two trees that differ in places only are the same query, so all places are equal.
#[derive(Clone, Debug, Default)]
pub struct Place {
    pub(crate) field: Option<Range<usize>>,
    pub(crate) text: Option<Range<usize>>,
}

impl PartialEq for Place {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Place {}

impl Hash for Place {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Query {
    /// A word in the default fields.
    pub fn word(text: impl Into<String>) -> Self {
        Query::Word { field: None, text: text.into(), place: Place::default() }
    }

    /// A word in one field.
    pub fn word_in(field: impl Into<String>, text: impl Into<String>) -> Self {
        Query::Word { field: Some(field.into()), text: text.into(), place: Place::default() }
    }

    /// An exact value of a keyword field.
    pub fn value(field: impl Into<String>, text: impl Into<String>) -> Self {
        Query::Quoted { field: Some(field.into()), text: text.into(), place: Place::default() }
    }

    /// Documents that have a value in a field.
    pub fn exists(field: impl Into<String>) -> Self {
        Query::Exists { field: field.into(), place: Place::default() }
    }

    /// Documents that match all of these.
    pub fn all_of(queries: impl IntoIterator<Item = Query>) -> Self {
        let mut queries: Vec<_> = queries.into_iter().collect();
        match queries.len() {
            0 => Query::All,
            1 => queries.remove(0),
            _ => Query::And(queries),
        }
    }

    /// Documents that match one of these.
    pub fn any_of(queries: impl IntoIterator<Item = Query>) -> Self {
        let mut queries: Vec<_> = queries.into_iter().collect();
        match queries.len() {
            0 => Query::Nothing,
            1 => queries.remove(0),
            _ => Query::Or(queries),
        }
    }

    /// Documents that do not match this.
    #[expect(clippy::should_implement_trait, reason = "`!query` would read as a Rust bool")]
    pub fn not(query: Query) -> Self {
        match query {
            Query::All => Query::Nothing,
            other => Query::Not(Box::new(other)),
        }
    }

    /// Clauses side by side; see [`Query::Group`].
    pub fn group(must: Vec<Query>, should: Vec<Query>, must_not: Vec<Query>) -> Self {
        if must.len() + should.len() + must_not.len() > 1 {
            return Query::Group { must, should, must_not };
        }
        match must_not.into_iter().next() {
            Some(query) => Query::not(query),
            None => must.into_iter().chain(should).next().unwrap_or(Query::All),
        }
    }
}

/// How tightly a printed query holds together, from the loosest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    Group,
    And,
    Clause,
    Atom,
}

/// Query syntax with only the parentheses that are needed.
impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(self, Binding::Or, f)
    }
}

/// Prints a query, in parentheses where it binds less tightly than its place needs.
fn print(query: &Query, needed: Binding, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let binding = match query {
        // What has one part or none prints as what it means.
        Query::And(all) if all.len() < 2 => {
            return print(all.first().unwrap_or(&Query::All), needed, f);
        }
        Query::Or(any) if any.len() < 2 => {
            return print(any.first().unwrap_or(&Query::Nothing), needed, f);
        }
        Query::Group { must, should, must_not }
            if must.is_empty() && should.is_empty() && must_not.is_empty() =>
        {
            return print(&Query::All, needed, f);
        }
        Query::All | Query::Word { .. } | Query::Quoted { .. } | Query::Exists { .. } => {
            Binding::Atom
        }
        Query::Nothing | Query::Not(_) => Binding::Clause,
        Query::And(_) => Binding::And,
        Query::Group { .. } => Binding::Group,
        Query::Or(_) => Binding::Or,
    };
    let open = binding < needed;
    if open {
        f.write_char('(')?;
    }
    match query {
        Query::All => f.write_char('*'),
        Query::Nothing => f.write_str("NOT *"),
        Query::Word { field, text, .. } => {
            print_field(field.as_deref(), f)?;
            print_word(text, f)
        }
        Query::Quoted { field, text, .. } => {
            print_field(field.as_deref(), f)?;
            print_quoted(text, f)
        }
        Query::Exists { field, .. } => {
            print_field(Some(field), f)?;
            f.write_char('*')
        }
        Query::And(all) => print_joined(all, " AND ", Binding::Clause, f),
        Query::Or(any) => print_joined(any, " OR ", Binding::Group, f),
        Query::Not(query) => {
            f.write_str("NOT ")?;
            print(query, Binding::Atom, f)
        }
        Query::Group { must, should, must_not } => print_group(must, should, must_not, f),
    }?;
    if open {
        f.write_char(')')?;
    }
    Ok(())
}

fn print_joined(
    queries: &[Query],
    separator: &str,
    needed: Binding,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    for (at, query) in queries.iter().enumerate() {
        if at > 0 {
            f.write_str(separator)?;
        }
        print(query, needed, f)?;
    }
    Ok(())
}

fn print_group(
    must: &[Query],
    should: &[Query],
    must_not: &[Query],
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let must = must.iter().map(|query| ("+", query));
    let should = should.iter().map(|query| ("", query));
    let must_not = must_not.iter().map(|query| ("-", query));
    for (at, (prefix, query)) in must.chain(should).chain(must_not).enumerate() {
        if at > 0 {
            f.write_char(' ')?;
        }
        f.write_str(prefix)?;
        let needed = match query {
            // Side by side, a bare NOT would be read as this group's own.
            Query::And(all) if all.len() > 1 && prefix.is_empty() => Binding::And,
            _ => Binding::Atom,
        };
        print(query, needed, f)?;
    }
    Ok(())
}

fn print_field(field: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match field {
        Some(field) => {
            print_word(field, f)?;
            f.write_char(':')
        }
        None => Ok(()),
    }
}

/// Prints a word so that the lexer reads exactly this word again.
fn print_word(word: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if word.is_empty() {
        return f.write_str("\"\"");
    }
    if lexer::OPERATORS.contains(&word) {
        f.write_char('\\')?;
        return f.write_str(word);
    }
    let mut chars = word.chars().peekable();
    let mut first = true;
    while let Some(c) = chars.next() {
        let doubled = matches!(c, '&' | '|') && chars.peek() == Some(&c);
        if lexer::is_special(c) || (first && lexer::is_special_at_start(c)) || doubled {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
        first = false;
    }
    Ok(())
}

fn print_quoted(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    f.write_char('"')
}
