//! A disk in memory that knows what would survive a power failure, fails when told to, and keeps a
//! record of every moment.
//!
//! Programs see one disk, the medium another: bytes reach the medium for certain by a sync of their
//! file, names by a sync of the names. [`states`](crate::states) makes out of the difference what a
//! power failure may leave.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use treepie::storage::{Entry, HeldLock, Pin, Storage, StorageRead, StorageWrite, WriterLock};
use treepie::{Error, ErrorKind, Result};

/// What a name takes of a limited disk, so that creating and linking can find it full too.
const NAME_BYTES: usize = 64;

pub(crate) type Name = Arc<str>;

/// A file as programs see it, and what a sync has promised of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) bytes: Vec<u8>,
    /// Bytes from the start that are on the medium, except those that were dropped.
    pub(crate) synced: usize,
    /// Bytes that a failed sync took for written: no later one writes them.
    pub(crate) dropped: std::ops::Range<usize>,
}

/// A change of the directory that may not have reached the medium yet.
#[derive(Clone, Debug)]
pub(crate) enum NameChange {
    Link(Name, usize),
    Unlink(Name),
}

/// Everything that is on a disk at one moment. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Image {
    /// In the order of their creation; names lead to positions in here.
    pub(crate) files: Vec<Arc<File>>,
    pub(crate) visible: BTreeMap<Name, usize>,
    pub(crate) durable: BTreeMap<Name, usize>,
    /// What was done to names since they were made durable.
    pub(crate) changes: Vec<NameChange>,
}

/// Which commits may be found after a failure: none older than what was acknowledged, none newer
/// than what was begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Promise {
    pub(crate) acknowledged: u64,
    pub(crate) begun: u64,
}

/// The disk right after a call that changed it.
#[derive(Clone, Debug)]
pub(crate) struct Moment {
    pub(crate) after: String,
    pub(crate) image: Image,
    pub(crate) promise: Promise,
}

/// How a call goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// Nothing happens, and it says so.
    Fails(io::ErrorKind),
    /// It happens, and it says that it did not.
    Lies(io::ErrorKind),
    /// A write does half of its work.
    Torn(io::ErrorKind),
    /// A sync fails and takes the bytes for written, as file systems do.
    DropsPages(io::ErrorKind),
}

/// What goes wrong, and when. Calls count from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) call: usize,
    pub(crate) how: How,
    pub(crate) reach: Reach,
}

/// Which calls go wrong, beside the one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    Once,
    /// All later calls of the same kind too.
    SameKind,
    /// All later calls too, as when the disk is gone.
    Everything,
}

/// A disk. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    image: Image,
    /// Whether files are read through [`StorageRead::read_at`] alone.
    unmapped: bool,
    /// What each call was, with the kind of its file.
    calls: Vec<&'static str>,
    fault: Option<Fault>,
    quota: Option<usize>,
    moments: Option<Vec<Moment>>,
    /// Moments are kept from the fault on.
    record_after_fault: bool,
    promise: Promise,
    pins: HashMap<Name, usize>,
    writer: bool,
}

impl Disk {
    /// A disk on which `image` is found.
    pub(crate) fn of(image: Image) -> Self {
        Disk(Arc::new(Mutex::new(State { image, ..State::default() })))
    }

    /// Reads are calls, which can fail.
    pub(crate) fn unmapped(self) -> Self {
        self.state().unmapped = true;
        self
    }

    /// Lets a call go wrong, and keeps every moment from then on. `promise` is as of now.
    pub(crate) fn set_fault(&self, fault: Option<Fault>, promise: Promise) {
        let mut state = self.state();
        (state.fault, state.promise, state.record_after_fault) = (fault, promise, true);
    }

    pub(crate) fn set_quota(&self, bytes: Option<usize>) {
        self.state().quota = bytes;
    }

    /// Bytes that the files and their names take.
    pub(crate) fn used(&self) -> usize {
        self.state().image.used()
    }

    /// Keeps every moment from now on.
    pub(crate) fn record(&self, promise: Promise) {
        let mut state = self.state();
        state.promise = promise;
        state.moments = Some(vec![]);
        state.keep_moment("start", "");
    }

    pub(crate) fn take_moments(&self) -> Vec<Moment> {
        self.state().moments.take().unwrap_or_default()
    }

    /// The program begins a commit.
    pub(crate) fn begin(&self, generation: u64) {
        self.state().promise.begun = generation;
    }

    /// The program was told that a commit stands.
    pub(crate) fn acknowledge(&self, generation: u64) {
        let mut state = self.state();
        state.promise.acknowledged = generation;
        state.keep_moment("acknowledging", &generation.to_string());
    }

    pub(crate) fn promise(&self) -> Promise {
        self.state().promise
    }

    pub(crate) fn image(&self) -> Image {
        self.state().image.clone()
    }

    pub(crate) fn calls(&self) -> Vec<&'static str> {
        self.state().calls.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("nothing panics inside the disk")
    }

    /// Counts a call; an error where it shall fail without effect, else how it shall go wrong.
    fn call(&self, what: &'static str, name: &str) -> Result<(MutexGuard<'_, State>, Option<How>)> {
        let mut state = self.state();
        let now = state.calls.len();
        state.calls.push(what);
        let Some(fault) = state.fault else { return Ok((state, None)) };
        let due = match fault.reach {
            Reach::Once => fault.call == now,
            Reach::SameKind => state.calls.get(fault.call).is_some_and(|first| *first == what),
            Reach::Everything => fault.call <= now,
        };
        if due && state.record_after_fault && state.moments.is_none() {
            state.moments = Some(vec![]);
            state.keep_moment("before the failing", what);
        }
        match fault.how {
            _ if !due => Ok((state, None)),
            How::Fails(kind) => Err(failure(what, name, kind)),
            how => Ok((state, Some(how))),
        }
    }
}

fn failure(what: &str, name: &str, kind: io::ErrorKind) -> Error {
    Error::io(format!("simulated failure to {what}"), kind.into()).in_file(name)
}

/// What the caller is told once the call has taken effect.
fn told(how: Option<How>, what: &str, name: &str) -> Result<()> {
    match how {
        Some(How::Lies(kind)) => Err(failure(what, name, kind)),
        _ => Ok(()),
    }
}

impl Image {
    fn used(&self) -> usize {
        let bytes = |file: &usize| self.files[*file].bytes.len() + NAME_BYTES;
        self.visible.values().map(bytes).sum()
    }

    fn change(&mut self, change: NameChange) {
        match &change {
            NameChange::Link(name, file) => drop(self.visible.insert(name.clone(), *file)),
            NameChange::Unlink(name) => drop(self.visible.remove(name)),
        }
        self.changes.push(change);
    }

    fn find(&self, what: &str, name: &str) -> Result<usize> {
        let file = self.visible.get(name).copied();
        file.ok_or_else(|| failure(what, name, io::ErrorKind::NotFound))
    }

    fn refuse_taken(&self, what: &str, name: &str) -> Result<()> {
        match self.visible.contains_key(name) {
            true => Err(failure(what, name, io::ErrorKind::AlreadyExists)),
            false => Ok(()),
        }
    }
}

impl State {
    fn keep_moment(&mut self, what: &str, name: &str) {
        if let Some(moments) = &mut self.moments {
            let (image, promise) = (self.image.clone(), self.promise);
            moments.push(Moment { after: format!("{what} {name}"), image, promise });
        }
    }

    /// How many of `wanted` bytes there is room for.
    fn room(&self, wanted: usize) -> usize {
        self.quota.map_or(wanted, |quota| wanted.min(quota.saturating_sub(self.image.used())))
    }

    fn need_room(&self, wanted: usize, what: &str, name: &str) -> Result<()> {
        match self.room(wanted) < wanted {
            true => Err(failure(what, name, io::ErrorKind::StorageFull)),
            false => Ok(()),
        }
    }
}

impl Storage for Disk {
    fn create(&self, name: &str) -> Result<Box<dyn StorageWrite>> {
        let kinds =
            ["create segment", "create manifest", "create run", "create deletes", "create other"];
        let what = of_kind(kinds, name);
        let (mut state, how) = self.call(what, name)?;
        state.image.refuse_taken(what, name)?;
        state.need_room(NAME_BYTES, what, name)?;
        let file = state.image.files.len();
        state.image.files.push(Arc::default());
        state.image.change(NameChange::Link(name.into(), file));
        state.keep_moment(what, name);
        told(how, what, name)?;
        Ok(Box::new(Writing { disk: self.clone(), file, name: name.into() }))
    }

    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        let kinds = ["open segment", "open manifest", "open run", "open deletes", "open other"];
        let what = of_kind(kinds, name);
        let (state, _) = self.call(what, name)?;
        let file = Arc::clone(&state.image.files[state.image.find(what, name)?]);
        let (disk, mapped) = (self.clone(), !state.unmapped);
        Ok(Arc::new(Reading { disk, file, mapped, name: name.into() }))
    }

    fn list(&self) -> Result<Vec<Entry>> {
        let (state, _) = self.call("list", "")?;
        // In the order of creation: names are random, and a replay must see the same.
        let mut names: Vec<_> = state.image.visible.iter().collect();
        names.sort_by_key(|(_, file)| **file);
        Ok(names.into_iter().map(|(name, _)| Entry::new(&**name, true)).collect())
    }

    fn delete(&self, name: &str) -> Result<()> {
        let kinds =
            ["delete segment", "delete manifest", "delete run", "delete deletes", "delete other"];
        let what = of_kind(kinds, name);
        let (mut state, how) = self.call(what, name)?;
        state.image.find(what, name)?;
        state.image.change(NameChange::Unlink(name.into()));
        state.keep_moment(what, name);
        told(how, what, name)
    }

    fn publish(&self, from: &str, to: &str) -> Result<()> {
        let what = "publish";
        let (mut state, how) = self.call(what, to)?;
        state.image.refuse_taken(what, to)?;
        state.need_room(NAME_BYTES, what, to)?;
        let file = state.image.find(what, from)?;
        // Two steps, as they are on disk, so that a failure may come between them.
        state.image.change(NameChange::Link(to.into(), file));
        state.keep_moment(what, to);
        state.image.change(NameChange::Unlink(from.into()));
        state.keep_moment("publish, and unlink", from);
        told(how, what, to)
    }

    fn sync_names(&self) -> Result<()> {
        let (mut state, how) = self.call("sync names", "")?;
        state.image.durable = state.image.visible.clone();
        state.image.changes.clear();
        state.keep_moment("sync names", "");
        told(how, "sync names", "")
    }

    fn lock_writer(&self) -> Result<WriterLock> {
        let (mut state, _) = self.call("lock", "")?;
        if std::mem::replace(&mut state.writer, true) {
            return Err(Error::new(ErrorKind::Locked, "another writer holds the disk"));
        }
        drop(state);
        Ok(WriterLock::new(Held(self.clone())))
    }

    fn pin(&self, name: &str) -> Result<Pin> {
        let (mut state, _) = self.call("pin", name)?;
        state.image.find("pin", name)?;
        *state.pins.entry(name.into()).or_default() += 1;
        Ok(Pin::new(Pinned(self.clone(), name.into())))
    }

    fn delete_unless_pinned(&self, name: &str) -> Result<bool> {
        let what = "delete unless pinned";
        let (mut state, how) = self.call(what, name)?;
        if state.pins.contains_key(name) {
            return Ok(false);
        }
        state.image.find(what, name)?;
        state.image.change(NameChange::Unlink(name.into()));
        state.keep_moment(what, name);
        told(how, what, name).map(|()| true)
    }

    fn location(&self) -> PathBuf {
        PathBuf::from("(simulated)")
    }
}

/// The one of five that fits the file: segment, manifest on its way or published, run, deletes, other.
fn of_kind(kinds: [&'static str; 5], name: &str) -> &'static str {
    let starts = [["seg-"; 2], [".tmp-", "manifest-"], [".run-"; 2], ["del-"; 2]];
    let kind = starts.iter().position(|starts| starts.iter().any(|start| name.starts_with(start)));
    kinds[kind.unwrap_or(4)]
}

#[derive(Debug)]
struct Held(Disk);

impl HeldLock for Held {
    fn check(&self) -> Result<()> {
        self.0.call("check lock", "").map(drop)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.state().writer = false;
    }
}

struct Pinned(Disk, Name);

impl Drop for Pinned {
    fn drop(&mut self) {
        let mut state = self.0.state();
        let pins = state.pins.remove(&self.1).unwrap_or(1);
        if pins > 1 {
            state.pins.insert(self.1.clone(), pins - 1);
        }
    }
}

#[derive(Debug)]
struct Writing {
    disk: Disk,
    file: usize,
    name: Name,
}

impl Writing {
    fn append(&self, state: &mut State, bytes: &[u8]) {
        Arc::make_mut(&mut state.image.files[self.file]).bytes.extend_from_slice(bytes);
    }
}

impl StorageWrite for Writing {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        let kinds =
            ["write segment", "write manifest", "write run", "write deletes", "write other"];
        let what = of_kind(kinds, &self.name);
        let (mut state, how) = self.disk.call(what, &self.name)?;
        let (fits, error) = match how {
            Some(How::Torn(kind)) => (bytes.len() / 2, Some(kind)),
            _ if state.room(bytes.len()) < bytes.len() => {
                (state.room(bytes.len()), Some(io::ErrorKind::StorageFull))
            }
            _ => (bytes.len(), None),
        };
        self.append(&mut state, &bytes[..fits]);
        state.keep_moment(what, &self.name);
        match error {
            Some(kind) => Err(failure(what, &self.name, kind)),
            None => told(how, what, &self.name),
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.disk.call("flush", &self.name).map(drop)
    }

    fn sync(&mut self) -> Result<()> {
        let what = of_kind(
            ["sync segment", "sync manifest", "sync run", "sync deletes", "sync other"],
            &self.name,
        );
        let (mut state, how) = self.disk.call(what, &self.name)?;
        let file = Arc::make_mut(&mut state.image.files[self.file]);
        if let Some(How::DropsPages(kind)) = how {
            file.dropped = file.synced..file.bytes.len();
            state.keep_moment("failed sync of", &self.name);
            return Err(failure(what, &self.name, kind));
        }
        file.synced = file.bytes.len();
        state.keep_moment(what, &self.name);
        told(how, what, &self.name)
    }
}

#[derive(Debug)]
struct Reading {
    disk: Disk,
    file: Arc<File>,
    mapped: bool,
    name: Name,
}

impl StorageRead for Reading {
    fn len(&self) -> u64 {
        self.file.bytes.len() as u64
    }

    fn mapped(&self) -> Option<&[u8]> {
        self.mapped.then_some(&self.file.bytes)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let kinds = ["read segment", "read manifest", "read run", "read deletes", "read other"];
        drop(self.disk.call(of_kind(kinds, &self.name), &self.name)?);
        let found = self.file.bytes.get(offset as usize..offset as usize + buffer.len());
        let found = found.ok_or_else(|| {
            Error::new(ErrorKind::Corrupt, "reading past the end").in_file(&*self.name)
        })?;
        buffer.copy_from_slice(found);
        Ok(())
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(&*self.name)
    }
}
