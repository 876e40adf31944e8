//! A schema from the first documents, where none was given: strings are text, or dates or addresses where each of them is one,
//! lists of strings are keywords, and numbers and booleans what they are. What would need a type that does not exist is an error that
//! names the field, so that no index has to be built again when it does.

use std::net::IpAddr;
use std::path::Path;

use serde_json::{Number, Value};
use treepie::{Error, ErrorKind, Field, FieldKind, Schema, Timestamp};

use super::{
    FailureSlot, Input, RECORD_BYTES_MAX,
    csv::Csv,
    format::InputFormat,
    json::{self, JsonLines, Leaf},
    records::Dialect,
    settings::InputSettings,
};

/// Text that is looked at, as long as it has a whole document in it.
const SAMPLE_BYTES: usize = 1 << 20;

/// The schema of an input in this format.
pub(crate) fn infer(
    input: &mut Input,
    format: InputFormat,
    settings: &InputSettings,
) -> Result<Schema, Error> {
    let name = input.name.clone();
    let mut n_bytes = SAMPLE_BYTES;
    loop {
        let sample = input.peek(n_bytes)?;
        let newline = sample.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
        let n_whole = newline.map_or(0, |at| at + 1);
        let sample = sample.to_vec();
        let whole = if input.peeked_at_all() { &sample[..] } else { &sample[..n_whole] };
        if whole.is_empty() && !input.peeked_at_all() && n_bytes <= RECORD_BYTES_MAX {
            n_bytes *= 4;
            continue;
        }
        let is_all = input.peeked_at_all();
        let schema = match format {
            InputFormat::Csv | InputFormat::Tsv => of_table(whole, format.dialect(settings)),
            InputFormat::Lines => Schema::builder().text("text").build(),
            InputFormat::Jsonl => match of_objects(&sample, is_all, &name) {
                // Not one of them is whole so far.
                Err(_) if !is_all && n_bytes <= RECORD_BYTES_MAX && !has_object(&sample) => {
                    n_bytes *= 4;
                    continue;
                }
                Err(_) if !is_all && !has_object(&sample) => Err(json::too_long(1)),
                schema => schema,
            },
        };
        return schema.map_err(|error| error.in_file(&name));
    }
}

/// What has been seen in a field so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// Only null, empty lists, empty cells.
    Nothing,
    Numbers(Numbers),
    Bool,
    Date,
    Address,
    Text,
    /// What has no kind in common but what all can be written as.
    Mixed,
}

/// What of numbers has been seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Numbers {
    /// One with digits behind the point.
    fraction: bool,
    /// A whole one below 0.
    negative: bool,
    /// A whole one that a fraction does not keep all digits of.
    wide: bool,
    /// A whole one that takes all 64 bits.
    large: bool,
}

impl Numbers {
    /// What is written with a point, or is beyond all numbers.
    fn fraction(number: Option<f64>) -> Seen {
        // From here on it may be a whole number with more digits than a fraction keeps.
        const KEPT_MAX: f64 = (1u64 << 53) as f64;
        let wide = number.is_none_or(|number| number.abs() >= KEPT_MAX);
        Seen::Numbers(Numbers { fraction: true, wide, ..Numbers::default() })
    }

    /// `None` for what no field of whole numbers can have.
    fn whole(number: i128) -> Option<Seen> {
        const BITS_OF_FRACTION: u32 = 53;
        (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&number).then_some(Seen::Numbers(
            Numbers {
                fraction: false,
                negative: number < 0,
                wide: number.unsigned_abs() > 1 << BITS_OF_FRACTION,
                large: number > i128::from(i64::MAX),
            },
        ))
    }

    fn and(self, other: Self) -> Self {
        Numbers {
            fraction: self.fraction | other.fraction,
            negative: self.negative | other.negative,
            wide: self.wide | other.wide,
            large: self.large | other.large,
        }
    }

    /// The kind of field that keeps all of them.
    fn kind(self) -> Option<FieldKind> {
        match self {
            Numbers { fraction: true, wide: true, .. } => None,
            Numbers { fraction: true, .. } => Some(FieldKind::F64),
            Numbers { large: true, negative: true, .. } => None,
            Numbers { large: true, .. } => Some(FieldKind::U64),
            _ => Some(FieldKind::I64),
        }
    }
}

impl Seen {
    fn of_text(text: &str) -> Self {
        // A year or a month alone may as well be a number or a code.
        const DATE_LEN_MIN: usize = 10;
        let is_date = text.len() >= DATE_LEN_MIN
            && text.starts_with(|c: char| c.is_ascii_digit())
            && text.parse::<Timestamp>().is_ok();
        match text.parse::<IpAddr>() {
            _ if is_date => Seen::Date,
            Ok(_) => Seen::Address,
            Err(_) => Seen::Text,
        }
    }

    fn of_number(number: &Number) -> Self {
        let whole = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
        whole.and_then(Numbers::whole).unwrap_or_else(|| Numbers::fraction(number.as_f64()))
    }

    /// What a cell of a table looks like.
    fn of_cell(cell: &str) -> Self {
        let digits = cell.strip_prefix('-').unwrap_or(cell);
        // 007 is no number, and 1e5 may be anything.
        let is_code = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
        let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit());
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        match cell {
            "" => Seen::Nothing,
            "true" | "false" => Seen::Bool,
            _ if is_code || !is_number => Seen::of_text(cell),
            // One with more digits than a number has is the name of something.
            _ if is_whole => cell.parse().ok().and_then(Numbers::whole).unwrap_or(Seen::Text),
            // Four numbers with points between them are an address.
            _ => match cell.parse() {
                Ok(number) => Numbers::fraction(Some(number)),
                Err(_) => Seen::of_text(cell),
            },
        }
    }

    /// What holds both.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (seen, Seen::Nothing) | (Seen::Nothing, seen) => seen,
            (Seen::Numbers(a), Seen::Numbers(b)) => Seen::Numbers(a.and(b)),
            (seen, other) if seen == other => seen,
            (Seen::Date | Seen::Address | Seen::Text, Seen::Date | Seen::Address | Seen::Text) => {
                Seen::Text
            }
            _ => Seen::Mixed,
        }
    }
}

/// A field, and whether it has been seen with many values.
struct SeenField {
    name: String,
    seen: Seen,
    many: bool,
    /// The first line where it was an object, if it was one anywhere.
    object_at: Option<u64>,
}

/// Fields in the order they were first met.
#[derive(Default)]
struct Fields(Vec<SeenField>);

impl Fields {
    fn meet(&mut self, name: &str, seen: Seen, many: bool) -> &mut SeenField {
        let known = self.0.iter().position(|known| known.name == name);
        let at = known.unwrap_or_else(|| {
            let (name, seen) = (name.to_owned(), Seen::Nothing);
            self.0.push(SeenField { name, seen, many: false, object_at: None });
            self.0.len() - 1
        });
        let field = &mut self.0[at];
        field.seen = field.seen.and(seen);
        field.many |= many;
        field
    }

    /// Leaves the objects out, whose fields stand for them.
    fn without_objects(mut self) -> Result<Self, Error> {
        let names: Vec<_> = self.0.iter().map(|field| field.name.clone()).collect();
        for SeenField { name, seen, object_at, .. } in &self.0 {
            let Some(line) = *object_at else { continue };
            if *seen != Seen::Nothing {
                return Err(no_type(name, "an object, and something else in other places", line));
            }
            let is_below = |other: &String| {
                other.strip_prefix(&**name).is_some_and(|rest| rest.starts_with('.'))
            };
            if !names.iter().any(is_below) {
                return Err(no_type(name, "an object without fields", line));
            }
        }
        self.0.retain(|field| field.object_at.is_none());
        Ok(self)
    }

    /// In a table everything is a text, whatever else a cell looks like.
    fn into_schema(self, is_table: bool) -> Result<Schema, Error> {
        if self.0.is_empty() {
            return Err(Error::new(ErrorKind::Schema, "inferring a schema")
                .expected("a document with fields")
                .found("none")
                .hint("--schema FILE says what the fields are"));
        }
        let mut builder = Schema::builder();
        for SeenField { name, seen, many, .. } in self.0 {
            let text = if many { FieldKind::Keyword } else { FieldKind::Text };
            let kind = match seen {
                Seen::Numbers(numbers) => match numbers.kind() {
                    Some(kind) => kind,
                    None if is_table => text,
                    None => return Err(no_common_type(&name)),
                },
                Seen::Bool => FieldKind::Bool,
                Seen::Date => FieldKind::Date,
                Seen::Address => FieldKind::Ip,
                Seen::Text | Seen::Nothing => text,
                Seen::Mixed if is_table => text,
                Seen::Mixed => FieldKind::Keyword,
            };
            builder = builder.field(Field::new(name, kind).many(many));
        }
        builder.build()
    }
}

/// A field that needs a type which does not exist.
fn no_type(name: &str, found: &str, line: u64) -> Error {
    Error::new(ErrorKind::Schema, format!("inferring the type of the field '{name}'"))
        .expected("texts, numbers, booleans, or lists or objects of those")
        .found(found)
        .at_line(line)
        .hint("--schema FILE says which fields there are")
}

/// Numbers of which no field keeps all.
fn no_common_type(name: &str) -> Error {
    Error::new(ErrorKind::Schema, format!("inferring the type of the field '{name}'"))
        .expected("numbers that one type keeps all digits of")
        .found(
            "whole numbers of 54 bits or more beside fractions, or of 64 bits beside negative ones",
        )
        .hint("--schema FILE says what it is: a keyword, given as strings, keeps everything")
}

/// What one value of JSON looks like; none for what no field can have.
fn seen(value: &Value) -> Option<Seen> {
    match value {
        Value::Null => Some(Seen::Nothing),
        Value::String(text) => Some(Seen::of_text(text)),
        Value::Number(number) => Some(Seen::of_number(number)),
        Value::Bool(_) => Some(Seen::Bool),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Whether there is a whole object in a sample.
fn has_object(sample: &[u8]) -> bool {
    let mut objects = JsonLines::new(sample, FailureSlot::default(), true).of_part();
    while let Ok(Some((_, object))) = objects.next_leaves() {
        if object.is_ok() {
            return true;
        }
    }
    false
}

fn of_objects(sample: &[u8], is_all: bool, name: &Path) -> Result<Schema, Error> {
    let mut fields = Fields::default();
    let mut unreadable = None;
    let mut objects = JsonLines::new(sample, FailureSlot::default(), true);
    if !is_all {
        objects = objects.of_part();
    }
    while let Ok(Some((number, object))) = objects.next_leaves() {
        // One that cannot be read is told, or skipped, when its turn comes, unless there is no other.
        let object = match object {
            Ok(object) => object,
            Err(error) => {
                unreadable.get_or_insert(error);
                continue;
            }
        };
        for Leaf { path, values, is_list } in object {
            fields.meet(&path, Seen::Nothing, is_list && !values.is_empty());
            for value in &values {
                if value.is_object() {
                    fields.meet(&path, Seen::Nothing, is_list).object_at.get_or_insert(number);
                    continue;
                }
                let seen = seen(value).ok_or_else(|| {
                    no_type(&path, &format!("{} in a list", json::described(value)), number)
                })?;
                // Several ways may lead to one path: a key with a point, and an object.
                fields.meet(&path, seen, is_list || values.len() > 1);
            }
        }
    }
    if let Some(error) = unreadable.filter(|_| fields.0.is_empty()) {
        return Err(error.in_file(name));
    }
    let schema = fields.without_objects().and_then(|fields| fields.into_schema(false));
    schema.map_err(|error| error.in_file(name))
}

fn of_table(whole: &[u8], dialect: Dialect) -> Result<Schema, Error> {
    let mut csv = Csv::new(whole, dialect, FailureSlot::default(), true)?;
    let columns = csv.columns().to_vec();
    let mut fields = Fields::default();
    // A column without a name holds nothing.
    for (at, name) in columns.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        fields.meet(name, Seen::Nothing, columns[..at].contains(name));
    }
    while let Ok(Some((_, cells))) = csv.next_cells() {
        for (name, cell) in columns.iter().zip(cells.iter()).filter(|(name, _)| !name.is_empty()) {
            let cell = String::from_utf8_lossy(cell);
            fields.meet(name, Seen::of_cell(cell.trim()), false);
        }
    }
    fields.into_schema(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::schema_file;

    fn objects(text: &str) -> Result<String, String> {
        let schema = of_objects(text.as_bytes(), true, Path::new("a.jsonl"));
        schema.map(|schema| schema_file::print(&schema)).map_err(|error| error.to_string())
    }

    fn table(text: &str) -> Result<String, String> {
        let schema = of_table(text.as_bytes(), Dialect::COMMA);
        schema.map(|schema| schema_file::print(&schema)).map_err(|error| error.to_string())
    }

    #[test]
    fn strings_are_text_and_lists_of_strings_are_keywords() {
        let schema = objects(
            "{\"b\":null,\"tags\":[]}\n{\"a\":\"x\",\"b\":\"y\",\"tags\":[\"t\"]}\n{\"c\":null}\n",
        );
        let expected = "[fields.b]\ntype = \"text\"\n[fields.tags]\ntype = \"keyword\"\nmany = true\n\
                        [fields.a]\ntype = \"text\"\n[fields.c]\ntype = \"text\"\n";
        assert_eq!(schema.unwrap(), expected);
    }

    /// The type of the only field.
    fn type_of(text: &str) -> String {
        let schema = objects(text).unwrap();
        let rest = schema.split_once("type = \"").unwrap().1;
        let many = if rest.contains("many = true") { ", many" } else { "" };
        format!("{}{many}", rest.split_once('"').unwrap().0)
    }

    #[test]
    fn a_field_has_the_type_that_holds_all_that_was_seen() {
        let of = |values: &[&str]| -> String {
            type_of(&values.iter().map(|value| format!("{{\"a\":{value}}}\n")).collect::<String>())
        };
        for (values, expected) in [
            (&["1", "-2"][..], "i64"),
            (&["1", "18446744073709551615"], "u64"),
            (&["1", "null", "2.5"], "f64"),
            (&["true", "false"], "bool"),
            (&["true", "1"], "keyword"),
            (&["\"2010-12-01T08:26:00Z\"", "null", "\"2010-12-02\""], "date"),
            (&["\"2010-12-01\"", "\"unknown\""], "text"),
            (&["\"2010\""], "text"),
            (&["\"10.0.0.1\"", "\"2001:db8::1\""], "ip"),
            (&["\"10.0.0.1\"", "\"localhost\""], "text"),
            (&["\"10.0.0.1\"", "\"2010-12-01\""], "text"),
            (&["[\"10.0.0.1\", \"::1\"]"], "ip, many"),
            (&["\"a\"", "1"], "keyword"),
            (&["[1, 2]", "3"], "i64, many"),
            (&["[\"a\"]", "null"], "keyword, many"),
            (&["[1, null]"], "i64, many"),
            (&["-1", "9007199254740993"], "i64"),
            (&["[true]"], "bool, many"),
            (&["[]", "1.5"], "f64"),
        ] {
            assert_eq!(of(values), expected, "{values:?}");
        }
    }

    #[test]
    fn objects_are_fields_named_by_the_way_to_them() {
        let schema = objects(
            "{\"size\":{\"width\":3,\"unit\":{\"name\":\"mm\"}},\"part\":[{\"no\":1},{\"no\":2}]}\n\
             {\"size\":null,\"part\":[]}\n{\"size\":{\"width\":0.5},\"part\":[{}]}",
        );
        let expected = "[fields.\"size.width\"]\ntype = \"f64\"\n\
                        [fields.\"size.unit.name\"]\ntype = \"text\"\n\
                        [fields.\"part.no\"]\ntype = \"i64\"\nmany = true\n";
        assert_eq!(schema.unwrap(), expected);
    }

    #[test]
    fn what_needs_a_type_that_is_not_there_names_the_field() {
        for (text, words) in [
            (
                "{\"a\":{}}",
                "field 'a': expected texts, numbers, booleans, or lists or objects of those, found an object",
            ),
            ("{\"a\":[[1]]}", "found a list in a list"),
            ("{\"a\":{\"b\":1}}\n{\"a\":7}", "field 'a'"),
            (
                "{\"a\":[1,{\"b\":1}]}",
                "an object, and something else in other places (in a.jsonl, line 1)",
            ),
            ("{\"x\":1}\n{\"a\":[{}]}", "found an object without fields (in a.jsonl, line 2)"),
            ("", "found none"),
            (
                "{\"a\":9007199254740993}\n{\"a\":0.5}",
                "field 'a': expected numbers that one type keeps",
            ),
            (
                "{\"a\":-1}\n{\"a\":18446744073709551615}",
                "field 'a': expected numbers that one type keeps",
            ),
        ] {
            let message = objects(text).unwrap_err();
            assert!(message.contains(words), "{message}");
        }
    }

    #[test]
    fn columns_are_what_all_of_their_cells_are() {
        let schema = table("title,tag,tag\na,b,c\n");
        let expected =
            "[fields.title]\ntype = \"text\"\n[fields.tag]\ntype = \"keyword\"\nmany = true\n";
        assert_eq!(schema.unwrap(), expected);
        let types = |cells: &[&str]| {
            let schema = table(&format!("c\n{}\n", cells.join("\n"))).unwrap();
            schema.split('"').nth(1).unwrap().to_owned()
        };
        for (cells, expected) in [
            (&["1999", " 7 "][..], "i64"),
            (&["1", "18446744073709551615"], "u64"),
            (&["1", "-2.5"], "f64"),
            (&["0", "0.5"], "f64"),
            (&["true", "false"], "bool"),
            (&["2010-12-01", "2010-12-02 08:26"], "date"),
            (&["10.0.0.1", " ::1 ", ""], "ip"),
            (&["1.2.3.4", "1.2.3"], "text"),
            (&["1999", "unknown"], "text"),
            (&["1984", "Brave New World", "true"], "text"),
            (&["9007199254740993", "0.5"], "text"),
            (&["-1", "18446744073709551615"], "text"),
            (&["123456789012345678901234567890"], "text"),
            (&["007", "008"], "text"),
            (&["nan", "inf"], "text"),
            (&["1e5"], "text"),
        ] {
            assert_eq!(types(cells), expected, "{cells:?}");
        }
    }
}
