//! [`Query`] → [`Normal`]: words become terms of fields, and the tree becomes as small as the laws
//! of set algebra make it, before anything is known about the documents.
//!
//! What changes the meaning of the text in a way its author may not expect is said in a note.
//! Laws applied: flattening, duplicates, everything and nothing, double negation, complement
//! (`a AND NOT a`), absorption (`a AND (a OR b)`), and that a document with a term in a field has
//! the field. Negation moves up until it stands at the root or beside something positive:
//! `a OR NOT b` becomes `NOT (b -a)`, so that nothing below the root counts absent documents.
//!
//! Cost: linear in the terms, times the depth of the tree.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::phrase::{PhraseSpec, Shape};
use super::{Boost, CLAUSES_MAX, DEPTH_MAX, Place, Query};
use crate::analysis::Analyzers;
use crate::error::{Error, ErrorKind, Result};
use crate::expansion::Expansion;
use crate::ids::FieldId;
use crate::schema::{Field, FieldKind, Schema};

/// Terms a query may have at the most after analysis, counted once a field.
pub const TERMS_MAX: usize = 4_096;
/// Up to this many queries are compared with each other; more are hashed.
const FEW: usize = 8;
/// Levels of a tree at the most; one parenthesis gives at most six: fields, weight, OR, group, AND, NOT.
const LEVELS_MAX: usize = 6 * (DEPTH_MAX + 1);
/// Names of fields listed in a message at the most.
const NAMES_SHOWN: usize = 20;
/// Reasons given for an empty result at the most.
const REASONS_SHOWN: usize = 3;

/// A query of terms, with no more operators than it needs.
///
/// Nothing stands inside another node of its kind, twice beside itself, or where it decides alone:
/// `All` and `Nothing` are the whole query or not there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Normal {
    /// Every document.
    All,
    /// No document, and why.
    Nothing { reason: String },
    /// Documents with this term in this field.
    Term { field: FieldId, term: Vec<u8> },
    /// Documents with one of the terms that a pattern stands for.
    Expand { field: FieldId, terms: Expansion },
    /// Documents with these words of this field, standing as they should.
    Phrase { field: FieldId, phrase: Arc<PhraseSpec> },
    /// Documents that have the field.
    Exists(FieldId),
    /// Documents that match all of `all` and none of `none`.
    ///
    /// Neither holds an `And` in `all` or an `Or` in `none`. Only at the root may `all` be empty:
    /// every document but those of `none`.
    And { all: Vec<Normal>, none: Vec<Normal> },
    /// Documents that match one of these; at least two.
    Or(Vec<Normal>),
    /// Documents that match so many of these: at least two, and fewer than there are. Here `And`
    /// may be without `all`.
    AtLeast { minimum: u32, any: Vec<Normal> },
}

/// What [`rewrite`] made of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rewritten {
    pub(crate) normal: Normal,
    /// What was taken otherwise than it may have been meant, one sentence each.
    pub(crate) notes: Vec<String>,
}

/// Finds the fields and terms that a query means and simplifies it.
///
/// # Errors
///
/// [`ErrorKind::Query`] for a field that the schema does not have, [`ErrorKind::LimitExceeded`] for
/// a tree built by hand beyond the parser's limits or beyond [`TERMS_MAX`], and for a phrase with
/// slop of too many words.
pub(crate) fn rewrite(query: &Query, schema: &Schema, analyzers: &Analyzers) -> Result<Rewritten> {
    check_limits(query)?;
    let mut rewriter = Rewriter::new(schema, analyzers);
    let normal = rewriter.query(query)?;
    Ok(Rewritten { normal, notes: rewriter.notes })
}

impl Normal {
    /// Prints in query syntax; the names of fields are the schema's.
    pub(crate) fn display(&self, schema: &Schema) -> impl fmt::Display + use<> {
        self.to_query(schema)
    }

    /// A query that means the same.
    fn to_query(&self, schema: &Schema) -> Query {
        let queries = |normals: &[Normal]| -> Vec<Query> {
            normals.iter().map(|normal| normal.to_query(schema)).collect()
        };
        match self {
            Normal::All => Query::All,
            Normal::Nothing { .. } => Query::Nothing,
            Normal::Term { field, term } => {
                let field = schema.get(*field);
                let text = String::from_utf8_lossy(term);
                match field.kind {
                    FieldKind::Text => Query::word_in(&*field.name, text),
                    FieldKind::Keyword => Query::value(&*field.name, text),
                }
            }
            Normal::Phrase { field, phrase } => phrase.to_query(&schema.get(*field).name),
            Normal::Expand { field, terms } => {
                Query::of_terms(terms).in_field(&*schema.get(*field).name)
            }
            Normal::Exists(field) => Query::exists(&*schema.get(*field).name),
            Normal::Or(any) => Query::any_of(queries(any)),
            Normal::AtLeast { minimum, any } => Query::Group {
                must: vec![],
                should: queries(any),
                must_not: vec![],
                minimum: Some(*minimum),
            },
            Normal::And { all, none } => {
                let all = queries(all);
                let should = if all.is_empty() { vec![] } else { vec![Query::all_of(all)] };
                Query::group(vec![], should, queries(none))
            }
        }
    }
}

/// Walks the tree without recursion, so that one built by hand cannot exhaust the stack later.
fn check_limits(query: &Query) -> Result<()> {
    let too_much = |what: String, found: usize| {
        Err(Error::new(ErrorKind::LimitExceeded, "rewriting the query")
            .expected(what)
            .found(found.to_string()))
    };
    let mut n_clauses = usize::from(query.is_leaf());
    // Operators inside operators; a query of words has none, and so allocates nothing here.
    let mut todo = vec![];
    let mut next = Some((query, 1));
    while let Some((query, level)) = next {
        let mut deepest = level;
        for child in query.children() {
            deepest = level + 1;
            match child.is_leaf() {
                true => n_clauses += 1,
                false => todo.push((child, level + 1)),
            }
        }
        if deepest > LEVELS_MAX {
            return too_much(format!("at most {LEVELS_MAX} levels of operators"), deepest);
        }
        if n_clauses > CLAUSES_MAX {
            let what = format!("at most {CLAUSES_MAX} words and values (limit CLAUSES_MAX)");
            return too_much(what, n_clauses);
        }
        next = todo.pop();
    }
    Ok(())
}

pub(super) struct Rewriter<'a> {
    pub(super) schema: &'a Schema,
    pub(super) analyzers: &'a Analyzers,
    notes: Vec<String>,
    n_terms: usize,
    /// The default fields, the innermost last, where the query has its own.
    fields: Vec<Vec<FieldId>>,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(schema: &'a Schema, analyzers: &'a Analyzers) -> Self {
        Rewriter { schema, analyzers, notes: vec![], n_terms: 0, fields: vec![] }
    }
}

impl Rewriter<'_> {
    pub(super) fn query(&mut self, query: &Query) -> Result<Normal> {
        match query {
            Query::All => Ok(Normal::All),
            Query::Nothing => Ok(nothing("NOT * excludes every document")),
            Query::Word { field, text, place } => {
                self.clause(field.as_deref(), text, Shape::WORD, place)
            }
            Query::Phrase { field, text, prefix, proximity, place } => {
                let shape = Shape { quoted: true, prefix: *prefix, proximity: *proximity };
                self.clause(field.as_deref(), text, shape, place)
            }
            Query::Exists { field, place } => Ok(Normal::Exists(self.field(field, place)?)),
            Query::And(all) => {
                let all = self.queries(all)?;
                Ok(self.and(all, vec![]))
            }
            Query::Or(any) => {
                let any = self.queries(any)?;
                Ok(self.or(any))
            }
            Query::Not(query) => {
                let query = self.query(query)?;
                Ok(self.and(vec![], vec![query]))
            }
            Query::Group { must, should, must_not, minimum } => {
                self.group(must, should, must_not, *minimum)
            }
            Query::DisMax { any, .. } => {
                let any = self.queries(any)?;
                Ok(self.or(any))
            }
            // What changes scores changes no matches.
            Query::Boost { query, .. } | Query::ConstantScore { query, .. } => self.query(query),
            Query::Prefix { field, .. }
            | Query::Wildcard { field, .. }
            | Query::Regex { field, .. }
            | Query::Fuzzy { field, .. }
            | Query::Range { field, .. }
            | Query::InSet { field, .. } => self.expand(field.as_deref(), query),
            Query::Fields { fields, query } => {
                self.push_fields(fields)?;
                let result = self.query(query);
                self.pop_fields();
                result
            }
        }
    }

    /// Makes these the default fields until [`pop_fields`](Self::pop_fields).
    pub(super) fn push_fields(&mut self, fields: &[(String, Boost)]) -> Result<Vec<FieldId>> {
        let ids = fields.iter().map(|(name, _)| self.field(name, &Place::default()));
        let ids: Vec<_> = ids.collect::<Result<_>>()?;
        self.fields.push(ids.clone());
        Ok(ids)
    }

    pub(super) fn pop_fields(&mut self) {
        self.fields.pop();
    }

    fn queries(&mut self, queries: &[Query]) -> Result<Vec<Normal>> {
        queries.iter().map(|query| self.query(query)).collect()
    }

    fn group(
        &mut self,
        must: &[Query],
        should: &[Query],
        must_not: &[Query],
        minimum: Option<u32>,
    ) -> Result<Normal> {
        let mut all = self.queries(must)?;
        let noted = self.notes.len();
        // Looked at even where they are dropped: a field that does not exist is an error anywhere.
        let any = self.queries(should)?;
        if let Some(minimum @ 1..) = minimum {
            all.push(self.at_least(minimum, any));
        } else if must.is_empty() && !should.is_empty() && minimum.is_none() {
            all = vec![self.or(any)];
        } else if !should.is_empty() && !must.is_empty() {
            self.notes.truncate(noted);
            let dropped: Vec<_> = should.iter().map(|query| format!("'{query}'")).collect();
            self.note(format!(
                "beside a clause that must match, {} changes no matches, only scores",
                shortened(&dropped.join(", "))
            ));
        }
        let none = self.queries(must_not)?;
        Ok(self.and(all, none))
    }

    /// A word or a quoted value, in its field or in all default fields.
    fn clause(
        &mut self,
        field: Option<&str>,
        text: &str,
        shape: Shape,
        place: &Place,
    ) -> Result<Normal> {
        self.in_each_field(field, text, place, |this, field| this.words(field, text, shape, place))
    }

    /// What `meaning` says of one field, or of all default fields as alternatives.
    pub(super) fn in_each_field(
        &mut self,
        field: Option<&str>,
        text: &str,
        place: &Place,
        mut meaning: impl FnMut(&mut Self, FieldId) -> Result<Normal>,
    ) -> Result<Normal> {
        if let Some(name) = field {
            let field = self.field(name, place)?;
            return meaning(self, field);
        }
        let own = self.fields.last().cloned();
        let fields = own.as_deref().unwrap_or(self.schema.default_field_ids());
        if let [field] = fields {
            return meaning(self, *field);
        }
        if fields.is_empty() {
            return Err(located(&place.text, Error::new(ErrorKind::Query, "looking up a word"))
                .expected("a field: the schema has no default fields")
                .found(format!("'{text}' alone"))
                .hint(format!("name one of {}", self.names())));
        }
        let any = fields.iter().map(|field| meaning(self, *field));
        let any = any.collect::<Result<_>>()?;
        Ok(self.or(any))
    }

    pub(super) fn has_room_for_terms(&self) -> bool {
        self.n_terms < TERMS_MAX
    }

    pub(super) fn count_terms(&mut self, n: usize, place: &Place) -> Result<()> {
        self.n_terms += n;
        if self.n_terms <= TERMS_MAX {
            return Ok(());
        }
        let error = Error::new(ErrorKind::LimitExceeded, "splitting the words of the query")
            .expected(format!("at most {TERMS_MAX} terms (limit TERMS_MAX)"))
            .found(format!("{} or more", self.n_terms));
        Err(located(&place.text, error))
    }

    fn field(&self, name: &str, place: &Place) -> Result<FieldId> {
        if let Some(id) = self.schema.field_id(name) {
            return Ok(id);
        }
        let error = Error::new(ErrorKind::Query, "looking up a field of the query")
            .expected(format!("one of the fields {}", self.names()))
            .found(format!("'{name}'"));
        let error = located(&place.field, error);
        Err(match closest(name, self.schema.fields()) {
            Some(known) => error.hint(format!("did you mean '{known}'?")),
            None => error.hint("write \\: where the colon is part of a word"),
        })
    }

    /// The fields of the schema for a message.
    fn names(&self) -> String {
        let fields = self.schema.fields();
        let names: Vec<_> = fields.iter().take(NAMES_SHOWN).map(|field| &*field.name).collect();
        match fields.len().saturating_sub(NAMES_SHOWN) {
            0 => names.join(", "),
            more => format!("{} and {more} more", names.join(", ")),
        }
    }

    pub(super) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// What matches all of `all` and none of `none`, from nodes that are normal.
    pub(super) fn and(&mut self, mut all: Vec<Normal>, mut none: Vec<Normal>) -> Normal {
        if none.is_empty() && are_few_terms(&all) {
            return match distinct(all) {
                mut one if one.len() == 1 => one.remove(0),
                all if all.is_empty() => Normal::All,
                all => Normal::And { all, none },
            };
        }
        loop {
            all = match flatten_all(all, &mut none) {
                Ok(all) => all,
                Err(nothing) => return nothing,
            };
            match self.or(none) {
                Normal::All => return nothing("every document is excluded"),
                Normal::Nothing { .. } => none = vec![],
                Normal::Or(any) => none = any,
                // All but all but these: these.
                Normal::And { all: some, none: not } if some.is_empty() => {
                    let positive = self.or(not);
                    all.push(positive);
                    none = vec![];
                    continue;
                }
                one => none = vec![one],
            }
            let excluded: HashSet<&Normal> = none.iter().collect();
            let both = || all.iter().find(|query| is_part_of(query, &excluded));
            if let Some(both) = (!none.is_empty()).then(both).flatten() {
                let reason = format!("'{}' is asked for and excluded", both.display(self.schema));
                self.note(format!("{reason}, so nothing matches both"));
                return Normal::Nothing { reason };
            }
            if !shrink_alternatives(&mut all, &none) {
                break;
            }
        }
        match (all.len(), none.len()) {
            (0, 0) => Normal::All,
            (1, 0) => all.remove(0),
            _ => Normal::And { all, none },
        }
    }

    /// What matches one of `any`, from nodes that are normal.
    pub(super) fn or(&mut self, any: Vec<Normal>) -> Normal {
        if !any.is_empty() && are_few_terms(&any) {
            return match distinct(any) {
                mut one if one.len() == 1 => one.remove(0),
                any => Normal::Or(any),
            };
        }
        let mut reasons = vec![];
        let mut positive = vec![];
        let mut negative = vec![];
        for query in any {
            match query {
                Normal::All => return Normal::All,
                Normal::Nothing { reason } => reasons.push(reason),
                Normal::Or(inner) => positive.extend(inner),
                Normal::And { all, none } if all.is_empty() => negative.push(none),
                other => positive.push(other),
            }
        }
        if !negative.is_empty() {
            return self.or_not(positive, negative);
        }
        let mut any = without_parts(without_duplicates(positive));
        match any.len() {
            0 => {
                let mut seen = HashSet::new();
                reasons.retain(|reason| seen.insert(reason.clone()));
                reasons.truncate(REASONS_SHOWN);
                nothing(reasons.join("; "))
            }
            1 => any.remove(0),
            _ => Normal::Or(any),
        }
    }

    /// What matches `minimum` of `any`, from nodes that are normal; the same one twice counts twice.
    fn at_least(&mut self, mut minimum: u32, any: Vec<Normal>) -> Normal {
        let asked = any.len();
        let mut kept = vec![];
        for query in any {
            match query {
                Normal::Nothing { .. } => {}
                Normal::All => minimum -= 1,
                other => kept.push(other),
            }
            if minimum == 0 {
                return Normal::All;
            }
        }
        match kept.len() as u64 {
            n if u64::from(minimum) > n => {
                nothing(format!("no document can match {minimum} of {asked} alternatives"))
            }
            n if u64::from(minimum) == n => self.and(kept, vec![]),
            _ if minimum == 1 => self.or(kept),
            _ => Normal::AtLeast { minimum, any: kept },
        }
    }

    /// `a OR NOT b` as `NOT (b AND NOT a)`.
    fn or_not(&mut self, positive: Vec<Normal>, negative: Vec<Vec<Normal>>) -> Normal {
        let noted = self.notes.len();
        let negative = negative.into_iter().map(|none| self.or(none)).collect();
        let missed = self.and(negative, positive);
        // That nothing is missed is no bad news about what was asked.
        self.notes.truncate(noted);
        self.and(vec![], vec![missed])
    }
}

/// The usual query: a few words, to which no law but idempotence applies. Told apart because the
/// laws, which must be fast for thousands of clauses, take longer than such a query itself.
fn are_few_terms(queries: &[Normal]) -> bool {
    queries.len() <= FEW && queries.iter().all(|query| matches!(query, Normal::Term { .. }))
}

/// A few queries, each once, in order.
fn distinct(mut queries: Vec<Normal>) -> Vec<Normal> {
    let mut kept = 0;
    for at in 0..queries.len() {
        if !queries[..kept].contains(&queries[at]) {
            queries.swap(kept, at);
            kept += 1;
        }
    }
    queries.truncate(kept);
    queries
}

pub(super) fn nothing(reason: impl Into<String>) -> Normal {
    Normal::Nothing { reason: reason.into() }
}

/// Opens up what is joined already, and drops repetitions and what says nothing; `Err` is the node
/// that matches nothing.
fn flatten_all(all: Vec<Normal>, none: &mut Vec<Normal>) -> Result<Vec<Normal>, Normal> {
    let mut flat = vec![];
    for query in all {
        match query {
            Normal::All => {}
            Normal::Nothing { .. } => return Err(query),
            Normal::And { all, none: not } => {
                flat.extend(all);
                none.extend(not);
            }
            other => flat.push(other),
        }
    }
    let mut flat = without_duplicates(flat);
    if flat.iter().any(|query| matches!(query, Normal::Exists(_))) {
        // A document with a term in a field has the field.
        let fields: HashSet<FieldId> = flat.iter().filter_map(field_of_term).collect();
        flat.retain(|query| !matches!(query, Normal::Exists(field) if fields.contains(field)));
    }
    Ok(flat)
}

fn field_of_term(query: &Normal) -> Option<FieldId> {
    match query {
        Normal::Term { field, .. }
        | Normal::Expand { field, .. }
        | Normal::Phrase { field, .. } => Some(*field),
        _ => None,
    }
}

fn without_duplicates(queries: Vec<Normal>) -> Vec<Normal> {
    if queries.len() <= FEW {
        let different = |at: usize| !queries[..at].contains(&queries[at]);
        if (1..queries.len()).all(different) {
            return queries;
        }
    }
    let mut seen = HashSet::with_capacity(queries.len());
    let first = queries.iter().map(|query| seen.insert(query)).collect();
    keep(queries, first)
}

/// The queries whose flag is set.
fn keep(queries: Vec<Normal>, kept: Vec<bool>) -> Vec<Normal> {
    let flagged = queries.into_iter().zip(kept);
    flagged.filter_map(|(query, kept)| kept.then_some(query)).collect()
}

/// Whether every document of `query` is one of `any`, as far as it shows without unfolding.
fn is_part_of(query: &Normal, any: &HashSet<&Normal>) -> bool {
    let exists = || field_of_term(query).is_some_and(|field| any.contains(&Normal::Exists(field)));
    any.contains(query) || exists()
}

/// Drops alternatives that are part of another: `a OR (a AND b)`, `title:a OR title:*`.
fn without_parts(any: Vec<Normal>) -> Vec<Normal> {
    if !any.iter().any(|query| matches!(query, Normal::And { .. } | Normal::Exists(_))) {
        return any;
    }
    let whole: HashSet<&Normal> = any.iter().collect();
    let kept = any.iter().map(|query| match query {
        Normal::And { all, .. } => !all.iter().any(|query| is_part_of(query, &whole)),
        Normal::Term { field, .. }
        | Normal::Expand { field, .. }
        | Normal::Phrase { field, .. } => !whole.contains(&Normal::Exists(*field)),
        _ => true,
    });
    let kept = kept.collect();
    keep(any, kept)
}

/// Beside `a` and without `b`, `(a OR c)` says nothing and `(b OR c)` means `c`. Returns whether
/// anything changed.
fn shrink_alternatives(all: &mut Vec<Normal>, none: &[Normal]) -> bool {
    if !all.iter().any(|query| matches!(query, Normal::Or(_))) {
        return false;
    }
    let excluded: HashSet<&Normal> = none.iter().collect();
    let (alternatives, mut kept): (Vec<_>, Vec<_>) =
        std::mem::take(all).into_iter().partition(|query| matches!(query, Normal::Or(_)));
    let required: HashSet<Normal> = kept.iter().cloned().collect();
    let mut changed = false;
    for query in alternatives {
        let Normal::Or(mut any) = query else { continue };
        let n_before = any.len();
        if any.iter().any(|query| required.contains(query)) {
            changed = true;
            continue;
        }
        any.retain(|query| !is_part_of(query, &excluded));
        changed |= any.len() < n_before;
        kept.push(match any.len() {
            0 => nothing("every alternative is excluded"),
            1 => any.remove(0),
            _ => Normal::Or(any),
        });
    }
    *all = kept;
    changed
}

/// Adds the place where one is known.
pub(super) fn located(place: &Option<Range<usize>>, error: Error) -> Error {
    match place {
        Some(span) => error.at_span(span.clone()),
        None => error,
    }
}

/// The start of a text, for a message.
pub(super) fn shortened(text: &str) -> String {
    const CHARS_SHOWN: usize = 60;
    match text.char_indices().nth(CHARS_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The field whose name is the least edits away, if it is few enough to be a slip.
fn closest<'f>(name: &str, fields: &'f [Field]) -> Option<&'f str> {
    let name: Vec<char> = name.chars().flat_map(char::to_lowercase).collect();
    let edits_max = name.len().div_ceil(3).min(3);
    let candidates = fields.iter().filter_map(|field| {
        let known: Vec<char> = field.name.chars().flat_map(char::to_lowercase).collect();
        let far = known.len().abs_diff(name.len()) > edits_max;
        (!far).then(|| (edits(&name, &known), &*field.name))
    });
    let (edits, known) = candidates.min_by_key(|(edits, _)| *edits)?;
    (edits <= edits_max).then_some(known)
}

/// Characters to insert, delete or replace to make one word the other.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::analysis::{Analyzer, Synonyms};
    use crate::query::{ParseOptions, Proximity, parse};

    fn schema() -> Schema {
        Schema::builder().text("title").text("body").keyword("kind").build().unwrap()
    }

    fn rewritten(text: &str) -> Result<(String, Vec<String>)> {
        let query = parse(text, &ParseOptions::default())?;
        let rewritten = rewrite(&query, &schema(), &Analyzers::default())?;
        Ok((rewritten.normal.display(&schema()).to_string(), rewritten.notes))
    }

    #[test]
    fn queries_become_small() {
        let cases = [
            ("title:A", "title:a"),
            ("a", "title:a OR body:a"),
            ("kind:Abc", "kind:\"Abc\""),
            ("kind:\"A b\"", "kind:\"A b\""),
            ("title:\"Abc!\"", "title:abc"),
            ("title:AC/DC", "title:\"ac dc\""),
            ("title:\"of Mice, of men\"~2", "title:\"of mice of men\"~2"),
            ("title:\"of Mi\"*", "title:\"of mi\"*"),
            ("title:\"Mi\"*~>3", "title:mi*"),
            ("kind:\"A b\"*~2", "kind:A\\ b*"),
            ("title:\"a b\" AND title:*", "title:\"a b\""),
            ("title:\"a b\" AND NOT title:\"a b\"", "NOT *"),
            ("title:la-la", "title:\"la la\""),
            ("title:(a AND (b AND (c AND a)))", "title:a AND title:b AND title:c"),
            ("title:(a OR (b OR a))", "title:a OR title:b"),
            ("title:(a AND (b OR c) -d)", "title:a AND (title:b OR title:c) -title:d"),
            ("title:(a AND *)", "title:a"),
            ("title:a AND *", "title:a"),
            ("title:a OR *", "*"),
            ("title:a -*", "NOT *"),
            ("NOT (NOT title:a)", "title:a"),
            ("-title:a -title:b", "-title:a -title:b"),
            ("NOT (title:a OR title:b)", "-title:a -title:b"),
            ("NOT (-title:a -title:b)", "title:a OR title:b"),
            ("title:a AND NOT title:a", "NOT *"),
            ("title:a OR NOT title:a", "*"),
            ("title:a OR NOT title:b", "NOT (title:b -title:a)"),
            ("NOT title:a OR NOT title:b", "NOT (title:a AND title:b)"),
            ("title:(a AND (a OR b))", "title:a"),
            ("title:(a OR (a AND b))", "title:a"),
            ("title:((a OR b) -a)", "title:b -title:a"),
            ("title:((a OR b) -a -b)", "NOT *"),
            ("title:a AND title:*", "title:a"),
            ("title:a OR title:*", "title:*"),
            ("title:a -title:*", "NOT *"),
            ("title:a -(title:b title:*)", "NOT *"),
            ("title:(a AND \"--\")", "NOT *"),
            ("title:(a OR \"--\")", "title:a"),
            ("title:(a -\"--\")", "title:a"),
            ("title:(+a b -c)", "title:a -title:c"),
        ];
        for (text, expected) in cases {
            assert_eq!(rewritten(text).unwrap().0, expected, "{text}");
        }
    }

    #[test]
    fn what_is_taken_otherwise_is_noted() {
        let cases = [
            ("title:a", ""),
            (
                "title:AC/DC",
                "'AC/DC' is several words in 'title': ac dc must stand next to each other",
            ),
            (
                "title:(+a b (c d))",
                "beside a clause that must match, 'title:b', 'title:c title:d' changes no",
            ),
            (
                "title:\"...\"",
                "'...' has no letter or digit to find in 'title', so it matches nothing",
            ),
            ("title:(a AND b -a)", ""),
            (
                "title:a AND -title:a",
                "'title:a' is asked for and excluded, so nothing matches both",
            ),
            ("title:a OR -title:a", ""),
            ("title:(+a AC/DC)", "beside a clause"),
        ];
        for (text, expected) in cases {
            let (_, notes) = rewritten(text).unwrap();
            let fits = match expected {
                "" if text.contains("b -a") => notes.len() == 1,
                "" => notes.is_empty(),
                _ => notes.len() == 1 && notes[0].starts_with(expected),
            };
            assert!(fits, "{text}: {notes:?}");
        }
    }

    #[test]
    fn synonyms_of_a_field_are_looked_up_in_their_place() {
        let rules = "usa, united states\ntv => television";
        let rules = Synonyms::parse(rules, &Analyzer::default()).unwrap();
        let analyzers = Analyzers::default().synonyms("title", rules);
        let rewritten = |text: &str| {
            let query = parse(text, &ParseOptions::default())?;
            let rewritten = rewrite(&query, &schema(), &analyzers)?;
            Ok::<_, Error>(rewritten.normal.display(&schema()).to_string())
        };
        for (text, expected) in [
            ("title:usa", "title:usa OR title:\"united states\""),
            ("title:tv", "title:television"),
            ("title:\"tv\"", "title:television"),
            ("title:\"usa\"", "title:usa OR title:\"united states\""),
            ("title:\"the usa now\"", "title:\"the usa now\" OR title:\"the united states now\""),
            ("title:\"United States\"~1", "title:\"united states\"~1 OR title:usa"),
            ("body:tv", "body:tv"),
            ("title:TV-x", "title:\"television x\""),
            ("title:\"?\"", "NOT *"),
        ] {
            let expected = parse(expected, &ParseOptions::default()).unwrap();
            let expected = rewrite(&expected, &schema(), &Analyzers::default()).unwrap().normal;
            let expected = expected.display(&schema()).to_string();
            assert_eq!(rewritten(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn nothing_says_why() {
        let reason = |text: &str| {
            let query = parse(text, &ParseOptions::default()).unwrap();
            match rewrite(&query, &schema(), &Analyzers::default()).unwrap().normal {
                Normal::Nothing { reason } => reason,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(reason("title:a AND -title:a"), "'title:a' is asked for and excluded");
        assert_eq!(reason("kind:x AND title:--"), "'--' has no letter or digit to find in 'title'");
        assert_eq!(
            reason("\"?\""),
            "'?' has no letter or digit to find in 'title'; '?' has no letter or digit to find in 'body'"
        );
    }

    #[test]
    fn what_the_schema_cannot_answer_is_refused_where_it_stands() {
        let error = |text: &str| rewritten(text).unwrap_err();
        let unknown = error("a titel:(b c)");
        assert_eq!(unknown.kind(), ErrorKind::Query);
        assert_eq!(unknown.span(), Some(2..7));
        assert_eq!(
            unknown.to_string(),
            "looking up a field of the query: expected one of the fields title, body, kind, found 'titel' \
             (at byte 2 of the query); did you mean 'title'?"
        );
        assert!(
            error("http:x").to_string().ends_with("write \\: where the colon is part of a word")
        );
        assert!(error("KIND:x").to_string().ends_with("did you mean 'kind'?"));
        assert_eq!(
            error("+title:a no:b").kind(),
            ErrorKind::Query,
            "dropped, but wrong all the same"
        );

        let keywords = Schema::builder().keyword("kind").build().unwrap();
        let error = rewrite(&Query::word("a"), &keywords, &Analyzers::default()).unwrap_err();
        assert!(error.to_string().contains("no default fields"), "{error}");
    }

    #[test]
    fn trees_built_by_hand_have_limits_too() {
        let refused = |query: &Query| {
            let error = rewrite(query, &schema(), &Analyzers::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
        };
        let mut deep = Query::word("a");
        for _ in 0..LEVELS_MAX {
            deep = Query::Not(Box::new(deep));
        }
        refused(&deep);
        refused(&Query::Or(vec![Query::word("a"); CLAUSES_MAX + 1]));
        refused(&Query::word("a-".repeat(TERMS_MAX)));
    }

    #[test]
    fn the_largest_query_of_the_parser_is_rewritten() {
        let text =
            format!("{}a{}", "a OR b -(c AND (".repeat(DEPTH_MAX / 2), "))".repeat(DEPTH_MAX / 2));
        assert!(rewritten(&text).is_ok());
        let wide: String = (0..CLAUSES_MAX / 2).map(|n| format!("(w{n} OR x) -w{n} ")).collect();
        assert!(rewritten(&wide).is_err(), "2 x 1.5 x 512 clauses are too many");
        let wide: String = (0..CLAUSES_MAX / 4).map(|n| format!("(w{n} OR x{n}) -w{n} ")).collect();
        assert!(rewritten(&wide).is_ok());
    }

    /// A document as the laws see it: which words and values each field has, if it has the field.
    #[derive(Clone, Debug)]
    struct Doc([Option<Vec<&'static str>>; 3]);

    /// Every document there can be with two words and two values.
    fn universe() -> Vec<Doc> {
        let texts = [
            None,
            Some(vec![]),
            Some(vec!["a"]),
            Some(vec!["b"]),
            Some(vec!["a", "b"]),
            Some(vec!["b", "a"]),
        ];
        let mut docs = vec![];
        for title in &texts {
            for body in &texts[..3] {
                for kind in [None, Some(vec!["a"]), Some(vec!["a-b", "a"]), Some(vec![""])] {
                    docs.push(Doc([title.clone(), body.clone(), kind]));
                }
            }
        }
        docs
    }

    /// What the documentation of [`Query`] says, word for word.
    fn asked(query: &Query, doc: &Doc) -> bool {
        let all = |queries: &[Query]| queries.iter().all(|query| asked(query, doc));
        let any = |queries: &[Query]| queries.iter().any(|query| asked(query, doc));
        let has = |field: usize, term: &str| {
            doc.0[field].as_ref().is_some_and(|terms| terms.contains(&term))
        };
        let at = |name: &str| schema().field_id(name).unwrap().index();
        match query {
            Query::All => true,
            Query::Nothing => false,
            Query::Word { field, text, .. } | Query::Phrase { field, text, .. } => {
                let fields = field.as_ref().map_or(vec![0, 1], |name| vec![at(name)]);
                fields.into_iter().any(|field| {
                    let terms = Analyzer::default().tokens(text);
                    match field {
                        2 => has(2, text),
                        _ if terms.is_empty() => false,
                        _ => doc.0[field].as_ref().is_some_and(|words| {
                            words.windows(terms.len()).any(|words| words == &terms[..])
                        }),
                    }
                })
            }
            Query::Exists { field, .. } => doc.0[at(field)].is_some(),
            Query::And(queries) => all(queries),
            Query::Or(queries) => any(queries),
            Query::Not(query) => !asked(query, doc),
            Query::DisMax { any: queries, .. } => any(queries),
            Query::Boost { query, .. } | Query::ConstantScore { query, .. } => asked(query, doc),
            Query::Group { must, should, must_not, minimum: Some(minimum) } => {
                let n = should.iter().filter(|query| asked(query, doc)).count();
                all(must) && n >= *minimum as usize && !any(must_not)
            }
            Query::Group { must, should, must_not, .. } => {
                let enough = !must.is_empty() || should.is_empty() || any(should);
                all(must) && enough && !any(must_not)
            }
            other => unreachable!("{other:?}"),
        }
    }

    fn matches(normal: &Normal, doc: &Doc) -> bool {
        match normal {
            Normal::All => true,
            Normal::Nothing { .. } => false,
            Normal::Term { field, term } => {
                let terms = doc.0[field.index()].as_ref();
                terms.is_some_and(|terms| terms.iter().any(|other| other.as_bytes() == term))
            }
            Normal::Phrase { field, phrase } => {
                assert!(phrase.last.is_none() && phrase.proximity == Proximity::Exact);
                let terms = doc.0[field.index()].as_deref().unwrap_or_default();
                (0..terms.len()).any(|start| {
                    phrase.words.iter().all(|word| {
                        let term = terms.get(start + word.offset as usize);
                        let wanted = &phrase.terms[word.term as usize];
                        term.is_some_and(|term| term.as_bytes() == wanted)
                    })
                })
            }
            Normal::Expand { field, terms } => doc.0[field.index()]
                .iter()
                .flatten()
                .any(|term| crate::query::expand::tests::is_meant(terms.pattern(), term)),
            Normal::Exists(field) => doc.0[field.index()].is_some(),
            Normal::And { all, none } => {
                all.iter().all(|query| matches(query, doc))
                    && !none.iter().any(|query| matches(query, doc))
            }
            Normal::Or(any) => any.iter().any(|query| matches(query, doc)),
            Normal::AtLeast { minimum, any } => {
                any.iter().filter(|query| matches(query, doc)).count() >= *minimum as usize
            }
        }
    }

    /// What the documentation of [`Normal`] promises.
    fn is_normal(normal: &Normal, root: bool) -> bool {
        let unique =
            |queries: &[Normal]| queries.iter().collect::<HashSet<_>>().len() == queries.len();
        let below = |queries: &[Normal]| {
            queries.iter().all(|query| is_normal(query, false)) && unique(queries)
        };
        match normal {
            Normal::All | Normal::Nothing { .. } => root,
            Normal::Term { .. }
            | Normal::Expand { .. }
            | Normal::Phrase { .. }
            | Normal::Exists(_) => true,
            Normal::Or(any) => {
                any.len() > 1
                    && below(any)
                    && !any.iter().any(|query| matches!(query, Normal::Or(_)))
            }
            Normal::AtLeast { minimum, any } => {
                (2..any.len()).contains(&(*minimum as usize))
                    && any.iter().all(|query| {
                        !matches!(query, Normal::All | Normal::Nothing { .. })
                            && is_normal(query, true)
                    })
            }
            Normal::And { all, none } => {
                let is_and = |query: &Normal| matches!(query, Normal::And { .. });
                let is_or = |query: &Normal| matches!(query, Normal::Or(_));
                all.len() + none.len() > usize::from(!all.is_empty())
                    && (root || !all.is_empty())
                    && below(all)
                    && below(none)
                    && !all.iter().any(is_and)
                    && !none.iter().any(is_or)
            }
        }
    }

    fn queries() -> impl Strategy<Value = Query> {
        let word = || prop_oneof![Just("a"), Just("b"), Just("A-b"), Just("--"), Just("c")];
        let field = || prop_oneof![Just("title"), Just("body"), Just("kind")];
        let leaf = prop_oneof![
            Just(Query::All),
            Just(Query::Nothing),
            word().prop_map(Query::word),
            (field(), word()).prop_map(|(field, word)| Query::word_in(field, word)),
            prop_oneof![Just(""), Just("a-b"), Just("a")]
                .prop_map(|value| Query::value("kind", value)),
            field().prop_map(Query::exists),
        ];
        leaf.prop_recursive(5, 32, 4, |inner| {
            let some = || prop::collection::vec(inner.clone(), 0..4);
            prop_oneof![
                some().prop_map(Query::And),
                some().prop_map(Query::Or),
                inner.clone().prop_map(|query| Query::Not(Box::new(query))),
                (some(), some(), some(), prop::option::of(0u32..4)).prop_map(
                    |(must, should, must_not, minimum)| Query::Group {
                        must,
                        should,
                        must_not,
                        minimum,
                    }
                ),
                some().prop_map(|any| Query::DisMax { any, tie: super::super::Tie::ZERO }),
                inner.clone().prop_map(Query::filter),
                inner.clone().prop_map(|query| query.boosted(2.0).unwrap()),
            ]
        })
    }

    /// Found by the property below: a negated value as the only alternative of a must clause.
    #[test]
    fn everything_without_an_empty_value_is_asked_and_rewritten_alike() {
        let without = Query::not(Query::value("kind", ""));
        let query = Query::Group {
            must: vec![Query::Or(vec![without])],
            should: vec![],
            must_not: vec![],
            minimum: None,
        };
        let normal = rewrite(&query, &schema(), &Analyzers::default()).unwrap().normal;
        assert!(is_normal(&normal, true), "{normal:?}");
        for doc in universe() {
            assert_eq!(asked(&query, &doc), matches(&normal, &doc), "{normal:?} on {doc:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]

        #[test]
        fn what_was_asked_and_what_it_became_match_the_same_documents(query in queries()) {
            let Rewritten { normal, .. } = rewrite(&query, &schema(), &Analyzers::default()).unwrap();
            prop_assert!(is_normal(&normal, true), "{:?}", normal);
            let same = parse(&query.to_string(), &ParseOptions::default()).unwrap();
            let printed = normal.display(&schema()).to_string();
            let parsed = parse(&printed, &ParseOptions::default()).unwrap();
            for doc in universe() {
                prop_assert_eq!(asked(&query, &doc), matches(&normal, &doc), "{} as {} on {:?}", query, printed, doc);
                prop_assert_eq!(asked(&same, &doc), asked(&query, &doc), "{:?} printed {}", query, query);
                prop_assert_eq!(asked(&parsed, &doc), matches(&normal, &doc), "{} printed {}", query, printed);
            }
            let again = rewrite(&parsed, &schema(), &Analyzers::default()).unwrap().normal;
            prop_assert!(is_normal(&again, true));
        }
    }
}
