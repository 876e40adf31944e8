//! Tests of the parser: trees of texts, errors and their places, and printed trees.

use super::frame::negated;
use proptest::prelude::*;

use super::*;
use crate::query::{Fuzziness, Proximity, Score, render_caret};
use std::ops::Bound;

fn tree(text: &str) -> String {
    match parse(text, &ParseOptions::default()) {
        Ok(query) => format!("{:?}", Short(&query)),
        Err(error) => panic!("{error}"),
    }
}

/// A tree on one line: `&` and, `|` or, `!` not, `{must; should; must not}` group.
struct Short<'q>(&'q Query);

impl std::fmt::Debug for Short<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |queries: &[Query], sign: &str| {
            queries.iter().map(|query| format!("{:?}", Short(query))).collect::<Vec<_>>().join(sign)
        };
        match self.0 {
            Query::All => write!(f, "*"),
            Query::Nothing => write!(f, "0"),
            Query::Word { field, text, .. } => {
                write!(
                    f,
                    "{}{text}",
                    field.iter().map(|name| format!("{name}:")).collect::<String>()
                )
            }
            Query::And(all) => write!(f, "({})", list(all, " & ")),
            Query::Or(any) => write!(f, "({})", list(any, " | ")),
            Query::Not(query) => write!(f, "!{:?}", Short(query)),
            Query::Group { must, should, must_not, minimum } => {
                let [a, b, c] = [must, should, must_not].map(|queries| list(queries, " "));
                let minimum = minimum.map_or(String::new(), |n| format!("~{n}"));
                write!(f, "{{{a}; {b}; {c}}}{minimum}")
            }
            Query::DisMax { any, tie } => write!(f, "max({}; {tie})", list(any, " ")),
            Query::Boost { query, boost } => write!(f, "{:?}^{boost}", Short(query)),
            Query::ConstantScore { query, score } => write!(f, "{:?}^={score}", Short(query)),
            Query::Fields { fields, combined, query } => {
                let names = fields.iter().map(|(name, boost)| format!("{name}^{boost}"));
                write!(
                    f,
                    "<{}>:{:?}",
                    names.collect::<Vec<_>>().join(if *combined { "+" } else { " " }),
                    Short(query)
                )
            }
            leaf => write!(f, "{leaf}"),
        }
    }
}

#[test]
fn binding_is_prefix_then_and_then_side_by_side_then_or() {
    let cases = [
        ("a", "a"),
        ("+a", "a"),
        ("a b", "{; a b; }"),
        ("a AND b c", "{; (a & b) c; }"),
        ("a AND (b OR c) -d", "{; (a & (b | c)); d}"),
        ("a OR b AND c d", "(a | {; (b & c) d; })"),
        ("+a b -c", "{a; b; c}"),
        ("-a", "!a"),
        ("-a NOT b !c", "{; ; a b c}"),
        ("NOT a AND b", "(!a & b)"),
        ("a && +b || -c", "((a & b) | !c)"),
        ("a&&b||c", "((a & b) | c)"),
        ("-(a b)", "!{; a b; }"),
        ("((a))", "a"),
        ("(a OR b) OR c", "((a | b) | c)"),
        ("*", "*"),
        ("NOT *", "0"),
        ("a -*", "{; a; *}"),
        ("- a", "!a"),
        ("a OR NOT(b)c", "(a | {; c; b})"),
    ];
    for (text, expected) in cases {
        assert_eq!(tree(text), expected, "{text}");
    }
}

#[test]
fn fields_reach_what_stands_in_their_parentheses() {
    let cases = [
        ("title:a", "title:a"),
        ("title:(a b:c (\"d\" *))", "{; title:a b:c {; title:\"d\" title:*; }; }"),
        ("title:(a) b", "{; title:a b; }"),
        ("-title:*", "!title:*"),
        ("title:12:30", "title:12:30"),
        ("t:-5 t:+x t:!", "{; t:-5 t:+x t:!; }"),
        ("t: a", "t:a"),
        ("q:\"a \\\"b\\\\ c\"", "q:\"a \\\"b\\\\ c\""),
        ("\"First Name\":a", "First Name:a"),
        ("First\\ Name:(a \"b c\")", "{; First Name:a First\\ Name:\"b c\"; }"),
        ("+\"a \\\"b\\\"\":c", "a \"b\":c"),
        ("title:\"a\" \"b\"", "{; title:\"a\" \"b\"; }"),
    ];
    for (text, expected) in cases {
        assert_eq!(tree(text), expected, "{text}");
    }
}

#[test]
fn what_only_looks_like_an_operator_is_a_word() {
    let cases = [
        ("AC/DC C++ e-mail don't wham! AT&T a|b", "{; AC/DC C++ e-mail don't wham! AT&T a|b; }"),
        ("and or not Not", "{; and or not Not; }"),
        ("BORN IN TO", "{; BORN IN TO; }"),
        ("\\AND \\-a a\\ b \\(\\) \\* t\\:x", "{; AND -a a b () * t:x; }"),
        ("ANDROID NOTa ORa", "{; ANDROID NOTa ORa; }"),
        ("\u{3000}全角　空白 ", "{; 全角 空白; }"),
    ];
    for (text, expected) in cases {
        assert_eq!(tree(text), expected, "{text}");
    }
}

#[test]
fn the_default_operator_can_be_and() {
    let options = ParseOptions::default().default_operator(DefaultOperator::And);
    let cases =
        [("a b -c", "+a +b -c"), ("a AND b c", "+(a AND b) +c"), ("a OR b c", "a OR +b +c")];
    for (text, expected) in cases {
        assert_eq!(parse(text, &options).unwrap().to_string(), expected);
    }
}

#[test]
fn what_means_nothing_is_refused_where_it_stands() {
    let cases = [
        ("", "expected a word, a quoted value, '*' or '(', found the end of the query", "\n^"),
        ("  ", "'*' matches every document", "  \n  ^"),
        ("a AND", "after 'AND', found the end of the query", "a AND\n     ^"),
        ("AND a", "found 'AND'", "AND a\n^^^"),
        ("a OR OR b", "after 'OR', found 'OR'", "a OR OR b\n     ^^"),
        ("a (b OR)", "after 'OR', found ')'", "a (b OR)\n       ^"),
        ("()", "found ')'", "()\n ^"),
        (")", "found ')'", ")\n^"),
        ("a) b", "')' without its opening bracket", "a) b\n ^"),
        ("a (b (c) ", "expected a ')' for this '('", "a (b (c) \n  ^"),
        ("(", "expected a ')'", "(\n^"),
        ("a -", "after '-'", "a -\n   ^"),
        ("NOT NOT a", "two in a row", "NOT NOT a\n    ^^^"),
        ("title:", "after 'title:'", "title:\n      ^"),
        ("title:AND b", "after 'title:', found 'AND'", "title:AND b\n      ^^^"),
        (":a", "the name of a field before ':'", ":a\n^"),
        ("a \"b c", "expected a closing '\"'", "a \"b c\n  ^"),
        ("\"a\\", "expected a closing '\"'", "\"a\\\n^"),
        ("a\\", "a character after '\\'", "a\\\n ^"),
        ("a ]", "']' without its opening bracket", "a ]\n  ^"),
        ("a }", "'}' without its opening bracket", "a }\n  ^"),
        ("MAX [a)", "expected the end of 'MAX [' first, found ')'", "MAX [a)\n      ^"),
        ("MAX [a OR b]", "alternatives side by side in MAX, found OR", "MAX [a OR b]\n       ^^"),
        ("MAX [a]~2", "expected a part from 0 to 1, found 2", "MAX [a]~2\n      ^"),
        ("MAX [a", "expected a ']' for this 'MAX ['", "MAX [a\n^^^^^"),
        ("a^", "expected a number behind '^'", "a^\n ^"),
        ("a^0", "greater than 0, found 0", "a^0\n ^^"),
        ("a^-1", "greater than 0, found -1", "a^-1\n ^^^"),
        ("a^NaN", "greater than 0, found NaN", "a^NaN\n ^^^^"),
        ("a^1e99", "greater than 0, found inf", "a^1e99\n ^^^^^"),
        ("a^=-1", "a finite score of 0 or more", "a^=-1\n ^^^^"),
        ("a^2^3", "right behind what it belongs to", "a^2^3\n   ^"),
        ("^2", "right behind what it belongs to", "^2\n^"),
        ("a~3", "a distance of at most 2, found 3", "a~3\n  ^"),
        ("a~1b", "a blank or a bracket, found 'b'", "a~1b\n   ^"),
        ("a*~1", "a word before '~', found 'a*'", "a*~1\n^^^"),
        ("a*b:c", "the name of one field before ':', found 'a*b'", "a*b:c\n^^^"),
        ("\"a\"~x", "how far apart the words may be", "\"a\"~x\n   ^"),
        ("/a", "expected a closing '/'", "/a\n^"),
        ("/usr/bin", "a blank or a bracket, found 'b'", "/usr/bin\n     ^"),
        ("[a b]", "TO between the ends of a range, found 'b'", "[a b]\n   ^"),
        ("[a TO b", "']' or '}' after the end", "[a TO b\n       ^"),
        ("[a* TO b]", "whole values", "[a* TO b]\n ^^"),
        ("[a TO", "expected a value or '*', found the end", "[a TO\n     ^"),
        ("IN []", "a value of the list, found ']'", "IN []\n    ^"),
        (">*", "a value to compare with, found '*'", ">*\n ^"),
        ("{a b}", "':' behind a list of fields", "{a b}\n^^^^^"),
        ("{a + b c}:d", "'+' between all fields or between none", "{a + b c}:d\n^^^^^^^^^"),
        ("{a + + b}:d", "the name of a field", "{a + + b}:d\n     ^"),
        ("{+ a}:d", "a field of this name", "{+ a}:d\n ^"),
        ("{a^=1}:b", "a weight for the field", "{a^=1}:b\n  ^^^"),
        ("(a b)~", "how many of the alternatives must match, found no number", "(a b)~\n     ^"),
        ("(a)~99999999999", "how many of the alternatives", "(a)~99999999999\n   ^^^^^^^^^^^^"),
    ];
    for (text, message, caret) in cases {
        let error = parse(text, &ParseOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Query, "{text}");
        assert!(error.to_string().contains(message), "{text}: {error}");
        assert_eq!(render_caret(text, error.span().unwrap()), caret, "{error}");
    }
}

#[test]
fn messages_say_what_to_write_instead() {
    let cases = [
        ("a~0.8", "0, 1 or 2, found 0.8", "a~1 or a~2", 2..5),
        ("*:*", "found '*'", "every document is *", 0..1),
        ("a*:b", "found 'a*'", "{a b}: for several", 0..2),
        ("t:[2020-01-01 10:00 TO 2021]", "found '10:00'", "stands in quotes", 14..19),
        ("t:[2020 TO 2021-01-01 10:00]", "found '1'", "stands in quotes", 22..23),
        ("t:[a b]", "found 'b'", "IN [a b]", 5..6),
        ("\"a b\"~99999999999", "a number of at most 4294967295, found 99999999999", "", 5..17),
        ("(a b)~99999999999", "a number of at most 4294967295", "", 5..17),
        ("a && && b", "found '&&'", "leave one of the two out", 5..7),
        ("a OR AND b", "found 'AND'", "leave one of the two out", 5..8),
        ("title : paris", "found a blank", "write title: without a blank", 6..7),
        (": paris", "found none", "\\:", 0..1),
        ("title:>", "a value to compare with", "", 7..7),
        ("NOT", "after 'NOT', found the end", "write \\NOT", 3..3),
        ("a AND", "after 'AND', found the end", "write \\AND", 5..5),
        ("foo:", "after 'foo:', found the end", "write foo\\:", 4..4),
        ("“new york”", "the quotation mark '“' of print", "write \" before and behind", 0..3),
        ("a „b“", "the quotation mark '„' of print", "write \"", 2..5),
        ("t:/usr/lib", "found 'l'", "stands in quotes", 7..8),
        ("/usr", "a closing '/'", "stands in quotes", 0..1),
    ];
    for (text, found, hint, span) in cases {
        let error = parse(text, &ParseOptions::default()).unwrap_err();
        let message = error.to_string();
        assert!(message.contains(found) && message.contains(hint), "{text}: {message}");
        assert_eq!(error.span(), Some(span), "{text}: {message}");
    }
}

#[test]
fn every_kind_of_leaf_is_one() {
    let cases = [
        ("hist*", Query::prefix("hist")),
        ("a\\*b*", Query::prefix("a*b")),
        ("w?ld*c", Query::wildcard("w?ld*c")),
        ("*foo", Query::wildcard("*foo")),
        ("**", Query::wildcard("*")),
        ("a?\\?", Query::wildcard("a?\\?")),
        ("t:hist*", Query::prefix("hist").in_field("t")),
        ("foo~", Query::fuzzy("foo", Fuzziness::new(2)).unwrap()),
        ("foo~0", Query::fuzzy("foo", Fuzziness::new(0)).unwrap()),
        (
            "t:foo~1/3!",
            Query::fuzzy("foo", Fuzziness { distance: 1, prefix_len: 3, transpositions: false })
                .unwrap()
                .in_field("t"),
        ),
        ("\"a b\"~2", Query::near("a b", Proximity::Slop(2))),
        ("\"a b\"~0", Query::near("a b", Proximity::Slop(0))),
        ("\"a b\"~>2", Query::near("a b", Proximity::Ordered(2))),
        ("\"a b\"~<>2", Query::near("a b", Proximity::Near(2))),
        ("\"a b\"*", Query::phrase_prefix("a b")),
        ("PHRASE [the gr*t]", phrase_of([Query::word("the"), Query::wildcard("gr*t")], "")),
        (
            "t:PHRASE[ a* \"b c\" * /d e/ f~1 [g TO h] IN [i j] \\PHRASE -k ]~<>3",
            phrase_of(
                [
                    Query::prefix("a"),
                    Query::phrase("b c"),
                    Query::All,
                    Query::regex("d e"),
                    Query::fuzzy("f", Fuzziness::new(1)).unwrap(),
                    Query::range(text("g")..=text("h")),
                    Query::in_set(["i", "j"]),
                    Query::word("PHRASE"),
                    Query::word("-k"),
                ],
                "~<>3",
            )
            .in_field("t"),
        ),
        ("PHRASE [a \"b c\" d]~2", Query::near("a b c d", Proximity::Slop(2))),
        ("PHRASE [a*]~>2", Query::prefix("a")),
        ("PHRASE [*]", phrase_of([Query::All], "")),
        ("/ab+c/", Query::regex("ab+c")),
        ("/a\\/b\\\\/", Query::regex("a/b\\\\")),
        ("t:/a b(c|d)/", Query::regex("a b(c|d)").in_field("t")),
        ("[a TO b}", Query::range(text("a")..text("b"))),
        ("{a TO b]", Query::range((Bound::Excluded(text("a")), Bound::Included(text("b"))))),
        ("t:[* TO \"b c\"]", Query::range(..=text("b c")).in_field("t")),
        ("[ \\* TO TO ]", Query::range(text("*")..=text("TO"))),
        (">=a", Query::range(text("a")..)),
        ("t:>a", Query::range((Bound::Excluded(text("a")), Bound::Unbounded)).in_field("t")),
        ("t:<= a", Query::range(..=text("a")).in_field("t")),
        ("<-5", Query::range(..text("-5"))),
        ("t:IN [b \"a x\" b]", Query::in_set(["a x", "b"]).in_field("t")),
        ("IN[TO]", Query::in_set(["TO"])),
    ];
    for (text, expected) in cases {
        let query = parse(text, &ParseOptions::default()).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(query, expected, "{text}");
        let printed = query.to_string();
        assert_eq!(parse(&printed, &ParseOptions::default()).unwrap(), query, "{printed}");
    }
}

fn phrase_of<const N: usize>(parts: [Query; N], proximity: &str) -> Query {
    let proximity = match proximity {
        "~<>3" => Proximity::Near(3),
        _ => Proximity::Exact,
    };
    let parts = parts.into_iter().map(|part| part.try_into().unwrap()).collect();
    Query::PhraseOf { field: None, parts, proximity, place: Default::default() }
}

#[test]
fn what_is_no_word_of_a_phrase_is_refused_where_it_stands() {
    let cases = [
        ("a PHRASE []", "words and patterns in PHRASE", 10..11),
        ("PHRASE [a", "found the end of the query", 9..9),
        ("PHRASE [a b*)", "found ')'", 12..13),
        ("PHRASE [a AND b]", "found 'AND'", 10..13),
        ("PHRASE [a^2 b*]", "behind its ']'", 9..10),
        ("PHRASE [a b*]2", "expected a blank or a bracket", 13..14),
        ("PHRASE [a \"b c\"~1]", "the whole phrase", 10..17),
        ("PHRASE [a \"b c\"*]", "without a field", 10..16),
        ("PHRASE [PHRASE [a b*] c]", "found 'PHRASE'", 8..14),
        ("PHRASE [a MAX [b c]]", "found 'MAX ['", 10..15),
        ("PHRASE [a b*]~x", "how far apart the words may be", 13..14),
    ];
    for (text, message, span) in cases {
        let error = parse(text, &ParseOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Query, "{error}");
        assert!(error.to_string().contains(message), "{text}: {error}");
        assert_eq!(error.span(), Some(span), "{text}: {error}");
    }
    let nested = "PHRASE [".repeat(8_000);
    assert_eq!(parse(&nested, &ParseOptions::default()).unwrap_err().span(), Some(8..14));
    let named = Query::phrase_of([Query::word_in("t", "a"), Query::prefix("b")], Proximity::Exact);
    assert!(named.unwrap_err().to_string().contains("'t:a'"));
    let nested = phrase_of([Query::word("a"), Query::prefix("b")], "");
    for other in [Query::Nothing, Query::exists("t"), Query::not(Query::word("a")), nested] {
        assert!(Query::phrase_of([other, Query::prefix("b")], Proximity::Exact).is_err());
    }
    assert_eq!(Query::phrase_of([], Proximity::Exact).unwrap(), Query::Nothing);
}

fn text(text: &str) -> String {
    text.to_owned()
}

#[test]
fn weights_and_brackets_bind_to_what_stands_before_them() {
    let cases = [
        ("a^2", "a^2"),
        ("t:a^2.50 b", "{; t:a^2.5 b; }"),
        ("-a^2", "!a^2"),
        ("NOT (a b)^1e1", "!{; a b; }^10"),
        ("(a^2)^3", "a^2^3"),
        ("a^=0 AND b", "(a^=0 & b)"),
        ("*^3", "*^3"),
        ("\"a b\"~2^3 [a TO b]^4 /a/^5 a~^6", "{; \"a b\"~2^3 [a TO b]^4 /a/^5 a~2^6; }"),
        ("(a b c)~2", "{; a b c; }~2"),
        ("(a OR b OR c d)~2^3", "{; a b {; c d; }; }~2^3"),
        ("(a)~1", "{; a; }~1"),
        ("(+a b AND c -d)~0", "{a; (b & c); d}~0"),
        ("MAX [a b AND c -d (e OR f)]~0.5", "max(a (b & c) !d (e | f); 0.5)"),
        ("t:MAX [a]^2", "max(t:a; 0)^2"),
        ("{t^2 \"u v\"}:a", "<t^2 u v^1>:a"),
        ("{t^2 + u}:(a b)", "<t^2+u^1>:{; a b; }"),
        ("{t+u \"+\"}:a", "<t+u^1 +^1>:a"),
        ("{t}:(a u:b)^2", "<t^1>:{; a u:b; }^2"),
        ("{t u}:*", "(t:* | u:*)"),
        ("t:({u}:a b)", "{; <u^1>:a t:b; }"),
        ("MAX PLANCK", "{; MAX PLANCK; }"),
        ("PHRASE (a)", "{; PHRASE a; }"),
        ("-PHRASE [a b*]~1^2", "!PHRASE [a b*]~1^2"),
    ];
    for (text, expected) in cases {
        assert_eq!(tree(text), expected, "{text}");
    }
    let options = ParseOptions::default().default_operator(DefaultOperator::And);
    assert_eq!(parse("(a b c)~2 d", &options).unwrap().to_string(), "+(a b c)~2 +d");
}

#[test]
fn default_fields_go_around_the_query() {
    let options = ParseOptions::default()
        .default_fields([("t", Boost::new(2.0).unwrap()), ("u", Boost::ONE)]);
    assert_eq!(parse("a v:b", &options).unwrap().to_string(), "{t^2 u}:(a v:b)");
    assert_eq!(parse("a", &options).unwrap().to_string(), "{t^2 u}:a");
    assert_eq!(parse("*", &options).unwrap(), Query::All);
}

#[test]
fn no_text_is_too_much() {
    let refused = |text: &str, limit: &str| {
        let error = parse(text, &ParseOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
        assert!(error.to_string().contains(limit), "{error}");
        assert!(error.span().is_some());
    };
    refused(&"(".repeat(1_000_000), "QUERY_BYTES_MAX");
    refused(&"NOT ".repeat(1_000_000), "QUERY_BYTES_MAX");
    refused(
        &"(".repeat(QUERY_BYTES_MAX),
        "at most 128 open parentheses (limit DEPTH_MAX), found 129",
    );
    refused(&"-(".repeat(QUERY_BYTES_MAX / 2), "DEPTH_MAX");
    refused(
        &"é ".repeat(QUERY_BYTES_MAX / 3),
        "at most 1024 words and values (limit CLAUSES_MAX), found 1025",
    );
    assert!(parse(&"NOT ".repeat(16_384), &ParseOptions::default()).is_err());
    let longest = "x".repeat(QUERY_BYTES_MAX);
    assert_eq!(parse(&longest, &ParseOptions::default()).unwrap(), Query::word(longest));
}

#[test]
fn the_deepest_tree_prints_and_parses() {
    let text =
        format!("{}a{}", "a OR b -(c AND (".repeat(DEPTH_MAX / 2), "))".repeat(DEPTH_MAX / 2));
    let query = parse(&text, &ParseOptions::default()).unwrap();
    assert_eq!(parse(&query.to_string(), &ParseOptions::default()).unwrap(), query);
}

#[test]
fn a_word_knows_where_it_and_its_field_stood() {
    let query = parse("  t:(ab \"c\")", &ParseOptions::default()).unwrap();
    let Query::Group { should, .. } = &query else { panic!("{query}") };
    let places: Vec<_> = should
        .iter()
        .map(|query| match query {
            Query::Word { place, .. } | Query::Phrase { place, .. } => {
                (place.field.clone(), place.text.clone())
            }
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(places, [(Some(2..3), Some(5..7)), (Some(2..3), Some(8..11))]);
}

/// Trees as the parser builds them.
fn queries() -> impl Strategy<Value = Query> {
    let text = || {
        prop_oneof![
            "[a-c]",
            "(AND|OR|NOT|TO|IN|MAX|PHRASE|&&|\\|\\|)",
            "[-+!/<>&|a*?~^:\\\\ \"()\\[\\]{}]{1,4}",
            "\\PC{1,3}",
        ]
    };
    let bound = move || {
        (text(), 0..3).prop_map(|(text, kind)| match kind {
            0 => Bound::Unbounded,
            1 => Bound::Included(text),
            _ => Bound::Excluded(text),
        })
    };
    let proximity = prop_oneof![
        3 => Just(Proximity::Exact),
        1 => (0u32..9).prop_map(Proximity::Slop),
        1 => (0u32..9).prop_map(Proximity::Ordered),
        1 => any::<u32>().prop_map(Proximity::Near),
    ];
    let fuzziness = (0u8..3, prop_oneof![Just(0), any::<u32>()], any::<bool>());
    let fuzziness = fuzziness.prop_map(|(distance, prefix_len, transpositions)| Fuzziness {
        distance,
        prefix_len,
        transpositions,
    });
    let word = prop_oneof![
        4 => text().prop_map(Query::word),
        1 => text().prop_map(Query::prefix),
        1 => "[a*?\\\\~:^/+]{1,5}".prop_map(Query::wildcard),
        1 => "[a/\\\\*\" ()]{0,5}"
            .prop_map(|pattern| Query::regex(pattern.replace('\\', "\\\\"))),
        1 => (text(), fuzziness).prop_map(|(text, fuzziness)| {
            Query::fuzzy(text, fuzziness).unwrap()
        }),
        1 => (bound(), bound()).prop_map(Query::range),
        1 => prop::collection::vec(text(), 1..4).prop_map(Query::in_set),
    ];
    let part = prop_oneof![
        1 => Just(Query::All),
        2 => ".{0,4}".prop_map(Query::phrase),
        9 => word.clone(),
    ];
    let leaf = prop_oneof![
        8 => word,
        1 => (prop::collection::vec(part, 1..4), proximity.clone()).prop_map(|(parts, proximity)| {
            Query::phrase_of(parts, proximity).unwrap()
        }),
        1 => (".{0,4}", any::<bool>(), proximity).prop_map(|(text, open, proximity)| {
            let mut query = Query::near(text, proximity);
            if let Query::Phrase { prefix, .. } = &mut query {
                *prefix = open;
            }
            query
        }),
    ];
    let leaf = (leaf, prop::option::of(text())).prop_map(|(query, field)| match field {
        Some(field) => query.in_field(field),
        None => query,
    });
    let leaf = prop_oneof![
        1 => Just(Query::All),
        1 => Just(Query::Nothing),
        1 => text().prop_map(Query::exists),
        9 => leaf,
    ];
    let factor = || prop_oneof![Just(0.1f32), Just(3.0), f32::MIN_POSITIVE..f32::MAX];
    leaf.prop_recursive(5, 32, 4, move |inner| {
        let some = |least| prop::collection::vec(inner.clone(), least..4);
        let boxed = || inner.clone().prop_map(Box::new);
        let fields = prop::collection::vec(
            (text(), factor().prop_map(|factor| Boost::new(factor).unwrap())),
            1..3,
        );
        let clauses = (some(0), some(0), some(0));
        prop_oneof![
            some(2).prop_map(Query::And),
            some(2).prop_map(Query::Or),
            inner.clone().prop_map(negated),
            clauses.clone().prop_map(|(a, b, c)| Query::group(a, b, c)),
            (clauses, 0u32..5).prop_filter_map("no clause", |((a, b, c), minimum)| {
                let is_one = a.len() + b.len() + c.len() > 0;
                is_one.then_some(Query::Group {
                    must: a,
                    should: b,
                    must_not: c,
                    minimum: Some(minimum),
                })
            }),
            (some(1), 0.0f32..=1.0)
                .prop_map(|(any, tie)| Query::DisMax { any, tie: Tie::new(tie).unwrap() }),
            (boxed(), factor()).prop_map(|(query, factor)| Query::Boost {
                query,
                boost: Boost::new(factor).unwrap()
            }),
            (boxed(), prop_oneof![Just(0.0), factor()]).prop_map(|(query, score)| {
                Query::ConstantScore { query, score: Score::new(score).unwrap() }
            }),
            (boxed(), fields, any::<bool>()).prop_map(|(query, fields, combined)| {
                Query::Fields { combined: combined && fields.len() > 1, fields, query }
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn every_tree_prints_to_text_that_parses_to_it(query in queries()) {
        let text = query.to_string();
        let parsed = parse(&text, &ParseOptions::default());
        prop_assert_eq!(parsed.unwrap(), query, "{}", text);
    }

    #[test]
    fn any_text_is_a_query_or_an_error_with_a_place(
        text in "([ab(): \"\\\\*+!&|~^/?-]|AND |OR |NOT |t:|MAX \\[|PHRASE \\[|IN \\[|\\[a TO |\\]|[{}<>=]|~[0-9]|\\^2|\\PC){0,24}",
    ) {
        match parse(&text, &ParseOptions::default()) {
            Ok(query) => {
                let printed = query.to_string();
                prop_assert_eq!(parse(&printed, &ParseOptions::default()).unwrap(), query, "{}", printed);
            }
            Err(error) => {
                let span = error.span().unwrap();
                prop_assert!(text.get(span.clone()).is_some(), "{:?} of {:?}", span, text);
                render_caret(&text, span);
            }
        }
    }
}
