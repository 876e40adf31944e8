//! [`Query`] → text, with only the parentheses that are needed, and without recursion.

use std::fmt::{self, Write};
use std::ops::Bound;

use super::{Boost, Fuzziness, Proximity, Query, Tie, lexer, nearest};
use crate::expansion::WildcardPiece;

/// Precedence of a printed query, from the loosest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Or,
    Group,
    And,
    Clause,
    Weighted,
    Atom,
    /// An atom that takes its field from what stands before it.
    Bare,
}

/// Part of a query that is still to be printed.
enum Piece<'q> {
    Query(&'q Query, Binding),
    Text(&'static str),
    /// Suffix of a query.
    Suffix(&'q Query),
}

/// Query syntax with only the parentheses that are needed.
impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Query::Word { .. } = self {
            return print_leaf(self, f);
        }
        let mut todo = vec![Piece::Query(self, Binding::Or)];
        while let Some(piece) = todo.pop() {
            match piece {
                Piece::Text(text) => f.write_str(text)?,
                Piece::Suffix(query) => print_suffix(query, f)?,
                Piece::Query(query, needed) => print_node(query, needed, &mut todo, f)?,
            }
        }
        Ok(())
    }
}

impl Query {
    /// Works like [`to_string`](ToString::to_string), in one piece of memory where the text is as long as most are: a plan
    /// that is explained holds one for each of its nodes.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::with_capacity(64);
        write!(text, "{self}").expect("a string takes everything");
        text
    }
}

/// Prints the beginning of a query, in parentheses where it binds less tightly than its place
/// needs, and leaves the rest to be done.
fn print_node<'q>(
    query: &'q Query,
    needed: Binding,
    todo: &mut Vec<Piece<'q>>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let query = meant(query);
    if binding(query) < needed {
        f.write_char('(')?;
        todo.push(Piece::Text(")"));
    }
    match query {
        Query::And(all) => push_joined(all, " AND ", Binding::Clause, todo),
        Query::Or(any) => push_joined(any, " OR ", Binding::Group, todo),
        Query::Not(query) => {
            f.write_str("NOT ")?;
            todo.push(Piece::Query(query, Binding::Weighted));
        }
        Query::Group { must, should, must_not, minimum } => {
            if minimum.is_some() {
                f.write_char('(')?;
                todo.push(Piece::Suffix(query));
            }
            push_clauses([("+", must), ("", should), ("-", must_not)], todo);
        }
        Query::DisMax { any, .. } => {
            f.write_str("MAX [")?;
            todo.push(Piece::Suffix(query));
            push_clauses([("", any), ("", &[]), ("", &[])], todo);
        }
        Query::Boost { query: inner, .. } | Query::ConstantScore { query: inner, .. } => {
            todo.push(Piece::Suffix(query));
            todo.push(Piece::Query(inner, Binding::Atom));
        }
        Query::Fields { fields, combined, query } => {
            print_fields(fields, *combined, f)?;
            todo.push(Piece::Query(query, Binding::Bare));
        }
        leaf => print_leaf(leaf, f)?,
    }
    Ok(())
}

static ALL: Query = Query::All;
static NOTHING: Query = Query::Nothing;

/// Reduces a group of one part or none to its meaning, which is printed.
fn meant(mut query: &Query) -> &Query {
    loop {
        query = match query {
            Query::And(all) if all.len() < 2 => all.first().unwrap_or(&ALL),
            Query::Or(any) if any.len() < 2 => any.first().unwrap_or(&NOTHING),
            Query::DisMax { any, .. } if any.is_empty() => &NOTHING,
            Query::InSet { values, .. } if values.is_empty() => &NOTHING,
            Query::Fields { fields, query, .. } if fields.is_empty() => query,
            Query::Group { must, should, must_not, minimum }
                if must.is_empty() && should.is_empty() && must_not.is_empty() =>
            {
                match minimum {
                    None | Some(0) => &ALL,
                    Some(_) => &NOTHING,
                }
            }
            _ => return query,
        };
    }
}

fn binding(query: &Query) -> Binding {
    match query {
        Query::Or(_) => Binding::Or,
        Query::Group { minimum: None, .. } => Binding::Group,
        Query::And(_) => Binding::And,
        Query::Nothing | Query::Not(_) => Binding::Clause,
        Query::Boost { .. } | Query::ConstantScore { .. } => Binding::Weighted,
        Query::Word { field: None, .. }
        | Query::Phrase { field: None, .. }
        | Query::PhraseOf { field: None, .. }
        | Query::Prefix { field: None, .. }
        | Query::Wildcard { field: None, .. }
        | Query::Regex { field: None, .. }
        | Query::Fuzzy { field: None, .. }
        | Query::Range { field: None, .. }
        | Query::InSet { field: None, .. } => Binding::Bare,
        _ => Binding::Atom,
    }
}

/// The first is printed first, and so the last to be put on the pile.
fn push_joined<'q>(
    queries: &'q [Query],
    separator: &'static str,
    needed: Binding,
    todo: &mut Vec<Piece<'q>>,
) {
    for (at, query) in queries.iter().enumerate().rev() {
        todo.push(Piece::Query(query, needed));
        if at > 0 {
            todo.push(Piece::Text(separator));
        }
    }
}

fn push_clauses<'q>(parts: [(&'static str, &'q [Query]); 3], todo: &mut Vec<Piece<'q>>) {
    let mut left: usize = parts.iter().map(|(_, part)| part.len()).sum();
    for (prefix, part) in parts.into_iter().rev() {
        for query in part.iter().rev() {
            let needed = match meant(query) {
                // Side by side, a bare NOT would be read as this group's own.
                Query::And(_) if prefix.is_empty() => Binding::And,
                _ => Binding::Weighted,
            };
            todo.push(Piece::Query(query, needed));
            todo.push(Piece::Text(prefix));
            left -= 1;
            if left > 0 {
                todo.push(Piece::Text(" "));
            }
        }
    }
}

fn print_suffix(query: &Query, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match query {
        Query::Group { minimum: Some(minimum), .. } => write!(f, ")~{minimum}"),
        Query::DisMax { tie, .. } if *tie == Tie::ZERO => f.write_char(']'),
        Query::DisMax { tie, .. } => write!(f, "]~{tie}"),
        Query::Boost { boost, .. } => write!(f, "^{boost}"),
        Query::ConstantScore { score, .. } => write!(f, "^={score}"),
        _ => Ok(()),
    }
}

fn print_leaf(query: &Query, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match query {
        Query::Nothing => f.write_str("NOT *"),
        Query::Word { field, text, .. } => {
            print_field(field, f)?;
            print_word(text, f)
        }
        Query::Phrase { field, text, prefix, proximity, .. } => {
            print_field(field, f)?;
            print_quoted(text, f)?;
            if *prefix {
                f.write_char('*')?;
            }
            print_proximity(*proximity, f)
        }
        Query::PhraseOf { field, parts, proximity, .. } => {
            print_field(field, f)?;
            f.write_str("PHRASE [")?;
            for (at, part) in parts.iter().enumerate() {
                f.write_str(if at > 0 { " " } else { "" })?;
                print_leaf(part.query(), f)?;
            }
            f.write_char(']')?;
            print_proximity(*proximity, f)
        }
        Query::Prefix { field, text, .. } => {
            print_field(field, f)?;
            match text.is_empty() {
                true => f.write_str("**"),
                false => {
                    print_word(text, f)?;
                    f.write_char('*')
                }
            }
        }
        Query::Wildcard { field, pattern, .. } => {
            print_field(field, f)?;
            print_wildcard(pattern, f)
        }
        Query::Regex { field, pattern, .. } => {
            print_field(field, f)?;
            print_regex(pattern, f)
        }
        Query::Fuzzy { field, text, fuzziness, .. } => {
            print_field(field, f)?;
            print_word(text, f)?;
            print_fuzziness(*fuzziness, f)
        }
        Query::Range { field, lower, upper, .. } => {
            print_field(field, f)?;
            f.write_char(if matches!(lower, Bound::Excluded(_)) { '{' } else { '[' })?;
            print_bound(lower, f)?;
            f.write_str(" TO ")?;
            print_bound(upper, f)?;
            f.write_char(if matches!(upper, Bound::Excluded(_)) { '}' } else { ']' })
        }
        Query::InSet { field, values, .. } => {
            print_field(field, f)?;
            f.write_str("IN [")?;
            for (at, value) in values.iter().enumerate() {
                f.write_str(if at > 0 { " " } else { "" })?;
                print_value(value, f)?;
            }
            f.write_char(']')
        }
        Query::Nearest { field, vector, wanted, .. } => {
            print_field(field, f)?;
            nearest::print(vector, *wanted, f)
        }
        Query::Area { field, relation, area, .. } => {
            print_field(field, f)?;
            write!(f, "{} [{area}]", relation.name())
        }
        Query::Exists { field, .. } => {
            print_word(field, f)?;
            f.write_str(":*")
        }
        _ => f.write_char('*'),
    }
}

fn print_proximity(proximity: Proximity, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match proximity {
        Proximity::Exact => Ok(()),
        Proximity::Slop(slop) => write!(f, "~{slop}"),
        Proximity::Ordered(slop) => write!(f, "~>{slop}"),
        Proximity::Near(slop) => write!(f, "~<>{slop}"),
    }
}

fn print_field(field: &Option<String>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match field {
        Some(field) => {
            print_word(field, f)?;
            f.write_char(':')
        }
        None => Ok(()),
    }
}

fn print_fields(
    fields: &[(String, Boost)],
    combined: bool,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    f.write_char('{')?;
    let between = if combined { " + " } else { " " };
    for (at, (name, boost)) in fields.iter().enumerate() {
        f.write_str(if at > 0 { between } else { "" })?;
        match &**name {
            // Alone it is the sign between fields.
            "+" => f.write_str("\"+\"")?,
            name => print_value(name, f)?,
        }
        if *boost != Boost::ONE {
            write!(f, "^{boost}")?;
        }
    }
    f.write_str("}:")
}

/// Returns text that [`parse`](super::parse) reads as these words. Signs of the query language have a backslash before
/// them, and blanks stay. A text without words is an empty value in quotes.
///
/// ```
/// use treepie::query::{ParseOptions, Query, escape, parse};
///
/// let text = "10:30 AND (milk";
/// assert_eq!(escape(text), r"10\:30 \AND \(milk");
/// assert_eq!(parse(&escape(text), &ParseOptions::default())?, Query::words(text));
/// # Ok::<(), treepie::Error>(())
/// ```
pub fn escape(text: &str) -> String {
    struct Word<'t>(&'t str);

    impl fmt::Display for Word<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            print_word(self.0, f)
        }
    }

    if text.trim().is_empty() {
        return "\"\"".to_owned();
    }
    let mut escaped = String::with_capacity(text.len());
    for part in text.split_inclusive(char::is_whitespace) {
        let word = part.trim_end();
        if !word.is_empty() {
            write!(escaped, "{}", Word(word)).expect("a string takes everything");
        }
        escaped.push_str(&part[word.len()..]);
    }
    escaped
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
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        // Most words are such: none of these bytes means anything to the lexer.
        return f.write_str(word);
    }
    print_chars(word.chars().map(WildcardPiece::Char), f)
}

/// Prints a pattern, escaped as a word is, and for a `*` alone, which would be every document, two.
fn print_wildcard(pattern: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let pieces = WildcardPiece::parse(pattern);
    match &pieces[..] {
        [] => f.write_str("\"\""),
        [WildcardPiece::Any] => f.write_str("**"),
        _ => print_chars(pieces.into_iter(), f),
    }
}

fn print_chars(
    pieces: impl Iterator<Item = WildcardPiece>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let mut pieces = pieces.peekable();
    let mut first = true;
    while let Some(piece) = pieces.next() {
        match piece {
            WildcardPiece::Any => f.write_char('*')?,
            WildcardPiece::One => f.write_char('?')?,
            WildcardPiece::Char(c) => {
                let doubled = matches!(c, '&' | '|') && pieces.peek() == Some(&piece);
                if lexer::is_special(c) || (first && lexer::is_special_at_start(c)) || doubled {
                    f.write_char('\\')?;
                }
                f.write_char(c)?;
            }
        }
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

fn print_regex(pattern: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_char('/')?;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '/' => f.write_str("\\/")?,
            '\\' => {
                // A backslash at the end means nothing; two of them keep the slash behind it.
                f.write_char('\\')?;
                f.write_char(chars.next().unwrap_or('\\'))?;
            }
            _ => f.write_char(c)?,
        }
    }
    f.write_char('/')
}

fn print_fuzziness(fuzziness: Fuzziness, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "~{}", fuzziness.distance)?;
    if fuzziness.prefix_len > 0 {
        write!(f, "/{}", fuzziness.prefix_len)?;
    }
    f.write_str(if fuzziness.transpositions { "" } else { "!" })
}

fn print_bound(bound: &Bound<String>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match bound {
        Bound::Included(value) | Bound::Excluded(value) => print_value(value, f),
        Bound::Unbounded => f.write_char('*'),
    }
}

/// Prints a value of a list or a range: bare if nothing in it could mean anything.
fn print_value(value: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    match value != "TO" && !value.is_empty() && value.chars().all(plain) {
        true => f.write_str(value),
        false => print_quoted(value, f),
    }
}
