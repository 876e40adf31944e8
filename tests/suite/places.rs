//! Points in documents: the forms they are taken in, what comes back, what is told of them, and orders of goods around a town.

use treepie::geo::{GeoPoint, GeoRelation};
use treepie::query::Query;
use treepie::schema::CoordinateOrder;
use treepie::{
    DocId, Document, ErrorKind, Field, FieldKind, Index, Schema, Searcher, SortKey, Value,
};

fn point(lat: f64, lon: f64) -> GeoPoint {
    GeoPoint::new(lat, lon).unwrap()
}

fn of_array(name: &str, array: Option<CoordinateOrder>) -> Field {
    Field::new(name, FieldKind::Point { array })
}

fn of(schema: Schema, documents: impl IntoIterator<Item = Document>) -> Searcher {
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    documents.into_iter().for_each(|document| writer.add(document).unwrap());
    writer.commit().unwrap();
    index.searcher().unwrap()
}

#[test]
fn documents_give_points_in_all_forms_and_get_them_back() {
    let schema = Schema::builder()
        .text("name")
        .field(of_array("p", Some(CoordinateOrder::LonLat)))
        .field(of_array("all", None).many(true))
        .field(of_array("secret", None).stored(false))
        .build()
        .unwrap();
    let new = || Document::new().with("name", "x");
    let documents = [
        new().with("p", point(49.255, 4.154)),
        new().with("p", "49.255, 4.154"),
        new().with("p", "4.154E,49.255N"),
        new().with("p", "POINT(4.154 49.255)"),
        new().with("p", 4.154).with("p", 49.255),
        new().with("p.lat", 49.255).with("p.lon", 4.154),
        new().with("p.lng", "4.154").with("p.lat", "49.255"),
        new().with("all", "1,2").with("all", point(-3.5, 180.0)).with("all", "1,2"),
        new().with("p", None::<&str>).with("secret", "5,6"),
        new().with("p.lat", None::<f64>).with("p.lon", None::<f64>),
    ];
    let searcher = of(schema, documents);
    let document = |doc| searcher.document(DocId(doc)).unwrap();
    for doc in 0..7 {
        assert_eq!(document(doc)["p"].as_slice(), [Value::from(point(49.255, 4.154))], "{doc}");
    }
    let all = [point(1.0, 2.0), point(-3.5, -180.0), point(1.0, 2.0)].map(Value::from);
    assert_eq!(document(7)["all"].as_slice(), all);
    assert!(document(8).keys().eq(["name"]), "it is not stored");
    let found = |text: &str| searcher.count(&searcher.parse(text).unwrap()).unwrap();
    assert_eq!(found("p:WITHIN [49.255,4.154]"), 7);
    assert_eq!(
        (found("p:*"), found("all:*"), found("secret:*"), found("_missing:p")),
        (7, 1, 1, 3)
    );
    assert_eq!(found("secret:WITHIN [1km OF 5,6]"), 1);
    assert_eq!(found("all:WITHIN [BOX -4,179 -3,-179]"), 1);
    assert_eq!(found("all:DISJOINT [1,2]"), 0);
    assert_eq!(found("p:DISJOINT [1,2]"), 7);
    assert_eq!(found("p:CONTAINS [49.255,4.154]"), 7);
    let hit = &searcher.search(&searcher.parse("all:*").unwrap()).run().unwrap().hits[0];
    assert_eq!(hit.fields["all"].to_string(), "1,2, -3.5,-180, 1,2");
    assert!(hit.distances.is_empty());
}

#[test]
fn what_is_no_point_is_refused_with_both_readings() {
    let schema = Schema::builder()
        .field(of_array("p", None))
        .field(of_array("xy", Some(CoordinateOrder::LonLat)))
        .u64("n")
        .build()
        .unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    let new = Document::new;
    for (document, words) in [
        (new().with("p", "103.85,1.29"), "did you mean 1.29,103.85?"),
        (new().with("p", 103.85).with("p", 1.29), "array = \"lonlat\" or \"latlon\" in the schema"),
        (new().with("p", "48,412345"), "metres of a projection? coordinates are degrees"),
        (new().with("p", "here"), "found 'here'"),
        (new().with("p", 5), "found one number"),
        (new().with("p", true), "found a boolean"),
        (new().with("p", [1.0f32, 2.0]), "found a vector of 2 numbers"),
        (new().with("p", "1,2").with("p", "1,2"), "one value a document"),
        (new().with("p", "1,2").with("p.lat", 1).with("p.lon", 2), "one value a document"),
        (new().with("p.lat", 1), "one latitude and one longitude"),
        (
            new().with("p.lat", 1).with("p.lon", None::<f64>),
            "a latitude and a longitude in degrees",
        ),
        (new().with("p.lat", 91).with("p.lon", 0), "latitude 91, which is beyond ±90"),
        (new().with("p.lat", f64::NAN).with("p.lon", 0), "found NaN,0"),
        (new().with("xy", 1.29).with("xy", 103.85), "did you mean 1.29,103.85?"),
        (new().with("xy", 1).with("xy", 2).with("xy", 3), "an array of 3 numbers"),
        (new().with("n", point(1.0, 2.0)), "found a point (1,2)"),
        (new().with("n.lat", 1).with("n.lon", 1), "'n.lat'"),
    ] {
        let error = writer.add(document.clone()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Document, "{error}");
        assert!(error.to_string().contains(words), "{document:?}: {error}");
    }
    writer.add(new().with("p", "1,2")).unwrap();
    writer.commit().unwrap();
    assert_eq!(index.searcher().unwrap().n_docs(), 1);
    for (schema, words) in [
        (Schema::builder().field(of_array("p", None).column(true)), "column"),
        (Schema::builder().point("p").default_fields(["p"]), "looked for by words"),
        (Schema::builder().field(of_array("p", None)).order_by(["p"]), "points have no order"),
    ] {
        let error = schema.build().unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn questions_that_a_field_cannot_answer_are_refused() {
    let schema = Schema::builder().text("t").point("p").build().unwrap();
    let searcher = of(schema, [Document::new().with("t", "a").with("p", "1,2")]);
    let told = |text: &str| {
        let query = searcher.parse(text).unwrap();
        searcher.search(&query).run().unwrap_err().to_string()
    };
    for (text, words) in [
        ("t:WITHIN [1,2]", "a field of points, found a text field"),
        ("WITHIN [1,2]", "a field of points before it, found none"),
        ("p:x", "an area, as p:WITHIN [10km OF 48.8566,2.3522], or p:*"),
        ("p:[1 TO 2]", "an area, as p:WITHIN"),
        ("p:CONTAINS [1km OF 1,2]", "p holds points; a point contains no circle"),
        ("p:CONTAINS [BOX 1,2 3,4]", "a point contains no box"),
        ("p:nearest([1, 2], 3)", "a field of vectors, found a point field"),
    ] {
        assert!(told(text).contains(words), "{text}: {}", told(text));
    }
    let sort = |key: &str| {
        let key =
            key.parse::<SortKey>().and_then(|key| searcher.search(&Query::All).sort([key]).run());
        key.unwrap_err().to_string()
    };
    for (key, words) in [
        ("t:near=1/2", "one of p, found the text field 't'"),
        ("q:near=1/2", "one of p, found 'q'"),
        ("p:near=91/2", "beyond ±90"),
        ("p:near=1", "a point as 49.255,4.154"),
        ("p:near=1/2,step=5", "5 of what? write 5km or 5mi"),
        ("p:near=1/2,step=0m", "steps of more than 0, found 0m"),
        ("p:near=1,2", "LATITUDE/LONGITUDE"),
        ("p", "the point field 'p'"),
    ] {
        assert!(sort(key).contains(words), "{key}: {}", sort(key));
    }
}

#[test]
fn plans_say_how_far_documents_are_and_what_is_nearest() {
    let schema = Schema::builder().text("name").point("p").build().unwrap();
    let town = |name: &str, lat, lon| Document::new().with("name", name).with("p", point(lat, lon));
    let far = town("far", 0.370_5, 0.0);
    let documents = [town("near", 0.01, 0.0), far, Document::new().with("name", "nowhere")];
    let searcher = of(schema, documents);
    let query = |text: &str| searcher.parse(text).unwrap();
    let tree = |text: &str, doc| {
        let query = query(text);
        let search = searcher.search(&query);
        search.explainer().documents([DocId(doc)]).analyze().unwrap()
    };
    let reason = |text: &str, doc| tree(text, doc).documents[0].reason.clone();
    assert_eq!(
        reason("p:WITHIN [10mi OF 0,0]", 1),
        "fails at p:WITHIN [10mi OF 0,0]: 41.2 km away, at most 16.09 wanted"
    );
    assert_eq!(
        reason("p:WITHIN [2km TO 10km OF 0,0]", 0),
        "fails at p:WITHIN [2km TO 10km OF 0,0]: 1.112 km away, at least 2 wanted"
    );
    let of_box = "none of its points is in the box; the nearest is 156.5 km away";
    assert!(reason("p:WITHIN [BOX 1,1 2,2]", 0).ends_with(of_box));
    let of_polygon = "none of its points is in the polygon; the nearest is 110.1 km away";
    assert!(reason("p:WITHIN [POLYGON ((-5 1, 5 1, 0 2))]", 0).ends_with(of_polygon));
    assert!(reason("p:WITHIN [1km OF 0,0]", 2).ends_with("the document has no point there"));
    let misses = tree("+far +p:WITHIN [10mi OF 0,0]", 1).documents[0].misses.clone();
    assert!(misses[0].contains("does not: 41.2 km away, at most 16.09 wanted"), "{misses:?}");
    let why = |text: &str| searcher.search(&query(text)).explainer().why_empty().unwrap();
    let empty = why("p:WITHIN [1km OF 0,0]");
    assert!(empty.to_string().contains("nothing within 1 km; the nearest is 1.112 km away"));
    assert!(empty.advice().unwrap().contains("the nearest is 1.112 km away"));
    assert!(empty.to_json().contains("\"nearest\""));
    let empty = why("p:WITHIN [5km TO 20km OF 0,0]").to_string();
    assert!(
        empty.contains("nothing from 5 km to 20 km away; the nearest to that is 1.112 km away")
    );
    let empty = why("p:WITHIN [POLYGON ((-5 1, 5 1, 0 2))]").to_string();
    assert!(empty.contains("nothing in the polygon; the nearest is 70"), "{empty}");
    let empty = why("p:WITHIN [BOX 1,1 2,2]").to_string();
    assert!(empty.contains("nothing in the box; the nearest is"), "{empty}");
    let plan = searcher.search(&query("near AND p:WITHIN [20km OF 0,0]")).explainer().analyze();
    let plan = plan.unwrap().to_string();
    for words in ["GeoScan", "points last", "1 point compared, 1 by the formula or by edges"] {
        assert!(plan.contains(words), "no {words} in {plan}");
    }
}

/// The question that this index was thought of for: orders of an employee or a company around a town, see `geo.md`.
#[test]
fn orders_around_a_town_are_found_in_both_orders() {
    const EARTH_RADIUS_M: f64 = 6_371_008.771_4;
    let keyword = |name| Field::new(name, FieldKind::Keyword).column(true);
    let schema = Schema::builder()
        .u64("id")
        .field(keyword("company"))
        .field(keyword("employee"))
        .point("location")
        .build()
        .unwrap();
    let town = point(49.255, 4.154);
    // Northwards by some metres.
    let north = |metres: f64| point(49.255 + (metres / EARTH_RADIUS_M).to_degrees(), 4.154);
    let border = 16_093.44;
    let places = [
        town,
        north(border - 0.01),
        north(border + 0.01),
        point(49.3, 4.2),
        point(48.8566, 2.3522),
        point(49.15, 4.05),
    ];
    let documents = (0..240u64).map(|id| {
        let company = format!("companies/{}-A", 80 + id % 7);
        let employee = format!("employees/{}-A", id % 9);
        let order = Document::new().with("id", id).with("company", company);
        order.with("employee", employee).with("location", places[(id % 6) as usize])
    });
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for (nth, document) in documents.enumerate() {
        writer.add(document).unwrap();
        if nth % 100 == 99 {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let text = "location:WITHIN [10mi OF 49.255,4.154] AND (employee:\"employees/5-A\" OR company:\"companies/85-A\")";
    let query = searcher.parse(text).unwrap();
    assert_eq!(query.to_string(), text);
    assert_eq!(searcher.parse(&query.to_string()).unwrap(), query);
    let metres: Vec<f64> = places.iter().map(|place| town.distance(*place)).collect();
    assert!((metres[1] - border).abs() < 0.02 && metres[1] < border, "{metres:?}");
    assert!((metres[2] - border).abs() < 0.02 && metres[2] > border, "{metres:?}");
    let is_wanted =
        |id: &u64| metres[(id % 6) as usize] <= border && (id % 9 == 5 || 80 + id % 7 == 85);
    let run = |sort: &str| {
        let keys = SortKey::list(sort).unwrap();
        searcher.search(&query).sort(keys).limit(1_000).run().unwrap().hits
    };
    let id = |hit: &treepie::Hit| hit.fields["id"].first().and_then(Value::as_u64).unwrap();
    let by_company = run("company,_score");
    let mut expected: Vec<u64> = (0..240).filter(is_wanted).collect();
    assert!(expected.len() > 20);
    let mut found: Vec<u64> = by_company.iter().map(id).collect();
    found.sort_unstable();
    assert_eq!(found, expected);
    let in_order = |a: &treepie::Hit, b: &treepie::Hit| {
        let companies = |hit: &treepie::Hit| hit.fields["company"].to_string();
        let scores = b.score.unwrap().total_cmp(&a.score.unwrap());
        companies(a).cmp(&companies(b)).then(scores).then(a.doc.cmp(&b.doc)).is_lt()
    };
    assert!(by_company.is_sorted_by(in_order));
    let by_distance = run("location:near=49.255/4.154");
    expected.sort_by(|a, b| {
        let of = |id: &u64| metres[(id % 6) as usize];
        of(a).total_cmp(&of(b)).then(a.cmp(b))
    });
    assert_eq!(by_distance.iter().map(id).collect::<Vec<_>>(), expected);
    for hit in &by_distance {
        let distance = &hit.distances[0];
        assert_eq!(distance.metres, metres[(id(hit) % 6) as usize]);
        assert_eq!((&*distance.field, distance.value), ("location", 0));
    }
    let plan = searcher.explain(&query).unwrap();
    let scan = plan.matches().children.iter().find(|node| node.operator.name() == "GeoScan");
    let scan = scan.expect("the points are compared");
    assert_eq!(scan.predicate.as_deref(), Some("location:WITHIN [10mi OF 49.255,4.154]"));
    assert_eq!(scan.decisions[0].rule, "points last");
    assert!(scan.estimate.upper <= 240 && scan.estimate.documents > 0);
}

#[test]
fn a_field_of_points_is_added_and_filled_later() {
    let mut index = Index::in_memory(Schema::builder().u64("id").key("id").build().unwrap());
    let mut writer = index.writer().unwrap();
    (0..5u64).for_each(|id| writer.add(Document::new().with("id", id)).unwrap());
    writer.commit().unwrap();
    drop(writer);
    index.add_fields([of_array("p", None)]).unwrap();
    let count = |text: &str| {
        let searcher = index.searcher().unwrap();
        searcher.count(&searcher.parse(text).unwrap()).unwrap()
    };
    assert_eq!(
        (count("p:*"), count("p:WITHIN [1000km OF 0,0]"), count("p:DISJOINT [0,0]")),
        (0, 0, 0)
    );
    let near = |sort: &str| {
        let searcher = index.searcher().unwrap();
        let keys = SortKey::list(sort).unwrap();
        let hits = searcher.search(&Query::All).sort(keys).run().unwrap().hits;
        hits.iter().map(|hit| hit.fields["id"].to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(near("p:near=0/0"), "0 1 2 3 4");
    let mut writer = index.writer().unwrap();
    writer.update(3u64, |document| document.push("p", "0,1")).unwrap();
    writer.update(1u64, |document| document.push("p", "0,2")).unwrap();
    writer.commit().unwrap();
    assert_eq!(near("p:near=0/0"), "3 1 0 2 4");
    assert_eq!(near("p:near=0/0:desc:missing_first"), "0 2 4 1 3");
    writer.update(3u64, |document| document.push("id", 3u64)).unwrap_err();
    writer.update(3u64, |_| ()).unwrap();
    writer.commit().unwrap();
    writer.merge_to(1).unwrap();
    assert_eq!((count("p:*"), count("p:WITHIN [120km OF 0,0]")), (2, 1));
    assert_eq!(
        count(&Query::area("p", GeoRelation::Disjoint, "0,1".parse().unwrap()).to_string()),
        1
    );
    index.inspect().unwrap().verify(|error| panic!("{error}"));
}
