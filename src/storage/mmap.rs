//! Files as memory, and the part of it that is resident. It is one of four addresses of `unsafe`, beside SIMD kernels
//! and the calls for priorities and for [free memory](super::heap).

use memmap2::{Mmap, MmapOptions};
use std::ops::{Deref, Range};
use std::{fs::File, io};

/// The bytes of a mapped file.
#[derive(Debug)]
pub(super) struct MappedFile(Mmap);

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl MappedFile {
    /// Says that it will be read in any order. A hint, and a system that does not take it has other ways.
    pub(super) fn read_in_any_order(&self) {
        #[cfg(unix)]
        let _ = self.0.advise(memmap2::Advice::Random);
    }

    /// Says that some bytes will be read soon.
    pub(super) fn read_ahead(&self, bytes: Range<u64>) {
        let end = bytes.end.min(self.0.len() as u64);
        if bytes.start < end {
            // Both are within the mapping, which the address space has.
            let (start, len) = (bytes.start as usize, (end - bytes.start) as usize);
            #[cfg(unix)]
            let _ = self.0.advise_range(memmap2::Advice::WillNeed, start, len);
            #[cfg(not(unix))]
            let _ = (start, len);
        }
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

/// Number of `bytes` that are in memory now, so that reading them waits for no disk: a snapshot that is old when it is
/// told, in whole pages but for the ends. `None` if the system does not say.
///
/// Linux says of a file that the process may neither write nor owns that all of it is there (`mincore(2)`).
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a system call that no maintained crate has as a safe function")]
pub(super) fn resident(bytes: &[u8]) -> Option<u64> {
    /// Pages that are asked for at once, a byte each.
    const PAGES: usize = 4_096;
    if bytes.is_empty() {
        return Some(0);
    }
    // SAFETY: reads a constant of the system.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
    let (start, end) = (bytes.as_ptr().addr(), bytes.as_ptr().addr() + bytes.len());
    let mut pages = [0u8; PAGES];
    let mut resident = 0;
    let mut at = start - start % page;
    while at < end {
        let n = (end - at).div_ceil(page).min(PAGES);
        let first = bytes.as_ptr().with_addr(at).cast_mut().cast();
        // SAFETY: the call reads and writes nothing at `first`, which is the start of a page that holds a byte of
        // `bytes`, and so are the `n - 1` pages behind it; it writes `n` bytes to `pages`, which has as many.
        if unsafe { libc::mincore(first, n * page, pages.as_mut_ptr()) } != 0 {
            return None;
        }
        for (nth, state) in pages[..n].iter().enumerate() {
            let from = (at + nth * page).max(start);
            let to = (at + (nth + 1) * page).min(end);
            resident += (to - from) as u64 * u64::from(state & 1);
        }
        at += n * page;
    }
    Some(resident)
}

/// Always `None`, as no system call says.
#[cfg(not(target_os = "linux"))]
pub(super) fn resident(_: &[u8]) -> Option<u64> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_was_just_written_is_in_memory_and_what_nobody_touched_is_not() {
        let touched = vec![7u8; 100_000];
        assert_eq!(resident(&touched), Some(100_000));
        assert_eq!(resident(&touched[5_000..5_001]), Some(1));
        assert_eq!(resident(&[]), Some(0));
        // Zeroed memory of the system's has no pages until it is touched.
        let mut untouched = MmapOptions::new().len(64 << 20).map_anon().expect("64 MiB");
        untouched[20 << 20] = 1;
        let found = resident(&untouched).expect("Linux says");
        assert!((1..=4 << 20).contains(&found), "{found}");
    }
}
