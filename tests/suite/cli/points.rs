//! Points on their way in and out of the tool, and questions about places.

use super::Dir;
use serde_json::{Value, json};

const SCHEMA: &str = "[fields.name]\ntype = \"text\"\n[fields.location]\ntype = \"point\"\n\
    [fields.stops]\ntype = \"point\"\nmany = true\narray = \"lonlat\"\n";

fn exported(dir: &Dir, index: &str) -> Vec<Value> {
    let lines = dir.ok(&["export", index]);
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn points_come_from_objects_arrays_and_cells_and_are_asked_for() {
    let dir = Dir::new();
    dir.write("schema.toml", SCHEMA);
    let documents = [
        json!({"name": "Reims", "location": {"lat": 49.255, "lon": 4.154}, "stops": [[4.1, 49.2], [4.2, 49.3]]}),
        json!({"name": "Paris", "location": {"type": "Point", "coordinates": [2.3522, 48.8566]}}),
        json!({"name": "Lyon", "location": "45.76,4.835", "stops": [1, 2]}),
        json!({"name": "nowhere", "location": null, "stops": []}),
    ];
    dir.write("in.jsonl", documents.map(|it| it.to_string()).join("\n"));
    dir.ok(&["index", "t.tp", "in.jsonl", "--schema", "schema.toml", "--quiet"]);
    let place = |lat: f64, lon: f64| json!({"lat": lat, "lon": lon});
    let expected = [
        json!({"name": "Reims", "location": place(49.255, 4.154), "stops": [place(49.2, 4.1), place(49.3, 4.2)]}),
        json!({"name": "Paris", "location": place(48.8566, 2.3522)}),
        json!({"name": "Lyon", "location": place(45.76, 4.835), "stops": [place(2.0, 1.0)]}),
        json!({"name": "nowhere"}),
    ];
    assert_eq!(exported(&dir, "t.tp"), expected);
    dir.ok(&["verify", "t.tp"]);
    // What is printed is read again.
    dir.write("printed.toml", dir.ok(&["inspect", "t.tp", "schema"]));
    for format in ["jsonl", "csv", "tsv"] {
        let (input, index) = (format!("out.{format}"), format!("{format}.tp"));
        dir.write(&input, dir.ok(&["export", "t.tp", "--format", format]));
        dir.ok(&["index", &index, &input, "--schema", "printed.toml", "--quiet"]);
        assert_eq!(exported(&dir, &index), expected, "{format}");
    }
    let storage = dir.ok(&["inspect", "t.tp", "storage"]);
    assert!(storage.contains("points"), "{storage}");

    let circle = "location:WITHIN [140km OF 48.8566,2.3522]";
    assert_eq!(dir.count(circle), 2);
    let search =
        ["search", "t.tp", "*", "--sort", "location:near=48.8566/2.3522", "--format", "json"];
    let found: Value = serde_json::from_str(&dir.ok(&search)).unwrap();
    let names: Vec<_> =
        found["hits"].as_array().unwrap().iter().map(|it| &it["fields"]["name"]).collect();
    assert_eq!(names, ["Paris", "Reims", "Lyon", "nowhere"]);
    assert_eq!(found["hits"][0]["distances"]["location"], json!({"metres": 0.0, "value": 0}));
    let metres = found["hits"][1]["distances"]["location"]["metres"].as_f64().unwrap();
    assert_eq!(metres.round(), 138_563.0);
    assert!(found["hits"][3].get("distances").is_none());
    let plan = dir.run(&["explain", "t.tp", circle, "--analyze", "--doc", "2"]).stdout;
    assert!(
        plan.contains("GeoScan") && plan.contains("391.9 km away, at most 140 wanted"),
        "{plan}"
    );
    let why = dir.run(&["explain", "t.tp", "location:WITHIN [5km OF 49,4]", "--why-empty"]).stdout;
    assert!(why.contains("nothing within 5 km; the nearest is 30.49 km away"), "{why}");
}

#[test]
fn a_point_is_read_from_two_columns_or_keys() {
    let dir = Dir::new();
    let schema = "[fields.name]\ntype = \"text\"\n[fields.p]\ntype = \"point\"\nfrom = [\"Lat.\", \"Lng\"]\n";
    dir.write("schema.toml", schema);
    dir.write("in.csv", "name,Lat.,Lng\na,49.255,4.154\nb,,\n");
    dir.write("in.jsonl", "{\"name\":\"a\",\"Lat.\":49.255,\"Lng\":\"4.154\"}\n{\"name\":\"b\"}\n");
    for input in ["in.csv", "in.jsonl"] {
        let index = ["index", "t.tp", input, "--schema", "schema.toml", "--overwrite", "--quiet"];
        dir.ok(&index);
        let expected =
            [json!({"name": "a", "p": {"lat": 49.255, "lon": 4.154}}), json!({"name": "b"})];
        assert_eq!(exported(&dir, "t.tp"), expected, "{input}");
        // The index knows where it is read from.
        dir.ok(&["index", "t.tp", input, "--append", "--quiet"]);
        assert_eq!(exported(&dir, "t.tp")[2..], expected, "{input}");
    }
    let index =
        |input: &str| dir.run(&["index", "u.tp", input, "--schema", "schema.toml", "--quiet"]);
    dir.write("in.csv", "name,Lat.,Lng\na,49.255,\n");
    index("in.csv").fails_with(&["one latitude and one longitude", "line 2"]);
    dir.write("in.csv", "name,Lat.,Lng\na,103.85,1.29\n");
    index("in.csv").fails_with(&["did you mean 1.29,103.85?", "line 2"]);
    dir.write("in.jsonl", "{\"name\":\"a\",\"p\":[1,2]}\n");
    dir.write("schema.toml", schema.replace("from = [\"Lat.\", \"Lng\"]\n", ""));
    index("in.jsonl").fails_with(&["array = \"lonlat\" or \"latlon\"", "line 1", "in.jsonl"]);
}

#[test]
fn areas_are_polygons_of_the_query_or_of_files() {
    let dir = Dir::new();
    dir.write("schema.toml", SCHEMA);
    let documents = [
        json!({"name": "Reims", "location": "49.255,4.154"}),
        json!({"name": "Paris", "location": "48.8566,2.3522"}),
        json!({"name": "Suva", "location": "-18.14,178.44"}),
        json!({"name": "Apia", "location": "-13.83,-171.76"}),
    ];
    dir.write("in.jsonl", documents.map(|it| it.to_string()).join("\n"));
    dir.ok(&["index", "t.tp", "in.jsonl", "--schema", "schema.toml", "--quiet"]);
    let square = "POLYGON ((2 48, 3 48, 3 49, 2 49))";
    let geojson = json!({"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {},
        "geometry": {"type": "Polygon", "coordinates": [[[2, 48], [3, 48], [3, 49], [2, 49], [2, 48]]]}}]});
    dir.write("paris.wkt", format!("{square}\n"));
    dir.write("paris.geojson", serde_json::to_string_pretty(&geojson).unwrap());
    for (area, n) in [
        (square.to_owned(), 1),
        (geojson.to_string(), 1),
        ("@paris.wkt".to_owned(), 1),
        ("@paris.geojson".to_owned(), 1),
        ("POLYGON ((178 -19, 189 -19, 189 -13, 178 -13))".to_owned(), 2),
        ("CELL tile:8/129/88".to_owned(), 1),
        ("CELL geohash:u".to_owned(), 2),
    ] {
        assert_eq!(dir.count(&format!("location:WITHIN [{area}]")), n, "{area}");
        assert_eq!(dir.count(&format!("location:DISJOINT [{area}]")), 4 - n, "{area}");
    }
    let plan =
        dir.run(&["explain", "t.tp", "location:WITHIN [@paris.wkt]", "--analyze", "--doc", "0"]);
    assert!(plan.stdout.contains("location:WITHIN [POLYGON ((2 48, 3 48, 3 49, 2 49, 2 48))]"));
    assert!(plan.stdout.contains("none of its points is in"), "{}", plan.stdout);
    let refused = |arguments: &[&str], words: &[&str]| {
        let ran = dir.run(&[&["search", "t.tp"], arguments].concat());
        // Below the error is where it is in the query.
        assert!(ran.status == 2 && ran.stderr.starts_with("treepie: "), "{}", ran.stderr);
        for word in words {
            assert!(ran.stderr.contains(word), "no {word:?} in {}", ran.stderr);
        }
    };
    refused(
        &["location:CONTAINS [POLYGON ((0 0, 1 0, 1 1))]"],
        &["location holds points; a point contains no polygon"],
    );
    refused(
        &["location:WITHIN [POLYGON ((170 0, -170 0, 0 1))]"],
        &["340° or 20° long", "write 190 in place of -170"],
    );
    refused(&["location:WITHIN [@none.wkt]"], &["none.wkt"]);
    dir.write("cut.geojson", "{\n  \"type\": \"Polygon\",\n  \"coordinates\": [[[0, 0], [1");
    refused(&["location:WITHIN [@cut.geojson]"], &["cut.geojson", "line 3", "the end of the text"]);
    dir.write("other.wkt", "@paris.wkt");
    refused(&["location:WITHIN [@other.wkt]"], &["the name of another file"]);
    dir.write("empty.wkt", " \n");
    refused(&["location:WITHIN [@empty.wkt]"], &["found an empty file", "empty.wkt"]);
    dir.write("far.geojson", r#"{"type": "Point", "coordinates": [1e999, 0]}"#);
    refused(&["location:WITHIN [@far.geojson]"], &["far.geojson", "found the number 1e999"]);
    refused(&["location:WITHIN [POLYGON ((0 1e999, 1 0, 1 1))]"], &["found '1e999'"]);
    let decayed = |decay: &str| {
        let search = ["search", "t.tp", "*", "--decay", decay, "--format", "json"];
        let found: Value = serde_json::from_str(&dir.ok(&search)).unwrap();
        let hits = found["hits"].as_array().unwrap().iter();
        hits.map(|it| it["fields"]["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(decayed("location:48.8566/2.3522,100km,exp"), ["Paris", "Reims", "Suva", "Apia"]);
    assert_eq!(decayed("location:-18/180,1000km"), ["Suva", "Apia", "Reims", "Paris"]);
    refused(&["*", "--decay", "location:48.8566/2.3522,10"], &["10km"]);
    refused(&["*", "--decay", "location:48.8566,2.3522,10km"], &["LATITUDE/LONGITUDE"]);
    dir.write("request.json", json!({"query": "location:WITHIN [@paris.wkt]"}).to_string());
    refused(&["--request", "request.json"], &["the name of a file, '@paris.wkt'"]);
}

/// The commands of `corpus/README.md`.
#[test]
fn places_of_the_corpus_are_found() {
    let dir = Dir::new();
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let readme = std::fs::read_to_string(corpus.join("README.md")).unwrap();
    let schema = readme.split_once("cat > places.toml <<END\n").unwrap().1;
    dir.write("places.toml", schema.split_once("END\n").unwrap().0);
    dir.write("places.jsonl", std::fs::read_to_string(corpus.join("places.jsonl")).unwrap());
    dir.ok(&["index", "t.tp", "places.jsonl", "--schema", "places.toml", "--quiet"]);
    // Each city has six places, at most eight kilometres from where it is.
    for (area, wanted) in [
        ("10km OF 48.8566,2.3522", 6),
        ("20km OF -16.85,179.99", 6),
        ("20km OF -16.85,-179.99", 6),
        ("10km TO 20000km OF 48.8566,2.3522", 294),
        ("BOX -17.5,179.5 -16,-179.5", 6),
        ("POLYGON ((179 -18, 181 -18, 181 -16, 179 -16, 179 -18))", 6),
        ("5km OF 0,0", 0),
    ] {
        assert_eq!(dir.count(&format!("location:WITHIN [{area}]")), wanted, "{area}");
    }
    let found =
        ["search", "t.tp", "+museum +location:WITHIN [BOX 35,-10 60,30]", "--facet", "country:5"];
    let found = dir.ok(&found);
    assert!(found.starts_with("27 documents") && found.contains("France"), "{found}");
    let why = dir.run(&["explain", "t.tp", "location:WITHIN [5km OF 0,0]", "--why-empty"]);
    assert!(why.stdout.contains("the nearest is 619.3 km away"), "{}", why.stdout);
}
