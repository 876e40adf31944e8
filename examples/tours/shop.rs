//! Order lines of a shop.

use crate::{Dice, Question, Result, Tour};
use serde_json::{Value, json};
use treepie::facet::FacetRange;
use treepie::value::Interval;
use treepie::{Document, Facet, Field, FieldKind, Schema, SortKey};

pub(crate) fn tour() -> Result<Tour> {
    let keyword = |name: &str| Field::new(name, FieldKind::Keyword).column(true);
    let schema = Schema::builder()
        .text("description")
        // The same words as one value: to be counted.
        .field(keyword("product"))
        .field(keyword("country"))
        .field(keyword("customer"))
        .field(Field::new("quantity", FieldKind::I64))
        .field(Field::new("price", FieldKind::Decimal { scale: 3 }))
        .field(Field::new("date", FieldKind::Date))
        .build()?;
    let shown = &["product", "price", "quantity", "country", "date"];
    Ok(Tour { schema, document, made_up, shown, questions: QUESTIONS })
}

fn document(line: &Value) -> Document {
    let mut document = Document::new();
    let text = |name: &str| match &line[name] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    for (from, to) in [
        ("description", "description"),
        ("description", "product"),
        ("country", "country"),
        ("customer", "customer"),
        ("quantity", "quantity"),
        ("unit_price", "price"),
        ("date", "date"),
    ] {
        if let Some(value) = text(from) {
            document.push(to, value);
        }
    }
    document
}

const QUESTIONS: &[Question] = &[
    Question {
        text: "What is bought most often?",
        query: "*",
        ask: |search| search.limit(0).facet("product", 5),
    },
    Question {
        text: "How many lines does each month have?",
        query: "*",
        ask: |search| search.limit(0).with_facet(Facet::date_histogram("date", Interval::Month)),
    },
    Question {
        text: "France is chosen: what does it buy, and what other countries are there?",
        query: "*",
        ask: |search| {
            search.limit(0).select("country", ["France"]).facet("country", 6).facet("product", 3)
        },
    },
    Question {
        text: "What do lanterns cost?",
        query: "description:lantern",
        ask: |search| search.with_facet(Facet::statistics("price").percentiles([50.0, 95.0])),
    },
    Question {
        text: "In which ranges are the prices of boxes?",
        query: "description:box",
        ask: |search| {
            let range = |from: &str, to: &str| -> FacetRange {
                let end = |end: &str| (!end.is_empty()).then(|| end.to_owned());
                FacetRange::new(end(from), end(to))
            };
            let ranges = [range("", "1"), range("1", "2"), range("2", "5"), range("5", "")];
            search.limit(0).with_facet(Facet::ranges("price", ranges))
        },
    },
    Question {
        text: "What is the dearest?",
        query: "quantity:[1 TO *]",
        ask: |search| search.sort([SortKey::descending("price"), SortKey::ascending("date")]),
    },
    Question {
        text: "What comes back?",
        query: "quantity:[* TO -1]",
        ask: |search| search.limit(0).facet("product", 3).facet("country", 3),
    },
    Question {
        text: "Where do buyers come from of whom nothing else is known?",
        query: "* AND NOT customer:*",
        ask: |search| search.limit(0).facet("country", 5),
    },
    Question {
        text: "Which products have a heart in their name?",
        query: "*",
        ask: |search| {
            search
                .limit(0)
                .with_facet(Facet::values("product").containing("heart").limit(5).by_value())
        },
    },
    Question {
        text: "Who bought most often in March 2011, and what first?",
        query: "date:2011-03",
        ask: |search| {
            search
                .facet("customer", 3)
                .sort([SortKey::ascending("date"), SortKey::ascending("product")])
        },
    },
];

/// A line of an order, as the file of the shop has them.
fn made_up(n: u64) -> Value {
    // Some twenty lines an order.
    let (mut order, mut line) = (Dice(n / 20), Dice(n | 1 << 40));
    let country = order.one_of(&[
        "United Kingdom",
        "Germany",
        "France",
        "Ireland",
        "Spain",
        "Netherlands",
        "Belgium",
        "Portugal",
    ]);
    let (day, hour, minute) = (order.below(365), order.below(10) + 8, order.below(60));
    // Months of thirty days, and five behind them.
    let (month, day) = ((day / 30).min(11) + 1, day % 30 + 1);
    let day = if month == 2 { day.min(28) } else { day };
    let kind = line.one_of(&["LANTERN", "BOX", "BAG", "CLOCK", "CANDLE", "MUG", "FRAME", "BELL"]);
    let look =
        line.one_of(&["RED", "WHITE", "WOODEN", "VINTAGE", "SMALL", "PAPER", "METAL", "STRIPED"]);
    let sign = line.one_of(&["HEART", "STAR", "BIRD", "ROSE"]);
    let description = format!("{look} {sign} {kind}");
    // What a product costs goes by its name alone.
    let cents =
        description.bytes().fold(7u64, |sum, byte| (sum * 31 + u64::from(byte)) % 1_999) + 20;
    let quantity = 1 + line.below(12) as i64;
    json!({
        "description": description,
        "quantity": if line.below(50) == 0 { -quantity } else { quantity },
        "date": format!("2011-{month:02}-{day:02}T{hour:02}:{minute:02}:00Z"),
        "unit_price": cents as f64 / 100.0,
        "customer": if order.below(4) > 0 { json!(12_000 + order.below(900)) } else { Value::Null },
        "country": country,
    })
}
