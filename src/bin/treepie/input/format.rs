//! Which of the formats an input has, by looking at its beginning.

use clap::ValueEnum;
use treepie::Error;

use super::{Input, csv::Separator};

/// Text that is looked at to see what format it has.
const HEAD_BYTES: usize = 256 << 10;

/// How records stand in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// Each line is a document with one field.
    Lines,
    /// Each line is a JSON object.
    Jsonl,
    /// Comma-separated values under a header.
    Csv,
    /// Tab-separated values under a header.
    Tsv,
}

impl InputFormat {
    pub(crate) fn separator(self) -> Option<Separator> {
        match self {
            InputFormat::Csv => Some(Separator::Comma),
            InputFormat::Tsv => Some(Separator::Tab),
            InputFormat::Lines | InputFormat::Jsonl => None,
        }
    }

    /// The format of an input, by its content.
    pub(crate) fn of(input: &mut Input) -> Result<Self, Error> {
        let head = input.peek(HEAD_BYTES)?.to_vec();
        Ok(InputFormat::recognise(&head, input.peeked_at_all()))
    }

    /// By content: objects are JSON Lines; a header of distinct names, with as many cells in each of
    /// the lines below, is CSV or TSV; everything else is lines.
    ///
    /// `is_all` says that nothing follows `head`; otherwise its last line is not whole and is left out.
    pub(crate) fn recognise(head: &[u8], is_all: bool) -> Self {
        let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
        let whole = match (is_all, head.iter().rposition(|byte| *byte == b'\n')) {
            (false, Some(end)) => &head[..end],
            _ => head,
        };
        if whole.trim_ascii_start().first() == Some(&b'{') && looks_like_json(whole) {
            return InputFormat::Jsonl;
        }
        let mut formats = [InputFormat::Tsv, InputFormat::Csv].into_iter();
        formats.find(|format| looks_like_a_table(whole, *format)).unwrap_or(InputFormat::Lines)
    }
}

/// A key or the end of the object follows the brace: `{{Infobox}}` is a title.
fn looks_like_json(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    let inside = head.strip_prefix(b"{").unwrap_or(head).trim_ascii_start();
    matches!(inside.first(), Some(b'"' | b'}'))
}

/// Records under the header that must agree with it before a text is taken for a table.
const RECORDS_MIN: usize = 2;

fn looks_like_a_table(head: &[u8], format: InputFormat) -> bool {
    let comma = format == InputFormat::Csv;
    let mut records = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .quoting(comma)
        .delimiter(if comma { b',' } else { b'\t' })
        .from_reader(head);
    let mut records = records.byte_records().map_while(Result::ok);
    let Some(header) = records.next() else { return false };
    let is_name = |cell: &[u8]| {
        let cell = cell.trim_ascii();
        let usable = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        !cell.is_empty() && !cell[0].is_ascii_digit() && cell.iter().all(usable)
    };
    let mut n_records = 0;
    header.len() > 1
        && header.iter().all(is_name)
        && records.inspect(|_| n_records += 1).all(|record| record.len() == header.len())
        && n_records >= RECORDS_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_seen_by_content() {
        use InputFormat::{Csv, Jsonl, Lines, Tsv};
        for (text, format) in [
            (&b"{\"a\": 1}\n"[..], Jsonl),
            (b"\xEF\xBB\xBF  { \"a\"", Jsonl),
            (b"{}\n", Jsonl),
            (b"{{Infobox}}\n", Lines),
            (b"a,b\n1,2\n3,\"4,\n5\"\n", Csv),
            (b"a\tb\n1\t2\n3\t4\n", Tsv),
            (b"Paris,Texas\nLondon,Ontario\nRome\n", Lines),
            (b"Paris, the city\nLondon, the city\nRome, too\n", Lines),
            (b"page_title\nParis\nLondon\n", Lines),
            (b"a,b\n", Lines),
            (b"", Lines),
            (b"\0\x01\xFF", Lines),
        ] {
            let shown = String::from_utf8_lossy(text);
            assert_eq!(InputFormat::recognise(text, true), format, "{shown}");
        }
    }

    #[test]
    fn a_line_cut_by_the_window_does_not_count() {
        assert_eq!(InputFormat::recognise(b"a,b\n1,2\n3,4\n5", false), InputFormat::Csv);
        assert_eq!(InputFormat::recognise(b"a,b\n1,2\n3,4\n5", true), InputFormat::Lines);
    }
}
