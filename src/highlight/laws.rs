//! Tests of highlighting as a whole: kinds of queries by hand, and laws for any.

use std::ops::Range;

use proptest::prelude::*;

use super::{Highlighter, PassageOptions};
use crate::analysis::{Analyzer, Analyzers, Synonyms};
use crate::error::ErrorKind;
use crate::ids::DocId;
use crate::query::{ParseOptions, Query, parse};
use crate::schema::{Detail, Field, FieldKind, Schema};

fn schema() -> Schema {
    let text = |name| Field::new(name, FieldKind::Text);
    Schema::builder()
        .field(text("title"))
        .field(text("folded").analyzer("words|lower|fold|stop:en"))
        .field(text("pairs").analyzer("cjk"))
        .field(text("grams").analyzer("ngram:2,3|lower"))
        .field(text("loose").detail(Detail::Frequencies))
        .field(text("many").many(true).position_gap(3))
        .keyword("kind")
        .default_fields(["title"])
        .build()
        .unwrap()
}

fn highlighter(query: &str, analyzers: &Analyzers) -> Highlighter {
    let query = parse(query, &ParseOptions::default()).unwrap();
    Highlighter::new(&query, &schema(), analyzers).unwrap()
}

/// The whole text with brackets around what is marked.
#[track_caller]
fn marked_in(field: &str, query: &str, text: &str) -> String {
    let highlighter = highlighter(query, &Analyzers::default());
    let options = PassageOptions::default().max_len(text.len());
    match &highlighter.passages(field, text, &options)[..] {
        [] => text.to_owned(),
        [one] => {
            assert_eq!(one.range(), 0..text.len());
            one.to_plain(text, "[", "]")
        }
        several => panic!("{several:?}"),
    }
}

#[test]
fn each_kind_of_query_marks_the_words_it_found() {
    let cases = [
        ("history", "A History of history's HISTORY", "A [History] of [history]'s [HISTORY]"),
        ("history AND france", "History of France", "[History] of [France]"),
        ("his*", "This history, his", "This [history], [his]"),
        ("w?ld*e", "Wilde, wilder, waldee", "[Wilde], wilder, [waldee]"),
        ("/h[a-i]story|.*ce/", "history France ice", "[history] [France] [ice]"),
        ("frnace~1", "France, frnace, franca", "[France], [frnace], franca"),
        ("frnace~1!", "France, frnace", "France, [frnace]"),
        ("[b TO d}", "abc bcd cde def", "abc [bcd] [cde] def"),
        ("IN [ice fire]", "Fire and ice", "[Fire] and [ice]"),
        ("history -france", "History of France", "[History] of France"),
        ("NOT france", "History of France", "History of France"),
        ("history OR NOT (spain -france)", "Spain France", "Spain [France]"),
        ("+history france", "France", "[France]"),
        ("france^2", "France", "[France]"),
        ("france^=0", "France", "[France]"),
        ("MAX [history france]", "History, France", "[History], [France]"),
        ("kind:france", "France", "France"),
        ("{title kind}:france", "France", "[France]"),
        ("title:*", "France", "France"),
        ("**", "France", "France"),
        ("*", "France", "France"),
        ("history", "", ""),
    ];
    for (query, text, expected) in cases {
        assert_eq!(marked_in("title", query, text), expected, "{query}");
    }
}

#[test]
fn of_a_phrase_only_words_that_stand_so_are_marked() {
    let cases = [
        ("\"a b\"", "a b, b a, a. B", "[a] [b], b a, [a]. [B]"),
        ("\"a b\"", "a c b", "a c b"),
        ("\"a b a\"", "a b a b", "[a] [b] [a] b"),
        ("\"a a\"", "a b a a b a", "a b [a] [a] b a"),
        ("\"a b\" b", "b a", "[b] a"),
        ("a-b", "a b b", "[a] [b] b"),
        ("\"of mi\"*", "mice of mice of men", "mice [of] [mice] of men"),
        ("a-b*", "a bc, c bc", "[a] [bc], c bc"),
        ("PHRASE [a b* c]", "a bx c, bx c, a b", "[a] [bx] [c], bx c, a b"),
        ("PHRASE [/a+/ * bb~1]~<>1", "ab x aa, x x x bb", "[ab] x [aa], x x x bb"),
        ("PHRASE [a?] bx", "bx ax", "[bx] [ax]"),
        ("\"a b\"~1", "a x b x b", "[a] x [b] x b"),
        ("\"a b\"~1", "b a", "b a"),
        ("\"a b\"~2", "b a", "[b] [a]"),
        ("\"a a\"~1", "a", "a"),
        ("\"a a\"~1", "a x a", "[a] x [a]"),
        ("\"a a\"~1", "x a x x a", "x a x x a"),
        ("\"a b\"~>1", "b a x b b", "b [a] x [b] b"),
        ("\"a b\"~>2", "b a x b b", "b [a] x [b] [b]"),
        ("\"a b a\"~>1", "a b x a a", "[a] [b] x [a] a"),
        ("\"a b\"~<>1", "b x a x x b", "[b] x [a] x x b"),
        ("\"a a\"~<>1", "a x x a a", "a x x [a] [a]"),
        ("\"a b\"~<>4000000000", "b x a x x b", "[b] x [a] x x [b]"),
    ];
    for (query, text, expected) in cases {
        assert_eq!(marked_in("title", query, text), expected, "{query} in {text}");
    }
    assert_eq!(marked_in("loose", "loose:\"a b\"", "b x a"), "[b] x [a]");
    assert_eq!(
        marked_in("folded", "folded:\"war of the worlds\"", "War the X Worlds"),
        "[War] the X [Worlds]"
    );
    assert_eq!(marked_in("folded", "folded:\"war of the worlds\"", "War Worlds"), "War Worlds");
}

#[test]
fn terms_are_compared_and_not_their_spelling() {
    assert_eq!(
        marked_in("folded", "folded:lodz", "ŁÓDŹ, Lo\u{301}dz\u{301}!"),
        "[ŁÓDŹ], [Lo\u{301}dz\u{301}]!"
    );
    assert_eq!(marked_in("pairs", "pairs:東京都", "日東京都京"), "日[東京都]京");
    assert_eq!(marked_in("kind", "kind:a-b", "a-b"), "[a-b]");
    assert_eq!(marked_in("kind", "kind:a-b", "a-b c"), "a-b c");
    assert_eq!(marked_in("kind", "kind:A*", "A b"), "[A b]");
    // A mark stays with its letter, though no part of the term.
    assert_eq!(marked_in("title", "cafe", "cafe\u{301} x"), "[cafe\u{301}] x");
    // Overlapping and touching matches are one.
    assert_eq!(marked_in("grams", "grams:abc", "xabcx"), "x[abc]x");
}

#[cfg(feature = "stem")]
#[test]
fn stems_mark_all_forms_of_a_word() {
    let schema = Schema::builder()
        .field(Field::new("body", FieldKind::Text).analyzer("english"))
        .build()
        .unwrap();
    let query = parse("\"runs fast\" connection", &ParseOptions::default()).unwrap();
    let highlighter = Highlighter::new(&query, &schema, &Analyzers::default()).unwrap();
    let text = "Running fast, connected; run slow";
    let passages = highlighter.passages("body", text, &PassageOptions::default());
    assert_eq!(passages[0].to_plain(text, "[", "]"), "[Running] [fast], [connected]; run slow");
}

#[test]
fn synonyms_are_marked_as_the_phrases_they_are() {
    let rules = Synonyms::parse("usa, united states", &Analyzer::default()).unwrap();
    let analyzers = Analyzers::default().synonyms("title", rules);
    let marked = |query, text: &str| {
        let passages =
            highlighter(query, &analyzers).passages("title", text, &PassageOptions::default());
        passages.first().map(|passage| passage.to_plain(text, "[", "]")).unwrap_or_default()
    };
    assert_eq!(marked("usa", "United States, USA, states"), "[United] [States], [USA], states");
    assert_eq!(
        marked("\"usa today\"", "United States Today; USA"),
        "[United] [States] [Today]; USA"
    );
}

/// All values of a document with brackets around what is marked.
fn marked_in_all(query: &str, values: &[&str]) -> String {
    let highlighter = highlighter(query, &Analyzers::default());
    let marked = highlighter.in_document(DocId(0), "many", values.iter().copied()).unwrap();
    let options = PassageOptions::default().max_len(1_000);
    let shown = marked.iter().map(|it| match &it.passages(&options)[..] {
        [] => it.text().to_owned(),
        passages => passages[0].to_plain(it.text(), "[", "]"),
    });
    shown.collect::<Vec<_>>().join(" | ")
}

#[test]
fn a_phrase_goes_from_one_value_to_the_next() {
    let cases: [(&str, &[&str], &str); 9] = [
        ("\"b c\"~100", &["a b", "c d"], "a [b] | [c] d"),
        ("\"b c\"~3", &["a b", "c d"], "a [b] | [c] d"),
        ("\"b c\"~2", &["a b", "c d"], "a b | c d"),
        ("\"c b\"~<>3", &["a b", "", "--", "c d"], "a [b] |  | -- | [c] d"),
        ("\"b c\"~>3", &["b", "x c"], "b | x c"),
        ("\"b c\"~>4", &["b", "x c"], "[b] | x [c]"),
        ("\"b c\"", &["b", "c"], "b | c"),
        ("PHRASE [b * * * c*]", &["a b", "cd c"], "a [b] | [cd] c"),
        ("d", &["d", "d"], "[d] | [d]"),
    ];
    for (query, values, expected) in cases {
        assert_eq!(marked_in_all(&format!("many:{query}"), values), expected, "{query}");
    }
    // However far away the values are from one another.
    let values = vec!["a b"; 400_000];
    let query = parse("many:\"b a\"~<>3", &ParseOptions::default()).unwrap();
    let highlighter = Highlighter::new(&query, &schema(), &Analyzers::default()).unwrap();
    let marked = highlighter.in_document(DocId(0), "many", values).unwrap();
    let n_marks: usize = marked.iter().map(|it| it.marks.len()).sum();
    assert_eq!(n_marks, 800_000);
}

#[test]
fn a_query_that_cannot_be_asked_cannot_be_marked() {
    let schema = schema();
    let cases = [
        ("none:x", ErrorKind::Query),
        ("{none}:x*", ErrorKind::Query),
        ("/(a|b)*a(a|b){18}/", ErrorKind::LimitExceeded),
    ];
    for (query, kind) in cases {
        let query = parse(query, &ParseOptions::default()).unwrap();
        let error = Highlighter::new(&query, &schema, &Analyzers::default()).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
    }
    let unregistered = Schema::builder()
        .field(Field::new("own", FieldKind::Text).analyzer("mine"))
        .build()
        .unwrap();
    let error = Highlighter::new(&Query::word("x"), &unregistered, &Analyzers::default());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Analyzer);
}

#[test]
fn deep_trees_and_large_texts_are_no_trouble() {
    let mut query = Query::word("a");
    for _ in 0..200_000 {
        query = Query::Not(Box::new(query));
    }
    let highlighter = Highlighter::new(&query, &schema(), &Analyzers::default()).unwrap();
    assert!(highlighter.marks("title"));
    assert!(!highlighter.marks("kind") && !highlighter.marks("none"));
    // A phrase of a thousand words that are the same, in a megabyte of them.
    let query = Query::phrase("a ".repeat(1_000));
    let highlighter = Highlighter::new(&query, &schema(), &Analyzers::default()).unwrap();
    let text = "a ".repeat(500_000);
    let options = PassageOptions::default().max_len(100).max_passages(3);
    let passages = highlighter.passages("title", &text, &options);
    assert_eq!(passages.iter().map(|passage| passage.matches().len()).sum::<usize>(), 150);
}

/// Whether any way to give each word of a phrase a place of its own is as its proximity wants it, by
/// trying all of them; the places of the ways that are.
fn tried(words: &[&str], text: &[&str], fits: &dyn Fn(&[usize]) -> bool) -> Vec<bool> {
    let mut part = vec![false; text.len()];
    let mut places = vec![0; words.len()];
    loop {
        let own =
            |nth: usize| !places[..nth].contains(&places[nth]) && text[places[nth]] == words[nth];
        if (0..words.len()).all(own) && fits(&places) {
            places.iter().for_each(|at| part[*at] = true);
        }
        let Some(nth) = places.iter().position(|at| at + 1 < text.len()) else { return part };
        places[..nth].fill(0);
        places[nth] += 1;
    }
}

fn words(len: Range<usize>) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), len)
}

fn texts() -> impl Strategy<Value = String> {
    let pieces = vec![
        "a",
        "b",
        "ab",
        "C",
        " ",
        ". ",
        "\n",
        "<",
        "é",
        "e\u{301}",
        "東",
        "京。",
        "👩\u{200D}💻",
        "\u{301}",
        "ﬁ",
        "İ",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn words_of_a_phrase_are_marked_where_some_way_to_place_them_fits(
        asked in words(2..4), text in words(1..8), slop in 0_u32..4, form in 0..4,
    ) {
        let spelled = asked.join(" ");
        let query = match form {
            0 => format!("\"{spelled}\""),
            1 => format!("\"{spelled}\"~{slop}"),
            2 => format!("\"{spelled}\"~>{slop}"),
            _ => format!("\"{spelled}\"~<>{slop}"),
        };
        let slop = slop as usize;
        let fits = |at: &[usize]| {
            let moved = || at.iter().enumerate().map(|(nth, at)| at + 10 - nth);
            let (least, greatest) = (at.iter().min().unwrap(), at.iter().max().unwrap());
            let is_near = greatest - least < asked.len() + slop;
            match form {
                0 => moved().max() == moved().min(),
                1 => moved().max().unwrap() - moved().min().unwrap() <= slop,
                2 => at.is_sorted() && is_near,
                _ => is_near,
            }
        };
        let part = tried(&asked, &text, &fits);
        let expected: Vec<_> = text
            .iter()
            .zip(part)
            .map(|(word, part)| if part { format!("[{word}]") } else { (*word).to_owned() })
            .collect();
        prop_assert_eq!(marked_in("title", &query, &text.join(" ")), expected.join(" "), "{}", query);
    }

    #[test]
    fn passages_and_their_matches_keep_the_bounds_of_a_text(
        text in texts(), field in prop::sample::select(vec!["title", "folded", "pairs", "grams"]),
        max_len in 0_usize..80, max_passages in 0_usize..5,
    ) {
        let highlighter = highlighter(&format!("{field}:(a b* e é 東京 \"a b\" fi)"), &Analyzers::default());
        let options = PassageOptions::default().max_len(max_len).max_passages(max_passages);
        let passages = highlighter.passages(field, &text, &options);
        prop_assert!(passages.len() <= max_passages);
        let asked = &highlighter.fields[0].1;
        let (mut tokens, mut is_anywhere) = (vec![], false);
        asked.analyzer.clone().unwrap().for_each_token(&text, |token| {
            for item in asked.items(token.term.as_bytes()) {
                is_anywhere |= asked.is_anywhere(item);
                tokens.push(token.offset_from..token.offset_to);
            }
        });
        let boundary = |at: usize| {
            text.is_char_boundary(at)
                && !text[at..].starts_with(['\u{301}', '\u{200D}'])
                && !text[..at].ends_with('\u{200D}')
        };
        let mut covered = vec![];
        for passage in &passages {
            let Range { start, end } = passage.range();
            prop_assert!(start < end && end <= text.len());
            prop_assert!((boundary(start) || start == 0) && boundary(end), "{:?} of {:?}", passage, text);
            // Marks that combine with the last character go along.
            let len = text[start..end].trim_end_matches(['\u{301}', '\u{200D}', '💻']).len();
            prop_assert!(len <= max_len.max(4) || end - start == text.len() && text.len() <= max_len, "{:?} of {:?}", passage, text);
            prop_assert!(!passage.matches().is_empty() && passage.score() > 0);
            let mut last = None;
            for own in passage.matches() {
                prop_assert!(start <= own.start && own.start < own.end && own.end <= end);
                prop_assert!((boundary(own.start) || own.start == 0) && boundary(own.end), "{:?} of {:?}", own, text);
                prop_assert!(last.is_none_or(|last| last < own.start));
                last = Some(own.end);
                let is_asked = |token: &Range<usize>| token.start < own.end && own.start < token.end;
                prop_assert!(tokens.iter().any(is_asked), "{:?} of {:?}", own, text);
            }
            let pieces: String = passage.pieces(&text).map(|(piece, _)| piece).collect();
            prop_assert_eq!(&pieces, &text[start..end]);
            prop_assert!(!passage.to_html(&text).replace("<em>", "").replace("</em>", "").contains('<'));
            covered.push(start..end);
        }
        covered.sort_by_key(|range| range.start);
        prop_assert!(covered.is_sorted_by(|a, b| a.end <= b.start), "{:?}", covered);
        prop_assert!(!passages.is_empty() || !is_anywhere || max_passages == 0, "{:?}", text);
    }
}
