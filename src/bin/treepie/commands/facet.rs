//! `--facet brand:10`: how values and ranges are asked for, and how their counts are printed.

use std::io::{self, Write};

use serde_json::{Map, Value, json};
use treepie::facet::{Bucket, FacetCounts, FacetKind, FacetOrder, FacetRange, ValueFacet};
use treepie::geo::GeoPoint;
use treepie::value::Interval;
use treepie::{Facet, Hit};

use super::typed_names::path_and_rest;
use super::{places, statistics, value_to_json};
use crate::{
    args,
    failure::{Outcome, usage},
    output::{self, Format, Output, Table},
    terminal,
};

/// Beginnings of grids.
const GRIDS: [&str; 2] = ["tile=", "geohash="];
/// Columns of the bar beside a value, if there is room for as many, and between them.
const BAR_MAX: usize = 24;
const BAR_MIN: usize = 8;
const BAR_GAP: usize = 2;

/// `brand`, `brand:20`, `brand:20,by=value`, `price:..10,10..50`, `since:month`, `since:day,zone=+02:00`, `location:tile=8`, `brand/color:3`: the
/// facet, and the fields that it lies within with its own. A name with `:` or `/` in it stands between backquotes.
pub(crate) fn read(typed: &str) -> Outcome<(Vec<&str>, Facet)> {
    let (path, rest) = path_and_rest(typed);
    let field = path.last().copied().unwrap_or_default();
    let Some(rest) = rest else { return Ok((path, Facet::values(field).into())) };
    let facet = if let Some(width) = rest.strip_prefix("step=") {
        Facet::histogram(field, width)
    } else if let Some(n) = rest.strip_prefix("auto=") {
        Facet::auto_ranges(field, n_ranges(field, "auto=N, how many ranges at the most", n)?)
    } else if let Some(n) = rest.strip_prefix("quantiles=") {
        Facet::quantiles(field, n_ranges(field, "quantiles=N, how many ranges", n)?)
    } else if let Some((interval, zone)) = interval_of_zone(rest) {
        Facet::date_histogram_in(field, interval, zone.parse()?)
    } else if GRIDS.iter().any(|grid| rest.starts_with(grid)) {
        Facet::parse_grid(field, rest)?
    } else if let Some(rest) = rest.strip_prefix("near=") {
        rings(field, rest)?
    } else if rest.contains('=') {
        values_facet(field, rest)?.into()
    } else if rest.contains("..") {
        Facet::ranges(field, rest.split(',').map(str::parse).collect::<Result<Vec<_>, _>>()?)
    } else if let Ok(interval) = rest.parse() {
        Facet::date_histogram(field, interval)
    } else {
        let wrong = usage("reading --facet")
            .expected(
                "FIELD, FIELD:N, FIELD:N,OPTION=…, FIELD:FROM..TO,…, FIELD:step=N, FIELD:auto=N, FIELD:quantiles=N, FIELD:tile=ZOOM, FIELD:tile=auto:N, FIELD:geohash=LENGTH, FIELD:near=LATITUDE/LONGITUDE,FROM..TO,… or FIELD:INTERVAL (year, quarter, month, week, day, hour, minute); a FIELD with : or / in its name between backquotes",
            )
            .found(format!("'{typed}'"));
        Facet::values(field).limit(args::whole_number(rest).map_err(|_| wrong)?).into()
    };
    Ok((path, facet))
}

/// `48.8566/2.3522,..1km,1km..5km,5km..`.
fn rings(field: &str, typed: &str) -> Outcome<Facet> {
    let wrong = || {
        let wrong = usage(format!("reading --facet {field}"));
        wrong.expected(
            "a point and rings about it, as near=48.8566/2.3522,..1km,1km..5km,5km.., with / between latitude and longitude",
        )
    };
    let found = |what: String| wrong().found(what);
    let Some((near, rings)) = typed.split_once(',') else {
        return Err(found(format!("'near={typed}', without rings")).into());
    };
    if !near.contains('/') {
        return Err(found(format!("'near={typed}'")).into());
    }
    let near =
        near.parse::<GeoPoint>().map_err(|error| found(format!("'near={near}': {error}")))?;
    let rings = rings.split(',').map(str::parse).collect::<Result<Vec<FacetRange>, _>>();
    let rings = rings.map_err(|error| found(format!("'near={typed}': {error}")))?;
    Ok(Facet::rings(field, near, rings))
}

fn n_ranges(field: &str, expected: &str, typed: &str) -> Outcome<usize> {
    let wrong = || usage(format!("reading --facet {field}")).expected(expected.to_owned());
    Ok(args::whole_number(typed).map_err(|_| wrong().found(format!("'{typed}'")))?)
}

/// `month,zone=Europe/Berlin`.
fn interval_of_zone(typed: &str) -> Option<(Interval, &str)> {
    let (interval, zone) = typed.split_once(",zone=")?;
    Some((interval.parse().ok()?, zone))
}

/// `20,by=value:desc,min=2,prefix=a`, where a comma within a text has a backslash before it.
fn values_facet(field: &str, options: &str) -> Outcome<ValueFacet> {
    let wrong = |expected: &'static str, found: &str| {
        usage(format!("reading --facet {field}")).expected(expected).found(format!("'{found}'"))
    };
    let (mut facet, mut seen) = (Facet::values(field), vec![]);
    let mut between = FacetRange::default();
    for (nth, option) in split_at_commas(options).iter().enumerate() {
        let (name, value) = match option.split_once('=') {
            Some(("", _)) => return Err(wrong("a name before =", option).into()),
            Some(pair) => pair,
            None => ("", option.as_str()),
        };
        // Texts and patterns may be several, of which a value has all.
        if seen.contains(&name.to_owned())
            && matches!(name, "by" | "min" | "prefix" | "under" | "from" | "to")
        {
            return Err(wrong("each option once", option).into());
        }
        if value.is_empty() && matches!(name, "prefix" | "contains" | "regex" | "from" | "to") {
            return Err(wrong("a text behind =", option).into());
        }
        seen.push(name.to_owned());
        let number = |expected| value.parse::<u64>().map_err(|_| wrong(expected, option));
        facet = match name {
            "" if nth == 0 => facet.limit(number("a number of values, or OPTION=…")? as usize),
            "by" => facet.order(match value {
                "count" | "count:desc" | "-count" => FacetOrder::Count,
                "value" | "value:asc" => FacetOrder::Value,
                "value:desc" | "-value" => FacetOrder::ValueDescending,
                _ => return Err(wrong("by=count, by=value or by=value:desc", option).into()),
            }),
            "min" => facet.minimum(number("min=N, a number of documents")?),
            "from" | "to" => {
                let end = if name == "from" { &mut between.from } else { &mut between.to };
                *end = Some(value.into());
                facet.between(between.clone())
            }
            "prefix" => facet.prefix(value),
            "under" => facet.under(value),
            "contains" => facet.containing(value),
            "regex" => facet.matching(value),
            _ => {
                let expected = "by=…, min=N, from=VALUE, to=VALUE, prefix=TEXT, under=PATH, contains=TEXT or regex=PATTERN";
                let hint = "a comma within a text or a pattern is written \\,";
                return Err(wrong(expected, option).hint(hint).into());
            }
        };
    }
    Ok(facet)
}

/// Parts between commas; `\,` is a comma of a part, and `\\` a backslash.
fn split_at_commas(text: &str) -> Vec<String> {
    let (mut parts, mut rest) = (vec![String::new()], text);
    while let Some(c) = rest.chars().next() {
        let escaped = rest.strip_prefix('\\').and_then(|rest| rest.strip_prefix([',', '\\']));
        match (&mut parts[..], c) {
            ([.., part], _) if escaped.is_some() => part.extend(rest.chars().nth(1)),
            ([.., part], c) if c != ',' => part.push(c),
            _ => parts.push(String::new()),
        }
        rest = escaped.unwrap_or(&rest[c.len_utf8()..]);
    }
    parts
}

/// Names of facets that are printed side by side: each its field, and of several of one field those after the first with
/// a number: `price`, `price#2`. Statistics have names of their own.
fn names(facets: &[FacetCounts]) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for (nth, facet) in facets.iter().enumerate() {
        let is_statistics = |facet: &FacetCounts| facet.kind == FacetKind::Statistics;
        let is_alike = |other: &&FacetCounts| is_statistics(other) == is_statistics(facet);
        let is_of_field = |other: &&FacetCounts| other.field == facet.field;
        let n = 1 + facets[..nth].iter().filter(is_alike).filter(is_of_field).count();
        let mut name = match n {
            1 => facet.field.clone(),
            n => format!("{}#{n}", facet.field),
        };
        // A field may be called so.
        while n > 1 && facets.iter().any(|other| other.field == name) {
            name.push('#');
        }
        names.push(name);
    }
    names
}

/// Facets by their names, and statistics by theirs.
pub(crate) fn all_to_json(
    facets: &[FacetCounts],
    hit: &impl Fn(&Hit) -> Value,
) -> (Map<String, Value>, Map<String, Value>) {
    let (mut statistics, mut of_facets) = (Map::new(), Map::new());
    for (facet, name) in facets.iter().zip(names(facets)) {
        match facet.kind {
            FacetKind::Statistics => statistics.insert(name, statistics::to_json(facet)),
            _ => of_facets.insert(name, to_json(facet, hit)),
        };
    }
    (of_facets, statistics)
}

fn to_json(facet: &FacetCounts, hit: &impl Fn(&Hit) -> Value) -> Value {
    let of_bucket = |bucket: &Bucket| {
        let mut object = match facet.kind {
            FacetKind::Terms => {
                json!({ "value": value_to_json(&bucket.value), "count": bucket.count })
            }
            FacetKind::Grid => json!({
                "value": value_to_json(&bucket.value),
                "box": bucket.cell.map(|cell| places::box_to_json(cell.corners())),
                "select": bucket.cell.map(|cell| places::select(facet, cell)),
                "count": bucket.count,
            }),
            _ => json!({
                "from": bucket.from.as_ref().map(|end| end_to_json(facet, end)),
                "to": bucket.to.as_ref().map(|end| end_to_json(facet, end)),
                "count": bucket.count,
            }),
        };
        add_within(&mut object, bucket, hit);
        object
    };
    let mut object = json!({
        "kind": facet.kind.name(),
        "buckets": facet.buckets.iter().map(of_bucket).collect::<Vec<_>>(),
        "other": facet.other,
        "missing": facet.missing,
        "exact": facet.exact,
    });
    if let (Some(grid), Some(object)) = (facet.grid, object.as_object_mut()) {
        object.insert("grid".into(), grid.to_string().into());
    }
    if let (Some(bucket), Some(object)) = (&facet.missing_bucket, object.as_object_mut()) {
        let mut of_missing = json!({ "count": bucket.count });
        add_within(&mut of_missing, bucket, hit);
        object.insert("missing_bucket".into(), of_missing);
    }
    object
}

/// Adds what was asked for within a bucket.
pub(super) fn add_within(object: &mut Value, bucket: &Bucket, hit: &impl Fn(&Hit) -> Value) {
    let Some(object) = object.as_object_mut() else { return };
    let (facets, statistics) = all_to_json(&bucket.facets, hit);
    for (name, within) in [("facets", facets), ("statistics", statistics)] {
        if !within.is_empty() {
            object.insert(name.into(), within.into());
        }
    }
    if !bucket.hits.is_empty() {
        object.insert("hits".into(), bucket.hits.iter().map(hit).collect());
    }
}

/// End of a range as a text: of intervals of a zone as its clocks show it.
fn end_to_text(facet: &FacetCounts, end: &treepie::Value) -> String {
    match (&facet.zone, end) {
        (Some(zone), treepie::Value::Date(moment)) => zone.format(*moment),
        _ => end.to_text().into_owned(),
    }
}

fn end_to_json(facet: &FacetCounts, end: &treepie::Value) -> Value {
    match end {
        treepie::Value::Date(_) => end_to_text(facet, end).into(),
        _ => value_to_json(end),
    }
}

/// `10..50`, as it is asked for.
fn range_label(facet: &FacetCounts, bucket: &Bucket) -> String {
    let end = |end: &Option<treepie::Value>| {
        end.as_ref().map_or_else(String::new, |end| end_to_text(facet, end))
    };
    format!("{}..{}", end(&bucket.from), end(&bucket.to))
}

/// Whether any of the facets that were typed lies within another.
pub(crate) fn are_nested(typed: &[String]) -> bool {
    typed.iter().any(|typed| path_and_rest(typed).0.len() > 1)
}

/// A row for each bucket; where facets [lie within others](are_nested), with the values of the buckets that they lie within.
pub(crate) fn print_rows(
    out: &mut Output,
    format: Format,
    facets: &[FacetCounts],
    is_nested: bool,
) -> io::Result<()> {
    let names: &[&str] = match is_nested {
        true => &["field", "within", "value", "count"],
        false => &["field", "value", "count"],
    };
    let mut table = Table::new(out, format, names)?;
    add_rows(&mut table, facets, is_nested.then_some(""), "")?;
    table.finish()
}

/// `within` has the values of the buckets around, where any facet lies in another.
fn add_rows(
    table: &mut Table<'_>,
    facets: &[FacetCounts],
    within: Option<&str>,
    path: &str,
) -> io::Result<()> {
    for (facet, name) in facets.iter().zip(names(facets)) {
        let path = format!("{path}{name}");
        let of_missing = facet.missing_bucket.as_deref().map(|bucket| (bucket, true));
        for (bucket, is_missing) in
            facet.buckets.iter().map(|bucket| (bucket, false)).chain(of_missing)
        {
            let value = match facet.kind {
                _ if is_missing => Value::Null,
                FacetKind::Terms | FacetKind::Grid => value_to_json(&bucket.value),
                _ => range_label(facet, bucket).into(),
            };
            let mut row = vec![json!(path)];
            row.extend(within.map(Value::from));
            row.extend([value, json!(bucket.count)]);
            table.row(row)?;
            if let Some(within) = within {
                let shown = match facet.kind {
                    FacetKind::Terms | FacetKind::Grid => bucket.value.to_text(),
                    _ => range_label(facet, bucket).into(),
                };
                // Written like a path, with a backslash before what else would end a part.
                let own = shown.replace('\\', "\\\\").replace('/', "\\/");
                let own = if is_missing { String::new() } else { own };
                let within = if path.contains('/') { format!("{within}/{own}") } else { own };
                add_rows(table, &bucket.facets, Some(&within), &format!("{path}/"))?;
            }
        }
    }
    Ok(())
}

/// The name of the field, and [its values](print_values) with what lies within them; hits by their labels.
pub(crate) fn print(
    out: &mut Output,
    facet: &FacetCounts,
    label: &dyn Fn(&Hit) -> String,
) -> io::Result<()> {
    writeln!(out, "\n{}", out.strong(&facet.field))?;
    print_at(out, facet, "  ", label)
}

/// The values of a facet with their counts, and what is not among them.
pub(crate) fn print_values(out: &mut Output, facet: &FacetCounts) -> io::Result<()> {
    print_at(out, facet, "  ", &|hit| hit.doc.to_string())
}

fn print_at(
    out: &mut Output,
    facet: &FacetCounts,
    indent: &str,
    label: &dyn Fn(&Hit) -> String,
) -> io::Result<()> {
    if facet.kind == FacetKind::Statistics {
        return statistics::print_at(out, facet, indent);
    }
    let most = facet.buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0);
    let widest = output::grouped(most).len();
    let outside = [
        (facet.other, "(other values)", None),
        (Some(facet.missing), "(none)", facet.missing_bucket.as_deref()),
    ];
    let outside: Vec<_> = outside
        .into_iter()
        .filter_map(|(count, name, within)| {
            Some((output::grouped(count.filter(|n| *n > 0)?), name, within))
        })
        .collect();
    let width = outside.iter().map(|(count, ..)| count.len()).chain([widest]).max().unwrap_or(0);
    let inner = format!("{indent}{:width$}  ", "");
    let values: Vec<String> = facet.buckets.iter().map(|bucket| shown(facet, bucket)).collect();
    let room = output::width().saturating_sub(inner.len() + BAR_GAP);
    let widest = values.iter().map(|value| terminal::width(value)).max().unwrap_or(0);
    let widest = widest.min(room.saturating_sub(BAR_MIN));
    let bar_columns = room.saturating_sub(widest).min(BAR_MAX);
    for (bucket, value) in facet.buckets.iter().zip(&values) {
        // A single one there is nothing to compare with, and a value may leave no room.
        let padding = widest.checked_sub(terminal::width(value)).filter(|_| values.len() > 1);
        let bar = padding.filter(|_| bar_columns >= BAR_MIN).map(|padding| {
            let bar = out.bar(bucket.count, most, bar_columns);
            format!("{:1$}{bar}", "", padding + BAR_GAP)
        });
        let line = format!(
            "{indent}{:>width$}  {value}{}",
            output::grouped(bucket.count),
            bar.unwrap_or_default()
        );
        writeln!(out, "{}", line.trim_end())?;
        print_within(out, bucket, &inner, label)?;
    }
    for (count, name, within) in outside {
        writeln!(out, "{indent}{}", out.dim(&format!("{count:>width$}  {name}")))?;
        within.map_or(Ok(()), |bucket| print_within(out, bucket, &inner, label))?;
    }
    Ok(())
}

/// Text of a bucket, on one line.
fn shown(facet: &FacetCounts, bucket: &Bucket) -> String {
    let value = match facet.kind {
        FacetKind::Terms | FacetKind::Grid => bucket.value.to_text(),
        _ => without_midnights(range_label(facet, bucket)).into(),
    };
    terminal::printable(&value).into_owned()
}

/// A range of whole days as `2024-03-01..2024-04-01`, which queries read as the same dates.
fn without_midnights(range: String) -> String {
    const MIDNIGHT: &str = "T00:00:00Z";
    let is_day = |end: &str| end.is_empty() || end.ends_with(MIDNIGHT);
    match range.split_once("..") {
        Some((from, to)) if is_day(from) && is_day(to) => range.replace(MIDNIGHT, ""),
        _ => range,
    }
}

/// The facets of a bucket, and its best hits.
fn print_within(
    out: &mut Output,
    bucket: &Bucket,
    indent: &str,
    label: &dyn Fn(&Hit) -> String,
) -> io::Result<()> {
    let inner = format!("{indent}  ");
    for facet in &bucket.facets {
        writeln!(out, "{indent}{}", out.strong(&facet.field))?;
        print_at(out, facet, &inner, label)?;
    }
    let last = bucket.hits.iter().map(|hit| hit.doc.0).max().unwrap_or(0);
    let width = output::grouped(last).len();
    for hit in &bucket.hits {
        let number = format!("{:>width$}", output::grouped(hit.doc.0));
        writeln!(out, "{indent}{}  {}", out.dim(&number), label(hit))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;
    use treepie::geo::GeoGrid;

    #[test]
    fn facets_of_one_field_have_names_of_their_own() {
        let of = |(field, kind): &(&str, FacetKind)| {
            let mut counts = FacetCounts::default();
            (counts.field, counts.kind) = ((*field).to_owned(), *kind);
            counts
        };
        use FacetKind::{Ranges, Statistics, Terms};
        let asked = [("a", Terms), ("a", Ranges), ("b", Terms), ("a", Statistics), ("a", Ranges)];
        let facets: Vec<_> = asked.iter().map(of).collect();
        assert_eq!(names(&facets), ["a", "a#2", "b", "a", "a#3"]);
        let facets: Vec<_> = [("a", Terms), ("a", Ranges), ("a#2", Terms)].iter().map(of).collect();
        assert_eq!(names(&facets), ["a", "a#2#", "a#2"]);
    }

    #[test]
    fn facets_are_read() {
        for (typed, path, rest) in [
            ("a", &["a"][..], None),
            ("a:", &["a"], Some("")),
            ("a/`b:c/d`:3,prefix=`x/y:", &["a", "b:c/d"], Some("3,prefix=`x/y:")),
            ("`Prix (EUR)`", &["Prix (EUR)"], None),
            ("Prix (EUR):step=5", &["Prix (EUR)"], Some("step=5")),
            ("a`b:3", &["a`b"], Some("3")),
            ("`a:3", &["`a:3"], None),
            ("``", &["``"], None),
        ] {
            assert_eq!(path_and_rest(typed), (path.to_vec(), rest), "{typed}");
        }
        let is = |typed: &str, expected: Facet| {
            let (path, read) = read(typed).unwrap();
            assert_eq!(path, [typed.split(':').next().unwrap()]);
            assert_eq!(read, expected, "{typed}");
        };
        let brand = || Facet::values("brand");
        is("brand", brand().into());
        is("brand:3", brand().limit(3).into());
        is("brand:1,000", brand().limit(1_000).into());
        is("brand:by=count", brand().into());
        is("brand:3,by=value,min=2,prefix=a", {
            brand().limit(3).by_value().minimum(2).prefix("a").into()
        });
        let pattern = r"a{1,2}\.b=.*|..";
        is(r"brand:by=value:desc,contains=a\,b,regex=a{1\,2}\.b=.*|..", {
            brand().by_value_descending().containing("a,b").matching(pattern).into()
        });
        is(r"brand:prefix=a\\,contains=x,contains=y", {
            brand().prefix(r"a\").containing("x").containing("y").into()
        });
        is(r"brand:3,under=a\\/b/c", brand().limit(3).under(r"a\/b/c").into());
        is("brand:under=", brand().under("").into());
        is("price:3,min=0,to=9,from=2.5", {
            let between = FacetRange::new(Some("2.5"), Some("9"));
            Facet::values("price").limit(3).minimum(0).between(between).into()
        });
        is("price:auto=5", Facet::auto_ranges("price", 5));
        is("at:tile=8", Facet::grid("at", GeoGrid::Tile { zoom: 8 }));
        let near = GeoPoint::new(48.8566, -2.0).unwrap();
        let ring = |from: Option<&str>, to: Option<&str>| FacetRange::new(from, to);
        is("at:near=48.8566/-2,..1km,1km..5mi,5mi..", {
            let ends =
                [ring(None, Some("1km")), ring(Some("1km"), Some("5mi")), ring(Some("5mi"), None)];
            Facet::rings("at", near, ends)
        });
        is("at:tile=auto:200", Facet::auto_tiles("at", 200));
        is("at:geohash=5", Facet::grid("at", GeoGrid::Geohash { len: 5 }));
        is("price:quantiles=4", Facet::quantiles("price", 4));
        is("price:step=0.5", Facet::histogram("price", "0.5"));
        is("date:month", Facet::date_histogram("date", Interval::Month));
        let zone = "Europe/Berlin".parse().unwrap();
        let of_zone = Facet::date_histogram_in("date", Interval::Month, zone);
        is("date:month,zone=Europe/Berlin", of_zone);
        let before = FacetRange { from: None, to: Some("2010-01-01T08:00Z".into()) };
        let later = FacetRange { from: Some("2012".into()), to: None };
        is("since:..2010-01-01T08:00Z,2012..", Facet::ranges("since", [before, later]));
        for (typed, words) in [
            ("price:0..10,10", "expected FROM..TO, FROM.. or ..TO, found '10'"),
            ("date:month,zone=Mars/Olympus", "a name as Europe/Berlin, found 'Mars/Olympus'"),
            ("date:fortnight", "found 'date:fortnight'"),
            ("brand:x", "expected FIELD, FIELD:N,"),
            ("brand:x,by=value", "expected a number of values"),
            ("brand:by=name", "expected by=count, by=value or by=value:desc, found 'by=name'"),
            ("price:from=1,from=2", "expected each option once"),
            ("price:auto=few", "auto=N, how many ranges at the most, found 'few'"),
            ("price:quantiles=few", "quantiles=N, how many ranges, found 'few'"),
            ("brand:3,min=many", "found 'min=many'"),
            (
                "brand:by=value,3",
                "prefix=TEXT, under=PATH, contains=TEXT or regex=PATTERN, found '3'",
            ),
            ("brand:prefix=a,prefix=b", "expected each option once, found 'prefix=b'"),
            ("brand:by=value,by=count", "expected each option once"),
            ("brand:prefix=", "expected a text behind =, found 'prefix='"),
            ("brand:=5", "expected a name before =, found '=5'"),
            ("at:tile=25", "reading a grid of 'at': expected a zoom from 0 to 24"),
            ("at:tile=auto:x", "tile=auto:N, N tiles from 1 to 65536, found 'tile=auto:x'"),
            ("at:geohash=0", "from 1 to 12 characters of a geohash, found 'geohash=0'"),
            ("at:near=1/2", "a point and rings about it, as near=48.8566/2.3522"),
            ("at:near=1/2", "found 'near=1/2', without rings"),
            ("at:near=1,2,..1km", "with / between latitude and longitude, found 'near=1,2,..1km'"),
            ("at:near=91/2,..1km", "latitude 91, which is beyond ±90"),
            ("at:near=1/2,5km", "FROM..TO, FROM.. or ..TO, found '5km'"),
            ("brand:prefix=a,b", r"a comma within a text or a pattern is written \,"),
        ] {
            let Err(Failure::Error(error)) = read(typed) else { panic!("{typed}") };
            assert!(error.to_string().contains(words), "{error}");
        }
    }
}
