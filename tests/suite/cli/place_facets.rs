//! Facets of the places of the corpus: cells on a map, and rings about a point.

use super::Dir;
use serde_json::Value;
use std::path::Path;

/// The places of the corpus in an index that is called as in its README, which comes with it.
fn places() -> (Dir, String) {
    let dir = Dir::new();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let readme = std::fs::read_to_string(corpus.join("README.md")).unwrap();
    let schema = readme.split_once("cat > places.toml <<END\n").unwrap().1;
    dir.write("places.toml", schema.split_once("END\n").unwrap().0);
    dir.write("places.jsonl", std::fs::read_to_string(corpus.join("places.jsonl")).unwrap());
    dir.ok(&["index", "places.tp", "places.jsonl", "--schema", "places.toml", "--quiet"]);
    (dir, readme)
}

fn count(dir: &Dir, query: &str) -> u64 {
    let found = dir.run(&["search", "places.tp", query, "--count"]);
    found.stdout.trim().parse().unwrap_or_else(|_| panic!("{query}: {}", found.stderr))
}

fn json(dir: &Dir, more: &[&str]) -> Value {
    let search = ["search", "places.tp", "*", "--limit", "0", "--format", "json"];
    serde_json::from_str(&dir.ok(&[&search[..], more].concat())).unwrap()
}

#[test]
fn cells_have_their_boxes_and_the_queries_that_find_them() {
    let (dir, _) = places();
    let mut counts = vec![];
    for grid in ["tile=4", "tile=0", "geohash=2", "tile=auto:20"] {
        let page = json(&dir, &["--facet", &format!("location:{grid}")]);
        let facet = &page["facets"]["location"];
        assert_eq!((&facet["kind"], &facet["missing"]), (&"grid".into(), &0.into()));
        let buckets = facet["buckets"].as_array().unwrap();
        let mut sum = 0;
        for bucket in buckets {
            let count = bucket["count"].as_u64().unwrap();
            assert_eq!(count(&dir, bucket["select"].as_str().unwrap()), count, "{bucket}");
            let side = |name: &str| bucket["box"][name].as_f64().unwrap();
            assert!(side("south") < side("north") && side("west") < side("east"), "{bucket}");
            sum += count;
        }
        assert_eq!(sum, 300);
        let is_sorted = |a: &Value, b: &Value| {
            let key =
                |it: &Value| (u64::MAX - it["count"].as_u64().unwrap(), it["value"].to_string());
            key(a) < key(b)
        };
        assert!(buckets.is_sorted_by(is_sorted), "{facet}");
        counts.push((facet["grid"].as_str().unwrap().to_owned(), buckets.len()));
    }
    assert_eq!(counts[1], ("tile=0".to_owned(), 1));
    assert!((2..=20).contains(&counts[3].1), "{counts:?}");
    let zoom: u32 = counts[3].0["tile=".len()..].parse().unwrap();
    let finer = json(&dir, &["--facet", &format!("location:tile={}", zoom + 1)]);
    assert!(finer["facets"]["location"]["buckets"].as_array().unwrap().len() > 20);
}

#[test]
fn cells_are_printed_as_other_facets() {
    let (dir, _) = places();
    let search = ["search", "places.tp", "museum", "--facet", "location:tile=1", "--limit", "0"];
    let text = dir.ok(&search);
    assert!(text.contains("\nlocation\n") && text.contains("  tile:1/1/0"), "{text}");
    let rows = dir.ok(&[&search[..], &["--format", "csv"]].concat());
    assert!(rows.starts_with("field,value,count\nlocation,tile:1/1/0,"), "{rows}");
    let within = ["--facet", "location/kind:1", "--top-hits", "location"];
    let page = json(&dir, &[&["--facet", "location:tile=1"], &within[..]].concat());
    let bucket = &page["facets"]["location"]["buckets"][0];
    assert_eq!(bucket["facets"]["kind"]["buckets"].as_array().unwrap().len(), 1);
    assert!(bucket["hits"][0]["fields"]["city"].is_string());
    let explain = ["explain", "places.tp", "*", "--facet", "location:tile=1", "--analyze"];
    let plan = dir.ok(&explain);
    for words in ["Facet location, by cells of tile=1", "points by document", "300 points compared"]
    {
        assert!(plan.contains(words), "no {words} in {plan}");
    }
    let plan = dir.ok(&["explain", "places.tp", "*", "--facet", "location:tile=auto:9"]);
    assert!(plan.contains("Facet location, at most 9 tiles"), "{plan}");
}

#[test]
fn what_is_no_grid_is_refused() {
    let (dir, _) = places();
    for (facet, words) in [
        (
            "location:tile=25",
            &["reading a grid of 'location'", "a zoom from 0 to 24", "'tile=25'"][..],
        ),
        ("location:tile=x", &["tile=ZOOM, from 0 to 24, or tile=auto:N", "'tile=x'"]),
        ("location:tile=auto:0", &["at least 1 tile and at most 65536", "'tile=auto:0'"]),
        ("location:geohash=0", &["from 1 to 12 characters", "'geohash=0'"]),
        ("location:geohash=13", &["from 1 to 12 characters", "'geohash=13'"]),
        ("name:tile=8", &["a field of points", "the text field 'name'"]),
        ("kind:geohash=3", &["a field of points", "the keyword field 'kind'"]),
        ("location", &["points are counted by tile=ZOOM", "the point field 'location'"]),
        ("location:5", &["points are counted by tile=ZOOM", "the point field 'location'"]),
        ("locatoin:tile=8", &["'locatoin'", "location"]),
    ] {
        dir.run(&["search", "places.tp", "*", "--facet", facet]).fails_with(words);
    }
}

/// Words of a command as a shell reads them, those between single quotes as one.
fn words(command: &str) -> Vec<String> {
    let parts = command.split('\'').enumerate();
    parts
        .flat_map(|(nth, part)| match nth % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

#[test]
fn the_commands_of_the_corpus_run() {
    let (dir, readme) = places();
    let commands = readme.lines().filter_map(|line| line.strip_prefix("treepie "));
    let commands: Vec<_> = commands.filter(|it| it.contains(" places.tp ")).collect();
    let mut n_run = 0;
    for command in commands.iter().filter(|it| !it.starts_with("index ")) {
        let command = command.split(" > ").next().unwrap();
        let words = words(command);
        let ran = dir.run(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(ran.status == 0 && !ran.stdout.is_empty(), "{command}: {}", ran.stderr);
        n_run += 1;
    }
    assert!(n_run >= 5, "{commands:?}");
}

#[test]
fn rings_are_counted_and_refused() {
    let (dir, _) = places();
    let rings = "location:near=48.8566/2.3522,..1km,1km..10km,10km..";
    let page = json(&dir, &["--facet", rings]);
    let facet = &page["facets"]["location"];
    assert_eq!((&facet["kind"], &facet["other"]), (&"range".into(), &0.into()));
    assert_eq!(facet["buckets"][1]["from"], "1km");
    let counts: Vec<u64> = facet["buckets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["count"].as_u64().unwrap())
        .collect();
    assert_eq!((counts[0] + counts[1], counts[2]), (6, 294));
    assert_eq!(count(&dir, "location:WITHIN [1km OF 48.8566,2.3522]"), counts[0]);
    let text = dir.ok(&["search", "places.tp", "*", "--facet", rings, "--limit", "0"]);
    assert!(
        text.contains("  1km..10km") && text.contains("  10km..") && text.contains("  ..1km"),
        "{text}"
    );
    let within = ["--facet", rings, "--facet", "location/city"];
    let page = json(&dir, &within);
    assert_eq!(
        page["facets"]["location"]["buckets"][1]["facets"]["city"]["buckets"][0]["value"],
        "Paris"
    );
    let plan = dir.ok(&["explain", "places.tp", "*", "--facet", rings, "--analyze"]);
    for words in ["Facet location, 3 rings about 48.8566,2.3522", "points by document"] {
        assert!(plan.contains(words), "no {words} in {plan}");
    }
    for (facet, words) in [
        ("location:near=48.8566/2.3522", &["reading --facet location", "without rings"][..]),
        ("location:near=48.8566,2.3522,..1km", &["with / between latitude and longitude"]),
        (
            "location:near=1/2,5km..1km",
            &["reading ring 1 of 'location', 5km..1km", "the lesser distance first"],
        ),
        (
            "location:near=1/2,..1km,1..5",
            &["reading ring 2 of 'location', 1..5", "1 of what? write 1km or 1mi"],
        ),
        ("location:near=1/2,1km", &["FROM..TO", "'1km'"]),
        ("location:near=103.85/1.29,..1km", &["did you mean 1.29,103.85?"]),
        ("kind:near=1/2,..1km", &["a field of points", "the keyword field 'kind'"]),
        ("location:..1km", &["near=POINT,RING", "the point field 'location'"]),
    ] {
        dir.run(&["search", "places.tp", "*", "--facet", facet]).fails_with(words);
    }
}

#[test]
fn statistics_have_a_box_and_a_centroid() {
    let (dir, _) = places();
    // Suva and Apia are on both sides of 180°.
    let near_180 = "location:WITHIN [BOX -30,170 0,-160]";
    let search = ["search", "places.tp", near_180, "--limit", "0", "--stats", "location"];
    let page: Value =
        serde_json::from_str(&dir.ok(&[&search[..], &["--format", "json"]].concat())).unwrap();
    let found = &page["statistics"]["location"];
    assert_eq!(
        (&found["kind"], &found["missing"], &found["exact"]),
        (&"statistics".into(), &0.into(), &true.into())
    );
    assert_eq!(found["count"], count(&dir, near_180));
    let side = |name: &str| found["box"][name].as_f64().unwrap();
    assert!(side("west") > 170.0 && side("east") < -160.0, "{found}");
    assert!(side("south") < side("north"));
    let same = format!(
        "location:WITHIN [BOX {},{} {},{}]",
        side("south"),
        side("west"),
        side("north"),
        side("east")
    );
    assert_eq!(count(&dir, &same), count(&dir, near_180));
    assert!(found["centroid"]["lon"].as_f64().unwrap().abs() > 160.0, "{found}");
    let text = dir.ok(&search);
    assert!(text.contains("\nlocation\n  points ") && text.contains("  centroid  "), "{text}");
    let rows = dir.ok(&[&search[..], &["--format", "csv"]].concat());
    let (names, row) = rows.split_once('\n').unwrap();
    assert!(names.ends_with(",south,west,north,east,lat,lon"), "{rows}");
    assert!(row.starts_with(&format!("location,{}", count(&dir, near_180))), "{rows}");
    let page = json(&dir, &["--facet", "kind:3", "--stats", "kind/location"]);
    let bucket = &page["facets"]["kind"]["buckets"][0];
    assert_eq!(bucket["statistics"]["location"]["count"], bucket["count"]);
    let plan = dir.ok(&["explain", "places.tp", "*", "--stats", "location", "--analyze"]);
    assert!(plan.contains("points by document") && plan.contains("300 points compared"), "{plan}");
    let refused = ["search", "places.tp", "*", "--stats", "location:p50"];
    dir.run(&refused).fails_with(&["a field of numbers or dates", "the point field 'location'"]);
}
