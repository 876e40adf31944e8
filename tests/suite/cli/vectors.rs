//! Vectors on their way in and out of the tool: lists in JSON, base64, cells, and files of rows.

use super::Dir;
use serde_json::{Value, json};

const SCHEMA: &str = "[fields.title]\ntype = \"text\"\n[fields.v]\ntype = \"vector\"\ndims = 2\n\
    [fields.w]\ntype = \"vector\"\ndims = 2\nmetric = \"l2\"\nmany = true\n";

fn dir() -> Dir {
    let dir = Dir::new();
    dir.write("schema.toml", SCHEMA);
    dir
}

/// Indexes an input anew and gives its documents.
fn indexed(dir: &Dir, input: &str, more: &[&str]) -> Vec<Value> {
    let arguments = ["index", "t.tp", input, "--schema", "schema.toml", "--overwrite", "--quiet"];
    dir.ok(&[&arguments, more].concat());
    exported(dir, "t.tp")
}

fn exported(dir: &Dir, index: &str) -> Vec<Value> {
    let lines = dir.ok(&["export", index]);
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lists_and_base64_in_json_are_vectors_and_come_back() {
    let dir = dir();
    let documents = [
        json!({"title": "a", "v": [1, -2.5e-1], "w": [[0.1, 1e-45], [0, 0]]}),
        json!({"title": "b", "v": null, "w": []}),
        json!({"title": "c", "v": "AACAPwAAAMA=", "w": [3, 4]}),
        json!({"title": "d", "w": ["AACAPwAAAMA", [5, 6]]}),
    ];
    dir.write("in.jsonl", documents.map(|it| it.to_string()).join("\n"));
    let found = indexed(&dir, "in.jsonl", &[]);
    let expected = [
        json!({"title": "a", "v": [1.0, -0.25], "w": [[0.1, 1e-45], [0.0, 0.0]]}),
        json!({"title": "b"}),
        json!({"title": "c", "v": [1.0, -2.0], "w": [[3.0, 4.0]]}),
        json!({"title": "d", "w": [[1.0, -2.0], [5.0, 6.0]]}),
    ];
    assert_eq!(found, expected);

    dir.write("out.jsonl", dir.ok(&["export", "t.tp"]));
    dir.write("printed.toml", dir.ok(&["inspect", "t.tp", "schema"]));
    dir.ok(&["index", "u.tp", "out.jsonl", "--schema", "printed.toml", "--quiet"]);
    assert_eq!(exported(&dir, "u.tp"), expected);
    for format in ["csv", "tsv"] {
        let input = format!("out.{format}");
        dir.write(&input, dir.ok(&["export", "t.tp", "--format", format]));
        assert_eq!(indexed(&dir, &input, &[]), expected, "{format}");
        dir.ok(&["index", "t.tp", "in.jsonl", "--schema", "schema.toml", "--overwrite", "--quiet"]);
    }
    dir.ok(&["verify", "t.tp"]);
    let storage = dir.ok(&["inspect", "t.tp", "storage"]);
    assert!(storage.contains("vectors") && storage.contains("documents of vectors"), "{storage}");
}

#[test]
fn a_text_of_several_vectors_is_split() {
    let dir = Dir::new();
    let schema = |separator: &str| SCHEMA.to_owned() + &format!("split = \"{separator}\"\n");
    dir.write("schema.toml", schema(";"));
    dir.write("in.csv", "title,w\na,\"[0.1, 1e-45]; [3,4];\"\nb,AACAPwAAAMA=;AACAPwAAAMA=\nc,\n");
    let expected = [
        json!({"title": "a", "w": [[0.1, 1e-45], [3.0, 4.0]]}),
        json!({"title": "b", "w": [[1.0, -2.0], [1.0, -2.0]]}),
        json!({"title": "c"}),
    ];
    assert_eq!(indexed(&dir, "in.csv", &[]), expected);
    dir.write("in.jsonl", r#"{"title": "a", "w": "[0.1, 1e-45];[3,4]"}"#);
    assert_eq!(indexed(&dir, "in.jsonl", &[])[..], expected[..1]);
    dir.write("in.jsonl", r#"{"title": "a", "w": [[0.1, 1e-45], [3, 4]]}"#);
    assert_eq!(indexed(&dir, "in.jsonl", &[])[..], expected[..1]);
    let index = ["index", "u.tp", "in.csv", "--schema", "schema.toml", "--quiet"];
    dir.write("in.csv", "title,w\na,\"[1,2];[3\"\n");
    dir.run(&index).fails_with(&["the vector field 'w'", "found '[3'", "line 2"]);
    for separator in [",", " ", "=", "]", "+"] {
        dir.write("schema.toml", schema(separator));
        dir.run(&index).fails_with(&["in no list of numbers and no base64 for 'split'"]);
    }
}

#[test]
fn inspect_says_how_many_vectors_there_are_and_how_long() {
    let dir = dir();
    dir.write(
        "a.jsonl",
        "{\"v\": [3, 4]}\n{\"title\": \"b\", \"w\": [[0, 0], [0, 2]]}\n{\"w\": [1, 0]}\n",
    );
    dir.write("b.jsonl", "{\"v\": [0, 0.1]}\n{\"v\": [0, 1e-10]}\n{\"title\": \"c\"}\n");
    dir.ok(&["index", "t.tp", "a.jsonl", "--schema", "schema.toml", "--quiet"]);
    dir.ok(&["index", "t.tp", "b.jsonl", "--append", "--quiet"]);
    let inspect = |more: &[&str]| dir.run(&[&["inspect", "t.tp", "vectors"], more].concat());
    let rows = inspect(&["--format", "json"]).json();
    let segments = dir.run(&["inspect", "t.tp", "--format", "json"]).json();
    let expected = [
        // Field, segment, metric, documents, with, without, vectors, bytes, the shortest, the longest.
        json!(["v", 0, "cosine", 3, 1, 2, 1, 28, 5.0, 5.0]),
        json!(["v", 1, "cosine", 3, 2, 1, 2, 40, 1e-10, 0.1]),
        json!(["w", 0, "l2", 3, 2, 1, 3, 52, 0.0, 2.0]),
        json!(["w", 1, "l2", 3, 0, 3, 0, 16, null, null]),
    ];
    let names = ["field", "segment", "metric", "documents", "with", "without", "vectors", "bytes"];
    let names = [&names[..], &["shortest", "longest"]].concat();
    for (row, expected) in rows.as_array().unwrap().iter().zip(&expected) {
        assert_eq!(
            (&row["dims"], &row["nodes"], &row["curve"]),
            (&json!(2), &json!(null), &json!(null))
        );
        for (name, expected) in names.iter().zip(expected.as_array().unwrap()) {
            match *name {
                "segment" => {
                    let nth = expected.as_u64().unwrap() as usize;
                    assert_eq!(row["segment"], segments[nth]["segment"], "{row}");
                }
                name => assert_eq!(row[name], *expected, "{name} of {row}"),
            }
        }
    }
    assert_eq!(rows.as_array().unwrap().len(), expected.len());
    let of_w = inspect(&["--field", "w", "--format", "tsv"]).stdout;
    assert!(of_w.lines().count() == 3 && of_w.lines().skip(1).all(|line| line.starts_with("w\t")));
    inspect(&["--field", "title"])
        .fails_with(&["a field of vectors, found the text field 'title'"]);
    inspect(&["--field", "x"]).fails_with(&["'x'"]);

    // A field that was added later has none in the segments before.
    dir.write("more.toml", "[fields.x]\ntype = \"vector\"\ndims = 1\n");
    dir.ok(&["schema", "add", "t.tp", "more.toml"]);
    let rows = inspect(&["--field", "x", "--format", "json"]).json();
    assert_eq!((&rows[1]["vectors"], &rows[1]["bytes"]), (&json!(0), &json!(0)));
    dir.write("text.toml", "[fields.t]\ntype = \"text\"\n");
    dir.write("text.jsonl", "{\"t\": \"a\"}\n");
    dir.ok(&["index", "u.tp", "text.jsonl", "--schema", "text.toml", "--quiet"]);
    assert_eq!(dir.run(&["inspect", "u.tp", "vectors", "--format", "json"]).json(), json!([]));
}

#[test]
fn inspect_shows_the_graph_over_vectors() {
    let dir = dir();
    // As many as a graph is made from.
    let row = |n: i32| format!("{{\"w\": [{}, {}]}}\n", n * 37 % 4_999, n * 91 % 5_003);
    dir.write("many.jsonl", (0..4_500).map(row).collect::<String>());
    dir.ok(&["index", "t.tp", "many.jsonl", "--schema", "schema.toml", "--quiet"]);
    let inspect = ["inspect", "t.tp", "vectors", "--field", "w", "--format"];
    let row = &dir.run(&[&inspect[..], &["json"]].concat()).json()[0];
    assert_eq!((&row["vectors"], &row["nodes"]), (&json!(4_500), &json!(4_500)));
    let [mean, most] = ["links_mean", "links_max"].map(|name| row[name].as_f64().unwrap());
    assert!(1.0 < mean && mean <= most && most <= 64.0, "{row}");
    let storage = dir.run(&["inspect", "t.tp", "storage", "--format", "json"]).json();
    let of_graph = |part: &&Value| {
        let name = part["part"].as_str().unwrap_or_default();
        part["field"] == "w" && !["vectors", "documents of vectors"].contains(&name)
    };
    let of_graph = storage.as_array().unwrap().iter().filter(of_graph);
    let sum: u64 = of_graph.map(|part| part["bytes"].as_u64().unwrap()).sum();
    let bytes = row["graph_bytes"].as_u64().unwrap();
    assert!(bytes > 4_500 * 8 && bytes <= sum, "{bytes} {sum}");
    let curve = row["curve"].as_array().unwrap();
    let of = |name: &str| curve.iter().map(|it| it[name].as_f64().unwrap()).collect::<Vec<_>>();
    assert!(of("ef").is_sorted() && of("distances").is_sorted(), "{row}");
    assert!(of("recall").iter().all(|recall| (0.0..=1.0).contains(recall)), "{row}");
    let last = of("recall")[curve.len() - 1];
    assert!(last > 0.9, "{row}");
    let text = dir.ok(&[&inspect[..], &["text"]].concat());
    assert!(text.trim_end().ends_with(&format!("{} {last}", of("ef")[curve.len() - 1])), "{text}");
}

#[test]
fn hits_have_vectors_where_these_are_named() {
    let dir = dir();
    dir.write("in.jsonl", r#"{"title": "a", "v": [1, 2], "w": [[3, 4]]}"#);
    indexed(&dir, "in.jsonl", &[]);
    let hit = |more: &[&str]| {
        let page = dir.ok(&[&["search", "t.tp", "a", "--format", "json"], more].concat());
        serde_json::from_str::<Value>(&page).unwrap()["hits"][0]["fields"].clone()
    };
    assert_eq!(hit(&[]), json!({"title": "a"}));
    assert_eq!(hit(&["--fields", "v,w"]), json!({"v": [1.0, 2.0], "w": [[3.0, 4.0]]}));
    let rows = dir.ok(&["search", "t.tp", "a", "--format", "csv"]);
    assert!(rows.starts_with("doc,score,title\n"), "{rows}");
    let rows = dir.ok(&["search", "t.tp", "a", "--format", "csv", "--fields", "w,title"]);
    assert!(rows.ends_with("\"[3.0,4.0]\",a\n"), "{rows}");
    dir.ok(&["search", "t.tp", "a", "--fields", "title,v"]);
    assert_eq!(dir.count("v:*"), 1);
}

#[test]
fn what_is_no_vector_is_told_with_its_line() {
    let dir = dir();
    for (line, words) in [
        (r#"{"title": "x", "v": [1]}"#, "a vector of 2 numbers, found one of 1"),
        (r#"{"title": "x", "v": [1, 2, 3]}"#, "found one of 3"),
        (r#"{"title": "x", "v": [0, 0]}"#, "a direction"),
        (r#"{"title": "x", "v": [1, 1e999]}"#, "found inf, number 2 of 2"),
        (r#"{"title": "x", "v": [1, "2"]}"#, "number 2 of it"),
        (r#"{"title": "x", "v": [1, null]}"#, "found 'null', number 2"),
        (r#"{"title": "x", "v": [1, [2]]}"#, "number 2 of it"),
        (r#"{"title": "x", "v": [[1, 2]]}"#, "expected one value, found a list"),
        (r#"{"title": "x", "v": [[1, 2], [1, 2]]}"#, "expected one value, found a list"),
        (r#"{"title": "x", "w": [[1, 2], 3]}"#, "a list of 2 numbers"),
        (r#"{"title": "x", "w": [[1, 2], [3]]}"#, "found one of 1"),
        (r#"{"title": "x", "v": "AACAPw=="}"#, "or base64 of 8 bytes, 4 for each, found 4 bytes"),
        (r#"{"title": "x", "v": "red pan"}"#, "found 'red pan'"),
        (r#"{"title": "x", "v": 7}"#, "a list of 2 numbers, or base64"),
        (r#"{"title": "x", "v": true}"#, "a list of 2 numbers, or base64"),
        (r#"{"title": "x", "v": {"a": 1}}"#, "a list of numbers, or base64, found an object"),
        (r#"{"title": [1, 2], "v": [1, 2]}"#, "'title'"),
    ] {
        dir.write("in.jsonl", format!("{{\"title\": \"first\"}}\n{line}\n"));
        let ran = dir.run(&["index", "t.tp", "in.jsonl", "--schema", "schema.toml"]);
        ran.fails_with(&[words, "line 2", "in.jsonl"]);
        dir.run(&["search", "t.tp", "*"]).fails_with(&["t.tp"]);
        let skipping = ["index", "t.tp", "in.jsonl", "--schema", "schema.toml", "--skip-bad-lines"];
        let ran = dir.run(&[&skipping[..], &["--overwrite"]].concat());
        assert_eq!(ran.status, 0, "{line}: {}", ran.stderr);
        assert!(ran.stderr.contains("1 bad line left out"), "{}", ran.stderr);
        std::fs::remove_dir_all(dir.path("t.tp")).unwrap();
    }
}

fn npy(shape: &str, numbers: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
    let len = (header.len() as u16).to_le_bytes();
    let numbers: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    [b"\x93NUMPY\x01\x00", &len[..], header.as_bytes(), &numbers].concat()
}

#[test]
fn rows_of_files_go_with_documents_in_their_order() {
    let dir = dir();
    dir.write("a.jsonl", "{\"title\": \"a\"}\n{\"title\": \"b\"}\n");
    dir.write("b.csv", "title\nc\n");
    dir.write("v.npy", npy("(3, 2)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let row = |numbers: [f32; 2]| {
        [&2i32.to_le_bytes()[..], &numbers.map(f32::to_le_bytes).concat()].concat()
    };
    dir.write("w.fvecs", [row([7.0, 8.0]), row([0.0, 0.5]), row([9.0, 9.5])].concat());
    let files = ["--vectors", "v=v.npy", "--vectors", "w=w.fvecs"];
    let found = indexed(&dir, "a.jsonl", &[&["b.csv"], &files[..]].concat());
    let expected = [
        json!({"title": "a", "v": [1.0, 2.0], "w": [[7.0, 8.0]]}),
        json!({"title": "b", "v": [3.0, 4.0], "w": [[0.0, 0.5]]}),
        json!({"title": "c", "v": [5.0, 6.0], "w": [[9.0, 9.5]]}),
    ];
    assert_eq!(found, expected);
    dir.ok(&[&["index", "t.tp", "a.jsonl", "b.csv", "--append"], &files[..]].concat());
    assert_eq!(exported(&dir, "t.tp"), [expected.clone(), expected].concat());

    // A document that is left out has its row, too.
    dir.write("bad.jsonl", "{\"title\": \"a\"}\n{\"titel\": \"b\"}\n{\"title\": \"c\"}\n");
    let found = indexed(&dir, "bad.jsonl", &[&files[..2], &["--skip-bad-lines"]].concat());
    assert_eq!(found[1], json!({"title": "c", "v": [5.0, 6.0]}));
}

#[test]
fn files_that_do_not_fit_leave_no_index_behind() {
    let dir = dir();
    dir.write("two.jsonl", "{\"title\": \"a\"}\n{\"title\": \"b\"}\n");
    dir.write("own.jsonl", "{\"title\": \"a\", \"v\": [1, 2]}\n{\"title\": \"b\"}\n");
    dir.write("lines.txt", "a\nb\n");
    dir.write("one.npy", npy("(1, 2)", &[1.0, 2.0]));
    dir.write("good.npy", npy("(2, 2)", &[1.0, 2.0, 3.0, 4.0]));
    dir.write("three.npy", npy("(3, 2)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    dir.write("short.npy", npy("(2, 2)", &[1.0, 2.0, 3.0]));
    dir.write("wide.npy", npy("(2, 3)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    dir.write("flat.npy", npy("(4,)", &[1.0, 2.0, 3.0, 4.0]));
    dir.write("nan.npy", npy("(2, 2)", &[1.0, 2.0, 3.0, f32::NAN]));
    dir.write("zero.npy", npy("(2, 2)", &[1.0, 2.0, 0.0, 0.0]));
    dir.write("cut.fvecs", [&2i32.to_le_bytes()[..], &1f32.to_le_bytes()].concat());
    dir.write("text.npy", "1.0,2.0\n3.0,4.0\n");
    let with = |from: &str, to: &str| {
        let bytes = npy("(2, 2)", &[1.0, 2.0, 3.0, 4.0]);
        let at = bytes.windows(from.len()).position(|it| it == from.as_bytes()).unwrap();
        [&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat()
    };
    dir.write("whole.npy", with("<f4", "<i4"));
    dir.write("columns.npy", with("False", "True "));
    let row = [&2i32.to_le_bytes()[..], &[1f32, 2.0].map(f32::to_le_bytes).concat()].concat();
    dir.write("many.fvecs", row.repeat(3));
    dir.write("few.fvecs", &row);
    dir.write("other.fvecs", [&3i32.to_le_bytes()[..], &[0; 12]].concat());
    for (input, vectors, words) in [
        ("two.jsonl", "v=one.npy", &["one.npy", "found 1 rows, and more documents"][..]),
        ("two.jsonl", "v=three.npy", &["three.npy", "each of 2 documents, found 3 rows"]),
        ("two.jsonl", "v=short.npy", &["short.npy", "bytes, as the header says"]),
        ("two.jsonl", "v=wide.npy", &["wide.npy", "rows of 2 numbers", "rows of 3"]),
        ("two.jsonl", "v=flat.npy", &["flat.npy", "the shape (4,)"]),
        ("two.jsonl", "v=nan.npy", &["nan.npy", "row 2", "NaN, number 2 of 2"]),
        ("two.jsonl", "v=whole.npy", &["whole.npy", "|u1 or |b1, found <i4"]),
        ("two.jsonl", "v=columns.npy", &["columns.npy", "column by column (fortran_order)"]),
        ("two.jsonl", "v=many.fvecs", &["many.fvecs", "each of 2 documents, found more rows"]),
        ("two.jsonl", "v=few.fvecs", &["few.fvecs", "found 1 rows, and more documents"]),
        ("two.jsonl", "v=other.fvecs", &["other.fvecs", "row 1", "2 numbers", "found 3"]),
        ("two.jsonl", "v=zero.npy", &["two.jsonl", "a direction", "line 2"]),
        ("two.jsonl", "v=cut.fvecs", &["cut.fvecs", "row 1", "expected 12 bytes, found 8"]),
        ("two.jsonl", "v=text.npy", &["text.npy", "a .npy file"]),
        ("two.jsonl", "v=none.npy", &["none.npy", "expected a file, found nothing"]),
        (
            "two.jsonl",
            "title=good.npy",
            &["a vector field of the schema, found the text field 'title'"],
        ),
        ("two.jsonl", "x=good.npy", &["found 'x'"]),
        ("two.jsonl", "good.npy", &["expected FIELD=FILE"]),
        ("own.jsonl", "v=good.npy", &["own.jsonl", "line 1", "a second one"]),
        ("lines.txt", "v=good.npy", &["lines.txt"]),
    ] {
        let arguments = ["index", "t.tp", input, "--schema", "schema.toml", "--vectors", vectors];
        let ran = dir.run(&arguments);
        assert_eq!(ran.status, 2, "{vectors}: {}{}", ran.stdout, ran.stderr);
        for word in words {
            assert!(ran.stderr.contains(word), "{vectors}: no {word:?} in {}", ran.stderr);
        }
        assert!(!dir.path("t.tp").exists(), "{vectors}");
    }
    let arguments = ["index", "t.tp", "two.jsonl", "--schema", "schema.toml", "--quiet"];
    dir.ok(&[&arguments[..], &["--vectors", "v=good.npy"]].concat());
    let append = ["index", "t.tp", "two.jsonl", "--append", "--vectors", "v=one.npy"];
    assert_eq!(dir.run(&append).status, 2);
    assert_eq!(exported(&dir, "t.tp").len(), 2, "nothing was added");
}

#[test]
fn a_list_of_numbers_is_not_guessed_to_be_a_vector() {
    let dir = Dir::new();
    dir.write("in.jsonl", "{\"v\": [0.5, 0.25]}\n{\"v\": [0.75, 1.5]}\n");
    let schema = dir.ok(&["schema", "infer", "in.jsonl"]);
    assert!(schema.contains("many = true") && !schema.contains("vector"), "{schema}");
}

#[test]
fn fields_of_vectors_can_be_added_later() {
    let dir = Dir::new();
    dir.write("schema.toml", "[fields.title]\ntype = \"text\"\n");
    dir.write("in.jsonl", "{\"title\": \"a\"}\n");
    dir.ok(&["index", "t.tp", "in.jsonl", "--schema", "schema.toml", "--quiet"]);
    dir.write("more.toml", "[fields.v]\ntype = \"vector\"\ndims = 2\n");
    dir.ok(&["schema", "add", "t.tp", "more.toml"]);
    dir.write("in.jsonl", "{\"title\": \"b\", \"v\": [1, 2]}\n");
    dir.ok(&["index", "t.tp", "in.jsonl", "--append", "--quiet"]);
    let expected = [json!({"title": "a"}), json!({"title": "b", "v": [1.0, 2.0]})];
    assert_eq!(exported(&dir, "t.tp"), expected);
    dir.ok(&["merge", "t.tp"]);
    assert_eq!(exported(&dir, "t.tp"), expected);
    dir.ok(&["verify", "t.tp"]);
    assert_eq!((dir.count("v:*"), dir.count("_missing:v")), (1, 1));
}

#[test]
fn fields_keep_numbers_of_fewer_bits() {
    let dir = Dir::new();
    let field = |name: &str, dims, values| {
        format!(
            "[fields.{name}]\ntype = \"vector\"\ndims = {dims}\nmetric = \"l2\"\nvalues = \"{values}\"\n"
        )
    };
    dir.write("schema.toml", field("h", 2, "f16") + &field("w", 2, "i8") + &field("b", 10, "bits"));
    let bits = json!([1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
    let documents = [
        json!({"h": [0.1, 1], "w": [-128, 127], "b": [1, 0, 0, 1, 1, 1, 1, 0, 0, 1]}),
        json!({"h": "ADwAwA==", "w": "gH8=", "b": "nkA="}),
    ];
    dir.write("in.jsonl", documents.map(|it| it.to_string()).join("\n"));
    let expected = [
        json!({"h": [0.099975586, 1.0], "w": [-128.0, 127.0], "b": bits}),
        json!({"h": [1.0, -2.0], "w": [-128.0, 127.0], "b": bits}),
    ];
    assert_eq!(indexed(&dir, "in.jsonl", &[]), expected);
    for format in ["jsonl", "csv"] {
        let input = format!("out.{format}");
        dir.write(&input, dir.ok(&["export", "t.tp", "--format", format]));
        dir.write("printed.toml", dir.ok(&["inspect", "t.tp", "schema"]));
        let index =
            ["index", "u.tp", &*input, "--schema", "printed.toml", "--overwrite", "--quiet"];
        dir.ok(&index);
        assert_eq!(exported(&dir, "u.tp"), expected, "{format}");
    }
    dir.ok(&["verify", "t.tp"]);
    let rows = dir.run(&["inspect", "t.tp", "vectors", "--format", "json"]).json();
    let of = |nth: usize| (rows[nth]["values"].clone(), rows[nth]["bytes"].clone());
    let bytes = |of_row: u64| json!(16 + 2 * (of_row + 4));
    assert_eq!(
        [of(0), of(1), of(2)],
        [(json!("f16"), bytes(4)), (json!("i8"), bytes(2)), (json!("bits"), bytes(2)),]
    );
    // Bits are asked about by those of a list, and by their distance.
    let hit =
        dir.run(&["search", "t.tp", "*", "--knn", "b=[1,0,0,1,1,1,1,0,1,0]:1", "--format", "json"]);
    assert_eq!(hit.json()["hits"][0]["score"].as_f64().unwrap() as f32, 1.0 / 3.0);

    dir.write("one.jsonl", "{}\n{}\n");
    let table = |descr: &str, columns: usize, bytes: &[u8]| {
        let header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2, {columns}), }}\n");
        let len = (header.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &len[..], header.as_bytes(), bytes].concat()
    };
    dir.write("w.npy", table("|i1", 2, &[0x80, 0x7F, 1, 2]));
    dir.write("b.npy", table("|u1", 2, &[0x9E, 0x40, 0xFF, 0xFF]));
    let files = ["--vectors", "w=w.npy", "--vectors", "b=b.npy"];
    let found = indexed(&dir, "one.jsonl", &files);
    assert_eq!(found[0], json!({"w": [-128.0, 127.0], "b": bits}));
    assert_eq!(found[1], json!({"w": [1.0, 2.0], "b": vec![1.0; 10]}));
    let index = ["index", "x.tp", "one.jsonl", "--schema", "schema.toml", "--quiet", "--vectors"];
    dir.run(&[&index[..], &["w=b.npy"]].concat())
        .fails_with(&["b.npy", "|i1, which values = \"i8\" of the schema takes, found |u1"]);
    for (line, words) in [
        (r#"{"w": [1, 0.5]}"#, "whole numbers from -128 to 127, found 0.5, number 2 of 2"),
        (r#"{"h": [1, 1e6]}"#, "65504, as 16 bits have them, found 1000000, number 2 of 2"),
        (r#"{"b": [0, 0, 0, 0, 0, 0, 0, 0, 0, 2]}"#, "0 or 1, found 2, number 10 of 10"),
        (r#"{"b": "AACAPw=="}"#, "base64 of 2 bytes, with 8 in each, found 4 bytes"),
    ] {
        dir.write("bad.jsonl", format!("{{}}\n{line}\n"));
        dir.run(&["index", "x.tp", "bad.jsonl", "--schema", "schema.toml", "--quiet"])
            .fails_with(&[words, "line 2"]);
    }
}
