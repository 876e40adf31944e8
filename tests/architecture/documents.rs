//! Rules of the documents: the README is short, its figures are those of the benchmarks, links lead somewhere, the
//! guide is whole, and its glossary has the words of plans.

use crate::openings::OPENINGS;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Lines that a newcomer reads.
const README_LINES_MAX: usize = 200;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Cells of the rows of tables, heads among them.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = text.lines().filter(|line| line.starts_with('|'));
    rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
}

/// Numbers of a text, as they are written.
fn numbers(text: &str) -> BTreeSet<String> {
    let is_part = |char: char| char.is_ascii_digit() || char == '.' || char == ',';
    let parts = text.split(|char| !is_part(char)).map(|part| part.trim_matches(['.', ',']));
    parts.filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

#[test]
fn the_readme_is_short() {
    let n = read("README.md").lines().count();
    assert!(n <= README_LINES_MAX, "{n} lines; more belongs into src/docs");
}

/// Table of a document: its head, its other rows, and the text of its section up to it.
struct Table<'t> {
    head: Vec<&'t str>,
    rows: Vec<Vec<&'t str>>,
    section: String,
}

fn tables(text: &str) -> Vec<Table<'_>> {
    let mut tables: Vec<Table<'_>> = vec![];
    let (mut section, mut is_in_table) = (String::new(), false);
    for line in text.lines() {
        let cells = rows(line).next();
        match (&cells, is_in_table) {
            (Some(head), false) => {
                let (head, section) = (head.clone(), section.clone());
                tables.push(Table { head, rows: vec![], section });
            }
            (Some(row), true) => tables.last_mut().expect("it has begun").rows.push(row.clone()),
            (None, _) if line.starts_with('#') => section.clear(),
            (None, _) => section.extend([line, "\n"]),
        }
        is_in_table = cells.is_some();
    }
    tables
}

impl Table<'_> {
    /// Whether a figure is in a cell, and its unit there, in the head of the column, or in the text before.
    fn has(&self, number: &str, unit: &str) -> bool {
        let says = |text: &str| text.split(|char: char| !char.is_alphabetic()).any(|it| it == unit);
        self.rows.iter().flat_map(|row| row.iter().enumerate()).any(|(at, cell)| {
            let head = self.head.get(at).copied().unwrap_or_default();
            numbers(cell).contains(number) && [cell, head, &*self.section].into_iter().any(says)
        })
    }
}

#[test]
fn figures_of_the_readme_are_those_of_the_benchmarks() {
    let readme = read("README.md");
    let (_, figures) = readme.split_once("\n## Figures\n").expect("the README has figures");
    let (figures, _) = figures.split_once("\n## ").expect("something follows");
    let benchmarks = read("src/docs/benchmarks.md");
    let known = tables(&benchmarks);
    let mut n = 0;
    for row in rows(figures).skip(2) {
        let figures = [row[1], row[2]].map(|cell| {
            let (number, rest) = cell.split_once(' ').expect("a number and its unit");
            assert_eq!(numbers(cell), numbers(number), "one figure: {cell}");
            (number, rest.split(',').next().unwrap_or_default())
        });
        // Of one table, so that they were measured alike.
        let is_known = |table: &Table<'_>| figures.iter().all(|(it, unit)| table.has(it, unit));
        assert!(known.iter().any(is_known), "in no table of benchmarks.md: {row:?}");
        n += 1;
    }
    assert_eq!(n, 8, "eight rows");
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut n = 0;
    let documents = [
        "README.md",
        "src/docs/benchmarks.md",
        "src/docs/changelog.md",
        "src/docs/how-it-works.md",
    ];
    for document in documents {
        let text = read(document);
        let folder = root().join(document).parent().expect("a file is in a folder").to_owned();
        for link in text.split("](").skip(1) {
            let link = link.split([')', '#']).next().unwrap_or_default();
            // The comparisons are not in the package.
            let is_elsewhere =
                link.contains("benches/peers") && !root().join("benches/peers").exists();
            if link.is_empty() || link.contains("://") || is_elsewhere {
                continue;
            }
            assert!(folder.join(link).exists(), "{document}: {link} leads nowhere");
            n += 1;
        }
    }
    assert!(n > 30, "found {n} links");
}

#[test]
fn the_guide_is_shown_and_linked_as_a_whole() {
    let (module, readme) = (read("src/guide.rs"), read("README.md"));
    let pages = fs::read_dir(root().join("src/docs/guide")).expect("the guide is there");
    let names: Vec<String> =
        pages.map(|page| page.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names.len(), 9, "{names:?}");
    for name in names {
        assert!(module.contains(&format!("\"docs/guide/{name}\"")), "{name} is not in guide.rs");
        assert!(
            readme.contains(&format!("(src/docs/guide/{name})")),
            "{name} is not in the README"
        );
    }
}

#[test]
fn the_glossary_has_the_words_of_plans() {
    let guide = read("src/docs/guide/explain.md");
    let (_, glossary) = guide.split_once("\n# Glossary\n").expect("the guide has a glossary");
    for (file, of, at_least) in
        [("src/plan/cost.rs", "Kernel::", 4), ("src/plan/estimate.rs", "EstimateSource::", 10)]
    {
        let text = read(file);
        let lines = text.lines().filter(|line| line.trim_start().starts_with(of));
        let named = lines.filter_map(|line| line.split_once("=> \"")?.1.split('"').next());
        let named: BTreeSet<&str> = named.collect();
        assert!(named.len() >= at_least, "{file}: {named:?}");
        for name in named {
            // Windows are counted by number there.
            let name = if name == "counted in its only window" { "counted in" } else { name };
            assert!(glossary.contains(name), "{name} of {file} is not in the glossary");
        }
    }
    let operators = read("src/explain/operator.rs");
    let (_, named) = operators.split_once("    pub ExplainOperator {").expect("names of operators");
    let named = named.split('}').next().unwrap_or_default();
    let operators: BTreeSet<&str> = named.split(',').map(str::trim).collect();
    assert_eq!(operators.len(), 23, "{operators:?}");
    for operator in operators {
        assert!(glossary.contains(&format!("`{operator}`")), "{operator}");
    }
}

/// The steps of `.ci/run` stand in a table, in their order.
#[test]
fn the_steps_of_all_checks_are_described() {
    let run = read(".ci/run");
    let (_, steps) = run.split_once("\nsteps=(").expect("a list of steps");
    let steps: Vec<&str> = steps.split(')').next().unwrap_or_default().split(' ').collect();
    let page = read("src/docs/how-it-works.md");
    let (_, checks) = page.split_once("\n## Checks\n").expect("a chapter on checks");
    let rows = checks.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    assert!(steps.len() > 15);
    assert_eq!(rows.collect::<Vec<_>>(), steps);
}

/// Options of cargo, in the documents.
const OPTIONS_OF_CARGO: [&str; 7] =
    ["--path", "--release", "--example", "--manifest-path", "--no-deps", "--features", "--test"];

#[test]
fn options_in_the_documents_are_those_of_the_tool() {
    // A test of the suite holds that it has what the help has.
    let known = read("src/docs/llms.txt");
    let known: BTreeSet<&str> = options(&known).collect();
    let mut n = 0;
    for path in guide_and(["README.md"]) {
        let text = read(&path);
        for option in options(&text).filter(|it| !OPTIONS_OF_CARGO.contains(it)) {
            assert!(known.contains(option), "{}: {option}", path.display());
            n += 1;
        }
    }
    assert!(n > 100, "{n} options");
}

/// Words that begin with two hyphens.
fn options(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|char: char| !char.is_ascii_lowercase() && char != '-' && char != '_');
    words.filter(|word| word.len() > 3 && word.starts_with("--") && !word.starts_with("---"))
}

/// Pages of the guide, and other documents.
fn guide_and<const N: usize>(others: [&str; N]) -> Vec<PathBuf> {
    let guide = fs::read_dir(root().join("src/docs/guide")).expect("the guide is there");
    let pages = guide.map(|page| page.unwrap().path());
    pages.chain(others.map(PathBuf::from)).collect()
}

#[test]
fn sentences_of_the_guide_begin_with_a_noun_or_a_verb() {
    let paths = guide_and([
        "README.md",
        "src/docs/benchmarks.md",
        "src/docs/changelog.md",
        "src/docs/how-it-works.md",
    ]);
    let mut n = 0;
    for path in paths {
        let text = read(&path);
        // Code is between fences.
        let prose = text.split("\n```").step_by(2).flat_map(|part| part.split("\n\n"));
        for paragraph in prose.filter(|it| !it.trim_start().starts_with(['#', '|'])) {
            let joined = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
            for sentence in joined.split(". ") {
                let sentence = sentence.trim_start_matches(|char: char| !char.is_alphanumeric());
                let banned = OPENINGS.iter().find(|it| sentence.starts_with(&format!("{it} ")));
                assert!(banned.is_none(), "{}: {sentence}", path.display());
                n += 1;
            }
        }
    }
    assert!(n > 300, "{n} sentences");
}
