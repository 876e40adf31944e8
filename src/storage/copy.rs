//! Files piece by piece: copied, and compared.

use super::{StorageRead, StorageWrite};
use crate::error::Result;

/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;

/// Appends a whole file to another, which is durable then.
pub(crate) fn copy(from: &dyn StorageRead, to: &mut dyn StorageWrite) -> Result<()> {
    let mut piece = vec![];
    for at in (0..from.len()).step_by(PIECE) {
        read_piece(from, at, &mut piece)?;
        to.write_all(&piece)?;
    }
    to.sync()
}

/// Whether two files have the same bytes.
pub(crate) fn are_equal(a: &dyn StorageRead, b: &dyn StorageRead) -> Result<bool> {
    if a.len() != b.len() {
        return Ok(false);
    }
    let (mut of_a, mut of_b) = (vec![], vec![]);
    for at in (0..a.len()).step_by(PIECE) {
        read_piece(a, at, &mut of_a)?;
        read_piece(b, at, &mut of_b)?;
        if of_a != of_b {
            return Ok(false);
        }
    }
    Ok(true)
}

fn read_piece(file: &dyn StorageRead, at: u64, piece: &mut Vec<u8>) -> Result<()> {
    let len = (file.len() - at).min(PIECE as u64) as usize;
    piece.resize(len, 0);
    file.read_at(at, piece)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{MemoryStorage, Storage};

    #[test]
    fn copies_are_equal_and_what_differs_anywhere_is_not() {
        let storage = MemoryStorage::new();
        let write = |name: &str, bytes: &[u8]| {
            storage.create(name).unwrap().write_all(bytes).unwrap();
            storage.open(name).unwrap()
        };
        for len in [0, 1, PIECE - 1, PIECE, 2 * PIECE + 7] {
            let bytes: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
            let original = write(&format!("{len}"), &bytes);
            let mut copied = storage.create(&format!("copy of {len}")).unwrap();
            copy(&*original, &mut *copied).unwrap();
            let copied = storage.open(&format!("copy of {len}")).unwrap();
            assert!(are_equal(&*original, &*copied).unwrap(), "{len}");
            let longer = write(&format!("longer {len}"), &[&bytes[..], b"x"].concat());
            assert!(!are_equal(&*original, &*longer).unwrap(), "{len}");
            if let Some(last) = bytes.len().checked_sub(1) {
                let mut other = bytes.clone();
                other[last] ^= 1;
                let other = write(&format!("other {len}"), &other);
                assert!(!are_equal(&*original, &*other).unwrap(), "{len}");
            }
        }
    }
}
