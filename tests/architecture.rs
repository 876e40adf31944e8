//! The rules of the source tree that no compiler checks.
//!
//! 1. Imports go one way: a module may use only the modules listed above it in `src/lib.rs`. The
//!    order of the `mod` lines *is* the architecture, so there is no second list to keep in step.
//!    Write one `use crate::module::…` per module: root re-exports and `use crate::{…}` hide the
//!    floor an item lives on, so both are reported. Public modules that are named like their field hand on what belongs
//!    there from higher floors (`pub use`), which imports nothing.
//! 2. The write path and the read path meet in `segment` and nowhere else.
//! 3. `unsafe` and each foreign crate that we may want to replace have one address.
//! 4. Files whose imports lead back to them (rings) are known by their number, which may only fall.
//! 5. Documents are short, linked and true to each other (`architecture/documents.rs`).
//! 6. The public API is the one that is listed (`architecture/api.rs`).
//! 7. Documentation begins with a noun or a verb (`architecture/openings.rs`).
//! 8. Figures that choose a way are in `plan/` (`architecture/thresholds.rs`).
//! 9. No file has more than 800 lines.

#[path = "architecture/api.rs"]
mod api;
#[path = "architecture/documents.rs"]
mod documents;
#[path = "architecture/openings.rs"]
mod openings;
#[path = "architecture/rings.rs"]
mod rings;
#[path = "architecture/scan.rs"]
mod scan;
#[path = "architecture/thresholds.rs"]
mod thresholds;

use std::{collections::BTreeMap, fs, path::Path};

/// Files in rings, by room. A room that is not here has none, and shall have none.
const IN_RINGS: &[(&str, usize)] = &[
    ("bin", 11),
    ("bitmap", 2),
    ("explain", 3),
    ("format", 9),
    ("phrase", 3),
    ("plan", 4),
    ("query", 4),
    ("segment", 3),
    ("sort", 5),
    ("value", 3),
    ("writer", 12),
];

const READ_PATH: &[&str] = &[
    "expansion",
    "query",
    "highlight",
    "phrase",
    "plan",
    "matching",
    "execution",
    "explain",
    "facet",
];
const WRITE_PATH: &[&str] = &["writer"];

/// Public modules that hand on what is made on higher floors, so that users find it by the name of its field.
const HAND_ON: &[&str] = &["facet/mod.rs", "writer/mod.rs"];

/// A word and the only places under `src/` that may contain it.
const ADDRESSES: &[(&str, &[&str])] = &[
    ("unsafe", &["storage/heap.rs", "storage/mmap.rs", "storage/priority.rs", "simd/"]),
    ("libc::", &["storage/heap.rs", "storage/mmap.rs", "storage/priority.rs"]),
    ("roaring::", &["bitmap/"]),
    ("fst::", &["format/terms", "expansion/"]),
    ("levenshtein_automata::", &["expansion/"]),
    ("regex_automata::", &["expansion/"]),
    ("memmap2", &["storage/mmap.rs"]),
    ("icu_collator", &["sort/text.rs"]),
    ("icu_locale_core", &["sort/text.rs"]),
    ("datasketches::", &["facet/sketch.rs"]),
    ("serde_core::", &["serde/"]),
];

/// A file under `src/`: its path from there with `/` between names, and its text.
type Source = (String, String);

#[test]
fn the_source_tree_keeps_its_rules() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = vec![];
    collect(&src, "", &mut sources);
    let lib = &sources.iter().find(|(path, _)| path == "lib.rs").expect("src/lib.rs is there").1;
    let floors = floors(lib);
    assert!(floors.len() > 5, "found no module list in lib.rs");
    for module in READ_PATH.iter().chain(WRITE_PATH) {
        assert!(floors.contains(module), "{module} is not in lib.rs any more: adapt the rules");
    }
    let broken = broken_rules(&floors, &sources);
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn rings_of_files_become_fewer() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut sources = vec![];
    collect(&src, "", &mut sources);
    let rings = rings::rings(&sources);
    let n_files = |rings: &Vec<rings::Ring>| rings.iter().map(Vec::len).sum::<usize>();
    let found: BTreeMap<&str, usize> =
        rings.iter().map(|(room, rings)| (room.as_str(), n_files(rings))).collect();
    let known: BTreeMap<&str, usize> = IN_RINGS.iter().copied().collect();
    let more = found.iter().filter(|(room, n)| **n > known.get(*room).copied().unwrap_or(0));
    let more: Vec<_> = more.map(|(room, n)| format!("{room}: {n}: {:?}", rings[*room])).collect();
    assert!(more.is_empty(), "more files in rings than before:\n{}", more.join("\n"));
    assert_eq!(found, known, "fewer files in rings than before: lower the numbers");
}

/// The path of one query in the map leads through files that are there, and back to an earlier module once only.
#[test]
fn one_query_climbs_once() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = fs::read_to_string(src.join("lib.rs")).unwrap();
    let floors = floors(&lib);
    let map =
        lib.split("//! # One query, from text to page\n").nth(1).expect("the map has the path");
    let map = map.split("//! # ").next().unwrap_or_default();
    let steps = map.lines().filter_map(|line| line.strip_prefix("//!  ")?.get("│  ".len()..));
    let files: Vec<_> = steps
        .filter_map(|step| step.split(' ').next().filter(|path| path.ends_with(".rs")))
        .collect();
    assert!(files.len() > 10, "{files:?}");
    let missing: Vec<_> = files.iter().filter(|path| !src.join(path).is_file()).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let floor = |path: &str| {
        let module = path.split('/').next().unwrap_or_default().trim_end_matches(".rs");
        floors.iter().position(|name| *name == module).expect("a module")
    };
    let climbs: Vec<_> = files.windows(2).filter(|pair| floor(pair[0]) > floor(pair[1])).collect();
    assert_eq!(climbs, [["request/mod.rs", "query/bind/mod.rs"]]);
    let page = fs::read_to_string(src.join("searcher/answer.rs")).unwrap();
    let place = |call: &str| page.find(call).unwrap_or_else(|| panic!("no {call}"));
    assert!(place("look_up_scorings()") < place("page_plan(&scorings)"), "as the map says");
}

/// Lines of a file that is read as a whole. A longer one has a second noun in it, which is a module of its own.
const LINES_MAX: usize = 800;

#[test]
fn files_are_short() {
    let mut long = vec![];
    for folder in ["src", "tests", "benches", "examples"] {
        let mut sources = vec![];
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), "", &mut sources);
        let lines = sources.iter().map(|(path, text)| (path, text.lines().count()));
        let longer = lines.filter(|(_, n)| *n > LINES_MAX);
        long.extend(longer.map(|(path, n)| format!("{folder}/{path}: {n} lines")));
    }
    assert!(long.is_empty(), "more than {LINES_MAX}:\n{}", long.join("\n"));
}

/// Methods of a search are those that most searches need; the others belong to the types that have their options.
#[test]
fn a_search_has_few_methods() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/searcher/builder.rs");
    let builder = fs::read_to_string(path).unwrap();
    let n = builder.lines().filter(|line| line.starts_with("    pub fn ")).count();
    assert!((10..=26).contains(&n), "{n} public methods in searcher/builder.rs");
    let mut sources = vec![];
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut sources);
    let others = sources.iter().filter(|(path, text)| {
        path != "searcher/builder.rs"
            && text.lines().any(|line| line.starts_with("impl") && names(line, "SearchBuilder"))
    });
    assert_eq!(others.map(|(path, _)| path).collect::<Vec<_>>(), Vec::<&String>::new());
}

/// Ways that are forced replace strategies while a plan is made: whoever carries it out reads strategies and nothing else.
#[test]
fn what_carries_plans_out_knows_of_no_forced_ways() {
    const ROOMS: [&str; 5] = ["execution/", "facet/", "matching/", "ranking/", "sort/"];
    let mut sources = vec![];
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut sources);
    let of_rooms = |path: &str| ROOMS.iter().any(|room| path.starts_with(room));
    let names_it = |text: &str| ["Forced", "forced"].iter().any(|word| names(text, word));
    let others = sources.iter().filter(|(path, text)| of_rooms(path) && names_it(text));
    assert_eq!(others.map(|(path, _)| path).collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(
        names_it("    if plan.forced == None {") && names_it("use crate::plan::forced::Forced;")
    );
}

/// Nodes of plans are made in one file, which knows every operator; others fill in what they say. Searches name none.
#[test]
fn nodes_are_made_of_plans_in_one_file() {
    const MAKES: [&str; 4] = ["ExplainNode {", "ExplainNode::", "ExplainFacet {", "ExplainFacet::"];
    let makes = |text: &str| {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
        let mut lines = lines.filter(|line| !line.starts_with("impl"));
        lines.any(|line| MAKES.iter().any(|made| line.contains(made)))
    };
    let mut sources = vec![];
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut sources);
    let makers_of = |room: &str| -> Vec<&str> {
        let of_room = sources.iter().filter(|(path, text)| path.starts_with(room) && makes(text));
        of_room.map(|(path, _)| &**path).collect()
    };
    assert_eq!(makers_of("explain/from_plan"), ["explain/from_plan.rs"]);
    assert_eq!(makers_of("searcher/"), [""; 0]);
    let (_, plans) = sources.iter().find(|(path, _)| path == "explain/from_plan.rs").unwrap();
    let (_, describe) = plans.split_once("    fn describe(").expect("what knows every operator");
    let describe = describe.split("\n    }\n").next().unwrap_or_default();
    for family in ["Operator::", "PageDetails::", "FacetOperator::"] {
        assert!(describe.contains(family), "{family}");
    }
    assert!(!describe.contains("_ =>"), "every operator has an arm of its own");
}

/// Times that steps of work take about stand in one table; thresholds of time that stand elsewhere are these.
#[test]
fn times_of_steps_stand_in_one_table() {
    const THRESHOLDS: [&str; 4] =
        ["AFTER_STOP_NS", "PLANNING_LONG_NS", "NOISE_NS", "SAMPLE_FROM_NS"];
    let mut sources = vec![];
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut sources);
    let mut elsewhere = vec![];
    for (path, text) in sources.iter().filter(|(path, _)| !path.starts_with("bin/")) {
        let lines = text.lines().filter_map(|line| line.split_once("const ")?.1.split_once(": "));
        // Of a trait a time is one of the table.
        let own = lines.filter(|(name, value)| {
            name.ends_with("_NS")
                && !THRESHOLDS.contains(name)
                && value.contains(|c: char| c.is_ascii_digit())
                && !value.contains("ns::")
                && value.contains('=')
        });
        elsewhere.extend(own.map(|(name, _)| format!("{path}: {name}")));
    }
    assert!(elsewhere.is_empty(), "these belong in budget/ns.rs: {elsewhere:?}");
}

/// A rule that cannot fail protects nothing.
#[test]
fn each_rule_can_fail() {
    let floors = floors("pub mod error;\nmod storage;\nmod writer;\npub mod query;\nmod index;\n");
    let cases = [
        ("storage/fs.rs", "use crate::index::Index;", "storage must not use index"),
        ("error.rs", "fn f() { crate::storage::open() }", "error must not use storage"),
        ("query/mod.rs", "use crate::writer::X;", "query (read path) must not know writer"),
        ("storage/mod.rs", "pub use crate::index::Index;", "storage must not use index"),
        ("writer/mod.rs", "use crate::index::Index;", "writer must not use index"),
        ("index.rs", "use crate::Error;", "`crate::Error` names no module"),
        ("index.rs", "use crate::{error::Error, query};", "`crate::{` hides"),
        ("index.rs", "use super::{error::Error};", "`super::` at the root"),
        ("query/mod.rs", "fn f() { unsafe { g() } }", "`unsafe` belongs in"),
        ("query/mod.rs", "use roaring::RoaringBitmap;", "`roaring::` belongs in"),
        ("format/postings.rs", "fn f(m: fst::Map<()>) {}", "`fst::` belongs in"),
        ("storage/fs.rs", "use memmap2::Mmap;", "`memmap2` belongs in"),
        ("stranger.rs", "", "stranger is not in lib.rs"),
    ];
    for (path, text, rule) in cases {
        let broken = broken_rules(&floors, &[(path.into(), text.into())]);
        assert!(broken.iter().any(|line| line.contains(rule)), "{path}: {text} gives {broken:?}");
    }
    let kept = [
        ("storage/mmap.rs", "use crate::error::Error; unsafe { memmap2::Mmap::map(f) }"),
        ("simd/avx2.rs", "unsafe fn f() {}"),
        ("format/terms.rs", "use fst::Map;"),
        ("writer/mod.rs", "pub use crate::index::Index;"),
        ("bitmap/view.rs", "use roaring::RoaringBitmap; #[expect(unsafe_code)] // unsafe"),
        ("query/mod.rs", "/// See [`crate::index`].\nuse crate::error::Error; // not crate::index"),
        ("bin/treepie/main.rs", "use treepie::Index;\nuse crate::arguments;"),
    ];
    for (path, text) in kept {
        let broken = broken_rules(
            &[&floors[..], &["simd", "format", "bitmap"]].concat(),
            &[(path.into(), text.into())],
        );
        assert!(broken.is_empty(), "{path}: {text} gives {broken:?}");
    }
}

/// The modules of `lib.rs`, lowest first.
fn floors(lib: &str) -> Vec<&str> {
    lib.lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'))
        .collect()
}

fn broken_rules(floors: &[&str], sources: &[Source]) -> Vec<String> {
    let mut broken = vec![];
    for (path, text) in sources {
        let code: Vec<&str> = text.lines().filter_map(|line| line.split("//").next()).collect();
        let module = path.split('/').next().unwrap_or(path).trim_end_matches(".rs");
        // The tool is a crate of its own: it sees the public API and nothing else.
        if module != "bin" && module != "lib" {
            let hands_on = HAND_ON.contains(&path.as_str());
            let is_import = |line: &&str| !(hands_on && line.starts_with("pub use crate::"));
            let code: Vec<&str> = code.iter().copied().filter(is_import).collect();
            imports(floors, module, path, &code, &mut broken);
        }
        for (word, homes) in ADDRESSES {
            let at_home = homes.iter().any(|home| path.starts_with(home));
            if !at_home && code.iter().any(|line| names(line, word)) {
                broken.push(format!("{path}: `{word}` belongs in {}", homes.join(" and ")));
            }
        }
    }
    broken
}

/// Rules 1 and 2 for one file of `module`.
fn imports(floors: &[&str], module: &str, path: &str, code: &[&str], broken: &mut Vec<String>) {
    let Some(height) = floors.iter().position(|floor| *floor == module) else {
        broken.push(format!("{path}: {module} is not in lib.rs"));
        return;
    };
    // From a file directly under `src/`, `super` is the root.
    if !path.contains('/') && code.iter().any(|line| line.starts_with("use super::")) {
        broken.push(format!("{path}: `super::` at the root hides which module is meant"));
    }
    for used in code.iter().flat_map(|line| modules_used_by(line)) {
        if used.is_empty() {
            broken.push(format!("{path}: `crate::{{` hides which modules are meant"));
            continue;
        }
        match floors.iter().position(|floor| *floor == used) {
            None => broken.push(format!("{path}: `crate::{used}` names no module")),
            Some(at) if at > height => broken.push(format!("{path}: {module} must not use {used}")),
            Some(_) if READ_PATH.contains(&module) && WRITE_PATH.contains(&used) => broken
                .push(format!("{path}: {module} (read path) must not know {used} (write path)")),
            Some(_) => {}
        }
    }
}

/// What stands behind each `crate::`, empty if that is no name.
fn modules_used_by(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    })
}

/// Whether the line contains the word as a whole one.
fn names(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(part)
            && (word.ends_with(':') || !line[at + word.len()..].starts_with(part))
    })
}

/// Every `.rs` file below a folder.
fn collect(folder: &Path, under: &str, sources: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{under}{}", entry.file_name().to_str().unwrap());
        // Builds of packages that are not ours to read.
        if entry.file_name() == "target" {
            continue;
        }
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{path}/"), sources);
        } else if path.ends_with(".rs") {
            sources.push((path, fs::read_to_string(entry.path()).unwrap()));
        }
    }
}
