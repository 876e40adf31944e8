//! Broken tables, and JSON in every layout.

use super::Dir;

const SCHEMA: &str = "[fields.id]\ntype = \"i64\"\n[fields.t]\ntype = \"text\"\n";

/// Each broken file fails with words that have its line, and keeps all of its other records where bad ones are left out.
fn check(dir: &Dir, input: &str, text: &str, words: &[&str], kept: &[i64]) {
    dir.write(input, text);
    let index = ["index", "t.tp", input, "--schema", "s.toml", "--overwrite"];
    dir.run(&index).fails_with(&[&[input, "--skip-bad-lines"], words].concat());
    let ran = dir.run(&[&index[..], &["--skip-bad-lines", "--quiet"]].concat());
    assert_eq!(ran.status, 0, "{text:?}: {}", ran.stderr);
    assert!(ran.stderr.contains("left out"), "{}", ran.stderr);
    words.iter().for_each(|word| assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr));
    let exported = dir.ok(&["export", "t.tp"]);
    let ids: Vec<i64> = exported
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_i64().unwrap()
        })
        .collect();
    assert_eq!(ids, kept, "{text:?}: {exported}");
}

#[test]
fn a_quote_left_open_or_astray_is_told_with_its_place_and_loses_its_line_only() {
    let dir = Dir::new();
    dir.write("s.toml", SCHEMA);
    for (text, words, kept) in [
        (
            "id,t\n0,x\n1,\"abc\n2,def\n3,ghi",
            &["closing quote", "line 3", "column 3"][..],
            &[0, 2, 3][..],
        ),
        ("id,t\n1,\"5\" pipe\n2,b\n", &["line 2", "column 3", "'p' at column 7"], &[2]),
        ("id,t\n1,\"a\"b\"c\"\n2,b\n", &["line 2", "'b'"], &[2]),
        ("id,t\r\n1,\"abc\r\n2,\"d\"\r\n3,e\r\n", &["line 2", "'d' in line 3"], &[2, 3]),
        ("id,t\n1,a\n2\n3,c\n4,d,e\n5,f\n", &["expected 2 cells", "line 3"], &[1, 3, 5]),
        ("id,t\n1,a\n2,b,\n3,c\n", &["expected 2 cells", "found 3", "line 3"], &[1, 3]),
    ] {
        check(&dir, "a.csv", text, words, kept);
    }
    dir.write("open.csv", "id,\"t\n1,a\n");
    dir.run(&["index", "n.tp", "open.csv"]).fails_with(&["open.csv", "line 1", "column 4"]);
    // What can be read in one way only.
    for (text, expected) in [
        ("id,t\n1,a\"b\n", "a\\\"b"),
        ("id,t\n1,5\" pipe\n", "5\\\" pipe"),
        ("id,t\n1,\"a \"\"b\"\"\nc\"\n", "a \\\"b\\\"\\nc"),
        ("id, t\n1, \"a, b\" \n", "a, b"),
        ("id,t\r1,mac\r", "mac"),
        ("\n\r\nid,t\n\n1,\"\"\"\"\n\n", "\\\""),
        ("id,t\n1,a\0b\n", "a\\u0000b"),
        ("id,t,\n1,more,\n", "more"),
    ] {
        dir.write("a.csv", text);
        dir.ok(&["index", "t.tp", "a.csv", "--schema", "s.toml", "--overwrite", "--quiet"]);
        assert_eq!(
            dir.ok(&["export", "t.tp"]),
            format!("{{\"id\":1,\"t\":\"{expected}\"}}\n"),
            "{text:?}"
        );
    }
}

#[test]
fn an_open_quote_in_a_large_file_takes_no_memory() {
    let dir = Dir::new();
    dir.write("s.toml", SCHEMA);
    let mut text = "id,t\n0,x\n1,\"abc\n".to_owned();
    let long = "x".repeat(1_000);
    (0..20_000).for_each(|n| text.push_str(&format!("{n},{long}\n")));
    let index = ["index", "t.tp", "-", "--schema", "s.toml", "--input-format", "csv"];
    dir.run_with(&index, text.clone()).fails_with(&["line 3", "column 3", "16 MiB"]);
    let ran = dir.run_with(&[&index[..], &["--skip-bad-lines", "--quiet"]].concat(), text);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(dir.count("*"), 20_001);
}

#[test]
fn json_is_read_in_every_layout() {
    let dir = Dir::new();
    let expected =
        "{\"id\":1,\"t\":\"a {[\\\"]}\"}\n{\"id\":2,\"t\":\"b\"}\n{\"id\":3,\"t\":\"c\"}\n";
    let objects: Vec<&str> = expected.lines().collect();
    let pretty: Vec<String> = objects
        .iter()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|value| serde_json::to_string_pretty(&value).unwrap())
        .collect();
    let all: Vec<serde_json::Value> =
        objects.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (name, text) in [
        ("a.jsonl", expected.to_owned()),
        ("a.json", format!("[{}]", objects.join(","))),
        ("b.json", format!("[\n{}\n]\n", objects.join(",\n"))),
        ("c.json", serde_json::to_string_pretty(&all).unwrap()),
        ("c-without-a-name", serde_json::to_string_pretty(&all).unwrap()),
        ("d.json", pretty.join("\n")),
        ("d-without-a-name", pretty.join("\n")),
        ("e.ndjson", objects.join("")),
        ("f.json", format!("{} {}\r\n\r\n[{}]", objects[0], objects[1], objects[2])),
        ("g.json", expected.replace('\n', "\r")),
    ] {
        dir.write(name, &text);
        for more in [&[][..], &["--input-format", "json"]] {
            dir.ok(&[&["index", "t.tp", name, "--overwrite", "--quiet"], more].concat());
            assert_eq!(dir.ok(&["export", "t.tp"]), expected, "{name} {more:?}");
        }
        dir.ok(&["index", "t.tp", name, "--append", "--quiet"]);
        assert_eq!(dir.ok(&["export", "t.tp"]), expected.repeat(2), "{name}");
    }
    // A list that is longer than what is looked at, and than one object may be, on one line.
    let long = "x".repeat(1_000);
    let many: Vec<String> =
        (0..20_000).map(|n| format!("{{\"id\":{n},\"t\":\"{long}\"}}")).collect();
    dir.write("long.json", format!("[{}]", many.join(",")));
    dir.ok(&["index", "t.tp", "long.json", "--overwrite", "--quiet"]);
    assert_eq!(dir.count("*"), 20_000);
}

#[test]
fn what_is_wrong_in_json_has_its_line_and_loses_itself_only() {
    let dir = Dir::new();
    dir.write("s.toml", SCHEMA);
    for (text, words, kept) in [
        (
            "{\"id\":1}\n{\"id\":2\n{\"id\":3}\n",
            &["line 2", "found '{' in line 3 at column 1"][..],
            &[1, 3][..],
        ),
        ("{\"id\":1}\n{\"id\":2", &["line 2", "EOF"], &[1]),
        ("{\"id\":1}\n{\n\"id\":2,\n", &["line 2", "the end of the input"], &[1]),
        (
            "{\n \"id\": 1\n}\n{\n \"id\": x,\n \"t\": {\n  \"id\": 9 }\n}\n{\n \"id\": 3\n}\n",
            &["line 4", "at column 8"],
            &[1, 3],
        ),
        (
            "[{\"id\":1},\n{\"id\" 2},\n{\"id\":3}]",
            &["line 2, column 7", "':' after a key"],
            &[1, 3],
        ),
        ("[{\"id\":1},\n{\"id\":2},\n]", &["line 3, column 1", "an object after ','"], &[1, 2]),
        ("[{\"id\":1},\n{\"id\":2}\n", &["line 1", "']' at the end of the list"], &[1, 2]),
        ("[{\"id\":1},\n7,\n{\"id\":2}]\n", &["line 2, column 1", "found a number"], &[1, 2]),
        ("{\"id\":1} and {\"id\":2}\n{\"id\":3}\n", &["line 1, column 10", "found 'a'"], &[1, 3]),
        ("{\"id\":1},\n{\"id\":2}\n", &["line 1, column 9", "found ','"], &[1, 2]),
        ("{\"id\":1}\n\"two\"\n{\"id\":3}\n", &["line 2", "an object, found a string"], &[1, 3]),
        ("{\"id\":1}\n{\"id\":\"\n{\"id\":3}\n", &["line 2", "JSON"], &[1, 3]),
        (
            "{\n\"id\":\"\u{E9}\",\n\"t\":\"\\ud83d\"}\n{\"id\":3}\n",
            &["half of a surrogate pair, in line 3 at column 6"],
            &[3],
        ),
    ] {
        check(&dir, "a.json", text, words, kept);
    }
    dir.write("rows.json", "{\"count\":2,\"rows\":[{\"id\":1},{\"id\":2}]}\n");
    dir.run(&["index", "n.tp", "rows.json"]).fails_with(&[
        "rows.json",
        "'rows'",
        "jq",
        "--input-format",
    ]);
    // Where nothing can be read, what is wrong is told and not that there are no fields.
    for (text, words) in [
        ("{\"a\":1", "EOF"),
        ("{\n\"a\":\n", "the end of the object"),
        ("[{\"a\" 1}]", "':' after a key"),
    ] {
        dir.write("broken.json", text);
        dir.run(&["index", "n.tp", "broken.json"]).fails_with(&["broken.json", "line 1", words]);
        dir.run(&["schema", "infer", "broken.json"]).fails_with(&["broken.json", "line 1", words]);
    }
    dir.write("list.json", "[1, 2]\n");
    dir.run(&["index", "n.tp", "list.json", "--schema", "s.toml"])
        .fails_with(&["found a number", "line 1"]);
}
