//! Cells of CSV and TSV, as they are printed and as they are read back.
//!
//! | | CSV | TSV |
//! |---|---|---|
//! | no value | nothing | nothing, read also from `\N` |
//! | an empty text | `""` | `\e` |
//! | tab, newline, carriage return, backslash | as they are, in quotes | `\t`, `\n`, `\r`, `\\` |
//! | several values | several columns of one name | several columns of one name |
//!
//! CSV quotes as RFC 4180 has it, and tells an empty text from no value as PostgreSQL does: by its quotes. TSV escapes as the text
//! format of PostgreSQL does, but for a cell without anything, which is no value in most files that people have. A
//! backslash before any other character is a backslash, as in `C:\dir`; one before these letters is to be doubled.

use std::borrow::Cow;

/// Marks an empty text in a cell of TSV, unlike no value.
const TSV_EMPTY: &str = "\\e";
pub(crate) const TSV_NONE: &str = "\\N";

/// A cell of CSV.
pub(crate) fn csv(value: Option<&str>) -> Cow<'_, str> {
    match value {
        None => Cow::Borrowed(""),
        Some("") => Cow::Borrowed("\"\""),
        Some(text) if text.contains(['"', ',', '\n', '\r']) => {
            Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
        }
        Some(text) => Cow::Borrowed(text),
    }
}

/// A cell of TSV.
pub(crate) fn tsv(value: Option<&str>) -> Cow<'_, str> {
    let text = match value {
        None => return Cow::Borrowed(""),
        Some("") => return Cow::Borrowed(TSV_EMPTY),
        Some(text) => text,
    };
    if !text.contains(['\t', '\n', '\r', '\\']) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 4);
    for c in text.chars() {
        match c {
            '\t' => escaped.push_str("\\t"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\\' => escaped.push_str("\\\\"),
            other => escaped.push(other),
        }
    }
    Cow::Owned(escaped)
}

/// The value of a cell of CSV, which is given without its quotes.
pub(crate) fn of_csv(cell: &str, is_quoted: bool) -> Option<&str> {
    Some(cell).filter(|cell| is_quoted || !cell.is_empty())
}

/// The value of a cell of TSV.
pub(crate) fn of_tsv(cell: &str) -> Option<Cow<'_, str>> {
    match cell {
        "" | TSV_NONE => return None,
        TSV_EMPTY => return Some(Cow::Borrowed("")),
        _ if !cell.contains('\\') => return Some(Cow::Borrowed(cell)),
        _ => {}
    }
    let mut text = String::with_capacity(cell.len());
    let mut rest = cell;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let meant = match rest.as_bytes().get(at + 1) {
            Some(b't') => Some('\t'),
            Some(b'n') => Some('\n'),
            Some(b'r') => Some('\r'),
            Some(b'\\') => Some('\\'),
            _ => None,
        };
        text.push(meant.unwrap_or('\\'));
        rest = &rest[at + 1 + usize::from(meant.is_some())..];
    }
    text.push_str(rest);
    Some(Cow::Owned(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cells_are_quoted_and_escaped_where_they_must_be() {
        for (value, in_csv, in_tsv) in [
            (None, "", ""),
            (Some(""), "\"\"", "\\e"),
            (Some("plain; text"), "plain; text", "plain; text"),
            (Some("a,\"b\""), "\"a,\"\"b\"\"\"", "a,\"b\""),
            (Some("a\tb\\\n"), "\"a\tb\\\n\"", "a\\tb\\\\\\n"),
            (Some("\r\n"), "\"\r\n\"", "\\r\\n"),
            (Some("\\N"), "\\N", "\\\\N"),
            (Some("\\e"), "\\e", "\\\\e"),
            (Some(" x "), " x ", " x "),
        ] {
            assert_eq!((csv(value), tsv(value)), (in_csv.into(), in_tsv.into()), "{value:?}");
            assert_eq!(of_tsv(in_tsv).as_deref(), value);
        }
        // Cells that other programs write.
        for (cell, value) in [
            ("\\N", None),
            ("C:\\dir", Some("C:\\dir")),
            ("\\alpha \\", Some("\\alpha \\")),
            ("\\\\server", Some("\\server")),
            ("a\\Nb", Some("a\\Nb")),
            ("ü\\ü\\t", Some("ü\\ü\t")),
        ] {
            assert_eq!(of_tsv(cell).as_deref(), value, "{cell}");
        }
        assert_eq!((of_csv("", false), of_csv("", true)), (None, Some("")));
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(value in proptest::option::of("[\\\\tnrNe\t\n\r\"', ;é]{0,9}|\\PC{0,5}")) {
            let printed = tsv(value.as_deref());
            prop_assert!(!printed.contains(['\t', '\n', '\r']));
            let read = of_tsv(&printed);
            prop_assert_eq!(read.as_deref(), value.as_deref());
            let printed = csv(value.as_deref());
            let inside = printed.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
            let cell = inside.map_or(printed.clone().into_owned(), |it| it.replace("\"\"", "\""));
            prop_assert_eq!(of_csv(&cell, inside.is_some()), value.as_deref());
        }
    }
}
