//! Fields of points as programs meet them, and areas and orders against a scan of all documents.

use crate::sorting::from_env;
use std::collections::{HashMap, HashSet};
use treepie::explain::{ExplainNode, ExplainOperator};
use treepie::geo::{GeoArea, GeoCell, GeoGrid, GeoPoint, GeoRelation, GeoVertex};
use treepie::query::Query;
use treepie::{
    DocId, Document, Field, FieldKind, Hit, Index, IndexWriter, Schema, Searcher, SortKey, Value,
};

/// The promise of the module `geo`, written down once more: on points as they are kept.
pub(crate) mod promise {
    use std::f64::consts::PI;
    use treepie::geo::{EARTH_RADIUS_M, GeoArea, GeoCell, GeoPoint, GeoVertex};

    fn unit(degrees: f64, from: f64, width: f64, units: f64) -> u64 {
        ((degrees + from) / width * units).round() as u64
    }

    /// Units of longitude once around.
    const TURN: u64 = 1 << 32;

    fn x_around(lon: f64) -> u64 {
        unit(lon, 180.0, 360.0, TURN as f64)
    }

    fn x(lon: f64) -> u32 {
        (x_around(lon) % TURN) as u32
    }

    fn y(lat: f64) -> u32 {
        unit(lat, 90.0, 180.0, 4_294_967_295.0) as u32
    }

    fn cosine(y: u32) -> f64 {
        let lat = (f64::from(y) - 4_294_967_295.0 / 2.0) * (PI / 4_294_967_295.0);
        if y == 0 || y == u32::MAX { 0.0 } else { libm::cos(lat) }
    }

    pub(crate) fn haversine(a: GeoPoint, b: GeoPoint) -> f64 {
        let dx = x(b.lon()).wrapping_sub(x(a.lon())).cast_signed();
        let dy = i64::from(y(b.lat())) - i64::from(y(a.lat()));
        let lat = libm::sin(dy as f64 * (PI / (2.0 * 4_294_967_295.0)));
        let lon = libm::sin(f64::from(dx) * (PI / 4_294_967_296.0));
        lat * lat + cosine(y(a.lat())) * cosine(y(b.lat())) * (lon * lon)
    }

    pub(super) fn metres(a: GeoPoint, b: GeoPoint) -> f64 {
        2.0 * EARTH_RADIUS_M * libm::asin(haversine(a, b).sqrt().min(1.0))
    }

    pub(crate) fn limit(metres: f64) -> f64 {
        let half = metres / (2.0 * EARTH_RADIUS_M);
        let sine = libm::sin(half);
        if half >= PI / 2.0 { f64::INFINITY } else { sine * sine }
    }

    /// Whether a point is in a polygon of an outer ring and holes: even-odd, and edges belong to it.
    fn is_in_rings(rings: &[Vec<GeoVertex>], (px, py): (i128, i128)) -> bool {
        let ring = |ring: &Vec<GeoVertex>| {
            let corner = |it: &GeoVertex| {
                let turn: i32 = i32::from(it.lon > 180.0) - i32::from(it.lon < -180.0);
                let x = unit(it.lon - 360.0 * f64::from(turn), 180.0, 360.0, 4_294_967_296.0);
                (i128::from(x) + i128::from(turn) * (1i128 << 32), i128::from(y(it.lat)))
            };
            let (mut is_odd, mut is_on) = (false, false);
            for (a, b) in ring.iter().zip(ring.iter().cycle().skip(1)) {
                let (a, b) = (corner(a), corner(b));
                let cross = (b.0 - a.0) * (py - a.1) - (px - a.0) * (b.1 - a.1);
                let is_between = |p: i128, q: i128, it: i128| p.min(q) <= it && it <= p.max(q);
                is_on |= cross == 0 && is_between(a.0, b.0, px) && is_between(a.1, b.1, py);
                is_odd ^= (a.1 > py) != (b.1 > py) && cross != 0 && (cross > 0) == (b.1 > a.1);
            }
            (is_odd, is_on)
        };
        let outer = ring(&rings[0]);
        (outer.0 || outer.1) && rings[1..].iter().map(ring).all(|(is_odd, is_on)| !is_odd || is_on)
    }

    pub(super) fn is_in(area: &GeoArea, point: GeoPoint) -> bool {
        match *area {
            GeoArea::Circle { from, to, center } => {
                let found = haversine(center, point);
                let least = from.map_or(0.0, |from| from.metres());
                (least == 0.0 || limit(least) <= found) && found <= limit(to.metres())
            }
            GeoArea::Box { south_west, north_east } => {
                // 180° is a turn behind −180°, and where the globe begins: only from −180 to 180 do boxes go all round.
                let (west, east) = (x_around(south_west.lon()), x_around(north_east.lon()));
                let crosses = south_west.lon() > north_east.lon();
                let east = if crosses { east + TURN } else { east };
                let (x, y_of) = (u64::from(x(point.lon())), y(point.lat()));
                let is_x = [x, x + TURN, x + 2 * TURN].iter().any(|x| (west..=east).contains(x));
                is_x && y(south_west.lat()) <= y_of && y_of <= y(north_east.lat())
            }
            GeoArea::Point(own) => (x(own.lon()), y(own.lat())) == (x(point.lon()), y(point.lat())),
            GeoArea::Polygons(ref polygons) => {
                let (x, y) = (i128::from(x(point.lon())), i128::from(y(point.lat())));
                let mut turns = (-2..=2).map(|turn| (x + turn * (1i128 << 32), y));
                turns.any(|at| polygons.polygons().iter().any(|rings| is_in_rings(rings, at)))
            }
            GeoArea::Cell(cell) => GeoCell::of_point(cell.grid(), point).unwrap() == cell,
            _ => unreachable!("an area of another kind"),
        }
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0 >> 33
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn between(&mut self, from: f64, to: f64) -> f64 {
        from + (to - from) * (self.next() as f64 / (1u64 << 31) as f64).min(1.0)
    }

    /// Points anywhere, around a few places, and where globes end.
    fn point(&mut self) -> GeoPoint {
        const PLACES: [(f64, f64); 5] =
            [(48.8566, 2.3522), (0.0, 180.0), (-17.8, -179.9), (89.99, 10.0), (0.0, 0.0)];
        let (lat, lon) = match self.below(12) {
            0 => ([90.0, -90.0][self.below(2) as usize], self.between(-180.0, 180.0)),
            1 => (self.between(-90.0, 90.0), [180.0, -180.0][self.below(2) as usize]),
            2 => PLACES[self.below(5) as usize],
            3..7 => {
                let (lat, lon) = PLACES[self.below(5) as usize];
                let spread = 10f64.powf(self.between(-5.0, 1.0));
                (lat + self.between(-spread, spread), lon + self.between(-spread, spread))
            }
            _ => (self.between(-90.0, 90.0), self.between(-180.0, 180.0)),
        };
        let lon = if lon > 180.0 { lon - 360.0 } else { lon };
        let lon = if lon < -180.0 { lon + 360.0 } else { lon };
        let digits = 10f64.powi(self.below(9) as i32);
        let rounded = |it: f64| (it * digits).round() / digits;
        GeoPoint::new(rounded(lat).clamp(-90.0, 90.0), rounded(lon).clamp(-180.0, 180.0)).unwrap()
    }

    fn area(&mut self) -> GeoArea {
        let center = self.point();
        let metres = |it: f64| format!("{it:.3}m").parse().unwrap();
        let radius = match self.below(8) {
            0 => 0.0,
            1 => 3e7,
            _ => 10f64.powf(self.between(0.0, 7.3)),
        };
        match self.below(13) {
            0..6 => GeoArea::circle(metres(radius), center),
            6 => {
                let from = radius * self.between(0.0, 1.0);
                GeoArea::ring(metres(from), metres(radius), center).unwrap()
            }
            7 | 8 => {
                let other = self.point();
                let (south, north) = (center.lat().min(other.lat()), center.lat().max(other.lat()));
                let corner = |lat, of: GeoPoint| GeoPoint::new(lat, of.lon()).unwrap();
                GeoArea::bounding_box(corner(south, center), corner(north, other)).unwrap()
            }
            9 | 10 => {
                let (n, spread) = (3 + self.below(8), 10f64.powf(self.between(-4.0, 1.9)));
                let mut corner = || {
                    let lon = center.lon() + self.between(-spread, spread);
                    let lat = center.lat() + self.between(-spread, spread);
                    GeoVertex { lon, lat: lat.clamp(-90.0, 90.0) }
                };
                let mut ring = || (0..n).map(|_| corner()).collect::<Vec<_>>();
                let (outer, hole) = (ring(), ring());
                GeoArea::polygon([outer, hole]).unwrap()
            }
            11 => {
                let grid = GeoGrid::Tile { zoom: self.below(12) as u8 };
                GeoArea::Cell(GeoCell::of_point(grid, center).unwrap())
            }
            _ => GeoArea::Point(center),
        }
    }
}

/// Documents by their ids, each with its points.
type Naive = Vec<(u64, Vec<GeoPoint>)>;

fn schema() -> Schema {
    let point = FieldKind::Point { array: None };
    Schema::builder()
        .u64("id")
        .keyword("kind")
        .field(Field::new("p", point).many(true))
        .key("id")
        .build()
        .unwrap()
}

fn add(writer: &mut IndexWriter, id: u64, points: &[GeoPoint]) {
    let kind = ["red", "blue", "green"][(id % 3) as usize];
    let mut document = Document::new().with("id", id).with("kind", kind);
    points.iter().for_each(|point| document.push("p", *point));
    writer.add(document).unwrap();
}

/// The ids of all that a query finds, in the order of the snapshot.
fn ids(searcher: &Searcher, query: &Query, sort: Option<SortKey>) -> Vec<u64> {
    let search = searcher.search(query).limit(100_000);
    let search = sort.into_iter().fold(search, |search, key| search.sort([key]));
    let hits = search.run().unwrap().hits;
    hits.iter().map(|hit| hit.fields["id"].first().and_then(Value::as_u64).unwrap()).collect()
}

fn sorted(mut ids: Vec<u64>) -> Vec<u64> {
    ids.sort_unstable();
    ids
}

fn check(searcher: &Searcher, naive: &Naive, random: &mut Random, n: usize) {
    for nth in 0..n {
        let area = random.area();
        let query = Query::within_area("p", area.clone());
        let inside = |points: &Vec<GeoPoint>| points.iter().any(|it| promise::is_in(&area, *it));
        let expected: Vec<u64> =
            naive.iter().filter(|(_, points)| inside(points)).map(|(id, _)| *id).collect();
        assert_eq!(sorted(ids(searcher, &query, None)), sorted(expected.clone()), "{query}");
        assert_eq!(searcher.count(&query).unwrap(), expected.len() as u64, "{query}");
        // Beside other conditions, as an alternative, and excluded.
        let found: HashSet<u64> = expected.iter().copied().collect();
        let red = |id: &u64| id.is_multiple_of(3);
        let both = Query::all_of([query.clone(), Query::value("kind", "red")]);
        let of_both = expected.iter().copied().filter(red).collect();
        assert_eq!(sorted(ids(searcher, &both, None)), sorted(of_both), "{both}");
        let either = Query::any_of([query.clone(), Query::value("kind", "red")]);
        let all = naive.iter().map(|(id, _)| *id);
        let of_either = all.clone().filter(|id| red(id) || found.contains(id)).collect();
        assert_eq!(sorted(ids(searcher, &either, None)), sorted(of_either), "{either}");
        let apart = Query::area("p", GeoRelation::Disjoint, area);
        let has = naive.iter().filter(|(_, points)| !points.is_empty()).map(|(id, _)| *id);
        let of_apart = has.filter(|id| !found.contains(id)).collect();
        assert_eq!(sorted(ids(searcher, &apart, None)), sorted(of_apart), "{apart}");
        if nth % 8 == 0 {
            // By pages and by the points of documents alike, or it is an error.
            for query in [&query, &both] {
                searcher.search(query).limit(50).explainer().what_if().unwrap();
            }
        }
        // The plan's bounds hold, and it says what was done.
        let tree = searcher.search(&query).explainer().analyze().unwrap();
        let root = tree.matches();
        let scan = find(root, &ExplainOperator::GeoScan);
        for node in scan.into_iter().chain([root]) {
            let (actual, estimate) = (node.actual.as_ref().unwrap(), &node.estimate);
            let is_inside = (estimate.lower..=estimate.upper).contains(&actual.documents);
            assert!(is_inside || !actual.complete, "{query}\n{tree}");
        }
    }
}

fn find<'n>(node: &'n ExplainNode, operator: &ExplainOperator) -> Option<&'n ExplainNode> {
    if node.operator == *operator {
        return Some(node);
    }
    node.children.iter().find_map(|child| find(child, operator))
}

/// The order by distance from a point, with metres to the last bit.
fn check_order(searcher: &Searcher, naive: &Naive, random: &mut Random, n: usize) {
    let of_ids: HashMap<u64, &Vec<GeoPoint>> = naive.iter().map(|(id, it)| (*id, it)).collect();
    for nth in 0..n {
        let from = random.point();
        let step = (nth % 3 == 1).then(|| "250km".parse().unwrap());
        let mut key = SortKey::near("p", from);
        key = step.into_iter().fold(key, SortKey::in_steps);
        key = if nth % 2 == 0 { key } else { key.reversed() };
        let key: SortKey = key.to_string().parse().unwrap();
        let page = searcher.search(&Query::All).sort([key.clone()]).limit(100_000).run().unwrap();
        assert_eq!(page.hits.len(), naive.len());
        let mut last: Option<(Option<f64>, DocId)> = None;
        for hit in &page.hits {
            let id = hit.fields["id"].first().and_then(Value::as_u64).unwrap();
            let points = of_ids[&id];
            let metres: Vec<f64> = points.iter().map(|it| promise::metres(from, *it)).collect();
            let least = metres.iter().copied().reduce(f64::min);
            match (&hit.distances[..], least) {
                ([], None) => {}
                ([distance], Some(least)) => {
                    assert_eq!(distance.metres.to_bits(), least.to_bits());
                    assert_eq!(distance.field, "p");
                    let place = metres.iter().position(|it| *it == least).unwrap();
                    assert_eq!(distance.value as usize, place);
                }
                other => panic!("{other:?} of {id}"),
            }
            let value = least.map(|metres| match nth % 3 {
                1 => (metres / 250_000.0).floor() * 250_000.0,
                _ => metres,
            });
            assert_eq!(hit.sort[0].as_f64(), value, "{key}");
            if let Some((before, doc)) = last {
                let order = match (before, value) {
                    (Some(a), Some(b)) if nth % 2 == 0 => a.total_cmp(&b),
                    (Some(a), Some(b)) => b.total_cmp(&a),
                    (Some(_), None) => std::cmp::Ordering::Less,
                    (None, Some(_)) => std::cmp::Ordering::Greater,
                    (None, None) => std::cmp::Ordering::Equal,
                };
                assert!(order.then(doc.cmp(&hit.doc)).is_lt(), "{key}");
            }
            last = Some((value, hit.doc));
        }
        // The nearest boxes first, and every match measured: the same, or it is an error. The head of the order is the same.
        if nth % 4 == 0 {
            let red = Query::value("kind", "red");
            for query in [Query::All, red.clone()] {
                let search = searcher.search(&query).sort([key.clone()]).limit(10);
                search.explainer().what_if().unwrap();
            }
            let first = searcher.search(&red).sort([key.clone()]).limit(10).run().unwrap();
            let is_red = |hit: &&Hit| {
                hit.fields["id"].first().and_then(Value::as_u64).unwrap().is_multiple_of(3)
            };
            let expected = page.hits.iter().filter(is_red).take(10).map(|hit| hit.doc);
            assert!(first.hits.iter().map(|hit| hit.doc).eq(expected), "{key}");
        }
        // Page by page the same.
        let all = Query::All;
        let mut after = None;
        for chunk in page.hits.chunks(97).take(3) {
            let search = searcher.search(&all).sort([key.clone()]).limit(97);
            let search = after.into_iter().fold(search, |search, after| search.after(after));
            let found = search.run().unwrap().hits;
            assert!(found.iter().map(|it| it.doc).eq(chunk.iter().map(|it| it.doc)), "{key}");
            after = found.last().and_then(|hit| hit.cursor());
        }
    }
}

#[test]
fn areas_and_orders_are_those_of_a_scan_on_segments_with_deletes_and_after_merges() {
    compare_with_a_scan(2_026, 24);
}

/// So few of so many documents match that matches are asked for by groups of documents.
#[test]
fn the_nearest_of_few_matches_are_those_of_a_scan() {
    let index = Index::in_memory(schema());
    let (mut writer, mut random) = (index.writer().unwrap(), Random(75));
    let mut rare = vec![];
    for id in 0..60_000 {
        let (lat, lon) = [(48.0, 2.0), (-33.0, 179.9)][(id % 2) as usize];
        let spread = 10f64.powf(random.between(-2.0, 1.0));
        let lon = lon + random.between(-spread, spread);
        let lon = if lon > 180.0 { lon - 360.0 } else { lon };
        let point = GeoPoint::new(lat + random.between(-spread, spread), lon).unwrap();
        let kind = if random.below(75) == 0 { "rare" } else { "red" };
        writer.add(Document::new().with("id", id).with("kind", kind).with("p", point)).unwrap();
        if kind == "rare" {
            rare.push((id, point));
        }
    }
    writer.commit().unwrap();
    writer.merge_to(1).unwrap();
    drop(writer);
    let (searcher, query) = (index.searcher().unwrap(), Query::value("kind", "rare"));
    for _ in 0..12 {
        let (_, center) = rare[random.below(rare.len() as u64) as usize];
        for is_far in [false, true] {
            let mut expected: Vec<(f64, u64)> =
                rare.iter().map(|(id, point)| (center.distance(*point), *id)).collect();
            expected.sort_by(|a, b| {
                let order = a.0.total_cmp(&b.0);
                (if is_far { order.reverse() } else { order }).then(a.1.cmp(&b.1))
            });
            let key = SortKey::near("p", center);
            let key = if is_far { key.reversed() } else { key };
            let mut after = None;
            for page in expected.chunks(10).take(3) {
                let search = searcher.search(&query).sort([key.clone()]).limit(10);
                let search = after.into_iter().fold(search, |search, after| search.after(after));
                let found = search.run().unwrap().hits;
                let found_now = found
                    .iter()
                    .map(|hit| (hit.distances[0].metres, hit.doc.0))
                    .collect::<Vec<_>>();
                assert_eq!(found_now, page, "{key}");
                after = found.last().and_then(|hit| hit.cursor());
            }
        }
    }
    let search = searcher.search(&query).sort([SortKey::near("p", rare[0].1)]).limit(10);
    let tree = search.explainer().analyze().unwrap().to_string();
    assert!(tree.contains("boxes of points, the nearest first"), "{tree}");
}

/// Many minutes: `TREEPIE_AREAS=1 TREEPIE_AREAS_FROM=7` asks the questions of one seed.
#[test]
#[ignore = "long: it asks ten thousands of questions"]
fn many_areas_and_orders_are_those_of_a_scan() {
    let (first, n) = (from_env("TREEPIE_AREAS_FROM", 0), from_env("TREEPIE_AREAS", 20));
    (first..first + n).for_each(|seed| compare_with_a_scan(seed, 600));
}

/// Points around a few places, most of which have thousands near each other.
#[test]
fn plans_choose_between_pages_and_points_of_documents_with_proved_bounds() {
    let index = Index::in_memory(schema());
    let (mut writer, mut random) = (index.writer().unwrap(), Random(7));
    let mut points = vec![];
    for id in 0..40_000 {
        let (lat, lon) = [(48.0, 2.0), (-33.0, 151.0), (10.0, 179.9)][(id % 3) as usize];
        let spread = 10f64.powf(random.between(-3.0, 0.7));
        let lon = lon + random.between(-spread, spread);
        let lon = if lon > 180.0 { lon - 360.0 } else { lon };
        let point = GeoPoint::new(lat + random.between(-spread, spread), lon).unwrap();
        add(&mut writer, id, &[point]);
        points.push(point);
    }
    writer.commit().unwrap();
    writer.merge_to(1).unwrap();
    drop(writer);
    let searcher = index.searcher().unwrap();
    let mut off = vec![];
    for nth in 0..60 {
        let center = points[random.below(40_000) as usize];
        let metres = 10f64.powf(random.between(3.0, 5.7));
        let query = Query::within_area(
            "p",
            GeoArea::circle(format!("{metres:.0}m").parse().unwrap(), center),
        );
        let tree = searcher.explain(&query).unwrap();
        let root = tree.matches();
        let found = searcher.count(&query).unwrap();
        let estimate = &root.estimate;
        assert!(estimate.lower <= found && found <= estimate.upper, "{tree}");
        let (found, expected) = (found.max(1) as f64, estimate.documents.max(1) as f64);
        off.push((found / expected).max(expected / found));
        if nth == 0 {
            let rule = &root.decisions.iter().find(|it| it.rule == "pages of points").unwrap();
            assert_eq!(rule.alternative.as_ref().unwrap().name, "compare the points of documents");
            let sources = ["page boxes", "at the border"];
            assert!(sources.iter().any(|it| estimate.source.ends_with(it)), "{}", estimate.source);
            let few = Query::all_of([query.clone(), Query::value("id", 7u64)]);
            let tree = searcher.explain(&few).unwrap();
            let scan = find(tree.matches(), &ExplainOperator::GeoScan).unwrap();
            assert_eq!(scan.algorithm, "points of the documents compared", "{tree}");
            assert_eq!(
                scan.decisions[0].alternative.as_ref().unwrap().name,
                "read pages of points"
            );
            let tree = searcher.search(&query).limit(0).explainer().analyze().unwrap();
            let geo =
                find(&tree.plan, &ExplainOperator::GeoScan).unwrap().actual.as_ref().unwrap().geo;
            let geo = geo.unwrap();
            assert!(geo.pages_border > 0 && geo.points_tested <= 512 * geo.pages_border, "{tree}");
        }
    }
    off.sort_by(f64::total_cmp);
    assert!(off[30] <= 1.2, "estimates are off by {off:?}");
}

/// Compares so many areas with a scan of all documents, and orders, three times: as documents are added, with deletes, and merged.
fn compare_with_a_scan(seed: u64, n: usize) {
    let mut random = Random(seed);
    let index = Index::in_memory(schema());
    let (mut writer, mut naive) = (index.writer().unwrap(), Naive::new());
    let mut next = 0;
    // A large segment with points in most documents, one in which few have any, and some with several each.
    for (n, shape) in [(2_300, 0), (1_100, 1), (700, 2), (1, 0), (1_024, 3)] {
        for _ in 0..n {
            let n_points = match shape {
                0 => u64::from(random.below(20) > 0),
                1 => u64::from(random.below(90) == 0),
                2 => random.below(4),
                _ => 1,
            };
            let points: Vec<_> = (0..n_points).map(|_| random.point()).collect();
            add(&mut writer, next, &points);
            naive.push((next, points));
            next += 1;
        }
        writer.commit().unwrap();
    }
    let searcher = index.searcher().unwrap();
    check(&searcher, &naive, &mut random, n);
    check_order(&searcher, &naive, &mut random, n / 8);
    // Some are deleted, some are replaced by others.
    let mut kept = Naive::new();
    for (id, points) in naive {
        match random.below(10) {
            0 | 1 => writer.delete_key(id).unwrap(),
            2 => {
                let points: Vec<_> = (0..random.below(3)).map(|_| random.point()).collect();
                add(&mut writer, id, &points);
                kept.push((id, points));
            }
            _ => kept.push((id, points)),
        }
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    check(&searcher, &kept, &mut random, n);
    check_order(&searcher, &kept, &mut random, n / 8);
    writer.merge_to(1).unwrap();
    drop(writer);
    let searcher = index.searcher().unwrap();
    assert_eq!(searcher.explain(&Query::All).unwrap().segments.len(), 1);
    check(&searcher, &kept, &mut random, n);
    check_order(&searcher, &kept, &mut random, n / 8);
    index.inspect().unwrap().verify(|error| panic!("{error}"));
}
