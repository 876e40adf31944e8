//! Plans that were kept: the worst of a log, two of them compared, and their schema.

use super::Dir;
use std::fs;

/// A line of a log that took so long.
fn line(took_ns: u64, query: &str, plan: &str) -> String {
    format!(
        r#"{{"schema_version":1,"at":"2026-11-24T04:00:00Z","took_ns":{took_ns},"index":"t.tp","command":"search","query":"{query}","error":null,"plan":{plan}}}"#
    )
}

fn plan(dir: &Dir, query: &str) -> String {
    dir.ok(&["explain", "t.tp", query, "--analyze", "--format", "json"]).trim_end().to_owned()
}

#[test]
fn the_worst_of_a_log_are_listed_and_drawn() {
    let dir = Dir::with_titles();
    for query in ["paris", "history AND spain", "film*"] {
        dir.run(&["search", "t.tp", query, "--slow-ms", "0", "--log", "slow.jsonl"]);
    }
    let table = dir.ok(&["plan", "view", "slow.jsonl"]);
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 4, "{table}");
    let heads: Vec<_> =
        lines[0].split("  ").filter(|head| !head.is_empty()).map(str::trim).collect();
    assert_eq!(
        heads,
        ["took", "run again", "command", "query", "what took longest when run again"]
    );
    for query in ["paris", "history AND spain", "film*"] {
        assert!(table.contains(query), "{table}");
    }
    assert!(lines[1..].iter().all(|line| line.contains(" %: ")), "{table}");
    // Both times end below their heads: the one of the log, and that of the plan.
    let end = lines[0].find("run again").unwrap() + "run again".len();
    let log = fs::read_to_string(dir.0.join("slow.jsonl")).unwrap();
    let logged: Vec<serde_json::Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines[1..] {
        let line: String = line.replace('µ', "u").chars().take(end).collect();
        let times: Vec<f64> =
            line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let micros = |value: &serde_json::Value| value.as_f64().unwrap() / 1e3;
        let is_in = |search: &serde_json::Value| {
            let both = [micros(&search["took_ns"]), micros(&search["plan"]["total_ns"])];
            // Printed with three digits, and in milliseconds from 1,000 µs on.
            let is_near = |(told, exact): (&f64, f64)| {
                [1.0, 1e3].iter().any(|unit| (told * unit - exact).abs() <= exact / 100.0)
            };
            times.len() == 2 && times.iter().zip(both).all(is_near)
        };
        assert!(logged.iter().any(is_in), "{times:?} in {log}");
    }
    assert_eq!(dir.ok(&["plan", "view", "slow.jsonl", "--limit", "2"]).lines().count(), 3);

    assert_eq!(dir.ok(&["plan", "view", "slow.jsonl", "-o", "worst.html"]), "");
    let page = fs::read_to_string(dir.0.join("worst.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("history AND spain"));
    dir.run(&["plan", "view", "slow.jsonl", "-o", "worst.html"]).fails_with(&["--force"]);
    dir.ok(&["plan", "view", "slow.jsonl", "-o", "worst.txt"]);
    assert_eq!(fs::read_to_string(dir.0.join("worst.txt")).unwrap(), table);
    dir.ok(&["plan", "view", "slow.jsonl", "-o", "worst.html", "--force", "--limit", "1"]);
    let smaller = fs::read_to_string(dir.0.join("worst.html")).unwrap();
    assert!(smaller.len() < page.len());

    // The same from standard input, on a narrow terminal, and with hostile texts.
    let log = line(1_500_000, "\\u001b[2J\\u202e</script>", "null") + "\n" + &line(9, "x", "null");
    let ran = dir.run_with(&["plan", "view", "-"], log);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let second = ran.stdout.lines().nth(1).unwrap();
    assert!(second.trim_start().starts_with("1.5") && second.contains("  –  search  "), "{second}");
    assert!(second.contains("\\u{1b}[2J\\u{202e}</script>"), "{second}");
    let mut narrow = dir.command(&["plan", "view", "slow.jsonl"]);
    let narrow = narrow.env("COLUMNS", "20").output().unwrap();
    let narrow = String::from_utf8(narrow.stdout).unwrap();
    assert_eq!(narrow.lines().count(), 4);
    assert!(narrow.lines().all(|line| line.chars().count() <= 20), "{narrow}");
}

#[test]
fn bad_lines_are_told_and_left_out() {
    let dir = Dir::with_titles();
    let good = line(5_000, "good", &plan(&dir, "paris"));
    let torn = &good[..good.len() / 2];
    let newer = good.replacen("\"schema_version\":1", "\"schema_version\":2", 1);
    let mut log = format!("{torn}\n{good}\n\n{newer}\n{}\n", line(6_000, "odd", "[]"));
    dir.write("slow.jsonl", &log);
    let ran = dir.run(&["plan", "view", "slow.jsonl"]);
    assert_eq!((ran.status, ran.stdout.lines().count()), (0, 2), "{}{}", ran.stdout, ran.stderr);
    let told: Vec<_> = ran.stderr.lines().collect();
    assert_eq!(told.len(), 4, "{}", ran.stderr);
    for (told, words) in told.iter().zip([
        &["slow.jsonl", "line 1", "found", "end"][..],
        &["line 4", "expected 1, found 2"],
        &["line 5", "expected an object, found an array"],
        &["3 lines of slow.jsonl could not be read, 1 could"],
    ]) {
        assert!(words.iter().all(|word| told.contains(word)), "{words:?} in {told}");
    }
    assert_eq!(dir.run(&["plan", "view", "slow.jsonl", "--quiet"]).stderr, "");

    // The first ten are told.
    (0..20).for_each(|_| log.push_str("x\n"));
    dir.write("slow.jsonl", &log);
    assert_eq!(dir.run(&["plan", "view", "slow.jsonl"]).stderr.lines().count(), 11);

    // Nothing is left.
    dir.write("torn.jsonl", torn);
    dir.run(&["plan", "view", "torn.jsonl"]).fails_with(&["torn.jsonl", "line 1"]);
    dir.write("newer.jsonl", &newer);
    dir.run(&["plan", "view", "newer.jsonl"]).fails_with(&["schema_version", "found 2"]);
    dir.write("empty.jsonl", "\n");
    dir.run(&["plan", "view", "empty.jsonl"]).fails_with(&["empty.jsonl", "nothing"]);
    dir.write("bytes.jsonl", [0xff, 0xfe, b'\n']);
    dir.run(&["plan", "view", "bytes.jsonl"]).fails_with(&["UTF-8"]);
    dir.run(&["plan", "view", "none.jsonl"]).fails_with(&["none.jsonl"]);
    dir.run(&["plan", "view", "slow.jsonl", "--limit", "0"]).fails_with(&["--limit"]);
    dir.write("unexplained.jsonl", line(1, "x", "null"));
    dir.run(&["plan", "view", "unexplained.jsonl", "--format", "html"])
        .fails_with(&["searches with their plans", "--format text"]);
}

#[test]
fn a_plan_by_itself_is_a_page_of_one() {
    let dir = Dir::with_titles();
    let one = plan(&dir, "paris");
    dir.write("plan.json", &one);
    assert!(dir.ok(&["plan", "view", "plan.json"]).lines().nth(1).unwrap().contains("paris"));
    let value: serde_json::Value = serde_json::from_str(&one).unwrap();
    dir.write("pretty.json", serde_json::to_string_pretty(&value).unwrap());
    let ran = dir.run(&["plan", "view", "pretty.json", "--format", "html"]);
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    assert!(ran.stdout.starts_with("<!doctype html>"));
}

/// Whatever is wrong with a plan is told as of a plan, where it stands, and wherever the text comes from.
#[test]
fn a_damaged_plan_is_told_as_one() {
    let dir = Dir::with_titles();
    let one = plan(&dir, "paris");
    let value: serde_json::Value = serde_json::from_str(&one).unwrap();
    let pretty = serde_json::to_string_pretty(&value).unwrap();
    let damaged = pretty.replacen("\"query\": \"paris\"", "\"query\": 7", 1);
    let line = 1 + damaged.lines().position(|line| line.contains("\"query\": 7")).unwrap();
    let place = format!("line {line}, column 12");
    let words = ["reading query of a plan", "found the number 7", &place];
    dir.write("damaged.json", &damaged);
    dir.run(&["plan", "view", "damaged.json"]).fails_with(&words);
    dir.run_with(&["plan", "estimates", "-"], damaged.clone()).fails_with(&words);
    let flat = one.replacen("\"query\":\"paris\"", "\"query\":7", 1);
    dir.run_with(&["plan", "view", "-"], flat)
        .fails_with(&["reading query of a plan", "line 1, column"]);
    // A log of which no line can be read is told by its first line.
    let torn = &self::line(5, "x", &one)[..90];
    dir.run_with(&["plan", "view", "-"], format!("{torn}\n{torn}\n"))
        .fails_with(&["line 1, ", "the end of the text"]);
    // In a line of a log the column is that of the line.
    let inside = self::line(5, "x", &one.replacen("\"accepted\":true", "\"accepted\":7", 1));
    let column = 1 + inside.find("\"accepted\":7").unwrap() + "\"accepted\":".len();
    dir.run_with(&["plan", "view", "-"], inside)
        .fails_with(&["of the plan of a slow search", &format!("line 1, column {column})")]);
}

#[test]
fn a_plan_that_was_printed_prettily_comes_through_a_pipe() {
    let dir = Dir::with_titles();
    let value: serde_json::Value = serde_json::from_str(&plan(&dir, "paris")).unwrap();
    let pretty = "\n".to_owned() + &serde_json::to_string_pretty(&value).unwrap();
    let ran = dir.run_with(&["plan", "view", "-"], pretty.clone());
    assert_eq!((ran.status, &*ran.stderr), (0, ""), "{}", ran.stdout);
    assert!(ran.stdout.lines().nth(1).unwrap().contains("paris"), "{}", ran.stdout);
    #[cfg(unix)]
    {
        let pipe = dir.0.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        // Opened once on each side: whoever opened it a second time would wait for ever.
        let writer = std::thread::spawn(move || fs::write(pipe, pretty).unwrap());
        let ran = dir.run(&["plan", "estimates", "pipe"]);
        assert_eq!((ran.status, &*ran.stderr), (0, ""), "{}", ran.stdout);
        writer.join().unwrap();
    }
}

#[test]
fn what_took_longest_may_be_a_facet_within_another() {
    let dir = Dir::with_titles();
    let one = dir.ok(&[
        "explain",
        "t.tp",
        "paris",
        "--analyze",
        "--facet",
        "qualifier",
        "--format",
        "json",
    ]);
    let mut value: serde_json::Value = serde_json::from_str(&one).unwrap();
    let mut inner = value["facets"][0].clone();
    inner["field"] = "inner_field".into();
    inner["actual"]["time_ns"] = 9_000_000_000_u64.into();
    value["facets"][0]["within"] = serde_json::json!([inner]);
    value["findings"] = serde_json::json!([]);
    let table = dir.run_with(&["plan", "view", "-"], value.to_string()).stdout;
    assert!(table.contains(" 99 %: facet inner_field"), "{table}");
}

#[test]
fn the_estimates_of_a_log_are_judged() {
    let dir = Dir::with_titles();
    // Words of which only the best are found are not carried out, and so not judged.
    let searches = [
        ("paris AND history", "--limit=3"),
        ("history OR spain", "--count"),
        ("\"of spain\"", "--limit=3"),
    ];
    for (query, what) in searches {
        dir.run(&["search", "t.tp", query, what, "--slow-ms", "0", "--log", "slow.jsonl"]);
    }
    let table = dir.ok(&["plan", "estimates", "slow.jsonl"]);
    let names: Vec<_> = table.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names[0], "operator");
    for operator in ["Intersect", "Union", "Phrase", "TermScan", "all"] {
        assert!(names.contains(&operator), "{operator} in {table}");
    }
    // A plan that says otherwise is a fault that is told, with the query and the node.
    let plan = plan(&dir, "paris OR spain");
    let mut value: serde_json::Value = serde_json::from_str(&plan).unwrap();
    value["plan"]["estimate"]["upper"] = 0.into();
    value["plan"]["estimate"]["documents"] = 0.into();
    value["plan"]["estimate"]["lower"] = 0.into();
    let log = [plan.clone(), line(5, "off", &value.to_string()), line(6, "x", "null")].join("\n");
    let ran = dir.run_with(&["plan", "estimates", "-", "--format", "json"], log);
    assert_eq!((ran.status, &*ran.stderr), (0, "treepie: without a plan that was run: 1\n"));
    let report = ran.json();
    assert_eq!((&report["plans"], &report["all"]["outside"]), (&2.into(), &1.into()), "{report}");
    assert_eq!(report["all"]["worst"][0]["within_bounds"], false);
    assert_eq!(report["all"]["worst"][0]["query"], "paris OR spain");

    let unrun = dir.ok(&["explain", "t.tp", "paris", "--format", "json"]);
    dir.write("unrun.json", unrun);
    dir.run(&["plan", "estimates", "unrun.json"]).fails_with(&["unrun.json", "--analyze"]);
    dir.run(&["plan", "estimates", "none.jsonl"]).fails_with(&["none.jsonl"]);
    dir.write("torn.jsonl", &plan[..300]);
    dir.run(&["plan", "estimates", "torn.jsonl"]).fails_with(&["torn.jsonl", "line 1"]);
    dir.ok(&["plan", "estimates", "slow.jsonl", "-o", "table.txt"]);
    dir.run(&["plan", "estimates", "slow.jsonl", "-o", "table.txt"]).fails_with(&["--force"]);
    dir.ok(&["plan", "estimates", "slow.jsonl", "-o", "table.json"]);
    assert!(fs::read_to_string(dir.0.join("table.json")).unwrap().starts_with('{'));
}

#[test]
fn two_plans_are_compared() {
    let dir = Dir::with_titles();
    let (before, after) = (plan(&dir, "paris OR spain"), plan(&dir, "paris OR spain OR film"));
    dir.write("before.json", &before);
    dir.write("after.json", &after);
    dir.write("line.jsonl", line(7, "x", &before));
    for same in [["before.json", "before.json"], ["before.json", "line.jsonl"]] {
        assert_eq!(dir.ok(&["plan", "diff", same[0], same[1]]), "The plans are the same.\n");
    }
    let diff =
        |more: &[&str]| dir.run(&[&["plan", "diff", "before.json", "after.json"], more].concat());
    let text = diff(&[]);
    assert_eq!((text.status, &*text.stderr), (1, ""), "{}", text.stdout);
    assert!(
        text.stdout.starts_with("query: paris OR spain → paris OR spain OR film\n"),
        "{}",
        text.stdout
    );
    assert!(text.stdout.contains("\n+ ") && text.stdout.contains("title:film"), "{}", text.stdout);
    assert!(diff(&["--ascii"]).stdout.is_ascii());
    let json = diff(&["--format", "json"]);
    assert_eq!(json.status, 1);
    let kinds: Vec<_> =
        json.json()["nodes"].as_array().unwrap().iter().map(|node| node["kind"].clone()).collect();
    assert!(kinds.contains(&"added".into()), "{kinds:?}");
    for (name, of_format) in [("diff.HTML", &[][..]), ("diff.any", &["--format", "html"])] {
        assert_eq!(diff(&[&["-o", name], of_format].concat()).status, 1);
        let page = fs::read_to_string(dir.0.join(name)).unwrap();
        assert!(page.starts_with("<!doctype html>") && page.contains("paris OR spain OR film"));
    }
    diff(&["-o", "diff.json"]);
    let written = fs::read_to_string(dir.0.join("diff.json")).unwrap();
    assert!(written.starts_with('{'), "{written}");
    diff(&["-o", "diff.html", "--format", "text"]);
    let written = fs::read_to_string(dir.0.join("diff.html")).unwrap();
    assert!(written.starts_with("query: "), "{written}");
    diff(&["-o", "page.html", "--ascii"]).fails_with(&["--ascii is about --format text"]);
    let piped = dir.run_with(&["plan", "diff", "-", "after.json"], before.clone());
    assert_eq!(piped.status, 1);

    dir.run(&["plan", "diff", "-", "-"]).fails_with(&["standard input"]);
    dir.run(&["plan", "diff", "before.json", "none.json"]).fails_with(&["none.json"]);
    dir.write("torn.json", &before[..200]);
    dir.run(&["plan", "diff", "torn.json", "after.json"]).fails_with(&[
        "torn.json",
        "line 1",
        "column",
    ]);
    dir.write("wrong.json", before.replacen("\"accepted\":true", "\"accepted\":7", 1));
    dir.run(&["plan", "diff", "before.json", "wrong.json"])
        .fails_with(&["decisions[0].accepted", "expected true or false, found the number 7"]);
    dir.write("unexplained.jsonl", line(1, "x", "null"));
    dir.run(&["plan", "diff", "before.json", "unexplained.jsonl"])
        .fails_with(&["unexplained.jsonl"]);
    dir.run(&["plan", "diff", "before.json", "after.json", "--format", "json", "--ascii"])
        .fails_with(&["--ascii"]);
}

#[test]
fn the_schema_is_printed() {
    let dir = Dir::new();
    assert_eq!(dir.ok(&["plan", "schema"]), treepie::explain::JSON_SCHEMA);
}
