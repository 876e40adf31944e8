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
