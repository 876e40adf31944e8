//! The first hits of an order, found by reading lists in the order of a field: compared with all that match, sorted, on every
//! page of a walk.

use crate::random::Random;
use treepie::{After, DocId, Document, Field, FieldKind, Index, Schema, Searcher, SortKey, Value};

const N: usize = 160_000;
/// Documents of the first segment.
const FIRST: usize = 100_000;

struct Item {
    price: i64,
    /// Of nearly all documents.
    rare: Option<i64>,
    word: String,
    marks: Vec<&'static str>,
    left: bool,
}

fn items(random: &mut Random) -> Vec<Item> {
    let item = |at: usize| {
        let price = random.below(3_000) as i64 * random.below(30) as i64;
        let of = [("half", 2), ("tenth", 10), ("hundredth", 100), ("rare", 4_000)];
        let mut marks = random.marks(&of);
        // All of them at either end of the order.
        if (20_000..21_000).contains(&price) {
            marks.push("middle");
        }
        let rare = (random.below(500) > 0).then(|| random.below(50_000) as i64);
        // A tenth of the words in the first segment only.
        let word = match random.below(5_000) {
            nth if at >= FIRST && nth % 10 == 0 => nth + 1,
            nth => nth,
        };
        let word = format!("w{word:04}");
        Item { price, rare, word, marks, left: true }
    };
    (0..N).map(item).collect()
}

fn searcher(items: &mut [Item], deleting: bool) -> Searcher {
    let schema = Schema::builder()
        .field(Field::new("price", FieldKind::I64))
        .field(Field::new("rare", FieldKind::I64))
        .field(Field::new("word", FieldKind::Keyword).column(true))
        .field(Field::new("mark", FieldKind::Keyword).many(true))
        .build()
        .unwrap();
    let index = Index::in_memory(schema);
    let mut writer = index.writer().unwrap();
    for (at, item) in items.iter().enumerate() {
        let mut document = Document::new().with("price", item.price).with("word", &*item.word);
        item.rare.iter().for_each(|value| document.push("rare", *value));
        item.marks.iter().for_each(|mark| document.push("mark", *mark));
        writer.add(document).unwrap();
        if at + 1 == FIRST {
            writer.commit().unwrap();
        }
    }
    writer.commit().unwrap();
    if deleting {
        for price in 0..40 {
            writer.delete_value("price", price * 30).unwrap();
        }
        writer.commit().unwrap();
        for item in items {
            item.left = !(item.price % 30 == 0 && item.price < 1_200);
        }
    }
    index.searcher().unwrap()
}

type RankOf<R> = Box<dyn Fn(&Item) -> R>;

/// By one field or two, in either direction, with what has no value on either side.
fn order(random: &mut Random) -> (Vec<SortKey>, RankOf<Vec<Rank>>) {
    let fields = [["price", "word"], ["rare", "price"], ["word", "rare"]][random.below(3)];
    let fields = &fields[..1 + random.below(2)];
    let mut keys = vec![];
    let mut ranks: Vec<RankOf<Rank>> = vec![];
    for &field in fields {
        let (descending, missing_first) = (random.below(2) == 0, random.below(3) == 0);
        let key = if descending { SortKey::descending(field) } else { SortKey::ascending(field) };
        keys.push(if missing_first { key.missing_first() } else { key });
        ranks.push(Box::new(move |item| {
            let number = match field {
                "price" => Some(item.price),
                "rare" => item.rare,
                _ => Some(item.word[1..].parse().unwrap()),
            };
            match number {
                Some(number) => Rank(1, if descending { -number } else { number }),
                None => Rank(if missing_first { 0 } else { 2 }, 0),
            }
        }));
    }
    (keys, Box::new(move |item| ranks.iter().map(|rank| rank(item)).collect()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank(u8, i64);

#[test]
fn the_first_in_the_order_of_lists_are_those_of_all_that_match() {
    let mut random = Random(41);
    let mut items = items(&mut random);
    let (mut streamed, mut given_up, mut by_columns) = (0, 0, 0);
    for deleting in [false, true] {
        let searcher = searcher(&mut items, deleting);
        for round in 0..240 {
            let mark = ["every", "half", "tenth", "hundredth", "rare", "middle"][round % 6];
            let from = random.below(40_000) as i64;
            let to = from + 1_000 + random.below(20_000) as i64;
            let inside = |value: &Option<i64>| value.is_some_and(|it| (from..=to).contains(&it));
            let range = format!("[{from} TO {to}]");
            type Matches<'m> = Box<dyn Fn(&Item) -> bool + 'm>;
            let has = |item: &Item| item.marks.contains(&mark);
            let (text, matches): (String, Matches<'_>) = match round / 6 % 5 {
                0 => (
                    format!("mark:{mark} AND rare:{range}"),
                    Box::new(|it| has(it) && inside(&it.rare)),
                ),
                1 => (
                    format!("mark:{mark} AND price:{range}"),
                    Box::new(|it| has(it) && inside(&Some(it.price))),
                ),
                2 => (
                    format!("mark:{mark} OR rare:{range}"),
                    Box::new(|it| has(it) || inside(&it.rare)),
                ),
                3 => (
                    format!("mark:{mark} AND NOT rare:{range}"),
                    Box::new(|it| has(it) && !inside(&it.rare)),
                ),
                _ => (format!("mark:{mark}"), Box::new(has)),
            };
            let query = searcher.parse(&text).unwrap();
            let (keys, ranks) = order(&mut random);
            let matching = items.iter().enumerate().filter(|(_, item)| item.left);
            let matching = matching.filter(|(_, item)| matches(item));
            let mut expected: Vec<(Vec<Rank>, usize)> =
                matching.map(|(at, item)| (ranks(item), at)).collect();
            expected.sort();
            let limit = 1 + random.below(20);
            let mut after: Option<(Vec<Value>, DocId)> = None;
            for page in expected.chunks(limit).take(4) {
                let search = || {
                    let search = searcher.search(&query).sort(keys.clone()).limit(limit as u64);
                    match &after {
                        Some((values, doc)) => search.after(After::values(values.clone(), *doc)),
                        None => search,
                    }
                };
                let plan = search().analyze().unwrap();
                let found = search().run().unwrap();
                let docs: Vec<u64> = found.hits.iter().map(|hit| hit.doc.0).collect();
                let wanted: Vec<u64> = page.iter().map(|(_, at)| *at as u64).collect();
                assert_eq!(docs, wanted, "{text} by {keys:?} after {after:?}\n{plan}");
                let last = found.hits.last().unwrap();
                after = Some((last.sort.clone(), last.doc));
                match plan.plan.actual.as_ref().unwrap().streamed {
                    Some(counts) => {
                        (streamed, given_up) =
                            (streamed + counts.segments, given_up + counts.given_up);
                        assert!(counts.candidates <= counts.documents);
                        assert!(plan.to_string().contains("in order"), "{plan}");
                    }
                    None => by_columns += 1,
                }
            }
        }
    }
    let counts = [streamed, given_up, by_columns];
    assert!(counts.into_iter().all(|n| n > 20), "{counts:?}");
}
