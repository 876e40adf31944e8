//! Everything that matches, kept for what is counted over it.

use crate::bitmap::{ARRAY_MAX, Container, ContainerBuf, ContainerKind, WINDOW};
use crate::budget;
use crate::error::{Error, Result};
use std::ops::Range;

/// Documents from which on a window becomes a bitmap where documents are to be tested, at most a bit for each document of the
/// segment: testing one document of a posting list then costs 0.4 ns, and hundreds of lists follow.
const TESTED_BITS_FROM: u32 = 48;
const BITMAP_BYTES: usize = WINDOW as usize / 8;
/// Bytes that are reserved at the most for documents to come: as bits of 16 million.
const RESERVED_MAX: usize = 2 << 20;

/// Matches in every segment of a snapshot, in their order.
pub(crate) type Matches = Vec<DocIdSet>;

/// Matches in one segment.
#[derive(Debug)]
pub(crate) enum DocIdSet {
    /// Every document.
    Everything,
    Some(MatchWindows),
}

/// Documents by window of 65,536, as the bytes of roaring containers.
#[derive(Debug)]
pub(crate) struct MatchWindows {
    windows: Vec<MatchWindow>,
    /// For every window of the segment its place in `windows` plus one; 0 where nothing matches.
    places: Vec<u32>,
    bytes: Vec<u8>,
    pub(crate) len: u64,
}

/// The documents of one window.
#[derive(Clone, Debug)]
pub(crate) struct MatchWindow {
    pub(crate) key: u32,
    pub(crate) cardinality: u32,
    kind: ContainerKind,
    bytes: Range<usize>,
}

impl DocIdSet {
    pub(crate) fn nothing() -> Self {
        Self::with_room(0)
    }

    /// Room for documents of a segment of `n_docs`.
    pub(crate) fn with_room(n_docs: u32) -> Self {
        DocIdSet::Some(MatchWindows::with_room(n_docs))
    }

    /// Works like [`with_room`](Self::with_room), where about so many documents are to come.
    pub(crate) fn with_memory_for(n_docs: u32, n_expected: u64) -> Self {
        DocIdSet::Some(MatchWindows::with_memory_for(n_docs, n_expected))
    }

    /// Bytes of heap.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            DocIdSet::Everything => 0,
            DocIdSet::Some(MatchWindows { windows, places, bytes, .. }) => {
                let windows = windows.capacity() * size_of::<MatchWindow>();
                (windows + places.capacity() * size_of::<u32>() + bytes.capacity()) as u64
            }
        }
    }

    /// Converts the set, so that it takes little to test whether a document matches.
    pub(crate) fn to_test(&self) -> Result<DocIdSet> {
        let DocIdSet::Some(windows) = self else { return Ok(DocIdSet::Everything) };
        let mut tested = MatchWindows {
            windows: Vec::with_capacity(windows.windows.len()),
            places: windows.places.clone(),
            bytes: vec![],
            len: windows.len,
        };
        let mut bits = [[0u8; 8]; BITMAP_BYTES / 8];
        for window in &windows.windows {
            let documents = windows.documents(window);
            let as_bits =
                window.kind != ContainerKind::Bitmap && window.cardinality >= TESTED_BITS_FROM;
            tested.keep(
                window.key,
                window.cardinality,
                match as_bits {
                    false => documents,
                    true => {
                        let flat = bits.as_flattened_mut();
                        flat.fill(0);
                        documents
                            .iter()
                            .for_each(|low| flat[usize::from(low / 8)] |= 1 << (low % 8));
                        Container::Bitmap(&bits)
                    }
                },
            )?;
        }
        Ok(DocIdSet::Some(tested))
    }

    /// Matches among a segment's `n_docs` documents, from one of them on, ascending; an error if it does not have all.
    pub(crate) fn documents_from(
        &self,
        start: u32,
        n_docs: u32,
    ) -> Result<impl Iterator<Item = u32>> {
        let (all, windows) = match self {
            DocIdSet::Everything => (start..n_docs, None),
            DocIdSet::Some(windows) => (0..0, Some(windows)),
        };
        if let Some((windows, last)) = windows.and_then(|it| Some((it, it.windows.last()?))) {
            check_inside(last.key, windows.documents(last), n_docs)?;
        }
        Ok(all.chain(windows.into_iter().flat_map(move |windows| windows.documents_from(start))))
    }

    /// Number of matches among a segment's `n_docs` documents.
    pub(crate) fn len(&self, n_docs: u32) -> u64 {
        match self {
            DocIdSet::Everything => u64::from(n_docs),
            DocIdSet::Some(windows) => windows.len,
        }
    }
}

impl MatchWindows {
    /// None yet, of a segment of `n_docs`.
    pub(crate) fn with_room(n_docs: u32) -> Self {
        let places = vec![0; n_docs.div_ceil(WINDOW) as usize];
        MatchWindows { windows: vec![], places, bytes: vec![], len: 0 }
    }

    /// None yet, of a segment of `n_docs`, with memory for about so many: they are not moved while they come. Both numbers may be lies of
    /// a damaged file, so there is an end to it.
    fn with_memory_for(n_docs: u32, n_expected: u64) -> Self {
        let n_windows = n_docs.div_ceil(WINDOW) as usize;
        let n_expected = usize::try_from(n_expected).unwrap_or(usize::MAX);
        let bytes = n_expected.saturating_mul(size_of::<u16>());
        let of_bitmaps = n_windows * BITMAP_BYTES;
        // Windows have about as many each, and from half as many bytes on some are bitmaps.
        let bytes = if bytes > of_bitmaps / 2 { of_bitmaps } else { bytes };
        MatchWindows {
            windows: Vec::with_capacity(n_windows.min(n_expected).min(RESERVED_MAX / BITMAP_BYTES)),
            bytes: Vec::with_capacity(bytes.min(RESERVED_MAX)),
            ..Self::with_room(n_docs)
        }
    }

    /// Set of these documents of a segment of `n_docs`, which ascend.
    pub(crate) fn of_documents(n_docs: u32, docs: &[u32]) -> Result<Self> {
        let (mut windows, mut values) = (Self::with_room(n_docs), vec![]);
        for docs in docs.chunk_by(|a, b| a / WINDOW == b / WINDOW) {
            let key = docs.first().map_or(0, |doc| doc / WINDOW);
            if docs.len() > ARRAY_MAX {
                let mut of_window = ContainerBuf::new();
                of_window.set_sorted(docs.iter().map(|doc| *doc as u16));
                windows.push(key, of_window.cardinality(), of_window.as_container())?;
                continue;
            }
            values.clear();
            values.extend(docs.iter().map(|doc| (*doc as u16).to_le_bytes()));
            windows.push(key, docs.len() as u32, Container::Array(&values))?;
        }
        Ok(windows)
    }

    /// Adds window `key`; windows come in ascending order, each at most once.
    pub(crate) fn push(
        &mut self,
        key: u32,
        cardinality: u32,
        documents: Container<'_>,
    ) -> Result<()> {
        let Some(place) = self.places.get_mut(key as usize).filter(|_| cardinality > 0) else {
            return Ok(());
        };
        *place = self.windows.len() as u32 + 1;
        self.len += u64::from(cardinality);
        self.keep(key, cardinality, documents)
    }

    fn keep(&mut self, key: u32, cardinality: u32, documents: Container<'_>) -> Result<()> {
        let bytes = match documents {
            Container::Bitmap(words) => words.as_flattened(),
            Container::Array(values) => values.as_flattened(),
            Container::Run(runs) => runs.as_flattened(),
        };
        budget::hold((size_of::<MatchWindow>() + bytes.len()) as u64)?;
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let bytes = start..self.bytes.len();
        self.windows.push(MatchWindow { key, cardinality, kind: documents.kind(), bytes });
        Ok(())
    }

    /// The windows where something matches, ascending.
    pub(crate) fn windows(&self) -> &[MatchWindow] {
        &self.windows
    }

    /// The documents of one of the [`windows`](Self::windows).
    #[inline]
    pub(crate) fn documents(&self, window: &MatchWindow) -> Container<'_> {
        Container::of_bytes(window.kind, &self.bytes[window.bytes.clone()])
    }

    fn documents_from(&self, start: u32) -> impl Iterator<Item = u32> {
        let before = self.windows.partition_point(|window| window.key < start / WINDOW);
        let windows = self.windows.get(before..).unwrap_or_default().iter();
        windows.flat_map(move |window| {
            let base = window.key * WINDOW;
            let lows = self.documents(window).iter_from(start.saturating_sub(base) as u16);
            lows.map(move |low| base | u32::from(low))
        })
    }

    /// The window with this number; `None` where nothing of it matches.
    #[inline]
    pub(crate) fn window(&self, key: u32) -> Option<&MatchWindow> {
        let place = self.places.get(key as usize)?.checked_sub(1)?;
        self.windows.get(place as usize)
    }

    /// Whether a document matches.
    #[inline]
    pub(crate) fn contains(&self, doc: u32) -> bool {
        let window = self.window(doc / WINDOW);
        window.is_some_and(|window| self.documents(window).contains(doc as u16))
    }
}

/// Refuses documents of a window that a segment of `n_docs` does not have.
pub(crate) fn check_inside(window: u32, documents: Container<'_>, n_docs: u32) -> Result<()> {
    let room = n_docs.saturating_sub(window << 16);
    if room <= u32::from(u16::MAX) && documents.max().is_some_and(|last| u32::from(last) >= room) {
        return Err(Error::corrupt("going through what matches with a column")
            .expected(format!("documents below {n_docs}"))
            .found("others in the last window"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_of_every_kind_are_kept() {
        let mut bits = [[0; 8]; 1024];
        bits[1] = [0xFF; 8];
        let full = Container::Run(&[[4, 0, 99, 0]]);
        let containers: [(u32, u32, Container<'_>); 4] = [
            (0, 2, Container::Array(&[[3, 0], [5, 0]])),
            (2, 64, Container::Bitmap(&bits)),
            (3, 10, Container::Run(&[[4, 0, 9, 0]])),
            (4, 100, full),
        ];
        let DocIdSet::Some(mut kept) = DocIdSet::with_room(5 * WINDOW) else { unreachable!() };
        for (key, cardinality, container) in containers {
            kept.push(key, cardinality, container).unwrap();
        }
        assert_eq!(kept.len, 176);
        let DocIdSet::Some(tested) = DocIdSet::Some(kept).to_test().unwrap() else {
            unreachable!()
        };
        let kept = tested;
        assert_eq!(kept.windows()[3].kind, ContainerKind::Bitmap, "worth a bitmap");
        for (window, (key, cardinality, container)) in kept.windows().iter().zip(containers) {
            assert_eq!((window.key, window.cardinality), (key, cardinality));
            assert!(kept.documents(window).iter().eq(container.iter()));
        }
        assert!(kept.contains(5) && !kept.contains(4));
        let docs = [3, 65_535, 65_536, 70_000, 5 * WINDOW - 1];
        let some = MatchWindows::of_documents(5 * WINDOW, &docs).unwrap();
        assert_eq!((some.len, some.windows().len()), (5, 3));
        assert!(docs.iter().all(|doc| some.contains(*doc) && !some.contains(doc - 2)));
        let some = DocIdSet::Some(some);
        assert!(some.documents_from(65_536, 5 * WINDOW).unwrap().eq(docs[2..].iter().copied()));
        let error = some.documents_from(0, 5 * WINDOW - 1).err().expect("one is too large");
        assert_eq!(error.kind(), crate::error::ErrorKind::Corrupt);
        assert!(kept.contains(2 * WINDOW + 64) && !kept.contains(2 * WINDOW + 63));
        assert!(!kept.contains(WINDOW + 5) && !kept.contains(9 * WINDOW));
        // Two bitmaps at least, and less than one more.
        let bytes = DocIdSet::Some(kept).bytes();
        assert!((2 * 8192..5 * 8192).contains(&bytes), "{bytes}");
        assert_eq!(DocIdSet::Everything.bytes(), 0);
    }
}
