//! What the tool prints as CSV and TSV, read back by it: the same documents.

use super::Dir;
use serde_json::{Value, json};

const SCHEMA: &str = "[fields.title]\ntype = \"text\"\n[fields.code]\ntype = \"keyword\"\n\
    [fields.tags]\ntype = \"keyword\"\nmany = true\n[fields.notes]\ntype = \"text\"\nmany = true\n\
    [fields.n]\ntype = \"i64\"\n[fields.big]\ntype = \"u64\"\n[fields.x]\ntype = \"f64\"\nmany = true\n\
    [fields.price]\ntype = \"decimal\"\nscale = 2\n[fields.day]\ntype = \"date\"\nmany = true\n\
    [fields.new]\ntype = \"bool\"\n[fields.from]\ntype = \"ip\"\n[fields.place]\ntype = \"path\"\n\
    [fields.\"size.width\"]\ntype = \"f64\"\n[fields.\"size.unit\"]\ntype = \"keyword\"\n";

/// Texts that any form of rows may lose.
const HOSTILE: [&str; 32] = [
    "plain",
    "a,b",
    "a\tb",
    "a\nb",
    "a\r\nb",
    "a\rb",
    "\r",
    "\n",
    "\t",
    "\\t",
    "\\",
    "\\\\n",
    "\\N",
    "\\e",
    "C:\\temp\\new",
    "\"quoted\"",
    "\"",
    "\"\"",
    "5\" pipe",
    ",",
    "; ",
    "a; b",
    "NA",
    "null",
    "-",
    " leading",
    "trailing ",
    " \"x\" ",
    "'single'",
    "007",
    "[1,2]",
    "é\u{301}\u{0}\u{FEFF}日本",
];

fn documents() -> Vec<Value> {
    let mut documents = vec![
        json!({"n": -3, "big": u64::MAX, "x": [0.1, 1e300, -2.5e-7, 3.0], "price": -0.05,
            "day": ["2010-12-01T08:26:00.25Z", "-009999-01-01"], "new": true, "from": "2001:db8::1",
            "place": "home/kit\\/chen", "size": {"width": 0.1, "unit": "mm"}}),
        json!({"n": i64::MIN, "price": "92233720368547758.07", "new": false, "from": "10.0.0.1"}),
        json!({"tags": ["one"], "notes": ["a", "b", "c"]}),
        json!({}),
        json!({"title": "last"}),
    ];
    for text in HOSTILE {
        documents.push(json!({"title": text}));
        documents.push(json!({"code": text, "tags": [text, "x", text], "notes": [text]}));
    }
    let all = json!(HOSTILE);
    documents.push(json!({"tags": all, "notes": all}));
    documents
}

fn lines(documents: &[Value]) -> String {
    documents.iter().map(|document| format!("{document}\n")).collect()
}

#[test]
fn rows_of_an_export_are_the_same_documents_again() {
    let dir = Dir::new();
    dir.write("schema.toml", SCHEMA);
    dir.write("a.jsonl", lines(&documents()));
    dir.ok(&["index", "a.tp", "a.jsonl", "--schema", "schema.toml", "--quiet"]);
    let expected = dir.ok(&["export", "a.tp"]);
    assert_eq!(expected.lines().count(), documents().len());
    for format in ["csv", "tsv"] {
        let rows = dir.ok(&["export", "a.tp", "--format", format]);
        let name = format!("rows.{format}");
        dir.write(&name, rows);
        let args = ["index", "b.tp", &name, "--schema", "schema.toml", "--overwrite", "--quiet"];
        dir.ok(&[&args[..], &["--input-format", format]].concat());
        assert_eq!(dir.ok(&["export", "b.tp"]), expected, "{format}");
        let again = dir.ok(&["export", "b.tp", "--format", format]);
        assert_eq!(again, std::fs::read_to_string(dir.0.join(&name)).unwrap(), "{format}");
    }
}

#[test]
fn rows_of_a_search_are_the_same_documents_again() {
    let dir = Dir::new();
    dir.write("schema.toml", SCHEMA);
    let wider = format!("{SCHEMA}[fields.doc]\ntype = \"u64\"\n[fields.score]\ntype = \"f64\"\n");
    dir.write("wider.toml", wider);
    dir.write("a.jsonl", lines(&documents()));
    dir.ok(&["index", "a.tp", "a.jsonl", "--schema", "schema.toml", "--quiet"]);
    let expected: Vec<Value> = dir
        .ok(&["export", "a.tp"])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for format in ["csv", "tsv"] {
        let search = ["search", "a.tp", "*", "--limit", "1000", "--format", format];
        let name = format!("rows.{format}");
        dir.write(&name, dir.ok(&search));
        let args = ["index", "b.tp", &name, "--schema", "wider.toml", "--overwrite", "--quiet"];
        dir.ok(&[&args[..], &["--input-format", format]].concat());
        let found = dir.ok(&["export", "b.tp"]);
        let mut found: Vec<Value> =
            found.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        found.sort_by_key(|document| document["doc"].as_u64());
        for document in &mut found {
            let object = document.as_object_mut().unwrap();
            assert!(object.remove("doc").is_some() && object.remove("score").is_some());
        }
        assert_eq!(found, expected, "{format}");
    }
}

/// A row of a document without values is no empty line, which is no record.
#[test]
fn documents_without_values_are_rows_and_nulls_need_json() {
    let dir = Dir::new();
    dir.write("schema.toml", "[fields.title]\ntype = \"text\"\n");
    dir.write("a.jsonl", "{\"title\":\"x\"}\n{}\n{\"title\":\"y\"}\n");
    dir.ok(&["index", "a.tp", "a.jsonl", "--schema", "schema.toml", "--quiet"]);
    assert_eq!(dir.ok(&["export", "a.tp", "--format", "csv"]), "title,\nx,\n,\ny,\n");
    let tsv = dir.ok(&["export", "a.tp", "--format", "tsv"]);
    assert_eq!(tsv, "title\nx\n\\N\ny\n");
    dir.write("rows.tsv", tsv);
    let index = ["index", "b.tp", "rows.tsv", "--schema", "schema.toml", "--quiet"];
    dir.ok(&[&index[..], &["--input-format", "tsv"]].concat());
    assert_eq!(dir.ok(&["export", "b.tp"]), dir.ok(&["export", "a.tp"]));
    dir.write("nulls.toml", "[fields.title]\ntype = \"text\"\n[index]\nnulls = true\n");
    dir.ok(&["index", "n.tp", "a.jsonl", "--schema", "nulls.toml", "--quiet"]);
    dir.run(&["export", "n.tp", "--format", "csv"]).fails_with(&["--format jsonl", "null"]);
    assert_eq!(dir.ok(&["export", "n.tp"]).lines().count(), 3);
}
