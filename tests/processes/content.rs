//! What an index holds after so many steps, by a rule that anybody can work out for himself, and the comparison with
//! what it does hold.

use std::collections::BTreeMap;
use treepie::search::Values;
use treepie::{Document, Field, FieldKind, Index, IndexWriter, Result, Schema, Searcher};

const KEYS: u64 = 48;
/// Keys that a step touches.
const TOUCHED: u64 = 4;
/// The key of the document that says which step was the last.
pub(crate) const HEAD: &str = "head";

/// Documents by their keys.
pub(crate) type Content = BTreeMap<String, String>;

/// What a step does to one key.
enum Touch {
    Put(String),
    Delete,
}

/// A number that looks like any other.
pub(crate) fn noise(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    n ^ (n >> 31)
}

/// What a step does, key by key; no key twice.
fn touches(step: u64) -> impl Iterator<Item = (u64, Touch)> {
    let first = noise(step);
    (0..TOUCHED).map(move |nth| {
        let key = (first + nth * 11) % KEYS;
        let touch = match noise(step * TOUCHED + nth) % 5 {
            0 => Touch::Delete,
            _ => Touch::Put(text(key, step)),
        };
        (key, touch)
    })
}

fn text(key: u64, step: u64) -> String {
    let n = noise(key * 1_000_003 + step);
    let text = format!("key{key} since step{step} word{} other{}", n % 5, n % 7);
    // Some are long, so that writing them takes its time.
    if n.is_multiple_of(40) { format!("{text} {}", "long and longer ".repeat(2_000)) } else { text }
}

fn name(key: u64) -> String {
    format!("k{key}")
}

/// What there is after `last` steps: of each key what the last step did that touched it.
pub(crate) fn content(last: u64) -> Content {
    let (mut content, mut known) = (Content::new(), vec![false; KEYS as usize]);
    for step in (1..=last).rev() {
        for (key, touch) in touches(step) {
            if !std::mem::replace(&mut known[key as usize], true)
                && let Touch::Put(text) = touch
            {
                content.insert(name(key), text);
            }
        }
        if known.iter().all(|known| *known) {
            break;
        }
    }
    content.insert(HEAD.into(), format!("step {last}"));
    content
}

pub(crate) fn schema() -> Schema {
    let id = Field::new("id", FieldKind::Keyword).many(false);
    Schema::builder().field(id).text("text").key("id").build().unwrap()
}

/// Makes an index that has taken no step.
pub(crate) fn create(index: &std::path::Path) {
    let index = Index::create(index, schema()).unwrap();
    let mut writer = index.writer().unwrap();
    put(&mut writer, HEAD, "step 0").unwrap();
    writer.set_payload(0_u64.to_le_bytes()).unwrap();
    writer.commit().unwrap();
}

fn put(writer: &mut IndexWriter, key: &str, text: &str) -> Result<()> {
    writer.add(Document::new().with("id", key).with("text", text))
}

/// Does all of a step but the commit.
pub(crate) fn take_step(writer: &mut IndexWriter, step: u64) -> Result<()> {
    for (key, touch) in touches(step) {
        match touch {
            Touch::Put(text) => put(writer, &name(key), &text)?,
            Touch::Delete => writer.delete_key(name(key))?,
        }
    }
    put(writer, HEAD, &format!("step {step}"))?;
    writer.set_payload(step.to_le_bytes()).unwrap();
    Ok(())
}

/// Adds and deletes what nobody must ever see.
pub(crate) fn make_a_mess(writer: &mut IndexWriter) -> Result<()> {
    put(writer, HEAD, "step 0 never")?;
    put(writer, "mess", "never never")?;
    (0..KEYS).try_for_each(|key| writer.delete_key(name(key)))
}

/// How many steps the newest commit has taken, by its payload; for when nobody writes.
pub(crate) fn steps_of(index: &Index) -> Result<u64> {
    let inspector = index.inspect()?;
    Ok(u64::from_le_bytes(inspector.payload().try_into().expect("the payload of a step")))
}

/// Asks a snapshot for its step alone.
pub(crate) fn step_of(searcher: &Searcher) -> Result<u64, String> {
    let query = searcher.parse("id:head").map_err(|e| e.to_string())?;
    let hits = searcher.search(&query).limit(2).run().map_err(|e| e.to_string())?;
    let texts: Vec<_> = hits.hits.iter().filter_map(|hit| hit.fields.get("text")).collect();
    let step = match texts[..] {
        [text] => text.to_string().strip_prefix("step ").and_then(|step| step.parse().ok()),
        _ => None,
    };
    step.ok_or_else(|| format!("no step in {texts:?}, commit {}", searcher.generation()))
}

/// Compares all of a snapshot with what it must hold after the step that it says it is of; that step.
pub(crate) fn check(searcher: &Searcher) -> Result<u64, String> {
    let step = step_of(searcher)?;
    compare(searcher, &content(step))
        .map_err(|what| format!("commit {}, step {step}: {what}", searcher.generation()))?;
    Ok(step)
}

/// Compares all of a snapshot with what it must hold.
pub(crate) fn compare(searcher: &Searcher, expected: &Content) -> Result<(), String> {
    let mut found = vec![];
    for doc in searcher.documents() {
        let fields = doc.and_then(|doc| searcher.document(doc)).map_err(|e| e.to_string())?;
        let field = |name| fields.get(name).map(Values::to_string).unwrap_or_default();
        found.push((field("id"), field("text")));
    }
    found.sort();
    if !found.iter().map(|(key, text)| (key, text)).eq(expected) {
        let keys: Vec<_> = found.iter().map(|(key, text)| format!("{key}={text:.40}")).collect();
        return Err(format!("{} documents, not {}: {keys:?}", found.len(), expected.len()));
    }
    if searcher.n_docs() != expected.len() as u64 {
        return Err(format!("it says {} documents, not {}", searcher.n_docs(), expected.len()));
    }
    for word in ["since", "word0", "word3", "other6", "longer", "never"] {
        let n = expected.values().filter(|text| text.split(' ').any(|own| own == word)).count();
        let query = searcher.parse(word).map_err(|e| e.to_string())?;
        let count = searcher.count(&query).map_err(|e| e.to_string())?;
        if count != n as u64 {
            return Err(format!("{count} documents with {word}, not {n}"));
        }
    }
    Ok(())
}

/// A step is what it says, and the comparison sees whatever is not.
#[test]
fn the_comparison_finds_what_is_wrong() {
    let index = Index::in_memory(schema());
    let mut writer = index.writer().unwrap();
    for step in 1..=200 {
        make_a_mess(&mut writer).unwrap();
        writer.rollback().unwrap();
        take_step(&mut writer, step).unwrap();
        writer.commit().unwrap();
        writer.maintain().unwrap();
        assert_eq!(check(&index.searcher().unwrap()), Ok(step));
        assert_eq!(steps_of(&index).unwrap(), step);
    }
    let (gone, kept) = (content(200), content(199));
    let doomed = gone.keys().find(|key| *key != HEAD && kept.contains_key(*key)).unwrap();
    writer.delete_key(doomed).unwrap();
    writer.commit().unwrap();
    assert!(check(&index.searcher().unwrap()).is_err(), "a document is missing");
    put(&mut writer, doomed, &gone[doomed]).unwrap();
    writer.commit().unwrap();
    assert_eq!(check(&index.searcher().unwrap()), Ok(200));
    put(&mut writer, doomed, "another text").unwrap();
    writer.commit().unwrap();
    assert!(check(&index.searcher().unwrap()).is_err(), "a document is another");
    put(&mut writer, doomed, &gone[doomed]).unwrap();
    put(&mut writer, HEAD, "step 201").unwrap();
    writer.commit().unwrap();
    assert!(check(&index.searcher().unwrap()).is_err(), "a step was not taken");
    make_a_mess(&mut writer).unwrap();
    writer.commit().unwrap();
    assert!(check(&index.searcher().unwrap()).is_err(), "there is a mess");
}
