//! [`Query`] → [`Normal`]: words become terms of fields, and the tree becomes as small as the laws
//! of set algebra make it ([`algebra`]), before anything is known about the documents.
//!
//! What changes the meaning of the text in a way its author may not expect is said in a note.
//!
//! Cost: linear in the terms, times the depth of the tree.

mod algebra;
mod clause;
mod fields;
mod joined;
#[cfg(test)]
mod laws;
mod limits;
mod normal;

use std::ops::Range;

use super::phrase::Shape;
use super::{Place, Query};
use crate::analysis::Analyzers;
use crate::error::{Error, Result};
use crate::ids::FieldId;
use crate::schema::Schema;
pub(in crate::query) use clause::{Clause, Group, Settled, joined};
pub use fields::{COMBINED_WEIGHT_MAX, COMBINED_WEIGHT_MIN};
use joined::JoinedField;
pub(crate) use joined::joined_words;
pub use limits::TERMS_MAX;
pub(in crate::query) use limits::check as check_size;
pub(crate) use normal::Normal;
pub(in crate::query) use normal::nothing;

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
/// [`Query`](crate::error::ErrorKind::Query) for a field that the schema does not have,
/// [`LimitExceeded`](crate::error::ErrorKind::LimitExceeded) for
/// a tree built by hand beyond the parser's limits or beyond [`TERMS_MAX`], and for a phrase with
/// slop of too many words.
pub(crate) fn rewrite(query: &Query, schema: &Schema, analyzers: &Analyzers) -> Result<Rewritten> {
    check_size(query)?;
    let mut rewriter = Rewriter::new(schema, analyzers);
    let normal = rewriter.query(query)?;
    Ok(Rewritten { normal, notes: rewriter.notes })
}

/// Whether documents must meet a condition that stands beside others, or must not where it excludes: the analyzers of
/// its fields leave something of it.
///
/// # Errors
///
/// As [`rewrite`].
pub(crate) fn is_required(
    query: &Query,
    excludes: bool,
    schema: &Schema,
    analyzers: &Analyzers,
) -> Result<bool> {
    check_size(query)?;
    Ok(match Rewriter::new(schema, analyzers).clause(query)? {
        Clause::Whole(_) => true,
        Clause::Partial(..) => excludes,
        Clause::Dropped(_) => false,
    })
}

pub(super) struct Rewriter<'a> {
    pub(super) schema: &'a Schema,
    pub(super) analyzers: &'a Analyzers,
    notes: Vec<String>,
    n_terms: usize,
    /// The default fields, the innermost last, where the query has its own.
    fields: Vec<Vec<FieldId>>,
    /// The fields in which words are read together at the moment.
    together: Vec<JoinedField>,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(schema: &'a Schema, analyzers: &'a Analyzers) -> Self {
        Rewriter { schema, analyzers, notes: vec![], n_terms: 0, fields: vec![], together: vec![] }
    }
}

impl Rewriter<'_> {
    /// The documents that a query means by itself: none where nothing is left of it.
    pub(super) fn query(&mut self, query: &Query) -> Result<Normal> {
        Ok(match self.clause(query)? {
            Clause::Whole(normal) => normal,
            Clause::Partial(normal, why) => {
                self.note(clause::in_other_fields(&why));
                normal
            }
            Clause::Dropped(reason) => {
                self.note(format!("{reason}, so it matches nothing"));
                Normal::Nothing { reason }
            }
        })
    }

    /// What a query means as a part of another.
    pub(super) fn clause(&mut self, query: &Query) -> Result<Clause<Normal>> {
        match query {
            Query::All => Ok(Normal::All.into()),
            Query::Nothing => Ok(nothing("NOT * excludes every document").into()),
            Query::Word { field, text, place } => {
                self.text(field.as_deref(), text, Shape::WORD, place)
            }
            Query::Phrase { field, text, prefix, proximity, place } => {
                let shape = Shape { quoted: true, prefix: *prefix, proximity: *proximity };
                self.text(field.as_deref(), text, shape, place)
            }
            Query::PhraseOf { field, parts, proximity, place } => {
                self.phrase_of(field.as_deref(), parts, *proximity, place)
            }
            Query::Exists { field, place } => Ok(Normal::Exists(self.field(field, place)?).into()),
            Query::And(all) => self.all_of(all),
            Query::Or(any) | Query::DisMax { any, .. } => self.any_of(any),
            Query::Not(query) => {
                let none = match self.clause(query)? {
                    Clause::Whole(it) | Clause::Partial(it, _) => it,
                    // What leaves nothing out by itself says nothing.
                    dropped => return Ok(dropped),
                };
                Ok(self.and(vec![], vec![none]).into())
            }
            Query::Group { must, should, must_not, minimum } => {
                self.group(must, should, must_not, *minimum)
            }
            // What changes scores changes no matches.
            Query::Boost { query, .. } | Query::ConstantScore { query, .. } => self.clause(query),
            Query::Prefix { field, .. }
            | Query::Wildcard { field, .. }
            | Query::Regex { field, .. }
            | Query::Fuzzy { field, .. }
            | Query::Range { field, .. }
            | Query::InSet { field, .. } => self.expand(field.as_deref(), query),
            Query::Fields { fields, combined, query } => {
                self.push_fields(fields, *combined)?;
                let result = self.clause(query);
                self.pop_fields();
                result
            }
        }
    }

    /// Clauses, and whether each only filters.
    fn clauses(&mut self, queries: &[Query]) -> Result<Vec<(Clause<Normal>, bool)>> {
        queries.iter().map(|query| Ok((self.clause(query)?, query.is_filter()))).collect()
    }

    /// What is left of clauses side by side.
    fn settled(&mut self, group: Group<Normal>) -> Clause<Normal> {
        let settled = group.settle(|note| self.note(note));
        settled.map(|Settled { must: mut all, should, minimum, must_not, .. }| {
            match minimum {
                0 => {}
                1 => all.push(self.or(should)),
                minimum => all.push(self.at_least(minimum, should)),
            }
            self.and(all, must_not)
        })
    }

    fn all_of(&mut self, all: &[Query]) -> Result<Clause<Normal>> {
        let all = self.clauses(all)?;
        Ok(self.settled(Group::all(all)))
    }

    fn any_of(&mut self, any: &[Query]) -> Result<Clause<Normal>> {
        if any.is_empty() {
            return Ok(self.or(vec![]).into());
        }
        let any = self.clauses(any)?.into_iter().map(|(clause, _)| clause);
        Ok(self.settled(Group::any(any.collect())))
    }

    fn group(
        &mut self,
        must: &[Query],
        should: &[Query],
        must_not: &[Query],
        minimum: Option<u32>,
    ) -> Result<Clause<Normal>> {
        let all = self.side_by_side(must, true, None)?;
        let noted = self.notes.len();
        // Looked at even where they are dropped: a field that does not exist is an error anywhere.
        let any = self.side_by_side(should, false, minimum)?;
        let any: Vec<_> = any.into_iter().map(|(clause, _)| clause).collect();
        let is_required = all.iter().any(|(clause, _)| matches!(clause, Clause::Whole(_)));
        if is_required && !should.is_empty() && matches!(minimum, None | Some(0)) {
            self.notes.truncate(noted);
            let dropped: Vec<_> = should.iter().map(|query| format!("'{query}'")).collect();
            self.note(format!(
                "beside a clause that must match, {} changes no matches, only scores",
                shortened(&dropped.join(", "))
            ));
        }
        let none = self.clauses(must_not)?.into_iter().map(|(clause, _)| clause).collect();
        Ok(self.settled(Group { must: all, should: any, must_not: none, minimum }))
    }

    /// A word or a quoted value, in its field or in all default fields.
    fn text(
        &mut self,
        field: Option<&str>,
        text: &str,
        shape: Shape,
        place: &Place,
    ) -> Result<Clause<Normal>> {
        if let Some(state) = self.state(field, text, place)? {
            return Ok(state.into());
        }
        self.in_each_field(field, text, place, |this, field| this.words(field, text, shape, place))
    }

    pub(super) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
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

#[cfg(test)]
mod tests {
    use super::limits::LEVELS_MAX;
    use super::*;
    use crate::analysis::{Analyzer, Synonyms};
    use crate::error::ErrorKind;
    use crate::query::{CLAUSES_MAX, DEPTH_MAX, ParseOptions, parse};

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
            ("title:(a AND \"--\")", "title:a"),
            ("title:(a OR \"--\")", "title:a"),
            ("title:(a -\"--\")", "title:a"),
            ("title:(-a -\"--\")", "NOT title:a"),
            ("NOT title:--", "NOT *"),
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
        assert_eq!(
            reason("body:-- AND title:--"),
            "'--' has no letter or digit to find in 'body'; '--' has no letter or digit to find in 'title'"
        );
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
}
