use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::error::ErrorKind;
use crate::explain::{Actual, ExplainNode, PlanDiff, arbitrary, sample};

fn refused(text: &str) -> String {
    ExplainTree::from_json(text).unwrap_err().to_string()
}

#[test]
fn the_sample_comes_back_whole_also_with_blanks_and_in_another_order() {
    let tree = sample::analyzed();
    assert_eq!(ExplainTree::from_json(&tree.to_json()).unwrap(), tree);
    // serde_json sorts the names, and puts each on a line of its own.
    let value: Value = serde_json::from_str(&tree.to_json()).unwrap();
    let pretty = serde_json::to_string_pretty(&value).unwrap();
    assert_eq!(ExplainTree::from_json(&pretty).unwrap(), tree);
}

#[test]
fn names_of_later_versions_are_left_out() {
    let tree = sample::analyzed();
    let more = r#""later":{"names":[1.5e3,{"":null}],"and":"\u0000"},"#;
    let grown = tree.to_json().replace("\"label\":", &format!("{more}\"label\":"));
    let grown = grown.replacen('{', &format!("{{{more}"), 1);
    assert_ne!(grown, tree.to_json());
    assert_eq!(ExplainTree::from_json(&grown).unwrap(), tree);
}

#[test]
fn another_version_is_told_as_such() {
    let newer =
        sample::analyzed().to_json().replace("\"schema_version\":1", "\"schema_version\":2");
    let error = ExplainTree::from_json(&newer).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnsupportedVersion);
    assert_eq!(
        error.to_string(),
        "reading schema_version of a plan: expected 1, found 2; a newer treepie wrote it, and reads it"
    );
    let none = ExplainTree::from_json("{}").unwrap_err();
    assert_eq!(
        none.to_string(),
        "reading a plan: expected the name \"schema_version\", found none in this object (line 1, column 2)"
    );
}

#[test]
fn mistakes_are_told_with_their_path() {
    let json = sample::analyzed().to_json();
    let broken = |from: &str, to: &str| {
        let text = json.replacen(from, to, 1);
        assert_ne!(text, json, "{from}");
        refused(&text)
    };
    let starts = [
        (
            broken("\"upper\":8100", "\"upper\":-1"),
            "reading plan.children[1].estimate.upper of a plan: expected a whole number of at most 64 bits, found the number -1 (line 1, column ",
        ),
        (
            broken("\"bytes_read\":8192", "\"bytes_read\":\"8 KiB\""),
            "reading plan.children[0].actual.bytes_read of a plan: expected a whole number of at most 64 bits, found the text \"8 KiB\" (line 1, ",
        ),
        (
            broken("\"accepted\":true", "\"accepted\":1"),
            "reading plan.decisions[0].accepted of a plan: expected true or false, found the number 1 (line 1, ",
        ),
        (
            broken("\"children\":[]", "\"kids\":[]"),
            "reading plan.children[0] of a plan: expected the name \"children\", found ",
        ),
        (
            broken("\"findings\":[]", "\"findings\":[{\"severity\":\"fatal\"}]"),
            "reading findings[0].severity of a plan: expected \"note\" or \"hint\" or \"warning\", found the text \"fatal\"",
        ),
        (
            broken("\"facets\":[", "\"facets\":[7,"),
            "reading facets[0] of a plan: expected an object, found the number 7",
        ),
        (
            broken("\"documents\":118", "\"documents\":18446744073709551616"),
            "reading plan.actual.documents of a plan: expected a whole number of at most 64 bits, found the number 18446744073709551616 (",
        ),
        (
            broken("\"id\":\"0.1.0\"", "\"id\":\"0.1.1\""),
            "reading plan.children[1].children[0].id of a plan: expected \"0.1.0\", found the text \"0.1.1\"",
        ),
        (
            broken("\"id\":\"0\"", "\"id\":\"root\""),
            "reading plan.id of a plan: expected \"0\", found the text \"root\"",
        ),
        (
            broken(
                "\"children\":[",
                "\"windows\":[{\"segment\":\"0a1b\",\"kinds\":\"ab\",\"documents\":[7]}],\"children\":[",
            ),
            "reading plan.windows[0] of a plan: expected a number of documents for each of 2 windows, found 1 before this",
        ),
    ];
    for (message, start) in starts {
        assert!(message.starts_with(start), "{message}");
    }
}

#[test]
fn every_torn_text_is_refused() {
    let json = sample::analyzed().to_json();
    for end in 0..json.len() {
        if json.is_char_boundary(end) {
            let error = ExplainTree::from_json(&json[..end]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            assert_eq!(error.line(), Some(1), "{error}");
        }
    }
    assert!(refused(&(json.clone() + &json)).contains("expected the end of the text"));
}

#[test]
fn plans_are_as_deep_as_queries_may_be_and_no_deeper() {
    // Levels as many as the planner makes, with the page on top.
    let mut node = ExplainNode::new("Term", "a");
    for _ in 0..258 {
        let mut outer = ExplainNode::new("Union", "a");
        outer.actual = Some(Actual::default());
        outer.children = vec![node];
        node = outer;
    }
    let deep = ExplainTree::new("a", node);
    assert_eq!(ExplainTree::from_json(&deep.to_json()).unwrap(), deep);

    let bottomless = format!("{{\"plan\":{}", "{\"children\":[".repeat(100_000));
    let score = format!("{{\"documents\":[{{\"score\":{}", "{\"parts\":[".repeat(100_000));
    let facets = format!("{{\"facets\":[{}", "{\"within\":[".repeat(100_000));
    for text in [bottomless, score, facets] {
        let error = ExplainTree::from_json(&text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        assert!(error.to_string().len() < 2_000, "{error}");
    }
}

proptest! {
    #[test]
    fn any_tree_has_the_published_shape(tree in arbitrary::trees()) {
        thread_local! {
            static SCHEMA: jsonschema::Validator = jsonschema::draft202012::new(
                &serde_json::from_str(crate::explain::JSON_SCHEMA).unwrap()
            ).unwrap();
        }
        let value: Value = serde_json::from_str(&tree.to_json()).unwrap();
        let wrong = SCHEMA.with(|schema| {
            schema.iter_errors(&value).map(|error| error.to_string()).collect::<Vec<_>>()
        });
        prop_assert!(wrong.is_empty(), "{:?}", wrong);
    }

    #[test]
    fn any_tree_comes_back(tree in arbitrary::trees()) {
        let json = tree.to_json();
        let read = ExplainTree::from_json(&json).unwrap();
        prop_assert_eq!(&read.to_json(), &json);
        prop_assert_eq!(read, tree);
    }

    #[test]
    fn what_was_read_back_can_be_drawn(tree in arbitrary::trees()) {
        use_in_every_way(&tree.to_json(), &ExplainTree::from_json(&tree.to_json()).unwrap());
    }

    #[test]
    fn what_was_damaged_is_refused_or_read_and_never_worse(
        tree in arbitrary::trees(), at in any::<prop::sample::Index>(), byte in "[\\[\\]{}\",:0-9a-z\\\\\0-]",
    ) {
        let mut json = tree.to_json();
        let at = at.index(json.len());
        if json.is_char_boundary(at) && json.is_char_boundary(at + 1) {
            json.replace_range(at..=at, &byte);
            if let Ok(read) = ExplainTree::from_json(&json) {
                let written = read.to_json();
                prop_assert_eq!(&ExplainTree::from_json(&written).unwrap(), &read);
                use_in_every_way(&written, &read);
            }
        }
    }
}

/// All that can be made of a plan, which must not panic, whatever it says.
fn use_in_every_way(json: &str, tree: &ExplainTree) {
    let _ = (tree.to_string(), tree.to_dot(), tree.to_mermaid(), tree.to_pgjson());
    let _ = (tree.to_folded(), tree.to_outline());
    #[cfg(feature = "viewer")]
    tree.to_html();
    let other = ExplainTree { query: "another".into(), findings: tree.find(), ..tree.clone() };
    let diff = PlanDiff::new(tree, &other);
    let _ = (diff.to_string(), diff.to_json());
    assert!(PlanDiff::new(tree, tree).is_same(), "{json}");
}
