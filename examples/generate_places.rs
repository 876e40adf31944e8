//! Writes three hundred made-up places near well-known cities, a JSON document a line: name, kind, city, country, location.
//!
//! `cargo run --example generate_places > places.jsonl`
//!
//! The places of `corpus/places.jsonl`: cities are where they are, and each has six places that do not exist, within a few
//! kilometres. Some lie on both sides of 180°, some near a pole. The bytes are the same on every machine.

use std::io::{self, Write};

/// Cities with their countries, latitudes and longitudes, in hundredths of a degree.
const CITIES: [(&str, &str, i32, i32); 50] = [
    ("Paris", "France", 4886, 235),
    ("Lyon", "France", 4576, 484),
    ("Marseille", "France", 4330, 537),
    ("Reims", "France", 4926, 403),
    ("London", "United Kingdom", 5151, -13),
    ("Edinburgh", "United Kingdom", 5595, -319),
    ("Dublin", "Ireland", 5335, -626),
    ("Lisbon", "Portugal", 3872, -914),
    ("Madrid", "Spain", 4042, -370),
    ("Barcelona", "Spain", 4139, 217),
    ("Rome", "Italy", 4190, 1250),
    ("Milan", "Italy", 4546, 919),
    ("Berlin", "Germany", 5252, 1340),
    ("Hamburg", "Germany", 5355, 999),
    ("Munich", "Germany", 4814, 1158),
    ("Vienna", "Austria", 4821, 1637),
    ("Zurich", "Switzerland", 4738, 854),
    ("Amsterdam", "Netherlands", 5237, 490),
    ("Brussels", "Belgium", 5085, 435),
    ("Copenhagen", "Denmark", 5568, 1257),
    ("Oslo", "Norway", 5991, 1075),
    ("Stockholm", "Sweden", 5933, 1807),
    ("Helsinki", "Finland", 6017, 2494),
    ("Warsaw", "Poland", 5223, 2101),
    ("Prague", "Czechia", 5008, 1444),
    ("Budapest", "Hungary", 4750, 1904),
    ("Athens", "Greece", 3798, 2373),
    ("Istanbul", "Türkiye", 4101, 2898),
    ("Cairo", "Egypt", 3004, 3124),
    ("Nairobi", "Kenya", -129, 3682),
    ("Lagos", "Nigeria", 652, 338),
    ("Accra", "Ghana", 560, -19),
    ("Cape Town", "South Africa", -3393, 1842),
    ("Mumbai", "India", 1908, 7288),
    ("Delhi", "India", 2861, 7721),
    ("Bangkok", "Thailand", 1376, 10050),
    ("Singapore", "Singapore", 129, 10385),
    ("Hanoi", "Vietnam", 2103, 10585),
    ("Tokyo", "Japan", 3568, 13969),
    ("Kyoto", "Japan", 3501, 13577),
    ("Seoul", "South Korea", 3757, 12698),
    ("Sydney", "Australia", -3387, 15121),
    ("Auckland", "New Zealand", -3685, 17476),
    ("Suva", "Fiji", -1814, 17844),
    ("Taveuni", "Fiji", -1685, 17999),
    ("New York", "United States", 4071, -7401),
    ("San Francisco", "United States", 3777, -12242),
    ("Mexico City", "Mexico", 1943, -9913),
    ("Buenos Aires", "Argentina", -3460, -5838),
    ("Longyearbyen", "Norway", 7822, 1563),
];
const KINDS: [&str; 6] = ["museum", "library", "market", "station", "garden", "café"];
const NAMES: [&str; 12] = [
    "Lantern",
    "Harbour",
    "Old Mill",
    "Magpie",
    "Cedar",
    "Northern",
    "Glass",
    "Clockmaker's",
    "River",
    "Bellows",
    "Almanac",
    "Thistle",
];

/// Degrees in a turn, in millionths.
const TURN: i64 = 360_000_000;

fn main() -> io::Result<()> {
    match write_places(io::stdout().lock()) {
        // `generate_places | head` is a fine thing to type.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

fn write_places(mut out: impl Write) -> io::Result<()> {
    let mut state = 7_u64;
    // Within about six kilometres, in millionths of a degree.
    let mut off = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64 % 110_000 - 55_000
    };
    for (nth, (city, country, lat, lon)) in CITIES.iter().enumerate() {
        for (mth, kind) in KINDS.iter().enumerate() {
            let name = NAMES[(nth * 5 + mth * 7) % NAMES.len()];
            let lat = i64::from(*lat) * 10_000 + off();
            // Beyond 180° east is the far west.
            let lon = (i64::from(*lon) * 10_000 + off() + TURN / 2).rem_euclid(TURN) - TURN / 2;
            let (lat, lon) = (degrees(lat), degrees(lon));
            writeln!(
                out,
                r#"{{"name": "{name} {kind}", "kind": "{kind}", "city": "{city}", "country": "{country}", "location": {{"lat": {lat}, "lon": {lon}}}}}"#
            )?;
        }
    }
    out.flush()
}

/// Millionths of a degree as degrees.
fn degrees(millionths: i64) -> String {
    let sign = if millionths < 0 { "-" } else { "" };
    let (whole, part) = (millionths.abs() / 1_000_000, millionths.abs() % 1_000_000);
    format!("{sign}{whole}.{part:06}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `corpus/places.jsonl` is what its README says it is, byte for byte.
    #[test]
    fn the_places_of_the_corpus_are_these() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/places.jsonl");
        let mut expected = vec![];
        write_places(&mut expected).unwrap();
        assert!(std::fs::read(path).unwrap() == expected);
        let text = String::from_utf8(expected).unwrap();
        assert_eq!(text.lines().count(), 300);
        assert!(
            text.contains("\"lon\": -179.9") && text.contains("\"lon\": 179.9"),
            "on both sides of 180°"
        );
    }
}
