//! Fields that are added to an index that has documents: it answers as one that had them from the beginning.

use crate::cli::Dir;
use crate::random::Random;
use std::sync::Arc;
use treepie::query::Query;
use treepie::schema::Detail;
use treepie::storage::{MemoryStorage, Storage};
use treepie::value::{Dates, Interval};
use treepie::writer::MergePolicy;
use treepie::{
    Document, ErrorKind, Facet, Field, FieldKind, Index, Schema, SchemaBuilder, Searcher, SortKey,
    Timestamp, WriterOptions,
};

fn keyword(name: &str) -> Field {
    Field::new(name, FieldKind::Keyword)
}

/// Schemas to begin with: of one stored text, of nothing stored, of many values with a key, and of what is null.
fn narrow() -> Vec<Schema> {
    let tags = || Schema::builder().text("title").field(keyword("tag").many(true).column(true));
    let unstored = Field::new("title", FieldKind::Text).stored(false);
    let schemas: [SchemaBuilder; 4] = [
        Schema::builder().text("title"),
        Schema::builder().field(unstored).field(keyword("tag").many(true).stored(false)),
        tags().key("id"),
        tags().nulls(),
    ];
    schemas.into_iter().map(|schema| schema.build().unwrap()).collect()
}

/// Fields of all kinds.
fn added() -> Vec<Field> {
    let text = |name: &str| Field::new(name, FieldKind::Text);
    vec![
        text("body").offsets(true).many(true),
        text("note").detail(Detail::Frequencies).stored(false),
        text("mark").detail(Detail::Documents).analyzer("words|lower"),
        keyword("color").many(true).column(true),
        keyword("place").stored(false),
        Field::new("year", FieldKind::I64),
        Field::new("price", FieldKind::Decimal { scale: 2 }).many(true),
        Field::new("since", FieldKind::Date).zone("+02:00"),
        Field::new("from", FieldKind::Ip),
        Field::new("shelf", FieldKind::Path { separator: '/' }).column(true),
        Field::new("new", FieldKind::Bool),
    ]
}

const WORDS: [&str; 6] = ["magpie", "jay", "rook", "crow", "raven", "pie"];

/// A document of the fields of a schema that exist, each of which may be absent.
fn document(id: u64, schema: &Schema, random: &mut Random) -> Document {
    let mut document = Document::new();
    for field in schema.fields() {
        let n = match field.name.as_str() {
            "id" => 1,
            "_null" | "_empty" => 0,
            _ if field.many => random.below(4),
            _ => random.below(3).min(1),
        };
        for _ in 0..n {
            let word = WORDS[random.below(WORDS.len())];
            let number = random.below(300);
            document = match field.kind {
                FieldKind::Text => {
                    let second = WORDS[random.below(WORDS.len())];
                    document.with(&*field.name, format!("{word} and {second}"))
                }
                _ if field.name == "id" => document.with("id", id.to_string()),
                FieldKind::Keyword => document.with(&*field.name, word),
                FieldKind::Date => document
                    .with(&*field.name, format!("2024-{:02}-0{}", number % 12 + 1, number % 9 + 1)),
                FieldKind::Ip => document.with(&*field.name, format!("10.0.0.{}", number % 256)),
                FieldKind::Path { .. } => document.with(&*field.name, format!("{word}/{number}")),
                FieldKind::Bool => document.with(&*field.name, number.is_multiple_of(2)),
                _ => document.with(&*field.name, number as i64),
            };
        }
        if n == 0 && schema.keeps_nulls() && random.below(3) == 0 && !field.name.starts_with('_') {
            document = document.with(&*field.name, None::<&str>);
        }
    }
    document
}

/// Adds documents, and commits them as one segment.
fn commit(index: &Index, documents: &[Document]) {
    let options = WriterOptions::new().merge_policy(MergePolicy::default().factor(64));
    let mut writer = index.writer_with(options).unwrap();
    documents.iter().for_each(|document| writer.add(document.clone()).unwrap());
    writer.commit().unwrap();
}

fn queries(searcher: &Searcher) -> Vec<Query> {
    let texts = [
        "*",
        "magpie",
        "body:magpie",
        "body:\"magpie and\"~2 OR title:jay",
        "magpie -body:*",
        "_missing:year",
        "-year:*",
        "year:[10 TO 200]",
        "year:>250 OR color:crow",
        "color:IN [jay rook] title:pie",
        "price:<100",
        "since:2024-05 OR since:now",
        "from:10.0.0.0/25",
        "shelf:rook",
        "mark:r* note:jay~1 place:crow",
        "new:true",
        "note:magpie^3 title:magpie",
        "{title body note}:raven",
    ];
    let dates = Dates::new().now("2024-06-01".parse::<Timestamp>().unwrap());
    let nulls = searcher.schema().keeps_nulls();
    let more = if nulls { &["_null:year", "_missing:color", "_empty:body"][..] } else { &[] };
    let texts = texts.iter().chain(more);
    texts.map(|text| searcher.parse(text).unwrap().at(searcher.schema(), &dates).unwrap()).collect()
}

/// Everything that is told of an index, as text.
fn told(searcher: &Searcher) -> Vec<String> {
    let mut told = vec![];
    let sorts: [&[&str]; 4] =
        [&[], &["year", "color:desc"], &["price:desc:missing_first"], &["since", "new"]];
    for query in queries(searcher) {
        for sort in sorts {
            let keys = sort.iter().flat_map(|key| SortKey::list(key).unwrap());
            let ranges = ["..50", "50..200", "200.."].map(|range| range.parse().unwrap());
            let page = searcher
                .search(&query)
                .limit(30)
                .sort(keys.collect::<Vec<_>>())
                .with_facet(Facet::values("color").with_facet(Facet::values("shelf")))
                .with_facet(Facet::values("body").by_value())
                .with_facet(Facet::values("place").minimum(0))
                .with_facet(Facet::ranges("year", ranges).top_hits(1))
                .with_facet(Facet::date_histogram("since", Interval::Month))
                .with_facet(Facet::auto_ranges("price", 5))
                .with_facet(Facet::statistics("price").distinct())
                .run()
                .unwrap();
            let hits: Vec<_> = page
                .hits
                .iter()
                .map(|hit| format!("{:?} {:?} {:?} {:?}", hit.doc, hit.score, hit.fields, hit.sort))
                .collect();
            told.push(format!("{query} by {sort:?}: {:?} {hits:?} {:?}", page.total, page.facets));
        }
        let best = searcher.search(&query).limit(1).run().unwrap().hits;
        for hit in best {
            told.push(format!(
                "{:?}",
                searcher.explain_score(&query, hit.doc).unwrap().map(|it| it.to_string())
            ));
        }
        // But for the names of segments, and how large they are.
        let plan = searcher.explain(&query).unwrap().to_string();
        let has_name = |line: &&str| {
            line.starts_with("index ")
                || line.trim_start_matches([' ', '│']).starts_with("segment ")
        };
        told.extend(plan.lines().filter(|line| !has_name(line)).map(str::to_owned));
    }
    told
}

fn assert_same(grown: &Index, anew: &Index, what: &str) {
    let [ours, expected] = [grown, anew].map(|index| told(&index.searcher().unwrap()));
    assert_eq!(ours.len(), expected.len(), "{what}");
    for (ours, expected) in ours.iter().zip(&expected) {
        assert_eq!(ours, expected, "{what}");
    }
    for index in [grown, anew] {
        let report = index.inspect().unwrap().verify(|error| panic!("{what}: {error}"));
        assert!(report.is_sound());
    }
}

#[test]
fn an_index_that_fields_were_added_to_answers_as_one_that_always_had_them() {
    let mut random = Random(7);
    for (nth, schema) in narrow().into_iter().enumerate() {
        let [first, second] = [&added()[..6], &added()[6..]];
        let wider = schema.with_fields(first.iter().cloned()).unwrap();
        let widest = wider.with_fields(second.iter().cloned()).unwrap();
        let mut id = 0;
        let mut some = |schema: &Schema, random: &mut Random| -> Vec<Document> {
            // The first has more than a block of a column has documents.
            let ids = id..id + [1_100, 60][usize::from(id > 0)] + random.below(200) as u64;
            id = ids.end;
            ids.map(|id| document(id, schema, random)).collect()
        };
        let parts = [&schema, &schema, &wider, &widest, &widest].map(|it| some(it, &mut random));
        let storages = [(); 2].map(|()| Arc::new(MemoryStorage::new()));
        let mut grown = Index::options().create_in(storages[0].clone(), schema.clone()).unwrap();
        let anew = Index::options().create_in(storages[1].clone(), widest.clone()).unwrap();
        for (at, part) in parts.iter().enumerate() {
            match at {
                2 => drop(grown.add_fields(first.iter().cloned()).unwrap()),
                3 => drop(grown.add_fields(second.iter().cloned()).unwrap()),
                _ => {}
            }
            commit(&grown, part);
            commit(&anew, part);
        }
        assert_eq!(grown.schema(), &widest);
        // What is in memory is in no file, and all bytes of files are told.
        let report = grown.inspect().unwrap().storage().unwrap();
        assert_eq!(report.parts.iter().map(|part| part.bytes).sum::<u64>(), report.total);
        let reopened = Index::options().open_storage(storages[0].clone()).unwrap();
        assert_eq!(reopened.schema(), &widest);
        assert_same(&reopened, &anew, &format!("schema {nth}, five segments"));
        // An image of it, and what salvage makes of it.
        let image = Index::open_bytes(grown.to_image().unwrap()).unwrap();
        assert_same(&image, &anew, &format!("schema {nth}, image"));
        let saved = Arc::new(MemoryStorage::new());
        Index::options().salvage_storage(&*storages[0], saved.clone()).unwrap();
        let saved = Index::options().open_storage(saved).unwrap();
        assert_same(&saved, &anew, &format!("schema {nth}, salvaged"));
        for index in [&grown, &anew] {
            let mut writer = index.writer().unwrap();
            let query = index.searcher().unwrap().parse("title:magpie -year:*").unwrap();
            writer.delete(&query).unwrap();
            writer.commit().unwrap();
        }
        assert_same(&grown, &anew, &format!("schema {nth}, deletes"));
        for index in [&grown, &anew] {
            let options = WriterOptions::new().reproducible_ids([9; 16]);
            assert_eq!(index.writer_with(options).unwrap().merge().unwrap().segments, 1);
        }
        assert_same(&grown, &anew, &format!("schema {nth}, merged"));
        // Byte for byte the same file.
        let files = storages.each_ref().map(|storage| {
            let live = storage.list().unwrap().into_iter();
            let mut live: Vec<_> = live.filter(|entry| entry.name.starts_with("seg-")).collect();
            live.sort_by_key(|entry| std::cmp::Reverse(entry.name.contains("09090909")));
            let file = storage.open(&live[0].name).unwrap();
            let mut bytes = vec![0; file.len() as usize];
            file.read_at(0, &mut bytes).unwrap();
            bytes
        });
        assert!(files[0] == files[1], "schema {nth}");
    }
}

#[test]
fn a_field_stays_as_it_was_made() {
    let schema = Schema::builder().text("title").field(keyword("tag")).build().unwrap();
    let mut index = Index::in_memory(schema.clone());
    commit(&index, &[Document::new().with("title", "jay")]);
    let before = index.inspect().unwrap().generation();
    let year = || Field::new("year", FieldKind::I64);
    for (fields, words) in [
        (vec![], "at least one, found none"),
        (vec![keyword("tag")], "a name that no field has, found that of a keyword field"),
        (vec![year(), keyword("title")], "found that of a text field"),
        (vec![keyword("tag").many(true)], "adding the field 'tag'"),
        (vec![year(), year()], "declared twice"),
        (vec![Field::new("a\nb", FieldKind::I64)], "naming a field"),
        (vec![keyword("_null").many(true)], "another name"),
        (vec![Field::new("t", FieldKind::Text).column(true)], "a column"),
    ] {
        let error = index.add_fields(fields).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Schema, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
    assert_eq!(index.inspect().unwrap().generation(), before);
    assert_eq!(index.searcher().unwrap().schema(), &schema);
    let writer = index.writer().unwrap();
    assert_eq!(index.add_fields([year()]).unwrap_err().kind(), ErrorKind::Locked);
    drop(writer);
    // Words without a field are looked for in new text fields, unless the default fields are some.
    index.add_fields([Field::new("body", FieldKind::Text)]).unwrap();
    let names = |index: &Index| -> Vec<String> {
        index.schema().default_fields().map(|field| field.name.clone()).collect()
    };
    assert_eq!(names(&index), ["title", "body"]);
    let own = Schema::builder().text("title").text("other").default_fields(["title"]);
    let mut index = Index::in_memory(own.build().unwrap());
    index.add_fields([Field::new("body", FieldKind::Text)]).unwrap();
    assert_eq!(names(&index), ["title"]);
}

#[test]
fn who_has_the_index_open_keeps_it_and_follows() {
    let storage = Arc::new(MemoryStorage::new());
    let schema = Schema::builder().text("title").build().unwrap();
    let mut index = Index::options().create_in(storage.clone(), schema.clone()).unwrap();
    commit(&index, &[Document::new().with("title", "jay")]);
    // Another value, as another process has it; and a clone.
    let (other, clone) = (Index::options().open_storage(storage).unwrap(), index.clone());
    let (readers, before) =
        ([index.reader().unwrap(), other.reader().unwrap()], index.searcher().unwrap());
    let info = index.add_fields([Field::new("year", FieldKind::I64)]).unwrap();
    assert_eq!((info.generation, info.documents, info.segments, info.added), (2, 1, 1, 0));
    assert_eq!(before.schema(), &schema);
    let count = |searcher: &Searcher, text: &str| searcher.count(&searcher.parse(text).unwrap());
    assert_eq!(count(&before, "jay").unwrap(), 1);
    assert!(count(&before, "year:1").is_err());
    for reader in &readers {
        reader.refresh().unwrap();
        let searcher = reader.searcher();
        assert_eq!(count(&searcher, "jay -year:1").unwrap(), 1);
    }
    for (year, index) in [(1, &other), (2, &clone), (3, &index)] {
        commit(index, &[Document::new().with("title", "jay").with("year", year)]);
    }
    let found = index.searcher().unwrap();
    assert_eq!((count(&found, "jay").unwrap(), count(&found, "year:[1 TO 3]").unwrap()), (4, 3));
    // An index that lost fields is another.
    let narrow = Index::options().overwrite_in(Arc::new(MemoryStorage::new()), schema);
    commit(&narrow, &[]);
    let mut writer = narrow.writer().unwrap();
    assert_eq!(writer.add_index(&found).unwrap_err().kind(), ErrorKind::Schema);
}

#[test]
fn the_tool_adds_the_fields_of_a_schema_file() {
    let dir = Dir::new();
    dir.write("old.jsonl", "{\"title\":\"A jay\"}\n");
    dir.write("title.toml", "[fields.title]\ntype = \"text\"\n");
    dir.ok(&["index", "t.tp", "old.jsonl", "--schema", "title.toml"]);
    dir.write(
        "more.toml",
        "[fields.year]\ntype = \"i64\"\n[fields.tag]\ntype = \"keyword\"\nmany = true\n",
    );
    let ran = dir.run(&["schema", "add", "t.tp", "more.toml"]);
    assert!(ran.status == 0 && ran.stderr.contains("year, tag"), "{}", ran.stderr);
    dir.write("new.jsonl", "{\"title\":\"A rook\",\"year\":1984,\"tag\":[\"b\",\"a\"]}\n");
    dir.ok(&["index", "t.tp", "new.jsonl", "--append"]);
    assert_eq!(dir.run(&["search", "t.tp", "year:1984", "--count"]).stdout, "1\n");
    assert_eq!(dir.run(&["search", "t.tp", "_missing:tag", "--count"]).stdout, "1\n");
    dir.ok(&["verify", "t.tp"]);
    let exported =
        "{\"title\":\"A jay\"}\n{\"title\":\"A rook\",\"year\":1984,\"tag\":[\"b\",\"a\"]}\n";
    assert_eq!(dir.ok(&["export", "t.tp"]), exported);
    dir.ok(&["merge", "t.tp"]);
    dir.ok(&["verify", "t.tp"]);
    assert_eq!(dir.ok(&["export", "t.tp"]), exported);
    dir.run(&["schema", "add", "t.tp", "more.toml"]).fails_with(&[
        "adding the field 'year'",
        "a name that no field has",
        "more.toml",
    ]);
    // Lines go on being lines, and one segment gets its fields by a merge.
    dir.write("lines.txt", "a jay\n");
    dir.ok(&["index", "lines.tp", "lines.txt"]);
    dir.ok(&["schema", "add", "lines.tp", "more.toml"]);
    dir.ok(&["index", "lines.tp", "lines.txt", "--append"]);
    assert_eq!(dir.run(&["search", "lines.tp", "jay", "--count"]).stdout, "2\n");
    dir.ok(&["index", "one.tp", "lines.txt"]);
    dir.ok(&["schema", "add", "one.tp", "more.toml"]);
    let parts = || dir.ok(&["inspect", "one.tp", "storage"]);
    assert!(!parts().contains("year"), "{}", parts());
    dir.ok(&["merge", "one.tp"]);
    assert!(parts().contains("year"), "{}", parts());
    dir.write("key.toml", "[fields.x]\ntype = \"i64\"\n[index]\nkey = \"x\"\n");
    dir.run(&["schema", "add", "t.tp", "key.toml"]).fails_with(&["key.toml", "'index'", "line 3"]);
    dir.run(&["schema", "add", "none.tp", "more.toml"]).fails_with(&["none.tp"]);
}
