//! Tests that a query, its bound form and its scored form match alike. They try every document there can be with two
//! words and two values. The analyzer of one field leaves out one of the words.

use super::*;
use crate::analysis::Analyzer;
use crate::query::{Logical, ParseOptions, Proximity, Tie, parse};
use crate::schema::{Field, FieldKind};
use proptest::prelude::*;
use std::collections::HashSet;

fn schema() -> Schema {
    let body = Field::new("body", FieldKind::Text).analyzer(WITHOUT_A);
    Schema::builder().text("title").field(body).keyword("kind").build().unwrap()
}

/// Leaves out `a`.
const WITHOUT_A: &str = "alphanumeric|lower|stop:en";

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
        for body in [&texts[0], &texts[1], &texts[3]] {
            let body =
                body.clone().map(|words| words.into_iter().filter(|it| *it != "a").collect());
            for kind in [None, Some(vec!["a"]), Some(vec!["a-b", "a"]), Some(vec![""])] {
                docs.push(Doc([title.clone(), body.clone(), kind]));
            }
        }
    }
    docs
}

/// Predicate of a clause on a document, as the documentation of [`Query`] has it.
#[derive(Clone, Copy, Debug)]
enum Asked {
    /// Whether it matches.
    Whole(bool),
    /// Whether it matches in the fields that have something of it; there are others.
    Partial(bool),
    /// No field has anything of it.
    Dropped,
}

use Asked::{Dropped, Partial, Whole};

fn asked(query: &Query, doc: &Doc) -> bool {
    matches!(said(query, doc), Whole(true) | Partial(true))
}

fn said(query: &Query, doc: &Doc) -> Asked {
    let all = |queries: &[Query]| queries.iter().map(|query| said(query, doc)).collect::<Vec<_>>();
    let at = |name: &str| schema().field_id(name).unwrap().index();
    match query {
        Query::All => Whole(true),
        Query::Nothing => Whole(false),
        Query::Word { field, text, .. } | Query::Phrase { field, text, .. } => {
            let fields = field.as_ref().map_or(vec![0, 1], |name| vec![at(name)]);
            either(fields.into_iter().map(|field| said_in(field, text, doc)).collect())
        }
        Query::Exists { field, .. } => Whole(doc.0[at(field)].is_some()),
        Query::And(queries) => grouped(&with_filters(queries, doc), &[], &[], None),
        Query::Or(any) | Query::DisMax { any, .. } if any.is_empty() => Whole(false),
        Query::Or(any) | Query::DisMax { any, .. } => grouped(&[], &all(any), &[], None),
        Query::Not(query) => match said(query, doc) {
            Whole(is) | Partial(is) => Whole(!is),
            Dropped => Dropped,
        },
        Query::Boost { query, .. } | Query::ConstantScore { query, .. } => said(query, doc),
        Query::Group { must, should, must_not, minimum } => {
            grouped(&with_filters(must, doc), &all(should), &all(must_not), *minimum)
        }
        other => unreachable!("{other:?}"),
    }
}

fn with_filters(queries: &[Query], doc: &Doc) -> Vec<(Asked, bool)> {
    queries.iter().map(|query| (said(query, doc), is_filter(query))).collect()
}

fn is_filter(query: &Query) -> bool {
    match query {
        Query::ConstantScore { .. } => true,
        Query::And(all) | Query::Or(all) => !all.is_empty() && all.iter().all(is_filter),
        _ => false,
    }
}

fn said_in(field: usize, text: &str, doc: &Doc) -> Asked {
    let words = doc.0[field].as_deref().unwrap_or_default();
    let analyzer = match field {
        0 => Analyzer::default(),
        1 => Analyzer::from_spec(WITHOUT_A).unwrap(),
        _ => return Whole(words.contains(&text)),
    };
    match analyzer.tokens(text) {
        terms if terms.is_empty() => Dropped,
        terms => Whole(words.windows(terms.len()).any(|words| words == &terms[..])),
    }
}

/// Predicate that holds in one of several fields.
fn either(fields: Vec<Asked>) -> Asked {
    let is = fields.iter().any(|field| matches!(field, Whole(true)));
    match fields.iter().filter(|field| matches!(field, Dropped)).count() {
        0 => Whole(is),
        n if n == fields.len() => Dropped,
        _ => Partial(is),
    }
}

/// Clauses side by side: written down by cases, as a group is explained to people.
fn grouped(
    must: &[(Asked, bool)],
    should: &[Asked],
    must_not: &[Asked],
    minimum: Option<u32>,
) -> Asked {
    let is = |said: &Asked| matches!(said, Whole(true) | Partial(true));
    let is_whole = |said: &&Asked| matches!(said, Whole(_));
    let is_partial = |said: &&Asked| matches!(said, Partial(_));
    let filters: Vec<_> = must
        .iter()
        .filter(|(said, is_filter)| *is_filter && is_whole(&said))
        .map(|it| it.0)
        .collect();
    let required: Vec<_> = must
        .iter()
        .filter(|(said, is_filter)| !is_filter && is_whole(&said))
        .map(|it| it.0)
        .collect();
    let optional: Vec<_> = must.iter().map(|it| it.0).filter(|said| is_partial(&said)).collect();
    let has_words = must.iter().any(|it| !it.1);
    let (whole, partial): (Vec<Asked>, Vec<Asked>) =
        should.iter().filter(|said| !matches!(said, Dropped)).partition(|said| is_whole(said));
    let excluded: Vec<_> = must_not.iter().filter(|said| !matches!(said, Dropped)).collect();
    let n_left = required.len() + optional.len() + whole.len() + partial.len() + excluded.len();
    let n_given = must.len() + should.len() + must_not.len();
    let n_musts_dropped = must.iter().filter(|it| matches!(it.0, Dropped)).count();
    if n_left == 0 && n_given > filters.len() && (filters.is_empty() || n_musts_dropped > 0) {
        return Dropped;
    }
    let others = filters.iter().all(is) && !excluded.into_iter().any(is);
    let n_matching = |any: &[Asked]| any.iter().filter(|said| is(said)).count();
    let n_alternatives = n_matching(&whole) + n_matching(&partial);
    let (has_required, all_required) = (!required.is_empty(), required.iter().all(is));
    let filters_only = !filters.is_empty() && !has_words;
    match minimum.map(|minimum| minimum as usize) {
        // Alternatives are counted.
        Some(minimum @ 1..) if minimum <= whole.len() || minimum > should.len() => {
            let is_enough = n_alternatives >= minimum;
            Whole(others && all_required && is_enough)
        }
        // All of those that can be required are.
        Some(1..) if !whole.is_empty() => Whole(others && all_required && whole.iter().all(is)),
        Some(minimum @ 1..) => {
            let is_enough = n_alternatives >= minimum.min(partial.len());
            if has_required || filters_only {
                return Whole(others && all_required && is_enough);
            }
            let all = optional.iter().all(is);
            let said = others && is_enough && all;
            if optional.is_empty() && partial.is_empty() { Whole(said) } else { Partial(said) }
        }
        None if !has_required && !filters_only && (!whole.is_empty() || !partial.is_empty()) => {
            let said = others && (n_alternatives > 0 || optional.iter().any(is));
            if whole.is_empty() { Partial(said) } else { Whole(said) }
        }
        _ if has_required || filters_only => Whole(others && all_required),
        _ if optional.is_empty() && (!whole.is_empty() || partial.is_empty()) => Whole(others),
        _ => Partial(others && optional.iter().all(is)),
    }
}

fn matches(normal: &Normal, doc: &Doc) -> bool {
    match normal {
        Normal::All => true,
        Normal::Nothing { .. } => false,
        Normal::Term { field, term } => {
            let terms = doc.0[field.index()].as_ref();
            terms.is_some_and(|terms| terms.iter().any(|other| other.as_bytes() == &term[..]))
        }
        Normal::Phrase { field, phrase } => {
            assert!(phrase.open.is_empty() && phrase.proximity == Proximity::Exact);
            let terms = doc.0[field.index()].as_deref().unwrap_or_default();
            (0..terms.len()).any(|start| {
                phrase.words.iter().all(|word| {
                    let term = terms.get(start + word.offset as usize);
                    let wanted = &phrase.terms[word.term as usize][..];
                    term.is_some_and(|term| term.as_bytes() == wanted)
                })
            })
        }
        Normal::Expand { field, terms } => doc.0[field.index()]
            .iter()
            .flatten()
            .any(|term| crate::query::expand::tests::is_meant(terms.pattern(), term)),
        Normal::Exists(field) => doc.0[field.index()].is_some(),
        Normal::Nearest(_) | Normal::Area { .. } => unreachable!("{normal:?}"),
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

/// Whether a document is one of those that are scored.
fn is_scored(scored: &Logical, doc: &Doc) -> bool {
    let is = |part: &Logical| is_scored(part, doc);
    match scored {
        Logical::Term { field, term, .. } => {
            matches(&Normal::Term { field: *field, term: term.clone() }, doc)
        }
        Logical::Phrase { field, phrase, .. } => {
            matches(&Normal::Phrase { field: *field, phrase: phrase.clone() }, doc)
        }
        Logical::Constant { matching, .. } => matches(matching, doc),
        Logical::Sum { must, should, must_not, minimum } => {
            must.iter().all(is)
                && should.iter().filter(|part| is(part)).count() >= *minimum as usize
                && !must_not.iter().any(|not| matches(not, doc))
        }
        Logical::Max { any, .. } => any.iter().any(is),
        other => unreachable!("{other:?}"),
    }
}

/// Whether a node is as the documentation of [`Normal`] promises.
fn is_normal(normal: &Normal, root: bool) -> bool {
    let unique = |queries: &[Normal]| queries.iter().collect::<HashSet<_>>().len() == queries.len();
    let below =
        |queries: &[Normal]| queries.iter().all(|query| is_normal(query, false)) && unique(queries);
    match normal {
        Normal::All | Normal::Nothing { .. } => root,
        Normal::Term { .. }
        | Normal::Expand { .. }
        | Normal::Phrase { .. }
        | Normal::Nearest(_)
        | Normal::Area { .. }
        | Normal::Exists(_) => true,
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

/// Found by the property below: a negated value as the only alternative of a must clause, more or fewer alternatives
/// asked for than there are, of a word that one field has nothing of, and a filter in an AND of its own.
#[test]
fn what_the_property_found_is_asked_and_rewritten_alike() {
    let group = |must, should, minimum| Query::Group { must, should, must_not: vec![], minimum };
    let without = Query::not(Query::value("kind", ""));
    let too_many = group(vec![], vec![Query::word("a")], Some(2));
    let none_of = |word| group(vec![], vec![Query::word(word)], Some(0));
    let beside = group(vec![], vec![Query::word("b")], None);
    let is_empty = Query::value("kind", "").filter();
    for query in [
        group(vec![Query::Or(vec![without])], vec![], None),
        group(vec![too_many, beside], vec![], None),
        Query::And(vec![Query::word("a"), none_of("a")]),
        Query::And(vec![Query::word("a"), none_of("b")]),
        group(
            vec![Query::word("--"), Query::And(vec![is_empty])],
            vec![Query::exists("title")],
            None,
        ),
    ] {
        let normal = rewrite(&query, &schema(), &Analyzers::default()).unwrap().normal;
        assert!(is_normal(&normal, true), "{normal:?}");
        let printed = parse(&query.to_string(), &ParseOptions::default()).unwrap();
        for doc in universe() {
            assert_eq!(asked(&query, &doc), matches(&normal, &doc), "{normal:?} on {doc:?}");
            assert_eq!(asked(&query, &doc), asked(&printed, &doc), "{query} on {doc:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn what_was_asked_and_what_it_became_match_the_same_documents(query in queries()) {
        let Rewritten { normal, .. } = rewrite(&query, &schema(), &Analyzers::default()).unwrap();
        prop_assert!(is_normal(&normal, true), "{:?}", normal);
        let same = parse(&query.to_string(), &ParseOptions::default()).unwrap();
        let options = BindOptions::default();
        let memory = &mut BindMemory::default();
        let bound = bind(&query, &schema(), &Analyzers::default(), options, memory).unwrap();
        let logical = bound.logical;
        let printed = normal.display(&schema()).to_string();
        let parsed = parse(&printed, &ParseOptions::default()).unwrap();
        for doc in universe() {
            prop_assert_eq!(asked(&query, &doc), matches(&normal, &doc), "{} as {} on {:?}", query, printed, doc);
            prop_assert_eq!(is_scored(&logical, &doc), matches(&normal, &doc), "{} scored as {:?} on {:?}", query, logical, doc);
            prop_assert_eq!(asked(&same, &doc), asked(&query, &doc), "{:?} printed {}", query, query);
            prop_assert_eq!(asked(&parsed, &doc), matches(&normal, &doc), "{} printed {}", query, printed);
        }
        let again = rewrite(&parsed, &schema(), &Analyzers::default()).unwrap().normal;
        prop_assert!(is_normal(&again, true));
    }
}
