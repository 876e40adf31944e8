//! `treepie explain --doc N`: the names that its JSON has beside those of the plan.

use serde_json::{Value, json};
use treepie::{
    Explanation,
    explain::{ExplainDocument, ExplainTree},
};

/// The plan as JSON, with what is said of the document by itself, too: `doc`, `matches`, `score` (a number), `explanation` (how
/// it comes about) and `misses`.
pub(crate) fn to_json(plan: Value, document: &ExplainDocument) -> Value {
    let mut object = match plan {
        Value::Object(object) => object,
        other => return other,
    };
    let own = [
        ("doc", json!(document.doc)),
        ("matches", json!(document.matches)),
        ("score", json!(document.score.as_ref().map(|score| score.value))),
        ("explanation", json!(document.score.as_ref().map(explanation))),
        ("misses", json!(document.misses)),
    ];
    object.extend(own.map(|(name, value)| (name.to_owned(), value)));
    Value::Object(object)
}

/// What is said of the document that was asked for, where there was time to look it up.
pub(crate) fn of(tree: &ExplainTree) -> Option<&ExplainDocument> {
    tree.documents.first()
}

fn explanation(of: &Explanation) -> Value {
    json!({
        "value": of.value,
        "what": of.what,
        "parts": of.parts.iter().map(explanation).collect::<Vec<_>>(),
    })
}
