//! Building trees in a program: constructors that leave out what says nothing.

use std::ops::{Bound, RangeBounds};

use super::{Boost, Fuzziness, Place, Proximity, Query, Score, Tie};
use crate::error::{Error, ErrorKind, Result};
use crate::expansion::WildcardPiece;
use crate::value::Value;

impl Query {
    /// A word in the default fields.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::word("paris").to_string(), "paris");
    /// assert_eq!(Query::word("10:30").to_string(), r"10\:30"); // no syntax: a colon is a colon
    /// ```
    pub fn word(text: impl Into<String>) -> Self {
        Query::Word { field: None, text: text.into(), place: Place::default() }
    }

    /// A word in one field.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::word_in("title", "paris").to_string(), "title:paris");
    /// ```
    pub fn word_in(field: impl Into<String>, text: impl Into<String>) -> Self {
        Query::word(text).in_field(field)
    }

    /// Words of a text, side by side, without any syntax; no documents without words.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::words("10:30 AND (milk").to_string(), r"10\:30 \AND \(milk");
    /// ```
    ///
    /// A text from a search box may have more words than an index [takes](crate::Limits), which
    /// [`Query::parse_lenient`] leaves out.
    pub fn words(text: &str) -> Self {
        Query::side_by_side(text.split_whitespace().map(Query::word).collect())
    }

    /// Alternatives as the parser reads them; no document if there are none.
    pub(super) fn side_by_side(mut should: Vec<Query>) -> Self {
        match should.len() {
            0 => Query::Nothing,
            1 => should.remove(0),
            _ => Query::Group { must: vec![], should, must_not: vec![], minimum: None },
        }
    }

    /// An exact value of a keyword or typed field.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::value("kind", "New York").to_string(), r#"kind:"New York""#);
    /// assert_eq!(Query::value("year", 1984).to_string(), r#"year:"1984""#);
    /// ```
    pub fn value(field: impl Into<String>, value: impl Into<Value>) -> Self {
        match value.into() {
            // Nothing is no value, and no document has it.
            Value::Null => Query::Nothing,
            value => Query::phrase(value.to_exact_text()).in_field(field),
        }
    }

    /// Words one after the other.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::phrase("of mice").in_field("title").to_string(), r#"title:"of mice""#);
    /// ```
    pub fn phrase(text: impl Into<String>) -> Self {
        Query::near(text, Proximity::Exact)
    }

    /// Words one after the other, the last of which may go on.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::phrase_prefix("of mi").to_string(), r#""of mi"*"#);
    /// ```
    pub fn phrase_prefix(text: impl Into<String>) -> Self {
        let (proximity, place) = (Proximity::Exact, Place::default());
        Query::Phrase { field: None, text: text.into(), prefix: true, proximity, place }
    }

    /// Words that are near each other.
    ///
    /// ```
    /// use treepie::query::{Proximity, Query};
    ///
    /// let query = Query::near("mice men", Proximity::Ordered(1)).in_field("title");
    /// assert_eq!(query.to_string(), r#"title:"mice men"~>1"#);
    /// ```
    pub fn near(text: impl Into<String>, proximity: Proximity) -> Self {
        let place = Place::default();
        Query::Phrase { field: None, text: text.into(), prefix: false, proximity, place }
    }

    /// Terms that begin with `text`.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::prefix("par").in_field("title").to_string(), "title:par*");
    /// ```
    pub fn prefix(text: impl Into<String>) -> Self {
        Query::Prefix { field: None, text: text.into(), place: Place::default() }
    }

    /// Terms that match a pattern with wildcards. `?` is one character, `*` any number, `\` takes the next one
    /// literally.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::wildcard("w?ld*c").to_string(), "w?ld*c");
    /// assert_eq!(Query::wildcard("wild*"), Query::prefix("wild"));
    /// ```
    pub fn wildcard(pattern: impl AsRef<str>) -> Self {
        let mut pieces = WildcardPiece::parse(pattern.as_ref());
        pieces.dedup_by(|b, a| *a == WildcardPiece::Any && *b == WildcardPiece::Any);
        let literal = |pieces: &[WildcardPiece]| -> Option<String> {
            pieces.iter().map(|piece| piece.literal()).collect()
        };
        if let [beginning @ .., WildcardPiece::Any] = &pieces[..]
            && !beginning.is_empty()
            && let Some(text) = literal(beginning)
        {
            return Query::prefix(text);
        }
        match literal(&pieces) {
            Some(text) => Query::word(text),
            None => Query::Wildcard {
                field: None,
                pattern: WildcardPiece::print(&pieces),
                place: Place::default(),
            },
        }
    }

    /// Terms that match a regular expression from their first to their last character.
    ///
    /// Its letters are read as the terms of the field have them: in one that folds, `/ÜB.*/` is `/ub.*/`, and
    /// `/[^É]/` excludes `e`.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::regex("19[0-9]{2}").to_string(), "/19[0-9]{2}/");
    /// ```
    pub fn regex(pattern: impl Into<String>) -> Self {
        // A slash needs no backslash, and has one only where the text of a query needs it.
        let pattern = without_escaped_slashes(&pattern.into());
        Query::Regex { field: None, pattern, place: Place::default() }
    }

    /// Terms like this word.
    ///
    /// ```
    /// use treepie::query::{Fuzziness, Query};
    ///
    /// let query = Query::fuzzy("gatzby", Fuzziness::new(1))?;
    /// assert_eq!(query.to_string(), "gatzby~1");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`] for a distance beyond [`Fuzziness::DISTANCE_MAX`].
    pub fn fuzzy(text: impl Into<String>, fuzziness: Fuzziness) -> Result<Self> {
        if fuzziness.distance > Fuzziness::DISTANCE_MAX {
            return Err(Error::new(ErrorKind::Query, "building a fuzzy query")
                .expected(format!("a distance of at most {}", Fuzziness::DISTANCE_MAX))
                .found(fuzziness.distance.to_string()));
        }
        Ok(Query::Fuzzy { field: None, text: text.into(), fuzziness, place: Place::default() })
    }

    /// Terms in a range, in the order of bytes or of typed values.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// let query = Query::range("a".to_owned().."f".to_owned()).in_field("title");
    /// assert_eq!(query.to_string(), "title:[a TO f}");
    /// assert_eq!(Query::range(1900..=1950).in_field("year").to_string(), "year:[1900 TO 1950]");
    /// ```
    pub fn range<V: Into<Value> + Clone>(range: impl RangeBounds<V>) -> Self {
        let text = |bound: Bound<&V>| match bound.cloned().map(Into::into) {
            Bound::Included(Value::Null) | Bound::Excluded(Value::Null) => Bound::Unbounded,
            bound => bound.map(|value: Value| value.to_exact_text().into_owned()),
        };
        let (lower, upper) = (text(range.start_bound()), text(range.end_bound()));
        Query::Range { field: None, lower, upper, place: Place::default() }
    }

    /// One of these values; the order and repetitions say nothing.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// let query = Query::in_set(["red", "blue"]).in_field("color");
    /// assert_eq!(query.to_string(), "color:IN [blue red]");
    /// ```
    pub fn in_set<V: Into<Value>>(values: impl IntoIterator<Item = V>) -> Self {
        let values = values.into_iter().map(Into::into).filter(|value: &Value| !value.is_null());
        let mut values: Vec<String> =
            values.map(|value| value.to_exact_text().into_owned()).collect();
        values.sort_unstable();
        values.dedup();
        match values.is_empty() {
            true => Query::Nothing,
            false => Query::InSet { field: None, values, place: Place::default() },
        }
    }

    /// Documents that have a value in a field.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// let unpriced = Query::not(Query::exists("price"));
    /// assert_eq!(unpriced.to_string(), "NOT price:*");
    /// ```
    pub fn exists(field: impl Into<String>) -> Self {
        Query::Exists { field: field.into(), place: Place::default() }
    }

    /// Puts a word, a phrase, a prefix and the like into this field. Any other query gets it as its default
    /// field.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::word("paris").in_field("title").to_string(), "title:paris");
    /// let either = Query::any_of([Query::word("paris"), Query::word("rome")]);
    /// assert_eq!(either.in_field("title").to_string(), "{title}:(paris OR rome)");
    /// ```
    #[must_use]
    pub fn in_field(mut self, name: impl Into<String>) -> Self {
        match self.field_of_terms_mut() {
            Some((field, _)) => {
                field.get_or_insert_with(|| name.into());
                self
            }
            None => self.in_fields([(name, Boost::ONE)]),
        }
    }

    /// Sets the default fields of the query, each with the weight of its matches.
    ///
    /// ```
    /// use treepie::query::{Boost, Query};
    ///
    /// let fields = [("title", Boost::new(3.0)?), ("body", Boost::ONE)];
    /// assert_eq!(Query::word("paris").in_fields(fields).to_string(), "{title^3 body}:paris");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    #[must_use]
    pub fn in_fields<S: Into<String>>(self, fields: impl IntoIterator<Item = (S, Boost)>) -> Self {
        let fields: Vec<_> = fields.into_iter().map(|(name, boost)| (name.into(), boost)).collect();
        match self {
            Query::All | Query::Nothing | Query::Exists { .. } => self,
            _ if fields.is_empty() => self,
            _ => Query::Fields { fields, combined: false, query: Box::new(self) },
        }
    }

    /// Sets default fields that are searched as if they were one: `{title^3 + body}:(…)`.
    ///
    /// Every word is scored once by BM25F ([Robertson, Zaragoza and Taylor, 2004]): its frequencies and the lengths
    /// of all fields are multiplied with the weights of the fields and added up, and what comes out is a
    /// frequency and a length for BM25. So a word that is often in several fields of a document counts less
    /// than words of the query that are each in one of them; [`in_fields`](Self::in_fields) adds what each field says.
    ///
    /// A word counts as rare as in the field where it is in most documents, and the number of documents is
    /// that of the field which most of them have, as in Lucene: to know how many have the word in any field,
    /// its documents would have to be read. `k1` and `b` are those of the first field. Phrases, patterns and
    /// what names a field itself are scored field by field, as they are by `in_fields`.
    ///
    /// All must be text fields with frequencies, and their weights be in
    /// [`COMBINED_WEIGHT_MIN`](super::COMBINED_WEIGHT_MIN) to [`COMBINED_WEIGHT_MAX`](super::COMBINED_WEIGHT_MAX);
    /// else the query is refused when it is asked.
    ///
    /// ```
    /// # use treepie::{Document, Index, Schema};
    /// use treepie::query::{Boost, Query};
    ///
    /// let index = Index::in_memory(Schema::builder().text("title").text("body").build()?);
    /// let mut writer = index.writer()?;
    /// for (title, body) in [("Paris, Paris", "Paris"), ("Texas", "Paris, Lamar County"), ("Lamar", "a poet")] {
    ///     writer.add(Document::new().with("title", title).with("body", body))?;
    /// }
    /// writer.commit()?;
    ///
    /// let searcher = index.searcher()?;
    /// let fields = [("title", Boost::new(2.0)?), ("body", Boost::ONE)];
    /// let query = searcher.parse("paris lamar")?.in_combined_fields(fields);
    /// assert_eq!(query.to_string(), "{title^2 + body}:(paris lamar)");
    /// let page = searcher.search(&query).run()?;
    /// println!("{}", searcher.explain_score(&query, page.hits[0].doc)?.expect("a hit matches"));
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// [Robertson, Zaragoza and Taylor, 2004]: https://doi.org/10.1145/1031171.1031181
    #[must_use]
    pub fn in_combined_fields<S: Into<String>>(
        self,
        fields: impl IntoIterator<Item = (S, Boost)>,
    ) -> Self {
        let mut fields = fields.into_iter().peekable();
        if fields.peek().is_none() {
            // Its parts may have fields of their own.
            return self;
        }
        let mut query = self.in_fields(fields);
        if let Query::Fields { fields, combined, .. } = &mut query {
            // One field is what it is anyway.
            *combined = fields.len() > 1;
        }
        query
    }

    /// Documents that match all of these.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// let query = Query::all_of([Query::word("paris"), Query::value("kind", "film")]);
    /// assert_eq!(query.to_string(), r#"paris AND kind:"film""#);
    /// ```
    pub fn all_of(queries: impl IntoIterator<Item = Query>) -> Self {
        let mut all = vec![];
        for mut query in queries {
            match &mut query {
                Query::And(inner) => all.append(inner),
                Query::All => {}
                Query::Nothing => return Query::Nothing,
                _ => all.push(query),
            }
        }
        joined(all, Query::All, Query::And)
    }

    /// Documents that match one of these.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// let query = Query::any_of([Query::word("paris"), Query::prefix("lond")]);
    /// assert_eq!(query.to_string(), "paris OR lond*");
    /// ```
    pub fn any_of(queries: impl IntoIterator<Item = Query>) -> Self {
        let mut any = vec![];
        for mut query in queries {
            match &mut query {
                Query::Or(inner) => any.append(inner),
                Query::Nothing => {}
                _ => any.push(query),
            }
        }
        joined(any, Query::Nothing, Query::Or)
    }

    /// Documents that match one of these, with the best score.
    ///
    /// The other scores count by the part `tie`.
    ///
    /// ```
    /// use treepie::query::{Query, Tie};
    ///
    /// let query = Query::best_of([Query::word("paris"), Query::word("texas")], Tie::new(0.1)?);
    /// assert_eq!(query.to_string(), "MAX [paris texas]~0.1");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn best_of(queries: impl IntoIterator<Item = Query>, tie: Tie) -> Self {
        let any = queries.into_iter().filter(|query| !matches!(query, Query::Nothing)).collect();
        joined(any, Query::Nothing, |any| Query::DisMax { any, tie })
    }

    /// Documents that do not match this.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::not(Query::word("paris")).to_string(), "NOT paris");
    /// ```
    #[expect(clippy::should_implement_trait, reason = "`!query` would read as a Rust bool")]
    pub fn not(mut query: Query) -> Self {
        match &mut query {
            Query::All => Query::Nothing,
            Query::Nothing => Query::All,
            Query::Not(inner) => std::mem::replace(inner, Query::All),
            _ => Query::Not(Box::new(query)),
        }
    }

    /// Clauses side by side that must match, may match, and must not match.
    ///
    /// See [`Query::Group`].
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// let (must, may, not) = (Query::word("paris"), Query::word("texas"), Query::value("kind", "city"));
    /// let query = Query::group(vec![must], vec![may], vec![not]);
    /// assert_eq!(query.to_string(), r#"+paris texas -kind:"city""#);
    /// ```
    pub fn group(must: Vec<Query>, should: Vec<Query>, must_not: Vec<Query>) -> Self {
        GroupBuilder { must, should, must_not, minimum: None }.build()
    }

    /// Begins clauses side by side; see [`Query::Group`].
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// let query = Query::boolean().must(Query::word("paris")).must_not(Query::word("hilton")).build();
    /// assert_eq!(query.to_string(), "+paris -hilton");
    /// ```
    pub fn boolean() -> GroupBuilder {
        GroupBuilder::default()
    }

    /// Multiplies the score of the query by `factor`. The documents stay the same.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::word("paris").boosted(2.5)?.to_string(), "paris^2.5");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`] for a factor that is not finite or not greater than zero.
    pub fn boosted(self, factor: f32) -> Result<Self> {
        let boost = Boost::new(factor)?;
        match boost == Boost::ONE {
            true => Ok(self),
            false => Ok(Query::Boost { query: Box::new(self), boost }),
        }
    }

    /// Gives all documents of the query this score.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::prefix("par").constant_score(1.0)?.to_string(), "par*^=1");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Query`] for a score that is not finite or below zero.
    pub fn constant_score(self, score: f32) -> Result<Self> {
        Ok(self.with_score(Score::new(score)?))
    }

    /// Makes the query a filter: a condition that does not change the ranking.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// let film = Query::value("qualifier", "film").filter();
    /// let query = Query::boolean().must(film).should(Query::word("paris")).build();
    /// assert_eq!(query.to_string(), r#"+qualifier:"film"^=0 paris"#);
    /// ```
    #[must_use]
    pub fn filter(self) -> Self {
        self.with_score(Score::ZERO)
    }

    fn with_score(mut self, score: Score) -> Self {
        // Whatever the score was before.
        while let Query::Boost { query, .. } | Query::ConstantScore { query, .. } = &mut self {
            self = std::mem::replace(query, Query::All);
        }
        Query::ConstantScore { query: Box::new(self), score }
    }
}

fn joined(mut queries: Vec<Query>, none: Query, join: impl FnOnce(Vec<Query>) -> Query) -> Query {
    match queries.len() {
        0 => none,
        1 => queries.remove(0),
        _ => join(queries),
    }
}

/// Clauses side by side, one after the other; from [`Query::boolean`].
///
/// ```
/// use treepie::query::Query;
///
/// let query = Query::boolean()
///     .should(Query::word("paris"))
///     .should(Query::word("texas"))
///     .should(Query::word("france"))
///     .must_not(Query::word("hilton"))
///     .minimum(2)
///     .build();
/// assert_eq!(query.to_string(), "(paris texas france -hilton)~2");
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "`build` makes the query"]
pub struct GroupBuilder {
    pub(super) must: Vec<Query>,
    pub(super) should: Vec<Query>,
    pub(super) must_not: Vec<Query>,
    pub(super) minimum: Option<u32>,
}

impl GroupBuilder {
    /// Adds a clause that must match.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// let query = Query::boolean().must(Query::word("paris")).should(Query::word("texas")).build();
    /// assert_eq!(query.to_string(), "+paris texas");
    /// ```
    pub fn must(mut self, query: Query) -> Self {
        self.must.push(query);
        self
    }

    /// Adds a clause that must match and is not scored.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// let film = Query::word_in("kind", "film");
    /// let query = Query::boolean().should(Query::word("paris")).filter(film).build();
    /// assert_eq!(query.to_string(), "+kind:film^=0 paris");
    /// ```
    pub fn filter(self, query: Query) -> Self {
        self.must(query.filter())
    }

    /// Adds an alternative, which adds to the score if it matches.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// let query = Query::boolean().should(Query::word("paris")).should(Query::word("texas")).build();
    /// assert_eq!(query.to_string(), "paris texas");
    /// ```
    pub fn should(mut self, query: Query) -> Self {
        self.should.push(query);
        self
    }

    /// Adds a clause that must not match.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// let query = Query::boolean().must(Query::word("paris")).must_not(Query::word("hilton")).build();
    /// assert_eq!(query.to_string(), "+paris -hilton");
    /// ```
    pub fn must_not(mut self, query: Query) -> Self {
        self.must_not.push(query);
        self
    }

    /// Sets the number of alternatives that must match (default: one if nothing else must).
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// let words = ["paris", "texas", "film"].map(Query::word);
    /// let query = words.into_iter().fold(Query::boolean(), |query, word| query.should(word));
    /// assert_eq!(query.minimum(2).build().to_string(), "(paris texas film)~2");
    /// ```
    pub fn minimum(mut self, minimum: u32) -> Self {
        self.minimum = Some(minimum);
        self
    }

    /// Returns the query: every document if no clause was added.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// assert_eq!(Query::boolean().build(), Query::All);
    /// let only = Query::boolean().should(Query::word("paris")).build();
    /// assert_eq!(only, Query::word("paris"));
    /// ```
    pub fn build(self) -> Query {
        let GroupBuilder { must, should, must_not, minimum } = self;
        match (must.len() + should.len() + must_not.len(), minimum) {
            (0, None | Some(0)) => Query::All,
            (0, Some(_)) => Query::Nothing,
            (1, None) => match must_not.into_iter().next() {
                Some(query) => Query::not(query),
                None => must.into_iter().chain(should).next().unwrap_or(Query::All),
            },
            _ => Query::Group { must, should, must_not, minimum },
        }
    }
}

/// `\/` as `/`, and everything else as it is.
pub(super) fn without_escaped_slashes(pattern: &str) -> String {
    let mut chars = pattern.chars();
    let mut result = String::with_capacity(pattern.len());
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('/') => result.push('/'),
                Some(next) => result.extend([c, next]),
                None => result.push(c),
            },
            _ => result.push(c),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Query {
        Query::word(text)
    }

    #[test]
    fn constructors_flatten_and_simplify() {
        let and = |queries: &[&str]| Query::all_of(queries.iter().map(|text| word(text)));
        let or = |queries: &[&str]| Query::any_of(queries.iter().map(|text| word(text)));
        let cases = [
            (Query::all_of([and(&["a", "b"]), word("c"), Query::All]), "a AND b AND c"),
            (Query::any_of([or(&["a", "b"]), Query::Nothing, word("c")]), "a OR b OR c"),
            (Query::all_of([word("a"), Query::Nothing]), "NOT *"),
            (Query::all_of([]), "*"),
            (Query::any_of([]), "NOT *"),
            (Query::all_of([word("a")]), "a"),
            (Query::not(Query::not(word("a"))), "a"),
            (Query::not(Query::Nothing), "*"),
            (Query::best_of([word("a"), Query::Nothing], Tie::ZERO), "a"),
            (Query::best_of([word("a"), word("b")], Tie::new(0.5).unwrap()), "MAX [a b]~0.5"),
            (Query::boolean().minimum(1).build(), "NOT *"),
            (Query::boolean().minimum(0).build(), "*"),
            (Query::boolean().must(word("a")).build(), "a"),
            (Query::boolean().should(word("a")).minimum(1).build(), "(a)~1"),
            (Query::boolean().filter(word("a")).should(word("b")).build(), "+a^=0 b"),
            (word("a").boosted(1.0).unwrap(), "a"),
            (word("a").boosted(2.0).unwrap().filter(), "a^=0"),
            (word("a").filter().constant_score(2.0).unwrap(), "a^=2"),
            (Query::in_set(["b", "a", "b"]), "IN [a b]"),
            (Query::in_set([] as [&str; 0]), "NOT *"),
            (Query::wildcard("a\\*c"), "a\\*c"),
            (Query::wildcard("a\\bc*"), "abc*"),
            (Query::wildcard("*"), "**"),
            (Query::wildcard("a?\\b\\"), "a?b\\\\"),
            (Query::regex("a\\/b/c\\\\/"), "/a\\/b\\/c\\\\\\//"),
            (Query::prefix("a").in_field("t").in_field("u"), "t:a*"),
            (and(&["a", "b"]).in_field("t"), "{t}:(a AND b)"),
        ];
        for (query, expected) in cases {
            assert_eq!(query.to_string(), expected, "{query:?}");
        }
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        for factor in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let error = word("a").boosted(factor).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Query);
        }
        assert!(word("a").boosted(f32::MAX).is_ok());
        assert!(word("a").constant_score(-1.0).is_err());
        assert!(Query::fuzzy("a", Fuzziness::new(3)).is_err());
        assert!(Query::fuzzy("a", Fuzziness::new(2)).is_ok());
    }
}
