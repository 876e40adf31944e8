//! Columns and keys: their names, which fields they feed, and how their values are written.

use super::Dir;

#[test]
fn names_are_taken_as_they_are() {
    let dir = Dir::new();
    let names = [
        "First Name",
        "Größe",
        "Preis (EUR)",
        "@id",
        "2nd",
        "a\"b",
        "c:d",
        "e\\f",
        "#",
        "x, y",
        "AND",
        "+",
        "*",
    ];
    let quote = |name: &&str| format!("\"{}\"", name.replace('"', "\"\""));
    let header: Vec<String> = names.iter().map(quote).collect();
    let row: Vec<String> = (0..names.len()).map(|n| format!("w{n}")).collect();
    dir.write("a.csv", format!("{}\n{}\n", header.join(","), row.join(",")));
    let document: serde_json::Map<String, serde_json::Value> = names
        .iter()
        .zip(&row)
        .map(|(name, word)| ((*name).to_owned(), word.as_str().into()))
        .collect();
    let json = serde_json::Value::Object(document).to_string();
    dir.write("a.jsonl", format!("{json}\n"));
    let mut exports = vec![];
    for input in ["a.csv", "a.jsonl"] {
        dir.ok(&["index", "t.tp", input, "--overwrite", "--quiet"]);
        exports.push(dir.ok(&["export", "t.tp"]));
        for (name, word) in names.iter().zip(&row) {
            let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
            let escaped: String = name
                .chars()
                .map(|c| match c.is_alphanumeric() {
                    true => c.to_string(),
                    false => format!("\\{c}"),
                })
                .collect();
            for query in [
                format!("\"{quoted}\":{word}"),
                format!("{escaped}:{word}"),
                format!("{{\"{quoted}\"}}:{word}"),
            ] {
                if *name == "AND" && !query.starts_with(['"', '{']) {
                    continue;
                }
                assert_eq!(dir.ok(&["search", "t.tp", &query, "--count"]), "1\n", "{query}");
            }
        }
        // What is printed as the schema is read again.
        dir.write("again.toml", dir.ok(&["inspect", "t.tp", "schema"]));
        dir.ok(&["index", "u.tp", input, "--schema", "again.toml", "--overwrite", "--quiet"]);
        assert_eq!(&dir.ok(&["export", "u.tp"]), exports.last().unwrap());
    }
    let value: serde_json::Value = serde_json::from_str(&exports[0]).unwrap();
    assert_eq!(value["Preis (EUR)"], "w2");
    let plan = dir.ok(&["explain", "t.tp", "\"First Name\":w0"]);
    assert!(plan.contains("First\\ Name:w0") || plan.contains("\"First Name\":w0"), "{plan}");
    // A line break in a header is a blank.
    dir.write("b.csv", "\"Preis\n(EUR)\",n\n1,2\n");
    dir.ok(&["index", "b.tp", "b.csv", "--quiet"]);
    assert_eq!(dir.ok(&["export", "b.tp"]), "{\"Preis (EUR)\":1,\"n\":2}\n");
}

#[test]
fn columns_and_keys_are_renamed_left_out_and_written_in_other_ways() {
    let dir = Dir::new();
    dir.write(
        "s.toml",
        "[input]\ndelimiter = \";\"\ndecimal_comma = true\ndate_format = \"%d.%m.%Y\"\n\
         [fields.name]\ntype = \"keyword\"\nfrom = \"First Name\"\n\
         [fields.words]\ntype = \"text\"\nfrom = \"First Name\"\n\
         [fields.price]\ntype = \"f64\"\nfrom = \"Preis (EUR)\"\n\
         [fields.day]\ntype = \"date\"\n\
         [fields.seen]\ntype = \"date\"\nfrom = \"at.seconds\"\ndate_format = \"seconds\"\n",
    );
    dir.write(
        "a.csv",
        "First Name;Preis (EUR);day;at.seconds;Farbe;Maß\n\"Ann;e\";1.234,5;24.12.2020;1600000000;rot;3\nBo;7;;;;\n",
    );
    dir.write(
        "a.jsonl",
        "{\"First Name\":\"Ann;e\",\"Preis (EUR)\":\"1.234,5\",\"day\":\"24.12.2020\",\"at\":{\"seconds\":1600000000},\"Farbe\":\"rot\",\"Maß\":{\"x\":[3]}}\n\
         {\"First Name\":\"Bo\",\"Preis (EUR)\":7,\"at\":null}\n",
    );
    let expected = "{\"name\":\"Ann;e\",\"words\":\"Ann;e\",\"price\":1234.5,\"day\":\"2020-12-24T00:00:00Z\",\"seen\":\"2020-09-13T12:26:40Z\"}\n\
                    {\"name\":\"Bo\",\"words\":\"Bo\",\"price\":7.0}\n";
    for input in ["a.csv", "a.jsonl"] {
        let index = ["index", "t.tp", input, "--schema", "s.toml", "--overwrite"];
        dir.run(&index).fails_with(&[input, "'Farbe'", "--ignore-unknown"]);
        let ran = dir.run(&[&index[..], &["--ignore-unknown"]].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(
            ran.stderr.contains("2 names are no field and left out: Farbe, Maß"),
            "{}",
            ran.stderr
        );
        assert_eq!(dir.ok(&["export", "t.tp"]), expected, "{input}");
        // Also where the file says again how inputs are read.
        let append = ["index", "t.tp", input, "--append", "--ignore-unknown", "--quiet"];
        dir.ok(&[&append[..], &["--schema", "s.toml"]].concat());
        assert_eq!(dir.ok(&["export", "t.tp"]), expected.repeat(2), "{input}");
    }
    dir.write("other.toml", "[fields.name]\ntype = \"text\"\n");
    dir.run(&["index", "t.tp", "a.csv", "--append", "--schema", "other.toml"])
        .fails_with(&["'name'", "other properties"]);
    for (row, words) in [
        ("x;1.5;;;;", "a number with a comma"),
        ("x;1;2020-12-24;;;", "a date as %d.%m.%Y, found '2020-12-24'"),
        ("x;1;;1.1.1970;;", "seconds after 1970 began, found '1.1.1970'"),
        ("x;1;;soon;;", "'soon'"),
    ] {
        dir.write("bad.csv", format!("First Name;Preis (EUR);day;at.seconds;a;b\n{row}\n"));
        dir.run(&["index", "n.tp", "bad.csv", "--schema", "s.toml", "--ignore-unknown"])
            .fails_with(&["bad.csv", "line 2", words]);
    }
}

const MESSY: &str = "id,day,price,tags,kind\n\
    1,10/29/2024,\"$1,234.50\",red; blue,Garden \n\
    2,11/30/2024,$7,blue;;red,Garden\n\
    3,,,;,Toys\n\
    4,01/02/2025,\"$12,000\",,\n";

#[test]
fn a_messy_table_is_read_as_its_schema_file_says() {
    let dir = Dir::new();
    dir.write("a.csv", MESSY);
    // The schema that is inferred says which lines would read it.
    let inferred = dir.ok(&["schema", "infer", "a.csv"]);
    for clue in [
        "for dates, as 10/29/2024: type = \"date\", date_format = \"%m/%d/%Y\"",
        "for numbers, as $1,234.50: type = \"f64\", unit = \"$\", thousands_comma = true",
        "for several values in one: many = true, split = \";\"",
    ] {
        assert!(inferred.contains(clue), "{clue}\n{inferred}");
    }
    dir.write(
        "s.toml",
        "[input]\nthousands_comma = true\nunit = \"$\"\ndate_format = \"%m/%d/%Y\"\ntrim = true\n\
         [fields.id]\ntype = \"i64\"\n[fields.day]\ntype = \"date\"\n\
         [fields.price]\ntype = \"decimal\"\nscale = 2\n\
         [fields.tags]\ntype = \"keyword\"\nmany = true\nsplit = \";\"\n\
         [fields.kind]\ntype = \"keyword\"\n",
    );
    dir.ok(&["index", "t.tp", "a.csv", "--schema", "s.toml", "--quiet"]);
    let expected = "{\"id\":1,\"day\":\"2024-10-29T00:00:00Z\",\"price\":1234.50,\"tags\":[\"red\",\"blue\"],\"kind\":\"Garden\"}\n\
        {\"id\":2,\"day\":\"2024-11-30T00:00:00Z\",\"price\":7.00,\"tags\":[\"blue\",\"red\"],\"kind\":\"Garden\"}\n\
        {\"id\":3,\"kind\":\"Toys\"}\n\
        {\"id\":4,\"day\":\"2025-01-02T00:00:00Z\",\"price\":12000.00}\n";
    assert_eq!(dir.ok(&["export", "t.tp"]), expected);
    // The index remembers it, also for JSON.
    dir.write(
        "b.jsonl",
        "{\"id\":1,\"day\":\"10/29/2024\",\"price\":\"$1,234.50\",\"tags\":\"red; blue\",\"kind\":\" Garden\"}\n\
         {\"id\":2,\"day\":\"11/30/2024\",\"price\":7,\"tags\":[\"blue;\",\"red\"],\"kind\":\"Garden\"}\n",
    );
    dir.ok(&["index", "t.tp", "b.jsonl", "--append", "--quiet"]);
    let first_two = expected.split_inclusive('\n').take(2).collect::<String>();
    assert_eq!(dir.ok(&["export", "t.tp"]), format!("{expected}{first_two}"));
    let kept = dir.ok(&["inspect", "t.tp", "schema", "--inputs"]);
    for line in ["trim = true", "thousands_comma = true", "unit = \"$\"", "split = \";\""] {
        assert!(kept.contains(line), "{line}\n{kept}");
    }
    dir.write("kept.toml", &kept);
    dir.ok(&["index", "u.tp", "a.csv", "--schema", "kept.toml", "--quiet"]);
    assert_eq!(dir.ok(&["export", "u.tp"]), expected);
}

#[test]
fn values_that_are_written_otherwise_are_errors_that_name_the_setting() {
    let dir = Dir::new();
    dir.write("a.csv", MESSY);
    let fields = "[input]\nignore_unknown = true\n[fields.id]\ntype = \"i64\"\n";
    for (field, words) in [
        ("[fields.day]\ntype = \"date\"\n", ["'10/29/2024'", "`date_format` in the schema file"]),
        (
            "[fields.price]\ntype = \"f64\"\n",
            [
                "'$1,234.50'",
                "`thousands_comma` (1,234.50), `decimal_comma` (1.234,50) or `unit` ($5",
            ],
        ),
    ] {
        dir.write("s.toml", format!("{fields}{field}"));
        dir.run(&["index", "t.tp", "a.csv", "--schema", "s.toml"]).fails_with(&words);
    }
}

#[test]
fn delimiters_are_typed_or_in_the_schema_file() {
    let dir = Dir::new();
    for (typed, character) in [(";", ";"), ("|", "|"), ("\\t", "\t"), ("tab", "\t"), (",", ",")] {
        dir.write("a.csv", ["a b", "\"c\"\n1", "x\n"].join(character));
        let ran = dir.run(&["index", "t.tp", "a.csv", "--delimiter", typed, "--overwrite"]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains("a.csv: CSV with a header, separated by"), "{}", ran.stderr);
        assert_eq!(dir.ok(&["export", "t.tp"]), "{\"a b\":1,\"c\":\"x\"}\n", "{typed}");
    }
    for typed in ["", "::", "é", "\"", "x"] {
        let ran = dir.run(&["index", "n.tp", "a.csv", "--delimiter", typed]);
        assert_eq!(ran.status, 2, "{typed}");
        assert!(ran.stderr.contains("--delimiter"), "{}", ran.stderr);
    }
    dir.run(&["index", "n.tp", "a.csv", "--delimiter", ";", "--input-format", "tsv"])
        .fails_with(&["--delimiter", "--input-format csv"]);
}
