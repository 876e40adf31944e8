//! [`ExplainTree`] → what Postgres prints for `EXPLAIN (FORMAT JSON)`, for the many viewers of that.
//!
//! Names, order and units are those of Postgres 17 (`src/backend/commands/explain.c`), and each operator is called by
//! the node of Postgres that comes nearest; what it really is stands beside that under `Treepie …`.

use super::tree::{Branch, parents_first};
use super::{Actual, Decision, ExplainFacet, ExplainNode, ExplainOperator, ExplainTree};
use crate::json::Json;
use ExplainOperator::*;

/// Postgres counts what it reads in blocks of this size.
const BLOCK_BYTES: u64 = 8_192;
/// All kinds of blocks that Postgres tells of, in its order; ours are hits, as what is mapped is not read by us.
const BLOCKS: [(&str, &[&str]); 3] = [
    ("Shared", &["Hit", "Read", "Dirtied", "Written"]),
    ("Local", &["Hit", "Read", "Dirtied", "Written"]),
    ("Temp", &["Read", "Written"]),
];

impl ExplainTree {
    /// Returns the tree as `EXPLAIN (FORMAT JSON)` of Postgres prints plans. A plan that was run has `ANALYZE` and
    /// `BUFFERS`. Viewers such as [explain.dalibo.com](https://explain.dalibo.com) and
    /// [explain.depesz.com](https://explain.depesz.com) show its times, rows and misestimates.
    ///
    /// | here | there |
    /// |---|---|
    /// | documents | rows |
    /// | a node's own time | `Actual Total Time` in milliseconds, which contains the inputs' |
    /// | when a node begins | `Actual Startup Time`: the time of its inputs, which come first |
    /// | costs of decisions | `Total Cost` in microseconds; 0 where nothing was decided by cost |
    /// | bytes read | `Shared Hit Blocks` of 8 KiB, with those of the inputs |
    /// | the time of the search | `Planning Time` and `Execution Time`, together all of it; phases of planning as `Treepie Planning` |
    /// | a facet | an `Aggregate` that is a `SubPlan` of the root |
    ///
    /// Nodes are called by what Postgres has: a term is a `Bitmap Index Scan`, an intersection a `BitmapAnd`, a phrase
    /// a `Bitmap Heap Scan` that rechecks. `Treepie Operator`, `Treepie Algorithm` and others have what they are.
    pub fn to_pgjson(&self) -> String {
        let mut json = Json::default();
        json.objects(&[self], |json, tree| {
            json.field("Plan").pg_node(&tree.plan, "", &tree.facets);
            if let Some(planning) = tree.planning_ns {
                json.field("Planning Time").milliseconds(planning);
            }
            if let Some(planning) = tree.planning {
                json.field("Treepie Planning").object(|json| {
                    for (phase, ns) in planning.in_words() {
                        json.field(&phase).milliseconds(ns);
                    }
                });
            }
            if let Some(total) = tree.total_ns {
                let execution = total.saturating_sub(tree.planning_ns.unwrap_or(0));
                json.field("Execution Time").milliseconds(execution);
            }
            json.field("Query Text").string(&tree.query);
        });
        indented(&json.out)
    }
}

/// Nanoseconds that some nodes and everything below them took, and bytes that were read.
fn sums<N: Branch>(roots: &[N]) -> (u64, u64) {
    roots.iter().flat_map(parents_first).filter_map(Branch::own).fold((0, 0), plus)
}

fn plus(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    (a.0.saturating_add(b.0), a.1.saturating_add(b.1))
}

/// Returns the expected cost of a node and everything below it; a node has one only where it decided by that.
fn cost_ns(node: &ExplainNode) -> u64 {
    let inputs = node.children.iter().map(cost_ns).fold(0, u64::saturating_add);
    inputs.max(decided_cost_ns(&node.decisions))
}

fn facets_cost_ns(facets: &[ExplainFacet]) -> u64 {
    let facets = facets.iter().flat_map(ExplainFacet::iter);
    facets.map(|facet| decided_cost_ns(&facet.decisions)).fold(0, u64::saturating_add)
}

fn decided_cost_ns(decisions: &[Decision]) -> u64 {
    let accepted = decisions.iter().rev().filter(|decision| decision.accepted);
    accepted.filter_map(|decision| decision.estimated_cost_ns).next().unwrap_or(0)
}

impl Json {
    /// A node and what is below it; how it stands below its parent, and the facets of the root.
    fn pg_node(&mut self, node: &ExplainNode, relation: &str, facets: &[ExplainFacet]) {
        let below = plus(sums(facets), sums(&node.children));
        let node_type = postgres_type(&node.operator);
        self.object(|json| {
            json.pg_head(&[("Node Type", node_type), ("Parent Relationship", relation)]);
            json.pg_details(node, node_type);
            let inputs = node.children.iter().map(cost_ns).fold(0, u64::saturating_add);
            let all = cost_ns(node).saturating_add(facets_cost_ns(facets));
            json.pg_costs(inputs, all, node.estimate.documents);
            json.pg_actual(node, below, node.documents_out());
            json.pg_original(node);
            // Bitmaps that are combined are members.
            let relation = match node_type {
                "BitmapAnd" | "BitmapOr" => "Member",
                _ => "Outer",
            };
            json.pg_plans(node.children.len() + facets.len(), |json, at| {
                match node.children.get(at) {
                    Some(child) => json.pg_node(child, relation, &[]),
                    None => json.pg_facet(&facets[at - node.children.len()]),
                }
            });
        });
    }

    fn pg_facet(&mut self, facet: &ExplainFacet) {
        let within = facets_cost_ns(&facet.within);
        let cost = within.saturating_add(decided_cost_ns(&facet.decisions));
        // Number of buckets is unknown: as many as were asked for, if there are so many terms.
        let rows = if facet.terms > 0 { facet.limit.min(facet.terms) } else { facet.limit };
        self.object(|json| {
            json.pg_head(&[
                ("Node Type", "Aggregate"),
                ("Strategy", "Hashed"),
                ("Partial Mode", "Simple"),
                ("Parent Relationship", "SubPlan"),
                ("Subplan Name", &format!("facet {}", facet.field)),
            ]);
            json.field("Group Key").array(&[&facet.field], |json, field| json.string(field));
            json.pg_costs(within, cost, rows);
            json.pg_actual(facet, sums(&facet.within), rows);
            json.field("Treepie Operator").string(&facet.operator);
            json.pg_text("Treepie Algorithm", &facet.algorithm);
            json.pg_text("Treepie Ranges", facet.ranges.as_deref().unwrap_or_default());
            json.pg_text("Treepie Options", facet.options.as_deref().unwrap_or_default());
            json.pg_decisions(&facet.decisions);
            json.pg_plans(facet.within.len(), |json, at| json.pg_facet(&facet.within[at]));
        });
    }

    /// Begins a node with the texts that are not empty, and what is never so here.
    fn pg_head(&mut self, texts: &[(&str, &str)]) {
        texts.iter().for_each(|(name, text)| self.pg_text(name, text));
        self.field("Parallel Aware").boolean(false);
        self.field("Async Capable").boolean(false);
    }

    fn pg_details(&mut self, node: &ExplainNode, node_type: &str) {
        let field = node.field.as_deref().unwrap_or("documents");
        let condition = node.predicate.as_ref().unwrap_or(&node.label);
        let texts: &[(&str, &str)] = match node_type {
            "Bitmap Index Scan" => &[("Index Name", field), ("Index Cond", condition)],
            "Seq Scan" if node.operator == All => &[("Relation Name", field), ("Alias", field)],
            "Seq Scan" => &[("Relation Name", field), ("Alias", field), ("Filter", condition)],
            "Bitmap Heap Scan" => {
                &[("Relation Name", field), ("Alias", field), ("Recheck Cond", condition)]
            }
            "SetOp" => &[("Strategy", "Hashed"), ("Command", "Except")],
            "Result" => &[("One-Time Filter", "false")],
            "Custom Scan" => &[("Custom Plan Provider", node.operator.name())],
            _ => &[],
        };
        texts.iter().for_each(|(name, text)| self.field(name).string(text));
        if node_type == "Sort" {
            self.field("Sort Key").array(&[&node.label], |json, key| json.string(key));
        }
        let rechecks = |_: &&Actual| node_type == "Bitmap Heap Scan";
        let removed = |actual: &Actual| actual.documents_in?.checked_sub(actual.documents);
        if let Some(removed) = node.actual.as_ref().filter(rechecks).and_then(removed) {
            self.field("Rows Removed by Index Recheck").number(removed);
        }
    }

    fn pg_costs(&mut self, startup_ns: u64, total_ns: u64, rows: u64) {
        self.field("Startup Cost").thousandths(startup_ns, 3);
        self.field("Total Cost").thousandths(total_ns, 3);
        self.field("Plan Rows").number(rows);
        // Postgres says nothing else of bitmaps.
        self.field("Plan Width").number(0);
    }

    fn pg_actual(&mut self, of: &impl Branch, below: (u64, u64), rows: u64) {
        let Some(own) = of.own() else { return };
        let (time_ns, bytes_read) = plus(below, own);
        self.field("Actual Startup Time").milliseconds(below.0);
        self.field("Actual Total Time").milliseconds(time_ns);
        self.field("Actual Rows").number(rows);
        self.field("Actual Loops").number(1);
        let mut n_blocks = bytes_read.div_ceil(BLOCK_BYTES);
        for (kind, uses) in BLOCKS {
            for of in uses {
                self.field(&format!("{kind} {of} Blocks")).number(std::mem::take(&mut n_blocks));
            }
        }
    }

    fn pg_original(&mut self, node: &ExplainNode) {
        self.field("Treepie Operator").string(node.operator.name());
        self.pg_text("Treepie Label", &node.label);
        self.pg_text("Treepie Algorithm", &node.algorithm);
        self.field("Treepie Lower Bound").number(node.estimate.lower);
        self.field("Treepie Upper Bound").number(node.estimate.upper);
        self.pg_text("Treepie Estimate Source", &node.estimate.source);
        if let Some(actual) = node.actual.as_ref().filter(|actual| !actual.complete) {
            let ended = if actual.stopped { "stopped, out of time" } else { "stopped early" };
            self.field("Treepie Ended").string(ended);
        }
        self.pg_decisions(&node.decisions);
    }

    fn pg_decisions(&mut self, decisions: &[Decision]) {
        if !decisions.is_empty() {
            self.field("Treepie Decisions").array(decisions, |json, decision| {
                let not = if decision.accepted { "" } else { "not " };
                json.string(&format!("{not}{}: {}", decision.rule, decision.reason));
            });
        }
    }

    fn pg_text(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.field(name).string(text);
        }
    }

    fn pg_plans(&mut self, n: usize, plan: impl Fn(&mut Json, usize)) {
        if n > 0 {
            let all: Vec<usize> = (0..n).collect();
            self.field("Plans").array(&all, |json, at| plan(json, *at));
        }
    }

    fn milliseconds(&mut self, ns: u64) {
        self.thousandths(ns, 6);
    }

    /// A whole number with its point moved so many digits to the left.
    fn thousandths(&mut self, number: u64, digits: u32) {
        let unit = 10u64.pow(digits);
        let width = digits as usize;
        self.number(format_args!("{}.{:0width$}", number / unit, number % unit));
    }
}

/// The node of Postgres that comes nearest to an operator.
fn postgres_type(operator: &ExplainOperator) -> &'static str {
    match operator {
        TermScan | Exists | Expand | Deleted => "Bitmap Index Scan",
        ColumnScan | GeoScan | All | Nearest => "Seq Scan",
        Phrase => "Bitmap Heap Scan",
        Intersect => "BitmapAnd",
        Union | AtLeast => "BitmapOr",
        Difference => "SetOp",
        TopK | Sort => "Sort",
        Collapse => "Unique",
        Fuse => "Merge Append",
        RankedList => "Function Scan",
        Limit => "Limit",
        Count => "Aggregate",
        Nothing => "Result",
        // Facets are no nodes here, unless a plan is made by hand.
        Facet | TopHits | Other(_) => "Custom Scan",
    }
}

/// JSON on one line → JSON on a line for every value, as Postgres prints it: viewers look for a first line that is `[`.
fn indented(json: &str) -> String {
    const INDENT_MAX: usize = 40;
    let mut out = String::with_capacity(json.len() * 2);
    let (mut depth, mut in_string, mut is_escaped) = (0usize, false, false);
    let new_line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth.min(INDENT_MAX)));
    };
    for c in json.chars() {
        if in_string {
            match c {
                // Viewers take it for the mark of a line that a terminal has broken.
                '↵' => out.push_str("\\u21b5"),
                _ => out.push(c),
            }
            in_string = is_escaped || c != '"';
            is_escaped = !is_escaped && c == '\\';
            continue;
        }
        if matches!(c, ']' | '}') {
            depth -= 1;
            new_line(&mut out, depth);
        }
        out.push(c);
        match c {
            '[' | '{' => {
                depth += 1;
                new_line(&mut out, depth);
            }
            ',' => new_line(&mut out, depth),
            ':' => out.push(' '),
            _ => in_string = c == '"',
        }
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::explain::caption::by_level;
    use crate::explain::{hostile, sample};

    const SAMPLE: &str = include_str!("samples/analyzed.pgjson");

    #[test]
    fn the_sample_is_written_like_this() {
        assert_eq!(sample::analyzed().to_pgjson(), SAMPLE);
    }

    #[test]
    fn a_phrase_removes_rows_and_only_what_was_decided_costs() {
        let mut phrase = ExplainNode::new("Phrase", "title:\"a b\"");
        let actual = Actual { documents_in: Some(100), ..Actual::of(30) };
        phrase.actual = Some(actual);
        phrase.decisions = vec![
            Decision::accepted("first", "").costing(2_000),
            Decision::rejected("second", "").costing(9_000),
        ];
        let value: Value =
            serde_json::from_str(&ExplainTree::new("q", phrase).to_pgjson()).unwrap();
        let plan = &value[0]["Plan"];
        assert_eq!(plan["Rows Removed by Index Recheck"], 70);
        assert_eq!(plan["Total Cost"], 2.0);
    }

    #[test]
    fn a_plan_that_was_not_run_has_no_times() {
        let mut tree = hostile::wide(3);
        tree.plan.children.iter_mut().for_each(|node| node.actual = None);
        let text = tree.to_pgjson();
        assert!(!text.contains("Actual") && !text.contains("Blocks") && !text.contains("Time"));
        check(&tree);
    }

    /// Names that viewers read without asking whether they are there, and what they expect.
    ///
    /// From their sources: `services/plan-service.ts` and `interfaces.ts` of dalibo/pev2; `lib/Pg/Explain/From.pm` and
    /// `FromJSON.pm` of Pg::Explain, which is behind explain.depesz.com; and `src/backend/commands/explain.c` of Postgres,
    /// which they are written for.
    fn check_node(node: &Map<String, Value>, is_analyzed: bool) {
        let node_type = node["Node Type"].as_str().expect("a name");
        let number = |name: &str| node[name].as_f64().unwrap_or_else(|| panic!("no number {name}"));
        let text = |name: &str| assert!(node[name].is_string(), "{node_type} without {name}");
        for name in ["Startup Cost", "Total Cost", "Plan Rows", "Plan Width"] {
            assert!(number(name) >= 0.0, "{name}");
        }
        assert!(number("Startup Cost") <= number("Total Cost"));
        for name in ["Parallel Aware", "Async Capable"] {
            assert!(node[name].is_boolean(), "{name}");
        }
        match node_type {
            "Seq Scan" | "Bitmap Heap Scan" => {
                ["Relation Name", "Alias"].map(text).into_iter().collect()
            }
            "Bitmap Index Scan" => ["Index Name", "Index Cond"].map(text).into_iter().collect(),
            "Aggregate" => ["Strategy", "Subplan Name"].map(text).into_iter().collect(),
            "SetOp" => ["Strategy", "Command"].map(text).into_iter().collect(),
            "Custom Scan" => text("Custom Plan Provider"),
            _ => {}
        }
        for name in ["Group Key", "Sort Key"] {
            let list = node.get(name).map(|list| list.as_array().expect("a list"));
            assert!(list.is_none_or(|list| list.iter().all(Value::is_string)), "{name}");
        }
        // Pg::Explain prints a method with its space, which we do not know.
        assert!(!node.contains_key("Sort Method"));
        if node.contains_key("Actual Rows") {
            assert!(is_analyzed && number("Actual Loops") == 1.0 && number("Actual Rows") >= 0.0);
            assert!(number("Actual Startup Time") <= number("Actual Total Time"));
            for (kind, uses) in BLOCKS {
                let is_number = |of: &&str| node[&format!("{kind} {of} Blocks")].is_u64();
                assert!(uses.iter().all(is_number), "{kind}");
            }
        }
        let mut below = (0.0, 0.0);
        for plan in node.get("Plans").map_or(&vec![], |plans| plans.as_array().expect("a list")) {
            let plan = plan.as_object().expect("a node");
            let relation = plan["Parent Relationship"].as_str().expect("a name");
            assert!(["Outer", "Member", "SubPlan"].contains(&relation), "{relation}");
            check_node(plan, is_analyzed);
            below.0 += plan.get("Actual Total Time").map_or(0.0, |time| time.as_f64().unwrap());
            below.1 += plan["Total Cost"].as_f64().unwrap();
        }
        // Viewers subtract what is below from a node's own.
        if node.contains_key("Actual Total Time") {
            assert!(number("Actual Total Time") >= below.0 - 1e-3, "{below:?}");
        }
        assert!(number("Total Cost") >= below.1 - 1e-3, "{below:?}");
    }

    fn check(tree: &ExplainTree) {
        let text = tree.to_pgjson();
        // Pg::Explain looks here for the beginning and the end, and nowhere else.
        assert_eq!(text.lines().filter(|line| line.trim() == "[").count(), 1);
        assert_eq!((text.lines().next(), text.lines().last()), (Some("["), Some("]")));
        assert!(!text.contains('↵'), "pev2 breaks lines there, even in a string");
        // Terminals put these around lines, and pev2 takes them off: pev2's `cleanupSource`.
        assert!(text.lines().all(|line| !line.ends_with(['+', '|', '║', '│'])));
        let value: Value = serde_json::from_str(&text).expect("JSON");
        let [plan] = value.as_array().expect("a list").as_slice() else { panic!("one plan") };
        assert_eq!(plan["Query Text"], json!(tree.query));
        assert_eq!(plan.get("Execution Time").is_some(), tree.total_ns.is_some());
        let time = |name: &str| plan.get(name).map_or(0.0, |ms| ms.as_f64().unwrap() * 1e6);
        let all = tree.total_ns.unwrap_or(0).max(tree.planning_ns.unwrap_or(0)) as f64;
        assert!((time("Planning Time") + time("Execution Time") - all).abs() < 1_000.0);
        let root = plan["Plan"].as_object().expect("a node");
        assert!(!root.contains_key("Parent Relationship"));
        check_node(
            root,
            tree.plan.iter().any(|node| node.actual.is_some()) || !tree.facets.is_empty(),
        );
        let n = text.matches("\"Node Type\": ").count();
        assert_eq!(n, tree.plan.iter().count() + by_level(&tree.facets).len());
        let total = root.get("Actual Total Time").map(|time| time.as_f64().unwrap() * 1e6);
        let of_nodes = tree.measured_ns() - tree.planning_ns.unwrap_or(0);
        assert!(total.is_none_or(|total| (total - of_nodes as f64).abs() < 1_000.0));
    }

    proptest! {
        #[test]
        fn viewers_find_what_they_read(tree in hostile::trees()) {
            check(&tree);
        }
    }

    #[test]
    fn deep_wide_and_long_plans_are_written() {
        // Deeper than what serde_json reads, so only the brackets are looked at.
        let deep = hostile::deep(256).to_pgjson();
        assert_eq!(deep.matches("\"Node Type\": ").count(), 256);
        assert_eq!([deep.matches('[').count(), deep.matches(']').count()], [256, 256]);
        assert_eq!([deep.matches('{').count(), deep.matches('}').count()], [257, 257]);
        check(&hostile::wide(5_000));
        check(&hostile::long());
    }
}
