//! CSV and TSV with a header line that names the fields.
//!
//! Every value is a string; an empty cell says that the document has no value there. A field with
//! many values has several columns of the same name. CSV quotes as RFC 4180 says; TSV has no quotes, and
//! the escapes that the module `cells` has: a cell is what stands between two tabs. A column without a name
//! holds nothing: a value in one is an error.

use std::{borrow::Cow, cell::Cell, io::Read, path::Path};

use treepie::{Document, Error, Schema};

use super::{
    FailureSlot, RECORD_BYTES_MAX, Record, bad,
    json::{no_known_field, unknown_field},
    records::{Cells, Dialect, Next, Place, Records},
    remarks::Remarks,
    settings::InputSettings,
    text,
};
use crate::cells;

/// Documents of a CSV or TSV input.
pub(crate) struct Csv<R> {
    records: Records<R>,
    /// Whether a backslash may mean another character in a cell, as in TSV.
    has_escapes: bool,
    failure: FailureSlot,
    lossy: bool,
    /// Names in the header, which begins at this line.
    columns: Vec<String>,
    header_line: u64,
    /// Fields that get what stands in a column; none of them for a column that is left out.
    targets: Vec<Target>,
    settings: InputSettings,
    has_formats: bool,
    /// Whether an escape was read as what it stands for.
    has_undone: Cell<bool>,
    /// The first line whose cells are all between quotes that are text.
    quoted_line: Option<u64>,
    has_told_quotes: bool,
    remarks: Remarks,
}

/// Target of the cells of a column.
#[derive(Clone, Debug, PartialEq)]
enum Target {
    /// Into these fields; whether blanks say nothing in one.
    Fields(Vec<(String, bool)>),
    /// Nowhere, as no field is of this name, and that was asked for.
    LeftOut,
    /// Nowhere, as the column has no name.
    Nameless,
}

impl<R: Read> Csv<R> {
    /// Reads the header.
    pub(crate) fn new(
        from: R,
        dialect: Dialect,
        failure: FailureSlot,
        lossy: bool,
    ) -> Result<Self, Error> {
        let mut csv = Csv {
            records: Records::new(from, dialect, RECORD_BYTES_MAX),
            has_escapes: !dialect.quoting,
            failure,
            lossy,
            columns: vec![],
            header_line: 1,
            targets: vec![],
            settings: InputSettings::default(),
            has_formats: false,
            has_undone: Cell::new(false),
            quoted_line: None,
            has_told_quotes: false,
            remarks: Remarks::default(),
        };
        match csv.advance()? {
            Next::Record(Place { line, offset }) => {
                let name = |cell: &[u8]| {
                    let name = csv.value_of(text(cell, lossy, line, offset)?, false);
                    Ok(one_line(&name.unwrap_or_default()))
                };
                csv.columns = csv.records.cells().iter().map(name).collect::<Result<_, _>>()?;
                csv.header_line = line;
                csv.see_quotes(line);
            }
            Next::Wrong(error) | Next::Open(error) => return Err(error),
            Next::End => {}
        }
        Ok(csv)
    }

    /// Makes remarks here about escapes that are undone and quotes that are kept.
    pub(crate) fn with_remarks(mut self, remarks: Remarks) -> Self {
        self.remarks = remarks;
        self
    }

    /// The names in the header.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Compares the header with the schema, so that a wrong one is told once and not for each record.
    pub(crate) fn check(&mut self, schema: &Schema, settings: &InputSettings) -> Result<(), Error> {
        let line = self.header_line;
        let mut filled: Vec<String> = vec![];
        let is_known = |name: &String| {
            !settings.targets(name, schema).is_empty() || !settings.parts_of_points(name).is_empty()
        };
        let has_known = self.columns.iter().any(is_known);
        if !has_known && self.columns.iter().any(|name| !name.is_empty()) {
            // Not one of them is worth leaving out: all documents would be empty.
            let names = self.columns.iter().map(|name| &**name).filter(|name| !name.is_empty());
            return Err(no_known_field(names, schema, line).hint(match self.quoted_line {
                Some(_) => "--input-format csv --delimiter tab reads the quotes as quotes",
                None => "`from` in the schema file says which column a field is read from",
            }));
        }
        for name in &self.columns {
            if name.is_empty() {
                self.targets.push(match settings.ignores_unknown() {
                    true => Target::LeftOut,
                    false => Target::Nameless,
                });
                continue;
            }
            let fields = settings.targets(name, schema);
            let parts = settings.parts_of_points(name);
            if !parts.is_empty() {
                let fields = fields.iter().map(|field| field.name.clone());
                let all = fields.chain(parts).map(|name| (name, true));
                self.targets.push(Target::Fields(all.collect()));
                continue;
            }
            if fields.is_empty() && settings.ignores_unknown() {
                settings.leave_out(name);
                self.targets.push(Target::LeftOut);
                continue;
            }
            if fields.is_empty() {
                return Err(unknown_field(name, schema, line)
                    .hint("`from` in the schema file says which column a field is read from"));
            }
            if let Some(field) =
                fields.iter().find(|field| !field.many && filled.contains(&field.name))
            {
                return Err(bad("reading the header", line)
                    .expected(format!("one column '{}'", field.name))
                    .found("two")
                    .hint("`many = true` in the schema allows more"));
            }
            filled.extend(fields.iter().map(|field| field.name.clone()));
            let is_point = |kind| matches!(kind, treepie::FieldKind::Point { .. });
            let says_nothing = |kind: treepie::FieldKind| {
                kind.is_typed() || kind.vector().is_some() || is_point(kind)
            };
            let target = |field: &&treepie::Field| (field.name.clone(), says_nothing(field.kind));
            self.targets.push(Target::Fields(fields.iter().map(target).collect()));
        }
        self.settings = settings.clone();
        self.has_formats = settings.has_formats();
        Ok(())
    }

    /// The next document, or what is wrong with the next record; `name` is the input's.
    pub(crate) fn next(&mut self, name: &Path) -> Result<Option<Record>, Error> {
        let place = match self.advance()? {
            Next::Record(place) => place,
            Next::Wrong(error) | Next::Open(error) => {
                return Ok(Some(Record::Bad(error.in_file(name))));
            }
            Next::End => return Ok(None),
        };
        let document = self.document(place);
        if self.has_escapes {
            self.see_quotes(place.line);
            self.remark(name, place.line);
        }
        Ok(Some(match document {
            Ok(document) => Record::Document { line: place.line, document },
            Err(error) => Record::Bad(error.in_file(name)),
        }))
    }

    /// Notes a line whose cells all begin and end with a quote, where quotes are text.
    fn see_quotes(&mut self, line: u64) {
        let is_quoted = |cell: &[u8]| matches!(cell, [b'"', .., b'"']);
        if self.has_escapes
            && self.quoted_line.is_none()
            && self.records.cells().iter().all(is_quoted)
        {
            self.quoted_line = Some(line);
        }
    }

    /// Says once what of the lines up to this one may have been meant in another way.
    fn remark(&mut self, name: &Path, line: u64) {
        let name = name.display();
        if self.has_undone.replace(false) {
            self.remarks.add(
                format!("escapes in {name}"),
                format!(
                    "{name}: escapes with a backslash are read as what they stand for, first in line {line}; \
                     --input-format csv --delimiter tab keeps them"
                ),
            );
        }
        if let Some(line) = self.quoted_line
            && !std::mem::replace(&mut self.has_told_quotes, true)
        {
            self.remarks.add(
                format!("quotes in {name}"),
                format!(
                    "{name}: quotes around every cell are kept as text, first in line {line}; \
                     --input-format csv --delimiter tab reads them as quotes"
                ),
            );
        }
    }

    /// The cells of the next record, for looking at them before there is a schema. Records that cannot be read are told when
    /// their turn comes. After a quote that the text does not close nothing can be known, unless this `is_all` of the text: then
    /// the lines after it are read as they are where bad ones are skipped.
    pub(crate) fn next_cells(&mut self, is_all: bool) -> Result<Option<(u64, Cells<'_>)>, Error> {
        loop {
            match self.advance()? {
                Next::Record(place) => return Ok(Some((place.line, self.records.cells()))),
                Next::Wrong(_) => {}
                Next::Open(_) if is_all => {}
                Next::Open(_) | Next::End => return Ok(None),
            }
        }
    }

    fn advance(&mut self) -> Result<Next, Error> {
        self.records
            .advance()
            .map_err(|error| self.failure.or(Error::io("reading the input", error)))
    }

    /// The value of a cell, if it has one.
    fn value_of(&self, cell: String, is_quoted: bool) -> Option<String> {
        match self.has_escapes {
            true if cell.contains('\\') => {
                let value = cells::of_tsv(&cell);
                if value.as_deref() != Some(&*cell) {
                    self.has_undone.set(true);
                }
                value.map(Cow::into_owned)
            }
            true => Some(cell).filter(|cell| !cell.is_empty()),
            false => cells::of_csv(&cell, is_quoted).is_some().then_some(cell),
        }
    }

    fn document(&self, Place { line, offset }: Place) -> Result<Document, Error> {
        let cells = self.records.cells();
        if cells.len() != self.columns.len() {
            return Err(bad("reading a record", line)
                .expected(format!("{} cells, as in the header", self.columns.len()))
                .found(cells.len().to_string()));
        }
        let mut document = Document::new();
        for (at, (target, (cell, is_quoted))) in
            self.targets.iter().zip(cells.with_quotes()).enumerate()
        {
            let fields = match target {
                Target::Fields(fields) => fields,
                Target::Nameless if !cell.trim_ascii().is_empty() => {
                    return Err(bad("reading a record", line)
                        .expected(format!("a name for column {} in the header", at + 1))
                        .found(format!(
                            "none, and the value '{}' (--ignore-unknown leaves it out)",
                            String::from_utf8_lossy(cell)
                        )));
                }
                Target::LeftOut | Target::Nameless => continue,
            };
            for (name, blanks_say_nothing) in fields {
                let is_blank = match blanks_say_nothing {
                    true => cell.trim_ascii().is_empty(),
                    // An empty text is one in quotes, as in PostgreSQL.
                    false if self.settings.trim => cell.trim_ascii().is_empty() && !is_quoted,
                    false => cell.is_empty() && !is_quoted,
                };
                if !is_blank {
                    match self.value_of(text(cell, self.lossy, line, offset)?, is_quoted) {
                        Some(text) if self.has_formats => {
                            for value in self.settings.values(name, text, line)? {
                                document.push(name.clone(), value);
                            }
                        }
                        value => document.push(name.clone(), value),
                    }
                }
            }
        }
        Ok(document)
    }
}

/// A name without blanks at its ends, and with one for a line break in it.
fn one_line(name: &str) -> String {
    let words = name.trim().split(char::is_control).filter(|words| !words.is_empty());
    words.map(str::trim).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use treepie::{Field, FieldKind, schema::SchemaBuilder};

    use super::*;

    type Found = Vec<Result<(u64, Document), String>>;

    fn read(text: &[u8], dialect: Dialect) -> Result<Found, Error> {
        let mut csv = Csv::new(text, dialect, FailureSlot::default(), false)?;
        let columns: std::collections::HashSet<_> = csv.columns().iter().collect();
        let field = |name: &&String| Field::new(&**name, FieldKind::Text).many(true);
        let fields = columns.iter().filter(|name| !name.is_empty()).map(field);
        let schema = fields.fold(Schema::builder(), SchemaBuilder::field).text("other").build()?;
        csv.check(&schema, &InputSettings::default())?;
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
            Dialect::COMMA,
        );
        let first = Document::new().with("title", "a, \"b\"\nc").with("tag", "x");
        let second = Document::new().with("title", "d").with("tag", "y").with("tag", "z");
        assert_eq!(found.unwrap(), [Ok((2, first)), Ok((5, second))]);
    }

    #[test]
    fn tabs_separate_and_quotes_are_text() {
        let found = read(b"a\tb\n\"x\ty, z\n", Dialect::TAB);
        assert_eq!(found.unwrap(), [Ok((2, Document::new().with("a", "\"x").with("b", "y, z")))]);
    }

    #[test]
    fn escapes_of_tsv_are_read() {
        let found = read(b"a\tb\nx\\ty\\\\\t\\e\n\\N\tC:\\dir\n", Dialect::TAB);
        let first = Document::new().with("a", "x\ty\\").with("b", "");
        let second = Document::new().with("a", None::<&str>).with("b", "C:\\dir");
        assert_eq!(found.unwrap(), [Ok((2, first)), Ok((3, second))]);
    }

    #[test]
    fn what_does_not_fit_is_told_with_its_line() {
        let found = read(b"a,b\n1,2\n3\n\xFF,4\n5,6\n", Dialect::COMMA).unwrap();
        assert!(found[1].as_ref().unwrap_err().contains("expected 2 cells"));
        assert!(found[1].as_ref().unwrap_err().contains("line 3"));
        assert!(found[2].as_ref().unwrap_err().contains("expected UTF-8"));
        assert!(found[3].is_ok());
        let schema = Schema::builder().text("a").build().unwrap();
        let header = |text: &'static [u8]| {
            Csv::new(text, Dialect::COMMA, FailureSlot::default(), false)
                .unwrap()
                .check(&schema, &InputSettings::default())
        };
        assert!(header(b"a\n").is_ok());
        assert!(header(b"a,b\n").unwrap_err().to_string().contains("'b'"));
        assert!(header(b"a,a\n").unwrap_err().to_string().contains("many = true"));
    }

    #[test]
    fn an_open_quote_does_not_swallow_the_memory() {
        let mut text = b"a\n\"".to_vec();
        text.resize(3 * RECORD_BYTES_MAX, b'x');
        text.extend_from_slice(b"\nb\n");
        let found = read(&text, Dialect::COMMA).unwrap();
        let message = found[0].as_ref().unwrap_err();
        assert!(message.contains("closing quote") && message.contains("line 2"), "{message}");
        assert_eq!(found[1..], [Ok((3, Document::new().with("a", "b")))]);
    }

    #[test]
    fn a_column_without_a_name_holds_nothing() {
        let found = read(b"a,b,\n1,2,\n3,4,5\n", Dialect::COMMA).unwrap();
        assert_eq!(found[0], Ok((2, Document::new().with("a", "1").with("b", "2"))));
        let message = found[1].as_ref().unwrap_err();
        assert!(message.contains("a name for column 3") && message.contains("'5'"), "{message}");
    }

    #[test]
    fn nothing_at_all_has_no_columns() {
        assert!(read(b"", Dialect::COMMA).unwrap().is_empty());
    }
}
