//! Facets, statistics and selections of `search`.

use super::Dir;
use serde_json::json;

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
    search(&within).fails_with(&["--top-hits prints with --format text, compact or json only"]);
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
    let rows = (0..=20_000u64).map(|nth| format!("{{\"at\":{}}}\n", nth * 1_000_003));
    dir.write("a.jsonl", rows.collect::<String>());
    dir.ok(&["index", "t.tp", "a.jsonl", "--quiet"]);
    let search = |more: &[&str]| {
        let asked = "at:distinct,p50";
        let typed = ["search", "t.tp", "at:[1 TO *]", "--limit", "0", "--stats", asked];
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
    assert!(why.stdout.contains("✗ fails at brand:\"acme\": "), "{}", why.stdout);
    dir.run(&["search", "t.tp", "lamp", "--select", "nope=1", "--facet", "brand"]).fails_with(&[
        "selecting values of a field",
        "brand, brand.text, color",
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
fn a_field_may_have_several_facets() {
    let dir = Dir::new();
    let lines = (0..10).map(|n| format!("{{\"price\":{n}}}\n"));
    dir.write("a.jsonl", lines.collect::<String>());
    dir.ok(&["index", "t.tp", "a.jsonl", "--quiet"]);
    let mut typed = vec!["search", "t.tp", "*", "--limit", "0", "--facet", "price:..5,5.."];
    typed.extend(["--facet", "price:step=2", "--facet", "price:3", "--facet", "price:..5"]);
    let page = dir.run(&[&typed[..], &["--format", "json"]].concat()).json();
    let counts = |name: &str| -> Vec<u64> {
        let buckets = page["facets"][name]["buckets"].as_array().unwrap().iter();
        buckets.map(|bucket| bucket["count"].as_u64().unwrap()).collect()
    };
    assert_eq!(counts("price"), [5, 5]);
    assert_eq!(counts("price#2"), [2; 5]);
    assert_eq!(counts("price#3"), [1; 3]);
    assert_eq!(counts("price#4"), [5]);
    assert_eq!(page["facets"].as_object().unwrap().len(), 4);
    let rows = dir.ok(&[&typed[..], &["--format", "csv"]].concat());
    assert!(rows.contains("\nprice,5..,5\nprice#2,0..2,2\n"), "{rows}");
    assert_eq!(dir.ok(&typed).matches("\nprice\n").count(), 4);
    let again = dir.run(&[&typed[..], &["--facet", "price:3"]].concat());
    again.fails_with(&["the facet 'price' is asked for twice in the same way"]);
}
