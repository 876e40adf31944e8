//! JSON → [`ExplainTree`]: plans that were kept, read back.

use super::{
    Actual, Alternative, CandidateCounts, ColumnCounts, ContainerCounts, ContainerMap, Decision,
    Estimate, ExplainDocument, ExplainFacet, ExplainNode, ExplainPage, ExplainSegment, ExplainTree,
    FacetActual, Finding, InBuckets, NodeSegment, PlanningTimes, PositionCounts, RankingCounts,
    SCHEMA_VERSION, Severity, StreamCounts, TermCounts, Threshold, Verdict,
};
use crate::error::{Error, ErrorKind, Result};
use crate::json::Reader;
use crate::ranking::scorer::Explanation;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What is read, for messages.
const A_PLAN: &str = "a plan";

impl ExplainTree {
    /// The tree that [`to_json`](Self::to_json) wrote. Names that are not known are left out, as a later version may write
    /// more of them; what is derived, such as `q_error`, is not read.
    ///
    /// Takes time and memory for a few copies of the text.
    ///
    /// # Errors
    ///
    /// With the line, the column and the path that leads there, such as `plan.children[2].estimate.upper`:
    /// [`ErrorKind::Corrupt`] for what is not JSON, lacks a name, has a value of the wrong type, or has nodes with other ids than
    /// [`ExplainNode::number`] gives them;
    /// [`ErrorKind::UnsupportedVersion`] for a `schema_version` other than [`SCHEMA_VERSION`]; and
    /// [`ErrorKind::LimitExceeded`] for more than [`JSON_BYTES_MAX`](super::JSON_BYTES_MAX), or more than 640 objects and arrays inside each other, which no
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
        let mut reader = Reader::new(text, A_PLAN)?;
        let tree = read_tree(&mut reader)?;
        reader.end()?;
        Ok(tree)
    }
}

/// The number of the version, which has to be the one that is known.
pub(super) fn check_version(reader: &mut Reader<'_>) -> Result<()> {
    let version: u64 = reader.whole()?;
    if version == u64::from(SCHEMA_VERSION) {
        return Ok(());
    }
    let error = Error::new(ErrorKind::UnsupportedVersion, "reading schema_version of a plan")
        .expected(SCHEMA_VERSION.to_string())
        .found(version.to_string());
    Err(match version > u64::from(SCHEMA_VERSION) {
        true => error.hint("a newer treepie wrote it, and reads it"),
        false => error,
    })
}

pub(super) fn read_tree(reader: &mut Reader<'_>) -> Result<ExplainTree> {
    let mut tree = ExplainTree::new("", ExplainNode::default());
    let required = ["schema_version", "query", "parsed", "rewritten", "notes", "plan"];
    let required = [&required[..], &["segments", "facets"]].concat();
    reader.object(&required, |reader, name| {
        match name {
            "schema_version" => check_version(reader)?,
            "query" => tree.query = reader.string()?,
            "parsed" => tree.parsed = reader.string()?,
            "rewritten" => tree.rewritten = reader.string()?,
            "notes" => tree.notes = reader.array(Reader::string)?,
            "findings" => tree.findings = reader.array(finding)?,
            "page" => tree.page = Some(page(reader)?),
            "plan" => tree.plan = node(reader, &mut "0".to_owned())?,
            "segments" => tree.segments = reader.array(segment)?,
            "facets" => tree.facets = reader.array(facet)?,
            "documents" => tree.documents = reader.array(document)?,
            "term_lookups" => tree.term_lookups = Some(reader.whole()?),
            "planning_ns" => tree.planning_ns = Some(reader.whole()?),
            "planning" => tree.planning = Some(planning(reader)?),
            // It follows from the others.
            "rest_ns" => _ = reader.whole::<u64>()?,
            "total_ns" => tree.total_ns = Some(reader.whole()?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(tree)
}

fn planning(reader: &mut Reader<'_>) -> Result<PlanningTimes> {
    let mut planning = PlanningTimes::default();
    let required = ["bind_ns", "look_up_ns", "estimate_ns", "choose_ns"];
    reader.object(&required, |reader, name| {
        match name {
            "parse_ns" => planning.parse_ns = Some(reader.whole()?),
            "bind_ns" => planning.bind_ns = reader.whole()?,
            "look_up_ns" => planning.look_up_ns = reader.whole()?,
            "estimate_ns" => planning.estimate_ns = reader.whole()?,
            "choose_ns" => planning.choose_ns = reader.whole()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(planning)
}

fn page(reader: &mut Reader<'_>) -> Result<ExplainPage> {
    let mut page = ExplainPage::default();
    reader.object(&["offset", "limit", "total"], |reader, name| {
        match name {
            "offset" => page.offset = reader.whole()?,
            "limit" => page.limit = reader.whole()?,
            "total" => page.total = reader.string()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(page)
}

/// A node, whose id has to be `id`: the path that leads to it.
fn node(reader: &mut Reader<'_>, id: &mut String) -> Result<ExplainNode> {
    let mut node = ExplainNode::default();
    let required = ["id", "operator", "label", "estimate", "children"];
    reader.object(&required, |reader, name| {
        match name {
            "id" => node.id = reader.one_of(&[(&**id, ())]).map(|()| id.clone())?,
            "operator" => node.operator = reader.string()?,
            "label" => node.label = reader.string()?,
            "field" => node.field = reader.or_null(Reader::string)?,
            "predicate" => node.predicate = reader.or_null(Reader::string)?,
            "algorithm" => node.algorithm = algorithm(reader)?,
            "estimate" => node.estimate = estimate(reader)?,
            "terms" => node.terms = Some(reader.whole()?),
            "actual" => node.actual = Some(actual(reader)?),
            "segments" => node.segments = reader.array(node_segment)?,
            "decisions" => node.decisions = reader.array(decision)?,
            "windows" => node.windows = reader.array(container_map)?,
            "children" => node.children = children(reader, id)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(node)
}

/// The inputs of the node `id`.
fn children(reader: &mut Reader<'_>, id: &mut String) -> Result<Vec<ExplainNode>> {
    let (len, mut nth) = (id.len(), 0);
    reader.array(|reader| {
        id.truncate(len);
        write!(id, ".{nth}").expect("a String takes every text");
        nth += 1;
        node(reader, id)
    })
}

/// The name of an algorithm; null where there is only one way.
fn algorithm(reader: &mut Reader<'_>) -> Result<String> {
    Ok(reader.or_null(Reader::string)?.unwrap_or_default())
}

fn estimate(reader: &mut Reader<'_>) -> Result<Estimate> {
    let mut estimate = Estimate::default();
    reader.object(&["documents", "lower", "upper", "source"], |reader, name| {
        match name {
            "documents" => estimate.documents = reader.whole()?,
            "lower" => estimate.lower = reader.whole()?,
            "upper" => estimate.upper = reader.whole()?,
            "source" => estimate.source = reader.string()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(estimate)
}

fn actual(reader: &mut Reader<'_>) -> Result<Actual> {
    let mut actual = Actual::default();
    let required = ["documents", "time_ns", "bytes_read", "containers", "complete"];
    reader.object(&required, |reader, name| {
        match name {
            "documents" => actual.documents = reader.whole()?,
            "documents_in" => actual.documents_in = Some(reader.whole()?),
            "time_ns" => actual.time_ns = reader.whole()?,
            "bytes_read" => actual.bytes_read = reader.whole()?,
            "containers" => actual.containers = containers(reader)?,
            "terms" => actual.terms = Some(terms(reader)?),
            "positions" => actual.positions = Some(positions(reader)?),
            "ranking" => actual.ranking = Some(ranking(reader)?),
            "sort" => actual.sort = Some(column(reader)?),
            "streamed" => actual.streamed = Some(streamed(reader)?),
            "complete" => actual.complete = reader.boolean()?,
            "stopped" => actual.stopped = reader.boolean()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(actual)
}

fn containers(reader: &mut Reader<'_>) -> Result<ContainerCounts> {
    let mut counts = ContainerCounts::default();
    reader.object(&["array", "bitmap", "run", "skipped"], |reader, name| {
        match name {
            "array" => counts.array = reader.whole()?,
            "bitmap" => counts.bitmap = reader.whole()?,
            "run" => counts.run = reader.whole()?,
            "skipped" => counts.skipped = reader.whole()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(counts)
}

fn terms(reader: &mut Reader<'_>) -> Result<TermCounts> {
    let mut counts = TermCounts::default();
    reader.object(&["visited", "expanded", "cut"], |reader, name| {
        match name {
            "visited" => counts.visited = reader.whole()?,
            "expanded" => counts.expanded = reader.whole()?,
            "cut" => counts.cut = reader.boolean()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(counts)
}

fn positions(reader: &mut Reader<'_>) -> Result<PositionCounts> {
    let mut counts = PositionCounts::default();
    reader.object(&["candidates", "positions"], |reader, name| {
        match name {
            "candidates" => counts.candidates = reader.whole()?,
            "positions" => counts.positions = reader.whole()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(counts)
}

fn ranking(reader: &mut Reader<'_>) -> Result<RankingCounts> {
    let mut counts = RankingCounts::default();
    let required = ["documents_scored", "blocks", "blocks_skipped", "windows", "windows_skipped"];
    reader.object(&required, |reader, name| {
        match name {
            "documents_scored" => counts.documents_scored = reader.whole()?,
            "postings" => counts.postings = Some(reader.whole()?),
            "blocks" => counts.blocks = reader.whole()?,
            "blocks_skipped" => counts.blocks_skipped = reader.whole()?,
            "windows" => counts.windows = reader.whole()?,
            "windows_skipped" => counts.windows_skipped = reader.whole()?,
            "searched_twice" => counts.searched_twice = reader.boolean()?,
            "candidates" => counts.candidates = Some(candidates(reader)?),
            "thresholds" => counts.thresholds = reader.array(threshold)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(counts)
}

fn candidates(reader: &mut Reader<'_>) -> Result<CandidateCounts> {
    let mut counts = CandidateCounts::default();
    let required = ["looked_up", "found", "skipped_by_blocks", "skipped_by_frequencies"];
    reader.object(&required, |reader, name| {
        match name {
            "looked_up" => counts.looked_up = reader.whole()?,
            "found" => counts.found = reader.whole()?,
            "skipped_by_blocks" => counts.skipped_by_blocks = reader.whole()?,
            "skipped_by_frequencies" => counts.skipped_by_frequencies = reader.whole()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(counts)
}

fn threshold(reader: &mut Reader<'_>) -> Result<Threshold> {
    let mut rise = Threshold::default();
    reader.object(&["documents", "score"], |reader, name| {
        match name {
            "documents" => rise.documents = reader.whole()?,
            "score" => rise.score = reader.float()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(rise)
}

fn column(reader: &mut Reader<'_>) -> Result<ColumnCounts> {
    let mut counts = ColumnCounts::default();
    reader.object(&["documents", "blocks", "blocks_skipped"], |reader, name| {
        match name {
            "documents" => counts.documents = reader.whole()?,
            "blocks" => counts.blocks = reader.whole()?,
            "blocks_skipped" => counts.blocks_skipped = reader.whole()?,
            "ends_looked_up" => counts.ends_looked_up = reader.whole()?,
            "deleted_taken_away" => counts.deleted_taken_away = reader.whole()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(counts)
}

fn streamed(reader: &mut Reader<'_>) -> Result<StreamCounts> {
    let mut counts = StreamCounts::default();
    let required = ["segments", "given_up", "terms", "documents", "candidates"];
    reader.object(&required, |reader, name| {
        match name {
            "segments" => counts.segments = reader.whole()?,
            "given_up" => counts.given_up = reader.whole()?,
            "terms" => counts.terms = reader.whole()?,
            "documents" => counts.documents = reader.whole()?,
            "candidates" => counts.candidates = reader.whole()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(counts)
}

fn node_segment(reader: &mut Reader<'_>) -> Result<NodeSegment> {
    let mut segment = NodeSegment::default();
    reader.object(&["id", "estimate"], |reader, name| {
        match name {
            "id" => segment.id = reader.string()?,
            "algorithm" => segment.algorithm = algorithm(reader)?,
            "estimate" => segment.estimate = estimate(reader)?,
            "actual" => segment.actual = Some(actual(reader)?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(segment)
}

fn container_map(reader: &mut Reader<'_>) -> Result<ContainerMap> {
    let mut map = ContainerMap::default();
    reader.object(&["segment", "kinds", "documents"], |reader, name| {
        match name {
            "segment" => map.segment = reader.string()?,
            "kinds" => map.kinds = reader.string()?,
            "documents" => map.documents = reader.array(Reader::whole)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let (n_kinds, n_numbers) = (map.kinds.chars().count(), map.documents.len());
    match n_kinds == n_numbers {
        true => Ok(map),
        false => Err(reader.error(
            &format!("a number of documents for each of {n_kinds} windows"),
            &format!("{n_numbers} before this"),
        )),
    }
}

fn decision(reader: &mut Reader<'_>) -> Result<Decision> {
    let mut decision = Decision::default();
    reader.object(&["rule", "accepted", "reason"], |reader, name| {
        match name {
            "rule" => decision.rule = reader.string()?,
            "accepted" => decision.accepted = reader.boolean()?,
            "reason" => decision.reason = reader.string()?,
            "estimated_cost_ns" => decision.estimated_cost_ns = reader.or_null(Reader::whole)?,
            "measured_ns" => decision.measured_ns = Some(reader.whole()?),
            "alternative" => decision.alternative = reader.or_null(alternative)?,
            "others" => decision.others = reader.array(alternative)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(decision)
}

fn alternative(reader: &mut Reader<'_>) -> Result<Alternative> {
    let mut alternative = Alternative::default();
    reader.object(&["name"], |reader, name| {
        match name {
            "name" => alternative.name = reader.string()?,
            "estimated_cost_ns" => alternative.estimated_cost_ns = reader.or_null(Reader::whole)?,
            "measured_ns" => alternative.measured_ns = Some(reader.whole()?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(alternative)
}

fn segment(reader: &mut Reader<'_>) -> Result<ExplainSegment> {
    let mut segment = ExplainSegment::default();
    reader.object(&["id", "documents", "bytes"], |reader, name| {
        match name {
            "id" => segment.id = reader.string()?,
            "documents" => segment.documents = reader.whole()?,
            "bytes" => segment.bytes = reader.whole()?,
            "deleted" => segment.deleted = reader.whole()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(segment)
}

fn facet(reader: &mut Reader<'_>) -> Result<ExplainFacet> {
    let mut facet = ExplainFacet::default();
    reader.object(&["field", "limit", "terms"], |reader, name| {
        match name {
            "field" => facet.field = reader.string()?,
            "limit" => facet.limit = reader.whole()?,
            "ranges" => facet.ranges = Some(reader.string()?),
            "options" => facet.options = Some(reader.string()?),
            "algorithm" => facet.algorithm = algorithm(reader)?,
            "terms" => facet.terms = reader.whole()?,
            "estimate" => facet.estimate = Some(in_buckets(reader)?),
            "actual" => facet.actual = Some(facet_actual(reader)?),
            "decisions" => facet.decisions = reader.array(decision)?,
            "within" => facet.within = reader.array(self::facet)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(facet)
}

fn in_buckets(reader: &mut Reader<'_>) -> Result<InBuckets> {
    let mut counts = InBuckets::default();
    reader.object(&["buckets", "documents"], |reader, name| {
        match name {
            "buckets" => counts.buckets = reader.whole()?,
            "documents" => counts.documents = reader.whole()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(counts)
}

fn facet_actual(reader: &mut Reader<'_>) -> Result<FacetActual> {
    let mut actual = FacetActual::default();
    reader.object(&["time_ns"], |reader, name| {
        match name {
            "within" => actual.within = Some(in_buckets(reader)?),
            "time_ns" => actual.time_ns = reader.whole()?,
            "column" => actual.column = Some(column(reader)?),
            "terms_intersected" => actual.terms_intersected = reader.whole()?,
            "terms_skipped" => actual.terms_skipped = reader.whole()?,
            "terms_from_document_frequency" => {
                actual.terms_from_document_frequency = reader.whole()?;
            }
            "deleted_taken_away" => actual.deleted_taken_away = reader.whole()?,
            "bytes_read" => actual.bytes_read = reader.whole()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(actual)
}

fn finding(reader: &mut Reader<'_>) -> Result<Finding> {
    let mut finding = Finding::default();
    reader.object(&["rule", "severity", "message"], |reader, name| {
        match name {
            "rule" => finding.rule = reader.string()?,
            "severity" => {
                let names = [Severity::Note, Severity::Hint, Severity::Warning];
                finding.severity = reader.one_of(&names.map(|it| (it.name(), it)))?;
            }
            "node" => finding.node = reader.or_null(Reader::string)?,
            "facet" => finding.facet = reader.or_null(Reader::string)?,
            "message" => finding.message = reader.string()?,
            "remedy" => finding.remedy = reader.or_null(Reader::string)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(finding)
}

fn document(reader: &mut Reader<'_>) -> Result<ExplainDocument> {
    let mut document = ExplainDocument::default();
    reader.object(&["doc", "title", "matches", "verdicts"], |reader, name| {
        match name {
            "doc" => document.doc = reader.whole()?,
            "title" => document.title = reader.string()?,
            "matches" => document.matches = reader.boolean()?,
            "deleted" => document.deleted = reader.boolean()?,
            "failed_at" => document.failed_at = reader.or_null(Reader::string)?,
            "reason" => document.reason = reader.string()?,
            "misses" => document.misses = reader.array(Reader::string)?,
            "verdicts" => document.verdicts = verdicts(reader)?,
            "score" => document.score = reader.or_null(explanation)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(document)
}

fn verdicts(reader: &mut Reader<'_>) -> Result<BTreeMap<String, Verdict>> {
    let names = [Verdict::Matched, Verdict::Failed, Verdict::NotReached];
    let names = names.map(|verdict| (verdict.name(), verdict));
    let mut verdicts = BTreeMap::new();
    reader.object(&[], |reader, node| {
        verdicts.insert(node.to_owned(), reader.one_of(&names)?);
        Ok(true)
    })?;
    Ok(verdicts)
}

fn explanation(reader: &mut Reader<'_>) -> Result<Explanation> {
    let mut of = Explanation { value: 0.0, what: String::new(), parts: vec![] };
    reader.object(&["value", "what", "parts"], |reader, name| {
        match name {
            "value" => of.value = reader.float()?,
            "what" => of.what = reader.string()?,
            "parts" => of.parts = reader.array(explanation)?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(of)
}

#[cfg(test)]
mod tests;
