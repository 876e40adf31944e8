//! `bench`, `eval` and what a disk does.

use super::Dir;
use serde_json::{Value, json};
use std::fs;

#[test]
fn bench_prints_a_line_per_query() {
    let dir = Dir::with_titles();
    dir.write("q.txt", "paris\n{\"query\": \"+history +spain\", \"tags\": []}\n");
    let lines = dir.ok(&["bench", "t.tp", "--queries", "q.txt", "--passes", "3"]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let hits: Vec<_> = lines.iter().map(|line| line["hits"].as_u64().unwrap()).collect();
    assert_eq!(hits, [2, 1]);
    for line in lines {
        assert_eq!(line["command"], "COUNT");
        assert_eq!(line["top_score"], Value::Null);
        let (least, median) =
            (line["us_min"].as_f64().unwrap(), line["us_median"].as_f64().unwrap());
        assert!(0.0 < least && least <= median, "{line}");
    }
}

#[test]
fn bench_finds_the_best_with_and_without_counting() {
    let dir = Dir::with_titles();
    dir.write("q.txt", "film paris\nabsent\n");
    let commands = "COUNT,TOP_10,TOP_100,TOP_1000,TOP_10_COUNT";
    let lines = dir.ok(&["bench", "t.tp", "--queries", "q.txt", "--commands", commands]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let page = dir.run(&["search", "t.tp", "film paris", "--format", "json"]).json();
    let best = &page["hits"][0]["score"];
    assert!(best.as_f64().unwrap() > 0.0);
    let expected = [
        ("COUNT", 3, &Value::Null),
        ("TOP_10", 3, best),
        ("TOP_100", 3, best),
        ("TOP_1000", 3, best),
        ("TOP_10_COUNT", 3, best),
    ];
    for ((name, hits, top_score), lines) in expected.into_iter().zip(lines.chunks(2)) {
        assert_eq!((&lines[0]["command"], &lines[0]["hits"]), (&json!(name), &json!(hits)));
        assert_eq!(&lines[0]["top_score"], top_score);
        assert_eq!((&lines[1]["hits"], &lines[1]["top_score"]), (&json!(0), &Value::Null));
    }
}

#[test]
fn bench_tells_how_far_estimates_are_off() {
    let dir = Dir::with_titles();
    dir.write("q.txt", "+history +spain\nfilm paris\n\"paris texas\"\n");
    let bench =
        ["bench", "t.tp", "--queries", "q.txt", "--commands", "COUNT,TOP_10", "--estimates"];
    let report = dir.run(&[&bench[..], &["--format", "json"]].concat()).json();
    for from in ["dictionary", "headers", "samples"] {
        let report = &report[from];
        assert_eq!((&report["plans"], &report["all"]["outside"]), (&json!(6), &json!(0)), "{from}");
        assert!(report["explain_us"]["median"].as_f64().unwrap() > 0.0);
    }
    // So few titles are counted rather than estimated.
    assert_eq!(report["samples"]["all"]["max"].as_f64(), Some(1.0));
    let names = report["samples"]["operators"].as_array().unwrap().iter();
    let names: Vec<_> = names.map(|it| it["operator"].as_str().unwrap()).collect();
    assert!(["Intersect", "TopK", "Union"].iter().all(|name| names.contains(name)), "{names:?}");
    let text = dir.ok(&bench);
    assert_eq!(text.lines().filter(|line| line.starts_with("operator ")).count(), 3, "{text}");
    assert!(text.contains("Estimates from samples"), "{text}");
    // Nothing is timed that a pass could repeat.
    assert_eq!(dir.run(&[&bench[..], &["--passes", "3"]].concat()).status, 2);
    assert_eq!(dir.run(&[&bench[..5], &["--format", "json"]].concat()).status, 2);
}

#[test]
fn eval_measures_the_ranking_and_writes_the_run() {
    let dir = Dir::new();
    dir.write(
        "docs.jsonl",
        "{\"id\":1,\"text\":\"shock waves\"}\n{\"id\":2,\"text\":\"heat transfer\"}\n\
         {\"id\":3,\"text\":\"laminar flow\"}\n",
    );
    dir.write("schema.toml", "[fields.id]\ntype = \"keyword\"\n[fields.text]\ntype = \"text\"\n");
    dir.ok(&["index", "t.tp", "docs.jsonl", "--schema", "schema.toml", "--quiet"]);
    // Found, found one of two, not judged, nothing relevant.
    dir.write("q.tsv", "a\t(heat) --\nb\tlaminar\nc\tshock\nd\tshock\n");
    dir.write("qrels.txt", "a 0 2 1\na 0 3 0\nb 0 3 2\nb 0 1 2\nd 0 1 0\n");
    let eval = ["eval", "t.tp", "--queries", "q.tsv", "--qrels", "qrels.txt"];

    let found = dir.run(&[&eval[..], &["--format", "json", "--run-out", "run.txt"]].concat());
    let found = found.json();
    assert_eq!(found["queries"], 2);
    let ndcg_of_b = 1.0 / (1.0 + 1.0 / 3_f64.log2());
    for (name, expected) in [
        ("map", 0.75),
        ("ndcg@10", (1.0 + ndcg_of_b) / 2.0),
        ("p@10", 0.1),
        ("mrr", 1.0),
        ("recall@100", 0.75),
        ("recall@1000", 0.75),
    ] {
        let figure = found[name].as_f64().unwrap();
        assert!((figure - expected).abs() < 1e-9, "{name}: {figure}, expected {expected}");
    }
    assert!(found.get("per_query").is_none());
    let run = fs::read_to_string(dir.0.join("run.txt")).unwrap();
    let columns: Vec<Vec<&str>> = run.lines().map(|line| line.split(' ').collect()).collect();
    let expected = [("a", "2"), ("b", "3"), ("c", "1"), ("d", "1")];
    assert_eq!(columns.len(), expected.len(), "{run}");
    for (columns, (query, doc)) in columns.iter().zip(expected) {
        assert_eq!([&columns[..4], &columns[5..]].concat(), [query, "Q0", doc, "1", "treepie"]);
        assert!(columns[4].parse::<f32>().is_ok(), "{run}");
    }

    let text = dir.ok(&eval);
    assert!(text.starts_with("mean of 2 queries\nmap         0.7500\n"), "{text}");
    let rows = dir.ok(&[&eval[..], &["--per-query", "--format", "tsv"]].concat());
    let first: Vec<&str> = rows.lines().map(|row| row.split('\t').next().unwrap()).collect();
    assert_eq!(first, ["query", "a", "b", "all"]);
    let all = dir.run(&[&eval[..], &["--per-query", "--format", "json"]].concat()).json();
    assert_eq!(all["per_query"][1]["query"], "b");
    assert_eq!(all["per_query"][1]["map"], 0.5);
}

#[test]
fn eval_hears_the_parameters_of_a_field() {
    let dir = Dir::new();
    // Without regard to length what says it twice is the better of the two, with it the short one.
    let long = format!("wing wing {}", "x ".repeat(50));
    dir.write(
        "docs.jsonl",
        format!(
            "{{\"id\":\"short\",\"text\":\"wing\"}}\n{{\"id\":\"long\",\"text\":\"{long}\"}}\n"
        ),
    );
    dir.write("schema.toml", "[fields.id]\ntype = \"keyword\"\n[fields.text]\ntype = \"text\"\n");
    dir.ok(&["index", "t.tp", "docs.jsonl", "--schema", "schema.toml", "--quiet"]);
    dir.write("q.tsv", "a\twing\n");
    dir.write("qrels.txt", "a 0 short 1\n");
    let eval = |more: &[&str]| {
        let eval = ["eval", "t.tp", "--queries", "q.tsv", "--qrels", "qrels.txt"];
        dir.run(&[&eval[..], &["--format", "json"], more].concat())
    };
    for (more, expected) in
        [(&[][..], 1.0), (&["--bm25", "text:1.2,0"], 0.5), (&["--bm25", "text:1.2,1"], 1.0)]
    {
        assert_eq!(eval(more).json()["mrr"], expected, "{more:?}");
        let search = ["search", "t.tp", "text:wing", "--format", "json", "--limit", "1"];
        let best = dir.run(&[&search[..], more].concat()).json()["hits"][0]["fields"]["id"].clone();
        assert_eq!(best, if expected == 1.0 { "short" } else { "long" }, "{more:?}");
    }
    eval(&["--bm25", "text:1"]).fails_with(&["--bm25", "FIELD:K1,B", "'text:1'"]);
    eval(&["--bm25", "text:-1,0"]).fails_with(&["k1 of 0 or more"]);
    eval(&["--bm25", "name:1,0"]).fails_with(&["'name'"]);
    assert!(dir.ok(&["eval", "--help"]).contains("--bm25 title:0.9,0.4"));
}

#[test]
fn eval_measures_rankings_by_vectors_and_fused_ones() {
    let dir = Dir::new();
    let rows: [(&str, &str, [f32; 2]); 3] =
        [("x", "crow", [0.0, 1.0]), ("y", "raven", [1.0, 0.0]), ("z", "raven crow", [1.0, 1.0])];
    let line = |(id, text, v): &(&str, &str, [f32; 2])| {
        format!("{{\"id\": \"{id}\", \"text\": \"{text}\", \"v\": {v:?}}}\n")
    };
    dir.write("docs.jsonl", rows.iter().map(line).collect::<String>());
    let fields = "[fields.id]\ntype = \"keyword\"\n[fields.text]\ntype = \"text\"\n";
    dir.write("schema.toml", format!("{fields}[fields.v]\ntype = \"vector\"\ndims = 2\n"));
    dir.ok(&["index", "t.tp", "docs.jsonl", "--schema", "schema.toml", "--quiet"]);
    dir.write("q.tsv", "1\tcrow\n");
    dir.write("qrels.txt", "1 0 z 1\n");
    let vector = |numbers: &[f32]| {
        let numbers: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        [&2_u32.to_le_bytes()[..], &numbers].concat()
    };
    dir.write("v.fvecs", vector(&[1.0, 0.25]));
    dir.write("two.fvecs", [vector(&[1.0, 0.25]), vector(&[1.0, 0.5])].concat());
    let eval = |more: &[&str]| {
        let eval = ["eval", "t.tp", "--queries", "q.tsv", "--qrels", "qrels.txt"];
        dir.run(&[&eval[..], &["--format", "json"], more].concat())
    };
    // The second by words, and by vectors; by both together it is the first.
    for (more, mrr) in [
        (&[][..], 0.5),
        (&["--knn", "v=v.fvecs"], 0.5),
        (&["--knn", "v=v.fvecs:1"], 0.0),
        (&["--knn", "v=v.fvecs:2", "--fuse", "rrf"], 1.0),
        (&["--knn", "v=v.fvecs:3", "--fuse", "sum:.01"], 0.5),
    ] {
        assert_eq!(eval(more).json()["mrr"], mrr, "{more:?}");
    }
    eval(&["--knn", "v"]).fails_with(&["FIELD=FILE:K", "'v'"]);
    eval(&["--knn", "text=v.fvecs"]).fails_with(&["a vector field", "'text'"]);
    eval(&["--knn", "v=two.fvecs"]).fails_with(&["1 row, one for each query", "found 2"]);
    eval(&["--knn", "v=v.fvecs", "--fuse", "max"]).fails_with(&["--fuse", "'max'"]);
}

#[test]
fn eval_says_what_is_wrong_with_its_files() {
    let dir = Dir::new();
    dir.write("docs.jsonl", "{\"id\":\"x y\",\"text\":\"a\"}\n{\"id\":\"x y\",\"text\":\"b\"}\n");
    dir.write(
        "schema.toml",
        "[fields.id]\ntype = \"keyword\"\n[fields.text]\ntype = \"text\"\nstored = false\n",
    );
    dir.ok(&["index", "t.tp", "docs.jsonl", "--schema", "schema.toml", "--quiet"]);
    dir.write("q.tsv", "1\ta\n");
    dir.write("twice.tsv", "1\ta b\n");
    dir.write("no-tab.tsv", "1\ta\n2 b\n");
    dir.write("qrels.txt", "1 0 x 1\n7 0 x 1\n");
    dir.write("short.txt", "1 0 x 1\n1 0 1\n");
    dir.write("none.txt", "1 0 x 0\n");
    let eval = |queries: &str, qrels: &str, more: &[&str]| {
        dir.run(&[&["eval", "t.tp", "--queries", queries, "--qrels", qrels][..], more].concat())
    };
    eval("no-tab.tsv", "qrels.txt", &[]).fails_with(&["no-tab.tsv", "line 2", "no tab"]);
    eval("q.tsv", "short.txt", &[]).fails_with(&["short.txt", "line 2", "four columns", "found 3"]);
    eval("missing.tsv", "qrels.txt", &[]).fails_with(&["missing.tsv"]);
    eval("q.tsv", "none.txt", &[]).fails_with(&["none.txt", "judged relevant"]);
    eval("q.tsv", "qrels.txt", &["--id-field", "name"]).fails_with(&["'name'", "one of id"]);
    eval("q.tsv", "qrels.txt", &["--id-field", "text"]).fails_with(&["'text'", "not stored"]);
    eval("twice.tsv", "qrels.txt", &[]).fails_with(&["'x y' twice", "query '1'"]);
    eval("q.tsv", "qrels.txt", &["--run-out", "run.txt"]).fails_with(&["without blanks", "'x y'"]);
    eval("q.tsv", "qrels.txt", &["--run-out", "no/run.txt"]).fails_with(&["no/run.txt"]);
    // What is judged and not asked is no error, but not left unsaid either.
    let ran = eval("q.tsv", "qrels.txt", &[]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("1 judged queries are not in q.tsv"), "{}", ran.stderr);
    assert_eq!(eval("q.tsv", "qrels.txt", &["--quiet"]).stderr, "");
}

#[test]
fn a_disk_is_measured_and_left_as_it_was() {
    let dir = Dir::new();
    let text = dir.ok(&["bench-disk", ".", "--seconds", "0.1", "--format", "json"]);
    let found: Value = serde_json::from_str(&text).unwrap();
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4 * 3 * 2 + 2, "durability by size by threads, and commits");
    for row in rows {
        assert!(row["per_second"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["p50_us"].as_f64().unwrap() <= row["p99_us"].as_f64().unwrap(), "{row}");
    }
    assert!(rows.iter().any(|row| row["what"] == "commit" && row["documents"] == 1));
    assert_eq!(fs::read_dir(&dir.0).unwrap().count(), 0, "nothing is left");
    dir.write("file", "");
    for (place, words) in [("nowhere", "No such file"), ("file", "directory")] {
        let ran = dir.run(&["bench-disk", place, "--seconds", "0.1"]);
        assert_eq!(ran.status, 2, "{place}");
        assert!(
            ran.stderr.contains(words) && ran.stderr.contains("may write to"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(dir.run(&["bench-disk", ".", "--seconds", "0"]).status, 2);
}
