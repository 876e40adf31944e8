//! [`ExplainTree`] → outline, for snapshots that people review. It has the parts of a plan that stay the same from run
//! to run and from machine to machine, a line each; [`assert_plan!`](crate::assert_plan) compares with one.

use super::units::behind;
use super::{Decision, Estimate, ExplainFacet, ExplainNode, ExplainTree, FacetEstimate};
use crate::difference::difference;
use crate::plural::counted;
use crate::terminal;
use std::borrow::Borrow;
use std::fmt::Write;

impl ExplainTree {
    /// Returns the operators with their algorithms, estimates and decisions, and the methods of facets. Each is a line,
    /// indented by its depth. Nothing in it depends on time, on a run, on costs or on ids, so that a plan has the same
    /// outline wherever the same index is asked the same.
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
        self.facets.iter().for_each(|it| facet(&mut out, it, 0));
        out
    }
}

fn node(out: &mut String, node: &ExplainNode, depth: usize) {
    let ExplainNode { operator, label, algorithm, .. } = node;
    let Estimate { documents, lower, upper, source } = &node.estimate;
    let bounds = if lower == upper { String::new() } else { format!(" in {lower}..={upper}") };
    let (label, algorithm) = (behind("", label, ""), behind("[", algorithm, "]"));
    let source = behind("(", source, ")");
    push(out, depth, &format!("{operator}{label}{algorithm} ~{documents}{bounds}{source}"));
    decisions(out, depth, &node.decisions);
    node.children.iter().for_each(|child| self::node(out, child, depth + 1));
}

fn facet(out: &mut String, facet: &ExplainFacet, depth: usize) {
    let values = facet.values(&format!("top {} of {}", facet.limit, counted(facet.terms, "term")));
    let algorithm = behind("[", &facet.algorithm, "]");
    let estimate = behind("", &facet.estimate.map(FacetEstimate::in_words).unwrap_or_default(), "");
    push(out, depth, &format!("{} {values}{algorithm}{estimate}", facet.operator));
    decisions(out, depth, &facet.decisions);
    facet.within.iter().for_each(|inner| self::facet(out, inner, depth + 1));
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

/// Implements [`assert_plan!`](crate::assert_plan).
///
/// # Panics
///
/// Panics if the plan has another outline.
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
    let lines = lines[first..last].iter().map(|line| line.get(common..).unwrap_or(""));
    lines.map(|line| format!("{line}\n")).collect()
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
        inner.estimate = Some(crate::explain::FacetEstimate {
            buckets: 4,
            buckets_upper: 6,
            documents: 90,
            lower: 0,
            upper: 95,
        });
        let mut tree = sample::analyzed();
        tree.facets[0].within = vec![inner];
        let expected = format!(
            "{}  Facet size, top 3 of 0 terms, by value ≈ in 4 of at most 6 buckets with 90 documents, 0 to 95",
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
    }
}
