//! What a query asked for, and what it became, match the same documents: for every document there can be
//! with two words and two values.

use super::*;
use crate::analysis::Analyzer;
use crate::query::{ParseOptions, Proximity, Tie, parse};
use proptest::prelude::*;
use std::collections::HashSet;

fn schema() -> Schema {
    Schema::builder().text("title").text("body").keyword("kind").build().unwrap()
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
    let has =
        |field: usize, term: &str| doc.0[field].as_ref().is_some_and(|terms| terms.contains(&term));
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
            assert!(phrase.open.is_empty() && phrase.proximity == Proximity::Exact);
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
    let unique = |queries: &[Normal]| queries.iter().collect::<HashSet<_>>().len() == queries.len();
    let below =
        |queries: &[Normal]| queries.iter().all(|query| is_normal(query, false)) && unique(queries);
    match normal {
        Normal::All | Normal::Nothing { .. } => root,
        Normal::Term { .. } | Normal::Expand { .. } | Normal::Phrase { .. } | Normal::Exists(_) => {
            true
        }
        Normal::Or(any) => {
            any.len() > 1 && below(any) && !any.iter().any(|query| matches!(query, Normal::Or(_)))
        }
        Normal::AtLeast { minimum, any } => {
            (2..any.len()).contains(&(*minimum as usize))
                && any.iter().all(|query| {
                    !matches!(query, Normal::All | Normal::Nothing { .. }) && is_normal(query, true)
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
        prop_oneof![Just(""), Just("a-b"), Just("a")].prop_map(|value| Query::value("kind", value)),
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
            some().prop_map(|any| Query::DisMax { any, tie: Tie::ZERO }),
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
