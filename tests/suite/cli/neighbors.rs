//! Neighbours of vectors: `--knn`, `--param`, and what is wrong with them.

use super::Dir;
use serde_json::Value;

/// An index `t.tp` of points on a line, 0 to 9, the odd ones of another kind.
fn dir() -> Dir {
    let dir = Dir::new();
    let schema = "[fields.n]\ntype = \"u64\"\n[fields.kind]\ntype = \"keyword\"\n\
        [fields.v]\ntype = \"vector\"\ndims = 2\nmetric = \"l2\"\n";
    dir.write("schema.toml", schema);
    let line = |n: u32| {
        let kind = if n.is_multiple_of(2) { "even" } else { "odd" };
        format!("{{\"n\": {n}, \"kind\": \"{kind}\", \"v\": [{n}, 0]}}\n")
    };
    dir.write("in.jsonl", (0..10).map(line).collect::<String>());
    dir.write("q.json", "[2.25, 0]");
    dir.ok(&["index", "t.tp", "in.jsonl", "--schema", "schema.toml", "--quiet"]);
    dir
}

fn found(dir: &Dir, arguments: &[&str]) -> Vec<u64> {
    let page = dir.ok(&[&["search", "t.tp"], arguments, &["--format", "json"]].concat());
    let page: Value = serde_json::from_str(&page).unwrap();
    let number = |hit: &Value| hit["fields"]["n"].as_u64().unwrap();
    page["hits"].as_array().unwrap().iter().map(number).collect()
}

#[test]
fn the_nearest_of_what_matches_are_found_by_file_list_and_document() {
    let dir = dir();
    assert_eq!(found(&dir, &["*", "--knn", "v=@q.json:3"]), [2, 3, 1]);
    assert_eq!(found(&dir, &["kind:odd", "--knn", "v=[2.25,0]:3"]), [3, 1, 5]);
    assert_eq!(found(&dir, &["kind:odd n:0", "--knn", "v=@q.json:20"]), [3, 1, 0, 5, 7, 9]);
    assert_eq!(found(&dir, &["*", "--knn", "v=doc:4:2"]), [3, 5]);
    let both = ["v:nearest($a, 2) AND NOT v:within($b, -1)", "--param", "a=@q.json"];
    assert_eq!(found(&dir, &[&both[..], &["--param", "b=[2,0]"]].concat()), [4, 0]);
    let plan = dir.ok(&["explain", "t.tp", "kind:odd", "--knn", "v=@q.json:3", "--analyze"]);
    for words in
        ["Nearest v:nearest([2.25, 0], 3)", "5 vectors of 5 candidates", "vectors compared"]
    {
        assert!(plan.contains(words), "{plan}");
    }
}

#[test]
fn wrong_vectors_are_refused_with_what_was_expected() {
    let dir = dir();
    dir.write("one.json", "1");
    dir.write("nan.json", "[1, NaN]");
    for (arguments, words) in [
        (&["*", "--knn", "v"][..], "FIELD=doc:NUMBER:K"),
        (&["*", "--knn", "v=@q.json"], "FIELD=@FILE:K"),
        (&["*", "--knn", "v=@q.json:x"], "found 'v=@q.json:x'"),
        (&["*", "--knn", "v=@q.json:0"], "1 neighbour or more"),
        (&["*", "--knn", "v=@none.json:3"], "none.json"),
        (&["*", "--knn", "v=@one.json:3"], "a list of numbers in JSON"),
        (&["*", "--knn", "v=@nan.json:3"], "nan.json"),
        (&["*", "--knn", "v=[1]:3"], "a vector of 2 numbers"),
        (&["*", "--knn", "v=doc:77:3"], "a document below 10, found doc:77"),
        (&["*", "--knn", "n=[1,2]:3"], "a field of vectors"),
        (&["v:nearest($a, 3)"], "'$a'"),
        (&["v:nearest($a, 3)", "--param", "a"], "NAME=@FILE"),
        (&["v:nearest($a, 3)", "--param", "b=[1,2]"], "'$b'"),
        (&["v:nearest($a, 3", "--param", "a=[1,2]"], "a ')' behind"),
        (&["v:2.25"], "v:nearest($v, 10)"),
    ] {
        let ran = dir.run(&[&["search", "t.tp"], arguments].concat());
        assert_eq!(ran.status, 2, "{arguments:?} {}", ran.stdout);
        assert!(ran.stderr.contains(words), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn words_and_vectors_make_one_page() {
    let dir = dir();
    let page = |arguments: &[&str]| -> Value {
        let page = dir.ok(&[&["search", "t.tp"], arguments, &["--format", "json"]].concat());
        serde_json::from_str(&page).unwrap()
    };
    let fused =
        page(&["kind:odd^=0 n:7", "--knn", "v=@q.json:3", "--fuse", "rrf:1", "--limit", "4"]);
    let numbers = |page: &Value| -> Vec<u64> {
        let hits = page["hits"].as_array().unwrap().iter();
        hits.map(|hit| hit["fields"]["n"].as_u64().unwrap()).collect()
    };
    // 7 is the first by words; 1 the second there, and the third by vectors; 3 the third, and the second.
    assert_eq!(numbers(&fused), [1, 3, 7, 2]);
    assert_eq!(fused["total"], serde_json::json!({"value": 6, "relation": "exact"}));
    let parts = &fused["hits"][0]["fused"];
    assert_eq!((&parts[0]["branch"], &parts[0]["rank"]), (&0.into(), &2.into()), "{fused}");
    assert_eq!((&parts[1]["branch"], &parts[1]["rank"]), (&1.into(), &3.into()), "{fused}");
    let plan = dir.ok(&["explain", "t.tp", "kind:odd", "--knn", "v=@q.json:3", "--fuse", "sum:.3"]);
    for words in ["Fuse", "any branch: ", "branch 0 × 0.3: ", "branch 1 × 0.7: ", "Nearest"] {
        assert!(plan.contains(words), "{words}: {plan}");
    }
}

#[test]
fn lists_from_outside_are_fused_by_their_keys() {
    let dir = Dir::new();
    dir.write("schema.toml", "key = \"id\"\n[fields.t]\ntype = \"text\"\n");
    let line = |n: u32| format!("{{\"id\": \"k{n}\", \"t\": \"crow {n}\"}}\n");
    dir.write("in.jsonl", (0..10).map(line).collect::<String>());
    dir.ok(&["index", "t.tp", "in.jsonl", "--schema", "schema.toml", "--quiet"]);
    dir.write("keys.tsv", "k7\nk3\n");
    dir.write("scores.tsv", "k2\t1.5\r\nk8\t9\n");
    dir.write("gone.tsv", "k7\nk33\n");
    dir.write("mixed.tsv", "k7\t1\nk3\n");
    dir.write("bad.tsv", "k7\t1\nk3\tx\n");
    let first = |arguments: &[&str]| {
        let page = [&["search", "t.tp", "5"], arguments, &["--format", "json"]].concat();
        let page: Value = serde_json::from_str(&dir.ok(&page)).unwrap();
        let id = |hit: &Value| hit["fields"]["id"].as_str().unwrap().to_owned();
        page["hits"].as_array().unwrap().iter().map(id).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(first(&["--fuse", "rrf", "--fuse-list", "keys.tsv"]), "k5 k7 k3");
    assert_eq!(first(&["--fuse", "sum:.1", "--fuse-list", "scores.tsv"]), "k8 k2 k5");
    assert_eq!(first(&["--fuse", "rrf", "--fuse-list", "gone.tsv,missing=skip"]), "k5 k7");
    for (arguments, words) in [
        (&["--fuse", "rrf", "--fuse-list", "gone.tsv"][..], "k33 at rank 2"),
        (&["--fuse", "sum", "--fuse-list", "keys.tsv"], "a score of each key"),
        (&["--fuse", "rrf", "--fuse-list", "mixed.tsv"], "mixed.tsv"),
        (&["--fuse", "rrf", "--fuse-list", "bad.tsv"], "line 2"),
        (&["--fuse", "rrf", "--fuse-list", "none.tsv"], "none.tsv"),
        (&["--fuse", "rrf"], "another query or a list"),
        (&["--fuse", "max", "--fuse-list", "keys.tsv"], "rrf, rrf:K, sum or sum:WEIGHT"),
        (&["--fuse", "sum:1.5", "--fuse-list", "scores.tsv"], "between 0 and 1"),
        (&["--fuse", "rrf:-1", "--fuse-list", "keys.tsv"], "rrf:K"),
        (&["--fuse-list", "keys.tsv"], "--fuse"),
        (&["--fuse", "rrf", "--fuse-list", "keys.tsv", "--window", "3"], "at least 10 hits"),
        (&["--fuse", "rrf", "--fuse-list", "keys.tsv", "--sort", "id"], "--sort"),
    ] {
        let ran = dir.run(&[&["search", "t.tp", "5"], arguments].concat());
        assert!(ran.status == 2 && ran.stderr.contains(words), "{arguments:?}: {}", ran.stderr);
    }
}
