//! What must hold of a disk after a failure, decided by opening the index that lies on it.

use crate::disk::{Disk, Image, Moment, Promise};
use crate::states::CrashState;
use crate::workload::{History, System, near, spot};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use treepie::{ErrorKind, Index, Searcher, Value};

/// What is wrong, in words.
pub(crate) type Verdict<T> = Result<T, String>;

/// Runs `work`; a panic in it is a failure like any other.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Verdict<T>) -> Verdict<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied());
        Err(format!("panic: {}", text.unwrap_or("without a message")))
    })
}

impl System {
    /// The commit that is found, once all of it was compared with what was written. 0 for none.
    pub(crate) fn read(&self, disk: &Disk, history: &History) -> Verdict<u64> {
        let index = match Index::options().open_storage(self.storage(disk)) {
            Ok(index) => index,
            Err(error) if error.kind() == ErrorKind::NotAnIndex => return Ok(0),
            Err(error) => return Err(format!("unreadable: {error}")),
        };
        let searcher = index.searcher().map_err(|error| format!("unreadable: {error}"))?;
        let found = searcher.generation();
        let Some(titles) = history.commits.get(found as usize) else {
            return Err(format!("found commit {found}, which nobody began"));
        };
        compare(&searcher, titles, self.ordered)
            .map_err(|what| format!("commit {found}: {what}"))?;
        Ok(found)
    }

    /// Every commit that is left must be whole, so that there is one to go back to.
    fn read_older(&self, disk: &Disk, history: &History) -> Verdict<()> {
        let image = disk.image();
        let manifests = image.visible.keys().filter(|name| name.starts_with("manifest-"));
        for newest in manifests.skip(1).cloned().collect::<Vec<_>>() {
            let mut older = image.clone();
            older.visible.retain(|name, _| !name.starts_with("manifest-") || *name < newest);
            self.read(&Disk::of(older), history)
                .map_err(|what| format!("going back to before {newest}: {what}"))?;
        }
        Ok(())
    }

    /// A state must be exactly one commit of those that are possible.
    pub(crate) fn check(
        &self,
        state: &CrashState,
        history: &History,
        promise: Promise,
    ) -> Verdict<u64> {
        let disk = Disk::of(state.image());
        let found = guarded(|| self.read(&disk, history))?;
        let Promise { acknowledged, begun } = promise;
        if found < acknowledged {
            return Err(format!("lost: found commit {found}, and {acknowledged} was acknowledged"));
        }
        if found > begun {
            return Err(format!("found commit {found}, and {begun} was the last that was begun"));
        }
        guarded(|| self.read_older(&disk, history))?;
        Ok(found)
    }

    /// The next writer finds the commit, makes another, and leaves nothing but what two commits need.
    pub(crate) fn goes_on(&self, image: Image, found: u64, history: &History) -> Verdict<()> {
        let disk = Disk::of(image);
        let mut history = history.up_to(found);
        guarded(|| {
            let committed = self.add_and_commit(&disk, &mut history, 2, 10);
            committed.map_err(|error| format!("the next commit fails: {error}"))
        })?;
        let again = guarded(|| self.read(&disk, &history))?;
        if again != found + 1 {
            return Err(format!("found commit {again} after committing {}", found + 1));
        }
        guarded(|| self.read_older(&disk, &history))?;
        self.assert_no_litter(&disk)
    }

    fn assert_no_litter(&self, disk: &Disk) -> Verdict<()> {
        let mut image = disk.image();
        let mut needed = vec![];
        for _ in 0..2 {
            let index = Index::options().open_storage(self.storage(&Disk::of(image.clone())));
            let Ok(index) = index else { break };
            let inspector = index.inspect().map_err(|error| error.to_string())?;
            for segment in inspector.segments() {
                let files = [Some(segment.path), segment.deletes_path].into_iter().flatten();
                let names = files.filter_map(|file| Some(file.file_name()?.to_str()?.to_owned()));
                needed.extend(names);
            }
            let newest = image.visible.keys().rfind(|name| name.starts_with("manifest-")).cloned();
            let newest = newest.ok_or("an index without a manifest")?;
            image.visible.remove(&newest);
            needed.push(newest.to_string());
        }
        let names = disk.image().visible;
        match names.keys().find(|name| !needed.iter().any(|needed| **needed == ***name)) {
            Some(litter) => Err(format!("{litter} was left behind")),
            None => Ok(()),
        }
    }
}

/// Compares all documents, in the order in which they were added, or whatever it is.
fn compare(searcher: &Searcher, titles: &[Arc<str>], in_another_order: bool) -> Verdict<()> {
    let failed = |error: treepie::Error| error.to_string();
    let expect = |what: &str, expected: u64, found: u64| match expected == found {
        true => Ok(()),
        false => Err(format!("{what}: expected {expected}, found {found}")),
    };
    expect("documents", titles.len() as u64, searcher.n_docs())?;
    let count = |text: &str| searcher.count(&searcher.parse(text)?);
    expect("count of all", titles.len() as u64, count("all").map_err(failed)?)?;
    // A word of the newest documents, which only their commit has.
    if let Some(word) = titles.last().and_then(|title| title.split(' ').nth(1)) {
        let expected = titles.iter().filter(|title| title.split(' ').any(|other| other == word));
        let found = count(word).map_err(failed)?;
        expect(&format!("count of {word}"), expected.count() as u64, found)?;
    }
    let docs: Vec<_> = searcher.documents().collect::<Result<_, _>>().map_err(failed)?;
    expect("documents one by one", titles.len() as u64, docs.len() as u64)?;
    let mut found = vec![];
    for doc in &docs {
        let fields = searcher.document(*doc).map_err(failed)?;
        let title = fields["title"].to_string();
        let vectors = fields.get("near").map_or(&[][..], |vectors| vectors.as_slice());
        if vectors != [Value::from(near(&title))] {
            return Err(format!("document {doc} {title:?}: another vector, {vectors:?}"));
        }
        let points = fields.get("spot").map_or(&[][..], |points| points.as_slice());
        if points != [Value::from(spot(&title))] {
            return Err(format!("document {doc} {title:?}: another point, {points:?}"));
        }
        found.push(title);
    }
    let mut titles = titles.to_vec();
    if in_another_order {
        found.sort();
        titles.sort();
    }
    for ((doc, found), title) in docs.iter().zip(found).zip(titles) {
        if found != *title {
            return Err(format!("document {doc}: expected {title:?}, found {found:?}"));
        }
    }
    Ok(())
}

/// Everything that is needed to see a failure again.
pub(crate) fn describe(seed: u64, moment: &Moment, state: &CrashState, what: &str) -> String {
    let names: Vec<_> = state
        .names
        .iter()
        .map(|(name, file)| format!("{name} of {} bytes", file.bytes.len()))
        .collect();
    format!(
        "seed {seed}, power failure after {}, {:?}, choices {:?}: {what}\n  on the disk: {}",
        moment.after,
        moment.promise,
        state.choices,
        names.join(", ")
    )
}
