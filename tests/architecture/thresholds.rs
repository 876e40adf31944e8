//! Figures by which a way is chosen are in `plan/`.

use super::{Source, collect, names};
use std::{fs, path::Path};

/// Rooms that carry plans out.
const ROOMS: [&str; 6] = ["execution/", "facet/", "matching/", "phrase/", "ranking/", "sort/"];
/// Words of the names of figures from which on something is done otherwise.
const WORDS: [&str; 6] = ["MIN", "MAX", "FROM", "FEW", "FAR", "BELOW"];

/// Figures that choose no way, and what they are.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("execution/bound_facet.rs", "INTERVALS_MAX", "limit of an estimate"),
    ("execution/mod.rs", "DOCS_ROOM_MAX", "size of a buffer"),
    ("facet/pieces.rs", "SLOTS_MIN", "size of a table"),
    ("facet/pieces.rs", "SLOTS_MAX", "size of a table"),
    ("facet/scan.rs", "FEW_NS", "unit of the clock"),
    ("facet/statistics.rs", "FEW_NS", "unit of the clock"),
    ("facet/steps.rs", "STEPS_MAX", "limit of an answer, which is an error beyond it"),
    ("facet/tally.rs", "PENDING_MAX", "size of a buffer"),
    ("phrase/candidates.rs", "LOOKED_UP_MAX", "figure of a room below the plan"),
    ("phrase/list.rs", "STEPPED_MAX", "figure of a room below the plan"),
    ("phrase/mod.rs", "GATHERED_MAX", "size of a buffer"),
    ("phrase/mod.rs", "OFFSET_MAX", "limit of the format"),
    ("ranking/pruned/order.rs", "SUMMED_MAX", "size of a buffer"),
    ("ranking/pruned/order.rs", "WINDOWS_MAX", "size of a buffer"),
    ("ranking/pruned/tree/block.rs", "COUNTED_MAX", "size of an array"),
    ("ranking/pruned/tree/block.rs", "SORTED_MAX", "size of an array"),
    ("ranking/top.rs", "RISES_MAX", "limit of what is shown"),
    ("sort/order.rs", "SORT_KEYS_MAX", "limit of a request, which is an error beyond it"),
];

/// Names of such figures in a source, without what is only for tests.
fn figures(text: &str) -> Vec<&str> {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let name = |line: &'_ str| {
        let (_, declared) = line.split_once("const ")?;
        let line = line.trim_start();
        let is_const = line.starts_with("const ") || line.starts_with("pub");
        let name = declared.split(':').next().filter(|_| is_const)?;
        let is_figure = name.split('_').any(|word| WORDS.contains(&word));
        is_figure.then(|| text.find(name).map(|at| &text[at..at + name.len()]))?
    };
    text.lines().filter_map(name).collect()
}

#[test]
fn figures_that_choose_a_way_are_in_the_plan() {
    let mut sources: Vec<Source> = vec![];
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut sources);
    let is_test = |path: &str| path.ends_with("tests.rs");
    let of_rooms = sources
        .iter()
        .filter(|(path, _)| ROOMS.iter().any(|room| path.starts_with(room)) && !is_test(path));
    let found: Vec<(&str, &str)> = of_rooms
        .flat_map(|(path, text)| figures(text).into_iter().map(|name| (path.as_str(), name)))
        .collect();
    let known: Vec<_> = EXCEPTIONS.iter().map(|(path, name, _)| (*path, *name)).collect();
    let others: Vec<_> = found.iter().filter(|figure| !known.contains(figure)).collect();
    assert!(others.is_empty(), "move these to plan/, or say what they are:\n{others:#?}");
    let gone: Vec<_> = known.iter().filter(|figure| !found.contains(figure)).collect();
    assert!(gone.is_empty(), "no exceptions any more: {gone:#?}");
    let sample =
        "    const FEW_OF_WINDOW: u32 = 3;\npub(super) const MAXIMAL: u32 = 1;\n// const A_MAX: u8";
    assert_eq!(figures(sample), ["FEW_OF_WINDOW"]);
}

/// Figures of the clock decide how soon it is asked and nothing else: a plan chooses by its model of costs.
#[test]
fn plans_choose_by_no_figure_of_the_clock() {
    let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/plan");
    for entry in fs::read_dir(plan).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let is_choice = |line: &&str| {
            let line = line.trim_start();
            !line.starts_with("//") && (names(line, "ns::") || names(line, "BUILT_IN"))
        };
        // The model itself has the built-in figures.
        if path.ends_with("costs.rs") {
            continue;
        }
        let lines: Vec<_> = text.lines().filter(is_choice).collect();
        let lines: Vec<_> = lines.iter().filter(|line| !line.contains("budget::work(")).collect();
        assert!(lines.is_empty(), "{}: {lines:#?}", path.display());
    }
}
