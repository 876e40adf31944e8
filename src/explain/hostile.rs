//! Plans with hostile texts, for the tests of drawings. See [`draw_for_their_parsers`] for the checks with the programs
//! that are to read them.

use super::*;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Fragments that mean something to one of the programs that read drawings, or to a terminal.
const FRAGMENTS: &[&str] = &[
    "\"",
    "\\",
    "\\n",
    "\\\"",
    "'",
    "`",
    "\n",
    "\r\n",
    "\t",
    "\0",
    "\u{1b}[2J",
    "\u{202e}",
    "\u{2066}",
    "\u{2028}",
    "\u{fffd}",
    "e\u{301}",
    "東京",
    "--> x",
    "-->",
    "->",
    "-.-",
    "\"]",
    "]",
    "[",
    "{",
    "}",
    "(",
    ")",
    "|",
    "||",
    "<",
    ">",
    "</script>",
    "<br/>",
    "&amp;",
    "&quot;",
    "&",
    ";",
    ":",
    ":::",
    ",",
    "%%",
    "%%{init: {\"theme\": 1}}%%",
    "%",
    "#",
    "#35;",
    "#quot;",
    "ﬂ°°60¶ß",
    "¶ß",
    "style a:b#c;",
    "classDef a:#fff;",
    "linkStyle",
    "click n0",
    "end",
    "subgraph",
    "graph",
    "digraph {",
    "/*",
    "*/",
    "//",
    "#!",
    "1. a",
    "- a",
    "* a",
    "$$x$$",
    "\\N",
    "\\l",
    " 123",
    "123",
    " ",
    "↵",
    "+",
    "QUERY PLAN",
    "InitPlan 1",
    "title:history",
    "a",
];

/// Text of such fragments, or of anything.
pub(super) fn texts() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        8 => proptest::sample::select(FRAGMENTS).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(fragment, 0..8).prop_map(|fragments| fragments.concat())
}

/// Names of operators: ours, and others.
fn operators() -> impl Strategy<Value = String> {
    const OURS: &[&str] = &[
        "TermScan",
        "Expand",
        "Exists",
        "ColumnScan",
        "GeoScan",
        "Nearest",
        "All",
        "Nothing",
        "Deleted",
        "Intersect",
        "Difference",
        "Union",
        "AtLeast",
        "Phrase",
        "Limit",
        "TopK",
        "Sort",
        "Collapse",
    ];
    prop_oneof![3 => proptest::sample::select(OURS).prop_map(str::to_owned), 1 => texts()]
}

fn decisions() -> impl Strategy<Value = Vec<Decision>> {
    let decision =
        (texts(), texts(), any::<bool>(), any::<Option<u32>>(), any::<Option<Option<u32>>>());
    let decision = decision.prop_map(|(rule, reason, accepted, cost, other)| {
        let mut decision = Decision { accepted, ..Decision::accepted(rule.clone(), reason) };
        decision.estimated_cost_ns = cost.map(u64::from);
        match other {
            Some(other) => decision.instead_of(rule, other.map(u64::from)),
            None => decision,
        }
    });
    proptest::collection::vec(decision, 0..3)
}

fn nodes() -> impl Strategy<Value = ExplainNode> {
    let texts = (operators(), texts(), texts(), any::<bool>(), texts());
    let counts = (0u64..1_000_000, 0u64..1_000_000, any::<Option<(u32, u32, u32)>>());
    let leaf = (texts, counts, decisions()).prop_map(|(texts, counts, decisions)| {
        let (operator, label, algorithm, has_field, predicate) = texts;
        let (documents, more, actual) = counts;
        let mut node = ExplainNode::new(&*operator, label.clone());
        node.algorithm = algorithm;
        node.field = has_field.then_some(label);
        node.predicate = has_field.then_some(predicate);
        node.estimate =
            Estimate::between(documents, documents / 2, documents + more, "independence");
        node.actual = actual.map(|(documents, time_ns, bytes_read)| Actual {
            documents: documents.into(),
            time_ns: time_ns.into(),
            bytes_read: bytes_read.into(),
            documents_in: Some(u64::from(documents) + more),
            complete: time_ns % 2 == 0,
            ..Actual::default()
        });
        node.decisions = decisions;
        node
    });
    leaf.prop_recursive(6, 40, 5, |node| {
        (node.clone(), proptest::collection::vec(node, 0..5)).prop_map(|(mut node, children)| {
            node.children = children;
            node
        })
    })
}

/// Plans of any shape with such texts in every place.
pub(super) fn trees() -> impl Strategy<Value = ExplainTree> {
    let facet = (texts(), texts(), any::<Option<u32>>(), decisions());
    let facet = facet.prop_map(|(field, algorithm, time_ns, decisions)| ExplainFacet {
        actual: time_ns.map(|ns| FacetActual { time_ns: ns.into(), ..FacetActual::default() }),
        limit: 10,
        field,
        algorithm,
        decisions,
        ..ExplainFacet::default()
    });
    let facet = facet.prop_recursive(2, 4, 2, |facet| {
        (facet.clone(), proptest::collection::vec(facet, 0..2)).prop_map(|(mut facet, within)| {
            facet.within = within;
            facet
        })
    });
    let facets = proptest::collection::vec(facet, 0..3);
    (texts(), nodes(), facets, any::<Option<u32>>()).prop_map(|(query, root, facets, total)| {
        let mut tree = ExplainTree::new(query, root);
        tree.facets = facets;
        tree.planning_ns = total.map(|total| u64::from(total / 3));
        tree.total_ns = total.map(u64::from);
        tree
    })
}

/// Operators within each other.
pub(super) fn deep(n: usize) -> ExplainTree {
    let mut node = ExplainNode::new("TermScan", "title:a");
    for _ in 1..n {
        let mut parent = ExplainNode::new("Intersect", "b AND (a)");
        parent.actual = Some(Actual { documents: 7, time_ns: 3, ..Actual::default() });
        parent.children = vec![node];
        node = parent;
    }
    ExplainTree::new("deep", node)
}

/// Operators beside each other, below one.
pub(super) fn wide(n: usize) -> ExplainTree {
    let mut root = ExplainNode::new("Union", format!("{n} inputs"));
    root.children = (1..n)
        .map(|at| {
            let mut node = ExplainNode::new("TermScan", format!("title:{at}"));
            node.estimate = Estimate::exact(at as u64, "document frequency");
            node.actual = Some(Actual { documents: at as u64, time_ns: 5, ..Actual::default() });
            node.decisions = vec![Decision::accepted("a", "b").instead_of("c", None)];
            node
        })
        .collect();
    ExplainTree::new("wide", root)
}

/// One operator whose texts are of 64 KiB, of which some take no room on the screen.
pub(super) fn long() -> ExplainTree {
    let long = format!("{}\"{}", "x".repeat(1 << 15), "\u{301}".repeat(1 << 14));
    let mut node = ExplainNode::new(&*long, long.clone());
    node.algorithm = long.clone();
    node.predicate = Some(long.clone());
    node.decisions = vec![Decision::accepted("a", "b").instead_of(&*long, None)];
    ExplainTree::new(long, node)
}

/// All of these, and as many of [`trees`], always the same ones.
fn all(n_trees: usize) -> Vec<(String, ExplainTree)> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut all = vec![
        ("sample".to_owned(), sample::analyzed()),
        ("deep".to_owned(), deep(256)),
        ("wide".to_owned(), wide(5_000)),
        ("long".to_owned(), long()),
    ];
    all.extend((0..n_trees).map(|at| {
        let tree = trees().new_tree(&mut runner).expect("nothing is filtered").current();
        (format!("hostile-{at}"), tree)
    }));
    all
}

/// Writes every drawing of many plans into the directory that `TREEPIE_DRAWINGS` names, for `.ci/run drawings`, which has
/// each read by its own program. `NAME.labels` has a line of JSON for each box of `NAME.mmd`: what has to stand in it.
#[test]
fn draw_for_their_parsers() {
    let Ok(dir) = std::env::var("TREEPIE_DRAWINGS") else {
        eprintln!(
            "SKIPPED: TREEPIE_DRAWINGS names no directory, so nothing is drawn for other programs"
        );
        return;
    };
    let write = |name: &str, kind: &str, text: String| {
        std::fs::write(format!("{dir}/{name}.{kind}"), text)
            .expect("a directory that can be written to");
    };
    for (name, tree) in all(100) {
        write(&name, "dot", tree.to_dot());
        write(&name, "pgjson", tree.to_pgjson());
        write(&name, "folded", tree.to_folded());
        let mermaid = tree.to_mermaid();
        let boxes = super::mermaid::tests::boxes(&mermaid);
        let labels: Vec<_> =
            boxes.iter().map(|(name, text)| serde_json::json!([name, text]).to_string()).collect();
        write(&name, "labels", labels.join("\n"));
        write(&name, "mmd", mermaid);
    }
}
