//! Packing parameters that all blocks of a column share.

use super::{gcd, width_of};

/// Packing of the numbers of a column's blocks, if all blocks share it: then the place of a document's number follows
/// from the document's own, and nobody has to look into the directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The code of number 0, or of 1 where there is a gap; others lie multiples of `unit` above.
    pub(super) base: u64,
    pub(super) unit: u64,
    pub(super) width: u8,
    /// 1 where a number is one more than it stands for, and 0 says that there is none.
    pub(super) gap: u8,
}

impl Frame {
    /// The number that stands for a code; `None` if the frame does not hold it.
    pub(super) fn number(&self, code: u64) -> Option<u64> {
        let above = code.checked_sub(self.base)?;
        let number = match above {
            0 => 0,
            _ if above.is_multiple_of(self.unit) => above / self.unit,
            _ => return None,
        };
        let number = number.checked_add(self.gap.into())?;
        (width_of(number) <= self.width.into()).then_some(number)
    }
}

/// Finds the frame of codes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameFinder {
    least: u64,
    greatest: u64,
    unit: u64,
    has_any: bool,
}

impl FrameFinder {
    /// Adds a code, in any order and as often as there is.
    #[inline]
    pub(crate) fn add(&mut self, code: u64) {
        if !self.has_any {
            *self = FrameFinder { least: code, greatest: code, unit: 0, has_any: true };
            return;
        }
        // Once this is 1 it stays so, and nothing is divided any more.
        if self.unit != 1 {
            let step = code.abs_diff(self.least);
            // Most often it is a multiple of what was found so far, and one division says so.
            if !step.is_multiple_of(self.unit) {
                self.unit = gcd(self.unit, step);
            }
        }
        (self.least, self.greatest) = (self.least.min(code), self.greatest.max(code));
    }

    /// The frame of what was added, for documents that all have a code or do not.
    pub(crate) fn frame(&self, all_have_one: bool) -> Frame {
        let (unit, gap) = (self.unit.max(1), u8::from(!all_have_one));
        let most = (self.greatest - self.least) / unit;
        // All numbers of 64 bits leave none for the gap; then no block shares it.
        let width = width_of(most.saturating_add(gap.into())) as u8;
        Frame { base: self.least, unit, width, gap }
    }
}
