//! Queries and options as people type them: search boxes, orders, numbers, names, and searches without hits.

use super::{Dir, Ran};

fn shop() -> Dir {
    let dir = Dir::new();
    let lines = [
        r#"{"name":"Copper pan","brand":"Acme","price":30,"since":"2024-01-01"}"#,
        r#"{"name":"Iron pot","brand":"Bolt","price":10,"since":"2024-03-01"}"#,
        r#"{"name":"Meeting at 10:30","brand":"Acme","price":20,"since":"2024-02-01"}"#,
    ];
    dir.write("shop.jsonl", lines.join("\n"));
    dir.write(
        "shop.toml",
        "[fields.name]\ntype = \"text\"\n[fields.brand]\ntype = \"keyword\"\ncolumn = true\n\
         [fields.price]\ntype = \"i64\"\n[fields.since]\ntype = \"date\"\n",
    );
    dir.ok(&["index", "t.tp", "shop.jsonl", "--schema", "shop.toml", "--quiet"]);
    dir
}

fn search(dir: &Dir, query: &str, more: &[&str]) -> Ran {
    dir.run(&[&["search", "t.tp", query][..], more].concat())
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_no_text_is_a_query_all_the_same() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let dir = shop();
    let run = |more: &[&str]| {
        let mut command = dir.command(&["search", "t.tp", "--count"]);
        command.args(more).arg(OsStr::from_bytes(b"copper \xff pan"));
        Ran::of(command.spawn().unwrap(), vec![])
    };
    run(&[]).fails_with(&["UTF-8"]);
    let lenient = run(&["--lenient"]);
    assert_eq!(&*lenient.stdout, &*search(&dir, "copper pan", &["--count"]).stdout);
    assert!(lenient.stderr.contains("not all of the query is UTF-8"), "{}", lenient.stderr);
    let quiet = run(&["--lenient", "--quiet"]);
    assert_eq!((&*quiet.stdout, &*quiet.stderr), (&*lenient.stdout, ""));
    // Values of options are taken as they are, or not at all.
    run(&["--lenient", "--facet"]).fails_with(&["UTF-8"]);
}

#[test]
fn a_search_box_is_never_refused() {
    let dir = shop();
    let strict = search(&dir, "10:30 (meeting", &["--count"]);
    assert_eq!(strict.status, 2, "{}", strict.stdout);
    let lenient = search(&dir, "10:30 (meeting", &["--lenient", "--count"]);
    assert_eq!((&*lenient.stdout, lenient.status), ("1\n", 0), "{}", lenient.stderr);
    assert!(lenient.stderr.contains("no field '10'"), "{}", lenient.stderr);
    assert!(lenient.stderr.lines().all(|line| line.starts_with("treepie: ")));
    let quiet = search(&dir, "10:30 (meeting", &["--lenient", "--count", "--quiet"]);
    assert_eq!((&*quiet.stdout, &*quiet.stderr), ("1\n", ""));
    for (query, count) in [
        ("brand:Acme price:many", "2\n"),
        ("since:>now-1d copper", "1\n"),
        ("since:never copper", "1\n"),
        ("\"copper pan", "1\n"),
        ("“copper pan”", "1\n"),
        ("http://iron/?pot=1 iron", "1\n"),
        ("C:\\dir", "0\n"),
        ("", "0\n"),
    ] {
        let ran = search(&dir, query, &["--lenient", "--count"]);
        assert!(ran.status < 2 && ran.stdout == count, "{query}: {}{}", ran.stdout, ran.stderr);
    }
    let all = search(&dir, "pan pot AND", &["--lenient", "--and", "--count"]);
    assert_eq!(all.stdout, "0\n");
    let plan = dir.run(&["explain", "t.tp", "((copper", "--lenient"]);
    assert_eq!(plan.status, 0, "{}", plan.stderr);
    let facet =
        search(&dir, "*) ", &["--lenient", "--limit", "0", "--facet", "brand", "--format", "tsv"]);
    assert_eq!(facet.stdout, "field\tvalue\tcount\nbrand\tAcme\t2\nbrand\tBolt\t1\n");
    // Bytes that are no text are read as far as they are.
    let piped =
        dir.run_with(&["search", "t.tp", "-", "--lenient", "--count"], *b"copper \xff pan\n");
    assert_eq!(&*piped.stdout, &*search(&dir, "copper pan", &["--count"]).stdout);
    assert!(piped.stderr.contains("not all of the query is UTF-8"), "{}", piped.stderr);
    let piped = dir.run_with(&["search", "t.tp", "-", "--count"], *b"copper \xff pan\n");
    piped.fails_with(&["UTF-8"]);
    // A terminal is spared what it would obey.
    let hostile = search(&dir, "x:\u{1b}[2J (", &["--lenient", "--count"]);
    assert!(!hostile.stderr.contains('\u{1b}'), "{}", hostile.stderr);
}

#[test]
fn an_order_is_written_either_way_in_every_place() {
    let dir = shop();
    for (order, same) in [
        ("-price", "price:desc"),
        ("brand,-price", "brand:asc,price:desc"),
        ("-brand:natural", "brand:natural:desc"),
        ("-_score,price", "_score:desc,price"),
        ("-(price * 2)", "(price * 2):desc"),
    ] {
        let hits = |order| dir.ok(&["search", "t.tp", "*", "--format", "tsv", "--sort", order]);
        assert_eq!(hits(order), hits(same), "{order}");
    }
    search(&dir, "*", &["--sort", "--limit"]).fails_with(&["reading an order", "'--limit'"]);
    search(&dir, "*", &["--sort", "-price:asc"]).fails_with(&["-FIELD", "'-price:asc'"]);
    for (by, same) in [("-value", "value:desc"), ("value:asc", "value"), ("-count", "count")] {
        let facet = |by: &str| {
            let facet = format!("brand:by={by}");
            dir.ok(&["search", "t.tp", "*", "--limit", "0", "--format", "tsv", "--facet", &facet])
        };
        assert_eq!(facet(by), facet(same), "{by}");
    }
    for order in ["-price", "price:desc"] {
        let index =
            ["index", "o.tp", "shop.jsonl", "--schema", "shop.toml", "--quiet", "--overwrite"];
        dir.ok(&[&index[..], &["--order-by", order]].concat());
        let first = dir
            .ok(&["search", "o.tp", "*", "--limit", "1", "--format", "tsv", "--fields", "price"]);
        assert!(first.contains("30"), "{order}: {first}");
    }
}

#[test]
fn numbers_are_read_as_they_are_printed() {
    let dir = shop();
    assert_eq!(search(&dir, "*", &["--limit", "1,000"]).status, 0);
    assert_eq!(search(&dir, "*", &["--limit", "1_000", "--total", "1,000"]).status, 0);
    assert_eq!(search(&dir, "*", &["--facet", "brand:1,000", "--offset", "0"]).status, 0);
    let doc = dir.run(&["explain", "t.tp", "*", "--doc", "245,870"]);
    assert!(!doc.stderr.contains("invalid"), "{}", doc.stderr);
    for (option, typed) in [
        ("--limit", "-1"),
        ("--limit", "1,00"),
        ("--offset", "-5"),
        ("--limit", "1.5"),
        ("--limit", "ten"),
    ] {
        search(&dir, "*", &[option, typed]).fails_with(&[
            option,
            typed,
            "a whole number from 0 on",
        ]);
    }
}

#[test]
fn a_slip_in_the_name_of_a_field_is_found_in_every_option() {
    let dir = shop();
    for (options, known) in [
        (&["--facet", "brnd"][..], "brand"),
        (&["--facet", "Brand:5,by=value"], "brand"),
        (&["--facet", "pricee:step=10"], "price"),
        (&["--facet", "sinc:month"], "since"),
        (&["--fields", "nam"], "name"),
        (&["--sort", "prize"], "price"),
        (&["--sort", "-prize"], "price"),
        (&["--sort", "brnd:natural"], "brand"),
        (&["--stats", "pricee"], "price"),
        (&["--select", "brnd=Acme"], "brand"),
        (&["--collapse", "brnd"], "brand"),
        (&["--combined", "nam"], "name"),
        (&["--bm25", "nam:1.2,0.7"], "name"),
        (&["--boost", "prize:log1p"], "price"),
        (&["--decay", "prize:10,5"], "price"),
        (&["--score", "_score + prize"], "price"),
        (&["--facet", "brand", "--facet", "brand/pricee:step=3"], "price"),
        (&["--synonyms", "nam:shop.toml"], "name"),
    ] {
        let ran = search(&dir, "*", options);
        assert_eq!(ran.status, 2, "{options:?}: {}", ran.stdout);
        ran.fails_with(&[&format!("did you mean '{known}'?")]);
    }
    let far = search(&dir, "*", &["--facet", "weight"]);
    far.fails_with(&["one of name, brand, price, since", "'weight'"]);
    assert!(!far.stderr.contains("did you mean"), "{}", far.stderr);
    dir.run(&["inspect", "t.tp", "terms", "--field", "brnd"])
        .fails_with(&["did you mean 'brand'?"]);
    let index = ["index", "o.tp", "shop.jsonl", "--schema", "shop.toml", "--order-by", "-prize"];
    dir.run(&index).fails_with(&["did you mean 'price'?"]);
}

#[test]
fn a_search_without_hits_says_what_would_help() {
    let dir = shop();
    for (query, more, words) in [
        ("coper", &[][..], "did you mean 'copper' (1 document)?"),
        ("brand:acme", &[], "did you mean 'Acme' (2 documents)?"),
        ("brand:ACME", &[], "did you mean 'Acme' (2 documents)?"),
        ("+copper +pot", &[], "no document meets copper and pot together; without"),
        (
            "\"pan copper\"",
            &[],
            "1 document has all words of name:\"pan copper\", but they do not stand so",
        ),
        ("price:>100", &[], "no document has"),
        ("copper", &["--select", "brand=BOLT"], "did you mean 'Bolt' (1 document)?"),
        ("*", &["--select", "brand=Bolt", "--select", "price=30"], "together; without"),
        ("! )", &["--lenient"], "nothing matches"),
    ] {
        let ran = search(&dir, query, more);
        assert_eq!(ran.status, 1, "{query}: {}", ran.stderr);
        let line = ran.stderr.lines().last().unwrap_or_default();
        assert!(
            line.contains(words) && line.starts_with("treepie: nothing matches"),
            "{query}: {line}"
        );
        for silent in [
            &["--quiet"][..],
            &["--count"],
            &["--format", "json"],
            &["--format", "tsv"],
            &["--format", "csv"],
            &["--format", "jsonl"],
        ] {
            let ran = search(&dir, query, &[more, silent].concat());
            assert_eq!(ran.status, 1);
            assert!(!ran.stderr.contains("nothing matches"), "{query} {silent:?}: {}", ran.stderr);
        }
    }
    let found = search(&dir, "copper", &[]);
    assert_eq!((found.status, &*found.stderr), (0, ""));
}

#[test]
fn messages_name_the_syntax_that_was_meant() {
    let dir = shop();
    for (query, words) in [
        ("price:1..3", "a range is written [1 TO 3]"),
        ("/\\bcopper\\b/", "as a whole"),
        ("*:*", "every document is *"),
        ("name : copper", "write name: without a blank"),
    ] {
        let ran = search(&dir, query, &[]);
        assert_eq!(ran.status, 2);
        assert!(ran.stderr.contains(words), "{query}: {}", ran.stderr);
    }
}
