//! Which format an input has, and which encoding: names first, then fields, then content; doubts are errors.

use super::Dir;

/// Indexes and gives what was exported, with what was said of it.
fn indexed(dir: &Dir, arguments: &[&str]) -> (String, String) {
    let ran = dir.run(&[&["index", "t.tp"], arguments].concat());
    assert_eq!(ran.status, 0, "{arguments:?}: {}", ran.stderr);
    (dir.ok(&["export", "t.tp"]), ran.stderr)
}

const SCHEMA: &str = "[fields.id]\ntype = \"i64\"\n[fields.t]\ntype = \"text\"\n";

#[test]
fn a_table_is_a_table_by_its_name_its_schema_and_its_index() {
    let dir = Dir::new();
    dir.write("s.toml", SCHEMA);
    dir.write("one.csv", "id,t\n3,gamma\n");
    dir.write("one", "id,t\n3,gamma");
    dir.write("other-order.csv", "t,id\ngamma,3\n");
    dir.write("missing", "id\n3\n");
    dir.write("one.tsv", "id\tt\n3\tgamma\n");
    dir.write("quoted", "\"id\" , \"t\"\n3,gamma\n");
    let expected = "{\"id\":3,\"t\":\"gamma\"}\n";
    for input in ["one.csv", "one", "other-order.csv", "one.tsv", "quoted"] {
        let (exported, said) = indexed(&dir, &[input, "--schema", "s.toml", "--overwrite"]);
        assert_eq!(exported, expected, "{input}");
        assert!(
            said.contains(&format!("{input}: ")) && said.contains("with a header: 2 fields"),
            "{said}"
        );
    }
    let (exported, _) = indexed(&dir, &["missing", "--schema", "s.toml", "--overwrite"]);
    assert_eq!(exported, "{\"id\":3}\n");
    let (_, said) = indexed(&dir, &["one.csv", "--schema", "s.toml", "--overwrite", "--quiet"]);
    assert_eq!(said, "");
    // Added to an index that has these fields, also as the second of two inputs and from standard input.
    for (inputs, n) in [(&["one", "other-order.csv"][..], 2), (&["one.csv", "one"], 2)] {
        indexed(&dir, &[&["one.csv", "--schema", "s.toml", "--overwrite"], &inputs[1..]].concat());
        indexed(&dir, &[inputs, &["--append"]].concat());
        assert_eq!(dir.ok(&["export", "t.tp"]), expected.repeat(2 + n), "{inputs:?}");
    }
    let ran = dir.run_with(&["index", "t.tp", "--append"], "t,id\ngamma,3\n");
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("standard input: CSV with a header: 2 fields"), "{}", ran.stderr);
    assert_eq!(dir.ok(&["export", "t.tp"]), expected.repeat(5));
    // Alone, and as the second input, by its name.
    let (exported, _) = indexed(&dir, &["one.csv", "one", "--overwrite"]);
    assert_eq!(exported, expected.repeat(2));
}

#[test]
fn a_doubt_is_an_error_that_names_the_option_and_spoils_nothing() {
    let dir = Dir::new();
    dir.write("s.toml", SCHEMA);
    dir.write("one.csv", "id,t\n3,gamma\n");
    dir.ok(&["index", "t.tp", "one.csv", "--schema", "s.toml", "--quiet"]);
    let before = dir.ok(&["export", "t.tp"]);
    dir.write("titles", "Some words\nOther words\n");
    dir.write("no-header", "3,gamma\n4,delta\n");
    dir.write("column.csv", "name\nx\ny\n");
    dir.write("semicolons.csv", "id;t\n3;gamma\n");
    dir.write("objects.csv", "{\"id\":3}\n");
    dir.write("table.json", "id,t\n3,gamma\n");
    dir.write("no-header.csv", "3,gamma\n4,delta\n");
    dir.write("alone", "a,b\n1,x\n");
    for (arguments, words) in [
        (&["titles", "--append"][..], "'Some words'"),
        (&["no-header", "--append"], "'3,gamma'"),
        (&["no-header.csv", "--append"], "'3' in the first line"),
        (&["column.csv", "--append"], "one column"),
        (&["semicolons.csv", "--append"], "--delimiter ';'"),
        (&["objects.csv", "--append"], "found JSON"),
        (&["table.json", "--append"], "'id,t'"),
        (&["titles", "--schema", "s.toml", "--overwrite"], "'Some words'"),
        (&["alone", "--overwrite"], "'a,b'"),
        (&["column.csv", "--overwrite"], "one column"),
        (&["one.csv", "titles", "--overwrite"], "'Some words'"),
    ] {
        let ran = dir.run(&[&["index", "t.tp"], arguments].concat());
        ran.fails_with(&["--input-format", words]);
        assert_eq!(dir.ok(&["export", "t.tp"]), before, "{arguments:?}");
    }
    // Inputs that look different, where the fields leave room for both.
    let text = "one sentence after another says something about it and then some more";
    dir.write("words.jsonl", format!("{{\"text\":\"{text}\"}}\n"));
    dir.write("words.txt", "two\n");
    for inputs in [["words.jsonl", "words.txt"], ["words.txt", "words.jsonl"]] {
        dir.run(&[&["index", "w.tp"], &inputs[..]].concat()).fails_with(&[
            "--input-format",
            "words.txt",
            "words.jsonl",
        ]);
    }
    // What was typed is right.
    for (input, format, n) in [("alone", "csv", 1), ("alone", "lines", 2), ("column.csv", "csv", 2)]
    {
        dir.ok(&["index", "f.tp", input, "--input-format", format, "--overwrite", "--quiet"]);
        assert_eq!(dir.ok(&["export", "f.tp"]).lines().count(), n, "{input} {format}");
    }
    assert_eq!(
        indexed(&dir, &["semicolons.csv", "--delimiter", ";", "--append"]).0,
        before.repeat(2)
    );
}

#[test]
fn titles_with_commas_stay_lines() {
    let dir = Dir::new();
    for (name, text) in [
        ("titles", "Paris, Texas\nLondon, Ontario\n"),
        ("more", "Paris,Texas\nLondon,Ontario\nRome\n"),
        ("a.txt", "Paris,Texas\n"),
        ("b", "10 things, and more\n"),
    ] {
        dir.write(name, text);
        let (exported, said) = indexed(&dir, &[name, "--overwrite"]);
        assert_eq!(exported.lines().count(), text.lines().count(), "{name}");
        assert!(said.contains(&format!("{name}: plain text")), "{said}");
        dir.ok(&["index", "t.tp", name, "--append", "--quiet"]);
    }
    dir.write("mac.txt", "one\rtwo\rthree\r");
    assert_eq!(indexed(&dir, &["mac.txt", "--overwrite"]).0.lines().count(), 3);
}

fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

#[test]
fn byte_order_marks_and_encodings_are_read() {
    let dir = Dir::new();
    dir.write(
        "s.toml",
        "[fields.\"id\"]\ntype = \"i64\"\n[fields.\"First Name\"]\ntype = \"text\"\n",
    );
    let csv = "\u{FEFF}\"id\",\"First Name\"\r\n3,\"Ünï, 東京\"\r\n";
    let json = "\u{FEFF}{\"id\":3,\"First Name\":\"Ünï, 東京\"}\n";
    let expected = "{\"id\":3,\"First Name\":\"Ünï, 東京\"}\n";
    let gzip = |bytes: &[u8]| {
        use std::io::Write;
        let mut to = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        to.write_all(bytes).unwrap();
        to.finish().unwrap()
    };
    for (name, text) in [
        ("a.csv", csv),
        ("a.tsv", &csv.replace(',', "\t").replace("\"", "").replace("Ünï\t", "Ünï,")),
        ("a.jsonl", json),
    ] {
        for encode in [u16::to_le_bytes, u16::to_be_bytes] {
            dir.write(name, utf_16(text, encode));
            let packed = format!("{name}.gz");
            dir.write(&packed, gzip(&utf_16(text, encode)));
            for input in [name, &packed] {
                let (exported, _) = indexed(&dir, &[input, "--schema", "s.toml", "--overwrite"]);
                assert_eq!(exported, expected, "{input}");
            }
        }
        dir.write(name, text);
        for format in [&[][..], &["--input-format", &name[2..]]] {
            let arguments = [&[name, "--schema", "s.toml", "--overwrite"], format].concat();
            assert_eq!(indexed(&dir, &arguments).0, expected, "{name}");
        }
    }
    dir.write("lines.txt", utf_16("\u{FEFF}Ünï\nParis\n", u16::to_le_bytes));
    assert_eq!(
        indexed(&dir, &["lines.txt", "--overwrite"]).0,
        "{\"text\":\"Ünï\"}\n{\"text\":\"Paris\"}\n"
    );
    // Without a mark it is named, and read where that is asked for.
    dir.write("bare.csv", utf_16(&csv[3..], u16::to_le_bytes));
    let bare = ["index", "t.tp", "bare.csv", "--schema", "s.toml", "--overwrite"];
    dir.run(&bare).fails_with(&["bare.csv", "UTF-16LE", "--encoding utf-16le"]);
    dir.ok(&[&bare[..], &["--encoding", "utf-16le"]].concat());
    assert_eq!(dir.ok(&["export", "t.tp"]), expected);
    // What is in no encoding that it could be.
    dir.write("latin.csv", b"id,First Name\n3,caf\xE9\n");
    let latin = ["index", "t.tp", "latin.csv", "--schema", "s.toml", "--overwrite"];
    dir.run(&latin).fails_with(&["latin.csv", "line 2", "0xE9", "--encoding"]);
    dir.ok(&[&latin[..], &["--encoding", "latin1"]].concat());
    assert_eq!(dir.ok(&["export", "t.tp"]), "{\"id\":3,\"First Name\":\"café\"}\n");
    dir.write("broken.txt", b"\xFF\xFEa\0\n\0\0\xDCb\0\n\0");
    dir.run(&["index", "n.tp", "broken.txt"]).fails_with(&["broken.txt", "UTF-16LE", "line 2"]);
    assert_eq!(
        indexed(&dir, &["broken.txt", "--lossy", "--overwrite"]).0,
        "{\"text\":\"a\"}\n{\"text\":\"\u{FFFD}b\"}\n"
    );
    dir.run(&[&latin[..], &["--encoding", "utf-61"]].concat())
        .fails_with(&["--encoding", "utf-61"]);
}
