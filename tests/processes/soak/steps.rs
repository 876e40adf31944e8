//! What an index holds after so many steps, of which each touches a part of the documents in several ways.

use crate::content::{Content, HEAD, compare, noise, step_of};
use treepie::query::{ParseOptions, parse};
use treepie::{
    Document, ErrorKind, Field, FieldKind, IndexWriter, Result, Schema, Searcher, SharedWriter,
};

/// Documents that there may be, beside the one that says which step was the last.
pub(super) const DOCS: u64 = 2_000;
/// Each document is touched once in so many steps.
const ROUND: u64 = 50;
/// Values of the field by which many documents are deleted at once.
const GROUPS: u64 = 30;

/// What a step does to one document.
#[derive(Clone, Copy, PartialEq)]
enum Touch {
    /// Adds it, in the place of the one with its key if there is one.
    Put,
    /// The same, by changing what is stored where there is one.
    Update,
    Delete,
}

fn touch(doc: u64, step: u64) -> Touch {
    match noise(step * DOCS + doc) % 8 {
        0 => Touch::Delete,
        1 => Touch::Update,
        _ => Touch::Put,
    }
}

/// The documents that a step touches.
fn touched(step: u64) -> impl Iterator<Item = u64> {
    (step % ROUND..DOCS).step_by(ROUND as usize)
}

/// The group that a step deletes before it does anything else, if it does, and whether by a query.
fn doomed_group(step: u64) -> Option<(u64, bool)> {
    let dice = noise(!step);
    (dice % 4 < 2).then_some(((dice >> 8) % GROUPS, dice.is_multiple_of(4)))
}

fn group(doc: u64, step: u64) -> u64 {
    noise(doc << 32 ^ step) % GROUPS
}

fn name(doc: u64) -> String {
    format!("k{doc}")
}

fn group_name(group: u64) -> String {
    format!("group{group}")
}

fn text(doc: u64, step: u64) -> String {
    let n = noise(doc * 1_000_003 + step);
    let group = group_name(group(doc, step));
    let text = format!("since step{step} word{} other{} {group}", n % 5, n % 7);
    // Some are long, so that writing them takes its time.
    if n.is_multiple_of(400) {
        format!("{text} {}", "long and longer ".repeat(1_000))
    } else {
        text
    }
}

/// What there is after `last` steps: of each document what the last step made of it that touched it.
pub(super) fn content(last: u64) -> Content {
    let steps = last.saturating_sub(ROUND) + 1..=last;
    let doomed: Vec<_> = steps.filter_map(|step| Some((step, doomed_group(step)?.0))).collect();
    let since = |doc: u64| last.checked_sub((last + ROUND - doc % ROUND) % ROUND);
    let mut content = Content::new();
    for (doc, since) in (0..DOCS).filter_map(|doc| Some((doc, since(doc).filter(|s| *s > 0)?))) {
        let group = group(doc, since);
        let is_doomed = doomed.iter().any(|(step, gone)| *step > since && *gone == group);
        if touch(doc, since) != Touch::Delete && !is_doomed {
            content.insert(name(doc), text(doc, since));
        }
    }
    content.insert(HEAD.into(), format!("step {last}"));
    content
}

pub(super) fn schema() -> Schema {
    let keyword = |name| Field::new(name, FieldKind::Keyword).many(false);
    let fields = Schema::builder().field(keyword("id")).field(keyword("group")).text("text");
    fields.key("id").build().unwrap()
}

fn document(key: String, text: String) -> Document {
    let document = Document::new().with("id", key);
    let group = text.split(' ').find(|word| word.starts_with("group")).map(str::to_owned);
    let document = document.with("text", text);
    group.into_iter().fold(document, |document, group| document.with("group", group))
}

fn head(step: u64) -> Document {
    document(HEAD.into(), format!("step {step}"))
}

/// Adds what there is before the first step.
pub(super) fn begin(writer: &mut IndexWriter) -> Result<()> {
    writer.set_payload(0_u64.to_le_bytes()).unwrap();
    writer.add(head(0))
}

/// Does all of a step but the commit, with so many threads beside each other.
pub(super) fn take_step(writer: &SharedWriter, step: u64, threads: usize) -> Result<()> {
    match doomed_group(step) {
        None => {}
        Some((group, false)) => drop(writer.delete_value("group", group_name(group))?),
        Some((group, true)) => {
            let query = format!("group:{}", group_name(group));
            writer.delete(&parse(&query, &ParseOptions::default())?)?;
        }
    }
    let docs: Vec<_> = touched(step).collect();
    let touch_some = |docs: &[u64]| docs.iter().try_for_each(|doc| touch_one(writer, *doc, step));
    std::thread::scope(|scope| {
        let parts = docs.chunks(docs.len().div_ceil(threads));
        let running: Vec<_> = parts.map(|part| scope.spawn(|| touch_some(part))).collect();
        all_of::<(), ()>(running.into_iter().map(|thread| thread.join().unwrap()))
    })?;
    writer.add_and_process(head(step))
}

/// What several threads did with one writer, or the error that was first: those that come later only hear that
/// the writer is of no use.
pub(super) fn all_of<T, C: FromIterator<T>>(done: impl Iterator<Item = Result<T>>) -> Result<C> {
    let (done, mut failed): (Vec<_>, Vec<_>) = done.partition(Result::is_ok);
    failed.sort_by_key(|failed| failed.as_ref().is_err_and(|e| e.kind() == ErrorKind::Poisoned));
    failed.into_iter().chain(done).collect()
}

fn touch_one(writer: &SharedWriter, doc: u64, step: u64) -> Result<()> {
    let put = || document(name(doc), text(doc, step));
    match touch(doc, step) {
        Touch::Put => writer.add_and_process(put()),
        Touch::Delete => writer.delete_key(name(doc)).map(drop),
        Touch::Update => writer.with(|writer| {
            let was_there = writer.update(name(doc), |document| *document = put())?;
            if was_there { Ok(()) } else { writer.add(put()) }
        }),
    }
}

/// Compares all of a snapshot with what it must hold after the step that it says it is of; both.
pub(super) fn check(searcher: &Searcher) -> Result<(u64, Content), String> {
    let step = step_of(searcher)?;
    let content = content(step);
    compare(searcher, &content)
        .map_err(|what| format!("commit {}, step {step}: {what}", searcher.generation()))?;
    Ok((step, content))
}

/// Checks a commit: what is only flushed does not have the payload of its step.
pub(super) fn check_commit(searcher: &Searcher) -> Result<(u64, Content), String> {
    let (step, content) = check(searcher)?;
    if searcher.payload() != step.to_le_bytes() {
        let payload = searcher.payload();
        return Err(format!("step {step} is no commit: its payload is {payload:?}"));
    }
    Ok((step, content))
}

/// The rule says what a map holds with which the same is done, one thing after the other.
#[test]
fn the_rule_is_what_the_steps_come_to() {
    let mut map = Content::new();
    for step in 1..=4 * ROUND {
        if let Some((group, _)) = doomed_group(step) {
            let group = group_name(group);
            map.retain(|_, text| !text.split(' ').any(|word| word == group));
        }
        for doc in touched(step) {
            match touch(doc, step) {
                Touch::Delete => drop(map.remove(&name(doc))),
                Touch::Put | Touch::Update => drop(map.insert(name(doc), text(doc, step))),
            }
        }
        map.insert(HEAD.into(), format!("step {step}"));
        assert_eq!(content(step), map, "step {step}");
    }
    assert!((DOCS / 2..DOCS).contains(&(map.len() as u64)), "{} documents", map.len());
}
