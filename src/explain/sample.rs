//! A plan for tests.

use super::*;

/// A plan with something of everything.
pub(crate) fn analyzed() -> ExplainTree {
    let term = |word: &str, documents: u64, array: u64| ExplainNode {
        field: Some("title".into()),
        predicate: Some(format!("title:{word}")),
        estimate: Estimate::exact(documents, "document frequency"),
        actual: Some(Actual {
            documents,
            time_ns: 1_200,
            bytes_read: 8_192,
            containers: ContainerCounts { array, bitmap: 2, run: 0, skipped: 29 },
            ..Actual::default()
        }),
        ..ExplainNode::new("Term", format!("title:{word}"))
    };
    let mut union = ExplainNode::new("Union", "title:france OR title:spain");
    union.estimate = Estimate::between(5_000, 4_000, 8_100, "independence");
    union.actual =
        Some(Actual { documents: 118, complete: false, time_ns: 800, ..Actual::default() });
    union.children = vec![term("france", 4_100, 0), term("spain", 4_000, 3)];

    let mut root = ExplainNode::new("Intersect", "title:history AND (title:france OR title:spain)");
    root.algorithm = "gallop array × bitmap".into();
    root.estimate = Estimate::between(120, 0, 4_312, "independence");
    let actual = Actual {
        documents: 118,
        documents_in: Some(4_430),
        time_ns: 3_100,
        bytes_read: 812,
        terms: None,
        vectors: None,
        geo: None,
        positions: None,
        ranking: None,
        sort: None,
        streamed: None,
        containers: ContainerCounts { array: 3, bitmap: 1, run: 0, skipped: 29 },
        complete: true,
        stopped: false,
    };
    root.actual = Some(actual.clone());
    root.decisions = vec![
        Decision::accepted("order by document frequency", "the rarest input first")
            .costing(2_900)
            .instead_of("as written", Some(5_100)),
        Decision::rejected("prove empty", "the ranges of documents overlap"),
    ];
    root.segments = ["0a1b", "2c3d"]
        .map(|id| NodeSegment {
            id: id.into(),
            algorithm: "gallop".into(),
            estimate: Estimate::between(60, 0, 2_000, "independence"),
            actual: Some(actual.clone()),
        })
        .into();
    root.children = vec![term("history", 4_312, 1), union];

    let mut tree = ExplainTree::new("history && (france spain) +AC/DC", root);
    tree.parsed = "history AND (france spain) +AC/DC".into();
    tree.rewritten = "title:history AND (title:france OR title:spain)".into();
    tree.notes = vec!["'AC/DC' is several words".into()];
    tree.segments = vec![ExplainSegment {
        id: "0a1b".into(),
        documents: 13_755_095,
        deleted: 0,
        bytes: 641_728_512,
    }];
    tree.facets = vec![ExplainFacet {
        operator: "Facet".into(),
        field: "qualifier".into(),
        limit: 10,
        algorithm: "by descending document frequency".into(),
        ranges: None,
        options: None,
        terms: 300,
        estimate: None,
        decisions: vec![Decision::accepted("stop early", "no other term can enter the top 10")],
        actual: Some(FacetActual {
            terms_intersected: 12,
            terms_skipped: 288,
            time_ns: 9_000,
            bytes_read: 512,
            column: None,
            ..FacetActual::default()
        }),
        times: None,
        within: vec![],
    }];
    tree.total_ns = Some(42_000);
    tree
}
