//! `explain --what-if`, `bench --what-if` and `calibrate`: what it takes to decide otherwise, and what planning reckons with.

use super::Dir;
use serde_json::{Value, json};
use std::fs;

#[test]
fn a_decision_is_measured_beside_the_other_way() {
    let dir = Dir::with_titles();
    let what_if = ["explain", "t.tp", "history AND france AND spain", "--count", "--what-if"];
    let text = dir.ok(&what_if);
    assert!(text.contains(" measured ") && text.contains("actual"), "{text}");
    let json = dir.run(&[&what_if[..], &["--format", "json"]].concat()).json();
    let decisions = json["plan"]["decisions"].as_array().unwrap();
    let measured: Vec<&Value> = decisions.iter().filter(|it| it["measured_ns"].is_u64()).collect();
    assert!(!measured.is_empty(), "{json}");
    for decision in measured {
        assert!(decision["confirmed"].is_boolean(), "{decision}");
        assert!(decision["alternative"]["measured_ns"].as_u64().unwrap() > 0, "{decision}");
    }
    // Without it nothing is measured, and with it there are times to fold.
    let analyzed = dir.run(&["explain", "t.tp", "history france", "--analyze", "--format", "json"]);
    assert!(!analyzed.json().to_string().contains("measured_ns"));
    assert!(dir.ok(&[&what_if[..], &["--format", "folded"]].concat()).lines().count() > 1);
    // What becomes of a document stands beside it.
    let with_document = dir.run(&["explain", "t.tp", "history", "--what-if", "--doc", "0"]);
    assert_eq!(with_document.status, 1, "{}", with_document.stderr);
    assert!(with_document.stdout.contains("fails at title:history"), "{}", with_document.stdout);
}

#[test]
fn a_grid_says_how_far_the_ways_that_are_chosen_are_from_the_best() {
    let dir = Dir::with_titles();
    dir.write("q.txt", "+history +spain\nparis film\nhistory AND (france OR spain)\n[\n");
    let grid = ["bench", "t.tp", "--queries", "q.txt", "--what-if", "--commands", "COUNT,TOP_10"];
    let ran = dir.run(&[&grid[..], &["--format", "json"]].concat());
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let lines: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // Every query has a line, also one that nothing could be decided of.
    let asked = |line: &&Value| line["query"].is_string();
    assert_eq!(lines.iter().filter(asked).count(), 2 * 4, "{}", ran.stdout);
    let cases: Vec<&Value> = lines.iter().filter(|line| line["us_chosen"].is_number()).collect();
    let (summaries, cases): (Vec<_>, Vec<_>) =
        cases.into_iter().partition(|line| line["summary"].is_string());
    assert!(cases.len() >= 3, "{}", ran.stdout);
    for case in &cases {
        let number = |name: &str| case[name].as_f64().unwrap();
        assert!(0.0 < number("us_best") && number("us_best") <= number("us_chosen"), "{case}");
        assert!(number("ratio") >= 1.0 && case["ways"].as_u64().unwrap() > 0, "{case}");
    }
    let names: Vec<_> = summaries.iter().map(|it| it["summary"].as_str().unwrap()).collect();
    assert_eq!(names, ["COUNT", "TOP_10", "all"]);
    let all = summaries.last().unwrap();
    assert_eq!(all["queries"].as_u64().unwrap(), cases.len() as u64);
    assert!((0.0..=1.0).contains(&all["share_within"].as_f64().unwrap()), "{all}");
    assert_eq!(lines.iter().filter(|line| line["error"].is_string()).count(), 2);

    let text = dir.ok(&[&grid[..], &["--format", "text"]].concat());
    assert!(text.contains("of always choosing best"), "{text}");
    assert_eq!(dir.run(&["bench", "t.tp", "--queries", "q.txt", "--format", "text"]).status, 2);
}

#[test]
fn a_grid_of_nothing_has_no_summary_and_says_what_was_wrong() {
    let dir = Dir::with_titles();
    let grid = ["bench", "t.tp", "--queries", "q.txt", "--what-if"];
    dir.write("q.txt", "[\u{1b}[2J\nnofield:x\n[\n[\n");
    let ran = dir.run(&grid);
    assert_eq!((ran.status, &*ran.stdout), (0, ""), "{}", ran.stderr);
    let told: Vec<_> = ran.stderr.lines().collect();
    assert_eq!(told.len(), 4, "the first three, and the number: {}", ran.stderr);
    assert!(told[0].starts_with("treepie: [\\u{1b}[2J: "), "{}", ran.stderr);
    assert!(told[1].contains("nofield:x: ") && told[1].contains("'nofield'"), "{}", ran.stderr);
    assert_eq!(told[3], "treepie: 4 of 4 queries could not be answered");
    let quiet = dir.run(&[&grid[..], &["--quiet"]].concat());
    assert_eq!((&*quiet.stdout, &*quiet.stderr), ("", ""));
    let json = dir.run(&[&grid[..], &["--format", "json"]].concat());
    assert_eq!(json.stdout.lines().count(), 4, "{}", json.stdout);

    dir.write("q.txt", "absent\n");
    let one_way = dir.run(&[&grid[..], &["--format", "json"]].concat());
    assert_eq!(one_way.json(), json!({"command": "COUNT", "query": "absent", "ways": 0}));
    let told = dir.run(&grid);
    assert!(told.stdout.is_empty() && told.stderr.contains("one way only"), "{}", told.stderr);
}

/// What a query says cannot drive the terminal, wherever it is shown again.
#[test]
fn queries_of_a_grid_are_shown_and_not_obeyed() {
    let dir = Dir::with_titles();
    let queries =
        "history AND france AND \"a\u{1b}[2J\" AND spain\nhistory france \u{9b}spain film paris\n";
    dir.write("q.txt", queries.repeat(8));
    for more in [&["--what-if", "--commands", "COUNT,TOP_10"][..], &["--estimates"]] {
        let ran = dir.run(&[&["bench", "t.tp", "--queries", "q.txt"], more].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let bad = |c: char| c.is_control() && c != '\n';
        assert!(!ran.stdout.contains(bad) && !ran.stderr.contains(bad), "{:?}", ran.stdout);
    }
}

#[test]
fn a_calibration_beside_an_index_is_reckoned_with_and_belongs_to_the_machine() {
    let dir = Dir::with_titles();
    let explain = ["explain", "t.tp", "history france", "--format", "json"];
    let before = dir.run(&["search", "t.tp", "history france", "--format", "json"]).json();
    let shown = dir.run(&["calibrate", "t.tp", "--format", "json"]).json();
    assert!(shown["costs"]["lookup_ns"]["ns"].as_f64().unwrap() > 0.0, "{shown}");
    let note = dir.run(&explain).json()["notes"].to_string();
    assert!(note.contains("costs are those"), "{note}");
    // None of the index: it is not copied, not damage, and the next commit leaves it.
    let after = dir.run(&["search", "t.tp", "history france", "--format", "json"]).json();
    assert_eq!(before["hits"], after["hits"]);
    dir.ok(&["verify", "t.tp"]);
    dir.ok(&["copy", "t.tp", "copy.tp"]);
    assert!(!dir.0.join("copy.tp/calibration").exists());
    dir.ok(&["delete", "t.tp", "france", "--yes"]);
    dir.ok(&["merge", "t.tp"]);
    assert!(dir.0.join("t.tp/calibration").exists());

    fs::write(dir.0.join("t.tp/calibration"), "version = 1\nlookup_ns = 3\nvizit_ns = 4\n")
        .unwrap();
    for arguments in
        [&explain[..], &["search", "t.tp", "history"], &["bench", "t.tp", "--queries", "q"]]
    {
        dir.write("q", "history");
        dir.run(arguments).fails_with(&["calibration", "line 3", "'vizit_ns'", "lookup_ns"]);
    }
    // Another one takes its place, and deleting it brings the built-in figures back.
    dir.write("own.toml", "version = 1\nmachine = \"mine\"\nvisit_ns = 40\n");
    let with_own = dir.run(&[&explain[..], &["--costs", "own.toml"]].concat()).json();
    assert_eq!(
        with_own["notes"].as_array().unwrap().last().unwrap(),
        "costs are those measured on mine"
    );
    fs::remove_file(dir.0.join("t.tp/calibration")).unwrap();
    assert!(!dir.run(&explain).json()["notes"].to_string().contains("costs"));
    dir.run(&[&explain[..], &["--costs", "nowhere"]].concat()).fails_with(&["nowhere"]);
}

#[test]
fn a_calibration_is_written_to_a_file_that_does_not_exist() {
    let dir = Dir::new();
    let first = dir.run(&["calibrate", "-o", "costs.toml"]);
    assert!(first.status == 0 && first.stderr.contains("measuring"), "{}", first.stderr);
    let text = first.stdout;
    assert!(text.contains("this machine") && text.contains("bitmap pair"), "{text}");
    let written = fs::read_to_string(dir.0.join("costs.toml")).unwrap();
    assert!(written.contains("version = 1") && written.contains("\nvisit_ns = "), "{written}");
    dir.run(&["calibrate", "-o", "costs.toml"]).fails_with(&["does not exist", "--force"]);
    // Standard output has a name, too; and with --quiet nothing is remarked.
    let printed = dir.run(&["calibrate", "-o", "-", "--quiet"]);
    assert!(
        printed.stdout.contains("\nvisit_ns = ") && printed.stderr.is_empty(),
        "{}",
        printed.stdout
    );
    assert!(!dir.0.join("-").exists());
    let ran = dir.run(&["calibrate", "-o", "costs.toml", "--force", "--quiet"]);
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    // What cannot be written is refused before anything is measured.
    fs::create_dir(dir.0.join("folder")).unwrap();
    let refused = |arguments: &[&str], expected: &[&str]| {
        let ran = dir.run(arguments);
        assert!(!ran.stderr.contains("measuring"), "{}", ran.stderr);
        ran.fails_with(expected);
    };
    refused(&["calibrate", "-o", "folder", "--force"], &["folder", "a directory"]);
    refused(&["calibrate", "-o", "none/costs.toml"], &["none/costs.toml"]);
    #[cfg(unix)]
    {
        dir.write("kept.toml", "");
        std::os::unix::fs::symlink("kept.toml", dir.0.join("link.toml")).unwrap();
        dir.ok(&["calibrate", "-o", "link.toml", "--force"]);
        assert!(fs::symlink_metadata(dir.0.join("link.toml")).unwrap().is_symlink());
        assert!(fs::read_to_string(dir.0.join("kept.toml")).unwrap().contains("visit_ns"));
        dir.ok(&["calibrate", "-o", "/dev/null", "--force"]);
    }
    assert_eq!(dir.run(&["calibrate", "nowhere.tp"]).status, 2);
    assert!(!dir.0.join("nowhere.tp").exists());
}
