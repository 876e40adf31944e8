//! Settings of inputs in a schema file: the table `input`, and some keys of fields. See [`settings`](super::settings).

use std::ops::Range;

use toml::de::DeValue;
use treepie::{Error, Field, FieldKind, Schema};

use super::{
    numbers,
    schema_file::{File, in_order},
    settings::{self, DateFormat, FieldSettings, InputSettings, Preset},
};

/// Keys of a field that say how it is read and not what it is.
pub(super) const KEYS_OF_FIELDS: [&str; 6] =
    ["from", "date_format", "decimal_comma", "thousands_comma", "unit", "split"];

/// The settings in a schema file whose fields these are, or in a text that has the settings alone; errors carry the line.
pub(super) fn parse(file: &File<'_>, schema: &Schema) -> Result<InputSettings, Error> {
    let table = file.parse()?;
    let mut settings = InputSettings::default();
    let mut fields: Vec<_> = schema.fields().iter().map(|it| FieldSettings::of(&it.name)).collect();
    for (key, span, value) in in_order(table.get_ref()) {
        match key {
            "input" => of_input(file, value, &span, schema, &mut settings)?,
            "fields" => {
                for (name, span, value) in in_order(file.table(value, &span, "fields")?) {
                    let own = of_field(file, name, value, &span, schema)?;
                    fields.iter_mut().filter(|it| it.name == name).for_each(|it| *it = own.clone());
                }
            }
            _ => {}
        }
    }
    for field in &mut fields {
        match schema.field(&field.name).map(|field| field.kind) {
            Some(FieldKind::Date) if field.date_format.is_none() => {
                field.date_format.clone_from(&settings.of_all.date_format);
            }
            Some(kind) if settings::is_number(kind) => {
                // A field that says one thing of commas says all of it.
                if field.decimal_comma.is_none() && field.thousands_comma.is_none() {
                    field.decimal_comma = settings.of_all.decimal_comma;
                    field.thousands_comma = settings.of_all.thousands_comma;
                }
                if field.unit.is_none() {
                    field.unit.clone_from(&settings.of_all.unit);
                }
            }
            _ => {}
        }
    }
    Ok(settings.with_fields(fields))
}

fn of_input(
    file: &File<'_>,
    value: &DeValue<'_>,
    span: &Range<usize>,
    schema: &Schema,
    settings: &mut InputSettings,
) -> Result<(), Error> {
    let has = |is: fn(FieldKind) -> bool| schema.fields().iter().any(|field| is(field.kind));
    for (key, span, value) in in_order(file.table(value, span, "input")?) {
        match key {
            "delimiter" => {
                settings.delimiter = Some(named(file, value, &span, key, settings::delimiter)?);
            }
            "encoding" => {
                settings.encoding = Some(named(file, value, &span, key, settings::encoding)?);
            }
            "ignore_unknown" => settings.ignore_unknown = file.boolean(value, span, key)?,
            "trim" => settings.trim = file.boolean(value, span, key)?,
            "decimal_comma" | "thousands_comma" | "unit" if !has(settings::is_number) => {
                return Err(of_nothing(file, span, key, "number"));
            }
            "decimal_comma" | "thousands_comma" => {
                comma(file, value, span, key, &mut settings.of_all)?;
            }
            "unit" => {
                settings.of_all.unit = Some(named(file, value, &span, key, numbers::unit)?);
            }
            "date_format" if !has(|kind| kind == FieldKind::Date) => {
                return Err(of_nothing(file, span, key, "date"));
            }
            "date_format" => {
                settings.of_all.date_format =
                    Some(named(file, value, &span, key, DateFormat::parse)?);
            }
            "preset" => {
                let preset = named(file, value, &span, key, Preset::parse)?;
                let of_preset = preset.schema()?;
                let is_missing = |field: &&Field| {
                    schema.field(&field.name).is_none_or(|it| it.kind != field.kind)
                };
                if let Some(field) = of_preset.fields().iter().find(is_missing) {
                    let (kind, name) = (field.kind.name(), &field.name);
                    return Err(file
                        .wrong(span)
                        .expected(format!("the {kind} field '{name}' for '{key}'"))
                        .found("none"));
                }
                settings.preset = Some(preset);
            }
            _ => {
                let known = "delimiter, encoding, ignore_unknown, trim, decimal_comma, thousands_comma, unit, date_format or preset";
                return Err(file.unknown(span, key, known));
            }
        }
    }
    Ok(())
}

fn of_field(
    file: &File<'_>,
    name: &str,
    value: &DeValue<'_>,
    span: &Range<usize>,
    schema: &Schema,
) -> Result<FieldSettings, Error> {
    let mut own = FieldSettings::of(name);
    let kind = schema.field(name).map_or(FieldKind::Text, |field| field.kind);
    for (key, span, value) in in_order(file.table(value, span, name)?) {
        let only_in = |kinds: &str| {
            file.wrong(span.clone())
                .expected(format!("'{key}' in fields of {kinds} only"))
                .found(format!("it in a {} field", kind.name()))
        };
        match key {
            "from" if matches!(kind, FieldKind::Point { .. }) && value.as_array().is_some() => {
                let names = file.names(value, &span, key)?;
                let is_none = names.iter().any(String::is_empty);
                own.from_parts =
                    Some(names.try_into().ok().filter(|_| !is_none).ok_or_else(|| {
                        let expected = "two names, of the latitude and the longitude, for 'from'";
                        file.wrong(span).expected(expected).found("others")
                    })?);
            }
            "from" => {
                let from = |text: &str| match text.is_empty() {
                    true => Err("expected the name of a column or key".to_owned()),
                    false => Ok(text.to_owned()),
                };
                own.from = Some(named(file, value, &span, key, from)?);
            }
            "date_format" if kind != FieldKind::Date => return Err(only_in("dates")),
            "date_format" => {
                own.date_format = Some(named(file, value, &span, key, DateFormat::parse)?);
            }
            "decimal_comma" | "thousands_comma" | "unit" if !settings::is_number(kind) => {
                return Err(only_in("numbers"));
            }
            "decimal_comma" | "thousands_comma" => comma(file, value, span, key, &mut own)?,
            "unit" => own.unit = Some(named(file, value, &span, key, numbers::unit)?),
            "split" if schema.field(name).is_some_and(|field| !field.many) => {
                let expected = format!("'many = true' beside '{key}', for more than one value");
                return Err(file.wrong(span).expected(expected).found("a field of one value"));
            }
            "split" => {
                let separator = match kind.vector() {
                    Some(_) => settings::separator_of_vectors,
                    None => settings::separator,
                };
                own.split = Some(named(file, value, &span, key, separator)?);
            }
            _ => {}
        }
    }
    Ok(own)
}

/// Reads what a comma is in numbers: before the fraction, or between thousands.
fn comma(
    file: &File<'_>,
    value: &DeValue<'_>,
    span: Range<usize>,
    key: &str,
    own: &mut FieldSettings,
) -> Result<(), Error> {
    let kept = match key {
        "decimal_comma" => &mut own.decimal_comma,
        _ => &mut own.thousands_comma,
    };
    *kept = Some(file.boolean(value, span.clone(), key)?);
    if own.decimal_comma == Some(true) && own.thousands_comma == Some(true) {
        return Err(file
            .wrong(span)
            .expected("'decimal_comma' or 'thousands_comma'")
            .found("both: a comma is one of them"));
    }
    Ok(())
}

/// Finds the value that a text names.
fn named<T>(
    file: &File<'_>,
    value: &DeValue<'_>,
    span: &Range<usize>,
    key: &str,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<T, Error> {
    let Some(text) = value.as_str() else {
        return Err(file.kind_of(span.clone(), key, "a text", value));
    };
    parse(text).map_err(|why| {
        let why = why.strip_prefix("expected ").unwrap_or(&why);
        file.wrong(span.clone()).expected(format!("{why} for '{key}'")).found(format!("{text:?}"))
    })
}

fn of_nothing(file: &File<'_>, span: Range<usize>, key: &str, kind: &str) -> Error {
    file.wrong(span).expected(format!("a {kind} field for '{key}'")).found("none")
}

#[cfg(test)]
mod tests {
    use crate::input::schema_file;

    #[test]
    fn mistakes_are_told_with_their_line() {
        let text = "[fields.a]\ntype = \"text\"\n";
        for (more, words) in [
            ("from = 1", "a text for 'from', found a value of type integer"),
            ("from = \"\"", "the name of a column or key for 'from', found \"\" (line 3)"),
            (
                "date_format = \"%Y\"",
                "'date_format' in fields of dates only, found it in a text field (line 3)",
            ),
            (
                "decimal_comma = true",
                "'decimal_comma' in fields of numbers only, found it in a text",
            ),
            (
                "[input]\ndelimiter = \"::\"",
                "one ASCII character, or tab for 'delimiter', found \"::\" (line 4)",
            ),
            ("[input]\nencoding = \"utf-61\"", "the name of an encoding"),
            (
                "[input]\ndecimal_comma = true",
                "a number field for 'decimal_comma', found none (line 4)",
            ),
            ("[input]\ndate_format = \"%Y-%m-%d\"", "a date field for 'date_format', found none"),
            ("[input]\nignore_unknown = 1", "true or false for 'ignore_unknown'"),
            ("[input]\ncolour = 1", "found 'colour' (line 4)"),
            (
                "[input]\n[fields.d]\ntype = \"date\"\ndate_format = \"dd.mm.yyyy\"",
                "for 'date_format', found \"dd.mm.yyyy\" (line 6)",
            ),
            (
                "[input]\n[fields.d]\ntype = \"date\"\ndecimal_comma = true",
                "in fields of numbers only",
            ),
            (
                "[input]\n[fields.d]\ntype = \"i64\"\ndecimal_comma = true\nthousands_comma = true",
                "'decimal_comma' or 'thousands_comma', found both: a comma is one of them (line 7)",
            ),
            ("unit = \"$\"", "'unit' in fields of numbers only, found it in a text field (line 3)"),
            ("[input]\nunit = \"$\"", "a number field for 'unit', found none (line 4)"),
            (
                "[input]\n[fields.d]\ntype = \"f64\"\nunit = \"m2\"",
                "a unit without digits, as $ or kg for 'unit', found \"m2\" (line 6)",
            ),
            (
                "split = \";\"",
                "'many = true' beside 'split', for more than one value, found a field",
            ),
            (
                "many = true\nsplit = \", \"",
                "one character that is no letter and no digit for 'split'",
            ),
            ("[input]\ntrim = 1", "true or false for 'trim'"),
        ] {
            let text = format!("{text}{more}\n");
            let message = schema_file::parse_with_settings(&text).unwrap_err().to_string();
            assert!(message.contains(words), "{text}\n{message}");
        }
        let fields = format!("{text}from = \"A\"\n");
        assert!(schema_file::parse_fields(&fields).unwrap_err().to_string().contains("--schema"));
    }

    #[test]
    fn fields_have_what_is_said_of_all_unless_they_say_otherwise() {
        let text = "[input]\ndecimal_comma = true\ndate_format = \"%d.%m.%Y\"\ndelimiter = \"\\t\"\n\
                    [fields.a]\ntype = \"f64\"\n[fields.b]\ntype = \"i64\"\ndecimal_comma = false\n\
                    [fields.c]\ntype = \"date\"\nfrom = \"C d\"\n[fields.d]\ntype = \"date\"\ndate_format = \"seconds\"\n";
        let (schema, settings) = schema_file::parse_with_settings(text).unwrap();
        assert_eq!(settings.sources(&schema), ["a", "b", "C d", "d"]);
        assert_eq!(settings.delimiter, Some(b'\t'));
        for (field, text, expected) in [
            ("a", "1,5", Some("1.5")),
            ("a", "", None),
            ("a", "NULL", None),
            ("b", "7,5", None),
            ("c", " 24.12.2020 ", Some("2020-12-24")),
            ("d", "0", Some("1970-01-01T00:00:00Z")),
        ] {
            let converted = settings.converted(field, text, false, 1).unwrap();
            assert_eq!(converted.as_deref(), expected, "{field} {text}");
        }
        let text = "[input]\nthousands_comma = true\n[fields.a]\ntype = \"f64\"\n\
                    [fields.b]\ntype = \"f64\"\ndecimal_comma = true\n";
        let (_, other) = schema_file::parse_with_settings(text).unwrap();
        let number = |field| other.converted(field, "1,234", false, 1).unwrap();
        assert_eq!(number("a").as_deref(), Some("1234"));
        assert_eq!(number("b").as_deref(), Some("1.234"));
        assert_eq!(settings.converted("a", "1.5", true, 1).unwrap(), None);
        let text = "[input]\nunit = \"$\"\n[fields.a]\ntype = \"f64\"\n\
                    [fields.b]\ntype = \"decimal\"\nscale = 2\ndecimal_comma = true\nunit = \"€\"\n";
        let (_, units) = schema_file::parse_with_settings(text).unwrap();
        let number = |field, text| units.converted(field, text, false, 1).unwrap();
        assert_eq!(number("a", "$5.50").as_deref(), Some("5.50"));
        assert_eq!(number("a", "-$5").as_deref(), Some("-5"));
        assert_eq!(number("a", "$1,234").as_deref(), Some("1,234"), "refused by the field");
        assert_eq!(number("b", "1.234,50 €").as_deref(), Some("1234.50"));
        assert_eq!(number("b", "7").as_deref(), Some("7"));
        assert!(units.converted("b", "$7", false, 1).is_err());
        assert!(settings.converted("a", "1.5", false, 1).is_err());
    }
}
