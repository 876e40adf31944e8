//! Rings of files: those from which imports lead back to themselves.
//!
//! A file imports another if it names something that is defined there, by a path that begins with `crate`, `super`, `self` or
//! a module below it; what a module only hands on (`pub use`) is looked for where it is defined. Handing on is no import.
//! Tests are left out.

use std::collections::{BTreeMap, BTreeSet};

/// A file's path below `src/`, and its text.
type Source = (String, String);
/// Names of modules from the root of a crate on; of the tool they begin with its folder.
type Module = Vec<String>;

/// Files of a ring, in order.
pub(crate) type Ring = Vec<String>;

/// Imports of one crate and what its modules hand on.
struct Tree {
    /// File of each module.
    files: BTreeMap<Module, String>,
    /// Of each module the names that it hands on, and where they come from.
    handed_on: BTreeMap<Module, BTreeMap<String, Vec<String>>>,
}

/// Rings of two files and more, each within one room: a folder of `src/`, or the tool.
pub(crate) fn rings(sources: &[Source]) -> BTreeMap<String, Vec<Ring>> {
    let sources: Vec<(Module, &str, String)> = sources
        .iter()
        .filter(|(path, _)| !is_test(path))
        .map(|(path, text)| (module_of(path), path.as_str(), code_of(text)))
        .collect();
    let mut tree = Tree { files: BTreeMap::new(), handed_on: BTreeMap::new() };
    for (module, path, _) in &sources {
        tree.files.insert(module.clone(), (*path).to_owned());
    }
    for (module, _, code) in &sources {
        let mut names = BTreeMap::new();
        for (path, _) in uses(code).into_iter().filter(|(_, is_handed_on)| *is_handed_on) {
            if let Some(name) = path.last() {
                names.insert(name.clone(), path.clone());
            }
        }
        tree.handed_on.insert(module.clone(), names);
    }
    let mut imports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (module, path, code) in &sources {
        let own = uses(code).into_iter().filter(|(_, is_handed_on)| !is_handed_on);
        let paths = own.map(|(path, _)| path).chain(paths_in(code));
        let to = paths.filter_map(|named| tree.file_of(module, &named, 0));
        let to = to.filter(|to| *to != *path && room_of(to) == room_of(path));
        imports.entry(path).or_default().extend(to);
    }
    let mut by_room: BTreeMap<String, Vec<Ring>> = BTreeMap::new();
    for ring in strongly_connected(&imports) {
        by_room.entry(room_of(&ring[0]).to_owned()).or_default().push(ring);
    }
    by_room
}

impl Tree {
    /// File of what a path names, seen from a module.
    fn file_of(&self, from: &Module, path: &[String], depth: usize) -> Option<&str> {
        let is_of_tool = from.first().is_some_and(|first| first == "bin");
        let root: Module = if is_of_tool { from[..2].to_vec() } else { vec![] };
        let (first, mut rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => root,
            "self" => from.clone(),
            "super" => from[..from.len().checked_sub(1)?].to_vec(),
            _ => {
                let child = [&from[..], std::slice::from_ref(first)].concat();
                self.files.contains_key(&child).then_some(child)?
            }
        };
        while let Some((name, behind)) = rest.split_first() {
            rest = behind;
            if name == "super" {
                at.pop()?;
                continue;
            }
            let child = [&at[..], std::slice::from_ref(name)].concat();
            if self.files.contains_key(&child) {
                at = child;
                continue;
            }
            let handed_on = self.handed_on.get(&at).and_then(|names| names.get(name));
            return match handed_on.filter(|_| depth < 8) {
                Some(path) => self.file_of(&at.clone(), path, depth + 1),
                None => self.files.get(&at).map(String::as_str),
            };
        }
        self.files.get(&at).map(String::as_str)
    }
}

fn is_test(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part.ends_with("tests.rs"))
}

/// The module that a file is.
fn module_of(path: &str) -> Module {
    let mut module: Module = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if module.last().is_some_and(|last| matches!(last.as_str(), "mod" | "main" | "lib")) {
        module.pop();
    }
    module
}

/// The folder below `src/`, or the file that stands there by itself.
fn room_of(path: &str) -> &str {
    let room = path.split('/').next().unwrap_or(path);
    room.trim_end_matches(".rs")
}

/// A text without comments and tests: of those at its end nothing, and else not the line behind the attribute.
fn code_of(text: &str) -> String {
    let mut code = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == "#[cfg(test)]" {
            match lines.next() {
                Some(line) if line.contains("mod ") && line.ends_with('{') => break,
                _ => continue,
            }
        }
        code.push_str(line.split("//").next().unwrap_or_default());
        code.push('\n');
    }
    code
}

/// Every path that is imported, groups taken apart, and whether it is handed on.
fn uses(code: &str) -> Vec<(Vec<String>, bool)> {
    let mut found = vec![];
    for statement in code.split(';') {
        // What stands before it ends with a brace or begins a line.
        let Some(at) = statement.find("use ").filter(|at| is_statement(&statement[..*at])) else {
            continue;
        };
        let is_handed_on = statement[..at].contains("pub");
        let mut paths = vec![];
        take_apart(statement[at + 4..].trim(), &mut vec![], &mut paths);
        found.extend(paths.into_iter().map(|path| (path, is_handed_on)));
    }
    found
}

fn is_statement(before: &str) -> bool {
    let last = before.lines().last().unwrap_or_default().trim();
    last.is_empty() || last == "pub" || last.starts_with("pub(") && last.ends_with(')')
}

/// `a::{b, c::{d, e}}` as a::b, a::c::d and a::c::e; `as` and what follows it left out.
fn take_apart(text: &str, before: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    let text = text.trim();
    if let Some(group) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
        let mut depth = 0;
        let items = group.split(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && depth == 0
        });
        items.filter(|item| !item.trim().is_empty()).for_each(|it| take_apart(it, before, paths));
        return;
    }
    match text.split_once("::") {
        Some((name, rest)) => {
            before.push(name.trim().to_owned());
            take_apart(rest, before, paths);
            before.pop();
        }
        None => {
            let name = text.split_whitespace().next().unwrap_or_default();
            let last = (name != "self" || before.is_empty()).then(|| name.to_owned());
            paths.push(before.iter().cloned().chain(last).collect());
        }
    }
}

/// Paths in the code beside imports: `super::facts::read`, `crate::ids::DocId`.
fn paths_in(code: &str) -> Vec<Vec<String>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = vec![];
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let is_inside = code[..at].ends_with(|c: char| is_part(c) || c == ':');
            if is_inside {
                continue;
            }
            let rest = &code[at..];
            let end = rest.find(|c: char| !is_part(c) && c != ':').unwrap_or(rest.len());
            let path = rest[..end].split("::").filter(|part| !part.is_empty());
            found.push(path.map(str::to_owned).collect());
        }
    }
    found
}

/// Groups of files that reach each other, of two and more.
fn strongly_connected(imports: &BTreeMap<&str, BTreeSet<&str>>) -> Vec<Ring> {
    let reached = |from: &str| {
        let (mut seen, mut todo) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(file) = todo.pop() {
            for next in imports.get(file.as_str()).into_iter().flatten() {
                if seen.insert((*next).to_owned()) {
                    todo.push((*next).to_owned());
                }
            }
        }
        seen
    };
    let reach: BTreeMap<&str, BTreeSet<String>> =
        imports.keys().map(|file| (*file, reached(file))).collect();
    let mut rings: BTreeSet<Ring> = BTreeSet::new();
    for (file, reached) in &reach {
        let back = |other: &&String| {
            reach.get(other.as_str()).is_some_and(|reached| reached.contains(*file))
        };
        let ring: Ring = reached.iter().filter(back).cloned().collect();
        if ring.len() > 1 {
            rings.insert(ring);
        }
    }
    rings.into_iter().collect()
}

#[test]
fn rings_are_found_through_names_that_are_handed_on() {
    let source = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let found = |sources: &[Source]| rings(sources);
    let ring = [
        source("room/mod.rs", "mod a;\nmod b;\npub use a::{A, Other as Another};\npub use b::B;\n"),
        source("room/a.rs", "use super::B;\npub struct A(B);\n"),
        source("room/b.rs", "fn f() -> super::A { todo!() }\npub struct B;\n"),
        source("room/c.rs", "use super::{A, b::B};\n"),
    ];
    let expected = vec!["room/a.rs".to_owned(), "room/b.rs".to_owned()];
    assert_eq!(found(&ring), BTreeMap::from([("room".to_owned(), vec![expected])]));
    let none = [
        source("room/mod.rs", "mod a;\nmod b;\npub use a::A;\npub use b::B;\n"),
        source(
            "room/a.rs",
            "use super::B; // not super::c\n#[cfg(test)]\nmod tests { use super::c; }\n",
        ),
        source("room/b.rs", "use crate::other::X;\npub struct B;\n"),
        source("other/mod.rs", "use crate::room::A;\npub struct X;\n"),
        source("room/a_tests.rs", "use super::a::A;\n"),
    ];
    assert!(found(&none).is_empty(), "{:?}", found(&none));
    // The room itself defines what its part asks for, and asks for the part.
    let own = [
        source("room/mod.rs", "mod a;\nuse a::A;\npub struct Own(A);\n"),
        source("room/a.rs", "use super::Own;\npub struct A;\n"),
    ];
    assert_eq!(found(&own)["room"], [["room/a.rs", "room/mod.rs"]]);
    let tool = [
        source("bin/treepie/args.rs", "use crate::output::O;\n"),
        source("bin/treepie/output.rs", "use crate::args::A;\n"),
    ];
    assert_eq!(found(&tool)["bin"].len(), 1);
}
