//! The tree that people and programs read: operators with their estimates and decisions.

use super::counts::{Actual, FacetActual, RepeatedRuns, RunTimes};
use super::documents::ExplainDocument;
use super::findings::Finding;
use super::operator::ExplainOperator;
use super::units::{joined, spaced};
use std::time::Duration;

/// Explained query: its text, its rewritten forms, its plan and, after a run, measurements.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExplainTree {
    /// The text as it was asked.
    pub query: String,
    /// The text as the parser understood it, every binding spelled out.
    pub parsed: String,
    /// The text after the rewriter simplified it.
    pub rewritten: String,
    /// Notes of the rewriter on what it dropped or replaced, and why, one sentence each.
    pub notes: Vec<String>,
    /// The root of the plan.
    pub plan: ExplainNode,
    /// The segments of the snapshot the plan was made for, in order.
    pub segments: Vec<ExplainSegment>,
    /// Hits that are wanted of the matches; `None` if only their number is.
    pub page: Option<ExplainPage>,
    /// Facets and how each is counted, in the order they were asked for.
    pub facets: Vec<ExplainFacet>,
    /// Findings, the weightiest first.
    pub findings: Vec<Finding>,
    /// Verdicts of the nodes on single documents, if these were asked for.
    pub documents: Vec<ExplainDocument>,
    /// Number of look-ups of terms in dictionaries; `None` if nobody has counted. Each term of a field and each segment
    /// count once, whatever needs the term to match, score, count or explain. Walks of patterns are not counted.
    pub term_lookups: Option<u64>,
    /// Time of planning, before anything ran; `None` if the query was not run. Words were looked up, patterns expanded,
    /// what scores need was found, and a plan was chosen. The time is in no node, and a part of
    /// [`total_ns`](Self::total_ns).
    pub planning_ns: Option<u64>,
    /// Phases that make up [`planning_ns`](Self::planning_ns). `None` if the query was not run, or by a version that
    /// did not tell them apart.
    pub planning: Option<PlanningTimes>,
    /// Time of the whole query from plan to answer; `None` if it was not run.
    pub total_ns: Option<u64>,
    /// Times of all runs, if there were several. All else is of the run with the median time.
    pub repeated: Option<RepeatedRuns>,
}

/// Time of planning by phase, in nanoseconds. No moment is in two phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanningTimes {
    /// Time of reading the query's text. `None` if whoever has read it does not [say](ExplainTree::add_parsing).
    pub parse_ns: Option<u64>,
    /// Turning names into fields and words into terms, and making the query simpler.
    pub bind_ns: u64,
    /// Reading dictionaries, statistics and the headers of lists, expanding patterns, and finding what scores need.
    pub look_up_ns: u64,
    /// Estimating how many documents each operator finds.
    pub estimate_ns: u64,
    /// Choosing operators, their order and their algorithms.
    pub choose_ns: u64,
}

impl PlanningTimes {
    /// Names and times of the phases that are known, in their order.
    pub(super) fn by_name(self) -> impl Iterator<Item = (&'static str, u64)> {
        let others = [
            ("bind_ns", self.bind_ns),
            ("look_up_ns", self.look_up_ns),
            ("estimate_ns", self.estimate_ns),
            ("choose_ns", self.choose_ns),
        ];
        self.parse_ns.map(|ns| ("parse_ns", ns)).into_iter().chain(others)
    }

    /// Phases that took any time, for people: `look up`.
    pub(super) fn in_words(self) -> impl Iterator<Item = (String, u64)> {
        let named = self.by_name().filter(|(_, ns)| *ns > 0);
        named.map(|(name, ns)| (spaced(name), ns))
    }
}

/// The hits that are wanted, and how far matches are counted beside them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainPage {
    /// Hits left out before the first.
    pub offset: u64,
    /// Hits at the most.
    pub limit: u64,
    /// Accuracy of the number of matches: `exact`, `none`, or the largest number counted.
    pub total: String,
}

/// One operator of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExplainNode {
    /// The path from the root: `0`, `0.1`, `0.1.0`; see [`number`](Self::number).
    pub id: String,
    /// Operator of the node.
    pub operator: ExplainOperator,
    /// Label for people that says what the operator works on; printed behind the operator.
    pub label: String,
    /// Field that the node reads, if any.
    pub field: Option<String>,
    /// The part of the query that the node answers, in query syntax.
    pub predicate: Option<String>,
    /// Algorithm of the node; empty if there is only one.
    pub algorithm: String,
    /// Number of documents that the planner expects.
    pub estimate: Estimate,
    /// Expectations of finding neighbours, if the node does that and there is a graph.
    pub neighbors: Option<NeighborsEstimate>,
    /// Least number of terms of the node's pattern; `None` if it is none. It is as far as planning has looked for them,
    /// summed over the segments.
    pub terms: Option<u64>,
    /// Measurements, summed over the segments; `None` if the plan was not run.
    pub actual: Option<Actual>,
    /// Times of the node alone over all runs, if there were several.
    pub times: Option<RunTimes>,
    /// Details by segment, if there is more than the sum to tell.
    pub segments: Vec<NodeSegment>,
    /// Decisions of the planner at this node.
    pub decisions: Vec<Decision>,
    /// Container maps of the documents that the node reads or finds, by segment. A segment has one only if its
    /// containers are known.
    pub windows: Vec<ContainerMap>,
    /// The inputs.
    pub children: Vec<ExplainNode>,
}

/// Expected work and recall of finding neighbours, in the segment with the longest.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NeighborsEstimate {
    /// The way: `exact`, `walk` or `two hops`.
    pub way: String,
    /// Nodes that a walk keeps; 0 if there is none.
    pub ef: u64,
    /// Part of the nearest that is found, as the curve of the graph says.
    pub recall: f64,
    /// Codes that a walk compares.
    pub distances: u64,
}

/// A number of documents with the bounds that hold whatever the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Estimate {
    /// The planner's guess.
    pub documents: u64,
    /// Lower bound: there are never fewer, if the node runs to its end.
    pub lower: u64,
    /// Upper bound: there are never more.
    pub upper: u64,
    /// Source of the numbers: `document frequency`, `independence`, …
    pub source: String,
}

/// Part of a node in one segment: its algorithm, its estimate, and measurements.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NodeSegment {
    /// The segment's id in hexadecimal.
    pub id: String,
    /// Algorithm chosen for this segment; empty if there is only one.
    pub algorithm: String,
    /// Number of documents that the planner expects of this segment.
    pub estimate: Estimate,
    /// Measurements of this segment; `None` if the plan was not run.
    pub actual: Option<Actual>,
}

/// Distribution of a number over the segments of a node; see [`ExplainNode::spread`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Spread {
    /// Number of the segment with the least.
    pub min: u64,
    /// The sum by the number of segments.
    pub mean: f64,
    /// Number of the segment with the most.
    pub max: u64,
}

/// Roaring containers of a node in one segment, one per window of 65,536 documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContainerMap {
    /// The segment's id in hexadecimal.
    pub segment: String,
    /// Kinds of containers, a character per window. `a` is an array, `b` a bitmap, `r` runs, and `.` an empty window.
    pub kinds: String,
    /// Documents in each window.
    pub documents: Vec<u32>,
}

/// Decision of the planner, with its reason and the costs of the alternatives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// The rule that was considered.
    pub rule: String,
    /// Whether it was applied.
    pub accepted: bool,
    /// Why, or why not.
    pub reason: String,
    /// Expected cost of the node after the decision, if the rule is about cost.
    pub estimated_cost_ns: Option<u64>,
    /// Least time of several runs of the whole search this way. `None` if none was measured.
    pub measured_ns: Option<u64>,
    /// Neighbours that were found so. `None` if it is not about these, or nothing was measured.
    pub recall: Option<Recall>,
    /// Best alternative that was not taken, if there was one.
    pub alternative: Option<Alternative>,
    /// Other alternatives that were not taken. Measured ones come first, the fastest before the others; then by cost.
    pub others: Vec<Alternative>,
}

/// The way that a decision did not take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Alternative {
    /// Name of the way.
    pub name: String,
    /// Expected cost of this way, if the rule is about cost.
    pub estimated_cost_ns: Option<u64>,
    /// Least time of several runs of the whole search this way. `None` if none was measured.
    pub measured_ns: Option<u64>,
    /// Neighbours that were found so. `None` if it is not about these, or nothing was measured.
    pub recall: Option<Recall>,
}

/// Numbers of the nearest vectors and of those found, for [`Decision`] and [`Alternative`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recall {
    /// Nearest that comparing all vectors finds.
    pub nearest: u64,
    /// Neighbours that are as near as these.
    pub recalled: u64,
}

impl Recall {
    /// Part of the nearest that was found; all of none.
    pub fn part(&self) -> f64 {
        if self.nearest == 0 { 1.0 } else { self.recalled as f64 / self.nearest as f64 }
    }
}

/// One segment of the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainSegment {
    /// The segment's id in hexadecimal.
    pub id: String,
    /// Documents in it, deleted ones included.
    pub documents: u64,
    /// Deleted documents among these.
    pub deleted: u64,
    /// Bytes of its file.
    pub bytes: u64,
}

/// Expected number of buckets that a facet is counted in, and of their documents. One that is within no other is
/// counted once, in everything that matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FacetEstimate {
    /// Number of buckets.
    pub buckets: u64,
    /// The most that there ever are.
    pub buckets_upper: u64,
    /// Documents of all of them.
    pub documents: u64,
    /// The fewest that these ever are.
    pub lower: u64,
    /// The most that these ever are.
    pub upper: u64,
}

/// One facet, or what else is found in each bucket of one, and how.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExplainFacet {
    /// Name of the operator: `Facet`, or `TopHits` for the best documents of each bucket.
    pub operator: String,
    /// The field whose terms are counted.
    pub field: String,
    /// Number of values that were asked for.
    pub limit: u64,
    /// Algorithm that counts the values.
    pub algorithm: String,
    /// Ranges of counted values, for people; `None` if each value counts by itself.
    pub ranges: Option<String>,
    /// Wanted values and their order, for people; `None` for the most frequent ones.
    pub options: Option<String>,
    /// Distinct terms of the field, summed over the segments; 0 if ranges are counted.
    pub terms: u64,
    /// Expected number of counted documents, and of buckets of the facet around it.
    pub estimate: Option<FacetEstimate>,
    /// Decisions of the planner on this facet. Within another facet costs are those of all buckets together.
    pub decisions: Vec<Decision>,
    /// Measurements; `None` if the plan was not run. Within another facet they are sums over its buckets.
    pub actual: Option<FacetActual>,
    /// Times of the facet over all runs, if there were several.
    pub times: Option<RunTimes>,
    /// Facets that are counted in each bucket of this one.
    pub within: Vec<ExplainFacet>,
}

impl ExplainFacet {
    /// Returns a facet of a field, of which nothing else is known.
    pub(crate) fn of(field: &str) -> Self {
        let (operator, field) = ("Facet".to_owned(), field.to_owned());
        ExplainFacet { operator, field, ..ExplainFacet::default() }
    }

    /// Values that are counted, for people: by which ranges, or else the `top` ones, and which of them are wanted.
    pub(super) fn values(&self, top: &str) -> String {
        let ranges = self.ranges.as_deref().unwrap_or(top);
        let parts = [Some(&*self.field), Some(ranges), self.options.as_deref()];
        joined(parts.into_iter().flatten(), ", ")
    }

    /// Iterates over this facet and all within it, outer ones first.
    pub fn iter(&self) -> impl Iterator<Item = &ExplainFacet> {
        parents_first(self)
    }
}

/// Node or facet, which has others of its kind below it.
pub(super) trait Branch: Sized {
    fn below(&self) -> &[Self];

    fn parts_mut(&mut self) -> (&mut Option<RunTimes>, &mut [Self]);

    /// Time, and bytes that were read, without what is below it; `None` where it was not run.
    fn own(&self) -> Option<(u64, u64)>;

    fn time_ns(&self) -> Option<u64> {
        self.own().map(|(time_ns, _)| time_ns)
    }
}

macro_rules! branches {
    ($($type:ident: $below:ident;)+) => {
        $(impl Branch for $type {
            fn below(&self) -> &[Self] {
                &self.$below
            }

            fn parts_mut(&mut self) -> (&mut Option<RunTimes>, &mut [Self]) {
                (&mut self.times, &mut self.$below)
            }

            fn own(&self) -> Option<(u64, u64)> {
                self.actual.as_ref().map(|actual| (actual.time_ns, actual.bytes_read))
            }
        })+
    };
}

branches! {
    ExplainNode: children;
    ExplainFacet: within;
}

/// A node or facet and all below it, parents first, each with the place of its parent.
pub(super) fn with_parents<N: Branch>(root: &N) -> impl Iterator<Item = (&N, Option<usize>)> {
    let mut todo = vec![(root, None)];
    (0..).map_while(move |at| {
        let (node, parent) = todo.pop()?;
        todo.extend(node.below().iter().rev().map(|below| (below, Some(at))));
        Some((node, parent))
    })
}

/// Iterates over a node or facet and all below it, parents first.
pub(super) fn parents_first<N: Branch>(root: &N) -> impl Iterator<Item = &N> {
    with_parents(root).map(|(node, _)| node)
}

impl ExplainTree {
    /// Makes a tree of a query text and the root of its plan. `parsed` and `rewritten` start as the text.
    pub fn new(query: impl Into<String>, plan: ExplainNode) -> Self {
        let (query, mut plan) = (query.into(), plan);
        plan.number();
        let (parsed, rewritten) = (query.clone(), query.clone());
        ExplainTree { query, parsed, rewritten, plan, ..ExplainTree::default() }
    }

    /// Adds the time of reading the query's text to planning and the whole. A search does not know that time; nothing
    /// is added if the query was not run.
    ///
    /// ```
    /// use std::time::Duration;
    /// use treepie::explain::{ExplainNode, ExplainTree, PlanningTimes};
    ///
    /// let mut tree = ExplainTree::new("rust", ExplainNode::new("TermScan", "title:rust"));
    /// (tree.planning_ns, tree.planning) = (Some(0), Some(PlanningTimes::default()));
    /// tree.total_ns = Some(100);
    /// tree.add_parsing(Duration::from_nanos(700));
    /// assert_eq!((tree.planning.unwrap().parse_ns, tree.total_ns), (Some(700), Some(800)));
    /// ```
    pub fn add_parsing(&mut self, took: Duration) {
        let ns = nanoseconds(took);
        let (Some(planning), Some(all), Some(total)) =
            (&mut self.planning, &mut self.planning_ns, &mut self.total_ns)
        else {
            return;
        };
        planning.parse_ns = Some(planning.parse_ns.unwrap_or(0).saturating_add(ns));
        *all = all.saturating_add(ns);
        *total = total.saturating_add(ns);
        if let Some(repeated) = &mut self.repeated {
            repeated.planning.add(ns);
            repeated.total.add(ns);
        }
    }

    /// A number of the segments, summed up.
    pub(super) fn of_segments(&self, of: fn(&ExplainSegment) -> u64) -> u64 {
        // Trees of any origin may say anything.
        self.segments.iter().map(of).fold(0, u64::saturating_add)
    }

    /// All measured time: that of planning, of nodes and of facets, nested ones included. No moment is in two of them.
    ///
    /// ```
    /// use treepie::explain::{Actual, ExplainNode, ExplainTree};
    ///
    /// let mut tree = ExplainTree::new("rust", ExplainNode::new("TermScan", "title:rust"));
    /// assert_eq!(tree.measured_ns(), 0);
    /// let mut actual = Actual::of(42);
    /// actual.time_ns = 900;
    /// tree.plan.actual = Some(actual);
    /// assert_eq!(tree.measured_ns(), 900);
    /// (tree.planning_ns, tree.total_ns) = (Some(100), Some(1_200));
    /// assert_eq!((tree.measured_ns(), tree.rest_ns()), (1_000, Some(200)));
    /// ```
    pub fn measured_ns(&self) -> u64 {
        self.own_times().fold(self.planning_ns.unwrap_or(0), u64::saturating_add)
    }

    /// Times of the nodes and facets that were run, parents first.
    fn own_times(&self) -> impl Iterator<Item = u64> {
        let of_facets = self.all_facets().filter_map(Branch::time_ns);
        self.plan.iter().filter_map(Branch::time_ns).chain(of_facets)
    }

    /// The facets with those within them, outer ones first.
    pub(super) fn all_facets(&self) -> impl Iterator<Item = &ExplainFacet> {
        self.facets.iter().flat_map(ExplainFacet::iter)
    }

    /// Time of the run that neither planning nor any node or facet took. Fetching hits and waiting for the processor
    /// are in it. With [`measured_ns`](Self::measured_ns) it makes up [`total_ns`](Self::total_ns); `None` where the
    /// query was not run.
    pub fn rest_ns(&self) -> Option<u64> {
        Some(self.total_ns?.saturating_sub(self.measured_ns()))
    }

    /// Time that all shares are of: that of the whole query, or else what was measured.
    pub(super) fn all_ns(&self) -> u64 {
        self.measured_ns().max(self.total_ns.unwrap_or(0))
    }

    /// Shares in percent of the nodes, the facets, planning and the rest, those of them that were measured, in this order. They are whole
    /// and add up to 100: what rounding down leaves goes to those that lost most by it (the largest remainders). None without any time.
    pub(super) fn percents(&self) -> Vec<u64> {
        let others = [self.planning_ns, self.rest_ns()].into_iter().flatten();
        percents(&self.own_times().chain(others).collect::<Vec<_>>())
    }

    /// Node that finds all matches, of which facets are counted. It is below the nodes that make a page of it.
    ///
    /// ```
    /// use treepie::explain::{ExplainNode, ExplainTree};
    ///
    /// let mut best = ExplainNode::new("TopK", "best 10 by score");
    /// best.children = vec![ExplainNode::new("TermScan", "title:rust")];
    /// assert_eq!(ExplainTree::new("rust", best).matches().label, "title:rust");
    /// ```
    pub fn matches(&self) -> &ExplainNode {
        self.above_matches().last().and_then(|page| page.children.first()).unwrap_or(&self.plan)
    }

    /// The nodes that make a page of what matches, the root first; none where only the number is wanted.
    pub(crate) fn above_matches(&self) -> impl Iterator<Item = &ExplainNode> {
        let down = std::iter::successors(Some(&self.plan), |node| node.children.first());
        down.take_while(|node| node.is_page())
    }
}

/// Nanoseconds of a time.
pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Whole nanoseconds of a cost.
pub(super) fn whole_ns(cost: f32) -> u64 {
    cost.round() as u64
}

/// Whole percents of some parts that add up to 100, by the largest remainders.
fn percents(parts: &[u64]) -> Vec<u64> {
    let all: u128 = parts.iter().map(|part| u128::from(*part)).sum();
    if all == 0 {
        return vec![];
    }
    let exact = |part: &u64| 100 * u128::from(*part);
    // At most 100.
    let mut percents: Vec<u64> = parts.iter().map(|part| (exact(part) / all) as u64).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(exact(&parts[*at]) % all));
    let left = 100_u64.saturating_sub(percents.iter().sum());
    for at in order.into_iter().take(left as usize) {
        percents[at] += 1;
    }
    percents
}

impl ExplainNode {
    /// A node without inputs; set the public fields that apply.
    pub fn new(operator: impl Into<ExplainOperator>, label: impl Into<String>) -> Self {
        ExplainNode { operator: operator.into(), label: label.into(), ..Self::default() }
    }

    /// Numbers the nodes: this one is `0`, each below has the path to it. Trees changed by hand need it to be read
    /// back.
    pub fn number(&mut self) {
        fn number(node: &mut ExplainNode, id: String) {
            for (at, child) in node.children.iter_mut().enumerate() {
                // Every plan is numbered, and to format costs more than the rest of it.
                let mut of_child = String::with_capacity(id.len() + 3);
                of_child.push_str(&id);
                of_child.push('.');
                match u8::try_from(at) {
                    Ok(at @ 0..10) => of_child.push(char::from(b'0' + at)),
                    _ => of_child.push_str(&at.to_string()),
                }
                number(child, of_child);
            }
            node.id = id;
        }
        number(self, "0".into());
    }

    /// Iterates over this node and all below it, parents first.
    pub fn iter(&self) -> impl Iterator<Item = &ExplainNode> {
        parents_first(self)
    }

    /// The label without the operator, which stands before it.
    pub(super) fn short_label(&self) -> &str {
        self.label.strip_prefix(self.operator.name()).unwrap_or(&self.label).trim_start()
    }

    /// Whether the node makes a page of its first input's documents, or counts them. It is above the query and finds
    /// nothing itself. Its other inputs are sets that scores depend on.
    pub fn is_page(&self) -> bool {
        ExplainOperator::PAGES.contains(&self.operator) && !self.children.is_empty()
    }

    /// Returns the q-error: the factor, at least 1, by which the estimate was off. Both sides count as at least one
    /// document. `None` where the node did not run to its end.
    pub fn q_error(&self) -> Option<f64> {
        let actual = self.actual.as_ref().filter(|actual| actual.complete)?;
        let estimated = self.estimate.documents.max(1) as f64;
        let counted = actual.documents.max(1) as f64;
        Some((estimated / counted).max(counted / estimated))
    }

    /// Returns the distribution of a number over the segments that were run. `None` where segments are not told apart,
    /// because there is only one or the plan was not run.
    ///
    /// ```
    /// use treepie::explain::{Actual, ExplainNode, NodeSegment};
    ///
    /// let mut node = ExplainNode::new("Term", "title:paris");
    /// for documents in [2, 3, 10] {
    ///     let mut segment = NodeSegment::default();
    ///     segment.actual = Some(Actual::of(documents));
    ///     node.segments.push(segment);
    /// }
    /// let spread = node.spread(|actual| actual.documents).unwrap();
    /// assert_eq!((spread.min, spread.mean, spread.max), (2, 5.0, 10));
    /// ```
    pub fn spread(&self, of: impl Fn(&Actual) -> u64) -> Option<Spread> {
        let numbers = || self.segments.iter().filter_map(|part| part.actual.as_ref()).map(&of);
        let sum: f64 = numbers().map(|number| number as f64).sum();
        Some(Spread {
            min: numbers().min()?,
            mean: sum / numbers().count() as f64,
            max: numbers().max()?,
        })
    }
}

impl Estimate {
    /// Returns an estimate that is known to be exact.
    pub fn exact(documents: u64, source: impl Into<String>) -> Self {
        Estimate { documents, lower: documents, upper: documents, source: source.into() }
    }

    /// Returns a guess between two bounds. A guess outside is moved to the nearer bound.
    pub fn between(documents: u64, lower: u64, upper: u64, source: impl Into<String>) -> Self {
        let upper = upper.max(lower);
        Estimate { documents: documents.clamp(lower, upper), lower, upper, source: source.into() }
    }

    /// Whether the bounds leave no doubt.
    pub fn is_exact(&self) -> bool {
        self.lower == self.upper
    }
}

impl Decision {
    /// A rule that was applied.
    pub fn accepted(rule: impl Into<String>, reason: impl Into<String>) -> Self {
        Decision { rule: rule.into(), accepted: true, reason: reason.into(), ..Self::default() }
    }

    /// A rule that was considered and left.
    pub fn rejected(rule: impl Into<String>, reason: impl Into<String>) -> Self {
        Decision { accepted: false, ..Self::accepted(rule, reason) }
    }

    /// Sets what the node is expected to cost after the decision.
    #[must_use]
    pub fn costing(mut self, estimated_cost_ns: u64) -> Self {
        self.estimated_cost_ns = Some(estimated_cost_ns);
        self
    }

    /// Sets the way that was not taken and what it would have cost.
    #[must_use]
    pub fn instead_of(mut self, name: impl Into<String>, estimated_cost_ns: Option<u64>) -> Self {
        self.alternative =
            Some(Alternative { name: name.into(), estimated_cost_ns, ..Alternative::default() });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_by_their_path_and_listed_parents_first() {
        let mut inner = ExplainNode::new("Union", "a OR b");
        inner.children = vec![ExplainNode::new("Term", "a"), ExplainNode::new("Term", "b")];
        let mut root = ExplainNode::new("Intersect", "c AND (a OR b)");
        root.children = vec![ExplainNode::new("Term", "c"), inner];
        let tree = ExplainTree::new("c (a OR b)", root);
        let ids: Vec<_> = tree.plan.iter().map(|node| (&*node.id, &*node.label)).collect();
        assert_eq!(
            ids,
            [
                ("0", "c AND (a OR b)"),
                ("0.0", "c"),
                ("0.1", "a OR b"),
                ("0.1.0", "a"),
                ("0.1.1", "b")
            ]
        );
    }

    #[test]
    fn all_measured_time_is_that_of_nodes_and_of_facets_within_others() {
        let facet = |time_ns, within| ExplainFacet {
            actual: Some(FacetActual { time_ns, ..FacetActual::default() }),
            within,
            ..ExplainFacet::default()
        };
        let run = |time_ns| Some(Actual { time_ns, ..Actual::default() });
        let mut root = ExplainNode::new("Limit", "10");
        root.children = vec![ExplainNode { actual: run(20), ..ExplainNode::new("Term", "a") }];
        root.actual = run(1);
        let mut tree = ExplainTree::new("a", root);
        let inner = facet(4_000, vec![facet(30_000, vec![])]);
        tree.facets = vec![facet(300, vec![inner, ExplainFacet::default()])];
        assert_eq!(tree.measured_ns(), 34_321);
        // Planning, the facets and the rest are shares of one whole.
        (tree.planning_ns, tree.total_ns) = (Some(5_679), Some(60_000));
        assert_eq!(tree.percents(), [0, 0, 1, 7, 50, 9, 33]);
        tree.facets.push(facet(u64::MAX, vec![]));
        assert_eq!(tree.measured_ns(), u64::MAX);
    }

    #[test]
    fn percents_add_up_to_a_hundred() {
        for (parts, expected) in [
            (&[1, 1, 1][..], &[34, 33, 33][..]),
            (&[996, 2, 2], &[100, 0, 0]),
            (&[994, 3, 3], &[100, 0, 0]),
            (&[199, 199, 602], &[20, 20, 60]),
            (&[u64::MAX, u64::MAX], &[50, 50]),
            (&[7], &[100]),
            (&[0, 5], &[0, 100]),
            (&[0, 0], &[]),
            (&[], &[]),
        ] {
            assert_eq!(percents(parts), expected, "{parts:?}");
        }
    }

    #[test]
    fn what_matches_stands_below_what_makes_a_page_of_it() {
        let over = |operator: &str, children| ExplainNode {
            children,
            ..ExplainNode::new(operator, "page")
        };
        let term = || ExplainNode::new("Term", "a");
        let both = over("Collapse", vec![over("TopK", vec![term()])]);
        let tree = ExplainTree::new("a", both);
        assert_eq!((tree.above_matches().count(), tree.matches().operator.name()), (2, "Term"));
        // Sets that scores depend on stand beside what matches.
        let tree = ExplainTree::new("a", over("TopK", vec![term(), over("Expand", vec![])]));
        assert_eq!((tree.above_matches().count(), tree.matches().operator.name()), (1, "Term"));
        // Operators so named in a hostile plan make no page of one input.
        for odd in [over("Limit", vec![]), term()] {
            let tree = ExplainTree::new("a", odd.clone());
            assert_eq!((tree.above_matches().count(), &tree.matches().label), (0, &odd.label));
        }
    }

    #[test]
    fn q_error_is_symmetric_at_least_one_and_unknown_for_what_did_not_finish() {
        let node = |estimated, documents, complete| ExplainNode {
            estimate: Estimate::exact(estimated, "test"),
            actual: Some(Actual { documents, complete, ..Actual::default() }),
            ..ExplainNode::default()
        };
        assert_eq!(node(10, 40, true).q_error(), Some(4.0));
        assert_eq!(node(40, 10, true).q_error(), Some(4.0));
        assert_eq!(node(0, 0, true).q_error(), Some(1.0));
        assert_eq!(node(10, 40, false).q_error(), None);
        assert_eq!(ExplainNode::default().q_error(), None);
    }

    #[test]
    fn sums_of_segments_keep_what_is_unknown_and_what_was_cut_short() {
        let mut sum = Actual::default();
        sum.add(&Actual { documents: 3, documents_in: Some(7), ..Actual::default() });
        sum.add(&Actual { documents: 1, complete: false, ..Actual::default() });
        let expected =
            Actual { documents: 4, documents_in: Some(7), complete: false, ..Actual::default() };
        assert_eq!(sum, expected);
    }

    #[test]
    fn a_guess_outside_its_bounds_is_moved_inside() {
        assert_eq!(Estimate::between(9, 2, 5, "x").documents, 5);
        assert_eq!(Estimate::between(1, 2, 5, "x").documents, 2);
        assert!(Estimate::between(7, 3, 3, "x").is_exact());
    }
}
