//! [`ExplainTree`] → folded stacks. Every node is a line with the names above it and its own time.

use super::caption::by_level;
use super::tree::Branch;
use super::units::shown;
use super::{ExplainTree, PlanningTimes};

/// Characters of a label. Every name stands in the line of each node below it.
const LABEL_CHARS_MAX: usize = 80;

impl ExplainTree {
    /// Returns the times of a plan as folded stacks, one a line. One is
    /// `query [rust];TopK [best 10];TermScan [rust] 1200`. `flamegraph.pl`, `inferno-flamegraph` and speedscope draw
    /// them.
    ///
    /// The numbers are nanoseconds of planning by phase, of each node without its inputs, or of a facet; together with the line of the query
    /// itself, which has what no node took, they make up [`total_ns`](Self::total_ns). Nodes that took no time have no
    /// line of their own. Empty where the plan was not run.
    ///
    /// ```
    /// use treepie::explain::{Actual, ExplainNode, ExplainTree};
    ///
    /// let mut tree = ExplainTree::new("rust", ExplainNode::new("TermScan", "title:rust"));
    /// assert_eq!(tree.to_folded(), "");
    /// let mut actual = Actual::default();
    /// actual.time_ns = 1_200;
    /// tree.plan.actual = Some(actual);
    /// tree.total_ns = Some(1_500);
    /// assert_eq!(tree.to_folded(), "query [rust] 300\nquery [rust];TermScan [title:rust] 1200\n");
    /// ```
    pub fn to_folded(&self) -> String {
        let measured = self.measured_ns();
        let mut out = String::new();
        let top = frame("query", &self.query);
        push(&mut out, &top, self.total_ns.unwrap_or(0).saturating_sub(measured));
        let phases: Vec<_> = self.planning.into_iter().flat_map(PlanningTimes::in_words).collect();
        let of_phases = phases.iter().map(|(_, ns)| *ns).fold(0, u64::saturating_add);
        let planning = format!("{top};planning");
        push(&mut out, &planning, self.planning_ns.unwrap_or(0).saturating_sub(of_phases));
        for (phase, ns) in phases {
            push(&mut out, &format!("{planning};{phase}"), ns);
        }
        let nodes = by_level(std::slice::from_ref(&self.plan));
        stacks(&mut out, &top, &nodes, |node| (node.operator.name(), node.short_label()));
        let facets = by_level(&self.facets);
        stacks(&mut out, &top, &facets, |facet| (&*facet.operator, &*facet.field));
        out
    }
}

fn stacks<N: Branch>(
    out: &mut String,
    top: &str,
    nodes: &[(&N, Option<usize>)],
    names: fn(&N) -> (&str, &str),
) {
    let mut paths: Vec<String> = Vec::with_capacity(nodes.len());
    for (node, parent) in nodes {
        let above = parent.map_or(top, |parent| &paths[parent]);
        let (operator, label) = names(node);
        let path = format!("{above};{}", frame(operator, label));
        push(out, &path, node.time_ns().unwrap_or(0));
        paths.push(path);
    }
}

fn push(out: &mut String, path: &str, time_ns: u64) {
    if time_ns > 0 {
        out.push_str(&format!("{path} {time_ns}\n"));
    }
}

/// A name without what separates names. It ends in a bracket, because a number at its end would be read as a second
/// measurement.
fn frame(operator: &str, label: &str) -> String {
    let clean = |text: &str| shown(text, LABEL_CHARS_MAX).replace(';', ",");
    format!("{} [{}]", clean(operator), clean(label))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::explain::{PlanningTimes, hostile, sample};

    #[test]
    fn the_sample_is_folded_like_this() {
        let expected = include_str!("samples/analyzed.folded");
        assert_eq!(sample::analyzed().to_folded(), expected);
    }

    /// Reads a line as `flamegraph.pl` does: everything up to the last number, and that.
    fn read(line: &str) -> (Vec<&str>, u64) {
        let (stack, number) = line.rsplit_once(' ').expect("a number at the end");
        // A second number would be the measurement of a comparison.
        let last = stack.rsplit(char::is_whitespace).next().unwrap();
        assert!(last.parse::<f64>().is_err(), "{line}");
        (stack.split(';').collect(), number.parse().expect("a number"))
    }

    #[test]
    fn planning_has_a_line_below_the_query() {
        let mut tree = sample::analyzed();
        let (before, rest) = (tree.to_folded(), 42_000 - tree.measured_ns());
        tree.planning_ns = Some(3_000);
        let name = "query [history && (france spain) +AC/DC]";
        let expected = format!("{name} {}\n{name};planning 3000\n", rest - 3_000);
        assert_eq!(tree.to_folded(), before.replace(&format!("{name} {rest}\n"), &expected));
        tree.planning = Some(PlanningTimes { bind_ns: 900, look_up_ns: 2_100, ..<_>::default() });
        let by_phase = format!("{name};planning;bind 900\n{name};planning;look up 2100\n");
        let expected = expected.replace(&format!("{name};planning 3000\n"), &by_phase);
        assert_eq!(tree.to_folded(), before.replace(&format!("{name} {rest}\n"), &expected));
    }

    proptest! {
        #[test]
        fn hostile_texts_stay_in_their_names(tree in hostile::trees()) {
            let folded = tree.to_folded();
            let lines: Vec<_> = folded.lines().map(read).collect();
            prop_assert_eq!(folded.chars().filter(|c| c.is_control() && *c != '\n').count(), 0);
            let taken: u64 = lines.iter().map(|(_, ns)| ns).sum();
            prop_assert_eq!(taken, tree.measured_ns().max(tree.total_ns.unwrap_or(0)));
            // The levels are those of the tree: no label has made one.
            let depth = |id: &str| id.split('.').count();
            let deepest = tree.plan.iter().map(|node| depth(&node.id)).max().unwrap_or(0).max(3);
            for (stack, ns) in &lines {
                prop_assert!(*ns > 0 && stack.len() <= 1 + deepest, "{stack:?}");
                prop_assert!(stack.iter().all(|name| name.ends_with(']') || *name == "planning"), "{stack:?}");
            }
        }
    }

    #[test]
    fn deep_wide_and_long_plans_are_folded() {
        let deep = hostile::deep(256).to_folded();
        assert_eq!(deep.lines().last().map(|line| line.split(';').count()), Some(256));
        assert_eq!(hostile::wide(5_000).to_folded().lines().count(), 4_999);
        let mut long = hostile::long();
        long.plan.actual = Some(crate::explain::Actual { time_ns: 1, ..<_>::default() });
        assert!(long.to_folded().len() < 2_000);
    }
}
