//! `index`, `delete`, `copy` and `merge`: what becomes of an index that is written.

use super::{Dir, Ran, TITLES};
use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

#[test]
fn an_index_that_is_often_appended_to_has_few_segments() {
    let dir = Dir::new();
    for n in 0..20 {
        dir.write("more.jsonl", format!("{{\"text\":\"number {n}\"}}\n"));
        let append: &[&str] = if n > 0 { &["--append"] } else { &[] };
        dir.ok(&[&["index", "t.tp", "more.jsonl", "--quiet"], append].concat());
    }
    let segments = dir.ok(&["inspect", "t.tp", "--format", "jsonl"]);
    assert!(segments.lines().count() < 8, "{segments}");
    assert_eq!(dir.ok(&["search", "t.tp", "number", "--count"]), "20\n");
    let exported: Vec<String> = (0..20).map(|n| format!("{{\"text\":\"number {n}\"}}\n")).collect();
    assert_eq!(dir.ok(&["export", "t.tp"]), exported.concat());
}

#[test]
fn documents_are_deleted_and_everything_knows() {
    let dir = Dir::new();
    // So many that a segment is not written anew for two of them.
    let others = "{\"text\":\"three\"}\n".repeat(7);
    dir.write("t.jsonl", format!("{{\"text\":\"one two\"}}\n{{\"text\":\"two\"}}\n{others}"));
    dir.ok(&["index", "t.tp", "t.jsonl", "--quiet"]);
    // Without a terminal nobody can be asked, whatever is found.
    for query in ["one two", "*", "none"] {
        let before = dir.count("*");
        dir.run(&["delete", "t.tp", query]).fails_with(&["terminal", "--yes"]);
        assert_eq!(dir.count("*"), before, "{query}");
    }
    assert_eq!(dir.ok(&["delete", "t.tp", "one two", "--and", "--yes"]), "1\n");
    assert_eq!(dir.ok(&["delete", "t.tp", "one", "--yes"]), "0\n");
    assert_eq!(
        dir.ok(&["delete", "t.tp", "two", "--yes", "--format", "json"]),
        "{\"deleted\":1}\n"
    );
    assert_eq!(dir.ok(&["export", "t.tp"]), others);
    assert_eq!(dir.ok(&["search", "t.tp", "*", "--count"]), "7\n");
    let segments = dir.ok(&["inspect", "t.tp", "--format", "json"]);
    assert!(segments.contains("\"deleted\":2"), "{segments}");
    dir.ok(&["verify", "t.tp"]);
    dir.ok(&["merge", "t.tp", "--quiet"]);
    let segments = dir.ok(&["inspect", "t.tp", "--format", "json"]);
    assert!(segments.contains("\"deleted\":0"), "{segments}");
    // Where it is more than a quarter it is.
    assert_eq!(dir.ok(&["delete", "t.tp", "three", "-y"]), "7\n");
    dir.write("t.jsonl", "{\"text\":\"a b\"}\n{\"text\":\"a\"}\n");
    dir.ok(&["index", "t.tp", "t.jsonl", "--quiet", "--append"]);
    assert_eq!(dir.ok(&["delete", "t.tp", "b", "--yes"]), "1\n");
    let segments = dir.ok(&["inspect", "t.tp", "--format", "json"]);
    assert!(segments.contains("\"deleted\":0"), "{segments}");
    let refused = dir.run(&["delete", "t.tp", "nowhere:x"]);
    assert!(refused.stderr.contains("nowhere") && refused.stdout.is_empty());
    dir.run(&["delete", "none.tp", "x"]).fails_with(&["none.tp"]);
}

#[test]
fn titles_are_indexed_found_counted_and_explained() {
    let dir = Dir::with_titles();
    assert_eq!(dir.count("paris"), 2);
    assert_eq!(dir.count("history AND (france OR spain) -book"), 1);
    assert_eq!(dir.count("qualifier:film"), 2);
    assert_eq!(dir.count("page_title"), 0);
    assert_eq!(dir.count("*"), 7);
    let text = dir.ok(&["search", "t.tp", "paris", "--facet", "qualifier"]);
    for words in ["2 documents", "Paris, Texas (film)", "qualifier", "1  film", "1  (none)"] {
        assert!(text.contains(words), "no {words:?} in {text}");
    }
    let plan = dir.ok(&["explain", "t.tp", "paris -film", "--ascii"]);
    assert!(plan.contains("document frequency") && plan.is_ascii(), "{plan}");
    let plan = dir.ok(&["explain", "t.tp", "paris -film", "--analyze"]);
    assert!(plan.contains("actual"), "{plan}");
}

#[test]
fn what_is_announced_and_not_built_is_refused_by_name() {
    let dir = Dir::with_titles();
    for (kind, told) in
        [("geo", "places are fields of the type point"), ("shape", "is not built yet")]
    {
        dir.write("schema.toml", format!("[fields.place]\ntype = \"{kind}\"\n"));
        let run = dir.run(&["index", "n.tp", "titles.txt", "--schema", "schema.toml"]);
        run.fails_with(&[kind, told, "schema.toml", "line 2"]);
    }
}

#[test]
fn indexes_are_copied_added_to_others_and_merged_to_a_few_segments() {
    let dir = Dir::with_titles();
    let n_docs = dir.count("*");
    let copied = dir.run(&["copy", "t.tp", "c.tp"]);
    assert_eq!((copied.status, &*copied.stdout), (0, ""));
    assert!(copied.stderr.contains("commit 1 is in c.tp"), "{}", copied.stderr);
    dir.run(&["copy", "t.tp", "c.tp"]).fails_with(&["c.tp", "an index", "another name"]);
    let to_itself = dir.run(&["copy", "t.tp", "t.tp"]);
    to_itself.fails_with(&["t.tp", "an index"]);
    assert!(!to_itself.stderr.contains("append") && !to_itself.stderr.contains("overwrite"));
    dir.run(&["copy", "none.tp", "d.tp"]).fails_with(&["none.tp"]);

    let merged = dir.run(&["merge", "t.tp", "c.tp", "--segments", "2"]);
    assert_eq!(merged.status, 0, "{}", merged.stderr);
    assert!(merged.stderr.contains("1 segment before, 2 now"), "{}", merged.stderr);
    assert_eq!(dir.count("*"), 2 * n_docs);
    dir.ok(&["merge", "t.tp", "--quiet"]);
    assert_eq!(dir.count("*"), 2 * n_docs);
    dir.ok(&["verify", "t.tp"]);

    dir.write("words.txt", "one line\n");
    dir.ok(&["index", "w.tp", "words.txt", "--quiet"]);
    dir.run(&["merge", "t.tp", "w.tp"]).fails_with(&["w.tp", "schema"]);
    dir.run(&["merge", "t.tp", "--segments", "0"]).fails_with(&["--segments"]);
    let too_little = ["--memory", "1MiB"];
    let refused = dir.run(&[&["merge", "t.tp"], &too_little[..]].concat());
    refused.fails_with(&["memory of a build", "at least 16777216 bytes", "1048576"]);
    let index = ["index", "t.tp", "words.txt", "--append"];
    let by_index = dir.run(&[&index[..], &too_little].concat());
    assert_eq!(refused.stderr, by_index.stderr);
    dir.run(&["merge", "t.tp", "--threads", "0"]).fails_with(&["--threads"]);
    dir.ok(&["merge", "t.tp", "c.tp", "--memory", "16MiB", "--threads", "2", "--quiet"]);
    assert_eq!(dir.count("*"), 3 * n_docs);
    dir.ok(&["verify", "t.tp"]);
}

#[test]
fn documents_are_put_in_the_order_of_similarity() {
    let dir = Dir::new();
    let topic = |n: usize| ["red birds of the north", "old trains of the south"][n * 7 % 10 / 5];
    let lines: String = (0..1_000).map(|n| format!("{}\n", topic(n))).collect();
    dir.write("lines.txt", lines);
    dir.ok(&["index", "t.tp", "lines.txt", "--quiet"]);
    let told = dir.run(&["merge", "t.tp", "--reorder"]);
    assert_eq!((told.status, &*told.stdout), (0, ""), "{}", told.stderr);
    assert!(told.stderr.contains("1 segment before, 1 now, 1,000 documents"), "{}", told.stderr);
    dir.ok(&["verify", "t.tp"]);
    assert_eq!((dir.count("birds"), dir.count("trains")), (500, 500));
    let exported = dir.ok(&["export", "t.tp"]);
    let borders = exported.lines().collect::<Vec<_>>();
    assert_eq!(borders.windows(2).filter(|two| two[0] != two[1]).count(), 1);
    dir.run(&["merge", "t.tp", "--reorder", "--segments", "2"])
        .fails_with(&["--reorder", "--segments"]);

    let build = ["--overwrite", "--quiet"];
    let order = |more: &[&str]| {
        dir.ok(&[&["index", "o.tp", "lines.txt"], more, &build[..]].concat());
        dir.ok(&["inspect", "o.tp", "schema"]).lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(order(&["--order-by-similarity"]), "order = \"similar\"");
    assert_eq!(order(&["--order-by-similarity=text"]), "order = \"similar\"");
    dir.run(&["index", "o.tp", "lines.txt", "--order-by-similarity=nobody", "--overwrite"])
        .fails_with(&["'nobody'", "text field"]);
    dir.run(&["index", "o.tp", "lines.txt", "--order-by-similarity", "--order-by", "text"])
        .fails_with(&["--order-by-similarity", "--order-by"]);
    dir.write("i.jsonl", "{\"a\": 1, \"b\": \"two words\"}\n");
    dir.ok(&["index", "f.tp", "i.jsonl", "--order-by", "-a", "--quiet"]);
    dir.run(&["merge", "f.tp", "--reorder"]).fails_with(&["by similarity", "the order -a"]);
}

#[test]
fn a_closed_pipe_does_not_stop_a_build() {
    let dir = Dir::new();
    dir.write("a.jsonl", "{\"title\":\"one\"}\n".repeat(1_000));
    let mut child = dir.command(&["index", "t.tp", "a.jsonl"]).spawn().unwrap();
    drop(child.stdout.take());
    drop(child.stderr.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(dir.count("one"), 1_000);
}

#[test]
fn an_index_that_exists_is_refused_appended_to_or_replaced() {
    let dir = Dir::with_titles();
    let preset = ["--preset", "wikipedia-titles", "--quiet"];
    let index =
        |more: &[&str]| dir.run(&[&["index", "t.tp", "titles.txt"], &preset[..], more].concat());
    index(&[]).fails_with(&["t.tp", "an index", "append"]);
    assert_eq!(index(&["--append"]).status, 0);
    assert_eq!((dir.count("*"), dir.count("paris")), (14, 4));
    dir.ok(&["merge", "t.tp", "--quiet"]);
    assert_eq!((dir.count("*"), dir.count("paris")), (14, 4));
    assert_eq!(index(&["--overwrite"]).status, 0);
    assert_eq!(dir.count("*"), 7);
    dir.run(&["index", "new.tp", "titles.txt", "--append"]).fails_with(&["new.tp"]);
    dir.run(&["index", "t.tp", "titles.txt", "--append", "--overwrite"])
        .fails_with(&["--append", "--overwrite"]);
}

#[test]
fn an_index_of_an_older_format_is_refused_or_replaced() {
    let dir = Dir::with_titles();
    let age = |change: fn(u8) -> u8| {
        for entry in fs::read_dir(dir.0.join("t.tp")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if !name.starts_with("manifest-") && !name.starts_with("seg-") {
                continue;
            }
            let mut bytes = fs::read(&path).unwrap();
            bytes[10] = change(bytes[10]);
            let crc = crc32c::crc32c(&bytes[..60]).to_le_bytes();
            bytes[60..64].copy_from_slice(&crc);
            if name.starts_with("manifest-") {
                let end = bytes.len() - 4;
                let crc = crc32c::crc32c(&bytes[..end]).to_le_bytes();
                bytes[end..].copy_from_slice(&crc);
            }
            fs::write(&path, bytes).unwrap();
        }
    };
    let index = |more: &[&str]| {
        let preset = ["index", "t.tp", "titles.txt", "--preset", "wikipedia-titles", "--quiet"];
        dir.run(&[&preset, more].concat())
    };
    age(|major| major - 1);
    let refusal = ["format version", "older treepie", "--overwrite"];
    dir.run(&["search", "t.tp", "paris"]).fails_with(&refusal);
    index(&["--append"]).fails_with(&refusal);
    index(&[]).fails_with(&["t.tp", "an index"]);
    assert_eq!(index(&["--overwrite"]).status, 0);
    assert_eq!((dir.count("*"), dir.count("paris")), (7, 2));
    dir.ok(&["verify", "t.tp"]);
    let names = fs::read_dir(dir.0.join("t.tp")).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    let n_of = |prefix: &str| {
        names.iter().filter(|name| name.to_str().unwrap().starts_with(prefix)).count()
    };
    assert_eq!((n_of("manifest-"), n_of("seg-")), (1, 1), "{names:?}");
    age(|major| major + 1);
    index(&["--overwrite"]).fails_with(&["newer treepie"]);
}

#[test]
fn lines_fill_the_copies_of_a_schema_file() {
    let dir = Dir::with_titles();
    dir.write(
        "copies.toml",
        "[fields.text]\ntype = \"text\"\n[fields.words]\ntype = \"text\"\ncopy_of = \"text\"\n\
         [fields.whole]\ntype = \"keyword\"\ncopy_of = \"text\"\nfacet = true\n",
    );
    dir.write("titles.txt", "Paris, Texas\nParis\n");
    dir.ok(&["index", "new.tp", "titles.txt", "--schema", "copies.toml", "--quiet"]);
    for (query, n) in [("words:paris", "2\n"), ("whole:Paris", "1\n"), ("text:texas", "1\n")] {
        assert_eq!(dir.ok(&["search", "new.tp", query, "--count"]), n, "{query}");
    }
    let titles = dir.ok(&["index", "new.tp", "titles.txt", "--append"]);
    assert_eq!(titles, "");
    assert_eq!(dir.ok(&["search", "new.tp", "words:texas", "--count"]), "2\n");
}

#[test]
fn a_build_that_fails_leaves_what_was_there() {
    let dir = Dir::with_titles();
    dir.write("bad.txt", b"fine\nb\xFFd\n");
    dir.run(&["index", "t.tp", "bad.txt", "--preset", "wikipedia-titles", "--overwrite"])
        .fails_with(&["line 2"]);
    assert_eq!(dir.count("*"), 7);
    dir.run(&["index", "new.tp", "bad.txt"]).fails_with(&["line 2"]);
    dir.run(&["search", "new.tp", "*"]).fails_with(&["new.tp"]);
    assert!(!dir.0.join("new.tp").exists(), "a place that was free is free again");
    // A directory that somebody made stays.
    fs::create_dir(dir.0.join("made.tp")).unwrap();
    dir.run(&["index", "made.tp", "bad.txt"]).fails_with(&["line 2"]);
    assert!(dir.0.join("made.tp").exists());
    dir.write("bad.txt", "fine\ngood\n");
    dir.ok(&["index", "new.tp", "bad.txt", "--quiet"]);
}

#[test]
fn a_killed_build_leaves_the_old_index_and_no_litter_for_long() {
    let dir = Dir::with_titles();
    let mut child = dir
        .command(&["index", "t.tp", "-", "--preset", "wikipedia-titles", "--overwrite"])
        .args(["--memory", "16MiB"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for number in 0..300_000 {
        writeln!(stdin, "Another_title_{number}_(word{number})").unwrap();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((dir.count("paris"), dir.count("another")), (2, 0));
    dir.ok(&["index", "t.tp", "titles.txt", "--preset", "wikipedia-titles", "--append", "--quiet"]);
    assert_eq!(dir.count("paris"), 4);
    let names = fs::read_dir(dir.0.join("t.tp")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let litter: Vec<_> = names.filter(|name| name.starts_with('.')).collect();
    assert!(litter.is_empty(), "{litter:?}");
    assert_eq!(dir.run(&["verify", "t.tp"]).status, 0);
}

#[test]
fn there_is_one_writer_at_a_time() {
    let dir = Dir::with_titles();
    let mut first = dir
        .command(&["index", "t.tp", "-", "--preset", "wikipedia-titles", "--append", "--quiet"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = first.stdin.take().unwrap();
    writeln!(stdin, "A_title_long_enough_to_be_looked_at").unwrap();
    // Trying would take the lock away from the first: its holder is named in the file.
    let holder = || fs::read_to_string(dir.0.join("t.tp/write.lock")).unwrap();
    while holder().trim() != first.id().to_string() {
        assert!(first.try_wait().unwrap().is_none(), "the first writer ended without the lock");
        thread::sleep(Duration::from_millis(5));
    }
    dir.run(&["merge", "t.tp", "--quiet"]).fails_with(&["t.tp", "another writer"]);
    let preset = ["--preset", "wikipedia-titles"];
    dir.run(&[&["index", "t.tp", "titles.txt", "--overwrite"], &preset[..]].concat())
        .fails_with(&["t.tp", "another writer"]);
    // Readers do not care.
    assert_eq!(dir.count("*"), 7);
    drop(stdin);
    assert!(first.wait().unwrap().success());
    assert_eq!(dir.count("*"), 8);
}

#[test]
fn a_directory_that_is_something_else_is_left_alone() {
    let dir = Dir::new();
    dir.write("titles.txt", TITLES);
    fs::create_dir(dir.0.join("photos")).unwrap();
    dir.write("photos/holiday.jpg", "not an index");
    for mode in [&[][..], &["--overwrite"], &["--append"]] {
        dir.run(&[&["index", "photos", "titles.txt"], mode].concat()).fails_with(&["photos"]);
    }
    dir.run(&["search", "photos", "*"]).fails_with(&["photos"]);
    dir.run(&["index", "titles.txt", "titles.txt"]).fails_with(&["titles.txt"]);
    dir.run(&["search", "titles.txt", "*"]).fails_with(&["titles.txt"]);
    let names: Vec<_> = fs::read_dir(dir.0.join("photos")).unwrap().collect();
    assert_eq!(names.len(), 1);
}

#[cfg(unix)]
#[test]
fn without_permission_the_file_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Dir::with_titles();
    let set = |name: &str, mode| {
        fs::set_permissions(dir.0.join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    set("titles.txt", 0o000);
    if fs::read(dir.0.join("titles.txt")).is_ok() {
        eprintln!("!!! SKIPPED: permissions mean nothing to root");
        return;
    }
    dir.run(&["index", "new.tp", "titles.txt"]).fails_with(&["titles.txt", "ermission denied"]);
    set("titles.txt", 0o644);
    set("t.tp", 0o555);
    let append =
        dir.run(&["index", "t.tp", "titles.txt", "--preset", "wikipedia-titles", "--append"]);
    append.fails_with(&["t.tp", "ermission denied"]);
    assert_eq!(dir.count("*"), 7);
    set("t.tp", 0o755);
}

/// What the input is like does not matter then, and printing its fields would look like a beginning.
#[test]
fn a_place_that_is_taken_is_refused_before_anything_is_read() {
    let dir = Dir::with_titles();
    dir.write("a.jsonl", "{\"title\":\"one\"}\n{\"title\":\"two\"}\n");
    dir.write("broken.jsonl", "{\"title\":\n");
    fs::create_dir(dir.0.join("photos")).unwrap();
    dir.write("photos/holiday.jpg", "not an index");
    let cases: [(&[&str], &[&str]); 6] = [
        (&["t.tp"], &["t.tp", "an index", "--append", "--overwrite"]),
        (&["photos"], &["photos", "holiday.jpg"]),
        (&["photos", "--overwrite"], &["photos", "holiday.jpg"]),
        (&["photos", "--append"], &["photos", "holiday.jpg"]),
        (&["titles.txt"], &["titles.txt", "a directory"]),
        (&["none.tp", "--append"], &["none.tp"]),
    ];
    for (arguments, words) in cases {
        for input in ["a.jsonl", "broken.jsonl"] {
            let ran = dir.run(&[&["index", arguments[0], input], &arguments[1..]].concat());
            ran.fails_with(words);
            assert_eq!(ran.stdout, "", "{arguments:?}");
            assert!(!ran.stderr.contains(input), "{arguments:?}: {}", ran.stderr);
        }
    }
    assert_eq!(dir.count("*"), 7);
    assert!(!dir.0.join("none.tp").exists());
}

#[test]
fn a_build_says_how_many_it_added_and_replaced() {
    let dir = Dir::new();
    dir.write(
        "schema.toml",
        "[fields.id]\ntype = \"keyword\"\n[fields.t]\ntype = \"text\"\n[index]\nkey = \"id\"\n",
    );
    let line = |id: u32| format!("{{\"id\":\"{id}\",\"t\":\"word\"}}\n");
    let build = |ids: &[u32], more: &[&str]| {
        dir.write("a.jsonl", ids.iter().map(|id| line(*id)).collect::<String>());
        let ran = dir.run(&[&["index", "t.tp", "a.jsonl"], more].concat());
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        ran.stderr.lines().last().unwrap().to_owned()
    };
    let told = build(&[1], &["--schema", "schema.toml"]);
    assert!(told.starts_with("1 document added in "), "{told}");
    assert!(told.contains("t.tp: 1 document, 1 segment"), "{told}");
    let told = build(&[1, 2, 3], &["--append"]);
    assert!(told.starts_with("3 documents added, 1 replaced in "), "{told}");
    // By themselves, too.
    let told = build(&[2, 3, 4, 4], &["--append"]);
    assert!(told.starts_with("4 documents added, 3 replaced in "), "{told}");
    assert!(told.contains("t.tp: 4 documents, "), "{told}");
    assert_eq!(dir.count("*"), 4);
}

/// `1 documents` and the like, in whatever is printed of one document in one segment.
#[test]
fn one_is_singular_wherever_it_is_printed() {
    let dir = Dir::new();
    dir.write("a.jsonl", "{\"title\":\"paris\",\"n\":1,\"kind\":[\"a b\"]}\n");
    let built = dir.run(&["index", "t.tp", "a.jsonl"]);
    let mut told = vec![built.stdout, built.stderr];
    let commands: &[&[&str]] = &[
        &["search", "t.tp", "paris"],
        &["search", "t.tp", "*", "--explain"],
        &["search", "t.tp", "p*", "--explain", "--facet", "kind"],
        &["search", "t.tp", "*", "--facet", "n:step=1", "--stats", "n", "--limit", "0"],
        &["search", "t.tp", "paris", "--collapse", "n"],
        &["explain", "t.tp", "*"],
        &["explain", "t.tp", "p* OR par?s", "--analyze"],
        &["explain", "t.tp", "paris", "--analyze", "--facet", "kind"],
        &["explain", "t.tp", "\"paris texas\"", "--why-empty"],
        &["inspect", "t.tp"],
        &["inspect", "t.tp", "storage"],
        &["inspect", "t.tp", "schema"],
        &["verify", "t.tp"],
        &["recover", "t.tp", "--dry-run"],
        &["copy", "t.tp", "c.tp"],
        &["salvage", "t.tp", "s.tp"],
        &["merge", "t.tp"],
        &["delete", "t.tp", "paris", "--yes"],
    ];
    for command in commands {
        let ran = dir.run(command);
        assert!(ran.status < 2, "{command:?}: {}", ran.stderr);
        told.extend([ran.stdout, ran.stderr]);
    }
    for text in told {
        let words: Vec<_> = text.split_whitespace().collect();
        for pair in words.windows(2) {
            let noun = pair[1].trim_end_matches(|c: char| !c.is_alphanumeric());
            let nouns =
                ["documents", "segments", "terms", "hits", "buckets", "files", "groups", "bytes"];
            let is_wrong = pair[0] == "1" && nouns.contains(&noun);
            assert!(!is_wrong, "{pair:?} in {text}");
        }
    }
}

/// An option that a command does not have is no help. Of messages that name another command, that one must have it.
#[test]
fn every_option_that_a_message_names_is_one_of_its_command() {
    let dir = Dir::new();
    let help = |command: &str| dir.ok(&[command, "--help"]);
    let options_of = |text: &str| -> Vec<String> {
        let is_name = |c: char| c.is_ascii_lowercase() || c == '-' || c.is_ascii_digit();
        let names = text.match_indices("--").filter_map(|(at, _)| {
            let is_start = at == 0 || !text[..at].ends_with(|c: char| is_name(c) || c == '`');
            let name: String = text[at..].chars().take_while(|c| is_name(*c)).collect();
            let is_name = name.trim_matches('-').starts_with(|c: char| c.is_ascii_lowercase());
            (is_start && is_name).then(|| name.trim_end_matches('-').to_owned())
        });
        names.collect()
    };
    let commands =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/treepie/commands");
    let mut n_checked = 0;
    for entry in fs::read_dir(commands).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().replace('_', "-");
        if path.is_dir() || dir.run(&[&*name, "--help"]).status != 0 {
            continue;
        }
        let mut text = help(&name);
        // Commands of a command have options of their own.
        let below = text.lines().skip_while(|line| *line != "What:").skip(1);
        let below = below.map_while(|line| line.strip_prefix("  "));
        let below: Vec<_> = below.filter_map(|line| line.split(' ').next()).collect();
        let below: Vec<_> =
            below.into_iter().filter(|name| !name.is_empty()).map(str::to_owned).collect();
        for command in below.iter().filter(|command| *command != "help") {
            text += &dir.run(&[&*name, "x", command, "--help"]).stdout;
            text += &dir.run(&[&*name, command, "--help"]).stdout;
        }
        let known = options_of(&text);
        let source = fs::read_to_string(&path).unwrap();
        let code = source.split("#[cfg(test)]").next().unwrap();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let is_message = ["hint(", "expected(", "found(", "usage(", "warn(", "Error::new"];
            if !is_message.iter().any(|part| line.contains(part)) || line.contains("cargo ") {
                continue;
            }
            for option in options_of(line) {
                n_checked += 1;
                let other = line.split("treepie ").nth(1).or(line.split('"').nth(1));
                let other = other.and_then(|rest| rest.split(' ').next()).unwrap_or_default();
                let is_known =
                    known.contains(&option) || dir.run(&[other, "--help"]).stdout.contains(&option);
                assert!(is_known, "{option} is no option of {name}: {line}");
            }
        }
    }
    assert!(n_checked > 15, "{n_checked} options");
}

#[test]
fn commands_that_write_wait_for_another_writer() {
    let dir = Dir::with_titles();
    dir.write("more.txt", "page_title\nLondon\n");
    dir.write("fields.toml", "[fields.year]\ntype = \"i64\"\n");
    let path = dir.0.join("t.tp");
    let commands: [&[&str]; 4] = [
        &["index", "t.tp", "more.txt", "--append"],
        &["delete", "t.tp", "london", "--yes"],
        &["merge", "t.tp"],
        &["schema", "add", "t.tp", "fields.toml"],
    ];
    for command in commands {
        let held = treepie::Index::open(&path).unwrap().writer().unwrap();
        dir.run(&[command, &["--quiet"]].concat()).fails_with(&["another writer", "--wait 5s"]);
        let waited = dir.run(&[command, &["--quiet", "--wait", "60ms"]].concat());
        waited.fails_with(&["another writer", "within 60.0ms", "of waiting"]);
        let waiting = dir.command(&[command, &["--quiet", "--wait", "1min"]].concat());
        let waiting = { waiting }.spawn().unwrap();
        thread::sleep(Duration::from_millis(100));
        drop(held);
        let ran = Ran::of(waiting, vec![]);
        assert_eq!(ran.status, 0, "{command:?}: {}", ran.stderr);
    }
}

#[test]
fn an_empty_input_overwrites_nothing_and_says_what_it_did_not_do() {
    let dir = Dir::with_titles();
    dir.write("empty.csv", "");
    let nothing = dir.run(&["index", "new.tp", "empty.csv", "--overwrite"]);
    nothing.fails_with(&["building an index", "found nothing", "empty.csv"]);
    assert!(!nothing.stderr.contains("overwriting") && !nothing.stderr.contains("delete"));
    let index = dir.run(&["index", "t.tp", "empty.csv", "--overwrite"]);
    index.fails_with(&["overwriting an index", "treepie delete"]);
    assert_eq!(dir.count("paris"), 2);
}
