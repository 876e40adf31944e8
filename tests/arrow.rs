//! Record batches of Apache Arrow, as library and tool write them: what a reader of the format finds is what JSON says.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int64Type, TimestampMicrosecondType, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{DataType, TimeUnit};
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::{env, fs, process};
use treepie::arrow::{self, HitTable};
use treepie::facet::FacetRange;
use treepie::schema::{Metric, VectorParams};
use treepie::search::Collapse;
use treepie::{
    Decimal, Document, ErrorKind, Facet, Field, FieldKind, Index, Schema, Searcher, SortKey,
    Timestamp, Value,
};

/// The batches of a stream.
fn read(stream: &[u8]) -> Vec<RecordBatch> {
    let reader = StreamReader::try_new(stream, None).unwrap();
    reader.map(Result::unwrap).collect()
}

/// A cell as JSON has it.
fn cell(column: &dyn Array, row: usize) -> Json {
    if column.is_null(row) {
        return Json::Null;
    }
    match column.data_type() {
        DataType::LargeUtf8 => column.as_string::<i64>().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into(),
        DataType::Float32 => json!(column.as_primitive::<Float32Type>().value(row)),
        DataType::Float64 => json!(column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => column.as_boolean().value(row).into(),
        DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) if &**zone == "UTC" => {
            let micros = column.as_primitive::<TimestampMicrosecondType>().value(row);
            Timestamp::from_micros(micros).unwrap().to_string().into()
        }
        DataType::Decimal128(19, scale) => {
            let unscaled = column.as_primitive::<Decimal128Type>().value(row);
            let decimal = Decimal::new(i64::try_from(unscaled).unwrap(), *scale as u8).unwrap();
            decimal.to_string().into()
        }
        DataType::FixedSizeList(_, _) => {
            let list = column.as_fixed_size_list().value(row);
            (0..list.len()).map(|nth| cell(&list, nth)).collect()
        }
        DataType::List(_) => {
            let list = column.as_list::<i32>().value(row);
            (0..list.len()).map(|nth| cell(&list, nth)).collect()
        }
        other => panic!("no column has {other}"),
    }
}

/// The columns by name, each with its cells.
fn table(batches: &[RecordBatch]) -> Vec<(String, Vec<Json>)> {
    let Some(first) = batches.first() else { return vec![] };
    let names = first.schema_ref().fields().iter().map(|field| field.name().clone());
    let cells = |nth: usize| {
        let of_batch = |batch: &RecordBatch| {
            let column = batch.column(nth).clone();
            (0..batch.num_rows()).map(move |row| cell(&column, row)).collect::<Vec<_>>()
        };
        batches.iter().flat_map(of_batch).collect::<Vec<_>>()
    };
    names.enumerate().map(|(nth, name)| (name, cells(nth))).collect()
}

fn json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::I64(it) => (*it).into(),
        Value::U64(it) => (*it).into(),
        Value::F64(it) => json!(it),
        Value::Bool(it) => (*it).into(),
        other => other.to_text().into_owned().into(),
    }
}

fn as_cell(field: &Field, values: Option<&[Value]>) -> Json {
    match values {
        None | Some([]) => Json::Null,
        Some(values) if field.many => values.iter().map(json).collect(),
        Some(values) => json(&values[0]),
    }
}

const KINDS: [(&str, FieldKind); 9] = [
    ("word", FieldKind::Keyword),
    ("whole", FieldKind::I64),
    ("natural", FieldKind::U64),
    ("part", FieldKind::F64),
    ("is", FieldKind::Bool),
    ("since", FieldKind::Date),
    ("price", FieldKind::Decimal { scale: 2 }),
    ("place", FieldKind::Path { separator: '/' }),
    ("address", FieldKind::Ip),
];

/// Every kind of field, one value each and many, with columns; some documents without, some deleted, in three segments.
fn searcher(n_docs: u64) -> Searcher {
    let mut schema =
        Schema::builder().text("text").field(Field::new("id", FieldKind::U64)).key("id");
    for (name, kind) in KINDS {
        let one = Field::new(name, kind).many(false).column(true);
        let many = Field::new(format!("{name}-s"), kind).many(true).column(true);
        schema = schema.field(one).field(many);
    }
    let index = Index::in_memory(schema.build().unwrap());
    let mut writer = index.writer().unwrap();
    for id in 0..n_docs {
        let n = id as i64 - 20;
        let value = |kind: FieldKind, n: i64| match kind {
            FieldKind::Keyword => format!("w{}", n.rem_euclid(7)).into(),
            FieldKind::Path { .. } => format!("a{}/b{}", n.rem_euclid(3), n.rem_euclid(5)).into(),
            FieldKind::I64 => Value::I64(n << 40),
            FieldKind::U64 => Value::U64(u64::MAX - id),
            FieldKind::F64 => Value::F64(n as f64 / 8.0),
            FieldKind::Bool => Value::Bool(n % 2 == 0),
            FieldKind::Date => Value::Date(Timestamp::from_micros(n * 1_000_007).unwrap()),
            FieldKind::Decimal { scale } => Value::Decimal(Decimal::new(n * 99, scale).unwrap()),
            _ => Value::from(format!("10.0.0.{}", n.rem_euclid(200))),
        };
        let mut document = Document::new().with("id", id).with("text", format!("every d{id}"));
        for (nth, (name, kind)) in KINDS.into_iter().enumerate() {
            if !(id + nth as u64).is_multiple_of(4) {
                document = document.with(name, value(kind, n));
            }
            for of_many in 0..(id + nth as u64) % 3 {
                document = document.with(format!("{name}-s"), value(kind, n + of_many as i64 * 3));
            }
        }
        writer.add(document).unwrap();
        if id == n_docs / 3 || id == n_docs / 2 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    for id in (0..n_docs).step_by(10) {
        writer.delete_key(id).unwrap();
    }
    writer.commit().unwrap();
    index.searcher().unwrap()
}

#[test]
fn hits_are_a_table_of_what_they_have() {
    let searcher = searcher(100);
    let every = searcher.parse("every").unwrap();
    let nothing = searcher.parse("nowhere").unwrap();
    for query in [&every, &nothing] {
        let all = searcher.search(query).limit(1_000);
        let sorted = all.clone().sort([
            SortKey::descending("price"),
            SortKey::ascending("word"),
            SortKey::score(),
        ]);
        let grouped = all.clone().collapse(Collapse::by("since").missing_alone());
        let some = all.clone().fields(["whole-s", "text"]);
        for (search, own) in [
            (all, &[][..]),
            (sorted, &["_sort1", "_sort2", "_sort3"]),
            (grouped, &["_group"]),
            (some, &[]),
        ] {
            let table_of = HitTable::of(&search).unwrap();
            let hits = search.clone().run().unwrap().hits;
            let mut stream = vec![];
            let batch = table_of.batch(&hits);
            arrow::write_stream(&mut stream, &table_of.schema(), [batch]).unwrap();
            let batches = read(&stream);
            assert_eq!(batches[0].schema(), table_of.schema(), "the same whatever is found");
            let columns = table(&batches);
            assert_eq!(columns[0].0, "_doc");
            let names: Vec<_> = columns[2..2 + own.len()].iter().map(|(name, _)| name).collect();
            assert_eq!(names, own);
            for (name, cells) in columns {
                let expected = hits.iter().map(|hit| match &*name {
                    "_doc" => json!(hit.doc.0),
                    "_score" => hit.score.map_or(Json::Null, |score| json!(score)),
                    "_group" => json(hit.group.as_ref().unwrap()),
                    "_sort1" | "_sort2" | "_sort3" => {
                        json(&hit.sort[name[5..].parse::<usize>().unwrap() - 1])
                    }
                    name => {
                        let values = hit.fields.get(name).map(treepie::search::Values::as_slice);
                        as_cell(searcher.schema().field(name).unwrap(), values)
                    }
                });
                assert_eq!(cells, expected.collect::<Vec<_>>(), "{name}");
            }
        }
    }
    let refused = searcher.search(&every).fields(["nope"]);
    assert_eq!(HitTable::of(&refused).unwrap_err().kind(), ErrorKind::Usage);
    // Hits of another search have other values.
    let other = searcher.search(&every).sort([SortKey::ascending("whole")]);
    let hits = searcher.search(&every).sort([SortKey::ascending("word")]).run().unwrap().hits;
    let error = HitTable::of(&other).unwrap().batch(&hits).unwrap_err();
    assert!(error.to_string().contains("values of i64"), "{error}");
    let schema = Schema::builder().text("_score").build().unwrap();
    let index = Index::in_memory(schema);
    index.writer().unwrap().commit().unwrap();
    let searcher = index.searcher().unwrap();
    let error = HitTable::of(&searcher.search(&every)).unwrap_err();
    assert!(error.to_string().contains("the field '_score'"), "{error}");
}

#[test]
fn columns_are_a_table_of_all_documents() {
    for n_docs in [100, 70_000] {
        let searcher = searcher(n_docs);
        let names: Vec<String> =
            KINDS.iter().flat_map(|(name, _)| [name.to_string(), format!("{name}-s")]).collect();
        let fields: Vec<&str> = names.iter().map(String::as_str).collect();
        let columns = arrow::columns(&searcher, &fields).unwrap();
        let schema = columns.schema();
        let mut stream = vec![];
        arrow::write_stream(&mut stream, &schema, columns).unwrap();
        let batches = read(&stream);
        assert_eq!(batches.len(), 3, "one a segment");
        let columns = table(&batches);
        let docs: Vec<_> = searcher.documents().map(Result::unwrap).collect();
        assert_eq!(docs.len() as u64, n_docs - n_docs.div_ceil(10));
        assert_eq!(columns[0].1, docs.iter().map(|doc| json!(doc.0)).collect::<Vec<_>>());
        for (row, doc) in docs.iter().enumerate().step_by(if n_docs > 100 { 97 } else { 1 }) {
            let stored = searcher.document(*doc).unwrap();
            for (name, cells) in &columns[1..] {
                let mut field = searcher.schema().field(name).unwrap().clone();
                let mut values = stored.get(name).map_or(vec![], |it| it.as_slice().to_vec());
                if let FieldKind::Path { .. } = field.kind {
                    let home = |it: &Value| Value::from(it.to_text().split('/').next().unwrap());
                    values.extend(values.iter().map(home).collect::<Vec<_>>());
                    field.many = true;
                }
                let mut expected = as_cell(&field, Some(&values));
                if let Some(list) = expected.as_array_mut().filter(|_| !values.is_empty()) {
                    // Ascending, each once: by what they mean.
                    values.sort_by(compare);
                    values.dedup();
                    *list = values.iter().map(json).collect();
                }
                assert_eq!(cells[row], expected, "{name} of {doc}");
            }
        }
    }
    let searcher = searcher(10);
    for fields in [&["nope"][..], &["text"], &["whole", "whole"]] {
        let error = arrow::columns(&searcher, fields).unwrap_err();
        assert!(error.to_string().contains("keep a column, each once"), "{error}");
    }
}

fn compare(a: &Value, b: &Value) -> std::cmp::Ordering {
    match (a, b) {
        (Value::I64(a), Value::I64(b)) => a.cmp(b),
        (Value::U64(a), Value::U64(b)) => a.cmp(b),
        (Value::F64(a), Value::F64(b)) => a.total_cmp(b),
        (Value::Date(a), Value::Date(b)) => a.cmp(b),
        (Value::Decimal(a), Value::Decimal(b)) => a.unscaled().cmp(&b.unscaled()),
        (Value::Ip(a), Value::Ip(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (a, b) => a.to_text().cmp(&b.to_text()),
    }
}

#[test]
fn facets_are_tables_of_their_buckets() {
    let searcher = searcher(100);
    let every = searcher.parse("every").unwrap();
    let ranges =
        [FacetRange::new(None::<Value>, Some("5")), FacetRange::new(Some("5"), None::<Value>)];
    let facets: [Facet; 5] = [
        Facet::values("word").limit(3).into(),
        Facet::values("price-s").into(),
        Facet::ranges("price", ranges),
        Facet::auto_ranges("since", 4),
        Facet::statistics("price").into(),
    ];
    let search = facets.into_iter().fold(searcher.search(&every), |it, facet| it.with_facet(facet));
    let counted = search.run().unwrap().facets;
    for counts in &counted[..4] {
        let batch = arrow::facet(searcher.schema(), counts).unwrap();
        let mut stream = vec![];
        arrow::write_stream(&mut stream, &batch.schema(), [Ok(batch)]).unwrap();
        for (name, cells) in table(&read(&stream)) {
            let end = |value: &Option<Value>| value.as_ref().map_or(Json::Null, json);
            let expected = counts.buckets.iter().map(|bucket| match &*name {
                "value" => json(&bucket.value),
                "from" => end(&bucket.from),
                "to" => end(&bucket.to),
                _ => bucket.count.into(),
            });
            assert_eq!(cells, expected.collect::<Vec<_>>(), "{name} of {}", counts.field);
        }
    }
    // An end between two values stands for the upper one.
    let between = [FacetRange::new(Some("4.005"), Some("5.001"))];
    let counted =
        searcher.search(&every).with_facet(Facet::ranges("price", between)).run().unwrap().facets;
    let batch = arrow::facet(searcher.schema(), &counted[0]).unwrap();
    let mut stream = vec![];
    arrow::write_stream(&mut stream, &batch.schema(), [Ok(batch)]).unwrap();
    let cells: Vec<_> =
        table(&read(&stream)).into_iter().map(|(_, cells)| cells[0].clone()).collect();
    assert_eq!(cells[..2], [json!("4.01"), json!("5.01")]);
    let search = searcher.search(&every).with_facet(Facet::statistics("price"));
    let counted = search.run().unwrap().facets;
    let error = arrow::facet(searcher.schema(), &counted[0]).unwrap_err();
    assert!(error.to_string().contains("statistics of 'price'"), "{error}");
}

/// A directory that goes when this does.
struct Dir(PathBuf);

impl Dir {
    fn new() -> Self {
        let dir = env::temp_dir().join(format!("treepie-arrow-{}", process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir(&dir).unwrap();
        Dir(dir)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_treepie"));
        command.current_dir(&self.0).args(arguments).output().unwrap()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_tool_prints_the_hits_that_json_has() {
    let dir = Dir::new();
    let lines = [
        r#"{"brand":["acme","bolt"],"price":3,"name":"red pan","since":"2020-05-01"}"#,
        r#"{"brand":["acme"],"price":9.5,"name":"red pot"}"#,
        r#"{"price":4,"name":"red lid","since":"2021-01-31T08:00:00Z"}"#,
    ];
    fs::write(dir.0.join("a.jsonl"), lines.join("\n")).unwrap();
    assert!(dir.run(&["index", "t.tp", "a.jsonl", "--quiet"]).status.success());
    let search = |more: &[&str]| dir.run(&[&["search", "t.tp"], more].concat());
    for more in [
        &["red OR pot"][..],
        &["red", "--sort", "price:desc,since", "--limit", "2"],
        &["red", "--fields", "price,name", "--collapse", "price"],
    ] {
        let json = search(&[more, &["--format", "json", "--no-highlight"]].concat());
        let page: Json = serde_json::from_slice(&json.stdout).unwrap();
        let hits = page["hits"].as_array().unwrap();
        let columns = table(&read(&search(&[more, &["--format", "arrow"]].concat()).stdout));
        assert!(columns.len() > 3, "{columns:?}");
        for (name, cells) in columns {
            let expected = hits.iter().map(|hit| match &*name {
                "_doc" | "_score" | "_group" => hit[&name[1..]].clone(),
                "_sort1" | "_sort2" => hit["sort"][name[5..].parse::<usize>().unwrap() - 1].clone(),
                name => hit["fields"].get(name).cloned().unwrap_or_default(),
            });
            // Numbers of 32 bits and of 64 bits, and decimals as texts, mean the same.
            let number = |it: &Json| match it {
                Json::Number(number) => json!(number.as_f64().unwrap() as f32),
                Json::String(text) => match text.parse::<f32>() {
                    Ok(number) => json!(number),
                    Err(_) => it.clone(),
                },
                other => other.clone(),
            };
            let expected: Vec<_> = expected.map(|it| number(&it)).collect();
            assert_eq!(cells.iter().map(number).collect::<Vec<_>>(), expected, "{name}, {more:?}");
        }
    }
    let of_facet = ["*", "--facet", "brand", "--limit", "0", "--format", "arrow"];
    let columns = table(&read(&search(&of_facet).stdout));
    let expected = [("value", json!(["acme", "bolt"])), ("count", json!([2, 1]))];
    assert_eq!(columns.len(), 2);
    for ((name, cells), (expected_name, expected)) in columns.into_iter().zip(expected) {
        assert_eq!((&*name, Json::from(cells)), (expected_name, expected));
    }
    let nothing = search(&["nowhere", "--format", "arrow"]);
    assert_eq!((nothing.status.code(), read(&nothing.stdout)[0].num_rows()), (Some(1), 0));
    for (more, words) in [
        (&["*", "--count"][..], "hits or the buckets of a facet"),
        (&["*", "--facet", "brand", "--facet", "price", "--limit", "0"], "several tables"),
        (&["*", "--facet", "brand"], "do not fit into one table"),
        (&["*", "--explain"], "text, compact or json only"),
    ] {
        let ran = search(&[more, &["--format", "arrow"]].concat());
        let said = String::from_utf8(ran.stderr).unwrap();
        assert!(ran.status.code() == Some(2) && said.contains(words), "{said}");
        assert!(ran.stdout.is_empty());
    }
}

#[test]
fn vectors_are_lists_of_a_fixed_size() {
    let kind = FieldKind::Vector(VectorParams::new(2, Metric::L2));
    let schema = Schema::builder()
        .text("title")
        .field(Field::new("one", kind))
        .field(Field::new("many", kind).many(true))
        .build()
        .unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("title", "a").with("one", [1.0, 0.5])).unwrap();
    writer
        .add(Document::new().with("title", "a").with("many", [3.0, 4.0]).with("many", [0.0, 0.0]))
        .unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("a").unwrap();
    let table_of = |fields: Option<&[&str]>| {
        let search = searcher.search(&query);
        let search = fields.iter().fold(search, |search, it| search.fields(it.iter().copied()));
        let table = HitTable::of(&search).unwrap();
        let batch = table.batch(&search.run().unwrap().hits).unwrap();
        let mut stream = vec![];
        arrow::write_stream(&mut stream, &table.schema(), [Ok(batch)]).unwrap();
        read(&stream)
    };
    let batches = table_of(Some(&["one", "many"]));
    let column = batches[0].schema_ref().field_with_name("one").unwrap().data_type().clone();
    assert!(matches!(column, DataType::FixedSizeList(_, 2)), "{column}");
    let columns = table(&batches);
    assert_eq!(columns[2], ("one".into(), vec![json!([1.0, 0.5]), Json::Null]));
    assert_eq!(columns[3], ("many".into(), vec![Json::Null, json!([[3.0, 4.0], [0.0, 0.0]])]));
    let names: Vec<_> = table(&table_of(None)).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["_doc", "_score", "title"]);
}
