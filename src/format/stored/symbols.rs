//! Short texts by a table of symbols: every byte of the compressed form stands for one to eight
//! bytes of text, so a single row is decoded without any other.
//!
//! FSST: Boncz, Neumann, Leis, "FSST: Fast Random Access String Compression", VLDB 2020. The table is
//! trained by the `fsst-rs` crate; coding and decoding are here because the crate's coder needs
//! `unsafe` of its caller and its decoder trusts its input.

/// The code that says: the next byte stands for itself.
const ESCAPE: u8 = 255;
/// Symbols a table may have at the most; codes above are the escape.
pub(super) const SYMBOLS_MAX: usize = 255;
/// Longest symbol in bytes.
const SYMBOL_BYTES_MAX: usize = 8;
/// Rows that a table is trained on, spread evenly over those it will code.
const TRAINING_ROWS_MAX: usize = 4_096;
/// Slots of the table of symbols of three bytes and more, found by their first three.
const LONG_SLOTS: usize = 1 << 12;

/// Codes rows by a trained table.
pub(super) struct SymbolCoder {
    symbols: Vec<[u8; SYMBOL_BYTES_MAX]>,
    lengths: Vec<u8>,
    /// By the first two bytes: the best symbol of one or two bytes, or the escape.
    short: Vec<Step>,
    /// By a hash of the first three bytes: symbol, and its code; length 0 where empty.
    long: Vec<(u64, Step)>,
}

/// Next step of the coder: write `code`, go on behind `len` bytes of text.
#[derive(Clone, Copy)]
struct Step {
    code: u8,
    len: u8,
}

const LITERAL: Step = Step { code: ESCAPE, len: 1 };
const NONE: Step = Step { code: ESCAPE, len: 0 };

impl SymbolCoder {
    /// Trains a table on a sample of `rows`. Equal rows give equal tables.
    pub(super) fn train(rows: &[&[u8]]) -> Self {
        let step = rows.len().div_ceil(TRAINING_ROWS_MAX).max(1);
        let sample: Vec<&[u8]> =
            rows.iter().step_by(step).copied().filter(|row| row.len() > SYMBOL_BYTES_MAX).collect();
        let trained = fsst::Compressor::train(&sample);
        let symbols = trained.symbol_table().iter().map(|symbol| symbol.to_u64().to_le_bytes());
        Self::new(symbols.collect(), trained.symbol_lengths().to_vec())
    }

    fn new(symbols: Vec<[u8; SYMBOL_BYTES_MAX]>, lengths: Vec<u8>) -> Self {
        let (short, long) = (vec![LITERAL; 1 << 16], vec![(0, NONE); LONG_SLOTS]);
        let mut coder = SymbolCoder { symbols, lengths, short, long };
        let symbols = coder.symbols.iter().zip(&coder.lengths).zip(0..);
        let mut steps: Vec<_> = symbols
            .map(|((symbol, len), code)| (u64::from_le_bytes(*symbol), Step { code, len: *len }))
            .collect();
        // One-byte symbols first, so that two-byte symbols overwrite what they cover better.
        steps.sort_by_key(|(_, step)| step.len);
        steps.into_iter().for_each(|(symbol, step)| coder.insert(symbol, step));
        coder
    }

    #[expect(clippy::indexing_slicing, reason = "tables have a slot for each of these numbers")]
    fn insert(&mut self, symbol: u64, step: Step) {
        match step.len {
            1 => (0..=255)
                .for_each(|second| self.short[(second << 8) | (symbol & 0xFF) as usize] = step),
            2 => self.short[(symbol & 0xFFFF) as usize] = step,
            // Lengths ascend, so where two symbols meet in a slot the longer one stays.
            _ => self.long[long_slot(symbol)] = (symbol, step),
        }
    }

    /// Bytes of the table in front of the coded rows: 8 a symbol, then one length each.
    pub(super) fn write_table(&self, out: &mut Vec<u8>) {
        self.symbols.iter().for_each(|symbol| out.extend_from_slice(symbol));
        out.extend_from_slice(&self.lengths);
    }

    pub(super) fn n_symbols(&self) -> usize {
        self.symbols.len()
    }

    /// Writes the code of the `len` bytes at the start of `text`, which must go on for eight more, to
    /// the front of `coded`, which must have room for twice as many; the length of the code.
    #[expect(
        clippy::indexing_slicing,
        reason = "tables have a slot for each of these numbers, and the caller makes room"
    )]
    pub(super) fn encode(&self, text: &[u8], len: usize, coded: &mut [u8]) -> usize {
        let (mut at, mut written) = (0, 0);
        while at < len {
            let Some(bytes) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
                break;
            };
            let word = u64::from_le_bytes(*bytes);
            let left = len - at;
            let (symbol, step) = self.long[long_slot(word)];
            if word & mask(step.len) == symbol && step.len != 0 && usize::from(step.len) <= left {
                coded[written] = step.code;
                written += 1;
                at += usize::from(step.len);
                continue;
            }
            let mut step = self.short[(word & 0xFFFF) as usize];
            if usize::from(step.len) > left {
                // The second byte belongs to what follows the row: only one byte may be coded.
                step = self.single(word as u8);
            }
            coded[written] = step.code;
            written += 1;
            if step.code == ESCAPE {
                coded[written] = word as u8;
                written += 1;
            }
            at += usize::from(step.len);
        }
        written
    }

    #[cold]
    fn single(&self, byte: u8) -> Step {
        let mut symbols = self.symbols.iter().zip(&self.lengths);
        let code = symbols.position(|(symbol, len)| *len == 1 && symbol[0] == byte);
        code.map_or(LITERAL, |code| Step { code: code as u8, len: 1 })
    }
}

#[inline]
fn long_slot(word: u64) -> usize {
    let first_three = word & 0xFF_FFFF;
    (first_three.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - LONG_SLOTS.trailing_zeros())) as usize
}

/// Mask of the first `len` bytes of a word; none for 0.
#[inline]
fn mask(len: u8) -> u64 {
    match u32::from(len) {
        0 => 0,
        len => u64::MAX >> 64u32.saturating_sub(8 * len),
    }
}

/// A table as it lies in a file.
pub(super) struct SymbolTable<'a> {
    symbols: &'a [[u8; SYMBOL_BYTES_MAX]],
    lengths: &'a [u8],
}

impl<'a> SymbolTable<'a> {
    /// Bytes of a table of `n_symbols`.
    pub(super) fn byte_len(n_symbols: usize) -> usize {
        n_symbols * (SYMBOL_BYTES_MAX + 1)
    }

    /// The table in `bytes`; `None` if the size or a length is wrong.
    pub(super) fn parse(bytes: &'a [u8], n_symbols: usize) -> Option<Self> {
        let (symbols, lengths) = bytes.split_at_checked(n_symbols * SYMBOL_BYTES_MAX)?;
        let (symbols, rest) = symbols.as_chunks();
        let usable = |&len: &u8| (1..=SYMBOL_BYTES_MAX as u8).contains(&len);
        let sound = rest.is_empty() && lengths.len() == n_symbols && lengths.iter().all(usable);
        sound.then_some(SymbolTable { symbols, lengths })
    }

    /// Appends the text behind `coded`; `None` if a code is not in the table or an escape ends
    /// the row. The text is at most eight times as long as the code.
    pub(super) fn decode(&self, coded: &[u8], text: &mut Vec<u8>) -> Option<()> {
        let mut codes = coded.iter();
        while let Some(&code) = codes.next() {
            if code == ESCAPE {
                text.push(*codes.next()?);
            } else {
                let symbol = self.symbols.get(usize::from(code))?;
                let len = usize::from(*self.lengths.get(usize::from(code))?);
                // All eight bytes at once are one store; those that are not the symbol's go again.
                let end = text.len() + len;
                text.extend_from_slice(symbol);
                text.truncate(end);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_sizes::unless_miri;

    fn round_trip(rows: &[&[u8]]) -> (usize, usize) {
        let coder = SymbolCoder::train(rows);
        let mut table = vec![];
        coder.write_table(&mut table);
        let table = SymbolTable::parse(&table, coder.n_symbols()).unwrap();
        let (mut raw, mut coded_len) = (0, 0);
        for row in rows {
            // Bytes behind the row must not change its code.
            for padding in [0, b'a', 0xFF] {
                let mut padded = row.to_vec();
                padded.extend([padding; 8]);
                let mut coded = vec![0; 2 * row.len()];
                let len = coder.encode(&padded, row.len(), &mut coded);
                coded.truncate(len);
                let mut text = vec![];
                table.decode(&coded, &mut text).unwrap();
                assert_eq!(&text, row);
                coded_len += coded.len();
            }
            raw += 3 * row.len();
        }
        (raw, coded_len)
    }

    #[test]
    fn rows_come_back_and_repetition_shrinks() {
        let rows: Vec<String> = (0..unless_miri(5000, 100))
            .map(|i| format!("History of the county number {}", i % 977))
            .collect();
        let rows: Vec<&[u8]> = rows.iter().map(|row| row.as_bytes()).collect();
        let (raw, coded) = round_trip(&rows);
        assert!(coded * 3 < raw, "{coded} of {raw}");
    }

    #[test]
    fn odd_rows_come_back() {
        let every_byte: Vec<u8> = (0..=255).collect();
        round_trip(&[
            b"",
            b"a",
            b"ab",
            b"aaaaaaaaaaaaaaaaaaaaaaaaaaa",
            &every_byte,
            &[255; 30],
            &[0; 30],
        ]);
        round_trip(&[]);
    }

    #[test]
    fn damaged_codes_are_refused() {
        let coder = SymbolCoder::new(vec![*b"abc\0\0\0\0\0"], vec![3]);
        let mut bytes = vec![];
        coder.write_table(&mut bytes);
        let table = SymbolTable::parse(&bytes, 1).unwrap();
        assert_eq!(table.decode(&[1], &mut vec![]), None, "an unknown code");
        assert_eq!(table.decode(&[0, ESCAPE], &mut vec![]), None, "an escape at the end");
        assert!(SymbolTable::parse(&bytes[1..], 1).is_none());
        bytes[8] = 9;
        assert!(SymbolTable::parse(&bytes, 1).is_none(), "a length of nine");
    }
}
