//! `--stats price:p50,p95`: what the numbers of a field say together.

use std::io::{self, Write};

use serde_json::{Map, Value, json};
use treepie::Facet;
use treepie::facet::{Accuracy, FacetCounts, StatisticsFacet, Sum};

use super::typed_names::path_and_rest;
use super::{places, value_to_json};
use crate::{
    failure::{Outcome, usage},
    output::{self, Format, Output, Table},
    terminal,
};

/// Columns of a table beside percentiles.
const NAMES: [&str; 14] = [
    "count",
    "documents",
    "missing",
    "sum",
    "min",
    "max",
    "mean",
    "variance",
    "std_deviation",
    "distinct",
    "distinct_by",
    "distinct_error",
    "percentiles_by",
    "percentiles_error",
];

/// Columns of the box around points and of their centroid, where any field has these.
const SIDES: [&str; 4] = ["south", "west", "north", "east"];
const CENTROID: [&str; 2] = ["lat", "lon"];

/// `price`, `price:distinct`, `price:p50,p99.9`, `brand/price`: with the facets that they lie within, and the field. A name with `:` or `/`
/// in it stands between backquotes.
pub(crate) fn read(typed: &str) -> Outcome<(Vec<&str>, StatisticsFacet)> {
    let (path, options) = path_and_rest(typed);
    let field = path.last().copied().unwrap_or_default();
    let mut facet = Facet::statistics(field);
    for option in options.into_iter().flat_map(|options| options.split(',')) {
        facet = match (option, percentage(option)) {
            ("distinct", _) => facet.distinct(),
            (_, Some(percent))
                if (0.0..=100.0).contains(&percent) && percent.is_sign_positive() =>
            {
                facet.percentiles([percent])
            }
            _ => {
                let wrong = usage(format!("reading --stats {field}"));
                return Err(wrong
                    .expected("distinct, or percentiles from p0 to p100, as in price:p50,p95; a FIELD with : or / in its name between backquotes")
                    .found(format!("'{option}'"))
                    .into());
            }
        };
    }
    Ok((path, facet))
}

/// `p99.9`.
fn percentage(option: &str) -> Option<f64> {
    option.strip_prefix('p').and_then(|percent| percent.parse().ok())
}

pub(crate) fn to_json(counts: &FacetCounts) -> Value {
    let mut object = Map::new();
    object.insert("kind".into(), counts.kind.name().into());
    if let Some(found) = &counts.points {
        object.insert("count".into(), found.count.into());
        object.insert("documents".into(), found.documents.into());
        object.insert("missing".into(), counts.missing.into());
        object.insert("box".into(), found.bounds.map_or(Value::Null, places::box_to_json));
        let centroid = found.centroid.map(|it| json!({ "lat": it.lat(), "lon": it.lon() }));
        object.insert("centroid".into(), centroid.unwrap_or_default());
    }
    if let Some(found) = &counts.statistics {
        object.insert("count".into(), found.count.into());
        object.insert("documents".into(), found.documents.into());
        object.insert("missing".into(), counts.missing.into());
        object.insert("sum".into(), found.sum.map_or(Value::Null, sum_to_json));
        for (name, value) in [("min", &found.min), ("max", &found.max), ("mean", &found.mean)] {
            object.insert(name.into(), value_to_json(value));
        }
        object.insert("variance".into(), json!(found.variance));
        object.insert("std_deviation".into(), json!(found.standard_deviation()));
        let mut by = |name: &str, accuracy: Accuracy| {
            object.insert(format!("{name}_by"), accuracy.name().into());
            object.insert(format!("{name}_error"), accuracy.error().into());
        };
        if found.distinct.is_some() {
            by("distinct", found.distinct_by);
        }
        if !found.percentiles.is_empty() {
            by("percentiles", found.percentiles_by);
        }
        if let Some(distinct) = found.distinct {
            object.insert("distinct".into(), distinct.into());
        }
        if !found.percentiles.is_empty() {
            let percentiles = found.percentiles.iter();
            let percentiles: Map<String, Value> = percentiles
                .map(|(percent, value)| (format!("p{percent}"), value_to_json(value)))
                .collect();
            object.insert("percentiles".into(), percentiles.into());
        }
    }
    object.insert("exact".into(), counts.exact.into());
    object.into()
}

/// A number with all of its digits; null where a sum of fractions is beyond all of them.
fn sum_to_json(sum: Sum) -> Value {
    match sum {
        Sum::Fraction(sum) => json!(sum),
        sum => serde_json::from_str(&sum.to_string()).map_or(Value::Null, Value::Number),
    }
}

/// A row for each field; percentiles that another one was asked for are left empty. The columns are those of what was `typed`,
/// whatever is found.
pub(crate) fn print_rows(
    out: &mut Output,
    format: Format,
    statistics: &[FacetCounts],
    typed: &[String],
) -> io::Result<()> {
    let all: Vec<Value> = statistics.iter().map(to_json).collect();
    let mut names: Vec<String> = NAMES.map(str::to_owned).into();
    if statistics.iter().any(|counts| counts.points.is_some()) {
        names.extend(SIDES.into_iter().chain(CENTROID).map(str::to_owned));
    }
    let options = typed.iter().filter_map(|typed| path_and_rest(typed).1);
    for percent in options.flat_map(|options| options.split(',')).filter_map(percentage) {
        let name = format!("p{percent}");
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let shown: Vec<&str> = ["field"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let mut table = Table::new(out, format, &shown)?;
    for (counts, of_field) in statistics.iter().zip(&all) {
        let cell = |name: &String| match of_field.get(name) {
            Some(value) => value.clone(),
            None if SIDES.contains(&name.as_str()) => of_field["box"][name].clone(),
            None if CENTROID.contains(&name.as_str()) => of_field["centroid"][name].clone(),
            None => of_field["percentiles"].get(name).cloned().unwrap_or_default(),
        };
        table.row([json!(counts.field)].into_iter().chain(names.iter().map(cell)).collect())?;
    }
    table.finish()
}

pub(crate) fn print(out: &mut Output, counts: &FacetCounts) -> io::Result<()> {
    writeln!(out, "\n{}", out.strong(&counts.field))?;
    print_at(out, counts, "  ")
}

/// Numbers in words, a line each.
pub(crate) fn print_at(out: &mut Output, counts: &FacetCounts, indent: &str) -> io::Result<()> {
    if let Some(found) = &counts.points {
        let mut lines = vec![("points".to_owned(), output::grouped(found.count))];
        let bounds = found.bounds.map(|(a, b)| format!("{a} to {b}"));
        lines.extend(bounds.map(|it| ("box".to_owned(), it)));
        lines.extend(found.centroid.map(|it| ("centroid".to_owned(), it.to_string())));
        let missing = (counts.missing > 0).then(|| output::grouped(counts.missing));
        lines.extend(missing.map(|it| ("(none)".to_owned(), it)));
        return print_lines(out, lines, indent);
    }
    let Some(found) = &counts.statistics else { return Ok(()) };
    let mut lines = vec![("values".to_owned(), output::grouped(found.count))];
    let mut add = |name: &str, shown: Option<String>| {
        lines.extend(shown.map(|shown| (name.to_owned(), shown)));
    };
    let value = |value: &treepie::Value| (!value.is_null()).then(|| value.to_string());
    add("min", value(&found.min));
    add("max", value(&found.max));
    add("sum", found.sum.map(|sum| sum.to_string()));
    add("mean", value(&found.mean));
    let is_date = matches!(found.min, treepie::Value::Date(_));
    let deviation = found.standard_deviation();
    add("deviation", deviation.map(|it| format!("{it}{}", if is_date { " s" } else { "" })));
    let nearly = |shown: String, by: Accuracy| match by {
        Accuracy::Exact => shown,
        by => format!("~{shown}  ({by})"),
    };
    let distinct = found.distinct.map(output::grouped);
    add("different", distinct.map(|shown| nearly(shown, found.distinct_by)));
    for (percent, at) in &found.percentiles {
        add(&format!("p{percent}"), value(at).map(|shown| nearly(shown, found.percentiles_by)));
    }
    add("(none)", (counts.missing > 0).then(|| output::grouped(counts.missing)));
    print_lines(out, lines, indent)
}

fn print_lines(out: &mut Output, lines: Vec<(String, String)>, indent: &str) -> io::Result<()> {
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, shown) in lines {
        writeln!(
            out,
            "{indent}{}  {}",
            out.dim(&format!("{name:width$}")),
            terminal::printable(&shown)
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;

    #[test]
    fn statistics_are_read() {
        let price = || Facet::statistics("price");
        for (typed, expected) in [
            ("price", price()),
            ("price:distinct", price().distinct()),
            ("price:p50,p99.9", price().percentiles([50.0, 99.9])),
        ] {
            assert_eq!(read(typed).unwrap(), (vec!["price"], expected));
        }
        for (typed, found) in [
            ("price:", "''"),
            ("price:50", "'50'"),
            ("price:p101", "'p101'"),
            ("price:pNaN", "'pNaN'"),
        ] {
            let Err(Failure::Error(error)) = read(typed) else { panic!("{typed}") };
            let error = error.to_string();
            assert!(error.contains("as in price:p50,p95") && error.contains(found), "{error}");
        }
    }
}
