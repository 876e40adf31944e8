//! JSON → [`ExplainTree`]: plans that were kept, read back.

use super::json_values::{JsonValue, word};
use super::{ExplainNode, ExplainTree, SCHEMA_VERSION};
use crate::error::{Error, ErrorKind, Result};
use crate::json::Reader;
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
            "notes" => tree.notes = JsonValue::read(reader)?,
            "findings" => tree.findings = JsonValue::read(reader)?,
            "page" => tree.page = Some(JsonValue::read(reader)?),
            "plan" => tree.plan = node(reader, &mut "0".to_owned())?,
            "segments" => tree.segments = JsonValue::read(reader)?,
            "facets" => tree.facets = JsonValue::read(reader)?,
            "documents" => tree.documents = JsonValue::read(reader)?,
            "term_lookups" => tree.term_lookups = Some(reader.whole()?),
            "planning_ns" => tree.planning_ns = Some(reader.whole()?),
            "planning" => tree.planning = Some(JsonValue::read(reader)?),
            // It follows from the others.
            "rest_ns" => _ = reader.whole::<u64>()?,
            "total_ns" => tree.total_ns = Some(reader.whole()?),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(tree)
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
            "field" => node.field = JsonValue::read(reader)?,
            "predicate" => node.predicate = JsonValue::read(reader)?,
            "algorithm" => node.algorithm = word(reader)?,
            "estimate" => node.estimate = JsonValue::read(reader)?,
            "terms" => node.terms = Some(reader.whole()?),
            "actual" => node.actual = Some(JsonValue::read(reader)?),
            "segments" => node.segments = JsonValue::read(reader)?,
            "decisions" => node.decisions = JsonValue::read(reader)?,
            "windows" => node.windows = JsonValue::read(reader)?,
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

#[cfg(test)]
mod tests;
