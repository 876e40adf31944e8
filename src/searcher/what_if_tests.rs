//! All alternatives of a query find the same, and every decision has its alternative measured.

use super::search::Search;
use super::stopping_tests::filled;
use super::{SearchBuilder, Searcher};
use crate::document::Document;
use crate::explain::{Actual, ExplainNode, ExplainTree};
use crate::plan::FacetMethod;
use crate::plan::forced::{Forced, InputOrder};
use crate::query::{ParseOptions, Query, parse};
use crate::request::{Collapse, Facet, Order, TotalMode};
use crate::schema::{Field, FieldKind, Schema};
use crate::sort::SortKey;
use crate::writer::IndexWriter;
use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::time::Duration;

/// Documents of the first segment: more than one window.
const N_DOCS: u32 = 70_000;
const QUERIES: usize = 300;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// Two segments of unlike sizes, of the second of which some are deleted.
fn searcher() -> Searcher {
    static SEARCHER: OnceLock<Searcher> = OnceLock::new();
    SEARCHER.get_or_init(|| filled(schema(), fill)).clone()
}

fn schema() -> Schema {
    Schema::builder()
        .text("text")
        .field(Field::new("kind", FieldKind::Keyword).column(true))
        .field(Field::new("price", FieldKind::I64).column(true))
        .field(Field::new("serial", FieldKind::I64).column(true))
        .build()
        .unwrap()
}

fn fill(writer: &mut IndexWriter) {
    for doc in 0..N_DOCS + 3_000 {
        if doc == N_DOCS {
            writer.commit().unwrap();
        }
        let mut text = format!("every w{} v{}", doc % 97, doc % 1_009);
        for (word, of) in
            [("half", 2), ("third", 3), ("tenth", 10), ("rare", 700), ("rarest", 9_001)]
        {
            if doc % of == 0 {
                text.push(' ');
                text.push_str(word);
            }
        }
        if doc % 14 < 5 {
            text.push_str(" new york");
        }
        // A run of them, and none anywhere else.
        if (66_000..66_400).contains(&doc) {
            text.push_str(" late");
        }
        let document = Document::new()
            .with("text", text)
            .with("kind", format!("k{}", doc % 53))
            .with("price", i64::from(doc.wrapping_mul(2_654_435_761) % 5_000))
            .with("serial", i64::from(doc.wrapping_mul(2_654_435_761)));
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    writer.delete(&query("v17 OR (w5 AND half)")).unwrap();
}

fn query(text: &str) -> Query {
    parse(text, &ParseOptions::default()).unwrap()
}

/// A query of operators and leaves of every kind.
fn any_query(random: &mut Random, depth: u32) -> String {
    const LEAVES: &[&str] = &[
        "every",
        "half",
        "third",
        "tenth",
        "rare",
        "rarest",
        "late",
        "w7",
        "w50",
        "v400",
        "nowhere",
        "\"new york\"",
        "\"half third\"~2",
        "w1*",
        "kind:k7",
        "kind:IN [k1 k2 k3 k4]",
        "price:[100 TO 140]",
        "price:[0 TO 3000]",
        "price:[17 TO 17]",
    ];
    if depth == 0 || random.below(4) == 0 {
        return random.one(LEAVES).to_owned();
    }
    let n = 2 + random.below(3);
    let inputs: Vec<String> = (0..n).map(|_| any_query(random, depth - 1)).collect();
    match random.below(4) {
        0 => format!("({})", inputs.join(" OR ")),
        1 => format!("({} -{})", inputs.join(" AND "), random.one(LEAVES)),
        _ => format!("({})", inputs.join(" AND ")),
    }
}

/// Each search in each of its forms.
fn forms<'s>(searcher: &'s Searcher, query: &'s Query) -> Vec<Search<'s>> {
    let search = || searcher.search(query).limit(7);
    let forms = [
        search().count_only(),
        search(),
        search().total(TotalMode::Unknown),
        search().order(Order::Document).total(TotalMode::Unknown),
        search().order(Order::Document).offset(3),
        search().sort([SortKey::descending("price")]),
        search().collapse(Collapse::by("kind")),
        search().count_only().facet("kind", 5),
        search().with_facet(Facet::values("kind").by_value().limit(4)).facet("price", 3),
        search().count_only().with_facet(Facet::statistics("serial").percentiles([50.0])),
    ];
    forms.map(SearchBuilder::search).into()
}

/// Takes everything otherwise that can be, and notes what that was.
fn try_all(search: &Search<'_>, taken: &mut BTreeSet<&'static str>) {
    let first = search.ran().unwrap();
    for forced in search.otherwise(&first).unwrap() {
        let search = Search { forced: Some(forced), ..search.clone() };
        let ran = search.ran().unwrap();
        if let Err(error) = first.must_equal(&ran, forced) {
            panic!("{}: {error}", search.query());
        }
        if ran.is_forced(forced) {
            taken.insert(forced.name());
        }
    }
}

#[test]
fn whatever_is_decided_the_answer_is_the_same() {
    let searcher = searcher();
    let (mut random, mut taken) = (Random(0x5EED), BTreeSet::new());
    let fixed = [
        "half third late",
        "rare late",
        "half OR late",
        "-half",
        "w1*",
        "half AND tenth AND rare",
        "half AND tenth AND every",
        "\"new york\" AND rare",
        "\"new york\"",
        "price:[0 TO 3000]",
        "half AND price:[10 TO 4000]",
        "price:[10 TO 30]",
        "nowhere AND half",
        "half",
        "w7 AND kind:IN [k1 k2 k3 k4]",
        "rarest AND half",
        "every",
    ];
    let more = std::iter::repeat_with(|| any_query(&mut random, 2)).take(QUERIES);
    for (nth, text) in fixed.map(str::to_owned).into_iter().chain(more).enumerate() {
        let query = query(&text);
        let forms = forms(&searcher, &query);
        match nth < fixed.len() {
            true => forms.iter().for_each(|search| try_all(search, &mut taken)),
            false => try_all(&forms[nth % forms.len()], &mut taken),
        }
    }
    // In an index without deleted documents a pattern can be the whole plan, and a last step counts.
    let quiet = quiet();
    for text in ["w1*", "half AND third AND fifth", "half AND third", "half OR third"] {
        let query = query(text);
        forms(&quiet, &query).iter().for_each(|search| try_all(search, &mut taken));
    }
    // A way that nothing takes would be one that nothing tests.
    let others = [
        Forced::Order(crate::plan::NodeId(0), InputOrder::LargestFirst),
        Forced::Order(crate::plan::NodeId(0), InputOrder::AsWritten),
        Forced::WriteThenCount,
        Forced::ReadPostings,
        Forced::UniteLists(crate::plan::NodeId(0)),
        Forced::ByColumn(crate::plan::NodeId(0)),
        Forced::FindRange,
        Forced::UniteTerms,
        Forced::PhrasesFirst,
        Forced::CollectAll,
        Forced::ScoreAll,
        Forced::ByBounds,
        Forced::PlaceAll,
        Forced::SortAll,
        Forced::WithoutStreams,
        Forced::WithStreams,
        Forced::Tally { nth: 0 },
        Forced::GroupAll,
    ];
    let methods = [FacetMethod::Column, FacetMethod::Dictionary, FacetMethod::MostFrequentFirst];
    let others = others.iter().map(|way| way.name()).chain(methods.map(FacetMethod::name));
    let missing: Vec<_> = others.filter(|name| !taken.contains(name)).collect();
    assert!(missing.is_empty(), "nothing was done so: {missing:?}; but {taken:?}");
    assert!(taken.iter().any(|name| name.contains('×')), "no other kernel: {taken:?}");
}

/// One segment of which nothing is deleted.
fn quiet() -> Searcher {
    filled(schema(), |writer| {
        for doc in 0..3_000 {
            let mut text = format!("w{}", doc % 97);
            for (word, of) in [("half", 2), ("third", 3), ("fifth", 5)] {
                if doc % of == 0 {
                    text += &format!(" {word}");
                }
            }
            writer.add(Document::new().with("text", text)).unwrap();
        }
        writer.commit().unwrap();
    })
}

/// Work that was done, without decisions and times.
fn trace(tree: &ExplainTree) -> Vec<String> {
    let node = |node: &ExplainNode| {
        let actual = node.actual.clone().map(|actual| Actual { time_ns: 0, ..actual });
        format!("{} {} [{}] {actual:?}", node.operator, node.label, node.algorithm)
    };
    let mut nodes: Vec<_> = tree.plan.iter().map(node).collect();
    nodes.sort();
    nodes
}

/// In windows, too, which have an order of their own: of two that never meet what comes after is not asked.
#[test]
fn inputs_come_in_the_order_that_is_forced() {
    let searcher = searcher();
    let query = query("half AND w7 AND w50");
    let search = searcher.search(&query).count_only().search();
    let came_in = |forced| {
        let search = Search { forced, ..search.clone() };
        search.analyze().unwrap().plan.actual.unwrap().documents_in.unwrap()
    };
    let ways = search.otherwise(&search.ran().unwrap()).unwrap();
    let orders: Vec<_> = ways.into_iter().filter(|way| matches!(way, Forced::Order(..))).collect();
    assert_eq!(orders.len(), 2);
    let [chosen, others @ ..] = [None, Some(orders[0]), Some(orders[1])].map(came_in);
    assert!(others.iter().all(|n| *n > 5 * chosen), "{others:?} instead of {chosen}");
}

/// A way that is not taken would be measured as the one that was chosen, once more.
#[test]
fn what_is_forced_is_what_is_done() {
    let searchers = [searcher(), quiet()];
    let mut done = BTreeSet::new();
    for text in [
        "half AND tenth AND rare",
        "half",
        "w1*",
        "\"new york\" AND rare",
        "\"new york\"",
        "price:[0 TO 3000]",
        "half AND price:[10 TO 4000]",
        "rarest AND price:[10 TO 4000]",
        "w7 AND kind:IN [k1 k2 k3 k4]",
        "half OR late",
    ] {
        let query = query(text);
        for searcher in &searchers {
            for search in forms(searcher, &query) {
                let ways = search.otherwise(&search.ran().unwrap()).unwrap();
                let chosen = trace(&search.clone().analyze().unwrap());
                for way in ways {
                    if done.contains(way.name()) {
                        continue;
                    }
                    let search = Search { forced: Some(way), ..search.clone() };
                    if trace(&search.analyze().unwrap()) != chosen {
                        done.insert(way.name());
                    }
                }
            }
        }
    }
    // The kernel of two containers is not counted, nor whether the last step writes them.
    let others = [
        Forced::Order(crate::plan::NodeId(0), InputOrder::LargestFirst),
        Forced::Order(crate::plan::NodeId(0), InputOrder::AsWritten),
        Forced::ReadPostings,
        Forced::UniteLists(crate::plan::NodeId(0)),
        Forced::ByColumn(crate::plan::NodeId(0)),
        Forced::FindRange,
        Forced::UniteTerms,
        Forced::PhrasesFirst,
        Forced::CollectAll,
        Forced::ScoreAll,
        Forced::ByBounds,
        Forced::PlaceAll,
        Forced::SortAll,
        Forced::WithoutStreams,
        Forced::WithStreams,
    ];
    let missing: Vec<_> =
        others.iter().map(|it| it.name()).filter(|it| !done.contains(it)).collect();
    assert!(missing.is_empty(), "{missing:?}, but {done:?}");
}

#[test]
fn two_answers_that_differ_are_an_error_that_says_how() {
    let searcher = searcher();
    let (half, third) = (query("half"), query("third"));
    let ran = |query| searcher.search(query).count_only().search().ran().unwrap();
    let error = ran(&half).must_equal(&ran(&third), Forced::WriteThenCount).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("the same total in all ways, 36"), "{text}");
    assert!(text.contains("by 'write the result, then count it'"), "{text}");
    // Others, of as many hits and facets of as many.
    let differ = |other: SearchBuilder<'_>, one: SearchBuilder<'_>| {
        let (one, other) = (one.search().ran().unwrap(), other.search().ran().unwrap());
        one.must_equal(&one, Forced::ScoreAll).unwrap();
        one.must_equal(&other, Forced::ScoreAll).unwrap_err().to_string()
    };
    let page = |offset| searcher.search(&half).order(Order::Document).limit(3).offset(offset);
    assert!(differ(page(0), page(1)).contains("the same hits in all ways"));
    let facet = |limit| searcher.search(&half).count_only().facet("kind", limit);
    assert!(differ(facet(3), facet(4)).contains("the same facets in all ways"));
}

#[test]
fn what_was_measured_stands_beside_its_decisions() {
    let searcher = searcher();
    let query = query("half AND tenth AND rare");
    let tree = searcher.search(&query).count_only().explainer().what_if().unwrap();
    let decisions: Vec<_> = tree.plan.iter().flat_map(|node| &node.decisions).collect();
    let of = |rule: &str| *decisions.iter().find(|it| it.rule == rule).unwrap();
    for rule in ["smallest first", "kernel", "count the last step"] {
        let decision = of(rule);
        assert!(decision.measured_ns.is_some_and(|ns| ns > 0), "{rule}");
        let other = decision.alternative.as_ref().unwrap();
        assert!(other.measured_ns.is_some_and(|ns| ns > 0), "{rule}");
    }
    assert!(tree.to_json().contains("\"confirmed\":"), "{}", tree.to_json());
    // Each by its name.
    let others: Vec<_> = of("smallest first").others.iter().map(|other| &*other.name).collect();
    assert_eq!(others, ["in the order of the query"]);
    let york = self::query("\"new york\"");
    let placed = searcher.search(&york).total(TotalMode::Unknown).explainer().what_if().unwrap();
    assert!(placed.plan.decisions[0].measured_ns.is_some(), "{placed}");
    // Facets of values, wherever they are.
    let faceted = searcher.search(&york).count_only().with_facet(Facet::statistics("price"));
    let faceted = faceted.facet("kind", 3).explainer().what_if().unwrap();
    let is_measured = |nth: usize| {
        let last = faceted.facets[nth].decisions.last();
        last.is_some_and(|decision| decision.measured_ns.is_some())
    };
    assert!(!is_measured(0) && is_measured(1), "{faceted}");
    // Steps that are not carried out are not measured: the best of these are found without counting.
    let best = searcher.search(&query).total(TotalMode::Unknown).explainer().what_if().unwrap();
    assert!(best.plan.decisions[0].measured_ns.is_some());
    let below = best.plan.children.iter().flat_map(|node| node.iter());
    assert!(below.flat_map(|node| &node.decisions).all(|it| it.measured_ns.is_none()));
    // Nor is anything where there is no time; a search without measuring shows what happened all the same.
    let hurried = searcher.search(&query).timeout(Duration::ZERO).explainer().what_if().unwrap();
    let hurried: Vec<_> = hurried.plan.iter().flat_map(|node| &node.decisions).collect();
    assert!(hurried.iter().all(|decision| decision.measured_ns.is_none()));
}

#[test]
fn where_nothing_can_be_done_otherwise_that_is_told() {
    let few = filled(schema(), |writer| {
        writer.add(Document::new().with("text", "one two")).unwrap();
    });
    for (searcher, text, expected) in [
        (&few, "text:nowhere", true),
        (&few, "text:one AND text:two", false),
        (&searcher(), "text:half AND text:tenth", false),
    ] {
        let query = parse(text, &ParseOptions::default()).unwrap();
        let tree = searcher.search(&query).count_only().explainer().what_if().unwrap();
        let mut decisions = tree.plan.iter().flat_map(|node| &node.decisions);
        assert_eq!(decisions.any(|it| it.measured_ns.is_some()), !expected, "{tree}");
        let is_told = tree.notes.iter().any(|note| note.contains("so nothing was measured"));
        assert_eq!(is_told, expected, "{tree}");
    }
}
