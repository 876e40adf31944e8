//! Records in each format, and what is wrong with them.

use super::Dir;
use std::fs;
use std::io::Write;

#[test]
fn documents_go_out_as_they_came_in() {
    let dir = Dir::new();
    let documents =
        "{\"id\":\"7\",\"title\":\"Paris\\u0000!\",\"tag\":[\"x\",\"y\"]}\n{\"tag\":[\"z\"]}\n";
    dir.write("a.jsonl", documents);
    dir.write(
        "schema.toml",
        "[fields.id]\ntype = \"keyword\"\n[fields.title]\ntype = \"text\"\n\
         [fields.tag]\ntype = \"keyword\"\nmany = true\n",
    );
    dir.ok(&["index", "t.tp", "a.jsonl", "--schema", "schema.toml", "--quiet"]);
    assert_eq!(dir.ok(&["export", "t.tp"]), documents);
    assert_eq!(
        dir.ok(&["inspect", "t.tp", "schema"]),
        fs::read_to_string(dir.0.join("schema.toml")).unwrap()
    );
}

#[test]
fn every_format_and_compression_gives_the_same_documents() {
    let dir = Dir::new();
    dir.write(
        "a.jsonl",
        "{\"title\":\"one, two\",\"tag\":[\"x\",\"y\"]}\n{\"title\":\"three\",\"tag\":[\"x\"]}\n",
    );
    dir.write("a.csv", "title,tag,tag\r\n\"one, two\",x,y\r\nthree,x,\r\n");
    dir.write("a.tsv", "title\ttag\ttag\none, two\tx\ty\nthree\tx\t\n");
    let plain = fs::read(dir.0.join("a.jsonl")).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    gzip.write_all(&plain).unwrap();
    dir.write("no-telling-name", gzip.finish().unwrap());
    let expected = String::from_utf8(plain).unwrap();
    for input in ["a.jsonl", "a.csv", "a.tsv", "no-telling-name"] {
        let printed = dir.ok(&["index", "t.tp", input, "--overwrite", "--quiet"]);
        assert!(
            printed.starts_with(&format!("# inferred from {input}\n[fields.title]")),
            "{printed}"
        );
        assert_eq!(dir.ok(&["export", "t.tp"]), expected, "{input}");
    }
    let stdin = fs::read(dir.0.join("no-telling-name")).unwrap();
    let ran = dir.run_with(&["index", "t.tp", "-", "--overwrite", "--quiet"], stdin);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(dir.ok(&["export", "t.tp"]), expected);
}

/// Two numbers that the fifteen digits of most tools do not tell apart.
#[test]
fn numbers_are_the_same_from_every_format_and_to_their_last_digit() {
    let dir = Dir::new();
    let written = ["12.100000000000001", "12.1", "3.7e16", "0.30000000000000004"];
    let lines = written.map(|n| format!("{{\"id\":{n},\"n\":{n}}}\n")).concat();
    dir.write("a.jsonl", lines);
    dir.write("a.csv", format!("id,n\n{}", written.map(|n| format!("{n},{n}\n")).concat()));
    let schema =
        "[fields.id]\ntype = \"keyword\"\n[fields.n]\ntype = \"f64\"\n[index]\nkey = \"id\"\n";
    dir.write("schema.toml", schema);
    let mut exports = vec![];
    for input in ["a.jsonl", "a.csv"] {
        dir.ok(&["index", "t.tp", input, "--schema", "schema.toml", "--overwrite", "--quiet"]);
        for n in written {
            let query = format!("n:{n}");
            assert_eq!(dir.ok(&["search", "t.tp", &query, "--count"]), "1\n", "{input} {n}");
        }
        exports.push(dir.ok(&["export", "t.tp"]));
    }
    assert_eq!(exports[0], exports[1]);
    dir.write("again.jsonl", &exports[0]);
    dir.ok(&["index", "t.tp", "again.jsonl", "--schema", "schema.toml", "--overwrite", "--quiet"]);
    assert_eq!(dir.ok(&["export", "t.tp"]), exports[0]);
    for (n, kind) in
        [("9007199254740993.0", "f64"), ("1000000000000000001.5", "i64"), ("1e400", "f64")]
    {
        dir.write("wide.toml", format!("[fields.n]\ntype = \"{kind}\"\n"));
        dir.write("wide.jsonl", format!("{{\"n\":{n}}}\n"));
        dir.run(&["index", "w.tp", "wide.jsonl", "--schema", "wide.toml", "--overwrite"])
            .fails_with(&[n, "line 1"]);
    }
}

/// What a producer leaves that has failed, and prints an end of line nevertheless.
#[test]
fn an_input_of_nothing_but_blanks_takes_the_place_of_no_index() {
    let dir = Dir::with_titles();
    let before = dir.ok(&["export", "t.tp"]);
    for (blank, format) in [("\n\n", "lines"), (" \r\n", "lines"), ("{}\n", "jsonl")] {
        let args = ["index", "t.tp", "-", "--overwrite", "--input-format", format];
        let ran = dir.run_with(&args, blank.as_bytes().to_vec());
        assert_eq!(dir.ok(&["export", "t.tp"]), before, "{blank:?}");
        ran.fails_with(&["document", "expected"]);
    }
    let added = dir.run_with(&["index", "t.tp", "-", "--overwrite"], b"\n \nx\n".to_vec());
    assert_eq!(added.status, 0, "{}", added.stderr);
}

#[test]
fn an_input_that_cannot_be_opened_is_named() {
    let dir = Dir::new();
    fs::create_dir(dir.0.join("directory")).unwrap();
    dir.write("fine.txt", "fine\n");
    dir.run(&["index", "t.tp", "missing.txt"]).fails_with(&["missing.txt", "opening the input"]);
    dir.run(&["index", "t.tp", "directory"]).fails_with(&["directory", "expected a file"]);
    // Before anything is built.
    dir.run(&["index", "t.tp", "fine.txt", "missing.txt"]).fails_with(&["missing.txt"]);
    assert!(!dir.0.join("t.tp").exists());
    dir.run(&["index", "t.tp", "-", "-"]).fails_with(&["twice"]);
    dir.run(&["index", "t.tp", "fine.txt", "--schema", "missing.toml"])
        .fails_with(&["missing.toml"]);
}

#[test]
fn an_empty_input_is_an_empty_index_where_a_schema_is_given() {
    let dir = Dir::new();
    dir.write("empty.txt", "");
    for known in [["--preset", "wikipedia-titles"], ["--input-format", "lines"]] {
        let ran = dir.run(&["index", "t.tp", "empty.txt", known[0], known[1]]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains("nothing in empty.txt"), "{}", ran.stderr);
        assert_eq!(dir.count("*"), 0);
        assert_eq!(dir.ok(&["export", "t.tp"]), "");
        std::fs::remove_dir_all(dir.0.join("t.tp")).unwrap();
    }
    for format in [&[][..], &["--input-format", "jsonl"]] {
        let args = [&["index", "n.tp", "empty.txt"], format].concat();
        dir.run(&args).fails_with(&["empty.txt", "expected a document", "--schema"]);
        assert!(!dir.0.join("n.tp").exists());
    }
    // Where the schema is known, whatever it says of the format.
    dir.write("new.jsonl", "{\"a\": \"b\", \"c\": \"d\"}\n");
    dir.ok(&["index", "j.tp", "new.jsonl"]);
    dir.write("none.jsonl", "");
    let ran = dir.run(&["index", "j.tp", "none.jsonl", "new.jsonl", "--append"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing in none.jsonl"), "{}", ran.stderr);
    assert_eq!(dir.run(&["search", "j.tp", "*", "--count"]).stdout.trim(), "2");
    // What comes behind an empty input says what there is.
    let ran = dir.run(&["index", "k.tp", "none.jsonl", "empty.txt", "new.jsonl"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing in none.jsonl"), "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing in empty.txt"), "{}", ran.stderr);
    assert_eq!(dir.run(&["search", "k.tp", "c:d", "--count"]).stdout.trim(), "1");
    // Whoever makes the input has failed, mostly.
    let ran = dir.run(&["index", "j.tp", "none.jsonl", "--overwrite"]);
    ran.fails_with(&["none.jsonl", "expected documents", "treepie delete"]);
    dir.write("head.csv", "a,c\n");
    let csv = ["index", "j.tp", "head.csv", "--overwrite", "--input-format", "csv"];
    dir.run(&csv).fails_with(&["expected documents"]);
    assert_eq!(dir.run(&["search", "j.tp", "*", "--count"]).stdout.trim(), "2");
}

#[test]
fn bytes_that_are_no_text_have_a_line_and_an_offset() {
    let dir = Dir::new();
    dir.write("a.txt", b"good\nb\xFFd\nfine\n");
    dir.run(&["index", "t.tp", "a.txt"]).fails_with(&["a.txt", "UTF-8", "line 2", "offset 6"]);
    let ran = dir.run(&["index", "t.tp", "a.txt", "--skip-bad-lines", "--quiet"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("1 bad line left out") && ran.stderr.contains("line 2"),
        "{}",
        ran.stderr
    );
    assert_eq!((dir.count("*"), dir.count("good")), (2, 1));
    dir.ok(&["index", "t.tp", "a.txt", "--lossy", "--overwrite", "--quiet"]);
    assert_eq!(dir.ok(&["export", "t.tp"]).lines().nth(1), Some("{\"text\":\"b\u{FFFD}d\"}"));
    let mut mixed = b"b\xFFd\n".to_vec();
    mixed.resize(17 << 20, b'x');
    dir.write("mixed.txt", mixed);
    let both = ["index", "t.tp", "mixed.txt", "--lossy", "--skip-bad-lines", "--overwrite"];
    assert_eq!(dir.run(&both).status, 0);
    assert_eq!(dir.count("*"), 1);

    dir.write("a.jsonl", b"{\"t\":\"good\"}\n{\"t\":\"b\xFFd\"}\n");
    dir.run(&["index", "j.tp", "a.jsonl"]).fails_with(&["a.jsonl", "UTF-8", "line 2", "offset 20"]);
    dir.ok(&["index", "j.tp", "a.jsonl", "--lossy", "--quiet"]);

    // Binary junk, the same on every run.
    let mut state = 1_u64;
    let junk: Vec<u8> = (0..100_000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect();
    dir.write("junk", &junk);
    dir.run(&["index", "junk.tp", "junk"]).fails_with(&["junk", "line 1"]);
    dir.ok(&["index", "junk.tp", "junk", "--lossy", "--quiet"]);
    dir.write("a.zip", b"PK\x03\x04\x14\0\0\0");
    dir.run(&["index", "zip.tp", "a.zip"]).fails_with(&["a.zip", "a zip file"]);
}

#[test]
fn nul_bytes_are_text_and_stay_off_the_terminal() {
    let dir = Dir::new();
    dir.write("a.txt", b"one\0two\n\0\n\x1b[31mred\n");
    dir.ok(&["index", "t.tp", "a.txt", "--quiet"]);
    assert_eq!((dir.count("one"), dir.count("two"), dir.count("*")), (1, 1, 3));
    let text = dir.ok(&["search", "t.tp", "*"]);
    assert!(!text.contains('\0') && !text.contains('\x1b'), "{text:?}");
    assert!(dir.ok(&["export", "t.tp"]).contains("one\\u0000two"));
}

#[test]
fn bytes_that_are_no_text_are_named_and_never_printed() {
    let dir = Dir::new();
    let bytes: Vec<u8> =
        (0..3_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    dir.write("a.csv", [b"a\xC5\x1b[31m,b\n1,2\n", &bytes[..]].concat());
    let ran = dir.run(&["index", "t.tp", "a.csv"]);
    ran.fails_with(&["expected UTF-8, found the byte 0xC5", "a.csv", "offset 1", "--encoding"]);
    assert_eq!(ran.stdout, "", "no schema of what is no table");
    let long = "n".repeat(3_000);
    dir.write("long.csv", format!("{long},b\n1,2\n"));
    let ran = dir.run(&["index", "t.tp", "long.csv"]);
    ran.fails_with(&["found one of 3000 bytes"]);
    assert!(!ran.stderr.contains(&long[..300]), "{}", ran.stderr);
    dir.write("s.toml", &bytes);
    dir.write("b.csv", "id\n1\n");
    dir.run(&["index", "t.tp", "b.csv", "--schema", "s.toml"])
        .fails_with(&["reading the schema file: expected UTF-8, found the byte 0x", "s.toml"]);
    // Names of files may have anything in them as well.
    let name = "x\u{1b}[31m.csv";
    dir.write(name, "id,title\n1,red\n");
    let ran = dir.run(&["index", "y\u{1b}.tp", name]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let printed = format!("{}{}", ran.stdout, ran.stderr);
    assert!(printed.contains("x\\u{1b}[31m.csv") && !printed.contains('\u{1b}'), "{printed}");
}

#[test]
fn a_line_of_100_mb_is_an_error_that_takes_no_memory() {
    let dir = Dir::new();
    let mut long = b"first\n".to_vec();
    long.resize(100_000_000, b'x');
    long.extend_from_slice(b"\nlast\n");
    dir.run_with(&["index", "t.tp", "-"], long.clone()).fails_with(&["standard input", "line 2"]);
    let ran = dir.run_with(&["index", "t.tp", "-", "--skip-bad-lines", "--quiet"], long);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert_eq!(dir.count("*"), 2);
}

#[test]
fn a_compressed_file_cut_short_is_told_and_nothing_of_it_indexed() {
    let dir = Dir::new();
    let lines: String = (0..20_000).map(|n| format!("title number {n}\n")).collect();
    let mut gzip = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    gzip.write_all(lines.as_bytes()).unwrap();
    let mut bytes = gzip.finish().unwrap();
    bytes.truncate(bytes.len() * 2 / 3);
    dir.write("a.gz", bytes);
    for more in [&[][..], &["--skip-bad-lines"], &["--lossy"]] {
        dir.run(&[&["index", "t.tp", "a.gz"], more].concat()).fails_with(&[
            "a.gz",
            "gzip",
            "cut short",
        ]);
    }
    dir.run(&["search", "t.tp", "*"]).fails_with(&["t.tp"]);
}

#[test]
fn documents_that_do_not_fit_are_told_with_their_line() {
    let dir = Dir::new();
    dir.write(
        "schema.toml",
        "[fields.title]\ntype = \"text\"\n[fields.brand]\ntype = \"keyword\"\n",
    );
    let long = "x".repeat(40_000);
    for (line, words) in [
        ("{\"price\": 1}".to_owned(), "'price'"),
        ("{\"title\": {\"a\": 1}}".to_owned(), "found an object"),
        ("{\"brand\": [\"a\", \"b\"]}".to_owned(), "found a list"),
        ("{\"title\": ".to_owned(), "JSON"),
        (format!("{{\"brand\": \"{long}\"}}"), "brand"),
    ] {
        dir.write("a.jsonl", format!("{{\"title\": \"good\"}}\n{line}\n{{\"brand\": true}}\n"));
        let arguments = ["index", "t.tp", "a.jsonl", "--schema", "schema.toml", "--overwrite"];
        dir.run(&arguments).fails_with(&["a.jsonl", "line 2", words, "--skip-bad-lines"]);
        let ran = dir.run(&[&arguments[..], &["--skip-bad-lines", "--quiet"]].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains("line 2"), "{}", ran.stderr);
        assert_eq!((dir.count("*"), dir.count("brand:true")), (2, 1));
    }
    dir.write("a.jsonl", "{\"title\": \"a\", \"price\": [[1]]}\n");
    dir.run(&["index", "n.tp", "a.jsonl"]).fails_with(&["'price'", "a.jsonl", "--schema"]);
    dir.write("a.csv", "title,colour\na,b\nc,d\n");
    dir.run(&["index", "n.tp", "a.csv", "--schema", "schema.toml"])
        .fails_with(&["'colour'", "a.csv"]);
}

#[test]
fn numbers_and_dates_are_recognised_searched_counted_and_exported() {
    let dir = Dir::new();
    let lines = [
        r#"{"id":1,"name":"a red lamp","price":9.99,"since":"2010-12-01T08:26:00Z","new":true,"sizes":[1,2]}"#,
        r#"{"id":2,"name":"a lamp","price":12.5,"since":"2011-06-01","new":false,"sizes":[2]}"#,
        r#"{"id":3,"name":"a chair","price":40,"since":null,"new":false,"sizes":[]}"#,
    ];
    dir.write("shop.jsonl", lines.join("\n"));
    let inferred = dir.ok(&["index", "shop.tp", "shop.jsonl"]);
    for (field, kind) in
        [("id", "i64"), ("price", "f64"), ("since", "date"), ("new", "bool"), ("sizes", "i64")]
    {
        assert!(inferred.contains(&format!("[fields.{field}]\ntype = \"{kind}\"")), "{inferred}");
    }
    let count = |query: &str| -> u64 {
        dir.run(&["search", "shop.tp", query, "--count"]).stdout.trim().parse().unwrap()
    };
    for (query, expected) in [
        ("price:<10", 1),
        ("price:[9.99 TO 12.5]", 2),
        ("price:12.50", 1),
        ("since:2010", 1),
        ("since:[2010-12 TO 2011-06-01]", 2),
        ("-since:*", 1),
        ("new:true", 1),
        ("sizes:2", 2),
        ("lamp AND price:>=10", 1),
        ("id:IN [1 3 9]", 2),
    ] {
        assert_eq!(count(query), expected, "{query}");
    }
    let schema = dir.ok(&["schema", "infer", "shop.jsonl"]);
    assert!(inferred.ends_with(&schema), "{schema}");
    dir.write(
        "late.jsonl",
        format!("{}{{\"price\":\"none\"}}\n", "{\"price\":1}\n".repeat(200_000)),
    );
    dir.run(&["index", "late.tp", "late.jsonl"]).fails_with(&[
        "the i64 field 'price'",
        "found 'none'",
        "line 200001",
        "`treepie schema infer`",
    ]);
    dir.write("nothing.jsonl", "");
    dir.run(&["schema", "infer", "nothing.jsonl"]).fails_with(&["nothing.jsonl", "a document"]);
    for (query, words) in [("price:cheap", "found 'cheap'"), ("price:9*", "found a pattern")] {
        let ran = dir.run(&["search", "shop.tp", query]);
        assert_eq!(ran.status, 2, "{}", ran.stderr);
        let is_told = ran.stderr.contains("the f64 field 'price'") && ran.stderr.contains(words);
        assert!(is_told, "{}", ran.stderr);
    }
    let found = dir.ok(&["search", "shop.tp", "id:1", "--format", "json", "--facet", "sizes"]);
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    let fields = &found["hits"][0]["fields"];
    assert_eq!(fields["price"], 9.99);
    assert_eq!(fields["since"], "2010-12-01T08:26:00Z");
    assert_eq!(fields["new"], true);
    assert_eq!(fields["sizes"], serde_json::json!([1, 2]));
    assert_eq!(found["facets"]["sizes"]["buckets"][0], serde_json::json!({"value": 1, "count": 1}));
    let terms = dir.ok(&["inspect", "shop.tp", "terms", "--field", "price", "--format", "tsv"]);
    assert_eq!(terms, "documents\tterm\n1\t9.99\n1\t12.5\n1\t40.0\n");
    assert!(dir.ok(&["inspect", "shop.tp", "postings", "12.5", "--field", "price"]).contains('1'));
    let plan = dir.ok(&["explain", "shop.tp", "price:>=10 AND since:2011"]);
    assert!(
        plan.contains("price:[10 TO *]") && plan.contains("2011-01-01T00:00:00.000000Z"),
        "{plan}"
    );
    let combined = dir.ok(&["search", "shop.tp", "{id sizes}:2", "--format", "jsonl"]);
    assert_eq!(combined.lines().count(), 2, "{combined}");
    // What is exported is the same index again.
    dir.write("again.jsonl", dir.ok(&["export", "shop.tp"]));
    dir.ok(&["index", "again.tp", "again.jsonl", "--quiet"]);
    assert_eq!(dir.ok(&["export", "again.tp"]), dir.ok(&["export", "shop.tp"]));

    dir.write("shop.csv", "sku,price,day\n007,9.99,2010-12-01\n008,,2010-12-02\n");
    let kinds = [("sku", "keyword"), ("price", "decimal"), ("day", "date")];
    let scale = |kind| if kind == "decimal" { "scale = 2\n" } else { "" };
    let field = |(name, kind)| format!("[fields.{name}]\ntype = \"{kind}\"\n{}", scale(kind));
    dir.write("shop.toml", kinds.map(field).concat());
    dir.ok(&["index", "csv.tp", "shop.csv", "--schema", "shop.toml", "--quiet"]);
    let exported = dir.ok(&["export", "csv.tp"]);
    assert!(
        exported.starts_with(r#"{"sku":"007","price":9.99,"day":"2010-12-01T00:00:00Z"}"#),
        "{exported}"
    );
    dir.write("bad.csv", "sku,price,day\n009,1,2010-12-01\n010,1.234,2010-12-02\n");
    dir.run(&["index", "csv.tp", "bad.csv", "--append"])
        .fails_with(&["bad.csv", "line 3", "'1.234'", "'price'"]);
}
