//! Indexes in `tests/fixtures`, as builds of each format wrote them: this format is read as it was written, and an
//! older one is refused. How they are made stands in the README there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use treepie::format::FORMAT_VERSION;
use treepie::highlight::PassageOptions;
use treepie::schema::Detail;
use treepie::search::Values;
use treepie::storage::ReadMode;
use treepie::{
    Document, ErrorKind, Field, FieldKind, Index, IndexWriter, Schema, Searcher, WriterOptions,
};

/// All fixtures together, in bytes.
const BYTES_MAX: u64 = 100 << 10;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The directories of the fixtures by the major number of their format.
fn formats() -> BTreeMap<u16, PathBuf> {
    let entries = fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().path());
    let format = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_prefix("format-v")?;
        Some((name.parse().unwrap(), path))
    };
    entries.filter_map(format).collect()
}

/// The directory of the fixture of this format; made anew where that is asked for.
fn current() -> &'static Path {
    static CURRENT: OnceLock<PathBuf> = OnceLock::new();
    CURRENT.get_or_init(|| {
        let directory = fixtures().join(format!("format-v{}", FORMAT_VERSION.0));
        if std::env::var_os("TREEPIE_FIXTURES").is_some_and(|what| what == "write") {
            write(&directory);
        }
        assert!(directory.exists(), "no {}: see the README beside it", directory.display());
        directory
    })
}

/// Numbers of documents: of the first commit, and up to where the second goes.
const FIRST: u64 = 300;
const LAST: u64 = 330;

/// A document as a list of values by field.
type Doc = Vec<(&'static str, String)>;

/// The second edition is what the second commit adds.
fn doc(n: u64, edition: u64) -> Doc {
    let colour = ["red", "green", "blue", "white", "black", "grey", "brown"][(n % 7) as usize];
    let thing = ["lamp", "lamb", "river", "table", "stone"][(n * 3 % 5 + n / 100) as usize % 5];
    let mut doc = vec![("id", format!("d{n}")), ("title", format!("{colour} {thing} number{n}"))];
    if n.is_multiple_of(5) {
        doc.push(("title", format!("also {thing} {colour}")));
    }
    let place = ["river", "hill", "wood", "town"][(n * n % 11 % 4) as usize];
    let body = format!("all edition{edition} {}", format!("{place} ").repeat(1 + n as usize % 4));
    doc.push(("body", body.trim_end().to_owned()));
    doc.push(("mark", if n.is_multiple_of(3) { "third" } else { "other" }.into()));
    (0..n % 3).for_each(|k| doc.push(("kind", format!("k{}", (n + k) % 6))));
    doc
}

/// What there is after the second commit, in the order of the index.
fn docs() -> Vec<Doc> {
    let is_old = |n: &u64| !is_deleted(*n) && !is_replaced(*n);
    let old = (0..FIRST).filter(is_old).map(|n| doc(n, 1));
    let replaced = (0..FIRST).filter(|n| is_replaced(*n));
    old.chain(replaced.chain(FIRST..LAST).map(|n| doc(n, 2))).collect()
}

fn is_deleted(n: u64) -> bool {
    n % 10 == 3
}

fn is_replaced(n: u64) -> bool {
    n.is_multiple_of(25)
}

/// A bit of everything that files can have in them.
fn schema() -> Schema {
    let title = Field::new("title", FieldKind::Text).offsets(true).many(true);
    let mark = Field::new("mark", FieldKind::Text).detail(Detail::Documents);
    let kind = Field::new("kind", FieldKind::Keyword).many(true);
    let id = Field::new("id", FieldKind::Keyword).many(false);
    let fields = Schema::builder().field(id).field(title).text("body").field(mark).field(kind);
    fields.key("id").default_fields(["title", "body"]).build().unwrap()
}

fn add(writer: &mut IndexWriter, doc: Doc) {
    let document = doc
        .into_iter()
        .fold(Document::new(), |document, (field, value)| document.with(field, value));
    writer.add(document).unwrap();
}

/// Makes the fixture of the format that this build writes.
fn write(directory: &Path) {
    let _ = fs::remove_dir_all(directory);
    let index = Index::create(directory, schema()).unwrap();
    let options = WriterOptions::new().threads(1).reproducible_ids([FORMAT_VERSION.0 as u8; 16]);
    let mut writer = index.writer_with(options).unwrap();
    (0..FIRST).for_each(|n| add(&mut writer, doc(n, 1)));
    writer.commit().unwrap();
    (0..FIRST).filter(|n| is_deleted(*n)).for_each(|n| {
        writer.delete_key(format!("d{n}")).unwrap();
    });
    let new = (0..FIRST).filter(|n| is_replaced(*n)).chain(FIRST..LAST);
    new.for_each(|n| add(&mut writer, doc(n, 2)));
    writer.set_payload(*b"line 330").unwrap();
    writer.commit().unwrap();
    drop(writer);
    fs::remove_file(directory.join("write.lock")).unwrap();
}

/// A query and what it matches, as anybody can see from a document.
type Question = (&'static str, fn(&Doc) -> bool);

const QUESTIONS: [Question; 13] = [
    ("*", |_| true),
    ("red", |doc| has(doc, &["title", "body"], |word| word == "red")),
    ("river", |doc| has(doc, &["title", "body"], |word| word == "river")),
    ("body:river", |doc| has(doc, &["body"], |word| word == "river")),
    ("river -mark:third", |doc| {
        has(doc, &["title", "body"], |word| word == "river")
            && !has(doc, &["mark"], |word| word == "third")
    }),
    ("title:\"red lamp\"", |doc| values(doc, "title").any(|title| title.starts_with("red lamp"))),
    ("title:\"also lamp\"", |doc| values(doc, "title").any(|t| t.starts_with("also lamp"))),
    ("title:lam*", |doc| has(doc, &["title"], |word| word.starts_with("lam"))),
    ("title:lamp~1", |doc| has(doc, &["title"], |word| word == "lamp" || word == "lamb")),
    ("/number[0-9]7/", |doc| {
        has(doc, &["title"], |word| {
            word.len() == 8 && word.starts_with("number") && word.ends_with('7')
        })
    }),
    ("kind:IN [k1 k4]", |doc| values(doc, "kind").any(|kind| kind == "k1" || kind == "k4")),
    ("id:[d10 TO d12]", |doc| values(doc, "id").any(|id| ("d10"..="d12").contains(&id))),
    ("body:edition2", |doc| has(doc, &["body"], |word| word == "edition2")),
];

fn values<'d>(doc: &'d Doc, field: &str) -> impl Iterator<Item = &'d str> {
    doc.iter().filter(move |(name, _)| *name == field).map(|(_, value)| &**value)
}

fn has(doc: &Doc, fields: &[&str], is_it: fn(&str) -> bool) -> bool {
    fields.iter().any(|field| values(doc, field).any(|value| value.split(' ').any(is_it)))
}

/// The best of some queries as they were when the fixture was made: keys, and scores in thousandths.
const BEST: [(&str, &[(&str, i64)]); 3] = [
    (
        "red river",
        &[
            ("d112", 5278),
            ("d308", 5278),
            ("d35", 4300),
            ("d119", 4135),
            ("d231", 4135),
            ("d210", 4087),
            ("d245", 4087),
            ("d280", 4087),
            ("d42", 4051),
            ("d154", 4051),
        ],
    ),
    (
        "title:lamp body:hill^2",
        &[
            ("d15", 3798),
            ("d95", 3798),
            ("d10", 3718),
            ("d30", 3718),
            ("d70", 3718),
            ("d271", 3661),
            ("d118", 3582),
            ("d158", 3582),
            ("d206", 3582),
            ("d246", 3582),
        ],
    ),
    (
        "\"white stone\"",
        &[
            ("d38", 3892),
            ("d101", 3892),
            ("d136", 3892),
            ("d171", 3892),
            ("d234", 3892),
            ("d269", 3892),
        ],
    ),
];

fn id(doc: &Doc) -> &str {
    values(doc, "id").next().unwrap()
}

/// Compares all answers with what `docs` says.
fn ask(searcher: &Searcher, docs: &[Doc]) {
    assert_eq!(searcher.n_docs(), docs.len() as u64);
    for (text, matches) in QUESTIONS {
        let query = searcher.parse(text).unwrap();
        let mut expected: Vec<_> = docs.iter().filter(|doc| matches(doc)).collect();
        let found = searcher.search(&query).limit(1_000).facet("kind", 6).run().unwrap();
        assert_eq!(found.total.value, expected.len() as u64, "{text}");
        let mut hits = found.hits;
        assert!(hits.len() > 3, "{text}");
        hits.sort_by(|a, b| a.fields["id"].to_string().cmp(&b.fields["id"].to_string()));
        expected.sort_by(|a, b| id(a).cmp(id(b)));
        for (hit, doc) in hits.iter().zip(&expected) {
            for field in ["id", "title", "body", "mark", "kind"] {
                let stored = hit.fields.get(field).into_iter().flat_map(Values::texts);
                assert!(stored.eq(values(doc, field)), "{text}: {field} of {}", id(doc));
            }
        }
        let mut kinds = BTreeMap::<_, u64>::new();
        expected.iter().flat_map(|doc| values(doc, "kind")).for_each(|kind| {
            *kinds.entry(kind.to_owned()).or_default() += 1;
        });
        let buckets = found.facets[0].buckets.iter();
        let counted: BTreeMap<_, _> =
            buckets.map(|bucket| (bucket.value.to_string(), bucket.count)).collect();
        assert_eq!(counted, kinds, "{text}");
    }
}

fn best(searcher: &Searcher, text: &str) -> Vec<(String, i64)> {
    let query = searcher.parse(text).unwrap();
    let hits = searcher.search(&query).run().unwrap().hits.into_iter();
    let scored = hits.map(|hit| {
        (hit.fields["id"].to_string(), (f64::from(hit.score.unwrap()) * 1e3).round() as i64)
    });
    scored.collect()
}

/// A copy that may be written to, gone with the test.
struct Copy(PathBuf);

impl Copy {
    fn of(fixture: &Path) -> Copy {
        let name = fixture.file_name().unwrap().to_str().unwrap();
        let name = format!("treepie-{name}-{}", std::process::id());
        let copy = Copy(std::env::temp_dir().join(name));
        let _ = fs::remove_dir_all(&copy.0);
        fs::create_dir_all(&copy.0).unwrap();
        for entry in fs::read_dir(fixture).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, copy.0.join(path.file_name().unwrap())).unwrap();
        }
        copy
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_index_of_this_format_is_read_as_it_was_written() {
    let directory = current();
    let docs = docs();
    for mode in [ReadMode::Mmap, ReadMode::Pread] {
        let index = Index::options().read_mode(mode).open(directory).unwrap();
        assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
        let searcher = index.searcher().unwrap();
        assert_eq!((searcher.generation(), searcher.payload()), (2, &b"line 330"[..]));
        assert_eq!(searcher.schema(), &schema());
        ask(&searcher, &docs);
        for (text, expected) in BEST {
            let expected: Vec<_> =
                expected.iter().map(|(id, score)| (id.to_string(), *score)).collect();
            assert_eq!(best(&searcher, text), expected, "{text}");
        }
        let query = searcher.parse("title:lamp").unwrap();
        let hit = &searcher.search(&query).run().unwrap().hits[0];
        let titles: Vec<_> = hit.fields["title"].texts().collect();
        let marked = searcher.highlighter(&query).unwrap();
        let marked = marked.in_document(hit.doc, "title", titles.iter().copied()).unwrap();
        let options = PassageOptions::default();
        let places = marked.iter().flat_map(|value| value.passages(&options));
        let places: Vec<_> = places.flat_map(|passage| passage.matches().to_vec()).collect();
        assert_eq!(
            (&titles[..], &places[..]),
            (&["grey lamp number5", "also lamp grey"][..], &[5..9, 5..9][..])
        );
    }
}

#[test]
fn a_writer_goes_on_in_the_index_of_this_format() {
    let copy = Copy::of(current());
    let index = Index::open(&copy.0).unwrap();
    let mut writer = index.writer().unwrap();
    let mut docs = docs();
    writer.delete_key("d331").unwrap();
    for n in [7, 331] {
        docs.retain(|old| id(old) != format!("d{n}"));
        docs.push(doc(n, 2));
        add(&mut writer, doc(n, 2));
    }
    writer.commit().unwrap();
    ask(&index.searcher().unwrap(), &docs);
    assert_eq!(writer.merge().unwrap().segments, 1);
    assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
    ask(&index.searcher().unwrap(), &docs);
}

#[test]
fn an_index_of_an_older_format_is_refused_by_both_numbers() {
    let older: Vec<_> = formats().into_iter().filter(|(n, _)| *n < FORMAT_VERSION.0).collect();
    assert!(!older.is_empty());
    for (n, path) in older {
        let copy = Copy::of(&path);
        let before: Vec<_> = fs::read_dir(&copy.0).unwrap().map(|e| e.unwrap().path()).collect();
        let opened = Index::open(&copy.0).map(drop);
        let recovered = Index::recover(&copy.0).map(drop);
        let errors = [opened, recovered].map(Result::unwrap_err);
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::UnsupportedVersion, "{error}");
            let text = error.to_string();
            let versions = [format!("format version {}", FORMAT_VERSION.0), format!("{n}.0")];
            let is_clear = versions.iter().all(|version| text.contains(version));
            assert!(is_clear && text.contains("--overwrite"), "{text}");
        }
        assert!(before.iter().all(|path| path.exists()), "nothing is deleted");
        let mut writer = Index::overwrite(&copy.0, schema()).unwrap().writer().unwrap();
        add(&mut writer, doc(1, 1));
        writer.commit().unwrap();
        assert_eq!(Index::open(&copy.0).unwrap().searcher().unwrap().n_docs(), 1);
    }
}

#[test]
fn fixtures_are_small() {
    let files = formats().into_values().flat_map(|path| fs::read_dir(path).unwrap());
    let bytes: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert!((1..BYTES_MAX).contains(&bytes), "{bytes} bytes");
}
