//! A listing of the public API, kept in `api.txt`, so that a change of it is seen where it is reviewed.
//!
//! It is made from the texts of the sources, which rustfmt lays out: items begin in the first column, members in the fifth. Every
//! `pub` item is reachable, as the lint `unreachable_pub` holds, so that it is listed without asking where it is used. Methods
//! that a macro makes are listed for `named!` and `named_or_other!` only.

use crate::scan::{Scanned, scan};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Names that a program can import from the root.
const ROOT_NAMES_MAX: usize = 40;
/// Set to `write`, it writes the listing anew.
const VARIABLE: &str = "TREEPIE_API";

#[test]
fn the_public_api_is_the_one_that_is_listed() {
    let found = listing();
    let path = root().join("tests/architecture/api.txt");
    if std::env::var(VARIABLE).is_ok_and(|value| value == "write") {
        fs::write(&path, &found).unwrap();
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    let [found, known]: [BTreeSet<&str>; 2] = [&found, &known].map(|text| text.lines().collect());
    let new = found.difference(&known).map(|line| format!("+ {line}"));
    let gone = known.difference(&found).map(|line| format!("- {line}"));
    let changed: Vec<String> = new.chain(gone).collect();
    assert!(
        changed.is_empty(),
        "the public API has changed:\n{}\nIf that is meant, {VARIABLE}=write writes tests/architecture/api.txt anew; say it in \
         src/docs/changelog.md, too",
        changed.join("\n")
    );
}

#[test]
fn the_root_has_few_names() {
    let lib = scan(&read("src/lib.rs"));
    let names: Vec<_> = lib.handed_on.iter().map(|(_, name)| name.as_str()).collect();
    assert!((20..=ROOT_NAMES_MAX).contains(&names.len()), "{}: {names:?}", names.len());
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The whole listing, a line each.
fn listing() -> String {
    let mut sources = vec![];
    crate::collect(&root().join("src"), "", &mut sources);
    sources.retain(|(path, _)| !path.starts_with("bin/") && !is_test(path));
    let scanned: BTreeMap<String, Scanned> =
        sources.iter().map(|(path, text)| (module_of(path), scan(text))).collect();
    let mut paths = Paths::default();
    paths.follow("", &scanned);
    for (module, of) in &scanned {
        paths.lines.extend(of.macros.iter().map(|name| format!("pub macro treepie::{name}")));
        for (name, member) in &of.members {
            if let Some(path) = paths.path_of(name, module, &scanned) {
                paths.lines.insert(line_of(name, path, member));
            }
        }
    }
    let mut text = paths.lines.into_iter().collect::<Vec<_>>().join("\n");
    text.push('\n');
    text
}

/// Line of a member, or of an implementation of traits, of the type that has this public path.
fn line_of(name: &str, path: &str, member: &str) -> String {
    if member.starts_with("impl") {
        return match member.contains(" for ") {
            true => member.replacen(&format!(" for {name}"), &format!(" for {path}"), 1),
            false => format!("{member} for {path}"),
        };
    }
    for kind in ["fn ", "const fn ", "const "] {
        if let Some(rest) = member.strip_prefix(kind) {
            return format!("pub {kind}{path}::{rest}");
        }
    }
    format!("pub {path}::{member}")
}

/// Public paths, found from the root on.
#[derive(Default)]
struct Paths {
    lines: BTreeSet<String>,
    /// First path of each item, by its name and the module that defines it.
    first: BTreeMap<(String, String), String>,
}

impl Paths {
    /// Lists the items of a public module, and the public modules in it.
    fn follow(&mut self, module: &str, scanned: &BTreeMap<String, Scanned>) {
        let Some(here) = scanned.get(module) else { return };
        let in_module = |name: &str| match module {
            "" => format!("treepie::{name}"),
            _ => format!("treepie::{module}::{name}"),
        };
        for (name, lines) in &here.items {
            self.add(name, &in_module(name), module, lines);
        }
        for (from, name) in &here.handed_on {
            let path = in_module(name);
            match defined(module, from, scanned) {
                Some((by, lines)) => self.add(name, &path, &by, lines),
                None => drop(self.lines.insert(format!("pub use {path} = {}", from.join("::")))),
            }
        }
        for (name, feature) in &here.modules {
            self.lines.insert(format!("pub mod {}{feature}", in_module(name)));
            let child = if module.is_empty() { name.clone() } else { format!("{module}::{name}") };
            self.follow(&child, scanned);
        }
    }

    fn add(&mut self, name: &str, path: &str, by: &str, lines: &[String]) {
        let key = (name.to_owned(), by.to_owned());
        if let Some(first) = self.first.get(&key) {
            self.lines.insert(format!("pub use {path} = {first}"));
            return;
        }
        self.first.insert(key, path.to_owned());
        self.lines.extend(lines.iter().map(|line| line.replacen(name, path, 1)));
    }

    /// Path of the type that a module means by a name: of all of that name the nearest. None if that is not public.
    fn path_of(
        &self,
        name: &str,
        module: &str,
        scanned: &BTreeMap<String, Scanned>,
    ) -> Option<&str> {
        let is_private = |it: &Scanned| it.private.contains(name);
        let private = scanned.iter().filter(|(_, it)| is_private(it)).map(|(by, _)| (by, None));
        let public = self.first.iter().filter(|((it, _), _)| it == name);
        let public = public.map(|((_, by), path)| (by, Some(path.as_str())));
        let shared = |by: &str| {
            module.split("::").zip(by.split("::")).take_while(|(one, other)| one == other).count()
        };
        // Of several that are as near, a public one is meant: the last of the greatest counts.
        private.chain(public).max_by_key(|(by, _)| shared(by))?.1
    }
}

/// Lines of the item that a path names, seen from a module, and the module that defines it.
fn defined<'s>(
    module: &str,
    path: &[String],
    scanned: &'s BTreeMap<String, Scanned>,
) -> Option<(String, &'s [String])> {
    let (name, modules) = path.split_last()?;
    let absolute = match modules.first().map(String::as_str) {
        Some("crate") => modules[1..].join("::"),
        _ if module.is_empty() => modules.join("::"),
        _ => format!("{module}::{}", modules.join("::")),
    };
    let there = scanned.get(&absolute)?;
    if let Some(lines) = there.items.get(name) {
        return Some((absolute, lines));
    }
    let (from, _) = there.handed_on.iter().find(|(_, handed_on)| handed_on == name)?;
    defined(&absolute, from, scanned)
}

fn is_test(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part.ends_with("tests.rs"))
}

fn module_of(path: &str) -> String {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    if path == "lib" { String::new() } else { path.replace('/', "::") }
}
