//! What does a circle cost by pages of points, and by comparing the points of all documents?
//!
//! `cargo bench --bench points -- [POINTS [CITIES]]`: so many points, 10 million unless said otherwise, nine tenths around cities by
//! their population, the rest anywhere on the globe. CITIES is a table of GeoNames (`cities15000.txt`); without one, cities are a thousand
//! places anywhere. Documents lie in random order. Each line is about circles with so many of all points, around twelve of them, on one
//! thread: the least time of several runs of whole searches, which the tree of the plan has both ways of. Ten nearest points are
//! found beside them, of what a keyword has, too, the first ten by a number, and circles that have ten of each. Polygons with 1,000
//! corners wind around circles.

use std::time::Instant;
use treepie::explain::ExplainNode;
use treepie::geo::{EARTH_RADIUS_M, GeoArea, GeoPoint, GeoVertex};
use treepie::query::Query;
use treepie::{Document, Field, FieldKind, Index, Schema, Searcher, SortKey};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (u, v) = (self.share().max(1e-300), self.share());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    fn anywhere(&mut self) -> (f64, f64) {
        ((2.0 * self.share() - 1.0).asin().to_degrees(), self.share() * 360.0 - 180.0)
    }
}

/// Latitude, longitude and people of cities, with the sum of people up to each.
fn cities(path: Option<&str>, random: &mut Random) -> Vec<(f64, f64, f64, f64)> {
    let places: Vec<(f64, f64, f64)> = match path {
        None => (0..1_000)
            .map(|_| {
                let (lat, lon) = random.anywhere();
                (lat, lon, 15_000.0 / random.share().max(1e-3))
            })
            .collect(),
        Some(path) => {
            let table = std::fs::read_to_string(path).expect("a table of cities");
            let row = |line: &str| {
                let cells: Vec<&str> = line.split('\t').collect();
                let number = |at: usize| cells[at].parse::<f64>().unwrap_or(0.0);
                (number(4), number(5), number(14).max(15_000.0))
            };
            table.lines().map(row).collect()
        }
    };
    let mut sum = 0.0;
    let with_sum = |(lat, lon, people)| {
        sum += people;
        (lat, lon, people, sum)
    };
    places.into_iter().map(with_sum).collect()
}

fn points(n: usize, path: Option<&str>) -> Vec<GeoPoint> {
    let mut random = Random(88_172_645_463_325_252);
    let cities = cities(path, &mut random);
    let all = cities.last().map_or(0.0, |it| it.3);
    let point = |_| {
        let (lat, lon) = if random.share() < 0.1 {
            random.anywhere()
        } else {
            let wanted = random.share() * all;
            let at = cities.partition_point(|city| city.3 < wanted).min(cities.len() - 1);
            let (lat, lon, people, _) = cities[at];
            let spread = 0.02 * (people / 15_000.0).powf(0.4);
            let east = random.normal() * spread / lat.to_radians().cos().max(0.05);
            ((lat + random.normal() * spread).clamp(-90.0, 90.0), lon + east)
        };
        GeoPoint::new(lat, (lon + 540.0).rem_euclid(360.0) - 180.0).expect("a point")
    };
    (0..n).map(point).collect()
}

/// Sets that a document may be in, each with one of so many.
const SETS: [(&str, u64); 3] = [("tenth", 10), ("percent", 100), ("permille", 1_000)];

/// An index of the points, the seconds that it took, and the points of each set.
fn index(points: &[GeoPoint]) -> (Index, f64, [Vec<GeoPoint>; 3]) {
    let field = Field::new("p", FieldKind::Point { array: None }).stored(false);
    let set = Field::new("set", FieldKind::Keyword).many(true).stored(false);
    let number = Field::new("number", FieldKind::U64).stored(false);
    let schema = Schema::builder().field(field).field(set).field(number).build().expect("a schema");
    let mut random = Random(99);
    let index = Index::in_memory(schema);
    let started = Instant::now();
    let mut writer = index.writer().expect("a writer");
    let mut sets = [(); 3].map(|()| vec![]);
    for point in points {
        let mut document = Document::new().with("p", *point).with("number", random.next() >> 40);
        for ((set, n), points) in SETS.iter().zip(&mut sets) {
            if random.next().is_multiple_of(*n) {
                document.push("set", *set);
                points.push(*point);
            }
        }
        writer.add(document).expect("a document");
    }
    writer.commit().expect("a commit");
    writer.merge_to(1).expect("a merge");
    drop(writer);
    (index, started.elapsed().as_secs_f64(), sets)
}

/// Metres from a point within which there are so many of some points.
fn radius(points: &[GeoPoint], center: GeoPoint, n: usize) -> f64 {
    let mut distances: Vec<f64> = points.iter().map(|point| center.distance(*point)).collect();
    *distances.select_nth_unstable_by(n.max(1) - 1, f64::total_cmp).1
}

fn circle(radius: f64, center: GeoPoint) -> GeoArea {
    GeoArea::circle(format!("{radius:.3}m").parse().expect("a distance"), center)
}

/// A polygon of 1,000 corners that winds around a circle; none near a pole.
fn polygon(radius: f64, center: GeoPoint) -> Option<GeoArea> {
    let degrees = (radius / EARTH_RADIUS_M).to_degrees();
    if center.lat().abs() + 1.2 * degrees > 80.0 {
        return None;
    }
    let corner = |nth: u32| {
        let angle = std::f64::consts::TAU * f64::from(nth) / 1_000.0;
        let far = degrees * (1.0 + 0.15 * (20.0 * angle).sin());
        let lat = center.lat() + far * angle.sin();
        GeoVertex { lon: center.lon() + far * angle.cos() / lat.to_radians().cos(), lat }
    };
    Some(GeoArea::polygon([(0..1_000).map(corner).collect::<Vec<_>>()]).expect("a polygon"))
}

fn find<'n>(node: &'n ExplainNode, operator: &str) -> Option<&'n ExplainNode> {
    if node.operator.name() == operator {
        return Some(node);
    }
    node.children.iter().find_map(|child| find(child, operator))
}

/// Least nanoseconds of whole searches as planned and by the column, and of planning; the bounds and the q-error of the estimate.
fn measure(searcher: &Searcher, query: &Query) -> (u64, u64, f64) {
    let tree = searcher.search(query).limit(10).explainer().what_if().expect("a plan");
    let scan = find(&tree.plan, "GeoScan").expect("a scan of points");
    let rule =
        |it: &&treepie::explain::Decision| it.rule == "pages of points" || it.rule == "points last";
    let decision = scan.decisions.iter().find(rule).expect("a decision on pages");
    let other = decision.alternative.as_ref().and_then(|it| it.measured_ns);
    let (found, expected) = (searcher.count(query).expect("a count"), scan.estimate.documents);
    let (found, expected) = (found.max(1) as f64, expected.max(1) as f64);
    let (chosen, other) = (decision.measured_ns.unwrap_or(0), other.unwrap_or(0));
    (chosen, other, (found / expected).max(expected / found))
}

/// Least nanoseconds of five runs, or as many as take a fiftieth of a second.
fn least_ns(mut run: impl FnMut()) -> u64 {
    let (mut least, mut all) = (u64::MAX, 0);
    for n in 1.. {
        let started = Instant::now();
        run();
        let ns = started.elapsed().as_nanos() as u64;
        (least, all) = (least.min(ns), all + ns);
        if n >= 5 && all >= 20_000_000 {
            break;
        }
    }
    least
}

/// The ten nearest of all, and of a tenth, a hundredth and a thousandth, beside circles that have ten of them.
fn nearest(searcher: &Searcher, points: &[GeoPoint], sets: &[Vec<GeoPoint>; 3]) {
    let mut random = Random(4_242);
    let (mut circles, mut times, mut by_number) = ([0; 4], [0; 4], [0; 4]);
    for _ in 0..12 {
        let center = points[(random.next() % points.len() as u64) as usize];
        for nth in 0..4 {
            let (query, of) = match nth {
                0 => (Query::All, points),
                nth => (Query::value("set", SETS[nth - 1].0), &sets[nth - 1][..]),
            };
            let area = Query::within_area("p", circle(radius(of, center, 10), center));
            let around = if nth == 0 { area } else { Query::And(vec![area, query.clone()]) };
            let around = searcher.search(&around).limit(10);
            circles[nth] += least_ns(|| drop(around.clone().run().expect("hits")));
            let search = searcher.search(&query).limit(10);
            let near = search.clone().sort([SortKey::near("p", center)]);
            times[nth] += least_ns(|| drop(near.clone().run().expect("hits")));
            let number = search.sort([SortKey::ascending("number")]);
            by_number[nth] += least_ns(|| drop(number.clone().run().expect("hits")));
        }
    }
    let us = |ns: u64| format!("{:.0} µs", ns as f64 / 12e3);
    println!("nearest ten of all, 10 %, 1 %, 0.1 %: {}", times.map(us).join(", "));
    println!("circles that have ten of them:        {}", circles.map(us).join(", "));
    println!("first ten of them by a number:        {}", by_number.map(us).join(", "));
}

/// Searches of polygons beside those of the circles that they wind around.
fn polygons(searcher: &Searcher, points: &[GeoPoint]) {
    for share in [1e-3, 1e-2] {
        let mut random = Random(4_242);
        let (mut times, mut n) = ([0; 2], [0; 2]);
        for _ in 0..12 {
            let center = points[(random.next() % points.len() as u64) as usize];
            let radius = radius(points, center, (points.len() as f64 * share) as usize);
            let Some(polygon) = polygon(radius, center) else { continue };
            for (nth, area) in [circle(radius, center), polygon].into_iter().enumerate() {
                let query = Query::within_area("p", area);
                let search = searcher.search(&query).limit(10);
                times[nth] += least_ns(|| drop(search.clone().run().expect("hits")));
                n[nth] += searcher.count(&query).expect("a count");
            }
        }
        let ([circles, polygons], [of_circles, of_polygons]) = (times, n);
        println!(
            "polygons of 1,000 corners around {:.1} %: {:.2} times the circles, with {:.2} times as many points",
            share * 100.0,
            polygons as f64 / circles as f64,
            of_polygons as f64 / of_circles as f64
        );
    }
}

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    let n = arguments.first().map_or(10_000_000, |n| n.parse().expect("a number of points"));
    let points = points(n, arguments.get(1).map(String::as_str));
    let (index, seconds, sets) = index(&points);
    println!("{n} points, built in {seconds:.1} s");
    for part in &index.inspect().expect("an inspection").storage().expect("parts").parts {
        println!("  {:<20} {:>6.2} B a point", part.part, part.bytes as f64 / n as f64);
    }
    let searcher = index.searcher().expect("a searcher");
    nearest(&searcher, &points, &sets);
    polygons(&searcher, &points);
    println!("share     by pages  by column     ratio   count  estimate off by (median)");
    for share in [1e-5, 1e-3, 1e-2, 1e-1] {
        let mut random = Random(4_242);
        let (mut pages, mut column, mut counted, mut errors) = (0, 0, 0, vec![]);
        for _ in 0..12 {
            let center = points[(random.next() % n as u64) as usize];
            let radius = radius(&points, center, (n as f64 * share) as usize);
            let query = Query::within_area("p", circle(radius, center));
            let (chosen, other, error) = measure(&searcher, &query);
            counted += least_ns(|| assert!(searcher.count(&query).is_ok()));
            (pages, column) = (pages + chosen, column + other);
            errors.push(error);
        }
        errors.sort_by(f64::total_cmp);
        let us = |ns: u64| ns as f64 / 12e3;
        println!(
            "{:>6.3} %  {:>6.0} µs  {:>6.0} µs  1/{:<6.0}  {:>5.0} µs  {:.2}",
            share * 100.0,
            us(pages),
            us(column),
            column as f64 / pages.max(1) as f64,
            us(counted),
            errors[6]
        );
    }
}
