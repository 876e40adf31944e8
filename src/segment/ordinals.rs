//! The numbers that terms get when several dictionaries become one.

use crate::bytes::{ByteReader, write_varint};
use crate::error::{Error, Result};

/// Terms between two places where reading can begin.
const INTERVAL: usize = 32;

/// For each term of one dictionary its number in the one that it becomes a part of. Both are in the order of terms, so that
/// the numbers ascend: about a byte a term.
#[derive(Clone, Debug, Default)]
pub(crate) struct OrdinalMap {
    n: usize,
    last: u32,
    /// By how much each number but the first of an interval differs from that before.
    gaps: Vec<u8>,
    /// First number of each interval, and where its gaps begin.
    intervals: Vec<(u32, usize)>,
}

impl OrdinalMap {
    /// Adds the number of the next term, which is not less than that of the one before. Equal numbers are for a term
    /// that nobody will ask for.
    pub(crate) fn push(&mut self, number: u32) {
        if self.n.is_multiple_of(INTERVAL) {
            self.intervals.push((number, self.gaps.len()));
        } else {
            write_varint(&mut self.gaps, u64::from(number.saturating_sub(self.last)));
        }
        (self.n, self.last) = (self.n + 1, number);
    }

    /// The number of the term that has this one in its own dictionary; `None` if that has fewer.
    pub(crate) fn get(&self, ordinal: u32) -> Option<u32> {
        let ordinal = ordinal as usize;
        let &(first, gaps_at) =
            self.intervals.get(ordinal / INTERVAL).filter(|_| ordinal < self.n)?;
        let mut gaps = ByteReader::new(self.gaps.get(gaps_at..)?);
        let mut number = first;
        for _ in 0..ordinal % INTERVAL {
            number = number.checked_add(gaps.varint_u32()?)?;
        }
        Some(number)
    }

    /// Finds the number of a term by the code that a column has of it.
    ///
    /// # Errors
    ///
    /// A corrupt one if there is no such term.
    pub(crate) fn of_code(&self, code: u64) -> Result<u32> {
        let number = u32::try_from(code).ok().and_then(|code| self.get(code));
        number.ok_or_else(|| {
            Error::corrupt("mapping the numbers of terms in a column")
                .expected("one of the field's terms")
                .found(format!("number {code}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_found_again() {
        let numbers: Vec<u32> = (0..1_000u32).map(|nth| nth * nth / 3 * (nth % 40 / 39)).collect();
        let numbers: Vec<u32> = numbers
            .into_iter()
            .scan(0, |most, number| {
                *most = number.max(*most);
                Some(*most)
            })
            .chain([u32::MAX - 1, u32::MAX, u32::MAX])
            .collect();
        let mut map = OrdinalMap::default();
        numbers.iter().for_each(|number| map.push(*number));
        for (ordinal, number) in (0..).zip(&numbers) {
            assert_eq!(map.get(ordinal), Some(*number), "{ordinal}");
        }
        assert_eq!(map.get(numbers.len() as u32), None);
        assert_eq!(OrdinalMap::default().get(0), None);
    }
}
