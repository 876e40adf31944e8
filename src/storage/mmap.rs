//! A file as memory: one of three addresses of `unsafe`, beside SIMD kernels and the system call for priorities.

use memmap2::{Mmap, MmapOptions};
use std::{fs::File, io, ops::Deref};

/// The bytes of a mapped file.
#[derive(Debug)]
pub(super) struct MappedFile(Mmap);

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Maps the first `len` bytes of `file` for reading. Fails where `len` does not fit the address space.
///
/// `len` must be what the file holds now: bytes past its end would be a signal, not an error, so
/// the caller compares lengths first.
#[expect(unsafe_code, reason = "a mapping changes when its file does, which no type can rule out")]
pub(super) fn map(file: &File, len: u64) -> io::Result<MappedFile> {
    let len = usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    // SAFETY: the mapped bytes must not change while they are borrowed. We never write to a file
    // again once it has the name under which it is opened (`Storage` has no call that could), and
    // deleting or replacing a name leaves the mapping as it is. Another program that overwrites or
    // cuts our files in place can break this; that is said where mapping is chosen (`ReadMode::Mmap`),
    // and `ReadMode::Pread` is the way to read files that others may change.
    unsafe { MmapOptions::new().len(len).map(file) }.map(MappedFile)
}
