//! Reading the values of a block.

use super::{BlockHead, Encoding, PLACE_LEN, unpack};
use crate::bytes::Bytes;
use crate::simd::numbers;
use crate::simd::prefetch::prefetch;
use std::cmp::Ordering;
use std::ops::{Range, RangeInclusive};

/// The values of up to 1,024 documents.
#[derive(Debug)]
pub(crate) struct Block<'s> {
    pub(super) head: BlockHead,
    pub(super) bytes: Bytes<'s>,
    pub(super) numbers_at: usize,
    pub(super) n_docs: u32,
    /// Value that number 0 stands for, or 1 if there is a gap.
    pub(super) base: u64,
    /// 1 where a number is one more than it stands for, and 0 says that there is none.
    pub(super) gap: u64,
}

/// The numbers of a block in which a document has one value at the most, and each document has a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneEach<'b> {
    bytes: &'b [u8],
    width: u32,
    /// 1 where a number is one more than it stands for, and 0 says that there is none.
    gap: u64,
    base: u64,
    unit: u64,
}

impl OneEach<'_> {
    /// Whether each document has one, and all fit 32 bits.
    pub(crate) fn are_plain(&self) -> bool {
        self.gap == 0 && self.width < u32::BITS
    }

    /// The least number that stands for `code` or more, if they are [plain](Self::are_plain).
    pub(crate) fn first_number_of(&self, code: u64) -> u32 {
        let number = code.saturating_sub(self.base).div_ceil(self.unit.max(1));
        // Greater than all that have so many bits.
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// The numbers that stand for codes in a range, where all fit 32 bits.
    pub(crate) fn numbers_of(&self, codes: &RangeInclusive<u64>) -> Option<Range<u32>> {
        let first = |code: u64| {
            let above = code.saturating_sub(self.base).div_ceil(self.unit.max(1));
            u32::try_from(above.saturating_add(self.gap)).unwrap_or(u32::MAX)
        };
        let start = first(*codes.start());
        let end = codes.end().checked_add(1).map_or(u32::MAX, first);
        (self.width < u32::BITS).then_some(start..end.max(start))
    }

    /// Writes the numbers of neighbours, the first of which is a multiple of eight, where they fit 32 bits.
    #[inline]
    pub(crate) fn get_neighbours(&self, first: u32, out: &mut [u32]) {
        numbers::unpack_neighbours(self.bytes, self.width, first, out);
    }

    /// Begins to load all of them.
    pub(crate) fn prefetch(&self) {
        prefetch(self.bytes);
    }

    /// Writes the numbers of documents by their places, if they are plain.
    #[inline]
    pub(crate) fn numbers(&self, places: &[u32], out: &mut [u32]) {
        numbers::unpack(self.bytes, self.width, places, out);
    }

    /// The code that 0 stands for, and by how much that of each number lies above that of the one before, where they are
    /// [plain](Self::are_plain).
    pub(crate) fn base_and_unit(&self) -> (u64, u64) {
        (self.base, self.unit)
    }

    /// The code that a number stands for, if they are [plain](Self::are_plain).
    #[inline]
    pub(crate) fn code_of(&self, number: u32) -> u64 {
        self.base.wrapping_add(self.unit.wrapping_mul(number.into()))
    }

    /// The code of the document in this place of the block.
    #[inline]
    pub(crate) fn code(&self, place: u32) -> Option<u64> {
        let number = unpack(self.bytes, 0, self.width, place as usize).checked_sub(self.gap)?;
        Some(self.base.wrapping_add(self.unit.wrapping_mul(number)))
    }
}

impl Block<'_> {
    /// Number of values of all documents.
    pub(crate) fn n_values(&self) -> u64 {
        self.head.n_values.into()
    }

    /// Its numbers, where each document has a place for one; what reads them fastest.
    #[inline]
    pub(crate) fn one_each(&self) -> Option<OneEach<'_>> {
        match self.head.encoding {
            Encoding::Full | Encoding::Gaps | Encoding::Shared => {
                let (width, unit) = (self.head.width.into(), self.head.unit);
                Some(OneEach { bytes: &self.bytes, width, gap: self.gap, base: self.base, unit })
            }
            Encoding::Empty | Encoding::Sparse | Encoding::Many => None,
        }
    }

    /// Which of the block's numbers are those of the document in this place of it.
    #[inline]
    fn numbers(&self, place: u32) -> Range<u32> {
        let none = 0..0;
        match self.head.encoding {
            Encoding::Full => place..place + 1,
            Encoding::Gaps | Encoding::Shared => {
                let number = unpack(&self.bytes, 0, u32::from(self.head.width), place as usize);
                if number < self.gap { none } else { place..place + 1 }
            }
            Encoding::Sparse => match self.place_among_few(place) {
                Ok(nth) => nth..nth + 1,
                Err(_) => none,
            },
            Encoding::Many => {
                let end = |nth: u32| {
                    let end = unpack(&self.bytes, 0, self.head.width_of_ends(), nth as usize);
                    (end as u32).min(self.head.n_values)
                };
                place.checked_sub(1).map_or(0, end)..end(place)
            }
            Encoding::Empty => none,
        }
    }

    /// Place of a document among those of a sparse block that have a value.
    fn place_among_few(&self, place: u32) -> Result<u32, u32> {
        let places = self.bytes.as_chunks::<PLACE_LEN>().0;
        let places = places.get(..usize::from(self.head.n_with)).unwrap_or_default();
        let found = places.binary_search_by_key(&place, |at| u16::from_le_bytes(*at).into());
        found.map(|nth| nth as u32).map_err(|nth| nth as u32)
    }

    #[inline]
    fn code(&self, nth: u32) -> u64 {
        let number = unpack(&self.bytes, self.numbers_at, u32::from(self.head.width), nth as usize);
        let number = number.wrapping_sub(self.gap);
        self.base.wrapping_add(self.head.unit.wrapping_mul(number))
    }

    /// The codes of the document in this place of the block, ascending.
    #[inline]
    pub(crate) fn codes(&self, place: u32) -> impl Iterator<Item = u64> {
        self.numbers(place).map(|nth| self.code(nth))
    }

    /// Whether the document in this place of the block has this code.
    pub(crate) fn contains(&self, place: u32, code: u64) -> bool {
        let mut numbers = self.numbers(place);
        while !numbers.is_empty() {
            let middle = numbers.start + (numbers.end - numbers.start) / 2;
            match self.code(middle).cmp(&code) {
                Ordering::Less => numbers.start = middle + 1,
                Ordering::Equal => return true,
                Ordering::Greater => numbers.end = middle,
            }
        }
        false
    }

    /// The least code of the document in this place of the block.
    #[inline]
    pub(crate) fn least(&self, place: u32) -> Option<u64> {
        self.numbers(place).next().map(|nth| self.code(nth))
    }

    /// The greatest code of the document in this place of the block.
    #[inline]
    pub(crate) fn greatest(&self, place: u32) -> Option<u64> {
        self.numbers(place).next_back().map(|nth| self.code(nth))
    }
}
