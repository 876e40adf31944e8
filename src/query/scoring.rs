//! [`Query`] → [`Scored`]: what each clause adds to the score of a document.
//!
//! Which documents match is the business of [`Normal`], where clauses may be dropped, merged and moved as long as
//! the set stays the same. A score remembers what that forgets: how often a word was asked for, what weighs how much, and
//! which clauses only add to it. Both are made by the same analysis, so they mean the same terms.
//!
//! What has no frequency to score by (ranges, values, existence) adds its weight, as one does for `*`. So do
//! prefixes and other patterns, unless their best terms are asked for. A word in several fields adds what it has in each.

use super::Query;
use super::phrase::PhraseSpec;
use super::rewrite::{Clause, Group, Normal, Rewriter, Settled};
use crate::analysis::Analyzers;
use crate::error::Result;
use crate::expansion::Expansion;
use crate::ids::FieldId;
use crate::schema::Schema;
use std::collections::HashMap;
use std::sync::Arc;

/// How a document that matches is scored: in the order of the clauses in the query.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Scored {
    /// A term, by how often and in how long a document it is, and how rare it is.
    Term { field: FieldId, term: Vec<u8>, boost: f32 },
    /// A word in fields that are taken for one, by the frequencies and lengths of all of them.
    Combined { fields: Vec<CombinedField>, boost: f32 },
    /// A phrase, by how often it is there; its rarity is the sum of its words'.
    Phrase { field: FieldId, phrase: Arc<PhraseSpec>, boost: f32 },
    /// The terms of a pattern, by the best `n` of them: other documents that match add nothing.
    BestTerms { field: FieldId, terms: Expansion, n: u32, boost: f32 },
    /// The same for every document in a set.
    Constant { matching: Normal, score: f32 },
    /// The sum over what matches: all of `must`, none of `must_not`, at least `minimum` of `should`.
    Sum { must: Vec<Scored>, should: Vec<Scored>, must_not: Vec<Normal>, minimum: u32 },
    /// The best of what matches, and `tie` times the others.
    Max { any: Vec<Scored>, tie: f32 },
}

/// One of the fields that are taken for one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CombinedField {
    pub(crate) field: FieldId,
    pub(crate) weight: f32,
    /// What the word is there; none where the field's analyzer leaves it out.
    pub(crate) term: Option<Vec<u8>>,
}

/// Finds out how the documents that match `query` are scored.
///
/// # Errors
///
/// As [`rewrite`](super::rewrite()): a query that can be rewritten can be scored.
pub(crate) fn scoring(
    query: &Query,
    schema: &Schema,
    analyzers: &Analyzers,
    options: ScoringOptions,
) -> Result<Scored> {
    super::rewrite::check_size(query)?;
    let rewriter = Rewriter::new(schema, analyzers);
    let mut builder = Builder { rewriter, options, scopes: vec![] };
    Ok(match builder.scored(query, 1.0)? {
        Clause::Whole(scored) | Clause::Partial(scored, _) => scored,
        Clause::Dropped(reason) => {
            Scored::Constant { matching: Normal::Nothing { reason }, score: 0.0 }
        }
    })
}

/// What is the same for all of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScoringOptions {
    /// Of a pattern so many terms are scored; with 0 all its documents have the same score.
    pub(crate) pattern_terms: u32,
}

struct Builder<'a> {
    rewriter: Rewriter<'a>,
    options: ScoringOptions,
    /// The default fields, the innermost last, where the query has its own.
    scopes: Vec<Scope>,
}

/// Default fields with their weights.
struct Scope {
    fields: Vec<(FieldId, f32)>,
    /// Whether words are scored as if they were one.
    combined: bool,
}

impl Builder<'_> {
    fn scored(&mut self, query: &Query, boost: f32) -> Result<Clause<Scored>> {
        Ok(match query {
            Query::And(all) => group_sum(Group::all(self.required(all, boost)?)),
            Query::Or(any) if !any.is_empty() => group_sum(Group::any(self.all(any, boost)?)),
            Query::Group { must, should, must_not, minimum } => {
                let must_not = must_not.iter().map(|query| self.rewriter.clause(query));
                let must_not = must_not.collect::<Result<_>>()?;
                let must = self.side_by_side(must, boost, true, None)?;
                let should = self.side_by_side(should, boost, false, *minimum)?;
                let should = should.into_iter().map(|(clause, _)| clause).collect();
                group_sum(Group { must, should, must_not, minimum: *minimum })
            }
            Query::DisMax { any, tie } if !any.is_empty() => {
                best_of(self.all(any, boost)?, tie.get())
            }
            Query::Boost { query, boost: factor } => {
                self.scored(query, finite(boost * factor.get()))?
            }
            Query::ConstantScore { query, score } => {
                self.constant(query, finite(boost * score.get()))?
            }
            Query::Or(_) => Clause::Whole(sum(vec![], vec![], vec![], 1)),
            Query::DisMax { .. } | Query::Not(_) | Query::Nothing => self.constant(query, 0.0)?,
            Query::All | Query::Exists { .. } => self.constant(query, boost)?,
            Query::Fields { fields, combined, query } => {
                let weights = fields.iter().map(|(_, boost)| boost.get());
                let ids = self.rewriter.push_fields(fields, *combined)?;
                let fields = ids.into_iter().zip(weights).collect();
                self.scopes.push(Scope { fields, combined: *combined });
                let result = self.scored(query, boost);
                self.scopes.pop();
                self.rewriter.pop_fields();
                result?
            }
            leaf => {
                let names_field = names_field(leaf);
                self.rewriter.clause(leaf)?.map(|matching| self.leaf(matching, boost, names_field))
            }
        })
    }

    fn all(&mut self, queries: &[Query], boost: f32) -> Result<Vec<Clause<Scored>>> {
        queries.iter().map(|query| self.scored(query, boost)).collect()
    }

    /// Clauses that must match, and whether each only filters.
    fn required(&mut self, must: &[Query], boost: f32) -> Result<Vec<(Clause<Scored>, bool)>> {
        must.iter().map(|query| Ok((self.scored(query, boost)?, query.is_filter()))).collect()
    }

    /// Clauses side by side with those that are read together as one: it scores as the best of its readings.
    fn side_by_side(
        &mut self,
        group: &[Query],
        boost: f32,
        are_required: bool,
        minimum: Option<u32>,
    ) -> Result<Vec<(Clause<Scored>, bool)>> {
        let together = self.rewriter.joined(group)?;
        if together.is_empty() {
            return self.required(group, boost);
        }
        let (mut clauses, mut at) = (vec![], 0);
        for joined in together {
            clauses.append(&mut self.required(&group[at..joined.words.start], boost)?);
            at = joined.words.end;
            let written = &group[joined.words.clone()];
            let names_field = written.first().is_some_and(names_field);
            self.rewriter.enter_joined(&joined);
            let words = self.required(self.rewriter.kept(written), boost);
            self.rewriter.leave_joined();
            let words = words?;
            if minimum.is_some_and(|minimum| minimum > 1) {
                // They count for each of the words, and so for all of these once.
                let others = self.leaf(joined.others, boost / written.len() as f32, names_field);
                let mut words = words.into_iter();
                for _ in written {
                    let either = words.next().map(|word| word.0).into_iter();
                    let either = either.chain([Clause::Whole(others.clone())]);
                    clauses.push((best_of(either.collect(), 0.0), false));
                }
                continue;
            }
            let own = match (words.is_empty(), are_required) {
                (true, _) => None,
                (false, true) => Some(group_sum(Group::all(words))),
                (false, false) => {
                    let words = words.into_iter().map(|word| word.0).collect();
                    Some(group_sum(Group::any(words)))
                }
            };
            let others = Clause::Whole(self.leaf(joined.others, boost, names_field));
            clauses.push((best_of(own.into_iter().chain([others]).collect(), 0.0), false));
        }
        clauses.append(&mut self.required(&group[at..], boost)?);
        Ok(clauses)
    }

    fn constant(&mut self, query: &Query, score: f32) -> Result<Clause<Scored>> {
        Ok(self.rewriter.clause(query)?.map(|matching| Scored::Constant { matching, score }))
    }

    /// What a leaf adds: as one word in fields that are combined, else each term by itself.
    fn leaf(&self, matching: Normal, boost: f32, names_field: bool) -> Scored {
        let combined = self.scopes.last().filter(|scope| scope.combined && !names_field);
        match combined.and_then(|scope| scope.words(&matching, boost)) {
            Some(combined) => combined,
            None => self.matched(matching, boost, names_field),
        }
    }

    /// What a leaf stands for: terms, each by itself, of the fields that it names or of the default ones.
    fn matched(&self, matching: Normal, boost: f32, names_field: bool) -> Scored {
        let weight = |field: FieldId| match self.scopes.last() {
            Some(scope) if !names_field => {
                let own = scope.fields.iter().find(|(other, _)| *other == field);
                finite(boost * own.map_or(1.0, |(_, boost)| *boost))
            }
            _ => boost,
        };
        match matching {
            Normal::Term { field, term } => Scored::Term { field, term, boost: weight(field) },
            Normal::Phrase { field, phrase } => {
                Scored::Phrase { field, phrase, boost: weight(field) }
            }
            Normal::Expand { field, terms }
                if self.options.pattern_terms > 0 && terms.has_best_terms() =>
            {
                let n = self.options.pattern_terms;
                Scored::BestTerms { field, terms, n, boost: weight(field) }
            }
            Normal::Expand { field, .. } => Scored::Constant { score: weight(field), matching },
            Normal::And { all, none } if none.is_empty() && !all.is_empty() => {
                let all = all.into_iter().map(|part| self.matched(part, boost, names_field));
                sum(all.collect(), vec![], vec![], 0)
            }
            Normal::Or(any) => {
                let any = any.into_iter().map(|part| self.matched(part, boost, names_field));
                sum(vec![], any.collect(), vec![], 1)
            }
            other => Scored::Constant { matching: other, score: boost },
        }
    }
}

impl Scope {
    /// The score of a leaf that is one word or, with synonyms, several, each in some of the fields; `None` for
    /// others. Fields may have different terms for the same word; of several words those that are the same
    /// belong together.
    fn words(&self, matching: &Normal, boost: f32) -> Option<Scored> {
        let any = match matching {
            Normal::Or(any) => &any[..],
            one => std::slice::from_ref(one),
        };
        let terms = any.iter().map(|part| match part {
            Normal::Term { field, term } => Some((*field, term)),
            _ => None,
        });
        let terms: Vec<(FieldId, &Vec<u8>)> = terms.collect::<Option<_>>()?;
        let mut words: Vec<Vec<CombinedField>> = vec![];
        let is_one_word = (0..terms.len())
            .all(|nth| terms[..nth].iter().all(|(field, _)| *field != terms[nth].0));
        for (field, term) in terms {
            let belongs = |word: &&mut Vec<CombinedField>| {
                is_one_word || word.iter().any(|other| other.term.as_ref() == Some(term))
            };
            let place = match words.iter_mut().find(belongs) {
                Some(word) => word,
                None => {
                    let fields = self.fields.iter();
                    let none = |(field, weight): &(FieldId, f32)| CombinedField {
                        field: *field,
                        weight: *weight,
                        term: None,
                    };
                    words.push(fields.map(none).collect());
                    words.last_mut()?
                }
            };
            place.iter_mut().find(|other| other.field == field)?.term = Some(term.clone());
        }
        let words = words.into_iter().map(|fields| Scored::Combined { fields, boost });
        Some(sum(vec![], words.collect(), vec![], 1))
    }
}

/// Whether a leaf says itself in which field it is meant.
fn names_field(leaf: &Query) -> bool {
    leaf.field_of_terms().is_none_or(Option::is_some)
}

/// The best of what is left of some alternatives.
fn best_of(any: Vec<Clause<Scored>>, tie: f32) -> Clause<Scored> {
    Group::any(any).settle(|_| {}).map(|mut settled| match settled.should.len() {
        1 => settled.should.remove(0),
        _ => Scored::Max { any: settled.should, tie },
    })
}

/// The sum of what is left of clauses side by side.
fn group_sum(group: Group<Scored>) -> Clause<Scored> {
    group.settle(|_| {}).map(|settled| {
        let Settled { mut must, mut should, minimum, scored, must_not } = settled;
        match minimum {
            0 => should.extend(scored),
            _ if scored.is_empty() => {}
            _ => {
                must.push(sum(vec![], should, vec![], minimum));
                return sum(must, scored, must_not, 0);
            }
        }
        sum(must, should, must_not, minimum)
    })
}

/// A sum with no sum inside that could as well be part of it, and every term once: asking twice for a word
/// gives it twice the weight.
fn sum(must: Vec<Scored>, should: Vec<Scored>, must_not: Vec<Normal>, minimum: u32) -> Scored {
    let mut all = vec![];
    for part in must {
        match part {
            Scored::Sum { must, should, must_not, minimum: 0 }
                if should.is_empty() && must_not.is_empty() =>
            {
                all.extend(must);
            }
            other => all.push(other),
        }
    }
    let mut any = vec![];
    for part in should {
        match part {
            // One of one of these is one of these.
            Scored::Sum { must, should, must_not, minimum: 1 }
                if minimum <= 1 && must.is_empty() && must_not.is_empty() =>
            {
                any.extend(should);
            }
            other => any.push(other),
        }
    }
    let mut all = once_each(all);
    // Where a number of alternatives must match, each occurrence counts.
    let mut any = if minimum <= 1 { once_each(any) } else { any };
    if must_not.is_empty() {
        match (all.len(), any.len(), minimum) {
            (1, 0, 0) => return all.remove(0),
            (0, 1, 1) => return any.remove(0),
            _ => {}
        }
    }
    Scored::Sum { must: all, should: any, must_not, minimum }
}

/// The same terms, each where it stands first, with the sum of its weights.
fn once_each(parts: Vec<Scored>) -> Vec<Scored> {
    if parts.len() <= COMPARED_MAX {
        return once_each_of_few(parts);
    }
    let mut places = HashMap::new();
    let mut kept: Vec<Scored> = Vec::with_capacity(parts.len());
    for part in parts {
        if let Scored::Term { field, term, boost } = &part {
            let place = *places.entry((*field, term.clone())).or_insert(kept.len());
            if let Some(Scored::Term { boost: sum, .. }) = kept.get_mut(place) {
                *sum = finite(*sum + boost);
                continue;
            }
        }
        kept.push(part);
    }
    kept
}

/// Parts up to which comparing all with all costs less than hashing them.
const COMPARED_MAX: usize = 8;

/// The same by comparing each with those before.
fn once_each_of_few(mut parts: Vec<Scored>) -> Vec<Scored> {
    let mut nth = 0;
    while nth < parts.len() {
        let (before, rest) = parts.split_at_mut(nth);
        let same = match &rest[0] {
            Scored::Term { field, term, boost } => {
                before.iter_mut().find_map(|other| match other {
                    Scored::Term { field: of, term: text, boost: sum }
                        if (*of, &*text) == (*field, term) =>
                    {
                        Some((sum, *boost))
                    }
                    _ => None,
                })
            }
            _ => None,
        };
        match same {
            Some((sum, boost)) => {
                *sum = finite(*sum + boost);
                parts.remove(nth);
            }
            None => nth += 1,
        }
    }
    parts
}

/// Weights are multiplied without ever becoming infinite: then one document could not be told from another.
fn finite(weight: f32) -> f32 {
    weight.min(WEIGHT_MAX)
}

/// Leaves room for the sum of thousands of clauses and their idf.
const WEIGHT_MAX: f32 = 1e30;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::{ParseOptions, parse};
    use crate::schema::{Field, FieldKind};

    fn scored(text: &str) -> String {
        scored_with(text, ScoringOptions::default())
    }

    fn scored_with(text: &str, options: ScoringOptions) -> String {
        let schema = Schema::builder().text("title").text("body").build().unwrap();
        let query = parse(text, &ParseOptions::default()).unwrap();
        show(&scoring(&query, &schema, &Analyzers::default(), options).unwrap())
    }

    /// Terms with their fields' initials and boosts.
    fn show(scored: &Scored) -> String {
        let join = |parts: &[Scored], sign: &str| {
            parts.iter().map(|part| format!("{sign}{}", show(part))).collect::<Vec<_>>()
        };
        match scored {
            Scored::Term { field, term, boost } => {
                let name = if field.0 == 0 { "t" } else { "b" };
                format!("{name}:{}^{boost}", String::from_utf8_lossy(term))
            }
            Scored::Combined { fields, boost } => {
                let text = |term: &Vec<u8>| String::from_utf8_lossy(term).into_owned();
                let parts = fields.iter().map(|field| {
                    let term = field.term.as_ref().map_or("-".into(), text);
                    format!("{term}*{}", field.weight)
                });
                format!("[{}]^{boost}", parts.collect::<Vec<_>>().join(" "))
            }
            Scored::Phrase { phrase, boost, .. } => format!("phrase of {}^{boost}", phrase.len()),
            Scored::BestTerms { n, boost, .. } => format!("best {n}^{boost}"),
            Scored::Constant { score, .. } => format!("={score}"),
            Scored::Sum { must, should, must_not, minimum } => {
                let mut parts = [join(must, "+"), join(should, "")].concat();
                parts.extend(must_not.iter().map(|_| "-".to_owned()));
                format!("({})~{minimum}", parts.join(" "))
            }
            Scored::Max { any, tie } => format!("max({})~{tie}", join(any, "").join(" ")),
        }
    }

    #[test]
    fn clauses_add_up_in_the_order_of_the_query() {
        for (text, expected) in [
            ("title:a", "t:a^1"),
            ("title:a AND title:b", "(+t:a^1 +t:b^1)~0"),
            ("title:b OR title:a", "(t:b^1 t:a^1)~1"),
            ("+title:a title:b -title:c", "(+t:a^1 t:b^1 -)~0"),
            ("title:a title:b title:a", "(t:a^2 t:b^1)~1"),
            ("title:(a AND (b AND c))", "(+t:a^1 +t:b^1 +t:c^1)~0"),
            ("title:(a AND (b OR c))", "(+t:a^1 +(t:b^1 t:c^1)~1)~0"),
            ("a", "(t:a^1 b:a^1)~1"),
            ("title:a^3 title:b^2", "(t:a^3 t:b^2)~1"),
            ("(title:a^3 title:b)^2", "(t:a^6 t:b^2)~1"),
            ("title:ab* title:b", "(=1 t:b^1)~1"),
            ("title:(a b)^=4", "=4"),
            ("{title^3 body}:x", "(t:x^3 b:x^1)~1"),
            ("{title^3 + body}:x", "[x*3 x*1]^1"),
            ("{title^3 + body}:(x title:y z)^2", "([x*3 x*1]^2 t:y^2 [z*3 z*1]^2)~1"),
            ("{title^3 + body}:\"a b\"", "(phrase of 2^3 phrase of 2^1)~1"),
            ("MAX [title:a title:b]~0.5", "max(t:a^1 t:b^1)~0.5"),
            ("title:\"a b\"^2 title:a-b", "(phrase of 2^2 phrase of 2^1)~1"),
            ("NOT title:a", "=0"),
            ("*", "=1"),
        ] {
            assert_eq!(scored(text), expected, "{text}");
        }
    }

    #[test]
    fn patterns_are_scored_by_their_best_terms_where_that_is_asked_for() {
        let options = ScoringOptions { pattern_terms: 5 };
        for (text, expected) in [
            ("title:ab*", "best 5^1"),
            ("ab*^3", "(best 5^3 best 5^3)~1"),
            ("{title^2 + body}:a?b", "(best 5^2 best 5^1)~1"),
            ("{title^2 body}:a?b", "(best 5^2 best 5^1)~1"),
            ("title:/a+/ title:ab~1 title:c", "(best 5^1 best 5^1 t:c^1)~1"),
            ("title:[a TO b] title:IN [a b]", "(=1 =1)~1"),
            ("title:ab*^=2", "=2"),
            ("title:c -title:ab*", "(t:c^1 -)~1"),
        ] {
            assert_eq!(scored_with(text, options), expected, "{text}");
        }
    }

    #[test]
    fn fields_with_other_analyzers_combine_what_a_word_is_there() {
        let text =
            |name: &str, analyzer: &str| Field::new(name, FieldKind::Text).analyzer(analyzer);
        let schema = Schema::builder()
            .field(text("title", "default"))
            .field(text("body", "english"))
            .build()
            .unwrap();
        for (query, expected) in [
            ("{title^3 + body}:Parks", "[parks*3 park*1]^1"),
            ("{title^3 + body}:The", "[the*3 -*1]^1"),
        ] {
            let query = parse(query, &ParseOptions::default()).unwrap();
            let options = ScoringOptions::default();
            let scored = scoring(&query, &schema, &Analyzers::default(), options).unwrap();
            assert_eq!(show(&scored), expected);
        }
    }
}
