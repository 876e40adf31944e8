//! Logical tree of a query: the documents that match, and the parts of scores.
//!
//! [`bind`](super::bind()) makes it of a [`Query`](super::Query), in the order of its clauses: fields are ids, words
//! are terms, and clauses without terms have dropped out. Scored parts stay as they were asked for: how often for a
//! word, with which weight, and by which clauses that match nothing by themselves. The matching documents follow from
//! it by the laws of sets, which may drop, merge and move parts as long as the set stays the same: that is [`Normal`].
//!
//! A part that has no frequency to score by (ranges, values, existence) adds its weight, as one does for `*`. So do
//! prefixes and other patterns, unless their best terms are asked for. A word in several fields adds what it has in each.

use super::normal::{NeighborsSpec, Normal};
use super::phrase_spec::PhraseSpec;
use crate::expansion::Expansion;
use crate::ids::FieldId;
use crate::recycle::FreeLists;
use crate::schema::Schema;
use crate::term::Term;
use std::collections::HashMap;
use std::sync::Arc;

/// Documents, and how each is scored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Logical {
    /// A term, by how often and in how long a document it is, and how rare it is.
    Term { field: FieldId, term: Term, boost: f32 },
    /// A word in fields that are taken for one, by the frequencies and lengths of all of them.
    Combined { fields: Vec<CombinedField>, boost: f32 },
    /// A phrase, by how often it is there; its rarity is the sum of its words'.
    Phrase { field: FieldId, phrase: Arc<PhraseSpec>, boost: f32 },
    /// The terms of a pattern, by the best `n` of them: other documents that match add nothing.
    BestTerms { field: FieldId, terms: Expansion, n: u32, boost: f32 },
    /// Neighbours of a vector, by how near they are.
    Nearest { neighbors: Arc<NeighborsSpec>, boost: f32 },
    /// One score for every document in a set.
    Constant { matching: Normal, score: f32 },
    /// The sum over what matches: all of `must`, none of `must_not`, at least `minimum` of `should`.
    Sum { must: Vec<Logical>, should: Vec<Logical>, must_not: Vec<Normal>, minimum: u32 },
    /// The best of what matches, and `tie` times the others.
    Max { any: Vec<Logical>, tie: f32 },
}

/// One of the fields that are taken for one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CombinedField {
    pub(crate) field: FieldId,
    pub(crate) weight: f32,
    /// Term that the word is there; none where the field's analyzer leaves it out.
    pub(crate) term: Option<Term>,
}

impl Logical {
    /// No document.
    const NOTHING: Logical =
        Logical::Sum { must: vec![], should: vec![], must_not: vec![], minimum: 1 };

    /// Whether no term is in two places, as far as it shows at the first look, and each is scored by its list. One of a field
    /// without frequencies is scored as a set.
    pub(crate) fn has_each_term_once(&self, schema: &Schema) -> bool {
        let is_term = |part: &Logical| match part {
            Logical::Term { field, .. } => schema.get(*field).detail.has_frequencies(),
            _ => false,
        };
        let are_terms = |parts: &[Logical]| parts.iter().all(is_term);
        match self {
            Logical::Term { .. } => is_term(self),
            Logical::Phrase { .. } => true,
            Logical::Sum { must, should, must_not, .. } => {
                must_not.is_empty()
                    && (must.is_empty() || should.is_empty())
                    && are_terms(must)
                    && are_terms(should)
            }
            Logical::Combined { .. }
            | Logical::BestTerms { .. }
            | Logical::Nearest { .. }
            | Logical::Constant { .. }
            | Logical::Max { .. } => false,
        }
    }

    /// A sum with no sum inside that could as well be part of it, and every term once: asking twice for a word
    /// gives it twice the weight.
    pub(super) fn sum(
        must: Vec<Logical>,
        should: Vec<Logical>,
        must_not: Vec<Normal>,
        minimum: u32,
        free: &mut FreeLists<Logical>,
    ) -> Self {
        let all = flat(must, free, |part| match part {
            Logical::Sum { must, should, must_not, minimum: 0 }
                if should.is_empty() && must_not.is_empty() =>
            {
                Some(must)
            }
            _ => None,
        });
        let any = flat(should, free, |part| match part {
            // One of one of these is one of these.
            Logical::Sum { must, should, must_not, minimum: 1 }
                if minimum <= 1 && must.is_empty() && must_not.is_empty() =>
            {
                Some(should)
            }
            _ => None,
        });
        let all = once_each(all);
        // If a number of alternatives must match, each occurrence counts.
        let any = if minimum <= 1 { once_each(any) } else { any };
        let one = match (all.len(), any.len(), minimum) {
            (1, 0, 0) if must_not.is_empty() => all,
            (0, 1, 1) if must_not.is_empty() => any,
            _ => return Logical::Sum { must: all, should: any, must_not, minimum },
        };
        free.last_of(one).unwrap_or(Logical::NOTHING)
    }
}

/// Opens up the parts whose own parts could as well stand beside the others.
fn flat(
    mut parts: Vec<Logical>,
    free: &mut FreeLists<Logical>,
    mut own: impl FnMut(&mut Logical) -> Option<&mut Vec<Logical>>,
) -> Vec<Logical> {
    if !parts.iter_mut().any(|part| own(part).is_some()) {
        return parts;
    }
    let mut all = free.take();
    for mut part in parts.drain(..) {
        match own(&mut part) {
            Some(inner) => {
                all.append(inner);
                free.give(std::mem::take(inner));
            }
            None => all.push(part),
        }
    }
    free.give(parts);
    all
}

/// Merges equal terms, each where it stands first, with the sum of its weights.
fn once_each(parts: Vec<Logical>) -> Vec<Logical> {
    if parts.len() <= COMPARED_MAX {
        return once_each_of_few(parts);
    }
    let mut places = HashMap::new();
    let mut kept: Vec<Logical> = Vec::with_capacity(parts.len());
    for part in parts {
        if let Logical::Term { field, term, boost } = &part {
            let place = *places.entry((*field, term.clone())).or_insert(kept.len());
            if let Some(Logical::Term { boost: sum, .. }) = kept.get_mut(place) {
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

/// Merges equal terms by comparing each with those before.
fn once_each_of_few(mut parts: Vec<Logical>) -> Vec<Logical> {
    let mut nth = 0;
    while nth < parts.len() {
        let (before, rest) = parts.split_at_mut(nth);
        let same = match &rest[0] {
            Logical::Term { field, term, boost } => {
                before.iter_mut().find_map(|other| match other {
                    Logical::Term { field: of, term: text, boost: sum }
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
pub(super) fn finite(weight: f32) -> f32 {
    weight.min(WEIGHT_MAX)
}

/// Leaves room for the sum of thousands of clauses and their idf.
const WEIGHT_MAX: f32 = 1e30;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Analyzers;
    use crate::query::{BindMemory, BindOptions, ParseOptions, bind, parse};
    use crate::schema::{Field, FieldKind, Schema};

    fn scored(text: &str) -> String {
        scored_with(text, BindOptions::default())
    }

    fn scored_with(text: &str, options: BindOptions) -> String {
        let schema = Schema::builder().text("title").text("body").build().unwrap();
        let query = parse(text, &ParseOptions::default()).unwrap();
        let memory = &mut BindMemory::default();
        show(&bind(&query, &schema, &Analyzers::default(), options, memory).unwrap().logical)
    }

    /// Terms with their fields' initials and boosts.
    fn show(scored: &Logical) -> String {
        let join = |parts: &[Logical], sign: &str| {
            parts.iter().map(|part| format!("{sign}{}", show(part))).collect::<Vec<_>>()
        };
        match scored {
            Logical::Term { field, term, boost } => {
                let name = if field.0 == 0 { "t" } else { "b" };
                format!("{name}:{}^{boost}", String::from_utf8_lossy(term))
            }
            Logical::Combined { fields, boost } => {
                let text = |term: &Term| String::from_utf8_lossy(term).into_owned();
                let parts = fields.iter().map(|field| {
                    let term = field.term.as_ref().map_or("-".into(), text);
                    format!("{term}*{}", field.weight)
                });
                format!("[{}]^{boost}", parts.collect::<Vec<_>>().join(" "))
            }
            Logical::Phrase { phrase, boost, .. } => format!("phrase of {}^{boost}", phrase.len()),
            Logical::BestTerms { n, boost, .. } => format!("best {n}^{boost}"),
            Logical::Nearest { boost, .. } => format!("near^{boost}"),
            Logical::Constant { score, .. } => format!("={score}"),
            Logical::Sum { must, should, must_not, minimum } => {
                let mut parts = [join(must, "+"), join(should, "")].concat();
                parts.extend(must_not.iter().map(|_| "-".to_owned()));
                format!("({})~{minimum}", parts.join(" "))
            }
            Logical::Max { any, tie } => format!("max({})~{tie}", join(any, "").join(" ")),
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
        let options = BindOptions { pattern_terms: 5, ..BindOptions::default() };
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
            let options = BindOptions::default();
            let memory = &mut BindMemory::default();
            let bound = bind(&query, &schema, &Analyzers::default(), options, memory).unwrap();
            assert_eq!(show(&bound.logical), expected);
        }
    }
}
