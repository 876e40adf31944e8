//! Why a document is found, or is not: what each node says of it is what its part of the query says.

use crate::naive::NaiveIndex;
use crate::random::Random;
use treepie::explain::{ExplainDocument, ExplainNode, ExplainTree, Verdict};
use treepie::query::Query;
use treepie::search::{Collapse, Order};
use treepie::{
    DocId, Document, ErrorKind, Field, FieldKind, Index, Schema, SearchBuilder, Searcher, SortKey,
};

/// Enough for lists that have containers, which begin at 256 documents.
const SIZES: [usize; 2] = [60, 900];

fn schema() -> Schema {
    Schema::builder()
        .text("text")
        .keyword("tag")
        .field(Field::new("brand", FieldKind::Keyword).column(true))
        .build()
        .unwrap()
}

fn documents(n: usize, random: &mut Random) -> Vec<Document> {
    let mut document = |nth: usize| {
        let words = (0..2 + random.below(7)).map(|_| {
            let most = [3, 12, 40][random.below(3)];
            format!("w{}", random.below(most))
        });
        let mut document = Document::new().with("text", words.collect::<Vec<_>>().join(" "));
        for _ in 0..random.below(3) {
            document.push("tag", format!("t{}", random.below(30)));
        }
        if random.below(4) > 0 {
            document.push("brand", format!("b{}", random.below(9)));
        }
        // The number is there to delete it by.
        document.with("tag", format!("doc{nth}"))
    };
    (0..n).map(&mut document).collect()
}

/// An index of so many segments where every so many documents are deleted, and which are left.
fn searcher(documents: &[Document], n_segments: usize, one_in: usize) -> (Searcher, Vec<bool>) {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    for part in documents.chunks(documents.len().div_ceil(n_segments)) {
        part.iter().for_each(|document| writer.add(document.clone()).unwrap());
        writer.commit().unwrap();
    }
    let is_deleted = |doc: usize| one_in > 0 && doc % one_in == 1;
    for doc in (0..documents.len()).filter(|doc| is_deleted(*doc)) {
        writer.delete(&parse(&format!("tag:doc{doc}"))).unwrap();
    }
    writer.commit().unwrap();
    (index.searcher().unwrap(), (0..documents.len()).map(|doc| !is_deleted(doc)).collect())
}

fn parse(text: &str) -> Query {
    treepie::query::parse(text, &treepie::query::ParseOptions::default())
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn leaf(random: &mut Random) -> String {
    let word = |random: &mut Random| format!("text:w{}", random.below(42));
    let frequent = |random: &mut Random| format!("w{}", random.below(6));
    match random.below(14) {
        0..5 => word(random),
        5 | 6 => format!("text:\"{} {}\"", frequent(random), frequent(random)),
        7 => format!("text:\"{} {}\"~2", frequent(random), frequent(random)),
        8 => format!("text:\"{} w\"*", frequent(random)),
        9 => format!("text:w{}*", random.below(4)),
        10 => format!("tag:[t{} TO t{}}}", random.below(3), 4 + random.below(5)),
        11 => format!("brand:[b{} TO *]", random.below(9)),
        12 => format!("tag:IN [t{} t{} t77]", random.below(30), random.below(30)),
        _ => ["brand:*", "*", "tag:nothing", "text:w?3"][random.below(4)].to_owned(),
    }
}

fn query(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return leaf(random);
    }
    let part = |random: &mut Random| {
        let depth = random.below(depth);
        query(random, depth)
    };
    match random.below(6) {
        0 | 1 => format!("({} AND {})", part(random), part(random)),
        2 => format!("({} OR {} OR {})", part(random), part(random), part(random)),
        3 => format!("(+{} -{} -{})", part(random), part(random), part(random)),
        4 => format!("({} {} {})~2", part(random), part(random), part(random)),
        _ => format!("(+{} -({} AND {}))", part(random), part(random), part(random)),
    }
}

fn all(n: usize) -> impl Iterator<Item = DocId> {
    (0..n as u64).map(DocId)
}

/// A node, its parent, and its place there.
fn nodes(tree: &ExplainTree) -> Vec<(&ExplainNode, Option<(&ExplainNode, usize)>)> {
    let mut nodes = vec![(&tree.plan, None)];
    let mut at = 0;
    while at < nodes.len() {
        let (node, _) = nodes[at];
        nodes.extend(
            node.children.iter().enumerate().map(|(nth, child)| (child, Some((node, nth)))),
        );
        at += 1;
    }
    nodes
}

/// Whether a node leaves out what is deleted: that is a condition of no query.
fn is_of_live(node: &ExplainNode) -> bool {
    let is_deleted = |node: &ExplainNode| node.operator.name() == "Deleted";
    !is_deleted(node) && node.iter().any(is_deleted)
}

fn is_page(node: &ExplainNode) -> bool {
    node.is_page()
}

/// What each node says is what its predicate says, and nobody is left out without a reason. Gives how many verdicts of
/// each kind there were.
fn check(tree: &ExplainTree, naive: &NaiveIndex, live: &[bool]) -> [usize; 3] {
    let mut counts = [0; 3];
    for (node, parent) in nodes(tree) {
        if is_page(node) {
            continue;
        }
        let by_itself = match node.operator.name() {
            "Deleted" => live.iter().map(|live| !live).collect(),
            _ => naive.matches(&parse(node.predicate.as_deref().expect("it is short"))),
        };
        for (document, (by_itself, live)) in tree.documents.iter().zip(by_itself.iter().zip(live)) {
            let expected = *by_itself && (*live || !is_of_live(node));
            let verdict = document.verdicts[&node.id];
            let told = || format!("document {} at {}\n{tree}", document.doc, node.id);
            let kind = match verdict {
                Verdict::Matched => {
                    assert!(expected, "{}", told());
                    0
                }
                Verdict::Failed => {
                    assert!(!expected, "{}", told());
                    1
                }
                Verdict::NotReached => {
                    let (parent, nth) = parent.expect("the root is always asked");
                    let of = |node: &ExplainNode| document.verdicts[&node.id];
                    // The parent is not reached, or one of the inputs before has decided it.
                    let has_decided = |before: &ExplainNode| {
                        let is_unwanted = before.label.starts_with("NOT ");
                        of(before) == if is_unwanted { Verdict::Matched } else { Verdict::Failed }
                    };
                    let is_decided = of(parent) == Verdict::Failed
                        && parent.children[..nth].iter().any(has_decided);
                    assert!(of(parent) == Verdict::NotReached || is_decided, "{}", told());
                    2
                }
                other => panic!("the test does not know {other:?}"),
            };
            counts[kind] += 1;
        }
    }
    for (document, live) in tree.documents.iter().zip(live) {
        check_reason(document, tree, *live);
    }
    counts
}

/// The node that is named is one that decides, and the sentences fit.
fn check_reason(document: &ExplainDocument, tree: &ExplainTree, live: bool) {
    let ExplainDocument { matches, failed_at, reason, misses, deleted, .. } = document;
    assert_eq!(*deleted, !live);
    assert_eq!(misses.is_empty(), *matches, "{document:?}\n{tree}");
    if *matches {
        return;
    }
    let at = failed_at.as_ref().expect("something decides");
    let node = tree.plan.iter().find(|node| node.id == *at).expect("it is one of the plan");
    let is_unwanted = node.label.starts_with("NOT ");
    let expected = if is_unwanted { Verdict::Matched } else { Verdict::Failed };
    assert_eq!(document.verdicts[at], expected, "{document:?}\n{tree}");
    match *deleted {
        true => {
            assert_eq!(reason, "it is deleted");
            // Whatever else is missing.
            let has_deleted = tree.plan.iter().any(|node| node.operator.name() == "Deleted");
            assert_eq!(node.operator.name() == "Deleted", has_deleted, "{document:?}\n{tree}");
        }
        false => assert!(reason.contains(&node.label), "{reason}\n{tree}"),
    }
}

#[test]
fn every_node_says_what_its_part_of_the_query_says() {
    let mut random = Random(77);
    let mut counts = [0; 3];
    for n in SIZES {
        let documents = documents(n, &mut random);
        let naive = NaiveIndex::new(&schema(), &documents);
        let searchers = [(1, 0), (3, 0), (1, 7), (3, 5)];
        let searchers = searchers.map(|(n, one_in)| searcher(&documents, n, one_in));
        for nth in 0..120 {
            let depth = random.below(4);
            let text = query(&mut random, depth);
            let query = parse(&text);
            let matches = naive.matches(&query);
            let (searcher, live) = &searchers[nth % searchers.len()];
            let search = || searcher.search(&query).count_only().explainer().documents(all(n));
            let explained = search().explain().unwrap();
            assert_eq!(explained.documents.len(), n);
            for (document, (matches, live)) in
                explained.documents.iter().zip(matches.iter().zip(live))
            {
                assert_eq!(
                    document.matches,
                    *matches && *live,
                    "{text}: {}\n{explained}",
                    document.doc
                );
            }
            check(&explained, &naive, live).iter().zip(&mut counts).for_each(|(n, sum)| *sum += n);
            // What was run has lists at hand that were not read before.
            let analyzed = search().analyze().unwrap();
            assert_eq!(analyzed.documents, explained.documents, "{text}");
        }
    }
    assert!(counts.iter().all(|n| *n > 10_000), "each verdict is there: {counts:?}");
}

/// Documents behind the first 65,536 are looked up where they are, in lists of every kind.
#[test]
fn documents_of_later_windows_are_told_of_as_those_of_the_first() {
    const N: u64 = 70_000;
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    let has = |word: &str, doc: u64| match word {
        "half" => doc.is_multiple_of(2),
        "late" => doc >= 66_000,
        "rare" => doc % 6_600 == 5,
        "inline" => doc == 5 || doc == 66_005,
        "run" => (60_000..69_000).contains(&doc),
        _ => true,
    };
    let words = ["half", "late", "rare", "inline", "run", "every"];
    for doc in 0..N {
        let text: Vec<_> = words.into_iter().filter(|word| has(word, doc)).collect();
        // More terms of one beginning than a plan keeps, and a column.
        let mut text = text.join(" ");
        if doc.is_multiple_of(50) {
            text += &format!(" u{doc:05}");
        }
        let brand = format!("{}{}", if has("late", doc) { "late" } else { "early" }, doc % 9);
        writer.add(Document::new().with("text", text).with("brand", brand)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    // The same below 65,536 and above.
    let docs = [5, 6, 7, 400, 66_005, 66_006, 66_007, 66_400, 69_999, 464, 65_541];
    for (text, expected) in [
        ("half AND late", &(|doc| has("half", doc) && has("late", doc)) as &dyn Fn(u64) -> bool),
        ("rare AND every", &|doc| has("rare", doc)),
        ("inline OR run", &|doc| has("inline", doc) || has("run", doc)),
        ("l* AND r*", &|doc| has("late", doc) && (has("rare", doc) || has("run", doc))),
        ("\"half late\"", &|doc| has("half", doc) && has("late", doc)),
        ("every -late -run", &|doc| !has("late", doc) && !has("run", doc)),
        ("u*", &|doc| doc.is_multiple_of(50)),
        ("brand:late*", &|doc| has("late", doc)),
        ("half AND brand:late*", &|doc| has("half", doc) && has("late", doc)),
    ] {
        let query = parse(text);
        let search =
            searcher.search(&query).count_only().explainer().documents(docs.into_iter().map(DocId));
        for tree in [search.clone().explain().unwrap(), search.analyze().unwrap()] {
            for document in &tree.documents {
                assert_eq!(document.matches, expected(document.doc), "{text}: {document:?}");
            }
        }
    }
}

type Search<'s> = Box<dyn Fn() -> SearchBuilder<'s> + 's>;

#[test]
fn scores_and_places_are_those_of_the_search() {
    let mut random = Random(5);
    let n = 300;
    let documents = documents(n, &mut random);
    let (searcher, _) = searcher(&documents, 3, 6);
    let mut n_on_page = 0;
    for text in ["w1 OR w2", "+w1 w0 -w2", "\"w0 w1\"", "tag:t1*", "brand:b1 OR w3"] {
        let query = parse(text);
        let search = || searcher.search(&query).limit(5).offset(2);
        let searches: [(&str, Search<'_>); 4] = [
            ("TopK", Box::new(search)),
            ("Limit", Box::new(move || search().order(Order::Document))),
            ("Sort", Box::new(move || search().sort([SortKey::descending("brand")]))),
            ("Collapse", Box::new(move || search().collapse(Collapse::by("brand")))),
        ];
        for (name, search) in searches {
            let hits = search().run().unwrap().hits;
            let explained = search().explainer().documents(all(n)).explain().unwrap();
            let analyzed = search().explainer().documents(all(n)).analyze().unwrap();
            for (before, after) in explained.documents.iter().zip(&analyzed.documents) {
                let place = hits.iter().position(|hit| hit.doc.0 == after.doc);
                let (top, ran) = (before.verdicts.get("0"), after.verdicts["0"]);
                let told = || format!("{text} by {name}: {after:?}");
                assert_eq!(ran == Verdict::Matched, place.is_some(), "{}", told());
                // Before it runs nobody knows, but of what does not match.
                assert_eq!(top.copied(), (!after.matches).then_some(Verdict::Failed), "{}", told());
                let score = after.score.as_ref().map(|score| score.value);
                assert_eq!(before.score, after.score);
                let is_scored = ["TopK", "Collapse"].contains(&name);
                assert_eq!(score.is_some(), after.matches && is_scored, "{}", told());
                match place {
                    Some(place) => {
                        assert_eq!(hits[place].score, score, "{}", told());
                        let number = format!("number {} of the hits", 3 + place);
                        assert!(after.reason.ends_with(&number), "{}", told());
                        n_on_page += 1;
                    }
                    None if after.matches => {
                        assert!(after.reason.contains("is not on the page of"), "{}", told());
                        assert_eq!(after.failed_at.as_deref(), Some("0"));
                    }
                    None => assert!(after.failed_at.is_some()),
                }
            }
        }
    }
    assert!(n_on_page > 50, "{n_on_page}");
}

/// A plan of one leaf reads no headers.
#[test]
fn presence_is_looked_up_where_planning_has_not_read_it() {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    for doc in 0..600 {
        let document = Document::new().with("text", "word");
        writer.add(if doc % 2 == 0 { document.with("brand", "b") } else { document }).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = parse("brand:*");
    let search = searcher.search(&query).count_only().explainer().documents(all(600));
    let tree = search.explain().unwrap();
    for document in &tree.documents {
        assert_eq!(document.matches, document.doc % 2 == 0, "{document:?}");
    }
}

#[test]
fn sentences_name_what_decides() {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    for (text, tag) in [("a history of war", "x"), ("war history", "x"), ("peace", "gone")] {
        writer.add(Document::new().with("text", text).with("tag", tag)).unwrap();
    }
    writer.add(Document::new().with("text", "history")).unwrap();
    writer.commit().unwrap();
    writer.delete(&parse("tag:gone")).unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let told = |text: &str, doc: u64| {
        let query = parse(text);
        let search =
            searcher.search(&query).count_only().explainer().documents([DocId(doc), DocId(doc)]);
        let mut tree = search.explain().unwrap();
        assert_eq!(tree.documents.len(), 1, "each is told of once");
        let document = tree.documents.remove(0);
        (document.title, document.reason, document.misses)
    };
    let phrase = "text:\"war history\"";
    let apart = format!("{phrase}: the document has the words, but not side by side");
    let not_apart = format!("{phrase} must match and does not: its words are not side by side");
    let cases = [
        (
            "+history -war",
            0,
            "NOT text:war: the document has it",
            "text:war must not match and does",
        ),
        (
            "+history +tag:x",
            3,
            "tag:\"x\": the document does not have it",
            "tag:\"x\" must match and does not",
        ),
        (
            "+tag:* +history",
            3,
            "tag:*: the document has no value there",
            "tag:* must match and does not",
        ),
        ("\"war history\"", 0, &*apart, &*not_apart),
        (
            "(peace war tag:y)~2",
            1,
            ": 1 of 3 alternatives match, and 2 must",
            "1 of 3 alternatives match, and 2 must",
        ),
        (
            "peace OR tag:y",
            1,
            "text:peace OR tag:\"y\": none of 2 alternatives matches",
            "text:peace OR tag:\"y\" must match and does not",
        ),
    ];
    for (text, doc, reason, miss) in cases {
        let (title, told, misses) = told(text, doc);
        assert_eq!(title, ["a history of war", "war history", "", "history"][doc as usize]);
        assert!(told.starts_with("fails at ") && told.ends_with(reason), "{text}: {told}");
        assert_eq!(misses, [miss], "{text}");
    }
    let (title, reason, misses) = told("+peace -history", 2);
    assert_eq!((&*title, &*reason), ("", "it is deleted"));
    assert_eq!(misses, ["it is deleted"]);
    // All that is missing is told, also what nobody asked for any more.
    let (_, reason, misses) = told("+peace +tag:y -war", 1);
    assert!(reason.starts_with("fails at "), "{reason}");
    assert_eq!(misses.len(), 3, "{misses:?}");

    let query = parse("history");
    let error = searcher.search(&query).explainer().documents([DocId(4)]).explain().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("a number below 4"), "{error}");
    assert!(searcher.search(&query).explainer().documents([DocId(u64::MAX)]).analyze().is_err());
}

#[test]
fn a_document_is_recognised_by_a_text_rather_than_a_number() {
    let schema = Schema::builder().field(Field::new("id", FieldKind::I64)).text("text");
    let index = Index::in_memory(schema.build().unwrap());
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("id", 23_i64).with("text", "Permian")).unwrap();
    writer.add(Document::new().with("id", 24_i64)).unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let search = searcher.search(&Query::All).explainer().documents(all(2)).explain().unwrap();
    let titles: Vec<_> = search.documents.iter().map(|document| &*document.title).collect();
    assert_eq!(titles, ["Permian", "24"]);
}
