//! Patterns over dictionaries: random words in many alphabets, in one segment and in several,
//! against an index that looks at every term of every document; and the limits.

use crate::random::Random;
use std::sync::LazyLock;

use crate::naive::NaiveIndex;
use treepie::explain::ExplainNode;
use treepie::query::{Fuzziness, Query};
use treepie::search::{Order, TotalMode};
use treepie::{Document, ErrorKind, Field, FieldKind, Index, Schema, Searcher};

const N_DOCS: usize = 3_000;
const QUERIES: usize = 600;

impl Random {
    fn one_of<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.below(items.len())]
    }

    /// A word of few letters, so that words are alike, with some that take several bytes.
    fn any_word(&mut self) -> String {
        let len = 1 + self.below(5);
        (0..len).map(|_| self.one_of(&["a", "b", "c", "é", "я", "東", "𝒳"])).collect()
    }
}

struct Corpus {
    naive: NaiveIndex,
    searchers: [Searcher; 2],
}

/// More distinct words than a plan keeps of a pattern, some in one document and some in most.
static CORPUS: LazyLock<Corpus> = LazyLock::new(|| {
    // The naive index folds no diacritics and knows no pairs.
    let text = Field::new("text", FieldKind::Text).analyzer("alphanumeric|lower");
    let schema = Schema::builder().field(text).keyword("tag").build().unwrap();
    let mut random = Random(7);
    let docs: Vec<Document> = (0..N_DOCS)
        .map(|doc| {
            let mut words: Vec<String> = (0..random.below(5)).map(|_| random.any_word()).collect();
            words.push(random.one_of(&["common", "comma", "comet"]).into());
            words.push(format!("w{doc:04}"));
            let mut document = Document::new().with("text", words.join(" "));
            if random.below(3) > 0 {
                document.push("tag", format!("{} {}", random.any_word(), random.any_word()));
            }
            document
        })
        .collect();
    let naive = NaiveIndex::new(&schema, &docs);
    let searchers =
        [&[&docs[..]][..], &[&docs[..5], &docs[5..1_800], &docs[1_800..]]].map(|parts| {
            let index = Index::in_memory(schema.clone());
            let mut writer = index.writer().unwrap();
            for part in parts {
                part.iter().for_each(|document| writer.add(document.clone()).unwrap());
                writer.commit().unwrap();
            }
            index.searcher().unwrap()
        });
    Corpus { naive, searchers }
});

fn pattern(random: &mut Random) -> Query {
    let word = random.any_word();
    let query = match random.below(6) {
        0 => Query::prefix(match random.below(4) {
            0 => random.one_of(&["w", "w0", "com", "W12"]).into(),
            _ => word.chars().take(2).collect::<String>(),
        }),
        1 => {
            let piece = |random: &mut Random| match random.below(4) {
                0 => "*".to_string(),
                1 => "?".to_string(),
                _ => random.one_of(&["a", "é", "東", "w", "0", "com"]).to_string(),
            };
            Query::wildcard((0..1 + random.below(5)).map(|_| piece(random)).collect::<String>())
        }
        2 | 3 => {
            let fuzziness = Fuzziness {
                distance: random.below(3) as u8,
                prefix_len: random.below(3) as u32,
                transpositions: random.below(2) == 0,
            };
            let word = if random.below(4) == 0 { "comon".into() } else { word };
            Query::fuzzy(word, fuzziness).unwrap()
        }
        4 => {
            let [mut a, mut b] = [word, random.any_word()];
            if a > b {
                std::mem::swap(&mut a, &mut b);
            }
            match random.below(4) {
                0 => Query::range(a..b),
                1 => Query::range(a..=b),
                2 => Query::range(a..),
                _ => Query::range(..b),
            }
        }
        _ => Query::in_set((0..1 + random.below(6)).map(|_| random.any_word())),
    };
    match random.below(4) {
        0 => query.in_field("tag"),
        1 => query.in_field("text"),
        _ => query,
    }
}

fn query(random: &mut Random) -> Query {
    let mut some = |n| (0..n).map(|_| pattern(random)).collect::<Vec<_>>();
    let (a, b) = (some(2), some(1));
    match random.below(6) {
        0 => Query::And(a),
        1 => Query::Or(a),
        2 => Query::group(a, vec![], b),
        3 => Query::all_of([Query::word("common"), b[0].clone()]),
        _ => b[0].clone(),
    }
}

#[test]
fn patterns_find_what_looking_at_every_term_finds() {
    let mut random = Random(99);
    for _ in 0..QUERIES {
        check(&query(&mut random));
    }
}

fn check(query: &Query) {
    let expected: Vec<u64> = (0..)
        .zip(CORPUS.naive.matches(query))
        .filter_map(|(doc, hit)| hit.then_some(doc))
        .collect();
    check_against(query, &expected);
}

fn check_against(query: &Query, expected: &[u64]) {
    for searcher in &CORPUS.searchers {
        assert_eq!(searcher.count(query).unwrap(), expected.len() as u64, "{query}");
        for (offset, limit, total) in [
            (0, 10, TotalMode::Unknown),
            (3, 5, TotalMode::UpTo(20)),
            (7, 2_000, TotalMode::Exact),
            (0, 10_000, TotalMode::Unknown),
        ] {
            let search = searcher.search(query).order(Order::Document);
            let search = search.offset(offset).limit(limit).total(total);
            let hits = search.fields([] as [&str; 0]).run().unwrap();
            let docs: Vec<u64> = hits.hits.iter().map(|hit| hit.doc.0).collect();
            let page = expected.iter().skip(offset as usize).take(limit as usize);
            assert_eq!(docs, page.copied().collect::<Vec<_>>(), "{query} {offset} {limit}");
            if matches!(total, TotalMode::Exact) {
                assert_eq!(hits.total.value, expected.len() as u64, "{query}");
            }
            assert!(hits.total.value <= expected.len() as u64, "{query}");
        }
        let plan = searcher.search(query).count_only().analyze().unwrap().plan;
        assert_eq!(plan.actual.as_ref().unwrap().documents, expected.len() as u64);
        bounds_hold(&plan, query);
        let page = searcher.search(query).limit(3).total(TotalMode::Unknown).analyze().unwrap();
        bounds_hold(&page.plan, query);
    }
}

fn bounds_hold(node: &ExplainNode, query: &Query) {
    // Beside the best there may be nothing to carry out.
    if let Some(actual) = &node.actual {
        assert!(actual.documents <= node.estimate.upper, "{query}: {node:?}");
        if actual.complete {
            assert!(node.estimate.lower <= actual.documents, "{query}: {node:?}");
        }
    }
    node.children.iter().for_each(|child| bounds_hold(child, query));
}

/// Whether a term matches, said without the expression.
type IsMeant<'a> = &'a dyn Fn(&str) -> bool;

#[test]
fn regular_expressions_match_whole_terms() {
    let text = Some("text".to_string());
    let cases: [(&str, IsMeant<'_>); 6] = [
        ("[aé]+", &|term| term.chars().all(|c| "aé".contains(c))),
        ("com(ma|et)", &|term| ["comma", "comet"].contains(&term)),
        (".*東", &|term| term.ends_with('東')),
        (r"w\d{3}7", &|term| term.starts_with('w') && term.ends_with('7')),
        (".{3}", &|term| term.chars().count() == 3),
        ("", &|_| false),
    ];
    for (pattern, is_meant) in cases {
        let found = CORPUS.naive.any_term(&text, |term, _: FieldKind| is_meant(term));
        let docs = (0..).zip(found).filter_map(|(doc, hit)| hit.then_some(doc));
        check_against(&Query::regex(pattern).in_field("text"), &docs.collect::<Vec<_>>());
    }
}

#[test]
fn a_prefix_of_every_term_is_every_document_that_has_one() {
    for text in ["**", "w*", "[* TO *]", "tag:**", "/.*/"] {
        let query = CORPUS.searchers[0].parse(text).unwrap();
        let expected = match text {
            "tag:**" => CORPUS.searchers[0].count(&Query::exists("tag")).unwrap(),
            _ => N_DOCS as u64,
        };
        for searcher in &CORPUS.searchers {
            assert_eq!(searcher.count(&query).unwrap(), expected, "{text}");
        }
    }
}

#[test]
fn the_plan_tells_the_terms_and_how_they_are_read() {
    let searcher = &CORPUS.searchers[0];
    let query = searcher.parse("com* AND w12*").unwrap();
    let tree = searcher.search(&query).count_only().analyze().unwrap();
    let expansions: Vec<_> = tree.plan.children.iter().collect();
    assert_eq!(expansions[0].operator.name(), "Expand");
    assert_eq!(expansions[0].predicate.as_deref(), Some("text:w12*"), "the smaller first");
    let terms = expansions[0].actual.as_ref().unwrap().terms.unwrap();
    assert_eq!((terms.visited, terms.expanded, terms.cut), (100, 100, false));
    assert!(expansions[0].algorithm.starts_with("lists of 100 terms united"), "{tree}");
    assert_eq!(expansions[0].decisions[0].rule, "unite the terms");
    assert!(tree.to_string().contains("100 terms of 100 visited"), "{tree}");
    assert!(tree.to_json().contains(r#""terms":{"visited":100,"expanded":100,"cut":false}"#));

    let all = searcher.parse("w*").unwrap();
    let tree = searcher.search(&all).count_only().analyze().unwrap();
    assert!(tree.plan.algorithm.starts_with("lists of 3000 terms united"), "{tree}");
    let some = searcher.search(&searcher.parse("w*0*").unwrap()).explain().unwrap();
    assert!(some.plan.children[0].algorithm.contains("1024 or more terms"), "{some}");
    let terms = tree.plan.actual.as_ref().unwrap().terms.unwrap();
    assert_eq!(terms.expanded, N_DOCS as u64);

    let tree = searcher.search(&all).total(TotalMode::Unknown).analyze().unwrap();
    let expansion = &tree.plan.children[0];
    assert_eq!(expansion.decisions[0].rule, "smallest documents", "{tree}");
    let actual = expansion.actual.as_ref().unwrap();
    assert_eq!(actual.documents, 10);
    assert!(actual.terms.unwrap().cut, "the first ten documents are found early: {tree}");
}

#[test]
fn what_is_too_much_names_its_limit() {
    let long = "x".repeat(200);
    let cases = [
        ("/(a|b)*a(a|b){18}/".to_string(), "REGEX_BYTES_MAX"),
        (format!("*{long}"), "WILDCARD_BYTES_MAX"),
        (format!("{long}~2"), "FUZZY_CHARS_MAX"),
    ];
    for (text, limit) in cases {
        let query = CORPUS.searchers[0].parse(&text).unwrap();
        let error = CORPUS.searchers[0].count(&query).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
        assert!(error.to_string().contains(limit), "{error}");
        assert_eq!(error.span(), Some(0..text.len()), "{error}");
    }
}
