//! Indexes remember how their inputs are read, and what is added to them is read so.

use treepie::{Document, Index};

use super::{Dir, Ran, TITLES};

const SCHEMA: &str = "[input]\ndelimiter = \";\"\nencoding = \"windows-1252\"\ndecimal_comma = true\n\
    date_format = \"%d.%m.%Y\"\nignore_unknown = true\n\
    [fields.name]\ntype = \"keyword\"\nfrom = \"First \\\"Name\\\"\"\nnull_words = [\"NA\"]\n\
    [fields.\"a'b\\\"c\"]\ntype = \"f64\"\n\
    [fields.n]\ntype = \"i64\"\ndecimal_comma = false\n\
    [fields.day]\ntype = \"date\"\nfrom = \"Tag\"\n\
    [fields.seen]\ntype = \"date\"\ndate_format = \"seconds\"\n\
    [index]\nnull_words = [\"k.A.\"]\n";

/// Rows below the names, in windows-1252.
fn table(rows: &str) -> Vec<u8> {
    let text = format!("\"First \"\"Name\"\"\";\"a'b\"\"c\";n;Tag;seen;junk\n{rows}");
    text.chars().map(|c| u8::try_from(c).unwrap()).collect()
}

fn with_two_tables() -> Dir {
    let dir = Dir::new();
    dir.write("s.toml", SCHEMA);
    dir.write("a.csv", table("José;1.234,5;7;24.12.2020;0;x\nNA;k.A.;k.A.;;1;\n"));
    // In English order, and as an English number, it would be something else.
    dir.write("b.csv", table("Zoë;1.234;8;01.02.2021;2;x\nNA;k.A.;9;k.A.;3;y\n"));
    dir.ok(&["index", "both.tp", "a.csv", "b.csv", "--schema", "s.toml", "--quiet"]);
    dir.ok(&["index", "t.tp", "a.csv", "--schema", "s.toml", "--quiet"]);
    dir
}

fn append(dir: &Dir, arguments: &[&str]) -> Ran {
    dir.run(&[&["index", "t.tp", "--append"], arguments].concat())
}

#[track_caller]
fn appended(dir: &Dir, arguments: &[&str]) -> String {
    let ran = append(dir, arguments);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    ran.stderr
}

/// Documents that were added last.
fn last(dir: &Dir, n: usize) -> String {
    let export = dir.ok(&["export", "t.tp"]);
    let lines: Vec<_> = export.lines().collect();
    lines[lines.len() - n..].join("\n")
}

#[test]
fn inputs_that_are_added_are_read_as_the_first() {
    let dir = with_two_tables();
    let both = dir.ok(&["export", "both.tp"]);
    let said = appended(&dir, &["b.csv"]);
    assert_eq!(dir.ok(&["export", "t.tp"]), both);
    assert!(both.contains("\"Zoë\"") && both.contains(":1234.0"), "{both}");
    let notes: Vec<_> = said.lines().filter(|line| line.contains("remembers")).collect();
    assert_eq!(
        notes,
        [
            "read as t.tp remembers: delimiter = \";\", encoding = \"windows-1252\", ignore_unknown = true, \
          null_words = [\"k.A.\"], from of name, day, date_format of day, seen, decimal_comma of a'b\"c, \
          null_words of name; `treepie inspect t.tp schema` shows it"
        ]
    );
    assert_eq!(appended(&dir, &["b.csv", "--quiet"]), "");
    assert_eq!(last(&dir, 2), both.lines().skip(2).collect::<Vec<_>>().join("\n"));
}

#[test]
fn it_is_remembered_whatever_happens_to_the_index() {
    let dir = with_two_tables();
    let both = dir.ok(&["export", "both.tp"]);
    let second = both.lines().skip(2).collect::<Vec<_>>().join("\n");
    let remembered = dir.ok(&["inspect", "t.tp", "schema", "--inputs"]);
    dir.write("more.toml", "[fields.again]\ntype = \"date\"\n");
    let change: [&[&str]; 6] = [
        &["delete", "t.tp", "n:7", "--yes"],
        &["index", "t.tp", "b.csv", "--append", "--schema", "s.toml"],
        &["index", "t.tp", "b.csv", "--append", "--null-words", "k.A.,x"],
        &["merge", "t.tp"],
        &["schema", "add", "t.tp", "more.toml"],
        &["copy", "t.tp", "copy.tp"],
    ];
    for arguments in change {
        dir.ok(arguments);
        appended(&dir, &["b.csv", "--quiet"]);
        assert_eq!(last(&dir, 2), second, "{arguments:?}");
        let now = dir.ok(&["inspect", "t.tp", "schema", "--inputs"]);
        assert!(now.replace("[fields.again]\ntype = \"date\"\n", "") == remembered, "{now}");
    }
    dir.ok(&["salvage", "copy.tp", "saved.tp"]);
    let ran = dir.run(&["index", "saved.tp", "b.csv", "--append"]);
    assert!(ran.stderr.contains("read as saved.tp remembers"), "{}", ran.stderr);
    // A format of all dates is one of those that are added, too.
    dir.write("c.csv", "again;n\n03.02.2021;5\n");
    appended(&dir, &["c.csv"]);
    assert_eq!(last(&dir, 1), "{\"n\":5,\"again\":\"2021-02-03T00:00:00Z\"}");
    // An index that takes its place has nothing of it.
    dir.write("d.jsonl", "{\"a\":\"x\"}\n");
    dir.ok(&["index", "t.tp", "d.jsonl", "--overwrite", "--quiet"]);
    assert!(!dir.ok(&["inspect", "t.tp", "schema"]).contains('#'));
    assert!(!appended(&dir, &["d.jsonl"]).contains("remembers"));
}

#[test]
fn options_count_before_what_is_remembered() {
    let dir = with_two_tables();
    dir.write("c.csv", "\"First \"\"Name\"\"\",n,day\nZoë,k.A.,\nBo,x,\n");
    let typed = ["c.csv", "--delimiter", ",", "--encoding", "utf-8", "--null-words", "k.A.,x"];
    let said = appended(&dir, &typed);
    assert_eq!(last(&dir, 2), "{\"name\":\"Zoë\"}\n{\"name\":\"Bo\"}");
    assert!(said.contains("remembers: ignore_unknown = true, from of name, day"), "{said}");
    append(&dir, &["b.csv", "--ignore-unknown=false"]).fails_with(&["b.csv", "'junk'"]);
    append(&dir, &["c.csv"]).fails_with(&["c.csv", "expected a separator", "','"]);
    // A schema file counts for all of it, and changes nothing that is remembered.
    let before = dir.ok(&["inspect", "t.tp", "schema"]);
    dir.write("plain.toml", &before);
    dir.write("export.jsonl", last(&dir, 4));
    let said = appended(&dir, &["export.jsonl", "--schema", "plain.toml"]);
    assert!(!said.contains("remembers"), "{said}");
    assert_eq!(last(&dir, 4), std::fs::read_to_string(dir.0.join("export.jsonl")).unwrap());
    assert_eq!(dir.ok(&["inspect", "t.tp", "schema"]), before);
    // What was typed when the index was made is remembered as well.
    dir.write("e.csv", "a|b\nx|1\ny|?\n");
    let typed = ["index", "e.tp", "e.csv", "--delimiter", "|", "--null-words", "?", "--quiet"];
    dir.ok(&typed);
    let ran = dir.run(&["index", "e.tp", "e.csv", "--append"]);
    let words = "remembers: delimiter = \"|\", null_words = [\"?\"];";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
}

#[test]
fn the_printed_schema_is_read_again_with_or_without_it() {
    let dir = with_two_tables();
    let both = dir.ok(&["export", "both.tp"]);
    let full = dir.ok(&["inspect", "both.tp", "schema", "--inputs"]);
    assert_eq!(
        full,
        SCHEMA.replace(
            "decimal_comma = true\ndate_format = \"%d.%m.%Y\"\nignore_unknown = true\n",
            "ignore_unknown = true\ndate_format = \"%d.%m.%Y\"\ndecimal_comma = true\n"
        )
    );
    dir.write("full.toml", &full);
    dir.ok(&["index", "u.tp", "a.csv", "b.csv", "--schema", "full.toml", "--quiet"]);
    assert_eq!(dir.ok(&["export", "u.tp"]), both);
    // An export has the fields, and dates and numbers as they always are.
    let plain = dir.ok(&["inspect", "both.tp", "schema"]);
    assert!(plain.starts_with("# How inputs") && plain.contains("\n# from = \"Tag\"\n"), "{plain}");
    dir.write("plain.toml", &plain);
    for format in ["jsonl", "csv"] {
        let export = format!("export.{format}");
        dir.write(&export, dir.ok(&["export", "both.tp", "--format", format]));
        dir.ok(&["index", "v.tp", &export, "--schema", "plain.toml", "--overwrite", "--quiet"]);
        assert_eq!(dir.ok(&["export", "v.tp"]), both, "{format}");
    }
    dir.run(&["inspect", "both.tp", "schema", "--inputs", "--format", "json"])
        .fails_with(&["--format text"]);
}

#[test]
fn titles_are_added_to_titles() {
    let dir = Dir::with_titles();
    let first = dir.ok(&["export", "t.tp"]);
    dir.write("titles", TITLES);
    for name in ["titles.txt", "titles"] {
        let said = appended(&dir, &[name]);
        assert!(said.contains("read as t.tp remembers: preset wikipedia-titles;"), "{said}");
        assert_eq!(last(&dir, first.lines().count()), first.trim_end());
    }
    assert_eq!(dir.count("qualifier:song"), 3);
    // Documents with these fields are no lines.
    dir.write("more.jsonl", "{\"title\":\"x y\",\"qualifier\":\"song\"}\n");
    dir.write("more", "title,qualifier\nz,song\n");
    appended(&dir, &["more.jsonl"]);
    appended(&dir, &["more"]);
    assert_eq!(last(&dir, 2), "{\"title\":\"x y\"}\n{\"title\":\"z\"}");
    assert_eq!(dir.count("qualifier:song"), 5);
    // What was typed says what lines are.
    let said = appended(&dir, &["titles", "--input-format", "lines"]);
    assert!(!said.contains("remembers"), "{said}");
    assert!(last(&dir, 1).contains("A_(b)_(film)"));
    dir.ok(&["index", "t.tp", "titles", "--append", "--preset", "wikipedia-titles", "--quiet"]);
    dir.write("full.toml", dir.ok(&["inspect", "t.tp", "schema", "--inputs"]));
    dir.ok(&["index", "u.tp", "titles", "--schema", "full.toml", "--quiet"]);
    assert_eq!(dir.ok(&["export", "u.tp"]), first);
    dir.write(
        "bad.toml",
        "[input]\npreset = \"wikipedia-titles\"\n[fields.title]\ntype = \"text\"\n",
    );
    dir.run(&["index", "w.tp", "titles", "--schema", "bad.toml"]).fails_with(&[
        "bad.toml",
        "keyword field 'qualifier' for 'preset'",
        "line 2",
    ]);
}

/// Commits a payload by the library, as another program does.
fn set_payload(dir: &Dir, payload: &[u8]) {
    let index = Index::open(dir.0.join("t.tp")).unwrap();
    let mut writer = index.writer().unwrap();
    writer.set_payload(payload).unwrap();
    writer.add(Document::new().with("n", 1_i64)).unwrap();
    writer.commit().unwrap();
}

#[test]
fn a_payload_of_another_program_is_left_alone() {
    let dir = with_two_tables();
    dir.write("d.jsonl", "{\"name\":\"NA\",\"n\":2}\n");
    for payload in [&b"[input]\ndelimiter = \"|\"\n"[..], b"\xFF\0", b"# treepie: how"] {
        set_payload(&dir, payload);
        let said = appended(&dir, &["d.jsonl"]);
        assert!(!said.contains("remembers"), "{said}");
        assert_eq!(last(&dir, 1), "{\"name\":\"NA\",\"n\":2}");
        let index = Index::open(dir.0.join("t.tp")).unwrap();
        assert_eq!(index.searcher().unwrap().payload(), payload);
        assert!(!dir.ok(&["inspect", "t.tp", "schema"]).contains('#'));
    }
}

#[test]
fn a_payload_that_means_nothing_is_told() {
    let dir = with_two_tables();
    let full = dir.ok(&["inspect", "t.tp", "schema", "--inputs"]);
    let own = "# treepie: how inputs of this index are read\n";
    for (text, words) in [
        ("[input]\ndelimiter = \"::\"\n", &["one ASCII character", "line 3"][..]),
        ("[input]\ncolour = 1\n", &["'colour'", "line 3"]),
        ("[input\n", &["line 2"]),
        ("[fields.gone]\nfrom = \"x\"\n", &["a field of the index", "'gone'", "line 2"]),
        ("[fields.n]\ntype = \"i64\"\n", &["null_words", "'type'", "line 3"]),
        ("[index]\nkey = \"n\"\n", &["null_words", "'key'", "line 3"]),
        ("[index]\nnull_words = 1\n", &["a list of texts", "line 3"]),
        ("[colours]\n", &["input, fields or index", "'colours'"]),
        ("colour = 1\n", &["a table for 'colour'"]),
    ] {
        set_payload(&dir, format!("{own}{text}").as_bytes());
        let words = [&["(in t.tp", "the index says that its inputs are read"], words].concat();
        append(&dir, &["b.csv"]).fails_with(&[&words[..], &["--schema FILE"]].concat());
        dir.run(&["inspect", "t.tp", "schema", "--inputs"]).fails_with(&words);
        // Its fields are as they are.
        let ran = dir.run(&["inspect", "t.tp", "schema"]);
        assert!(ran.status == 0 && ran.stdout.starts_with("[fields.name]\n"), "{}", ran.stderr);
        assert!(ran.stderr.contains(words[2]), "{}", ran.stderr);
    }
    set_payload(&dir, &[own.as_bytes(), b"[input]\ndelimiter = \"\xFF\"\n"].concat());
    append(&dir, &["b.csv"]).fails_with(&["t.tp", "UTF-8"]);
    dir.write("s.toml", full);
    appended(&dir, &["b.csv", "--schema", "s.toml"]);
}

#[test]
fn what_is_too_much_to_remember_is_told_before_anything_is_read() {
    let dir = Dir::new();
    let fields = (0..1000).map(|n| format!("[fields.f{n}]\ntype = \"i64\"\nfrom = \"{n:060}\"\n"));
    dir.write("s.toml", fields.collect::<String>());
    dir.write("a.jsonl", "no JSON at all\n");
    let build = ["index", "t.tp", "a.jsonl", "--schema", "s.toml", "--input-format", "json"];
    dir.run(&build).fails_with(&["at most 65536 bytes", "t.tp"]);
    assert!(!dir.0.join("t.tp").exists());
    dir.write("more.toml", "[fields.more]\ntype = \"date\"\ndate_format = \"%d.%m.%Y\"\n");
    dir.ok(&["index", "u.tp", "a.jsonl", "--input-format", "lines", "--quiet"]);
    dir.run(&["schema", "add", "u.tp", "more.toml"]).fails_with(&[
        "more.toml",
        "line 1",
        "`treepie index --append --schema`",
    ]);
}
