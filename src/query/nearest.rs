//! Queries by vectors: documents nearest to one, and those that are near enough.

use super::{Place, Query};
use crate::error::{Error, ErrorKind};
use crate::ids::DocId;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Vector whose neighbours are looked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QueryVector {
    /// The numbers themselves.
    Numbers(Numbers),
    /// A name, which [stands for](Query::with_vectors) numbers: `$v`.
    Parameter(String),
    /// The vectors of a document, which is not its own neighbour: `doc:15212`.
    Document(DocId),
}

/// Numbers of a vector; equal if their bits are.
#[derive(Clone)]
pub struct Numbers(Arc<[f32]>);

/// Documents that are wanted by how near their vectors are.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Neighbors {
    /// The nearest, so many of them, looked for with some effort.
    Nearest(u32, Effort),
    /// All of this similarity or a greater one.
    Within(f32),
}

/// Effort that the nearest are looked for with.
///
/// All that are let through are compared, or a graph leads to some.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Effort {
    /// The cheapest way by which this part of them is expected to be found.
    ///
    /// It is above 0 and up to 1: for 1 all are compared.
    Recall(f32),
    /// A walk through the graph that keeps so many: `ef`.
    ///
    /// It keeps at least as many as are asked for.
    Kept(u32),
    /// All are compared.
    Exact,
}

/// Part of the nearest that is looked for unless a query says otherwise.
const RECALL_DEFAULT: f32 = 0.95;

impl Default for Effort {
    fn default() -> Self {
        Effort::Recall(RECALL_DEFAULT)
    }
}

impl Effort {
    fn bits(self) -> (u32, u32) {
        match self {
            Effort::Recall(recall) => (0, recall.to_bits()),
            Effort::Kept(n) => (1, n),
            Effort::Exact => (2, 0),
        }
    }

    /// Reads what stands in a query: `recall=0.99`, `ef=200`, `exact`.
    pub(super) fn read(text: &str) -> Option<Effort> {
        let effort = match text.split_once('=') {
            None => (text == "exact").then_some(Effort::Exact)?,
            Some(("recall", recall)) => Effort::Recall(recall.parse().ok()?),
            Some(("ef", n)) => Effort::Kept(n.parse().ok()?),
            Some(_) => return None,
        };
        effort.wrong().is_none().then_some(effort)
    }

    /// Expected and found, where it is not as it is to be.
    pub(super) fn wrong(self) -> Option<(&'static str, String)> {
        match self {
            Effort::Recall(recall) if !(recall > 0.0 && recall <= 1.0) => {
                Some(("a recall above 0, at most 1", recall.to_string()))
            }
            Effort::Kept(0) => Some(("1 or more that a walk keeps", "0".into())),
            _ => None,
        }
    }
}

impl PartialEq for Effort {
    fn eq(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for Effort {}

/// Writes what stands behind the number of neighbours in a query: nothing where it is the default.
impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            effort if *effort == Effort::default() => Ok(()),
            Effort::Recall(recall) => write!(f, ", recall={recall}"),
            Effort::Kept(n) => write!(f, ", ef={n}"),
            Effort::Exact => f.write_str(", exact"),
        }
    }
}

impl Numbers {
    /// The numbers in their order.
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }

    fn bits(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|number| number.to_bits())
    }
}

impl PartialEq for Numbers {
    fn eq(&self, other: &Self) -> bool {
        self.bits().eq(other.bits())
    }
}

impl Eq for Numbers {}

impl Hash for Numbers {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.len().hash(state);
        self.bits().for_each(|bits| bits.hash(state));
    }
}

/// Shows how many there are, not all of them.
impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} numbers", self.0.len())
    }
}

impl Neighbors {
    fn bits(self) -> (u32, u32, (u32, u32)) {
        match self {
            Neighbors::Nearest(k, effort) => (0, k, effort.bits()),
            Neighbors::Within(similarity) => (1, similarity.to_bits(), (0, 0)),
        }
    }
}

impl PartialEq for Neighbors {
    fn eq(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for Neighbors {}

impl Hash for Neighbors {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().hash(state);
    }
}

impl QueryVector {
    /// Bytes that it takes beside itself.
    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            QueryVector::Numbers(numbers) => size_of_val(numbers.as_slice()),
            QueryVector::Parameter(name) => name.len(),
            QueryVector::Document(_) => 0,
        }
    }
}

impl From<Vec<f32>> for QueryVector {
    fn from(numbers: Vec<f32>) -> Self {
        QueryVector::Numbers(Numbers(numbers.into()))
    }
}

impl From<&[f32]> for QueryVector {
    fn from(numbers: &[f32]) -> Self {
        QueryVector::Numbers(Numbers(numbers.into()))
    }
}

impl<const N: usize> From<[f32; N]> for QueryVector {
    fn from(numbers: [f32; N]) -> Self {
        QueryVector::Numbers(Numbers(numbers.as_slice().into()))
    }
}

impl From<DocId> for QueryVector {
    fn from(doc: DocId) -> Self {
        QueryVector::Document(doc)
    }
}

/// Writes the vector as it stands in a query.
impl fmt::Display for QueryVector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueryVector::Numbers(numbers) => {
                f.write_str("[")?;
                for (nth, number) in numbers.as_slice().iter().enumerate() {
                    write!(f, "{}{number}", if nth == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            QueryVector::Parameter(name) => write!(f, "${name}"),
            QueryVector::Document(doc) => write!(f, "doc:{doc}"),
        }
    }
}

/// Writes `nearest(` and all up to its bracket.
pub(super) fn print(
    vector: &QueryVector,
    wanted: Neighbors,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    match wanted {
        Neighbors::Nearest(k, effort) => write!(f, "nearest({vector}, {k}{effort})"),
        Neighbors::Within(similarity) => write!(f, "within({vector}, {similarity})"),
    }
}

impl Query {
    /// Documents whose vectors are nearest to another, `k` of them: `embedding:nearest($v, 10)`.
    ///
    /// Nearest of those that all else allows: clauses beside it that must match, or must not, are met by each of the `k`,
    /// so that fewer come only where fewer documents meet them. An alternative has no such clauses beside it, and
    /// neither has one that is excluded; clauses that ask for the nearest themselves do not count. Documents with several vectors count by
    /// the nearest, and of those that are as near the first in the index come first.
    ///
    /// A document scores by the [`Metric`](crate::schema::Metric) of its field. In a segment with a graph these are, unless
    /// said otherwise, the nearest but for one in twenty: see [`recall`](Self::recall). There are as many as there can be, and
    /// vectors that are found are compared in 32-bit numbers.
    ///
    /// ```
    /// use treepie::query::Query;
    /// use treepie::schema::{Metric, Schema, VectorParams};
    ///
    /// let plain = Query::nearest("embedding", [0.5, -1.0], 10);
    /// assert_eq!(plain.to_string(), "embedding:nearest([0.5, -1], 10)");
    /// ```
    pub fn nearest(field: impl Into<String>, vector: impl Into<QueryVector>, k: u32) -> Self {
        Query::neighbors(field, vector, Neighbors::Nearest(k, Effort::default()))
    }

    /// Documents with a vector of this similarity to another, or a greater one: `embedding:within($v, 0.8)`.
    ///
    /// The similarity is that of the field's [`Metric`](crate::schema::Metric), which scores are made of, too.
    pub fn within(
        field: impl Into<String>,
        vector: impl Into<QueryVector>,
        similarity: f32,
    ) -> Self {
        Query::neighbors(field, vector, Neighbors::Within(similarity))
    }

    /// Sets the part of the nearest that is to be found (default: 0.95).
    ///
    /// It is above 0 and up to 1, and holds for all [`nearest`](Self::nearest) of a query.
    ///
    /// The cheapest way is taken by which as many were found when the graph of a segment was built: how many are found for other
    /// vectors may differ. With 1 all are compared.
    ///
    /// ```
    /// use treepie::query::Query;
    ///
    /// let query = Query::nearest("embedding", [0.5, -1.0], 10).recall(0.99);
    /// assert_eq!(query.to_string(), "embedding:nearest([0.5, -1], 10, recall=0.99)");
    /// ```
    #[must_use]
    pub fn recall(self, recall: f32) -> Self {
        self.with_effort(Effort::Recall(recall))
    }

    /// Sets how many vectors a walk through the graph of a segment keeps.
    ///
    /// It stands for a [recall](Self::recall) in all [`nearest`](Self::nearest) of a query.
    #[must_use]
    pub fn ef(self, n: u32) -> Self {
        self.with_effort(Effort::Kept(n))
    }

    /// Makes all [`nearest`](Self::nearest) of a query compare all vectors that are let through.
    #[must_use]
    pub fn exact(self) -> Self {
        self.with_effort(Effort::Exact)
    }

    pub(super) fn neighbors(
        field: impl Into<String>,
        vector: impl Into<QueryVector>,
        wanted: Neighbors,
    ) -> Self {
        let (field, vector) = (Some(field.into()), vector.into());
        Query::Nearest { field, vector, wanted, place: Place::default() }
    }
}

/// The error of a parameter that stands for nothing.
pub(super) fn unbound(name: &str, place: &Place) -> Error {
    let error = Error::new(ErrorKind::Query, format!("reading the parameter '${name}'"))
        .expected("a vector that it stands for")
        .found("none")
        .hint(format!("--param {name}=@FILE of the tool, Query::with_vectors of the library"));
    match &place.text {
        Some(span) => error.at_span(span.clone()),
        None => error,
    }
}
