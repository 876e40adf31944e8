//! `search`: what it prints and in what order, and queries that are wrong or hurt.

use super::{Dir, Ran};
use serde_json::{Value, json};
use std::io::Read;

#[test]
fn search_prints_the_json_that_is_promised() {
    let dir = Dir::with_titles();
    let arguments = ["search", "t.tp", "paris", "--facet", "qualifier:3", "--format", "json"];
    let page = dir.run(&arguments).json();
    assert_eq!(page["query"], "paris");
    assert_eq!(page["total"], serde_json::json!({"value": 2, "relation": "exact"}));
    assert!(page["took_us"].is_u64());
    // "Paris" is the shorter of two titles with the word, so it is the better.
    assert!(page["hits"][0]["score"].as_f64() > page["hits"][1]["score"].as_f64(), "{page}");
    assert_eq!(page["hits"][1]["fields"]["title"], "Paris, Texas (film)");
    let facet = &page["facets"]["qualifier"];
    assert_eq!(facet["kind"], "terms");
    assert_eq!(facet["buckets"], serde_json::json!([{"value": "film", "count": 1}]));
    assert_eq!(facet["missing"], 1);
    assert_eq!(facet["exact"], true);
    assert!(facet.get("other").is_some());
    let count = dir.run(&["search", "t.tp", "paris", "--count", "--format", "json"]);
    assert_eq!(count.stdout, "{\"count\":2}\n");
    let hits = dir.ok(&["search", "t.tp", "paris", "--format", "jsonl"]);
    let hits: Vec<Value> = hits.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(hits.len(), 2);
    assert_eq!(hits[0]["fields"]["title"], "Paris");
    if cfg!(not(feature = "arrow")) {
        dir.run(&["search", "t.tp", "paris", "--format", "arrow"])
            .fails_with(&["the feature `arrow`", "--features arrow"]);
    }
    let page = dir.run(&["search", "t.tp", "paris", "--explain", "--format", "json"]).json();
    assert!(page["explain"]["plan"]["actual"]["documents"].is_u64());
}

#[test]
fn counting_stops_where_it_is_told() {
    let dir = Dir::new();
    let lines: String = (0..200_000).map(|n| format!("number {}\n", n % 3)).collect();
    dir.write("a.txt", lines);
    dir.ok(&["index", "t.tp", "a.txt", "--quiet"]);
    for (total, relation) in [("none", "unknown"), ("5", "at_least"), ("exact", "exact")] {
        let query = ["search", "t.tp", "(0 OR 1)^=1", "--limit", "1", "--format", "json"];
        let page = dir.run(&[&query[..], &["--total", total]].concat()).json();
        assert_eq!(page["total"]["relation"], relation, "--total {total}: {page}");
        assert_eq!(page["hits"].as_array().unwrap().len(), 1);
        if total == "exact" {
            assert_eq!(page["total"]["value"], 133_334);
        }
    }
    dir.run(&["search", "t.tp", "0", "--total", "most"]).fails_with(&["--total", "most"]);
}

#[test]
fn hits_are_grouped_and_rows_have_what_they_are_sorted_by() {
    let dir = Dir::new();
    let lines = [
        r#"{"brand":"acme","price":3,"name":"pan"}"#,
        r#"{"brand":"acme","price":9,"name":"pot"}"#,
        r#"{"brand":"bolt","price":6,"name":"lid"}"#,
        r#"{"price":4,"name":"cup"}"#,
        r#"{"price":5,"name":"mug"}"#,
    ];
    dir.write("a.jsonl", lines.join("\n"));
    let brand = "[fields.brand]\ntype = \"keyword\"\nfacet = true\nmany = false\n";
    let rest = "[fields.price]\ntype = \"i64\"\n[fields.name]\ntype = \"text\"\n";
    dir.write("s.toml", format!("{brand}{rest}"));
    dir.ok(&["index", "t.tp", "a.jsonl", "--schema", "s.toml", "--quiet"]);
    let search = |more: &[&str]| {
        let typed = ["search", "t.tp", "*", "--sort", "price:desc", "--fields", "name"];
        dir.run(&[&typed[..], more].concat())
    };
    let rows = |more: &[&str]| search(&[more, &["--format", "tsv"]].concat()).stdout;
    let of_brand = rows(&["--collapse", "brand"]);
    let expected =
        "doc\tscore\tsort\tgroup\tname\n1\t\t9\tacme\tpot\n2\t\t6\tbolt\tlid\n4\t\t5\t\tmug\n";
    assert_eq!(of_brand, expected);
    assert_eq!(rows(&["--limit", "1"]), "doc\tscore\tsort\tname\n1\t\t9\tpot\n");
    let page = search(&["--collapse", "brand:2,missing=each", "--format", "json"]).stdout;
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    assert_eq!((&page["groups"], &page["total"]["value"]), (&4.into(), &5.into()));
    assert_eq!(page["hits"][0]["group"], "acme");
    assert_eq!(page["hits"][4]["group"], "acme");
    let text = search(&["--collapse", "brand"]).stdout;
    assert!(text.starts_with("5 documents, 3 groups "), "{text}");
    let plan = dir.ok(&["explain", "t.tp", "*", "--collapse", "brand", "--analyze"]);
    assert!(plan.contains("Collapse") && plan.contains("one of each brand"), "{plan}");
    search(&["--collapse", "name"]).fails_with(&["grouping hits", "the text field 'name'"]);
    search(&["--collapse", "brand:none"]).fails_with(&["--collapse", "'brand:none'"]);
}

#[test]
fn rows_come_as_tsv_and_csv() {
    let dir = Dir::new();
    dir.write("a.jsonl", "{\"title\":\"a\\tb, \\\"c\\\"\",\"tag\":[\"x\",\"y\"]}\n");
    dir.ok(&["index", "t.tp", "a.jsonl", "--quiet"]);
    let tsv = dir.ok(&["search", "t.tp", "*", "--format", "tsv"]);
    assert_eq!(tsv, "doc\tscore\ttitle\ttag\ttag\n0\t1.0\ta\\tb, \"c\"\tx\ty\n");
    let csv = dir.ok(&["search", "t.tp", "*", "--format", "csv", "--fields", "tag,title"]);
    assert_eq!(csv, "doc,score,tag,tag,title\n0,1.0,x,y,\"a\tb, \"\"c\"\"\"\n");
    let facets =
        dir.ok(&["search", "t.tp", "*", "--limit", "0", "--facet", "tag", "--format", "csv"]);
    assert_eq!(facets, "field,value,count\ntag,x,1\ntag,y,1\n");
    dir.run(&["search", "t.tp", "*", "--facet", "tag", "--format", "csv"])
        .fails_with(&["--limit 0"]);
}

#[test]
fn a_page_goes_on_after_a_hit_and_parameters_are_heard() {
    let dir = Dir::with_titles();
    let ask = |query: &str, more: &[&str]| {
        dir.run(&[&["search", "t.tp", query, "--format", "json"], more].concat())
    };
    let search = |more: &[&str]| ask("paris film book", more);
    let hits = search(&[]).json()["hits"].clone();
    let hits = hits.as_array().unwrap();
    assert!(hits.len() > 2);
    let after = format!("{}:{}", hits[0]["score"], hits[0]["doc"]);
    let rest = search(&["--after", &after, "--limit", "2"]).json();
    assert_eq!(rest["hits"].as_array().unwrap()[..], hits[1..3]);
    search(&["--after", "best"]).fails_with(&["--after", "SCORE:DOC", "'best'"]);
    // With k1 0 a word counts once, however long the title.
    let scores = |more: &[&str]| {
        let found = ask("paris", more).json();
        [0, 1].map(|nth: usize| found["hits"][nth]["score"].as_f64().unwrap())
    };
    let ([best, worse], [one, other]) = (scores(&[]), scores(&["--bm25", "title:0,0"]));
    assert!(best > worse && one == other, "{best} {worse} {one} {other}");
    search(&["--bm25", "title:1"]).fails_with(&["--bm25", "FIELD:K1,B"]);
    search(&["--bm25", "title:-1,0"]).fails_with(&["k1 of 0 or more"]);
    search(&["--bm25", "name:1,0"]).fails_with(&["'name'"]);
}

#[test]
fn hits_come_in_the_order_of_fields_page_after_page() {
    let dir = Dir::new();
    let rows = [
        ("jay", "3.5", "2020-05-01"),
        ("magpie", "", "2019-01-31T08:00:00.25Z"),
        ("rook", "12.25", ""),
    ];
    let rows = rows.map(|(name, price, since)| format!("{name},{price},{since}\n")).concat();
    dir.write("a.csv", format!("name,price,since\n{rows}"));
    let schema = "[fields.name]\ntype = \"text\"\n[fields.price]\ntype = \"decimal\"\nscale = 2\n[fields.since]\ntype = \"date\"\n";
    dir.write("schema.toml", schema);
    dir.ok(&["index", "t.tp", "a.csv", "--schema", "schema.toml", "--quiet"]);
    let names = |args: &[&str]| -> Vec<String> {
        let printed = dir.ok(&[&["search", "t.tp", "*", "--format", "jsonl"], args].concat());
        let name = |line: &str| {
            let hit: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(hit["score"], serde_json::Value::Null);
            hit["fields"]["name"].as_str().unwrap().to_owned()
        };
        printed.lines().map(name).collect()
    };
    assert_eq!(names(&["--sort", "price"]), ["jay", "rook", "magpie"]);
    assert_eq!(names(&["--sort", "price:desc,since"]), ["rook", "jay", "magpie"]);
    assert_eq!(names(&["--sort", "price:desc:missing_first"]), ["magpie", "rook", "jay"]);
    for order in ["since", "since:desc", "price:desc", "since:asc:missing_first,price"] {
        let all = names(&["--sort", order]);
        let page = |after: &str| -> serde_json::Value {
            let mut args =
                vec!["search", "t.tp", "*", "--sort", order, "--limit", "1", "--format", "json"];
            if !after.is_empty() {
                args.extend(["--after", after]);
            }
            serde_json::from_str(&dir.run(&args).stdout).unwrap()
        };
        let mut after = String::new();
        for name in &all {
            let page = page(&after);
            let hit = &page["hits"][0];
            assert_eq!(hit["fields"]["name"], name.as_str(), "{order}");
            assert_eq!(page["total"]["value"], 3);
            after = format!("{}:{}", hit["sort"], hit["doc"]);
        }
        let none = page(&after);
        assert_eq!(none["hits"], serde_json::json!([]), "{order} after {after}");
    }
    let facets =
        ["search", "t.tp", "*", "--facet", "price:..10,10..12.25,10..", "--facet", "since:month"];
    let page = dir.ok(&[&facets[..], &["--format", "json"]].concat());
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    // With the digits of the field.
    let ten: serde_json::Value = serde_json::from_str("10.00").unwrap();
    assert_eq!(
        page["facets"]["price"],
        serde_json::json!({
            "kind": "range", "other": 0, "missing": 1, "exact": true, "buckets": [
                {"from": null, "to": ten, "count": 1},
                {"from": ten, "to": 12.25, "count": 0},
                {"from": ten, "to": null, "count": 1},
            ],
        })
    );
    assert_eq!(
        page["facets"]["since"]["buckets"],
        serde_json::json!([
            {"from": "2019-01-01T00:00:00Z", "to": "2019-02-01T00:00:00Z", "count": 1},
            {"from": "2020-05-01T00:00:00Z", "to": "2020-06-01T00:00:00Z", "count": 1},
        ])
    );
    for (facet, expected) in [
        ("price:auto=3", "field,value,count\nprice,"),
        ("price:min=0,from=0,to=1000", "field,value,count\nprice,"),
    ] {
        let typed = ["search", "t.tp", "*", "--facet", facet, "--format", "csv", "--limit", "0"];
        let rows = dir.ok(&typed);
        assert!(rows.starts_with(expected) && rows.lines().count() == 3, "{rows}");
    }
    dir.run(&["search", "t.tp", "*", "--facet", "price:auto=1"]).fails_with(&["2 to 1024 ranges"]);
    let steps =
        ["search", "t.tp", "*", "--facet", "price:step=5", "--format", "csv", "--limit", "0"];
    let rows = dir.ok(&steps);
    assert!(rows.starts_with("field,value,count\n") && rows.contains(".00..15.00,1\n"), "{rows}");
    dir.run(&["search", "t.tp", "*", "--facet", "price:step=0"]).fails_with(&["steps of 'price'"]);
    let of_numbers = [
        "search",
        "t.tp",
        "*",
        "--stats",
        "price:distinct,p50",
        "--stats",
        "since",
        "--facet",
        "price",
    ];
    let page = dir.ok(&[&of_numbers[..], &["--format", "json"]].concat());
    let page: serde_json::Value = serde_json::from_str(&page).unwrap();
    let of_price = &page["statistics"]["price"];
    assert_eq!(page["facets"]["price"]["kind"], "terms");
    assert_eq!(of_price["kind"], "statistics");
    assert_eq!((&of_price["count"], &of_price["missing"]), (&2.into(), &1.into()));
    assert_eq!(of_price["percentiles"]["p50"], of_price["min"]);
    let as_f64 = |name: &str| of_price[name].as_f64().unwrap();
    assert_eq!(as_f64("sum"), as_f64("min") + as_f64("max"));
    assert_eq!(as_f64("mean"), as_f64("sum") / 2.0);
    assert_eq!(page["statistics"]["since"]["sum"], serde_json::Value::Null);
    assert!(page["statistics"]["since"]["mean"].is_string());
    let text = dir.ok(&of_numbers);
    assert!(text.contains("  different  2\n") && text.contains("  p50 "), "{text}");
    dir.run(&[&of_numbers[..], &["--format", "csv"]].concat()).fails_with(&["one table"]);
    dir.run(&["search", "t.tp", "*", "--stats", "name"]).fails_with(&["numbers or dates"]);
    dir.run(&["search", "t.tp", "*", "--stats", "price:half"])
        .fails_with(&["price:p50,p95", "'half'"]);
    let text = dir.ok(&facets);
    for line in ["\n  0  10.00..12.25\n", "\n  1  10.00..       ########################\n"] {
        assert!(text.contains(line), "{line} in {text}");
    }
    // Whole days for people, and moments for programs.
    assert!(text.contains("  2019-01-01..2019-02-01"), "{text}");
    let rows = dir.ok(&[&facets[..], &["--format", "tsv", "--limit", "0"]].concat());
    assert!(rows.contains("since\t2019-01-01T00:00:00Z..2019-02-01T00:00:00Z\t1\n"), "{rows}");
    let plan = dir.ok(&["explain", "t.tp", "*", "--sort", "price:desc", "--analyze"]);
    assert!(plan.contains("Sort") && plan.contains("first 10 by price descending"), "{plan}");
    let by_score =
        ["search", "t.tp", "jay OR magpie^3", "--sort", "_score,price", "--format", "jsonl"];
    let best: serde_json::Value =
        serde_json::from_str(dir.ok(&by_score).lines().next().unwrap()).unwrap();
    assert_eq!(best["fields"]["name"], "magpie");
    assert_eq!(best["sort"], serde_json::json!([best["score"], null]));
    let shuffled =
        || names_of(&dir.ok(&["search", "t.tp", "*", "--sort", "random:4", "--format", "jsonl"]));
    assert_eq!((shuffled().len(), shuffled()), (3, shuffled()));
    assert_eq!(names(&["--sort", "(price * 2 - 1):desc"]), ["rook", "jay", "magpie"]);
    assert_eq!(
        names(&["--sort", "(now - since)", "--now", "2021-01-01"])[2],
        names(&["--sort", "since:desc"])[2]
    );
    dir.run(&["search", "t.tp", "*", "--sort", "(prize):desc"]).fails_with(&["found 'prize'"]);
    dir.run(&["search", "t.tp", "*", "--sort", "(price"]).fails_with(&["(EXPRESSION)"]);
    let scored = |args: &[&str]| {
        let printed = dir.ok(&[&["search", "t.tp", "*", "--format", "jsonl"], args].concat());
        let hits =
            printed.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        hits.map(|hit| {
            (hit["fields"]["name"].as_str().unwrap().to_owned(), hit["score"].as_f64().unwrap())
        })
        .collect::<Vec<_>>()
    };
    let boosted = scored(&["--boost", "price:square,missing=100,factor=0.5"]);
    assert_eq!(boosted[0], ("magpie".into(), 2_500.0));
    let boosted = scored(&["--score", "coalesce(price, -1) * 2", "--boost", "price,missing=0,sum"]);
    assert_eq!(boosted.last().unwrap(), &("magpie".into(), 0.0));
    assert_eq!(boosted[0].0, "rook");
    let recent = scored(&["--decay", "since:now,30d,exp,missing=0", "--now", "2020-05-07"]);
    assert!(recent[0].1 > 0.8 && recent[2].1 == 0.0, "{recent:?}");
    let plan = dir.ok(&["explain", "t.tp", "*", "--boost", "price:log1p", "--analyze"]);
    assert!(plan.contains("times log1p(price)"), "{plan}");
    let why = dir.ok(&["explain", "t.tp", "*", "--boost", "price", "--doc", "0"]);
    assert!(why.contains("the score times price"), "{why}");
    dir.run(&["search", "t.tp", "*", "--boost", "price:cube"]).fails_with(&["log1p|sqrt"]);
    dir.run(&["search", "t.tp", "*", "--decay", "since:now"]).fails_with(&["ORIGIN,SCALE"]);
    dir.run(&["search", "t.tp", "*", "--score", "1 +"]).fails_with(&["reading an expression"]);
    dir.run(&["search", "t.tp", "*", "--score", "price", "--sort", "price"])
        .fails_with(&["changing scores by functions"]);
    dir.run(&["search", "t.tp", "*", "--sort", "random:x"]).fails_with(&["random:SEED"]);
    dir.run(&["search", "t.tp", "*", "--sort", "name"]).fails_with(&["the text field 'name'"]);
    dir.run(&["search", "t.tp", "*", "--sort", "price:up"])
        .fails_with(&["FIELD:desc", "'price:up'"]);
    let wrong = ["search", "t.tp", "*", "--sort", "price", "--after", "3.5:1"];
    dir.run(&wrong).fails_with(&["[VALUE,…]:DOC", "'3.5:1'"]);
    dir.run(&["search", "t.tp", "*", "--sort", "price", "--count"])
        .fails_with(&["cannot be used with"]);
    dir.run(&["explain", "t.tp", "*", "--sort", "price", "--after", "[\"dear\"]:1"])
        .fails_with(&["its value of key 1", "found 'dear'"]);
}

#[test]
fn keywords_are_sorted_as_people_and_languages_sort_them() {
    let dir = Dir::new();
    let names = ["Disc 10", "\u{e4}pple", "disc 9", "zoo", "Disc 1"];
    let rows = names.map(|name| format!("{name},7\n")).concat();
    dir.write("a.csv", format!("name,price\n{rows}"));
    let schema =
        "[fields.name]\ntype = \"keyword\"\ncolumn = true\n[fields.price]\ntype = \"i64\"\n";
    dir.write("s.toml", schema);
    dir.ok(&["index", "n.tp", "a.csv", "--schema", "s.toml", "--quiet"]);
    let by = |order: &str| {
        names_of(&dir.ok(&["search", "n.tp", "*", "--sort", order, "--format", "jsonl"]))
    };
    assert_eq!(by("name:natural"), ["\u{e4}pple", "Disc 1", "disc 9", "Disc 10", "zoo"]);
    assert_eq!(by("price,name:natural:desc")[1], "Disc 10");
    assert_eq!(by("name:collate=sv")[4], "\u{e4}pple");
    assert_eq!(by("name:collate=de")[0], "\u{e4}pple");
    let after = "[\"disc 9\"]:2";
    let next =
        ["search", "n.tp", "*", "--sort", "name:natural", "--after", after, "--format", "jsonl"];
    assert_eq!(names_of(&dir.ok(&next)), ["Disc 10", "zoo"]);
    let plan = dir.ok(&["explain", "n.tp", "*", "--sort", "name:natural", "--analyze"]);
    assert!(plan.contains("keys of the terms of every match"), "{plan}");
    dir.run(&["search", "n.tp", "*", "--sort", "price:natural"]).fails_with(&["i64 field 'price'"]);
    dir.run(&["search", "n.tp", "*", "--sort", "name:collate=d"]).fails_with(&["'d'"]);
    dir.run(&["search", "n.tp", "*", "--sort", "name:collate="]).fails_with(&["collate=LOCALE"]);
}

/// The name of each hit of JSON Lines.
fn names_of(printed: &str) -> Vec<String> {
    let name = |line: &str| {
        let hit: serde_json::Value = serde_json::from_str(line).unwrap();
        hit["fields"]["name"].as_str().unwrap().to_owned()
    };
    printed.lines().map(name).collect()
}

/// What sorting prints is what goes on from there, however small.
#[test]
fn small_and_large_decimals_are_printed_as_they_are_read() {
    let dir = Dir::new();
    let prices = ["0.00000001", "0.00000123", "-0.5", "12345678", "90071992547.4099"];
    let rows = prices.map(|price| format!("{price},a\n")).concat();
    dir.write("a.csv", format!("p,name\n{rows}"));
    dir.write(
        "s.toml",
        "[fields.p]\ntype = \"decimal\"\nscale = 8\n[fields.name]\ntype = \"text\"\n",
    );
    dir.ok(&["index", "p.tp", "a.csv", "--schema", "s.toml", "--quiet"]);
    let (mut after, mut found) = (String::new(), vec![]);
    loop {
        let mut args = vec!["search", "p.tp", "*", "--sort", "p", "--limit", "1"];
        args.extend(["--format", "json"]);
        if !after.is_empty() {
            args.extend(["--after", &after]);
        }
        let page: serde_json::Value = serde_json::from_str(&dir.run(&args).stdout).unwrap();
        let hit = &page["hits"][0];
        if hit.is_null() {
            break;
        }
        after = format!("{}:{}", hit["sort"], hit["doc"]);
        found.push(hit["fields"]["p"].to_string());
    }
    let expected =
        ["-0.50000000", "0.00000001", "0.00000123", "12345678.00000000", "90071992547.40990000"];
    assert_eq!(found, expected);
}

#[test]
fn the_exit_status_says_found_nothing_or_error() {
    let dir = Dir::with_titles();
    assert_eq!(dir.run(&["search", "t.tp", "paris"]).status, 0);
    assert_eq!(dir.run(&["search", "t.tp", "nowhere"]).status, 1);
    let none = dir.run(&["search", "t.tp", "nowhere", "--count"]);
    assert_eq!((none.status, &*none.stdout), (1, "0\n"));
    dir.run(&["search", "missing.tp", "paris"]).fails_with(&["missing.tp"]);
    dir.run(&["search", "t.tp"]).fails_with(&["QUERY"]);
    dir.run(&["search", "t.tp", "paris", "--limit", "x"]).fails_with(&["--limit"]);
    assert_eq!(dir.run(&["verify", "t.tp"]).status, 0);
}

#[test]
fn an_error_in_a_query_is_shown_in_it() {
    let dir = Dir::with_titles();
    let ran = dir.run(&["search", "t.tp", "paris AND (texas"]);
    let lines: Vec<_> = ran.stderr.lines().collect();
    assert_eq!((ran.status, lines.len()), (2, 3), "{}", ran.stderr);
    assert_eq!(lines[1], "  paris AND (texas");
    assert_eq!(lines[2], "            ^");
    let ran = dir.run(&["explain", "t.tp", "colour:red"]);
    assert!(ran.stderr.contains("colour") && ran.stderr.contains('^'), "{}", ran.stderr);
}

#[test]
fn what_was_typed_does_not_steer_the_terminal() {
    let dir = Dir::with_titles();
    for arguments in [
        ["search", "t.tp", "\x1b[31m:red"],
        ["search", "no\x1b[31m\nsuch.tp", "red"],
        ["analyze", "--analyzer", "\x1b[31m"],
    ] {
        let ran = dir.run(&arguments);
        assert_eq!(ran.status, 2, "{}", ran.stderr);
        assert!(!ran.stderr.contains('\x1b'), "{:?}", ran.stderr);
        assert!(ran.stderr.lines().count() <= 3, "{}", ran.stderr);
    }
}

#[test]
fn a_closed_pipe_ends_a_search_quietly() {
    let dir = Dir::new();
    let lines: String = (0..50_000).map(|n| format!("title number {n}\n")).collect();
    dir.write("a.txt", lines);
    dir.ok(&["index", "t.tp", "a.txt", "--quiet"]);
    for arguments in [
        &["search", "t.tp", "*", "--limit", "50000", "--format", "jsonl"][..],
        &["export", "t.tp"],
        &["inspect", "t.tp", "terms"],
    ] {
        let mut child = dir.command(arguments).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0; 10]).unwrap();
        drop(stdout);
        let ran = Ran::of(child, vec![]);
        assert_eq!((ran.status, &*ran.stderr), (0, ""), "{arguments:?}");
    }
}

#[test]
fn a_million_open_parentheses_are_refused_at_once() {
    let dir = Dir::with_titles();
    let ran = dir.run_with(&["search", "t.tp", "-"], "(".repeat(1_000_000));
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.starts_with("treepie: ") && ran.stderr.len() < 1_000, "{}", ran.stderr);
    let ran = dir.run_with(&["search", "t.tp", "-"], "(".repeat(60_000));
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.starts_with("treepie: ") && ran.stderr.len() < 1_000, "{}", ran.stderr);
}

#[test]
fn a_query_of_64_kib_is_answered() {
    let dir = Dir::with_titles();
    // Few clauses, many bytes.
    let mut query = "paris OR ".to_owned();
    query.push_str(&"x".repeat((64 << 10) - query.len()));
    let ran = dir.run_with(&["search", "t.tp", "-", "--count"], query.clone() + "\n");
    assert_eq!((ran.status, &*ran.stdout), (0, "2\n"), "{}", ran.stderr);
    let ran = dir.run_with(&["search", "t.tp", "-", "--count"], query + "x");
    assert_eq!(ran.status, 2, "{}", ran.stdout);
}

#[test]
fn hits_of_a_field_with_offsets_look_the_same() {
    let dir = Dir::new();
    let body = format!("{}Needle <b>, {}needles", "hay ".repeat(100), "straw ".repeat(100));
    dir.write("docs.jsonl", json!({"plain": body, "kept": body}).to_string());
    let schema =
        "[fields.plain]\ntype = \"text\"\n[fields.kept]\ntype = \"text\"\noffsets = true\n";
    dir.write("schema.toml", schema);
    dir.ok(&["index", "o.tp", "docs.jsonl", "--schema", "schema.toml", "--quiet"]);
    let page = dir.run(&["search", "o.tp", "needle* hay", "--format", "json"]).json();
    let highlights = &page["hits"][0]["highlights"];
    assert!(highlights["kept"][0].as_str().unwrap().contains("<em>Needle</em>"));
    assert_eq!(highlights["kept"], highlights["plain"]);
    assert_eq!(dir.ok(&["inspect", "o.tp", "storage"]).matches("offsets").count(), 1);
    assert!(dir.ok(&["inspect", "o.tp", "schema"]).contains("offsets = true"));
    dir.ok(&["verify", "o.tp"]);
}

#[test]
fn hits_show_where_they_match() {
    let dir = Dir::with_titles();
    let long =
        format!("{{\"title\": \"{}Needle <b>. {}\"}}", "hay ".repeat(100), "hay ".repeat(100));
    dir.write("long.jsonl", &long);
    dir.ok(&["index", "t.tp", "long.jsonl", "--append", "--quiet"]);

    let page = dir.run(&["search", "t.tp", "history +france", "--format", "json"]).json();
    let hit = &page["hits"][0];
    assert_eq!(hit["highlights"], json!({"title": ["<em>History</em> of <em>France</em>"]}));
    let lines = dir.run(&["search", "t.tp", "needle qualifier:film", "--format", "jsonl"]);
    let lines: Vec<Value> =
        lines.stdout.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    let of_title = |title: &str| {
        let own = |line: &&Value| line["fields"]["title"].as_str().unwrap().contains(title);
        lines.iter().find(own).unwrap()["highlights"].clone()
    };
    assert_eq!(of_title("Texas"), json!({}));
    let passage = of_title("Needle")["title"][0].as_str().unwrap().to_owned();
    assert!(passage.contains("hay <em>Needle</em> &lt;b&gt;.") && passage.len() < 300, "{passage}");

    let colored = dir.run(&["search", "t.tp", "france needle", "--color", "always"]).stdout;
    assert!(colored.contains("\x1b[1mHistory of \x1b[0m\x1b[1;31mFrance\x1b[0m\n"), "{colored}");
    assert!(colored.contains("\x1b[1;31mNeedle\x1b[0m\x1b[1m <b>.\x1b[0m"), "{colored}");
    let plain = dir.run(&["search", "t.tp", "needle"]).stdout;
    assert!(plain.contains("…hay ") && plain.contains(" hay Needle <b>.…\n"), "{plain}");

    let none = &["search", "t.tp", "needle", "--no-highlight"][..];
    let page = dir.run(&[none, &["--format", "json"]].concat()).json();
    assert_eq!(page["hits"][0].get("highlights"), None);
    let text = dir.run(&[none, &["--color", "always"]].concat()).stdout;
    assert!(text.contains("\x1b[1mhay hay") && !text.contains("Needle"), "{text}");
}

#[test]
fn patterns_are_scored_by_their_terms_where_that_is_asked_for() {
    let dir = Dir::with_titles();
    let docs = |more: &[&str]| {
        let page = dir.run(&[&["search", "t.tp", "fr* p*", "--format", "json"], more].concat());
        let hits = page.json()["hits"].as_array().unwrap().clone();
        hits.iter().map(|hit| hit["doc"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(docs(&[]), [0, 1, 2]);
    assert_eq!(docs(&["--pattern-terms", "20"]), [2, 1, 0]);
    let plan = dir.ok(&["explain", "t.tp", "hist*", "--pattern-terms", "1"]);
    assert!(plan.contains("title:hist* scores by 1 of 1 term (1 visited): history"), "{plan}");
    let counted = dir.run(&["search", "t.tp", "fr*", "--count", "--pattern-terms", "5"]);
    assert!(
        counted.status == 2 && counted.stderr.contains("--pattern-terms"),
        "{}",
        counted.stderr
    );
}

#[test]
fn fields_are_combined_where_that_is_asked_for() {
    let dir = Dir::new();
    dir.write(
        "p.jsonl",
        "{\"title\": \"wing wing\", \"body\": \"wing\"}\n\
         {\"title\": \"wing\", \"body\": \"flutter of a panel\"}\n\
         {\"title\": \"panel\", \"body\": \"notes\"}\n",
    );
    dir.ok(&["index", "p.tp", "p.jsonl", "--quiet"]);
    let explain = |query: &str, more: &[&str]| {
        // Of so few all would be scored, if all had to be counted.
        let explain = ["explain", "p.tp", query, "--format", "json", "--total", "1000"];
        let tree = dir.run(&[&explain[..], more].concat());
        tree.json()["plan"]["algorithm"].as_str().unwrap().to_owned()
    };
    let combined = &["--combined", "title^3,body"][..];
    assert_eq!(explain("wing flutter", &[]), "BM25, by bounds of 4 terms");
    let way = "BM25, by bounds of 2 words of several fields, put together as in the query";
    assert_eq!(explain("wing flutter", combined), way);
    assert_eq!(explain("{title^3 + body}:(wing flutter)", &[]), way);
    let hits = |more: &[&str]| {
        let page = dir.run(&[&["search", "p.tp", "wing", "--format", "json"], more].concat());
        page.json()["hits"].as_array().unwrap().clone()
    };
    assert!(hits(combined)[0]["score"].as_f64() < hits(&[])[0]["score"].as_f64());
    for (typed, expected) in [
        ("title^x", "FIELD^WEIGHT"),
        ("title,no", "one of the fields"),
        ("^2,body", "FIELD^WEIGHT"),
    ] {
        let ran = dir.run(&["search", "p.tp", "wing", "--combined", typed]);
        assert!(ran.status == 2 && ran.stderr.contains(expected), "{}", ran.stderr);
    }
}

#[test]
fn statistics_are_those_of_a_segment_where_that_is_asked_for() {
    let dir = Dir::new();
    for (nth, text) in ["paris\n", "paris texas\nlondon\n"].into_iter().enumerate() {
        dir.write("part.txt", text);
        let more = if nth > 0 { &["--append"][..] } else { &[] };
        dir.ok(&[&["index", "s.tp", "part.txt", "--quiet"], more].concat());
    }
    let best = |more: &[&str]| {
        let page = dir.run(&[&["search", "s.tp", "paris", "--format", "json"], more].concat());
        page.json()["hits"][0]["doc"].clone()
    };
    assert_eq!(best(&[]), 0);
    assert_eq!(best(&["--statistics", "snapshot"]), 0);
    assert_eq!(best(&["--statistics", "segment"]), 1);
}

#[test]
fn a_search_has_a_deadline_and_a_budget_of_memory() {
    let dir = Dir::with_titles();
    let refused = |arguments: &[&str], words: &str| {
        let ran = dir.run(arguments);
        assert_eq!(ran.status, 2, "{arguments:?}: {}", ran.stdout);
        assert!(ran.stderr.contains(words) && ran.stderr.lines().count() == 1, "{}", ran.stderr);
    };
    let search = ["search", "t.tp", "paris OR hist*"];
    let with = |more: &[&'static str]| [&search[..], more].concat();
    refused(&with(&["--timeout", "0ms"]), "expected an answer within 0.0ns");
    refused(&with(&["--timeout", "0ms", "--count"]), "expected an answer within");
    refused(&with(&["--timeout", "5"]), "no unit");
    refused(&with(&["--partial"]), "--timeout");
    refused(&with(&["--max-memory", "1KiB"]), "at most 1024 bytes of memory");
    refused(&["explain", "t.tp", "[a TO z]", "--analyze", "--max-memory", "1KiB"], "1024 bytes");
    assert_eq!(dir.ok(&with(&["--timeout", "1min", "--max-memory", "1MiB", "--count"])), "4\n");

    let ran = dir.run(&with(&["--timeout", "0ms", "--partial", "--format", "json"]));
    assert_eq!(ran.status, 0, "whether there is nothing is not known: {}", ran.stderr);
    let object: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(object["total"]["relation"], "at_least");
    assert_eq!((&object["complete"], &object["stopped"]), (&json!(false), &json!("timeout")));
    let ran = dir.run(&with(&["--timeout", "0ms", "--partial", "--count", "--format", "json"]));
    assert_eq!(ran.stdout.trim(), r#"{"count":0,"complete":false,"stopped":"timeout"}"#);
    let ran = dir.run(&with(&["--timeout", "0ms", "--partial", "--format", "tsv"]));
    assert!(ran.stderr.contains("stopped at the deadline"), "{}", ran.stderr);
}
