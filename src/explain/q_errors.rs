//! Errors of estimates: the distribution over many plans.

use super::units::shown;
use super::{ExplainNode, ExplainTree};
use crate::json::{Json, put_all};
use crate::terminal;
use std::collections::BTreeMap;
use std::fmt;

/// Characters of a query or a label that the table shows at the most.
const CHARS_SHOWN: usize = 200;
/// Worst estimates of each operator that are told with their queries.
const WORST_KEPT: usize = 5;
/// Parts of the nodes whose greatest errors are told, by name.
const QUANTILES: [(&str, f64); 3] = [("median", 0.5), ("p95", 0.95), ("max", 1.0)];

/// The q-errors of many plans that were run, by operator.
///
/// The q-error of a node is the factor by which its estimate is off, either way: the greater of estimated and
/// actual documents by the smaller, both counted as one at least ([`ExplainNode::q_error`]). Only nodes count that ran to
/// their end, but for [`outside`](QErrors::outside). Leaves mostly know their number, so they stand in lines of their own.
///
/// Trees may come from anywhere: searches that were just [analyzed](crate::SearchBuilder::analyze), or a log that was
/// read. Memory grows by 8 bytes a node.
///
/// ```
/// use treepie::explain::{Actual, Estimate, EstimateErrors, ExplainNode, ExplainTree};
///
/// let mut root = ExplainNode::new("Intersect", "a AND b");
/// root.estimate = Estimate::between(10, 0, 90, "independence");
/// root.actual = Some(Actual::of(40));
/// let mut errors = EstimateErrors::default();
/// errors.add(&ExplainTree::new("a b", root));
/// assert_eq!(errors.of("Intersect").unwrap().median(), Some(4.0));
/// assert_eq!(errors.all().outside, 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct EstimateErrors {
    by_operator: BTreeMap<String, QErrors>,
    n_plans: u64,
}

/// The q-errors of one operator, or of all.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct QErrors {
    /// Nodes whose estimate was too low.
    pub too_low: u64,
    /// Nodes whose estimate was too high.
    pub too_high: u64,
    /// Nodes outside their bounds: none, unless something is wrong. They found more documents than their upper bound,
    /// or ran to their end and found fewer than their lower bound.
    pub outside: u64,
    /// Worst estimates first; before them those outside their bounds.
    pub worst: Vec<WorstEstimate>,
    errors: Vec<f64>,
}

/// An estimate that is far off.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WorstEstimate {
    /// The query as it was asked.
    pub query: String,
    /// The node's id in its plan, see [`ExplainNode::id`].
    pub node: String,
    /// Operator and label of the node.
    pub label: String,
    /// Source of the estimate, see [`Estimate::source`](super::Estimate::source).
    pub source: String,
    /// Documents that were expected.
    pub estimated: u64,
    /// Documents that were found.
    pub actual: u64,
    /// Whether the documents found are within the bounds of the estimate.
    pub within_bounds: bool,
    /// The factor between the two.
    pub q_error: f64,
}

impl EstimateErrors {
    /// Adds all nodes of a plan; those that were not run add nothing.
    pub fn add(&mut self, tree: &ExplainTree) {
        self.n_plans += 1;
        for node in tree.plan.iter() {
            let Some(actual) = &node.actual else { continue };
            let (e, found) = (&node.estimate, actual.documents);
            let is_outside = found > e.upper || (actual.complete && found < e.lower);
            if actual.complete || is_outside {
                let errors = self.by_operator.entry(node.operator.to_string()).or_default();
                errors.add(tree, node, found, is_outside);
            }
        }
    }

    /// Returns the number of plans that were added.
    pub fn n_plans(&self) -> u64 {
        self.n_plans
    }

    /// Lists the operators that were met, in the order of their names.
    pub fn operators(&self) -> impl Iterator<Item = (&str, &QErrors)> {
        self.by_operator.iter().map(|(operator, errors)| (&**operator, errors))
    }

    /// Returns the q-errors of one operator, if it was met.
    pub fn of(&self, operator: &str) -> Option<&QErrors> {
        self.by_operator.get(operator)
    }

    /// Returns the q-errors of all operators together.
    pub fn all(&self) -> QErrors {
        let mut all = QErrors::default();
        for errors in self.by_operator.values() {
            all.too_low += errors.too_low;
            all.too_high += errors.too_high;
            all.outside += errors.outside;
            all.errors.extend_from_slice(&errors.errors);
            errors.worst.iter().for_each(|worst| all.keep(worst.clone()));
        }
        all
    }

    /// Returns one JSON object of the errors by operator. Its shape is
    /// `{"plans": …, "operators": [{"operator": "Intersect", "nodes": …, "median": …, "p95": …, "max": …, "too_low": …, "too_high": …, "outside": …, "worst": [{"query": …, "node": "0.1", "label": …, "source": …, "estimated": …, "actual": …, "within_bounds": true, "q_error": …}]}], "all": {…}}`,
    /// and `all` is like an operator without a name.
    pub fn to_json(&self) -> String {
        Json::of_object(|json| {
            json.field("plans").number(self.n_plans);
            let operators: Vec<_> = self.operators().collect();
            json.field("operators").objects(&operators, |json, (operator, errors)| {
                json.field("operator").string(operator);
                errors.write_json(json);
            });
            json.field("all").object(|json| self.all().write_json(json));
        })
    }
}

impl QErrors {
    fn add(&mut self, tree: &ExplainTree, node: &ExplainNode, found: u64, is_outside: bool) {
        let estimated = node.estimate.documents;
        self.outside += u64::from(is_outside);
        let error = node.q_error();
        if let Some(error) = error {
            self.errors.push(error);
            self.too_low += u64::from(estimated.max(1) < found.max(1));
            self.too_high += u64::from(estimated.max(1) > found.max(1));
        }
        let q_error = error.unwrap_or_else(|| found.max(1) as f64 / estimated.max(1) as f64);
        if is_outside || q_error > 1.0 {
            self.keep(WorstEstimate {
                query: tree.query.clone(),
                node: node.id.clone(),
                label: format!("{} {}", node.operator, node.label),
                source: node.estimate.source.clone(),
                estimated,
                actual: found,
                within_bounds: !is_outside,
                q_error,
            });
        }
    }

    fn keep(&mut self, worst: WorstEstimate) {
        let place = self.worst.partition_point(|other| other.rank() >= worst.rank());
        self.worst.insert(place, worst);
        self.worst.truncate(WORST_KEPT);
    }

    /// Returns the number of nodes that ran to their end.
    pub fn n_nodes(&self) -> u64 {
        self.errors.len() as u64
    }

    /// Returns the error at this quantile of the nodes, 0 to 1; `None` without nodes.
    pub fn quantile(&self, part: f64) -> Option<f64> {
        let mut errors = self.errors.clone();
        let place = (part.clamp(0.0, 1.0) * errors.len() as f64).ceil() as usize;
        let place = place.saturating_sub(1).min(errors.len().checked_sub(1)?);
        Some(*errors.select_nth_unstable_by(place, f64::total_cmp).1)
    }

    /// The error that half of the nodes do not pass.
    pub fn median(&self) -> Option<f64> {
        self.quantile(0.5)
    }

    /// The greatest error.
    pub fn max(&self) -> Option<f64> {
        self.quantile(1.0)
    }

    fn write_json(&self, json: &mut Json) {
        json.field("nodes").number(self.n_nodes());
        QUANTILES.iter().for_each(|(name, part)| json.put(name, &self.quantile(*part)));
        put_all!(json, self; too_low, too_high, outside);
        json.field("worst").objects(&self.worst, |json, worst| {
            put_all!(json, worst; query, node, label, source, estimated, actual, within_bounds, q_error);
        });
    }

    fn fmt_line(&self, name: &str, width: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.n_nodes();
        let percent = |nodes: u64| 100.0 * nodes as f64 / n.max(1) as f64;
        let blanks = width.saturating_sub(terminal::width(name));
        write!(f, "{name}{:blanks$}{n:>8}", "")?;
        for (_, part) in QUANTILES {
            let error = self.quantile(part).map(|error| format!("{error:.2}"));
            write!(f, "{:>10}", error.as_deref().unwrap_or("–"))?;
        }
        let (too_low, too_high) = (percent(self.too_low), percent(self.too_high));
        writeln!(f, "{too_low:>9.1}%{too_high:>9.1}%{:>9}", self.outside)
    }
}

impl WorstEstimate {
    fn rank(&self) -> (bool, f64) {
        (!self.within_bounds, self.q_error)
    }
}

/// A table: a line an operator, then all of them, then the worst. Texts that plans came with are shortened and cannot
/// drive a terminal.
impl fmt::Display for EstimateErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| shown(text, CHARS_SHOWN);
        let lines: Vec<_> = self.operators().map(|(name, errors)| (shown(name), errors)).collect();
        let names = lines.iter().map(|(name, _)| terminal::width(name));
        let width = names.chain(["operator".len()]).max().unwrap_or_default();
        write!(f, "{:width$}{:>8}", "operator", "nodes")?;
        let names = QUANTILES.map(|(name, _)| name).into_iter().chain(["too low", "too high"]);
        names.into_iter().try_for_each(|name| write!(f, "{name:>10}"))?;
        writeln!(f, "{:>9}", "outside")?;
        for (name, errors) in lines {
            errors.fmt_line(&name, width, f)?;
        }
        let all = self.all();
        all.fmt_line("all", width, f)?;
        for worst in &all.worst {
            let WorstEstimate { node, estimated, actual, q_error, .. } = worst;
            let outside = if worst.within_bounds { "" } else { ", outside of its bounds" };
            let [query, label, source, node] =
                [&worst.query, &worst.label, &worst.source, node].map(|text| shown(text));
            writeln!(
                f,
                "{q_error:.1}: {estimated} expected ({source}), {actual} found{outside}: {label} (node {node} of {query})"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::{Actual, Estimate};

    fn node(operator: &str, estimated: u64, bounds: (u64, u64), actual: Actual) -> ExplainNode {
        ExplainNode {
            estimate: Estimate::between(estimated, bounds.0, bounds.1, "test"),
            actual: Some(actual),
            ..ExplainNode::new(operator, "label")
        }
    }

    fn added(nodes: Vec<ExplainNode>) -> EstimateErrors {
        let mut errors = EstimateErrors::default();
        for (at, node) in nodes.into_iter().enumerate() {
            errors.add(&ExplainTree::new(format!("q{at}"), node));
        }
        errors
    }

    /// Factors 1 (0 counts as 1), 4 too low, 5 too high, 2 too low, and 10 of another operator.
    #[test]
    fn the_distribution_is_that_of_a_hand_computation() {
        let mut nested = node("Union", 100, (0, 1_000), Actual::of(10));
        nested.children = vec![node("Intersect", 10, (0, 50), Actual::of(40))];
        let errors = added(vec![
            node("Intersect", 0, (0, 9), Actual::of(1)),
            nested,
            node("Intersect", 50, (0, 50), Actual::of(10)),
            node("Intersect", 3, (0, 9), Actual::of(6)),
            // Did not run to its end, within its bounds.
            node("Intersect", 3, (2, 9), Actual { complete: false, ..Actual::of(0) }),
            ExplainNode::new("Intersect", "not run"),
        ]);
        let intersect = errors.of("Intersect").unwrap();
        assert_eq!(intersect.n_nodes(), 4);
        assert_eq!(intersect.median(), Some(2.0));
        assert_eq!((intersect.quantile(0.95), intersect.max()), (Some(5.0), Some(5.0)));
        assert_eq!(intersect.quantile(0.0), Some(1.0));
        assert_eq!((intersect.too_low, intersect.too_high, intersect.outside), (2, 1, 0));
        let all = errors.all();
        assert_eq!((all.n_nodes(), all.median(), all.max()), (5, Some(4.0), Some(10.0)));
        let worst: Vec<_> =
            all.worst.iter().map(|it| (&*it.query, &*it.node, it.q_error)).collect();
        let expected = [("q1", "0", 10.0), ("q2", "0", 5.0), ("q1", "0.0", 4.0), ("q3", "0", 2.0)];
        assert_eq!(worst, expected);
        assert_eq!((errors.n_plans(), errors.of("Phrase").is_none()), (6, true));
        assert_eq!(EstimateErrors::default().all().median(), None);
    }

    #[test]
    fn the_five_worst_are_kept_in_whatever_order_they_come() {
        let of = |factor: u64| node("Union", 1, (0, 100), Actual::of(factor));
        let errors = added([3, 9, 2, 8, 4, 7, 6].map(of).to_vec());
        let worst: Vec<_> = errors.all().worst.iter().map(|it| it.actual).collect();
        assert_eq!(worst, [9, 8, 7, 6, 4]);
    }

    #[test]
    fn what_is_outside_of_its_bounds_comes_first_and_is_told() {
        let errors = added(vec![
            node("Union", 1, (0, 100), Actual::of(100)),
            node("Union", 10, (0, 10), Actual::of(11)),
            node("Union", 10, (10, 20), Actual::of(9)),
            // More than the upper bound, although it was not done yet.
            node("Union", 10, (0, 10), Actual { complete: false, ..Actual::of(12) }),
        ]);
        let union = errors.of("Union").unwrap();
        assert_eq!((union.outside, union.n_nodes()), (3, 3));
        let worst: Vec<_> = union.worst.iter().map(|it| (&*it.query, it.within_bounds)).collect();
        assert_eq!(worst, [("q3", false), ("q2", false), ("q1", false), ("q0", true)]);
        let text = errors.to_string();
        assert!(
            text.contains("12 found, outside of its bounds: Union label (node 0 of q3)"),
            "{text}"
        );
    }

    #[test]
    fn texts_of_plans_cannot_drive_a_terminal() {
        let mut tree =
            ExplainTree::new("\u{1b}[2J\nq", node("\u{202e}Evil", 1, (0, 9), Actual::of(7)));
        tree.plan.label = "x".repeat(70_000);
        let mut errors = EstimateErrors::default();
        errors.add(&tree);
        let text = errors.to_string();
        assert!(text.contains("\\u{1b}[2J") && text.contains("\\u{202e}Evil"), "{text}");
        assert_eq!(text.lines().count(), 4, "{text}");
        assert!(text.len() < 1_000 && !text.contains('\u{1b}'), "{}", text.len());
    }

    #[test]
    fn the_table_and_the_object_say_the_same() {
        let errors = added(vec![
            node("Union", 10, (0, 100), Actual::of(40)),
            node("Union", 10, (0, 100), Actual::of(5)),
        ]);
        let expected = "\
operator   nodes    median       p95       max   too low  too high  outside
Union          2      2.00      4.00      4.00     50.0%     50.0%        0
all            2      2.00      4.00      4.00     50.0%     50.0%        0
4.0: 10 expected (test), 40 found: Union label (node 0 of q0)
2.0: 10 expected (test), 5 found: Union label (node 0 of q1)
";
        assert_eq!(errors.to_string(), expected);
        let json: serde_json::Value = serde_json::from_str(&errors.to_json()).unwrap();
        assert_eq!(json["plans"], 2);
        assert_eq!(json["operators"][0]["operator"], "Union");
        for of in [&json["operators"][0], &json["all"]] {
            assert_eq!((of["median"].as_f64(), of["p95"].as_f64()), (Some(2.0), Some(4.0)));
            assert_eq!(
                (&of["too_low"], &of["too_high"], &of["outside"]),
                (&1.into(), &1.into(), &0.into())
            );
            assert_eq!(of["worst"][0]["actual"], 40);
        }
    }
}
