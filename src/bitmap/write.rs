//! Writing lists: straight from ascending ids, or from containers. Each container takes the kind
//! that its values say, so the same set always gives the same bytes.

use super::buffer::{ARRAY_MAX, ContainerBuf};
use super::container::{Container, ContainerKind};
use super::header::{BITMAP_LEN, COOKIE_NO_RUNS, COOKIE_RUNS, HeaderLayout};
use super::runs::{Runs, run_bytes};
use super::words;
use crate::bytes::put_at;
use std::ops::Range;

/// Appends the list of strictly ascending `docs` to `out`, in the portable format. About 1 to 2 ns per value.
///
/// # Panics
///
/// Panics if `docs` is not strictly ascending.
///
/// ```
/// use treepie::bitmap::{RoaringView, write_sorted};
///
/// let mut bytes = vec![];
/// write_sorted(&[3, 5, 70_000], &mut bytes);
/// let list = RoaringView::new(&bytes)?;
/// assert_eq!(list.iter().collect::<Vec<u32>>(), [3, 5, 70_000]);
/// # Ok::<(), treepie::Error>(())
/// ```
pub fn write_sorted(docs: &[u32], out: &mut Vec<u8>) {
    assert!(docs.is_sorted_by(|a, b| a < b), "ids must be strictly ascending");
    let (mut n_containers, mut has_runs) = (0, false);
    for (_, docs) in by_key(docs) {
        n_containers += 1;
        has_runs |= kind_for(docs.len() as u32, n_runs(docs)) == ContainerKind::Run;
    }
    let mut head = HeadWriter::new(n_containers, has_runs, out);
    for (key, docs) in by_key(docs) {
        let n_runs = n_runs(docs);
        let kind = kind_for(docs.len() as u32, n_runs);
        head.describe(key, docs.len() as u32, kind, out);
        match kind {
            ContainerKind::Array => {
                let start = out.len();
                out.resize(start + 2 * docs.len(), 0);
                let values = out.get_mut(start..).unwrap_or_default().as_chunks_mut().0;
                for (value, doc) in values.iter_mut().zip(docs) {
                    *value = (*doc as u16).to_le_bytes();
                }
            }
            ContainerKind::Bitmap => {
                let mut words = words::EMPTY;
                docs.iter().for_each(|&doc| words::insert(&mut words, doc as u16));
                out.extend_from_slice(words.as_flattened());
            }
            ContainerKind::Run => {
                out.extend((n_runs as u16).to_le_bytes());
                for run in docs.chunk_by(|a, b| a + 1 == *b) {
                    let start = run.first().map_or(0, |first| first & 0xFFFF);
                    out.extend(run_bytes(start..start + run.len() as u32));
                }
            }
        }
    }
}

/// The stretches of ascending `docs` that share their upper 16 bits.
fn by_key(docs: &[u32]) -> impl Iterator<Item = (u16, &[u32])> {
    let mut rest = docs;
    std::iter::from_fn(move || {
        let key = (rest.first()? >> 16) as u16;
        let stretch;
        (stretch, rest) = rest.split_at(rest.partition_point(|doc| (doc >> 16) as u16 <= key));
        Some((key, stretch))
    })
}

fn n_runs(docs: &[u32]) -> u32 {
    let next = docs.get(1..).unwrap_or_default();
    docs.iter().zip(next).filter(|(doc, next)| *doc + 1 != **next).count() as u32 + 1
}

/// Values of a run at the mean, at the least, where the alternative is an array: what meets runs takes some 10 ns for each of
/// them, and what meets an array a few tenths for each value.
const RUN_VALUES_MIN: usize = 32;
/// Runs of a container at the most where the alternative is a bitmap, which meets another in some 60 ns.
const RUNS_MAX: usize = 16;

/// The kind that takes the fewest bytes, but runs only where they take fewer than the others and meet containers of other kinds as
/// fast.
fn kind_for(cardinality: u32, n_runs: u32) -> ContainerKind {
    let (cardinality, n_runs) = (cardinality as usize, n_runs as usize);
    let (kind, len, runs_max) = if cardinality <= ARRAY_MAX {
        (ContainerKind::Array, 2 * cardinality, cardinality / RUN_VALUES_MIN)
    } else {
        (ContainerKind::Bitmap, BITMAP_LEN, RUNS_MAX)
    };
    if 2 + 4 * n_runs < len && n_runs <= runs_max.max(1) { ContainerKind::Run } else { kind }
}

/// Appends a list of containers, given with ascending keys, to `out`.
///
/// Each is in the kind that suits it, and empty ones are left out. Buffers what the containers hold once, because the
/// head comes first.
///
/// # Panics
///
/// Panics if the keys are not strictly ascending.
///
/// ```
/// use treepie::bitmap::{Container, RoaringView, write_containers};
///
/// let mut bytes = vec![];
/// let containers = [(0, Container::Array(&[[3, 0], [5, 0]])), (7, Container::Run(&[[0, 0, 0, 0]]))];
/// write_containers(containers, &mut bytes);
/// assert_eq!(RoaringView::new(&bytes)?.iter().collect::<Vec<u32>>(), [3, 5, 7 << 16]);
/// # Ok::<(), treepie::Error>(())
/// ```
pub fn write_containers<'c>(
    containers: impl IntoIterator<Item = (u16, Container<'c>)>,
    out: &mut Vec<u8>,
) {
    let mut builder = ListBuilder::default();
    for (key, container) in containers {
        builder.push(key, container);
    }
    builder.write(out);
}

/// Collects containers in the order of their keys.
#[derive(Debug, Default)]
pub(super) struct ListBuilder {
    descriptions: Vec<Description>,
    payloads: Vec<u8>,
}

#[derive(Debug)]
struct Description {
    key: u16,
    cardinality: u32,
    kind: ContainerKind,
    /// End of its bytes in `payloads`.
    end: usize,
}

impl ListBuilder {
    pub(super) fn push(&mut self, key: u16, container: Container<'_>) {
        match container {
            Container::Array(values) if values.len() > ARRAY_MAX => {
                let mut buffer = ContainerBuf::new();
                buffer.set(container);
                return self.push(key, buffer.as_container());
            }
            _ => {}
        }
        let last = self.descriptions.last().map(|last| last.key);
        assert!(last < Some(key), "keys must be strictly ascending");
        let cardinality = container.cardinality();
        if cardinality == 0 {
            return;
        }
        let n_runs = match container {
            Container::Bitmap(words) => words::n_runs(words),
            Container::Array(values) => n_runs_in_array(values),
            Container::Run(_) => runs_of(container).count() as u32,
        };
        let kind = kind_for(cardinality, n_runs);
        match (kind, container) {
            (ContainerKind::Array, Container::Array(values)) => {
                self.payloads.extend_from_slice(values.as_flattened());
            }
            (ContainerKind::Bitmap, Container::Bitmap(words)) => {
                self.payloads.extend_from_slice(words.as_flattened());
            }
            (ContainerKind::Array, _) => {
                self.payloads.extend(container.iter().flat_map(u16::to_le_bytes));
            }
            (ContainerKind::Bitmap, _) => {
                let mut buffer = ContainerBuf::new();
                buffer.set_words(container);
                if let Container::Bitmap(words) = buffer.as_container() {
                    self.payloads.extend_from_slice(words.as_flattened());
                }
            }
            (ContainerKind::Run, _) => {
                self.payloads.extend((n_runs as u16).to_le_bytes());
                self.payloads.extend(runs_of(container).flat_map(run_bytes));
            }
        }
        self.descriptions.push(Description { key, cardinality, kind, end: self.payloads.len() });
    }

    /// Number of values that the containers hold.
    pub(super) fn cardinality(&self) -> u64 {
        self.descriptions.iter().map(|container| u64::from(container.cardinality)).sum()
    }

    #[expect(clippy::indexing_slicing, reason = "`push` has noted where what it appended ends")]
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let has_runs =
            self.descriptions.iter().any(|container| container.kind == ContainerKind::Run);
        let mut head = HeadWriter::new(self.descriptions.len(), has_runs, out);
        out.reserve(self.payloads.len());
        let mut start = 0;
        for &Description { key, cardinality, kind, end } in &self.descriptions {
            head.describe(key, cardinality, kind, out);
            out.extend_from_slice(&self.payloads[start..end]);
            start = end;
        }
    }
}

/// Number of runs that [`runs_of`] yields.
fn n_runs_in_array(values: &[[u8; 2]]) -> u32 {
    let id = |value: [u8; 2]| u32::from(u16::from_le_bytes(value));
    let next = values.get(1..).unwrap_or_default();
    values.iter().zip(next).filter(|(value, next)| id(**value) + 1 != id(**next)).count() as u32 + 1
}

/// The runs of consecutive values of a container, joined where they touch.
fn runs_of(container: Container<'_>) -> impl Iterator<Item = Range<u32>> {
    let (mut runs, mut values) = match container {
        Container::Run(runs) => (Some(Runs::new(runs).peekable()), None),
        _ => (None, Some(container.iter().map(u32::from).peekable())),
    };
    std::iter::from_fn(move || {
        if let Some(runs) = &mut runs {
            let mut run = runs.next()?;
            while let Some(next) = runs.next_if(|next| next.start == run.end) {
                run.end = next.end;
            }
            return Some(run);
        }
        let values = values.as_mut()?;
        let start = values.next()?;
        let mut run = start..start + 1;
        while values.next_if_eq(&run.end).is_some() {
            run.end += 1;
        }
        Some(run)
    })
}

/// Fills in the head of a list, container by container, in space set aside before the first.
struct HeadWriter {
    layout: HeaderLayout,
    /// Start of the list in the output.
    list_at: usize,
    n_described: usize,
}

impl HeadWriter {
    fn new(n_containers: usize, has_runs: bool, out: &mut Vec<u8>) -> Self {
        let layout = HeaderLayout::new(n_containers, has_runs);
        let list_at = out.len();
        if has_runs {
            out.extend(COOKIE_RUNS.to_le_bytes());
            out.extend((n_containers as u16).wrapping_sub(1).to_le_bytes());
        } else {
            out.extend(COOKIE_NO_RUNS.to_le_bytes());
            out.extend((n_containers as u32).to_le_bytes());
        }
        out.resize(list_at + layout.payloads_at, 0);
        HeadWriter { layout, list_at, n_described: 0 }
    }

    /// Describes the next container, whose bytes begin where `out` ends.
    #[expect(clippy::indexing_slicing, reason = "`new` has set the whole head aside")]
    fn describe(&mut self, key: u16, cardinality: u32, kind: ContainerKind, out: &mut [u8]) {
        let (i, offset) = (self.n_described, out.len() - self.list_at);
        let head = &mut out[self.list_at..];
        if let (Some(at), ContainerKind::Run) = (self.layout.run_marks_at, kind) {
            head[at + i / 8] |= 1 << (i % 8);
        }
        let at = self.layout.descriptions_at + 4 * i;
        put_at(head, at, key.to_le_bytes());
        put_at(head, at + 2, ((cardinality - 1) as u16).to_le_bytes());
        if let Some(at) = self.layout.offsets_at {
            // 65,536 containers of 8 KiB and their head stay below 4 GiB.
            put_at(head, at + 4 * i, (offset as u32).to_le_bytes());
        }
        self.n_described += 1;
    }
}
