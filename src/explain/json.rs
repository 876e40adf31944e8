//! [`ExplainTree`] → JSON, and plans that were kept, read back. The shape is a contract: [`json_values`](super::json_values) has
//! it as a table.

use super::ExplainTree;
use super::json_values::JsonValue;
use crate::error::Result;
use crate::json::{Json, Reader};

impl ExplainTree {
    /// The tree as one JSON object on one line; see the [module documentation](super) for its shape.
    pub fn to_json(&self) -> String {
        let mut json = Json::default();
        self.write(&mut json);
        json.out
    }

    /// The tree that [`to_json`](Self::to_json) wrote. Names that are not known are left out, as a later version may write
    /// more of them; what is derived, such as `q_error`, is not read.
    ///
    /// Takes time and memory for a few copies of the text.
    ///
    /// # Errors
    ///
    /// With the line, the column and the path that leads there, such as `plan.children[2].estimate.upper`:
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) for what is not JSON, lacks a name, has a value of the wrong type, or has nodes with other ids than
    /// [`ExplainNode::number`](super::ExplainNode::number) gives them;
    /// [`ErrorKind::UnsupportedVersion`](crate::ErrorKind::UnsupportedVersion) for a `schema_version` other than [`SCHEMA_VERSION`](super::SCHEMA_VERSION); and
    /// [`ErrorKind::LimitExceeded`](crate::ErrorKind::LimitExceeded) for more than [`JSON_BYTES_MAX`](super::JSON_BYTES_MAX), or more than 640 objects and arrays inside each other, which no
    /// plan of a query has.
    ///
    /// ```
    /// use treepie::explain::{ExplainNode, ExplainTree};
    ///
    /// let tree = ExplainTree::new("rust", ExplainNode::new("Term", "title:rust"));
    /// assert_eq!(ExplainTree::from_json(&tree.to_json())?, tree);
    ///
    /// let torn = &tree.to_json()[..100];
    /// let error = ExplainTree::from_json(torn).unwrap_err();
    /// assert!(error.to_string().contains("line 1, column "), "{error}");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn from_json(text: &str) -> Result<ExplainTree> {
        let mut reader = Reader::new(text, "a plan")?;
        let tree = ExplainTree::read(&mut reader)?;
        reader.end()?;
        Ok(tree)
    }
}

#[cfg(test)]
mod reading_tests;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::explain::{ExplainNode, sample};

    fn parsed(tree: &ExplainTree) -> Value {
        serde_json::from_str(&tree.to_json()).expect("valid JSON")
    }

    #[test]
    fn the_shape_is_the_documented_one() {
        let value = parsed(&ExplainTree { planning_ns: Some(3_000), ..sample::analyzed() });
        assert_eq!(
            value["plan"]["children"][0],
            json!({
                "id": "0.0", "operator": "Term", "label": "title:history", "field": "title",
                "predicate": "title:history", "algorithm": null,
                "estimate": {"documents": 4312, "lower": 4312, "upper": 4312, "source": "document frequency"},
                "actual": {
                    "documents": 4312, "time_ns": 1200, "bytes_read": 8192,
                    "containers": {"array": 1, "bitmap": 2, "run": 0, "skipped": 29}, "complete": true
                },
                "q_error": 1,
                "segments": [], "decisions": [], "children": []
            })
        );
        assert_eq!(value["schema_version"], 1);
        assert_eq!(
            value["plan"]["decisions"][0],
            json!({
                "rule": "order by document frequency", "accepted": true,
                "reason": "the rarest input first", "estimated_cost_ns": 2900,
                "alternative": {"name": "as written", "estimated_cost_ns": 5100}
            })
        );
        assert_eq!(value["plan"]["decisions"][1]["alternative"], Value::Null);
        assert_eq!(value["plan"]["actual"]["documents_in"], 4430);
        assert_eq!(value["plan"]["segments"][0]["id"], "0a1b");
        assert_eq!(
            value["segments"],
            json!([{"id": "0a1b", "documents": 13_755_095, "bytes": 641_728_512}])
        );
        assert_eq!(value["facets"][0]["actual"]["terms_skipped"], 288);
        assert_eq!((&value["planning_ns"], &value["total_ns"]), (&json!(3_000), &json!(42_000)));
        assert_eq!(value["rest_ns"], 39_000 - sample::analyzed().measured_ns());
        assert_eq!(value["notes"], json!(["'AC/DC' is several words"]));
    }

    #[test]
    fn what_was_not_run_has_no_actual() {
        let mut tree = sample::analyzed();
        (tree.planning_ns, tree.total_ns) = (None, None);
        tree.plan.actual = None;
        tree.facets[0].actual = None;
        let value = parsed(&tree);
        for (object, name) in [
            (&value, "planning_ns"),
            (&value, "rest_ns"),
            (&value, "total_ns"),
            (&value["plan"], "actual"),
            (&value["plan"], "q_error"),
            (&value["facets"][0], "actual"),
        ] {
            assert!(object.is_object() && object.get(name).is_none(), "{name} in {object}");
        }
    }

    proptest! {
        #[test]
        fn any_text_survives(text in "(\\PC|[\0-\u{9f}]|[\u{2028}\u{2029}\u{feff}\u{202e}\"\\\\/<]|.){0,20}") {
            let tree = ExplainTree::new(text.clone(), ExplainNode::new("Term", text.clone()));
            let written = tree.to_json();
            let on_one_line = !written.contains(['\n', '\u{2028}', '\u{2029}', '\u{1b}']);
            prop_assert!(on_one_line);
            let value = parsed(&tree);
            prop_assert_eq!(value["query"].as_str(), Some(&*text));
            prop_assert_eq!(value["plan"]["label"].as_str(), Some(&*text));
        }
    }
}
