//! First sentences of public items and of modules: rustdoc shows each alone, so that none refers to something before it.

use std::collections::BTreeMap;
use std::path::Path;

/// Openings that refer to something before them, or have no head.
pub(super) const OPENINGS: [&str; 8] =
    ["The same", "Those", "So many", "Such", "What", "How", "Where", "Of"];
/// More of them, which may stand within a text.
const OF_ITEMS: [&str; 14] = [
    "Which", "That", "Whatever", "This", "These", "It", "Its", "They", "Whose", "When", "If",
    "Also", "As", "In what",
];

/// Words of a first sentence that is read at once.
const WORDS_MAX: usize = 15;

#[test]
fn first_sentences_become_shorter() {
    let mut sources = vec![];
    crate::collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut sources);
    let (mut long, mut with_where) = (vec![], vec![]);
    for (path, text) in &sources {
        for (line, _) in first_sentences(text) {
            let sentence = sentence_at(text, line);
            let place = format!("{path}:{line}: {sentence}");
            if sentence.split_whitespace().count() > WORDS_MAX {
                long.push(place);
            } else if sentence.split_whitespace().any(|word| word == "where") {
                with_where.push(place);
            }
        }
    }
    assert!(long.is_empty(), "of more than {WORDS_MAX} words:\n{}", long.join("\n"));
    assert!(with_where.is_empty(), "with \"where\":\n{}", with_where.join("\n"));
}

/// The sentence that begins in this line, counted from 1, which may go on in the next ones.
fn sentence_at(text: &str, line: usize) -> String {
    let mut sentence = String::new();
    for line in text.lines().skip(line - 1).map(str::trim_start) {
        let part = line.strip_prefix("//! ").or(line.strip_prefix("/// "));
        let Some(part) = part.filter(|part| !part.is_empty()) else { break };
        match part.split_once(". ") {
            Some((end, _)) => return sentence + end,
            None => sentence.extend([part, " "]),
        }
        if part.ends_with('.') {
            break;
        }
    }
    sentence
}

/// Openings that no sentence of any comment has, private ones included.
const OF_COMMENTS: [&str; 9] =
    ["The same", "Those", "So many", "Such", "What", "How", "Where", "Which", "In what"];
/// Openings that no comment and no line of one has. Within a line the sentence before is near enough.
const OF_LINES: [&str; 2] = ["As", "Of"];
/// Sentences that begin so all the same, by room. They may only become fewer; other rooms have none.
const HEADLESS_MAX: &[(&str, usize)] = &[];

#[test]
fn comments_begin_with_a_noun_or_a_verb() {
    let mut sources = vec![];
    crate::collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut sources);
    let (mut by_room, mut found) = (BTreeMap::<&str, usize>::new(), vec![]);
    for (path, text) in &sources {
        let room = path.split('/').next().unwrap_or_default();
        for (line, sentence) in headless(text) {
            *by_room.entry(room).or_default() += 1;
            found.push((room, format!("src/{path}:{line}: {sentence}")));
        }
    }
    let most = |room: &str| HEADLESS_MAX.iter().find(|(of, _)| *of == room).map_or(0, |(_, n)| *n);
    by_room.retain(|room, n| *n > most(room));
    found.retain(|(room, _)| by_room.contains_key(room));
    let found: Vec<_> = found.into_iter().map(|(_, told)| told).collect();
    assert!(found.is_empty(), "more than before in {by_room:?}:\n{}", found.join("\n"));
}

#[test]
fn headless_sentences_are_found_wherever_they_begin() {
    let text = "//! Sets. What is in them.\n\n/// Whatever they hold.\n// Howe's,\n// Where not.\n\
                /// Ends.\n/// How many.\n///\n/// - Those of a list\n/// - The same, again\n\
                /// ```\n/// // What code does.\n/// ```\nlet what = \"What\"; // What follows code.\n\
                // Of no head. Of some there is one.\n// Asked. As before.\n";
    let lines: Vec<_> = headless(text).into_iter().map(|(line, _)| line).collect();
    assert_eq!(lines, [1, 7, 9, 10, 15]);
}

/// Lines with a sentence of a comment that has no head, counted from 1.
fn headless(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut begins, mut is_code) = (vec![], true, false);
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let rest = line.strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!']));
        let Some(comment) = rest.map(str::trim) else {
            (begins, is_code) = (true, false);
            continue;
        };
        is_code ^= comment.starts_with("```");
        if is_code || comment.is_empty() || comment.starts_with("```") {
            begins = true;
            continue;
        }
        let item = comment.strip_prefix("- ").or(comment.strip_prefix("* "));
        let first = Some(item.unwrap_or(comment)).filter(|_| begins || item.is_some());
        let later = comment.match_indices(['.', '?', '!']);
        let later = later.filter_map(|(end, _)| comment[end + 1..].strip_prefix(' '));
        let opens = |sentence: &str, openings: &[&str]| {
            let rest = |it: &&str| sentence.strip_prefix(*it);
            openings.iter().filter_map(rest).any(|rest| rest.starts_with([' ', ',']))
        };
        let is_headless = |sentence: &str| opens(sentence, &OF_COMMENTS);
        let is_first = first.is_some_and(|line| is_headless(line) || opens(line, &OF_LINES));
        if is_first || later.into_iter().any(is_headless) {
            found.push((at + 1, comment));
        }
        begins = comment.ends_with(['.', '?', '!']);
    }
    found
}

#[test]
fn documentation_begins_with_a_noun_or_a_verb() {
    let mut sources = vec![];
    crate::collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut sources);
    let (mut n, mut wrong) = (0, vec![]);
    for (path, text) in &sources {
        for (line, sentence) in first_sentences(text) {
            n += 1;
            let begins = |it: &&&str| {
                sentence.strip_prefix(**it).is_some_and(|rest| rest.starts_with([' ', ',']))
            };
            if OPENINGS.iter().chain(&OF_ITEMS).any(|it| begins(&it)) {
                wrong.push(format!("src/{path}:{line}: {sentence}"));
            }
        }
    }
    assert!(n > 1_500, "{n} documented items");
    assert!(wrong.is_empty(), "{} of {n} begin without a head:\n{}", wrong.len(), wrong.join("\n"));
}

/// First lines of the documentation of public items, of variants and members of public types, and of the module itself, with
/// their numbers.
fn first_sentences(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = vec![];
    // Whether variants of an enum, or methods of a trait, are public, which do not say so themselves.
    let mut is_in_public = false;
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with("#[cfg(test)]")
            && lines.get(at + 1).is_some_and(|it| it.starts_with("mod ") && it.ends_with('{'))
        {
            break;
        }
        if !line.starts_with([' ', '}', '/', '#']) && !line.is_empty() {
            is_in_public = line.starts_with("pub enum ") || line.starts_with("pub trait ");
        }
        let of_module = line.strip_prefix("//! ");
        let of_item = line.trim_start().strip_prefix("/// ");
        let Some(sentence) = of_module.or(of_item) else { continue };
        let is_first = at == 0
            || !lines[at - 1].trim_start().starts_with(if of_module.is_some() {
                "//!"
            } else {
                "///"
            });
        if !is_first {
            continue;
        }
        let is_public = of_module.is_some() || {
            let item = lines[at..].iter().find(|it| {
                let it = it.trim_start();
                !it.starts_with("//") && !it.starts_with("#[") && !it.starts_with([')', ']'])
            });
            // Members of a variant stand deeper than variants and methods.
            let is_member = line.starts_with("    ") && is_in_public;
            is_member || item.is_some_and(|it| it.trim_start().starts_with("pub "))
        };
        if is_public {
            found.push((at + 1, sentence));
        }
    }
    found
}
