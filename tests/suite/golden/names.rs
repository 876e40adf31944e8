//! Every operator and every rule that a plan can have is in a golden plan. What there can be is read from where the names
//! are: `match`es of the library that do not compile without an arm for each variant.

use super::{groups, outlines};
use std::{collections::BTreeSet, fs, path::Path};

fn source(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The body of a function of one of our files, which ends where the next item of its indentation begins.
fn body(path: &str, function: &str) -> String {
    let text = source(path);
    let start = text.find(function).unwrap_or_else(|| panic!("no {function} in {path}"));
    let indent = text[..start].len() - text[..start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[start..].find(&format!("\n{}}}\n", " ".repeat(indent)));
    text[start..start + end.unwrap()].to_owned()
}

/// The texts in double quotes behind each `before` and any blanks, up to the first brace.
fn texts_behind(text: &str, before: &str) -> BTreeSet<String> {
    let parts = text.split(before).skip(1).filter_map(|rest| {
        let rest = rest.trim_start().strip_prefix('"')?;
        let name = rest.split(['"', '{']).next()?;
        Some(name.to_owned()).filter(|name| !name.is_empty())
    });
    parts.collect()
}

/// The files that make nodes and decisions.
fn makers() -> [String; 3] {
    ["", "/page", "/facets"].map(|part| format!("explain/from_plan{part}.rs"))
}

fn operators() -> BTreeSet<String> {
    let of_enum = body("explain/operator.rs", "pub ExplainOperator {");
    let names = of_enum.lines().skip(1).flat_map(|line| line.split(',')).map(str::trim);
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The variants of an `enum` of the plan.
fn variants(path: &str, name: &str) -> BTreeSet<String> {
    let seen = if name == "FacetMethod" { "pub" } else { "pub(crate)" };
    let of_enum = body(path, &format!("{seen} enum {name} {{"));
    // Members of variants stand deeper.
    let names = of_enum.lines().skip(1).filter_map(|line| line.strip_prefix("    "));
    let names = names.filter(|line| line.starts_with(char::is_uppercase));
    names.filter_map(|line| Some(line.split(['(', ',', ' ']).next()?.to_owned())).collect()
}

fn facet_operators() -> BTreeSet<String> {
    variants("plan/facets.rs", "FacetOperator")
}

fn rules() -> BTreeSet<String> {
    // They stand before their reasons: of plans first in a line or behind an arrow, of facets in pairs.
    let of_plans = body("explain/from_plan/rules.rs", "pub(super) fn named(");
    let mut names = texts_behind(&of_plans, "=> (");
    names.extend(texts_behind(&of_plans, "\n            ("));
    names.extend(texts_behind(
        &body("explain/from_plan/facets.rs", "fn decision_of_values("),
        "=> (",
    ));
    for maker in makers() {
        let text = source(&maker);
        names.extend(texts_behind(&text, "Some(("));
        for call in ["Decision::accepted(", "Decision::rejected("] {
            names.extend(texts_behind(&text, call));
            names.extend(texts_behind(&text, &format!("{call}format!(")));
        }
        // Names that are put together before they are used, or are used more than once.
        names.extend(texts_behind(&text, "let rule = format!("));
        names.extend(texts_behind(&text, ": &str ="));
    }
    names
}

/// Rules of runs: over several windows of 65,536 documents, which the indexes here do not have, and of kernels, which a test of
/// ranking has.
const OF_RUNS: [&str; 4] =
    ["score windows whole", "add up essential lists", "intersect windows", "score lists whole"];

#[test]
fn every_operator_and_every_rule_is_in_a_golden_plan() {
    let files: String = groups().iter().map(outlines).collect();
    let lines: Vec<&str> = files.lines().map(str::trim_start).collect();
    let (operators, rules) = (operators(), rules());
    // What is read from the sources is still what is meant.
    for name in ["All", "AtLeast", "ColumnScan", "Limit", "TopK", "Sort", "Collapse", "Count"] {
        assert!(operators.contains(name), "{name} is not found in {operators:?}");
    }
    for name in ["kernel", "stop at the page", "top-k by bounds", "count as asked for", "count by "]
    {
        assert!(rules.contains(name), "{name} is not found in {rules:?}");
    }
    let in_none = |names: &BTreeSet<String>, is_in: &dyn Fn(&str, &str) -> bool| -> Vec<String> {
        let is_missing = |name: &&String| !lines.iter().any(|line| is_in(line, name));
        names.iter().filter(is_missing).cloned().collect()
    };
    let mut operators = in_none(&operators, &|line, name| line.split(' ').next() == Some(name));
    operators.extend(in_none(&facet_operators(), &|line, name| match name {
        "Statistics" => line.starts_with("Facet ") && line.contains(", statistics"),
        name => line.split(' ').next() == Some(name),
    }));
    let mut rules = in_none(&rules, &|line, name| {
        let rule = line.strip_prefix("✓ ").or_else(|| line.strip_prefix("✗ "));
        // The end of some is only known when they are taken.
        rule.is_some_and(|rule| rule == name || name.ends_with(' ') && rule.starts_with(name))
    });
    rules.retain(|rule| !OF_RUNS.contains(&&**rule));
    assert!(
        operators.is_empty() && rules.is_empty(),
        "no golden plan has {operators:?}, {rules:?}"
    );
}

/// The tables of operators and strategies in the documentation of the module `plan` have the variants of its `enum`s.
#[test]
fn the_table_of_operators_is_true() {
    let source = source("plan/mod.rs");
    let names = |names: &str| names.split(", ").map(str::to_owned).collect::<BTreeSet<_>>();
    let rows = source.lines().filter_map(|line| line.strip_prefix("//! | ")?.strip_suffix(" |"));
    let rows: Vec<_> = rows.filter_map(|row| row.split_once(" | ")).collect();
    let told = |row: &str| names(rows.iter().find(|(name, _)| *name == row).expect(row).1);
    for (row, path, of) in [
        ("matching", "plan/mod.rs", "Operator"),
        ("page", "plan/page.rs", "PageOperator"),
        ("facets", "plan/facets.rs", "FacetOperator"),
        ("TopK", "plan/page.rs", "TopKStrategy"),
        ("Sort", "plan/order.rs", "SortStrategy"),
        ("Collapse", "plan/page.rs", "CollapseStrategy"),
        ("count of a page", "plan/page.rs", "CountStrategy"),
        ("Facet of values", "plan/facet.rs", "FacetMethod"),
        ("Facet of ranges", "plan/ranges.rs", "RangesStrategy"),
        ("Facet of cells", "plan/grid.rs", "GridStrategy"),
        ("Statistics", "plan/facets.rs", "StatisticsStrategy"),
        ("TopHits", "plan/top_hits.rs", "TopHitsStrategy"),
        ("ranks", "plan/spread.rs", "SpreadStrategy"),
        ("kernels", "plan/lists_kernel.rs", "ListsKernel"),
    ] {
        assert_eq!(told(row), variants(path, of), "{row}");
    }
}

/// Explain nodes are made of plans and profiles, and nowhere else.
#[test]
fn the_searcher_makes_no_nodes_and_no_decisions() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = |room| fs::read_dir(src.join(room)).unwrap();
    let mut n_files = 0;
    for entry in files("searcher").chain(files("execution")) {
        let path = entry.unwrap().path();
        let is_test = path.to_string_lossy().ends_with("_tests.rs");
        if is_test || path.extension().is_none_or(|it| it != "rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
        for line in code {
            let made = ["ExplainFacet", "ExplainNode", "Decision::"].map(|it| line.contains(it));
            assert_eq!(made, [false; 3], "{}: {line}", path.display());
        }
        n_files += 1;
    }
    assert!(n_files > 30, "{n_files} files");
}

/// Each operator that makes a page is carried out by one function that is named like it, and by nothing else.
#[test]
fn one_function_carries_out_each_operator_of_a_page() {
    let run = body("execution/mod.rs", "pub(crate) fn run(");
    for operator in variants("plan/page.rs", "PageOperator") {
        let arms = run.lines().filter(|line| line.contains(&format!("PageOperator::{operator}")));
        let arms: Vec<_> = arms.map(|line| line.replace('_', "").to_lowercase()).collect();
        let called = format!("=> self.{}(plan, ", operator.to_lowercase());
        assert!(arms.len() == 1 && arms[0].contains(&called), "{operator}: {arms:?}");
    }
}
