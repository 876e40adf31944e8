//! List of values, read in place from its bytes.

use super::container::{Container, ContainerIter, ContainerKind};
use super::header::{RoaringHeader, container_from};
use super::runs::start_and_last;
use crate::error::{Error, Result};
use crate::plural::counted;
use std::{fmt, iter::FusedIterator};

/// A set of 32-bit numbers over the bytes of a portable roaring list.
///
/// Nothing is copied, nothing decoded, and any alignment will do.
///
/// [`new`](Self::new) checks what keeps every later access inside the bytes: cookie, counts,
/// ascending keys, offsets and sizes, and that the list ends where the bytes do. It looks at the
/// head and at the number of runs of run containers, which costs 2 to 5 ns per container, and
/// allocates nothing. Order and cardinality of the values are left to [`verify`](Self::verify): if
/// they are wrong, answers are wrong, and nothing worse.
///
/// ```
/// use treepie::bitmap::RoaringView;
///
/// // Cookie 12346, 1 container: key 0, cardinality 2, at offset 16: 3 and 5.
/// let bytes = [0x3A, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 16, 0, 0, 0, 3, 0, 5, 0];
/// let list = RoaringView::new(&bytes)?;
/// assert_eq!(list.len(), 2);
/// assert!(list.contains(5) && !list.contains(4));
/// list.verify()?;
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct RoaringView<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) header: RoaringHeader,
    pub(super) cardinality: u64,
}

impl<'a> RoaringView<'a> {
    /// Checks the head of the list that `bytes` are, from the first to the last.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringView;
    /// assert!(RoaringView::new(b"not a list").is_err());
    /// ```
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let header = RoaringHeader::parse(bytes, bytes.len())?;
        let mut cardinality = 0;
        for i in 0..header.n_containers() {
            let range = header.payload_range(bytes, i);
            let start = range.start as u64;
            let payload = bytes.get(range).unwrap_or_default();
            container_from(header.kind(bytes, i), header.cardinality(bytes, i), payload)
                .map_err(|error| error.at_offset(start))?;
            cardinality += u64::from(header.cardinality(bytes, i));
        }
        Ok(RoaringView { bytes, header, cardinality })
    }

    /// Reads every value and refuses a list that breaks a promise.
    ///
    /// The head or the kind of a container promises order, cardinality, and runs that do not overlap, touch or leave
    /// the container.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringView;
    /// let bytes = [0x3A, 0x30, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 16, 0, 0, 0, 5, 0, 3, 0];
    /// assert!(RoaringView::new(&bytes)?.verify().is_err(), "5 stands before 3");
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn verify(&self) -> Result<()> {
        for i in 0..self.n_containers() {
            let (key, cardinality, container) = self.container(i);
            let wrong = |expected: String, found: String| {
                Error::corrupt(format!("verifying container {i} (key {key}) of a roaring list"))
                    .expected(expected)
                    .found(found)
                    .at_offset(self.header.payload_range(self.bytes, i).start as u64)
            };
            let sound = match container {
                Container::Array(values) => {
                    values.is_sorted_by(|&a, &b| u16::from_le_bytes(a) < u16::from_le_bytes(b))
                }
                Container::Bitmap(_) => true,
                Container::Run(runs) => {
                    let whole = |&[s0, s1, l0, l1]: &[u8; 4]| {
                        u16::from_le_bytes([s0, s1])
                            .checked_add(u16::from_le_bytes([l0, l1]))
                            .is_some()
                    };
                    runs.iter().all(whole)
                        && runs.is_sorted_by(|&a, &b| start_and_last(a).1 + 1 < start_and_last(b).0)
                }
            };
            if !sound {
                let expected = match container.kind() {
                    ContainerKind::Run => "ascending runs that do not touch and end by 65535",
                    _ => "strictly ascending values",
                };
                return Err(wrong(expected.into(), "others".into()));
            }
            if container.cardinality() != cardinality {
                let found = format!("{}", container.cardinality());
                return Err(wrong(counted(cardinality, "value"), found));
            }
        }
        Ok(())
    }

    /// Number of values, in constant time.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// assert_eq!(RoaringBuf::from_sorted([3, 5]).view().len(), 2);
    /// ```
    #[inline]
    pub fn len(&self) -> u64 {
        self.cardinality
    }

    /// Whether there is no value.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// assert!(RoaringBuf::default().view().is_empty());
    /// ```
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.cardinality == 0
    }

    /// Whether `value` is in the set: halving over the keys, then inside a container.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// assert!(RoaringBuf::from_sorted([3, 5]).view().contains(3));
    /// ```
    pub fn contains(&self, value: u32) -> bool {
        match self.find((value >> 16) as u16) {
            Ok(i) => self.container(i).2.contains(value as u16),
            Err(_) => false,
        }
    }

    /// Number of values that are at most `value`. Adds up the cardinalities of the containers before.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// assert_eq!(RoaringBuf::from_sorted([3, 5, 70_000]).view().rank(69_999), 2);
    /// ```
    pub fn rank(&self, value: u32) -> u64 {
        let found = self.find((value >> 16) as u16);
        let (Ok(before) | Err(before)) = found;
        let inside = match found {
            Ok(i) => u64::from(self.container(i).2.rank(value as u16)),
            Err(_) => 0,
        };
        (0..before).map(|i| u64::from(self.header.cardinality(self.bytes, i))).sum::<u64>() + inside
    }

    /// The value that has `n` values before it.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// let list = RoaringBuf::from_sorted([3, 5, 70_000]);
    /// assert_eq!((list.view().select(2), list.view().select(3)), (Some(70_000), None));
    /// ```
    pub fn select(&self, n: u64) -> Option<u32> {
        let mut n = n;
        for i in 0..self.n_containers() {
            let cardinality = self.header.cardinality(self.bytes, i);
            if n < u64::from(cardinality) {
                let (key, _, container) = self.container(i);
                return Some(u32::from(key) << 16 | u32::from(container.select(n as u32)?));
            }
            n -= u64::from(cardinality);
        }
        None
    }

    /// The smallest value.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// assert_eq!(RoaringBuf::from_sorted([3, 5]).view().min(), Some(3));
    /// ```
    pub fn min(&self) -> Option<u32> {
        self.iter().next()
    }

    /// The largest value.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// assert_eq!(RoaringBuf::from_sorted([3, 5]).view().max(), Some(5));
    /// ```
    pub fn max(&self) -> Option<u32> {
        let (key, _, container) = self.container(self.n_containers().checked_sub(1)?);
        Some(u32::from(key) << 16 | u32::from(container.max()?))
    }

    /// The values, ascending: 1 to 2 ns each.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// assert!(RoaringBuf::from_sorted(7..9).view().iter().eq([7, 8]));
    /// ```
    pub fn iter(&self) -> Iter<'a> {
        self.iter_from(0)
    }

    /// The values from `value` on, ascending; finding the first costs about what
    /// [`contains`](Self::contains) does.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// assert!(RoaringBuf::from_sorted([3, 5, 70_000]).view().iter_from(4).eq([5, 70_000]));
    /// ```
    pub fn iter_from(&self, value: u32) -> Iter<'a> {
        let mut iter = Iter { view: *self, next: 0, high: 0, low: Container::Array(&[]).iter() };
        match self.find((value >> 16) as u16) {
            Ok(i) => {
                let (key, _, container) = self.container(i);
                iter.next = i + 1;
                iter.high = u32::from(key) << 16;
                iter.low = container.iter_from(value as u16);
            }
            Err(i) => iter.next = i,
        }
        iter
    }

    /// Number of containers: one for each 65,536 numbers that hold a value.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// assert_eq!(RoaringBuf::from_sorted([3, 5, 70_000]).view().n_containers(), 2);
    /// ```
    #[inline]
    pub fn n_containers(&self) -> usize {
        self.header.n_containers()
    }

    /// Key (upper 16 bits of its values), cardinality, and values of container `i`. The cardinality is that in the
    /// head.
    ///
    /// # Panics
    ///
    /// Panics if `i` is not below [`n_containers`](Self::n_containers).
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// let list = RoaringBuf::from_sorted([3, 5, 70_000]);
    /// let (key, cardinality, container) = list.view().container(1);
    /// assert_eq!((key, cardinality, container.min()), (1, 1, Some(4464)));
    /// ```
    #[expect(clippy::expect_used, reason = "`new` has made every container of these bytes once")]
    pub fn container(&self, i: usize) -> (u16, u32, Container<'a>) {
        assert!(i < self.n_containers(), "container {i} of {}", self.n_containers());
        let cardinality = self.header.cardinality(self.bytes, i);
        let payload = self.bytes.get(self.header.payload_range(self.bytes, i)).unwrap_or_default();
        let container = container_from(self.header.kind(self.bytes, i), cardinality, payload);
        (
            self.header.key(self.bytes, i),
            cardinality,
            container.expect("`new` has made every container once"),
        )
    }

    /// Which container has `key`, or before which it would stand.
    #[inline]
    pub(super) fn find(&self, key: u16) -> std::result::Result<usize, usize> {
        self.header.find(self.bytes, key)
    }

    /// Length of the list in bytes.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// assert_eq!(RoaringBuf::default().view().serialized_len(), 8);
    /// ```
    pub fn serialized_len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes of the list.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// let list = RoaringBuf::from_sorted([3, 5]);
    /// assert_eq!(list.view().as_bytes(), list.as_bytes());
    /// ```
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

impl fmt::Debug for RoaringView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoaringView")
            .field("len", &self.cardinality)
            .field("n_containers", &self.n_containers())
            .field("serialized_len", &self.serialized_len())
            .finish()
    }
}

impl<'a> IntoIterator for RoaringView<'a> {
    type Item = u32;
    type IntoIter = Iter<'a>;
    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// The values of a [`RoaringView`], ascending; from [`RoaringView::iter`].
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    view: RoaringView<'a>,
    /// The container after the current one.
    next: usize,
    /// Upper 16 bits of the current values.
    high: u32,
    low: ContainerIter<'a>,
}

impl Iterator for Iter<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        loop {
            if let Some(low) = self.low.next() {
                return Some(self.high | u32::from(low));
            }
            if self.next >= self.view.n_containers() {
                return None;
            }
            let (key, _, container) = self.view.container(self.next);
            self.next += 1;
            self.high = u32::from(key) << 16;
            self.low = container.iter();
        }
    }

    /// Asks for kinds once per container, not for every value.
    fn fold<B, F: FnMut(B, u32) -> B>(self, init: B, mut f: F) -> B {
        let mut folded = self.low.fold(init, |folded, low| f(folded, self.high | u32::from(low)));
        for i in self.next..self.view.n_containers() {
            let (key, _, container) = self.view.container(i);
            let high = u32::from(key) << 16;
            folded = container.iter().fold(folded, |folded, low| f(folded, high | u32::from(low)));
        }
        folded
    }
}

impl FusedIterator for Iter<'_> {}
