//! Schema from the first documents, if none was given, with reasons for each field.
//!
//! Numbers, booleans, dates and addresses are fields of their types where all values are. Strings are keywords with a
//! text copy, or text, by what they hold: the module [`strings`] has the rule. A field that mixes strings with numbers
//! or booleans is text; in a table, where everything is written as a string, it is what its strings are. Words that
//! mean no value, as NA, are passed over. Without any text all fields are default fields, so that there is always
//! something that a word alone may mean. A field whose type does not exist is an error that names it, so that no index
//! has to be built again when it does.

mod clues;
mod seen;
mod strings;

use std::path::Path;

use serde_json::Value;
use treepie::schema::{FIELD_NAME_BYTES_MAX, FIELDS_MAX};
use treepie::{Error, ErrorKind, Field, FieldKind, Schema};

use self::{seen::Seen, strings::Strings};
use super::{
    FailureSlot, Input, RECORD_BYTES_MAX,
    csv::Csv,
    format::InputFormat,
    json::{self, JsonLines, Leaf},
    null_words::NullWords,
    records::{Dialect, Next, Records},
    schema_file,
    settings::InputSettings,
};

/// Text that is looked at, as long as it has a whole document in it.
const SAMPLE_BYTES: usize = 1 << 20;

/// Text of a table that is looked at where a quote at its beginning stays open: so much that reading gives the quote up.
const TABLE_BYTES_MAX: usize = RECORD_BYTES_MAX + 2 * SAMPLE_BYTES;

/// A schema, and for each of its fields why it is what it is.
#[derive(Debug)]
pub(crate) struct Inferred {
    pub(crate) schema: Schema,
    why: Vec<String>,
}

impl Inferred {
    /// The text of a schema file, with a comment behind each type.
    pub(crate) fn print(&self) -> String {
        schema_file::print_with(&self.schema, |field| {
            let at = self.schema.fields().iter().position(|other| other.name == field.name);
            at.and_then(|at| self.why.get(at)).map(String::as_str)
        })
    }

    /// Infers a schema with the documents of each segment in this order.
    pub(crate) fn ordered_by(
        mut self,
        order: impl FnOnce(&Schema) -> Result<Schema, Error>,
    ) -> Result<Self, Error> {
        self.schema = order(&self.schema)?;
        Ok(self)
    }
}

/// The schema of an input in this format.
pub(crate) fn infer(
    input: &mut Input,
    format: InputFormat,
    settings: &InputSettings,
    nulls: &NullWords,
    lossy: bool,
) -> Result<Inferred, Error> {
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
        let dialect = format.dialect(settings);
        if is_table(format) && !is_all && n_bytes < TABLE_BYTES_MAX && is_open_early(whole, dialect)
        {
            n_bytes = TABLE_BYTES_MAX;
            continue;
        }
        let schema = match format {
            InputFormat::Csv | InputFormat::Tsv => of_table(whole, dialect, is_all, nulls, lossy),
            InputFormat::Lines => Schema::builder()
                .text("text")
                .build()
                .map(|schema| Inferred { schema, why: vec!["lines".to_owned()] }),
            InputFormat::Jsonl => match of_objects(&sample, is_all, &name, nulls) {
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

/// A field, and what has been seen of it.
struct SeenField {
    name: String,
    seen: Seen,
    many: bool,
    /// Shape of the values as strings.
    strings: Strings,
    n_values: u64,
    /// The first word that was taken for no value.
    null_word: Option<String>,
    /// The first line if it was an object, if it was one anywhere.
    object_at: Option<u64>,
}

/// Fields in the order they were first met.
#[derive(Default)]
struct Fields(Vec<SeenField>);

impl Fields {
    /// The field of this name, which has many values where anything says so.
    fn meet(&mut self, name: &str, many: bool) -> &mut SeenField {
        let known = self.0.iter().position(|known| known.name == name);
        let at = known.unwrap_or_else(|| {
            self.0.push(SeenField {
                name: name.to_owned(),
                seen: Seen::Nothing,
                many: false,
                strings: Strings::default(),
                n_values: 0,
                null_word: None,
                object_at: None,
            });
            self.0.len() - 1
        });
        let field = &mut self.0[at];
        field.many |= many;
        field
    }

    /// Leaves the objects out, whose fields stand for them.
    fn without_objects(mut self) -> Result<Self, Error> {
        for SeenField { name, seen, object_at, .. } in &self.0 {
            let Some(line) = *object_at else { continue };
            if *seen != Seen::Nothing {
                return Err(no_type(name, "an object, and something else in other places", line));
            }
        }
        self.0.retain(|field| field.object_at.is_none());
        Ok(self)
    }

    /// In a table everything is a string, whatever else a cell looks like.
    fn into_schema(self, is_table: bool) -> Result<Inferred, Error> {
        if self.0.is_empty() {
            return Err(Error::new(ErrorKind::Schema, "inferring a schema")
                .expected("a document with fields")
                .found("none")
                .hint("--schema FILE says what the fields are"));
        }
        let names: Vec<_> = self.0.iter().map(|field| field.name.clone()).collect();
        // A field of strings may take two.
        let has_room = self.0.len() * 2 <= FIELDS_MAX;
        let (mut builder, mut why) = (Schema::builder(), vec![]);
        for field in self.0 {
            let (kind, because) = field.kind(is_table)?;
            let SeenField { name, many, .. } = field;
            let copy = copy_name(&name, &names).filter(|_| has_room);
            let (kind, copy) = match (kind, copy) {
                (FieldKind::Keyword, None) => (FieldKind::Text, None),
                (FieldKind::Keyword, copy) => (kind, copy),
                _ => (kind, None),
            };
            // A keyword of one value can be sorted by, as numbers can.
            let has_column = kind.is_typed() || kind == FieldKind::Keyword && !many;
            builder = builder.field(Field::new(&*name, kind).many(many).column(has_column));
            why.push(because);
            if let Some(copy) = copy {
                why.push(format!("the words of '{}'", name.escape_debug()));
                let copy = Field::new(copy, FieldKind::Text).many(many).copy_of(name);
                builder = builder.field(copy);
            }
        }
        let schema = builder.clone().build()?;
        if schema.default_fields().next().is_some() {
            return Ok(Inferred { schema, why });
        }
        // No words anywhere, so that what names no field is a value of any of them.
        let all = schema.fields().iter().map(|field| field.name.clone());
        Ok(Inferred { schema: builder.default_fields(all).build()?, why })
    }
}

/// Finds a name for the text copy of a keyword that is none of the other names.
fn copy_name(name: &str, others: &[String]) -> Option<String> {
    let mut names = [".text", ".words", ".text_copy"].into_iter().map(|end| format!("{name}{end}"));
    names.find(|name| !others.contains(name) && name.len() <= FIELD_NAME_BYTES_MAX)
}

impl SeenField {
    /// A value, and the text that it is written as.
    fn see(&mut self, seen: Seen, written: &str) {
        self.seen = self.seen.and(seen);
        if seen != Seen::Nothing {
            self.n_values += 1;
            self.strings.add(written);
            return;
        }
        if !written.is_empty() && self.null_word.is_none() {
            self.null_word = Some(written.to_owned());
        }
    }

    /// The kind of field that keeps all that was seen, and why.
    fn kind(&self, is_table: bool) -> Result<(FieldKind, String), Error> {
        let of_strings = || {
            let choice = self.strings.choice(self.many);
            let kind = if choice.is_keyword { FieldKind::Keyword } else { FieldKind::Text };
            (kind, choice.why)
        };
        let of_values = |kind: FieldKind, what: &str| {
            let plural = if self.n_values == 1 { "" } else { "s" };
            let null = match &self.null_word {
                Some(word) => format!("; {word:?} is none"),
                None => String::new(),
            };
            Ok((kind, format!("{} value{plural}, {what}{null}", self.n_values)))
        };
        match self.seen {
            Seen::Numbers(numbers) => match numbers.kind() {
                Some(FieldKind::F64) => of_values(FieldKind::F64, "numbers"),
                Some(kind) => of_values(kind, "whole numbers"),
                None if is_table => Ok(of_strings()),
                None => Err(no_common_type(&self.name)),
            },
            Seen::Bool => of_values(FieldKind::Bool, "true or false"),
            Seen::Date => of_values(FieldKind::Date, "dates"),
            Seen::Address => of_values(FieldKind::Ip, "addresses"),
            Seen::Mixed if !is_table => of_values(FieldKind::Text, "strings and others"),
            Seen::Text | Seen::Nothing | Seen::Mixed => Ok(of_strings()),
        }
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
            "whole numbers of 54 bits or more beside fractions, or of 64 bits beside negative ones, or one beyond all numbers or too near to 0",
        )
        .hint("--schema FILE says what it is: a keyword, given as strings, keeps everything")
}

/// Describes one value of JSON and writes it as text; `None` for a value that no field can have.
fn seen(value: &Value, nulls: &NullWords) -> Option<(Seen, String)> {
    match value {
        Value::Null => Some((Seen::Nothing, String::new())),
        Value::String(text) if means_none(text, nulls) => Some((Seen::Nothing, text.clone())),
        Value::String(text) => Some((Seen::of_text(text), text.clone())),
        Value::Number(number) => Some((Seen::of_number(number), number.to_string())),
        Value::Bool(is_true) => Some((Seen::Bool, is_true.to_string())),
        Value::Array(_) | Value::Object(_) => None,
    }
}

fn means_none(text: &str, nulls: &NullWords) -> bool {
    let text = text.trim();
    text.is_empty() || nulls.mean_none(text)
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

fn of_objects(
    sample: &[u8],
    is_all: bool,
    name: &Path,
    nulls: &NullWords,
) -> Result<Inferred, Error> {
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
            fields.meet(&path, is_list && !values.is_empty());
            for value in &values {
                if value.is_object() {
                    fields.meet(&path, is_list).object_at.get_or_insert(number);
                    continue;
                }
                let (seen, written) = seen(value, nulls).ok_or_else(|| {
                    no_type(&path, &format!("{} in a list", json::described(value)), number)
                })?;
                // Several ways may lead to one path: a key with a point, and an object.
                fields.meet(&path, is_list || values.len() > 1).see(seen, &written);
            }
        }
    }
    if let Some(error) = unreadable.filter(|_| fields.0.is_empty()) {
        return Err(error.in_file(name));
    }
    let schema = fields.without_objects().and_then(|fields| fields.into_schema(false));
    schema.map_err(|error| error.in_file(name))
}

fn is_table(format: InputFormat) -> bool {
    matches!(format, InputFormat::Csv | InputFormat::Tsv)
}

/// Whether a quote opens in the first half of a sample that nothing in it closes: too early to be one that the end cuts off.
fn is_open_early(sample: &[u8], dialect: Dialect) -> bool {
    let mut records = Records::new(sample, dialect, RECORD_BYTES_MAX);
    let mut offset = 0;
    loop {
        match records.advance() {
            Ok(Next::Record(place)) => offset = place.offset,
            Ok(Next::Open(_)) => return offset < sample.len() as u64 / 2,
            Ok(Next::Wrong(_)) => {}
            Ok(Next::End) | Err(_) => return false,
        }
    }
}

/// Lines behind a quote that stays open are looked at where the text `is_all`, as it is read where bad lines are skipped. Names
/// in the header have to be text unless the input is read `lossy`: a file of other bytes is no table.
fn of_table(
    whole: &[u8],
    dialect: Dialect,
    is_all: bool,
    nulls: &NullWords,
    lossy: bool,
) -> Result<Inferred, Error> {
    let mut csv = Csv::new(whole, dialect, FailureSlot::default(), lossy)?;
    let columns = csv.columns().to_vec();
    let mut fields = Fields::default();
    // A column without a name holds nothing.
    for (at, name) in columns.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        fields.meet(name, columns[..at].contains(name));
    }
    while let Ok(Some((_, cells))) = csv.next_cells(is_all) {
        for (name, cell) in columns.iter().zip(cells.iter()).filter(|(name, _)| !name.is_empty()) {
            let cell = String::from_utf8_lossy(cell);
            let cell = cell.trim();
            let seen = if means_none(cell, nulls) { Seen::Nothing } else { Seen::of_cell(cell) };
            fields.meet(name, false).see(seen, cell);
        }
    }
    fields.into_schema(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(text: &str) -> Result<String, String> {
        let schema = of_objects(text.as_bytes(), true, Path::new("a.jsonl"), &NullWords::default());
        schema.map(|it| schema_file::print(&it.schema)).map_err(|error| error.to_string())
    }

    fn table(text: &str) -> Result<String, String> {
        let schema = of_table(text.as_bytes(), Dialect::COMMA, true, &NullWords::default(), false);
        schema.map(|it| schema_file::print(&it.schema)).map_err(|error| error.to_string())
    }

    /// A keyword of this name and its copy, as a schema file has them.
    fn keyword(name: &str, many: &str) -> String {
        let quoted = |name: &str| match name.contains('.') {
            true => format!("\"{name}\""),
            false => name.to_owned(),
        };
        let (field, copy) = (quoted(name), quoted(&format!("{name}.text")));
        let column = if many.is_empty() { "column = true\n" } else { "" };
        format!(
            "[fields.{field}]\ntype = \"keyword\"\n{many}{column}\
             [fields.{copy}]\ntype = \"text\"\ncopy_of = \"{name}\"\n{many}"
        )
    }

    #[test]
    fn short_strings_are_keywords_with_a_text_copy_and_long_ones_text() {
        let schema = objects(
            "{\"b\":null,\"tags\":[]}\n{\"a\":\"x\",\"b\":\"a story of y\",\"tags\":[\"t\"]}\n{\"c\":null}\n",
        );
        let text = |name: &str| format!("[fields.{name}]\ntype = \"text\"\n");
        let expected = [text("b"), keyword("tags", "many = true\n"), keyword("a", ""), text("c")];
        assert_eq!(schema.unwrap(), expected.concat());
        // A name that is taken is not taken again, and one too long has no copy.
        let schema = table("a,a.text,a.words\nx,1,2\ny,3,4\n").unwrap();
        assert!(
            schema.contains("[fields.\"a.text_copy\"]\ntype = \"text\"\ncopy_of = \"a\""),
            "{schema}"
        );
        let long = "n".repeat(FIELD_NAME_BYTES_MAX - 3);
        assert!(table(&format!("{long}\nx\nx\n")).unwrap().ends_with("]\ntype = \"text\"\n"));
        // Fields so many that copies of them have no room.
        let names: Vec<_> = (0..FIELDS_MAX).map(|n| format!("f{n}")).collect();
        let row = vec!["x"; FIELDS_MAX].join(",");
        let schema = table(&format!("{}\n{row}\n{row}\n", names.join(","))).unwrap();
        assert!(!schema.contains("copy_of") && !schema.contains("keyword"));
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
            (&["true", "1"], "text"),
            (&["\"2010-12-01T08:26:00Z\"", "null", "\"2010-12-02\""], "date"),
            (&["\"2010-12-01\"", "\"unknown\""], "keyword"),
            (&["\"2010\""], "keyword"),
            (&["\"10.0.0.1\"", "\"2001:db8::1\""], "ip"),
            (&["\"10.0.0.1\"", "\"localhost\""], "keyword"),
            (&["\"10.0.0.1\"", "\"2010-12-01\""], "keyword"),
            (&["[\"10.0.0.1\", \"::1\"]"], "ip, many"),
            (&["\"a\"", "1"], "text"),
            (&["\"a\"", "true"], "text"),
            (&["[\"a\"]", "1"], "text, many"),
            (&["1", "\"NA\"", "\"\"", "\" - \""], "i64"),
            (&["\"null\"", "true"], "bool"),
            (&["\"NA\"", "null"], "text"),
            (&["1e3", "5.97e24"], "f64"),
            (&["1e3", "2"], "f64"),
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
                        KEYWORD[fields.\"part.no\"]\ntype = \"i64\"\nmany = true\n";
        let expected = expected.replace("KEYWORD", &keyword("size.unit.name", ""));
        assert_eq!(schema.unwrap(), expected);
    }

    #[test]
    fn what_needs_a_type_that_is_not_there_names_the_field() {
        for (text, words) in [
            (
                "{\"a\":[{}, [1]]}",
                "field 'a': expected texts, numbers, booleans, or lists or objects of those, found a list",
            ),
            ("{\"a\":{},\"b\":{\"c\":{}}}", "expected a document with fields, found none"),
            ("{\"a\":[[1]]}", "found a list in a list"),
            ("{\"a\":{\"b\":1}}\n{\"a\":7}", "field 'a'"),
            (
                "{\"a\":[1,{\"b\":1}]}",
                "an object, and something else in other places (in a.jsonl, line 1)",
            ),
            ("", "found none"),
            (
                "{\"a\":9007199254740993}\n{\"a\":0.5}",
                "field 'a': expected numbers that one type keeps",
            ),
            ("{\"a\":1e400}", "or one beyond all numbers"),
            ("{\"a\":-0.1e-400}", "or too near to 0"),
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
    fn empty_objects_are_no_fields() {
        let default = "[index]\ndefault_fields = [\"x\"]\n";
        let schema = objects("{\"x\":1,\"meta\":{}}\n{\"x\":2,\"y\":{\"z\":{}},\"meta\":{}}");
        assert_eq!(schema.unwrap(), format!("[fields.x]\ntype = \"i64\"\n{default}"));
        let schema = objects("{\"x\":{}}\n{\"x\":true}");
        assert_eq!(schema.unwrap(), format!("[fields.x]\ntype = \"bool\"\n{default}"));
    }

    #[test]
    fn without_any_text_all_fields_are_default_fields() {
        let default = |schema: String| schema.lines().last().unwrap_or_default().to_owned();
        let all = "default_fields = [\"a\", \"b\"]";
        assert_eq!(default(table("a,b\n1,2.5\n3,4\n").unwrap()), all);
        let schema = objects("{\"a\":\"2010-12-01\",\"b\":[true]}").unwrap();
        assert_eq!(default(schema), all);
        assert!(!table("a,b\n1,x\n3,y\n").unwrap().contains("default_fields"));
    }

    #[test]
    fn a_quote_that_stays_open_hides_nothing_that_is_read() {
        let text = b"id,t\n1,\"abc\n2,def\n3,ghi\n";
        let schema = |is_all| {
            let schema = of_table(text, Dialect::COMMA, is_all, &NullWords::default(), false);
            schema_file::print(&schema.unwrap().schema)
        };
        assert!(schema(true).starts_with("[fields.id]\ntype = \"i64\"\n"), "{}", schema(true));
        // It may be one that the end of the sample cuts off.
        assert!(schema(false).starts_with("[fields.id]\ntype = \"text\"\n"), "{}", schema(false));
        let late = [&text[..5], &b"1,x\n".repeat(9), b"1,\"x"].concat();
        for (sample, is_early) in [(&text[..], true), (&late, false), (b"a,b\n1,x\n", false)] {
            assert_eq!(is_open_early(sample, Dialect::COMMA), is_early);
        }
    }

    #[test]
    fn columns_are_what_all_of_their_cells_are() {
        let schema = table("title,tag,tag\na,b,c\n");
        assert_eq!(schema.unwrap(), keyword("title", "") + &keyword("tag", "many = true\n"));
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
            (&["1.2.3.4", "1.2.3"], "keyword"),
            (&["1999", "unknown"], "keyword"),
            (&["1984", "Brave New World", "true"], "keyword"),
            (&["1984", "Nineteen Eighty Four again"], "text"),
            (&["9007199254740993", "0.5"], "keyword"),
            (&["-1", "18446744073709551615"], "keyword"),
            (&["123456789012345678901234567890"], "keyword"),
            (&["007", "008"], "keyword"),
            (&["nan", "inf"], "keyword"),
            (&["nan", "1"], "i64"),
            (&["1e5", "1.5E+01", "-2.5e-3", "0.5e1"], "f64"),
            (&["1e5", "12e4x"], "keyword"),
            (&["1e5", "1e"], "keyword"),
            (&["e5", "1e+", "1e1.5"], "keyword"),
            (&["1e999"], "keyword"),
            (&["1e-400", "2.5"], "keyword"),
            (&["0e-400", "0.00", "5e-324"], "f64"),
            (&["01e5"], "keyword"),
            (&["True", "FALSE", "true", "N/A"], "bool"),
            (&["yes", "no"], "keyword"),
            (&["t", "f"], "keyword"),
            (&["1", "0"], "i64"),
            (&["2010-12-01", "NULL", "\\N"], "date"),
            (&["-", "-"], "text"),
        ] {
            assert_eq!(types(cells), expected, "{cells:?}");
        }
    }
}
