//! A list that owns its bytes.

use super::buffer::ContainerBuf;
use super::header::RoaringHeader;
use super::view::RoaringView;
use super::write::ListBuilder;
use crate::error::Result;
use std::fmt;

/// An owned list: the bytes of the portable format, checked.
///
/// Lists that we made ourselves are equal exactly if the sets are, because each container has the
/// kind that its values say; bytes from elsewhere may write the same set differently.
///
/// ```
/// use treepie::bitmap::RoaringBuf;
///
/// let odd = RoaringBuf::from_sorted([1, 3, 5, 1_000_001]);
/// let small = RoaringBuf::from_sorted(0..100);
/// assert_eq!(odd.view().and(&small.view()), RoaringBuf::from_sorted([1, 3, 5]));
/// ```
///
/// Bitmaps of the `roaring` crate, or of another that knows the portable format, are exchanged as
/// ids or as bytes. Their bytes may have containers of other kinds; ids get those that suit them.
///
/// ```
/// use roaring::RoaringBitmap;
/// use treepie::bitmap::RoaringBuf;
///
/// let theirs = RoaringBitmap::from_iter([3, 5, 70_000]);
/// let ours = RoaringBuf::from_sorted(&theirs);
/// assert_eq!(ours, RoaringBuf::from_sorted([3, 5, 70_000]));
/// assert_eq!(RoaringBitmap::deserialize_from(ours.as_bytes())?, theirs);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct RoaringBuf {
    bytes: Vec<u8>,
    header: RoaringHeader,
    cardinality: u64,
}

impl RoaringBuf {
    /// The list of ascending ids.
    ///
    /// # Panics
    ///
    /// Panics if the ids are not strictly ascending.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// assert_eq!(RoaringBuf::from_sorted(5..1005).view().len(), 1000);
    /// ```
    pub fn from_sorted(ids: impl IntoIterator<Item = u32>) -> Self {
        let mut ids = ids.into_iter().peekable();
        let mut builder = ListBuilder::default();
        let mut buffer = ContainerBuf::new();
        let mut floor = 0;
        while let Some(&first) = ids.peek() {
            let key = (first >> 16) as u16;
            buffer.set_sorted(std::iter::from_fn(|| {
                let id = ids.next_if(|&id| (id >> 16) as u16 == key)?;
                assert!(u64::from(id) >= floor, "ids must be strictly ascending");
                floor = u64::from(id) + 1;
                Some(id as u16)
            }));
            builder.push(key, buffer.as_container());
        }
        Self::from_builder(&builder)
    }

    /// Takes over bytes of the portable format, after the checks of [`RoaringView::new`].
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// let bytes = RoaringBuf::from_sorted([3, 5]).into_bytes();
    /// assert_eq!(RoaringBuf::from_bytes(bytes)?.view().max(), Some(5));
    /// assert!(RoaringBuf::from_bytes(vec![1, 2, 3]).is_err());
    /// # Ok::<(), treepie::Error>(())
    /// ```
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let view = RoaringView::new(&bytes)?;
        let (header, cardinality) = (view.header, view.cardinality);
        Ok(RoaringBuf { bytes, header, cardinality })
    }

    #[expect(clippy::expect_used, reason = "these bytes are no file's: we have just written them")]
    pub(super) fn from_builder(builder: &ListBuilder) -> Self {
        let mut bytes = vec![];
        builder.write(&mut bytes);
        let header = RoaringHeader::parse(&bytes, bytes.len());
        RoaringBuf {
            header: header.expect("we write what we read"),
            bytes,
            cardinality: builder.cardinality(),
        }
    }

    /// The list, to read.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// assert!(RoaringBuf::from_sorted([3, 5]).view().contains(5));
    /// ```
    pub fn view(&self) -> RoaringView<'_> {
        RoaringView { bytes: &self.bytes, header: self.header, cardinality: self.cardinality }
    }

    /// The bytes, in the portable format.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// assert_eq!(RoaringBuf::default().as_bytes(), [0x3A, 0x30, 0, 0, 0, 0, 0, 0]);
    /// ```
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes, in the portable format.
    ///
    /// ```
    /// # use treepie::bitmap::RoaringBuf;
    /// assert_eq!(RoaringBuf::from_sorted([3]).into_bytes().len(), 18);
    /// ```
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// The empty list.
impl Default for RoaringBuf {
    fn default() -> Self {
        Self::from_builder(&ListBuilder::default())
    }
}

impl PartialEq for RoaringBuf {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for RoaringBuf {}

impl fmt::Debug for RoaringBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
    }
}
