//! `upgrade`, and whether a version reads an index.

use super::Dir;
use std::fs;
use std::path::{Path, PathBuf};
use treepie::{ErrorKind, Index};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A copy of a fixture as `old.tp`.
fn with_copy_of(name: &str) -> Dir {
    let dir = Dir::new();
    let to = dir.0.join("old.tp");
    fs::create_dir(&to).unwrap();
    for entry in fs::read_dir(fixture(name)).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
    dir
}

#[test]
fn the_newest_format_has_nothing_to_upgrade() {
    let dir = Dir::with_titles();
    let version = treepie::format::FORMAT_VERSION;
    let expected = format!("format {}.{}, the newest: nothing to do\n", version.0, version.1);
    assert_eq!(dir.ok(&["upgrade", "t.tp"]), expected);
    assert_eq!(dir.ok(&["upgrade", "t.tp", "--check"]), expected);
    let json = dir.run(&["upgrade", "t.tp", "--format", "json"]).json();
    assert_eq!(json["differences"], serde_json::json!([]));
    assert!(json["documents"].is_null(), "{json}");
    dir.run(&["upgrade", "none.tp"]).fails_with(&["none.tp"]);
}

#[test]
fn an_older_format_is_refused_with_what_to_do() {
    let (dir, old) = (Dir::new(), fixture("format-v2"));
    let typed = ["upgrade", old.to_str().unwrap()];
    dir.run(&typed).fails_with(&["format version 3", "2.0", "index again", "`export`"]);
    assert!(!Index::is_compatible(&old).unwrap());
    assert!(Index::is_compatible(fixture("format-v3")).unwrap());
    let missing = Index::is_compatible(old.join("nowhere")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
}

#[test]
fn terms_of_older_analyzers_are_made_anew() {
    let dir = with_copy_of("analysis-v1");
    let old = Index::open(dir.0.join("old.tp")).unwrap().searcher().unwrap();
    let check = ["upgrade", "old.tp", "--check"];
    for _ in 0..2 {
        let ran = dir.run(&check);
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        for part in ["built-in analyzers: the terms were made with version 1", "without --check"] {
            assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
        }
    }
    assert_eq!(dir.run(&["search", "old.tp", "body:strasse"]).status, 1);
    let said = dir.ok(&["upgrade", "old.tp"]);
    assert!(said.ends_with("indexed again: 1 document\n"), "{said}");
    dir.ok(&["search", "old.tp", "body:strasse"]);
    let said = dir.ok(&check);
    assert!(said.contains("nothing to do"), "{said}");
    dir.ok(&["verify", "old.tp"]);
    // Whoever searched goes on with what was there.
    let count = |query| old.count(&old.parse(query).unwrap()).unwrap();
    assert_eq!([count("body:straße"), count("body:strasse")], [1, 0]);
}

#[test]
fn an_upgrade_keeps_documents_schema_and_payload() {
    let dir = with_copy_of("format-v3");
    let open = || Index::open(dir.0.join("old.tp")).unwrap().searcher().unwrap();
    let (before, exported) = (open(), dir.ok(&["export", "old.tp"]));
    assert!(before.n_deleted() > 0 && !before.payload().is_empty());
    let json = dir.run(&["upgrade", "old.tp", "--format", "json", "--quiet"]).json();
    assert_eq!(json["documents"], before.n_docs());
    let after = open();
    assert_eq!(after.schema(), before.schema());
    assert_eq!(after.payload(), before.payload());
    assert_eq!(after.n_deleted(), 0);
    assert_eq!(dir.ok(&["export", "old.tp"]), exported);
}

#[test]
fn an_upgrade_waits_for_the_writer() {
    let dir = with_copy_of("analysis-v1");
    let index = Index::open(dir.0.join("old.tp")).unwrap();
    let writer = index.writer().unwrap();
    dir.run(&["upgrade", "old.tp"]).fails_with(&["--wait 5s"]);
    drop(writer);
    dir.ok(&["upgrade", "old.tp"]);
}
