//! `explain`, `why` and `analyze`: plans, scores and tokens.

use super::Dir;
use serde_json::{Value, json};

#[test]
fn explain_prints_the_json_that_is_promised() {
    let dir = Dir::with_titles();
    let query = "history AND (france OR spain) -war";
    let plan = dir.run(&["explain", "t.tp", query, "--format", "json"]).json();
    assert_eq!(plan["schema_version"], 1);
    assert_eq!(plan["query"], query);
    assert!(plan["parsed"].is_string() && plan["rewritten"].is_string());
    let node = &plan["plan"];
    assert_eq!(node["id"], "0");
    for name in ["operator", "label", "algorithm"] {
        assert!(node[name].is_string(), "{name}: {node}");
    }
    for name in ["documents", "lower", "upper"] {
        assert!(node["estimate"][name].is_u64(), "{name}: {node}");
    }
    assert!(node["estimate"]["source"].is_string());
    assert!(node["decisions"].is_array() && node["children"].is_array());
    assert!(node.get("actual").is_none(), "nothing has happened yet");
    let analyzed = dir.run(&["explain", "t.tp", query, "--analyze", "--format", "json"]).json();
    let phases = analyzed["planning"].as_object().unwrap();
    assert_eq!(phases.len(), 5, "{phases:?}");
    assert!(phases["parse_ns"].as_u64() > Some(0), "{phases:?}");
    let sum: u64 = phases.values().map(|ns| ns.as_u64().unwrap()).sum();
    assert_eq!(analyzed["planning_ns"], sum);
    let text = dir.ok(&["explain", "t.tp", query, "--analyze"]);
    assert!(text.contains("\nPlanning ") && text.contains(" %): parse "), "{text}");
    let actual = &analyzed["plan"]["actual"];
    for name in ["documents", "time_ns", "bytes_read"] {
        assert!(actual[name].is_u64(), "{name}: {actual}");
    }
    for kind in ["array", "bitmap", "run", "skipped"] {
        assert!(actual["containers"][kind].is_u64(), "{kind}: {actual}");
    }
}

#[test]
fn a_score_is_explained_and_so_is_its_absence() {
    let dir = Dir::with_titles();
    let hit =
        dir.run(&["search", "t.tp", "+film paris", "--format", "json"]).json()["hits"][0].clone();
    let doc = hit["doc"].to_string();
    let why = |query: &str, doc: &str| {
        dir.run(&["explain", "t.tp", query, "--doc", doc, "--format", "json"])
    };
    let found = why("+film paris", &doc).json()["documents"][0].clone();
    assert_eq!((&found["score"]["value"], &found["matches"]), (&hit["score"], &json!(true)));
    // What the parts say adds up, in the numbers of the program.
    let part = |nth: usize| found["score"]["parts"][nth]["value"].as_f64().unwrap() as f32;
    assert_eq!(part(0) + part(1), hit["score"].as_f64().unwrap() as f32);
    let text = dir.ok(&["explain", "t.tp", "+film paris", "--doc", &doc]);
    assert!(text.contains("idf: ln(1 + (N - n + 0.5) / (n + 0.5))"), "{text}");

    let missing = dir.run(&["explain", "t.tp", "+paris +spain -film", "--doc", &doc]);
    assert_eq!(missing.status, 1);
    for told in [
        "Document ",
        "✗ fails at title:spain: the document does not have it\n",
        "     title:spain must match and does not\n",
        "     title:film must not match and does\n",
    ] {
        assert!(missing.stdout.contains(told), "{told} in {}", missing.stdout);
    }
    let missing = why("(spain france wolken)~2", &doc).json();
    assert_eq!(missing["documents"][0]["misses"], json!(["0 of 3 alternatives match, and 2 must"]));
    why("paris", "99").fails_with(&["a number below 7"]);
}

/// The plan of what was asked, with what becomes of one document in it, in every form that has a place for it.
#[test]
fn a_document_goes_through_the_plan() {
    let dir = Dir::with_titles();
    let hit =
        dir.run(&["search", "t.tp", "+film paris", "--format", "json"]).json()["hits"][0].clone();
    let doc = hit["doc"].to_string();
    let explain = |query: &str, more: &[&str]| {
        dir.run(&[&["explain", "t.tp", query, "--doc", &doc][..], more].concat())
    };
    let json = explain("+paris -film", &["--format", "json"]);
    assert_eq!(json.status, 1);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((&json["query"], &json["schema_version"]), (&json!("+paris -film"), &json!(1)));
    // All that is said of it stands in its place, and nothing beside what the schema of plans has.
    let schema: Value = serde_json::from_str(treepie::explain::JSON_SCHEMA).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    assert_eq!(schema.iter_errors(&json).map(|it| it.to_string()).collect::<Vec<_>>(), [""; 0]);
    let document = &json["documents"][0];
    assert_eq!((&document["doc"], &document["matches"]), (&hit["doc"], &json!(false)));
    assert_eq!(document["score"], Value::Null);
    assert_eq!(document["reason"], "fails at NOT title:film: the document has it");
    let verdict = |id: &Value| &document["verdicts"][id.as_str().unwrap()];
    assert_eq!(
        (verdict(&json["plan"]["id"]), verdict(&document["failed_at"])),
        (&json!("failed"), &json!("matched"))
    );

    let text = explain("+paris -film", &[]).stdout;
    assert!(text.contains("marks     ✓ matched, ✗ failed, · not reached,"), "{text}");
    assert!(text.contains("✗ TopK best 10 by score\n"), "{text}");
    assert!(text.contains("─ ✓ TermScan NOT title:film\n"), "{text}");
    assert!(text.contains("document  matches this, which must not be\n"), "{text}");
    assert!(text.contains("✗ fails at NOT title:film: the document has it\n"), "{text}");
    let ascii = explain("+paris -film", &["--ascii"]).stdout;
    assert!(ascii.is_ascii() && ascii.contains("- + TermScan NOT title:film\n"), "{ascii}");
    let colored = explain("+paris -film", &["--color", "always"]).stdout;
    assert!(colored.contains("\u{1b}[31m✗\u{1b}[0m") && colored.contains("\u{1b}[32m✓\u{1b}[0m"));

    // With what else shapes a plan.
    let ran = explain(
        "+film paris",
        &["--analyze", "--facet", "qualifier", "--limit", "3", "--total", "none"],
    );
    assert_eq!(ran.status, 0);
    assert!(ran.stdout.contains("✓ matches, and is number 1 of the hits\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("Facet qualifier"), "{}", ran.stdout);
    let counted = explain("+film paris", &["--count"]);
    assert!(counted.stdout.contains("✓ matches\n") && !counted.stdout.contains("Score"));
    assert!(
        explain("+film paris", &["--analyze", "--offset", "5"])
            .stdout
            .contains("is not on the page of TopK")
    );

    let dot = explain("+paris -film", &["--format", "dot"]).stdout;
    assert!(
        dot.contains("fails at NOT title:film")
            && dot.contains("label=\"✓ TermScan\\nNOT title:film"),
        "{dot}"
    );
    assert!(explain("+paris -film", &["--format", "mermaid"]).stdout.contains("#10007; TopK"));
    assert!(explain("+paris -film", &["--format", "html"]).stdout.contains("\"failed_at\":"));
    for format in ["pgjson", "folded"] {
        explain("paris", &["--analyze", "--format", format])
            .fails_with(&["--doc", "dot or mermaid"]);
    }
    assert_eq!(explain("+paris -film", &["-o", "why.txt"]).status, 1);
    assert!(
        std::fs::read_to_string(dir.0.join("why.txt")).unwrap().contains("fails at NOT title:film")
    );
}

#[test]
fn synonyms_of_a_field_come_from_a_file() {
    let dir = Dir::with_titles();
    dir.write("synonyms.txt", "# cities\nlutetia => paris\nhistory of france, gesta francorum\n");
    let count = |query: &str| {
        let arguments = ["search", "t.tp", query, "--synonyms", "title:synonyms.txt", "--count"];
        dir.run(&arguments)
    };
    assert_eq!(count("lutetia").stdout, "2\n");
    assert_eq!(count("\"gesta francorum\"").stdout, "1\n");
    assert_eq!(dir.count("lutetia"), 0);
    let plan = dir.ok(&["explain", "t.tp", "lutetia", "--synonyms", "title:synonyms.txt"]);
    assert!(plan.contains("title:paris"), "{plan}");
    let with = |rules: &str| dir.run(&["search", "t.tp", "paris", "--synonyms", rules]);
    with("title").fails_with(&["--synonyms", "FIELD:FILE"]);
    with("qualifier:synonyms.txt").fails_with(&["a text field", "'qualifier'"]);
    with("title:none.txt").fails_with(&["none.txt"]);
    dir.write("bad.txt", "a\n");
    with("title:bad.txt").fails_with(&["bad.txt", "line 1"]);
}

#[test]
fn analyze_shows_the_tokens_of_a_spec_or_of_a_field() {
    let dir = Dir::new();
    let tokens = |arguments: &[&str]| {
        let json: Value = serde_json::from_str(&dir.ok(arguments)).unwrap();
        let token = |token: &Value| {
            let number = |key: &str| token[key].as_u64().unwrap();
            let term = token["term"].as_str().unwrap().to_owned();
            (number("position"), term, number("start"), number("end"))
        };
        json.as_array().unwrap().iter().map(token).collect::<Vec<_>>()
    };
    let token = |position, term: &str, start, end| (position, term.to_owned(), start, end);
    let queens = [token(1, "queen", 4, 11), token(2, "gambit", 12, 19)];
    assert_eq!(
        tokens(&["analyze", "--analyzer", "english", "The Queen's gambits", "--json"]),
        queens
    );
    assert_eq!(tokens(&["analyze", "--json", "--", "--É"]), [token(0, "e", 2, 4)]);

    let schema = "[fields.t]\ntype = \"text\"\nanalyzer = \"english\"\nquery_analyzer = \"keyword\"\n\
                  [fields.k]\ntype = \"keyword\"\n";
    dir.write("schema.toml", schema);
    dir.write("docs.jsonl", "{\"t\": \"The Queen's gambits\"}\n");
    dir.ok(&["index", "i.tp", "docs.jsonl", "--schema", "schema.toml", "--quiet"]);
    assert_eq!(dir.ok(&["inspect", "i.tp", "schema"]), schema);
    let of_field = ["analyze", "i.tp", "--field", "t", "The Queen's gambits", "--json"];
    assert_eq!(tokens(&of_field), queens);
    let of_query = [&of_field[..], &["--query"]].concat();
    assert_eq!(tokens(&of_query), [token(0, "The Queen's gambits", 0, 19)]);

    let named = "[fields.\"\u{f6}\"]\ntype = \"text\"\nanalyzer = \"keyword\"\n";
    dir.write("named.toml", named);
    dir.write("named.jsonl", "{\"\u{f6}\": \"x\"}\n");
    dir.ok(&["index", "n.tp", "named.jsonl", "--schema", "named.toml", "--quiet"]);
    for name in ["\u{f6}", "o\u{308}"] {
        let of_field = ["analyze", "n.tp", "--field", name, "A b", "--json"];
        assert_eq!(tokens(&of_field), [token(0, "A b", 0, 3)]);
    }

    for (arguments, words) in [
        (&["analyze", "i.tp", "--field", "k", "x"][..], "one of the text fields t, found 'k'"),
        (&["analyze", "--analyzer", "words|stem:xx", "x"], "one of ar, ca, "),
        (&["analyze", "--analyzer", "englsh", "x"], "default, catalan, cjk, "),
        (&["analyze", "a", "b"], "--field"),
        (&["analyze", "--query", "x"], "--query shows how the words of a query are analyzed"),
        (&["analyze", "--query", "i.tp", "x"], "treepie analyze INDEX --field FIELD --query TEXT"),
    ] {
        let ran = dir.run(arguments);
        assert_eq!(ran.status, 2, "{arguments:?}");
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    dir.write("bad.toml", "[fields.t]\ntype = \"text\"\nanalyzer = \"englsh\"\n");
    let ran = dir.run(&["index", "b.tp", "docs.jsonl", "--schema", "bad.toml"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("english, ") && ran.stderr.contains("line 3"), "{}", ran.stderr);

    let long = format!("{{\"t\": \"a {} b\"}}\n", "x".repeat(32_767));
    dir.write("long.jsonl", long);
    let ran = dir.run(&["index", "l.tp", "long.jsonl", "--schema", "schema.toml"]);
    assert_eq!(ran.status, 0);
    assert!(ran.stderr.contains("1 token left out"), "{}", ran.stderr);
}

#[test]
fn analyze_shows_what_synonyms_make_of_a_query() {
    let dir = Dir::with_titles();
    dir.write("synonyms.txt", "# cities\nlutetia => paris\nhistory of france, gesta\n");
    let analyze = |more: &[&str]| {
        let analyze = ["analyze", "t.tp", "--field", "title", "Gesta of Lutetia"];
        dir.run(&[&analyze[..], more].concat())
    };
    let with = |rules: &str| analyze(&["--query", "--synonyms", rules, "--format", "tsv"]);
    let found = with("title:synonyms.txt");
    assert_eq!(
        found.stdout,
        "slot\tgap\talternative\tposition\tterm\n\
         0\t0\t0\t0\tgesta\n\
         0\t0\t1\t0\thistory\n0\t0\t1\t1\tof\n0\t0\t1\t2\tfrance\n\
         1\t0\t0\t0\tof\n\
         2\t0\t0\t0\tparis\n",
        "{}",
        found.stderr
    );
    // What is shown is what is found, and without rules words stand for themselves.
    let search = ["search", "t.tp", "gesta", "--synonyms", "title:synonyms.txt", "--count"];
    assert_eq!(dir.ok(&search), "1\n");
    let plain = analyze(&["--query", "--json"]).json();
    assert_eq!(plain[2], json!({"position": 2, "term": "lutetia", "start": 9, "end": 16}));

    with("title").fails_with(&["--synonyms", "FIELD:FILE"]);
    with("qualifier:synonyms.txt").fails_with(&["a text field", "'qualifier'"]);
    with("title:none.txt").fails_with(&["none.txt"]);
    dir.write("bad.txt", "a\n");
    with("title:bad.txt").fails_with(&["bad.txt", "line 1"]);
    // Texts of documents have no synonyms.
    analyze(&["--synonyms", "title:synonyms.txt"]).fails_with(&["--query"]);
    assert!(dir.ok(&["analyze", "--help"]).contains("--synonyms title:synonyms.txt"));
}

/// That of another run would be about other times, and about what was stopped elsewhere.
#[test]
fn an_explained_search_shows_the_plan_of_the_run_that_found_its_hits() {
    let dir = Dir::with_titles();
    let shapes: [&[&str]; 5] = [
        &["paris"],
        &["p*", "--facet", "qualifier"],
        &["paris", "--sort", "random:7"],
        &["history OR paris", "--limit", "1"],
        &["\"history of france\""],
    ];
    for shape in shapes {
        let search = [&["search", "t.tp", "--format", "json"], shape].concat();
        let plain = dir.run(&search).json();
        let explained = dir.run(&[&search[..], &["--explain"]].concat()).json();
        for name in ["hits", "total", "facets"] {
            assert_eq!(explained[name], plain[name], "{shape:?}: {name}");
        }
        let total_ns = explained["explain"]["total_ns"].as_u64().unwrap();
        assert_eq!(explained["took_us"], total_ns / 1_000, "{shape:?}");
        let plan = &explained["explain"];
        let sum = plan["rest_ns"].as_u64().unwrap() + plan["planning_ns"].as_u64().unwrap();
        assert!(sum <= total_ns, "{plan}");
    }
    let text = dir.ok(&["search", "t.tp", "paris", "--explain"]);
    assert!(text.contains("Planning ") && text.contains("\nTotal "), "{text}");
}
