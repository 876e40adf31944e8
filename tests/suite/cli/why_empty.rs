//! `explain --why-empty`: what is in conflict, for people and programs, and what it does not go with.

use super::Dir;
use serde_json::json;

#[test]
fn an_empty_result_is_explained() {
    let dir = Dir::with_titles();
    let text = dir.ok(&["explain", "t.tp", "+history +pariss", "--why-empty"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..2],
        ["nothing matches: no document meets this condition", "  pariss: 0 alone, 2 without it"]
    );
    assert!(lines[2].contains("'pariss' in title; like it are 'paris' (2 documents)"), "{text}");

    let asked = "history && france -(spain film)";
    let why = dir.run(&["explain", "t.tp", asked, "--why-empty", "--format", "json"]);
    assert_eq!(why.status, 0);
    assert_eq!(why.json()["query"], asked);
    assert_eq!((&why.json()["matches"], &why.json()["conflict"]), (&json!(1), &json!([])));

    // Words side by side as with --and, and selections, are conditions, too.
    let with = ["--and", "--select", "qualifier=song", "--why-empty", "--format", "json"];
    let why = dir.run(&[&["explain", "t.tp", "history of"][..], &with].concat()).json();
    let clauses: Vec<_> =
        why["clauses"].as_array().unwrap().iter().map(|it| it["clause"].clone()).collect();
    assert_eq!(clauses.len(), 3, "{why}");
    assert_eq!(why["conflict"], json!([0, 2]), "{why}");
    assert_eq!(dir.ok(&["explain", "t.tp", "paris", "--why-empty"]), "2 documents match\n");
    let stdin = dir.run(&["explain", "t.tp", "a\u{1b}[2J", "--why-empty"]);
    assert!(!stdin.stdout.contains('\u{1b}'), "{}", stdin.stdout);
}

#[test]
fn what_is_no_part_of_it_is_refused() {
    let dir = Dir::with_titles();
    let refused = [
        (&["--analyze"][..], "--analyze"),
        (&["--doc", "1"], "--doc"),
        (&["--facet", "qualifier"], "--facet"),
        (&["--limit", "3"], "--limit"),
        (&["--format", "dot"], "--format text, json or html"),
        (&["--ascii"], "--ascii"),
        (&["--estimate-from", "samples"], "--estimate-from"),
    ];
    for (more, words) in refused {
        dir.run(&[&["explain", "t.tp", "x", "--why-empty"], more].concat()).fails_with(&[words]);
    }
    let wrong = dir.run(&["explain", "t.tp", "nofield:x", "--why-empty"]);
    assert_eq!(wrong.status, 2);
    assert!(wrong.stderr.contains("found 'nofield'"), "{}", wrong.stderr);
}
