//! Test support: a disk that fails when told to, and loses in a crash whatever a disk may lose.
//!
//! It keeps what is durable apart from what is visible. [`SimulatedDisk::after_crash`] is the disk that
//! the machine finds after the power came back: of the names changed since the last sync any subset
//! may have survived, of the bytes written since any prefix, with a hole in it where the seed says so.
//! Linking a published file and unlinking its temporary name are two changes, as they are on disk.

use super::{
    Entry, HeldLock, Pin, Storage, StorageRead, StorageWrite, WriterLock, check_name, locked,
};
use crate::error::{Error, Result};
use std::{
    collections::{BTreeMap, HashMap},
    io,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard},
};

/// What goes wrong, and when. Calls count from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// The call fails, and those after it work again.
    Once { call: usize, kind: io::ErrorKind },
    /// The call and all after it fail.
    Forever { call: usize, kind: io::ErrorKind },
    /// The power fails before the call takes effect: nothing works any more.
    PowerCut { call: usize },
}

/// A disk for tests. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    files: Vec<SimulatedFile>,
    /// Names as programs see them, and as a crash would leave them; both lead to positions in `files`.
    visible: BTreeMap<String, usize>,
    durable: BTreeMap<String, usize>,
    /// What was done to names since they were made durable.
    changes: Vec<(String, Option<usize>)>,
    calls: Vec<&'static str>,
    fault: Option<Fault>,
    pins: HashMap<String, usize>,
    writer: bool,
}

#[derive(Clone, Debug, Default)]
struct SimulatedFile {
    visible: Vec<u8>,
    /// Bytes that a sync promised, from the start of the file.
    durable_len: usize,
    /// A sync failed: later ones promise what they do not keep, as real systems do.
    lost: bool,
}

impl SimulatedDisk {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn with_fault(self, fault: Fault) -> Self {
        self.state().fault = Some(fault);
        self
    }

    /// Takes the fault away, as when somebody deletes files from a full disk.
    pub(crate) fn repair(&self) {
        self.state().fault = None;
    }

    /// The disk as it is after the program, but not the machine, was killed: everything is visible,
    /// and no more of it durable than before. Calls count from 0 again.
    pub(crate) fn after_kill(&self) -> SimulatedDisk {
        let state = self.state();
        let survived = State {
            files: state.files.clone(),
            visible: state.visible.clone(),
            durable: state.durable.clone(),
            changes: state.changes.clone(),
            ..State::default()
        };
        SimulatedDisk { state: Arc::new(Mutex::new(survived)) }
    }

    /// What was called so far.
    pub(crate) fn calls(&self) -> Vec<&'static str> {
        self.state().calls.clone()
    }

    /// The disk after a power failure now. Seed 0 loses everything that was not synced, seed 1 nothing.
    pub(crate) fn after_crash(&self, seed: u64) -> SimulatedDisk {
        let state = self.state();
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut decide = |of: usize| match seed {
            0 => 0,
            1 => of - 1,
            _ => dice.below(of),
        };
        let mut names = state.durable.clone();
        for (name, file) in &state.changes {
            match (decide(2), file) {
                (0, _) => {}
                (_, Some(file)) => drop(names.insert(name.clone(), *file)),
                (_, None) => drop(names.remove(name)),
            }
        }
        let mut survive = |file: &SimulatedFile| {
            let unsynced = file.visible.len() - file.durable_len;
            let len = file.durable_len + decide(unsynced + 1);
            let mut visible = file.visible[..len].to_vec();
            if seed > 1 && len > file.durable_len && decide(3) == 0 {
                let hole = file.durable_len + decide(len - file.durable_len);
                visible[hole..].fill(0);
            }
            SimulatedFile { visible, durable_len: len, lost: false }
        };
        let files = state.files.iter().map(&mut survive).collect();
        let survived = State { files, visible: names.clone(), durable: names, ..State::default() };
        SimulatedDisk { state: Arc::new(Mutex::new(survived)) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics inside the disk")
    }

    /// Counts a call, and lets it fail where it shall.
    fn call(&self, what: &'static str, name: &str) -> Result<MutexGuard<'_, State>> {
        let mut state = self.state();
        let now = state.calls.len();
        state.calls.push(what);
        let kind = match state.fault {
            Some(Fault::Once { call, kind }) if call == now => kind,
            Some(Fault::Forever { call, kind }) if call <= now => kind,
            Some(Fault::PowerCut { call }) if call <= now => io::ErrorKind::NotConnected,
            _ => return Ok(state),
        };
        Err(Error::io(format!("simulated failure to {what}"), kind.into()).in_file(name))
    }
}

/// A small random generator, the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, of: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % of
    }
}

impl State {
    fn find(&self, what: &str, name: &str) -> Result<usize> {
        let file = self.visible.get(check_name(name)?).copied();
        file.ok_or_else(|| Error::io(what.to_owned(), io::ErrorKind::NotFound.into()).in_file(name))
    }

    fn refuse_taken(&self, what: &str, name: &str) -> Result<()> {
        match self.visible.contains_key(check_name(name)?) {
            true => {
                Err(Error::io(what.to_owned(), io::ErrorKind::AlreadyExists.into()).in_file(name))
            }
            false => Ok(()),
        }
    }

    fn set_name(&mut self, name: &str, file: Option<usize>) {
        match file {
            Some(file) => drop(self.visible.insert(name.to_owned(), file)),
            None => drop(self.visible.remove(name)),
        }
        self.changes.push((name.to_owned(), file));
    }
}

impl Storage for SimulatedDisk {
    fn create(&self, name: &str) -> Result<Box<dyn StorageWrite>> {
        let mut state = self.call("create", name)?;
        state.refuse_taken("creating", name)?;
        let file = state.files.len();
        state.files.push(SimulatedFile::default());
        state.set_name(name, Some(file));
        Ok(Box::new(SimulatedWrite { disk: self.clone(), file, name: name.to_owned() }))
    }

    fn open(&self, name: &str) -> Result<Arc<dyn StorageRead>> {
        let state = self.call("open", name)?;
        let bytes = state.files[state.find("opening", name)?].visible.clone();
        Ok(Arc::new(SimulatedRead { disk: self.clone(), bytes, name: name.to_owned() }))
    }

    fn list(&self) -> Result<Vec<Entry>> {
        let state = self.call("list", "")?;
        Ok(state.visible.keys().map(|name| Entry::new(name, true)).collect())
    }

    fn delete(&self, name: &str) -> Result<()> {
        let mut state = self.call("delete", name)?;
        state.find("deleting", name)?;
        state.set_name(name, None);
        Ok(())
    }

    fn publish(&self, from: &str, to: &str) -> Result<()> {
        let mut state = self.call("publish", to)?;
        state.refuse_taken("publishing", to)?;
        let file = state.find("publishing", from)?;
        state.set_name(to, Some(file));
        state.set_name(from, None);
        Ok(())
    }

    fn sync_names(&self) -> Result<()> {
        let mut state = self.call("sync names", "")?;
        state.durable = state.visible.clone();
        state.changes.clear();
        Ok(())
    }

    fn lock_writer(&self) -> Result<WriterLock> {
        let mut state = self.call("lock", "")?;
        if std::mem::replace(&mut state.writer, true) {
            return Err(locked(self.location(), None));
        }
        drop(state);
        Ok(WriterLock::new(SimulatedLock(self.clone())))
    }

    fn pin(&self, name: &str) -> Result<Pin> {
        let mut state = self.call("pin", name)?;
        state.find("pinning", name)?;
        *state.pins.entry(name.to_owned()).or_default() += 1;
        Ok(Pin::new(SimulatedPin(self.clone(), name.to_owned())))
    }

    fn delete_unless_pinned(&self, name: &str) -> Result<bool> {
        let mut state = self.call("delete", name)?;
        if state.pins.contains_key(name) {
            return Ok(false);
        }
        state.find("deleting", name)?;
        state.set_name(name, None);
        Ok(true)
    }

    fn location(&self) -> PathBuf {
        PathBuf::from("(simulated)")
    }
}

#[derive(Debug)]
struct SimulatedLock(SimulatedDisk);

impl HeldLock for SimulatedLock {
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

impl Drop for SimulatedLock {
    fn drop(&mut self) {
        self.0.state().writer = false;
    }
}

struct SimulatedPin(SimulatedDisk, String);

impl Drop for SimulatedPin {
    fn drop(&mut self) {
        let mut state = self.0.state();
        let pins = state.pins.remove(&self.1).unwrap_or(1);
        if pins > 1 {
            state.pins.insert(self.1.clone(), pins - 1);
        }
    }
}

#[derive(Debug)]
struct SimulatedWrite {
    disk: SimulatedDisk,
    file: usize,
    name: String,
}

impl StorageWrite for SimulatedWrite {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        match self.disk.call("write", &self.name) {
            Ok(mut state) => {
                state.files[self.file].visible.extend_from_slice(bytes);
                Ok(())
            }
            Err(error) => {
                // What fails has often done half of its work.
                let half = &bytes[..bytes.len() / 2];
                self.disk.state().files[self.file].visible.extend_from_slice(half);
                Err(error)
            }
        }
    }

    fn flush(&mut self) -> Result<()> {
        self.disk.call("flush", &self.name).map(drop)
    }

    fn sync(&mut self) -> Result<()> {
        match self.disk.call("sync", &self.name) {
            Ok(mut state) => {
                let file = &mut state.files[self.file];
                if !file.lost {
                    file.durable_len = file.visible.len();
                }
                Ok(())
            }
            Err(error) => {
                self.disk.state().files[self.file].lost = true;
                Err(error)
            }
        }
    }
}

#[derive(Debug)]
struct SimulatedRead {
    disk: SimulatedDisk,
    bytes: Vec<u8>,
    name: String,
}

impl StorageRead for SimulatedRead {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn mapped(&self) -> Option<&[u8]> {
        None
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        drop(self.disk.call("read", &self.name)?);
        let start = usize::try_from(offset).ok();
        let found = start.and_then(|start| self.bytes.get(start..start.checked_add(buffer.len())?));
        let Some(found) = found else {
            return Err(super::ends_early(self, offset, buffer.len()));
        };
        buffer.copy_from_slice(found);
        Ok(())
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulated_disk_obeys_the_contract() {
        crate::storage::tests::obeys_the_contract(&SimulatedDisk::new());
    }

    #[test]
    fn a_crash_takes_what_was_not_synced() {
        let disk = SimulatedDisk::new();
        let mut file = disk.create("a").unwrap();
        file.write_all(b"one").unwrap();
        file.sync().unwrap();
        assert!(disk.after_crash(0).open("a").is_err(), "the name was not synced");
        disk.sync_names().unwrap();
        file.write_all(b"two").unwrap();
        let content = |disk: SimulatedDisk| {
            let file = disk.open("a").unwrap();
            let mut bytes = vec![0; file.len() as usize];
            file.read_at(0, &mut bytes).unwrap();
            bytes
        };
        assert_eq!(content(disk.after_crash(0)), b"one");
        assert_eq!(content(disk.after_crash(1)), b"onetwo");
        let lens: std::collections::BTreeSet<_> =
            (2..100).map(|seed| content(disk.after_crash(seed)).len()).collect();
        assert_eq!(lens, [3, 4, 5, 6].into());
    }

    #[test]
    fn a_second_sync_does_not_bring_back_what_the_first_lost() {
        let fault = Fault::Once { call: 2, kind: io::ErrorKind::Other };
        let disk = SimulatedDisk::new().with_fault(fault);
        let mut file = disk.create("a").unwrap();
        disk.sync_names().unwrap();
        assert!(file.write_all(b"x").is_err());
        let disk = SimulatedDisk::new().with_fault(fault);
        let mut file = disk.create("a").unwrap();
        file.write_all(b"x").unwrap();
        assert!(file.sync().is_err());
        file.sync().unwrap();
        disk.sync_names().unwrap();
        assert!(disk.after_crash(0).open("a").unwrap().is_empty());
    }
}
