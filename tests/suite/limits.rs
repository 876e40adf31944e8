//! What is too much: limits that are set, told and raised, and input made to hurt.

use treepie::explain::ExplainNode;
use treepie::query::{ParseOptions, parse};
use treepie::writer::{BadLines, LineFormat};
use treepie::{Document, Error, ErrorKind, Index, Limits, Schema, Searcher, WriterOptions};

use crate::heap::{during, peak_of};

/// The memory that nothing here may take more of.
const PEAK_MAX: u64 = 64 << 20;
/// How often anything here may allocate, and how many bytes one after the other: what is done over and over again does that, too.
const ALLOCATIONS_MAX: u64 = 500_000;
const ALLOCATED_MAX: u64 = 64 << 20;

/// An index whose terms all begin with `a`.
fn with_terms(n: u32, limits: Limits) -> Index {
    let schema = Schema::builder().text("text").keyword("kind").build().unwrap();
    let index = Index::in_memory(schema).with_limits(limits).unwrap();
    let mut writer = index.writer_with(WriterOptions::new().threads(1)).unwrap();
    for nth in 0..n {
        let text = format!("a{nth:x} b{} abc", nth % 300);
        writer.add(Document::new().with("text", text).with("kind", "k")).unwrap();
    }
    writer.commit().unwrap();
    index
}

fn limits(set: impl Fn(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    set(&mut limits);
    limits
}

fn answer(searcher: &Searcher, text: &str) -> Result<u64, Error> {
    let query = searcher.parse(text)?;
    Ok(searcher.search(&query).pattern_terms(2).run()?.total.value)
}

/// A query, a limit that it reaches, and one that it does not.
type Case = (&'static str, &'static str, fn(&mut Limits, u64), u64, u64);

#[test]
fn each_limit_of_a_query_is_told_and_can_be_raised() {
    let cases: [Case; 12] = [
        ("abc OR a1", "QUERY_BYTES_MAX", |l, n| l.query_bytes = n as usize, 8, 9),
        ("((abc))", "DEPTH_MAX", |l, n| l.query_depth = n as usize, 1, 2),
        ("abc a1 a2", "CLAUSES_MAX", |l, n| l.query_clauses = n as usize, 2, 3),
        ("abc/a1/a2", "TERMS_MAX", |l, n| l.query_terms = n as usize, 2, 3),
        ("*b*", "TERMS_VISITED_MAX", |l, n| l.terms_visited = n, 100, 10_000),
        ("abc", "PATTERN_TERMS_MAX", |l, n| l.pattern_terms = n as u32, 1, 2),
        ("/a[0-9]{9}/", "REGEX_BYTES_MAX", |l, n| l.regex_bytes = n as usize, 100, 1 << 20),
        ("abcde~1", "FUZZY_CHARS_MAX", |l, n| l.fuzzy_chars = n as usize, 4, 5),
        ("PHRASE [a* b*]", "PHRASE_PATTERNS_MAX", |l, n| l.phrase_patterns = n as usize, 1, 2),
        (
            "PHRASE [a* abc]",
            "PHRASE_PATTERN_POSITIONS_MAX",
            |l, n| l.phrase_positions = n as usize,
            100,
            10_000,
        ),
        ("PHRASE [abc ab*]", "PHRASE_PATTERN_LISTS_MAX", |l, n| l.phrase_lists = n as usize, 0, 1),
        ("a* b*", "QUERY_MEMORY_BYTES", |l, n| l.query_memory_bytes = n, 10_000, 1 << 20),
    ];
    let index = with_terms(3_000, Limits::default());
    for (text, name, set, small, enough) in cases {
        let with = |n| {
            let index = index.clone().with_limits(limits(|limits| set(limits, n))).unwrap();
            answer(&index.searcher().unwrap(), text)
        };
        let error = with(small).expect_err(name);
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
        let limit = error.limit().unwrap_or_else(|| panic!("{name}: {error}"));
        assert_eq!((limit.name, limit.value), (name, small), "{error}");
        assert!(limit.found.is_none_or(|found| found > small), "{error}");
        assert!(error.to_string().contains(&format!("limit {name}")), "{error}");
        let expected = answer(&index.searcher().unwrap(), text).unwrap();
        assert_eq!(with(enough).unwrap_or_else(|error| panic!("{error}")), expected, "{text}");
    }
}

#[test]
fn limits_of_documents_are_told_and_can_be_raised() {
    let add = |limits: Limits, values: &[&str]| {
        let schema = Schema::builder().text("text").text("more").build().unwrap();
        let index = Index::in_memory(schema).with_limits(limits).unwrap();
        let mut writer = index.writer().unwrap();
        let mut document = Document::new();
        for (name, value) in ["text", "more"].into_iter().zip(values) {
            document = document.with(name, *value);
        }
        writer.add(document)
    };
    let kind = |added: Result<(), Error>| added.unwrap_err().kind();
    let told = |added: Result<(), Error>| {
        let limit = added.unwrap_err().limit().expect("a limit");
        (limit.name, limit.value, limit.found)
    };
    let value = |n| limits(|limits| limits.value_bytes = n);
    assert_eq!(kind(add(value(4), &["paris"])), ErrorKind::Document);
    assert_eq!(told(add(value(4), &["paris"])), ("VALUE_BYTES_MAX", 4, Some(5)));
    add(value(5), &["paris"]).unwrap();
    let document = |n| limits(|limits| limits.document_bytes = n);
    assert_eq!(kind(add(document(9), &["paris", "texas"])), ErrorKind::Document);
    let too_long = add(document(9), &["paris", "texas"]);
    assert_eq!(told(too_long), ("DOCUMENT_BYTES_MAX", 9, Some(10)));
    add(document(10), &["paris", "texas"]).unwrap();
    let fields = (0..1_025).fold(Schema::builder(), |schema, n| schema.text(format!("f{n}")));
    let error = fields.build().unwrap_err();
    assert_eq!(
        error.limit().map(|limit| (limit.name, limit.found)),
        Some(("FIELDS_MAX", Some(1_025)))
    );

    let line = |n| {
        let schema = Schema::builder().text("text").build().unwrap();
        let index = Index::in_memory(schema).with_limits(value(n)).unwrap();
        let mut writer = index.writer().unwrap();
        let format = LineFormat::field("text");
        writer.add_lines(&b"short\na longer line\n"[..], &format, BadLines::Refuse).map(|_| ())
    };
    assert_eq!(kind(line(12)), ErrorKind::Document);
    line(13).unwrap();
}

/// What came of hostile input: nothing but a limit or a misunderstanding, in little memory and with little work.
fn survives(what: &str, work: impl FnOnce() -> Result<u64, Error>) -> Result<u64, ErrorKind> {
    let ((result, heap), peak) = peak_of(|| during(work));
    let (kib, all) = (peak >> 10, heap.bytes >> 10);
    println!("{what:40} {kib:>8} of {all:>8} KiB in {:>8}  {result:?}", heap.allocations);
    assert!(peak <= PEAK_MAX, "{what}: {peak} bytes");
    assert!(heap.allocations <= ALLOCATIONS_MAX, "{what}: {} allocations", heap.allocations);
    assert!(heap.bytes <= ALLOCATED_MAX, "{what}: {} bytes one after the other", heap.bytes);
    result.map_err(|error| error.kind())
}

/// How many terms, documents and positions a count looks at.
fn looked_at(searcher: &Searcher, text: &str) -> u64 {
    let query = searcher.parse(text).unwrap();
    let plan = searcher.search(&query).count_only().analyze().unwrap();
    let of_node = |node: &ExplainNode| {
        let Some(actual) = &node.actual else { return 0 };
        let terms = actual.terms.map_or(0, |terms| terms.visited);
        let positions = actual.positions.map_or(0, |it| it.candidates + it.positions);
        terms + positions + actual.documents + actual.documents_in.unwrap_or(0)
    };
    plan.plan.iter().map(of_node).sum()
}

#[test]
fn hostile_queries_reach_a_limit_or_are_answered() {
    let n = 100_000;
    let index = with_terms(n, Limits::default());
    // Texts of any length reach the limits behind that of the length.
    let long = limits(|limits| limits.query_bytes = usize::MAX);
    let patient = index.clone().with_limits(long).unwrap().searcher().unwrap();
    let searcher = index.searcher().unwrap();
    let limit = Err(ErrorKind::LimitExceeded);
    let texts = [
        ("a million parentheses", "(".repeat(1_000_000)),
        ("closed ones", format!("{}abc{}", "(".repeat(500_000), ")".repeat(500_000))),
        ("a million alternatives", vec!["abc"; 1_000_000].join(" OR ")),
        ("a phrase of 100,000 words", format!("\"{}\"", "abc ".repeat(100_000))),
        ("a fuzzy word of 10 KB", format!("{}~2", "a".repeat(10_000))),
        ("a wildcard of 10 KB", "a*".repeat(5_000)),
    ];
    for (what, text) in &texts {
        assert_eq!(survives(what, || answer(&patient, text)), limit, "{what}");
    }
    let not = "NOT ".repeat(1_000_000) + "abc";
    assert!(survives("a million NOT", || answer(&patient, &not)).is_err());
    for (what, text) in &texts {
        if text.len() > 64 << 10 {
            assert_eq!(survives(what, || answer(&searcher, text)), limit, "{what}");
        }
    }
    assert_eq!(survives("/.*a.{30}/", || answer(&searcher, "/.*a.{30}/")), limit);
    assert_eq!(survives("nested", || answer(&searcher, "/((a{100}){100}){100}/")), limit);
    let n = u64::from(n);
    assert_eq!(survives("*a*b*c*", || answer(&searcher, "*a*b*c*")), Ok(n));
    assert_eq!(survives("a*", || answer(&searcher, "a*")), Ok(n));
    assert_eq!(survives("a* a* a*", || answer(&searcher, "a* +a* +a*")), Ok(n));
    // Each term once or a few times, and its documents.
    for text in ["*a*b*c*", "a*", "a* +a* +a*", "\"abc ab*\"", "abc~2"] {
        let looked_at = looked_at(&searcher, text);
        assert!(looked_at <= 12 * n, "{text}: {looked_at} of {n} documents");
    }
    let near = format!("\"{}\"~1000", "abc ".repeat(300));
    assert_eq!(survives("a phrase of 300 words with slop", || answer(&searcher, &near)), limit);
}

#[test]
fn trees_as_deep_as_memory_are_refused() {
    let options = ParseOptions::default();
    let mut query = parse("abc", &options).unwrap();
    for _ in 0..100_000 {
        query = treepie::query::Query::Or(vec![query]);
    }
    let searcher = with_terms(10, Limits::default()).searcher().unwrap();
    let counted = survives("100,000 operators", || searcher.count(&query));
    assert_eq!(counted, Err(ErrorKind::LimitExceeded));
    let ranked = survives("100,000 operators, ranked", || searcher.search(&query).run().map(|_| 0));
    assert_eq!(ranked, Err(ErrorKind::LimitExceeded));
}

#[test]
fn hostile_documents_are_refused_or_kept() {
    let schema = Schema::builder().text("text").build().unwrap();
    let index = Index::in_memory(schema);
    let options = WriterOptions::new().threads(1).memory_bytes(16 << 20);
    let mut writer = index.writer_with(options).unwrap();
    // No dictionary takes the token, so it is left out; the text is stored.
    let giant = Document::new().with("text", "x".repeat(1 << 20) + " small");
    let added = survives("a token of 1 MiB", || {
        writer.add(giant)?;
        writer.commit()?;
        answer(&index.searcher()?, "small")
    });
    assert_eq!(added, Ok(1));
    let found = survives("a search for it", || answer(&index.searcher()?, &"x".repeat(60_000)));
    assert_eq!(found, Ok(0));
    let fields = (0..100_000).fold(Document::new(), |d, n| d.with(format!("f{n}"), "x"));
    let added = survives("100,000 unknown fields", || writer.add(fields).map(|()| 0));
    assert_eq!(added, Err(ErrorKind::Document));
    let schema = || (0..1_000_000).fold(Schema::builder(), |s, n| s.text(format!("f{n}")));
    let builder = schema();
    let built = survives("a schema of a million fields", || builder.build().map(|_| 0));
    assert!(built.is_err());
    let values = (0..1_000).fold(Document::new(), |d, _| d.with("text", "x"));
    let added = survives("1,000 values of one field", || writer.add(values).map(|()| 0));
    assert_eq!(added, Err(ErrorKind::Document));
}
