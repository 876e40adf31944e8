//! CSV and TSV with a header line that names the fields.
//!
//! Every value is a string; an empty cell says that the document has no value there. A field with
//! many values has several columns of the same name. CSV quotes as RFC 4180 says; TSV has no quotes, and
//! the escapes that the module `cells` has: a cell is what stands between two tabs.

use std::{
    io::{self, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use csv::{ByteRecord, ReaderBuilder, Terminator};
use treepie::{Document, Error, ErrorKind, Schema, Value};

use super::{FailureSlot, RECORD_BYTES_MAX, Record, bad, json::unknown_field, text};
use crate::cells;

/// What separates the cells of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    Comma,
    Tab,
}

/// Documents of a CSV or TSV input.
pub(crate) struct Csv<R> {
    records: csv::Reader<Bounded<R>>,
    separator: Separator,
    /// Up to which byte the reader may read for the record it is at.
    allowed: Arc<AtomicU64>,
    failure: FailureSlot,
    lossy: bool,
    columns: Vec<String>,
    /// Those of fields for which blanks say nothing, as far as the header was checked.
    typed: Vec<String>,
    record: ByteRecord,
}

impl<R: Read> Csv<R> {
    /// Reads the header.
    pub(crate) fn new(
        from: R,
        separator: Separator,
        failure: FailureSlot,
        lossy: bool,
    ) -> Result<Self, Error> {
        let allowed = Arc::new(AtomicU64::new(0));
        let from = Bounded { from, n_read: 0, allowed: Arc::clone(&allowed) };
        let records = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(match separator {
                Separator::Comma => b',',
                Separator::Tab => b'\t',
            })
            .quoting(separator == Separator::Comma)
            // With its default the crate is a line behind in files with `\r\n`.
            .terminator(Terminator::Any(b'\n'))
            .from_reader(from);
        let mut csv = Csv {
            records,
            separator,
            allowed,
            failure,
            lossy,
            columns: vec![],
            typed: vec![],
            record: ByteRecord::new(),
        };
        if let Some((line, offset)) = csv.advance()? {
            let record = std::mem::take(&mut csv.record);
            let mut cells = record.iter();
            let first = cells.next().map(|cell| cell.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(cell));
            csv.columns = first
                .into_iter()
                .chain(cells)
                .map(|cell| text(cell.trim_ascii(), lossy, line, offset))
                .map(|name| Ok(value_of(name?, separator).as_str().unwrap_or_default().to_owned()))
                .collect::<Result<_, _>>()?;
        }
        Ok(csv)
    }

    /// The names in the header.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Compares the header with the schema, so that a wrong one is told once and not for each record.
    pub(crate) fn check(&mut self, schema: &Schema) -> Result<(), Error> {
        for (at, name) in self.columns.iter().enumerate() {
            let Some(field) = schema.field(name) else {
                return Err(unknown_field(name, schema, 1));
            };
            if !field.many && self.columns[..at].contains(name) {
                return Err(bad("reading the header", 1)
                    .expected(format!("one column '{name}'"))
                    .found("two")
                    .hint("`many = true` in the schema allows more"));
            }
            if field.kind.is_typed() {
                self.typed.push(name.clone());
            }
        }
        Ok(())
    }

    /// The next document, or what is wrong with the next record; `name` is the input's.
    pub(crate) fn next(&mut self, name: &Path) -> Result<Option<Record>, Error> {
        let Some((line, offset)) = self.advance()? else { return Ok(None) };
        Ok(Some(match self.document(line, offset) {
            Ok(document) => Record::Document { line, document },
            Err(error) => Record::Bad(error.in_file(name)),
        }))
    }

    /// The cells of the next record, for looking at them before there is a schema.
    pub(crate) fn next_cells(&mut self) -> Result<Option<(u64, &ByteRecord)>, Error> {
        let at = self.advance()?;
        Ok(at.map(|(line, _)| (line, &self.record)))
    }

    /// Reads a record; its line and offset, or none at the end.
    fn advance(&mut self) -> Result<Option<(u64, u64)>, Error> {
        loop {
            let Some(at) = self.advance_over_any()? else { return Ok(None) };
            // An empty line that ends in `\r\n`.
            if self.record.len() != 1 || &self.record[0] != b"\r" {
                self.drop_carriage_return();
                return Ok(Some(at));
            }
        }
    }

    fn advance_over_any(&mut self) -> Result<Option<(u64, u64)>, Error> {
        self.allowed.store(self.records.position().byte() + RECORD_BYTES_MAX as u64, Relaxed);
        let line = self.records.position().line();
        match self.records.read_byte_record(&mut self.record) {
            Ok(false) => Ok(None),
            Ok(true) => {
                let at = self.record.position().unwrap_or(self.records.position());
                Ok(Some((at.line(), at.byte())))
            }
            Err(error) => Err(match error.into_kind() {
                csv::ErrorKind::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                    Error::new(ErrorKind::Document, "reading a record")
                        .expected(format!("at most {} MiB", RECORD_BYTES_MAX >> 20))
                        .found("a longer one")
                        .at_line(line)
                        .hint("a quote may be left open")
                }
                csv::ErrorKind::Io(error) => self.failure.or(Error::io("reading the input", error)),
                other => bad("reading a record", line).found(format!("{other:?}")),
            }),
        }
    }

    /// The `\r` of `\r\n` stands at the end of the last cell.
    fn drop_carriage_return(&mut self) {
        let last = self.record.len().saturating_sub(1);
        if self.record.get(last).is_some_and(|cell| cell.ends_with(b"\r")) {
            let cell = self.record[last].strip_suffix(b"\r").unwrap_or_default().to_vec();
            self.record.truncate(last);
            self.record.push_field(&cell);
        }
    }

    fn document(&self, line: u64, offset: u64) -> Result<Document, Error> {
        if self.record.len() != self.columns.len() {
            return Err(bad("reading a record", line)
                .expected(format!("{} cells, as in the header", self.columns.len()))
                .found(self.record.len().to_string()));
        }
        let mut document = Document::new();
        for (name, cell) in self.columns.iter().zip(&self.record) {
            let is_blank = match self.typed.contains(name) {
                true => cell.trim_ascii().is_empty(),
                false => cell.is_empty(),
            };
            if !is_blank {
                let cell = text(cell, self.lossy, line, offset)?;
                document.push(name.clone(), value_of(cell, self.separator));
            }
        }
        Ok(document)
    }
}

/// The value of a cell that is not empty.
fn value_of(cell: String, separator: Separator) -> Value {
    match separator {
        Separator::Comma => cells::of_csv(&cell, false).into(),
        Separator::Tab if !cell.contains('\\') => cell.into(),
        Separator::Tab => cells::of_tsv(&cell).into(),
    }
}

/// Refuses to read on for ever: an open quote would make one record of the rest of the file.
struct Bounded<R> {
    from: R,
    n_read: u64,
    allowed: Arc<AtomicU64>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.n_read > self.allowed.load(Relaxed) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let n = self.from.read(into)?;
        self.n_read += n as u64;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Found = Vec<Result<(u64, Document), String>>;

    fn read(text: &[u8], separator: Separator) -> Result<Found, Error> {
        let mut csv = Csv::new(text, separator, FailureSlot::default(), false)?;
        let mut found = vec![];
        while let Some(record) = csv.next(Path::new("a.csv"))? {
            found.push(match record {
                Record::Document { line, document } => Ok((line, document)),
                Record::Bad(error) => Err(error.to_string()),
            });
        }
        Ok(found)
    }

    #[test]
    fn the_header_names_the_fields() {
        let found = read(
            b"\xEF\xBB\xBFtitle,tag,tag\r\n\"a, \"\"b\"\"\nc\",x,\r\n\r\nd,y,z\n",
            Separator::Comma,
        );
        let first = Document::new().with("title", "a, \"b\"\nc").with("tag", "x");
        let second = Document::new().with("title", "d").with("tag", "y").with("tag", "z");
        assert_eq!(found.unwrap(), [Ok((2, first)), Ok((5, second))]);
    }

    #[test]
    fn tabs_separate_and_quotes_are_text() {
        let found = read(b"a\tb\n\"x\ty, z\n", Separator::Tab);
        assert_eq!(found.unwrap(), [Ok((2, Document::new().with("a", "\"x").with("b", "y, z")))]);
    }

    #[test]
    fn escapes_of_tsv_are_read() {
        let found = read(b"a\tb\nx\\ty\\\\\t\\e\n\\N\tC:\\dir\n", Separator::Tab);
        let first = Document::new().with("a", "x\ty\\").with("b", "");
        let second = Document::new().with("a", None::<&str>).with("b", "C:\\dir");
        assert_eq!(found.unwrap(), [Ok((2, first)), Ok((3, second))]);
    }

    #[test]
    fn what_does_not_fit_is_told_with_its_line() {
        let found = read(b"a,b\n1,2\n3\n\xFF,4\n5,6\n", Separator::Comma).unwrap();
        assert!(found[1].as_ref().unwrap_err().contains("expected 2 cells"));
        assert!(found[1].as_ref().unwrap_err().contains("line 3"));
        assert!(found[2].as_ref().unwrap_err().contains("expected UTF-8"));
        assert!(found[3].is_ok());
        let schema = Schema::builder().text("a").build().unwrap();
        let header = |text: &'static [u8]| {
            Csv::new(text, Separator::Comma, FailureSlot::default(), false).unwrap().check(&schema)
        };
        assert!(header(b"a\n").is_ok());
        assert!(header(b"a,b\n").unwrap_err().to_string().contains("'b'"));
        assert!(header(b"a,a\n").unwrap_err().to_string().contains("many = true"));
    }

    #[test]
    fn an_open_quote_does_not_swallow_the_memory() {
        let mut text = b"a\n\"".to_vec();
        text.resize(3 * RECORD_BYTES_MAX, b'x');
        let error = read(&text, Separator::Comma).unwrap_err();
        assert!(error.to_string().contains("quote"), "{error}");
        assert_eq!(error.line(), Some(2));
    }

    #[test]
    fn nothing_at_all_has_no_columns() {
        assert!(read(b"", Separator::Comma).unwrap().is_empty());
    }
}
