//! Lines of text as documents: the way in for big lists.
//!
//! Input is read once, from front to back, straight into the buffer that a worker will tokenize;
//! whether it is UTF-8 is checked a block at a time. Only a block with a bad line, a carriage
//! return or the dump's header is taken apart line by line.

use crate::analysis::BULK_PADDING;
use crate::error::{Error, ErrorKind, Result};
use crate::format::stored::ChunkWriter;
use crate::schema::{FieldKind, Schema};
use crate::writer::batch::{LineBatch, LineFields, VALUE_BYTES_MAX};
use std::io::Read;

/// Bytes asked of the input at once.
const READ_BYTES: usize = 256 << 10;
/// The first line of a dump of titles.
const DUMP_HEADER: &[u8] = b"page_title";
/// Bad lines that a report describes.
const REPORTED_LINES_MAX: usize = 10;

/// Format of a line of input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineFormat(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Field(String),
    Titles,
}

impl LineFormat {
    /// Lines that are values of the text field `name`.
    pub fn field(name: impl Into<String>) -> Self {
        LineFormat(Kind::Field(name.into()))
    }

    /// Lines that are titles with a qualifier, as in dumps of Wikimedia.
    ///
    /// Underscores stand for spaces, and a first line `page_title` is skipped. The text is the value
    /// of `title`; a trailing "(…)" without inner parentheses is that of `qualifier`.
    pub fn titles() -> Self {
        LineFormat(Kind::Titles)
    }

    /// Returns a schema with the fields that lines of this format fill.
    ///
    /// An index may have others as well: its documents then have no values of those.
    ///
    /// ```
    /// use treepie::{Index, writer::{BadLines, LineFormat}};
    ///
    /// let format = LineFormat::titles();
    /// let index = Index::in_memory(format.schema()?);
    /// let mut writer = index.writer()?;
    /// writer.add_lines(&b"Paris_(film)\n"[..], &format, BadLines::Refuse)?;
    /// writer.commit()?;
    /// let searcher = index.searcher()?;
    /// assert_eq!(searcher.count(&searcher.parse("qualifier:film")?)?, 1);
    /// # Ok::<(), treepie::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The name of a field is not one, see [`SchemaBuilder::build`](crate::SchemaBuilder::build).
    pub fn schema(&self) -> Result<Schema> {
        match &self.0 {
            Kind::Field(name) => Schema::builder().text(name).build(),
            Kind::Titles => Ok(Schema::of_titles()),
        }
    }

    pub(crate) fn resolve(&self, schema: &Schema) -> Result<LineFields> {
        let find = |name: &str, kind: FieldKind| match schema.field_id(name) {
            Some(id) if schema.get(id).copy_of.is_some() => {
                Err(Error::new(ErrorKind::Schema, "indexing lines")
                    .expected(format!("a field '{name}' with values of its own"))
                    .found("a copy of another"))
            }
            Some(id) if schema.get(id).kind == kind => Ok(id.0),
            found => Err(Error::new(ErrorKind::Schema, "indexing lines")
                .expected(format!("a field '{name}' of type {}", kind.name()))
                .found(found.map_or("none", |id| schema.get(id).kind.name()))),
        };
        if schema.keeps_nulls() {
            return Err(Error::new(ErrorKind::Schema, "indexing lines")
                .expected(
                    "a schema that keeps no nulls, as a line says of no field that it is null",
                )
                .found("one that keeps them")
                .hint("documents can be added one by one"));
        }
        let fields = match &self.0 {
            Kind::Field(name) => LineFields { text: find(name, FieldKind::Text)?, qualifier: None },
            Kind::Titles => LineFields {
                text: find("title", FieldKind::Text)?,
                qualifier: {
                    let field = find("qualifier", FieldKind::Keyword)?;
                    let of_schema = &schema.fields()[usize::from(field)];
                    let wrong = match of_schema.normalizer_spec() {
                        Some(_) => Some(("without a normalizer", "one with a normalizer")),
                        // Lines store their text, and the qualifier is a part of that.
                        None if of_schema.stored => Some(("that is not stored", "a stored one")),
                        None => None,
                    };
                    if let Some((expected, found)) = wrong {
                        return Err(Error::new(ErrorKind::Usage, "adding lines as titles")
                            .expected(format!("a field 'qualifier' {expected}"))
                            .found(found)
                            .hint("documents can be added one by one"));
                    }
                    Some(field)
                },
            },
        };
        let mut copies = fields.copies(schema).map(|(_, copy)| schema.get(copy));
        match copies.find(|copy| copy.normalizer_spec().is_some()) {
            Some(copy) => Err(Error::new(ErrorKind::Schema, "indexing lines")
                .expected("copies without a normalizer")
                .found(format!("'{}' with one", copy.name))
                .hint("documents fill such copies, too: of an index of these lines, `treepie export OLD >all.jsonl` makes some")),
            None => Ok(fields),
        }
    }
}

/// Policy for lines that are not UTF-8 or too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadLines {
    /// Stop with an error that names the line.
    #[default]
    Refuse,
    /// Leave them out, count them, describe the first ten.
    Skip,
    /// Replace invalid UTF-8 by U+FFFD; a line that is too long is still an error.
    Lossy,
    /// Replace what is not UTF-8 by U+FFFD, and leave out lines that are too long.
    SkipLossy,
}

/// Report on the lines of one input.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct LinesReport {
    /// Lines read, the header and bad ones included.
    pub lines: u64,
    /// Documents added.
    pub documents: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Lines left out because they were bad.
    pub skipped: u64,
    /// Lines in which bytes were replaced.
    pub replaced: u64,
    /// Errors of the first ten lines that were skipped.
    pub first_skipped: Vec<Error>,
}

/// Cuts an input into batches.
#[derive(Debug)]
pub(crate) struct LineReader<R> {
    input: R,
    fields: LineFields,
    bad_lines: BadLines,
    pub(crate) report: LinesReport,
    batch: LineBatch,
    /// Bytes of `batch.text` up to here are whole, checked lines.
    checked: usize,
    value_bytes_of_chunk: usize,
    /// Bytes that a line may have.
    line_bytes: usize,
    next_doc: u32,
    /// Inside a line that is too long and is being skipped.
    discarding: bool,
    at_end: bool,
    /// Whether the last line had no newline and was given one.
    ended_last_line: bool,
}

impl<R: Read> LineReader<R> {
    /// Reads `input`, whose first document will have the number `next_doc`.
    pub(crate) fn new(input: R, fields: LineFields, bad_lines: BadLines, next_doc: u32) -> Self {
        LineReader {
            input,
            fields,
            bad_lines,
            report: LinesReport::default(),
            batch: LineBatch { fields, ..LineBatch::default() },
            checked: 0,
            value_bytes_of_chunk: 0,
            line_bytes: VALUE_BYTES_MAX,
            next_doc,
            discarding: false,
            at_end: false,
            ended_last_line: false,
        }
    }

    /// Takes lines of at most so many bytes.
    pub(crate) fn with_line_bytes(mut self, line_bytes: usize) -> Self {
        self.line_bytes = line_bytes;
        self
    }

    /// Puts all documents cut so far into a segment: the next document is the first of another.
    pub(crate) fn begin_segment(&mut self) {
        self.next_doc = self.batch.n_lines;
    }

    /// The next batch of at least `target_bytes` where the input has them; `None` at its end.
    pub(crate) fn next_batch(&mut self, target_bytes: usize) -> Result<Option<LineBatch>> {
        loop {
            if let Some(cut) =
                self.batch.chunk_ends.last().copied().filter(|&end| end >= target_bytes)
            {
                return Ok(Some(self.cut(cut)));
            }
            if self.at_end {
                let whole = self.checked;
                if whole == 0 {
                    return Ok(None);
                }
                if self.batch.chunk_ends.last() != Some(&whole) {
                    self.batch.chunk_ends.push(whole);
                    self.value_bytes_of_chunk = 0;
                }
                return Ok(Some(self.cut(whole)));
            }
            self.read_block(target_bytes)?;
        }
    }

    /// Takes the first `len` bytes, which end a chunk, and keeps the rest for the next batch.
    fn cut(&mut self, len: usize) -> LineBatch {
        let rest = self.batch.text[len..].to_vec();
        let next = LineBatch { text: rest, fields: self.fields, ..LineBatch::default() };
        let mut batch = std::mem::replace(&mut self.batch, next);
        batch.text.truncate(len);
        batch.text.extend_from_slice(&[0; BULK_PADDING]);
        batch.len = len;
        // Lines behind the cut, at most one block of them, belong to the next batch.
        let behind =
            memchr::memchr_iter(b'\n', &self.batch.text[..self.checked - len]).count() as u32;
        self.batch.n_lines = behind;
        batch.n_lines -= behind;
        self.checked -= len;
        batch
    }

    fn read_block(&mut self, target_bytes: usize) -> Result<()> {
        let text = &mut self.batch.text;
        let from = text.len();
        if text.capacity() < from + READ_BYTES {
            // One allocation for the usual batch; afterwards it grows by blocks.
            text.reserve_exact(
                (target_bytes + 4 * READ_BYTES).saturating_sub(from).max(2 * READ_BYTES),
            );
        }
        text.resize(from + READ_BYTES, 0);
        let read = loop {
            match self.input.read(&mut text[from..]) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        text.truncate(from + *read.as_ref().unwrap_or(&0));
        let read = read.map_err(|error| {
            Error::io(format!("reading the input after {} bytes", self.report.bytes), error)
                .at_line(self.report.lines + 1)
        })?;
        self.report.bytes += read as u64;
        if read == 0 {
            self.at_end = true;
            if self.discarding {
                self.discarding = false;
                self.batch.text.truncate(self.checked);
            }
            if self.batch.text.len() > self.checked {
                self.batch.text.push(b'\n');
                self.ended_last_line = true;
            }
        }
        self.take_lines(from)
    }

    /// Checks the lines that are whole by now; the bytes from `new` on have just been read.
    fn take_lines(&mut self, new: usize) -> Result<()> {
        if self.discarding {
            let Some(end) = memchr::memchr(b'\n', &self.batch.text[new..]) else {
                self.batch.text.truncate(self.checked);
                return Ok(());
            };
            self.batch.text.drain(self.checked..new + end + 1);
            self.discarding = false;
        }
        let new = new.min(self.batch.text.len()).max(self.checked);
        let Some(last) = memchr::memrchr(b'\n', &self.batch.text[new..]) else {
            return self.check_unfinished_line();
        };
        let end = new + last + 1;
        let block = &self.batch.text[self.checked..end];
        let is_dump_header = self.report.lines == 0
            && self.fields.qualifier.is_some()
            && block.starts_with(DUMP_HEADER);
        let is_long = block.len() > self.line_bytes
            && block.split(|byte| *byte == b'\n').any(|line| line.len() > self.line_bytes);
        let plain = !is_dump_header
            && !is_long
            && simdutf8::basic::from_utf8(block).is_ok()
            && memchr::memchr(b'\r', block).is_none();
        if plain {
            self.count_lines(end);
        } else {
            let block = self.batch.text[self.checked..].to_vec();
            let len = end - self.checked;
            self.batch.text.truncate(self.checked);
            let offset = self.report.bytes + u64::from(self.ended_last_line) - block.len() as u64;
            self.take_one_by_one(&block[..len], offset)?;
            self.batch.text.extend_from_slice(&block[len..]);
        }
        self.check_unfinished_line()
    }

    /// Accepts the lines up to `end` as they are and notes where chunks end.
    fn count_lines(&mut self, end: usize) {
        let from = self.checked;
        let mut line_start = from;
        let mut n_lines = 0;
        for at in memchr::memchr_iter(b'\n', &self.batch.text[from..end]) {
            let line_end = from + at;
            n_lines += 1;
            self.value_bytes_of_chunk += line_end - line_start;
            line_start = line_end + 1;
            if ChunkWriter::ends_chunk(self.next_doc + n_lines, self.value_bytes_of_chunk) {
                self.batch.chunk_ends.push(line_start);
                self.value_bytes_of_chunk = 0;
            }
        }
        self.checked = end;
        self.batch.n_lines += n_lines;
        self.next_doc += n_lines;
        self.report.lines += u64::from(n_lines);
        self.report.documents += u64::from(n_lines);
    }

    /// Takes a block of whole lines, at `offset` of the input, apart: mends, skips or refuses those
    /// that need it.
    fn take_one_by_one(&mut self, block: &[u8], mut offset: u64) -> Result<()> {
        for line in block.split_inclusive(|&byte| byte == b'\n') {
            let number = self.report.lines + 1;
            let content = &line[..line.len() - 1];
            let content = content.strip_suffix(b"\r").unwrap_or(content);
            let is_header =
                number == 1 && self.fields.qualifier.is_some() && content == DUMP_HEADER;
            match std::str::from_utf8(content) {
                _ if is_header => self.report.lines += 1,
                Ok(_) if content.len() > self.line_bytes => {
                    self.skip(too_long(content.len(), self.line_bytes, number))?
                }
                Ok(_) => self.take(content),
                Err(bad) if matches!(self.bad_lines, BadLines::Lossy | BadLines::SkipLossy) => {
                    debug_assert!(bad.valid_up_to() < content.len());
                    self.report.replaced += 1;
                    self.take(String::from_utf8_lossy(content).as_bytes());
                }
                Err(bad) => {
                    let at = bad.valid_up_to();
                    self.skip(
                        Error::new(ErrorKind::Document, "reading a line")
                            .expected("UTF-8")
                            .found(format!("the byte 0x{:02X}", content[at]))
                            .at_offset(offset + at as u64)
                            .at_line(number)
                            .hint("--lossy replaces such bytes, --encoding reads those of another encoding, --skip-bad-lines leaves such lines out"),
                    )?;
                }
            }
            offset += line.len() as u64;
        }
        Ok(())
    }

    fn take(&mut self, line: &[u8]) {
        self.batch.text.extend_from_slice(line);
        self.batch.text.push(b'\n');
        self.count_lines(self.batch.text.len());
    }

    fn skip(&mut self, error: Error) -> Result<()> {
        if !matches!(self.bad_lines, BadLines::Skip | BadLines::SkipLossy) {
            return Err(error);
        }
        self.report.lines += 1;
        self.report.skipped += 1;
        if self.report.first_skipped.len() < REPORTED_LINES_MAX {
            self.report.first_skipped.push(error);
        }
        Ok(())
    }

    /// A line must not grow without bound before its end is seen.
    fn check_unfinished_line(&mut self) -> Result<()> {
        let len = self.batch.text.len() - self.checked;
        if len <= self.line_bytes {
            return Ok(());
        }
        self.skip(too_long(len, self.line_bytes, self.report.lines + 1))?;
        self.batch.text.truncate(self.checked);
        self.discarding = true;
        Ok(())
    }
}

fn too_long(len: usize, limit: usize, line: u64) -> Error {
    Error::new(ErrorKind::Document, "reading a line")
        .expected(format!("at most {limit} bytes"))
        .found(format!("{len} or more"))
        .at_line(line)
        .hint("--skip-bad-lines leaves such lines out")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TITLES: LineFields = LineFields { text: 0, qualifier: Some(1) };
    const PLAIN: LineFields = LineFields { text: 0, qualifier: None };

    /// Gives its bytes a few at a time, so that lines are cut by reads.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let len = self.1.min(self.0.len()).min(buffer.len());
            let (now, later) = self.0.split_at(len);
            buffer[..len].copy_from_slice(now);
            self.0 = later;
            Ok(len)
        }
    }

    fn read(
        input: &[u8],
        fields: LineFields,
        bad: BadLines,
        step: usize,
    ) -> Result<(Vec<String>, LinesReport)> {
        let mut reader = LineReader::new(Trickle(input, step), fields, bad, 0);
        let mut lines = vec![];
        while let Some(batch) = reader.next_batch(64)? {
            assert_eq!(batch.chunk_ends.last(), Some(&batch.len));
            let text = std::str::from_utf8(&batch.text[..batch.len]).unwrap();
            assert_eq!(text.lines().count() as u32, batch.n_lines);
            lines.extend(text.split_terminator('\n').map(str::to_owned));
        }
        Ok((lines, reader.report))
    }

    #[test]
    fn lines_come_through_whatever_the_reads() {
        let input = "page_title\nA_(b)\r\n\nÜber\nlast".as_bytes();
        for step in 1..40 {
            let (lines, report) = read(input, TITLES, BadLines::Refuse, step).unwrap();
            assert_eq!(lines, ["A_(b)", "", "Über", "last"], "{step}");
            assert_eq!((report.lines, report.documents, report.bytes), (5, 4, input.len() as u64));
            let (lines, _) = read(input, PLAIN, BadLines::Refuse, step).unwrap();
            assert_eq!(lines[0], "page_title", "only the preset knows the header");
        }
        assert_eq!(read(b"", TITLES, BadLines::Refuse, 1).unwrap().0.len(), 0);
    }

    #[test]
    fn bad_lines_are_refused_skipped_or_mended() {
        let input = b"good\nb\xFFd\nfine\n\xC3\n";
        for step in 1..20 {
            let error = read(input, PLAIN, BadLines::Refuse, step).unwrap_err();
            assert_eq!(
                (error.kind(), error.line(), error.offset()),
                (ErrorKind::Document, Some(2), Some(6)),
                "{step}"
            );
            let (lines, report) = read(input, PLAIN, BadLines::Skip, step).unwrap();
            assert_eq!((lines, report.skipped), (vec!["good".into(), "fine".into()], 2));
            assert_eq!(report.first_skipped[1].line(), Some(4));
            let (lines, report) = read(input, PLAIN, BadLines::Lossy, step).unwrap();
            assert_eq!(
                (lines, report.replaced),
                (vec!["good".into(), "b\u{FFFD}d".into(), "fine".into(), "\u{FFFD}".into()], 2)
            );
        }
    }

    #[test]
    fn a_line_without_end_is_an_error_not_a_burst_of_memory() {
        let mut input = b"first\n".to_vec();
        input.resize(3 * VALUE_BYTES_MAX, b'x');
        input.extend_from_slice(b"\nlast\n");
        let error = read(&input, PLAIN, BadLines::Lossy, 1 << 20).unwrap_err();
        assert_eq!((error.kind(), error.line()), (ErrorKind::Document, Some(2)));
        let (lines, report) = read(&input, PLAIN, BadLines::Skip, 1 << 20).unwrap();
        assert_eq!(
            (lines, report.skipped, report.lines),
            (vec!["first".into(), "last".into()], 1, 3)
        );
    }

    #[test]
    fn batches_end_where_chunks_end_however_the_input_is_cut() {
        let input: String = (0..200_000).map(|i| format!("title number {i}\n")).collect();
        let mut ends = vec![];
        for target in [1, 1 << 20, 1 << 30] {
            let mut reader = LineReader::new(input.as_bytes(), PLAIN, BadLines::Refuse, 7);
            let (mut at, mut all) = (0, vec![]);
            while let Some(batch) = reader.next_batch(target).unwrap() {
                all.extend(batch.chunk_ends.iter().map(|end| at + end));
                at += batch.len;
            }
            ends.push(all);
        }
        assert_eq!(ends[0].len(), 4);
        assert!(ends[0] == ends[1] && ends[1] == ends[2]);
    }

    #[test]
    fn batches_of_another_segment_end_where_its_chunks_end() {
        // The first chunk ends by its bytes.
        let long = format!("{}\n", "x".repeat(60_000)).repeat(100);
        let input = [long, "short\n".repeat(70_000)].concat();
        let mut reader = LineReader::new(input.as_bytes(), PLAIN, BadLines::Refuse, 7);
        let mut n_lines = vec![];
        while let Some(batch) = reader.next_batch(1).unwrap() {
            n_lines.push(batch.n_lines);
            if n_lines.len() == 1 {
                reader.begin_segment();
            }
        }
        assert_eq!(n_lines, [70, 65_536, 4_494]);
    }
}
