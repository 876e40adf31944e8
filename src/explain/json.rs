//! [`ExplainTree`] → JSON, by hand: the shape is a contract, so it is written where it can be read,
//! and the library needs no serialisation framework.

use super::{
    Actual, Alternative, ColumnCounts, ContainerCounts, ContainerMap, Decision, Estimate,
    ExplainDocument, ExplainFacet, ExplainNode, ExplainPage, ExplainSegment, ExplainTree,
    FacetActual, Finding, InBuckets, NodeSegment, PlanningTimes, PositionCounts, RankingCounts,
    SCHEMA_VERSION, TermCounts, Threshold,
};
use crate::json::Json;
use crate::ranking::scorer::Explanation;

impl ExplainTree {
    /// The tree as one JSON object on one line; see the [module documentation](super) for its shape.
    pub fn to_json(&self) -> String {
        let mut json = Json::default();
        json.tree(self);
        json.out
    }
}

impl Json {
    fn tree(&mut self, tree: &ExplainTree) {
        self.object(|json| {
            json.field("schema_version").number(SCHEMA_VERSION);
            json.field("query").string(&tree.query);
            json.field("parsed").string(&tree.parsed);
            json.field("rewritten").string(&tree.rewritten);
            json.field("notes").array(&tree.notes, |json, note| json.string(note));
            json.field("findings").array(&tree.findings, Json::finding);
            json.field("plan").node(&tree.plan);
            json.field("segments").array(&tree.segments, Json::segment);
            if let Some(ExplainPage { offset, limit, total }) = &tree.page {
                json.field("page").object(|json| {
                    json.field("offset").number(offset);
                    json.field("limit").number(limit);
                    json.field("total").string(total);
                });
            }
            json.field("facets").array(&tree.facets, Json::facet);
            if !tree.documents.is_empty() {
                json.field("documents").array(&tree.documents, Json::document);
            }
            if let Some(lookups) = tree.term_lookups {
                json.field("term_lookups").number(lookups);
            }
            if let Some(planning) = tree.planning_ns {
                json.field("planning_ns").number(planning);
            }
            if let Some(planning) = &tree.planning {
                json.field("planning").planning(planning);
            }
            if let Some(rest) = tree.rest_ns() {
                json.field("rest_ns").number(rest);
            }
            if let Some(total) = tree.total_ns {
                json.field("total_ns").number(total);
            }
        });
    }

    fn planning(&mut self, planning: &PlanningTimes) {
        self.object(|json| {
            if let Some(parse) = planning.parse_ns {
                json.field("parse_ns").number(parse);
            }
            json.field("bind_ns").number(planning.bind_ns);
            json.field("look_up_ns").number(planning.look_up_ns);
            json.field("estimate_ns").number(planning.estimate_ns);
            json.field("choose_ns").number(planning.choose_ns);
        });
    }

    fn node(&mut self, node: &ExplainNode) {
        self.object(|json| {
            json.field("id").string(&node.id);
            json.field("operator").string(&node.operator);
            json.field("label").string(&node.label);
            json.field("field").string_or_null(node.field.as_deref());
            json.field("predicate").string_or_null(node.predicate.as_deref());
            json.field("algorithm").algorithm(&node.algorithm);
            json.field("estimate").estimate(&node.estimate);
            if let Some(terms) = node.terms {
                json.field("terms").number(terms);
            }
            if let Some(actual) = &node.actual {
                json.field("actual").actual(actual);
            }
            if let Some(q_error) = node.q_error() {
                json.field("q_error").number((q_error * 1000.0).round() / 1000.0);
            }
            json.field("segments").array(&node.segments, Json::node_segment);
            json.field("decisions").array(&node.decisions, Json::decision);
            if !node.windows.is_empty() {
                json.field("windows").array(&node.windows, Json::container_map);
            }
            json.field("children").array(&node.children, Json::node);
        });
    }

    fn container_map(&mut self, map: &ContainerMap) {
        self.object(|json| {
            json.field("segment").string(&map.segment);
            json.field("kinds").string(&map.kinds);
            json.field("documents").array(&map.documents, |json, n| json.number(n));
        });
    }

    fn finding(&mut self, finding: &Finding) {
        self.object(|json| {
            json.field("rule").string(&finding.rule);
            json.field("severity").string(finding.severity.name());
            json.field("node").string_or_null(finding.node.as_deref());
            json.field("facet").string_or_null(finding.facet.as_deref());
            json.field("message").string(&finding.message);
            json.field("remedy").string_or_null(finding.remedy.as_deref());
        });
    }

    fn document(&mut self, document: &ExplainDocument) {
        self.object(|json| {
            json.field("doc").number(document.doc);
            json.field("title").string(&document.title);
            json.field("deleted").boolean(document.deleted);
            json.field("matches").boolean(document.matches);
            json.field("failed_at").string_or_null(document.failed_at.as_deref());
            json.field("reason").string(&document.reason);
            json.field("misses").array(&document.misses, |json, miss| json.string(miss));
            json.field("verdicts").object(|json| {
                for (node, verdict) in &document.verdicts {
                    json.field(node).string(verdict.name());
                }
            });
            json.field("score");
            match &document.score {
                None => json.null(),
                Some(score) => json.explanation(score),
            }
        });
    }

    fn explanation(&mut self, of: &Explanation) {
        self.object(|json| {
            json.field("value").number(of.value);
            json.field("what").string(&of.what);
            json.field("parts").array(&of.parts, Json::explanation);
        });
    }

    fn estimate(&mut self, estimate: &Estimate) {
        self.object(|json| {
            json.field("documents").number(estimate.documents);
            json.field("lower").number(estimate.lower);
            json.field("upper").number(estimate.upper);
            json.field("source").string(&estimate.source);
        });
    }

    fn actual(&mut self, actual: &Actual) {
        self.object(|json| {
            json.field("documents").number(actual.documents);
            if let Some(documents_in) = actual.documents_in {
                json.field("documents_in").number(documents_in);
            }
            json.field("time_ns").number(actual.time_ns);
            json.field("bytes_read").number(actual.bytes_read);
            json.field("containers").containers(&actual.containers);
            if let Some(TermCounts { visited, expanded, cut }) = actual.terms {
                json.field("terms").object(|json| {
                    json.field("visited").number(visited);
                    json.field("expanded").number(expanded);
                    json.field("cut").boolean(cut);
                });
            }
            if let Some(PositionCounts { candidates, positions }) = actual.positions {
                json.field("positions").object(|json| {
                    json.field("candidates").number(candidates);
                    json.field("positions").number(positions);
                });
            }
            if let Some(ranking) = &actual.ranking {
                json.field("ranking").ranking(ranking);
            }
            if let Some(column) = actual.sort {
                json.field("sort").column(column);
            }
            if let Some(streamed) = actual.streamed {
                json.field("streamed").object(|json| {
                    json.field("segments").number(streamed.segments);
                    json.field("given_up").number(streamed.given_up);
                    json.field("terms").number(streamed.terms);
                    json.field("documents").number(streamed.documents);
                    json.field("candidates").number(streamed.candidates);
                });
            }
            json.field("complete").boolean(actual.complete);
            if actual.stopped {
                json.field("stopped").boolean(true);
            }
        });
    }

    fn column(&mut self, counts: ColumnCounts) {
        self.object(|json| {
            json.field("documents").number(counts.documents);
            json.field("blocks").number(counts.blocks);
            json.field("blocks_skipped").number(counts.blocks_skipped);
            if counts.ends_looked_up > 0 {
                json.field("ends_looked_up").number(counts.ends_looked_up);
            }
            json.deleted(counts.deleted_taken_away);
        });
    }

    fn ranking(&mut self, ranking: &RankingCounts) {
        self.object(|json| {
            json.field("documents_scored").number(ranking.documents_scored);
            if let Some(postings) = ranking.postings {
                json.field("postings").number(postings);
            }
            json.field("blocks").number(ranking.blocks);
            json.field("blocks_skipped").number(ranking.blocks_skipped);
            json.field("windows").number(ranking.windows);
            json.field("windows_skipped").number(ranking.windows_skipped);
            if ranking.searched_twice {
                json.field("searched_twice").boolean(true);
            }
            if let Some(candidates) = &ranking.candidates {
                json.field("candidates").object(|json| {
                    json.field("looked_up").number(candidates.looked_up);
                    json.field("found").number(candidates.found);
                    json.field("skipped_by_blocks").number(candidates.skipped_by_blocks);
                    json.field("skipped_by_frequencies").number(candidates.skipped_by_frequencies);
                });
            }
            json.field("thresholds").array(&ranking.thresholds, |json, rise| {
                let Threshold { documents, score } = *rise;
                json.object(|json| {
                    json.field("documents").number(documents);
                    json.field("score").number(score);
                });
            });
        });
    }

    fn containers(&mut self, containers: &ContainerCounts) {
        self.object(|json| {
            json.field("array").number(containers.array);
            json.field("bitmap").number(containers.bitmap);
            json.field("run").number(containers.run);
            json.field("skipped").number(containers.skipped);
        });
    }

    fn node_segment(&mut self, segment: &NodeSegment) {
        self.object(|json| {
            json.field("id").string(&segment.id);
            json.field("algorithm").algorithm(&segment.algorithm);
            json.field("estimate").estimate(&segment.estimate);
            if let Some(actual) = &segment.actual {
                json.field("actual").actual(actual);
            }
        });
    }

    fn decision(&mut self, decision: &Decision) {
        self.object(|json| {
            json.field("rule").string(&decision.rule);
            json.field("accepted").boolean(decision.accepted);
            json.field("reason").string(&decision.reason);
            json.field("estimated_cost_ns").number_or_null(decision.estimated_cost_ns);
            if let Some(measured) = decision.measured_ns {
                json.field("measured_ns").number(measured);
            }
            if let Some(confirmed) = decision.confirmed() {
                json.field("confirmed").boolean(confirmed);
            }
            json.field("alternative");
            match &decision.alternative {
                None => json.null(),
                Some(alternative) => json.alternative(alternative),
            }
            if !decision.others.is_empty() {
                json.field("others").array(&decision.others, Json::alternative);
            }
        });
    }

    fn alternative(&mut self, alternative: &Alternative) {
        self.object(|json| {
            json.field("name").string(&alternative.name);
            json.field("estimated_cost_ns").number_or_null(alternative.estimated_cost_ns);
            if let Some(measured) = alternative.measured_ns {
                json.field("measured_ns").number(measured);
            }
        });
    }

    fn segment(&mut self, segment: &ExplainSegment) {
        self.object(|json| {
            json.field("id").string(&segment.id);
            json.field("documents").number(segment.documents);
            if segment.deleted > 0 {
                json.field("deleted").number(segment.deleted);
            }
            json.field("bytes").number(segment.bytes);
        });
    }

    fn facet(&mut self, facet: &ExplainFacet) {
        self.object(|json| {
            json.field("field").string(&facet.field);
            json.field("limit").number(facet.limit);
            if let Some(ranges) = &facet.ranges {
                json.field("ranges").string(ranges);
            }
            if let Some(options) = &facet.options {
                json.field("options").string(options);
            }
            json.field("algorithm").algorithm(&facet.algorithm);
            json.field("terms").number(facet.terms);
            if let Some(estimate) = facet.estimate {
                json.field("estimate").in_buckets(estimate);
            }
            if let Some(actual) = &facet.actual {
                json.field("actual").facet_actual(actual);
            }
            json.field("decisions").array(&facet.decisions, Json::decision);
            if !facet.within.is_empty() {
                json.field("within").array(&facet.within, Json::facet);
            }
        });
    }

    fn in_buckets(&mut self, within: InBuckets) {
        self.object(|json| {
            json.field("buckets").number(within.buckets);
            json.field("documents").number(within.documents);
        });
    }

    fn facet_actual(&mut self, actual: &FacetActual) {
        self.object(|json| {
            if let Some(within) = actual.within {
                json.field("within").in_buckets(within);
            }
            if actual.is_by_terms() {
                json.field("terms_intersected").number(actual.terms_intersected);
                json.field("terms_skipped").number(actual.terms_skipped);
                json.field("terms_from_document_frequency")
                    .number(actual.terms_from_document_frequency);
                json.deleted(actual.deleted_taken_away);
            }
            json.field("time_ns").number(actual.time_ns);
            if actual.is_by_terms() {
                json.field("bytes_read").number(actual.bytes_read);
            }
            if let Some(column) = actual.column {
                json.field("column").column(column);
            }
        });
    }

    /// Deleted documents that had to be taken away, if any.
    fn deleted(&mut self, taken_away: u64) {
        if taken_away > 0 {
            self.field("deleted_taken_away").number(taken_away);
        }
    }

    /// The name of an algorithm; null where there is only one way.
    fn algorithm(&mut self, algorithm: &str) {
        self.string_or_null((!algorithm.is_empty()).then_some(algorithm));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::explain::sample;

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
