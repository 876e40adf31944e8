//! Detection of tables by the rows at the beginning of a text. A text is one for certain, perhaps, or not at all.

use super::{
    RECORD_BYTES_MAX,
    records::{Dialect, Next, Records},
};

/// Whether a text is a number, or a date as `2020-12-24`, and so rather a value than a name.
pub(super) fn is_value(text: &str) -> bool {
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let of_values =
        |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | ',' | ':' | '/' | '%');
    has_digit && text.chars().all(of_values)
}

/// Whether a text is the name of a column as programs have them, of one word in ASCII.
fn is_plain_name(text: &str) -> bool {
    let usable = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    text.bytes().all(usable) && text.bytes().next().is_some_and(|it| !it.is_ascii_digit())
}

/// The records of a beginning, looked at as those of a table.
pub(super) struct Rows {
    /// Names first.
    pub(super) cells: Vec<Vec<String>>,
    /// Whether all of them could be read, and have as many cells.
    are_even: bool,
    /// Whether blanks follow separators, as they do in sentences.
    is_prose: bool,
    /// Whether they follow every separator of every line.
    is_all_prose: bool,
    is_quoted: bool,
    dialect: Dialect,
}

impl Rows {
    /// Rows that are kept; others only have to agree in their number of cells.
    const KEPT_MAX: usize = 100;
    /// Records under the header that must agree with it before a text without a name is taken for a table.
    const RECORDS_MIN: usize = 2;

    pub(super) fn of(text: &[u8], dialect: Dialect) -> Self {
        let mut records = Records::new(text, dialect, RECORD_BYTES_MAX);
        let mut rows = Rows {
            cells: vec![],
            are_even: true,
            is_prose: false,
            is_all_prose: true,
            is_quoted: dialect.quoting && text.trim_ascii_start().starts_with(b"\""),
            dialect,
        };
        let mut n_cells = None;
        loop {
            // Reading a slice fails in no other way.
            let Ok(next) = records.advance() else { return rows };
            match next {
                Next::Record(_) => {}
                Next::End => return rows,
                Next::Wrong(_) => {
                    rows.are_even = false;
                    if rows.cells.is_empty() {
                        return rows;
                    }
                    continue;
                }
                // A sample may end anywhere.
                Next::Open(_) => {
                    rows.are_even &= !rows.cells.is_empty();
                    return rows;
                }
            }
            let cells = records.cells();
            rows.are_even &= *n_cells.get_or_insert(cells.len()) == cells.len();
            rows.is_prose |= cells.iter().skip(1).any(|cell| cell.starts_with(b" "));
            rows.is_all_prose &= cells.iter().skip(1).all(|cell| cell.starts_with(b" "));
            if rows.cells.len() < Self::KEPT_MAX {
                let text = |cell: &[u8]| String::from_utf8_lossy(cell.trim_ascii()).into_owned();
                rows.cells.push(cells.iter().map(text).collect());
            }
        }
    }

    pub(super) fn header(&self) -> Option<&[String]> {
        self.cells.first().map(|header| &**header)
    }

    /// Whether every line has as many cells, more than one, and nothing speaks against a table: prose does, unless the
    /// words of its first line may be names of columns, and there are enough lines below.
    pub(super) fn may_be_a_table(&self) -> bool {
        let header = self.header().unwrap_or_default();
        let is_list = self.is_all_prose
            && self.cells.len() > Self::RECORDS_MIN
            && header.iter().all(|name| is_plain_name(name));
        let is_prose = self.is_prose && !is_list && self.dialect.delimiter != b'\t';
        header.len() > 1 && self.are_even && !is_prose
    }

    /// Whether there is no doubt: names above, values below.
    pub(super) fn are_certain(&self) -> bool {
        let (Some(header), true) = (self.header(), self.are_even) else { return false };
        if header.len() < 2 || self.cells.len() <= Self::RECORDS_MIN {
            return false;
        }
        // "Doe, John" is a name, and above others of its kind no header.
        let may_be_prose = self.is_all_prose && self.dialect.delimiter != b'\t';
        if header.iter().all(|name| is_plain_name(name)) && !may_be_prose {
            return true;
        }
        let is_name = |name: &String| !name.is_empty() && !is_value(name);
        if !header.iter().all(is_name) {
            return false;
        }
        let is_column_of_values = |at: usize| {
            let mut below = self.cells[1..].iter().map(|row| &row[at]).filter(|it| !it.is_empty());
            below.clone().next().is_some() && below.all(|cell| is_value(cell))
        };
        self.is_quoted || (0..header.len()).any(is_column_of_values)
    }
}
