//! `inspect`, `verify`, `recover` and `salvage`, the record of what was done, and the small commands.

use super::{Dir, Ran, TITLES};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn inspect_looks_at_every_level() {
    let dir = Dir::with_titles();
    let segments = dir.run(&["inspect", "t.tp", "--format", "json"]).json();
    assert_eq!(segments[0]["documents"], 7);
    let schema = dir.ok(&["inspect", "t.tp", "schema"]);
    assert!(schema.contains("[fields.qualifier]\ntype = \"keyword\""), "{schema}");
    let terms = dir.ok(&["inspect", "t.tp", "terms", "--prefix", "f", "--format", "tsv"]);
    assert_eq!(terms, "documents\tterm\n2\tfilm\n1\tfrance\n");
    let terms = dir.ok(&["inspect", "t.tp", "terms", "--field", "qualifier", "--format", "csv"]);
    assert_eq!(terms, "documents,term\n1,book\n2,film\n1,song\n");
    let list = dir.run(&["inspect", "t.tp", "postings", "paris", "--format", "json"]).json();
    assert_eq!(list[0]["docs"], serde_json::json!([0, 1]));
    let document = dir.run(&["inspect", "t.tp", "document", "5", "--format", "json"]).json();
    assert_eq!(document["fields"]["title"], "東京");
    let storage = dir.run(&["inspect", "t.tp", "storage", "--format", "json"]).json();
    let rows = storage.as_array().unwrap().iter();
    let bytes: u64 = rows.map(|row| row["bytes"].as_u64().unwrap()).sum();
    assert_eq!(Some(bytes), segments[0]["bytes"].as_u64());
    dir.run(&["inspect", "t.tp", "postings", "nowhere"]).fails_with(&["nowhere"]);
    dir.run(&["inspect", "t.tp", "document", "7"]).fails_with(&["7"]);
}

#[test]
fn the_storage_is_a_page_where_that_is_asked_for() {
    let dir = Dir::with_titles();
    dir.ok(&[
        "inspect",
        "t.tp",
        "storage",
        "--format",
        "html",
        "-o",
        "storage.html",
        "--terms",
        "2",
    ]);
    let page = fs::read_to_string(dir.0.join("storage.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.contains("\"title\":\"t.tp\""), "{page}");
    let again = ["inspect", "t.tp", "storage", "--format", "html", "-o", "storage.html"];
    dir.run(&again).fails_with(&["storage.html", "--force"]);
    assert_eq!(dir.ok(&["inspect", "t.tp", "storage", "--format", "html", "--terms", "2"]), page);
    dir.run(&["inspect", "t.tp", "storage", "-o", "x"]).fails_with(&["--format html"]);
    dir.run(&["inspect", "t.tp", "storage", "--terms", "2"]).fails_with(&["--format html"]);
    dir.run(&["inspect", "t.tp", "segments", "--format", "html"]).fails_with(&["storage"]);
}

/// What a commit and the merge after it were told, with round times.
const EVENTS: &str = r#"{"session":"index","index":"t.tp","version":"0.1.0","start_us":1000000}
{"event":"open","start_us":1000000,"time_ns":10000,"file":"manifest-0000000000000001","bytes":200,"error":null}
{"session":"index","index":"t.tp","version":"0.1.0","start_us":2000000}
{"event":"create","start_us":2000000,"time_ns":20000,"file":"seg-0123456789abcdef0123456789abcdef.idx","error":null}
{"event":"write","start_us":2000100,"time_ns":400000,"file":"seg-0123456789abcdef0123456789abcdef.idx","bytes":3000,"calls":12,"busy_ns":100000,"error":null}
{"event":"sync","start_us":2000500,"time_ns":200000,"file":"seg-0123456789abcdef0123456789abcdef.idx","bytes":3000,"error":null}
{"event":"sync_names","start_us":2000700,"time_ns":100000,"error":null}
{"event":"create","start_us":2000800,"time_ns":10000,"file":".tmp-0123456789abcdef0123456789abcdef","error":null}
{"event":"write","start_us":2000810,"time_ns":1000,"file":".tmp-0123456789abcdef0123456789abcdef","bytes":200,"calls":1,"busy_ns":1000,"error":null}
{"event":"sync","start_us":2000820,"time_ns":80000,"file":".tmp-0123456789abcdef0123456789abcdef","bytes":200,"error":null}
{"event":"publish","start_us":2000900,"time_ns":10000,"file":"manifest-0000000000000002","from":".tmp-0123456789abcdef0123456789abcdef","error":null}
{"event":"sync_names","start_us":2000900,"time_ns":100000,"error":null}
{"event":"commit","start_us":2000000,"time_ns":1000000,"generation":2,"documents":9,"added":8,"deleted":0,"segments":2,"bytes":3200,"error":null}
{"event":"delete","start_us":2001100,"time_ns":5000,"file":"manifest-0000000000000001","error":{"kind":"PermissionDenied","message":"deleting a file"}}
{"event":"unheard_of","start_us":2001200,"time_ns":2800000,"error":null}
"#;

#[test]
fn what_was_done_to_files_is_a_table_and_a_timeline() {
    let dir = Dir::new();
    dir.write("t.tp.events.jsonl", EVENTS);
    let shown = |arguments: &[&str], columns: &str| {
        let mut command = dir.command(arguments);
        let ran = Ran::of(command.env("COLUMNS", columns).spawn().unwrap(), vec![]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        ran.stdout
    };
    let text = shown(&["inspect", "t.tp", "io"], "90");
    let expected = "\
index t.tp: 12 events in 4.0 ms, the last of 2 sessions; --all shows all

event       count  failed    bytes     total    median       max        rate
unheard_of      1                     2.8 ms    2.8 ms    2.8 ms
commit          1          3.1 KiB    1.0 ms    1.0 ms    1.0 ms   3.1 MiB/s
sync            2          3.1 KiB  280.0 µs   80.0 µs  200.0 µs  10.9 MiB/s
sync_names      2                   200.0 µs  100.0 µs  100.0 µs
write           2          3.1 KiB  101.0 µs    1.0 µs  100.0 µs  30.2 MiB/s
create          2                    30.0 µs   10.0 µs   20.0 µs
publish         1                    10.0 µs   10.0 µs   10.0 µs
delete          1       1             5.0 µs    5.0 µs    5.0 µs

                    0 ───────────────────────────────────────── 4.0 ms     bytes      time
commit 2            ━━━━━━━━━━━━━                                        3.1 KiB    1.0 ms
seg-01234567….idx   ░░░░░░███                                            2.9 KiB  700.0 µs
names made durable          █████                                                 200.0 µs
manifest-2                    ██                                           200 B  110.0 µs
files deleted                    ×                                                  5.0 µs  failed
unheard_of                         ┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆┆              2.8 ms

━ whole  ░ being written  █ made durable  ▒ read  × deleted  ┆ anything else
";
    assert_eq!(text, expected);
    let narrow = shown(&["inspect", "t.tp", "io", "t.tp.events.jsonl"], "40");
    assert!(narrow.contains("\nseg-01234567….idx"), "{narrow}");
    let all = shown(&["inspect", "t.tp", "io", "--all", "--limit", "2"], "90");
    assert!(all.starts_with("2 sessions: 13 events in 1.00 s\n"), "{all}");
    assert!(all.ends_with("5 more rows that took less; --limit 0 shows all\n"), "{all}");

    let json = dir.run(&["inspect", "t.tp", "io", "--format", "json"]).json();
    assert_eq!((&json["sessions"], &json["events"]), (&json!(2), &json!(12)));
    assert_eq!((&json["start_us"], &json["time_ns"]), (&json!(2_000_000), &json!(4_000_000)));
    let sync = json["kinds"].as_array().unwrap().iter().find(|kind| kind["event"] == "sync");
    let expected = json!({
        "event": "sync", "count": 2, "failed": 0, "bytes": 3200, "total_ns": 280_000,
        "median_ns": 80_000, "max_ns": 200_000, "bytes_per_second": 11_428_571,
    });
    assert_eq!(sync, Some(&expected));
    let timeline = json["timeline"].as_array().unwrap();
    let manifest = timeline.iter().find(|row| row["what"] == "manifest-2").unwrap();
    assert_eq!((&manifest["start_ns"], &manifest["end_ns"]), (&json!(800_000), &json!(910_000)));
    assert_eq!(manifest["spans"].as_array().unwrap().len(), 4);

    let csv = dir.ok(&["inspect", "t.tp", "io", "--format", "csv"]);
    assert!(csv.contains("\nsync,2,0,3200,280000,80000,200000,11428571\n"), "{csv}");
    assert_eq!(dir.ok(&["inspect", "t.tp", "io", "--format", "jsonl"]).lines().count(), 8);
}

#[test]
fn commands_that_write_keep_what_they_did_where_that_is_asked_for() {
    let dir = Dir::new();
    dir.write("titles.txt", TITLES);
    dir.ok(&["index", "u.tp", "titles.txt", "--preset", "wikipedia-titles"]);
    let none_kept = dir.run(&["inspect", "u.tp", "io"]);
    // The hint is a command that can be given, and then there is something to show.
    let hint = none_kept.stderr.split('`').nth(1).unwrap().strip_prefix("treepie ").unwrap();
    dir.ok(&hint.split(' ').collect::<Vec<_>>());
    dir.ok(&["inspect", "u.tp", "io"]);
    none_kept.fails_with(&["u.tp.events.jsonl", "--events", "`index` and `delete`"]);
    let events = ["--events", "t.tp.events.jsonl", "--quiet"];
    let index = ["index", "t.tp", "titles.txt", "--preset", "wikipedia-titles"];
    dir.ok(&[&index[..], &events].concat());
    dir.ok(&[&index[..], &["--append"], &events].concat());
    dir.ok(&[&["delete", "t.tp", "france", "--yes"], &events[..]].concat());
    dir.ok(&[&["merge", "t.tp"], &events[..]].concat());
    let kept = fs::read_to_string(dir.0.join("t.tp.events.jsonl")).unwrap();
    let lines: Vec<Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sessions: Vec<_> = lines.iter().filter_map(|line| line["session"].as_str()).collect();
    assert_eq!(sessions, ["index", "index", "delete", "merge"]);
    let commits = lines.iter().filter(|line| line["event"] == "commit");
    let commits: Vec<_> = commits
        .map(|line| (line["documents"].as_u64(), line["added"].as_u64(), line["deleted"].as_u64()))
        .collect();
    let commit = |documents, added, deleted| (Some(documents), Some(added), Some(deleted));
    // The merge commits what was added before, which is nothing, and then its own.
    assert_eq!(commits[..3], [commit(7, 7, 0), commit(14, 7, 0), commit(12, 0, 2)]);
    let merges: Vec<_> = lines.iter().filter(|line| line["event"] == "merge").collect();
    assert_eq!((merges.len(), &merges[0]["segments"]), (1, &json!(2)));

    // What is shown is the last session, and its files are those that there are.
    let shown = dir.run(&["inspect", "t.tp", "io", "--format", "json"]).json();
    assert_eq!((&shown["session"], &shown["sessions"]), (&json!("merge t.tp"), &json!(4)));
    let files = lines.iter().filter(|line| line["event"] == "create");
    let mut files = files.filter_map(|line| line["file"].as_str());
    let merged = files.rfind(|file| file.starts_with("seg-")).unwrap();
    let size = fs::metadata(dir.0.join("t.tp").join(merged)).unwrap().len();
    let rows = shown["timeline"].as_array().unwrap();
    let segment = rows.iter().find(|row| row["what"].as_str().unwrap().starts_with("seg-"));
    assert_eq!(segment.unwrap()["bytes"], json!(size));
    let text = dir.ok(&["inspect", "t.tp", "io"]);
    assert!(text.starts_with("merge t.tp: ") && text.contains("the last of 4 sessions"), "{text}");

    dir.write("wrong.jsonl", "{\"session\":\"x\"}\n{\"event\":\"sync\"}\n");
    dir.run(&["inspect", "t.tp", "io", "wrong.jsonl"]).fails_with(&["wrong.jsonl", "line 2"]);
    dir.run(&["inspect", "t.tp", "io", "none.jsonl"]).fails_with(&["none.jsonl"]);
    dir.run(&["merge", "t.tp", "--events", "no/where.jsonl"]).fails_with(&["no/where.jsonl"]);
}

#[test]
fn the_small_commands_print_something_sound() {
    let dir = Dir::new();
    let terms = dir.ok(&["analyze", "Rock'n'Roll (1977)", "--format", "jsonl"]);
    assert_eq!(terms.lines().count(), 4);
    assert!(dir.ok(&["completions", "zsh"]).contains("#compdef treepie"));
    let page = dir.ok(&["man"]);
    assert!(page.contains(".SH NAME") && page.contains("skip\\-bad\\-lines"), "{page}");
    assert!(!page.contains("(1)\n") && page.contains(".SH \"TREEPIE PLAN VIEW\""), "{page}");
    dir.ok(&["man", "--to", "pages"]);
    let pages = dir.0.join("pages");
    let first = fs::read_to_string(pages.join("treepie.1")).unwrap();
    let mut n_pages = 0;
    for line in first.lines().filter(|line| line.ends_with("(1)")) {
        // What is referred to is there.
        let name = line.trim_end_matches("(1)").replace('\\', "");
        assert!(pages.join(format!("{name}.1")).exists(), "{name} in {first}");
        n_pages += 1;
    }
    assert!(n_pages > 20 && pages.join("treepie-plan-view.1").exists(), "{first}");
    let tour = dir.ok(&["demo", "--index", "demo.tp"]);
    for words in ["4,138 titles", "demo.tp", "qualifier", "TermScan", "What next"] {
        assert!(tour.contains(words), "no {words:?} in {tour}");
    }
    for command in ["index", "search", "explain", "inspect"] {
        assert!(dir.ok(&[command, "--help"]).contains("Examples:"), "{command}");
    }
}

#[test]
fn help_has_pages_on_what_is_read() {
    let dir = Dir::new();
    for (topic, words) in [
        ("query", "  -war "),
        ("schema", "    [fields.name]"),
        ("facets", "  --facet price:step=10 "),
        ("analyzers", "ngram:MIN,MAX"),
    ] {
        let page = dir.ok(&["help", topic]);
        assert!(page.contains(words) && !page.contains("crate::"), "{topic}: {page}");
    }
    assert_eq!(dir.ok(&["help", "search"]), dir.ok(&["search", "--help"]));
    assert_eq!(dir.ok(&["help", "plan", "view"]), dir.ok(&["plan", "view", "--help"]));
    assert_eq!(dir.ok(&["help"]), dir.ok(&["--help"]));
    dir.run(&["help", "quary"]).fails_with(&["'quary'", "query", "search"]);
}

#[test]
fn quiet_is_quiet_and_color_is_asked_for() {
    let dir = Dir::with_titles();
    let ran = dir.run(&["index", "t.tp", "titles.txt", "--preset", "wikipedia-titles", "--append"]);
    assert!(ran.stderr.contains("7 documents added"), "{}", ran.stderr);
    let ran = dir.run(&["merge", "t.tp", "--quiet"]);
    assert_eq!((ran.status, &*ran.stderr), (0, ""));
    assert!(!dir.ok(&["search", "t.tp", "paris"]).contains('\x1b'));
    assert!(dir.ok(&["search", "t.tp", "paris", "--color", "always"]).contains('\x1b'));
}

#[test]
fn a_damaged_index_is_an_error_and_verify_lists_it() {
    let dir = Dir::with_titles();
    let segment = segment_of(&dir.0.join("t.tp"));
    let mut bytes = fs::read(&segment).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 0x10;
    fs::write(&segment, bytes).unwrap();
    let advice = "`treepie verify` lists all damage";
    let ran = dir.run(&["verify", "t.tp"]);
    assert_eq!(ran.status, 2, "{}{}", ran.stdout, ran.stderr);
    let name = segment.file_name().unwrap().to_str().unwrap().to_owned();
    assert!(ran.stdout.contains(&name), "{}", ran.stdout);
    assert!(!ran.stdout.contains("treepie verify"), "that is what ran: {}", ran.stdout);
    let last = ran.stdout.lines().last().unwrap();
    assert!(last.starts_with("damaged: 1 of 1 segment; next: copy"), "{last}");
    assert!(last.contains("treepie salvage") && last.contains("recover INDEX --dry-run"), "{last}");
    let rows = dir.run(&["verify", "t.tp", "--format", "jsonl"]).stdout;
    assert!(rows.lines().all(|row| row.starts_with("{\"file\":")), "{rows}");
    let saved = dir.run(&["salvage", "t.tp", "saved.tp"]).stdout;
    assert!(saved.contains("checksum") && !saved.contains("treepie verify"), "{saved}");
    let recovering = dir.run(&["recover", "t.tp"]).stderr;
    assert!(!recovering.contains("treepie verify"), "{recovering}");
    // Cut, and gone.
    let append = ["index", "t.tp", "titles.txt", "--preset", "wikipedia-titles", "--append"];
    fs::write(&segment, b"cut").unwrap();
    dir.run(&["search", "t.tp", "paris"]).fails_with(&[&name, advice]);
    dir.run(&append).fails_with(&[&name, advice]);
    fs::remove_file(&segment).unwrap();
    dir.run(&["search", "t.tp", "paris"]).fails_with(&[&name, advice]);
    dir.run(&append).fails_with(&[&name, advice]);
    let ran = dir.run(&["verify", "t.tp"]);
    assert_eq!(ran.status, 2);
    assert!(ran.stdout.contains("damaged: the newest commit cannot be opened; next: copy"));
    assert!((ran.stdout + &ran.stderr).contains(&name));
}

#[test]
fn manifests_that_were_deleted_are_told_by_what_they_leave() {
    let dir = Dir::with_titles();
    let sound = dir.ok(&["verify", "t.tp"]);
    assert!(!sound.contains("no commit names"), "{sound}");
    dir.write("more.txt", "Paris again\n");
    let preset = ["--preset", "wikipedia-titles", "--append", "--quiet"];
    dir.ok(&[&["index", "t.tp", "more.txt"][..], &preset].concat());
    fs::remove_file(dir.0.join("t.tp/manifest-0000000000000002")).unwrap();
    let sound = dir.ok(&["verify", "t.tp"]);
    assert!(sound.contains("sound: 1 segment") && sound.contains("no commit names"), "{sound}");
    fs::remove_file(dir.0.join("t.tp/manifest-0000000000000001")).unwrap();
    for command in ["verify", "recover", "stats"] {
        dir.run(&[command, "t.tp"]).fails_with(&["its manifests were deleted", "take a copy"]);
    }
    fs::create_dir(dir.0.join("empty.tp")).unwrap();
    dir.run(&["stats", "empty.tp"]).fails_with(&["it is empty"]);
}

#[test]
fn a_damaged_index_is_recovered_and_salvaged_when_told_to() {
    let dir = Dir::with_titles();
    let index = dir.0.join("t.tp");
    dir.write("more.txt", "Paris again\n");
    let preset = ["--preset", "wikipedia-titles", "--append", "--quiet"];
    dir.ok(&[&["index", "t.tp", "more.txt"][..], &preset].concat());
    let sound = dir.ok(&["recover", "t.tp"]);
    assert!(sound.contains("nothing is lost") && !sound.contains("no commit names"), "{sound}");
    let manifest = index.join("manifest-0000000000000002");
    let mut bytes = fs::read(&manifest).unwrap();
    bytes[90] ^= 1;
    fs::write(&manifest, bytes).unwrap();
    assert_eq!(dir.run(&["search", "t.tp", "paris", "--count"]).status, 2);

    let saved = dir.ok(&["salvage", "t.tp", "saved.tp"]);
    assert!(saved.contains("commit 2 is damaged"), "{saved}");
    let summary = "saved 7 documents of commit 1 in 1 segment; commit 2 is lost with what it added: \
                   1 segment of 1 document was left out";
    assert_eq!(saved.lines().last(), Some(summary));
    assert_eq!(dir.ok(&["search", "saved.tp", "paris", "--count"]), "2\n");
    // Every segment that is left is whole, and yet a commit is lost.
    let object = dir.ok(&["salvage", "t.tp", "saved2.tp", "--format", "json"]);
    let object: serde_json::Value = serde_json::from_str(&object).unwrap();
    assert_eq!((&object["nothing_lost"], &object["lost"]), (&json!(false), &json!(null)));
    assert_eq!((&object["lost_of_commit"], &object["unnamed_documents"]), (&json!(0), &json!(1)));
    assert_eq!((&object["unreadable"][0]["commit"], &object["commit"]), (&json!(2), &json!(1)));
    assert_eq!(object["unnamed"].as_array().unwrap().len(), 1);
    assert_eq!(dir.run(&["salvage", "t.tp", "saved.tp"]).status, 2, "it is there already");
    let rows = dir.ok(&["salvage", "t.tp", "saved3.tp", "--format", "csv"]);
    assert!(rows.contains("\nsalvaged,1,damaged,7,,0,"), "{rows}");
    // A manifest that is gone says less: what it named is left over, as after a build that was stopped.
    let gone = dir.0.join("gone.tp");
    fs::create_dir(&gone).unwrap();
    for entry in fs::read_dir(&index).unwrap().map(Result::unwrap) {
        if entry.path() != manifest {
            fs::copy(entry.path(), gone.join(entry.file_name())).unwrap();
        }
    }
    let left = dir.ok(&["salvage", "gone.tp", "saved4.tp"]);
    assert!(left.contains("of a commit whose manifest is gone"), "{left}");
    let summary = "saved 7 documents of commit 1 in 1 segment; lost 0 of that commit; \
                   1 segment of 1 document was left out";
    assert_eq!(left.lines().last(), Some(summary));
    let object = dir.ok(&["salvage", "gone.tp", "saved5.tp", "--format", "json"]);
    let object: serde_json::Value = serde_json::from_str(&object).unwrap();
    assert_eq!((&object["nothing_lost"], &object["lost"]), (&json!(false), &json!(null)));
    assert_eq!((&object["lost_of_commit"], &object["unnamed_documents"]), (&json!(0), &json!(1)));
    let whole = dir.ok(&["recover", "gone.tp", "--dry-run"]);
    assert!(
        whole.contains("is whole") && whole.contains("in files that no commit names"),
        "{whole}"
    );

    let planned = dir.ok(&["recover", "t.tp", "--dry-run"]);
    assert!(planned.contains("would go back to commit 1"), "{planned}");
    assert_eq!(dir.run(&["search", "t.tp", "paris", "--count"]).status, 2, "nothing was done");
    let done = dir.ok(&["recover", "t.tp"]);
    assert!(done.contains("went back to commit 1, which is commit 3 now"), "{done}");
    assert!(done.contains("set aside: damaged-manifest-0000000000000002"), "{done}");
    assert_eq!(dir.ok(&["search", "t.tp", "paris", "--count"]), "2\n");
    let rows = dir.ok(&["recover", "t.tp", "--format", "csv"]);
    assert!(rows.starts_with("commit,state,documents,damaged,message\n3,whole,"), "{rows}");
    let object = dir.ok(&["recover", "t.tp", "--format", "json"]);
    let object: serde_json::Value = serde_json::from_str(&object).unwrap();
    assert_eq!((&object["nothing_lost"], &object["whole"]), (&json!(true), &json!(3)));
    assert_eq!(dir.run(&["recover", "nowhere.tp"]).status, 2);
    fs::create_dir(dir.0.join("plain")).unwrap();
    dir.write("plain/file.txt", "x");
    assert_eq!(dir.run(&["recover", "plain"]).status, 2);
    assert!(!dir.0.join("plain/write.lock").exists());

    // Without its footer nothing of a segment can be found.
    let segment = segment_of(&dir.0.join("saved.tp"));
    let mut bytes = fs::read(&segment).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&segment, bytes).unwrap();
    let ran = dir.run(&["salvage", "saved.tp", "none.tp", "--format", "json"]);
    assert_eq!(ran.status, 2, "nothing was saved");
    let lost: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&lost["nothing_lost"], &lost["documents"]), (&json!(false), &json!(0)));
    assert_eq!(lost["segments"][0]["outcome"], "lost");
    let ran = dir.run(&["salvage", "saved.tp", "none2.tp"]);
    assert!(ran.status == 2 && ran.stdout.contains("nothing could be saved"), "{}", ran.stdout);
    let rows = dir.run(&["salvage", "saved.tp", "none3.tp", "--format", "csv"]).stdout;
    assert!(rows.contains("\nsalvaged,1,damaged,0,"), "{rows}");
}

#[test]
fn segments_that_are_lost_are_not_told_of_as_saved() {
    let dir = Dir::with_titles();
    let first = segment_of(&dir.0.join("t.tp"));
    dir.write("more.txt", "page_title\nLondon\nRome\n");
    dir.ok(&["index", "t.tp", "more.txt", "--append", "--quiet"]);
    assert_eq!(dir.ok(&["inspect", "t.tp", "--format", "jsonl"]).lines().count(), 2);
    let saved = dir.ok(&["salvage", "t.tp", "whole.tp"]);
    assert!(saved.contains("saved 9 documents of commit 2 in 2 segments; lost 0"), "{saved}");
    let mut bytes = fs::read(&first).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&first, bytes).unwrap();
    let saved = dir.ok(&["salvage", "t.tp", "saved.tp"]);
    assert!(saved.contains("saved 2 documents of commit 2 in 1 of 2 segments; lost 7"), "{saved}");
}

fn segment_of(index: &Path) -> PathBuf {
    let names = fs::read_dir(index).unwrap().map(|entry| entry.unwrap().path());
    let mut segments = names.filter(|path| path.extension().is_some_and(|name| name == "idx"));
    segments.next().unwrap()
}
