//! Indexes whose documents lie in the order of fields: they answer as others do, and each of their segments lies in that order.

use crate::random::Random;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;
use treepie::highlight::{Highlighter, Marked, PassageOptions};
use treepie::query::Query;
use treepie::schema::Detail;
use treepie::storage::{MemoryStorage, Storage};
use treepie::value::Interval;
use treepie::writer::{BadLines, LineFormat, MergePolicy};
use treepie::{
    After, CancelToken, DocId, Document, ErrorKind, Facet, Field, FieldKind, Index, IndexWriter,
    Schema, SchemaBuilder, Searcher, SortKey, Value, WriterOptions,
};

const ORDERS: [&[&str]; 10] = [
    &["brand"],
    &["-since", "brand"],
    &["weight"],
    &["-weight", "new"],
    &["price", "-brand", "new", "-since"],
    &["from"],
    &["-from", "price"],
    &["new"],
    &["-serial"],
    &["serial"],
];

const WORDS: [&str; 7] = ["magpie", "jay", "rook", "crow", "raven", "pie", "tree"];

pub(crate) fn fields() -> SchemaBuilder {
    let text = |name: &str| Field::new(name, FieldKind::Text);
    let keyword = |name: &str| Field::new(name, FieldKind::Keyword).column(true);
    Schema::builder()
        .key("id")
        .field(Field::new("serial", FieldKind::U64))
        .field(text("title").offsets(true).many(true))
        .field(text("note").detail(Detail::Frequencies).stored(false))
        .field(text("mark").detail(Detail::Documents))
        .field(keyword("brand"))
        .field(keyword("tags").many(true))
        .field(Field::new("since", FieldKind::Date))
        .field(Field::new("weight", FieldKind::F64))
        .field(Field::new("price", FieldKind::Decimal { scale: 2 }))
        .field(Field::new("new", FieldKind::Bool))
        .field(Field::new("from", FieldKind::Ip))
        .field(Field::new("sizes", FieldKind::I64).many(true))
        .field(Field::new("shelf", FieldKind::Path { separator: '/' }).column(true))
        .nulls()
}

/// A document as it was added, and by field what it is compared by.
#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) id: String,
    pub(crate) document: Document,
    ranks: BTreeMap<&'static str, i64>,
}

impl Model {
    fn new(id: String, serial: u64, random: &mut Random) -> Self {
        let mut document = Document::new().with("id", &*id).with("serial", serial);
        let mut ranks = BTreeMap::from([("serial", serial as i64)]);
        let mut word = {
            let mut words = Random(serial * 7 + 1);
            move || WORDS[(words.below(7) * words.below(7)) / 6]
        };
        for _ in 0..random.below(3) {
            document.push("title", format!("{} and {} of {}", word(), word(), word()));
        }
        if random.below(3) > 0 {
            document.push("note", format!("{} {} {}", word(), word(), word()));
            document.push("mark", word());
        }
        // None twice: of what is deleted a word is known to be there once.
        let (tag, size) = (random.below(7), random.below(40));
        (0..random.below(3)).for_each(|nth| document.push("tags", WORDS[(tag + nth) % 7]));
        (0..random.below(3)).for_each(|nth| document.push("sizes", (size + nth) as i64 - 20));
        let mut one =
            |name: &'static str, n: usize, value: &dyn Fn(i64) -> Value| match random.below(8) {
                0 => {}
                1 => document.push(name, Value::Null),
                _ => {
                    let rank = random.below(n) as i64;
                    document.push(name, value(rank));
                    ranks.insert(name, rank);
                }
            };
        one("brand", 30, &|rank| format!("brand {rank:02}").into());
        one("since", 300, &|rank| format!("20{:02}-{:02}-11", rank / 12, rank % 12 + 1).into());
        one("weight", 200, &|rank| Value::F64((rank - 100) as f64 * 0.25));
        one("price", 500, &|rank| format!("{}.{:02}", rank / 100, rank % 100).into());
        one("new", 2, &|rank| Value::Bool(rank == 1));
        one("from", 256, &|rank| format!("10.0.0.{rank}").into());
        one("shelf", 9, &|rank| format!("a/{}/{}", rank / 3, rank % 3).into());
        Model { id, document, ranks }
    }

    fn compare(&self, other: &Self, order: &[&str]) -> Ordering {
        let by = |key: &&str| {
            let name = key.trim_start_matches('-');
            let rank = |of: &Self| match of.ranks.get(name) {
                None => (true, 0),
                Some(rank) => (false, if name == *key { *rank } else { -rank }),
            };
            rank(self).cmp(&rank(other))
        };
        order.iter().map(by).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

pub(crate) fn options() -> WriterOptions {
    WriterOptions::new().threads(1).merge_policy(MergePolicy::default().factor(4))
}

/// Does the same with several writers, and with what the documents are known to be.
pub(crate) struct Twins {
    pub(crate) storages: Vec<Arc<MemoryStorage>>,
    pub(crate) writers: Vec<IndexWriter>,
    pub(crate) model: Vec<Model>,
    n_added: u64,
}

impl Twins {
    pub(crate) fn new(schemas: [Schema; 2]) -> Self {
        let storages: Vec<_> = schemas.iter().map(|_| Arc::new(MemoryStorage::new())).collect();
        let index = |(storage, schema): (&Arc<MemoryStorage>, Schema)| {
            Index::options()
                .create_in(storage.clone(), schema)
                .unwrap()
                .writer_with(options())
                .unwrap()
        };
        let writers = storages.iter().zip(schemas).map(index).collect();
        Twins { storages, writers, model: vec![], n_added: 0 }
    }

    pub(crate) fn each(&mut self, mut act: impl FnMut(&mut IndexWriter)) {
        self.writers.iter_mut().for_each(&mut act);
    }

    pub(crate) fn add(&mut self, random: &mut Random) {
        self.n_added += 1;
        // Some take the place of others, in this segment or an older one.
        let id = format!("id {}", random.below(self.n_added as usize * 4));
        let model = Model::new(id, self.n_added, random);
        self.each(|writer| writer.add(model.document.clone()).unwrap());
        self.model.retain(|other| other.id != model.id);
        self.model.push(model);
    }

    pub(crate) fn step(&mut self, random: &mut Random) {
        match random.below(40) {
            0 => self.each(|writer| {
                writer.commit().unwrap();
            }),
            1 => self.each(|writer| {
                writer.flush().unwrap();
            }),
            2 => self.each(|writer| {
                writer.commit().unwrap();
                writer.maintain().unwrap();
            }),
            3 => {
                let id = format!("id {}", random.below(self.n_added as usize + 1));
                self.each(|writer| writer.delete_key(&*id).unwrap());
                self.model.retain(|other| other.id != id);
            }
            4 => {
                let rank = random.below(30) as i64;
                let brand = format!("brand {rank:02}");
                self.each(|writer| writer.delete_value("brand", &*brand).unwrap());
                self.model.retain(|other| other.ranks.get("brand") != Some(&rank));
            }
            5 => {
                let query = Query::value("price", "0.07");
                self.each(|writer| writer.delete(&query).unwrap());
                self.model.retain(|other| other.ranks.get("price") != Some(&7));
            }
            6 => self.while_a_job_runs(random),
            _ => (0..random.below(20)).for_each(|_| self.add(random)),
        }
    }

    /// What is deleted and replaced while a merge runs is so in its result.
    fn while_a_job_runs(&mut self, random: &mut Random) {
        let mut jobs = vec![];
        for writer in &mut self.writers {
            writer.commit().unwrap();
            jobs.push(writer.begin_merge().unwrap());
        }
        let merged: Vec<_> = jobs
            .into_iter()
            .map(|job| job.map(|job| job.run(&CancelToken::new()).unwrap()))
            .collect();
        for _ in 0..3 {
            let Some(gone) = self.model.get(random.below(self.model.len().max(1))) else { break };
            let id = gone.id.clone();
            self.each(|writer| writer.delete_key(&*id).unwrap());
            self.model.retain(|other| other.id != id);
            self.add(random);
        }
        self.each(|writer| {
            writer.commit().unwrap();
        });
        for (writer, merged) in self.writers.iter_mut().zip(merged) {
            merged.map(|merged| writer.finish_merge(merged).unwrap());
        }
    }

    pub(crate) fn searchers(&self) -> Vec<Searcher> {
        let open = |storage: &Arc<MemoryStorage>| {
            Index::options().open_storage(storage.clone()).unwrap().searcher().unwrap()
        };
        self.storages.iter().map(open).collect()
    }
}

pub(crate) const QUERIES: [&str; 17] = [
    "*",
    "magpie",
    "title:\"magpie and jay\"",
    "title:\"rook crow\"~4 OR note:pie",
    "title:magpie -brand:\"brand 03\"",
    "title:(magpie jay rook)",
    "brand:IN [\"brand 01\" \"brand 02\" \"brand 17\"]",
    "price:[1 TO 2.50]",
    "price:>4 weight:<0",
    "weight:[-3 TO 3] new:true",
    "since:2005 OR since:>2020-03",
    "from:10.0.0.0/26",
    "_missing:price",
    "_null:brand OR _empty:title",
    "tags:jay sizes:[-3 TO 5]",
    "shelf:a/1",
    "mark:r* -title:*",
];

/// What an index tells of its documents, but for how they are numbered: by query the documents in an order without ties, with their
/// values and marks, and facets.
fn told(searcher: &Searcher) -> Vec<String> {
    let mut told = vec![];
    for text in QUERIES {
        let query = searcher.parse(text).unwrap();
        for keys in [
            "serial",
            "price,serial:desc",
            "brand:desc,weight:missing_first,serial",
            "since:desc,serial",
        ] {
            let sort = SortKey::list(keys).unwrap();
            let page = searcher
                .search(&query)
                .sort(sort.clone())
                .limit(20)
                .with_facet(Facet::values("brand").limit(100).with_facet(Facet::values("tags")))
                .with_facet(Facet::values("shelf"))
                .with_facet(Facet::date_histogram("since", Interval::Month))
                .with_facet(Facet::statistics("price"))
                .with_facet(Facet::auto_ranges("weight", 5))
                .run()
                .unwrap();
            let mut facets = page.facets;
            // Which depends on how the values come.
            let numbers = facets.iter_mut().filter_map(|facet| facet.statistics.as_mut());
            numbers.for_each(|numbers| numbers.variance = None);
            told.push(format!("{text} by {keys}: {:?} {facets:?}", page.total));
            // All pages.
            let (mut hits, mut n) = (page.hits, 0);
            let highlighter = searcher.highlighter(&query).unwrap();
            while let Some(last) = hits.last() {
                let after = (last.sort.clone(), last.doc);
                n += hits.len();
                for hit in &hits {
                    let marked = match hit.fields.get("title") {
                        Some(values) => marked(&highlighter, hit.doc, values.texts()),
                        None => vec![],
                    };
                    told.push(format!("{:?} {:?} {marked:?}", hit.sort, hit.fields));
                }
                let search = searcher.search(&query).sort(sort.clone()).limit(40);
                hits = search.after(After::values(after.0, after.1)).run().unwrap().hits;
            }
            assert_eq!(n as u64, searcher.count(&query).unwrap(), "{text} by {keys}");
        }
    }
    told
}

fn marked<'t>(
    highlighter: &Highlighter,
    doc: DocId,
    texts: impl Iterator<Item = &'t str>,
) -> Vec<String> {
    let marked = highlighter.in_document(doc, "title", texts).unwrap();
    let html = |text: &Marked<'_>| {
        let passages = text.passages(&PassageOptions::default());
        passages.iter().map(|it| it.to_html(text.text())).collect::<String>()
    };
    marked.iter().map(html).collect()
}

pub(crate) fn ids(searcher: &Searcher) -> Vec<String> {
    let all = searcher.parse("*").unwrap();
    let page = searcher.search(&all).limit(1_000_000).run().unwrap();
    page.hits.iter().map(|hit| hit.fields["id"].to_string()).collect()
}

pub(crate) fn assert_same(twins: &Twins, order: &[&str], what: &str) {
    let searchers = twins.searchers();
    let [ours, expected] = [&searchers[0], &searchers[1]].map(told);
    assert_eq!(ours.len(), expected.len(), "{what}");
    for (ours, expected) in ours.iter().zip(&expected) {
        let same = ours.bytes().zip(expected.bytes()).take_while(|(a, b)| a == b).count();
        let from =
            |text: &str| text[same.saturating_sub(80)..].chars().take(200).collect::<String>();
        assert!(
            ours == expected,
            "{what}: {} … {}, not {}",
            &ours[..40],
            from(ours),
            from(expected)
        );
    }
    let index = Index::options().open_storage(twins.storages[0].clone()).unwrap();
    let report = index.inspect().unwrap();
    assert!(report.verify(|error| panic!("{what}: {error}")).is_sound());
    let by_id: BTreeMap<&str, &Model> = twins.model.iter().map(|it| (&*it.id, it)).collect();
    let mut ids = ids(&searchers[0]).into_iter();
    for segment in report.segments() {
        let n_live = (segment.documents - segment.deleted) as usize;
        let models: Vec<_> = ids.by_ref().take(n_live).map(|id| by_id[&*id]).collect();
        assert!(models.is_sorted_by(|a, b| a.compare(b, order).is_le()), "{what}");
    }
    assert_eq!(ids.next(), None);
}

/// The only segment of an index, as its file has it.
pub(crate) fn bytes_of_segment(storage: &MemoryStorage) -> Vec<u8> {
    let index = Index::options().open_storage(Arc::new(storage.clone())).unwrap();
    let inspect = index.inspect().unwrap();
    let segments = inspect.segments();
    let [segment] = &segments[..] else { panic!("{} segments", segments.len()) };
    let name = segment.path.file_name().unwrap().to_str().unwrap();
    let file = storage.open(name).unwrap();
    let mut bytes = vec![0; file.len() as usize];
    file.read_at(0, &mut bytes).unwrap();
    bytes
}

/// Merges everything into a segment whose id is known.
pub(crate) fn merge(storage: &Arc<MemoryStorage>) {
    let index = Index::options().open_storage(storage.clone()).unwrap();
    let options = options().reproducible_ids([9; 16]);
    assert_eq!(index.writer_with(options).unwrap().merge().unwrap().segments, 1);
}

#[test]
fn an_index_in_an_order_answers_as_one_without() {
    for (nth, order) in ORDERS.into_iter().enumerate() {
        let mut random = Random(nth as u64 + 1);
        let ordered = fields().order_by(order.iter().copied()).build().unwrap();
        let mut twins = Twins::new([ordered, fields().build().unwrap()]);
        // More than blocks of columns and short lists have.
        (0..1_100).for_each(|_| twins.add(&mut random));
        for step in 0..60 {
            twins.step(&mut random);
            if step == 40 {
                twins.each(|writer| {
                    writer.commit().unwrap();
                });
                assert_same(&twins, order, &format!("{order:?} after step {step}"));
            }
        }
        twins.add(&mut random);
        twins.each(|writer| {
            writer.commit().unwrap();
        });
        twins.writers.clear();
        twins.storages.iter().for_each(merge);
        assert_same(&twins, order, &format!("{order:?} merged"));
        // Where values are the same, those that were added first come first.
        let mut sorted = twins.model.clone();
        sorted.sort_by(|a, b| a.compare(b, order));
        let expected: Vec<_> = sorted.iter().map(|model| model.id.clone()).collect();
        assert_eq!(ids(&twins.searchers()[0]), expected, "{order:?}");
        // As if they had been added in this order: byte for byte the same file.
        let storage = Arc::new(MemoryStorage::new());
        let index = Index::options().create_in(storage.clone(), fields().build().unwrap()).unwrap();
        for half in sorted.chunks(sorted.len() / 2 + 1) {
            let mut writer = index.writer_with(options()).unwrap();
            half.iter().for_each(|model| writer.add(model.document.clone()).unwrap());
            writer.commit().unwrap();
        }
        merge(&storage);
        let [ours, expected] = [&twins.storages[0], &storage].map(|it| bytes_of_segment(it));
        let differing = (0..).zip(ours.iter().zip(&expected)).filter(|(_, (a, b))| a != b);
        let differing: Vec<usize> = differing.map(|(at, _)| at).collect();
        assert_eq!(ours.len(), expected.len(), "{order:?}");
        assert!(
            differing.is_empty(),
            "{order:?}: {} bytes differ: {:?}",
            differing.len(),
            &differing[..differing.len().min(60)]
        );
    }
}

#[test]
fn another_index_joins_in_order_and_images_copies_and_fields_keep_it() {
    let mut random = Random(5);
    let schema = || fields().order_by(["-price", "brand"]).build().unwrap();
    let mut twins = Twins::new([schema(), schema()]);
    (0..300).for_each(|_| twins.add(&mut random));
    twins.writers[0].commit().unwrap();
    let other = Index::in_memory(schema());
    let mut writer = other.writer_with(options()).unwrap();
    let model = |nth: u64| Model::new(format!("other {nth}"), 1_000 + nth, &mut Random(nth + 9));
    let more: Vec<_> = (0..200).map(model).collect();
    for part in more.chunks(70) {
        part.iter().for_each(|model| writer.add(model.document.clone()).unwrap());
        writer.commit().unwrap();
    }
    twins.writers[0].add_index(&other.searcher().unwrap()).unwrap();
    twins.writers[0].commit().unwrap();
    more.iter().for_each(|model| twins.writers[1].add(model.document.clone()).unwrap());
    twins.writers[1].commit().unwrap();
    twins.model.extend(more);
    assert_same(&twins, &["-price", "brand"], "joined");
    let plain = Index::in_memory(fields().build().unwrap());
    let mut writer = plain.writer().unwrap();
    writer.add(more_of("plain")).unwrap();
    writer.commit().unwrap();
    let refused = twins.writers[0].add_index(&plain.searcher().unwrap()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Schema);
    assert!(refused.to_string().contains("one of documents in another order"), "{refused}");

    twins.writers.clear();
    let mut index = Index::options().open_storage(twins.storages[0].clone()).unwrap();
    let order = |index: &Index| index.schema().order().collect::<Vec<_>>();
    assert_eq!(order(&Index::open_bytes(index.to_image().unwrap()).unwrap()), ["-price", "brand"]);
    let saved = Arc::new(MemoryStorage::new());
    Index::options().salvage_storage(&*twins.storages[0], saved.clone()).unwrap();
    assert_eq!(order(&Index::options().open_storage(saved).unwrap()), ["-price", "brand"]);
    index.add_fields([Field::new("stock", FieldKind::I64)]).unwrap();
    assert_eq!(order(&index), ["-price", "brand"]);
    let mut writer = index.writer_with(options()).unwrap();
    writer.add(more_of("last").with("stock", 3)).unwrap();
    assert_eq!(writer.merge().unwrap().segments, 1);
    assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
}

/// The first documents are read, and as many as are the same as the last of them, of however many match.
#[test]
fn hits_in_the_order_of_the_index_are_the_first_that_match() {
    let ordered = fields().order_by(["-price", "brand"]).build().unwrap();
    let mut twins = Twins::new([ordered, fields().build().unwrap()]);
    let mut random = Random(3);
    for n in [1_300, 40, 1_700] {
        (0..n).for_each(|_| twins.add(&mut random));
        twins.each(|writer| {
            writer.commit().unwrap();
        });
    }
    let searchers = twins.searchers();
    let cases = [
        ("price:desc", true, 10 * 3),
        ("price:desc,brand", true, 12 * 3),
        // Some ten are of the same price.
        ("price:desc,serial", true, 60 * 3),
        ("price:desc,brand,weight:desc", true, 30 * 3),
        ("price:desc,brand:desc", true, 60 * 3),
        ("price", false, u64::MAX),
        ("price:desc:missing_first", false, u64::MAX),
        ("brand,price:desc", false, u64::MAX),
        ("price:desc,_score", false, u64::MAX),
    ];
    for text in ["*", "title:magpie", "price:[0.5 TO 3] -new:true", "_missing:price", "id:\"id 7\""]
    {
        for (keys, is_in_order, most) in cases {
            let sort = SortKey::list(keys).unwrap();
            let pages = searchers.iter().map(|searcher| {
                let query = searcher.parse(text).unwrap();
                let (mut serials, mut after, mut n_pages) =
                    (vec![], None::<(Vec<Value>, DocId)>, 0);
                loop {
                    let mut search = searcher.search(&query).sort(sort.clone()).limit(9);
                    if let Some((values, doc)) = after.take() {
                        search = search.after(After::values(values, doc));
                    }
                    let plan = search.clone().analyze().unwrap().plan;
                    let hits = search.run().unwrap().hits;
                    let is_told = plan.algorithm == "what matches, in the order of the index";
                    let has_order = searcher.schema().order().count() > 0;
                    assert_eq!(is_told, is_in_order && has_order, "{}", plan.algorithm);
                    // All documents without a price have the same.
                    if is_told && text != "_missing:price" {
                        let n = plan.actual.unwrap().sort.unwrap().documents;
                        assert!(n <= most, "{text} by {keys}: {n} documents were read");
                    }
                    let Some(last) = hits.last() else { break };
                    after = Some((last.sort.clone(), last.doc));
                    let keys_of = |hit: &treepie::Hit| format!("{:?}", hit.sort);
                    serials.extend(hits.iter().map(keys_of));
                    n_pages += 1;
                    if n_pages > 6 {
                        break;
                    }
                }
                serials
            });
            let pages: Vec<_> = pages.collect();
            // Scores know of what is deleted, which the one has and the other has not.
            assert!(pages[0] == pages[1] || keys.contains("_score"), "{text} by {keys}");
        }
    }
}

fn more_of(id: &str) -> Document {
    Document::new().with("id", id).with("serial", 5_000).with("price", "2.00")
}

/// Chunk after chunk of rows, and more of them than there is room for.
#[test]
fn rows_of_more_than_there_is_room_for_come_in_order() {
    let schema = Schema::builder().text("body").field(Field::new("rank", FieldKind::U64));
    let index = Index::in_memory(schema.order_by(["rank"]).build().unwrap());
    let options = WriterOptions::new().threads(1).memory_bytes(16 << 20);
    let mut writer = index.writer_with(options).unwrap();
    let text = |rank: u64| format!("word{rank} {}", "x".repeat(3_000 + (rank % 500) as usize));
    let n = 5_003;
    for nth in 0..n {
        let rank = nth * 1_009 % n;
        writer.add(Document::new().with("body", text(rank)).with("rank", rank)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let page = searcher.search(&searcher.parse("*").unwrap()).limit(n).run().unwrap();
    for (rank, hit) in (0..n).zip(&page.hits) {
        assert_eq!(hit.fields["rank"].to_string(), rank.to_string());
        assert!(hit.fields["body"].to_string() == text(rank), "{rank}");
    }
    assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
}

/// The ranks that a text begins with of all documents, as they stand.
fn ranks(index: &Index, field: &str) -> Vec<u64> {
    let searcher = index.searcher().unwrap();
    let page = searcher.search(&Query::All).limit(5_000).run().unwrap();
    let rank = |text: &str| text.split(' ').next().unwrap().parse().unwrap();
    page.hits.iter().map(|hit| rank(&hit.fields[field].to_string())).collect()
}

/// What is added at once goes into segments that are soon in order each, and a merge goes over them once.
#[test]
fn more_than_is_put_in_order_at_once_becomes_several_segments() {
    // More than a commit makes one segment whatever there are.
    let n = 4_200;
    let (ranks_added, spaces) = ((0..n).map(|nth| nth * 7_919 % n), " ".repeat(12_000));
    let text = |rank: u64| format!("{rank:04} {spaces}");
    let title = Field::new("title", FieldKind::Text);
    let qualifier = Field::new("qualifier", FieldKind::Keyword).column(true).stored(false);
    let fields = Schema::builder().field(title).field(qualifier);
    for is_ordered in [false, true] {
        for of_lines in [false, true] {
            let fields = fields.clone();
            let fields = if is_ordered { fields.order_by(["qualifier"]) } else { fields };
            let index = Index::in_memory(fields.build().unwrap());
            let options = WriterOptions::new().threads(1).memory_bytes(16 << 20);
            let mut writer = index.writer_with(options).unwrap();
            if of_lines {
                let line = |rank| format!("{} ({rank:04})\n", text(rank)).replace(' ', "_");
                let lines: String = ranks_added.clone().map(line).collect();
                let format = LineFormat::titles();
                writer.add_lines(lines.as_bytes(), &format, BadLines::Refuse).unwrap();
            } else {
                for rank in ranks_added.clone() {
                    let document = Document::new().with("title", text(rank));
                    writer.add(document.with("qualifier", format!("{rank:04}"))).unwrap();
                }
            }
            // Of 50 MB of values, of which 32 MiB are put in order at once.
            let committed = writer.commit().unwrap();
            let what = format!("of lines: {of_lines}, in order: {is_ordered}");
            assert_eq!((committed.added, committed.documents), (n, n), "{what}");
            assert_eq!(committed.segments, if is_ordered { 2 } else { 1 }, "{what}");
            let found = ranks(&index, "title");
            let n_runs = found.chunk_by(|a, b| a < b).count();
            assert!(n_runs == 2 || !is_ordered, "{what}: {n_runs}");
            assert!(index.inspect().unwrap().verify(|error| panic!("{error}")).is_sound());
            if is_ordered {
                assert_eq!(writer.merge().unwrap().segments, 1);
                assert!(ranks(&index, "title").into_iter().eq(0..n), "{what}");
            } else {
                assert!(found.into_iter().eq(ranks_added.clone()), "{what}");
            }
        }
    }
}
