//! Requests as files: what a log wrote is asked once more, and what people write.

use super::Dir;
use serde_json::Value;
use std::fs;

/// Output with the times taken out.
fn without_times(text: &str) -> String {
    let mut value: Value = serde_json::from_str(text).expect("JSON");
    value.as_object_mut().expect("an object").remove("took_us");
    value.to_string()
}

#[test]
fn a_search_of_a_log_is_asked_once_more() {
    let dir = Dir::with_titles();
    let searches: [&[&str]; 5] = [
        &["history france", "--limit", "3", "--facet", "qualifier:2"],
        &["history AND (france OR spain) -war", "--total", "5", "--offset", "1"],
        &["paris", "--select", "qualifier=film", "--facet", "qualifier", "--top-hits", "qualifier"],
        &["hist*", "--pattern-terms", "5", "--bm25", "title:0.9,0.4"],
        &["paris", "--fields", "title", "--timeout", "60s", "--partial"],
    ];
    for search in searches {
        let slow = ["--format", "json", "--slow-ms", "0", "--log", "slow.jsonl"];
        let asked = dir.run(&[&["search", "t.tp"], search, &slow].concat());
        let log = fs::read_to_string(dir.0.join("slow.jsonl")).unwrap();
        fs::remove_file(dir.0.join("slow.jsonl")).unwrap();
        let line: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
        dir.write("again.json", line["request"].to_string());
        let again = dir.run(&["search", "t.tp", "--request", "again.json", "--format", "json"]);
        assert_eq!(again.status, asked.status, "{search:?}: {}", again.stderr);
        assert_eq!(without_times(&again.stdout), without_times(&asked.stdout), "{search:?}");
        let plan = dir.ok(&["explain", "t.tp", "--request", "again.json", "--what-if"]);
        assert!(plan.contains("Planning"), "{plan}");
    }
}

#[test]
fn requests_that_people_write_are_read() {
    let dir = Dir::with_titles();
    let request = r#"{"query": "paris", "count_only": true}"#;
    let ran = dir.run_with(&["search", "t.tp", "--request", "-"], request);
    assert_eq!(ran.stdout.trim().parse(), Ok(dir.count("paris")), "{}", ran.stderr);
    let schema = dir.ok(&["plan", "schema", "--request"]);
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&serde_json::from_str(request).unwrap()));

    dir.write("wrong.json", "{\"query\": \"paris\",\n \"limits\": {\"timeout\": 5}}");
    let wrong = dir.run(&["search", "t.tp", "--request", "wrong.json"]);
    wrong.fails_with(&[
        "wrong.json",
        "reading limits of a request",
        "\"timeout\"",
        "line 2",
        "timeout_ns",
    ]);
    dir.write("wrong.json", "{\"query\": \"paris\", \"a\": 1}");
    dir.run(&["search", "t.tp", "--request", "wrong.json"]).fails_with(&[
        "reading a request: expected a name that requests have, found the name \"a\"",
        "plan schema",
    ]);
    dir.run(&["search", "t.tp", "paris", "--request", "wrong.json"]).fails_with(&["--request"]);
    let both = dir.run(&["search", "t.tp", "--request", "wrong.json", "--limit", "3"]);
    both.fails_with(&["--request"]);
    dir.run(&["search", "t.tp", "--request", "none.json"])
        .fails_with(&["reading a request: expected a file, found nothing (in none.json)"]);
    dir.run(&["search", "t.tp"]).fails_with(&["required"]);
}
