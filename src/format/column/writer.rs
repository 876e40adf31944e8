//! Writing a column.

use super::{
    BLOCK_DOCS, BlockHead, Encoding, Frame, PLACE_LEN, SLACK, gcd, pack, packed_len, width_of,
};

/// Puts the values of a segment's documents together.
#[derive(Debug)]
pub(crate) struct ColumnWriter {
    /// Values of the block's documents, and how many there are up to each.
    values: Vec<u64>,
    ends: Vec<u32>,
    directory: Vec<u8>,
    /// Bytes of the blocks that were written.
    written: u64,
    n_values: u64,
    n_with: u32,
    n_docs: u32,
    frame: Frame,
    n_shared: u32,
    range: Option<(u64, u64)>,
}

impl ColumnWriter {
    /// For codes of which this is the frame.
    pub(crate) fn new(frame: Frame) -> Self {
        ColumnWriter {
            values: vec![],
            ends: vec![],
            directory: vec![],
            written: 0,
            n_values: 0,
            n_with: 0,
            n_docs: 0,
            frame,
            n_shared: 0,
            range: None,
        }
    }

    /// Adds the codes of the next document, ascending and each once; a block is written to `out` if one is complete.
    pub(crate) fn add(&mut self, codes: impl IntoIterator<Item = u64>, out: &mut Vec<u8>) {
        let before = self.values.len();
        self.values.extend(codes);
        self.ends.push(self.values.len() as u32);
        self.n_docs += 1;
        self.n_with += u32::from(self.values.len() > before);
        if self.ends.len() == BLOCK_DOCS as usize {
            self.end_block(out);
        }
    }

    /// Writes what is left.
    pub(crate) fn finish(mut self, out: &mut Vec<u8>) {
        if !self.ends.is_empty() {
            self.end_block(out);
        }
        out.extend_from_slice(&self.directory);
        let (least, greatest) = self.range.unwrap_or_default();
        for number in [self.n_values, least, greatest, self.frame.base, self.frame.unit] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        for number in [self.n_with, self.n_docs, self.n_shared] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&[self.frame.width, self.frame.gap, 0, 0]);
    }

    fn end_block(&mut self, out: &mut Vec<u8>) {
        let before = out.len();
        let head = self.write_block(out);
        head.encode(&mut self.directory);
        self.written += (out.len() - before) as u64;
        self.n_shared += u32::from(head.encoding == Encoding::Shared);
        self.n_values += self.values.len() as u64;
        if !self.values.is_empty() {
            let (least, greatest) = self.range.unwrap_or((head.least, head.greatest));
            self.range = Some((least.min(head.least), greatest.max(head.greatest)));
        }
        self.values.clear();
        self.ends.clear();
    }

    /// The documents of the block with how many values each has.
    fn counts(&self) -> impl Iterator<Item = u32> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| end - start)
    }

    fn write_block(&self, out: &mut Vec<u8>) -> BlockHead {
        let start = self.written;
        let Some((least, greatest)) = least_and_greatest(&self.values) else {
            return BlockHead {
                least: 0,
                greatest: 0,
                unit: 0,
                start,
                n_values: 0,
                n_with: 0,
                encoding: Encoding::Empty,
                width: 0,
            };
        };
        let mut unit = 0;
        for value in &self.values {
            let step = value - least;
            // Most often it is a multiple of the unit so far, and one division says so.
            if !step.is_multiple_of(unit) {
                unit = gcd(unit, step);
            }
            if unit == 1 {
                break;
            }
        }
        let (step, unit) = (unit, unit.max(1));
        let most = (greatest - least) / unit;
        let n_docs = self.ends.len();
        let n_with = self.counts().filter(|n| *n > 0).count();
        let n_values = self.values.len();
        let gaps = most.checked_add(1).map(|most| packed_len(n_docs, width_of(most)));
        let sparse = n_with * PLACE_LEN + packed_len(n_with, width_of(most));
        let encoding = match () {
            () if n_values > n_with => Encoding::Many,
            () if n_with == n_docs => Encoding::Full,
            () if gaps.is_some_and(|gaps| gaps <= sparse) => Encoding::Gaps,
            () => Encoding::Sparse,
        };
        let width = width_of(if encoding == Encoding::Gaps { most + 1 } else { most });
        let holds_all = (n_with == n_docs || self.frame.gap > 0)
            && step.is_multiple_of(self.frame.unit)
            && self.frame.number(least).is_some()
            && self.frame.number(greatest).is_some();
        // Worth an eighth more of room, or a bit a document.
        let of_frame = packed_len(n_docs, self.frame.width.into());
        let is_shared = holds_all
            && match encoding {
                Encoding::Sparse => of_frame <= sparse + sparse / 8,
                Encoding::Full | Encoding::Gaps => {
                    let more = if width > 0 { (width / 8).max(1) } else { 0 };
                    u32::from(self.frame.width) <= width + more
                }
                Encoding::Empty | Encoding::Many | Encoding::Shared => false,
            };
        let (encoding, unit, width) = match is_shared {
            true => (Encoding::Shared, self.frame.unit, self.frame.width.into()),
            false => (encoding, unit, width),
        };
        let head = BlockHead {
            least,
            greatest,
            unit,
            start,
            n_values: n_values as u32,
            n_with: n_with as u16,
            encoding,
            width: width as u8,
        };
        let mut numbers = self.values.iter().map(|value| (value - least) / unit);
        match encoding {
            Encoding::Gaps => {
                let number = |n| if n == 0 { 0 } else { numbers.next().map_or(0, |n| n + 1) };
                pack(self.counts().map(number), width, out);
            }
            Encoding::Sparse => {
                let with = (0u16..).zip(self.counts()).filter(|(_, n)| *n > 0);
                with.for_each(|(place, _)| out.extend_from_slice(&place.to_le_bytes()));
                pack(numbers, width, out);
            }
            Encoding::Many => {
                let ends = self.ends.iter().map(|end| u64::from(*end));
                pack(ends, head.width_of_ends(), out);
                pack(numbers, width, out);
            }
            Encoding::Shared => {
                let mut values = self.values.iter();
                let Frame { base, unit, gap, .. } = self.frame;
                let unit = unit.max(1);
                // It holds them all.
                let number = |value: &u64| value.saturating_sub(base) / unit + u64::from(gap);
                let number = |n| if n == 0 { 0 } else { values.next().map_or(0, number) };
                pack(self.counts().map(number), width, out);
                return head;
            }
            Encoding::Empty | Encoding::Full => pack(numbers, width, out),
        }
        out.extend_from_slice(&[0; SLACK]);
        head
    }
}

fn least_and_greatest(values: &[u64]) -> Option<(u64, u64)> {
    Some((values.iter().copied().min()?, values.iter().copied().max()?))
}
