//! [`ExplainTree`] → outline: what of a plan stays the same from run to run and from machine to machine, a line each, for
//! snapshots that people review; and [`assert_plan!`](crate::assert_plan), which compares with one.

use super::{Decision, Estimate, ExplainFacet, ExplainNode, ExplainTree};
use crate::plural::counted;
use crate::terminal;
use std::borrow::Borrow;
use std::fmt::Write;

/// Pairs of lines that are compared to find what two texts have in common; beyond that all of them are shown.
const PAIRS_MAX: usize = 4_000_000;
/// Lines around a difference that are shown with it.
const CONTEXT_LINES: usize = 3;

impl ExplainTree {
    /// The operators with their algorithms, estimates and decisions, and how facets are counted: a line each, indented by
    /// their depth. Nothing in it depends on time, on a run, on costs or on ids, so that a plan has the same outline
    /// wherever the same index is asked the same.
    ///
    /// ```text
    /// Intersect +title:paris +title:texas [merge array × array] ~2 in 0..=4 (independence)
    /// ✓ smallest first
    ///   TermScan title:texas [short list] ~4 (document frequency)
    ///   TermScan title:paris [roaring containers] ~1000 (document frequency)
    /// Facet brand, top 10 of 300 terms [column]
    /// ✓ count by the column
    /// ```
    ///
    /// `✓` is a decision that was taken, `✗` one that was considered and left; an estimate without `in` is exact.
    pub fn to_outline(&self) -> String {
        let mut out = String::new();
        node(&mut out, &self.plan, 0);
        for of in &self.facets {
            facet(&mut out, of, 0);
        }
        out
    }
}

fn node(out: &mut String, node: &ExplainNode, depth: usize) {
    let mut line = node.operator.clone();
    if !node.label.is_empty() {
        line = format!("{line} {}", node.label);
    }
    if !node.algorithm.is_empty() {
        line = format!("{line} [{}]", node.algorithm);
    }
    let Estimate { documents, lower, upper, source } = &node.estimate;
    line = match node.estimate.is_exact() {
        true => format!("{line} ~{documents}"),
        false => format!("{line} ~{documents} in {lower}..={upper}"),
    };
    if !source.is_empty() {
        line = format!("{line} ({source})");
    }
    push(out, depth, &line);
    decisions(out, depth, &node.decisions);
    for child in &node.children {
        self::node(out, child, depth + 1);
    }
}

fn facet(out: &mut String, facet: &ExplainFacet, depth: usize) {
    let mut line = match &facet.ranges {
        Some(ranges) => format!("Facet {}, {ranges}", facet.field),
        None => {
            let ExplainFacet { field, limit, terms, .. } = facet;
            format!("Facet {field}, top {limit} of {}", counted(*terms, "term"))
        }
    };
    if let Some(options) = &facet.options {
        line = format!("{line}, {options}");
    }
    if !facet.algorithm.is_empty() {
        line = format!("{line} [{}]", facet.algorithm);
    }
    if let Some(within) = facet.estimate {
        line = format!("{line} ~{} in {}", within.documents, counted(within.buckets, "bucket"));
    }
    push(out, depth, &line);
    decisions(out, depth, &facet.decisions);
    for inner in &facet.within {
        self::facet(out, inner, depth + 1);
    }
}

fn decisions(out: &mut String, depth: usize, decisions: &[Decision]) {
    for Decision { rule, accepted, .. } in decisions {
        let sign = if *accepted { '✓' } else { '✗' };
        push(out, depth, &format!("{sign} {rule}"));
    }
}

/// A line, in which what came from outside breaks nothing.
fn push(out: &mut String, depth: usize, line: &str) {
    let line = terminal::printable(line.trim_end());
    writeln!(out, "{:indent$}{line}", "", indent = 2 * depth).expect("a String takes every text");
}

/// Compares a plan with an [outline](crate::explain::ExplainTree::to_outline), and panics with what differs, line by
/// line: for tests that notice when a query is answered in another way than it was.
///
/// The outline may be indented as the code around it: blank lines around it, blanks at the ends of lines, and as many
/// blanks at their starts as all of them have are left out. An empty one makes the test print what to put there.
///
/// ```
/// use treepie::{Document, Index, Schema, assert_plan};
///
/// let index = Index::in_memory(Schema::builder().text("title").build()?);
/// let mut writer = index.writer()?;
/// for title in ["Paris, Texas", "Paris", "London"] {
///     writer.add(Document::new().with("title", title))?;
/// }
/// writer.commit()?;
/// let searcher = index.searcher()?;
/// let query = searcher.parse("paris")?;
///
/// assert_plan!(
///     searcher.search(&query).count_only().explain()?,
///     "
///     TermScan title:paris [document frequency] ~2 (document frequency)
///     ✓ count is known
///     "
/// );
/// # Ok::<(), treepie::Error>(())
/// ```
#[macro_export]
macro_rules! assert_plan {
    ($plan:expr, $outline:expr $(,)?) => {
        $crate::explain::assert_outline(&$plan, $outline)
    };
}

/// What [`assert_plan!`](crate::assert_plan) does.
///
/// # Panics
///
/// Where the plan has another outline.
#[doc(hidden)]
#[track_caller]
pub fn assert_outline(plan: &impl Borrow<ExplainTree>, expected: &str) {
    let found = plan.borrow().to_outline();
    let expected = dedented(expected);
    assert!(
        found == expected,
        "the plan is another: - is expected, + is found\n\n{}\nAll of it:\n\n{found}",
        difference(&expected, &found),
    );
}

/// Without blank lines around it, and without the indentation that all lines have.
fn dedented(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let indent = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    let common = lines.iter().filter(|line| !line.is_empty()).map(indent).min().unwrap_or(0);
    let first = lines.iter().position(|line| !line.is_empty()).unwrap_or(lines.len());
    let last = lines.iter().rposition(|line| !line.is_empty()).map_or(first, |last| last + 1);
    lines[first..last]
        .iter()
        .map(|line| format!("{}\n", line.get(common..).unwrap_or("")))
        .collect()
}

/// The lines of two texts that differ, with some around them: `-` before those that only the first has, `+` before those
/// that only the second has.
#[doc(hidden)]
pub fn difference(left: &str, right: &str) -> String {
    let (left, right): (Vec<_>, Vec<_>) = (left.lines().collect(), right.lines().collect());
    let mut lines = vec![];
    for (l, r) in aligned(&left, &right) {
        match (l, r) {
            (Some(l), Some(_)) => lines.push((' ', left[l])),
            (Some(l), None) => lines.push(('-', left[l])),
            (None, Some(r)) => lines.push(('+', right[r])),
            (None, None) => {}
        }
    }
    let near = |at: usize| {
        let around = at.saturating_sub(CONTEXT_LINES)..(at + CONTEXT_LINES + 1).min(lines.len());
        lines[around].iter().any(|(sign, _)| *sign != ' ')
    };
    let mut out = String::new();
    let mut is_cut = false;
    for (at, (sign, line)) in lines.iter().enumerate() {
        if near(at) {
            out += format!("{sign} {line}").trim_end();
            out.push('\n');
        } else if !is_cut {
            out.push_str("  …\n");
        }
        is_cut = !near(at);
    }
    out
}

/// The longest common subsequence, and beside it what only one of two rows has: pairs of positions in both, in order.
fn aligned<T: PartialEq>(left: &[T], right: &[T]) -> Vec<(Option<usize>, Option<usize>)> {
    let start = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    let rest = left.len().min(right.len()) - start;
    let same_end = left.iter().rev().zip(right.iter().rev()).take(rest);
    let end = same_end.take_while(|(l, r)| l == r).count();
    let (l_end, r_end) = (left.len() - end, right.len() - end);
    let (l, r) = (&left[start..l_end], &right[start..r_end]);

    // How long that of what begins at both positions is.
    let is_small = l.len().saturating_mul(r.len()) <= PAIRS_MAX;
    let columns = r.len() + 1;
    let mut longest = vec![0_u32; if is_small { (l.len() + 1) * columns } else { 0 }];
    if is_small {
        for at_l in (0..l.len()).rev() {
            for at_r in (0..r.len()).rev() {
                longest[at_l * columns + at_r] = match l[at_l] == r[at_r] {
                    true => longest[(at_l + 1) * columns + at_r + 1] + 1,
                    false => {
                        longest[(at_l + 1) * columns + at_r].max(longest[at_l * columns + at_r + 1])
                    }
                };
            }
        }
    }
    let mut pairs: Vec<_> = (0..start).map(|at| (Some(at), Some(at))).collect();
    let (mut at_l, mut at_r) = (0, 0);
    while at_l < l.len() || at_r < r.len() {
        let can_pair = is_small && at_l < l.len() && at_r < r.len();
        let of = |at_l: usize, at_r: usize| longest[at_l * columns + at_r];
        if can_pair && l[at_l] == r[at_r] {
            pairs.push((Some(start + at_l), Some(start + at_r)));
            (at_l, at_r) = (at_l + 1, at_r + 1);
        } else if at_l < l.len() && !(can_pair && of(at_l + 1, at_r) < of(at_l, at_r + 1)) {
            pairs.push((Some(start + at_l), None));
            at_l += 1;
        } else {
            pairs.push((None, Some(start + at_r)));
            at_r += 1;
        }
    }
    pairs.extend((0..end).map(|at| (Some(l_end + at), Some(r_end + at))));
    pairs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::explain::{arbitrary, sample};

    const SAMPLE: &str = "
        Intersect title:history AND (title:france OR title:spain) [gallop array × bitmap] ~120 in 0..=4312 (independence)
        ✓ order by document frequency
        ✗ prove empty
          Term title:history ~4312 (document frequency)
          Union title:france OR title:spain ~5000 in 4000..=8100 (independence)
            Term title:france ~4100 (document frequency)
            Term title:spain ~4000 (document frequency)
        Facet qualifier, top 10 of 300 terms [by descending document frequency]
        ✓ stop early
    ";

    #[test]
    fn an_outline_reads_like_this_and_may_be_indented() {
        assert_plan!(sample::analyzed(), SAMPLE);
        assert_plan!(&sample::analyzed(), &dedented(SAMPLE));
    }

    #[test]
    fn nothing_of_a_run_and_no_cost_is_in_it() {
        let mut tree = sample::analyzed();
        (tree.planning_ns, tree.total_ns) = (None, None);
        tree.segments.clear();
        tree.plan.actual = None;
        tree.plan.segments.clear();
        tree.facets[0].actual = None;
        tree.plan.decisions[0].estimated_cost_ns = Some(1);
        assert_plan!(tree, SAMPLE);
    }

    #[test]
    fn facets_have_their_options_and_what_they_are_expected_to_be_counted_in() {
        let mut inner = ExplainFacet { limit: 3, ..ExplainFacet::of("size") };
        inner.options = Some("by value".into());
        inner.estimate = Some(crate::explain::InBuckets { buckets: 4, documents: 90 });
        let mut tree = sample::analyzed();
        tree.facets[0].within = vec![inner];
        let expected = format!(
            "{}  Facet size, top 3 of 0 terms, by value ~90 in 4 buckets",
            dedented(SAMPLE)
        );
        assert_plan!(tree, &expected);
    }

    #[test]
    fn a_mismatch_shows_the_lines_that_differ() {
        let expected =
            SAMPLE.replace("4312 (document", "4313 (document").replace("✓ stop early", "");
        let panic = std::panic::catch_unwind(|| assert_plan!(sample::analyzed(), &expected));
        let message = panic.unwrap_err().downcast::<String>().unwrap();
        let shown = "
-   Term title:history ~4313 (document frequency)
+   Term title:history ~4312 (document frequency)
    Union title:france OR title:spain ~5000 in 4000..=8100 (independence)
      Term title:france ~4100 (document frequency)
      Term title:spain ~4000 (document frequency)
  Facet qualifier, top 10 of 300 terms [by descending document frequency]
+ ✓ stop early
";
        assert!(message.contains(shown), "{message}");
        assert!(message.starts_with("the plan is another: - is expected, + is found"), "{message}");
    }

    #[test]
    fn far_from_a_difference_nothing_is_shown() {
        let left: String = (0..50).map(|n| format!("{n}\n")).collect();
        let right = left.replace("25\n", "x\n");
        let shown = "  …\n  22\n  23\n  24\n- 25\n+ x\n  26\n  27\n  28\n  …\n";
        assert_eq!(difference(&left, &right), shown);
        assert_eq!(difference("", ""), "");
    }

    proptest! {
        #[test]
        fn every_node_has_one_line_that_drives_no_terminal(tree in arbitrary::trees()) {
            let outline = tree.to_outline();
            fn lines(facet: &ExplainFacet) -> usize {
                1 + facet.decisions.len() + facet.within.iter().map(lines).sum::<usize>()
            }
            let nodes = tree.plan.iter().map(|node| 1 + node.decisions.len()).sum::<usize>();
            let facets = tree.facets.iter().map(lines).sum::<usize>();
            prop_assert_eq!(outline.lines().count(), nodes + facets);
            prop_assert!(!outline.contains(|c: char| c.is_control() && c != '\n'));
        }

        #[test]
        fn both_texts_can_be_made_of_the_alignment(left in "[ab]{0,12}", right in "[abc]{0,12}") {
            let (l, r): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
            let pairs = aligned(&l, &r);
            let of_left: String = pairs.iter().filter_map(|pair| Some(l[pair.0?])).collect();
            let of_right: String = pairs.iter().filter_map(|pair| Some(r[pair.1?])).collect();
            prop_assert_eq!((of_left, of_right), (left, right));
            let is_right = |pair: &(Option<usize>, Option<usize>)| match *pair {
                (Some(at_l), Some(at_r)) => l[at_l] == r[at_r],
                (one, other) => one.is_some() != other.is_some(),
            };
            prop_assert!(pairs.iter().all(is_right));
        }
    }
}
