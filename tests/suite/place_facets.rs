//! Facets of points against a scan of all documents: cells of grids, rings, boxes and centroids.

use crate::points::promise;
use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use treepie::explain::Costs;
use treepie::facet::{Bucket, FacetKind, FacetRange};
use treepie::geo::{Distance, GeoArea, GeoCell, GeoGrid, GeoPoint};
use treepie::query::Query;
use treepie::storage::MemoryStorage;
use treepie::{Document, ErrorKind, Facet, Field, FieldKind, Index, Schema, Searcher, Value};

/// A document as it was given.
struct Place {
    id: u64,
    mark: &'static str,
    at: Option<GeoPoint>,
    stops: Vec<GeoPoint>,
}

impl Place {
    fn points(&self, field: &str) -> Vec<GeoPoint> {
        match field {
            "at" => self.at.into_iter().collect(),
            _ => self.stops.clone(),
        }
    }
}

/// Points around some places and anywhere, at the poles and at 180°, many of them the same.
fn random_point(random: &mut Random) -> GeoPoint {
    let degrees =
        |random: &mut Random, width: f64| random.below(1 << 30) as f64 / (1 << 30) as f64 * width;
    let near = |random: &mut Random, lat: f64, lon: f64| {
        (lat + degrees(random, 0.3), lon + degrees(random, 0.3))
    };
    let (lat, lon) = match random.below(12) {
        0 => (90.0, degrees(random, 360.0) - 180.0),
        1 => (-90.0, degrees(random, 360.0) - 180.0),
        2 => (degrees(random, 180.0) - 90.0, 180.0),
        3 => (degrees(random, 5.0) + 85.0, degrees(random, 360.0) - 180.0),
        4 => (48.8566, 2.3522),
        5 | 6 => (degrees(random, 180.0) - 90.0, degrees(random, 360.0) - 180.0),
        7 => near(random, -17.0, 179.7),
        8 => near(random, -17.0, -180.0),
        _ => near(random, 48.7, 2.2),
    };
    GeoPoint::new(lat, lon).unwrap()
}

fn places(n: u64, seed: u64) -> Vec<Place> {
    let mut random = Random(seed);
    let place = |id| {
        let mark = ["half", "rare"][usize::from(random.below(40) == 0)];
        let mark = if random.below(2) == 0 { mark } else { "other" };
        let at = (random.below(9) > 0).then(|| random_point(&mut random));
        let n_stops = random.below(5);
        let mut stops: Vec<_> = (0..n_stops).map(|_| random_point(&mut random)).collect();
        stops.extend(stops.first().copied().filter(|_| random.below(3) == 0));
        Place { id, mark, at, stops }
    };
    (0..n).map(place).collect()
}

/// An index of them in several segments, planned with these figures for a page and for a document.
fn index_of(places: &[Place], n_commits: usize, figures: Option<(&str, &str)>) -> Index {
    let schema = Schema::builder()
        .u64("id")
        .key("id")
        .keyword("mark")
        .point("at")
        .field(Field::new("stops", FieldKind::Point { array: None }).many(true))
        .build()
        .unwrap();
    let mut options = Index::options();
    if let Some((name, ns)) = figures {
        let text = Costs::default().to_text();
        let lines = text.lines().map(|line| match line.starts_with(name) {
            true => format!("{name} = {ns}"),
            false => line.to_owned(),
        });
        let lines: Vec<_> = lines.collect();
        options = options.costs(Costs::from_text(&lines.join("\n")).unwrap());
    }
    let index = options.create_in(Arc::new(MemoryStorage::new()), schema).unwrap();
    let mut writer = index.writer().unwrap();
    for part in places.chunks(places.len().div_ceil(n_commits)) {
        for place in part {
            let document = Document::new().with("id", place.id).with("mark", place.mark);
            let document = place.at.into_iter().fold(document, |it, at| it.with("at", at));
            let stops = place.stops.iter();
            writer.add(stops.fold(document, |it, stop| it.with("stops", *stop))).unwrap();
        }
        writer.commit().unwrap();
    }
    drop(writer);
    index
}

fn buckets(searcher: &Searcher, text: &str, facet: Facet) -> (Vec<Bucket>, u64, Option<GeoGrid>) {
    let query = searcher.parse(text).unwrap();
    let mut page = searcher.search(&query).limit(0).with_facet(facet).run().unwrap();
    let counts = page.facets.remove(0);
    assert_eq!((counts.kind, counts.other, counts.exact), (FacetKind::Grid, Some(0), true));
    (counts.buckets, counts.missing, counts.grid)
}

/// Numbers of documents by cell, those with the most first, and documents without a point.
fn scanned<'p>(
    places: impl Iterator<Item = &'p Place>,
    field: &str,
    grid: GeoGrid,
) -> (Vec<(String, u64)>, u64) {
    let (mut counts, mut missing) = (BTreeMap::new(), 0);
    for place in places {
        let points = place.points(field).into_iter();
        let cells = points.map(|point| GeoCell::of_point(grid, point).unwrap().to_string());
        let cells: BTreeSet<_> = cells.collect();
        missing += u64::from(cells.is_empty());
        cells.into_iter().for_each(|cell| *counts.entry(cell).or_insert(0) += 1);
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    (counts, missing)
}

fn grids() -> Vec<GeoGrid> {
    let tiles = [0, 1, 4, 8, 13, 24].map(|zoom| GeoGrid::Tile { zoom });
    let geohashes = [1, 3, 5, 12].map(|len| GeoGrid::Geohash { len });
    [&tiles[..], &geohashes].concat()
}

#[test]
fn cells_are_counted_as_a_scan_does() {
    let all = places(1_500, 7);
    let index = index_of(&all, 3, None);
    let check = |searcher: &Searcher, is_live: &dyn Fn(&Place) -> bool| {
        for (text, mark) in [("*", None), ("mark:half", Some("half")), ("mark:rare", Some("rare"))]
        {
            let matching =
                || all.iter().filter(|it| is_live(it) && mark.is_none_or(|mark| it.mark == mark));
            for (field, grid) in ["at", "stops"]
                .iter()
                .flat_map(|field| grids().into_iter().map(move |it| (*field, it)))
            {
                let (found, missing, of) = buckets(searcher, text, Facet::grid(field, grid));
                let names: Vec<_> = found.iter().map(|it| (it.to_string(), it.count)).collect();
                let (expected, without) = scanned(matching(), field, grid);
                assert_eq!(
                    (&names, missing, of),
                    (&expected, without, Some(grid)),
                    "{text} {field} {grid}"
                );
                // A cell finds its documents.
                for bucket in found.iter().step_by(1 + found.len() / 5) {
                    let inside = Query::within_area(field, GeoArea::Cell(bucket.cell.unwrap()));
                    let query = Query::all_of([searcher.parse(text).unwrap(), inside]);
                    assert_eq!(searcher.count(&query).unwrap(), bucket.count, "{bucket} of {text}");
                }
            }
            for (field, most) in
                [("at", 1), ("stops", 1), ("at", 20), ("stops", 333), ("at", 65_536)]
            {
                let (found, missing, of) = buckets(searcher, text, Facet::auto_tiles(field, most));
                let zooms = (0..=24).map(|zoom| GeoGrid::Tile { zoom });
                let fits = |grid: &GeoGrid| scanned(matching(), field, *grid).0.len() <= most;
                let grid = zooms.rev().find(fits).unwrap();
                let (expected, without) = scanned(matching(), field, grid);
                let names: Vec<_> = found.iter().map(|it| (it.to_string(), it.count)).collect();
                assert_eq!(
                    (names, missing, of),
                    (expected, without, Some(grid)),
                    "{text} {field} {most}"
                );
            }
        }
    };
    check(&index.searcher().unwrap(), &|_| true);
    let mut writer = index.writer().unwrap();
    for place in all.iter().filter(|place| place.id % 5 == 2) {
        writer.delete_key(place.id).unwrap();
    }
    writer.commit().unwrap();
    let is_live = |place: &Place| place.id % 5 != 2;
    check(&index.searcher().unwrap(), &is_live);
    writer.merge_to(1).unwrap();
    drop(writer);
    check(&index.searcher().unwrap(), &is_live);
}

#[test]
fn pages_and_points_count_the_same() {
    let all = places(9_000, 11);
    let mut told = vec![];
    for ns in ["0.01", "1000"] {
        let index = index_of(&all, 2, Some(("page_point_ns", ns)));
        let searcher = index.searcher().unwrap();
        for grid in grids() {
            let (found, missing, _) = buckets(&searcher, "*", Facet::grid("at", grid));
            let (expected, without) = scanned(all.iter(), "at", grid);
            let names: Vec<_> = found.iter().map(|it| (it.to_string(), it.count)).collect();
            assert_eq!((names, missing), (expected, without), "{grid} {ns}");
        }
        let plan = |text: &str, field: &str| {
            let query = searcher.parse(text).unwrap();
            let facet = Facet::grid(field, GeoGrid::Tile { zoom: 4 });
            let search = searcher.search(&query).limit(0).with_facet(facet);
            let tree = search.explainer().analyze().unwrap();
            let facet = tree.facets[0].clone();
            let decision = facet.decisions[0].clone();
            let geo = facet.actual.as_ref().unwrap().geo.unwrap();
            (facet.algorithm.to_string(), decision, geo, tree)
        };
        let (algorithm, decision, geo, tree) = plan("*", "at");
        let other = decision.alternative.as_ref().unwrap();
        assert!(
            other.estimated_cost_ns.unwrap() >= decision.estimated_cost_ns.unwrap() || ns == "0.01"
        );
        assert!(tree.to_string().contains("by cells of tile=4"), "{tree}");
        match ns {
            "0.01" => {
                assert_eq!((&*algorithm, &*other.name), ("pages of points", "points by document"));
                assert!(geo.pages_inside > 0 && geo.pages_border > 0, "{geo:?}");
                let n_with = all.iter().filter(|place| place.at.is_some()).count() as u64;
                assert!(geo.points_tested < n_with, "{geo:?}");
            }
            _ => {
                assert_eq!((&*algorithm, &*other.name), ("points by document", "pages of points"));
                assert_eq!((geo.pages_inside, geo.pages_border), (0, 0));
            }
        }
        // Some do not match, or documents have several points.
        for (text, field) in [("mark:half", "at"), ("*", "stops")] {
            let (algorithm, decision, geo, _) = plan(text, field);
            assert_eq!((&*algorithm, decision.alternative), ("points by document", None));
            assert_eq!(geo.pages_border, 0);
        }
        told.push(tree.to_string());
    }
    assert_ne!(told[0], told[1]);
}

#[test]
fn facets_lie_within_cells_and_around_them() {
    let all = places(1_000, 23);
    let searcher = index_of(&all, 2, None).searcher().unwrap();
    let grid = GeoGrid::Tile { zoom: 3 };
    for field in ["at", "stops"] {
        let within = Facet::grid(field, grid).with_facet(Facet::values("mark")).top_hits(2);
        let query = searcher.parse("*").unwrap();
        let outer = Facet::values("mark").with_facet(Facet::grid(field, grid));
        let page = searcher.search(&query).with_facet(within).with_facet(outer).run().unwrap();
        for bucket in &page.facets[0].buckets {
            let is_in = |place: &&Place| {
                let mut points = place.points(field).into_iter();
                points.any(|point| GeoCell::of_point(grid, point).unwrap() == bucket.cell.unwrap())
            };
            for of_mark in &bucket.facets[0].buckets {
                let n = all.iter().filter(is_in).filter(|it| of_mark.value == *it.mark).count();
                assert_eq!(of_mark.count, n as u64, "{bucket} {of_mark}");
            }
            let ids: Vec<u64> = bucket.hits.iter().map(|hit| hit.doc.0).collect();
            let expected = all.iter().filter(is_in).map(|it| it.id).take(2).collect::<Vec<_>>();
            assert_eq!(ids, expected, "{bucket}");
        }
        let of_missing = page.facets[0].missing_bucket.as_ref().unwrap();
        let without = all.iter().filter(|it| it.points(field).is_empty()).count() as u64;
        assert_eq!((of_missing.count, page.facets[0].missing), (without, without));
        for bucket in &page.facets[1].buckets {
            let matching = all.iter().filter(|it| bucket.value == *it.mark);
            let (expected, without) = scanned(matching, field, grid);
            let found = bucket.facets[0].buckets.iter().map(|it| (it.to_string(), it.count));
            assert_eq!((found.collect::<Vec<_>>(), bucket.facets[0].missing), (expected, without));
        }
    }
}

#[test]
fn what_is_no_grid_of_points_is_refused() {
    let schema = Schema::builder().text("t").u64("n").point("p").build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("t", "a").with("n", 1).with("p", "1,2")).unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let refused = |facet: Facet, words: &[&str]| {
        let error = searcher.search(&Query::All).with_facet(facet).run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        words.iter().for_each(|word| assert!(error.to_string().contains(word), "{error}"));
    };
    let tiles = |field: &str| Facet::grid(field, GeoGrid::Tile { zoom: 8 });
    refused(
        tiles("t"),
        &["counting by the cells of a grid", "a field of points, found the text field 't'"],
    );
    refused(tiles("n"), &["a field of points, found the u64 field 'n'"]);
    refused(tiles("q"), &["'q'"]);
    refused(Facet::grid("p", GeoGrid::Tile { zoom: 25 }), &["a zoom from 0 to 24, found 25"]);
    refused(Facet::grid("p", GeoGrid::Geohash { len: 0 }), &["from 1 to 12 characters"]);
    refused(Facet::grid("p", GeoGrid::Geohash { len: 13 }), &["from 1 to 12 characters"]);
    refused(Facet::auto_tiles("p", 0), &["at least 1 tile and at most 65536, found 0"]);
    refused(Facet::auto_tiles("p", 65_537), &["at most 65536, found 65537"]);
    refused(Facet::values("p").into(), &["points are counted by tile=ZOOM", "the point field 'p'"]);
    refused(Facet::histogram("p", 5), &["counting by steps", "the point field 'p'"]);
    let deep = Facet::grid("p", GeoGrid::Tile { zoom: 24 }).with_facet(Facet::values("n"));
    let page = searcher.search(&Query::All).with_facet(deep).run().unwrap();
    assert_eq!(page.facets[0].buckets[0].facets[0].buckets[0].count, 1);
}

/// Ends of a ring in metres.
fn ends(range: &FacetRange) -> (Option<f64>, Option<f64>) {
    let metres = |end: &Option<Value>| {
        end.as_ref().map(|end| end.to_string().parse::<Distance>().unwrap().metres())
    };
    (metres(&range.from), metres(&range.to))
}

#[test]
fn rings_are_counted_as_a_scan_does() {
    let all = places(1_200, 41);
    let index = index_of(&all, 3, None);
    let mut random = Random(5);
    let mut centers: Vec<_> = (0..6).map(|_| random_point(&mut random)).collect();
    centers.extend(
        [(90.0, 0.0), (-90.0, 7.0), (0.0, 180.0), (48.8566, 2.3522)]
            .map(|(lat, lon)| GeoPoint::new(lat, lon).unwrap()),
    );
    let check = |searcher: &Searcher, is_live: &dyn Fn(&Place) -> bool| {
        for (nth, center) in centers.iter().enumerate() {
            let (text, mark) =
                [("*", None), ("mark:half", Some("half")), ("mark:rare", Some("rare"))][nth % 3];
            let field = ["at", "stops"][nth % 2];
            // Some end where a point is, which is there or not by the last bit.
            let some = all.iter().filter_map(|place| place.at).skip(nth * 7).take(12);
            let exact: Vec<_> = some.map(|it| format!("{:?}m", center.distance(it))).collect();
            let rings = [
                "..1km",
                "1km..5km",
                "5km..500km",
                "500km..",
                "..20016km",
                "2km..2km",
                "100mi..3000nmi",
                "..",
                "0m..0.5ft",
            ];
            let more = exact.iter().flat_map(|it| [format!("..{it}"), format!("{it}..")]);
            let rings = rings.iter().map(|it| (*it).to_owned()).chain(more);
            let rings: Vec<FacetRange> = rings.map(|it| it.parse().unwrap()).collect();
            for rings in [&rings[..], &rings[..3]] {
                let query = searcher.parse(text).unwrap();
                let facet = Facet::rings(field, *center, rings.iter().cloned());
                let within = facet.clone().with_facet(Facet::values("mark")).top_hits(1);
                let page = searcher
                    .search(&query)
                    .limit(0)
                    .with_facet(facet)
                    .with_facet(within)
                    .run()
                    .unwrap();
                let matching: Vec<_> = all
                    .iter()
                    .filter(|it| is_live(it) && mark.is_none_or(|mark| it.mark == mark))
                    .collect();
                let is_in = |place: &Place, ring: &FacetRange| {
                    let (from, to) = ends(ring);
                    place.points(field).into_iter().any(|point| {
                        let haversine = promise::haversine(*center, point);
                        from.is_none_or(|from| haversine >= promise::limit(from))
                            && to.is_none_or(|to| haversine < promise::limit(to))
                    })
                };
                let facet = &page.facets[0];
                assert_eq!(facet.kind, FacetKind::Ranges);
                for ((ring, bucket), parted) in
                    rings.iter().zip(&facet.buckets).zip(&page.facets[1].buckets)
                {
                    let expected: Vec<_> = matching.iter().filter(|it| is_in(it, ring)).collect();
                    assert_eq!(
                        bucket.count,
                        expected.len() as u64,
                        "{text} {field} {center} {ring}"
                    );
                    assert_eq!(
                        (parted.count, ends(ring)),
                        (
                            bucket.count,
                            ends(&FacetRange::new(bucket.from.clone(), bucket.to.clone()))
                        )
                    );
                    let of_marks: u64 = parted.facets[0].buckets.iter().map(|it| it.count).sum();
                    assert_eq!(of_marks, bucket.count);
                    assert_eq!(parted.hits.len(), expected.len().min(1));
                    assert!(
                        parted
                            .hits
                            .iter()
                            .all(|hit| hit.fields["id"].to_string() == expected[0].id.to_string())
                    );
                }
                let without =
                    matching.iter().filter(|it| it.points(field).is_empty()).count() as u64;
                let is_other = |it: &&&Place| {
                    !it.points(field).is_empty() && !rings.iter().any(|ring| is_in(it, ring))
                };
                let other = matching.iter().filter(is_other).count() as u64;
                assert_eq!(
                    (facet.missing, facet.other),
                    (without, Some(other)),
                    "{text} {field} {center}"
                );
            }
        }
    };
    check(&index.searcher().unwrap(), &|_| true);
    let mut writer = index.writer().unwrap();
    for place in all.iter().filter(|place| place.id % 4 == 1) {
        writer.delete_key(place.id).unwrap();
    }
    writer.commit().unwrap();
    drop(writer);
    check(&index.searcher().unwrap(), &|place| place.id % 4 != 1);
}

#[test]
fn what_is_no_ring_is_refused() {
    let schema = Schema::builder().text("t").u64("n").point("p").build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    writer.add(Document::new().with("t", "a").with("n", 1).with("p", "1,2")).unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let near = GeoPoint::new(0.0, 0.0).unwrap();
    for (field, rings, words) in [
        (
            "p",
            &[][..],
            &["counting by rings of 'p'", "rings, as ..1km, 1km..5km and 5km..", "none"][..],
        ),
        (
            "p",
            &["..1km", "5km..1km"],
            &["reading ring 2 of 'p', 5km..1km", "the lesser distance first", "5km before 1km"],
        ),
        ("p", &["..5"], &["reading ring 1 of 'p', ..5", "5 of what? write 5km or 5mi"]),
        ("p", &["1km..5 parsec"], &["a distance with its unit, as 10km", "the unit 'parsec'"]),
        ("p", &["-1km.."], &["a distance of 0 or more"]),
        ("n", &["..1km"], &["counting by rings", "a field of points, found the u64 field 'n'"]),
        ("t", &["..1km"], &["a field of points, found the text field 't'"]),
    ] {
        let rings: Vec<FacetRange> = rings.iter().map(|it| it.parse().unwrap()).collect();
        let facet = Facet::rings(field, near, rings);
        let error = searcher.search(&Query::All).with_facet(facet).run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        words.iter().for_each(|word| assert!(error.to_string().contains(word), "{word}: {error}"));
    }
    let many = (0..1_025).map(|_| FacetRange::default());
    let error = searcher.search(&Query::All).with_facet(Facet::rings("p", near, many)).run();
    assert!(error.unwrap_err().to_string().contains("at most 1024 ranges"));
    let numbers = Facet::rings("p", near, [(0..5).into()]);
    let error = searcher.search(&Query::All).with_facet(numbers).run().unwrap_err();
    assert!(error.to_string().contains("0 of what?"), "{error}");
}

/// Units of longitude of a point as it is kept.
fn x_of(point: GeoPoint) -> u32 {
    ((point.lon() + 180.0) / 360.0 * 4_294_967_296.0).round() as u64 as u32
}

#[test]
fn statistics_of_points_are_those_of_a_scan() {
    let all = places(900, 3);
    let searchers = [1, 4].map(|n| index_of(&all, n, None).searcher().unwrap());
    for (text, mark) in [("*", None), ("mark:half", Some("half")), ("mark:rare", Some("rare"))] {
        for field in ["at", "stops"] {
            let matching: Vec<_> =
                all.iter().filter(|it| mark.is_none_or(|mark| it.mark == mark)).collect();
            let told = searchers.each_ref().map(|searcher| {
                let query = searcher.parse(text).unwrap();
                let search = searcher.search(&query).limit(0).with_facet(Facet::statistics(field));
                search.run().unwrap().facets.remove(0)
            });
            assert_eq!(told[0], told[1], "{text} {field}");
            let (facet, found) = (&told[0], told[0].points.as_ref().unwrap());
            assert!(
                facet.kind == FacetKind::Statistics && facet.exact && facet.statistics.is_none()
            );
            let kept = |point: &GeoPoint| (x_of(*point), point.lat().to_bits());
            let mut points = vec![];
            for place in &matching {
                let mut of_doc = place.points(field);
                of_doc.sort_by_key(kept);
                of_doc.dedup_by_key(|it| kept(it));
                points.extend(of_doc);
            }
            let with = matching.iter().filter(|it| !it.points(field).is_empty()).count() as u64;
            assert_eq!((found.count, found.documents), (points.len() as u64, with));
            assert_eq!(facet.missing, matching.len() as u64 - with);
            let (a, b) = found.bounds.unwrap();
            let lats = points.iter().map(|it| it.lat());
            let south = lats.clone().fold(f64::MAX, f64::min);
            let north = lats.fold(f64::MIN, f64::max);
            assert!((a.lat() - south).abs() < 1e-7 && (b.lat() - north).abs() < 1e-7);
            let mut xs: Vec<u32> = points.iter().map(|it| x_of(*it)).collect();
            xs.sort_unstable();
            xs.dedup();
            let next = xs.iter().cycle().skip(1);
            let gaps = xs.iter().zip(next).map(|(x, next)| next.wrapping_sub(*x).wrapping_sub(1));
            let widest = gaps.max().unwrap();
            assert_eq!(x_of(b).wrapping_sub(x_of(a)), u32::MAX - widest);
            // All are in the box.
            let area = GeoArea::bounding_box(a, b).unwrap();
            let inside =
                Query::all_of([searchers[0].parse(text).unwrap(), Query::within_area(field, area)]);
            assert_eq!(searchers[0].count(&inside).unwrap(), with, "{a} {b}");
            let mut sum = [0.0; 3];
            for point in &points {
                let (lat, lon) = (point.lat().to_radians(), point.lon().to_radians());
                let parts = [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()];
                sum.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
            }
            let flat = sum[0].hypot(sum[1]);
            let lat = sum[2].atan2(flat).to_degrees();
            let lon = sum[1].atan2(sum[0]).to_degrees();
            let expected = GeoPoint::new(lat, lon).unwrap();
            assert!(found.centroid.unwrap().distance(expected) < 1.0, "{expected}");
        }
    }
    let searcher = &searchers[0];
    let none = searcher.parse("mark:nothing").unwrap();
    let page = searcher.search(&none).with_facet(Facet::statistics("at")).run().unwrap();
    let found = page.facets[0].points.as_ref().unwrap();
    assert_eq!((found.count, found.bounds, found.centroid), (0, None, None));
    let within = Facet::values("mark").with_facet(Facet::statistics("at"));
    let page = searcher.search(&Query::All).with_facet(within).run().unwrap();
    for bucket in &page.facets[0].buckets {
        let n = all.iter().filter(|it| bucket.value == *it.mark && it.at.is_some()).count() as u64;
        assert_eq!(bucket.facets[0].points.as_ref().unwrap().count, n);
    }
    for facet in [Facet::statistics("at").distinct(), Facet::statistics("at").percentiles([50.0])] {
        let error = searcher.search(&Query::All).with_facet(facet).run().unwrap_err();
        assert!(error.to_string().contains("the point field 'at'"), "{error}");
    }
}
