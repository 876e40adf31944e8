//! Imports go one way: a module may use only the modules listed above it in `src/lib.rs`.
//!
//! The order of the `mod` lines in `lib.rs` *is* the architecture, so there is no second list to
//! keep in step. Write one `use crate::module::…` per module: root re-exports and
//! `use crate::{…}` hide the floor an item lives on, so both are reported.

use std::{fs, path::Path};

/// The write path and the read path meet in `segment` and nowhere else.
const READ_PATH: &[&str] = &["query", "plan", "execution", "explain", "facet"];
const WRITE_PATH: &[&str] = &["writer"];

#[test]
fn imports_go_one_way() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = fs::read_to_string(src.join("lib.rs")).unwrap();
    let floors: Vec<&str> = lib
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    assert!(floors.len() > 5, "found no module list in lib.rs");

    let mut wrong = vec![];
    for (height, module) in floors.iter().enumerate() {
        for used in sources_of(&src, module).iter().flat_map(|text| modules_used_by(text)) {
            match floors.iter().position(|floor| *floor == used) {
                None => wrong.push(format!("{module}: `crate::{used}` names no module")),
                Some(at) if at > height => wrong.push(format!("{module} must not use {used}")),
                Some(_) if READ_PATH.contains(module) && WRITE_PATH.contains(&&*used) => {
                    wrong.push(format!("{module} (read path) must not know {used} (write path)"))
                }
                Some(_) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Every `.rs` text of a module, be it one file or a folder.
fn sources_of(src: &Path, module: &str) -> Vec<String> {
    let mut texts = vec![];
    let mut todo = vec![src.join(module), src.join(format!("{module}.rs"))];
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            todo.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|ext| ext == "rs") && path.exists() {
            texts.push(fs::read_to_string(path).unwrap());
        }
    }
    texts
}

/// The first path segment after each `crate::` that stands outside a comment.
fn modules_used_by(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.split("//").next())
        .flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}
