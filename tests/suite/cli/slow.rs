//! Slow searches, from the tool that writes them down to the one that shows them.

use super::{Dir, Ran};
use serde_json::Value;
use std::fs;

fn lines(dir: &Dir, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(dir.0.join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn searches_that_take_long_are_added_to_the_log() {
    let dir = Dir::with_titles();
    let search = |query: &'static str, more: &[&'static str]| {
        dir.run(&[&["search", "t.tp", query, "--slow-ms"], more].concat())
    };
    let found = search("paris", &["0", "--log", "slow.jsonl"]);
    assert_eq!(found.status, 0);
    assert!(found.stdout.starts_with("2 documents"), "{}", found.stdout);
    search("spain", &["0", "--log", "slow.jsonl", "--count"]);
    // Nothing takes an hour, and half a millisecond may be asked for.
    search("film", &["3600000", "--log", "slow.jsonl"]);
    assert_eq!(search("film", &["0.5", "--log", "other.jsonl"]).status, 0);
    let found = lines(&dir, "slow.jsonl");
    let told: Vec<_> =
        found.iter().map(|line| (&line["command"], &line["query"], &line["index"])).collect();
    assert_eq!(
        told,
        [
            (&"search".into(), &"paris".into(), &"t.tp".into()),
            (&"count".into(), &"spain".into(), &"t.tp".into())
        ]
    );
    assert_eq!(found[0]["plan"]["plan"]["operator"], "TopK");

    dir.run(&["search", "t.tp", "paris", "--slow-ms", "5"]).fails_with(&["--log"]);
    dir.run(&["search", "t.tp", "paris", "--log", "x"]).fails_with(&["--slow-ms"]);
    search("paris", &["soon", "--log", "x"]).fails_with(&["'soon'", "expected milliseconds"]);
    search("paris", &["0", "--log", "none/x"]).fails_with(&["opening the log", "none/x"]);
    search("paris", &["0", "--log", "t.tp"]).fails_with(&["opening the log", "t.tp"]);
}

#[test]
fn a_benchmark_writes_its_slow_queries_in_a_pass_of_their_own() {
    let dir = Dir::with_titles();
    dir.write("queries.txt", "paris\nhistory AND spain\n(\n");
    let bench = [
        "bench",
        "t.tp",
        "--queries",
        "queries.txt",
        "--commands",
        "COUNT,TOP_10",
        "--passes",
        "2",
    ];
    let ran = dir.run(&[&bench[..], &["--slow-ms", "0", "--log", "slow.jsonl"]].concat());
    assert_eq!((ran.status, ran.stdout.lines().count()), (0, 6), "{}", ran.stderr);
    let told: Vec<_> =
        lines(&dir, "slow.jsonl").iter().map(|line| line["command"].clone()).collect();
    assert_eq!(told, ["count", "count", "search", "search"]);
}

/// A full disk under the log: the search is answered, and that the log is not whole is said.
#[cfg(target_os = "linux")]
#[test]
fn a_log_without_room_is_a_warning() {
    let dir = Dir::with_titles();
    let arguments = ["search", "t.tp", "paris", "--count", "--slow-ms", "0", "--log", "/dev/full"];
    let ran = Ran::of(dir.command(&arguments).spawn().unwrap(), vec![]);
    assert_eq!((ran.status, &*ran.stdout), (0, "2\n"));
    assert!(ran.stderr.contains("a slow search is missing in the log"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("/dev/full") && ran.stderr.contains("no space left"),
        "{}",
        ran.stderr
    );
}
