//! `src/docs/llms.txt`, a short map of the tool for programs that write queries: its commands are those of the help,
//! its query language is that of the guide, and its JSON has the names that the tool prints.
//!
//! `TREEPIE_LLMS=write` writes the parts that are made of the help and the guide.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

use serde_json::Value;

use super::Dir;

const GUIDE: &str = include_str!("../../../src/docs/guide/query-language.md");
const FACETS: &str = include_str!("../../../src/docs/guide/facets.md");
const COMMANDS: &str = "# Commands\n";
const LANGUAGE: &str = "# Query language\n";
const COUNTS: &str = "# Facets and orders\n";
const SHAPES: &str = "# JSON\n";
/// Options that every command has.
const EVERYWHERE: [&str; 4] = ["--help", "--quiet", "--color", "--no-pager"];

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/docs/llms.txt")
}

/// Subcommands that a help names.
fn subcommands(help: &str) -> Vec<&str> {
    let from = ["\nCommands:\n", "\nWhat:\n"].iter().find_map(|head| help.split_once(*head));
    let list = from.map_or("", |(_, list)| list.split("\n\n").next().unwrap_or(list));
    let names = list.lines().filter_map(|line| line.strip_prefix("  "));
    let names = names.filter(|line| line.starts_with(char::is_alphabetic));
    names.filter_map(|line| line.split(' ').next()).filter(|name| *name != "help").collect()
}

/// Commands with their options, each as the help has it.
fn commands(dir: &Dir) -> String {
    let mut out = String::new();
    for name in subcommands(&dir.ok(&["--help"])) {
        command(dir, &[name], &mut out);
    }
    out
}

fn command(dir: &Dir, names: &[&str], out: &mut String) {
    let help = match names {
        // Of `help` it is a page on schema files.
        ["schema"] => dir.ok(&["schema", "--help"]),
        names => dir.ok(&[&["help"], names].concat()),
    };
    let about = help.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    let usage = help.lines().find_map(|line| line.strip_prefix("Usage: ")).expect("a usage");
    let _ = writeln!(out, "\n{usage}\n  {about}");
    // A name begins here, or behind a short one; deeper lines go on with a description.
    let option = |line: &str| {
        let long = line.strip_prefix("      ").or_else(|| line.strip_prefix("  -")?.get(3..))?;
        let option = long.split("  ").next()?;
        let name = option.split([' ', '[']).next()?;
        (name.starts_with("--") && !EVERYWHERE.contains(&name)).then(|| option.to_owned())
    };
    let options: Vec<String> = help.lines().filter_map(option).collect();
    if !options.is_empty() {
        let _ = writeln!(out, "  options: {}", options.join(", "));
    }
    for name in subcommands(&help) {
        command(dir, &[names, &[name]].concat(), out);
    }
}

/// Rows of the guide's tables, a line each.
fn language() -> String {
    let (tables, _) =
        GUIDE.split_once("\n# Text that a person typed").expect("the guide has tables");
    rows(tables)
}

/// Rows of the guide's tables on facets and orders.
fn facets() -> String {
    rows(FACETS)
}

fn rows(tables: &str) -> String {
    let mut out = String::from("\n");
    for row in tables.lines().filter(|line| line.starts_with("| `")) {
        let row = row.replace("\\|", "\u{0}");
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let _ = writeln!(out, "- {}: {}", cells[0], cells[1].replace('\u{0}', "|"));
    }
    out
}

/// Names of all objects in a value, on the way to it.
fn names(value: &Value, way: &str, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let way = format!("{way}.{name}");
                names(value, &way, into);
                into.insert(way);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| names(value, way, into)),
        _ => {}
    }
}

#[test]
fn commands_and_language_are_those_of_the_tool() {
    let dir = Dir::new();
    let text = fs::read_to_string(path()).expect("src/docs/llms.txt is there");
    let (head, rest) = text.split_once(COMMANDS).expect("the file has commands");
    let (_, rest) = rest.split_once(LANGUAGE).expect("the file has the language");
    let (_, rest) = rest.split_once(COUNTS).expect("the file has facets");
    let (_, shapes) = rest.split_once(SHAPES).expect("the file has JSON");
    let (commands, language, facets) = (commands(&dir), language(), facets());
    let made = format!(
        "{head}{COMMANDS}{commands}\n{LANGUAGE}{language}\n{COUNTS}{facets}\n{SHAPES}{shapes}"
    );
    if env::var("TREEPIE_LLMS").is_ok_and(|what| what == "write") {
        return fs::write(path(), &made).unwrap();
    }
    assert!(commands.lines().count() > 60 && language.lines().count() > 40, "{made}");
    assert!(text == made, "llms.txt is not that of this tool; TREEPIE_LLMS=write writes it");
}

#[test]
fn json_has_the_names_that_are_printed() {
    let dir = Dir::new();
    dir.write(
        "shop.csv",
        "sku,name,brand,price\n1,Red lamp,Acme,9.5\n2,Blue lamp,Bolt,12\n3,Red lamp,Acme,20\n",
    );
    dir.ok(&["index", "shop.tp", "shop.csv", "--quiet"]);
    let text = fs::read_to_string(path()).unwrap();
    let (_, shapes) = text.split_once(SHAPES).unwrap();
    let mut n = 0;
    for block in shapes.split("\n$ treepie ").skip(1) {
        let (command, rest) = block.split_once('\n').unwrap();
        let shape = rest.split("\n\n").next().unwrap();
        let arguments: Vec<&str> = command.split(' ').collect();
        let ran = dir.run(&arguments);
        let (mut printed, mut told) = (BTreeSet::new(), BTreeSet::new());
        let first = ran.stdout.lines().next().unwrap_or_default();
        let read = |text: &str| {
            serde_json::from_str::<Value>(text)
                .unwrap_or_else(|error| panic!("{command}: {error}: {text}"))
        };
        names(&read(first), "", &mut printed);
        names(&read(shape), "", &mut told);
        assert_eq!(told, printed, "{command}: told and printed");
        n += 1;
    }
    assert!(n >= 5, "{n} shapes");
}

#[test]
fn queries_of_the_language_are_read() {
    let mut n = 0;
    for line in language().lines().filter_map(|line| line.strip_prefix("- ")) {
        let queries = line.split_once(": ").unwrap_or((line, "")).0;
        for query in queries.split('`').skip(1).step_by(2).filter(|query| query.len() > 3) {
            let options = treepie::query::ParseOptions::default();
            treepie::query::parse(query, &options)
                .unwrap_or_else(|error| panic!("{query}: {error}"));
            n += 1;
        }
    }
    assert!(n > 40, "{n} queries");
}
