//! What becomes of a plan: formats, files, browsers.

use super::{Dir, Ran};
use std::fs;

const QUERY: &str = "history AND (france OR spain) -war";

fn explain<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["explain", "t.tp", QUERY][..], more].concat()
}

#[test]
fn each_format_prints_what_it_is_called() {
    let dir = Dir::with_titles();
    for (format, starts) in [
        ("dot", "digraph plan {\n"),
        ("mermaid", "flowchart BT\n"),
        ("pgjson", "[\n  {\n    \"Plan\": {\n      \"Node Type\": \"Sort\",\n"),
        ("folded", "query [history AND (france OR spain) -war]"),
        ("json", "{\"schema_version\":1,"),
        ("html", "<!doctype html>"),
        ("text", "query     history"),
    ] {
        let printed = dir.ok(&explain(&["--analyze", "--facet", "qualifier", "--format", format]));
        assert!(printed.starts_with(starts), "{format}: {printed}");
        assert!(printed.ends_with('\n') && printed.contains("qualifier"), "{format}: {printed}");
    }
    dir.run(&explain(&["--format", "folded"])).fails_with(&["folded", "add --analyze"]);
    dir.run(&explain(&["--format", "dot", "--ascii"])).fails_with(&["--ascii"]);
    dir.run(&explain(&["--format", "pgjson", "--doc", "1"])).fails_with(&["--doc"]);
}

/// The ending of a name says the format, unless an option does.
#[test]
fn the_ending_of_a_file_says_its_format() {
    let dir = Dir::with_titles();
    let read = |name: &str| fs::read_to_string(dir.0.join(name)).unwrap();
    for (name, starts) in [
        ("plan.html", "<!doctype html>"),
        ("plan.json", "{\"schema_version\":1,"),
        ("plan.dot", "digraph plan {\n"),
        ("plan.mmd", "flowchart BT\n"),
        ("plan.folded", "query [history"),
        ("plan.txt", "query     history"),
        ("PLAN.HTML", "<!doctype html>"),
        // Nothing is said by these.
        ("plan.rs", "query     history"),
        ("html", "query     history"),
    ] {
        assert_eq!(dir.ok(&explain(&["--analyze", "-o", name])), "", "{name}");
        assert!(read(name).starts_with(starts), "{name}: {}", read(name));
    }
    // An option has the last word.
    for (name, format, starts) in [
        ("plan.html", "dot", "digraph"),
        ("plan.json", "pgjson", "[\n  {\n    \"Plan\""),
        ("plan.txt", "json", "{\"schema_version\""),
        ("plan.dot", "text", "query "),
    ] {
        dir.ok(&explain(&["--format", format, "-o", name, "--force"]));
        assert!(read(name).starts_with(starts), "{name} as {format}: {}", read(name));
    }
    dir.run(&explain(&["-o", "times.folded"])).fails_with(&["add --analyze"]);
}

/// Options of some formats say which one there is, if nobody named it, and what to do.
#[test]
fn options_of_another_format_are_refused_with_what_to_do() {
    let dir = Dir::with_titles();
    for option in [&["--ascii"][..], &["--explain-words"]] {
        let ran = |more: &[&'static str]| dir.run(&explain(&[option, more].concat()));
        let refused = ran(&["-o", "plan.json"]);
        refused.fails_with(&[option[0], "plan.json, whose ending says json"]);
        ran(&["--open"]).fails_with(&[option[0], "--open, which shows html"]);
        ran(&["--open", "-o", "plan"]).fails_with(&[option[0], "--open, which shows html"]);
        ran(&["--format", "json"]).fails_with(&["is about --format text"]);
    }
    dir.run(&explain(&["--ascii", "-o", "plan.html"])).fails_with(&["add --format text"]);
    dir.run(&explain(&["--doc", "1", "-o", "plan.folded", "--analyze"])).fails_with(&[
        "--doc",
        "plan.folded, whose ending says folded",
        "add --format text",
    ]);
    dir.run(&explain(&["--why-empty", "-o", "plan.dot"])).fails_with(&[
        "--why-empty",
        "whose ending says dot",
        "add --format text",
    ]);
    let names = fs::read_dir(&dir.0).unwrap().count();
    assert_eq!(names, 2, "the index and its titles, and no plan");
    dir.ok(&explain(&["--ascii", "--format", "text", "-o", "plan.html"]));
    let drawn = fs::read_to_string(dir.0.join("plan.html")).unwrap();
    assert!(drawn.starts_with("query ") && drawn.is_ascii(), "{drawn}");
    dir.ok(&explain(&["--ascii", "-o", "plan.txt"]));
}

/// What is named by -o is there whole, and nothing that was there before is lost by mistake.
#[test]
fn a_plan_goes_to_a_file_that_is_not_there_yet() {
    let dir = Dir::with_titles();
    let read = |name: &str| fs::read_to_string(dir.0.join(name)).unwrap();
    let printed = dir.ok(&explain(&["--format", "dot"]));
    assert_eq!(dir.ok(&explain(&["--format", "dot", "-o", "plan.dot"])), "");
    assert_eq!(read("plan.dot"), printed);
    assert_eq!(dir.ok(&explain(&["--format", "dot", "--output", "-"])), printed);

    dir.write("plan.dot", "mine");
    let refused = dir.run(&explain(&["--format", "dot", "-o", "plan.dot"]));
    refused.fails_with(&["plan.dot", "a file that does not exist", "--force replaces it"]);
    assert_eq!(read("plan.dot"), "mine");
    dir.ok(&explain(&["--format", "dot", "-o", "plan.dot", "--force"]));
    assert_eq!(read("plan.dot"), printed);

    dir.run(&explain(&["-o", "t.tp"])).fails_with(&["t.tp", "a directory"]);
    dir.run(&explain(&["-o", "none/plan.txt"])).fails_with(&["none/plan.txt"]);
    dir.run(&explain(&["--force"])).fails_with(&["--output"]);
    // Colours are for terminals, and the error of a query leaves no file.
    assert!(
        !dir.ok(&explain(&["-o", "plan.txt"])).contains('\x1b')
            && !read("plan.txt").contains('\x1b')
    );
    let wrong = dir.run(&["explain", "t.tp", "nofield:x", "-o", "wrong.txt"]);
    assert_eq!(wrong.status, 2);
    let mut names: Vec<_> =
        fs::read_dir(&dir.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["plan.dot", "plan.txt", "t.tp", "titles.txt"], "no temporary file is left");
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_devices_written_to() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = Dir::with_titles();
    dir.write("plan.txt", "mine");
    fs::set_permissions(dir.0.join("plan.txt"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("plan.txt", dir.0.join("link")).unwrap();
    dir.run(&explain(&["-o", "link"])).fails_with(&["--force"]);
    dir.ok(&explain(&["-o", "link", "--force"]));
    assert!(fs::symlink_metadata(dir.0.join("link")).unwrap().is_symlink());
    assert!(fs::read_to_string(dir.0.join("plan.txt")).unwrap().starts_with("query "));
    let mode = fs::metadata(dir.0.join("plan.txt")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    dir.ok(&explain(&["-o", "/dev/null"]));
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[cfg(unix)]
#[test]
fn a_browser_shows_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Dir::with_titles();
    // Where there is no other program.
    let open = |browser: Option<&str>, more: &[&str]| {
        let mut command = dir.command(&explain(&[&["--open"], more].concat()));
        command.env("PATH", &dir.0).env("TMPDIR", &dir.0).env_remove("BROWSER");
        if let Some(browser) = browser {
            command.env("BROWSER", browser);
        }
        Ran::of(command.spawn().unwrap(), vec![])
    };
    let none = open(Some("netscape --new:"), &["-o", "plan.dot"]);
    none.fails_with(&[
        "plan.dot",
        "tried netscape (not found), xdg-open (not found)",
        "set BROWSER",
    ]);
    assert!(fs::exists(dir.0.join("plan.dot")).unwrap(), "what was asked for is there");
    open(None, &["-o", "-"]).fails_with(&["--open", "-o -"]);

    let script = "#!/bin/sh\necho \"$@\" >shown\nexec /bin/cat \"$2\" >content\n";
    dir.write("browser", script);
    fs::set_permissions(dir.0.join("browser"), fs::Permissions::from_mode(0o755)).unwrap();
    let ran = open(Some("netscape:browser --tab"), &["--force", "-o", "plan.dot"]);
    assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (0, "", ""));
    let shown = fs::read_to_string(dir.0.join("shown")).unwrap();
    assert!(shown.starts_with("--tab ") && shown.ends_with("plan.dot\n"), "{shown}");

    for (format, extension, starts) in
        [(&["--format", "dot"][..], ".dot", "digraph"), (&[], ".html", "<!doctype html>")]
    {
        let ran = open(Some("browser --tab"), format);
        assert_eq!((ran.status, &*ran.stdout), (0, ""), "{}", ran.stderr);
        let path = ran.stderr.trim().strip_prefix("treepie: written to ").unwrap();
        assert!(path.ends_with(extension), "{path}");
        let shown = fs::read_to_string(dir.0.join("content")).unwrap();
        assert!(shown.starts_with(starts), "{shown}");
        assert_eq!(shown, fs::read_to_string(path).unwrap());
    }
}

/// A terminal of 20 columns, and nobody who reads.
#[test]
fn little_room_and_a_closed_pipe_are_no_failure() {
    let dir = Dir::with_titles();
    for arguments in [
        explain(&["--analyze", "--facet", "qualifier"]),
        vec!["search", "t.tp", "history", "--facet", "qualifier", "--explain"],
    ] {
        let ran = Ran::of(dir.command(&arguments).env("COLUMNS", "20").spawn().unwrap(), vec![]);
        assert_eq!((ran.status, &*ran.stderr), (0, ""));
        assert!(
            ran.stdout
                .lines()
                .filter(|line| line.starts_with("query"))
                .all(|line| line.len() <= 22)
        );
    }
    for format in ["text", "dot", "mermaid", "pgjson", "folded", "json", "html"] {
        let mut child = dir.command(&explain(&["--analyze", "--format", format])).spawn().unwrap();
        drop(child.stdout.take());
        let ran = Ran::of(child, vec![]);
        assert_eq!((ran.status, &*ran.stderr), (0, ""), "{format}");
    }
}
