//! Every kind of error, every limit and every outcome of a commit that the library knows, each provoked by what a user
//! may do; and what a message says: what was done or read, what was expected and found, and where.
//!
//! What there is to provoke is read from the sources, so that whatever comes new fails here until it has a case.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};

use crate::failing::Failing;
use treepie::error::CommitOutcome;
use treepie::explain::ExplainTree;
use treepie::{
    Budget, CancelToken, Document, Error, ErrorKind, Field, FieldKind, Index, IndexWriter, Limits,
    Result, Schema, Searcher, WriterOptions,
};

/// An error, what tells it apart, and pieces of its message in their order.
struct Case {
    kind: ErrorKind,
    limit: Option<&'static str>,
    outcome: Option<CommitOutcome>,
    provoke: fn() -> Error,
    says: &'static [&'static str],
}

const fn of_kind(kind: ErrorKind, provoke: fn() -> Error, says: &'static [&'static str]) -> Case {
    Case { kind, limit: None, outcome: None, provoke, says }
}

const fn of_limit(name: &'static str, provoke: fn() -> Error) -> Case {
    let kind = ErrorKind::LimitExceeded;
    Case { kind, limit: Some(name), outcome: None, provoke, says: &["expected at most"] }
}

/// Of a document: its message has no name of a limit, because most are no matter of settings.
const fn of_document(name: &'static str, provoke: fn() -> Error, what: &'static [&str]) -> Case {
    Case { kind: ErrorKind::Document, limit: Some(name), outcome: None, provoke, says: what }
}

const fn of_commit(outcome: CommitOutcome, provoke: fn() -> Error) -> Case {
    let says = &["no space left"];
    Case { kind: ErrorKind::NoSpace, limit: None, outcome: Some(outcome), provoke, says }
}

const CASES: &[Case] = &[
    of_kind(
        ErrorKind::Io,
        below_a_file,
        &["creating the directory of an index", "(in ", "index)", ": Not a directory"],
    ),
    of_kind(
        ErrorKind::NotFound,
        nowhere,
        &[
            "opening an index: expected a directory with an index in it, found nothing (in ",
            "treepie-no-such-index)",
            "`treepie index` makes",
        ],
    ),
    of_kind(
        ErrorKind::AlreadyExists,
        twice,
        &[
            "creating an index: expected nothing here yet, found an index",
            "(in ",
            "index); open it to add to it",
        ],
    ),
    of_kind(
        ErrorKind::PermissionDenied,
        denied,
        &["calling open", "(in manifest-0000000000000002)", "permission denied"],
    ),
    of_kind(
        ErrorKind::NotAnIndex,
        something_else,
        &[
            "opening an index: expected a directory with a manifest in it",
            "found other files",
            "letter.txt",
            "(in ",
        ],
    ),
    of_kind(
        ErrorKind::Corrupt,
        a_changed_byte,
        &[
            "reading a manifest: expected checksum 0x",
            "found 0x",
            "(in ",
            "manifest-0000000000000001, at offset ",
        ],
    ),
    of_kind(
        ErrorKind::UnsupportedVersion,
        a_newer_format,
        &[
            "reading the header of a manifest: expected format version",
            "found ",
            "(in ",
            "manifest-0000000000000001)",
            "newer",
        ],
    ),
    of_kind(
        ErrorKind::Locked,
        two_writers,
        &["another writer holds the index", "(in (memory))", "wait until it is done"],
    ),
    of_kind(
        ErrorKind::Query,
        half_a_query,
        &[
            "parsing the query: expected a word",
            "after 'AND'",
            "found the end of the query",
            "(at byte 9 of the query)",
        ],
    ),
    of_kind(ErrorKind::Schema, a_name_twice, &["the field 'text' is declared twice"]),
    of_kind(
        ErrorKind::Analyzer,
        an_unknown_analyzer,
        &["analyzing text for the field 'text': expected the analyzer 'klingon'", "found none"],
    ),
    of_kind(
        ErrorKind::Document,
        an_unknown_field,
        &["indexing a document: expected a field of the schema (text, more, kind), found 'tilte'"],
    ),
    of_kind(
        ErrorKind::Poisoned,
        after_a_failure,
        &[
            "writing to an index: found an earlier failure: calling create",
            "no space left",
            "(in (failing))",
            "roll back",
        ],
    ),
    of_kind(
        ErrorKind::Busy,
        adding_without_end,
        &["adding to an index: expected at most 2097152 bytes", "found ", "process or commit"],
    ),
    of_kind(ErrorKind::Cancelled, cancelled, &["searching: found a token that was cancelled"]),
    of_kind(
        ErrorKind::Timeout,
        too_late,
        &["searching: expected an answer within", "found none after"],
    ),
    of_kind(
        ErrorKind::Usage,
        an_unknown_facet,
        &["choosing a field: expected one of text, more, kind, found 'knid'"],
    ),
    of_commit(CommitOutcome::NotCommitted, || failing("create", |writer| writer.commit())),
    of_commit(CommitOutcome::Unknown, || failing("publish", |writer| writer.commit())),
    of_commit(CommitOutcome::Committed, a_merge_without_room),
    of_limit("QUERY_BYTES_MAX", || parsing(&"a".repeat(Limits::DEFAULT.query_bytes + 1))),
    of_limit("DEPTH_MAX", || parsing(&"(".repeat(129))),
    of_limit("CLAUSES_MAX", || parsing(&"a ".repeat(1_025))),
    of_limit("TERMS_MAX", || searching("abc/a1/a2", |limits| limits.query_terms = 2)),
    of_limit("TERMS_VISITED_MAX", || searching("*b*", |limits| limits.terms_visited = 1)),
    of_limit("PATTERN_TERMS_MAX", || searching("a*", |limits| limits.pattern_terms = 1)),
    of_limit("REGEX_BYTES_MAX", || searching("/((a{100}){100}){100}/", |_| ())),
    of_limit("REGEX_NEST_MAX", || {
        searching(&format!("/{}a{}/", "(".repeat(60), ")".repeat(60)), |_| ())
    }),
    of_limit("WILDCARD_BYTES_MAX", || searching(&format!("*{}*", "a".repeat(200)), |_| ())),
    of_limit("FUZZY_CHARS_MAX", || searching(&format!("{}~1", "a".repeat(129)), |_| ())),
    of_limit("NEAR_WORDS_MAX", || searching(&format!("\"{}\"~9", "a ".repeat(300)), |_| ())),
    of_limit("PHRASE_PATTERNS_MAX", || {
        searching("PHRASE [a* b*]", |limits| limits.phrase_patterns = 1)
    }),
    of_limit("PHRASE_PATTERN_POSITIONS_MAX", || {
        searching("PHRASE [a* abc]", |limits| limits.phrase_positions = 1)
    }),
    of_limit("PHRASE_PATTERN_LISTS_MAX", || {
        searching("PHRASE [abc ab*]", |limits| limits.phrase_lists = 0)
    }),
    of_limit("QUERY_MEMORY_BYTES", || {
        searching("a* b*", |limits| limits.query_memory_bytes = 10_000)
    }),
    Case {
        kind: ErrorKind::Schema,
        limit: Some("FIELDS_MAX"),
        outcome: None,
        provoke: many_fields,
        says: &["building a schema: expected at most 1024 fields, found 1025"],
    },
    Case {
        kind: ErrorKind::Schema,
        limit: Some("ORDER_FIELDS_MAX"),
        outcome: None,
        provoke: || Schema::builder().text("a").order_by(["a"; 5]).build().unwrap_err(),
        says: &["ordering the documents of an index: expected at most 4 fields, found 5"],
    },
    Case {
        kind: ErrorKind::LimitExceeded,
        limit: Some("JSON_BYTES_MAX"),
        outcome: None,
        provoke: || ExplainTree::from_json(&" ".repeat((256 << 20) + 1)).unwrap_err(),
        says: &["a plan", "268435456 bytes"],
    },
    of_document("VALUE_BYTES_MAX", || adding("text", 17 << 20), &["field 'text'"]),
    of_document("DOCUMENT_BYTES_MAX", a_large_document, &["the values of a document"]),
    of_document("MAX_TERM_LEN", || adding("kind", 40_000), &["field 'kind'"]),
];

/// Kinds that only the tool has, and its test that provokes them.
const OF_THE_TOOL: &[(&str, &str)] =
    &[("Unsupported", "fn what_is_announced_and_not_built_is_refused_by_name")];

#[test]
fn each_case_is_provoked_and_says_what_happened_and_where() {
    for &Case { kind, limit, outcome, provoke, says } in CASES {
        let error = provoke();
        println!("{kind:?} {limit:?} {outcome:?}: {error}");
        let message = error.to_string();
        assert_eq!((error.kind(), error.commit_outcome()), (kind, outcome), "{message}");
        assert_eq!(error.limit().map(|limit| limit.name), limit, "{message}");
        if let Some(limit) = error.limit() {
            assert!(message.contains(&limit.value.to_string()), "{limit:?}: {message}");
            let named = message.contains(&format!("limit {}", limit.name));
            assert_eq!(named, kind == ErrorKind::LimitExceeded, "{message}");
            assert!(limit.found.is_none_or(|found| found > limit.value), "{limit:?}: {message}");
        }
        let mut rest = &message[..];
        for piece in says {
            let at = rest.find(piece).unwrap_or_else(|| panic!("no {piece:?} in {rest:?}"));
            rest = &rest[at + piece.len()..];
        }
        let lines = message.lines().count();
        assert!(lines == 1 && !message.contains("None"), "{message}");
    }
}

#[test]
fn whatever_the_library_knows_has_a_case() {
    let source = include_str!("../../src/error.rs");
    let told = |told: &dyn Fn(&Case) -> Option<String>| -> BTreeSet<String> {
        CASES.iter().filter_map(told).collect()
    };
    let mut kinds = told(&|case| Some(format!("{:?}", case.kind)));
    for (kind, test) in OF_THE_TOOL {
        assert!(include_str!("cli/index.rs").contains(test), "{kind} is not provoked any more");
        assert!(kinds.insert((*kind).to_owned()), "{kind} is not the tool's alone");
    }
    assert_eq!(kinds, variants(source, "ErrorKind"));
    let outcomes = told(&|case| case.outcome.map(|outcome| format!("{outcome:?}")));
    assert_eq!(outcomes, variants(source, "CommitOutcome"));
    let limits = told(&|case| case.limit.map(str::to_owned));
    assert_eq!(limits, names_of_limits());
}

/// The variants of an enumeration without fields.
fn variants(source: &str, name: &str) -> BTreeSet<String> {
    let (_, body) = source.split_once(&format!("pub enum {name} {{")).expect(name);
    let (body, _) = body.split_once("\n}").expect(name);
    let lines = body.lines().map(str::trim).filter(|line| !line.starts_with(['/', '#']));
    lines.filter_map(|line| line.strip_suffix(',')).map(str::to_owned).collect()
}

/// All string literals of the library that are the name of a constant, but for variables of the environment.
fn names_of_limits() -> BTreeSet<String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut names) = (vec![src.clone()], BTreeSet::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && path != src.join("bin") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(path).unwrap();
                let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
                names.extend(code.flat_map(|line| line.split('"').skip(1).step_by(2)).filter_map(
                    |literal| {
                        let is_name = literal.contains(char::is_alphabetic)
                            && literal.contains('_')
                            && literal.chars().all(|c| c.is_ascii_uppercase() || c == '_')
                            && !["TREEPIE_", "CARGO_"].iter().any(|of| literal.starts_with(of));
                        is_name.then(|| literal.to_owned())
                    },
                ));
            }
        }
    }
    names
}

/// A directory of this test, gone at its end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("treepie-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Place(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn schema() -> Schema {
    Schema::builder().text("text").text("more").keyword("kind").build().unwrap()
}

fn below_a_file() -> Error {
    let place = Place::new("errors-io");
    let file = place.0.join("file");
    fs::write(&file, "").unwrap();
    Index::create(file.join("index"), schema()).unwrap_err()
}

fn nowhere() -> Error {
    Index::open(std::env::temp_dir().join("treepie-no-such-index")).unwrap_err()
}

fn twice() -> Error {
    let place = Place::new("errors-twice");
    let create = || Index::create(place.0.join("index"), schema());
    create().unwrap().writer().unwrap().commit().unwrap();
    create().unwrap_err()
}

fn something_else() -> Error {
    let place = Place::new("errors-else");
    fs::write(place.0.join("letter.txt"), "Dear reader").unwrap();
    Index::open(&place.0).unwrap_err()
}

/// Opens an index whose newest manifest somebody has changed.
fn with_manifest(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Error {
    let place = Place::new(name);
    let index = Index::create(place.0.join("index"), schema()).unwrap();
    index.writer().unwrap().commit().unwrap();
    let path = place.0.join("index/manifest-0000000000000001");
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(&path, bytes).unwrap();
    Index::open(place.0.join("index")).and_then(|index| index.searcher()).unwrap_err()
}

fn a_changed_byte() -> Error {
    with_manifest("errors-corrupt", |bytes| bytes[100] ^= 1)
}

fn a_newer_format() -> Error {
    with_manifest("errors-version", |bytes| {
        bytes[10] += 1;
        let crc = crc32c::crc32c(&bytes[..60]).to_le_bytes();
        bytes[60..64].copy_from_slice(&crc);
    })
}

fn two_writers() -> Error {
    let index = Index::in_memory(schema());
    let _first = index.writer().unwrap();
    index.writer().unwrap_err()
}

fn half_a_query() -> Error {
    parsing("paris AND")
}

fn a_name_twice() -> Error {
    Schema::builder().text("text").keyword("text").build().unwrap_err()
}

fn an_unknown_analyzer() -> Error {
    let field = Field::new("text", FieldKind::Text).analyzer("klingon");
    let index = Index::in_memory(Schema::builder().field(field).build().unwrap());
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("text", "Qapla'")).unwrap_err()
}

fn an_unknown_field() -> Error {
    adding("tilte", 1)
}

fn adding(field: &str, bytes: usize) -> Error {
    let mut writer = Index::in_memory(schema()).writer().unwrap();
    writer.add(Document::new().with(field, "x".repeat(bytes))).unwrap_err()
}

fn a_large_document() -> Error {
    let mut limits = Limits::default();
    limits.document_bytes = 9;
    let mut writer = Index::in_memory(schema()).with_limits(limits).unwrap().writer().unwrap();
    writer.add(Document::new().with("text", "paris").with("more", "texas")).unwrap_err()
}

fn many_fields() -> Error {
    let schema = (0..1_025).fold(Schema::builder(), |schema, n| schema.text(format!("f{n}")));
    schema.build().unwrap_err()
}

fn adding_without_end() -> Error {
    let options = WriterOptions::new().memory_bytes(16 << 20).threads(1);
    let writer = Index::in_memory(schema()).writer_with(options).unwrap().into_shared();
    let document = Document::new().with("text", "x ".repeat(100_000));
    (0..1_000).find_map(|_| writer.add(document.clone()).err()).expect("room has an end")
}

fn parsing(text: &str) -> Error {
    with_terms(Limits::default()).parse(text).unwrap_err()
}

/// An index whose terms begin with `a` or `b`.
fn with_terms(limits: Limits) -> Searcher {
    let index = Index::in_memory(schema()).with_limits(limits).unwrap();
    let mut writer = index.writer_with(WriterOptions::new().threads(1)).unwrap();
    for nth in 0..3_000 {
        let text = format!("a{nth:x} b{} abc", nth % 300);
        writer.add(Document::new().with("text", text)).unwrap();
    }
    writer.commit().unwrap();
    index.searcher().unwrap()
}

fn searching(text: &str, set: impl FnOnce(&mut Limits)) -> Error {
    let mut limits = Limits::default();
    set(&mut limits);
    let searcher = with_terms(limits);
    let query = searcher.parse(text);
    query.and_then(|query| searcher.search(&query).pattern_terms(2).run()).unwrap_err()
}

fn cancelled() -> Error {
    let (searcher, token) = (with_terms(Limits::default()), CancelToken::new());
    token.cancel();
    let query = searcher.parse("abc").unwrap();
    searcher.search(&query).budget(Budget::new().cancel(&token)).run().unwrap_err()
}

fn too_late() -> Error {
    let searcher = with_terms(Limits::default());
    let query = searcher.parse("abc").unwrap();
    searcher.search(&query).timeout(Duration::ZERO).run().unwrap_err()
}

fn an_unknown_facet() -> Error {
    let searcher = with_terms(Limits::default());
    let query = searcher.parse("abc").unwrap();
    searcher.facets(&query, "knid", 3).unwrap_err()
}

/// An index of two segments; a document waits.
fn ready() -> (Arc<Failing>, Index, IndexWriter) {
    let storage = Arc::new(Failing::default());
    let index = Index::options().create_in(storage.clone(), schema()).unwrap();
    let mut writer = index.writer_with(WriterOptions::new().threads(1)).unwrap();
    for _ in 0..2 {
        writer.add(Document::new().with("text", "paris")).unwrap();
        writer.commit().unwrap();
    }
    writer.add(Document::new().with("text", "texas")).unwrap();
    (storage, index, writer)
}

fn failing<T>(call: &'static str, work: impl FnOnce(&mut IndexWriter) -> Result<T>) -> Error {
    let (storage, _index, mut writer) = ready();
    storage.fail(call, 0, io::ErrorKind::StorageFull);
    work(&mut writer).err().expect("a call that fails")
}

fn a_merge_without_room() -> Error {
    let (storage, _index, mut writer) = ready();
    writer.commit().unwrap();
    // The manifest of what was added, which is nothing, is made; the merged segment is not.
    storage.fail("create", 1, io::ErrorKind::StorageFull);
    writer.merge().unwrap_err()
}

fn after_a_failure() -> Error {
    failing("create", |writer| {
        assert_eq!(writer.commit().unwrap_err().kind(), ErrorKind::NoSpace);
        writer.add(Document::new().with("text", "more"))
    })
}

fn denied() -> Error {
    let (storage, index, _writer) = ready();
    storage.fail("open", 0, io::ErrorKind::PermissionDenied);
    index.searcher().unwrap_err()
}
