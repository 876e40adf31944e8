//! Records of delimited text: their ends and their cells.
//!
//! Quotes are read as RFC 4180 has them. A cell that begins with a quote ends with one, has `""` for a quote inside, and may
//! have separators and line ends inside. Blanks around such a cell mean nothing. A quote in any other place of a cell is text:
//! `a"b` and `5" pipe` can be read in one way only. Text after a closing quote, and a quote that is never closed, can not:
//! these are errors with their place, and reading goes on with the line after the one where the quote opened. No record takes
//! more than the memory that one may have.
//!
//! Lines end in `\n` or `\r\n`, or in `\r` where the beginning has no `\n` at all. Empty lines mean nothing.

use std::{
    io::{self, Read},
    ops::Range,
};

use memchr::{memchr, memchr_iter, memchr2};
use treepie::Error;

use super::{BYTE_ORDER_MARK, bad};

/// The characters that make records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// An ASCII character between two cells.
    pub(crate) delimiter: u8,
    /// Whether a cell may be quoted.
    pub(crate) quoting: bool,
}

impl Dialect {
    pub(crate) const COMMA: Dialect = Dialect { delimiter: b',', quoting: true };
    /// Tabs alone separate, and a quote is text.
    pub(crate) const TAB: Dialect = Dialect { delimiter: b'\t', quoting: false };

    /// Whether a byte beside a quoted cell means nothing.
    fn is_blank(self, byte: u8) -> bool {
        matches!(byte, b' ' | b'\t') && byte != self.delimiter
    }
}

/// Splits bytes into records and holds one of them at a time.
#[derive(Debug)]
pub(crate) struct Records<R> {
    from: R,
    dialect: Dialect,
    buffer: Vec<u8>,
    /// Start of the next record in the buffer.
    start: usize,
    ended: bool,
    /// Whether anything was read.
    begun: bool,
    /// Whether lines end in `\r`.
    bare_returns: bool,
    /// Line of `buffer[start]`, from 1.
    line: u64,
    /// Offset of `buffer[start]` in the text.
    offset: u64,
    /// Cells of the last record, without their quotes.
    cells: Vec<Range<usize>>,
    bytes_max: usize,
}

/// Place of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Line of its first byte, from 1.
    pub(crate) line: u64,
    /// Offset of its first byte in the decoded text.
    pub(crate) offset: u64,
}

/// Cells of one record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cells<'b> {
    buffer: &'b [u8],
    cells: &'b [Range<usize>],
}

impl<'b> Cells<'b> {
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'b [u8]> + use<'b> {
        let buffer = self.buffer;
        self.cells.iter().map(move |cell| &buffer[cell.clone()])
    }

    /// Cells, each with whether it was quoted.
    pub(crate) fn with_quotes(&self) -> impl Iterator<Item = (&'b [u8], bool)> + use<'b> {
        let buffer = self.buffer;
        self.cells.iter().map(move |cell| {
            // An opening quote stands right before what it quotes, and a delimiter is none.
            let is_quoted = cell.start.checked_sub(1).is_some_and(|at| buffer[at] == b'"');
            (&buffer[cell.clone()], is_quoted)
        })
    }
}

/// Next thing in the text.
#[derive(Debug)]
pub(crate) enum Next {
    Record(Place),
    /// A record that can be read in no way, or in two.
    Wrong(Error),
    /// A quote that nothing closes before the end of the text.
    Open(Error),
    End,
}

const READ_BYTES: usize = 256 << 10;

/// State of reading one record; positions count from the start of the record.
#[derive(Clone, Copy, Debug)]
struct Scan {
    at: usize,
    part: Part,
    cell_start: usize,
    /// Whether the cell has `""` inside.
    is_doubled: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    CellStart,
    Plain,
    Quoted,
}

enum Step {
    /// The record ends here, and the next one begins.
    Whole(usize),
    More,
    /// Text at a position, after the quote that closes a cell.
    Stray(usize),
    /// The text ends within quotes.
    Open,
}

impl<R: Read> Records<R> {
    /// Records of at most `bytes_max` bytes.
    pub(crate) fn new(from: R, dialect: Dialect, bytes_max: usize) -> Self {
        Records {
            from,
            dialect,
            buffer: vec![],
            start: 0,
            ended: false,
            begun: false,
            bare_returns: false,
            line: 1,
            offset: 0,
            cells: vec![],
            bytes_max,
        }
    }

    /// Cells of the last record that was found.
    pub(crate) fn cells(&self) -> Cells<'_> {
        Cells { buffer: &self.buffer, cells: &self.cells }
    }

    /// Reads the next record; its cells are there until the one after it is read.
    pub(crate) fn advance(&mut self) -> io::Result<Next> {
        if !self.begun {
            self.begin()?;
        }
        self.pass_empty_lines()?;
        self.cells.clear();
        let mut scan = Scan { at: 0, part: Part::CellStart, cell_start: 0, is_doubled: false };
        loop {
            match self.scan(&mut scan) {
                Step::Whole(0) => return Ok(Next::End),
                Step::Whole(len) => return Ok(Next::Record(self.take(len))),
                Step::Stray(at) => return Ok(Next::Wrong(self.stray(scan, at)?)),
                Step::Open => return Ok(Next::Open(self.open(scan, "the end of the input")?)),
                Step::More if self.buffer.len() - self.start > self.bytes_max => {
                    return Ok(Next::Wrong(self.too_long(scan)?));
                }
                Step::More => self.fill()?,
            }
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        self.begun = true;
        self.fill()?;
        if self.buffer.starts_with(BYTE_ORDER_MARK) {
            self.start = BYTE_ORDER_MARK.len();
            self.offset = BYTE_ORDER_MARK.len() as u64;
        }
        self.bare_returns =
            memchr(b'\n', &self.buffer).is_none() && memchr(b'\r', &self.buffer).is_some();
        if self.bare_returns {
            return_to_newline(&mut self.buffer);
        }
        Ok(())
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let before = self.buffer.len();
        let n = (&mut self.from).take(READ_BYTES as u64).read_to_end(&mut self.buffer)?;
        self.ended = n < READ_BYTES;
        if self.bare_returns {
            return_to_newline(&mut self.buffer[before..]);
        }
        Ok(())
    }

    fn pass_empty_lines(&mut self) -> io::Result<()> {
        loop {
            let n = match &self.buffer[self.start..] {
                [b'\n', ..] => 1,
                [b'\r', b'\n', ..] => 2,
                [] | [b'\r'] if !self.ended => {
                    self.fill()?;
                    continue;
                }
                [b'\r'] => 1,
                _ => return Ok(()),
            };
            self.line += 1;
            self.move_on(n);
        }
    }

    /// Goes on with a record as far as the buffer has it.
    fn scan(&mut self, scan: &mut Scan) -> Step {
        let text = &self.buffer[self.start..];
        let Dialect { delimiter, quoting } = self.dialect;
        let cells = &mut self.cells;
        loop {
            match scan.part {
                Part::CellStart => {
                    scan.cell_start = scan.at;
                    scan.part = Part::Plain;
                    if !quoting {
                        continue;
                    }
                    let blanks = text[scan.at..].iter().take_while(|b| self.dialect.is_blank(**b));
                    let first = scan.at + blanks.count();
                    match text.get(first) {
                        Some(b'"') => {
                            scan.part = Part::Quoted;
                            scan.cell_start = first + 1;
                            scan.at = first + 1;
                            scan.is_doubled = false;
                        }
                        None if !self.ended => {
                            scan.part = Part::CellStart;
                            return Step::More;
                        }
                        _ => {}
                    }
                }
                Part::Plain => {
                    let found = memchr2(delimiter, b'\n', &text[scan.at..]);
                    let Some(end) = found.map(|found| scan.at + found) else {
                        scan.at = text.len();
                        if !self.ended {
                            return Step::More;
                        }
                        // Nothing at all is no record.
                        if !text.is_empty() {
                            cells.push(plain_cell(text, scan.cell_start, text.len()));
                        }
                        return Step::Whole(text.len());
                    };
                    if text[end] == b'\n' {
                        cells.push(plain_cell(text, scan.cell_start, end));
                        return Step::Whole(end + 1);
                    }
                    cells.push(scan.cell_start..end);
                    scan.at = end + 1;
                    scan.part = Part::CellStart;
                }
                Part::Quoted => {
                    let Some(found) = memchr(b'"', &text[scan.at..]) else {
                        scan.at = text.len();
                        return if self.ended { Step::Open } else { Step::More };
                    };
                    scan.at += found;
                    let blanks =
                        text[scan.at + 1..].iter().take_while(|b| self.dialect.is_blank(**b));
                    let behind = scan.at + 1 + blanks.count();
                    let rest = &text[behind..];
                    let (end, is_last) = match rest {
                        [b'"', ..] if behind == scan.at + 1 => {
                            scan.is_doubled = true;
                            scan.at += 2;
                            continue;
                        }
                        [] | [b'\r'] if !self.ended => return Step::More,
                        [] | [b'\r'] => (text.len(), true),
                        [b'\n', ..] => (behind + 1, true),
                        [b'\r', b'\n', ..] => (behind + 2, true),
                        [byte, ..] if *byte == delimiter => (behind + 1, false),
                        _ => return Step::Stray(behind),
                    };
                    let cell = scan.cell_start..scan.at;
                    let is_doubled = scan.is_doubled;
                    // Marked by its order, and undone when the record is whole.
                    cells.push(if is_doubled { cell.end..cell.start } else { cell });
                    if is_last {
                        return Step::Whole(end);
                    }
                    scan.at = end;
                    scan.part = Part::CellStart;
                }
            }
        }
    }

    /// Gives out the record of this length.
    fn take(&mut self, len: usize) -> Place {
        let place = Place { line: self.line, offset: self.offset };
        let text = &self.buffer[self.start..self.start + len];
        self.line += memchr_iter(b'\n', text).count() as u64;
        let base = self.start;
        self.move_on(len);
        for cell in &mut self.cells {
            *cell = match cell.start > cell.end {
                true => without_doubled(&mut self.buffer, base + cell.end..base + cell.start),
                false => base + cell.start..base + cell.end,
            };
        }
        place
    }

    /// Goes on by some bytes of the buffer.
    fn move_on(&mut self, n: usize) {
        self.start += n;
        self.offset += n as u64;
    }

    /// Line and column of a position within the record.
    fn line_and_column(&self, at: usize) -> (u64, u64) {
        let before = &self.buffer[self.start..self.start + at];
        let line = self.line + memchr_iter(b'\n', before).count() as u64;
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let is_char = |byte: &&u8| **byte & 0xC0 != 0x80;
        (line, before[line_start..].iter().filter(is_char).count() as u64 + 1)
    }

    /// Goes to the line after the one that a position within the record is on; its rest may still be to be read.
    fn resume_after(&mut self, at: usize) -> io::Result<()> {
        let at = self.start + at;
        self.line += memchr_iter(b'\n', &self.buffer[self.start..at]).count() as u64;
        self.move_on(at - self.start);
        self.cells.clear();
        loop {
            let rest = &self.buffer[self.start..];
            if let Some(end) = memchr(b'\n', rest) {
                self.line += 1;
                self.move_on(end + 1);
                return Ok(());
            }
            self.move_on(rest.len());
            if self.ended {
                return Ok(());
            }
            self.fill()?;
        }
    }

    fn open(&mut self, scan: Scan, found: &str) -> io::Result<Error> {
        let (line, column) = self.line_and_column(scan.cell_start - 1);
        self.resume_after(scan.cell_start)?;
        Ok(bad("reading a quoted cell", line)
            .expected("a closing quote")
            .found(found)
            .at_column(column))
    }

    fn stray(&mut self, scan: Scan, at: usize) -> io::Result<Error> {
        let (line, column) = self.line_and_column(scan.cell_start - 1);
        let (stray_line, stray_column) = self.line_and_column(at);
        let rest = &self.buffer[self.start + at..];
        let rest = String::from_utf8_lossy(&rest[..rest.len().min(4)]);
        let found = rest.chars().next().unwrap_or_default();
        let found = match stray_line == line {
            true => format!("'{found}' at column {stray_column}"),
            false => format!("'{found}' in line {stray_line} at column {stray_column}"),
        };
        self.resume_after(scan.cell_start)?;
        Ok(bad("reading a quoted cell", line)
            .expected("a separator or the end of the line after the closing quote, and \"\" for a quote inside")
            .found(found)
            .at_column(column))
    }

    fn too_long(&mut self, scan: Scan) -> io::Result<Error> {
        let limit = format!("{} MiB", self.bytes_max >> 20);
        if scan.part == Part::Quoted {
            return self.open(scan, &format!("none within {limit}"));
        }
        let error = bad("reading a record", self.line)
            .expected(format!("at most {limit}"))
            .found("a longer one");
        self.resume_after(0)?;
        Ok(error)
    }
}

/// The last cell of a line, without the `\r` of `\r\n`.
fn plain_cell(text: &[u8], from: usize, to: usize) -> Range<usize> {
    from..if text[from..to].ends_with(b"\r") { to - 1 } else { to }
}

/// Writes `"` for each `""` of a cell, in its place.
fn without_doubled(buffer: &mut [u8], cell: Range<usize>) -> Range<usize> {
    let (mut from, mut to) = (cell.start, cell.start);
    while from < cell.end {
        buffer[to] = buffer[from];
        from += if buffer[from] == b'"' { 2 } else { 1 };
        to += 1;
    }
    cell.start..to
}

fn return_to_newline(text: &mut [u8]) {
    text.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Slowly<'t>(&'t [u8]);

    impl Read for Slowly<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let n = into.len().min(1).min(self.0.len());
            into[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    /// Each record as `line: cell|cell`, or what is wrong with it.
    fn all(text: &[u8], dialect: Dialect) -> Vec<String> {
        let mut records = Records::new(Slowly(text), dialect, 1_000);
        let mut found = vec![];
        loop {
            found.push(match records.advance().unwrap() {
                Next::Record(place) => {
                    let cells = records.cells().iter().map(String::from_utf8_lossy);
                    format!("{}: {}", place.line, cells.collect::<Vec<_>>().join("|"))
                }
                Next::Wrong(error) | Next::Open(error) => error.to_string(),
                Next::End => return found,
            });
        }
    }

    #[test]
    fn cells_are_read_as_they_were_written() {
        for (text, expected) in [
            (&b""[..], &[] as &[&str]),
            (b"\n\r\n\r\n", &[]),
            (b"a,b\nc,d", &["1: a|b", "2: c|d"]),
            (b"a,b\r\n\r\nc,d\r\n", &["1: a|b", "3: c|d"]),
            (b"a,b\rc,d\r", &["1: a|b", "2: c|d"]),
            (b"a\n,\n,b,", &["1: a", "2: |", "3: |b|"]),
            (b"\"a\n\r\nb\",c\nd,\"\"\n", &["1: a\n\r\nb|c", "4: d|"]),
            (b"\"a \"\"b\"\"\",\"\"\"\"\r\n\"x\"", &["1: a \"b\"|\"", "2: x"]),
            (b"1,a\"b\n2,5\" pipe\n3,x\"\n", &["1: 1|a\"b", "2: 2|5\" pipe", "3: 3|x\""]),
            (b"a, \"b, c\" ,d\n", &["1: a|b, c|d"]),
            (b" a , b\n", &["1:  a | b"]),
            (b"\xEF\xBB\xBF\"a\",b\n", &["1: a|b"]),
            (b"a\0b,c\n", &["1: a\0b|c"]),
            (b"a\rb,c\nd,e\n", &["1: a\rb|c", "2: d|e"]),
            (b"\"a\"\r", &["1: a"]),
        ] {
            assert_eq!(all(text, Dialect::COMMA), expected, "{}", String::from_utf8_lossy(text));
        }
        assert_eq!(all(b"\"x\ty, z\n", Dialect::TAB), ["1: \"x|y, z"]);
        let pipes = Dialect { delimiter: b'|', quoting: true };
        assert_eq!(all(b"a,b|\"c|d\"\n", pipes), ["1: a,b|c|d"]);
    }

    /// An error is reported at the place of the quote, and the lines after it are read.
    #[test]
    fn a_quote_that_cannot_be_read_loses_its_own_line_only() {
        for (text, message, after) in [
            (
                "1,\"abc\n2,def\n3,ghi",
                "closing quote, found the end of the input (line 1, column 3)",
                &["2: 2|def", "3: 3|ghi"][..],
            ),
            ("1,\"5\" pipe\n2,b\n", "found 'p' at column 7 (line 1, column 3)", &["2: 2|b"]),
            ("\"a\"b\"c\"\n2,b\n", "found 'b' at column 4 (line 1, column 1)", &["2: 2|b"]),
            ("é,\"x\" y\n2,b\n", "found 'y' at column 7 (line 1, column 3)", &["2: 2|b"]),
            (
                "1,\"abc\n2,\"def\"\n3,c\n",
                "found 'd' in line 2 at column 4 (line 1, column 3)",
                &["2: 2|def", "3: 3|c"],
            ),
            ("\"a\nb\",\"c\nd,e\n", "found the end of the input (line 2, column 4)", &["3: d|e"]),
            ("\"", "found the end of the input (line 1, column 1)", &[]),
            ("\"a\"\rb\n2,b", "found '\\r' at column 4", &["2: 2|b"]),
        ] {
            let found = all(text.as_bytes(), Dialect::COMMA);
            assert!(found[0].contains(message), "{text:?}: {found:?}");
            assert_eq!(&found[1..], after, "{text:?}");
        }
    }

    #[test]
    fn a_long_record_takes_no_memory_and_its_line_alone() {
        let long = "x".repeat(3 * READ_BYTES);
        for (text, message) in [
            (format!("a,\"b\n{long}\nc,d\n"), "none within"),
            (format!("a,{long}\nc,d\n"), "found a longer one"),
        ] {
            let mut records = Records::new(text.as_bytes(), Dialect::COMMA, 1_000);
            let Next::Wrong(error) = records.advance().unwrap() else { panic!("{message}") };
            assert!(error.to_string().contains(message), "{error}");
            assert_eq!(error.line(), Some(1));
            let mut last = vec![];
            while let Next::Record(_) | Next::Wrong(_) = records.advance().unwrap() {
                last = records.cells().iter().map(<[u8]>::to_vec).collect();
                assert!(records.buffer.capacity() < 4 * READ_BYTES);
            }
            assert_eq!(last, [b"c", b"d"]);
        }
    }
}
