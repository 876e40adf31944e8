//! JSON → [`ExplainTree`]: plans that were kept, read back.

use super::ExplainTree;
use super::json_values::JsonValue;
use crate::error::Result;
use crate::json::Reader;

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
        let mut reader = Reader::new(text, A_PLAN)?;
        let tree = ExplainTree::read(&mut reader)?;
        reader.end()?;
        Ok(tree)
    }
}

#[cfg(test)]
mod tests;
