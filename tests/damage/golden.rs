//! One index with everything that files can have in them, and a storage whose files are easily exchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use treepie::query::{ParseOptions, parse};
use treepie::schema::{Detail, Metric, VectorParams};
use treepie::storage::{Entry, MemoryStorage, Pin, Storage, StorageRead, StorageWrite, WriterLock};
use treepie::{Document, Error, ErrorKind, Field, FieldKind, Index, Result, Schema, WriterOptions};

/// The files of an index by name; shared, for only one of them differs at a time.
pub(crate) type Files = BTreeMap<String, Arc<Vec<u8>>>;

/// Numbers that follow from a seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n.max(1)
    }
}

/// Documents of the first segment, enough for bitmaps; of the second; of the third.
pub(crate) const DENSE: usize = 6_500;
pub(crate) const TEXTS: usize = 136;
pub(crate) const LATE: usize = 24;
pub(crate) const DOCS: u64 = (DENSE + TEXTS + LATE) as u64;

pub(crate) fn schema() -> Schema {
    let title = Field::new("title", FieldKind::Text).offsets(true).many(true);
    let tag = Field::new("tag", FieldKind::Text).detail(Detail::Frequencies).stored(false);
    let mark = Field::new("mark", FieldKind::Text).detail(Detail::Documents).analyzer("whitespace");
    let kind = Field::new("kind", FieldKind::Keyword).many(true);
    let code = Field::new("code", FieldKind::Keyword);
    let schema = Schema::builder().field(title).field(tag).field(mark.stored(false));
    let size = Field::new("size", FieldKind::Decimal { scale: 2 }).many(true);
    let host = Field::new("host", FieldKind::Ip);
    let place = Field::new("place", FieldKind::Path { separator: '/' }).many(true).column(true);
    let params = VectorParams::new(3, Metric::Cosine);
    let near = Field::new("near", FieldKind::Vector(params)).many(true);
    let schema = schema.field(host).field(place).field(near);
    schema.field(kind).field(code).field(size).default_fields(["title", "tag"]).build().unwrap()
}

/// The index that follows from a seed: three commits of a segment each, of which the last two are kept, with
/// deletes of the first segment in both and of the second in the last.
/// Indexes of other seeds have files of the same names.
pub(crate) fn golden(seed: u64) -> Files {
    let storage = Arc::new(MemoryStorage::new());
    let index = Index::options().create_in(storage.clone(), schema()).unwrap();
    let options = WriterOptions::new().threads(1).memory_bytes(16 << 20).reproducible_ids([3; 16]);
    let mut writer = index.writer_with(options).unwrap();
    let mut dice = Dice::new(seed);
    for n in 0..DENSE {
        writer.add(dense(n, &mut dice)).unwrap();
    }
    writer.commit().unwrap();
    for n in 0..TEXTS {
        writer.add(text(n, &mut dice)).unwrap();
    }
    writer.delete_value("code", "c00600").unwrap();
    writer.commit().unwrap();
    for n in 0..LATE {
        let title = format!("late even n{} w{n}", n % 3);
        writer.add(Document::new().with("title", title).with("kind", "k2")).unwrap();
    }
    let unlikely = parse("tag:middle -mark:most", &ParseOptions::default()).unwrap();
    writer.delete(&unlikely).unwrap();
    writer.delete_value("kind", "k3").unwrap();
    writer.set_payload(*b"as far as line 17").unwrap();
    writer.commit().unwrap();
    files_in(&*storage)
}

/// Mostly nothing, but lists of all kinds of containers, with and without frequencies.
fn dense(n: usize, dice: &mut Dice) -> Document {
    let mut document = Document::new();
    let mut marks = String::new();
    if n % 3 != 1 && dice.below(50) > 0 {
        marks.push_str("most ");
    }
    if !(3_000..=6_000).contains(&n) {
        marks.push_str("run ");
    }
    if n.is_multiple_of(9) {
        write!(marks, "ninth m{}", n % 500).unwrap();
    }
    if !marks.is_empty() {
        document.push("mark", marks);
    }
    // Of many lengths, so that frequencies and lengths differ.
    if !n.is_multiple_of(3) {
        let mut tag = "even".to_owned();
        (0..n / 3 % 4).for_each(|_| tag.push_str(" even"));
        if (1_000..3_000).contains(&n) {
            tag.push_str(" middle");
        }
        if n.is_multiple_of(40) {
            write!(tag, " n{} rare{}", n % 7, n / 400).unwrap();
        }
        document.push("tag", tag);
    }
    if n.is_multiple_of(60) {
        document.push("title", format!("all dense n{} w{n}", n / 60 % 20));
    } else if n < 400 {
        document.push("title", "all".repeat(1 + n % 2));
    }
    if n.is_multiple_of(60) {
        document.push("kind", ["k1", "k2", ""][n / 60 % 3]);
        document.push("code", format!("c{n:05}"));
        document.push("host", format!("10.0.{}.{}", n / 60 % 3, n / 60 % 7));
        (0..n / 60 % 3).for_each(|nth| {
            document.push("place", format!("p{}/q{}/{nth}", n / 60 % 4, n / 60 % 5));
        });
        (0..n / 60 % 3).for_each(|nth| document.push("near", [1.0, n as f32, nth as f32]));
        (0..n / 60 % 3).for_each(|nth| document.push("size", (n / 60 % 9 + nth) as f64 / 4.0));
    }
    document
}

/// Long texts of words some of which are frequent, and many values.
fn text(n: usize, dice: &mut Dice) -> Document {
    let mut document = Document::new();
    let parity = ["even", "odd"][n % 2];
    let mut title = format!("all {parity} n{} w{n}", n % 20);
    for _ in 0..10 + n % 30 {
        // The product of two throws: few words are frequent, many are rare.
        let word = dice.below(20) * dice.below(20);
        write!(title, " word{word}").unwrap();
    }
    document.push("title", title);
    if n.is_multiple_of(5) {
        document.push("title", format!("second value of {parity}: München, “naïve” – 東京 {n}"));
    }
    for k in 0..n % 4 {
        let value = format!("k{}", n % 5 + k);
        document.push("kind", if n.is_multiple_of(9) { String::new() } else { value });
    }
    if n.is_multiple_of(2) {
        document.push("near", [dice.below(100) as f32, 0.5, -1.0]);
    }
    document.push("code", format!("d{}", dice.below(1_000)));
    document.push("tag", format!("even {}", "odd ".repeat(n % 3)));
    document
}

pub(crate) fn files_in(storage: &dyn Storage) -> Files {
    let read = |name: &str| {
        let file = storage.open(name).unwrap();
        let mut bytes = vec![0; file.len() as usize];
        file.read_at(0, &mut bytes).unwrap();
        Arc::new(bytes)
    };
    let entries = storage.list().unwrap().into_iter();
    entries.map(|entry| (entry.name.clone(), read(&entry.name))).collect()
}

/// The names of the manifests, oldest first.
pub(crate) fn manifests(files: &Files) -> Vec<&str> {
    files.keys().map(|name| &**name).filter(|name| name.starts_with("manifest-")).collect()
}

/// The files of the newest commit.
pub(crate) fn in_use(files: &Files) -> BTreeSet<String> {
    let index = Index::options().open_storage(Parts::mapped(files.clone())).unwrap();
    let segments = index.inspect().unwrap().segments();
    let paths = segments.into_iter().flat_map(|segment| [Some(segment.path), segment.deletes_path]);
    let mut names: BTreeSet<String> =
        paths.flatten().map(|path| path.to_str().unwrap().to_owned()).collect();
    names.extend(manifests(files).last().map(|newest| (*newest).to_owned()));
    names
}

/// Files that are only read, with one of them exchanged.
#[derive(Debug)]
pub(crate) struct Parts {
    files: Files,
    mapped: bool,
}

impl Parts {
    pub(crate) fn mapped(files: Files) -> Arc<dyn Storage> {
        Arc::new(Parts { files, mapped: true })
    }

    /// The same, read piece by piece.
    pub(crate) fn unmapped(files: Files) -> Arc<dyn Storage> {
        Arc::new(Parts { files, mapped: false })
    }

    fn find(&self, name: &str) -> Result<&Arc<Vec<u8>>> {
        let found = self.files.get(name);
        found.ok_or_else(|| Error::new(ErrorKind::NotFound, "opening").in_file(name))
    }

    fn refuse<T>(&self) -> Result<T> {
        Err(Error::new(ErrorKind::PermissionDenied, "writing to what is only read"))
    }
}

impl Storage for Parts {
    fn create(&self, _: &str) -> Result<Box<dyn StorageWrite>> {
        self.refuse()
    }
    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        let bytes = Arc::clone(self.find(name)?);
        Ok(Arc::new(Part { name: name.to_owned(), bytes, mapped: self.mapped }))
    }
    fn list(&self) -> Result<Vec<Entry>> {
        Ok(self.files.keys().map(|name| Entry::new(name, true)).collect())
    }
    fn delete(&self, _: &str) -> Result<()> {
        self.refuse()
    }
    fn publish(&self, _: &str, _: &str) -> Result<()> {
        self.refuse()
    }
    fn sync_names(&self) -> Result<()> {
        self.refuse()
    }
    fn lock_writer(&self) -> Result<WriterLock> {
        self.refuse()
    }
    fn pin(&self, name: &str) -> Result<Pin> {
        self.find(name).map(|_| Pin::new(()))
    }
    fn delete_unless_pinned(&self, _: &str) -> Result<bool> {
        self.refuse()
    }
    fn location(&self) -> PathBuf {
        PathBuf::from("(parts)")
    }
}

#[derive(Debug)]
struct Part {
    name: String,
    bytes: Arc<Vec<u8>>,
    mapped: bool,
}

impl StorageRead for Part {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
    fn mapped(&self) -> Option<&[u8]> {
        self.mapped.then_some(&**self.bytes)
    }
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let from = usize::try_from(offset).ok().and_then(|offset| self.bytes.get(offset..));
        let from = from.and_then(|from| from.get(..buffer.len()));
        let from = from.ok_or_else(|| Error::new(ErrorKind::Corrupt, "reading past the end"))?;
        buffer.copy_from_slice(from);
        Ok(())
    }
    fn path(&self) -> PathBuf {
        PathBuf::from(&self.name)
    }
}

/// A storage in memory that can be written to.
pub(crate) fn writable(files: &Files) -> Arc<MemoryStorage> {
    let storage = MemoryStorage::new();
    for (name, bytes) in files {
        storage.create(name).unwrap().write_all(bytes).unwrap();
    }
    Arc::new(storage)
}

#[test]
fn the_golden_index_has_lists_of_every_kind() {
    let files = golden(1);
    let total: usize = files.values().map(|bytes| bytes.len()).sum();
    for (name, bytes) in &files {
        println!("{name}: {} bytes", bytes.len());
    }
    assert!(total >= 64 << 10, "{total} bytes");
    let of_deletes = files.keys().filter(|name| name.starts_with("del-")).count();
    assert_eq!((files.len(), of_deletes), (3 + 2 + 3, 3));
    let index = Index::options().open_storage(Parts::mapped(files)).unwrap();
    let inspector = index.inspect().unwrap();
    let segments = inspector.segments();
    assert_eq!(segments.iter().map(|segment| segment.documents).sum::<u64>(), DOCS);
    let deleted: Vec<_> = segments.iter().map(|segment| segment.deleted).collect();
    assert!(deleted[0] > 500 && deleted[1] > 5 && deleted[2] == 0, "{deleted:?}");
    assert_eq!(inspector.documents(), DOCS - deleted.iter().sum::<u64>());
    let lists = |field: &str, term: &str| inspector.postings(field, term, 0).unwrap();
    let encodings = |field: &str, term: &str| -> Vec<_> {
        lists(field, term).into_iter().map(|list| list.encoding).collect()
    };
    assert_eq!(encodings("title", "all"), ["long", "short"]);
    assert_eq!(encodings("title", "n1"), ["short", "short", "short"]);
    assert_eq!(encodings("title", "w7"), ["inline", "inline"]);
    for field in ["mark", "tag"] {
        let (dense, run) = if field == "mark" { ("most", "run") } else { ("even", "middle") };
        assert!(lists(field, dense)[0].containers.bitmap > 0, "{field}");
        assert!(lists(field, run)[0].containers.run + lists(field, run)[0].containers.array > 0);
    }
    assert!(lists("mark", "run")[0].containers.run > 0);
    assert!(lists("mark", "ninth")[0].containers.array > 0);
    let storage = inspector.storage().unwrap();
    for part in &storage.parts {
        let name = part.part.as_str();
        let may_be_none = name.contains("heads") || name == "ranking: positions";
        assert!(part.bytes > 0 || part.count == 0 || may_be_none, "{part:?}");
    }
}
