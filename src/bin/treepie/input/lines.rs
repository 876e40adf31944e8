//! Lines with their number and offset, bounded in length.

use std::io::{self, Read};

use memchr::memchr;

/// Splits bytes into lines and holds one of them at a time.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    from: R,
    buffer: Vec<u8>,
    /// What of the buffer has not been given out yet.
    start: usize,
    ended: bool,
    number: u64,
    /// Offset of `buffer[start]` in the text.
    offset: u64,
    bytes_max: usize,
}

/// One line without its end, be that `\n` or `\r\n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line<'b> {
    /// From 1.
    pub(crate) number: u64,
    /// Of its first byte in the decoded text.
    pub(crate) offset: u64,
    pub(crate) text: LineText<'b>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineText<'b> {
    Bytes(&'b [u8]),
    /// It was passed over.
    TooLong,
}

const READ_BYTES: usize = 256 << 10;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl<R: Read> Lines<R> {
    /// Lines of at most `bytes_max` bytes; longer ones are passed over without being held.
    pub(crate) fn new(from: R, bytes_max: usize) -> Self {
        Lines { from, buffer: vec![], start: 0, ended: false, number: 0, offset: 0, bytes_max }
    }

    /// The next line; a last one without an end counts, and a byte order mark at the beginning does not.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let Some((len, end)) = self.find_end()? else { return Ok(None) };
        self.number += 1;
        let (number, mut offset) = (self.number, self.offset);
        let at = self.start;
        self.start += len + end;
        self.offset += (len + end) as u64;
        let mut text = at..at + len;
        if number == 1 && self.buffer[text.clone()].starts_with(BYTE_ORDER_MARK) {
            text.start += BYTE_ORDER_MARK.len();
            offset += BYTE_ORDER_MARK.len() as u64;
        }
        if self.buffer[text.clone()].ends_with(b"\r") {
            text.end -= 1;
        }
        if text.len() > self.bytes_max {
            self.pass_over(end == 0)?;
            return Ok(Some(Line { number, offset, text: LineText::TooLong }));
        }
        Ok(Some(Line { number, offset, text: LineText::Bytes(&self.buffer[text]) }))
    }

    /// Length of the line at `start` and of its end; a line longer than allowed comes back with what
    /// is there of it and no end.
    fn find_end(&mut self) -> io::Result<Option<(usize, usize)>> {
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.start..];
            if let Some(at) = memchr(b'\n', &rest[searched..]) {
                return Ok(Some((searched + at, 1)));
            }
            searched = rest.len();
            // Room for the mark and the carriage return that do not count.
            if searched > self.bytes_max + 4 {
                return Ok(Some((searched, 0)));
            }
            if self.ended {
                return Ok((searched > 0).then_some((searched, 0)));
            }
            self.fill()?;
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let n = (&mut self.from).take(READ_BYTES as u64).read_to_end(&mut self.buffer)?;
        self.ended = n < READ_BYTES;
        Ok(())
    }

    /// Drops the rest of a line whose end has not been met.
    fn pass_over(&mut self, unfinished: bool) -> io::Result<()> {
        if !unfinished {
            return Ok(());
        }
        loop {
            match memchr(b'\n', &self.buffer[self.start..]) {
                Some(at) => {
                    self.start += at + 1;
                    self.offset += at as u64 + 1;
                    return Ok(());
                }
                None => {
                    self.offset += (self.buffer.len() - self.start) as u64;
                    self.start = self.buffer.len();
                    if self.ended {
                        return Ok(());
                    }
                    self.fill()?;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8], bytes_max: usize) -> Vec<(u64, u64, Option<Vec<u8>>)> {
        let mut lines = Lines::new(text, bytes_max);
        let mut found = vec![];
        while let Some(line) = lines.next().unwrap() {
            let text = match line.text {
                LineText::Bytes(bytes) => Some(bytes.to_vec()),
                LineText::TooLong => None,
            };
            found.push((line.number, line.offset, text));
        }
        found
    }

    #[test]
    fn lines_have_numbers_and_offsets() {
        let found = all(b"\xEF\xBB\xBFab\r\n\nc", 10);
        let expected =
            [(1, 3, Some(b"ab".to_vec())), (2, 7, Some(vec![])), (3, 8, Some(b"c".to_vec()))];
        assert_eq!(found, expected);
        assert!(all(b"", 10).is_empty());
        assert_eq!(all(b"\n", 10), [(1, 0, Some(vec![]))]);
    }

    #[test]
    fn a_line_over_the_limit_is_passed_over_without_being_held() {
        let long = vec![b'x'; 3 * READ_BYTES];
        let text = [b"a\n", &long[..], b"\nb\n", &long, b"\n", &long].concat();
        let mut lines = Lines::new(&*text, 1_000);
        let mut numbers = vec![];
        while let Some(line) = lines.next().unwrap() {
            let at = line.offset as usize;
            if let LineText::Bytes(bytes) = line.text {
                assert_eq!(bytes, &text[at..at + bytes.len()]);
                numbers.push(line.number);
            }
        }
        assert_eq!(numbers, [1, 3]);
        assert_eq!(lines.number, 5);
        assert_eq!(lines.offset, text.len() as u64);
        assert!(lines.buffer.capacity() < 2 * READ_BYTES + 1_000);
    }

    #[test]
    fn the_limit_is_exact() {
        assert_eq!(all(b"12345\n123456\n", 5), [(1, 0, Some(b"12345".to_vec())), (2, 6, None)]);
        assert_eq!(all(b"12345\r\n", 5), [(1, 0, Some(b"12345".to_vec()))]);
        assert_eq!(all(b"1234567890", 5), [(1, 0, None)]);
    }
}
