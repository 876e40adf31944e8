//! The command-line tool from the outside: what it prints, where, and how it ends.
//!
//! Everything here runs the built binary, as scripts do. Shapes of JSON and exit statuses are a
//! contract; what bad input leads to is a typed error on one line, never a panic.

use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

/// A directory that goes when the test ends.
pub(crate) struct Dir(PathBuf);

impl Dir {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let name = format!("treepie-cli-{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Dir(path)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), bytes).unwrap();
    }

    /// The tool, working in this directory.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_treepie"));
        command.args(arguments).current_dir(&self.0);
        for name in ["NO_COLOR", "COLUMNS", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(self.command(arguments).spawn().unwrap(), vec![])
    }

    fn run_with(&self, arguments: &[&str], stdin: impl Into<Vec<u8>>) -> Ran {
        let child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        Ran::of(child, stdin.into())
    }

    /// Runs what must succeed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.status, 0, "{arguments:?}\n{}", ran.stderr);
        ran.stdout
    }

    /// An index `t.tp` of a few titles.
    fn with_titles() -> Self {
        let dir = Dir::new();
        dir.write("titles.txt", TITLES);
        dir.ok(&["index", "t.tp", "titles.txt", "--preset", "wikipedia-titles", "--quiet"]);
        dir
    }

    pub(crate) fn count(&self, query: &str) -> u64 {
        let ran = self.run(&["search", "t.tp", query, "--count"]);
        assert!(ran.status < 2, "{}", ran.stderr);
        ran.stdout.trim().parse().unwrap()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const TITLES: &str = "page_title\n\
    Paris,_Texas_(film)\n\
    Paris\n\
    History_of_France\n\
    History_of_Spain_(book)\n\
    Über_den_Wolken_(song)\n\
    東京\n\
    A_(b)_(film)\n";

pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Feeds a child and waits for it; a child that does not read on has its reasons.
    fn of(mut child: Child, stdin: Vec<u8>) -> Ran {
        let mut to = child.stdin.take();
        let feeder = thread::spawn(move || {
            if let Some(to) = &mut to {
                let _ = to.write_all(&stdin);
            }
        });
        let output = child.wait_with_output().unwrap();
        feeder.join().unwrap();
        Ran {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// An error told in one line that has all of these words.
    #[track_caller]
    pub(crate) fn fails_with(&self, words: &[&str]) {
        assert_eq!(self.status, 2, "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        assert!(self.stderr.starts_with("treepie: "), "{}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "no {word:?} in {}", self.stderr);
        }
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}", self.stdout))
    }
}

// What it prints.

#[test]
fn an_index_that_is_often_appended_to_has_few_segments() {
    let dir = Dir::new();
    for n in 0..20 {
        dir.write("more.jsonl", format!("{{\"text\":\"number {n}\"}}\n"));
        let append: &[&str] = if n > 0 { &["--append"] } else { &[] };
        dir.ok(&[&["index", "t.tp", "more.jsonl", "--quiet"], append].concat());
    }
    let segments = dir.ok(&["inspect", "t.tp", "--format", "jsonl"]);
    assert!(segments.lines().count() < 8, "{segments}");
    assert_eq!(dir.ok(&["search", "t.tp", "number", "--count"]), "20\n");
    let exported: Vec<String> = (0..20).map(|n| format!("{{\"text\":\"number {n}\"}}\n")).collect();
    assert_eq!(dir.ok(&["export", "t.tp"]), exported.concat());
}

#[test]
fn documents_are_deleted_and_everything_knows() {
    let dir = Dir::new();
    // So many that a segment is not written anew for two of them.
    let others = "{\"text\":\"three\"}\n".repeat(7);
    dir.write("t.jsonl", format!("{{\"text\":\"one two\"}}\n{{\"text\":\"two\"}}\n{others}"));
    dir.ok(&["index", "t.tp", "t.jsonl", "--quiet"]);
    // Without a terminal nobody is asked.
    assert_eq!(dir.ok(&["delete", "t.tp", "one two", "--and"]), "1\n");
    assert_eq!(dir.ok(&["delete", "t.tp", "one"]), "0\n");
    assert_eq!(
        dir.ok(&["delete", "t.tp", "two", "--yes", "--format", "json"]),
        "{\"deleted\":1}\n"
    );
    assert_eq!(dir.ok(&["export", "t.tp"]), others);
    assert_eq!(dir.ok(&["search", "t.tp", "*", "--count"]), "7\n");
    let segments = dir.ok(&["inspect", "t.tp", "--format", "json"]);
    assert!(segments.contains("\"deleted\":2"), "{segments}");
    dir.ok(&["verify", "t.tp"]);
    dir.ok(&["merge", "t.tp", "--quiet"]);
    let segments = dir.ok(&["inspect", "t.tp", "--format", "json"]);
    assert!(segments.contains("\"deleted\":0"), "{segments}");
    // Where it is more than a quarter it is.
    assert_eq!(dir.ok(&["delete", "t.tp", "three"]), "7\n");
    dir.write("t.jsonl", "{\"text\":\"a b\"}\n{\"text\":\"a\"}\n");
    dir.ok(&["index", "t.tp", "t.jsonl", "--quiet", "--append"]);
    assert_eq!(dir.ok(&["delete", "t.tp", "b"]), "1\n");
    let segments = dir.ok(&["inspect", "t.tp", "--format", "json"]);
    assert!(segments.contains("\"deleted\":0"), "{segments}");
    let refused = dir.run(&["delete", "t.tp", "nowhere:x"]);
    assert!(refused.stderr.contains("nowhere") && refused.stdout.is_empty());
    dir.run(&["delete", "none.tp", "x"]).fails_with(&["none.tp"]);
}

#[test]
fn titles_are_indexed_found_counted_and_explained() {
    let dir = Dir::with_titles();
    assert_eq!(dir.count("paris"), 2);
    assert_eq!(dir.count("history AND (france OR spain) -book"), 1);
    assert_eq!(dir.count("qualifier:film"), 2);
    assert_eq!(dir.count("page_title"), 0);
    assert_eq!(dir.count("*"), 7);
    let text = dir.ok(&["search", "t.tp", "paris", "--facet", "qualifier"]);
    for words in ["2 documents", "Paris, Texas (film)", "qualifier", "1  film", "1  (none)"] {
        assert!(text.contains(words), "no {words:?} in {text}");
    }
    let plan = dir.ok(&["explain", "t.tp", "paris -film", "--ascii"]);
    assert!(plan.contains("document frequency") && plan.is_ascii(), "{plan}");
    let plan = dir.ok(&["explain", "t.tp", "paris -film", "--analyze"]);
    assert!(plan.contains("actual"), "{plan}");
}

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
fn explain_prints_the_json_that_is_promised() {
    let dir = Dir::with_titles();
    let query = "history AND (france OR spain) -war";
    let plan = dir.run(&["explain", "t.tp", query, "--format", "json"]).json();
    assert_eq!(plan["schema_version"], 1);
    assert_eq!(plan["query"], query);
    assert!(plan["parsed"].is_string() && plan["rewritten"].is_string());
    let node = &plan["plan"];
    assert_eq!(node["id"], "0");
    for name in ["operator", "label", "algorithm"] {
        assert!(node[name].is_string(), "{name}: {node}");
    }
    for name in ["documents", "lower", "upper"] {
        assert!(node["estimate"][name].is_u64(), "{name}: {node}");
    }
    assert!(node["estimate"]["source"].is_string());
    assert!(node["decisions"].is_array() && node["children"].is_array());
    assert!(node.get("actual").is_none(), "nothing has happened yet");
    let analyzed = dir.run(&["explain", "t.tp", query, "--analyze", "--format", "json"]).json();
    let actual = &analyzed["plan"]["actual"];
    for name in ["documents", "time_ns", "bytes_read"] {
        assert!(actual[name].is_u64(), "{name}: {actual}");
    }
    for kind in ["array", "bitmap", "run", "skipped"] {
        assert!(actual["containers"][kind].is_u64(), "{kind}: {actual}");
    }
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
fn facets_lie_within_facets() {
    let dir = Dir::new();
    let lines = [
        r#"{"brand":["acme"],"color":["red"],"price":3,"name":"pan"}"#,
        r#"{"brand":["acme"],"color":["blue"],"price":9,"name":"pot"}"#,
        r#"{"brand":["acme"],"color":["red"],"price":6,"name":"lid"}"#,
        r#"{"brand":["bolt"],"price":4,"name":"cup"}"#,
        r#"{"color":["red"],"price":5,"name":"mug"}"#,
    ];
    dir.write("a.jsonl", lines.join("\n"));
    dir.ok(&["index", "t.tp", "a.jsonl", "--quiet"]);
    let mut typed = vec!["search", "t.tp", "*", "--limit", "0", "--sort", "price:desc"];
    typed.extend(["--facet", "brand/color:1", "--facet", "brand", "--stats", "brand/price"]);
    typed.extend(["--top-hits", "brand", "--stats", "price"]);
    let page: serde_json::Value =
        serde_json::from_str(&dir.ok(&[&typed[..], &["--format", "json"]].concat())).unwrap();
    let brand = &page["facets"]["brand"];
    let acme = &brand["buckets"][0];
    assert_eq!((&acme["value"], &acme["count"]), (&"acme".into(), &3.into()));
    assert_eq!(
        acme["facets"]["color"],
        serde_json::json!({
            "kind": "terms", "buckets": [{"value": "red", "count": 2}],
            "other": 1, "missing": 0, "exact": true,
        })
    );
    assert_eq!(acme["statistics"]["price"]["sum"], 18);
    assert_eq!(acme["hits"][0]["fields"]["name"], "pot");
    assert_eq!(acme["hits"][0]["sort"], serde_json::json!([9]));
    assert!(acme["hits"][0].get("highlights").is_none());
    assert_eq!(brand["buckets"][1]["facets"]["color"]["missing"], 1);
    assert_eq!(brand["missing_bucket"]["hits"][0]["fields"]["name"], "mug");
    assert_eq!(page["statistics"]["price"]["count"], 5);
    let text = dir.ok(&typed);
    for line in [
        "\nbrand\n  3  acme  ########################\n     color\n       2  red\n       1  (other values)\n",
        "\n       1  (other values)\n     price\n       values     3\n",
        "\n     1  pot\n  1  bolt  ########\n     color\n       1  (none)\n",
        "  1  (none)\n     color\n       1  red\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    let plan = |more: &[&str]| {
        let typed = ["explain", "t.tp", "*", "--facet", "brand", "--facet", "brand/color:1"];
        dir.ok(&[&typed[..], more].concat())
    };
    let tree = plan(&["--analyze"]);
    assert!(tree.contains("\n   Facet color, top 1 of 2 terms\n"), "{tree}");
    let tree: serde_json::Value = serde_json::from_str(&plan(&["--format", "json"])).unwrap();
    assert_eq!(tree["facets"][0]["within"][0]["field"], "color");
    let search = |more: &[&str]| dir.run(&[&["search", "t.tp", "*"], more].concat());
    search(&["--facet", "brand/color"])
        .fails_with(&["--facet brand/color", "a facet to look into, as --facet brand"]);
    search(&["--top-hits", "brand"]).fails_with(&["reading --top-hits brand"]);
    let within = ["--facet", "brand", "--top-hits", "brand", "--limit", "0", "--format", "tsv"];
    search(&within).fails_with(&["--top-hits prints with --format text or json only"]);
    let rows =
        search(&["--limit", "0", "--format", "tsv", "--facet", "brand", "--facet", "brand/color"]);
    assert_eq!(
        rows.stdout,
        "field\twithin\tvalue\tcount\nbrand\t\tacme\t3\nbrand/color\tacme\tred\t2\n\
         brand/color\tacme\tblue\t1\nbrand\t\tbolt\t1\nbrand\t\t\t1\nbrand/color\t\tred\t1\n"
    );
    let rows = search(&["--limit", "0", "--format", "csv", "--stats", "price:p50"]).stdout;
    assert!(rows.starts_with("field,count,documents,missing,sum,min,max,mean,variance,"), "{rows}");
    assert!(rows.contains("\nprice,5,5,0,27,3,9,5.4,") && rows.ends_with(",5\n"), "{rows}");
    // The columns are those of what is asked for, whatever matches.
    let mut nothing = vec!["search", "t.tp", "nowhere", "--limit", "0", "--format", "tsv"];
    nothing.extend(["--facet", "brand", "--facet", "brand/color"]);
    assert_eq!(dir.run(&nothing).stdout, "field\twithin\tvalue\tcount\n");
    let nothing = ["search", "t.tp", "nowhere", "--limit", "0", "--format", "csv", "--stats"];
    let rows = dir.run(&[&nothing[..], &["price:p50,p99.9"]].concat()).stdout;
    let header = "distinct,distinct_by,distinct_error,percentiles_by,percentiles_error,p50,p99.9\n";
    assert!(rows.lines().count() == 2 && rows.contains(header), "{rows}");
    search(&["--limit", "0", "--format", "csv", "--stats", "price", "--facet", "brand"])
        .fails_with(&["do not fit into one table"]);
    search(&["--format", "csv", "--stats", "price"]).fails_with(&["--limit 0"]);
}

/// Where a count of each value would take too much memory, a sketch says what it is and how near.
#[test]
fn statistics_say_whether_they_are_exact() {
    let dir = Dir::new();
    let rows = (0..20_000u64).map(|nth| format!("{{\"at\":{}}}\n", nth * 1_000_003));
    dir.write("a.jsonl", rows.collect::<String>());
    dir.ok(&["index", "t.tp", "a.jsonl", "--quiet"]);
    let search = |more: &[&str]| {
        let typed = ["search", "t.tp", "*", "--limit", "0", "--stats", "at:p50"];
        dir.ok(&[&typed[..], more].concat())
    };
    let exact: serde_json::Value = serde_json::from_str(&search(&["--format", "json"])).unwrap();
    let exact = &exact["statistics"]["at"];
    assert_eq!((&exact["distinct"], &exact["distinct_by"]), (&20_000.into(), &"exact".into()));
    assert_eq!(
        (&exact["percentiles_by"], &exact["percentiles_error"]),
        (&"exact".into(), &json!(0.0))
    );
    let small = ["--max-memory", "400KiB"];
    let near = search(&[&small[..], &["--format", "json"]].concat());
    let near: serde_json::Value = serde_json::from_str(&near).unwrap();
    let near = &near["statistics"]["at"];
    assert_eq!(
        (&near["distinct_by"], &near["distinct_error"]),
        (&"hyperloglog".into(), &json!(0.01))
    );
    assert_eq!(
        (&near["percentiles_by"], &near["percentiles_error"]),
        (&"kll".into(), &json!(0.0028))
    );
    let text = search(&small);
    assert!(text.contains("(HyperLogLog, within 1 %)\n"), "{text}");
    assert!(text.contains("(KLL, ranks within 0.28 %)\n"), "{text}");
    let rows = search(&[&small[..], &["--format", "tsv"]].concat());
    assert!(rows.contains("\thyperloglog\t0.01\tkll\t0.0028\t"), "{rows}");
}

#[test]
fn facets_of_values_have_options() {
    let dir = Dir::new();
    let brands = ["acme", "Aldi", "acme", "bolt", "arco", "a,b"];
    let lines = brands.map(|brand| format!("{{\"brand\":[{brand:?}]}}\n"));
    dir.write("a.jsonl", lines.concat());
    dir.ok(&["index", "t.tp", "a.jsonl", "--quiet"]);
    let rows = |facet: &str| {
        let rows = ["search", "t.tp", "*", "--limit", "0", "--facet", facet, "--format", "csv"];
        dir.ok(&rows).replace("field,value,count\n", "").replace("brand,", "")
    };
    assert_eq!(rows("brand:3"), "acme,2\nAldi,1\n\"a,b\",1\n");
    assert_eq!(rows("brand:2,by=value"), "Aldi,1\n\"a,b\",1\n");
    assert_eq!(rows("brand:1,by=value:desc"), "bolt,1\n");
    assert_eq!(rows("brand:min=2"), "acme,2\n");
    assert_eq!(rows("brand:prefix=ar"), "arco,1\n");
    assert_eq!(rows("brand:contains=AL"), "Aldi,1\n");
    assert_eq!(rows(r"brand:prefix=a\,"), "\"a,b\",1\n");
    assert_eq!(rows(r"brand:9,by=value,regex=a.{2\,3}"), "\"a,b\",1\nacme,2\narco,1\n");
    let json = dir.ok(&["search", "t.tp", "*", "--facet", "brand:min=2", "--format", "json"]);
    let page: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        page["facets"]["brand"],
        serde_json::json!({
            "kind": "terms", "buckets": [{"value": "acme", "count": 2}],
            "other": 4, "missing": 0, "exact": true,
        })
    );
    let plan = dir.ok(&["explain", "t.tp", "*", "--facet", "brand:2,by=value,prefix=a"]);
    assert!(plan.contains("top 2 of 5 terms, by value, beginning with 'a'"), "{plan}");
    dir.run(&["search", "t.tp", "*", "--facet", "brand:size=3"]).fails_with(&[
        "--facet brand",
        "prefix=TEXT",
        "'size=3'",
    ]);
    dir.run(&["search", "t.tp", "*", "--facet", "brand:regex=a("])
        .fails_with(&["regular expression", "unclosed group"]);
}

#[test]
fn values_are_selected() {
    let dir = Dir::new();
    let of = |brand, color| {
        format!("{{\"name\":\"a lamp\",\"brand\":[{brand:?}],\"color\":[{color:?}]}}\n")
    };
    let lamps = [("acme", "red"), ("acme", "blue"), ("bolt", "red"), ("a=b", "green")];
    dir.write("a.jsonl", lamps.map(|(brand, color)| of(brand, color)).concat());
    dir.ok(&["index", "t.tp", "a.jsonl", "--quiet"]);
    let found = |options: &[&str]| -> serde_json::Value {
        let facets = ["--facet", "brand", "--facet", "color", "--format", "json"];
        let typed = ["search", "t.tp", "lamp"];
        serde_json::from_str(&dir.ok(&[&typed[..], options, &facets].concat())).unwrap()
    };
    let values = |page: &serde_json::Value, field: &str| {
        let buckets = page["facets"][field]["buckets"].as_array().unwrap();
        let shown =
            buckets.iter().map(|b| format!("{} {}", b["value"].as_str().unwrap(), b["count"]));
        shown.collect::<Vec<_>>().join(", ")
    };
    let page = found(&["--select", "color=red"]);
    assert_eq!(page["total"]["value"], 2);
    assert_eq!(values(&page, "brand"), "acme 1, bolt 1");
    assert_eq!(values(&page, "color"), "red 2, blue 1, green 1");
    let page =
        found(&["--select", "color=red", "--select", "color=blue", "--select", "brand=acme"]);
    assert_eq!(page["total"]["value"], 2);
    assert_eq!(values(&page, "brand"), "acme 2, bolt 1");
    assert_eq!(values(&page, "color"), "blue 1, red 1");
    assert_eq!(found(&["--select", "brand=a=b"])["total"]["value"], 1);
    assert_eq!(dir.ok(&["search", "t.tp", "lamp", "--count", "--select", "color=red"]), "2\n");
    let plan = dir.ok(&["explain", "t.tp", "lamp", "--facet", "brand", "--select", "brand=acme"]);
    assert!(plan.contains("terms, without its own selection"), "{plan}");
    let why = dir.run(&["explain", "t.tp", "lamp", "--select", "brand=acme", "--doc", "2"]);
    assert!(why.stdout.contains("brand:IN [acme]^=0 must match and does not"), "{}", why.stdout);
    dir.run(&["search", "t.tp", "lamp", "--select", "nope=1", "--facet", "brand"]).fails_with(&[
        "selecting values of a field",
        "brand, color",
        "found 'nope'",
    ]);
    let boosted = ["search", "t.tp", "lamp", "--boost", "price:log1p,sqrt"];
    dir.run(&boosted).fails_with(&["reading --boost", "each option once", "'sqrt' beside"]);
    dir.run(&["search", "t.tp", "lamp", "--select", "brand"]).fails_with(&[
        "--select",
        "FIELD=VALUE",
        "'brand'",
    ]);
    dir.run(&["search", "t.tp", "lamp", "--select", "size=3"]).fails_with(&["size"]);
}

#[test]
fn rows_come_as_tsv_and_csv() {
    let dir = Dir::new();
    dir.write("a.jsonl", "{\"title\":\"a\\tb, \\\"c\\\"\",\"tag\":[\"x\",\"y\"]}\n");
    dir.ok(&["index", "t.tp", "a.jsonl", "--quiet"]);
    let tsv = dir.ok(&["search", "t.tp", "*", "--format", "tsv"]);
    assert_eq!(tsv, "doc\tscore\ttitle\ttag\n0\t1.0\ta\\tb, \"c\"\tx; y\n");
    let csv = dir.ok(&["search", "t.tp", "*", "--format", "csv", "--fields", "tag,title"]);
    assert_eq!(csv, "doc,score,tag,title\n0,1.0,x; y,\"a\tb, \"\"c\"\"\"\n");
    let facets =
        dir.ok(&["search", "t.tp", "*", "--limit", "0", "--facet", "tag", "--format", "csv"]);
    assert_eq!(facets, "field,value,count\ntag,x,1\ntag,y,1\n");
    dir.run(&["search", "t.tp", "*", "--facet", "tag", "--format", "csv"])
        .fails_with(&["--limit 0"]);
}

#[test]
fn inspect_looks_at_every_level() {
    let dir = Dir::with_titles();
    let segments = dir.run(&["inspect", "t.tp", "--format", "json"]).json();
    assert_eq!(segments[0]["documents"], 7);
    let schema = dir.ok(&["inspect", "t.tp", "schema"]);
    assert!(schema.contains("[fields.qualifier]\ntype = \"keyword\""), "{schema}");
    let terms = dir.ok(&["inspect", "t.tp", "terms", "--prefix", "f", "--format", "tsv"]);
    assert_eq!(terms, "documents\tterm\n2\tfilm\n1\tfrance\n");
    let terms = dir.ok(&["inspect", "t.tp", "terms", "--field", "qualifier", "--format", "csv"]);
    assert_eq!(terms, "documents,term\n1,book\n2,film\n1,song\n");
    let list = dir.run(&["inspect", "t.tp", "postings", "paris", "--format", "json"]).json();
    assert_eq!(list[0]["docs"], serde_json::json!([0, 1]));
    let document = dir.run(&["inspect", "t.tp", "document", "5", "--format", "json"]).json();
    assert_eq!(document["fields"]["title"], "東京");
    let storage = dir.run(&["inspect", "t.tp", "storage", "--format", "json"]).json();
    let rows = storage.as_array().unwrap().iter();
    let bytes: u64 = rows.map(|row| row["bytes"].as_u64().unwrap()).sum();
    assert_eq!(Some(bytes), segments[0]["bytes"].as_u64());
    dir.run(&["inspect", "t.tp", "postings", "nowhere"]).fails_with(&["nowhere"]);
    dir.run(&["inspect", "t.tp", "document", "7"]).fails_with(&["7"]);
}

/// What a commit and the merge after it were told, with round times.
const EVENTS: &str = r#"{"session":"index","index":"t.tp","version":"0.1.0","start_us":1000000}
{"event":"open","start_us":1000000,"time_ns":10000,"file":"manifest-0000000000000001","bytes":200,"error":null}
{"session":"index","index":"t.tp","version":"0.1.0","start_us":2000000}
{"event":"create","start_us":2000000,"time_ns":20000,"file":"seg-0123456789abcdef0123456789abcdef.idx","error":null}
{"event":"write","start_us":2000100,"time_ns":400000,"file":"seg-0123456789abcdef0123456789abcdef.idx","bytes":3000,"calls":12,"busy_ns":100000,"error":null}
{"event":"sync","start_us":2000500,"time_ns":200000,"file":"seg-0123456789abcdef0123456789abcdef.idx","bytes":3000,"error":null}
{"event":"sync_names","start_us":2000700,"time_ns":100000,"error":null}
{"event":"create","start_us":2000800,"time_ns":10000,"file":".tmp-0123456789abcdef0123456789abcdef","error":null}
{"event":"write","start_us":2000810,"time_ns":1000,"file":".tmp-0123456789abcdef0123456789abcdef","bytes":200,"calls":1,"busy_ns":1000,"error":null}
{"event":"sync","start_us":2000820,"time_ns":80000,"file":".tmp-0123456789abcdef0123456789abcdef","bytes":200,"error":null}
{"event":"publish","start_us":2000900,"time_ns":10000,"file":"manifest-0000000000000002","from":".tmp-0123456789abcdef0123456789abcdef","error":null}
{"event":"sync_names","start_us":2000900,"time_ns":100000,"error":null}
{"event":"commit","start_us":2000000,"time_ns":1000000,"generation":2,"documents":9,"added":8,"deleted":0,"segments":2,"bytes":3200,"error":null}
{"event":"delete","start_us":2001100,"time_ns":5000,"file":"manifest-0000000000000001","error":{"kind":"PermissionDenied","message":"deleting a file"}}
{"event":"unheard_of","start_us":2001200,"time_ns":2800000,"error":null}
"#;

#[test]
fn what_was_done_to_files_is_a_table_and_a_timeline() {
    let dir = Dir::new();
    dir.write("t.tp.events.jsonl", EVENTS);
    let shown = |arguments: &[&str], columns: &str| {
        let mut command = dir.command(arguments);
        let ran = Ran::of(command.env("COLUMNS", columns).spawn().unwrap(), vec![]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        ran.stdout
    };
    let text = shown(&["inspect", "t.tp", "io"], "90");
    let expected = "\
index t.tp: 12 events in 4.0 ms, the last of 2 sessions; --all shows all

event       count  failed    bytes     total    median       max        rate
unheard_of      1                     2.8 ms    2.8 ms    2.8 ms
commit          1          3.1 KiB    1.0 ms    1.0 ms    1.0 ms   3.1 MiB/s
sync            2          3.1 KiB  280.0 µs   80.0 µs  200.0 µs  10.9 MiB/s
sync_names      2                   200.0 µs  100.0 µs  100.0 µs
write           2          3.1 KiB  101.0 µs    1.0 µs  100.0 µs  30.2 MiB/s
create          2                    30.0 µs   10.0 µs   20.0 µs
publish         1                    10.0 µs   10.0 µs   10.0 µs
delete          1       1             5.0 µs    5.0 µs    5.0 µs

                    0 ───────────────────────────────────────── 4.0 ms     bytes      time
commit 2            ━━━━━━━━━━━━━                                        3.1 KiB    1.0 ms
seg-01234567….idx   ░░░░░░███                                            2.9 KiB  700.0 µs
names made durable          █████                                                 200.0 µs
manifest-2                    ██                                           200 B  110.0 µs
files deleted                    ×                                                  5.0 µs  failed
unheard_of                         ┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆              2.8 ms

━ whole  ░ being written  █ made durable  ▒ read  × deleted  ┆ anything else
";
    assert_eq!(text, expected);
    let narrow = shown(&["inspect", "t.tp", "io", "t.tp.events.jsonl"], "40");
    assert!(narrow.contains("\nseg-01234567….idx"), "{narrow}");
    let all = shown(&["inspect", "t.tp", "io", "--all", "--limit", "2"], "90");
    assert!(all.starts_with("2 sessions: 13 events in 1.00 s\n"), "{all}");
    assert!(all.ends_with("5 more rows that took less; --limit 0 shows all\n"), "{all}");

    let json = dir.run(&["inspect", "t.tp", "io", "--format", "json"]).json();
    assert_eq!((&json["sessions"], &json["events"]), (&json!(2), &json!(12)));
    assert_eq!((&json["start_us"], &json["time_ns"]), (&json!(2_000_000), &json!(4_000_000)));
    let sync = json["kinds"].as_array().unwrap().iter().find(|kind| kind["event"] == "sync");
    let expected = json!({
        "event": "sync", "count": 2, "failed": 0, "bytes": 3200, "total_ns": 280_000,
        "median_ns": 80_000, "max_ns": 200_000, "bytes_per_second": 11_428_571,
    });
    assert_eq!(sync, Some(&expected));
    let timeline = json["timeline"].as_array().unwrap();
    let manifest = timeline.iter().find(|row| row["what"] == "manifest-2").unwrap();
    assert_eq!((&manifest["start_ns"], &manifest["end_ns"]), (&json!(800_000), &json!(910_000)));
    assert_eq!(manifest["spans"].as_array().unwrap().len(), 4);

    let csv = dir.ok(&["inspect", "t.tp", "io", "--format", "csv"]);
    assert!(csv.contains("\nsync,2,0,3200,280000,80000,200000,11428571\n"), "{csv}");
    assert_eq!(dir.ok(&["inspect", "t.tp", "io", "--format", "jsonl"]).lines().count(), 8);
}

#[test]
fn commands_that_write_keep_what_they_did_where_that_is_asked_for() {
    let dir = Dir::new();
    dir.write("titles.txt", TITLES);
    dir.ok(&["index", "u.tp", "titles.txt", "--preset", "wikipedia-titles"]);
    let none_kept = dir.run(&["inspect", "u.tp", "io"]);
    // The hint is a command that can be given, and then there is something to show.
    let hint = none_kept.stderr.split('`').nth(1).unwrap().strip_prefix("treepie ").unwrap();
    dir.ok(&hint.split(' ').collect::<Vec<_>>());
    dir.ok(&["inspect", "u.tp", "io"]);
    none_kept.fails_with(&["u.tp.events.jsonl", "--events", "`index` and `delete`"]);
    let events = ["--events", "t.tp.events.jsonl", "--quiet"];
    let index = ["index", "t.tp", "titles.txt", "--preset", "wikipedia-titles"];
    dir.ok(&[&index[..], &events].concat());
    dir.ok(&[&index[..], &["--append"], &events].concat());
    dir.ok(&[&["delete", "t.tp", "france", "--yes"], &events[..]].concat());
    dir.ok(&[&["merge", "t.tp"], &events[..]].concat());
    let kept = fs::read_to_string(dir.0.join("t.tp.events.jsonl")).unwrap();
    let lines: Vec<Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sessions: Vec<_> = lines.iter().filter_map(|line| line["session"].as_str()).collect();
    assert_eq!(sessions, ["index", "index", "delete", "merge"]);
    let commits = lines.iter().filter(|line| line["event"] == "commit");
    let commits: Vec<_> = commits
        .map(|line| (line["documents"].as_u64(), line["added"].as_u64(), line["deleted"].as_u64()))
        .collect();
    let commit = |documents, added, deleted| (Some(documents), Some(added), Some(deleted));
    // The merge commits what was added before, which is nothing, and then its own.
    assert_eq!(commits[..3], [commit(7, 7, 0), commit(14, 7, 0), commit(12, 0, 2)]);
    let merges: Vec<_> = lines.iter().filter(|line| line["event"] == "merge").collect();
    assert_eq!((merges.len(), &merges[0]["segments"]), (1, &json!(2)));

    // What is shown is the last session, and its files are those that there are.
    let shown = dir.run(&["inspect", "t.tp", "io", "--format", "json"]).json();
    assert_eq!((&shown["session"], &shown["sessions"]), (&json!("merge t.tp"), &json!(4)));
    let files = lines.iter().filter(|line| line["event"] == "create");
    let mut files = files.filter_map(|line| line["file"].as_str());
    let merged = files.rfind(|file| file.starts_with("seg-")).unwrap();
    let size = fs::metadata(dir.0.join("t.tp").join(merged)).unwrap().len();
    let rows = shown["timeline"].as_array().unwrap();
    let segment = rows.iter().find(|row| row["what"].as_str().unwrap().starts_with("seg-"));
    assert_eq!(segment.unwrap()["bytes"], json!(size));
    let text = dir.ok(&["inspect", "t.tp", "io"]);
    assert!(text.starts_with("merge t.tp: ") && text.contains("the last of 4 sessions"), "{text}");

    dir.write("wrong.jsonl", "{\"session\":\"x\"}\n{\"event\":\"sync\"}\n");
    dir.run(&["inspect", "t.tp", "io", "wrong.jsonl"]).fails_with(&["wrong.jsonl", "line 2"]);
    dir.run(&["inspect", "t.tp", "io", "none.jsonl"]).fails_with(&["none.jsonl"]);
    dir.run(&["merge", "t.tp", "--events", "no/where.jsonl"]).fails_with(&["no/where.jsonl"]);
}

#[test]
fn bench_prints_a_line_per_query() {
    let dir = Dir::with_titles();
    dir.write("q.txt", "paris\n{\"query\": \"+history +spain\", \"tags\": []}\n");
    let lines = dir.ok(&["bench", "t.tp", "--queries", "q.txt", "--passes", "3"]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let hits: Vec<_> = lines.iter().map(|line| line["hits"].as_u64().unwrap()).collect();
    assert_eq!(hits, [2, 1]);
    for line in lines {
        assert_eq!(line["command"], "COUNT");
        assert_eq!(line["top_score"], Value::Null);
        let (least, median) =
            (line["us_min"].as_f64().unwrap(), line["us_median"].as_f64().unwrap());
        assert!(0.0 < least && least <= median, "{line}");
    }
}

#[test]
fn bench_finds_the_best_with_and_without_counting() {
    let dir = Dir::with_titles();
    dir.write("q.txt", "film paris\nabsent\n");
    let commands = "COUNT,TOP_10,TOP_100,TOP_10_COUNT";
    let lines = dir.ok(&["bench", "t.tp", "--queries", "q.txt", "--commands", commands]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let page = dir.run(&["search", "t.tp", "film paris", "--format", "json"]).json();
    let best = &page["hits"][0]["score"];
    assert!(best.as_f64().unwrap() > 0.0);
    let expected = [
        ("COUNT", 3, &Value::Null),
        ("TOP_10", 3, best),
        ("TOP_100", 3, best),
        ("TOP_10_COUNT", 3, best),
    ];
    for ((name, hits, top_score), lines) in expected.into_iter().zip(lines.chunks(2)) {
        assert_eq!((&lines[0]["command"], &lines[0]["hits"]), (&json!(name), &json!(hits)));
        assert_eq!(&lines[0]["top_score"], top_score);
        assert_eq!((&lines[1]["hits"], &lines[1]["top_score"]), (&json!(0), &Value::Null));
    }
}

#[test]
fn a_score_is_explained_and_so_is_its_absence() {
    let dir = Dir::with_titles();
    let hit =
        dir.run(&["search", "t.tp", "+film paris", "--format", "json"]).json()["hits"][0].clone();
    let doc = hit["doc"].to_string();
    let why = |query: &str, doc: &str| {
        dir.run(&["explain", "t.tp", query, "--doc", doc, "--format", "json"])
    };
    let found = why("+film paris", &doc).json();
    assert_eq!((&found["score"], &found["matches"]), (&hit["score"], &json!(true)));
    // What the parts say adds up, in the numbers of the program.
    let part = |nth: usize| found["explanation"]["parts"][nth]["value"].as_f64().unwrap() as f32;
    assert_eq!(part(0) + part(1), hit["score"].as_f64().unwrap() as f32);
    let text = dir.ok(&["explain", "t.tp", "+film paris", "--doc", &doc]);
    assert!(text.contains("idf: ln(1 + (N - n + 0.5) / (n + 0.5))"), "{text}");

    let missing = dir.run(&["explain", "t.tp", "+paris +spain -film", "--doc", &doc]);
    assert_eq!(missing.status, 1);
    let lines: Vec<&str> = missing.stdout.lines().skip(1).map(str::trim).collect();
    assert_eq!(lines, ["spain must match and does not", "film must not match and does"]);
    let missing = why("(spain france wolken)~2", &doc).json();
    assert_eq!(missing["misses"], json!(["0 of 3 alternatives match, and 2 must"]));
    why("paris", "99").fails_with(&["a number below 7"]);
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
fn synonyms_of_a_field_come_from_a_file() {
    let dir = Dir::with_titles();
    dir.write("synonyms.txt", "# cities\nlutetia => paris\nhistory of france, gesta francorum\n");
    let count = |query: &str| {
        let arguments = ["search", "t.tp", query, "--synonyms", "title:synonyms.txt", "--count"];
        dir.run(&arguments)
    };
    assert_eq!(count("lutetia").stdout, "2\n");
    assert_eq!(count("\"gesta francorum\"").stdout, "1\n");
    assert_eq!(dir.count("lutetia"), 0);
    let plan = dir.ok(&["explain", "t.tp", "lutetia", "--synonyms", "title:synonyms.txt"]);
    assert!(plan.contains("title:paris"), "{plan}");
    let with = |rules: &str| dir.run(&["search", "t.tp", "paris", "--synonyms", rules]);
    with("title").fails_with(&["--synonyms", "FIELD:FILE"]);
    with("qualifier:synonyms.txt").fails_with(&["a text field", "'qualifier'"]);
    with("title:none.txt").fails_with(&["none.txt"]);
    dir.write("bad.txt", "a\n");
    with("title:bad.txt").fails_with(&["bad.txt", "line 1"]);
}

#[test]
fn eval_measures_the_ranking_and_writes_the_run() {
    let dir = Dir::new();
    dir.write(
        "docs.jsonl",
        "{\"id\":1,\"text\":\"shock waves\"}\n{\"id\":2,\"text\":\"heat transfer\"}\n\
         {\"id\":3,\"text\":\"laminar flow\"}\n",
    );
    dir.write("schema.toml", "[fields.id]\ntype = \"keyword\"\n[fields.text]\ntype = \"text\"\n");
    dir.ok(&["index", "t.tp", "docs.jsonl", "--schema", "schema.toml", "--quiet"]);
    // Found, found one of two, not judged, nothing relevant.
    dir.write("q.tsv", "a\t(heat) --\nb\tlaminar\nc\tshock\nd\tshock\n");
    dir.write("qrels.txt", "a 0 2 1\na 0 3 0\nb 0 3 2\nb 0 1 2\nd 0 1 0\n");
    let eval = ["eval", "t.tp", "--queries", "q.tsv", "--qrels", "qrels.txt"];

    let found = dir.run(&[&eval[..], &["--format", "json", "--run-out", "run.txt"]].concat());
    let found = found.json();
    assert_eq!(found["queries"], 2);
    let ndcg_of_b = 1.0 / (1.0 + 1.0 / 3_f64.log2());
    for (name, expected) in [
        ("map", 0.75),
        ("ndcg@10", (1.0 + ndcg_of_b) / 2.0),
        ("p@10", 0.1),
        ("mrr", 1.0),
        ("recall@100", 0.75),
        ("recall@1000", 0.75),
    ] {
        let figure = found[name].as_f64().unwrap();
        assert!((figure - expected).abs() < 1e-9, "{name}: {figure}, expected {expected}");
    }
    assert!(found.get("per_query").is_none());
    let run = fs::read_to_string(dir.0.join("run.txt")).unwrap();
    let columns: Vec<Vec<&str>> = run.lines().map(|line| line.split(' ').collect()).collect();
    let expected = [("a", "2"), ("b", "3"), ("c", "1"), ("d", "1")];
    assert_eq!(columns.len(), expected.len(), "{run}");
    for (columns, (query, doc)) in columns.iter().zip(expected) {
        assert_eq!([&columns[..4], &columns[5..]].concat(), [query, "Q0", doc, "1", "treepie"]);
        assert!(columns[4].parse::<f32>().is_ok(), "{run}");
    }

    let text = dir.ok(&eval);
    assert!(text.starts_with("mean of 2 queries\nmap         0.7500\n"), "{text}");
    let rows = dir.ok(&[&eval[..], &["--per-query", "--format", "tsv"]].concat());
    let first: Vec<&str> = rows.lines().map(|row| row.split('\t').next().unwrap()).collect();
    assert_eq!(first, ["query", "a", "b", "all"]);
    let all = dir.run(&[&eval[..], &["--per-query", "--format", "json"]].concat()).json();
    assert_eq!(all["per_query"][1]["query"], "b");
    assert_eq!(all["per_query"][1]["map"], 0.5);
}

#[test]
fn eval_hears_the_parameters_of_a_field() {
    let dir = Dir::new();
    // Without regard to length what says it twice is the better of the two, with it the short one.
    let long = format!("wing wing {}", "x ".repeat(50));
    dir.write(
        "docs.jsonl",
        format!(
            "{{\"id\":\"short\",\"text\":\"wing\"}}\n{{\"id\":\"long\",\"text\":\"{long}\"}}\n"
        ),
    );
    dir.write("schema.toml", "[fields.id]\ntype = \"keyword\"\n[fields.text]\ntype = \"text\"\n");
    dir.ok(&["index", "t.tp", "docs.jsonl", "--schema", "schema.toml", "--quiet"]);
    dir.write("q.tsv", "a\twing\n");
    dir.write("qrels.txt", "a 0 short 1\n");
    let eval = |more: &[&str]| {
        let eval = ["eval", "t.tp", "--queries", "q.tsv", "--qrels", "qrels.txt"];
        dir.run(&[&eval[..], &["--format", "json"], more].concat())
    };
    for (more, expected) in
        [(&[][..], 1.0), (&["--bm25", "text:1.2,0"], 0.5), (&["--bm25", "text:1.2,1"], 1.0)]
    {
        assert_eq!(eval(more).json()["mrr"], expected, "{more:?}");
        let search = ["search", "t.tp", "text:wing", "--format", "json", "--limit", "1"];
        let best = dir.run(&[&search[..], more].concat()).json()["hits"][0]["fields"]["id"].clone();
        assert_eq!(best, if expected == 1.0 { "short" } else { "long" }, "{more:?}");
    }
    eval(&["--bm25", "text:1"]).fails_with(&["--bm25", "FIELD:K1,B", "'text:1'"]);
    eval(&["--bm25", "text:-1,0"]).fails_with(&["k1 of 0 or more"]);
    eval(&["--bm25", "name:1,0"]).fails_with(&["'name'"]);
    assert!(dir.ok(&["eval", "--help"]).contains("--bm25 title:0.9,0.4"));
}

#[test]
fn eval_says_what_is_wrong_with_its_files() {
    let dir = Dir::new();
    dir.write("docs.jsonl", "{\"id\":\"x y\",\"text\":\"a\"}\n{\"id\":\"x y\",\"text\":\"b\"}\n");
    dir.write(
        "schema.toml",
        "[fields.id]\ntype = \"keyword\"\n[fields.text]\ntype = \"text\"\nstored = false\n",
    );
    dir.ok(&["index", "t.tp", "docs.jsonl", "--schema", "schema.toml", "--quiet"]);
    dir.write("q.tsv", "1\ta\n");
    dir.write("twice.tsv", "1\ta b\n");
    dir.write("no-tab.tsv", "1\ta\n2 b\n");
    dir.write("qrels.txt", "1 0 x 1\n7 0 x 1\n");
    dir.write("short.txt", "1 0 x 1\n1 0 1\n");
    dir.write("none.txt", "1 0 x 0\n");
    let eval = |queries: &str, qrels: &str, more: &[&str]| {
        dir.run(&[&["eval", "t.tp", "--queries", queries, "--qrels", qrels][..], more].concat())
    };
    eval("no-tab.tsv", "qrels.txt", &[]).fails_with(&["no-tab.tsv", "line 2", "no tab"]);
    eval("q.tsv", "short.txt", &[]).fails_with(&["short.txt", "line 2", "four columns", "found 3"]);
    eval("missing.tsv", "qrels.txt", &[]).fails_with(&["missing.tsv"]);
    eval("q.tsv", "none.txt", &[]).fails_with(&["none.txt", "judged relevant"]);
    eval("q.tsv", "qrels.txt", &["--id-field", "name"]).fails_with(&["'name'", "one of id"]);
    eval("q.tsv", "qrels.txt", &["--id-field", "text"]).fails_with(&["'text'", "not stored"]);
    eval("twice.tsv", "qrels.txt", &[]).fails_with(&["'x y' twice", "query '1'"]);
    eval("q.tsv", "qrels.txt", &["--run-out", "run.txt"]).fails_with(&["without blanks", "'x y'"]);
    eval("q.tsv", "qrels.txt", &["--run-out", "no/run.txt"]).fails_with(&["no/run.txt"]);
    // What is judged and not asked is no error, but not left unsaid either.
    let ran = eval("q.tsv", "qrels.txt", &[]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("1 judged queries are not in q.tsv"), "{}", ran.stderr);
    assert_eq!(eval("q.tsv", "qrels.txt", &["--quiet"]).stderr, "");
}

#[test]
fn the_small_commands_print_something_sound() {
    let dir = Dir::new();
    let terms = dir.ok(&["analyze", "Rock'n'Roll (1977)", "--format", "jsonl"]);
    assert_eq!(terms.lines().count(), 4);
    assert!(dir.ok(&["completions", "zsh"]).contains("#compdef treepie"));
    let page = dir.ok(&["man"]);
    assert!(page.contains(".SH NAME") && page.contains("skip\\-bad\\-lines"), "{page}");
    let tour = dir.ok(&["demo", "--index", "demo.tp"]);
    for words in ["4,138 titles", "demo.tp", "qualifier", "TermScan", "What next"] {
        assert!(tour.contains(words), "no {words:?} in {tour}");
    }
    for command in ["index", "search", "explain", "inspect"] {
        assert!(dir.ok(&[command, "--help"]).contains("Examples:"), "{command}");
    }
}

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
    assert_eq!(
        page["facets"]["price"],
        serde_json::json!({
            "kind": "range", "other": 0, "missing": 1, "exact": true, "buckets": [
                {"from": null, "to": 10.0, "count": 1},
                {"from": 10.0, "to": 12.25, "count": 0},
                {"from": 10.0, "to": null, "count": 1},
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
    let expected = ["-0.5", "0.00000001", "0.00000123", "12345678.0", "90071992547.4099"];
    assert_eq!(found, expected);
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

// How it ends.

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
fn what_is_announced_and_not_built_is_refused_by_name() {
    let dir = Dir::with_titles();
    for (arguments, name) in [
        (&["calibrate"][..], "calibrate"),
        (&["search", "t.tp", "paris", "--slow-ms", "9"], "--slow-ms"),
        (&["explain", "t.tp", "paris", "--format", "dot"], "dot"),
    ] {
        dir.run(arguments).fails_with(&[name, "not built yet"]);
    }
    dir.write("schema.toml", "[fields.place]\ntype = \"geo\"\n");
    dir.run(&["index", "n.tp", "titles.txt", "--schema", "schema.toml"]).fails_with(&[
        "geo",
        "not built yet",
        "schema.toml",
        "line 2",
    ]);
}

#[test]
fn indexes_are_copied_added_to_others_and_merged_to_a_few_segments() {
    let dir = Dir::with_titles();
    let n_docs = dir.count("*");
    let copied = dir.run(&["copy", "t.tp", "c.tp"]);
    assert_eq!((copied.status, &*copied.stdout), (0, ""));
    assert!(copied.stderr.contains("commit 1 is in c.tp"), "{}", copied.stderr);
    dir.run(&["copy", "t.tp", "c.tp"]).fails_with(&["c.tp", "an index"]);
    dir.run(&["copy", "none.tp", "d.tp"]).fails_with(&["none.tp"]);

    let merged = dir.run(&["merge", "t.tp", "c.tp", "--segments", "2"]);
    assert_eq!(merged.status, 0, "{}", merged.stderr);
    assert!(merged.stderr.contains("1 segment before, 2 now"), "{}", merged.stderr);
    assert_eq!(dir.count("*"), 2 * n_docs);
    dir.ok(&["merge", "t.tp", "--quiet"]);
    assert_eq!(dir.count("*"), 2 * n_docs);
    dir.ok(&["verify", "t.tp"]);

    dir.write("words.txt", "one line\n");
    dir.ok(&["index", "w.tp", "words.txt", "--quiet"]);
    dir.run(&["merge", "t.tp", "w.tp"]).fails_with(&["w.tp", "schema"]);
    dir.run(&["merge", "t.tp", "--segments", "0"]).fails_with(&["--segments"]);
    assert_eq!(dir.count("*"), 2 * n_docs);
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
fn a_closed_pipe_does_not_stop_a_build() {
    let dir = Dir::new();
    dir.write("a.jsonl", "{\"title\":\"one\"}\n".repeat(1_000));
    let mut child = dir.command(&["index", "t.tp", "a.jsonl"]).spawn().unwrap();
    drop(child.stdout.take());
    drop(child.stderr.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(dir.count("one"), 1_000);
}

#[test]
fn quiet_is_quiet_and_color_is_asked_for() {
    let dir = Dir::with_titles();
    let ran = dir.run(&["index", "t.tp", "titles.txt", "--preset", "wikipedia-titles", "--append"]);
    assert!(ran.stderr.contains("7 documents added"), "{}", ran.stderr);
    let ran = dir.run(&["merge", "t.tp", "--quiet"]);
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    assert!(!dir.ok(&["search", "t.tp", "paris"]).contains('\x1b'));
    assert!(dir.ok(&["search", "t.tp", "paris", "--color", "always"]).contains('\x1b'));
}

// What is there already.

#[test]
fn an_index_that_exists_is_refused_appended_to_or_replaced() {
    let dir = Dir::with_titles();
    let preset = ["--preset", "wikipedia-titles", "--quiet"];
    let index =
        |more: &[&str]| dir.run(&[&["index", "t.tp", "titles.txt"], &preset[..], more].concat());
    index(&[]).fails_with(&["t.tp", "an index", "append"]);
    assert_eq!(index(&["--append"]).status, 0);
    assert_eq!((dir.count("*"), dir.count("paris")), (14, 4));
    dir.ok(&["merge", "t.tp", "--quiet"]);
    assert_eq!((dir.count("*"), dir.count("paris")), (14, 4));
    assert_eq!(index(&["--overwrite"]).status, 0);
    assert_eq!(dir.count("*"), 7);
    dir.run(&["index", "new.tp", "titles.txt", "--append"]).fails_with(&["new.tp"]);
    dir.run(&["index", "t.tp", "titles.txt", "--append", "--overwrite"])
        .fails_with(&["--append", "--overwrite"]);
}

#[test]
fn an_index_of_an_older_format_is_refused_or_replaced() {
    let dir = Dir::with_titles();
    let age = |change: fn(u8) -> u8| {
        for entry in fs::read_dir(dir.0.join("t.tp")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if !name.starts_with("manifest-") && !name.starts_with("seg-") {
                continue;
            }
            let mut bytes = fs::read(&path).unwrap();
            bytes[10] = change(bytes[10]);
            let crc = crc32c::crc32c(&bytes[..60]).to_le_bytes();
            bytes[60..64].copy_from_slice(&crc);
            if name.starts_with("manifest-") {
                let end = bytes.len() - 4;
                let crc = crc32c::crc32c(&bytes[..end]).to_le_bytes();
                bytes[end..].copy_from_slice(&crc);
            }
            fs::write(&path, bytes).unwrap();
        }
    };
    let index = |more: &[&str]| {
        let preset = ["index", "t.tp", "titles.txt", "--preset", "wikipedia-titles", "--quiet"];
        dir.run(&[&preset, more].concat())
    };
    age(|major| major - 1);
    let refusal = ["format version", "older treepie", "--overwrite"];
    dir.run(&["search", "t.tp", "paris"]).fails_with(&refusal);
    index(&["--append"]).fails_with(&refusal);
    index(&[]).fails_with(&["t.tp", "an index"]);
    assert_eq!(index(&["--overwrite"]).status, 0);
    assert_eq!((dir.count("*"), dir.count("paris")), (7, 2));
    dir.ok(&["verify", "t.tp"]);
    let names = fs::read_dir(dir.0.join("t.tp")).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    let n_of = |prefix: &str| {
        names.iter().filter(|name| name.to_str().unwrap().starts_with(prefix)).count()
    };
    assert_eq!((n_of("manifest-"), n_of("seg-")), (1, 1), "{names:?}");
    age(|major| major + 1);
    index(&["--overwrite"]).fails_with(&["newer treepie"]);
}

#[test]
fn a_build_that_fails_leaves_what_was_there() {
    let dir = Dir::with_titles();
    dir.write("bad.txt", b"fine\nb\xFFd\n");
    dir.run(&["index", "t.tp", "bad.txt", "--preset", "wikipedia-titles", "--overwrite"])
        .fails_with(&["line 2"]);
    assert_eq!(dir.count("*"), 7);
    dir.run(&["index", "new.tp", "bad.txt"]).fails_with(&["line 2"]);
    dir.run(&["search", "new.tp", "*"]).fails_with(&["new.tp"]);
    dir.write("bad.txt", "fine\ngood\n");
    dir.ok(&["index", "new.tp", "bad.txt", "--quiet"]);
}

#[test]
fn a_killed_build_leaves_the_old_index_and_no_litter_for_long() {
    let dir = Dir::with_titles();
    let mut child = dir
        .command(&["index", "t.tp", "-", "--preset", "wikipedia-titles", "--overwrite"])
        .args(["--memory", "16MiB"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for number in 0..300_000 {
        writeln!(stdin, "Another_title_{number}_(word{number})").unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((dir.count("paris"), dir.count("another")), (2, 0));
    dir.ok(&["index", "t.tp", "titles.txt", "--preset", "wikipedia-titles", "--append", "--quiet"]);
    assert_eq!(dir.count("paris"), 4);
    let names = fs::read_dir(dir.0.join("t.tp")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let litter: Vec<_> = names.filter(|name| name.starts_with('.')).collect();
    assert!(litter.is_empty(), "{litter:?}");
    assert_eq!(dir.run(&["verify", "t.tp"]).status, 0);
}

#[test]
fn there_is_one_writer_at_a_time() {
    let dir = Dir::with_titles();
    let mut first = dir
        .command(&["index", "t.tp", "-", "--preset", "wikipedia-titles", "--append", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = first.stdin.take().unwrap();
    writeln!(stdin, "A_title_long_enough_to_be_looked_at").unwrap();
    // Trying would take the lock away from the first: its holder is named in the file.
    let holder = || fs::read_to_string(dir.0.join("t.tp/write.lock")).unwrap();
    while holder().trim() != first.id().to_string() {
        assert!(first.try_wait().unwrap().is_none(), "the first writer ended without the lock");
        thread::sleep(Duration::from_millis(5));
    }
    dir.run(&["merge", "t.tp", "--quiet"]).fails_with(&["t.tp", "another writer"]);
    let preset = ["--preset", "wikipedia-titles"];
    dir.run(&[&["index", "t.tp", "titles.txt", "--overwrite"], &preset[..]].concat())
        .fails_with(&["t.tp", "another writer"]);
    // Readers do not care.
    assert_eq!(dir.count("*"), 7);
    drop(stdin);
    assert!(first.wait().unwrap().success());
    assert_eq!(dir.count("*"), 8);
}

#[test]
fn a_directory_that_is_something_else_is_left_alone() {
    let dir = Dir::new();
    dir.write("titles.txt", TITLES);
    fs::create_dir(dir.0.join("photos")).unwrap();
    dir.write("photos/holiday.jpg", "not an index");
    for mode in [&[][..], &["--overwrite"], &["--append"]] {
        dir.run(&[&["index", "photos", "titles.txt"], mode].concat()).fails_with(&["photos"]);
    }
    dir.run(&["search", "photos", "*"]).fails_with(&["photos"]);
    dir.run(&["index", "titles.txt", "titles.txt"]).fails_with(&["titles.txt"]);
    dir.run(&["search", "titles.txt", "*"]).fails_with(&["titles.txt"]);
    let names: Vec<_> = fs::read_dir(dir.0.join("photos")).unwrap().collect();
    assert_eq!(names.len(), 1);
}

// Bad input.

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

#[cfg(unix)]
#[test]
fn without_permission_the_file_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Dir::with_titles();
    let set = |name: &str, mode| {
        fs::set_permissions(dir.0.join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    set("titles.txt", 0o000);
    if fs::read(dir.0.join("titles.txt")).is_ok() {
        eprintln!("!!! SKIPPED: permissions mean nothing to root");
        return;
    }
    dir.run(&["index", "new.tp", "titles.txt"]).fails_with(&["titles.txt", "ermission denied"]);
    set("titles.txt", 0o644);
    set("t.tp", 0o555);
    let append =
        dir.run(&["index", "t.tp", "titles.txt", "--preset", "wikipedia-titles", "--append"]);
    append.fails_with(&["t.tp", "ermission denied"]);
    assert_eq!(dir.count("*"), 7);
    set("t.tp", 0o755);
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
        ("{\"title\": 1}".to_owned(), "found a number"),
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
    dir.write("a.jsonl", "{\"title\": \"a\", \"price\": {}}\n");
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
fn a_damaged_index_is_an_error_and_verify_lists_it() {
    let dir = Dir::with_titles();
    let segment = segment_of(&dir.0.join("t.tp"));
    let mut bytes = fs::read(&segment).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 0x10;
    fs::write(&segment, bytes).unwrap();
    let ran = dir.run(&["verify", "t.tp"]);
    assert_eq!(ran.status, 2, "{}{}", ran.stdout, ran.stderr);
    let name = segment.file_name().unwrap().to_str().unwrap().to_owned();
    assert!(ran.stdout.contains(&name), "{}", ran.stdout);
    fs::remove_file(&segment).unwrap();
    let ran = dir.run(&["verify", "t.tp"]);
    assert_eq!(ran.status, 2);
    assert!((ran.stdout + &ran.stderr).contains(&name));
}

#[test]
fn a_damaged_index_is_recovered_and_salvaged_when_told_to() {
    let dir = Dir::with_titles();
    let index = dir.0.join("t.tp");
    dir.write("more.txt", "Paris again\n");
    let preset = ["--preset", "wikipedia-titles", "--append", "--quiet"];
    dir.ok(&[&["index", "t.tp", "more.txt"][..], &preset].concat());
    let sound = dir.ok(&["recover", "t.tp"]);
    assert!(sound.contains("nothing is lost"), "{sound}");
    let manifest = index.join("manifest-0000000000000002");
    let mut bytes = fs::read(&manifest).unwrap();
    bytes[90] ^= 1;
    fs::write(&manifest, bytes).unwrap();
    assert_eq!(dir.run(&["search", "t.tp", "paris", "--count"]).status, 2);

    let saved = dir.ok(&["salvage", "t.tp", "saved.tp"]);
    assert!(saved.contains("commit 2 is damaged") && saved.contains("of commit 1"), "{saved}");
    assert_eq!(dir.ok(&["search", "saved.tp", "paris", "--count"]), "2\n");
    // Every segment that is left is whole, and yet a commit is lost.
    let object = dir.ok(&["salvage", "t.tp", "saved2.tp", "--format", "json"]);
    let object: serde_json::Value = serde_json::from_str(&object).unwrap();
    assert_eq!((&object["nothing_lost"], &object["lost"]), (&json!(false), &json!(0)));
    assert_eq!((&object["unreadable"][0]["commit"], &object["commit"]), (&json!(2), &json!(1)));
    assert_eq!(object["unnamed"].as_array().unwrap().len(), 1);
    assert_eq!(dir.run(&["salvage", "t.tp", "saved.tp"]).status, 2, "it is there already");

    let planned = dir.ok(&["recover", "t.tp", "--dry-run"]);
    assert!(planned.contains("would go back to commit 1"), "{planned}");
    assert_eq!(dir.run(&["search", "t.tp", "paris", "--count"]).status, 2, "nothing was done");
    let done = dir.ok(&["recover", "t.tp"]);
    assert!(done.contains("went back to commit 1, which is commit 3 now"), "{done}");
    assert!(done.contains("set aside: damaged-manifest-0000000000000002"), "{done}");
    assert_eq!(dir.ok(&["search", "t.tp", "paris", "--count"]), "2\n");
    let rows = dir.ok(&["recover", "t.tp", "--format", "csv"]);
    assert!(rows.starts_with("commit,state,documents,damaged,message\n3,whole,"), "{rows}");
    let object = dir.ok(&["recover", "t.tp", "--format", "json"]);
    let object: serde_json::Value = serde_json::from_str(&object).unwrap();
    assert_eq!((&object["nothing_lost"], &object["whole"]), (&json!(true), &json!(3)));
    assert_eq!(dir.run(&["recover", "nowhere.tp"]).status, 2);
    fs::create_dir(dir.0.join("plain")).unwrap();
    dir.write("plain/file.txt", "x");
    assert_eq!(dir.run(&["recover", "plain"]).status, 2);
    assert!(!dir.0.join("plain/write.lock").exists());

    // Without its footer nothing of a segment can be found.
    let segment = segment_of(&dir.0.join("saved.tp"));
    let mut bytes = fs::read(&segment).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&segment, bytes).unwrap();
    let ran = dir.run(&["salvage", "saved.tp", "none.tp", "--format", "json"]);
    assert_eq!(ran.status, 2, "nothing was saved");
    let lost: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&lost["nothing_lost"], &lost["documents"]), (&json!(false), &json!(0)));
    assert_eq!(lost["segments"][0]["outcome"], "lost");
    let ran = dir.run(&["salvage", "saved.tp", "none2.tp"]);
    assert!(ran.status == 2 && ran.stdout.contains("nothing could be saved"), "{}", ran.stdout);
    let rows = dir.run(&["salvage", "saved.tp", "none3.tp", "--format", "csv"]).stdout;
    assert!(rows.contains("\nsalvaged,1,damaged,0,"), "{rows}");
}

fn segment_of(index: &Path) -> PathBuf {
    let names = fs::read_dir(index).unwrap().map(|entry| entry.unwrap().path());
    let mut segments = names.filter(|path| path.extension().is_some_and(|name| name == "idx"));
    segments.next().unwrap()
}

#[test]
fn analyze_shows_the_tokens_of_a_spec_or_of_a_field() {
    let dir = Dir::new();
    let tokens = |arguments: &[&str]| {
        let json: Value = serde_json::from_str(&dir.ok(arguments)).unwrap();
        let token = |token: &Value| {
            let number = |key: &str| token[key].as_u64().unwrap();
            let term = token["term"].as_str().unwrap().to_owned();
            (number("position"), term, number("start"), number("end"))
        };
        json.as_array().unwrap().iter().map(token).collect::<Vec<_>>()
    };
    let token = |position, term: &str, start, end| (position, term.to_owned(), start, end);
    let queens = [token(1, "queen", 4, 11), token(2, "gambit", 12, 19)];
    assert_eq!(
        tokens(&["analyze", "--analyzer", "english", "The Queen's gambits", "--json"]),
        queens
    );
    assert_eq!(tokens(&["analyze", "--json", "--", "--É"]), [token(0, "é", 2, 4)]);

    let schema = "[fields.t]\ntype = \"text\"\nanalyzer = \"english\"\nquery_analyzer = \"keyword\"\n\
                  [fields.k]\ntype = \"keyword\"\n";
    dir.write("schema.toml", schema);
    dir.write("docs.jsonl", "{\"t\": \"The Queen's gambits\"}\n");
    dir.ok(&["index", "i.tp", "docs.jsonl", "--schema", "schema.toml", "--quiet"]);
    assert_eq!(dir.ok(&["inspect", "i.tp", "schema"]), schema);
    let of_field = ["analyze", "i.tp", "--field", "t", "The Queen's gambits", "--json"];
    assert_eq!(tokens(&of_field), queens);
    let of_query = [&of_field[..], &["--query"]].concat();
    assert_eq!(tokens(&of_query), [token(0, "The Queen's gambits", 0, 19)]);

    for (arguments, words) in [
        (&["analyze", "i.tp", "--field", "k", "x"][..], "one of the text fields t, found 'k'"),
        (&["analyze", "--analyzer", "words|stem:xx", "x"], "one of ar, ca, "),
        (&["analyze", "--analyzer", "englsh", "x"], "default, catalan, cjk, "),
        (&["analyze", "a", "b"], "--field"),
    ] {
        let ran = dir.run(arguments);
        assert_eq!(ran.status, 2, "{arguments:?}");
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    dir.write("bad.toml", "[fields.t]\ntype = \"text\"\nanalyzer = \"englsh\"\n");
    let ran = dir.run(&["index", "b.tp", "docs.jsonl", "--schema", "bad.toml"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stderr.contains("english, ") && ran.stderr.contains("line 3"), "{}", ran.stderr);

    let long = format!("{{\"t\": \"a {} b\"}}\n", "x".repeat(32_767));
    dir.write("long.jsonl", long);
    let ran = dir.run(&["index", "l.tp", "long.jsonl", "--schema", "schema.toml"]);
    assert_eq!(ran.status, 0);
    assert!(ran.stderr.contains("1 token left out"), "{}", ran.stderr);
}

#[test]
fn analyze_shows_what_synonyms_make_of_a_query() {
    let dir = Dir::with_titles();
    dir.write("synonyms.txt", "# cities\nlutetia => paris\nhistory of france, gesta\n");
    let analyze = |more: &[&str]| {
        let analyze = ["analyze", "t.tp", "--field", "title", "Gesta of Lutetia"];
        dir.run(&[&analyze[..], more].concat())
    };
    let with = |rules: &str| analyze(&["--query", "--synonyms", rules, "--format", "tsv"]);
    let found = with("title:synonyms.txt");
    assert_eq!(
        found.stdout,
        "slot\tgap\talternative\tposition\tterm\n\
         0\t0\t0\t0\tgesta\n\
         0\t0\t1\t0\thistory\n0\t0\t1\t1\tof\n0\t0\t1\t2\tfrance\n\
         1\t0\t0\t0\tof\n\
         2\t0\t0\t0\tparis\n",
        "{}",
        found.stderr
    );
    // What is shown is what is found, and without rules words stand for themselves.
    let search = ["search", "t.tp", "gesta", "--synonyms", "title:synonyms.txt", "--count"];
    assert_eq!(dir.ok(&search), "1\n");
    let plain = analyze(&["--query", "--json"]).json();
    assert_eq!(plain[2], json!({"position": 2, "term": "lutetia", "start": 9, "end": 16}));

    with("title").fails_with(&["--synonyms", "FIELD:FILE"]);
    with("qualifier:synonyms.txt").fails_with(&["a text field", "'qualifier'"]);
    with("title:none.txt").fails_with(&["none.txt"]);
    dir.write("bad.txt", "a\n");
    with("title:bad.txt").fails_with(&["bad.txt", "line 1"]);
    // Texts of documents have no synonyms.
    analyze(&["--synonyms", "title:synonyms.txt"]).fails_with(&["--query"]);
    assert!(dir.ok(&["analyze", "--help"]).contains("--synonyms title:synonyms.txt"));
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
    assert!(plan.contains("title:hist* scores by 1 of 1 terms (1 visited): history"), "{plan}");
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
        let tree = dir.run(&[&["explain", "p.tp", query, "--format", "json"], more].concat());
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

#[test]
fn a_disk_is_measured_and_left_as_it_was() {
    let dir = Dir::new();
    let text = dir.ok(&["bench-disk", ".", "--seconds", "0.1", "--format", "json"]);
    let found: Value = serde_json::from_str(&text).unwrap();
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4 * 3 * 2 + 2, "durability by size by threads, and commits");
    for row in rows {
        assert!(row["per_second"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["p50_us"].as_f64().unwrap() <= row["p99_us"].as_f64().unwrap(), "{row}");
    }
    assert!(rows.iter().any(|row| row["what"] == "commit" && row["documents"] == 1));
    assert_eq!(fs::read_dir(&dir.0).unwrap().count(), 0, "nothing is left");
    dir.write("file", "");
    for (place, words) in [("nowhere", "No such file"), ("file", "directory")] {
        let ran = dir.run(&["bench-disk", place, "--seconds", "0.1"]);
        assert_eq!(ran.status, 2, "{place}");
        assert!(
            ran.stderr.contains(words) && ran.stderr.contains("may write to"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(dir.run(&["bench-disk", ".", "--seconds", "0"]).status, 2);
}
