//! What does a circle cost by pages of points, and by comparing the points of all documents?
//!
//! `cargo bench --bench points -- [POINTS [CITIES]]`: so many points, 10 million unless said otherwise, nine tenths around cities by
//! their population, the rest anywhere on the globe. CITIES is a table of GeoNames (`cities15000.txt`); without one, cities are a thousand
//! places anywhere. Documents lie in random order. Each line is about circles with so many of all points, around twelve of them, on one
//! thread: the least time of several runs of whole searches, which the tree of the plan has both ways of. Ten nearest points are
//! found beside them, of what a keyword has, too, and the first ten by a number.

use std::time::Instant;
use treepie::explain::ExplainNode;
use treepie::geo::{GeoArea, GeoPoint};
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

fn index(points: &[GeoPoint]) -> (Index, f64) {
    let field = Field::new("p", FieldKind::Point { array: None }).stored(false);
    let set = Field::new("set", FieldKind::Keyword).many(true).stored(false);
    let number = Field::new("number", FieldKind::U64).stored(false);
    let schema = Schema::builder().field(field).field(set).field(number).build().expect("a schema");
    let mut random = Random(99);
    let index = Index::in_memory(schema);
    let started = Instant::now();
    let mut writer = index.writer().expect("a writer");
    for point in points {
        let mut document = Document::new().with("p", *point).with("number", random.next() >> 40);
        for (set, n) in [("tenth", 10), ("percent", 100), ("permille", 1_000)] {
            if random.next().is_multiple_of(n) {
                document.push("set", set);
            }
        }
        writer.add(document).expect("a document");
    }
    writer.commit().expect("a commit");
    writer.merge_to(1).expect("a merge");
    drop(writer);
    (index, started.elapsed().as_secs_f64())
}

/// The circle around a point that has so many of all points.
fn circle(points: &[GeoPoint], center: GeoPoint, n: usize) -> GeoArea {
    let mut distances: Vec<f64> = points.iter().map(|point| center.distance(*point)).collect();
    let (_, radius, _) = distances.select_nth_unstable_by(n.max(1) - 1, f64::total_cmp);
    GeoArea::circle(format!("{radius:.3}m").parse().expect("a distance"), center)
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

/// Least nanoseconds of five runs.
fn least_ns(mut run: impl FnMut()) -> u64 {
    let once = |_| {
        let started = Instant::now();
        run();
        started.elapsed().as_nanos() as u64
    };
    (0..5).map(once).min().unwrap_or(0)
}

/// The ten nearest of all, and of a tenth, a hundredth and a thousandth, beside a circle that has ten.
fn nearest(searcher: &Searcher, points: &[GeoPoint]) {
    let mut random = Random(4_242);
    let (mut circles, mut times, mut by_number) = (0, [0; 4], [0; 4]);
    for _ in 0..12 {
        let center = points[(random.next() % points.len() as u64) as usize];
        let query = Query::within_area("p", circle(points, center, 10));
        circles += least_ns(|| drop(searcher.search(&query).limit(10).run().expect("hits")));
        let sets = ["", "tenth", "percent", "permille"];
        for ((set, time), other) in sets.iter().zip(&mut times).zip(&mut by_number) {
            let query = if set.is_empty() { Query::All } else { Query::value("set", *set) };
            let search = searcher.search(&query).limit(10);
            let near = search.clone().sort([SortKey::near("p", center)]);
            *time += least_ns(|| drop(near.clone().run().expect("hits")));
            let number = search.sort([SortKey::ascending("number")]);
            *other += least_ns(|| drop(number.clone().run().expect("hits")));
        }
    }
    let us = |ns: u64| format!("{:.0} µs", ns as f64 / 12e3);
    println!("circle of ten points: {}", us(circles));
    println!("nearest ten of all, 10 %, 1 %, 0.1 %: {}", times.map(us).join(", "));
    println!("first ten of them by a number:        {}", by_number.map(us).join(", "));
}

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|it| !it.starts_with("--")).collect();
    let n = arguments.first().map_or(10_000_000, |n| n.parse().expect("a number of points"));
    let points = points(n, arguments.get(1).map(String::as_str));
    let (index, seconds) = index(&points);
    println!("{n} points, built in {seconds:.1} s");
    for part in &index.inspect().expect("an inspection").storage().expect("parts").parts {
        println!("  {:<20} {:>6.2} B a point", part.part, part.bytes as f64 / n as f64);
    }
    let searcher = index.searcher().expect("a searcher");
    nearest(&searcher, &points);
    println!("share     by pages  by column     ratio   count  estimate off by (median)");
    for share in [1e-5, 1e-3, 1e-2, 1e-1] {
        let mut random = Random(4_242);
        let (mut pages, mut column, mut counted, mut errors) = (0, 0, 0, vec![]);
        for _ in 0..12 {
            let center = points[(random.next() % n as u64) as usize];
            let query =
                Query::within_area("p", circle(&points, center, (n as f64 * share) as usize));
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
