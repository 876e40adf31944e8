//! What a power failure may leave on a disk.
//!
//! Of the names changed since they were synced, a prefix has survived (a journal that keeps the
//! order) or any subset (file systems that promise nothing). Of a file, everything that was synced;
//! of the bytes behind that, its length ends at any sector, and each sector below is there, or
//! reads as zeros, or as what lay there before.
//!
//! Few states are enumerated all. Of many, the corners and a sample are, drawn by a seed.

use crate::disk::{File, Image, Name, NameChange};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes that reach the medium together, or not.
const SECTOR: usize = 512;
/// Fates of a sector.
const KEPT: usize = 0;
const ZEROS: usize = 1;
const STALE: usize = 2;

/// What the file system promises of names that were not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameOrder {
    /// Changes survive in their order: a prefix of them is there.
    Journaled,
    /// Any of them may be there without any other.
    Any,
}

/// A small random generator, the same on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, of: usize) -> usize {
        (self.next() >> 33) as usize % of
    }
}

/// One state of the medium: names and files, all durable now.
#[derive(Clone, Debug)]
pub(crate) struct CrashState {
    pub(crate) names: BTreeMap<Name, Arc<File>>,
    /// The choices that led to it, for whoever wants to see it again.
    pub(crate) choices: Vec<usize>,
}

impl CrashState {
    /// A disk with nothing else on it.
    pub(crate) fn image(&self) -> Image {
        let files = self.names.values().cloned().collect();
        let visible: BTreeMap<Name, usize> = self.names.keys().cloned().zip(0..).collect();
        Image { files, durable: visible.clone(), visible, changes: vec![] }
    }

    /// Equal for states that nobody can tell apart.
    pub(crate) fn hash(&self) -> u64 {
        hash_files(self.names.iter().map(|(name, file)| (name, &**file)))
    }

    /// Names in a form in which two runs of the same program agree.
    pub(crate) fn shape(&self) -> u64 {
        let kind = |(name, file): (&Name, &Arc<File>)| {
            let kind = name.split_once('-').map_or(&**name, |(kind, rest)| match kind {
                "manifest" => rest,
                kind => kind,
            });
            mix(hash_bytes(file.bytes.is_empty().into(), kind.as_bytes()))
        };
        self.names.iter().map(kind).fold(0, u64::wrapping_add)
    }
}

/// The same for what programs see.
pub(crate) fn hash_visible(image: &Image) -> u64 {
    hash_files(image.visible.iter().map(|(name, file)| (name, &*image.files[*file])))
}

/// Names on their way are random and count as one; so this is a sum, for which no order is of account.
fn hash_files<'f>(files: impl Iterator<Item = (&'f Name, &'f File)>) -> u64 {
    let of_name = |name: &Name| match name.split_once('-') {
        Some((".tmp", _)) => hash_bytes(0, b".tmp"),
        _ => hash_bytes(0, name.as_bytes()),
    };
    let of = |(name, file): (&Name, &File)| mix(hash_bytes(of_name(name), &file.bytes));
    files.map(of).fold(0, u64::wrapping_add)
}

fn mix(mut hash: u64) -> u64 {
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    hash ^ (hash >> 32)
}

fn hash_bytes(seed: u64, bytes: &[u8]) -> u64 {
    let mut hash = mix(seed ^ bytes.len() as u64);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        hash ^= hash >> 29;
    }
    hash
}

/// The files of which something may be lost, and how many ways there are.
struct Space<'i> {
    image: &'i Image,
    order: NameOrder,
    /// File and number of its sectors that are not certain.
    uncertain: Vec<(usize, usize)>,
    /// How many fates each choice has: names first, then for each file its length and its sectors.
    radices: Vec<usize>,
}

impl<'i> Space<'i> {
    fn new(image: &'i Image, order: NameOrder) -> Self {
        let mut radices = match order {
            NameOrder::Journaled => vec![image.changes.len() + 1],
            NameOrder::Any => vec![2; image.changes.len()],
        };
        let linked = image.changes.iter().filter_map(|change| match change {
            NameChange::Link(_, file) => Some(file),
            NameChange::Unlink(_) => None,
        });
        let mut reachable: Vec<usize> = image.durable.values().chain(linked).copied().collect();
        reachable.sort_unstable();
        reachable.dedup();
        let mut uncertain = vec![];
        for at in reachable {
            let file = &image.files[at];
            let from = if file.dropped.is_empty() { file.synced } else { file.dropped.start };
            let sectors = file.bytes.len().div_ceil(SECTOR) - from / SECTOR;
            if sectors > 0 && file.bytes.len() > from {
                uncertain.push((at, sectors));
                // A length that was synced is certain, even where the bytes were dropped.
                let lengths = if file.synced == file.bytes.len() { 1 } else { sectors + 1 };
                radices.push(lengths);
                radices.extend(std::iter::repeat_n(3, sectors));
            }
        }
        Space { image, order, uncertain, radices }
    }

    fn n_names(&self) -> usize {
        match self.order {
            NameOrder::Journaled => 1,
            NameOrder::Any => self.image.changes.len(),
        }
    }

    fn size(&self) -> f64 {
        self.radices.iter().map(|radix| *radix as f64).product()
    }

    /// Choices where names, lengths and sectors each have one fate.
    fn corner(&self, names: bool, lengths: bool, sector: usize) -> Vec<usize> {
        let last = |radix: usize, on: bool| if on { radix - 1 } else { 0 };
        let (of_names, of_files) = self.radices.split_at(self.n_names());
        let mut choices: Vec<usize> = of_names.iter().map(|radix| last(*radix, names)).collect();
        let mut of_files = of_files.iter();
        for (_, sectors) in &self.uncertain {
            choices.push(last(*of_files.next().expect("a length for each file"), lengths));
            choices.extend(of_files.by_ref().take(*sectors).map(|_| sector));
        }
        choices
    }

    /// Choices at random, with all shades between nothing and everything.
    fn sample(&self, dice: &mut Dice) -> Vec<usize> {
        let mut likely = [0; 3];
        likely.iter_mut().for_each(|likely| *likely = [0, 1, 4, 7, 8][dice.below(5)]);
        let [names, lengths, sectors] = likely;
        let (of_names, of_files) = self.radices.split_at(self.n_names());
        let mut choices = vec![];
        for radix in of_names {
            choices.push(match (self.order, dice.below(8) < names) {
                (NameOrder::Journaled, _) => dice.below(*radix),
                (NameOrder::Any, survives) => usize::from(survives),
            });
        }
        let mut of_files = of_files.iter();
        for (_, n_sectors) in &self.uncertain {
            let radix = *of_files.next().expect("a length for each file");
            choices.push(if dice.below(8) < lengths { radix - 1 } else { dice.below(radix) });
            for _ in of_files.by_ref().take(*n_sectors) {
                let kept = dice.below(8) < sectors;
                choices.push(if kept { KEPT } else { [ZEROS, STALE][dice.below(2)] });
            }
        }
        choices
    }

    fn state(&self, choices: Vec<usize>) -> CrashState {
        let (of_names, mut of_files) = choices.split_at(self.n_names());
        let mut names = self.image.durable.clone();
        for (nth, change) in self.image.changes.iter().enumerate() {
            let survives = match self.order {
                NameOrder::Journaled => nth < of_names[0],
                NameOrder::Any => of_names[nth] == 1,
            };
            match change {
                NameChange::Link(name, file) if survives => drop(names.insert(name.clone(), *file)),
                NameChange::Unlink(name) if survives => drop(names.remove(name)),
                _ => {}
            }
        }
        let mut survived = BTreeMap::new();
        for (file, sectors) in &self.uncertain {
            let (of_file, rest) = of_files.split_at(1 + sectors);
            of_files = rest;
            // What no name leads to is not looked at by anybody.
            if names.values().any(|named| named == file) {
                survived.insert(*file, Arc::new(self.survivor(*file, of_file)));
            }
        }
        let file = |at: usize| {
            survived.get(&at).cloned().unwrap_or_else(|| Arc::clone(&self.image.files[at]))
        };
        let names = names.into_iter().map(|(name, at)| (name, file(at))).collect();
        CrashState { names, choices }
    }

    fn survivor(&self, at: usize, choices: &[usize]) -> File {
        let file = &self.image.files[at];
        let from = if file.dropped.is_empty() { file.synced } else { file.dropped.start };
        let certain_len = file.synced == file.bytes.len();
        let first = from / SECTOR;
        let len = match choices[0] {
            _ if certain_len => file.bytes.len(),
            0 => file.synced,
            sectors => file.bytes.len().min((first + sectors) * SECTOR).max(file.synced),
        };
        let mut bytes = file.bytes[..len].to_vec();
        for (nth, fate) in choices[1..].iter().enumerate() {
            let sector = (first + nth) * SECTOR;
            let lost = sector.max(from).min(len)..(sector + SECTOR).min(len);
            match *fate {
                _ if lost.is_empty() => {}
                KEPT => {}
                ZEROS => bytes[lost].fill(0),
                _ => self.put_stale(at, lost, &mut bytes),
            }
        }
        File { synced: bytes.len(), bytes, dropped: 0..0 }
    }

    /// What lay there before: the bytes of an older file of about the same content, else noise.
    fn put_stale(&self, at: usize, lost: std::ops::Range<usize>, bytes: &mut [u8]) {
        let similar = |file: &&Arc<File>| {
            file.bytes.len() >= lost.end
                && file.bytes.get(..16) == self.image.files[at].bytes.get(..16)
        };
        match self.image.files[..at].iter().rev().find(similar) {
            Some(older) => bytes[lost.clone()].copy_from_slice(&older.bytes[lost]),
            None => {
                let mut noise = Dice::new(lost.start as u64 + 1);
                bytes[lost].iter_mut().for_each(|byte| *byte = noise.next() as u8);
            }
        }
    }
}

/// Calls `visit` with at most about `budget` states that a power failure may leave of `image`.
pub(crate) fn for_each(
    image: &Image,
    order: NameOrder,
    budget: usize,
    dice: &mut Dice,
    mut visit: impl FnMut(CrashState),
) {
    let space = Space::new(image, order);
    if space.size() <= budget as f64 {
        let mut choices = vec![0; space.radices.len()];
        loop {
            visit(space.state(choices.clone()));
            let Some(at) = (0..choices.len()).find(|&at| choices[at] + 1 < space.radices[at])
            else {
                return;
            };
            choices[at] += 1;
            choices[..at].fill(0);
        }
    }
    for names in [false, true] {
        visit(space.state(space.corner(names, false, KEPT)));
        for sector in [KEPT, ZEROS, STALE] {
            visit(space.state(space.corner(names, true, sector)));
        }
    }
    for _ in 8..budget.max(8) {
        visit(space.state(space.sample(dice)));
    }
}

#[test]
fn what_was_not_synced_may_be_lost_and_nothing_else() {
    use crate::disk::Disk;
    use std::collections::BTreeSet;
    use treepie::storage::Storage;

    let disk = Disk::default();
    let mut file = disk.create("a").unwrap();
    file.write_all(&[7; 500]).unwrap();
    file.sync().unwrap();
    disk.sync_names().unwrap();
    file.write_all(&[8; 100]).unwrap();
    disk.create("b").unwrap();
    disk.publish("b", "c").unwrap();
    let left = |order| {
        let (mut names, mut contents) = (BTreeSet::new(), BTreeSet::new());
        for_each(&disk.image(), order, 1_000, &mut Dice::new(1), |state| {
            names.insert(state.names.keys().map(|name| name.to_string()).collect::<String>());
            let bytes = &state.names["a"].bytes;
            assert_eq!(bytes[..500], [7; 500], "what was synced stays");
            // The 100 bytes lie in two sectors.
            let kinds = [500, 511, 512, 599].map(|at| match bytes.get(at) {
                None => '-',
                Some(0) => '0',
                Some(8) => '8',
                Some(_) => '?',
            });
            contents.insert((bytes.len(), String::from_iter([kinds[0], kinds[2]])));
        });
        (names, contents)
    };
    let (names, contents) = left(NameOrder::Journaled);
    assert_eq!(names, ["a", "ab", "abc", "ac"].map(String::from).into());
    let expected = [
        (500, "--"),
        (512, "8-"),
        (512, "0-"),
        (512, "?-"),
        (600, "88"),
        (600, "80"),
        (600, "8?"),
        (600, "08"),
        (600, "00"),
        (600, "0?"),
        (600, "?8"),
        (600, "?0"),
        (600, "??"),
    ];
    assert_eq!(contents, expected.map(|(len, kinds)| (len, kinds.to_owned())).into());
    let (names, same) = left(NameOrder::Any);
    assert_eq!(names, ["a", "ab", "abc", "ac"].map(String::from).into());
    assert_eq!(same, contents);
    disk.sync_names().unwrap();
    let (names, _) = left(NameOrder::Any);
    assert_eq!(names, ["ac".to_owned()].into());
}

#[test]
fn pages_that_a_failed_sync_dropped_do_not_come_back() {
    use crate::disk::{Disk, Fault, How, Promise, Reach};
    use treepie::storage::Storage;

    let disk = Disk::default();
    let mut file = disk.create("a").unwrap();
    disk.sync_names().unwrap();
    file.write_all(&[7; 10]).unwrap();
    let how = How::DropsPages(std::io::ErrorKind::Other);
    let fault = Fault { call: disk.calls().len(), how, reach: Reach::Once };
    disk.set_fault(Some(fault), Promise::default());
    file.sync().unwrap_err();
    file.sync().unwrap();
    let mut lost = 0;
    for_each(&disk.image(), NameOrder::Any, 100, &mut Dice::new(1), |state| {
        assert_eq!(state.names["a"].bytes.len(), 10);
        lost += usize::from(state.names["a"].bytes != [7; 10]);
    });
    assert_eq!(lost, 2, "zeros, or what lay there");
}
