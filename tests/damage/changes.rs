//! What goes wrong with files: bytes, bursts, sectors, lengths, and files that are exchanged.

use crate::golden::{Dice, Files};
use crate::questions::Turn;
use std::sync::Arc;

/// A sector of a disk.
const SECTOR: usize = 512;

/// One thing that goes wrong with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Change {
    Missing,
    /// The byte is another.
    Byte {
        at: usize,
        is: u8,
    },
    /// Up to 32 bits in a row are others.
    Burst {
        at: usize,
        xor: u32,
    },
    Cut(usize),
    /// So many bytes more, all alike.
    Longer(usize, u8),
    /// A sector reads as zeros.
    Zeroed(usize),
    /// Two sectors are exchanged.
    Swapped(usize, usize),
}

/// A change of one file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<'f> {
    pub(crate) file: &'f str,
    pub(crate) change: Change,
}

/// Questions are asked in so many turns.
const TURNS: usize = 4;

impl Case<'_> {
    /// Which questions are asked: of the changes of one place, and of places side by side, others.
    pub(crate) fn turn(&self) -> Turn {
        let nth = match self.change {
            Change::Byte { at, is } => at + usize::from(is) + usize::from(is >> 3),
            Change::Burst { at, .. } | Change::Cut(at) | Change::Longer(at, _) => at,
            Change::Zeroed(sector) | Change::Swapped(sector, _) => sector,
            Change::Missing => return Turn::ALL,
        };
        Turn { nth, of: TURNS }
    }

    /// The files with this one changed.
    pub(crate) fn apply(&self, files: &Files) -> Files {
        let mut files = files.clone();
        match self.change.apply(&files[self.file]) {
            Some(bytes) => files.insert(self.file.to_owned(), Arc::new(bytes)),
            None => files.remove(self.file),
        };
        files
    }
}

impl Change {
    /// The bytes afterwards; `None` where there is no file any more.
    pub(crate) fn apply(self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = bytes.to_vec();
        match self {
            Change::Missing => return None,
            Change::Byte { at, is } => bytes[at] = is,
            Change::Burst { at, xor } => {
                let changed = bytes[at..].iter_mut().zip(xor.to_le_bytes());
                changed.for_each(|(byte, xor)| *byte ^= xor);
            }
            Change::Cut(len) => bytes.truncate(len),
            Change::Longer(more, byte) => bytes.resize(bytes.len() + more, byte),
            Change::Zeroed(sector) => {
                bytes.chunks_mut(SECTOR).nth(sector).unwrap().fill(0);
            }
            Change::Swapped(a, b) => {
                let of = |sector| bytes.chunks(SECTOR).nth(sector).unwrap().to_vec();
                let (of_a, of_b) = (of(a), of(b));
                // The last sector may be short: what does not fit is left out.
                for (sector, other) in [(a, of_b), (b, of_a)] {
                    let to = bytes.chunks_mut(SECTOR).nth(sector).unwrap();
                    to.iter_mut().zip(other).for_each(|(to, from)| *to = from);
                }
            }
        }
        Some(bytes)
    }
}

/// Every byte with each of its bits changed, as 0 and as 255: all that differ from what is there.
pub(crate) fn bytes<'f>(files: &'f Files) -> Vec<Case<'f>> {
    let mut all = vec![];
    for (file, bytes) in files {
        for (at, &was) in bytes.iter().enumerate() {
            let bits = (0..8).map(|bit| was ^ 1 << bit);
            let is_bit = |is: u8| (was ^ is).is_power_of_two();
            let whole = [0, 0xFF].into_iter().filter(|is| *is != was && !is_bit(*is));
            all.extend(bits.chain(whole).map(|is| Case { file, change: Change::Byte { at, is } }));
        }
    }
    all
}

/// Every length below the whole.
pub(crate) fn cuts<'f>(files: &'f Files) -> Vec<Case<'f>> {
    let of_file = |(file, bytes): (&'f String, &Arc<Vec<u8>>)| {
        (0..bytes.len()).map(move |len| Case { file, change: Change::Cut(len) })
    };
    files.iter().flat_map(of_file).collect()
}

/// Sectors zeroed and swapped, bursts, files that are longer or missing.
pub(crate) fn coarse<'f>(files: &'f Files, dice: &mut Dice) -> Vec<Case<'f>> {
    let mut all = vec![];
    for (file, bytes) in files {
        let sectors = bytes.len().div_ceil(SECTOR);
        let mut changes = vec![Change::Missing];
        for more in [1, 2, 4, 64, 511, 512, 4_096] {
            changes.extend([0, 0xFF, b'\n'].map(|byte| Change::Longer(more, byte)));
        }
        changes.extend((0..sectors).map(Change::Zeroed));
        for a in 0..sectors {
            changes.extend([a + 1, dice.below(sectors)].map(|b| Change::Swapped(a, b % sectors)));
        }
        for _ in 0..bytes.len() / 32 {
            let xor = (dice.below(1 << 16) << 16 | dice.below(1 << 16)) as u32;
            changes.push(Change::Burst { at: dice.below(bytes.len() - 3), xor: xor | 1 });
        }
        let differs = |change: &Change| change.apply(bytes).is_none_or(|after| after != **bytes);
        all.extend(changes.into_iter().filter(differs).map(|change| Case { file, change }));
    }
    all
}

/// `n` of all cases or some more, evenly from one that follows from the seed.
pub(crate) fn sample<C: Copy>(cases: &[C], n: usize, seed: u64) -> Vec<C> {
    // Odd and no multiple of five, so that it meets all that is done to a byte.
    let mut step = (cases.len() / n.max(1)).max(1);
    while step > 1 && (step.is_multiple_of(2) || step.is_multiple_of(5)) {
        step -= 1;
    }
    cases.iter().skip(seed as usize % step).step_by(step).copied().collect()
}
