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
fn makers() -> Vec<String> {
    let mut makers =
        vec!["explain/from_plan.rs".to_owned(), "explain/from_plan/page.rs".to_owned()];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/searcher");
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".rs") && !name.contains("tests") {
            makers.push(format!("searcher/{name}"));
        }
    }
    makers
}

fn operators() -> BTreeSet<String> {
    let of_match = body("explain/from_plan.rs", "fn operator(&self, id: NodeId)");
    let mut names = texts_behind(&of_match, "=>");
    names.extend(texts_behind(&of_match, "=> {"));
    names.extend(texts_behind(&body("plan/page.rs", "pub(crate) fn name(self)"), "=>"));
    names
}

fn rules() -> BTreeSet<String> {
    let mut names = texts_behind(&body("plan/decision.rs", "pub(crate) fn name(&self)"), "=>");
    // Those of facets stand in pairs with their reasons.
    names.extend(texts_behind(
        &body("explain/from_plan.rs", "pub(crate) fn facet_decisions("),
        "=> (",
    ));
    for maker in makers() {
        let text = source(&maker);
        for call in ["Decision::accepted(", "Decision::rejected("] {
            names.extend(texts_behind(&text, call));
            names.extend(texts_behind(&text, &format!("{call}format!(")));
        }
        // Names that are put together before they are used.
        names.extend(texts_behind(&text, "let rule = format!("));
    }
    names
}

#[test]
fn every_operator_and_every_rule_is_in_a_golden_plan() {
    let files: String = groups().iter().map(outlines).collect();
    let lines: Vec<&str> = files.lines().map(str::trim_start).collect();
    let (operators, rules) = (operators(), rules());
    // What is read from the sources is still what is meant.
    for name in ["All", "AtLeast", "ColumnScan", "Limit", "TopK", "Sort", "Collapse"] {
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
    let operators = in_none(&operators, &|line, name| line.split(' ').next() == Some(name));
    let rules = in_none(&rules, &|line, name| {
        let rule = line.strip_prefix("✓ ").or_else(|| line.strip_prefix("✗ "));
        // The end of some is only known when they are taken.
        rule.is_some_and(|rule| rule == name || name.ends_with(' ') && rule.starts_with(name))
    });
    assert!(
        operators.is_empty() && rules.is_empty(),
        "no golden plan has {operators:?}, {rules:?}"
    );
}

/// The table of operators in the documentation of the module `plan` has those that there are, and no others.
#[test]
fn the_table_of_operators_is_true() {
    let source = source("plan/mod.rs");
    let rows = source.lines().filter_map(|line| line.strip_prefix("//! | "));
    let mut told = BTreeSet::new();
    for row in rows.filter(|row| row.starts_with("matching |") || row.starts_with("page |")) {
        let names = row.split('|').nth(1).unwrap().split(',').map(|name| name.trim().to_owned());
        told.extend(names);
    }
    assert_eq!(told, operators());
}
