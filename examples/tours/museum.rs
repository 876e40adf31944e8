//! Works of a museum.

use crate::{Dice, Question, Result, Tour};
use serde_json::{Value, json};
use treepie::{Document, Facet, Field, FieldKind, Schema, SortKey};

pub(crate) fn tour() -> Result<Tour> {
    let keyword = |name: &str| Field::new(name, FieldKind::Keyword).column(true);
    let schema = Schema::builder()
        .text("title")
        .text("medium")
        .field(keyword("number"))
        .field(keyword("artist").many(true))
        .field(keyword("classification"))
        .field(keyword("movement").many(true))
        // Paths, with all that they lie in: "people", "people > adults", "people > adults > man".
        .field(keyword("subject").many(true))
        .field(Field::new("year", FieldKind::I64))
        .field(Field::new("acquired", FieldKind::I64))
        .field(Field::new("height", FieldKind::F64))
        .build()?;
    let shown = &["number", "artist", "title", "year", "height"];
    Ok(Tour { schema, document, made_up, shown, questions: QUESTIONS })
}

fn document(work: &Value) -> Document {
    let mut document = Document::new();
    for (from, to) in [
        ("title", "title"),
        ("medium", "medium"),
        ("acno", "number"),
        ("artists", "artist"),
        ("classification", "classification"),
        ("movements", "movement"),
        ("subjects", "subject"),
        ("start_year", "year"),
        ("acquisition_year", "acquired"),
        ("height_mm", "height"),
    ] {
        let values = work[from].as_array().map_or(std::slice::from_ref(&work[from]), |all| all);
        for value in values {
            match value {
                Value::Null => {}
                // Some say "no date".
                Value::String(text) if to == "year" && text.parse::<i64>().is_err() => {}
                Value::String(text) => document.push(to, text.clone()),
                other => document.push(to, other.to_string()),
            }
        }
    }
    document
}

const QUESTIONS: &[Question] = &[
    Question {
        text: "What kinds of works are there?",
        query: "*",
        ask: |search| search.limit(0).facet("classification", 5),
    },
    Question {
        text: "What do they show?",
        query: "*",
        ask: |search| {
            search.limit(0).with_facet(Facet::values("subject").matching("[^>]*").limit(5))
        },
    },
    Question {
        text: "And of nature, what in particular?",
        query: "subject:nature",
        ask: |search| {
            let below = Facet::values("subject").prefix("nature > ").matching("[^>]*>[^>]*");
            search.limit(0).with_facet(below.limit(5))
        },
    },
    Question {
        text: "Who painted in watercolour?",
        query: "medium:watercolour",
        ask: |search| search.limit(0).facet("artist", 5),
    },
    Question {
        text: "From which decades are they?",
        query: "year:[1900 TO *]",
        ask: |search| search.limit(0).with_facet(Facet::histogram("year", 10)),
    },
    Question {
        text: "Which are the highest?",
        query: "*",
        ask: |search| search.sort([SortKey::descending("height")]),
    },
    Question {
        text: "One movement is chosen: who belongs to it, and which others are there?",
        query: "movement:*",
        ask: |search| {
            let chosen = search.limit(0).select("movement", ["Pop Art"]);
            chosen.facet("artist", 3).facet("movement", 5)
        },
    },
    Question {
        text: "Which titles speak of the sea, the oldest first?",
        query: "title:sea",
        ask: |search| search.sort([SortKey::ascending("year"), SortKey::ascending("number")]),
    },
    Question {
        text: "How old is what came into the house in the nineties?",
        query: "acquired:[1990 TO 1999]",
        ask: |search| {
            search.limit(0).with_facet(Facet::statistics("year").percentiles([10.0, 50.0, 90.0]))
        },
    },
    Question {
        text: "Of how many is nobody sure when they were made, and whose are they?",
        query: "* AND NOT year:*",
        ask: |search| search.facet("artist", 3).sort([SortKey::ascending("number")]),
    },
];

/// A work, as the file of the museum has them.
fn made_up(n: u64) -> Value {
    let dice = &mut Dice(n);
    let given = dice.one_of(&["Ada", "Bruno", "Clara", "Davit", "Elena", "Farid", "Greta", "Hugo"]);
    let family = dice.one_of(&["Almeida", "Berg", "Costa", "Dvorak", "Eliassen", "Fontana"]);
    let medium = dice.one_of(&[
        "Oil paint on canvas",
        "Watercolour on paper",
        "Graphite on paper",
        "Bronze",
    ]);
    let subjects: &[&str] = match dice.below(4) {
        0 => &["people", "people > adults", "people > adults > man"],
        1 => &["nature", "nature > landscape", "nature > landscape > field"],
        2 => &["nature", "nature > seascapes and coasts", "nature > seascapes and coasts > sea"],
        _ => &["architecture", "architecture > townscapes"],
    };
    let what = subjects[subjects.len() - 1].rsplit(" > ").next().unwrap_or_default();
    let title =
        format!("{} the {what}", dice.one_of(&["By", "Beyond", "Study of", "Before", "After"]));
    let year = 1_750 + dice.below(250);
    let movement = match year {
        1_955..1_975 => vec!["Pop Art"],
        1_870..1_900 => vec!["Impressionism"],
        1_920..1_955 => vec!["Surrealism", "Abstraction"],
        _ => vec![],
    };
    json!({
        "title": title,
        "medium": medium,
        "acno": format!("T{n:05}"),
        "artists": [format!("{given} {family}")],
        "classification": if medium == "Bronze" { "sculpture" } else { "painting" },
        "movements": movement,
        "subjects": subjects,
        "start_year": if dice.below(9) > 0 { json!(year) } else { Value::Null },
        "acquisition_year": 1_900 + dice.below(120),
        "height_mm": 100.0 + dice.below(40_000) as f64 / 10.0,
    })
}
