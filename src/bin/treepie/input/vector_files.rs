//! Files of vectors beside the documents: a row for each, in their order.
//!
//! `.npy` files are those that NumPy saves: a table of numbers, little-endian, row by row. `.fvecs` files have, for each row, how
//! many numbers there are and the numbers, of 32 bits. Rows are read one after the other. Numbers of 64 bits become the nearest
//! of 32. Bits are numbers of a byte each, or eight in a byte as `numpy.packbits` has them.
//!
//! Rows to be indexed have the numbers that the field keeps: others would mostly be a mistake. Queries may have any numbers.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
};

use half::f16;
use treepie::schema::{VectorParams, VectorValues};
use treepie::{Document, Error, ErrorKind, Schema};

use crate::failure::{unread, usage};

const READING: &str = "reading vectors";
/// Bytes that a `.npy` file begins with.
const NPY: &[u8] = b"\x93NUMPY";
/// Longest description of a table.
const HEADER_BYTES_MAX: usize = 64 << 10;
const BUFFER_BYTES: usize = 1 << 20;

/// Field and file, as they are typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VectorFile {
    field: String,
    path: PathBuf,
}

impl std::str::FromStr for VectorFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((field, path)) if !field.is_empty() && !path.is_empty() => {
                Ok(VectorFile { field: field.to_owned(), path: path.into() })
            }
            _ => Err("expected FIELD=FILE".to_owned()),
        }
    }
}

/// Files whose rows go with the documents that come.
#[derive(Debug, Default)]
pub(crate) struct VectorFiles(Vec<Rows<BufReader<File>>>);

impl VectorFiles {
    /// Opens files for fields of a schema.
    pub(crate) fn open(files: &[VectorFile], schema: &Schema) -> Result<Self, Error> {
        let mut opened = vec![];
        for (nth, VectorFile { field, path }) in files.iter().enumerate() {
            let of_schema = schema.field(field);
            let Some(params) = of_schema.and_then(|field| field.kind.vector()) else {
                let expected = usage("reading --vectors").expected("a vector field of the schema");
                return Err(expected.found(match of_schema {
                    Some(other) => format!("the {} field '{field}'", other.kind.name()),
                    None => format!("'{field}'"),
                }));
            };
            if files[..nth].iter().any(|other| other.field == *field) {
                let expected = usage("reading --vectors").expected("one file of each field");
                return Err(expected.found(format!("'{field}' twice")));
            }
            let takes = Takes { params, is_indexed: true };
            opened.push(Rows::of_file(field, path, takes)?);
        }
        Ok(VectorFiles(opened))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Goes on by a row of each file, and gives them to a document, if there is one: one that cannot be read has rows too.
    ///
    /// # Errors
    ///
    /// One that ends everything, or of one of the rows.
    pub(crate) fn next(
        &mut self,
        document: Option<&mut Document>,
    ) -> Result<Result<(), Error>, Error> {
        let mut document = document;
        let mut read = Ok(());
        for rows in &mut self.0 {
            let numbers = rows.next().map_err(|error| error.in_file(&rows.path))?;
            let Some(document) = document.as_deref_mut() else { continue };
            match rows.finite(numbers) {
                Ok(numbers) => document.push(&*rows.field, numbers),
                Err(error) => read = Err(error.in_file(&rows.path)),
            }
        }
        Ok(read)
    }

    /// Refuses files with rows that no document came for.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        self.0
            .iter_mut()
            .try_for_each(|rows| rows.expect_end().map_err(|error| error.in_file(&rows.path)))
    }
}

/// All rows of a file, which are compared with the vectors of a field.
pub(crate) fn read_rows(
    path: &Path,
    field: &str,
    params: VectorParams,
) -> Result<Vec<Vec<f32>>, Error> {
    let mut rows = Rows::of_file(field, path, Takes { params, is_indexed: false })?;
    let mut read = vec![];
    let mut next = || match rows.row()? {
        Some(numbers) => rows.finite(numbers).map(Some),
        None => Ok(None),
    };
    while let Some(numbers) = next().map_err(|error| error.in_file(path))? {
        read.push(numbers);
    }
    Ok(read)
}

/// Rows of a file, one after the other.
#[derive(Debug)]
struct Rows<R> {
    from: R,
    field: String,
    path: PathBuf,
    layout: Layout,
    dims: usize,
    /// Rows in all, if the file says it.
    n_rows: Option<u64>,
    n_read: u64,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Layout {
    Npy(Type),
    /// A table of bytes with eight bits each.
    Packed,
    Fvecs,
}

/// Type of the numbers of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Type {
    F16,
    F32,
    F64,
    I8,
    U8,
    Bool,
}

impl Type {
    const ALL: [Type; 6] = [Type::F32, Type::F16, Type::F64, Type::I8, Type::U8, Type::Bool];

    /// The name that NumPy has for it.
    fn name(self) -> &'static str {
        match self {
            Type::F16 => "<f2",
            Type::F32 => "<f4",
            Type::F64 => "<f8",
            Type::I8 => "|i1",
            Type::U8 => "|u1",
            Type::Bool => "|b1",
        }
    }

    fn number_len(self) -> usize {
        match self {
            Type::I8 | Type::U8 | Type::Bool => 1,
            Type::F16 => 2,
            Type::F32 => 4,
            Type::F64 => 8,
        }
    }
}

impl Layout {
    /// Bytes of a row of so many numbers.
    fn row_len(self, dims: usize) -> usize {
        match self {
            Layout::Npy(of) => dims * of.number_len(),
            Layout::Packed => dims.div_ceil(8),
            Layout::Fvecs => size_of::<u32>() + dims * size_of::<f32>(),
        }
    }
}

/// Vectors that are expected of a file.
#[derive(Clone, Copy, Debug)]
struct Takes {
    params: VectorParams,
    /// Whether they are indexed; else they are asked about.
    is_indexed: bool,
}

impl Takes {
    /// Types of numbers that a table may have.
    fn types(self) -> &'static [Type] {
        match self.params.values {
            _ if !self.is_indexed => &Type::ALL,
            VectorValues::I8 => &[Type::I8],
            VectorValues::Bits => &[Type::U8, Type::Bool],
            _ => &[Type::F32, Type::F16, Type::F64, Type::I8, Type::U8],
        }
    }
}

fn wrong(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Document, what)
}

impl Rows<BufReader<File>> {
    fn of_file(field: &str, path: &Path, takes: Takes) -> Result<Self, Error> {
        let file = File::open(path).map_err(unread(READING, path))?;
        let len = file.metadata().ok().filter(|it| it.is_file()).map(|it| it.len());
        let from = BufReader::with_capacity(BUFFER_BYTES, file);
        Rows::open(from, len, field, path, takes).map_err(|error| error.in_file(path))
    }
}

impl<R: Read> Rows<R> {
    /// Reads what is before the rows, and compares it with the field and with the bytes that there are.
    fn open(
        mut from: R,
        len: Option<u64>,
        field: &str,
        path: &Path,
        takes: Takes,
    ) -> Result<Self, Error> {
        let is_fvecs = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("fvecs"));
        let (layout, n_rows) = match is_fvecs {
            true => (Layout::Fvecs, None),
            false => {
                let table = Table::read(&mut from)?;
                (table.layout(takes, len)?, Some(table.n_rows))
            }
        };
        let (field, path) = (field.to_owned(), path.to_owned());
        let dims = usize::from(takes.params.dims);
        Ok(Rows { from, field, path, layout, dims, n_rows, n_read: 0, bytes: vec![] })
    }

    /// The next row; an error if there is none.
    fn next(&mut self) -> Result<Vec<f32>, Error> {
        let n_before = self.n_read;
        self.row()?.ok_or_else(|| {
            wrong(format!("{READING} of '{}'", self.field))
                .expected("a row for each document")
                .found(format!("{n_before} rows, and more documents"))
        })
    }

    /// The next row, if there is one.
    fn row(&mut self) -> Result<Option<Vec<f32>>, Error> {
        if self.n_rows == Some(self.n_read) || !self.fill()? {
            return Ok(None);
        }
        self.n_read += 1;
        let mut numbers = &self.bytes[..];
        if self.layout == Layout::Fvecs {
            let (head, behind) = numbers.split_first_chunk().unwrap_or((&[0; 4], &[]));
            let dims = i32::from_le_bytes(*head);
            if usize::try_from(dims) != Ok(self.dims) {
                return Err(wrong(self.reading_row(self.n_read))
                    .expected(format!("{} numbers, as the schema says", self.dims))
                    .found(dims.to_string()));
            }
            numbers = behind;
        }
        let of_byte = |byte: &u8| {
            let byte = *byte;
            (0..8).map(move |nth| f32::from(byte >> (7 - nth) & 1))
        };
        Ok(Some(match self.layout {
            Layout::Npy(Type::F16) => {
                numbers.as_chunks().0.iter().map(|it| f16::from_le_bytes(*it).to_f32()).collect()
            }
            Layout::Npy(Type::F64) => {
                numbers.as_chunks().0.iter().map(|it| f64::from_le_bytes(*it) as f32).collect()
            }
            Layout::Npy(Type::I8) => numbers.iter().map(|it| f32::from(it.cast_signed())).collect(),
            Layout::Npy(Type::U8 | Type::Bool) => numbers.iter().map(|it| f32::from(*it)).collect(),
            Layout::Packed => numbers.iter().flat_map(of_byte).take(self.dims).collect(),
            Layout::Npy(Type::F32) | Layout::Fvecs => {
                numbers.as_chunks().0.iter().map(|it| f32::from_le_bytes(*it)).collect()
            }
        }))
    }

    fn reading_row(&self, row: u64) -> String {
        format!("reading row {row} of the vectors of '{}'", self.field)
    }

    /// The numbers of the row that was read last, if they are finite.
    fn finite(&self, numbers: Vec<f32>) -> Result<Vec<f32>, Error> {
        let Some(at) = numbers.iter().position(|number| !number.is_finite()) else {
            return Ok(numbers);
        };
        let error = wrong(self.reading_row(self.n_read)).expected("finite numbers");
        Err(error.found(format!("{}, number {} of {}", numbers[at], at + 1, numbers.len())))
    }

    /// Reads the bytes of the next row; whether there are any.
    fn fill(&mut self) -> Result<bool, Error> {
        let row_len = self.layout.row_len(self.dims);
        self.bytes.clear();
        let read = (&mut self.from).take(row_len as u64).read_to_end(&mut self.bytes);
        match read.map_err(|error| Error::io(READING, error))? {
            0 if self.n_rows.is_none() => Ok(false),
            n if n < row_len => Err(wrong(self.reading_row(self.n_read + 1))
                .expected(format!("{row_len} bytes"))
                .found(format!("{n}, and the end of the file"))),
            _ => Ok(true),
        }
    }

    fn expect_end(&mut self) -> Result<(), Error> {
        let n_read = self.n_read;
        let found = match self.n_rows {
            Some(n_rows) if n_rows == n_read => return Ok(()),
            Some(n_rows) => format!("{n_rows} rows"),
            None => match self.fill()? {
                true => "more rows".to_owned(),
                false => return Ok(()),
            },
        };
        Err(wrong(format!("{READING} of '{}'", self.field))
            .expected(format!("a row for each of {n_read} documents"))
            .found(found))
    }
}

/// Table of numbers as the header of a `.npy` file describes it.
#[derive(Debug, PartialEq)]
struct Table {
    of: Type,
    n_rows: u64,
    dims: u64,
    header_len: u64,
}

impl Table {
    fn read(from: &mut impl Read) -> Result<Self, Error> {
        let mut begin = [0; 8];
        read_exact(from, &mut begin)?;
        let [magic @ .., major, _] = &begin;
        if magic != NPY {
            return Err(wrong(READING)
                .expected("a .npy file, or the rows of a file that is called .fvecs")
                .found(format!("the bytes {magic:02x?} at its beginning")));
        }
        let (len, len_bytes) = match major {
            1 => {
                let mut len = [0; 2];
                read_exact(from, &mut len)?;
                (u32::from(u16::from_le_bytes(len)), len.len())
            }
            2 | 3 => {
                let mut len = [0; 4];
                read_exact(from, &mut len)?;
                (u32::from_le_bytes(len), len.len())
            }
            other => {
                return Err(wrong(READING)
                    .expected("a .npy file of version 1 to 3")
                    .found(other.to_string()));
            }
        };
        if len as usize > HEADER_BYTES_MAX {
            return Err(wrong(READING)
                .expected(format!("a .npy file with a header of at most {HEADER_BYTES_MAX} bytes"))
                .found(len.to_string()));
        }
        let mut header = vec![0; len as usize];
        read_exact(from, &mut header)?;
        let header = String::from_utf8_lossy(&header);
        let header_len = (begin.len() + len_bytes + header.len()) as u64;
        Self::of_header(&header).map(|table| Table { header_len, ..table })
    }

    /// Compares it with the vectors of a field, and with the bytes of the whole file; the layout of its rows.
    fn layout(&self, takes: Takes, len: Option<u64>) -> Result<Layout, Error> {
        let VectorParams { dims, values, .. } = takes.params;
        let types = takes.types();
        if !types.contains(&self.of) {
            let names: Vec<_> = types.iter().map(|it| it.name()).collect();
            let expected = format!("numbers of the type {}", names.join(" or "));
            return Err(wrong(READING)
                .expected(format!(
                    "{expected}, which values = \"{}\" of the schema takes",
                    values.name()
                ))
                .found(self.of.name()));
        }
        let packed = u64::from(dims).div_ceil(8);
        let may_be_packed = values == VectorValues::Bits && self.of == Type::U8;
        let layout = match self.dims {
            n if n == u64::from(dims) => Layout::Npy(self.of),
            n if n == packed && may_be_packed => Layout::Packed,
            other => {
                let or_packed =
                    if may_be_packed { format!(" or {packed} bytes") } else { String::new() };
                return Err(wrong(READING)
                    .expected(format!("rows of {dims} numbers{or_packed}, as the schema says"))
                    .found(format!("rows of {other}")));
            }
        };
        let row_len = layout.row_len(dims.into()) as u64;
        let expected = self.n_rows.saturating_mul(row_len).saturating_add(self.header_len);
        match len.filter(|len| *len != expected) {
            None => Ok(layout),
            Some(len) => Err(wrong(READING)
                .expected(format!("{expected} bytes, as the header says"))
                .found(len.to_string())),
        }
    }

    /// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
    fn of_header(header: &str) -> Result<Self, Error> {
        let entry = |name: &str| {
            let behind = ["'", "\""].iter().find_map(|quote| {
                let (_, behind) = header.split_once(&format!("{quote}{name}{quote}"))?;
                behind.trim_start().strip_prefix(':').map(str::trim_start)
            });
            behind.ok_or_else(|| {
                wrong(READING)
                    .expected(format!("'{name}' in the header of a .npy file"))
                    .found("none")
            })
        };
        let described = entry("descr")?;
        // In quotes, unless it is a list of several.
        let kind = described.split(['\'', '"']).nth(1).filter(|_| !described.starts_with('['));
        let name = kind.unwrap_or(described);
        let of = Type::ALL.into_iter().find(|of| of.name() == name).ok_or_else(|| {
            wrong(READING)
                .expected("numbers of the type <f4, <f2, <f8, |i1, |u1 or |b1")
                .found(name.chars().take(60).collect::<String>())
        })?;
        if !entry("fortran_order")?.starts_with("False") {
            return Err(wrong(READING)
                .expected("a table that lies row by row")
                .found("one that lies column by column (fortran_order)"));
        }
        let shape = entry("shape")?.strip_prefix('(').and_then(|shape| shape.split_once(')'));
        let shape = shape.map_or("", |(shape, _)| shape);
        let numbers = shape.split(',').map(str::trim).filter(|number| !number.is_empty());
        let numbers: Option<Vec<u64>> = numbers.map(|number| number.parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[n_rows, dims]) => Ok(Table { of, n_rows, dims, header_len: 0 }),
            _ => Err(wrong(READING)
                .expected("a table of two dimensions")
                .found(format!("the shape ({shape})"))),
        }
    }
}

fn read_exact(from: &mut impl Read, bytes: &mut [u8]) -> Result<(), Error> {
    from.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            wrong(READING).expected("the header of a .npy file").found("the end of the file")
        }
        _ => Error::io(READING, error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use treepie::schema::Metric;

    fn npy(header: &str, rows: &[u8]) -> Vec<u8> {
        let len = (header.len() as u16).to_le_bytes();
        [NPY, &[1, 0], &len[..], header.as_bytes(), rows].concat()
    }

    const HEADER: &str = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }     \n";

    const TAKES: Takes = Takes { params: VectorParams::new(2, Metric::L2), is_indexed: true };

    fn open_as(
        bytes: &[u8],
        name: &str,
        takes: Takes,
    ) -> Result<Rows<io::Cursor<Vec<u8>>>, String> {
        let from = io::Cursor::new(bytes.to_vec());
        Rows::open(from, Some(bytes.len() as u64), "v", Path::new(name), takes)
            .map_err(|error| error.to_string())
    }

    fn open(bytes: &[u8], name: &str) -> Result<Rows<io::Cursor<Vec<u8>>>, String> {
        open_as(bytes, name, TAKES)
    }

    fn rows(bytes: &[u8], name: &str) -> Result<Vec<Vec<f32>>, String> {
        let mut rows = open(bytes, name)?;
        let read = [rows.next(), rows.next()].into_iter().collect::<Result<_, _>>();
        let read = read.and_then(|read| rows.expect_end().map(|()| read));
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn tables_of_numpy_are_read_row_by_row() {
        let numbers = [1.0, -2.0, 0.5, 65_504.0];
        let expected = vec![vec![1.0, -2.0], vec![0.5, 65_504.0]];
        let f4 = numbers.map(|it: f64| (it as f32).to_le_bytes()).concat();
        let f8 = numbers.map(f64::to_le_bytes).concat();
        let f2 = [0x3C00u16, 0xC000, 0x3800, 0x7BFF].map(u16::to_le_bytes).concat();
        assert_eq!(rows(&npy(HEADER, &f4), "x.npy"), Ok(expected.clone()));
        assert_eq!(rows(&npy(&HEADER.replace("f4", "f8"), &f8), "x"), Ok(expected.clone()));
        assert_eq!(rows(&npy(&HEADER.replace("f4", "f2"), &f2), "x"), Ok(expected.clone()));
        let other = r#"{"shape": (2,2), "fortran_order":False, "descr":"<f4"}"#;
        assert_eq!(rows(&npy(other, &f4), "x.npy"), Ok(expected.clone()));
        let len = (HEADER.len() as u32).to_le_bytes();
        let second = [NPY, &[2, 0], &len[..], HEADER.as_bytes(), &f4].concat();
        assert_eq!(rows(&second, "x.npy"), Ok(expected));
    }

    #[test]
    fn other_tables_are_told_by_what_they_are() {
        let row = [0; 16];
        let with = |from: &str, to: &str| npy(&HEADER.replace(from, to), &row);
        for (bytes, words) in [
            (with("<f4", ">f4"), "<f4, <f2, <f8, |i1, |u1 or |b1, found >f4"),
            (
                with("<f4", "|b1"),
                "|i1 or |u1, which values = \"f32\" of the schema takes, found |b1",
            ),
            (with("<f4", "<i8"), "found <i8"),
            (with("'<f4'", "[('a', '<f4')]"), "found [('a', '<f4')]"),
            (with("False", "True"), "column by column (fortran_order)"),
            (with("(2, 2)", "(4,)"), "two dimensions, found the shape (4,)"),
            (with("(2, 2)", "(2, 2, 1)"), "found the shape (2, 2, 1)"),
            (with("(2, 2)", "(2, -2)"), "found the shape (2, -2)"),
            (with("(2, 2)", "(2, 3)"), "rows of 2 numbers, as the schema says, found rows of 3"),
            (with("(2, 2)", "(3, 2)"), "bytes, as the header says"),
            (with("'shape'", "'form'"), "'shape' in the header of a .npy file, found none"),
            (npy(HEADER, &row[..15]), "bytes, as the header says, found"),
            (b"\x93NUMPY\x09\x00".to_vec(), "version 1 to 3, found 9"),
            (b"\x93NUMPY\x01\x00\xFF".to_vec(), "the end of the file"),
            (b"\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF".to_vec(), "at most 65536 bytes"),
            (b"1.0,2.0\n1.0,2.0".to_vec(), "a .npy file, or the rows"),
        ] {
            let error = open(&bytes, "x.npy").map(drop).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn rows_of_fvecs_say_how_long_they_are() {
        let row = |dims: i32, numbers: &[f32]| {
            let numbers: Vec<u8> = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
            [&dims.to_le_bytes()[..], &numbers].concat()
        };
        let two = [row(2, &[1.0, 2.0]), row(2, &[3.0, -4.0])].concat();
        assert_eq!(rows(&two, "x.fvecs"), Ok(vec![vec![1.0, 2.0], vec![3.0, -4.0]]));
        let one = row(2, &[1.0, 2.0]);
        for (bytes, words) in [
            (
                two[..23].to_vec(),
                "reading row 2 of the vectors of 'v': expected 12 bytes, found 11",
            ),
            ([&one[..], &row(3, &[1.0, 2.0, 3.0])].concat(), "reading row 2"),
            ([&one[..], &row(-1, &[1.0, 2.0])].concat(), "2 numbers, as the schema says, found -1"),
            (one, "a row for each document, found 1 rows, and more documents"),
            ([&two[..], &two].concat(), "each of 2 documents, found more rows"),
        ] {
            let error = rows(&bytes, "x.fvecs").unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn more_rows_of_a_table_than_documents_are_told() {
        let header = HEADER.replace("(2, 2)", "(3, 2)");
        let error = rows(&npy(&header, &[0; 24]), "x.npy").unwrap_err();
        assert!(error.contains("each of 2 documents, found 3 rows"), "{error}");
        let header = HEADER.replace("(2, 2)", "(1, 2)");
        let error = rows(&npy(&header, &[0; 8]), "x.npy").unwrap_err();
        assert!(error.contains("found 1 rows, and more documents"), "{error}");
    }

    #[test]
    fn tables_of_bytes_are_those_of_fields_that_keep_them() {
        let of = |values, is_indexed| Takes { params: TAKES.params.values(values), is_indexed };
        let read = |descr: &str, dims: u64, bytes: &[u8], takes| {
            let header = HEADER.replace("<f4", descr).replace("(2, 2)", &format!("(1, {dims})"));
            let mut rows = open_as(&npy(&header, bytes), "x.npy", takes)?;
            rows.next().map_err(|error| error.to_string())
        };
        let whole = of(VectorValues::I8, true);
        assert_eq!(read("|i1", 2, &[0x80, 0x7F], whole), Ok(vec![-128.0, 127.0]));
        assert_eq!(read("|u1", 2, &[0x80, 0x7F], TAKES), Ok(vec![128.0, 127.0]));
        let bits = of(VectorValues::Bits, true);
        for (descr, dims, bytes) in
            [("|u1", 2, &[0, 1][..]), ("|b1", 2, &[0, 1]), ("|u1", 1, &[0b0100_0000])]
        {
            assert_eq!(read(descr, dims, bytes, bits), Ok(vec![0.0, 1.0]));
        }
        for (descr, dims, takes, words) in [
            (
                "<f4",
                2,
                whole,
                "of the type |i1, which values = \"i8\" of the schema takes, found <f4",
            ),
            ("|u1", 2, whole, "|i1, which values = \"i8\" of the schema takes, found |u1"),
            ("|i1", 2, bits, "|u1 or |b1, which values = \"bits\" of the schema takes, found |i1"),
            ("|u1", 3, bits, "rows of 2 numbers or 1 bytes, as the schema says, found rows of 3"),
            ("|b1", 1, bits, "rows of 2 numbers, as the schema says, found rows of 1"),
            ("|u1", 1, whole, "|i1, which"),
        ] {
            let error = read(descr, dims, &[0; 12], takes).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        // Queries may have any numbers.
        let asked = of(VectorValues::Bits, false);
        assert_eq!(read("<f4", 2, &[0, 0, 128, 63, 0, 0, 0, 64], asked), Ok(vec![1.0, 2.0]));
    }
}
