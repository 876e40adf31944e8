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

fn n_found(dir: &Dir, query: &str) -> u64 {
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
            assert_eq!(n_found(&dir, bucket["select"].as_str().unwrap()), count, "{bucket}");
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
    assert_eq!(n_found(&dir, "location:WITHIN [1km OF 48.8566,2.3522]"), counts[0]);
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
    assert_eq!(found["count"], n_found(&dir, near_180));
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
    assert_eq!(n_found(&dir, &same), n_found(&dir, near_180));
    assert!(found["centroid"]["lon"].as_f64().unwrap().abs() > 160.0, "{found}");
    let text = dir.ok(&search);
    assert!(text.contains("\nlocation\n  points ") && text.contains("  centroid  "), "{text}");
    let rows = dir.ok(&[&search[..], &["--format", "csv"]].concat());
    let (names, row) = rows.split_once('\n').unwrap();
    assert!(names.ends_with(",south,west,north,east,lat,lon"), "{rows}");
    assert!(row.starts_with(&format!("location,{}", n_found(&dir, near_180))), "{rows}");
    let page = json(&dir, &["--facet", "kind:3", "--stats", "kind/location"]);
    let bucket = &page["facets"]["kind"]["buckets"][0];
    assert_eq!(bucket["statistics"]["location"]["count"], bucket["count"]);
    let plan = dir.ok(&["explain", "places.tp", "*", "--stats", "location", "--analyze"]);
    assert!(plan.contains("points by document") && plan.contains("300 points compared"), "{plan}");
    let refused = ["search", "places.tp", "*", "--stats", "location:p50"];
    dir.run(&refused).fails_with(&["a field of numbers or dates", "the point field 'location'"]);
}

fn map(dir: &Dir, index: &str, more: &[&str]) -> Value {
    let search = ["search", index, "*", "--format", "geojson"];
    serde_json::from_str(&dir.ok(&[&search[..], more].concat())).unwrap()
}

#[test]
fn maps_have_hits_and_cells() {
    let (dir, _) = places();
    let facet = ["--facet", "location:tile=auto:20"];
    let page = map(&dir, "places.tp", &[&facet[..], &["--limit", "5"]].concat());
    assert_eq!(page["type"], "FeatureCollection");
    let features = page["features"].as_array().unwrap();
    let is_cell = |feature: &&Value| feature["geometry"]["type"] == "Polygon";
    let cells: Vec<_> = features.iter().filter(is_cell).collect();
    let hits: Vec<_> = features.iter().filter(|it| it["geometry"]["type"] == "Point").collect();
    assert_eq!((hits.len(), features.len()), (5, cells.len() + 5));
    // Cells are drawn first, so that hits are seen.
    assert!(is_cell(&&features[0]) && !is_cell(&features.last().unwrap()));
    let of_json = json(&dir, &facet);
    let buckets = of_json["facets"]["location"]["buckets"].as_array().unwrap();
    assert_eq!(page["grid"], of_json["facets"]["location"]["grid"]);
    for (cell, bucket) in cells.iter().zip(buckets) {
        let properties = &cell["properties"];
        assert_eq!(
            (&properties["cell"], &properties["count"], &properties["select"]),
            (&bucket["value"], &bucket["count"], &bucket["select"])
        );
        let ring = cell["geometry"]["coordinates"][0].as_array().unwrap();
        assert!(ring.len() == 5 && ring[0] == ring[4], "{cell}");
        // Outer rings go against the clock, and longitudes come first.
        assert_eq!((&ring[0][0], &ring[0][1]), (&bucket["box"]["west"], &bucket["box"]["south"]));
        assert_eq!((&ring[2][0], &ring[2][1]), (&bucket["box"]["east"], &bucket["box"]["north"]));
        assert_eq!((&ring[1][0], &ring[1][1]), (&bucket["box"]["east"], &bucket["box"]["south"]));
    }
    let found: Value = serde_json::from_str(&dir.ok(&[
        "search",
        "places.tp",
        "*",
        "--limit",
        "5",
        "--format",
        "json",
    ]))
    .unwrap();
    for (feature, hit) in hits.iter().zip(found["hits"].as_array().unwrap()) {
        let location = &hit["fields"]["location"];
        assert_eq!(
            (&feature["geometry"]["coordinates"][0], &feature["geometry"]["coordinates"][1]),
            (&location["lon"], &location["lat"])
        );
        let properties = &feature["properties"];
        assert_eq!(
            (&properties["fields"], &properties["doc"], &properties["score"]),
            (&hit["fields"], &hit["doc"], &hit["score"])
        );
    }
    let alone = map(&dir, "places.tp", &[&facet[..], &["--limit", "0"]].concat());
    assert!(alone["features"].as_array().unwrap().iter().all(|it| is_cell(&it)));
    assert_eq!(page["total"], serde_json::json!({"value": 300, "relation": "exact"}));
    // An area of a query is read back from what was printed.
    dir.write("cell.geojson", features[0].to_string());
    let inside = n_found(&dir, "location:WITHIN [@cell.geojson]");
    assert!(inside >= features[0]["properties"]["count"].as_u64().unwrap());
    let within = map(
        &dir,
        "places.tp",
        &["--facet", "location:tile=1", "--facet", "location/kind:1", "--limit", "0"],
    );
    assert!(within["features"][0]["properties"]["facets"]["kind"]["buckets"][0]["count"].is_u64());
}

#[test]
fn maps_take_the_points_of_one_field() {
    let dir = Dir::new();
    let schema = "[fields]\nid = { type = \"keyword\" }\nname = { type = \"text\" }\nhome = { type = \"point\" }\n\
        stops = { type = \"point\", many = true }\n[index]\nkey = \"id\"\n";
    dir.write("schema.toml", schema);
    let lines = [
        r#"{"id": "a", "name": "one", "home": "1,2", "stops": ["3,4", "5,180"]}"#,
        r#"{"id": "b", "name": "two", "stops": ["-7,8"]}"#,
    ];
    dir.write("in.jsonl", lines.join("\n"));
    dir.ok(&["index", "t.tp", "in.jsonl", "--schema", "schema.toml", "--quiet"]);
    let search =
        |more: &[&str]| dir.run(&[&["search", "t.tp", "*", "--format", "geojson"], more].concat());
    search(&[]).fails_with(&[
        "one field of points among the fields shown",
        "'home' and 'stops'",
        "name one of them with --fields: 'home' and 'stops'",
    ]);
    search(&["--fields", "name"]).fails_with(&["one field of points", "found none", "--fields"]);
    search(&["--facet", "stops:tile=1", "--fields", "name,home"])
        .fails_with(&["'stops', which cells are of, among the fields shown", "found 'home'"]);
    let page = map(&dir, "t.tp", &["--fields", "name,stops,id"]);
    let geometries: Vec<_> =
        page["features"].as_array().unwrap().iter().map(|it| it["geometry"].clone()).collect();
    assert_eq!(
        geometries[0],
        serde_json::json!({"type": "MultiPoint", "coordinates": [[4.0, 3.0], [-180.0, 5.0]]})
    );
    assert_eq!(geometries[1], serde_json::json!({"type": "Point", "coordinates": [8.0, -7.0]}));
    assert_eq!(page["features"][1]["id"], "b");
    let page = map(&dir, "t.tp", &["--fields", "home"]);
    assert_eq!(page["features"][0]["geometry"]["coordinates"], serde_json::json!([2.0, 1.0]));
    assert!(page["features"][1]["geometry"].is_null() && page["features"][1].get("id").is_none());
    // Cells say which field is meant.
    let page = map(&dir, "t.tp", &["--facet", "stops:tile=0"]);
    assert_eq!(page["features"].as_array().unwrap().len(), 3);
    assert_eq!(page["features"][1]["geometry"]["type"], "MultiPoint");
    for (more, words) in [
        (
            &["--facet", "id"][..],
            &["one facet of cells, as location:tile=8", "one of 'id' with other buckets"][..],
        ),
        (
            &["--facet", "home:tile=1", "--facet", "stops:tile=1"],
            &["one facet of cells", "2 of these"],
        ),
        (&["--facet", "home:tile=1", "--facet", "id"], &["one of 'id' with other buckets"]),
        (&["--stats", "home"], &["have no place on a map", "--format json"]),
        (&["--count"], &["have no place on a map"]),
        (&["--explain"], &["have no place on a map"]),
    ] {
        search(more).fails_with(words);
    }
    dir.write(
        "request.json",
        r#"{"query": "*", "facets": [{"field": "home", "grid": "tile=3"}], "limit": 0}"#,
    );
    let page = dir.ok(&["search", "t.tp", "--request", "request.json", "--format", "geojson"]);
    assert!(page.contains("\"cell\":\"tile:3/4/3\""), "{page}");
    dir.write(
        "request.json",
        r#"{"query": "*", "facets": [{"field": "home", "grid": "tile=33"}]}"#,
    );
    dir.run(&["search", "t.tp", "--request", "request.json"]).fails_with(&[
        "request.json",
        "tile=ZOOM",
        "tile=33",
    ]);
}
