//! [`Query`] → [`Logical`]: fields become ids and words become terms, once for all steps.
//!
//! The matching documents follow from the logical tree: [`Normal`], as small as the laws of set algebra make it
//! ([`algebra`]), before anything is known about the documents. A note says if the meaning of the text is changed in a
//! way its author may not expect.
//!
//! Cost: linear in the terms, times the depth of the tree.

mod algebra;
mod areas;
mod beside;
mod binder;
mod clause;
mod fields;
mod joined;
#[cfg(test)]
mod laws;
mod leaf;
mod limits;
mod matching;
mod memory;
mod neighbors;
mod part;
mod selected;

use super::logical::{self, Logical};
pub(in crate::query) use super::normal::{Normal, nothing};
use super::phrase_spec::TextForm;
use super::{Place, Query};
use crate::analysis::Analyzers;
use crate::error::Result;
use crate::schema::Schema;
pub(crate) use binder::BindOptions;
pub(in crate::query) use binder::{Binder, located, shortened};
use clause::Group;
pub(in crate::query) use clause::{Clause, Clauses, joined};
pub use fields::{COMBINED_WEIGHT_MAX, COMBINED_WEIGHT_MIN};
pub(crate) use joined::joined_words;
pub use limits::TERMS_MAX;
pub(in crate::query) use limits::check as check_size;
pub(crate) use memory::BindMemory;
use part::Part;
pub(crate) use selected::BoundSelections;

/// Query in the terms of a schema.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BoundQuery {
    pub(crate) logical: Logical,
    /// Remarks on what was taken otherwise than it may have been meant, one sentence each.
    notes: Vec<String>,
    has_notes: bool,
}

/// The documents that a query means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rewritten {
    pub(crate) normal: Normal,
    /// Notes of [`BoundQuery`], and what the laws of sets have found.
    pub(crate) notes: Vec<String>,
}

/// Finds the fields and terms that a query means.
///
/// # Errors
///
/// [`Query`](crate::error::ErrorKind::Query) for a field that the schema does not have,
/// [`LimitExceeded`](crate::error::ErrorKind::LimitExceeded) for
/// a tree built by hand beyond the parser's limits or beyond [`TERMS_MAX`], and for a phrase with
/// slop of too many words.
pub(crate) fn bind(
    query: &Query,
    schema: &Schema,
    analyzers: &Analyzers,
    options: BindOptions,
    memory: &mut BindMemory,
) -> Result<BoundQuery> {
    check_size(query)?;
    let mut binder = Binder { options, ..Binder::new(schema, analyzers, memory) };
    let logical = binder.query(query)?;
    Ok(BoundQuery { logical, notes: binder.notes, has_notes: options.notes })
}

/// Finds the fields and terms that a query means, and the documents of these.
///
/// # Errors
///
/// Fails like [`bind`].
pub(crate) fn rewrite(query: &Query, schema: &Schema, analyzers: &Analyzers) -> Result<Rewritten> {
    check_size(query)?;
    let options = BindOptions { notes: true, ..BindOptions::default() };
    let mut memory = BindMemory::default();
    let mut binder = Binder { options, ..Binder::new(schema, analyzers, &mut memory) };
    let normal = binder.query(query)?;
    Ok(Rewritten { normal, notes: binder.notes })
}

/// Works like [`rewrite`], if nobody will read notes.
///
/// # Errors
///
/// Fails like [`bind`].
pub(crate) fn matching(query: &Query, schema: &Schema, analyzers: &Analyzers) -> Result<Normal> {
    matching_in(query, schema, analyzers, &mut BindMemory::default())
}

/// Works like [`matching`](matching()), in memory that earlier queries left.
///
/// # Errors
///
/// Fails like [`bind`].
pub(crate) fn matching_in(
    query: &Query,
    schema: &Schema,
    analyzers: &Analyzers,
    memory: &mut BindMemory,
) -> Result<Normal> {
    check_size(query)?;
    Binder::new(schema, analyzers, memory).query(query)
}

/// Whether documents must meet a condition that stands beside others, or must not where it excludes: the analyzers of
/// its fields leave something of it.
///
/// # Errors
///
/// Fails like [`bind`].
pub(crate) fn is_required(
    query: &Query,
    excludes: bool,
    schema: &Schema,
    analyzers: &Analyzers,
) -> Result<bool> {
    check_size(query)?;
    let mut memory = BindMemory::default();
    Ok(match Binder::new(schema, analyzers, &mut memory).clause::<Normal>(query, 1.0)? {
        Clause::Whole(_) => true,
        Clause::Partial(..) => excludes,
        Clause::Dropped(_) => false,
    })
}

impl BoundQuery {
    /// The documents that match.
    pub(crate) fn rewritten(
        &self,
        schema: &Schema,
        analyzers: &Analyzers,
        memory: &mut BindMemory,
    ) -> Rewritten {
        let mut binder = Binder::new(schema, analyzers, memory);
        binder.options.notes = self.has_notes;
        binder.notes.clone_from(&self.notes);
        let normal = binder.matching(&self.logical);
        Rewritten { normal, notes: binder.notes }
    }
}

impl Binder<'_> {
    /// Binds a query by itself: it matches nothing if nothing is left of it.
    fn query<P: Part>(&mut self, query: &Query) -> Result<P> {
        let clause = self.query_with_neighbors(query)?;
        Ok(self.whole(clause))
    }

    /// Makes a query of the only clause.
    fn whole<P: Part>(&mut self, clause: Clause<P>) -> P {
        match clause {
            Clause::Whole(part) => part,
            Clause::Partial(part, why) => {
                self.note(clause::in_other_fields(&why));
                part
            }
            Clause::Dropped(reason) => {
                self.note(format!("{reason}, so it matches nothing"));
                P::constant(nothing(reason), 0.0)
            }
        }
    }

    /// Binds a query as a part of another that weighs its score by `boost`.
    fn clause<P: Part>(&mut self, query: &Query, boost: f32) -> Result<Clause<P>> {
        match query {
            Query::All => Ok(constant(Normal::All, boost)),
            Query::Nothing => Ok(constant(nothing("NOT * excludes every document"), 0.0)),
            Query::Exists { field, place } => {
                Ok(constant(Normal::Exists(self.field(field, place)?), boost))
            }
            Query::And(all) => {
                let all = self.beside((all, &[]), |this| this.clauses(all, boost))?;
                Ok(self.sum(Group::all(all)))
            }
            Query::Or(any) | Query::DisMax { any, .. } if any.is_empty() => {
                Ok(constant(self.or(vec![]), 0.0))
            }
            Query::Or(any) => {
                let any = self.beside_nothing(any.len() == 1, |this| this.clauses(any, boost))?;
                Ok(self.sum(Group::any(any)))
            }
            Query::DisMax { any, tie } => {
                let any = self.beside_nothing(any.len() == 1, |this| this.clauses(any, boost))?;
                Ok(self.best_of(any, tie.get()))
            }
            Query::Not(query) => Ok(match self.excluded(query)? {
                Clause::Whole(none) | Clause::Partial(none, _) => {
                    constant(self.and(vec![], vec![none]), 0.0)
                }
                // A clause that leaves nothing out by itself says nothing.
                Clause::Dropped(reason) => Clause::Dropped(reason),
            }),
            Query::Group { must, should, must_not, minimum } => {
                self.group(must, should, must_not, *minimum, boost)
            }
            Query::Boost { query, boost: factor } => {
                self.clause(query, logical::finite(boost * factor.get()))
            }
            Query::ConstantScore { query, score } => {
                let score = logical::finite(boost * score.get());
                let clause = self.clause::<Normal>(query, 1.0)?;
                Ok(clause.map(|matching| P::constant(matching, score)))
            }
            Query::Fields { fields, combined, query } => {
                self.push_fields(fields, *combined)?;
                let result = self.clause(query, boost);
                self.pop_fields();
                result
            }
            Query::Nearest { field, vector, wanted, place } => {
                self.neighbors((field.as_deref(), vector), *wanted, boost, place)
            }
            Query::Area { field, relation, area, place } => {
                Ok(constant(self.area(field.as_deref(), *relation, area, place)?, boost))
            }
            Query::Word { .. }
            | Query::Phrase { .. }
            | Query::PhraseOf { .. }
            | Query::Prefix { .. }
            | Query::Wildcard { .. }
            | Query::Regex { .. }
            | Query::Fuzzy { .. }
            | Query::Range { .. }
            | Query::InSet { .. } => {
                let names_field = names_field(query);
                let clause = self.matching_leaf(query)?;
                Ok(clause.map(|matching| P::of_leaf(self, matching, boost, names_field)))
            }
        }
    }

    /// The documents of a word, a phrase or a pattern.
    fn matching_leaf(&mut self, query: &Query) -> Result<Clause<Normal>> {
        match query {
            Query::Word { field, text, place } => {
                self.text(field.as_deref(), text, TextForm::WORD, place)
            }
            Query::Phrase { field, text, prefix, proximity, place } => {
                let shape = TextForm { quoted: true, prefix: *prefix, proximity: *proximity };
                self.text(field.as_deref(), text, shape, place)
            }
            Query::PhraseOf { field, parts, proximity, place } => {
                self.phrase_of(field.as_deref(), parts, *proximity, place)
            }
            other => self.expand(other.field_of_terms().and_then(Option::as_deref), other),
        }
    }

    fn clauses<P: Part>(&mut self, queries: &[Query], boost: f32) -> Result<Clauses<P>> {
        if queries.is_empty() {
            return Ok(Clauses::default());
        }
        let mut clauses = Clauses::in_list(P::lists(self.memory).take());
        for query in queries {
            clauses.push(self.clause(query, boost)?, query.is_filter());
        }
        Ok(clauses)
    }

    /// Documents that are excluded.
    fn excluded(&mut self, query: &Query) -> Result<Clause<Normal>> {
        self.beside_nothing(false, |this| this.clause(query, 1.0))
    }

    /// The sum of what is left of clauses side by side.
    fn sum<P: Part>(&mut self, group: Group<P>) -> Clause<P> {
        let settled = group.settle(|note| self.note(note));
        settled.map(|settled| P::sum(self, settled))
    }

    /// The best of what is left of some alternatives.
    fn best_of<P: Part>(&mut self, any: Clauses<P>, tie: f32) -> Clause<P> {
        let settled = Group::any(any).settle(|note| self.note(note));
        settled.map(|settled| P::best_of(self, settled.should, tie))
    }

    fn group<P: Part>(
        &mut self,
        must: &[Query],
        should: &[Query],
        must_not: &[Query],
        minimum: Option<u32>,
        boost: f32,
    ) -> Result<Clause<P>> {
        let (all, any, noted) = self.beside((must, must_not), |this| {
            let all = this.side_by_side(must, boost, true, None)?;
            let noted = this.notes.len();
            let is_optional = !must.is_empty() && matches!(minimum, None | Some(0));
            // Looked at even where they are dropped: a field that does not exist is an error anywhere.
            let any = this.beside_nothing(is_optional || should.len() == 1, |this| {
                this.side_by_side(should, boost, false, minimum)
            })?;
            Ok((all, any, noted))
        })?;
        let is_required = all.n_whole() > 0;
        let are_scored = is_required && !should.is_empty() && matches!(minimum, None | Some(0));
        // To say so takes longer than to bind them.
        if are_scored && self.options.notes {
            self.notes.truncate(noted);
            let dropped: Vec<_> = should.iter().map(|query| format!("'{query}'")).collect();
            self.note(format!(
                "beside a clause that must match, {} changes no matches, only scores",
                shortened(&dropped.join(", "))
            ));
        }
        let none = self.beside_nothing(false, |this| this.clauses(must_not, 1.0))?;
        Ok(self.sum(Group { must: all, should: any, must_not: none, minimum }))
    }

    /// A word or a quoted value, in its field or in all default fields.
    fn text(
        &mut self,
        field: Option<&str>,
        text: &str,
        shape: TextForm,
        place: &Place,
    ) -> Result<Clause<Normal>> {
        if let Some(state) = self.state(field, text, place)? {
            return Ok(state.into());
        }
        self.in_each_field(field, text, place, |this, field| this.words(field, text, shape, place))
    }
}

/// Documents that all have one score.
fn constant<P: Part>(matching: Normal, score: f32) -> Clause<P> {
    Clause::Whole(P::constant(matching, score))
}

/// Whether a leaf says itself in which field it is meant.
fn names_field(leaf: &Query) -> bool {
    leaf.field_of_terms().is_none_or(Option::is_some)
}

#[cfg(test)]
mod tests {
    use super::limits::LEVELS_MAX;
    use super::*;
    use crate::analysis::{Analyzer, Synonyms};
    use crate::error::{Error, ErrorKind};
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

        let spaced = Schema::builder().text("name").date("Added Date").build().unwrap();
        let query = parse("added date:2025-05", &ParseOptions::default()).unwrap();
        let error = rewrite(&query, &spaced, &Analyzers::default()).unwrap_err().to_string();
        assert!(error.ends_with("did you mean 'Added Date'? write Added\\ Date:…"), "{error}");

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
