//! Facets of ranges that are given, that suit, or that part what matches into equal counts.

use treepie::facet::{FacetMethod, FacetRange, Interval, ValueFacet};
use treepie::{Document, ErrorKind, Facet, Field, FieldKind, Index, Schema, Timestamp, Value};

#[test]
fn values_of_numbers_can_lie_in_a_range() {
    let price = Field::new("price", FieldKind::Decimal { scale: 2 });
    let plain = Field::new("plain", FieldKind::I64).column(false);
    let schema = Schema::builder().field(price).field(plain).keyword("name").build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for (nth, price) in [10i64, -5, 300, -5, 10, 10, 7].into_iter().enumerate() {
        if nth == 3 {
            writer.commit().unwrap();
        }
        writer.add(Document::new().with("price", price).with("plain", price)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("*").unwrap();
    let some = searcher.parse("plain:>-100 AND price:<1000").unwrap();
    let counts = |query, facet: ValueFacet| {
        let page = searcher.search(query).with_facet(facet).run().unwrap();
        let shown = page.facets[0].buckets.iter().map(|it| (it.value.to_string(), it.count));
        shown.collect::<Vec<_>>()
    };
    let (from, to) = (|from: &str| Some(from.to_owned()), |to: &str| Some(to.to_owned()));
    for (between, expected) in [
        (FacetRange::new(from("-5"), to("10")), vec![("-5", 2), ("7", 1)]),
        (FacetRange::new(from("7"), None::<&str>), vec![("10", 3), ("7", 1), ("300", 1)]),
        (FacetRange::new(None::<&str>, to("7")), vec![("-5", 2)]),
        (FacetRange::new(from("10"), to("7")), vec![]),
        (FacetRange::default(), vec![("10", 3), ("-5", 2), ("7", 1), ("300", 1)]),
    ] {
        for (field, method) in [
            ("price", None),
            ("price", Some(FacetMethod::Column)),
            ("price", Some(FacetMethod::Dictionary)),
            ("plain", None),
        ] {
            let facet = Facet::values(field).between(between.clone());
            let facet = method.into_iter().fold(facet, ValueFacet::method);
            let zeros = if field == "price" { ".00" } else { "" };
            let expected: Vec<_> =
                expected.iter().map(|(value, count)| (format!("{value}{zeros}"), *count)).collect();
            for query in [&query, &some] {
                assert_eq!(counts(query, facet.clone()), expected, "{between} of {field}");
            }
        }
    }
    let refused = |facet: ValueFacet, words: &str| {
        let error = searcher.search(&query).with_facet(facet).run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains(words), "{error}");
    };
    refused(Facet::values("name").between(..5), "a field of numbers or dates");
    refused(
        Facet::values("price").between(FacetRange::new(from("cheap"), None::<&str>)),
        "found 'cheap'",
    );
    let tree = searcher.search(&query).with_facet(Facet::values("price").minimum(0).between(5..9));
    let said = tree.explain().unwrap().facets[0].options.clone().unwrap();
    assert_eq!(said, "of no documents, too, between 5..9");
}

/// Ranges that suit are few, of one width, and count what steps of that width do.
#[test]
fn ranges_that_suit_are_steps_or_intervals() {
    let fields = [("whole", FieldKind::I64), ("part", FieldKind::F64), ("day", FieldKind::Date)];
    let mut random = crate::random::Random(5);
    for spread in [1usize, 3, 40, 5_000, 1 << 40] {
        let schema = fields
            .into_iter()
            .fold(Schema::builder(), |schema, (name, kind)| schema.field(Field::new(name, kind)));
        let index = Index::in_memory(schema.build().unwrap());
        let mut writer = index.writer().unwrap();
        for nth in 0..200 {
            let whole = random.below(spread) as i64 - (spread / 3) as i64;
            let days = Timestamp::from_micros((whole % 2_000_000) * 86_400_000_000).unwrap();
            let part = whole as f64 * 0.37;
            let document = Document::new().with("whole", whole).with("part", part);
            let document = document.with("day", days);
            writer.add(if nth % 10 == 0 { Document::new() } else { document }).unwrap();
        }
        writer.commit().unwrap();
        let searcher = index.searcher().unwrap();
        let query = searcher.parse("*").unwrap();
        for ((field, _), n) in fields.into_iter().flat_map(|it| [2, 5, 30, 1_024].map(|n| (it, n)))
        {
            let facet = Facet::auto_ranges(field, n);
            let counts = searcher.search(&query).with_facet(facet).run().unwrap().facets.remove(0);
            let what = format!("{n} of {field}, {spread}: {counts:?}");
            assert!((1..=n).contains(&counts.buckets.len()), "{what}");
            let sum: u64 = counts.buckets.iter().map(|bucket| bucket.count).sum();
            assert_eq!((sum, counts.missing), (180, 20), "{what}");
            let ranges = counts.buckets.iter().map(|it| (it.from.clone(), it.to.clone()));
            let ranges = ranges.map(|(from, to)| FacetRange { from, to });
            let page =
                searcher.search(&query).with_facet(Facet::ranges(field, ranges)).run().unwrap();
            let again: Vec<_> = page.facets[0].buckets.iter().map(|bucket| bucket.count).collect();
            let first: Vec<_> = counts.buckets.iter().map(|bucket| bucket.count).collect();
            assert_eq!(first, again, "{what}");
            let whole = |value: &Option<Value>| match value {
                Some(Value::I64(number)) => Some(*number),
                _ => None,
            };
            for bucket in &counts.buckets {
                let Some((from, to)) = whole(&bucket.from).zip(whole(&bucket.to)) else { continue };
                let width = (to - from).to_string();
                let (digit, zeros) = width.split_at(1);
                assert!("125".contains(digit) && zeros.chars().all(|c| c == '0'), "{what}");
                assert_eq!(from.rem_euclid(to - from), 0, "{what}");
            }
        }
        for (facet, words) in [
            (Facet::auto_ranges("whole", 1), "2 to 1024 ranges, found 1"),
            (Facet::auto_ranges("whole", 5_000), "found 5000"),
        ] {
            let error = searcher.search(&query).with_facet(facet).run().unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        }
        let none = searcher.parse("whole:>1000000000000000").unwrap();
        let page = searcher.search(&none).with_facet(Facet::auto_ranges("part", 3)).run().unwrap();
        assert!(page.facets[0].buckets.is_empty());
    }
}

/// Many years are parted at their multiples, whatever the first is; what has no date is left out.
#[test]
fn ranges_of_years_are_of_one_length_and_begin_at_multiples() {
    let schema = Schema::builder().field(Field::new("day", FieldKind::Date)).build().unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for year in [1987, 1999, 2000, 2001, 2023] {
        writer.add(Document::new().with("day", format!("{year}-07-05"))).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let query = searcher.parse("*").unwrap();
    for (n, expected) in [
        (5, &[(1980, 1990, 1), (1990, 2000, 1), (2000, 2010, 2), (2020, 2030, 1)][..]),
        (4, &[(1980, 2000, 2), (2000, 2020, 2), (2020, 2040, 1)]),
        (2, &[(1950, 2000, 2), (2000, 2050, 3)]),
    ] {
        let facet = Facet::auto_ranges("day", n);
        let page = searcher.search(&query).with_facet(facet).run().unwrap();
        let year = |value: &Option<Value>| -> i64 {
            value.as_ref().unwrap().to_string()[..4].parse().unwrap()
        };
        let found =
            page.facets[0].buckets.iter().map(|it| (year(&it.from), year(&it.to), it.count));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{n}");
    }
}

/// Quantiles have all values between them, about as many each, and as near to that as values allow.
#[test]
fn quantiles_part_what_matches_into_equal_counts() {
    let kinds = [("whole", FieldKind::I64), ("part", FieldKind::F64), ("day", FieldKind::Date)];
    let mut random = crate::random::Random(77);
    for (spread, n_docs) in [(1, 50), (7, 500), (1 << 30, 4_000), (1 << 30, 3)] {
        let schema =
            kinds.into_iter().fold(Schema::builder().keyword("is"), |schema, (name, kind)| {
                schema.field(Field::new(name, kind))
            });
        let index = Index::in_memory(schema.build().unwrap());
        let mut writer = index.writer().unwrap();
        let mut values = vec![];
        for nth in 0..n_docs {
            let value = random.below(spread) as i64 - 3;
            let document = Document::new().with("whole", value).with("part", value as f64 / 8.0);
            let document = document.with("day", Timestamp::from_micros(value).unwrap());
            writer.add(document.with("is", if nth % 2 == 0 { "even" } else { "odd" })).unwrap();
            writer.add(Document::new().with("is", "none")).unwrap();
            values.push((nth % 2 == 0, value));
            if nth == 1_000 {
                writer.commit().unwrap();
            }
        }
        writer.commit().unwrap();
        let searcher = index.searcher().unwrap();
        for (query, only_even) in [("*", false), ("is:even", true)] {
            let query = searcher.parse(query).unwrap();
            let mut values: Vec<i64> = values
                .iter()
                .filter(|(is_even, _)| *is_even || !only_even)
                .map(|(_, value)| *value)
                .collect();
            values.sort_unstable();
            let of_one = values.chunk_by(|a, b| a == b).map(<[i64]>::len).max().unwrap();
            for ((field, _), n) in kinds.into_iter().flat_map(|it| [2, 4, 10].map(|n| (it, n))) {
                let facet = Facet::quantiles(field, n);
                let page = searcher.search(&query).with_facet(facet).run().unwrap();
                let counts = &page.facets[0];
                let what = format!("{n} of {field}, {spread}: {counts:?}");
                let found: Vec<_> = counts.buckets.iter().map(|bucket| bucket.count).collect();
                assert_eq!(found.iter().sum::<u64>(), values.len() as u64, "{what}");
                assert!((1..=n).contains(&found.len()), "{what}");
                let (first, last) = (&counts.buckets[0], counts.buckets.last().unwrap());
                assert!(first.from.is_none() && last.to.is_none(), "{what}");
                assert!(counts.buckets.windows(2).all(|two| two[0].to == two[1].from), "{what}");
                // Each end is off by half of the most frequent value at the most.
                let most = values.len() / n + of_one + 1;
                let is_fair = |count: &u64| (1..=most as u64).contains(count);
                assert!(found.iter().all(is_fair), "{most}: {what}");
                if spread > 7 && values.len() > 100 {
                    let fair = (values.len() / n) as u64;
                    assert!(
                        found.len() == n && found.iter().all(|it| it.abs_diff(fair) <= 2),
                        "{what}"
                    );
                }
            }
            let facet = Facet::quantiles("whole", 4);
            let none = searcher.parse("is:none").unwrap();
            let page = searcher.search(&none).with_facet(facet).run().unwrap();
            assert_eq!((page.facets[0].buckets.len(), page.facets[0].missing), (0, n_docs as u64));
        }
        let query = searcher.parse("*").unwrap();
        for (facet, words) in [
            (Facet::quantiles("whole", 1), "counting by quantiles: expected 2 to 1024 ranges"),
            (Facet::quantiles("is", 4), "a field of numbers or dates"),
        ] {
            let error = searcher.search(&query).with_facet(facet).run().unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}

/// Ranges of addresses count what an end tells from the address before it, in each segment by the terms that are there.
#[test]
fn ranges_of_addresses_count_what_lies_between_their_ends() {
    use std::net::{IpAddr, Ipv4Addr};
    let mut random = crate::random::Random(11);
    let from = Field::new("from", FieldKind::Ip).many(true);
    let schema =
        Schema::builder().field(from).keyword("kind").field(Field::new("id", FieldKind::I64));
    let index = Index::in_memory(schema.build().unwrap());
    let mut writer = index.writer().unwrap();
    let mut items: Vec<(Vec<IpAddr>, bool)> = vec![];
    for id in 0..5_000usize {
        // Segments with addresses of one half or the other, of both, and one without any.
        let address = |random: &mut crate::random::Random| -> IpAddr {
            let half = [0, 128, random.below(256), 0][id / 1_250] as u8;
            let low = random.below(40) as u8;
            match random.below(10) {
                0 => format!("2001:db8::{low:x}").parse().unwrap(),
                _ => Ipv4Addr::new(10, half, 0, low).into(),
            }
        };
        let n = if id >= 3_750 { 0 } else { random.below(4) };
        let addresses: Vec<IpAddr> = (0..n).map(|_| address(&mut random)).collect();
        let is_odd = random.below(2) == 1;
        let mut document = Document::new().with("id", id as i64);
        document = document.with("kind", if is_odd { "odd" } else { "even" });
        addresses.iter().for_each(|address| document.push("from", *address));
        items.push((addresses, is_odd));
        writer.add(document).unwrap();
        if id % 1_250 == 1_249 {
            writer.commit().unwrap();
        }
    }
    let every_ninth =
        index.searcher().unwrap().parse("id:[4000 TO 4100] OR id:[100 TO 300]").unwrap();
    writer.delete(&every_ninth).unwrap();
    writer.commit().unwrap();
    let is_left = |id: usize| !(4_000..=4_100).contains(&id) && !(100..=300).contains(&id);
    let searcher = index.searcher().unwrap();
    let number = |text: &str| match text.parse().unwrap() {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    };
    let ranges = [
        ("", ""),
        ("", "10.0.0.0"),
        ("10.0.0.0/9", "10.128.0.0/9"),
        ("10.128.0.0", "10.128.0.20"),
        ("10.0.0.7", "10.0.0.7"),
        ("10.0.0.9", "10.0.0.7"),
        ("2001:db8::/32", ""),
        ("::ffff:10.0.0.5", "2001:db8::5"),
    ];
    let typed = ranges.map(|(from, to)| format!("{from}..{to}").parse::<FacetRange>().unwrap());
    for (text, wanted) in
        [("*", [true, true]), ("kind:odd", [false, true]), ("kind:none", [false; 2])]
    {
        let query = searcher.parse(text).unwrap();
        let facet =
            Facet::ranges("from", typed.clone()).with_facet(Facet::values("kind").by_value());
        let page = searcher.search(&query).with_facet(facet.top_hits(1)).run().unwrap();
        let left = || items.iter().enumerate().filter(|(id, _)| is_left(*id)).map(|(_, it)| it);
        let matching = || left().filter(|(_, is_odd)| wanted[usize::from(*is_odd)]);
        let found = &page.facets[0];
        for ((from, to), bucket) in ranges.iter().zip(&found.buckets) {
            let end = |text: &str| number(text.split('/').next().unwrap());
            let is_in = |address: &IpAddr| {
                let address = number(&address.to_string());
                (from.is_empty() || address >= end(from)) && (to.is_empty() || address < end(to))
            };
            let inside = || matching().filter(|(all, _)| all.iter().any(is_in));
            assert_eq!(bucket.count, inside().count() as u64, "{text} {from}..{to}");
            let odd = inside().filter(|(_, is_odd)| *is_odd).count() as u64;
            let kinds: Vec<_> = bucket.facets[0]
                .buckets
                .iter()
                .map(|it| (it.value.to_string(), it.count))
                .collect();
            let expected = [("even".to_owned(), bucket.count - odd), ("odd".to_owned(), odd)];
            let expected: Vec<_> = expected.into_iter().filter(|(_, count)| *count > 0).collect();
            assert_eq!(kinds, expected, "{text} {from}..{to}");
            assert_eq!(bucket.hits.len(), usize::from(bucket.count > 0));
        }
        // The first range has all that has any.
        assert_eq!(found.other, Some(0));
        assert_eq!(found.missing, matching().filter(|(all, _)| all.is_empty()).count() as u64);
        assert_eq!(found.buckets[2].from.as_ref().unwrap().to_string(), "10.0.0.0");
    }
    let query = searcher.parse("*").unwrap();
    for (range, words) in
        [("10.0.0.1/8..", "as 10.0.0.0/8"), ("..x", "an end of a range of 'from'")]
    {
        let facet = Facet::ranges("from", [range.parse().unwrap()]);
        let error = searcher.search(&query).with_facet(facet).run().unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    let facet = Facet::ranges("kind", [(..5).into()]);
    let error = searcher.search(&query).with_facet(facet).run().unwrap_err();
    assert!(error.to_string().contains("numbers, dates or addresses"), "{error}");
}

/// Sums of document frequencies count ranges where everything matches: plans tell so before a run and after it, with the cost of
/// the column.
#[test]
fn plans_say_whether_ranges_are_counted_by_sums_or_by_the_column() {
    let fields = [Field::new("day", FieldKind::Date), Field::new("n", FieldKind::I64)];
    let schema =
        fields.into_iter().fold(Schema::builder().text("t"), |all, field| all.field(field));
    let index = Index::in_memory(schema.default_fields(["t"]).build().unwrap());
    let mut writer = index.writer().unwrap();
    for nth in 0..20_000 {
        let text = if nth % 2 == 0 { "half" } else { "other" };
        let day = format!("2024-{:02}-{:02}", nth % 12 + 1, nth % 28 + 1);
        writer.add(Document::new().with("t", text).with("day", day).with("n", nth)).unwrap();
    }
    writer.commit().unwrap();
    let searcher = index.searcher().unwrap();
    let facets = [
        Facet::date_histogram("day", Interval::Month),
        Facet::ranges("n", [(..500).into(), (500..15_000).into()]),
        Facet::histogram("n", 5_000),
    ];
    const SUMS: &str = "sums of document frequencies";
    for (text, algorithm, rule) in [
        ("*", SUMS, "count by sums of document frequencies"),
        ("half", "column", "count by the column"),
    ] {
        let query = searcher.parse(text).unwrap();
        for facet in &facets {
            let search = || searcher.search(&query).limit(0).with_facet(facet.clone());
            for tree in [search().explain().unwrap(), search().analyze().unwrap()] {
                let shown = &tree.facets[0];
                let decision = shown.decisions.last().unwrap();
                assert_eq!((&*shown.algorithm, &*decision.rule), (algorithm, rule), "{tree}");
                let other =
                    decision.alternative.as_ref().map(|it| (&*it.name, it.estimated_cost_ns));
                match algorithm {
                    SUMS => {
                        let (name, cost) = other.unwrap();
                        assert!(name == "column" && cost > decision.estimated_cost_ns, "{tree}");
                        let column = shown.actual.and_then(|it| it.column);
                        assert!(column.is_none_or(|it| it.ends_looked_up > 0 && it.documents == 0));
                    }
                    _ => assert_eq!(other, None, "{tree}"),
                }
            }
        }
    }
}
