//! The schema file: TOML in, [`Schema`] out, and back.
//!
//! ```toml
//! [fields.title]
//! type = "text"        # text | keyword | i64 | u64 | f64 | bool | date | decimal | ip | path | vector | point
//! stored = true        # default true
//! positions = true     # where words stand, for phrases; default true, text only
//! frequencies = true   # how often words occur, for ranking; default true, text only
//! analyzer = "english" # text only: a name or a spec; default "default"
//! query_analyzer = "words|lower"   # text only; default as analyzer
//! position_gap = 100   # places between two values that no phrase bridges; default 100, text only
//! [fields.brand]
//! type = "keyword"
//! many = true          # more than one value a document; default false
//! [fields.price]
//! type = "decimal"
//! scale = 2            # digits behind the point; decimal only
//! [fields.since]
//! type = "date"
//! zone = "Europe/Berlin"   # of dates without an offset; default UTC, date only
//! [fields.place]
//! type = "path"        # home/kitchen/pans
//! separator = "/"      # what stands between names; default "/", path only; "\\" for C:\dir
//! [fields.embedding]
//! type = "vector"
//! dims = 384           # numbers of each; vector only
//! metric = "cosine"    # cosine | dot | l2; default cosine, vector only
//! values = "f32"       # f32 | f16 | i8 | bits; numbers that are kept; default f32, vector only
//! codes = "i8"         # i8 | none; what walks over a graph compare; default i8 of f32 and f16, none of others; vector only
//! graph = "auto"       # auto | none; default auto: segments of many vectors have one; vector only
//! [fields.location]
//! type = "point"       # {"lat", "lon"}, "48.8566,2.3522", POINT(2.3522 48.8566), a GeoJSON point
//! array = "lonlat"     # latlon | lonlat; which number of an array is which; default: arrays are refused; point only
//! from = ["lat", "lng"]    # two keys or columns instead; point only
//! [fields."brand.text"]
//! type = "text"
//! copy_of = "brand"    # also has the values of this field; text and keyword only, never stored
//! [fields."First Name"]    # names with other characters than letters, digits, `_` and `-` are quoted
//! type = "keyword"
//! [index]
//! default_fields = ["title"]   # where words without a field are looked up, of any type; default all of text
//! null_words = ["NA"]  # mean no value in typed fields; see the module `null_words`, as for those of one field
//! nulls = true         # which fields are null or empty is kept; default false
//! key = "sku"          # a stored field of one keyword or whole number: a document replaces the one with the same
//! order = ["price", "-since"]   # documents of a segment lie in the order of these, "-": the greatest first; default as they are added
//!                      # "similar": those of like words near each other, by all text; { similar = ["title"] } by some
//! ```
//!
//! Settings of reading inputs are described in [`settings`](super::settings).

mod points;
mod print;
mod vector_keys;
mod vectors;

use std::{ops::Range, path::Path};

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use treepie::analysis::{Analyzer, Analyzers};
use treepie::schema::{
    DECIMAL_SCALE_MAX, Detail, Metric, PATH_SEPARATOR_DEFAULT, SchemaBuilder, VectorParams,
};
use treepie::value::Zone;
use treepie::{Error, ErrorKind, Field, FieldKind, Schema};

use self::print::SIMILAR;
#[cfg(test)]
pub(crate) use self::print::print;
pub(crate) use self::print::{MoreLines, print_more, print_with, quoted};
use self::vector_keys::VectorKeys;
use super::{
    settings::{self, InputSettings},
    settings_file,
};
use crate::failure::{not_yet, read_text};

/// Reads a schema file, and what it says of how inputs are read.
pub(crate) fn read(path: &Path) -> Result<(Schema, InputSettings), Error> {
    let text = read_text(READING, path)?;
    parse_with_settings(&text).map_err(|error| error.in_file(path))
}

pub(super) fn parse_with_settings(text: &str) -> Result<(Schema, InputSettings), Error> {
    let schema = parse(text)?;
    let settings = settings_file::parse(&File::of(text), &schema)?;
    Ok((schema, settings))
}

/// Reads a schema file that has fields and nothing else.
pub(crate) fn read_fields(path: &Path) -> Result<Vec<Field>, Error> {
    let text = read_text(READING, path)?;
    parse_fields(&text).map_err(|error| error.in_file(path))
}

pub(super) fn parse_fields(text: &str) -> Result<Vec<Field>, Error> {
    let file = File::of(text);
    let table = file.parse()?;
    let mut fields = vec![];
    for (key, span, value) in in_order(table.get_ref()) {
        match key {
            "fields" => {
                fields.extend(file.fields(value, &span)?);
                for (name, span, value) in in_order(file.table(value, &span, key)?) {
                    let mut keys = in_order(file.table(value, &span, name)?).into_iter();
                    if keys.any(|(key, ..)| settings_file::KEYS_OF_FIELDS.contains(&key)) {
                        let line = file.wrong(span).line().unwrap_or(1);
                        return Err(settings::of_no_input().at_line(line));
                    }
                }
            }
            _ => {
                return Err(file.unknown(
                    span,
                    key,
                    "fields, and nothing of an index that there is",
                ));
            }
        }
    }
    Ok(fields)
}

/// The schema that `text` describes; errors carry the line.
pub(crate) fn parse(text: &str) -> Result<Schema, Error> {
    let file = File::of(text);
    let table = file.parse()?;
    let mut builder = Schema::builder();
    let mut tables = in_order(table.get_ref());
    // Names of fields in it can be checked once these are known.
    tables.sort_by_key(|(key, ..)| *key == "index");
    for (key, span, value) in tables {
        match key {
            "fields" => {
                builder =
                    file.fields(value, &span)?.into_iter().fold(builder, SchemaBuilder::field);
            }
            "index" => {
                for (key, span, value) in in_order(file.table(value, &span, "index")?) {
                    match key {
                        "default_fields" => {
                            builder = builder.default_fields(file.names(value, &span, key)?);
                        }
                        "order" => builder = file.order(builder, value, &span)?,
                        "key" => {
                            let wrong =
                                || file.kind_of(span.clone(), key, "the name of a field", value);
                            builder = builder.key(value.as_str().ok_or_else(wrong)?);
                        }
                        "nulls" => {
                            if file.boolean(value, span, key)? {
                                builder = builder.nulls();
                            }
                        }
                        "null_words" => {}
                        _ => {
                            let known = "default_fields, key, nulls, null_words or order";
                            return Err(file.unknown(span, key, known));
                        }
                    }
                }
            }
            // Settings of reading inputs are no part of a schema.
            "input" => {}
            _ => return Err(file.unknown(span, key, "fields, index or input")),
        }
    }
    builder.build()
}

/// Entries as they stand in the file; the parser sorts them by name.
pub(super) fn in_order<'t>(
    table: &'t DeTable<'_>,
) -> Vec<(&'t str, Range<usize>, &'t DeValue<'t>)> {
    let mut entries: Vec<_> =
        table.iter().map(|(key, value)| (&**key.get_ref(), key.span(), value.get_ref())).collect();
    entries.sort_by_key(|(_, span, _)| span.start);
    entries
}

pub(super) struct File<'t> {
    pub(super) text: &'t str,
    /// Name of the file's kind, in messages.
    pub(super) what: &'static str,
}

/// Action that reads a file that somebody wrote, in messages.
pub(super) const READING: &str = "reading the schema file";

impl<'t> File<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        File { text, what: READING }
    }
}

impl File<'_> {
    pub(super) fn parse(&self) -> Result<Spanned<DeTable<'_>>, Error> {
        DeTable::parse(self.text).map_err(|error| {
            self.wrong(error.span().unwrap_or_default()).found(error.message().to_owned())
        })
    }

    /// Fields of the table `fields`, in their order.
    fn fields(&self, value: &DeValue<'_>, span: &Range<usize>) -> Result<Vec<Field>, Error> {
        let fields = in_order(self.table(value, span, "fields")?).into_iter();
        fields.map(|(name, span, value)| self.field(name, &span, value)).collect()
    }

    fn field(&self, name: &str, span: &Range<usize>, value: &DeValue<'_>) -> Result<Field, Error> {
        let mut kind = None;
        let mut field = Field::new(name, FieldKind::Text);
        let (mut positions, mut frequencies) = (None, true);
        let (mut text_only, mut copy_of) = (None, None);
        let (mut scale, mut column, mut separator, mut zone) = (None, None, None, None);
        let (mut normalizer, mut vectors, mut array) = (None, VectorKeys::default(), None);
        for (key, span, value) in in_order(self.table(value, span, name)?) {
            match key {
                "type" => kind = Some(self.kind(value, span)?),
                "stored" => field = field.stored(self.boolean(value, span, key)?),
                "copy_of" => {
                    let wrong = || self.kind_of(span.clone(), key, "the name of a field", value);
                    copy_of = Some(value.as_str().ok_or_else(wrong)?.to_owned());
                }
                // Read by the module `null_words`.
                "null_words" => {}
                "many" => field = field.many(self.boolean(value, span, key)?),
                "analyzer" => {
                    field = field.analyzer(self.analyzer(value, &span, key)?);
                    text_only = Some((key.to_owned(), span));
                }
                "position_gap" => {
                    field = field.position_gap(self.places(value, &span, key)?);
                    text_only = Some((key.to_owned(), span));
                }
                "query_analyzer" => {
                    field = field.query_analyzer(self.analyzer(value, &span, key)?);
                    text_only = Some((key.to_owned(), span));
                }
                "offsets" => {
                    text_only = Some((key.to_owned(), span.clone()));
                    field = field.offsets(self.boolean(value, span, key)?);
                }
                "positions" | "frequencies" => {
                    text_only = Some((key.to_owned(), span.clone()));
                    let kept = self.boolean(value, span, key)?;
                    if key == "positions" { positions = Some(kept) } else { frequencies = kept }
                }
                "normalizer" => normalizer = Some((self.normalizer(name, value, &span)?, span)),
                "scale" => scale = Some((self.scale(value, &span)?, span)),
                "separator" => separator = Some((self.character(value, &span, key)?, span)),
                key if VectorKeys::KEYS.contains(&key) => {
                    self.read_of_vectors(key, value, span, &mut vectors)?;
                }
                "array" => array = Some((self.coordinate_order(value, &span)?, span)),
                "zone" => zone = Some((self.zone(value, &span, key)?, span)),
                // Columns of keywords are for facets.
                "column" | "facet" => {
                    column = Some((self.boolean(value, span.clone(), key)?, span))
                }
                // Read by others.
                key if settings_file::KEYS_OF_FIELDS.contains(&key) => {}
                _ => {
                    let known = "type, stored, many, copy_of, null_words, positions, frequencies, offsets, position_gap, analyzer, query_analyzer, normalizer, scale, separator, zone, dims, metric, values, codes, graph, array, column, from, date_format, decimal_comma, thousands_comma or split";
                    return Err(self.unknown(span, key, known));
                }
            }
        }
        let Some(kind) = kind else {
            return Err(self
                .wrong(span.clone())
                .expected("a type")
                .found(format!("the field '{name}' without one")));
        };
        if let Some((key, span)) = text_only.filter(|_| kind != FieldKind::Text) {
            return Err(self
                .wrong(span)
                .expected(format!("'{key}' in text fields only"))
                .found(format!("it in a {} field", kind.name())));
        }
        let kind = match (kind, scale) {
            (FieldKind::Decimal { .. }, Some((scale, _))) => FieldKind::Decimal { scale },
            (FieldKind::Decimal { .. }, None) => {
                return Err(self
                    .wrong(span.clone())
                    .expected("'scale', the digits behind the point")
                    .found(format!("the decimal field '{name}' without it")));
            }
            (kind, None) => kind,
            (kind, Some((_, span))) => {
                return Err(self
                    .wrong(span)
                    .expected("'scale' in decimal fields only")
                    .found(format!("it in a {} field", kind.name())));
            }
        };
        let kind = self.of_vectors(kind, (name, span), vectors)?;
        let kind = self.of_points(kind, array)?;
        field.kind = match (kind, separator) {
            (FieldKind::Path { .. }, Some((separator, _))) => FieldKind::Path { separator },
            (kind, None) => kind,
            (kind, Some((_, span))) => {
                return Err(self
                    .wrong(span)
                    .expected("'separator' in path fields only")
                    .found(format!("it in a {} field", kind.name())));
            }
        };
        match normalizer {
            Some((filters, _)) if field.kind == FieldKind::Keyword => {
                field = field.normalizer(filters);
            }
            Some((_, span)) => {
                return Err(self
                    .wrong(span)
                    .expected("'normalizer' in keyword fields only")
                    .found(format!("it in a {} field", kind.name()))
                    .hint("'analyzer' is for the words of a text field"));
            }
            None => {}
        }
        field.zone = match zone {
            Some((zone, _)) if field.kind == FieldKind::Date => Some(zone),
            Some((_, span)) => {
                return Err(self
                    .wrong(span)
                    .expected("'zone' in date fields only")
                    .found(format!("it in a {} field", kind.name())));
            }
            None => None,
        };
        field.column = match column {
            Some((_, span))
                if kind == FieldKind::Text
                    || matches!(kind, FieldKind::Vector(_) | FieldKind::Point { .. }) =>
            {
                return Err(self
                    .wrong(span)
                    .expected("'column' in fields of keywords, paths, numbers, booleans, dates and addresses only")
                    .found(format!("it in a {} field", kind.name())));
            }
            Some((column, _)) => column,
            None => kind.is_typed(),
        };
        // Stored only where the file says so, which the schema refuses.
        let is_stored = field.stored && self.says(value, "stored");
        field = copy_of.into_iter().fold(field, |it, source| it.copy_of(source).stored(is_stored));
        field.detail = Detail::Documents;
        if kind == FieldKind::Text {
            field.detail = match (frequencies, positions) {
                (true, None | Some(true)) => Detail::Positions,
                (true, Some(false)) => Detail::Frequencies,
                (false, None | Some(false)) => Detail::Documents,
                (false, Some(true)) => {
                    return Err(self
                        .wrong(span.clone())
                        .expected("frequencies where there are positions")
                        .found(format!("the field '{name}' with positions = true alone")));
                }
            };
        }
        if field.offsets && field.detail != Detail::Positions {
            return Err(self
                .wrong(span.clone())
                .expected("positions where there are offsets")
                .found(format!("the field '{name}' with offsets = true alone")));
        }
        Ok(field)
    }

    /// Whether a table has a key.
    fn says(&self, table: &DeValue<'_>, key: &str) -> bool {
        table.as_table().is_some_and(|table| table.contains_key(key))
    }

    fn kind(&self, value: &DeValue<'_>, span: Range<usize>) -> Result<FieldKind, Error> {
        const KINDS: &str =
            "text, keyword, i64, u64, f64, bool, date, decimal, ip, path, vector or point";
        match value.as_str() {
            Some("text") => Ok(FieldKind::Text),
            Some("keyword") => Ok(FieldKind::Keyword),
            Some("i64") => Ok(FieldKind::I64),
            Some("u64") => Ok(FieldKind::U64),
            Some("f64") => Ok(FieldKind::F64),
            Some("bool") => Ok(FieldKind::Bool),
            Some("date") => Ok(FieldKind::Date),
            Some("decimal") => Ok(FieldKind::Decimal { scale: 0 }),
            Some("ip") => Ok(FieldKind::Ip),
            Some("path") => Ok(FieldKind::Path { separator: PATH_SEPARATOR_DEFAULT }),
            Some("vector") => Ok(FieldKind::Vector(VectorParams::new(1, Metric::default()))),
            Some("point") => Ok(FieldKind::Point { array: None }),
            Some("geo") => Err(self
                .wrong(span)
                .expected(format!("one of the types {KINDS}"))
                .found("'geo'")
                .hint("places are fields of the type point")),
            Some("shape") => {
                let line = self.wrong(span).line().unwrap_or(1);
                Err(not_yet("in the schema file, type \"shape\"").at_line(line))
            }
            Some(other) => Err(self
                .wrong(span)
                .expected(format!("one of the types {KINDS}"))
                .found(format!("'{other}'"))),
            None => Err(self.kind_of(span, "type", KINDS, value)),
        }
    }

    pub(super) fn boolean(
        &self,
        value: &DeValue<'_>,
        span: Range<usize>,
        key: &str,
    ) -> Result<bool, Error> {
        value.as_bool().ok_or_else(|| self.kind_of(span, key, "true or false", value))
    }

    fn scale(&self, value: &DeValue<'_>, span: &Range<usize>) -> Result<u8, Error> {
        let scale = self.places(value, span, "scale")?;
        match u8::try_from(scale).ok().filter(|scale| *scale <= DECIMAL_SCALE_MAX) {
            Some(scale) => Ok(scale),
            None => Err(self
                .wrong(span.clone())
                .expected(format!("0 to {DECIMAL_SCALE_MAX} for 'scale'"))
                .found(scale.to_string())),
        }
    }

    /// The name of a time zone that this build knows.
    fn zone(&self, value: &DeValue<'_>, span: &Range<usize>, key: &str) -> Result<String, Error> {
        let Some(name) = value.as_str() else {
            return Err(self.kind_of(span.clone(), key, "the name of a time zone", value));
        };
        let line = self.wrong(span.clone()).line().unwrap_or(1);
        name.parse::<Zone>().map_err(|error| error.at_line(line))?;
        Ok(name.to_owned())
    }

    fn character(
        &self,
        value: &DeValue<'_>,
        span: &Range<usize>,
        key: &str,
    ) -> Result<char, Error> {
        let text = value.as_str();
        let mut chars = text.into_iter().flat_map(str::chars);
        match (chars.next(), chars.next(), text) {
            (Some(character), None, _) => Ok(character),
            (_, _, Some(text)) => Err(self
                .wrong(span.clone())
                .expected(format!("one character for '{key}'"))
                .found(format!("{text:?}"))),
            (_, _, None) => Err(self.kind_of(span.clone(), key, "one character", value)),
        }
    }

    fn places(&self, value: &DeValue<'_>, span: &Range<usize>, key: &str) -> Result<u16, Error> {
        let DeValue::Integer(number) = value else {
            return Err(self.kind_of(span.clone(), key, "a whole number", value));
        };
        u16::from_str_radix(number.as_str(), number.radix()).map_err(|_| {
            self.wrong(span.clone())
                .expected(format!("0 to {} for '{key}'", u16::MAX))
                .found(number.to_string())
        })
    }

    /// The spec of an analyzer that this build has.
    fn analyzer(
        &self,
        value: &DeValue<'_>,
        span: &Range<usize>,
        key: &str,
    ) -> Result<String, Error> {
        let Some(spec) = value.as_str() else {
            return Err(self.kind_of(span.clone(), key, "the name of an analyzer", value));
        };
        let line = self.wrong(span.clone()).line().unwrap_or(1);
        Analyzer::from_spec(spec).map_err(|error| error.at_line(line))?;
        Ok(spec.to_owned())
    }

    /// The filters of a normalizer that this build has.
    fn normalizer(
        &self,
        name: &str,
        value: &DeValue<'_>,
        span: &Range<usize>,
    ) -> Result<String, Error> {
        let Some(filters) = value.as_str() else {
            return Err(self.kind_of(span.clone(), "normalizer", "filters of characters", value));
        };
        let line = self.wrong(span.clone()).line().unwrap_or(1);
        let field = Field::new(name, FieldKind::Keyword).normalizer(filters);
        Analyzers::default().normalize(&field, "").map_err(|error| error.at_line(line))?;
        Ok(filters.to_owned())
    }

    pub(super) fn names(
        &self,
        value: &DeValue<'_>,
        span: &Range<usize>,
        key: &str,
    ) -> Result<Vec<String>, Error> {
        let wrong = || self.kind_of(span.clone(), key, "a list of names", value);
        let values = value.as_array().ok_or_else(wrong)?;
        let name = |value: &DeValue<'_>| value.as_str().map(str::to_owned).ok_or_else(wrong);
        values.iter().map(|value| name(value.get_ref())).collect()
    }

    /// Fields in the order of which documents lie, or `"similar"`, or `{ similar = [fields] }`.
    fn order(
        &self,
        builder: SchemaBuilder,
        value: &DeValue<'_>,
        span: &Range<usize>,
    ) -> Result<SchemaBuilder, Error> {
        let expected = "a list of names, \"similar\" or { similar = [names] }";
        match value {
            DeValue::Array(_) => Ok(builder.order_by(self.names(value, span, "order")?)),
            DeValue::String(name) if name == SIMILAR => {
                Ok(builder.order_by_similarity::<String>([]))
            }
            DeValue::Table(table) => {
                let entries = in_order(table);
                if let Some((key, span, _)) = entries.iter().find(|(key, ..)| *key != SIMILAR) {
                    return Err(self.unknown(span.clone(), key, SIMILAR));
                }
                match entries.first() {
                    Some((key, span, value)) => {
                        Ok(builder.order_by_similarity(self.names(value, span, key)?))
                    }
                    None => Err(self.kind_of(span.clone(), "order", expected, value)),
                }
            }
            _ => Err(self.kind_of(span.clone(), "order", expected, value)),
        }
    }

    pub(super) fn table<'v>(
        &self,
        value: &'v DeValue<'v>,
        span: &Range<usize>,
        key: &str,
    ) -> Result<&'v DeTable<'v>, Error> {
        value.as_table().ok_or_else(|| self.kind_of(span.clone(), key, "a table", value))
    }

    pub(super) fn wrong(&self, span: Range<usize>) -> Error {
        let before = self.text.get(..span.start).unwrap_or(self.text);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() as u64 + 1;
        Error::new(ErrorKind::Schema, self.what).at_line(line)
    }

    pub(super) fn kind_of(
        &self,
        span: Range<usize>,
        key: &str,
        expected: &str,
        found: &DeValue<'_>,
    ) -> Error {
        self.wrong(span)
            .expected(format!("{expected} for '{key}'"))
            .found(format!("a value of type {}", found.type_str()))
    }

    pub(super) fn unknown(&self, span: Range<usize>, key: &str, known: &str) -> Error {
        self.wrong(span).expected(known).found(format!("'{key}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_read_in_the_order_of_the_file() {
        let schema = parse(
            "[fields.title]\ntype = \"text\"\nanalyzer = \"default\"\npositions = false\n\
             [fields.brand]\ntype = \"keyword\"\nmany = true\nstored = false\n\
             [fields.about]\ntype = \"text\"\n[index]\ndefault_fields = [\"title\"]\n",
        )
        .unwrap();
        let names: Vec<_> = schema.fields().iter().map(|field| &*field.name).collect();
        assert_eq!(names, ["title", "brand", "about"]);
        let brand = schema.field("brand").unwrap();
        assert_eq!((brand.kind, brand.many, brand.stored), (FieldKind::Keyword, true, false));
        assert_eq!(schema.default_fields().count(), 1);
        let details = schema.fields().iter().map(|field| field.detail);
        assert!(details.eq([Detail::Frequencies, Detail::Documents, Detail::Positions]));
    }

    #[test]
    fn what_is_printed_reads_back() {
        let schema = Schema::builder()
            .text("größe.2")
            .keyword("tag")
            .field(Field::new("x", FieldKind::Text).stored(false))
            .field(
                Field::new("y", FieldKind::Text)
                    .analyzer("english")
                    .query_analyzer("words|lower")
                    .position_gap(7)
                    .detail(Detail::Documents),
            )
            .field(Field::new("z", FieldKind::Text).detail(Detail::Frequencies))
            .field(Field::new("o", FieldKind::Text).offsets(true))
            .field(Field::new("tag.text", FieldKind::Text).many(true).copy_of("tag"))
            .field(Field::new("i", FieldKind::I64).many(true))
            .field(Field::new("u", FieldKind::U64).column(false))
            .field(Field::new("k", FieldKind::Keyword).column(true))
            .field(Field::new("f", FieldKind::F64))
            .field(Field::new("b", FieldKind::Bool))
            .field(Field::new("d", FieldKind::Date).zone("Europe/Berlin"))
            .field(Field::new("a", FieldKind::Ip).many(true))
            .field(Field::new("way", FieldKind::Path { separator: '/' }))
            .field(Field::new("windows", FieldKind::Path { separator: '\\' }))
            .field(Field::new("quoted", FieldKind::Path { separator: '"' }))
            .field(Field::new("p", FieldKind::Decimal { scale: 2 }))
            .default_fields(["tag"])
            .order_by(["-p", "k"])
            .build()
            .unwrap();
        assert_eq!(parse(&print(&schema)).unwrap(), schema);
        assert!(print(&schema).ends_with("order = [\"-p\", \"k\"]\n"));
        for (fields, line) in
            [(&[][..], "order = \"similar\"\n"), (&["x"], "order = { similar = [\"x\"] }\n")]
        {
            let similar = schema.ordered_by_similarity(fields.iter().copied()).unwrap();
            assert!(print(&similar).ends_with(line), "{}", print(&similar));
            assert_eq!(parse(&print(&similar)).unwrap(), similar);
        }
        let nulls = Schema::builder().keyword("k").nulls().build().unwrap();
        assert_eq!(
            print(&nulls),
            "[fields.k]\ntype = \"keyword\"\nmany = true\n[index]\nnulls = true\n"
        );
        assert_eq!(parse(&print(&nulls)).unwrap(), nulls);
        let text = print(&schema);
        let facet = text.replace("column = true", "facet = true");
        assert!(facet != text && parse(&facet).unwrap() == schema);
        assert_eq!(schema.field("y").unwrap().query_analyzer_spec(), "words|lower");
        let plain = Schema::builder().text("text").build().unwrap();
        assert_eq!(print(&plain), "[fields.text]\ntype = \"text\"\n");
    }

    #[test]
    fn mistakes_and_what_is_not_built_are_told_with_their_line() {
        for (text, words) in [
            ("[fields.a]\ntype = \"geo\"", "places are fields of the type point"),
            ("[fields.a]\ntype = \"shape\"", "type \"shape\" is not built yet (line 2)"),
            ("[fields.a]\ntype = \"decimal\"", "'scale', the digits behind the point"),
            ("[fields.a]\ntype = \"decimal\"\nscale = 19", "0 to 18 for 'scale', found 19"),
            ("[fields.a]\ntype = \"i64\"\nscale = 1", "in decimal fields only"),
            ("[fields.a]\ntype = \"path\"\nseparator = \"::\"", "one character for 'separator'"),
            (
                "[fields.a]\ntype = \"path\"\nseparator = 1",
                "one character for 'separator', found a",
            ),
            ("[fields.a]\ntype = \"path\"\nseparator = \"\\n\"", "no control character"),
            ("[fields.a]\ntype = \"date\"\nzone = \"Mars\"", "found 'Mars' (line 3)"),
            ("[fields.a]\ntype = \"date\"\nzone = 1", "the name of a time zone for 'zone'"),
            ("[fields.a]\ntype = \"i64\"\nzone = \"UTC\"", "in date fields only"),
            ("[fields.a]\ntype = \"keyword\"\nseparator = \"/\"", "in path fields only"),
            (
                "[fields.a]\ntype = \"text\"\ncolumn = true",
                "and addresses only, found it in a text field",
            ),
            ("[fields.a]\ntype = \"date\"\nanalyzer = \"default\"", "in text fields only"),
            ("[fields.a]\ntype = \"text\"\ncopy_of = 1", "the name of a field for 'copy_of'"),
            ("[fields.a]\ntype = \"text\"\ncopy_of = \"b\"", "the name of a field, found 'b'"),
            (
                "[fields.a]\ntype = \"text\"\n[fields.b]\ntype = \"text\"\nstored = true\ncopy_of = \"a\"",
                "a field that is not stored, as its source is",
            ),
            ("[fields.a]\ntype = \"txt\"", "found 'txt' (line 2)"),
            ("[fields.a]\nstored = true", "without one (line 1)"),
            (
                "[fields.a]\ntype = \"text\"\nfrequencies = false\npositions = true",
                "with positions = true alone (line 1)",
            ),
            ("[fields.a]\ntype = \"keyword\"\npositions = false", "in text fields only"),
            ("[fields.a]\ntype = \"keyword\"\noffsets = true", "'offsets' in text fields only"),
            (
                "[fields.a]\ntype = \"text\"\npositions = false\noffsets = true",
                "with offsets = true alone (line 1)",
            ),
            (
                "[fields.a]\ntype = \"text\"\nanalyzer = \"englsh\"",
                "one of default, catalan, cjk, danish, dutch, english, ",
            ),
            ("[fields.a]\ntype = \"text\"\nquery_analyzer = \"words|lowr\"", "'lowr' (line 3)"),
            ("[fields.a]\ntype = \"text\"\nanalyzer = 3", "the name of an analyzer for 'analyzer'"),
            (
                "[fields.a]\ntype = \"keyword\"\nquery_analyzer = \"english\"",
                "'query_analyzer' in text fields only",
            ),
            ("[fields.a]\ntype = \"keyword\"\nanalyzer = \"default\"", "in text fields only"),
            (
                "[fields.a]\ntype = 3",
                "ip, path, vector or point for 'type', found a value of type integer",
            ),
            ("[fields.a]\ntype = \"text\"\nposition_gap = -1", "0 to 65535 for 'position_gap'"),
            ("[fields.a]\ntype = \"text\"\nposition_gap = \"1\"", "a whole number for"),
            ("[fields.a]\ntype = \"keyword\"\nposition_gap = 1", "in text fields only"),
            ("[fields.a]\ntype = \"text\"\ncolour = 1", "found 'colour' (line 3)"),
            ("[fields.a]\ntype = \"text\"\n[index]\nkey = \"a\"", "a stored field of one keyword"),
            (
                "[fields.a]\ntype = \"keyword\"\nstored = false\n[index]\nkey = \"a\"",
                "found one that is not stored",
            ),
            (
                "[fields.a]\ntype = \"text\"\n[index]\nsort = [\"a\"]",
                "default_fields, key, nulls, null_words or order, found 'sort' (line 4)",
            ),
            (
                "[fields.a]\ntype = \"i64\"\n[index]\norder = \"a\"",
                "a list of names, \"similar\" or { similar = [names] } for 'order'",
            ),
            ("[fields.a]\ntype = \"text\"\n[index]\norder = \"Similar\"", "for 'order'"),
            (
                "[fields.a]\ntype = \"text\"\n[index]\norder = 1",
                "for 'order', found a value of type",
            ),
            ("[fields.a]\ntype = \"text\"\n[index]\norder = {}", "for 'order'"),
            ("[fields.a]\ntype = \"i64\"\n[index]\norder = \"similar\"", "at least one text field"),
            (
                "[fields.a]\ntype = \"text\"\n[index]\norder = { similar = \"a\" }",
                "a list of names for 'similar'",
            ),
            (
                "[fields.a]\ntype = \"text\"\n[index]\norder = { similar = [\"b\"] }",
                "the name of a text field, found 'b'",
            ),
            (
                "[fields.a]\ntype = \"text\"\n[index]\norder = { alike = [\"a\"] }",
                "expected similar, found 'alike' (line 4)",
            ),
            ("[fields.a]\ntype = \"text\"\n[index]\norder = [\"-a\"]", "the text field 'a'"),
            (
                "[feilds.a]\ntype = \"text\"",
                "expected fields, index or input, found 'feilds' (line 1)",
            ),
            ("fields = 3", "expected a table for 'fields'"),
            ("[fields.a", "reading the schema file: found"),
            ("[fields.a]\ntype = \"text\"\n[index]\ndefault_fields = [\"b\"]", "found 'b'"),
            ("", "at least one field"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(words), "{text}\n{message}");
        }
    }
}
