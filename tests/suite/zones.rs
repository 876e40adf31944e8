//! Facets by intervals of a time zone, and queries of its days, compared with what jiff says of each document.

use crate::random::Random;
use jiff::ToSpan;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use std::collections::{BTreeMap, BTreeSet};
use treepie::value::{Dates, Interval, Zone};
use treepie::{
    Document, ErrorKind, Facet, Field, FieldKind, Index, Schema, Searcher, Timestamp, Value,
};

const ZONES: [&str; 4] = ["Europe/Berlin", "America/Sao_Paulo", "Pacific/Apia", "Asia/Kathmandu"];
const INTERVALS: [Interval; 4] = [Interval::Year, Interval::Month, Interval::Day, Interval::Hour];
const HOUR: i64 = 3_600_000_000;

fn jiff_zone(name: &str) -> TimeZone {
    TimeZoneDatabase::bundled().get(name).unwrap()
}

/// Dates of a document in microseconds, many of them near a change of clocks.
fn any_dates(changes: &[i64], random: &mut Random) -> Vec<i64> {
    let any = |random: &mut Random| match random.below(3) {
        0 => changes[random.below(changes.len())] + (random.below(60) as i64 - 30) * HOUR / 6,
        1 => 1_300_000_000_000_000 + random.below(400 * 24) as i64 * HOUR,
        _ => 1_300_000_000_000_000 + random.below(20) as i64 * HOUR,
    };
    (0..random.below(4)).map(|_| any(random)).collect()
}

/// The same documents as one segment and as several, and with deletes: those of every seventh.
fn searchers(items: &[Vec<i64>]) -> Vec<(Searcher, Vec<bool>)> {
    let date = Field::new("date", FieldKind::Date).many(true);
    let schema = || Schema::builder().field(date.clone()).key("id").build().unwrap();
    let document = |id: usize| {
        let document = Document::new().with("id", id.to_string());
        let value = |micros: &i64| Value::Date(Timestamp::from_micros(*micros).unwrap());
        items[id].iter().fold(document, |document, micros| document.with("date", value(micros)))
    };
    let (one, several) = (Index::in_memory(schema()), Index::in_memory(schema()));
    let (mut writer, mut parts) = (one.writer().unwrap(), several.writer().unwrap());
    for id in 0..items.len() {
        writer.add(document(id)).unwrap();
        parts.add(document(id)).unwrap();
        if id % 900 == 899 {
            parts.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    (0..items.len()).step_by(7).for_each(|id| parts.delete_key(id.to_string()).unwrap());
    parts.commit().unwrap();
    let left = (0..items.len()).map(|id| id % 7 > 0).collect();
    vec![(one.searcher().unwrap(), vec![true; items.len()]), (several.searcher().unwrap(), left)]
}

/// Where the interval of a moment begins, as jiff has it.
fn start(micros: i64, interval: Interval, zone: &TimeZone) -> i64 {
    let at = jiff::Timestamp::from_microsecond(micros).unwrap().to_zoned(zone.clone());
    let day = match interval {
        Interval::Year => at.first_of_year().unwrap(),
        Interval::Month => at.first_of_month().unwrap(),
        Interval::Day => at,
        // All of these zones change by whole hours.
        _ => {
            let into = i64::from(at.minute()) * 60 + i64::from(at.second());
            return micros - micros.rem_euclid(1_000_000) - into * 1_000_000;
        }
    };
    day.start_of_day().unwrap().timestamp().as_microsecond()
}

#[test]
fn days_of_a_zone_count_and_match_what_its_clocks_say() {
    let mut random = Random(21);
    for name in ZONES {
        let zone = jiff_zone(name);
        let from: jiff::Timestamp = "2011-01-01T00:00:00Z".parse().unwrap();
        let changes: Vec<i64> =
            zone.following(from).take(6).map(|it| it.timestamp().as_microsecond()).collect();
        let changes = if changes.is_empty() { vec![from.as_microsecond()] } else { changes };
        let items: Vec<_> = (0..3_000).map(|_| any_dates(&changes, &mut random)).collect();
        for (searcher, left) in searchers(&items) {
            let left = || items.iter().zip(&left).filter(|(_, left)| **left).map(|(item, _)| item);
            for interval in INTERVALS {
                let of_zone: Zone = name.parse().unwrap();
                // Of all, so that intervals are made before, and of few, so that they are not.
                let few = Timestamp::from_micros(changes[0]).unwrap();
                for (text, is_in) in
                    [("*".to_owned(), None), (format!("date:\"{few}\""), Some(changes[0]))]
                {
                    let mut expected: BTreeMap<i64, u64> = BTreeMap::new();
                    for item in left() {
                        let is_at =
                            |at: i64| item.iter().any(|it| (at..at + 1_000_000).contains(it));
                        let matches = is_in.is_none_or(is_at);
                        let starts = item.iter().map(|at| start(*at, interval, &zone));
                        for start in starts.filter(|_| matches).collect::<BTreeSet<_>>() {
                            *expected.entry(start).or_default() += 1;
                        }
                    }
                    let query = searcher.parse(&text).unwrap();
                    let facet = Facet::date_histogram_in("date", interval, of_zone.clone());
                    let page = searcher.search(&query).limit(0).with_facet(facet).run().unwrap();
                    let buckets = page.facets[0].buckets.iter();
                    let found: Vec<_> = buckets
                        .map(|bucket| match &bucket.from {
                            Some(Value::Date(from)) => (from.as_micros(), bucket.count),
                            other => panic!("{other:?}"),
                        })
                        .collect();
                    assert!(expected.into_iter().eq(found), "{text} by {interval} of {name}");
                }
            }
            // Queries of its days.
            for _ in 0..40 {
                let near = changes[random.below(changes.len())] + random.below(96) as i64 * HOUR
                    - 48 * HOUR;
                let near = jiff::Timestamp::from_microsecond(near).unwrap();
                let day = near.to_zoned(zone.clone()).start_of_day().unwrap();
                let next = day.checked_add(1.day()).unwrap().start_of_day().unwrap();
                let day_has = |at: &i64| {
                    (day.timestamp().as_microsecond()..next.timestamp().as_microsecond())
                        .contains(at)
                };
                let expected = left().filter(|item| item.iter().any(day_has)).count() as u64;
                let dates =
                    Dates::new().now(Timestamp::from_micros(near.as_microsecond()).unwrap());
                let dates = dates.zone(name.parse().unwrap());
                for text in [format!("date:{}", day.date()), "date:now/d".to_owned()] {
                    let query =
                        searcher.parse(&text).unwrap().at(searcher.schema(), &dates).unwrap();
                    assert_eq!(
                        searcher.count(&query).unwrap(),
                        expected,
                        "{text} in {name}: {query}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_query_without_a_now_is_refused_wherever_it_is_asked() {
    let date = Field::new("date", FieldKind::Date);
    let index = Index::in_memory(Schema::builder().field(date).build().unwrap());
    let mut writer = index.writer().unwrap();
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("date:<now-7d").unwrap();
    for error in [searcher.count(&query).unwrap_err(), writer.delete(&query).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Query);
        assert!(error.to_string().contains("when now is"), "{error}");
    }
    let query = query.at(searcher.schema(), &Dates::new().now(Timestamp::default())).unwrap();
    writer.add(Document::new().with("date", "1960")).unwrap();
    writer.delete(&query).unwrap();
    assert_eq!(writer.commit().unwrap().documents, 0);
    let plan = searcher.search(&query);
    let zone = "Europe/Berlin".parse().unwrap();
    let plan =
        plan.with_facet(Facet::date_histogram_in("date", Interval::Day, zone)).explain().unwrap();
    assert!(plan.to_string().contains("by day of Europe/Berlin"), "{plan}");
}

#[test]
fn dates_of_a_field_are_read_in_its_zone_unless_they_say_another() {
    let date = |name: &str| Field::new(name, FieldKind::Date);
    let schema = Schema::builder()
        .field(date("there").zone("Europe/Berlin"))
        .field(date("utc"))
        .key("id")
        .build()
        .unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for (id, text) in
        ["2024-03-31", "2024-03-31T03:00", "2024-03-31T03:00Z"].into_iter().enumerate()
    {
        let document = Document::new().with("id", id.to_string());
        writer.add(document.with("there", text).with("utc", text)).unwrap();
    }
    for (text, words) in [("2024-03-31T02:30", "clocks of Europe/Berlin"), ("now", "found 'now'")] {
        let document = Document::new().with("id", "9").with("there", text);
        let error = writer.add(document).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Document);
        let message = error.to_string();
        assert!(message.contains("field 'there'") && message.contains(words), "{message}");
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let page = searcher.search(&treepie::query::Query::All).run().unwrap();
    let there = page.hits.iter().map(|hit| hit.fields["there"].to_string());
    assert!(there.eq(["2024-03-30T23:00:00Z", "2024-03-31T01:00:00Z", "2024-03-31T03:00:00Z"]));
    let (utc, none) = (Dates::new().zone(Zone::utc()), Dates::new());
    for (text, as_it_is, in_utc) in [
        ("there:2024-03-31", 3, 2),
        ("there:2024-03-31T03", 1, 1),
        ("there:<2024-03-31T03:00", 1, 2),
        ("there:<2024-03-31T03:00Z", 2, 2),
        ("utc:2024-03-31", 3, 3),
        ("{there utc}:2024-03-30", 0, 1),
    ] {
        let query = searcher.parse(text).unwrap();
        assert_eq!(searcher.count(&query).unwrap(), as_it_is, "{text}");
        for (dates, expected) in [(&none, as_it_is), (&utc, in_utc)] {
            let query = query.at(searcher.schema(), dates).unwrap();
            assert_eq!(searcher.count(&query).unwrap(), expected, "{text} {dates:?}");
        }
    }
    let query = searcher.parse("*").unwrap();
    let ranges = ["..2024-03-31T03:00".parse().unwrap()];
    let page = searcher.search(&query).with_facet(Facet::ranges("there", ranges)).run().unwrap();
    assert_eq!(page.facets[0].buckets[0].count, 1);
    writer.delete_value("there", "2024-03-31T03:00:00.000000").unwrap();
    assert_eq!(writer.commit().unwrap().documents, 2);
    let lost = Schema::builder().field(date("d").zone("Mars/Olympus")).build().unwrap();
    let index = Index::in_memory(lost);
    let error = index.writer().unwrap().add(Document::new().with("d", "2024")).unwrap_err();
    assert!(error.to_string().contains("'Mars/Olympus'"), "{error}");
}

#[test]
fn what_a_clock_shows_is_read_as_the_same_moment() {
    let moments = [
        "1850-06-01T00:00:00Z", // the time of the sun
        "1995-03-26T00:59:59.000001Z",
        "2024-10-27T00:30:00Z", // the hour that comes twice
        "2024-10-27T01:30:00Z",
        "-009999-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999Z",
    ];
    for zone in ["UTC", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns", "-12:00", "+14:00"] {
        let zone: Zone = zone.parse().unwrap();
        for moment in moments {
            let moment: Timestamp = moment.parse().unwrap();
            let shown = zone.format(moment);
            assert_eq!(shown.parse::<Timestamp>().unwrap(), moment, "{shown} of {zone}");
        }
    }
    let berlin: Zone = "Europe/Berlin".parse().unwrap();
    let shown = moments.map(|moment| berlin.format(moment.parse().unwrap()));
    assert_eq!(shown[1], "1995-03-26T01:59:59.000001+01:00");
    assert_eq!(shown[2..4], ["2024-10-27T02:30:00+02:00", "2024-10-27T02:30:00+01:00"]);
}
