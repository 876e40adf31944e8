//! Why a search finds nothing, against every set of conditions of random queries.

use crate::naive::NaiveIndex;
use crate::random::Random;
use treepie::explain::{ConflictSize, WhyEmpty};
use treepie::query::{ParseOptions, Query, parse};
use treepie::{Document, ErrorKind, Index, Schema, Searcher};

const QUERIES: usize = 1_500;

fn schema() -> Schema {
    Schema::builder().text("text").keyword("tag").build().unwrap()
}

/// Of two segments; with deleted ones behind every third document there was one with every word.
fn searcher(docs: &[Document], with_deleted: bool) -> Searcher {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    for part in docs.chunks(docs.len().div_ceil(2).max(1)) {
        for (nth, document) in part.iter().enumerate() {
            writer.add(document.clone()).unwrap();
            if with_deleted && nth % 3 == 0 {
                let all = "a b c d e f paris texas london bridge deleted";
                writer.add(Document::new().with("text", all).with("tag", "a")).unwrap();
            }
        }
        writer.commit().unwrap();
    }
    writer.delete(&parse("text:deleted", &ParseOptions::default()).unwrap()).unwrap();
    // Of no documents, too.
    writer.commit().unwrap();
    drop(writer);
    index.searcher().unwrap()
}

fn of_texts(texts: &[&str]) -> Searcher {
    let docs: Vec<_> = texts.iter().map(|text| Document::new().with("text", *text)).collect();
    searcher(&docs, false)
}

fn why(searcher: &Searcher, text: &str) -> WhyEmpty {
    searcher.search(&searcher.parse(text).unwrap()).explainer().why_empty().unwrap()
}

fn word(random: &mut Random) -> String {
    ["a", "b", "c", "d", "e", "a", "b", "c", "d", "e", "never"][random.below(11)].to_owned()
}

fn leaf(random: &mut Random) -> String {
    let (a, b) = (word(random), word(random));
    match random.below(9) {
        0 => format!("\"{a} {b}\""),
        1 => format!("tag:{a}"),
        2 => format!("[{a} TO {b}]"),
        3 => format!("{a}*"),
        4 => format!("tag:IN [{a} {b}]"),
        _ => a,
    }
}

/// Conditions of many forms, some inside others.
fn condition(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.below(3) == 0 {
        return leaf(random);
    }
    let mut some = |least: usize, separator: &str| {
        let n = least + random.below(3);
        (0..n).map(|_| condition(random, depth - 1)).collect::<Vec<_>>().join(separator)
    };
    let (all, any, side) = (some(2, " AND "), some(2, " OR "), some(2, ") ("));
    let one = condition(random, depth - 1);
    match random.below(8) {
        0 | 1 => format!("({all})"),
        2 => format!("({any})"),
        3 => format!("(NOT ({any}))"),
        4 => format!("(+({one}) -({any}) ({side}))"),
        5 => format!("(({side}))~2"),
        6 => format!("(({one})^2)^=0"),
        _ => format!("(NOT ({one}))"),
    }
}

fn both(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(a, b)| *a && *b).collect()
}

#[test]
fn the_conflict_is_the_smallest_there_is() {
    let mut random = Random(2_026);
    let (mut n_empty, mut sizes) = (0, [0; 8]);
    for nth in 0..QUERIES {
        let n_docs = random.below(14);
        let docs: Vec<Document> = (0..n_docs)
            .map(|_| {
                let words: Vec<String> = (0..random.below(6)).map(|_| word(&mut random)).collect();
                let words = words.join(" ").replace("never", "f");
                let document = Document::new().with("text", words);
                document.with("tag", ["a", "b", "c"][random.below(3)])
            })
            .collect();
        let (naive, searcher) = (NaiveIndex::new(&schema(), &docs), searcher(&docs, true));
        let n = 1 + random.below(5);
        let text: Vec<String> = (0..n).map(|_| condition(&mut random, 2)).collect();
        let query = searcher.parse(&text.join(" AND ")).unwrap();
        let selected = ["a", "b", "c", "d"][random.below(4)];
        let search = match nth % 3 {
            0 => searcher.search(&query).select("tag", [selected]),
            _ => searcher.search(&query),
        };
        let mut expected = naive.matches(&query);
        if nth % 3 == 0 {
            expected = both(&expected, &naive.matches(&Query::value("tag", selected)));
        }
        let why = search.explainer().why_empty().unwrap();
        let count = |docs: &[bool]| docs.iter().filter(|hit| **hit).count() as u64;
        assert_eq!((why.documents, why.matches), (n_docs as u64, count(&expected)), "{query}");

        // What the conditions say is what their texts say.
        let of_clauses: Vec<Vec<bool>> = why
            .clauses
            .iter()
            .map(|clause| naive.matches(&parse(&clause.clause, &ParseOptions::default()).unwrap()))
            .collect();
        let all = |mask: usize| {
            let chosen = of_clauses.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1);
            chosen.fold(vec![true; n_docs], |so_far, (_, docs)| both(&so_far, docs))
        };
        let whole = (1 << of_clauses.len()) - 1;
        assert_eq!(all(whole), expected, "{query} is not {:?}", why.clauses);
        for (at, clause) in why.clauses.iter().enumerate() {
            assert_eq!(clause.matches, count(&all(1 << at)), "{query}: {clause}");
            assert_eq!(
                clause.matches_without,
                count(&all(whole & !(1 << at))),
                "{query}: {clause}"
            );
        }
        let conflict: usize = why.conflict.iter().map(|at| 1 << at).sum();
        if why.matches > 0 || n_docs == 0 {
            assert_eq!(conflict, 0, "{query}: {why}");
            continue;
        }
        n_empty += 1;
        sizes[why.conflict.len().min(7)] += 1;
        assert_eq!(count(&all(conflict)), 0, "{query}: {why}");
        for at in &why.conflict {
            assert!(count(&all(conflict & !(1 << at))) > 0, "{query}: {why}");
        }
        assert_eq!(why.size, ConflictSize::Smallest);
        if of_clauses.len() <= 12 {
            let smaller = (1usize..=whole)
                .find(|mask| mask.count_ones() < conflict.count_ones() && count(&all(*mask)) == 0);
            assert_eq!(smaller, None, "{query}: {why}");
        }
    }
    assert!(
        n_empty > QUERIES / 5 && sizes[1] > 50 && sizes[2] > 50 && sizes[3] > 0,
        "{n_empty} {sizes:?}"
    );
}

/// Two conflicts of five conditions that have nothing in common, among others that every document meets: no condition is
/// in both, and there are too many sets of four.
#[test]
fn of_many_conditions_an_irreducible_set_is_found() {
    let of = |extra: usize| {
        let all: Vec<String> = (0..10 + extra).map(|nth| format!("w{nth}")).collect();
        let mut texts = vec![];
        for a in 0..5 {
            for b in 5..10 {
                let words = all.iter().enumerate().filter(|(at, _)| *at != a && *at != b);
                texts.push(words.map(|(_, word)| &**word).collect::<Vec<_>>().join(" "));
            }
        }
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        why(&of_texts(&texts), &all.join(" AND "))
    };
    let why = of(14);
    assert_eq!((why.size, why.conflict.len()), (ConflictSize::Irreducible, 5), "{why}");
    assert!(why.conflict == [0, 1, 2, 3, 4] || why.conflict == [5, 6, 7, 8, 9], "{why}");
    assert!(why.to_json().contains("\"size\":\"irreducible\""));
    assert!(why.to_string().contains("none of them can be left out"), "{why}");
    let why = of(2);
    assert_eq!((why.size, why.conflict), (ConflictSize::Smallest, vec![0, 1, 2, 3, 4]));
}

#[test]
fn what_a_condition_looks_for_in_vain_is_named() {
    let searcher = of_texts(&["paris texas", "paris", "texas paris", "london bridge", "london"]);
    let why = |text: &str| why(&searcher, text);

    let of_word = why("+pariss +texas");
    assert_eq!(of_word.conflict, [0]);
    let unknown = &of_word.clauses[0].unknown[0];
    assert_eq!((&*unknown.field, &*unknown.term), ("text", "pariss"));
    assert_eq!(unknown.similar, [("paris".to_owned(), 3)]);
    assert_eq!(of_word.clauses[0].matches_without, 2);
    assert_eq!(of_word.clauses[1].unknown, []);

    // Words that never stand so, words that no document has all of, and words that there are not.
    let phrases = |text: &str| {
        let why = why(text);
        assert_eq!(why.conflict, [0], "{why}");
        let of = |it: &treepie::explain::EmptyPhrase| it.with_all_words;
        (why.clauses[0].phrases.iter().map(of).collect::<Vec<_>>(), why.clauses[0].unknown.len())
    };
    assert_eq!(phrases("\"bridge london\""), (vec![1], 0));
    assert_eq!(phrases("\"paris london\""), (vec![0], 0));
    assert_eq!(phrases("\"paris tower\""), (vec![], 1));
    assert_eq!(phrases("\"bridge lon\"*"), (vec![1], 0));
    assert_eq!(phrases("zz*"), (vec![], 1));
    assert_eq!(phrases("tag:x OR never"), (vec![], 2));

    let contradiction = why("paris AND NOT paris");
    assert_eq!(contradiction.conflict, [0, 1]);
    assert_eq!(contradiction.clauses[1].clause, "NOT paris");
    // A condition of which nothing is left is none, unless there is no other.
    assert_eq!(why("\"--\" AND paris AND never").clauses.len(), 2);
    let reason = why("\"--\" AND \"…\"");
    assert!(reason.clauses[0].reason.as_ref().unwrap().contains("no letter or digit"), "{reason}");
    let in_fields = why("{text tag}:(paris AND never) -london");
    let texts: Vec<_> = in_fields.clauses.iter().map(|clause| &*clause.clause).collect();
    assert_eq!(texts, ["{text tag}:paris", "{text tag}:never", "NOT london"]);
    assert_eq!((&in_fields.conflict[..], in_fields.clauses[1].unknown.len()), (&[1][..], 2));
    // No document has neither of them, so the word beside them is not to blame.
    let all = why("NOT (paris OR london) AND texas");
    assert_eq!(all.conflict, [0, 1], "{all}");

    let found = why("paris -london");
    assert_eq!((found.matches, &found.conflict[..]), (3, &[][..]));
    assert_eq!(found.to_string(), "3 documents match");
    let none = self::why(&of_texts(&[]), "paris");
    assert_eq!(none.to_string(), "nothing matches: there are no documents");
    assert!(none.conflict.is_empty());
}

#[test]
fn what_is_named_is_what_is_missing_and_not_too_much_of_it() {
    let searcher = of_texts(&["bat x y", "bat x y", "cat x y"]);
    let why = |text: &str| why(&searcher, text);
    let similar = &why("+dat").clauses[0].unknown[0].similar;
    assert_eq!(*similar, [("bat".to_owned(), 2), ("cat".to_owned(), 1)]);
    let words: Vec<_> = (0..20).map(|nth| format!("n{nth}")).collect();
    assert_eq!(why(&words.join(" OR ")).clauses[0].unknown.len(), 16);
    // Every document has what is excluded, so what it lacks of that is not to blame.
    let excluded = why("-(x y never)~2");
    assert_eq!((excluded.clauses[0].matches, excluded.clauses[0].unknown.len()), (0, 0));
    let in_fields = why("{text tag}:(dat AND NOT bat)");
    let texts: Vec<_> = in_fields.clauses.iter().map(|clause| &*clause.clause).collect();
    assert_eq!(texts, ["{text tag}:dat", "NOT {text tag}:bat"]);
    // Where all conditions are in conflict, there are no others that might be fewer.
    let both = why("bat AND NOT bat").to_string();
    assert!(
        both.starts_with("nothing matches: no document meets these 2 conditions together\n"),
        "{both}"
    );
}

#[test]
fn it_reads_like_this() {
    let searcher = of_texts(&["paris texas", "paris", "texas paris", "london bridge", "london"]);
    let text = why(&searcher, "+texas +londn +\"bridge london\" -paris").to_string();
    let expected = "\
nothing matches: no document meets this condition
  londn: 0 alone, 0 without it
    no document has 'londn' in text; like it are 'london' (2 documents)
The others:
  texas: 2 alone, 0 without it
  \"bridge london\": 0 alone, 0 without it
    1 document has all words of text:\"bridge london\", but they do not stand so
  NOT paris: 2 alone, 0 without it";
    assert_eq!(text, expected);
    let text = why(&searcher, "texas AND (london OR bridge) AND paris").to_string();
    let expected = "\
nothing matches: no document meets these 2 conditions together, and no fewer are in conflict
  texas: 2 alone, 0 without it
  london OR bridge: 2 alone, 2 without it
The others:
  paris: 3 alone, 0 without it";
    assert_eq!(text, expected);
}

#[test]
fn its_json_is_as_documented() {
    let searcher = of_texts(&["paris texas", "london \"bridge\""]);
    let json = |text: &str| -> serde_json::Value {
        serde_json::from_str(&why(&searcher, text).to_json()).unwrap()
    };
    let of = json("+pariz +\"texas paris\"");
    let similar = serde_json::json!([{"term": "paris", "documents": 1}]);
    let expected = serde_json::json!({
        "query": "+pariz +\"texas paris\"", "documents": 2, "matches": 0, "conflict": [0], "size": "smallest",
        "clauses": [
            {"clause": "pariz", "excludes": false, "matches": 0, "matches_without": 0, "reason": null,
             "unknown": [{"field": "text", "term": "pariz", "similar": similar}], "areas": [],
             "phrases": []},
            {"clause": "\"texas paris\"", "excludes": false, "matches": 0, "matches_without": 0, "reason": null,
             "unknown": [], "areas": [],
             "phrases": [{"phrase": "text:\"texas paris\"", "with_all_words": 1}]},
        ],
    });
    assert_eq!(of, expected);
    assert_eq!(json("paris")["size"], serde_json::Value::Null);
}

#[test]
fn errors_are_those_of_a_search() {
    let searcher = of_texts(&["paris"]);
    let query = searcher.parse("nofield:x").unwrap();
    assert_eq!(
        searcher.search(&query).explainer().why_empty().unwrap_err().kind(),
        ErrorKind::Query
    );
    let query = searcher.parse("paris").unwrap();
    let error =
        searcher.search(&query).select("nofield", ["x"]).explainer().why_empty().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Query);
    let query = searcher.parse("pari* AND texas").unwrap();
    let stopped =
        searcher.search(&query).timeout(std::time::Duration::ZERO).explainer().why_empty();
    assert_eq!(stopped.unwrap_err().kind(), ErrorKind::Timeout);
}

#[test]
fn values_of_a_list_in_another_case_are_proposed() {
    let docs =
        ["City", "State", "City"].map(|tag| Document::new().with("text", "a").with("tag", tag));
    let searcher = searcher(&docs, false);
    let found = why(&searcher, "+a +tag:IN [city nowhere]");
    let unknown: Vec<_> =
        found.clauses[1].unknown.iter().map(|it| (&*it.term, it.similar.first())).collect();
    let city = ("City".to_owned(), 2);
    assert_eq!(unknown, [("city", Some(&city)), ("nowhere", None)]);
    assert_eq!(
        found.advice().unwrap(),
        "nothing matches: no document has 'city' or 'nowhere' in tag; did you mean 'City' (2 documents)?"
    );
}

#[test]
fn a_word_that_several_fields_lack_is_named_with_all_of_them_and_proposals_come_once() {
    let schema = Schema::builder().text("name").text("brand").text("about").build().unwrap();
    let docs = [("lamp", "lamp"), ("lamp", "bolt")]
        .map(|(name, brand)| Document::new().with("name", name).with("brand", brand));
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    docs.into_iter().for_each(|doc| writer.add(doc).unwrap());
    writer.commit().unwrap();
    assert_eq!(
        why(&index.searcher().unwrap(), "lamps").advice().unwrap(),
        "nothing matches: no document has 'lamps' in name, brand or about; did you mean 'lamp' (2 documents)?"
    );
}
