//! Neighbours of vectors: `--knn`, `--param`, `bench --knn`, and what is wrong with them.

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
        (&["*", "--knn", "v=@nan.json:3"], "expected value at line 1 column 5"),
        (&["*", "--knn", "v=[1,1e39]:3"], "number out of range"),
        (&["*", "--knn", "v=[1,null]:3"], "found invalid type: null"),
        (&["*", "--knn", "v=[[1],2]:3"], "a list of numbers in JSON"),
        (&["*", "--knn", "v=[]:3"], "a vector of 2 numbers, found one of 0"),
        (&["*", "--knn", "v=[1,2]:4294967296"], "found 'v=[1,2]:4294967296'"),
        (&["*", "--knn", "v=[1,2]:-1"], "found 'v=[1,2]:-1'"),
        (&["*", "--knn", "v=[1,2]:3,recall=0"], "a recall above 0, at most 1, found 0"),
        (&["*", "--knn", "v=[1,2]:3,recall=1.5"], "a recall above 0, at most 1, found 1.5"),
        (&["*", "--knn", "v=[1,2]:3,recall=NaN"], "a recall above 0, at most 1, found NaN"),
        (&["*", "--knn", "v=[1,2]:3,ef=0"], "1 or more that a walk keeps, found 0"),
        (&["*", "--knn", "v=[1,2]:3,ef=x"], "with ,recall=N, ,ef=N or ,exact behind K"),
        (&["*", "--knn", "v=[1,2]:3,all"], "with ,recall=N, ,ef=N or ,exact behind K"),
        (&["*", "--knn", "v=doc:x:3"], "FIELD=doc:NUMBER:K"),
        (&["*", "--knn", "w=[1,2]:3"], "'w'"),
        (&["v:nearest($a, 3)", "--param", "a=[1,2,3]"], "a vector of 2 numbers, found one of 3"),
        (&["v:nearest($a, 3)", "--param", "a=@none.json"], "none.json"),
        (&["v:nearest([1, 2], 3, recall=1.5)"], "recall=1.5"),
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
    // 7 is the first by words, 2 by vectors; 1 the second and the third, 3 the third and the second.
    assert_eq!(numbers(&fused), [1, 3, 2, 7]);
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
fn the_best_of_a_query_are_ordered_by_similarity() {
    let dir = dir();
    assert_eq!(found(&dir, &["kind:odd", "--rerank", "v=@q.json:10"]), [3, 1, 5, 7, 9]);
    // All score the same, so that the best three are the first.
    assert_eq!(found(&dir, &["kind:odd", "--rerank", "v=[9,0]:3", "--limit", "3"]), [5, 3, 1]);
    assert_eq!(found(&dir, &["kind:odd", "--rerank", "v=doc:4:10"]), [3, 5, 1, 7, 9]);
    let plan = dir.ok(&["explain", "t.tp", "kind:odd", "--rerank", "v=@q.json:20", "--analyze"]);
    for words in ["Fuse", "similarity of the best 20", "branch 1: v:nearest("] {
        assert!(plan.contains(words), "{words}: {plan}");
    }
    for (arguments, words) in [
        (&["--rerank", "v=@q.json"][..], "FIELD=@FILE:N"),
        (&["--rerank", "v=[1,2]:x"], "found 'v=[1,2]:x'"),
        (&["--rerank", "v=[1,2]:9,exact"], "FIELD=@FILE:N"),
        (&["--rerank", "v=[1,2,3]:20"], "a vector of 2 numbers, found one of 3"),
        (&["--rerank", "v=[1,2]:9"], "10 hits or more, as the page ends there, found 9"),
        (&["--rerank", "n=[1,2]:20"], "a field of vectors"),
        (&["--rerank", "v=[1,2]:20", "--sort", "n"], "--sort"),
        (&["--rerank", "v=[1,2]:20", "--collapse", "kind"], "--collapse"),
        (&["--rerank", "v=[1,2]:20", "--fuse", "rrf"], "--fuse"),
    ] {
        let ran = dir.run(&[&["search", "t.tp", "kind:odd"], arguments].concat());
        assert_eq!(ran.status, 2, "{arguments:?} {}", ran.stdout);
        assert!(ran.stderr.contains(words), "{arguments:?}: {}", ran.stderr);
    }
}

/// Ways to neighbours are measured with what each finds, as plans say in text and JSON.
#[test]
fn ways_to_neighbors_are_measured_with_their_recall() {
    let dir = dir();
    let schema =
        "[fields.n]\ntype = \"u64\"\n[fields.v]\ntype = \"vector\"\ndims = 2\nmetric = \"l2\"\n";
    dir.write("many.toml", schema);
    let row = |n: i32| format!("{{\"n\": {n}, \"v\": [{}, {}]}}\n", n * 37 % 4_999, n * 91 % 5_003);
    dir.write("many.jsonl", (0..4_500).map(row).collect::<String>());
    dir.ok(&["index", "m.tp", "many.jsonl", "--schema", "many.toml", "--quiet"]);
    let nearest = |query: &str| {
        let what_if = ["explain", "m.tp", query, "--knn", "v=[700,900]:10", "--what-if"];
        let text = dir.ok(&what_if);
        let json = dir.run(&[&what_if[..], &["--format", "json"]].concat()).json();
        fn node_of(node: &Value) -> Option<&Value> {
            if node["operator"] == "Nearest" {
                return Some(node);
            }
            node["children"].as_array()?.iter().find_map(node_of)
        }
        (node_of(&json["plan"]).unwrap().clone(), text)
    };
    for (query, names) in [
        ("*", &["exact", "walk"][..]),
        ("n:<2250", &["exact", "two hops", "walk"]),
        ("n:<100", &["exact", "walk"]),
    ] {
        let (node, text) = nearest(query);
        let decision = &node["decisions"][0];
        let mut ways = vec![(&decision["rule"], decision)];
        ways.push((&decision["alternative"]["name"], &decision["alternative"]));
        let others = decision["others"].as_array();
        ways.extend(others.into_iter().flatten().map(|it| (&it["name"], it)));
        let mut found: Vec<&str> = ways.iter().map(|it| it.0.as_str().unwrap()).collect();
        found.sort_unstable();
        assert_eq!(found, names, "{query}: {node}");
        for (name, way) in ways {
            assert!(way["measured_ns"].as_u64().unwrap() > 0, "{query}: {node}");
            let number = |name: &str| way["recall"][name].as_u64().unwrap();
            assert!(number("nearest") == 10 && number("recalled") <= 10, "{query}: {node}");
            assert!(name != "exact" || number("recalled") == 10, "{query}: {node}");
        }
        let expected = &node["neighbors"];
        assert_eq!(expected["way"], decision["rule"], "{node}");
        assert!(expected["recall"].as_f64().unwrap() > 0.9, "{node}");
        let ended = &node["actual"]["vectors"]["ended"];
        assert_eq!(ended.is_string(), decision["rule"] != "exact", "{node}");
        assert!(text.contains("recall: '") && text.contains(" in "), "{text}");
    }
}

#[test]
fn lists_from_outside_are_fused_by_their_keys() {
    let dir = Dir::new();
    dir.write("schema.toml", "[index]\nkey = \"id\"\n[fields.t]\ntype = \"text\"\n");
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

/// Rows as `.fvecs` files have them.
fn fvecs(rows: &[&[f32]]) -> Vec<u8> {
    let row = |row: &&[f32]| {
        let numbers: Vec<u8> = row.iter().flat_map(|number| number.to_le_bytes()).collect();
        [&(row.len() as u32).to_le_bytes()[..], &numbers].concat()
    };
    rows.iter().flat_map(row).collect()
}

/// Rows as `.ivecs` files have them.
fn ivecs(rows: &[&[i32]]) -> Vec<u8> {
    let row = |row: &&[i32]| {
        let numbers: Vec<u8> = row.iter().flat_map(|number| number.to_le_bytes()).collect();
        [&(row.len() as u32).to_le_bytes()[..], &numbers].concat()
    };
    rows.iter().flat_map(row).collect()
}

#[test]
fn bench_times_neighbors_and_compares_them_with_the_truth() {
    let dir = dir();
    dir.write("q.fvecs", fvecs(&[&[2.25, 0.0], &[4.5, 0.0]]));
    // Of the second, 3 is found, which is as near as 6.
    dir.write("truth.ivecs", ivecs(&[&[2, 3, 1, 9], &[4, 5, 6, 9]]));
    let bench = ["bench", "t.tp", "--knn", "q.fvecs", "--truth", "truth.ivecs", "--passes", "2"];
    let lines = dir.ok(&[&bench[..], &["--k", "3", "--format", "json"]].concat());
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [first, second, summary] = &lines[..] else { panic!("{lines:?}") };
    for (nth, line) in [first, second].into_iter().enumerate() {
        assert_eq!((&line["query"], &line["hits"]), (&nth.into(), &3.into()));
        assert_eq!(line["recall"], 1.0, "{line}");
        let [least, median] = ["us_min", "us_median"].map(|name| line[name].as_f64().unwrap());
        assert!(0.0 < least && least <= median, "{line}");
    }
    assert_eq!(first["top_score"].as_f64().unwrap() as f32, 1.0 / (1.0 + 0.0625));
    assert_eq!((&summary["summary"], &summary["field"]), (&"KNN".into(), &"v".into()));
    let counts = ["k", "queries", "passes"].map(|name| summary[name].as_u64().unwrap());
    assert_eq!(counts, [3, 2, 2]);
    let times =
        ["median", "p90", "p95", "p99", "max"].map(|it| summary["us"][it].as_f64().unwrap());
    assert!(times.is_sorted() && summary["us"]["mean"].as_f64().unwrap() > 0.0, "{summary}");
    let recall = serde_json::json!({"mean": 1.0, "least": 1.0, "complete": 2});
    assert_eq!(summary["recall"], recall);

    // Every second of the nearest is of the kind.
    let text = dir.ok(&[&bench[..], &["--k", "2", "--filter", "kind:even"]].concat());
    assert!(text.starts_with("2 nearest in 'v': 2 queries, 2 passes: mean "), "{text}");
    assert!(text.contains("\nrecall@2 0.5000, all found in 0 of 2, the least 0.5\n"), "{text}");
    let exact = ["bench", "t.tp", "--knn", "q.fvecs", "--truth", "exact", "--passes", "1"];
    for more in [&[][..], &["--recall", "1"], &["--ef", "20"], &["--exact"], &["--k", "99"]] {
        let text = dir.ok(&[&exact[..], &["--filter", "kind:even"], more].concat());
        assert!(text.contains(" 1.0000, all found in 2 of 2, the least 1\n"), "{text}");
    }
    let none = dir.ok(&[&exact[..], &["--filter", "kind:none"]].concat());
    assert!(none.contains("recall@10 1.0000"), "{none}");
    let all = dir.ok(&["bench", "t.tp", "--knn", "q.fvecs", "--passes", "1", "--k", "99"]);
    assert!(all.contains("1 pass: mean") && !all.contains("recall"), "{all}");
}

#[test]
fn bench_refuses_vectors_and_truths_that_do_not_fit() {
    let dir = dir();
    let (good, of_good) = (fvecs(&[&[2.25, 0.0], &[4.5, 0.0]]), ivecs(&[&[2, 3], &[4, 5]]));
    dir.write("good.fvecs", &good);
    dir.write("cut.fvecs", &good[..good.len() - 1]);
    dir.write("empty.fvecs", "");
    dir.write("dims.fvecs", fvecs(&[&[1.0, 2.0, 3.0]]));
    dir.write("nan.fvecs", fvecs(&[&[1.0, 2.0], &[1.0, f32::NAN]]));
    dir.write("long.fvecs", fvecs(&[&[1.0, 2.0], &[1.0, f32::MAX]]));
    dir.write("good.ivecs", &of_good);
    dir.write("cut.ivecs", &of_good[..of_good.len() - 1]);
    dir.write("more.ivecs", [&of_good[..], &ivecs(&[&[0, 1]])].concat());
    dir.write("fewer.ivecs", ivecs(&[&[0, 1]]));
    dir.write("beyond.ivecs", ivecs(&[&[0, 1], &[0, 10]]));
    dir.write("negative.ivecs", ivecs(&[&[0, 1], &[0, -1]]));
    let bench = |arguments: &[&str]| dir.run(&[&["bench", "t.tp"], arguments].concat());
    for (file, words) in [
        ("none.fvecs", "none.fvecs"),
        ("cut.fvecs", "reading row 2 of the vectors of 'v': expected 12 bytes, found 11"),
        ("empty.fvecs", "expected a row or more, found none"),
        ("dims.fvecs", "2 numbers, as the schema says, found 3"),
        ("nan.fvecs", "row 2 of the vectors of 'v': expected finite numbers, found NaN, number 2"),
        ("long.fvecs", "it is row 2 of the file"),
        ("q.json", "a .npy file, or the rows of a file that is called .fvecs"),
    ] {
        bench(&["--knn", file]).fails_with(&[file, words]);
    }
    for (file, words) in [
        ("none.ivecs", "none.ivecs"),
        ("cut.ivecs", "reading row 2 of the truth: expected 8 bytes, found 7"),
        ("more.ivecs", "a row for each of 2 queries, found more"),
        ("fewer.ivecs", "a row for each of 2 queries, found 1"),
        ("beyond.ivecs", "of which each document has one, found 10 (in beyond.ivecs); row 2 of"),
        ("negative.ivecs", "numbers of documents, found -1, number 2 of 2"),
    ] {
        bench(&["--knn", "good.fvecs", "--k", "2", "--truth", file]).fails_with(&[file, words]);
    }
    let truth = ["--knn", "good.fvecs", "--truth", "good.ivecs"];
    bench(&truth).fails_with(&["10 neighbours or more, found 2", "--k 2"]);
    bench(&[&truth[..], &["--k", "0"]].concat()).fails_with(&["--k"]);
    bench(&["--knn", "good.fvecs", "--filter", "kind:("]).fails_with(&["parsing the query"]);
    bench(&["--knn", "good.fvecs", "--field", "n"]).fails_with(&["found the u64 field 'n'"]);
    bench(&["--knn", "good.fvecs", "--field", "w"]).fails_with(&["found 'w'"]);
    bench(&["--truth", "good.ivecs", "--queries", "q.json"]).fails_with(&["--truth"]);
    bench(&["--knn", "good.fvecs", "--queries", "q.json"]).fails_with(&["--queries"]);
    bench(&["--knn", "good.fvecs", "--what-if"]).fails_with(&["--what-if"]);
    bench(&["--exact", "--queries", "q.json"]).fails_with(&["--exact"]);
    bench(&["--knn", "good.fvecs", "--recall", "0.9", "--ef", "9"]).fails_with(&["--ef"]);
    for recall in ["0", "1.5", "NaN"] {
        let wrong = bench(&["--knn", "good.fvecs", "--recall", recall]);
        wrong.fails_with(&["a recall above 0, at most 1, found"]);
    }
    bench(&["--knn", "good.fvecs", "--ef", "0"]).fails_with(&["1 or more that a walk keeps"]);
    bench(&[]).fails_with(&["--queries"]);
    dir.ok(&["bench", "t.tp", "--knn", "good.fvecs", "--truth", "good.ivecs", "--k", "2"]);
}

#[test]
fn bench_asks_which_field_where_there_are_several_or_none() {
    let dir = Dir::new();
    let of =
        |name: &str| format!("[fields.{name}]\ntype = \"vector\"\ndims = 2\nmetric = \"l2\"\n");
    dir.write("one.toml", "[fields.n]\ntype = \"u64\"\n");
    dir.write("two.toml", of("v") + &of("w") + "stored = false\n");
    dir.write("one.jsonl", "{\"n\": 1}\n");
    dir.write("two.jsonl", "{\"v\": [1, 0], \"w\": [1, 0]}\n{\"v\": [2, 0]}\n");
    dir.ok(&["index", "one.tp", "one.jsonl", "--schema", "one.toml", "--quiet"]);
    dir.ok(&["index", "two.tp", "two.jsonl", "--schema", "two.toml", "--quiet"]);
    dir.write("q.fvecs", fvecs(&[&[1.0, 0.0]]));
    dir.write("truth.ivecs", ivecs(&[&[0]]));
    let bench = |index: &str, more: &[&str]| {
        dir.run(&[&["bench", index, "--knn", "q.fvecs", "--k", "1"], more].concat())
    };
    bench("one.tp", &[]).fails_with(&["a vector field of the index, found none"]);
    bench("two.tp", &[]).fails_with(&["found v, w", "--field"]);
    assert_eq!(bench("two.tp", &["--field", "v"]).status, 0);
    let unstored = bench("two.tp", &["--field", "w", "--truth", "truth.ivecs"]);
    unstored.fails_with(&["a stored vector in the field 'w', found none"]);
}

#[test]
fn plans_say_why_a_document_is_no_neighbor_and_how_many_were_found() {
    let dir = dir();
    let explain = |query: &str, more: &[&str]| {
        let all = [&["explain", "t.tp", query, "--knn", "v=@q.json:3", "--analyze"], more].concat();
        let ran = dir.run(&all);
        // It is 1 for a document that does not match.
        assert!(ran.status < 2, "{all:?}\n{}", ran.stderr);
        // Lines are broken for people.
        ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let far = explain("*", &["--doc", "7"]);
    let words = "number 8 by similarity, -22.5625, and that of the last neighbour is -1.5625";
    assert!(far.contains(words), "{far}");
    let even = explain("kind:odd", &["--doc", "4"]);
    assert!(even.contains("does not meet what filters the neighbours"), "{even}");
    let near = explain("*", &["--doc", "3"]);
    assert!(near.contains("number 2 of the hits"), "{near}");
    let recall = explain("*", &["--recall"]);
    assert!(recall.contains("recall 1.00, 3 of 3"), "{recall}");
    let json: Value =
        serde_json::from_str(&explain("*", &["--recall", "--format", "json"])).unwrap();
    let vectors = json["plan"]["children"][0]["actual"]["vectors"].clone();
    assert_eq!((&vectors["nearest"], &vectors["recalled"]), (&3.into(), &3.into()), "{json}");
    dir.run(&["explain", "t.tp", "*", "--recall"]).fails_with(&["--analyze"]);
}
