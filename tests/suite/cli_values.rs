//! The command line with values of types of their own: addresses, paths, objects in objects, nulls, dates told from now.

use crate::cli::Dir;

#[test]
fn addresses_are_recognised_searched_by_blocks_and_exported() {
    let dir = Dir::new();
    let lines = [
        r#"{"path":"/a","from":"10.0.0.7"}"#,
        r#"{"path":"/b","from":"10.9.0.1"}"#,
        r#"{"path":"/c","from":"2001:db8::1"}"#,
        r#"{"path":"/d","from":null}"#,
    ];
    dir.write("log.jsonl", lines.join("\n"));
    let inferred = dir.ok(&["index", "log.tp", "log.jsonl"]);
    assert!(inferred.contains("[fields.from]\ntype = \"ip\""), "{inferred}");
    let count = |query: &str| -> u64 {
        dir.run(&["search", "log.tp", query, "--count"]).stdout.trim().parse().unwrap()
    };
    for (query, expected) in [
        ("from:10.0.0.0/8", 2),
        ("from:10.0.0.0/24", 1),
        ("from:2001:db8::/32", 1),
        ("from:[10.0.0.7 TO 10.9.0.0/16]", 2),
        ("from:IN [10.0.0.7 2001:db8::1]", 2),
        ("from:\"::ffff:10.0.0.7\"", 1),
        ("-from:*", 1),
    ] {
        assert_eq!(count(query), expected, "{query}");
    }
    let search = ["search", "log.tp", "*", "--sort", "from:desc", "--facet", "from:by=value"];
    let found = dir.ok(&[&search[..], &["--format", "json"]].concat());
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["hits"][0]["fields"]["from"], "2001:db8::1");
    let values = found["facets"]["from"]["buckets"].as_array().unwrap();
    let values: Vec<_> = values.iter().map(|bucket| bucket["value"].as_str().unwrap()).collect();
    assert_eq!(values, ["10.0.0.7", "10.9.0.1", "2001:db8::1"]);
    let ran = dir.run(&["search", "log.tp", "from:10.0.0.7/8"]);
    assert!(ran.status == 2 && ran.stderr.contains("as 10.0.0.0/8"), "{}", ran.stderr);
    dir.write("bad.jsonl", "{\"from\":\"10.0.0.1\"}\n{\"from\":\"10.0.0\"}\n");
    dir.run(&["index", "log.tp", "bad.jsonl", "--append"]).fails_with(&[
        "bad.jsonl",
        "line 2",
        "'10.0.0'",
        "the ip field 'from'",
    ]);
    assert!(
        dir.ok(&["inspect", "log.tp", "postings", "10.0.0.7", "--field", "from"]).contains('1')
    );
    dir.write("again.jsonl", dir.ok(&["export", "log.tp"]));
    dir.ok(&["index", "again.tp", "again.jsonl", "--quiet"]);
    assert_eq!(dir.ok(&["export", "again.tp"]), dir.ok(&["export", "log.tp"]));
}

#[test]
fn paths_are_searched_at_every_level_and_counted_below_one() {
    let dir = Dir::new();
    let lines = [
        r#"{"name":"a","place":["home/kitchen/pans","garden"]}"#,
        r#"{"name":"b","place":"home/kitchen"}"#,
        r#"{"name":"c","place":"home\\/office/desk"}"#,
        r#"{"name":"d"}"#,
    ];
    dir.write("things.jsonl", lines.join("\n"));
    let schema =
        "[fields.name]\ntype = \"keyword\"\n[fields.place]\ntype = \"path\"\nmany = true\n";
    dir.write("schema.toml", schema);
    dir.ok(&["index", "t.tp", "things.jsonl", "--schema", "schema.toml"]);
    for (query, expected) in [
        ("place:home", 2),
        ("place:home/kitchen", 2),
        ("place:home//kitchen/", 2),
        ("place:\"/home/kitchen\"", 2),
        ("place:home/kitchen/*", 1),
        ("place:IN [garden home/bath]", 1),
        (r"place:home\\/office", 1),
        (r#"place:"home\\/office/desk""#, 1),
        ("-place:*", 1),
    ] {
        assert_eq!(dir.count(query), expected, "{query}");
    }
    let facet = |option: &str, more: &[&str]| {
        let arguments =
            ["search", "t.tp", "*", "--limit", "0", "--facet", option, "--format", "json"];
        let found = dir.ok(&[&arguments[..], more].concat());
        let found: serde_json::Value = serde_json::from_str(&found).unwrap();
        let buckets = found["facets"]["place"]["buckets"].as_array().unwrap().clone();
        let bucket =
            |it: serde_json::Value| format!("{} {}", it["value"].as_str().unwrap(), it["count"]);
        buckets.into_iter().map(bucket).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(facet("place:under=", &[]), r"home 2, garden 1, home\/office 1");
    assert_eq!(facet("place:under=home", &[]), "home/kitchen 2");
    assert_eq!(facet("place:under=/home/", &[]), "home/kitchen 2");
    assert_eq!(facet(r"place:under=home\\/office", &[]), r"home\/office/desk 1");
    let selected = ["--select", "place=home/kitchen/pans"];
    assert_eq!(facet("place:under=home", &selected), "home/kitchen 2");
    for (arguments, words) in [
        (&["*", "--facet", r"place:under=ho\\me"][..], "before '/' or another backslash"),
        (&["*", "--facet", "name:under=home"], "found a keyword field"),
        (&["*", "--sort", "place"], "the path field 'place'"),
        (&["place:\"\""], "one name at least"),
    ] {
        let ran = dir.run(&[&["search", "t.tp"], arguments].concat());
        assert!(ran.status == 2 && ran.stderr.contains(words), "{}", ran.stderr);
    }
    dir.write("bad.jsonl", "{\"place\":\"a\"}\n{\"place\":\"//\"}\n");
    dir.run(&["index", "t.tp", "bad.jsonl", "--append"]).fails_with(&[
        "bad.jsonl",
        "line 2",
        "'//'",
        "the path field 'place'",
    ]);
    dir.write("again.jsonl", dir.ok(&["export", "t.tp"]));
    dir.ok(&["index", "again.tp", "again.jsonl", "--schema", "schema.toml", "--quiet"]);
    assert_eq!(dir.ok(&["export", "again.tp"]), dir.ok(&["export", "t.tp"]));
}

#[test]
fn objects_in_objects_are_fields_named_by_the_way_to_them() {
    let dir = Dir::new();
    let lines = [
        r#"{"name":"lamp","maker":{"name":"Acme","since":{"year":1922}},"parts":[{"no":1},{"no":2}]}"#,
        r#"{"name":"chair","maker":null,"parts":[]}"#,
        r#"{"name":"desk","maker.name":"Bolt","parts":[{"no":[2,3]}]}"#,
    ];
    dir.write("shop.jsonl", lines.join("\n"));
    let inferred = dir.ok(&["index", "t.tp", "shop.jsonl"]);
    for field in ["maker.name", "maker.since.year", "parts.no"] {
        assert!(inferred.contains(&format!("[fields.\"{field}\"]")), "{inferred}");
    }
    for (query, expected) in [
        ("maker.name:acme", 1),
        ("maker.since.year:<2000", 1),
        ("parts.no:2", 2),
        ("-maker.name:*", 1),
    ] {
        assert_eq!(dir.count(query), expected, "{query}");
    }
    // What is exported is the same index again.
    let exported = dir.ok(&["export", "t.tp"]);
    assert!(exported.contains(r#""parts.no":[1,2]"#), "{exported}");
    dir.write("again.jsonl", &*exported);
    dir.ok(&["index", "again.tp", "again.jsonl", "--quiet"]);
    assert_eq!(dir.ok(&["export", "again.tp"]), exported);
    dir.write("bad.jsonl", "{\"maker\":{\"name\":\"x\"}}\n{\"maker\":\"Acme\"}\n");
    dir.run(&["index", "t.tp", "bad.jsonl", "--append"]).fails_with(&[
        "bad.jsonl",
        "line 2",
        "an object, as the schema has fields of 'maker', found a string",
    ]);
    dir.run(&["index", "n.tp", "bad.jsonl"]).fails_with(&["bad.jsonl", "'maker'", "--schema"]);
}

#[test]
fn null_empty_and_missing_are_three_things_where_they_are_kept() {
    let dir = Dir::new();
    let lines = [
        r#"{"name":"a","tags":["x"],"price":1}"#,
        r#"{"name":"b","price":null,"tags":[]}"#,
        r#"{"name":"","tags":[""]}"#,
        r#"{"name":null,"tags":null}"#,
    ];
    dir.write("things.jsonl", lines.join("\n"));
    let fields = "[fields.name]\ntype = \"keyword\"\n[fields.tags]\ntype = \"keyword\"\nmany = true\n\
                  [fields.price]\ntype = \"i64\"\n";
    dir.write("schema.toml", format!("{fields}[index]\nnulls = true\n"));
    dir.ok(&["index", "t.tp", "things.jsonl", "--schema", "schema.toml"]);
    for (query, expected) in [
        ("_null:price", 1),
        ("_missing:price", 2),
        ("_empty:tags", 2),
        ("_null:tags", 1),
        ("_missing:tags", 0),
        ("_empty:name AND -_missing:name", 1),
        ("tags:*", 2),
    ] {
        assert_eq!(dir.count(query), expected, "{query}");
    }
    // What was said is shown, and exported.
    assert_eq!(dir.ok(&["export", "t.tp"]), lines.join("\n") + "\n");
    let found = dir.ok(&["search", "t.tp", "_null:price", "--format", "jsonl"]);
    assert!(found.contains(r#""fields":{"name":"b","price":null,"tags":[]}"#), "{found}");
    let found =
        dir.ok(&["search", "t.tp", "_null:price", "--format", "jsonl", "--fields", "_null"]);
    assert!(found.contains(r#""fields":{"_null":["price"]}"#), "{found}");
    let table = dir.ok(&["search", "t.tp", "name:b", "--format", "tsv"]);
    assert!(table.starts_with("doc\tscore\tname\ttags\tprice\n"), "{table}");
    assert_eq!(dir.ok(&["inspect", "t.tp", "schema"]), format!("{fields}[index]\nnulls = true\n"));
    for (query, words) in [("_null:prise", "did you mean 'price'?"), ("_missing:x", "found 'x'")] {
        let ran = dir.run(&["search", "t.tp", query]);
        assert!(ran.status == 2 && ran.stderr.contains(words), "{}", ran.stderr);
    }
    dir.write("schema.toml", fields);
    dir.ok(&["index", "n.tp", "things.jsonl", "--schema", "schema.toml"]);
    let ran = dir.run(&["search", "n.tp", "_null:price"]);
    assert!(ran.status == 2 && ran.stderr.contains("`nulls = true`"), "{}", ran.stderr);
}

/// As the table has it that documents `Query::missing`.
#[test]
fn what_a_record_says_of_a_field_is_one_of_three_things_or_a_value() {
    let dir = Dir::new();
    let lines = [
        r#"{"id":"nothing"}"#,
        r#"{"id":"null","tag":null}"#,
        r#"{"id":"nulls","tag":[null]}"#,
        r#"{"id":"list","tag":[]}"#,
        r#"{"id":"text","tag":""}"#,
        r#"{"id":"texts","tag":["",null]}"#,
        r#"{"id":"value","tag":"a"}"#,
        r#"{"id":"values","tag":["a",null]}"#,
        r#"{"id":"object","of":{}}"#,
        r#"{"id":"inner","of":{"tag":null}}"#,
    ];
    dir.write("said.jsonl", lines.join("\n"));
    let fields = "[fields.id]\ntype = \"keyword\"\n[fields.tag]\ntype = \"keyword\"\nmany = true\n\
                  [fields.\"of.tag\"]\ntype = \"keyword\"\n";
    dir.write("schema.toml", format!("{fields}[index]\nnulls = true\n"));
    dir.ok(&["index", "t.tp", "said.jsonl", "--schema", "schema.toml"]);
    dir.write("schema.toml", fields);
    dir.ok(&["index", "n.tp", "said.jsonl", "--schema", "schema.toml"]);
    for (index, query, expected) in [
        ("t.tp", "tag:*", "text texts value values"),
        ("t.tp", "_null:tag", "null nulls"),
        ("t.tp", "_empty:tag", "list text texts"),
        ("t.tp", "_missing:tag", "nothing object inner"),
        ("t.tp", "_null:of.tag", "inner"),
        ("t.tp", "_missing:of.tag", "nothing null nulls list text texts value values object"),
        ("n.tp", "tag:*", "text texts value values"),
        ("n.tp", "_missing:tag", "nothing null nulls list object inner"),
    ] {
        let found = dir.ok(&["search", index, query, "--format", "jsonl", "--fields", "id"]);
        let ids: Vec<String> = found
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|hit| hit["fields"]["id"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(ids.join(" "), expected, "{query} in {index}");
    }
}

#[test]
fn dates_are_told_from_now_and_in_a_time_zone() {
    let dir = Dir::new();
    let dates =
        ["2024-03-30T22:30Z", "2024-03-30T23:30Z", "2024-03-31T21:30Z", "2024-03-31T22:30Z"];
    let lines = dates.map(|date| format!("{{\"since\":\"{date}\"}}"));
    dir.write("dates.jsonl", lines.join("\n"));
    dir.ok(&["index", "t.tp", "dates.jsonl", "--quiet"]);
    let count = |arguments: &[&str]| -> u64 {
        let arguments = [&["search", "t.tp", "--count"], arguments].concat();
        dir.run(&arguments).stdout.trim().parse().unwrap()
    };
    let berlin = ["--zone", "Europe/Berlin"];
    assert_eq!(count(&["since:2024-03-31"]), 2);
    assert_eq!(count(&[&["since:2024-03-31"], &berlin[..]].concat()), 2);
    assert_eq!(count(&[&["since:2024-04"], &berlin[..]].concat()), 1);
    let now = ["--now", "2024-03-31T21:30Z"];
    assert_eq!(count(&[&["since:now"], &now[..]].concat()), 1);
    assert_eq!(count(&[&["since:{now-1d TO now]"], &now[..]].concat()), 3);
    assert_eq!(count(&["since:<now"]), 4);
    let by_day = |option: &str| {
        let found =
            dir.ok(&["search", "t.tp", "*", "--facet", option, "--limit", "0", "--format", "json"]);
        let found: serde_json::Value = serde_json::from_str(&found).unwrap();
        let buckets = found["facets"]["since"]["buckets"].as_array().unwrap().clone();
        let shown =
            |it: &serde_json::Value| format!("{} {}", it["from"].as_str().unwrap(), it["count"]);
        buckets.iter().map(shown).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(by_day("since:day"), "2024-03-30T00:00:00Z 2, 2024-03-31T00:00:00Z 2");
    assert_eq!(
        by_day("since:day,zone=Europe/Berlin"),
        "2024-03-30T00:00:00+01:00 1, 2024-03-31T00:00:00+01:00 2, 2024-04-01T00:00:00+02:00 1"
    );
    // The zone of the command is that of days and of the ends of ranges, and now is now in all of it.
    let of_berlin = |option: &str, more: &[&str]| {
        let arguments =
            [&["search", "t.tp", "*", "--facet", option, "--limit", "0", "--format", "json"], more];
        let found: serde_json::Value = serde_json::from_str(&dir.ok(&arguments.concat())).unwrap();
        found["facets"]["since"]["buckets"].to_string()
    };
    let days = of_berlin("since:day", &berlin);
    assert_eq!(days, of_berlin("since:day,zone=Europe/Berlin", &[]));
    assert_eq!(days, of_berlin("since:day,zone=Europe/Berlin", &["--zone", "Asia/Tokyo"]));
    assert!(of_berlin("since:auto=3", &berlin).contains("2024-03-31T00:00:00+01:00"));
    let rows = ["search", "t.tp", "*", "--facet", "since:day,zone=+05:30", "--limit", "0"];
    let rows = dir.ok(&[&rows[..], &["--format", "csv"]].concat());
    let first = "since,2024-03-31T00:00:00+05:30..2024-04-01T00:00:00+05:30,2\n";
    assert!(rows.contains(first), "{rows}");
    assert_eq!(
        of_berlin("since:2024-03-31..2024-04", &berlin),
        r#"[{"from":"2024-03-30T23:00:00Z","to":"2024-03-31T22:00:00Z","count":2}]"#
    );
    assert_eq!(
        of_berlin("since:now-1d/d..now/d", &[&berlin[..], &["--now", "2024-04-01"]].concat()),
        r#"[{"from":"2024-03-30T23:00:00Z","to":"2024-03-31T22:00:00Z","count":2}]"#
    );
    let values = of_berlin("since:from=2024-03-31,to=now", &[&berlin[..], &now[..]].concat());
    assert_eq!(values, r#"[{"value":"2024-03-30T23:30:00Z","count":1}]"#);
    // A day that is selected is that of the facet beside it.
    assert_eq!(count(&[&["*", "--select", "since=2024-04-01"], &berlin[..]].concat()), 1);
    assert_eq!(
        count(&[&["*", "--select", "since=now/d", "--now", "2024-03-31"], &berlin[..]].concat()),
        2
    );
    let plan = dir.ok(&["explain", "t.tp", "since:>now-1h", "--now", "2024-03-31T21:30Z"]);
    assert!(plan.contains("2024-03-31T20:30:00.000000Z"), "{plan}");
    for (arguments, words) in [
        (&["*", "--zone", "Mars/Olympus"][..], "'Mars/Olympus'"),
        (&["*", "--facet", "since:day,zone=Mars/Olympus"], "'Mars/Olympus'"),
        (&["*", "--facet", "since:now-7x.."], "an end of a range of 'since'"),
        (&["*", "--facet", "since:2011-12-30..", "--zone", "Pacific/Apia"], "a day that clocks"),
        (&["*", "--decay", "since:now-7x,1d"], "as origin now"),
        (&["*", "--now", "soon"], "'soon'"),
        (&["since:now-7x"], "'now-7x'"),
        (&["since:2024-03-31T02:30", "--zone", "Europe/Berlin"], "clocks of Europe/Berlin"),
    ] {
        let ran = dir.run(&[&["search", "t.tp"], arguments].concat());
        assert!(ran.status == 2 && ran.stderr.contains(words), "{}", ran.stderr);
    }
    dir.write("t.csv", "since\n2024-03-31 01:30\n2024-03-31 02:30\n");
    dir.write("t.toml", "[fields.since]\ntype = \"date\"\nzone = \"Europe/Berlin\"\n");
    let index = ["index", "csv.tp", "t.csv", "--schema", "t.toml", "--input-format", "csv"];
    dir.run(&index).fails_with(&["t.csv", "line 3", "the date field 'since'", "clocks of"]);
    dir.ok(&[&index[..], &["--skip-bad-lines", "--overwrite"]].concat());
    assert_eq!(dir.ok(&["export", "csv.tp"]), "{\"since\":\"2024-03-31T00:30:00Z\"}\n");
    // Without --zone the field's own is that of its days.
    let found = dir.ok(&["search", "csv.tp", "*", "--facet", "since:day", "--limit", "0"]);
    assert!(found.contains("2024-03-31T00:00:00+01:00..2024-04-01T00:00:00+02:00"), "{found}");
    let best =
        ["search", "csv.tp", "*", "--decay", "since:2024-03-31T01:30,1s", "--format", "json"];
    let found: serde_json::Value = serde_json::from_str(&dir.ok(&best)).unwrap();
    assert_eq!(found["hits"][0]["score"], 1.0, "{found}");
    dir.ok(&[
        "delete",
        "t.tp",
        "since:<now/d",
        "--now",
        "2024-03-31T12:00Z",
        "--zone",
        "-02:00",
        "--yes",
    ]);
    assert_eq!(count(&["*"]), 2);
}

#[test]
fn a_key_that_each_field_within_would_repeat_is_bounded() {
    let dir = Dir::new();
    let within: Vec<_> = (0..1_000).map(|nth| format!("\"a{nth}\":1")).collect();
    let line = format!("{{\"{}\":{{{}}}}}\n", "k".repeat(4 << 20), within.join(","));
    dir.write("a.jsonl", format!("{{\"name\":\"x\"}}\n{line}"));
    dir.run(&["index", "t.tp", "a.jsonl"]).fails_with(&["line 2", "at most 255 bytes"]);
}

#[test]
fn rows_of_sorted_hits_have_a_column_for_each_key() {
    let dir = Dir::new();
    dir.write("a.jsonl", "{\"name\":\"a lamp\",\"price\":3,\"stock\":5}\n".repeat(2));
    dir.ok(&["index", "t.tp", "a.jsonl"]);
    let rows = dir.ok(&["search", "t.tp", "lamp", "--sort", "price:desc,stock", "--format", "tsv"]);
    let n_cells = |row: &str| row.split('\t').count();
    assert!(
        rows.lines().all(|row| n_cells(row) == n_cells(rows.lines().next().unwrap())),
        "{rows}"
    );
}

#[test]
fn an_order_of_documents_is_given_on_the_command_line_or_in_a_schema_file() {
    let dir = Dir::new();
    dir.write(
        "a.csv",
        "name,price,since\njay,3,2020-05-01\nrook,12,2019-01-31\npie,3,2021-01-01\n",
    );
    let order_of = |index: &str, args: &[&str]| {
        dir.ok(&[&["index", index, "a.csv", "--quiet"], args].concat());
        dir.ok(&["verify", index]);
        let hits = dir.ok(&["search", index, "*", "--format", "jsonl"]);
        let name = |line: &str| -> String {
            let hit: serde_json::Value = serde_json::from_str(line).unwrap();
            hit["fields"]["name"].as_str().unwrap().to_owned()
        };
        (hits.lines().map(name).collect::<Vec<_>>(), dir.ok(&["inspect", index, "schema"]))
    };
    let (names, schema) = order_of("a.tp", &["--order-by", "price,-since"]);
    assert_eq!(names, ["pie", "jay", "rook"]);
    assert!(schema.ends_with("[index]\norder = [\"price\", \"-since\"]\n"), "{schema}");
    // As the schema that was printed says, and another order instead of that.
    dir.write("schema.toml", &schema);
    assert_eq!(order_of("b.tp", &["--schema", "schema.toml"]), (names, schema));
    let (names, _) = order_of("c.tp", &["--schema", "schema.toml", "--order-by", "-price"]);
    assert_eq!(names, ["rook", "jay", "pie"]);
    let plan = dir.ok(&["explain", "a.tp", "*", "--sort", "price", "--analyze"]);
    assert!(plan.contains("what matches, in the order of the index"), "{plan}");
    let with = |order: &str| dir.run(&["index", "d.tp", "a.csv", "--order-by", order]);
    with("prize").fails_with(&["one of name, price, since", "found 'prize'"]);
    with("name.text").fails_with(&["field 'name.text'"]);
    with("").fails_with(&["found ''"]);
    with("price,price").fails_with(&["each field once", "'price' twice"]);
    let appended = dir.run(&["index", "a.tp", "a.csv", "--append", "--order-by", "price"]);
    appended.fails_with(&["--order-by", "--append"]);
}
