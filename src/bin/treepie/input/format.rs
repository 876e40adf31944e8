//! Format of an input, detected by its name, its known fields, and its beginning.
//!
//! The name decides first: `.csv`, `.tsv`, `.json`, `.jsonl`, `.ndjson`, and `.txt`, `.text`, `.lst` and `.md` for lines of text;
//! also before the ending of a compression. Then the fields of a schema or of an index do: a first line that names them is a
//! header. Then the content does, where it leaves no doubt. Lines by name that look like something else are read as lines, with
//! a remark; only where the fields take no lines do these decide. Any doubt is an error that names the option which decides: reading a table as lines of text would spoil an index
//! without a word.

use std::{fmt, path::Path};

use clap::ValueEnum;
use treepie::{
    Error, Field, FieldKind, Schema,
    schema::{EMPTY_FIELD, NULL_FIELD},
};

use super::{
    BYTE_ORDER_MARK, FailureSlot, Input,
    json::{JsonLines, Leaf},
    records::Dialect,
    rows::{Rows, is_value},
    settings::InputSettings,
};
use crate::{failure::usage, output::plural};

/// Text that is looked at to see what format it has.
const HEAD_BYTES: usize = 256 << 10;

/// Format of the records of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// Each line is a document with one field.
    Lines,
    /// JSON objects: one a line, over several lines, or in a list; also written json or ndjson.
    #[value(aliases = ["json", "ndjson"])]
    Jsonl,
    /// Comma-separated values under a header.
    Csv,
    /// Tab-separated values under a header.
    Tsv,
}

/// Fields that are known before an input is looked at.
#[derive(Clone, Debug)]
pub(crate) struct KnownFields {
    /// Names of the columns and keys that they come from.
    sources: Vec<String>,
    /// Whether lines of text can be documents: there is one text field.
    takes_lines: bool,
    /// Whether there is no other field.
    is_alone: bool,
    /// Whether lines are what there is mostly, so that what looks like nothing else has them.
    has_preset: bool,
}

impl KnownFields {
    pub(crate) fn of(schema: &Schema, settings: &InputSettings) -> Self {
        let is_own = |name: &str| schema.keeps_nulls() && [NULL_FIELD, EMPTY_FIELD].contains(&name);
        // Copies have no values of their own.
        let is_filled = |field: &&Field| !is_own(&field.name) && field.copy_of.is_none();
        let fields = || schema.fields().iter().filter(is_filled);
        KnownFields {
            sources: settings.sources(schema),
            takes_lines: fields().filter(|field| field.kind == FieldKind::Text).count() == 1,
            is_alone: fields().count() == 1,
            has_preset: settings.preset.is_some(),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.sources.iter().any(|source| source == name)
    }
}

/// A format that was seen, and how to tell it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recognised {
    pub(crate) format: InputFormat,
    /// "CSV with a header: 4 fields".
    pub(crate) described: String,
}

impl fmt::Display for Recognised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.described)
    }
}

impl InputFormat {
    /// Returns the dialect of tables in this format.
    pub(crate) fn dialect(self, settings: &InputSettings) -> Dialect {
        match self {
            InputFormat::Tsv => Dialect::TAB,
            _ => settings.comma_or_own(),
        }
    }

    fn by_name(name: &Path) -> Option<Self> {
        const COMPRESSED: [&str; 6] = ["gz", "zst", "zstd", "bz2", "bz", "lz4"];
        let mut name = Path::new(name.file_name()?);
        let extension =
            |name: &Path| name.extension().and_then(|it| it.to_str()).map(str::to_ascii_lowercase);
        if extension(name).is_some_and(|it| COMPRESSED.contains(&&*it)) {
            name = Path::new(name.file_stem()?);
        }
        Some(match &*extension(name)? {
            "csv" => InputFormat::Csv,
            "tsv" | "tab" => InputFormat::Tsv,
            "json" | "jsonl" | "ndjson" => InputFormat::Jsonl,
            "txt" | "text" | "lst" | "md" | "markdown" => InputFormat::Lines,
            _ => return None,
        })
    }
}

/// The format of an input; an error if that is in doubt.
pub(crate) fn recognise(
    input: &mut Input,
    known: Option<&KnownFields>,
    settings: &InputSettings,
) -> Result<Recognised, Error> {
    let head = input.peek(HEAD_BYTES)?.to_vec();
    let is_all = input.peeked_at_all();
    let name = input.name.clone();
    recognise_text(&head, is_all, &name, known, settings).map_err(|error| error.in_file(name))
}

fn recognise_text(
    head: &[u8],
    is_all: bool,
    name: &Path,
    known: Option<&KnownFields>,
    settings: &InputSettings,
) -> Result<Recognised, Error> {
    let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    // Without the last line where that is cut.
    let end = head.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
    let whole = match (is_all, end) {
        (false, Some(end)) => &head[..end],
        _ => head,
    };
    let sample = Sample { whole, known, settings };
    match InputFormat::by_name(name) {
        Some(InputFormat::Jsonl) => sample.named_json(),
        Some(InputFormat::Lines) if settings.delimiter.is_none() => match known {
            // Nothing can be lines there, so that a name says less than the fields.
            Some(known) if !known.takes_lines => match looks_like_json(whole) {
                true => Ok(json()),
                false => sample.of_known_fields(known),
            },
            _ => sample.named_lines(),
        },
        Some(format @ (InputFormat::Csv | InputFormat::Tsv)) => sample.named_table(format),
        _ if looks_like_json(whole) => Ok(json()),
        _ if settings.delimiter.is_some() => Ok(sample.table(InputFormat::Csv)),
        _ => match known {
            Some(known) => sample.of_known_fields(known),
            None => sample.by_content(),
        },
    }
}

fn json() -> Recognised {
    Recognised { format: InputFormat::Jsonl, described: "JSON objects".to_owned() }
}

const LINES: &str = "plain text, a document a line";

fn lines() -> Recognised {
    Recognised { format: InputFormat::Lines, described: LINES.to_owned() }
}

/// Lines by name that look like something else, which an option reads.
fn lines_like(what: &str, option: &str) -> Recognised {
    let described = format!("{LINES}; looks like {what}: {option} reads it so");
    Recognised { format: InputFormat::Lines, described }
}

/// The error about an input that may be this or that.
fn in_doubt(expected: &str, found: impl Into<String>, hint: impl Into<String>) -> Error {
    usage("recognising the format").expected(expected).found(found).hint(hint)
}

const ANY_FORMAT: &str = "--input-format says which it is: csv, tsv, json or lines";

/// The beginning of an input, and what is known of it.
struct Sample<'s> {
    whole: &'s [u8],
    known: Option<&'s KnownFields>,
    settings: &'s InputSettings,
}

impl Sample<'_> {
    fn is_blank(&self) -> bool {
        self.whole.trim_ascii().is_empty()
    }

    fn named_json(&self) -> Result<Recognised, Error> {
        let begins = self.whole.trim_ascii_start();
        match begins.first() {
            None | Some(b'[') => Ok(json()),
            Some(b'{') if looks_like_json(begins) => Ok(json()),
            // A key is written in another way, or broken: that is told with its line.
            Some(b'{') if !begins.starts_with(b"{{") => Ok(json()),
            Some(_) => Err(in_doubt(
                "JSON, as the name says",
                format!("text that begins with '{}'", beginning(begins)),
                ANY_FORMAT,
            )),
        }
    }

    /// Lines of text, with a remark where they look like something else.
    fn named_lines(&self) -> Result<Recognised, Error> {
        if looks_like_json(self.whole) {
            return Ok(lines_like("JSON", "--input-format json"));
        }
        for (format, what, option) in [
            (InputFormat::Tsv, "TSV", "--input-format tsv"),
            (InputFormat::Csv, "CSV", "--input-format csv"),
        ] {
            let rows = self.rows(format.dialect(self.settings));
            let header = rows.header().unwrap_or_default();
            if let Some(known) = self.known.filter(|known| !known.is_alone)
                && header.len() > 1
                && header.iter().all(|name| known.has(name))
            {
                return Err(in_doubt(
                    "lines of text, as the name says",
                    format!("names of the fields {} in the first line", header.join(", ")),
                    format!("{option} or --input-format lines says which it is"),
                ));
            }
            if rows.are_certain() {
                return Ok(lines_like(what, option));
            }
        }
        for delimiter in [b';', b'|'] {
            if self.rows(Dialect { delimiter, quoting: true }).are_certain() {
                let option = format!("--delimiter '{}'", char::from(delimiter));
                return Ok(lines_like("CSV", &option));
            }
        }
        Ok(lines())
    }

    fn named_table(&self, format: InputFormat) -> Result<Recognised, Error> {
        if looks_like_json(self.whole) {
            let expected = "a table, as the name says";
            return Err(in_doubt(expected, "JSON", ANY_FORMAT));
        }
        let rows = self.rows(format.dialect(self.settings));
        let Some(header) = rows.header() else { return Ok(self.table(format)) };
        if self.settings.delimiter.is_some() || format == InputFormat::Tsv && header.len() > 1 {
            return self.with_names(format, header);
        }
        let is_known = |name: &String| self.known.is_some_and(|known| known.has(name));
        if header.len() > 1 || header.iter().all(is_known) {
            return self.with_names(format, header);
        }
        let name = match format {
            InputFormat::Tsv => "tsv",
            _ => "csv",
        };
        // Another character may separate the cells.
        for delimiter in [b';', b'\t', b'|', b','] {
            let others = self.rows(Dialect { delimiter, quoting: true });
            let n = others.header().map_or(0, <[String]>::len);
            if n > 1 && delimiter != format.dialect(self.settings).delimiter {
                let shown = char::from(delimiter).escape_default();
                return Err(in_doubt(
                    "a table, as the name says",
                    format!("a header of one column, with '{shown}' {} in it", times(n - 1)),
                    format!(
                        "--delimiter '{shown}' separates columns by it, --input-format {name} takes one column, \
                         --input-format lines takes lines of text"
                    ),
                ));
            }
        }
        Err(in_doubt(
            "a table, as the name says",
            "one column",
            format!(
                "--input-format {name} takes the first line for its name, --input-format lines all lines for text"
            ),
        ))
    }

    /// A table, unless its first line is no header.
    fn with_names(&self, format: InputFormat, header: &[String]) -> Result<Recognised, Error> {
        let is_known = |name: &String| self.known.is_some_and(|known| known.has(name));
        match header.first() {
            Some(first) if is_value(first) && !header.iter().any(is_known) => Err(in_doubt(
                "a header that names the columns",
                format!("'{first}' in the first line"),
                "write names above it, or say by --input-format csv or tsv that these are the names",
            )),
            _ => Ok(self.table(format)),
        }
    }

    fn table(&self, format: InputFormat) -> Recognised {
        let dialect = format.dialect(self.settings);
        let rows = self.rows(dialect);
        let name = if format == InputFormat::Tsv { "TSV" } else { "CSV" };
        let separated = match self.settings.delimiter {
            Some(delimiter) if format == InputFormat::Csv => {
                format!(", separated by '{}'", char::from(delimiter).escape_default())
            }
            _ => String::new(),
        };
        let n = rows.header().map_or(0, <[String]>::len);
        let described = format!("{name} with a header{separated}: {}", plural(n, "field"));
        Recognised { format, described }
    }

    /// By what the first line has of the fields that are known.
    fn of_known_fields(&self, known: &KnownFields) -> Result<Recognised, Error> {
        if self.is_blank() {
            return Ok(if known.takes_lines { lines() } else { json() });
        }
        for format in [InputFormat::Csv, InputFormat::Tsv] {
            let rows = self.rows(format.dialect(self.settings));
            let Some(header) = rows.header() else { continue };
            let n_known = header.iter().filter(|name| known.has(name)).count();
            let is_header = n_known == header.len();
            if header.len() > 1 && (is_header || n_known > 0 && rows.are_certain()) {
                return Ok(self.table(format));
            }
            // Whose other columns will be told.
            if header.len() > 1 && n_known > 0 && !known.takes_lines {
                return Ok(self.table(format));
            }
            if header.len() == 1 && is_header {
                // In an index of lines it may be one of them.
                return match known.takes_lines && known.is_alone {
                    false => Ok(self.table(format)),
                    true => Err(in_doubt(
                        "lines of text, or a table of one column",
                        format!("the name of the field '{}' in the first line", header[0]),
                        "--input-format lines or --input-format csv says which it is",
                    )),
                };
            }
            if header.len() > 1 && known.is_alone && rows.are_certain() {
                return Ok(self.table(format));
            }
        }
        let names = known.sources.join(", ");
        match known.takes_lines {
            true if known.is_alone || known.has_preset => Ok(lines()),
            true => Err(in_doubt(
                &format!("JSON, or a header with names of the fields {names}"),
                format!("'{}'", beginning(self.whole)),
                "--input-format lines puts each line into the text field",
            )),
            false => Err(in_doubt(
                &format!("JSON, or a header with names of the fields {names}"),
                format!("'{}'", beginning(self.whole)),
                ANY_FORMAT,
            )),
        }
    }

    fn by_content(&self) -> Result<Recognised, Error> {
        for format in [InputFormat::Tsv, InputFormat::Csv] {
            let rows = self.rows(format.dialect(self.settings));
            if rows.are_certain() {
                return Ok(self.table(format));
            }
            if rows.may_be_a_table() {
                let n = rows.header().map_or(0, <[String]>::len);
                let name = if format == InputFormat::Tsv { "tsv" } else { "csv" };
                return Err(in_doubt(
                    "lines of text, or a table with a header and more rows",
                    format!(
                        "{} of {} that may be either, '{}' first",
                        plural(rows.cells.len(), "line"),
                        plural(n, "cell"),
                        beginning(self.whole)
                    ),
                    format!("--input-format {name} or --input-format lines says which it is"),
                ));
            }
        }
        for delimiter in [b';', b'|'] {
            let rows = self.rows(Dialect { delimiter, quoting: true });
            if rows.are_certain() {
                let shown = char::from(delimiter);
                return Err(in_doubt(
                    "lines of text, or a table with a header",
                    format!("the same number of '{shown}' in each line"),
                    format!("--delimiter '{shown}' or --input-format lines says which it is"),
                ));
            }
        }
        Ok(lines())
    }

    fn rows(&self, dialect: Dialect) -> Rows {
        Rows::of(self.whole, dialect)
    }
}

/// "once", "3 times".
fn times(n: usize) -> String {
    match n {
        1 => "once".to_owned(),
        n => format!("{n} times"),
    }
}

/// The first words of the first line.
fn beginning(text: &[u8]) -> String {
    const CHARS: usize = 40;
    let line = text.trim_ascii_start();
    let line = line.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let line = String::from_utf8_lossy(&line[..line.len().min(4 * CHARS)]);
    match line.chars().count() > CHARS {
        true => format!("{}…", line.chars().take(CHARS).collect::<String>()),
        false => line.into_owned(),
    }
}

/// A key or the end of the object follows the brace, and an object follows the bracket: `{{Infobox}}` and `[sic]` are titles.
fn looks_like_json(head: &[u8]) -> bool {
    let head = head.trim_ascii_start();
    match head.split_first() {
        Some((b'{', inside)) => matches!(inside.trim_ascii_start().first(), Some(b'"' | b'}')),
        Some((b'[', inside)) => match inside.trim_ascii_start().split_first() {
            Some((b'{', inside)) => matches!(inside.trim_ascii_start().first(), Some(b'"' | b'}')),
            Some((b']', after)) => after.trim_ascii().is_empty(),
            // Only a list goes on in the next line.
            None => true,
            Some(_) => false,
        },
        _ => false,
    }
}

/// The key of the list of objects in an object that is all of an input, as interfaces answer with: `{"count": 2, "rows": […]}`.
pub(crate) fn wrapped_list(whole: &[u8]) -> Option<String> {
    let mut objects = JsonLines::new(whole, FailureSlot::default(), true);
    let first = objects.next_leaves().ok()??.1.ok()?;
    if objects.next_leaves().ok()?.is_some() {
        return None;
    }
    let is_list_of_objects = |leaf: &&Leaf| {
        !leaf.path.contains('.')
            && leaf.is_list
            && leaf.values.len() > 1
            && leaf.values.iter().all(serde_json::Value::is_object)
    };
    let mut lists = first.iter().filter(is_list_of_objects);
    let list = lists.next().filter(|_| lists.next().is_none())?;
    let is_within = |path: &str| {
        path.strip_prefix(&*list.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let mut others = first.iter().filter(|leaf| !is_within(&leaf.path));
    others.all(|leaf| !leaf.is_list).then(|| list.path.clone())
}

/// The error about a [`wrapped_list`].
pub(crate) fn in_wrapper(key: &str) -> Error {
    in_doubt(
        "objects that are documents",
        format!("one object with the list of objects '{key}'"),
        format!(
            "`jq -c '.[\"{key}\"][]'` makes documents of them, --input-format json takes the whole object for one"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &[u8], name: &str, known: Option<&[&str]>) -> Result<InputFormat, String> {
        let known = known.map(|names| KnownFields {
            sources: names.iter().map(|name| (*name).to_owned()).collect(),
            takes_lines: names.contains(&"text"),
            is_alone: names.len() == 1,
            has_preset: false,
        });
        let settings = InputSettings::default();
        recognise_text(text, true, Path::new(name), known.as_ref(), &settings)
            .map(|recognised| recognised.format)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn formats_are_seen_by_content() {
        use InputFormat::{Csv, Jsonl, Lines, Tsv};
        for (text, format) in [
            (&b"{\"a\": 1}\n"[..], Jsonl),
            (b"\xEF\xBB\xBF  { \"a\"", Jsonl),
            (b"{}\n", Jsonl),
            (b"[\n{\"a\": 1}]", Jsonl),
            (b"[]\n", Jsonl),
            (b"[", Jsonl),
            (b"{{Infobox}}\n", Lines),
            (b"[sic]\n", Lines),
            (b"a,b\n1,2\n3,\"4,\n5\"\n", Csv),
            (b"a\tb\n1\t2\n3\t4\n", Tsv),
            (b"First Name,Age (years)\nBob,3\nAl,4\n", Csv),
            (b"\"First Name\",\"City\"\n\"Bob\",\"Paris\"\n\"Al\",\"Rome\"\n", Csv),
            (b"Paris,Texas\nLondon,Ontario\nRome\n", Lines),
            (b"Paris, the city\nLondon, the city\nRome, too\n", Lines),
            (b"Paris, Texas\n", Lines),
            (b"name, age\nBob, 3\nAl, 4\n", Csv),
            (b"first, last\nBob,Miller\nAl,Smith\n", Csv),
            (b"page_title\nParis\nLondon\n", Lines),
            (b"", Lines),
            (b"\0\x01\xFF", Lines),
        ] {
            let shown = String::from_utf8_lossy(text);
            assert_eq!(seen(text, "-", None), Ok(format), "{shown}");
        }
        for text in [
            &b"a,b\n"[..],
            b"id,t\n3,gamma\n",
            b"id\tt\n3\tgamma",
            b"First Name,City\nBob,Paris\nAl,Rome\n",
            b"3,gamma\n4,delta\n5,x\n",
            b"a;b\n1;2\n3;4\n",
            // Names of people, as likely as a table.
            b"Doe, John\nRoe, Jane\nPoe, Ed\n",
        ] {
            let shown = String::from_utf8_lossy(text);
            let message = seen(text, "-", None).expect_err(&shown);
            assert!(message.contains("--input-format"), "{message}");
            assert_eq!(seen(text, "a.txt", None), Ok(Lines), "{shown}");
        }
    }

    #[test]
    fn names_decide_before_content_does() {
        use InputFormat::{Csv, Jsonl, Lines, Tsv};
        for (name, text, format) in [
            ("a.csv", &b"id,t\n3,gamma\n"[..], Csv),
            ("a.CSV", b"id,t\n", Csv),
            ("b/a.csv.gz", b"First Name,t\n3,gamma\n", Csv),
            ("a.csv", b",a,1990\n0,b,c\n", Csv),
            ("a.csv", b"a,b\n1\n2,3,4\n", Csv),
            ("a.csv", b"", Csv),
            ("a.tsv", b"id\tt\n3\tgamma\n", Tsv),
            ("a.tsv.zst", b"id\tt\n3\tgamma\n", Tsv),
            ("a.json", b"[1]", Jsonl),
            ("a.jsonl", b"{a:1}", Jsonl),
            ("a.ndjson.lz4", b"{\"a\":1}", Jsonl),
            ("a.gz", b"one\n", Lines),
            ("a.txt", b"a,b\n1,2\n3,4\n", Lines),
            ("a.TXT.gz", b"a\tb\n1\t2\n3\t4\n", Lines),
            ("a.md", b"Doe, John\nRoe, Jane\nPoe, Ed\n", Lines),
            ("a.text.bz2", b"{\"a\":1}\n", Lines),
        ] {
            assert_eq!(seen(text, name, None), Ok(format), "{name}");
        }
        for (name, text, words) in [
            ("a.csv", &b"title\nParis\n"[..], "one column"),
            ("a.csv", b"a;b;c\n1;2;3\n", "--delimiter ';'"),
            ("a.csv", b"a\tb\n1\t2\n", "--delimiter '\\t'"),
            ("a.tsv", b"a,b\n1,2\n", "--delimiter ','"),
            ("a.csv", b"{\"a\":1}\n", "found JSON"),
            ("a.csv", b"3,gamma\n4,delta\n", "'3' in the first line"),
            ("a.json", b"a,b\n1,2\n", "begins with 'a,b'"),
            ("a.json", b"{{Infobox}}\n", "begins with '{{Infobox}}'"),
        ] {
            let message = seen(text, name, None).expect_err(name);
            assert!(message.contains(words) && message.contains("--input-format"), "{message}");
        }
    }

    #[test]
    fn fields_that_are_known_decide_before_content_does() {
        use InputFormat::{Csv, Jsonl, Lines, Tsv};
        let (table, mixed, text): (&[&str], &[&str], &[&str]) =
            (&["id", "t", "First Name"], &["id", "text"], &["text"]);
        for (known, name, input, format) in [
            (table, "-", &b"id,t\n3,gamma"[..], Csv),
            (table, "-", b"t,id\n", Csv),
            (table, "-", b"First Name\tid\nx\t1\n", Tsv),
            (table, "-", b"t\nx\n", Csv),
            (table, "a.csv", b"t\nx\n", Csv),
            (table, "-", b"id,colour\n1,red\n", Csv),
            (table, "-", b"{\"id\":1}", Jsonl),
            (mixed, "-", b"id,text\n3,gamma\n", Csv),
            (mixed, "a.txt", b"some, text\n", Lines),
            (mixed, "a.txt", b"id,colour\n3,red\n", Lines),
            (mixed, "-", b"id\n3\n", Csv),
            (table, "a.txt", b"id,t\n3,gamma\n", Csv),
            (table, "a.txt", b"{\"id\":1}", Jsonl),
            (mixed, "a.txt", b"id\n3\n", Lines),
            (text, "-", b"some text\n", Lines),
            (text, "-", b"Paris,Texas\n", Lines),
            (text, "-", b"a,b\n1,2\n3,4\n", Csv),
            (text, "a.txt", b"text\nmore\n", Lines),
            (text, "a.txt", b"a,b\n1,2\n3,4\n", Lines),
            (text, "a.txt", b"{\"text\":1}", Lines),
            (text, "-", b"Doe, John\nRoe, Jane\nPoe, Ed\n", Lines),
            (text, "-", b"\n", Lines),
        ] {
            let shown = String::from_utf8_lossy(input);
            assert_eq!(seen(input, name, Some(known)), Ok(format), "{known:?} {shown}");
        }
        for (known, name, input) in [
            (table, "-", &b"3,gamma\n4,delta\n"[..]),
            (table, "-", b"some text\n"),
            (mixed, "-", b"some text\n"),
            (mixed, "a.txt", b"id,text\n3,gamma\n"),
            (table, "a.txt", b"some text\n"),
            (mixed, "-", b"3,gamma\n4,delta\n"),
            (text, "-", b"text\nmore\n"),
            (text, "a.csv", b"some text\n"),
        ] {
            let message = seen(input, name, Some(known)).unwrap_err();
            assert!(message.contains("--input-format"), "{message}");
        }
    }

    #[test]
    fn lines_by_name_that_look_like_something_else_are_told() {
        for (text, words) in [
            (&b"a,b\n1,2\n3,4\n"[..], "; looks like CSV: --input-format csv reads it so"),
            (b"a\tb\n1\t2\n3\t4\n", "; looks like TSV: --input-format tsv reads it so"),
            (b"a;b\n1;2\n3;4\n", "; looks like CSV: --delimiter ';' reads it so"),
            (b"{\"a\":1}\n", "; looks like JSON: --input-format json reads it so"),
            (b"Doe, John\nRoe, Jane\nPoe, Ed\n", ""),
        ] {
            let settings = InputSettings::default();
            let seen = recognise_text(text, true, Path::new("a.txt"), None, &settings).unwrap();
            assert_eq!(seen.described, format!("plain text, a document a line{words}"));
        }
    }

    #[test]
    fn a_line_cut_by_the_window_does_not_count() {
        let seen = |is_all| {
            let text = b"a,b\n1,2\n3,4\n5";
            recognise_text(text, is_all, Path::new("-"), None, &InputSettings::default())
                .map(|recognised| recognised.described)
        };
        assert_eq!(seen(false).unwrap(), "CSV with a header: 2 fields");
        assert_eq!(seen(true).unwrap(), "plain text, a document a line");
    }

    #[test]
    fn a_list_in_an_object_is_seen() {
        for (text, key) in [
            ("{\"rows\":[{\"a\":1},{\"a\":2}]}", Some("rows")),
            ("{\n\"n\":2,\n\"rows\":[{\"a\":[1,2]},{\"a\":2}],\"next\":null\n}\n", Some("rows")),
            ("{\"rows\":[{\"a\":1}]}", None),
            ("{\"a\":1}", None),
            ("{\"rows\":[{\"a\":1},{\"a\":2}]}\n{\"rows\":[]}", None),
            ("{\"rows\":[{\"a\":1},{\"a\":2}],\"tags\":[\"x\"]}", None),
            ("[{\"a\":1},{\"a\":2}]", None),
            ("{\"rows\":[1,2]}", None),
            ("", None),
        ] {
            assert_eq!(wrapped_list(text.as_bytes()).as_deref(), key, "{text}");
        }
    }
}
