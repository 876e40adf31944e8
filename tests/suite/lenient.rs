//! The lenient reading: whatever is typed into a search box has an answer, and valid syntax keeps its meaning.

use proptest::prelude::*;
use treepie::query::{DefaultOperator, ParseOptions, Query, escape, parse};
use treepie::value::Dates;
use treepie::{Document, Facet, Field, FieldKind, Index, Schema, Searcher, Timestamp};

/// Texts as people, programs and attackers type them.
const HOSTILE: &[&str] = &[
    "",
    " ",
    "\n\t",
    "AND",
    "OR",
    "NOT",
    "TO",
    "IN",
    "MAX",
    "PHRASE",
    "-",
    "+",
    "!",
    "--",
    "+-",
    "- -",
    "*",
    "**",
    "?",
    "(",
    ")",
    "((",
    "))",
    ")(",
    "()",
    "(())",
    "(a",
    "a)",
    "(a AND )",
    "(OR a)",
    "a OR",
    "OR a",
    "a AND AND b",
    "a && && b",
    "a || || b",
    "NOT NOT a",
    "NOT -a",
    "-(",
    "-()a",
    "\"",
    "\"\"",
    "\"milk",
    "milk\"",
    "\"a\" \"",
    "\"a b\"~99999999999",
    "\"a b\"~x",
    "“new york”",
    "„neu“ york",
    "“open",
    "\"mixed” end",
    "[",
    "]",
    "[a TO",
    "[a TO b",
    "[TO]",
    "{",
    "}",
    "{a}",
    "a {b}",
    "{a b}:c",
    "{title nope}:a",
    "{title + year}:a",
    "{title}:",
    "foo:",
    "foo:bar",
    ":",
    "::",
    ":a",
    "a:",
    "title:",
    "title: ",
    "title:)",
    "title:AND",
    "title: : a",
    "title:>",
    "year:>",
    "year:many",
    "year:[a TO b]",
    "year:19*",
    "price:abc",
    "since:never",
    "since:now-7d",
    "since:[2020-01-01 10:00 TO *]",
    "ip:300.1.1.1",
    "new:maybe",
    "path:a\\b",
    "path:\"\"",
    "path:/usr/lib",
    "10:30 meeting",
    "http://example.com/?q=1",
    "https://user:pw@example.com:8080/a(b)/c?d=[e]&f={g}#h",
    "C:\\dir",
    "C:\\dir\\",
    "\\",
    "\\\\",
    "a\\",
    "a~9",
    "a~0.8",
    "~",
    "~1",
    "a~~",
    "^",
    "^2",
    "a^",
    "a^x",
    "a^2^3",
    "a^-1",
    "a^1e99",
    "/",
    "/re",
    "/usr/lib/x",
    "/(/",
    "/[/",
    "/a{99999}/",
    "/\\bx\\b/",
    "//",
    "///",
    "<",
    ">",
    "<>",
    ">=",
    "<script>alert('x')</script>",
    "'; DROP TABLE users; --",
    "../../etc/passwd",
    "%s%n%d",
    "$(rm -rf)",
    "`ls`",
    "{{7*7}}",
    "${jndi:ldap://x}",
    "\u{0}",
    "\u{feff}a",
    "\u{202e}abc",
    "😀",
    "👩‍👩‍👧 x:y",
    "田中さん",
    "naïve:café",
    "MAX [",
    "MAX []",
    "MAX [a OR b]",
    "MAX [a b]~7",
    "PHRASE [",
    "PHRASE [a (b)]",
    "IN [",
    "IN []",
    "a IN [b",
    "(a b)~99999999999",
    "(a b)~",
    "*:*",
    "*:a",
    "a*b:c",
    "1..3",
    "year:1..3",
    "year:1922",
    "field : value",
    "title : paris",
    "C++",
    "C#",
    ".NET",
    "AT&T",
    "rock & roll",
    "rock 'n' roll",
    "5'10\"",
    "50% off!",
    "what?",
    "re: hello",
    "Re: re: fwd:",
    "@user #tag",
    "a=b",
    "--help",
    "-- comment",
    "i++ + ++i",
    "a!=b",
    "!important",
    "foo(bar)[baz]{qux}",
    "((((((((((((((((a",
    "[[[[",
    "}}}}",
];

fn index() -> Index {
    let field = |name: &str, kind| Field::new(name, kind);
    let schema = Schema::builder()
        .text("title")
        .keyword("kind")
        .field(field("year", FieldKind::I64))
        .field(field("price", FieldKind::Decimal { scale: 2 }))
        .field(field("since", FieldKind::Date))
        .field(field("ip", FieldKind::Ip))
        .field(field("new", FieldKind::Bool))
        .field(field("path", FieldKind::Path { separator: '/' }))
        .build()
        .unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for (title, kind) in [
        ("Paris, Texas", "film"),
        ("New York at 10:30", "city"),
        ("milk a b c", "food"),
        ("http://example.com/?q=1", "page"),
    ] {
        writer
            .add(Document::new().with("title", title).with("kind", kind).with("year", 1922))
            .unwrap();
    }
    writer.commit().unwrap();
    index
}

/// Schemas in which words have no place of their own, or one that not all fit into.
fn odd_indexes() -> Vec<Index> {
    let year = || Field::new("year", FieldKind::I64);
    let none = Schema::builder().keyword("kind").field(year()).default_fields([] as [&str; 0]);
    let typed = Schema::builder().text("title").field(year());
    let numbers = Schema::builder().field(year()).default_fields([] as [&str; 0]);
    let index = |schema: treepie::SchemaBuilder| {
        let index = Index::in_memory(schema.build().unwrap());
        let mut writer = index.writer().unwrap();
        writer.add(Document::new().with("year", 1922)).unwrap();
        writer.commit().unwrap();
        index
    };
    [none, typed, numbers].map(index).into()
}

/// Reads, asks in every way, and prints a text.
fn check(searcher: &Searcher, text: &str) {
    let options = searcher.parse_options();
    for options in [options.clone(), options.clone().default_operator(DefaultOperator::And)] {
        let read = Query::parse_lenient(text, &options);
        let query = &read.query;
        let asked = searcher.search(query).limit(3).facet("kind", 3).run();
        match asked {
            Err(error) if searcher.schema().field("kind").is_some() => panic!("{text:?}: {error}"),
            _ => searcher.count(query).unwrap_or_else(|error| panic!("{text:?}: {error}")),
        };
        searcher.explain(query).unwrap();
        searcher.highlighter(query).unwrap();
        check_text(text, &read.query, &read.remarks);
    }
    let read = Query::parse_lenient(text, &ParseOptions::default());
    check_text(text, &read.query, &read.remarks);
}

fn check_text(text: &str, query: &Query, remarks: &[treepie::query::Remark]) {
    let printed = query.to_string();
    let again = parse(&printed, &ParseOptions::default());
    assert_eq!(again.as_ref().ok(), Some(query), "{text:?} is {printed}: {again:?}");
    for remark in remarks {
        assert!(text.get(remark.span()).is_some(), "{text:?}: {remark:?}");
        assert!(!remark.message().is_empty());
    }
}

#[test]
fn each_hostile_text_has_an_answer() {
    for index in [index()].into_iter().chain(odd_indexes()) {
        let searcher = index.searcher().unwrap();
        HOSTILE.iter().for_each(|text| check(&searcher, text));
    }
}

/// The big list of naughty strings, one a line, where somebody has it.
#[test]
fn each_naughty_string_has_an_answer() {
    let Ok(file) = std::env::var("TREEPIE_NAUGHTY_STRINGS") else { return };
    let searcher = index().searcher().unwrap();
    std::fs::read_to_string(file).unwrap().lines().for_each(|text| check(&searcher, text));
}

#[test]
fn what_is_no_syntax_is_read_as_words_and_said() {
    let searcher = index().searcher().unwrap();
    for (text, printed, remarks) in [
        ("10:30 meeting", r"10\:30 meeting", &["no field '10'"][..]),
        ("http://example.com/?q=1", r"http\://example.com/\?q=1", &["no field 'http'"]),
        ("\"milk", "\"milk\"", &["not closed"]),
        ("eggs \"milk and", "eggs \"milk and\"", &["not closed"]),
        ("“new york” film", "\"new york\" film", &["quotes of print"]),
        ("\"new york” film", "\"new york\" film", &["quotes of print"]),
        ("\"a b\"~99999999999", "\"a b\"", &["99999999999", "'~99999999999'"]),
        ("a {b}", "a b", &["'{'", "'}'"]),
        (r"C:\dir", r"C\:\\dir", &["no field 'C'"]),
        ("AND", r"\AND", &["'AND'"]),
        ("a AND", "a", &["'AND' has nothing behind it"]),
        ("AND a", "a", &["'AND' has nothing to join"]),
        ("a && && b", "a AND b", &["'&&' has nothing to join"]),
        ("a OR (", "a", &["'(' has nothing behind it", "'OR' has nothing behind it"]),
        ("a OR () b", "a OR b", &["nothing in them"]),
        ("-", "NOT *", &["'-' is no sign", "no word"]),
        ("a -", "a", &["'-' is no sign before a clause"]),
        ("+", "NOT *", &["'+' is no sign", "no word"]),
        ("", "NOT *", &["no word"]),
        ("((", "NOT *", &["'('", "'('", "no word"]),
        ("((a b) c", "(a b) c", &["'(' has no ')'"]),
        ("a) b", "a b", &["')' has no opening bracket"]),
        ("foo:", "foo\\:", &["no field 'foo'"]),
        ("title:", "title", &["no value follows"]),
        ("title: AND paris", "title AND paris", &["no value follows"]),
        ("a~9", "a", &["'~9' is left out: parsing the query: expected a distance of at most 2"]),
        ("a~0.8 b", "a b", &["0, 1 or 2"]),
        ("title:a~9^2", "title:a^2", &["at most 2"]),
        ("[a TO", r"a \TO", &["'['"]),
        ("/re", "\\/re", &["closing '/'"]),
        ("/usr/lib", "\\/usr/lib", &["'/usr/lib'"]),
        ("path:/usr/lib", "path:\\/usr/lib", &["'/usr/lib'"]),
        ("^2", r"\^2", &["'^2'"]),
        ("*", "*", &[]),
        ("/(/", "NOT *", &["'/(/' is left out", "no word"]),
        ("/(a/", "\\/\\(a/", &["'/(a/' is read as text"]),
        ("_missing:year", "_missing:year", &[]),
        ("year:many", r"year\:many", &["'year:many' is read as text"]),
        ("year:1922 paris", "year:1922 paris", &[]),
        ("--help", "help", &["'--'"]),
        ("NOT -a", "NOT a", &["one sign too many"]),
        ("title:paris -war \"new york\"", "title:paris \"new york\" -war", &[]),
        ("a^x", r"a \^x", &["'^x'"]),
        ("{title nope}:a", "a", &["fields that cannot"]),
        ("new york - paris", "new york paris", &["'-' is no sign before a clause"]),
        ("rock ! roll", "rock roll", &["'!' is no sign"]),
        ("AC/DC - Back in Black", "AC/DC Back in Black", &["'-' is no sign"]),
        ("50€ - 60€", "50€ 60€", &["'-' is no sign"]),
        ("a -> b", "a b", &["'-' is no sign", "'>' compares nothing"]),
        ("a -, b", "a , b", &["'-' is no sign"]),
        ("a -/ b", "a b", &["'/' stands alone"]),
        ("a AND - b", "a AND b", &["'-' is no sign"]),
        ("a -b +c !d -\"e f\" -.net", "+c a -b -d -\"e f\" -.net", &[]),
        ("a NOT b", "a -b", &[]),
        ("love?", r"love\?", &[]),
        ("Who? What?? Where???", r"Who\? What\?\? Where\?\?\?", &[]),
        ("¿hello?", r"¿hello\?", &[]),
        ("?a te?t te??t* pre* s*x", r"\?a te?t te??t* pre* s*x", &[]),
        ("Foo_(bar)?a=b", r"Foo_ bar \?a=b", &[]),
        ("example.com/a?b a?b=c", r"example.com/a\?b a\?b=c", &[]),
        ("**what?**", "*what*", &[]),
        (r"server\share", r"server\\share", &[]),
        (r"\\server\share", r"\\server\\share", &[]),
        (r"C:\Users\Bob", r"C\:\\Users\\Bob", &["no field 'C'"]),
        (r#""a\b" c\"d"#, r#""a\\b" c\"d"#, &[]),
        (r"\AND kind:\TO a\:b \(c", r"\AND kind:\TO a\:b \(c", &[]),
        ("<hello> tag", "hello> tag", &["'<' compares nothing"]),
        ("<b>bold</b>", "b>bold</b>", &["'<' compares nothing"]),
        ("x < 5 >= y", "x 5 y", &["'<' compares", "'>=' compares"]),
        (
            "year:>1920 year:(>1920 <1930)",
            "year:{1920 TO *] (year:{1920 TO *] year:[* TO 1930})",
            &[],
        ),
        ("//", "NOT *", &["'//' is no regular expression", "no word"]),
        ("/ /", "NOT *", &["'/' stands alone", "'/' stands alone", "no word"]),
        ("hello // world", "hello world", &["'//'"]),
        ("a / b / c", "a b c", &["'/'", "'/'"]),
        ("/ab.*/", "/ab.*/", &[]),
        ("(hello world)~5", "(hello world)~2", &["'~5' is read as '~2'"]),
        ("(a OR b c OR d)~4", "(a (b c) d)~3", &["'~4' is read as '~3'"]),
        ("(+a +b)~1", "+a +b", &["'~1' has no alternatives"]),
        ("(a b)~x", "a b", &["'~x' says nothing of brackets"]),
        ("nofield:hello", "nofield hello", &["no field 'nofield'"]),
        ("+nofield:hello b", "+nofield +hello b", &["no field 'nofield'"]),
        ("a AND nofield:hel*", "a AND nofield AND hel*", &["no field 'nofield'"]),
        ("-nofield:hello b", r"b -nofield\:hello", &["no field 'nofield'"]),
        ("10~20", r"10\~20", &["at most 2"]),
    ] {
        let read = searcher.parse_lenient(text);
        let said: Vec<_> = read.remarks.iter().map(ToString::to_string).collect();
        assert_eq!(read.query.to_string(), printed, "{text}: {said:?}");
        assert_eq!(said.len(), remarks.len(), "{text}: {said:?}");
        for (said, words) in said.iter().zip(remarks) {
            assert!(said.contains(words), "{text}: {said}");
        }
    }
    for (text, n) in
        [("10:30", 1), ("http://example.com/?q=1", 1), ("“New York", 1), ("\"texas pari", 0)]
    {
        assert_eq!(searcher.count(&searcher.parse_lenient(text).query).unwrap(), n, "{text}");
    }
}

#[test]
fn without_a_schema_a_field_is_what_looks_like_one() {
    for (text, printed) in [
        ("10:30 meeting", r"10\:30 meeting"),
        ("http://example.com/?q=1", r"http\://example.com/\?q=1"),
        (r"C:\dir", r"C\:\\dir"),
        ("foo:", r"foo\:"),
        ("foo:bar", "foo:bar"),
        ("title:(a b)", "title:a title:b"),
        ("/(/ a", "a"),
    ] {
        assert_eq!(Query::parse_lenient(text, &ParseOptions::default()).query.to_string(), printed);
    }
}

#[test]
fn dates_are_tried_as_they_will_be_read() {
    let searcher = index().searcher().unwrap();
    let now: Timestamp = "2024-05-01T12:00Z".parse().unwrap();
    let dates = Dates::new().now(now);
    let options = searcher.parse_options();
    assert_eq!(Query::parse_lenient("since:now", &options).query.to_string(), r"since\:now");
    let read = Query::parse_lenient("since:>now-7d since:never", &options.dates(dates.clone()));
    assert_eq!(read.query.to_string(), r"since:{now-7d TO *] since\:never");
    assert_eq!(read.remarks.len(), 1);
    searcher.count(&read.query.at(searcher.schema(), &dates).unwrap()).unwrap();
}

#[test]
fn what_is_too_much_is_cut() {
    let searcher = index().searcher().unwrap();
    let words = "word ".repeat(5_000);
    let deep = "(".repeat(1_000) + "a";
    let phrase = format!("\"{words}");
    for text in
        [words.clone(), words.repeat(4), deep, phrase, "é".repeat(100_000), "a:".repeat(9_000)]
    {
        let read = searcher.parse_lenient(&text);
        assert!(!read.remarks.is_empty() && read.remarks.len() <= 64);
        searcher.count(&read.query).unwrap();
    }
    let mut limits = treepie::Limits::default();
    limits.query_clauses = 2;
    limits.query_bytes = 9;
    let small = index().with_limits(limits).unwrap();
    let read = small.searcher().unwrap().parse_lenient("a b c d e f g");
    assert_eq!(read.query.to_string(), "a b");
    assert_eq!(read.remarks.len(), 2);
}

#[test]
fn words_and_escaped_texts_have_no_syntax() {
    for (text, printed) in [
        ("", "NOT *"),
        ("paris", "paris"),
        ("10:30 AND -war (x*", r"10\:30 \AND \-war \(x\*"),
        ("a  \t“b” TO &&", "a \\“b” \\TO \\&&"),
    ] {
        assert_eq!(Query::words(text).to_string(), printed);
    }
    for text in HOSTILE.iter().filter(|text| !text.trim().is_empty()) {
        let escaped = escape(text);
        assert_eq!(
            parse(&escaped, &ParseOptions::default()).unwrap(),
            Query::words(text),
            "{text}"
        );
    }
    assert_eq!(escape(" "), "\"\"");
}

/// Pieces of syntax, side by side in any order.
const SYNTAX: &str = "(a|b|paris|[(): \"\\\\*+!&|~^/?\\-]| |AND |OR |NOT |title:|year:|nope:|kind:|MAX \\[|PHRASE \\[|IN \\[|\\[a TO |\\[1 TO 2\\]|\\]|[{}<>=]|~[0-9]|\\^2|\\{title kind\\}:|“|”|1922|\\PC){0,20}";

/// Whether something in a text is syntax for programs and punctuation for people.
fn is_punctuated(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let is_cut = chars.windows(2).any(|pair| match pair {
        ['\\', c] => c.is_alphanumeric(),
        ['+' | '-' | '!', '(' | '[' | '{' | '"' | '*'] => false,
        ['+' | '-' | '!', c] => !c.is_alphanumeric(),
        ['/', c] => c.is_whitespace() || *c == '/',
        [')', '~'] => true,
        _ => false,
    });
    is_cut || text.ends_with(['+', '-', '!', '/']) || text.contains(['?', '<', '>'])
}

#[test]
fn what_was_pasted_finds_the_document_it_is_from() {
    let texts = [
        "new york - paris",
        "what is love?",
        "hello // world",
        r"server\share",
        "<hello> tag",
        "Who? What?? Where???",
        r"\\server\share C:\Users\Bob",
        "x < 5 && y > 6",
        "<b>bold</b> / <i>",
        "->b a --> c",
    ];
    for text in texts {
        check_pasted(text);
    }
}

/// Reads a text as it stands in a document, where all its words must be.
fn check_pasted(text: &str) {
    let index = Index::in_memory(Schema::builder().text("title").build().unwrap());
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("title", text)).unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let options = searcher.parse_options();
    for operator in [DefaultOperator::Or, DefaultOperator::And] {
        let read = Query::parse_lenient(text, &options.clone().default_operator(operator));
        let n = searcher.count(&read.query).unwrap();
        assert_eq!(n, 1, "{text:?} is {}: {:?}", read.query, read.remarks);
    }
}

/// Words with what is often glued to them, of which nothing is syntax.
const WORD: &str =
    r"[<¿'#@$„]?[a-zA-Zéß0-9]{1,6}([.,_'/&=\\<>]|€|@)?[a-zA-Z0-9]{0,3}([?.,;<>…%]{0,3}|\?\?)";
/// What stands alone between them.
const MARK: &str = r#"[-+!?*<>=/&|:;.,~^()\[\]{}"\\…–—]|--|\+\+|->|=>|<=|>=|<-|//|/\*|\*/|::|\.\.\.|!=|!!|\?!|&&|\|\||:-\)"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn words_and_marks_find_the_document_they_are_from(
        text in (WORD, prop::collection::vec((MARK, WORD), 0..6)).prop_map(|(first, more)| {
            more.iter().fold(first, |text, (mark, word)| format!("{text} {mark} {word}"))
        })
    ) {
        const SYNTAX: [&str; 7] = ["AND", "OR", "NOT", "IN", "TO", "MAX", "PHRASE"];
        prop_assume!(!text.split_whitespace().any(|word| SYNTAX.contains(&word)));
        check_pasted(&text);
    }

    #[test]
    fn any_mixture_of_syntax_has_an_answer_and_valid_syntax_its_meaning(text in SYNTAX) {
        thread_local!(static SEARCHER: Searcher = index().searcher().unwrap());
        SEARCHER.with(|searcher| {
            check(searcher, &text);
            let has_meaning = !is_punctuated(&text);
            if has_meaning && let Ok(query) = searcher.parse(&text) && searcher.count(&query).is_ok() {
                let read = searcher.parse_lenient(&text);
                assert_eq!(read.query, query, "{text}");
                assert!(read.remarks.is_empty(), "{text}: {:?}", read.remarks);
            }
            // Facets need the query, too.
            let read = searcher.parse_lenient(&text);
            searcher.search(&read.query).with_facet(Facet::values("year")).run().unwrap();
        });
    }

    #[test]
    fn any_bytes_have_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        thread_local!(static SEARCHER: Searcher = index().searcher().unwrap());
        SEARCHER.with(|searcher| check(searcher, &String::from_utf8_lossy(&bytes)));
    }

    #[test]
    fn an_escaped_text_is_its_words(text in "([\\PC\"\\\\ +\\-!&|~^/?*:(){}<>\\[\\]\n]|AND |TO){0,20}") {
        prop_assume!(!text.trim().is_empty());
        prop_assert_eq!(parse(&escape(&text), &ParseOptions::default()).unwrap(), Query::words(&text));
    }
}
