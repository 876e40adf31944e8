//! Inputs of people, of which nothing is left out, changed or guessed without a word.

use std::fs;

use super::{Dir, Ran};

/// Indexes into `t.tp` in place of what was there.
fn index(dir: &Dir, arguments: &[&str]) -> Ran {
    dir.run(&[&["index", "t.tp", "--overwrite"], arguments].concat())
}

#[track_caller]
fn indexed(dir: &Dir, arguments: &[&str]) -> (String, String) {
    let ran = index(dir, arguments);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    (dir.ok(&["export", "t.tp"]), ran.stderr)
}

#[test]
fn a_name_of_text_makes_lines() {
    let dir = Dir::new();
    let names = "Doe, John\nRoe, Jane\nPoe, Ed\n";
    let lines = "{\"text\":\"Doe, John\"}\n{\"text\":\"Roe, Jane\"}\n{\"text\":\"Poe, Ed\"}\n";
    for name in ["names.txt", "names.text", "README.md"] {
        dir.write(name, names);
        let (exported, said) = indexed(&dir, &[name]);
        assert_eq!(exported, lines);
        assert!(said.contains(&format!("{name}: plain text, a document a line\n")), "{said}");
    }
    dir.ok(&["index", "t.tp", "names.txt", "--append", "--quiet"]);
    assert_eq!(dir.ok(&["export", "t.tp"]), lines.repeat(2));
    dir.write("table.txt", "a\tb\n1\t2\n3\t4\n");
    let (exported, said) = indexed(&dir, &["table.txt"]);
    assert_eq!(exported.lines().count(), 3);
    assert!(said.contains("looks like TSV: --input-format tsv reads it so"), "{said}");
    // Nothing but the content speaks.
    let ran = dir.run_with(&["index", "n.tp", "-"], names);
    ran.fails_with(&["--input-format", "'Doe, John'"]);
    dir.write("names", names);
    dir.run(&["index", "n.tp", "names"]).fails_with(&["--input-format", "'Doe, John'"]);
}

#[test]
fn an_input_without_any_field_of_the_schema_is_an_error() {
    let dir = Dir::new();
    dir.write("a.csv", "id,t\n1,x\n");
    dir.write("other.csv", "foo,bar\n1,2\n");
    dir.write("other.jsonl", "{\"foo\":1}\n{\"bar\":2}\n");
    dir.write("mixed.jsonl", "{\"foo\":1}\n{\"id\":2}\n");
    indexed(&dir, &["a.csv"]);
    for input in ["other.csv", "other.jsonl"] {
        let append = ["index", "t.tp", input, "--append"];
        let ran = dir.run(&append);
        ran.fails_with(&[input, "any of the fields id, t", "'foo'"]);
        assert!(!ran.stderr.contains("--ignore-unknown"), "{}", ran.stderr);
        dir.run(&[&append[..], &["--ignore-unknown"]].concat()).fails_with(&[
            input,
            "any of the fields id, t",
            "'foo'",
        ]);
    }
    assert_eq!(dir.count("*"), 1);
    dir.ok(&["index", "t.tp", "mixed.jsonl", "--append", "--ignore-unknown", "--quiet"]);
    assert_eq!(dir.count("id:2"), 1);
}

#[test]
fn a_byte_order_mark_is_no_text() {
    let dir = Dir::new();
    let mark = "\u{FEFF}";
    dir.write("a.txt", format!("{mark}one\ntwo\n"));
    dir.write("only.txt", mark);
    dir.write("bad.txt", [mark.as_bytes(), b"one\nt\xFFo\n"].concat());
    let lines = "{\"text\":\"one\"}\n{\"text\":\"two\"}\n";
    for more in [&[][..], &["--input-format", "lines"], &["--encoding", "utf-8"]] {
        assert_eq!(indexed(&dir, &[&["a.txt"], more].concat()).0, lines, "{more:?}");
    }
    let text = fs::read(dir.0.join("a.txt")).unwrap();
    for name in [&[][..], &["--input-format", "lines"]] {
        let ran = dir.run_with(&[&["index", "t.tp", "-", "--overwrite"], name].concat(), &*text);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert_eq!(dir.ok(&["export", "t.tp"]), lines);
    }
    indexed(&dir, &["a.txt", "--preset", "wikipedia-titles"]);
    assert_eq!(dir.ok(&["export", "t.tp"]), lines.replace("text", "title"));
    // The offset is that in the file.
    dir.run(&["index", "n.tp", "bad.txt"]).fails_with(&["line 2", "offset 8"]);
    let ran = index(&dir, &["bad.txt", "--skip-bad-lines"]);
    assert!(ran.stderr.contains("offset 8"), "{}", ran.stderr);
    dir.run(&["index", "n.tp", "only.txt"]).fails_with(&["only.txt", "expected a document"]);
    let ran = dir.run(&["index", "n.tp", "only.txt", "--input-format", "lines"]);
    assert!(ran.status == 0 && ran.stderr.contains("nothing in only.txt"), "{}", ran.stderr);
    assert_eq!(dir.ok(&["export", "n.tp"]), "");
}

#[test]
fn a_name_twice_in_an_object_is_an_error_of_its_record() {
    let dir = Dir::new();
    for (text, words) in [
        ("{\"id\":1,\"t\":\"first\",\"t\":\"second\"}", "\"t\" twice"),
        ("{\"id\":1,\"t\":\"first\",\"t\":\"first\"}", "\"t\" twice"),
        ("{\"id\":1,\"o\":{\"p\":1,\"p\":2}}", "\"p\" twice"),
        ("{\"id\":1,\"o\":[{\"p\":1,\"p\":2}]}", "\"p\" twice"),
    ] {
        dir.write("a.jsonl", format!("{{\"id\":0}}\n{text}\n"));
        index(&dir, &["a.jsonl"]).fails_with(&["a.jsonl", "line 2", words, "--skip-bad-lines"]);
        let ran = index(&dir, &["a.jsonl", "--skip-bad-lines"]);
        assert!(ran.status == 0 && ran.stderr.contains("1 bad line left out"), "{}", ran.stderr);
        assert_eq!(dir.ok(&["export", "t.tp"]), "{\"id\":0}\n");
    }
}

#[test]
fn an_empty_object_is_no_value() {
    let dir = Dir::new();
    dir.write("a.jsonl", "{\"x\":1,\"meta\":{}}\n{\"x\":2,\"meta\":{\"a\":{}},\"y\":\"b\"}\n");
    let (exported, _) = indexed(&dir, &["a.jsonl"]);
    assert_eq!(exported, "{\"x\":1}\n{\"x\":2,\"y\":\"b\"}\n");
    dir.write("b.jsonl", "{\"x\":3,\"y\":{}}\n");
    dir.ok(&["index", "t.tp", "b.jsonl", "--append", "--quiet"]);
    assert!(dir.ok(&["export", "t.tp"]).ends_with("{\"x\":3}\n"));
}

#[test]
fn types_are_inferred_behind_an_open_quote() {
    let dir = Dir::new();
    dir.write("a.csv", "id,t\n1,\"abc\n2,def\n3,ghi\n");
    let printed = index(&dir, &["a.csv", "--skip-bad-lines"]).stdout;
    assert!(printed.contains("[fields.id]\ntype = \"i64\""), "{printed}");
    assert_eq!(dir.count("id:[2 TO 3]"), 2);
    // Beyond the sample, and further than a record may go.
    let long = "x".repeat(1_000);
    let mut text = "id,t\n1,\"abc\n".to_owned();
    (0..20_000).for_each(|n| text.push_str(&format!("{n},{long}\n")));
    dir.write("b.csv", text);
    let printed = index(&dir, &["b.csv", "--skip-bad-lines"]).stdout;
    assert!(printed.contains("[fields.id]\ntype = \"i64\""), "{printed}");
    assert_eq!(dir.count("*"), 20_000);
}

#[test]
fn a_tape_archive_is_named_whatever_compresses_it() {
    let dir = Dir::new();
    let mut tar = b"names.txt".to_vec();
    tar.resize(257, 0);
    tar.extend_from_slice(b"ustar\x0000");
    tar.resize(1024, 0);
    let mut gzip = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &tar).unwrap();
    dir.write("a.tar", &tar);
    dir.write("a.tgz", gzip.finish().unwrap());
    for name in ["a.tar", "a.tgz"] {
        dir.run(&["index", "n.tp", name]).fails_with(&[name, "a tar archive", "`tar -xOf`"]);
    }
}

#[test]
fn a_text_that_changes_as_a_number_is_told() {
    let dir = Dir::new();
    let mut text = "zip,n\n".to_owned();
    (0..200_000).for_each(|n| text.push_str(&format!("{n},1\n")));
    text.push_str("01234,+5\n0002,2\n");
    dir.write("z.csv", text);
    let (_, said) = indexed(&dir, &["z.csv"]);
    let words =
        "'zip': '01234' (z.csv line 200002) is stored as 1234; declare it keyword to keep it";
    assert!(said.contains(words) && said.contains("'n': '+5'"), "{said}");
    assert_eq!(said.matches("is stored as").count(), 2, "{said}");
    dir.write("s.toml", "[fields.zip]\ntype = \"i64\"\n[fields.n]\ntype = \"i64\"\n");
    let (_, said) = indexed(&dir, &["z.csv", "--schema", "s.toml"]);
    assert!(!said.contains("is stored as"), "{said}");
}

#[test]
fn escapes_and_quotes_of_tsv_are_told() {
    let dir = Dir::new();
    dir.write("e.tsv", "a\tb\nx\ty\nC:\\new\tx\n\\N\tz\n");
    let (exported, said) = indexed(&dir, &["e.tsv"]);
    assert!(exported.contains("C:\\new"), "{exported}");
    let option = "--input-format csv --delimiter tab";
    assert!(said.contains("e.tsv: escapes") && said.contains("first in line 3"), "{said}");
    assert_eq!(said.matches(option).count(), 1, "{said}");
    let options = ["--input-format", "csv", "--delimiter", "tab"];
    let (exported, said) = indexed(&dir, &[&["e.tsv"], &options[..]].concat());
    assert!(exported.contains("C:\\\\new") && !said.contains("escapes"), "{exported} {said}");
    dir.write("q.tsv", "\"a\"\t\"b\"\n\"1\"\t\"2\"\n\"3\"\t4\n");
    let (_, said) = indexed(&dir, &["q.tsv"]);
    assert!(said.contains("q.tsv: quotes") && said.contains("first in line 1"), "{said}");
    assert_eq!(said.matches(option).count(), 1, "{said}");
    assert_eq!(
        indexed(&dir, &[&["q.tsv"], &options[..]].concat()).0,
        "{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4}\n"
    );
    dir.write("plain.tsv", "a\tb\n\"x\" y\tC:\\dir\n");
    let (_, said) = indexed(&dir, &["plain.tsv"]);
    assert!(!said.contains(option), "{said}");
}

#[test]
fn fields_of_any_name_are_sorted_by_and_counted() {
    let dir = Dir::new();
    let row = |n: u8| format!("{{\"Prix (EUR)\":{n},\"a:b, c\":{n},\"x/y\":{n},\"t\":\"w\"}}\n");
    dir.write("a.jsonl", [2, 3, 1].map(row).concat());
    indexed(&dir, &["a.jsonl"]);
    for key in ["`Prix (EUR)`:desc", "Prix (EUR):desc", "-Prix (EUR)", "-`a:b, c`", "`x/y`:desc"] {
        let sort = format!("--sort={key}");
        let found = dir.ok(&["search", "t.tp", "*", &sort, "--format", "jsonl"]);
        let order: Vec<_> = found.lines().map(|line| line.contains("\"x/y\":3")).collect();
        assert_eq!(order, [true, false, false], "{key}: {found}");
    }
    for facet in ["`Prix (EUR)`:2", "Prix (EUR)", "`a:b, c`:1", "`x/y`", "t/`x/y`:2"] {
        let typed = ["search", "t.tp", "*", "--limit", "0", "--facet", facet];
        let outer: &[&str] = if facet.starts_with("t/") { &["--facet", "t"] } else { &[] };
        let found = dir.ok(&[&typed[..], outer].concat());
        assert!(found.contains('3'), "{facet}: {found}");
    }
    dir.run(&["search", "t.tp", "*", "--sort", "log(t)"]).fails_with(&["backquotes"]);
    dir.run(&["search", "t.tp", "*", "--facet", "a:b, c"]).fails_with(&["backquotes"]);
    for (key, meant) in [
        ("a:b, c", "did you mean '`a:b, c`'?"),
        ("x/y,-a:b, c", "did you mean 'x/y,-`a:b, c`'?"),
        ("a:b, c:desc", "did you mean '`a:b, c`:desc'?"),
    ] {
        dir.run(&["search", "t.tp", "*", "--sort", key]).fails_with(&[meant]);
    }
    for stats in ["`a:b, c`:p50", "`x/y`", "Prix (EUR)"] {
        let found =
            dir.ok(&["search", "t.tp", "*", "--limit", "0", "--stats", stats, "--format", "tsv"]);
        let is_percentile = found.lines().next().is_some_and(|names| names.ends_with("\tp50"));
        assert_eq!(is_percentile, stats.ends_with("p50"), "{found}");
        assert!(found.lines().nth(1).is_some_and(|row| row.contains("\t6\t1\t3\t2")), "{found}");
    }
    dir.run(&["search", "t.tp", "*", "--stats", "a:b, c"]).fails_with(&["backquotes"]);
}
