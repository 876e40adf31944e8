//! Schemas that are inferred, and values that are read as people write them.

use super::Dir;

fn facet(dir: &Dir, index: &str, field: &str) -> Vec<(String, u64)> {
    let facet = format!("{field}:100");
    let args = ["search", index, "*", "--facet", &facet, "--limit", "0", "--format", "json"];
    let page: serde_json::Value = serde_json::from_str(&dir.ok(&args)).unwrap();
    let buckets = page["facets"][field]["buckets"].as_array().unwrap().iter();
    let bucket = |it: &serde_json::Value| {
        (it["value"].to_string().trim_matches('"').to_owned(), it["count"].as_u64().unwrap())
    };
    buckets.map(bucket).collect()
}

fn count(dir: &Dir, index: &str, query: &str) -> u64 {
    let ran = dir.run(&["search", index, query, "--count"]);
    assert!(ran.status < 2, "{query}: {}", ran.stderr);
    ran.stdout.trim().parse().unwrap()
}

#[test]
fn numbers_and_booleans_are_texts_and_what_mixes_them_with_strings_is_text() {
    let dir = Dir::new();
    let lines = [
        r#"{"title":"The Matrix","code":"a","tags":["x",1]}"#,
        r#"{"title":300,"code":1.50,"tags":[true,null,"x"]}"#,
        r#"{"title":1e3,"code":true,"tags":[]}"#,
        r#"{"title":null,"code":null,"tags":null,"sub":{"name":"Up"}}"#,
        r#"{"title":false,"sub":{"name":9}}"#,
    ];
    dir.write("a.jsonl", lines.join("\n"));
    let inferred = dir.ok(&["index", "a.tp", "a.jsonl"]);
    for field in ["title", "code", "tags", "\"sub.name\""] {
        let expected = format!("[fields.{field}]\ntype = \"text\" # ");
        assert!(inferred.contains(&expected), "{field}: {inferred}");
    }
    assert!(inferred.contains("strings and others"), "{inferred}");
    for query in
        ["title:300", "title:matrix", "title:1e3", "false", "code:1.50", "tags:1", "sub.name:9"]
    {
        assert_eq!(count(&dir, "a.tp", query), 1, "{query}");
    }
    let exported = dir.ok(&["export", "a.tp"]);
    assert!(exported.contains(r#""title":"300","code":"1.50","tags":["true","x"]"#), "{exported}");
    // The same where the schema says so.
    dir.write(
        "s.toml",
        "[fields.title]\ntype = \"text\"\n[fields.code]\ntype = \"keyword\"\n\
        [fields.tags]\ntype = \"text\"\nmany = true\n[fields.\"sub.name\"]\ntype = \"path\"\n",
    );
    dir.ok(&["index", "b.tp", "a.jsonl", "--schema", "s.toml", "--quiet"]);
    assert_eq!(dir.ok(&["export", "b.tp"]), exported);
    dir.write("bad.jsonl", "{\"title\":{\"a\":1}}");
    dir.run(&["index", "b.tp", "bad.jsonl", "--append"])
        .fails_with(&["'title'", "a string, a number or a boolean"]);
}

#[test]
fn short_strings_are_facets_as_a_whole_and_are_found_by_their_words() {
    let dir = Dir::new();
    let countries = ["United Kingdom", "France", "United Kingdom", "Côte d'Ivoire", "France"];
    let rows = countries
        .iter()
        .enumerate()
        .map(|(n, country)| format!("SKU-{n},{country},open,A story about number {n} of them\n"));
    dir.write("a.csv", format!("sku,country,status,title\n{}", rows.collect::<String>()));
    let inferred = dir.ok(&["index", "a.tp", "a.csv", "--input-format", "csv"]);
    for expected in [
        "[fields.sku]\ntype = \"keyword\" # 5 different in 5 values, of one word each\n",
        "[fields.\"sku.text\"]\ntype = \"text\" # the words of 'sku'\ncopy_of = \"sku\"\n",
        "[fields.country]\ntype = \"keyword\" # 3 different in 5 values\n",
        "[fields.\"country.text\"]\ntype = \"text\" # the words of 'country'\ncopy_of = \"country\"\n",
        "[fields.status]\ntype = \"keyword\" # 1 different in 5 values\n",
        "[fields.title]\ntype = \"text\" # 5 different in 5 values, of 7.0 words on average\n",
    ] {
        assert!(inferred.contains(expected), "{expected}\n{inferred}");
    }
    let expected = [("France", 2), ("United Kingdom", 2), ("Côte d'Ivoire", 1)];
    assert_eq!(facet(&dir, "a.tp", "country"), expected.map(|(v, n)| (v.to_owned(), n)));
    for (query, expected) in [
        ("kingdom", 2),
        ("\"united kingdom\"", 2),
        ("country:\"United Kingdom\"", 2),
        ("country.text:kingdom", 2),
        ("country:kingdom", 2),
        ("country:FRANCE", 2),
        ("country:king*", 2),
        ("country:\"kingdom\"", 0),
        ("country:(ivoire OR france)", 3),
        ("sku:sku-3", 1),
        ("OPEN", 5),
        ("sku", 5),
        ("sku-3", 1),
        ("\"sku-3\"", 1),
        ("story france", 5),
        ("+story +france", 2),
    ] {
        assert_eq!(count(&dir, "a.tp", query), expected, "{query}");
    }
    // A keyword has no analyzer; its text copy is proposed.
    dir.write("rules.txt", "usa, america\n");
    for arguments in [
        &["analyze", "a.tp", "--field", "country", "x"][..],
        &["search", "a.tp", "x", "--synonyms", "country:rules.txt"],
    ] {
        dir.run(arguments).fails_with(&["found 'country'", "did you mean 'country.text'?"]);
    }
    // Copies are no loss in an export, and come again.
    let ran = dir.run(&["export", "a.tp"]);
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    assert!(
        ran.stdout.starts_with("{\"sku\":\"SKU-0\",\"country\":\"United Kingdom\","),
        "{}",
        ran.stdout
    );
    dir.write("schema.toml", dir.ok(&["inspect", "a.tp", "schema"]));
    dir.write("again.jsonl", &ran.stdout);
    dir.ok(&["index", "b.tp", "again.jsonl", "--schema", "schema.toml", "--quiet"]);
    dir.ok(&["index", "b.tp", "again.jsonl", "--append", "--quiet"]);
    assert_eq!((count(&dir, "b.tp", "kingdom"), count(&dir, "b.tp", "country.text:*")), (4, 10));
    dir.write("own.jsonl", "{\"country.text\":\"x\"}\n");
    dir.run(&["index", "b.tp", "own.jsonl", "--append"])
        .fails_with(&["'country.text'", "values of 'country', which it is a copy of"]);
    // Lines are values of the only text that is no copy.
    dir.write("lines.txt", "one\ntwo\n");
    dir.ok(&["index", "b.tp", "lines.txt", "--append", "--input-format", "lines", "--quiet"]);
    assert_eq!((count(&dir, "b.tp", "*"), count(&dir, "b.tp", "country.text:*")), (12, 10));
}

#[test]
fn what_strings_are_is_judged_by_what_they_hold() {
    let dir = Dir::new();
    let line = |n: usize| {
        let paragraph = "one sentence after another says something about it and then some more";
        format!(
            "{{\"brand\":\"Brand {}\",\"url\":\"https://example.com/{n}\",\"title\":\"Product of {n} parts\",\
             \"tags\":[\"soft\",\"very big\"],\"about\":[\"{paragraph} {n}\",\"{paragraph} or {n}\"],\
             \"answer\":\"{}\",\"flag\":\"{}\",\"n\":\"NA\"}}\n",
            n % 7,
            ["yes", "no"][n % 2],
            ["true", "false"][n % 2],
        )
    };
    dir.write("a.jsonl", (0..1_000).map(line).collect::<String>());
    let inferred = dir.ok(&["schema", "infer", "a.jsonl"]);
    for (field, kind) in [
        ("brand", "keyword"),
        ("url", "keyword"),
        ("title", "text"),
        ("tags", "keyword"),
        ("about", "text"),
        ("answer", "keyword"),
        ("flag", "keyword"),
        ("n", "text"),
    ] {
        assert!(
            inferred.contains(&format!("[fields.{field}]\ntype = \"{kind}\" # ")),
            "{field}\n{inferred}"
        );
    }
    dir.write("schema.toml", &inferred);
    dir.ok(&["index", "a.tp", "a.jsonl", "--schema", "schema.toml", "--quiet"]);
    for (query, expected) in
        [("sentence", 1_000), ("big", 1_000), ("\"example.com/77\"", 1), ("yes", 500)]
    {
        assert_eq!(count(&dir, "a.tp", query), expected, "{query}");
    }
}

#[test]
fn words_for_no_value_and_for_true_and_false_are_read_and_told() {
    let dir = Dir::new();
    let cells = ["True", "TRUE", "yes", "t", "1", "Y", "on"];
    let no = ["False", "FALSE", "no", "f", "0", "N", "off"];
    let null = ["NA", "N/A", "NULL", "null", "\\N", "NaN", "nan", "-", ""];
    let rows = cells.iter().chain(&no).map(|cell| format!("{cell},1.5,NA\n"));
    let rows = rows.chain(null.iter().map(|cell| format!("{cell},{cell},{cell}\n")));
    dir.write("a.csv", format!("new,price,code\n{}", rows.collect::<String>()));
    let schema = "[fields.new]\ntype = \"bool\"\n[fields.price]\ntype = \"f64\"\n[fields.code]\ntype = \"keyword\"\n";
    dir.write("s.toml", schema);
    let index =
        ["index", "a.tp", "a.csv", "--schema", "s.toml", "--input-format", "csv", "--overwrite"];
    let ran = dir.run(&index);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    for field in ["new", "price"] {
        let told = format!("'{field}': 8 texts taken for no value (\"-\", \"N/A\", \"NA\", ");
        assert_eq!(ran.stderr.matches(&told).count(), 1, "{}", ran.stderr);
    }
    for (query, expected) in [
        ("new:true", 7),
        ("new:false", 7),
        ("new:yes", 7),
        ("new:NO", 7),
        ("-new:*", 9),
        ("price:1.5", 14),
        ("price:*", 14),
        ("code:NA", 15),
        ("code:\"\\\\N\"", 1),
    ] {
        assert_eq!(count(&dir, "a.tp", query), expected, "{query}");
    }
    // Inferred: the words of one column are numbers, and what it takes for none is said.
    dir.write(
        "b.csv",
        "price,since,new,answer\n1.5,2010-12-01,True,yes\nNA,NULL,FALSE,no\n-,\\N,n/a,yes\n",
    );
    let inferred = dir.ok(&["schema", "infer", "b.csv", "--input-format", "csv"]);
    for expected in [
        "[fields.price]\ntype = \"f64\" # 1 value, numbers; \"NA\" is none\n",
        "[fields.since]\ntype = \"date\" # 1 value, dates; \"NULL\" is none\n",
        "[fields.new]\ntype = \"bool\" # 2 values, true or false; \"n/a\" is none\n",
        "[fields.answer]\ntype = \"keyword\" # 2 different in 3 values\n",
    ] {
        assert!(inferred.contains(expected), "{expected}\n{inferred}");
    }
    dir.ok(&["index", "b.tp", "b.csv", "--input-format", "csv", "--quiet"]);
    assert_eq!((count(&dir, "b.tp", "price:*"), count(&dir, "b.tp", "*")), (1, 3));
    // As strings of JSON, too.
    dir.write("c.jsonl", "{\"p\":1}\n{\"p\":\"NA\"}\n{\"p\":\"\"}\n{\"p\":\"1e3\"}\n");
    dir.write("c.toml", "[fields.p]\ntype = \"i64\"\n");
    dir.ok(&["index", "c.tp", "c.jsonl", "--schema", "c.toml", "--quiet"]);
    assert_eq!((count(&dir, "c.tp", "p:*"), count(&dir, "c.tp", "p:1000")), (2, 1));
    // Set for the index, for a field, or by the command.
    let own = format!("{schema}null_words = [\"NA\"]\n[index]\nnull_words = [\"missing\"]\n");
    dir.write("own.toml", own);
    dir.write("d.csv", "new,price,code\nmissing,missing,NA\n1,2,missing\n");
    let index =
        ["index", "d.tp", "d.csv", "--input-format", "csv", "--overwrite", "--quiet", "--schema"];
    dir.ok(&[&index[..], &["own.toml"]].concat());
    assert_eq!((count(&dir, "d.tp", "code:*"), count(&dir, "d.tp", "price:*")), (1, 1));
    dir.run(&[&index[..], &["s.toml"]].concat()).fails_with(&["'missing'", "line 2", "'new'"]);
    dir.ok(&[&index[..], &["s.toml", "--null-words", "missing,gone"]].concat());
    assert_eq!((count(&dir, "d.tp", "code:*"), count(&dir, "d.tp", "price:*")), (2, 1));
    dir.run(
        &[&["index", "e.tp", "b.csv", "--input-format", "csv", "--schema", "none.toml"][..]]
            .concat(),
    )
    .fails_with(&["none.toml"]);
    dir.write(
        "none.toml",
        "[fields.price]\ntype = \"f64\"\nnull_words = []\n[fields.since]\ntype = \"keyword\"\n\
        [fields.new]\ntype = \"keyword\"\n[fields.answer]\ntype = \"bool\"\n",
    );
    dir.run(&["index", "e.tp", "b.csv", "--input-format", "csv", "--schema", "none.toml"])
        .fails_with(&["'NA'", "line 3", "'price'"]);
    dir.write("wrong.toml", "[fields.price]\ntype = \"f64\"\nnull_words = \"NA\"\n");
    dir.run(&["index", "e.tp", "b.csv", "--schema", "wrong.toml"]).fails_with(&[
        "wrong.toml",
        "a list of texts for 'null_words'",
        "line 3",
    ]);
}

#[test]
fn exponents_and_huge_fractions_are_numbers_everywhere() {
    let dir = Dir::new();
    let long = format!("0.1{}", "0".repeat(400));
    let schema = "[fields.f]\ntype = \"f64\"\n[fields.i]\ntype = \"i64\"\n[fields.d]\ntype = \"decimal\"\nscale = 2\n\
        [fields.u]\ntype = \"u64\"\n";
    dir.write("s.toml", schema);
    let rows = [
        ["1e3", "1e3", "1e3", "1e3"],
        ["1.5E+01", "1.5E+01", "1.5E+01", "1.5E+01"],
        ["-2.5e-3", "", "", ""],
        [&*long, "1.0", &*long, "2.000"],
        ["0e-400", "-0e9", "125e-2", "00012"],
    ];
    let csv: String = rows.iter().map(|row| format!("{}\n", row.join(","))).collect();
    dir.write("a.csv", format!("f,i,d,u\n{csv}"));
    let object = |row: &[&str; 4], quoted: bool| {
        let named = ["f", "i", "d", "u"].into_iter().zip(row).filter(|(_, cell)| !cell.is_empty());
        let named = named.map(|(name, cell)| match quoted || cell.starts_with("00") {
            true => format!("\"{name}\":\"{cell}\""),
            false => format!("\"{name}\":{cell}"),
        });
        format!("{{{}}}\n", named.collect::<Vec<_>>().join(","))
    };
    dir.write("b.jsonl", rows.iter().map(|row| object(row, true)).collect::<String>());
    dir.write("c.jsonl", rows.iter().map(|row| object(row, false)).collect::<String>());
    let mut exports = vec![];
    for (file, format) in [("a.csv", "csv"), ("b.jsonl", "jsonl"), ("c.jsonl", "jsonl")] {
        let args = ["index", "t.tp", file, "--schema", "s.toml", "--overwrite", "--quiet"];
        dir.ok(&[&args[..], &["--input-format", format]].concat());
        exports.push(dir.ok(&["export", "t.tp"]));
        for (query, expected) in [
            ("f:1e3", 1),
            ("f:1000", 1),
            ("f:-2.5e-3", 1),
            ("f:[1e2 TO 1E4]", 1),
            ("f:>=1.5e1", 2),
            ("f:IN [1e3 15 7e7]", 2),
            ("i:1e3", 1),
            ("i:1.5E+01", 1),
            ("i:15.0", 1),
            ("i:[1e1 TO 1e3]", 2),
            ("i:1e-1", 0),
            ("i:0e0", 1),
            ("d:1000e0", 1),
            ("d:1.25", 1),
            ("d:1e-1", 1),
            ("d:<1e-400", 0),
            ("u:12e0", 1),
            ("u:<1e400", 4),
        ] {
            assert_eq!(count(&dir, "t.tp", query), expected, "{file} {query}");
        }
    }
    assert!(exports.iter().all(|export| *export == exports[0]), "{exports:?}");
    for (field, cell) in [
        ("i", "1e-400"),
        ("i", "15e-1"),
        ("i", "1e400"),
        ("f", "1e400"),
        ("f", "1e-400"),
        ("d", "1e-3"),
        ("u", "-1e0"),
        ("i", "1e"),
    ] {
        dir.write(
            "bad.csv",
            format!("f,i\n1,1\n{cell},\n")
                .replace("f,i", &format!("{field},{}", if field == "f" { "i" } else { "f" })),
        );
        dir.run(&["index", "t.tp", "bad.csv", "--append", "--input-format", "csv"]).fails_with(&[
            &format!("'{cell}'"),
            "line 3",
            &format!("'{field}'"),
        ]);
    }
    // Inferred as numbers, but for codes that begin with a zero, and what no number is.
    dir.write("e.csv", format!("a,b,c,d,e\n1e3,1.5,007,1e999,{long}\n2.5E-1,-1e+2,1e1,1e3,2\n"));
    let inferred = dir.ok(&["schema", "infer", "e.csv", "--input-format", "csv"]);
    for (field, kind) in
        [("a", "f64"), ("b", "f64"), ("c", "keyword"), ("d", "keyword"), ("e", "f64")]
    {
        assert!(
            inferred.contains(&format!("[fields.{field}]\ntype = \"{kind}\"")),
            "{field}\n{inferred}"
        );
    }
    dir.write("mass.jsonl", "{\"m\":5.97e24}\n{\"m\":1}\n");
    assert!(dir.ok(&["schema", "infer", "mass.jsonl"]).contains("type = \"f64\""));
    dir.write("far.jsonl", "{\"m\":1e400}\n");
    dir.run(&["schema", "infer", "far.jsonl"]).fails_with(&["'m'", "beyond all numbers"]);
}

#[test]
fn numbers_alone_are_found_without_naming_a_field() {
    let dir = Dir::new();
    dir.write("x.csv", "a,b\n1,2\n3,4.5\n");
    dir.write("x.jsonl", "{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4.5}\n");
    for input in ["x.csv", "x.jsonl"] {
        let index = format!("{input}.tp");
        dir.ok(&["index", &index, input, "--quiet"]);
        for (query, n) in [("3", 1), ("2", 1), ("4.5", 1), ("7", 0), ("[1 TO 9]", 2)] {
            assert_eq!(count(&dir, &index, query), n, "{query}");
        }
        let refused = dir.run(&["search", &index, "lamp"]);
        assert_eq!(refused.status, 2, "{}", refused.stdout);
        assert!(refused.stderr.contains("found 'lamp'"), "{}", refused.stderr);
        assert!(refused.stderr.contains("looked in takes it: a, b"), "{}", refused.stderr);
    }
}

#[test]
fn keywords_of_one_value_are_sorted_by() {
    let dir = Dir::new();
    let rows = ["Norway", "Chile", "Norway", "Chile"].map(|it| format!("{it},1\n")).concat();
    dir.write("x.csv", format!("country,n\n{rows}"));
    let inferred = dir.ok(&["index", "x.tp", "x.csv", "--order-by", "-country"]);
    assert!(inferred.contains("column = true"), "{inferred}");
    let found = dir.ok(&[
        "search", "x.tp", "*", "--sort", "country", "--fields", "country", "--format", "tsv",
    ]);
    let first = found.lines().nth(1).unwrap_or_default();
    assert!(first.contains("Chile"), "{found}");
}
