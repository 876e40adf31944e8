//! `upgrade`, and whether a version reads an index.

use super::Dir;
use std::path::{Path, PathBuf};
use treepie::{ErrorKind, Index};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

#[test]
fn the_newest_format_has_nothing_to_upgrade() {
    let dir = Dir::with_titles();
    let version = treepie::format::FORMAT_VERSION;
    let expected = format!("format {}.{}, the newest: nothing to do\n", version.0, version.1);
    assert_eq!(dir.ok(&["upgrade", "t.tp"]), expected);
    let json = dir.run(&["upgrade", "t.tp", "--format", "json"]).json();
    assert_eq!(json["differences"], serde_json::json!([]));
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
fn terms_of_older_analyzers_are_told() {
    let (dir, old) = (Dir::new(), fixture("analysis-v1"));
    let ran = dir.run(&["upgrade", old.to_str().unwrap()]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    for part in ["built-in analyzers: the terms were made with version 1", "treepie export INDEX"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
}
