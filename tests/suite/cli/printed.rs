//! Forms of what is printed: a line for each hit, scores in text, an index in figures, words that are explained, and times of
//! several runs.

use super::Dir;
use serde_json::{Value, json};

/// An index of three papers with a long text.
fn papers() -> Dir {
    let dir = Dir::new();
    let filler = "of things that nobody asked about ".repeat(20);
    let paper = |title: &str, year: u32, body: &str| json!({ "title": title, "year": year, "body": format!("{filler}{body} {filler}") });
    let lines = [
        paper("Boundary layers", 1998, "A laminar\nboundary is thin."),
        paper("Heat", 2001, "The boundary of a plate."),
        paper(
            "A title that goes on and on until nobody reads it any more, however wide",
            2003,
            "Boundary.",
        ),
    ];
    dir.write("a.jsonl", lines.map(|line| line.to_string()).join("\n"));
    dir.ok(&["index", "t.tp", "a.jsonl", "--quiet"]);
    dir
}

#[test]
fn compact_has_a_line_for_each_hit() {
    let dir = papers();
    let text = dir.ok(&["search", "t.tp", "boundary", "--format", "compact"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "3 documents");
    assert_eq!(lines.len(), 4, "{text}");
    let json = dir.run(&["search", "t.tp", "boundary", "--format", "json"]).json();
    for (line, hit) in lines[1..].iter().zip(json["hits"].as_array().unwrap()) {
        let mut words = line.split_whitespace();
        assert_eq!(words.next(), Some(&*hit["doc"].to_string()), "{text}");
        let (score, expected) = (words.next().unwrap(), hit["score"].as_f64().unwrap());
        assert!((score.parse::<f64>().unwrap() - expected).abs() < 1e-3 * expected, "{text}");
        let title = hit["fields"]["title"].as_str().unwrap();
        assert!(line.contains(&title[..title.len().min(30)]), "{text}");
        assert!(line.contains("body: ") && line.to_lowercase().contains("boundary"), "{text}");
        assert!(line.chars().count() <= 100, "{text}");
    }
    let by_year = ["search", "t.tp", "boundary", "--format", "compact", "--sort", "year:desc"];
    let text = dir.ok(&[&by_year[..], &["--limit", "2", "--facet", "year"]].concat());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "3 documents, 2 shown");
    assert!(lines[1].starts_with("2  2003  A title that"), "{text}");
    assert!(lines[2].starts_with("1  2001  Heat"), "{text}");
    assert!(text.contains("year") && text.contains("1998"), "facets are below: {text}");
    let nothing = dir.run(&["search", "t.tp", "nowhere", "--format", "compact"]);
    assert_eq!((nothing.status, &*nothing.stdout), (1, "0 documents\n"));
}

#[test]
fn text_has_scores_on_request() {
    let dir = papers();
    let without = dir.ok(&["search", "t.tp", "heat", "--fields", "title"]);
    let with = dir.ok(&["search", "t.tp", "heat", "--fields", "title", "--scores"]);
    let hit = |text: &str| {
        text.lines().last().unwrap().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(hit(&without), ["1", "Heat"]);
    let hit = hit(&with);
    assert_eq!((hit.len(), &*hit[0], &*hit[2]), (3, "1", "Heat"));
    assert!(hit[1].parse::<f32>().unwrap() > 0.0, "{with}");
    dir.run(&["search", "t.tp", "heat", "--count", "--scores"]).fails_with(&["--scores"]);
}

#[test]
fn an_index_is_shown_in_figures() {
    let dir = papers();
    let json = dir.run(&["stats", "t.tp", "--format", "json", "--terms", "2"]).json();
    assert_eq!(
        (&json["documents"], &json["deleted"], &json["segments"]),
        (&json!(3), &json!(0), &json!(1))
    );
    let parts = json["parts"].as_array().unwrap();
    let sum: u64 = parts.iter().map(|part| part["bytes"].as_u64().unwrap()).sum();
    assert_eq!(json["bytes"], sum, "parts add up: {json}");
    let field = |json: &Value, name: &str| -> Value {
        let fields = json["fields"].as_array().unwrap().clone();
        fields
            .into_iter()
            .find(|field| field["field"] == name)
            .unwrap_or_else(|| panic!("{name}: {json}"))
    };
    let body = field(&json, "body");
    assert_eq!(body["type"], "text");
    assert_eq!(body["documents"], 3);
    let average = body["tokens"].as_f64().unwrap() / 3.0;
    assert_eq!(body["average_length"].as_f64(), Some(average));
    // All three have these, and they are the first of such in the order of the dictionary.
    let top = json!([{"term": "about", "documents": 3}, {"term": "asked", "documents": 3}]);
    assert_eq!(body["top_terms"], top);

    // A second segment has some of the terms of the first.
    dir.write(
        "b.jsonl",
        json!({"title": "Heat again", "year": 2004, "body": "boundary"}).to_string(),
    );
    dir.ok(&["index", "t.tp", "b.jsonl", "--append", "--quiet"]);
    let both = dir.run(&["stats", "t.tp", "--format", "json"]).json();
    assert_eq!(
        (&both["documents"], &both["deleted"], &both["segments"]),
        (&json!(4), &json!(0), &json!(2))
    );
    assert_eq!(field(&both, "body")["terms"], body["terms"], "a term of two segments is one");
    assert_eq!(
        field(&both, "title")["terms"].as_u64(),
        field(&json, "title")["terms"].as_u64().map(|n| n + 1)
    );
    assert!(field(&both, "body").get("top_terms").is_none());

    let text = dir.ok(&["stats", "t.tp", "--terms", "1", "--field", "title"]);
    for part in ["4 documents, 2 segments", "average_length", "terms of title", "stored"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("body"), "{text}");
    dir.run(&["stats", "t.tp", "--field", "boddy"]).fails_with(&["--field", "did you mean 'body'"]);
    dir.run(&["stats", "none.tp"]).fails_with(&["none.tp"]);
}

#[test]
fn deleted_documents_are_told_until_a_merge() {
    let dir = Dir::new();
    dir.write("a.txt", (0..200).map(|n| format!("number {n}\n")).collect::<String>());
    dir.ok(&["index", "t.tp", "a.txt", "--quiet"]);
    dir.ok(&["delete", "t.tp", "7", "--yes"]);
    let json = dir.run(&["stats", "t.tp", "--format", "json"]).json();
    assert_eq!((&json["documents"], &json["deleted"]), (&json!(199), &json!(1)));
    let text = dir.ok(&["stats", "t.tp"]);
    assert!(text.starts_with("199 documents (1 deleted besides), 1 segment, "), "{text}");
}

#[test]
fn words_of_a_plan_are_explained_on_request() {
    let dir = Dir::with_titles();
    let plain = dir.ok(&["explain", "t.tp", "paris -film"]);
    let explained = dir.ok(&["explain", "t.tp", "paris -film", "--explain-words"]);
    let words = explained.strip_prefix(&*plain).expect("the plan stays as it is");
    for line in [
        "\nWords, in which numbers stand for any\n",
        "  TermScan: documents with one term\n",
        "  document frequency: ",
    ] {
        assert!(words.contains(line), "{line}: {words}");
    }
    for other in ["Phrase:", "threshold:", "probe array"] {
        assert!(!words.contains(other), "{other}: {words}");
    }
    let json = ["explain", "t.tp", "paris", "--explain-words", "--format", "json"];
    dir.run(&json).fails_with(&["--explain-words", "--format text"]);
}

#[test]
fn several_runs_are_shown_with_their_spread() {
    let dir = Dir::with_titles();
    let typed =
        ["explain", "t.tp", "paris OR spain", "--facet", "qualifier", "--analyze", "--repeat", "5"];
    let plan = dir.run(&[&typed[..], &["--format", "json"]].concat()).json();
    assert_eq!(plan["repeated"]["runs"], 5);
    assert_eq!(plan["repeated"]["total"]["median_ns"], plan["total_ns"]);
    let ordered = |times: &Value| {
        let [least, median, most] =
            ["min_ns", "median_ns", "max_ns"].map(|name| times[name].as_u64().unwrap());
        assert!(least <= median && median <= most, "{times}");
    };
    ordered(&plan["repeated"]["total"]);
    ordered(&plan["repeated"]["planning"]);
    ordered(&plan["plan"]["times"]);
    ordered(&plan["plan"]["children"][0]["times"]);
    ordered(&plan["facets"][0]["times"]);
    let text = dir.ok(&typed);
    assert!(text.contains("\n5 runs: ") && text.contains("runs      "), "{text}");
    dir.run(&["explain", "t.tp", "paris", "--repeat", "5"]).fails_with(&["--analyze"]);
    dir.run(&[&typed[..6], &["--repeat", "0"]].concat()).fails_with(&["--repeat", "1..=10000"]);
}

#[test]
fn pages_have_the_reason_for_nothing_or_take_any_plan() {
    let dir = Dir::with_titles();
    let why = ["explain", "t.tp", "+paris +spain", "--why-empty", "--format", "html"];
    let page = dir.ok(&why);
    assert!(page.starts_with("<!doctype html>") && page.contains("\"why_empty\":{"));
    dir.ok(&[&why[..], &["-o", "why.html"]].concat());
    assert_eq!(std::fs::read_to_string(dir.0.join("why.html")).unwrap(), page);
    let empty = dir.ok(&["plan", "view"]);
    assert!(empty.contains("\"pages\":[]") && empty.contains("\"glossary\":{\"operator\":[["));
    dir.run(&["plan", "view", "--format", "text"]).fails_with(&["--format text", "none is named"]);
}
